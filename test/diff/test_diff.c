/* SPDX-License-Identifier: Apache-2.0 */
/* diff_lines: right on every text, shortest where that can be computed, in
 * reasonable time on any, and readable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "diff/diff.h"
#include "meter.h"
#include "part.h"

static uint64_t random_next(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t z = *state;

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static size_t random_below(uint64_t *state, size_t n)
{
	return (size_t)(random_next(state) % n);
}

/* `count` lines out of `kinds` different ones, the last perhaps without newline. */
static void random_text(uint64_t *state, size_t count, size_t kinds, struct buf *out)
{
	buf_clear(out);
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "line %zu\n", random_below(state, kinds));
	if (count > 0 && random_below(state, 3) == 0)
		out->len--;
}

/* The number of lines added and removed; fails when the script is not right. */
static size_t check_script(struct span old_text, struct span new_text)
{
	_cleanup_lines_ struct lines old_lines = { 0 }, new_lines = { 0 };
	_cleanup_script_ struct script script = { 0 };
	_cleanup_buf_ struct buf result = BUF_INIT((size_t)1 << 30);
	size_t added, removed;

	lines_index(&old_lines, old_text);
	lines_index(&new_lines, new_text);
	diff_lines(&old_lines, &new_lines, &script);
	for (size_t i = 0; i < script.count; i++) {
		assert_true(script.edits[i].remove > 0 || script.edits[i].insert.len > 0);
		if (i > 0)
			assert_true(script.edits[i].at >
			            script.edits[i - 1].at + script.edits[i - 1].remove);
	}
	assert_true(script_apply(&old_lines, &script, &result));
	assert_true(span_eq(buf_view(&result), new_text));
	script_stat(&script, &added, &removed);
	assert_int_equal(new_lines.count, old_lines.count + added - removed);
	return added + removed;
}

/* The length of a shortest script, by the textbook table. */
static size_t shortest(struct span old_text, struct span new_text)
{
	_cleanup_lines_ struct lines a = { 0 }, b = { 0 };
	size_t *row, result;

	lines_index(&a, old_text);
	lines_index(&b, new_text);
	row = mem_alloc(b.count + 1, sizeof(*row));
	for (size_t i = 0; i < a.count; i++) {
		size_t diagonal = 0;

		for (size_t j = 0; j < b.count; j++) {
			size_t above = row[j + 1];

			if (span_eq(lines_at(&a, i), lines_at(&b, j)))
				row[j + 1] = diagonal + 1;
			else if (row[j] > above)
				row[j + 1] = row[j];
			diagonal = above;
		}
	}
	result = a.count + b.count - 2 * row[b.count];
	free(row);
	return result;
}

static void a_script_turns_old_into_new_and_none_is_shorter(void **context)
{
	uint64_t state = 1;
	_cleanup_buf_ struct buf a = BUF_INIT(1 << 20), b = BUF_INIT(1 << 20);

	(void)context;
	for (int round = 0; round < 3000; round++) {
		size_t kinds = 1 + random_below(&state, 12);

		random_text(&state, random_below(&state, 40), kinds, &a);
		random_text(&state, random_below(&state, 40), kinds, &b);
		assert_int_equal(check_script(buf_view(&a), buf_view(&b)),
		                 shortest(buf_view(&a), buf_view(&b)));
	}
}

static void edited_texts_give_short_scripts(void **context)
{
	uint64_t state = 2;

	(void)context;
	for (int round = 0; round < 100; round++) {
		_cleanup_buf_ struct buf a = BUF_INIT(1 << 20), b = BUF_INIT(1 << 20);
		size_t edits = 0;
		struct span rest, line;

		random_text(&state, 500, 60, &a);
		rest = buf_view(&a);
		while (line_next(&rest, &line)) {
			if (random_below(&state, 25) == 0) {
				edits++;
				continue;
			}
			if (random_below(&state, 25) == 0) {
				edits++;
				buf_printf(&b, "line %zu\n", random_below(&state, 60));
			}
			buf_span(&b, line);
		}
		assert_true(check_script(buf_view(&a), buf_view(&b)) <= edits);
	}
}

static double yards_for(struct span a, struct span b)
{
	struct meter meter = meter_start();

	check_script(a, b);
	return meter_yards(&meter);
}

/* Quadratic behaviour would take ten times as many. */
#define YARDS_MAX 10000

