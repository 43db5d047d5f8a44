/* SPDX-License-Identifier: Apache-2.0 */
/* Styled rows (tui/text/rows.h): safe text, runs, wrapping. */
#include "tui/text/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tui/text/width.h"

static void assert_row(const struct row *row, const char *text)
{
	struct span got = buf_view(&row->text);

	if (!span_eq(got, span_str(text)))
		fail_msg("\"%.*s\" in place of \"%s\"", (int)got.len, got.data, text);
	assert_int_equal(row->width, width_of(got));
}

/* The rows as text, '|' between them. */
static void assert_rows(const struct rows *rows, const char *text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	for (size_t i = 0; i < rows->count; i++) {
		if (i > 0)
			buf_char(&out, '|');
		row_plain(&rows->at[i], &out);
		assert_int_equal(rows->at[i].width, width_of(buf_view(&rows->at[i].text)));
	}
	if (!span_eq(buf_view(&out), span_str(text)))
		fail_msg("\"%.*s\" in place of \"%s\"", (int)out.len, out.data, text);
}

static void foreign_text_is_shown_or_escaped(void **state)
{
	static const struct {
		const char *text, *shown;
	} rows[] = {
		{ "plain text", "plain text" },
		{ "\033]0;title\a", "\\x1b]0;title\\x07" },
		{ "a\nb\r\x7f", "a\\nb\\r\\x7f" },
		{ "\xc2\x9b""31m", "\\u{9b}31m" },
		{ "\xff\xc3", "\\xff\\xc3" },
		{ "a\tb", "a       b" },
		{ "漢\tb", "漢      b" },
		{ "\xe2\x80\xae""evil", "\\u{202e}evil" },
		{ "zero\xe2\x80\x8bwidth", "zero\\u{200b}width" },
		{ "👨‍👩‍👧 and 👍🏽", "👨‍👩‍👧 and 👍🏽" },
		{ "❤️‍🔥1️⃣🇩🇪", "❤️‍🔥1️⃣🇩🇪" },
		{ "a\xe2\x80\x8d""b", "a\\u{200d}b" },
		{ "نمی‌خواهم", "نمی‌خواهم" },
		{ "क्‍ष", "क्‍ष" },
		{ "e\xcc\x81", "e\xcc\x81" },
		{ "\xcc\x81""e", "\\u{301}e" },
		{ " \xcc\x81", " \\u{301}" },
		{ "\033\xcc\x81", "\\x1b\\u{301}" },
		{ "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81",
		  "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\\u{301}" },
		{ "p\xd0\xb0ypal", "p\\u{430}ypal" },
		{ "\xd0\xb0ypal", "\\u{430}ypal" },
		{ "дом a", "дом a" },
		{ "\xe2\xa0\x80\xe3\x85\xa4\xc2\xad", "\\u{2800}\\u{3164}\\u{ad}" },
		{ "\xf3\xa0\x81\x81", "\\u{e0041}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_row_ struct row row = { 0 };

		row_text(&row, span_str(rows[i].text), STYLE(ROLE_TEXT));
		assert_row(&row, rows[i].shown);
	}
}

static void text_that_is_appended_does_not_join_what_is_there(void **state)
{
	_cleanup_row_ struct row row = { 0 }, tail = { 0 };

	(void)state;
	row_text(&row, SPAN("e"), STYLE(ROLE_TEXT));
	row_text(&row, SPAN("\xcc\x81"), STYLE(ROLE_DIM));
	row_text(&row, SPAN("🇩"), STYLE(ROLE_TEXT));
	row_text(&row, SPAN("🇪!"), STYLE(ROLE_DIM));
	assert_row(&row, "e\\u{301}🇩\\u{1f1ea}!");
	row_text(&row, SPAN("pay"), STYLE(ROLE_TEXT));
	row_text(&row, SPAN("\xd0\xb0"), STYLE(ROLE_DIM));
	assert_row(&row, "e\\u{301}🇩\\u{1f1ea}!pay\\u{430}");
	row_release(&row);
	row_text(&row, SPAN("🇩"), STYLE(ROLE_TEXT));
	row_text(&tail, SPAN("🇪 b"), STYLE(ROLE_TEXT));
	row_append(&row, &tail);
	assert_row(&row, "🇩\\u{1f1ea} b");
}

static void a_cluster_without_an_end_is_cut(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	_cleanup_row_ struct row row = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		buf_str(&text, "👩‍");
	buf_str(&text, "👩");
	row_text(&row, buf_view(&text), STYLE(ROLE_TEXT));
	assert_true(row.width > 200);
	assert_int_equal(row.width, width_of(buf_view(&row.text)));
}

static void runs_have_their_styles_without_gaps(void **state)
{
	_cleanup_row_ struct row row = { 0 };

	(void)state;
	row_text(&row, SPAN("one "), STYLE(ROLE_DIM));
	row_text(&row, SPAN("two "), STYLE(ROLE_DIM));
	row_printf(&row, STYLE_BOLD(ROLE_ERROR), "%d\t", 3);
	assert_int_equal(row.count, 2);
	assert_int_equal(row.runs[0].len, 8);
	assert_int_equal(row.runs[1].start, 8);
	assert_int_equal(row.runs[1].style.role, ROLE_ERROR);
	assert_int_equal(row.runs[1].style.marks, MARK_BOLD);
	row_mark_bytes(&row, 0, row.text.len, MARK_ITALIC);
	assert_int_equal(row.runs[1].style.marks, MARK_BOLD | MARK_ITALIC);
	assert_row(&row, "one two 3       ");
	row_pad(&row, 20, STYLE(ROLE_DIM));
	assert_row(&row, "one two 3           ");
	row_pad(&row, 10, STYLE(ROLE_DIM));
	assert_int_equal(row.width, 20);
}

static void addresses_are_safe(void **state)
{
	_cleanup_row_ struct row row = { 0 };
	_cleanup_buf_ struct buf address = BUF_INIT(1 << 20);

	(void)state;
	row_link(&row, SPAN("a"), STYLE(ROLE_LINK), SPAN("https://ä.example/ \033]8;;\a"));
	assert_string_equal(row_address(&row, &row.runs[0]),
	                    "https://%C3%A4.example/%20%1B]8;;%07");
	row_link(&row, SPAN("b"), STYLE(ROLE_LINK), SPAN("https://ä.example/ \033]8;;\a"));
	assert_int_equal(row.count, 1); /* pieces of one link are one run */
	for (int i = 0; i < 2001; i++)
		buf_char(&address, 'a');
	row_link(&row, SPAN("c"), STYLE(ROLE_LINK), buf_view(&address));
	assert_null(row_address(&row, &row.runs[1]));
	row_link(&row, SPAN("d"), STYLE(ROLE_LINK), span_head(buf_view(&address), 2000));
	assert_int_equal(strlen(row_address(&row, &row.runs[2])), 2000);
	row_link(&row, SPAN("e"), STYLE(ROLE_LINK), SPAN(""));
	assert_null(row_address(&row, &row.runs[3]));
	assert_row(&row, "abcde");
}

static void appended_rows_keep_styles_and_links(void **state)
{
	_cleanup_row_ struct row row = { 0 }, other = { 0 };

	(void)state;
	row_link(&row, SPAN("x"), STYLE(ROLE_LINK), SPAN("https://x"));
	row_text(&other, SPAN(" und "), STYLE(ROLE_DIM));
	row_link(&other, SPAN("y"), STYLE(ROLE_LINK), SPAN("https://y"));
	row_append(&row, &other);
	assert_row(&row, "x und y");
	assert_int_equal(row.count, 3);
	assert_string_equal(row_address(&row, &row.runs[2]), "https://y");
	assert_null(row_address(&row, &row.runs[1]));
}

static void a_clipped_row_says_so(void **state)
{
	static const struct {
		unsigned columns;
		const char *text;
	} cuts[] = { { 9, "abc漢字de" }, { 8, "abc漢字…" }, { 7, "abc漢…" },
		     { 6, "abc漢…" },    { 5, "abc…" },    { 1, "…" }, { 0, "" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
		_cleanup_row_ struct row row = { 0 };

		row_text(&row, SPAN("abc"), STYLE(ROLE_DIM));
		row_text(&row, SPAN("漢字de"), STYLE(ROLE_TEXT));
		row_clip(&row, cuts[i].columns);
		assert_row(&row, cuts[i].text);
	}
}

static void wrap_text(struct rows *rows, const char *text, unsigned width)
{
	_cleanup_row_ struct row line = { 0 };

	row_text(&line, span_str(text), STYLE(ROLE_TEXT));
	rows_wrap(rows, &line, width, NULL, NULL);
}

static void lines_are_broken_where_readers_expect_it(void **state)
{
	static const struct {
		const char *text;
		unsigned width;
		const char *rows;
	} cases[] = {
		{ "", 10, "" },
		{ "one two three", 20, "one two three" },
		{ "one two three", 7, "one two|three" },
		{ "one two three", 8, "one two|three" },
		{ "one    two", 5, "one|two" },
		{ "    indented text", 12, "    indented|text" },
		{ "abcdefghij", 4, "abcd|efgh|ij" },
		{ "ab abcdefghij", 4, "ab|abcd|efgh|ij" },
		{ "    abcdefghij", 8, "    abcd|efghij" },
		{ "漢字かな交じり", 5, "漢字|かな|交じ|り" },
		{ "ab漢字cd", 5, "ab漢|字cd" },
		{ "a 👨‍👩‍👧👨‍👩‍👧 b", 4, "a 👨‍👩‍👧|👨‍👩‍👧 b" },
		{ "tail   ", 5, "tail " },
		{ "abcdef", 1, "abcd|ef" },
		{ "       ", 4, "    " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_rows_ struct rows rows = { 0 };

		wrap_text(&rows, cases[i].text, cases[i].width);
		assert_rows(&rows, cases[i].rows);
	}
}

static void what_stands_before_rows_counts_for_their_width(void **state)
{
	_cleanup_row_ struct row line = { 0 }, first = { 0 }, rest = { 0 };
	_cleanup_rows_ struct rows rows = { 0 }, narrow = { 0 };

	(void)state;
	row_text(&first, SPAN("- "), STYLE(ROLE_DIM));
	row_text(&rest, SPAN("  "), STYLE(ROLE_TEXT));
	row_text(&line, SPAN("one "), STYLE(ROLE_TEXT));
	row_text(&line, SPAN("two three"), STYLE_BOLD(ROLE_TEXT));
	rows_wrap(&rows, &line, 9, &first, &rest);
	assert_rows(&rows, "- one two|  three");
	assert_int_equal(rows.at[0].count, 3);
	assert_int_equal(rows.at[1].runs[1].style.marks, MARK_BOLD);
	row_text(&first, SPAN("long marker "), STYLE(ROLE_DIM));
	rows_wrap(&narrow, &line, 6, &first, &rest);
	assert_rows(&narrow, "- loon|  e|  two|  thre|  e");
}

static void a_longer_line_changes_only_its_last_row(void **state)
{
	static const struct span text =
		SPAN("  The quick brown föx 漢字かな jumps   over https://example.org/a/long/path "
	             "👨‍👩‍👧👍🏽❤️ dogs e\xcc\x81\xcc\x81 and 🇩🇪🇫🇷 flags.");

	(void)state;
	for (unsigned width = 4; width < 30; width++) {
		_cleanup_rows_ struct rows whole = { 0 };
		_cleanup_row_ struct row line = { 0 };

		row_text(&line, text, STYLE(ROLE_TEXT));
		rows_wrap(&whole, &line, width, NULL, NULL);
		for (size_t len = 0; len < line.text.len; len++) {
			struct span rest = buf_view(&line.text), head = span_head(rest, 0);
			_cleanup_rows_ struct rows part = { 0 };
			_cleanup_row_ struct row some = { 0 };
			struct cluster cluster;

			while (head.len < len && cluster_next(&rest, &cluster))
				head.len += cluster.bytes.len;
			row_text(&some, head, STYLE(ROLE_TEXT));
			rows_wrap(&part, &some, width, NULL, NULL);
			for (size_t i = 0; i + 1 < part.count; i++)
				assert_row(&part.at[i], whole.at[i].text.data);
		}
		for (size_t i = 0; i < whole.count; i++)
			assert_true(whole.at[i].width <= width);
	}
}

static void a_text_is_a_row_for_each_line(void **state)
{
	_cleanup_rows_ struct rows rows = { 0 }, more = { 0 }, copy = { 0 };

	(void)state;
	rows_text(&rows, SPAN("one\r\n\ntwo three\n"), STYLE(ROLE_DIM), 6);
	assert_rows(&rows, "one||two|three");
	rows_text(&more, SPAN("four"), STYLE(ROLE_DIM), 80);
	rows_move(&rows, &more);
	assert_int_equal(more.count, 0);
	assert_rows(&rows, "one||two|three|four");
	rows_copy(&copy, &rows, 2, 9);
	assert_rows(&copy, "two|three|four");
}

static void a_row_without_an_end_is_cut(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(ROW_BYTES_MAX + 100);
	_cleanup_row_ struct row row = { 0 };

	(void)state;
	memset(buf_reserve(&text, ROW_BYTES_MAX), 'x', ROW_BYTES_MAX);
	text.len = ROW_BYTES_MAX;
	row_text(&row, buf_view(&text), STYLE(ROLE_TEXT));
	row_text(&row, SPAN("more"), STYLE(ROLE_TEXT));
	row_pad(&row, ROW_BYTES_MAX + 100, STYLE(ROLE_TEXT));
	assert_int_equal(row.text.len, ROW_BYTES_MAX);
}

static void one_cluster_is_marked(void **state)
{
	struct row row = { 0 };

	(void)state;
	row_text(&row, SPAN("ab\u6f22c"), STYLE(ROLE_TEXT));
	row_mark_at(&row, 9, MARK_REVERSE);
	assert_int_equal(row.count, 1);
	row_mark_at(&row, 3, MARK_REVERSE); /* its second column */
	assert_int_equal(row.count, 3);
	assert_int_equal(row.runs[1].start, 2);
	assert_int_equal(row.runs[1].len, 3);
	assert_int_equal(row.runs[1].style.marks, MARK_REVERSE);
	assert_int_equal(row.runs[0].style.marks + row.runs[2].style.marks, 0);
	row_mark_at(&row, 0, MARK_REVERSE);
	assert_int_equal(row.count, 4);
	assert_int_equal(row.runs[0].style.marks, MARK_REVERSE);
	assert_int_equal(row.runs[1].len, 1);
	row_release(&row);
}

static void bytes_are_marked(void **state)
{
	_cleanup_row_ struct row row = { 0 }, empty = { 0 };

	(void)state;
	row_text(&row, SPAN("Aaa b a\u0301A\u6f22"), STYLE(ROLE_TEXT));
	row_mark_bytes(&row, 6, 1, MARK_REVERSE); /* and what combines with it */
	assert_int_equal(row.count, 3);
	assert_int_equal(row.runs[1].start, 6);
	assert_int_equal(row.runs[1].len, 3);
	assert_int_equal(row.runs[1].style.marks, MARK_REVERSE);
	row_mark_bytes(&row, 4, 6, MARK_BOLD); /* across runs */
	assert_int_equal(row.count, 5);
	assert_int_equal(row.runs[1].style.marks, MARK_BOLD);
	assert_int_equal(row.runs[2].style.marks, MARK_BOLD | MARK_REVERSE);
	assert_int_equal(row.runs[3].style.marks, MARK_BOLD);
	assert_int_equal(row.runs[0].style.marks + row.runs[4].style.marks, 0);
	row_mark_bytes(&row, 100, 1, MARK_BOLD);
	row_mark_bytes(&row, 0, 0, MARK_BOLD);
	assert_int_equal(row.runs[0].style.marks, 0);
	row_mark_bytes(&empty, 0, 1, MARK_BOLD);
	assert_int_equal(empty.count, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(foreign_text_is_shown_or_escaped),
		cmocka_unit_test(text_that_is_appended_does_not_join_what_is_there),
		cmocka_unit_test(a_cluster_without_an_end_is_cut),
		cmocka_unit_test(runs_have_their_styles_without_gaps),
		cmocka_unit_test(addresses_are_safe),
		cmocka_unit_test(appended_rows_keep_styles_and_links),
		cmocka_unit_test(a_clipped_row_says_so),
		cmocka_unit_test(lines_are_broken_where_readers_expect_it),
		cmocka_unit_test(what_stands_before_rows_counts_for_their_width),
		cmocka_unit_test(a_longer_line_changes_only_its_last_row),
		cmocka_unit_test(a_text_is_a_row_for_each_line),
		cmocka_unit_test(a_row_without_an_end_is_cut),
		cmocka_unit_test(one_cluster_is_marked),
		cmocka_unit_test(bytes_are_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
