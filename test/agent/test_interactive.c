/* SPDX-License-Identifier: Apache-2.0 */
/* A host with somebody in front of it: a plan is shown before it is approved, questions are
 * asked once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../tool/workspace_fixture.h"
#include "agent/host/host.h"
#include "base/mem.h"
#include "data/json.h"
#include "worker/inside/inprocess.h"
#include "worker/inside/serve.h"

/* Who sits there: answers in order, and what was seen. */
struct person {
	struct bus *bus;
	const char *const *answers; /* to confirmations: JSON texts */
	size_t given;
	json_t *questions, *asked, *modes;
};

struct bench {
	char *top, *root, *replay;
	struct settings *settings;
	struct policy *policy;
	struct provider *provider;
	struct host *host;
	struct cancel cancel;
	struct person person;
};

static json_t *parse(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value;

	if (!json_parse(span_str(text), &value, &err))
		fail_msg("%s: %s", text, err.message);
	return value;
}

static void reply(struct person *person, const json_t *question, enum bus_topic topic,
                  const char *text)
{
	json_auto_t *answer = parse(text);

	json_object_set(answer, "correlationId", json_object_get(question, "correlationId"));
	assert_true(bus_answer(person->bus, topic, answer));
}

static void on_question(void *data, enum bus_topic topic, const json_t *message)
{
	struct person *person = data;

	(void)topic;
	json_array_append_new(person->questions, json_deep_copy(message));
	reply(person, message, BUS_TOOL_CONFIRMATION_RESPONSE, person->answers[person->given++]);
}

static void on_ask(void *data, enum bus_topic topic, const json_t *message)
{
	struct person *person = data;

	(void)topic;
	json_array_append_new(person->asked, json_deep_copy(message));
	reply(person, message, BUS_ASK_USER_RESPONSE, "{\"answers\": {\"0\": \"Yes\"}}");
}

static void on_mode(void *data, enum bus_topic topic, const json_t *message)
{
	struct person *person = data;

	(void)topic;
	json_array_append(person->modes, json_object_get(message, "mode"));
}

/* ---- bench --------------------------------------------------------------------------- */

/* What the model says: calls, a line each, and then a word. */
static void write_replay(const struct bench *bench, const char *const *calls, size_t count)
{
	FILE *file = fopen(bench->replay, "w");

	assert_non_null(file);
	for (size_t i = 0; i <= count; i++)
		fprintf(file, "{\"method\": \"generateContentStream\", \"response\": [{\"candidates\": "
		              "[{\"content\": {\"role\": \"model\", \"parts\": [%s%s%s]}, "
		              "\"finishReason\": \"STOP\"}]}]}\n",
		        i < count ? "{\"functionCall\": " : "{\"text\": \"Done.\"",
		        i < count ? calls[i] : "", "}");
	assert_int_equal(fclose(file), 0);
}

static void open_rules(struct bench *bench)
{
	struct settings_options options = { .project = bench->root, .skip_trust = true };
	struct err err = ERR_INIT;

	if (!settings_load(&options, &bench->settings, &err))
		fail_msg("%s", err.message);
	bench->policy = policy_new();
	policy_add_defaults(bench->policy);
}

static int open_bench(void **state)
{
	struct bench *bench = mem_alloc(1, sizeof(*bench));
	json_auto_t *files = parse("{\"user/.gemini\": {\"folder\": true}, "
	                           "\"project\": {\"folder\": true}}");
	const char *roots[1];
	struct inprocess_options options = { .roots = roots, .root_count = 1,
		                             .durability = DURABILITY_RENAME };
	_cleanup_free_ char *home = NULL;
	struct err err = ERR_INIT;

	bench->top = fixture_make();
	fixture_files(bench->top, files);
	home = mem_printf("%s/user", bench->top);
	bench->root = mem_printf("%s/project", bench->top);
	bench->replay = mem_printf("%s/replay", bench->top);
	setenv("HOME", home, 1);
	roots[0] = bench->root;
	assert_true(cancel_init(&bench->cancel, &err));
	assert_true(inprocess_provider(&options, &bench->provider, &err));
	open_rules(bench);
	bench->person.questions = json_array();
	bench->person.asked = json_array();
	bench->person.modes = json_array();
	*state = bench;
	return 0;
}

static int close_bench(void **state)
{
	struct bench *bench = *state;

	host_close(bench->host, "exit");
	provider_free(bench->provider);
	policy_free(bench->policy);
	settings_free(bench->settings);
	cancel_release(&bench->cancel);
	json_decref(bench->person.questions);
	json_decref(bench->person.asked);
	json_decref(bench->person.modes);
	fixture_remove(bench->top);
	free(bench->replay);
	free(bench->root);
	free(bench->top);
	free(bench);
	return 0;
}

