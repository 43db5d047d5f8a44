/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a server, whatever carries them, and waiting for their answers. */
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/client/answers.h"
#include "mcp/client/client.h"
#include "mcp/client/internals.h"
#include "mcp/client/requests.h"
#include "mcp/client/transport.h"
#include "net/rpc/rpc.h"

enum {
	POLL_MS = 20,      /* where there is no descriptor to wait for */
	PROGRESS_MS = 100, /* between two reports that are handed over */
};

/* On the requesting thread, without the lock: the callback may use the client. */
static void tell_progress(struct mcp_ask *ask, bool last)
{
	_cleanup_free_ char *said = NULL;
	const uint64_t now = clock_monotonic_ms();
	double done, total;
	bool tell;

	pthread_mutex_lock(&ask->client->lock);
	tell = ask->news && (last || !ask->reported_ms || now - ask->reported_ms >= PROGRESS_MS);
	done = ask->done;
	total = ask->total;
	if (tell) {
		said = mem_steal(&ask->said);
		ask->news = false;
		ask->reported_ms = now;
	}
	pthread_mutex_unlock(&ask->client->lock);
	if (tell)
		ask->wait->progress(ask->wait->data, done, total, said);
}

/* With the lock. -1: there is no hurry. */
static int ask_left_ms(const struct mcp_ask *ask)
{
	const uint64_t now = clock_monotonic_ms(), until = ask->until_ms + mcp_ask_held_ms(ask);

	if (!ask->until_ms)
		return -1;
	return until <= now ? 0 : until - now > INT_MAX ? INT_MAX : (int)(until - now);
}

static bool nobody_waits(const struct mcp_ask *ask)
{
	return cancelled(ask->wait->cancel);
}

bool mcp_client_settled(struct mcp_ask *ask)
{
	bool settled;

	pthread_mutex_lock(&ask->client->lock);
	settled = ask->answered || cancelled(&ask->client->over) || ask_left_ms(ask) == 0;
	pthread_mutex_unlock(&ask->client->lock);
	tell_progress(ask, /* last= */ settled);
	return settled || nobody_waits(ask);
}

void mcp_client_wait_of(struct mcp_ask *ask, const struct cancel **ret_cancel,
                        uint64_t *ret_until_ms)
{
	int left_ms;

	pthread_mutex_lock(&ask->client->lock);
	left_ms = ask_left_ms(ask);
	pthread_mutex_unlock(&ask->client->lock);
	*ret_cancel = ask->wait->cancel;
	*ret_until_ms = left_ms < 0 ? 0 : clock_monotonic_ms() + (uint64_t)left_ms;
}

void mcp_client_response_started(struct mcp_ask *ask)
{
	const uint64_t until = clock_monotonic_ms() + ask->wait->started_ms;

	pthread_mutex_lock(&ask->client->lock);
	if (ask->wait->started_ms && (!ask->until_ms || until < ask->until_ms))
		ask->until_ms = until;
	pthread_mutex_unlock(&ask->client->lock);
}

static void ask_begin(struct mcp_ask *ask)
{
	struct mcp_client *client = ask->client;
	const uint64_t now = clock_monotonic_ms();

	ask->held_ms = mcp_answers_held_ms(client->answers);
	ask->until_ms = ask->wait->timeout_ms ? now + ask->wait->timeout_ms : 0;
	ask->longest_ms = now + (uint64_t)LIMIT_MCP_PROLONGED * ask->wait->timeout_ms;
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
	mcp_client_settle_doubtful(ask->client);
	pthread_mutex_unlock(&ask->client->lock);
}

/* How long to sleep if no event arrives. */
static int ask_sleep_ms(struct mcp_ask *ask, bool polls)
{
	int ms;

	pthread_mutex_lock(&ask->client->lock);
	ms = ask_left_ms(ask);
	if (ask->news && (ms < 0 || ms > PROGRESS_MS))
		ms = PROGRESS_MS;
	pthread_mutex_unlock(&ask->client->lock);
	return polls && (ms < 0 || ms > POLL_MS) ? POLL_MS : ms;
}

/* Whatever settles it once stays so. */
static void await_settled(struct mcp_ask *ask)
{
	const struct mcp_wait *wait = ask->wait;
	_cleanup_fd_ int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	const bool polls = wake_fd < 0 || cancel_wait_ms(wait->cancel, -1) >= 0;
	struct pollfd fds[] = { { .fd = wake_fd, .events = POLLIN },
		                { .fd = cancel_fd(wait->cancel), .events = POLLIN } };
	eventfd_t rings;

	pthread_mutex_lock(&ask->client->lock);
	ask->wake_fd = wake_fd;
	pthread_mutex_unlock(&ask->client->lock);
	while (!mcp_client_settled(ask)) {
		fd_wait(fds, ARRAY_LEN(fds), ask_sleep_ms(ask, polls));
		if (fds[0].revents & POLLIN)
			eventfd_read(wake_fd, &rings);
	}
	pthread_mutex_lock(&ask->client->lock);
	ask->wake_fd = -1;
	pthread_mutex_unlock(&ask->client->lock);
}

bool mcp_client_notify(struct mcp_client *client, const char *method, const json_t *params,
                       struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES);

	return rpc_write_notification(&out, method, params) &&
	       client->ops->send(client->transport, buf_view(&out), NULL, err);
}

