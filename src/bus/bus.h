/* SPDX-License-Identifier: Apache-2.0 */
/* Topics and questions: how reports from inside reach the fronts, and how answers come
 * back.
 *
 *     struct bus *bus = bus_new();
 *     unsigned id = bus_subscribe(bus, BUS_TOOL_CONFIRMATION_REQUEST, show, ui);
 *     bus_publish(bus, BUS_CONTENT, message);                      // calls all subscribers
 *     switch (bus_ask(bus, BUS_TOOL_CONFIRMATION_REQUEST, message, 0, cancel, &answer)) ...
 *     bus_answer(bus, BUS_TOOL_CONFIRMATION_RESPONSE, answer);     // from any thread
 *     bus_free(bus);
 *
 * Messages are JSON objects; the table in bus.c says what each topic's members are, and
 * docs/bus.md shows them.  A question gets a "correlationId"; the first answer with that id is
 * the answer, later ones are ignored, unless the asker judges answers (bus_ask_judged): then a
 * question may stay open until several people have answered.  Who subscribes to a question's topic
 * promises to answer it; with no subscriber there is no answer (BUS_NOBODY), and no answer means
 * no.
 *
 * All functions from any thread.  Subscribers run on the thread that publishes, one message at a
 * time, and may publish, answer and unsubscribe, but not ask.
 */
#ifndef HASP_BUS_BUS_H
#define HASP_BUS_BUS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/cancel.h"
#include "base/err.h"

/* X(symbol, name, the topic that answers it or NONE) */
#define BUS_TOPIC_TABLE(X)                                                                        \
	X(TOOL_CONFIRMATION_REQUEST, "tool-confirmation-request", TOOL_CONFIRMATION_RESPONSE)     \
	X(TOOL_CONFIRMATION_RESPONSE, "tool-confirmation-response", NONE)                         \
	X(TOOL_POLICY_REJECTION, "tool-policy-rejection", NONE)                                   \
	X(UPDATE_POLICY, "update-policy", NONE)                                                   \
	X(ASK_USER_REQUEST, "ask-user-request", ASK_USER_RESPONSE)                                \
	X(ASK_USER_RESPONSE, "ask-user-response", NONE)                                           \
	X(ELICITATION_REQUEST, "elicitation-request", ELICITATION_RESPONSE)                       \
	X(ELICITATION_RESPONSE, "elicitation-response", NONE)                                     \
	X(PROMPT, "prompt", NONE)                                                                 \
	X(CONTENT, "content", NONE)                                                               \
	X(THOUGHT, "thought", NONE)                                                               \
	X(TOOL_CALL, "tool-call", NONE)                                                           \
	X(TOOL_OUTPUT, "tool-output", NONE)                                                       \
	X(TOOL_PROGRESS, "tool-progress", NONE)                                                   \
	X(TOOL_RESULT, "tool-result", NONE)                                                       \
	X(COMMAND, "command", NONE)                                                               \
	X(COMMAND_OUTPUT, "command-output", NONE)                                                 \
	X(COMMAND_INPUT, "command-input", NONE)                                                   \
	X(COMMAND_RESIZE, "command-resize", NONE)                                                 \
	X(COMMAND_BACKGROUND, "command-background", NONE)                                         \
	X(MCP_SERVERS, "mcp-servers", NONE)                                                       \
	X(MCP_LISTED, "mcp-listed", NONE)                                                         \
	X(API_REQUEST, "api-request", NONE)                                                       \
	X(API_RESPONSE, "api-response", NONE)                                                     \
	X(API_ERROR, "api-error", NONE)                                                           \
	X(HOOK_CALL, "hook-call", NONE)                                                           \
	X(NOTICE, "notice", NONE)                                                                 \
	X(MODEL, "model", NONE)                                                                   \
	X(COMPRESSED, "compressed", NONE)                                                         \
	X(TODOS, "todos", NONE)                                                                   \
	X(TOPIC_UPDATE, "topic-update", NONE)                                                     \
	X(APPROVAL_MODE, "approval-mode", NONE)                                                   \
	X(LOOP_DETECTED, "loop-detected", NONE)                                                   \
	X(OUTPUT_TRUNCATED, "output-truncated", NONE)                                             \
	X(OUTPUTS_MASKED, "outputs-masked", NONE)                                                 \
	X(REWOUND, "rewound", NONE)                                                               \
	X(AGENT_RUN, "agent-run", NONE)                                                           \
	X(SLASH_COMMAND, "slash-command", NONE)                                                   \
	X(EXTENSION, "extension", NONE)                                                           \
	X(SUBAGENT, "subagent", NONE)                                                             \
	X(QUESTION_VOTE, "question-vote", NONE)                                                   \
	X(QUESTION_ANSWERED, "question-answered", NONE)                                           \
	X(COMMENT, "comment", NONE)                                                               \
	X(TURN_END, "turn-end", NONE)

