/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign text and diffs for a terminal. */
#include "cli/view/view.h"

#include <stdint.h>
#include <stdio.h>
#include <utf8proc.h>

#include "base/mem.h"
#include "base/text.h"
#include "diff/unified.h"

/* ---- text -------------------------------------------------------------------- */

/* Foreign text, character by character: categories and widths are Unicode's, from
 * utf8proc; what is harmful beyond a category is in the tables here. */

#define TAB_COLUMNS 8
/* Marks on one letter: no script needs more, and towers of them hide other lines. */
#define MARKS_MAX 4

struct range {
	uint32_t from, to;
};

/* Seen as nothing, or as a space, though their category is a letter's or a mark's. */
static const struct range invisible[] = {
	{ 0x034f, 0x034f },   { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },
	{ 0x2800, 0x2800 },   { 0x3164, 0x3164 },   { 0xfe00, 0xfe0e }, { 0xffa0, 0xffa0 },
	{ 0xe0100, 0xe01ef },
};

/* Cyrillic and Greek letters with the shape of a Latin one. */
static const struct range latin_shaped[] = {
	{ 0x0391, 0x0392 }, { 0x0395, 0x0397 }, { 0x0399, 0x039a }, { 0x039c, 0x039d },
	{ 0x039f, 0x039f }, { 0x03a1, 0x03a1 }, { 0x03a4, 0x03a5 }, { 0x03a7, 0x03a7 },
	{ 0x03bd, 0x03bd }, { 0x03bf, 0x03bf }, { 0x03f2, 0x03f3 }, { 0x03f9, 0x03f9 },
	{ 0x0405, 0x0406 }, { 0x0408, 0x0408 }, { 0x0410, 0x0410 }, { 0x0412, 0x0412 },
	{ 0x0415, 0x0415 }, { 0x041a, 0x041a }, { 0x041c, 0x041e }, { 0x0420, 0x0423 },
	{ 0x0425, 0x0425 }, { 0x0430, 0x0430 }, { 0x0435, 0x0435 }, { 0x043e, 0x043e },
	{ 0x0440, 0x0441 }, { 0x0443, 0x0443 }, { 0x0445, 0x0445 }, { 0x0455, 0x0456 },
	{ 0x0458, 0x0458 }, { 0x04ae, 0x04af }, { 0x04bb, 0x04bb }, { 0x04c0, 0x04c0 },
	{ 0x04cf, 0x04cf }, { 0x0501, 0x0501 }, { 0x051a, 0x051d },
};

static bool in_ranges(const struct range *ranges, size_t count, uint32_t c)
{
	for (size_t i = 0; i < count && c >= ranges[i].from; i++) {
		if (c <= ranges[i].to)
			return true;
	}
	return false;
}

static bool is_ascii_letter(uint32_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_combining_mark(utf8proc_category_t category)
{
	return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
	       category == UTF8PROC_CATEGORY_ME;
}

static bool is_word_letter(uint32_t c)
{
	utf8proc_category_t category;

	if (c < 0x80)
		return is_ascii_letter(c);
	category = utf8proc_category((utf8proc_int32_t)c);
	return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
	       is_combining_mark(category);
}

/* Whether a character beyond ASCII has to be escaped wherever it stands. */
static bool is_harmful(uint32_t c, utf8proc_category_t category)
{
	switch (category) {
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_CF:
	case UTF8PROC_CATEGORY_CS:
	case UTF8PROC_CATEGORY_CO:
	case UTF8PROC_CATEGORY_CN:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return true;
	default:
		return in_ranges(invisible, ARRAY_LEN(invisible), c);
	}
}

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

static void put_byte_escape(struct cells *cells, unsigned char byte)
{
	char text[8];
	int len = snprintf(text, sizeof(text), "\\x%02x", byte);

	cells_put(cells, span_of(text, (size_t)len), (size_t)len);
	cells->marks = 0;
}

static void put_character_escape(struct cells *cells, uint32_t c)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "\\u{%x}", c);

	cells_put(cells, span_of(text, (size_t)len), (size_t)len);
	cells->marks = 0;
}

