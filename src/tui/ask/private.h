/* SPDX-License-Identifier: Apache-2.0 */
/* What questions have in common: a selection, a field of text, rows to look through. */
#ifndef HASP_TUI_ASK_PRIVATE_H
#define HASP_TUI_ASK_PRIVATE_H

#include "data/form.h"
#include "tui/ask/ask.h"
#include "tui/editor/editor.h"
#include "tui/term/keys.h"

/* ---- hunks (hunks.c) --------------------------------------------------------------- */

/* An edit as hunks that are taken or not, one by one; and the text that is left of it.
 *
 *     struct hunks *hunks = hunks_new(original, planned, diff);       // NULL: nothing to choose
 *     hunks_at(hunks, 0)->verdict = HUNK_TAKEN;
 *     hunks_edit(hunks, 1, text);                     // other lines instead of the new ones
 *     hunks_content(hunks, &content);                 // byte for byte
 *     hunks_free(hunks);
 *
 * The hunks are the diff's own, if it leads from `original` to `planned`; else those of a new one.
 * Each is a row of edits of lines with their endings: what is not taken stays as it was, whatever
 * its endings, and with all taken the content is `planned`.
 */

/* Lines around the changes of a hunk, where it is shown. */
enum { HUNK_CONTEXT = 3 };

enum hunk_verdict { HUNK_OPEN, HUNK_TAKEN, HUNK_LEFT, HUNK_EDITED };

struct hunk_choice {
	enum hunk_verdict verdict;
	char *comment;       /* owned; NULL: none */
	size_t first, count; /* edits */
	char *edited;        /* owned; of HUNK_EDITED: lines instead of its own, with endings */
	size_t edited_len;
};

struct hunks;

/* The texts are borrowed. */
struct hunks *hunks_new(struct span original, struct span planned, struct span diff);
void hunks_free(struct hunks *hunks); /* NULL is fine */
size_t hunks_count(const struct hunks *hunks);
struct hunk_choice *hunks_at(struct hunks *hunks, size_t i);

/* "@@ -1,2 +1,3 @@", with numbers as if all before it were taken. */
void hunks_header(const struct hunks *hunks, size_t i, struct buf *out);
/* The hunk as a unified diff, its header first; an edited one as it is edited. */
void hunks_diff(const struct hunks *hunks, size_t i, struct buf *out);
/* Makes hunks of its changes that have unchanged lines between them; false: it has one. */
bool hunks_split(struct hunks *hunks, size_t i);

/* The new lines of the hunk to edit, each with a line feed and nothing else at its end. */
void hunks_text(const struct hunks *hunks, size_t i, struct buf *out);
/* Takes what became of them. Lines that stayed keep their endings, others get that of the line
 * before. The same lines: HUNK_TAKEN; those of the original: HUNK_LEFT; others: HUNK_EDITED. */
void hunks_edit(struct hunks *hunks, size_t i, struct span text);

/* The original with what is taken or edited. */
void hunks_content(const struct hunks *hunks, struct buf *out);
/* The diff from the original to that, without names. */
void hunks_content_diff(const struct hunks *hunks, struct buf *out);
/* [{"header", "taken": true|false|"edited", "comment"?}]: `hunks` of the bus's `review`. */
json_t *hunks_review(const struct hunks *hunks);

/* ---- a question -------------------------------------------------------------------- */

/* What is drawn, and where the caret goes in it. */
struct ask_page {
	struct rows *rows; /* new ones are appended */
	size_t first;      /* how many there were before */
	unsigned width;
	size_t height;
	size_t caret_row;  /* from `first` */
	size_t focus;      /* the last row of what is selected, likewise */
	unsigned caret_column;
};

enum { CONFIRM_CHOICES_MAX = 12, QUESTIONS_MAX = FORM_FIELDS_MAX,
       QUESTION_OPTIONS_MAX = FORM_OPTIONS_MAX + 1 };

