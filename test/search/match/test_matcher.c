/* SPDX-License-Identifier: Apache-2.0 */
/* What matches where; what is refused; what is said to be needed; patterns made to be slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "part.h"
#include "search/match/matcher.h"
#include "meter.h"

/* Letters: i ignore case, s smart case, w words, x lines, m multiline, l literal, e engine only. */
static struct matcher_options options_of(struct span pattern, const char *letters)
{
	return (struct matcher_options){
		.pattern = pattern,
		.cases = strchr(letters, 'i')   ? CASE_IGNORE
		         : strchr(letters, 's') ? CASE_SMART
		                                : CASE_SENSITIVE,
		.whole_word = strchr(letters, 'w'),
		.whole_line = strchr(letters, 'x'),
		.multiline = strchr(letters, 'm'),
		.literal = strchr(letters, 'l'),
		.no_shortcuts = strchr(letters, 'e'),
	};
}

static struct matcher *compile(struct span pattern, const char *letters)
{
	struct matcher_options options = options_of(pattern, letters);
	struct matcher *matcher = NULL;
	struct err err = ERR_INIT;

	if (!matcher_compile(&options, &matcher, &err))
		fail_msg("%.*s: %s", (int)pattern.len, pattern.data, err.message);
	return matcher;
}

/* All matches, as "start-end start-end ...", "hard" at the end when it was too hard. */
static void find_all(const struct matcher *matcher, struct span text, struct buf *out)
{
	struct matcher_scratch *scratch = matcher_scratch_new(matcher);
	enum match_outcome outcome;
	struct text_match match;

	for (size_t at = 0;; at = match.end + (match.end == match.start)) {
		outcome = at > text.len ? MATCH_NONE
		                        : matcher_find(matcher, scratch, text, at, &match);
		if (outcome != MATCH_FOUND)
			break;
		buf_printf(out, "%s%zu-%zu", out->len ? " " : "", match.start, match.end);
	}
	if (outcome == MATCH_TOO_HARD)
		buf_str(out, " hard");
	matcher_scratch_free(scratch);
}

struct row {
	const char *pattern, *letters, *text, *matches;
};

static void check_row(const struct row *row, const char *letters)
{
	_cleanup_buf_ struct buf found = BUF_INIT(1 << 16);
	struct matcher *matcher = compile(span_str(row->pattern), letters);

	find_all(matcher, span_str(row->text), &found);
	if (!span_eq(buf_from(&found, 0), span_str(row->matches)))
		fail_msg("%s (%s) in \"%s\": %.*s instead of %s", row->pattern, letters, row->text,
		         (int)found.len, found.data ? found.data : "", row->matches);
	matcher_free(matcher);
}

/* With and without shortcuts. */
static void check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *engine = mem_printf("%se", rows[i].letters);

		check_row(&rows[i], rows[i].letters);
		check_row(&rows[i], engine);
	}
}

static void patterns_match_where_they_should(void **context)
{
	static const struct row rows[] = {
		{ "foo", "", "foo\nbarfoo\n", "0-3 7-10" },
		{ "foo", "", "fo\no\n", "" },
		{ "foo|bar", "", "xbar\nfoobar", "1-4 5-8 8-11" },
		{ "a|ab", "", "ab", "0-1" },
		{ "x*", "", "a\nxx\n", "0-0 1-1 2-4 4-4" },
		{ "x*", "", "a", "0-0 1-1" },
		{ "$", "", "ab\n\nc", "2-2 3-3 5-5" },
		{ "^", "", "ab\n\nc\n", "0-0 3-3 4-4" },
		{ "^$", "", "a\n\n\nb", "2-2 3-3" },
		{ "[^a]+", "", "ab\nbb\n", "1-2 3-5" },
		{ "\\s+", "", "a \n\tb\n", "1-2 3-4" },
		{ "\\W", "", "a\nb", "" },
		{ "(?s)a.*b", "", "a\nb ab", "4-6" },
		{ "[\\s;]+x", "", "\n;x\n x", "1-3 4-6" },
		{ "[^-a]b", "", "\nb-bcb", "4-6" },
		{ "[^]a]", "", "]a\nx", "3-4" },
		{ "a\\Z", "", "a\na", "0-1 2-3" },
		{ "\\Aa", "", "a\na", "0-1 2-3" },
		{ "(?<!x)\\w", "", "x\ny", "0-1 2-3" },
		{ "(a)\\1", "", "aa\na", "0-2" },
		{ "\\Qa.b\\E+", "", "a.bb axb", "0-4" },
		{ "a.b", "l", "a.b axb", "0-3" },
		{ "\\x61\\x{62}", "", "ab", "0-2" },
		{ "e{\\x33}", "", "eee e{3}", "4-8" },
		{ "(a)\\1\\E1", "", "aa1", "0-3" },
		{ "(?>a+)b", "", "aab", "0-3" },
		{ "\xc3\xa9t\xc3\xa9", "", "\xc3\xa9t\xc3\xa9", "0-5" },
		{ "\xc3\x89", "i", "\xc3\xa9 \xc3\x89", "0-2 3-5" },
		{ ".", "", "\xff\xc3\xa9", "1-3" },
		{ "a.b", "", "a\xff" "b a\xc3\xa9" "b", "4-8" },
	};

	(void)context;
	check_rows(rows, ARRAY_LEN(rows));
}

