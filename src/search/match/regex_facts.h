/* SPDX-License-Identifier: Apache-2.0 */
/* What a regular expression demands of text. Private to this folder.
 *
 *     struct regex_facts facts;
 *     regex_facts_read(pattern, ignore_case, &facts);
 *     ...
 *     regex_facts_release(&facts);
 *
 * The pattern is one that PCRE2 accepts.  Whatever is not fully understood (regex_text.h's
 * odd tokens, (?x), calls, conditions, ...) gives facts that claim nothing.  What is claimed
 * is certain: searches rely on it without asking the engine. */
#ifndef HASP_SEARCH_MATCH_REGEX_FACTS_H
#define HASP_SEARCH_MATCH_REGEX_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/span.h"
#include "search/match/matcher.h"

/* ---- sets of texts, and what a match must contain, put together from parts ---- */

/* A need is an "or" of "and"s of texts (struct matcher_needs); count 0 says nothing.  All that
 * is built lives in one arena with a maximum: past it everything built is useless, and
 * arena.full says so.
 *
 * Only what is useful is kept: combinations that would grow too large keep the rarer part. */

struct needs_arena {
	struct needs_block *blocks; /* owned */
	size_t used;
	bool full;
};

/* Some texts; a match of what it describes is one of them. */
struct texts {
	const struct span *items; /* in the arena */
	size_t count;             /* 0: no such set */
};

enum {
	TEXTS_MAX = 64,         /* texts of a set, alternatives of a need */
	NEEDS_LITERALS_MAX = 8, /* texts of an alternative */
};

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
