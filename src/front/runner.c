/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a session: it opens it, and does what fronts give to it, one after the other. */
#include <stdlib.h>
#include <string.h>

#include "agent/session/sessions.h"
#include "agent/setup/prepare.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "front/private.h"
#include "sandbox/plan/plan.h"

/* ---- what is known of the session ------------------------------------------------ */

static void runner_set_fact(struct front_runner *runner, const char *name, json_t *value)
{
	pthread_mutex_lock(&runner->lock);
	json_object_set_new(runner->facts, name, value);
	pthread_mutex_unlock(&runner->lock);
}

/* What an order may have changed, on the session's thread. */
static void runner_note_facts(struct front_runner *runner, const json_t *branch)
{
	const struct host_facts host = host_facts(session_host(runner->session));

	pthread_mutex_lock(&runner->lock);
	json_object_set_new(runner->facts, "session", json_text(span_str(host.session_id)));
	json_object_set_new(runner->facts, "record", json_path_bytes(host.record_file));
	json_object_set_new(runner->facts, "model", json_text(span_str(host.model)));
	if (branch)
		json_object_set(runner->facts, "branch", (json_t *)branch);
	pthread_mutex_unlock(&runner->lock);
}

json_t *front_runner_facts(struct front_runner *runner)
{
	json_t *facts;

	pthread_mutex_lock(&runner->lock);
	facts = json_deep_copy(runner->facts);
	pthread_mutex_unlock(&runner->lock);
	return facts;
}

json_t *front_runner_fronts(struct front_runner *runner)
{
	return front_hub_list(&runner->hub);
}

/* ---- what is heard -------------------------------------------------------------- */

static void runner_hear(void *data, enum bus_topic topic, const json_t *message)
{
	struct front_runner *runner = data;

	if (topic == BUS_APPROVAL_MODE)
		runner_set_fact(runner, "mode", json_copy(json_object_get(message, "mode")));
	if (topic == BUS_TOPIC_UPDATE && json_object_get(message, "title"))
		runner_set_fact(runner, "topic", json_copy(json_object_get(message, "title")));
	front_hub_hear(&runner->hub, topic, message);
}

/* As notices.notice. */
static void runner_note(void *data, enum severity severity, const char *message)
{
	struct front_runner *runner = data;
	struct front_event event = { .kind = FRONT_NOTICE };

	event.message = json_pack("{s:s, s:o}", "severity",
	                          notices_severity_name(severity), "message",
	                          json_text(span_str(message)));
	front_hub_add(&runner->hub, &event, NULL);
}

void front_runner_publish(struct front_runner *runner, enum bus_topic topic, json_t *message)
{
	struct front_event event = { .kind = FRONT_BUS, .topic = topic, .message = message };

	front_hub_add(&runner->hub, &event, NULL);
}

/* An order is over; takes event->message. */
static void runner_report_end(struct front_runner *runner, const struct front_order *order,
                              struct front_event *event)
{
	const struct front *giver;

	pthread_mutex_lock(&runner->lock);
	giver = order->giver;
	pthread_mutex_unlock(&runner->lock);
	event->ends = true;
	event->by = order->by;
	front_hub_add(&runner->hub, event, giver);
}

/* ---- facts of a session ------------------------------------------- */

/* The branch, or a part of the commit's hash; the caller frees. NULL: none. */
static char *branch_read(struct provider *provider)
{
	struct read_request request = { .path = ".git/HEAD", .max_lines = 1 };
	struct read_result read = { 0 };
	struct err ignored = ERR_INIT;
	struct span line, rest;
	char *branch = NULL;

	if (!provider_read(provider, &request, &read, &ignored)) {
		read_result_release(&read);
		return NULL;
	}
	rest = buf_view(&read.content);
	if (line_next(&rest, &line)) {
		line = span_trim(line);
		if (span_starts(line, SPAN("ref: refs/heads/")))
			branch = mem_dup(line.data + 16, line.len - 16);
		else if (line.len >= 7)
			branch = mem_dup(line.data, 7);
	}
	read_result_release(&read);
	return branch;
}

/* Adds a text, if there is one. */
static void put_fact(json_t *to, const char *name, const char *text)
{
	if (text)
		json_object_set_new(to, name, json_text(span_str(text)));
}

