/* SPDX-License-Identifier: Apache-2.0 */
/* Where a text was probably meant that begins or ends within lines: in one pass over the bytes.
 *
 * Pieces of the wanted text, at even distances, are looked for.  Each place of one votes for where
 * the text would then begin; pieces that are everywhere have no vote.
 */
#include "patch/nearest.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Bytes of a piece; pieces; places of one that may vote. */
enum { PIECE = 8, PIECES_MAX = 64, VOTES_MAX = 64 };

/* Open addressing: slots for twice as many pieces, and more, so that most bytes of the file meet an
 * empty one. */
enum { SLOTS = 1024 };

struct text_piece {
	size_t at;               /* in the wanted text */
	size_t votes[VOTES_MAX]; /* places in the text */
	size_t count;            /* VOTES_MAX + 1: it is everywhere */
};

static uint64_t piece_value(const char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

struct text_search {
	struct span wanted;
	struct text_piece pieces[PIECES_MAX];
	size_t count;
	uint8_t slots[SLOTS]; /* 1-based; 0: empty */
};

static struct text_piece *piece_with_value(struct text_search *search, uint64_t value,
                                           size_t *ret_slot)
{
	size_t slot = (size_t)((value * 0x9E3779B97F4A7C15u) >> 54) % SLOTS;

	for (; search->slots[slot]; slot = (slot + 1) % SLOTS) {
		struct text_piece *piece = &search->pieces[search->slots[slot] - 1];

		if (piece_value(search->wanted.data + piece->at) == value)
			return piece;
	}
	*ret_slot = slot;
	return NULL;
}

static void gather_votes(struct text_search *search, struct span text)
{
	for (size_t i = 0; i + PIECE <= text.len; i++) {
		size_t slot;
		struct text_piece *piece =
			piece_with_value(search, piece_value(text.data + i), &slot);

		if (!piece || piece->count > VOTES_MAX)
			continue;
		if (piece->count < VOTES_MAX)
			piece->votes[piece->count] = i;
		piece->count++;
	}
}

static int compare_size(const void *a, const void *b)
{
	size_t one = *(const size_t *)a, other = *(const size_t *)b;

	return (one > other) - (one < other);
}

/* The beginning with most votes, the first of those; how many. */
static size_t count_votes(const struct text_search *search, size_t *ret)
{
	_cleanup_free_ size_t *starts = mem_alloc(PIECES_MAX * VOTES_MAX, sizeof(*starts));
	size_t count = 0, best = 0, run = 0;

	for (size_t i = 0; i < search->count; i++) {
		const struct text_piece *piece = &search->pieces[i];

		for (size_t k = 0; piece->count <= VOTES_MAX && k < piece->count; k++)
			if (piece->votes[k] >= piece->at)
				starts[count++] = piece->votes[k] - piece->at;
	}
	qsort(starts, count, sizeof(*starts), compare_size);
	for (size_t i = 0; i < count; i++) {
		run = i && starts[i] == starts[i - 1] ? run + 1 : 1;
		if (run > best) {
			best = run;
			*ret = starts[i];
		}
	}
	return best;
}

bool nearest_text_find(struct span text, struct span wanted, size_t *ret)
{
	struct text_search *search;
	size_t votes;
	size_t last;
	size_t step;

	if (wanted.len < PIECE || text.len < PIECE)
		return false;
	search = mem_alloc(1, sizeof(*search));
	search->wanted = wanted;
	last = search->wanted.len - PIECE;
	step = last / (PIECES_MAX - 1) + 1;
	for (size_t at = 0; at <= last && search->count < PIECES_MAX; at += step) {
		size_t slot = 0;

		if (piece_with_value(search, piece_value(search->wanted.data + at), &slot))
			continue;
		search->pieces[search->count++].at = at;
		search->slots[slot] = (uint8_t)search->count;
	}
	gather_votes(search, text);
	votes = count_votes(search, ret);
	/* A quarter of the pieces, or of a short text one that most of it is. */
	votes = votes * 4 >= search->count && (votes > 1 || wanted.len <= 3 * PIECE);
	free(search);
	return votes;
}
