/* SPDX-License-Identifier: Apache-2.0 */
/* Tools of the program's, calls that it makes, tools without a model, and members of JSON. */
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "embed_fixture.h"

#define SCHEMA_TEXT "{\"type\": \"object\", \"required\": [\"word\"], \"additionalProperties\": false, " \
                    "\"properties\": {\"word\": {\"type\": \"string\"}}}"

static const unsigned char png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13 };

static char *member_of(const char *json, const char *pointer)
{
	static char text[4096];
	char *found = hasp_json_text(json, pointer);

	snprintf(text, sizeof(text), "%s", found ? found : "(none)");
	hasp_agent_text_free(found);
	return text;
}

/* ---- own tools ------------------------------------------------------------------- */

static void shout(void *data, const char *arguments, hasp_tool_answer *answer)
{
	unsigned *calls = data;
	char *word = hasp_json_text(arguments, "/word");

	__atomic_add_fetch(calls, 1, __ATOMIC_RELAXED);
	hasp_tool_answer_update(answer, "shouting");
	if (strcmp(word, "silence") == 0)
		hasp_tool_answer_fail(answer, "Silence cannot be shouted.");
	if (strcmp(word, "picture") == 0) {
		assert_true(hasp_tool_answer_media(answer, png, sizeof(png)));
		assert_false(hasp_tool_answer_media(answer, "text", 4));
	}
	hasp_tool_answer_text(answer, word);
	hasp_tool_answer_text(answer, "!");
	assert_false(hasp_tool_answer_cancelled(answer));
	hasp_agent_text_free(word);
}

static bool add(struct fixture *f, const char *name, const char *schema, hasp_tool_kind kind, unsigned *calls,
                hasp_agent_error *error)
{
	const hasp_agent_tool tool = { sizeof(tool), name, "Shouts a word.", schema, kind, shout, calls };

	return hasp_agent_add_tool(f->agent, &tool, error);
}

static void the_model_calls_it(void **state)
{
	struct fixture *f = *state;
	hasp_agent_error error;
	unsigned calls = 0;

	model_says(f, (const char *const[]){ CALL("shout", "{\"word\": \"hello\"}"), CALL("shout", "{\"words\": 1}"),
	                                     SAYS("Done."), NULL });
	open_agent(f);
	assert_true(add(f, "shout", SCHEMA_TEXT, HASP_TOOL_READ, &calls, &error));
	ask(f, "shout", "Done.");
	assert_int_equal(calls, 1);
	assert_true(was_heard(f, "tool-result", "hello!"));
	assert_true(was_heard(f, "tool-result", "invalid_argument"));
}

/* Without a question: reading kinds alone, or what a setting allows. */
static void its_kind_says_whether_it_is_asked_about(void **state)
{
	static const struct {
		hasp_tool_kind kind;
		const char *settings;
		unsigned calls;
	} rows[] = {
		{ HASP_TOOL_READ, NULL, 1 }, { HASP_TOOL_SEARCH, NULL, 1 }, { HASP_TOOL_THINK, NULL, 1 },
		{ HASP_TOOL_OTHER, NULL, 0 }, { HASP_TOOL_EDIT, NULL, 0 }, { HASP_TOOL_EXECUTE, NULL, 0 },
		{ HASP_TOOL_FETCH, NULL, 0 }, { HASP_TOOL_DELETE, NULL, 0 },
		{ HASP_TOOL_EXECUTE, "{\"tools\": {\"allowed\": [\"shout\"]}}", 1 },
		{ HASP_TOOL_READ, "{\"tools\": {\"exclude\": [\"shout\"]}}", 0 },
	};
	struct fixture *f = *state;

	f->options.approval_mode = "default";
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		hasp_agent_error error = { 0 };
		unsigned calls = 0;
		char *result;

		const hasp_agent_tool tool = { sizeof(tool), "shout", "Shouts a word.", SCHEMA_TEXT, rows[i].kind, shout, &calls };
		const hasp_agent_tool *tools[] = { &tool };

		f->options.tools = tools;
		f->options.tool_count = 1;
		f->options.settings = rows[i].settings;
		model_says(f, (const char *const[]){ SAYS("Done."), NULL });
		open_agent(f);
		assert_true(hasp_agent_call(f->agent, "shout", "{\"word\": \"a\"}", &result, &error));
		if (calls != rows[i].calls)
			fail_msg("row %zu: %u calls: %s", i, calls, result);
		assert_true(calls || !hasp_json_boolean(result, "/success", true));
		hasp_agent_text_free(result);
		hasp_agent_close(f->agent);
		f->agent = NULL;
	}
}