static void open_host(struct bench *bench, const char *const *answers)
{
	static char path[] = "PATH=/usr/bin:/bin";
	static char *const environment[] = { path, NULL };
	_cleanup_free_ char *model = mem_printf("replay:%s", bench->replay);
	struct host_options options = {
		.settings = bench->settings, .provider = bench->provider, .local = true,
		.policy = bench->policy, .model = model, .session_id = "one", .mode = MODE_DEFAULT,
		.interactive = true, .environment = environment, .cancel = &bench->cancel,
	};
	struct err err = ERR_INIT;

	if (!host_open(&options, &bench->host, &err))
		fail_msg("%s", err.message);
	bench->person.bus = host_bus(bench->host);
	bench->person.answers = answers;
	bus_subscribe(bench->person.bus, BUS_TOOL_CONFIRMATION_REQUEST, on_question,
	              &bench->person);
	bus_subscribe(bench->person.bus, BUS_ASK_USER_REQUEST, on_ask, &bench->person);
	bus_subscribe(bench->person.bus, BUS_APPROVAL_MODE, on_mode, &bench->person);
}

static void work(struct bench *bench)
{
	struct agent_outcome outcome;
	struct err err = ERR_INIT;

	if (!host_prompt(bench->host, SPAN(""), SPAN("Do it."), &outcome, &err))
		fail_msg("%s", err.message);
	assert_string_equal(outcome.text, "Done.");
	agent_outcome_release(&outcome);
}

/* The result of call `i`, as the model has it; borrowed. */
static const json_t *result(const struct bench *bench, size_t number)
{
	const json_t *history = agent_history(host_facts(bench->host).agent);
	size_t i, k, seen = 0;
	json_t *content, *part;

	json_array_foreach((json_t *)history, i, content)
		json_array_foreach(json_object_get(content, "parts"), k, part) {
			const json_t *response = json_object_get(part, "functionResponse");

			if (response && seen++ == number)
				return json_object_get(response, "response");
		}
	fail_msg("there is no result %zu", number);
	return NULL;
}

static const char *prompt_of(const struct bench *bench, size_t question)
{
	const json_t *message = json_array_get(bench->person.questions, question);
	const json_t *details = json_object_get(message, "details");

	assert_string_equal(json_string_value(json_object_get(details, "type")), "info");
	return json_string_value(json_object_get(details, "prompt"));
}

static const char *mode(const struct bench *bench, size_t i)
{
	return json_string_value(json_array_get(bench->person.modes, i));
}

/* ---- tests --------------------------------------------------------------------------- */

static void a_plan_is_shown_and_approved(void **state)
{
	static const char *const answers[] = {
		"{\"outcome\": \"proceed_once\"}",
		"{\"outcome\": \"cancel\", \"message\": \"Say where.\"}",
		"{\"outcome\": \"proceed_once\"}",
	};
	struct bench *bench = *state;
	_cleanup_free_ char *write = mem_printf(
		"{\"name\": \"write_file\", \"args\": {\"file_path\": "
		"\"%s/user/.gemini/tmp/project/one/plans/p.md\", \"content\": \"# All of it\\n\"}}",
		bench->top);
	const char *calls[] = {
		"{\"name\": \"enter_plan_mode\", \"args\": {\"reason\": \"It is large.\"}}",
		write,
		"{\"name\": \"exit_plan_mode\", \"args\": {\"plan_filename\": \"no.md\"}}",
		"{\"name\": \"exit_plan_mode\", \"args\": {\"plan_filename\": \"p.md\"}}",
		"{\"name\": \"exit_plan_mode\", \"args\": {\"plan_filename\": \"p.md\"}}",
	};

	write_replay(bench, calls, ARRAY_LEN(calls));
	open_host(bench, answers);
	work(bench);
	/* Neither the plan's file nor a plan that is not there is asked about. */
	assert_int_equal(json_array_size(bench->person.questions), 3);
	assert_non_null(strstr(prompt_of(bench, 0), "It is large."));
	assert_string_equal(prompt_of(bench, 1), "# All of it\n");
	assert_string_equal(prompt_of(bench, 2), "# All of it\n");
	assert_true(json_is_true(json_object_get(result(bench, 1), "success")));
	assert_non_null(strstr(json_string_value(json_object_get(result(bench, 3), "message")),
	                       "Say where."));
	assert_non_null(json_object_get(result(bench, 4), "file_path"));
	assert_int_equal(json_array_size(bench->person.modes), 2);
	assert_string_equal(mode(bench, 0), "plan");
	assert_string_equal(mode(bench, 1), "default");
}

/* The mode before the plan is the mode after it, also one that was chosen meanwhile. */
static void the_mode_before_comes_back(void **state)
{
	static const char *const answers[] = { "{\"outcome\": \"proceed_once\"}",
		                               "{\"outcome\": \"proceed_once\"}" };
	struct bench *bench = *state;
	_cleanup_free_ char *write = mem_printf(
		"{\"name\": \"write_file\", \"args\": {\"file_path\": "
		"\"%s/user/.gemini/tmp/project/one/plans/p.md\", \"content\": \"x\"}}", bench->top);
	const char *calls[] = {
		"{\"name\": \"enter_plan_mode\", \"args\": {}}", write,
		"{\"name\": \"exit_plan_mode\", \"args\": {\"plan_filename\": \"p.md\"}}",
	};

	write_replay(bench, calls, ARRAY_LEN(calls));
	open_host(bench, answers);
	agent_set_mode(host_facts(bench->host).agent, MODE_AUTO_EDIT);
	work(bench);
	assert_string_equal(mode(bench, 1), "plan");
	assert_string_equal(mode(bench, 2), "autoEdit");
}

