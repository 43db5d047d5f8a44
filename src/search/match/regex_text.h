/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about the text of a pattern that decide how it is to be taken. Private to this
 * folder.
 *
 * All go by the pattern's tokens (regex_token.h): what is odd there counts for nothing here.
 */
#ifndef HASP_SEARCH_MATCH_REGEX_TEXT_H
#define HASP_SEARCH_MATCH_REGEX_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

/* Appends the regular expression that matches `text` and nothing else. */
void regex_quote(struct buf *out, struct span text);

/* Smart case, as ripgrep has it: some character is written out, as such or in a set, and none
 * that is written out is an upper-case letter.  The letters of \W or \pL are not. */
bool regex_is_lower(struct span pattern);
/* It begins with a switch such as (?i). */
bool regex_switches_case_off(struct span pattern);
/* It has a LF, or \R, that a match would have to contain: one outside of sets, or in a set
 * of nothing else. */
bool regex_asks_for_line_end(struct span pattern);
/* It has a CR, outside of sets or in one that is not negated. */
bool regex_names_cr(struct span pattern);
/* It begins with a setting for the whole pattern, such as (*CRLF) or (*UTF). */
bool regex_has_settings(struct span pattern);

#endif