static void cases_are_those_asked_for(void **context)
{
	static const struct row rows[] = {
		{ "foo", "i", "Foo FOO", "0-3 4-7" },
		{ "k", "i", "K \xe2\x84\xaa", "0-1 2-5" },
		{ "us", "i", "US u\xc5\xbf", "0-2 3-6" },
		{ "export_symbol", "i", "EXPORT_SYMBOL export_\xc5\xbfymbol", "0-13 14-28" },
		{ "@[`{", "il", "@[`{ `{@[", "0-4" },
		{ "foo", "s", "Foo foo", "0-3 4-7" },
		{ "Foo", "s", "Foo foo", "0-3" },
		{ "fo\\W", "s", "FO-", "0-3" },
		{ "f\\pL", "s", "FO", "0-2" },
		{ "[a-z]oo", "s", "Foo", "0-3" },
		{ "[A-Z]oo", "s", "Foo foo", "0-3" },
		{ "\\x41", "s", "aA", "1-2" },
		{ "\\p{Lu}", "s", "aA", "1-2" },
		{ "(?<Name>a)", "s", "A", "0-1" },
		{ "\xc3\xa9", "s", "\xc3\x89", "0-2" },
		{ "\xc3\x89", "s", "\xc3\xa9", "" },
		{ "(?i)foo", "", "FOO", "0-3" },
		{ "a(?i)b|c", "", "aB C A", "0-2 3-4" },
		{ "(?-i)a", "i", "Aa", "1-2" },
		{ "(?i:a)b", "", "Ab AB", "0-2" },
	};

	(void)context;
	check_rows(rows, ARRAY_LEN(rows));
}

static void words_and_lines_are_whole(void **context)
{
	static const struct row rows[] = {
		{ "foo", "w", "foo foo_ afoo (foo)", "0-3 15-18" },
		{ "@foo", "w", "@foo x@foo", "0-4" },
		{ "a|ab", "w", "ab", "0-2" },
		{ "foo", "w", "\xc3\xa9" "foo foo\xc3\xa9 \xe2\x82\xac" "foo", "15-18" },
		{ "foo", "w", "\xff" "foo", "1-4" },
		{ "aa", "w", "aaa aa", "4-6" },
		{ "a #", "w", "a # a #b", "0-3" },
		{ "(?x)a # b", "w", "a ab", "0-1" },
		{ "\\Qa", "w", "a ab", "0-1" },
		{ "foo", "x", "foo\nfoo \nfoo", "0-3 9-12" },
		{ "a|ab", "x", "ab\na", "0-2 3-4" },
		{ "foo", "wx", "foo\nfoo x", "0-3" },
		{ "foo", "xl", "foo\r\nfoox", "0-3" },
	};

	(void)context;
	check_rows(rows, ARRAY_LEN(rows));
}

static void a_cr_before_lf_belongs_to_the_line_end(void **context)
{
	static const struct row rows[] = {
		{ "b$", "", "ab\r\nb\r\r\n", "1-2" },
		{ "a.*", "", "ab\r\n", "0-2" },
		{ "\\s", "", "a\r\nb\rc", "4-5" },
		{ "[^;]$", "", "x;\r\ny\r\n", "4-5" },
		{ "[^\\r\\n]+$", "", "ab\r\n", "0-2" },
		{ "^$", "", "\r\na\r\n", "0-0" },
		/* Who names it gets it. */
		{ "\\r", "", "a\r\n", "1-2" },
		{ "a\\r?$", "", "a\r\na\n", "0-2 3-4" },
		{ "\r", "l", "a\r\n", "1-2" },
		/* The last line has no line end. */
		{ "a$", "", "a\r", "" },
	};

	(void)context;
	check_rows(rows, ARRAY_LEN(rows));
}

