/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the user: the confirmation of a call, the review of an edit by hunk, the model's own
 * questions, those of MCP servers.
 *
 *     struct ask *ask = ask_new(topic, message, &options);      // a question of the bus
 *     switch (ask_key(ask, &key)) { case ASK_DONE: answers = ask_answers(ask); ... }
 *     if (ask_join(ask, other)) ...                             // likes of it, answered together
 *     ask_rows(ask, width, height, &rows, &caret_row, &caret_column);
 *     ask_free(ask);
 *
 * A question takes the composer's place: the first row that ask_rows appends has the caret or is
 * above it and narrow (term/screen.h).  Nothing that is typed into it is lost when it is put aside.
 * An answer is the message of the bus's answering topic (TOOL_CONFIRMATION_RESPONSE,
 * ASK_USER_RESPONSE, ELICITATION_RESPONSE) with its correlationId.
 */
#ifndef HASP_TUI_ASK_ASK_H
#define HASP_TUI_ASK_ASK_H

#include <jansson.h>
#include <stdbool.h>

#include "bus/bus.h"
#include "tui/editor/bindings.h"
#include "tui/text/rows.h"

struct ask;

struct ask_options {
	const struct bindings *bindings;
	bool plain; /* for screen readers */
};

enum ask_state {
	ASK_OPEN,
	ASK_DONE,
	ASK_IGNORED,  /* the key is not the question's */
	ASK_EXTERNAL, /* "modify with external editor": ask_external, then ask_modified */
	ASK_WHOLE,    /* show the whole subject in a pager: ask_whole */
	ASK_COPY,     /* copy an address to the clipboard: ask_address */
};

/* `message` is referenced. Never NULL for TOOL_CONFIRMATION_REQUEST, ASK_USER_REQUEST and
 * ELICITATION_REQUEST. */
struct ask *ask_new(enum bus_topic topic, json_t *message, const struct ask_options *options);
void ask_free(struct ask *ask); /* NULL is fine */
enum ask_state ask_key(struct ask *ask, const struct key *key);
enum ask_state ask_paste(struct ask *ask, struct span text);
/* A new reference: an array, an answer for each question that is answered now: this one, and those
 * that joined it and got an answer with it. */
json_t *ask_answers(const struct ask *ask);
/* Takes in another confirmation that waits, if it is one of the same kind (edits; calls of one
 * tool; commands of the same programs): a choice then allows all of them, and a review goes through
 * all of their files.  In plain lines its subject must be printed (ask_subject_joined).  Before
 * the first key. False: it is of another kind, or there are too many. `message` is referenced. */
bool ask_join(struct ask *ask, json_t *message);
/* One that joined, or would, needs no answer any more. */
void ask_unjoin(struct ask *ask, const json_t *message);
/* What the last that joined is about. */
void ask_subject_joined(const struct ask *ask, unsigned width, struct rows *rows);
/* What was typed into its fields (an answer, comments on hunks) and would be lost with it, trimmed,
 * a line each; the caller frees. NULL: nothing. */
char *ask_unsent(struct ask *ask);
/* "No" and nothing else: for an interruption. A new reference. */
json_t *ask_refusal(const struct ask *ask);

/* What the question is about (the diff, the command with its parts and problems), where ask_rows
 * does not show it: in plain lines, and of a server's question. */
void ask_subject(const struct ask *ask, unsigned width, struct rows *rows);
/* The question, what it is about and the choices, of at most `height` rows. The caret's row is
 * counted from the first of them. */
void ask_rows(struct ask *ask, unsigned width, unsigned height, struct rows *rows,
              size_t *ret_caret_row, unsigned *ret_caret_column);
/* The text to edit (or what stands in the field that has the keys) and the file's name (for the
 * editor's sake); the caller frees. ask_modified takes what became of it. */
char *ask_external(const struct ask *ask, const char **ret_name);
enum ask_state ask_modified(struct ask *ask, struct span text);
void ask_whole(const struct ask *ask, unsigned width, struct rows *rows);
/* The address that an MCP server, or a login, asks to open. Borrowed. */
struct span ask_address(const struct ask *ask);

#endif