/* Questions that one can be answered with, itself included. */
enum { CONFIRM_TOGETHER_MAX = 32 };

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
	bool help;             /* the keys instead of the hunk */
	const char *note;      /* why something cannot be done; NULL: nothing */
	char *modified;        /* owned; what an external editor made; NULL: nothing */
	struct editor *say;    /* each owned; NULL until it is needed */
	struct editor *comment, *edit;
};

/* A question of the model's, or a field of a server's form. */
struct question_page {
	const json_t *question;              /* borrowed */
	const json_t *field;                 /* borrowed; NULL: it is the model's */
	char *note;                          /* owned; why its answer is refused; NULL: it is not */
	size_t count, selected;              /* options, with `other` */
	bool other;                          /* the last option: another answer; of a field: none */
	bool chosen[QUESTION_OPTIONS_MAX];
	bool typing;                         /* the field has the keys */
	bool answered;
	struct editor *text;                 /* owned; NULL until it is needed */
};

struct question_pages {
	struct question_page pages[QUESTIONS_MAX];
	size_t count, page;                  /* page == count: all answers once more */
};

struct ask {
	enum bus_topic topic;
	json_t *message;                     /* a reference */
	json_t *joined;                      /* owned array: messages that are answered with it */
	const struct bindings *bindings;
	struct bindings *own_bindings;       /* if none were given */
	bool plain;
	struct rows pane;                    /* the diff that is looked through */
	unsigned pane_width;                 /* that it was made for; 0: it has to be made anew */
	size_t scroll;                       /* rows of the pane that are above */
	size_t pane_rows;                    /* that it had when it was last drawn */
	json_t *answer;                      /* owned; when it is done */
	json_t *answers;                     /* owned; of all, where not only it is answered */
	struct confirm confirm;
	struct question_pages questions;
	json_t *form;                        /* owned array: a server's fields as questions */
};

/* ---- parts (parts.c) --------------------------------------------------------------- */

/* Of a confirmation's message, and whether they are of this type. */
const json_t *ask_details(const struct ask *ask);
bool ask_is(const struct ask *ask, const char *type);
/* An answer to what was asked: its correlationId. */
json_t *ask_new_answer(const json_t *question);
/* Makes this the answer. */
enum ask_state ask_outcome(struct ask *ask, const char *outcome);
/* The field of a confirmation that has the keys; NULL: none. */
struct editor *ask_confirm_field(struct ask *ask);

/* Whether the user's bindings have the key for this. */
bool ask_bound(const struct ask *ask, enum bind command, const struct key *key);
/* The character without modifiers that a key types; 0: none. */
uint32_t ask_letter(const struct key *key);
/* Goes through the rows of a pane; false: the key is not for that. */
bool ask_scroll(struct ask *ask, const struct key *key);
struct editor *ask_editor(struct ask *ask, struct editor **slot); /* made if it is not there */
/* A key for a field of text. */
enum editor_action ask_field_key(struct ask *ask, struct editor *editor,
                                 const struct key *key);
/* True and *ret: the text of a field, trimmed; the caller frees. False: there is none. */
bool ask_typed(const struct editor *editor, char **ret);

/* The row with the caret behind its text. */
void ask_page_prompt(struct ask_page *page, const char *text);
/* The field, its first row with "> " before it. */
void ask_page_field(struct ask_page *page, struct editor *editor, size_t max_rows);
/* A row, wrapped. It is empty afterwards. */
void ask_page_take(struct ask_page *page, struct row *row);
void ask_page_text(struct ask_page *page, const char *text, struct style style); /* of ours */
/* A numbered choice; `box` (NULL: none) stands before its label. */
void ask_page_choice(struct ask *ask, struct ask_page *page, size_t number, bool selected,
                     const char *box, struct span label, struct span note);