static json_t *opened_facts(const struct front_runner *runner)
{
	const struct host_facts host = host_facts(session_host(runner->session));
	struct provider *provider = session_provider(runner->session);
	_cleanup_free_ char *branch = branch_read(provider);
	json_t *facts = json_object();

	put_fact(facts, "session", host.session_id);
	put_fact(facts, "model", host.model);
	put_fact(facts, "level", sandbox_level_name(provider->ops->info(provider)->level));
	json_object_set_new(facts, "window", json_integer((json_int_t)host.context_tokens));
	put_fact(facts, "branch", branch);
	put_fact(facts, "topic", agent_topic(agent_history(host.agent)));
	put_fact(facts, "keyFrom", host.key_from);
	put_fact(facts, "effort", host.effort);
	json_object_set(facts, "todos", (json_t *)agent_todos(agent_history(host.agent)));
	return facts;
}

/* ---- questions ------------------------------------------------------------------- */

/* Who subscribes to a question promises to answer it; the events have it already. */
static void front_promised(void *data, enum bus_topic topic, const json_t *message)
{
	(void)data;
	(void)topic;
	(void)message;
}

/* As bus_set_people. */
static json_t *runner_people(void *data)
{
	struct front_runner *runner = data;

	return front_hub_people(&runner->hub);
}

void front_promise(struct front *front, struct bus *bus)
{
	static const enum bus_topic questions[] = {
		BUS_TOOL_CONFIRMATION_REQUEST, BUS_ASK_USER_REQUEST, BUS_ELICITATION_REQUEST,
	};

	_Static_assert(ARRAY_LEN(questions) == ARRAY_LEN(((struct front *)0)->promises), "all");
	for (size_t i = 0; front->options.roles & FRONT_APPROVE && i < ARRAY_LEN(questions); i++)
		front->promises[i] = bus_subscribe(bus, questions[i], front_promised, front);
}

void front_unpromise(struct front *front, struct bus *bus)
{
	for (size_t i = 0; i < ARRAY_LEN(front->promises); i++) {
		if (front->promises[i])
			bus_unsubscribe(bus, front->promises[i]);
		front->promises[i] = 0;
	}
}

/* ---- opening and closing ----------------------------------------------------------- */

/* Fronts hear the host, and those that may answer promise to. */
static void runner_attend(struct front_runner *runner)
{
	struct bus *bus = host_bus(session_host(runner->session));

	pthread_mutex_lock(&runner->attaching);
	runner->bus = bus;
	runner->listener = bus_subscribe(bus, BUS_NONE, runner_hear, runner);
	bus_set_people(bus, runner_people, runner);
	for (struct front *front = runner->hub.fronts; front; front = front->next) {
		front_promise(front, bus);
		if (front->options.opened)
			front->options.opened(front->options.data, runner->session);
	}
	pthread_mutex_lock(&runner->lock);
	runner->is_open = true;
	pthread_mutex_unlock(&runner->lock);
	pthread_mutex_unlock(&runner->attaching);
}

static void runner_shut(struct front_runner *runner, const char *reason)
{
	if (!runner->is_open)
		return;
	pthread_mutex_lock(&runner->lock);
	runner->is_open = false;
	while (runner->users)
		pthread_cond_wait(&runner->done, &runner->lock);
	pthread_mutex_unlock(&runner->lock);
	pthread_mutex_lock(&runner->attaching);
	for (struct front *front = runner->hub.fronts; front; front = front->next) {
		if (front->options.closes)
			front->options.closes(front->options.data, runner->session);
		front_unpromise(front, runner->bus);
	}
	bus_unsubscribe(runner->bus, runner->listener);
	bus_set_people(runner->bus, NULL, NULL);
	runner->bus = NULL;
	pthread_mutex_unlock(&runner->attaching);
	session_close(runner->session, reason);
}

/* Before a session is read: its end can be shown meanwhile. */
static void runner_report_found(struct front_runner *runner)
{
	struct front_event event = { .kind = FRONT_FOUND };
	_cleanup_free_ char *file = NULL;
	struct err ignored = ERR_INIT;

	if (!runner->resume || !sessions_find_in(session_folder(runner->session), runner->resume,
	                                         &file, &ignored))
		return;
	event.message = json_pack("{s:o}", "file", json_path_bytes(file));
	front_hub_add(&runner->hub, &event, NULL);
}

