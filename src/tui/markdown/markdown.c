/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/markdown/markdown.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/markdown/highlight.h"
#include "tui/markdown/private.h"

enum {
	PIECE_BYTES = 4096, /* of a whole text: what is left of a piece is moved with every line */
};

struct markdown *markdown_new(unsigned width)
{
	struct markdown *md = mem_alloc(1, sizeof(*md));

	md->source.max = md->text.max = md->header.max = md->code.max = ROW_BYTES_MAX;
	markdown_width(md, width);
	return md;
}

void markdown_free(struct markdown *md)
{
	if (!md)
		return;
	buf_release(&md->source);
	buf_release(&md->text);
	buf_release(&md->header);
	row_release(&md->line);
	highlight_free(md->highlight);
	buf_release(&md->code);
	free(md->code_lines);
	free(md);
}

void markdown_width(struct markdown *md, unsigned width)
{
	md->width = width < WIDTH_LEAST ? WIDTH_LEAST : width;
}

void markdown_source(struct markdown *md, bool source)
{
	md->source_asked = source;
}

/* ---- the text ------------------------------------------------------------------ */

/* What was read need not be read again, for nothing of it can be forgotten. */
static void set_before(struct markdown *md)
{
	if (md->blocks.leaf == LEAF_PARAGRAPH || md->blocks.leaf == LEAF_HEADER ||
	    md->blocks.leaf == LEAF_TABLE)
		return;
	memmove(md->source.data, md->source.data + md->at, md->source.len - md->at);
	md->source.len -= md->at;
	md->at = 0;
	md->before = md->blocks;
	md->before_gap = md->gap;
	md->before_any = md->any;
	md->before_last = md->last;
	md->lost = false;
	md->shown = 0;
}

/* The line that is read ends before `end`; what follows begins at `next`. */
static void finish_line(struct markdown *md, size_t next)
{
	md->at = next;
	md->in_line = false;
	md->line_done = 0;
	set_before(md);
}

/* ---- source --------------------------------------------------------------------- */

/* The next line may be shown in another way than those before. */
static void choose_form(struct markdown *md)
{
	if (md->in_line || md->is_source == md->source_asked || md->in_fence ||
	    md->blocks.leaf != LEAF_NONE)
		return;
	if (!md->is_source) {
		if (md->blocks.depth > 0 && !md->gap)
			return;
		render_close_containers(md, 0);
		set_before(md);
	} else {
		md->gap |= md->blank_code > 0;
		md->blank_code = 0;
		md->last = LEAF_PARAGRAPH;
	}
	md->is_source = md->source_asked;
}

/* What is left of the blank lines before a line that is not. */
static void begin_source_line(struct markdown *md, struct span line)
{
	const struct span text = span_trim(line);

	if (md->gap && md->any && !md->blank_code)
		md->blank_code = 1;
	for (; md->blank_code > 0; md->blank_code--) {
		struct row blank = { 0 };

		render_row(md, &blank);
	}
	if (span_starts(text, SPAN("```")) || span_starts(text, SPAN("~~~")))
		md->in_fence = !md->in_fence;
	md->gap = false;
	md->any = true;
	set_before(md); /* a line that is forgotten leaves these rows */
	md->blocks.leaf = LEAF_PARAGRAPH;
	md->in_line = true;
}

/* How much of a line that goes on may be shown: up to its last blanks, which are shown with what
 * follows them, or not at all at the end of a row. */
static size_t certain_source(struct span text)
{
	const char *blank = text.len ? memrchr(text.data, ' ', text.len) : NULL;
	const char *tab = text.len ? memrchr(text.data, '\t', text.len) : NULL;
	const char *last = !tab || (blank && blank > tab) ? blank : tab;
	size_t len = last ? (size_t)(last - text.data) : 0;

	while (len > 0 && (text.data[len - 1] == ' ' || text.data[len - 1] == '\t'))
		len--;
	return len || text.len <= MARKDOWN_LINE_MAX ? len :
	                                              utf8_head(text, MARKDOWN_LINE_MAX).len;
}

