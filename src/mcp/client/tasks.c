/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that take several rounds; and calls that become tasks: the server answers with a name
 * for the work, and is asked for its state until it has ended.
 *
 * Sources: MCP 2025-11-25, basic/utilities/tasks; SEP-2663 (the extension
 * io.modelcontextprotocol/tasks of 2026-07-28).  hasp waits for each: a call is over when its task
 * is.  Of 2025-11-25, only tools that must be called so become tasks. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/client/answers.h"
#include "mcp/client/client.h"
#include "mcp/client/requests.h"
#include "mcp/client/transport.h"
#include "mcp/client/watch.h"

/* Requests that take several rounds: an answer asks for more (2026-07-28, InputRequiredResult), or
 * says that the user has to open addresses first (2025-11-25, URLElicitationRequiredError). */

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

/* Answers what `requests` ({key: {"method", "params"}}) asks, but for what `responses` has, and
 * puts the answers there. */
static bool mcp_inputs_answer(struct mcp_client *client, const json_t *requests,
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

/* The result of a request, after as many rounds as it takes: an answer of 2026-07-28 may ask for
 * more, and one of 2025-11-25 may want the user to open addresses first (-32042). Borrows `params`.
 * *ret: anything, a new reference. */
static bool mcp_client_request(struct mcp_client *client, const char *method, const json_t *params,
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

enum {
	POLL_MS = 1000,       /* where the server does not say */
	POLL_MS_MIN = 50,
	POLL_MS_MAX = 30000,
	CANCEL_MS = 1000,     /* for the answer to that */
	NAME_MAX = 1024,      /* bytes of a task's name */
};

struct server_task {
	struct mcp_client *client;
	struct mcp_wait wait;     /* of its requests: the call's, with a token for all of them */
	json_t *params;           /* {"taskId"}; owned */
	json_t *answered;         /* {key: answer} of what it asked; owned */
	uint64_t until_ms;        /* 0: for ever */
	bool modern;
	bool ended;               /* the server says so */
};

/* ---- one task ---- */

static bool task_name(struct server_task *task, const json_t *named, struct err *err)
{
	json_t *name = json_object_get(named, "taskId");

	if (!json_string_length(name) || json_string_length(name) > NAME_MAX)
		return err_set(err, ERR_TOOL_FAILED,
		               "The MCP server \"%s\" made a task of the call, but named none.",
		               mcp_client_name(task->client));
	task->params = json_pack("{s:O}", "taskId", name);
	return true;
}

/* Cancels a task that is no longer awaited; the server may still finish it. */
static void task_cancel(const struct server_task *task)
{
	const struct mcp_wait brief = { .timeout_ms = CANCEL_MS };
	struct err ignored = ERR_INIT;
	json_auto_t *result = NULL;

	mcp_client_exchange(task->client, "tasks/cancel", task->params, &brief, &result, NULL,
	                    &ignored);
}

/* What the server says of its state, as a report of progress without a number. */
static void task_tell(const struct server_task *task, const json_t *before, const json_t *now)
{
	const json_t *message = json_object_get(now, "statusMessage");
	_cleanup_free_ char *said = mcp_said_text(message, WORDS_SHOWN);

	if (task->wait.progress && json_string_length(message) &&
	    !(before && json_equal(json_object_get(before, "statusMessage"), message)))
		task->wait.progress(task->wait.data, 0, 0, said);
}

static void task_sleep(const struct server_task *task, const json_t *state)
{
	const json_t *said = json_object_get(state, task->modern ? "pollIntervalMs" :
	                                                           "pollInterval");
	const double ms = json_is_number(said) ? json_number_value(said) : POLL_MS;
	struct mcp_wait wait = task->wait;

	wait.timeout_ms = ms < POLL_MS_MIN ? POLL_MS_MIN :
	                  ms > POLL_MS_MAX ? POLL_MS_MAX : (unsigned)ms;
	mcp_client_pause(task->client, &wait);
}

/* The input it requires: here in the state; before 2026-07-28 as separate requests while the call
 * waits for its result. */
static bool task_input(struct server_task *task, const json_t *state, json_t **ret, struct err *err)
{
	json_auto_t *params = NULL, *result = NULL;
	const size_t before = json_object_size(task->answered);
	const uint64_t since_ms = clock_monotonic_ms();

	if (!task->modern)
		return mcp_client_ask(task->client, "tasks/result", task->params, &task->wait, ret,
		                      err);
	if (!mcp_inputs_answer(task->client, json_object_get(state, "inputRequests"),
	                       &task->wait, task->answered, err))
		return false;
	/* A server that asks a person is not late. */
	task->until_ms += task->until_ms ? clock_monotonic_ms() - since_ms : 0;
	if (json_object_size(task->answered) == before)
		return true; /* it has all of them, and has not looked yet */
	params = json_copy(task->params);
	json_object_set(params, "inputResponses", task->answered);
	return mcp_client_ask(task->client, "tasks/update", params, &task->wait, &result, err);
}

/* Of one that has failed, since 2026-07-28. */
static bool task_failed(const struct server_task *task, const json_t *state, struct err *err)
{
	const json_t *error = json_object_get(state, "error");
	_cleanup_free_ char *said = mcp_said_text(json_object_get(error, "message"), WORDS_SHOWN);

	return err_set(err, ERR_TOOL_FAILED, "The MCP server \"%s\"" MCP_ANSWERED_ERROR "%lld: %s",
	               mcp_client_name(task->client),
	               (long long)json_integer_value(json_object_get(error, "code")), said);
}

static bool task_result(struct server_task *task, const json_t *state, json_t **ret,
                        struct err *err)
{
	const struct span status = json_span(json_object_get(state, "status"));
	_cleanup_free_ char *said =
		mcp_said_text(json_object_get(state, "statusMessage"), WORDS_SHOWN);
	const json_t *result = json_object_get(state, "result");

	task->ended = true;
	if (span_eq(status, SPAN("cancelled")))
		return err_set(err, ERR_TOOL_FAILED,
		               "The MCP server \"%s\" cancelled the task that the call had "
		               "become. %s", mcp_client_name(task->client), said);
	if (!span_eq(status, SPAN("completed")) && !span_eq(status, SPAN("failed")))
		return err_set(err, ERR_TOOL_FAILED,
		               "The MCP server \"%s\" answered with a task in a state that hasp "
		               "does not know.", mcp_client_name(task->client));
	if (!task->modern)
		return mcp_client_ask(task->client, "tasks/result", task->params, &task->wait, ret,
		                      err);
	if (span_eq(status, SPAN("failed")))
		return task_failed(task, state, err);
	if (!json_is_object(result))
		return err_set(err, ERR_TOOL_FAILED,
		               "The MCP server \"%s\" ended a task without a result.",
		               mcp_client_name(task->client));
	*ret = json_incref((json_t *)result);
	return true;
}

static bool task_is_over(const struct server_task *task, struct err *err)
{
	if (cancelled(task->wait.cancel))
		return !err_set(err, ERR_CANCELLED,
		                "The call was cancelled. The MCP server \"%s\" was notified; what "
		                "it had already done is not "
		                "undone.", mcp_client_name(task->client));
	if (task->until_ms && clock_monotonic_ms() >= task->until_ms)
		return !err_set(err, ERR_TOOL_FAILED,
		                "The task that the MCP server \"%s\" made of the call did not end "
		                "within %d times the %u ms of mcpServers.%s.timeout.",
		                mcp_client_name(task->client), LIMIT_MCP_PROLONGED,
		                task->wait.timeout_ms, mcp_client_name(task->client));
	return false;
}

/* Until it has ended. `state`: what it was created with; taken. */
static bool task_follow(struct server_task *task, json_t *state, json_t **ret, struct err *err)
{
	json_auto_t *now = state;

	*ret = NULL;
	task_tell(task, NULL, now);
	for (;;) {
		const struct span status = json_span(json_object_get(now, "status"));
		json_t *next = NULL;

		if (span_eq(status, SPAN("input_required"))) {
			if (!task_input(task, now, ret, err))
				return false;
			if (*ret)
				return true;
		} else if (!span_eq(status, SPAN("working"))) {
			return task_result(task, now, ret, err);
		}
		task_sleep(task, now);
		if (task_is_over(task, err) ||
		    !mcp_client_ask(task->client, "tasks/get", task->params, &task->wait, &next,
		                    err))
			return false;
		task_tell(task, now, next);
		json_decref(now);
		now = next;
	}
}

/* ---- a call ---- */

/* A call that may become a task: because it asks for one (2025-11-25), or because the server makes
 * one of it (2026-07-28). */
static bool call_as_task(struct mcp_client *client, const json_t *params, bool asks_for_task,
                         const struct mcp_wait *wait, json_t **ret, struct err *err)
{
	struct server_task task = { .client = client, .wait = *wait,
		                    .modern = mcp_client_is_modern(client) };
	const uint64_t longest_ms = (uint64_t)LIMIT_MCP_PROLONGED * wait->timeout_ms;
	json_auto_t *own = json_copy((json_t *)params), *result = NULL;
	json_t *state;
	bool ok;

	if (asks_for_task)
		json_object_set_new(own, "task", wait->timeout_ms ?
		                    json_pack("{s:I}", "ttl", (json_int_t)longest_ms) :
		                    json_object());
	task.wait.token = mcp_client_number(client);
	task.until_ms = wait->timeout_ms ? clock_monotonic_ms() + longest_ms : 0;
	if (!mcp_client_request(client, "tools/call", own, &task.wait, &result, err))
		return false;
	state = asks_for_task ? json_object_get(result, "task") :
	                        mcp_modern_task(result) ? result : NULL;
	if (!state) {
		/* A server may answer immediately instead of creating a task. */
		*ret = json_is_object(result) ? mem_steal(&result) : NULL;
		return *ret || err_set(err, ERR_TOOL_FAILED,
		                       "The MCP server \"%s\" answered tools/call with no object.",
		                       mcp_client_name(client));
	}
	if (!task_name(&task, state, err))
		return false;
	task.answered = json_object();
	ok = task_follow(&task, json_incref(state), ret, err);
	if (!ok && !task.ended && !mcp_client_lost(client))
		task_cancel(&task);
	json_decref(task.params);
	json_decref(task.answered);
	return ok;
}

bool mcp_client_call(struct mcp_client *client, const char *tool, const json_t *arguments,
                     const struct mcp_wait *wait, json_t **ret, struct err *err)
{
	json_auto_t *params = json_pack("{s:s, s:o}", "name", tool, "arguments",
	                                arguments ? json_incref((json_t *)arguments) :
	                                            json_object());
	const bool asks = mcp_client_requires_task(client, tool);
	bool ok;

	mcp_client_begin_call(client);
	ok = asks || mcp_client_is_modern(client) ?
	             call_as_task(client, params, asks, wait, ret, err) :
	             mcp_client_ask(client, "tools/call", params, wait, ret, err);
	mcp_client_end_call(client);
	return ok;
}
