/* SPDX-License-Identifier: Apache-2.0 */
/* The trigram tables of many files, laid out for asking all of them at once. Private to this
 * folder.
 *
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
#ifndef HASP_SEARCH_CACHE_SIGNATURES_H
#define HASP_SEARCH_CACHE_SIGNATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/cache/trigrams.h"

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
