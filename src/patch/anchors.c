/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/explain.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

/* Places of one section that are looked at. */
enum { PLACES_MAX = 4096 };

/* Lines compared for all sections together, before the rest counts as missing: hostile input. */
#define SECTION_WORK_MAX ((size_t)200 * 1000 * 1000)

struct section_search {
	const struct lines *base;
	const struct diff_text *diff;
	struct headings *headings;
	struct fold_index index;
	size_t *places;  /* owned; PLACES_MAX */
	uint32_t *ids;   /* owned */
};

static struct section_search search_begin(const struct lines *base, const struct diff_text *diff,
                                          struct headings *headings)
{
	struct section_search s = {
		.base = base,
		.diff = diff,
		.headings = headings,
		.places = mem_alloc(PLACES_MAX, sizeof(*s.places)),
		.ids = mem_alloc(diff->line_count, sizeof(*s.ids)),
	};

	fold_index_build(&s.index, base, diff, FOLD_SIDE_OLD, FOLD_LOOKALIKE_DROP, false);
	s.index.work_max = SECTION_WORK_MAX;
	return s;
}

static void search_end(struct section_search *s)
{
	fold_index_release(&s->index);
	free(s->places);
	free(s->ids);
}

/* What one step of a chain looks for: the text of an @@ line, or the lines of a section. */
struct anchor {
	struct span text;          /* the @@ line's */
	const struct hunk *section; /* NULL: the text */
	size_t diff_line;
};

static bool hunk_has_text(const struct hunk *hunk)
{
	return hunk->heading.len && !hunk->has_old && !hunk->has_new;
}

/* The anchors of hunk `h` (hunk_count: those after the last), in order; returns how many. */
static size_t list_anchors(const struct diff_text *diff, size_t h, struct anchor *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < diff->anchor_count; i++) {
		const struct hunk *section = &diff->anchors[i];

		if (section->before != h)
			continue;
		if (hunk_has_text(section))
			ret[n++] = (struct anchor){ section->heading, NULL, section->diff_line };
		if (section->count)
			ret[n++] = (struct anchor){ span_of("", 0), section, section->diff_line };
	}
	if (h < diff->hunk_count && hunk_has_text(&diff->hunks[h]) && diff->apply_patch)
		ret[n++] = (struct anchor){ diff->hunks[h].heading, NULL,
		                            diff->hunks[h].diff_line };
	return n;
}

static size_t anchors_find_section(struct section_search *s, const struct hunk *section,
                                   size_t from)
{
	size_t count = candidates_ids(&s->index, section, section->count, s->ids);
	size_t found = fold_index_find(&s->index, s->ids, count, s->places, PLACES_MAX);

	for (size_t i = 0; i < found && i < PLACES_MAX; i++)
		if (s->places[i] >= from)
			return s->places[i] + count;
	return SIZE_MAX;
}

/* Where the chain of anchors ends at the earliest; its sections begin at `floor` or later.
 * SIZE_MAX, and *ret_missing, when one is not found after the others. */
static size_t chain_end(struct section_search *s, const struct anchor *anchors, size_t count,
                        size_t floor, const struct anchor **ret_missing)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		*ret_missing = &anchors[i];
		if (anchors[i].section)
			at = anchors_find_section(s, anchors[i].section, at > floor ? at : floor);
		else
			at = headings_find(s->headings, anchors[i].text, at);
		if (at == SIZE_MAX)
			return SIZE_MAX;
		at += !anchors[i].section;
	}
	return at;
}

/* The first line of the anchor, for a message. */
static struct span anchor_words(const struct diff_text *diff, const struct anchor *anchor)
{
	struct span text = anchor->text;

	for (size_t i = 0; anchor->section && i < anchor->section->count && !span_trim(text).len;
	     i++)
		text = diff->lines[anchor->section->first + i].text;
	text = span_trim(text);
	return utf8_head(text, 120);
}

static bool anchors_refuse(const struct diff_text *diff, size_t h, const struct anchor *anchor,
                           const char *why, struct patch_failure *failure, struct err *err)
{
	struct span words = anchor_words(diff, anchor);

	explain_hunk(diff, h < diff->hunk_count ? h : diff->hunk_count - 1, failure);
	failure->diff_line = anchor->diff_line;
	failure->expected = mem_dup(words.data, words.len);
	return err_set(err, ERR_NO_MATCH,
	               "Invalid Diff: The provided diff content does not match the file's content. "
	               "The patch says `%.*s` before hunk %zu of %zu, but %s. Copy such lines from "
	               "the file, in its order, or leave them out.",
	               (int)words.len, words.data, h + 1, diff->hunk_count, why);
}

bool anchors_any(const struct diff_text *diff)
{
	if (!diff->apply_patch)
		return false;
	for (size_t h = 0; h < diff->hunk_count; h++)
		if (hunk_has_text(&diff->hunks[h]))
			return true;
	return diff->anchor_count > 0;
}