enum bus_topic {
	BUS_NONE,
#define BUS_TOPIC_ENUM(symbol, name, answer) BUS_##symbol,
	BUS_TOPIC_TABLE(BUS_TOPIC_ENUM) /* one a row, in their order */
#undef BUS_TOPIC_ENUM
	BUS_TOPIC_COUNT
};
/* What the members are (all strings unless said):
 * TOOL_CONFIRMATION_REQUEST  correlationId, callId, toolName, serverName?, arguments (object),
 *     details {type "edit"|"exec"|"mcp"|"info"|"sandbox_expansion", title, and
 *       edit: filePath, fileName, fileDiff, originalContent|null, newContent|null,
 *           files? [{filePath, kind "edit"|"create"|"delete"|"rename"|"several", newPath?,
 *           fileDiff, originalContent|null, newContent|null}]: of a list of changes;
 *       exec: command, rootCommand, rootCommands [string], summary, problems [string],
 *           commandPrefixes? [string]: what "always" would allow, denials? [object]: what
 *           the sandbox would deny, as far as can be foreseen;
 *       mcp: serverName, toolName, toolDisplayName, changed?: the lines in which it differs
 *           from the tool that was last allowed;
 *       info: prompt, urls [string], and of a text that may be edited (a plan): fileName,
 *           originalContent, newContent;
 *       sandbox_expansion: docs/bus.md},
 *     outcomes [string]: those that may be chosen (Gemini CLI's words: proceed_once, ...),
 *     reason?: what a hook or rule said, agentName?: the sub-agent whose call it is,
 *     together? {id, index, count (int)}: this is question `index` (from 0) of `count` that are
 *     asked at the same time; shown: SHA-256 of what is asked about (docs/bus.md);
 *     approvals? {needed (int), rules [{needed (int), reviewers? [string], owner, rule}],
 *       statement: what a reviewer may sign}: more than one person must approve;
 *     round? (int, from 2), answers? [string: ids of comments], previous? {a file's path: SHA-256
 *     of what was proposed for it}: an earlier proposal for these files was commented on
 * TOOL_CONFIRMATION_RESPONSE correlationId, outcome, newContent? (modify_with_editor), message?,
 *     comments? [{filePath, side "old"|"new", startLine, endLine (int), text}], shown?: of the
 *     question, which must be the same; signature?: of its statement, by ssh-keygen;
 *     review? {hunks [{header, taken true|false|"edited", comment?}]}: of an edit that was
 *     reviewed hunk by hunk; newContent is the result; files? [{filePath, taken (bool),
 *     newContent?, hunks?, comment?}]: the same for each file of a list of changes;
 *     byPolicy? (bool): the agent's own, because a rule was made that may answer it
 * TOOL_POLICY_REJECTION      callId, toolName, message, rule?
 * UPDATE_POLICY              toolName, commandPrefix? [string], serverName?, saved (bool)
 * ASK_USER_REQUEST           correlationId, questions [...] (as the tool ask_user has them)
 * ASK_USER_RESPONSE          correlationId, answers {"0": ...} | cancelled (bool)
 * ELICITATION_REQUEST        what an MCP server asks the user: correlationId, serverName, message,
 *                            mode "form": fields [...] (data/form.h) | "url": url; foreign text.
 *                            login? (bool): hasp itself asks, for a login at that server; then
 *                            opened? (bool): a browser has it already, problem?: of the last try.
 *                            mode "sampling": the model is to answer message, all that it gets;
 *                            model, maxTokens (int): its name, the longest that it may answer
 * ELICITATION_RESPONSE       correlationId, action "accept"|"decline"|"cancel", content? {NAME of
 *                            a field: its value}: of a form that is accepted; of an address
 *                            that is: open? (bool): in a browser, address?: where a login led; of
 *                            sampling that is: session? (bool): and all others of this server
 * PROMPT                     text: what the user sent; steer? (bool): it joins the prompt under way
 * CONTENT, THOUGHT           text (a piece); THOUGHT: subject?
 * TOOL_CALL                  callId, toolName, title, arguments, description
 * TOOL_OUTPUT                callId, text (a piece of a running command's output; untrusted)
 * TOOL_PROGRESS              callId, progress, total? (numbers), message?: what an MCP server
 *                            reports of a running call; foreign text, one line
 * TOOL_RESULT                callId, toolName, status "success"|"error"|"cancelled", result,
 *                            display (string), durationMs (int), error? {type, message},
 *                            serverName? (of an MCP tool), decision? ("accept", "reject",
 *                            "modify", "auto_accept"); where a hook changed the call ranArguments?
 *                            (what it ran with) and ranName? (the tool that ran in its place)
 * COMMAND                    pid (int), state "running"|"ended", command?, callId?, secret? (bool:
 *                            typed text is not echoed): of a command on a terminal; after
 *                            the first message members are missing that are as they were
 * COMMAND_OUTPUT             pid (int), text (a piece, whole characters; untrusted, raw)
 * COMMAND_INPUT              pid (int), text, answer? (bool: the terminal's, not the user's)
 * COMMAND_RESIZE             pid? (int; missing: of those to come), rows, columns (int)
 * COMMAND_BACKGROUND         pid (int): who waits for it goes on
 * MCP_SERVERS                action "enable"|"disable"|"reload", serverName? (not of reload),
 *                            session? (bool: for this session alone): takes effect before the
 *                            next prompt
 * MCP_LISTED                 serverName: what it offers is known now, or has changed
 * API_REQUEST                model, role ("main", "subagent", "compress", ...): it goes out;
 *                            agentName?: the sub-agent that asks, also of the next two
 * API_RESPONSE               model, role, durationMs (int), reason, usage {input, output, cached,
 *                            thoughts, tool, total (int)}
 * API_ERROR                  model, role, durationMs (int), type, error: it failed for good
 * HOOK_CALL                  event, name, durationMs (int), exitCode (int), success (bool): a
 *                            hook's command has run; for telemetry.h's details input? {},
 *                            stdout?, stderr?, keys masked
 * NOTICE                     severity "info"|"warning"|"error", message; of a reply
 *                            that is asked for again: delayMs? (int), cause? (the message
 *                            without the wait), model?, forget? (int): so many of the last
 *                            bytes of CONTENT do not count any more
 * MODEL                      model, message, reason?, from?, until? (int, seconds since 1970),
 *                            forget?: this model answers from now on; until `from` is asked
 *                            again, or, without `until`, because its time has come
 * COMPRESSED                 before, after (int tokens), how "summary"|"truncation"
 * TODOS                      todos [{description, status}]
 * TOPIC_UPDATE               title?: of what is worked on (missing: it stays), summary?,
 *                            strategicIntent: what is done next
 * APPROVAL_MODE              mode
 * LOOP_DETECTED              kind "calls"|"text": what is repeated; count (int): 1, the model is
 *                            warned; 2, the prompt ends
 * OUTPUT_TRUNCATED           callId, toolName, before, after, limit (int bytes of its texts; limit
 *                            of each): a result was too long for the conversation
 * OUTPUTS_MASKED             count (int), before, after, candidates (int tokens: of the
 *                            conversation, of all candidates): old results were moved to files
 * REWOUND                    what "conversation"|"files"|"both": back to an earlier prompt
 * AGENT_RUN                  agentName, callId (of the call of invoke_agent), agentId (the session
 *                            of its record, or ""), state "started"|"ended"; then durationMs, turns
 *                            (int), end ("answered", "turn_limit", "time_limit", "cancelled" ...)
 * SLASH_COMMAND              command (its own name), status "success"|"error": one of hasp's own
 *                            was run
 * EXTENSION                  action "install"|"uninstall"|"update"|"enable"|"disable", name,
 *                            version?, previousVersion?, source? ("local", "git", ...),
 *                            scope? ("user", ...), status "success"|"error"
 * SUBAGENT                   agentName, callId (of the call of invoke_agent), topic, message
 *                            (object): what a sub-agent would publish were it the session's agent;
 *                            its text, calls and results are published only in this form. Published
 *                            directly are its questions (with agentName?), API_*, UPDATE_POLICY,
 *                            warnings and errors, and TOOL_PROGRESS of the call, for each of the
 *                            sub-agent's calls
 * QUESTION_ANSWERED          correlationId, question (its topic), outcome: that of the answer,
 *                            "answered", "cancelled", or "withdrawn": who asked has stopped;
 *                            by?: who answered: a reviewer's name, else the front's; from?: the
 *                            front's; approvedBy? [string]: all, where several had to
 * QUESTION_VOTE              correlationId, by, from?: as above; vote "approve", "veto" (the
 *                            answer is no), "against" (it counts no more than a missing approval),
 *                            "lapsed" (an approval of earlier does not count any more),
 *                            approvals, needed (int), approvedBy [string], missing?: in words;
 *                            shown, owner (bool: of the session), signature?
 * COMMENT                    text, by: what a front says to the others; the model does not see it
 * TURN_END                   reason, usage (object)
 */

