/* SPDX-License-Identifier: Apache-2.0 */
/* Text found in rows (tui/text/find.h), whole and broken. */
#include "tui/text/find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

/* Each match as "row:pieces", its pieces with '/' between them, blanks between matches. */
static void put_found(struct buf *out, const struct rows *rows, const char *wanted, size_t from)
{
	struct row_find find;

	find_begin(&find, rows, wanted, from);
	while (find_next(&find)) {
		buf_printf(out, "%s%zu:", out->len ? " " : "", find.pieces[0].row);
		for (size_t i = 0; i < find.count; i++) {
			const struct find_piece *piece = &find.pieces[i];

			if (i)
				buf_char(out, '/');
			assert_in_range(piece->len, 1, rows->at[piece->row].text.len);
			buf_append(out, rows->at[piece->row].text.data + piece->start, piece->len);
		}
	}
}

static void assert_found(const struct rows *rows, const char *wanted, const char *found)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	put_found(&out, rows, wanted, 0);
	if (!span_eq(buf_view(&out), span_str(found)))
		fail_msg("\"%s\": \"%s\" in place of \"%s\"", wanted, out.data ? out.data : "",
		         found);
}

static void wrap(struct rows *rows, const char *text, unsigned width, const char *before)
{
	_cleanup_row_ struct row line = { 0 }, first = { 0 };

	row_text(&line, span_str(text), STYLE(ROLE_TEXT));
	row_text(&first, span_str(before), STYLE(ROLE_TEXT));
	rows_wrap(rows, &line, width, &first, &first);
}

static void text_of_one_row_is_found(void **state)
{
	_cleanup_rows_ struct rows rows = { 0 };

	(void)state;
	wrap(&rows, "Aaa b a\u0301A\u6f22 %", 80, "");
	wrap(&rows, "more", 80, "");
	assert_found(&rows, "a", "0:A 0:a 0:a 0:a 0:A");
	assert_found(&rows, "AA", "0:Aa");
	assert_found(&rows, "\u6f22 %", "0:\u6f22 %");
	assert_found(&rows, "%more", "");
	assert_found(&rows, "% more", ""); /* a line of its own */
	assert_found(&rows, "none", "");
	assert_found(&rows, "", "");
}

