/* SPDX-License-Identifier: Apache-2.0 */
/* libhasp-agent: what functions of the program's decide, through its public header alone. */
#include "embed_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a hook does, and what it saw. */
struct plan {
	const char *refuse, *respond, *modify, *fail;
	bool modify_said;
	unsigned called[HASP_PRE_COMPRESS + 1];
	char last[2048];
	char names[256]; /* of tools, with a blank behind each */
	hasp_agent *agent;
	hasp_agent_code busy[3];
};

static void act(void *data, hasp_event event, const char *input, hasp_decision *decision)
{
	struct plan *plan = data;
	char name[64];

	plan->called[event]++;
	snprintf(plan->last, sizeof(plan->last), "%s", input);
	if (member(input, "tool_name", name, sizeof(name)) &&
	    strlen(plan->names) + strlen(name) + 2 < sizeof(plan->names))
		snprintf(plan->names + strlen(plan->names), 66, "%s ", name);
	if (plan->refuse)
		hasp_decision_refuse(decision, plan->refuse);
	if (plan->respond)
		hasp_decision_respond(decision, plan->respond);
	if (plan->modify)
		plan->modify_said = hasp_decision_modify(decision, plan->modify);
	if (plan->fail)
		hasp_decision_fail(decision, plan->fail);
}

static void on(struct fixture *f, hasp_event event, const char *matcher, struct plan *plan)
{
	assert_true(hasp_agent_on(f->agent, event, matcher, act, plan, NULL));
}

/* One write by the model, with a hook on it. */
static void write_under(struct fixture *f, struct plan *plan)
{
	static const char *const says[] = { WRITES("a.txt", "from the model\\n"), SAYS("Done."), NULL };

	model_says(f, says);
	open_agent(f);
	on(f, HASP_BEFORE_TOOL, "write_.*", plan);
	ask(f, "Write it.", "Done.");
	assert_int_equal(plan->called[HASP_BEFORE_TOOL], 1);
}

/* ---- calls ----------------------------------------------------------------- */

static void a_refused_call_is_not_made_and_the_model_is_told_why(void **state)
{
	struct fixture *f = *state;
	struct plan plan = { .refuse = "a.txt is generated." };

	write_under(f, &plan);
	assert_null(content(f, "a.txt"));
	assert_true(was_heard(f, "tool-result", "Tool execution blocked: a.txt is generated."));
	assert_non_null(strstr(plan.last, "from the model"));
	assert_non_null(strstr(plan.last, hasp_agent_session_id(f->agent)));
}

static void arguments_are_rewritten(void **state)
{
	struct fixture *f = *state;
	struct plan plan = { .modify = "{\"content\": \"from the hook\\n\"}" };

	write_under(f, &plan);
	assert_true(plan.modify_said);
	assert_string_equal(content(f, "a.txt"), "from the hook\n");
}

static void a_response_takes_the_place_of_the_call(void **state)
{
	struct fixture *f = *state;
	struct plan plan = { .respond = "It is there already." };

	write_under(f, &plan);
	assert_null(content(f, "a.txt"));
	assert_true(was_heard(f, "tool-result", "It is there already."));
	assert_true(was_heard(f, "tool-result", "\"status\":\"success\"") ||
	            was_heard(f, "tool-result", "\"status\": \"success\""));
}

static void a_callback_that_fails_stops_the_call(void **state)
{
	struct fixture *f = *state;
	struct plan plan = { .fail = "The list of files cannot be read." };

	write_under(f, &plan);
	assert_null(content(f, "a.txt"));
	assert_true(was_heard(f, "tool-result", "The list of files cannot be read."));
}

static void a_modification_that_is_no_object_stops_the_call(void **state)
{
	struct fixture *f = *state;
	struct plan plan = { .modify = "[1, 2" };

	write_under(f, &plan);
	assert_false(plan.modify_said);
	assert_null(content(f, "a.txt"));
	assert_true(was_heard(f, "tool-result", "no JSON object"));
}

static void a_result_is_withheld(void **state)
{
	static const char *const says[] = { WRITES("a.txt", "x\\n"), SAYS("Done."), NULL };
	struct fixture *f = *state;
	struct plan plan = { .refuse = "It is secret." };

	model_says(f, says);
	open_agent(f);
	on(f, HASP_AFTER_TOOL, NULL, &plan);
	ask(f, "Write it.", "Done.");
	assert_string_equal(content(f, "a.txt"), "x\n");
	assert_non_null(strstr(plan.last, "tool_response"));
	assert_true(was_heard(f, "tool-result", "withholds its result: It is secret."));
}

static void one_callback_sees_the_calls_of_all_tools(void **state)
{
	static const char *const says[] = {
		WRITES("a.txt", "x\\n"), CALL("read_file", "{\"file_path\": \"a.txt\"}"),
		CALL("run_shell_command", "{\"command\": \"touch b.txt\"}"),
		CALL("discovered_tool_mine", "{}"), SAYS("Done."), NULL,
	};
	struct fixture *f = *state;
	struct plan plan = { 0 };

	f->options.settings = "{\"tools\": {\"discoveryCommand\": \"echo '[{\\\"name\\\": "
	                      "\\\"mine\\\"}]'\", \"callCommand\": \"touch\"}}";
	model_says(f, says);
	open_agent(f);
	on(f, HASP_BEFORE_TOOL, NULL, &plan);
	ask(f, "Do it.", "Done.");
	assert_string_equal(plan.names,
	                    "write_file read_file run_shell_command discovered_tool_mine ");
	assert_non_null(content(f, "b.txt"));
	assert_non_null(content(f, "mine"));
}

