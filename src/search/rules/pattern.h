/* SPDX-License-Identifier: Apache-2.0 */
/* One path pattern, compiled: what glob.c and ignore.c share. Private to this folder.
 *
 * A pattern is a row of components.  A component of two or more stars and
 * nothing else stands for any number of components (at least one when it is the last);
 * other stars do not cross a '/'.
 */
#ifndef HASP_SEARCH_RULES_PATTERN_H
#define HASP_SEARCH_RULES_PATTERN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

struct pattern;

/* NULL, with *ret_reason a phrase that says why, for an open bracket, an
 * unknown character class or a backslash at the end. */
struct pattern *pattern_compile(struct span text, bool ignore_case, const char **ret_reason);
void pattern_free(struct pattern *pattern);

/* Whether the pattern fits the whole path. Time is at most the product of both lengths. */
bool pattern_match(const struct pattern *pattern, struct span path);

/* The byte that every path it fits ends with; -1 when there is no such byte. */
int pattern_last_byte(const struct pattern *pattern);

/* Whether it fits one path only; then the bytes of that path are appended to `ret`. */
bool pattern_literal(const struct pattern *pattern, struct buf *ret);

/* Whether it can fit something beneath the folder. */
bool pattern_may_match_beneath(const struct pattern *pattern, struct span folder);

/* The end of the bracket expression that begins at text[at] == '[': the index of its
 * ']', or text.len when it is open. */
size_t pattern_bracket_end(struct span text, size_t at);

#endif
