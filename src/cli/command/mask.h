/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets in what is shown: keys, tokens and passwords become "***". */
#ifndef HASP_CLI_COMMAND_MASK_H
#define HASP_CLI_COMMAND_MASK_H

#include <jansson.h>

/* A copy of `value` (nested at most as settings are), which stands at `path`.  Masked are strings
 * whose name or text
 * looks like a secret (worker/environment.h), and in all strings the values of those `variables`
 * (NAME=VALUE, NULL-terminated) that do.  A new reference. */
json_t *mask_secrets(const char *path, const json_t *value, char *const *variables);

#endif
