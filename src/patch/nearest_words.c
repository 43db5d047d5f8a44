/* SPDX-License-Identifier: Apache-2.0 */
/* Where a text was probably meant of which no line stands in the file and none is like one of its:
 * the place that shares its words.
 *
 * Each word of the text that is not everywhere votes for the places where the text would begin if
 * its line were there, the more the rarer it is.  One place counts if it is plainly the nearest.
 * In one pass over the bytes.
 */
#include "patch/nearest.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/mem.h"

/* Bytes of a word; words; places of one that may vote. */
enum { WORD_MIN = 3, WORDS_MAX = 64, WORD_PLACES = 32 };

/* Open addressing: slots for many more than the words. */
enum { WORD_SLOTS = 512 };

/* Of a word that stands in one place alone; and how much more than the next the nearest place
 * needs, of 100. */
enum { WORD_WEIGHT = 960, PLAINLY = 150 };

struct sought_word {
	struct span text;
	size_t line;                /* of the wanted text, the first that has it */
	size_t places[WORD_PLACES]; /* lines of the base, ascending */
	size_t count;               /* WORD_PLACES + 1: it is everywhere */
};

struct word_search {
	struct sought_word words[WORDS_MAX];
	size_t count;
	uint8_t slots[WORD_SLOTS]; /* 1-based; 0: empty */
};

/* The place where the text would begin, and what speaks for it. */
struct word_vote {
	size_t at, weight, words;
};

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c & 0x80;
}

/* Takes the next word, without underscores; false: none. */
static bool word_next(struct span *text, struct span *ret)
{
	for (;;) {
		size_t start = 0, len = 0;

		while (start < text->len && !is_of_word(text->data[start]))
			start++;
		while (start + len < text->len && is_of_word(text->data[start + len]))
			len++;
		*ret = span_of(text->data + start, len);
		*text = span_skip(*text, start + len);
		if (!len)
			return false;
		if (len >= WORD_MIN && !isdigit((unsigned char)ret->data[0]))
			return true;
	}
}

/* The word's slot, or the empty one where it belongs. */
static uint8_t *slot_of_word(struct word_search *search, struct span word)
{
	size_t at = fold_hash(word) % WORD_SLOTS;

	while (search->slots[at] &&
	       !span_eq(search->words[search->slots[at] - 1].text, word))
		at = (at + 1) % WORD_SLOTS;
	return &search->slots[at];
}

static void seek_words(struct word_search *search, const struct lines *wanted)
{
	for (size_t i = 0; i < wanted->count && search->count < WORDS_MAX; i++) {
		struct span line = lines_at(wanted, i), word;

		while (search->count < WORDS_MAX && word_next(&line, &word)) {
			uint8_t *slot = slot_of_word(search, word);

			if (*slot)
				continue;
			search->words[search->count] = (struct sought_word){ word, .line = i };
			*slot = (uint8_t)++search->count;
		}
	}
}

static void find_words(struct word_search *search, const struct lines *base)
{
	for (size_t k = 0; k < base->count; k++) {
		struct span line = lines_at(base, k), word;

		while (word_next(&line, &word)) {
			uint8_t slot = *slot_of_word(search, word);
			struct sought_word *found = slot ? &search->words[slot - 1] : NULL;

			if (!found || found->count > WORD_PLACES ||
			    (found->count && found->places[found->count - 1] == k))
				continue;
			if (found->count < WORD_PLACES)
				found->places[found->count] = k;
			found->count++;
		}
	}
}

static int compare_vote_places(const void *a, const void *b)
{
	const struct word_vote *one = a, *other = b;

	return (one->at > other->at) - (one->at < other->at);
}

/* All votes, those for one place together; how many places. */
static size_t count_word_votes(const struct word_search *search, struct word_vote *votes)
{
	size_t count = 0, places = 0;

	for (size_t i = 0; i < search->count; i++) {
		const struct sought_word *word = &search->words[i];

		for (size_t k = 0; word->count <= WORD_PLACES && k < word->count; k++)
			if (word->places[k] >= word->line)
				votes[count++] = (struct word_vote){
					word->places[k] - word->line, WORD_WEIGHT / word->count, 1
				};
	}
	qsort(votes, count, sizeof(*votes), compare_vote_places);
	for (size_t i = 0; i < count; i++) {
		if (places && votes[places - 1].at == votes[i].at) {
			votes[places - 1].weight += votes[i].weight;
			votes[places - 1].words++;
		} else {
			votes[places++] = votes[i];
		}
	}
	return places;
}

bool nearest_words_find(const struct lines *base, const struct lines *wanted, size_t *ret)
{
	struct word_search *search = mem_alloc(1, sizeof(*search));
	struct word_vote *votes = mem_alloc(WORDS_MAX * WORD_PLACES, sizeof(*votes));
	const struct word_vote *best = NULL;
	size_t places, second = 0;
	bool found;

	seek_words(search, wanted);
	find_words(search, base);
	places = count_word_votes(search, votes);
	for (size_t i = 0; i < places; i++) {
		if (!best || votes[i].weight > best->weight) {
			second = best ? best->weight : 0;
			best = &votes[i];
		} else if (votes[i].weight > second) {
			second = votes[i].weight;
		}
	}
	/* One word of several that is there by chance says nothing. */
	found = best && (best->words > 1 || search->count <= 3) &&
	        best->weight >= WORD_WEIGHT / 4 && best->weight * 100 >= second * PLAINLY;
	if (found)
		*ret = best->at;
	free(votes);
	free(search);
	return found;
}
