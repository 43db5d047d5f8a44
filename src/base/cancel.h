/* SPDX-License-Identifier: Apache-2.0 */
/* A request to stop, seen by loops and by those who wait on descriptors alike.
 *
 *     struct cancel cancel;
 *     if (!cancel_init(&cancel, &err)) ...
 *     ...                                   // a signal handler, a thread: cancel_set(&cancel)
 *     while (!cancelled(&cancel)) work();
 *     poll({ fd, cancel_fd(&cancel) }, ...); // readable from cancel_set until cancel_reset
 *     cancel_release(&cancel);
 *
 * One can follow another: it is set with that, and may be set and reset without it.
 *
 *     cancel_follow(&prompt, &program);     // what ends the program ends the prompt
 *     cancel_reset(&prompt);                // another prompt, unless the program is to end
 *     cancel_unfollow(&prompt);
 *
 * Where there are many and few are waited for (calls of tools, servers), cancel_init_lazily makes
 * one without a descriptor, which cancel_fd then makes for the first who waits.
 *
 * This is the one way to pass a cancellation on, from a key, a signal or a client's message to the
 * call, the worker and its child.  NULL in place of a `const struct cancel *`: nothing cancels it.
 */
#ifndef HASP_BASE_CANCEL_H
#define HASP_BASE_CANCEL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"

enum { CANCEL_FOLLOWERS_MAX = 16 };

struct cancel {
	_Atomic bool set;
	_Atomic int fd;   /* an eventfd, which becomes and stays readable; -1: none yet */
	struct cancel *_Atomic followers[CANCEL_FOLLOWERS_MAX]; /* borrowed; or NULL */
	_Atomic unsigned setting; /* how many are just setting these */
	struct cancel *leader;    /* borrowed; or NULL */
};

/* IO_ERROR: no descriptor is left. */
bool cancel_init(struct cancel *cancel, struct err *err);
/* Without a descriptor, until cancel_fd is asked for it. */
void cancel_init_lazily(struct cancel *cancel);
/* Closes its descriptor. */
void cancel_release(struct cancel *cancel);
/* From any thread and from signal handlers; again is fine. */
void cancel_set(struct cancel *cancel);
/* Ready for another use, unless what it follows is set; nobody may be waiting. */
void cancel_reset(struct cancel *cancel);
/* From now on `cancel`, which follows none yet, is set when `leader` is; at once if that is set
 * already. NULL leader: nobody will. BUSY: the leader has CANCEL_FOLLOWERS_MAX already. */
bool cancel_follow(struct cancel *cancel, struct cancel *leader, struct err *err);
/* Not any more, when it returns. Nothing, if it follows none. */
void cancel_unfollow(struct cancel *cancel);

static inline bool cancelled(const struct cancel *cancel)
{
	return cancel && atomic_load(&cancel->set);
}

/* The descriptor for poll, from any thread; -1 (which poll ignores) for NULL, and where none is
 * left: cancel_wait_ms then has its reader look now and then. */
int cancel_fd(const struct cancel *cancel);
/* How long poll may sleep that would sleep for `ms` (-1: for ever). */
int cancel_wait_ms(const struct cancel *cancel, int ms);

#endif
