/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's parts. */
#ifndef HASP_AGENT_PRIVATE_H
#define HASP_AGENT_PRIVATE_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/context/context.h"
#include "agent/context/surroundings.h"
#include "base/notices.h"
#include "model/model.h"

/* ---- agents ------------------------------------------------------------------ */

/* The member of a tool's response that has what was found just in time. */
#define FOUND_CONTEXT "newly_discovered_project_context"

struct loop_check; /* call/calls.h */
struct stats;      /* below */

struct agent {
	struct agent_options options; /* strings are owned, the rest is borrowed */
	char *system;                 /* owned */
	char *root;                   /* owned; the workspace folder, for names of files in calls */
	struct agent *top;            /* the agent at the top, which has no parent; often itself */
	json_t *context;              /* owned; the history's first message; or NULL: there is
	                               * none */
	json_t *known;                /* owned; what the model knows of its surroundings
	                               * (surroundings.h); or NULL */
	enum approval_mode known_mode; /* the mode that it knows of */
	json_t *beginning;            /* owned; {"system", "context", "tools"} as the session's file
	                               * is to have it; NULL: no surroundings, or it has it */
	bool started;                   /* the first prompt has come */
	bool moved;                   /* one has come since agent_return, or the beginning */
	struct sent *sent;            /* owned; the last request */
	json_t *history;              /* owned */
	char *first_prompt;           /* owned; of the conversation; NULL: there was none yet */
	struct stats *stats;          /* owned, unless `parent` has it */
	_Atomic int mode;             /* enum approval_mode */

	/* Settings. */
	bool trim_superseded, detect_loops, may_always, may_save, trusted;
	double compression_threshold; /* of the context; above 1: never by itself */
	struct mask_options mask;

	struct superseded *superseded; /* owned; of `history` */
	struct loop_check *loop;       /* owned */
	bool loop_warned;              /* of this prompt */
	json_t *declared;              /* owned; the tools as declared to the model: unchanged until
	                                * agent_tools_added */
	json_t *offered;               /* owned; the tools of the last request; NULL: none yet,
	                                * or none */
	unsigned turns;                /* of the session */
	/* What the provider counted last, for how many messages. */
	uint64_t counted_tokens;
	size_t counted_messages;
	bool summary_failed;           /* compaction only leaves out from then on */
	uint64_t compacted_to;         /* tokens; the next one is due well above that */
	bool full_warned;              /* that it cannot get below the threshold */

	bool interrupted;              /* the last prompt was cancelled */
	bool concluding;               /* no more calls are made: agent_conclude */
	_Atomic unsigned calls;        /* of a sub-agent: that it has made */

	/* Of a prompt. */
	json_t *steers;                /* owned; texts that are to join it; NULL: no prompt is
	                                * under way; under `lock` */
	_Atomic bool stop;             /* a hook said so, on whatever thread */
	char *stop_reason;             /* owned; under `lock` */

	pthread_mutex_t lock;          /* of the record and of what calls share */
	json_t *ids;                   /* of `top`: call ids that were used; a set */
	json_t *folders;               /* for which context was given; a set */
	json_t *missing;               /* of a prompt: call/calls.h; under `lock` */
	bool changed;                  /* of a prompt: a call that changes or runs something
	                                * succeeded */
	pthread_mutex_t question_lock; /* of `top`: held while a question is open; with questions
	                                * asked together, guards `asked` */
	_Atomic unsigned rounds;       /* of `top`: of questions that were put together */
	_Atomic unsigned edit_replies; /* of `top`: of the model, which may have several edits */
	struct confirm_request *asked; /* of `top`: the questions that are asked together */
	_Atomic unsigned comments;     /* of `top`: on lines of edits, that answers had */
	json_t *proposals;             /* of `top`: edits that were commented on, by path
	                                * (call/comments.c); under `lock` */
};

/* Fires an event. Returns false without touching *ret if there is no hook for it. Shows the
 * messages of hooks to the user and notes a hook's request to stop. */
bool agent_fire(struct agent *agent, enum hook_event event, const char *matched,
                const json_t *input, struct hook_outcome *ret);
bool agent_has_hooks(const struct agent *agent, enum hook_event event, const char *matched);
/* Publishes on the bus, if there is one; of a sub-agent as BUS_SUBAGENT says (publish.c). */
void agent_publish(struct agent *agent, enum bus_topic topic, const json_t *message);
/* severity "info", "warning", "error". */
void agent_notice(struct agent *agent, enum severity severity, const char *message);
/* A request to the model goes out; it was answered; or not, after all tries. Published, and
 * counted. `role`: "main", "compress", ...; `contents`: of a request of the conversation itself;
 * or NULL. */
