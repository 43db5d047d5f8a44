/* SPDX-License-Identifier: Apache-2.0 */
/* What chat completions and Responses share: models, who speaks which format, errors. */
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "model/fault.h"
#include "model/openai/openai.h"
#include "model/wire.h"

/* ---- models ------------------------------------------------------------------ */

/* OpenAI's models, as of 2026-11-23 (developers.openai.com/api/docs/models).  The first row
 * whose prefix fits counts. */

static const struct openai_model model_table[] = {
	{ "gpt-3.5", false, false, NULL, 16385, false, false },
	{ "gpt-4.1", false, false, NULL, 1047576, false, false },
	{ "gpt-4o", false, false, NULL, 128000, false, false },
	{ "gpt-4-turbo", false, false, NULL, 128000, false, false },
	{ "gpt-4", false, false, NULL, 8192, false, false },
	{ "chatgpt-4o", false, false, NULL, 128000, false, false },
	{ "gpt-5-chat", false, false, NULL, 128000, false, false },
	{ "gpt-5-codex", true, false, "low", 400000, false, true },
	{ "gpt-5-pro", true, false, NULL, 400000, false, true },
	{ "gpt-5.1", true, false, "none", 400000, false, true },
	{ "gpt-5.2", true, false, "none", 400000, false, true },
	{ "gpt-5.3", true, false, "none", 400000, false, true },
	{ "gpt-5.4-mini", true, true, "none", 400000, true, true },
	{ "gpt-5.4-nano", true, true, "none", 400000, false, true },
	{ "gpt-5.", true, true, "none", 1050000, true, true },
	{ "gpt-5", true, false, "minimal", 400000, false, true },
	{ "gpt-6", true, true, "none", 1050000, true, true },
	{ "gpt-oss", true, false, "low", 131072, false, false },
	{ "o1", true, false, "low", 200000, false, false },
	{ "o3", true, false, "low", 200000, false, false },
	{ "o4", true, false, "low", 200000, false, false },
	{ "codex", true, false, "low", 200000, false, false },
	{ "", true, false, "low", 0, false, false },
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
	const struct chat_traits *row = traits_table;

	while (row->host && !strstr(options->base_url, row->host))
		row++;
	return row;
}

/* ---- errors ------------------------------------------------------------------ */

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

enum wire_trouble openai_error(int status, const json_t *value, double *delay_s, struct err *err)
{
	const json_t *error = openai_error_object(value);
	struct fault fault = {
		.format = FAULT_OPENAI,
		.words = { json_span(json_object_get(error, "code")),
		           json_span(json_object_get(error, "type")) },
		.message = openai_error_message(error),
	};

	fault.status = fault_find_status(FAULT_OPENAI, status, error, fault.words[0]);
	if (!fault.status)
		fault.status = fault_find_status(FAULT_OPENAI, 0, NULL, fault.words[1]);
	/* Refused by moderation, not for the key. */
	if (fault.status == 403 &&
	    json_object_get(json_object_get(error, "metadata"), "reasons"))
		fault.status = 400;
	*delay_s = fault_delay(fault.message);
	return fault_set(&fault, err);
}

/* ---- the list of models ---- */

/* OpenRouter; Groq; Mistral; vLLM; llama.cpp; LM Studio; Together. */
uint64_t openai_listed_context(const json_t *model)
{
	static const char *const members[] = { "context_length", "context_window",
	                                       "max_context_length", "max_model_len",
	                                       "loaded_context_length", "max_input_tokens" };
	uint64_t found = wire_count(json_object_get(model, "meta"), "n_ctx");

	for (size_t i = 0; i < ARRAY_LEN(members) && !found; i++)
		found = wire_count(model, members[i]);
	return found;
}

bool openai_list_build(const struct model_options *options, struct wire_request *ret)
{
	wire_endpoint(&ret->url, options->base_url, "/models");
	openai_headers(options, ret);
	return true;
}

void openai_list_read(const json_t *answer, json_t *list)
{
	const json_t *models = json_is_array(answer) ? answer : json_object_get(answer, "data");
	const json_t *model;
	size_t i;

	json_array_foreach(models, i, model)
		wire_list_add(list, json_span(json_object_get(model, "id")),
		              openai_listed_context(model));
}
