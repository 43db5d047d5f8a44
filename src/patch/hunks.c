/* SPDX-License-Identifier: Apache-2.0 */
/* What all hunks of a diff say together, once they are read: which are hunks at all, and where
 * each ends. */
#include "patch/parse.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "patch/private.h"

/* Hunks that a later one is compared with: bounds the work on hostile diffs. */
enum { REPEATS_LOOKED_AT = 1000 };

/* ---- the record -------------------------------------------------------------------- */

/* Gives lines [from, to) of the hunk a role in the record. */
static void record_lines(struct diff_text *diff, const struct hunk *hunk, size_t from, size_t to,
                         enum line_role role, size_t of)
{
	for (size_t i = hunk->first + from; i < hunk->first + to; i++)
		diff->record[diff->lines[i].diff_line - 1] =
			(struct line_record){ .role = role, .of = (uint32_t)of };
}

/* Once the hunks are those that stay. */
static void record_hunks(struct diff_text *diff)
{
	for (size_t h = 0; h < diff->hunk_count; h++)
		record_lines(diff, &diff->hunks[h], 0, diff->hunks[h].count, LINE_HUNK, h);
}

/* Makes prose of the hunk's lines from `from` on. */
static void pass_over(struct diff_text *diff, const struct hunk *hunk, size_t from)
{
	record_lines(diff, hunk, from, hunk->count, LINE_PROSE, 0);
	for (size_t i = hunk->first + from; i < hunk->first + hunk->count; i++)
		if (diff->lines[i].op != ' ' &&
		    (!diff->passed_over || diff->lines[i].diff_line < diff->passed_over))
			diff->passed_over = diff->lines[i].diff_line;
}

void hunks_end(struct diff_text *diff, size_t h, size_t count)
{
	struct hunk *hunk = &diff->hunks[h];

	if (hunk->echo && count == hunk->cut - hunk->echo) {
		pass_over(diff, hunk, hunk->cut);
		record_lines(diff, hunk, count, hunk->cut, LINE_HEADER, h);
	} else {
		pass_over(diff, hunk, count);
	}
	hunk->count = count;
	hunk->echo = count < hunk->cut ? 0 : hunk->echo;
	hunk->cut = hunk->cut < count ? hunk->cut : count;
	hunk->tail = TAIL_PLAIN;
}

void hunks_keep(struct diff_text *diff, const bool *keep)
{
	size_t kept = 0, anchor = 0;

	for (size_t h = 0; h < diff->hunk_count; h++) {
		for (; anchor < diff->anchor_count && diff->anchors[anchor].before <= h; anchor++)
			diff->anchors[anchor].before = kept;
		if (keep[h])
			diff->hunks[kept++] = diff->hunks[h];
		else
			pass_over(diff, &diff->hunks[h], 0);
	}
	for (; anchor < diff->anchor_count; anchor++)
		diff->anchors[anchor].before = kept;
	diff->hunk_count = kept;
	record_hunks(diff);
}

/* ---- hunks that are none ----------------------------------------------------------- */

