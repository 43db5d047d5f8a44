/* SPDX-License-Identifier: Apache-2.0 */
/* Carrying out steps (steps.h): in the child, in namespaces of its own, with system calls alone. */
#ifndef HASP_SANDBOX_APPLY_MOUNTS_H
#define HASP_SANDBOX_APPLY_MOUNTS_H

#include "sandbox/apply/steps.h"

/* `slots`: room for steps->slots numbers. Returns 0, or the errno of the step *ret_failed. What was
 * mounted before stays: the child must end. */
int mounts_run(const struct steps *steps, int *slots, size_t *ret_failed);

#endif
