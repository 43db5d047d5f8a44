/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/nearest.h"
#include "patch/whitespace/whitespace.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

/* Lines of the file around a hunk whose indentations count as its style. */
enum { STYLE_LINES = 40, STYLE_LINES_MAX = 512 };

/* Old lines that an indentation is looked up among: bounds the work on hostile diffs. */
enum { PAIRS_LOOKED_AT = 4096 };

/* What is needed while evidence is collected. */
struct evidence_scan {
	struct evidence *w;
	const struct lines *base;
	const struct diff_text *diff;
	const struct placement *places;
	const struct pairing *pairing;
	bool fold_spaces;
	size_t spared, damaged; /* votes */
	size_t asked;           /* pairs that could have voted */
};

/* ---- walking ---- */

struct evidence_walk evidence_walk_begin(const struct diff_text *diff,
                                         const struct placement *places,
                                         size_t h)
{
	return (struct evidence_walk){ .diff = diff, .next = diff->hunks[h].first,
	                               .end = diff->hunks[h].first + places[h].count,
	                               .next_base = places[h].at };
}

bool evidence_walk_next(struct evidence_walk *walk)
{
	for (; walk->next < walk->end; walk->next++)
		if (walk->diff->lines[walk->next].op != '+') {
			walk->index = walk->next;
			walk->line = &walk->diff->lines[walk->next++];
			walk->base_line = walk->next_base++;
			return true;
		}
	return false;
}

static bool text_has_tab(struct span text)
{
	return text.len && memchr(text.data, '\t', text.len);
}

static struct span file_line(const struct evidence_scan *hr, size_t base_line)
{
	return line_body(lines_at(hr->base, base_line));
}

/* Whether the hunk's white space differs from the file's at all. */
static bool is_folded(const struct evidence_scan *hr, size_t h)
{
	return hr->places[h].fold > FOLD_TRAILING;
}

/* The indentation of a diff line, in which no-break spaces may count as spaces. */
static struct span diff_indent(struct evidence_scan *hr, struct span text)
{
	struct buf *indents = &hr->w->indents;
	size_t start = indents->len;

	if (!hr->fold_spaces)
		return indent_of_line(text);
	while (text.len && (text.data[0] == ' ' || text.data[0] == '\t' ||
	                    span_starts(text, SPAN("\xC2\xA0")))) {
		bool wide = (unsigned char)text.data[0] == 0xC2;

		buf_char(indents, wide ? ' ' : text.data[0]);
		text = span_skip(text, wide ? 2 : 1);
	}
	return buf_from(indents, start);
}

/* ---- the rule ---- */

static void collect_pairs(struct evidence_scan *hr, char op)
{
	struct evidence *w = hr->w;
	size_t cap = 0;

	free(w->pairs);
	w->pairs = NULL;
	w->pair_count = 0;
	for (size_t h = 0; h < hr->diff->hunk_count; h++) {
		struct evidence_walk walk = evidence_walk_begin(hr->diff, hr->places, h);

		if (!is_folded(hr, h))
			continue;
		while (evidence_walk_next(&walk)) {
			if (span_is_blank(walk.line->text) || (op && walk.line->op != op))
				continue;
			w->pairs = mem_grow(w->pairs, &cap, w->pair_count + 1, sizeof(*w->pairs));
			w->pairs[w->pair_count++] = (struct indent_pair){
				diff_indent(hr, walk.line->text),
				indent_of_line(file_line(hr, walk.base_line))
			};
		}
	}
}

static bool says_something(const struct evidence *w)
{
	for (size_t i = 0; i < w->pair_count; i++)
		if (w->pairs[i].diff.len || w->pairs[i].file.len)
			return true;
	return false;
}

/* From all old lines; from removed ones alone when context was treated differently. */
static void infer_rule(struct evidence_scan *hr)
{
	struct evidence *w = hr->w;

	collect_pairs(hr, 0);
	w->rule = indent_infer(w->pairs, w->pair_count);
	w->in_part = false;
	if (w->rule.kind != INDENT_MAP && w->rule.kind != INDENT_UNKNOWN)
		return;
	collect_pairs(hr, '-');
	w->in_part = says_something(w);
	if (!w->in_part)
		collect_pairs(hr, 0);
	w->rule = indent_infer(w->pairs, w->pair_count);
}

