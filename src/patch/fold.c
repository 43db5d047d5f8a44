/* SPDX-License-Identifier: Apache-2.0 */
/* Lines folded, so that they are compared at a level of tolerance, and numbered by what they fold
 * to. */
#include "patch/private.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

/* Ranges of characters that models and editors swap for ASCII, sorted. */
static const struct {
	uint32_t first, last;
	const char *ascii;
} lookalikes[] = {
	{ 0x00A0, 0x00A0, " " },  /* no-break space */
	{ 0x00AD, 0x00AD, "" },   /* soft hyphen */
	{ 0x00B4, 0x00B4, "'" },  /* acute accent */
	{ 0x02BC, 0x02BC, "'" },  /* modifier apostrophe */
	{ 0x1680, 0x1680, " " },
	{ 0x2000, 0x200A, " " },  /* typographic spaces */
	{ 0x200B, 0x200F, "" },   /* zero-width characters and marks */
	{ 0x2010, 0x2015, "-" },  /* hyphens and dashes */
	{ 0x2018, 0x201B, "'" },
	{ 0x201C, 0x201F, "\"" },
	{ 0x2026, 0x2026, "..." },
	{ 0x2028, 0x2029, " " },
	{ 0x202A, 0x202E, "" },   /* directional controls */
	{ 0x202F, 0x202F, " " },
	{ 0x2032, 0x2032, "'" },
	{ 0x2033, 0x2033, "\"" },
	{ 0x205F, 0x205F, " " },
	{ 0x2060, 0x2064, "" },
	{ 0x2066, 0x2069, "" },
	{ 0x2212, 0x2212, "-" },  /* minus sign */
	{ 0x3000, 0x3000, " " },  /* ideographic space */
	{ 0xFEFF, 0xFEFF, "" },   /* byte-order mark */
};

const char *fold_lookalike(uint32_t code_point)
{
	size_t low = 0, high = ARRAY_LEN(lookalikes);

	if (code_point < lookalikes[0].first)
		return NULL;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (code_point > lookalikes[middle].last)
			low = middle + 1;
		else if (code_point < lookalikes[middle].first)
			high = middle;
		else
			return lookalikes[middle].ascii;
	}
	return NULL;
}

enum patch_match fold_match(enum fold fold)
{
	static const enum patch_match matches[FOLD_COUNT] = {
		[FOLD_EXACT] = PATCH_MATCH_EXACT,
		[FOLD_TRAILING] = PATCH_MATCH_TRAILING_SPACE,
		[FOLD_COLLAPSE] = PATCH_MATCH_ALL_SPACE,
		[FOLD_DROP] = PATCH_MATCH_ALL_SPACE,
		[FOLD_LOOKALIKE_COLLAPSE] = PATCH_MATCH_LOOKALIKE,
		[FOLD_LOOKALIKE_DROP] = PATCH_MATCH_LOOKALIKE,
	};

	return matches[fold];
}

/* The body with look-alikes as ASCII, in *scratch. Bytes that are not UTF-8 stay. */
static struct span fold_characters(struct span body, struct buf *scratch)
{
	struct utf8_char c;

	buf_clear(scratch);
	while (utf8_next(&body, &c)) {
		const char *ascii = c.bytes.len > 1 ? fold_lookalike(c.code) : NULL;

		if (ascii)
			buf_str(scratch, ascii);
		else
			buf_span(scratch, c.bytes);
	}
	return buf_view(scratch);
}

static bool body_is_ascii(struct span body)
{
	for (size_t i = 0; i < body.len; i++)
		if ((unsigned char)body.data[i] >= 0x80)
			return false;
	return true;
}

/* White space removed, or each run made one space (none at the ends), in place in *scratch. */
static struct span fold_spaces(struct span body, bool keep_one, struct buf *scratch)
{
	size_t kept = 0;
	bool gap = false;

	if (body.data != scratch->data) {
		buf_clear(scratch);
		buf_span(scratch, body);
	}
	for (size_t i = 0; i < scratch->len; i++) {
		char c = scratch->data[i];

		if (fold_is_space(c)) {
			gap = kept > 0;
			continue;
		}
		if (gap && keep_one)
			scratch->data[kept++] = ' ';
		gap = false;
		scratch->data[kept++] = c;
	}
	return span_of(scratch->data, scratch->data ? kept : 0);
}

