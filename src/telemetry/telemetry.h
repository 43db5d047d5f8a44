/* SPDX-License-Identifier: Apache-2.0 */
/* Telemetry: what a session does, as OpenTelemetry events, metrics and spans with Gemini CLI's
 * names.
 *
 *     struct telemetry *telemetry = telemetry_open(&options);   // NULL: it is off
 *     telemetry_set_session(telemetry, id);                     // another session has started
 *     telemetry_close(telemetry);                               // writes the metrics
 *
 * It only listens: it subscribes to the bus, and the agent knows nothing of it.  Events and spans
 * are appended to the file of telemetry.outfile as they happen, metrics when it is closed and,
 * in interactive sessions, after replies and each prompt; each is a JSON object, indented by
 * two, as Gemini CLI's own file exporter writes them.  Without a file they go to the collector of
 * telemetry.otlpEndpoint as OTLP over HTTP in JSON (otlp.c), by a separate thread.
 *
 * It is off unless the user (settings, GEMINI_TELEMETRY_ENABLED) turns it on: a project can only
 * turn it off.  Prompts, arguments and commands of hooks are in it only with telemetry.logPrompts;
 * with hasp.telemetry.logDetails too commands of one line, what hooks are given and say, and texts
 * of errors, their keys masked; results of tools, contents of edits and headers never.
 *
 * To add an event: a row in events.c, and the topic in docs/bus.md if the bus does not have it
 * yet. To add a metric: a row in private.h.  docs/telemetry.md lists both.
 *
 * Not here: OTLP over gRPC.
 */
#ifndef HASP_TELEMETRY_TELEMETRY_H
#define HASP_TELEMETRY_TELEMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/notices.h"
#include "bus/bus.h"
#include "config/settings.h"

struct telemetry;

/* All borrowed; texts are copied. */
struct telemetry_options {
	const struct settings *settings; /* until telemetry_open returns */
	struct bus *bus;                 /* until telemetry_close; NULL: a server, which has only
	                                  * telemetry_add */
	const char *const *roots;        /* of the workspace, NULL-terminated: no link in them is
	                                  * followed out of them. NULL: the current folder alone */
	const char *session_id;          /* of a server: of this run of it */
	const char *model;               /* "provider/name"; NULL: a command without a session,
	                                  * of which only what happens is written */
	const char *approval_mode;       /* as settings spell it */
	const char *caller;              /* whose tasks the session carries out; NULL: the
	                                  * user's */
	bool interactive;
	/* A copy of a text with its keys masked; a new reference. NULL: no details, whatever the
	 * settings say. */
	json_t *(*mask)(struct span text);
	/* What cannot be done, a sentence; during telemetry_open alone. */
	struct notices notices;
};

/* NULL: it is off, or (with a notice) cannot be on. Of a session the event "config" is written. */
struct telemetry *telemetry_open(const struct telemetry_options *options);
/* Whether messages of hooks are to have what went in and came out: hasp.telemetry.logDetails. */
bool telemetry_has_details(const struct telemetry *telemetry);
/* Events and metrics belong to this session from here on. NULL telemetry is fine. */
void telemetry_set_session(struct telemetry *telemetry, const char *session_id);
/* The next prompt belongs to the trace that a caller's `traceparent` names (W3C Trace Context),
 * beneath its span; for a malformed one it starts its own trace, as always. NULL telemetry is
 * fine. */
void telemetry_continue_trace(struct telemetry *telemetry, const char *traceparent);

/* ---- a server's tasks (a2a/serve/), of which no bus knows ------------------------- */

/* What is measured, and the attribute that `which` is (docs/telemetry.md). */
enum telemetry_measure {
	TELEMETRY_TASKS,         /* one came to a state: "state" */
	TELEMETRY_TASKS_WAITING, /* one more waits (1), or one less (-1); `which` NULL */
	TELEMETRY_TASK_WAIT,     /* one began after so many milliseconds; `which` NULL */
	TELEMETRY_PUSHES,        /* a notification was sent, or not: "outcome" */
};
/* Adds a value of a caller's. NULL telemetry is fine. */
void telemetry_add(struct telemetry *telemetry, enum telemetry_measure what, const char *caller,
                   const char *which, int64_t value);
/* Writes or sends the metrics, if any was added since: to be called every ten seconds. NULL
 * telemetry is fine. */
void telemetry_write_changes(struct telemetry *telemetry);

/* Writes or sends the metrics (less than two seconds), and ends the subscription: before the bus is
 * freed. NULL is fine. */
void telemetry_close(struct telemetry *telemetry);

#endif
