/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: the request. Source: platform.claude.com/docs, "Create a Message", "Count tokens in a
 * Message", "Claude on Vertex AI". */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/anthropic/anthropic.h"

static json_t *tool_of(const json_t *tool)
{
	json_t *declared = json_pack("{s:O, s:o}", "name", json_object_get(tool, "name"),
	                             "input_schema", wire_parameters(tool));
	json_t *description = json_object_get(tool, "description");

	if (json_string_length(description))
		json_object_set(declared, "description", description);
	return declared;
}

/* What runs at the provider, under the names that hasp's tools know. */
static const struct {
	const char *name, *type, *tool;
} server_tools[] = {
	{ "google_search", "web_search_20250305", "web_search" },
	{ "url_context", "web_fetch_20250910", "web_fetch" },
};

static bool add_server_tools(json_t *tools, const struct model_request *request, struct err *err)
{
	const json_t *name;
	size_t i, at;

	json_array_foreach(request->server_tools, i, name) {
		for (at = 0; at < ARRAY_LEN(server_tools); at++)
			if (span_eq(json_span(name), span_str(server_tools[at].name)))
				break;
		if (at == ARRAY_LEN(server_tools))
			return wire_no_tool("Anthropic", name, err);
		json_array_append_new(tools, json_pack("{s:s, s:s}", "type", server_tools[at].type,
		                                       "name", server_tools[at].tool));
	}
	return true;
}

static json_t *choice_of(const struct claude_plan *plan, const json_t *tools,
                         const struct model_request *request)
{
	if (request->tool_mode == MODEL_TOOLS_NONE)
		return json_pack("{s:s}", "type", "none");
	if (!plan->force)
		return NULL;
	if (json_array_size(tools) == 1)
		return json_pack("{s:s, s:O}", "type", "tool", "name",
		                 json_object_get(json_array_get(tools, 0), "name"));
	return json_pack("{s:s}", "type", "any");
}

static bool add_tools(json_t *body, const struct claude_plan *plan,
                      const struct model_request *request, struct err *err)
{
	bool any = request->tool_mode == MODEL_TOOLS_ANY;
	const json_t *allowed = any ? request->allowed_tools : NULL;
	json_t *tools = json_array(), *choice;
	const json_t *tool;
	size_t i;
	bool ok;

	json_array_foreach(request->tools, i, tool)
		if (wire_allowed(allowed, tool))
			json_array_append_new(tools, tool_of(tool));
	choice = json_array_size(tools) ? choice_of(plan, tools, request) : NULL;
	ok = add_server_tools(tools, request, err);
	if (json_array_size(tools))
		json_object_set(body, "tools", tools);
	if (choice)
		json_object_set_new(body, "tool_choice", choice);
	json_decref(tools);
	return ok;
}

static void add_system(json_t *body, const struct claude_plan *plan,
                       const struct model_request *request)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);

	buf_span(&text, request->system);
	if (request->answer_schema && !plan->model->schema) {
		buf_str(&text, "\n\nAnswer with one JSON value of this JSON Schema, and nothing "
		               "else:\n");
		json_print(&text, request->answer_schema, 0);
	}
	if (span_trim(buf_view(&text)).len)
		json_object_set_new(body, "system",
		                    json_pack("[{s:s, s:o}]", "type", "text", "text",
		                              json_text(buf_view(&text))));
}

static void add_output(json_t *body, const struct claude_plan *plan,
                       const struct model_request *request)
{
	json_t *output = json_object();

	if (plan->effort)
		json_object_set_new(output, "effort", json_string(plan->effort));
	if (request->answer_schema && plan->model->schema)
		json_object_set_new(output, "format",
		                    json_pack("{s:s, s:o}", "type", "json_schema", "schema",
		                              wire_strict_schema(request->answer_schema, false)));
	if (json_object_size(output))
		json_object_set(body, "output_config", output);
	json_decref(output);
}

static void add_thinking(json_t *body, const struct claude_plan *plan)
{
	json_t *thinking;

	if (!plan->thinking)
		return;
	thinking = json_pack("{s:s}", "type", plan->thinking);
	if (plan->budget)
		json_object_set_new(thinking, "budget_tokens", json_integer(plan->budget));
	if (plan->show)
		json_object_set_new(thinking, "display", json_string("summarized"));
	json_object_set_new(body, "thinking", thinking);
}

/* Thinking takes no sampling, and only one of temperature and top_p may be there. */
static void add_sampling(json_t *body, const struct claude_plan *plan,
                         const struct model_request *request)
{
	if (plan->thinking || !plan->model->sampling)
		return;
	if (request->temperature >= 0)
		json_object_set_new(body, "temperature",
		                    json_real(request->temperature > 1 ? 1 : request->temperature));
	else if (request->top_p >= 0)
		json_object_set_new(body, "top_p", json_real(request->top_p));
	if (request->top_k > 0)
		json_object_set_new(body, "top_k", json_integer(request->top_k));
}

