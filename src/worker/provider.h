/* SPDX-License-Identifier: Apache-2.0 */
/* The provider: the only way tools reach files.
 *
 * A provider answers requests that are plain data, so that the one who answers
 * can be in this process (provider_inprocess, workerd/inprocess.h), in a
 * confined child, or at the other end of any pipe.  Tools hold a `struct
 * provider *` and nothing else that touches the workspace.
 *
 *     struct provider *p = ...;
 *     ok = p->ops->read(p, &request, &result, &err);
 *
 * Requests are borrowed for the call; results are the caller's to release with
 * the functions of the types' own headers.
 */
#ifndef HASP_WORKER_PROVIDER_H
#define HASP_WORKER_PROVIDER_H

#include "search/walk.h"
#include "store/edit.h"
#include "store/read.h"

struct provider;

struct provider_ops {
	const char *name; /* "in-process", later "local", "command" */
	bool (*read)(struct provider *provider, const struct read_request *request,
	             struct read_result *ret, struct err *err);
	bool (*edit)(struct provider *provider, const struct change *changes, size_t count,
	             const struct edit_options *options, struct change_result *results,
	             struct err *err);
	bool (*walk)(struct provider *provider, const struct walk_request *request,
	             struct walk_result *ret, struct err *err);
	/* Canonical path of workspace root `i`; NULL past the last. Borrowed. */
	const char *(*root)(struct provider *provider, size_t i);
	void (*free)(struct provider *provider);
};

/* Each kind of provider begins with this. */
struct provider {
	const struct provider_ops *ops;
};

static inline void provider_free(struct provider *provider)
{
	if (provider)
		provider->ops->free(provider);
}

#endif
