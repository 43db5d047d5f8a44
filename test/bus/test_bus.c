/* SPDX-License-Identifier: Apache-2.0 */
/* Topics, questions and their answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bus/bus.h"

struct seen {
	struct bus *bus;
	atomic_int count;
	unsigned id;       /* its own subscription, for those who unsubscribe */
	char text[200];    /* of all messages */
	const char *outcome;
};

static void note(void *data, enum bus_topic topic, const json_t *message)
{
	struct seen *seen = data;
	const char *text = json_string_value(json_object_get(message, "text"));
	size_t len = strlen(seen->text);

	snprintf(seen->text + len, sizeof(seen->text) - len, "%s:%s ", bus_topic_name(topic),
	         text ? text : "-");
	atomic_fetch_add(&seen->count, 1);
}

static void say(struct bus *bus, enum bus_topic topic, const char *text)
{
	json_auto_t *message = json_pack("{s:s}", "text", text);

	bus_publish(bus, topic, message);
}

static void subscribers_get_their_topic_in_order(void **state)
{
	struct bus *bus = bus_new();
	struct seen content = { 0 }, all = { 0 };
	unsigned id = bus_subscribe(bus, BUS_CONTENT, note, &content);

	(void)state;
	bus_subscribe(bus, BUS_NONE, note, &all);
	say(bus, BUS_CONTENT, "a");
	say(bus, BUS_THOUGHT, "b");
	say(bus, BUS_CONTENT, "c");
	assert_string_equal(content.text, "content:a content:c ");
	assert_string_equal(all.text, "content:a thought:b content:c ");
	bus_unsubscribe(bus, id);
	say(bus, BUS_CONTENT, "d");
	assert_int_equal(content.count, 2);
	assert_int_equal(all.count, 4);
	assert_false(bus_has_listener(bus, BUS_CONTENT));
	bus_publish(NULL, BUS_CONTENT, NULL);
	assert_false(bus_has_listener(NULL, BUS_CONTENT));
	bus_free(bus);
}

static void leave_and_speak(void *data, enum bus_topic topic, const json_t *message)
{
	struct seen *seen = data;

	note(data, topic, message);
	bus_unsubscribe(seen->bus, seen->id);
	say(seen->bus, BUS_THOUGHT, "inner");
}

static void listeners_may_publish_and_leave(void **state)
{
	struct bus *bus = bus_new();
	struct seen leaver = { .bus = bus }, all = { 0 };

	(void)state;
	leaver.id = bus_subscribe(bus, BUS_CONTENT, leave_and_speak, &leaver);
	bus_subscribe(bus, BUS_NONE, note, &all);
	say(bus, BUS_CONTENT, "1");
	say(bus, BUS_CONTENT, "2");
	assert_string_equal(leaver.text, "content:1 ");
	assert_string_equal(all.text, "thought:inner content:1 content:2 ");
	bus_free(bus);
}

/* ---- questions ------------------------------------------------------------------ */

static json_t *question(void)
{
	return json_pack("{s:s, s:[]}", "correlationId", "", "questions");
}

static json_t *answer_to(const json_t *asked)
{
	return json_pack("{s:O, s:{s:s}}", "correlationId",
	                 json_object_get(asked, "correlationId"), "answers", "0", "yes");
}

static void answer_at_once(void *data, enum bus_topic topic, const json_t *message)
{
	struct seen *seen = data;
	json_auto_t *answer = answer_to(message), *again = answer_to(message);

	note(data, topic, message);
	assert_false(bus_answer(seen->bus, BUS_TOOL_CONFIRMATION_RESPONSE, answer));
	assert_true(bus_answer(seen->bus, BUS_ASK_USER_RESPONSE, answer));
	assert_false(bus_answer(seen->bus, BUS_ASK_USER_RESPONSE, again));
}

static void the_first_answer_counts(void **state)
{
	struct bus *bus = bus_new();
	struct seen seen = { .bus = bus }, observer = { 0 };
	json_auto_t *asked = question(), *answer = NULL;

	(void)state;
	bus_subscribe(bus, BUS_ASK_USER_REQUEST, answer_at_once, &seen);
	bus_subscribe(bus, BUS_ASK_USER_RESPONSE, note, &observer);
	assert_int_equal(bus_ask(bus, BUS_ASK_USER_REQUEST, asked, 0, NULL, &answer),
	                 BUS_ANSWERED);
	assert_string_equal(json_string_value(json_object_get(json_object_get(answer, "answers"),
	                                                      "0")), "yes");
	assert_int_equal(observer.count, 1);
	assert_int_equal(strlen(json_string_value(json_object_get(asked, "correlationId"))), 36);
	bus_free(bus);
}

