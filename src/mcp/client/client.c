/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and their answers, whatever carries them; what the server asks. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/private.h"
#include "net/rpc/rpc.h"

enum {
	POLL_MS = 20,
	PAGES_MAX = 100,      /* of a list: a cursor may lead to itself */
	ERROR_SHOWN = 400,    /* of a server's own sentence */
};

/* Newest first: the first is what is offered. */
static const char *const client_versions[] = { "2025-11-25", "2025-06-18", "2025-03-26",
	                                       "2024-11-05" };

/* A request whose answer has not come. */
struct mcp_ask {
	struct mcp_client *client;
	const struct mcp_wait *wait;
	uint64_t until_ms;      /* 0: for ever */
	int64_t id;
	bool answered;
	json_t *result;         /* owned; NULL: it is an error */
	struct err error;       /* of an answer */
	struct mcp_ask *next;
};

struct mcp_client {
	_Atomic unsigned holders;
	const struct mcp_transport_ops *ops;
	void *transport;
	struct mcp_client_options options;
	char *name;
	json_t *roots;
	json_t *hello;           /* of initialize */
	const char *version;     /* in force; NULL: none yet */
	pthread_mutex_t lock;    /* of what follows */
	pthread_cond_t changed;
	struct mcp_ask *asked;
	int64_t last_id;
	size_t unasked;          /* messages since the last answer */
	bool lost, forgotten;
	unsigned lists_changed;  /* enum mcp_list_changed */
	struct err why_lost;
};

/* ---- life ---- */

struct mcp_client *mcp_client_new(const struct mcp_client_options *options,
                              const struct mcp_transport_ops *ops, void *transport)
{
	struct mcp_client *client = mem_alloc(1, sizeof(*client));

	client->ops = ops;
	client->transport = transport;
	client->options = *options;
	client->name = mem_strdup(options->name);
	client->roots = json_incref((json_t *)options->roots);
	client->holders = 1;
	pthread_mutex_init(&client->lock, NULL);
	pthread_cond_init(&client->changed, NULL);
	return client;
}

struct mcp_client *mcp_client_ref(struct mcp_client *client)
{
	atomic_fetch_add(&client->holders, 1);
	return client;
}

void mcp_client_unref(struct mcp_client *client)
{
	if (!client || atomic_fetch_sub(&client->holders, 1) > 1)
		return;
	client->ops->free(client->transport);
	json_decref(client->roots);
	json_decref(client->hello);
	pthread_cond_destroy(&client->changed);
	pthread_mutex_destroy(&client->lock);
	free(client->name);
	free(client);
}

void mcp_client_end(struct mcp_client *client)
{
	client->ops->end(client->transport);
}

void mcp_client_lose(struct mcp_client *client, const struct err *why)
{
	pthread_mutex_lock(&client->lock);
	if (!client->lost)
		client->why_lost = *why;
	client->lost = true;
	pthread_cond_broadcast(&client->changed);
	pthread_mutex_unlock(&client->lock);
}

void mcp_client_forget(struct mcp_client *client)
{
	struct err why = ERR_INIT;

	err_set(&why, ERR_TOOL_FAILED, "The MCP server \"%s\" has ended the session.",
	        client->name);
	pthread_mutex_lock(&client->lock);
	client->forgotten = true;
	pthread_mutex_unlock(&client->lock);
	mcp_client_lose(client, &why);
}

static bool client_flag(struct mcp_client *client, const bool *flag)
{
	bool set;

	pthread_mutex_lock(&client->lock);
	set = *flag;
	pthread_mutex_unlock(&client->lock);
	return set;
}

bool mcp_client_lost(struct mcp_client *client)
{
	return client_flag(client, &client->lost);
}

bool mcp_client_forgotten(struct mcp_client *client)
{
	return client_flag(client, &client->forgotten);
}

unsigned mcp_client_changed(struct mcp_client *client)
{
	unsigned changed;

	pthread_mutex_lock(&client->lock);
	changed = client->lists_changed;
	client->lists_changed = 0;
	pthread_mutex_unlock(&client->lock);
	return changed;
}

const char *mcp_client_version(const struct mcp_client *client)
{
	return client->version;
}

const json_t *mcp_client_hello(const struct mcp_client *client)
{
	return client->hello;
}

json_t *mcp_client_denials(struct mcp_client *client, size_t from, size_t *ret_next)
{
	if (ret_next)
		*ret_next = from;
	return client->ops->denials ?
	               client->ops->denials(client->transport, from, ret_next) :
	               json_array();
}

void mcp_client_log(struct mcp_client *client, struct span line)
{
	if (client->options.log)
		client->options.log(client->options.data, line);
}

const char *mcp_client_name(const struct mcp_client *client)
{
	return client->name;
}

/* ---- what the server asks, and tells ---- */

