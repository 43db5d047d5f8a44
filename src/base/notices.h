/* SPDX-License-Identifier: Apache-2.0 */
/* Reports to the user while an operation runs: a function and its data, which are passed down to
 * everything that may have something to report.
 *
 *     const struct notices notices = { show_notice, output };
 *     ... prepare_policy(&sources, &notices, &policy, &err) ...
 *     notices_say(notices, SEVERITY_WARNING, "The setting x has no effect.");
 *
 * A notice is a complete sentence and changes nothing; failures are errors (base/err.h).  A zeroed
 * `struct notices`, like NULL, discards reports.  The struct may be copied, and is valid as long as
 * its data.  Unless a header says otherwise, the function may be called from any thread.
 *
 * Not here: how notices are shown (cli/view/agent_output.h, tui/show.h), and their record in a
 * session (agent/session/record.h).
 */
#ifndef HASP_BASE_NOTICES_H
#define HASP_BASE_NOTICES_H

#include <stddef.h>

enum severity {
	SEVERITY_INFO,
	SEVERITY_WARNING,
	SEVERITY_ERROR,
	/* A hook's words for the user: shown as information is, and also where only warnings and
	 * errors are. */
	SEVERITY_HOOK,
};

struct notices {
	/* `message`: without a newline at its end; borrowed for the call. NULL: no reports. */
	void (*notice)(void *data, enum severity severity, const char *message);
	void *data;
};

/* "info", "warning", "error", "hook": as messages on the bus and files of sessions have it. */
static inline const char *notices_severity_name(enum severity severity)
{
	static const char *const names[] = {
		[SEVERITY_INFO] = "info",   [SEVERITY_WARNING] = "warning",
		[SEVERITY_ERROR] = "error", [SEVERITY_HOOK] = "hook",
	};

	return names[severity];
}

/* Reports one; does nothing where no one listens. `to` may be NULL. */
static inline void notices_say(const struct notices *to, enum severity severity,
                               const char *message)
{
	if (to && to->notice)
		to->notice(to->data, severity, message);
}

#endif
