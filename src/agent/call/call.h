/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a tool, from the model's words to the part that answers them. */
#ifndef HASP_AGENT_CALL_CALL_H
#define HASP_AGENT_CALL_CALL_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/call/path_rules.h"
#include "agent/private.h"
#include "base/err.h"
#include "tool/outside.h"
#include "tool/tool.h"

/* ---- confirmation ------------------------------------------------------------ */

/* Asks whether a call may run, and acts on the answer.
 *
 * The outcomes are Gemini CLI's: proceed_once, proceed_always (for this session: the tool, of a
 * command its prefixes, of a server's tool that tool), proceed_always_tool,
 * proceed_always_server, proceed_always_and_save (a rule in a file, where that is permitted),
 * modify_with_editor (newContent, or what is left of the files, is written instead), cancel.  An
 * outcome that was not offered counts as cancel.
 *
 * Questions are asked one at a time: that of the next call follows when this one has been answered,
 * unless an "always" covers it. With no one to ask the answer is no.
 *
 * With options.asks_together the questions about all calls of a reply are asked together, as soon
 * as no further call of the reply can need one (struct call_round). If an "always" covers a
 * question that is already shown, the agent answers it on the bus, and the front closes it.
 */

struct call;
struct shell_analysis;

/* For struct call_hooks; `data` is the struct call. */
bool agent_confirm_ask(void *data, const struct tool_question *question, struct err *err);
/* Adds to the result of a call what the user made of it (`user_review`, or the words of a no), if
 * anything. */
void agent_confirm_report(struct call *call);

/* The calls of a reply on their way to their questions. A call that has started is awaited until it
 * asks, runs, or has ended. Functions are called with `lock` held,
 * unless said.
 * Private to this folder. */
struct call_round {
	pthread_mutex_t *lock;    /* the batch's */
	pthread_cond_t *changed;  /* signalled when another call may begin */
	pthread_cond_t released;
	size_t awaited;
	struct call *gathered;    /* that wait for the others; a list */
	size_t open_questions;            /* those, and those whose questions are put */
	bool may_begin;           /* a call may begin, or is about to */
	bool full;                /* no call may start: the limit of parallel calls is reached */
	unsigned number;          /* rounds that were put */
	unsigned id;              /* of the last, of the session */
};

/* Without calls. */
void call_round_init(struct call_round *round, pthread_mutex_t *lock, pthread_cond_t *changed);
/* When none of them runs any more. */
void call_round_release(struct call_round *round);
/* The call has started, and is awaited. */
void call_round_begin(struct call *call);
/* No call can begin now, or one may have become able to. */
void call_round_set_may_begin(struct call_round *round, bool may);
/* It is not awaited any more: it runs, has ended, or may take its time. */
void call_round_settle(struct call *call);
/* The same, with the lock. */
void call_round_settle_locked(struct call *call);
/* Waits for the other questions, without the lock; a new reference to the message's `together`. */
json_t *call_round_gather(struct call *call);
/* Its question is answered; without the lock. */
void call_round_leave(struct call *call);

/* What the question about an edit shows, and what follows when it is not answered as a whole
 * (review.c).  Private to this folder. */

/* The question's `details`, with the texts before and after: of one file, or of the files of a
 * list of changes. A new reference. */
json_t *review_details(struct call *call, const struct tool_question *question);
/* Whether modify_with_editor can be answered. */
bool review_may_modify(const struct tool_question *question);
/* Whether such an answer is about another text than the question's. */
bool review_differs(const json_t *details, const json_t *answer);
/* Applies the answer's choice of hunks and files, and any replacement content. *ret_none: all hunks
 * were rejected. INVALID_ARGUMENT: the answer does not fit the question. */
bool review_take(struct call *call, const struct tool_question *question, const json_t *details,
                 const json_t *answer, bool *ret_none, struct err *err);

