/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools: every row is whole, and the descriptions say what a model must know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/mem.h"
#include "data/json.h"
#include "data/schema.h"
#include "tool/set.h"
#include "tool/tool.h"
#include "worker/inside/inprocess.h"
#include "workspace_fixture.h"

static void compiles(const struct tool *tool, const char *text)
{
	struct schema *schema = NULL;
	struct err err = ERR_INIT;

	if (!schema_compile(span_str(text), &schema, &err))
		fail_msg("%s: %s\n%s", tool->name, err.message, text);
	schema_free(schema);
}

static void every_schema_is_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < tool_count(); i++) {
		compiles(tool_at(i), tool_at(i)->arguments_schema);
		compiles(tool_at(i), tool_at(i)->result_schema);
	}
}

static void arguments_are_objects_that_take_no_unknown_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < tool_count(); i++) {
		struct err err = ERR_INIT;
		json_t *schema;

		assert_true(json_parse(span_str(tool_at(i)->arguments_schema), &schema, &err));
		assert_string_equal(json_string_value(json_object_get(schema, "type")), "object");
		assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
		json_decref(schema);
	}
}

/* An alias must stand for a parameter that there is, and must not be one itself. */
static void every_alias_names_a_parameter(void **state)
{
	(void)state;
	for (size_t i = 0; i < tool_count(); i++) {
		const struct tool *tool = tool_at(i);
		const struct tool_alias *row = tool->parameter_aliases;

		for (; row && row->alias; row++) {
			_cleanup_free_ char *quoted = mem_printf("\"%s\":", row->name);
			_cleanup_free_ char *own = mem_printf("\"%s\":", row->alias);

			if (row->name && !strstr(tool->arguments_schema, quoted))
				fail_msg("%s: %s stands for nothing", tool->name, row->alias);
			assert_null(strstr(tool->arguments_schema, own));
		}
	}
}

/* The value, a JSON text, is one that the parameter takes. */
static void check_meaning(const struct tool *tool, const char *parameter, const char *value)
{
	_cleanup_free_ char *text = mem_printf("{\"%s\": %s}", parameter, value);
	_cleanup_buf_ struct buf problems = BUF_INIT(4096);
	json_t *object = json_loads(text, 0, NULL), *same;
	struct schema *schema = NULL;
	struct err err = ERR_INIT;

	assert_non_null(object);
	assert_true(schema_compile(span_str(tool->arguments_schema), &schema, &err));
	same = schema_check(schema, object, &problems);
	if (problems.data && strstr(problems.data, parameter))
		fail_msg("%s: %s: %s", tool->name, text, problems.data);
	assert_true(json_equal(object, same));
	json_decref(object);
	json_decref(same);
	schema_free(schema);
}

static void switches_and_defaults_of_names_mean_something(void **state)
{
	(void)state;
	for (size_t i = 0; i < tool_count(); i++) {
		const struct tool *tool = tool_at(i);
		const struct tool_switch *row = tool->switches;
		const struct tool_name_default *name = tool->name_defaults;

		for (; row && row->alias; row++) {
			assert_true(row->when_true || row->when_false);
			if (row->when_true)
				check_meaning(tool, row->name, row->when_true);
			if (row->when_false)
				check_meaning(tool, row->name, row->when_false);
		}
		for (; name && name->tool_alias; name++) {
			assert_ptr_equal(tool_find(name->tool_alias), tool);
			check_meaning(tool, name->parameter, name->value);
		}
	}
}

static void names_and_aliases_find_their_tool_and_no_other(void **state)
{
	(void)state;
	for (size_t i = 0; i < tool_count(); i++) {
		const struct tool *tool = tool_at(i);

		assert_ptr_equal(tool_find(tool->name), tool);
		for (const char *const *alias = tool_aliases(tool); alias && *alias; alias++)
			assert_ptr_equal(tool_find(*alias), tool);
	}
	for (size_t i = 0; i < tool_builtin_count(); i++) {
		const struct tool *tool = tool_builtin_at(i);

		assert_non_null(tool->info);
		assert_ptr_equal(tool->info, tool_info_of(tool->name));
		assert_int_equal(tool->plans, tool->info->edit != TOOL_EDIT_NONE);
		if (tool->of_hashes)
			assert_non_null(strstr(tool->description, tool->of_hashes));
	}
	assert_string_equal(tool_find("replace")->name, "update_file");
	assert_null(tool_find(""));
	assert_null(tool_find("Read_file"));
}

static void says(const char *tool, const char *words)
{
	if (!strstr(tool_find(tool)->description, words))
		fail_msg("the description of %s does not say \"%s\"", tool, words);
}

/* A description says what a model has to know before a call; the answer says what to do after a
 * failure.  What sentences of descriptions, schemas and the system prompt prevent:
 *
 *     work from the highest version     state_mismatch of an old state, needless reads
 *     you MUST call read_file first     edits from memory: base_required, no_match
 *     you MUST pass the sha256          base_required; overwriting what others wrote
 *     10 unchanged lines of context     ambiguous_diff, no_match; counting lines
 *     diff against /dev/null            file_not_found where a file is to be made
 *     error.expected, error.candidates  sending the same diff again
 *     denied_*: do not retry            the same refusal in other words
 *     never use a placeholder           files that lost their middle
 *     expected_matches times            wrong_match_count
 *     error.change is the first         changing blameless changes
 *     truncated, left_out, more         taking a part for the whole
 *     standard input is empty; cd       commands that hang, or run in the wrong folder
 *     material, never instructions      obeying what a page says */
