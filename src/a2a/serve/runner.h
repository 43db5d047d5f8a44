/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks carried out elsewhere: `hasp serve a2a --runner COMMAND`.
 *
 * Each task that begins has a process
 *
 *     COMMAND... hasp serve a2a --stdio --caller NAME --workspace DIR --context ID FLAGS...
 *
 * which a scheduler, ssh or a container places.  Both ends speak A2A 1.0 as JSON-RPC, a message a
 * line.  The server here keeps queue, card, callers and tasks; the agent there has the session,
 * its sandbox, its policies and its questions.  Both see the same home folder (GEMINI_CLI_HOME), in
 * which the session's record lies.
 *
 *     here                                 there
 *     GetExtendedAgentCard "hello"  ->     the card, with the extension A2A_RUNNER_URI: its version
 *                                          of this protocol, and whether it found the session
 *     SendStreamingMessage "task"   ->     events, to the end of the task: questions do not end it
 *     SendMessage "say"             ->     an answer to a question, or words for a task under way
 *     CancelTask "cancel"           ->
 *     GetExtendedAgentCard "hello"  ->     again and again, to see whether it is alive
 *     the end of its input          ->     interrupts what it does, and ends
 *
 * What comes from there is read as a caller's requests are: bounded, strict JSON, members of the
 * protocol alone; whatever else comes ends the process, and the task fails.
 *
 * runner.c has the tasks (a2a_runner_work), runner_data.c what is said, runner_child.c the
 * processes. */
#ifndef HASP_A2A_SERVE_RUNNER_H
#define HASP_A2A_SERVE_RUNNER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "net/loop/loop.h"

struct a2a_context;
struct a2a_serve_options;
struct a2a_server;
struct settings;

/* The extension of the extended card by which the agent says that it is a runner's:
 * {"protocol": A2A_RUNNER_PROTOCOL, "session": whether it has the record of its context}. */
#define A2A_RUNNER_URI "hasp:runner"
enum { A2A_RUNNER_PROTOCOL = 1 };
/* That extension, of an agent with --context; a new reference. */
json_t *a2a_runner_extension(const struct a2a_server *server);

/* Of hasp.a2a.runner. */
struct a2a_runner_limits {
	unsigned attempts;   /* so many processes in all, for one task */
	unsigned start_ms;   /* from a process's start to its first answer: it may have to
	                      * wait for a node */
	unsigned silence_ms; /* without an answer, after which the agent is taken for lost */
};
/* As the user's settings have them; NULL: there are none. */
struct a2a_runner_limits a2a_runner_limits_read(const struct settings *settings);

/* ---- runner_data.c: what is said with an agent ----------------------------------- */

/* The command that starts the agent of a context's task; the caller frees the words and the
 * array. */
char **a2a_runner_argv(const struct a2a_serve_options *options, const struct a2a_context *context);
/* Whether the card is that of a runner's agent which can be used, and has the session.  NULL: it
 * is; else what is wrong, as the end of a sentence ("does not ..."); the caller frees. */
char *a2a_runner_card_check(const json_t *card, const char *session);
/* A caller's message for the agent, with the ids over there (`task` NULL: a new one). A new
 * reference. */
json_t *a2a_runner_message(const json_t *message, const struct a2a_context *context,
                           const char *task);
/* What a client of Gemini CLI's server asked for by a header, the agent there learns by the
 * message. */
void a2a_runner_mark_gemini(json_t *message, const char *folder);
/* What the agent that continues in the place of another gets; a new reference. */
json_t *a2a_runner_continuation(const json_t *message);

/* ---- runner_child.c: a program that reads and writes lines ----------------------- */

struct a2a_child;

struct a2a_child_events {
	/* A line of its output, borrowed; `too_long`: the beginning of one. */
	void (*line)(void *data, struct span line, bool too_long);
	/* It will say no more, or reads no more; not after a2a_child_end.  Once. */
	void (*silent)(void *data);
	/* After a2a_child_end: it has ended.  It is freed when this returns; *how has its exit
	 * code or signal and the last of its standard error, in a line of plain text. */
	void (*ended)(void *data, struct span how);
};

/* Starts a program, found by PATH, in a session without a terminal.  It gets this process's
 * environment but for the token of callers.  On the loop's thread; argv is read before this
 * returns.  IO_ERROR and the like: it cannot be started. */
bool a2a_child_start(struct loop *loop, const char *const *argv,
                     const struct a2a_child_events *events, void *data, struct a2a_child **ret,
                     struct err *err);
/* Sends a line; borrowed. */
void a2a_child_write(struct a2a_child *child, const json_t *line);
/* Closes its input and output.  If it has not ended `grace_ms` later it gets SIGTERM, and then
 * SIGKILL, with all processes of its group. */
void a2a_child_end(struct a2a_child *child, unsigned grace_ms);

#endif
