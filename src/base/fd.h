/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors: scope clean-up and whole reads and writes.
 *
 *     _cleanup_fd_ int fd = openat(...);
 *
 * Interrupted calls (EINTR) are repeated; short reads and writes are continued.
 */
#ifndef HASP_BASE_FD_H
#define HASP_BASE_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

static inline void fd_cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define _cleanup_fd_ __attribute__((cleanup(fd_cleanup_close)))

/* Takes the descriptor out of a cleaned-up variable and leaves -1. */
static inline int fd_steal(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* Writes all of it; false with errno set on failure (some may be written). A
 * write that accepts nothing is reported as ENOSPC. */
bool fd_write_all(int fd, const void *data, size_t len);

/* Reads up to `len` bytes, less only at the end of the file; -1 with errno set on failure. */
ssize_t fd_read_full(int fd, void *data, size_t len);

#endif
