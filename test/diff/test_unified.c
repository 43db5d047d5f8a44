/* SPDX-License-Identifier: Apache-2.0 */
/* script_print, on scripts that a diff would not make as well; and reading a diff to show it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "diff/diff.h"
#include "diff/unified.h"

static void assert_print(const char *base, const struct edit *edits, size_t count,
                         struct script_print_options options, const char *expected)
{
	_cleanup_lines_ struct lines lines = { 0 };
	_cleanup_script_ struct script script = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);

	lines_index(&lines, span_str(base));
	for (size_t i = 0; i < count; i++)
		script_add(&script, edits[i]);
	assert_true(script_print(&out, &lines, &script, &options));
	assert_string_equal(out.data ? out.data : "", expected);
}

static const char ten[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

static void an_empty_script_prints_nothing(void **context)
{
	(void)context;
	assert_print(ten, NULL, 0, (struct script_print_options){ "a/x", "b/x", 3 }, "");
}

static void hunks_are_merged_when_their_context_touches(void **context)
{
	const struct edit near[] = { { 1, 1, SPAN("b\n") }, { 6, 1, SPAN("g\n") } };
	const struct edit far[] = { { 1, 1, SPAN("b\n") }, { 7, 1, SPAN("h\n") } };
	const struct script_print_options two = { NULL, NULL, 2 };

	(void)context;
	assert_print(ten, near, 2, two,
	             "@@ -1,9 +1,9 @@\n 1\n-2\n+b\n 3\n 4\n 5\n 6\n-7\n+g\n 8\n 9\n");
	assert_print(ten, far, 2, two,
	             "@@ -1,4 +1,4 @@\n 1\n-2\n+b\n 3\n 4\n@@ -6,5 +6,5 @@\n 6\n 7\n-8\n+h\n 9\n"
	             " 10\n");
}

static void without_context_an_insertion_names_the_line_before(void **context)
{
	const struct edit edits[] = { { 0, 0, SPAN("0\n") }, { 4, 0, SPAN("x\ny\n") },
		                      { 9, 1, SPAN("") } };

	(void)context;
	assert_print(ten, edits, 3, (struct script_print_options){ NULL, NULL, 0 },
	             "@@ -0,0 +1 @@\n+0\n@@ -4,0 +6,2 @@\n+x\n+y\n@@ -10 +12,0 @@\n-10\n");
}

static void edits_that_touch_are_shown_as_one(void **context)
{
	const struct edit edits[] = { { 1, 0, SPAN("a\n") }, { 1, 1, SPAN("b\n") },
		                      { 2, 1, SPAN("c\n") } };

	(void)context;
	assert_print(ten, edits, 3, (struct script_print_options){ NULL, NULL, 1 },
	             "@@ -1,4 +1,5 @@\n 1\n-2\n-3\n+a\n+b\n+c\n 4\n");
}

static void the_largest_context_shows_the_whole_text(void **context)
{
	const struct edit edits[] = { { 0, 1, SPAN("x\n") }, { 3, 1, SPAN("") } };

	(void)context;
	assert_print("1\n2\n3\n4\n", edits, 2,
	             (struct script_print_options){ NULL, NULL, SIZE_MAX },
	             "@@ -1,4 +1,3 @@\n-1\n+x\n 2\n 3\n-4\n");
}

static void missing_newlines_are_marked_on_each_side(void **context)
{
	const struct edit both[] = { { 1, 1, SPAN("x") } };
	const struct edit context_only[] = { { 0, 1, SPAN("x\n") } };
	const struct script_print_options one = { NULL, NULL, 1 };

	(void)context;
	assert_print("1\n2", both, 1, one,
	             "@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+x\n"
	             "\\ No newline at end of file\n");
	assert_print("1\n2", context_only, 1, one,
	             "@@ -1,2 +1,2 @@\n-1\n+x\n 2\n\\ No newline at end of file\n");
}

static void names_are_quoted_as_git_quotes_them(void **context)
{
	const struct edit edits[] = { { 0, 0, SPAN("x\n") } };

	(void)context;
	assert_print("", edits, 1, (struct script_print_options){ "/dev/null", "b/plain name", 3 },
	             "--- /dev/null\n+++ b/plain name\t\n@@ -0,0 +1 @@\n+x\n");
	assert_print("", edits, 1,
	             (struct script_print_options){ "a/\"q\"\\\t\n\x01", "b/\xc3\xa9", 3 },
	             "--- \"a/\\\"q\\\"\\\\\\t\\n\\001\"\n+++ \"b/\\303\\251\"\n@@ -0,0 +1 "
	             "@@\n+x\n");
}

static void a_full_buffer_is_reported(void **context)
{
	_cleanup_lines_ struct lines lines = { 0 };
	_cleanup_script_ struct script script = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT(16);

	(void)context;
	lines_index(&lines, span_str(ten));
	script_add(&script, (struct edit){ 4, 1, SPAN("a longer line than fits\n") });
	assert_false(script_print(&out, &lines, &script,
	                          &(struct script_print_options){ .context = 3 }));
	buf_clear(&out);
	assert_false(script_apply(&lines, &script, &out));
}

/* What unified_next gives, as text: a letter for the kind of a block; of a line its numbers and
 * its text, with [brackets] around what differs from the paired line. */
