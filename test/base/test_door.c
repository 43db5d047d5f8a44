/* SPDX-License-Identifier: Apache-2.0 */
/* The door holds against what a command could put in a file's place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/door.h"
#include "base/fd.h"
#include "base/mem.h"

#define SECRET "a secret\n"

/* ws/ is the root and the current folder, away/ is the place that nothing may reach. */
static char base[PATH_MAX], root[PATH_MAX];

static void put(const char *path, const char *text)
{
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0 && fd_write_all(fd, text, strlen(text)));
}

static void assert_holds(const char *path, const char *text)
{
	_cleanup_file_text_ struct file_text found = { 0 };
	struct err err = ERR_INIT;

	assert_true(file_read(path, 4096, &found, &err));
	assert_non_null(found.data);
	assert_string_equal(found.data, text);
}

static int set_up(void **state)
{
	char folder[] = "/tmp/hasp-door-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_non_null(realpath(folder, base));
	assert_int_equal(chdir(base), 0);
	assert_int_equal(mkdir("ws", 0755) | mkdir("away", 0755) | mkdir("ws/sub", 0755), 0);
	put("away/file", SECRET);
	assert_int_equal(chdir("ws"), 0);
	assert_non_null(getcwd(root, sizeof(root)));
	put("real", "inside\n");
	return 0;
}

static int tear_down(void **state)
{
	char *const argv[] = { (char *)"rm", (char *)"-rf", base, NULL };
	int status = -1;
	pid_t child;

	(void)state;
	assert_holds("../away/file", SECRET);
	assert_int_equal(chdir("/"), 0);
	child = fork();
	if (child == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	return waitpid(child, &status, 0) == child && status == 0 ? 0 : -1;
}

/* What can stand in a file's place. NULL: it is refused with `code`. */
static void make_fifo(const char *path)
{
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void make_folder(const char *path)
{
	assert_int_equal(mkdir(path, 0700), 0);
}

static void make_link_out(const char *path)
{
	assert_int_equal(symlink("../away/file", path), 0);
}

static void make_absolute_link(const char *path)
{
	_cleanup_free_ char *target = mem_printf("%s/away/file", base);

	assert_int_equal(symlink(target, path), 0);
}

static void make_magic_link(const char *path)
{
	assert_int_equal(symlink("/proc/self/environ", path), 0);
}

static void make_device_link(const char *path)
{
	assert_int_equal(symlink("/dev/zero", path), 0);
}

static void make_giant(const char *path)
{
	put(path, "");
	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
}

static void make_loop(const char *path)
{
	assert_int_equal(symlink(path, path), 0);
}

static const struct {
	const char *name;
	void (*make)(const char *path);
	enum err_code code;
} places[] = {
	{ "fifo", make_fifo, ERR_NOT_A_FILE },
	{ "folder", make_folder, ERR_NOT_A_FILE },
	{ "link-out", make_link_out, ERR_OUTSIDE_WORKSPACE },
	{ "absolute", make_absolute_link, ERR_OUTSIDE_WORKSPACE },
	{ "magic", make_magic_link, ERR_OUTSIDE_WORKSPACE },
	{ "device", make_device_link, ERR_OUTSIDE_WORKSPACE },
	{ "giant", make_giant, ERR_TOO_LARGE },
	{ "loop", make_loop, ERR_OUTSIDE_WORKSPACE },
};

static void nothing_but_a_regular_file_beneath_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		_cleanup_free_ char *path = mem_printf("%s/%s", root, places[i].name);
		_cleanup_file_text_ struct file_text text = { 0 };
		struct err err = ERR_INIT;

		places[i].make(places[i].name);
		assert_false(door_read(root, path, 4096, &text, &err));
		assert_int_equal(err.code, places[i].code);
		assert_null(text.data);
	}
}

static void a_folder_that_leads_out_is_not_entered(void **state)
{
	_cleanup_free_ char *path = mem_printf("%s/gone/file", root);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err err = ERR_INIT;
	struct door door = DOOR_INIT;

	(void)state;
	assert_int_equal(symlink("../away", "gone"), 0);
	assert_false(door_read(root, path, 4096, &text, &err));
	assert_int_equal(err.code, ERR_OUTSIDE_WORKSPACE);
	assert_false(door_replace(root, path, SPAN("evil"), 0600, &err));
	assert_false(door_open("gone/file", NULL, &door, &err));
	assert_false(door_open("gone/new", NULL, &door, &err));
	assert_false(door_open(path, NULL, &door, &err));
}

