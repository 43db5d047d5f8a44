/* SPDX-License-Identifier: Apache-2.0 */
/* Confirmation: what is asked is what would be written, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/json.h"
#include "scratch_folder.h"
#include "tool/tool.h"

struct person {
	struct scratch_folder *scratch;
	bool says_yes;
	const char *meanwhile; /* what the file is overwritten with while the person thinks */
	int asked;
	json_t *arguments, *plan; /* owned; of the last question */
};

static bool answer(void *data, const struct tool_question *question, struct err *err)
{
	struct person *person = data;

	person->asked++;
	json_decref(person->arguments);
	json_decref(person->plan);
	person->arguments = json_deep_copy(question->arguments);
	person->plan = json_deep_copy(question->plan);
	if (person->meanwhile)
		scratch_write(person->scratch, "f", person->meanwhile);
	return person->says_yes || err_set(err, ERR_DENIED_BY_USER, "Denied By User: no.");
}

static json_t *call(struct person *person, const char *tool, json_t *arguments)
{
	struct session session;
	json_t *result;

	session_init(&session, person->scratch->provider);
	session.hooks.confirm = answer;
	session.hooks.data = person;
	result = tool_call(&session, tool, arguments);
	session_release(&session);
	json_decref(arguments);
	return result;
}

static const char *code_of(const json_t *result)
{
	const char *code = json_string_value(json_object_get(json_object_get(result, "error"),
	                                                     "code"));

	return code ? code : "";
}

static void expect_file(const struct scratch_folder *scratch, const char *text)
{
	_cleanup_free_ char *have = scratch_read(scratch, "f");

	if (!text)
		assert_null(have);
	else
		assert_string_equal(have, text);
}

/* What an edit without a base would do to "one\n" is `after`. */
static const struct {
	const char *tool;
	const char *arguments; /* without the path */
	const char *before, *after;
} edits[] = {
	{ "update_file", "{\"old_content\": \"one\", \"new_content\": \"two\"}", "one\n", "two\n" },
	{ "update_file", "{\"old_content\": \"\", \"new_content\": \"new\\n\"}", NULL, "new\n" },
	{ "write_file", "{\"content\": \"new\\n\"}", NULL, "new\n" },
	{ "safe_patch", "{\"unified_diff\": \"--- /dev/null\\n+++ b/f\\n@@ -0,0 +1 @@\\n+new\\n\"}",
	  NULL, "new\n" },
};

static json_t *arguments_of(size_t i)
{
	struct err err = ERR_INIT;
	json_t *arguments = NULL;

	assert_true(json_parse(span_str(edits[i].arguments), &arguments, &err));
	json_object_set_new(arguments, "file_path", json_string("f"));
	return arguments;
}

static void run_all(bool says_yes, const char *meanwhile, void (*check)(size_t i,
                    const struct person *person, const json_t *result))
{
	for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
		struct scratch_folder scratch;
		struct person person = { .scratch = &scratch, .says_yes = says_yes,
			.meanwhile = meanwhile };
		json_t *result;

		scratch_make(&scratch);
		if (edits[i].before)
			scratch_write(&scratch, "f", edits[i].before);
		result = call(&person, edits[i].tool, arguments_of(i));
		assert_int_equal(person.asked, 1);
		check(i, &person, result);
		json_decref(result);
		json_decref(person.arguments);
		json_decref(person.plan);
		scratch_remove(&scratch);
	}
}

static void check_yes(size_t i, const struct person *person, const json_t *result)
{
	const json_t *planned = json_object_get(person->plan, "planned_state");

	assert_false(tool_result_failed(result));
	expect_file(person->scratch, edits[i].after);
	assert_non_null(strstr(json_string_value(json_object_get(person->plan, "diff")),
	                       edits[i].before ? "-one\n+two\n" : "+new\n"));
	assert_true(json_equal(json_object_get(planned, "sha256"),
	                       json_object_get(json_object_get(result, "latest_file_state"),
	                                       "sha256")));
	assert_string_equal(json_string_value(json_object_get(json_object_get(result,
		"latest_file_state"), "content")), edits[i].after);
	assert_null(json_object_get(result, "dry_run"));
}

static void who_says_yes_gets_what_was_shown(void **state)
{
	(void)state;
	run_all(true, NULL, check_yes);
}

static void check_no(size_t i, const struct person *person, const json_t *result)
{
	assert_string_equal(code_of(result), "denied_by_user");
	assert_non_null(json_object_get(result, "latest_file_state"));
	expect_file(person->scratch, edits[i].before);
}

