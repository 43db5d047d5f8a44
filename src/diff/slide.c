/* SPDX-License-Identifier: Apache-2.0 */
/* Where a change reads best.
 *
 * Lines inserted (or deleted) between equal lines can often be shown in several
 * places: "}", blank, "f() {", ... or blank, "f() {", ..., "}".  Every place
 * has two boundaries.  A boundary is cheap where the text has a seam: little
 * indentation, a blank line before it, not in the middle of a block.  The
 * cheapest place wins, the last one of several.
 */
#include <string.h>

#include "base/mem.h"
#include "diff/change.h"

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

static bool change_is_pure(const struct change *change)
{
	return (change->old_count == 0) != (change->new_count == 0);
}

static struct group group_of(const struct slider *s, const struct change *change)
{
	if (change->old_count == 0)
		return (struct group){ s->new_lines, change->new_at, change->new_count };
	return (struct group){ s->old_lines, change->old_at, change->old_count };
}

/* -1 for a blank line. */
static int indent_of(struct span line)
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
		int indent = indent_of(lines_at(lines, at + i));

		if (indent >= 0)
			return indent;
	}
	return -1;
}

static int indent_before(const struct lines *lines, size_t at)
{
	for (size_t i = 1; i <= LOOK_AROUND && i <= at; i++) {
		int indent = indent_of(lines_at(lines, at - i));

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
	if (indent_of(lines_at(lines, at - 1)) < 0)
		cost = COST_AFTER_BLANK;
	else if (indent_of(lines_at(lines, at)) < 0)
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

static void change_shift(struct change *change, size_t up, size_t down)
{
	change->old_at = change->old_at - up + down;
	change->new_at = change->new_at - up + down;
}

/* Moves a pure change up to the first place where it can stand, but not past
 * old line `floor`; returns by how many lines. */
static size_t slide_up(struct slider *s, struct change *change, size_t floor)
{
	struct group group = group_of(s, change);
	size_t n = 0, room = change->old_at - floor;

	while (n < room &&
	       lines_equal(s, group.lines, group.at - n - 1, group.at - n - 1 + group.count))
		n++;
	change_shift(change, n, 0);
	return n;
}

/* And down, so that it ends at old line `ceiling` at the latest. */
static size_t slide_down(struct slider *s, struct change *change, size_t ceiling)
{
	struct group group = group_of(s, change);
	size_t n = 0, room = ceiling - (change->old_at + change->old_count);

	while (n < room && lines_equal(s, group.lines, group.at + n, group.at + n + group.count))
		n++;
	change_shift(change, 0, n);
	return n;
}

/* The change stands at its last place, and can go up by `range`. */
static void pick_place(const struct slider *s, struct change *change, size_t range)
{
	struct group group = group_of(s, change);
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

static struct change change_join(const struct change *first, const struct change *second)
{
	return (struct change){
		.old_at = first->old_at,
		.old_count = first->old_count + second->old_count,
		.new_at = first->new_at,
		.new_count = first->new_count + second->new_count,
	};
}

static size_t change_end(const struct change *change)
{
	return change->old_at + change->old_count;
}

/* Items [0, done) stand; `next` and on have not been looked at.  Places one change
 * between them, taking in those that it comes to touch; returns the new `next`. */
static size_t place_one(struct slider *s, struct change_list *list, size_t *done, size_t next)
{
	struct change change = list->items[next++];

	while (change_is_pure(&change)) {
		size_t floor = *done > 0 ? change_end(&list->items[*done - 1]) : 0;
		size_t ceiling =
			next < list->count ? list->items[next].old_at : s->old_lines->count;
		size_t range;

		slide_up(s, &change, floor);
		if (*done > 0 && change.old_at == floor) {
			change = change_join(&list->items[--*done], &change);
			continue;
		}
		range = slide_down(s, &change, ceiling);
		if (next < list->count && change_end(&change) == ceiling) {
			change = change_join(&change, &list->items[next++]);
			continue;
		}
		pick_place(s, &change, range);
		break;
	}
	list->items[(*done)++] = change;
	return next;
}

void slide_changes(const struct lines *old_lines, const struct lines *new_lines,
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
