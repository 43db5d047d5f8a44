/* SPDX-License-Identifier: Apache-2.0 */
/* A question, and what all kinds of them have in common: a page that is drawn, a selection, a field
 * of text, a pane of rows that is looked through.
 *
 *     ask_page_prompt(page, "Apply this change?");
 *     ask_page_choice(ask, page, 1, selected, NULL, SPAN("Yes"), SPAN(""));
 *     ask_page_pane(ask, page);                // as much of it as there is room for
 */
#ifndef HASP_TUI_ASK_PARTS_H
#define HASP_TUI_ASK_PARTS_H

#include "data/tools.h"
#include "tui/ask/confirm.h"
#include "tui/ask/questions.h"
#include "tui/editor/editor.h"

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

struct ask {
	enum bus_topic topic;
	json_t *message;                     /* a reference */
	json_t *joined;                      /* owned array: messages that are answered with it */
	const struct bindings *bindings;
	struct bindings *own_bindings;       /* if none were given */
	bool plain;
	struct rows pane;                    /* the diff that is looked through */
	struct rows notes;                   /* beneath it, wherever it is scrolled to */
	unsigned pane_width;                 /* that it was made for; 0: make it again */
	size_t scroll;                       /* rows of the pane that are above */
	size_t pane_rows;                    /* that it had when it was last drawn */
	json_t *answer;                      /* owned; when it is done */
	json_t *answers;                     /* owned; of all, where not only it is answered */
	struct confirm confirm;
	struct question_pages questions;
	json_t *form;                        /* owned array: a server's fields as questions */
};

/* Of a confirmation's message, and whether they are of this type. */
const json_t *ask_details(const struct ask *ask);
bool ask_is(const struct ask *ask, const char *type);
/* The row of the tool that the question is about; NULL: it has none. */
const struct tool_info *ask_tool(const struct ask *ask);
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

#endif
