/* SPDX-License-Identifier: Apache-2.0 */
#include "search/cache/signatures.h"

#include <stdlib.h>

#include "base/mem.h"

struct signature_block {
	uint64_t *words; /* owned; 2^log2 of them */
	uint64_t used;   /* places that are taken */
	uint64_t stale;  /* places with bits of a file that was dropped */
	unsigned log2;
	uint32_t next_open; /* 1 + the next block of this size with free places; 0: none */
};

/* Appends an empty block; false when there is no room for it. */
static bool add_block(struct signatures *s, unsigned log2, size_t room)
{
	const size_t bytes = ((size_t)1 << log2) * sizeof(uint64_t);
	const size_t cap = s->cap;

	if (bytes > room || s->count >= SIGNATURE_NUMBER_MAX / 64)
		return false;
	if (s->count == s->cap)
		s->blocks = mem_grow(s->blocks, &s->cap, s->count + 1, sizeof(*s->blocks));
	s->blocks[s->count] = (struct signature_block){
		.words = mem_alloc((size_t)1 << log2, sizeof(uint64_t)),
		.log2 = log2,
		.next_open = s->open[log2],
	};
	s->bytes += bytes + (s->cap - cap) * sizeof(*s->blocks);
	s->open[log2] = (uint32_t)++s->count;
	return true;
}

static void clear_place(struct signature_block *block, uint64_t bit)
{
	const size_t words = (size_t)1 << block->log2;

	for (size_t i = 0; i < words; i++)
		block->words[i] &= ~bit;
	block->stale &= ~bit;
}

static void set_place(struct signature_block *block, uint64_t bit, const struct trigram_set *set)
{
	const size_t words = ((size_t)1 << block->log2) / 64;

	for (size_t i = 0; i < words; i++)
		for (uint64_t left = set->words[i]; left != 0; left &= left - 1)
			block->words[i * 64 + (size_t)__builtin_ctzll(left)] |= bit;
}

bool signatures_put(struct signatures *s, const struct trigram_set *set, size_t room,
                    uint32_t *ret_number)
{
	struct signature_block *block;
	uint32_t index;
	unsigned place;
	uint64_t bit;

	if (s->open[set->log2] == 0 && !add_block(s, set->log2, room))
		return false;
	index = s->open[set->log2] - 1;
	block = &s->blocks[index];
	place = (unsigned)__builtin_ctzll(~block->used);
	bit = (uint64_t)1 << place;
	if (block->stale & bit)
		clear_place(block, bit);
	set_place(block, bit, set);
	block->used |= bit;
	if (block->used == UINT64_MAX)
		s->open[set->log2] = block->next_open;
	*ret_number = index * 64 + place;
	return true;
}

void signatures_drop(struct signatures *s, uint32_t number)
{
	struct signature_block *block = &s->blocks[number / 64];
	const uint64_t bit = (uint64_t)1 << number % 64;

	if (block->used == UINT64_MAX) {
		block->next_open = s->open[block->log2];
		s->open[block->log2] = number / 64 + 1;
	}
	block->used &= ~bit;
	block->stale |= bit;
}

void signatures_release(struct signatures *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->blocks[i].words);
	free(s->blocks);
	*s = (struct signatures){ 0 };
}

static uint64_t ask_block(const struct signature_block *block,
                          const struct trigram_alternative *alternative)
{
	const uint32_t mask = (1u << block->log2) - 1;
	uint64_t files = UINT64_MAX;

	for (size_t i = 0; i < alternative->count && files != 0; i++)
		files &= block->words[alternative->hashes[i] & mask];
	return files;
}

void signatures_ask(const struct signatures *s, const struct trigram_query *query,
                    uint64_t *answers)
{
	for (size_t i = 0; i < s->count; i++) {
		uint64_t files = query->anything ? UINT64_MAX : 0;

		for (size_t j = 0; j < query->count && files != UINT64_MAX; j++)
			files |= ask_block(&s->blocks[i], &query->alternatives[j]);
		answers[i] = files;
	}
}
