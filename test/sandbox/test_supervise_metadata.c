/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor at the landlock level: mode, owner, times and attributes change inside as by the
 * kernel, and outside not at all. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "base/mem.h"
#include "supervised.h"

struct attribute_args {
	uint64_t value;
	uint32_t size, flags;
};

struct places {
	char *root, *outside, *target; /* target: a file outside */
	struct supervised_plan plan;
};

static void places_make(struct places *p)
{
	int fd;

	p->root = temp_make();
	p->outside = temp_make();
	p->target = mem_printf("%s/target", p->outside);
	fd = open(p->target, O_RDWR | O_CREAT, 0644);
	assert_true(fd >= 0);
	assert_int_equal(fsetxattr(fd, "user.kept", "1", 1, 0), 0);
	close(fd);
	supervised_plan_init(&p->plan, SANDBOX_LANDLOCK, p->root);
}

static void places_remove(struct places *p)
{
	temp_remove(p->root);
	temp_remove(p->outside);
	free(p->target);
}

static struct stat stat_of(const char *path)
{
	struct stat st = { 0 };

	CHECK(lstat(path, &st) == 0);
	return st;
}

/* ---- inside ---- */

static int change_inside(void *data)
{
	const struct places *p = data;
	struct timespec times[2] = { { 1000, 1 }, { 2000, 2 } };
	struct timeval vals[2] = { { 3000, 5 }, { 4000, 6 } };
	struct utimbuf buf = { 5000, 6000 };
	struct attribute_args args = { (uintptr_t)"at", 2, 0 };
	char value[8], text[64];
	int fd = -1, folder = -1, memory;

	CHECK(chdir(p->root) == 0 && (fd = open("f", O_RDWR | O_CREAT, 0600)) >= 0);
	CHECK((folder = open(".", O_RDONLY | O_DIRECTORY)) >= 0 && symlink("f", "l") == 0);
	/* mode */
	CHECK(chmod("f", 0751) == 0 && (stat_of("f").st_mode & 07777) == 0751);
	CHECK(chmod("l", 0640) == 0 && (stat_of("f").st_mode & 07777) == 0640);
	CHECK(fchmod(fd, 04700) == 0 && (stat_of("f").st_mode & 07777) == 04700);
	CHECK(fchmodat(folder, "f", 0604, 0) == 0 && (stat_of("f").st_mode & 07777) == 0604);
	CHECK(syscall(452, folder, "f", 0605, 0) == 0 && (stat_of("f").st_mode & 07777) == 0605);
	CHECK(syscall(452, fd, "", 0606, AT_EMPTY_PATH) == 0 && (stat_of("f").st_mode & 07777) == 0606);
	CHECK(result(syscall(452, folder, "l", 0600, AT_SYMLINK_NOFOLLOW)) == -EOPNOTSUPP);
	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
	CHECK(chmod(text, 0611) == 0 && (stat_of("f").st_mode & 07777) == 0611);
	/* owner: as before, which everybody may; the bits go as the kernel takes them away */
	CHECK(chown("f", (uid_t)-1, (gid_t)-1) == 0 && lchown("l", getuid(), getgid()) == 0);
	CHECK(fchown(fd, getuid(), getgid()) == 0 && fchownat(folder, "f", getuid(), (gid_t)-1, 0) == 0);
	CHECK(fchownat(fd, "", getuid(), (gid_t)-1, AT_EMPTY_PATH) == 0);
	/* times */
	CHECK(utimensat(AT_FDCWD, "f", times, 0) == 0 && stat_of("f").st_mtim.tv_nsec == 2);
	CHECK(utimes("f", vals) == 0 && stat_of("f").st_mtim.tv_sec == 4000 &&
	      stat_of("f").st_atim.tv_nsec == 5000);
#ifdef SYS_utime
	CHECK(syscall(SYS_utime, "f", &buf) == 0 && stat_of("f").st_mtim.tv_sec == 6000);
	CHECK(syscall(SYS_futimesat, folder, "f", vals) == 0 && stat_of("f").st_mtim.tv_sec == 4000);
#endif
	(void)buf;
	CHECK(futimens(fd, times) == 0 && stat_of("f").st_mtim.tv_sec == 2000);
	CHECK(utimensat(folder, "l", times, AT_SYMLINK_NOFOLLOW) == 0);
	CHECK(stat_of("l").st_mtim.tv_sec == 2000);
	CHECK(utimensat(AT_FDCWD, "f", NULL, 0) == 0 && stat_of("f").st_mtim.tv_sec > 1000000);
	times[0].tv_nsec = UTIME_OMIT;
	times[1].tv_nsec = 2000000000;
	CHECK(result(utimensat(AT_FDCWD, "f", times, 0)) == -EINVAL);
	/* attributes */
	CHECK(setxattr("f", "user.a", "one", 3, 0) == 0 && getxattr("f", "user.a", value, 8) == 3);
	CHECK(result(setxattr("f", "user.a", "one", 3, XATTR_CREATE)) == -EEXIST);
	CHECK(fsetxattr(fd, "user.b", "", 0, 0) == 0 && lsetxattr("f", "user.c", "x", 1, 0) == 0);
	CHECK(result(lsetxattr("l", "user.c", "x", 1, 0)) == -EPERM);
	CHECK(removexattr("l", "user.a") == 0 && fremovexattr(fd, "user.b") == 0);
	CHECK(lremovexattr("f", "user.c") == 0 && result(removexattr("f", "user.c")) == -ENODATA);
	if (result(syscall(463, folder, "f", 0, "user.at", &args, sizeof(args))) == 0) { /* 6.13 */
		CHECK(getxattr("f", "user.at", value, 8) == 2);
		CHECK(syscall(466, folder, "f", 0, "user.at") == 0);
	}
	CHECK(result(setxattr("f", "", "x", 1, 0)) == -ERANGE);
	CHECK(result(syscall(SYS_setxattr, "f", "user.x", "x", 100000, 0)) == -E2BIG);
	/* errors are as ever */
	CHECK(result(chmod("none", 0600)) == -ENOENT && result(chmod("f/x", 0600)) == -ENOTDIR);
	CHECK(result(chmod("", 0600)) == -ENOENT && result(chmod((char *)1, 0600)) == -EFAULT);
	CHECK(result(fchmod(999, 0600)) == -EBADF && result(fchmod(-1, 0600)) == -EBADF);
	CHECK(symlink("loop", "loop") == 0 && result(chmod("loop", 0600)) == -ELOOP);
	/* what has no name: memory, deleted files, pipes */
	CHECK((memory = (int)syscall(SYS_memfd_create, "m", 0)) >= 0 && fchmod(memory, 0600) == 0);
	CHECK((memory = open(".", O_TMPFILE | O_RDWR, 0600)) >= 0 && fchmod(memory, 0644) == 0);
	CHECK(unlink("f") == 0 && fchmod(fd, 0600) == 0);
	CHECK(pipe((int[2]){ 0 }) == 0);
	return 0;
}

