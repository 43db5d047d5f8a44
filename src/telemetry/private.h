/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the table of metrics and their values, and the subscriber, which events,
 * requests and spans share. */
#ifndef HASP_TELEMETRY_PRIVATE_H
#define HASP_TELEMETRY_PRIVATE_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "bus/bus.h"

/* X(symbol, name, kind, unit, description). A level goes up and down. "s": values are given in
 * milliseconds. */
#define METRIC_TABLE(X)                                                                           \
	X(SESSION_COUNT, "gemini_cli.session.count", COUNTER, "", "Sessions started.")            \
	X(TOOL_CALL_COUNT, "gemini_cli.tool.call.count", COUNTER, "",                             \
	  "Tool calls by function name and success.")                                             \
	X(TOOL_CALL_LATENCY, "gemini_cli.tool.call.latency", HISTOGRAM, "ms",                     \
	  "Time of tool calls.")                                                                  \
	X(API_REQUEST_COUNT, "gemini_cli.api.request.count", COUNTER, "",                         \
	  "Requests to models by model and status.")                                              \
	X(API_REQUEST_LATENCY, "gemini_cli.api.request.latency", HISTOGRAM, "ms",                 \
	  "Time of requests to models.")                                                          \
	X(TOKEN_USAGE, "gemini_cli.token.usage", COUNTER, "", "Tokens by model and type.")        \
	X(FILE_OPERATION_COUNT, "gemini_cli.file.operation.count", COUNTER, "",                   \
	  "Operations on files.")                                                                 \
	X(LINES_CHANGED, "gemini_cli.lines.changed", COUNTER, "", "Lines added and removed.")     \
	X(CHAT_COMPRESSION, "gemini_cli.chat_compression", COUNTER, "",                           \
	  "Compressions of the conversation.")                                                    \
	X(HOOK_CALL_COUNT, "gemini_cli.hook_call.count", COUNTER, "",                             \
	  "Runs of hooks by event and success.")                                                  \
	X(HOOK_CALL_LATENCY, "gemini_cli.hook_call.latency", HISTOGRAM, "ms", "Time of hooks.")   \
	X(CONTENT_RETRY_COUNT, "gemini_cli.chat.content_retry.count", COUNTER, "",                \
	  "Replies that broke off and were asked for again.")                                     \
	X(NETWORK_RETRY_COUNT, "gemini_cli.network_retry.count", COUNTER, "",                     \
	  "Requests that failed and were sent again.")                                            \
	X(PLAN_EXECUTION_COUNT, "gemini_cli.plan.execution.count", COUNTER, "",                   \
	  "Plans that were approved.")                                                            \
	X(AGENT_RUN_COUNT, "gemini_cli.agent.run.count", COUNTER, "",                             \
	  "Runs of sub-agents by name and end.")                                                  \
	X(AGENT_DURATION, "gemini_cli.agent.duration", HISTOGRAM, "ms", "Time of sub-agents.")    \
	X(AGENT_TURNS, "gemini_cli.agent.turns", HISTOGRAM, "", "Requests of sub-agents.")        \
	X(GENAI_TOKEN_USAGE, "gen_ai.client.token.usage", HISTOGRAM, "token",                     \
	  "Number of input and output tokens used.")                                              \
	X(GENAI_OPERATION_DURATION, "gen_ai.client.operation.duration", HISTOGRAM, "s",           \
	  "GenAI operation duration.")                                                            \
	X(A2A_TASK_COUNT, "hasp.a2a.task.count", COUNTER, "",                                     \
	  "Tasks of callers that came to a state.")                                               \
	X(A2A_TASK_WAITING, "hasp.a2a.task.waiting", LEVEL, "",                                   \
	  "Tasks of callers that wait to begin.")                                                 \
	X(A2A_TASK_WAIT, "hasp.a2a.task.wait", HISTOGRAM, "ms",                                   \
	  "Time that tasks waited to begin.")                                                     \
	X(A2A_PUSH_COUNT, "hasp.a2a.push.count", COUNTER, "",                                     \
	  "Push notifications by what came of them.")

