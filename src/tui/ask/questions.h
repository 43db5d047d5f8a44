/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of the model's and of MCP servers: pages, one after the other, each with options or a
 * field of text, and a last one with all answers.
 *
 * questions.c has the pages and is what ask.c calls; elicit.c makes questions of a server's form,
 * and has what servers ask besides: an address to open, an answer of the model. */
#ifndef HASP_TUI_ASK_QUESTIONS_H
#define HASP_TUI_ASK_QUESTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "data/form.h"
#include "tui/ask/ask.h"
#include "tui/term/keys.h"

struct ask_page;
struct editor;

enum { QUESTIONS_MAX = FORM_FIELDS_MAX, QUESTION_OPTIONS_MAX = FORM_OPTIONS_MAX + 1 };

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
	size_t count, page;                  /* page == count: the summary of all answers */
};

/* ---- the pages (questions.c) -------------------------------------------------------- */

/* A page for each. */
void questions_begin(struct ask *ask);
void questions_end(struct ask *ask);                          /* frees what they have */
enum ask_state questions_key(struct ask *ask, const struct key *key); /* as ask_key */
void questions_rows(struct ask *ask, struct ask_page *page);  /* as ask_rows */
struct editor *questions_field(struct ask *ask);              /* that has the keys; or NULL */
void questions_typed(struct ask *ask, struct buf *out);       /* what was, a line each */
/* The questions' sentences. */
void questions_subject(const struct ask *ask, unsigned width, struct rows *rows);

/* ---- what servers ask (elicit.c) ---------------------------------------------------- */

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
/* Warns of a field that asks for a secret, and says why its answer is refused. */
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
/* The server that asks, and what it asks for. */
void elicit_subject(const struct ask *ask, unsigned width, struct rows *rows);

#endif