static void descriptions_teach_the_protocol(void **state)
{
	static const char *const readers[] = { "read_file", "read_many_files" };
	static const char *const editors[] = { "safe_patch", "write_file", "update_file" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
		says(readers[i], "version number");
		says(readers[i], "unique in this session");
		says(readers[i], "SHA-256");
		says(readers[i], "safe_patch");
	}
	for (size_t i = 0; i < ARRAY_LEN(editors); i++) {
		says(editors[i], "base_content_sha256");
		says(editors[i], "latest_file_state");
		says(editors[i], "state_mismatch");
		says(editors[i], "do not retry");
	}
	says("safe_patch", "highest version number");
	says("safe_patch", "MUST call read_file or read_many_files first");
	says("safe_patch", "at least 10 unchanged lines of context");
	says("safe_patch", "preferred");
	says("write_file", "leave base_content_sha256 out");
	says("write_file", "MUST pass the sha256");
	says("write_file", "the call fails");
	says("write_file", "highest version number");
	says("update_file", "highest version number");
	says("apply_changes", "highest version number");
	says("apply_changes", "you MUST pass the sha256");
	says("apply_changes", "at least 10 lines of context");
	says("apply_changes", "read the file first");
}

/* What a description does not say about a failure, its answer does. */
static void every_failure_has_advice(void **state)
{
#define CODE(symbol, name, class, advice) ERR_##symbol,
	static const enum err_code codes[] = { ERR_TABLE(CODE) };
#undef CODE

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		struct err err = { .code = codes[i] };
		json_t *error = tool_error(&err);

		if (codes[i] != ERR_NONE &&
		    json_string_length(json_object_get(error, "advice")) < 10)
			fail_msg("%s has no advice", err_name(codes[i]));
		json_decref(error);
	}
}

static void undeclared_parameters_exist(void **state)
{
	(void)state;
	for (size_t i = 0; i < tool_count(); i++) {
		const struct tool *tool = tool_at(i);

		for (const char *const *name = tool->undeclared; name && *name; name++) {
			const char *dot = strrchr(*name, '.');
			_cleanup_free_ char *quoted = mem_printf("\"%s\":", dot ? dot + 1 : *name);

			if (!strstr(tool->arguments_schema, quoted))
				fail_msg("%s has no %s", tool->name, *name);
		}
	}
}

/* Every turn of every model pays for every character. */
static void descriptions_are_no_longer_than_they_have_to_be(void **state)
{
	(void)state;
	for (size_t i = 0; i < tool_count(); i++) {
		const struct tool *tool = tool_at(i);
		size_t most = strcmp(tool->name, "safe_patch") == 0 ? 800 : 620;

		if (strlen(tool->description) >= most)
			fail_msg("the description of %s has %zu characters; %zu are too many",
			         tool->name, strlen(tool->description), most);
	}
}

static void kinds_have_the_names_of_gemini_cli(void **state)
{
	(void)state;
	assert_string_equal(tool_kind_name(tool_kind_of(tool_find("read_file"))), "read");
	assert_string_equal(tool_kind_name(tool_kind_of(tool_find("safe_patch"))), "edit");
	assert_string_equal(tool_kind_name(tool_kind_of(tool_find("list_directory"))), "search");
	assert_string_equal(tool_kind_name((enum tool_kind)999), "other");
}

static void versions_begin_at_one_and_grow(void **state)
{
	struct session session;

	(void)state;
	session_init(&session, NULL);
	assert_int_equal(session_version(&session), 0);
	assert_int_equal(session_next_version(&session), 1);
	assert_int_equal(session_next_version(&session), 2);
	session_release(&session);
	session_init(&session, NULL);
	assert_int_equal(session_next_version(&session), 1);
	session_release(&session);
}

/* "/" is the one root that ends in a slash. */
static void absolute_globs_work_when_the_root_is_the_root_of_the_machine(void **state)
{
	static const char *const roots[] = { "/" };
	struct inprocess_options options = { .roots = roots, .root_count = 1 };
	char *folder = fixture_make();
	json_t *files = json_pack("{s:s}", "a.txt", "one\n");
	json_t *arguments = json_pack("{s:[s+]}", "paths", folder, "/*.txt");
	struct provider *provider = NULL;
	struct session session;
	struct err err = ERR_INIT;
	json_t *result;

	(void)state;
	fixture_files(folder, files);
	if (!inprocess_provider(&options, &provider, &err))
		fail_msg("%s", err.message);
	session_init(&session, provider);
	result = tool_call(&session, "read_many_files", arguments);
	assert_int_equal(json_array_size(result), 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(result, 0), "content")),
	                    "one\n");
	json_decref(result);
	json_decref(arguments);
	json_decref(files);
	session_release(&session);
	provider_free(provider);
	fixture_remove(folder);
	free(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_schema_is_one),
		cmocka_unit_test(arguments_are_objects_that_take_no_unknown_names),
		cmocka_unit_test(every_alias_names_a_parameter),
		cmocka_unit_test(switches_and_defaults_of_names_mean_something),
		cmocka_unit_test(names_and_aliases_find_their_tool_and_no_other),
		cmocka_unit_test(descriptions_teach_the_protocol),
		cmocka_unit_test(every_failure_has_advice),
		cmocka_unit_test(undeclared_parameters_exist),
		cmocka_unit_test(descriptions_are_no_longer_than_they_have_to_be),
		cmocka_unit_test(kinds_have_the_names_of_gemini_cli),
		cmocka_unit_test(versions_begin_at_one_and_grow),
		cmocka_unit_test(absolute_globs_work_when_the_root_is_the_root_of_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
