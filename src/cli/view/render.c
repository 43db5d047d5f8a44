/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign text and diffs for a terminal. */
#include "cli/view/view.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "diff/unified.h"
#include "tui/text/safe.h"

/* ---- text -------------------------------------------------------------------- */

/* Goes to the next line when `width` columns do not fit into this one any more. */
static void cells_fit(struct cells *cells, size_t width)
{
	const char *style = cells->style;

	if (cells->limit == 0 || cells->column == 0 || cells->column + width <= cells->limit)
		return;
	render_cells_style(cells, NULL);
	buf_char(cells->out, '\n');
	for (size_t i = 0; i < cells->margin; i++)
		buf_char(cells->out, ' ');
	cells->column = 0;
	render_cells_style(cells, style);
}

void render_cells_style(struct cells *cells, const char *style)
{
	if (cells->style == style)
		return;
	if (cells->style)
		buf_str(cells->out, "\033[0m");
	cells->style = style;
	if (style)
		buf_str(cells->out, style);
}

static void cells_put(struct cells *cells, struct span bytes, size_t width)
{
	cells_fit(cells, width);
	buf_span(cells->out, bytes);
	cells->column += width;
}

/* Printable ASCII, cut where lines end. */
static void put_ascii(struct cells *cells, struct span text)
{
	while (text.len > 0) {
		size_t n = text.len;

		cells_fit(cells, 1);
		if (cells->limit > 0 && cells->limit - cells->column < n)
			n = cells->limit - cells->column;
		buf_span(cells->out, span_head(text, n));
		cells->column += n;
		text = span_skip(text, n);
	}
}

static void put_tab(struct cells *cells)
{
	size_t width = SAFE_TAB_COLUMNS - cells->column % SAFE_TAB_COLUMNS;

	cells_put(cells, span_head(SPAN("        "), width), width);
}

void render_cells_text(struct cells *cells, struct span text)
{
	struct safe safe = { .rest = text, .before = cells->before };
	struct safe_piece piece;

	while (!cells->out->overflowed && safe_next(&safe, &piece)) {
		if (piece.kind == SAFE_TAB)
			put_tab(cells);
		else if (piece.kind == SAFE_ASCII)
			put_ascii(cells, piece.bytes);
		else
			cells_put(cells, piece.bytes, piece.width);
	}
	cells->before = safe.before;
}

void render_safe(struct buf *out, struct span untrusted)
{
	struct cells cells = { .out = out };

	render_cells_text(&cells, untrusted);
}

/* A conversion of a text, with its width and precision. */
static void put_conversion(struct buf *out, const char *spec, const char *text, int precision)
{
	const bool left = *spec == '-';
	const size_t width = (size_t)strtoul(spec + left, NULL, 10), before = out->len;
	size_t len = strlen(text);

	if (precision >= 0 && (size_t)precision < len)
		len = (size_t)precision;
	render_safe(out, span_of(text, len));
	while (left && out->len - before < width && buf_char(out, ' '))
		;
}

void render_printf(struct buf *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	while (*format) {
		const size_t plain = strcspn(format, "%");
		const char *spec = format + plain + 1, *end;
		int precision = -1;

		buf_span(out, span_of(format, plain));
		format += plain;
		if (!*format)
			break;
		end = spec + strspn(spec, "-0123456789.*");
		if (memchr(spec, '.', (size_t)(end - spec)))
			precision = end[-1] == '*' ? va_arg(args, int) :
			                             (int)strtol(strchr(spec, '.') + 1, NULL, 10);
		if (*end == 's')
			put_conversion(out, spec, va_arg(args, const char *), precision);
		else if (*end == 'z')
			buf_printf(out, "%zu", va_arg(args, size_t)), end++;
		else if (*end == '%')
			buf_char(out, '%');
		else { /* its argument would be taken for the next one's */
			out->overflowed = true;
			break;
		}
		format = end + 1;
	}
	va_end(args);
}

