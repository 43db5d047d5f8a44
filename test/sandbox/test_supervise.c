/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor on names: what is told, what is not, and what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "part.h"
#include "supervised.h"

/* A writable root, and a folder outside, with a file each. */
struct places {
	char *root, *outside;
	struct supervised_plan plan;
};

static void make_file(const char *folder, const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT, 0666);

	assert_true(fd >= 0);
	close(fd);
}

static void places_make(struct places *places, enum sandbox_level level)
{
	places->root = temp_make();
	places->outside = temp_make();
	make_file(places->root, "file");
	make_file(places->outside, "file");
	supervised_plan_init(&places->plan, level, places->root);
}

static void places_remove(struct places *places)
{
	temp_remove(places->root);
	temp_remove(places->outside);
}

/* ---- what is told ---- */

static int write_in_many_ways(void *data)
{
	const struct places *p = data;
	struct open_how how = { .flags = O_WRONLY };
	char *out;
	int folder;

	CHECK(chdir(p->outside) == 0);
	close(open("file", O_WRONLY));
	close(open("a1", O_CREAT | O_RDONLY, 0600));
	close(open("file", O_RDWR | O_TRUNC));
	close(creat("a2", 0600));
	CHECK((folder = open(".", O_RDONLY | O_DIRECTORY)) >= 0);
	close(openat(folder, "./sub/../a3", O_WRONLY | O_CREAT, 0600));
	close((int)syscall(SYS_openat2, folder, "file", &how, sizeof(how)));
	out = mem_printf("%s//./a4", p->outside);
	close(open(out, O_WRONLY | O_CREAT | O_EXCL, 0600));
	free(out);
	CHECK(mkdir("sub", 0700) == 0);
	close(openat(folder, "sub/../a5", O_WRONLY | O_CREAT, 0600));
	CHECK(truncate("file", 0) == 0);
	CHECK(symlink("file", "link") == 0);
	close(open("link", O_WRONLY));
	CHECK(link("file", "hard") == 0);
	CHECK(rename("hard", "moved") == 0);
	CHECK(unlink("moved") == 0);
	CHECK(mknod("fifo", S_IFIFO | 0600, 0) == 0);
	CHECK(rmdir("sub") == 0);
	for (int i = 0; i < 5; i++)
		close(open("file", O_WRONLY));
	return 0;
}

static void expect_write(const struct heard *heard, const char *folder, const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", folder, name);
	const struct denial *denial = heard_denial(heard, DENIAL_WRITE, path);

	if (!denial)
		fail_msg("no record of writing %s", path);
	assert_int_equal(denial->reason, SANDBOX_REASON_DEFAULT);
	assert_string_equal(denial->rule, "");
	assert_true(denial->pid > 0);
	assert_true(denial->program[0]);
}

static void each_way_to_write_outside_is_told_once_and_counted(void **state)
{
	static const char *const names[] = { "file", "a1", "a2", "a4", "a5", "sub", "link", "hard",
		"moved", "fifo" };
	struct places p;
	struct heard *heard;
	_cleanup_free_ char *file = NULL;
	size_t first = 0, last = 0;

	(void)state;
	places_make(&p, SANDBOX_FULL);
	heard = supervised(&p.plan.plan, write_in_many_ways, &p);
	assert_int_equal(heard->status, 0); /* the kernel decides, and here nothing else forbids it */
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		expect_write(heard, p.outside, names[i]);
	file = mem_printf("%s/file", p.outside);
	for (size_t i = 0; i < heard->count; i++) {
		if (strcmp(heard->denials[i].what, file) == 0) {
			first = first ? first : heard->denials[i].count;
			last = heard->denials[i].count;
		}
	}
	assert_int_equal(first, 1);
	assert_true(last >= 10);
	heard_free(heard);
	places_remove(&p);
}

static int change_modes(void *data)
{
	const struct places *p = data;

	CHECK(chdir(p->outside) == 0);
	CHECK(chmod("file", 0600) == 0 && chmod("file", 0644) == 0);
	CHECK(result(chmod("none", 0600)) == -ENOENT);
	CHECK(chdir(p->root) == 0 && chmod("file", 0600) == 0 && lchown("file", 0, 0) == 0);
	return 0;
}

