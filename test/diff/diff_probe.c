/* SPDX-License-Identifier: Apache-2.0 */
/* diff_probe OLD NEW CONTEXT [OLD_NAME NEW_NAME]: prints the unified diff of
 * two files, for the tests that hand it to other programs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fd.h"
#include "diff/diff.h"
#include "diff/unified.h"

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

int main(int argc, char **argv)
{
	_cleanup_buf_ struct buf old_text = BUF_INIT((size_t)1 << 30);
	_cleanup_buf_ struct buf new_text = BUF_INIT((size_t)1 << 30);
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 30);
	_cleanup_lines_ struct lines old_lines = { 0 }, new_lines = { 0 };
	_cleanup_script_ struct script script = { 0 };
	struct unified_options options = { 0 };

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
	if (!unified_print(&out, &old_lines, &script, &options))
		return 3;
	return fwrite(out.data ? out.data : "", 1, out.len, stdout) == out.len ? 0 : 3;
}
