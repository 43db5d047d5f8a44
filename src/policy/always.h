/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that somebody chose while being asked. Private to this folder. */
#ifndef HASP_POLICY_ALWAYS_H
#define HASP_POLICY_ALWAYS_H

#include "policy/rule.h"

struct always {
	const char *tool;
	const json_t *prefixes;   /* of run_shell_command, or NULL */
	const char *server;       /* all its tools; or NULL */
	enum approval_mode mode;
	enum policy_tier tier;
};

struct rule *always_rule(const struct always *always, const char *origin);
bool always_needs_narrowing(const char *tool);

#endif
