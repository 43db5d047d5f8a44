/* SPDX-License-Identifier: Apache-2.0 */
/* Updates whose old text is not in the file as it is written: what is undone, what is refused. */
#include "edit_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct row {
	const char *name;
	const char *before, *old_text, *text;
	const char *after; /* NULL: refused as not occurring */
	const char *says;  /* part of the note, or of the refusal's message */
};

#define TABBED "void f(void)\n{\n\tif (one) {\n\t\ttwo();\n\t\tthree();\n\t}\n}\n"
#define SPACED "class A:\n    def f(self):\n        one()\n        two()\n\n    def g(self):\n        pass\n"

static const struct row rows[] = {
	/* another indentation */
	{ "a block without its indentation", SPACED, "def f(self):\n    one()\n    two()",
	  "def f(self):\n    one()\n    if x:\n        two()",
	  "class A:\n    def f(self):\n        one()\n        if x:\n            two()\n\n"
	  "    def g(self):\n        pass\n",
	  "stands at line 2 with other indentation" },
	{ "a block indented too far", SPACED, "        def f(self):\n            one()\n",
	  "        def f(self):\n            zero()\n            one()\n",
	  "class A:\n    def f(self):\n        zero()\n        one()\n        two()\n\n"
	  "    def g(self):\n        pass\n",
	  "line 2" },
	{ "spaces for tabs", TABBED, "    if (one) {\n        two();\n",
	  "    if (one) {\n        if (two())\n            four();\n",
	  "void f(void)\n{\n\tif (one) {\n\t\tif (two())\n\t\t\tfour();\n\t\tthree();\n\t}\n}\n",
	  "line 3" },
	{ "tabs for spaces", SPACED, "\tdef f(self):\n\t\tone()\n", "\tdef f(self):\n\t\tif x:\n\t\t\tone()\n",
	  "class A:\n    def f(self):\n        if x:\n            one()\n        two()\n\n"
	  "    def g(self):\n        pass\n",
	  "line 2" },
	{ "spaces for tabs, and a level less", TABBED, "if (one) {\n    two();\n    three();\n",
	  "if (one) {\n    if (x)\n        two();\n    three();\n",
	  "void f(void)\n{\n\tif (one) {\n\t\tif (x)\n\t\t\ttwo();\n\t\tthree();\n\t}\n}\n", "line 3" },
	{ "spaces for tabs, in one level", TABBED, "    two();\n    three();\n",
	  "    if (x)\n        two();\n    three();\n", NULL, "line 4" },
	{ "a new line that is aligned, in another unit", TABBED, "    if (one) {\n        two();\n",
	  "    if (one) {\n        two(a,\n            b);\n", NULL, "line 3" },
	{ "two spaces a level for four", SPACED, "  def f(self):\n    one()\n",
	  "  def f(self):\n    if x:\n      one()\n",
	  "class A:\n    def f(self):\n        if x:\n            one()\n        two()\n\n"
	  "    def g(self):\n        pass\n",
	  "line 2" },
	{ "aligned lines keep their place", "other_call(1,\n  b)\n    f(a,\n      b)\n",
	  "f(a,\n  b)", "f(a,\n  b,\n  c)",
	  "other_call(1,\n  b)\n    f(a,\n      b,\n      c)\n", "line 3" },
	{ "lines of a CRLF file", "a\r\n\tbcde\r\n\tcdef\r\n", "bcde\ncdef\n", "bcde\nx\ncdef\n",
	  "a\r\n\tbcde\r\n\tx\r\n\tcdef\r\n", "line 2" },
	{ "one line is too little evidence", SPACED, "\tone()", "\tone(1)", NULL,
	  "line 3 of the file is `        one()`, the text has `\\tone()`" },
	{ "one line shifted, the other not", SPACED, "    def f(self):\n    one()\n", "x\n", NULL,
	  "line 3 of the file is `        one()`, the text has `    one()`" },
	{ "two places", "if a:\n  f(1)\n  g(1)\nif b:\n    f(1)\n    g(1)\n", "f(1)\n\tg(1)\n", "x\n",
	  NULL, "nearest place is line 2" },
	{ "a level that the evidence does not explain", TABBED, "    if (one) {\n        two();\n",
	  "    if (one) {\n      two();\n", NULL, "line 3" },
	{ "tabs and spaces mixed", TABBED, "    if (one) {\n\t\ttwo();\n", "    if (one) {\n\t\t\tx();\n",
	  NULL, "line 3 of the file is `\\tif (one) {`, the text has `    if (one) {`" },

	/* the numbers of a listing */
	{ "an arrow", "a\nbc\n\tde\n", "  2\xE2\x86\x92" "bc\n  3\xE2\x86\x92\tde", "  2\xE2\x86\x92" "BC\n  3\xE2\x86\x92\tde",
	  "a\nBC\n\tde\n", "line numbers" },
	{ "a bar and a space", "a\nbc\n\tde\n", "2| bc\n3| \tde\n", "2| BC\n3| \tde\n", "a\nBC\n\tde\n",
	  "line numbers" },
	{ "a colon, in the old text alone", "a\nbc\nde\n", "12:bc\n13:de\n", "x\n", "a\nx\n",
	  "line numbers" },
	{ "a tab", "a\nbc\nde\n", "9\tbc\n10\tde", "9\tBC\n10\tde\n11\tf", "a\nBC\nde\nf\n",
	  "line numbers" },
	{ "a lone line at its number", "a\nbc\nde\n", "2:bc", "2:BC", "a\nBC\nde\n", "line numbers" },
	{ "a lone line at another number", "443: 8080\n", "80: 8080", "80: 9090", NULL, "" },
	{ "numbers that skip", "a\nbc\nde\n", "1:bc\n3:de\n", "x\n", NULL, "" },
	{ "numbers in some of the new lines", "a\nbc\nde\n", "2:bc\n3:de\n", "2:bc\nx\n", NULL, "" },
	{ "numbers that the file has", "1:a\n2:b\na\nb\n", "1:a\n2:b\n", "1:x\n2:b\n",
	  "1:x\n2:b\na\nb\n", "" },

	/* done already */
	{ "a replaced line", "int total = count(1, 2);\n", "int total = count(1);\n",
	  "int total = count(1, 2);\n", "int total = count(1, 2);\n", "already is, at line 1" },
	{ "an inserted line", "first line\nnew line\nlast line\n", "first line\nlast line\n",
	  "first line\nnew line\nlast line\n", "first line\nnew line\nlast line\n", "line 1" },
	{ "lines that were wrapped", "if (checked) {\n\tfirst();\n\tsecond();\n}\n",
	  "first();\nsecond();\n", "if (checked) {\n\tfirst();\n\tsecond();\n}\n",
	  "if (checked) {\n\tfirst();\n\tsecond();\n}\n", "line 1" },
	{ "a removed line", "x\nfirst line\nlast line\n", "first line\nmiddle line\nlast line\n",
	  "first line\nlast line\n", "x\nfirst line\nlast line\n", "line 2" },
	{ "a short new text", "x = 2\n", "x = 1\n", "x = 2\n", NULL, "" },
	{ "an empty new text", "something\n", "something else\n", "", NULL, "" },
	{ "a new text that stands twice", "return error;\nreturn error;\n", "return failure;\n",
	  "return error;\n", NULL, "" },
	{ "a new text that is part of a line", "return compute(a) + 1;\n", "return compute();\n",
	  "return compute(a)", NULL, "" },
	{ "a new text elsewhere, the old one stale",
	  "log(\"second\");\nf();\nlog('first');\n", "log(\"first\");\n", "log(\"second\");\n", NULL, "" },
	{ "a lone new line that has nothing of the old one", "initialise_everything();\nx\n", "zq();\n",
	  "initialise_everything();\n", NULL, "" },
	{ "a brace that went from between lines", "first line\nlast line\n}\n",
	  "first line\n}\nlast line\n", "first line\nlast line\n", "first line\nlast line\n}\n",
	  "line 1" },
	{ "a brace that went after lines, and may be there", "first line\nlast line\n}\n",
	  "first line\nlast line\n\n}\n", "first line\nlast line\n", NULL, "" },
	{ "closers alone", "x {\n    }\n    added();\n  }\ny {\n  }\n}\n", "    }\n  }",
	  "    }\n    added();\n  }", NULL, "line 6" },
	{ "another text, and a like block at another depth",
	  "if (ret < 0) {\n    log_error(ret, 1);\n    goto out;\n}\n"
	  "    if (ret < 0) {\n        log_error(ret);\n        goto out;\n    }\n",
	  "if (ret < 0) {\n    log_error(ret);\n    goto out;\n}", "x",
	  NULL, "line 5 with other indentation, but line 1 has more of its lines" },
	{ "done, and a like block at another depth",
	  "    except E as m:\n        check(m, 1)\n\n        except E as m:\n            check(m)\n",
	  "    except E as m:\n        check(m)", "    except E as m:\n        check(m, 1)", NULL,
	  "line 4 with other indentation, but line 1 has the new text" },
	{ "the new text is there, and the old one never was",
	  "func A() {\n\tgot := run(input)\n\tcheck(got)\n}\n", "\tlegacy_one();\n\tlegacy_two();",
	  "func A() {\n\tgot := run(input)\n\tcheck(got)\n}", NULL, "" },
	{ "the new text is a part of the old one",
	  "int two(void)\n{\n}\n\nint three(void)\n{\n", "int two(void)\n    {\n}\n\nint three(void)",
	  "int three(void)", NULL, "" },
	{ "a text that overlaps itself, and it makes no difference", "x\n}\n}\n}\ny\n", "}\n}\n",
	  "}\n", "x\n}\n}\ny\n", "" },
	{ "another copy of a line", "import os\nimport re\nx\n", "import os\n",
	  "import os\nimport re\n", "import os\nimport re\nimport re\nx\n", "" },
	{ "another copy of a line, in the numbers of a listing", "import os\nimport re\nx\n",
	  "1\timport os\n", "1\timport os\n2\timport re\n",
	  "import os\nimport re\nimport re\nx\n", "line numbers" },
	{ "numbers with a space after them, or with a space of the line's", "a1\nb1\nx\n a1\n b1\n",
	  "1: a1\n2: b1", "1: a1\n2: c1", NULL,
	  "without line numbers and a space after them, and without line numbers" },
	{ "lines added that another place has", "import os\nx\nimport re\n", "import os\n",
	  "import os\nimport re\n", "import os\nimport re\nx\nimport re\n", "" },

	/* what is left, what differs */
	{ "whole lines without their end", "a\nb\nc\n", "b", "", "a\n\nc\n",
	  "An empty line remains where the text was (first at line 2)" },
	{ "whole lines with their end", "a\nb\nc\n", "b\n", "", "a\nc\n", "" },
	{ "a part of a line", "a\nbb c\nc\n", "bb ", "", "a\nc\nc\n", "" },
	{ "spaces that nobody sees", "a\nint one\xC2\xA0= 1;\n", "int one = 1;", "x", NULL,
	  "line 2 of the file is `int one\\u{a0}= 1;`, the text has `int one = 1;`" },
	{ "a line that is somewhat different", "a\nint total = compute(1);\nb\n",
	  "int total = compute(2);\n", "x", NULL,
	  "The nearest place is line 2, where 0 of 1 lines are the same. First difference: line 2 of "
	  "the file is `int total = compute(1);`, the text has `int total = compute(2);`." },
	{ "a line that is unlike, but for its words",
	  "{\n\tx = compute_total_of_things(alpha, beta);\n}\n{\n\ty = alpha;\n}\n",
	  "\tx = gnihtemos_esle(alpha, beta, gamma, other_words_that, make_it_unlike);", "x", NULL,
	  "The nearest place is line 2, where 0 of 1 lines are the same." },
	{ "words that two lines have",
	  "{\n\tx = compute_total_of_things(alpha, beta);\n}\n{\n\ty = compute_more(alpha, beta);\n}\n",
	  "\tx = gnihtemos_esle(alpha, beta, gamma, other_words_that, make_it_unlike);", "x", NULL,
	  "Nothing in the file is like it." },
	{ "nothing like it", "abc\n", "zzzzzz", "x", NULL, "Nothing in the file is like it." },
};