/* As much of the pane as there is room for, from where it was scrolled to. */
void ask_page_pane(struct ask *ask, struct ask_page *page);
/* What the pane shows is another thing now. */
void ask_pane_reset(struct ask *ask);

/* ---- confirmations (confirm.c, review.c, subject.c) -------------------------------- */

/* The choices that are no outcomes: through the hunks; yes to all that joined. */
#define CONFIRM_REVIEW "review"
#define CONFIRM_ALL "all"

/* Finds what may be chosen. */
void confirm_begin(struct ask *ask);
/* Likewise, when others have joined, or have gone. */
void confirm_offer(struct ask *ask);
void confirm_end(struct ask *ask);                            /* frees what it has */
enum ask_state confirm_key(struct ask *ask, const struct key *key); /* as ask_key */
void confirm_rows(struct ask *ask, struct ask_page *page);    /* as ask_rows */

/* Finds the files and hunks of a question that may be answered in part. Without any: leaves it at
 * that, or, with `whole`, takes it as one that is answered with yes or no. */
void review_find(struct ask *ask, const json_t *question, bool whole);
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

/* Warns of what deceives in a text: invisible characters, odd addresses. */
void subject_deception(const struct ask *ask, struct span text, unsigned width,
                       struct rows *rows);
/* What it is about, and the question in a sentence. */
void subject_rows(const struct ask *ask, unsigned width, bool folded, struct rows *rows);
/* The same without the question, of another message of the same topic. */
void subject_rows_of(const struct ask *ask, json_t *message, unsigned width, bool folded,
                     struct rows *rows);

/* ---- the model's questions (questions.c) ------------------------------------------- */

/* A page for each. */
void questions_begin(struct ask *ask);
void questions_end(struct ask *ask);                          /* frees what they have */
enum ask_state questions_key(struct ask *ask, const struct key *key); /* as ask_key */
void questions_rows(struct ask *ask, struct ask_page *page);  /* as ask_rows */
struct editor *questions_field(struct ask *ask);              /* that has the keys; or NULL */
void questions_typed(struct ask *ask, struct buf *out);       /* what was, a line each */
/* The questions' sentences. */
void questions_subject(const struct ask *ask, unsigned width, struct rows *rows);

/* ---- what MCP servers ask (elicit.c) ------------------------------------------------ */

/* Whether it is one of these; whether it is about an address, or about an answer of the model. */
bool elicit_is(const struct ask *ask);
bool elicit_is_address(const struct ask *ask);
bool elicit_is_sampling(const struct ask *ask);
/* The fields as questions, for questions_begin: a new array. */
json_t *elicit_questions(const struct ask *ask);
/* Takes what the server suggests as the page's answer. */
void elicit_suggest(struct question_page *page);
/* The page's answer as the server gets it, *ret a new reference, NULL: none. False: it may not be
 * that, and the page has a note. */
bool elicit_value(struct question_page *page, json_t **ret);
/* Sends all; goes to the first page whose answer may not be what it is. */
enum ask_state elicit_send(struct ask *ask);
enum ask_state elicit_decline(struct ask *ask);
/* Warns of a field that wants a secret, and says why its answer is refused. */
void elicit_page_rows(const struct ask *ask, struct ask_page *out,
                      const struct question_page *page);
/* Keys and rows of an address: opened in the browser, copied, agreed to.  What is pasted into a
 * login is the address that it has led to. */
bool elicit_is_login(const struct ask *ask);
enum ask_state elicit_address_key(struct ask *ask, const struct key *key);
enum ask_state elicit_paste(struct ask *ask, struct span text);
void elicit_address_rows(const struct ask *ask, struct ask_page *out);
/* Keys and rows of an answer of the model: once, for the session, not. */
enum ask_state elicit_sampling_key(struct ask *ask, const struct key *key);
void elicit_sampling_rows(struct ask_page *out);
/* Who asks, and for what. */
void elicit_subject(const struct ask *ask, unsigned width, struct rows *rows);

#endif
