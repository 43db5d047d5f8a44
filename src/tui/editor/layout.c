/* SPDX-License-Identifier: Apache-2.0 */
/* Where the draft's clusters stand in rows: wrapping, columns, moving up and down, drawing. */
#include "base/mem.h"
#include "base/text.h"
#include "tui/editor/private.h"
#include "tui/text/width.h"

/* Narrower ones are laid out as if they had so many columns. */
enum { LAYOUT_COLUMNS_MIN = 4 };

void layout_release(struct draft_layout *layout)
{
	free(layout->rows);
	*layout = (struct draft_layout){ 0 };
}

static bool is_ascii_cluster(struct span bytes)
{
	return bytes.len == 1 && bytes.data[0] >= ' ' && bytes.data[0] < 0x7f;
}

/* Letters that row_text shows as they are when they stand alone: known without asking it. */
static bool is_plain_letter(struct span bytes)
{
	static const uint32_t ranges[][2] = {
		{ 0xa1, 0xac }, { 0xae, 0x24f }, { 0x400, 0x45f }, { 0x3041, 0x3096 },
		{ 0x30a1, 0x30fa }, { 0x4e00, 0x9fff }, { 0xac00, 0xd7a3 },
	};
	struct utf8_char c = utf8_first(bytes);

	for (size_t i = 0; c.bytes.len == bytes.len && i < ARRAY_LEN(ranges); i++)
		if (c.code >= ranges[i][0] && c.code <= ranges[i][1])
			return true;
	return false;
}

/* Columns of the cluster [at, next), which begins in `column` of its row. */
static unsigned cluster_columns(const struct draft *draft, size_t at, size_t next, unsigned column,
                                unsigned columns)
{
	struct span bytes = span_of(draft->text.data + at, next - at);
	const struct pasted *paste = draft_paste_at(draft, at);
	unsigned width;

	if (paste) {
		width = width_of(span_str(paste->label));
		return width < columns ? width : columns;
	}
	if (bytes.data[0] == '\t' && bytes.len == 1)
		return TAB_COLUMNS - column % TAB_COLUMNS;
	if (is_ascii_cluster(bytes))
		return 1;
	if (is_plain_letter(bytes))
		return width_of(bytes);
	_cleanup_row_ struct row shown = { 0 };
	row_text(&shown, bytes, STYLE(ROLE_TEXT));
	return shown.width < columns ? shown.width : columns;
}

static void add_visual(struct draft_layout *layout, size_t from, size_t to)
{
	if (layout->count == layout->cap)
		layout->rows = mem_grow(layout->rows, &layout->cap, layout->count + 1,
		                        sizeof(*layout->rows));
	layout->rows[layout->count++] = (struct visual){ from, to };
}

/* Breaks one line, preferably behind blanks. */
static void wrap_line(struct draft_layout *layout, const struct draft *draft, size_t at, size_t end)
{
	size_t from = at, break_at = at;
	unsigned column = 0;

	while (at < end) {
		size_t next = draft_next(draft, at);
		unsigned width = cluster_columns(draft, at, next, column, layout->columns);

		if (column + width > layout->columns && at > from) {
			size_t cut = break_at > from ? break_at : at;

			add_visual(layout, from, cut);
			from = break_at = at = cut;
			column = 0;
			continue;
		}
		column += width;
		if (draft->text.data[at] == ' ' || draft->text.data[at] == '\t')
			break_at = next;
		at = next;
	}
	add_visual(layout, from, end);
}

void layout_refresh(struct editor *editor)
{
	struct draft_layout *layout = &editor->layout;
	const struct draft *draft = &editor->draft;
	size_t at = 0;

	if (layout->valid && layout->version == draft->version)
		return;
	if (!layout->columns)
		layout->columns = 80 - PROMPT_COLUMNS - 1;
	layout->count = 0;
	for (;;) {
		size_t end = draft_line_end(draft, at);

		wrap_line(layout, draft, at, end);
		if (end == draft->text.len)
			break;
		at = end + 1;
	}
	layout->version = draft->version;
	layout->valid = true;
}

