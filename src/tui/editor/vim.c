/* SPDX-License-Identifier: Apache-2.0 */
/* Vim's modes: keys gathered to commands, commands carried out, repeated and undone.
 *
 *     ["x] [count] operator [count] motion      or a text object, or the operator again
 *     ["x] [count] command
 */
#include "tui/editor/vim.h"

#include "base/mem.h"
#include "base/text.h"

enum vim_state { VIM_INSERT, VIM_NORMAL, VIM_VISUAL, VIM_VISUAL_LINES };

/* Keys of one command, at most: "gUi(" and a cluster. */
enum { VIM_KEYS_MAX = 64 };

/* What "." does again. */
struct vim_change {
	char keys[VIM_KEYS_MAX]; /* without counts and register */
	size_t len;
	unsigned count;          /* 0: none */
	uint32_t reg;
	char *inserted;          /* owned; what was typed in insert mode; NULL: nothing */
	size_t inserted_len;
	bool visual, lines;      /* it was done to a selection: as much again */
	size_t line_count, char_count;
};

struct vim {
	enum vim_state state;
	/* The command that is being typed. */
	char keys[VIM_KEYS_MAX]; /* since the last one was done, without counts and register */
	size_t len, name;        /* the name of what is looked for begins at `name` */
	const struct vim_operator *operator;
	const struct vim_motion_row *finding; /* waits for its character */
	bool replacing, naming;  /* r and " do */
	unsigned count, operator_count; /* 0: none */
	uint32_t reg;
	/* What stays. */
	struct vim_registers registers;
	struct vim_find find;
	struct vim_change change;
	int goal;
	size_t anchor;           /* where the selection began */
	bool again;              /* "." is at work */
	/* Insert mode. */
	size_t insert_from;      /* what was typed begins here */
	unsigned insert_count;
	bool insert_line;        /* o and O: another line for each */
};

struct vim *vim_new(void)
{
	struct vim *vim = mem_alloc(1, sizeof(*vim));

	vim->goal = NO_COLUMN;
	vim->insert_count = 1;
	return vim;
}

void vim_free(struct vim *vim)
{
	if (!vim)
		return;
	vim_registers_release(&vim->registers);
	free(vim->change.inserted);
	free(vim);
}

const char *vim_mode(const struct vim *vim)
{
	static const char *const names[] = { "INSERT", "NORMAL", "VISUAL", "VISUAL LINE" };

	return names[vim->state];
}

size_t vim_texts(const struct vim *vim, struct span *ret)
{
	size_t count = 0;

	for (size_t i = 0; vim && i < VIM_REGISTERS; i++)
		ret[count++] = span_of(vim->registers.at[i].text, vim->registers.at[i].len);
	if (vim)
		ret[count++] = span_of(vim->change.inserted, vim->change.inserted_len);
	return count;
}

static bool is_visual(const struct vim *vim)
{
	return vim->state == VIM_VISUAL || vim->state == VIM_VISUAL_LINES;
}

/* Forgets the command that was being typed. */
static void drop_command(struct vim *vim)
{
	vim->len = vim->name = 0;
	vim->operator = NULL;
	vim->finding = NULL;
	vim->replacing = vim->naming = false;
	vim->count = vim->operator_count = 0;
	vim->reg = 0;
}

void vim_reset(struct vim *vim)
{
	drop_command(vim);
	vim->state = VIM_INSERT;
	vim->insert_from = 0;
	vim->insert_count = 1;
	vim->insert_line = false;
}

static unsigned whole_count(const struct vim *vim)
{
	unsigned long count = (unsigned long)(vim->count ? vim->count : 1) *
			      (vim->operator_count ? vim->operator_count : 1);

	return count < VIM_COUNT_MAX ? (unsigned)count : VIM_COUNT_MAX;
}

static bool has_count(const struct vim *vim)
{
	return vim->count || vim->operator_count;
}

/* ---- insert mode ---- */

static void enter_insert(struct editor *editor)
{
	struct vim *vim = editor->vim;

	vim->state = VIM_INSERT;
	vim->insert_from = editor->draft.caret;
	vim->insert_count = 1;
	vim->insert_line = false;
	draft_hold(&editor->draft, true);
}

