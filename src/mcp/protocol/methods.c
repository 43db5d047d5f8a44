/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of the protocol, each with its parameters. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/schema.h"
#include "mcp/protocol/catalog.h"
#include "mcp/protocol/private.h"
#include "net/rpc/rpc.h"

/* ---- parameters -------------------------------------------------------------- */

static bool refuse_param(const struct param *rule, const char *what, struct refusal *refusal)
{
	return mcp_refuse(refusal, RPC_INVALID_PARAMS, "params.%s%s%s %s.",
	                  rule->parent ? rule->parent : "", rule->parent ? "." : "", rule->name,
	                  what);
}

static bool param_has_type(const json_t *value, enum param_type type)
{
	switch (type) {
	case PARAM_STRING:
		return json_is_string(value);
	case PARAM_OBJECT:
		return json_is_object(value);
	case PARAM_STRING_OR_INTEGER:
		return json_is_string(value) || json_is_integer(value);
	}
	return false;
}

static bool check_one(const json_t *value, const struct param *rule, struct refusal *refusal)
{
	static const char *const wanted[] = {
		[PARAM_STRING] = "a string",
		[PARAM_OBJECT] = "an object",
		[PARAM_STRING_OR_INTEGER] = "a string or an integer",
	};
	struct span text = json_span(value);
	char what[128];

	if (!value)
		return !rule->required || refuse_param(rule, "is missing", refusal);
	if (!param_has_type(value, rule->type)) {
		snprintf(what, sizeof(what), "must be %s, not %s", wanted[rule->type],
		         json_type_phrase(value));
		return refuse_param(rule, what, refusal);
	}
	if (text.len && memchr(text.data, '\0', text.len))
		return refuse_param(rule, "contains U+0000", refusal);
	return true;
}

/* -32602 with a sentence that names the member. Strings with U+0000 are refused: they are
 * handed on as C strings. `params` may be NULL: none were sent. */
static bool params_check(const json_t *params, const struct param *rules, struct refusal *refusal)
{
	for (const struct param *rule = rules; rule->name; rule++) {
		const json_t *object =
			rule->parent ? json_object_get(params, rule->parent) : params;
		const json_t *value = json_object_get(object, rule->name);

		if (rule->nullable && json_is_null(value))
			value = NULL;
		if ((object || !rule->parent) && !check_one(value, rule, refusal))
			return false;
	}
	return true;
}

/* ---- clients without a session ----------------------------------------------- */

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define META_CLIENT "io.modelcontextprotocol/clientInfo"
#define META_LEVEL "io.modelcontextprotocol/logLevel"

bool mcp_version_is_known(const char *version)
{
	return version && version_find(version);
}

bool mcp_message_is_stateless(const struct rpc_message *message)
{
	const json_t *params = message->kind <= RPC_NOTIFICATION ? message->body : NULL;
	const json_t *name = json_object_get(json_object_get(params, "_meta"), META_VERSION);
	const struct version *version;

	if (!name)
		return false;
	version = json_is_string(name) ? version_find(json_string_value(name)) : NULL;
	return !version || version->stateless;
}

static bool unsupported(const char *requested, struct refusal *refusal)
{
	json_t *supported = json_array();

	for (size_t i = 0; version_at(i); i++)
		json_array_append_new(supported, json_cstr(version_at(i)->name));
	mcp_refuse(refusal, MCP_UNSUPPORTED_VERSION, "Unsupported protocol version: %s", requested);
	refusal->data = json_pack("{s:o,s:s}", "supported", supported, "requested", requested);
	return false;
}

static bool read_log_level(struct mcp_call *call, const json_t *meta, struct refusal *refusal)
{
	const char *name = json_string_value(json_object_get(meta, META_LEVEL));

	if (!name)
		return true;
	call->log_level = mcp_level_find(name);
	return call->log_level >= 0 ||
	       mcp_refuse(refusal, RPC_INVALID_PARAMS,
	                  "params._meta." META_LEVEL " must be one of " LEVEL_NAMES ".");
}

/* Sets version, client and log_level of the call from its params._meta, and checks the headers
 * that go with them. */
