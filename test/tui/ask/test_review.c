/* SPDX-License-Identifier: Apache-2.0 */
/* The review of an edit by hunk: what is left is exact, and says what was taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "ask_fixture.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "diff/diff.h"
#include "tui/ask/hunks.h"

/* ---- hunks --------------------------------------------------------------------------- */

static const char old_text[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
static const char new_text[] = "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\neleven\n11b\n12\n";
static const char the_diff[] =
	"--- a\n+++ a\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n"
	"@@ -8,5 +8,6 @@\n 8\n 9\n 10\n-11\n+eleven\n+11b\n 12\n";

static void expect_content(struct hunks *hunks, const char *verdicts, const char *expected)
{
	_cleanup_buf_ struct buf content = BUF_INIT(1 << 16);

	for (size_t i = 0; i < hunks_count(hunks); i++)
		if (hunks_at(hunks, i)->verdict != HUNK_EDITED)
			hunks_at(hunks, i)->verdict =
				verdicts[i] == 'y' ? HUNK_TAKEN : HUNK_LEFT;
	hunks_content(hunks, &content);
	assert_string_equal(content.data, expected);
}

static void the_diffs_own_hunks_are_taken(void **state)
{
	struct hunks *hunks = hunks_new(span_str(old_text), span_str(new_text), span_str(the_diff));
	_cleanup_buf_ struct buf second = BUF_INIT(1 << 16);

	(void)state;
	assert_int_equal(hunks_count(hunks), 2);
	hunks_diff(hunks, 1, &second);
	assert_string_equal(second.data, "@@ -8,5 +8,6 @@\n 8\n 9\n 10\n-11\n+eleven\n+11b\n 12\n");
	expect_content(hunks, "yy", new_text);
	expect_content(hunks, "nn", old_text);
	expect_content(hunks, "yn", "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n");
	expect_content(hunks, "ny", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\neleven\n11b\n12\n");
	hunks_free(hunks);
}

/* A diff that is cut, of other texts, or wrong does not decide what is written. */
static void a_diff_that_does_not_fit_is_made_anew(void **state)
{
	static const char *const diffs[] = {
		"", "@@ -1 +1 @@\n-x\n+y\n", "@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n",
		"@@ -99,1 +99,1 @@\n-2\n+two\n", "@@ what @@\n-2\n+two\n",
		"@@ -2 +2 @@\n-2\n+two\n@@ -2 +2 @@\n-2\n+two\n",
		"@@ -1 +1 @@\n 1\n@@ -2 +2 @@\n-2\n+two\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(diffs); i++) {
		struct hunks *hunks = hunks_new(span_str(old_text), span_str(new_text),
		                                span_str(diffs[i]));

		assert_int_equal(hunks_count(hunks), 2);
		expect_content(hunks, "yy", new_text);
		expect_content(hunks, "nn", old_text);
		hunks_free(hunks);
	}
	assert_null(hunks_new(SPAN("a\n"), SPAN("a\n"), SPAN("")));
}

/* Every choice of hunks, and every ending: what is not taken stays byte for byte. */
static void endings_stay(void **state)
{
	static const struct {
		const char *old, *new, *first, *second;
	} rows[] = {
		{ "a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\r\nh\r\ni\r\nj", "A\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\r\nh\r\ni\r\nJ",
		  "A\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\r\nh\r\ni\r\nj", "a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\r\nh\r\ni\r\nJ" },
		{ "a\r\nb\nc\r\nd\ne\nf\ng\nh\ni\nj", "A\nb\nc\r\nd\ne\nf\ng\nh\ni\nj\n",
		  "A\nb\nc\r\nd\ne\nf\ng\nh\ni\nj", "a\r\nb\nc\r\nd\ne\nf\ng\nh\ni\nj\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct hunks *hunks = hunks_new(span_str(rows[i].old), span_str(rows[i].new),
		                                SPAN(""));

		assert_int_equal(hunks_count(hunks), 2);
		expect_content(hunks, "yn", rows[i].first);
		expect_content(hunks, "ny", rows[i].second);
		hunks_free(hunks);
	}
}

static void a_hunk_is_split(void **state)
{
	struct hunks *hunks = hunks_new(SPAN("1\n2\n3\n4\n5\n"), SPAN("one\n2\n3\nfour\n5\n"),
	                                SPAN(""));
	_cleanup_buf_ struct buf header = BUF_INIT(1 << 16);

	(void)state;
	assert_int_equal(hunks_count(hunks), 1);
	assert_true(hunks_split(hunks, 0));
	assert_int_equal(hunks_count(hunks), 2);
	assert_false(hunks_split(hunks, 1));
	expect_content(hunks, "ny", "1\n2\n3\nfour\n5\n");
	expect_content(hunks, "yn", "one\n2\n3\n4\n5\n");
	hunks_header(hunks, 1, &header);
	assert_string_equal(header.data, "@@ -1,5 +1,5 @@");
	hunks_free(hunks);
}

static void an_edited_hunk_keeps_the_endings_of_what_stayed(void **state)
{
	struct hunks *hunks = hunks_new(SPAN("a\r\nb\r\nc\n"), SPAN("a\r\nB\r\nB2\nc\n"), SPAN(""));
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);

	(void)state;
	hunks_text(hunks, 0, &text);
	assert_string_equal(text.data, "B\nB2\n");
	hunks_edit(hunks, 0, SPAN("B\nnew\nB2\nlast"));
	assert_int_equal(hunks_at(hunks, 0)->verdict, HUNK_EDITED);
	expect_content(hunks, "n", "a\r\nB\r\nnew\r\nB2\nlast\nc\n");
	hunks_edit(hunks, 0, SPAN("B\nB2\n"));
	assert_int_equal(hunks_at(hunks, 0)->verdict, HUNK_TAKEN);
	hunks_edit(hunks, 0, SPAN("b\n"));
	assert_int_equal(hunks_at(hunks, 0)->verdict, HUNK_LEFT);
	hunks_edit(hunks, 0, SPAN(""));
	expect_content(hunks, "n", "a\r\nc\n");
	hunks_free(hunks);
}

static void a_last_line_without_an_ending_stays_so(void **state)
{
	struct hunks *hunks = hunks_new(SPAN("a\nb"), SPAN("a\nc"), SPAN(""));

	(void)state;
	hunks_edit(hunks, 0, SPAN("d\n"));
	expect_content(hunks, "n", "a\nd");
	hunks_edit(hunks, 0, SPAN("c\nd\n"));
	expect_content(hunks, "n", "a\nc\nd");
	hunks_free(hunks);
}

static void a_new_file_has_one_hunk(void **state)
{
	struct hunks *hunks = hunks_new(span_of(NULL, 0), SPAN("a\nb\n"),
	                                SPAN("--- /dev/null\n+++ n\n@@ -0,0 +1,2 @@\n+a\n+b\n"));
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);

	(void)state;
	assert_int_equal(hunks_count(hunks), 1);
	hunks_text(hunks, 0, &text);
	assert_string_equal(text.data, "a\nb\n");
	hunks_edit(hunks, 0, SPAN("a\n"));
	expect_content(hunks, "n", "a\n");
	hunks_free(hunks);
	assert_null(hunks_new(span_of(NULL, 0), span_of(NULL, 0), SPAN("")));
}