static void who_says_no_keeps_the_file(void **state)
{
	(void)state;
	run_all(false, NULL, check_no);
}

static void check_changed(size_t i, const struct person *person, const json_t *result)
{
	(void)i;
	assert_string_equal(code_of(result), "state_mismatch");
	expect_file(person->scratch, "one, by another\n");
}

/* Even where the call itself named no state, and the edit could still be made. */
static void a_change_while_the_person_thinks_is_a_mismatch(void **state)
{
	(void)state;
	run_all(true, "one, by another\n", check_changed);
}

static void edits_that_cannot_be_made_and_dry_runs_ask_nobody(void **state)
{
	struct scratch_folder scratch;
	struct person person = { .scratch = &scratch };

	(void)state;
	scratch_make(&scratch);
	scratch_write(&scratch, "f", "one\n");
	json_auto_t *unbased = call(&person, "write_file",
	                            json_pack("{s:s, s:s, s:s}", "file_path", "f", "content",
	                                      "two\n", "return_content", "none"));
	json_auto_t *nowhere = call(&person, "update_file",
	                            json_pack("{s:s, s:s, s:s}", "file_path", "f", "old_content",
	                                      "x", "new_content", "y"));
	json_auto_t *dry = call(&person, "update_file",
	                        json_pack("{s:s, s:s, s:s, s:b}", "file_path", "f", "old_content",
	                                  "one", "new_content", "two", "dry_run", 1));
	json_auto_t *read = call(&person, "read_file", json_pack("{s:s}", "file_path", "f"));
	json_auto_t *invalid = call(&person, "write_file", json_pack("{s:s}", "file_path", "f"));

	assert_int_equal(person.asked, 0);
	assert_string_equal(code_of(unbased), "base_required");
	assert_true(json_is_null(json_object_get(json_object_get(unbased, "latest_file_state"),
	                                         "content")));
	assert_null(json_object_get(unbased, "dry_run"));
	assert_string_equal(code_of(nowhere), "wrong_match_count");
	assert_false(tool_result_failed(dry));
	assert_false(tool_result_failed(read));
	assert_string_equal(code_of(invalid), "invalid_argument");
	expect_file(&scratch, "one\n");
	scratch_remove(&scratch);
}

static const char many[] =
	"{\"changes\": ["
	"{\"kind\": \"update\", \"file_path\": \"f\", \"old_content\": \"one\", "
	"\"new_content\": \"two\"},"
	"{\"kind\": \"update\", \"file_path\": \"f\", \"old_content\": \"two\", "
	"\"new_content\": \"three\"},"
	"{\"kind\": \"create\", \"file_path\": \"g\", \"content\": \"new\\n\"}]}";

static void many_changes_are_one_question(void **state)
{
	struct scratch_folder scratch;
	struct person person = { .scratch = &scratch, .says_yes = true };
	struct err err = ERR_INIT;
	json_t *arguments = NULL;

	(void)state;
	scratch_make(&scratch);
	scratch_write(&scratch, "f", "one\n");
	assert_true(json_parse(SPAN(many), &arguments, &err));
	json_incref(arguments);
	json_auto_t *result = call(&person, "apply_changes", arguments);

	assert_false(tool_result_failed(result));
	assert_int_equal(person.asked, 1);
	assert_int_equal(json_array_size(json_object_get(person.plan, "changes")), 3);
	expect_file(&scratch, "three\n");
	/* Others write the file while the person thinks: nothing of it is made. */
	scratch_write(&scratch, "f", "one\n");
	_cleanup_free_ char *g = mem_printf("%s/g", scratch.path);

	unlink(g);
	person.meanwhile = "one two\n";
	json_auto_t *late = call(&person, "apply_changes", arguments);

	assert_true(tool_result_failed(late));
	expect_file(&scratch, "one two\n");
	assert_int_not_equal(access(g, F_OK), 0);
	json_decref(person.arguments);
	json_decref(person.plan);
	scratch_remove(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_says_yes_gets_what_was_shown),
		cmocka_unit_test(who_says_no_keeps_the_file),
		cmocka_unit_test(a_change_while_the_person_thinks_is_a_mismatch),
		cmocka_unit_test(edits_that_cannot_be_made_and_dry_runs_ask_nobody),
		cmocka_unit_test(many_changes_are_one_question),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
