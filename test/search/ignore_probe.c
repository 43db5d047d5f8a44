/* SPDX-License-Identifier: Apache-2.0 */
/* ignore_probe IGNORE_FILE: reads NUL-terminated paths from stdin, folders with
 * a '/' at the end, and prints those that the rules leave out, each with a NUL.  A path
 * is left out with any of its folders, as a walk would do it. */
#include <fcntl.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/fd.h"
#include "search/rules/chain.h"

static bool read_all(int fd, struct buf *out)
{
	ssize_t n;

	do {
		char *room = buf_reserve(out, 65536);

		if (!room)
			return false;
		n = fd_read_full(fd, room, 65536);
		if (n < 0)
			return false;
		out->len += (size_t)n;
	} while (n > 0);
	return true;
}

static bool left_out(const struct ignore_rules *rules, struct span path)
{
	bool is_folder = span_ends(path, SPAN("/"));

	if (is_folder)
		path.len--;
	for (size_t i = 0; i < path.len; i++) {
		if (path.data[i] == '/' &&
		    ignore_match(rules, span_head(path, i), /* is_folder= */ true) == IGNORE_YES)
			return true;
	}
	return ignore_match(rules, path, is_folder) == IGNORE_YES;
}

int main(int argc, char **argv)
{
	_cleanup_fd_ int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 24), paths = BUF_INIT(1 << 24);
	struct ignore_rules *rules;

	if (fd < 0 || !read_all(fd, &text) || !read_all(STDIN_FILENO, &paths))
		return 2;
	rules = ignore_parse(buf_view(&text));
	for (size_t at = 0; at < paths.len; at += strlen(paths.data + at) + 1) {
		if (left_out(rules, span_str(paths.data + at)))
			fwrite(paths.data + at, 1, strlen(paths.data + at) + 1, stdout);
	}
	ignore_free(rules);
	return 0;
}
