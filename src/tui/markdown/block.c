/* SPDX-License-Identifier: Apache-2.0 */
/* What a line of Markdown is (CommonMark 0.31 section 4 and 5, GitHub's tables), read without
 * looking at what follows; markdown.h says where that makes a difference. */
#include <string.h>

#include "tui/markdown/private.h"

/* A line that is read from the left; tabs count to the next multiple of four columns. */
struct block_cursor {
	struct span rest;
	unsigned column; /* of the rest's first byte */
	unsigned owed;   /* columns of a tab before it that are not used yet */
};

static unsigned cursor_indent(const struct block_cursor *cursor)
{
	unsigned column = cursor->column;

	for (size_t i = 0; i < cursor->rest.len; i++) {
		if (cursor->rest.data[i] == ' ')
			column++;
		else if (cursor->rest.data[i] == '\t')
			column += 4 - column % 4;
		else
			break;
	}
	return column - cursor->column + cursor->owed;
}

/* Skips up to `count` columns of white space. */
static void cursor_skip(struct block_cursor *cursor, unsigned count)
{
	while (count > 0) {
		if (cursor->owed > 0) {
			cursor->owed--;
		} else if (cursor->rest.len > 0 && cursor->rest.data[0] == ' ') {
			cursor->rest = span_skip(cursor->rest, 1);
			cursor->column++;
		} else if (cursor->rest.len > 0 && cursor->rest.data[0] == '\t') {
			unsigned width = 4 - cursor->column % 4;

			cursor->rest = span_skip(cursor->rest, 1);
			cursor->column += width;
			cursor->owed = width - 1;
		} else {
			return;
		}
		count--;
	}
}

/* Skips bytes that are no white space. */
static void cursor_take(struct block_cursor *cursor, size_t bytes)
{
	cursor->rest = span_skip(cursor->rest, bytes);
	cursor->column += (unsigned)bytes;
}

/* The text after white space. */
static struct span cursor_text(struct block_cursor cursor)
{
	cursor_skip(&cursor, cursor_indent(&cursor));
	return cursor.rest;
}

static size_t count_same(struct span text, char c)
{
	size_t len = 0;

	while (len < text.len && text.data[len] == c)
		len++;
	return len;
}

static bool is_rule(struct span text)
{
	size_t count = 0;

	if (text.len == 0 || !memchr("-*_", text.data[0], 3))
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == text.data[0])
			count++;
		else if (text.data[i] != ' ' && text.data[i] != '\t')
			return false;
	}
	return count >= 3;
}

static unsigned heading_level(struct span text)
{
	size_t level = count_same(text, '#');

	if (level < 1 || level > 6 ||
	    (level < text.len && text.data[level] != ' ' && text.data[level] != '\t'))
		return 0;
	return (unsigned)level;
}

/* The length of the fence that the text begins with; 0: none. */
static size_t fence_length(struct span text)
{
	size_t len = text.len > 0 ? count_same(text, text.data[0]) : 0;

	if (len < 3 || (text.data[0] != '`' && text.data[0] != '~'))
		return 0;
	if (text.data[0] == '`' && memchr(text.data + len, '`', text.len - len))
		return 0;
	return len;
}

/* The bytes of a list's mark that the text begins with; 0: none. */
static size_t read_mark(struct span text, struct container *ret)
{
	size_t len = 0;
	unsigned number = 0;

	if (text.len == 0)
		return 0;
	if (memchr("-+*", text.data[0], 3)) {
		ret->mark = text.data[0];
		len = 1;
	} else {
		while (len < text.len && len < 9 && text.data[len] >= '0' && text.data[len] <= '9')
			number = number * 10 + (unsigned)(text.data[len++] - '0');
		if (len == 0 || len == text.len ||
		    (text.data[len] != '.' && text.data[len] != ')'))
			return 0;
		ret->mark = text.data[len++];
		ret->number = number;
	}
	return len == text.len || text.data[len] == ' ' || text.data[len] == '\t' ? len : 0;
}

/* How many cells a row of a table has. */
static unsigned count_cells(struct span text)
{
	unsigned bars = 0;

	text = span_trim(text);
	if (span_starts(text, SPAN("|")))
		text = span_skip(text, 1);
	if (span_ends(text, SPAN("|")) && !span_ends(text, SPAN("\\|")))
		text.len--;
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '\\')
			i++;
		else if (text.data[i] == '|')
			bars++;
	}
	return bars + 1;
}

static bool is_dash_row(struct span text, unsigned cells)
{
	for (size_t i = 0; i < text.len; i++) {
		if (!memchr("|:- \t", text.data[i], 5))
			return false;
	}
	return text.len > 0 && memchr(text.data, '-', text.len) &&
	       memchr(text.data, '|', text.len) &&
	       count_cells(text) == cells;
}

static unsigned match_containers(const struct blocks *blocks, struct block_cursor *cursor)
{
	unsigned matched = 0;

	for (; matched < blocks->depth; matched++) {
		const struct container *container = &blocks->open[matched];
		const unsigned indent = cursor_indent(cursor);
		const struct span text = cursor_text(*cursor);

		if (container->quote) {
			if (indent > 3 || !span_starts(text, SPAN(">")))
				break;
			cursor_skip(cursor, indent);
			cursor_take(cursor, 1);
			cursor_skip(cursor, 1);
		} else if (text.len > 0) {
			if (indent < container->indent)
				break;
			cursor_skip(cursor, container->indent);
		}
	}
	return matched;
}

