/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/unified.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "diff/diff.h"

/* Lines longer than this are not compared word by word, and none once so many
 * pairs of bytes have been compared: what a stranger wrote must not cost seconds. */
#define WORDS_LINE_MAX 1000
#define WORDS_BUDGET ((size_t)100000000)

/* ---- headers ----------------------------------------------------------------- */

static size_t read_decimal(struct span *text)
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
	*ret_at = read_decimal(text);
	*ret_count = 1;
	if (span_starts(*text, SPAN(","))) {
		*text = span_skip(*text, 1);
		*ret_count = read_decimal(text);
	}
	return true;
}

static struct unified_header read_hunk_header(struct span line)
{
	struct unified_header header;
	struct span rest = span_trim(span_skip(line, 2));

	if (read_range(&rest, '-', &header.old_at, &header.old_count)) {
		rest = span_trim(rest);
		if (read_range(&rest, '+', &header.new_at, &header.new_count))
			return header;
	}
	return (struct unified_header){ 0, SIZE_MAX, 0, SIZE_MAX };
}

size_t unified_digits(struct span text)
{
	size_t largest = 0, digits = 1;
	struct span line;

	while (line_next(&text, &line)) {
		struct unified_header header;

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
	for (; largest >= 10; largest /= 10)
		digits++;
	return digits;
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

/* ---- words ------------------------------------------------------------------- */

static bool is_word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

/* The words of a line, one per line: words, runs of blanks, single signs. */
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

static void line_add_end(struct unified_line *line, size_t end)
{
	if (line->end_count == line->end_cap)
		line->ends = mem_grow(line->ends, &line->end_cap, line->end_count + 1,
		                      sizeof(*line->ends));
	line->ends[line->end_count++] = end;
}

/* The bytes of words [0, word): their lines less the line feeds. */
static size_t word_offset(const struct lines *words, size_t word)
{
	return lines_start(words, word) - word;
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
static void compare_words(struct unified *unified, struct unified_line *old,
                          struct unified_line *new)
{
	_cleanup_buf_ struct buf old_text = BUF_INIT(2 * WORDS_LINE_MAX);
	_cleanup_buf_ struct buf new_text = BUF_INIT(2 * WORDS_LINE_MAX);
	_cleanup_lines_ struct lines old_words = { 0 }, new_words = { 0 };
	_cleanup_script_ struct script script = { 0 };
	size_t longer = old->text.len > new->text.len ? old->text.len : new->text.len;
	size_t drift = 0; /* by how many words the new line is ahead, modulo 2^64 */

	if (longer > WORDS_LINE_MAX || old->text.len == 0 || new->text.len == 0 ||
	    unified->words_budget < old->text.len * new->text.len)
		return;
	unified->words_budget -= old->text.len * new->text.len;
	split_words(old->text, &old_text);
	split_words(new->text, &new_text);
	lines_index(&old_words, buf_view(&old_text));
	lines_index(&new_words, buf_view(&new_text));
	diff_lines(&old_words, &new_words, &script);
	if (same_bytes(&old_words, &script) < longer / 3)
		return;
	for (size_t i = 0; i < script.count; i++) {
		const struct edit *edit = &script.edits[i];
		size_t added = lines_count(edit->insert);

		line_add_end(old, word_offset(&old_words, edit->at));
		line_add_end(old, word_offset(&old_words, edit->at + edit->remove));
		line_add_end(new, word_offset(&new_words, edit->at + drift));
		line_add_end(new, word_offset(&new_words, edit->at + drift + added));
		drift += added - edit->remove;
	}
}

/* ---- blocks ------------------------------------------------------------------ */

static void block_clear(struct unified *unified)
{
	for (size_t i = 0; i < unified->count; i++)
		free(unified->lines[i].ends);
	unified->count = 0;
}

static void block_add(struct unified *unified, struct unified_line line)
{
	if (unified->count == unified->cap)
		unified->lines = mem_grow(unified->lines, &unified->cap, unified->count + 1,
		                          sizeof(*unified->lines));
	unified->lines[unified->count++] = line;
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

static struct span without_feed(struct span line)
{
	return span_ends(line, SPAN("\n")) ? span_head(line, line.len - 1) : line;
}

/* The sign of a line that the hunk goes on with; 0: it has ended. */
static char sign_in_hunk(const struct unified *unified, struct span line)
{
	const char sign = line.len > 0 ? line.data[0] : ' ';

	if ((sign == '-' && unified->old_left) || (sign == '+' && unified->new_left) ||
	    (sign == ' ' && unified->old_left && unified->new_left))
		return sign;
	return 0;
}

static void take_hunk_line(struct unified *unified, char sign, struct span line)
{
	struct unified_line row = { .sign = sign, .text = span_skip(line, 1) };

	if (unified->hide_cr && span_ends(row.text, SPAN("\r")))
		row.text.len--;
	if (sign != '+') {
		row.old_number = next_number(&unified->old_number);
		count_down(&unified->old_left);
	}
	if (sign != '-') {
		row.new_number = next_number(&unified->new_number);
		count_down(&unified->new_left);
	}
	block_add(unified, row);
}

/* Removed lines, added ones, and notes after them, as long as they follow each other. */
static void take_changed(struct unified *unified, struct unified_block *ret)
{
	struct span rest = unified->rest, line;

	while (line_next(&rest, &line)) {
		struct span text = without_feed(line);
		char sign = sign_in_hunk(unified, text);

		if (span_starts(text, SPAN("\\")) && unified->count)
			unified->lines[unified->count - 1].note = text;
		else if (sign == '+' || (sign == '-' && unified->count == ret->removed))
			take_hunk_line(unified, sign, text);
		else
			break;
		ret->removed += sign == '-';
		unified->rest = rest;
	}
	for (size_t i = 0; unified->words && i < ret->removed &&
	                   ret->removed + i < unified->count; i++)
		compare_words(unified, &unified->lines[i], &unified->lines[ret->removed + i]);
}

static void take_other(struct unified *unified, struct span text, struct unified_block *ret)
{
	if (span_starts(text, SPAN("\\"))) {
		ret->kind = UNIFIED_NOTE;
	} else {
		ret->kind = span_starts(text, SPAN("@@")) ? UNIFIED_HUNK : UNIFIED_HEADING;
		unified->old_left = unified->new_left = 0;
	}
	if (ret->kind == UNIFIED_HUNK) {
		ret->header = read_hunk_header(text);
		unified->old_left = ret->header.old_count;
		unified->new_left = ret->header.new_count;
		unified->old_number = ret->header.old_at;
		unified->new_number = ret->header.new_at;
	}
	block_add(unified, (struct unified_line){ .text = text });
}

void unified_init(struct unified *unified, struct span text, bool words)
{
	*unified = (struct unified){ .rest = text, .words = words, .words_budget = WORDS_BUDGET,
		                     .hide_cr = is_crlf_diff(text) };
}

bool unified_next(struct unified *unified, struct unified_block *ret)
{
	struct span rest = unified->rest, line, text;
	char sign;

	*ret = (struct unified_block){ .kind = UNIFIED_CHANGED };
	block_clear(unified);
	if (!unified->rest.len)
		return false;
	line_next(&rest, &line);
	text = without_feed(line);
	sign = sign_in_hunk(unified, text);
	if (sign == '-' || sign == '+') {
		take_changed(unified, ret);
	} else {
		unified->rest = rest;
		if (sign == ' ') {
			ret->kind = UNIFIED_SAME;
			take_hunk_line(unified, sign, text);
		} else {
			take_other(unified, text, ret);
		}
	}
	ret->lines = unified->lines;
	ret->count = unified->count;
	return true;
}

void unified_release(struct unified *unified)
{
	block_clear(unified);
	free(unified->lines);
	*unified = (struct unified){ 0 };
}