/* ---- diffs ------------------------------------------------------------------- */

/* A unified diff for people: as unified.h reads it, with numbers in the margin. */

/* The least text columns for which wrapping is better than the terminal's own. */
#define WRAP_MIN 20

static const char style_name[] = "\033[1m";
static const char style_hunk[] = "\033[36m";
static const char style_note[] = "\033[2m";
static const char style_removed[] = "\033[31m";
static const char style_added[] = "\033[32m";
static const char style_removed_word[] = "\033[7;31m";
static const char style_added_word[] = "\033[7;32m";

struct diff_view {
	struct buf *out;
	bool colour;
	size_t limit;  /* columns for the text of a line; 0: no wrapping */
	size_t digits; /* of the largest line number */
};

static void set_style(const struct diff_view *v, struct cells *cells, const char *style)
{
	if (v->colour)
		render_cells_style(cells, style);
}

/* A line that is no part of a hunk. */
static void show_diff_text(const struct diff_view *v, struct span text, const char *style)
{
	struct cells cells = { .out = v->out };

	set_style(v, &cells, style);
	render_cells_text(&cells, text);
	set_style(v, &cells, NULL);
	buf_char(v->out, '\n');
}

static void show_number(const struct diff_view *v, size_t number)
{
	if (number > 0)
		buf_printf(v->out, "%*zu ", (int)v->digits, number);
	else
		buf_printf(v->out, "%*s ", (int)v->digits, "");
}

static void show_hunk_line(const struct diff_view *v, const struct unified_line *line)
{
	const char *style = line->sign == '-' ? style_removed :
	                    line->sign == '+' ? style_added : NULL;
	const char *word = line->sign == '-' ? style_removed_word : style_added_word;
	struct cells cells = { .out = v->out, .limit = v->limit, .margin = 2 * v->digits + 4 };
	size_t from = 0;

	show_number(v, line->old_number);
	show_number(v, line->new_number);
	set_style(v, &cells, style);
	buf_char(v->out, line->sign);
	buf_char(v->out, ' ');
	for (size_t i = 0; i < line->end_count; i++) {
		set_style(v, &cells, i % 2 == 0 ? style : word);
		render_cells_text(&cells, span_of(line->text.data + from, line->ends[i] - from));
		from = line->ends[i];
	}
	set_style(v, &cells, style);
	render_cells_text(&cells, span_skip(line->text, from));
	set_style(v, &cells, NULL);
	buf_char(v->out, '\n');
	if (line->note.len > 0)
		show_diff_text(v, line->note, style_note);
}

bool render_diff(struct buf *out, struct span unified, bool colour, size_t width)
{
	static const char *const styles[] = {
		[UNIFIED_HEADING] = style_name, [UNIFIED_HUNK] = style_hunk,
		[UNIFIED_NOTE] = style_note,
	};
	struct diff_view v = { .out = out, .colour = colour, .digits = unified_digits(unified) };
	const size_t margin = 2 * v.digits + 4;
	_cleanup_unified_ struct unified reader;
	struct unified_block block;

	if (width >= margin + WRAP_MIN)
		v.limit = width - margin;
	unified_init(&reader, unified, colour);
	while (!out->overflowed && unified_next(&reader, &block)) {
		if (block.kind != UNIFIED_SAME && block.kind != UNIFIED_CHANGED)
			show_diff_text(&v, block.lines[0].text, styles[block.kind]);
		else
			for (size_t i = 0; i < block.count; i++)
				show_hunk_line(&v, &block.lines[i]);
	}
	return !out->overflowed;
}

bool render_difference(struct buf *out, const char *name, struct span before, struct span now)
{
	_cleanup_buf_ struct buf unified = BUF_INIT(LIMIT_RESULT_BYTES);

	return diff_print(&unified, name, before, now) &&
	       render_diff(out, buf_view(&unified), /* colour= */ false, 0);
}
