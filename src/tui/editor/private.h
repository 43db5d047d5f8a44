/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the composer share: the editor as a whole.  From bottom to top: draft, layout,
 * candidates, history, commands, vim's files, editor. */
#ifndef HASP_TUI_EDITOR_PRIVATE_H
#define HASP_TUI_EDITOR_PRIVATE_H

#include "tui/editor/draft.h"
#include "tui/editor/editor.h"

enum {
	NO_COLUMN = -1,
	TAB_COLUMNS = 4,
	PROMPT_COLUMNS = 2,
};

/* ---- layout.c: rows on the screen ---- */

struct visual {
	size_t from, to; /* bytes; the LF that ends a line stands at `to` */
};

struct draft_layout {
	struct visual *rows; /* owned; at least one */
	size_t count, cap;
	unsigned columns;    /* of text in a row */
	unsigned long version;
	bool valid;
	size_t top;          /* the first row shown */
	size_t marked_from, marked_to; /* bytes that are selected */
};

/* ---- candidates.c ---- */

struct draft_completion {
	size_t from, to;           /* bytes of the draft */
	char *text, *label, *note; /* owned; `text` as a draft has it */
	size_t text_len;
};

struct draft_completions {
	struct draft_completion *at; /* owned */
	size_t count, cap;
	size_t selected;
	bool moved;           /* it was the user who selected it */
	bool expanded;        /* all of the selected one is shown */
};

/* ---- history.c ---- */

struct past {
	char *text; /* owned; as a draft has it, with marks */
	size_t len, caret;
	bool shell;
};

struct editor_history {
	struct past *at; /* owned; oldest first */
	size_t count, cap, bytes;
	bool browsing;
	size_t shown;         /* the one in the draft, while browsing */
	bool only_shell;
	struct past kept;     /* the draft before browsing */
	bool searching;
	struct past searched; /* the draft before the search */
	unsigned long search_version;
};

struct vim;

struct editor {
	struct editor_options options;
	struct bindings *own_bindings; /* if the options have none */
	struct draft draft;
	struct draft_layout layout;
	struct draft_completions candidates;
	struct editor_history history;
	struct vim *vim; /* owned; NULL: not in vim mode */
	struct buf killed;      /* what was deleted last, as a draft has it; not characters */
	bool kills, killed_last; /* this key deletes such, the one before it did */
	int goal;        /* the column that up and down keep to; NO_COLUMN */
	bool keep_goal;
};

/* Frees what it holds. */
void layout_release(struct draft_layout *layout);
/* Brings the rows up to date with the draft. */
void layout_refresh(struct editor *editor);
/* The row that byte `at` is in. */
size_t layout_row_of(const struct editor *editor, size_t at);
/* The last place of the caret on a row. */
size_t layout_row_end(const struct editor *editor, size_t row);
/* Moves the caret by rows, keeping to its column; false: there is none. */
bool layout_move(struct editor *editor, int rows);
/* As editor_layout; the bytes that are selected (marked_from) are set already. */
void layout_draw(struct editor *editor, const struct row *prompt, unsigned width, size_t max_rows,
                 struct rows *rows, size_t *ret_row, unsigned *ret_column);

/* Takes all away; frees them; adds one at the end. */
void candidates_clear(struct draft_completions *candidates);
void candidates_drop(struct draft_completions *candidates);
void candidates_add(struct draft_completions *candidates, size_t from, size_t to, struct span text,
                    struct span label, struct span note);
/* The next or previous one, round. */
void candidates_move(struct draft_completions *candidates, int by);

/* Frees what it holds; adds a prompt, as a draft has it, at the end. */
void history_release(struct editor_history *history);
void history_add(struct editor *editor, struct span text, bool shell);
/* Drops the oldest entry with a placeholder; false: there is none. */
bool history_drop_marked(struct editor_history *history);
/* Puts the entry before or after into the draft; false: there is none. */
bool history_browse(struct editor *editor, int by);
void history_end_browse(struct editor_history *history);
/* Reverse search: the draft is what is searched for, the candidates what was found. */
void history_search_begin(struct editor *editor);
/* Looks again if the draft changed. */
void history_search_refresh(struct editor *editor);
/* Ends it: the selected entry is the draft; false: nothing was found. */
bool history_search_accept(struct editor *editor);
/* Ends it: the draft is as before. */
void history_search_cancel(struct editor *editor);

/* commands.c: what a key does by its bindings, outside of vim's normal mode. */
enum editor_action commands_key(struct editor *editor, const struct key *key);
/* Puts the selected candidate in, of which there is one.  EDITOR_IGNORED: it is there already, and
 * there are no candidates any more. */
enum editor_action commands_accept(struct editor *editor);
/* Inserts what is typed or pasted, clean. False: no room. */
bool commands_insert(struct editor *editor, struct span text);

/* vim.c: true, and the action, if vim's mode has a use for the key. */
struct vim *vim_new(void);
void vim_free(struct vim *vim); /* NULL is fine */
bool vim_key(struct editor *editor, const struct key *key, enum editor_action *ret);
const char *vim_mode(const struct vim *vim);
/* The draft was taken or replaced: insert mode, nothing pending. */
void vim_reset(struct vim *vim);
/* Texts that may be put into the draft again (registers): at most VIM_TEXTS_MAX; returns how many.
 * NULL has none. */
enum { VIM_TEXTS_MAX = 32 };
size_t vim_texts(const struct vim *vim, struct span *ret);

#endif