/* ---- the model, prompts ---------------------------------------------------- */

static void a_response_takes_the_place_of_the_model(void **state)
{
	static const char *const says[] = { NULL };
	struct fixture *f = *state;
	struct plan plan = { .respond = "From the cache." };

	model_says(f, says);
	open_agent(f);
	on(f, HASP_BEFORE_MODEL, NULL, &plan);
	ask(f, "Who are you?", "From the cache.");
	assert_non_null(strstr(plan.last, "Who are you?"));
}

static void what_the_model_said_is_replaced(void **state)
{
	static const char *const says[] = { SAYS("The key is 1234."), NULL };
	struct fixture *f = *state;
	struct plan plan = { .respond = "The key is ****." };

	model_says(f, says);
	open_agent(f);
	on(f, HASP_AFTER_MODEL, NULL, &plan);
	ask(f, "What is the key?", "The key is ****.");
	assert_true(was_heard(f, "content", "****"));
	assert_false(was_heard(f, "content", "1234"));
}

static void a_refused_prompt_ends_the_work_and_the_next_goes_on(void **state)
{
	static const char *const says[] = { SAYS("Hello."), NULL };
	struct fixture *f = *state;
	struct plan plan = { .refuse = "Not on Sundays." };
	hasp_agent_error error;
	char *answer;

	model_says(f, says);
	open_agent(f);
	on(f, HASP_BEFORE_AGENT, NULL, &plan);
	assert_false(hasp_agent_prompt(f->agent, "Hello?", &answer, &error));
	assert_int_equal(error.code, HASP_AGENT_STOPPED);
	assert_string_equal(error.message, "Not on Sundays.");
	assert_string_equal(answer, "");
	hasp_agent_text_free(answer);
	plan.refuse = NULL;
	ask(f, "Hello?", "Hello.");
}

/* ---- events ---------------------------------------------------------------- */

static void every_event_and_message_comes_as_often_as_it_happens(void **state)
{
	static const char *const says[] = { WRITES("a.txt", "x\\n"), SAYS("Done."), NULL };
	static const unsigned expected[] = {
		[HASP_BEFORE_TOOL] = 1,  [HASP_AFTER_TOOL] = 1,  [HASP_BEFORE_AGENT] = 1,
		[HASP_AFTER_AGENT] = 1,  [HASP_BEFORE_MODEL] = 2, [HASP_AFTER_MODEL] = 2,
		[HASP_BEFORE_TOOL_SELECTION] = 2, [HASP_SESSION_START] = 1,
		[HASP_SESSION_END] = 1, [HASP_NOTIFICATION] = 0, [HASP_PRE_COMPRESS] = 0,
	};
	struct fixture *f = *state;
	struct plan plan = { 0 };

	model_says(f, says);
	open_agent(f);
	for (int event = 0; event <= HASP_PRE_COMPRESS; event++)
		on(f, (hasp_event)event, "*", &plan);
	ask(f, "Write it.", "Done.");
	hasp_agent_close(f->agent);
	f->agent = NULL;
	for (int event = 0; event <= HASP_PRE_COMPRESS; event++)
		if (plan.called[event] != expected[event])
			fail_msg("event %d came %u times", event, plan.called[event]);
	assert_int_equal(count_heard(f, "prompt"), 1);
	assert_int_equal(count_heard(f, "tool-call"), 1);
	assert_int_equal(count_heard(f, "tool-result"), 1);
	assert_true(was_heard(f, "content", "Done."));
	assert_true(count_heard(f, "turn-end") >= 1);
}

static void ignore(void *data, const char *topic, const char *message)
{
	(void)data, (void)topic, (void)message;
}

/* A hook that uses its agent in ways that only make sense between prompts. */
static void meddle(void *data, hasp_event event, const char *input, hasp_decision *decision)
{
	struct plan *plan = data;
	hasp_agent_error error;

	(void)input, (void)decision;
	assert_false(hasp_agent_on(plan->agent, event, NULL, act, plan, &error));
	plan->busy[0] = error.code;
	assert_false(hasp_agent_prompt(plan->agent, "And this.", NULL, &error));
	plan->busy[1] = error.code;
	assert_false(hasp_agent_listen(plan->agent, ignore, plan, &error));
	plan->busy[2] = error.code;
}

static void what_makes_no_sense_within_a_prompt_is_refused(void **state)
{
	static const char *const says[] = { SAYS("Hello."), NULL };
	struct fixture *f = *state;
	struct plan plan = { 0 };

	model_says(f, says);
	open_agent(f);
	plan.agent = f->agent;
	assert_true(hasp_agent_on(f->agent, HASP_BEFORE_AGENT, NULL, meddle, &plan, NULL));
	ask(f, "Hello?", "Hello.");
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(plan.busy[i], HASP_AGENT_INVALID_ARGUMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_AGENT(a_refused_call_is_not_made_and_the_model_is_told_why),
		WITH_AGENT(arguments_are_rewritten),
		WITH_AGENT(a_response_takes_the_place_of_the_call),
		WITH_AGENT(a_callback_that_fails_stops_the_call),
		WITH_AGENT(a_modification_that_is_no_object_stops_the_call),
		WITH_AGENT(a_result_is_withheld),
		WITH_AGENT(one_callback_sees_the_calls_of_all_tools),
		WITH_AGENT(a_response_takes_the_place_of_the_model),
		WITH_AGENT(what_the_model_said_is_replaced),
		WITH_AGENT(a_refused_prompt_ends_the_work_and_the_next_goes_on),
		WITH_AGENT(every_event_and_message_comes_as_often_as_it_happens),
		WITH_AGENT(what_makes_no_sense_within_a_prompt_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
