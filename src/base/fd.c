/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>

/* One write(2) transfers at most 0x7ffff000 bytes; smaller pieces also let a
 * signal through. */
enum { PIECE_MAX = 1 << 26 };

bool fd_write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len < PIECE_MAX ? len : PIECE_MAX);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

ssize_t fd_read_full(int fd, void *data, size_t len)
{
	char *at = data;
	size_t done = 0;

	while (done < len) {
		size_t want = len - done < PIECE_MAX ? len - done : PIECE_MAX;
		ssize_t n = read(fd, at + done, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}
