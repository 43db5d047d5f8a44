/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a session and the queue of orders, without a session: what fronts get, in which order,
 * what waits for whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "front/private.h"

static void wake(void *data, bool is_piece)
{
	(void)data, (void)is_piece;
}

static struct front *attach(struct front_hub *hub, const char *name, uint64_t after)
{
	struct front *front = mem_alloc(1, sizeof(*front));

	front->options = (struct front_options){ .name = name, .wake = wake, .after = after };
	assert_true(front_hub_attach(hub, front));
	return front;
}

static void detach(struct front_hub *hub, struct front *front)
{
	front_hub_detach(hub, front);
	free(front->name);
	free(front);
}

static void publish(struct front_hub *hub, enum bus_topic topic, const char *call, const char *text)
{
	json_auto_t *message = json_pack("{s:s}", "text", text);

	if (call)
		json_object_set_new(message, "callId", json_string(call));
	front_hub_hear(hub, topic, message);
	/* The publisher's own: what fronts get is independent of it. */
	json_object_clear(message);
}

/* The events that wait, as "TOPIC:NUMBER-LAST:TEXT ", for the caller to free. */
static char *taken(struct front_hub *hub, struct front *front)
{
	struct buf all = BUF_INIT(16 << 20);
	struct front_event *event = front_hub_take(hub, front), *next;

	for (; event; event = next) {
		const struct span text = json_span(json_object_get(event->message, "text"));

		next = event->next;
		buf_printf(&all, "%s:%llu-%llu:%.*s ",
		           event->kind == FRONT_MISSED ? "missed" : bus_topic_name(event->topic),
		           (unsigned long long)event->number, (unsigned long long)event->last,
		           (int)text.len, text.data);
		front_event_free(event);
	}
	buf_char(&all, '\0');
	return all.data;
}

static void expect(struct front_hub *hub, struct front *front, const char *events)
{
	char *got = taken(hub, front);

	assert_string_equal(got, events);
	free(got);
}

static void pieces_of_one_text_are_joined_for_all(void **state)
{
	static const char all[] = "content:1-2:ab tool-output:3-4:xy tool-output:5-5:z content:6-6:c ";
	struct front_hub hub = { 0 };
	struct front *early, *late, *last;

	(void)state;
	front_hub_init(&hub);
	early = attach(&hub, "early", 0);
	publish(&hub, BUS_CONTENT, NULL, "a");
	publish(&hub, BUS_CONTENT, NULL, "b");
	publish(&hub, BUS_TOOL_OUTPUT, "1", "x");
	publish(&hub, BUS_TOOL_OUTPUT, "1", "y");
	publish(&hub, BUS_TOOL_OUTPUT, "2", "z");
	publish(&hub, BUS_CONTENT, NULL, "c");
	late = attach(&hub, "late", 0);
	last = attach(&hub, "last", 5);
	expect(&hub, early, all);
	expect(&hub, late, all);
	expect(&hub, last, "content:6-6:c ");
	detach(&hub, early);
	detach(&hub, late);
	detach(&hub, last);
	front_hub_release(&hub);
}

static void of_a_long_output_its_end_is_kept(void **state)
{
	struct front_hub hub = { 0 };
	struct front *front;
	char *got;

	(void)state;
	front_hub_init(&hub);
	front = attach(&hub, "front", 0);
	front->options.output_tail = 7;
	for (size_t i = 0; i < 1000; i++)
		publish(&hub, BUS_TOOL_OUTPUT, "1", "\xc3\xa4\xc3\xb6");
	got = taken(&hub, front);
	/* Whole characters alone: six bytes of seven. */
	assert_string_equal(got, "tool-output:1-1000:\xc3\xb6\xc3\xa4\xc3\xb6 ");
	free(got);
	detach(&hub, front);
	front_hub_release(&hub);
}

static void the_message_is_one_for_all_fronts(void **state)
{
	struct front_hub hub = { 0 };
	struct front *one, *two;
	struct front_event *first, *second;

	(void)state;
	front_hub_init(&hub);
	one = attach(&hub, "front", 0);
	two = attach(&hub, "front", 0);
	assert_string_equal(two->name, "front 2");
	publish(&hub, BUS_PROMPT, NULL, "go");
	first = front_hub_take(&hub, one);
	second = front_hub_take(&hub, two);
	assert_ptr_equal(first->message, second->message);
	assert_ptr_equal(first->message, hub.last_kept->event.message);
	front_event_free(first);
	front_event_free(second);
	detach(&hub, one);
	detach(&hub, two);
	front_hub_release(&hub);
}