static void inside_all_is_as_the_kernel_does_it(void **state)
{
	struct places p;
	struct heard *heard;

	(void)state;
	places_make(&p);
	heard = supervised(&p.plan.plan, change_inside, &p);
	assert_int_equal(heard->status, 0);
	for (size_t i = 0; i < heard->count; i++)
		fail_msg("told of %s", heard->denials[i].what);
	heard_free(heard);
	places_remove(&p);
}

/* An ordinary user gets the kernel's own answers too. */
static int change_as_nobody(void *data)
{
	const struct places *p = data;

	CHECK(chdir(p->root) == 0);
	CHECK(result(chmod("of-root", 0777)) == -EPERM);
	CHECK(result(chown("of-root", 65534, 65534)) == -EPERM);
	CHECK(result(utimes("of-root", (struct timeval[2]){ { 1, 0 }, { 1, 0 } })) == -EPERM);
	return 0;
}

/* ---- outside ---- */

static int change_outside(void *data)
{
	const struct places *p = data;
	struct timespec times[2] = { { 1, 0 }, { 1, 0 } };
	struct timeval vals[2] = { { 1, 0 }, { 1, 0 } };
	struct attribute_args args = { (uintptr_t)"x", 1, 0 };
	const char *out = p->target;
	char relative[256], text[64];
	int fd = open(out, O_RDONLY), folder = open(p->outside, O_PATH), path = open(out, O_PATH);

	CHECK(fd >= 0 && folder >= 0 && path >= 0 && chdir(p->root) == 0);
	CHECK(symlink(out, "l") == 0 && symlink(p->outside, "d") == 0);
	snprintf(relative, sizeof(relative), "../%s/target", p->outside + strlen("/tmp/"));
	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
#define NO(call) CHECK(result(call) == -EPERM)
	NO(chmod(out, 0777));
	NO(chmod(relative, 0777));
	NO(chmod("l", 0777));
	NO(chmod("d/target", 0777));
	NO(chmod("d", 0777));
	NO(chmod(text, 0777));
	NO(fchmod(fd, 0777));
	NO(fchmodat(folder, "target", 0777, 0));
	NO(syscall(452, folder, "target", 0777, 0));
	NO(syscall(452, fd, "", 0777, AT_EMPTY_PATH));
	NO(syscall(452, path, "", 0777, AT_EMPTY_PATH));
	NO(chown(out, getuid(), getgid()));
	NO(chown(out, (uid_t)-1, (gid_t)-1));
	NO(fchown(fd, getuid(), getgid()));
	NO(fchownat(path, "", getuid(), getgid(), AT_EMPTY_PATH));
	NO(fchownat(folder, "target", getuid(), getgid(), AT_SYMLINK_NOFOLLOW));
	NO(utimensat(folder, "target", times, 0));
	NO(utimensat(AT_FDCWD, "l", times, 0));
	NO(utimes(out, vals));
	NO(futimens(fd, times));
	NO(futimens(fd, NULL));
	NO(setxattr(out, "user.x", "x", 1, 0));
	NO(setxattr("l", "user.x", "x", 1, 0));
	NO(lsetxattr("d/target", "user.x", "x", 1, 0));
	NO(fsetxattr(fd, "user.x", "x", 1, 0));
	NO(syscall(463, folder, "target", 0, "user.x", &args, sizeof(args)));
	NO(removexattr(out, "user.kept"));
	NO(fremovexattr(fd, "user.kept"));
	NO(syscall(466, folder, "target", 0, "user.kept"));
	/* the links themselves are ours */
	CHECK(utimensat(AT_FDCWD, "l", times, AT_SYMLINK_NOFOLLOW) == 0);
	return 0;
}

