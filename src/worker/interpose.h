/* SPDX-License-Identifier: Apache-2.0 */
/* A provider in front of another provider: it answers some requests itself, and passes the others
 * on.
 *
 *     struct judge {
 *             struct interposer front; // first
 *             ...
 *     };
 *     static const struct provider_ops own = { .end = judge_end };
 *
 *     interpose_init(&judge->front, base, &own);
 *     tools get &judge->front.provider; judge_end asks judge->front.base
 */
#ifndef HASP_WORKER_INTERPOSE_H
#define HASP_WORKER_INTERPOSE_H

#include "worker/provider.h"

struct interposer {
	struct provider provider; /* first: what others are given */
	struct provider_ops ops;  /* which of them there are depends on `base` */
	struct provider *base;    /* borrowed; outlives this one */
};

/* `own` (copied) has the operations that are answered here: `end` at least (reads and edits).  The
 * operations that provider.h lists as PASS are passed on where `own` has none and `base` has one;
 * the others, which would bypass `own`, are not.  Without `own->free`, provider_free does nothing:
 * the interposer is a part of something else. */
void interpose_init(struct interposer *interposer, struct provider *base,
                    const struct provider_ops *own);

#endif
