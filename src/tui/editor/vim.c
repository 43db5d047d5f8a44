/* SPDX-License-Identifier: Apache-2.0 */
/* Vim's modes: keys gathered to commands, commands carried out, repeated and undone.
 *
 *     ["x] [count] operator [count] motion      or a text object, or the operator again
 *     ["x] [count] command
 */
#include "base/mem.h"
#include "base/text.h"
#include "tui/editor/vim.h"

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

void vim_reset(struct vim *vim)
{
	vim_drop_command(vim);
	vim->state = VIM_INSERT;
	vim->insert_from = 0;
	vim->insert_count = 1;
	vim->insert_line = false;
}

/* ---- insert mode ---- */

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
	draft->held = false;
	draft_begin(draft);
	vim->state = VIM_NORMAL;
	vim->goal = NO_COLUMN;
	vim_drop_command(vim);
}

/* Insert mode goes by the bindings; typed text is remembered for ".". */
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
		draft->held = false;
		draft_begin(draft);
		draft->held = true;
	} else if (draft->caret < vim->insert_from) {
		vim->insert_from = draft->caret;
	}
	return action;
}

/* ---- carrying out ---- */

static void run_motion(struct editor *editor, const struct vim_motion_row *row,
                       struct span argument)
{
	struct vim *vim = editor->vim;
	struct draft *draft = &editor->draft;
	char operator = vim->operator ? vim->operator->sign : '\0';
	struct vim_motion motion = {
		.draft = draft, .at = draft->caret, .count = vim_count(vim),
		.counted = vim_has_count(vim), .operator = operator,
		.visual = vim_is_visual(vim), .kind = row->kind, .goal = vim->goal,
		.find = &vim->find, .argument = argument };
	bool done = row->go(&motion, row->how);

	if (!done && vim->operator) {
		/* As far as it came. */
		draft->caret = vim_clamp(draft, motion.at);
		vim_drop_command(vim);
		return;
	}
	if (done || motion.keeps_goal)
		vim->goal = motion.keeps_goal ? motion.goal : NO_COLUMN;
	if (!vim->operator) {
		/* j and k at the ends go through earlier prompts. */
		if (!done && row->kind == VIM_LINES && !vim_is_visual(vim) && !vim->again &&
		    history_browse(editor, row->how))
			draft->caret = vim_clamp(draft, draft->caret);
		else
			draft->caret = motion.visual ? motion.at : vim_clamp(draft, motion.at);
		vim_drop_command(vim);
		return;
	}
	struct vim_region region = vim_region_of_motion(&motion, draft->caret);
	if (vim->operator->changes)
		vim_remember(vim);
	draft->caret = draft->caret < motion.at ? draft->caret : motion.at;
	vim_operate(editor, vim->operator, &region);
}

static void run_object(struct editor *editor, struct span keys)
{
	struct vim *vim = editor->vim;
	struct draft *draft = &editor->draft;
	struct vim_motion motion = {
		.draft = draft, .at = draft->caret, .count = vim_count(vim),
		.operator = vim->operator ? vim->operator->sign : '\0',
		.visual = vim_is_visual(vim) };

	vim->goal = NO_COLUMN;
	if (!vim_object(&motion, keys)) {
		/* Too many words: as far as there were any. */
		draft->caret = vim_clamp(draft, motion.at);
		vim_drop_command(vim);
		return;
	}
	if (motion.visual) {
		vim->anchor = motion.start;
		draft->caret = motion.kind == VIM_EXCLUSIVE && motion.at > motion.start ?
			draft_previous(draft, motion.at) : motion.at;
		vim->state = motion.kind == VIM_LINES ? VIM_VISUAL_LINES : VIM_VISUAL;
		vim_drop_command(vim);
		return;
	}
	struct vim_region region = vim_region_of_motion(&motion, motion.start);
	if (vim->operator->changes)
		vim_remember(vim);
	draft->caret = motion.start;
	vim_operate(editor, vim->operator, &region);
}

static void run_replace(struct editor *editor, struct span with)
{
	struct vim *vim = editor->vim;
	struct draft *draft = &editor->draft;
	size_t from = draft->caret, to = from;
	_cleanup_buf_ struct buf text = BUF_INIT(DRAFT_BYTES_MAX);

	vim->goal = NO_COLUMN;
	if (vim_is_visual(vim)) {
		struct vim_region region = vim_selected(editor, false);

		vim_remember_selection(editor);
		vim->state = VIM_NORMAL;
		for (size_t at = region.from; at < region.to; at = draft_next(draft, at))
			buf_span(&text, draft->text.data[at] == '\n' ? SPAN("\n") : with);
		draft->caret = from = region.from;
		draft_begin(draft);
		draft_replace(draft, from, region.to, buf_view(&text));
		draft->caret = vim_clamp(draft, draft_floor(draft, from));
		vim_drop_command(vim);
		return;
	}
	unsigned count = vim_count(vim), i = 0;
	size_t end = draft_line_end(draft, from);
	for (; i < count && to < end; i++) {
		to = draft_next(draft, to);
		if (!span_eq(with, SPAN("\n")) || i == 0)
			buf_span(&text, with);
	}
	if (i == count) {
		vim_remember(vim);
		draft_begin(draft);
		draft_replace(draft, from, to, buf_view(&text));
		draft->caret = span_eq(with, SPAN("\n")) ? vim_clamp(draft, from + 1)
		                                         : draft_previous(draft, draft->caret);
	}
	vim_drop_command(vim);
}

