/* SPDX-License-Identifier: Apache-2.0 */
/* Spans with Gemini CLI's names (user_prompt, llm_call, schedule_tool_calls, tool_call) and the
 * attributes of OpenTelemetry's semantic conventions for generative AI.  Each is written when it
 * has ended; all of one prompt share a trace.  What was asked and answered is never in them. */
#include <string.h>

#include "base/mem.h"
#include "base/random.h"
#include "data/json.h"
#include "telemetry/private.h"

/* Random, as the specification requires; a clash is harmless, so no source is waited for. */
static void span_draw(char *hex, size_t bytes)
{
	unsigned char raw[16];

	random_distinct(raw, bytes);
	if (!raw[0])
		raw[0] = 1; /* all zeros would be no id */
	random_hex_print(raw, bytes, hex);
}

static void open_span_begin(struct open_span *span)
{
	span_draw(span->id, SPAN_ID_BYTES);
	clock_gettime(CLOCK_REALTIME, &span->began);
	span->ended = span->began;
	span->open = true;
}

static json_t *span_context(const struct telemetry *telemetry, const char *id)
{
	return json_pack("{s:s, s:s, s:i}", "traceId", telemetry->trace_id, "spanId", id,
	                 "traceFlags", 1);
}

static struct timespec moment_before(const struct timespec *moment, json_int_t ms)
{
	struct timespec before = *moment;

	before.tv_sec -= (time_t)(ms / 1000);
	before.tv_nsec -= (long)(ms % 1000) * 1000000;
	if (before.tv_nsec < 0) {
		before.tv_sec--;
		before.tv_nsec += 1000000000;
	}
	return before;
}

static struct timespec moment_between(const struct timespec *from, const struct timespec *to)
{
	struct timespec between = { to->tv_sec - from->tv_sec, to->tv_nsec - from->tv_nsec };

	if (between.tv_nsec < 0) {
		between.tv_sec--;
		between.tv_nsec += 1000000000;
	}
	return between.tv_sec < 0 ? (struct timespec){ 0 } : between;
}

/* `own`: its attributes in addition to the common ones; taken. `parent`: NULL without. */
static void span_write(struct telemetry *telemetry, const char *operation,
                       const struct open_span *span, const struct open_span *parent, bool failed,
                       json_t *own)
{
	const struct timespec took = moment_between(&span->began, &span->ended);
	/* Of the specification: 1 is OK, 2 an error; kind 0: internal. */
	json_auto_t *object = json_pack(
		"{s:s, s:o, s:i, s:o, s:o, s:o, s:{s:i}, s:b, s:[], s:[], s:o}", "name", operation,
		"_spanContext", span_context(telemetry, span->id), "kind", 0, "startTime",
		telemetry_moment(&span->began), "endTime", telemetry_moment(&span->ended),
		"_duration", telemetry_moment(&took), "status", "code", failed ? 2 : 1, "_ended", 1,
		"links", "events", "attributes", own);

	json_object_set_new(own, "gen_ai.operation.name", json_string(operation));
	json_object_set_new(own, "gen_ai.agent.name", json_string("gemini-cli"));
	json_object_set_new(own, "gen_ai.agent.description", json_string("hasp " HASP_VERSION));
	json_object_set_new(own, "gen_ai.conversation.id", json_string(telemetry->session_id));
	telemetry_limit_texts(own);
	if (parent || *telemetry->parent_id)
		json_object_set_new(object, "parentSpanContext",
		                    span_context(telemetry,
		                                 parent ? parent->id : telemetry->parent_id));
	telemetry_write(telemetry, object);
	telemetry->prompt_span.ended = span->ended; /* so far */
}

static const struct open_span *span_of_prompt(const struct telemetry *telemetry)
{
	return telemetry->prompt_span.open && telemetry->interactive ? &telemetry->prompt_span :
	                                                               NULL;
}

/* The span of the calls of one reply ends with the last of them. */
static void spans_end_calls(struct telemetry *telemetry)
{
	if (telemetry->calls_span.open)
		span_write(telemetry, "schedule_tool_calls", &telemetry->calls_span,
		           span_of_prompt(telemetry), false, json_object());
	telemetry->calls_span.open = false;
}

/* Takes an id of lower-case digits, not all 0, off the front, and the hyphen after it. */
static bool span_take_id(struct span *rest, char *hex, size_t bytes)
{
	const size_t len = 2 * bytes;
	bool is_some = false;

	for (size_t i = 0; i < len; i++) {
		if (i >= rest->len || !strchr("0123456789abcdef", rest->data[i]) || !rest->data[i])
			return false;
		is_some = is_some || rest->data[i] != '0';
	}
	if (!is_some || rest->len == len || rest->data[len] != '-')
		return false;
	memcpy(hex, rest->data, len);
	hex[len] = '\0';
	*rest = span_skip(*rest, len + 1);
	return true;
}