/* A tab counts from the beginning of the row that it is in, however the line was cut. */
static void add_source(struct markdown *md, struct span text)
{
	while (text.len > 0) {
		const char *tab = memchr(text.data + 1, '\t', text.len - 1);
		const size_t len = tab ? (size_t)(tab - text.data) : text.len;

		row_text(&md->line, span_head(text, len), STYLE(ROLE_TEXT));
		if (tab && md->line.text.len > 0)
			render_wrapped(md, &md->line, /* whole= */ false);
		text = span_skip(text, len);
	}
}

/* Shows a line, or its beginning (not `whole`). */
static void show_source(struct markdown *md, struct span line, bool whole)
{
	struct span text;

	if (!md->in_line && span_trim(line).len == 0) {
		md->blank_code += whole;
		return;
	}
	if (!md->in_line && !whole && line.len < BLOCK_HEAD_BYTES)
		return;
	if (!md->in_line)
		begin_source_line(md, line);
	text = span_skip(line, md->line_done);
	if (!whole)
		text.len = certain_source(text);
	add_source(md, text);
	md->line_done += text.len;
	if (whole || md->line.text.len > 0)
		render_wrapped(md, &md->line, whole);
	if (whole)
		md->blocks.leaf = LEAF_NONE;
}

/* ---- lines of either form ------------------------------------------------------- */

/* Reads the line at md->at as far as it is there; false when more is needed. */
static bool read_source(struct markdown *md, bool end)
{
	struct span rest, line;
	const char *newline;
	size_t len;
	bool whole;

	choose_form(md);
	rest = buf_from(&md->source, md->at);
	newline = rest.len > 0 ? memchr(rest.data, '\n', rest.len) : NULL;
	len = newline ? (size_t)(newline - rest.data) : rest.len;
	whole = newline || end;
	if (rest.len == 0)
		return false;
	if (!md->in_line && !whole && len < BLOCK_HEAD_BYTES)
		return false;
	if (!md->in_line && len > MARKDOWN_LINE_MAX) {
		len = MARKDOWN_LINE_MAX;
		whole = true;
		newline = NULL;
	}
	line = span_head(rest, len);
	if (span_ends(line, SPAN("\r")))
		line.len--; /* or LF follows */
	if (md->is_source) {
		show_source(md, line, whole);
		if (whole)
			finish_line(md, md->at + len + (newline ? 1 : 0));
		return whole;
	}
	if (!md->in_line) {
		struct span head = len > BLOCK_HEAD_BYTES ? span_head(line, BLOCK_HEAD_BYTES)
		                                          : line;

		/* Long lines are read by their beginning in any case, the same for every cut. */
		md->in_line = len >= BLOCK_HEAD_BYTES && render_line_start(md, head);
		if (!md->in_line && !whole)
			return false;
		if (!md->in_line) {
			render_line(md, line);
			finish_line(md, md->at + len + (newline ? 1 : 0));
			return true;
		}
		md->line_done = head.len;
	}
	render_text(md, span_skip(line, md->line_done));
	md->line_done = line.len > md->line_done ? line.len : md->line_done;
	if (!whole)
		return false;
	render_end_text_line(md);
	finish_line(md, md->at + len + (newline ? 1 : 0));
	return true;
}

/* Reads what is there, or as much of it as may be coloured in one go; false: that was not all. */
static bool read_some(struct markdown *md, struct rows *out, bool end)
{
	bool more = true;

	md->out = out;
	while (md->code.len + md->code_count < MARKDOWN_CODE_MAX && (more = read_source(md, end)))
		;
	render_code(md);
	if (!md->is_source && (md->blocks.leaf == LEAF_PARAGRAPH ||
	                       (md->blocks.leaf == LEAF_HEADER && md->header_in_text)))
		render_paragraph(md);
	md->out = NULL;
	return !more;
}

void markdown_feed(struct markdown *md, struct span piece)
{
	if (buf_span(&md->source, piece))
		md->fed += piece.len;
	md->source.overflowed = false;
}

