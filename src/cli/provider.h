/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a workspace as the command line says. */
#ifndef HASP_CLI_PROVIDER_H
#define HASP_CLI_PROVIDER_H

#include "cli/parse.h"
#include "workerd/inprocess.h"

/* The values of a flag that is given several times, in their order; the caller frees the array.
 * Never NULL; with room for one more. */
const char **flag_values(const struct invocation *invocation, enum flag_id id, size_t *ret_count);

/* Opens a provider over these roots, with --durability and the journal's folder beneath the
 * home; other options as in `base`. */
bool provider_from_flags(const struct invocation *invocation,
                         const struct inprocess_options *base, struct provider **ret,
                         struct err *err);

#endif
