/* SPDX-License-Identifier: Apache-2.0 */
/* The table of methods, and what becomes of a request until its handler has it. */
#include <stdio.h>
#include <string.h>

#include "acp/private.h"
#include "base/mem.h"
#include "data/json.h"

/* ---- the table ------------------------------------------------------------------- */

static acp_handler acp_do_cancel_request;

enum {
	ACP_NOTIFICATION = 1, /* has no id, and no answer */
	ACP_FIRST = 2,        /* also before initialize */
};

struct acp_method {
	const char *name;
	/* Of params: "NAME:TYPE", and "NAME?:TYPE" of what may be missing or null.  TYPE: s string,
	 * n integer, a array, o object, i a request's id. */
	const char *members;
	acp_handler *run;
	unsigned flags;      /* ACP_NOTIFICATION, ACP_FIRST */
};

static const struct acp_method acp_methods[] = {
	{ "initialize", "protocolVersion:n clientCapabilities?:o clientInfo?:o",
	  acp_do_initialize, ACP_FIRST },
	{ "authenticate", "methodId:s", acp_do_authenticate, 0 },
	{ "logout", "", acp_do_logout, 0 },
	{ "session/new", "cwd:s mcpServers:a additionalDirectories?:a", acp_do_new_session, 0 },
	{ "session/load", "sessionId:s cwd:s mcpServers:a additionalDirectories?:a",
	  acp_do_load_session, 0 },
	{ "session/resume", "sessionId:s cwd:s mcpServers?:a additionalDirectories?:a",
	  acp_do_resume_session, 0 },
	{ "session/list", "cwd?:s cursor?:s additionalDirectories?:a", acp_do_list, 0 },
	{ "session/delete", "sessionId:s", acp_do_delete, 0 },
	{ "session/set_mode", "sessionId:s modeId:s", acp_do_set_mode, 0 },
	{ "session/set_config_option", "sessionId:s configId:s", acp_do_set_option, 0 },
	{ "session/close", "sessionId:s", acp_do_close_session, 0 },
	{ "session/prompt", "sessionId:s prompt:a", acp_do_prompt, 0 },
	{ "session/cancel", "sessionId:s", acp_do_cancel, ACP_NOTIFICATION },
	{ "$/cancel_request", "requestId:i", acp_do_cancel_request, ACP_NOTIFICATION },
};

static const struct acp_method *acp_method_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(acp_methods); i++)
		if (!strcmp(acp_methods[i].name, name))
			return &acp_methods[i];
	return NULL;
}

/* ---- params ---------------------------------------------------------------------- */

static bool acp_type_fits(char type, const json_t *value)
{
	switch (type) {
	case 's': return json_is_string(value);
	case 'n': return json_is_integer(value);
	case 'a': return json_is_array(value);
	case 'o': return json_is_object(value);
	default: return json_is_integer(value) || json_is_string(value);
	}
}

static const char *acp_type_words(char type)
{
	switch (type) {
	case 's': return "a string";
	case 'n': return "an integer";
	case 'a': return "an array";
	case 'o': return "an object";
	default: return "an integer or a string";
	}
}

/* False: a member is missing or has another type; says which. */
static bool acp_params_fit(const json_t *params, const char *members, char *why, size_t size)
{
	char name[32], mark, type;
	int read;

	for (; sscanf(members, " %31[A-Za-z]%c%n", name, &mark, &read) == 2; members += read) {
		const json_t *value = json_object_get(params, name);

		if (mark == '?')
			read++;
		type = members[read++];
		if (mark == '?' && (!value || json_is_null(value)))
			continue;
		if (acp_type_fits(type, value))
			continue;
		snprintf(why, size, "params.%s must be %s, not %s.", name, acp_type_words(type),
		         value ? json_type_phrase(value) : "missing");
		return false;
	}
	return true;
}

/* ---- requests -------------------------------------------------------------------- */

/* As acp_handler. The client does not wait for a request any more. */
static void acp_do_cancel_request(struct acp_request *request)
{
	const json_t *id = json_object_get(request->params, "requestId");
	struct acp_request *other = request->acp->requests;

	while (other && !(other->id && json_equal(other->id, id)))
		other = other->next;
	if (other && other->cancel)
		other->cancel(other);
	acp_answer(request, NULL);
}

static void acp_receive_unknown(struct acp *acp, const struct rpc_message *message)
{
	_cleanup_buf_ struct buf answer = BUF_INIT(LIMIT_RESULT_BYTES);
	char text[256];

	if (!message->id)
		return;
	snprintf(text, sizeof(text), "\"%.100s\" is not a method of this agent.", message->method);
	rpc_write_error(&answer, message->id, RPC_METHOD_NOT_FOUND, text, NULL);
	acp_send(acp, &answer);
}

void acp_receive(struct acp *acp, struct rpc_message *message)
{
	const struct acp_method *method = acp_method_find(message->method);
	struct acp_request *request;
	char why[160];

	if (!method) {
		acp_receive_unknown(acp, message);
		rpc_message_release(message);
		return;
	}
	request = acp_request_new(acp, message);
	rpc_message_release(message);
	if (!(method->flags & ACP_NOTIFICATION) != (request->id != NULL))
		acp_refuse(request, RPC_INVALID_REQUEST, "%s is %s.", method->name,
		           request->id ? "a notification, without an id" :
		                         "a request, with an id");
	else if (request->id && acp->request_count > LIMIT_ACP_REQUESTS)
		acp_refuse(request, RPC_INTERNAL_ERROR,
		           "%d requests already wait for an answer.", LIMIT_ACP_REQUESTS);
	else if (request->id && acp->request_bytes > LIMIT_PEER_BYTES)
		acp_refuse(request, RPC_INTERNAL_ERROR,
		           "Requests of %zu bytes already wait for an answer.",
		           acp->request_bytes - request->bytes);
	else if (!(method->flags & ACP_FIRST) && !acp->is_initialized)
		acp_refuse(request, RPC_INVALID_REQUEST, "Send initialize first.");
	else if (!acp_params_fit(request->params, method->members, why, sizeof(why)))
		acp_refuse(request, RPC_INVALID_PARAMS, "%s: %s", method->name, why);
	else
		method->run(request);
}
