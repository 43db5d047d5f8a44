/* SPDX-License-Identifier: Apache-2.0 */
/* The composer as a whole: keys to those who have them, text in and out. */
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "tui/editor/draft.h"
#include "tui/editor/private.h"
#include "tui/editor/vim.h"

/* The last ones: a prompt that is shown has just been sent. */
enum { PASTES_SOUGHT_MAX = 64 };

struct editor *editor_new(const struct editor_options *options)
{
	struct editor *editor = mem_alloc(1, sizeof(*editor));

	editor->options = *options;
	editor->goal = NO_COLUMN;
	editor->killed = (struct buf)BUF_INIT(DRAFT_BYTES_MAX);
	draft_init(&editor->draft);
	if (!options->bindings)
		editor->options.bindings = editor->own_bindings = bindings_new();
	editor_set_vim(editor, options->vim);
	return editor;
}

void editor_free(struct editor *editor)
{
	if (!editor)
		return;
	vim_free(editor->vim);
	candidates_drop(&editor->candidates);
	history_release(&editor->history);
	layout_release(&editor->layout);
	buf_release(&editor->killed);
	draft_drop(&editor->draft);
	bindings_free(editor->own_bindings);
	free(editor);
}

void editor_set_vim(struct editor *editor, bool vim)
{
	if (vim && !editor->vim)
		editor->vim = vim_new();
	if (!vim) {
		vim_free(editor->vim);
		editor->vim = NULL;
		editor->draft.held = false;
	}
	editor->options.vim = vim;
}

void editor_ask(struct editor *editor)
{
	candidates_clear(&editor->candidates);
	if (editor->options.complete && editor->draft.text.len)
		editor->options.complete(editor->options.data, editor, draft_view(&editor->draft),
		                         editor->draft.caret);
}

/* After a key: what depends on text and caret follows them. */
static void follow_key(struct editor *editor, unsigned long version, size_t caret,
                       enum editor_action action)
{
	bool changed = editor->draft.version != version;

	if (!editor->keep_goal)
		editor->goal = NO_COLUMN;
	if (editor->history.searching) {
		history_search_refresh(editor);
	} else if (changed && action == EDITOR_CHANGED && !editor->history.browsing) {
		editor_ask(editor);
	} else if (changed || editor->draft.caret != caret) {
		candidates_clear(&editor->candidates);
	}
}

enum editor_action editor_key(struct editor *editor, const struct key *key)
{
	unsigned long version = editor->draft.version;
	size_t caret = editor->draft.caret;
	enum editor_action action;

	editor->keep_goal = editor->kills = false;
	if (!vim_key(editor, key, &action))
		action = commands_key(editor, key);
	editor->killed_last = editor->kills;
	/* What was inserted or deleted may have joined clusters about the caret. */
	draft_place(&editor->draft, editor->draft.caret);
	follow_key(editor, version, caret, action);
	return action;
}

void editor_accept(struct editor *editor)
{
	const unsigned long version = editor->draft.version;
	const size_t caret = editor->draft.caret;

	if (!editor->candidates.count || editor->history.searching)
		return;
	editor->keep_goal = false;
	follow_key(editor, version, caret, commands_accept(editor));
}

/* Frees the pasted texts that nothing refers to any more. */
static void forget_pastes(struct editor *editor)
{
	const struct draft *draft = &editor->draft;
	const struct editor_history *history = &editor->history;
	size_t most = history->count + 2 * draft->count + 4 + VIM_TEXTS_MAX, count = 0;

	if (!draft->paste_bytes)
		return;
	_cleanup_free_ struct span *texts = mem_alloc(most, sizeof(*texts));
	for (size_t i = 0; i < history->count; i++)
		texts[count++] = span_of(history->at[i].text, history->at[i].len);
	for (size_t i = 0; i < draft->count; i++) {
		texts[count++] = span_of(draft->edits[i].before, draft->edits[i].before_len);
		texts[count++] = span_of(draft->edits[i].after, draft->edits[i].after_len);
	}
	texts[count++] = draft_view(draft);
	texts[count++] = buf_view(&editor->killed);
	texts[count++] = span_of(history->kept.text, history->kept.len);
	texts[count++] = span_of(history->searched.text, history->searched.len);
	count += vim_texts(editor->vim, texts + count);
	draft_forget(&editor->draft, texts, count);
}

