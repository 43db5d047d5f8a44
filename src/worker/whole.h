/* SPDX-License-Identifier: Apache-2.0 */
/* A command that is run to its end, its two streams kept apart.
 *
 *     struct whole_run_result done;
 *     if (whole_run(provider, &request, &done, &err) && done.end.why == RUN_EXITED) ...
 *     whole_run_result_release(&done);
 *
 * Blocks.  Not here: commands that go on in the background, or are shown as they write (job/job.h).
 */
#ifndef HASP_WORKER_WHOLE_H
#define HASP_WORKER_WHOLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/err.h"
#include "base/span.h"
#include "worker/provider.h"

struct whole_run {
	const char *const *argv;      /* NULL-terminated */
	const char *const *env;       /* as run_request.env: NULL: the worker's */
	struct span input;            /* what it reads */
	size_t max_bytes;             /* of each stream; a command that writes more is ended */
	unsigned timeout_ms;
	const struct cancel *cancel;  /* or NULL */
	/* What the sandbox refused, on a thread of the provider's. May be NULL. */
	void (*denied)(void *data, const struct denial *denial);
	void *data;
};

struct whole_run_result {
	struct buf out, errors;
	struct run_end end;
	bool too_much;                /* ended for max_bytes */
};

/* In the provider's sandbox, in the first workspace folder.  False: it could not be started (as
 * provider->ops->run), TOO_LARGE (the input), CANCELLED.  *ret is the caller's to release in any
 * case. */
bool whole_run(struct provider *provider, const struct whole_run *request,
               struct whole_run_result *ret, struct err *err);
/* Frees what the command wrote. */
void whole_run_result_release(struct whole_run_result *result);

#endif