static void matches_span_lines_when_that_is_asked_for(void **context)
{
	static const struct row rows[] = {
		{ "a\\nb", "m", "a\nb", "0-3" },
		{ "a\nb", "ml", "xa\nb", "1-4" },
		{ "a.b", "m", "a\nb", "" },
		{ "(?s)a.b", "m", "a\nb", "0-3" },
		{ "^b$", "m", "a\nb\nc", "2-3" },
		{ "b$", "m", "b\r\n", "0-1" },
		{ "a\\Rb", "m", "a\r\nb", "0-4" },
		{ "$", "m", "a\n", "1-1" },
		{ "x*", "m", "", "" },
		{ "[^a]+", "m", "ab\nba", "1-4" },
	};

	(void)context;
	check_rows(rows, ARRAY_LEN(rows));
}

static void searches_begin_anywhere(void **context)
{
	static const struct {
		const char *pattern, *text;
		size_t from, start, end; /* start SIZE_MAX: none */
	} rows[] = {
		{ "^a", "aa\na", 1, 3, 4 },
		{ "\\ba", "aa a", 1, 3, 4 },
		{ "(?<=a)b", "ab", 1, 1, 2 },
		{ "$", "ab\n", 1, 2, 2 },
		{ "$", "ab\r\ncd", 3, 6, 6 },
		{ "a", "ab\n", 3, SIZE_MAX, 0 },
		{ "x*", "ab\n", 3, SIZE_MAX, 0 },
		{ "x*", "ab", 2, 2, 2 },
		{ "\xc3\xa9", "\xc3\xa9\xc3\xa9", 1, 2, 4 },
	};

	(void)context;
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		struct matcher *matcher =
			compile(span_str(rows[i / 2].pattern), i % 2 ? "e" : "");
		struct matcher_scratch *scratch = matcher_scratch_new(matcher);
		struct text_match match = { SIZE_MAX, 0 };

		(void)matcher_find(matcher, scratch, span_str(rows[i / 2].text),
		                   rows[i / 2].from, &match);
		if (match.start != rows[i / 2].start || match.end != rows[i / 2].end)
			fail_msg("%s from %zu: %zu-%zu", rows[i / 2].pattern, rows[i / 2].from,
			         match.start, match.end);
		matcher_scratch_free(scratch);
		matcher_free(matcher);
	}
}

static void wrong_patterns_are_refused_with_a_reason(void **context)
{
	static const struct {
		const char *pattern, *letters, *reason;
	} rows[] = {
		{ "", "", "1 to 65536 bytes" },
		{ "(", "", "at byte 1: missing closing parenthesis" },
		{ "a)(b", "w", "at byte 1: unmatched closing parenthesis" },
		{ "a**b{2}(", "", "at byte" },
		{ "\xff", "", "UTF-8" },
		{ "a\\nb", "", "multiline" },
		{ "a\nb", "l", "multiline" },
		{ "[\\n]", "", "multiline" },
		{ "a\\Rb", "", "multiline" },
		{ "\\x0a", "", "multiline" },
		{ "(*CRLF)a", "", "setting" },
		{ "(*LIMIT_MATCH=1)a", "", "setting" },
		{ "a\\Cb", "", "disabled" },
		{ "(?<n>a)(?<n>b)", "", "at byte" },
	};

	(void)context;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct matcher_options options =
			options_of(span_str(rows[i].pattern), rows[i].letters);
		struct matcher *matcher = NULL;
		struct err err = ERR_INIT;

		if (matcher_compile(&options, &matcher, &err))
			fail_msg("%s was accepted", rows[i].pattern);
		assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
		assert_null(matcher);
		if (!strstr(err.message, rows[i].reason))
			fail_msg("%s: %s", rows[i].pattern, err.message);
	}
}

static void line_ends_that_need_not_match_are_accepted(void **context)
{
	static const char *const patterns[] = { "[^\\n]", "[\\s\\n]", "(?x)a\nb", "\\\\n",
		                                "\\Q\\n\\E" };

	(void)context;
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
		matcher_free(compile(span_str(patterns[i]), ""));
}

