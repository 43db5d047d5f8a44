/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of calls, results and diffs: what somebody sees of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "diff/unified.h"
#include "tui/view/view.h"

static json_t *parse(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value;

	if (!json_parse(span_str(text), &value, &err))
		fail_msg("%s: %s", text, err.message);
	return value;
}

/* The rows' plain text, without blanks at line ends. */
static char *plain(const struct rows *rows)
{
	_cleanup_buf_ struct buf text = BUF_INIT(16 << 20);

	for (size_t i = 0; i < rows->count; i++) {
		row_plain(&rows->at[i], &text);
		while (text.len && text.data[text.len - 1] == ' ')
			text.len--;
		buf_char(&text, '\n');
	}
	return buf_steal(&text);
}

static void expect(struct rows *rows, const char *expected)
{
	_cleanup_free_ char *text = plain(rows);

	rows_release(rows);
	assert_string_equal(text, expected);
}

static const struct view_how folded = { .width = 60, .folded = true };
static const struct view_how whole = { .width = 60 };
static const struct view_how spoken = { .width = 60, .folded = true, .plain = true };

static void expect_result(const char *call_text, const char *result_text,
                          const struct view_how *how, const char *expected)
{
	json_auto_t *call = call_text ? parse(call_text) : NULL, *result = parse(result_text);
	struct rows rows = { 0 };

	view_result(&rows, call, result, how);
	expect(&rows, expected);
}

static void expect_diff(const char *diff, const struct view_how *how, const char *expected)
{
	struct rows rows = { 0 };

	view_diff(&rows, span_str(diff), how);
	expect(&rows, expected);
}

#define CALL(tool, title, description)                                                        \
	"{\"callId\": \"1\", \"toolName\": \"" tool "\", \"title\": \"" title "\", "         \
	"\"arguments\": {}, \"description\": \"" description "\"}"
#define RESULT(status, value)                                                                 \
	"{\"callId\": \"1\", \"toolName\": \"x\", \"status\": \"" status "\", \"result\": "  \
	value ", \"display\": \"as it says\", \"durationMs\": 5}"

#define DIFF "--- a/src/main.c\n+++ b/src/main.c\n@@ -9,4 +9,5 @@\n int a;\n-int b = 1;\n" \
	"+int b = 2;\n+int c;\n \n int d;\n"
/* As a JSON string. */
#define DIFF_JSON "\"--- a/src/main.c\\n+++ b/src/main.c\\n@@ -9,4 +9,5 @@\\n int a;\\n-int b = 1;\\n" \
	"+int b = 2;\\n+int c;\\n \\n int d;\\n\""

/* ---- calls --------------------------------------------------------------------------- */

static void a_call_is_one_line(void **state)
{
	json_auto_t *edit = parse(CALL("safe_patch", "Safe patch", "src/main.c"));
	json_auto_t *other = parse(CALL("mcp_do", "Do a thing", "the \\u001b[31mthing"));
	json_auto_t *servers = parse(CALL("mcp_do", "Do a thing", "the thing"));
	struct rows rows = { 0 };

	(void)state;
	json_object_set_new(servers, "serverName", json_string("their \x1b[31mserver"));
	view_call(&rows, edit, &whole);
	view_call(&rows, other, &whole);
	view_call(&rows, servers, &whole);
	view_call(&rows, edit, &spoken);
	expect(&rows, "\xe2\x80\xa2 Edit src/main.c\n"
	              "\xe2\x80\xa2 Do a thing the \\x1b[31mthing\n"
	              "\xe2\x80\xa2 Do a thing (their \\x1b[31mserver) the thing\n"
	              "Edit src/main.c\n");
}

/* ---- results ------------------------------------------------------------------------- */

static void an_edit_shows_its_diff(void **state)
{
	(void)state;
	expect_result(CALL("update_file", "Update", "src/main.c"),
	              RESULT("success", "{\"success\": true, \"message\": \"m\", \"diff\": " DIFF_JSON
	                     ", \"lines_added\": 2, \"lines_removed\": 1, "
	                     "\"latest_file_state\": {}}"), &folded,
	              "\xe2\x9c\x93 Edit src/main.c  +2 -1\n"
	              "  @@ -9,4 +9,5 @@\n"
	              "   9  9   int a;\n"
	              "  10    - int b = 1;\n"
	              "     10 + int b = 2;\n"
	              "     11 + int c;\n"
	              "  11 12\n"
	              "  12 13   int d;\n");
}

