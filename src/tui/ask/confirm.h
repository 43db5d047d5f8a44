/* SPDX-License-Identifier: Apache-2.0 */
/* The confirmation of a call: choices that are outcomes of the bus, an edit's review by hunk, and
 * what the question is about.
 *
 * confirm.c has the choices and is what ask.c calls; from CONFIRM_HUNKS on it hands keys and rows
 * to review.c.  subject.c makes the rows above a question, of any kind. */
#ifndef HASP_TUI_ASK_CONFIRM_H
#define HASP_TUI_ASK_CONFIRM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tui/ask/ask.h"
#include "tui/ask/hunks.h"
#include "tui/term/keys.h"

struct ask_page;
struct editor;

enum {
	CONFIRM_CHOICES_MAX = 12,
	CONFIRM_TOGETHER_MAX = 32, /* questions that one can be answered with, itself included */
};

/* A file in a review: hunks, or one choice for all that becomes of it. */
struct review_file {
	const json_t *question; /* the message; borrowed */
	const json_t *file;     /* of its details' `files`, or the details; borrowed */
	struct hunks *hunks;    /* owned; NULL: it is taken or left as a whole */
	struct hunk_choice whole;
};

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
	char all[32];              /* the label of CONFIRM_ALL */
	struct review_file *files; /* owned; none: there is nothing to review */
	size_t file_count, file_cap;
	size_t file;           /* the one in front */
	size_t hunk;           /* of it, likewise */
	bool help;             /* the keys instead of the hunk, or why it is asked */
	const char *note;      /* why something cannot be done; NULL: nothing */
	char *modified;        /* owned; what an external editor made; NULL: nothing */
	struct editor *say;    /* each owned; NULL until it is needed */
	struct editor *comment, *edit;
};

/* The choices that are no outcomes: through the hunks; yes to all that joined. */
#define CONFIRM_REVIEW "review"
#define CONFIRM_ALL "all"
/* A plan is carried out in one of the modes that were offered, with this prefix. */
#define CONFIRM_PLAN "plan:"

/* ---- the choices (confirm.c) -------------------------------------------------------- */

/* Finds what may be chosen. */
void confirm_begin(struct ask *ask);
/* Likewise, after others have joined or left. */
void confirm_offer(struct ask *ask);
void confirm_end(struct ask *ask);                            /* frees what it has */
enum ask_state confirm_key(struct ask *ask, const struct key *key); /* as ask_key */
void confirm_rows(struct ask *ask, struct ask_page *page);    /* as ask_rows */

/* ---- the review (review.c) ---------------------------------------------------------- */

/* Finds the files and hunks of a question that may be answered in part; false: none. */
bool review_find(struct ask *ask, const json_t *question);
/* The same; without any, takes it as one that is answered with yes or no. */
void review_find_or_whole(struct ask *ask, const json_t *question);
/* Forgets them. */
void review_forget(struct ask *ask, const json_t *question);
void review_end(struct ask *ask);                             /* frees what it has */
/* Goes to the first hunk that is open, or to what is left. */
void review_begin(struct ask *ask);
enum ask_state review_key(struct ask *ask, const struct key *key); /* from CONFIRM_HUNKS on */
void review_rows(struct ask *ask, struct ask_page *page);     /* likewise */
/* Appends the comments that were made so far, a line each. */
void review_comments(const struct ask *ask, struct buf *out);
/* The diff of the hunk in front, or of what is left. */
void review_diff(const struct ask *ask, struct buf *out);

/* ---- what it is about (subject.c) ---------------------------------------------------- */

/* Warns of what deceives in a text: invisible characters, odd addresses. */
void subject_deception(const struct ask *ask, struct span text, unsigned width,
                       struct rows *rows);
/* What a message of the same topic is about: in `rows` what may be looked through (at most `max`;
 * 0: all), in `notes` what must be seen, such as warnings and what a yes would allow. */
void subject_rows(const struct ask *ask, json_t *message, unsigned width, size_t max,
                  struct rows *rows, struct rows *notes);
/* Why it is asked, and what could come of a yes, as far as hasp knows. */
void subject_explain(const struct ask *ask, unsigned width, struct rows *rows);
/* "Run this command?" */
const char *subject_question(const struct ask *ask);

#endif
