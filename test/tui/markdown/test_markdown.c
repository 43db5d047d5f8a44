/* SPDX-License-Identifier: Apache-2.0 */
/* Markdown as rows (tui/markdown/markdown.h), at once and as it arrives. */
#include "tui/markdown/markdown.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "part.h"
#include "tui/text/width.h"

static const char *docs; /* a folder with Markdown */

/* The rows, with marks: <role+marks text> where a run is not plain text. */
static void print_rows(const struct rows *rows, struct buf *out, bool styled)
{
	static const char *const names[] = {
#define NAME(symbol, name) name,
		ROLE_TABLE(NAME)
#undef NAME
	};

	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->at[i];

		for (size_t k = 0; k < row->count; k++) {
			const struct row_run *run = &row->runs[k];
			struct span text = span_of(row->text.data + run->start, run->len);
			const char *address = row_address(row, run);

			if (!styled) {
				buf_span(out, text);
				continue;
			}
			if (run->style.role != ROLE_TEXT || run->style.marks || address)
				buf_printf(out, "<%s%s%s%s%s%s%s:", names[run->style.role],
				           run->style.marks & MARK_BOLD ? " b" : "",
				           run->style.marks & MARK_ITALIC ? " i" : "",
				           run->style.marks & MARK_UNDERLINE ? " u" : "",
				           run->style.marks & MARK_STRIKE ? " s" : "",
				           address ? " " : "", address ? address : "");
			buf_span(out, text);
			if (run->style.role != ROLE_TEXT || run->style.marks || address)
				buf_char(out, '>');
		}
		buf_char(out, '\n');
	}
}

static void assert_markdown(const char *text, unsigned width, const char *expected, bool styled)
{
	_cleanup_rows_ struct rows rows = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	markdown_rows(span_str(text), width, &rows);
	print_rows(&rows, &out, styled);
	if (!span_eq(buf_view(&out), span_str(expected)))
		fail_msg("of\n%s\nbecame\n%.*s\nin place of\n%s", text, (int)out.len, out.data,
		         expected);
}