static void answer_server(struct mcp_client *client, const struct rpc_message *message)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES);
	struct err ignored = ERR_INIT;

	if (!strcmp(message->method, "ping")) {
		rpc_write_result(&out, message->id, NULL);
	} else if (!strcmp(message->method, "roots/list") && client->roots) {
		json_auto_t *result = json_pack("{s:O}", "roots", client->roots);

		rpc_write_result(&out, message->id, result);
	} else {
		rpc_write_error(&out, message->id, RPC_METHOD_NOT_FOUND,
		                "The client does not have this method.", NULL);
	}
	if (!out.overflowed)
		client->ops->send(client->transport, buf_view(&out), NULL, &ignored);
}

/* A number that a server sent as whole parts; what is none is 0. */
static size_t progress_parts(const json_t *value)
{
	const double number = json_number_value(value);

	return number >= 1 && number < 1e15 ? (size_t)number : 0;
}

/* With the lock, so that nobody is told after the request has returned. False: of no request. */
static bool tell_progress(struct mcp_client *client, const json_t *params)
{
	const json_t *token = json_object_get(params, "progressToken");

	for (struct mcp_ask *ask = client->asked; ask; ask = ask->next) {
		if (!json_is_integer(token) || json_integer_value(token) != ask->id)
			continue;
		if (ask->wait->progress && !ask->answered)
			ask->wait->progress(ask->wait->data,
			                    progress_parts(json_object_get(params, "progress")),
			                    progress_parts(json_object_get(params, "total")));
		return true;
	}
	return false;
}

static void log_message(struct mcp_client *client, const json_t *params)
{
	const json_t *said = json_object_get(params, "data");
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_MCP_LOG_LINE);

	if (json_is_string(said))
		buf_span(&line, utf8_head(json_span(said), LIMIT_MCP_LOG_LINE / 2));
	else if (said)
		json_print(&line, said, 0);
	mcp_client_log(client, buf_view(&line));
}

/* What a notice says is another now; 0: it is no such notice. */
static unsigned list_of_notice(const char *method)
{
	return !strcmp(method, "notifications/tools/list_changed")     ? MCP_TOOLS_CHANGED :
	       !strcmp(method, "notifications/prompts/list_changed")   ? MCP_PROMPTS_CHANGED :
	       !strcmp(method, "notifications/resources/list_changed") ? MCP_RESOURCES_CHANGED :
	                                                                 0;
}

static void take_notification(struct mcp_client *client, const struct rpc_message *message)
{
	bool known = false;

	if (!strcmp(message->method, "notifications/message"))
		log_message(client, message->body);
	pthread_mutex_lock(&client->lock);
	if (!strcmp(message->method, "notifications/progress"))
		known = tell_progress(client, message->body);
	client->lists_changed |= list_of_notice(message->method);
	client->unasked += !known;
	pthread_mutex_unlock(&client->lock);
}

/* ---- answers ---- */

/* A server's words as a part of one line, without what acts on a terminal. The caller frees. */
static char *said_text(const json_t *text)
{
	_cleanup_buf_ struct buf line = BUF_INIT(8 * ERROR_SHOWN);

	name_line(&line, utf8_head(json_span(text), ERROR_SHOWN));
	return buf_steal(&line);
}

static void set_answer_error(struct mcp_ask *ask, const json_t *error)
{
	_cleanup_free_ char *said = said_text(json_object_get(error, "message"));

	err_set(&ask->error, ERR_TOOL_FAILED,
	        "The MCP server \"%s\" answered with error %lld: %s", ask->client->name,
	        (long long)json_integer_value(json_object_get(error, "code")), said);
}

static void match_answer(struct mcp_client *client, const struct rpc_message *message)
{
	struct mcp_ask *ask;

	pthread_mutex_lock(&client->lock);
	ask = client->asked;
	while (ask && !(json_is_integer(message->id) &&
	                json_integer_value(message->id) == ask->id && !ask->answered))
		ask = ask->next;
	if (!ask) {
		client->unasked++;
	} else {
		ask->answered = true;
		client->unasked = 0;
		if (message->kind == RPC_ERROR)
			set_answer_error(ask, message->body);
		else
			ask->result = json_incref((json_t *)message->body);
		pthread_cond_broadcast(&client->changed);
	}
	pthread_mutex_unlock(&client->lock);
}

/* A server that sends nothing but what nobody asked for would be read for ever. */
static void check_unasked(struct mcp_client *client)
{
	struct err why = ERR_INIT;
	bool too_many;

	pthread_mutex_lock(&client->lock);
	too_many = client->unasked > LIMIT_MCP_UNASKED;
	pthread_mutex_unlock(&client->lock);
	if (!too_many)
		return;
	err_set(&why, ERR_TOOL_FAILED,
	        "The MCP server \"%s\" sent %d messages that nobody asked for, and was ended.",
	        client->name, LIMIT_MCP_UNASKED);
	mcp_client_lose(client, &why);
}