/* Each hunk's own rule, for hunks that were shifted by different distances. */
static void infer_own_rules(struct evidence_scan *hr)
{
	struct evidence *w = hr->w;
	size_t at = 0;

	collect_pairs(hr, 0);
	w->own_pairs = mem_steal(&w->pairs);
	w->own = mem_alloc(hr->diff->hunk_count, sizeof(*w->own));
	w->own_same = mem_alloc(hr->diff->hunk_count, sizeof(*w->own_same));
	for (size_t h = 0; h < hr->diff->hunk_count; h++) {
		struct evidence_walk walk = evidence_walk_begin(hr->diff, hr->places, h);
		size_t first = at;

		while (is_folded(hr, h) && evidence_walk_next(&walk))
			at += !span_is_blank(walk.line->text);
		w->own[h] = indent_infer(at > first ? &w->own_pairs[first] : NULL, at - first);
		for (size_t i = first; i < at && w->own[h].kind == INDENT_SAME; i++)
			w->own_same[h] |= w->own_pairs[i].file.len > 0;
	}
}

/* ---- the kinds of evidence ---- */

/* Context lines lost their marker, and with it their first space: the first remaining column was
 * taken for the marker. Changed lines still have it. */
static bool evidence_markers_lost(struct evidence_scan *hr)
{
	for (size_t h = 0; h < hr->diff->hunk_count; h++) {
		struct evidence_walk walk = evidence_walk_begin(hr->diff, hr->places, h);

		if (!is_folded(hr, h))
			continue;
		while (evidence_walk_next(&walk)) {
			struct span file = indent_of_line(file_line(hr, walk.base_line));
			struct span diff = diff_indent(hr, walk.line->text);

			if (span_is_blank(walk.line->text) || span_eq(diff, file))
				continue;
			if (walk.line->op == '-' || !file.len || file.data[0] != ' ' ||
			    !span_eq(diff, span_skip(file, 1)))
				return false;
		}
	}
	return true;
}

/* Whether the damage would show on a line that the file indents like this. */
static bool would_change(const struct indent_rule *rule, struct span file)
{
	switch (rule->kind) {
	case INDENT_STRIP:
		return true;
	case INDENT_ADD:
		return span_starts(file, rule->prefix);
	case INDENT_TABS:
		return text_has_tab(file);
	case INDENT_SPACES:
		return file.len >= rule->width;
	default:
		return file.len > 0;
	}
}

/* What was done to context lines alone. */
static struct indent_rule context_rule(struct evidence_scan *hr)
{
	struct indent_rule rule;

	collect_pairs(hr, ' ');
	rule = indent_infer(hr->w->pairs, hr->w->pair_count);
	return rule;
}

/* Removed lines keep their indentation while context lines lost theirs. */
static bool changed_lines_spared(struct evidence_scan *hr)
{
	struct indent_rule context = context_rule(hr);
	bool right = false, wrong = false;

	for (size_t h = 0; h < hr->diff->hunk_count && context.kind != INDENT_SAME; h++) {
		struct evidence_walk walk = evidence_walk_begin(hr->diff, hr->places, h);

		if (!is_folded(hr, h))
			continue;
		while (evidence_walk_next(&walk)) {
			struct span file = indent_of_line(file_line(hr, walk.base_line));

			if (span_is_blank(walk.line->text) || walk.line->op != '-')
				continue;
			if (!span_eq(diff_indent(hr, walk.line->text), file))
				wrong = true;
			else
				right |= would_change(&context, file);
		}
	}
	infer_rule(hr);
	return right && !wrong;
}

/* One added line next to an old one for whose indentation the diff and the file differ. */
static void evidence_vote(struct evidence_scan *hr, struct span added, struct span diff,
                          struct span file)
{
	if (span_eq(diff, file))
		return;
	hr->asked++;
	hr->damaged += span_eq(added, diff);
	hr->spared += span_eq(added, file);
}

/* Whether the added lines, each compared with the removed one most like it, contradict the
 * verdict. */
