/* SPDX-License-Identifier: Apache-2.0 */
/* What each key does by its bindings: one table, tried from the top. */
#include "base/mem.h"
#include "base/text.h"
#include "tui/editor/draft.h"
#include "tui/editor/private.h"

/* Runs of edits that are undone together (draft_begin_run). */
enum { RUN_TYPED = 1, RUN_DELETED_LEFT, RUN_DELETED_RIGHT };

static enum editor_action changed_if(bool changed)
{
	return changed ? EDITOR_CHANGED : EDITOR_IGNORED;
}

/* ---- where things are ---- */

/* Letters, digits, "_", placeholders and all that is not ASCII. */
static bool is_word_at(const struct draft *draft, size_t at)
{
	unsigned char c = (unsigned char)draft->text.data[at];

	return c >= 0x80 || c == '_' || (c >= '0' && c <= '9') ||
	       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static size_t word_left(const struct draft *draft, size_t at)
{
	size_t before;

	while (at && !is_word_at(draft, before = draft_previous(draft, at)))
		at = before;
	while (at && is_word_at(draft, before = draft_previous(draft, at)))
		at = before;
	return at;
}

static size_t word_right(const struct draft *draft, size_t at)
{
	size_t len = draft->text.len;

	while (at < len && !is_word_at(draft, at))
		at = draft_next(draft, at);
	while (at < len && is_word_at(draft, at))
		at = draft_next(draft, at);
	return at;
}

/* ---- moving ---- */

static enum editor_action move_to(struct editor *editor, size_t at)
{
	editor->draft.caret = at;
	return EDITOR_CHANGED;
}

static enum editor_action do_left(struct editor *editor)
{
	return move_to(editor, draft_previous(&editor->draft, editor->draft.caret));
}

static enum editor_action do_right(struct editor *editor)
{
	return move_to(editor, draft_next(&editor->draft, editor->draft.caret));
}

static enum editor_action do_word_left(struct editor *editor)
{
	return move_to(editor, word_left(&editor->draft, editor->draft.caret));
}

static enum editor_action do_word_right(struct editor *editor)
{
	return move_to(editor, word_right(&editor->draft, editor->draft.caret));
}

/* The start of the row, and from there of the line. */
static enum editor_action do_home(struct editor *editor)
{
	size_t caret = editor->draft.caret;

	layout_refresh(editor);
	size_t start = editor->layout.rows[layout_row_of(editor, caret)].from;
	return move_to(editor, start < caret ? start : draft_line_start(&editor->draft, caret));
}

static enum editor_action do_end(struct editor *editor)
{
	size_t caret = editor->draft.caret;

	layout_refresh(editor);
	size_t end = layout_row_end(editor, layout_row_of(editor, caret));
	return move_to(editor, end > caret ? end : draft_line_end(&editor->draft, caret));
}

static enum editor_action do_previous(struct editor *editor)
{
	return changed_if(history_browse(editor, -1));
}

static enum editor_action do_next(struct editor *editor)
{
	return changed_if(history_browse(editor, 1));
}

static enum editor_action do_up(struct editor *editor)
{
	if (layout_move(editor, -1) || history_browse(editor, -1))
		return EDITOR_CHANGED;
	if (editor->draft.caret == 0)
		return EDITOR_IGNORED;
	return move_to(editor, 0);
}

static enum editor_action do_down(struct editor *editor)
{
	if (layout_move(editor, 1) || history_browse(editor, 1))
		return EDITOR_CHANGED;
	if (editor->draft.caret == editor->draft.text.len)
		return EDITOR_IGNORED;
	return move_to(editor, editor->draft.text.len);
}

/* ---- editing ---- */

static enum editor_action remove_bytes(struct editor *editor, size_t from, size_t to)
{
	if (from == to)
		return EDITOR_IGNORED;
	draft_begin(&editor->draft);
	draft_replace(&editor->draft, from, to, SPAN(""));
	return EDITOR_CHANGED;
}

/* What is deleted one after the other is one text, as in readline: `left` goes before it. */
static enum editor_action kill_bytes(struct editor *editor, size_t from, size_t to, bool left)
{
	const struct span text = span_head(span_skip(draft_view(&editor->draft), from), to - from);
	_cleanup_free_ char *before = mem_dup(editor->killed.data ? editor->killed.data : "",
	                                      editor->killed.len);
	const struct span old = span_of(before, editor->killed_last ? editor->killed.len : 0);

	if (from == to)
		return EDITOR_IGNORED;
	buf_clear(&editor->killed);
	buf_span(&editor->killed, left ? text : old);
	buf_span(&editor->killed, left ? old : text);
	editor->kills = true;
	return remove_bytes(editor, from, to);
}

/* To the line's end; at it, its LF. */
static enum editor_action do_kill_right(struct editor *editor)
{
	size_t caret = editor->draft.caret, end = draft_line_end(&editor->draft, caret);

	return kill_bytes(editor, caret, end > caret ? end : draft_next(&editor->draft, caret),
	                  /* left= */ false);
}

static enum editor_action do_kill_left(struct editor *editor)
{
	size_t caret = editor->draft.caret, start = draft_line_start(&editor->draft, caret);

	return kill_bytes(editor, start < caret ? start : draft_previous(&editor->draft, caret),
	                  caret, /* left= */ true);
}

static enum editor_action do_clear(struct editor *editor)
{
	history_end_browse(&editor->history);
	return remove_bytes(editor, 0, editor->draft.text.len);
}

static enum editor_action do_delete_word_left(struct editor *editor)
{
	return kill_bytes(editor, word_left(&editor->draft, editor->draft.caret),
	                  editor->draft.caret, /* left= */ true);
}

static enum editor_action do_delete_word_right(struct editor *editor)
{
	return kill_bytes(editor, editor->draft.caret,
	                  word_right(&editor->draft, editor->draft.caret), /* left= */ false);
}

static enum editor_action do_yank(struct editor *editor)
{
	if (!editor->killed.len)
		return EDITOR_IGNORED;
	draft_begin(&editor->draft);
	return changed_if(commands_insert(editor, buf_view(&editor->killed)));
}

static enum editor_action remove_run(struct editor *editor, size_t from, size_t to, int kind)
{
	if (from == to)
		return EDITOR_CHANGED;
	draft_begin_run(&editor->draft, kind);
	draft_replace(&editor->draft, from, to, SPAN(""));
	draft_end_run(&editor->draft);
	return EDITOR_CHANGED;
}

static enum editor_action do_delete_left(struct editor *editor)
{
	struct draft *draft = &editor->draft;

	if (!draft->text.len && draft->shell) {
		draft->shell = false;
		return EDITOR_CHANGED;
	}
	if (!draft->text.len)
		return EDITOR_IGNORED;
	return remove_run(editor, draft_previous(draft, draft->caret), draft->caret,
	                  RUN_DELETED_LEFT);
}

static enum editor_action do_delete_right(struct editor *editor)
{
	struct draft *draft = &editor->draft;

	if (!draft->text.len)
		return EDITOR_IGNORED;
	return remove_run(editor, draft->caret, draft_next(draft, draft->caret), RUN_DELETED_RIGHT);
}

static enum editor_action do_undo(struct editor *editor)
{
	return changed_if(draft_undo(&editor->draft));
}

static enum editor_action do_redo(struct editor *editor)
{
	return changed_if(draft_redo(&editor->draft));
}

bool commands_insert(struct editor *editor, struct span text)
{
	return draft_replace(&editor->draft, editor->draft.caret, editor->draft.caret, text);
}

static enum editor_action do_newline(struct editor *editor)
{
	draft_begin(&editor->draft);
	commands_insert(editor, SPAN("\n"));
	return EDITOR_CHANGED;
}

static enum editor_action type_text(struct editor *editor, struct span typed)
{
	_cleanup_buf_ struct buf text = BUF_INIT(DRAFT_BYTES_MAX);
	struct draft *draft = &editor->draft;
	size_t caret = draft->caret;

	draft_clean(&text, typed);
	if (!draft->text.len && span_eq(buf_view(&text), SPAN("!")) && !editor->history.searching) {
		draft->shell = !draft->shell;
		return EDITOR_CHANGED;
	}
	/* A run is a word and the blanks behind it. */
	bool blank = span_is_blank(buf_view(&text));
	bool new_word = !blank && caret && (draft->text.data[caret - 1] == ' ' ||
	                                    draft->text.data[caret - 1] == '\n');
	if (new_word)
		draft_begin(draft);
	draft_begin_run(draft, RUN_TYPED);
	commands_insert(editor, buf_view(&text));
	draft_end_run(draft);
	return EDITOR_CHANGED;
}

/* ---- placeholders ---- */

/* Byte `at` is where the draft has that pasted text at the caret. */
static bool find_expanded(const struct draft *draft, size_t number, size_t *ret_at)
{
	const struct pasted *paste = &draft->pastes[number];
	size_t start = draft->caret > paste->len ? draft->caret - paste->len : 0;
	struct span near = span_head(span_skip(draft_view(draft), start), 2 * paste->len);
	const char *found = paste->text && paste->len && near.len >= paste->len ?
		memmem(near.data, near.len, paste->text, paste->len) : NULL;

	*ret_at = found ? (size_t)(found - draft->text.data) : 0;
	return found && *ret_at <= draft->caret && draft->caret <= *ret_at + paste->len;
}

static enum editor_action collapse_paste(struct editor *editor)
{
	struct draft *draft = &editor->draft;

	for (size_t i = draft->paste_count; i-- > 0;) {
		char mark[DRAFT_MARK_BYTES];
		size_t at;

		if (!find_expanded(draft, i, &at))
			continue;
		draft_print_mark(i, mark);
		draft_begin(draft);
		draft_replace(draft, at, at + draft->pastes[i].len, span_of(mark, sizeof(mark)));
		return EDITOR_CHANGED;
	}
	return EDITOR_IGNORED;
}

/* The placeholder that the caret touches becomes its text, or a text becomes one again. */
static enum editor_action do_expand_paste(struct editor *editor)
{
	struct draft *draft = &editor->draft;
	size_t at = draft->caret;
	const struct pasted *paste = draft_paste_at(draft, at);

	if (!paste && at)
		paste = draft_paste_at(draft, at = draft_previous(draft, at));
	if (!paste)
		return collapse_paste(editor);
	draft_begin(draft);
	return changed_if(draft_replace(draft, at, at + DRAFT_MARK_BYTES,
	                                span_of(paste->text, paste->len)));
}

/* ---- sending ---- */

static enum editor_action do_submit(struct editor *editor)
{
	struct draft *draft = &editor->draft;

	if (draft->caret && draft->text.data[draft->caret - 1] == '\\') {
		draft_begin(draft);
		draft_replace(draft, draft->caret - 1, draft->caret, SPAN("\n"));
		return EDITOR_CHANGED;
	}
	return draft->text.len ? EDITOR_SUBMIT : EDITOR_IGNORED;
}

static enum editor_action do_queue(struct editor *editor)
{
	return editor->draft.text.len ? EDITOR_QUEUE : EDITOR_IGNORED;
}

static enum editor_action do_external(struct editor *editor)
{
	(void)editor;
	return EDITOR_EXTERNAL;
}

static enum editor_action do_cancel(struct editor *editor)
{
	if (!editor->draft.text.len && editor->draft.shell) {
		editor->draft.shell = false;
		return EDITOR_CHANGED;
	}
	return EDITOR_IGNORED;
}

/* ---- search ---- */

static enum editor_action do_search(struct editor *editor)
{
	history_search_begin(editor);
	return EDITOR_CHANGED;
}

static enum editor_action do_search_cancel(struct editor *editor)
{
	history_search_cancel(editor);
	return EDITOR_CHANGED;
}

static enum editor_action do_search_accept(struct editor *editor)
{
	history_search_accept(editor);
	return EDITOR_CHANGED;
}

static enum editor_action do_search_submit(struct editor *editor)
{
	return history_search_accept(editor) ? EDITOR_SUBMIT : EDITOR_CHANGED;
}

static enum editor_action do_search_older(struct editor *editor)
{
	if (editor->candidates.count)
		candidates_move(&editor->candidates, 1);
	return EDITOR_CHANGED;
}

/* All of what was found; the caret is free to go right when that is shown already. */
static enum editor_action do_unfold(struct editor *editor)
{
	bool was = editor->candidates.expanded;

	editor->candidates.expanded = true;
	return changed_if(!was);
}

static enum editor_action do_fold(struct editor *editor)
{
	bool was = editor->candidates.expanded;

	editor->candidates.expanded = false;
	return changed_if(was);
}

/* ---- candidates ---- */

static enum editor_action do_focus_previous(struct editor *editor)
{
	candidates_move(&editor->candidates, -1);
	return EDITOR_CHANGED;
}

static enum editor_action do_focus_next(struct editor *editor)
{
	candidates_move(&editor->candidates, 1);
	return EDITOR_CHANGED;
}

static enum editor_action do_close_candidates(struct editor *editor)
{
	candidates_clear(&editor->candidates);
	return EDITOR_CHANGED;
}

/* Puts the selected candidate in. What is there already, but for blanks, is none: the key has its
 * other meaning. */
enum editor_action commands_accept(struct editor *editor)
{
	struct draft *draft = &editor->draft;
	const struct draft_completion *chosen = &editor->candidates.at[editor->candidates.selected];
	struct span text = span_of(chosen->text, chosen->text_len);
	struct span old = span_head(span_skip(draft_view(draft), chosen->from),
	                            chosen->to - chosen->from);

	if (span_eq(span_trim(old), span_trim(text))) {
		candidates_clear(&editor->candidates);
		return EDITOR_IGNORED;
	}
	draft_begin(draft);
	bool fits = draft_replace(draft, chosen->from, chosen->to, text);
	if (!fits)
		candidates_clear(&editor->candidates);
	return EDITOR_CHANGED;
}

/* ---- the table ---- */

enum when { ALWAYS, SEARCHING, FOUND, NOT_SEARCHING, OFFERED, UNASKED };

static const struct {
	enum bind bind;
	enum when when;
	/* EDITOR_IGNORED: the rows below may have the key. */
	enum editor_action (*act)(struct editor *editor);
} command_rows[] = {
	{ BIND_BASIC_CANCEL, SEARCHING, do_search_cancel },
	{ BIND_HISTORY_SEARCH_SUBMIT, SEARCHING, do_search_submit },
	{ BIND_HISTORY_SEARCH_ACCEPT, SEARCHING, do_search_accept },
	{ BIND_HISTORY_SEARCH_START, SEARCHING, do_search_older },
	{ BIND_SUGGEST_EXPAND, FOUND, do_unfold },
	{ BIND_SUGGEST_COLLAPSE, FOUND, do_fold },
	{ BIND_BASIC_CANCEL, OFFERED, do_close_candidates },
	{ BIND_INPUT_SUBMIT, UNASKED, do_submit },
	{ BIND_SUGGEST_ACCEPT, OFFERED, commands_accept },
	{ BIND_SUGGEST_FOCUS_PREVIOUS, OFFERED, do_focus_previous },
	{ BIND_SUGGEST_FOCUS_NEXT, OFFERED, do_focus_next },
	{ BIND_BASIC_CANCEL, ALWAYS, do_cancel },
	{ BIND_INPUT_NEWLINE, NOT_SEARCHING, do_newline },
	{ BIND_INPUT_SUBMIT, NOT_SEARCHING, do_submit },
	{ BIND_INPUT_QUEUE_MESSAGE, NOT_SEARCHING, do_queue },
	{ BIND_INPUT_OPEN_EXTERNAL_EDITOR, NOT_SEARCHING, do_external },
	{ BIND_INPUT_DEPRECATED_OPEN_EXTERNAL_EDITOR, NOT_SEARCHING, do_external },
	{ BIND_HISTORY_SEARCH_START, NOT_SEARCHING, do_search },
	{ BIND_APP_EXPAND_PASTE, NOT_SEARCHING, do_expand_paste },
	{ BIND_CURSOR_UP, NOT_SEARCHING, do_up },
	{ BIND_CURSOR_DOWN, NOT_SEARCHING, do_down },
	{ BIND_HISTORY_PREVIOUS, NOT_SEARCHING, do_previous },
	{ BIND_HISTORY_NEXT, NOT_SEARCHING, do_next },
	{ BIND_CURSOR_HOME, ALWAYS, do_home },
	{ BIND_CURSOR_END, ALWAYS, do_end },
	{ BIND_CURSOR_LEFT, ALWAYS, do_left },
	{ BIND_CURSOR_RIGHT, ALWAYS, do_right },
	{ BIND_CURSOR_WORD_LEFT, ALWAYS, do_word_left },
	{ BIND_CURSOR_WORD_RIGHT, ALWAYS, do_word_right },
	{ BIND_EDIT_DELETE_RIGHT_ALL, ALWAYS, do_kill_right },
	{ BIND_EDIT_DELETE_LEFT_ALL, ALWAYS, do_kill_left },
	{ BIND_EDIT_CLEAR, ALWAYS, do_clear },
	{ BIND_EDIT_DELETE_WORD_LEFT, ALWAYS, do_delete_word_left },
	{ BIND_EDIT_DELETE_WORD_RIGHT, ALWAYS, do_delete_word_right },
	{ BIND_EDIT_DELETE_LEFT, ALWAYS, do_delete_left },
	{ BIND_EDIT_DELETE_RIGHT, ALWAYS, do_delete_right },
	{ BIND_EDIT_YANK, ALWAYS, do_yank },
	{ BIND_EDIT_UNDO, NOT_SEARCHING, do_undo },
	{ BIND_EDIT_REDO, NOT_SEARCHING, do_redo },
};

/* Whether nothing is typed of what is offered ("/chat "), and the user has selected none of it:
 * Enter is for the draft as it stands. */
static bool is_unasked(const struct editor *editor)
{
	const struct draft_completions *candidates = &editor->candidates;
	const struct span text = draft_view(&editor->draft);
	const struct draft_completion *first = candidates->at;

	return candidates->count && !candidates->moved && !editor->history.searching &&
	       first->from == first->to && first->from > 0 && text.data[first->from - 1] == ' ';
}

static bool is_due(const struct editor *editor, enum when when)
{
	bool searching = editor->history.searching;

	switch (when) {
	case ALWAYS:
		return true;
	case SEARCHING:
		return searching;
	case NOT_SEARCHING:
		return !searching;
	case FOUND:
		return searching && editor->candidates.count > 0;
	case OFFERED:
		return editor->candidates.count > 0;
	case UNASKED:
		return is_unasked(editor);
	}
	return false;
}

enum editor_action commands_key(struct editor *editor, const struct key *key)
{
	for (size_t i = 0; i < ARRAY_LEN(command_rows); i++) {
		if (!is_due(editor, command_rows[i].when) ||
		    !bindings_has(editor->options.bindings, command_rows[i].bind, key))
			continue;
		enum editor_action action = command_rows[i].act(editor);
		if (action != EDITOR_IGNORED)
			return action;
	}
	if (key->text.len && !(key->mods & (KEY_CTRL | KEY_ALT | KEY_META)))
		return type_text(editor, key->text);
	/* While searching, no key is anybody else's. */
	return editor->history.searching ? EDITOR_CHANGED : EDITOR_IGNORED;
}
