/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to models: Gemini CLI's events and metrics of them, and those of OpenTelemetry's
 * semantic conventions for generative AI (gen_ai.*).  Of texts of requests and replies only what
 * the user, hooks and the model said is in them, with details. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "telemetry/private.h"

/* ---- the semantic conventions ------------------------------------------------- */

/* What the conventions call the provider of "PROVIDER/NAME". The caller frees. */
static char *genai_provider(const char *model)
{
	/* Well-known values of gen_ai.provider.name; others are called as in hasp. */
	static const char *const names[][2] = {
		{ "gemini", "gcp.gen_ai" }, { "vertex", "gcp.vertex_ai" },
		{ "mistral", "mistral_ai" }, { "xai", "x_ai" },
	};
	const size_t len = strcspn(model, "/");

	if (!model[len])
		return mem_strdup("gcp.gen_ai");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strlen(names[i][0]) == len && !strncmp(names[i][0], model, len))
			return mem_strdup(names[i][1]);
	return mem_printf("%.*s", (int)len, model);
}

static json_t *genai_attributes(const json_t *message)
{
	const char *model = telemetry_said(message, "model");
	_cleanup_free_ char *provider = genai_provider(model);
	const bool google = !strncmp(provider, "gcp.", 4);

	return json_pack("{s:s, s:s, s:s}", "gen_ai.operation.name",
	                 google ? "generate_content" : "chat", "gen_ai.provider.name", provider,
	                 "gen_ai.request.model", telemetry_model_name(message));
}

static void genai_write_details(struct telemetry *telemetry, json_t *own)
{
	event_write(telemetry, "gen_ai.client.inference.operation.details", own,
	            "GenAI operation details.");
}

static void genai_count_tokens(struct telemetry *telemetry, const json_t *tags, const char *type,
                               json_int_t tokens)
{
	json_t *own = json_copy((json_t *)tags);

	json_object_set_new(own, "gen_ai.token.type", json_string(type));
	telemetry_count(telemetry, METRIC_GENAI_TOKEN_USAGE, own, tokens);
}

void telemetry_on_content(struct telemetry *telemetry, const json_t *message)
{
	const struct span text = json_span(json_object_get(message, "text"));
	const size_t room = TELEMETRY_TEXT_BYTES_MAX - telemetry->said.len;

	if (telemetry->log_details)
		buf_span(&telemetry->said, span_head(text, text.len < room ? text.len : room));
}

/* Details: what the model said, as the conventions have it: no thoughts, and no calls, whose
 * arguments tool_call has. */
static void genai_add_said(struct telemetry *telemetry, json_t *own, const json_t *message)
{
	json_auto_t *masked = NULL, *messages = NULL;
	char *shown;

	if (!telemetry->said.len || strcmp(telemetry_said(message, "role"), "main") != 0)
		return;
	masked = telemetry->mask(utf8_head(buf_view(&telemetry->said), telemetry->said.len));
	messages = json_pack("[{s:s, s:s, s:[{s:s, s:o}]}]", "role", "assistant", "finish_reason",
	                     telemetry_said(message, "reason"), "parts", "type", "text", "content",
	                     json_text(utf8_head(json_span(masked), TELEMETRY_SAID_BYTES)));
	shown = json_dumps(messages, JSON_COMPACT);
	json_object_set_new(own, "gen_ai.output.messages",
	                    telemetry_limited_text(span_str(shown ? shown : "[]")));
	free(shown);
}

