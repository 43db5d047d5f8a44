/* SPDX-License-Identifier: Apache-2.0 */
/* Imports between files of instructions, and what a hostile file can not do with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/prompt/prompt.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"

static char root[] = "/tmp/hasp-imports-XXXXXX";

static void write_file(const char *name, const char *text)
{
	_cleanup_free_ char *path = path_join(root, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static char *resolve(const char *text)
{
	struct source source = { .root = root };
	_cleanup_free_ char *path = path_join(root, "GEMINI.md");
	struct buf out = BUF_INIT(LIMIT_MEMORY_BYTES);

	imports_resolve(&source, path, span_str(text), &out);
	buf_char(&out, 0);
	return buf_steal(&out);
}

static void what_is_an_import(void **state)
{
	static const struct {
		const char *text, *result;
	} rows[] = {
		{ "no imports here", "no imports here" },
		{ "@./a.md",
		  "<!-- Imported from: ./a.md -->\nA\n\n<!-- End of import from: ./a.md -->" },
		{ "see @a.md.\n",
		  "see <!-- Imported from: a.md -->\nA\n\n<!-- End of import from: a.md -->.\n" },
		{ "mail me@a.md", "mail me@a.md" },
		{ "ask @alice, please", "ask @alice, please" },
		{ "`@./a.md`", "`@./a.md`" },
		{ "```\n@./a.md\n```\n", "```\n@./a.md\n```\n" },
		{ "@", "@" },
		{ "@ ./a.md", "@ ./a.md" },
		{ "@./gone.md",
		  "<!-- Import failed: ./gone.md - there is no such file -->" },
		{ "@../outside.md",
		  "<!-- Import failed: ../outside.md - it is outside of the project -->" },
		{ "@/etc/passwd",
		  "<!-- Import failed: /etc/passwd - it is outside of the project -->" },
		{ "@./link.md", "<!-- Import failed: ./link.md - it is outside of the project -->" },
		{ "@./x-->y.md", "<!-- Import failed: ./x-__y.md - there is no such file -->" },
		{ "@./binary.md", "<!-- Import failed: ./binary.md - it cannot be read -->" },
		{ "@./folder", "<!-- Import failed: ./folder - it cannot be read -->" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_free_ char *result = resolve(rows[i].text);

		assert_string_equal(result, rows[i].result);
	}
}

static size_t occurrences(const char *text, const char *word)
{
	size_t count = 0;

	for (; (text = strstr(text, word)); text++)
		count++;
	return count;
}

static void circles_and_depth_end(void **state)
{
	_cleanup_free_ char *circle = NULL, *deep = NULL, *wide = NULL;

	(void)state;
	write_file("one.md", "1 @./two.md\n");
	write_file("two.md", "2 @./one.md\n");
	circle = resolve("@./one.md");
	assert_int_equal(occurrences(circle, "it leads back to itself"), 1);
	for (int i = 0; i < 8; i++) {
		char name[16], text[24];

		snprintf(name, sizeof(name), "d%d.md", i);
		snprintf(text, sizeof(text), "%d @./d%d.md\n", i, i + 1);
		write_file(name, text);
	}
	deep = resolve("@./d0.md");
	assert_int_equal(occurrences(deep, "Imported from"), IMPORT_DEPTH_MAX);
	assert_int_equal(occurrences(deep, "too many imports"), 1);
	/* Each level ten times the one below: what would be 100,000 is 500. */
	for (int i = 0; i < 5; i++) {
		char name[16], text[200] = "";

		snprintf(name, sizeof(name), "w%d.md", i);
		for (int j = 0; j < 10; j++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "@./w%d.md\n",
			         i + 1);
		write_file(name, text);
	}
	write_file("w5.md", "leaf\n");
	wide = resolve("@./w0.md");
	assert_true(occurrences(wide, "Imported from") <= 500);
}

static void relative_to_the_file_that_imports(void **state)
{
	_cleanup_free_ char *result = NULL;

	(void)state;
	write_file("folder/inner.md", "@./leaf.md");
	write_file("folder/leaf.md", "LEAF");
	result = resolve("@folder/inner.md");
	assert_non_null(strstr(result, "LEAF"));
}

static int make(void **state)
{
	_cleanup_free_ char *link = NULL, *folder = NULL;

	(void)state;
	if (!mkdtemp(root))
		return -1;
	folder = path_join(root, "folder");
	link = path_join(root, "link.md");
	write_file("a.md", "A\n");
	write_file("binary.md", "\xff\xfe\x01");
	return mkdir(folder, 0700) || symlink("/etc/passwd", link);
}

static int clean(void **state)
{
	_cleanup_free_ char *command = mem_printf("rm -rf '%s'", root);

	(void)state;
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_an_import),
		cmocka_unit_test(circles_and_depth_end),
		cmocka_unit_test(relative_to_the_file_that_imports),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
