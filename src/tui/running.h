/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that run: what each is, the end of what it writes, how far it is.
 *
 *     running_start(&calls, message);          // TOOL_CALL
 *     running_output(&calls, message);         // TOOL_OUTPUT; running_progress: TOOL_PROGRESS
 *     call = running_end(&calls, message);     // TOOL_RESULT
 *     running_release(&calls);
 *
 * Zeroed, there are none.  The messages are docs/bus.md's; "callId" identifies a call. */
#ifndef HASP_TUI_RUNNING_H
#define HASP_TUI_RUNNING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "tui/view/view.h"

struct consoles;

enum {
	TAIL_BYTES_MAX = 4096, /* of a running command's output: more is not shown */
	TAIL_ROWS = 4,         /* of it beneath the composer */
};

struct running_call {
	json_t *call;     /* owned; its TOOL_CALL */
	struct buf tail;  /* the end of its output */
	json_t *progress; /* owned; its last TOOL_PROGRESS; or NULL */
	bool is_asked;    /* a question about it waits, which says what it is */
};

struct running_calls {
	struct running_call *at; /* owned array, in the order in which they started */
	size_t count, cap;
};

/* A call runs from now on. The message is referenced. */
void running_start(struct running_calls *calls, const json_t *message);
/* A question about a call (TOOL_CONFIRMATION_REQUEST), or of one (ASK_USER_REQUEST), waits. */
void running_asked(struct running_calls *calls, const json_t *question);
/* It waits no more. */
void running_resumed(struct running_calls *calls, const json_t *question);
/* The user has answered: the TOOL_CALL keeps what its result does not say, of a no the diff that
 * was shown (`declined`), of a plan its text (`plan`). */
void running_answered(struct running_calls *calls, const json_t *question, bool declined);
/* Of a call that does not run nothing is kept. */
void running_output(struct running_calls *calls, const json_t *message);
void running_progress(struct running_calls *calls, const json_t *message);
/* The TOOL_CALL of a call that has ended, or, where it did not run, the message itself: a new
 * reference. */
json_t *running_end(struct running_calls *calls, const json_t *message);
/* Forgets all of them. */
void running_clear(struct running_calls *calls);
void running_release(struct running_calls *calls);
/* Appends the first few that no question is about, each with its console's screen or the end of its
 * output. */
void running_calls_rows(const struct running_calls *calls, struct consoles *consoles,
                  const struct view_how *how, struct rows *rows);

#endif