static void its_answers_are_texts_media_and_failures(void **state)
{
	struct fixture *f = *state;
	hasp_agent_error error;
	unsigned calls = 0;
	char *result;

	model_says(f, (const char *const[]){ SAYS("Done."), NULL });
	open_agent(f);
	assert_true(add(f, "shout", SCHEMA_TEXT, HASP_TOOL_READ, &calls, &error));
	assert_true(hasp_agent_call(f->agent, "shout", "{\"word\": \"a\"}", &result, &error));
	assert_string_equal(member_of(result, "/output"), "a!");
	hasp_agent_text_free(result);
	assert_true(hasp_agent_call(f->agent, "shout", "{\"word\": \"silence\"}", &result, &error));
	assert_string_equal(member_of(result, "/message"), "Silence cannot be shouted.");
	assert_string_equal(member_of(result, "/error/code"), "tool_failed");
	hasp_agent_text_free(result);
	assert_true(hasp_agent_call(f->agent, "shout", "{\"word\": \"picture\"}", &result, &error));
	assert_string_equal(member_of(result, "/output/0/mime_type"), "image/png");
	assert_non_null(strstr(member_of(result, "/output/1/text"), "left out"));
	hasp_agent_text_free(result);
	assert_true(was_heard(f, "tool-output", "shouting") || was_heard(f, "command-output", "shouting"));
}

static void what_is_no_tool_is_refused(void **state)
{
	static const struct {
		const char *name, *schema, *says;
	} rows[] = {
		{ "", NULL, "name" }, { "a b", NULL, "name" }, { "read_file", NULL, "already" }, { "replace", NULL, "already" },
		{ "shout", "{", "JSON" }, { "shout", "[]", "Schema" }, { "shout", "{\"type\": \"string\"}", "object" },
		{ "shout", "{\"type\": \"object\", \"required\": 1}", "Schema" },
	};
	struct fixture *f = *state;
	hasp_agent_error error;
	unsigned calls = 0;
	char *result;

	model_says(f, (const char *const[]){ SAYS("Done."), NULL });
	open_agent(f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_false(add(f, rows[i].name, rows[i].schema, HASP_TOOL_READ, &calls, &error));
		assert_int_equal(error.code, HASP_AGENT_INVALID_ARGUMENT);
		if (!strstr(error.message, rows[i].says))
			fail_msg("row %zu: %s", i, error.message);
	}
	assert_true(add(f, "shout", NULL, HASP_TOOL_READ, &calls, &error));
	assert_false(add(f, "shout", NULL, HASP_TOOL_READ, &calls, &error));
	assert_false(hasp_agent_call(f->agent, "shout", "[]", &result, &error));
	assert_null(result);
	assert_true(hasp_agent_call(f->agent, "no_such_tool", NULL, &result, &error));
	assert_false(hasp_json_boolean(result, "/success", true));
	hasp_agent_text_free(result);
}

static void refuse(void *data, hasp_event event, const char *input, hasp_decision *decision)
{
	(void)data, (void)event;
	if (strstr(input, "\"shout\""))
		hasp_decision_refuse(decision, "Be quiet.");
}

static void hooks_see_its_calls(void **state)
{
	struct fixture *f = *state;
	hasp_agent_error error;
	unsigned calls = 0;
	char *result;

	model_says(f, (const char *const[]){ SAYS("Done."), NULL });
	open_agent(f);
	assert_true(hasp_agent_on(f->agent, HASP_BEFORE_TOOL, "shout", refuse, NULL, &error));
	assert_true(add(f, "shout", SCHEMA_TEXT, HASP_TOOL_READ, &calls, &error));
	assert_true(hasp_agent_call(f->agent, "shout", "{\"word\": \"a\"}", &result, &error));
	assert_non_null(strstr(result, "Be quiet."));
	assert_int_equal(calls, 0);
	hasp_agent_text_free(result);
}

/* ---- a fork ----------------------------------------------------------------------- */

