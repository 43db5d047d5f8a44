/* SPDX-License-Identifier: Apache-2.0 */
/* Names of tools in rules: hasp's own, Gemini CLI's, their class names. Private to this folder.
 *
 * Two kinds of other names.  The same tool under another name (search_files is grep_search): a
 * rule for one is a rule for the other.  A tool that does what Gemini CLI has another tool for
 * (safe_patch does what replace does): Gemini CLI's name covers it, its own name covers nothing
 * else.
 */
#ifndef HASP_POLICY_NAMES_H
#define HASP_POLICY_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Other names of the same tool, or NULL; NULL-terminated. */
const char *const *names_same(const char *tool);
/* The canonical name for any name; the name itself when it is not known. */
const char *names_canonical(const char *name);
/* Gemini CLI's name for `tool`, for files that it reads too; the name itself when it has none. */
const char *names_gemini(const char *tool);
/* The built-in tool whose name is like this one but not this one; NULL: it is one, or like none. */
const char *names_suggest(const char *name);
/* `pattern` with "*" for any text. */
bool names_glob(const char *pattern, const char *name);

#endif
