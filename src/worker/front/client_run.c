/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of a worker: their events on a separate thread, orders to them as frames. */
#include <stdlib.h>

#include "base/mem.h"
#include "sandbox/apply/processes.h"
#include "worker/front/private.h"

enum {
	KILL_GRACE_MS = 1000,  /* a worker that does not even say that the command has ended */
	GUARD_GRACE_MS = 10000, /* between the end of the command and that of all */
	INPUT_PIECE = 64 << 10,
};

/* ---- events ---- */

static void event_free(struct run_event *event)
{
	if (event)
		free(event->fields);
	free(event);
}

static bool has_event(struct client *client, void *data)
{
	const struct client_run *run = data;

	(void)client;
	return run->first || run->killed;
}

static bool has_last_event(struct client *client, void *data)
{
	const struct client_run *run = data;

	(void)client;
	return run->first;
}

/* ---- passing events on ---- */

typedef bool deliver_fn(struct client_run *run, const void *object);

static bool deliver_started(struct client_run *run, const void *object)
{
	const struct wire_run_started *started = object;

	if (run->started || run->main_ended)
		return false;
	run->started = true;
	if (run->events.started)
		run->events.started(run->data, started->pid);
	return true;
}

static bool deliver_output(struct client_run *run, const void *object)
{
	const struct wire_run_output *output = object;
	struct wire_run_taken taken = { .bytes = run->taken + output->bytes.len };

	if (run->main_ended && run->ended)
		return false;
	if (output->bytes.len)
		run->events.output(run->data, output->stream, output->bytes);
	else if (run->events.closed && !run->main_ended)
		run->events.closed(run->data, output->stream);
	run->taken = taken.bytes;
	if (taken.bytes < LIMIT_RUN_WINDOW / 4)
		return true;
	run->taken = 0;
	client_notify(run->client, WIRE_MESSAGE_RUN_TAKEN, run->id, &taken);
	return true;
}

static bool deliver_denied(struct client_run *run, const void *object)
{
	run->events.denied(run->data, object);
	return true;
}

static bool deliver_hidden(struct client_run *run, const void *object)
{
	if (run->hidden || run->main_ended)
		return false;
	run->hidden = true;
	if (run->events.hidden)
		run->events.hidden(run->data, object);
	return true;
}

static bool deliver_secret(struct client_run *run, const void *object)
{
	const struct wire_run_secret *body = object;

	if (run->main_ended)
		return false;
	if (run->events.secret)
		run->events.secret(run->data, body->secret);
	return true;
}

/* A remote worker has a front on its machine, which has the plan. */
static bool deliver_config(struct client_run *run, const void *object)
{
	const struct wire_run_config *body = object;
	struct wire_run_config_done done = { false };

	if (run->ended)
		return false;
	done.done = run->options.plan && front_write_config(run->options.plan, body->path);
	client_notify(run->client, WIRE_MESSAGE_RUN_CONFIG_DONE, run->id, &done);
	return true;
}

static bool deliver_main_ended(struct client_run *run, const void *object)
{
	if (run->main_ended)
		return false;
	run->main_ended = true;
	run->events.main_ended(run->data, object);
	return true;
}

static bool deliver_ended(struct client_run *run, const void *object)
{
	if (!run->main_ended)
		return false;
	run->ended = true;
	run->events.ended(run->data, object);
	return true;
}

static const struct run_event_row {
	enum wire_type type;
	deliver_fn *deliver_event;
} rows[] = {
	{ WIRE_MESSAGE_RUN_STARTED, deliver_started },
	{ WIRE_MESSAGE_RUN_OUTPUT, deliver_output },
	{ WIRE_MESSAGE_RUN_DENIED, deliver_denied },
	{ WIRE_MESSAGE_RUN_HIDDEN, deliver_hidden },
	{ WIRE_MESSAGE_RUN_SECRET, deliver_secret },
	{ WIRE_MESSAGE_RUN_CONFIG, deliver_config },
	{ WIRE_MESSAGE_RUN_MAIN_ENDED, deliver_main_ended },
	{ WIRE_MESSAGE_RUN_ENDED, deliver_ended },
};

static bool deliver_event(struct client_run *run, const struct run_event *event)
{
	const struct wire_layout *layout = wire_message_find(event->type)->layout;
	struct wire_arena arena = { 0 };
	_cleanup_wire_in_ struct wire_in in = { .fields = span_of(event->fields, event->len),
		                                .arena = &arena };
	void *object = wire_arena_alloc(&arena, 1, layout->size);
	bool ok = wire_decode(&in, layout, object) && wire_decode_end(&in);

	for (size_t i = 0; ok && i < ARRAY_LEN(rows); i++)
		if (rows[i].type == event->type) {
			ok = rows[i].deliver_event(run, object);
			break;
		}
	wire_arena_release(&arena);
	return ok;
}