/* COMMAND_INPUT, COMMAND_RESIZE, COMMAND_BACKGROUND and MCP_SERVERS are orders of fronts: published
 * to the host.  What a user types (COMMAND_INPUT) may be a password: it reaches subscribers to that
 * topic alone, and not those to every topic. */
bool bus_topic_is_order(enum bus_topic topic);

/* As messages and docs/bus.md spell it: "tool-call". */
const char *bus_topic_name(enum bus_topic topic);
enum bus_topic bus_topic_answer(enum bus_topic topic); /* BUS_NONE: it is no question */
/* "NAME:TYPES NAME?:TYPES ...", as bus.c says; "" for BUS_NONE. */
const char *bus_topic_members(enum bus_topic topic);
/* Whether a message has the members of its topic; more than these are fine. INVALID_ARGUMENT: which
 * is missing or has another type. */
bool bus_check(enum bus_topic topic, const json_t *message, struct err *err);

struct bus;
typedef void bus_listener(void *data, enum bus_topic topic, const json_t *message);

/* Without subscribers. */
struct bus *bus_new(void);
void bus_free(struct bus *bus); /* NULL is fine; no question may be waiting */

/* Returns a number above 0 for bus_unsubscribe. BUS_NONE: every topic but COMMAND_INPUT (and no
 * promise to answer). */
