/* SPDX-License-Identifier: Apache-2.0 */
/* What questions have in common: a selection, a field of text, rows to look through. */
#ifndef HASP_TUI_ASK_PRIVATE_H
#define HASP_TUI_ASK_PRIVATE_H

#include "tui/ask/ask.h"
#include "tui/ask/hunks.h"
#include "tui/editor/editor.h"
#include "tui/term/keys.h"

/* What is drawn, and where the caret goes in it. */
struct ask_page {
	struct rows *rows; /* new ones are appended */
	size_t first;      /* how many there were before */
	unsigned width;
	size_t height;
	size_t caret_row;  /* from `first` */
	unsigned caret_column;
};

enum { CONFIRM_CHOICES_MAX = 12, QUESTIONS_MAX = 16, QUESTION_OPTIONS_MAX = 16 };

/* What a confirmation is at. */
enum confirm_stage {
	CONFIRM_CHOOSE,
	CONFIRM_SAY,     /* types what to do instead */
	CONFIRM_HUNKS,   /* goes through the hunks */
	CONFIRM_COMMENT, /* on a hunk */
	CONFIRM_EDIT,    /* a hunk's lines */
	CONFIRM_APPLY,   /* looks at what is left */
};

struct confirm {
	enum confirm_stage stage;
	const char *choices[CONFIRM_CHOICES_MAX]; /* outcomes, or CONFIRM_REVIEW; borrowed */
	size_t count, selected;
	struct hunks *hunks;   /* NULL: there is nothing to review */
	size_t hunk;           /* the one in front */
	bool help;             /* the keys instead of the hunk */
	const char *note;      /* why something cannot be done; NULL: nothing */
	char *modified;        /* owned; what an external editor made; NULL: nothing */
	struct editor *say;    /* each owned; NULL until it is needed */
	struct editor *comment, *edit;
};

/* A question of the model's. */
struct question_page {
	const json_t *question;              /* borrowed */
	size_t count, selected;              /* options, with the one for another answer */
	bool chosen[QUESTION_OPTIONS_MAX];
	bool typing;                         /* the field has the keys */
	bool answered;
	struct editor *text;                 /* owned; NULL until it is needed */
};

struct questions {
	struct question_page pages[QUESTIONS_MAX];
	size_t count, page;                  /* page == count: all answers once more */
};

struct ask {
	enum bus_topic topic;
	json_t *message;                     /* a reference */
	const struct bindings *bindings;
	struct bindings *own_bindings;       /* if none were given */
	bool plain;
	size_t scroll;                       /* rows of the pane that are above */
	size_t pane_rows;                    /* that it had when it was last drawn */
	json_t *answer;                      /* owned; when it is done */
	struct confirm confirm;
	struct questions questions;
};

/* ---- parts (ask.c) ----------------------------------------------------------------- */

bool ask_bound(const struct ask *ask, enum bind command, const struct key *key);
/* The character without modifiers that a key types; 0: none. */
uint32_t ask_letter(const struct key *key);
/* Goes through the rows of a pane; false: the key is not for that. */
bool ask_scroll(struct ask *ask, const struct key *key);
struct editor *ask_editor(struct ask *ask, struct editor **slot);
/* A key for a field of text. */
enum editor_action ask_field_key(struct ask *ask, struct editor *editor,
                                 const struct key *key);
/* True and *ret: the text of a field, trimmed; the caller frees. False: there is none. */
bool ask_typed(const struct editor *editor, char **ret);
/* An answer with what was asked. */
json_t *ask_new_answer(const struct ask *ask);

/* The row with the caret behind its text. */
void page_prompt(struct ask_page *page, const char *text);
/* The field, its first row with `prompt` (at most 2 columns) before it. */
void page_field(struct ask_page *page, struct editor *editor, size_t max_rows);
/* A row, wrapped. It is empty afterwards. */
void page_take(struct ask_page *page, struct row *row);
void page_text(struct ask_page *page, const char *text, struct style style);
/* A numbered choice; `box` (NULL: none) stands before its label. */
void page_choice(struct ask *ask, struct ask_page *page, size_t number, bool selected,
                 const char *box, struct span label, struct span note);
size_t page_left(const struct ask_page *page); /* rows */
/* As much of `all` as there is room for, from where it was scrolled to. */
void page_pane(struct ask *ask, struct ask_page *page, const struct rows *all);

/* ---- confirmations (confirm.c, review.c, subject.c) -------------------------------- */

/* The choice that is no outcome. */
#define CONFIRM_REVIEW "review"

void confirm_begin(struct ask *ask);
void confirm_end(struct ask *ask);
enum ask_state confirm_key(struct ask *ask, const struct key *key);
void confirm_rows(struct ask *ask, struct ask_page *page);
/* The field that has the keys; NULL: none. */
struct editor *confirm_field(struct ask *ask);
enum ask_state confirm_answer(struct ask *ask, const char *outcome);

void review_begin(struct ask *ask);
enum ask_state review_key(struct ask *ask, const struct key *key);
void review_rows(struct ask *ask, struct ask_page *page);
/* The diff of the hunk in front, or of what is left. */
void review_diff(const struct ask *ask, struct buf *out);

const json_t *subject_details(const struct ask *ask);
bool subject_is(const struct ask *ask, const char *type);
void subject_rows(const struct ask *ask, unsigned width, bool folded, struct rows *rows);

/* ---- the model's questions (questions.c) ------------------------------------------- */

void questions_begin(struct ask *ask);
void questions_end(struct ask *ask);
enum ask_state questions_key(struct ask *ask, const struct key *key);
void questions_rows(struct ask *ask, struct ask_page *page);
struct editor *questions_field(struct ask *ask);
void questions_subject(const struct ask *ask, unsigned width, struct rows *rows);

#endif