static void text_that_is_broken_is_found(void **state)
{
	static const struct {
		unsigned width;
		const char *text, *before, *wanted, *found;
	} cases[] = {
		{ 10, "one two three four", "", "two three", "0:two/three" },
		{ 10, "one two three four", "", "TWO t", "0:two/t" },
		{ 10, "one two three four", "", "twothree", "" },
		{ 10, "one two three four", "", "two  three", "" },
		{ 10, "one two three four", "", "two ", "0:two" },   /* its blank is not shown */
		{ 10, "one two three four", "", " three", "1:three" },
		{ 10, "one two three four", "", " ", "0:  1: " },
		{ 10, "one two   three four", "", "two   three", "0:two/three" },
		{ 10, "one two   three four", "", "  three", "1:three" },
		{ 10, "one two   three four", "", "o t", "" },
		{ 4, "abcdefghij", "", "CDEFGHIJ", "0:cd/efgh/ij" },
		{ 4, "abcdefghij", "", "cdefghijk", "" },
		{ 5, "\u6f22\u5b57\u304b\u306a", "", "\u5b57\u304b", "0:\u5b57/\u304b" },
		{ 5, "a\u6f22\u6f22\u6f22", "", "\u6f22\u6f22", "0:\u6f22\u6f22" },
		{ 4, "aaaaaaa", "", "aa", "0:aa 0:aa 1:aa" },
		{ 4, "baaaaaaa", "", "aa", "0:aa 0:a/a 1:aa" },
		{ 10, "one two three four", "| ", "two three", "0:two/three" },
		{ 10, "one two three four", "| ", "two | three", "" },
		{ 10, "one two three four", "| ", "| t", "1:| t" },
		{ 10, "one two three four", "t ", "t t", "1:t t" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_rows_ struct rows rows = { 0 };

		wrap(&rows, cases[i].text, cases[i].width, cases[i].before);
		assert_found(&rows, cases[i].wanted, cases[i].found);
	}
}

/* Two lines beside each other, of which the one on the left has fewer rows. */
static void lines_in_columns_are_not_mixed(void **state)
{
	_cleanup_rows_ struct rows left = { 0 }, right = { 0 }, rows = { 0 };

	(void)state;
	wrap(&left, "one two three", 7, "1 ");
	wrap(&right, "four five six seven", 8, "2 ");
	for (size_t i = 0; i < right.count; i++) {
		struct row *row = rows_add(&rows);

		if (i < left.count)
			row_append(row, &left.at[i]);
		row_pad(row, 10, STYLE(ROLE_TEXT));
		row_append(row, &right.at[i]);
	}
	assert_int_equal(rows.count, 4);
	assert_found(&rows, "one two three", "0:one/two/three");
	assert_found(&rows, "four five six seven", "0:four/five/six/seven");
	assert_found(&rows, "three four", "");
	assert_found(&rows, "one five", "");
	assert_found(&rows, " 2 f", "0: 2 f 1: 2 f");

	/* One was cut: nothing is joined to that row, and what stands in it is found. */
	row_clip(&rows.at[1], 12);
	assert_found(&rows, "one two", "");
	assert_found(&rows, "two", "1:two");
	assert_found(&rows, "five six", "");
	assert_found(&rows, "six seven", "2:six/seven");
}

static void what_was_wrapped_is_wrapped_again(void **state)
{
	_cleanup_rows_ struct rows wide = { 0 }, narrow = { 0 };

	(void)state;
	wrap(&wide, "The quick brown fox jumps over the lazy dog", 20, "");
	for (size_t i = 0; i < wide.count; i++)
		rows_wrap(&narrow, &wide.at[i], 10, NULL, NULL);
	assert_found(&narrow, "quick brown fox jumps over the lazy",
	             "0:quick/brown fox/jumps over/the lazy");
}

/* Some words, up to `most`. */
static void put_words(struct buf *out, unsigned most)
{
	static const char *const words[] = { "a", "ab", "aab", "\u6f22", "\u6f22a", " ", "  ", "e\u0301",
		                             "abababababab" };

	for (long i = random() % most + 1; i; i--)
		buf_str(out, words[(size_t)random() % (sizeof(words) / sizeof(words[0]))]);
}

/* Of a line, whatever its width is, the same is found as in its text. */
static void nothing_is_missed_at_any_width(void **state)
{
	(void)state;
	srandom(14);
	for (unsigned round = 0; round < 3000; round++) {
		_cleanup_buf_ struct buf text = BUF_INIT(1000), wanted = BUF_INIT(1000);
		_cleanup_rows_ struct rows rows = { 0 };
		struct row_find find;
		size_t expected = 0, found = 0;

		put_words(&text, 30);
		buf_char(&text, '.');
		put_words(&wanted, 4);
		if (wanted.data[0] == ' ' || wanted.data[wanted.len - 1] == ' ')
			continue;
		for (const char *at = text.data; (at = strstr(at, wanted.data)); at += wanted.len)
			expected++;
		wrap(&rows, text.data, (unsigned)random() % 20 + 4, "");
		find_begin(&find, &rows, wanted.data, 0);
		while (find_next(&find))
			found++;
		if (found != expected)
			fail_msg("round %u: \"%s\" %zu times in place of %zu in \"%s\"", round,
			         wanted.data, found, expected, text.data);
	}
}

/* From a row in the middle of a line on, the same matches as from its beginning. */
static void a_line_is_searched_from_its_beginning(void **state)
{
	_cleanup_rows_ struct rows rows = { 0 };
	_cleanup_buf_ struct buf all = BUF_INIT(1 << 10), some = BUF_INIT(1 << 10);

	(void)state;
	wrap(&rows, "before", 4, "");
	wrap(&rows, "aaaaaaaaaaaaaaaaaaaaa", 4, "");
	put_found(&all, &rows, "aaa", 0);
	put_found(&some, &rows, "aaa", 6);
	assert_string_equal(all.data, "2:aaa 2:a/aa 3:aa/a 4:aaa 5:aaa 5:a/aa 6:aa/a");
	assert_string_equal(some.data, all.data);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_of_one_row_is_found),
		cmocka_unit_test(text_that_is_broken_is_found),
		cmocka_unit_test(lines_in_columns_are_not_mixed),
		cmocka_unit_test(what_was_wrapped_is_wrapped_again),
		cmocka_unit_test(nothing_is_missed_at_any_width),
		cmocka_unit_test(a_line_is_searched_from_its_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
