/* SPDX-License-Identifier: Apache-2.0 */
/* Chat completions: the request. Source: OpenAI's API reference, "Create chat completion". */
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "model/openai/chat.h"
#include "model/openai/openai.h"

static json_t *tool_of(const json_t *tool)
{
	json_t *function = json_pack("{s:O, s:o}", "name", json_object_get(tool, "name"),
	                             "parameters", wire_parameters(tool));
	json_t *description = json_object_get(tool, "description");

	if (json_string_length(description))
		json_object_set(function, "description", description);
	return json_pack("{s:s, s:o}", "type", "function", "function", function);
}

/* {"type": "allowed_tools", ...}: all tools stay declared, which keeps the cache. */
static json_t *allowed_choice(const struct model_request *request)
{
	json_t *tools = json_array();
	const json_t *name;
	size_t i;

	json_array_foreach(request->allowed_tools, i, name)
		json_array_append_new(tools, json_pack("{s:s, s:{s:O}}", "type", "function",
		                                       "function", "name", name));
	return json_pack("{s:s, s:{s:s, s:o}}", "type", "allowed_tools", "allowed_tools", "mode",
	                 "required", "tools", tools);
}

static void add_tools(json_t *body, const struct chat_traits *traits,
                      const struct model_request *request)
{
	bool any = request->tool_mode == MODEL_TOOLS_ANY;
	bool named = any && request->allowed_tools && traits->allowed_choice;
	const json_t *allowed = any && !named ? request->allowed_tools : NULL;
	json_t *tools = json_array();
	const json_t *tool;
	size_t i;

	json_array_foreach(request->tools, i, tool)
		if (wire_allowed(allowed, tool))
			json_array_append_new(tools, tool_of(tool));
	if (!json_array_size(tools)) {
		json_decref(tools);
		return;
	}
	json_object_set_new(body, "tools", tools);
	if (named)
		json_object_set_new(body, "tool_choice", allowed_choice(request));
	else if (request->tool_mode != MODEL_TOOLS_AUTO)
		json_object_set_new(body, "tool_choice", json_string(any ? "required" : "none"));
}

static void add_effort(json_t *body, const struct chat_traits *traits,
                       const struct openai_model *model, const struct model_request *request)
{
	const char *effort = openai_effort(model, request);

	if (!traits->effort || (traits->own_models && !model->reasons))
		return;
	if (traits->own_models && model->responses_tools && json_object_get(body, "tools"))
		effort = "none";
	if (!effort)
		return;
	if (strcmp(traits->effort, "nested") == 0)
		json_object_set_new(body, "reasoning", json_pack("{s:s}", "effort", effort));
	else
		json_object_set_new(body, "reasoning_effort", json_string(effort));
}

static void add_sampling(json_t *body, const struct chat_traits *traits,
                         const struct openai_model *model, const struct model_request *request)
{
	/* OpenAI's reasoning models refuse these. */
	if (traits->own_models && model->reasons)
		return;
	if (request->temperature >= 0)
		json_object_set_new(body, "temperature", json_real(request->temperature));
	if (request->top_p >= 0)
		json_object_set_new(body, "top_p", json_real(request->top_p));
	if (request->top_k > 0 && traits->top_k)
		json_object_set_new(body, "top_k", json_integer(request->top_k));
}

static void add_answer(json_t *body, const struct chat_traits *traits,
                       const struct model_request *request)
{
	if (!request->answer_schema)
		return;
	json_object_set_new(body, "response_format",
	                    traits->schema ?
	                            json_pack("{s:s, s:o}", "type", "json_schema", "json_schema",
	                                      openai_answer_schema(request)) :
	                            json_pack("{s:s}", "type", "json_object"));
}

static json_t *body_of(const struct model_options *options, const struct model_request *request)
{
	const struct chat_traits *traits = chat_traits_of(options);
	const struct openai_model *model = openai_model_of(options->name);
	json_t *body = json_pack("{s:o, s:o, s:b}", "model", json_cstr(options->name), "messages",
	                         chat_messages(traits, options, request), "stream", 1);

	if (!traits->counts_anyway)
		json_object_set_new(body, "stream_options",
		                    json_pack("{s:b}", "include_usage", 1));
	add_tools(body, traits, request);
	add_effort(body, traits, model, request);
	add_sampling(body, traits, model, request);
	add_answer(body, traits, request);
	if (request->max_output_tokens)
		json_object_set_new(body,
		                    traits->new_limit ? "max_completion_tokens" : "max_tokens",
		                    json_integer(request->max_output_tokens));
	if (request->session_id && traits->cache_key)
		json_object_set_new(body, "prompt_cache_key",
		                    wire_session_key(request->session_id, OPENAI_KEY_CHARACTERS));
	return body;
}

static bool build(const struct model_options *options, const struct model_request *request,
                  bool count_only, struct wire_request *ret, struct err *err)
{
	const char *base = options->base_url ? options->base_url : format_openai_chat.default_base;

	if (count_only)
		return err_set(err, ERR_INVALID_ARGUMENT, "Chat completions count no tokens.");
	if (json_array_size(request->server_tools))
		return wire_no_tool("This server", json_array_get(request->server_tools, 0), err);
	wire_endpoint(&ret->url, base, "/chat/completions");
	openai_headers(options, ret);
	return wire_body(ret, body_of(options, request), err);
}

/* The list of models, in which many servers say how long a conversation may be; OpenAI's own does not. */
static bool limits_build(const struct model_options *options, struct wire_request *ret)
{
	const char *base = options->base_url ? options->base_url : format_openai_chat.default_base;

	if (chat_traits_of(options)->own_models)
		return false;
	wire_endpoint(&ret->url, base, "/models");
	openai_headers(options, ret);
	return true;
}

/* OpenRouter; Groq; Mistral; vLLM; llama.cpp; LM Studio; Together. */
static uint64_t limit_of(const json_t *model)
{
	static const char *const members[] = { "context_length", "context_window",
	                                       "max_context_length", "max_model_len",
	                                       "loaded_context_length", "max_input_tokens" };
	uint64_t found = wire_count(json_object_get(model, "meta"), "n_ctx");

	for (size_t i = 0; i < ARRAY_LEN(members) && !found; i++)
		found = wire_count(model, members[i]);
	return found;
}

static uint64_t limits_read(const struct model_options *options, const json_t *answer)
{
	const json_t *list = json_is_array(answer) ? answer : json_object_get(answer, "data");
	const json_t *model;
	size_t i;

	json_array_foreach(list, i, model)
		if (span_eq(json_span(json_object_get(model, "id")), span_str(options->name)))
			return limit_of(model);
	return 0;
}

const struct provider_format format_openai_chat = {
	.name = "openai",
	.default_base = "https://api.openai.com/v1",
	.build = build,
	.reader_new = chat_reader_new,
	.reader_event = chat_reader_event,
	.reader_end = chat_reader_end,
	.reader_free = chat_reader_free,
	.error = openai_error,
	.context_tokens = openai_context_tokens,
	.limits_build = limits_build,
	.limits_read = limits_read,
};