struct span fold_line(enum fold fold, struct span body, struct buf *scratch)
{
	if (fold == FOLD_EXACT)
		return body;
	if (fold == FOLD_TRAILING) {
		while (body.len && fold_is_space(body.data[body.len - 1]))
			body.len--;
		return body;
	}
	if (fold >= FOLD_LOOKALIKE_COLLAPSE && !body_is_ascii(body))
		body = fold_characters(body, scratch);
	return fold_spaces(body, fold == FOLD_COLLAPSE || fold == FOLD_LOOKALIKE_COLLAPSE, scratch);
}

/* ---- which lines of the base are the diff's --------------------------------------- */

/* Open addressing over the folded diff lines. */
struct fold_key {
	uint64_t hash;
	struct span text; /* in the diff, or owned by `folded` */
	uint32_t id;      /* 0: empty slot */
};

struct fold_keys {
	struct fold_key *slots;
	size_t mask;
	struct buf folded; /* folded texts, one after the other */
	uint32_t count;
	size_t longest;    /* of the texts */
	uint64_t marks[64]; /* text_mark of all: most lines of the base are none of them */
};

/* White space, in bytes, that a line of the base may have beyond four bytes for each of the longest
 * text's: a longer one is not looked at in a loose reading, for which it would be copied. */
enum { SPACES_MAX = 1 << 16 };

/* FNV-1a over words: collisions only cost a comparison. */
uint64_t fold_hash(struct span text)
{
	uint64_t hash = 0xcbf29ce484222325u ^ text.len;
	size_t at = 0;

	for (; at + 8 <= text.len; at += 8) {
		uint64_t word;

		memcpy(&word, text.data + at, 8);
		hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
		hash ^= hash >> 32;
	}
	for (; at < text.len; at++)
		hash = (hash ^ (unsigned char)text.data[at]) * 0x100000001b3u;
	return hash ^ hash >> 29;
}

/* 12 bits from the length and some bytes in the middle. */
static unsigned text_mark(struct span text)
{
	uint64_t word = text.len;

	if (text.len >= sizeof(word))
		memcpy(&word, text.data + (text.len - sizeof(word)) / 2, sizeof(word));
	return (unsigned)(((word ^ text.len << 40) * 0x9E3779B97F4A7C15u) >> 52);
}

static struct fold_key *key_slot(const struct fold_keys *keys, struct span text, uint64_t hash)
{
	size_t at = hash & keys->mask;

	while (keys->slots[at].id &&
	       (keys->slots[at].hash != hash || !span_eq(keys->slots[at].text, text)))
		at = (at + 1) & keys->mask;
	return &keys->slots[at];
}

static void number_diff_lines(struct fold_index *index, struct fold_keys *keys,
                              const struct diff_text *diff, enum fold_side side,
                              enum fold fold, bool strip_bom)
{
	char other = side == FOLD_SIDE_OLD ? '+' : '-';
	struct buf scratch = BUF_INIT(LIMIT_DIFF_BYTES * 2);
	size_t total = 1;

	/* Reserve room for all folded texts, so that spans into it stay valid. */
	for (size_t i = 0; i < diff->line_count; i++)
		total += 2 * diff->lines[i].text.len;
	buf_reserve(&keys->folded, total);
	for (size_t i = 0; i < diff->line_count; i++) {
		struct span text = diff->lines[i].text, folded;
		struct fold_key *slot;
		uint64_t hash;
		unsigned mark;

		if (diff->lines[i].op == other)
			continue;
		folded = fold_line(fold, strip_bom ? utf8_skip_mark(text) : text, &scratch);
		hash = fold_hash(folded);
		slot = key_slot(keys, folded, hash);
		if (!slot->id) {
			size_t start = keys->folded.len;

			buf_span(&keys->folded, folded);
			keys->longest = folded.len > keys->longest ? folded.len : keys->longest;
			mark = text_mark(folded);
			keys->marks[mark / 64] |= (uint64_t)1 << mark % 64;
			*slot = (struct fold_key){
				hash, span_of(keys->folded.data + start, folded.len), ++keys->count,
			};
		}
		index->diff_ids[i] = slot->id;
	}
	buf_release(&scratch);
}

static void number_base_lines(struct fold_index *index, const struct fold_keys *keys,
                              const struct lines *base, enum fold fold)
{
	struct buf scratch = BUF_INIT(LIMIT_FILE_BYTES);

	for (size_t i = 0; i < base->count; i++) {
		struct span text = line_body(lines_at(base, i));
		unsigned mark;
		uint32_t id;

		if (fold > FOLD_TRAILING && text.len > 4 * keys->longest + SPACES_MAX)
			continue;
		text = fold_line(fold, text, &scratch);
		mark = text_mark(text);
		if (!(keys->marks[mark / 64] >> mark % 64 & 1))
			continue;
		id = key_slot(keys, text, fold_hash(text))->id;
		/* Zeros are there already: pages of them alone take no memory. */
		if (id)
			index->base_ids[i] = id;
	}
	buf_release(&scratch);
}

