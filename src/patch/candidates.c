/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/private.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

/* Readings of one hunk: how many trailing lines may be prose (see may_drop). */
enum { DROP_MAX = 16 };

/* Lines compared in all before a search is given up: about a second. An honest diff of ten
 * thousand hunks on a million lines needs a hundredth of it. */
#define WORK_MAX ((size_t)400 * 1000 * 1000)

void candidates_measure(const struct diff_text *diff, const struct hunk *hunk, size_t count,
                        struct candidates *ret)
{
	bool changed = false;

	ret->count = count;
	ret->old_count = ret->lead = ret->trail = 0;
	for (size_t i = 0; i < count; i++) {
		char op = diff->lines[hunk->first + i].op;

		ret->old_count += op != '+';
		if (op != ' ') {
			changed = true;
			ret->trail = 0;
		} else if (changed) {
			ret->trail++;
		} else {
			ret->lead++;
		}
	}
}

/* Whether the hunk removes nothing between its first and its last change. */
static bool only_inserts(const struct candidates *hunk)
{
	return hunk->lead + hunk->trail == hunk->old_count;
}

size_t candidates_core_start(const struct candidates *hunk, size_t at)
{
	return 2 * (at + hunk->lead) + !only_inserts(hunk);
}

size_t candidates_core_end(const struct candidates *hunk, size_t at)
{
	return 2 * (at + hunk->old_count - hunk->trail) + only_inserts(hunk);
}

size_t candidates_ids(const struct fold_index *index, const struct hunk *hunk, size_t count,
                      uint32_t *ids)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (index->diff_ids[hunk->first + i])
			ids[n++] = index->diff_ids[hunk->first + i];
	return n;
}

static bool hunk_line_is_blank(const struct hunk_line *line)
{
	return span_trim(line->text).len == 0;
}

/* Length of the run of unmarked lines that ends a hunk. */
static size_t bare_tail(const struct diff_text *diff, const struct hunk *hunk)
{
	size_t n = 0;

	while (n < hunk->count && diff->lines[hunk->first + hunk->count - 1 - n].bare)
		n++;
	return n;
}

static bool tail_has_words(const struct diff_text *diff, const struct hunk *hunk)
{
	size_t tail = bare_tail(diff, hunk);

	for (size_t i = 0; i < tail; i++)
		if (!hunk_line_is_blank(&diff->lines[hunk->first + hunk->count - 1 - i]))
			return true;
	return false;
}

/* Whether context lines lost their markers elsewhere in the diff: then an
 * unmarked line at the end of a hunk is context, too, and not prose. */
static bool candidates_markers_lost(const struct diff_text *diff)
{
	for (size_t h = 0; h < diff->hunk_count; h++) {
		const struct hunk *hunk = &diff->hunks[h];
		size_t inner = hunk->count - bare_tail(diff, hunk);

		for (size_t i = 0; i < inner; i++)
			if (diff->lines[hunk->first + i].bare &&
			    !hunk_line_is_blank(&diff->lines[hunk->first + i]))
				return true;
	}
	return false;
}

/* Whether what follows the lines that the header counts is not part of the hunk:
 * blank lines, or prose without any line that begins with + or -. */
static bool prose_after_cut(const struct diff_text *diff, const struct hunk *hunk, bool lost)
{
	bool words = false;

	if (!hunk->cut || hunk->cut == hunk->count)
		return false;
	for (size_t i = hunk->cut; i < hunk->count; i++) {
		const struct hunk_line *line = &diff->lines[hunk->first + i];

		if (hunk_line_is_blank(line) && line->op == ' ')
			continue;
		if (line->op != ' ')
			return false;
		if (!line->bare)
			return words;
		if (lost)
			return false;
		words = true;
	}
	return true;
}

/* How many lines at the end of the hunk may be dropped: blank lines and prose
 * that follow the diff. None when the header's counts include them. */
static size_t may_drop(const struct diff_text *diff, const struct hunk *hunk, bool lost)
{
	size_t tail = bare_tail(diff, hunk), blanks = 0;

	if (hunk->cut == hunk->count)
		return 0;
	if (prose_after_cut(diff, hunk, lost))
		return hunk->count - hunk->cut;
	if (!lost)
		return tail;
	while (blanks < tail &&
	       hunk_line_is_blank(&diff->lines[hunk->first + hunk->count - 1 - blanks]))
		blanks++;
	return blanks;
}

/* The readings in the order of belief: as the counts say, then whole, then
 * with ever fewer lines at the end. Returns how many.  None drops a line that begins with + or -,
 * but for an echo, which goes whole. */
