/* SPDX-License-Identifier: Apache-2.0 */
/* One queue for each configuration of a task that has something to send; the head of it is being
 * sent by a thread, or waits for its next try.  All but post_note is the server thread's. */
#include "a2a/serve/push.h"

#include <stdlib.h>
#include <string.h>

#include "a2a/serve/callers.h"
#include "a2a/serve/wire.h"
#include "base/clock.h"
#include "base/mem.h"
#include "data/json.h"
#include "net/http/client.h"
#include "telemetry/telemetry.h"

enum {
	HEADER_BYTES = 4096,       /* of a token, of credentials */
	SCHEME_BYTES = 64,
	SEND_MS = 15000,           /* for a target to take one */
	PAUSE_MS = 500,            /* before the second try; then twice as long each time */
	PAUSE_MAX_MS = 30000,
	THREADS = 2, THREADS_MAX = 32,
	SENDS_MAX = 24,            /* at the same time */
	SENDS_OF_CALLER = 8,       /* of these */
	QUEUE_BYTES = 1 << 20,     /* of one configuration; the oldest are given up */
	ALL_BYTES = 64 << 20,
	STEP_MS = 10,
};

struct push_note {
	struct push_note *next;
	char *body;            /* owned; JSON */
	size_t len;
};

struct push_target {
	struct loop_job job;   /* the first member: it is its address */
	struct push_target *next;
	struct a2a_push *push;
	char *key;             /* owned: of the task and the configuration */
	struct a2a_caller *caller;
	char *url, *token, *authorization; /* owned; the last two may be NULL */
	bool is_named;         /* by the setting: it may be private */
	struct push_note *first, **last;
	size_t bytes;
	struct loop_timer *timer; /* of the next try; or NULL */
	unsigned tries;        /* of the first note */
	bool sends;
	/* What came of it: the thread's until then. */
	bool taken, again;
};

struct a2a_push {
	struct a2a_server *server;
	struct pool *pool;
	json_t *allow;         /* owned */
	struct push_target *targets;
	size_t bytes;
	bool is_ending;
	struct cancel cancel;  /* of all that are being sent */
};

/* ---- what a configuration may say ------------------------------------------------ */

static const char *text_in(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* A header's value: visible ASCII and blanks. */
static bool is_header_text(const char *text, size_t most)
{
	size_t len = 0;

	for (; text[len]; len++)
		if ((unsigned char)text[len] < 0x20 || (unsigned char)text[len] > 0x7e)
			return false;
	return len <= most;
}

/* A scheme's name is a token of HTTP (RFC 9110, section 5.6.2). */
static bool is_scheme(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!ascii_is_alnum(*c) && !strchr("!#$%&'*+-.^_`|~", *c))
			return false;
	return *text && strlen(text) <= SCHEME_BYTES;
}

bool a2a_push_check(struct a2a_push *push, const json_t *config, struct a2a_fault *fault)
{
	const json_t *authentication = json_object_get(config, "authentication");
	struct err err = ERR_INIT;
	bool named;

	if (!a2a_target_check(text_in(config, "url"), push->allow, &named, &err))
		return a2a_fault_set(fault, A2A_FAULT_PARAMS, "The push configuration's url: %s",
		                     err.message);
	if (!is_header_text(text_in(config, "token"), HEADER_BYTES))
		return a2a_fault_set(fault, A2A_FAULT_PARAMS, "The push configuration's token "
		                     "must be at most %d plain characters.", HEADER_BYTES);
	if (authentication && (!is_scheme(text_in(authentication, "scheme")) ||
	                       !is_header_text(text_in(authentication, "credentials"),
	                                       HEADER_BYTES)))
		return a2a_fault_set(fault, A2A_FAULT_PARAMS, "The push configuration's "
		                     "authentication needs a scheme of HTTP and at most %d plain "
		                     "characters of credentials.", HEADER_BYTES);
	return true;
}

/* ---- targets --------------------------------------------------------------------- */

static void target_drop_first(struct push_target *target)
{
	struct push_note *note = target->first;

	target->first = note->next;
	if (!target->first)
		target->last = &target->first;
	target->bytes -= note->len;
	target->push->bytes -= note->len;
	target->tries = 0;
	free(note->body);
	free(note);
}

static void target_free(struct push_target *target)
{
	struct push_target **at = &target->push->targets;

	while (*at != target)
		at = &(*at)->next;
	*at = target->next;
	while (target->first)
		target_drop_first(target);
	loop_timer_stop(target->timer);
	a2a_caller_unref(target->caller);
	free(target->key);
	free(target->url);
	free(target->token);
	free(target->authorization);
	free(target);
}

static void push_measure(const struct push_target *target, const char *outcome)
{
	telemetry_add(target->push->server->telemetry, TELEMETRY_PUSHES, target->caller->name,
	              outcome, 1);
}