static void check_row(struct fixture *f, const struct row *row)
{
	struct change change = { .kind = CHANGE_UPDATE, .path = "f",
	                         .old_text = span_str(row->old_text), .text = span_str(row->text) };
	struct change_result result = { 0 };
	struct err err = ERR_INIT;
	const char *said;
	bool ok;

	fixture_put(f, "f", row->before);
	ok = edit_apply(f->ws, &change, 1, NULL, &result, &err);
	said = ok ? result.note : err.message;
	if (ok != (row->after != NULL) || (!ok && err.code != ERR_WRONG_MATCH_COUNT) ||
	    !strstr(said, row->says) || (ok && !row->says[0] && said[0]))
		fail_msg("%s: %s: %s", row->name, ok ? "done" : "refused", said);
	if (!ok)
		assert_int_equal(result.replaced, 0);
	fixture_expect(f, "f", ok ? row->after : row->before);
	change_result_release(&result);
}

static void test_rows(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check_row(&f, &rows[i]);
	fixture_close(&f);
}

static void test_no_write_when_done(void **state)
{
	struct change changes[] = {
		{ .kind = CHANGE_UPDATE, .path = "done", .old_text = SPAN("first line\nlast line\n"),
		  .text = SPAN("first line\nnew line\nlast line\n") },
		{ .kind = CHANGE_UPDATE, .path = "other", .old_text = SPAN("a"), .text = SPAN("b") },
	};
	struct change_result results[2] = { 0 };
	struct err err = ERR_INIT;
	struct fixture f;

	(void)state;
	fixture_open(&f);
	fixture_put(&f, "done", "first line\nnew line\nlast line\n");
	fixture_put(&f, "other", "a\n");
	assert_true(edit_apply(f.ws, changes, 2, NULL, results, &err));
	assert_true(results[0].done && results[1].done);
	assert_int_equal(results[0].replaced, 0);
	assert_int_equal(results[0].lines_added + results[0].lines_removed, 0);
	fixture_expect(&f, "other", "b\n");
	for (size_t i = 0; i < 2; i++)
		change_result_release(&results[i]);
	fixture_close(&f);
}