/* What is reported when the worker cannot. */
static void deliver_lost(struct client_run *run, bool killed)
{
	struct run_end end = { .why = killed ? RUN_CANCELLED : RUN_LOST, .exit_code = -1,
		               .wall_ms = (uint64_t)(client_now_ms() - run->began_ms) };
	struct denial denial;

	if (!killed && run->options.plan &&
	    sandbox_limits_explain(run->options.plan, &run->client->process.child, &denial)) {
		end.why = RUN_LIMIT;
		run->events.denied(run->data, &denial);
	}
	if (!run->main_ended)
		run->events.main_ended(run->data, &end);
	if (!run->ended)
		run->events.ended(run->data, &end);
	run->main_ended = run->ended = true;
}

/* ---- the thread ---- */

/* The next event; NULL: the worker has failed, or takes too long to end what was killed. */
static struct run_event *next_event(struct client_run *run)
{
	struct client *client = run->client;
	struct run_event *event;

	pthread_mutex_lock(&client->lock);
	client_wait(client, &run->waiter, has_event, run, -1);
	if (run->killed && !run->first && !client->failed)
		client_wait(client, &run->waiter, has_last_event, run,
		            client_now_ms() + (run->main_ended ? GUARD_GRACE_MS : KILL_GRACE_MS));
	event = run->first;
	if (event) {
		run->first = event->next;
		if (!run->first)
			run->last = &run->first;
		run->queued_bytes -= event->len + sizeof(*event);
	}
	pthread_mutex_unlock(&client->lock);
	return event;
}

static bool is_killed(struct client_run *run)
{
	bool killed;

	pthread_mutex_lock(&run->client->lock);
	killed = run->killed;
	pthread_mutex_unlock(&run->client->lock);
	return killed;
}

static void *run_events_thread(void *data)
{
	struct client_run *run = data;
	struct run_event *event;

	while (!run->ended && (event = next_event(run))) {
		bool ok = deliver_event(run, event);

		event_free(event);
		if (!ok) {
			client_fail(run->client, "broke the protocol about a command.");
			break;
		}
	}
	if (!run->ended) {
		bool killed = is_killed(run);

		if (run->options.plan || !killed)
			client_fail(run->client, "did not say how its command ended.");
		deliver_lost(run, killed);
	}
	return NULL;
}

/* ---- orders to a command ---- */

static bool run_input(struct run *base, struct span bytes)
{
	struct client_run *run = (struct client_run *)base;
	bool fits;

	/* All of it, or nothing while there is no room for it over there. */
	pthread_mutex_lock(&run->client->lock);
	fits = !run->client->failed && !run->killed &&
	       bytes.len <= LIMIT_RUN_INPUT_BYTES - run->input_bytes;
	if (fits)
		run->input_bytes += bytes.len;
	pthread_mutex_unlock(&run->client->lock);
	if (!fits)
		return false;
	while (bytes.len) {
		struct wire_run_input input = { span_head(bytes, INPUT_PIECE) };

		if (!client_notify(run->client, WIRE_MESSAGE_RUN_INPUT, run->id, &input))
			return false;
		bytes = span_skip(bytes, input.bytes.len);
	}
	return true;
}

static void run_close_input(struct run *base)
{
	struct client_run *run = (struct client_run *)base;

	client_notify(run->client, WIRE_MESSAGE_RUN_END_INPUT, run->id, NULL);
}

static void run_resize(struct run *base, unsigned rows_, unsigned columns)
{
	struct client_run *run = (struct client_run *)base;
	const struct wire_run_resize resize = { rows_, columns };

	client_notify(run->client, WIRE_MESSAGE_RUN_RESIZE, run->id, &resize);
}

static void run_signal(struct run *base, int signal)
{
	struct client_run *run = (struct client_run *)base;
	const struct wire_run_signal what = { signal };

	client_notify(run->client, WIRE_MESSAGE_RUN_SIGNAL, run->id, &what);
}

static void run_kill(struct run *base)
{
	struct client_run *run = (struct client_run *)base;
	bool first;

	pthread_mutex_lock(&run->client->lock);
	first = !run->killed;
	run->killed = true;
	client_waiter_wake(&run->waiter);
	client_wake_reader(run->client);
	pthread_mutex_unlock(&run->client->lock);
	if (first)
		client_notify(run->client, WIRE_MESSAGE_RUN_KILL, run->id, NULL);
}

static void run_destroy(struct client_run *run)
{
	struct client_run **at = &run->client->runs;

	pthread_mutex_lock(&run->client->lock);
	while (*at != run)
		at = &(*at)->next;
	*at = run->next;
	pthread_mutex_unlock(&run->client->lock);
	while (run->first) {
		struct run_event *event = run->first;

		run->first = event->next;
		event_free(event);
	}
	client_unref(run->client);
	sandbox_plan_free(run->options.plan);
	pthread_cond_destroy(&run->waiter.wake);
	free(run);
}

