/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/markdown/markdown.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/markdown/highlight.h"
#include "tui/markdown/private.h"

enum {
	RULE_COLUMNS = 40,
	WIDTH_LEAST = 4,
	PIECE_BYTES = 4096, /* of a whole text: what is left of a piece is moved with every line */
};

struct markdown {
	unsigned width;
	struct rows *out;    /* while rows are taken */
	struct blocks blocks;

	/* The source from where nothing was open but what `before` says. */
	struct buf source;
	size_t at;           /* of the line that is read */
	size_t line_done;    /* bytes of it that are in the paragraph already */
	bool in_line;        /* there are such bytes, or will be */
	struct blocks before;
	bool before_gap, before_any;
	enum leaf before_last;
	bool lost;           /* not all of that source is there any more */
	size_t fed;          /* bytes of the whole text */

	/* The paragraph that is open: what is not in `line` yet. */
	struct buf text;
	struct row line;     /* the last row of it that may still grow */
	struct inline_out inline_out;
	bool leaf_shown;     /* the leaf that is open has rows */
	enum { JOIN_NONE, JOIN_BLANK, JOIN_BREAK } join; /* before its next line */
	size_t spaces;       /* at the end of what is in `text`, left out */

	struct buf header;   /* LEAF_HEADER: the line; LEAF_TABLE: all lines */
	bool header_in_text; /* a paragraph is open above it */
	struct highlight *highlight;
	size_t blank_code;   /* blank lines of indented code, or of source, that may be its last */

	bool wants_source, is_source; /* markdown_source; how the line is read */
	bool in_fence;       /* of source: a fence of code is open */

	bool gap;            /* a blank line was read since the last leaf */
	bool any;            /* there was a leaf */
	enum leaf last;      /* the leaf before */
	size_t shown, skip;  /* rows since `before`; how many of the next ones were taken already */
};

struct markdown *markdown_new(unsigned width)
{
	struct markdown *md = mem_alloc(1, sizeof(*md));

	md->source.max = md->text.max = md->header.max = ROW_BYTES_MAX;
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
	free(md);
}

void markdown_width(struct markdown *md, unsigned width)
{
	md->width = width < WIDTH_LEAST ? WIDTH_LEAST : width;
}

void markdown_source(struct markdown *md, bool source)
{
	md->wants_source = source;
}

/* ---- rows ---------------------------------------------------------------------- */

static void emit_row(struct markdown *md, struct row *row)
{
	md->shown++;
	if (md->skip > 0) {
		md->skip--;
		row_release(row);
		return;
	}
	rows_take(md->out, row);
}

/* What stands before a row: quotes' borders, and the marks of items that are not shown yet; those
 * are once `first`. */
static void put_block_marks(const struct markdown *md, bool first, struct row *row)
{
	for (unsigned i = 0; i < md->blocks.depth; i++) {
		const struct container *item = &md->blocks.open[i];
		_cleanup_row_ struct row mark = { 0 };

		if (item->quote)
			row_text(&mark, SPAN("│ "), STYLE(ROLE_BORDER));
		else if (item->mark == '.' || item->mark == ')')
			row_printf(&mark, STYLE(ROLE_DIM), "%u%c ", item->number, item->mark);
		else
			row_text(&mark, SPAN("• "), STYLE(ROLE_DIM));
		if (item->quote || (first && !item->shown))
			row_append(row, &mark);
		else
			row_pad(row, row->width + mark.width, STYLE(ROLE_TEXT));
	}
	if (row->width + WIDTH_LEAST > md->width)
		row_clip(row, md->width - WIDTH_LEAST);
}

/* Takes over `text`, behind the marks. */
static void emit_marked(struct markdown *md, struct row *text)
{
	struct row row = { 0 };

	put_block_marks(md, true, &row);
	row_append(&row, text);
	row_release(text);
	emit_row(md, &row);
	for (unsigned i = 0; i < md->blocks.depth; i++)
		md->blocks.open[i].shown = true;
	md->leaf_shown = true;
}

static unsigned text_width(const struct markdown *md)
{
	_cleanup_row_ struct row marks = { 0 };

	put_block_marks(md, false, &marks);
	return md->width - marks.width;
}

