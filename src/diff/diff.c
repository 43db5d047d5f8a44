/* SPDX-License-Identifier: Apache-2.0 */
/* From two texts to an edit script: cut the ends, number the lines, set aside those without a
 * partner, compare the rest, slide what can slide. */
#include "diff/diff.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/mem.h"
#include "base/text.h"

/* A change between two texts in line numbers.
 *
 * Old lines [old_at, old_at + old_count) became new lines
 * [new_at, new_at + new_count).  A list of changes is sorted, and two
 * neighbours have at least one unchanged line between them.
 */

struct diff_change {
	size_t old_at;
	size_t old_count;
	size_t new_at;
	size_t new_count;
};

struct change_list {
	struct diff_change *items; /* owned */
	size_t count;
	size_t cap;
};

/* A part of a text to compare: lines [from, from + count). */
struct line_range {
	const struct lines *lines;
	size_t from;
	size_t count;
};

/* ---- numbering lines -------------------------------------------------------------- */

/* Lines to numbers, by an open-addressed hash table of the old lines.
 *
 * The number of a line is the index of the first old line that equals it.  The
 * hash is keyed with the random bytes that the kernel gives each process, so
 * that no one can prepare a text whose lines all collide; the numbers do not
 * depend on it.
 */

/* Gives every line of the range a number, so that two lines have the same
 * number exactly when they are equal.  A new line that does not occur among the
 * old ones, and an old line that does not occur among the new ones, gets
 * CLASS_ALONE: it has no partner, whatever the rest looks like.  Both arrays
 * have `count` elements.  Counts must be below INT32_MAX. */
#define CLASS_ALONE UINT32_MAX

struct class_slot {
	uint32_t tag;  /* the upper half of the hash: spares most comparisons */
	uint32_t line; /* 1 + index of the old line; 0: the slot is free */
};

struct table {
	struct class_slot *slots;
	size_t mask;
	uint64_t key;
	struct line_range old_range;
};

static uint64_t process_key(void)
{
	const void *bytes = (const void *)getauxval(AT_RANDOM);
	uint64_t key = UINT64_C(0x9e3779b97f4a7c15);

	if (bytes)
		memcpy(&key, bytes, sizeof(key));
	return key;
}

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t line_hash(struct span line, uint64_t key)
{
	uint64_t hash = key ^ line.len, word;

	while (line.len >= sizeof(word)) {
		memcpy(&word, line.data, sizeof(word));
		hash = hash_mix(hash ^ word, UINT64_C(0xd6e8feb86659fd93)) + key;
		line = span_skip(line, sizeof(word));
	}
	word = 0;
	if (line.len > 0)
		memcpy(&word, line.data, line.len);
	return hash_mix(hash ^ word, UINT64_C(0xa0761d6478bd642f)) + key;
}

/* The slot that holds the line, or the free one where it belongs. */
static struct class_slot *table_find(struct table *table, struct span line, uint32_t *ret_tag)
{
	uint64_t hash = line_hash(line, table->key);
	uint32_t tag = (uint32_t)(hash >> 32);

	*ret_tag = tag;
	for (size_t i = (size_t)hash & table->mask;; i = (i + 1) & table->mask) {
		struct class_slot *slot = &table->slots[i];

		if (slot->line == 0)
			return slot;
		if (slot->tag == tag &&
		    span_eq(lines_at(table->old_range.lines,
		                     table->old_range.from + slot->line - 1),
		            line))
			return slot;
	}
}

static void classes_assign(struct line_range old_range, struct line_range new_range,
                           uint32_t *old_classes, uint32_t *new_classes)
{
	struct table table = { .key = process_key(), .old_range = old_range };
	size_t size = 16;
	_cleanup_free_ unsigned char *met = mem_alloc(old_range.count + 1, 1);

	while (size < 2 * old_range.count)
		size *= 2;
	table.mask = size - 1;
	table.slots = mem_alloc(size, sizeof(*table.slots));
	for (size_t i = 0; i < old_range.count; i++) {
		uint32_t tag;
		struct class_slot *slot = table_find(
			&table, lines_at(old_range.lines, old_range.from + i), &tag);

		if (slot->line == 0)
			*slot = (struct class_slot){ .tag = tag, .line = (uint32_t)i + 1 };
		old_classes[i] = slot->line - 1;
	}
	for (size_t i = 0; i < new_range.count; i++) {
		uint32_t tag;
		const struct class_slot *slot = table_find(
			&table, lines_at(new_range.lines, new_range.from + i), &tag);

		new_classes[i] = slot->line == 0 ? CLASS_ALONE : slot->line - 1;
		if (slot->line != 0)
			met[slot->line - 1] = 1;
	}
	for (size_t i = 0; i < old_range.count; i++) {
		if (!met[old_classes[i]])
			old_classes[i] = CLASS_ALONE;
	}
	free(table.slots);
}

