/* SPDX-License-Identifier: Apache-2.0 */
/* What settings say of calls of tools: those of an agent's session, of `hasp tool`, of
 * `hasp serve mcp`, and of a program through libhasp-agent.
 *
 *     struct session_settings own;
 *     session_settings_init(&own, settings, local);
 *     session_settings_put(&own, &session);
 *     ... calls ...
 *     session_settings_release(&own);
 *
 * These are the settings whose rows have the flag CALLS (config/schema_rows.c), but for those of
 * the sandbox and of the place of work, which the provider is opened with (front/confinement.h).
 */
#ifndef HASP_AGENT_HOST_SESSION_SETTINGS_H
#define HASP_AGENT_HOST_SESSION_SETTINGS_H

#include <stdbool.h>

#include "agent/setup/prepare.h"
#include "config/settings.h"
#include "tool/tool.h"

struct session_settings {
	bool any;                  /* there are settings; otherwise a session's defaults hold */
	bool local;                /* commands run on this machine, and get its variables */
	struct command_env env;
	const char **ignore_files; /* owned array; the names are the settings' */
	struct walk_rules ignores;
	struct tool_formats formats;
	unsigned inactivity_ms;    /* as session.inactivity_ms */
};

/* Whether hasp can use what files say for those of them that restrict (prepare_is_read), for
 * callers without a policy, which checks all.  `settings` may be NULL. INVALID_ARGUMENT. */
bool session_settings_check(const struct settings *settings, struct err *err);
/* `settings` must outlive it; NULL: there are none. */
void session_settings_init(struct session_settings *ret, const struct settings *settings,
                           bool local);
/* The session borrows from `own`. */
void session_settings_put(const struct session_settings *own, struct session *session);
void session_settings_release(struct session_settings *own); /* leaves it empty */

#endif
