/* SPDX-License-Identifier: Apache-2.0 */
/* A request to stop, seen by loops and by those who wait on descriptors alike.
 *
 *     struct cancel cancel;
 *     if (!cancel_init(&cancel, &err)) ...
 *     ...                                   // a signal handler, a thread: cancel_set(&cancel)
 *     while (!cancelled(&cancel)) work();
 *     poll({ fd, cancel.fd }, ...);         // readable from cancel_set until cancel_reset
 *     cancel_release(&cancel);
 *
 * One can follow another: it is set with that, and may be set and reset without it.
 *
 *     cancel_follow(&prompt, &program);     // what ends the program ends the prompt
 *     cancel_reset(&prompt);                // another prompt, unless the program is to end
 *     cancel_unfollow(&prompt);
 *
 * Whoever is handed a `const struct cancel *` may get NULL: nobody will cancel.
 */
#ifndef HASP_BASE_CANCEL_H
#define HASP_BASE_CANCEL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"

enum { CANCEL_FOLLOWERS_MAX = 16 };

struct cancel {
	_Atomic bool set; /* struct call_hooks points to it (tool/tool.h) */
	int fd;           /* an eventfd; becomes and stays readable */
	struct cancel *_Atomic followers[CANCEL_FOLLOWERS_MAX]; /* borrowed; or NULL */
	_Atomic unsigned setting; /* how many are just setting these */
	struct cancel *leader;    /* borrowed; or NULL */
};

/* IO_ERROR: no descriptor is left. */
bool cancel_init(struct cancel *cancel, struct err *err);
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

/* The descriptor for poll; -1 (which poll ignores) for NULL. */
static inline int cancel_fd(const struct cancel *cancel)
{
	return cancel ? cancel->fd : -1;
}

#endif