void mcp_client_receive(struct mcp_client *client, struct span text)
{
	struct rpc_message message;
	struct rpc_problem problem;

	if (client_flag(client, &client->lost))
		return;
	if (!rpc_parse(text, &message, &problem)) {
		/* Many print a greeting, or log, where messages belong. */
		mcp_client_log(client, utf8_head(text, LIMIT_MCP_LOG_LINE));
		rpc_problem_release(&problem);
		pthread_mutex_lock(&client->lock);
		client->unasked++;
		pthread_mutex_unlock(&client->lock);
		check_unasked(client);
		return;
	}
	if (message.kind == RPC_REQUEST) {
		answer_server(client, &message);
		pthread_mutex_lock(&client->lock);
		client->unasked++;
		pthread_mutex_unlock(&client->lock);
	} else if (message.kind == RPC_NOTIFICATION) {
		take_notification(client, &message);
	} else {
		match_answer(client, &message);
	}
	check_unasked(client);
	rpc_message_release(&message);
}

/* ---- requests ---- */

static bool is_late(const struct mcp_ask *ask)
{
	return ask->until_ms && clock_monotonic_ms() >= ask->until_ms;
}

static bool nobody_waits(const struct mcp_ask *ask)
{
	return ask->wait->cancel && atomic_load(ask->wait->cancel);
}

bool mcp_client_settled(struct mcp_ask *ask)
{
	bool settled;

	pthread_mutex_lock(&ask->client->lock);
	settled = ask->answered || ask->client->lost;
	pthread_mutex_unlock(&ask->client->lock);
	return settled || is_late(ask) || nobody_waits(ask);
}

static void ask_begin(struct mcp_ask *ask)
{
	struct mcp_client *client = ask->client;

	ask->until_ms = ask->wait->timeout_ms ? clock_monotonic_ms() + ask->wait->timeout_ms : 0;
	pthread_mutex_lock(&client->lock);
	ask->id = ++client->last_id;
	ask->next = client->asked;
	client->asked = ask;
	pthread_mutex_unlock(&client->lock);
}

static void ask_end(struct mcp_ask *ask)
{
	struct mcp_ask **at = &ask->client->asked;

	pthread_mutex_lock(&ask->client->lock);
	while (*at != ask)
		at = &(*at)->next;
	*at = ask->next;
	pthread_mutex_unlock(&ask->client->lock);
}

static void await_settled(struct mcp_ask *ask)
{
	struct mcp_client *client = ask->client;
	struct timespec until;

	pthread_mutex_lock(&client->lock);
	while (!ask->answered && !client->lost && !is_late(ask) && !nobody_waits(ask)) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += POLL_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_clockwait(&client->changed, &client->lock, CLOCK_MONOTONIC, &until);
	}
	pthread_mutex_unlock(&client->lock);
}

static bool client_notify_server(struct mcp_client *client, const char *method,
                                 const json_t *params, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES);

	return rpc_write_notification(&out, method, params) &&
	       client->ops->send(client->transport, buf_view(&out), NULL, err);
}

/* initialize must not be cancelled. */
static void cancel_ask(struct mcp_ask *ask, const char *method, const char *reason)
{
	json_auto_t *params = json_pack("{s:I, s:s}", "requestId", (json_int_t)ask->id, "reason",
	                                reason);
	struct err ignored = ERR_INIT;

	if (strcmp(method, "initialize") != 0)
		client_notify_server(ask->client, "notifications/cancelled", params, &ignored);
}

/* Of a request that was sent: its answer, or why there is none. */
static bool settle_ask(struct mcp_ask *ask, const char *method, json_t **ret, struct err *err)
{
	struct mcp_client *client = ask->client;
	bool lost;

	pthread_mutex_lock(&client->lock);
	lost = !ask->answered && client->lost;
	if (lost)
		*err = client->why_lost;
	pthread_mutex_unlock(&client->lock);
	if (lost)
		return false;
	if (ask->answered) {
		if (ask->result) {
			*ret = mem_steal(&ask->result);
			return true;
		}
		*err = ask->error;
		return false;
	}
	if (nobody_waits(ask)) {
		cancel_ask(ask, method, "the user cancelled it");
		return err_set(err, ERR_CANCELLED,
		               "The call was cancelled. The MCP server \"%s\" was told; what it "
		               "had done already is not undone.", client->name);
	}
	cancel_ask(ask, method, "it took too long");
	return err_set(err, ERR_TOOL_FAILED,
	               "The MCP server \"%s\" did not answer %s within %u ms "
	               "(mcpServers.%s.timeout).", client->name, method, ask->wait->timeout_ms,
	               client->name);
}

