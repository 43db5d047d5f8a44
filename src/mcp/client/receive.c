/* SPDX-License-Identifier: Apache-2.0 */
/* Messages from a server, whatever carries them: answers and whose they are, notifications,
 * requests. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/answers.h"
#include "mcp/client/client.h"
#include "mcp/client/internals.h"
#include "mcp/client/requests.h"
#include "mcp/client/transport.h"
#include "mcp/client/watch.h"
#include "net/rpc/rpc.h"

enum { PROGRESS_SHOWN = 200 }; /* bytes of what a report says */

/* ---- notifications ---- */

/* With the lock. False: it was not expected. */
static bool note_complete(struct mcp_client *client, const json_t *params)
{
	const char *id = json_string_value(json_object_get(params, "elicitationId"));
	bool known = false;

	for (struct mcp_expected *one = client->expected; id && one; one = one->next) {
		if (json_object_del(one->ids, id) < 0)
			continue;
		known = true;
		if (json_object_size(one->ids))
			continue;
		one->over = true;
		fd_ring(one->wake_fd);
	}
	return known;
}

/* With the lock: progress shows that the server is working. */
static void ask_prolong(struct mcp_ask *ask)
{
	const uint64_t until = clock_monotonic_ms() - mcp_ask_held_ms(ask) + ask->wait->timeout_ms;

	if (ask->until_ms)
		ask->until_ms = until < ask->longest_ms ? until : ask->longest_ms;
}

/* With the lock. False: it is of no request, or says nothing new (progress has to grow). */
static bool note_progress(struct mcp_client *client, const json_t *params)
{
	const json_t *token = json_object_get(params, "progressToken");
	const json_t *done = json_object_get(params, "progress");
	const json_t *said = json_object_get(params, "message");
	struct mcp_ask *ask = client->asked;

	while (ask && !(json_is_integer(token) &&
	                json_integer_value(token) == mcp_ask_progress_token(ask)))
		ask = ask->next;
	if (!ask || ask->answered || !ask->wait->progress || !json_is_number(done) ||
	    (ask->reported && json_number_value(done) <= ask->done))
		return false;
	ask->reported = ask->news = true;
	ask->done = json_number_value(done);
	ask->total = json_number_value(json_object_get(params, "total"));
	free(ask->said);
	ask->said = json_is_string(said) ? mcp_said_text(said, PROGRESS_SHOWN) : NULL;
	ask_prolong(ask);
	mcp_ask_ring(ask);
	return true;
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
	if (client->options.logged)
		client->options.logged(client->options.data, params);
}

/* The lists that a notification reports as changed; 0: it is a different one. */
static unsigned list_of_notice(const char *method)
{
	unsigned lists = 0;

	for (unsigned i = 0; i < MCP_LISTS; i++)
		if (!strcmp(method, mcp_lists[i].changed))
			lists |= 1u << i;
	return lists;
}

static void take_notification(struct mcp_client *client, const struct rpc_message *message)
{
	bool known = false;

	if (!strcmp(message->method, "notifications/message"))
		log_message(client, message->body);
	else if (!strcmp(message->method, "notifications/cancelled"))
		mcp_answers_withdraw(client->answers,
		                     json_object_get(message->body, "requestId"));
	else if (!strcmp(message->method, "notifications/resources/updated"))
		known = mcp_watch_updated(client->watch, message->body);
	else if (client->options.noticed)
		known = client->options.noticed(client->options.data, message->method,
		                                message->body);
	pthread_mutex_lock(&client->lock);
	if (!strcmp(message->method, "notifications/progress"))
		known = note_progress(client, message->body);
	else if (!strcmp(message->method, "notifications/elicitation/complete"))
		known = note_complete(client, message->body);
	client->lists_changed |= list_of_notice(message->method);
	client->unasked += !known;
	pthread_mutex_unlock(&client->lock);
}

/* ---- answers ---- */

static void set_answer_error(struct mcp_ask *ask, const json_t *error)
{
	_cleanup_free_ char *said = mcp_said_text(json_object_get(error, "message"),
	                                          MCP_ERROR_SHOWN);

	ask->refusal = json_incref((json_t *)error);
	err_set(&ask->error, ERR_TOOL_FAILED,
	        "The MCP server \"%s\"" MCP_ANSWERED_ERROR "%lld: %s", ask->client->name,
	        (long long)json_integer_value(json_object_get(error, "code")), said);
}

