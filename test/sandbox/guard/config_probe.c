/* SPDX-License-Identifier: Apache-2.0 */
/* config_probe TEXT [KNOWN]: prints what guard_config_clean leaves of the file TEXT, and on
 * standard error what it left out; exits 1 if it does not understand it. */
#include <fcntl.h>
#include <stdio.h>

#include "base/fd.h"
#include "base/limits.h"
#include "sandbox/guard/private.h"

static void read_file(const char *path, struct buf *ret)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *room = buf_reserve(ret, 65536);
	ssize_t n = fd < 0 || !room ? -1 : fd_read_full(fd, room, 65536);

	ret->len += n > 0 ? (size_t)n : 0;
}

int main(int argc, char **argv)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_GUARD_FILE_BYTES);
	_cleanup_buf_ struct buf known = BUF_INIT(LIMIT_GUARD_FILE_BYTES);
	_cleanup_buf_ struct buf clean = BUF_INIT(LIMIT_GUARD_FILE_BYTES);
	_cleanup_buf_ struct buf keys = BUF_INIT(4096);

	if (argc < 2)
		return 2;
	read_file(argv[1], &text);
	if (argc > 2)
		read_file(argv[2], &known);
	if (!guard_config_clean(NULL, buf_view(&text), buf_view(&known), &clean, &keys))
		return 1;
	fwrite(clean.data ? clean.data : "", 1, clean.len, stdout);
	fwrite(keys.data ? keys.data : "", 1, keys.len, stderr);
	return 0;
}
