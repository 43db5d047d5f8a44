/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of tools: what is in them, what settings leave of them, what a model is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data/json.h"
#include "data/schema.h"
#include "tool/services.h"
#include "tool/set.h"

struct bench {
	struct tool_set *set;
	struct session session;
};

static json_t *run_as(struct session *session, const struct tool *tool, const json_t *arguments)
{
	json_t *result = json_object();

	(void)session;
	json_object_set(result, "given", (json_t *)arguments);
	json_object_set_new(result, "by", json_string(tool->name));
	return result;
}

static struct tool strict = {
	.name = "strict",
	.title = "Strict",
	.description = "Takes a number.",
	.arguments_schema = "{\"type\": \"object\", \"additionalProperties\": false, "
	                    "\"properties\": {\"n\": {\"type\": \"integer\"}}}",
	.result_schema = "{\"type\": \"object\"}",
	.run_as = run_as,
};

/* A keyword that the checker has not, and one in a form that it refuses. */
static struct tool lenient = {
	.name = "lenient",
	.title = "Lenient",
	.description = "Takes anything.",
	.arguments_schema = "{\"type\": \"object\", \"minLength\": \"x\", "
	                    "\"patternProperties\": {\"^x\": {\"type\": \"string\"}}}",
	.result_schema = "{\"type\": \"object\"}",
	.run_as = run_as,
};

static json_t *parse(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value;

	if (!json_parse(span_str(text), &value, &err))
		fail_msg("%s: %s", text, err.message);
	return value;
}

static void add(struct bench *bench, struct tool *tool)
{
	struct err err = ERR_INIT;

	if (!tool_set_add(bench->set, tool, NULL, &err))
		fail_msg("%s", err.message);
}

static int open_bench(void **state)
{
	struct bench *bench = mem_alloc(1, sizeof(*bench));

	bench->set = tool_set_new();
	add(bench, &strict);
	add(bench, &lenient);
	session_init(&bench->session, NULL);
	bench->session.tools = bench->set;
	*state = bench;
	return 0;
}

static int close_bench(void **state)
{
	struct bench *bench = *state;

	session_release(&bench->session);
	tool_set_free(bench->set);
	free(bench);
	return 0;
}

static json_t *call(struct bench *bench, const char *name, const char *arguments)
{
	json_auto_t *parsed = parse(arguments);

	return tool_call(&bench->session, name, parsed);
}

static void fails(json_t *result, const char *code)
{
	const json_t *error = json_object_get(result, "error");

	assert_true(tool_result_failed(result));
	assert_string_equal(json_string_value(json_object_get(error, "code")), code);
	json_decref(result);
}

static void gives(json_t *result, const char *expected)
{
	json_auto_t *wanted = parse(expected);

	assert_true(json_equal(result, wanted));
	json_decref(result);
}

