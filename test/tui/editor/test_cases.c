/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the files of cases: keys typed, and what the draft must be then.
 *
 *     a sentence about what must hold
 *     keys: abc<left>X
 *     draft: abX|c
 *
 * A blank line ends a case; "#" begins a comment. Before "keys": "history: one // two",
 * "offers: word word" (candidates for the word before the caret), "vim", "width: 20". After
 * "draft": "action: submit" of the last key, "mode: SEARCH", "text:" with placeholders expanded,
 * "candidate:" the selected one, "row:" one for each row shown.  "keys" and what follows may come again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/editor/private.h"
#include "typing.h"

enum { ROWS_MAX = 5 };

static const char *folder; /* of the files */

struct test_case {
	char name[200];
	struct editor *editor;
	enum editor_action action;
	char offers[10][40];
	size_t offer_count;
	unsigned width;
	struct rows rows;
	size_t next_row;
	unsigned line;
	size_t wrong;
};

static const char *const actions[] = { "ignored", "changed", "submit", "queue", "external" };

static void offer_words(void *data, struct editor *editor, struct span text, size_t caret)
{
	struct test_case *test = data;
	size_t from = caret;

	while (from && text.data[from - 1] != ' ' && text.data[from - 1] != '\n')
		from--;
	struct span word = span_of(text.data + from, caret - from);
	for (size_t i = 0; (word.len || text.data[0] == '/') && i < test->offer_count; i++)
		if (span_starts(span_str(test->offers[i]), word))
			editor_offer(editor, from, caret, span_str(test->offers[i]),
			             span_str(test->offers[i]), span_str(""));
}

static struct editor *case_editor(struct test_case *test)
{
	struct editor_options options = { .complete = offer_words, .data = test };

	if (!test->editor)
		test->editor = editor_new(&options);
	return test->editor;
}

static void expect(struct test_case *test, const char *what, struct span wanted, struct span is)
{
	if (span_eq(wanted, is))
		return;
	test->wrong++;
	print_error("line %u: %s: %s is \"%.*s\", not \"%.*s\"\n", test->line, test->name, what,
	            (int)is.len, is.data ? is.data : "", (int)wanted.len, wanted.data);
}

static void lay_out(struct test_case *test)
{
	size_t row;
	unsigned column;

	rows_release(&test->rows);
	test->next_row = 0;
	editor_layout(case_editor(test), NULL, test->width ? test->width : 80, ROWS_MAX,
	              &test->rows, &row, &column);
	if (row >= test->rows.count || column >= (test->width ? test->width : 80)) {
		test->wrong++;
		print_error("line %u: %s: the caret is outside of the rows\n", test->line,
		            test->name);
	}
}

static void set_history(struct test_case *test, struct span rest)
{
	while (rest.len) {
		const char *end = memmem(rest.data, rest.len, " // ", 4);
		struct span one = span_head(rest, end ? (size_t)(end - rest.data) : rest.len);
		_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

		unescape(&text, one);
		editor_history_add(case_editor(test), buf_view(&text));
		rest = span_skip(rest, one.len + 4);
	}
}

static void set_offers(struct test_case *test, struct span rest)
{
	while (rest.len) {
		const char *end = memchr(rest.data, ' ', rest.len);
		struct span word = span_head(rest, end ? (size_t)(end - rest.data) : rest.len);

		snprintf(test->offers[test->offer_count++], 40, "%.*s", (int)word.len, word.data);
		rest = span_skip(rest, word.len + 1);
	}
}

static void expect_row(struct test_case *test, struct span wanted)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(1 << 20);

	if (test->next_row < test->rows.count)
		row_plain(&test->rows.at[test->next_row++], &plain);
	else
		buf_str(&plain, "(no row)");
	while (plain.len && plain.data[plain.len - 1] == ' ')
		plain.len--;
	expect(test, "a row", wanted, buf_view(&plain));
}