enum metric_kind { METRIC_KIND_COUNTER, METRIC_KIND_LEVEL, METRIC_KIND_HISTOGRAM };

enum metric {
#define METRIC_ENUM(symbol, name, kind, unit, description) METRIC_##symbol,
	METRIC_TABLE(METRIC_ENUM)
#undef METRIC_ENUM
	METRIC_COUNT
};

struct metrics;
struct otlp;

/* Without values. Never NULL. */
struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics); /* NULL is fine */
/* Adds to a counter or a level, or records one value of a histogram. `attributes` are copied. What
 * would be more than METRIC_POINTS_MAX combinations of attributes is dropped. */
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
/* The name of a tool as it is written: a model may call by any text.  One that is none: "(other)".
 * Borrowed. */
const char *telemetry_tool_name(const char *name);
/* How many lines the text has that a call has written (NULL: none, or not whole) or read; a new
 * reference, NULL: not known. */
json_t *telemetry_file_lines(const json_t *written, const json_t *result);
/* How long the value is as JSON, in bytes; a new reference. */
json_t *telemetry_json_length(const json_t *value);
/* "a,b" of an array of texts (or NULL); a new reference. */
json_t *telemetry_joined(const json_t *names);
/* Cuts all texts in it that are too long. */
void telemetry_limit_texts(json_t *attributes);
/* Arguments of a tool: numbers, booleans, paths and patterns; in place of other texts stands their
 * length. With a mask (NULL: none) commands of one line too. A new reference. */
json_t *telemetry_shown_arguments(const json_t *arguments, telemetry_mask *mask);
/* What a hook was given (NULL: nothing): why and where it runs, the prompt, and a tool's arguments
 * as above; in place of requests, replies and results stands how long they are. A new reference. */
json_t *telemetry_shown_hook_input(const json_t *input, telemetry_mask *mask);

/* ---- the subscriber (events.c) ---- */

enum { TRACE_ID_BYTES = 16, SPAN_ID_BYTES = 8 };

/* A span that has not been written yet. */
struct open_span {
	bool open;
	char id[2 * SPAN_ID_BYTES + 1];
	struct timespec began, ended;
};

/* Calls under way whose arguments are kept. */
enum { CALLS_MAX = 1000 };
/* Bytes of a reply in its event, which has room for them as JSON. */
enum { TELEMETRY_SAID_BYTES = 4000 };

/* Within a prompt, as Gemini CLI has it. */
enum { METRICS_EVERY_MS = 10000 };

struct telemetry {
	struct bus *bus;   /* NULL: of a server */
	pthread_mutex_t lock; /* the session may change while a message comes */
	unsigned subscription;
	int fd;            /* of the file; -1: there is none */
	struct otlp *otlp; /* NULL: a file instead */
	struct metrics *metrics;
	char *session_id, *model, *mode;
	bool session; /* or a command without one */
	bool interactive, log_prompts;
	bool log_details;      /* only with log_prompts, and a `mask` */
	telemetry_mask *mask;
	json_t *prompt;        /* owned; details: the text of a prompt that no reply has come to;
	                        * NULL: there is none */
	struct buf said;       /* details: the beginning of what the model says in this reply */
	unsigned prompts;
	unsigned replies;      /* of the model in this turn */
	unsigned attempts;     /* that were asked for again since the last reply */
	char *caller;                /* NULL: the session is the user's */
	uint64_t mode_since_ms; /* clock_monotonic_ms */
	uint64_t metrics_ms;    /* when metrics were written; 0: not yet */
	bool measured, measures_changed; /* a server's (measures.c): ever; since then */
	char trace_id[2 * TRACE_ID_BYTES + 1]; /* of the prompt; "" before the first */
	char parent_id[2 * SPAN_ID_BYTES + 1]; /* a caller's span above the prompt's; "": none */
	char next_trace_id[2 * TRACE_ID_BYTES + 1], next_parent_id[2 * SPAN_ID_BYTES + 1];
	struct open_span prompt_span, calls_span;
	json_t *calls; /* by callId: arguments of calls under way */
};

