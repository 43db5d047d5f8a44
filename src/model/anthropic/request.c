/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: the request. Source: platform.claude.com/docs, "Create a Message", "Count tokens in a
 * Message", "Claude on Vertex AI", "Tool search tool".
 *
 * To add a model: a row in its table. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/anthropic/anthropic.h"
#include "model/part.h"

/* ---- models ------------------------------------------------------------------ */

/* Anthropic's models, and what a request to one of them does about thinking.
 * Source: platform.claude.com/docs, "Models overview", "Adaptive thinking", "Extended thinking" and
 * the migration guides of each model. */

/* How a model thinks. */
enum claude_thinking {
	CLAUDE_PLAIN,    /* not at all */
	CLAUDE_BUDGET,   /* "enabled" with budget_tokens */
	CLAUDE_ADAPTIVE, /* "adaptive", off unless asked for */
	CLAUDE_ON,       /* "adaptive", on unless "disabled" */
	CLAUDE_BETWEEN,  /* "adaptive", on; the least is "between_tools" */
	CLAUDE_ALWAYS,   /* "adaptive", cannot be turned off */
};

struct claude_model {
	const char *part;     /* of the name; "" is the last row: any other model */
	enum claude_thinking thinking;
	unsigned max_output;  /* tokens, thoughts included */
	uint64_t context;     /* tokens; 0: not known */
	bool effort;          /* takes output_config.effort */
	bool sampling;        /* takes temperature, top_p, top_k */
	bool schema;          /* takes output_config.format */
	bool interleaved;     /* thinks between calls when a beta header asks for it */
	bool forced;          /* takes a tool_choice that forces a call */
	bool loads;           /* takes defer_loading and tool_reference */
};

/* Tokens of an answer. */
enum { K4 = 4096, K8 = 8192, K32 = 32000, K64 = 64000, K128 = 128000 };
/* And of a context. */
enum { SMALL = 200000, LARGE = 1000000 };

/* The first row whose part is in the name counts: newer ones stand before those whose names are
 * the beginnings of theirs. */
static const struct claude_model table[] = {
	/* part, thinking, max_output, context,
	 * effort, sampling, schema, interleaved, forced, loads */
	{ "claude-fable", CLAUDE_ALWAYS, K128, LARGE, true, false, true, false, false, true },
	{ "claude-mythos", CLAUDE_ALWAYS, K128, LARGE, true, false, true, false, false, true },
	{ "claude-opus-5-5", CLAUDE_ALWAYS, K128, LARGE, true, false, true, false, false, true },
	{ "claude-opus-5", CLAUDE_ON, K128, LARGE, true, false, true, false, true, true },
	{ "claude-sonnet-5-5", CLAUDE_BETWEEN, K128, LARGE, true, false, true, false, false, true },
	{ "claude-sonnet-5", CLAUDE_ON, K128, LARGE, true, false, true, false, true, true },
	{ "claude-haiku-5", CLAUDE_ON, K128, LARGE, true, false, true, false, true, true },
	{ "claude-opus-4-8", CLAUDE_ADAPTIVE, K128, LARGE, true, false, true, false, true, true },
	{ "claude-opus-4-7", CLAUDE_ADAPTIVE, K128, LARGE, true, false, true, false, true, true },
	{ "claude-opus-4-6", CLAUDE_ADAPTIVE, K128, LARGE, true, true, true, false, true, true },
	{ "claude-sonnet-4-6", CLAUDE_ADAPTIVE, K64, LARGE, true, true, true, false, true, true },
	{ "claude-opus-4-5", CLAUDE_BUDGET, K64, SMALL, true, true, true, true, true, true },
	{ "claude-sonnet-4-5", CLAUDE_BUDGET, K64, SMALL, false, true, true, true, true, true },
	{ "claude-haiku-4-5", CLAUDE_BUDGET, K64, SMALL, false, true, true, true, true, true },
	{ "claude-opus-4-1", CLAUDE_BUDGET, K32, SMALL, false, true, true, true, true, false },
	{ "claude-opus-4", CLAUDE_BUDGET, K32, SMALL, false, true, false, true, true, false },
	{ "claude-sonnet-4", CLAUDE_BUDGET, K64, SMALL, false, true, false, true, true, false },
	{ "claude-3-7-sonnet", CLAUDE_BUDGET, K64, SMALL, false, true, false, false, true, false },
	{ "claude-3-5", CLAUDE_PLAIN, K8, SMALL, false, true, false, false, true, false },
	{ "claude-3", CLAUDE_PLAIN, K4, SMALL, false, true, false, false, true, false },
	/* Models that are newer than this table think like the newest ones in it. */
	{ "claude-", CLAUDE_ALWAYS, K64, 0, true, false, true, false, false, true },
	/* Those of others who speak the format. */
	{ "", CLAUDE_BUDGET, K32, 0, false, true, false, false, true, false },
};