/* With the lock. */
static struct mcp_ask *find_ask(const struct mcp_client *client, int64_t id)
{
	struct mcp_ask *ask = client->asked;

	while (ask && !(ask->sent && ask->id == id && !ask->answered))
		ask = ask->next;
	return ask;
}

/* With the lock: what came in place of its answer. */
static void fail_ask(struct mcp_ask *ask, const char *why)
{
	ask->answered = true;
	err_set(&ask->error, ERR_TOOL_FAILED,
	        "The MCP server \"%s\" sent an answer that cannot be read: %s", ask->client->name,
	        why);
	mcp_ask_ring(ask);
}

void mcp_client_settle_doubtful(struct mcp_client *client)
{
	size_t waiting = 0;

	for (const struct mcp_ask *ask = client->asked; ask; ask = ask->next)
		waiting += ask->doubtful && !ask->answered;
	if (waiting > client->unread)
		return;
	for (struct mcp_ask *ask = client->asked; ask; ask = ask->next)
		if (ask->doubtful && !ask->answered)
			fail_ask(ask, client->unread_why);
	client->unread = 0;
}

/* With the lock: of `count` answers it is not known whose they were. */
static void doubt_all(struct mcp_client *client, size_t count, const char *why)
{
	snprintf(client->unread_why, sizeof(client->unread_why), "%s", why);
	client->unread += count;
	for (struct mcp_ask *ask = client->asked; ask; ask = ask->next)
		ask->doubtful = ask->doubtful || (ask->sent && !ask->answered);
	mcp_client_settle_doubtful(client);
}

/* The number that a server has made a string of; -1: none. */
static int64_t id_of_string(const json_t *id)
{
	struct rpc_remains remains = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RPC_ID_BYTES + 20);

	buf_str(&text, "{\"id\":\"");
	buf_span(&text, json_span(id));
	if (buf_str(&text, "\"}"))
		rpc_remains_read(buf_view(&text), &remains);
	return remains.has_id ? remains.id : -1;
}

/* With the lock.  It is for no request that waits: perhaps for one that gave up waiting; else it
 * takes the place of an answer. */
static void take_stray_answer(struct mcp_client *client, const struct rpc_message *message,
                              struct mcp_ask *asked)
{
	struct mcp_ask *ask = asked;

	client->unasked++;
	if (!ask && json_is_string(message->id))
		ask = find_ask(client, id_of_string(message->id));
	if (ask && !ask->answered && message->id) {
		fail_ask(ask, "its id is not that of the request.");
	} else if (ask && !ask->answered) { /* an error: what we sent was not read to its id */
		ask->answered = true;
		set_answer_error(ask, message->body);
		mcp_ask_ring(ask);
	} else if (!message->id) {
		doubt_all(client, 1, "it is an error without an id.");
	}
}

static void match_answer(struct mcp_client *client, const struct rpc_message *message,
                         struct mcp_ask *asked)
{
	struct mcp_ask *ask;

	if (json_is_integer(message->id) &&
	    mcp_watch_ended(client->watch, json_integer_value(message->id),
	                    message->kind == RPC_ERROR))
		return;
	pthread_mutex_lock(&client->lock);
	ask = json_is_integer(message->id) ? find_ask(client, json_integer_value(message->id)) :
	                                     NULL;
	if (!ask) {
		take_stray_answer(client, message, asked);
	} else {
		ask->answered = true;
		client->unasked = 0;
		if (message->kind == RPC_ERROR)
			set_answer_error(ask, message->body);
		else
			ask->result = json_incref((json_t *)message->body);
		mcp_ask_ring(ask);
		mcp_client_settle_doubtful(client);
	}
	pthread_mutex_unlock(&client->lock);
}

/* A server that sends only unsolicited messages would be read forever. */
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
	        "The MCP server \"%s\" sent %d unsolicited messages, and was stopped.",
	        client->name, LIMIT_MCP_UNASKED);
	mcp_client_lose(client, &why);
}

