/* SPDX-License-Identifier: Apache-2.0 */
/* Which three-byte sequences a text has, as a table of bits; and what a search asks of it.
 * Private to this folder.
 *
 *     kind = trigrams_of(content, &set);          of a file
 *     trigram_query_init(&query, needs);          of a search
 *     ... trigrams.h compares the two ...
 *
 * Each run of three bytes, folded so that ASCII letters of both cases are the same, sets the
 * bit its hash names.  A file that lacks the bit of any trigram of a literal does not
 * have the literal; one that has them all may have it.  There is one hash
 * and one bit for each trigram: what is asked for usually has many.
 *
 * A table has 2^log2 bits and is as small as it can be with at most three eighths of them set:
 * a trigram that is not in the file is told apart three times in four.  (Half of them
 * would spare a quarter of the memory, and let through four times as many files for a word.)
 */
#ifndef HASP_SEARCH_CACHE_TRIGRAMS_H
#define HASP_SEARCH_CACHE_TRIGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "search/match/matcher.h"

/* The largest table holds the trigrams of a source file of several megabytes; a file that
 * fills more of it than three quarters has nothing to tell. */
enum { TRIGRAM_LOG2_MIN = 7, TRIGRAM_LOG2_MAX = 17 };

struct trigram_set {
	uint64_t words[(1u << TRIGRAM_LOG2_MAX) / 64];
	unsigned log2; /* of the bits in use, from TRIGRAM_LOG2_MIN to TRIGRAM_LOG2_MAX */
};

enum trigram_kind {
	TRIGRAMS_KNOWN,
	/* Anything may be found in it: text that a search decodes before it looks (whatever is
	 * not UTF-8), or too many trigrams for a table. */
	TRIGRAMS_OPEN,
	/* Nothing is found in it: a search leaves it out as binary. */
	TRIGRAMS_BINARY,
};

/* Looks at the whole content of a file. `set` is filled in for TRIGRAMS_KNOWN. */
enum trigram_kind trigrams_of(struct span content, struct trigram_set *set);

/* At least one of the alternatives must be there, with all of its hashes. */
struct trigram_alternative {
	uint32_t *hashes; /* owned; a table of 2^n bits uses the lowest n bits of each */
	size_t count;     /* never 0 */
};

struct trigram_query {
	struct trigram_alternative *alternatives; /* owned */
	size_t count;
	bool anything; /* nothing is known: every text may match */
};

/* `needs` may be NULL: nothing is known. */
void trigram_query_init(struct trigram_query *query, const struct matcher_needs *needs);
void trigram_query_release(struct trigram_query *query);

/* ---- the trigram tables of many files, laid out for asking all of them at once ---- */

/*
 *     if (signatures_put(&signatures, &set, room, &number)) ...
 *     signatures_ask(&signatures, &query, answers);
 *     if (signatures_answer(answers, number)) ... the file may match ...
 *     signatures_drop(&signatures, number);
 *
 * Tables of one size stand in blocks of 64, transposed: word h of a block has a bit for each
 * of its 64 files, set when that file has hash h.  One query is an AND of a few words for
 * each block, which is over when no bit is left.
 *
 * A block once made stays until the whole is released; the places of files that were
 * dropped are taken again by others of the same size.  Not here: locking.
 */

struct signature_block;

struct signatures {
	struct signature_block *blocks; /* owned */
	size_t count, cap;
	size_t bytes; /* memory in use, all told */
	/* 1 + the first block of each size with free places; 0: none. */
	uint32_t open[TRIGRAM_LOG2_MAX + 1];
};

/* Numbers of signatures stay below this. */
#define SIGNATURE_NUMBER_MAX ((uint32_t)0xFFFFFF00)

/* False when it would take more than `room` further bytes. */
bool signatures_put(struct signatures *signatures, const struct trigram_set *set, size_t room,
                    uint32_t *ret_number);
void signatures_drop(struct signatures *signatures, uint32_t number);
void signatures_release(struct signatures *signatures);

/* Fills in one word for each block (signatures->count of them). */
void signatures_ask(const struct signatures *signatures, const struct trigram_query *query,
                    uint64_t *answers);
static inline bool signatures_answer(const uint64_t *answers, uint32_t number)
{
	return (answers[number / 64] >> number % 64 & 1) != 0;
}

#endif