/* Appends the line as rows; the last one stays in it when more may follow. */
static void emit_line(struct markdown *md, struct row *line, bool whole)
{
	_cleanup_rows_ struct rows rows = { 0 };

	rows_wrap(&rows, line, text_width(md), NULL, NULL);
	row_release(line);
	for (size_t i = 0; i + !whole < rows.count; i++)
		emit_marked(md, &rows.at[i]);
	if (!whole) {
		*line = rows.at[rows.count - 1];
		rows.at[rows.count - 1] = (struct row){ 0 };
	}
}

/* Appends the blank row between two leaves, within the quotes that go on. */
static void emit_gap(struct markdown *md, unsigned matched)
{
	struct row row = { 0 };

	for (unsigned i = 0; i < matched; i++) {
		if (md->blocks.open[i].quote)
			row_text(&row, row.width > 0 ? SPAN(" │") : SPAN("│"), STYLE(ROLE_BORDER));
	}
	emit_row(md, &row);
}

/* ---- leaves -------------------------------------------------------------------- */

static void line_broken(void *data)
{
	struct markdown *md = data;

	emit_line(md, &md->line, /* whole= */ true);
}

static struct style leaf_style(const struct markdown *md)
{
	for (unsigned i = 0; i < md->blocks.depth; i++)
		if (md->blocks.open[i].quote)
			return STYLE(ROLE_QUOTE);
	return STYLE(ROLE_TEXT);
}

/* "[ ] " and "[x] " in place of a box. */
static struct span take_task(struct markdown *md, struct span text)
{
	const struct container *item =
		md->blocks.depth > 0 ? &md->blocks.open[md->blocks.depth - 1] : NULL;

	if (!item || item->quote || item->shown || md->line.text.len > 0 || text.len < 4 ||
	    text.data[0] != '[' || !memchr(" xX", text.data[1], 3) || text.data[2] != ']' ||
	    text.data[3] != ' ')
		return text;
	row_text(&md->line, text.data[1] == ' ' ? SPAN("☐ ") : SPAN("☑ "), STYLE(ROLE_ACCENT));
	return span_skip(text, 4);
}

/* Shows what of the paragraph's text is certain; all of it at its end. */
static void show_paragraph(struct markdown *md, bool end)
{
	bool grown = false;
	size_t at = 0;

	md->inline_out.line = &md->line;
	md->inline_out.broken = line_broken;
	md->inline_out.data = md;
	md->inline_out.style = leaf_style(md);
	while (at < md->text.len) {
		struct span text = buf_from(&md->text, at);
		bool blank;
		size_t closed = inline_closed(text, &blank);

		if (closed == 0 && !end)
			break;
		if (closed == 0)
			closed = text.len;
		grown = true;
		text = span_head(text, closed);
		inline_text(&md->inline_out, take_task(md, text));
		if (!blank)
			md->inline_out.space = false;
		at += closed;
	}
	if (at > 0) {
		memmove(md->text.data, md->text.data + at, md->text.len - at);
		md->text.len -= at;
	}
	if (end && md->line.text.len > 0)
		emit_line(md, &md->line, true);
	else if (grown && md->line.text.len > 0)
		emit_line(md, &md->line, false);
}

static void add_text(struct markdown *md, struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		const char c = text.data[i];

		if (c == ' ' || c == '\t') {
			md->spaces++;
			continue;
		}
		for (; md->spaces > 0; md->spaces--)
			buf_char(&md->text, ' ');
		buf_char(&md->text, c);
	}
}

/* A line of the paragraph begins. */
static void join_text(struct markdown *md)
{
	static const char hard[] = { ' ', INLINE_BREAK, ' ', '\0' };

	md->spaces = 0;
	if (md->join != JOIN_NONE)
		buf_str(&md->text, md->join == JOIN_BREAK ? hard : " ");
	md->join = JOIN_NONE;
}

/* A line of it ends: two blanks or a backslash there break it. */
static void end_text_line(struct markdown *md)
{
	size_t slashes = 0;

	while (slashes < md->text.len && md->text.data[md->text.len - 1 - slashes] == '\\')
		slashes++;
	md->join = md->spaces >= 2 ? JOIN_BREAK : JOIN_BLANK;
	if (md->spaces == 0 && slashes % 2 == 1) {
		md->text.len--;
		md->join = JOIN_BREAK;
	}
	md->spaces = 0;
}