/* ---- sliding ---------------------------------------------------------------------- */

/* Where a change reads best.
 *
 * Lines inserted (or deleted) between equal lines can often be shown in several
 * places: "}", blank, "f() {", ... or blank, "f() {", ..., "}".  Every place
 * has two boundaries.  A boundary is cheap where the text has a seam: little
 * indentation, a blank line before it, not in the middle of a block.  The
 * cheapest place wins, the last one of several.
 */

/* Columns past which indentation says nothing more. */
#define INDENT_MAX 60
/* Lines that are looked at around a boundary, and places that are compared. */
#define LOOK_AROUND 20
#define PLACES_MAX 200

/* What a boundary costs beyond INDENT_COST per column of indentation. */
enum {
	INDENT_COST = 10,
	COST_AFTER_BLANK = 0,
	COST_FILE_EDGE = 1,
	COST_BEFORE_BLANK = 6,
	COST_SAME_LEVEL = 12,
	COST_DEEPER = 16,
	COST_SHALLOWER = 24,
};

struct slider {
	const struct lines *old_lines;
	const struct lines *new_lines;
	size_t budget; /* bytes that may still be compared: keeps the whole linear */
};

/* A pure insertion or deletion, in the text that has the lines. */
struct group {
	const struct lines *lines;
	size_t at;
	size_t count;
};

static struct group change_group(const struct slider *s, const struct diff_change *change)
{
	if (change->old_count == 0)
		return (struct group){ s->new_lines, change->new_at, change->new_count };
	return (struct group){ s->old_lines, change->old_at, change->old_count };
}

/* -1 for a blank line. */
static int slide_indent(struct span line)
{
	int columns = 0;

	for (size_t i = 0; i < line.len; i++) {
		char c = line.data[i];

		if (c == ' ')
			columns++;
		else if (c == '\t')
			columns += 8 - columns % 8;
		else if (c != '\r' && c != '\n' && c != '\f' && c != '\v')
			return columns < INDENT_MAX ? columns : INDENT_MAX;
		if (columns >= INDENT_MAX)
			return INDENT_MAX;
	}
	return -1;
}

/* The indentation of the first line at or after `at`, or of the last before
 * it, that is not blank; -1 when there is none near. */
static int indent_after(const struct lines *lines, size_t at)
{
	for (size_t i = 0; i < LOOK_AROUND && at + i < lines->count; i++) {
		int indent = slide_indent(lines_at(lines, at + i));

		if (indent >= 0)
			return indent;
	}
	return -1;
}

static int indent_before(const struct lines *lines, size_t at)
{
	for (size_t i = 1; i <= LOOK_AROUND && i <= at; i++) {
		int indent = slide_indent(lines_at(lines, at - i));

		if (indent >= 0)
			return indent;
	}
	return -1;
}

static int boundary_cost(const struct lines *lines, size_t at)
{
	int next, previous, cost;

	if (at == 0 || at == lines->count)
		return COST_FILE_EDGE;
	next = indent_after(lines, at);
	previous = indent_before(lines, at);
	if (next < 0)
		next = 0;
	if (slide_indent(lines_at(lines, at - 1)) < 0)
		cost = COST_AFTER_BLANK;
	else if (slide_indent(lines_at(lines, at)) < 0)
		cost = COST_BEFORE_BLANK;
	else if (next == previous)
		cost = COST_SAME_LEVEL;
	else
		cost = next > previous ? COST_DEEPER : COST_SHALLOWER;
	return INDENT_COST * next + cost;
}

static bool lines_equal(struct slider *s, const struct lines *lines, size_t i, size_t j)
{
	struct span a = lines_at(lines, i), b = lines_at(lines, j);

	if (a.len != b.len || s->budget <= a.len)
		return false;
	s->budget -= a.len + 1;
	return memcmp(a.data, b.data, a.len) == 0;
}

static void change_shift(struct diff_change *change, size_t up, size_t down)
{
	change->old_at = change->old_at - up + down;
	change->new_at = change->new_at - up + down;
}

/* Moves a pure change up to the first place where it can stand, but not past
 * old line `floor`; returns by how many lines. */