static bool likest_contradict(struct evidence_scan *hr, enum verdict verdict)
{
	struct evidence_scan votes = *hr;

	votes.spared = votes.damaged = 0;
	for (size_t i = 0; i < hr->diff->line_count; i++) {
		const struct hunk_line *added = &hr->diff->lines[i];
		const struct line_pair *pair = &hr->pairing->of[i];
		struct span file;

		if (pair->likest && pair->change == BLOCK_CHANGES &&
		    !span_is_blank(added->text) && !span_is_blank(pair->likest->text) &&
		    nearest_likeness(added->text, pair->likest->text) >= LIKE_ENOUGH) {
			file = file_line(hr,
			                 hr->pairing->of[pair->likest - hr->diff->lines].base_line);
			evidence_vote(&votes, diff_indent(hr, added->text),
			              diff_indent(hr, pair->likest->text),
			              indent_of_line(file));
		}
	}
	return verdict == VERDICT_SPARED ? votes.damaged && !votes.spared :
	                                   votes.spared && !votes.damaged;
}

/* A run of removed lines and the run of `added` lines at `first` that takes its place; true if
 * it says nothing unless it is about white space. */
static bool compare_run(struct evidence_scan *hr, size_t first, size_t removed, size_t added,
                        size_t base_line)
{
	const struct hunk_line *old = &hr->diff->lines[first - removed];
	const struct hunk_line *new = &hr->diff->lines[first];
	bool about_space = false;

	for (size_t k = 0; k < added && hr->pairing->of[first].change != BLOCK_CHANGES; k++) {
		const struct line_pair *pair = &hr->pairing->of[first + k];

		about_space |= pair->removed && !span_is_blank(new[k].text) &&
		               span_eq(pair->removed->text, new[k].text) &&
		               !span_eq(new[k].text, file_line(hr, pair->base_line)) &&
		               pair->removed->cr == new[k].cr && !pair->removed->no_newline &&
		               !new[k].no_newline;
	}
	for (size_t k = 0; k < removed && k < added; k++)
		if (hr->pairing->of[first].change == BLOCK_CHANGES &&
		    !span_is_blank(old[k].text) && !span_is_blank(new[k].text))
			evidence_vote(hr, diff_indent(hr, new[k].text),
			              diff_indent(hr, old[k].text),
			              indent_of_line(file_line(hr, base_line + k)));
	return about_space;
}

/* Each run of removed lines and the run of added lines that takes its place. */
static bool compare_pairs(struct evidence_scan *hr)
{
	bool about_space = false;

	for (size_t h = 0; h < hr->diff->hunk_count; h++) {
		const struct hunk_line *lines = &hr->diff->lines[hr->diff->hunks[h].first];
		size_t count = hr->places[h].count, base_line = hr->places[h].at;

		for (size_t i = 0; i < count && is_folded(hr, h);) {
			size_t removed = 0, added = 0;

			while (i + removed < count && lines[i + removed].op == '-')
				removed++;
			while (i + removed + added < count && lines[i + removed + added].op == '+')
				added++;
			about_space |= compare_run(hr, hr->diff->hunks[h].first + i + removed,
			                           removed, added, base_line);
			base_line += removed + !(removed + added);
			i += removed + added + !(removed + added);
		}
	}
	return about_space;
}

/* The nearest line in direction `step` that is not blank, if it is an added one; NULL otherwise. */
static const struct hunk_line *added_next_to(const struct hunk_line *lines, size_t count, size_t i,
                                             int step)
{
	for (size_t k = i + (size_t)step; k < count; k += (size_t)step)
		if (!span_is_blank(lines[k].text))
			return lines[k].op == '+' ? &lines[k] : NULL;
	return NULL;
}

/* Added lines next to context lines. */
static void compare_neighbours(struct evidence_scan *hr)
{
	for (size_t h = 0; h < hr->diff->hunk_count; h++) {
		const struct hunk_line *lines = &hr->diff->lines[hr->diff->hunks[h].first];
		struct evidence_walk walk = evidence_walk_begin(hr->diff, hr->places, h);

		while (is_folded(hr, h) && evidence_walk_next(&walk)) {
			size_t i = walk.index - hr->diff->hunks[h].first;
			struct span file = indent_of_line(file_line(hr, walk.base_line));

			if (span_is_blank(walk.line->text))
				continue;
			for (int step = -1; step <= 1; step += 2) {
				const struct hunk_line *added =
					added_next_to(lines, hr->places[h].count, i, step);

				if (added)
					evidence_vote(hr, diff_indent(hr, added->text),
					              diff_indent(hr, walk.line->text), file);
			}
		}
	}
}

