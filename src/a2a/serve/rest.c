/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP+JSON binding (A2A 1.0, section 11; 0.3.0, section 3.5.3).
 *
 * Paths of 0.3 begin with /v1; 1.0 has none such, and a client may send them with a header that
 * says 1.0.  To add a path: a row. */
#include <string.h>

#include "a2a/serve/wire.h"
#include "base/mem.h"
#include "data/json.h"

struct a2a_rest_route {
	const char *method;
	const char *path;            /* an asterisk stands for one part, or its beginning */
	enum a2a_operation operation;
	const char *first, *second;  /* members that the asterisks are */
	bool is_old;                 /* 0.3 alone has it */
};

static const struct a2a_rest_route routes[] = {
	{ "POST", "message:send", A2A_SEND, NULL, NULL, false },
	{ "POST", "message:stream", A2A_STREAM, NULL, NULL, false },
	{ "GET", "tasks", A2A_LIST_TASKS, NULL, NULL, false },
	{ "POST", "tasks/*:cancel", A2A_CANCEL_TASK, "id", NULL, false },
	/* The Protocol Buffers file has GET, the text of the specification POST. */
	{ "GET", "tasks/*:subscribe", A2A_SUBSCRIBE, "id", NULL, false },
	{ "POST", "tasks/*:subscribe", A2A_SUBSCRIBE, "id", NULL, false },
	{ "GET", "tasks/*", A2A_GET_TASK, "id", NULL, false },
	{ "POST", "tasks/*/pushNotificationConfigs", A2A_PUSH_CREATE, "taskId", NULL, false },
	{ "GET", "tasks/*/pushNotificationConfigs", A2A_PUSH_LIST, "taskId", NULL, false },
	{ "GET", "tasks/*/pushNotificationConfigs/*", A2A_PUSH_GET, "taskId", "id", false },
	{ "DELETE", "tasks/*/pushNotificationConfigs/*", A2A_PUSH_DELETE, "taskId", "id", false },
	{ "GET", "extendedAgentCard", A2A_EXTENDED_CARD, NULL, NULL, false },
	{ "GET", "card", A2A_EXTENDED_CARD, NULL, NULL, true },
};

/* ---- how it is said -------------------------------------------------------------- */

static json_t *rest_result(const struct a2a_served_request *exchange, json_t *result)
{
	(void)exchange;
	return result;
}

static json_t *rest_fault(const struct a2a_served_request *exchange, const struct a2a_fault *fault)
{
	/* 0.3 has JSON-RPC's error for all its bindings (section 8). */
	return exchange->order.version == A2A_V0_3 ? a2a_fault_rpc(fault) : a2a_fault_rest(fault);
}

static const char *rest_type(const struct a2a_served_request *exchange)
{
	return exchange->order.version == A2A_V1_0 ? "application/a2a+json" : "application/json";
}

const struct a2a_form a2a_rest_form = { rest_result, rest_fault, rest_type, true, true };

/* ---- which ----------------------------------------------------------------------- */

/* Whether a part of a path is what a part of a route's path says; *ret: what the asterisk is. */
static bool rest_part_fits(struct span wanted, struct span part, struct span *ret)
{
	if (!wanted.len || wanted.data[0] != '*')
		return span_eq(wanted, part);
	wanted = span_skip(wanted, 1);
	*ret = span_head(part, part.len - (span_ends(part, wanted) ? wanted.len : 0));
	return ret->len && span_ends(part, wanted);
}

/* Takes the next part off a path. */
static struct span rest_next(struct span *rest)
{
	const char *slash = rest->len ? memchr(rest->data, '/', rest->len) : NULL;
	const struct span part = slash ? span_head(*rest, (size_t)(slash - rest->data)) : *rest;

	*rest = span_skip(*rest, part.len + (slash != NULL));
	return part;
}

static bool rest_fits(const struct a2a_rest_route *route, struct span path, bool is_old,
                      struct span ids[2])
{
	struct span form = span_str(route->path);
	size_t count = 0;

