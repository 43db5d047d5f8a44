/* SPDX-License-Identifier: Apache-2.0 */
/* Diffs as rows: one column, or old and new side by side. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "diff/diff.h"
#include "diff/unified.h"
#include "tui/markdown/highlight.h"
#include "tui/view/private.h"

/* The fewest columns for text next to numbers; with less room there are no numbers. */
enum { TEXT_LEAST = 20 };

struct diff_rows {
	struct body *body;
	struct highlight *code; /* NULL: the file's name is not known */
	const struct unified *reader;
	char *old_name;         /* owned; of the "---" line before; NULL: there was none */
	unsigned digits;        /* of line numbers; 0: none are shown */
	bool sides;
};

/* ---- lines ------------------------------------------------------------------- */

/* The text of a line, words marked. Only what is in both texts has the colours of code: others
 * have that of their change. */
static void diff_line_text(const struct diff_rows *d, const struct unified_line *line,
                           struct row *row)
{
	const struct style whole = STYLE(line->sign == '-' ? ROLE_REMOVED : ROLE_ADDED);
	const struct style word =
		STYLE(line->sign == '-' ? ROLE_REMOVED_WORD : ROLE_ADDED_WORD);
	size_t from = 0;

	if (line->sign == ' ') {
		if (d->code)
			highlight_line(d->code, line->text, row);
		else
			row_text(row, line->text, STYLE(ROLE_CODE));
		return;
	}
	for (size_t i = 0; i < line->end_count; i++) {
		row_text(row, span_of(line->text.data + from, line->ends[i] - from),
		         i % 2 ? word : whole);
		from = line->ends[i];
	}
	row_text(row, span_skip(line->text, from), whole);
}

static void diff_number(struct row *row, unsigned digits, size_t number)
{
	if (number)
		row_printf(row, STYLE(ROLE_DIM), "%*zu ", (int)digits, number);
	else
		row_printf(row, STYLE(ROLE_DIM), "%*s ", (int)digits, "");
}

static struct style sign_style(char sign)
{
	return STYLE(sign == '-' ? ROLE_REMOVED : sign == '+' ? ROLE_ADDED : ROLE_DIM);
}

static void diff_note(struct diff_rows *d, struct span note)
{
	struct row row = { 0 };

	if (!note.len)
		return;
	row_text(&row, note, STYLE(ROLE_DIM));
	body_take(d->body, &row, NULL);
}

/* ---- one column -------------------------------------------------------------- */

static void diff_plain_margin(struct row *row, const struct unified_line *line)
{
	row_printf(row, STYLE(ROLE_DIM), "line %zu%s: ",
	           line->sign == '-' ? line->old_number : line->new_number,
	           line->sign == '-' ? " removed" : line->sign == '+' ? " added" : "");
}

static void diff_one_column(struct diff_rows *d, const struct unified_line *line)
{
	struct row row = { 0 };
	_cleanup_row_ struct row rest = { 0 }, text = { 0 };

	if (body_full(d->body)) {
		d->body->left_out++;
		return;
	}
	if (d->body->how.plain) {
		diff_plain_margin(&row, line);
	} else {
		if (d->digits) {
			diff_number(&row, d->digits, line->old_number);
			diff_number(&row, d->digits, line->new_number);
		}
		row_printf(&row, sign_style(line->sign), "%c ", line->sign);
		row_pad(&rest, row.width, STYLE(ROLE_TEXT));
	}
	diff_line_text(d, line, &text);
	row_append(&row, &text);
	body_take(d->body, &row, &rest);
	diff_note(d, line->note);
}

/* ---- two columns ------------------------------------------------------------- */

/* Half a row: number, sign, text in rows of `width`; folded it is one row. */
static void half_rows(const struct diff_rows *d, char sign, size_t number,
                      const struct row *text, unsigned width, struct rows *ret)
{
	_cleanup_row_ struct row copy = { 0 }, first = { 0 }, rest = { 0 };

	diff_number(&first, d->digits, number);
	row_printf(&first, sign_style(sign), "%c ", sign);
	row_pad(&rest, first.width, STYLE(ROLE_TEXT));
	row_append(&copy, text);
	if (d->body->how.folded)
		row_clip(&copy, width > first.width ? width - first.width : 1);
	rows_wrap(ret, &copy, width, &first, &rest);
}

static void join_halves(struct diff_rows *d, const struct rows *left, const struct rows *right,
                        unsigned width)
{
	size_t count = left->count > right->count ? left->count : right->count;

	for (size_t i = 0; i < count && !body_full(d->body); i++) {
		struct row row = { 0 };

		if (i < left->count)
			row_append(&row, &left->at[i]);
		row_pad(&row, width, STYLE(ROLE_TEXT));
		row_printf(&row, STYLE(ROLE_BORDER), " \xe2\x94\x82 ");
		if (i < right->count)
			row_append(&row, &right->at[i]);
		body_take(d->body, &row, NULL);
	}
}

/* A line of the old text next to one of the new; either may be NULL, and both the same. */
static void diff_two_columns(struct diff_rows *d, const struct unified_line *old,
                             const struct unified_line *new)
{
	const unsigned width = (d->body->how.width - 3) / 2;
	_cleanup_rows_ struct rows left = { 0 }, right = { 0 };
	_cleanup_row_ struct row old_text = { 0 }, new_text = { 0 };

	if (body_full(d->body)) {
		d->body->left_out++;
		return;
	}
	if (old) {
		diff_line_text(d, old, &old_text);
		half_rows(d, old->sign, old->old_number, &old_text, width, &left);
	}
	if (new && new != old)
		diff_line_text(d, new, &new_text);
	if (new)
		half_rows(d, new->sign, new->new_number, new == old ? &old_text : &new_text,
		          width, &right);
	join_halves(d, &left, &right, width);
	if (old)
		diff_note(d, old->note);
	if (new && new != old)
		diff_note(d, new->note);
}

