/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the table of metrics, and their values. */
#ifndef HASP_TELEMETRY_PRIVATE_H
#define HASP_TELEMETRY_PRIVATE_H

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

#include "base/err.h"
#include "base/span.h"

/* X(symbol, name, is a histogram, unit, description) */
#define METRIC_TABLE(X)                                                                           \
	X(SESSION_COUNT, "gemini_cli.session.count", false, "", "Sessions started.")              \
	X(TOOL_CALL_COUNT, "gemini_cli.tool.call.count", false, "",                               \
	  "Tool calls by function name and success.")                                             \
	X(TOOL_CALL_LATENCY, "gemini_cli.tool.call.latency", true, "ms", "Time of tool calls.")   \
	X(API_REQUEST_COUNT, "gemini_cli.api.request.count", false, "",                           \
	  "Requests to models by model and status.")                                              \
	X(API_REQUEST_LATENCY, "gemini_cli.api.request.latency", true, "ms",                      \
	  "Time of requests to models.")                                                          \
	X(TOKEN_USAGE, "gemini_cli.token.usage", false, "", "Tokens by model and type.")          \
	X(FILE_OPERATION_COUNT, "gemini_cli.file.operation.count", false, "",                     \
	  "Operations on files.")                                                                 \
	X(LINES_CHANGED, "gemini_cli.lines.changed", false, "", "Lines added and removed.")       \
	X(CHAT_COMPRESSION, "gemini_cli.chat_compression", false, "",                             \
	  "Compressions of the conversation.")                                                    \
	X(HOOK_CALL_COUNT, "gemini_cli.hook_call.count", false, "",                               \
	  "Runs of hooks by event and success.")                                                  \
	X(HOOK_CALL_LATENCY, "gemini_cli.hook_call.latency", true, "ms", "Time of hooks.")

enum metric {
#define METRIC_ENUM(symbol, name, histogram, unit, description) METRIC_##symbol,
	METRIC_TABLE(METRIC_ENUM)
#undef METRIC_ENUM
	METRIC_COUNT
};

struct metrics;

/* Without values. Never NULL. */
struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics); /* NULL is fine */
/* Adds to a counter, or records one value of a histogram. `attributes` are copied. What would be
 * more than METRIC_POINTS_MAX combinations of attributes is dropped. */
void metrics_add(struct metrics *metrics, enum metric metric, const json_t *attributes,
                 json_int_t value);
/* As OpenTelemetry's JavaScript SDK prints a metric: an array of {descriptor, dataPoints, ...},
 * without those that have no value; a new reference. */
json_t *metrics_json(const struct metrics *metrics);

/* Combinations of attributes of one metric; a session has some dozens. */
enum { METRIC_POINTS_MAX = 1000 };

/* A moment as that SDK prints it: [seconds, nanoseconds]; a new reference. */
json_t *telemetry_moment(const struct timespec *moment);

/* ---- what is written of texts (shown.c) ---- */

/* Of one text in an event; a longer one is cut. */
enum { TELEMETRY_TEXT_BYTES_MAX = 10000 };

/* As telemetry_options.mask. */
typedef json_t *telemetry_mask(struct span text);

/* The text, cut between characters where it is too long; a new reference. */
json_t *telemetry_limited_text(struct span text);
/* Arguments of a tool: numbers, booleans, paths and patterns; in place of other texts stands their
 * length. With a mask (NULL: none) commands of one line too. A new reference. */
json_t *telemetry_shown_arguments(const json_t *arguments, telemetry_mask *mask);
/* What a hook was given (NULL: nothing): why and where it runs, the prompt, and a tool's arguments
 * as above; in place of requests, replies and results stands how long they are. A new reference. */
json_t *telemetry_shown_hook_input(const json_t *input, telemetry_mask *mask);

/* ---- OTLP over HTTP (otlp.c) ---- */

struct otlp;

/* Starts the thread that posts to ENDPOINT/v1/logs and ENDPOINT/v1/metrics, with `headers` as
 * OTEL_EXPORTER_OTLP_HEADERS has them (NULL: none). What was not answered, or with 429, 502, 503 or
 * 504, is sent again: four times at most, and not once the session ends. NULL with IO_ERROR: no
 * descriptor or no thread is left; INVALID_ARGUMENT: the headers are none. Nothing connects before
 * the first event. */
struct otlp *otlp_new(const char *endpoint, const char *headers, struct err *err);
/* An event as the file has it; copied. Never waits: it is dropped where too many wait already. */
void otlp_send_event(struct otlp *otlp, const json_t *event);
/* Sends what is left and the metrics, as the file has them, and frees it. Waits less than two
 * seconds; what is not sent by then is lost. */
void otlp_close(struct otlp *otlp, const json_t *metrics);

#endif