static void a_review_says_how_many_hunks(void **state)
{
	(void)state;
	expect_result(CALL("safe_patch", "Patch", "a"),
	              RESULT("success", "{\"latest_file_state\": {}, \"lines_added\": 1, "
	                     "\"lines_removed\": 0, \"user_review\": {\"hunks\": [{\"taken\": true}, "
	                     "{\"taken\": false}, {\"taken\": \"edited\"}]}}"), &folded,
	              "\xe2\x9c\x93 Edit a  +1 -0  2 of 3 hunks\n");
}

static void a_command_shows_its_last_lines(void **state)
{
	static const char result[] = RESULT("success",
		"{\"success\": true, \"message\": \"The command ended.\", \"output_bytes\": 9, "
		"\"exit_code\": 3, \"duration_ms\": 2345, \"output\": "
		"\"1\\n2\\n3\\n4\\n5\\n6\\n7\\n\", \"denials\": [{\"message\": "
		"\"write /etc/x: outside the writable paths. To allow: --write /etc\", "
		"\"how_to_allow\": \"--write /etc\"}]}");

	(void)state;
	expect_result(CALL("run_shell_command", "Run", "make test"), result, &folded,
	              "\xe2\x9c\x97 Run make test  exit 3  2.3 s\n"
	              "  \xe2\x80\xa6 2 lines more (Ctrl+O)\n"
	              "  3\n  4\n  5\n  6\n  7\n"
	              "  Denied: write /etc/x: outside the writable paths. To\n"
	              "          allow: --write /etc\n");
	expect_result(CALL("run_shell_command", "Run", "make test"), result, &whole,
	              "\xe2\x9c\x97 Run make test  exit 3  2.3 s\n"
	              "  1\n  2\n  3\n  4\n  5\n  6\n  7\n"
	              "  Denied: write /etc/x: outside the writable paths. To\n"
	              "          allow: --write /etc\n"
	              "  The command ended.\n");
}

static void code_shows_its_value_or_what_it_raised(void **state)
{
	static const char value[] = RESULT("success",
		"{\"success\": true, \"message\": \"The code ended.\", \"output_bytes\": 2, "
		"\"output\": \"1\\n\", \"value\": \"Point(\\n  x=1)\", \"pictures\": "
		"[{\"mime_type\": \"image/png\"}]}");
	static const char raised[] = RESULT("success",
		"{\"success\": true, \"message\": \"The code raised KeyError.\", "
		"\"output_bytes\": 0, \"output\": \"\", \"exception\": "
		"\"Traceback:\\n  File 1\\nKeyError: 'a'\"}");

	(void)state;
	expect_result(CALL("run_python", "Run Python", "Point(1)"), value, &folded,
	              "\xe2\x9c\x93 Run Python Point(1)  1 picture\n"
	              "  1\n  Point(\n    x=1)\n");
	expect_result(CALL("run_python", "Run Python", "d['a']"), raised, &folded,
	              "\xe2\x9c\x97 Run Python d['a']\n  KeyError: 'a'\n");
	expect_result(CALL("run_python", "Run Python", "d['a']"), raised, &whole,
	              "\xe2\x9c\x97 Run Python d['a']\n  Traceback:\n    File 1\n"
	              "  KeyError: 'a'\n  The code raised KeyError.\n");
}

static void how_it_ended_stays_on_a_long_line(void **state)
{
	(void)state;
	expect_result(CALL("run_shell_command", "Run", "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
	                   "bbbbbbbbbbbbbbbbbbbb"),
	              RESULT("success", "{\"output_bytes\": 0, \"exit_code\": 1, \"output\": \"\"}"),
	              &folded,
	              "\xe2\x9c\x97 Run echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b"
	              "\xe2\x80\xa6  exit 1\n");
}

static void a_file_says_how_much_was_read(void **state)
{
	static const char result[] = RESULT("success",
		"{\"file_path\": \"/w/a.c\", \"sha256\": \"00\", \"content\": \"x\\ny\\n\", "
		"\"start_line\": 3, \"end_line\": 4, \"total_lines\": 9}");

	(void)state;
	expect_result(CALL("read_file", "Read", "a.c"), result, &folded,
	              "\xe2\x9c\x93 Read a.c  lines 3-4 of 9\n");
	expect_result(CALL("read_file", "Read", "a.c"), result, &whole,
	              "\xe2\x9c\x93 Read a.c  lines 3-4 of 9\n      3 x\n      4 y\n");
	expect_result(NULL, RESULT("success", "[{\"file_path\": \"a\", \"sha256\": \"0\", "
	                           "\"total_lines\": 1, \"start_line\": 1, \"end_line\": 1, "
	                           "\"content\": \"z\"}, {\"file_path\": \"b\", "
	                           "\"message\": \"There is none.\", \"error\": {}}]"), &folded,
	              "\xe2\x9c\x93 x  2 files\n  a  1 line\n  b  not read: There is none.\n");
}