static bool occurs_nearby(const struct evidence_scan *hr, size_t h, struct span indent)
{
	size_t at = hr->places[h].at;
	size_t from = at > STYLE_LINES ? at - STYLE_LINES : 0;
	size_t to = at + hr->places[h].old_count + STYLE_LINES;

	for (size_t i = from; i < to && i < from + STYLE_LINES_MAX && i < hr->base->count; i++)
		if (!span_is_blank(file_line(hr, i)) &&
		    span_eq(indent_of_line(file_line(hr, i)), indent))
			return true;
	return false;
}

/* Whether all added lines would be indented like the file near them: literally, and undone. */
static void compare_style(struct evidence_scan *hr, bool *ret_literal, bool *ret_undone)
{
	_cleanup_buf_ struct buf indent = BUF_INIT(LIMIT_DIFF_BYTES);

	*ret_literal = *ret_undone = true;
	for (size_t h = 0; h < hr->diff->hunk_count; h++) {
		const struct hunk *hunk = &hr->diff->hunks[h];

		for (size_t i = 0; i < hr->places[h].count && is_folded(hr, h); i++) {
			const struct hunk_line *line = &hr->diff->lines[hunk->first + i];

			if (line->op != '+' || span_is_blank(line->text))
				continue;
			buf_clear(&indent);
			*ret_literal &= occurs_nearby(hr, h, diff_indent(hr, line->text));
			*ret_undone &= indent_undo(&hr->w->rule, diff_indent(hr, line->text),
			                           &indent) &&
			               occurs_nearby(hr, h, buf_view(&indent));
		}
	}
}

/* A tab in an added line: in its indentation, or anywhere in it. */
static bool added_line_has_tab(const struct evidence_scan *hr, bool anywhere)
{
	for (size_t i = 0; i < hr->diff->line_count; i++) {
		struct span text = hr->diff->lines[i].text;

		if (hr->diff->lines[i].op == '+' && !span_is_blank(text) &&
		    text_has_tab(anywhere ? text : indent_of_line(text)))
			return true;
	}
	return false;
}

/* Whether old lines lost every tab that the file has, while added lines have some. */
static bool added_lines_keep_tabs(const struct evidence_scan *hr)
{
	bool lost = false;

	for (size_t h = 0; h < hr->diff->hunk_count; h++) {
		struct evidence_walk walk = evidence_walk_begin(hr->diff, hr->places, h);

		while (evidence_walk_next(&walk)) {
			if (text_has_tab(walk.line->text))
				return false;
			lost |= text_has_tab(file_line(hr, walk.base_line));
		}
	}
	return lost && added_line_has_tab(hr, true);
}

/* Whether the file itself has lines indented the way the damaged diff has them. */
static bool file_is_mixed(const struct evidence_scan *hr)
{
	for (size_t i = 0; i < hr->base->count; i++) {
		struct span indent = indent_of_line(file_line(hr, i));

		if (hr->w->rule.kind == INDENT_TABS ?
		            !text_has_tab(indent) && indent.len >= hr->w->rule.width :
		            text_has_tab(indent))
			return true;
	}
	return false;
}

static bool is_about_tabs(const struct evidence_scan *hr)
{
	return hr->w->rule.kind == INDENT_TABS || hr->w->rule.kind == INDENT_SPACES;
}

/* Whether the damage follows no rule, so that only a line's own evidence can decide. */
static bool is_without_rule(const struct evidence_scan *hr)
{
	return hr->w->rule.kind == INDENT_MAP || hr->w->rule.kind == INDENT_UNKNOWN;
}

/* Old lines have no indentation left, while added lines have theirs: some do, and no line that
 * has none would be the only one there. */
