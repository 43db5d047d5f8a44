/* SPDX-License-Identifier: Apache-2.0 */
/* Which words of a value git_values.h reports, and what that costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sandbox/plan/git_values.h"

static void note_word(void *data, enum git_word kind, struct span word)
{
	buf_printf(data, "%c %.*s\n", kind, (int)word.len, word.data);
}

static void count_bytes(void *data, enum git_word kind, struct span word)
{
	size_t *bytes = data;

	(void)kind;
	*bytes += word.len;
}

/* The row of filter.f.clean. */
static const struct git_value *filter_row(void)
{
	struct git_config_item item = { .section = SPAN("filter"), .subsection = SPAN("f"),
		                        .name = SPAN("clean"), .value = SPAN("x"), .has_value = true };

	return git_value_find(&item);
}

static void the_words_of_a_list_cost_no_more_than_the_list(void **state)
{
	static const char *const parts[] = { "/a:", "/a=", "a/b,", "@/x", "/a!/", "-/a:" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		char text[3900];
		size_t len = 0, bytes = 0;

		while (len + strlen(parts[i]) < sizeof(text)) {
			memcpy(text + len, parts[i], strlen(parts[i]));
			len += strlen(parts[i]);
		}
		git_value_words(filter_row(), span_of(text, len), count_bytes, &bytes);
		/* Twice, each time as a whole, in parts and what follows a separator or option. */
		assert_true(bytes > 0 && bytes <= 8 * len);
	}
}

static char *words_of(const char *value)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);

	git_value_words(filter_row(), span_str(value), note_word, &out);
	buf_char(&out, '\n');
	return buf_steal(&out);
}

static void files_are_found(void **state)
{
	static const struct {
		const char *value, *word;
	} rows[] = {
		/* interpreters, with versions and options */
		{ "sh clean.sh %f", "s clean.sh\n" },
		{ "python3.11 clean", "s clean\n" },
		{ "/usr/bin/lua5.4 clean", "s clean\n" },
		{ "python3 -W ignore clean.py", "s clean.py\n" },
		{ "python3 -W ignore clean", "s clean\n" },
		{ "bash -eo pipefail clean", "s clean\n" },
		{ "python3 -m clean", "? clean\n" },
		{ "sh -c clean.sh", "a clean.sh\n" },
		{ "sh <clean", "s clean\n" },
		{ "cat clean.sh | sh", "a clean.sh\n" },
		{ "node tools/clean", "s tools/clean.js\n" },
		{ "node clean", "s clean.js\n" },
		/* behind -f */
		{ "awk -f clean", "s clean\n" },
		{ "sed -n -f clean.sed", "s clean.sed\n" },
		/* sub-commands */
		{ "deno run clean.ts", "s clean.ts\n" },
		{ "uv run --quiet clean.py", "s clean.py\n" },
		{ "go run clean.go", "s clean.go\n" },
		{ "go run .", "? .\n" },
		{ "java Clean.java", "s Clean.java\n" },
		{ "npm run clean", "? clean\n" },
		/* behind other commands */
		{ "timeout 5s sh clean", "s clean\n" },
		{ "flock .lock sh clean", "s clean\n" },
		{ "x --file=t/c", "a t/c\n" },
		{ "x --file=t,v/c", "a t,v/c\n" },
		{ "x a:/t/c:b", "a /t/c\n" },
		{ "x -It/c", "a t/c\n" },
		{ "x @t/c", "a t/c\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_free_ char *text = words_of(rows[i].value);

		if (!strstr(text, rows[i].word))
			fail_msg("%s: %s", rows[i].value, text);
	}
}

static void other_words_are_left_alone(void **state)
{
	static const char *const rows[] = {
		"vim build", "make test", "git-lfs clean -- %f", "less -R", "cat", "python3.11", "vim.tiny",
		"smtp.example.org", "sleep 1.5", "x . ..", "x .lock",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_free_ char *text = words_of(rows[i]);

		assert_string_equal(text, "\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_words_of_a_list_cost_no_more_than_the_list),
		cmocka_unit_test(files_are_found),
		cmocka_unit_test(other_words_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
