/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that are off because nobody can be asked about their calls: they are not offered, so the model has to be
 * told of them, and of what would allow them.  Private to agent/.
 */
#ifndef HASP_AGENT_CALL_OFF_TOOLS_H
#define HASP_AGENT_CALL_OFF_TOOLS_H

#include "config/settings.h"
#include "policy/policy.h"
#include "tool/set.h"

struct off_tools {
	const struct policy *policy;
	const struct session *session; /* its tools */
	const struct settings *settings;
	enum approval_mode mode;
	bool interactive;
};

/* A line of the system prompt; NULL: none is off for that reason. The caller frees. Those that a rule of
 * somebody's or plan mode keeps out are not named: no answer would allow them. */
char *off_tools_text(const struct off_tools *options);

/* The least mode above `call`'s in which not every such call is denied; MODE_COUNT: there is none. */
enum approval_mode off_tools_mode(const struct policy *policy, const struct policy_call *call);
/* Whether the settings forbid it, in trusted folders too. */
bool off_tools_forbidden(const struct settings *settings, enum approval_mode mode);
/* As --approval-mode has it. */
const char *off_tools_mode_word(enum approval_mode mode);

#endif