/* A session that was paused goes on as it was, where the settings still permit it. */
static void runner_go_on(struct front_runner *runner)
{
	struct front_resumed *as = &runner->resumed;
	struct host *host = session_host(runner->session);
	const char *now = host_facts(host).model;
	struct err err = ERR_INIT;

	if (!as->is)
		return;
	if (prepare_mode_check(session_settings(runner->session), as->mode, &err))
		host_set_mode(host, as->mode);
	err = (struct err)ERR_INIT;
	if (as->model && (!now || strcmp(as->model, now) != 0 ||
	                  as->thinking != host_thinking(host)) &&
	    !host_set_model(host, as->model, as->thinking, &err))
		runner_note(runner, SEVERITY_WARNING, err.message);
	free(as->model);
	*as = (struct front_resumed){ 0 };
}

/* False: it could not be opened, which ends what was given. */
static bool runner_open(struct front_runner *runner, const struct front_order *order)
{
	struct front_event event = { .kind = FRONT_CLOSED };
	struct err err = ERR_INIT;

	if (runner->is_open)
		return true;
	if (session_open(runner->session, runner->resume, &err)) {
		runner_attend(runner);
		runner_go_on(runner);
		return true;
	}
	event.err = &err;
	runner_report_end(runner, order, &event);
	return false;
}

/* ---- what is given ------------------------------------------------------------------ */

static void runner_do_open(struct front_runner *runner, const struct front_order *order)
{
	if (!runner->is_open)
		runner_report_found(runner);
	if (runner_open(runner, order)) {
		struct front_event event = { .kind = FRONT_OPENED };

		if (!runner->starts_late)
			host_start_session(session_host(runner->session));
		event.message = opened_facts(runner);
		pthread_mutex_lock(&runner->lock);
		json_object_update(runner->facts, event.message);
		pthread_mutex_unlock(&runner->lock);
		runner_note_facts(runner, NULL);
		runner_report_end(runner, order, &event);
	}
}

static bool runner_is_interrupted(struct front_runner *runner)
{
	bool interrupted;

	pthread_mutex_lock(&runner->lock);
	interrupted = runner->interrupted;
	pthread_mutex_unlock(&runner->lock);
	return interrupted;
}

static void runner_do_prompt(struct front_runner *runner, const struct front_order *order)
{
	struct front_event event = { .kind = FRONT_ENDED, .end = AGENT_FAILED };
	struct agent_outcome outcome = { 0 };
	_cleanup_free_ char *branch = NULL;
	struct err err = ERR_INIT;

	if (!runner_open(runner, order))
		return;
	if (runner_is_interrupted(runner))
		outcome.end = AGENT_CANCELLED;
	else
		host_prompt(session_host(runner->session), span_of(order->piped, order->piped_len),
		            span_of(order->prompt, order->prompt_len), &outcome, &err);
	branch = branch_read(session_provider(runner->session));
	event.end = outcome.end;
	event.message = json_object();
	put_fact(event.message, "text", outcome.text);
	put_fact(event.message, "reason", outcome.reason);
	put_fact(event.message, "missing", outcome.missing);
	put_fact(event.message, "unsent", outcome.unsent);
	put_fact(event.message, "branch", branch);
	if (err.code != ERR_NONE)
		event.err = &err;
	runner_note_facts(runner, json_object_get(event.message, "branch"));
	runner_report_end(runner, order, &event);
	agent_outcome_release(&outcome);
}

static void runner_do_task(struct front_runner *runner, const struct front_order *order)
{
	struct front_event event = { .kind = FRONT_DONE, .task = order->task };

	order->task->run(order->task, runner->session);
	if (runner->is_open)
		runner_note_facts(runner, NULL);
	runner_report_end(runner, order, &event);
}

/* Whether a conversation was recorded, which can be resumed: before the first prompt there is
 * none. */
static bool runner_has_record(const struct front_runner *runner, const char *id)
{
	_cleanup_free_ char *file = NULL;
	struct err ignored = ERR_INIT;

	return sessions_find_in(session_folder(runner->session), id, &file, &ignored);
}

