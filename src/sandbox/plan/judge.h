/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says about a place, as a pure function of text. */
#ifndef HASP_SANDBOX_PLAN_JUDGE_H
#define HASP_SANDBOX_PLAN_JUDGE_H

#include "sandbox/plan/denial.h"

struct sandbox_name; /* names.h */

/* Whether the canonical absolute `path` (which need not exist) may be accessed so: SANDBOX_READ or
 * SANDBOX_WRITE.  Otherwise fills in kind, reason, level, what and rule of *ret_denial (may be
 * NULL).  Making, removing and renaming a name are WRITE of that name; absent names (plan.h) and
 * everything beneath them are not writable; nor are folders above a protected path renamed or
 * removed (`removes`). */
bool plan_judge(const struct sandbox_plan *plan, const char *path, enum sandbox_access wanted,
                bool removes, struct denial *ret_denial);

/* The two halves of plan_judge's answer: what the rules say, and whether `path` is, or is beneath,
 * a name that programs obey in any folder (names.h, DEEP) of one that is writable.  The supervisor
 * asks for them one by one: such a name may be removed, and made in a folder that is new. */
bool plan_judge_rules(const struct sandbox_plan *plan, const char *path,
                      enum sandbox_access wanted, bool removes, struct denial *ret_denial);
bool plan_judge_obeyed(const struct sandbox_plan *plan, const char *path,
                       struct denial *ret_denial);
/* The row, and where in `path` the name begins and ends; NULL if there is none. */
const struct sandbox_name *plan_obeyed(const struct sandbox_plan *plan, const char *path,
                                       size_t *ret_at, size_t *ret_end);

#endif
