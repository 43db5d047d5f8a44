/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a file's or a folder's lock (flock(2)) that another process holds; never for ever.
 *
 *     const struct flock_wait wait = { .cancel = cancel, .notice = notice, .data = data };
 *     _cleanup_fd_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
 *     if (!flock_take(fd, folder, &wait, &err)) ...
 *
 * The kernel gives the lock back when the last descriptor of its holder is closed.
 * Not here: locks that are tried once (their callers), Gemini CLI's lock on settings
 * (config/private.h), the lock of a folder that is edited (file/stage.h).
 */
#ifndef HASP_BASE_FLOCK_H
#define HASP_BASE_FLOCK_H

#include <stdbool.h>

#include "base/cancel.h"
#include "base/err.h"

enum { FLOCK_WAIT_MS = 10000 };

/* All of it may be zero. */
struct flock_wait {
	const struct cancel *cancel; /* ends the wait */
	unsigned max_ms;             /* the longest; 0: FLOCK_WAIT_MS */
	/* Told once, with "info" and a sentence, when the lock is not to be had within half a
	 * second. */
	void (*notice)(void *data, const char *severity, const char *message);
	void *data;
};

/* Locks `fd` for this process alone; `path` is for messages. `wait` may be NULL: as zero. BUSY: it
 * is still held by another; CANCELLED; PERMISSION_DENIED, IO_ERROR: it cannot be locked at all. */
bool flock_take(int fd, const char *path, const struct flock_wait *wait, struct err *err);

#endif