static void client_take_message(struct mcp_client *client, struct rpc_message *message,
                                struct mcp_ask *asked)
{
	if (message->kind == RPC_REQUEST) {
		mcp_answers_take(client->answers, message->id, message->method, message->body);
		pthread_mutex_lock(&client->lock);
		client->unasked++;
		pthread_mutex_unlock(&client->lock);
	} else if (message->kind == RPC_NOTIFICATION) {
		take_notification(client, message);
	} else {
		match_answer(client, message, asked);
	}
	check_unasked(client);
	rpc_message_release(message);
}

/* No message.  Many servers print a greeting, or log, where messages belong: what is none of ours
 * is only logged. */
static void client_take_unreadable(struct mcp_client *client, struct span text,
                                   struct mcp_ask *asked, const char *why)
{
	struct rpc_remains remains;
	struct mcp_ask *ask;

	mcp_client_log(client, utf8_head(text, LIMIT_MCP_LOG_LINE));
	rpc_remains_read(text, &remains);
	pthread_mutex_lock(&client->lock);
	client->unasked++;
	ask = asked && !asked->answered ? asked :
	      remains.has_id            ? find_ask(client, remains.id) : NULL;
	if (remains.messages && !remains.is_call) {
		if (ask)
			fail_ask(ask, why);
		else if (!remains.has_id)
			doubt_all(client, remains.messages, why);
	}
	pthread_mutex_unlock(&client->lock);
	check_unasked(client);
}

/* One value, with its encoding repaired. */
static bool client_parse(struct mcp_client *client, struct span text, json_t **ret,
                         struct rpc_problem *problem)
{
	size_t repaired = 0;
	const bool ok = rpc_parse_foreign(text, ret, &repaired, problem);

	if (ok && repaired && client->options.repaired)
		client->options.repaired(client->options.data);
	return ok;
}

static bool client_parse_message(struct mcp_client *client, struct span text,
                                 struct rpc_message *ret, struct rpc_problem *problem)
{
	json_t *value;

	return client_parse(client, text, &value, problem) && rpc_parse_value(value, ret, problem);
}

/* Messages of 2025-03-26 may come together. */
static bool client_take_batch(struct mcp_client *client, struct span text,
                              struct mcp_ask *asked)
{
	json_auto_t *batch = NULL;
	struct rpc_problem problem;
	struct rpc_message message;
	json_t *value;
	size_t i;

	if (!span_starts(text, SPAN("[")) || !client_parse(client, text, &batch, &problem))
		return false;
	if (!json_array_size(batch)) /* it counts as one that cannot be read */
		return false;
	json_array_foreach(batch, i, value) {
		if (rpc_parse_value(json_incref(value), &message, &problem)) {
			client_take_message(client, &message, asked);
		} else {
			_cleanup_buf_ struct buf one = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES);

			json_print(&one, value, 0);
			client_take_unreadable(client, buf_view(&one), asked, problem.message);
			rpc_problem_release(&problem);
		}
	}
	return true;
}

void mcp_client_receive(struct mcp_client *client, struct span text, struct mcp_ask *asked)
{
	const char *glued = span_starts(text, SPAN("{")) || !text.len ? NULL :
	                    memmem(text.data, text.len, "{\"jsonrpc\"", 10);
	struct rpc_message message;
	struct rpc_problem problem, ignored;

	if (mcp_client_lost(client) || client_take_batch(client, text, asked))
		return;
	if (client_parse_message(client, text, &message, &problem)) {
		client_take_message(client, &message, asked);
		return;
	}
	/* What a program prints without a line's end stands before its next message. */
	if (glued && client_parse_message(client, span_skip(text, (size_t)(glued - text.data)),
	                                  &message, &ignored)) {
		if (message.kind == RPC_RESULT || message.kind == RPC_ERROR) {
			client_take_message(client, &message, asked);
			rpc_problem_release(&problem);
			return;
		}
		rpc_message_release(&message);
	} else if (glued) {
		rpc_problem_release(&ignored);
	}
	client_take_unreadable(client, text, asked, problem.message);
	rpc_problem_release(&problem);
}