static void refused(struct tool_set *set, const char *name)
{
	struct tool tool = strict;
	struct err err = ERR_INIT;

	tool.name = name;
	assert_false(tool_set_add(set, &tool, NULL, &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
}

static void names_of_added_tools_are_names_and_free(void **state)
{
	struct bench *bench = *state;
	static const char *const bad[] = { "",      "1x",        "a b",     "a/b", "\xc3\xa4",
		                           "strict", "read_file", "replace", "a;b" };
	_cleanup_free_ char *len64 = mem_printf("%064d", 0), *len65 = mem_printf("%065d", 0);
	static struct tool longest;
	size_t count = tool_set_count(bench->set);

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		refused(bench->set, bad[i]);
	len64[0] = len65[0] = 'a';
	refused(bench->set, len65);
	assert_int_equal(tool_set_count(bench->set), count);
	longest = strict;
	longest.name = len64;
	add(bench, &longest);
	assert_ptr_equal(tool_set_find(bench->set, len64), &longest);
	/* The set is released later than the name: it is not looked at any more. */
}

static void a_schema_has_to_be_json(void **state)
{
	struct bench *bench = *state;
	struct tool tool = strict;
	struct err err = ERR_INIT;

	tool.name = "other";
	tool.arguments_schema = "{\"type\":";
	assert_false(tool_set_add(bench->set, &tool, NULL, &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
}

/* A server's is known to be JSON, and is read when it is needed. */
static void a_servers_schema_is_read_when_it_is_called(void **state)
{
	struct bench *bench = *state;
	static struct tool of_server;

	of_server = strict;
	of_server.name = "mcp_s_strict";
	of_server.server = "s";
	add(bench, &of_server);
	fails(call(bench, "mcp_s_strict", "{\"unknown\": 1}"), "invalid_argument");
	fails(call(bench, "mcp_s_strict", "{\"unknown\": 1}"), "invalid_argument");
}

enum { MANY = 500 };

static bool is_even(void *data, const struct tool *tool)
{
	(void)data;
	return !strncmp(tool->name, "many_", 5) && (tool->name[strlen(tool->name) - 1] - '0') % 2 == 0;
}

static void many_are_found_by_name(void **state)
{
	struct bench *bench = *state;
	const size_t before = tool_set_count(bench->set);
	static struct tool many[MANY];
	static char names[MANY][20];

	for (size_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "many_%zu", i);
		many[i] = strict;
		many[i].name = names[i];
		add(bench, &many[i]);
	}
	refused(bench->set, "many_7");
	for (size_t i = 0; i < MANY; i++) {
		assert_ptr_equal(tool_set_find(bench->set, names[i]), &many[i]);
		assert_ptr_equal(tool_set_at(bench->set, before + i), &many[i]);
	}
	assert_int_equal(tool_set_withdraw(bench->set, is_even, NULL), MANY / 2);
	for (size_t i = 0; i < MANY; i++)
		assert_ptr_equal(tool_set_find(bench->set, names[i]), i % 2 ? &many[i] : NULL);
	assert_ptr_equal(tool_set_at(bench->set, before + 1), &many[3]);
	assert_ptr_equal(tool_set_find(bench->set, "replace"), tool_find("update_file"));
}

static void anothers_schema_may_be_more_than_can_be_checked(void **state)
{
	struct bench *bench = *state;

	gives(call(bench, "lenient", "{\"x1\": 5, \"y\": [null]}"),
	      "{\"given\": {\"x1\": 5, \"y\": [null]}, \"by\": \"lenient\"}");
}

static bool is_there(const struct tool_set *set, const char *name)
{
	return tool_set_find(set, name) != NULL;
}

static void limit(struct tool_set *set, const char *core, const char *exclude)
{
	json_auto_t *allowed = core ? parse(core) : NULL;
	json_auto_t *left_out = exclude ? parse(exclude) : NULL;

	tool_set_limit(set, allowed, left_out);
}

static void limits_take_names_aliases_and_class_names(void **state)
{
	struct bench *bench = *state;

	limit(bench->set, "[\"ReadFileTool\", \"replace\", \"ShellTool(git status)\", 7]", NULL);
	assert_true(is_there(bench->set, "read_file"));
	assert_true(is_there(bench->set, "update_file"));
	assert_true(is_there(bench->set, "run_shell_command"));
	assert_false(is_there(bench->set, "write_file"));
	assert_true(is_there(bench->set, "strict")); /* of others: `core` is not about them */
	assert_int_equal(tool_set_count(bench->set), 3 + 2);
	limit(bench->set, NULL, "[\"EditTool\", \"strict\", \"run_shell_command(rm)\"]");
	assert_false(is_there(bench->set, "replace"));
	assert_false(is_there(bench->set, "strict"));
	assert_true(is_there(bench->set, "run_shell_command"));
	fails(call(bench, "strict", "{}"), "unknown_tool");
	for (size_t i = 0; i < tool_set_count(bench->set); i++)
		assert_true(is_there(bench->set, tool_set_at(bench->set, i)->name));
}

static bool is_strict(void *data, const struct tool *tool)
{
	(void)data;
	return tool == &strict || tool == tool_find("read_file");
}

static void what_is_withdrawn_is_gone_and_its_name_free(void **state)
{
	struct bench *bench = *state;
	static struct tool again;
	size_t count = tool_set_count(bench->set);

	assert_int_equal(tool_set_withdraw(bench->set, is_strict, NULL), 1);
	assert_int_equal(tool_set_withdraw(bench->set, is_strict, NULL), 0);
	assert_true(is_there(bench->set, "read_file")); /* nobody added it */
	assert_false(is_there(bench->set, "strict"));
	assert_int_equal(tool_set_count(bench->set), count - 1);
	assert_null(tool_set_at(bench->set, count - 1));
	fails(call(bench, "strict", "{}"), "unknown_tool");
	again = strict;
	add(bench, &again);
	assert_ptr_equal(tool_set_find(bench->set, "strict"), &again);
	assert_ptr_equal(tool_set_at(bench->set, count - 1), &again);
}

static void an_empty_core_leaves_nothing_built_in(void **state)
{
	struct bench *bench = *state;

	limit(bench->set, "[]", NULL);
	assert_int_equal(tool_set_count(bench->set), 2);
	assert_string_equal(tool_set_at(bench->set, 0)->name, "strict");
}

static bool is_wanted(void *data, const struct tool *tool)
{
	return strcmp(tool->name, data) != 0;
}

static void what_is_declared_is_what_is_there_and_wanted(void **state)
{
	static char unwanted[] = "glob";
	struct bench *bench = *state;
	json_auto_t *all = tool_set_declare(bench->set, NULL, NULL);
	json_auto_t *some = tool_set_declare(bench->set, is_wanted, unwanted);
	json_t *last = json_array_get(all, json_array_size(all) - 1);

	assert_int_equal(json_array_size(all), tool_set_count(bench->set));
	assert_int_equal(json_array_size(some), json_array_size(all) - 1);
	assert_string_equal(json_string_value(json_object_get(last, "name")), "lenient");
	assert_true(json_is_object(json_object_get(json_object_get(last, "parameters"),
	                                           "patternProperties")));
	assert_int_equal(json_object_size(last), 3);
}

static bool no_model(void *data, const char *server_tool, const char *prompt, struct grounded *ret,
                     struct err *err)
{
	(void)data;
	(void)server_tool;
	(void)prompt;
	(void)ret;
	return err_set(err, ERR_INVALID_ARGUMENT, "No.");
}

static void no_mode(void *data, bool plan)
{
	(void)data;
	(void)plan;
}

static bool no_report(void *data, const json_t *tools, const char *reason, struct err *err)
{
	(void)data;
	(void)tools;
	(void)reason;
	return err_set(err, ERR_INVALID_ARGUMENT, "No.");
}

static void compiles(const char *text)
{
	struct schema *schema = NULL;
	struct err err = ERR_INIT;

	if (!schema_compile(span_str(text), &schema, &err))
		fail_msg("%s: %s", text, err.message);
	schema_free(schema);
}

/* As test_tools.c wants it of the others. */
static void is_whole(const struct tool *tool)
{
	compiles(tool->arguments_schema);
	compiles(tool->result_schema);
	assert_non_null(strstr(tool->arguments_schema, "\"additionalProperties\": false"));
	assert_in_range(strlen(tool->description), 50, 759);
	assert_non_null(tool->title);
}

/* A tool is offered when there is what it needs; nowhere else than in conversations. */
static void tools_of_a_conversation_need_their_services(void **state)
{
	static const char *const names[] = { "web_fetch",       "google_web_search", "save_memory",
		                             "write_todos",     "ask_user",
		                             "enter_plan_mode", "exit_plan_mode",
		                             "update_topic",    "get_diagnostics" };
	struct tool_services none = { 0 };
	struct tool_services all = {
		.bus = (struct bus *)(void *)&none, /* not looked at */
		.interactive = true, .todos = true, .topic = true, .memory_file = "/m",
		.plans_folder = "/p",
		.set_plan_mode = no_mode, .ground = no_model,
	};
	struct tool_set *bare = tool_set_new(), *full = tool_set_new(), *alone = tool_set_new();

	(void)state;
	tool_set_add_conversation(bare, &none);
	tool_set_add_conversation(full, &all);
	assert_int_equal(tool_set_count(bare), tool_count() + 1);
	assert_int_equal(tool_set_count(full), tool_count() + ARRAY_LEN(names));
	assert_true(is_there(bare, "web_fetch"));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		assert_true(is_there(full, names[i]));
		assert_null(tool_find(names[i]));
		is_whole(tool_set_find(full, names[i]));
	}
	assert_false(is_there(full, "request_permission")); /* for where nobody can be asked */
	all.interactive = false;
	all.report_missing = no_report;
	tool_set_add_conversation(alone, &all);
	/* Without ask_user and get_diagnostics. */
	assert_int_equal(tool_set_count(alone), tool_set_count(full) - 1);
	is_whole(tool_set_find(alone, "request_permission"));
	limit(full, "[\"WebFetchTool\"]", NULL);
	assert_int_equal(tool_set_count(full), 1);
	tool_set_free(bare);
	tool_set_free(full);
	tool_set_free(alone);
}

/* They fail with a sentence where a session has no services at all. */
static void without_services_they_say_so(void **state)
{
	static const struct {
		const char *name, *arguments;
	} rows[] = {
		{ "web_fetch", "{\"url\": \"https://example.org/\"}" },
		{ "google_web_search", "{\"query\": \"x\"}" },
		{ "save_memory", "{\"fact\": \"x\"}" },
		{ "write_todos", "{\"todos\": []}" },
		{ "update_topic", "{\"strategic_intent\": \"x\"}" },
		{ "enter_plan_mode", "{}" },
		{ "exit_plan_mode", "{\"plan_filename\": \"x.md\"}" },
		{ "request_permission", "{\"tools\": [\"write_file\"], \"reason\": \"x\"}" },
	};
	struct bench *bench = *state;
	struct tool_services all = { .todos = true, .topic = true, .memory_file = "/m",
		                     .plans_folder = "/p", .set_plan_mode = no_mode, .ground = no_model,
		                     .report_missing = no_report };

	tool_set_add_conversation(bench->set, &all);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		fails(call(bench, rows[i].name, rows[i].arguments), "denied_by_policy");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_of_added_tools_are_names_and_free),
		TEST(a_schema_has_to_be_json),
		TEST(a_servers_schema_is_read_when_it_is_called),
		TEST(many_are_found_by_name),
		TEST(anothers_schema_may_be_more_than_can_be_checked),
		TEST(limits_take_names_aliases_and_class_names),
		TEST(what_is_withdrawn_is_gone_and_its_name_free),
		TEST(an_empty_core_leaves_nothing_built_in),
		TEST(what_is_declared_is_what_is_there_and_wanted),
		TEST(tools_of_a_conversation_need_their_services),
		TEST(without_services_they_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
