/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that mean harm, or come from a model that has lost its way: the answer is bounded, and
 * comes soon. The time limit of the test is what catches quadratic work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/mem.h"
#include "data/json.h"
#include "tool/tool.h"
#include "worker/inside/inprocess.h"
#include "workspace_fixture.h"

struct site {
	char *root;
	char *journal;
	struct provider *provider;
	struct session session;
};

static int open_site(void **state)
{
	struct site *site = mem_alloc(1, sizeof(*site));
	struct err err = ERR_INIT;
	struct inprocess_options options;
	const char *roots[1];

	site->root = fixture_make();
	site->journal = fixture_make();
	roots[0] = site->root;
	options = (struct inprocess_options){ .roots = roots, .root_count = 1,
	                                      .journal_folder = site->journal,
	                                      .durability = DURABILITY_RENAME };
	if (!inprocess_provider(&options, &site->provider, &err))
		fail_msg("%s", err.message);
	session_init(&site->session, site->provider);
	*state = site;
	return 0;
}

static int close_site(void **state)
{
	struct site *site = *state;

	session_release(&site->session);
	provider_free(site->provider);
	fixture_remove(site->root);
	fixture_remove(site->journal);
	free(site->root);
	free(site->journal);
	free(site);
	return 0;
}

/* Makes the call, takes over the arguments; the result's size as JSON text. */
static size_t result_size(struct site *site, const char *tool, json_t *arguments, bool fails)
{
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 30);
	json_t *result = tool_call(&site->session, tool, arguments);

	assert_true(json_print(&out, result, 0));
	if (tool_result_failed(result) != fails)
		fail_msg("%.1000s", out.data);
	json_decref(arguments);
	json_decref(result);
	return out.len;
}

static void a_hundred_thousand_unknown_arguments_get_a_short_answer(void **state)
{
	json_t *arguments = json_object();

	for (int i = 0; i < 100000; i++) {
		_cleanup_free_ char *name = mem_printf("file_pat_%d", i);

		json_object_set_new(arguments, name, json_null());
	}
	assert_in_range(result_size(*state, "read_file", arguments, true), 100, 10000);
}

static void a_name_of_a_megabyte_is_cut_in_the_answer(void **state)
{
	json_t *arguments = json_object();
	char *name = mem_alloc((1 << 20) + 1, 1);

	memset(name, 'x', 1 << 20);
	json_object_set_new(arguments, name, json_true());
	assert_in_range(result_size(*state, "read_file", arguments, true), 100, 10000);
	assert_in_range(result_size(*state, name, json_object(), true), 100, 10000);
	free(name);
}

static void a_path_of_a_megabyte_is_refused(void **state)
{
	char *name = mem_alloc((1 << 20) + 1, 1);

	memset(name, 'x', 1 << 20);
	result_size(*state, "read_file", json_pack("{s:s}", "file_path", name), true);
	result_size(*state, "write_file",
	            json_pack("{s:s,s:s}", "file_path", name, "content", ""), true);
	result_size(*state, "list_directory", json_pack("{s:s}", "path", name), true);
	result_size(*state, "read_many_files", json_pack("{s:[s]}", "paths", name), true);
	free(name);
}

static void deeply_nested_arguments_are_refused(void **state)
{
	json_t *value = json_array();

	for (int i = 0; i < 2000; i++) {
		json_t *outer = json_array();

		json_array_append_new(outer, value);
		value = outer;
	}
	assert_in_range(result_size(*state, "read_file",
	                            json_pack("{s:o}", "file_path", json_incref(value)), true),
	                100, 10000);
	assert_in_range(result_size(*state, "apply_changes", json_pack("{s:o}", "changes", value),
	                            true), 100, 10000);
}

static json_t *creations(int count)
{
	json_t *changes = json_array();

	for (int i = 0; i < count; i++) {
		_cleanup_free_ char *path = mem_printf("many/f%d", i);

		json_array_append_new(changes, json_pack("{s:s,s:s,s:s}", "kind", "create",
		                                         "file_path", path, "content", "x\n"));
	}
	return json_pack("{s:o,s:s}", "changes", changes, "return_content", "none");
}

static void a_thousand_changes_are_made_and_too_many_are_refused(void **state)
{
	result_size(*state, "apply_changes", creations(1000), false);
	assert_in_range(result_size(*state, "apply_changes", creations(4097), true), 100, 10000);
}

static void many_wrong_changes_get_a_short_answer(void **state)
{
	json_t *changes = json_array();

	for (int i = 0; i < 4000; i++)
		json_array_append_new(changes, json_pack("{s:s,s:f}", "kind", "delete",
		                                         "file_path", i + 0.5));
	assert_in_range(result_size(*state, "apply_changes", json_pack("{s:o}", "changes", changes),
	                            true), 100, 10000);
}

static void a_file_name_that_is_not_utf8_does_not_break_a_listing(void **state)
{
	struct site *site = *state;
	_cleanup_free_ char *path = mem_printf("%s/odd\xff\"\n", site->root);
	FILE *file = fopen(path, "w");
	json_t *arguments = json_pack("{s:s}", "path", ".");
	json_t *result = tool_call(&site->session, "list_directory", arguments);
	json_t *entries = json_object_get(result, "entries");
	bool found = false;
	size_t i;
	json_t *entry;

	assert_non_null(file);
	fclose(file);
	json_decref(result);
	result = tool_call(&site->session, "list_directory", arguments);
	entries = json_object_get(result, "entries");
	json_array_foreach(entries, i, entry)
		found |= span_eq(json_span(json_object_get(entry, "name")), SPAN("odd\\xff\"\n"));
	assert_true(found);
	json_decref(result);
	json_decref(arguments);
	result_size(site, "read_many_files", json_pack("{s:[s]}", "paths", "odd*"), false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hundred_thousand_unknown_arguments_get_a_short_answer),
		cmocka_unit_test(a_name_of_a_megabyte_is_cut_in_the_answer),
		cmocka_unit_test(a_path_of_a_megabyte_is_refused),
		cmocka_unit_test(deeply_nested_arguments_are_refused),
		cmocka_unit_test(a_thousand_changes_are_made_and_too_many_are_refused),
		cmocka_unit_test(many_wrong_changes_get_a_short_answer),
		cmocka_unit_test(a_file_name_that_is_not_utf8_does_not_break_a_listing),
	};

	return cmocka_run_group_tests(tests, open_site, close_site);
}
