/* SPDX-License-Identifier: Apache-2.0 */
/* What rules ask: prefixes by words, options however they are written, what is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "shell/analysis.h"

static bool matches(const char *script, const char *prefix)
{
	_cleanup_shell_analysis_ struct shell_analysis analysis;

	shell_analyse(span_str(script), &analysis);
	assert_true(analysis.command_count > 0);
	return shell_command_matches_prefix(&analysis.commands[0], span_str(prefix));
}

static void test_prefix_is_compared_by_words(void **state)
{
	(void)state;
	assert_true(matches("git status", "git status"));
	assert_true(matches("git status -s", "git status"));
	assert_true(matches("git   'stat'us -s", "git status"));
	assert_true(matches("\\git st\"at\"us", "git status"));
	assert_true(matches("git status", "git 'status'"));
	assert_true(matches("git status > f", "git status"));
	assert_true(matches("git commit -m 'a b'", "git commit -m 'a b'"));
	assert_false(matches("git statusx", "git status"));
	assert_false(matches("git", "git status"));
	assert_false(matches("git 'status -s'", "git status -s"));
	assert_false(matches("'git status'", "git status"));
	assert_false(matches("/tmp/git status", "git status"));
	assert_false(matches("./git status", "git status"));
	assert_false(matches("git -c a=b status", "git status"));
	assert_false(matches("git $x status", "git status"));
	assert_false(matches("git stat$x", "git status"));
	assert_false(matches("git \"$x\"", "git status"));
	assert_false(matches("PATH=. git status", "git status"));
	assert_false(matches("sudo git status", "git status"));
}

static void test_a_bad_prefix_matches_nothing(void **state)
{
	static const char *const prefixes[] = { "", "  ", "$x", "git $x", "git; ls", "git | ls",
		                                "A=1 git", "git > f", "git 'st", "! git", "git &",
		                                "git status # x", "(git)", "git *",
		                                "git\nstatus", "{ git; }" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		assert_false(matches("git status", prefixes[i]));
}

/* Whether one of the commands has it. */
static bool has_option(const char *script, const char *name, char letter)
{
	_cleanup_shell_analysis_ struct shell_analysis analysis;
	bool found = false;

	shell_analyse(span_str(script), &analysis);
	for (size_t i = 0; i < analysis.command_count; i++)
		found |= shell_command_has_option(&analysis.commands[i], name, letter);
	return found;
}

/* Part E, rows 47 and 51: options in disguise. */
static void test_options_are_seen_however_written(void **state)
{
	static const char *const yes[] = {
		"git diff --output=M", "git diff --out\\put=M", "git diff --outp M", "sort -o M",
		"sort -uoM f", "sort -'o' M", "sort '-o'M", "git diff --\"output\"=M",
		"git diff $'--output=M'", "git diff $x", "git diff \"$x\"", "git diff --$x",
		"git diff -$x", "git diff {--output=M,x}", "git diff --o=M", "git diff *",
		"ls | xargs git diff", "git diff \"--output=$x\"",
	};
	static const char *const no[] = {
		"git diff", "git diff --stat", "git diff -- --output=M", "git diff output",
		"git diff --outputs=M", "sort -u f", "git diff src/*.c", "git diff --stat=\"$x\"",
		"git diff '' -", "git diff a$'\\x2do'",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		if (!has_option(yes[i], "--output", 'o'))
			fail_msg("%s has it", yes[i]);
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		if (has_option(no[i], "--output", 'o'))
			fail_msg("%s has it not", no[i]);
	assert_true(has_option("find . -delete", "-delete", 0));
	assert_true(has_option("find . -\"delete\"", "-delete", 0));
	assert_true(has_option("rg --pre=./x", "--pre", 0));
	assert_false(has_option("find . -name delete", "-delete", 0));
}

static void test_base_name(void **state)
{
	_cleanup_shell_analysis_ struct shell_analysis analysis;

	(void)state;
	shell_analyse(span_str("/usr/bin/'git' x; ls; $a; A=1; b/"), &analysis);
	assert_int_equal(analysis.command_count, 5);
	assert_true(span_eq(shell_command_base(&analysis.commands[0]), SPAN("git")));
	assert_true(span_eq(shell_command_base(&analysis.commands[1]), SPAN("ls")));
	for (size_t i = 2; i < 5; i++)
		assert_int_equal(shell_command_base(&analysis.commands[i]).len, 0);
}

/* The text may go, the analysis stays; an empty one is one too. */
static void test_text_is_copied(void **state)
{
	char text[] = "git status";
	_cleanup_shell_analysis_ struct shell_analysis analysis, empty;

	(void)state;
	shell_analyse(span_of(text, strlen(text)), &analysis);
	memset(text, 'x', sizeof(text));
	assert_true(shell_command_matches_prefix(&analysis.commands[0], SPAN("git status")));
	shell_analyse(span_of(NULL, 0), &empty);
	assert_int_equal(empty.command_count + empty.problem_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefix_is_compared_by_words),
		cmocka_unit_test(test_a_bad_prefix_matches_nothing),
		cmocka_unit_test(test_options_are_seen_however_written),
		cmocka_unit_test(test_base_name),
		cmocka_unit_test(test_text_is_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