/* What was typed, as many times more as a count said. */
static void repeat_inserted(struct editor *editor)
{
	struct vim *vim = editor->vim;
	struct draft *draft = &editor->draft;
	_cleanup_buf_ struct buf text = BUF_INIT(DRAFT_BYTES_MAX);

	if (vim->insert_line)
		buf_char(&text, '\n');
	buf_append(&text, vim->change.inserted, vim->change.inserted_len);
	for (unsigned i = 1; i < vim->insert_count && text.len; i++)
		if (!draft_replace(draft, draft->caret, draft->caret, buf_view(&text)))
			break;
}

static void leave_insert(struct editor *editor)
{
	struct vim *vim = editor->vim;
	struct draft *draft = &editor->draft;

	if (vim->insert_from <= draft->caret && !vim->again) {
		size_t len = draft->caret - vim->insert_from;

		free(vim->change.inserted);
		vim->change.inserted = mem_dup(draft_view(draft).data + vim->insert_from, len);
		vim->change.inserted_len = len;
	}
	repeat_inserted(editor);
	if (draft->caret != draft_line_start(draft, draft->caret))
		draft->caret = draft_previous(draft, draft->caret);
	draft_hold(draft, false);
	draft_begin(draft);
	vim->state = VIM_NORMAL;
	vim->goal = NO_COLUMN;
	drop_command(vim);
}

/* Insert mode goes by the bindings; what is typed is remembered for ".". */
static enum editor_action insert_key(struct editor *editor, const struct key *key)
{
	struct vim *vim = editor->vim;
	struct draft *draft = &editor->draft;
	unsigned long version = draft->version;
	size_t caret = draft->caret;
	enum editor_action action = commands_key(editor, key);

	if (draft->version == version && draft->caret != caret) {
		/* A new insertion begins where the caret went. */
		vim->insert_from = draft->caret;
		vim->insert_count = 1;
		draft_hold(draft, false);
		draft_begin(draft);
		draft_hold(draft, true);
	} else if (draft->caret < vim->insert_from) {
		vim->insert_from = draft->caret;
	}
	return action;
}

/* ---- operators ---- */

struct vim_operator {
	const char *keys;
	char sign;         /* "gU" is 'U' */
	const char *again; /* what besides its keys means whole lines */
	void (*act)(struct editor *editor, const struct vim_region *region, char sign);
	bool changes;      /* "." does it again */
};

