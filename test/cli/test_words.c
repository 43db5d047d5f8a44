/* SPDX-License-Identifier: Apache-2.0 */
/* How --worker is cut into words; which variables of the environment a command gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/command/private.h"

/* The words, each followed by a bar. */
static char *joined(char **words)
{
	struct buf text = BUF_INIT(1 << 16);

	for (size_t i = 0; words[i]; i++)
		buf_printf(&text, "%s|", words[i]);
	return buf_steal(&text);
}

static void assert_words(const char *text, const char *expected)
{
	struct err err = ERR_INIT;
	char **words = NULL;
	_cleanup_free_ char *found = NULL;

	if (!command_words_split(text, &words, &err))
		fail_msg("%s: %s", text, err.message);
	found = joined(words);
	assert_string_equal(found, expected);
	command_words_free(words);
}

static void assert_refused(const char *text)
{
	struct err err = ERR_INIT;
	char **words = NULL;

	assert_false(command_words_split(text, &words, &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	assert_null(words);
}

static void words_end_at_blanks(void **state)
{
	(void)state;
	assert_words("ssh host hasp worker", "ssh|host|hasp|worker|");
	assert_words("  a\t b\n c  ", "a|b|c|");
}

static void quotes_keep_blanks(void **state)
{
	(void)state;
	assert_words("a 'b c' d", "a|b c|d|");
	assert_words("a \"b c\"d'e f' g", "a|b cde f|g|");
	assert_words("a '' \"\"", "a|||");
	assert_words("'a\\ \"b' \"it's\"", "a\\ \"b|it's|");
}

static void a_backslash_takes_a_meaning_away(void **state)
{
	(void)state;
	assert_words("a\\ b \\'c \\\\", "a b|'c|\\|");
	assert_words("\"a\\\"b\\\\c\\d\"", "a\"b\\c\\d|");
	assert_words("a\\", "a\\|");
}

static void nothing_else_has_a_meaning(void **state)
{
	(void)state;
	assert_words("$HOME `x` $(y) *.c ~ a;b|c>d&e #f {g,h}",
	             "$HOME|`x`|$(y)|*.c|~|a;b|c>d&e|#f|{g,h}|");
}

static void an_array_is_its_strings(void **state)
{
	(void)state;
	assert_words("[\"ssh\", \"my host\", \"\", \"a\\\"b\"]", "ssh|my host||a\"b|");
	assert_words(" [\"a\"] ", "a|");
}

static void what_is_no_command_is_refused(void **state)
{
	(void)state;
	assert_refused("");
	assert_refused("  ");
	assert_refused("''");
	assert_refused("a 'b");
	assert_refused("a \"b\\\"");
	assert_refused("[]");
	assert_refused("[1]");
	assert_refused("[\"a\", null]");
	assert_refused("[\"a\\u0000b\"]");
	assert_refused("[\"a\"");
	assert_refused("[\"\"]");
}

static const char *const environment[] = {
	"PATH=/bin",         "GIT_AUTHOR_NAME=Ann", "GITHUB_TOKEN=x", "OWN=1",
	"URL=https://a:b@c", "KEEP=https://a/b@c",  "EMPTY=",         NULL,
};

static void assert_environment(const char *which, const char *expected, size_t withheld)
{
	const struct environment_options look = { .level = SANDBOX_FULL };
	_cleanup_child_env_ struct child_env env;
	_cleanup_free_ char *found = NULL;

	command_child_env_make(which, environment, &look, &env);
	found = joined((char **)env.vars);
	if (expected)
		assert_string_equal(found, expected);
	assert_int_equal(env.withheld_count, withheld);
}

static void secrets_are_withheld_unless_all_is_asked_for(void **state)
{
	(void)state;
	assert_environment(NULL, "PATH=/bin|GIT_AUTHOR_NAME=Ann|OWN=1|KEEP=https://a/b@c|EMPTY=|", 2);
	assert_environment("safe", "PATH=/bin|GIT_AUTHOR_NAME=Ann|OWN=1|KEEP=https://a/b@c|EMPTY=|", 2);
	assert_environment("keep", "PATH=/bin|GIT_AUTHOR_NAME=Ann|GITHUB_TOKEN=x|OWN=1|"
	                           "URL=https://a:b@c|KEEP=https://a/b@c|EMPTY=|", 0);
	assert_environment("clean", NULL, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_end_at_blanks),
		cmocka_unit_test(quotes_keep_blanks),
		cmocka_unit_test(a_backslash_takes_a_meaning_away),
		cmocka_unit_test(nothing_else_has_a_meaning),
		cmocka_unit_test(an_array_is_its_strings),
		cmocka_unit_test(what_is_no_command_is_refused),
		cmocka_unit_test(secrets_are_withheld_unless_all_is_asked_for),
	};

	return cmocka_run_group_tests_name("cli words", tests, NULL, NULL);
}
