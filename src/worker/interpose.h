/* SPDX-License-Identifier: Apache-2.0 */
/* A provider in front of another provider: it answers some requests itself, and passes the others
 * on.
 *
 *     struct judge {
 *             struct interposer front; // first
 *             ...
 *     };
 *     static const struct interposed_files files = { judge_read, judge_edit };
 *
 *     interpose_init(&judge->front, base, &files, &own);
 *     tools get &judge->front.provider; judge_read asks judge->front.base
 */
#ifndef HASP_WORKER_INTERPOSE_H
#define HASP_WORKER_INTERPOSE_H

#include "worker/provider.h"

/* Reads and edits as answered by an interposer; both are required. */
struct interposed_files {
	bool (*read)(struct provider *provider, const struct read_request *request,
	             struct read_result *ret, struct err *err);
	bool (*edit)(struct provider *provider, const struct change *changes, size_t count,
	             const struct edit_options *options, struct change_result *results,
	             struct err *err);
};

struct interposer {
	struct provider provider; /* first: what others are given */
	struct provider_ops ops;  /* which of them there are depends on `base` */
	struct interposed_files files;
	struct provider *base;    /* borrowed; outlives this one */
};

/* `files` and `own` (both copied) have the operations that are answered here; `end` calls `files`.
 * The operations that provider.h lists as PASS are passed on where `own` has none and `base` has
 * one; the others, which would bypass `own`, are not.  Without `own->free`, provider_free does
 * nothing: the interposer is a part of something else. */
void interpose_init(struct interposer *interposer, struct provider *base,
                    const struct interposed_files *files, const struct provider_ops *own);

#endif