/* ---- blocks ------------------------------------------------------------------ */

static void diff_lines_shown(struct diff_rows *d, const struct unified_block *block)
{
	const size_t removed = block->removed, added = block->count - removed;
	const bool same = block->kind == UNIFIED_SAME;
	const size_t pairs = removed > added ? removed : added;

	if (!d->sides || same) {
		for (size_t i = 0; i < block->count; i++)
			if (d->sides)
				diff_two_columns(d, &block->lines[i], &block->lines[i]);
			else
				diff_one_column(d, &block->lines[i]);
		return;
	}
	for (size_t i = 0; i < pairs; i++)
		diff_two_columns(d, i < removed ? &block->lines[i] : NULL,
		                 i < added ? &block->lines[removed + i] : NULL);
}

/* "a/src/main.c", perhaps with a tab and a time behind it, or quoted as git does, without git's
 * prefix; the caller frees. */
static char *cleaned_name(struct span name)
{
	const char *tab = name.len ? memchr(name.data, '\t', name.len) : NULL;
	bool quoted;

	if (tab)
		name.len = (size_t)(tab - name.data);
	name = span_trim(name);
	quoted = name.len > 1 && name.data[0] == '"' && name.data[name.len - 1] == '"';
	if (quoted)
		name = span_of(name.data + 1, name.len - 2);
	if (span_starts(name, SPAN("a/")) || span_starts(name, SPAN("b/")))
		name = span_skip(name, 2);
	return quoted ? script_unquote_name(name) : mem_dup(name.data, name.len);
}

/* Reads the new text of a file's hunks ahead, as far as it is shown: `rest` is what follows the
 * file's name. */
static void diff_read_code(struct diff_rows *d, struct span rest)
{
	_cleanup_unified_ struct unified reader;
	struct unified_block block;
	size_t lines = d->body->rows.count;

	unified_init(&reader, rest, false);
	reader.hide_cr = d->reader->hide_cr;
	while (lines < d->body->max && unified_next(&reader, &block) &&
	       !(block.kind == UNIFIED_HEADING && span_starts(block.lines[0].text, SPAN("+++ "))))
		for (size_t i = 0; i < block.count && lines < d->body->max; i++) {
			const struct unified_line *line = &block.lines[i];

			if (line->sign == ' ')
				highlight_add(d->code, line->text);
			else if (line->sign == '+')
				highlight_add_hidden(d->code, line->text);
			lines += !d->sides || line->sign != '-';
		}
}

static void diff_names(struct diff_rows *d, const char *old_name, const char *new_name)
{
	const bool created = old_name && strcmp(old_name, "/dev/null") == 0;
	const bool deleted = strcmp(new_name, "/dev/null") == 0 && old_name;
	const char *name = deleted ? old_name : new_name;
	struct row row = { 0 };

	row_text(&row, span_str(name), STYLE_BOLD(ROLE_TEXT));
	if (created || deleted)
		row_printf(&row, STYLE(ROLE_DIM), created ? " (new file)" : " (deleted)");
	else if (old_name && strcmp(old_name, new_name) != 0) {
		row_printf(&row, STYLE(ROLE_DIM), " (was ");
		row_text(&row, span_str(old_name), STYLE(ROLE_DIM));
		row_printf(&row, STYLE(ROLE_DIM), ")");
	}
	if (d->body->unnamed)
		row_release(&row);
	else
		body_take(d->body, &row, NULL);
	highlight_free(d->code);
	d->code = highlight_new(span_str(name));
	diff_read_code(d, d->reader->rest);
}

static void diff_heading(struct diff_rows *d, struct span text)
{
	_cleanup_free_ char *name = NULL;
	struct row row = { 0 };

	if (!span_starts(text, SPAN("--- ")) && !span_starts(text, SPAN("+++ "))) {
		row_text(&row, text, STYLE(ROLE_DIM));
		body_take(d->body, &row, NULL);
		return;
	}
	name = cleaned_name(span_skip(text, 4));
	if (text.data[0] == '+')
		diff_names(d, d->old_name, name);
	free(d->old_name);
	d->old_name = text.data[0] == '-' ? mem_steal(&name) : NULL;
}

static void diff_block(struct diff_rows *d, const struct unified_block *block)
{
	switch (block->kind) {
	case UNIFIED_SAME:
	case UNIFIED_CHANGED:
		diff_lines_shown(d, block);
		return;
	case UNIFIED_HEADING:
		diff_heading(d, block->lines[0].text);
		return;
	case UNIFIED_HUNK:
	case UNIFIED_NOTE:
		diff_note(d, block->lines[0].text);
	}
}

void diff_body(struct body *body, struct span unified)
{
	struct diff_rows d = { .body = body, .digits = (unsigned)unified_digits(unified) };
	_cleanup_unified_ struct unified reader;
	struct unified_block block;

	if (body->how.width < 2 * d.digits + 4 + TEXT_LEAST)
		d.digits = 0;
	d.sides = d.digits && !body->how.plain && body->how.width >= VIEW_SIDES_COLUMNS;
	unified_init(&reader, unified, true);
	d.reader = &reader;
	while (!body_full(body) && unified_next(&reader, &block))
		diff_block(&d, &block);
	body->left_out += lines_count(reader.rest);
	free(d.old_name);
	highlight_free(d.code);
}

void view_diff(struct rows *rows, struct span unified, const struct view_how *how)
{
	struct body body;

	body_init(&body, how, VIEW_FOLDED_DIFF_ROWS, 0);
	diff_body(&body, unified);
	body_more(&body);
	body_finish(&body, rows, 0);
}
