/* SPDX-License-Identifier: Apache-2.0 */
/* What vim's operators and puts do to the text. */
#include <utf8proc.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/editor/vim.h"

/* ---- registers ---- */

void vim_registers_release(struct vim_registers *registers)
{
	for (size_t i = 0; i < VIM_REGISTERS; i++)
		free(registers->at[i].text);
	*registers = (struct vim_registers){ 0 };
}

struct vim_register *vim_register(struct vim_registers *registers, uint32_t name)
{
	uint32_t letter = name | 0x20;

	return &registers->at[letter >= 'a' && letter <= 'z' ? letter - 'a' + 1 : 0];
}

static void set_register(struct vim_register *into, struct span text, bool lines)
{
	char *copy = mem_dup(text.data, text.len);

	free(into->text);
	*into = (struct vim_register){ .text = copy, .len = text.len, .lines = lines };
}

/* "A appends to "a, by lines if either is. */
static void append_register(struct vim_register *into, struct span text, bool lines)
{
	_cleanup_buf_ struct buf all = BUF_INIT(2 * DRAFT_BYTES_MAX);

	buf_append(&all, into->text, into->len);
	if (lines && !into->lines)
		buf_char(&all, '\n');
	buf_span(&all, text);
	if (into->lines && !lines)
		buf_char(&all, '\n');
	if (!all.overflowed)
		set_register(into, buf_view(&all), lines || into->lines);
}

void vim_yank(struct vim_registers *registers, uint32_t name, const struct draft *draft,
              const struct vim_region *region)
{
	struct vim_register *named = vim_register(registers, name);
	_cleanup_buf_ struct buf text = BUF_INIT(DRAFT_BYTES_MAX + 1);

	buf_append(&text, draft_view(draft).data + region->from, region->to - region->from);
	if (region->lines)
		buf_char(&text, '\n');
	if (name >= 'A' && name <= 'Z' && named->text)
		append_register(named, buf_view(&text), region->lines);
	else
		set_register(named, buf_view(&text), region->lines);
	if (named != &registers->at[0])
		set_register(&registers->at[0], span_of(named->text, named->len), named->lines);
}

/* ---- operators ---- */

static bool spans_line_end(const struct draft *draft, const struct vim_region *region)
{
	return draft_line_end(draft, region->from) < region->to;
}

void vim_delete(struct draft *draft, const struct vim_region *region, bool change)
{
	size_t from = region->from, to = region->to;

	if (region->lines && !change) {
		if (to < draft->text.len)
			to++;
		else if (from > 0)
			from--;
	}
	if (region->lines && change && spans_line_end(draft, region)) {
		/* Undo leaves vim's caret there. */
		size_t next = draft_line_end(draft, from) + 1, column = draft->caret - from;

		draft_place(draft, next + column < to ? next + column : to);
	}
	draft_replace(draft, from, to, SPAN(""));
	draft->caret = region->lines && !change ? vim_first_nonblank(draft, region->from) : from;
	if (region->lines && !change && region->from > draft->text.len)
		draft->caret = vim_first_nonblank(draft, draft->text.len);
}

static uint32_t other_case(uint32_t c, char how)
{
	utf8proc_int32_t upper = utf8proc_toupper((utf8proc_int32_t)c);
	utf8proc_int32_t lower = utf8proc_tolower((utf8proc_int32_t)c);

	if (how == 'u')
		return (uint32_t)lower;
	if (how == 'U')
		return (uint32_t)upper;
	return (uint32_t)(upper != (utf8proc_int32_t)c ? upper : lower);
}

void vim_change_case(struct draft *draft, const struct vim_region *region, char how)
{
	_cleanup_buf_ struct buf changed = BUF_INIT(2 * DRAFT_BYTES_MAX);
	struct span old = span_of(draft_view(draft).data + region->from, region->to - region->from);
	struct span rest = old;
	struct utf8_char c;
	char bytes[4];
	size_t caret = draft->caret;

	while (rest.len) {
		if ((unsigned char)rest.data[0] == DRAFT_MARK) {
			buf_append(&changed, rest.data, DRAFT_MARK_BYTES);
			rest = span_skip(rest, DRAFT_MARK_BYTES);
			continue;
		}
		utf8_next(&rest, &c);
		buf_append(&changed, bytes, utf8_put(other_case(c.code, how), bytes));
	}
	if (!span_eq(buf_view(&changed), old))
		draft_replace(draft, region->from, region->to, buf_view(&changed));
	draft->caret = caret;
}

