/* SPDX-License-Identifier: Apache-2.0 */
/* What is said at the beginning: the version of the wire, and capabilities.
 *
 * Version 1 is the only one.  What differs in a later version belongs here: the client names the
 * latest that it speaks, and gets the latest that hasp speaks (protocol v1, initialization). */
#include "acp/wire.h"
#include "base/mem.h"
#include "data/json.h"

enum { ACP_VERSION = 1 };

/* ---- capabilities ---------------------------------------------------------------- */

static bool acp_has(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_true(value) || json_is_object(value);
}

static void acp_read_client(struct acp *acp, const json_t *capabilities)
{
	const json_t *elicitation = json_object_get(capabilities, "elicitation");
	const json_t *files = json_object_get(capabilities, "fs");
	const json_t *session = json_object_get(capabilities, "session");

	acp->client = (struct acp_client){
		.terminal_login = acp_has(json_object_get(capabilities, "auth"), "terminal"),
		.shows_output = acp_has(json_object_get(capabilities, "_meta"), "terminal_output"),
		.reads_files = acp_has(files, "readTextFile"),
		.writes_files = acp_has(files, "writeTextFile"),
		.elicits_form = acp_has(elicitation, "form"),
		.elicits_url = acp_has(elicitation, "url"),
		.takes_notices = acp_has(session, "notices"),
		.takes_compactions = acp_has(session, "compaction"),
	};
}

static json_t *acp_capabilities(void)
{
	return json_pack("{s:b, s:{s:{}}, s:{s:b, s:b, s:b}, s:{s:b, s:b}, "
	                 "s:{s:{}, s:{}, s:{}, s:{}, s:{}}}",
	                 "loadSession", 1, "auth", "logout",
	                 "promptCapabilities", "image", 1, "audio", 1, "embeddedContext", 1,
	                 "mcpCapabilities", "http", 1, "sse", 1,
	                 "sessionCapabilities", "list", "resume", "close", "delete",
	                 "additionalDirectories");
}

/* ---- initialize ------------------------------------------------------------------ */

/* A client that speaks nothing else ends the connection by itself, and finds why in the answer. */
static void acp_refuse_version(json_t *result, json_int_t wanted)
{
	_cleanup_free_ char *text = mem_printf(
		"hasp does not speak version %lld of the Agent Client Protocol, which is not "
		"stable yet, but version %d.", (long long)wanted, ACP_VERSION);

	json_object_set_new(result, "_meta", json_pack("{s:{s:s}}", "hasp", "refused", text));
}

void acp_do_initialize(struct acp_request *request)
{
	const json_int_t wanted =
		json_integer_value(json_object_get(request->params, "protocolVersion"));
	struct acp *acp = request->acp;
	json_t *result;

	if (wanted < ACP_VERSION) {
		acp_refuse(request, RPC_INVALID_PARAMS,
		           "hasp speaks version %d of the protocol, not version %lld.",
		           ACP_VERSION, (long long)wanted);
		return;
	}
	acp_read_client(acp, json_object_get(request->params, "clientCapabilities"));
	acp->is_initialized = true;
	result = json_pack("{s:i, s:o, s:o, s:{s:s, s:s, s:s}}", "protocolVersion", ACP_VERSION,
	                   "agentCapabilities", acp_capabilities(), "authMethods",
	                   acp_auth_methods(acp), "agentInfo", "name", "hasp", "title", "hasp",
	                   "version", HASP_VERSION);
	if (wanted > ACP_VERSION)
		acp_refuse_version(result, wanted);
	acp_answer(request, result);
}