static void act_delete(struct editor *editor, const struct vim_region *region, char sign)
{
	struct vim *vim = editor->vim;

	if (region->from == region->to && !region->lines && sign != 'c')
		return;
	if (region->from != region->to || region->lines)
		vim_yank(&vim->registers, vim->reg, &editor->draft, region);
	vim_delete(&editor->draft, region, sign == 'c');
	if (sign == 'c')
		enter_insert(editor);
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

static const struct vim_operator *find_operator(struct span keys)
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
static struct vim_region region_of_motion(const struct vim_motion *motion, size_t start)
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
static void remember_change(struct vim *vim)
{
	if (vim->again)
		return;
	free(vim->change.inserted);
	vim->change = (struct vim_change){ .len = vim->len, .count = has_count(vim) ?
	                                   whole_count(vim) : 0, .reg = vim->reg };
	memcpy(vim->change.keys, vim->keys, vim->len);
}

static void operate(struct editor *editor, const struct vim_operator *operator,
                    const struct vim_region *region)
{
	draft_begin(&editor->draft);
	operator->act(editor, region, operator->sign);
	drop_command(editor->vim);
	editor->vim->goal = NO_COLUMN;
}

/* dd, yy, >>: so many whole lines. */
static void operate_lines(struct editor *editor)
{
	struct vim *vim = editor->vim;
	struct draft *draft = &editor->draft;
	long lines = (long)whole_count(vim) - 1;
	size_t last = vim_line_away(draft, draft->caret, lines);
	struct vim_region region = region_of_lines(draft, draft->caret, last);

	/* Fewer lines than were asked for will do, unless there is but this one. */
	if (lines && draft_line_end(draft, draft->caret) == draft->text.len) {
		drop_command(vim);
		return;
	}
	if (vim->operator->changes) {
		size_t text = vim_first_nonblank(draft, last);

		remember_change(vim);
		draft->caret = text < draft->caret ? text : draft->caret;
	}
	operate(editor, vim->operator, &region);
}

/* ---- the selection ---- */

bool vim_selection(const struct editor *editor, size_t *ret_from, size_t *ret_to)
{
	const struct vim *vim = editor->vim;
	const struct draft *draft = &editor->draft;

	if (!vim || !is_visual(vim))
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

static struct vim_region selected_region(const struct editor *editor, bool lines)
{
	struct vim_region region = { .visual = true };

	vim_selection(editor, &region.from, &region.to);
	if (editor->vim->state == VIM_VISUAL_LINES || lines) {
		size_t anchor = editor->vim->anchor, caret = editor->draft.caret;

		region = region_of_lines(&editor->draft, region.from,
		                         anchor > caret ? anchor : caret);
	}
	region.visual = true;
	region.amount = whole_count(editor->vim);
	return region;
}

/* How much is selected, so that "." can take as much. */
static void remember_selection(struct editor *editor)
{
	struct vim *vim = editor->vim;
	const struct draft *draft = &editor->draft;
	size_t from, to;

	if (vim->again)
		return;
	remember_change(vim);
	vim_selection(editor, &from, &to);
	size_t last = vim->anchor > draft->caret ? vim->anchor : draft->caret;
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

static void leave_visual(struct editor *editor)
{
	editor->vim->state = VIM_NORMAL;
	editor->draft.caret = vim_clamp(&editor->draft, editor->draft.caret);
	drop_command(editor->vim);
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

static void operate_selection(struct editor *editor, const struct vim_operator *operator, bool lines)
{
	struct vim_region region = selected_region(editor, lines || operator->act == act_shift);

	if (operator->changes)
		remember_selection(editor);
	editor->draft.caret = first_selected(editor, lines);
	editor->vim->state = VIM_NORMAL;
	operate(editor, operator, &region);
	if (editor->vim->state == VIM_NORMAL)
		editor->draft.caret = vim_clamp(&editor->draft, editor->draft.caret);
}

/* ---- commands ---- */

/* Does the keys of other commands in place of this one's, with its count and register. */
static void do_instead(struct editor *editor, const char *keys);

static void do_delete_chars(struct editor *editor, int backward)
{
	do_instead(editor, backward ? "dh" : "dl");
}

static void do_substitute(struct editor *editor, int lines)
{
	do_instead(editor, lines ? "cc" : "cl");
}

static void do_to_line_end(struct editor *editor, int operator)
{
	do_instead(editor, operator == 'd' ? "d$" : "c$");
}

static void do_yank_line(struct editor *editor, int how)
{
	(void)how;
	do_instead(editor, "yy");
}

static void do_insert(struct editor *editor, int where)
{
	struct draft *draft = &editor->draft;
	unsigned count = whole_count(editor->vim);
	size_t at = draft->caret, end = draft_line_end(draft, at);

	remember_change(editor->vim);
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
	enter_insert(editor);
	editor->vim->insert_count = count;
}

static void do_open_line(struct editor *editor, int above)
{
	struct draft *draft = &editor->draft;
	unsigned count = whole_count(editor->vim);
	size_t at = above ? draft_line_start(draft, draft->caret)
	                  : draft_line_end(draft, draft->caret);

	remember_change(editor->vim);
	draft_begin(draft);
	if (!draft_replace(draft, at, at, SPAN("\n")))
		return;
	draft->caret = above ? at : at + 1;
	enter_insert(editor);
	editor->vim->insert_count = count;
	editor->vim->insert_line = true;
}

static void do_put(struct editor *editor, int before)
{
	struct vim *vim = editor->vim;
	struct vim_register *text = vim_register(&vim->registers, vim->reg);

	remember_change(vim);
	draft_begin(&editor->draft);
	vim_put(&editor->draft, text, whole_count(vim), before);
}

static void do_join(struct editor *editor, int how)
{
	struct draft *draft = &editor->draft;
	unsigned lines = has_count(editor->vim) ? whole_count(editor->vim) : 2;

	(void)how;
	/* On the last line there is nothing to join; too many lines are as many as there are. */
	if (draft_line_end(draft, draft->caret) == draft->text.len)
		return;
	remember_change(editor->vim);
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
	for (unsigned i = whole_count(editor->vim); i > 0 && to < end; i--)
		to = draft_next(draft, to);
	size_t before = draft->text.len - to;
	remember_change(editor->vim);
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

static void do_vim_undo(struct editor *editor, int redo)
{
	unsigned count = whole_count(editor->vim);

	while (count-- > 0 && (redo ? draft_redo(&editor->draft) : draft_undo(&editor->draft)))
		place_after_undo(editor);
}

static void do_visual(struct editor *editor, int state)
{
	struct vim *vim = editor->vim;

	if (vim->state == (enum vim_state)state) {
		leave_visual(editor);
		return;
	}
	if (!is_visual(vim))
		vim->anchor = editor->draft.caret;
	vim->state = (enum vim_state)state;
}

static void do_again(struct editor *editor, int how);

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
			operate_selection(editor, find_operator(span_str(rows[i].operator)),
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
	struct vim_region region = selected_region(editor, true);
	unsigned lines = 1;

	(void)how;
	for (size_t i = region.from; i < region.to; i++)
		lines += draft->text.data[i] == '\n';
	remember_selection(editor);
	draft->caret = first_selected(editor, false);
	editor->vim->state = VIM_NORMAL;
	draft_begin(draft);
	vim_join(draft, lines);
}

/* The register's text in place of the selection, which goes to the unnamed register. */
static void do_put_over(struct editor *editor, int how)
{
	struct vim *vim = editor->vim;
	struct draft *draft = &editor->draft;
	struct vim_region region = selected_region(editor, false);
	const struct vim_register *from = vim_register(&vim->registers, vim->reg);
	unsigned count = whole_count(vim);
	_cleanup_buf_ struct buf text = BUF_INIT(DRAFT_BYTES_MAX);

	(void)how;
	for (unsigned i = 0; i < count && from->text; i++)
		buf_append(&text, from->text, from->len);
	if (text.overflowed || !from->text) {
		leave_visual(editor);
		return;
	}
	bool lines = from->lines;
	remember_selection(editor);
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

struct vim_command {
	const char *keys;
	void (*act)(struct editor *editor, int how);
	int how;
};

static const struct vim_command normal_rows[] = {
	{ "x", do_delete_chars, false },
	{ "X", do_delete_chars, true },
	{ "s", do_substitute, false },
	{ "S", do_substitute, true },
	{ "D", do_to_line_end, 'd' },
	{ "C", do_to_line_end, 'c' },
	{ "Y", do_yank_line, 0 },
	{ "i", do_insert, 'i' },
	{ "a", do_insert, 'a' },
	{ "I", do_insert, 'I' },
	{ "A", do_insert, 'A' },
	{ "o", do_open_line, false },
	{ "O", do_open_line, true },
	{ "p", do_put, false },
	{ "P", do_put, true },
	{ "J", do_join, 0 },
	{ "~", do_toggle_case, 0 },
	{ "u", do_vim_undo, false },
	{ ".", do_again, 0 },
	{ "v", do_visual, VIM_VISUAL },
	{ "V", do_visual, VIM_VISUAL_LINES },
};

static const struct vim_command visual_rows[] = {
	{ "x", do_selected, 'x' },
	{ "s", do_selected, 's' },
	{ "D", do_selected, 'D' },
	{ "X", do_selected, 'X' },
	{ "C", do_selected, 'C' },
	{ "S", do_selected, 'S' },
	{ "R", do_selected, 'R' },
	{ "Y", do_selected, 'Y' },
	{ "~", do_selected, '~' },
	{ "u", do_selected, 'u' },
	{ "U", do_selected, 'U' },
	{ "o", do_other_end, 0 },
	{ "p", do_put_over, 0 },
	{ "P", do_put_over, 0 },
	{ "J", do_join_selected, 0 },
	{ "v", do_visual, VIM_VISUAL },
	{ "V", do_visual, VIM_VISUAL_LINES },
};

static const struct vim_command *find_command(bool visual, struct span keys)
{
	const struct vim_command *rows = visual ? visual_rows : normal_rows;
	size_t count = visual ? ARRAY_LEN(visual_rows) : ARRAY_LEN(normal_rows);

	for (size_t i = 0; i < count; i++)
		if (span_eq(keys, span_str(rows[i].keys)))
			return &rows[i];
	return NULL;
}

/* ---- carrying out ---- */

static void run_motion(struct editor *editor, const struct vim_motion_row *row, struct span argument)
{
	struct vim *vim = editor->vim;
	struct draft *draft = &editor->draft;
	struct vim_motion motion = {
		.draft = draft, .at = draft->caret, .count = whole_count(vim),
		.counted = has_count(vim), .operator = vim->operator ? vim->operator->sign : '\0',
		.visual = is_visual(vim), .kind = row->kind, .goal = vim->goal,
		.find = &vim->find, .argument = argument };
	bool done = row->go(&motion, row->how);

	if (!done && vim->operator) {
		/* As far as it came. */
		draft->caret = vim_clamp(draft, motion.at);
		drop_command(vim);
		return;
	}
	if (done || motion.keeps_goal)
		vim->goal = motion.keeps_goal ? motion.goal : NO_COLUMN;
	if (!vim->operator) {
		/* j and k at the ends go through earlier prompts. */
		if (!done && row->kind == VIM_LINES && !is_visual(vim) && !vim->again &&
		    history_browse(editor, row->how))
			draft->caret = vim_clamp(draft, draft->caret);
		else
			draft->caret = motion.visual ? motion.at : vim_clamp(draft, motion.at);
		drop_command(vim);
		return;
	}
	struct vim_region region = region_of_motion(&motion, draft->caret);
	if (vim->operator->changes)
		remember_change(vim);
	draft->caret = draft->caret < motion.at ? draft->caret : motion.at;
	operate(editor, vim->operator, &region);
}

static void run_object(struct editor *editor, struct span keys)
{
	struct vim *vim = editor->vim;
	struct draft *draft = &editor->draft;
	struct vim_motion motion = {
		.draft = draft, .at = draft->caret, .count = whole_count(vim),
		.operator = vim->operator ? vim->operator->sign : '\0', .visual = is_visual(vim) };

	vim->goal = NO_COLUMN;
	if (!vim_object(&motion, keys)) {
		/* Too many words: as far as there were any. */
		draft->caret = vim_clamp(draft, motion.at);
		drop_command(vim);
		return;
	}
	if (motion.visual) {
		vim->anchor = motion.start;
		draft->caret = motion.kind == VIM_EXCLUSIVE && motion.at > motion.start ?
			draft_previous(draft, motion.at) : motion.at;
		vim->state = motion.kind == VIM_LINES ? VIM_VISUAL_LINES : VIM_VISUAL;
		drop_command(vim);
		return;
	}
	struct vim_region region = region_of_motion(&motion, motion.start);
	if (vim->operator->changes)
		remember_change(vim);
	draft->caret = motion.start;
	operate(editor, vim->operator, &region);
}

static void run_replace(struct editor *editor, struct span with)
{
	struct vim *vim = editor->vim;
	struct draft *draft = &editor->draft;
	size_t from = draft->caret, to = from;
	_cleanup_buf_ struct buf text = BUF_INIT(DRAFT_BYTES_MAX);

	vim->goal = NO_COLUMN;
	if (is_visual(vim)) {
		struct vim_region region = selected_region(editor, false);

		remember_selection(editor);
		vim->state = VIM_NORMAL;
		for (size_t at = region.from; at < region.to; at = draft_next(draft, at))
			buf_span(&text, draft->text.data[at] == '\n' ? SPAN("\n") : with);
		draft->caret = from = region.from;
		draft_begin(draft);
		draft_replace(draft, from, region.to, buf_view(&text));
		draft->caret = vim_clamp(draft, draft_floor(draft, from));
		drop_command(vim);
		return;
	}
	unsigned count = whole_count(vim), i = 0;
	size_t end = draft_line_end(draft, from);
	for (; i < count && to < end; i++) {
		to = draft_next(draft, to);
		if (!span_eq(with, SPAN("\n")) || i == 0)
			buf_span(&text, with);
	}
	if (i == count) {
		remember_change(vim);
		draft_begin(draft);
		draft_replace(draft, from, to, buf_view(&text));
		draft->caret = span_eq(with, SPAN("\n")) ? vim_clamp(draft, from + 1)
		                                         : draft_previous(draft, draft->caret);
	}
	drop_command(vim);
}

static void run_command(struct editor *editor, const struct vim_command *command)
{
	struct vim *vim = editor->vim;

	/* One that puts another in its place, or waits, drops it itself. */
	command->act(editor, command->how);
	drop_command(vim);
	if (vim->state == VIM_NORMAL)
		editor->draft.caret = vim_clamp(&editor->draft, editor->draft.caret);
	vim->goal = NO_COLUMN;
}

/* ---- gathering keys ---- */

static bool is_longer(const char *name, struct span keys)
{
	return strlen(name) > keys.len && strncmp(name, keys.data, keys.len) == 0;
}

bool vim_is_prefix(struct span keys)
{
	static const char *const longer[] = { "gg", "ge", "gE" };

	for (size_t i = 0; i < ARRAY_LEN(longer); i++)
		if (is_longer(longer[i], keys))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(operator_rows); i++)
		if (is_longer(operator_rows[i].keys, keys))
			return true;
	return false;
}

static bool take_count(struct vim *vim, struct span typed)
{
	char digit = typed.data[0];

	if (vim->len != vim->name || digit < '0' || digit > '9' || (digit == '0' && !vim->count))
		return false;
	vim->count = vim->count < VIM_COUNT_MAX / 10 ? 10 * vim->count + (unsigned)(digit - '0')
	                                             : VIM_COUNT_MAX;
	return true;
}

static bool take_operator(struct editor *editor, struct span name)
{
	struct vim *vim = editor->vim;
	const struct vim_operator *found = find_operator(name);

	if (vim->operator) {
		/* "gugu" and "guu" are lines; any other operator ends this one. */
		bool again = found == vim->operator ||
			     (vim->operator->again &&
			      span_eq(name, span_str(vim->operator->again)));

		if (!again && !found)
			return false;
		if (again)
			operate_lines(editor);
		else
			drop_command(vim);
		return true;
	}
	if (!found)
		return false;
	if (is_visual(vim)) {
		operate_selection(editor, found, false);
		return true;
	}
	vim->operator = found;
	vim->operator_count = vim->count;
	vim->count = 0;
	vim->name = vim->len;
	return true;
}

/* A key of a command by what was typed so far. False: it has no meaning. */
static bool take_name(struct editor *editor)
{
	struct vim *vim = editor->vim;
	struct span name = span_of(vim->keys + vim->name, vim->len - vim->name);
	bool selecting = vim->operator || is_visual(vim);
	const struct vim_motion_row *motion = vim_motion_row(name);
	const struct vim_command *command = find_command(is_visual(vim), name);

	if (selecting && (name.data[0] == 'i' || name.data[0] == 'a')) {
		if (name.len > 1)
			run_object(editor, name);
		return true;
	}
	if (take_operator(editor, name))
		return true;
	if (motion && motion->wants_argument) {
		vim->finding = motion;
		return true;
	}
	if (motion) {
		run_motion(editor, motion, SPAN(""));
		return true;
	}
	if (!vim->operator && command) {
		run_command(editor, command);
		return true;
	}
	if (!vim->operator && span_eq(name, SPAN("r"))) {
		vim->replacing = true;
		return true;
	}
	return vim_is_prefix(name);
}

/* One typed cluster in normal or visual mode. False: it has no meaning here. */
static bool take_typed(struct editor *editor, struct span typed)
{
	struct vim *vim = editor->vim;

	if (vim->naming) {
		vim->naming = false;
		vim->reg = (unsigned char)typed.data[0];
		return true;
	}
	if (!vim->finding && !vim->replacing) {
		if (take_count(vim, typed))
			return true;
		if (span_eq(typed, SPAN("\"")) && vim->len == vim->name) {
			vim->naming = true;
			return true;
		}
	}
	if (typed.len > sizeof(vim->keys) - vim->len) {
		drop_command(vim);
		return true;
	}
	memcpy(vim->keys + vim->len, typed.data, typed.len);
	vim->len += typed.len;
	if (vim->finding) {
		run_motion(editor, vim->finding, typed);
		return true;
	}
	if (vim->replacing) {
		run_replace(editor, typed);
		return true;
	}
	if (take_name(editor))
		return true;
	bool alone = vim->len == typed.len;
	drop_command(vim);
	return !alone;
}

static void take_keys(struct editor *editor, struct span keys)
{
	while (keys.len) {
		/* Clusters of one command are ASCII but for the last. */
		size_t len = (unsigned char)keys.data[0] < 0x80 ? 1 : keys.len;

		take_typed(editor, span_head(keys, len));
		keys = span_skip(keys, len);
	}
}

static void do_instead(struct editor *editor, const char *keys)
{
	struct vim *vim = editor->vim;
	unsigned count = has_count(vim) ? whole_count(vim) : 0;
	uint32_t reg = vim->reg;

	drop_command(vim);
	vim->count = count;
	vim->reg = reg;
	take_keys(editor, span_str(keys));
}

/* Selects as much as the change was done to. */
static void select_again(struct editor *editor, const struct vim_change *change)
{
	struct vim *vim = editor->vim;
	struct draft *draft = &editor->draft;
	size_t at = draft->caret;

	vim->anchor = at;
	vim->state = change->lines ? VIM_VISUAL_LINES : VIM_VISUAL;
	if (change->line_count)
		at = vim_line_away(draft, at, (long)change->line_count);
	size_t end = draft_line_end(draft, at);
	for (size_t i = 0; i < change->char_count && at < end; i++)
		at = draft_next(draft, at);
	draft->caret = vim_clamp(draft, at);
}

static void do_again(struct editor *editor, int how)
{
	struct vim *vim = editor->vim;
	struct vim_change *change = &vim->change;
	unsigned count = has_count(vim) ? whole_count(vim) : 0;

	(void)how;
	drop_command(vim);
	if (!change->len)
		return;
	if (count)
		change->count = count;
	vim->again = true;
	if (change->visual)
		select_again(editor, change);
	vim->count = change->count;
	vim->reg = change->reg;
	take_keys(editor, span_of(change->keys, change->len));
	if (vim->state == VIM_INSERT) {
		draft_replace(&editor->draft, editor->draft.caret, editor->draft.caret,
		              span_of(change->inserted, change->inserted_len));
		leave_insert(editor);
	}
	vim->again = false;
}

/* ---- keys ---- */

/* Keys of normal mode that are no characters: the commands they stand for. */
static const struct {
	uint32_t code;
	const char *keys;
} key_rows[] = {
	{ KEY_LEFT, "h" }, { KEY_RIGHT, "l" }, { KEY_HOME, "0" }, { KEY_END, "$" },
	{ KEY_BACKSPACE, "h" }, { KEY_DELETE, "x" },
};

static bool escape_key(struct editor *editor)
{
	struct vim *vim = editor->vim;
	bool pending = vim->len || vim->count || vim->operator_count || vim->naming || vim->reg;

	drop_command(vim);
	if (is_visual(vim)) {
		leave_visual(editor);
		return true;
	}
	return pending;
}

static bool normal_key(struct editor *editor, const struct key *key, enum editor_action *ret)
{
	struct vim *vim = editor->vim;
	struct span typed = key->text;

	*ret = EDITOR_CHANGED;
	if (bindings_has(editor->options.bindings, BIND_BASIC_CANCEL, key))
		return escape_key(editor);
	if (key->code == 'r' && key->mods == KEY_CTRL) {
		do_vim_undo(editor, true);
		drop_command(vim);
		return true;
	}
	if (vim->replacing && key->code == KEY_ENTER && !key->mods)
		typed = SPAN("\n");
	for (size_t i = 0; i < ARRAY_LEN(key_rows); i++)
		if (key->code == key_rows[i].code && !key->mods)
			typed = span_str(key_rows[i].keys);
	if (!typed.len || (key->mods & (KEY_CTRL | KEY_ALT | KEY_META))) {
		drop_command(vim);
		return false;
	}
	if (!take_typed(editor, typed))
		*ret = EDITOR_IGNORED;
	return true;
}

bool vim_key(struct editor *editor, const struct key *key, enum editor_action *ret)
{
	struct vim *vim = editor->vim;

	if (!vim || editor->history.searching)
		return false;
	if (vim->state != VIM_INSERT)
		return normal_key(editor, key, ret);
	if (bindings_has(editor->options.bindings, BIND_BASIC_CANCEL, key)) {
		leave_insert(editor);
		*ret = EDITOR_CHANGED;
		return true;
	}
	*ret = insert_key(editor, key);
	return true;
}