static void expect_draft(struct test_case *test, struct span wanted)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(4 << 20);

	show_draft(case_editor(test), &shown);
	expect(test, "the draft", wanted, buf_view(&shown));
}

static void expect_text(struct test_case *test, struct span wanted)
{
	_cleanup_free_ char *text = editor_text(case_editor(test));
	_cleanup_buf_ struct buf meant = BUF_INIT(4 << 20);

	unescape(&meant, wanted);
	expect(test, "the text", buf_view(&meant), span_str(text));
}

static void run_line(struct test_case *test, struct span key, struct span value)
{
	struct editor *editor = case_editor(test);

	if (span_eq(key, SPAN("vim"))) {
		editor_set_vim(editor, true);
	} else if (span_eq(key, SPAN("width"))) {
		test->width = (unsigned)strtoul(value.data, NULL, 10);
		lay_out(test);
	} else if (span_eq(key, SPAN("history"))) {
		set_history(test, value);
	} else if (span_eq(key, SPAN("offers"))) {
		set_offers(test, value);
	} else if (span_eq(key, SPAN("keys"))) {
		test->action = type_keys(editor, value);
		lay_out(test);
	} else if (span_eq(key, SPAN("draft"))) {
		expect_draft(test, value);
	} else if (span_eq(key, SPAN("action"))) {
		expect(test, "the action", value, span_str(actions[test->action]));
	} else if (span_eq(key, SPAN("mode"))) {
		expect(test, "the mode", value, span_str(editor_mode(editor)));
	} else if (span_eq(key, SPAN("sign"))) {
		expect(test, "the sign", value, span_trim(span_str(editor_sign(editor))));
	} else if (span_eq(key, SPAN("text"))) {
		expect_text(test, value);
	} else if (span_eq(key, SPAN("candidate"))) {
		const struct draft_completions *all = &editor->candidates;

		expect(test, "the candidate", value,
		       span_str(all->count ? all->at[all->selected].label : "none"));
	} else if (span_eq(key, SPAN("row"))) {
		expect_row(test, value);
	} else {
		test->wrong++;
		print_error("line %u: what is \"%.*s\"?\n", test->line, (int)key.len, key.data);
	}
}

static void end_case(struct test_case *test)
{
	editor_free(test->editor);
	rows_release(&test->rows);
	*test = (struct test_case){ .line = test->line, .wrong = test->wrong };
}

static char *read_cases(const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", folder, name);
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	FILE *file = fopen(path, "re");
	char piece[4096];

	assert_non_null(file);
	for (size_t n; (n = fread(piece, 1, sizeof(piece), file)) > 0;)
		buf_append(&text, piece, n);
	fclose(file);
	return buf_steal(&text);
}

static void run_cases(const char *name)
{
	_cleanup_free_ char *text = read_cases(name);
	struct span rest = span_str(text), line;
	struct test_case test = { 0 };
	size_t count = 0;

	while (line_next(&rest, &line)) {
		const char *colon;

		line = line_body(line);
		test.line++;
		if (span_starts(line, SPAN("#")))
			continue;
		if (!line.len) {
			end_case(&test);
			continue;
		}
		if (!test.name[0]) {
			snprintf(test.name, sizeof(test.name), "%.*s", (int)line.len, line.data);
			count++;
			continue;
		}
		colon = memchr(line.data, ':', line.len);
		size_t at = colon ? (size_t)(colon - line.data) : line.len;
		struct span value = span_skip(line, at + 1);
		value = span_skip(value, span_starts(value, SPAN(" ")));
		run_line(&test, span_head(line, at), value);
	}
	end_case(&test);
	assert_true(count > 10);
	assert_int_equal(test.wrong, 0);
}

static void editing_cases_hold(void **state)
{
	(void)state;
	run_cases("editing.cases");
}

static void vim_cases_hold(void **state)
{
	(void)state;
	run_cases("vim.cases");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(editing_cases_hold),
		cmocka_unit_test(vim_cases_hold),
	};

	folder = argc > 1 ? argv[1] : ".";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