static void links_that_stay_beneath_are_followed_on_the_way(void **state)
{
	_cleanup_free_ char *path = mem_printf("%s/alias/file", root);
	_cleanup_free_ char *leaf = mem_printf("%s/sub/also", root);
	_cleanup_file_text_ struct file_text text = { 0 }, again = { 0 };
	struct err err = ERR_INIT;

	(void)state;
	put("sub/file", "here\n");
	assert_int_equal(symlink("sub", "alias") | symlink("../real", "sub/also"), 0);
	assert_true(door_read(root, path, 4096, &text, &err));
	assert_string_equal(text.data, "here\n");
	assert_true(door_read(root, leaf, 4096, &again, &err));
	assert_string_equal(again.data, "inside\n");
	assert_true(door_replace(root, path, SPAN("new\n"), 0600, &err));
	assert_holds("sub/file", "new\n");
}

static void a_missing_file_is_no_error(void **state)
{
	static const char *const names[] = { "none", "none/at/all", "real/below" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		_cleanup_free_ char *path = mem_printf("%s/%s", root, names[i]);
		_cleanup_file_text_ struct file_text text = { 0 };
		struct err err = ERR_INIT;

		assert_true(door_read(root, path, 4096, &text, &err));
		assert_null(text.data);
	}
}

/* Links are refused before the command runs, whatever is behind them. */
static void only_regular_names_are_taken_for_writing(void **state)
{
	(void)state;
	assert_int_equal(symlink("real", "inside"), 0);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		struct door door = DOOR_INIT;
		struct err err = ERR_INIT;

		if (places[i].code == ERR_TOO_LARGE)
			continue;
		places[i].make(places[i].name);
		assert_false(door_open(places[i].name, NULL, &door, &err));
		assert_int_equal(err.code, ERR_NOT_A_FILE);
	}
	assert_false(door_open("inside", NULL, &(struct door)DOOR_INIT, &(struct err)ERR_INIT));
	assert_holds("real", "inside\n");
}

/* What a command does between the two calls. */
static void swap_in_link(void)
{
	assert_int_equal(symlink("../away/file", "out"), 0);
}

static void swap_in_hard_link(void)
{
	assert_int_equal(link("../away/file", "out"), 0);
}

static void swap_in_fifo(void)
{
	make_fifo("out");
}

static void a_name_that_changed_meanwhile_is_replaced(void **state)
{
	static void (*const swaps[])(void) = { swap_in_link, swap_in_hard_link, swap_in_fifo };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(swaps) * 2; i++) {
		_cleanup_door_ struct door door = DOOR_INIT;
		struct err err = ERR_INIT;
		struct stat st;

		unlink("out");
		if (i >= ARRAY_LEN(swaps))
			put("out", "old");
		assert_true(door_open("out", NULL, &door, &err));
		unlink("out");
		swaps[i % ARRAY_LEN(swaps)]();
		assert_true(door_write(&door, SPAN("report\n"), &err));
		assert_int_equal(lstat("out", &st), 0);
		assert_true(S_ISREG(st.st_mode) && st.st_nlink == 1);
		assert_holds("out", "report\n");
		assert_holds("../away/file", SECRET);
	}
}

/* The folder is the one that was opened, wherever its name leads now. */
static void a_folder_that_was_swapped_gets_nothing(void **state)
{
	_cleanup_door_ struct door door = DOOR_INIT;
	struct err err = ERR_INIT;

	(void)state;
	assert_true(door_open("sub/file", NULL, &door, &err));
	assert_int_equal(rename("sub", "moved") | symlink("../away", "sub"), 0);
	assert_true(door_write(&door, SPAN("report\n"), &err));
	assert_holds("moved/file", "report\n");
}