static void changing_a_mode_outside_is_told(void **state)
{
	struct places p;
	struct heard *heard;
	_cleanup_free_ char *file = NULL;

	(void)state;
	places_make(&p, SANDBOX_FULL);
	heard = supervised(&p.plan.plan, change_modes, &p);
	assert_int_equal(heard->status, 0);
	file = mem_printf("%s/file", p.outside);
	assert_non_null(heard_denial(heard, DENIAL_METADATA, file));
	assert_int_equal(heard->count, 2); /* once, and at the end that it was twice */
	assert_int_equal(heard->denials[1].count, 2);
	heard_free(heard);
	places_remove(&p);
}

static int do_what_is_allowed(void *data)
{
	const struct places *p = data;
	char *out;
	int fd;

	CHECK(chdir(p->root) == 0);
	CHECK(mkdir("d", 0700) == 0 && chdir("d") == 0);
	CHECK((fd = open("../d/x", O_RDWR | O_CREAT | O_EXCL, 0600)) >= 0);
	CHECK(rename("x", "y") == 0 && unlink("y") == 0);
	CHECK(symlink("../file", "l") == 0);
	close(open("l", O_WRONLY));
	/* what fails for other reasons than the sandbox is not a denial */
	CHECK(result(mkdir("/tmp", 0700)) == -EEXIST);
	CHECK(result(mkdir("/", 0700)) == -EEXIST);
	CHECK(result(unlink("/etc/there-is-no-such-file")) == -ENOENT);
	CHECK(result(open("/etc/there-is-no-such-file", O_WRONLY)) == -ENOENT);
	CHECK(result(open("/no/such/folder", O_WRONLY | O_CREAT, 0600)) == -ENOENT);
	CHECK(result(rename("/etc/there-is-no-such-file", "/etc/y")) == -ENOENT);
	CHECK(result(open((const char *)1, O_WRONLY)) == -EFAULT);
	CHECK(result(open("", O_WRONLY | O_CREAT)) == -ENOENT);
	CHECK(result(openat(1234, "x", O_WRONLY | O_CREAT, 0600)) == -EBADF);
	/* reading, devices, and a process's own */
	out = mem_printf("%s/file", p->outside);
	CHECK(open(out, O_RDONLY) >= 0);
	CHECK(open("/dev/null", O_RDWR) >= 0);
	CHECK(open("/proc/self/comm", O_WRONLY) >= 0);
	CHECK(write(fd, "x", 1) == 1);
	out = mem_printf("/proc/self/fd/%d", fd);
	CHECK(open(out, O_RDWR) >= 0);
	out = mem_printf("/dev/fd/%d", fd);
	CHECK(open(out, O_RDWR) >= 0);
	CHECK(dup2(fd, 1) == 1 && open("/dev/stdout", O_WRONLY) >= 0);
	return 0;
}

static void what_is_allowed_or_fails_anyhow_is_not_told(void **state)
{
	struct places p;
	struct heard *heard;

	(void)state;
	places_make(&p, SANDBOX_FULL);
	heard = supervised(&p.plan.plan, do_what_is_allowed, &p);
	assert_int_equal(heard->status, 0);
	for (size_t i = 0; i < heard->count; i++)
		fail_msg("told of %s", heard->denials[i].what);
	heard_free(heard);
	places_remove(&p);
}

static int make_names(void *data)
{
	const struct places *p = data;

	CHECK(chdir(p->root) == 0 && mkdir("m", 0700) == 0 && symlink("m", "s") == 0);
	CHECK(mkdirat(AT_FDCWD, "s/n", 0700) == 0);
	CHECK(rename("s/n", "m/o") == 0);
	return 0;
}

static void names_that_come_into_being_are_told(void **state)
{
	struct places p;
	struct heard *heard;
	_cleanup_free_ char *last = NULL;

	(void)state;
	places_make(&p, SANDBOX_FULL);
	heard = supervised(&p.plan.plan, make_names, &p);
	assert_int_equal(heard->status, 0);
	assert_int_equal(heard->made, 4);
	last = mem_printf("%s/m/o", p.root);
	assert_string_equal(heard->made_last, last);
	heard_free(heard);
	places_remove(&p);
}

/* ---- what is refused ---- */

struct protected {
	struct places p;
	char *config, *commondir, *vscode;
	int expected; /* errno */
};