static void a_front_that_takes_nothing_gets_the_end_and_the_questions(void **state)
{
	json_auto_t *question = json_pack("{s:s, s:s}", "correlationId", "1", "text", "sure?");
	char text[1025];
	struct front_hub hub = { 0 };
	struct front *front;
	char *got;

	(void)state;
	memset(text, 't', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	front_hub_init(&hub);
	front = attach(&hub, "front", 0);
	for (size_t i = 0; i < LIMIT_FRONT_WAITING; i++)
		publish(&hub, BUS_PROMPT, NULL, text);
	front_hub_hear(&hub, BUS_TOOL_CONFIRMATION_REQUEST, question);
	for (size_t i = 0; i < LIMIT_FRONT_WAITING; i++)
		publish(&hub, BUS_PROMPT, NULL, text);
	assert_true(hub.kept_bytes <= LIMIT_FRONT_LOG_BYTES);
	assert_int_equal(front->waiting, LIMIT_FRONT_WAITING);
	got = taken(&hub, front);
	assert_non_null(strstr(got, "missed:0-0:"));
	assert_non_null(strstr(got, "tool-confirmation-request:4097-4097:sure?"));
	assert_non_null(strstr(got, "prompt:8193-8193:"));
	assert_null(strstr(got, "prompt:4098-4098:"));
	free(got);
	detach(&hub, front);
	front_hub_release(&hub);
}

/* ---- waiting for a front that uses the host ------------------------------------------ */

struct waiting {
	struct front_hub hub;
	uint64_t number;
	const struct front *giver;
	_Atomic bool done;
};

static void *await(void *data)
{
	struct waiting *waiting = data;

	front_hub_await(&waiting->hub, waiting->number, waiting->giver);
	waiting->done = true;
	return NULL;
}

/* Starts the wait for one event, then ends it by what `end` does; false: it had ended before. */
static bool waits_until(bool uses_host, bool is_giver, void (*end)(struct front_hub *hub,
                                                                   struct front *front))
{
	struct waiting waiting = { .number = 0 };
	struct front_event event = { .kind = FRONT_STARTED };
	struct front *front;
	pthread_t thread;
	bool waited;

	front_hub_init(&waiting.hub);
	front = attach(&waiting.hub, "front", 0);
	front->options.uses_host = uses_host;
	waiting.giver = is_giver ? front : NULL;
	waiting.number = front_hub_add(&waiting.hub, &event, waiting.giver);
	if (!end) {
		await(&waiting);
		waited = false;
	} else {
		/* It cannot be over before `end`: `taken` is too small until then. */
		assert_int_equal(pthread_create(&thread, NULL, await, &waiting), 0);
		waited = !waiting.done;
		end(&waiting.hub, front);
		assert_int_equal(pthread_join(thread, NULL), 0);
		waited = waited && waiting.done;
	}
	if (end != detach)
		detach(&waiting.hub, front);
	front_hub_release(&waiting.hub);
	return waited;
}

static void take(struct front_hub *hub, struct front *front)
{
	front_event_free(front_hub_take(hub, front));
}

static void end_waits(struct front_hub *hub, struct front *front)
{
	(void)front;
	front_hub_end(hub);
}

static void an_order_waits_for_fronts_that_use_the_host(void **state)
{
	(void)state;
	assert_true(waits_until(true, false, take));
	assert_true(waits_until(true, false, detach));
	assert_true(waits_until(true, false, end_waits));
	/* Not for its giver, nor for others. */
	assert_false(waits_until(true, true, NULL));
	assert_false(waits_until(false, false, NULL));
}

/* ---- orders ----------------------------------------------------------------------------- */

static void no_task(struct front_task *task, struct front_session *session)
{
	(void)task, (void)session;
	fail_msg("a task that waited has run");
}

static void the_queue_of_orders_ends(void **state)
{
	struct front_session *session = session_new(&(struct session_request){ 0 });
	struct front_task task = { .run = no_task };
	struct front_runner *runner;
	struct front *front, *watcher;
	struct err err = ERR_INIT;
	struct cancel cancel;
	char *got;

	(void)state;
	assert_true(cancel_init(&cancel, &err));
	assert_true(front_runner_new(&(struct front_runner_options){ .session = session,
	                                                             .cancel = &cancel },
	                             &runner, &err));
	front = front_attach(runner, &(struct front_options){ .name = "front", .wake = wake,
	                                                      .roles = FRONT_ALL });
	watcher = front_attach(runner, &(struct front_options){ .name = "watcher", .wake = wake });
	assert_false(front_prompt(watcher, SPAN(""), SPAN("go"), &err));
	assert_int_equal(err.code, ERR_PERMISSION_DENIED);
	assert_true(front_give(front, &task, &err));
	for (size_t i = 1; i < LIMIT_FRONT_ORDERS; i++)
		assert_true(front_prompt(front, SPAN(""), SPAN("go"), &err));
	assert_false(front_prompt(front, SPAN(""), SPAN("go"), &err));
	assert_int_equal(err.code, ERR_LIMIT_REACHED);
	assert_non_null(strstr(err.message, "256 orders already wait"));
	assert_false(front_steer(front, SPAN("go"), &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	front_runner_end(runner, "exit");
	assert_false(front_prompt(front, SPAN(""), SPAN("go"), &err));
	assert_int_equal(err.code, ERR_BUSY);
	/* The task is given back, the end is reported. */
	got = taken(&runner->hub, front);
	assert_string_equal(got, "none:1-1: none:2-2: ");
	free(got);
	front_detach(front);
	front_detach(watcher);
	front_runner_free(runner);
	session_free(session);
	cancel_release(&cancel);
}

static bool takes_all(void *data, enum bus_topic topic, const json_t *message)
{
	(void)data, (void)topic, (void)message;
	return true;
}

static bool takes_none(void *data, enum bus_topic topic, const json_t *message)
{
	(void)data, (void)topic, (void)message;
	return false;
}

static struct front *attach_with(struct front_hub *hub, const struct front_options *options)
{
	struct front *front = mem_alloc(1, sizeof(*front));

	front->options = *options;
	assert_true(front_hub_attach(hub, front));
	return front;
}

static void fronts_get_what_they_have_not_taken_and_those_that_are_not_woken_nothing(void **state)
{
	struct front_hub hub = { 0 };
	struct front *fronts[5];

	(void)state;
	front_hub_init(&hub);
	fronts[0] = attach(&hub, "plain", 0);
	fronts[1] = attach_with(&hub, &(struct front_options){ .name = "taker", .wake = wake,
	                                                       .takes = takes_all });
	fronts[2] = attach_with(&hub, &(struct front_options){ .name = "quiet", .roles = 6 });
	fronts[3] = attach_with(&hub, &(struct front_options){ .name = "none", .wake = wake,
	                                                       .takes = takes_none });
	publish(&hub, BUS_NOTICE, NULL, "a");
	fronts[4] = attach_with(&hub, &(struct front_options){ .name = "quiet", .takes = takes_all });
	publish(&hub, BUS_NOTICE, NULL, "b");
	expect(&hub, fronts[0], "notice:1-1:a notice:2-2:b ");
	expect(&hub, fronts[1], "");
	expect(&hub, fronts[2], "");
	expect(&hub, fronts[3], "notice:1-1:a notice:2-2:b ");
	expect(&hub, fronts[4], "");
	assert_string_equal(fronts[4]->name, "quiet 2");
	for (size_t i = 0; i < ARRAY_LEN(fronts); i++)
		detach(&hub, fronts[i]);
	front_hub_release(&hub);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_of_one_text_are_joined_for_all),
		cmocka_unit_test(of_a_long_output_its_end_is_kept),
		cmocka_unit_test(the_message_is_one_for_all_fronts),
		cmocka_unit_test(a_front_that_takes_nothing_gets_the_end_and_the_questions),
		cmocka_unit_test(an_order_waits_for_fronts_that_use_the_host),
		cmocka_unit_test(the_queue_of_orders_ends),
		cmocka_unit_test(
			fronts_get_what_they_have_not_taken_and_those_that_are_not_woken_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
