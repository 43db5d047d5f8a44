/* SPDX-License-Identifier: Apache-2.0 */
/* Code in colours (tui/markdown/private.h), and what the program makes of it (highlight.h). */
#include "tui/markdown/private.h"

#include <dlfcn.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "part.h"
#include "tui/markdown/highlight.h"
#include "tui/markdown/markdown.h"
#include "tui/text/rows.h"
#include "tui/view/view.h"

static const char *program, *module; /* this one, and hasp-highlight.so */

static char letter_of(uint8_t role)
{
	switch (role) {
	case ROLE_KEYWORD: return 'k';
	case ROLE_STRING: return 's';
	case ROLE_NUMBER: return 'n';
	case ROLE_COMMENT: return 'c';
	case ROLE_TYPE: return 't';
	case ROLE_FUNCTION: return 'f';
	case ROLE_CONSTANT: return 'C';
	case ROLE_ATTRIBUTE: return 'a';
	default: return '.';
	}
}

static bool colour_line(struct colour *colour, const char *line, size_t len, size_t *at,
                        uint8_t *roles)
{
	const bool added = colour_add(colour, line, len);

	colour_paint(colour, *at, len, roles);
	*at += added ? len + 1 : 0;
	return added;
}

/* Each line, and beneath it a letter for each byte's role. */
static void colour_text(const char *language, const char *text, struct buf *out)
{
	struct colour *colour = colour_new(language);
	struct span rest = span_str(text), line;
	size_t at = 0;

	if (!colour)
		fail_msg("%s is not known", language);
	while (line_next(&rest, &line)) {
		uint8_t roles[256];

		line = line_body(line);
		assert_true(colour_line(colour, line.data, line.len, &at, roles));
		for (size_t i = 0; i < line.len; i++)
			buf_char(out, line.data[i] == ' ' ? ' ' : letter_of(roles[i]));
		buf_char(out, '\n');
	}
	colour_free(colour);
}

