/* SPDX-License-Identifier: Apache-2.0 */
/* Where the old texts of many updates of one file stand, found in one pass for all of them.
 *
 * Each old text is known by the piece of PIECE bytes in it that is rarest in the file; two passes
 * over the text, to count pieces and to look them up, find the places of all. After a change only
 * the new text is searched; places before it stay, those after it move (when they are asked for),
 * those that it touches are dropped. Input for which that would be slow is left to memmem, with the
 * same results.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "edit/private.h"

enum {
	PIECE = 8,
	COUNTS = 1 << 16,
	OFFSETS_TRIED = 256, /* of an old text, for a piece that is rare */
	OLD_TEXT_MAX = 4096, /* bytes; longer ones are looked for alone */
	UPDATES_MIN = 8,     /* fewer are not worth the passes */
	COMPARED_SHARE = 8,  /* of the bytes of the file: old texts compared, and places moved */
};

/* A place, and after how many changes it was there. */
struct place_found {
	size_t at, after;
};

struct old_text {
	struct span text;    /* borrowed from the change */
	size_t offset;       /* of its piece */
	uint32_t slot;       /* of the piece */
	uint32_t next;       /* another old text with that slot, 1-based; 0: none */
	struct place_found *found; /* owned */
	size_t count, cap;
};

/* Bytes [from, to) became `added` others. */
struct place_change {
	size_t from, to, added;
};

struct edit_places {
	struct old_text *texts; /* owned; sorted by text */
	size_t count;
	uint32_t *slots;        /* owned; COUNTS: 1-based index in `texts`; 0: none */
	struct place_change *changes; /* owned */
	size_t change_count, change_cap;
	size_t longest;
	size_t work;            /* what may still be compared */
};

void edit_places_free(struct edit_places *places)
{
	if (!places)
		return;
	for (size_t i = 0; i < places->count; i++)
		free(places->texts[i].found);
	free(places->texts);
	free(places->slots);
	free(places->changes);
	free(places);
}

static uint32_t piece_slot(const char *at)
{
	uint64_t piece;

	memcpy(&piece, at, PIECE);
	return (uint32_t)((piece * 0x9E3779B97F4A7C15U) >> 48) % COUNTS;
}

/* ---- looking ---- */

/* Notes the old texts that have their piece at `at` and touch bytes [from, to).  False: too much
 * was compared. */
static bool places_note(struct edit_places *places, struct span text, size_t at, size_t from,
                        size_t to)
{
	for (uint32_t i = places->slots[piece_slot(text.data + at)]; i;) {
		struct old_text *old = &places->texts[i - 1];
		const size_t start = at - old->offset;

		i = old->next;
		if (at < old->offset || start >= to || start + old->text.len <= from ||
		    start + old->text.len > text.len)
			continue;
		if (places->work < PIECE)
			return false;
		places->work -= PIECE;
		if (memcmp(text.data + start, old->text.data, old->text.len) != 0)
			continue;
		if (places->work < old->text.len)
			return false;
		places->work -= old->text.len;
		old->found = mem_grow(old->found, &old->cap, old->count + 1, sizeof(*old->found));
		old->found[old->count++] = (struct place_found){ start, places->change_count };
	}
	return true;
}

static bool places_look(struct edit_places *places, struct span text, size_t from, size_t to)
{
	const size_t reach = places->longest;
	size_t at = from > reach ? from - reach : 0;
	const size_t end = to + reach < text.len ? to + reach : text.len;

	for (; at + PIECE <= end; at++)
		if (!places_note(places, text, at, from, to))
			return false;
	return true;
}

bool edit_places_follow(struct edit_places *places, struct span text, size_t from, size_t to,
                        size_t added)
{
	places->changes = mem_grow(places->changes, &places->change_cap, places->change_count + 1,
	                           sizeof(*places->changes));
	places->changes[places->change_count++] = (struct place_change){ from, to, added };
	/* What was taken away brings together what stood around it. */
	return places_look(places, text, from, from + added);
}

/* ---- making ---- */

static int compare_old_texts(const void *a, const void *b)
{
	const struct span one = ((const struct old_text *)a)->text;
	const struct span other = ((const struct old_text *)b)->text;
	const int order = memcmp(one.data, other.data, one.len < other.len ? one.len : other.len);

	return order ? order : (one.len > other.len) - (one.len < other.len);
}

