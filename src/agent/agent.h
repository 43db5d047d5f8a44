/* SPDX-License-Identifier: Apache-2.0 */
/* The agent: runs one prompt to its end, alternating model replies and tool calls.
 *
 *     struct agent_options options = { .model = model, .session = &session, ... };
 *     struct agent *agent = agent_new(&options);
 *     ok = agent_prompt(agent, prompt, &outcome, &err);  // on this thread, until it has answered
 *     agent_outcome_release(&outcome);
 *     agent_free(agent);
 *
 * Events are published on the bus (bus/bus.h) and recorded (record.h). The options hold everything
 * an agent needs: the model, tool session, policy, hooks and bus are borrowed, strings are copied.
 * One prompt runs at a time. Any thread may cancel it through options.cancel; when agent_prompt
 * returns, nothing that it started is still running, except commands that the model put in the
 * background. A partial reply is kept. After the cancel has been reset the next prompt works, and
 * the model is informed that the last one was interrupted.
 *
 * agent_steer adds a message to the running prompt. It is sent with the results of the current
 * calls, or where the model would have stopped.
 *
 * A sub-agent is an agent with its own options (tools, model, limits, `name`) and a `parent`, with
 * which it shares the mode, statistics, call ids and the queue of questions. Its events are wrapped
 * (BUS_SUBAGENT) to keep them apart from the parent's. BeforeAgent and AfterAgent hooks run for the
 * parent only; a sub-agent is covered by the hooks around invoke_agent.
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
	struct agent *parent;          /* of a sub-agent; must outlive it */
	const char *parent_call;       /* of a sub-agent: the id of the call that it answers */
	struct model *model;
	/* Of each request, hooks may change them; NULL: the model's own. Borrowed. */
	const struct model_parameters *parameters;
	struct session *session;       /* its tools, provider and jobs; hooks are the agent's to
	                                * set */
	struct bus *bus;
	struct policy *policy;
	struct hooks *hooks;           /* may be NULL */
	const struct settings *settings;
	struct record *record;         /* may be NULL: nothing is recorded */
	/* Called with an edit that was allowed, before anything is written. Runs on the thread of
	 * the call, several at a time. May be NULL. */
	void (*before_edit)(void *data, const char *call_id, const struct tool *tool,
	                    const json_t *arguments);
	void *before_edit_data;
	const char *session_id;
	/* Returns the surroundings in a mode: the pieces of the system prompt and of the first
	 * message as they are now (surroundings.h); a new reference. Called on the thread of
	 * agent_prompt when a conversation starts or restarts, and before each prompt; changes are
	 * sent in a note. NULL: only `system` and `context` are sent. */
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
	/* Called after the history was replaced. `kept` (an array) holds the texts from context_for
	 * that are still in it; context_for is called again for every folder. May be NULL. */
	void (*context_lost)(void *data, const json_t *kept);
	void *context_data;
	/* Builds the message (role user) for a text that joins a prompt; a new reference. On the
	 * thread of agent_prompt. NULL: the text is sent unchanged. */
	json_t *(*steer_message)(void *data, struct span text);
	void *steer_data;
	enum approval_mode mode;
	bool interactive;              /* the user can be asked */
	bool watched;                  /* edits are published with their diffs; implied by
	                                * `interactive` */
	bool asks_together;            /* ask about all calls of a reply together, not one at a
	                                * time */
	const char *policy_folder;     /* where "always and save" writes, if the settings permit
	                                * it; or NULL */
	const char *output_folder;     /* where masked and truncated outputs go; NULL: nowhere */
	unsigned max_turns;            /* of this session; 0: no limit (model.maxSessionTurns -1) */
	const struct cancel *cancel;
};

/* Never NULL. Asks no questions and sends nothing yet. */
struct agent *agent_new(const struct agent_options *options);
void agent_free(struct agent *agent); /* NULL is fine */

enum agent_end {
	AGENT_ANSWERED,
	AGENT_CANCELLED,     /* by options.cancel, or the user rejected a call without comment */
	AGENT_TURN_LIMIT,    /* max_turns, or 100 turns for one prompt */
	AGENT_LOOP,          /* the model repeated itself after a warning */
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
	char *missing;     /* of an answer: the permissions that were missing because no one could
	                    * be asked, and the flags that would grant them; for people; owned;
	                    * NULL: none */
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

/* Asks a sub-agent that reached a limit, or was interrupted by one, to report the results it has.
 * It answers without tool calls; any that it makes are not run. Otherwise as agent_prompt. */
bool agent_conclude(struct agent *agent, const char *text, struct agent_outcome *outcome,
                    struct err *err);
/* Of a sub-agent, how many calls it has made. From any thread. */
unsigned agent_calls(const struct agent *agent);

/* Declares the session's new tools with the next request. Not while a prompt is running. */
void agent_tools_added(struct agent *agent);
/* A prompt is about to come: agent_steer takes messages from here on. */
void agent_expect(struct agent *agent);
/* A message of the user for the prompt under way. BeforeAgent hooks see it before it joins;
 * published as PROMPT then. False: no prompt is under way (any more), or there are too many
 * already. From any thread. */
bool agent_steer(struct agent *agent, struct span text);

/* Sets the conversation back to this beginning of it. `sent` (sessions.h, or NULL) is the
 * surroundings the model knew at that point. Not while a prompt is running. */
void agent_return(struct agent *agent, const json_t *conversation, const json_t *sent);
/* A prompt has come since it began, or since the last agent_return. */
bool agent_has_moved(const struct agent *agent);

/* The conversation so far, as it would be sent (content.h); borrowed, until the next prompt. */
const json_t *agent_history(const struct agent *agent);
/* What a conversation is about: the title of its last call of update_topic that had one and
 * succeeded; borrowed. NULL: none. */
const char *agent_topic(const json_t *history);
/* The list of todos that it has: of its last call of write_todos that succeeded; borrowed. NULL:
 * none. */
const json_t *agent_todos(const json_t *history);
/* Statistics in Gemini CLI's form (models, tools, files: reference of -o json); a new reference. */
json_t *agent_stats(const struct agent *agent);
/* "stats" of stream-json's result event; a new reference. */
json_t *agent_stream_stats(const struct agent *agent, uint64_t duration_ms);
/* A sub-agent's is its parent's. */
enum approval_mode agent_mode(const struct agent *agent);
/* The members of an event with what hooks for Claude Code get besides (hooks_fire); a new
 * reference. */
json_t *agent_hook_input(const struct agent *agent, const json_t *input);
/* Publishes the change. From any thread. */
void agent_set_mode(struct agent *agent, enum approval_mode mode);
/* One call that the user's own command makes: judged, asked about, published and run as the model's
 * are, and no part of the conversation.  While no prompt is under way. The result; a new
 * reference. */
json_t *agent_call(struct agent *agent, const char *name, json_t *arguments);
/* The same for a call that the user's words ask for, which needs no further yes: a rule of the user
 * or of the project may still ask or deny, as plan mode does. */
json_t *agent_call_ordered(struct agent *agent, const char *name, json_t *arguments);
/* One call that the text of a command or a skill makes.  Also while a prompt is under way, on the
 * thread of a call: that of activate_skill.  Commands that are known to be harmless
 * run where no one can be asked, too. */
json_t *agent_call_for_text(struct agent *agent, const char *name, json_t *arguments);
/* Compresses now (also when it would not be needed): PreCompress hooks, "manual".
 * CONTEXT_TOO_LARGE: it did not become smaller, and is as it was; CANCELLED; else what the
 * model's errors are. */
bool agent_compress(struct agent *agent, struct err *err);

#endif