static size_t list_readings(const struct diff_text *diff, const struct hunk *hunk, bool lost,
                            size_t readings[static DROP_MAX + 3])
{
	size_t drop = may_drop(diff, hunk, lost), n = 0;

	if (hunk->echo && hunk->echo < hunk->cut) {
		readings[n++] = hunk->count;
		readings[n++] = hunk->cut;
		readings[n++] = hunk->cut - hunk->echo;
		return n;
	}
	if (prose_after_cut(diff, hunk, lost)) {
		readings[n++] = hunk->cut;
		drop = bare_tail(diff, hunk);
		if (drop < hunk->count - hunk->cut)
			return n;
	}
	/* Blank lines before prose set it off; at the end of the diff they may be context. */
	if (drop && tail_has_words(diff, hunk))
		readings[n++] = hunk->count - drop;
	readings[n++] = hunk->count;
	for (size_t i = 1; i <= drop && n < DROP_MAX + 1; i++)
		readings[n++] = hunk->count - i;
	if (drop && readings[n - 1] != hunk->count - drop)
		readings[n++] = hunk->count - drop;
	return n;
}

/* Tries one hunk at one level. */
static void find_hunk(struct fold_index *index, const struct diff_text *diff,
                      const struct hunk *hunk, bool lost, enum fold fold, uint32_t *ids,
                      struct candidates *ret)
{
	size_t readings[DROP_MAX + 3];
	size_t n = list_readings(diff, hunk, lost, readings);

	for (size_t i = 0; i < n; i++) {
		size_t places[CANDIDATES_KEPT];
		size_t old_count = candidates_ids(index, hunk, readings[i], ids);

		if (!old_count)
			continue;
		ret->total = fold_index_find(index, ids, old_count, places, CANDIDATES_KEPT);
		if (!ret->total)
			continue;
		candidates_measure(diff, hunk, readings[i], ret);
		ret->fold = fold;
		ret->kept = ret->total < CANDIDATES_KEPT ? ret->total : CANDIDATES_KEPT;
		ret->places = mem_alloc(ret->kept, sizeof(*ret->places));
		memcpy(ret->places, places, ret->kept * sizeof(*places));
		/* A number can still settle a hunk that fits too many places to list. */
		if (ret->total > ret->kept && fold_index_fits(index, ids, old_count, ret->stated))
			ret->places[ret->kept - 1] = ret->stated;
		return;
	}
}

void candidates_note_stated(const struct hunk *hunk, struct candidates *ret)
{
	int64_t line = (int64_t)hunk->old_start + hunk->moved;

	ret->has_stated = hunk->has_old;
	/* A side without lines names the line before it. */
	if (ret->old_count && hunk->old_start)
		line--;
	ret->stated = line > 0 ? (size_t)line : 0;
}

/* ---- words ------------------------------------------------------------------------ */

/* The words, next to punctuation, of a line that only closes or separates blocks. */
static const struct span closing_words[] = {
	{ "end", 3 }, { "fi", 2 }, { "done", 4 }, { "esac", 4 }, { "else", 4 }, { "then", 4 },
	{ "do", 2 }, { "begin", 5 }, { "endif", 5 },
};

static bool is_letter_or_digit_of_any(char c)
{
	return ascii_is_alnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

bool candidates_has_word(struct span line)
{
	struct span text = span_trim(line);
	size_t end;

	if (span_starts(text, SPAN("</")))
		return false;
	while (text.len && !is_letter_or_digit_of_any(text.data[0]))
		text = span_skip(text, 1);
	for (end = text.len; end && !is_letter_or_digit_of_any(text.data[end - 1]);)
		end--;
	text.len = end;
	for (size_t i = 0; i < ARRAY_LEN(closing_words); i++)
		if (span_eq(text, closing_words[i]))
			return false;
	return text.len > 0;
}

static bool old_side_has_word(const struct diff_text *diff, const struct hunk *hunk, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct hunk_line *line = &diff->lines[hunk->first + i];

		if (line->op != '+' && candidates_has_word(line->text))
			return true;
	}
	return false;
}

/* ---- finding ---------------------------------------------------------------------- */

/* One level for all hunks that are still open. */
static void find_at_level(const struct lines *base, const struct diff_text *diff, bool base_has_bom,
                    enum fold fold, size_t *work, struct candidates *ret)
{
	_cleanup_free_ uint32_t *ids = mem_alloc(diff->line_count, sizeof(*ids));
	bool lost = candidates_markers_lost(diff);
	struct fold_index index;

	fold_index_build(&index, base, diff, FOLD_SIDE_OLD, fold, base_has_bom);
	index.work = *work;
	index.work_max = WORK_MAX;
	for (size_t h = 0; h < diff->hunk_count; h++) {
		const struct hunk *hunk = &diff->hunks[h];

		if (ret[h].total || !ret[h].old_count || ret[h].made ||
		    (fold > FOLD_TRAILING && !old_side_has_word(diff, hunk, hunk->count)))
			continue;
		find_hunk(&index, diff, hunk, lost, fold, ids, &ret[h]);
	}
	*work = index.work;
	fold_index_release(&index);
}