static void give_up(struct push_target *target, const char *why)
{
	struct a2a_server *server = target->push->server;
	_cleanup_free_ char *host = a2a_target_host(target->url);
	_cleanup_free_ char *said =
		mem_printf("A push notification for the caller \"%s\" to %.200s was given up: %s.",
		           target->caller->name, host, why);

	push_measure(target, "given_up");
	if (server->warn)
		server->warn(server, said);
}

/* ---- sending: on a thread -------------------------------------------------------- */

/* No more of an answer than its status is of use. */
static bool post_head(void *data, int status, struct span headers)
{
	(void)headers;
	*(int *)data = status;
	return false;
}

static bool post_body(void *data, struct span bytes)
{
	(void)data;
	(void)bytes;
	return false;
}

static void post_note(struct loop_job *job)
{
	struct push_target *target = (struct push_target *)job;
	_cleanup_free_ char *token = target->token ?
		mem_printf("X-A2A-Notification-Token: %s", target->token) : NULL;
	const char *headers[5] = { "Content-Type: application/json",
		                   "User-Agent: hasp/" HASP_VERSION };
	size_t count = 2;
	int status = 0;
	const struct http_events events = { .head = post_head, .body = post_body };
	struct http_client *client = http_client_new();
	struct http_client_request request = {
		.method = "POST", .url = target->url, .headers = headers,
		.body = span_of(target->first->body, target->first->len),
		.connect_ms = SEND_MS, .idle_ms = SEND_MS, .total_ms = SEND_MS,
		.max_bytes = 1 << 16, .public_only = !target->is_named,
		.cancel = &target->push->cancel,
	};
	struct err err = ERR_INIT;

	if (token)
		headers[count++] = token;
	if (target->authorization)
		headers[count++] = target->authorization;
	pool_wait_begin(target->push->pool);
	http_client_send(client, &request, &events, &status, &err);
	pool_wait_end(target->push->pool);
	http_client_free(client);
	target->taken = status >= 200 && status < 300;
	/* What is refused for what it is will be refused again. */
	target->again = !target->taken && err.code != ERR_DENIED_BY_SANDBOX &&
	                (!status || status == 408 || status == 429 || status >= 500);
}

/* ---- turns ----------------------------------------------------------------------- */

static void posted(struct loop_job *job);

/* Whether another may go out now: so many at a time, and of one caller. */
static bool target_has_room(const struct push_target *target)
{
	size_t all = 0, own = 0;

	for (const struct push_target *other = target->push->targets; other; other = other->next) {
		all += other->sends;
		own += other->sends && other->caller == target->caller;
	}
	return all < SENDS_MAX && own < SENDS_OF_CALLER;
}

static void send_next(struct push_target *target)
{
	if (target->push->is_ending || target->sends || target->timer || !target->first ||
	    !target_has_room(target))
		return;
	target->sends = true;
	target->tries++;
	target->job = (struct loop_job){ .run = post_note, .then = posted };
	loop_job_start(target->push->server->loop, target->push->pool, &target->job);
}

/* Of those that had no room the ones that have waited longest come first: new ones are put in
 * front. */
static void send_waiting(struct a2a_push *push)
{
	struct push_target *next;

	for (struct push_target *target = push->targets; target; target = next) {
		next = target->next;
		if (!target->first && !target->sends)
			target_free(target);
		else
			send_next(target);
	}
}

static void try_again(void *data)
{
	struct push_target *target = data;

	loop_timer_stop(target->timer);
	target->timer = NULL;
	send_next(target);
}

static void pause_target(struct push_target *target)
{
	uint64_t pause = (uint64_t)PAUSE_MS << (target->tries - 1);

	target->timer = loop_timer_start(target->push->server->loop,
	                                 pause < PAUSE_MAX_MS ? pause : PAUSE_MAX_MS, 0, try_again,
	                                 target);
}

static void posted(struct loop_job *job)
{
	struct push_target *target = (struct push_target *)job;

	target->sends = false;
	if (target->taken) {
		push_measure(target, "delivered");
		target_drop_first(target);
	} else if (target->again && target->tries < LIMIT_A2A_PUSH_TRIES &&
	           !target->push->is_ending) {
		push_measure(target, "retried");
		pause_target(target);
	} else {
		give_up(target, target->again ? "the target does not take it" :
		                                "the target refuses it, or may not be reached");
		target_drop_first(target);
	}
	send_waiting(target->push);
}

/* ---- a notification -------------------------------------------------------------- */

