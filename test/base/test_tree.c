/* SPDX-License-Identifier: Apache-2.0 */
/* Whole folders copied and removed: what is copied, what is refused whole, and that nothing outside
 * is touched. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"

struct place {
	char top[64];
	char from[80], into[80];
};

__attribute__((format(printf, 2, 3)))
static void shell(const struct place *place, const char *format, ...)
{
	char line[2048], all[2200];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	snprintf(all, sizeof(all), "cd %s && { %s; }", place->top, line);
	assert_int_equal(system(all), 0);
}

static int set_up(void **state)
{
	struct place *place = mem_alloc(1, sizeof(*place));

	snprintf(place->top, sizeof(place->top), "/tmp/hasp-tree.XXXXXX");
	assert_non_null(mkdtemp(place->top));
	snprintf(place->from, sizeof(place->from), "%s/from", place->top);
	snprintf(place->into, sizeof(place->into), "%s/into", place->top);
	shell(place, "mkdir from into; echo secret >outside");
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;

	shell(place, "chmod -R u+rwX . && rm -rf ../%s", strrchr(place->top, '/') + 1);
	free(place);
	return 0;
}

/* `into` has nothing but what was there before. */
static void assert_refused(const struct place *place, enum err_code code)
{
	struct err err = ERR_INIT;

	assert_false(tree_copy(place->from, place->into, "x", &err));
	assert_int_equal(err.code, code);
	shell(place, "test -z \"$(ls -A into)\"");
	shell(place, "test \"$(cat outside)\" = secret");
}

static void what_is_copied(void **state)
{
	const struct place *place = *state;
	struct err err = ERR_INIT;

	shell(place, "cd from; mkdir -p a/b .git empty; echo 1 >a/b/f; echo 2 >s; chmod 6755 s; "
	             "echo 3 >.git/config; ln -s ../../s a/b/up; ln -s a/b/f down; chmod 444 a/b/f");
	assert_true(tree_copy(place->from, place->into, "x", &err));
	shell(place, "cd into/x; test \"$(cat a/b/f a/b/up down)\" = \"$(printf '1\\n2\\n1')\"; "
	             "test -d empty; test ! -e .git; test \"$(stat -c %%a s a/b/f | tr '\\n' ' ')\" = "
	             "'755 644 '; test \"$(ls -A ..)\" = x");
	assert_false(tree_copy(place->from, place->into, "x", &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	shell(place, "test \"$(ls -A into)\" = x");
}

static void what_refuses_the_whole(void **state)
{
	const struct place *place = *state;
	static const char *const bad[] = {
		"ln -s /etc/passwd l", "ln -s ../outside l", "mkdir d; ln -s ../../outside d/l",
		"mkdir d; ln -s d/../../outside l", "mkdir d; ln -s .. d/u; ln -s d/u/.. l",
		"ln -s .. l", "mkfifo p", "mkdir d; mkfifo d/p",
		"python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		shell(place, "rm -rf from; mkdir from; cd from; echo 1 >good; %s", bad[i]);
		assert_refused(place, ERR_INVALID_ARGUMENT);
	}
}

static void what_is_too_much(void **state)
{
	const struct place *place = *state;

	shell(place, "python3 -c 'import os; os.makedirs(\"from/\" + \"/\".join(\"d\" * 40))'");
	assert_refused(place, ERR_TOO_LARGE);
	shell(place, "rm -rf from; mkdir from; truncate -s %zu from/f", LIMIT_TREE_BYTES + 1);
	assert_refused(place, ERR_TOO_LARGE);
	shell(place, "rm from/f; cd from; seq %zu | xargs ln -st .", LIMIT_TREE_FILES + 1);
	assert_refused(place, ERR_TOO_LARGE);
}

static void note_file(void *data, const char *path)
{
	buf_printf(data, "%s ", path);
}

static void what_is_looked_at(void **state)
{
	const struct place *place = *state;
	struct err err = ERR_INIT;
	_cleanup_buf_ struct buf list = BUF_INIT(1000);

	shell(place, "cd from; mkdir -p a/b .git; echo 1 >a/b/f; echo 2 >.hidden; echo 3 >.git/x; "
	             "ln -s b a/l");
	assert_true(tree_look(place->from, note_file, &list, &err));
	assert_int_equal(list.len, strlen("a/b/f .hidden a/l "));
	assert_true(strstr(list.data, "a/b/f ") && strstr(list.data, ".hidden ") &&
	            strstr(list.data, "a/l "));
	shell(place, "test -z \"$(ls -A into)\"; ln -s /etc/passwd from/out");
	assert_false(tree_look(place->from, note_file, &list, &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	shell(place, "rm from/out; truncate -s %zu from/f", LIMIT_TREE_BYTES + 1);
	assert_false(tree_look(place->from, note_file, &list, &err));
	assert_int_equal(err.code, ERR_TOO_LARGE);
}

static void what_is_replaced(void **state)
{
	const struct place *place = *state;
	_cleanup_fd_ int folder = open(place->into, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct tree_place to = { folder, place->into, "x", true };
	struct err err = ERR_INIT;

	shell(place, "mkdir -p into/x/old; echo 1 >from/f");
	assert_true(tree_copy_to(place->from, &to, &err));
	shell(place, "test \"$(ls -A into into/x | xargs)\" = 'into: x into/x: f'");
	assert_true(tree_link_to("../from", &to, &err));
	shell(place, "test \"$(readlink into/x)\" = ../from; test \"$(ls -A into)\" = x");
	to.replace = false;
	assert_false(tree_link_to("../outside", &to, &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	shell(place, "test \"$(readlink into/x)\" = ../from; test \"$(ls -A into)\" = x");
	to.replace = true;
	assert_true(tree_copy_to(place->from, &to, &err));
	shell(place, "test ! -L into/x; test -f from/f; test \"$(ls -A into)\" = x");
	assert_true(tree_remove_in(folder, "x", &err));
	shell(place, "test -z \"$(ls -A into)\"");
}

static void what_is_removed(void **state)
{
	const struct place *place = *state;
	struct err err = ERR_INIT;

	shell(place, "mkdir -p into/x/a/b into/y; ln -s ../../../outside into/x/a/l; "
	             "ln -s ../../y into/x/a/d; echo 1 >into/y/kept; echo 1 >into/x/a/b/f; "
	             "chmod 500 into/x/a; chmod 0 into/x/a/b; ln -s y into/link");
	assert_true(tree_remove(place->into, "x", &err));
	assert_true(tree_remove(place->into, "link", &err));
	shell(place, "test \"$(ls -A into)\" = y; test -e into/y/kept; test -e outside");
	assert_false(tree_remove(place->into, "x", &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_copied, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_refuses_the_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_too_much, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_looked_at, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_replaced, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_removed, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