size_t layout_row_of(const struct editor *editor, size_t at)
{
	size_t low = 0, high = editor->layout.count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (editor->layout.rows[middle].from <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The columns before byte `at` of its row. */
static unsigned layout_column_of(const struct editor *editor, size_t row, size_t at)
{
	const struct draft *draft = &editor->draft;
	unsigned column = 0;

	for (size_t i = editor->layout.rows[row].from, next; i < at; i = next) {
		next = draft_next(draft, i);
		column += cluster_columns(draft, i, next, column, editor->layout.columns);
	}
	return column;
}

size_t layout_row_end(const struct editor *editor, size_t row)
{
	const struct draft_layout *layout = &editor->layout;
	size_t end = layout->rows[row].to;

	/* The end of a wrapped row is the start of the next one. */
	if (row + 1 < layout->count && layout->rows[row + 1].from == end)
		return draft_previous(&editor->draft, end);
	return end;
}

/* The boundary of a row nearest to a column. */
static size_t layout_at(const struct editor *editor, size_t row, unsigned column)
{
	size_t at = editor->layout.rows[row].from, end = layout_row_end(editor, row);
	unsigned reached = 0;

	while (at < end) {
		size_t next = draft_next(&editor->draft, at);

		reached += cluster_columns(&editor->draft, at, next, reached,
		                           editor->layout.columns);
		if (reached > column)
			break;
		at = next;
	}
	return at;
}

bool layout_move(struct editor *editor, int rows)
{
	layout_refresh(editor);
	size_t row = layout_row_of(editor, editor->draft.caret);
	if (rows < 0 ? row == 0 : row + 1 == editor->layout.count)
		return false;
	if (editor->goal == NO_COLUMN)
		editor->goal = (int)layout_column_of(editor, row, editor->draft.caret);
	editor->keep_goal = true;
	row = rows < 0 ? row - 1 : row + 1;
	editor->draft.caret = layout_at(editor, row, (unsigned)editor->goal);
	return true;
}

/* Appends the cluster [at, next) to a row. */
static void draw_cluster(struct row *out, const struct editor *editor, size_t at, size_t next,
                         unsigned column, struct style style)
{
	const struct draft *draft = &editor->draft;
	const struct pasted *paste = draft_paste_at(draft, at);
	unsigned width = cluster_columns(draft, at, next, column, editor->layout.columns);

	if (paste) {
		_cleanup_row_ struct row label = { 0 };

		row_text(&label, span_str(paste->label),
		         (struct style){ .role = ROLE_ACCENT, .marks = style.marks });
		row_clip(&label, width);
		row_append(out, &label);
	} else if (draft->text.data[at] == '\t') {
		row_printf(out, style, "%*s", (int)width, "");
	} else {
		/* Alone, so that it is as wide as it was measured: in a narrow window escapes of
		 * what cannot be shown are cut. */
		_cleanup_row_ struct row shown = { 0 };

		row_text(&shown, span_of(draft->text.data + at, next - at), style);
		row_clip(&shown, width);
		row_append(out, &shown);
	}
}

static struct style style_at(const struct editor *editor, size_t at)
{
	struct style style = STYLE(ROLE_TEXT);

	if (at >= editor->layout.marked_from && at < editor->layout.marked_to)
		style.marks = MARK_REVERSE;
	return style;
}

static bool same_style(struct style a, struct style b)
{
	return a.role == b.role && a.marks == b.marks;
}

/* Appends a row's text: ASCII of one style together, other clusters one by one. */
static void draw_visual(struct row *out, const struct editor *editor, const struct visual *visual)
{
	const struct draft *draft = &editor->draft;
	unsigned column = 0;
	size_t at = visual->from;

	while (at < visual->to) {
		struct style style = style_at(editor, at);
		size_t next = draft_next(draft, at), end = at;

		for (size_t after = next; end < visual->to &&
		     is_ascii_cluster(span_of(draft->text.data + end, after - end)) &&
		     same_style(style, style_at(editor, end)); after = draft_next(draft, end)) {
			column++;
			end = after;
		}
		if (end > at) {
			row_text(out, span_of(draft->text.data + at, end - at), style);
			at = end;
			continue;
		}
		draw_cluster(out, editor, at, next, column, style);
		column += cluster_columns(draft, at, next, column, editor->layout.columns);
		at = next;
	}
	/* A selected line end is shown as one cell. */
	if (style_at(editor, visual->to).marks && visual->to < draft->text.len &&
	    draft->text.data[visual->to] == '\n')
		row_text(out, SPAN(" "), style_at(editor, visual->to));
}

static void scroll_to_caret(struct draft_layout *layout, size_t row, size_t max_rows)
{
	if (row < layout->top)
		layout->top = row;
	if (row >= layout->top + max_rows)
		layout->top = row - max_rows + 1;
	if (layout->top + max_rows > layout->count)
		layout->top = layout->count > max_rows ? layout->count - max_rows : 0;
}

void layout_draw(struct editor *editor, const struct row *prompt, unsigned width, size_t max_rows,
                 struct rows *rows, size_t *ret_row, unsigned *ret_column)
{
	struct draft_layout *layout = &editor->layout;
	/* One column is the caret's, behind a full row. */
	unsigned columns = width > LAYOUT_COLUMNS_MIN + PROMPT_COLUMNS ?
		width - PROMPT_COLUMNS - 1 : LAYOUT_COLUMNS_MIN;

	if (layout->columns != columns)
		layout->valid = false;
	layout->columns = columns;
	layout_refresh(editor);
	size_t caret_row = layout_row_of(editor, editor->draft.caret);
	max_rows = max_rows ? max_rows : 1;
	scroll_to_caret(layout, caret_row, max_rows);
	for (size_t i = layout->top; i < layout->count && i < layout->top + max_rows; i++) {
		struct row *row = rows_add(rows);

		if (i == 0 && prompt)
			row_append(row, prompt);
		row_pad(row, PROMPT_COLUMNS, STYLE(ROLE_TEXT));
		draw_visual(row, editor, &layout->rows[i]);
	}
	*ret_row = caret_row - layout->top;
	*ret_column = PROMPT_COLUMNS + layout_column_of(editor, caret_row, editor->draft.caret);
}
