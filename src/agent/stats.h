/* SPDX-License-Identifier: Apache-2.0 */
/* What a session used, in Gemini CLI's forms.  Private to agent/.
 *
 * One object for an agent and its sub-agents; all functions from any thread.
 */
#ifndef HASP_AGENT_STATS_H
#define HASP_AGENT_STATS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

struct stats;

/* Of a session in which nothing was asked yet. Never NULL. */
struct stats *stats_new(void);
void stats_free(struct stats *stats); /* NULL is fine */

/* A request that was answered: `attempts` of it failed but for the last. `role`: "main", ... */
void stats_reply(struct stats *stats, const char *role, const struct model_reply *reply);
/* One that was not, after all tries. */
void stats_failure(struct stats *stats, const char *role, const char *model, const struct err *err,
                   double ms);

/* A request that had one before it: how many of its bytes equal the beginning of that. */
void stats_sent(struct stats *stats, size_t bytes, size_t equal);

enum stats_decision {
	DECISION_NONE,   /* it never came to one */
	DECISION_ACCEPT, /* somebody said yes */
	DECISION_REJECT, /* somebody, a rule or a hook said no */
	DECISION_MODIFY, /* somebody changed it and said yes */
	DECISION_AUTO,   /* rules allow it */
	DECISION_COUNT,
};

/* A call that ended. `result` is looked at for lines_added and lines_removed. */
void stats_call(struct stats *stats, const char *tool, bool success, uint64_t duration_ms,
                enum stats_decision decision, const json_t *result);

/* {"models", "tools", "files"} of `-o json`, and "cached": {"requests", "bytes", "equal",
 * "share", "least"}, the share of requests that equals the beginning of the one before (0 to 1;
 * the least of all), and "tokens", those that providers found in their caches. A new reference. */
json_t *stats_json(struct stats *stats);
/* "stats" of stream-json's result event; a new reference. */
json_t *stats_stream_json(struct stats *stats, uint64_t duration_ms);

#endif
