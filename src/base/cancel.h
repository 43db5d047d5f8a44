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
 * Whoever is handed a `const struct cancel *` may get NULL: nobody will cancel.
 */
#ifndef HASP_BASE_CANCEL_H
#define HASP_BASE_CANCEL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"

struct cancel {
	_Atomic bool set; /* struct call_hooks points to it (tool/tool.h) */
	int fd;           /* an eventfd; becomes and stays readable */
};

/* IO_ERROR: no descriptor is left. */
bool cancel_init(struct cancel *cancel, struct err *err);
/* Closes its descriptor. */
void cancel_release(struct cancel *cancel);
/* From any thread and from signal handlers; again is fine. */
void cancel_set(struct cancel *cancel);
/* Ready for another use; nobody may be waiting. */
void cancel_reset(struct cancel *cancel);

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