static bool same_hunk(const struct diff_text *diff, const struct hunk *a, const struct hunk *b)
{
	/* Line 0 or 1 everywhere is what models write that do not know the line. */
	if (!a->has_old || !b->has_old || a->old_start != b->old_start || a->old_start <= 1 ||
	    a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (diff->lines[a->first + i].op != diff->lines[b->first + i].op ||
		    !span_eq(diff->lines[a->first + i].text, diff->lines[b->first + i].text))
			return false;
	return true;
}

/* Drops hunks that were said before, with the same number: a diff pasted twice. */
static void drop_repeated_hunks(struct diff_text *diff)
{
	size_t kept = 0;

	for (size_t i = 0; i < diff->hunk_count; i++) {
		bool repeated = false;

		for (size_t j = 0; j < kept && j < REPEATS_LOOKED_AT && !repeated; j++)
			repeated = same_hunk(diff, &diff->hunks[j], &diff->hunks[i]);
		if (repeated)
			record_lines(diff, &diff->hunks[i], 0, diff->hunks[i].count,
			             LINE_REPEATED, 0);
		else
			diff->hunks[kept++] = diff->hunks[i];
	}
	diff->hunk_count = kept;
}

/* A diff that stops in the middle of a line, in a hunk that its header says goes on,
 * after hunks whose headers were right, was cut off. */
static bool is_cut_off(const struct diff_text *diff, struct span text)
{
	const struct hunk *last = &diff->hunks[diff->hunk_count - 1];

	if (diff->hunk_count < 2 || span_ends(text, SPAN("\n")) || !last->counted || last->cut)
		return false;
	for (size_t i = 0; i + 1 < diff->hunk_count; i++)
		if (diff->hunks[i].cut != diff->hunks[i].count)
			return false;
	return true;
}

static bool hunk_changes(const struct diff_text *diff, const struct hunk *hunk, size_t from,
                         size_t to)
{
	for (size_t i = from; i < to; i++)
		if (diff->lines[hunk->first + i].op != ' ')
			return true;
	return false;
}

static bool has_words(const struct diff_text *diff, const struct hunk *hunk)
{
	if (hunk->heading.len)
		return true;
	for (size_t j = 0; j < hunk->count; j++)
		if (span_trim(diff->lines[hunk->first + j].text).len)
			return true;
	return false;
}

/* The last line of an anchor that could head a function, or its own heading. */
static struct span heading_of_anchor(const struct diff_text *diff, const struct hunk *anchor)
{
	for (size_t j = anchor->count; j-- > 0;) {
		struct span text = span_trim(diff->lines[anchor->first + j].text);
		unsigned char c = text.len ? (unsigned char)text.data[0] : 0;

		if (ascii_is_letter(c) || c == '_')
			return text;
	}
	return anchor->heading;
}

/* Drops hunks that change nothing; they have nothing to place.  In the apply_patch format
 * they are anchors of the next one: only that has @@ lines without anything between them. */
static void drop_idle_hunks(struct diff_text *diff)
{
	struct span within = span_of("", 0);
	size_t kept = 0, cap = 0;

	for (size_t i = 0; i + 1 < diff->hunk_count; i++)
		diff->apply_patch |= !diff->hunks[i].count && diff->hunks[i].heading.len &&
		                     !diff->hunks[i].has_old && !diff->hunks[i].has_new &&
		                     diff->hunks[i].diff_line + 1 == diff->hunks[i + 1].diff_line;
	for (size_t i = 0; i < diff->hunk_count; i++) {
		struct hunk *hunk = &diff->hunks[i];

		if (hunk_changes(diff, hunk, 0, hunk->count)) {
			hunk->within = within;
			within = span_of("", 0);
			diff->hunks[kept++] = *hunk;
			continue;
		}
		record_lines(diff, hunk, 0, hunk->count, LINE_ANCHOR, kept);
		diff->record[hunk->diff_line - 1] = (struct line_record){ .role = LINE_ANCHOR,
		                                                          .of = (uint32_t)kept };
		if (diff->apply_patch && has_words(diff, hunk)) {
			diff->anchors = mem_grow(diff->anchors, &cap, diff->anchor_count + 1,
			                         sizeof(*diff->anchors));
			diff->anchors[diff->anchor_count] = *hunk;
			diff->anchors[diff->anchor_count++].before = kept;
			within = heading_of_anchor(diff, hunk);
		}
	}
	diff->hunk_count = kept;
}

/* ---- what follows the lines that the counts include ---------------------------------- */

/* What there is after the cut of a hunk. */
struct behind {
	bool adds, removes; /* lines that begin with + or -, */
	bool attached;      /* the first of them right after, or after context; */
	bool listed;        /* all of them like items of a list */
	bool plain_adds, plain_removes; /* some not */
	bool words;         /* lines without markers come before them */
	bool context;       /* marked context */
	size_t first;       /* the first of them: index into the hunk's lines */
	size_t gap;         /* the first line without a marker before them */
};

static bool is_item(const struct hunk_line *line)
{
	return line->op != ' ' &&
	       parse_is_item(span_of(line->text.data - 1, line->text.len + 1));
}

static struct behind look_behind(const struct diff_text *diff, const struct hunk *hunk)
{
	struct behind b = { .listed = true, .gap = hunk->count };
	bool gap = false;

	for (size_t i = hunk->cut; i < hunk->count; i++) {
		const struct hunk_line *line = &diff->lines[hunk->first + i];
		bool item = is_item(line);

		if (line->op == ' ') {
			bool blank = span_is_blank(line->text);

			b.gap = !gap && line->bare ? i : b.gap;
			gap |= line->bare;
			b.words |= line->bare && !blank && !b.adds && !b.removes;
			b.context |= !line->bare && !blank;
			continue;
		}
		if (!b.adds && !b.removes) {
			b.first = i;
			b.attached = !gap;
		}
		b.listed &= item;
		b.plain_adds |= line->op == '+' && !item;
		b.plain_removes |= line->op == '-' && !item;
		b.adds |= line->op == '+';
		b.removes |= line->op == '-';
	}
	return b;
}

/* First line of a side, 0-based; a side without lines names the line before it. */
static int64_t stated_start(size_t start, size_t count)
{
	return (int64_t)start - (count && start);
}

/* What the numbers of the next hunk say about where hunk `h` ends: by how many lines more the new
 * file has until then. False if they say nothing. */
static bool next_growth(const struct diff_text *diff, size_t h, int64_t *ret)
{
	const struct hunk *hunk = &diff->hunks[h], *next = hunk + 1;

	if (h + 1 >= diff->hunk_count || !next->counted || next->old_start <= hunk->old_start)
		return false;
	*ret = stated_start(next->new_start, next->new_count) -
	       stated_start(next->old_start, next->old_count) -
	       stated_start(hunk->new_start, hunk->new_count) +
	       stated_start(hunk->old_start, hunk->old_count);
	return true;
}

/* Lines that are only added follow the counted ones: a part of the hunk, or of a list in prose?
 * The file cannot tell.  Decides by the numbers of the next hunk, or refuses. */
static bool judge_additions(struct diff_text *diff, size_t h, const struct behind *behind,
                            size_t *ret_diff_line, struct err *err)
{
	struct hunk *hunk = &diff->hunks[h];
	const struct hunk_line *line = &diff->lines[hunk->first + behind->first];
	const struct hunk_line *last = &diff->lines[hunk->first + hunk->cut - 1];
	int64_t stated = (int64_t)hunk->new_count - (int64_t)hunk->old_count, growth, more = 0;
	struct span shown = utf8_head(line->text, LINE_SHOWN);
	struct span cut = utf8_head(last->text, LINE_SHOWN);

	for (size_t i = hunk->cut; i < hunk->count; i++)
		more += diff->lines[hunk->first + i].op == '+';
	/* Numbers that no hunk shifts may be those of the old file on both sides. */
	if (next_growth(diff, h, &growth) && growth &&
	    (growth == stated || growth == stated + more)) {
		if (growth == stated)
			hunks_end(diff, h, hunk->cut);
		else
			hunk->cut = 0;
		return true;
	}
	*ret_diff_line = line->diff_line;
	return err_set(err, ERR_INVALID_DIFF,
	               "Invalid Diff: hunk %zu of %zu can be read in two ways. By the counts in "
	               "its header it ends with line %zu of the diff, `%c%.*s`, and line %zu, "
	               "`+%.*s`, is prose; or the counts are wrong, and that line is added to the "
	               "file. Nothing was written. Correct the counts, or leave the line out.",
	               h + 1, diff->hunk_count, last->diff_line, last->op, (int)cut.len, cut.data,
	               line->diff_line, (int)shown.len, shown.data);
}

/* Where a list in prose seems to begin at the end of a hunk whose counts say nothing: words or an
 * item after a blank line, and then nothing but words and items.  The number of lines if there is
 * none.  Items that are only added are not enough: the file cannot tell. */
static size_t find_list(const struct diff_text *diff, const struct hunk *hunk)
{
	const struct hunk_line *lines = &diff->lines[hunk->first];
	size_t list = hunk->count;
	bool items = false, removes = false;

	for (size_t i = hunk->count; i-- > 0 && (lines[i].bare || is_item(&lines[i]));) {
		bool words = lines[i].bare && !span_is_blank(lines[i].text);

		items |= !lines[i].bare;
		removes |= lines[i].op == '-';
		if ((words ? items : removes && !lines[i].bare) && i && lines[i - 1].bare &&
		    span_is_blank(lines[i - 1].text))
			list = i - 1;
	}
	return list;
}

/* Whether nothing but added items of a list comes after a blank line at the end of the hunk. */
static bool ends_with_items(const struct diff_text *diff, const struct hunk *hunk, size_t *ret)
{
	const struct hunk_line *lines = &diff->lines[hunk->first];
	size_t end = hunk->count, i;

	while (end && lines[end - 1].bare && span_is_blank(lines[end - 1].text))
		end--;
	for (i = end; i && lines[i - 1].op == '+' && is_item(&lines[i - 1]);)
		i--;
	*ret = i;
	return i < end && i && lines[i - 1].bare && span_is_blank(lines[i - 1].text) &&
	       hunk_changes(diff, hunk, 0, i);
}

static bool refuse_items(const struct diff_text *diff, size_t h, size_t at, size_t *ret_diff_line,
                         struct err *err)
{
	const struct hunk *hunk = &diff->hunks[h];
	const struct hunk_line *line;
	struct span shown;

	line = &diff->lines[hunk->first + at];
	shown = utf8_head(line->text, LINE_SHOWN);
	*ret_diff_line = line->diff_line;
	return err_set(err, ERR_INVALID_DIFF,
	               "Invalid Diff: the end of hunk %zu of %zu can be read in two ways: line %zu "
	               "of the diff, `+%.*s`, is added to the file, or an item of a list in prose. "
	               "Nothing was written. Correct the counts in the hunk's header, or leave the "
	               "line out.",
	               h + 1, diff->hunk_count, line->diff_line, (int)shown.len, shown.data);
}

/* The counts say nothing about where the hunk ends. */
static bool judge_uncounted(struct diff_text *diff, size_t h, size_t *ret_diff_line,
                            struct err *err)
{
	struct hunk *hunk = &diff->hunks[h];
	size_t at;

	hunk->tail_at = find_list(diff, hunk);
	if (hunk->tail_at < hunk->count && hunk_changes(diff, hunk, 0, hunk->tail_at))
		hunk->tail = TAIL_LIST;
	if (diff->apply_patch || !ends_with_items(diff, hunk, &at))
		return true;
	return refuse_items(diff, h, at, ret_diff_line, err);
}

static bool judge_tail(struct diff_text *diff, size_t h, size_t *ret_diff_line, struct err *err)
{
	struct hunk *hunk = &diff->hunks[h];
	struct behind behind;

	if (!hunk->count)
		return true;
	if (!hunk->cut)
		return judge_uncounted(diff, h, ret_diff_line, err);
	behind = look_behind(diff, hunk);
	if (!behind.adds && !behind.removes)
		return true;
	hunk->tail_at = behind.gap;
	/* Counts that leave out every change are wrong; what is no item of a list goes on. */
	if (!hunk_changes(diff, hunk, 0, hunk->cut) ||
	    (behind.attached && !behind.removes && !behind.listed)) {
		hunk->cut = 0;
		return judge_uncounted(diff, h, ret_diff_line, err);
	}
	if (!behind.words && !behind.removes && !behind.context)
		return judge_additions(diff, h, &behind, ret_diff_line, err);
	if (!behind.words && !behind.removes && !behind.attached && behind.listed)
		return refuse_items(diff, h, behind.first, ret_diff_line, err);
	if (behind.words && behind.plain_adds && behind.plain_removes)
		hunk->tail = TAIL_CHANGES;
	else if (!behind.attached && (behind.words || behind.listed))
		hunk->tail = TAIL_LIST;
	return true;
}

/* ---- all together -------------------------------------------------------------------- */

bool hunks_refuse_none(const struct diff_text *diff, size_t *ret_diff_line, struct err *err)
{
	const struct hunk_line *line;
	struct span shown;

	if (diff->claims.mode.len)
		return err_set(err, ERR_INVALID_DIFF,
		               "Invalid Diff: there is no hunk in it, only the file mode "
		               "%.*s. Nothing was written; modes are set with chmod.",
		               (int)diff->claims.mode.len, diff->claims.mode.data);
	if (!diff->hunk_count)
		return err_set(err, ERR_INVALID_DIFF,
		               "Invalid Diff: there is no hunk in it (no line that begins "
		               "with @@).");
	line = &diff->lines[diff->hunks[0].first];
	shown = utf8_head(line->text, LINE_SHOWN);
	*ret_diff_line = line->diff_line;
	return err_set(err, ERR_INVALID_DIFF,
	               "Invalid Diff: there is no hunk in it (no line that begins with @@). Line "
	               "%zu, `%c%.*s`, reads as a list among words: if it is a change, begin the "
	               "hunk with a line @@.",
	               line->diff_line, line->op, (int)shown.len, shown.data);
}

bool hunks_judge(struct diff_text *diff, struct span text, size_t *ret_diff_line, struct err *err)
{
	size_t certain = 0;

	for (size_t h = 0; h < diff->hunk_count; h++)
		certain += !diff->hunks[h].doubted;
	if (certain && is_cut_off(diff, text))
		return err_set(err, ERR_INVALID_DIFF,
		               "Invalid Diff: the diff stops inside its last hunk. Send it whole.");
	if (!claims_check(&diff->claims, err))
		return false;
	if (!diff->hunk_count)
		return hunks_refuse_none(diff, ret_diff_line, err);
	drop_repeated_hunks(diff);
	for (size_t h = 0; h < diff->hunk_count; h++)
		if (!judge_tail(diff, h, ret_diff_line, err))
			return false;
	drop_idle_hunks(diff);
	record_hunks(diff);
	if (diff->anchor_count > LIMIT_DIFF_ANCHORS)
		return err_set(err, ERR_TOO_LARGE,
		               "The diff has more than %d sections of context alone.",
		               LIMIT_DIFF_ANCHORS);
	if (!diff->hunk_count)
		return err_set(err, ERR_INVALID_DIFF,
		               "Invalid Diff: no line in it begins with + or -, so it "
		               "changes nothing.");
	return true;
}