unsigned bus_subscribe(struct bus *bus, enum bus_topic topic, bus_listener *listener, void *data);
/* The listener is not running, and not called any more, when it returns; unless it is called by the
 * listener itself.  A question that no subscriber is left to answer gets BUS_NOBODY. */
void bus_unsubscribe(struct bus *bus, unsigned id);
bool bus_has_listener(struct bus *bus, enum bus_topic topic);

/* NULL bus: there is no listener. `message` is borrowed and must not be changed by listeners. */
void bus_publish(struct bus *bus, enum bus_topic topic, const json_t *message);

enum bus_reply {
	BUS_ANSWERED,
	BUS_NOBODY,    /* no subscriber (or NULL bus), or none any more; asked by a listener */
	BUS_TIMED_OUT,
	BUS_CANCELLED,
};

/* Gives a question a fresh correlationId before it is asked: for who has to know it meanwhile.
 * Without random bytes it has none, and asking it is BUS_NOBODY. */
void bus_identify(json_t *message);
/* Publishes a question, with a fresh correlationId set in `message` unless it has one, and waits up
 * to `timeout_ms` (0: for as long as it takes). *ret: the answering message, for the caller. */
enum bus_reply bus_ask(struct bus *bus, enum bus_topic topic, json_t *message, unsigned timeout_ms,
                       const struct cancel *cancel, json_t **ret);
/* Also published, before the waiter goes on. False: no one waits for this id (any more), the answer
 * has not the members of `topic` (bus_check), or the asker refuses it. */
bool bus_answer(struct bus *bus, enum bus_topic topic, const json_t *answer);

/* ---- who answers ----------------------------------------------------------------- */

/* One person may have several fronts; all borrowed. */
struct bus_voter {
	const char *front;    /* its name, as others see it */
	const json_t *person; /* {name, groups [string]} of a reviewer; NULL: the session's owner */
};

/* bus_answer, in a front's name: QUESTION_ANSWERED says who it was.  INVALID_ARGUMENT: no such
 * answer, or the question is not open (any more); or as the asker refuses it. */
bool bus_answer_as(struct bus *bus, enum bus_topic topic, const json_t *answer,
                   const struct bus_voter *voter, struct err *err);

enum bus_ruling {
	BUS_DECIDED, /* the question is answered */
	BUS_OPEN,    /* it waits for more */
	BUS_REFUSED, /* the answer does not count: *err */
};

/* An asker's judgement of each answer.  Called on the thread that answers, one at a time; may
 * publish, but not ask, answer or wait.  `answer` NULL: the question was just published, or those
 * who may answer have changed; `voter` NULL: bus_answer's.  *ret: a new reference, published as the
 * answer in place of this one; left alone: this one (which cannot be NULL then). */
struct bus_judge {
	enum bus_ruling (*rule)(void *data, const json_t *answer, const struct bus_voter *voter,
	                        json_t **ret, struct err *err);
	void *data;
};

/* bus_ask without a time limit, where `judge` (borrowed) says when it is answered. */
enum bus_reply bus_ask_judged(struct bus *bus, enum bus_topic topic, json_t *message,
                              const struct bus_judge *judge, const struct cancel *cancel,
                              json_t **ret);
/* Those who may answer have changed: asks all judges. Not within their calls. */
void bus_rejudge(struct bus *bus);

/* Who can answer questions, or could come to: [{name, groups} of a reviewer, {} of the owner].
 * `list` returns a new reference, on any thread, with locks of the bus held.  NULL: only the owner
 * is known. */
void bus_set_people(struct bus *bus, json_t *(*list)(void *data), void *data);
/* What `list` says; a new reference. */
json_t *bus_people(struct bus *bus);

#endif
