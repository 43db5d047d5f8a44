/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and their answers, whatever carries them; what the server asks. */
#include <limits.h>
#include <poll.h>
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
#include "mcp/client/private.h"
#include "net/rpc/rpc.h"

enum {
	POLL_MS = 20,         /* where there is no descriptor to wait for */
	ERROR_SHOWN = 400,    /* of a server's own sentence */
	PROGRESS_MS = 100,    /* between two reports that are handed over */
	PROGRESS_SHOWN = 200, /* bytes of what a report says */
};

/* A request whose answer has not come. */
struct mcp_ask {
	struct mcp_client *client;
	const struct mcp_wait *wait;
	uint64_t held_ms;       /* mcp_answers_held_ms when it began: that time does not count */
	int64_t id;
	/* With the client's lock. */
	uint64_t until_ms;      /* 0: for ever */
	uint64_t longest_ms;    /* no progress moves that behind this */
	bool sent;              /* a request goes with it */
	bool answered;
	bool doubtful;          /* one of the answers that could not be read may have been its */
	bool reported;          /* progress, at least once */
	bool news;              /* and it has not been handed over */
	double done, total;
	char *said;             /* owned */
	uint64_t told_ms;       /* when some was handed over */
	int bell;               /* an eventfd of who sleeps until it settles; or -1 */
	json_t *result;         /* owned; NULL: it is an error */
	json_t *refusal;        /* that error; owned */
	struct err error;       /* the same as a sentence */
	char **headers;         /* mcp_client_headers; owned */
	struct mcp_ask *next;
};

struct mcp_client {
	_Atomic unsigned holders;
	const struct mcp_transport_ops *ops;
	void *transport;
	struct mcp_client_options options;
	char *name;
	json_t *capabilities;
	struct mcp_answers *answers;
	struct mcp_watch *watch;
	json_t *hello;           /* of initialize, or server/discover */
	const char *version;     /* in force; NULL: none yet */
	bool modern;             /* it is, or is tried to be, MCP_MODERN */
	pthread_mutex_t lock;    /* of what follows */
	struct mcp_ask *asked;
	json_t *mirrored;        /* {tool: mcp_modern_mirrored}; NULL: none */
	json_t *as_tasks;        /* {tool: true}: those that have to be called as tasks; or NULL */
	struct mcp_expected *expected;
	int64_t last_id;
	size_t unasked;          /* messages since the last answer */
	size_t unread;           /* answers that could not be read, to some of the doubtful */
	char unread_why[ERROR_SHOWN];
	bool lost, forgotten;
	unsigned lists_changed;  /* enum mcp_list_changed */
	struct err why_lost;
};

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
	free(client->name);
	free(client);
}

void mcp_client_end(struct mcp_client *client)
{
	mcp_answers_stop(client->answers);
	client->ops->end(client->transport);
}

/* Wakes who sleeps until it settles. With the lock held. */
static void ask_ring(const struct mcp_ask *ask)
{
	if (ask->bell >= 0)
		eventfd_write(ask->bell, 1);
}

void mcp_client_lose(struct mcp_client *client, const struct err *why)
{
	pthread_mutex_lock(&client->lock);
	if (!client->lost)
		client->why_lost = *why;
	client->lost = true;
	for (const struct mcp_ask *ask = client->asked; ask; ask = ask->next)
		ask_ring(ask);
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

/* ---- what the server asks, and tells ---- */

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

void mcp_client_calls(struct mcp_client *client, bool begins)
{
	mcp_answers_call(client->answers, begins);
}

void mcp_client_hold(struct mcp_client *client, bool begins)
{
	mcp_answers_hold(client->answers, begins);
}

uint64_t mcp_client_held_ms(struct mcp_client *client)
{
	return mcp_answers_held_ms(client->answers);
}

void mcp_client_expect(struct mcp_client *client, struct mcp_expected *expected)
{
	expected->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
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
	fd_cleanup_close(&expected->bell);
}

/* With the lock. False: nobody waits for it. */
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
		if (one->bell >= 0)
			eventfd_write(one->bell, 1);
	}
	return known;
}

/* For how long what the server asked was being answered, since the request began. */
static uint64_t ask_held_ms(const struct mcp_ask *ask)
{
	return mcp_answers_held_ms(ask->client->answers) - ask->held_ms;
}

/* What reports of its progress are known by. */
static int64_t ask_progress_token(const struct mcp_ask *ask)
{
	return ask->wait->token ? ask->wait->token : ask->id;
}

/* With the lock: whoever reports progress is at work. */
static void ask_prolong(struct mcp_ask *ask)
{
	const uint64_t until = clock_monotonic_ms() - ask_held_ms(ask) + ask->wait->timeout_ms;

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
	                json_integer_value(token) == ask_progress_token(ask)))
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
	ask_ring(ask);
	return true;
}