/* Random texts: all is the new one, none the old one, and each hunk alone is what its own edits
 * make. */
static void any_texts_are_taken_apart(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		_cleanup_buf_ struct buf old = BUF_INIT(1 << 16), new = BUF_INIT(1 << 16);
		struct hunks *hunks;

		for (int i = 0; i < 30; i++)
			for (int k = 0; k < 2; k++) {
				seed = seed * 1103515245 + 12345;
				if ((seed >> 16) % 8)
					buf_printf(k ? &new : &old, "%d%s", (seed >> 20) % 7 ? i : 99,
					           (seed >> 24) % 5 ? "\n" : "\r\n");
			}
		hunks = hunks_new(buf_view(&old), buf_view(&new), SPAN(""));
		if (!hunks)
			continue;
		for (bool split = true; split;)
			split = hunks_split(hunks, round % hunks_count(hunks));
		expect_content(hunks, "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy", new.data);
		expect_content(hunks, "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn", old.data);
		hunks_free(hunks);
	}
}

/* ---- the review ---------------------------------------------------------------------- */

#define MESSAGE(old, new, diff)                                                               \
	"{\"toolName\": \"safe_patch\", \"arguments\": {}, \"outcomes\": [\"proceed_once\", " \
	"\"modify_with_editor\", \"cancel\"], \"details\": {\"type\": \"edit\", "            \
	"\"title\": \"t\", \"filePath\": \"/w/a\", \"fileName\": \"a\", \"fileDiff\": \"" diff \
	"\", \"originalContent\": \"" old "\", \"newContent\": \"" new "\"}}"
