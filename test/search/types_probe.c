/* SPDX-License-Identifier: Apache-2.0 */
/* types_probe: prints the table of file types as JSON. */
#include <stdio.h>

#include "search/rules/glob.h"

static void print_list(const char *const *items)
{
	for (size_t i = 0; items[i]; i++)
		printf("%s\"%s\"", i ? ", " : "", items[i]);
}

int main(void)
{
	for (size_t i = 0; i < types_count(); i++) {
		const struct file_type *type = types_at(i);

		printf("%s{\"name\": \"%s\", \"names\": [", i ? ",\n " : "[", type->name);
		print_list(type->names);
		printf("], \"globs\": [");
		print_list(type->globs);
		printf("]}");
	}
	printf("]\n");
	return 0;
}