static bool added_lines_keep_indent(const struct evidence_scan *hr)
{
	bool file_has_bare = false, kept = false;

	for (size_t i = 0; i < hr->w->pair_count; i++) {
		if (hr->w->pairs[i].diff.len)
			return false;
		file_has_bare |= !hr->w->pairs[i].file.len;
	}
	for (size_t i = 0; i < hr->diff->line_count; i++) {
		struct span text = hr->diff->lines[i].text;

		if (hr->diff->lines[i].op != '+' || span_is_blank(text))
			continue;
		if (!indent_of_line(text).len && !file_has_bare)
			return false;
		kept |= indent_of_line(text).len > 0;
	}
	return kept;
}

/* A context line that plainly has no marker. */
static bool has_bare_line(const struct evidence_scan *hr)
{
	for (size_t h = 0; h < hr->diff->hunk_count; h++) {
		struct evidence_walk walk = evidence_walk_begin(hr->diff, hr->places, h);

		while (evidence_walk_next(&walk))
			if (walk.line->bare && !span_is_blank(walk.line->text))
				return true;
	}
	return false;
}

/* Whether the diff has this indentation in an old line that the file indents otherwise. */
static bool stands_for_another(const struct evidence *w, struct span indent)
{
	for (size_t i = 0; i < w->pair_count && i < PAIRS_LOOKED_AT; i++)
		if (span_eq(w->pairs[i].diff, indent) && !span_eq(w->pairs[i].file, indent))
			return true;
	return false;
}

static bool added_line_stands_for_another(struct evidence_scan *hr)
{
	for (size_t h = 0; h < hr->diff->hunk_count; h++)
		for (size_t i = 0; i < hr->places[h].count && is_folded(hr, h); i++) {
			struct span text = hr->diff->lines[hr->diff->hunks[h].first + i].text;

			if (hr->diff->lines[hr->diff->hunks[h].first + i].op == '+' &&
			    !span_is_blank(text) &&
			    stands_for_another(hr->w, diff_indent(hr, text)))
				return true;
		}
	return false;
}

static enum verdict evidence_judge(struct evidence_scan *hr)
{
	bool literal, undone;

	if (hr->w->rule.kind == INDENT_SAME)
		return VERDICT_SPARED;
	if (evidence_markers_lost(hr)) {
		if (has_bare_line(hr))
			return VERDICT_SPARED;
		compare_neighbours(hr);
		return (hr->damaged && !hr->spared) || added_line_stands_for_another(hr) ?
		               VERDICT_UNKNOWN : VERDICT_SPARED;
	}
	if ((!hr->w->in_part && added_lines_keep_indent(hr)) || changed_lines_spared(hr))
		return VERDICT_SPARED;
	if (compare_pairs(hr))
		return hr->damaged ? VERDICT_UNKNOWN : VERDICT_SPARED;
	/* A block that is a level less has fewer tabs, too, and so have its added lines. */
	if ((hr->w->keeps_tabs && (hr->w->rule.kind != INDENT_ADD || hr->spared || !hr->damaged)) ||
	    (hr->w->rule.kind == INDENT_TABS && added_line_has_tab(hr, false)))
		return VERDICT_SPARED;
	if (hr->spared > 3 * hr->damaged && 2 * hr->spared >= hr->asked)
		return VERDICT_SPARED;
	if (hr->damaged && !hr->spared)
		return is_about_tabs(hr) && file_is_mixed(hr) ? VERDICT_UNKNOWN : VERDICT_DAMAGED;
	compare_neighbours(hr);
	if (hr->spared >= 2 && hr->spared > 3 * hr->damaged && 2 * hr->spared >= hr->asked)
		return VERDICT_SPARED;
	if (hr->damaged && !hr->spared)
		return is_about_tabs(hr) && !file_is_mixed(hr) ? VERDICT_DAMAGED : VERDICT_UNKNOWN;
	compare_style(hr, &literal, &undone);
	/* That all removed lines alone are off by the same, or all lines in proportion, is no
	 * chance. */
	if (literal == undone || hr->damaged ||
	    (literal && (hr->w->in_part || hr->w->rule.kind == INDENT_SCALE ||
	                 is_without_rule(hr))))
		return VERDICT_UNKNOWN;
	return literal ? VERDICT_SPARED : VERDICT_DAMAGED;
}

/* ---- inside and at the end of lines ---- */

