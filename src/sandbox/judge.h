/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says about a place, as a pure function of text. */
#ifndef HASP_SANDBOX_JUDGE_H
#define HASP_SANDBOX_JUDGE_H

#include "sandbox/denial.h"

/* Whether the canonical absolute `path` (which need not exist) may be accessed so: SANDBOX_READ or
 * SANDBOX_WRITE.  Otherwise fills in kind, reason, level, what and rule of *ret_denial (may be
 * NULL).  Making, removing and renaming a name are WRITE of that name; absent names (plan.h) and
 * everything beneath them are not writable; nor are folders above a protected path renamed or
 * removed (`removes`). */
bool plan_judge(const struct sandbox_plan *plan, const char *path, enum sandbox_access wanted,
                bool removes, struct denial *ret_denial);

#endif