static void a_question_is_asked_once(void **state)
{
	static const char *const calls[] = {
		"{\"name\": \"ask_user\", \"args\": {\"questions\": [{\"question\": \"Really?\", "
		"\"header\": \"Sure\", \"type\": \"yesno\"}]}}",
	};
	struct bench *bench = *state;
	json_auto_t *expected = parse("{\"success\": true, \"answers\": {\"0\": \"Yes\"}}");

	write_replay(bench, calls, ARRAY_LEN(calls));
	open_host(bench, NULL);
	work(bench);
	assert_int_equal(json_array_size(bench->person.questions), 0);
	assert_int_equal(json_array_size(bench->person.asked), 1);
	assert_true(json_equal(result(bench, 0), expected));
}

/* Recorded answers are one row: what a model looked up is the next of them. */
static void what_was_looked_up_is_replayed(void **state)
{
	static const char *const calls[] = {
		"{\"name\": \"google_web_search\", \"args\": {\"query\": \"x\"}}",
	};
	struct bench *bench = *state;
	struct agent_outcome outcome;
	struct err err = ERR_INIT;

	write_replay(bench, calls, ARRAY_LEN(calls));
	open_host(bench, NULL);
	/* "Done." answers the search; nothing is left for the agent. */
	assert_false(host_prompt(bench->host, SPAN(""), SPAN("Do it."), &outcome, &err));
	assert_int_equal(err.code, ERR_MODEL_ERROR);
	agent_outcome_release(&outcome);
	assert_non_null(strstr(json_string_value(json_object_get(result(bench, 0), "text")), "Done."));
}

static void add_rules(struct bench *bench, const char *text)
{
	_cleanup_free_ char *path = mem_printf("%s/rules.toml", bench->top);
	json_auto_t *problems = json_array();
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_true(policy_add_file(bench->policy, POLICY_USER, path, problems));
}

/* A link to a file that rules ask about is asked about, and what was approved is done. */
static void where_a_link_leads_is_asked_about(void **state)
{
	static const char *const answers[] = {
		"{\"outcome\": \"proceed_once\"}", "{\"outcome\": \"cancel\", \"message\": \"No.\"}",
		"{\"outcome\": \"proceed_once\"}", "{\"outcome\": \"proceed_once\"}",
	};
	static const char *const calls[] = {
		"{\"name\": \"read_file\", \"args\": {\"file_path\": \"l\"}}",
		"{\"name\": \"read_file\", \"args\": {\"file_path\": \"l\"}}",
		"{\"name\": \"search_files\", \"args\": {\"pattern\": \"hunter\", \"path\": \"l\"}}",
		"{\"name\": \"read_many_files\", \"args\": {\"paths\": [\"l\", \"b\"]}}",
		"{\"name\": \"search_files\", \"args\": {\"pattern\": \"hunter\"}}",
		"{\"name\": \"read_file\", \"args\": {\"file_path\": \"b\"}}",
	};
	static const bool shows[] = { true, false, true, true, false, false };
	struct bench *bench = *state;
	json_auto_t *files = parse("{\"project/.env\": \"hunter2\\n\", "
	                           "\"project/b\": \"b\\n\", "
	                           "\"project/l\": {\"link\": \".env\"}}");

	fixture_files(bench->top, files);
	add_rules(bench, "[[rule]]\ntoolName = \"*\"\nargsPattern = '\\.env'\n"
	                 "decision = \"ask_user\"\npriority = 1\n");
	write_replay(bench, calls, ARRAY_LEN(calls));
	open_host(bench, answers);
	work(bench);
	assert_int_equal(bench->person.given, 4);
	for (size_t i = 0; i < ARRAY_LEN(shows); i++) {
		_cleanup_free_ char *text = json_dumps(result(bench, i), 0);

		if ((strstr(text, "hunter2") != NULL) != shows[i])
			fail_msg("result %zu: %s", i, text);
	}
	assert_int_equal(json_integer_value(json_object_get(result(bench, 4), "left_out_by_policy")), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)

int main(int argc, char **argv)
{
	const struct worker_serve_options worker = { STDIN_FILENO, STDOUT_FILENO, true, NULL };
	const struct CMUnitTest tests[] = {
		TEST(a_plan_is_shown_and_approved),
		TEST(the_mode_before_comes_back),
		TEST(a_question_is_asked_once),
		TEST(what_was_looked_up_is_replayed),
		TEST(where_a_link_leads_is_asked_about),
	};

	if (argc > 1 && strcmp(argv[1], "worker") == 0)
		return worker_serve(&worker);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