/* Never NULL. Names of Vertex and Bedrock are found too. */
static const struct claude_model *claude_model_of(const char *name)
{
	const struct claude_model *row = table;

	while (!strstr(name ? name : "", row->part))
		row++;
	return row;
}

static uint64_t claude_context_tokens(const char *name)
{
	return claude_model_of(name)->context;
}

/* What one request does, decided before it is written. */
struct claude_plan {
	const struct claude_model *model;
	unsigned max_tokens;
	const char *thinking;  /* the type; NULL: the member is left out */
	unsigned budget;       /* with "enabled" */
	const char *effort;    /* NULL: the default */
	bool show;             /* thinking.display "summarized" */
	bool force;            /* the model must make a call */
};

/* ---- thinking -------------------------------------------------------------------------------- */

enum { BUDGET_LEAST = 1024, BUDGET_LOW = 4096, BUDGET_MEDIUM = 12000, BUDGET_HIGH = 24000 };
enum { OUTPUT_USUAL = 64000, OUTPUT_LEAST = 8192 };

static bool is_thought(const json_t *block)
{
	struct span type = json_span(json_object_get(block, "type"));

	return span_eq(type, SPAN("thinking")) || span_eq(type, SPAN("redacted_thinking"));
}

/* With a budget, the API demands that a turn whose calls are being answered began with thinking;
 * one that another model began did not. */
static bool turn_began_without(const json_t *messages)
{
	for (size_t i = json_array_size(messages); i-- > 0;) {
		const json_t *message = json_array_get(messages, i), *block;
		const json_t *content = json_object_get(message, "content");
		size_t j;

		if (!span_eq(json_span(json_object_get(message, "role")), SPAN("assistant")))
			continue;
		json_array_foreach(content, j, block)
			if (span_eq(json_span(json_object_get(block, "type")), SPAN("tool_use")))
				return !is_thought(json_array_get(content, 0));
		return false;
	}
	return false;
}

static const char *effort_of(enum model_thinking thinking)
{
	if (thinking == MODEL_THINK_LOW || thinking == MODEL_THINK_OFF)
		return "low";
	return thinking == MODEL_THINK_MEDIUM ? "medium" :
	       thinking == MODEL_THINK_HIGH   ? "high" :
	                                        NULL;
}

static void plan_budget(struct claude_plan *plan, const struct model_request *request,
                        const json_t *messages)
{
	unsigned budget = request->thinking_tokens;

	if (request->thinking == MODEL_THINK_OFF ||
	    (request->thinking == MODEL_THINK_DEFAULT && !budget) || plan->force ||
	    turn_began_without(messages))
		return;
	if (!budget)
		budget = request->thinking == MODEL_THINK_LOW    ? BUDGET_LOW :
		         request->thinking == MODEL_THINK_MEDIUM ? BUDGET_MEDIUM :
		                                                   BUDGET_HIGH;
	/* Thoughts are a part of the longest length: the answer gets half of it. */
	if (budget > plan->max_tokens / 2)
		budget = plan->max_tokens / 2;
	if (budget < BUDGET_LEAST) {
		if (plan->max_tokens <= BUDGET_LEAST)
			return;
		budget = BUDGET_LEAST;
	}
	plan->thinking = "enabled";
	plan->budget = budget;
}

