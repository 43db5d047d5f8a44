/* SPDX-License-Identifier: Apache-2.0 */
/* What of the finished rows stands in a window that tmux has wrapped anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tui/term/private.h"

enum { WIDTH = 20, NONE = -1 };

/* The rows that were printed, in all cases. */
static const char *const printed[] = {
	"one of them", "", "two that is longer than the window is wide", "  three",
	"\u56db \u6f22\u6f22\u6f22\u6f22\u6f22\u6f22\u6f22\u6f22\u6f22\u6f22 four", "five",
};

#define ONE "one of them\n\n"
#define TWO "two that is longer t\nhan the window is wi\nde\n"
#define THREE "  three\n"
#define FOUR "\u56db \u6f22\u6f22\u6f22\u6f22\u6f22\u6f22\u6f22\u6f22\n\u6f22\u6f22 four\n"
#define FIVE "five\n"
#define LIVE "\n> draft\nstatus\n"

static const struct {
	const char *what, *text;
	size_t above;
	unsigned row;  /* of the cursor */
	int found;     /* the row in which the live region begins; NONE: it cannot be told */
	size_t again;
} cases[] = {
	{ "all is there", ONE TWO THREE FOUR FIVE LIVE, 0, 10, 9, 0 },
	{ "some of it in the scrollback", ONE TWO THREE FOUR FIVE LIVE, 4, 6, 5, 0 },
	{ "the scrollback begins within a row", "than the window is wi\nde\n" THREE FOUR FIVE LIVE, 1,
	  6, 5, 0 },
	{ "the cursor is a line higher", ONE TWO THREE FOUR FIVE LIVE, 0, 7, 9, 0 },
	{ "what was beneath it is gone", ONE TWO THREE FOUR, 0, 7, 8, 1 },
	{ "the end of a row is gone, too", ONE TWO THREE "\u56db \u6f22\u6f22\u6f22\u6f22\u6f22"
	  "\u6f22\u6f22\u6f22\n", 0, 6, 6, 2 },
	{ "a row that became two lines", ONE "two that\nis longer than the\nwindow is wide\n" THREE
	  FOUR FIVE LIVE, 0, 8, 9, 0 },
	{ "a row is missing among them", ONE TWO FOUR FIVE LIVE, 0, 9, 5, 3 },
	{ "something is between them", ONE TWO "> draft\n" THREE FOUR FIVE LIVE, 0, 11, 5, 3 },
	{ "that is in the scrollback", ONE TWO FOUR FIVE LIVE, 6, 3, 2, 0 },
	{ "all finished rows are", ONE TWO THREE FOUR FIVE LIVE, 10, 0, 0, 0 },
	{ "the same text stands far above", ONE TWO "$ other\n$ other\n$ other\n$ other\n" ONE
	  "two that is longer t\n", 0, 11, 11, 4 },
	{ "nothing of it is there", "$ other\nthings\n", 0, 1, NONE, 0 },
	{ "fewer rows than there are said to be", ONE, 5, 0, NONE, 0 },
	{ "no text at all", "", 0, 0, NONE, 0 },
	{ "no characters", "\xff\xfe\n\x1b[2J\n", 0, 0, NONE, 0 },
};

static void rows_are_found_in_a_window(void **state)
{
	struct wrap_recent *recent = mem_alloc(1, sizeof(*recent));

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(printed); i++) {
		struct row row = { 0 };

		row_text(&row, span_str(printed[i]), STYLE(ROLE_TEXT));
		wrap_remember(recent, &row);
	}
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct tmux_view look = { .columns = WIDTH, .row = cases[i].row,
		                          .above = cases[i].above,
		                          .text = span_str(cases[i].text) };
		size_t row = 0, again = 0;
		bool found;

		for (size_t k = 0; k < look.text.len; k++)
			look.rows += look.text.data[k] == '\n';
		look.rows -= look.rows > cases[i].above ? (unsigned)cases[i].above : 0;
		found = wrap_match(recent, &look, 1, &row, &again);
		if (found != (cases[i].found != NONE) ||
		    (found && (row != (size_t)cases[i].found || again != cases[i].again)))
			fail_msg("%s: %s, row %zu, %zu again", cases[i].what,
			         found ? "found" : "not found", row, again);
	}
	wrap_forget(recent);
	free(recent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_found_in_a_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
