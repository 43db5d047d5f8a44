/* SPDX-License-Identifier: Apache-2.0 */
/* Responses: the request. Source: OpenAI's API reference, "Create a model response".
 *
 * Nothing is kept at the provider (store: false): reasoning comes encrypted, and goes back with the
 * conversation. */
#include <string.h>

#include "data/json.h"
#include "model/openai/openai.h"
#include "model/openai/responses.h"

static json_t *tool_of(const json_t *tool)
{
	json_t *function = json_pack("{s:s, s:O, s:o, s:b}", "type", "function", "name",
	                             json_object_get(tool, "name"), "parameters",
	                             wire_parameters(tool), "strict", 0);
	json_t *description = json_object_get(tool, "description");

	if (json_string_length(description))
		json_object_set(function, "description", description);
	return function;
}

static json_t *choice_of(const struct model_request *request)
{
	json_t *tools;
	const json_t *name;
	size_t i;

	if (request->tool_mode == MODEL_TOOLS_NONE)
		return json_string("none");
	if (!request->allowed_tools)
		return json_string("required");
	tools = json_array();
	json_array_foreach(request->allowed_tools, i, name)
		json_array_append_new(tools, json_pack("{s:s, s:O}", "type", "function", "name",
		                                       name));
	return json_pack("{s:s, s:s, s:o}", "type", "allowed_tools", "mode", "required", "tools",
	                 tools);
}

/* google_search is what hasp calls a search of the web that the provider does. */
static bool add_server_tools(json_t *tools, const struct model_request *request, struct err *err)
{
	const json_t *name;
	size_t i;

	json_array_foreach(request->server_tools, i, name) {
		if (!span_eq(json_span(name), SPAN("google_search")))
			return wire_no_tool("OpenAI", name, err);
		json_array_append_new(tools, json_pack("{s:s}", "type", "web_search"));
	}
	return true;
}

static bool add_tools(json_t *body, const struct model_request *request, struct err *err)
{
	json_t *tools = json_array();
	const json_t *tool;
	size_t i;
	bool ok;

	json_array_foreach(request->tools, i, tool)
		json_array_append_new(tools, tool_of(tool));
	if (json_array_size(tools) && request->tool_mode != MODEL_TOOLS_AUTO)
		json_object_set_new(body, "tool_choice", choice_of(request));
	ok = add_server_tools(tools, request, err);
	if (json_array_size(tools))
		json_object_set(body, "tools", tools);
	json_decref(tools);
	return ok;
}

static void add_reasoning(json_t *body, const struct openai_model *model,
                          const struct model_request *request)
{
	const char *effort = openai_effort(model, request);
	json_t *reasoning = json_pack("{s:s}", "summary", "auto");

	if (effort)
		json_object_set_new(reasoning, "effort", json_string(effort));
	json_object_set_new(body, "reasoning", reasoning);
	json_object_set_new(body, "include", json_pack("[s]", "reasoning.encrypted_content"));
}

static void add_format(json_t *body, const struct model_request *request)
{
	json_t *format = openai_answer_schema(request);

	json_object_set_new(format, "type", json_string("json_schema"));
	json_object_set_new(body, "text", json_pack("{s:o}", "format", format));
}

static json_t *body_of(const struct model_options *options, const struct model_request *request)
{
	const struct openai_model *model = openai_model_of(options->name);
	json_t *body = json_pack("{s:o, s:o, s:b, s:b}", "model", json_cstr(options->name), "input",
	                         responses_input(request, model->reasons), "stream", 1, "store", 0);

	if (request->system.len)
		json_object_set_new(body, "instructions", json_text(request->system));
	if (model->reasons)
		add_reasoning(body, model, request);
	if (!model->reasons && request->temperature >= 0)
		json_object_set_new(body, "temperature", json_real(request->temperature));
	if (!model->reasons && request->top_p >= 0)
		json_object_set_new(body, "top_p", json_real(request->top_p));
	if (request->answer_schema)
		add_format(body, request);
	if (request->max_output_tokens)
		json_object_set_new(body, "max_output_tokens",
		                    json_integer(request->max_output_tokens < 16 ?
		                                         16 :
		                                         request->max_output_tokens));
	if (request->session_id)
		json_object_set_new(body, "prompt_cache_key",
		                    wire_session_key(request->session_id, OPENAI_KEY_CHARACTERS));
	return body;
}

static bool build(const struct model_options *options, const struct model_request *request,
                  bool count_only, struct wire_request *ret, struct err *err)
{
	const char *base = options->base_url ? options->base_url :
	                                       format_openai_responses.default_base;
	json_t *body;

	if (count_only)
		return err_set(err, ERR_INVALID_ARGUMENT, "Responses count no tokens.");
	body = body_of(options, request);
	if (!add_tools(body, request, err)) {
		json_decref(body);
		return false;
	}
	wire_endpoint(&ret->url, base, "/responses");
	openai_headers(options, ret);
	return wire_body(ret, body, err);
}

const struct provider_format format_openai_responses = {
	.name = "openai-responses",
	.default_base = "https://api.openai.com/v1",
	.build = build,
	.reader_new = responses_reader_new,
	.reader_event = responses_reader_event,
	.reader_end = responses_reader_end,
	.reader_free = responses_reader_free,
	.error = openai_error,
	.context_tokens = openai_context_tokens,
};
