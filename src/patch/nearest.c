/* SPDX-License-Identifier: Apache-2.0 */
/* The places where most lines of a text stand, found in one pass over the base. */
#include "patch/nearest.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

/* Bounds of the work: distinct wanted lines that are looked for, places of each, places compared
 * with the whole text, and lines compared there (the places that are named are compared whole). */
enum { WANTED_MAX = 1024, PLACES_MAX = 64, TRIES_MAX = 256, COMPARED_MAX = 1024 };

/* Bytes of a longer line that are folded, in addition to what the wanted lines may be spelled
 * with. */
enum { FOLDED_MAX = 4096 };

/* Lines less alike than this have nothing to do with each other. */
enum { LIKENESS_MIN = 55 };

bool nearest_is_distinctive(struct span line)
{
	size_t letters = 0;

	for (size_t i = 0; i < line.len && letters < 4; i++)
		letters += isalnum((unsigned char)line.data[i]) || (line.data[i] & 0x80);
	return letters >= 4;
}

/* ---- likeness ---- */

enum { LIKENESS_PAIRS = 1024 };

/* Which pairs of neighbouring bytes a line has, roughly: most lines need no closer look. */
struct sketch {
	struct span line; /* borrowed */
	uint64_t pairs[4];
};

/* A line that many are compared with. */
struct likeness {
	struct sketch sketch;
	unsigned short counts[LIKENESS_PAIRS];
};

static unsigned pair_at(struct span line, size_t i)
{
	return ((unsigned char)line.data[i] * 31u + (unsigned char)line.data[i + 1]) %
	       LIKENESS_PAIRS;
}

static void sketch_init(struct sketch *sketch, struct span line)
{
	*sketch = (struct sketch){ .line = span_head(span_trim(line), LIKENESS_BYTES) };
	for (size_t i = 0; i + 1 < sketch->line.len; i++) {
		unsigned pair = pair_at(sketch->line, i) % (64 * ARRAY_LEN(sketch->pairs));

		sketch->pairs[pair / 64] |= (uint64_t)1 << pair % 64;
	}
}

static void likeness_init(struct likeness *likeness, struct span line)
{
	*likeness = (struct likeness){ 0 };
	sketch_init(&likeness->sketch, line);
	for (size_t i = 0; i + 1 < likeness->sketch.line.len; i++)
		likeness->counts[pair_at(likeness->sketch.line, i)]++;
}

/* Pairs of `a` that `b` can have at most: each kind that it lacks is one less. */
static size_t common_at_most(const struct sketch *a, const struct sketch *b)
{
	size_t pairs = a->line.len - 1;

	for (size_t i = 0; i < ARRAY_LEN(a->pairs); i++)
		pairs -= (size_t)__builtin_popcountll(a->pairs[i] & ~b->pairs[i]);
	return pairs;
}

/* What is below `least` may be 0. */
static unsigned likeness_compare(struct likeness *likeness, const struct sketch *other,
                                 unsigned least)
{
	const struct sketch *own = &likeness->sketch;
	unsigned short taken[LIKENESS_BYTES];
	struct span line = other->line;
	size_t common = 0, all, most;

	if (own->line.len < 2 || line.len < 2)
		return span_eq(own->line, line) ? 100 : 0;
	all = own->line.len + line.len - 2;
	most = common_at_most(other, own);
	if (most * 200 < least * all || common_at_most(own, other) * 200 < least * all)
		return 0;
	if (span_eq(own->line, line))
		return 100;
	for (size_t i = 0; i + 1 < line.len; i++) {
		unsigned pair = pair_at(line, i);

		if (!likeness->counts[pair])
			continue;
		likeness->counts[pair]--;
		taken[common++] = (unsigned short)pair;
	}
	for (size_t i = 0; i < common; i++)
		likeness->counts[taken[i]]++;
	return (unsigned)(common * 200 / all) * 99 / 100;
}

unsigned nearest_likeness(struct span a, struct span b)
{
	struct likeness likeness;
	struct sketch sketch;

	likeness_init(&likeness, a);
	sketch_init(&sketch, b);
	return likeness_compare(&likeness, &sketch, 0);
}

/* ---- the wanted lines ---- */

/* A line of the wanted text, folded, and where the base has it. */
struct sought {
	uint64_t hash;
	size_t index;      /* the first wanted line that is this one */
	bool distinctive;
	size_t *places;    /* owned; the first PLACES_MAX of them, ascending */
	size_t count, cap; /* of `places` */
};

