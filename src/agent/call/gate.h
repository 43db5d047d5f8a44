/* SPDX-License-Identifier: Apache-2.0 */
/* What stands around every call: hooks before and after it, the policy, the question (call.h).
 * Private to this folder.
 *
 * Order, which tool_call keeps: BeforeTool hooks (may rewrite, refuse, answer themselves, demand
 * a question); policy_decide on what they made of it; the question, if the rules or a hook say
 * so; the run; AfterTool hooks (may add, replace, refuse, call another tool, stop).
 */
#ifndef HASP_AGENT_CALL_GATE_H
#define HASP_AGENT_CALL_GATE_H

#include "agent/call/call.h"
#include "config/settings.h"
#include "policy/policy.h"
#include "tool/set.h"

/* ---- the gate ---------------------------------------------------------------- */

/* Sets the hooks of the call's session. */
void gate_attach(struct call *call);

/* Asks the policy again (after an "always"), and fills call->verdict and call->change. A tool that
 * differs from the one last allowed needs confirmation at least. */
enum call_decision gate_decide(struct call *call, const struct tool *tool, const json_t *arguments);
/* Whether the rules, apart from those on paths, allow the call. Changes nothing; from any thread
 * while the question about the call is open. */
bool gate_would_allow(const struct call *call, const struct tool *tool, const json_t *arguments);
/* What follows from CALL_DENY: takes down what the call lacked, publishes the rejection; *err: why,
 * and what the user can do beforehand. */
void gate_deny(struct call *call, const struct tool *tool, const json_t *arguments,
               struct err *err);
/* The question was answered with yes, or there is none: the edit is about to be made. */
void gate_about_to_run(struct call *call, const struct tool *tool, const json_t *arguments);
/* A rule allows the tool as call->change has it. */
void gate_note_allowed(struct call *call, const struct tool *tool);

/* The tool as rules see it, called by the main agent with no one to ask and any arguments. */
struct policy_call gate_subject(const struct tool *tool);
/* Whether to leave the tool out of the declarations: it has no use now, or this mode would refuse
 * every call of it. */
bool gate_hides(struct agent *agent, const struct tool *tool);
/* Whether that is so in every mode that the session may come to: it is not declared. */
bool gate_hides_always(struct agent *agent, const struct tool *tool);

/* ---- tools that are off ------------------------------------------------------ */

/* Tools that are off because no one can be asked about their calls. They are not declared, so the
 * system prompt names them and the flags that would allow them. */

struct off_tools {
	const struct policy *policy;
	const struct session *session; /* its tools */
	const struct settings *settings;
	enum dialect dialect;          /* in which they would be declared */
	enum approval_mode mode;
	bool interactive;
};

/* Returns a line for the system prompt; NULL: no tool is off for that reason. The caller frees.
 * Tools that plan mode or a rule of the user keeps out are not named: no answer would allow
 * them. */
char *gate_off_text(const struct off_tools *options);

/* The least mode above `call`'s in which not every such call is denied; MODE_COUNT: there is
 * none. */
enum approval_mode gate_off_mode(const struct policy *policy, const struct policy_call *call);
/* Whether the settings forbid it, in trusted folders too. */
bool gate_off_forbidden(const struct settings *settings, enum approval_mode mode);

#endif