static int touch_what_is_protected(void *data)
{
	const struct protected *q = data;
	int no = -q->expected;
	char text[64];

	CHECK(chdir(q->p.root) == 0);
	CHECK(result(open(".git/config", O_WRONLY)) == no);
	CHECK(result(open(".git/config", O_RDWR | O_CREAT | O_TRUNC, 0600)) == no);
	CHECK(open(".git/config", O_RDONLY) >= 0);
	CHECK(no == -EROFS || result(unlink(".git/config")) == no); /* a mount's matter, at full */
	CHECK(result(rename(".git/config", "x")) == no);
	CHECK(result(rename("file", ".git/config")) == no);
	CHECK(result(link(".git/config", "x")) == no);
	CHECK(result(truncate(".git/config", 0)) == no);
	CHECK(result(open(".git/commondir", O_WRONLY | O_CREAT, 0600)) == no);
	CHECK(result(open(".git/./../.git/commondir", O_WRONLY | O_CREAT, 0600)) == no);
	CHECK(result(mkdir(".vscode", 0700)) == no);
	CHECK(result(mknod(".vscode", S_IFREG | 0600, 0)) == no);
	CHECK(result(symlink("file", ".vscode")) == no);
	CHECK(result(link("file", ".vscode")) == no);
	CHECK(result(rename("file", ".vscode")) == no);
	/* moving the folder around it */
	CHECK(result(rename(".git", "moved")) == no);
	CHECK(mkdir("fake", 0700) == 0);
	CHECK(result(rename("fake", ".git")) == no);
	CHECK(result(syscall(SYS_renameat2, AT_FDCWD, "fake", AT_FDCWD, ".git", 2)) == no);
	/* through symlinks */
	CHECK(symlink(".git", "alias") == 0);
	CHECK(result(open("alias/commondir", O_WRONLY | O_CREAT, 0600)) == no);
	CHECK(symlink(".git/commondir", "dangling") == 0);
	CHECK(result(open("dangling", O_WRONLY | O_CREAT, 0600)) == no);
	CHECK(symlink("dangling", "twice") == 0);
	CHECK(result(open("twice", O_WRONLY | O_CREAT, 0600)) == no);
	/* from a descriptor that was opened for reading */
	CHECK(dup2(open(".git/config", O_RDONLY), 77) == 77);
	CHECK(result(open("/proc/self/fd/77", O_WRONLY)) == no);
	CHECK(result(open("/dev/fd/77", O_WRONLY)) == no);
	/* by way of /proc */
	snprintf(text, sizeof(text), "/proc/%d/fd/77", getpid());
	CHECK(result(open(text, O_WRONLY)) == no);
	CHECK(result(open("/proc/self/cwd/.git/config", O_WRONLY)) == no);
	CHECK(result(open("/proc/thread-self/cwd/.git/commondir", O_WRONLY | O_CREAT, 0600)) == no);
	snprintf(text, sizeof(text), "/proc/%d/cwd/.git/commondir", getpid());
	CHECK(result(open(text, O_WRONLY | O_CREAT, 0600)) == no);
	CHECK(symlink("/proc/self/cwd", "me") == 0);
	CHECK(result(open("me/.git/config", O_WRONLY)) == no);
	CHECK(open("/proc/self/cwd/file", O_WRONLY) >= 0);
	/* neighbours are free */
	CHECK(open(".git/config.lock", O_WRONLY | O_CREAT, 0600) >= 0);
	CHECK(open(".git/index", O_WRONLY | O_CREAT, 0600) >= 0);
	CHECK(rename(".git/index", ".git/index2") == 0);
	return 0;
}

static void protected_and_absent_names_are_refused(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct protected q = { .expected = i ? EACCES : EROFS };
		struct heard *heard;
		char *git;

		places_make(&q.p, i ? SANDBOX_LANDLOCK : SANDBOX_FULL);
		git = mem_printf("%s/.git", q.p.root);
		assert_int_equal(mkdir(git, 0755), 0);
		make_file(git, "config");
		q.config = mem_printf("%s/config", git);
		q.commondir = mem_printf("%s/commondir", git);
		q.vscode = mem_printf("%s/.vscode", q.p.root);
		supervised_rule(&q.p.plan, q.config, SANDBOX_READ, SANDBOX_REASON_GIT, false);
		supervised_absent(&q.p.plan, q.commondir);
		supervised_absent(&q.p.plan, q.vscode);
		heard = supervised(&q.p.plan.plan, touch_what_is_protected, &q);
		assert_int_equal(heard->status, 0);
		assert_non_null(heard_denial(heard, DENIAL_WRITE, q.commondir));
		assert_int_equal(access(q.commondir, F_OK), -1);
		assert_int_equal(access(q.vscode, F_OK), -1);
		heard_free(heard);
		free(git);
		free(q.config);
		free(q.commondir);
		free(q.vscode);
		places_remove(&q.p);
	}
}