static void list_positions(struct fold_index *index)
{
	size_t *fill = mem_alloc(index->id_count + 1, sizeof(*fill));

	for (size_t i = 0; i < index->base_count; i++)
		if (index->base_ids[i])
			index->starts[index->base_ids[i]]++;
	for (size_t id = 1; id <= index->id_count; id++)
		index->starts[id] += index->starts[id - 1];
	memcpy(fill, index->starts, (index->id_count + 1) * sizeof(*fill));
	index->positions = mem_alloc(index->starts[index->id_count], sizeof(*index->positions));
	for (size_t i = 0; i < index->base_count; i++)
		if (index->base_ids[i])
			index->positions[fill[index->base_ids[i] - 1]++] = i;
	free(fill);
}

void fold_index_build(struct fold_index *index, const struct lines *base,
                      const struct diff_text *diff, enum fold_side side, enum fold fold,
                      bool strip_bom)
{
	struct fold_keys keys = { .folded = BUF_INIT(LIMIT_DIFF_BYTES * 4) };
	size_t slots = 16;

	while (slots < diff->line_count * 2 + 2)
		slots *= 2;
	keys.slots = mem_alloc(slots, sizeof(*keys.slots));
	keys.mask = slots - 1;
	*index = (struct fold_index){ .base_count = base->count };
	index->base_ids = mem_alloc(base->count, sizeof(*index->base_ids));
	index->diff_ids = mem_alloc(diff->line_count, sizeof(*index->diff_ids));
	number_diff_lines(index, &keys, diff, side, fold, strip_bom);
	index->id_count = keys.count;
	index->starts = mem_alloc(index->id_count + 1, sizeof(*index->starts));
	number_base_lines(index, &keys, base, fold);
	list_positions(index);
	free(keys.slots);
	buf_release(&keys.folded);
}

void fold_index_release(struct fold_index *index)
{
	free(index->base_ids);
	free(index->diff_ids);
	free(index->starts);
	free(index->positions);
	*index = (struct fold_index){ 0 };
}

bool fold_index_fits(const struct fold_index *index, const uint32_t *ids, size_t count, size_t at)
{
	return at <= index->base_count && count <= index->base_count - at &&
	       (!count || memcmp(index->base_ids + at, ids, count * sizeof(*ids)) == 0);
}

/* The rarest of the ids: its places are the fewest that need a look. */
static size_t rarest_id(const struct fold_index *index, const uint32_t *ids, size_t count)
{
	size_t best = 0, best_places = (size_t)-1;

	for (size_t i = 0; i < count; i++) {
		size_t places = index->starts[ids[i]] - index->starts[ids[i] - 1];

		if (places < best_places) {
			best = i;
			best_places = places;
		}
	}
	return best;
}

/* Knuth-Morris-Pratt, for hunks made of lines that are everywhere. */
static size_t find_linear(struct fold_index *index, const uint32_t *ids, size_t count,
                          size_t *places, size_t max)
{
	size_t *border = mem_alloc(count + 1, sizeof(*border));
	size_t found = 0, matched = 0;

	for (size_t i = 1, k = 0; i < count; i++) {
		while (k && ids[i] != ids[k])
			k = border[k];
		k += ids[i] == ids[k];
		border[i + 1] = k;
	}
	for (size_t i = 0; i < index->base_count && found <= max; i++) {
		index->work++;
		while (matched && index->base_ids[i] != ids[matched])
			matched = border[matched];
		matched += index->base_ids[i] == ids[matched];
		if (matched == count) {
			if (found < max)
				places[found] = i + 1 - count;
			found++;
			matched = border[matched];
		}
	}
	free(border);
	return found;
}

size_t fold_index_find(struct fold_index *index, const uint32_t *ids, size_t count,
                       size_t *places, size_t max)
{
	size_t key = rarest_id(index, ids, count);
	size_t from = index->starts[ids[key] - 1], to = index->starts[ids[key]];
	size_t found = 0;

	if (index->work_max && index->work > index->work_max)
		return 0;
	if ((to - from) * count > 4 * index->base_count + 4096)
		return find_linear(index, ids, count, places, max);
	for (size_t i = from; i < to && found <= max; i++) {
		index->work += count;
		if (index->positions[i] < key ||
		    !fold_index_fits(index, ids, count, index->positions[i] - key))
			continue;
		if (found < max)
			places[found] = index->positions[i] - key;
		found++;
	}
	return found;
}
