/* SPDX-License-Identifier: Apache-2.0 */
/* Says of many real changes on one pipe whether they would be refused for what they add
 * (content_check).
 *
 * Request:  u32 lengths of path, text before and text after (little-endian), then the three;
 *           without a text before the file is new
 * Answer:   u32 lines added, u32 message length, the message (none: the change is fine)
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "diff/diff.h"
#include "edit/edit.h"

enum { FRAME_BYTES_MAX = 64 << 20 }; /* more is a defect of the caller */

static char *read_text(uint32_t len)
{
	char *data = mem_alloc((size_t)len + 1, 1);

	if (len > FRAME_BYTES_MAX || fread(data, 1, len, stdin) != len)
		exit(1);
	return data;
}

static void say(const char *path, struct span before, struct span after)
{
	_cleanup_lines_ struct lines old_lines = { 0 }, new_lines = { 0 };
	_cleanup_script_ struct script script = { 0 };
	struct err err = ERR_INIT;
	size_t added, removed;
	uint32_t head[2];

	lines_index(&old_lines, before);
	lines_index(&new_lines, after);
	diff_lines(&old_lines, &new_lines, &script);
	script_stat(&script, &added, &removed);
	content_check(path, &old_lines, script.edits, script.count, &err);
	head[0] = (uint32_t)added;
	head[1] = (uint32_t)strlen(err.message);
	fwrite(head, sizeof(head), 1, stdout);
	fwrite(err.message, 1, head[1], stdout);
	if (fflush(stdout) != 0)
		exit(1);
}

int main(void)
{
	uint32_t lengths[3];

	while (fread(lengths, sizeof(lengths), 1, stdin) == 1) {
		_cleanup_free_ char *path = read_text(lengths[0]);
		_cleanup_free_ char *before = read_text(lengths[1]);
		_cleanup_free_ char *after = read_text(lengths[2]);

		say(path, span_of(before, lengths[1]), span_of(after, lengths[2]));
	}
	return 0;
}