/* "00-TRACE-PARENT-FLAGS"; of versions after 00 more may follow. */
void spans_continue(struct telemetry *telemetry, struct span traceparent)
{
	char trace[sizeof(telemetry->next_trace_id)], parent[sizeof(telemetry->next_parent_id)];
	struct span rest = traceparent;
	unsigned char version[2] = { 0 };

	*telemetry->next_trace_id = *telemetry->next_parent_id = '\0';
	if (rest.len < 55 || (rest.len > 55 && (span_starts(rest, SPAN("00")) ||
	                                        rest.data[55] != '-')))
		return;
	for (size_t i = 0; i < 2; i++) {
		version[i] = (unsigned char)rest.data[i];
		if (!ascii_is_digit(version[i]) && (version[i] < 'a' || version[i] > 'f'))
			return;
	}
	if ((version[0] == 'f' && version[1] == 'f') || rest.data[2] != '-')
		return;
	rest = span_skip(rest, 3);
	if (!span_take_id(&rest, trace, TRACE_ID_BYTES) ||
	    !span_take_id(&rest, parent, SPAN_ID_BYTES) || ascii_hex(rest.data[0]) < 0 ||
	    ascii_hex(rest.data[1]) < 0)
		return;
	memcpy(telemetry->next_trace_id, trace, sizeof(trace));
	memcpy(telemetry->next_parent_id, parent, sizeof(parent));
}

void spans_on_prompt(struct telemetry *telemetry)
{
	spans_on_answer(telemetry);
	if (*telemetry->next_trace_id)
		memcpy(telemetry->trace_id, telemetry->next_trace_id, sizeof(telemetry->trace_id));
	else
		span_draw(telemetry->trace_id, TRACE_ID_BYTES);
	memcpy(telemetry->parent_id, telemetry->next_parent_id, sizeof(telemetry->parent_id));
	*telemetry->next_trace_id = *telemetry->next_parent_id = '\0';
	open_span_begin(&telemetry->prompt_span);
}

/* As in Gemini CLI, a headless run has no span for its one prompt. */
void spans_on_answer(struct telemetry *telemetry)
{
	json_t *own;

	spans_end_calls(telemetry);
	if (span_of_prompt(telemetry)) {
		own = json_object();
		json_object_set_new(own, "gen_ai.prompt.name", telemetry_prompt_id(telemetry));
		span_write(telemetry, "user_prompt", &telemetry->prompt_span, NULL, false, own);
	}
	telemetry->prompt_span.open = false;
}

void spans_on_request(struct telemetry *telemetry)
{
	if (!*telemetry->trace_id)
		span_draw(telemetry->trace_id, TRACE_ID_BYTES);
	if (!json_object_size(telemetry->calls)) /* else it is a call that asks a model */
		spans_end_calls(telemetry);
}

/* `usage` (taken): its attributes; NULL: the request failed. */
static void write_model_call(struct telemetry *telemetry, const json_t *message, json_t *usage)
{
	json_t *own = json_object();
	struct open_span span;

	open_span_begin(&span);
	span.began = moment_before(&span.ended, telemetry_number(message, "durationMs"));
	json_object_set_new(own, "gen_ai.request.model",
	                    json_string(telemetry_model_name(message)));
	json_object_set_new(own, "gen_ai.prompt.name", telemetry_prompt_id(telemetry));
	json_object_update(own, usage);
	span_write(telemetry, "llm_call", &span, span_of_prompt(telemetry), !usage, own);
	json_decref(usage);
}

void spans_on_reply(struct telemetry *telemetry, const json_t *message)
{
	const json_t *used = json_object_get(message, "usage");

	write_model_call(telemetry, message,
	                 json_pack("{s:I, s:I}", "gen_ai.usage.input_tokens",
	                           telemetry_number(used, "input"), "gen_ai.usage.output_tokens",
	                           telemetry_number(used, "output")));
}

void spans_on_failure(struct telemetry *telemetry, const json_t *message)
{
	write_model_call(telemetry, message, NULL);
}

void spans_on_call(struct telemetry *telemetry)
{
	if (!*telemetry->trace_id)
		span_draw(telemetry->trace_id, TRACE_ID_BYTES);
	if (!telemetry->calls_span.open)
		open_span_begin(&telemetry->calls_span);
}

void spans_on_result(struct telemetry *telemetry, const json_t *message, const char *tool)
{
	struct open_span span;
	json_t *own = json_object();

	spans_on_call(telemetry); /* a result without its call: there were too many at a time */
	open_span_begin(&span);
	span.began = moment_before(&span.ended, telemetry_number(message, "durationMs"));
	telemetry->calls_span.ended = span.ended;
	json_object_set_new(own, "gen_ai.tool.name", json_string(tool));
	json_object_set(own, "gen_ai.tool.call_id", json_object_get(message, "callId"));
	span_write(telemetry, "tool_call", &span, &telemetry->calls_span, false, own);
}
