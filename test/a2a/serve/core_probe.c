/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of an A2A server without its wire, for tests:
 *
 *   core_probe MODEL TASKS_AT_ONCE FOLDER...
 *
 * A line of standard input is an order: {"id": 1, "caller": NAME, "operation": NUMBER, "params",
 * "version"?, "after"?}, or {"gone": ID}, {"slow": ID, "is": BOOL}, {"counters": true}, {"drain": MS}.
 * Lines of standard output: {"id", "answer" | "refused", "sentence" | "event", "number" | "end"}.
 * $PROBE_CALLERS is the setting hasp.a2a.callers; $HASP is the program that has the workers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "a2a/serve/push.h"
#include "a2a/serve/tasks.h"
#include "base/mem.h"
#include "data/json.h"

/* ---- orders ------------------------------------------------------------------------------ */

struct probe_order {
	struct a2a_order order; /* the first member */
	struct probe_order *next;
	json_int_t id;
	bool is_slow;
};

struct probe {
	struct a2a_server server; /* the first member */
	struct probe_order *orders;
	struct buf input;
};

static void probe_print(const struct probe_order *order, json_t *line)
{
	if (order)
		json_object_set_new(line, "id", json_integer(order->id));
	json_dumpf(line, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(line);
}

static void probe_free(struct probe_order *order)
{
	struct probe_order **link = &((struct probe *)order->order.server)->orders;

	while (*link != order)
		link = &(*link)->next;
	*link = order->next;
	a2a_caller_unref(order->order.caller);
	json_decref(order->order.params);
	free(order);
}

static void probe_answer(struct a2a_order *order, json_t *result)
{
	probe_print((struct probe_order *)order, json_pack("{s:o}", "answer", result));
	probe_free((struct probe_order *)order);
}

static void probe_refuse(struct a2a_order *order, struct a2a_fault *fault)
{
	probe_print((struct probe_order *)order, json_pack("{s:i, s:s}", "refused", fault->kind,
	                                                   "sentence", fault->sentence));
	json_decref(fault->fields);
	probe_free((struct probe_order *)order);
}

static void probe_event(struct a2a_order *order, const json_t *response, uint64_t number)
{
	probe_print((struct probe_order *)order, json_pack("{s:O, s:I}", "event", response, "number",
	                                                   (json_int_t)number));
}

static void probe_end(struct a2a_order *order)
{
	probe_print((struct probe_order *)order, json_pack("{s:b}", "end", 1));
	probe_free((struct probe_order *)order);
}

static bool probe_is_slow(const struct a2a_order *order)
{
	return ((const struct probe_order *)order)->is_slow;
}

static struct probe_order *probe_find(const struct probe *probe, json_int_t id)
{
	struct probe_order *order = probe->orders;

	while (order && order->id != id)
		order = order->next;
	return order;
}

static void probe_begin(struct probe *probe, json_t *line)
{
	struct probe_order *order = mem_alloc(1, sizeof(*order));
	const char *version = json_string_value(json_object_get(line, "version"));

	*order = (struct probe_order){ .next = probe->orders,
		                       .id = json_integer_value(json_object_get(line, "id")) };
	order->order = (struct a2a_order){
		.server = &probe->server,
		.caller = a2a_callers_find(probe->server.callers, json_string_value(
			json_object_get(line, "caller"))),
		.operation = (enum a2a_operation)json_integer_value(json_object_get(line,
		                                                                    "operation")),
		.version = version && !strcmp(version, "0.3") ? A2A_V0_3 : A2A_V1_0,
		.params = json_incref(json_object_get(line, "params")),
		.answer = probe_answer, .refuse = probe_refuse, .event = probe_event,
		.end = probe_end, .is_slow = probe_is_slow,
		.resumes = json_is_integer(json_object_get(line, "after")),
		.resume_after = (uint64_t)json_integer_value(json_object_get(line, "after")),
	};
	probe->orders = order;
	a2a_order_begin(&order->order);
}

/* ---- what else a line may be ----------------------------------------------------------------- */

static void probe_gone(struct probe_order *order)
{
	if (!order)
		return;
	if (order->order.left)
		order->order.left(&order->order);
	probe_free(order);
}

static void probe_set_slow(struct probe_order *order, bool is)
{
	if (!order)
		return;
	order->is_slow = is;
	if (!is && order->order.drained)
		order->order.drained(&order->order);
}

static size_t probe_recent_bytes(const struct a2a_tasks *tasks, size_t *ret_values)
{
	size_t bytes = 0;

	*ret_values = 0;
	for (const struct a2a_task *task = tasks->first; task; task = task->next) {
		bytes += task->recent_bytes;
		*ret_values += task->value != NULL;
	}
	return bytes;
}

static void probe_counters(const struct probe *probe)
{
	const struct a2a_tasks *tasks = probe->server.tasks;
	size_t values, recent = probe_recent_bytes(tasks, &values);

	probe_print(NULL, json_pack("{s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I}}", "counters", "tasks",
	                            (json_int_t)tasks->count, "waiting", (json_int_t)tasks->waiting,
	                            "running", (json_int_t)tasks->running, "asking",
	                            (json_int_t)tasks->questions, "streams",
	                            (json_int_t)probe->server.streams, "recent", (json_int_t)recent,
	                            "values", (json_int_t)values));
}

static void probe_line(struct probe *probe, struct span text)
{
	json_auto_t *line = NULL;
	struct err err = ERR_INIT;

	if (!json_parse(text, &line, &err)) {
		fprintf(stderr, "%s\n", err.message);
		exit(2);
	}
	if (json_object_get(line, "operation"))
		probe_begin(probe, line);
	else if (json_object_get(line, "gone"))
		probe_gone(probe_find(probe, json_integer_value(json_object_get(line, "gone"))));
	else if (json_object_get(line, "slow"))
		probe_set_slow(probe_find(probe, json_integer_value(json_object_get(line, "slow"))),
		               json_is_true(json_object_get(line, "is")));
	else if (json_object_get(line, "counters"))
		probe_counters(probe);
	else
		a2a_core_drain(&probe->server,
		               (unsigned)json_integer_value(json_object_get(line, "drain")));
}

/* As loop_stream_events.data. */
static void probe_data(void *data, struct span bytes)
{
	struct probe *probe = data;
	const char *end;

	buf_span(&probe->input, bytes);
	while ((end = memchr(probe->input.data, '\n', probe->input.len))) {
		const size_t len = (size_t)(end - probe->input.data);
		char *line = mem_dup(probe->input.data, len);

		memmove(probe->input.data, end + 1, probe->input.len - len - 1);
		probe->input.len -= len + 1;
		probe_line(probe, span_of(line, len));
		free(line);
	}
}

/* As loop_stream_events.end. */
static void probe_input_end(void *data, int sys_errno)
{
	struct probe *probe = data;

	(void)sys_errno;
	a2a_core_drain(&probe->server, 0);
}

static void probe_drained(struct a2a_server *server)
{
	loop_stop(server->loop);
}

static void probe_warn(struct a2a_server *server, const char *sentence)
{
	(void)server;
	fprintf(stderr, "warning: %s\n", sentence);
}

static const char *probe_setting(const char *name)
{
	return getenv(name);
}

static bool probe_callers(struct a2a_server *server, struct err *err)
{
	json_auto_t *setting = NULL;

	if (probe_setting("PROBE_PUSH"))
		server->push = a2a_push_new(server, NULL);
	return json_parse(span_str(probe_setting("PROBE_CALLERS")), &setting, err) &&
	       a2a_callers_open(server, setting, NULL, &server->callers, err);
}

int main(int argc, char **argv)
{
	const struct session_request request = {
		.program = probe_setting("HASP"), .model = argv[1],
		.mode = probe_setting("PROBE_MODE"), .skip_trust = true,
	};
	const struct a2a_serve_options options = {
		.request = &request, .folders = (const char *const *)argv + 3,
		.tasks_at_once = argc > 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0,
	};
	const struct loop_stream_events events = { .data = probe_data, .end = probe_input_end };
	struct probe probe = { .input = BUF_INIT((size_t)64 << 20) };
	struct loop_stream *stream;
	struct err err = ERR_INIT;

	if (argc < 4)
		return 2;
	probe.server = (struct a2a_server){ .options = &options, .work = &a2a_local_work,
		                            .pool = pool_new(2, 32), .drained = probe_drained,
		                            .warn = probe_warn };
	if (!loop_new(&probe.server.loop, &err) || !probe_callers(&probe.server, &err) ||
	    !a2a_core_open(&probe.server, &err) ||
	    !loop_stream_open(probe.server.loop, STDIN_FILENO, STDOUT_FILENO, &events, &probe, &stream, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	probe_print(NULL, json_pack("{s:b}", "ready", 1));
	loop_run(probe.server.loop);
	loop_stream_close(stream, 0);
	pool_free(probe.server.pool);
	while (probe.orders)
		probe_gone(probe.orders);
	a2a_core_close(&probe.server);
	a2a_push_free(probe.server.push, 0);
	a2a_callers_free(probe.server.callers);
	loop_free(probe.server.loop);
	buf_release(&probe.input);
	return 0;
}
