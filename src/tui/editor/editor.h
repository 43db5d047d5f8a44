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
 *
 * A key that has no use here (Esc with nothing to close, Ctrl+C, Ctrl+D and Ctrl+Z with nothing to
 * clear, delete or undo, Up in an empty prompt without history) is EDITOR_IGNORED, so that the
 * caller can interrupt, quit, suspend.
 *
 * Shell mode: "!" in an empty draft begins it, and editor_is_shell says so; the draft does not have
 * the "!".  "!", Esc or Backspace in an empty draft end it, sending a command does not.
 *
 * Text that comes in is kept as it is, control characters too (they are shown as escapes, tabs as
 * blanks up to every fourth column), but for what no text has: CRLF and CR are LF; NUL, and bytes
 * that are no UTF-8, are U+FFFD.
 */
#ifndef HASP_TUI_EDITOR_EDITOR_H
#define HASP_TUI_EDITOR_EDITOR_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "tui/editor/bindings.h"
#include "tui/term/keys.h"
#include "tui/text/rows.h"

/* Longest draft, without what placeholders stand for (those: 64 MB together, draft.h). */
enum { EDITOR_BYTES_MAX = 1 << 20, EDITOR_MARK_BYTES = 4 };

struct editor;

struct editor_options {
	const struct bindings *bindings;  /* borrowed; NULL: the defaults */
	bool vim;
	/* Where a completion may be wanted: the draft and the caret's byte. It calls editor_offer
	 * as often as there are candidates, best first, also later (from the same thread, as long
	 * as the draft is the same: editor_version). A placeholder in `text` is EDITOR_MARK_BYTES
	 * bytes that are no UTF-8. May be NULL. */
	void (*complete)(void *data, struct editor *editor, struct span text, size_t caret);
	void *data;
};

enum editor_action {
	EDITOR_IGNORED,  /* the key is not the editor's: the caller's bindings may have it */
	EDITOR_CHANGED,  /* text, caret or candidates: draw again */
	EDITOR_SUBMIT,   /* Enter: editor_take */
	EDITOR_QUEUE,    /* Ctrl+Q, while there is text: editor_take */
	EDITOR_EXTERNAL, /* edit in an external editor: editor_text, then editor_set */
};

/* Never NULL. */
struct editor *editor_new(const struct editor_options *options);
void editor_free(struct editor *editor); /* NULL is fine */

/* Carries out a key. */
enum editor_action editor_key(struct editor *editor, const struct key *key);
/* More than 5 lines or 500 characters become "[Pasted Text: N lines]", as in Gemini CLI; Ctrl+O at
 * one shows its text, and makes it a placeholder again. False, and nothing was inserted: there is
 * no room for it. */
bool editor_paste(struct editor *editor, struct span text);

/* Inserts text as a paste does, but never as a placeholder. False: there is no room for it. */
bool editor_insert(struct editor *editor, struct span text);
/* The last byte before the caret; 0: there is none. */
char editor_before(const struct editor *editor);
/* The history is being searched: typed text is not part of the draft. */
bool editor_is_searching(const struct editor *editor);

/* The draft as it stands, placeholders expanded; the caller frees. */
char *editor_text(const struct editor *editor);
/* The same with placeholders, for a draft that is kept over a crash (editor_restore reads it). */
json_t *editor_save(const struct editor *editor);
/* What is no saved draft leaves the editor as it is. */
void editor_restore(struct editor *editor, const json_t *saved);
/* Takes the text away, into the history; the editor is empty. The caller frees. */
char *editor_take(struct editor *editor);
/* Replaces the draft; the old one can be had by undo. What is too long for a draft becomes a
 * placeholder. */
void editor_set(struct editor *editor, struct span text);
bool editor_is_empty(const struct editor *editor);
/* A number that changes with the draft's text. */
unsigned long editor_version(const struct editor *editor);

/* Whether the draft is a command for the shell. Ask before editor_take. */
bool editor_is_shell(const struct editor *editor);
void editor_set_shell(struct editor *editor, bool shell);
/* Two columns for the prompt: "> ", "! " in shell mode, "? " while searching. */
const char *editor_sign(const struct editor *editor);

/* A text that was shown as a placeholder. */
struct editor_pasted {
	size_t at, len;
	const char *label; /* borrowed, until the next key */
};
/* Whether a text that was taken has such ones in it: the first from byte `from` on. The history has
 * to have the prompt still. */
bool editor_find_pasted(const struct editor *editor, struct span text, size_t from,
                        struct editor_pasted *ret);

/* Earlier prompts, oldest first; of another session, when one begins. One that begins with "!" is
 * a command for the shell. */
void editor_history_add(struct editor *editor, struct span text);

/* A candidate: `text` replaces the draft's bytes [from, to); `label` and `note` are shown. */
void editor_offer(struct editor *editor, size_t from, size_t to, struct span text,
                  struct span label, struct span note);
/* Withdraws all offers: a later, better answer follows. */
void editor_offer_none(struct editor *editor);
/* Asks for candidates as after a change of the text. */
void editor_ask(struct editor *editor);
/* Whether a key has selected one of them. */
bool editor_is_choosing(const struct editor *editor);
/* The text of the selected one, borrowed until they change; NULL: there are none. */
const char *editor_selected(const struct editor *editor);
/* Selects the one with this text among the first `most`; false: it is none of them. */
bool editor_select(struct editor *editor, const char *text, size_t most);
/* Puts the selected one in, as a key does; nothing if there are none. */
void editor_accept(struct editor *editor);
void editor_set_vim(struct editor *editor, bool vim);
/* "SEARCH" while searching the history; "SHELL" in shell mode; "NORMAL", "INSERT", "VISUAL",
 * "VISUAL LINE" of vim mode; NULL: nothing to say. */
const char *editor_mode(const struct editor *editor);

/* Appends the draft as at most `max_rows` rows of `width` columns (it scrolls within; at least 7
 * columns are assumed), with `prompt` (2 columns) before the first and blanks before the others,
 * and says where the caret is. */
void editor_layout(struct editor *editor, const struct row *prompt, unsigned width, size_t max_rows,
                   struct rows *rows, size_t *ret_row, unsigned *ret_column);
/* Appends the candidates (at most `max_rows` rows), to be shown beneath. */
void editor_candidates(const struct editor *editor, unsigned width, size_t max_rows,
                       struct rows *rows);

#endif
