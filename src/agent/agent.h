/* SPDX-License-Identifier: Apache-2.0 */
/* The agent: a prompt, turns of a model and calls of tools, until it has answered.
 *
 *     struct agent_options options = { .model = model, .session = &session, ... };
 *     struct agent *agent = agent_new(&options);
 *     ok = agent_prompt(agent, prompt, &outcome, &err);  // on this thread, until it has answered
 *     agent_outcome_release(&outcome);
 *     agent_free(agent);
 *
 * What happens is published on the bus (bus/bus.h) as it happens, and recorded (record.h).
 * Everything that an agent needs is in its options, borrowed: the model, the tool session,
 * policy, hooks, bus; texts are copied.  One prompt at a time; agent_prompt may be cancelled
 * from anywhere by options.cancel, and when it returns nothing that it started is running, but
 * for commands that were asked for in the background.  What the model had said of its reply is
 * kept; the next prompt works once the cancel is reset, and tells the model that the last one was
 * interrupted.
 *
 * A message for a prompt under way (agent_steer) joins it at its next step: behind the results
 * of the calls that run, or where the model would have ended.
 *
 * A sub-agent is another agent with its own options (its tools, model, limits, `name`), and a
 * `parent`, with which it shares mode, statistics, ids of calls and the order of questions.  What
 * it publishes is wrapped (BUS_SUBAGENT), so that nobody takes it for its parent's; BeforeAgent and
 * AfterAgent hooks are the parent's alone: what is around a sub-agent is the call of invoke_agent.
 *
 * Folder, by subject:
 *   a prompt's life   agent.c the loop; turn.c one reply of the model, and hooks on it; publish.c
 *                     who hears of it;
 *                     call/calls.c the calls of a turn, and which waits for which; call/gate.c
 *                     hooks around each; call/permission.c what the policy says, and tools that
 *                     are off; call/confirm.c the question; call/missing.c what was refused;
 *                     state.c what these share
 *   what is sent      prompt/prompt.c the beginning, prompt/memory.c GEMINI.md, prompt/mention.c
 *                     @files; context/surroundings.c what changes of it; context/mask.c and
 *                     context/compact.c what leaves again, context/cut.c the note in its place;
 *                     call/loop_check.c
 *   what is kept      session/record.c and session/sessions.c; stats.c; checkpoint/ states to
 *                     return to
 *   what is shown     call/display.c for people and wrappers
 *   what holds it     host/host.c and host/services.c put it together, host/chat.c one
 *                     session of it; host/message.c what is sent for a prompt;
 *                     host/agents.c and host/subagent.c sub-agents; host/switch.c
 *                     another session, host/rewind.c an earlier state of it;
 *                     setup/prepare.c and setup/policy_load.c what is decided before
 */
#ifndef HASP_AGENT_AGENT_H
#define HASP_AGENT_AGENT_H

#include "bus/bus.h"
#include "config/settings.h"
#include "hooks/hooks.h"
#include "model/model.h"
#include "model/parameters.h"
#include "policy/policy.h"
#include "tool/set.h"

struct agent;
struct record; /* record.h */

struct agent_options {
	const char *name;              /* of a sub-agent; NULL: the main agent */
	struct agent *parent;          /* of a sub-agent; lives longer */
	const char *parent_call;       /* of a sub-agent: the id of the call that it answers */
	struct model *model;
	/* Of each request, hooks may change them; NULL: the model's own. Borrowed. */
	const struct model_parameters *parameters;
	struct session *session;       /* its tools, provider and jobs; hooks are the agent's to
	                                * set */
	struct bus *bus;               /* may be NULL: nobody watches, nobody can be asked */
	struct policy *policy;
	struct hooks *hooks;           /* may be NULL */
	const struct settings *settings;
	struct record *record;         /* may be NULL: nothing is recorded */
	/* Told of an edit that was allowed and is about to be made, before anything is written;
	 * on the thread of the call, several at a time. May be NULL. */
	void (*before_edit)(void *data, const char *call_id, const struct tool *tool,
	                    const json_t *arguments);
	void *before_edit_data;
	const char *session_id;
	/* What the model is told of its surroundings as they are now, in a mode: system prompt
	 * and first message in pieces (surroundings.h), a new reference. It is asked for when a
	 * conversation begins and when it begins anew, and before each prompt; what differs from
	 * what was told is said in a note. On the thread of agent_prompt. NULL: `system` and
	 * `context` are all. */
	json_t *(*surroundings)(void *data, enum approval_mode mode);
	void *surroundings_data;
	const json_t *sent;            /* of a resumed session: what its conversation begins with
	                                * (sessions.h); or NULL. Borrowed */
	struct span system;            /* the system prompt, copied; without `surroundings` */
	const json_t *context;         /* the history's first message, whatever becomes of the
	                                * rest; NULL: none. Borrowed; without `surroundings` */
	json_t *history;               /* of a resumed session (content.h); or NULL; borrowed */
	const char *first_prompt;      /* its first prompt (sessions.h), copied; NULL: as the
	                                * history has it */
	/* Asked once for each folder that calls touch, with the path of a file or folder in it:
	 * what is found just in time (prompt.h) is appended to the result. The caller frees what
	 * it returns; NULL: nothing. On a call's thread, one at a time. May be NULL. */
	char *(*context_for)(void *data, const char *path);
	/* The history was replaced: of what context_for found, the texts in `kept` (an array)
	 * are still in it. It is asked about every folder once more. May be NULL. */
	void (*context_lost)(void *data, const json_t *kept);
	void *context_data;
	/* What is sent for a message that joins a prompt (role user), a new reference; on the
	 * thread of agent_prompt. NULL: the text as it is. */
	json_t *(*steer_message)(void *data, struct span text);
	void *steer_data;
	enum approval_mode mode;
	bool interactive;              /* somebody can be asked */
	bool watched;                  /* somebody looks on: what the bus says of edits has their
	                                * diffs; so it is where somebody can be asked */
	bool asks_together;            /* about all calls of a reply that are to be asked about,
	                                * and not about one at a time */
	const char *policy_folder;     /* where "always and save" writes, if the settings permit
	                                * it; or NULL */
	const char *output_folder;     /* where masked and truncated outputs go; NULL: nowhere */
	unsigned max_turns;            /* of this session; 0: no limit (model.maxSessionTurns -1) */
	const struct cancel *cancel;
};