/* Whether the user can be asked. */
bool confirm_can_ask(const struct agent *agent);
/* Puts another question about a call, of which hooks hear first.  The caller has
 * agent->top->question_lock. */
enum bus_reply confirm_put(struct call *call, const struct tool *tool, json_t *message,
                           json_t **ret_answer);

/* ---- what "always" is about (scope.c) ------------------------------------------ */

/* Notes the effects of a call for rules chosen with "always", from its plan and arguments: which
 * files it changes, whether hasp itself reads its configuration from one of them, and which hosts
 * it fetches from. `plan` NULL: not planned yet. Private to this folder, as are the functions
 * below. */
void call_scope_note(struct call *call, const struct tool *tool, const json_t *arguments,
                const json_t *plan);
/* Forgets it. */
void call_scope_release(struct call *call);

/* What "for this session" would allow: what is shown, of that kind.  Released with
 * call_scope_choice_release. */
struct scope_choice {
	struct policy_scope scope;
	char *pattern;      /* owned; of scope.args_pattern */
	char *text;         /* owned; for the choice: "edits of any file and new files" */
	char *exact;        /* owned; of scope.exact */
	char *listed;       /* owned; scope.text, where it is not the choice's; or NULL */
};

/* False: nothing; each such call is asked about. */
bool call_scope_choose(const struct call *call, const struct tool_question *question,
                       struct scope_choice *ret);
void call_scope_choice_release(struct scope_choice *choice);
/* A pattern for the text of a member of the arguments, which the caller frees; NULL: it has
 * none. */
char *call_scope_pattern(const json_t *arguments, const char *member);

/* ---- denials ----------------------------------------------------------------- */

/* Offers to run a command again with exactly the accesses allowed that the sandbox denied.
 *
 * Asked on the bus, with details of the type sandbox_expansion, when a command has ended whose
 * result names denials of which some can be allowed alone (tool/denial.h), and the rules do not
 * deny the same call with these permissions. Outcomes: proceed_once, proceed_always (for what is
 * left of the session, for all its commands), cancel. A call runs at most DENIED_RUNS_MAX times. In
 * YOLO mode the user is not asked.
 *
 * The same is offered when a file tool was refused a path outside the workspace that can be allowed
 * by itself (tool/outside.h): the call, or its planning, is repeated, up to the same limit.
 * proceed_always allows the path to all file tools; a rejection replaces the original error.
 */
enum { DENIED_RUNS_MAX = 3 };

/* Predicts from the words of a command what the sandbox would deny it, for the question about it: a
 * list of denials as in results; of the network {"kind": "network", "what": the programs,
 * "message"}. It is only shown; no decision depends on it. NULL: nothing.  *ret_confinement as
 * denial_foresee has it. */
json_t *foreseen_denials(const struct call *call, const struct shell_analysis *analysis,
                         const json_t *arguments, json_t **ret_confinement);

/* call_hooks.again; `data` is the struct call. */
bool denied_ask(void *data, const struct tool *tool, const json_t *arguments, json_t *result);
/* Drops what was allowed to this call alone: it has ended, or another call replaces it. */
void denied_forget(struct call *call);

/* ---- errors ------------------------------------------------------------------ */

/* Errors of calls under the names that Gemini CLI gives them ("edit_no_occurrence_found").
 * Private to this folder. */

/* `result` is a failure; `tool` may be NULL. Never NULL. */
const char *call_error_type(const struct tool *tool, const json_t *result);
/* The code that a failed result names; ERR_INTERNAL when it names none of ours. */
enum err_code call_error_code(const json_t *result);
/* The sentence of a failed result for people; "" without. The caller frees. */
char *call_error_text(const json_t *result);
/* Gives a refusal's `error` the advice that belongs to a no with words: they say how to go on. */
void call_error_instruct(json_t *error);

/* ---- what people are shown --------------------------------------------------- */