static size_t count_blank_runs(struct span text)
{
	size_t n = 0;

	for (size_t i = 1; i < text.len; i++)
		n += text.data[i] == ' ' && text.data[i - 1] == ' ';
	return n;
}

/* Whether the file has tabs inside old lines where the diff has runs of spaces, and added
 * lines may have lost theirs, too: none has a tab, and no removed line kept its own. */
static bool lost_inner_tabs(const struct evidence_scan *hr)
{
	bool lost = false;

	for (size_t h = 0; h < hr->diff->hunk_count; h++) {
		struct evidence_walk walk = evidence_walk_begin(hr->diff, hr->places, h);

		while (is_folded(hr, h) && evidence_walk_next(&walk)) {
			struct span file = span_trim(file_line(hr, walk.base_line));
			struct span diff = span_trim(walk.line->text);

			if (!diff.len)
				continue;
			if (walk.line->op == '-' && span_eq(file, diff) && text_has_tab(file))
				return false;
			lost |= text_has_tab(file) && !text_has_tab(diff) &&
			        count_blank_runs(diff) > count_blank_runs(file);
		}
	}
	return lost && !added_line_has_tab(hr, true);
}

/* The white space at the end of a line, CRs aside. */
static struct span line_tail(struct span text)
{
	size_t end = text.len;

	while (end && (text.data[end - 1] == ' ' || text.data[end - 1] == '\t'))
		end--;
	return span_skip(text, end);
}

/* What old lines of one kind have at their ends. */
struct end_count {
	size_t lines, longer; /* those not blank; with more white space than in the file */
};

/* Whether no two lines got different white space at their ends. */
static bool count_ends(struct evidence_scan *hr, struct end_count *removed,
                       struct end_count *context, struct span *ret_extra)
{
	bool same = true;

	for (size_t h = 0; h < hr->diff->hunk_count; h++) {
		struct evidence_walk walk = evidence_walk_begin(hr->diff, hr->places, h);

		while (evidence_walk_next(&walk)) {
			struct end_count *count = walk.line->op == '-' ? removed : context;
			struct span tail = line_tail(walk.line->text), extra;
			struct span file = line_tail(file_line(hr, walk.base_line));

			if (span_is_blank(walk.line->text))
				continue;
			count->lines++;
			if (tail.len <= file.len)
				continue;
			extra = span_skip(tail, file.len);
			same &= span_starts(tail, file) &&
			        (!ret_extra->len || span_eq(*ret_extra, extra));
			*ret_extra = extra;
			count->longer++;
		}
	}
	return same;
}

/* Whether all lines that are added end in this white space, or in some if it is empty; false if
 * none is added. */
static bool added_lines_end_in(const struct evidence_scan *hr, struct span extra, bool all)
{
	size_t lines = 0, ending = 0;

	for (size_t i = 0; i < hr->diff->line_count; i++) {
		struct span text = hr->diff->lines[i].text;

		if (hr->diff->lines[i].op != '+' || span_is_blank(text))
			continue;
		lines++;
		ending += line_tail(text).len && span_ends(text, extra);
	}
	return ending && (!all || ending == lines);
}

/* Finds out whether added lines got white space at their ends.  They did if each removed line (or
 * without such each line of context, of which there are two) got the same, and each of them has it.
 * If only some removed lines got it, it cannot be known. */
static void read_line_ends(struct evidence_scan *hr)
{
	struct end_count removed = { 0 }, context = { 0 };
	struct span extra = { 0 };
	bool same = count_ends(hr, &removed, &context, &extra);
	bool all = removed.lines ? removed.longer == removed.lines :
	                           context.longer > 1 && context.longer == context.lines;

	if (all && same && added_lines_end_in(hr, extra, /* all= */ true))
		hr->w->extra_end = extra;
	else
		hr->w->doubtful_ends = removed.longer &&
		                       added_lines_end_in(hr, span_of("", 0), /* all= */ false);
}

/* Whether old lines still end in CR without their line ending, where the file's do not. */
static bool has_extra_cr(const struct evidence_scan *hr)
{
	for (size_t h = 0; h < hr->diff->hunk_count; h++) {
		struct evidence_walk walk = evidence_walk_begin(hr->diff, hr->places, h);

		while (evidence_walk_next(&walk))
			if (span_ends(walk.line->text, SPAN("\r")) &&
			    !span_ends(file_line(hr, walk.base_line), SPAN("\r")))
				return true;
	}
	return false;
}

