/* SPDX-License-Identifier: Apache-2.0 */
/* Between landlock.c and landlock_rules.c. */
#ifndef HASP_SANDBOX_APPLY_LANDLOCK_PRIVATE_H
#define HASP_SANDBOX_APPLY_LANDLOCK_PRIVATE_H

#include "sandbox/apply/landlock.h"

/* A ruleset; -1 with errno set. */
int landlock_create(const struct landlock_handled *handled);
/* A rule for `place` and all beneath it; none for an empty mask. False with errno set. */
bool landlock_add(int ruleset, int place, uint64_t mask);

#endif