static int truncate_outside(void *data)
{
	const struct places *p = data;

	CHECK(chdir(p->outside) == 0);
	CHECK(result(truncate("file", 0)) == -EACCES);
	CHECK(result(open("file", O_RDONLY | O_TRUNC)) == -EACCES);
	return 0;
}

static void before_landlock_3_truncating_is_refused_here(void **state)
{
	struct places p;
	struct heard *heard;

	(void)state;
	places_make(&p, SANDBOX_LANDLOCK);
	p.plan.plan.landlock_abi = 2;
	heard = supervised(&p.plan.plan, truncate_outside, &p);
	assert_int_equal(heard->status, 0);
	heard_free(heard);
	places_remove(&p);
}

/* ---- limits and ends ---- */

enum { DENIED = LIMIT_DENIALS + 100 };

static int deny_a_lot(void *data)
{
	const struct places *p = data;
	char name[32];

	CHECK(chdir(p->outside) == 0);
	for (int i = 0; i < DENIED; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		mkdir(name, 0700);
	}
	return 0;
}

static void there_is_an_end_to_what_is_told(void **state)
{
	struct places p;
	struct heard *heard;

	(void)state;
	places_make(&p, SANDBOX_FULL);
	heard = supervised(&p.plan.plan, deny_a_lot, &p);
	assert_int_equal(heard->status, 0);
	assert_int_equal(heard->count, LIMIT_DENIALS + 1);
	assert_int_equal(heard->denials[LIMIT_DENIALS].kind, DENIAL_LIMIT);
	assert_int_equal(heard->denials[LIMIT_DENIALS].count, DENIED - LIMIT_DENIALS);
	heard_free(heard);
	places_remove(&p);
}

/* A path at the very end of readable memory, and one that does not end. */
static int paths_at_the_edge(void *data)
{
	const struct places *p = data;
	char *map = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *out = mem_printf("%s/edge", p->outside);

	CHECK(map != MAP_FAILED && munmap(map + 2 * 4096, 4096) == 0);
	memcpy(map + 2 * 4096 - strlen(out) - 1, out, strlen(out) + 1);
	close(open(map + 2 * 4096 - strlen(out) - 1, O_WRONLY | O_CREAT, 0600));
	memset(map, 'x', 2 * 4096);
	CHECK(result(open(map, O_WRONLY | O_CREAT, 0600)) == -ENAMETOOLONG);
	CHECK(result(open(map + 4096 + 4000, O_WRONLY | O_CREAT, 0600)) == -EFAULT);
	return 0;
}

static void paths_may_end_where_memory_ends(void **state)
{
	struct places p;
	struct heard *heard;

	(void)state;
	places_make(&p, SANDBOX_FULL);
	heard = supervised(&p.plan.plan, paths_at_the_edge, &p);
	assert_int_equal(heard->status, 0);
	expect_write(heard, p.outside, "edge");
	heard_free(heard);
	places_remove(&p);
}

/* Calls with odd arguments, which change nothing; the error of each, or 0. */
enum { ODD_MAX = 64 };

static long odd_openat2(const char *path, uint64_t flags, uint64_t mode, uint64_t resolve, size_t size)
{
	_Alignas(struct open_how) char bytes[8192] = { 0 };
	struct open_how how = { .flags = flags, .mode = mode, .resolve = resolve };

	memcpy(bytes, &how, sizeof(how));
	return syscall(SYS_openat2, AT_FDCWD, path, bytes, size);
}

static long error_of(long returned)
{
	const long error = returned < 0 ? errno : 0;

	if (returned > 2)
		close((int)returned);
	return error;
}

