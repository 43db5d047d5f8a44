/* SPDX-License-Identifier: Apache-2.0 */
/* Words that a user types stay words, wherever the command's author put them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "shell/analysis.h"

/* "@" in a template is a typed word. */
static const char *const templates[] = {
	"printf %s @",
	"printf %s \"@\"",
	"printf %s '@'",
	"printf %s a\"b @ c\"'d @'@",
	"printf %s \"$(printf %s \"@\")\"",
	"printf %s \"$(printf %s @)\"",
	"printf %s `printf %s @`",
	"cat <<EOF\n@\nEOF",
	"cat <<'EOF'\n@\nEOF",
	"cat <<-EOF\n\t@\n\tEOF",
	"cat <<< @",
	"cat <<< \"@\"",
	"bash -c 'printf %s @'",
	"bash -c \"printf %s @\"",
	"sh -c \"printf %s '@'\"",
	"bash -c @",
	"eval printf %s @",
	"eval \"printf %s \\\"@\\\"\"",
	"true # @",
	"x=@; printf %s \"$x\"",
	"printf %s ${x:-@}",
	"printf %s \"${x:-@}\"",
	"printf %s $((@))",
	"test -n @ && true",
	"[[ -n @ ]]",
	"case @ in a) true;; esac",
	"for i in @; do printf %s \"$i\"; done",
	"printf %s \\@",
	"printf %s $'@'",
	"printf %s $\"@\"",
	"f() { printf %s @; }; f",
	"(printf %s @)",
	"printf %s {a,@}",
	"env x=@ true",
	"timeout 5 printf %s @",
	"find . -maxdepth 0 -exec printf %s @ \\;",
	"xargs -I{} printf %s @ </dev/null",
	"awk 'BEGIN { print \"@\" }'",
};

/* Each would make the file if it were more than a word. */
static const char *const typed[] = {
	"$(touch made)",  "`touch made`",    "; touch made",        "& touch made",
	"| touch made",   "|| touch made",   "\ntouch made\n",      "'; touch made; '",
	"\"; touch made; \"", "'$(touch made)'", "\"$(touch made)\"", "') touch made (",
	"\nEOF\ntouch made\n", "\n\tEOF\n\ttouch made\n", "}; touch made; {", ")); touch made; ((",
	"\\'; touch made #", "x[$(touch made)]", "a) touch made ;;", ">made", "$((x[$(touch made)]))",
	"<(touch made)", "\\$(touch made)", "$'\\x60touch made\\x60'", "'\"'$(touch made)'\"'",
	"a b", "it's", "*", "$HOME", "!!", "~", "-n",
};

static void build(const char *template, const char *word, struct shell_line *line)
{
	for (const char *at = template; *at;) {
		const size_t len = strcspn(at, "@");

		shell_line_text(line, span_of(at, len));
		at += len;
		if (*at == '@') {
			shell_line_word(line, span_str(word));
			at++;
		}
	}
}

static void test_what_holds_runs_nothing_else(void **state)
{
	char folder[] = "/tmp/hasp-typed-XXXXXX";
	size_t held = 0;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < ARRAY_LEN(templates); i++) {
		for (size_t k = 0; k < ARRAY_LEN(typed); k++) {
			_cleanup_shell_line_ struct shell_line line = SHELL_LINE_INIT(1 << 16);
			_cleanup_free_ char *script = NULL, *made = mem_printf("%s/made", folder);

			build(templates[i], typed[k], &line);
			if (!shell_line_holds(&line))
				continue;
			held++;
			script = mem_printf("cd %s && bash -c \"$LINE\" >/dev/null 2>&1 </dev/null",
			                    folder);
			setenv("LINE", line.line.data, 1);
			(void)!system(script);
			if (remove(made) == 0)
				fail_msg("%s\nwith %s runs it: %s", templates[i], typed[k],
				         line.line.data);
		}
	}
	remove(folder);
	/* Not by refusing everything: words between words and in quotes hold. */
	assert_true(held > ARRAY_LEN(templates) * ARRAY_LEN(typed) / 3);
}

static bool holds(const char *template, const char *word)
{
	_cleanup_shell_line_ struct shell_line line = SHELL_LINE_INIT(1 << 16);

	build(template, word, &line);
	return shell_line_holds(&line);
}

static void test_words_hold_where_shells_read_words(void **state)
{
	static const char *const places[] = {
		"grep -r @ src", "grep -r \"@\" src", "grep -r '@' src", "git log --grep=\"a @ b\" | head",
		"(echo @; echo \"@\") > out", "for i in @; do echo \"$i\"; done",
	};
	static const char *const words[] = {
		"$(touch x)", "it's", "a; b", "\"quoted\"", "two\nlines", "back\\slash", "*", "$HOME", "",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		for (size_t k = 0; k < ARRAY_LEN(words); k++)
			if (!holds(places[i], words[k]))
				fail_msg("%s with %s", places[i], words[k]);
	/* What no shell could misread holds anywhere. */
	assert_true(holds("bash -c \"echo @\"", "src/a-b.c"));
	assert_false(holds("bash -c \"echo @\"", "$x"));
	assert_false(holds("echo 'open @", "$x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_holds_runs_nothing_else),
		cmocka_unit_test(test_words_hold_where_shells_read_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