static bool stateless_open(struct mcp_call *call, struct refusal *refusal)
{
	static const struct param rules[] = {
		{ NULL, "_meta", PARAM_OBJECT, true, false },
		{ "_meta", META_VERSION, PARAM_STRING, true, false },
		{ "_meta", META_CAPABILITIES, PARAM_OBJECT, true, false },
		{ "_meta", META_CLIENT, PARAM_OBJECT, false, false },
		{ "_meta", META_LEVEL, PARAM_STRING, false, false },
		{ 0 },
	};
	const json_t *meta = json_object_get(call->params, "_meta");
	const char *name;

	if (!params_check(call->params, rules, refusal))
		return false;
	name = json_string_value(json_object_get(meta, META_VERSION));
	if (!catalog_check_version(call, name, refusal))
		return false;
	call->version = version_find(name);
	if (!call->version || !call->version->stateless) {
		call->version = NULL;
		return unsupported(name, refusal);
	}
	call->client = json_object_get(meta, META_CAPABILITIES);
	return catalog_check_method(call, refusal) && read_log_level(call, meta, refusal);
}

/* ---- methods ----------------------------------------------------------------- */

/* What is not offered is a method that does not exist. */
static bool unknown_method(const struct mcp_call *call, struct refusal *refusal)
{
	return mcp_refuse(refusal, RPC_METHOD_NOT_FOUND, "Method not found: %s",
	                  call->message.method);
}

/* The call is answered by a handler of the offer, on the pool. */
static bool call_handler_of_offer(struct mcp_call *call, mcp_handler *handler,
                                  struct refusal *refusal)
{
	if (!handler)
		return unknown_method(call, refusal);
	call->run = handler;
	call->data = call->peer->server->offer->data;
	call->on_loop = false;
	return true;
}

static const char *string_param(const struct mcp_call *call, const char *name)
{
	return json_string_value(json_object_get(call->params, name));
}

/* --- Lifecycle ------------------------------------------------------------------------- */

static bool answer_initialize(struct mcp_call *call, struct refusal *refusal)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct mcp_peer *peer = call->peer;
	const struct version *version = version_find(string_param(call, "protocolVersion"));

	if (peer->version)
		return mcp_refuse(refusal, RPC_INVALID_REQUEST, "Initialized already.");
	if (!version || version->stateless)
		version = version_latest();
	peer->version = version;
	peer->client = json_incref(json_object_get(call->params, "capabilities"));
	call->version = version;
	peer_begin_session(peer);
	catalog_initialize(peer->server->catalog, version, &out);
	call_answer_text(call, buf_view(&out));
	return true;
}

static bool answer_ping(struct mcp_call *call, struct refusal *refusal)
{
	(void)refusal;
	call_answer_text(call, SPAN("{}"));
	return true;
}

static bool answer_discover(struct mcp_call *call, struct refusal *refusal)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	(void)refusal;
	catalog_discover(call->peer->server->catalog, call->version, &out);
	call_answer_text(call, buf_view(&out));
	return true;
}

static bool answer_set_level(struct mcp_call *call, struct refusal *refusal)
{
	int level = mcp_level_find(string_param(call, "level"));

	if (level < 0)
		return mcp_refuse(refusal, RPC_INVALID_PARAMS,
		                  "params.level must be one of " LEVEL_NAMES ".");
	call->peer->log_level = level;
	call_answer_text(call, SPAN("{}"));
	return true;
}

/* --- Tools ----------------------------------------------------------------------------- */

static bool answer_list_tools(struct mcp_call *call, struct refusal *refusal)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const json_t *meta = json_object_get(call->params, "_meta");
	const struct catalog_page asked = {
		.cursor = call->cursor,
		.output_schemas = json_is_true(json_object_get(meta, MCP_META_OUTPUT_SCHEMAS)),
	};

	if (!call->peer->server->offer->tools)
		return unknown_method(call, refusal);
	if (!catalog_list_tools(call->peer->server->catalog, call->version, &asked, &out, refusal))
		return false;
	call_answer_text(call, buf_view(&out));
	return true;
}