/* Takes away the places whose change begins before line `from`. */
static void drop_before(struct candidates *hunk, size_t from)
{
	size_t kept = 0;

	if (hunk->total > hunk->kept)
		return;
	for (size_t i = 0; i < hunk->kept; i++)
		if (hunk->places[i] + hunk->lead >= from)
			hunk->places[kept++] = hunk->places[i];
	hunk->narrowed |= kept < hunk->kept;
	hunk->kept = hunk->total = kept;
}

/* How the place stands to the last text that heads a block, if that is in the block of the text
 * before it, and so on. */
static enum heading_hold hold_in_blocks(struct section_search *s, const struct anchor *anchors,
                                        size_t count, const struct candidates *hunk, size_t at)
{
	enum heading_hold hold = HEADING_ELSEWHERE, outer;
	size_t start = at, line;

	for (size_t i = count; i-- > 0;) {
		struct span text = anchors[i].text;

		if (anchors[i].section || !headings_opens(s->headings, text))
			continue;
		if (hold == HEADING_ELSEWHERE) {
			hold = headings_hold(s->headings, text, hunk, at);
			at += hunk->lead;
		}
		if (hold == HEADING_ELSEWHERE)
			return hold;
		/* A hunk may begin in the block and change what comes after it. */
		line = headings_above(s->headings, text, at, &outer);
		if (line == SIZE_MAX)
			line = headings_above(s->headings, text, start, &outer);
		if (line == SIZE_MAX)
			return HEADING_ELSEWHERE;
		start = at = line;
	}
	return hold;
}

/* Leaves the places in the block that the anchors head; false when they head one, and no place is
 * in it. */
static bool keep_in_blocks(struct section_search *s, const struct anchor *anchors, size_t count,
                           struct candidates *hunk)
{
	_cleanup_free_ enum heading_hold *holds = mem_alloc(hunk->kept + 1, sizeof(*holds));
	enum heading_hold best = HEADING_ELSEWHERE;
	bool heads = false;
	size_t kept = 0;

	if (hunk->total > hunk->kept)
		return true;
	for (size_t i = 0; i < count; i++)
		heads |= !anchors[i].section && headings_opens(s->headings, anchors[i].text);
	for (size_t i = 0; i < hunk->kept && heads; i++) {
		holds[i] = hold_in_blocks(s, anchors, count, hunk, hunk->places[i]);
		best = holds[i] > best ? holds[i] : best;
	}
	if (best == HEADING_ELSEWHERE)
		return !heads;
	for (size_t i = 0; i < hunk->kept; i++)
		if (holds[i] == best)
			hunk->places[kept++] = hunk->places[i];
	hunk->narrowed |= kept < hunk->kept;
	hunk->kept = hunk->total = kept;
	return true;
}

bool anchors_narrow(const struct lines *base, const struct diff_text *diff,
                    struct headings *headings, struct candidates *hunks,
                    struct patch_failure *failure, struct err *err)
{
	struct section_search s = search_begin(base, diff, headings);
	struct anchor *anchors = mem_alloc(2 * diff->anchor_count + 1, sizeof(*anchors));
	bool ok = true;

	for (size_t h = 0; h <= diff->hunk_count && ok; h++) {
		const struct anchor *missing = NULL;
		size_t count = list_anchors(diff, h, anchors), end;

		if (!count)
			continue;
		end = chain_end(&s, anchors, count, 0, &missing);
		if (end == SIZE_MAX) {
			ok = anchors_refuse(diff, h, missing, "the file has no such lines there",
			                    failure, err);
			continue;
		}
		if (h == diff->hunk_count || !hunks[h].total)
			continue;
		drop_before(&hunks[h], end);
		if (!hunks[h].total)
			ok = anchors_refuse(diff, h, &anchors[count - 1],
			                    "in the file the hunk's own lines stand before that "
			                    "only", failure, err);
		else if (!keep_in_blocks(&s, anchors, count, &hunks[h]))
			ok = anchors_refuse(diff, h, &anchors[count - 1],
			                    "in the file the hunk's own lines are not in what "
			                    "that line begins", failure, err);
	}
	free(anchors);
	search_end(&s);
	return ok;
}

bool anchors_check_order(const struct lines *base, const struct diff_text *diff,
                         struct headings *headings, const struct candidates *hunks,
                         struct patch_failure *failure, struct err *err)
{
	struct section_search s = search_begin(base, diff, headings);
	struct anchor *anchors = mem_alloc(2 * diff->anchor_count + 1, sizeof(*anchors));
	bool ok = true;

	for (size_t h = 0; h <= diff->hunk_count && ok; h++) {
		size_t count = list_anchors(diff, h, anchors), floor = 0, end;
		const struct anchor *missing = NULL;

		if (!count)
			continue;
		if (h)
			floor = hunks[h - 1].at + hunks[h - 1].old_count - hunks[h - 1].trail;
		end = chain_end(&s, anchors, count, floor, &missing);
		if (end == SIZE_MAX ||
		    (h < diff->hunk_count && hunks[h].at + hunks[h].lead < end))
			ok = anchors_refuse(diff, h, missing,
			                    "the file does not have them in this order",
			                    failure, err);
	}
	free(anchors);
	search_end(&s);
	return ok;
}