static void a_child_is_refused(void **state)
{
	struct fixture *f = *state;
	pid_t child;
	int status;

	model_says(f, (const char *const[]){ SAYS("Done."), NULL });
	open_agent(f);
	child = fork();
	if (!child) {
		hasp_agent_error error = { 0 };
		char *answer = NULL;
		const bool answered = hasp_agent_prompt(f->agent, "x", &answer, &error);

		hasp_agent_cancel(f->agent);
		hasp_agent_close(f->agent);
		_exit(!answered && error.code == HASP_AGENT_INVALID_ARGUMENT && strstr(error.message, "fork") ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	ask(f, "x", "Done.");
}

/* ---- tools without a model ---------------------------------------------------------- */

static hasp_tools *open_tools(struct fixture *f, const char *const *provider)
{
	const char *folders[] = { f->project };
	const hasp_tools_options options = { .struct_size = sizeof(options), .folders = folders, .folder_count = 1,
		                             .program = getenv("HASP"), .provider = provider };
	hasp_agent_error error;
	hasp_tools *tools = hasp_tools_open(&options, &error);

	if (!tools)
		fail_msg("%s: %s", hasp_agent_code_name(error.code), error.message);
	return tools;
}

static char *call(hasp_tools *tools, const char *name, const char *arguments)
{
	hasp_agent_error error;
	char *result;

	if (!hasp_tools_call(tools, name, arguments, NULL, &result, &error))
		fail_msg("%s", error.message);
	return result;
}

static void use_tools(struct fixture *f, hasp_tools *tools)
{
	char arguments[256], *result, *hash;

	result = call(tools, "write_file", "{\"file_path\": \"t\", \"content\": \"one\\n\"}");
	assert_true(hasp_json_boolean(result, "/success", false));
	hash = hasp_json_text(result, "/latest_file_state/sha256");
	hasp_agent_text_free(result);
	snprintf(arguments, sizeof(arguments), "{\"file_path\": \"t\", \"old_content\": \"one\", \"new_content\": "
	         "\"two\", \"base_content_sha256\": \"%s\"}", hash);
	result = call(tools, "update_file", arguments);
	assert_true(hasp_json_boolean(result, "/success", false));
	hasp_agent_text_free(result);
	result = call(tools, "update_file", arguments);
	assert_string_equal(member_of(result, "/error/code"), "state_mismatch");
	hasp_agent_text_free(result);
	hasp_agent_text_free(hash);
	assert_string_equal(content(f, "t"), "two\n");
	result = call(tools, "run_shell_command", "{\"command\": \"cat t; id -u; echo x > /etc/hasp-test\"}");
	assert_non_null(strstr(member_of(result, "/output"), "two"));
	assert_int_not_equal(access("/etc/hasp-test", F_OK), 0);
	hasp_agent_text_free(result);
	result = call(tools, "read_file", "{\"file_path\": \"missing\"}");
	assert_string_equal(member_of(result, "/error/code"), "file_not_found");
	hasp_agent_text_free(result);
}

static void the_program_calls_tools(void **state)
{
	struct fixture *f = *state;
	hasp_tools *tools = open_tools(f, NULL);

	use_tools(f, tools);
	hasp_tools_close(tools);
}

static void they_are_elsewhere_by_a_command(void **state)
{
	struct fixture *f = *state;
	const char *const provider[] = { getenv("HASP"), "worker", NULL };
	hasp_tools *tools = open_tools(f, provider);

	use_tools(f, tools);
	hasp_tools_close(tools);
}

static void *run_and_read(void *data)
{
	for (unsigned i = 0; i < 50; i++)
		hasp_agent_text_free(call(data, "read_file", "{\"file_path\": \"t\"}"));
	return NULL;
}

static void threads_call_at_once(void **state)
{
	struct fixture *f = *state;
	hasp_tools *tools = open_tools(f, NULL);
	pthread_t threads[4];

	hasp_agent_text_free(call(tools, "write_file", "{\"file_path\": \"t\", \"content\": \"one\\n\"}"));
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_and_read, tools), 0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	hasp_tools_close(tools);
}

static void *cancel_soon(void *data)
{
	const struct timespec a_moment = { .tv_nsec = 50 * 1000 * 1000 };

	nanosleep(&a_moment, NULL);
	hasp_cancel_set(data);
	return NULL;
}

static void a_call_is_cancelled_alone(void **state)
{
	struct fixture *f = *state;
	hasp_tools *tools = open_tools(f, NULL);
	hasp_cancel *cancel = hasp_cancel_new();
	hasp_agent_error error;
	pthread_t thread;
	char *result;

	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, cancel), 0);
	assert_true(hasp_tools_call(tools, "run_shell_command", "{\"command\": \"sleep 1000\"}", cancel, &result, &error));
	pthread_join(thread, NULL);
	assert_non_null(strstr(result, "cancel"));
	hasp_agent_text_free(result);
	result = call(tools, "run_shell_command", "{\"command\": \"echo on\"}");
	assert_non_null(strstr(member_of(result, "/output"), "on"));
	hasp_agent_text_free(result);
	hasp_cancel_free(cancel);
	hasp_tools_close(tools);
}