/* Appends the line with its indent and `by` columns more or less, as blanks. */
static void add_shifted(struct buf *out, struct span line, int by)
{
	int columns = 0;

	if (line.len == 0)
		return;
	for (; line.len && (line.data[0] == ' ' || line.data[0] == '\t'); line = span_skip(line, 1))
		columns += line.data[0] == '\t' ? TAB_COLUMNS - columns % TAB_COLUMNS : 1;
	columns = columns + by > 0 ? columns + by : 0;
	buf_printf(out, "%*s", columns, "");
	buf_span(out, line);
}

void vim_shift(struct draft *draft, const struct vim_region *region, char how)
{
	int by = TAB_COLUMNS * (int)(region->amount < 100 ? region->amount : 100);
	size_t start = draft_line_start(draft, region->from);
	size_t end = draft_line_end(draft, region->to);
	struct span old = span_of(draft_view(draft).data + start, end - start), rest = old, line;
	_cleanup_buf_ struct buf shifted = BUF_INIT(DRAFT_BYTES_MAX);

	while (line_next(&rest, &line)) {
		add_shifted(&shifted, line_body(line), how == '>' ? by : -by);
		buf_span(&shifted, line_ending(line));
	}
	if (!shifted.overflowed && !span_eq(buf_view(&shifted), old))
		draft_replace(draft, start, end, buf_view(&shifted));
	draft->caret = vim_first_nonblank(draft, start);
}

/* ---- put and join ---- */

/* Text so many times, if a draft has room for it. */
static bool repeat_text(struct buf *out, struct span text, unsigned count)
{
	for (unsigned i = 0; i < count && !out->overflowed; i++)
		buf_span(out, text);
	return !out->overflowed;
}

static bool put_whole_lines(struct draft *draft, struct span text, bool before)
{
	_cleanup_buf_ struct buf lines = BUF_INIT(DRAFT_BYTES_MAX + 1);
	size_t end = draft_line_end(draft, draft->caret), at, first;

	text.len--; /* its last LF */
	if (before) {
		at = first = draft_line_start(draft, draft->caret);
		buf_span(&lines, text);
		buf_char(&lines, '\n');
	} else {
		at = end;
		first = end + 1;
		buf_char(&lines, '\n');
		buf_span(&lines, text);
	}
	if (lines.overflowed || !draft_replace(draft, at, at, buf_view(&lines)))
		return false;
	draft->caret = vim_first_nonblank(draft, first);
	return true;
}

bool vim_put(struct draft *draft, const struct vim_register *text, unsigned count, bool before)
{
	_cleanup_buf_ struct buf all = BUF_INIT(DRAFT_BYTES_MAX);
	size_t at = draft->caret;

	if (!text->text || !text->len ||
	    !repeat_text(&all, span_of(text->text, text->len), count))
		return false;
	if (text->lines)
		return put_whole_lines(draft, buf_view(&all), before);
	if (!before && at < draft->text.len && draft->text.data[at] != '\n')
		at = draft_next(draft, at);
	if (!draft_replace(draft, at, at, buf_view(&all)))
		return false;
	/* On the last character; of several lines on the first. */
	draft->caret = memchr(all.data, '\n', all.len) ? draft_floor(draft, at)
	                                               : draft_previous(draft, draft->caret);
	draft->caret = vim_clamp(draft, draft->caret);
	return true;
}

/* The line end at `end` and the blanks behind it become a blank, or nothing. `piece` is where the
 * line begins that was joined last; returns where the next one does. */
static size_t join_line(struct draft *draft, size_t piece, size_t end)
{
	const char *data = draft->text.data;
	size_t next = end + 1;

	while (next < draft->text.len && (data[next] == ' ' || data[next] == '\t'))
		next++;
	bool nothing = next == draft->text.len || data[next] == '\n' || data[next] == ')';
	bool blank = end > piece && (data[end - 1] == ' ' || data[end - 1] == '\t');
	bool empty = end == draft_line_start(draft, end);
	draft_replace(draft, end, next, empty || nothing || blank ? SPAN("") : SPAN(" "));
	piece = draft->caret;
	draft->caret = vim_clamp(draft, end);
	return piece;
}

bool vim_join(struct draft *draft, unsigned lines)
{
	size_t piece = draft_line_start(draft, draft->caret);
	bool joined = false;

	for (unsigned i = lines < 2 ? 1 : lines - 1; i > 0; i--) {
		size_t end = draft_line_end(draft, draft->caret);

		if (end == draft->text.len)
			break;
		piece = join_line(draft, piece, end);
		joined = true;
	}
	return joined;
}
