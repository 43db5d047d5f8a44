/* SPDX-License-Identifier: Apache-2.0 */
/* Which tools are offered, and what they are called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "mcp/offer/serve.h"

enum { LIST_MAX = 4 };

/* What is asked for, and either the tools that are offered ("a b c") or words of the error. */
static const struct {
	const char *tools[LIST_MAX], *exclude[LIST_MAX], *renames[LIST_MAX], *prefix;
	bool read_only;
	const char *offered, *error;
} rows[] = {
	{ .tools = { "read_file,safe_patch" }, .offered = "read_file safe_patch" },
	{ .tools = { " safe_patch , ,read_file," }, .offered = "read_file safe_patch" },
	{ .tools = { "read_file", "replace" }, .offered = "read_file update_file" },
	{ .tools = { "read_file,edit" }, .exclude = { "update_file" }, .offered = "read_file" },
	{ .tools = { "read_file" }, .renames = { "read_file=cat" }, .offered = "cat" },
	{ .tools = { "read_file,write_file" }, .prefix = "hasp_", .renames = { "read_file=cat" },
	  .offered = "cat hasp_write_file" },
	{ .tools = { "update_file" }, .renames = { "edit=change" }, .offered = "change" },
	{ .tools = { "read_file,safe_patch,write_file" }, .read_only = true,
	  .offered = "read_file" },
	/* Two tools may change places. */
	{ .tools = { "read_file,write_file" },
	  .renames = { "read_file=write_file", "write_file=read_file" },
	  .offered = "write_file read_file" },
	{ .tools = { "reed_file" }, .error = "did you mean \"read_file\"" },
	{ .exclude = { "nothing_like_it_at_all" }, .error = "There is no tool" },
	{ .tools = { "safe_patch" }, .read_only = true, .error = "No tool is left" },
	{ .tools = { "" }, .error = "No tool is left" },
	{ .renames = { "read_file" }, .error = "OLD=NEW" },
	{ .renames = { "read_file=" }, .error = "cannot be the name" },
	{ .renames = { "read_file=a b" }, .error = "cannot be the name" },
	{ .renames = { "read_file=\xC3\xA9" }, .error = "cannot be the name" },
	{ .prefix = "a/", .error = "cannot be the name" },
	{ .prefix = "0123456789012345678901234567890123456789012345678901234567890123456789"
	            "0123456789012345678901234567890123456789012345678901234567890123",
	  .error = "cannot be the name" },
	{ .renames = { "read_file=write_file" }, .error = "would both be called \"write_file\"" },
	{ .renames = { "read_file=a", "read_file=b" }, .error = "two names" },
	{ .tools = { "read_file" }, .renames = { "write_file=a" }, .error = "not among the tools" },
	{ .renames = { "cat=read_file" }, .error = "There is no tool \"cat\"" },
};

static size_t count(const char *const *list)
{
	size_t n = 0;

	while (n < LIST_MAX && list[n])
		n++;
	return n;
}

static bool make(size_t row, struct names *ret, struct err *err)
{
	const struct names_options options = {
		.tools = rows[row].tools, .tool_count = count(rows[row].tools),
		.exclude = rows[row].exclude, .exclude_count = count(rows[row].exclude),
		.renames = rows[row].renames, .rename_count = count(rows[row].renames),
		.prefix = rows[row].prefix, .read_only = rows[row].read_only,
	};

	return names_make(&options, ret, err);
}

static void settings_choose_and_name_tools(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_buf_ struct buf offered = BUF_INIT(4096);
		struct names names = { 0 };
		struct err err = ERR_INIT;
		bool ok = make(i, &names, &err);

		for (size_t k = 0; k < names.count; k++)
			buf_printf(&offered, "%s%s", k ? " " : "", names.items[k].name);
		if (ok != (rows[i].offered != NULL) ||
		    (ok && strcmp(offered.data, rows[i].offered) != 0) ||
		    (!ok && !strstr(err.message, rows[i].error)))
			fail_msg("row %zu: %s", i, ok ? offered.data : err.message);
		if (!ok)
			assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
		names_release(&names);
	}
}

static void without_settings_all_tools_have_their_own_names(void **state)
{
	struct names names;
	struct err err = ERR_INIT;

	(void)state;
	assert_true(names_make(&(struct names_options){ 0 }, &names, &err));
	assert_int_equal(names.count, tool_count());
	assert_false(names.changed);
	for (size_t i = 0; i < names.count; i++)
		assert_string_equal(names.items[i].name, tool_at(i)->name);
	names_release(&names);
}

static void read_only_offers_no_tool_that_changes_something(void **state)
{
	struct names names;
	struct err err = ERR_INIT;

	(void)state;
	assert_true(names_make(&(struct names_options){ .read_only = true }, &names, &err));
	assert_true(names.count >= 3);
	for (size_t i = 0; i < names.count; i++)
		assert_int_not_equal(tool_kind_of(names.items[i].tool), TOOL_KIND_EDIT);
	names_release(&names);
}

static void names_in_texts_are_those_that_are_offered(void **state)
{
	static const char *const renames[] = { "read_file=cat", "glob=files_named" };
	const struct names_options options = { .renames = renames, .rename_count = 1,
		.prefix = "h_" };
	_cleanup_buf_ struct buf out = BUF_INIT(4096);
	struct names names;
	struct err err = ERR_INIT;

	(void)state;
	assert_true(names_make(&options, &names, &err));
	assert_true(names.changed);
	assert_true(names_rewrite(&names, SPAN("read_file, (safe_patch) or write_file.\n"
	                                       "xread_file read_files my_read_file "
	                                       "\"read_many_files\" a glob read_file"), &out));
	assert_string_equal(out.data, "cat, (h_safe_patch) or h_write_file.\n"
	                              "xread_file read_files my_read_file "
	                              "\"h_read_many_files\" a glob cat");
	assert_string_equal(names_offered(&names, "read_file"), "cat");
	assert_string_equal(names_offered(&names, "unknown"), "unknown");
	names_release(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_choose_and_name_tools),
		cmocka_unit_test(without_settings_all_tools_have_their_own_names),
		cmocka_unit_test(read_only_offers_no_tool_that_changes_something),
		cmocka_unit_test(names_in_texts_are_those_that_are_offered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