static void marks_within_a_line_are_styles(void **state)
{
	static const struct {
		const char *text, *rows;
	} cases[] = {
		{ "**b** *i* ***both*** ~~s~~ `c`",
		  "<text b:b> <text i:i> <text b i:both> <text s:s> <code:c>\n" },
		{ "2 * 3 * 4, snake_case_name", "2 * 3 * 4, snake_case_name\n" },
		{ "[text](https://x.org/a)",
		  "<link https://x.org/a:text><dim: ><dim https://x.org/a:(https://x.org/a)>\n" },
		{ "<https://x.org> https://y.org/_a_b",
		  "<link https://x.org:https://x.org> <link https://y.org/_a_b:https://y.org/_a_b>\n" },
		{ "[run](javascript:alert)", "<link:run><dim: (javascript:alert)>\n" },
		{ "[file](src/main.c)", "<link:file><dim: (src/main.c)>\n" },
		{ "![a picture](p.png)", "<link:a picture>\n" },
		{ "![](https://x.org/p.png)", "<link https://x.org/p.png:https://x.org/p.png>\n" },
		{ "&amp; &#65; &#x42; &mdash; &unknown;", "& A B — &unknown;\n" },
		{ "<div>*x*</div>", "<div><text i:x></div>\n" },
		{ "# One `c`", "<heading b u:One ><code b u:c>\n" },
		{ "### Three ###", "<heading b i:Three>\n" },
		{ "a\033[31mb\xe2\x80\xae", "a\\x1b[31mb\\u{202e}\n" },
		{ "[x](https://a\033]8;;b)", "[x](https://a\\x1b]8;;b)\n" },
		{ "two  \nlines\\\nthree", "two\nlines\nthree\n" },
		{ "many words [  \nx](x)", "many words\n<link:x>\n" },
		{ "**open and not closed", "**open and not closed\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_markdown(cases[i].text, 80, cases[i].rows, true);
}

static void blocks_are_laid_out(void **state)
{
	static const struct {
		const char *text, *rows;
	} cases[] = {
		{ "one\ntwo\n\n\nthree\n", "one two\n\nthree\n" },
		{ "# A\ntext\n## B\n", "A\n\ntext\n\nB\n" },
		{ "- a\n- b\n  - c\n    more\n- d", "• a\n• b\n  • c more\n• d\n" },
		{ "text:\n- a\n\n- b\n\n\nend", "text:\n• a\n\n• b\n\nend\n" },
		{ "3. a\n3. b\n\ntext\n\n1. c", "3. a\n4. b\n\ntext\n\n1. c\n" },
		{ "- [ ] a\n- [x] b", "• ☐ a\n• ☑ b\n" },
		{ "-\n- b", "• \n• b\n" },
		{ "> a\nlazy\n>\n> b\n> > c", "│ a lazy\n│\n│ b\n│ │ c\n" },
		{ "1. a\n\n   ```\n   code\n     more\n   ```\n2. b",
		  "1. a\n\n   code\n     more\n2. b\n" },
		{ "```c\nint a;\n\n\tb\n```\nafter", "int a;\n\n        b\n\nafter\n" },
		{ "````\n```\n````", "```\n" },
		{ "```\nno end", "no end\n" },
		{ "    code\n\n      more\n\ntext", "code\n\n  more\n\ntext\n" },
		{ "a\n---\nb\n===\nc",
		  "a\n\n────────────────────────────────────────\n\nb === c\n" },
		{ "[a]: https://x.org \"t\"", "[a]: https://x.org \"t\"\n" },
		{ "2. is no list\n", "2. is no list\n" },
		{ "year\n1986. was good", "year 1986. was good\n" },
		{ "a | b\n\n| c\nd", "a | b\n\n| c d\n" },
		{ "", "" },
		{ "\n\n\n", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_markdown(cases[i].text, 60, cases[i].rows, false);
}

static void tables_are_fitted_to_the_width(void **state)
{
	static const char text[] = "before:\n| Name | Value | Note |\n|---|--:|:-:|\n"
	                           "| a | 1 | **x** |\n| long name | 200 | some words more |\nend\n\nz";

	(void)state;
	assert_markdown(text, 80,
	                "before:\n\n"
	                "Name       Value       Note\n"
	                "─────────  ─────  ───────────────\n"
	                "a              1         x\n"
	                "long name    200  some words more\n"
	                "end\n\nz\n",
	                false);
	assert_markdown("| a | b |\n|--|--|\n| one two three | x |\n| y | z |", 14,
	                "a            b\n"
	                "───────────  ─\n"
	                "one two      x\n"
	                "three\n"
	                "───────────  ─\n"
	                "y            z\n",
	                false);
	assert_markdown("| a | b |\n|--|--|\n| one two | three four |\n| y | z |", 10,
	                "a: one two\n"
	                "b: three\n"
	                "  four\n"
	                "\n"
	                "a: y\n"
	                "b: z\n",
	                false);
	assert_markdown("> | a | b |\n> |-|-|\n> | 1 | 2 |\n- | c |\n  |-|\n  | 3 |", 40,
	                "│ a  b\n"
	                "│ ─  ─\n"
	                "│ 1  2\n"
	                "\n"
	                "• c\n"
	                "  ─\n"
	                "  3\n",
	                false);
	assert_markdown("| a | b |\n|-|-|\n| one<br>**two** | x<br />y<br/>z |", 40,
	                "a    b\n"
	                "───  ─\n"
	                "one  x\n"
	                "two  y\n"
	                "     z\n",
	                false);
	assert_markdown("| a | b |\n| c | d |", 40, "| a | b | | c | d |\n", false);
}

/* ---- as it arrives --------------------------------------------------------------- */

static void print_pieces(struct span text, unsigned width, bool source, unsigned seed, size_t most,
                         struct buf *out)
{
	struct markdown *md = markdown_new(width);
	_cleanup_rows_ struct rows rows = { 0 };

	markdown_source(md, source);
	while (text.len > 0) {
		seed = seed * 1103515245u + 12345u;
		markdown_feed(md, span_head(text, 1 + (seed >> 16) % most));
		text = span_skip(text, 1 + (seed >> 16) % most);
		if ((seed >> 8) % 3 > 0)
			markdown_take(md, &rows);
	}
	markdown_end(md, &rows);
	assert_int_equal(markdown_held(md), 0);
	print_rows(&rows, out, true);
	markdown_free(md);
}

static void assert_cuts(struct span text, unsigned width, bool source, const char *name)
{
	_cleanup_rows_ struct rows rows = { 0 };
	_cleanup_buf_ struct buf whole = BUF_INIT(64 << 20);

	if (source)
		markdown_source_rows(text, width, &rows);
	else
		markdown_rows(text, width, &rows);
	print_rows(&rows, &whole, true);
	for (unsigned seed = 0; seed < 4; seed++) {
		_cleanup_buf_ struct buf pieces = BUF_INIT(64 << 20);

		print_pieces(text, width, source, seed + width, seed == 0 ? 1 : 1 << (3 * seed), &pieces);
		if (!span_eq(buf_view(&whole), buf_view(&pieces))) {
			size_t at = 0;

			while (at < whole.len && at < pieces.len && whole.data[at] == pieces.data[at])
				at++;
			at = at > 60 ? at - 60 : 0;
			fail_msg("%s at %u columns, cuts %u:\n%.120s\nin place of\n%.120s", name,
			         width, seed, pieces.data + at, whole.data + at);
		}
	}
}

static void assert_cuts_do_not_matter(struct span text, unsigned width, const char *name)
{
	assert_cuts(text, width, false, name);
	assert_cuts(text, width, true, name);
}

static char *read_text(const char *folder, const char *name, size_t *len)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", folder, name);
	FILE *file = fopen(path, "r");
	char *text = mem_alloc(1 << 20, 1);

	assert_non_null(file);
	*len = fread(text, 1, 1 << 20, file);
	fclose(file);
	return text;
}

static void however_a_document_is_cut_its_rows_are_the_same(void **state)
{
	static const unsigned widths[] = { 20, 80 };
	struct dirent **entries = NULL;
	int count = scandir(docs, &entries, NULL, alphasort), documents = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		if (strstr(entries[i]->d_name, ".md")) {
			size_t len;
			char *text = read_text(docs, entries[i]->d_name, &len);

			assert_cuts_do_not_matter(span_of(text, len < 10000 ? len : 10000),
			                          widths[i % 2], entries[i]->d_name);
			free(text);
			documents++;
		}
		free(entries[i]);
	}
	free(entries);
	assert_true(documents > 10);
}

/* Texts of pieces that mean something to Markdown. */
static void however_a_text_of_marks_is_cut_its_rows_are_the_same(void **state)
{
	static const char *const pieces[] = {
		"word ", "a", "*", "**", "_", "`", "```\n", "\n", "\n\n", "- ", "1. ", "> ", "    ",
		"# ", "| a | b |\n|---|---|\n", "|", "[x](https://a.b)", "[", "](", ")", "<", ">",
		"&amp;", "\\", "  \n", "~~", "---\n", "===\n", "\t", "漢字", "👨‍👩‍👧", "\r\n", "\033",
		"\xff", "[ ] ", "some longer text that goes on and on until a row is full of it ",
	};
	unsigned seed = 7;

	(void)state;
	for (size_t i = 0; i < 300; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

		for (int k = 0; k < 60; k++) {
			seed = seed * 1103515245u + 12345u;
			buf_str(&text, pieces[(seed >> 16) % ARRAY_LEN(pieces)]);
		}
		if (i % part_step(3) == part_first(3))
			assert_cuts_do_not_matter(buf_view(&text), 10 + (unsigned)i % 50, text.data);
	}
}

static void take_rows(struct markdown *md, const char *piece, const char *expected)
{
	_cleanup_rows_ struct rows rows = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	markdown_feed(md, span_str(piece));
	markdown_take(md, &rows);
	print_rows(&rows, &out, false);
	if (!span_eq(buf_view(&out), span_str(expected)))
		fail_msg("after \"%s\": \"%.*s\"", piece, (int)out.len, out.data);
}

static void rows_are_taken_as_soon_as_they_are_certain(void **state)
{
	struct markdown *md = markdown_new(20);

	(void)state;
	take_rows(md, "The quick brown fox jumps over the lazy dog. The quick brown fox jumps",
	          "The quick brown fox\njumps over the lazy\ndog. The quick brown\n");
	assert_true(markdown_held(md) < 20);
	take_rows(md, " *over", "");
	take_rows(md, " the lazy dog again", "");
	take_rows(md, "* and", "fox jumps over the\n");
	take_rows(md, "\n\n", "lazy dog again and\n");
	assert_int_equal(markdown_held(md), 0);
	take_rows(md, "```c\nint a;\nint", "\nint a;\n");
	assert_int_equal(markdown_held(md), 3);
	take_rows(md, " b;\n```\n| a |\n", "int b;\n\n");
	take_rows(md, "|---|\n| 1 |\n", "");
	take_rows(md, "\n", "a\n─\n1\n");
	take_rows(md, "# Head", "");
	take_rows(md, "ing\n", "\nHeading\n");
	markdown_free(md);
}

static void a_width_holds_for_the_rows_that_follow(void **state)
{
	struct markdown *md = markdown_new(20);
	_cleanup_rows_ struct rows rows = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	(void)state;
	take_rows(md, "The quick brown fox jumps over the lazy dog. The quick brown fox jumps ",
	          "The quick brown fox\njumps over the lazy\ndog. The quick brown\n");
	markdown_width(md, 40);
	markdown_feed(md, SPAN("over the lazy dog."));
	markdown_end(md, &rows);
	print_rows(&rows, &out, false);
	assert_string_equal(out.data, "fox jumps over the lazy dog.\n");
	markdown_free(md);
}

static void what_is_forgotten_leaves_no_trace(void **state)
{
	static const char start[] = "- The quick brown fox jumps over the lazy dog. The quick brown "
	                            "fox jumps ";
	struct markdown *md = markdown_new(20);

	(void)state;
	take_rows(md, start, "• The quick brown\n  fox jumps over the\n  lazy dog. The\n");
	take_rows(md, "over *the", "  quick brown fox\n");
	assert_int_equal(markdown_forget(md, 9), 0);
	take_rows(md, "away ", "");
	take_rows(md, "and far beyond\n", "");
	take_rows(md, "\n", "  jumps away and far\n  beyond\n");
	take_rows(md, "| a |\n|---|\n| b |\n", "\n");
	assert_int_equal(markdown_forget(md, 6), 0);
	take_rows(md, "| c |\n\n", "a\n─\nc\n");
	take_rows(md, "short", "");
	assert_int_equal(markdown_held(md), 5);
	assert_int_equal(markdown_forget(md, 5), 0);
	take_rows(md, "one\ntwo\n```\n", "\none two\n");
	/* Of "one two" 8 bytes, and the fence's 4, are in rows or end what is there. */
	assert_int_equal(markdown_forget(md, 20), 20);
	take_rows(md, "new\n\n", "\nnew\n");
	markdown_free(md);
}

static void a_text_may_follow_another(void **state)
{
	struct markdown *md = markdown_new(20);

	(void)state;
	for (int i = 0; i < 2; i++) {
		_cleanup_rows_ struct rows rows = { 0 };
		_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

		markdown_feed(md, SPAN("> 1. a\n> 2. ```\n>    code"));
		markdown_end(md, &rows);
		print_rows(&rows, &out, false);
		assert_string_equal(out.data, "│ 1. a\n│ 2. code\n");
	}
	markdown_free(md);
}

static void as_source_each_line_is_what_it_is(void **state)
{
	static const struct {
		const char *text, *rows;
	} cases[] = {
		{ "# One\n\n\n- **two**\n  three `c`  \n\n", "# One\n\n\n- **two**\n  three `c`  \n" },
		{ "```c\n\tint a;\n```\r\n", "```c\n        int a;\n```\n" },
		{ "one two three four five six", "one two three four\nfive six\n" },
		{ "\n\na\033[31mb", "\n\na\\x1b[31mb\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_rows_ struct rows rows = { 0 };
		_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

		markdown_source_rows(span_str(cases[i].text), 20, &rows);
		print_rows(&rows, &out, true);
		assert_string_equal(out.data, cases[i].rows);
	}
}

/* Where nothing is open, and not within a code, whose end would be the beginning of one. */
static void source_and_rendered_text_take_turns(void **state)
{
	struct markdown *md = markdown_new(40);

	(void)state;
	take_rows(md, "some **text** and\n", "");
	markdown_source(md, true);
	take_rows(md, "*more*\n\n", "some text and more\n");
	take_rows(md, "*more*\n```\ncode\n", "\n*more*\n```\ncode\n");
	markdown_source(md, false);
	take_rows(md, "*code*\n```\n\n", "*code*\n```\n");
	take_rows(md, "*more*\n\n", "\nmore\n");
	markdown_source(md, true);
	take_rows(md, "The quick brown fox jumps over the lazy dog. The brown fox, the quick fo",
	          "\nThe quick brown fox jumps over the lazy\n");
	assert_int_equal(markdown_forget(md, 8), 0);
	take_rows(md, "slow dog\n", "dog. The brown fox, the slow dog\n");
	assert_int_equal(markdown_held(md), 0);
	markdown_free(md);
}

static void no_row_of_text_is_wider_than_the_width(void **state)
{
	size_t len;
	char *text = read_text(docs, "mcp.md", &len);

	(void)state;
	for (unsigned width = 1; width < 60; width += 7) {
		_cleanup_rows_ struct rows rows = { 0 };

		markdown_rows(span_of(text, len), width, &rows);
		for (size_t i = 0; i < rows.count; i++) {
			const struct row *row = &rows.at[i];

			if (row->count == 0 || row->runs[row->count - 1].style.role == ROLE_CODE)
				continue;
			assert_true(row->width <= (width < 4 ? 4 : width));
			assert_int_equal(row->width, width_of(buf_view(&row->text)));
		}
	}
	free(text);
}

/* Nothing that a model can write makes the text grow, or cost more than in proportion. */
static void what_never_ends_is_bounded(void **state)
{
	static const char *const pieces[] = { "[", "*a ", "`", "word ", "x", "> ", "| a ", "<a ", "(",
		                              "- ", "](", "_a_", "\\" };

	(void)state;
	for (size_t i = part_first(6); i < 2 * ARRAY_LEN(pieces); i += part_step(6)) {
		const char *piece = pieces[i / 2];
		struct markdown *md = markdown_new(80);
		_cleanup_rows_ struct rows rows = { 0 };

		markdown_source(md, i % 2);
		for (size_t fed = 0; fed < 1 << 20; fed += 1024) {
			char text[1024];

			for (size_t k = 0; k < sizeof(text); k++)
				text[k] = piece[(fed + k) % strlen(piece)];
			markdown_feed(md, span_of(text, sizeof(text)));
			markdown_take(md, &rows);
			rows_release(&rows);
			if (markdown_held(md) > MARKDOWN_SOURCE_MAX + MARKDOWN_LINE_MAX)
				fail_msg("of \"%s\" %zu bytes are held", piece,
				         markdown_held(md));
		}
		markdown_end(md, &rows);
		markdown_free(md);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_within_a_line_are_styles),
		cmocka_unit_test(blocks_are_laid_out),
		cmocka_unit_test(tables_are_fitted_to_the_width),
		cmocka_unit_test(however_a_document_is_cut_its_rows_are_the_same),
		cmocka_unit_test(however_a_text_of_marks_is_cut_its_rows_are_the_same),
		cmocka_unit_test(rows_are_taken_as_soon_as_they_are_certain),
		cmocka_unit_test(a_width_holds_for_the_rows_that_follow),
		cmocka_unit_test(what_is_forgotten_leaves_no_trace),
		cmocka_unit_test(a_text_may_follow_another),
		cmocka_unit_test(as_source_each_line_is_what_it_is),
		cmocka_unit_test(source_and_rendered_text_take_turns),
		cmocka_unit_test(no_row_of_text_is_wider_than_the_width),
		cmocka_unit_test(what_never_ends_is_bounded),
	};

	docs = argc > 1 ? argv[1] : "docs";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