static void assert_same(const struct stat *a, const struct stat *b)
{
	assert_int_equal(a->st_mode, b->st_mode);
	assert_int_equal(a->st_uid, b->st_uid);
	assert_int_equal(a->st_mtim.tv_sec, b->st_mtim.tv_sec);
	assert_int_equal(a->st_ctim.tv_sec, b->st_ctim.tv_sec);
	assert_int_equal(a->st_ctim.tv_nsec, b->st_ctim.tv_nsec); /* nothing at all was changed */
}

static void outside_nothing_changes(void **state)
{
	struct places p;
	struct heard *heard;
	struct stat before, after;
	char byte;

	(void)state;
	places_make(&p);
	assert_int_equal(stat(p.target, &before), 0);
	heard = supervised(&p.plan.plan, change_outside, &p);
	assert_int_equal(heard->status, 0);
	assert_int_equal(stat(p.target, &after), 0);
	assert_same(&before, &after);
	assert_int_equal(getxattr(p.target, "user.kept", &byte, 1), 1);
	assert_non_null(heard_denial(heard, DENIAL_METADATA, p.target));
	heard_free(heard);
	places_remove(&p);
}

static void permissions_are_those_of_the_user(void **state)
{
	struct places p;
	struct supervised_child child;
	struct heard *heard;
	_cleanup_free_ char *file = NULL;
	struct stat st;

	(void)state;
	places_make(&p);
	file = mem_printf("%s/of-root", p.root);
	close(open(file, O_WRONLY | O_CREAT, 0644));
	/* The supervisor has the command's user, as in a worker. */
	fflush(NULL);
	if (fork() == 0) {
		if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
			_exit(1);
		supervised_start(&p.plan.plan, 0, change_as_nobody, &p, &child);
		if (write(child.go, "", 1) != 1)
			_exit(2);
		heard = supervised_finish(&child);
		_exit(heard->status == 0 ? 0 : 3);
	} else {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	places_remove(&p);
}

/* A folder on the way is swapped between inside and outside all the time, by somebody who does not
 * have to ask. */
struct swap {
	const char *folder;
	_Atomic int stop;
};

static void *swap_folders(void *data)
{
	struct swap *swap = data;
	int folder = open(swap->folder, O_PATH | O_DIRECTORY);

	while (!swap->stop)
		syscall(SYS_renameat2, folder, "way", folder, "evil", 2 /* exchange */);
	close(folder);
	return NULL;
}

static int race_for_metadata(void *data)
{
	const struct places *p = data;
	int done = 0, refused = 0;

	CHECK(chdir(p->root) == 0);
	for (int i = 0; i < 5000; i++) {
		int changed = chmod("way/target", 0777);

		done += changed == 0;
		refused += changed != 0;
		setxattr("way/target", "user.x", "x", 1, 0);
	}
	CHECK(done > 0 && refused > 0);
	return 0;
}

static void swapping_folders_does_not_lead_outside(void **state)
{
	struct places p;
	struct swap swap = { 0 };
	struct heard *heard;
	struct stat before, after;
	pthread_t thread;
	char *way, *evil;

	(void)state;
	places_make(&p);
	way = mem_printf("%s/way", p.root);
	evil = mem_printf("%s/evil", p.root);
	assert_int_equal(mkdir(way, 0700), 0);
	assert_int_equal(symlink(p.outside, evil), 0);
	free(evil);
	evil = mem_printf("%s/target", way);
	close(open(evil, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(stat(p.target, &before), 0);
	swap.folder = p.root;
	assert_int_equal(pthread_create(&thread, NULL, swap_folders, &swap), 0);
	heard = supervised(&p.plan.plan, race_for_metadata, &p);
	swap.stop = 1;
	pthread_join(thread, NULL);
	assert_int_equal(heard->status, 0);
	assert_int_equal(stat(p.target, &after), 0);
	assert_same(&before, &after);
	heard_free(heard);
	free(way);
	free(evil);
	places_remove(&p);
}

static int make_archive(void *data)
{
	const struct places *p = data;

	if (chdir(p->root) != 0)
		return 1;
	execlp("bash", "bash", "-c",
	       "set -e; mkdir -p a/b; echo x >a/b/f; chmod 750 a/b/f; touch -d @1000 a/b/f\n"
	       "tar cpf t.tar a; rm -r a; tar xpf t.tar; test \"$(stat -c %a-%Y a/b/f)\" = 750-1000\n"
	       "cp -a a c; test \"$(stat -c %a-%Y c/b/f)\" = 750-1000; install -m 711 a/b/f g\n"
	       "test \"$(stat -c %a g)\" = 711; /usr/bin/python3 -c \"import shutil,os; "
	       "shutil.copy2('g','h'); os.chmod('h',0o600); shutil.rmtree('a')\"", NULL);
	return 2;
}

static void ordinary_programs_keep_modes_and_times(void **state)
{
	struct places p;
	struct heard *heard;

	(void)state;
	places_make(&p);
	heard = supervised(&p.plan.plan, make_archive, &p);
	assert_int_equal(heard->status, 0);
	assert_int_equal(heard->count, 0);
	heard_free(heard);
	places_remove(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inside_all_is_as_the_kernel_does_it),
		cmocka_unit_test(outside_nothing_changes),
		cmocka_unit_test(permissions_are_those_of_the_user),
		cmocka_unit_test(swapping_folders_does_not_lead_outside),
		cmocka_unit_test(ordinary_programs_keep_modes_and_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
