/* SPDX-License-Identifier: Apache-2.0 */
/* A provider in front of another one: it answers some requests itself, and hands on the others.
 *
 *     struct judge {
 *             struct interposer front; // first
 *             ...
 *     };
 *     static const struct provider_ops own = { .read = judge_read, .edit = judge_edit };
 *
 *     interpose_init(&judge->front, base, &own);
 *     tools get &judge->front.provider; judge_read asks judge->front.base
 */
#ifndef HASP_WORKER_INTERPOSE_H
#define HASP_WORKER_INTERPOSE_H

#include "worker/provider.h"

struct interposer {
	struct provider provider; /* first: what others are given */
	struct provider_ops ops;  /* which of them there are depends on `base` */
	struct provider *base;    /* borrowed; outlives this one */
};

/* `own` (copied) has what is answered here: `read` and `edit` at least, for who looks at neither
 * needs no interposer.  walk, search, watch, unwatch, run, plan, info and root are handed on where
 * `own` has none and `base` has one.  Requests in two steps (begin, end) and `beside`
 * never are: they would go around `own`.  Without `own->free`, provider_free does nothing: the
 * interposer is a part of something else. */
void interpose_init(struct interposer *interposer, struct provider *base,
                    const struct provider_ops *own);

#endif
