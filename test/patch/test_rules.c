/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what settles a hunk, in the code and in docs/edits.md: the same rows in the same
 * order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "patch/patch.h"

static const char *page_name;

static char *read_page(void)
{
	FILE *file = fopen(page_name, "rb");
	char *text = mem_alloc(1 << 20, 1);

	assert_non_null(file);
	text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void test_documented(void **state)
{
	char *page = read_page(), *at = strstr(page, "| `settled_by` | because |\n|---|---|\n");

	(void)state;
	assert_non_null(at);
	at = strchr(strchr(at, '\n') + 1, '\n') + 1;
	for (int i = 0; i < PATCH_SETTLED_COUNT; i++) {
		char *row = mem_printf("| `%s` | %s |\n", patch_settled_name((enum patch_settled)i),
		                       patch_settled_because((enum patch_settled)i));

		assert_memory_equal(at, row, strlen(row));
		at += strlen(row);
		free(row);
	}
	assert_int_equal(*at, '\n');
	free(page);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documented),
	};

	if (argc != 2)
		return 2;
	page_name = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