static void each_language_is_coloured(void **state)
{
	static const struct {
		const char *language, *text, *roles;
	} cases[] = {
		{ "c",
		  "int main(void) /* x */\n{ return f(1, \"s\"); }\n#define A_B 3",
		  "ttt ffff.tttt. cc c cc\n. kkkkkk f.n. sss.. .\nkkkkkkk CCC .\n" },
		{ "cpp",
		  "class A : B { public: int x = 1; };\n// c\nauto y = std::move(x);",
		  "kkkkk t . t . kkkkkk. ttt . . n. ..\ncc c\ntttt . . .....ffff....\n" },
		{ "py",
		  "def f(x: int) -> str:\n    return \"a\" + str(1)  # c\nclass A: pass",
		  "kkk f... ttt. .. ttt.\n    kkkkkk sss . fff.n.  c c\nkkkkk C. kkkk\n" },
		{ "js",
		  "const f = (x) => `a${x}b`; // c\nfoo.bar(1, null);",
		  "kkkkk f . ... .. ss....ss. cc c\n....fff.n. CCCC..\n" },
		{ "ts",
		  "interface A { b: string }\nconst x: number = f(1) // c",
		  "kkkkkkkkk t . .. tttttt .\nkkkkk .. tttttt . f.n. cc c\n" },
		{ "tsx",
		  "const a: A = <div id=\"x\">t</div>;",
		  "kkkkk .. t . .... ...sss.........\n" },
		{ "go",
		  "func main() { fmt.Println(\"x\", 1) } // c\ntype T struct{}",
		  "kkkk ffff.. . ....fffffff.sss. n. . cc c\nkkkk t kkkkkk..\n" },
		{ "rs",
		  "fn main() -> Vec<u8> { let x = 1; println!(\"a\"); } // c",
		  "kk ffff.. .. ttt.tt. . kkk . . C. ffffffff.sss.. . cc c\n" },
		{ "c",
		  "/*\n * if 1\n */ int x;\n// /* \nint y = 'a'; /* z",
		  "cc\n c cc c\n cc ttt ..\ncc cc \nttt . . nnn. cc c\n" },
		{ "py",
		  "def f():\n    \"\"\"doc\n    if 1\n    \"\"\"\n    return 1",
		  "kkk f...\n    ssssss\n    ss s\n    sss\n    kkkkkk n\n" },
		{ "java",
		  "class A { int f() { return 1; } } // c",
		  "kkkkk t . ttt f.. . kkkkkk n. . . cc c\n" },
		{ "json",
		  "{ \"a\": [1, true, \"s\"] }",
		  ". sss. .n. CCCC. sss. .\n" },
		{ "yaml",
		  "a: 1 # c\nb: \"s\"\nc: true",
		  "a. n c c\na. sss\na. CCCC\n" },
		{ "toml",
		  "[a]\nb = 1 # c\nd = \"s\"",
		  ".t.\na a n c c\na a sss\n" },
		{ "bash",
		  "if true; then echo \"a $b\"; fi # c",
		  "kk ffff. kkkk ffff ss sss. kk c c\n" },
		{ "html",
		  "<p class=\"x\">t</p><!-- c -->",
		  ".k aaaaa..s.....k.cccc c ccc\n" },
		{ "css",
		  "a.b { color: red; margin: 1px } /* c */",
		  "k.a . aaaaa. .... aaaaaa. ntt . cc c cc\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

		colour_text(cases[i].language, cases[i].text, &out);
		if (!span_eq(buf_view(&out), span_str(cases[i].roles)))
			fail_msg("%s:\n%s\n%s", cases[i].language, cases[i].text, out.data);
	}
}

static void each_name_of_a_language_has_a_query_that_fits(void **state)
{
	(void)state;
	for (size_t i = 0; colour_language(i); i++) {
		struct span rest = span_str(colour_language(i));

		while ((rest = span_trim(rest)).len > 0) {
			const size_t len = strcspn(rest.data, " ");
			_cleanup_free_ char *name = mem_dup(rest.data, len);
			struct colour *colour = colour_new(name);

			if (!colour)
				fail_msg("%s is not coloured", name);
			colour_free(colour);
			rest = span_skip(rest, len);
		}
	}
	assert_null(colour_new(""));
	assert_null(colour_new("c h"));
	assert_null(colour_new("unknown"));
}

static void what_is_too_long_is_not_coloured(void **state)
{
	struct colour *colour = colour_new("c");
	_cleanup_free_ char *line = mem_alloc(COLOUR_LINE_MAX + 1, 1);
	_cleanup_free_ uint8_t *roles = mem_alloc(COLOUR_LINE_MAX + 1, 1);
	size_t at = 0;

	(void)state;
	memset(line, ' ', COLOUR_LINE_MAX + 1);
	memcpy(line, "int", 3);
	assert_true(colour_line(colour, line, 3, &at, roles));
	assert_int_equal(roles[0], ROLE_TYPE);
	assert_false(colour_line(colour, line, COLOUR_LINE_MAX + 1, &at, roles));
	assert_int_equal(roles[0], ROLE_CODE);
	assert_false(colour_line(colour, line, 3, &at, roles));
	assert_int_equal(roles[0], ROLE_CODE);
	colour_free(colour);
}

static void any_bytes_are_survived(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (size_t i = 0; colour_language(i); i++) {
		_cleanup_free_ char *name = mem_dup(colour_language(i) + 1,
		                                    strcspn(colour_language(i) + 1, " "));
		struct colour *colour = colour_new(name);
		size_t at = 0;

		for (size_t line = 0; line < part_of(100, 4); line++) {
			static const char signs[] = "/*\"'`(){}[]<>-=#!a1 \t\\\xff\xc3\xa4$&|;:,.@";
			char text[40];
			uint8_t roles[40];

			for (size_t k = 0; k < sizeof(text); k++) {
				seed = seed * 1103515245u + 12345u;
				text[k] = signs[(seed >> 16) % sizeof(signs)];
			}
			colour_line(colour, text, (seed >> 8) % sizeof(text), &at, roles);
		}
		colour_free(colour);
	}
}

/* Where the machine is a guest, the kernel counts what its host took from it as processor time, so
 * that a limit can run out in spite of all: what holds, holds once in so many trials. */
enum { TRIALS = 10 };

/* On one processor, with another process that the kernel prefers: what takes a few milliseconds of
 * it takes a hundred times as long. */
static void keep_to_one_processor(int niceness)
{
	cpu_set_t all, one;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(setpriority(PRIO_PROCESS, 0, niceness), 0);
}

static bool colours_lines(size_t lines)
{
	static const char line[] = "static int answer(const char *of) { return of[0] + 42; }";
	struct colour *colour = colour_new("c");
	_cleanup_free_ uint8_t *roles = mem_alloc(lines, sizeof(line));

	assert_non_null(colour);
	for (size_t i = 0; i < lines; i++)
		assert_true(colour_add(colour, line, sizeof(line) - 1));
	colour_paint(colour, 0, lines * sizeof(line) - 1, roles);
	colour_free(colour);
	return roles[0] != ROLE_CODE;
}

/* So many lines that this machine needs a tenth of what a parse may take, or more. */
static size_t lines_for_some_milliseconds(void)
{
	for (size_t lines = 16; lines < 2048; lines *= 2) {
		const clock_t begin = clock();

		colours_lines(lines);
		if ((clock() - begin) * 1000000 / CLOCKS_PER_SEC >= COLOUR_PARSE_MICROS / 10)
			return lines;
	}
	return 2048;
}

/* The exit status of a process that colours the lines while another one has the processor. */
static int status_of_the_patient(size_t lines)
{
	pid_t busy, patient;
	int status;

	busy = fork();
	if (!busy)
		for (keep_to_one_processor(getpriority(PRIO_PROCESS, 0));;)
			continue;
	patient = fork();
	if (!patient) {
		keep_to_one_processor(19);
		_exit(colours_lines(lines) ? 0 : 3);
	}
	assert_int_equal(waitpid(patient, &status, 0), patient);
	kill(busy, SIGKILL);
	waitpid(busy, NULL, 0);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void waiting_for_the_processor_costs_nothing(void **state)
{
	const size_t lines = lines_for_some_milliseconds();
	int status = -1;

	(void)state;
	for (int i = 0; i < TRIALS && status != 0; i++)
		status = status_of_the_patient(lines);
	assert_int_equal(status, 0);
}

/* ---- the program's side ---------------------------------------------------------- */

static void assert_line(const char *language, const char *line, enum role role)
{
	struct highlight *highlight = highlight_new(span_str(language));
	_cleanup_row_ struct row row = { 0 };

	highlight_line(highlight, span_str(line), &row);
	if (row.runs[0].style.role != role)
		fail_msg("%s: \"%s\" has role %d", language, line, row.runs[0].style.role);
	highlight_free(highlight);
}

static void differences_have_their_colours(void **state)
{
	(void)state;
	assert_line("diff", "+added", ROLE_ADDED);
	assert_line("patch", "-removed", ROLE_REMOVED);
	assert_line("diff", "@@ -1 +1 @@", ROLE_ACCENT);
	assert_line("a.diff", "--- a/file", ROLE_HEADING);
	assert_line("diff", " same", ROLE_CODE);
	assert_line("", "+text", ROLE_CODE);
	assert_line("no-such-language", "int", ROLE_CODE);
}

/* The program loads the module from its own folder: this one, started from there. */
static void the_module_beside_the_program_is_loaded(void **state)
{
	_cleanup_free_ char *folder = mem_strdup(module), *copy = NULL, *command = NULL;
	int status = -1;

	(void)state;
	if (!module)
		skip();
	*strrchr(folder, '/') = '\0';
	copy = mem_printf("%s/test-colour-%d", folder, (int)getpid());
	assert_int_equal(link(program, copy), 0);
	command = mem_printf("'%s' --beside '%s'", copy, module);
	for (int i = 0; i < TRIALS && status != 0; i++)
		status = system(command);
	unlink(copy);
	assert_int_equal(status, 0);
}

/* The count of the module that was loaded, which is another than this program's. */
static size_t bytes_coloured(void)
{
	void *loaded = dlopen(module, RTLD_NOW | RTLD_NOLOAD);
	__typeof__(colour_painted) *count = NULL;
	size_t bytes;

	assert_non_null(loaded);
	*(void **)&count = dlsym(loaded, "colour_painted");
	assert_non_null(count);
	bytes = count();
	dlclose(loaded);
	return bytes;
}

/* A question on `lines` replaced lines of C has three lines before them and three behind. */
static void put_replacement(struct buf *out, size_t lines)
{
	buf_printf(out, "--- a/x.c\n+++ b/x.c\n@@ -1,%zu +1,%zu @@\n", lines + 6, lines + 6);
	buf_str(out, " int a;\n int f(void)\n {\n");
	for (size_t i = 0; i < lines; i++)
		buf_printf(out, "-\tint old_%zu = %zu; /* removed */\n", i, i);
	for (size_t i = 0; i < lines; i++)
		buf_printf(out, "+\tint new_%zu = %zu; /* added */\n", i, i);
	buf_str(out, " \treturn 0;\n }\n int b;\n");
}

static bool has_role(const struct rows *rows, const char *text, enum role role)
{
	for (size_t i = 0; i < rows->count; i++)
		for (size_t k = 0; k < rows->at[i].count; k++) {
			const struct row_run *run = &rows->at[i].runs[k];

			if (span_eq(span_of(rows->at[i].text.data + run->start, run->len),
			            span_str(text)) && run->style.role == role)
				return true;
		}
	return false;
}

/* What a diff colours is what it shows in colours, however much was replaced; folded, only the rows
 * that are there. */
static void a_diff_colours_what_is_seen(void)
{
	static const struct view_how how = { .width = 100 };
	static const struct view_how sides = { .width = 160 };
	const struct view_how *const hows[] = { &how, &sides };

	for (size_t i = 0; i < ARRAY_LEN(hows); i++) {
		_cleanup_buf_ struct buf diff = BUF_INIT(1 << 20);
		_cleanup_rows_ struct rows rows = { 0 };
		size_t before;

		highlight_free(highlight_new(SPAN("c"))); /* loads the module */
		before = bytes_coloured();
		put_replacement(&diff, 2000);
		view_diff(&rows, buf_view(&diff), hows[i]);
		assert_true(has_role(&rows, "return", ROLE_KEYWORD));
		assert_in_range(bytes_coloured() - before, 10, 100);
	}
}

/* A code that arrives in one piece is coloured in steps; what is left is read by the next one. */
static void a_long_code_is_coloured_in_steps(void)
{
	struct markdown *md = markdown_new(80);
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	_cleanup_rows_ struct rows rows = { 0 };
	size_t last = bytes_coloured();
	const size_t first = last;
	bool all = false;

	buf_str(&text, "```c\n");
	for (unsigned i = 0; i < 5000; i++)
		buf_printf(&text, "int variable_%u;\n", i);
	buf_str(&text, "```\n");
	markdown_feed(md, buf_view(&text));
	while (!all) {
		all = markdown_take(md, &rows);
		assert_in_range(bytes_coloured() - last, 0, MARKDOWN_CODE_MAX + 100);
		last = bytes_coloured();
	}
	/* Where a step ends within a line, that line is coloured again. */
	assert_in_range(last - first, text.len - 5100, text.len + 1000);
	assert_int_equal(rows.count, 5000);
	for (size_t i = 0; i < rows.count; i++)
		assert_int_equal(rows.at[i].runs[0].style.role, ROLE_TYPE);
	markdown_end(md, &rows);
	assert_int_equal(rows.count, 5000);
	markdown_free(md);
}

static int check_beside(void)
{
	assert_line("src/main.c", "int a;", ROLE_TYPE);
	assert_line("Python", "def f(): pass", ROLE_KEYWORD);
	assert_line("rust,ignore", "fn f() {}", ROLE_KEYWORD);
	a_diff_colours_what_is_seen();
	a_long_code_is_coloured_in_steps();
	return 0;
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_language_is_coloured),
		cmocka_unit_test(each_name_of_a_language_has_a_query_that_fits),
		cmocka_unit_test(what_is_too_long_is_not_coloured),
		cmocka_unit_test(any_bytes_are_survived),
		cmocka_unit_test(waiting_for_the_processor_costs_nothing),
		cmocka_unit_test(differences_have_their_colours),
		cmocka_unit_test(the_module_beside_the_program_is_loaded),
	};

	program = argv[0];
	if (argc > 2 && strcmp(argv[1], "--beside") == 0) {
		module = argv[2];
		return check_beside();
	}
	module = argc > 1 ? argv[1] : NULL;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