static void plan_adaptive(struct claude_plan *plan, const struct model_request *request)
{
	enum claude_thinking kind = plan->model->thinking;
	bool off = request->thinking == MODEL_THINK_OFF || plan->force;
	bool asked = request->thinking == MODEL_THINK_LOW ||
	             request->thinking == MODEL_THINK_MEDIUM ||
	             request->thinking == MODEL_THINK_HIGH || request->thinking_tokens;

	plan->effort = effort_of(request->thinking);
	if (off && kind == CLAUDE_BETWEEN) {
		plan->thinking = "between_tools";
	} else if (off && kind == CLAUDE_ON) {
		plan->thinking = "disabled";
	} else if ((off || !asked) && kind == CLAUDE_ADAPTIVE) {
		plan->effort = asked ? plan->effort : NULL;
	} else {
		plan->thinking = "adaptive";
		plan->show = true;
	}
}

/* The output for which there is room: some models reject a request if conversation and output
 * together exceed their context. */
static unsigned usual_output(const struct claude_model *model, const struct model_request *request)
{
	unsigned usual = model->max_output < OUTPUT_USUAL ? model->max_output : OUTPUT_USUAL;
	json_auto_t *tools = model_tools_before(request->tools);
	uint64_t input;

	if (!model->context || model->context > SMALL)
		return usual;
	input = content_estimate_tokens(request->contents) + content_estimate_tokens(tools) +
	        request->system.len / 4;
	if (input + usual <= model->context)
		return usual;
	if (input + OUTPUT_LEAST >= model->context)
		return usual < OUTPUT_LEAST ? usual : OUTPUT_LEAST;
	return (unsigned)(model->context - input) < usual ? (unsigned)(model->context - input) :
	                                                    usual;
}

static struct claude_plan plan_request(const struct model_options *options,
                                const struct model_request *request, const json_t *messages)
{
	struct claude_plan plan = { .model = claude_model_of(options->name) };
	unsigned most = plan.model->max_output;
	bool any = request->tool_mode == MODEL_TOOLS_ANY && json_array_size(request->tools);

	plan.max_tokens = request->max_output_tokens;
	if (!plan.max_tokens)
		plan.max_tokens = usual_output(plan.model, request);
	if (plan.max_tokens > most)
		plan.max_tokens = most;
	/* Forcing and thinking exclude each other. */
	plan.force = any && plan.model->forced;
	if (plan.model->thinking == CLAUDE_BUDGET)
		plan_budget(&plan, request, messages);
	else if (plan.model->thinking != CLAUDE_PLAIN)
		plan_adaptive(&plan, request);
	if (plan.model->thinking == CLAUDE_BUDGET && plan.model->effort)
		plan.effort = effort_of(request->thinking);
	return plan;
}

/* ---- conversation ------------------------------------------------------------ */

/* Messages: a conversation as content blocks, and where its cache breakpoints are.
 *
 * Results of calls come first in the user's message that follows the calls; the model's thinking
 * blocks are sent back unchanged and in place; no text is empty. */

struct anthropic_body {
	const struct claude_model *model;
	const json_t *tools;     /* of the request; NULL: none is loaded by reference */
	const char *loader;      /* of these, the one that loads */
	json_t *messages;        /* owned by the caller */
	json_t *content;         /* of the last message, borrowed */
	bool user;               /* whose it is */
	struct wire_calls calls;
};

