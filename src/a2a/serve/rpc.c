/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON-RPC binding (A2A 1.0, section 9; 0.3.0, section 7): both versions' methods, by name.
 *
 * Not here: batches, which the protocol does not have, and notifications, which have no answer. */
#include <string.h>

#include "a2a/serve/wire.h"
#include "base/mem.h"
#include "data/json.h"

static const struct rpc_method {
	const char *name;
	enum a2a_version version;
	enum a2a_operation operation;
} methods[] = {
	{ "SendMessage", A2A_V1_0, A2A_SEND },
	{ "SendStreamingMessage", A2A_V1_0, A2A_STREAM },
	{ "GetTask", A2A_V1_0, A2A_GET_TASK },
	{ "ListTasks", A2A_V1_0, A2A_LIST_TASKS },
	{ "CancelTask", A2A_V1_0, A2A_CANCEL_TASK },
	{ "SubscribeToTask", A2A_V1_0, A2A_SUBSCRIBE },
	{ "CreateTaskPushNotificationConfig", A2A_V1_0, A2A_PUSH_CREATE },
	{ "GetTaskPushNotificationConfig", A2A_V1_0, A2A_PUSH_GET },
	{ "ListTaskPushNotificationConfigs", A2A_V1_0, A2A_PUSH_LIST },
	{ "DeleteTaskPushNotificationConfig", A2A_V1_0, A2A_PUSH_DELETE },
	{ "GetExtendedAgentCard", A2A_V1_0, A2A_EXTENDED_CARD },
	{ "message/send", A2A_V0_3, A2A_SEND },
	{ "message/stream", A2A_V0_3, A2A_STREAM },
	{ "tasks/get", A2A_V0_3, A2A_GET_TASK },
	{ "tasks/list", A2A_V0_3, A2A_LIST_TASKS },
	{ "tasks/cancel", A2A_V0_3, A2A_CANCEL_TASK },
	{ "tasks/resubscribe", A2A_V0_3, A2A_SUBSCRIBE },
	{ "tasks/pushNotificationConfig/set", A2A_V0_3, A2A_PUSH_CREATE },
	{ "tasks/pushNotificationConfig/get", A2A_V0_3, A2A_PUSH_GET },
	{ "tasks/pushNotificationConfig/list", A2A_V0_3, A2A_PUSH_LIST },
	{ "tasks/pushNotificationConfig/delete", A2A_V0_3, A2A_PUSH_DELETE },
	{ "agent/getAuthenticatedExtendedCard", A2A_V0_3, A2A_EXTENDED_CARD },
};

/* ---- how it is said -------------------------------------------------------------- */

static json_t *rpc_id(const struct a2a_served_request *exchange)
{
	return exchange->id ? json_incref(exchange->id) : json_null();
}

static json_t *rpc_result(const struct a2a_served_request *exchange, json_t *result)
{
	return json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", rpc_id(exchange), "result",
	                 result);
}

static json_t *rpc_fault(const struct a2a_served_request *exchange, const struct a2a_fault *fault)
{
	return json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", rpc_id(exchange), "error",
	                 a2a_fault_rpc(fault));
}

static const char *rpc_type(const struct a2a_served_request *exchange)
{
	(void)exchange;
	return "application/json";
}

const struct a2a_form a2a_rpc_form = { rpc_result, rpc_fault, rpc_type, false, false };

/* ---- a request ------------------------------------------------------------------- */

/* Keeps an id that can be sent back. */
static bool rpc_read_id(struct a2a_served_request *exchange, const json_t *request,
                        struct a2a_fault *fault)
{
	json_t *id = json_object_get(request, "id");

	exchange->is_notification = id == NULL;
	if (id && !json_is_null(id) && !json_is_integer(id) &&
	    (!json_is_string(id) || json_string_length(id) > LIMIT_RPC_ID_BYTES))
		return a2a_fault_set(fault, A2A_FAULT_REQUEST, "The id of a request is a string of "
		                     "up to %d bytes or an integer.", LIMIT_RPC_ID_BYTES);
	exchange->id = json_incref(id);
	return true;
}

static bool rpc_check(struct a2a_served_request *exchange, const json_t *request,
                      struct a2a_fault *fault)
{
	const json_t *params = json_object_get(request, "params");

	if (json_is_array(request))
		return a2a_fault_set(fault, A2A_FAULT_REQUEST,
		                     "Batches are not supported: send one request at a time.");
	if (!json_is_object(request))
		return a2a_fault_set(fault, A2A_FAULT_REQUEST, "A request is an object.");
	if (!rpc_read_id(exchange, request, fault))
		return false;
	if (!span_eq(json_span(json_object_get(request, "jsonrpc")), SPAN("2.0")))
		return a2a_fault_set(fault, A2A_FAULT_REQUEST, "\"jsonrpc\" must be \"2.0\".");
	if (!json_is_string(json_object_get(request, "method")))
		return a2a_fault_set(fault, A2A_FAULT_REQUEST, "\"method\" must be a string.");
	if (params && !json_is_object(params) && !json_is_null(params))
		return a2a_fault_set(fault, A2A_FAULT_PARAMS, "\"params\" must be an object.");
	return true;
}

/* A method of the other version is unknown, unless no version was named: 0.3 has none of 1.0's
 * names, so that there is no doubt which is meant. */
static const struct rpc_method *rpc_find(const json_t *name, enum a2a_version version,
                                     bool version_given)
{
	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (span_eq(json_span(name), span_str(methods[i].name)) &&
		    (!version_given || methods[i].version == version))
			return &methods[i];
	return NULL;
}

void a2a_rpc_take(struct a2a_served_request *exchange, struct span body, bool version_given)
{
	struct a2a_fault fault = { 0 };
	struct err err = ERR_INIT;
	json_auto_t *request = NULL, *none = json_object();
	const struct rpc_method *method;
	const json_t *name, *params;

	if (!json_parse_depth(body, LIMIT_A2A_DEPTH, &request, &err)) {
		a2a_fault_set(&fault, A2A_FAULT_PARSE, "Invalid JSON payload: %s", err.message);
		a2a_exchange_refuse(exchange, &fault);
		return;
	}
	if (!rpc_check(exchange, request, &fault)) {
		a2a_exchange_refuse(exchange, &fault);
		return;
	}
	name = json_object_get(request, "method");
	method = rpc_find(name, exchange->order.version, version_given);
	if (!method) {
		a2a_fault_set(&fault, A2A_FAULT_METHOD,
		              "Method not found: A2A %s has no \"%.64s\".",
		              exchange->order.version == A2A_V1_0 ? "1.0" : "0.3",
		              json_string_value(name));
		a2a_exchange_refuse(exchange, &fault);
		return;
	}
	exchange->order.version = method->version;
	params = json_object_get(request, "params");
	a2a_exchange_begin(exchange, method->operation, json_is_object(params) ? params : none);
}
