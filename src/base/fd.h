/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors: scope clean-up, whole reads and writes, waiting, and paths opened beneath a
 * folder.
 *
 *     _cleanup_fd_ int fd = openat(...);
 *
 * Interrupted calls (EINTR) are repeated; short reads and writes are continued.
 */
#ifndef HASP_BASE_FD_H
#define HASP_BASE_FD_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

struct buf;

/* Closes what a scope leaves behind; -1 is none. */
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
/* Appends what fd_read_full reads; -1 also, with ENOMEM, where the buffer has no room for `len`. */
ssize_t fd_read_into(int fd, struct buf *out, size_t len);
/* Reads a short text, as files of /proc are: what fits, ended by a NUL. False, with "", where there
 * is none, or `fd` is -1. */
bool fd_read_text(int fd, char *text, size_t size);

/* As poll, for a loop that looks again: a signal is 0, nothing ready.  Where the kernel cannot wait
 * (ENOMEM; EINVAL when fewer descriptors are allowed than there are) it sleeps for at most
 * FD_BLIND_MS and reports all of them as ready, which must therefore not block. */
int fd_wait(struct pollfd *fds, size_t count, int timeout_ms);
enum { FD_BLIND_MS = 10 };
/* Makes an eventfd readable, for one that waits; in signal handlers, too, and errno stays.  -1 is
 * none.  False: that one was not woken; a write that fails is repeated before that. */
bool fd_ring(int fd);

/* ---- paths opened beneath a folder ------------------------------------------------ */

/* The one way from a path that a stranger chose to a descriptor: opened beneath a folder by the
 * kernel (openat2 with RESOLVE_BENEATH), so that "..", absolute paths, links and races cannot leave
 * that folder.
 *
 *     fd = fd_open_beneath(root, "src/main.c", O_RDONLY | O_NONBLOCK);  // no links at all
 *     fd = fd_open_beneath_linked(root, ".gemini/hooks.json", O_RDONLY); // links that stay beneath
 *
 * Both add O_CLOEXEC, and never follow a magic link of /proc. EXDEV: the path leaves the folder,
 * also by an absolute link. ELOOP: a link where none is followed. EAGAIN, which the kernel answers
 * when a rename races with the walk, is tried again a bounded number of times and may still come
 * back; the EAGAIN of a file whose lease O_NONBLOCK does not wait for comes back immediately.
 *
 * Not here, because they answer other questions: whether the descriptor is a regular file
 * (file.h); the workspace's several roots and links between them (file/workspace.h); absolute paths
 * of the sandbox's rules, which have no root (sandbox/apply); what a supervised process asks
 * openat2 for, in its own words (sandbox/supervise/named.c).
 */

/* Opens `path`, relative to `folder`; O_NOFOLLOW is added. -1 with errno set. */
int fd_open_beneath(int folder, const char *path, int flags);

/* The same, and relative links are followed as long as they stay beneath `folder`. */
int fd_open_beneath_linked(int folder, const char *path, int flags);

/* As fd_open_beneath, for files that others may be writing: O_NONBLOCK and O_NOCTTY are added
 * unless `flags` has O_PATH, and a file whose lease makes others wait is asked for again, with a
 * back-off, for `wait_ms`; then EAGAIN. */
int fd_open_beneath_waiting(int folder, const char *path, int flags, unsigned wait_ms);

#endif
