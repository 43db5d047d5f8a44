/* SPDX-License-Identifier: Apache-2.0 */
/* What is read off regular expressions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "search/match/regex.h"

/* "a&b|c": a and b, or c. */
static void write_needs(const struct matcher_needs *needs, struct buf *out)
{
	for (size_t i = 0; i < needs->count; i++) {
		for (size_t k = 0; k < needs->alternatives[i].count; k++) {
			if (i + k > 0)
				buf_char(out, k > 0 ? '&' : '|');
			buf_span(out, needs->alternatives[i].literals[k]);
		}
	}
}

static void check_text(const char *pattern, const char *what, const struct buf *have,
                       const char *want)
{
	if (!span_eq(buf_from(have, 0), span_str(want)))
		fail_msg("%s of %s: %.*s instead of %s", what, pattern, (int)have->len,
		         have->data ? have->data : "", want);
}

static void matches_need_the_texts_that_are_in_all_of_them(void **context)
{
	static const struct {
		const char *pattern;
		bool ignore_case;
		const char *needs;
	} rows[] = {
		{ "foo", false, "foo" },
		{ "Foo", true, "foo" },
		{ "foo.*bar", false, "foo&bar" },
		{ "foo|bar", false, "foo|bar" },
		{ "fo(o|u)r", false, "foor|four" },
		{ "\\bkmalloc\\([^)]*GFP_ATOMIC", false, "kmalloc(&GFP_ATOMIC" },
		{ "[A-Z]+_SUSPEND", false, "_SUSPEND" },
		{ "export_symbol_gpl", true, "export_&ymbol_gpl" },
		{ "colou?r", false, "colour|color" },
		{ "ab+c", false, "ab&bc" },
		{ "(abc)+d", false, "abcd" },
		{ "ab{3}c", false, "abbbc" },
		{ "ab{2,}cd", false, "abb&bcd" },
		{ "a*bcd", false, "bcd" },
		{ "x?", false, "" },
		{ "(foo)*", false, "" },
		{ "(foo){0}bar", false, "bar" },
		{ "foo|", false, "" },
		{ "foo|b.*", false, "foo|b" },
		{ "foo|.", false, "" },
		{ "(foo|bar).(baz|qux)", false, "foo&baz|foo&qux|bar&baz|bar&qux" },
		{ "[Tt]odo", false, "Todo|todo" },
		{ "a.bcd", false, "bcd" },
		{ "foobar.*oba", false, "foobar" },
		{ "(?=foo)bar", false, "bar" },
		{ "(?<!foo)bar", false, "bar" },
		{ "(?>foo)bar", false, "foobar" },
		{ "(?i)foo", false, "" },
		{ "(?i:foo)bar", false, "bar" },
		{ "(?-i:Foo)", true, "foo" },
		{ "\\x66oo\\.c", false, "foo.c" },
		{ "\\Qa.b\\E", false, "a.b" },
		{ "\xc3\xa9t", false, "\xc3\xa9t" },
		{ "\xc3\xa9tat", true, "tat" },
		{ "a\\tb", false, "a\tb" },
		/* Not understood: nothing is known. */
		{ "(?x)foo", false, "" },
		{ "foo(?R)?", false, "" },
		{ "(?(?=a)foo|foo)", false, "" },
		{ "foo(?#bar)", false, "" },
		{ "foo(*ACCEPT)bar", false, "" },
		{ "foo\\Kbar", false, "" },
		{ "a\\10foo", false, "" },
	};

	(void)context;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(4096);
		struct regex_facts facts;

		regex_facts_read(span_str(rows[i].pattern), rows[i].ignore_case, &facts);
		write_needs(&facts.needs, &text);
		check_text(rows[i].pattern, "needs", &text, rows[i].needs);
		regex_facts_release(&facts);
	}
}

static void patterns_for_many_lines_never_leave_one(void **context)
{
	static const struct {
		const char *pattern, *line_text;
	} rows[] = {
		{ "a.b", "a\\Nb" },
		{ "\\s+$", "[^\\S\\n]+$" },
		{ "\\W\\D\\H\\v", "[^\\w\\n][^\\d\\n][^\\h\\n][^\\V\\n]" },
		{ "\\w\\d\\S\\h", "\\w\\d\\S\\h" },
		{ "[^a]", "[^\\na]" },
		{ "[^]a]", "[^\\n\\]a]" },
		{ "[^-a]", "[^\\n\\-a]" },
		{ "[a-z_]", "[a-z_]" },
		{ "[\\s;]", "(?:(?!\\n)[\\s;])" },
		{ "\\p{Cc}", "(?:(?!\\n)\\p{Cc})" },
		{ "\\Qa{\\E3}", "\\x61\\x7b3}" },
		{ "(?s:.)", "(?s:\\N)" },
		{ "(\\w)\\1", "(\\w)(?:\\1)" },
		{ "\\Aa", "" },
		{ "a\\z", "" },
		{ "(?-m)^a", "" },
	};

	(void)context;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct regex_facts facts;

		regex_facts_read(span_str(rows[i].pattern), false, &facts);
		check_text(rows[i].pattern, "line text", &facts.line_text, rows[i].line_text);
		regex_facts_release(&facts);
	}
}

static void only_plain_texts_are_literals(void **context)
{
	static const struct {
		const char *pattern;
		bool ignore_case, literal;
	} rows[] = {
		{ "foo", false, true },       { "foo", true, true },
		{ "ask", true, false },       { "(f)(?:oo)", false, true },
		{ "fo{2}", false, true },     { "foo\\b", false, false },
		{ "^foo", false, false },     { "foo|bar", false, false },
		{ "(?=f)foo", false, false }, { "(?-i:foo)", true, false },
		{ "\\x66oo", false, true },   { "fo+", false, false },
		{ "(?>foo)", false, false },
	};

	(void)context;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct regex_facts facts;

		regex_facts_read(span_str(rows[i].pattern), rows[i].ignore_case, &facts);
		if ((facts.literal.len > 0) != rows[i].literal)
			fail_msg("%s is not %d", rows[i].pattern, rows[i].literal);
		regex_facts_release(&facts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_need_the_texts_that_are_in_all_of_them),
		cmocka_unit_test(patterns_for_many_lines_never_leave_one),
		cmocka_unit_test(only_plain_texts_are_literals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