struct nearest_search {
	const struct lines *base, *wanted;
	size_t longest; /* wanted line, in bytes */
	struct buf folded;            /* the wanted lines, folded, one after the other */
	struct span *lines;           /* owned; of `folded` */
	struct sought sought[WANTED_MAX];
	size_t sought_count;
	uint16_t slots[4 * WANTED_MAX]; /* open addressing: 1-based index in `sought`; 0: empty */
	struct likeness likeness;     /* to the first distinctive line, which is `model` */
	size_t model;                 /* its index in the wanted text; wanted->count: none */
	unsigned best;                /* the highest likeness so far, and the line that has it */
	size_t best_line;
	struct buf scratch;
};

static uint16_t *slot_of(struct nearest_search *search, struct span line, uint64_t hash)
{
	size_t at = hash % ARRAY_LEN(search->slots);

	for (;; at = (at + 1) % ARRAY_LEN(search->slots)) {
		const struct sought *sought;

		if (!search->slots[at])
			return &search->slots[at];
		sought = &search->sought[search->slots[at] - 1];
		if (sought->hash == hash && span_eq(search->lines[sought->index], line))
			return &search->slots[at];
	}
}

static void seek_line(struct nearest_search *search, size_t index)
{
	struct span line = search->lines[index];
	uint64_t hash = fold_hash(line);
	uint16_t *slot;

	if (!line.len || search->sought_count == WANTED_MAX)
		return;
	slot = slot_of(search, line, hash);
	if (*slot)
		return;
	search->sought[search->sought_count++] = (struct sought){
		.hash = hash, .index = index, .distinctive = nearest_is_distinctive(line)
	};
	*slot = (uint16_t)search->sought_count;
	if (search->model == search->wanted->count && nearest_is_distinctive(line)) {
		search->model = index;
		likeness_init(&search->likeness, line);
	}
}

/* A line of the base that is far longer than all wanted ones is none of them: its beginning is
 * enough for likeness. */
static struct span folded_line(struct nearest_search *search, const struct lines *lines, size_t i)
{
	struct span line = line_body(lines_at(lines, i));

	if (lines == search->base && line.len > FOLDED_MAX + 4 * search->longest)
		line = span_head(line, FOLDED_MAX + 4 * search->longest);
	return fold_line(FOLD_LOOKALIKE_DROP, line, &search->scratch);
}

static struct nearest_search *search_new(const struct lines *base, const struct lines *wanted)
{
	struct nearest_search *search = mem_alloc(1, sizeof(*search));

	search->base = base;
	search->wanted = wanted;
	search->folded = (struct buf)BUF_INIT(LIMIT_FILE_BYTES);
	search->scratch = (struct buf)BUF_INIT(LIMIT_FILE_BYTES);
	search->lines = mem_alloc(wanted->count + 1, sizeof(*search->lines));
	search->model = wanted->count;
	search->best = LIKENESS_MIN - 1;
	/* Folding never lengthens a line, so the buffer never moves. */
	buf_reserve(&search->folded, wanted->text.len + 1);
	for (size_t i = 0; i < wanted->count; i++)
		if (lines_at(wanted, i).len > search->longest)
			search->longest = lines_at(wanted, i).len;
	for (size_t i = 0; i < wanted->count; i++) {
		size_t start = search->folded.len;

		buf_span(&search->folded, folded_line(search, wanted, i));
		search->lines[i] = buf_from(&search->folded, start);
		seek_line(search, i);
	}
	return search;
}

static void search_free(struct nearest_search *search)
{
	for (size_t i = 0; i < search->sought_count; i++)
		free(search->sought[i].places);
	buf_release(&search->folded);
	buf_release(&search->scratch);
	free(search->lines);
	free(search);
}

/* The one pass over the base: where the wanted lines are, and which line is most like the first. */
static void search_base(struct nearest_search *search)
{
	for (size_t k = 0; k < search->base->count; k++) {
		struct span line = folded_line(search, search->base, k);
		uint16_t slot = line.len ? *slot_of(search, line, fold_hash(line)) : 0;
		struct sought *sought = slot ? &search->sought[slot - 1] : NULL;
		struct sketch sketch;
		unsigned likeness;

		if (sought && sought->count < PLACES_MAX) {
			sought->places = mem_grow(sought->places, &sought->cap, sought->count + 1,
			                          sizeof(*sought->places));
			sought->places[sought->count++] = k;
		}
		if (sought || search->model == search->wanted->count || k < search->model)
			continue;
		sketch_init(&sketch, line);
		likeness = likeness_compare(&search->likeness, &sketch, search->best + 1);
		if (likeness > search->best) {
			search->best = likeness;
			search->best_line = k;
		}
	}
}

