/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of one reply: runs them in the order that they require, with limited parallelism.
 * Private to agent/.
 *
 * Every call gets exactly one answer, in the order of the calls, whatever happens: a call that had
 * not started when the prompt was cancelled, or when the user rejected an earlier one, is answered
 * with that reason. No call is still running when calls_run returns.
 */
#ifndef HASP_AGENT_CALL_CALLS_H
#define HASP_AGENT_CALL_CALLS_H

#include <jansson.h>
#include <stdbool.h>

#include "agent/call/call.h"
#include "agent/private.h"
#include "base/span.h"
#include "tool/tool.h"

enum {
	CALLS_AT_ONCE = 8,
	CALLS_MAX = 128, /* of one reply; further calls are answered with an error */
};

struct calls_outcome {
	json_t *message;  /* role user, one part for each call; owned */
	bool refused;     /* the user rejected a call, and nothing of the reply was done */
	bool cancelled;   /* options.cancel */
	char *fatal;      /* owned; the disk is full: the sentence; NULL */
};

/* Gives each call of a reply a unique id, where the model gave none or repeated one. */
void calls_name(struct agent *agent, json_t *content);

/* `content`: the model's message, or one like it, after calls_name; it has calls. */
void calls_run(struct agent *agent, const json_t *content, enum call_origin origin,
               struct calls_outcome *ret);

/* ---- what a prompt lacked --------------------------------------------------------- */

/* Permissions that a prompt lacked because no one could be asked. Private to agent/.
 *
 * A call that is refused only for that reason is noted; a later successful call of the same kind
 * (an edit, a command, ...) removes the note: the model found a permitted way. What the model
 * reports itself (request_permission) stays. The notes left when the model has answered make up the
 * prompt's `missing` sentence.
 */

/* A prompt begins: what earlier ones lacked is forgotten. */
void missing_begin(struct agent *agent);
/* A call has ended; in the order of the calls of a reply. */
void missing_note(struct call *call);
/* The model's report. False with *err: a tool is unknown, or is not off. From any thread. */
bool missing_report(struct agent *agent, const json_t *tools, const char *reason, struct err *err);
/* What a sub-agent lacked, its parent lacks. */
void missing_pass_on(struct agent *from);
/* The sentence for people, with the flags; NULL: nothing was missing. The caller frees. */
char *missing_sentence(const struct agent *agent);

/* ---- circles -------------------------------------------------------------------- */

/* Detects a model that repeats itself. Private to agent/.
 *
 *     struct loop_check *check = loop_check_new();
 *     loop_check_begin(check);                          // a prompt of the user
 *     loop_check_text(check, piece);                    // of each reply, as it comes
 *     loop_check_call(check, tool, name, args, result); // each call, in order, when it has ended
 *     if (loop_check_hit(check)) ...                    // why, in a sentence; or NULL
 *     loop_check_begin(check);                          // the model was warned: start over
 *
 * A call is the same as another if its name, arguments and result are the same, but for what
 * differs with every call (version, duration_ms, ...): reading a file that changed, or running
 * tests that fail differently, is not a loop. It is a loop when
 *
 *   - a call and its result come 5 times in a row (10 times for tools that wait for something);
 *   - a row of 2 to 6 calls comes 3 times in a row, and so 8 calls or more;
 *   - a call comes 30 times in a row, whatever its results;
 *   - the model says the same up to 1,000 bytes 10 times in a row, and so 500 bytes or more; code
 *     blocks, tables, lists, headings and ruled lines do not count, and between two of them
 *     counting starts over.
 */

struct loop_check;

/* Never NULL. */
struct loop_check *loop_check_new(void);
void loop_check_free(struct loop_check *check); /* NULL is fine */

/* For each prompt of the user, and after a warning: earlier text and calls no longer count. */
void loop_check_begin(struct loop_check *check);
/* A piece of a reply's text, of any length. */
void loop_check_text(struct loop_check *check, struct span piece);
/* The reply ended, or was discarded: its last line is complete. */
void loop_check_text_end(struct loop_check *check);
/* `tool` may be NULL. */
void loop_check_call(struct loop_check *check, const struct tool *tool, const char *name,
                     const json_t *args, const json_t *result);

/* Borrowed; NULL: no loop. */
const char *loop_check_hit(const struct loop_check *check);

#endif
