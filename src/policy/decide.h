/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions and what made them. Private to this folder. */
#ifndef HASP_POLICY_DECIDE_H
#define HASP_POLICY_DECIDE_H

#include "policy/act.h"
#include "shell/analysis.h"

struct outcome {
	enum policy_decision decision;
	const struct rule *rule;   /* borrowed; NULL: none matched */
	const char *why;           /* a static sentence, where the rule alone does not say it;
	                            * or NULL */
	char *said;                /* owned: a sentence that was made for this call; or NULL */
};

/* One command of a command line, as rules see it. */
struct shell_view {
	const struct shell_analysis *analysis;
	const struct shell_command *command;
	struct act *raw;    /* the call with this command alone, as it is written */
	struct act *plain;  /* with its words without quotes; */
	struct act *base;   /* and its name without folders: what denies is tried on these too, */
	struct act_whole *whole; /* and on the whole line */
};

/* What counts where no rule does. */
enum policy_decision decide_default(const struct policy_call *call);
/* The highest rule that is about this act. `view`: of run_shell_command, else NULL. */
struct outcome decide_act(const struct policy *policy, const struct policy_call *call,
                          struct act *act, const struct shell_view *view);
/* Whether modes, interactivity, sub-agent and annotations of the selector are the call's. */
bool decide_applies(const struct selector *selector, const struct policy_call *call);
static inline bool is_stricter(const struct outcome *a, const struct outcome *b)
{
	return a->decision > b->decision;
}

/* The same for the line of run_shell_command: each command in it by itself, the strictest counts.
 * What the verdict says of the commands is filled in. */
struct outcome decide_shell(const struct policy *policy, const struct policy_call *call,
                            struct act *act, struct policy_verdict *verdict);

/* Whether a name is one of a list's. */
bool decide_is_listed(struct span name, const char *const *list, size_t count);
/* What "always" would allow for the command: "git status"; NULL: nothing sensible. The caller
 * frees. */
char *decide_offer_prefix(const struct shell_command *command);

#endif