static void what_cannot_be_opened_says_why(void **state)
{
	const char *folders[] = { "/no/such/folder" };
	const char *const nothing[] = { NULL };
	hasp_tools_options options = { .struct_size = sizeof(options), .program = getenv("HASP") };
	hasp_agent_error error;

	(void)state;
	assert_null(hasp_tools_open(&options, &error));
	assert_int_equal(error.code, HASP_AGENT_INVALID_ARGUMENT);
	options.folders = folders;
	options.folder_count = 1;
	assert_null(hasp_tools_open(&options, &error));
	assert_int_equal(error.code, HASP_AGENT_NOT_FOUND);
	options.provider = nothing;
	assert_null(hasp_tools_open(&options, &error));
	assert_int_equal(error.code, HASP_AGENT_INVALID_ARGUMENT);
	hasp_tools_close(NULL);
	hasp_cancel_free(NULL);
}

/* ---- JSON, a browser --------------------------------------------------------------- */

static void members_are_found(void **state)
{
	static const char json[] = "{\"a\": {\"b/c\": [10, true, \"x\", {\"~\": null}]}, \"\": 7, \"n\": 1.5}";
	static const struct {
		const char *pointer, *text;
	} rows[] = {
		{ "/a/b~1c/0", "10" }, { "/a/b~1c/1", "true" }, { "/a/b~1c/2", "x" }, { "/a/b~1c/3/~0", "null" }, { "/", "7" },
		{ "/n", "1.5" }, { "/a/b~1c/01", NULL }, { "/a/b~1c/4", NULL }, { "/a/b~1c/-", NULL }, { "a", NULL },
		{ "/a/b~2c", NULL }, { "/a/b~", NULL }, { "/z", NULL }, { "/n/0", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *text = hasp_json_text(json, rows[i].pointer);

		if (!text != !rows[i].text || (text && strcmp(text, rows[i].text)))
			fail_msg("%s: %s", rows[i].pointer, text ? text : "(none)");
		hasp_agent_text_free(text);
	}
	assert_int_equal(hasp_json_integer(json, "/a/b~1c/0", -1), 10);
	assert_int_equal(hasp_json_integer(json, "/n", -1), -1);
	assert_true(hasp_json_boolean(json, "/a/b~1c/1", false));
	assert_true(hasp_json_boolean(json, "/no", true));
	assert_int_equal(hasp_json_count(json, "/a/b~1c"), 4);
	assert_int_equal(hasp_json_count(json, ""), 3);
	assert_int_equal(hasp_json_count("nonsense", ""), 0);
	assert_null(hasp_json_text("nonsense", ""));
	assert_null(hasp_json_text(NULL, NULL));
}

static void a_browser_gets_a_link(void **state)
{
	struct fixture *f = *state;
	hasp_agent_error error;
	char *first, *second;

	model_says(f, (const char *const[]){ SAYS("Done."), NULL });
	open_agent(f);
	assert_true(hasp_agent_share(f->agent, NULL, 0, &first, &error));
	assert_true(hasp_agent_share(f->agent, NULL, 0, &second, &error));
	assert_int_equal(strncmp(first, "http://127.0.0.1:", 17), 0);
	assert_non_null(strstr(first, "?token="));
	assert_string_not_equal(first, second);
	hasp_agent_text_free(first);
	hasp_agent_text_free(second);
	ask(f, "x", "Done.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_AGENT(the_model_calls_it),
		WITH_AGENT(its_kind_says_whether_it_is_asked_about),
		WITH_AGENT(its_answers_are_texts_media_and_failures),
		WITH_AGENT(what_is_no_tool_is_refused),
		WITH_AGENT(hooks_see_its_calls),
		WITH_AGENT(a_child_is_refused),
		WITH_AGENT(the_program_calls_tools),
		WITH_AGENT(they_are_elsewhere_by_a_command),
		WITH_AGENT(threads_call_at_once),
		WITH_AGENT(a_call_is_cancelled_alone),
		WITH_AGENT(what_cannot_be_opened_says_why),
		WITH_AGENT(members_are_found),
		WITH_AGENT(a_browser_gets_a_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
