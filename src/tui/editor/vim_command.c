/* SPDX-License-Identifier: Apache-2.0 */
/* What vim's commands do to the text, and their tables: operators, commands of normal mode and of
 * the visual modes.  To add one: its row, and what it does. */
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

/* Copies the region to the unnamed register and to the named one. */
static void vim_yank(struct vim_registers *registers, uint32_t name, const struct draft *draft,
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

/* ---- what operators do to the text ---- */

static bool spans_line_end(const struct draft *draft, const struct vim_region *region)
{
	return draft_line_end(draft, region->from) < region->to;
}

/* Delete, for c too: lines that are changed leave an empty one. The caret is where it began. */
static void vim_delete(struct draft *draft, const struct vim_region *region, bool change)
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

/* '~', 'u', 'U' */
static void vim_change_case(struct draft *draft, const struct vim_region *region, char how)
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

/* '>' and '<', by 4 columns. */
static void vim_shift(struct draft *draft, const struct vim_region *region, char how)
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

/* p and P; false: the register is empty. */
static bool vim_put(struct draft *draft, const struct vim_register *text, unsigned count,
                    bool before)
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

/* Joins so many lines from the caret's on; false: there are none. */
static bool vim_join(struct draft *draft, unsigned lines)
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

/* Forgets the command that was being typed. */
void vim_drop_command(struct vim *vim)
{
	vim->len = vim->name = 0;
	vim->operator = NULL;
	vim->finding = NULL;
	vim->replacing = vim->naming = false;
	vim->count = vim->operator_count = 0;
	vim->reg = 0;
}

/* Insert mode from here on; all that is typed is one step for undo. */
static void vim_enter_insert(struct editor *editor)
{
	struct vim *vim = editor->vim;

	vim->state = VIM_INSERT;
	vim->insert_from = editor->draft.caret;
	vim->insert_count = 1;
	vim->insert_line = false;
	editor->draft.held = true;
}

/* ---- operators ---- */

static void act_delete(struct editor *editor, const struct vim_region *region, char sign)
{
	struct vim *vim = editor->vim;

	if (region->from == region->to && !region->lines && sign != 'c')
		return;
	if (region->from != region->to || region->lines)
		vim_yank(&vim->registers, vim->reg, &editor->draft, region);
	vim_delete(&editor->draft, region, sign == 'c');
	if (sign == 'c')
		vim_enter_insert(editor);
	else
		editor->draft.caret = vim_clamp(&editor->draft, editor->draft.caret);
}

static void act_yank(struct editor *editor, const struct vim_region *region, char sign)
{
	(void)sign;
	vim_yank(&editor->vim->registers, editor->vim->reg, &editor->draft, region);
}

static void act_case(struct editor *editor, const struct vim_region *region, char sign)
{
	vim_change_case(&editor->draft, region, sign);
}

static void act_shift(struct editor *editor, const struct vim_region *region, char sign)
{
	vim_shift(&editor->draft, region, sign);
}

static const struct vim_operator operator_rows[] = {
	{ "d", 'd', NULL, act_delete, true },    { "c", 'c', NULL, act_delete, true },
	{ "y", 'y', NULL, act_yank, false },     { ">", '>', NULL, act_shift, true },
	{ "<", '<', NULL, act_shift, true },     { "g~", '~', "~", act_case, true },
	{ "gu", 'u', "u", act_case, true },      { "gU", 'U', "U", act_case, true },
};

const struct vim_operator *vim_operator_row(struct span keys)
{
	for (size_t i = 0; i < ARRAY_LEN(operator_rows); i++)
		if (span_eq(keys, span_str(operator_rows[i].keys)))
			return &operator_rows[i];
	return NULL;
}

/* The whole lines from the one of `from` to the one of `to`. */
static struct vim_region region_of_lines(const struct draft *draft, size_t from, size_t to)
{
	return (struct vim_region){ .from = draft_line_start(draft, from),
				    .to = draft_line_end(draft, to), .lines = true, .amount = 1 };
}

static bool spans_lines(const struct draft *draft, size_t from, size_t to)
{
	return draft_line_start(draft, from) != draft_line_start(draft, to);
}

/* The exceptions of ":help exclusive", and of deletes that leave nothing but blanks. */
struct vim_region vim_region_of_motion(const struct vim_motion *motion, size_t start)
{
	const struct draft *draft = motion->draft;
	size_t from = start < motion->at ? start : motion->at;
	size_t to = start < motion->at ? motion->at : start;
	enum vim_kind kind = motion->kind;

	if (kind == VIM_EXCLUSIVE && !motion->no_adjust && spans_lines(draft, from, to) &&
	    to == draft_line_start(draft, to)) {
		to--;
		if (vim_in_indent(draft, from, 0))
			kind = VIM_LINES;
	}
	if (kind == VIM_INCLUSIVE && to < draft->text.len && draft->text.data[to] != '\n')
		to = draft_next(draft, to);
	if (kind != VIM_LINES && motion->operator == 'd' && spans_lines(draft, from, to) &&
	    vim_in_indent(draft, from, 0)) {
		struct span rest = span_of(draft->text.data + to, draft_line_end(draft, to) - to);

		if (span_is_blank(rest))
			kind = VIM_LINES;
	}
	if (kind == VIM_LINES)
		return region_of_lines(draft, from, to);
	return (struct vim_region){ .from = from, .to = to, .amount = 1 };
}

/* Remembers the command for ".". */
void vim_remember(struct vim *vim)
{
	if (vim->again)
		return;
	free(vim->change.inserted);
	vim->change = (struct vim_change){ .len = vim->len, .count = vim_has_count(vim) ?
	                                   vim_count(vim) : 0, .reg = vim->reg };
	memcpy(vim->change.keys, vim->keys, vim->len);
}

void vim_operate(struct editor *editor, const struct vim_operator *operator,
                    const struct vim_region *region)
{
	draft_begin(&editor->draft);
	operator->act(editor, region, operator->sign);
	vim_drop_command(editor->vim);
	editor->vim->goal = NO_COLUMN;
}

/* dd, yy, >>: so many whole lines. */
void vim_operate_lines(struct editor *editor)
{
	struct vim *vim = editor->vim;
	struct draft *draft = &editor->draft;
	long lines = (long)vim_count(vim) - 1;
	size_t last = vim_line_away(draft, draft->caret, lines);
	struct vim_region region = region_of_lines(draft, draft->caret, last);

	/* Fewer lines than were asked for will do, unless there is but this one. */
	if (lines && draft_line_end(draft, draft->caret) == draft->text.len) {
		vim_drop_command(vim);
		return;
	}
	if (vim->operator->changes) {
		size_t text = vim_first_nonblank(draft, last);

		vim_remember(vim);
		draft->caret = text < draft->caret ? text : draft->caret;
	}
	vim_operate(editor, vim->operator, &region);
}

/* ---- the selection ---- */

bool vim_selection(const struct editor *editor, size_t *ret_from, size_t *ret_to)
{
	const struct vim *vim = editor->vim;
	const struct draft *draft = &editor->draft;

	if (!vim || !vim_is_visual(vim))
		return false;
	size_t anchor = vim->anchor < draft->text.len ? vim->anchor : draft->text.len;
	size_t caret = draft->caret;
	*ret_from = anchor < caret ? anchor : caret;
	*ret_to = anchor < caret ? caret : anchor;
	if (vim->state == VIM_VISUAL_LINES) {
		*ret_from = draft_line_start(draft, *ret_from);
		*ret_to = draft_line_end(draft, *ret_to);
	}
	/* The LF at its end, too. */
	*ret_to = draft_next(draft, *ret_to);
	return true;
}

struct vim_region vim_selected(const struct editor *editor, bool lines)
{
	struct vim_region region = { .visual = true };

	vim_selection(editor, &region.from, &region.to);
	if (editor->vim->state == VIM_VISUAL_LINES || lines) {
		size_t anchor = editor->vim->anchor, caret = editor->draft.caret;

		region = region_of_lines(&editor->draft, region.from,
		                         anchor > caret ? anchor : caret);
	}
	region.visual = true;
	region.amount = vim_count(editor->vim);
	return region;
}

/* How much is selected, so that "." can take as much. */
void vim_remember_selection(struct editor *editor)
{
	struct vim *vim = editor->vim;
	const struct draft *draft = &editor->draft;
	size_t from, to;

	if (vim->again)
		return;
	vim_remember(vim);
	vim_selection(editor, &from, &to);
	size_t last = vim->anchor > draft->caret ? vim->anchor : draft->caret;
	if (last > draft->text.len) /* the text was replaced meanwhile */
		last = draft->text.len;
	vim->change.visual = true;
	vim->change.lines = vim->state == VIM_VISUAL_LINES;
	vim->change.line_count = vim->change.char_count = 0;
	for (size_t line = draft_line_start(draft, from); draft_line_end(draft, line) < last;
	     line = draft_line_end(draft, line) + 1)
		vim->change.line_count++;
	size_t start = vim->change.line_count ? draft_line_start(draft, last) : from;
	while (start < last) {
		start = draft_next(draft, start);
		vim->change.char_count++;
	}
}

void vim_leave_visual(struct editor *editor)
{
	editor->vim->state = VIM_NORMAL;
	editor->draft.caret = vim_clamp(&editor->draft, editor->draft.caret);
	vim_drop_command(editor->vim);
}

/* Where vim's caret is before it works on a selection: an anchor's line is taken from its start. */
static size_t first_selected(const struct editor *editor, bool lines)
{
	const struct vim *vim = editor->vim;
	const struct draft *draft = &editor->draft;
	bool caret_first = draft->caret < vim->anchor;

	if (vim->state == VIM_VISUAL ? lines :
	    !caret_first || !spans_lines(draft, draft->caret, vim->anchor))
		return draft_line_start(draft, caret_first ? draft->caret : vim->anchor);
	return caret_first ? draft->caret : vim->anchor;
}

void vim_operate_selection(struct editor *editor, const struct vim_operator *operator, bool lines)
{
	struct vim_region region = vim_selected(editor, lines || operator->act == act_shift);

	if (operator->changes)
		vim_remember_selection(editor);
	editor->draft.caret = first_selected(editor, lines);
	editor->vim->state = VIM_NORMAL;
	vim_operate(editor, operator, &region);
	if (editor->vim->state == VIM_NORMAL)
		editor->draft.caret = vim_clamp(&editor->draft, editor->draft.caret);
}

/* ---- commands ---- */

static void do_insert(struct editor *editor, int where)
{
	struct draft *draft = &editor->draft;
	unsigned count = vim_count(editor->vim);
	size_t at = draft->caret, end = draft_line_end(draft, at);

	vim_remember(editor->vim);
	if (where == 'a' && at < end)
		at = draft_next(draft, at);
	if (where == 'A')
		at = end;
	if (where == 'I') {
		at = draft_line_start(draft, at);
		while (at < end && (draft->text.data[at] == ' ' || draft->text.data[at] == '\t'))
			at++;
	}
	draft->caret = at;
	draft_begin(draft);
	vim_enter_insert(editor);
	editor->vim->insert_count = count;
}

static void do_open_line(struct editor *editor, int above)
{
	struct draft *draft = &editor->draft;
	unsigned count = vim_count(editor->vim);
	size_t at = above ? draft_line_start(draft, draft->caret)
	                  : draft_line_end(draft, draft->caret);

	vim_remember(editor->vim);
	draft_begin(draft);
	if (!draft_replace(draft, at, at, SPAN("\n")))
		return;
	draft->caret = above ? at : at + 1;
	vim_enter_insert(editor);
	editor->vim->insert_count = count;
	editor->vim->insert_line = true;
}

static void put_register(struct editor *editor, int before)
{
	struct vim *vim = editor->vim;
	struct vim_register *text = vim_register(&vim->registers, vim->reg);

	vim_remember(vim);
	draft_begin(&editor->draft);
	vim_put(&editor->draft, text, vim_count(vim), before);
}

static void do_join(struct editor *editor, int how)
{
	struct draft *draft = &editor->draft;
	unsigned lines = vim_has_count(editor->vim) ? vim_count(editor->vim) : 2;

	(void)how;
	/* On the last line there is nothing to join; too many lines are as many as there are. */
	if (draft_line_end(draft, draft->caret) == draft->text.len)
		return;
	vim_remember(editor->vim);
	draft_begin(draft);
	vim_join(draft, lines);
}

static void do_toggle_case(struct editor *editor, int how)
{
	struct draft *draft = &editor->draft;
	size_t from = draft->caret, to = from, end = draft_line_end(draft, from);

	(void)how;
	if (from == end)
		return;
	for (unsigned i = vim_count(editor->vim); i > 0 && to < end; i--)
		to = draft_next(draft, to);
	size_t before = draft->text.len - to;
	vim_remember(editor->vim);
	draft_begin(draft);
	vim_change_case(draft, &(struct vim_region){ .from = from, .to = to }, '~');
	draft->caret = vim_clamp(draft, draft->text.len - before);
}

/* Where a step that undo or redo took leaves the caret: where it was before the change, if that is
 * on a line that changed, otherwise on the first of these. */
static void place_after_undo(struct editor *editor)
{
	struct draft *draft = &editor->draft;
	size_t caret = draft_floor(draft, draft->undone_caret);
	size_t line = draft_line_start(draft, caret);

	if (line > draft_line_start(draft, draft->undone_to) ||
	    draft_line_end(draft, line) < draft->undone_from)
		caret = vim_first_nonblank(draft, draft->undone_from);
	draft->caret = vim_clamp(draft, caret);
}

void vim_undo(struct editor *editor, int redo)
{
	unsigned count = vim_count(editor->vim);

	while (count-- > 0 && (redo ? draft_redo(&editor->draft) : draft_undo(&editor->draft)))
		place_after_undo(editor);
}

static void do_visual(struct editor *editor, int state)
{
	struct vim *vim = editor->vim;

	if (vim->state == (enum vim_state)state) {
		vim_leave_visual(editor);
		return;
	}
	if (!vim_is_visual(vim))
		vim->anchor = editor->draft.caret;
	vim->state = (enum vim_state)state;
}

/* ---- commands of the visual modes ---- */

static void do_selected(struct editor *editor, int sign)
{
	static const struct {
		char sign;
		const char *operator;
		bool lines;
	} rows[] = {
		{ 'x', "d", false }, { 's', "c", false }, { 'D', "d", true }, { 'X', "d", true },
		{ 'C', "c", true },  { 'S', "c", true },  { 'R', "c", true }, { 'Y', "y", true },
		{ '~', "g~", false }, { 'u', "gu", false }, { 'U', "gU", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].sign == sign)
			vim_operate_selection(editor, vim_operator_row(span_str(rows[i].operator)),
			                  rows[i].lines);
}

static void do_other_end(struct editor *editor, int how)
{
	size_t anchor = editor->vim->anchor;

	(void)how;
	editor->vim->anchor = editor->draft.caret;
	editor->draft.caret = anchor;
}

static void do_join_selected(struct editor *editor, int how)
{
	struct draft *draft = &editor->draft;
	struct vim_region region = vim_selected(editor, true);
	unsigned lines = 1;

	(void)how;
	for (size_t i = region.from; i < region.to; i++)
		lines += draft->text.data[i] == '\n';
	vim_remember_selection(editor);
	draft->caret = first_selected(editor, false);
	editor->vim->state = VIM_NORMAL;
	draft_begin(draft);
	vim_join(draft, lines);
}

/* The register's text in place of the selection, which goes to the unnamed register. */
static void put_over_selection(struct editor *editor, int how)
{
	struct vim *vim = editor->vim;
	struct draft *draft = &editor->draft;
	struct vim_region region = vim_selected(editor, false);
	const struct vim_register *from = vim_register(&vim->registers, vim->reg);
	unsigned count = vim_count(vim);
	_cleanup_buf_ struct buf text = BUF_INIT(DRAFT_BYTES_MAX);

	(void)how;
	for (unsigned i = 0; i < count && from->text; i++)
		buf_append(&text, from->text, from->len);
	if (text.overflowed || !from->text) {
		vim_leave_visual(editor);
		return;
	}
	bool lines = from->lines;
	vim_remember_selection(editor);
	/* Done again, it only deletes. */
	vim->change.keys[0] = 'd';
	vim->change.len = 1;
	vim->state = VIM_NORMAL;
	vim_yank(&vim->registers, 0, draft, &region);
	draft_begin(draft);
	draft->caret = region.from;
	_cleanup_buf_ struct buf put = BUF_INIT(DRAFT_BYTES_MAX);
	if (lines && !region.lines)
		buf_char(&put, '\n');
	buf_span(&put, buf_view(&text));
	if (lines && region.lines && put.len)
		put.len--;
	if (!draft_replace(draft, region.from, region.to, buf_view(&put)))
		return;
	if (lines || region.lines)
		draft->caret = vim_first_nonblank(draft, region.from + (lines && !region.lines));
	else if (memchr(buf_view(&put).data, '\n', put.len))
		draft->caret = vim_clamp(draft, region.from);
	else
		draft->caret = vim_clamp(draft, draft_previous(draft, draft->caret));
}

static const struct vim_command normal_rows[] = {
	{ "x", .instead = "dl" },
	{ "X", .instead = "dh" },
	{ "s", .instead = "cl" },
	{ "S", .instead = "cc" },
	{ "D", .instead = "d$" },
	{ "C", .instead = "c$" },
	{ "Y", .instead = "yy" },
	{ "i", NULL, do_insert, 'i' },
	{ "a", NULL, do_insert, 'a' },
	{ "I", NULL, do_insert, 'I' },
	{ "A", NULL, do_insert, 'A' },
	{ "o", NULL, do_open_line, false },
	{ "O", NULL, do_open_line, true },
	{ "p", NULL, put_register, false },
	{ "P", NULL, put_register, true },
	{ "J", NULL, do_join, 0 },
	{ "~", NULL, do_toggle_case, 0 },
	{ "u", NULL, vim_undo, false },
	{ "v", NULL, do_visual, VIM_VISUAL },
	{ "V", NULL, do_visual, VIM_VISUAL_LINES },
};

static const struct vim_command visual_rows[] = {
	{ "x", NULL, do_selected, 'x' },
	{ "s", NULL, do_selected, 's' },
	{ "D", NULL, do_selected, 'D' },
	{ "X", NULL, do_selected, 'X' },
	{ "C", NULL, do_selected, 'C' },
	{ "S", NULL, do_selected, 'S' },
	{ "R", NULL, do_selected, 'R' },
	{ "Y", NULL, do_selected, 'Y' },
	{ "~", NULL, do_selected, '~' },
	{ "u", NULL, do_selected, 'u' },
	{ "U", NULL, do_selected, 'U' },
	{ "o", NULL, do_other_end, 0 },
	{ "p", NULL, put_over_selection, 0 },
	{ "P", NULL, put_over_selection, 0 },
	{ "J", NULL, do_join_selected, 0 },
	{ "v", NULL, do_visual, VIM_VISUAL },
	{ "V", NULL, do_visual, VIM_VISUAL_LINES },
};

const struct vim_command *vim_command_row(bool visual, struct span keys)
{
	const struct vim_command *rows = visual ? visual_rows : normal_rows;
	size_t count = visual ? ARRAY_LEN(visual_rows) : ARRAY_LEN(normal_rows);

	for (size_t i = 0; i < count; i++)
		if (span_eq(keys, span_str(rows[i].keys)))
			return &rows[i];
	return NULL;
}
