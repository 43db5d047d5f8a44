/* SPDX-License-Identifier: Apache-2.0 */
/* Gemini's row and families, and the requests: generateContent. */
#include "model/gemini/gemini.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "model/parameters.h"
#include "model/part.h"
#include "model/tool_fit.h"
#include "model/wire.h"

/* ---- families ----------------------------------------------------------------- */

enum gemini_family {
	GEMINI_OTHER, /* older, or no Gemini at all (Gemma): nothing is said about thinking */
	GEMINI_25_PRO,
	GEMINI_25_FLASH,
	GEMINI_25_FLASH_LITE,
	GEMINI_3_PRO,   /* 3 and later, and names without a number ("gemini-pro-latest") */
	GEMINI_3_FLASH,
};
/* Whether it signs its thoughts and requires them to be sent back. */
static bool gemini_signs(enum gemini_family family)
{
	return family == GEMINI_3_PRO || family == GEMINI_3_FLASH;
}

/* ---- contents ---------------------------------------------------------------- */

/* A conversation in Gemini's format.  Most parts are shared with the original; those that differ
 * are new values, and the original is not modified. */

/* What the validator of signatures takes for a call that never had one: from a conversation with
 * another model, or a call that was made up. */
#define NO_SIGNATURE "skip_thought_signature_validator"

static const char *const members[] = {
	"text", "thought", "thoughtSignature", "functionCall", "functionResponse", "inlineData",
	"fileData", "executableCode", "codeExecutionResult",
};
static const char *const call_members[] = { "id", "name", "args" };

static json_t *pick_members(const json_t *object, const char *const *names, size_t count)
{
	json_t *picked = json_object();

	for (size_t i = 0; i < count; i++) {
		json_t *value = json_object_get(object, names[i]);

		if (value)
			json_object_set(picked, names[i], value);
	}
	return picked;
}

/* Whether a part says anything to Gemini. */
static bool part_says_any(const json_t *part)
{
	const json_t *signature = json_object_get(part, "thoughtSignature");

	if (part_is_thought(part) && !signature)
		return false;
	if (json_object_get(part, "text"))
		return signature || json_span(json_object_get(part, "text")).len;
	for (size_t i = 3; i < sizeof(members) / sizeof(members[0]); i++)
		if (json_object_get(part, members[i]))
			return true;
	return false;
}

/* A response, with media inside where the family takes them so; what it does not is added after. */
static void gemini_add_response(json_t *parts, const json_t *response, enum gemini_family family)
{
	json_t *copy = json_copy((json_t *)response);
	json_t *media = json_object_get(copy, "parts"), *part;
	size_t i;

	if (!json_is_object(json_object_get(copy, "response")))
		json_object_set_new(copy, "response",
		                    json_pack("{s:O}", "output", json_object_get(copy, "response") ?
		                              json_object_get(copy, "response") : json_null()));
	json_incref(media);
	if (!gemini_signs(family))
		json_object_del(copy, "parts");
	json_array_append_new(parts, json_pack("{s:o}", "functionResponse", copy));
	if (!gemini_signs(family))
		json_array_foreach(media, i, part)
			json_array_append(parts, part);
	json_decref(media);
}

static void gemini_add_part(json_t *parts, const json_t *part, enum gemini_family family, bool sign)
{
	const json_t *call = part_get_call(part);
	json_t *copy;

	if (!part_says_any(part))
		return;
	if (part_get_response(part)) {
		gemini_add_response(parts, part_get_response(part), family);
		return;
	}
	copy = pick_members(part, members, sizeof(members) / sizeof(members[0]));
	if (call)
		json_object_set_new(copy, "functionCall", pick_members(call, call_members, 3));
	if (sign)
		json_object_set_new(copy, "thoughtSignature", json_string(NO_SIGNATURE));
	json_array_append_new(parts, copy);
}

/* Where the last turn begins: its first message is the last of the user's that is not responses
 * alone. Signatures of earlier turns are not asked for. */
static size_t last_turn(const json_t *contents)
{
	size_t i, j, begin = 0;
	const json_t *content, *part;

	json_array_foreach(contents, i, content) {
		if (!content_is_user(content))
			continue;
		bool responses = false;
		json_array_foreach(json_object_get(content, "parts"), j, part)
			responses |= part_get_response(part) != NULL;
		if (!responses)
			begin = i;
	}
	return begin;
}

