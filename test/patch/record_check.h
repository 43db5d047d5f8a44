/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of the record of a diff's lines (patch/parse.h), whatever the text.
 *
 * Knows nothing of how the parser works: only what a record means.  For the tests of this folder
 * and for fuzz/fuzz_patch_parse.c.
 */
#ifndef HASP_TEST_PATCH_RECORD_CHECK_H
#define HASP_TEST_PATCH_RECORD_CHECK_H

#include "patch/parse.h"

static inline bool record_begins(struct span line, const char *some)
{
	return line.len && strchr(some, line.data[0]) && line.data[0];
}

/* A line that begins with + or - is of a header or an envelope only if it looks like one. */
static inline const char *record_complain_of_look(enum line_role role, struct span line)
{
	if (!record_begins(line, "+-"))
		return NULL;
	if (role == LINE_HEADER && !span_starts(line, SPAN("--")) &&
	    !span_starts(line, SPAN("++")))
		return "a change was taken for a header";
	if (role == LINE_ANCHOR)
		return "a change was taken for an anchor";
	if ((role == LINE_OPENS || role == LINE_CLOSES) && !span_starts(line, SPAN("--")))
		return "a change was taken for an envelope";
	return NULL;
}

/* A line of prose that begins with + or - must not stand in a section or behind a hunk: the last
 * line that is no prose closes something, or there is none.  Behind a hunk that ends where its
 * counts say, a list may follow. */
static inline const char *record_complain_of_prose(const struct diff_text *diff,
                                                   const struct lines *text, size_t i,
                                                   size_t last_other)
{
	const struct line_record *before = &diff->record[last_other];
	struct span line = line_body(lines_at(text, i)), last;

	if (diff->record[i].role != LINE_PROSE || !record_begins(line, "+-"))
		return NULL;
	if (before->role == LINE_PROSE || before->role == LINE_CLOSES)
		return NULL;
	last = line_body(lines_at(text, last_other));
	if (before->role == LINE_HEADER && span_starts(last, SPAN("--- ")))
		return NULL; /* words behind dashes */
	if (before->role == LINE_HUNK && diff->hunks[before->of].counted &&
	    diff->hunks[before->of].cut == diff->hunks[before->of].count)
		return NULL;
	return "a change was taken for prose";
}

static inline const char *record_complain_of_hunk(const struct diff_text *diff,
                                                  const struct lines *text, size_t h)
{
	const struct hunk *hunk = &diff->hunks[h];
	size_t before = 0;

	if (hunk->first > diff->line_count || hunk->count > diff->line_count - hunk->first ||
	    hunk->cut > hunk->count || hunk->echo > hunk->count)
		return "a hunk's lines are not there";
	for (size_t i = hunk->first; i < hunk->first + hunk->count; i++) {
		const struct hunk_line *line = &diff->lines[i];
		const struct line_record *row = &diff->record[line->diff_line - 1];
		struct span body;

		if (line->diff_line <= before || line->diff_line > diff->record_count)
			return "a hunk's lines are not in order";
		before = line->diff_line;
		if (row->role != LINE_HUNK || row->of != h)
			return "a hunk's line is recorded as something else";
		body = line_body(lines_at(text, line->diff_line - 1));
		if (line->no_newline && span_ends(line->text, SPAN("\r")) &&
		    !span_ends(body, SPAN("\r")))
			body.len++; /* the CR is text: there is no line ending */
		if (!span_ends(body, line->text) ||
		    (line->text.len && line->text.data + line->text.len != body.data + body.len))
			return "a hunk's line is not the text's";
		if (!line->bare && (line->text.len >= body.len ||
		                    body.data[body.len - line->text.len - 1] != line->op))
			return "a hunk's line has another marker";
		if (line->bare && line->op != ' ')
			return "a line without a marker is no context";
	}
	return NULL;
}

/* NULL if all is well, otherwise what is not; *ret_line is the line (1-based) or 0. */
static inline const char *record_complain(struct span bytes, const struct diff_text *diff,
                                          size_t *ret_line)
{
	struct lines text = { 0 };
	const char *why = NULL;
	size_t in_hunks = 0, recorded = 0, last_other = 0;

	*ret_line = 0;
	lines_index(&text, utf8_skip_mark(bytes));
	if (text.count != diff->record_count)
		why = "the record has another number of lines";
	for (size_t i = 0; i < text.count && !why; i++) {
		const struct line_record *row = &diff->record[i];

		*ret_line = i + 1;
		recorded += row->role == LINE_HUNK;
		if (row->role == LINE_UNASSIGNED || row->role > LINE_REPEATED)
			why = "a line was not assigned";
		else if (row->role == LINE_HUNK && row->of >= diff->hunk_count)
			why = "a line is of no hunk";
		else
			why = record_complain_of_look(row->role, line_body(lines_at(&text, i)));
		why = why ? why : record_complain_of_prose(diff, &text, i, last_other);
		last_other = row->role == LINE_PROSE ? last_other : i;
	}
	for (size_t h = 0; h < diff->hunk_count && !why; h++) {
		*ret_line = diff->hunks[h].diff_line;
		in_hunks += diff->hunks[h].count;
		why = record_complain_of_hunk(diff, &text, h);
	}
	if (!why && in_hunks != recorded)
		why = "the hunks have more lines than the record, or fewer";
	lines_release(&text);
	return why;
}

#endif