static size_t slide_up(struct slider *s, struct diff_change *change, size_t floor)
{
	struct group group = change_group(s, change);
	size_t n = 0, room = change->old_at - floor;

	while (n < room &&
	       lines_equal(s, group.lines, group.at - n - 1, group.at - n - 1 + group.count))
		n++;
	change_shift(change, n, 0);
	return n;
}

/* And down, so that it ends at old line `ceiling` at the latest. */
static size_t slide_down(struct slider *s, struct diff_change *change, size_t ceiling)
{
	struct group group = change_group(s, change);
	size_t n = 0, room = ceiling - (change->old_at + change->old_count);

	while (n < room && lines_equal(s, group.lines, group.at + n, group.at + n + group.count))
		n++;
	change_shift(change, 0, n);
	return n;
}

/* The change stands at its last place, and can go up by `range`. */
static void pick_place(const struct slider *s, struct diff_change *change, size_t range)
{
	struct group group = change_group(s, change);
	size_t best = 0;
	int best_cost = 0;

	for (size_t up = 0; up <= range && up < PLACES_MAX; up++) {
		int cost = boundary_cost(group.lines, group.at - up) +
		           boundary_cost(group.lines, group.at - up + group.count);

		if (up == 0 || cost < best_cost) {
			best = up;
			best_cost = cost;
		}
	}
	change_shift(change, best, 0);
}

static struct diff_change change_join(const struct diff_change *first,
                                      const struct diff_change *second)
{
	return (struct diff_change){
		.old_at = first->old_at,
		.old_count = first->old_count + second->old_count,
		.new_at = first->new_at,
		.new_count = first->new_count + second->new_count,
	};
}

static size_t change_new_end(const struct diff_change *change)
{
	return change->old_at + change->old_count;
}

/* Items [0, done) stand; `next` and on have not been looked at.  Places one change
 * between them, taking in those that it comes to touch; returns the new `next`. */
static size_t place_one(struct slider *s, struct change_list *list, size_t *done, size_t next)
{
	struct diff_change change = list->items[next++];

	while ((change.old_count == 0) != (change.new_count == 0)) {
		size_t floor = *done > 0 ? change_new_end(&list->items[*done - 1]) : 0;
		size_t ceiling =
			next < list->count ? list->items[next].old_at : s->old_lines->count;
		size_t range;

		slide_up(s, &change, floor);
		if (*done > 0 && change.old_at == floor) {
			change = change_join(&list->items[--*done], &change);
			continue;
		}
		range = slide_down(s, &change, ceiling);
		if (next < list->count && change_new_end(&change) == ceiling) {
			change = change_join(&change, &list->items[next++]);
			continue;
		}
		pick_place(s, &change, range);
		break;
	}
	list->items[(*done)++] = change;
	return next;
}

/* Moves pure insertions and deletions that can stand in several places to
 * where they read best, and joins changes that come to touch. */
static void slide_changes(const struct lines *old_lines, const struct lines *new_lines,
                          struct change_list *list)
{
	struct slider slider = {
		.old_lines = old_lines,
		.new_lines = new_lines,
		.budget = 16 * (old_lines->text.len + new_lines->text.len),
	};
	size_t done = 0;

	for (size_t next = 0; next < list->count;)
		next = place_one(&slider, list, &done, next);
	list->count = done;
}

/* ---- all together ----------------------------------------------------------------- */

/* Bytes per comparison while cutting the ends. */
#define CHUNK 65536

/* Bytes that both begin with. */
static size_t chunks_common_head(struct span a, struct span b)
{
	size_t max = a.len < b.len ? a.len : b.len, n = 0;

	while (max - n >= CHUNK && memcmp(a.data + n, b.data + n, CHUNK) == 0)
		n += CHUNK;
	while (n < max && a.data[n] == b.data[n])
		n++;
	return n;
}

/* Bytes, at most `max`, that both end with. */
static size_t chunks_common_tail(struct span a, struct span b, size_t max)
{
	const char *a_end = a.data + a.len, *b_end = b.data + b.len;
	size_t n = 0;

	while (max - n >= CHUNK && memcmp(a_end - n - CHUNK, b_end - n - CHUNK, CHUNK) == 0)
		n += CHUNK;
	while (n < max && a_end[-(ptrdiff_t)n - 1] == b_end[-(ptrdiff_t)n - 1])
		n++;
	return n;
}