/* As draft_keep_paste; the oldest prompts with placeholders make room. */
static bool keep_paste(struct editor *editor, struct span text, char ret_mark[DRAFT_MARK_BYTES])
{
	while (!draft_keep_paste(&editor->draft, text, ret_mark)) {
		forget_pastes(editor);
		if (draft_keep_paste(&editor->draft, text, ret_mark))
			return true;
		if (!history_drop_marked(&editor->history))
			return false;
	}
	return true;
}

static bool insert_clean(struct editor *editor, struct span text, bool may_fold)
{
	_cleanup_buf_ struct buf clean = BUF_INIT(3 * KEYS_PASTE_BYTES_MAX);
	unsigned long version = editor->draft.version;
	size_t caret = editor->draft.caret;
	char mark[DRAFT_MARK_BYTES];
	bool fits;

	draft_clean(&clean, text);
	if (clean.overflowed)
		return false;
	draft_begin(&editor->draft);
	if (!may_fold || !draft_is_long_paste(buf_view(&clean)) || editor->history.searching)
		fits = commands_insert(editor, buf_view(&clean));
	else
		fits = keep_paste(editor, buf_view(&clean), mark) &&
		       commands_insert(editor, span_of(mark, sizeof(mark)));
	draft_begin(&editor->draft);
	editor->keep_goal = false;
	draft_place(&editor->draft, editor->draft.caret);
	follow_key(editor, version, caret, EDITOR_CHANGED);
	return fits;
}

bool editor_paste(struct editor *editor, struct span text)
{
	return insert_clean(editor, text, true);
}

bool editor_insert(struct editor *editor, struct span text)
{
	return insert_clean(editor, text, false);
}

char editor_before(const struct editor *editor)
{
	const size_t caret = editor->draft.caret;

	return caret ? editor->draft.text.data[caret - 1] : '\0';
}

bool editor_is_searching(const struct editor *editor)
{
	return editor->history.searching;
}

char *editor_text(const struct editor *editor)
{
	_cleanup_buf_ struct buf out = BUF_INIT(DRAFT_EXPANDED_BYTES_MAX + DRAFT_BYTES_MAX);

	draft_expand(&editor->draft, draft_view(&editor->draft), &out);
	return buf_steal(&out);
}

char *editor_take(struct editor *editor)
{
	char *text = editor_text(editor);

	history_add(editor, draft_view(&editor->draft), editor->draft.shell);
	draft_clear(&editor->draft);
	candidates_clear(&editor->candidates);
	editor->history.searching = false;
	editor->goal = NO_COLUMN;
	editor->layout.top = 0;
	if (editor->vim)
		vim_reset(editor->vim);
	forget_pastes(editor);
	return text;
}

void editor_set(struct editor *editor, struct span text)
{
	_cleanup_buf_ struct buf clean = BUF_INIT(DRAFT_EXPANDED_BYTES_MAX);
	struct draft *draft = &editor->draft;
	struct span new;
	char mark[DRAFT_MARK_BYTES];

	if (editor->history.searching)
		history_search_cancel(editor);
	history_end_browse(&editor->history);
	candidates_clear(&editor->candidates);
	draft_clean(&clean, text);
	new = buf_view(&clean);
	draft->held = false;
	draft_begin(draft);
	if (new.len > DRAFT_BYTES_MAX && keep_paste(editor, new, mark))
		new = span_of(mark, sizeof(mark));
	draft_replace(draft, 0, draft->text.len, new);
	draft_begin(draft);
	if (editor->vim)
		vim_reset(editor->vim);
}

bool editor_find_pasted(const struct editor *editor, struct span text, size_t from,
                        struct editor_pasted *ret)
{
	const struct draft *draft = &editor->draft;
	const struct span rest = span_skip(text, from);
	size_t seen = 0;
	bool found = false;

