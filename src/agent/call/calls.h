/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of one reply: run, in the order that they need, as many at once as they may.
 * Private to agent/.
 *
 * Every call gets exactly one answer, in the order of the calls, whatever happens: a call that
 * was not begun when the prompt was cancelled, or when somebody said no to one before it, says
 * so.  Nothing runs any more when calls_run returns.
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
	CALLS_MAX = 128, /* of one reply; those beyond are answered with an error */
};

struct calls_outcome {
	json_t *message;  /* role user, one part for each call; owned */
	bool refused;     /* somebody said no to one, and nothing of the reply was done */
	bool cancelled;   /* options.cancel */
	char *fatal;      /* owned; the disk is full: the sentence; NULL */
};

/* Gives every call of a reply an id of its own, where the model gave none or one that was there. */
void calls_name(struct agent *agent, json_t *content);

/* `content`: the model's message, after calls_name; it has calls. */
void calls_run(struct agent *agent, const json_t *content, struct calls_outcome *ret);

/* ---- what a prompt lacked --------------------------------------------------------- */

/* What a prompt lacked because nobody was there to allow it.  Private to agent/.
 *
 * A call that is refused only because nobody can be asked is noted; a later call of the same
 * kind (an edit, a command, ...) that succeeds takes the note away: the model found a permitted
 * way.  What the model reports itself (request_permission) stays.  Whatever is left when the
 * model has answered is the prompt's `missing` sentence.
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

/* Whether a model goes in circles.  Private to agent/.
 *
 *     struct loop_check *check = loop_check_new();
 *     loop_check_begin(check);                          // a prompt of the user
 *     loop_check_text(check, piece);                    // of each reply, as it comes
 *     loop_check_call(check, tool, name, args, result); // each call, in order, when it has ended
 *     if (loop_check_hit(check)) ...                    // why, in a sentence; or NULL
 *     loop_check_forgive(check);                        // the model was told: count anew
 *
 * A call is the same as another if its name, arguments and result are the same, but for what
 * differs with every call (version, duration_ms, ...): reading a file that changed, or running
 * tests that fail differently, is no circle.  It is one when
 *
 *   - a call and its result come 5 times in a row (10 times for tools that wait for something);
 *   - a row of 2 to 6 calls comes 3 times in a row, and so 8 calls or more;
 *   - a call comes 30 times in a row, whatever its results;
 *   - the model says the same up to 1,000 bytes 10 times in a row, and so 500 bytes or more; code
 *     blocks, tables, lists, headings and ruled lines do not count, and between two of them
 *     counting begins anew.
 */

struct loop_check;

/* Never NULL. */
struct loop_check *loop_check_new(void);
void loop_check_free(struct loop_check *check); /* NULL is fine */

/* A prompt of the user: what was said and called before it does not count any more. */
void loop_check_begin(struct loop_check *check);
/* A piece of a reply's text, of any length. */
void loop_check_text(struct loop_check *check, struct span piece);
/* A reply is over, or was taken back: its last line ends. */
void loop_check_text_end(struct loop_check *check);
/* `tool` may be NULL. */
void loop_check_call(struct loop_check *check, const struct tool *tool, const char *name,
                     const json_t *args, const json_t *result);

/* Borrowed; NULL: no circle. */
const char *loop_check_hit(const struct loop_check *check);
void loop_check_forgive(struct loop_check *check);

#endif
