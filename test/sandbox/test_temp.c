/* SPDX-License-Identifier: Apache-2.0 */
/* A session's folder for temporary files: made, kept to its owner, removed with all in it, and nothing
 * else removed with it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "sandbox/apply/temp.h"

static char base[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(base, sizeof(base), "/var/tmp/temp-test-XXXXXX");
	return mkdtemp(base) && chmod(base, 01777) == 0 && setenv("TMPDIR", base, 1) == 0 ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *at, int type, struct FTW *walk)
{
	(void)at;
	(void)type;
	(void)walk;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(base, remove_one, 64, FTW_DEPTH | FTW_PHYS);
}

static struct temp_folder *make(void)
{
	struct temp_folder *folder;
	struct err err = ERR_INIT;

	if (!temp_folder_make(&folder, &err))
		fail_msg("%s", err.message);
	return folder;
}

static const char *in(const char *folder, const char *name)
{
	static char paths[8][512];
	static unsigned next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void write_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
}

static void it_is_its_owner_s_alone(void **state)
{
	struct temp_folder *folder = make(), *other = make();
	char kept[256];
	struct stat at;

	(void)state;
	assert_int_equal(stat(temp_folder_path(folder), &at), 0);
	assert_int_equal(at.st_mode, S_IFDIR | 0700);
	assert_memory_equal(temp_folder_path(folder), base, strlen(base));
	assert_string_not_equal(temp_folder_path(folder), temp_folder_path(other));
	snprintf(kept, sizeof(kept), "%s", temp_folder_path(folder));
	temp_folder_free(folder);
	assert_int_equal(access(kept, F_OK), -1);
	temp_folder_free(other);
	temp_folder_free(NULL);
}

static void a_umask_takes_nothing_from_its_owner(void **state)
{
	static const mode_t masks[] = { 0777, 0700, 0377, 0077, 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(masks); i++) {
		mode_t before = umask(masks[i]);
		struct temp_folder *folder = make();
		struct stat at;

		umask(before);
		assert_int_equal(stat(temp_folder_path(folder), &at), 0);
		assert_int_equal(at.st_mode, S_IFDIR | 0700);
		temp_folder_free(folder);
	}
}

static void its_path_is_canonical(void **state)
{
	struct temp_folder *folder;

	(void)state;
	assert_int_equal(mkdir(in(base, "real"), 0700), 0);
	assert_int_equal(symlink("real", in(base, "link")), 0);
	setenv("TMPDIR", in(base, "link"), 1);
	folder = make();
	assert_memory_equal(temp_folder_path(folder), in(base, "real/"), strlen(base) + 6);
	temp_folder_free(folder);
	setenv("TMPDIR", base, 1);
}

static void where_tmpdir_is_of_no_use_tmp_is(void **state)
{
	const char *const useless[] = { "relative", in(base, "missing"), "/dev/null", "" };
	struct temp_folder *folder;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(useless); i++) {
		setenv("TMPDIR", useless[i], 1);
		folder = make();
		assert_memory_equal(temp_folder_path(folder), "/tmp/hasp-0/hasp-session-", 25);
		temp_folder_free(folder);
	}
	setenv("TMPDIR", base, 1);
}

static void make_and_free(void)
{
	temp_folder_free(make());
}

/* As `uid`, which is what makes a folder of mode 0 an obstacle. */
static void as_user(uid_t uid, void (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (setgid(uid) != 0 || setuid(uid) != 0)
			_exit(1);
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void remove_hostile(void)
{
	struct temp_folder *folder = make();
	const char *path = temp_folder_path(folder);
	char kept[256];

	snprintf(kept, sizeof(kept), "%s", path);
	assert_int_equal(mkdir(in(path, "locked"), 0700), 0);
	assert_int_equal(mkdir(in(path, "locked/deeper"), 0700), 0);
	write_file(in(path, "locked/deeper/file"));
	assert_int_equal(chmod(in(path, "locked/deeper"), 0500), 0);
	assert_int_equal(chmod(in(path, "locked"), 0), 0);
	assert_int_equal(mkfifo(in(path, "fifo"), 0600), 0);
	assert_int_equal(symlink(in(base, "outside"), in(path, "to-folder")), 0);
	assert_int_equal(symlink(in(base, "outside/file"), in(path, "to-file")), 0);
	assert_int_equal(symlink(".", in(path, "loop")), 0);
	assert_int_equal(link(in(base, "shared"), in(path, "hard")), 0);
	assert_int_equal(mkdir(in(path, ".0~"), 0700), 0);
	write_file(in(path, ".0~/file"));
	temp_folder_free(folder);
	assert_int_equal(access(kept, F_OK), -1);
}

static void all_in_it_goes_and_nothing_else(void **state)
{
	(void)state;
	assert_int_equal(mkdir(in(base, "outside"), 0777), 0);
	write_file(in(base, "outside/file"));
	write_file(in(base, "shared"));
	assert_int_equal(chown(in(base, "shared"), 65534, 65534), 0);
	as_user(65534, remove_hostile);
	as_user(0, remove_hostile);
	assert_int_equal(access(in(base, "outside/file"), F_OK), 0);
	assert_int_equal(access(in(base, "shared"), F_OK), 0);
}

static void depth_costs_nothing(void **state)
{
	enum { DEPTH = 3000 };
	struct temp_folder *folder = make();
	char kept[256];
	int here, down;

	(void)state;
	snprintf(kept, sizeof(kept), "%s", temp_folder_path(folder));
	here = open(kept, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < DEPTH; i++) {
		assert_int_equal(mkdirat(here, "down", 0700), 0);
		down = openat(here, "down", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(down >= 0);
		close(here);
		here = down;
	}
	close(here);
	temp_folder_free(folder);
	assert_int_equal(access(kept, F_OK), -1);
}

/* A session that ends without saying so. */
static void abandon(char *ret_path, size_t size)
{
	int pipes[2];
	ssize_t len;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		const char *path = temp_folder_path(make());

		write_file(in(path, "left"));
		if (write(pipes[1], path, strlen(path)) > 0)
			kill(getpid(), SIGKILL);
	}
	close(pipes[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	len = read(pipes[0], ret_path, size - 1);
	assert_true(len > 0);
	ret_path[len] = '\0';
	close(pipes[0]);
}

static void what_killed_sessions_left_is_removed(void **state)
{
	struct temp_folder *alive = make(), *folder;
	char left[256], kept[256];

	(void)state;
	snprintf(kept, sizeof(kept), "%s", temp_folder_path(alive));
	abandon(left, sizeof(left));
	assert_int_equal(access(left, F_OK), 0);
	folder = make();
	assert_int_equal(access(left, F_OK), -1);
	/* That of a session which lives is locked. */
	assert_int_equal(access(kept, F_OK), 0);
	temp_folder_free(folder);
	temp_folder_free(alive);
}

/* Of who runs the tests: root. */
static const char *users(void)
{
	return in(base, "hasp-0");
}

static void the_folder_of_the_user_s_goes_with_the_last_one(void **state)
{
	struct temp_folder *folder = make(), *other = make();
	struct stat at;

	(void)state;
	assert_int_equal(lstat(users(), &at), 0);
	assert_int_equal(at.st_mode, S_IFDIR | 0700);
	temp_folder_free(folder);
	assert_int_equal(access(users(), F_OK), 0);
	temp_folder_free(other);
	assert_int_equal(access(users(), F_OK), -1);
}

/* A file, a link, a folder of another's: none of them is used, and the new folder stands next to
 * it, where stale ones are removed as well. */
static void what_has_its_name_and_is_not_it_is_left_alone(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct temp_folder *folder;
		struct stat at;
		char left[256];

		switch (i) {
		case 0:
			write_file(users());
			break;
		case 1:
			assert_int_equal(mkdir(in(base, "target"), 0700), 0);
			assert_int_equal(symlink("target", users()), 0);
			break;
		default:
			assert_int_equal(mkdir(users(), 0777), 0);
			assert_int_equal(chown(users(), 65534, 65534), 0);
		}
		abandon(left, sizeof(left));
		folder = make();
		assert_memory_equal(temp_folder_path(folder), in(base, "hasp-session-"), strlen(base) + 14);
		assert_int_equal(access(left, F_OK), -1);
		temp_folder_free(folder);
		assert_int_equal(lstat(users(), &at), 0);
		assert_int_equal(remove(users()), 0);
	}
	assert_int_equal(rmdir(in(base, "target")), 0);
}

/* Others may have written to it before; its owner's mode counts from now on. */
static void a_folder_of_the_user_s_is_closed_to_others(void **state)
{
	struct temp_folder *folder;
	struct stat at;

	(void)state;
	assert_int_equal(mkdir(users(), 0700), 0);
	assert_int_equal(chmod(users(), 0777), 0);
	folder = make();
	assert_int_equal(lstat(users(), &at), 0);
	assert_int_equal(at.st_mode, S_IFDIR | 0700);
	temp_folder_free(folder);
}

static void make_where_nothing_can_be_listed(void)
{
	struct temp_folder *folder = make();
	const bool here = strncmp(temp_folder_path(folder), base, strlen(base)) == 0;

	temp_folder_free(folder);
	if (!here || access(in(base, "hasp-65534"), F_OK) == 0)
		_exit(1);
}

/* What else is in /tmp costs nothing: a folder there that cannot be listed is not in the way. */
static void other_entries_are_not_read(void **state)
{
	(void)state;
	assert_int_equal(chmod(base, 0333), 0);
	as_user(65534, make_where_nothing_can_be_listed);
	assert_int_equal(chmod(base, 01777), 0);
}

/* Sessions that begin and end at the same time, so that the user's folder comes and goes. */
static void many_begin_and_end_together(void **state)
{
	enum { PROCESSES = 8, ROUNDS = 200 };
	pid_t pids[PROCESSES];
	int status;

	(void)state;
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			for (int k = 0; k < ROUNDS; k++)
				make_and_free();
			_exit(0);
		}
	}
	for (int i = 0; i < PROCESSES; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(access(users(), F_OK), -1);
}

static void nothing_that_is_not_ours_is_removed(void **state)
{
	struct temp_folder *folder;

	(void)state;
	assert_int_equal(mkdir(users(), 0700), 0);
	/* Somebody else's; readable by others, as ours never is; a file; a symlink; other names. */
	assert_int_equal(mkdir(in(users(), "hasp-session-abcde1"), 0700), 0);
	assert_int_equal(chown(in(users(), "hasp-session-abcde1"), 65534, 65534), 0);
	assert_int_equal(mkdir(in(users(), "hasp-session-abcde2"), 0755), 0);
	write_file(in(users(), "hasp-session-abcde3"));
	assert_int_equal(mkdir(in(users(), "target"), 0700), 0);
	write_file(in(users(), "target/file"));
	assert_int_equal(symlink("target", in(users(), "hasp-session-abcde4")), 0);
	assert_int_equal(mkdir(in(users(), "hasp-session-abcdefg"), 0700), 0);
	assert_int_equal(mkdir(in(users(), "hasp-session-abcde5"), 0700), 0);
	folder = make();
	for (int i = 1; i <= 4; i++) {
		char name[32];

		snprintf(name, sizeof(name), "hasp-session-abcde%d", i);
		assert_int_equal(faccessat(AT_FDCWD, in(users(), name), F_OK, AT_SYMLINK_NOFOLLOW), 0);
	}
	assert_int_equal(access(in(users(), "target/file"), F_OK), 0);
	assert_int_equal(access(in(users(), "hasp-session-abcdefg"), F_OK), 0);
	assert_int_equal(access(in(users(), "hasp-session-abcde5"), F_OK), -1);
	temp_folder_free(folder);
}

static void a_umask_takes_nothing_from_it(void **state)
{
	struct err err = ERR_INIT;
	struct temp_folder *folder;
	mode_t before = umask(0777);
	struct stat st;

	(void)state;
	assert_true(temp_folder_make(&folder, &err));
	umask(before);
	assert_int_equal(stat(temp_folder_path(folder), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	temp_folder_free(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_umask_takes_nothing_from_it),
		cmocka_unit_test_setup_teardown(it_is_its_owner_s_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_umask_takes_nothing_from_its_owner, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(its_path_is_canonical, set_up, tear_down),
		cmocka_unit_test_setup_teardown(where_tmpdir_is_of_no_use_tmp_is, set_up, tear_down),
		cmocka_unit_test_setup_teardown(all_in_it_goes_and_nothing_else, set_up, tear_down),
		cmocka_unit_test_setup_teardown(depth_costs_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_killed_sessions_left_is_removed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_that_is_not_ours_is_removed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_folder_of_the_user_s_goes_with_the_last_one, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(what_has_its_name_and_is_not_it_is_left_alone, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(a_folder_of_the_user_s_is_closed_to_others, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(other_entries_are_not_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_begin_and_end_together, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