	if (route->is_old && !is_old)
		return false;
	while (form.len && path.len) {
		const struct span wanted = rest_next(&form);
		const struct span part = rest_next(&path);
		const bool is_id = wanted.data[0] == '*';

		if (!rest_part_fits(wanted, part, &ids[count]))
			return false;
		count += is_id;
	}
	return !form.len && !path.len;
}

/* Without the slash and "v1/" before it. */
static struct span rest_path(const char *path, bool *ret_old)
{
	struct span rest = span_str(path[0] == '/' ? path + 1 : path);

	*ret_old = span_starts(rest, SPAN("v1/"));
	return *ret_old ? span_skip(rest, 3) : rest;
}

const struct a2a_rest_route *a2a_rest_find(const char *method, const char *path,
                                           const char **ret_allowed)
{
	struct span ids[2];
	bool is_old;
	const struct span rest = rest_path(path, &is_old);

	*ret_allowed = NULL;
	for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
		if (!rest_fits(&routes[i], rest, is_old, ids))
			continue;
		if (!strcmp(routes[i].method, method)) {
			*ret_allowed = NULL;
			return &routes[i];
		}
		*ret_allowed = *ret_allowed && strcmp(*ret_allowed, routes[i].method) != 0 ?
			"GET, POST" : routes[i].method;
	}
	return NULL;
}

/* ---- a request ------------------------------------------------------------------- */

/* As the function of a2a_fields_query. */
static const char *rest_query(void *data, const char *name)
{
	return http_request_query(data, name);
}

/* {"config": {...}} is how 0.3 has a configuration in a body. */
static json_t *rest_unwrap(struct a2a_served_request *exchange, enum a2a_operation operation,
                           json_t *params)
{
	json_t *config = json_object_get(params, "config");

	if (exchange->order.version != A2A_V0_3 || operation != A2A_PUSH_CREATE ||
	    !json_is_object(config))
		return params;
	json_incref(config);
	json_decref(params);
	return config;
}

static json_t *rest_body(struct a2a_served_request *exchange, enum a2a_operation operation,
                         struct span body, struct a2a_fault *fault)
{
	struct err err = ERR_INIT;
	json_t *params = NULL;

	if (!strcmp(http_request_method(exchange->order.http), "GET") ||
	    !strcmp(http_request_method(exchange->order.http), "DELETE"))
		return a2a_fields_query(a2a_fields_of(operation), rest_query, exchange->order.http);
	if (!span_trim(body).len)
		return json_object();
	if (!json_parse_depth(body, LIMIT_A2A_DEPTH, &params, &err)) {
		a2a_fault_set(fault, A2A_FAULT_PARSE, "Invalid JSON payload: %s", err.message);
		return NULL;
	}
	if (json_is_object(params))
		return rest_unwrap(exchange, operation, params);
	json_decref(params);
	a2a_fault_set(fault, A2A_FAULT_PARAMS, "The body must be an object.");
	return NULL;
}

/* A member that the path names; a body that names another contradicts it. */
static bool rest_put(json_t *params, const char *name, struct span id, struct a2a_fault *fault)
{
	const json_t *other = json_object_get(params, name);
	json_t *value = json_text(id);

	if (json_string_length(other) && !json_equal(other, value)) {
		json_decref(value);
		a2a_fault_field(fault, name, "is not the one of the path");
		return false;
	}
	json_object_set_new(params, name, value);
	return true;
}

void a2a_rest_take(struct a2a_served_request *exchange, const struct a2a_rest_route *route,
                   const char *path, struct span body)
{
	struct span ids[2] = { { "", 0 }, { "", 0 } };
	struct a2a_fault fault = { 0 };
	bool is_old;
	json_auto_t *params = rest_body(exchange, route->operation, body, &fault);

	rest_fits(route, rest_path(path, &is_old), true, ids);
	exchange->order.operation = route->operation;
	if (!params || (route->first && !rest_put(params, route->first, ids[0], &fault)) ||
	    (route->second && !rest_put(params, route->second, ids[1], &fault))) {
		a2a_exchange_refuse(exchange, &fault);
		return;
	}
	a2a_exchange_begin(exchange, route->operation, params);
}