static void genai_on_reply(struct telemetry *telemetry, const json_t *message)
{
	json_auto_t *tags = genai_attributes(message);
	const json_t *used = json_object_get(message, "usage");
	const json_int_t input = telemetry_number(used, "input");
	const json_int_t output = telemetry_number(used, "output");
	json_t *own;

	json_object_set_new(tags, "gen_ai.response.model",
	                    json_string(telemetry_model_name(message)));
	own = json_copy(tags);
	json_object_set_new(own, "gen_ai.response.finish_reasons",
	                    json_pack("[s]", telemetry_said(message, "reason")));
	json_object_set_new(own, "gen_ai.usage.input_tokens", json_integer(input));
	json_object_set_new(own, "gen_ai.usage.output_tokens", json_integer(output));
	genai_add_said(telemetry, own, message);
	genai_write_details(telemetry, own);
	genai_count_tokens(telemetry, tags, "input", input);
	genai_count_tokens(telemetry, tags, "output", output);
	telemetry_count(telemetry, METRIC_GENAI_OPERATION_DURATION, json_incref(tags),
	                telemetry_number(message, "durationMs"));
}

static void genai_on_failure(struct telemetry *telemetry, const json_t *message)
{
	json_t *tags = genai_attributes(message);

	json_object_set(tags, "error.type", json_object_get(message, "type"));
	genai_write_details(telemetry, json_copy(tags));
	telemetry_count(telemetry, METRIC_GENAI_OPERATION_DURATION, tags,
	                telemetry_number(message, "durationMs"));
}

/* ---- Gemini CLI's ------------------------------------------------------------- */

static json_t *event_api_attributes(const struct telemetry *telemetry, const json_t *message)
{
	json_t *own = json_object();

	json_object_set(own, "model", json_object_get(message, "model"));
	json_object_set_new(own, "prompt_id", telemetry_prompt_id(telemetry));
	json_object_set(own, "role", json_object_get(message, "role"));
	return own;
}

static void request_add_text(const struct telemetry *telemetry, json_t *parts, const json_t *text)
{
	json_auto_t *cut = telemetry_limited_text(json_span(text));

	json_array_append_new(parts, json_pack("{s:o}", "text", telemetry->mask(json_span(cut))));
}

/* Details: of the request that a prompt begins with, what the user and hooks said, as Gemini CLI
 * has a request's contents. All else may be what files hold. */
static void request_add_prompt(const struct telemetry *telemetry, json_t *own,
                               const json_t *message)
{
	json_t *parts = json_array(), *text;
	json_auto_t *contents = json_pack("[{s:s, s:o}]", "role", "user", "parts", parts);
	char *shown;
	size_t i;

	json_array_foreach(json_object_get(message, "hookContext"), i, text)
		request_add_text(telemetry, parts, text);
	request_add_text(telemetry, parts, telemetry->prompt);
	shown = json_dumps(contents, JSON_COMPACT);
	json_object_set_new(own, "request_text",
	                    telemetry_limited_text(span_str(shown ? shown : "[]")));
	free(shown);
}

void telemetry_on_request(struct telemetry *telemetry, const json_t *message)
{
	_cleanup_free_ char *body = mem_printf("API request to %s.",
	                                       telemetry_said(message, "model"));
	json_t *own = event_api_attributes(telemetry, message);

	spans_on_request(telemetry);
	telemetry->attempts = 0;
	if (!strcmp(telemetry_said(message, "role"), "main")) {
		buf_clear(&telemetry->said);
		if (telemetry->prompt)
			request_add_prompt(telemetry, own, message);
	}
	event_write(telemetry, "gemini_cli.api_request", own, body);
	genai_write_details(telemetry, genai_attributes(message));
}

static void metrics_count_request(struct telemetry *telemetry, const json_t *message, json_t *own)
{
	const char *model = telemetry_said(message, "model");

	json_object_set_new(own, "model", json_string(model));
	telemetry_count(telemetry, METRIC_API_REQUEST_COUNT, own, 1);
	telemetry_count(telemetry, METRIC_API_REQUEST_LATENCY, json_pack("{s:s}", "model", model),
	                telemetry_number(message, "durationMs"));
}