/* Whether diff_text's script is right, and that of diff_lines. */
static void check_text_script(struct span old_text, struct span new_text)
{
	_cleanup_lines_ struct lines old_lines = { 0 }, new_lines = { 0 };
	_cleanup_script_ struct script script = { 0 }, whole = { 0 };
	_cleanup_buf_ struct buf result = BUF_INIT((size_t)1 << 30);

	lines_index(&old_lines, old_text);
	lines_index(&new_lines, new_text);
	diff_text(&old_lines, new_text, &script);
	diff_lines(&old_lines, &new_lines, &whole);
	assert_true(script_apply(&old_lines, &script, &result));
	assert_true(span_eq(buf_view(&result), new_text));
	assert_int_equal(script.count, whole.count);
	for (size_t i = 0; i < script.count; i++) {
		assert_int_equal(script.edits[i].at, whole.edits[i].at);
		assert_int_equal(script.edits[i].remove, whole.edits[i].remove);
		assert_true(span_eq(script.edits[i].insert, whole.edits[i].insert));
	}
}

/* Bytes are cut at the ends of long texts, wherever in a line they differ. */
static void long_texts_give_the_same_scripts_as_their_lines(void **context)
{
	static const char *const pieces[] = { "", "x", "\n", "line 1\n", "x\ny", "\n\n\n" };
	_cleanup_buf_ struct buf old_text = BUF_INIT(4 << 20), new_text = BUF_INIT(4 << 20);
	uint64_t state = 45;

	(void)context;
	random_text(&state, 60000, 100000, &old_text);
	check_text_script(buf_view(&old_text), buf_view(&old_text));
	check_text_script(span_of("", 0), buf_view(&old_text));
	check_text_script(buf_view(&old_text), span_of("", 0));
	for (size_t i = 0; i < 60; i++) {
		const struct span text = buf_view(&old_text);
		const size_t spread = i % 3 == 0 ? text.len : 3000;
		const size_t from = i % 5 == 0 ? 0 : random_below(&state, text.len - spread + 1);
		const size_t at = from + random_below(&state, i % 7 == 0 ? 2 : spread);
		const size_t gone = random_below(&state, 12), rest = text.len - at;

		buf_clear(&new_text);
		buf_span(&new_text, span_head(text, at));
		buf_str(&new_text, pieces[i % ARRAY_LEN(pieces)]);
		buf_span(&new_text, span_skip(text, at + (gone < rest ? gone : rest)));
		if (i % 4 == 0)
			buf_str(&new_text, pieces[random_below(&state, ARRAY_LEN(pieces))]);
		check_text_script(text, buf_view(&new_text));
		check_text_script(buf_view(&new_text), text);
	}
}

static void two_random_long_texts_are_compared_in_near_linear_time(void **context)
{
	static const size_t kinds[] = { 1, 2, 10, 1000, 1000000 };
	uint64_t state = 3;

	(void)context;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i += part_step(2)) {
		_cleanup_buf_ struct buf a = BUF_INIT(1 << 24), b = BUF_INIT(1 << 24);
		double yards;

		random_text(&state, 100000, kinds[i], &a);
		random_text(&state, 100000, kinds[i], &b);
		yards = yards_for(buf_view(&a), buf_view(&b));
		print_message("100000 lines of %zu kinds: %.0f yards\n", kinds[i], yards);
		assert_true(yards < YARDS_MAX);
	}
}

static void many_slidable_changes_in_equal_lines_take_linear_time(void **context)
{
	_cleanup_buf_ struct buf a = BUF_INIT(1 << 24), b = BUF_INIT(1 << 24);
	double yards;

	(void)context;
	for (int i = 0; i < 100000; i++)
		buf_str(&a, "x\n");
	for (int i = 0; i < 100000; i++)
		buf_str(&b, i % 4 == 3 && i > 50000 ? "y\nx\n" : "x\n");
	yards = yards_for(buf_view(&a), buf_view(&b));
	assert_true(yards < YARDS_MAX);
	yards = yards_for(buf_view(&b), buf_view(&a));
	assert_true(yards < YARDS_MAX);
}

static void equal_texts_give_an_empty_script(void **context)
{
	(void)context;
	assert_int_equal(check_script(SPAN(""), SPAN("")), 0);
	assert_int_equal(check_script(SPAN("a"), SPAN("a")), 0);
	assert_int_equal(check_script(SPAN("a\nb\n"), SPAN("a\nb\n")), 0);
}

static void a_missing_final_newline_is_a_difference(void **context)
{
	(void)context;
	assert_int_equal(check_script(SPAN("a\nb\n"), SPAN("a\nb")), 2);
	assert_int_equal(check_script(SPAN("a"), SPAN("a\n")), 2);
	assert_int_equal(check_script(SPAN("a"), SPAN("a\nb")), 3);
	assert_int_equal(check_script(SPAN("b"), SPAN("qb")), 2);
	assert_int_equal(check_script(SPAN("p\nx\n"), SPAN("qx\n")), 3);
	assert_int_equal(check_script(SPAN("x\ny"), SPAN("y")), 1);
}

