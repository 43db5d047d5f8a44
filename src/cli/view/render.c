/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign text and diffs for a terminal. */
#include "cli/view/view.h"

#include <stdint.h>
#include <stdio.h>
#include <utf8proc.h>

#include "base/mem.h"
#include "base/text.h"
#include "diff/diff.h"

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

static bool is_combining_mark(utf8proc_category_t category)
{
	return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
	       category == UTF8PROC_CATEGORY_ME;
}

static bool is_word_letter(uint32_t c)
{
	utf8proc_category_t category;

	if (c < 0x80)
		return ascii_is_letter(c);
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
		*ret_latin |= ascii_is_letter(c.code);
		at += c.bytes.len;
	}
	return at;
}

/* A word from its first letter beyond ASCII, at text[at], to its end, which is returned. */
static size_t cells_put_word(struct cells *cells, struct span text, size_t at)
{
	bool mixed;
	size_t end = at + word_length(span_skip(text, at), &mixed);

	mixed |= at > 0 && ascii_is_letter((unsigned char)text.data[at - 1]);
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

/* A unified diff for people. Lines are read by the counts in the hunk headers, as
 * "--- x" can be a removed line; removed and added lines next to each other are shown
 * together, so that what differs within a line can be marked. */

/* Lines longer than this are not compared word by word, and none once so many
 * pairs of bytes have been compared: what a stranger wrote must not cost seconds. */
#define WORDS_LINE_MAX 1000
#define WORDS_BUDGET ((size_t)100000000)
/* The least text columns for which wrapping is better than the terminal's own. */
#define WRAP_MIN 20

static const char style_name[] = "\033[1m";
static const char style_hunk[] = "\033[36m";
static const char style_note[] = "\033[2m";
static const char style_removed[] = "\033[31m";
static const char style_added[] = "\033[32m";
static const char style_removed_word[] = "\033[7;31m";
static const char style_added_word[] = "\033[7;32m";

struct row {
	struct span text; /* without sign and line feed */
	struct span note; /* the "\ No newline" line after it, or empty */
	size_t old_number, new_number; /* 0: unknown, or not in that text */
};

struct rows {
	struct row *items; /* owned */
	size_t count, cap;
};

struct diff_view {
	struct buf *out;
	bool colour;
	size_t limit;  /* columns for the text of a line; 0: no wrapping */
	size_t digits; /* of the largest line number */
	/* The hunk being read: lines that are still to come, and their numbers. */
	size_t old_left, new_left;
	size_t old_number, new_number; /* 0: unknown */
	struct rows removed, added;    /* not shown yet */
	size_t words_budget;           /* left for comparing words */
	bool hide_cr;                  /* every line has one: it says nothing */
};

static size_t read_decimal(struct span *text)
{
	size_t value = 0;

	while (text->len > 0 && ascii_is_digit(text->data[0])) {
		value = value < SIZE_MAX / 20 ? value * 10 + (size_t)(text->data[0] - '0') : value;
		*text = span_skip(*text, 1);
	}
	return value;
}

/* Reads "-12,3" or "-12". */
static bool read_range(struct span *text, char sign, size_t *ret_at, size_t *ret_count)
{
	if (text->len < 2 || text->data[0] != sign || text->data[1] < '0' || text->data[1] > '9')
		return false;
	*text = span_skip(*text, 1);
	*ret_at = read_decimal(text);
	*ret_count = 1;
	if (span_starts(*text, SPAN(","))) {
		*text = span_skip(*text, 1);
		*ret_count = read_decimal(text);
	}
	return true;
}

struct hunk_header {
	size_t old_at, old_count, new_at, new_count;
};

/* A header without usable numbers has counts without end, and lines without numbers. */
static struct hunk_header read_hunk_header(struct span line)
{
	struct hunk_header header;
	struct span rest = span_trim(span_skip(line, 2));

	if (read_range(&rest, '-', &header.old_at, &header.old_count)) {
		rest = span_trim(rest);
		if (read_range(&rest, '+', &header.new_at, &header.new_count))
			return header;
	}
	return (struct hunk_header){ 0, SIZE_MAX, 0, SIZE_MAX };
}

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

/* Byte ranges of a line, in turn the same and different: [0] is the end of the first
 * part that is the same as in the other line. */
struct parts {
	size_t *ends; /* owned */
	size_t count, cap;
};

static void show_row(const struct diff_view *v, char sign, const struct row *row,
                     const struct parts *parts)
{
	const char *style = sign == '-' ? style_removed : sign == '+' ? style_added : NULL;
	const char *word = sign == '-' ? style_removed_word : style_added_word;
	struct cells cells = { .out = v->out, .limit = v->limit, .margin = 2 * v->digits + 4 };
	size_t from = 0;

	show_number(v, row->old_number);
	show_number(v, row->new_number);
	set_style(v, &cells, style);
	buf_char(v->out, sign);
	buf_char(v->out, ' ');
	for (size_t i = 0; parts && i < parts->count; i++) {
		set_style(v, &cells, i % 2 == 0 ? style : word);
		render_cells_text(&cells, span_of(row->text.data + from, parts->ends[i] - from));
		from = parts->ends[i];
	}
	set_style(v, &cells, style);
	render_cells_text(&cells, span_skip(row->text, from));
	set_style(v, &cells, NULL);
	buf_char(v->out, '\n');
	if (row->note.len > 0)
		show_diff_text(v, row->note, style_note);
}

static bool is_word_byte(char c)
{
	return ascii_is_alnum(c) || c == '_' || (unsigned char)c >= 0x80;
}

/* The words of a line, each on a line of its own: words, runs of blanks, single signs. */
static void split_words(struct span text, struct buf *out)
{
	while (text.len > 0) {
		size_t n = 1;

		if (is_word_byte(text.data[0])) {
			while (n < text.len && is_word_byte(text.data[n]))
				n++;
		} else if (text.data[0] == ' ') {
			while (n < text.len && text.data[n] == ' ')
				n++;
		}
		buf_span(out, span_head(text, n));
		buf_char(out, '\n');
		text = span_skip(text, n);
	}
}

static void parts_add(struct parts *parts, size_t end)
{
	if (parts->count == parts->cap)
		parts->ends = mem_grow(parts->ends, &parts->cap, parts->count + 1,
		                       sizeof(*parts->ends));
	parts->ends[parts->count++] = end;
}

/* The bytes of words [0, word): their lines less the line feeds. */
static size_t word_offset(const struct lines *words, size_t word)
{
	return words->starts[word] - word;
}

static size_t same_bytes(const struct lines *words, const struct script *script)
{
	size_t changed = 0;

	for (size_t i = 0; i < script->count; i++) {
		const struct edit *edit = &script->edits[i];

		changed += word_offset(words, edit->at + edit->remove) - word_offset(words,
		                                                                     edit->at);
	}
	return word_offset(words, words->count) - changed;
}

/* Finds what differs in two paired lines. Nothing when that is most of them. */
static void compare_words(struct diff_view *v, struct span old_line, struct span new_line,
                          struct parts *ret_old, struct parts *ret_new)
{
	_cleanup_buf_ struct buf old_text = BUF_INIT(2 * WORDS_LINE_MAX);
	_cleanup_buf_ struct buf new_text = BUF_INIT(2 * WORDS_LINE_MAX);
	_cleanup_lines_ struct lines old_words = { 0 }, new_words = { 0 };
	_cleanup_script_ struct script script = { 0 };
	size_t longer = old_line.len > new_line.len ? old_line.len : new_line.len;
	size_t drift = 0; /* by how many words the new line is ahead, modulo 2^64 */

	if (longer > WORDS_LINE_MAX || old_line.len == 0 || new_line.len == 0 ||
	    v->words_budget < old_line.len * new_line.len)
		return;
	v->words_budget -= old_line.len * new_line.len;
	split_words(old_line, &old_text);
	split_words(new_line, &new_text);
	lines_index(&old_words, buf_view(&old_text));
	lines_index(&new_words, buf_view(&new_text));
	diff_lines(&old_words, &new_words, &script);
	if (same_bytes(&old_words, &script) < longer / 3)
		return;
	for (size_t i = 0; i < script.count; i++) {
		const struct edit *edit = &script.edits[i];
		size_t added = lines_count(edit->insert);

		parts_add(ret_old, word_offset(&old_words, edit->at));
		parts_add(ret_old, word_offset(&old_words, edit->at + edit->remove));
		parts_add(ret_new, word_offset(&new_words, edit->at + drift));
		parts_add(ret_new, word_offset(&new_words, edit->at + drift + added));
		drift += added - edit->remove;
	}
}

/* Shows the removed and added lines that were held back; those are paired in order. */
static void show_block(struct diff_view *v)
{
	const size_t pairs =
		v->removed.count < v->added.count ? v->removed.count : v->added.count;
	struct parts *parts = mem_alloc(2 * pairs + 1, sizeof(*parts));

	for (size_t i = 0; v->colour && i < pairs; i++)
		compare_words(v, v->removed.items[i].text, v->added.items[i].text,
		              &parts[2 * i], &parts[2 * i + 1]);
	for (size_t i = 0; i < v->removed.count; i++)
		show_row(v, '-', &v->removed.items[i], i < pairs ? &parts[2 * i] : NULL);
	for (size_t i = 0; i < v->added.count; i++)
		show_row(v, '+', &v->added.items[i], i < pairs ? &parts[2 * i + 1] : NULL);
	for (size_t i = 0; i < 2 * pairs; i++)
		free(parts[i].ends);
	free(parts);
	v->removed.count = v->added.count = 0;
}

static void rows_add(struct rows *rows, struct row row)
{
	if (rows->count == rows->cap)
		rows->items = mem_grow(rows->items, &rows->cap, rows->count + 1,
		                       sizeof(*rows->items));
	rows->items[rows->count++] = row;
}

static size_t next_number(size_t *number)
{
	return *number > 0 ? (*number)++ : 0;
}

static void count_down(size_t *left)
{
	if (*left > 0 && *left != SIZE_MAX)
		--*left;
}

static void show_note(struct diff_view *v, struct span line)
{
	struct rows *last = v->added.count > 0 ? &v->added : &v->removed;

	if (last->count > 0)
		last->items[last->count - 1].note = line;
	else
		show_diff_text(v, line, style_note);
}

/* A line within a hunk. False when it is none. */
static bool hunk_line(struct diff_view *v, struct span line)
{
	const char sign = line.len > 0 ? line.data[0] : ' ';
	struct span text = span_skip(line, 1);

	if (v->hide_cr && span_ends(text, SPAN("\r")))
		text.len--;
	if (sign == '\\') {
		show_note(v, line);
	} else if (sign == '-' && v->old_left > 0) {
		if (v->added.count > 0)
			show_block(v);
		rows_add(&v->removed,
		         (struct row){ .text = text, .old_number = next_number(&v->old_number) });
		count_down(&v->old_left);
	} else if (sign == '+' && v->new_left > 0) {
		rows_add(&v->added,
		         (struct row){ .text = text, .new_number = next_number(&v->new_number) });
		count_down(&v->new_left);
	} else if (sign == ' ' && v->old_left > 0 && v->new_left > 0) {
		struct row row = { .text = text,
			           .old_number = next_number(&v->old_number),
			           .new_number = next_number(&v->new_number) };

		show_block(v);
		show_row(v, ' ', &row, NULL);
		count_down(&v->old_left);
		count_down(&v->new_left);
	} else {
		return false;
	}
	return true;
}

static void other_line(struct diff_view *v, struct span line)
{
	show_block(v);
	v->old_left = v->new_left = 0;
	if (span_starts(line, SPAN("@@"))) {
		struct hunk_header header = read_hunk_header(line);

		v->old_left = header.old_count;
		v->new_left = header.new_count;
		v->old_number = header.old_at;
		v->new_number = header.new_at;
		show_diff_text(v, line, style_hunk);
	} else {
		show_diff_text(v, line, style_name);
	}
}

static size_t digits_of(size_t number)
{
	size_t digits = 1;

	while (number >= 10) {
		number /= 10;
		digits++;
	}
	return digits;
}

/* The width of the largest line number, from the hunk headers. */
static size_t widest_number(struct span unified)
{
	size_t largest = 0;
	struct span line;

	while (line_next(&unified, &line)) {
		struct hunk_header header;

		if (!span_starts(line, SPAN("@@")))
			continue;
		header = read_hunk_header(line);
		if (header.old_count == SIZE_MAX)
			continue;
		if (header.old_at + header.old_count > largest)
			largest = header.old_at + header.old_count;
		if (header.new_at + header.new_count > largest)
			largest = header.new_at + header.new_count;
	}
	return digits_of(largest);
}

/* Whether all lines from the first hunk header on, but for headers and notes, end in CRLF. */
static bool is_crlf_diff(struct span unified)
{
	bool in_hunk = false, any = false;
	struct span line;

	while (line_next(&unified, &line)) {
		if (span_starts(line, SPAN("@@"))) {
			in_hunk = true;
		} else if (in_hunk && line.data[0] != '\\') {
			if (!span_ends(line, SPAN("\r\n")))
				return false;
			any = true;
		}
	}
	return any;
}

bool render_diff(struct buf *out, struct span unified, bool colour, size_t width)
{
	struct diff_view v = {
		.out = out,
		.colour = colour,
		.digits = widest_number(unified),
		.words_budget = WORDS_BUDGET,
		.hide_cr = is_crlf_diff(unified),
	};
	const size_t margin = 2 * v.digits + 4;
	struct span line;

	if (width >= margin + WRAP_MIN)
		v.limit = width - margin;
	while (line_next(&unified, &line) && !out->overflowed) {
		struct span text =
			span_ends(line, SPAN("\n")) ? span_head(line, line.len - 1) : line;

		if ((v.old_left == 0 && v.new_left == 0 && !span_starts(text, SPAN("\\"))) ||
		    !hunk_line(&v, text))
			other_line(&v, text);
	}
	show_block(&v);
	free(v.removed.items);
	free(v.added.items);
	return !out->overflowed;
}
