/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of texts, and what a match must contain, put together from parts. Private to this folder.
 *
 * A need is an "or" of "and"s of texts (struct matcher_needs); count 0 says nothing.  All that
 * is built lives in one arena with a maximum: past it everything built is useless, and
 * arena.full says so.
 *
 * Only what is useful is kept: combinations that would grow too large keep the rarer part.
 */
#ifndef HASP_SEARCH_MATCH_REGEX_NEEDS_H
#define HASP_SEARCH_MATCH_REGEX_NEEDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"
#include "search/match/matcher.h"

struct needs_arena {
	struct needs_block *blocks; /* owned */
	size_t used;
	bool full;
};

void needs_arena_release(struct needs_arena *arena);

/* Some texts; a match of what it describes is one of them. */
struct texts {
	const struct span *items; /* in the arena */
	size_t count;             /* 0: no such set */
};

enum {
	TEXTS_MAX = 64,         /* texts of a set, alternatives of a need */
	NEEDS_LITERALS_MAX = 8, /* texts of an alternative */
};

struct texts texts_one(struct needs_arena *arena, struct span text); /* copied */

/* Every text of a followed by every one of b; count 0 when there would be too many. */
struct texts texts_product(struct needs_arena *arena, struct texts a, struct texts b);
/* Those of both; count 0 when there are too many. */
struct texts texts_union(struct needs_arena *arena, struct texts a, struct texts b);

/* At least one of the texts; says nothing when one of them is empty. */
struct matcher_needs needs_any(struct needs_arena *arena, struct texts texts);
struct matcher_needs needs_both(struct needs_arena *arena, struct matcher_needs a,
                                struct matcher_needs b);
struct matcher_needs needs_either(struct needs_arena *arena, struct matcher_needs a,
                                  struct matcher_needs b);

/* Without short texts beside longer ones, and texts that are part of others. */
struct matcher_needs needs_tidy(struct needs_arena *arena, struct matcher_needs needs);

#endif
