/* SPDX-License-Identifier: Apache-2.0 */
/* The text of the composer by itself: bytes, a caret, undo, pasted texts.
 *
 *     draft_begin(&draft);                                 // a new step for undo
 *     draft_replace(&draft, from, to, SPAN("new"));        // every change goes through here
 *     draft_undo(&draft);
 *
 * The text is well-formed UTF-8 without NUL and CR, but for placeholders: a pasted text that is
 * shown as "[Pasted Text: 9 lines]" is DRAFT_MARK_BYTES bytes of the text, the first of them
 * DRAFT_MARK, which no UTF-8 has, the others its number.  It is one cluster.
 *
 * The caret stands between two clusters, always.
 *
 * Not here: keys, history (editor.c), where things stand on the screen (layout.c).
 */
#ifndef HASP_TUI_EDITOR_DRAFT_H
#define HASP_TUI_EDITOR_DRAFT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/span.h"

enum {
	DRAFT_MARK = 0xff,
	DRAFT_MARK_BYTES = 4,
	/* Of a typed text: more is a file. Placeholders count as their mark. */
	DRAFT_BYTES_MAX = 1 << 20,
	/* What undo keeps; the oldest steps go first. */
	DRAFT_UNDO_BYTES_MAX = 8 << 20,
	/* Pasted texts that are shown as placeholders, together. */
	DRAFT_PASTES_BYTES_MAX = 64 << 20,
	DRAFT_PASTES_MAX = 1 << 18,
	/* The draft with pasted texts in place of their marks. */
	DRAFT_EXPANDED_BYTES_MAX = 128 << 20,
	/* Pasted texts of more lines or characters are shown as placeholders. */
	DRAFT_PASTE_LINES_MAX = 5,
	DRAFT_PASTE_CHARS_MAX = 500,
};

/* One replacement. */
struct draft_edit {
	size_t at;
	char *before, *after; /* owned; what stood there, and what does */
	size_t before_len, after_len;
	size_t caret_before, caret_after;
	bool shell_before, shell_after;
	unsigned step;        /* edits of one step are undone together */
};

struct pasted {
	char *text;  /* owned; NULL: forgotten, since nothing refers to it */
	size_t len;
	char *label; /* owned */
};

struct draft {
	struct buf text;
	size_t caret;          /* byte */
	bool shell;            /* the text is a command for the shell ("!") */
	struct draft_edit *edits;    /* owned */
	size_t count, cap;
	size_t done;           /* edits before it are in the text, those behind it undone */
	size_t undo_bytes;
	unsigned step;
	bool running;          /* a run of typing or of deleting goes on (draft_begin_run) */
	int run_kind;
	size_t run_caret;
	bool held;             /* the caller's: no new step begins, but by an undo */
	/* The last undo or redo: where the caret was before the step, and the bytes it touched. */
	size_t undone_caret, undone_from, undone_to;
	unsigned long version; /* grows with each change of the text */
	struct pasted *pastes; /* owned; by number */
	size_t paste_count, paste_cap, paste_bytes;
	size_t shown_bytes;    /* of what the marks in the text stand for */
};

/* Empty; frees what it holds. */
void draft_init(struct draft *draft);
void draft_drop(struct draft *draft);
/* Empty, without undo; pasted texts stay until draft_forget. */
void draft_clear(struct draft *draft);

/* Forgets what undo and redo know. */
void draft_drop_undo(struct draft *draft);

static inline struct span draft_view(const struct draft *draft)
{
	return span_of(draft->text.data ? draft->text.data : "", draft->text.len);
}

/* The end of the cluster that begins at `at`; the text's length at its end. */
size_t draft_next(const struct draft *draft, size_t at);
/* The start of the cluster that ends at `at`; 0 at the start. */
size_t draft_previous(const struct draft *draft, size_t at);
/* The start of the cluster that byte `at` is in. */
size_t draft_floor(const struct draft *draft, size_t at);
/* Where the line of byte `at` begins, and its end (its LF, or the text's end). */
size_t draft_line_start(const struct draft *draft, size_t at);
size_t draft_line_end(const struct draft *draft, size_t at);

/* Replaces bytes [from, to); the caret is behind the new text (moved on to a boundary of clusters).
 * `text` is clean (draft_clean) or was part of a draft. False, and nothing changed: too large. */
bool draft_replace(struct draft *draft, size_t from, size_t to, struct span text);
/* What follows is a new step for undo. */
void draft_begin(struct draft *draft);
/* The same, but a run of one kind at the same place goes on as one step: `kind` says what is done
 * (a character typed, one deleted), other than 0. Call draft_end_run when the edit is made. */
void draft_begin_run(struct draft *draft, int kind);
void draft_end_run(struct draft *draft);
/* False: there is nothing to undo. */
bool draft_undo(struct draft *draft);
bool draft_redo(struct draft *draft);
/* Moves the caret to the boundary at or before the byte. */
void draft_place(struct draft *draft, size_t at);

/* Appends foreign text as a draft has it: CRLF and CR are LF, NUL and bytes that are no UTF-8
 * U+FFFD. All else stays. */
void draft_clean(struct buf *out, struct span text);

/* Whether a clean pasted text is long enough for a placeholder. */
bool draft_is_long_paste(struct span text);
/* Keeps a clean text to be shown as a placeholder and gives its mark; false: there are too many. */
bool draft_keep_paste(struct draft *draft, struct span text, char ret_mark[DRAFT_MARK_BYTES]);
void draft_print_mark(size_t number, char ret_mark[DRAFT_MARK_BYTES]);
/* The pasted text whose mark stands at byte `at`; NULL: none does. */
const struct pasted *draft_paste_at(const struct draft *draft, size_t at);
/* Appends a part of a draft with pasted texts in place of marks, or with their labels. */
void draft_expand(const struct draft *draft, struct span text, struct buf *out);
void draft_labels(const struct draft *draft, struct span text, struct buf *out);
/* Frees the pasted texts whose marks are in none of the texts. */
void draft_forget(struct draft *draft, const struct span *texts, size_t count);

#endif