static void appending_stays_with_a_file_of_one_name(void **state)
{
	_cleanup_door_ struct door door = DOOR_INIT, fresh = DOOR_INIT;
	_cleanup_fd_ int fd = -1;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(link("../away/file", "twin"), 0);
	assert_true(door_open("twin", NULL, &door, &err));
	assert_int_equal(door_append(&door, 0600, &err), -1);
	assert_int_equal(err.code, ERR_NOT_A_FILE);
	assert_true(door_open("log", NULL, &fresh, &err));
	assert_int_equal(symlink("../away/file", "log"), 0);
	assert_int_equal(door_append(&fresh, 0600, &err), -1);
	unlink("log");
	fd = door_append(&fresh, 0600, &err);
	assert_true(fd >= 0 && fd_write_all(fd, "x", 1));
	assert_holds("log", "x");
}

static void creating_never_replaces(void **state)
{
	_cleanup_door_ struct door door = DOOR_INIT;
	struct err err = ERR_INIT;
	bool made = true;

	(void)state;
	assert_true(door_open("new", NULL, &door, &err));
	swap_in_link();
	assert_int_equal(rename("out", "new"), 0);
	assert_true(door_create(&door, SPAN("text"), &made, &err));
	assert_false(made);
	unlink("new");
	assert_true(door_create(&door, SPAN("text"), &made, &err));
	assert_true(made);
	assert_holds("new", "text");
}

static void further_roots_are_as_strict_by_any_name(void **state)
{
	_cleanup_free_ char *other = mem_printf("%s/away", base);
	const char *roots[] = { other, NULL };
	struct err err = ERR_INIT;
	_cleanup_door_ struct door door = DOOR_INIT;

	(void)state;
	assert_int_equal(symlink("../ws", "../away/back") | symlink("away", "../name"), 0);
	/* Outside of every root a link is its user's. */
	assert_true(door_open("../name/../ws/real", NULL, &door, &err));
	door_close(&door);
	assert_true(door_open("../away/back/x", NULL, &door, &err));
	door_close(&door);
	assert_false(door_open("../away/back/x", roots, &door, &err));
	assert_false(door_open("../name/back/x", roots, &door, &err));
	assert_int_equal(err.code, ERR_OUTSIDE_WORKSPACE);
}

static void standard_descriptors_are_themselves(void **state)
{
	_cleanup_fd_ int file = open("caught", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	_cleanup_free_ char *name = mem_printf("/dev/fd/%d", file);
	_cleanup_door_ struct door door = DOOR_INIT, null = DOOR_INIT;
	struct err err = ERR_INIT;

	(void)state;
	assert_true(fd_write_all(file, "before ", 7));
	assert_true(door_open(name, NULL, &door, &err));
	assert_true(door_write(&door, SPAN("after"), &err));
	assert_holds("caught", "before after");
	assert_true(door_open("/dev/null", NULL, &null, &err));
	assert_true(door_write(&null, SPAN("nothing"), &err));
	assert_false(door_open("/dev/shm", NULL, &(struct door)DOOR_INIT, &err));
}

static void permissions_stay_and_new_ones_follow_the_umask(void **state)
{
	_cleanup_door_ struct door old = DOOR_INIT, new = DOOR_INIT;
	mode_t mask = umask(027);
	struct err err = ERR_INIT;
	struct stat st;

	(void)state;
	put("old", "");
	assert_int_equal(chmod("old", 0604), 0);
	assert_true(door_open("old", NULL, &old, &err) && door_write(&old, SPAN("x"), &err));
	assert_true(stat("old", &st) == 0 && (st.st_mode & 07777) == 0604);
	assert_true(door_open("new", NULL, &new, &err) && door_write(&new, SPAN("x"), &err));
	assert_true(stat("new", &st) == 0 && (st.st_mode & 07777) == 0640);
	umask(mask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(nothing_but_a_regular_file_beneath_is_read),
		TEST(a_folder_that_leads_out_is_not_entered),
		TEST(links_that_stay_beneath_are_followed_on_the_way),
		TEST(a_missing_file_is_no_error),
		TEST(only_regular_names_are_taken_for_writing),
		TEST(a_name_that_changed_meanwhile_is_replaced),
		TEST(a_folder_that_was_swapped_gets_nothing),
		TEST(appending_stays_with_a_file_of_one_name),
		TEST(creating_never_replaces),
		TEST(further_roots_are_as_strict_by_any_name),
		TEST(standard_descriptors_are_themselves),
		TEST(permissions_stay_and_new_ones_follow_the_umask),
	};

	return cmocka_run_group_tests_name("base/door", tests, NULL, NULL);
}