static void decoding_is_asked_for_where_it_matters(void **context)
{
	static const struct {
		const char *pattern, *letters;
		bool needs;
	} rows[] = {
		{ "foo", "", false },      { "foo", "i", false },   { "mask", "i", true },
		{ "[a-z]+[0-9]", "", false }, { "fo.", "", true },  { "\\w", "", true },
		{ "\\bfoo", "", true },    { "foo", "w", true },    { "[^a]", "", true },
		{ "\xc3\xa9", "", true },  { "^foo$", "", false },  { "(?x)a", "", true },
		{ "foo|bar", "", false },  { "\\.c$", "", false },
	};

	(void)context;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct matcher *matcher = compile(span_str(rows[i].pattern), rows[i].letters);

		if (matcher_needs_decoding(matcher) != rows[i].needs)
			fail_msg("%s (%s) is not %d", rows[i].pattern, rows[i].letters,
			         rows[i].needs);
		matcher_free(matcher);
	}
}

/* ---- patterns made to be slow ---- */

#define YARDS_MAX 5000

static char *repeat(const char *unit, size_t len)
{
	size_t unit_len = strlen(unit);
	char *text = mem_alloc(len + 1, 1);

	for (size_t i = 0; i < len; i++)
		text[i] = unit[i % unit_len];
	return text;
}

/* The lines that match, until it is too hard. */
static bool scan_lines(const struct matcher *matcher, struct span text)
{
	struct matcher_scratch *scratch = matcher_scratch_new(matcher);
	enum match_outcome outcome = MATCH_NONE;
	struct text_match match;
	size_t at = 0;

	while (at < text.len &&
	       (outcome = matcher_find(matcher, scratch, text, at, &match)) == MATCH_FOUND) {
		const char *lf = memchr(text.data + match.end, '\n', text.len - match.end);

		at = lf ? (size_t)(lf - text.data) + 1 : text.len;
	}
	matcher_scratch_free(scratch);
	return outcome != MATCH_TOO_HARD;
}

static void hostile_patterns_end_soon(void **context)
{
	static const char *const units[] = {
		"a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", "abababababababababababab\n",
		"a a a a a a a a a a a a a a a a a a a a a a\n", " ", "((((((((((((\n",
	};
	static const char *const patterns[] = {
		"(a+)+$", "(a+)+[b-c]", "(a|a)*[bc]", "(a|aa)+[xy]", "(.*)*[xy]", "(.*a){12}[xy]",
		".*.*.*[=-]", "\\w+[\\s;]x?y?z?[;:]", "(\\w+\\s*)+[:;]", "(a?){40}a{40}",
		"(.)(.)(.).*\\3\\2\\1[q-z]", "(?=(a+))\\1[bc]", "(a*)*(a*)*(a*)*[bc]",
		"(?R)?a", "(a(?1)?)[bc]", "((a{0,20}){0,20}){0,20}[bc]", "(\\((?1)*\\))",
		"^(([a-z])+.)+[A-Z]([a-z])+$",
	};
	size_t too_hard = 0;

	(void)context;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		_cleanup_free_ char *text = repeat(units[i], 1 << 19);
		/* Each pattern comes upon one of the units, at most commits another. */
		const size_t step = part_step(ARRAY_LEN(units));

		for (size_t k = (i + part_first(ARRAY_LEN(units))) % step;
		     k < 2 * ARRAY_LEN(patterns); k += step) {
			struct meter meter = meter_start();
			double yards;
			struct matcher *matcher =
				compile(span_str(patterns[k / 2]), k % 2 ? "m" : "");

			too_hard += !scan_lines(matcher, span_of(text, 1 << 19));
			matcher_free(matcher);
			yards = meter_yards(&meter);
			if (yards > YARDS_MAX)
				fail_msg("%s in \"%.10s...\" took %.0f yards", patterns[k / 2],
				         units[i], yards);
		}
	}
	assert_true(too_hard > part_of(10, ARRAY_LEN(units)));
}

static void huge_patterns_are_refused_or_searched_for(void **context)
{
	static const struct {
		const char *unit;
		const char *letters;
	} rows[] = {
		{ "(", "" },        { "a?", "" },    { "foo|", "" },       { "(a|b)", "" },
		{ ".*", "" },       { "\\b", "" },   { "a*+", "" },        { "(?|(a)|b)", "" },
		{ "\\p{Han}", "" }, { "(?i)k", "" }, { "[\\p{L}\\d]", "" }, { "(?=a*", "" },
		{ "[a-z]+", "i" },  { "[", "" },     { "\\Q", "" },        { "a{9}", "" },
		{ "x{0,50}|", "" }, { "ks", "il" },  { "x", "l" },         { "(?<=a|bc)", "" },
		{ "\xc3\xa9", "i" }, { "(?:a|", "" }, { "((a{500}){500}){500}", "" },
	};
	_cleanup_free_ char *text = repeat("foo bar aaaaaaa\n", 1 << 16);

	(void)context;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_free_ char *pattern = repeat(rows[i].unit, LIMIT_PATTERN_BYTES - 7);
		size_t len = (LIMIT_PATTERN_BYTES - 7) / strlen(rows[i].unit) *
		             strlen(rows[i].unit);
		struct matcher_options options =
			options_of(span_of(pattern, len), rows[i].letters);
		struct matcher *matcher = NULL;
		struct err err = ERR_INIT;
		struct meter meter = meter_start();
		double yards;

		if (matcher_compile(&options, &matcher, &err))
			(void)scan_lines(matcher, span_of(text, 1 << 16));
		else
			assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
		matcher_free(matcher);
		yards = meter_yards(&meter);
		if (yards > YARDS_MAX)
			fail_msg("%s... took %.0f yards", rows[i].unit, yards);
	}
}

