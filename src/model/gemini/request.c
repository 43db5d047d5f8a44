/* SPDX-License-Identifier: Apache-2.0 */
/* generateContent and countTokens as requests. */
#include "base/mem.h"
#include "data/json.h"
#include "model/gemini/gemini.h"
#include "model/wire.h"

/* ---- address and key -------------------------------------------------------------------------- */

static void put_escaped(struct buf *out, const char *text)
{
	for (; *text; text++)
		if (strchr("-._~", *text) || (*text >= '0' && *text <= '9') ||
		    (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z'))
			buf_char(out, *text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
}

void gemini_model_url(const struct model_options *options, struct buf *url)
{
	struct span base = span_str(options->base_url);
	const char *name = options->name;

	while (span_ends(base, SPAN("/")))
		base.len--;
	buf_span(url, base);
	buf_str(url, options->vertex ? "/publishers/google/models/" : "/models/");
	if (strncmp(name, "models/", 7) == 0)
		name += 7;
	put_escaped(url, name);
}

static void put_url(const struct model_options *options, bool count_only, struct buf *url)
{
	gemini_model_url(options, url);
	buf_str(url, count_only ? ":countTokens" : ":streamGenerateContent?alt=sse");
}

void gemini_key(const struct model_options *options, struct wire_request *ret)
{
	if (options->api_key && options->bearer)
		wire_header(ret, "Authorization: Bearer %s", options->api_key);
	else if (options->api_key)
		wire_header(ret, "x-goog-api-key: %s", options->api_key);
}

/* ---- tools ------------------------------------------------------------------------------------ */

static const struct server_tool {
	const char *name, *member;
} server_tools[] = {
	{ "google_search", "googleSearch" },
	{ "url_context", "urlContext" },
	{ "code_execution", "codeExecution" },
};

static const char *server_tool_member(const json_t *name)
{
	for (size_t i = 0; i < ARRAY_LEN(server_tools); i++)
		if (span_eq(json_span(name), span_str(server_tools[i].name)))
			return server_tools[i].member;
	return NULL;
}

static json_t *declarations(const json_t *tools)
{
	json_t *list = json_array();
	const json_t *tool;
	size_t i;

	json_array_foreach(tools, i, tool) {
		const json_t *parameters = json_object_get(tool, "parameters");
		json_t *one = json_pack("{s:O, s:O}", "name", json_object_get(tool, "name"),
		                        "description", json_object_get(tool, "description"));

		if (one && json_object_size(json_object_get(parameters, "properties")))
			json_object_set_new(one, "parametersJsonSchema", gemini_schema(parameters));
		if (one)
			json_array_append_new(list, one);
	}
	return list;
}

static bool put_tools(const struct model_request *request, json_t *body, struct err *err)
{
	json_t *tools = json_array();
	const json_t *name;
	size_t i;

	if (json_array_size(request->tools))
		json_array_append_new(tools, json_pack("{s:o}", "functionDeclarations",
		                                       declarations(request->tools)));
	json_array_foreach(request->server_tools, i, name) {
		const char *member = server_tool_member(name);

		if (member && !json_array_size(request->tools)) {
			json_array_append_new(tools, json_pack("{s:{}}", member));
			continue;
		}
		json_decref(tools);
		return member ? err_set(err, ERR_INVALID_ARGUMENT,
		                        "Gemini takes its own tools and functions not together.") :
		                err_set(err, ERR_INVALID_ARGUMENT, "Gemini has no tool %.64s.",
		                        json_is_string(name) ? json_string_value(name) : "");
	}
	if (json_array_size(tools))
		json_object_set(body, "tools", tools);
	json_decref(tools);
	return true;
}

static void put_tool_mode(const struct model_request *request, json_t *body)
{
	static const char *const modes[] = {
		[MODEL_TOOLS_AUTO] = "AUTO", [MODEL_TOOLS_ANY] = "ANY", [MODEL_TOOLS_NONE] = "NONE",
	};
	json_t *config;

	if (!json_array_size(request->tools) || request->tool_mode == MODEL_TOOLS_AUTO)
		return;
	config = json_pack("{s:s}", "mode", modes[request->tool_mode]);
	if (request->tool_mode == MODEL_TOOLS_ANY && json_array_size(request->allowed_tools))
		json_object_set(config, "allowedFunctionNames", (json_t *)request->allowed_tools);
	json_object_set_new(body, "toolConfig",
	                    json_pack("{s:o}", "functionCallingConfig", config));
}

/* ---- generationConfig ------------------------------------------------------------------------- */

/* Tokens to think with, for each of enum model_thinking, and what the family allows. */
static const struct budget {
	enum gemini_family family;
	unsigned by_default, off, low, medium, high, least, most;
} budgets[] = {
	{ GEMINI_25_PRO, 8192, 128, 1024, 8192, 32768, 128, 32768 },
	{ GEMINI_25_FLASH, 8192, 0, 1024, 8192, 24576, 1, 24576 },
	{ GEMINI_25_FLASH_LITE, 8192, 0, 1024, 8192, 24576, 512, 24576 },
};

static unsigned wanted_budget(const struct budget *row, const struct model_request *request)
{
	switch (request->thinking) {
	case MODEL_THINK_OFF:
		return row->off;
	case MODEL_THINK_LOW:
		return row->low;
	case MODEL_THINK_MEDIUM:
		return row->medium;
	case MODEL_THINK_HIGH:
		return row->high;
	default:
		return row->by_default;
	}
}

/* Thoughts count as output (ai.google.dev/gemini-api/docs/thinking): the answer gets half of the longest
 * length, or thoughts could use it up. */
static unsigned within_half(unsigned budget, const struct model_request *request)
{
	unsigned half = request->max_output_tokens / 2;

	return half && budget > half ? half : budget;
}

static unsigned budget_of(const struct budget *row, const struct model_request *request)
{
	unsigned budget = wanted_budget(row, request), most;

	if (request->thinking != MODEL_THINK_OFF && request->thinking_tokens)
		budget = request->thinking_tokens < row->least ? row->least :
		         request->thinking_tokens > row->most  ? row->most :
		                                                 request->thinking_tokens;
	most = within_half(budget, request);
	return most == budget || most >= row->least ? most : row->off;
}

static json_t *thinking_config(const char *name, enum gemini_family family,
                               const struct model_request *request)
{
	json_t *config = json_pack("{s:b}", "includeThoughts", request->thinking != MODEL_THINK_OFF);

	for (size_t i = 0; i < ARRAY_LEN(budgets); i++)
		if (budgets[i].family == family)
			json_object_set_new(config, "thinkingBudget",
			                    json_integer(budget_of(&budgets[i], request)));
	if (gemini_signs(family) && request->thinking_tokens && request->thinking != MODEL_THINK_OFF)
		json_object_set_new(config, "thinkingBudget",
		                    json_integer(within_half(request->thinking_tokens, request)));
	else if (gemini_signs(family))
		json_object_set_new(config, "thinkingLevel",
		                    json_string(gemini_level(name, request->thinking)));
	return config;
}

static void put_generation(const char *name, const struct model_request *request, json_t *body)
{
	enum gemini_family family = gemini_family_of(name);
	json_t *config = json_object();

	if (request->temperature >= 0)
		json_object_set_new(config, "temperature", json_real(request->temperature));
	if (request->top_p >= 0)
		json_object_set_new(config, "topP", json_real(request->top_p));
	if (request->top_k > 0)
		json_object_set_new(config, "topK", json_integer(request->top_k));
	if (request->max_output_tokens)
		json_object_set_new(config, "maxOutputTokens",
		                    json_integer(request->max_output_tokens));
	if (request->answer_schema) {
		json_object_set_new(config, "responseMimeType", json_string("application/json"));
		json_object_set_new(config, "responseJsonSchema",
		                    gemini_schema(request->answer_schema));
	}
	if (family != GEMINI_OTHER)
		json_object_set_new(config, "thinkingConfig", thinking_config(name, family, request));
	if (json_object_size(config))
		json_object_set(body, "generationConfig", config);
	json_decref(config);
}

/* ---- the whole -------------------------------------------------------------------------------- */

/* The Gemini API counts a whole request that is wrapped; Vertex takes its members as they are. */
static json_t *wrap_for_counting(const struct model_options *options, json_t *body)
{
	_cleanup_free_ char *name = NULL;

	if (options->vertex)
		return body;
	name = strncmp(options->name, "models/", 7) == 0 ? mem_strdup(options->name) :
	                                                   mem_printf("models/%s", options->name);
	json_object_set_new(body, "model", json_cstr(name));
	return json_pack("{s:o}", "generateContentRequest", body);
}

bool gemini_build(const struct model_options *options, const struct model_request *request,
                  bool count_only, struct wire_request *ret, struct err *err)
{
	enum gemini_family family = gemini_family_of(options->name);
	json_t *body = json_object();
	bool ok;

	put_url(options, count_only, &ret->url);
	gemini_key(options, ret);
	json_object_set_new(body, "contents", gemini_contents(request->contents, family));
	if (request->system.len)
		json_object_set_new(body, "systemInstruction",
		                    json_pack("{s:[o]}", "parts", part_text(request->system)));
	ok = put_tools(request, body, err);
	if (ok && !count_only) {
		put_tool_mode(request, body);
		put_generation(options->name, request, body);
	}
	if (count_only)
		body = wrap_for_counting(options, body);
	if (ok)
		return wire_body(ret, body, err);
	json_decref(body);
	return false;
}