static void anthropic_add_block(struct anthropic_body *building, bool user, json_t *block)
{
	if (!building->content || building->user != user) {
		building->content = json_array();
		building->user = user;
		json_array_append_new(building->messages,
		                      json_pack("{s:s, s:o}", "role", user ? "user" : "assistant",
		                                "content", building->content));
	}
	json_array_append_new(building->content, block);
}

static json_t *text_block(json_t *text)
{
	return json_pack("{s:s, s:o}", "type", "text", "text", text);
}

static bool is_picture(struct span type)
{
	return span_eq(type, SPAN("image/png")) || span_eq(type, SPAN("image/jpeg")) ||
	       span_eq(type, SPAN("image/gif")) || span_eq(type, SPAN("image/webp"));
}

static json_t *media_block(const struct wire_media *media)
{
	bool pdf = span_eq(media->type, SPAN("application/pdf"));

	if (!pdf && !is_picture(media->type))
		return text_block(wire_media_note(media));
	return json_pack("{s:s, s:{s:s, s:o, s:o}}", "type", pdf ? "document" : "image", "source",
	                 "type", "base64", "media_type", json_text(media->type), "data",
	                 json_text(media->data));
}

/* Whether the tool is declared as one that can be loaded. */
static bool is_deferred(const json_t *tools, const json_t *name)
{
	for (size_t i = json_array_size(tools); i-- > 0;) {
		const json_t *tool = json_array_get(tools, i);

		if (!wire_is_loading(tool, "deferred"))
			return false;
		if (json_equal(json_object_get(tool, "name"), name))
			return true;
	}
	return false;
}

/* What the model searched and is declared, as references, which stand alone in a result: the API
 * refuses one that has no such declaration. */
static void add_references(const struct anthropic_body *building, const json_t *response,
                           json_t *content)
{
	const json_t *found = json_object_get(json_object_get(response, "response"), "tools"), *one;
	size_t i;

	if (!wire_is_of(response, building->loader))
		return;
	json_array_foreach(found, i, one) {
		json_t *name = json_object_get(one, "name");

		if (is_deferred(building->tools, name))
			json_array_append_new(content, json_pack("{s:s, s:O}", "type",
			                                         "tool_reference", "tool_name",
			                                         name));
	}
}

static json_t *result_block(struct anthropic_body *building, const json_t *response)
{
	json_t *content = json_array(), *text = wire_response_text(response);
	json_t *block = json_pack("{s:s, s:o, s:o}", "type", "tool_result", "tool_use_id",
	                          wire_calls_answer(&building->calls, response), "content",
	                          content);
	struct wire_media media;
	const json_t *part;
	size_t i;

	add_references(building, response, content);
	if (!json_array_size(content) && span_trim(json_span(text)).len)
		json_array_append_new(content, text_block(json_incref(text)));
	json_decref(text);
	json_array_foreach(json_object_get(response, "parts"), i, part)
		if (wire_media(part, &media))
			json_array_append_new(content, media_block(&media));
	if (wire_response_failed(response))
		json_object_set_new(block, "is_error", json_true());
	return block;
}

static void anthropic_add_user(void *data, const json_t *content)
{
	struct anthropic_body *building = data;
	const json_t *parts = json_object_get(content, "parts");
	struct wire_media media;
	const json_t *part;
	size_t i;

	json_array_foreach(parts, i, part)
		if (part_get_response(part))
			anthropic_add_block(building, true,
			                    result_block(building, part_get_response(part)));
	json_array_foreach(parts, i, part) {
		struct span text = part_get_text(part);

		if (wire_media(part, &media))
			anthropic_add_block(building, true, media_block(&media));
		else if (span_trim(text).len)
			anthropic_add_block(building, true, text_block(json_text(text)));
	}
	/* Nothing that can be said is still the user's turn. */
	if (!building->content || !building->user)
		anthropic_add_block(building, true, text_block(json_string("(empty)")));
}