static void add_headers(const struct model_options *options, const struct claude_plan *plan,
                        bool tools, struct wire_request *ret)
{
	if (!options->vertex)
		wire_header(ret, "anthropic-version: 2023-06-01");
	if (plan->budget && plan->model->interleaved && tools)
		wire_header(ret, "anthropic-beta: interleaved-thinking-2025-05-14");
	if (!options->api_key)
		return;
	if (options->bearer || options->vertex)
		wire_header(ret, "Authorization: Bearer %s", options->api_key);
	else
		wire_header(ret, "x-api-key: %s", options->api_key);
}

/* Vertex has the model in the address.  Elsewhere both ways to write the base are in use: with the
 * version, as hasp has it for all providers, and without, as Anthropic's own programs have it. */
static void add_url(struct wire_request *ret, const struct model_options *options, bool count_only)
{
	const char *base = options->base_url ? options->base_url : format_anthropic.default_base;
	struct span bare = span_str(base);
	_cleanup_buf_ struct buf path = BUF_INIT(1024);

	while (span_ends(bare, SPAN("/")))
		bare.len--;
	if (options->vertex)
		buf_printf(&path, "/publishers/anthropic/models/%s",
		           count_only ? "count-tokens:rawPredict" : options->name);
	else
		buf_str(&path, span_ends(bare, SPAN("/v1")) ? "/messages" : "/v1/messages");
	if (count_only && !options->vertex)
		buf_str(&path, "/count_tokens");
	if (!count_only && options->vertex)
		buf_str(&path, ":streamRawPredict");
	wire_endpoint(&ret->url, base, path.data);
}

/* What belongs to an answer, and not to a count. */
static void add_answer(json_t *body, const struct claude_plan *plan,
                       const struct model_request *request)
{
	json_object_set_new(body, "max_tokens", json_integer(plan->max_tokens));
	json_object_set_new(body, "stream", json_true());
	add_sampling(body, plan, request);
	if (request->session_id)
		json_object_set_new(body, "metadata",
		                    json_pack("{s:o}", "user_id",
		                              wire_session_key(request->session_id,
		                                               CLAUDE_USER_CHARACTERS)));
	claude_cache(body);
}

static bool build(const struct model_options *options, const struct model_request *request,
                  bool count_only, struct wire_request *ret, struct err *err)
{
	const struct claude_model *model = claude_model_of(options->name);
	json_t *messages = claude_messages(model, request->contents);
	struct claude_plan plan = claude_plan(options, request, messages);
	json_t *body = json_pack("{s:o}", "messages", messages);

	if (!options->vertex || count_only)
		json_object_set_new(body, "model", json_cstr(options->name));
	if (options->vertex)
		json_object_set_new(body, "anthropic_version", json_string("vertex-2023-10-16"));
	add_system(body, &plan, request);
	if (!add_tools(body, &plan, request, err)) {
		json_decref(body);
		return false;
	}
	add_thinking(body, &plan);
	add_output(body, &plan, request);
	if (!count_only)
		add_answer(body, &plan, request);
	add_url(ret, options, count_only);
	add_headers(options, &plan, json_object_get(body, "tools") != NULL, ret);
	return wire_body(ret, body, err);
}

static bool count(struct span body, uint64_t *ret, struct err *err)
{
	json_t *value, *tokens;
	bool ok;

	if (!json_parse(body, &value, err))
		return false;
	tokens = json_object_get(value, "input_tokens");
	ok = json_is_integer(tokens);
	if (ok)
		*ret = wire_count(value, "input_tokens");
	else
		err_set(err, ERR_MODEL_ERROR, "The answer to the request to count has no count.");
	json_decref(value);
	return ok;
}

/* "Get a Model": platform.claude.com/docs/en/api/models/retrieve. */
static bool limits_build(const struct model_options *options, struct wire_request *ret)
{
	const struct claude_plan plan = { .model = claude_model_of(options->name) };
	const char *base = options->base_url ? options->base_url : format_anthropic.default_base;
	struct span bare = span_str(base);

	if (options->vertex || options->name[strcspn(options->name, "/?#%")])
		return false;
	while (span_ends(bare, SPAN("/")))
		bare.len--;
	wire_endpoint(&ret->url, base, span_ends(bare, SPAN("/v1")) ? "/models/" : "/v1/models/");
	buf_str(&ret->url, options->name);
	add_headers(options, &plan, false, ret);
	return true;
}

static uint64_t limits_read(const struct model_options *options, const json_t *answer)
{
	(void)options;
	return wire_count(answer, "max_input_tokens");
}

const struct provider_format format_anthropic = {
	.name = "anthropic",
	.default_base = "https://api.anthropic.com/v1",
	.build = build,
	.reader_new = claude_reader_new,
	.reader_event = claude_reader_event,
	.reader_end = claude_reader_end,
	.reader_free = claude_reader_free,
	.error = claude_error,
	.count = count,
	.context_tokens = claude_context_tokens,
	.limits_build = limits_build,
	.limits_read = limits_read,
};