/* The text that describes a call to people. It may hold anything that models, files and servers
 * have sent; a front that shows it on a terminal must sanitize it. */

/* One line that says what a call is about: "src/main.c", "git status". For the caller. */
char *display_call(const struct tool *tool, const json_t *args);
/* What people read for the tool: its title, with the server of an MCP tool; or `name`. The caller
 * frees. */
char *display_title(const struct tool *tool, const char *name);
/* What came of it: an editor's message and diff, a command's output, a count. For the caller. */
char *display_result(const struct tool *tool, const json_t *result);

/* ---- order ------------------------------------------------------------------- */

/* Which calls of one turn must wait for which others. Pure.
 *
 *     struct order_call calls[n];
 *     call_order_describe(&calls[i], tool, name, args, root);  // for each
 *     if (call_order_may_begin(calls, i, ended)) ...  // all that it waits for have ended
 *     call_order_release(&calls[i]);
 *
 * The results are the same as if the calls ran one after the other in the model's order, except
 * that commands run in parallel with each other and with calls that only read:
 *
 *   - editors (edit, delete, move) and readers run in parallel unless they touch the
 *     same file and one of them changes it; what reads without naming files (search, glob)
 *     touches all;
 *   - a command, another agent, and a tool of unknown effect wait for all editors before them, and
 *     editors for them;
 *   - a change of mode (plan) or of the topic (think), and a call with wait_for_previous: true,
 *     waits for all before it, and all after it wait for it.
 *
 * Files are compared by name, after resolving ".", ".." and the workspace folder. Two links to one
 * file count as two files here; the state that each edit names still protects the file.
 */

/* Bytes of what a call's arguments lack, in a message. */
enum { CALL_PROBLEMS_MAX = 4096 };

enum order_effect {
	ORDER_NOTHING, /* touches no file: asks, fetches */
	ORDER_READS,   /* its paths, or all */
	ORDER_EDITS,   /* its paths */
	ORDER_ANY,     /* anything, in parallel with others of its kind */
	ORDER_ALONE,
};

struct order_call {
	enum order_effect effect;
	char **paths;      /* owned, absolute */
	size_t path_count; /* 0: all */
	const void *turn;  /* not NULL: it waits for earlier calls with the same */
};

/* `tool` NULL: unknown, the call fails immediately. `root`: the workspace folder, absolute. */
void call_order_describe(struct order_call *ret, const struct tool *tool, const char *name,
                         const json_t *args, const char *root);
void call_order_release(struct order_call *call);

/* Whether every call before `index` that it has to wait for has ended. */
bool call_order_may_begin(const struct order_call *calls, size_t index, const bool *ended);

/* ---- calls ------------------------------------------------------------------- */

/* Why a call was refused that the user could have allowed, had it been possible to ask. */
enum call_missing {
	CALL_MISSING_NOTHING,
	CALL_MISSING_RULE,  /* a rule, a flag or another mode would allow it */
	CALL_MISSING_FLAGS, /* permissions beyond the sandbox */
	CALL_MISSING_HOOK_ANSWER,  /* a hook requires confirmation */
	CALL_MISSING_REVIEW,  /* it is not the tool that was last allowed */
};

enum call_state { CALL_WAITING, CALL_RUNNING, CALL_ENDED };

/* Who makes a call.  Those of the user's commands and of texts are no part of the conversation, and
 * not recorded. */
enum call_origin {
	CALL_OF_MODEL,
	CALL_OF_USER,
	CALL_OF_ORDER, /* the user's words ask for this very call: that is the yes to it */
	CALL_OF_TEXT,  /* a command's or skill's text says it: what is known to be harmless runs
	                * where no one can be asked, too */
};

