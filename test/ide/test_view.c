/* SPDX-License-Identifier: Apache-2.0 */
/* What an editor shows: what the model gets of each notification, and what is left of odd ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "ide/view.h"

#define HEAD "What the user's editor (E) shows now. It is context, not a request.\n"
#define FILE(path, more) "{\"path\": \"" path "\", \"timestamp\": 1" more "}"

static const struct row {
	const char *method, *params;
	const char *text;     /* after HEAD; NULL: nothing is open */
	const char *mentions; /* or NULL */
} rows[] = {
	{ "ide/contextUpdate", "{}", NULL, NULL },
	{ "ide/contextUpdate", "{\"workspaceState\": {\"openFiles\": 7}}", NULL, NULL },
	{ "ide/contextUpdate", "{\"workspaceState\": {\"openFiles\": [7, {}, " FILE("relative", "")
	  ", " FILE("/\\u0000x", "") "]}}", "Open files: /\\x00x", NULL },
	{ "ide/contextUpdate", "{\"workspaceState\": {\"openFiles\": [" FILE("/a\\nb", ", \"isActive\": true") "]}}",
	  "Active file: /a\\x0ab\n", NULL },
	{ "ide/contextUpdate", "{\"workspaceState\": {\"openFiles\": [" FILE("/old", "") ", {\"path\": \"/a\", "
	  "\"timestamp\": 2, \"isActive\": true, \"cursor\": {\"line\": 3, \"character\": 4}, \"selectedText\": \"x\"}]}}",
	  "Active file: /a, cursor in line 3, column 4\nSelected text:\nx\nOpen files: /old", NULL },
	{ "ide/contextUpdate", "{\"workspaceState\": {\"openFiles\": [" FILE("/a", ", \"isActive\": true, "
	  "\"cursor\": {\"line\": -3, \"character\": 1e300}, \"selectedText\": 7") "]}}", "Active file: /a\n", NULL },
	{ "selection_changed", "{\"filePath\": \"/a\", \"text\": \"x\", \"selection\": {\"start\": {\"line\": 0, "
	  "\"character\": 0}, \"end\": {\"line\": 4, \"character\": 1}}}",
	  "Active file: /a, cursor in line 1, column 1\nSelected text (lines 1-5):\nx\n", NULL },
	{ "selection_changed", "{\"filePath\": \"\", \"text\": \"x\"}", NULL, NULL },
	{ "selection_changed", "{\"filePath\": \"/a\", \"text\": \"x\", \"selection\": {\"isEmpty\": true}}",
	  "Active file: /a\n", NULL },
	{ "at_mentioned", "{\"filePath\": \"/a\", \"lineStart\": 4, \"lineEnd\": 4}", NULL, "/a, line 5" },
	{ "at_mentioned", "{\"filePath\": \"/a\", \"lineStart\": 4, \"lineEnd\": 9}", NULL, "/a, lines 5-10" },
	{ "at_mentioned", "{\"filePath\": \"/a\"}", NULL, "/a" },
	{ "at_mentioned", "{\"filePath\": \"a\"}", NULL, NULL },
	{ "at_mentioned", "{\"filePath\": null, \"lineStart\": 1}", NULL, NULL },
};

static bool take(struct ide_view *view, const char *method, const char *text, char **ret_mention)
{
	json_auto_t *params = json_loads(text, JSON_ALLOW_NUL, NULL);

	assert_non_null(params);
	return ide_view_take(view, method, params, ret_mention);
}

static void check_row(const struct row *row)
{
	struct ide_view *view = ide_view_new();
	char *mention = NULL, *text, *mentions, *expected;

	assert_true(take(view, row->method, row->params, &mention));
	text = ide_view_text(view, "E");
	expected = row->text ? mem_printf(HEAD "%s", row->text) : NULL;
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	mentions = ide_view_mentions(view);
	if (row->mentions) {
		assert_string_equal(mention, row->mentions);
		assert_string_equal(mentions + strlen("The user points at: "), row->mentions);
	} else {
		assert_null(mention);
		assert_null(mentions);
	}
	free(mention), free(text), free(mentions), free(expected);
	mentions = ide_view_mentions(view);
	assert_null(mentions);
	ide_view_free(view);
}

static void each_notification_is_shown_as_far_as_it_can_be_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
}

static void other_notifications_are_none_of_its(void **state)
{
	struct ide_view *view = ide_view_new();
	char *mention;

	(void)state;
	assert_false(take(view, "ide/other", "{}", &mention));
	assert_false(take(view, "", "{}", &mention));
	ide_view_free(view);
}

static void an_update_replaces_what_was_shown(void **state)
{
	struct ide_view *view = ide_view_new();
	char *mention, *text;

	(void)state;
	take(view, "ide/contextUpdate", "{\"workspaceState\": {\"openFiles\": [" FILE("/a", "") ", "
	     FILE("/b", "") "]}}", &mention);
	text = ide_view_summary(view);
	assert_string_equal(text, "2 open files");
	free(text);
	take(view, "ide/contextUpdate", "{\"workspaceState\": {\"openFiles\": []}}", &mention);
	assert_null(ide_view_text(view, "E"));
	assert_null(ide_view_summary(view));
	take(view, "selection_changed", "{\"filePath\": \"/a\"}", &mention);
	take(view, "at_mentioned", "{\"filePath\": \"/b\"}", &mention);
	free(mention);
	ide_view_clear(view);
	assert_null(ide_view_text(view, "E"));
	assert_null(ide_view_mentions(view));
	ide_view_free(view);
}

static void it_keeps_no_more_than_its_limits(void **state)
{
	struct ide_view *view = ide_view_new();
	json_auto_t *files = json_array(), *params = NULL;
	char *mention, *text;
	unsigned count = 0;

	(void)state;
	for (int i = 0; i < 100000; i++)
		json_array_append_new(files, json_pack("{s:s, s:i}", "path", "/f", "timestamp", i));
	params = json_pack("{s:{s:O}}", "workspaceState", "openFiles", files);
	assert_true(ide_view_take(view, "ide/contextUpdate", params, &mention));
	text = ide_view_text(view, "E");
	for (const char *at = text; (at = strstr(at, "/f")); at++)
		count++;
	assert_int_equal(count, LIMIT_IDE_OPEN_FILES);
	free(text);
	for (count = 0; take(view, "at_mentioned", "{\"filePath\": \"/b\"}", &mention) && mention;
	     count++)
		free(mention);
	assert_int_equal(count, LIMIT_IDE_MENTIONS);
	ide_view_free(view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_notification_is_shown_as_far_as_it_can_be_read),
		cmocka_unit_test(other_notifications_are_none_of_its),
		cmocka_unit_test(an_update_replaces_what_was_shown),
		cmocka_unit_test(it_keeps_no_more_than_its_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
