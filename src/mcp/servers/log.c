/* SPDX-License-Identifier: Apache-2.0 */
/* What a server logs (notifications/message): the last messages are kept for display, and errors
 * are reported.
 *
 * Source: MCP 2025-11-25, server/utilities/logging; levels as of RFC 5424. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/servers/kept.h"

enum {
	KEPT_MAX = 50,       /* messages */
	TEXT_BYTES = 500,    /* of one */
	LOGGER_BYTES = 60,   /* of its logger's name */
	REPORTED_MAX = 5,    /* notices of one server */
	LEVEL_INFO = 1,      /* what an unknown level counts as */
	LEVEL_ERROR = 4,     /* the user is notified from this level on */
};

/* In their order. */
static const char *const levels[] = { "debug", "info", "notice", "warning", "error", "critical",
	                              "alert", "emergency" };

struct mcp_log {
	pthread_mutex_t lock;
	json_t *kept;    /* the newest last; with the lock */
	size_t reported;     /* notices */
};

struct mcp_log *mcp_log_new(void)
{
	struct mcp_log *log = mem_alloc(1, sizeof(*log));

	pthread_mutex_init(&log->lock, NULL);
	log->kept = json_array();
	return log;
}

void mcp_log_free(struct mcp_log *log)
{
	if (!log)
		return;
	json_decref(log->kept);
	pthread_mutex_destroy(&log->lock);
	free(log);
}

static size_t level_rank(struct span name, size_t fallback)
{
	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		if (span_eq(name, span_str(levels[i])))
			return i;
	return fallback;
}

/* Any JSON as a part of one line; a new string. */
static json_t *line_of(const json_t *said, size_t max)
{
	_cleanup_buf_ struct buf whole = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES);
	_cleanup_buf_ struct buf line = BUF_INIT(8 * max);

	if (said && !json_is_string(said))
		json_print(&whole, said, 0);
	name_line(&line, utf8_head(json_is_string(said) ? json_span(said) : buf_view(&whole), max));
	return json_text(buf_view(&line));
}

static bool is_kept(const struct mcp_log *log, const json_t *message)
{
	size_t i;
	json_t *other;

	json_array_foreach(log->kept, i, other)
		if (json_equal(other, message))
			return true;
	return false;
}

char *mcp_log_add(struct mcp_log *log, const char *server, const char *least,
                  const json_t *params)
{
	const size_t rank = level_rank(json_span(json_object_get(params, "level")), LEVEL_INFO);
	const json_t *logger = json_object_get(params, "logger");
	json_auto_t *message = NULL;
	size_t reported = REPORTED_MAX;

	if (rank < level_rank(span_str(least), ARRAY_LEN(levels)))
		return NULL;
	message = json_pack("{s:s, s:o, s:o*}", "level", levels[rank], "text",
	                    line_of(json_object_get(params, "data"), TEXT_BYTES), "logger",
	                    json_is_string(logger) ? line_of(logger, LOGGER_BYTES) : NULL);
	pthread_mutex_lock(&log->lock);
	if (rank >= LEVEL_ERROR && log->reported < REPORTED_MAX && !is_kept(log, message))
		reported = log->reported++;
	json_array_append(log->kept, message);
	if (json_array_size(log->kept) > KEPT_MAX)
		json_array_remove(log->kept, 0);
	pthread_mutex_unlock(&log->lock);
	if (reported == REPORTED_MAX)
		return NULL;
	return mem_printf("The MCP server \"%s\" logged an error: %s%s", server,
	                  json_string_value(json_object_get(message, "text")),
	                  reported + 1 < REPORTED_MAX ? "" :
	                          " (Further ones are shown by /mcp desc alone.)");
}

json_t *mcp_log_kept(struct mcp_log *log)
{
	json_t *kept;

	pthread_mutex_lock(&log->lock);
	kept = json_copy(log->kept);
	pthread_mutex_unlock(&log->lock);
	return kept;
}
