/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables and the one .env file that counts, without touching the process's
 * environment.
 *
 * .env (Gemini CLI's order): from the folder upward, .gemini/.env (trusted folders only) then .env;
 * then ~/.gemini/.env, ~/.env; the first that exists.  It never replaces a variable that is set.  Of a
 * project's file each variable counts as its row says (authority.h), without those of
 * advanced.excludedEnvVars; in an untrusted folder only the API keys and Google Cloud project and
 * location.  What steers hasp (AUTHORITY_ASK) is taken of the user's file also where a project has
 * one: a project cannot take the user's proxy or address away by a file of its own.
 */
#ifndef HASP_CONFIG_VARIABLES_H
#define HASP_CONFIG_VARIABLES_H

#include <stdbool.h>

#include "base/buf.h"

struct variables;

/* NULL: not set. Borrowed. */
const char *variables_get(const struct variables *variables, const char *name);
/* The .env file that was read; NULL: none. */
const char *variables_file(const struct variables *variables);
/* "NAME=VALUE" strings, NULL-terminated, process's and .env's: the caller frees the array and each.
 * */
char **variables_list(const struct variables *variables);
/* Appends `text` with $VAR, ${VAR}, ${VAR:-default} replaced; what is not set stays as it is. */
void variables_expand(const struct variables *variables, struct span text, struct buf *out);

#endif