static void the_longest_literal_is_found(void **context)
{
	_cleanup_free_ char *text = repeat("abc", 2 * LIMIT_PATTERN_BYTES);
	struct matcher *matcher = compile(span_of(text, LIMIT_PATTERN_BYTES), "l");
	struct matcher_scratch *scratch = matcher_scratch_new(matcher);
	struct text_match match;

	(void)context;
	assert_int_equal(matcher_find(matcher, scratch, span_of(text, 2 * LIMIT_PATTERN_BYTES), 1,
	                              &match),
	                 MATCH_FOUND);
	assert_int_equal(match.start, 3);
	matcher_scratch_free(scratch);
	matcher_free(matcher);
}

/* Everywhere the text begins like the literal, and goes on like it for long. */
static void repetitive_literals_are_near_linear(void **context)
{
	static const struct {
		const char *end, *letters;
	} rows[] = { { "e", "l" },   { "e", "il" },       { "e", "wl" },
		     { "e", "iwl" }, { "(e|o|u|r)", "" }, { "(e|o|u|r)", "i" } };
	_cleanup_free_ char *text = repeat("zy", 1 << 20);

	(void)context;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_free_ char *start = repeat("zy", 15000);
		_cleanup_free_ char *pattern = mem_printf("%s%s", start, rows[i].end);
		struct matcher *matcher = compile(span_str(pattern), rows[i].letters);
		struct meter meter = meter_start();
		double yards;

		(void)scan_lines(matcher, span_of(text, 1 << 20));
		yards = meter_yards(&meter);
		if (yards > YARDS_MAX)
			fail_msg("%s (%s) took %.0f yards", rows[i].end, rows[i].letters, yards);
		matcher_free(matcher);
	}
}

/* One line of a megabyte, a match every few bytes: no search looks at all of it. */
static void long_lines_with_many_matches_are_near_linear(void **context)
{
	static const char *const patterns[] = { "b[a-z]", "[a-z]+", "\\bbar\\b", "foo|bar", "foo" };
	_cleanup_free_ char *text = repeat("foo bar; ", 1 << 20);

	(void)context;
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		struct matcher *matcher = compile(span_str(patterns[i]), "");
		struct matcher_scratch *scratch = matcher_scratch_new(matcher);
		struct text_match match = { 0, 0 };
		struct meter meter = meter_start();
		size_t count = 0;

		while (matcher_find(matcher, scratch, span_of(text, 1 << 20), match.end, &match) ==
		       MATCH_FOUND)
			count++;
		assert_true(count >= (1 << 20) / 9);
		assert_true(meter_yards(&meter) < YARDS_MAX);
		matcher_scratch_free(scratch);
		matcher_free(matcher);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_match_where_they_should),
		cmocka_unit_test(cases_are_those_asked_for),
		cmocka_unit_test(words_and_lines_are_whole),
		cmocka_unit_test(a_cr_before_lf_belongs_to_the_line_end),
		cmocka_unit_test(matches_span_lines_when_that_is_asked_for),
		cmocka_unit_test(searches_begin_anywhere),
		cmocka_unit_test(wrong_patterns_are_refused_with_a_reason),
		cmocka_unit_test(line_ends_that_need_not_match_are_accepted),
		cmocka_unit_test(decoding_is_asked_for_where_it_matters),
		cmocka_unit_test(hostile_patterns_end_soon),
		cmocka_unit_test(huge_patterns_are_refused_or_searched_for),
		cmocka_unit_test(the_longest_literal_is_found),
		cmocka_unit_test(repetitive_literals_are_near_linear),
		cmocka_unit_test(long_lines_with_many_matches_are_near_linear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