/* Kills what still runs, and waits for its last event. */
static void run_free(struct run *base)
{
	struct client_run *run = (struct client_run *)base;

	run_kill(base);
	pthread_join(run->thread, NULL);
	run_destroy(run);
}

static const struct run_ops ops = {
	.input = run_input,
	.close_input = run_close_input,
	.resize = run_resize,
	.signal = run_signal,
	.kill = run_kill,
	.free = run_free,
};

/* ---- the reader ---- */

static bool pump_is_over(struct client *client, void *data)
{
	(void)data;
	return client->stop_pump;
}

static void *pump_thread(void *data)
{
	struct client *client = data;

	pthread_mutex_lock(&client->lock);
	client_wait(client, &client->pump_waiter, pump_is_over, NULL, -1);
	pthread_mutex_unlock(&client->lock);
	return NULL;
}

static bool start_pump(struct client *client, struct err *err)
{
	bool ok;

	pthread_mutex_lock(&client->lock);
	if (!client->pumping)
		client->pumping = pthread_create(&client->pump, NULL, pump_thread, client) == 0;
	ok = client->pumping;
	pthread_mutex_unlock(&client->lock);
	return ok || err_set(err, ERR_TOO_LARGE, "There are too many threads.");
}

/* ---- start ---- */

static struct client_run *run_new(struct client *client, const struct run_events *events,
                                  void *data, const struct client_run_options *options)
{
	struct client_run *run = mem_alloc(1, sizeof(*run));

	*run = (struct client_run){ .run = { .ops = &ops }, .client = client_ref(client),
		                    .events = *events, .data = data,
		                    .began_ms = client_now_ms() };
	run->last = &run->first;
	run->options = *options;
	client_waiter_init(&run->waiter);
	pthread_mutex_lock(&client->lock);
	run->id = ++client->last_id;
	run->next = client->runs;
	client->runs = run;
	pthread_mutex_unlock(&client->lock);
	return run;
}

bool client_start_run(struct client *client, const struct run_request *request,
                      const struct run_events *events, void *data,
                      const struct client_run_options *options, struct run **ret, struct err *err)
{
	struct client_run *run = run_new(client, events, data, options);
	struct client_call call = { .request = WIRE_MESSAGE_RUN, .answer = WIRE_MESSAGE_RUNNING,
		                    .body = request,
		                    .fds = request->stdio,
		                    .fd_count = request->stdio ? WIRE_FDS_MAX : 0,
		                    .object = run, .id = run->id };
	bool ok = start_pump(client, err) && client_call(client, &call, err);

	if (ok && pthread_create(&run->thread, NULL, run_events_thread, run) != 0) {
		client_fail(client, "has a command, but there is no thread for it.");
		ok = err_set(err, ERR_TOO_LARGE, "There are too many threads.");
	}
	if (!ok) {
		run->options.plan = NULL; /* the caller's still */
		run_destroy(run);
		return false;
	}
	*ret = &run->run;
	return true;
}

/* ---- which watches have changed ---- */

void client_expect_changes(struct client *client, uint64_t id)
{
	struct change_mark *mark = mem_alloc(1, sizeof(*mark));

	pthread_mutex_lock(&client->lock);
	*mark = (struct change_mark){ client->marks, id, false };
	client->marks = mark;
	pthread_mutex_unlock(&client->lock);
}

void client_forget_changes(struct client *client, uint64_t id)
{
	pthread_mutex_lock(&client->lock);
	for (struct change_mark **at = &client->marks; *at; at = &(*at)->next)
		if ((*at)->id == id) {
			struct change_mark *mark = *at;

			*at = mark->next;
			free(mark);
			break;
		}
	pthread_mutex_unlock(&client->lock);
}

static struct change_mark *find_changed(const struct client *client)
{
	struct change_mark *mark = client->marks;

	while (mark && !mark->changed)
		mark = mark->next;
	return mark;
}

static bool is_disturbed(struct client *client, void *data)
{
	(void)data;
	return client->disturbed || find_changed(client);
}

uint64_t client_wait_change(struct client *client, bool *ret_failed)
{
	struct change_mark *mark;
	uint64_t id = 0;

	pthread_mutex_lock(&client->lock);
	client_wait(client, &client->watcher, is_disturbed, NULL, -1);
	*ret_failed = client->failed;
	mark = find_changed(client);
	if (mark && !client->disturbed) {
		mark->changed = false;
		id = mark->id;
	}
	client->disturbed = false;
	pthread_mutex_unlock(&client->lock);
	return id;
}

void client_disturb(struct client *client)
{
	pthread_mutex_lock(&client->lock);
	client->disturbed = true;
	client_waiter_wake(&client->watcher);
	client_wake_reader(client);
	pthread_mutex_unlock(&client->lock);
}