static void assert_diff(const char *old_text, const char *new_text, const char *expected)
{
	_cleanup_lines_ struct lines old_lines = { 0 }, new_lines = { 0 };
	_cleanup_script_ struct script script = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	lines_index(&old_lines, span_str(old_text));
	lines_index(&new_lines, span_str(new_text));
	diff_lines(&old_lines, &new_lines, &script);
	assert_true(script_print(&out, &old_lines, &script,
	                         &(struct script_print_options){ .context = 1 }));
	assert_string_equal(out.data ? out.data : "", expected);
}

static void a_new_function_is_shown_whole(void **context)
{
	(void)context;
	assert_diff("int a(void)\n{\n\treturn 1;\n}\n\nint c(void)\n{\n\treturn 3;\n}\n",
	            "int a(void)\n{\n\treturn 1;\n}\n\nint b(void)\n{\n\treturn 2;\n}\n\n"
	            "int c(void)\n{\n\treturn 3;\n}\n",
	            "@@ -5,2 +5,7 @@\n \n+int b(void)\n+{\n+\treturn 2;\n+}\n+\n int c(void)\n");
}

static void a_removed_block_begins_with_its_head(void **context)
{
	(void)context;
	assert_diff("if a:\n    x()\n    end()\nif b:\n    y()\n    end()\nif c:\n    z()\n    end()\n",
	            "if a:\n    x()\n    end()\nif c:\n    z()\n    end()\n",
	            "@@ -3,5 +3,2 @@\n     end()\n-if b:\n-    y()\n-    end()\n if c:\n");
}

static void a_new_branch_begins_with_its_condition(void **context)
{
	(void)context;
	assert_diff("  if (a) {\n    x();\n    return 1;\n  } else {\n    z();\n  }\n",
	            "  if (a) {\n    x();\n    return 1;\n  } else if (b) {\n    y();\n"
	            "    return 1;\n  } else {\n    z();\n  }\n",
	            "@@ -3,2 +3,5 @@\n     return 1;\n+  } else if (b) {\n+    y();\n"
	            "+    return 1;\n   } else {\n");
}

static void a_new_block_ends_with_its_brace(void **context)
{
	(void)context;
	assert_diff("if (a) {\n\tfoo();\n}\nend\n",
	            "if (a) {\n\tfoo();\n}\nif (b) {\n\tfoo();\n}\nend\n",
	            "@@ -3,2 +3,5 @@\n }\n+if (b) {\n+\tfoo();\n+}\n end\n");
}

static void a_repeated_line_is_added_after_its_likes(void **context)
{
	(void)context;
	assert_diff("a\nb\nb\nc\n", "a\nb\nb\nb\nc\n", "@@ -3,2 +3,3 @@\n b\n+b\n c\n");
}

static void changes_that_come_to_touch_are_joined(void **context)
{
	(void)context;
	/* The removal of one x can slide down to the line that became q. */
	assert_diff("x\nx\nx\np\nz\n", "x\nx\nq\nz\n", "@@ -2,4 +2,3 @@\n x\n-x\n-p\n+q\n z\n");
}

/* And what is no escape is left as it is. */
static void a_quoted_name_is_read_as_it_was(void **state)
{
	static const char *const names[] = { "n\303\266t.md", "a\tb\nc", "\"q\"\\x", "\\303", "\x7f\x01" };
	static const char odd[] = "\\ \\39 \\400 \\";

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(256);
		_cleanup_free_ char *read = NULL;

		script_print_name(&out, "", names[i]);
		assert_true(out.len > 3 && out.data[0] == '"' && out.data[out.len - 2] == '"');
		read = script_unquote_name(span_of(out.data + 1, out.len - 3));
		assert_string_equal(read, names[i]);
	}
	_cleanup_free_ char *same = script_unquote_name(span_str(odd));
	assert_string_equal(same, odd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_script_turns_old_into_new_and_none_is_shorter),
		cmocka_unit_test(edited_texts_give_short_scripts),
		cmocka_unit_test(long_texts_give_the_same_scripts_as_their_lines),
		cmocka_unit_test(two_random_long_texts_are_compared_in_near_linear_time),
		cmocka_unit_test(many_slidable_changes_in_equal_lines_take_linear_time),
		cmocka_unit_test(equal_texts_give_an_empty_script),
		cmocka_unit_test(a_missing_final_newline_is_a_difference),
		cmocka_unit_test(a_new_function_is_shown_whole),
		cmocka_unit_test(a_removed_block_begins_with_its_head),
		cmocka_unit_test(a_new_branch_begins_with_its_condition),
		cmocka_unit_test(a_new_block_ends_with_its_brace),
		cmocka_unit_test(a_repeated_line_is_added_after_its_likes),
		cmocka_unit_test(changes_that_come_to_touch_are_joined),
		cmocka_unit_test(a_quoted_name_is_read_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