/* Never NULL; asks nobody and sends nothing yet. */
struct agent *agent_new(const struct agent_options *options);
void agent_free(struct agent *agent); /* NULL is fine */

enum agent_end {
	AGENT_ANSWERED,
	AGENT_CANCELLED,     /* by options.cancel, or somebody said no to a call and nothing else */
	AGENT_TURN_LIMIT,    /* max_turns, or 100 turns for one prompt */
	AGENT_LOOP,          /* the model goes in circles, and was told so once */
	AGENT_HOOK_STOPPED,  /* a hook said continue: false */
	AGENT_FAILED,        /* the model cannot be reached or used: *err */
	AGENT_FATAL_TOOL,    /* the disk is full (headless) */
};
/* "answered", "cancelled", ...: as statistics and events name it. */
const char *agent_end_name(enum agent_end end);

struct agent_outcome {
	enum agent_end end;
	char *text;        /* what the model said last; owned; "" without */
	char *reason;      /* of HOOK_STOPPED, LOOP, ..., of an answer that was cut (which was a
	                    * notice, too): for people; owned; NULL without */
	char *missing;     /* of an answer: what nobody was there to allow, and the flags that
	                    * would; for people; owned; NULL: nothing */
	char *unsent;      /* what agent_steer took and the prompt ended without, a blank line
	                    * between two; owned; NULL: nothing */
	unsigned turns;
};
/* Frees its texts. */
void agent_outcome_release(struct agent_outcome *outcome);

/* `content`: the user's message (role user), borrowed. False only for AGENT_FAILED and
 * FATAL_TOOL, with *err; outcome is filled in any case. */
bool agent_prompt(struct agent *agent, const json_t *content, struct agent_outcome *outcome,
                  struct err *err);

/* A sub-agent that has reached a limit, or was interrupted by one, is told so and asked once more,
 * for a report of what it has: it answers without calls, and none is made.  As agent_prompt. */
bool agent_conclude(struct agent *agent, const char *text, struct agent_outcome *outcome,
                    struct err *err);
/* Of a sub-agent, how many calls it has made. From any thread. */
unsigned agent_calls(const struct agent *agent);

/* The session has more tools than it had: the next request declares them.  While no prompt is under
 * way. */
void agent_tools_added(struct agent *agent);
/* A prompt is about to come: agent_steer takes messages from here on. */
void agent_expect(struct agent *agent);
/* A message of the user for the prompt under way. BeforeAgent hooks see it before it joins;
 * published as PROMPT then. False: no prompt is under way (any more), or there are too many
 * already. From any thread. */
bool agent_steer(struct agent *agent, struct span text);

/* The conversation is this one again, the beginning of what it is: of `sent` (sessions.h, or NULL)
 * what the model was told up to there. While no prompt is under way. */
void agent_return(struct agent *agent, const json_t *conversation, const json_t *sent);
/* A prompt has come since it began, or since the last agent_return. */
bool agent_has_moved(const struct agent *agent);

/* The conversation so far, as it would be sent (content.h); borrowed, until the next prompt. */
const json_t *agent_history(const struct agent *agent);
/* What a conversation is about: the title of its last call of update_topic that had one and
 * succeeded; borrowed. NULL: there is none. */
const char *agent_topic(const json_t *history);
/* Statistics in Gemini CLI's form (models, tools, files: reference of -o json); a new reference. */
json_t *agent_stats(const struct agent *agent);
/* "stats" of stream-json's result event; a new reference. */
json_t *agent_stream_stats(const struct agent *agent, uint64_t duration_ms);
/* A sub-agent's is its parent's. */
enum approval_mode agent_mode(const struct agent *agent);
/* Told on the bus. From any thread. */
void agent_set_mode(struct agent *agent, enum approval_mode mode);
/* One call that the user's own command makes: judged, asked about, published and run as the model's
 * are, and no part of the conversation.  While no prompt is under way. The result; a new
 * reference. */
json_t *agent_call(struct agent *agent, const char *name, json_t *arguments);
/* Compresses now (also when it would not be needed): PreCompress hooks, "manual".
 * CONTEXT_TOO_LARGE: it did not become smaller, and is as it was; CANCELLED; else what the
 * model's errors are. */
bool agent_compress(struct agent *agent, struct err *err);

#endif
