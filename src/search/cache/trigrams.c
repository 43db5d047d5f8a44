/* SPDX-License-Identifier: Apache-2.0 */
/* Trigrams of texts, and tables of them for many files. */
#include "search/cache/kept_tree.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "file/encoding.h"

/* ---- one text ---- */

/* Hashes of one alternative: a dozen leave hardly a file that has not got the literal. */
enum { QUERY_HASHES = 32 };
/* Less than SEEK_FIRST_BYTES of search/private.h. */
enum { BINARY_BYTES = 64 << 10 };
/* More alternatives than this cost more to ask than they spare. */
enum { QUERY_ALTERNATIVES = 256 };

/* Escape sequences of ISO-2022 and its kin begin with ESC $ (file/encoding.c): such text is
 * ASCII to the eye of a byte search, and decoded nevertheless. */
static bool has_designation(struct span text)
{
	const char *at = text.data, *end = text.data + text.len;

	while ((at = memchr(at, 0x1B, (size_t)(end - at))) != NULL)
		if (++at < end && *at == '$')
			return true;
	return false;
}

/* A search leaves a file out for a NUL byte in a whole line of what it reads first,
 * unless it can be decoded.  This looks at less, and is certain. */
static enum trigram_kind kind_with_nul(struct span content, const char *nul)
{
	const struct span head = span_head(content, BINARY_BYTES);
	const size_t at = (size_t)(nul - content.data);
	struct encoding_guess guess;

	if (at >= head.len ||
	    (head.len < content.len && !memchr(nul, '\n', head.len - at)))
		return TRIGRAMS_OPEN;
	encoding_sniff(content, &guess);
	return guess.kind == ENCODING_UNICODE || guess.kind == ENCODING_LEGACY ? TRIGRAMS_OPEN
	                                                                       : TRIGRAMS_BINARY;
}

static enum trigram_kind content_kind(struct span content)
{
	const char *nul = memchr(content.data, '\0', content.len);

	if (nul)
		return kind_with_nul(content, nul);
	return utf8_valid(content) && !has_designation(content) ? TRIGRAMS_KNOWN : TRIGRAMS_OPEN;
}

/* Folded so that ASCII letters are the same in both cases (and a few other bytes, too). */
#define FOLD ((uint64_t)0x2020202020202020u)

/* The hash of the lowest three bytes, already folded. */
static uint32_t hash_folded(uint64_t bytes)
{
	const uint64_t product = (bytes & 0xFFFFFF) * 0x9E3779B97F4A7C15u;

	return (uint32_t)(product >> 40) & ((1u << TRIGRAM_LOG2_MAX) - 1);
}

static uint32_t hash_at(const char *at)
{
	const unsigned char *s = (const unsigned char *)at;

	return hash_folded((s[0] | (uint64_t)s[1] << 8 | (uint64_t)s[2] << 16) | FOLD);
}

/* Eight bytes, that is six trigrams, at a time: this is most of what a signature costs. */
static void add_trigrams(struct span text, uint64_t *words, uint32_t mask)
{
	size_t at = 0;

	for (; at + 8 <= text.len; at += 6) {
		uint64_t bytes;

		memcpy(&bytes, text.data + at, sizeof(bytes));
		bytes = le64toh(bytes) | FOLD;
		for (int i = 0; i < 6; i++, bytes >>= 8) {
			const uint32_t hash = hash_folded(bytes) & mask;

			words[hash / 64] |= (uint64_t)1 << hash % 64;
		}
	}
	for (; at + 3 <= text.len; at++) {
		const uint32_t hash = hash_at(text.data + at) & mask;

		words[hash / 64] |= (uint64_t)1 << hash % 64;
	}
}

static size_t count_bits(const uint64_t *a, const uint64_t *b, size_t words)
{
	size_t bits = 0;

	for (size_t i = 0; i < words; i++)
		bits += (size_t)__builtin_popcountll(a[i] | b[i]);
	return bits;
}

/* Halves the table, by laying its upper half over the lower, while that leaves it at most three
 * eighths full. */
static void shrink(struct trigram_set *set)
{
	while (set->log2 > TRIGRAM_LOG2_MIN) {
		const size_t half = ((size_t)1 << set->log2) / 128;

		if (count_bits(set->words, set->words + half, half) > half * 24)
			return;
		for (size_t i = 0; i < half; i++)
			set->words[i] |= set->words[half + i];
		set->log2--;
	}
}

/* Fills a table of the set's size; returns how many of its bits are set. */
static size_t trigram_set_fill(struct trigram_set *set, struct span content)
{
	const size_t words = ((size_t)1 << set->log2) / 64;

	memset(set->words, 0, words * sizeof(*set->words));
	add_trigrams(content, set->words, (1u << set->log2) - 1);
	return count_bits(set->words, set->words, words);
}

enum trigram_kind trigrams_of(struct span content, struct trigram_set *set)
{
	enum trigram_kind kind = content.len > 0 ? content_kind(content) : TRIGRAMS_KNOWN;
	size_t bits;

