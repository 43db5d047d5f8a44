/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests that hand what it prints to other programs:
 *
 *     diff_probe OLD NEW CONTEXT [OLD_NAME NEW_NAME]   the unified diff of two files
 *     diff_probe merge BASE MINE THEIRS                the merge; nothing and exit code 1 when they touch
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "diff/diff.h"

static bool read_file(const char *path, struct buf *out)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	do {
		char *room = buf_reserve(out, 1 << 20);

		if (!room)
			return false;
		n = fd_read_full(fd, room, 1 << 20);
		if (n < 0)
			return false;
		out->len += (size_t)n;
	} while (n > 0);
	return true;
}

static int put_whole(const struct buf *out)
{
	return fwrite(out->data ? out->data : "", 1, out->len, stdout) == out->len ? 0 : 3;
}

static int merge(char **paths)
{
	struct buf texts[3] = { BUF_INIT(1 << 24), BUF_INIT(1 << 24), BUF_INIT(1 << 24) };
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 26);
	struct lines lines[3] = { 0 };
	struct script scripts[3] = { 0 }; /* mine, theirs, merged */
	int code = 1;

	for (size_t i = 0; i < 3; i++) {
		if (!read_file(paths[i], &texts[i]))
			return 2;
		lines_index(&lines[i], buf_view(&texts[i]));
	}
	diff_lines(&lines[0], &lines[1], &scripts[0]);
	diff_lines(&lines[0], &lines[2], &scripts[1]);
	if (script_merge(&lines[0], &scripts[0], &scripts[1], &scripts[2]))
		code = script_apply(&lines[2], &scripts[2], &out) ? put_whole(&out) : 3;
	for (size_t i = 0; i < 3; i++) {
		script_release(&scripts[i]);
		lines_release(&lines[i]);
		buf_release(&texts[i]);
	}
	return code;
}

int main(int argc, char **argv)
{
	_cleanup_buf_ struct buf old_text = BUF_INIT((size_t)1 << 30);
	_cleanup_buf_ struct buf new_text = BUF_INIT((size_t)1 << 30);
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 30);
	_cleanup_lines_ struct lines old_lines = { 0 }, new_lines = { 0 };
	_cleanup_script_ struct script script = { 0 };
	struct script_print_options options = { 0 };

	if (argc == 5 && strcmp(argv[1], "merge") == 0)
		return merge(argv + 2);
	if (argc != 4 && argc != 6)
		return 2;
	if (!read_file(argv[1], &old_text) || !read_file(argv[2], &new_text))
		return 2;
	options.context = (size_t)strtoull(argv[3], NULL, 10);
	options.old_name = argc == 6 ? argv[4] : "a/file";
	options.new_name = argc == 6 ? argv[5] : "b/file";
	lines_index(&old_lines, buf_view(&old_text));
	lines_index(&new_lines, buf_view(&new_text));
	diff_lines(&old_lines, &new_lines, &script);
	if (!script_print(&out, &old_lines, &script, &options))
		return 3;
	return put_whole(&out);
}