/* ---- places ---- */

/* Compares the wanted text, up to line `max`, with the base from line `at` on. */
static struct nearest compare_place(struct nearest_search *search, size_t at, size_t max)
{
	const struct lines *wanted = search->wanted;
	struct nearest place = { .line = at, .differs = wanted->count, .unlike = wanted->count };

	for (size_t i = 0; i < wanted->count && i < max; i++) {
		struct span line = line_body(lines_at(wanted, i)), folded = { 0 };
		bool there = at + i < search->base->count, equal, similar;

		equal = there && span_eq(line, line_body(lines_at(search->base, at + i)));
		if (there && !equal)
			folded = folded_line(search, search->base, at + i);
		similar = equal || (there && span_eq(folded, search->lines[i]));
		/* A blank line for a blank one is no difference. */
		if (!equal && place.differs == wanted->count && (search->lines[i].len || !similar))
			place.differs = i;
		if (!similar && place.unlike == wanted->count)
			place.unlike = i;
		if (search->lines[i].len) {
			place.equal += equal;
			place.similar += similar;
			place.telling++;
		}
	}
	return place;
}

/* Where as many are the same, the one that differs later comes first. */
static int compare_places(const void *a, const void *b)
{
	const struct nearest *one = a, *other = b;

	if (one->similar != other->similar)
		return one->similar < other->similar ? 1 : -1;
	if (one->equal != other->equal)
		return one->equal < other->equal ? 1 : -1;
	if (one->unlike != other->unlike)
		return one->unlike < other->unlike ? 1 : -1;
	return (one->line > other->line) - (one->line < other->line);
}

static int compare_rarity(const void *a, const void *b)
{
	const struct sought *one = *(const struct sought *const *)a;
	const struct sought *other = *(const struct sought *const *)b;

	if (one->count != other->count)
		return one->count < other->count ? -1 : 1;
	return (one->index > other->index) - (one->index < other->index);
}

/* The places that lines of the text, the rarest first, name; how many. */
static size_t vote(struct nearest_search *search, bool distinctive,
                   struct nearest places[TRIES_MAX])
{
	_cleanup_free_ const struct sought **rare = mem_alloc(WANTED_MAX, sizeof(*rare));
	size_t count = 0, found = 0;

	for (size_t i = 0; i < search->sought_count; i++)
		if (search->sought[i].distinctive || !distinctive)
			rare[count++] = &search->sought[i];
	qsort(rare, count, sizeof(*rare), compare_rarity);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < rare[i]->count && found < TRIES_MAX; k++) {
			size_t at = rare[i]->places[k] - rare[i]->index, same = 0;

			if (rare[i]->places[k] < rare[i]->index)
				continue;
			while (same < found && places[same].line != at)
				same++;
			if (same == found)
				places[found++] = compare_place(search, at, COMPARED_MAX);
		}
	qsort(places, found, sizeof(*places), compare_places);
	return found;
}

static size_t nearest_places(const struct lines *base, const struct lines *wanted, bool by_words,
                          struct nearest *ret, size_t max)
{
	struct nearest_search *search = search_new(base, wanted);
	struct nearest places[TRIES_MAX];
	size_t found;

	search_base(search);
	found = vote(search, /* distinctive= */ true, places);
	if (!found && search->best >= LIKENESS_MIN)
		places[found++].line = search->best_line - search->model;
	if (!found && by_words)
		found = nearest_words_find(base, wanted, &places[0].line);
	if (!found)
		found = vote(search, /* distinctive= */ false, places);
	for (size_t i = 0; i < found && i < max; i++)
		ret[i] = compare_place(search, places[i].line, SIZE_MAX);
	search_free(search);
	return found < max ? found : max;
}

size_t nearest_find(const struct lines *base, const struct lines *wanted, struct nearest *ret,
                    size_t max)
{
	return nearest_places(base, wanted, /* by_words= */ false, ret, max);
}

size_t nearest_guess(const struct lines *base, const struct lines *wanted, struct nearest *ret,
                     size_t max)
{
	return nearest_places(base, wanted, /* by_words= */ true, ret, max);
}