static size_t make_odd_calls(long out[ODD_MAX])
{
	const size_t size = sizeof(struct open_how);
	struct timeval late[2] = { { 1, 2000000 }, { 1, 0 } };
	struct timespec times[2] = { { 1, 0 }, { 1, 0 } };
	struct open_how more[2] = { { .flags = O_WRONLY }, { .flags = 1 } };
	size_t n = 0;

	out[n++] = error_of(odd_openat2("file", O_WRONLY, 0, 0, 8));
	out[n++] = error_of(odd_openat2("file", O_WRONLY, 0, 0, 8192));
	out[n++] = error_of(odd_openat2("file", O_WRONLY, 0, 0, 2 * size));
	out[n++] = error_of(syscall(SYS_openat2, AT_FDCWD, "file", more, sizeof(more)));
	out[n++] = error_of(odd_openat2("file", O_WRONLY | UINT64_C(1) << 33, 0, 0, size));
	out[n++] = error_of(odd_openat2("file", O_WRONLY, 0600, 0, size));
	out[n++] = error_of(odd_openat2("new", O_WRONLY | O_CREAT, 010000, 0, size));
	out[n++] = error_of(odd_openat2("file", O_WRONLY, 0, 0x1000, size));
	out[n++] = error_of(odd_openat2("file", O_WRONLY, 0, RESOLVE_BENEATH | RESOLVE_IN_ROOT, size));
	out[n++] = error_of(odd_openat2("file", O_WRONLY | O_CREAT, 0600, RESOLVE_CACHED, size));
	out[n++] = error_of(odd_openat2("../file", O_WRONLY, 0, RESOLVE_BENEATH, size));
	out[n++] = error_of(odd_openat2("file/x", O_WRONLY | O_CREAT, 0600, 0, size));
	out[n++] = error_of(open("file", O_WRONLY | O_CREAT | O_EXCL, 0600));
	out[n++] = error_of(open("file/", O_WRONLY | O_CREAT, 0600));
	out[n++] = error_of(open("new/", O_WRONLY | O_CREAT, 0600));
	out[n++] = error_of(open("file/x/y", O_WRONLY | O_CREAT, 0600));
	out[n++] = error_of(open(".", O_WRONLY | O_CREAT, 0600));
	out[n++] = error_of(open("..", O_WRONLY | O_CREAT | O_EXCL, 0600));
	out[n++] = error_of(open(".", O_WRONLY));
	out[n++] = error_of(open(".", O_TMPFILE | O_WRONLY, 0600));
	out[n++] = error_of(open("file", O_PATH | O_WRONLY));
	out[n++] = error_of(symlink("", "new"));
	out[n++] = error_of(symlink("x", ""));
	out[n++] = error_of(linkat(AT_FDCWD, "file", AT_FDCWD, "new", 0x8000));
	out[n++] = error_of(linkat(AT_FDCWD, "", AT_FDCWD, "new", 0));
	out[n++] = error_of(linkat(99, "", AT_FDCWD, "new", AT_EMPTY_PATH));
	out[n++] = error_of(renameat2(AT_FDCWD, "file", AT_FDCWD, "file/new", 0));
	out[n++] = error_of(renameat2(AT_FDCWD, "file", AT_FDCWD, "new", 0x1000));
	out[n++] = error_of(unlinkat(AT_FDCWD, "file", 0x8000));
	out[n++] = error_of(rmdir("file"));
	out[n++] = error_of(mkdir("file/new", 0700));
	out[n++] = error_of(utimes("file", late));
#ifdef SYS_utimes
	out[n++] = error_of(syscall(SYS_utimes, "file", late));
	out[n++] = error_of(syscall(SYS_utimes, "file", 1));
#endif
	out[n++] = error_of(syscall(SYS_setxattr, "file", 1, "x", 1, 0));
	out[n++] = error_of(syscall(SYS_setxattr, "file", "user.a", 1, 1, 0));
	out[n++] = error_of(utimensat(AT_FDCWD, "file", times, 0x8000));
	out[n++] = error_of(utimensat(AT_FDCWD, "", times, AT_EMPTY_PATH));
	out[n++] = error_of(syscall(SYS_utimensat, AT_FDCWD, "file", 1, 0));
	out[n++] = error_of(truncate("file", -1));
	return n;
}

struct odd_calls {
	struct places places;
	long kernel[ODD_MAX];
};

static int compare_odd_calls(void *data)
{
	const struct odd_calls *odd = data;
	long out[ODD_MAX];
	size_t count;

	CHECK(chdir(odd->places.root) == 0);
	count = make_odd_calls(out);
	for (size_t i = 0; i < count; i++) {
		if (out[i] != odd->kernel[i])
			fprintf(stderr, "call %zu: %ld, the kernel says %ld\n", i, out[i], odd->kernel[i]);
		CHECK(out[i] == odd->kernel[i]);
	}
	return 0;
}