/* The old texts of the updates of this path from `step` on, each once; NULL: few. */
static struct edit_places *places_collect(const struct edit_call *call,
                                          const struct edit_step *step)
{
	struct edit_places *places = mem_alloc(1, sizeof(*places));
	size_t all = 0, count = 0;

	places->texts = mem_alloc(call->step_count, sizeof(*places->texts));
	for (const struct edit_step *one = step; one < call->steps + call->step_count; one++) {
		const struct change *change = one->change;

		if (change->kind != CHANGE_UPDATE || !change->path ||
		    strcmp(change->path, step->change->path) != 0 ||
		    change->old_text.len < PIECE || change->old_text.len > OLD_TEXT_MAX)
			continue;
		places->texts[all++].text = change->old_text;
		if (change->old_text.len > places->longest)
			places->longest = change->old_text.len;
	}
	if (all)
		qsort(places->texts, all, sizeof(*places->texts), compare_old_texts);
	for (size_t i = 0; i < all; i++)
		if (!count || !span_eq(places->texts[count - 1].text, places->texts[i].text))
			places->texts[count++] = places->texts[i];
	places->count = count;
	if (all >= UPDATES_MIN)
		return places;
	edit_places_free(places);
	return NULL;
}

/* Gives each old text the piece of it that the file has least often. */
static void choose_pieces(struct edit_places *places, struct span text)
{
	_cleanup_free_ uint32_t *counts = mem_alloc(COUNTS, sizeof(*counts));

	for (size_t i = 0; i + PIECE <= text.len; i++)
		counts[piece_slot(text.data + i)]++;
	places->slots = mem_alloc(COUNTS, sizeof(*places->slots));
	for (size_t i = 0; i < places->count; i++) {
		struct old_text *old = &places->texts[i];
		uint32_t least = UINT32_MAX;

		for (size_t k = 0; k + PIECE <= old->text.len && k < OFFSETS_TRIED; k++) {
			const uint32_t slot = piece_slot(old->text.data + k);

			if (counts[slot] >= least)
				continue;
			least = counts[slot];
			old->offset = k;
			old->slot = slot;
		}
		old->next = places->slots[old->slot];
		places->slots[old->slot] = (uint32_t)i + 1;
	}
}

struct edit_places *edit_places_make(const struct edit_call *call, const struct edit_step *step,
                                     struct span text)
{
	struct edit_places *places = places_collect(call, step);

	if (!places)
		return NULL;
	places->work = COMPARED_SHARE * (text.len + places->count * OLD_TEXT_MAX);
	choose_pieces(places, text);
	if (places_look(places, text, 0, text.len))
		return places;
	edit_places_free(places);
	return NULL;
}

/* ---- asking ---- */

static int compare_places_found(const void *a, const void *b)
{
	const size_t one = ((const struct place_found *)a)->at;
	const size_t other = ((const struct place_found *)b)->at;

	return (one > other) - (one < other);
}

/* Moves a place to its present position; false: it was dropped. */
static bool place_move(const struct edit_places *places, size_t len, struct place_found *found)
{
	for (; found->after < places->change_count; found->after++) {
		const struct place_change *change = &places->changes[found->after];

		if (found->at + len <= change->from)
			continue;
		if (found->at < change->to)
			return false;
		found->at += change->added - (change->to - change->from);
	}
	return true;
}

bool edit_places_find(struct edit_places *places, struct span old_text, size_t *ret_count,
                      size_t **ret)
{
	const struct old_text key = { .text = old_text };
	struct old_text *old = places->count ? bsearch(&key, places->texts, places->count,
	                                               sizeof(key), compare_old_texts) : NULL;
	size_t kept = 0, cap = 0, end = 0;

	if (!old)
		return false;
	for (size_t i = 0; i < old->count; i++) {
		const size_t moves = places->change_count - old->found[i].after;

		if (places->work < moves)
			return false;
		places->work -= moves;
		if (place_move(places, old->text.len, &old->found[i]))
			old->found[kept++] = old->found[i];
	}
	old->count = kept;
	if (kept)
		qsort(old->found, kept, sizeof(*old->found), compare_places_found);
	*ret = NULL;
	*ret_count = 0;
	for (size_t i = 0; i < kept; i++) {
		if (old->found[i].at < end)
			continue;
		*ret = mem_grow(*ret, &cap, *ret_count + 1, sizeof(**ret));
		(*ret)[(*ret_count)++] = old->found[i].at;
		end = old->found[i].at + old->text.len;
	}
	return true;
}
