/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that belong to no finished call: what the user said, notices, and what is under way. */
#include "tui/view/view.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tui/view/private.h"

enum { PASTE_INDENT = 4 }; /* of a folded paste, beneath the line that it stands in */

/* ---- what is said ------------------------------------------------------------ */

static void folded_rows(struct rows *rows, struct span text, const struct view_how *how)
{
	struct body body;

	body_init(&body, how, VIEW_FOLDED_PASTE_ROWS, how->plain ? 0 : PASTE_INDENT);
	body_lines(&body, text, STYLE(ROLE_DIM));
	body_more(&body);
	body_finish(&body, rows, PASTE_INDENT);
}

/* A line of what the user said, with labels in place of the folds that begin in it. Takes it, and
 * the folds, off the front. */
static void user_line(struct row *row, struct span text, size_t *at, const struct view_fold **fold,
                      const struct view_fold *end)
{
	while (*at < text.len) {
		struct span rest = span_skip(text, *at), line;

		if (*fold < end)
			rest = span_head(rest, (*fold)->at - *at);
		if (line_next(&rest, &line)) {
			row_text(row, line_body(line), STYLE(ROLE_USER));
			*at += line.len;
			if (line_ending(line).len)
				return;
		}
		if (*fold == end)
			return;
		row_text(row, span_str((*fold)->label), STYLE(ROLE_ACCENT));
		*at += (*fold)->len;
		++*fold;
	}
}

void view_user_folded(struct rows *rows, struct span text, const struct view_fold *folds,
                      size_t count, const struct view_how *how)
{
	const struct view_fold *fold = folds, *end = count ? folds + count : folds;
	_cleanup_row_ struct row first = { 0 }, rest = { 0 };
	const size_t before = rows->count;
	size_t at = 0;

	if (how->plain)
		row_printf(&first, STYLE(ROLE_USER), "You: ");
	else
		row_printf(&first, STYLE(ROLE_USER), "> ");
	if (!how->plain)
		row_printf(&rest, STYLE(ROLE_USER), "  ");
	for (bool more = false; at < text.len; more = true) {
		_cleanup_row_ struct row row = { 0 };
		const struct view_fold *from = fold;

		user_line(&row, text, &at, &fold, end);
		rows_wrap(rows, &row, how->width, more ? &rest : &first, &rest);
		for (; from < fold; from++)
			folded_rows(rows, span_head(span_skip(text, from->at), from->len), how);
	}
	if (rows->count > before) {
		rows->at[before].prompt |= ROW_PROMPT_START;
		rows->at[rows->count - 1].prompt |= ROW_PROMPT_ENDS;
	}
}

void view_user(struct rows *rows, struct span text, const struct view_how *how)
{
	view_user_folded(rows, text, NULL, 0, how);
}

void view_notice(struct rows *rows, const char *severity, struct span message,
                 const struct view_how *how)
{
	static const struct {
		const char *severity, *mark, *word;
		enum role role;
	} marks[] = {
		{ "error", "\xe2\x9c\x97 ", "Error: ", ROLE_ERROR },
		{ "warning", "! ", "Warning: ", ROLE_WARNING },
		{ "info", "i ", "Note: ", ROLE_DIM },
	};
	_cleanup_row_ struct row first = { 0 }, rest = { 0 };
	size_t i = 0;
	struct span line;

	while (i + 1 < ARRAY_LEN(marks) && (!severity || strcmp(severity, marks[i].severity)))
		i++;
	row_printf(&first, STYLE(marks[i].role), "%s", how->plain ? marks[i].word : marks[i].mark);
	if (!how->plain)
		row_printf(&rest, STYLE(marks[i].role), "  ");
	for (bool more = false; line_next(&message, &line); more = true) {
		_cleanup_row_ struct row row = { 0 };

		row_text(&row, line_body(line), STYLE(marks[i].role));
		rows_wrap(rows, &row, how->width, more ? &rest : &first, &rest);
	}
}

/* ---- what goes on ------------------------------------------------------------ */