void agent_report_request(struct agent *agent, const char *role, const json_t *contents);
void agent_report_reply(struct agent *agent, const char *role, const struct model_reply *reply);
void agent_report_failure(struct agent *agent, const char *role, const struct err *err, double ms);
/* Appends a message; takes the reference. If the last one has the same role (after a cancelled
 * prompt) the parts are added to it, as in the session's file and as all providers require. */
void agent_append(struct agent *agent, json_t *message);
/* The history without the context before it; a new reference. */
json_t *agent_conversation(const struct agent *agent);
/* Another conversation takes its place, which the record knows. */
void agent_take_history(struct agent *agent, const json_t *conversation);
/* The same; takes the reference, and records it. */
void agent_replace(struct agent *agent, json_t *conversation);
/* Takes the current surroundings for a conversation that restarts. `cut`: the first message, if a
 * compaction had to shorten it; NULL: whole. */
void agent_renew_surroundings(struct agent *agent, json_t *cut);
/* Records that, if there is something new. */
void agent_record_beginning(struct agent *agent);
/* Marks a call's id as used, in the whole session; false: it was used before. From any thread. */
bool agent_reserve_call_id(struct agent *agent, const char *id);
/* The tools as they are declared, in every mode; borrowed. */
const json_t *agent_tools(struct agent *agent);
/* Whether a tool is declared in any mode; `data` is the agent. */
bool agent_declares(void *data, const struct tool *tool);
/* The same as the session's file names them: a hash; a new reference. */
json_t *agent_tools_hash(struct agent *agent);
/* Adds a note on what has changed since the model was last informed to a message of the user that
 * has not been sent yet, and records it. */
void agent_note_changes(struct agent *agent, json_t *message);
/* Removes thinking that its provider would now reject (content.h) from the history, and records
 * that. */
void agent_drop_thoughts(struct agent *agent);

/* ---- turns ------------------------------------------------------------------- */

/* One request to the model and its reply. */

enum turn_end {
	TURN_REPLIED,
	TURN_BLOCKED,   /* a hook does not let the request go out */
	TURN_CANCELLED, /* *err */
	TURN_FAILED,    /* *err */
};

/* Sends the history, trimmed, and publishes the pieces of the reply as they arrive. The history is
 * not changed. *ret is set only for TURN_REPLIED; the caller releases it (model_reply_release).
 * *ret_words (owned, may be NULL) is the reason after BLOCKED, and the partial reply after
 * CANCELLED. */
enum turn_end turn_run(struct agent *agent, struct model_reply *ret, char **ret_words,
                       struct err *err);

/* ---- what a session used ---------------------------------------------------------- */

/* What a session used, in Gemini CLI's forms.
 *
 * One object for an agent and its sub-agents; all functions from any thread.
 */

/* Of a session in which nothing was asked yet. Never NULL. */
struct stats *stats_new(void);
void stats_free(struct stats *stats); /* NULL is fine */

/* A request that was answered: `attempts` of it failed but for the last. `role`: "main", ... */
void stats_reply(struct stats *stats, const char *role, const struct model_reply *reply);
/* One that was not, after all tries. */
void stats_failure(struct stats *stats, const char *role, const char *model, const struct err *err,
                   double ms);

/* A request that had one before it: how many of its bytes equal the beginning of that. */
void stats_sent(struct stats *stats, size_t bytes, size_t equal);

enum stats_decision {
	DECISION_NONE,   /* it never came to one */
	DECISION_ACCEPT, /* the user accepted it */
	DECISION_REJECT, /* the user, a rule or a hook rejected it */
	DECISION_MODIFY, /* the user changed and accepted it */
	DECISION_AUTO,   /* rules allow it */
	DECISION_COUNT,
};

/* "accept", "reject", "modify", "auto_accept"; NULL of NONE. */
const char *stats_decision_name(enum stats_decision decision);
/* How a call ended. */
enum stats_end {
	STATS_SUCCESS,
	STATS_FAILED,
	STATS_DECLINED, /* the user said no: neither of the two */
};
/* Counts a call that ended. Lines added and removed are taken from `result`. `duration_ms`: without
 * the time that the user was asked. */
void stats_call(struct stats *stats, const char *tool, enum stats_end end, uint64_t duration_ms,
                enum stats_decision decision, const json_t *result);
/* An edit of a model in the words of a dialect that ended "right", "repaired" or "refused"; `what`:
 * the code of a refusal, or NULL. */
void stats_edit(struct stats *stats, const char *model, const char *dialect, const char *end,
                const char *what);

/* {"models", "tools", "files"} of `-o json`, and "cached": {"requests", "bytes", "equal",
 * "share", "least"}, the share of requests that equals the beginning of the one before (0 to 1;
 * the least of all), and "tokens", those that providers found in their caches. A new reference. */
json_t *stats_json(struct stats *stats);
/* "stats" of stream-json's result event; a new reference. */
json_t *stats_stream_json(struct stats *stats, uint64_t duration_ms);

#endif
