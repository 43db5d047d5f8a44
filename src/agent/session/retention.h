/* SPDX-License-Identifier: Apache-2.0 */
/* Old sessions are deleted (general.sessionRetention, as in Gemini CLI): at a session's end, never by
 * reading, listing or resuming.
 *
 * A session is as old as the last change of its file, or of the newest if there are several.  maxAge and
 * maxCount say which ones go, with all their files; none goes that is younger than minRetention, is open
 * somewhere, or is not named like a session.
 */
#ifndef HASP_AGENT_SESSION_RETENTION_H
#define HASP_AGENT_SESSION_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/home.h"
#include "config/settings.h"

struct retention {
	int64_t max_age;  /* seconds; 0: any */
	int64_t min_age;  /* seconds; younger ones stay */
	size_t max_count; /* 0: any */
};

/* "12h", "30d", "4w", "2m" (30 days each), in seconds, at most a thousand years; -1: it is none. */
int64_t retention_parse(const char *text);
/* What the settings say. False: nothing is deleted; *ret_why is then NULL or a sentence about a setting
 * that is wrong, static. */
bool retention_read(const struct settings *settings, struct retention *ret, const char **ret_why);
/* Returns how many sessions were deleted, with their tools' outputs. `kept`: the path of one that
 * stays in any case, or NULL. */
size_t retention_apply(struct home *home, const struct retention *retention, int64_t now_seconds,
                       const char *kept);

#endif
