/* SPDX-License-Identifier: Apache-2.0 */
/* script_merge: what its header says of changes that touch, are alike, or are empty. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diff/diff.h"

/* One text that two changed. */
struct row {
	const char *what, *base, *mine, *theirs;
	const char *merged; /* NULL: the changes touch */
};

static const struct row rows[] = {
	{ "nobody changed anything", "a\nb\n", "a\nb\n", "a\nb\n", "a\nb\n" },
	{ "there is no text at all", "", "", "", "" },
	{ "only they changed something", "a\nb\n", "a\nb\n", "a\nB\n", "a\nB\n" },
	{ "only I changed something", "a\nb\n", "A\nb\n", "a\nb\n", "A\nb\n" },
	{ "a line lies between", "a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n" },
	{ "their lines before mine move it", "a\nb\nc\nd\n", "a\nb\nc\nD\n", "x\ny\na\nb\nc\nd\n",
	  "x\ny\na\nb\nc\nD\n" },
	{ "their deletion before mine moves it", "a\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "b\nc\nd\ne\n",
	  "b\nc\nd\nE\n" },
	{ "theirs on both sides of mine", "a\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n", "x\na\nb\nc\nd\ne\ny\n",
	  "x\na\nb\nC\nd\ne\ny\n" },
	{ "the same line", "a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", NULL },
	{ "adjacent lines", "a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nb\nC\nd\n", NULL },
	{ "adjacent lines, mine the second", "a\nb\nc\nd\n", "a\nb\nC\nd\n", "a\nB\nc\nd\n", NULL },
	{ "an insertion beside their line", "a\nb\nc\n", "a\nx\nb\nc\n", "A\nb\nc\n", NULL },
	{ "an insertion behind their line", "a\nb\nc\n", "a\nx\nb\nc\n", "a\nB\nc\n", NULL },
	{ "two insertions at one place", "a\nb\n", "a\nx\nb\n", "a\ny\nb\n", NULL },
	{ "a deletion around their change", "a\nb\nc\nd\ne\n", "a\ne\n", "a\nb\nC\nd\ne\n", NULL },
	{ "both change a line alike", "a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n", "a\nB\nc\n" },
	{ "both insert alike", "a\nb\n", "a\nx\nb\n", "a\nx\nb\n", "a\nx\nb\n" },
	{ "both delete alike", "a\nb\nc\n", "a\nc\n", "a\nc\n", "a\nc\n" },
	{ "one change alike, one of my own", "a\nb\nc\nd\n", "A\nb\nc\nD\n", "A\nb\nc\nd\n", "A\nb\nc\nD\n" },
	{ "one alike and longer, one of my own behind it", "a\nb\nc\nd\n", "x\ny\na\nb\nc\nD\n",
	  "x\ny\na\nb\nc\nd\n", "x\ny\na\nb\nc\nD\n" },
	{ "both to a text that was empty", "", "x\n", "y\n", NULL },
	{ "both to a text that was empty, alike", "", "x\n", "x\n", "x\n" },
	{ "both delete all", "a\n", "", "", "" },
	{ "I give the end a newline, they the beginning a line", "a\nb\nc", "a\nb\nc\n", "x\na\nb\nc",
	  "x\na\nb\nc\n" },
	{ "they take the newline of the end, I change the beginning", "a\nb\nc\n", "A\nb\nc\n", "a\nb\nc",
	  "A\nb\nc" },
	{ "no newline at the end of any", "a\nb\nc", "A\nb\nc", "a\nb\nC", "A\nb\nC" },
	{ "both append to an end without newline", "a\nb", "a\nb\nx", "a\nb\ny", NULL },
	{ "one takes the newline, the other changes that line", "a\nb\nc\n", "a\nb\nc", "a\nb\nC\n", NULL },
	{ "an insertion that slides to their change", "a\nx\nx\nx\nb\n", "a\nx\nx\nx\nx\nb\n",
	  "a\nx\nx\nx\nB\n", NULL },
	{ "a deletion that slides to their change", "a\nx\nx\nx\nb\n", "a\nx\nx\nb\n", "A\nx\nx\nx\nb\n",
	  NULL },
	{ "an insertion that slides, and stops before their change", "a\nx\nx\nb\nc\nd\n",
	  "a\nx\nx\nx\nb\nc\nd\n", "a\nx\nx\nb\nc\nD\n", "a\nx\nx\nx\nb\nc\nD\n" },
};

struct side {
	struct lines lines;
	struct script script; /* that makes it of the base */
};

static void side_make(struct side *side, const struct lines *base, const char *text)
{
	*side = (struct side){ 0 };
	lines_index(&side->lines, span_str(text));
	diff_lines(base, &side->lines, &side->script);
}

static void side_release(struct side *side)
{
	script_release(&side->script);
	lines_release(&side->lines);
}

/* The merge of `mine` into what `theirs` makes of the base is `merged`. */
static void row_check(const struct row *row, const char *mine, const char *theirs)
{
	_cleanup_lines_ struct lines base = { 0 };
	_cleanup_script_ struct script script = { 0 };
	_cleanup_buf_ struct buf result = BUF_INIT(1000);
	struct side one, other;
	bool merges;

	lines_index(&base, span_str(row->base));
	side_make(&one, &base, mine);
	side_make(&other, &base, theirs);
	merges = script_merge(&base, &one.script, &other.script, &script);
	if (merges != (row->merged != NULL))
		fail_msg("%s: they %s", row->what, merges ? "merge" : "touch");
	if (merges) {
		assert_true(script_apply(&other.lines, &script, &result));
		if (!span_eq(buf_view(&result), span_str(row->merged)))
			fail_msg("%s: \"%.*s\"", row->what, (int)result.len, result.data);
	} else {
		assert_int_equal(script.count, 0);
		assert_null(script.edits);
	}
	side_release(&one);
	side_release(&other);
}

static void changes_merge_when_they_do_not_touch(void **context)
{
	(void)context;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		row_check(&rows[i], rows[i].mine, rows[i].theirs);
}

static void who_comes_first_makes_no_difference(void **context)
{
	(void)context;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		row_check(&rows[i], rows[i].theirs, rows[i].mine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_merge_when_they_do_not_touch),
		cmocka_unit_test(who_comes_first_makes_no_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