/* ---- the result ---- */

void evidence_collect(struct evidence *w, const struct lines *base, const struct diff_text *diff,
                      const struct placement *places, const struct pairing *pairing,
                      bool fold_spaces)
{
	size_t total;

	struct evidence_scan hr = { .w = w, .base = base, .diff = diff, .places = places,
	                            .pairing = pairing, .fold_spaces = fold_spaces };

	*w = (struct evidence){ 0 };
	for (size_t h = 0; h < diff->hunk_count; h++)
		w->any_folded |= places[h].fold != FOLD_EXACT;
	if (!w->any_folded)
		return;
	/* Room for every indentation that will be asked for: each line a few times. */
	total = 64;
	for (size_t i = 0; i < hr.diff->line_count && hr.fold_spaces; i++)
		total += 32 * (hr.diff->lines[i].text.len + 1);
	hr.w->indents = (struct buf)BUF_INIT(total);
	buf_reserve(&hr.w->indents, total - 1);
	infer_own_rules(&hr);
	infer_rule(&hr);
	w->keeps_tabs = added_lines_keep_tabs(&hr);
	w->verdict = evidence_judge(&hr);
	if (w->verdict != VERDICT_UNKNOWN && w->rule.kind != INDENT_SAME &&
	    likest_contradict(&hr, w->verdict))
		w->verdict = VERDICT_UNKNOWN;
	w->inner_tabs = lost_inner_tabs(&hr);
	read_line_ends(&hr);
	w->extra_cr = has_extra_cr(&hr);
}

void evidence_release(struct evidence *w)
{
	free(w->pairs);
	free(w->own_pairs);
	free(w->own);
	free(w->own_same);
	buf_release(&w->indents);
}

/* The rule for one hunk: its own where that is a plain shift. */
static const struct indent_rule *rule_for(const struct evidence *w, size_t h)
{
	if (w->rule.kind != INDENT_TABS && w->rule.kind != INDENT_SPACES &&
	    (w->own[h].kind == INDENT_ADD || w->own[h].kind == INDENT_STRIP))
		return &w->own[h];
	return &w->rule;
}

bool evidence_indent(const struct evidence *w, size_t h, bool exact, struct span indent,
                     const struct hunk_line *removed, const struct span *body, struct buf *out)
{
	size_t start = out->len;

	if (w->verdict == VERDICT_SPARED || !w->any_folded)
		return buf_span(out, indent);
	/* A hunk that fits as it is, its indentation at least, says that shifts do not concern it;
	 * tabs may. */
	if ((exact || w->own_same[h]) && w->rule.kind != INDENT_TABS &&
	    w->rule.kind != INDENT_SPACES)
		return buf_span(out, indent);
	if (w->verdict == VERDICT_DAMAGED) {
		if (removed && !exact && !span_is_blank(removed->text) &&
		    span_eq(indent_of_line(removed->text), indent))
			return buf_span(out, indent_of_line(*body));
		/* Context speaks against the shift: it may have been a slip in a line or two. */
		if (w->in_part && rule_for(w, h)->kind == INDENT_ADD &&
		    (w->pair_count < 2 || !stands_for_another(w, indent)))
			return false;
		return indent_undo(rule_for(w, h), indent, out);
	}
	/* Unknown: fine when undoing changes nothing. */
	if (stands_for_another(w, indent))
		return false;
	if (w->rule.kind == INDENT_UNKNOWN || w->rule.kind == INDENT_MAP)
		return buf_span(out, indent);
	if (!indent_undo(&w->rule, indent, out) ||
	    !span_eq(buf_from(out, start), indent))
		return false;
	return true;
}

bool evidence_blank(const struct evidence *w, struct span text, struct buf *out)
{
	if (w->extra_end.len)
		return true;
	if (w->verdict == VERDICT_DAMAGED && w->rule.kind == INDENT_STRIP &&
	    span_starts(text, w->rule.prefix))
		text = span_skip(text, w->rule.prefix.len);
	return buf_span(out, text);
}