static bool any_open(const struct candidates *hunks, size_t count)
{
	for (size_t h = 0; h < count; h++)
		if (!hunks[h].total && hunks[h].old_count && !hunks[h].made)
			return true;
	return false;
}

bool candidates_find(const struct lines *base, const struct diff_text *diff, bool base_has_bom,
                     struct candidates *ret)
{
	bool lost = candidates_markers_lost(diff);
	size_t work = 0;

	for (size_t h = 0; h < diff->hunk_count; h++) {
		const struct hunk *hunk = &diff->hunks[h];

		candidates_measure(diff, hunk, hunk->count - may_drop(diff, hunk, lost), &ret[h]);
		candidates_note_stated(hunk, &ret[h]);
	}
	if (any_open(ret, diff->hunk_count))
		find_at_level(base, diff, base_has_bom, FOLD_EXACT, &work, ret);
	return work <= WORK_MAX;
}

bool candidates_find_looser(const struct lines *base, const struct diff_text *diff,
                            bool base_has_bom, struct candidates *ret)
{
	static const enum fold folds[] = { FOLD_TRAILING, FOLD_LOOKALIKE_DROP };
	size_t work = 0;

	for (size_t i = 0; i < ARRAY_LEN(folds) && any_open(ret, diff->hunk_count); i++)
		find_at_level(base, diff, base_has_bom, folds[i], &work, ret);
	return work <= WORK_MAX;
}

bool candidates_are_loose(const struct candidates *hunk)
{
	return hunk->total && hunk->fold > FOLD_TRAILING;
}

static bool fits_folded(const struct lines *base, const struct diff_text *diff,
                        const struct hunk *hunk, size_t count, size_t at, enum fold fold)
{
	_cleanup_buf_ struct buf one = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_buf_ struct buf other = BUF_INIT(LIMIT_FILE_BYTES);

	for (size_t i = 0; i < count; i++) {
		const struct hunk_line *line = &diff->lines[hunk->first + i];

		if (line->op == '+')
			continue;
		if (at >= base->count ||
		    !span_eq(fold_line(fold, line->text, &one),
		             fold_line(fold, line_body(lines_at(base, at)), &other)))
			return false;
		at++;
	}
	return true;
}

enum fold candidates_fold_at(const struct lines *base, const struct diff_text *diff, size_t h,
                             const struct candidates *hunk, size_t at)
{
	enum fold fold = FOLD_EXACT;

	while (fold < FOLD_LOOKALIKE_DROP &&
	       !fits_folded(base, diff, &diff->hunks[h], hunk->count, at, fold))
		fold++;
	return fold;
}

void candidates_release(struct candidates *hunks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(hunks[i].places);
	free(hunks);
}

/* ---- lines that may be prose ------------------------------------------------------- */

/* Readings that do not depend on the place of a hunk: whether lines are of a diff at all. */
struct readings {
	const struct lines *base;
	const struct diff_text *diff;
	struct fold_index loose, strict; /* for a possible change, and a certain one */
	uint32_t *ids; /* owned; one per line of the diff */
};

/* Whether the old lines among these, of which one must have words, stand anywhere in the file. */
static bool lines_fit(struct readings *r, struct fold_index *index, const struct hunk *hunk,
                      size_t from, size_t to)
{
	struct hunk part = { .first = hunk->first + from };
	bool words = false;
	size_t count, place;

	for (size_t i = from; i < to; i++) {
		const struct hunk_line *line = &r->diff->lines[hunk->first + i];

		words |= line->op != '+' && !hunk_line_is_blank(line);
	}
	count = words ? candidates_ids(index, &part, to - from, r->ids) : 0;
	return count && fold_index_find(index, r->ids, count, &place, 1);
}

/* The first line of a run of lines with markers in the tail that the file has; hunk->count if
 * there is none. */
static size_t find_change_behind(struct readings *r, const struct hunk *hunk)
{
	const struct hunk_line *lines = &r->diff->lines[hunk->first];
	size_t i = hunk->tail_at;

	while (i < hunk->count) {
		size_t from = i;
		bool changes = false;

		for (; i < hunk->count && !lines[i].bare; i++)
			changes |= lines[i].op != ' ';
		if (changes && lines_fit(r, &r->loose, hunk, from, i))
			return from;
		i += from == i;
	}
	return hunk->count;
}

/* What is among the lines of a hunk without @@. */
static unsigned run_kinds(const struct diff_text *diff, const struct hunk *hunk)
{
	unsigned kinds = 0;

	for (size_t i = 0; i < hunk->count; i++) {
		const struct hunk_line *line = &diff->lines[hunk->first + i];
		size_t marker = !line->bare;

		parse_run_goes_on(span_of(line->text.data - marker, line->text.len + marker),
		                  /* first= */ true, &kinds);
	}
	return kinds;
}

