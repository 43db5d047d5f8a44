/* SPDX-License-Identifier: Apache-2.0 */
/* A client's life: what is negotiated with the server, requests, notifications, its tools. */
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/answers.h"
#include "mcp/client/client.h"
#include "mcp/client/internals.h"
#include "mcp/client/requests.h"
#include "mcp/client/transport.h"
#include "mcp/client/watch.h"

/* ---- what waits for an answer ---- */

void mcp_ask_ring(const struct mcp_ask *ask)
{
	fd_ring(ask->wake_fd);
}

uint64_t mcp_ask_held_ms(const struct mcp_ask *ask)
{
	return mcp_answers_held_ms(ask->client->answers) - ask->held_ms;
}

int64_t mcp_ask_progress_token(const struct mcp_ask *ask)
{
	return ask->wait->token ? ask->wait->token : ask->id;
}

/* ---- life ---- */

static void send_to_server(void *data, struct span message)
{
	struct mcp_client *client = data;
	struct err ignored = ERR_INIT;

	client->ops->send(client->transport, message, NULL, &ignored);
}

static json_t *own_capabilities(const struct mcp_client_options *options)
{
	json_t *own = options->capabilities ? json_deep_copy(options->capabilities) : json_object();

	if (options->roots)
		json_object_set_new(own, "roots", json_object());
	if (options->samples)
		json_object_set_new(own, "sampling", json_object());
	return own;
}

struct mcp_client *mcp_client_new(const struct mcp_client_options *options,
                              const struct mcp_transport_ops *ops, void *transport)
{
	struct mcp_client *client = mem_alloc(1, sizeof(*client));

	client->ops = ops;
	client->transport = transport;
	client->options = *options;
	client->name = mem_strdup(options->name);
	client->options.name = client->name;
	client->capabilities = own_capabilities(options);
	client->answers = mcp_answers_new(&client->options, send_to_server, client);
	client->watch = mcp_watch_new();
	client->holders = 1;
	pthread_mutex_init(&client->lock, NULL);
	cancel_init_lazily(&client->over);
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
	/* Answers use the transport, and what it brings makes more of them. */
	mcp_answers_stop(client->answers);
	mcp_answers_await(client->answers);
	client->ops->free(client->transport);
	mcp_answers_free(client->answers);
	mcp_watch_free(client->watch);
	json_decref(client->capabilities);
	json_decref(client->mirrored);
	json_decref(client->as_tasks);
	json_decref(client->hello);
	pthread_mutex_destroy(&client->lock);
	cancel_release(&client->over);
	free(client->name);
	free(client);
}

void mcp_client_end(struct mcp_client *client)
{
	mcp_answers_stop(client->answers);
	client->ops->end(client->transport);
}