/* The last line that begins at or before `offset`; count when that is the end. */
static size_t line_before(const struct lines *lines, size_t offset)
{
	size_t low = 0, high = lines->count;

	while (low < high) {
		size_t middle = low + (high - low + 1) / 2;

		if (lines_start(lines, middle) <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* The first line that begins at or after `offset`. */
static size_t line_from(const struct lines *lines, size_t offset)
{
	size_t line = line_before(lines, offset);

	return lines_start(lines, line) == offset ? line : line + 1;
}

/* Leaves the lines between the common head and the common tail. */
static void cut_ends(struct line_range *a, struct line_range *b)
{
	const struct lines *al = a->lines, *bl = b->lines;
	size_t head, tail, cut, shorter;

	if (al->count == 0 || bl->count == 0)
		return;
	head = chunks_common_head(al->text, bl->text);
	cut = line_before(al, head);
	/* A line is common when it is so to its end on both sides. */
	if (line_before(bl, head) < cut)
		cut = line_before(bl, head);
	shorter = al->text.len < bl->text.len ? al->text.len : bl->text.len;
	tail = chunks_common_tail(al->text, bl->text, shorter - lines_start(al, cut));
	a->from = b->from = cut;
	/* The tail of the side where it begins within a line decides for both. */
	a->count = line_from(al, al->text.len - tail);
	b->count = line_from(bl, bl->text.len - tail);
	if (al->count - a->count < bl->count - b->count)
		b->count = bl->count - (al->count - a->count);
	else
		a->count = al->count - (bl->count - b->count);
	a->count -= cut;
	b->count -= cut;
}

/* One side of the comparison without the lines that have no partner. */
struct sequence {
	uint32_t *classes; /* owned; of the lines that are left */
	uint32_t *lines;   /* owned; which lines those are, from the range's first */
	size_t count;
	unsigned char *changed; /* owned; one mark per line of the range */
};

static void sequence_release(struct sequence *sequence)
{
	free(sequence->classes);
	free(sequence->lines);
	free(sequence->changed);
}

static struct sequence sequence_new(size_t count)
{
	return (struct sequence){
		.classes = mem_alloc(count + 1, sizeof(uint32_t)),
		.lines = mem_alloc(count + 1, sizeof(uint32_t)),
		.count = count,
		.changed = mem_alloc(count + 1, 1),
	};
}

static void set_aside_alone(struct sequence *sequence)
{
	size_t kept = 0;

	for (size_t i = 0; i < sequence->count; i++) {
		if (sequence->classes[i] == CLASS_ALONE) {
			sequence->changed[i] = 1;
			continue;
		}
		sequence->classes[kept] = sequence->classes[i];
		sequence->lines[kept++] = (uint32_t)i;
	}
	sequence->count = kept;
}

/* Moves the marks of the lines that were left to where those lines are. */
static void mark_lines(struct sequence *sequence, const unsigned char *marks)
{
	for (size_t i = 0; i < sequence->count; i++) {
		if (marks[i])
			sequence->changed[sequence->lines[i]] = 1;
	}
}

static void change_list_add(struct change_list *list, struct diff_change change)
{
	if (list->count == list->cap)
		list->items = mem_grow(list->items, &list->cap, list->count + 1,
		                       sizeof(*list->items));
	list->items[list->count++] = change;
}

static void diff_collect_changes(const struct sequence *a, struct line_range a_range,
                                 const struct sequence *b, struct line_range b_range,
                                 struct change_list *list)
{
	size_t i = 0, j = 0;

	while (i < a_range.count || j < b_range.count) {
		size_t i0 = i, j0 = j;

		while (i < a_range.count && a->changed[i])
			i++;
		while (j < b_range.count && b->changed[j])
			j++;
		if (i > i0 || j > j0)
			change_list_add(list, (struct diff_change){ a_range.from + i0, i - i0,
			                b_range.from + j0, j - j0 });
		/* What is unmarked on both sides is a pair. */
		i++;
		j++;
	}
}

static void diff_compare(struct line_range old_range, struct line_range new_range,
                         struct change_list *list)
{
	struct sequence a = sequence_new(old_range.count);
	struct sequence b = sequence_new(new_range.count);
	unsigned char *marks;

	classes_assign(old_range, new_range, a.classes, b.classes);
	set_aside_alone(&a);
	set_aside_alone(&b);
	marks = mem_alloc(a.count + b.count + 1, 1);
	myers_mark(a.classes, a.count, b.classes, b.count, marks, marks + a.count);
	mark_lines(&a, marks);
	mark_lines(&b, marks + a.count);
	diff_collect_changes(&a, old_range, &b, new_range, list);
	free(marks);
	sequence_release(&a);
	sequence_release(&b);
}

void diff_lines(const struct lines *old_lines, const struct lines *new_lines,
                struct script *ret)
{
	struct line_range a = { old_lines, 0, old_lines->count };
	struct line_range b = { new_lines, 0, new_lines->count };
	struct change_list list = { 0 };

	cut_ends(&a, &b);
	if (a.count == 0 && b.count == 0)
		return;
	if (a.count == 0 || b.count == 0 || a.count + b.count >= INT32_MAX - 8)
		change_list_add(&list, (struct diff_change){ a.from, a.count, b.from, b.count });
	else
		diff_compare(a, b, &list);
	slide_changes(old_lines, new_lines, &list);
	for (size_t i = 0; i < list.count; i++) {
		const struct diff_change *change = &list.items[i];
		struct span insert = { NULL, 0 };

		if (change->new_count > 0)
			insert = lines_range(new_lines, change->new_at,
			                     change->new_at + change->new_count);
		script_add(ret, (struct edit){ change->old_at, change->old_count, insert });
	}
	free(list.items);
}

/* ---- long texts -------------------------------------------------------------- */

enum {
	CUT_BYTES = 1 << 20,   /* of both texts, from which on their ends are cut as bytes */
	CUT_BLOCK = 1 << 14,
	CUT_LINES_KEPT = 256,  /* at each end, for changes to be slid over */
};

static size_t cut_common_head(struct span a, struct span b)
{
	const size_t most = a.len < b.len ? a.len : b.len;
	size_t at = 0;

	while (most - at >= CUT_BLOCK && memcmp(a.data + at, b.data + at, CUT_BLOCK) == 0)
		at += CUT_BLOCK;
	while (at < most && a.data[at] == b.data[at])
		at++;
	return at;
}

static size_t cut_common_tail(struct span a, struct span b)
{
	const size_t most = a.len < b.len ? a.len : b.len;
	const char *a_end = a.data + a.len, *b_end = b.data + b.len;
	size_t len = 0;

	while (most - len >= CUT_BLOCK &&
	       memcmp(a_end - len - CUT_BLOCK, b_end - len - CUT_BLOCK, CUT_BLOCK) == 0)
		len += CUT_BLOCK;
	while (len < most && a_end[-(ptrdiff_t)len - 1] == b_end[-(ptrdiff_t)len - 1])
		len++;
	return len;
}

/* The first line that begins after the byte; the count: none does. */
static size_t line_after(const struct lines *lines, size_t at)
{
	size_t low = 0, high = lines->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (lines_start(lines, middle) > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The lines of the old text, [*ret_from, *ret_to), outside of which the two are the same. */
static void cut_bytes(const struct lines *old_lines, struct span new_text, size_t *ret_from,
                      size_t *ret_to)
{
	const struct span old_text = old_lines->text;
	const size_t head = cut_common_head(old_text, new_text);
	const size_t tail = cut_common_tail(span_skip(old_text, head), span_skip(new_text, head));
	const size_t from = line_after(old_lines, head), to = line_after(old_lines,
	                                                                 old_text.len - tail);

	*ret_from = from > CUT_LINES_KEPT + 1 ? from - CUT_LINES_KEPT - 1 : 0;
	*ret_to = old_lines->count - to > CUT_LINES_KEPT ? to + CUT_LINES_KEPT : old_lines->count;
}

void diff_text(const struct lines *old_lines, struct span new_text, struct script *ret)
{
	const size_t old_len = old_lines->text.len;
	size_t from = 0, to = old_lines->count, start, end;
	_cleanup_lines_ struct lines old_part = { 0 }, new_part = { 0 };
	_cleanup_script_ struct script script = { 0 };

	if (old_len + new_text.len >= CUT_BYTES)
		cut_bytes(old_lines, new_text, &from, &to);
	start = lines_start(old_lines, from);
	end = new_text.len - (old_len - lines_start(old_lines, to));
	lines_index(&old_part, lines_range(old_lines, from, to));
	lines_index(&new_part, span_of(new_text.data + start, end - start));
	diff_lines(&old_part, &new_part, &script);
	for (size_t i = 0; i < script.count; i++) {
		script.edits[i].at += from;
		script_add(ret, script.edits[i]);
	}
}

/* ---- printed ------------------------------------------------------------------ */

bool diff_print(struct buf *out, const char *name, struct span before, struct span now)
{
	const struct script_print_options options = { .old_name = name, .new_name = name,
		                                      .context = 3 };
	struct lines old_lines, new_lines;
	struct script script = { 0 };
	bool ok;

	lines_index(&old_lines, before);
	lines_index(&new_lines, now);
	diff_lines(&old_lines, &new_lines, &script);
	ok = script_print(out, &old_lines, &script, &options);
	script_release(&script);
	lines_release(&old_lines);
	lines_release(&new_lines);
	return ok;
}