void view_topic(struct rows *rows, const char *topic, const struct view_how *how)
{
	struct row *row;

	if (!topic || !*topic)
		return;
	row = rows_add(rows);
	row_text(row, span_str(topic), STYLE_BOLD(ROLE_ACCENT));
	row_clip(row, how->width);
}

/* With two blanks before it, if `least` of its columns have room. */
static void activity_part(struct row *row, const char *text, unsigned least, unsigned width)
{
	struct row part = { 0 };

	if (!text || !*text)
		return;
	row_text(&part, span_str(text), STYLE(ROLE_DIM));
	if (row->width + 2 + (least ? least : part.width) <= width) {
		row_text(row, SPAN("  "), STYLE(ROLE_DIM));
		row_append(row, &part);
	}
	row_release(&part);
}

void view_activity(struct rows *rows, const struct view_work *work, const struct view_how *how)
{
	enum { THOUGHT_LEAST = 12 };
	struct row *row = rows_add(rows);
	const uint64_t seconds = work->seconds;

	row_printf(row, STYLE(ROLE_ACCENT), "* Working");
	if (seconds >= 60)
		row_printf(row, STYLE(ROLE_DIM), " %um %02us", (unsigned)(seconds / 60 % 10000),
		           (unsigned)(seconds % 60));
	else
		row_printf(row, STYLE(ROLE_DIM), " %us", (unsigned)seconds);
	activity_part(row, work->retry, 0, how->width);
	activity_part(row, work->keys, 0, how->width);
	activity_part(row, work->tokens, 0, how->width);
	activity_part(row, work->thought, THOUGHT_LEAST, how->width);
	row_clip(row, how->width);
}

/* How far it is: whole parts as such, of a fraction the percentage alone. */
static void progress_amount(struct row *row, double done, const json_t *total)
{
	const double all = json_number_value(total);
	const double share = all > 0 ? 100 * done / all : 0;
	const unsigned percent = share >= 100 ? 100 : share > 0 ? (unsigned)share : 0;

	if (all > 1)
		row_printf(row, STYLE(ROLE_DIM), "%.12g of %.12g, %u %%", done, all, percent);
	else if (all > 0)
		row_printf(row, STYLE(ROLE_DIM), "%u %%", percent);
	else if (done > 0)
		row_printf(row, STYLE(ROLE_DIM), "%.12g", done);
}

void view_progress(struct rows *rows, const json_t *progress, const struct view_how *how)
{
	const struct span said = json_span(json_object_get(progress, "message"));
	struct row *row;

	if (!progress)
		return;
	row = rows_add(rows);
	row_text(row, SPAN("    "), STYLE(ROLE_DIM));
	progress_amount(row, json_number_value(json_object_get(progress, "progress")),
	                json_object_get(progress, "total"));
	if (said.len) {
		row_text(row, row->width > 4 ? SPAN("  ") : SPAN(""), STYLE(ROLE_DIM));
		row_text(row, said, STYLE(ROLE_DIM));
	}
	row_clip(row, how->width);
}

/* Without the text that a carriage return has overwritten. */
static struct span tail_line(struct span body)
{
	const char *last;

	while (body.len && (last = memrchr(body.data, '\r', body.len))) {
		if (last + 1 < body.data + body.len)
			return span_skip(body, (size_t)(last + 1 - body.data));
		body.len--;
	}
	return body;
}

void view_tail(struct rows *rows, struct span text, unsigned max, const struct view_how *how)
{
	struct span rest, line;
	unsigned lines = 0;
	size_t from;

	text = span_trim(text);
	from = text.len;
	while (from > 0 && !(text.data[from - 1] == '\n' && ++lines == max))
		from--;
	rest = span_skip(text, from);
	while (rest.len && line_next(&rest, &line)) {
		struct row *row = rows_add(rows);

		row_text(row, SPAN("    "), STYLE(ROLE_DIM));
		row_text(row, tail_line(line_body(line)), STYLE(ROLE_DIM));
		row_clip(row, how->width);
	}
}
