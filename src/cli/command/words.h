/* SPDX-License-Identifier: Apache-2.0 */
/* A command line as words, without a shell.
 *
 *     ssh -p 2222 "my host" hasp worker        -> ssh, -p, 2222, my host, hasp, worker
 *     ["ssh", "my host", "hasp worker"]        -> the strings of a JSON array
 *
 * Words end at blanks (space, tab, newline).  Within '...' everything is itself; within "..." a
 * backslash keeps the special meaning of " and \ away; outside of quotes a backslash does so for
 * any character.  Nothing else means anything: no variables, globs, pipes, comments.
 */
#ifndef HASP_CLI_COMMAND_WORDS_H
#define HASP_CLI_COMMAND_WORDS_H

#include "base/err.h"

/* *ret is NULL-terminated, with one word or more, for words_free. INVALID_ARGUMENT: a quote that is
 * not closed, no word, an array of anything but strings. */
bool words_split(const char *text, char ***ret, struct err *err);
void words_free(char **words); /* NULL is fine */

#endif
