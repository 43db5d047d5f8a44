/* SPDX-License-Identifier: Apache-2.0 */
/* Markdown that is rendered: rows of lines, given what is open.
 *
 * Not here: how a text is cut into lines, what of it is kept and forgotten, and lines that are
 * shown as source (markdown.c). */
#include <string.h>

#include "base/mem.h"
#include "tui/markdown/highlight.h"
#include "tui/markdown/markdown.h"
#include "tui/markdown/private.h"

enum {
	RULE_COLUMNS = 40,
};

/* ---- rows ---------------------------------------------------------------------- */

void render_row(struct markdown *md, struct row *row)
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
	render_row(md, &row);
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

void render_wrapped(struct markdown *md, struct row *line, bool whole)
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
	render_row(md, &row);
}

/* ---- leaves -------------------------------------------------------------------- */

static void line_broken(void *data)
{
	struct markdown *md = data;

	render_wrapped(md, &md->line, /* whole= */ true);
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
		render_wrapped(md, &md->line, true);
	else if (grown && md->line.text.len > 0)
		render_wrapped(md, &md->line, false);
}

void render_paragraph(struct markdown *md)
{
	show_paragraph(md, /* end= */ false);
}

void render_text(struct markdown *md, struct span text)
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

void render_end_text_line(struct markdown *md)
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
	render_text(md, buf_view(&md->header));
	render_end_text_line(md);
	buf_clear(&md->header);
}

void render_end_leaf(struct markdown *md)
{
	if (md->blocks.leaf == LEAF_HEADER)
		header_is_text(md);
	if (md->blocks.leaf == LEAF_PARAGRAPH)
		show_paragraph(md, /* end= */ true);
	else if (md->blocks.leaf == LEAF_TABLE)
		show_table(md);
	render_code(md);
	highlight_free(md->highlight);
	md->highlight = NULL;
	md->gap |= md->blank_code > 0;
	md->blank_code = 0;
	md->inline_out.space = false;
	md->join = JOIN_NONE;
	md->spaces = 0;
	md->blocks.leaf = LEAF_NONE;
}

void render_close_containers(struct markdown *md, unsigned depth)
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

static bool needs_gap(const struct markdown *md, const struct line_shape *shape)
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

	render_end_leaf(md);
	gap = needs_gap(md, shape);
	render_close_containers(md, shape->matched);
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
	render_wrapped(md, &md->line, true);
}

/* The row of a line of code, without the code: that is coloured when all lines are known that are
 * there (render_code). */
static void show_code(struct markdown *md, const struct line_shape *shape)
{
	struct row row = { 0 };
	size_t before;

	for (; md->blank_code > 0; md->blank_code--) {
		struct row blank = { 0 };

		emit_marked(md, &blank);
	}
	if (!md->highlight)
		md->highlight = highlight_new(SPAN(""));
	before = md->out->count;
	emit_marked(md, &row);
	highlight_add(md->highlight, shape->rest);
	buf_span(&md->code, shape->rest);
	md->code_lines = mem_grow(md->code_lines, &md->code_cap, md->code_count + 1,
	                          sizeof(*md->code_lines));
	md->code_lines[md->code_count++] = (struct code_line){
		.row = md->out->count > before ? before : SIZE_MAX,
		.indent = shape->indent, .end = md->code.len,
	};
}

void render_code(struct markdown *md)
{
	size_t from = 0;

	for (size_t i = 0; i < md->code_count; i++) {
		const struct code_line *line = &md->code_lines[i];
		_cleanup_row_ struct row row = { 0 };

		row_pad(&row, line->indent, STYLE(ROLE_CODE));
		highlight_line(md->highlight,
		               span_head(buf_from(&md->code, from), line->end - from), &row);
		if (line->row != SIZE_MAX)
			row_append(&md->out->at[line->row], &row);
		from = line->end;
	}
	md->code_count = 0;
	buf_clear(&md->code);
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
	render_end_leaf(md);
	for (unsigned i = shape->matched; i < md->blocks.depth; i++) {
		if (md->blocks.open[i].quote) {
			render_close_containers(md, i);
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
		render_text(md, shape->rest);
		if (whole)
			render_end_text_line(md);
		break;
	}
	md->blocks.leaf = shape->leaf;
}

/* md4c requires three dashes in each cell. */
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
		render_end_leaf(md);
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
			render_end_leaf(md);
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
		render_text(md, shape->rest);
		if (whole)
			render_end_text_line(md);
	}
}

static void read_line(struct markdown *md, const struct line_shape *shape, bool whole)
{
	if (shape->leaf == LEAF_BLANK)
		read_blank(md, shape);
	else if (shape->goes_on)
		continue_leaf(md, shape, whole);
	else
		start_leaf(md, shape, whole);
}

void render_line(struct markdown *md, struct span line)
{
	const struct line_shape shape = block_read(&md->blocks, line);

	read_line(md, &shape, /* whole= */ true);
}

bool render_line_start(struct markdown *md, struct span line)
{
	const struct line_shape shape = block_read(&md->blocks, line);

	if (!block_is_text(&shape, line))
		return false;
	read_line(md, &shape, /* whole= */ false);
	return true;
}