/* initialize must not be cancelled; an exchange of 2026-07-28 is by its end. */
static void cancel_ask(struct mcp_ask *ask, const char *method, const char *reason)
{
	json_auto_t *params = json_pack("{s:I, s:s}", "requestId", (json_int_t)ask->id, "reason",
	                                reason);
	struct err ignored = ERR_INIT;

	if (strcmp(method, "initialize") != 0 && !ask->headers)
		mcp_client_notify(ask->client, "notifications/cancelled", params, &ignored);
}

static bool set_late_error(const struct mcp_ask *ask, const char *method, struct err *err)
{
	const char *name = ask->client->name;
	const unsigned ms = ask->wait->timeout_ms;
	bool reported, silent;

	pthread_mutex_lock(&ask->client->lock);
	reported = ask->reported;
	silent = ask->until_ms < ask->longest_ms;
	pthread_mutex_unlock(&ask->client->lock);
	if (!reported)
		return err_set(err, ERR_TOOL_FAILED,
		               "The MCP server \"%s\" did not answer %s within %u ms "
		               "(mcpServers.%s.timeout).", name, method, ms, name);
	if (silent)
		return err_set(err, ERR_TOOL_FAILED,
		               "The MCP server \"%s\" did not answer %s, and reported no more "
		               "progress for %u ms (mcpServers.%s.timeout).", name, method, ms,
		               name);
	return err_set(err, ERR_TOOL_FAILED,
	               "The MCP server \"%s\" reported progress, but did not answer %s within %d "
	               "times the %u ms of mcpServers.%s.timeout.", name, method,
	               LIMIT_MCP_PROLONGED, ms, name);
}

/* Of a request that was sent: its answer, or why there is none. */
static bool settle_ask(struct mcp_ask *ask, const char *method, json_t **ret, struct err *err)
{
	struct mcp_client *client = ask->client;
	bool lost;

	pthread_mutex_lock(&client->lock);
	lost = !ask->answered && cancelled(&client->over);
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
		               "The call was cancelled. The MCP server \"%s\" was notified; what "
		               "it had already done is not undone.", client->name);
	}
	cancel_ask(ask, method, "it took too long");
	return set_late_error(ask, method, err);
}

void mcp_client_pause(struct mcp_client *client, const struct mcp_wait *wait)
{
	struct mcp_ask ask = { .client = client, .wait = wait, .wake_fd = -1, .error = ERR_INIT };

	ask_begin(&ask);
	ask.longest_ms = ask.until_ms;
	await_settled(&ask);
	ask_end(&ask);
	free(ask.said);
}

/* The params of a request as they are sent. A new object. */
static json_t *sent_params(const struct mcp_ask *ask, const json_t *params)
{
	const struct mcp_client *client = ask->client;
	json_t *own = params ? json_copy((json_t *)params) : json_object();
	json_t *meta = client->modern ?
	                       mcp_modern_meta(client->capabilities, mcp_client_log_level(client)) :
	                       json_object();

	if (ask->wait->progress)
		json_object_set_new(meta, "progressToken",
		                    json_integer(mcp_ask_progress_token(ask)));
	if (json_object_size(meta))
		json_object_set(own, "_meta", meta);
	json_decref(meta);
	return own;
}

static char **sent_headers(const struct mcp_ask *ask, const char *method, const json_t *params)
{
	struct mcp_client *client = ask->client;
	const char *name = json_string_value(json_object_get(params, "name"));
	json_auto_t *mirrored = NULL;

	if (!client->modern || !client->ops->exchanges)
		return NULL;
	pthread_mutex_lock(&client->lock);
	mirrored = name ? json_incref(json_object_get(client->mirrored, name)) : NULL;
	pthread_mutex_unlock(&client->lock);
	return mcp_modern_headers(method, params, mirrored);
}

bool mcp_client_exchange(struct mcp_client *client, const char *method, const json_t *params,
                         const struct mcp_wait *wait, json_t **ret, json_t **ret_refusal,
                         struct err *err)
{
	struct mcp_ask ask = { .client = client, .wait = wait, .sent = true, .wake_fd = -1,
		               .error = ERR_INIT };
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES);
	json_auto_t *own = NULL;
	struct err why = ERR_INIT;
	bool sent, ok = false;

	ask_begin(&ask);
	own = sent_params(&ask, params);
	if (!rpc_write_request(&out, ask.id, method, own)) {
		ask_end(&ask);
		return err_set(err, ERR_TOO_LARGE, "The message would be larger than %zu bytes.",
		               LIMIT_MCP_MESSAGE_BYTES);
	}
	ask.headers = sent_headers(&ask, method, own);
	sent = mcp_client_lost(client) ||
	       client->ops->send(client->transport, buf_view(&out), &ask, &why);
	if (sent && !mcp_client_settled(&ask))
		await_settled(&ask);
	if (sent || mcp_client_settled(&ask))
		ok = settle_ask(&ask, method, ret, err);
	else
		*err = why;
	ask_end(&ask);
	worker_texts_free(ask.headers);
	free(ask.said);
	json_decref(ask.result);
	if (ret_refusal)
		*ret_refusal = mem_steal(&ask.refusal);
	json_decref(ask.refusal);
	return ok;
}