static struct push_target *target_of(struct a2a_push *push, const struct a2a_task *task,
                                const char *id, const json_t *config)
{
	const json_t *authentication = json_object_get(config, "authentication");
	_cleanup_free_ char *key = mem_printf("%s %s", task->id, id);
	struct push_target **at = &push->targets, *target;
	struct err ignored = ERR_INIT;
	bool named = false;

	for (; *at; at = &(*at)->next)
		if (!strcmp((*at)->key, key) && !strcmp((*at)->url, text_in(config, "url")))
			return *at;
	/* The setting may be another since it was kept. */
	if (!a2a_target_check(text_in(config, "url"), push->allow, &named, &ignored))
		return NULL;
	target = mem_alloc(1, sizeof(*target));
	*target = (struct push_target){
		.push = push, .key = mem_steal(&key), .caller = a2a_caller_ref(task->caller),
		.url = mem_strdup(text_in(config, "url")), .is_named = named,
		.token = *text_in(config, "token") ? mem_strdup(text_in(config, "token")) : NULL,
		.authorization = authentication ? mem_printf(
			"Authorization: %s %s", text_in(authentication, "scheme"),
			text_in(authentication, "credentials")) : NULL,
	};
	target->last = &target->first;
	*at = target;
	return target;
}

static void target_add(struct push_target *target, struct span body)
{
	struct push_note *note = mem_alloc(1, sizeof(*note));
	struct push_note *second;

	*note = (struct push_note){ .body = mem_dup(body.data, body.len), .len = body.len };
	*target->last = note;
	target->last = &note->next;
	target->bytes += note->len;
	target->push->bytes += note->len;
	/* The first may be on its way. */
	while ((target->bytes > QUEUE_BYTES || target->push->bytes > ALL_BYTES) &&
	       (second = target->first->next)) {
		target->first->next = second->next;
		if (!second->next)
			target->last = &target->first->next;
		target->bytes -= second->len;
		target->push->bytes -= second->len;
		free(second->body);
		free(second);
		give_up(target, "too many wait for the target");
	}
}

/* The body of one version; NULL: it has none for such an event. */
static json_t *note_body(struct a2a_task *task, const char *version, const json_t *response)
{
	json_auto_t *value = NULL;

	if (strcmp(version, "0.3") != 0)
		return a2a_version_event(A2A_V1_0, response);
	if (!json_object_get(response, "statusUpdate") && !json_object_get(response, "task"))
		return NULL;
	value = a2a_task_value(task, -1, true);
	return a2a_version_task(A2A_V0_3, value);
}

void a2a_push_send(struct a2a_push *push, struct a2a_task *task, const json_t *response)
{
	const char *id;
	json_t *config;

	json_object_foreach(task->pushes, id, config) {
		json_auto_t *value = note_body(task, text_in(config, "protocolVersion"), response);
		_cleanup_buf_ struct buf body = BUF_INIT(LIMIT_A2A_BODY_BYTES);
		struct push_target *target;

		if (!value || push->is_ending || !json_print(&body, value, 0))
			continue;
		target = target_of(push, task, id, config);
		if (!target)
			continue;
		target_add(target, buf_view(&body));
		send_next(target);
	}
}

/* ---- all of it ------------------------------------------------------------------- */

struct a2a_push *a2a_push_new(struct a2a_server *server, const json_t *allow)
{
	struct a2a_push *push = mem_alloc(1, sizeof(*push));

	*push = (struct a2a_push){ .server = server, .pool = pool_new(THREADS, THREADS_MAX),
		                   .allow = json_deep_copy((json_t *)allow) };
	cancel_init_lazily(&push->cancel);
	return push;
}

static bool sends_any(const struct a2a_push *push)
{
	for (const struct push_target *target = push->targets; target; target = target->next)
		if (target->sends)
			return true;
	return false;
}

static void stop_draining(void *data)
{
	loop_stop(data);
}

void a2a_push_free(struct a2a_push *push, unsigned drain_ms)
{
	const uint64_t until = clock_monotonic_ms() + drain_ms;

	if (!push)
		return;
	/* The loop does not run any more, but for this. */
	while (sends_any(push) && clock_monotonic_ms() < until) {
		struct loop_timer *timer = loop_timer_start(push->server->loop, STEP_MS, 0,
		                                            stop_draining, push->server->loop);

		loop_run(push->server->loop);
		loop_timer_stop(timer);
	}
	push->is_ending = true;
	cancel_set(&push->cancel);
	pool_free(push->pool);
	while (sends_any(push)) { /* what they have posted */
		struct loop_timer *timer = loop_timer_start(push->server->loop, STEP_MS, 0,
		                                            stop_draining, push->server->loop);

		loop_run(push->server->loop);
		loop_timer_stop(timer);
	}
	while (push->targets)
		target_free(push->targets);
	cancel_release(&push->cancel);
	json_decref(push->allow);
	free(push);
}