/* ---- writing (event_write.c) ---- */

/* Appends an event or a span to the file, or sends them; with `resource` and
 * `instrumentationScope` added. */
void telemetry_write(struct telemetry *telemetry, json_t *object);
/* Writes an event now. `own`: attributes besides the common ones; taken. `body`: a sentence. */
void event_write(struct telemetry *telemetry, const char *name, json_t *own, const char *body);
/* Writes or sends all metrics as they are now. */
void telemetry_write_metrics(struct telemetry *telemetry);
/* As metrics_add, with the common attributes too. `own` is taken. */
void telemetry_count(struct telemetry *telemetry, enum metric metric, json_t *own,
                     json_int_t value);
/* A member of a message: borrowed, "" where it is no text; 0 where it is no number. */
const char *telemetry_said(const json_t *message, const char *name);
json_int_t telemetry_number(const json_t *message, const char *name);
/* Of the model of a message, "PROVIDER/NAME", the name. Borrowed. */
const char *telemetry_model_name(const json_t *message);
/* "SESSION########NUMBER"; a new reference. */
json_t *telemetry_prompt_id(const struct telemetry *telemetry);

/* ---- requests to models (requests.c): events and metrics, also those of the semantic conventions
 * for generative AI.  As takers in events.c. ---- */

/* It goes out; it was answered; it failed for good. */
void telemetry_on_request(struct telemetry *telemetry, const json_t *message);
void telemetry_on_content(struct telemetry *telemetry, const json_t *message);
void telemetry_on_response(struct telemetry *telemetry, const json_t *message);
/* Its code alone is written: a server's words may quote the request. */
void telemetry_on_failure(struct telemetry *telemetry, const json_t *message);
/* Only a reply that is asked for again is of interest. */
void telemetry_on_notice(struct telemetry *telemetry, const json_t *message);

/* ---- spans (spans.c) ---- */

/* A prompt begins, and with it a trace; what is open of the one before is written. */
/* As telemetry_continue_trace. */
void spans_continue(struct telemetry *telemetry, struct span traceparent);
void spans_on_prompt(struct telemetry *telemetry);
/* A request goes out: the calls of the reply before have ended. */
void spans_on_request(struct telemetry *telemetry);
/* A reply has arrived. */
void spans_on_reply(struct telemetry *telemetry, const json_t *message);
/* A request has failed. */
void spans_on_failure(struct telemetry *telemetry, const json_t *message);
/* A call begins. */
void spans_on_call(struct telemetry *telemetry);
/* `tool`: what ran. */
void spans_on_result(struct telemetry *telemetry, const json_t *message, const char *tool);
/* The prompt is answered: open spans are written. Also before the session or its id ends. */
void spans_on_answer(struct telemetry *telemetry);

/* ---- OTLP over HTTP (otlp.c) ---- */

/* Starts the thread that posts to ENDPOINT/v1/logs, /v1/traces and /v1/metrics, with `headers` as
 * OTEL_EXPORTER_OTLP_HEADERS has them (NULL: none). What was not answered, or with 429, 502, 503 or
 * 504, is sent again: four times at most, and not once the session ends. NULL with IO_ERROR: no
 * descriptor or no thread is left; INVALID_ARGUMENT: the headers are none. Nothing connects before
 * the first event. */
struct otlp *otlp_new(const char *endpoint, const char *headers, struct err *err);
/* An event or a span as the file has it; copied. Never waits: it is dropped where too many wait
 * already. */
void otlp_send(struct otlp *otlp, const json_t *object);
/* Likewise the metrics, as the file has them, in place of those that still wait. */
void otlp_send_metrics(struct otlp *otlp, const json_t *metrics);
/* Sends what is left, and frees it. Waits less than two seconds; what is not sent by then is
 * lost. */
void otlp_close(struct otlp *otlp);

#endif
