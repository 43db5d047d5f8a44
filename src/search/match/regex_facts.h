/* SPDX-License-Identifier: Apache-2.0 */
/* What a regular expression demands of text. Private to this folder.
 *
 *     struct regex_facts facts;
 *     regex_facts_read(pattern, ignore_case, &facts);
 *     ...
 *     regex_facts_release(&facts);
 *
 * The pattern is one that PCRE2 accepts.  Whatever is not fully understood (regex_token.h's
 * odd tokens, (?x), calls, conditions, ...) gives facts that claim nothing.  What is claimed
 * is certain: searches rely on it without asking the engine.
 */
#ifndef HASP_SEARCH_MATCH_REGEX_FACTS_H
#define HASP_SEARCH_MATCH_REGEX_FACTS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"
#include "search/match/matcher.h"
#include "search/match/regex_needs.h"

struct regex_facts {
	/* As matcher.h has them; a match contains them itself, not its surroundings. */
	struct matcher_needs needs;
	/* The pattern matches exactly where this text is (but for the case of ASCII letters, when
	 * case is ignored); empty when it is not so simple. */
	struct span literal;
	/* Nothing in it could match, or be stopped by, a character beyond ASCII. */
	bool ascii;
	/* The same pattern with LF taken out of every set: it matches within any one line what
	 * the pattern matches in it, at the same places and in the same order of preference,
	 * but can be given many lines at once and never leaves the one in which it begins.
	 * Empty when there is no such pattern. */
	struct buf line_text;
	struct needs_arena arena;
};

void regex_facts_read(struct span pattern, bool ignore_case, struct regex_facts *ret);
void regex_facts_release(struct regex_facts *facts);

#endif
