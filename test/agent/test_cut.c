/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that are cut, and cut again; and what of a prompt is the user's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/context/context.h"
#include "base/limits.h"
#include "base/mem.h"

static void expect_cut(const char *text, size_t head, size_t tail, const char *place,
                       const char *want)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	struct cut cut = cut_of(span_str(text));

	assert_true(cut_is_longer(&cut, head + tail));
	cut_write(&cut, head, tail, span_str(place), &out);
	buf_char(&out, 0);
	assert_string_equal(out.data, want);
	cut = cut_of(span_str(out.data));
	assert_false(cut_is_longer(&cut, head + tail));
}

static void there_is_one_note_however_often_it_is_cut(void **state)
{
	(void)state;
	expect_cut("abcdefghij", 2, 3, "", "ab\n[... 5 bytes left out ...]\nhij");
	expect_cut("abcdefghij", 2, 3, "see it", "ab\n[... 5 bytes left out; see it ...]\nhij");
	expect_cut("abcd\n[... 5 bytes left out; see it ...]\nhij", 2, 1, "",
	           "ab\n[... 9 bytes left out; see it ...]\nj");
	expect_cut("abcd\n[... 5 bytes left out; see it ...]\nhij", 2, 1, "there",
	           "ab\n[... 9 bytes left out; there ...]\nj");
	expect_cut("ab\n[... 7 lines, 50 bytes left out ...]\ncdef", 1, 1, "",
	           "a\n[... 54 bytes left out ...]\nf");
	/* What one side does not need is the other's. */
	expect_cut("abcdefgh\n[... 5 bytes left out ...]\nh", 2, 4, "",
	           "abcde\n[... 8 bytes left out ...]\nh");
	expect_cut("a\n[... 5 bytes left out ...]\nbcdefgh", 4, 1, "",
	           "a\n[... 8 bytes left out ...]\nefgh");
	expect_cut("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 3, 3, "",
	           "\xc3\xa4\n[... 4 bytes left out ...]\n\xc3\xa4");
}

static void what_only_looks_like_a_note_is_text(void **state)
{
	static const char *const texts[] = {
		"a\n[... bytes left out ...]\nb", "a\n[... 5 bytes left out\nb",
		"a [... 5 bytes left out ...]\nb", "a\n[... 5 bytes left out ...] b",
		"a\n[... 0 bytes left out ...]\nb", "a\n[... 99999999999999999999 bytes left out ...]\nb",
		"", "\n", "[... ",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_int_equal(cut_of(span_str(texts[i])).removed, 0);
}

static void a_prompt_is_what_the_user_said(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ " Sort it.\n", "Sort it." },
		{ "<hook_context>x</hook_context>\n\nSort it.", "Sort it." },
		{ "Sort it.<hook_context>x</hook_context>", "Sort it." },
		{ "<session_context>a</session_context><hook_context>b</hook_context> Sort it.", "Sort it." },
		{ "<session_context>a</session_context>", NULL },
		{ "<hook_context>never ended", NULL },
		{ "What is <hook_context>?", "What is <hook_context>?" },
		{ "</hook_context>", "</hook_context>" },
		{ " ", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_free_ char *words = context_first_prompt_of_text(span_str(cases[i].text));

		if (cases[i].words)
			assert_string_equal(words, cases[i].words);
		else
			assert_null(words);
	}
}

static void a_long_prompt_is_cut(void **state)
{
	static char text[10001];
	_cleanup_free_ char *words = NULL, *again = NULL;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	words = context_first_prompt_of_text(span_str(text));
	assert_in_range(strlen(words), 4000, 4100);
	assert_non_null(strstr(words, "[... 6000 bytes left out ...]"));
	again = context_first_prompt_of_text(span_str(words));
	assert_null(strstr(strstr(again, "[...") + 1, "[..."));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_is_one_note_however_often_it_is_cut),
		cmocka_unit_test(what_only_looks_like_a_note_is_text),
		cmocka_unit_test(a_prompt_is_what_the_user_said),
		cmocka_unit_test(a_long_prompt_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