static bool unknown_call(const struct mcp_call *call, struct refusal *refusal)
{
	const struct mcp_offer *offer = call->peer->server->offer;
	_cleanup_free_ const char **names = mem_alloc(offer->tool_count + 1, sizeof(*names));
	const char *near;

	for (size_t i = 0; i < offer->tool_count; i++)
		names[i] = offer->tools[i].name;
	near = schema_nearest_name(call->name, names, offer->tool_count);
	return mcp_refuse(refusal, RPC_INVALID_PARAMS, "Unknown tool: %s%s%s%s", call->name,
	                  near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static bool answer_call_tool(struct mcp_call *call, struct refusal *refusal)
{
	const struct tool_entry *entry;

	if (!call->peer->server->offer->tools)
		return unknown_method(call, refusal);
	entry = catalog_tool(call->peer->server->catalog, call->name);
	if (!entry)
		return unknown_call(call, refusal);
	if (call->version->stateless && !catalog_check_arguments(call, entry, refusal))
		return false;
	call->run = entry->tool->run;
	call->data = entry->tool->data;
	call->on_loop = entry->tool->quick;
	return true;
}

/* --- Resources ------------------------------------------------------------------------- */

static bool no_resources(const struct mcp_call *call)
{
	return !call->peer->server->offer->read_resource;
}

/* A list without a handler is empty. */
static bool answer_list(struct mcp_call *call, mcp_handler *handler, struct span empty,
                        struct refusal *refusal)
{
	if (no_resources(call))
		return unknown_method(call, refusal);
	if (handler)
		return call_handler_of_offer(call, handler, refusal);
	call_answer_text(call, empty);
	return true;
}

static bool answer_list_resources(struct mcp_call *call, struct refusal *refusal)
{
	return answer_list(call, call->peer->server->offer->list_resources,
	                   SPAN("{\"resources\":[]}"), refusal);
}

static bool answer_list_templates(struct mcp_call *call, struct refusal *refusal)
{
	return answer_list(call, call->peer->server->offer->list_templates,
	                   SPAN("{\"resourceTemplates\":[]}"), refusal);
}

static bool answer_read_resource(struct mcp_call *call, struct refusal *refusal)
{
	return call_handler_of_offer(call, call->peer->server->offer->read_resource, refusal);
}

static bool answer_subscribe(struct mcp_call *call, struct refusal *refusal)
{
	struct err err = ERR_INIT;
	bool missing;

	if (no_resources(call) || !call->peer->server->offer->subscribe)
		return unknown_method(call, refusal);
	if (!watch_subscribe(call->peer, call->uri, &err)) {
		missing = err.code == ERR_FILE_NOT_FOUND;
		mcp_refuse(refusal, missing ? MCP_RESOURCE_NOT_FOUND : RPC_INVALID_PARAMS, "%s",
		           err.message);
		refusal->data = json_pack("{s:s}", "uri", call->uri);
		return false;
	}
	call_answer_text(call, SPAN("{}"));
	return true;
}

static bool answer_unsubscribe(struct mcp_call *call, struct refusal *refusal)
{
	if (no_resources(call) || !call->peer->server->offer->subscribe)
		return unknown_method(call, refusal);
	watch_unsubscribe(call->peer, call->uri);
	call_answer_text(call, SPAN("{}"));
	return true;
}

static bool answer_listen(struct mcp_call *call, struct refusal *refusal)
{
	return watch_listen(call, refusal);
}

/* --- Prompts and completion ------------------------------------------------------------ */

static bool answer_list_prompts(struct mcp_call *call, struct refusal *refusal)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	if (!call->peer->server->offer->prompts)
		return unknown_method(call, refusal);
	if (call->cursor)
		return mcp_refuse(refusal, RPC_INVALID_PARAMS,
		                  "params.cursor is none that this server has given out.");
	catalog_list_prompts(call->peer->server->catalog, &out);
	call_answer_text(call, buf_view(&out));
	return true;
}

static bool check_prompt_arguments(const struct mcp_call *call, const json_t *prompt,
                                   struct refusal *refusal)
{
	const json_t *argument;
	const char *name;
	json_t *value;
	size_t i;

	json_array_foreach(json_object_get(prompt, "arguments"), i, argument) {
		name = json_string_value(json_object_get(argument, "name"));
		if (json_is_true(json_object_get(argument, "required")) &&
		    !json_object_get(call->arguments, name))
			return mcp_refuse(refusal, RPC_INVALID_PARAMS,
			                  "params.arguments.%s is missing.", name);
	}
	json_object_foreach((json_t *)call->arguments, name, value) {
		if (!json_is_string(value))
			return mcp_refuse(refusal, RPC_INVALID_PARAMS,
			                  "params.arguments.%s must be a string, not %s.", name,
			                  json_type_phrase(value));
	}
	return true;
}

static bool answer_get_prompt(struct mcp_call *call, struct refusal *refusal)
{
	const struct mcp_server *server = call->peer->server;
	const json_t *prompt;

	if (!server->offer->prompts)
		return unknown_method(call, refusal);
	prompt = catalog_prompt(server->catalog, call->name);
	if (!prompt)
		return mcp_refuse(refusal, RPC_INVALID_PARAMS, "Unknown prompt: %s", call->name);
	return check_prompt_arguments(call, prompt, refusal) &&
	       call_handler_of_offer(call, server->offer->get_prompt, refusal);
}

static bool answer_complete(struct mcp_call *call, struct refusal *refusal)
{
	static const struct param prompt_rules[] = {
		{ "ref", "name", PARAM_STRING, true, false }, { 0 },
	};
	static const struct param resource_rules[] = {
		{ "ref", "uri", PARAM_STRING, true, false }, { 0 },
	};
	const struct mcp_server *server = call->peer->server;
	const json_t *ref = json_object_get(call->params, "ref");
	struct span type = json_span(json_object_get(ref, "type"));
	const char *name;

	if (!server->offer->complete)
		return unknown_method(call, refusal);
	if (span_eq(type, SPAN("ref/prompt"))) {
		if (!params_check(call->params, prompt_rules, refusal))
			return false;
		name = json_string_value(json_object_get(ref, "name"));
		if (!catalog_prompt(server->catalog, name))
			return mcp_refuse(refusal, RPC_INVALID_PARAMS, "Unknown prompt: %s", name);
	} else if (span_eq(type, SPAN("ref/resource"))) {
		if (!params_check(call->params, resource_rules, refusal))
			return false;
	} else {
		return mcp_refuse(refusal, RPC_INVALID_PARAMS,
		                  "params.ref.type must be ref/prompt or ref/resource.");
	}
	return call_handler_of_offer(call, server->offer->complete, refusal);
}

/* --- The table ------------------------------------------------------------------------- */

static const struct param list_rules[] = { { NULL, "cursor", PARAM_STRING, false, true }, { 0 } };
static const struct param uri_rules[] = { { NULL, "uri", PARAM_STRING, true, false }, { 0 } };
static const struct param level_rules[] = { { NULL, "level", PARAM_STRING, true, false }, { 0 } };
static const struct param listen_rules[] = {
	{ NULL, "notifications", PARAM_OBJECT, true, false }, { 0 },
};
static const struct param name_rules[] = {
	{ NULL, "name", PARAM_STRING, true, false },
	{ NULL, "arguments", PARAM_OBJECT, false, true },
	{ 0 },
};
static const struct param initialize_rules[] = {
	{ NULL, "protocolVersion", PARAM_STRING, true, false },
	{ NULL, "capabilities", PARAM_OBJECT, false, true },
	{ NULL, "clientInfo", PARAM_OBJECT, false, true },
	{ 0 },
};
static const struct param complete_rules[] = {
	{ NULL, "ref", PARAM_OBJECT, true, false },
	{ "ref", "type", PARAM_STRING, true, false },
	{ NULL, "argument", PARAM_OBJECT, true, false },
	{ "argument", "name", PARAM_STRING, true, false },
	{ "argument", "value", PARAM_STRING, true, false },
	{ NULL, "context", PARAM_OBJECT, false, true },
	{ "context", "arguments", PARAM_OBJECT, false, true },
	{ 0 },
};

/* The most frequent first. */
static const struct method methods[] = {
	{ .name = "tools/call", .era = ERA_BOTH, .tool = true, .asks = true, .named = "name",
	  .params = name_rules, .answer = answer_call_tool },
	{ .name = "tools/list", .era = ERA_BOTH, .cache_scope = "public", .params = list_rules,
	  .answer = answer_list_tools },
	{ .name = "resources/read", .era = ERA_BOTH, .asks = true, .cache_scope = "private",
	  .named = "uri", .params = uri_rules, .answer = answer_read_resource },
	{ .name = "resources/list", .era = ERA_BOTH, .cache_scope = "private",
	  .params = list_rules, .answer = answer_list_resources },
	{ .name = "resources/templates/list", .era = ERA_BOTH, .cache_scope = "private",
	  .params = list_rules, .answer = answer_list_templates },
	{ .name = "resources/subscribe", .era = ERA_LEGACY, .params = uri_rules,
	  .answer = answer_subscribe },
	{ .name = "resources/unsubscribe", .era = ERA_LEGACY, .params = uri_rules,
	  .answer = answer_unsubscribe },
	{ .name = "subscriptions/listen", .era = ERA_STATELESS, .params = listen_rules,
	  .answer = answer_listen },
	{ .name = "prompts/list", .era = ERA_BOTH, .cache_scope = "public", .params = list_rules,
	  .answer = answer_list_prompts },
	{ .name = "prompts/get", .era = ERA_BOTH, .asks = true, .named = "name",
	  .params = name_rules, .answer = answer_get_prompt },
	{ .name = "completion/complete", .era = ERA_BOTH, .params = complete_rules,
	  .answer = answer_complete },
	{ .name = "logging/setLevel", .era = ERA_LEGACY, .params = level_rules,
	  .answer = answer_set_level },
	{ .name = "initialize", .era = ERA_LEGACY, .early = true, .params = initialize_rules,
	  .answer = answer_initialize },
	{ .name = "ping", .era = ERA_LEGACY, .early = true, .answer = answer_ping },
	{ .name = "server/discover", .era = ERA_STATELESS, .cache_scope = "public",
	  .answer = answer_discover },
};

static const struct method *method_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	}
	return NULL;
}

