/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of a provider that are answered before the caller goes on: what most callers need. */
#include "base/mem.h"
#include "worker/provider.h"

const char *worker_run_why_name(enum run_why why)
{
	static const char *const names[] = {
		[RUN_EXITED] = "exited",       [RUN_SIGNALLED] = "signalled",
		[RUN_TIMED_OUT] = "timed_out", [RUN_INACTIVE] = "inactive",
		[RUN_CANCELLED] = "cancelled", [RUN_LIMIT] = "limit",
		[RUN_LOST] = "lost",
	};

	return (unsigned)why < ARRAY_LEN(names) ? names[why] : "unknown";
}

bool provider_read(struct provider *provider, const struct read_request *request,
                   struct read_result *ret, struct err *err)
{
	struct provider_request what = { .read = request, .read_result = ret };

	return provider->ops->end(provider, &what, err);
}

bool provider_edit(struct provider *provider, const struct change *changes, size_t count,
                   const struct edit_options *options, struct change_result *results,
                   struct err *err)
{
	struct provider_request what = { .changes = changes, .count = count, .options = options,
		                         .results = results };

	return provider->ops->end(provider, &what, err);
}
