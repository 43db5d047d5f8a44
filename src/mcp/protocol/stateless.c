/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/stateless.h"

#include "data/json.h"
#include "mcp/protocol/level.h"
#include "mcp/protocol/mirrored.h"
#include "mcp/protocol/params.h"

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
	refuse(refusal, MCP_UNSUPPORTED_VERSION, "Unsupported protocol version: %s", requested);
	refusal->data = json_pack("{s:o,s:s}", "supported", supported, "requested", requested);
	return false;
}

static bool read_level(struct mcp_call *call, const json_t *meta, struct refusal *refusal)
{
	const char *name = json_string_value(json_object_get(meta, META_LEVEL));

	if (!name)
		return true;
	call->log_level = level_of(name);
	return call->log_level >= 0 ||
	       refuse(refusal, RPC_INVALID_PARAMS,
	              "params._meta." META_LEVEL " has to be one of " LEVEL_NAMES ".");
}

bool stateless_open(struct mcp_call *call, struct refusal *refusal)
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
	if (!mirrored_check_version(call, name, refusal))
		return false;
	call->version = version_find(name);
	if (!call->version || !call->version->stateless) {
		call->version = NULL;
		return unsupported(name, refusal);
	}
	call->client = json_object_get(meta, META_CAPABILITIES);
	return mirrored_check_method(call, refusal) && read_level(call, meta, refusal);
}