static void show_table(struct markdown *md)
{
	_cleanup_rows_ struct rows rows = { 0 };

	if (!table_rows(&rows, buf_view(&md->header), text_width(md)))
		rows_text(&rows, buf_view(&md->header), STYLE(ROLE_TEXT), text_width(md));
	for (size_t i = 0; i < rows.count; i++)
		emit_marked(md, &rows.at[i]);
	buf_clear(&md->header);
}

/* The line that was held for a table is text of a paragraph. */
static void header_is_text(struct markdown *md)
{
	md->blocks.leaf = LEAF_PARAGRAPH;
	join_text(md);
	add_text(md, buf_view(&md->header));
	end_text_line(md);
	buf_clear(&md->header);
}

static void end_leaf(struct markdown *md)
{
	if (md->blocks.leaf == LEAF_HEADER)
		header_is_text(md);
	if (md->blocks.leaf == LEAF_PARAGRAPH)
		show_paragraph(md, /* end= */ true);
	else if (md->blocks.leaf == LEAF_TABLE)
		show_table(md);
	highlight_free(md->highlight);
	md->highlight = NULL;
	md->gap |= md->blank_code > 0;
	md->blank_code = 0;
	md->inline_out.space = false;
	md->join = JOIN_NONE;
	md->spaces = 0;
	md->blocks.leaf = LEAF_NONE;
}

static void close_containers(struct markdown *md, unsigned depth)
{
	struct blocks *blocks = &md->blocks;

	while (blocks->depth > depth) {
		const struct container *item = &blocks->open[blocks->depth - 1];

		if (!item->quote && !item->shown) {
			struct row nothing = { 0 };

			emit_marked(md, &nothing); /* an item without text */
		}
		blocks->depth--;
	}
}

/* The numbers of a list's items follow each other, whatever is written. */
static void open_container(struct markdown *md, struct container container)
{
	struct blocks *blocks = &md->blocks;
	const unsigned depth = blocks->depth;

	if (!container.quote) {
		if (blocks->list_mark[depth] == container.mark)
			container.number = blocks->list_number[depth] + 1;
		blocks->list_mark[depth] = container.mark;
		blocks->list_number[depth] = container.number;
	} else {
		blocks->list_mark[depth] = 0;
	}
	blocks->open[blocks->depth++] = container;
	if (blocks->depth < BLOCK_DEPTH_MAX)
		blocks->list_mark[blocks->depth] = 0;
}

/* ---- lines --------------------------------------------------------------------- */

static bool wants_gap(const struct markdown *md, const struct line_shape *shape)
{
	if (!md->any)
		return false;
	if (md->gap)
		return true;
	for (unsigned i = 0; i < shape->matched; i++)
		if (!md->blocks.open[i].quote)
			return false;
	if (shape->matched < md->blocks.depth && shape->opened_count > 0 &&
	    !md->blocks.open[shape->matched].quote && !shape->opened[0].quote)
		return false; /* the next item of a list */
	return shape->leaf == LEAF_HEADING || shape->leaf == LEAF_RULE ||
	       shape->leaf == LEAF_TABLE ||
	       (md->last != LEAF_PARAGRAPH && md->last != LEAF_HEADER);
}

/* Ends what the line does not belong to, and opens its containers. */
static void begin_leaf(struct markdown *md, const struct line_shape *shape)
{
	bool gap;

	end_leaf(md);
	gap = wants_gap(md, shape);
	close_containers(md, shape->matched);
	if (gap)
		emit_gap(md, shape->matched);
	if (shape->opened_count == 0 && shape->matched < BLOCK_DEPTH_MAX)
		md->blocks.list_mark[shape->matched] = 0;
	for (unsigned i = 0; i < shape->opened_count; i++)
		open_container(md, shape->opened[i]);
	md->gap = false;
	md->any = true;
	md->last = shape->leaf;
	md->leaf_shown = false;
}

