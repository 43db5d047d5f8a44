/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables and the one .env file that counts, without touching the process's
 * environment.
 *
 * .env (Gemini CLI's order): from the folder upward, .gemini/.env (trusted folders only) then
 * .env; then ~/.gemini/.env, ~/.env; the first that exists.  It never replaces a variable that
 * is set.  Of a project's file each variable counts as its row says (authority.h), without those
 * of advanced.excludedEnvVars; in an untrusted folder only the API keys and Google Cloud project
 * and location.  What steers hasp (AUTHORITY_ASK) is taken of the user's file also where a
 * project has one: a project cannot take the user's proxy or address away by a file of its own.
 */
#ifndef HASP_CONFIG_VARIABLES_H
#define HASP_CONFIG_VARIABLES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

/* ---- variables --------------------------------------------------------------- */

struct variables;

/* NULL: not set. Borrowed. */
const char *variables_get(const struct variables *variables, const char *name);
/* The .env file that was read; NULL: none. */
const char *variables_file(const struct variables *variables);
/* "NAME=VALUE" strings, NULL-terminated, process's and .env's: the caller frees the array and
 * each. */
char **variables_list(const struct variables *variables);
/* Appends `text` with $VAR, ${VAR}, ${VAR:-default} replaced; what is not set stays as it is. */
void variables_expand(const struct variables *variables, struct span text, struct buf *out);

/* ---- .env -------------------------------------------------------------------- */

/* The text of a .env file.
 *
 *     NAME=value            # a comment
 *     export NAME = value
 *     NAME="two\nlines"     'as it is'     `as it is`     quotes may hold line ends
 *
 * As the npm package dotenv reads it, line by line: a line that is nothing of this is skipped, and
 * of two lines for one name the later one counts.
 */

/* Calls `take` for each assignment in order. `value` is NUL-terminated, borrowed, without its
 * quotes and with \n and \r of double quotes put in. Assignments with a byte 0 are left out. */
void variables_parse_file(struct span text,
                          void (*take)(void *data, struct span name, const char *value),
                          void *data);

#endif