void mcp_client_lose(struct mcp_client *client, const struct err *why)
{
	pthread_mutex_lock(&client->lock);
	if (!cancelled(&client->over))
		client->why_lost = *why;
	cancel_set(&client->over);
	for (const struct mcp_ask *ask = client->asked; ask; ask = ask->next)
		mcp_ask_ring(ask);
	pthread_mutex_unlock(&client->lock);
	mcp_answers_stop(client->answers);
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

bool mcp_client_lost(struct mcp_client *client)
{
	return cancelled(&client->over);
}

const struct cancel *mcp_client_over(const struct mcp_client *client)
{
	return &client->over;
}

bool mcp_client_forgotten(struct mcp_client *client)
{
	bool forgotten;

	pthread_mutex_lock(&client->lock);
	forgotten = client->forgotten;
	pthread_mutex_unlock(&client->lock);
	return forgotten;
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

const char *const *mcp_client_headers(const struct mcp_ask *ask)
{
	return (const char *const *)ask->headers;
}

/* ---- for its notices ---- */

struct mcp_watch *mcp_client_watches(struct mcp_client *client)
{
	return client->watch;
}

bool mcp_client_is_modern(const struct mcp_client *client)
{
	return client->modern;
}

bool mcp_client_exchanges(const struct mcp_client *client)
{
	return client->ops->exchanges;
}

int64_t mcp_client_number(struct mcp_client *client)
{
	int64_t number;

	pthread_mutex_lock(&client->lock);
	number = ++client->last_id;
	pthread_mutex_unlock(&client->lock);
	return number;
}

json_t *mcp_client_meta(const struct mcp_client *client)
{
	/* Nothing is logged on a stream of notices. */
	return mcp_modern_meta(client->capabilities, NULL);
}

bool mcp_client_transmit(struct mcp_client *client, struct span message, int64_t number,
                         const char *const *headers)
{
	struct err ignored = ERR_INIT;

	return client->ops->listen && headers ?
	               client->ops->listen(client->transport, message, number, headers) :
	               client->ops->send(client->transport, message, NULL, &ignored);
}

/* ---- requests and notifications from the server ---- */

char *mcp_said_text(const json_t *text, size_t max)
{
	_cleanup_buf_ struct buf line = BUF_INIT(8 * max);

	name_line(&line, utf8_head(json_span(text), max));
	return buf_steal(&line);
}

bool mcp_client_answer(struct mcp_client *client, const char *method, const json_t *params,
                       const struct mcp_wait *wait, const struct mcp_expected *expected,
                       json_t **ret, struct err *err)
{
	return mcp_answers_within(client->answers, method, params, wait, expected, ret, err);
}

void mcp_client_begin_call(struct mcp_client *client)
{
	mcp_answers_begin_call(client->answers);
}

void mcp_client_end_call(struct mcp_client *client)
{
	mcp_answers_end_call(client->answers);
}

void mcp_client_stop_clock(struct mcp_client *client)
{
	mcp_answers_stop_clock(client->answers);
}

void mcp_client_restart_clock(struct mcp_client *client)
{
	mcp_answers_restart_clock(client->answers);
}

uint64_t mcp_client_held_ms(struct mcp_client *client)
{
	return mcp_answers_held_ms(client->answers);
}

void mcp_client_expect(struct mcp_client *client, struct mcp_expected *expected)
{
	expected->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_lock(&client->lock);
	expected->next = client->expected;
	client->expected = expected;
	pthread_mutex_unlock(&client->lock);
}

void mcp_client_expect_no_more(struct mcp_client *client, struct mcp_expected *expected)
{
	struct mcp_expected **at = &client->expected;

	pthread_mutex_lock(&client->lock);
	while (*at != expected)
		at = &(*at)->next;
	*at = expected->next;
	pthread_mutex_unlock(&client->lock);
	fd_cleanup_close(&expected->wake_fd);
}

/* ---- for the handshake ---- */

const char *mcp_client_log_level(const struct mcp_client *client)
{
	const json_t *can = json_object_get(client->hello, "capabilities");

	return json_is_object(json_object_get(can, "logging")) ? client->options.log_level : NULL;
}

const json_t *mcp_client_capabilities(const struct mcp_client *client)
{
	return client->capabilities;
}

void mcp_client_try_modern(struct mcp_client *client)
{
	client->modern = true;
}

void mcp_client_try_older(struct mcp_client *client)
{
	client->modern = false;
}

void mcp_client_agree(struct mcp_client *client, const char *version, json_t *hello)
{
	client->version = version;
	client->hello = json_incref(hello);
	if (!client->modern && client->ops->agreed)
		client->ops->agreed(client->transport, version);
}

/* ---- its tools ---- */

/* Over HTTP, of 2026-07-28: leaves out tools whose headers are wrong, and keeps those of others. */
static void take_mirrored(struct mcp_client *client, json_t *tools)
{
	json_t *all = json_object();
	size_t i = 0;

	while (i < json_array_size(tools)) {
		const json_t *tool = json_array_get(tools, i);
		const char *name = json_string_value(json_object_get(tool, "name"));
		struct err why = ERR_INIT;
		json_t *mirrored = NULL;

		if (!mcp_modern_mirrored(tool, &mirrored, &why)) {
			mcp_client_log(client, span_str(why.message));
			json_array_remove(tools, i);
			continue;
		}
		if (name && json_object_size(mirrored))
			json_object_set(all, name, mirrored);
		json_decref(mirrored);
		i++;
	}
	pthread_mutex_lock(&client->lock);
	json_decref(client->mirrored);
	client->mirrored = all;
	pthread_mutex_unlock(&client->lock);
}

/* Tools that must be called as tasks (2025-11-25; later the server decides at each call). */
static void take_as_tasks(struct mcp_client *client, const json_t *tools)
{
	static const char *const capability[] = { "capabilities", "tasks", "requests", "tools",
		                                  "call" };
	json_t *can = client->hello, *all = json_object(), *tool;
	size_t i;

	for (i = 0; i < ARRAY_LEN(capability); i++)
		can = json_object_get(can, capability[i]);
	json_array_foreach((json_t *)tools, i, tool) {
		const json_t *execution = json_object_get(tool, "execution");
		const char *name = json_string_value(json_object_get(tool, "name"));

		if (name && json_is_object(can) && !client->modern &&
		    span_eq(json_span(json_object_get(execution, "taskSupport")),
		            SPAN("required")))
			json_object_set_new(all, name, json_true());
	}
	pthread_mutex_lock(&client->lock);
	json_decref(client->as_tasks);
	client->as_tasks = all;
	pthread_mutex_unlock(&client->lock);
}

void mcp_client_declared(struct mcp_client *client, json_t *tools)
{
	if (client->modern && client->ops->exchanges)
		take_mirrored(client, tools);
	take_as_tasks(client, tools);
}

bool mcp_client_requires_task(struct mcp_client *client, const char *tool)
{
	bool required;

	pthread_mutex_lock(&client->lock);
	required = json_object_get(client->as_tasks, tool);
	pthread_mutex_unlock(&client->lock);
	return required;
}