static void print_line(struct buf *out, const struct unified_line *line)
{
	size_t at = 0;

	buf_printf(out, " %zu,%zu%c", line->old_number, line->new_number,
	           line->sign ? line->sign : '.');
	for (size_t i = 0; i < line->end_count; i++) {
		buf_span(out, span_of(line->text.data + at, line->ends[i] - at));
		buf_char(out, i % 2 ? ']' : '[');
		at = line->ends[i];
	}
	buf_span(out, span_skip(line->text, at));
	if (line->note.len)
		buf_str(out, "!");
}

static void assert_read(const char *text, bool words, size_t digits, const char *expected)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);
	_cleanup_unified_ struct unified unified;
	struct unified_block block;

	unified_init(&unified, span_str(text), words);
	while (unified_next(&unified, &block)) {
		buf_char(&out, "H@=*N"[block.kind]);
		if (block.kind == UNIFIED_HUNK && block.header.old_count != SIZE_MAX)
			buf_printf(&out, "%zu,%zu %zu,%zu", block.header.old_at,
			           block.header.old_count, block.header.new_at,
			           block.header.new_count);
		for (size_t i = 0; i < block.count; i++)
			print_line(&out, &block.lines[i]);
		buf_char(&out, '\n');
	}
	assert_string_equal(out.data ? out.data : "", expected);
	assert_int_equal(unified_digits(span_str(text)), digits);
}

static void a_diff_is_read_by_the_counts_of_its_hunks(void **context)
{
	(void)context;
	assert_read("--- a/x\n+++ b/x\n@@ -9,3 +9,3 @@ f\n a\n--- x\n+++ y\n b\n", false, 2,
	            "H 0,0.--- a/x\nH 0,0.+++ b/x\n@9,3 9,3 0,0.@@ -9,3 +9,3 @@ f\n= 9,9 a\n"
	            "* 10,0--- x 0,10+++ y\n= 11,11 b\n");
	assert_read("@@ -1 +100,2 @@\n-a\n+b\n+c\n", false, 3,
	            "@1,1 100,2 0,0.@@ -1 +100,2 @@\n* 1,0-a 0,100+b 0,101+c\n");
	assert_read("@@ -x +1 @@\n a\nno hunk\n", false, 1,
	            "@ 0,0.@@ -x +1 @@\n= 0,0 a\nH 0,0.no hunk\n");
}

static void words_that_differ_are_found_in_pairs_of_lines(void **context)
{
	_cleanup_buf_ struct buf longer = BUF_INIT(1 << 16), expected = BUF_INIT(1 << 16);

	(void)context;
	assert_read("@@ -1,2 +1 @@\n-int one = f(a,  b);\n-x\n+int two = f(a,  c);\n", true, 1,
	            "@1,2 1,1 0,0.@@ -1,2 +1 @@\n"
	            "* 1,0-int [one] = f(a,  [b]); 2,0-x 0,1+int [two] = f(a,  [c]);\n");
	/* Nearly all of it differs: that is another line. */
	assert_read("@@ -1 +1 @@\n-one two three\n+quite another\n", true, 1,
	            "@1,1 1,1 0,0.@@ -1 +1 @@\n* 1,0-one two three 0,1+quite another\n");
	buf_str(&longer, "@@ -1 +1 @@\n-a ");
	for (size_t i = 0; i < 1000; i++)
		buf_char(&longer, 'x');
	buf_str(&expected, "@1,1 1,1 0,0.@@ -1 +1 @@\n* 1,0");
	buf_str(&expected, longer.data + strlen("@@ -1 +1 @@\n"));
	buf_str(&longer, "\n+b\n");
	buf_str(&expected, " 0,1+b\n");
	assert_read(longer.data, true, 1, expected.data);
}

static void notes_and_line_ends_are_no_text(void **context)
{
	(void)context;
	assert_read("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", false, 1,
	            "@1,1 1,1 0,0.@@ -1 +1 @@\n* 1,0-a! 0,1+b\n");
	assert_read("@@ -1 +1 @@\n a\n\\ No newline at end of file\n", false, 1,
	            "@1,1 1,1 0,0.@@ -1 +1 @@\n= 1,1 a\nN 0,0.\\ No newline at end of file\n");
	assert_read("@@ -1 +1 @@\r\n-a\r\n+b\r\n", false, 1,
	            "@1,1 1,1 0,0.@@ -1 +1 @@\r\n* 1,0-a 0,1+b\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_script_prints_nothing),
		cmocka_unit_test(hunks_are_merged_when_their_context_touches),
		cmocka_unit_test(without_context_an_insertion_names_the_line_before),
		cmocka_unit_test(edits_that_touch_are_shown_as_one),
		cmocka_unit_test(the_largest_context_shows_the_whole_text),
		cmocka_unit_test(missing_newlines_are_marked_on_each_side),
		cmocka_unit_test(names_are_quoted_as_git_quotes_them),
		cmocka_unit_test(a_full_buffer_is_reported),
		cmocka_unit_test(a_diff_is_read_by_the_counts_of_its_hunks),
		cmocka_unit_test(words_that_differ_are_found_in_pairs_of_lines),
		cmocka_unit_test(notes_and_line_ends_are_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
