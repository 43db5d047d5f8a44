/* SPDX-License-Identifier: Apache-2.0 */
/* What chat completions and Responses share: models, who speaks which format, errors. */
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "model/openai/openai.h"
#include "model/wire.h"

/* ---- models ------------------------------------------------------------------ */

/* OpenAI's models, as of 2026-11-23 (developers.openai.com/api/docs/models).  The first row
 * whose prefix fits counts. */

static const struct openai_model model_table[] = {
	{ "gpt-3.5", false, false, NULL, 16385 },
	{ "gpt-4.1", false, false, NULL, 1047576 },
	{ "gpt-4o", false, false, NULL, 128000 },
	{ "gpt-4-turbo", false, false, NULL, 128000 },
	{ "gpt-4", false, false, NULL, 8192 },
	{ "chatgpt-4o", false, false, NULL, 128000 },
	{ "gpt-5-chat", false, false, NULL, 128000 },
	{ "gpt-5-codex", true, false, "low", 400000 },
	{ "gpt-5-pro", true, false, NULL, 400000 },
	{ "gpt-5.1", true, false, "none", 400000 },
	{ "gpt-5.2", true, false, "none", 400000 },
	{ "gpt-5.3", true, false, "none", 400000 },
	{ "gpt-5.4-mini", true, true, "none", 400000 },
	{ "gpt-5.4-nano", true, true, "none", 400000 },
	{ "gpt-5.", true, true, "none", 1050000 },
	{ "gpt-5", true, false, "minimal", 400000 },
	{ "gpt-6", true, true, "none", 1050000 },
	{ "gpt-oss", true, false, "low", 131072 },
	{ "o1", true, false, "low", 200000 },
	{ "o3", true, false, "low", 200000 },
	{ "o4", true, false, "low", 200000 },
	{ "codex", true, false, "low", 200000 },
	{ "", true, false, "low", 0 },
};

const struct openai_model *openai_model_of(const char *name)
{
	const struct openai_model *row = model_table;

	while (strncmp(name ? name : "", row->prefix, strlen(row->prefix)) != 0)
		row++;
	return row;
}

uint64_t openai_context_tokens(const char *name)
{
	return openai_model_of(name)->context;
}

const char *openai_effort(const struct openai_model *model, const struct model_request *request)
{
	switch (request->thinking) {
	case MODEL_THINK_OFF:
		return model->off;
	case MODEL_THINK_LOW:
		return "low";
	case MODEL_THINK_MEDIUM:
		return "medium";
	case MODEL_THINK_HIGH:
		return "high";
	default:
		return NULL;
	}
}

json_t *openai_answer_schema(const struct model_request *request)
{
	json_t *format = json_pack("{s:s, s:O}", "name", "answer", "schema",
	                           request->answer_schema);

	if (wire_is_strict(request->answer_schema))
		json_object_set_new(format, "strict", json_true());
	return format;
}

void openai_headers(const struct model_options *options, struct wire_request *ret)
{
	if (options->api_key)
		wire_header(ret, "Authorization: Bearer %s", options->api_key);
}

struct model_usage openai_usage(const json_t *usage)
{
	bool chat = json_object_get(usage, "prompt_tokens") != NULL;
	const json_t *in = json_object_get(usage, chat ? "prompt_tokens_details" :
	                                                 "input_tokens_details");
	const json_t *out = json_object_get(usage, chat ? "completion_tokens_details" :
	                                                  "output_tokens_details");
	struct model_usage ret = {
		.input = wire_count(usage, chat ? "prompt_tokens" : "input_tokens"),
		.cached = wire_count(in, "cached_tokens"),
		.cache_written = wire_count(in, "cache_write_tokens"),
		.output = wire_count(usage, chat ? "completion_tokens" : "output_tokens"),
		.thoughts = wire_count(out, "reasoning_tokens"),
		.total = wire_count(usage, "total_tokens"),
	};

	if (!ret.cached) /* DeepSeek */
		ret.cached = wire_count(usage, "prompt_cache_hit_tokens");
	/* Thoughts are among the output, but for xAI, where only the total has them. Some count
	 * more thoughts than output: it was no more than that. */
	if (ret.total == ret.input + ret.output || (!ret.total && ret.thoughts <= ret.output)) {
		ret.thoughts = ret.thoughts < ret.output ? ret.thoughts : ret.output;
		ret.output -= ret.thoughts;
	}
	if (!ret.total)
		ret.total = ret.input + ret.output + ret.thoughts;
	return ret;
}

/* ---- who speaks chat completions, and how ------------------------------------ */

/* Who speaks chat completions, and how.
 *
 * Sources: the API references of OpenAI, OpenRouter, DeepSeek, Groq, Mistral and xAI; the
 * documentation of vLLM ("Reasoning Outputs"), llama.cpp (tools/server/README.md), Ollama
 * ("OpenAI compatibility"). */