static void ask_inside(void *data, enum bus_topic topic, const json_t *message)
{
	struct seen *seen = data;
	json_auto_t *asked = question(), *answer = NULL;

	note(data, topic, message);
	assert_int_equal(bus_ask(seen->bus, BUS_ASK_USER_REQUEST, asked, 0, NULL, &answer),
	                 BUS_NOBODY);
}

static void nobody_there_means_no_answer(void **state)
{
	struct bus *bus = bus_new();
	struct seen all = { 0 }, inside = { .bus = bus };
	json_auto_t *asked = question(), *answer = NULL;

	(void)state;
	bus_subscribe(bus, BUS_NONE, note, &all);
	assert_int_equal(bus_ask(bus, BUS_ASK_USER_REQUEST, asked, 0, NULL, &answer), BUS_NOBODY);
	assert_int_equal(bus_ask(NULL, BUS_ASK_USER_REQUEST, asked, 0, NULL, &answer), BUS_NOBODY);
	assert_int_equal(bus_ask(bus, BUS_CONTENT, asked, 0, NULL, &answer), BUS_NOBODY);
	assert_int_equal(all.count, 0);
	bus_subscribe(bus, BUS_CONTENT, ask_inside, &inside);
	bus_subscribe(bus, BUS_ASK_USER_REQUEST, note, &all);
	say(bus, BUS_CONTENT, "x");
	assert_int_equal(inside.count, 1);
	assert_null(answer);
	bus_free(bus);
}

struct later {
	struct seen seen;
	struct cancel *cancel;
	pthread_t thread;
	json_t *answer;
};

static void *act_later(void *data)
{
	struct later *later = data;

	usleep(20000);
	if (later->cancel)
		cancel_set(later->cancel);
	else if (later->answer)
		assert_true(bus_answer(later->seen.bus, BUS_ASK_USER_RESPONSE, later->answer));
	else
		bus_unsubscribe(later->seen.bus, later->seen.id);
	return NULL;
}

static void act_on_a_thread(void *data, enum bus_topic topic, const json_t *message)
{
	struct later *later = data;

	(void)topic;
	if (!later->cancel && !later->seen.outcome)
		later->answer = answer_to(message);
	assert_int_equal(pthread_create(&later->thread, NULL, act_later, later), 0);
}

static enum bus_reply ask_with(struct later *later, const struct cancel *cancel, json_t **answer)
{
	json_auto_t *asked = question();
	enum bus_reply reply;

	later->seen.bus = bus_new();
	later->seen.id = bus_subscribe(later->seen.bus, BUS_ASK_USER_REQUEST, act_on_a_thread,
	                               later);
	reply = bus_ask(later->seen.bus, BUS_ASK_USER_REQUEST, asked, 60000, cancel, answer);
	assert_int_equal(pthread_join(later->thread, NULL), 0);
	bus_free(later->seen.bus);
	json_decref(later->answer);
	return reply;
}

static void answers_come_from_other_threads(void **state)
{
	struct later later = { 0 };
	json_auto_t *answer = NULL;

	(void)state;
	assert_int_equal(ask_with(&later, NULL, &answer), BUS_ANSWERED);
	assert_non_null(answer);
}

static void waiting_ends_when_it_is_cancelled_or_all_have_left(void **state)
{
	struct err err = ERR_INIT;
	struct cancel cancel;
	struct later stopped = { .cancel = &cancel }, left = { .seen.outcome = "leave" };
	json_auto_t *answer = NULL;

	(void)state;
	assert_true(cancel_init(&cancel, &err));
	assert_int_equal(ask_with(&stopped, &cancel, &answer), BUS_CANCELLED);
	cancel_reset(&cancel);
	assert_int_equal(ask_with(&left, &cancel, &answer), BUS_NOBODY);
	assert_null(answer);
	cancel_release(&cancel);
}

static void waiting_ends_with_its_time(void **state)
{
	struct bus *bus = bus_new();
	struct seen seen = { 0 };
	json_auto_t *asked = question(), *answer = NULL, *late = NULL;

	(void)state;
	bus_subscribe(bus, BUS_ASK_USER_REQUEST, note, &seen);
	assert_int_equal(bus_ask(bus, BUS_ASK_USER_REQUEST, asked, 10, NULL, &answer),
	                 BUS_TIMED_OUT);
	late = answer_to(asked);
	assert_false(bus_answer(bus, BUS_ASK_USER_RESPONSE, late));
	assert_null(answer);
	bus_free(bus);
}