/* A block as it came, or NULL: the thinking of another model is not for this one. */
static json_t *own_block(const struct anthropic_body *building, const json_t *part,
                         const json_t *own)
{
	const char *from = json_string_value(json_object_get(own, "model"));
	json_t *signature = json_object_get(own, "signature");
	json_t *block = json_object_get(own, "block");

	if (from && claude_model_of(from) != building->model)
		return NULL;
	if (json_is_object(block))
		return json_incref(block);
	if (!json_is_string(signature))
		return NULL;
	return json_pack("{s:s, s:o, s:O}", "type", "thinking", "thinking",
	                 json_text(json_span(json_object_get(part, "text"))), "signature",
	                 signature);
}

static json_t *call_block(struct anthropic_body *building, const json_t *call)
{
	json_t *args = json_object_get(call, "args");

	return json_pack("{s:s, s:o, s:o, s:o}", "type", "tool_use", "id",
	                 wire_calls_add(&building->calls, call), "name",
	                 json_text(json_span(json_object_get(call, "name"))), "input",
	                 json_is_object(args) ? json_incref(args) : json_object());
}

static void anthropic_add_assistant(void *data, const json_t *content)
{
	struct anthropic_body *building = data;
	const json_t *part;
	size_t i;

	json_array_foreach(json_object_get(content, "parts"), i, part) {
		const json_t *own = wire_own(part, format_anthropic.name);
		json_t *block = own ? own_block(building, part, own) : NULL;
		struct span text = part_get_text(part);

		if (block)
			anthropic_add_block(building, false, block);
		else if (part_get_call(part))
			anthropic_add_block(building, false,
			                    call_block(building, part_get_call(part)));
		else if (span_trim(text).len)
			anthropic_add_block(building, false, text_block(json_text(text)));
	}
}

static json_t *anthropic_messages(const struct claude_model *model,
                                  const struct model_request *request, const json_t *deferred)
{
	struct anthropic_body building =
		{ .model = model, .messages = json_array(), .tools = deferred,
	                             .loader = wire_loader(deferred),
	                             .calls = { .rule = WIRE_ID_WORD } };

	wire_conversation(request->contents, &building.calls, &building, anthropic_add_user,
	                  anthropic_add_assistant);
	return building.messages;
}

/* ---- the cache ------------------------------------------------------------------------------- */

/* A tool that is deferred is no part of the beginning, and takes none. */
static void mark_last(json_t *blocks)
{
	size_t count = json_array_size(blocks);
	json_t *last;

	while (count && json_object_get(json_array_get(blocks, count - 1), "defer_loading"))
		count--;
	last = json_array_get(blocks, count - 1);
	if (!last)
		return;
	json_object_set_new(last, "cache_control", json_pack("{s:s}", "type", "ephemeral"));
}

/* ---- request ----------------------------------------------------------------- */

static enum model_loading anthropic_loading(const struct model_options *options)
{
	const bool own = options->vertex || strstr(options->base_url, "//api.anthropic.com");

	return wire_loads(options, own && claude_model_of(options->name)->loads) ?
	               MODEL_LOADS_DECLARED :
	               MODEL_LOADS_NOTHING;
}

/* The request's tools, if they are loaded by the provider now: not where it has to call one of a
 * few. */
static const json_t *loading_tools(const struct model_options *options,
                                   const struct model_request *request)
{
	const bool few = request->tool_mode == MODEL_TOOLS_ANY && request->allowed_tools;

	return few || anthropic_loading(options) == MODEL_LOADS_NOTHING ? NULL : request->tools;
}

static json_t *anthropic_tool(const json_t *tool)
{
	return wire_described(json_pack("{s:O, s:o}", "name", json_object_get(tool, "name"),
	                                "input_schema", wire_parameters(tool)), tool);
}

/* What runs at the provider, under the names that hasp's tools know. */
static const struct {
	const char *name, *type, *tool;
} server_tools[] = {
	{ "google_search", "web_search_20250305", "web_search" },
	{ "url_context", "web_fetch_20250910", "web_fetch" },
};