/* What goes on is noted; an empty conversation is another when it is opened again. */
static void runner_do_pause(struct front_runner *runner, const struct front_order *order)
{
	struct front_event event = { .kind = FRONT_PAUSED };
	struct host *host = session_host(runner->session);
	struct err err = ERR_INIT;

	if (runner->is_open && !host_recorded(host, &err)) {
		event.err = &err;
		runner_report_end(runner, order, &event);
		return;
	}
	if (runner->is_open) {
		const struct host_facts facts = host_facts(host);

		free(runner->resume);
		runner->resume = runner_has_record(runner, facts.session_id) ?
		                         mem_strdup(facts.session_id) : NULL;
		runner->resumed = (struct front_resumed){
			true, agent_mode(facts.agent), mem_strdup(facts.model), host_thinking(host),
		};
	}
	pthread_mutex_lock(&runner->lock);
	runner->started = false;
	pthread_mutex_unlock(&runner->lock);
	runner_shut(runner, "other");
	runner_report_end(runner, order, &event);
}

static void order_free(struct front_order *order)
{
	if (!order)
		return;
	free(order->piped);
	free(order->prompt);
	free(order->by);
	free(order);
}

/* ---- the thread ------------------------------------------------------------------- */

/* The next, which is under way then; NULL: it ends. */
static struct front_order *runner_next(struct front_runner *runner)
{
	struct front_order *order = NULL;

	pthread_mutex_lock(&runner->lock);
	order_free(runner->current);
	runner->current = NULL;
	pthread_cond_broadcast(&runner->done);
	while (!runner->ending && !(runner->started && runner->first))
		pthread_cond_wait(&runner->wake, &runner->lock);
	if (!runner->ending) {
		order = runner->first;
		runner->first = order->next;
		if (!runner->first)
			runner->last = NULL;
		runner->waiting--;
		cancel_reset(&runner->cancel);
		if (order->cancelled)
			cancel_set(&runner->cancel);
		runner->interrupted = order->cancelled;
	}
	runner->current = order;
	pthread_mutex_unlock(&runner->lock);
	return order;
}

/* What was given and is not done any more: its givers have it back. */
static void runner_refuse_rest(struct front_runner *runner)
{
	struct front_order *order;

	for (;;) {
		pthread_mutex_lock(&runner->lock);
		order = runner->first;
		if (order)
			runner->first = order->next;
		pthread_mutex_unlock(&runner->lock);
		if (!order)
			return;
		if (order->kind == FRONT_ORDER_TASK) {
			struct front_event event = { .kind = FRONT_DONE, .task = order->task };

			runner_report_end(runner, order, &event);
		}
		order_free(order);
	}
}

static void *runner_run(void *data)
{
	struct front_runner *runner = data;
	struct front_event over = { .kind = FRONT_OVER };
	struct front_order *order;

	while ((order = runner_next(runner))) {
		static void (*const doers[])(struct front_runner *runner,
		                             const struct front_order *order) = {
			[FRONT_ORDER_OPEN] = runner_do_open,
			[FRONT_ORDER_PROMPT] = runner_do_prompt,
			[FRONT_ORDER_TASK] = runner_do_task,
			[FRONT_ORDER_PAUSE] = runner_do_pause,
		};
		struct front_event event = { .kind = FRONT_STARTED, .by = order->by };

		front_hub_await(&runner->hub, front_hub_add(&runner->hub, &event, order->giver),
		                order->giver);
		doers[order->kind](runner, order);
	}
	runner_refuse_rest(runner);
	runner_shut(runner, runner->reason);
	front_hub_add(&runner->hub, &over, NULL);
	return NULL;
}

bool front_may(const struct front *front, unsigned role, struct err *err)
{
	return (front->options.roles & role) == role ||
	       err_set(err, ERR_PERMISSION_DENIED, "%s may not %s in this session.", front->name,
	               role == FRONT_DRIVE   ? "give orders" :
	               role == FRONT_APPROVE ? "answer questions" : "comment");
}