static void a_search_shows_its_first_matches(void **state)
{
	_cleanup_buf_ struct buf result = BUF_INIT(1 << 16);

	(void)state;
	buf_str(&result, "{\"status\": \"success\", \"result\": {\"matches\": 12, \"more\": true, "
	                 "\"files\": [{\"file_path\": \"a.c\", \"matches\": 12, \"lines\": [");
	for (int i = 1; i <= 12; i++)
		buf_printf(&result, "%s\"%d:int x;\"", i > 1 ? ", " : "", i);
	buf_str(&result, "]}]}}");
	expect_result(CALL("search_files", "Search", "int"), result.data, &folded,
	              "\xe2\x9c\x93 Search int  the first 12 lines in 1 file\n"
	              "  a.c\n    1:int x;\n    2:int x;\n    3:int x;\n    4:int x;\n    5:int x;\n"
	              "    6:int x;\n    7:int x;\n  \xe2\x80\xa6 5 lines more (Ctrl+O)\n");
}

static void a_folder_shows_its_entries(void **state)
{
	(void)state;
	expect_result(CALL("list_directory", "List", "src"),
	              RESULT("success", "{\"entries\": [{\"name\": \"a\", \"kind\": \"folder\"}, "
	                     "{\"name\": \"b.c\", \"kind\": \"file\"}]}"), &folded,
	              "\xe2\x9c\x93 List src  2 entries\n  a/\n  b.c\n");
}

static void the_web_shows_where_it_is_from(void **state)
{
	(void)state;
	expect_result(CALL("google_web_search", "Search", "hasp"),
	              RESULT("success", "{\"text\": \"It is a lock.\", \"sources\": "
	                     "[{\"url\": \"https://e.org/\", \"title\": \"E\"}]}"), &folded,
	              "\xe2\x9c\x93 Search the web for hasp  1 source\n  https://e.org/  E\n"
	              "  It is a lock.\n");
}

static void steps_are_a_checklist(void **state)
{
	static const char call[] =
		"{\"toolName\": \"write_todos\", \"title\": \"Steps\", \"description\": \"{}\", "
		"\"arguments\": {\"todos\": [{\"description\": \"One\", \"status\": \"completed\"}, "
		"{\"description\": \"Two\", \"status\": \"in_progress\"}, "
		"{\"description\": \"Three\", \"status\": \"pending\"}]}}";

	(void)state;
	expect_result(call, RESULT("success", "{\"message\": \"m\"}"), &folded,
	              "\xe2\x9c\x93 Steps\n  [x] One\n  [>] Two\n  [ ] Three\n");
	expect_result(call, RESULT("success", "{\"message\": \"m\"}"), &spoken,
	              "Done: Steps\ndone: One\nnow: Two\nto do: Three\n");
}

