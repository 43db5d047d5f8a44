/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers: one for each kind of call (the table in supervise.c).  Inside this folder only.
 *
 * To add a call: a row in the table, a handler here if none fits, and rows in apply/gen_filters.c
 * that hand it over. */
#ifndef HASP_SANDBOX_SUPERVISE_HANDLERS_H
#define HASP_SANDBOX_SUPERVISE_HANDLERS_H

#include "sandbox/supervise/private.h"

/* Bits of `detail`, which are those of metadata. */
enum {
	DETAIL_NOFOLLOW = 1,  /* metadata: a link is not followed, without a flag */
	DETAIL_NULL_FD = 2,   /* without a path it is about the descriptor */
	DETAIL_REMOVE = 4,    /* of an extended attribute */
	DETAIL_TIMEVAL = 4,   /* times are struct timeval */
	DETAIL_UTIMBUF = 8,   /* times are struct utimbuf */
};

struct handler {
	struct call_answer (*run)(const struct syscall *call, const struct handler *row);
	signed char folder, path;   /* arguments; -1: none */
	signed char folder2, path2;
	signed char flags;
	signed char detail;         /* the handler's own */
};

/* files.c: making, moving and removing names. Each is named as the call that it makes (or, with
 * row->flags, any of its forms). */
struct call_answer supervise_mkdir(const struct syscall *call, const struct handler *row);
struct call_answer supervise_mknod(const struct syscall *call, const struct handler *row);
struct call_answer supervise_symlink(const struct syscall *call, const struct handler *row);
struct call_answer supervise_link(const struct syscall *call, const struct handler *row);
struct call_answer supervise_rename(const struct syscall *call, const struct handler *row);
struct call_answer supervise_unlink(const struct syscall *call, const struct handler *row);
struct call_answer supervise_rmdir(const struct syscall *call, const struct handler *row);
struct call_answer supervise_truncate(const struct syscall *call, const struct handler *row);

/* opens.c: open, openat, creat; openat2. */
struct call_answer supervise_open(const struct syscall *call, const struct handler *row);
struct call_answer supervise_openat2(const struct syscall *call, const struct handler *row);
/* Tries those again that would block: to be called every so many milliseconds while there are. */
void opens_continue(struct supervisor *supervisor);
enum { OPENS_RETRY_MS = 5 };
void opens_free(struct supervisor *supervisor);

/* sockets.c: all but `listen` at both levels. */
struct call_answer supervise_socket(const struct syscall *call, const struct handler *row);
struct call_answer supervise_connect(const struct syscall *call, const struct handler *row);
struct call_answer supervise_sendto(const struct syscall *call, const struct handler *row);
struct call_answer supervise_bind(const struct syscall *call, const struct handler *row);
struct call_answer supervise_listen(const struct syscall *call, const struct handler *row);
/* Forgets what was bound. */
void sockets_free_bound(struct supervisor *supervisor);
/* Appends what to poll for the connects that wait (up to LIMIT_WAITING_CONNECTS); returns after how
 * many milliseconds to look after them in any case, -1: never. */
int sockets_poll_connects(const struct supervisor *supervisor, struct pollfd *polls,
                          unsigned *count);
/* Tries them again. */
void sockets_continue_connects(struct supervisor *supervisor);
void sockets_free_connects(struct supervisor *supervisor);

/* metadata.c */
struct call_answer supervise_chmod(const struct syscall *call, const struct handler *row);
struct call_answer supervise_chown(const struct syscall *call, const struct handler *row);
struct call_answer supervise_times(const struct syscall *call, const struct handler *row);
struct call_answer supervise_xattr(const struct syscall *call, const struct handler *row);

/* call.c: the deny list */
struct call_answer supervise_refuse(const struct syscall *call, const struct handler *row);

#endif