/* Under the lock. */
static bool order_queue(struct front_runner *runner, struct front_order *order, struct err *err)
{
	if (runner->ending)
		return err_set(err, ERR_BUSY, "The session is being closed.");
	if (runner->waiting >= LIMIT_FRONT_ORDERS)
		return err_set(err, ERR_LIMIT_REACHED,
		               "%zu orders already wait for this session. Wait until some of them "
		               "are done, or interrupt.", runner->waiting);
	if (runner->last)
		runner->last->next = order;
	else
		runner->first = order;
	runner->last = order;
	runner->waiting++;
	pthread_cond_signal(&runner->wake);
	return true;
}

bool front_runner_order(struct front_runner *runner, const struct front_order *order,
                        struct err *err)
{
	struct front_order *copy = mem_alloc(1, sizeof(*copy));
	bool queued = false;

	*copy = *order;
	if (order->giver)
		copy->by = mem_strdup(order->giver->name);
	if (!order->giver || front_may(order->giver, FRONT_DRIVE, err)) {
		pthread_mutex_lock(&runner->lock);
		queued = order_queue(runner, copy, err);
		pthread_mutex_unlock(&runner->lock);
	}
	if (!queued)
		order_free(copy);
	return queued;
}

struct host *front_use_host(struct front_runner *runner)
{
	struct host *host = NULL;

	pthread_mutex_lock(&runner->lock);
	if (runner->is_open) {
		host = session_host(runner->session);
		runner->users++;
	}
	pthread_mutex_unlock(&runner->lock);
	return host;
}

void front_release_host(struct front_runner *runner)
{
	pthread_mutex_lock(&runner->lock);
	runner->users--;
	pthread_cond_broadcast(&runner->done);
	pthread_mutex_unlock(&runner->lock);
}

bool front_runner_new(const struct front_runner_options *options, struct front_runner **ret,
                      struct err *err)
{
	struct front_runner *runner = mem_alloc(1, sizeof(*runner));

	if (!cancel_init(&runner->cancel, err)) {
		free(runner);
		return false;
	}
	runner->session = options->session;
	runner->session_cancel = options->cancel;
	runner->resume = mem_strdup(options->resume);
	runner->starts_late = options->starts_late;
	runner->facts = json_pack("{s:o, s:s}", "folder",
	                          json_name(session_folder(runner->session)), "mode",
	                          policy_mode_name(session_mode(runner->session)));
	pthread_mutex_init(&runner->attaching, NULL);
	pthread_mutex_init(&runner->lock, NULL);
	pthread_cond_init(&runner->wake, NULL);
	pthread_cond_init(&runner->done, NULL);
	front_hub_init(&runner->hub);
	session_set_notices(runner->session, &(struct notices){ runner_note, runner });
	if (pthread_create(&runner->thread, NULL, runner_run, runner) != 0) {
		runner->ended = true;
		front_runner_free(runner);
		return err_set(err, ERR_NO_RESOURCES, "No thread can be started.");
	}
	*ret = runner;
	return true;
}

void front_runner_begin(struct front_runner *runner)
{
	struct err ignored = ERR_INIT;

	front_runner_order(runner, &(struct front_order){ .kind = FRONT_ORDER_OPEN }, &ignored);
	pthread_mutex_lock(&runner->lock);
	runner->started = true;
	pthread_cond_signal(&runner->wake);
	pthread_mutex_unlock(&runner->lock);
}

void front_runner_end(struct front_runner *runner, const char *reason)
{
	if (runner->ended)
		return;
	runner->ended = true;
	pthread_mutex_lock(&runner->lock);
	runner->ending = true;
	runner->reason = mem_strdup(reason);
	cancel_set(runner->session_cancel);
	cancel_set(&runner->cancel);
	pthread_cond_signal(&runner->wake);
	pthread_mutex_unlock(&runner->lock);
	front_hub_end(&runner->hub);
	pthread_join(runner->thread, NULL);
}

void front_runner_free(struct front_runner *runner)
{
	if (!runner)
		return;
	front_runner_end(runner, "exit");
	session_set_notices(runner->session, &(struct notices){ 0 });
	front_hub_release(&runner->hub);
	pthread_mutex_destroy(&runner->attaching);
	pthread_mutex_destroy(&runner->lock);
	pthread_cond_destroy(&runner->wake);
	pthread_cond_destroy(&runner->done);
	cancel_release(&runner->cancel);
	json_decref(runner->facts);
	free(runner->resume);
	free(runner->resumed.model);
	free(runner->reason);
	free(runner);
}
