/* SPDX-License-Identifier: Apache-2.0 */
/* The composer's text: editing, undo, history, vim's modes, pastes as placeholders.
 *
 *     struct editor *editor = editor_new(&options);
 *     switch (editor_key(editor, &key)) { case EDITOR_SUBMIT: text = editor_take(editor); ... }
 *     editor_paste(editor, text);
 *     editor_layout(editor, width, max_rows, &rows, &caret_row, &caret_column);
 *     editor_free(editor);
 *
 * It draws nothing and waits for nothing.  What keys do is the bindings' (bindings.h).
 */
#ifndef HASP_TUI_EDITOR_EDITOR_H
#define HASP_TUI_EDITOR_EDITOR_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "tui/editor/bindings.h"
#include "tui/term/keys.h"
#include "tui/text/rows.h"

struct editor;

/* Offers what may complete the word before the caret: pushes candidates by editor_offer. */
struct editor_options {
	const struct bindings *bindings;  /* borrowed */
	bool vim;
	/* Where a completion may be wanted: the draft and the caret's byte. It calls editor_offer as
	 * often as there are candidates, best first, also later (from the same thread). May be NULL. */
	void (*complete)(void *data, struct editor *editor, struct span text, size_t caret);
	void *data;
};

enum editor_action {
	EDITOR_IGNORED,  /* the key is not the editor's: the caller's bindings may have it */
	EDITOR_CHANGED,  /* text, caret or candidates: draw again */
	EDITOR_SUBMIT,   /* Enter: editor_take */
	EDITOR_QUEUE,    /* Tab, while there is text and nothing to complete */
	EDITOR_EXTERNAL, /* edit in an external editor: editor_text, then editor_set */
};

/* Never NULL. */
struct editor *editor_new(const struct editor_options *options);
void editor_free(struct editor *editor); /* NULL is fine */

enum editor_action editor_key(struct editor *editor, const struct key *key);
/* More than 5 lines or 500 characters become "[Pasted Text: N lines]", as in Gemini CLI. */
void editor_paste(struct editor *editor, struct span text);

/* The draft as it stands, placeholders expanded; the caller frees. */
char *editor_text(const struct editor *editor);
/* The same with placeholders, for a draft that is kept over a crash (editor_restore reads it). */
json_t *editor_save(const struct editor *editor);
void editor_restore(struct editor *editor, const json_t *saved);
/* Takes the text away, into the history; the editor is empty. The caller frees. */
char *editor_take(struct editor *editor);
/* Replaces the draft; the old one can be had by undo. */
void editor_set(struct editor *editor, struct span text);
bool editor_is_empty(const struct editor *editor);

/* Earlier prompts, oldest first; of another session, when one begins. */
void editor_history_add(struct editor *editor, struct span text);

/* A candidate: `text` replaces the draft's bytes [from, to); `label` and `note` are shown. */
void editor_offer(struct editor *editor, size_t from, size_t to, struct span text, struct span label,
                  struct span note);
void editor_set_vim(struct editor *editor, bool vim);
/* "NORMAL", "INSERT", ... of vim mode, "SEARCH" of reverse search; NULL: nothing to say. */
const char *editor_mode(const struct editor *editor);

/* Appends the draft as at most `max_rows` rows of `width` columns (it scrolls within), with `prompt`
 * (2 columns) before the first and blanks before the others, and says where the caret is. */
void editor_layout(struct editor *editor, const struct row *prompt, unsigned width, size_t max_rows,
                   struct rows *rows, size_t *ret_row, unsigned *ret_column);
/* Appends the candidates (at most `max_rows` rows), to be shown beneath. */
void editor_candidates(const struct editor *editor, unsigned width, size_t max_rows,
                       struct rows *rows);

#endif