static void show_heading(struct markdown *md, const struct line_shape *shape)
{
	struct span text = span_trim(span_skip(shape->rest, shape->level));
	struct inline_out out = { .line = &md->line, .style = STYLE_BOLD(ROLE_HEADING) };
	size_t end = text.len;

	while (end > 0 && text.data[end - 1] == '#')
		end--;
	if (end == 0 || text.data[end - 1] == ' ' || text.data[end - 1] == '\t')
		text = span_trim(span_head(text, end)); /* a closing sequence */
	if (shape->level == 1)
		out.style.marks |= MARK_UNDERLINE;
	else if (shape->level > 2)
		out.style.marks |= MARK_ITALIC;
	inline_text(&out, text);
	emit_line(md, &md->line, true);
}

static void show_code(struct markdown *md, const struct line_shape *shape)
{
	struct row row = { 0 };

	for (; md->blank_code > 0; md->blank_code--) {
		struct row blank = { 0 };

		emit_marked(md, &blank);
	}
	if (!md->highlight)
		md->highlight = highlight_new(SPAN(""));
	row_pad(&row, shape->indent, STYLE(ROLE_CODE));
	highlight_line(md->highlight, shape->rest, &row);
	emit_marked(md, &row);
}

static void open_fence(struct markdown *md, const struct line_shape *shape)
{
	struct span info = shape->rest;
	size_t len = 0;

	md->blocks.fence = info.data[0];
	while (len < info.len && info.data[len] == md->blocks.fence)
		len++;
	md->blocks.fence_length = (unsigned)len;
	md->blocks.fence_indent = shape->indent;
	info = span_trim(span_skip(info, len));
	len = 0;
	while (len < info.len && info.data[len] != ' ' && info.data[len] != '\t')
		len++;
	md->highlight = highlight_new(span_head(info, len));
}

static void read_blank(struct markdown *md, const struct line_shape *shape)
{
	if (md->blocks.leaf == LEAF_INDENTED && shape->matched == md->blocks.depth &&
	    shape->opened_count == 0) {
		md->blank_code++;
		return;
	}
	if (shape->opened_count > 0) { /* an item without text, yet */
		begin_leaf(md, shape);
		return;
	}
	end_leaf(md);
	for (unsigned i = shape->matched; i < md->blocks.depth; i++) {
		if (md->blocks.open[i].quote) {
			close_containers(md, i);
			break;
		}
	}
	md->gap = true;
}

static void start_leaf(struct markdown *md, const struct line_shape *shape, bool whole)
{
	struct row row = { 0 };

	begin_leaf(md, shape);
	switch (shape->leaf) {
	case LEAF_HEADING:
		show_heading(md, shape);
		return;
	case LEAF_RULE:
		for (unsigned i = 0; i < RULE_COLUMNS && i < text_width(md); i++)
			row_text(&row, SPAN("─"), STYLE(ROLE_BORDER));
		emit_marked(md, &row);
		return;
	case LEAF_INDENTED:
		show_code(md, shape);
		break;
	case LEAF_FENCE:
		open_fence(md, shape);
		break;
	case LEAF_HEADER:
		buf_span(&md->header, shape->rest);
		md->blocks.cells = shape->cells;
		md->header_in_text = false;
		break;
	default:
		add_text(md, shape->rest);
		if (whole)
			end_text_line(md);
		break;
	}
	md->blocks.leaf = shape->leaf;
}

/* md4c wants three dashes in each cell. */
static void add_dash_row(struct buf *out, struct span row)
{
	for (size_t i = 0; i < row.len; i++) {
		if (row.data[i] != '-')
			buf_char(out, row.data[i]);
		else if (i == 0 || row.data[i - 1] != '-')
			buf_str(out, "---");
	}
}

/* A cell has no other way to more lines than <br>, so there it is one. */
static void add_table_row(struct buf *out, struct span row)
{
	static const struct span breaks[] = { SPAN("<br>"), SPAN("<br/>"), SPAN("<br />") };

	for (size_t at = 0; at < row.len;) {
		size_t skip = 0;

		for (size_t i = 0; i < ARRAY_LEN(breaks); i++)
			if (span_starts(span_skip(row, at), breaks[i]))
				skip = breaks[i].len;
		buf_char(out, skip > 0 ? INLINE_BREAK : row.data[at]);
		at += skip > 0 ? skip : 1;
	}
}