static const struct chat_traits traits_table[] = {
	{ .host = "api.openai.com", .developer = true, .new_limit = true, .allowed_choice = true,
	  .cache_key = true, .files = true, .audio = true, .own_models = true, .schema = true,
	  .effort = "plain" },
	{ .host = ".openai.azure.com", .developer = true, .new_limit = true, .allowed_choice = true,
	  .own_models = true, .schema = true, .effort = "plain" },
	{ .host = "openrouter.ai", .top_k = true, .files = true, .audio = true, .schema = true,
	  .details = true, .effort = "nested" },
	/* 400 when the thoughts of a turn with calls are missing. */
	{ .host = "api.deepseek.com", .thought = "reasoning_content", .effort = "plain" },
	/* 400 for members it does not know, the thoughts it sent among them. */
	{ .host = "api.groq.com", .new_limit = true, .schema = true },
	{ .host = "api.mistral.ai", .schema = true, .counts_anyway = true, .ids = WIRE_ID_NINE },
	{ .host = "api.x.ai", .schema = true },
	/* Ollama: an effort is an error for models that do not think. */
	{ .host = ":11434", .schema = true, .thought = "" },
	/* llama.cpp, vLLM and the rest. */
	{ .host = NULL, .top_k = true, .schema = true, .thought = "" },
};

const struct chat_traits *openai_chat_traits(const struct model_options *options)
{
	const char *url = options->base_url ? options->base_url : traits_table[0].host;
	const struct chat_traits *row = traits_table;

	while (row->host && !strstr(url, row->host))
		row++;
	return row;
}

/* ---- errors ------------------------------------------------------------------ */

/* Errors of OpenAI and of those who speak its formats. */

/* Codes and types. Sources: OpenAI's "Error codes", OpenRouter's "Errors", llama.cpp's
 * format_error_response, vLLM's ErrorResponse, Mistral and Groq. */
static const struct fault_row words[] = {
	{ "insufficient_quota", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "billing_hard_limit_reached", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "billing_not_active", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "context_length_exceeded", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "exceed_context_size_error", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "too_many_prompt_tokens", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "model_max_prompt_tokens_exceeded", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "context_window_exceeded", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "string_above_max_length", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "token_limit_exceeded", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "invalid_api_key", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "invalid_authentication", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "account_deactivated", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "authentication_error", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "model_not_found", ERR_INVALID_ARGUMENT, WIRE_FATAL },
	{ "invalid_prompt", ERR_INVALID_ARGUMENT, WIRE_FATAL },
	{ "content_policy_violation", ERR_INVALID_ARGUMENT, WIRE_FATAL },
	{ "content_filter", ERR_INVALID_ARGUMENT, WIRE_FATAL },
	{ "server_error", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "server_overloaded", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "overloaded", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "overloaded_error", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "engine_overloaded", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "slow_down", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "unavailable_error", ERR_OVERLOADED, WIRE_TRANSIENT }, /* llama.cpp loads its model */
	{ NULL, ERR_NONE, WIRE_FATAL },
};

/* Words that are true of several classes, after the sentence was looked at. */
static const struct {
	const char *word;
	int status;
} status_words[] = {
	{ "rate_limit_exceeded", 429 },   { "rate_limit_error", 429 }, { "requests", 429 },
	{ "tokens", 429 },                { "BadRequestError", 400 },  { "api_error", 500 },
	{ "invalid_request_error", 400 }, { "not_found_error", 404 },  { "internal_error", 500 },
	{ "permission_error", 403 },
};

static int openai_error_status(int status, const json_t *error, struct span word)
{
	json_int_t code = json_integer_value(json_object_get(error, "code"));

	if (status)
		return status;
	if (code >= 400 && code < 600)
		return (int)code;
	for (size_t i = 0; i < ARRAY_LEN(status_words); i++)
		if (span_eq(word, span_str(status_words[i].word)))
			return status_words[i].status;
	return 0;
}

/* OpenRouter: what the server behind it said is text in metadata.raw. */
static struct span openai_error_message(const json_t *error)
{
	struct span message = json_span(json_object_get(error, "message"));
	struct span raw = json_span(json_object_get(json_object_get(error, "metadata"), "raw"));

	if (json_is_string(error))
		return json_span(error);
	if (raw.len && (!message.len || span_eq(message, SPAN("Provider returned error"))))
		return raw;
	return message.len ? message : json_span(json_object_get(error, "detail"));
}

/* The object with the message: under "error", or the whole. */
static const json_t *openai_error_object(const json_t *value)
{
	const json_t *error = json_object_get(value, "error");

	return error && !json_is_null(error) ? error : value;
}

enum wire_trouble openai_error_value(int status, const json_t *value, double *delay_s,
                                     struct err *err)
{
	const json_t *error = openai_error_object(value);
	struct fault fault = {
		.words = { json_span(json_object_get(error, "code")),
		           json_span(json_object_get(error, "type")) },
		.message = openai_error_message(error),
	};

	fault.status = openai_error_status(status, error, fault.words[0]);
	if (!fault.status)
		fault.status = openai_error_status(0, NULL, fault.words[1]);
	/* Refused by moderation, not for the key. */
	if (fault.status == 403 &&
	    json_object_get(json_object_get(error, "metadata"), "reasons"))
		fault.status = 400;
	*delay_s = fault_delay(fault.message);
	return fault_set(&fault, words, err);
}

enum wire_trouble openai_error(int status, struct span headers, struct span body, double *delay_s,
                               struct err *err)
{
	json_t *value = fault_body(body);
	enum wire_trouble trouble = openai_error_value(status, value, delay_s, err);

	(void)headers;
	json_decref(value);
	return trouble;
}