/* There must be a line that begins with + or - at `line` or after it. */
static bool refuse_doubt(const struct hunk_line *line, size_t *ret_diff_line, struct err *err)
{
	struct span shown;

	while (line->op == ' ')
		line++;
	shown = utf8_head(line->text, LINE_SHOWN);
	*ret_diff_line = line->diff_line;
	return err_set(err, ERR_INVALID_DIFF,
	               "Invalid Diff: line %zu of the diff, `%c%.*s`, can be read in two ways: "
	               "as words around the diff, or as a change of the file. Nothing was "
	               "written. If it is a change, put a line @@ before it; if not, leave it out.",
	               line->diff_line, line->op, (int)shown.len, shown.data);
}

/* Decides whether lines among words are a hunk: with context that the file has, they are. Without
 * old lines the file cannot tell, but a list is one. */
static bool read_among_words(struct readings *r, const struct hunk *hunk, bool *ret_keep,
                     size_t *ret_diff_line, struct err *err)
{
	unsigned kinds = run_kinds(r->diff, hunk);
	bool fits = lines_fit(r, &r->loose, hunk, 0, hunk->count);

	if (fits && kinds & (RUN_CONTEXT | RUN_LED) && !r->strict.base_ids) {
		fold_index_build(&r->strict, r->base, r->diff, FOLD_SIDE_OLD, FOLD_TRAILING,
		                 /* strip_bom= */ true);
		r->strict.work_max = WORK_MAX;
	}
	*ret_keep = fits && kinds & (RUN_CONTEXT | RUN_LED) &&
	            lines_fit(r, &r->strict, hunk, 0, hunk->count);
	if (fits ? *ret_keep : kinds & (RUN_CONTEXT | RUN_LED | RUN_REMOVES) || !(kinds & RUN_ADDS))
		return true;
	return refuse_doubt(&r->diff->lines[hunk->first], ret_diff_line, err);
}

/* Decides whether what follows words after a hunk is prose, too. */
static bool read_tail(struct readings *r, struct diff_text *diff, size_t h, size_t *ret_diff_line,
                      struct err *err)
{
	struct hunk *hunk = &diff->hunks[h];
	size_t change;

	if (lines_fit(r, &r->loose, hunk, 0, hunk->count) ||
	    lines_fit(r, &r->loose, hunk, 0, hunk->count - bare_tail(diff, hunk))) {
		hunk->cut = 0;
		hunk->tail = TAIL_PLAIN;
		return true;
	}
	change = find_change_behind(r, hunk);
	if (change < hunk->count)
		return refuse_doubt(&diff->lines[hunk->first + change], ret_diff_line, err);
	if (hunk->tail == TAIL_LIST)
		hunks_end(diff, h, hunk->tail_at);
	return true;
}

bool candidates_read_doubts(const struct lines *base, struct diff_text *diff,
                            size_t *ret_diff_line, struct err *err)
{
	_cleanup_free_ bool *keep = mem_alloc(diff->hunk_count, sizeof(*keep));
	struct readings r = { .base = base, .diff = diff };
	bool any = false, ok = true;
	size_t kept = 0;

	for (size_t h = 0; h < diff->hunk_count; h++)
		any |= diff->hunks[h].doubted || diff->hunks[h].tail != TAIL_PLAIN;
	if (!any)
		return true;
	fold_index_build(&r.loose, base, diff, FOLD_SIDE_OLD, FOLD_LOOKALIKE_DROP,
	                 /* strip_bom= */ true);
	r.loose.work_max = WORK_MAX;
	r.ids = mem_alloc(diff->line_count, sizeof(*r.ids));
	for (size_t h = 0; h < diff->hunk_count && ok; h++) {
		const struct hunk *hunk = &diff->hunks[h];

		keep[h] = true;
		if (hunk->tail != TAIL_PLAIN)
			ok = read_tail(&r, diff, h, ret_diff_line, err);
		else if (hunk->doubted)
			ok = read_among_words(&r, hunk, &keep[h], ret_diff_line, err);
		kept += keep[h];
	}
	if (ok && r.loose.work > WORK_MAX)
		ok = err_set(err, ERR_TOO_LARGE,
		             "The diff and the file are too large and too repetitive to tell prose "
		             "from hunks. Send the hunks alone.");
	if (ok && !kept)
		ok = hunks_refuse_none(diff, ret_diff_line, err);
	if (ok)
		hunks_keep(diff, keep);
	free(r.ids);
	fold_index_release(&r.loose);
	fold_index_release(&r.strict);
	return ok;
}
