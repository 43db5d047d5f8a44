/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that take several rounds: an answer asks for more (2026-07-28, InputRequiredResult), or
 * says that the user has to open addresses first (2025-11-25, URLElicitationRequiredError). */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/client/requests.h"
#include "mcp/client/transport.h"
#include "mcp/client/watch.h"

enum {
	ROUNDS_MAX = 20,      /* of a request whose answers ask for more */
	INPUTS_MAX = 32,      /* questions in one answer */
	PAGES_MAX = 100,      /* of a list: a cursor may lead to itself */
	ADDRESSES_MAX = 8,    /* that one error names */
	ADDRESS_WANTED = -32042,
	WORDS_SHOWN = 400,    /* bytes of a server's own */
};

/* ---- answers that ask for more ---- */

static bool answer_input(struct mcp_client *client, const json_t *request,
                         const struct mcp_wait *wait, json_t **ret, struct err *err)
{
	const char *method = json_string_value(json_object_get(request, "method"));
	const json_t *params = json_object_get(request, "params");
	_cleanup_free_ char *shown = mcp_said_text(json_object_get(request, "method"), WORDS_SHOWN);
	json_auto_t *none = json_object();
	struct err why = ERR_INIT;

	if (!method)
		return err_set(err, ERR_TOOL_FAILED,
		               "The MCP server \"%s\" asked for more without saying what.",
		               mcp_client_name(client));
	if (mcp_client_answer(client, method, json_is_object(params) ? params : none, wait, NULL,
	                      ret, &why))
		return true;
	if (why.code == ERR_UNKNOWN_TOOL)
		return err_set(err, ERR_TOOL_FAILED,
		               "The MCP server \"%s\" asks for what hasp does not have (%s).",
		               mcp_client_name(client), shown);
	*err = why;
	return false;
}

static bool asked_wrongly(const struct mcp_client *client, struct err *err)
{
	return err_set(err, ERR_TOOL_FAILED,
	               "The MCP server \"%s\" asked for more, but not as the protocol has it.",
	               mcp_client_name(client));
}

bool mcp_inputs_answer(struct mcp_client *client, const json_t *requests,
                       const struct mcp_wait *wait, json_t *responses, struct err *err)
{
	const char *key;
	json_t *request;

	if ((requests && !json_is_object(requests)) || json_object_size(requests) > INPUTS_MAX)
		return asked_wrongly(client, err);
	json_object_foreach((json_t *)requests, key, request) {
		json_t *answer = NULL;

		if (json_object_get(responses, key))
			continue;
		if (!answer_input(client, request, wait, &answer, err))
			return false;
		json_object_set_new(responses, key, answer);
	}
	return true;
}

/* Answers what such a result asks, and puts it into the params of the next round. */
static bool answer_result(struct mcp_client *client, const json_t *result,
                          const struct mcp_wait *wait, json_t *params, struct err *err)
{
	const json_t *requests = json_object_get(result, "inputRequests");
	json_t *state = json_object_get(result, "requestState");
	json_auto_t *responses = json_object();

	if (!requests && !json_is_string(state))
		return asked_wrongly(client, err);
	if (!mcp_inputs_answer(client, requests, wait, responses, err))
		return false;
	json_object_del(params, "inputResponses");
	json_object_del(params, "requestState");
	if (requests)
		json_object_set(params, "inputResponses", responses);
	if (json_is_string(state))
		json_object_set(params, "requestState", state);
	return true;
}

/* ---- URLs that must be opened first ---- */

/* The ids of what an error names, {ID: true}, a new object; NULL: it is no such error. */
static json_t *wanted_addresses(const json_t *refusal)
{
	const json_t *list = json_object_get(json_object_get(refusal, "data"), "elicitations");
	json_auto_t *ids = json_object();
	size_t i;
	json_t *one;

	if (json_integer_value(json_object_get(refusal, "code")) != ADDRESS_WANTED ||
	    !json_array_size(list) || json_array_size(list) > ADDRESSES_MAX)
		return NULL;
	json_array_foreach((json_t *)list, i, one) {
		const char *id = json_string_value(json_object_get(one, "elicitationId"));

		if (!id || !span_eq(json_span(json_object_get(one, "mode")), SPAN("url")))
			return NULL;
		json_object_set_new(ids, id, json_true());
	}
	return mem_steal(&ids);
}

static bool accepts(const json_t *answer)
{
	return span_eq(json_span(json_object_get(answer, "action")), SPAN("accept"));
}

/* Asks about each. */
static bool ask_addresses(struct mcp_client *client, const json_t *refusal,
                          const struct mcp_wait *wait, struct err *err)
{
	const json_t *list = json_object_get(json_object_get(refusal, "data"), "elicitations");
	size_t i;
	json_t *one;

	json_array_foreach((json_t *)list, i, one) {
		_cleanup_free_ char *said =
			mcp_said_text(json_object_get(one, "message"), WORDS_SHOWN);
		json_auto_t *answer = NULL;

		if (!mcp_client_answer(client, "elicitation/create", one, wait, NULL,
		                       &answer, err))
			return false;
		if (!accepts(answer))
			return err_set(err, ERR_DENIED_BY_USER,
			               "The MCP server \"%s\" does this only after the user has "
			               "opened an address, which was not done: %s",
			               mcp_client_name(client), said);
	}
	return true;
}