	for (size_t i = draft->paste_count; i-- > 0 && seen < PASTES_SOUGHT_MAX;) {
		const struct pasted *paste = &draft->pastes[i];
		const char *at = paste->len && paste->text && rest.len ?
		                         memmem(rest.data, rest.len, paste->text, paste->len) :
		                         NULL;
		const size_t offset = at ? from + (size_t)(at - rest.data) : 0;

		seen += paste->text != NULL;
		/* Of two that begin at the same place the longer one. */
		if (!at || (found && (offset > ret->at ||
		                      (offset == ret->at && paste->len <= ret->len))))
			continue;
		*ret = (struct editor_pasted){ offset, paste->len, paste->label };
		found = true;
	}
	return found;
}

bool editor_is_empty(const struct editor *editor)
{
	return editor->draft.text.len == 0;
}

unsigned long editor_version(const struct editor *editor)
{
	return editor->draft.version;
}

bool editor_is_shell(const struct editor *editor)
{
	return editor->draft.shell;
}

void editor_set_shell(struct editor *editor, bool shell)
{
	editor->draft.shell = shell;
}

const char *editor_sign(const struct editor *editor)
{
	if (editor->history.searching)
		return "? ";
	return editor->draft.shell ? "! " : "> ";
}

const char *editor_mode(const struct editor *editor)
{
	if (editor->history.searching)
		return "SEARCH";
	if (editor->draft.shell)
		return "SHELL";
	return editor->vim ? vim_mode(editor->vim) : NULL;
}

void editor_history_add(struct editor *editor, struct span text)
{
	_cleanup_buf_ struct buf clean = BUF_INIT(DRAFT_BYTES_MAX);
	bool shell = span_starts(text, SPAN("!"));

	draft_clean(&clean, span_skip(text, shell));
	if (!clean.overflowed)
		history_add(editor, buf_view(&clean), shell);
}

void editor_layout(struct editor *editor, const struct row *prompt, unsigned width, size_t max_rows,
                   struct rows *rows, size_t *ret_row, unsigned *ret_column)
{
	struct draft_layout *layout = &editor->layout;

	if (!vim_selection(editor, &layout->marked_from, &layout->marked_to))
		layout->marked_from = layout->marked_to = 0;
	layout_draw(editor, prompt, width, max_rows, rows, ret_row, ret_column);
}

/* ---- kept over a crash ---- */

json_t *editor_save(const struct editor *editor)
{
	const struct draft *draft = &editor->draft;
	json_t *pieces = json_array();
	size_t at = 0;

	while (at < draft->text.len) {
		const struct pasted *paste = draft_paste_at(draft, at);
		struct span rest = span_skip(draft_view(draft), at);
		const char *mark = memchr(rest.data, DRAFT_MARK, rest.len);

		if (paste) {
			json_array_append_new(pieces, json_pack("{so}", "paste",
			                      json_text(span_of(paste->text, paste->len))));
			at += DRAFT_MARK_BYTES;
			continue;
		}
		rest.len = mark ? (size_t)(mark - rest.data) : rest.len;
		json_array_append_new(pieces, json_text(rest));
		at += rest.len;
	}
	return json_pack("{sosIsb}", "text", pieces, "caret", (json_int_t)draft->caret, "shell",
	                 draft->shell);
}

static void restore_piece(struct editor *editor, const json_t *piece)
{
	struct span paste = json_span(json_object_get(piece, "paste"));
	_cleanup_buf_ struct buf clean = BUF_INIT(DRAFT_EXPANDED_BYTES_MAX);
	char mark[DRAFT_MARK_BYTES];

	draft_clean(&clean, paste.data ? paste : json_span(piece));
	if (!paste.data)
		commands_insert(editor, buf_view(&clean));
	else if (keep_paste(editor, buf_view(&clean), mark))
		commands_insert(editor, span_of(mark, sizeof(mark)));
}

void editor_restore(struct editor *editor, const json_t *saved)
{
	const json_t *pieces = json_object_get(saved, "text");
	json_int_t caret = json_integer_value(json_object_get(saved, "caret"));

	if (!json_is_array(pieces))
		return;
	editor_set(editor, SPAN(""));
	draft_clear(&editor->draft);
	for (size_t i = 0; i < json_array_size(pieces); i++)
		restore_piece(editor, json_array_get(pieces, i));
	editor->draft.shell = json_is_true(json_object_get(saved, "shell"));
	draft_drop_undo(&editor->draft);
	if (caret >= 0)
		draft_place(&editor->draft, (size_t)caret);
}