/* Does the keys of another command in place of this one's, with its count and register. */
static void do_instead(struct editor *editor, const char *keys);

static void run_command(struct editor *editor, const struct vim_command *command)
{
	struct vim *vim = editor->vim;

	if (command->instead)
		do_instead(editor, command->instead);
	else
		command->act(editor, command->how);
	vim_drop_command(vim);
	if (vim->state == VIM_NORMAL)
		editor->draft.caret = vim_clamp(&editor->draft, editor->draft.caret);
	vim->goal = NO_COLUMN;
}

/* ---- gathering keys ---- */

static bool take_vim_count(struct vim *vim, struct span typed)
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
	const struct vim_operator *found = vim_operator_row(name);

	if (vim->operator) {
		/* "gugu" and "guu" are lines; any other operator ends this one. */
		bool again = found == vim->operator ||
			     (vim->operator->again &&
			      span_eq(name, span_str(vim->operator->again)));

		if (!again && !found)
			return false;
		if (again)
			vim_operate_lines(editor);
		else
			vim_drop_command(vim);
		return true;
	}
	if (!found)
		return false;
	if (vim_is_visual(vim)) {
		vim_operate_selection(editor, found, false);
		return true;
	}
	vim->operator = found;
	vim->operator_count = vim->count;
	vim->count = 0;
	vim->name = vim->len;
	return true;
}

/* "." */
static void do_again(struct editor *editor);

/* A key of a command by what was typed so far. False: it has no meaning. */
static bool take_vim_name(struct editor *editor)
{
	struct vim *vim = editor->vim;
	struct span name = span_of(vim->keys + vim->name, vim->len - vim->name);
	bool selecting = vim->operator || vim_is_visual(vim);
	const struct vim_motion_row *motion = vim_motion_row(name);
	const struct vim_command *command = vim_command_row(vim_is_visual(vim), name);

	if (selecting && (name.data[0] == 'i' || name.data[0] == 'a')) {
		if (name.len > 1)
			run_object(editor, name);
		return true;
	}
	if (take_operator(editor, name))
		return true;
	if (motion && motion->takes_argument) {
		vim->finding = motion;
		return true;
	}
	if (motion) {
		run_motion(editor, motion, SPAN(""));
		return true;
	}
	if (!selecting && span_eq(name, SPAN("."))) {
		do_again(editor);
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
	return span_eq(name, SPAN("g")); /* which begins longer ones */
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
		if (take_vim_count(vim, typed))
			return true;
		if (span_eq(typed, SPAN("\"")) && vim->len == vim->name) {
			vim->naming = true;
			return true;
		}
	}
	if (typed.len > sizeof(vim->keys) - vim->len) {
		vim_drop_command(vim);
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
	if (take_vim_name(editor))
		return true;
	bool alone = vim->len == typed.len;
	vim_drop_command(vim);
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
	unsigned count = vim_has_count(vim) ? vim_count(vim) : 0;
	uint32_t reg = vim->reg;

	vim_drop_command(vim);
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

static void do_again(struct editor *editor)
{
	struct vim *vim = editor->vim;
	struct vim_change *change = &vim->change;
	unsigned count = vim_has_count(vim) ? vim_count(vim) : 0;

	vim_drop_command(vim);
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
	vim->goal = NO_COLUMN;
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

	vim_drop_command(vim);
	if (vim_is_visual(vim)) {
		vim_leave_visual(editor);
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
		vim_undo(editor, true);
		vim_drop_command(vim);
		return true;
	}
	if (vim->replacing && key->code == KEY_ENTER && !key->mods)
		typed = SPAN("\n");
	for (size_t i = 0; i < ARRAY_LEN(key_rows); i++)
		if (key->code == key_rows[i].code && !key->mods)
			typed = span_str(key_rows[i].keys);
	if (!typed.len || (key->mods & (KEY_CTRL | KEY_ALT | KEY_META))) {
		vim_drop_command(vim);
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
	/* The text may have been replaced since, by an earlier prompt for example. */
	if (vim->anchor > editor->draft.text.len)
		vim->anchor = editor->draft.text.len;
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