/* Opens what containers the line begins with. `in_text`: in a paragraph, which not every list may
 * interrupt. */
static void open_containers(const struct blocks *blocks, struct block_cursor *cursor, bool in_text,
                            struct line_shape *shape)
{
	while (shape->matched + shape->opened_count < BLOCK_DEPTH_MAX) {
		struct container next = { 0 };
		const unsigned indent = cursor_indent(cursor);
		const struct span text = cursor_text(*cursor);
		size_t mark;

		if (indent > 3 || is_rule(text))
			return;
		in_text = in_text && shape->matched == blocks->depth && shape->opened_count == 0;
		if (span_starts(text, SPAN(">"))) {
			next.quote = true;
			cursor_skip(cursor, indent);
			cursor_take(cursor, 1);
			cursor_skip(cursor, 1);
		} else if ((mark = read_mark(text, &next)) > 0) {
			unsigned blanks;
			const bool counts = next.mark == '.' || next.mark == ')';

			if (in_text && (span_is_blank(span_skip(text, mark)) ||
			                (counts && next.number != 1)))
				return;
			cursor_skip(cursor, indent);
			cursor_take(cursor, mark);
			blanks = cursor_indent(cursor);
			if (blanks > 4 || cursor_text(*cursor).len == 0)
				blanks = 1;
			cursor_skip(cursor, blanks);
			next.indent = indent + (unsigned)mark + blanks;
		} else {
			return;
		}
		shape->opened[shape->opened_count++] = next;
	}
}

/* A line of a fence that goes on. */
static void read_fenced(const struct blocks *blocks, struct block_cursor *cursor,
                        struct line_shape *shape)
{
	const struct span text = cursor_text(*cursor);
	const size_t run = count_same(text, blocks->fence);

	shape->leaf = LEAF_FENCE;
	shape->goes_on = true;
	shape->closes = run >= blocks->fence_length && cursor_indent(cursor) <= 3 &&
	                span_is_blank(span_skip(text, run));
	cursor_skip(cursor, blocks->fence_indent);
	shape->indent = cursor->owed;
	shape->rest = cursor->rest;
}

static void read_leaf(const struct blocks *blocks, struct block_cursor *cursor, struct span line,
                      bool in_text, struct line_shape *shape)
{
	const bool here = shape->matched == blocks->depth && shape->opened_count == 0;
	const unsigned indent = cursor_indent(cursor);
	const struct span text = cursor_text(*cursor);
	const size_t head = (size_t)(text.data - line.data);

	shape->rest = text;
	if (indent > 3 && !(in_text && shape->opened_count == 0)) {
		shape->leaf = LEAF_INDENTED;
		shape->goes_on = here && blocks->leaf == LEAF_INDENTED;
		cursor_skip(cursor, 4);
		shape->indent = cursor->owed;
		shape->rest = cursor->rest;
	} else if (indent <= 3 && (shape->level = heading_level(text)) > 0) {
		shape->leaf = LEAF_HEADING;
	} else if (indent <= 3 && is_rule(text)) {
		shape->leaf = LEAF_RULE;
	} else if (indent <= 3 && fence_length(text) > 0) {
		shape->leaf = LEAF_FENCE;
		shape->indent = indent;
	} else if (here && blocks->leaf == LEAF_HEADER && is_dash_row(text, blocks->cells)) {
		shape->leaf = LEAF_TABLE;
		shape->goes_on = true;
	} else if (here && blocks->leaf == LEAF_TABLE) {
		shape->leaf = LEAF_TABLE;
		shape->goes_on = true;
	} else {
		/* Text may go on in containers whose marks are left out. */
		shape->leaf = LEAF_PARAGRAPH;
		shape->goes_on = in_text && shape->opened_count == 0;
		if (head < BLOCK_HEAD_BYTES &&
		    memchr(text.data, '|', span_head(text, BLOCK_HEAD_BYTES - head).len) &&
		    (!shape->goes_on || shape->matched == blocks->depth)) {
			shape->leaf = LEAF_HEADER;
			shape->cells = count_cells(text);
		}
	}
}

struct line_shape block_read(const struct blocks *blocks, struct span line)
{
	const bool in_text = blocks->leaf == LEAF_PARAGRAPH || blocks->leaf == LEAF_HEADER;
	struct line_shape shape = { 0 };
	struct block_cursor cursor = { .rest = line };

	shape.matched = match_containers(blocks, &cursor);
	if (blocks->leaf == LEAF_FENCE && shape.matched == blocks->depth) {
		read_fenced(blocks, &cursor, &shape);
		return shape;
	}
	open_containers(blocks, &cursor, in_text, &shape);
	if (cursor_text(cursor).len == 0) {
		shape.leaf = LEAF_BLANK;
		return shape;
	}
	read_leaf(blocks, &cursor, line, in_text, &shape);
	return shape;
}

bool block_is_text(const struct line_shape *shape, struct span head)
{
	/* What the beginning of any other leaf is made of. */
	static const char marks[] = " \t>-+*_=~`#:.)0123456789";
	size_t at = 0;

	while (at < head.len && head.data[at] && strchr(marks, head.data[at]))
		at++;
	head = span_head(head, at + 1);
	return shape->leaf == LEAF_PARAGRAPH && at + 1 == head.len &&
	       !memchr(head.data, '#', at) && !memmem(head.data, at, "```", 3) &&
	       !memmem(head.data, at, "~~~", 3);
}
