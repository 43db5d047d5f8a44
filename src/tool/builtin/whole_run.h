/* SPDX-License-Identifier: Apache-2.0 */
/* A command that is run to its end, its two streams kept apart. */
#ifndef HASP_TOOL_BUILTIN_WHOLE_RUN_H
#define HASP_TOOL_BUILTIN_WHOLE_RUN_H

#include "base/buf.h"
#include "base/cancel.h"
#include "worker/provider.h"

struct whole_run {
	const char *const *argv;      /* NULL-terminated */
	const char *const *env;       /* as run_request.env: NULL: the worker's */
	struct span input;            /* what it reads */
	size_t max_bytes;             /* of each stream; a command that writes more is ended */
	unsigned timeout_ms;
	const _Atomic bool *cancel;   /* or NULL */
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
void whole_run_result_release(struct whole_run_result *result);

#endif