	if (kind != TRIGRAMS_KNOWN)
		return kind;
	set->log2 = TRIGRAM_LOG2_MIN;
	/* Text repeats itself: few of its trigrams are new ones. What does not gets more. */
	while (set->log2 < TRIGRAM_LOG2_MAX && (size_t)1 << set->log2 < content.len)
		set->log2++;
	while ((bits = trigram_set_fill(set, content)) > ((size_t)3 << set->log2) / 8 &&
	       set->log2 < TRIGRAM_LOG2_MAX)
		set->log2++;
	if (bits > ((size_t)3 << set->log2) / 4)
		return TRIGRAMS_OPEN;
	shrink(set);
	return TRIGRAMS_KNOWN;
}

/* ---- queries -------------------------------------------------------------- */

static size_t trigram_count(struct span literal)
{
	return literal.len >= 3 ? literal.len - 2 : 0;
}

/* Takes at most QUERY_HASHES of the trigrams, spread evenly over all literals. */
static void take_hashes(const struct matcher_alternative *needs, size_t total,
                        struct trigram_alternative *ret)
{
	const size_t want = total < QUERY_HASHES ? total : QUERY_HASHES;
	size_t seen = 0;

	ret->hashes = mem_alloc(want, sizeof(*ret->hashes));
	for (size_t i = 0; i < needs->count; i++) {
		struct span literal = needs->literals[i];

		for (size_t at = 0; at < trigram_count(literal); at++, seen++)
			if (seen * want / total == ret->count && ret->count < want)
				ret->hashes[ret->count++] = hash_at(literal.data + at);
	}
}

void trigram_query_init(struct trigram_query *query, const struct matcher_needs *needs)
{
	*query = (struct trigram_query){ .anything = true };
	if (!needs || needs->count == 0 || needs->count > QUERY_ALTERNATIVES)
		return;
	query->anything = false;
	query->alternatives = mem_alloc(needs->count, sizeof(*query->alternatives));
	for (size_t i = 0; i < needs->count && !query->anything; i++) {
		const struct matcher_alternative *alternative = &needs->alternatives[i];
		size_t total = 0;

		for (size_t j = 0; j < alternative->count; j++)
			total += trigram_count(alternative->literals[j]);
		if (total == 0)
			query->anything = true;
		else
			take_hashes(alternative, total, &query->alternatives[query->count++]);
	}
}

void trigram_query_release(struct trigram_query *query)
{
	for (size_t i = 0; i < query->count; i++)
		free(query->alternatives[i].hashes);
	free(query->alternatives);
	*query = (struct trigram_query){ 0 };
}

/* ---- many files ---- */

struct signature_block {
	uint64_t *words; /* owned; 2^log2 of them */
	uint64_t used;   /* places that are taken */
	uint64_t stale;  /* places with bits of a file that was dropped */
	unsigned log2;
	uint32_t next_open; /* 1 + the next block of this size with free places; 0: none */
};

/* Appends an empty block; false when there is no room for it. */
static bool signatures_add_block(struct signatures *s, unsigned log2, size_t room)
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

static void set_place(struct signature_block *block, uint64_t bit, const struct trigram_set *set)
{
	const size_t words = ((size_t)1 << block->log2) / 64;

	for (size_t i = 0; i < words; i++)
		for (uint64_t left = set->words[i]; left != 0; left &= left - 1)
			block->words[i * 64 + (size_t)__builtin_ctzll(left)] |= bit;
}

bool cache_signatures_put(struct signatures *s, const struct trigram_set *set, size_t room,
                          uint32_t *ret_number)
{
	struct signature_block *block;
	uint32_t index;
	unsigned place;
	uint64_t bit;

	if (s->open[set->log2] == 0 && !signatures_add_block(s, set->log2, room))
		return false;
	index = s->open[set->log2] - 1;
	block = &s->blocks[index];
	place = (unsigned)__builtin_ctzll(~block->used);
	bit = (uint64_t)1 << place;
	if (block->stale & bit) {
		const size_t words = (size_t)1 << block->log2;

		for (size_t i = 0; i < words; i++)
			block->words[i] &= ~bit;
		block->stale &= ~bit;
	}
	set_place(block, bit, set);
	block->used |= bit;
	if (block->used == UINT64_MAX)
		s->open[set->log2] = block->next_open;
	*ret_number = index * 64 + place;
	return true;
}

void cache_signatures_drop(struct signatures *s, uint32_t number)
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

void cache_signatures_release(struct signatures *s)
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

void cache_signatures_ask(const struct signatures *s, const struct trigram_query *query,
                          uint64_t *answers)
{
	for (size_t i = 0; i < s->count; i++) {
		uint64_t files = query->anything ? UINT64_MAX : 0;

		for (size_t j = 0; j < query->count && files != UINT64_MAX; j++)
			files |= ask_block(&s->blocks[i], &query->alternatives[j]);
		answers[i] = files;
	}
}
