/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/merge.h"

#include <stdlib.h>

#include "base/mem.h"

/* Lines by which an edit is moved to see what it could touch; one that goes further touches all. */
enum { SLIDE_MAX = 1024 };

static size_t count_lines(struct span text)
{
	struct span line;
	size_t n = 0;

	while (line_next(&text, &line))
		n++;
	return n;
}

/* Line `i` of an insertion. */
static struct span inserted_line(struct span text, size_t i)
{
	struct span line = span_of("", 0);

	for (size_t n = 0; n <= i && line_next(&text, &line); n++)
		;
	return line;
}

/* The lines of the base that an edit may be said to change: [from, to]. */
struct reach {
	size_t from, to;
};

/* Whether the edit could as well stand `by` lines later, or so many earlier. */
static bool slides_down(const struct lines *base, const struct edit *edit, size_t count, size_t by)
{
	size_t line = edit->at + edit->remove + by;

	return line < base->count &&
	       span_eq(lines_at(base, line), count ? inserted_line(edit->insert, by % count) :
	                                             lines_at(base, edit->at + by));
}

static bool slides_up(const struct lines *base, const struct edit *edit, size_t count, size_t by)
{
	return edit->at > by &&
	       span_eq(lines_at(base, edit->at - 1 - by),
	               count ? inserted_line(edit->insert, count - 1 - by % count) :
	                       lines_at(base, edit->at + edit->remove - 1 - by));
}

static struct reach reach_of(const struct lines *base, const struct edit *edit)
{
	size_t count = count_lines(edit->insert), down = 0, up = 0;

	if (edit->remove && count)
		return (struct reach){ edit->at, edit->at + edit->remove };
	while (down < SLIDE_MAX && slides_down(base, edit, count, down))
		down++;
	while (up < SLIDE_MAX && slides_up(base, edit, count, up))
		up++;
	if (down == SLIDE_MAX || up == SLIDE_MAX)
		return (struct reach){ 0, base->count };
	return (struct reach){ edit->at - up, edit->at + edit->remove + down };
}

static bool same_edit(const struct edit *one, const struct edit *other)
{
	return one->at == other->at && one->remove == other->remove &&
	       span_eq(one->insert, other->insert);
}

/* Whether the edit touches one of `theirs`; *ret_alike when one of them is the same. */
static bool touches(const struct lines *base, const struct edit *edit,
                    const struct script *theirs, const struct reach *reaches, bool *ret_alike)
{
	struct reach mine = reach_of(base, edit);

	*ret_alike = false;
	for (size_t i = 0; i < theirs->count; i++) {
		if (same_edit(edit, &theirs->edits[i]))
			*ret_alike = true;
		else if (mine.from <= reaches[i].to && reaches[i].from <= mine.to)
			return true;
	}
	return false;
}

bool merge_scripts(const struct lines *base, const struct script *mine,
                   const struct script *theirs, struct script *ret)
{
	_cleanup_free_ struct reach *reaches = mem_alloc(theirs->count + 1, sizeof(*reaches));
	size_t passed = 0, added = 0, removed = 0;

	for (size_t i = 0; i < theirs->count; i++)
		reaches[i] = reach_of(base, &theirs->edits[i]);
	for (size_t i = 0; i < mine->count; i++) {
		const struct edit *edit = &mine->edits[i];
		bool alike;

		if (touches(base, edit, theirs, reaches, &alike)) {
			script_release(ret);
			*ret = (struct script){ 0 };
			return false;
		}
		if (alike)
			continue;
		for (; passed < theirs->count && theirs->edits[passed].at < edit->at; passed++) {
			added += count_lines(theirs->edits[passed].insert);
			removed += theirs->edits[passed].remove;
		}
		script_add(ret, (struct edit){ .at = edit->at - removed + added,
		                               .remove = edit->remove, .insert = edit->insert });
	}
	return true;
}
