/* SPDX-License-Identifier: Apache-2.0 */
/* global_ignore_probe: prints the path of git's global excludes file, a NUL and its text.  Then,
 * for each line that comes in, "1" if that still is current, else "0" (and reads anew). */
#include <stdio.h>

#include "search/rules/chain.h"

int main(void)
{
	struct global_ignore *global = global_ignore_read();
	struct span text = global_ignore_text(global);
	int c;

	printf("%s%c%.*s%c", global_ignore_path(global) ? global_ignore_path(global) : "", 0,
	       (int)text.len, text.data ? text.data : "", 0);
	fflush(stdout);
	while ((c = getchar()) != EOF) {
		if (c != '\n')
			continue;
		if (global_ignore_is_current(global)) {
			printf("1");
		} else {
			printf("0");
			global_ignore_free(global);
			global = global_ignore_read();
		}
		fflush(stdout);
	}
	global_ignore_free(global);
	return 0;
}
