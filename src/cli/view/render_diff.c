/* SPDX-License-Identifier: Apache-2.0 */
/* A unified diff for people. Lines are read by the counts in the hunk headers, as
 * "--- x" can be a removed line; removed and added lines next to each other are shown
 * together, so that what differs within a line can be marked. */
#include <stdint.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/view/cells.h"
#include "cli/view/render.h"
#include "diff/diff.h"

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

static size_t read_number(struct span *text)
{
	size_t value = 0;

	while (text->len > 0 && text->data[0] >= '0' && text->data[0] <= '9') {
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
	*ret_at = read_number(text);
	*ret_count = 1;
	if (span_starts(*text, SPAN(","))) {
		*text = span_skip(*text, 1);
		*ret_count = read_number(text);
	}
	return true;
}

struct hunk_header {
	size_t old_at, old_count, new_at, new_count;
};

/* A header without usable numbers has counts without end, and lines without numbers. */
static struct hunk_header read_header(struct span line)
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

static struct cells view_cells(const struct diff_view *v)
{
	return (struct cells){ .out = v->out, .limit = v->limit, .margin = 2 * v->digits + 4 };
}

static void set_style(const struct diff_view *v, struct cells *cells, const char *style)
{
	if (v->colour)
		cells_style(cells, style);
}

/* A line that is no part of a hunk. */
static void show_plain(const struct diff_view *v, struct span text, const char *style)
{
	struct cells cells = { .out = v->out };

	set_style(v, &cells, style);
	cells_text(&cells, text);
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
	struct cells cells = view_cells(v);
	size_t from = 0;

	show_number(v, row->old_number);
	show_number(v, row->new_number);
	set_style(v, &cells, style);
	buf_char(v->out, sign);
	buf_char(v->out, ' ');
	for (size_t i = 0; parts && i < parts->count; i++) {
		set_style(v, &cells, i % 2 == 0 ? style : word);
		cells_text(&cells, span_of(row->text.data + from, parts->ends[i] - from));
		from = parts->ends[i];
	}
	set_style(v, &cells, style);
	cells_text(&cells, span_skip(row->text, from));
	set_style(v, &cells, NULL);
	buf_char(v->out, '\n');
	if (row->note.len > 0)
		show_plain(v, row->note, style_note);
}

static bool is_word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (unsigned char)c >= 0x80;
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

		changed += word_offset(words, edit->at + edit->remove) - word_offset(words, edit->at);
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

static size_t take_number(size_t *number)
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
		show_plain(v, line, style_note);
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
		rows_add(&v->removed, (struct row){ .text = text,
			                                    .old_number = take_number(&v->old_number) });
		count_down(&v->old_left);
	} else if (sign == '+' && v->new_left > 0) {
		rows_add(&v->added, (struct row){ .text = text,
			                                  .new_number = take_number(&v->new_number) });
		count_down(&v->new_left);
	} else if (sign == ' ' && v->old_left > 0 && v->new_left > 0) {
		struct row row = { .text = text,
			           .old_number = take_number(&v->old_number),
			           .new_number = take_number(&v->new_number) };

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
		struct hunk_header header = read_header(line);

		v->old_left = header.old_count;
		v->new_left = header.new_count;
		v->old_number = header.old_at;
		v->new_number = header.new_at;
		show_plain(v, line, style_hunk);
	} else {
		show_plain(v, line, style_name);
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
		header = read_header(line);
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
		struct span text = span_ends(line, SPAN("\n")) ? span_head(line, line.len - 1) : line;

		if ((v.old_left == 0 && v.new_left == 0 && !span_starts(text, SPAN("\\"))) ||
		    !hunk_line(&v, text))
			other_line(&v, text);
	}
	show_block(&v);
	free(v.removed.items);
	free(v.added.items);
	return !out->overflowed;
}