/* Forgets what is open. */
static void clear_leaf(struct markdown *md)
{
	buf_clear(&md->text);
	buf_clear(&md->header);
	row_release(&md->line);
	highlight_free(md->highlight);
	md->highlight = NULL;
	md->at = md->line_done = md->spaces = md->blank_code = 0;
	md->in_line = md->inline_out.space = md->leaf_shown = false;
	md->join = JOIN_NONE;
}

static void clear_text(struct markdown *md)
{
	clear_leaf(md);
	buf_clear(&md->source);
	md->blocks = md->before = (struct blocks){ 0 };
	md->shown = md->skip = 0;
	md->gap = md->before_gap = md->lost = md->in_fence = false;
	md->before_any = md->any;
	md->before_last = md->last;
}

/* Beyond MARKDOWN_SOURCE_MAX only the rest of the line is kept. */
static void limit_source(struct markdown *md)
{
	size_t drop = md->at + md->line_done;

	if (md->source.len <= MARKDOWN_SOURCE_MAX || drop == 0)
		return;
	memmove(md->source.data, md->source.data + drop, md->source.len - drop);
	md->source.len -= drop;
	md->at = md->line_done = 0;
	md->lost = true;
}

bool markdown_take(struct markdown *md, struct rows *out)
{
	const bool all = read_some(md, out, /* end= */ false);

	limit_source(md);
	return all;
}

void markdown_end(struct markdown *md, struct rows *out)
{
	while (!read_some(md, out, /* end= */ true))
		;
	md->out = out;
	render_end_leaf(md);
	render_close_containers(md, 0);
	md->out = NULL;
	clear_text(md);
	md->any = false;
	md->fed = 0;
}

size_t markdown_held(const struct markdown *md)
{
	const enum leaf leaf = md->blocks.leaf;
	const size_t unread = md->source.len - md->at - md->line_done;
	const size_t part = unread + md->spaces + md->text.len + md->line.text.len +
	                    md->header.len;

	if (leaf != LEAF_PARAGRAPH && leaf != LEAF_HEADER && leaf != LEAF_TABLE)
		return unread;
	/* Of a paragraph with rows: what is not in one yet; marks of emphasis do not count. */
	if (md->lost)
		return part < md->fed ? part : md->fed;
	/* Escapes are longer than what they stand for. */
	return md->leaf_shown && part < md->source.len ? part : md->source.len;
}

size_t markdown_forget(struct markdown *md, size_t bytes)
{
	const size_t held = markdown_held(md);
	const enum leaf leaf = md->blocks.leaf;
	size_t shown = md->shown;

	if (bytes == 0)
		return 0;
	if (bytes > held || md->lost) {
		bytes = bytes < md->fed ? bytes : md->fed;
		md->fed -= bytes;
		clear_text(md);
		md->gap = true;
		return bytes > held ? bytes - held : 0;
	}
	md->fed -= bytes;
	md->source.len -= bytes;
	if (leaf != LEAF_PARAGRAPH && leaf != LEAF_HEADER && leaf != LEAF_TABLE)
		return 0;
	/* Read again from where nothing was open; rows that were taken already are left out. */
	clear_leaf(md);
	md->blocks = md->before;
	md->gap = md->before_gap;
	md->any = md->before_any;
	md->last = md->before_last;
	md->skip = shown > md->skip ? shown : md->skip;
	md->shown = 0;
	return 0;
}

static void whole_text(struct span text, unsigned width, bool source, struct rows *out)
{
	struct markdown *md = markdown_new(width);

	markdown_source(md, source);
	while (text.len > 0) {
		struct span piece = span_head(text, PIECE_BYTES);

		markdown_feed(md, piece);
		while (!markdown_take(md, out))
			;
		text = span_skip(text, piece.len);
	}
	markdown_end(md, out);
	markdown_free(md);
}

void markdown_rows(struct span text, unsigned width, struct rows *out)
{
	whole_text(text, width, false, out);
}

void markdown_source_rows(struct span text, unsigned width, struct rows *out)
{
	whole_text(text, width, true, out);
}
