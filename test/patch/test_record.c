/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a diff's lines: each line is assigned once, and to what it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "patch/private.h"
#include "record_check.h"

/* Roles as letters: . prose, < opens, > closes, h header, a anchor, r repeated; a digit is a line
 * of that hunk, 0 the first. */
static void write_roles(const struct diff_text *diff, char *ret)
{
	static const char letters[] = "?.<>h0ar";

	for (size_t i = 0; i < diff->record_count; i++)
		ret[i] = diff->record[i].role == LINE_HUNK ? (char)('0' + diff->record[i].of) :
		                                             letters[diff->record[i].role];
	ret[diff->record_count] = '\0';
}

static const struct row {
	const char *base, *diff, *roles;
} rows[] = {
	{ "a\n", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", "hhh00h" },
	{ "a\n", "Words:\n- list\n\n```diff\n@@\n-a\n+b\n```\n- that\n+ is all\n", "...<h00>.." },
	{ "a\nb\n", "*** Begin Patch\n*** Update File: x\n a\n-b\n+c\n*** End of File\n"
	            "*** End Patch\n- words\n", "<h000h>." },
	{ "a\nb\nc\n", "*** Begin Patch\n*** Update File: x\n@@ a\n@@\n b\n-c\n+C\n*** End Patch\n",
	  "<hah000>" },
	{ "a\n", "cat > p <<'EOF'\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nEOF\n", "<hhh00>" },
	{ "a\n", "<diff>\n@@ -1 +1 @@\n-a\n+b\n</diff>\n+ words\n", "<h00>." },
	{ "a\n", "Subject: x\n\n- item\n\n    @@ -1 +1 @@\n    -q\n---\n x | 2 +-\n\n"
	         "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n"
	         "2.39.2\n\n- footer\n", ">.....>..hhhhh00>..." },
	{ "a\n", "@@ -1 +1 @@\n-a\n+b\n\nNotes:\n- one\n+ two\n", "h00...." },
	{ "a\n-\n", "@@ -1,2 +1,1 @@\n-a\n+A\n--\n", "h000" },
	{ "a\nIndex: x\n", "@@ -1,2 +1,2 @@\n-a\n+b\nIndex: x\n", "h000" },
	{ "1\n2\n3\n", "@@ -3 +3 @@\n-3\n+c\n@@ -3 +3 @@\n-3\n+c\n", "h00hrr" },
	{ "-- x\nb\n", "--- x\n+++ x\n@@ -1,2 +1,2 @@\n b\n--- x\n+++ x\n@@ -9 +9 @@\n-q\n+r\n",
	  "hhh000h11" },
	{ "b\nq\n", "--- x\n+++ x\n@@ -1,2 +1,2 @@\n-b\n+c\n--- x\n+++ x\n@@ -2 +2 @@\n-q\n+r\n",
	  "hhh0000h11" },
};

static void test_lines_are_recorded_as_what_they_are(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct diff_text diff;
		struct err err = ERR_INIT;
		struct lines base;
		char roles[256];
		size_t line;
		bool ok;

		lines_index(&base, span_str(rows[i].base));
		ok = parse_diff(span_str(rows[i].diff), &diff, &line, &err) &&
		     candidates_read_doubts(&base, &diff, &line, &err);
		if (!ok)
			print_message("row %zu: %s\n", i, err.message);
		assert_true(ok);
		write_roles(&diff, roles);
		assert_string_equal(roles, rows[i].roles);
		parse_diff_release(&diff);
		lines_release(&base);
	}
}

/* ---- any text --------------------------------------------------------------------- */

enum { TEXTS = 20000, LINES_MAX = 24 };

static const char *const words[] = {
	"@@\n", "@@ -1,2 +1,2 @@\n", "@@ -1 +1 @@\n", "@@ def f(): @@\n", "@@ line 4 @@\n", " one\n",
	"-two\n", "+TWO\n", "\n", "--- a/x\n", "+++ b/x\n", "--- x\n", "+++ x\n", "diff --git a/x b/x\n",
	"Index: x\n", "*** Begin Patch\n", "*** Update File: x\n", "*** End Patch\n",
	"*** End of File\n", "```diff\n", "```\n", "```yaml\n", "cat <<EOF\n", "EOF\n", "<diff>\n",
	"</diff>\n", "words\n", "- item\n", "+ item\n", "-- \n", "2.39.2\n", "---\n", " x | 2 +-\n",
	"From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n", "Subject: x\n",
	"    @@ -1 +1 @@\n", "    -a\n", "\\ No newline at end of file\n", "index 1..2\n", "-\n", "+\n",
	"bare", " ", "\t@@\n", "*** Move to: x\n", "-one\r\n",
};

/* As rand_r, but the same everywhere. */
static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16;
}

static void check_text(struct span text, const struct lines *base)
{
	struct diff_text diff;
	struct err err = ERR_INIT;
	const char *why;
	size_t line;

	if (!parse_diff(text, &diff, &line, &err)) {
		assert_true(err.code != ERR_NONE && err.code != ERR_INTERNAL);
		return;
	}
	why = record_complain(text, &diff, &line);
	if (why)
		print_message("line %zu: %s, in\n%.*s", line, why, (int)text.len, text.data);
	assert_null(why);
	if (candidates_read_doubts(base, &diff, &line, &err)) {
		size_t in_hunks = 0, recorded = 0;

		for (size_t h = 0; h < diff.hunk_count; h++)
			in_hunks += diff.hunks[h].count;
		for (size_t i = 0; i < diff.record_count; i++)
			recorded += diff.record[i].role == LINE_HUNK;
		assert_int_equal(in_hunks, recorded);
	}
	parse_diff_release(&diff);
}

static void test_every_line_of_any_text_is_assigned_once(void **state)
{
	unsigned seed = 1;
	struct lines base;

	(void)state;
	lines_index(&base, SPAN("one\ntwo\nthree\none\n"));
	for (size_t i = 0; i < TEXTS; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);
		size_t count = 1 + next_random(&seed) % LINES_MAX;

		for (size_t k = 0; k < count; k++)
			buf_str(&text, words[next_random(&seed) % ARRAY_LEN(words)]);
		check_text(buf_view(&text), &base);
	}
	lines_release(&base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_are_recorded_as_what_they_are),
		cmocka_unit_test(test_every_line_of_any_text_is_assigned_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