static void put_tab(struct cells *cells)
{
	size_t width = TAB_COLUMNS - cells->column % TAB_COLUMNS;

	cells_put(cells, span_head(SPAN("        "), width), width);
}

static void put_control(struct cells *cells, unsigned char c)
{
	if (c == '\t')
		put_tab(cells);
	else if (c == '\n')
		cells_put(cells, SPAN("\\n"), 2);
	else if (c == '\r')
		cells_put(cells, SPAN("\\r"), 2);
	else
		put_byte_escape(cells, c);
}

static void put_character(struct cells *cells, uint32_t c, struct span bytes, bool mixed)
{
	const utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
	const int width = utf8proc_charwidth((utf8proc_int32_t)c);
	const bool mark = is_combining_mark(category);

	if (is_harmful(c, category) ||
	    (mixed && in_ranges(latin_shaped, ARRAY_LEN(latin_shaped), c)) ||
	    (mark && (cells->marks >= MARKS_MAX || cells->column == 0))) {
		put_character_escape(cells, c);
		return;
	}
	cells->marks = mark ? cells->marks + 1 : 0;
	cells_put(cells, bytes, width > 0 ? (size_t)width : 0);
}

/* The printable ASCII at the start of the text, as much as fits into a line. */
static size_t put_ascii(struct cells *cells, struct span text)
{
	size_t n = 0, max = text.len;

	cells_fit(cells, 1);
	if (cells->limit > 0 && cells->limit - cells->column < max)
		max = cells->limit - cells->column;
	while (n < max && text.data[n] >= 0x20 && text.data[n] < 0x7f)
		n++;
	buf_span(cells->out, span_head(text, n));
	cells->column += n;
	if (n > 0)
		cells->marks = 0;
	return n;
}

/* The length of the letters that the text begins with; whether there are ASCII ones. */
static size_t word_length(struct span text, bool *ret_latin)
{
	size_t at = 0;

	*ret_latin = false;
	while (at < text.len) {
		struct utf8_char c = utf8_first(span_skip(text, at));

		if (c.bad || !is_word_letter(c.code))
			break;
		*ret_latin |= is_ascii_letter(c.code);
		at += c.bytes.len;
	}
	return at;
}

/* A word from its first letter beyond ASCII, at text[at], to its end, which is returned. */
static size_t cells_put_word(struct cells *cells, struct span text, size_t at)
{
	bool mixed;
	size_t end = at + word_length(span_skip(text, at), &mixed);

	mixed |= at > 0 && is_ascii_letter((unsigned char)text.data[at - 1]);
	while (at < end) {
		struct utf8_char c = utf8_first(span_skip(text, at));

		put_character(cells, c.code, c.bytes, mixed);
		at += c.bytes.len;
	}
	return end;
}

void render_cells_text(struct cells *cells, struct span text)
{
	size_t at = 0;

	while (at < text.len && !cells->out->overflowed) {
		struct span rest = span_skip(text, at);
		const unsigned char first = (unsigned char)rest.data[0];
		struct utf8_char c;

		if (first < 0x80) {
			size_t len = first >= 0x20 && first < 0x7f ? put_ascii(cells, rest) : 1;

			if (first < 0x20 || first == 0x7f)
				put_control(cells, first);
			at += len;
			continue;
		}
		c = utf8_first(rest);
		if (!c.bad && is_word_letter(c.code)) {
			at = cells_put_word(cells, text, at);
			continue;
		}
		if (c.bad)
			put_byte_escape(cells, first);
		else
			put_character(cells, c.code, c.bytes, /* mixed= */ false);
		at += c.bytes.len;
	}
}

void render_safe(struct buf *out, struct span untrusted)
{
	struct cells cells = { .out = out };

	render_cells_text(&cells, untrusted);
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
