/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a tool, from the model's words to the part that answers them.  Private to this folder. */
#ifndef HASP_AGENT_CALL_CALL_H
#define HASP_AGENT_CALL_CALL_H

#include "agent/call/order.h"
#include "agent/call/path_rules.h"
#include "agent/private.h"

/* Why a call was refused that somebody could have allowed, had anybody been there to be asked. */
enum call_wants {
	CALL_WANTS_NOTHING,
	CALL_WANTS_RULE,  /* a rule, a flag or another mode would allow it */
	CALL_WANTS_FLAGS, /* permissions beyond the sandbox */
	CALL_WANTS_HOOK,  /* a hook wants somebody asked */
};

enum call_state { CALL_WAITING, CALL_RUNNING, CALL_ENDED };

struct call {
	struct agent *agent;
	const char *id, *name;       /* as the model has them; borrowed from `part` */
	json_t *args;                /* owned; without what is only for the order */
	const struct tool *tool;     /* NULL: there is no such tool */
	struct order_call order;
	enum call_state state;       /* under the batch's lock */

	/* What happens on the way: of the thread that runs it. */
	struct session session;      /* a copy, with hooks of its own */
	struct path_rules paths;     /* its provider, where there is a policy */
	struct policy_verdict verdict;
	bool has_verdict;
	bool hook_asks;              /* a hook wants somebody asked, whatever the rules say */
	char *ask_reason;            /* owned; what it said */
	enum stats_decision decision;
	bool refused;                /* somebody said no, without a word about what else to do */
	enum call_wants wants;
	json_t *allowing;            /* owned; words for --allowed-tools that would; or NULL */
	char *context;               /* owned; hooks' words for the model */
	json_t *tail;                /* owned; AfterTool: {name, args} to be called instead */

	/* What came of it. */
	json_t *result;              /* owned */
	json_t *answer;              /* owned; the functionResponse part */
	bool success, cancelled, fatal;
};

/* `part`: of the reply, has to live as long as the call. */
void call_init(struct call *call, struct agent *agent, const json_t *part);
void call_release(struct call *call);

/* Runs it to its end on this thread: `answer` is there. Told on the bus and recorded. */
void call_run(struct call *call);
/* Ends it without running it: CANCELLED, INVALID_ARGUMENT, ... with a sentence. */
void agent_call_refuse(struct call *call, enum err_code code, const char *sentence);

#endif