/* Three hunks: lines 1, 9 and 17. */
#define THREE MESSAGE(                                                                        \
	"1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n10\\n11\\n12\\n13\\n14\\n15\\n16\\n17\\n",       \
	"one\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\nnine\\n10\\n11\\n12\\n13\\n14\\n15\\n16\\nlast\\n", "")
#define CONTENT(a, b, c) "\"newContent\": \"" a "\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n" b            \
	"\\n10\\n11\\n12\\n13\\n14\\n15\\n16\\n" c "\\n\""
#define HUNKS(a, b, c) "\"review\": {\"hunks\": ["                                            \
	"{\"header\": \"@@ -1,4 +1,4 @@\", \"taken\": " a "}, "                               \
	"{\"header\": \"@@ -6,7 +6,7 @@\", \"taken\": " b "}, "                               \
	"{\"header\": \"@@ -14,4 +14,4 @@\", \"taken\": " c "}]}"
#define MODIFIED "{\"outcome\": \"modify_with_editor\", "

static struct ask *review(void)
{
	struct ask *ask = fixture_confirmation(THREE);

	fixture_type(ask, "2");
	return ask;
}

static void a_hunk_is_shown_with_what_can_be_done(void **state)
{
	struct ask *ask = review();

	(void)state;
	fixture_expect_rows(ask, 100, 20,
		"Hunk 1/3? |\n"
		"y take, n leave out, e edit, c comment, s split, a/d take/leave the rest, k back, "
		"? help, Esc\n"
		"a\n@@ -1,4 +1,4 @@\n1   - 1\n  1 + one\n2 2   2\n3 3   3\n4 4   4\n");
	ask_free(ask);
}