/* Until the server says that all of it is done, or the user does. */
static bool await_addresses(struct mcp_client *client, struct mcp_expected *expected,
                            const struct mcp_wait *wait, struct err *err)
{
	static const char question[] =
		"(hasp asks:) Have you finished what the server wanted you to do at that address? "
		"With yes, the call is made again.";
	json_auto_t *params = json_pack("{s:s, s:{s:s, s:{}}}", "message", question,
	                                "requestedSchema", "type", "object", "properties");
	json_auto_t *answer = NULL;
	const bool ok = mcp_client_answer(client, "elicitation/create", params, wait, expected,
	                                  &answer, err);

	if (expected->over || accepts(answer))
		return true;
	return ok && err_set(err, ERR_DENIED_BY_USER,
	                     "The user has not finished what the MCP server \"%s\" requires "
	                     "first.", mcp_client_name(client));
}

/* True: what the error names was opened, and the request can be made again. */
static bool open_addresses(struct mcp_client *client, const json_t *refusal, json_t *ids,
                           const struct mcp_wait *wait, struct err *err)
{
	struct mcp_expected expected = { .ids = ids };
	bool ok;

	/* It may be done before the last question is answered. */
	mcp_client_expect(client, &expected);
	ok = ask_addresses(client, refusal, wait, err) &&
	     (expected.over || await_addresses(client, &expected, wait, err));
	mcp_client_expect_no_more(client, &expected);
	return ok;
}

/* ---- all of it ---- */

bool mcp_client_request(struct mcp_client *client, const char *method, const json_t *params,
                        const struct mcp_wait *wait, json_t **ret, struct err *err)
{
	json_auto_t *own = params ? json_copy((json_t *)params) : json_object();
	const bool modern = mcp_client_is_modern(client);
	bool opened = false;

	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		json_auto_t *result = NULL, *refusal = NULL, *ids = NULL;
		struct err why = ERR_INIT, unopened = ERR_INIT;
		bool asks = false;

		if (!mcp_client_exchange(client, method, own, wait, &result, &refusal, &why)) {
			ids = modern || opened ? NULL : wanted_addresses(refusal);
			opened = ids && open_addresses(client, refusal, ids, wait, &unopened);
			if (opened)
				continue;
			/* If the user cannot be asked, report the server's error. */
			*err = ids && unopened.code != ERR_UNKNOWN_TOOL ? unopened : why;
			return false;
		}
		if (modern && !mcp_modern_result(result, mcp_client_name(client), &asks, err))
			return false;
		if (!asks) {
			*ret = mem_steal(&result);
			return true;
		}
		if (!answer_result(client, result, wait, own, err))
			return false;
	}
	return err_set(err, ERR_TOOL_FAILED,
	               "The MCP server \"%s\" asked %d times for more, and did not answer %s.",
	               mcp_client_name(client), ROUNDS_MAX, method);
}

/* ---- what is asked for ---- */

bool mcp_client_ask(struct mcp_client *client, const char *method, const json_t *params,
                    const struct mcp_wait *wait, json_t **ret, struct err *err)
{
	json_t *result = NULL;

	if (!mcp_client_request(client, method, params, wait, &result, err))
		return false;
	if (json_is_object(result) && !(mcp_client_is_modern(client) && mcp_modern_task(result))) {
		*ret = result;
		return true;
	}
	json_decref(result);
	return err_set(err, ERR_TOOL_FAILED,
	               "The MCP server \"%s\" answered %s with no object.", mcp_client_name(client),
	               method);
}

bool mcp_client_list(struct mcp_client *client, enum mcp_list which, const struct mcp_wait *wait,
                     json_t **ret, struct err *err)
{
	const struct mcp_list_row *list = &mcp_lists[which];
	json_auto_t *all = json_array();
	json_auto_t *params = json_object();
	const struct mcp_wait own = { .timeout_ms = wait->timeout_ms, .cancel = wait->cancel };
	const json_t *next = NULL;

	for (size_t page = 0; !page || (next && page < PAGES_MAX); page++) {
		json_auto_t *result = NULL;

		if (!mcp_client_request(client, list->method, params, &own, &result, err))
			return false;
		if (!json_is_array(json_object_get(result, list->member)))
			return err_set(err, ERR_TOOL_FAILED,
			               "The MCP server \"%s\" answered %s without a list.",
			               mcp_client_name(client), list->method);
		json_array_extend(all, json_object_get(result, list->member));
		json_object_del(params, "cursor");
		if (json_is_string(json_object_get(result, "nextCursor")) &&
		    json_array_size(all) <= list->most)
			json_object_set(params, "cursor", json_object_get(result, "nextCursor"));
		next = json_object_get(params, "cursor");
	}
	if (which == MCP_TOOLS)
		mcp_client_declared(client, all);
	*ret = mem_steal(&all);
	return true;
}
