/* SPDX-License-Identifier: Apache-2.0 */
/* Between steps.c (rules) and steps_system.c (/dev and /proc of commands). */
#ifndef HASP_SANDBOX_APPLY_STEPS_PRIVATE_H
#define HASP_SANDBOX_APPLY_STEPS_PRIVATE_H

#include "sandbox/apply/steps.h"

/* Adds a step to fill in further; valid until the next is added. */
struct step *steps_add(struct steps *steps, enum step_op op, int slot, const char *path);
/* Takes over a text that steps point to. */
const char *steps_text(struct steps *steps, char *owned);
/* Whether `path` is beneath `folder` and not the same. */
bool steps_beneath(const char *path, const char *folder);

/* The command's own /dev; returns its slot, into which mount points can still be made. */
int steps_devices(struct steps *steps, struct steps *puts, const struct sandbox_limits *limits);
/* The command's own /proc, where the kernel allows it; `needed`: without it nothing is started. */
void steps_proc(struct steps *steps, struct steps *puts, bool needed);

#endif