/* The contents as this family takes them: a new reference. */
static json_t *gemini_contents(const json_t *contents, enum gemini_family family)
{
	size_t begin = last_turn(contents), i, j;
	json_t *out = json_array();
	const json_t *content, *part;

	json_array_foreach(contents, i, content) {
		bool first_call = i >= begin && gemini_signs(family);
		json_t *parts = json_array();

		json_array_foreach(json_object_get(content, "parts"), j, part) {
			bool sign = part_get_call(part) && first_call &&
			            !json_object_get(part, "thoughtSignature");

			if (part_get_call(part))
				first_call = false;
			gemini_add_part(parts, part, family, sign);
		}
		if (!json_array_size(parts))
			json_array_append_new(parts, part_text(SPAN("(nothing)")));
		json_array_append_new(out, json_pack("{s:s, s:o}", "role",
		                      content_is_user(content) ? "user" : "model", "parts", parts));
	}
	return out;
}

/* ---- families by name, levels, limits ------------------------------------------------- */

static enum gemini_family gemini_family_of(const char *model_name)
{
	const char *name = strstr(model_name, "gemini-");
	char *rest;
	double version;
	bool flash, lite;

	if (!name)
		return GEMINI_OTHER;
	flash = strstr(name, "flash") != NULL;
	lite = strstr(name, "flash-lite") != NULL;
	version = strtod(name + 7, &rest);
	if (rest == name + 7 || version >= 3)
		return flash ? GEMINI_3_FLASH : GEMINI_3_PRO;
	if (version < 2.5)
		return GEMINI_OTHER;
	return lite ? GEMINI_25_FLASH_LITE : flash ? GEMINI_25_FLASH : GEMINI_25_PRO;
}

/* The levels that a model takes; the first row whose parts are both in the name counts. Source:
 * ai.google.dev/gemini-api/docs/thinking and each model's page: 3.7 and 3.8 Flash answer MINIMAL
 * with an error. */
enum { LEVEL_MINIMAL = 1, LEVEL_MEDIUM = 2 };
static const struct {
	const char *version, *kind;
	unsigned levels; /* in addition to LOW and HIGH, which all have */
} levels[] = {
	{ "gemini-3-", "flash", LEVEL_MINIMAL | LEVEL_MEDIUM },
	{ "gemini-3.1-", "flash", LEVEL_MINIMAL | LEVEL_MEDIUM },
	{ "gemini-3.5-", "flash", LEVEL_MINIMAL | LEVEL_MEDIUM },
	{ "gemini-3.6-", "flash", LEVEL_MINIMAL | LEVEL_MEDIUM },
	{ "gemini-3-", "pro", 0 },
	/* 3.1 Pro, 3.7 and 3.8 Flash, and models that are newer than this table. */
	{ "", "", LEVEL_MEDIUM },
};

/* The level that comes nearest to what was asked, of those that the model takes. */
static const char *gemini_level(const char *model_name, enum model_thinking thinking)
{
	size_t i = 0;

	while (!strstr(model_name, levels[i].version) || !strstr(model_name, levels[i].kind))
		i++;
	if (thinking == MODEL_THINK_OFF && (levels[i].levels & LEVEL_MINIMAL))
		return "MINIMAL";
	if (thinking == MODEL_THINK_MEDIUM && (levels[i].levels & LEVEL_MEDIUM))
		return "MEDIUM";
	return thinking == MODEL_THINK_OFF || thinking == MODEL_THINK_LOW ? "LOW" : "HIGH";
}

static uint64_t gemini_context_tokens(const char *name)
{
	if (strstr(name, "gemma"))
		return strstr(name, "gemma-4") ? 262144 : 131072;
	return strstr(name, "gemini-") ? 1048576 : 0;
}

/* ---- address and key ---- */