void telemetry_on_response(struct telemetry *telemetry, const json_t *message)
{
	/* Of the message, of the event, of the metric ("": not in it). */
	static const char *const usage[][3] = {
		{ "input", "input_token_count", "input" },
		{ "output", "output_token_count", "output" },
		{ "cached", "cached_content_token_count", "cache" },
		{ "thoughts", "thoughts_token_count", "thought" },
		{ "tool", "tool_token_count", "tool" },
		{ "total", "total_token_count", "" },
	};
	const json_t *used = json_object_get(message, "usage");
	const json_int_t ms = telemetry_number(message, "durationMs");
	_cleanup_free_ char *body = mem_printf(
		"API response from %s. Status: 200. Duration: %lldms.",
		telemetry_said(message, "model"), (long long)ms);
	json_t *own = event_api_attributes(telemetry, message);

	json_object_set_new(own, "duration_ms", json_integer(ms));
	json_object_set_new(own, "status_code", json_integer(200));
	json_object_set_new(own, "http.status_code", json_integer(200));
	json_object_set_new(own, "finish_reasons", json_pack("[s]", telemetry_said(message,
	                                                                       "reason")));
	for (size_t i = 0; i < ARRAY_LEN(usage); i++) {
		const json_int_t tokens = telemetry_number(used, usage[i][0]);

		json_object_set_new(own, usage[i][1], json_integer(tokens));
		if (*usage[i][2])
			telemetry_count(telemetry, METRIC_TOKEN_USAGE,
			                json_pack("{s:s, s:s}", "model",
			                          telemetry_said(message, "model"), "type",
			                          usage[i][2]), tokens);
	}
	event_write(telemetry, "gemini_cli.api_response", own, body);
	metrics_count_request(telemetry, message, json_pack("{s:i}", "status_code", 200));
	if (!strcmp(telemetry_said(message, "role"), "main")) {
		json_decref(telemetry->prompt);
		telemetry->prompt = NULL;
	}
	genai_on_reply(telemetry, message);
	spans_on_reply(telemetry, message);
	telemetry->replies++;
}

/* Its code alone: a server's words may quote the request, and with it what files hold. */
void telemetry_on_failure(struct telemetry *telemetry, const json_t *message)
{
	const char *type = telemetry_said(message, "type");
	_cleanup_free_ char *body = mem_printf("API error for %s. Type: %s.",
	                                       telemetry_said(message, "model"), type);
	json_t *own = event_api_attributes(telemetry, message);

	json_object_set_new(own, "duration_ms",
	                    json_integer(telemetry_number(message, "durationMs")));
	json_object_set_new(own, "error_type", json_string(type));
	json_object_set_new(own, "error.type", json_string(type));
	event_write(telemetry, "gemini_cli.api_error", own, body);
	metrics_count_request(telemetry, message, json_pack("{s:s}", "error_type", type));
	genai_on_failure(telemetry, message);
	spans_on_failure(telemetry, message);
}

/* A reply that had started is a broken one; else it is the request that failed. */
void telemetry_on_notice(struct telemetry *telemetry, const json_t *message)
{
	const bool started = json_object_get(message, "forget");
	const json_int_t ms = telemetry_number(message, "delayMs");
	const char *model = telemetry_said(message, "model");
	_cleanup_free_ char *body = mem_printf("%s retry %u.", started ? "Content" : "Network",
	                                       telemetry->attempts + 1);
	json_t *own, *tags;

	if (!json_object_get(message, "delayMs"))
		return;
	telemetry->attempts++;
	tags = json_pack("{s:s, s:i}", "model", model, "attempt", (int)telemetry->attempts);
	own = started ? json_pack("{s:i, s:I}", "attempt_number", (int)telemetry->attempts,
	                          "retry_delay_ms", ms) :
	              json_pack("{s:i, s:I}", "attempt", (int)telemetry->attempts, "delay_ms", ms);
	json_object_set_new(own, "model", json_string(model));
	event_write(telemetry, started ? "gemini_cli.chat.content_retry" :
	                               "gemini_cli.network_retry_attempt", own, body);
	if (started) {
		json_decref(tags);
		tags = json_object();
	}
	telemetry_count(telemetry,
	                started ? METRIC_CONTENT_RETRY_COUNT : METRIC_NETWORK_RETRY_COUNT, tags, 1);
}