static void keys_choose(void **state)
{
	static const struct {
		const char *keys, *answer;
	} rows[] = {
		{ "yyyy", MODIFIED CONTENT("one", "nine", "last") ", " HUNKS("true", "true", "true") "}" },
		{ "ynyy", MODIFIED CONTENT("one", "9", "last") ", " HUNKS("true", "false", "true") "}" },
		{ "nyn<enter>", MODIFIED CONTENT("1", "nine", "17") ", "
		                HUNKS("false", "true", "false") "}" },
		{ "ay", MODIFIED CONTENT("one", "nine", "last") ", " HUNKS("true", "true", "true") "}" },
		{ "ydy", MODIFIED CONTENT("one", "9", "17") ", " HUNKS("true", "false", "false") "}" },
		/* Back, and another answer. */
		{ "yknyyy", MODIFIED CONTENT("1", "nine", "last") ", "
		            HUNKS("false", "true", "true") "}" },
		/* On without an answer: it comes again. */
		{ "jynyy", MODIFIED CONTENT("one", "nine", "17") ", "
		           HUNKS("true", "true", "false") "}" },
		/* What is left is looked at; back to a hunk. */
		{ "yyykny", MODIFIED CONTENT("one", "nine", "17") ", "
		             HUNKS("true", "true", "false") "}" },
		{ "e<bs><c-u>zwei<c-s>nny", MODIFIED CONTENT("zwei", "9", "17") ", "
		                       HUNKS("\"edited\"", "false", "false") "}" },
		{ "dy", "{\"outcome\": \"cancel\", " HUNKS("false", "false", "false") "}" },
		/* Esc goes back to the choices and forgets nothing. */
		{ "yn<esc>2yy", MODIFIED CONTENT("one", "9", "last") ", "
		                HUNKS("true", "false", "true") "}" },
		{ "yn<esc>1", "{\"outcome\": \"proceed_once\"}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ask *ask = review();

		if (fixture_type(ask, rows[i].keys) != ASK_DONE)
			fail_msg("%s: the question is not answered", rows[i].keys);
		fixture_expect_answer(ask, rows[i].answer);
		ask_free(ask);
	}
}

static void comments_go_along(void **state)
{
	struct ask *ask = review();

	(void)state;
	fixture_type(ask, "cWhy?<enter>");
	fixture_expect_rows(ask, 40, 4,
		"Hunk 1/3? |\n"
		"y take, n leave out, e edit, c comment,\ns split, a/d take/leave the rest, k\n"
		"back, ? help, Esc\n");
	assert_int_equal(fixture_type(ask, "dy"), ASK_DONE);
	fixture_expect_answer(ask,
		"{\"outcome\": \"cancel\", \"message\": \"Hunk 1: Why?\", \"review\": {\"hunks\": ["
		"{\"header\": \"@@ -1,4 +1,4 @@\", \"taken\": false, \"comment\": \"Why?\"}, "
		"{\"header\": \"@@ -6,7 +6,7 @@\", \"taken\": false}, "
		"{\"header\": \"@@ -14,4 +14,4 @@\", \"taken\": false}]}}");
	ask_free(ask);
}

static void what_is_left_is_shown_before_it_is_applied(void **state)
{
	struct ask *ask = review();

	(void)state;
	fixture_type(ask, "nyn");
	fixture_expect_rows(ask, 60, 20,
		"Apply? [y/n] |\n1 of 3 hunks. y applies it, n goes back.\n"
		"a\n@@ -6,7 +6,7 @@\n 6  6   6\n 7  7   7\n 8  8   8\n 9    - 9\n    9 + nine\n"
		"10 10   10\n11 11   11\n12 12   12\n");
	fixture_type(ask, "nkk<esc>2");
	fixture_type(ask, "<esc>2");
	ask_free(ask);
	ask = review();
	fixture_type(ask, "d");
	fixture_expect_rows(ask, 60, 20,
		"Decline? [y/n] |\n0 of 3 hunks. y applies nothing and says so, n goes back.\n");
	ask_free(ask);
}

static void a_long_hunk_scrolls(void **state)
{
	struct ask *ask = review();

	(void)state;
	fixture_expect_rows(ask, 200, 6,
		"Hunk 1/3? |\n"
		"y take, n leave out, e edit, c comment, s split, a/d take/leave the rest, k back, "
		"? help, Esc\n"
		"a\n@@ -1,4 +1,4 @@\n"
		"1 - 1                                                                            "
		"                  \xe2\x94\x82 1 + one\n"
		"rows 1-3 of 6 (PageUp, PageDown, Ctrl+O)\n");
	fixture_type(ask, "<down><down>");
	assert_int_equal(fixture_type(ask, "<c-o>"), ASK_WHOLE);
	ask_free(ask);
}

static void help_lists_the_keys(void **state)
{
	struct ask *ask = review();
	struct rows rows = { 0 };
	size_t row;
	unsigned column;

	(void)state;
	fixture_type(ask, "?");
	ask_rows(ask, 200, 20, &rows, &row, &column);
	assert_int_equal(rows.count, 12);
	rows_release(&rows);
	fixture_type(ask, "?");
	ask_rows(ask, 100, 20, &rows, &row, &column);
	assert_int_equal(rows.count, 9);
	rows_release(&rows);
	ask_free(ask);
}

static void lines_are_edited_in_an_external_editor_too(void **state)
{
	struct ask *ask = review();
	const char *name;
	_cleanup_free_ char *text = NULL;

	(void)state;
	assert_int_equal(fixture_type(ask, "e<c-g>"), ASK_EXTERNAL);
	text = ask_external(ask, &name);
	assert_string_equal(text, "one\n");
	assert_string_equal(name, "a");
	assert_int_equal(ask_modified(ask, SPAN("x\ny\n")), ASK_OPEN);
	assert_int_equal(fixture_type(ask, "<c-s>ddy"), ASK_DONE);
	fixture_expect_answer(ask, MODIFIED CONTENT("x\\ny", "9", "17") ", "
	                      HUNKS("\"edited\"", "false", "false") "}");
	ask_free(ask);
}

/* A field holds no carriage returns within a line: the hunk is not changed behind one's back. */
static void what_a_field_cannot_hold_is_not_edited(void **state)
{
	struct ask *ask = fixture_confirmation(MESSAGE("a\\rb\\n", "a\\rc\\n", ""));

	(void)state;
	fixture_type(ask, "2e");
	assert_int_equal(fixture_type(ask, "yy"), ASK_DONE);
	fixture_expect_answer(ask, MODIFIED "\"newContent\": \"a\\rc\\n\", \"review\": {\"hunks\": "
	                      "[{\"header\": \"@@ -1 +1 @@\", \"taken\": true}]}}");
	ask_free(ask);
}

/* ---- several files ------------------------------------------------------------------- */

/* Two edits (the first with two hunks, CRLF), a new file and a renamed one. */
#define FILE_A "{\"filePath\": \"/w/a\", \"kind\": \"edit\", \"fileDiff\": \"\", "             \
	"\"originalContent\": \"1\\r\\n2\\r\\n3\\r\\n4\\r\\n5\\r\\n6\\r\\n7\\r\\n8\\r\\n9\\r\\n\", " \
	"\"newContent\": \"one\\r\\n2\\r\\n3\\r\\n4\\r\\n5\\r\\n6\\r\\n7\\r\\n8\\r\\nnine\\r\\n\"}"
#define FILE_B "{\"filePath\": \"/w/b\", \"kind\": \"edit\", \"fileDiff\": \"\", "             \
	"\"originalContent\": \"b\\n\", \"newContent\": \"B\\n\"}"
#define FILE_NEW "{\"filePath\": \"/w/new\", \"kind\": \"create\", \"fileDiff\": \"--- /dev/null\\n" \
	"+++ b/new\\n@@ -0,0 +1 @@\\n+new\\n\", \"originalContent\": null, \"newContent\": \"new\\n\"}"
#define FILE_MOVED "{\"filePath\": \"/w/old\", \"newPath\": \"/w/moved\", \"kind\": \"rename\", "    \
	"\"fileDiff\": \"\", \"originalContent\": null, \"newContent\": null}"
#define LIST(files) "{\"toolName\": \"apply_changes\", \"arguments\": {\"changes\": []}, "          \
	"\"outcomes\": [\"proceed_once\", \"modify_with_editor\", \"cancel\"], "                   \
	"\"details\": {\"type\": \"edit\", \"title\": \"t\", \"filePath\": \"/w/a\", \"fileName\": " \
	"\"a\", \"fileDiff\": \"\", \"originalContent\": null, \"newContent\": null, "             \
	"\"files\": [" files "]}}"
#define ROW(path, taken, more) "{\"filePath\": \"/w/" path "\", \"taken\": " taken more "}"
#define A_HUNKS(a, b) ", \"hunks\": [{\"header\": \"@@ -1,4 +1,4 @@\", \"taken\": " a "}, "      \
	"{\"header\": \"@@ -6,4 +6,4 @@\", \"taken\": " b "}]"
#define A_CONTENT(a, b) ", \"newContent\": \"" a "\\r\\n2\\r\\n3\\r\\n4\\r\\n5\\r\\n6\\r\\n7" \
	"\\r\\n8\\r\\n" b "\\r\\n\""
#define B_HUNK(taken) ", \"hunks\": [{\"header\": \"@@ -1 +1 @@\", \"taken\": " taken "}]"
#define ALL_FILES LIST(FILE_A ", " FILE_B ", " FILE_NEW ", " FILE_MOVED)

static void several_files_are_gone_through(void **state)
{
	static const struct {
		const char *keys, *answer;
	} rows[] = {
		{ "ynynyy", MODIFIED "\"files\": [" ROW("a", "true", A_CONTENT("one", "9")
			A_HUNKS("true", "false")) ", " ROW("b", "true", ", \"newContent\": \"B\\n\""
			B_HUNK("true")) ", " ROW("new", "false", "") ", " ROW("old", "true", "") "]}" },
		/* The rest of a file, and of all; back over files. */
		{ "dyAy", MODIFIED "\"files\": [" ROW("a", "false", A_HUNKS("false", "false")) ", "
			ROW("b", "true", ", \"newContent\": \"B\\n\"" B_HUNK("true")) ", "
			ROW("new", "true", "") ", " ROW("old", "true", "") "]}" },
		{ "aykynkyDy", MODIFIED "\"files\": [" ROW("a", "true", A_CONTENT("one", "nine")
			A_HUNKS("true", "true")) ", " ROW("b", "true", ", \"newContent\": \"B\\n\""
			B_HUNK("true")) ", " ROW("new", "true", "") ", " ROW("old", "false", "") "]}" },
		{ "yncNo.<enter>nyyy", MODIFIED "\"files\": [" ROW("a", "true",
			A_CONTENT("one", "9") A_HUNKS("true", "false")) ", " ROW("b", "false",
			", \"hunks\": [{\"header\": \"@@ -1 +1 @@\", \"taken\": false, \"comment\": "
			"\"No.\"}]") ", " ROW("new", "true", "") ", " ROW("old", "true", "") "]}" },
		{ "dncBoth?<enter>esDy", "{\"outcome\": \"cancel\", \"message\": \"/w/new: Both?\", "
			"\"files\": [" ROW("a", "false", A_HUNKS("false", "false")) ", " ROW("b",
			"false", B_HUNK("false")) ", " ROW("new", "false",
			", \"comment\": \"Both?\"") ", " ROW("old", "false", "") "]}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ask *ask = fixture_confirmation(ALL_FILES);

		fixture_type(ask, "2");
		if (fixture_type(ask, rows[i].keys) != ASK_DONE)
			fail_msg("%s: the question is not answered", rows[i].keys);
		fixture_expect_answer(ask, rows[i].answer);
		ask_free(ask);
	}
}

static void it_says_which_file_it_is(void **state)
{
	struct ask *ask = fixture_confirmation(ALL_FILES);

	(void)state;
	fixture_expect_rows(ask, 70, 4,
		"Apply these changes? [1-3] |\n> 1. Allow once\n  2. Review by hunk\n"
		"  3. No, suggest changes (esc)\n");
	fixture_type(ask, "2y");
	fixture_expect_rows(ask, 100, 4,
		"File 1/4, hunk 2/2? |\n"
		"y take, n leave out, e edit, c comment, s split, a/d take/leave the rest, k back, "
		"? help, Esc\n"
		"Edits /w/a\n7 rows (Ctrl+O)\n");
	fixture_type(ask, "ny");
	fixture_expect_rows(ask, 100, 20,
		"File 3/4? |\n"
		"y take, n leave out, c comment, k back, ? help, Esc\n"
		"Creates /w/new\n"
		"new (new file)\n@@ -0,0 +1 @@\n  1 + new\n");
	fixture_type(ask, "y");
	fixture_expect_rows(ask, 100, 20,
		"File 4/4? |\n"
		"y take, n leave out, c comment, k back, ? help, Esc\n"
		"Renames /w/old to /w/moved\n");
	fixture_type(ask, "n");
	fixture_expect_rows(ask, 100, 3,
		"Apply? [y/n] |\n3 of 5 hunks, in 3 of 4 files. y applies them, n goes back.\n"
		"14 rows (Ctrl+O)\n");
	ask_free(ask);
}

/* Several edits of one reply: one with two hunks, a list of changes, one that is taken whole. */
static struct ask *review_together(void)
{
	struct ask *ask = fixture_confirmation(MESSAGE("1\\n2\\n", "one\\n2\\n", ""));

	assert_true(fixture_join(ask, LIST(FILE_B ", " FILE_NEW), "q-2"));
	assert_true(fixture_join(ask, "{\"toolName\": \"update_file\", \"arguments\": {}, "
		"\"outcomes\": [\"proceed_once\", \"cancel\"], \"details\": {\"type\": \"edit\", "
		"\"title\": \"t\", \"filePath\": \"/w/z\", \"fileName\": \"z\", \"fileDiff\": \"\", "
		"\"originalContent\": null, \"newContent\": null}}", "q-3"));
	return ask;
}

#define FIRST(outcome, content, taken) "{\"outcome\": \"" outcome "\"" content ", \"review\": "     \
	"{\"hunks\": [{\"header\": \"@@ -1,2 +1,2 @@\", \"taken\": " taken "}]}}"

static void edits_of_one_reply_are_reviewed_together(void **state)
{
	static const struct {
		const char *keys, *answers;
	} rows[] = {
		{ "3ynyyy", "[" FIRST("modify_with_editor", ", \"newContent\": \"one\\n2\\n\"", "true")
			", " MODIFIED "\"files\": [" ROW("b", "false", B_HUNK("false")) ", "
			ROW("new", "true", "") "]}, {\"outcome\": \"proceed_once\"}]" },
		/* Back over questions; what is left out of them all is a no to that one. */
		{ "3nkyAy", "[" FIRST("modify_with_editor", ", \"newContent\": \"one\\n2\\n\"", "true")
			", " MODIFIED "\"files\": [" ROW("b", "true",
			", \"newContent\": \"B\\n\"" B_HUNK("true")) ", " ROW("new", "true", "")
			"]}, {\"outcome\": \"proceed_once\"}]" },
		{ "3nnycNot that<enter>ny", "[" FIRST("cancel", "", "false") ", " MODIFIED
			"\"files\": [" ROW("b", "false", B_HUNK("false")) ", " ROW("new", "true", "")
			"]}, {\"outcome\": \"cancel\", \"message\": \"Not that\"}]" },
		{ "2", "[{\"outcome\": \"proceed_once\"}, {\"outcome\": \"proceed_once\"}, "
			"{\"outcome\": \"proceed_once\"}]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ask *ask = review_together();

		if (fixture_type(ask, rows[i].keys) != ASK_DONE)
			fail_msg("%s: the question is not answered", rows[i].keys);
		fixture_expect_answers(ask, rows[i].answers);
		ask_free(ask);
	}
}

/* Whatever keys: it draws, and ends with an answer for each. */
static void any_keys_end_with_answers(void **state)
{
	static const char *const keys[] = {
		"y", "n", "e", "c", "s", "a", "d", "A", "D", "k", "j", "?", "3", "<esc>", "<enter>",
		"<c-s>", "<up>", "<down>", "<pgdn>", "x", "<bs>", "<c-o>", "y", "n", "y", "n",
	};
	unsigned seed = 14;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct ask *ask = review_together();
		json_auto_t *answers = NULL;
		size_t i;
		json_t *answer;
		struct err err = ERR_INIT;

		for (int typed = 0; typed < 400; typed++) {
			struct rows rows = { 0 };
			size_t row;
			unsigned column;

			seed = seed * 1103515245 + 12345;
			if (fixture_type(ask, keys[seed / 65536 % ARRAY_LEN(keys)]) == ASK_DONE)
				break;
			ask_rows(ask, 20 + seed / 65536 % 100, 1 + seed / 65536 % 9, &rows, &row,
			         &column);
			assert_true(row < rows.count);
			rows_release(&rows);
		}
		answers = ask_answers(ask);
		json_array_foreach(answers, i, answer)
			assert_true(bus_check(BUS_TOOL_CONFIRMATION_RESPONSE, answer, &err));
		assert_true(i == 1 || i == 3);
		ask_free(ask);
	}
}

/* What goes while it is gone through takes its files along. */
static void an_edit_that_is_answered_elsewhere_leaves_the_review(void **state)
{
	struct ask *ask = review_together();
	json_auto_t *gone = fixture_parse(LIST(FILE_B ", " FILE_NEW));

	(void)state;
	json_object_set_new(gone, "correlationId", json_string("q-2"));
	json_object_set_new(gone, "callId", json_string("q-2"));
	fixture_type(ask, "3yy");
	ask_unjoin(ask, gone);
	assert_int_equal(fixture_type(ask, "3y"), ASK_OPEN);
	fixture_expect_rows(ask, 100, 2,
		"Apply? [y/n] |\n2 of 2 hunks, in 2 of 2 files. y applies them, n goes back.\n");
	ask_free(ask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_diffs_own_hunks_are_taken),
		cmocka_unit_test(a_diff_that_does_not_fit_is_made_anew),
		cmocka_unit_test(endings_stay),
		cmocka_unit_test(a_hunk_is_split),
		cmocka_unit_test(an_edited_hunk_keeps_the_endings_of_what_stayed),
		cmocka_unit_test(a_last_line_without_an_ending_stays_so),
		cmocka_unit_test(a_new_file_has_one_hunk),
		cmocka_unit_test(any_texts_are_taken_apart),
		cmocka_unit_test(a_hunk_is_shown_with_what_can_be_done),
		cmocka_unit_test(keys_choose),
		cmocka_unit_test(comments_go_along),
		cmocka_unit_test(what_is_left_is_shown_before_it_is_applied),
		cmocka_unit_test(a_long_hunk_scrolls),
		cmocka_unit_test(help_lists_the_keys),
		cmocka_unit_test(lines_are_edited_in_an_external_editor_too),
		cmocka_unit_test(what_a_field_cannot_hold_is_not_edited),
		cmocka_unit_test(several_files_are_gone_through),
		cmocka_unit_test(it_says_which_file_it_is),
		cmocka_unit_test(edits_of_one_reply_are_reviewed_together),
		cmocka_unit_test(any_keys_end_with_answers),
		cmocka_unit_test(an_edit_that_is_answered_elsewhere_leaves_the_review),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
