/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of hasp's own and of its users', read within limits and replaced whole: settings,
 * rules, records.  They stand where no command may write, and so a user's links are followed.
 * Not here: files that a project or a command may have written (door.h), files that tools edit
 * (file/). */
#ifndef HASP_BASE_FILE_H
#define HASP_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/cancel.h"
#include "base/err.h"
#include "base/notices.h"
#include "base/span.h"

struct file_text {
	char *data; /* owned, NUL-terminated; NULL: there is no such file */
	size_t len;
	mode_t mode; /* its permissions */
};

/* Frees the text; the struct may be used again. */
void file_text_release(struct file_text *text);
#define _cleanup_file_text_ __attribute__((cleanup(file_text_release)))

static inline struct span file_text_span(const struct file_text *text)
{
	return span_of(text->data, text->len);
}

/* Reads a regular file of at most `max` bytes; a missing one (also because a folder on the way is
 * missing) is no error. NOT_A_FILE: a pipe, a device, a folder. TOO_LARGE. */
bool file_read(const char *path, size_t max, struct file_text *ret, struct err *err);

/* The same of a descriptor, opened with O_NONBLOCK; `path` is for messages. Left open. */
bool file_read_open(int fd, const char *path, size_t max, struct file_text *ret, struct err *err);

/* Replaces the file, or the file that a symbolic link at `path` leads to, atomically and durably.
 * Folders on the way are made with mode 0700. */
bool file_replace(const char *path, struct span text, mode_t mode, struct err *err);

/* The path of a folder without ".", ".." and "//"; canonical if it has some and the
 * folder exists. NULL: a relative path of nothing. The caller frees. */
char *file_plain_path(const char *path);
/* The home folder: HOME, else of the user's entry; NULL: neither names one. The caller frees. */
char *file_home(void);
/* False: the folder is the home folder or beneath it, and that does not exist (system users have
 * /nonexistent). FILE_NOT_FOUND says so. */
bool file_may_make(const char *folder, struct err *err);
/* The folder and those above it, mode 0700, but not the user's home folder (file_may_make). */
bool file_make_folders(const char *folder, struct err *err);
/* The same of the folder that the file is in. */
bool file_make_parent(const char *path, struct err *err);

/* ---- locks ------------------------------------------------------------------------ */

/* Waiting for a file's or a folder's lock (flock(2)) that another process holds; never for ever.
 *
 *     const struct file_lock_wait wait = { .cancel = cancel, .notices = *notices };
 *     _cleanup_fd_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
 *     if (!file_lock_take(fd, folder, &wait, &err)) ...
 *
 * The kernel gives the lock back when the last descriptor of its holder is closed.
 * Not here: locks that are tried once (their callers), Gemini CLI's lock on settings
 * (config/private.h), the lock of a folder that is edited (file/stage.h).
 */

enum { FILE_LOCK_WAIT_MS = 10000 };

/* All of it may be zero. */
struct file_lock_wait {
	const struct cancel *cancel; /* ends the wait */
	unsigned max_ms;             /* the longest; 0: FILE_LOCK_WAIT_MS */
	/* Reported to once (SEVERITY_INFO) when the lock is not to be had within half a
	 * second. */
	struct notices notices;
};

/* Locks `fd` for this process alone; `path` is for messages. `wait` may be NULL: as zero. BUSY: it
 * is still held by another; CANCELLED; PERMISSION_DENIED, IO_ERROR: it cannot be locked at all. */
bool file_lock_take(int fd, const char *path, const struct file_lock_wait *wait, struct err *err);
/* Takes the lock of a file that is replaced whole: that of PATH.lock, made with mode 0600, for the
 * caller to close.  -1: it cannot be had within `max_ms`, or at all. */
int file_lock_next_to(const char *path, unsigned max_ms);

#endif