static bool check_legacy(struct mcp_call *call, struct refusal *refusal)
{
	const struct mcp_peer *peer = call->peer;

	if (!peer->version && !(call->method && call->method->early)) {
		if (call->method && call->method->era == ERA_STATELESS)
			return mcp_refuse(refusal, RPC_INVALID_PARAMS,
			                  "params._meta with the protocol version is missing.");
		return mcp_refuse(refusal, RPC_INVALID_REQUEST,
		                  "Not initialized: the first request must be initialize.");
	}
	call->version = peer->version ? peer->version : version_latest();
	if (!call->method || !(call->method->era & ERA_LEGACY))
		return unknown_method(call, refusal);
	call->session = peer->session;
	return true;
}

static bool check_stateless(struct mcp_call *call, struct refusal *refusal)
{
	if (!stateless_open(call, refusal))
		return false;
	if (call->batch)
		return mcp_refuse(refusal, RPC_INVALID_REQUEST,
		                  "This version of the protocol has no batches.");
	if (!call->method || !(call->method->era & ERA_STATELESS))
		return unknown_method(call, refusal);
	call->session = peer_shared_session(call->peer->server);
	return true;
}

static bool check_params(struct mcp_call *call, struct refusal *refusal)
{
	const json_t *arguments;

	static const struct param common[] = {
		{ NULL, "_meta", PARAM_OBJECT, false, false },
		{ "_meta", "progressToken", PARAM_STRING_OR_INTEGER, false, false },
		{ 0 },
	};
	const struct method *method = call->method;

	if (!params_check(call->params, common, refusal) ||
	    (method->params && !params_check(call->params, method->params, refusal)))
		return false;
	/* The parameters that several methods have; absent ones stay NULL. */
	arguments = json_object_get(call->params, "arguments");
	call->name = string_param(call, "name");
	call->uri = string_param(call, "uri");
	call->cursor = string_param(call, "cursor");
	if (json_is_object(arguments))
		call->arguments = arguments;
	call->progress.token =
		json_object_get(json_object_get(call->params, "_meta"), "progressToken");
	if (!call->version->stateless)
		return true;
	return (!method->named ||
	        catalog_check_name(call, string_param(call, method->named), refusal)) &&
	       (!method->asks || ask_questions_open(call, refusal));
}

bool method_start(struct mcp_call *call, struct refusal *refusal)
{
	bool stateless = call->peer->wire.stateless || mcp_message_is_stateless(&call->message);

	call->method = method_find(call->message.method);
	if (!(stateless ? check_stateless(call, refusal) : check_legacy(call, refusal)) ||
	    !check_params(call, refusal) || !call_list(call, refusal) ||
	    !call->method->answer(call, refusal))
		return false;
	if (call->run)
		call_start(call);
	else if (call->ended)
		call_done(call);
	else
		call_leave_loop(call);
	return true;
}
