/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's parts.  Private to this folder. */
#ifndef HASP_AGENT_PRIVATE_H
#define HASP_AGENT_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "agent/agent.h"
#include "agent/loop_check.h"
#include "agent/mask.h"
#include "agent/stats.h"
#include "agent/superseded.h"

/* The member of a tool's response that has what was found just in time. */
#define FOUND_CONTEXT "newly_discovered_project_context"

struct agent {
	struct agent_options options; /* strings are owned, the rest is borrowed */
	char *system;                 /* owned */
	char *root;                   /* owned; the workspace folder, for names of files in calls */
	struct agent *top;            /* the agent that is nobody's sub-agent; often itself */
	json_t *context;              /* owned; the history's first message; or NULL: there is none */
	json_t *history;              /* owned */
	char *first_prompt;           /* owned; of the conversation; NULL: there was none yet */
	struct stats *stats;          /* owned, unless `parent` has it */
	_Atomic int mode;             /* enum approval_mode */

	/* Settings. */
	bool trim_superseded, diff_after_edit, detect_loops, may_always, may_save, trusted;
	double compression_threshold; /* of the context; above 1: never by itself */
	struct mask_options mask;

	struct superseded *superseded; /* owned; of `history` */
	struct loop_check *loop;       /* owned */
	bool loop_told;                /* of this prompt */
	json_t *declared;              /* owned; the tools, as told to the model, in `declared_mode` */
	enum approval_mode declared_mode;
	json_t *offered;               /* owned; the tools of the last request; NULL: none yet, or none */
	unsigned turns;                /* of the session */
	/* What the provider counted last, for how many messages. */
	uint64_t counted_tokens;
	size_t counted_messages;
	bool summary_failed;           /* compaction only leaves out from then on */
	uint64_t compacted_to;         /* tokens; the next one is due well above that */

	/* Of a prompt. */
	_Atomic bool stop;             /* a hook said so, on whatever thread */
	char *stop_reason;             /* owned; under `lock` */

	pthread_mutex_t lock;          /* of the record and of what calls share */
	json_t *ids;                   /* of `top`: call ids that were used; a set */
	json_t *folders;               /* for which context was given; a set */
	json_t *missing;               /* of a prompt: missing.h; under `lock` */
	bool changed;                  /* of a prompt: a call that changes or runs something succeeded */
	pthread_mutex_t asking;        /* of `top`: one question at a time */
};

/* A hook said continue: false. */
void agent_stop(struct agent *agent, const char *reason);
/* Fires an event if there is any hook for it; false: there is none, and *ret is not touched. Tells
 * people what hooks want them told, and takes down that they want to stop. */
bool agent_fire(struct agent *agent, enum hook_event event, const char *matched,
                const json_t *input, struct hook_outcome *ret);
bool agent_has_hooks(const struct agent *agent, enum hook_event event, const char *matched);
/* severity "info", "warning", "error". */
void agent_notice(struct agent *agent, const char *severity, const char *message);
/* Appends; takes the reference. */
void agent_append(struct agent *agent, json_t *message);
/* The history without the context before it; a new reference. */
json_t *agent_conversation(const struct agent *agent);
/* Another conversation takes its place; takes the reference, and records it. */
void agent_replace(struct agent *agent, json_t *conversation);

#endif