struct call {
	struct agent *agent;
	enum call_origin origin;
	const char *id, *asked_name; /* as the model has them; borrowed from `part` */
	const char *name;            /* the same, or of the tool that it means in hasp's words */
	json_t *asked_args;          /* owned; where they are not `args` */
	const char *dialect;         /* of an edit: whose words it is in; or NULL */
	const char *run_name;        /* for tool_call: the model's, of the call that call_tool
	                              * means */
	json_t *run_args;            /* owned; likewise */
	json_t *ran_args;            /* owned; what a hook made of `args`, or its call's in place of
	                              * this one; NULL: it changed nothing */
	char *ran_name;              /* owned; of the tool that a hook had called in place of this
	                              * one; or NULL */
	json_t *args;                /* owned; without what is only for the order */
	const struct tool *tool;     /* NULL: there is no such tool */
	const char *repaired, *unreadable; /* its arguments (model/part.h); borrowed, or NULL */
	char *taken;                 /* owned; which were taken for another type than they had;
	                              * or NULL */
	struct order_call order;
	enum call_state state;       /* under the batch's lock */
	struct call_round *round;     /* of its reply; NULL: the call is not made */
	bool awaited;                /* by `round`; this and the next under the batch's lock */
	struct call *gathered;       /* the next in the list of `round` */
	size_t place, together;      /* among so many questions that are put together, from 0 */

	/* What happens on the way: of the thread that runs it. */
	struct session session;      /* a copy, with separate hooks */
	struct outside outside;      /* its provider, in front of the workspace's */
	struct path_rules paths;     /* and in front of that, where there is a policy */
	struct policy_verdict verdict;
	bool has_verdict;
	struct tool_change change;   /* of gate_decide: how the tool was declared then */
	unsigned changes;            /* call_scope_note: enum policy_change, once it is planned */
	json_t *hosts;               /* likewise: owned, that it fetches from; or NULL */
	bool obeyed;                 /* likewise: hasp obeys a file that it changes */
	bool hook_asks;              /* a hook requires confirmation, whatever the rules say */
	char *confirm_hook, *denied_hook; /* owned; which asks, and which denied it or withheld its
	                              * result; or NULL */
	json_t *asked;               /* owned; the questions about it, for its record
	                              * (call_asked_note); NULL: none yet */
	char *ask_reason;            /* owned; the reason the hook gave */
	json_t *review;              /* owned; the hunks that the user took, and not; or NULL */
	json_t *review_files;        /* owned; of several files, what became of each; or NULL */
	bool modified;               /* the user wrote another content */
	json_t *comments;            /* owned; on its lines, as the model gets them; or NULL */
	json_t *proposer;            /* owned; of several reviewers the one who changed it: that
	                              * is an approval of what it is now; or NULL */
	json_t *quorum;              /* owned; with `proposer`: the rules that asked for several;
	                              * they hold for what it is now */
	json_t *approved;            /* owned; what several reviewers have approved; or NULL */
	char *vetoed_by;             /* owned; the reviewer who said no; or NULL */
	struct tool_grant grant;  /* owned; what was allowed after denials */
	unsigned runs;               /* that were followed by such a question */
	unsigned outside_runs;       /* that were refused what is outside, and followed by a run to
	                              * which it was allowed */
	char *expansion;             /* owned; the note about it for the model; or NULL */
	enum stats_decision decision;
	uint64_t waited_ms;          /* for answers to questions about it */
	bool refused;                /* the user said no, without an instruction */
	char *said;                  /* owned; what else to do; or NULL */
	enum call_missing missing;
	json_t *allowing;            /* owned; words for --allowed-tools that would; or NULL */
	char *context;               /* owned; hooks' words for the model */
	json_t *tail;                /* owned; AfterTool: {name, args} to be called instead */

	/* What came of it. */
	json_t *result;              /* owned */
	json_t *answer;              /* owned; the functionResponse part */
	bool success, cancelled, fatal;
};

/* Notes what a hook made of its arguments, for who hears of its result; copied. Not an object:
 * nothing. */
void call_ran_with(struct call *call, const json_t *arguments);

#endif