static void put_url_escaped(struct buf *out, const char *text)
{
	for (; *text; text++)
		if (strchr("-._~", *text) || ascii_is_alnum(*text))
			buf_char(out, *text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
}

/* The model's address, without a method. */
static void gemini_model_url(const struct model_options *options, struct buf *url)
{
	const char *name = options->name;

	wire_endpoint(url, options->base_url,
	              options->vertex ? "/publishers/google/models/" : "/models/");
	if (strncmp(name, "models/", 7) == 0)
		name += 7;
	put_url_escaped(url, name);
}

static void gemini_key(const struct model_options *options, struct wire_request *ret)
{
	if (options->api_key && options->bearer)
		wire_header(ret, "Authorization: Bearer %s", options->api_key);
	else if (options->api_key)
		wire_header(ret, "x-goog-api-key: %s", options->api_key);
}

/* models.get: https://ai.google.dev/api/models. Vertex AI has nothing of the kind. */
static bool gemini_limits_build(const struct model_options *options, struct wire_request *ret)
{
	if (options->vertex)
		return false;
	gemini_model_url(options, &ret->url);
	gemini_key(options, ret);
	return true;
}

static uint64_t gemini_limits_read(const struct model_options *options, const json_t *answer)
{
	(void)options;
	return wire_count(answer, "inputTokenLimit");
}

/* models.list: https://ai.google.dev/api/models. */
static bool gemini_list_build(const struct model_options *options, struct wire_request *ret)
{
	if (options->vertex)
		return false;
	wire_endpoint(&ret->url, options->base_url, "/models?pageSize=1000");
	gemini_key(options, ret);
	return true;
}

static void gemini_list_read(const json_t *answer, json_t *list)
{
	const json_t *model, *method;
	size_t i, k;

	json_array_foreach(json_object_get(answer, "models"), i, model) {
		struct span name = json_span(json_object_get(model, "name"));
		bool generates = false;

		json_array_foreach(json_object_get(model, "supportedGenerationMethods"), k, method)
			generates |= span_eq(json_span(method), SPAN("generateContent"));
		if (span_starts(name, SPAN("models/")))
			name = span_skip(name, 7);
		if (generates)
			wire_list_add(list, name, wire_count(model, "inputTokenLimit"));
	}
}

/* ---- tools ---- */

static const struct gemini_server_tool {
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
		json_t *parameters = json_object_get(tool, "parameters");
		json_t *one = json_pack("{s:O, s:O}", "name", json_object_get(tool, "name"),
		                        "description", json_object_get(tool, "description"));

		if (one && json_object_size(json_object_get(parameters, "properties")))
			json_object_set(one, "parametersJsonSchema", parameters);
		if (one)
			json_array_append_new(list, one);
	}
	return list;
}

static bool gemini_put_tools(const struct model_request *request, json_t *body, struct err *err)
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
		                        "Gemini does not take its own tools and functions "
		                        "together.") :
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

/* ---- generationConfig ---- */

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

/* Thoughts count as output (ai.google.dev/gemini-api/docs/thinking): the answer gets half of the
 * longest length, or thoughts could use it up. */
static unsigned within_half(unsigned budget, const struct model_request *request)
{
	unsigned half = request->max_output_tokens / 2;

	return half && budget > half ? half : budget;
}

static unsigned thinking_budget(const struct budget *row, const struct model_request *request)
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
	json_t *config =
		json_pack("{s:b}", "includeThoughts", request->thinking != MODEL_THINK_OFF);

	for (size_t i = 0; i < ARRAY_LEN(budgets); i++)
		if (budgets[i].family == family)
			json_object_set_new(config, "thinkingBudget",
			                    json_integer(thinking_budget(&budgets[i], request)));
	if (gemini_signs(family) && request->thinking_tokens &&
	    request->thinking != MODEL_THINK_OFF)
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
	json_t *config = model_parameters_config(request);

	if (request->answer_schema) {
		json_object_set_new(config, "responseMimeType", json_string("application/json"));
		json_object_set_new(config, "responseJsonSchema",
		                    schema_fit_answer("gemini", request->answer_schema));
	}
	if (family != GEMINI_OTHER)
		json_object_set_new(config, "thinkingConfig",
		                    thinking_config(name, family, request));
	if (json_object_size(config))
		json_object_set(body, "generationConfig", config);
	json_decref(config);
}

/* ---- the whole ---- */

static bool gemini_build(const struct model_options *options, const struct model_request *request,
                  struct wire_request *ret, struct err *err)
{
	enum gemini_family family = gemini_family_of(options->name);
	json_t *body = json_object();
	bool ok;

	gemini_model_url(options, &ret->url);
	buf_str(&ret->url, ":streamGenerateContent?alt=sse");
	gemini_key(options, ret);
	json_object_set_new(body, "contents", gemini_contents(request->contents, family));
	if (request->system.len)
		json_object_set_new(body, "systemInstruction",
		                    json_pack("{s:[o]}", "parts", part_text(request->system)));
	ok = gemini_put_tools(request, body, err);
	if (ok) {
		put_tool_mode(request, body);
		put_generation(options->name, request, body);
	}
	if (ok)
		return wire_body(ret, body, err);
	json_decref(body);
	return false;
}

const struct provider_format format_gemini = {
	.name = "gemini",
	.default_base = "https://generativelanguage.googleapis.com/v1beta",
	.build = gemini_build,
	.reader = &gemini_reader,
	.error = gemini_error,
	.context_tokens = gemini_context_tokens,
	.limits_build = gemini_limits_build,
	.limits_read = gemini_limits_read,
	.list_build = gemini_list_build,
	.list_read = gemini_list_read,
};