static void a_topic_says_what_comes_next(void **state)
{
	static const char call[] =
		"{\"toolName\": \"update_topic\", \"title\": \"Say\", \"description\": \"%s\", "
		"\"arguments\": {%s\"strategic_intent\": \"Read it.\", \"summary\": \"Found.\"}}";
	static const struct {
		const char *description, *title, *expected;
	} rows[] = {
		{ "Parser", "\"title\": \"Parser\", ",
		  "\xe2\x9c\x93 Topic Parser\n  Read it.\n  Found.\n" },
		{ "Read it.", "", "\xe2\x9c\x93 Topic Read it.\n  Found.\n" },
		/* of a session that goes on */
		{ "", "\"title\": \"Parser\", ",
		  "\xe2\x9c\x93 Topic\n  Parser\n  Read it.\n  Found.\n" },
		{ "", "", "\xe2\x9c\x93 Topic\n  Read it.\n  Found.\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_free_ char *text = mem_printf(call, rows[i].description, rows[i].title);

		expect_result(text, RESULT("success", "{\"message\": \"m\"}"), &folded,
		              rows[i].expected);
	}
}

static void answers_stand_behind_their_questions(void **state)
{
	static const char call[] =
		"{\"toolName\": \"ask_user\", \"arguments\": {\"questions\": [{\"header\": \"Kind\", "
		"\"question\": \"Which kind?\"}, "
		"{\"header\": \"Colours\"}]}}";

	(void)state;
	expect_result(call, RESULT("success", "{\"answers\": {\"0\": \"Big\", \"1\": [\"red\", "
	                           "\"blue\"]}}"), &folded,
	              "\xe2\x9c\x93 Ask you\n  Which kind? Big\n  Colours: red, blue\n");
}

static void an_error_is_a_sentence(void **state)
{
	static const char result[] =
		"{\"toolName\": \"x\", \"status\": \"error\", \"result\": {\"success\": false, "
		"\"diff\": \"no\"}, \"error\": {\"type\": \"t\", \"message\": \"The file has changed "
		"since you read it, so nothing was written to it.\"}}";

	(void)state;
	expect_result(CALL("safe_patch", "Patch", "a"), result, &folded,
	              "\xe2\x9c\x97 Edit a\n"
	              "  The file has changed since you read it, so nothing was\n"
	              "  written to it.\n");
	expect_result(CALL("safe_patch", "Patch", "a"), result, &spoken,
	              "Failed: Edit a\n"
	              "The file has changed since you read it, so nothing was\n"
	              "written to it.\n");
}

static void an_unfamiliar_result_speaks_for_itself(void **state)
{
	(void)state;
	expect_result(CALL("thing", "Thing", "x"), RESULT("success", "{\"a\": 1}"), &folded,
	              "\xe2\x9c\x93 Thing x\n  as it says\n");
	expect_result(NULL, "{}", &folded, "Call\n");
}

/* ---- diffs --------------------------------------------------------------------------- */

static void a_diff_is_read_aloud(void **state)
{
	(void)state;
	expect_diff(DIFF, &spoken,
	            "src/main.c\n@@ -9,4 +9,5 @@\nline 9: int a;\nline 10 removed: int b = 1;\n"
	            "line 10 added: int b = 2;\nline 11 added: int c;\nline 12:\nline 13: int d;\n");
}

static void a_wide_diff_has_two_columns(void **state)
{
	const struct view_how wide = { .width = 120 };
	struct rows rows = { 0 };
	_cleanup_free_ char *text = NULL;

	(void)state;
	view_diff(&rows, span_str(DIFF), &wide);
	text = plain(&rows);
	for (size_t i = 0; i < rows.count; i++)
		assert_true(rows.at[i].width <= 120);
	rows_release(&rows);
	assert_non_null(strstr(text, "\n 9   int a;"));
	assert_non_null(strstr(text, "\n10 - int b = 1;"));
	assert_non_null(strstr(text, " \xe2\x94\x82 10 + int b = 2;\n"));
	assert_non_null(strstr(text, " \xe2\x94\x82 11 + int c;\n"));
}

static void a_narrow_diff_has_no_numbers(void **state)
{
	const struct view_how narrow = { .width = 20 };

	(void)state;
	expect_diff("@@ -1 +1 @@\n-one two three four five six\n+one\n", &narrow,
	            "@@ -1 +1 @@\n- one two three four\n  five six\n+ one\n");
}

static void words_that_differ_are_marked(void **state)
{
	struct rows rows = { 0 };
	size_t words = 0;

	(void)state;
	view_diff(&rows, span_str(DIFF), &whole);
	for (size_t i = 0; i < rows.count; i++)
		for (size_t k = 0; k < rows.at[i].count; k++) {
			const struct row *row = &rows.at[i];
			struct span text = span_of(row->text.data + row->runs[k].start,
			                           row->runs[k].len);

			if (row->runs[k].style.role != ROLE_REMOVED_WORD &&
			    row->runs[k].style.role != ROLE_ADDED_WORD)
				continue;
			words++;
			assert_true(span_eq(text, SPAN("1")) || span_eq(text, SPAN("2")));
		}
	rows_release(&rows);
	assert_int_equal(words, 2);
}

static void new_and_deleted_files_are_named(void **state)
{
	(void)state;
	expect_diff("--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
	            "--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n--- a/p\n+++ b/q\n", &whole,
	            "n (new file)\n@@ -0,0 +1 @@\n  1 + x\n\\ No newline at end of file\n"
	            "o (deleted)\n@@ -1 +0,0 @@\n1   - y\nq (was p)\n");
}

static void a_long_diff_is_folded(void **state)
{
	_cleanup_buf_ struct buf diff = BUF_INIT(1 << 16);
	struct rows rows = { 0 };
	_cleanup_free_ char *text = NULL;

	(void)state;
	buf_str(&diff, "@@ -0,0 +1,100 @@\n");
	for (int i = 1; i <= 100; i++)
		buf_printf(&diff, "+%d\n", i);
	view_diff(&rows, buf_view(&diff), &folded);
	text = plain(&rows);
	assert_int_equal(rows.count, VIEW_FOLDED_DIFF_ROWS + 1);
	rows_release(&rows);
	assert_non_null(strstr(text, " 11 + 11\n\xe2\x80\xa6 89 lines more (Ctrl+O)\n"));
}

/* A removed line that looks like a file's name is a removed line. */
static void counts_decide_what_a_line_is(void **state)
{
	(void)state;
	expect_diff("@@ -1,2 +1 @@\n--- a\n-+++ b\n+c\n", &whole,
	            "@@ -1,2 +1 @@\n1   - -- a\n2   - +++ b\n  1 + c\n");
}

/* ---- what is said -------------------------------------------------------------------- */

static void pastes_are_folded(void **state)
{
	static const char *const text = "see a\nb\nc\nd\ne\n and 1\n2 too\nend";
	const struct view_fold folds[] = { { 4, 10, "[5 lines]" }, { 19, 3, "[2 lines]" } };
	const struct view_how how = { .width = 40, .folded = true };
	const struct view_how heard_how = { .width = 40, .folded = true, .plain = true };
	_cleanup_rows_ struct rows rows = { 0 }, plain_rows = { 0 };
	_cleanup_free_ char *seen = NULL, *heard = NULL;

	(void)state;
	view_user_folded(&rows, span_str(text), folds, 2, &how);
	seen = plain(&rows);
	assert_string_equal(seen, "> see [5 lines] and [2 lines] too\n"
	                          "    a\n    b\n    c\n    \u2026 2 lines more (Ctrl+O)\n"
	                          "    1\n    2\n"
	                          "  end\n");
	view_user_folded(&plain_rows, span_head(span_str(text), 14), folds, 1, &heard_how);
	heard = plain(&plain_rows);
	assert_string_equal(heard, "You: see [5 lines]\na\nb\nc\n\u2026 2 lines more (Ctrl+O)\n");
}

static void what_is_said_is_marked(void **state)
{
	struct rows rows = { 0 };

	(void)state;
	view_user(&rows, SPAN("Do it.\nNow\x1b[2J."), &whole);
	view_notice(&rows, "warning", SPAN("Careful."), &whole);
	view_user(&rows, SPAN("Do it."), &spoken);
	view_notice(&rows, "error", SPAN("No."), &spoken);
	expect(&rows, "> Do it.\n  Now\\x1b[2J.\n! Careful.\nYou: Do it.\nError: No.\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_is_one_line),
		cmocka_unit_test(an_edit_shows_its_diff),
		cmocka_unit_test(a_review_says_how_many_hunks),
		cmocka_unit_test(a_command_shows_its_last_lines),
		cmocka_unit_test(code_shows_its_value_or_what_it_raised),
		cmocka_unit_test(how_it_ended_stays_on_a_long_line),
		cmocka_unit_test(a_file_says_how_much_was_read),
		cmocka_unit_test(a_search_shows_its_first_matches),
		cmocka_unit_test(a_folder_shows_its_entries),
		cmocka_unit_test(the_web_shows_where_it_is_from),
		cmocka_unit_test(steps_are_a_checklist),
		cmocka_unit_test(a_topic_says_what_comes_next),
		cmocka_unit_test(answers_stand_behind_their_questions),
		cmocka_unit_test(an_error_is_a_sentence),
		cmocka_unit_test(an_unfamiliar_result_speaks_for_itself),
		cmocka_unit_test(a_diff_is_read_aloud),
		cmocka_unit_test(a_wide_diff_has_two_columns),
		cmocka_unit_test(a_narrow_diff_has_no_numbers),
		cmocka_unit_test(words_that_differ_are_marked),
		cmocka_unit_test(new_and_deleted_files_are_named),
		cmocka_unit_test(a_long_diff_is_folded),
		cmocka_unit_test(counts_decide_what_a_line_is),
		cmocka_unit_test(what_is_said_is_marked),
		cmocka_unit_test(pastes_are_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