/* What the caller says of a call that it made before. */
static const struct made_row {
	const char *name, *before, *old_text, *text;
	const char *left; /* the file as that call left it; NULL: the call was never made */
	const char *base; /* the file that the call is meant for; NULL: as it is */
	enum err_code code;
	bool already;
} made_rows[] = {
	{ "lines that it added", "a()\nlogging()\nx\n", "a()\n", "a()\nlogging()\n",
	  "a()\nlogging()\n", NULL, ERR_NONE, true },
	{ "lines that it added, and somebody took out", "a()\nx\n", "a()\n", "a()\nlogging()\n",
	  "a()\nlogging()\n", NULL, ERR_NONE, false },
	{ "a word that says nothing", "b\nb\n", "a", "b", "b\nb\n", NULL, ERR_NONE, true },
	{ "the same, of a file that was changed since", "b\nb\nc\n", "a", "b", "b\nb\n", NULL,
	  ERR_WRONG_MATCH_COUNT, false },
	{ "the same, which was never made", "b\nb\n", "a", "b", NULL, NULL, ERR_WRONG_MATCH_COUNT,
	  false },
	{ "of an old state, with the old text there", "a()\nlogging()\nx\n", "a()\n",
	  "a()\nlogging()\n", NULL, "a()\nx\n", ERR_STATE_MISMATCH, false },
	{ "of an old state, and it was made", "a()\nlogging()\nx\n", "a()\n", "a()\nlogging()\n",
	  "a()\nlogging()\n", "a()\nx\n", ERR_STATE_MISMATCH, true },
	{ "a diff whose lines are everywhere", "}\n}\n}\n", "", "@@\n-{\n+}\n", "}\n}\n}\n",
	  "}\n}\n}\n", ERR_NONE, true },
};

static void test_made_before(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f);
	for (size_t i = 0; i < ARRAY_LEN(made_rows); i++) {
		const struct made_row *row = &made_rows[i];
		const struct sha256 left = sha256_of(span_str(row->left ? row->left : ""));
		const struct sha256 base = sha256_of(span_str(row->base ? row->base : ""));
		struct change change = { .kind = *row->old_text ? CHANGE_UPDATE : CHANGE_PATCH,
			                 .path = "f", .old_text = span_str(row->old_text),
			                 .text = span_str(row->text),
			                 .base = row->base ? &base : NULL,
			                 .made = row->left ? &left : NULL };
		struct change_result result = { 0 };
		struct err err = ERR_INIT;

		fixture_put(&f, "f", row->before);
		edit_apply(f.ws, &change, 1, NULL, &result, &err);
		if (err.code != row->code || result.already != row->already)
			fail_msg("%s: %s: %s", row->name, result.already ? "made" : "not made",
			         err.code ? err.message : result.note);
		if (row->already)
			fixture_expect(&f, "f", row->before);
		change_result_release(&result);
	}
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_made_before),
		cmocka_unit_test(test_no_write_when_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
