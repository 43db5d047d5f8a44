/* SPDX-License-Identifier: Apache-2.0 */
/* Gemini CLI's extension "development-tool": what clients have that were written for its server
 * (@google/gemini-cli-a2a-server): its events, its settings, its own HTTP routes (commands.c).
 *
 *     task->gemini = a2a_gemini_new(task, message);     // NULL: an ordinary task
 *     if (task->gemini)
 *             a2a_gemini_event(task, event);             // in place of publish.c's
 *
 * A task has it whose first message carries agent settings (metadata.coderAgent), whose order asked
 * for the extension's URI, or that POST /tasks made.  Each of its status updates has
 * metadata.coderAgent.kind, which says what the message is:
 *
 *     state-change            nothing but the state
 *     text-content            a piece of the answer; pieces of one answer have one messageId
 *     thought                 a data part {subject, description}
 *     tool-call-update        a data part {request, status, tool, ...}: a call as it is now
 *     tool-call-confirmation  the same with confirmationDetails; INPUT_REQUIRED follows
 *
 * Its prompt ends as INPUT_REQUIRED, not COMPLETED: clients go on with the same task.  A message
 * with no question open is the next prompt.
 *
 * Settings never give more than there is: workspacePath must be one of the server's workspaces that
 * the caller may use, autoExecute and isTrusted change nothing (the caller's rules decide).
 *
 * Source: packages/a2a-server of Gemini CLI, by what it sends; test/a2a/serve/gemini_truth.json.
 * Not here: what a confirmation's answer means (question.c). */
#ifndef HASP_A2A_SERVE_GEMINI_H
#define HASP_A2A_SERVE_GEMINI_H

#include "a2a/serve/private.h"
#include "bus/bus.h"
#include "front/front.h"

#define A2A_GEMINI_URI "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/" \
	"developer-profile/v0/spec.md"

struct a2a_gemini;

/* Whether a task that begins with this message, whose order asked for these extensions (may be
 * NULL), is one of these. */
bool a2a_gemini_is_asked(const json_t *message, const json_t *extensions);
/* Gives a task what it needs here, and its Task the metadata that these clients expect. */
void a2a_gemini_begin(struct a2a_task *task, const json_t *message);
/* The same for one that was read from its record. */
void a2a_gemini_restore(struct a2a_task *task);
void a2a_gemini_free(struct a2a_gemini *gemini); /* NULL is fine */

/* What a status update has that nothing else is known of: takes and returns the metadata (NULL:
 * none). */
json_t *a2a_gemini_metadata(const struct a2a_task *task, json_t *metadata);
/* The caller's next message: a prompt, which waits its turn. */
void a2a_gemini_go_on(struct a2a_task *task, const json_t *message);
/* An event of the session's while the task runs; not one of its questions. */
void a2a_gemini_event(struct a2a_task *task, const struct front_event *event);
/* A question that goes to the caller: INPUT_REQUIRED, with what is asked before it. */
void a2a_gemini_ask(struct a2a_task *task, enum bus_topic topic, const json_t *message);
/* The prompt is over; `canceled`: its caller ended it. */
void a2a_gemini_end(struct a2a_task *task, const struct front_event *event, bool canceled);

/* "working", "input-required" ...: 0.3's word. Static. */
const char *a2a_gemini_state(enum a2a_task_state state);

/* ---- commands.c: POST /tasks, GET /tasks/metadata, GET /tasks/ID/metadata, GET /listCommands,
 *      POST /executeCommand --------------------------------------------------------------- */

/* Whether there is something of these at a path with this method. */
bool a2a_gemini_has(const char *method, const char *path);
/* The method that a path takes which nothing else has; static; NULL: it is none of these. */
const char *a2a_gemini_method(const char *path);
/* Carries it out; the caller's reference is taken over. */
void a2a_gemini_take(struct a2a_server *server, struct a2a_caller *caller,
                     struct http_request *request, const char *path, struct span text);

#endif