/* ---- many at once ---------------------------------------------------------------- */

enum { ASKERS = 8, QUESTIONS = 50 };

static void answer_if_asked(void *data, enum bus_topic topic, const json_t *message)
{
	struct seen *seen = data;
	json_auto_t *answer = answer_to(message);

	(void)topic;
	atomic_fetch_add(&seen->count, 1);
	assert_true(bus_answer(seen->bus, BUS_ASK_USER_RESPONSE, answer));
}

static void *ask_many(void *data)
{
	struct seen *seen = data;

	for (int i = 0; i < QUESTIONS; i++) {
		json_auto_t *asked = question(), *answer = NULL;

		assert_int_equal(bus_ask(seen->bus, BUS_ASK_USER_REQUEST, asked, 0, NULL,
		                         &answer), BUS_ANSWERED);
		assert_string_equal(
			json_string_value(json_object_get(answer, "correlationId")),
			json_string_value(json_object_get(asked, "correlationId")));
	}
	return NULL;
}

static void everyone_gets_their_own_answer(void **state)
{
	struct bus *bus = bus_new();
	struct seen seen = { .bus = bus };
	pthread_t threads[ASKERS];

	(void)state;
	bus_subscribe(bus, BUS_ASK_USER_REQUEST, answer_if_asked, &seen);
	for (int i = 0; i < ASKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_many, &seen), 0);
	for (int i = 0; i < ASKERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(seen.count, ASKERS * QUESTIONS);
	bus_free(bus);
}

/* ---- the table ------------------------------------------------------------------- */

static void messages_have_the_members_of_their_topic(void **state)
{
	json_auto_t *todos = json_pack("{s:[]}", "todos"), *wrong = json_pack("{s:{}}", "todos");
	json_auto_t *tokens = json_pack("{s:i, s:i, s:s}", "before", 2, "after", 1, "how", "x");
	struct err err = ERR_INIT;

	(void)state;
	assert_true(bus_check(BUS_TODOS, todos, &err));
	assert_true(bus_check(BUS_COMPRESSED, tokens, &err));
	assert_false(bus_check(BUS_TODOS, wrong, &err));
	assert_string_equal(err.message, "The member todos has the wrong type.");
	assert_false(bus_check(BUS_TODOS, tokens, &err));
	assert_string_equal(err.message, "The member todos is missing.");
	assert_false(bus_check(BUS_NONE, tokens, &err));
	for (int i = BUS_NONE + 1; i < BUS_TOPIC_COUNT; i++)
		assert_true(*bus_topic_members((enum bus_topic)i) != '\0');
	assert_int_equal(bus_topic_answer(BUS_ASK_USER_REQUEST), BUS_ASK_USER_RESPONSE);
	assert_string_equal(bus_topic_name(BUS_TURN_END), "turn-end");
}

static void count_message(void *data, enum bus_topic topic, const json_t *message)
{
	(void)topic, (void)message;
	++*(int *)data;
}

/* It may be a password. */
static void test_what_is_typed_reaches_who_asks_for_it_alone(void **state)
{
	json_t *typed = json_pack("{s:i, s:s}", "pid", 1, "text", "hunter2");
	struct bus *bus = bus_new();
	int all = 0, own = 0;

	(void)state;
	bus_subscribe(bus, BUS_NONE, count_message, &all);
	bus_subscribe(bus, BUS_COMMAND_INPUT, count_message, &own);
	bus_publish(bus, BUS_COMMAND_INPUT, typed);
	assert_int_equal(all, 0);
	assert_int_equal(own, 1);
	bus_publish(bus, BUS_COMMAND_BACKGROUND, typed);
	assert_int_equal(all, 1);
	bus_free(bus);
	json_decref(typed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_typed_reaches_who_asks_for_it_alone),
		cmocka_unit_test(subscribers_get_their_topic_in_order),
		cmocka_unit_test(listeners_may_publish_and_leave),
		cmocka_unit_test(the_first_answer_counts),
		cmocka_unit_test(nobody_there_means_no_answer),
		cmocka_unit_test(answers_come_from_other_threads),
		cmocka_unit_test(waiting_ends_when_it_is_cancelled_or_all_have_left),
		cmocka_unit_test(waiting_ends_with_its_time),
		cmocka_unit_test(everyone_gets_their_own_answer),
		cmocka_unit_test(messages_have_the_members_of_their_topic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