/* Borrows `params`. */
static bool client_request(struct mcp_client *client, const char *method, const json_t *params,
                           const struct mcp_wait *wait, json_t **ret, struct err *err)
{
	struct mcp_ask ask = { .client = client, .wait = wait, .error = ERR_INIT };
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES);
	json_auto_t *own = params ? json_copy((json_t *)params) : json_object();
	struct err why = ERR_INIT;
	bool sent, ok = false;

	ask_begin(&ask);
	if (wait->progress)
		json_object_set_new(own, "_meta",
		                    json_pack("{s:I}", "progressToken", (json_int_t)ask.id));
	if (!rpc_write_request(&out, ask.id, method, own)) {
		ask_end(&ask);
		return err_set(err, ERR_TOO_LARGE, "The message would be larger than %zu bytes.",
		               LIMIT_MCP_MESSAGE_BYTES);
	}
	sent = client->ops->send(client->transport, buf_view(&out), &ask, &why);
	if (sent)
		await_settled(&ask);
	if (sent || mcp_client_settled(&ask))
		ok = settle_ask(&ask, method, ret, err);
	else
		*err = why;
	ask_end(&ask);
	json_decref(ask.result);
	return ok;
}

/* ---- the handshake ---- */

static bool take_version(struct mcp_client *client, struct err *err)
{
	const struct span said = json_span(json_object_get(client->hello, "protocolVersion"));
	_cleanup_free_ char *shown = said_text(json_object_get(client->hello, "protocolVersion"));

	for (size_t i = 0; i < ARRAY_LEN(client_versions); i++)
		if (span_eq(said, span_str(client_versions[i])))
			client->version = client_versions[i];
	return client->version ||
	       err_set(err, ERR_TOOL_FAILED,
	               "The MCP server \"%s\" speaks protocol version \"%s\", which hasp does not.",
	               client->name, shown);
}

bool mcp_client_begin(struct mcp_client *client, const struct mcp_wait *wait, struct err *err)
{
	json_auto_t *params = json_pack("{s:s, s:{}, s:{s:s, s:s}}", "protocolVersion",
	                                client_versions[0], "capabilities", "clientInfo", "name",
	                                "hasp", "version", HASP_VERSION);
	const struct mcp_wait own = { .timeout_ms = wait->timeout_ms, .cancel = wait->cancel };

	if (client->roots)
		json_object_set_new(json_object_get(params, "capabilities"), "roots",
		                    json_object());
	if (!client_request(client, "initialize", params, &own, &client->hello, err) ||
	    !take_version(client, err))
		return false;
	if (client->ops->agreed)
		client->ops->agreed(client->transport, client->version);
	return client_notify_server(client, "notifications/initialized", NULL, err);
}

/* ---- what it offers ---- */

bool mcp_client_ask(struct mcp_client *client, const char *method, const json_t *params,
                    const struct mcp_wait *wait, json_t **ret, struct err *err)
{
	json_t *result = NULL;

	if (!client_request(client, method, params, wait, &result, err))
		return false;
	if (json_is_object(result)) {
		*ret = result;
		return true;
	}
	json_decref(result);
	return err_set(err, ERR_TOOL_FAILED,
	               "The MCP server \"%s\" answered %s with no object.", client->name, method);
}

bool mcp_client_list(struct mcp_client *client, const char *method, const char *member, size_t most,
                     const struct mcp_wait *wait, json_t **ret, struct err *err)
{
	json_auto_t *all = json_array();
	json_auto_t *params = json_object();
	const struct mcp_wait own = { .timeout_ms = wait->timeout_ms, .cancel = wait->cancel };
	const json_t *next = NULL;

	for (size_t page = 0; !page || (next && page < PAGES_MAX); page++) {
		json_auto_t *result = NULL;

		if (!client_request(client, method, params, &own, &result, err))
			return false;
		if (!json_is_array(json_object_get(result, member)))
			return err_set(err, ERR_TOOL_FAILED,
			               "The MCP server \"%s\" answered %s without a list.",
			               client->name, method);
		json_array_extend(all, json_object_get(result, member));
		json_object_del(params, "cursor");
		if (json_is_string(json_object_get(result, "nextCursor")) &&
		    json_array_size(all) <= most)
			json_object_set(params, "cursor", json_object_get(result, "nextCursor"));
		next = json_object_get(params, "cursor");
	}
	*ret = mem_steal(&all);
	return true;
}

bool mcp_client_call(struct mcp_client *client, const char *tool, const json_t *arguments,
                     const struct mcp_wait *wait, json_t **ret, struct err *err)
{
	json_auto_t *params = json_pack("{s:s, s:o}", "name", tool, "arguments",
	                                arguments ? json_incref((json_t *)arguments) :
	                                            json_object());

	return mcp_client_ask(client, "tools/call", params, wait, ret, err);
}