/* On the thread that asks, and without the lock: whoever is told may use the client. */
static void tell_progress(struct mcp_ask *ask, bool last)
{
	_cleanup_free_ char *said = NULL;
	const uint64_t now = clock_monotonic_ms();
	double done, total;
	bool tell;

	pthread_mutex_lock(&ask->client->lock);
	tell = ask->news && (last || !ask->told_ms || now - ask->told_ms >= PROGRESS_MS);
	done = ask->done;
	total = ask->total;
	if (tell) {
		said = mem_steal(&ask->said);
		ask->news = false;
		ask->told_ms = now;
	}
	pthread_mutex_unlock(&ask->client->lock);
	if (tell)
		ask->wait->progress(ask->wait->data, done, total, said);
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
	else if (!strcmp(message->method, "notifications/cancelled"))
		mcp_answers_withdraw(client->answers,
		                     json_object_get(message->body, "requestId"));
	else if (!strcmp(message->method, "notifications/resources/updated"))
		known = mcp_watch_updated(client->watch, message->body);
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
	_cleanup_free_ char *said = mcp_said_text(json_object_get(error, "message"), ERROR_SHOWN);

	ask->refusal = json_incref((json_t *)error);
	err_set(&ask->error, ERR_TOOL_FAILED,
	        "The MCP server \"%s\" answered with error %lld: %s", ask->client->name,
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
	ask_ring(ask);
}

/* With the lock: when no more wait than answers could not be read, these were theirs. */
static void settle_doubtful(struct mcp_client *client)
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
	settle_doubtful(client);
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
		ask_ring(ask);
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
		ask_ring(ask);
		settle_doubtful(client);
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

/* Messages of 2025-03-26 may come together. */
static bool client_take_batch(struct mcp_client *client, struct span text,
                              struct mcp_ask *asked)
{
	json_auto_t *batch = NULL;
	struct rpc_problem problem;
	struct rpc_message message;
	json_t *value;
	size_t i;

	if (!span_starts(text, SPAN("[")) || !rpc_parse_json(text, &batch, &problem))
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

	if (client_flag(client, &client->lost) || client_take_batch(client, text, asked))
		return;
	if (rpc_parse(text, &message, &problem)) {
		client_take_message(client, &message, asked);
		return;
	}
	/* What a program prints without a line's end stands before its next message. */
	if (glued && rpc_parse(span_skip(text, (size_t)(glued - text.data)), &message, &ignored)) {
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

/* ---- requests ---- */

/* With the lock. -1: there is no hurry. */
static int ask_left_ms(const struct mcp_ask *ask)
{
	const uint64_t now = clock_monotonic_ms(), until = ask->until_ms + ask_held_ms(ask);

	if (!ask->until_ms)
		return -1;
	return until <= now ? 0 : until - now > INT_MAX ? INT_MAX : (int)(until - now);
}

/* With the lock. */
static bool is_late(const struct mcp_ask *ask)
{
	return ask_left_ms(ask) == 0;
}

static bool nobody_waits(const struct mcp_ask *ask)
{
	return ask->wait->cancel && atomic_load(ask->wait->cancel);
}

bool mcp_client_settled(struct mcp_ask *ask)
{
	bool settled;

	pthread_mutex_lock(&ask->client->lock);
	settled = ask->answered || ask->client->lost || is_late(ask);
	pthread_mutex_unlock(&ask->client->lock);
	tell_progress(ask, /* last= */ settled);
	return settled || nobody_waits(ask);
}

void mcp_client_begun(struct mcp_ask *ask)
{
	const uint64_t until = clock_monotonic_ms() + ask->wait->begun_ms;

	pthread_mutex_lock(&ask->client->lock);
	if (ask->wait->begun_ms && (!ask->until_ms || until < ask->until_ms))
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
	settle_doubtful(ask->client);
	pthread_mutex_unlock(&ask->client->lock);
}

/* How long there is nothing to do for it, if nobody rings. */
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
	_cleanup_fd_ int bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	const bool polls = bell < 0 || (wait->cancel && wait->cancel_fd <= 0);
	struct pollfd fds[] = { { .fd = bell, .events = POLLIN },
		                { .fd = wait->cancel && !polls ? wait->cancel_fd : -1,
		                  .events = POLLIN } };
	eventfd_t rings;

	pthread_mutex_lock(&ask->client->lock);
	ask->bell = bell;
	pthread_mutex_unlock(&ask->client->lock);
	while (!mcp_client_settled(ask)) {
		poll(fds, ARRAY_LEN(fds), ask_sleep_ms(ask, polls));
		if (fds[0].revents & POLLIN)
			eventfd_read(bell, &rings);
	}
	pthread_mutex_lock(&ask->client->lock);
	ask->bell = -1;
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
	return set_late_error(ask, method, err);
}

void mcp_client_pause(struct mcp_client *client, const struct mcp_wait *wait)
{
	struct mcp_ask ask = { .client = client, .wait = wait, .error = ERR_INIT };

	ask_begin(&ask);
	ask.longest_ms = ask.until_ms;
	await_settled(&ask);
	ask_end(&ask);
	free(ask.said);
}

const char *mcp_client_log_level(const struct mcp_client *client)
{
	const json_t *can = json_object_get(client->hello, "capabilities");

	return json_is_object(json_object_get(can, "logging")) ? client->options.log_level : NULL;
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
		json_object_set_new(meta, "progressToken", json_integer(ask_progress_token(ask)));
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
	struct mcp_ask ask = { .client = client, .wait = wait, .sent = true, .bell = -1,
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

/* ---- for the handshake ---- */

const json_t *mcp_client_capabilities(const struct mcp_client *client)
{
	return client->capabilities;
}

void mcp_client_try_modern(struct mcp_client *client, bool modern)
{
	client->modern = modern;
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

bool mcp_client_wants_task(struct mcp_client *client, const char *tool)
{
	bool wants;

	pthread_mutex_lock(&client->lock);
	wants = json_object_get(client->as_tasks, tool);
	pthread_mutex_unlock(&client->lock);
	return wants;
}