static void errors_are_the_kernels(void **state)
{
	struct odd_calls odd = { 0 };
	struct heard *heard;
	char *before = getcwd(NULL, 0);

	(void)state;
	places_make(&odd.places, SANDBOX_FULL);
	assert_int_equal(chdir(odd.places.root), 0);
	make_odd_calls(odd.kernel);
	assert_int_equal(chdir(before), 0);
	free(before);
	heard = supervised(&odd.places.plan.plan, compare_odd_calls, &odd);
	assert_int_equal(heard->status, 0);
	heard_free(heard);
	places_remove(&odd.places);
}

static int wait_for_enosys(void *data)
{
	(void)data;
	for (int i = 0; i < 1000000; i++) {
		if (result(mkdir("/", 0700)) == -ENOSYS)
			return 0;
	}
	return 1;
}

static void without_the_supervisor_calls_fail(void **state)
{
	struct places p;
	struct supervised_child child;
	struct heard *heard;

	(void)state;
	places_make(&p, SANDBOX_FULL);
	supervised_start(&p.plan.plan, 0, wait_for_enosys, NULL, &child);
	assert_int_equal(write(child.go, "", 1), 1);
	usleep(20000);
	supervise_stop(child.supervisor);
	child.supervisor = NULL;
	heard = supervised_finish(&child);
	assert_int_equal(heard->status, 0);
	heard_free(heard);
	places_remove(&p);
}

/* ---- under load ---- */

static void *busy_thread(void *data)
{
	char name[32];
	int number = *(int *)data;

	for (int i = 0; i < 100; i++) {
		int fd;

		snprintf(name, sizeof(name), "t%d-%d", number, i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
		CHECK(fd >= 0);
		close(fd);
		CHECK(unlink(name) == 0);
		CHECK(result(mkdir("/etc", 0700)) == -EEXIST);
		CHECK(result(syscall(SYS_unshare, 0)) == -EPERM);
	}
	return NULL;
}

/* Processes with threads, some killed in the middle of their calls. */
static int busy(void *data)
{
	const struct places *p = data;

	CHECK(chdir(p->root) == 0);
	for (int round = (int)part_first(3); round < 12; round += (int)part_step(3)) {
		pid_t pids[4];

		for (int i = 0; i < 4; i++) {
			pids[i] = fork();
			if (pids[i] == 0) {
				pthread_t threads[3];
				int numbers[3];

				for (int k = 0; k < 3; k++) {
					numbers[k] = round * 100 + i * 10 + k;
					pthread_create(&threads[k], NULL, busy_thread, &numbers[k]);
				}
				for (int k = 0; k < 3; k++)
					pthread_join(threads[k], NULL);
				_exit(0);
			}
		}
		for (int i = 0; i < 4; i++) {
			int status;

			if (i % 2) {
				usleep(1000u * (unsigned)(round + 1));
				kill(pids[i], SIGKILL);
			}
			waitpid(pids[i], &status, 0);
			CHECK(i % 2 || status == 0);
		}
	}
	return 0;
}

static void it_serves_many_threads_of_which_some_are_killed(void **state)
{
	struct places p;
	struct heard *heard;

	(void)state;
	places_make(&p, SANDBOX_FULL);
	heard = supervised(&p.plan.plan, busy, &p);
	assert_int_equal(heard->status, 0);
	assert_non_null(heard_denial(heard, DENIAL_CALL, "unshare"));
	heard_free(heard);
	places_remove(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_way_to_write_outside_is_told_once_and_counted),
		cmocka_unit_test(changing_a_mode_outside_is_told),
		cmocka_unit_test(what_is_allowed_or_fails_anyhow_is_not_told),
		cmocka_unit_test(names_that_come_into_being_are_told),
		cmocka_unit_test(protected_and_absent_names_are_refused),
		cmocka_unit_test(before_landlock_3_truncating_is_refused_here),
		cmocka_unit_test(there_is_an_end_to_what_is_told),
		cmocka_unit_test(paths_may_end_where_memory_ends),
		cmocka_unit_test(errors_are_the_kernels),
		cmocka_unit_test(without_the_supervisor_calls_fail),
		cmocka_unit_test(it_serves_many_threads_of_which_some_are_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