static bool anthropic_add_server_tools(json_t *tools, const struct model_request *request,
                                       struct err *err)
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

static json_t *anthropic_tool_choice(const struct claude_plan *plan, const json_t *tools,
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

/* What is called by name needs nothing to call it. */
static json_t *tools_before(const json_t *all, bool loads)
{
	json_t *before = model_tools_before(all), *own;
	size_t i;
	json_t *tool;

	if (!loads)
		return before;
	own = json_array();
	json_array_foreach(before, i, tool)
		if (!wire_is_loading(tool, "instead"))
			json_array_append(own, tool);
	json_decref(before);
	return own;
}

/* `loading`: loading_tools. */
static bool anthropic_add_tools(json_t *body, const struct claude_plan *plan,
                                const struct model_request *request, const json_t *loading,
                                struct err *err)
{
	bool any = request->tool_mode == MODEL_TOOLS_ANY;
	const json_t *allowed = any ? request->allowed_tools : NULL;
	json_auto_t *before = tools_before(request->tools, loading);
	json_t *tools = wire_tools(before, allowed, anthropic_tool), *choice;
	bool ok;

	choice = json_array_size(tools) ? anthropic_tool_choice(plan, tools, request) : NULL;
	ok = anthropic_add_server_tools(tools, request, err);
	if (json_array_size(tools)) {
		/* After all others: these are no part of what stands before the conversation. */
		const json_t *tool;
		size_t i;

		json_array_foreach(loading, i, tool) {
			json_t *one;

			if (!wire_is_loading(tool, "deferred"))
				continue;
			one = anthropic_tool(tool);
			json_object_set_new(one, "defer_loading", json_true());
			json_array_append_new(tools, one);
		}
	}
	if (json_array_size(tools))
		json_object_set(body, "tools", tools);
	if (choice)
		json_object_set_new(body, "tool_choice", choice);
	json_decref(tools);
	return ok;
}

static void anthropic_add_system(json_t *body, const struct claude_plan *plan,
                                 const struct model_request *request)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);

	wire_system(&text, request, plan->model->schema);
	if (span_trim(buf_view(&text)).len)
		json_object_set_new(body, "system",
		                    json_pack("[{s:s, s:o}]", "type", "text", "text",
		                              json_text(buf_view(&text))));
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
static void anthropic_add_sampling(json_t *body, const struct claude_plan *plan,
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
static void add_url(struct wire_request *ret, const struct model_options *options)
{
	bool versioned = span_ends(wire_base(options->base_url), SPAN("/v1"));
	_cleanup_buf_ struct buf path = BUF_INIT(1024);

	if (options->vertex)
		buf_printf(&path, "/publishers/anthropic/models/%s:streamRawPredict",
		           options->name);
	else
		buf_str(&path, versioned ? "/messages" : "/v1/messages");
	wire_endpoint(&ret->url, options->base_url, path.data);
}

/* The longest metadata.user_id ("Create a Message"). */
enum { CLAUDE_USER_CHARACTERS = 256 };

static void add_answer_members(json_t *body, const struct claude_plan *plan,
                               const struct model_request *request)
{
	json_t *messages;
	unsigned left;

	json_object_set_new(body, "max_tokens", json_integer(plan->max_tokens));
	json_object_set_new(body, "stream", json_true());
	anthropic_add_sampling(body, plan, request);
	if (request->session_id)
		json_object_set_new(body, "metadata",
		                    json_pack("{s:o}", "user_id",
		                              wire_session_key(request->session_id,
		                                               CLAUDE_USER_CHARACTERS)));
	/* Puts breakpoints on the system text, the tools and the last two messages of the user. */
	messages = json_object_get(body, "messages");
	left = 2;
	mark_last(json_object_get(body, "system"));
	mark_last(json_object_get(body, "tools"));
	for (size_t i = json_array_size(messages); i-- > 0 && left > 0;) {
		json_t *message = json_array_get(messages, i);

		if (!span_eq(json_span(json_object_get(message, "role")), SPAN("user")))
			continue;
		mark_last(json_object_get(message, "content"));
		left--;
	}
}

static bool anthropic_build(const struct model_options *options,
                            const struct model_request *request,
                            struct wire_request *ret, struct err *err)
{
	const struct claude_model *model = claude_model_of(options->name);
	const json_t *loading = loading_tools(options, request);
	json_t *messages = anthropic_messages(model, request, loading);
	struct claude_plan plan = plan_request(options, request, messages);
	json_t *body = json_pack("{s:o}", "messages", messages);
	json_t *output;

	if (!options->vertex)
		json_object_set_new(body, "model", json_cstr(options->name));
	if (options->vertex)
		json_object_set_new(body, "anthropic_version", json_string("vertex-2023-10-16"));
	anthropic_add_system(body, &plan, request);
	if (!anthropic_add_tools(body, &plan, request, loading, err)) {
		json_decref(body);
		return false;
	}
	add_thinking(body, &plan);
	output = json_object();
	if (plan.effort)
		json_object_set_new(output, "effort", json_string(plan.effort));
	if (request->answer_schema && plan.model->schema)
		json_object_set_new(output, "format",
		                    json_pack("{s:s, s:o}", "type", "json_schema", "schema",
		                              wire_closed_schema(request->answer_schema)));
	if (json_object_size(output))
		json_object_set(body, "output_config", output);
	json_decref(output);
	add_answer_members(body, &plan, request);
	add_url(ret, options);
	add_headers(options, &plan, json_object_get(body, "tools") != NULL, ret);
	return wire_body(ret, body, err);
}

/* "Get a Model": platform.claude.com/docs/en/api/models/retrieve. */
static bool anthropic_limits_build(const struct model_options *options, struct wire_request *ret)
{
	const struct claude_plan plan = { .model = claude_model_of(options->name) };
	bool versioned = span_ends(wire_base(options->base_url), SPAN("/v1"));

	if (options->vertex || options->name[strcspn(options->name, "/?#%")])
		return false;
	wire_endpoint(&ret->url, options->base_url, versioned ? "/models/" : "/v1/models/");
	buf_str(&ret->url, options->name);
	add_headers(options, &plan, false, ret);
	return true;
}

static uint64_t anthropic_limits_read(const struct model_options *options, const json_t *answer)
{
	(void)options;
	return wire_count(answer, "max_input_tokens");
}

/* "List Models": platform.claude.com/docs/en/api/models/list. */
static bool anthropic_list_build(const struct model_options *options, struct wire_request *ret)
{
	const struct claude_plan plan = { .model = claude_model_of(options->name) };
	bool versioned = span_ends(wire_base(options->base_url), SPAN("/v1"));

	if (options->vertex)
		return false;
	wire_endpoint(&ret->url, options->base_url,
	              versioned ? "/models?limit=1000" : "/v1/models?limit=1000");
	add_headers(options, &plan, false, ret);
	return true;
}

static void anthropic_list_read(const json_t *answer, json_t *list)
{
	const json_t *model;
	size_t i;

	json_array_foreach(json_object_get(answer, "data"), i, model)
		wire_list_add(list, json_span(json_object_get(model, "id")),
		              wire_count(model, "max_input_tokens"));
}

const struct provider_format format_anthropic = {
	.name = "anthropic",
	.default_base = "https://api.anthropic.com/v1",
	.build = anthropic_build,
	.reader = &anthropic_reader,
	.error = anthropic_error,
	.context_tokens = claude_context_tokens,
	.takes_media = wire_takes_pdf,
	.loading = anthropic_loading,
	.limits_build = anthropic_limits_build,
	.limits_read = anthropic_limits_read,
	.list_build = anthropic_list_build,
	.list_read = anthropic_list_read,
};