/* The line belongs to what is open. */
static void continue_leaf(struct markdown *md, const struct line_shape *shape, bool whole)
{
	const enum leaf leaf = md->blocks.leaf;

	if (shape->closes) {
		end_leaf(md);
	} else if (shape->leaf == LEAF_FENCE || shape->leaf == LEAF_INDENTED) {
		show_code(md, shape);
	} else if (shape->leaf == LEAF_TABLE) {
		if (leaf == LEAF_HEADER && md->header_in_text) {
			md->blocks.leaf = LEAF_PARAGRAPH;
			begin_leaf(md, &(struct line_shape){ .matched = md->blocks.depth,
			                                     .leaf = LEAF_TABLE });
		}
		md->blocks.leaf = LEAF_TABLE;
		md->last = LEAF_TABLE;
		buf_char(&md->header, '\n');
		if (leaf == LEAF_HEADER)
			add_dash_row(&md->header, shape->rest);
		else
			add_table_row(&md->header, shape->rest);
		if (md->header.len > MARKDOWN_TABLE_MAX)
			end_leaf(md);
	} else {
		if (leaf == LEAF_HEADER)
			header_is_text(md);
		if (shape->leaf == LEAF_HEADER) {
			buf_span(&md->header, shape->rest);
			md->blocks.cells = shape->cells;
			md->header_in_text = true;
			md->blocks.leaf = LEAF_HEADER;
			return;
		}
		join_text(md);
		add_text(md, shape->rest);
		if (whole)
			end_text_line(md);
	}
}

/* Reads a line, or its beginning (not `whole`). False: it has to be whole. */
static bool read_line(struct markdown *md, struct span line, bool whole)
{
	struct line_shape shape = block_read(&md->blocks, line);

	if (!whole && !block_is_text(&shape, line))
		return false;
	if (shape.leaf == LEAF_BLANK)
		read_blank(md, &shape);
	else if (shape.goes_on)
		continue_leaf(md, &shape, whole);
	else
		start_leaf(md, &shape, whole);
	return true;
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
	if (md->in_line || md->is_source == md->wants_source || md->in_fence ||
	    md->blocks.leaf != LEAF_NONE)
		return;
	if (!md->is_source) {
		if (md->blocks.depth > 0 && !md->gap)
			return;
		close_containers(md, 0);
		set_before(md);
	} else {
		md->gap |= md->blank_code > 0;
		md->blank_code = 0;
		md->last = LEAF_PARAGRAPH;
	}
	md->is_source = md->wants_source;
}

/* What is left of the blank lines before a line that is not. */
static void begin_source_line(struct markdown *md, struct span line)
{
	const struct span text = span_trim(line);

	if (md->gap && md->any && !md->blank_code)
		md->blank_code = 1;
	for (; md->blank_code > 0; md->blank_code--) {
		struct row blank = { 0 };

		emit_row(md, &blank);
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
			emit_line(md, &md->line, /* whole= */ false);
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
		emit_line(md, &md->line, whole);
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
		md->in_line = len >= BLOCK_HEAD_BYTES && read_line(md, head, false);
		if (!md->in_line && !whole)
			return false;
		if (!md->in_line) {
			read_line(md, line, true);
			finish_line(md, md->at + len + (newline ? 1 : 0));
			return true;
		}
		md->line_done = head.len;
	}
	add_text(md, span_skip(line, md->line_done));
	md->line_done = line.len > md->line_done ? line.len : md->line_done;
	if (!whole)
		return false;
	end_text_line(md);
	finish_line(md, md->at + len + (newline ? 1 : 0));
	return true;
}

static void read_all(struct markdown *md, struct rows *out, bool end)
{
	md->out = out;
	while (read_source(md, end))
		;
	if (!md->is_source && (md->blocks.leaf == LEAF_PARAGRAPH ||
	                       (md->blocks.leaf == LEAF_HEADER && md->header_in_text)))
		show_paragraph(md, false);
	md->out = NULL;
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

void markdown_take(struct markdown *md, struct rows *out)
{
	read_all(md, out, /* end= */ false);
	limit_source(md);
}

void markdown_end(struct markdown *md, struct rows *out)
{
	read_all(md, out, /* end= */ true);
	md->out = out;
	end_leaf(md);
	close_containers(md, 0);
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
		markdown_take(md, out);
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
