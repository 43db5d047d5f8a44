/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor makes what it has judged: memory that it cannot read, or that changes meanwhile,
 * paths that mean something else by the time they are used, and each way to name a place. */
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
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/supervise/private.h"
#include "supervised.h"

enum { OTHER_USER = 65534, DEEP = 20 };

static void put(char *to, const char *text)
{
	memcpy(to, text, strlen(text) + 1);
}

/* A writable root with a protected file, and names that must not come into being. */
struct ground {
	char *root;
	struct supervised_plan plan;
	char *config, *absent;
	int no; /* how a refusal is answered */
};

static void ground_make(struct ground *ground, enum sandbox_level level)
{
	char *git;
	int fd;

	ground->root = temp_make();
	git = mem_printf("%s/.git", ground->root);
	ground->config = mem_printf("%s/config", git);
	ground->absent = mem_printf("%s/commondir", git);
	assert_int_equal(mkdir(git, 0777) | chmod(git, 0777) | chmod(ground->root, 0777), 0);
	fd = open(ground->config, O_WRONLY | O_CREAT, 0666);
	assert_int_equal(fchmod(fd, 0666) | (write(fd, "kept", 4) != 4), 0);
	close(fd);
	free(git);
	ground->no = level == SANDBOX_FULL ? -EROFS : -EACCES;
	supervised_plan_init(&ground->plan, level, ground->root);
	supervised_rule(&ground->plan, ground->config, SANDBOX_READ, SANDBOX_REASON_GIT, false);
	supervised_absent(&ground->plan, ground->absent);
}

static void ground_check(struct ground *ground)
{
	struct stat st;

	assert_int_equal(stat(ground->config, &st), 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(access(ground->absent, F_OK), -1);
	temp_remove(ground->root);
	free(ground->config);
	free(ground->absent);
}

/* Both levels, as root and as another user; nothing protected changes. */
static void run_everywhere(int (*body)(void *data), size_t denials)
{
	for (int i = 0; i < 4; i++) {
		struct ground ground;
		struct supervised_child child;
		struct heard *heard;

		ground_make(&ground, i % 2 ? SANDBOX_FULL : SANDBOX_LANDLOCK);
		supervised_start(&ground.plan.plan, i / 2 ? OTHER_USER : 0, body, &ground, &child);
		assert_int_equal(write(child.go, "", 1), 1);
		heard = supervised_finish(&child);
		assert_int_equal(heard->status, 0);
		assert_true(heard->count >= denials);
		heard_free(heard);
		ground_check(&ground);
	}
}

/* ---- memory that only the kernel can read ---- */

static int write_through_hidden_memory(void *data)
{
	const struct ground *ground = data;
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int secret = (int)syscall(447 /* memfd_secret */, 0), fd;

	CHECK(chdir(ground->root) == 0 && page != MAP_FAILED);
	put(page, ".git/commondir");
	CHECK(mprotect(page, 4096, PROT_EXEC) == 0);
	fd = open(page, O_WRONLY | O_CREAT, 0600);
	CHECK(fd < 0 && (errno == EFAULT || errno == -ground->no));
	CHECK(mkdir(page, 0700) < 0 && symlink("x", page) < 0 && mknod(page, 0600, 0) < 0);
	CHECK(link(".git/config", page) < 0 && rename(".git/config", page) < 0);
	CHECK(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
	put(page, ".git/config");
	CHECK(mprotect(page, 4096, PROT_EXEC) == 0);
	CHECK(truncate(page, 0) < 0 && open(page, O_WRONLY | O_TRUNC) < 0);
	if (secret >= 0 && ftruncate(secret, 4096) == 0) {
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, secret, 0);
		CHECK(page != MAP_FAILED);
		put(page, ".git/commondir");
		CHECK(result(open(page, O_WRONLY | O_CREAT, 0600)) == -EFAULT);
		CHECK(result(mkdir(page, 0700)) == -EFAULT);
	}
	return 0;
}

static void memory_that_cannot_be_read_is_no_way_in(void **state)
{
	(void)state;
	run_everywhere(write_through_hidden_memory, 1);
}

/* ---- what changes meanwhile ---- */

struct race {
	atomic_bool stop;
	char *path;         /* shared */
	const char *texts[2];
};

static void *change_path(void *data)
{
	struct race *race = data;

	for (unsigned i = 0; !atomic_load(&race->stop); i++)
		memcpy(race->path, race->texts[i % 2], strlen(race->texts[0]) + 1);
	return NULL;
}

static int race_with_memory(void *data)
{
	const struct ground *ground = data;
	struct race race = { .texts = { ".git/commondir", ".git/commondix" } };
	struct open_how how = { .flags = O_WRONLY | O_CREAT, .mode = 0600 };
	pthread_t thread;
	pid_t other;

	race.path = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(race.path != MAP_FAILED && chdir(ground->root) == 0);
	put(race.path, race.texts[1]);
	other = fork(); /* a second process that shares the page */
	if (other == 0)
		change_path(&race);
	CHECK(pthread_create(&thread, NULL, change_path, &race) == 0);
	for (int i = 0; i < 1000; i++) {
		int fd = open(race.path, O_WRONLY | O_CREAT, 0600);

		close(fd);
		close((int)syscall(SYS_openat2, AT_FDCWD, race.path, &how, sizeof(how)));
		if (mkdir(race.path, 0700) == 0)
			rmdir(race.path);
		unlink(".git/commondix");
		CHECK(access(".git/commondir", F_OK) != 0);
	}
	atomic_store(&race.stop, true);
	kill(other, SIGKILL);
	pthread_join(thread, NULL);
	waitpid(other, NULL, 0);
	return 0;
}

static void changing_the_path_meanwhile_changes_nothing(void **state)
{
	(void)state;
	run_everywhere(race_with_memory, 1);
}

static void *swap_link(void *data)
{
	struct race *race = data;

	while (!atomic_load(&race->stop)) {
		unlink("link");
		(void)!symlink(".git", "link");
		unlink("link");
		(void)!symlink("plain", "link");
	}
	return NULL;
}

static int race_with_links(void *data)
{
	const struct ground *ground = data;
	struct race race = { .path = NULL };
	pthread_t thread;

	CHECK(chdir(ground->root) == 0 && mkdir("plain", 0700) == 0);
	CHECK(pthread_create(&thread, NULL, swap_link, &race) == 0);
	for (int i = 0; i < 1000; i++) {
		close(open("link/commondir", O_WRONLY | O_CREAT, 0600));
		(void)!truncate("link/config", 0);
		(void)!rename("link/config", "plain/config");
		close(open("link/config", O_WRONLY | O_TRUNC));
		CHECK(access(".git/commondir", F_OK) != 0);
	}
	atomic_store(&race.stop, true);
	pthread_join(thread, NULL);
	return 0;
}

static void exchanging_links_meanwhile_changes_nothing(void **state)
{
	(void)state;
	run_everywhere(race_with_links, 1);
}

/* ---- long ways ---- */

static int go_long_ways(void *data)
{
	const struct ground *ground = data;
	char path[LIMIT_PATH_BYTES], name[251];

	CHECK(chdir(ground->root) == 0);
	/* 4,095 bytes, which the kernel takes, more with the working folder */
	for (size_t i = 0; i < 2030; i++)
		memcpy(path + 2 * i, "./", 2);
	put(path + 4060, ".git/commondir");
	CHECK(result(open(path, O_WRONLY | O_CREAT, 0600)) == ground->no);
	CHECK(result(mkdir(path, 0700)) == ground->no);
	put(path + 4060, ".git/config");
	CHECK(result(open(path, O_WRONLY | O_TRUNC)) == ground->no);
	CHECK(result(truncate(path, 0)) == ground->no);
	put(path + 4060, "plain-file");
	CHECK(open(path, O_WRONLY | O_CREAT, 0600) >= 0 && access("plain-file", F_OK) == 0);
	/* deeper than PATH_MAX: what has no name any more is refused */
	memset(name, 'd', 250);
	name[250] = '\0';
	for (int i = 0; i < DEEP; i++) {
		int made = mkdir(name, 0700);

		if (made != 0) {
			CHECK(errno == ENAMETOOLONG && i > 10);
			break;
		}
		CHECK(chdir(name) == 0);
	}
	CHECK(result(open(".envrc", O_WRONLY | O_CREAT, 0600)) == -ENAMETOOLONG);
	return 0;
}

static void long_ways_lead_to_the_same_place(void **state)
{
	(void)state;
	run_everywhere(go_long_ways, 1);
}

/* ---- each way to name a place ---- */

static int name_in_each_way(void *data)
{
	const struct ground *ground = data;
	int no = ground->no, folder, fd;
	struct open_how how = { .flags = O_WRONLY | O_CREAT, .mode = 0600 };
	char text[128];

	CHECK(chdir(ground->root) == 0 && mkdir("sub", 0755) == 0);
	CHECK((folder = open(".git", O_RDONLY | O_DIRECTORY)) >= 0);
	for (int i = 0; i < 4; i++) {
		static const char *const forms[][2] = { { "/dev/fd", "" }, { "/proc/self/fd", "" },
			{ "/proc/thread-self/fd", "/." }, { "/dev/fd/../fd", "" } };

		snprintf(text, sizeof(text), "%s/%d%s/commondir", forms[i][0], folder, forms[i][1]);
		CHECK(result(open(text, O_WRONLY | O_CREAT, 0600)) == no);
		CHECK(result(mkdir(text, 0700)) == no);
		CHECK(result(rename("sub", text)) == no);
	}
	for (unsigned i = 0; i < 3; i++) {
		how.resolve = i == 0 ? RESOLVE_IN_ROOT : i == 1 ? RESOLVE_BENEATH : RESOLVE_NO_SYMLINKS;
		CHECK(result(syscall(SYS_openat2, folder, i ? "commondir" : "/commondir", &how,
		                     sizeof(how))) == no);
		how.flags = O_WRONLY | O_TRUNC;
		how.mode = 0;
		CHECK(result(syscall(SYS_openat2, folder, i ? "config" : "/config", &how,
		                     sizeof(how))) == no);
		how.flags = O_RDONLY;
		fd = (int)syscall(SYS_openat2, folder, i ? "config" : "/config", &how, sizeof(how));
		CHECK(fd >= 0 && read(fd, text, 4) == 4 && memcmp(text, "kept", 4) == 0);
		how = (struct open_how){ .flags = O_WRONLY | O_CREAT, .mode = 0600 };
	}
	/* a folder that was moved, and one that is gone */
	CHECK((fd = open("sub", O_RDONLY | O_DIRECTORY)) >= 0 && rename("sub", "moved") == 0);
	CHECK(openat(fd, "file", O_WRONLY | O_CREAT, 0600) >= 0 && access("moved/file", F_OK) == 0);
	CHECK(unlink("moved/file") == 0 && rmdir("moved") == 0);
	CHECK(result(openat(fd, "file", O_WRONLY | O_CREAT, 0600)) == -ENOENT);
	CHECK(result(openat(fd, "../.git/commondir", O_WRONLY | O_CREAT, 0600)) < 0);
	/* the supervisor's own entries of /proc */
	snprintf(text, sizeof(text), "/proc/%d/mem", getppid());
	CHECK(result(open(text, O_RDWR)) < 0);
	snprintf(text, sizeof(text), "/proc/%d/cwd/x", getppid());
	CHECK(result(open(text, O_WRONLY | O_CREAT, 0600)) == -EACCES);
	return 0;
}

static void each_way_to_name_a_place_is_judged(void **state)
{
	(void)state;
	run_everywhere(name_in_each_way, 1);
}

/* ---- sockets are names, too ---- */

static int bind_names(void *data)
{
	const struct ground *ground = data;
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = ".git/commondir" };
	struct sockaddr_un back;
	socklen_t len = sizeof(back);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct stat st;

	CHECK(chdir(ground->root) == 0 && fd >= 0);
	CHECK(result(bind(fd, (struct sockaddr *)&at, sizeof(at))) == ground->no);
	umask(027);
	put(at.sun_path, "./sock");
	CHECK(bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && stat("sock", &st) == 0);
	CHECK(S_ISSOCK(st.st_mode) && (st.st_mode & 0777) == 0750);
	CHECK(getsockname(fd, (struct sockaddr *)&back, &len) == 0 && strcmp(back.sun_path, "./sock") == 0);
	return 0;
}

static void sockets_are_bound_where_names_may_be_made(void **state)
{
	(void)state;
	run_everywhere(bind_names, 1);
}

/* ---- the caller's own ---- */

static int be_oneself(void *data)
{
	const struct ground *ground = data;
	char *path = mem_printf("%s/../%s/f", ground->root, strrchr(ground->root, '/') + 1);
	struct stat st;
	char text[64];
	int fd, fds[2], status;
	pid_t pid;

	CHECK(chdir(ground->root) == 0);
	/* umask, owner, flags */
	for (int mask = 0; mask <= 0777; mask += 0111) {
		umask((mode_t)mask);
		CHECK((fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) >= 0);
		CHECK(fstat(fd, &st) == 0 && (st.st_mode & 0777) == (0666 & ~(mode_t)mask));
		CHECK(st.st_uid == getuid() && st.st_gid == getgid());
		CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC && fcntl(fd, F_GETFL) == (O_RDWR | 0100000));
		CHECK(close(fd) == 0 && unlink(path) == 0);
		CHECK(mkdir("d", 0777) == 0 && stat("d", &st) == 0);
		CHECK((st.st_mode & 0777) == (0777 & ~(mode_t)mask) && rmdir("d") == 0);
	}
	umask(022);
	CHECK((fd = open("f", O_WRONLY | O_CREAT | O_NONBLOCK | O_APPEND, 0755)) >= 0);
	CHECK(fcntl(fd, F_GETFD) == 0);
	CHECK((fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK | O_APPEND)) ==
	      (O_WRONLY | O_NONBLOCK | O_APPEND));
	/* a program just written can be executed */
	CHECK(write(fd, "#!/bin/sh\nexit 7\n", 17) == 17 && close(fd) == 0);
	for (int i = 0; i < 50; i++) {
		pid = fork();
		if (pid == 0) {
			execl("./f", "./f", NULL);
			_exit(errno);
		}
		CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
		CHECK((fd = open("f", O_RDWR)) >= 0 && close(fd) == 0);
	}
	/* also one that becomes a program only then */
	for (int i = 0; i < 50; i++) {
		CHECK((fd = open("p", O_WRONLY | O_CREAT | O_EXCL, 0600)) >= 0);
		CHECK(write(fd, "#!/bin/sh\nexit 8\n", 17) == 17);
		CHECK(fchmod(fd, 0700) == 0 && close(fd) == 0);
		pid = fork();
		if (pid == 0) {
			execl("./p", "./p", NULL);
			_exit(errno);
		}
		CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 8);
		CHECK(unlink("p") == 0);
	}
	/* files without a name, which get one */
	CHECK((fd = open(".", O_TMPFILE | O_WRONLY, 0600)) >= 0);
	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
	CHECK(linkat(AT_FDCWD, text, AT_FDCWD, "named", AT_SYMLINK_FOLLOW) == 0);
	CHECK(result(linkat(AT_FDCWD, text, AT_FDCWD, ".git/commondir", AT_SYMLINK_FOLLOW)) == ground->no);
	/* its own standard output, a pipe */
	CHECK(pipe(fds) == 0 && dup2(fds[1], 1) == 1 && (fd = open("/dev/stdout", O_WRONLY)) >= 0);
	CHECK(write(fd, "x", 1) == 1 && read(fds[0], text, 1) == 1 && text[0] == 'x');
	/* slashes, dots and errors */
	CHECK(mkdir("e/", 0700) == 0 && result(mkdir("e/", 0700)) == -EEXIST);
	CHECK(result(mkdir("e/.", 0700)) == -EEXIST && result(rmdir("e/.")) == -EINVAL);
	CHECK(result(open("g/", O_WRONLY | O_CREAT, 0600)) == -EISDIR);
	CHECK(result(open("f/", O_WRONLY)) == -ENOTDIR && result(open("e", O_WRONLY)) == -EISDIR);
	CHECK(symlink("f", "l") == 0 && result(open("l", O_WRONLY | O_NOFOLLOW)) == -ELOOP);
	CHECK(result(open("l", O_WRONLY | O_CREAT | O_EXCL, 0600)) == -EEXIST);
	CHECK(symlink("new", "m") == 0 && open("m", O_WRONLY | O_CREAT, 0600) >= 0);
	CHECK(access("new", F_OK) == 0 && result(rename("f/", "g")) == -ENOTDIR);
	CHECK(symlink("o", "o") == 0 && result(open("o", O_WRONLY)) == -ELOOP);
	CHECK(syscall(SYS_renameat2, AT_FDCWD, "e", AT_FDCWD, "new", 2 /* EXCHANGE */) == 0);
	CHECK(stat("new", &st) == 0 && S_ISDIR(st.st_mode));
	CHECK(result(syscall(SYS_renameat2, AT_FDCWD, "e", AT_FDCWD, "new", 1)) == -EEXIST);
	return 0;
}

/* ---- where it is ---- */

/* Whether a name made in `folder` is the one of this path. */
static bool lands_at(int folder, const char *path)
{
	int fd = openat(folder, "landed", O_WRONLY | O_CREAT | O_EXCL, 0600);
	char *full = mem_printf("%s/landed", path);
	bool there = fd >= 0 && unlink(full) == 0;

	free(full);
	close(fd);
	return there;
}

static void *go_there(void *path)
{
	return chdir(path) == 0 ? path : NULL;
}

/* Often enough for the supervisor to know where it is. */
static bool lands_often_at(int folder, const char *path)
{
	bool there = true;

	for (int i = 0; i < 3 * KEEP_AFTER; i++)
		there = there && lands_at(folder, path);
	return there;
}

static int wander(void *data)
{
	const struct ground *ground = data;
	char *a = mem_printf("%s/a", ground->root), *b = mem_printf("%s/b", ground->root);
	char *c = mem_printf("%s/c", ground->root), *git = mem_printf("%s/.git", ground->root);
	int at_a, at_b, fd = -1, status;
	pthread_t thread;
	void *done;
	pid_t pid;

	CHECK(mkdir(a, 0700) == 0 && mkdir(b, 0700) == 0 && chdir(a) == 0);
	CHECK((at_a = open(a, O_DIRECTORY)) >= 0);
	CHECK((at_b = open(b, O_DIRECTORY)) >= 0);
	CHECK(lands_often_at(AT_FDCWD, a));
	CHECK(chdir("../b") == 0 && lands_at(AT_FDCWD, b) && lands_often_at(AT_FDCWD, b));
	CHECK(fchdir(at_a) == 0 && lands_at(AT_FDCWD, a));
	/* descriptors that become others */
	CHECK(lands_often_at(at_b, b));
	CHECK((fd = dup(at_b)) >= 0 && lands_at(fd, b));
	CHECK(dup2(at_a, fd) == fd && lands_at(fd, a) && close(fd) == 0);
	CHECK(result(openat(fd, "landed", O_WRONLY | O_CREAT, 0600)) == -EBADF);
	/* others that go elsewhere: a process by itself, a thread with all */
	CHECK(lands_often_at(AT_FDCWD, a));
	CHECK((pid = fork()) >= 0);
	if (pid == 0)
		_exit(chdir(b) != 0 || !lands_often_at(AT_FDCWD, b));
	CHECK(waitpid(pid, &status, 0) == pid && status == 0 && lands_often_at(AT_FDCWD, a));
	CHECK(pthread_create(&thread, NULL, go_there, b) == 0);
	CHECK(pthread_join(thread, &done) == 0 && done && lands_at(AT_FDCWD, b));
	/* a folder that is moved, and one in which not all may be made */
	CHECK(fchdir(at_a) == 0 && lands_often_at(AT_FDCWD, a) && rename(a, c) == 0);
	CHECK(lands_at(AT_FDCWD, c) && chdir(git) == 0 && lands_often_at(AT_FDCWD, git));
	CHECK(result(open("commondir", O_WRONLY | O_CREAT, 0600)) == ground->no);
	CHECK(chdir("/") == 0 && rmdir(b) == 0 && rmdir(c) == 0);
	return 0;
}

static void names_are_made_where_the_caller_is(void **state)
{
	(void)state;
	run_everywhere(wander, 1);
}

static void calls_are_made_as_the_caller_would(void **state)
{
	(void)state;
	run_everywhere(be_oneself, 0);
}

/* ---- making or opening ---- */

/* What stands at the name before, and what opening it for writing then gives: an error, or how many
 * bytes the file has. */
static const struct {
	uint64_t flags; /* with O_WRONLY | O_CREAT */
	int none, file, folder, dangling, link;
} makings[] = {
	{ 0, 0, 4, -EISDIR, 0, 4 },
	{ O_TRUNC, 0, 0, -EISDIR, 0, 0 },
	{ O_APPEND | O_CLOEXEC, 0, 4, -EISDIR, 0, 4 },
	{ O_NOFOLLOW, 0, 4, -EISDIR, -ELOOP, -ELOOP },
	{ O_EXCL, 0, -EEXIST, -EEXIST, -EEXIST, -EEXIST },
	{ O_EXCL | O_TRUNC, 0, -EEXIST, -EEXIST, -EEXIST, -EEXIST },
};

static bool making_gives(const char *name, uint64_t flags, int expected)
{
	int fd = open(name, (int)(O_WRONLY | O_CREAT | flags), 0640);
	struct stat st;
	bool right;

	if (fd < 0)
		return -errno == expected;
	right = fstat(fd, &st) == 0 && st.st_size == expected &&
	        (st.st_mode & 07777) == 0640 &&
	        fcntl(fd, F_GETFL) == (int)(O_WRONLY | 0100000 | (flags & (O_APPEND | O_NOFOLLOW)));
	return close(fd) == 0 && right;
}

static int make_or_open(void *data)
{
	const struct ground *ground = data;
	int fd;

	CHECK(chdir(ground->root) == 0 && mkdir("folder", 0700) == 0);
	CHECK(symlink("target", "dangling") == 0 && symlink("file", "link") == 0);
	umask(027);
	for (size_t i = 0; i < ARRAY_LEN(makings); i++) {
		_cleanup_free_ char *none = mem_printf("%s/none", ground->root);

		CHECK((fd = open("file", O_WRONLY | O_CREAT | O_TRUNC, 0666)) >= 0);
		CHECK(write(fd, "text", 4) == 4 && close(fd) == 0);
		CHECK(making_gives(i % 2 ? "none" : none, makings[i].flags, makings[i].none));
		CHECK(making_gives("folder", makings[i].flags, makings[i].folder));
		CHECK(making_gives("dangling", makings[i].flags, makings[i].dangling));
		CHECK((access("target", F_OK) == 0) == (makings[i].dangling >= 0));
		CHECK(making_gives("link", makings[i].flags, makings[i].link));
		CHECK((fd = open("file", O_WRONLY)) >= 0 && pwrite(fd, "text", 4, 0) == 4);
		CHECK(close(fd) == 0);
		CHECK(making_gives("file", makings[i].flags, makings[i].file));
		CHECK(unlink("none") == 0);
		unlink("target");
	}
	return 0;
}

static void what_may_be_made_is_made_or_opened(void **state)
{
	(void)state;
	run_everywhere(make_or_open, 0);
}

/* ---- limits and waits ---- */

static int run_out_of_descriptors(void *data)
{
	const struct ground *ground = data;
	struct stat st;
	int fd = -1;

	CHECK(chdir(ground->root) == 0 && (fd = open("full", O_WRONLY | O_CREAT, 0600)) >= 0);
	CHECK(write(fd, "text", 4) == 4);
	while (dup(fd) >= 0)
		;
	CHECK(errno == EMFILE);
	CHECK(result(open("full", O_WRONLY | O_TRUNC)) == -EMFILE);
	CHECK(stat("full", &st) == 0 && st.st_size == 4);
	CHECK(close(fd) == 0 && open("full", O_WRONLY | O_TRUNC) == fd);
	return 0;
}

static void without_room_for_a_descriptor_nothing_is_truncated(void **state)
{
	(void)state;
	run_everywhere(run_out_of_descriptors, 0);
}

static int wait_for_the_other_side(void *data)
{
	const struct ground *ground = data;
	char byte = 0;
	int fd, status;
	pid_t pid;

	CHECK(chdir(ground->root) == 0 && mkfifo("fifo", 0600) == 0);
	CHECK(result(open("fifo", O_WRONLY | O_NONBLOCK)) == -ENXIO);
	pid = fork();
	if (pid == 0) {
		fd = open("fifo", O_WRONLY | O_CREAT, 0600);
		_exit(write(fd, "x", 1) == 1 && !(fcntl(fd, F_GETFL) & O_NONBLOCK) ? 0 : 1);
	}
	usleep(20000);
	CHECK(waitpid(pid, &status, WNOHANG) == 0); /* it waits, and others do not */
	CHECK(mkdir("meanwhile", 0700) == 0 && rmdir("meanwhile") == 0);
	CHECK((fd = open("fifo", O_RDONLY)) >= 0 && read(fd, &byte, 1) == 1 && byte == 'x');
	CHECK(waitpid(pid, &status, 0) == pid && status == 0 && close(fd) == 0);
	pid = fork(); /* the end of one that waits */
	if (pid == 0)
		_exit(open("fifo", O_WRONLY) >= 0);
	usleep(20000);
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	CHECK(mkdir("meanwhile", 0700) == 0);
	return 0;
}

static void an_open_that_blocks_blocks_nobody_else(void **state)
{
	(void)state;
	run_everywhere(wait_for_the_other_side, 0);
}

/* ---- what goes on to the kernel ---- */

/* Each row of the table, with whether its calls have nothing but numbers, or why what they have in
 * memory does not matter.  A handler cannot let a call go on without a row (answer_go_on). */
static void what_goes_on_has_a_reason(void **state)
{
	static const struct {
		const char *symbol, *calls, *why;
	} rows[] = {
#define ROW(symbol, calls, why) { #symbol, calls, why },
		SUPERVISE_CONTINUES(ROW)
#undef ROW
	};
	/* Calls whose path, flags or address in memory decide about something. */
	static const char *const never[] = { "openat2", "creat", "mkdir", "mknod", "symlink", "link",
		"rename", "truncate", "fchmodat", "chown", "setxattr", "utime", "unlink", "rmdir" };

	(void)state;
	assert_int_equal(ARRAY_LEN(rows), CONTINUE_COUNT);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(strlen(rows[i].why) > 20 && rows[i].calls[0] && rows[i].symbol[0]);
		for (size_t k = 0; k < ARRAY_LEN(never); k++)
			assert_null(strstr(rows[i].calls, never[k]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_that_cannot_be_read_is_no_way_in),
		cmocka_unit_test(changing_the_path_meanwhile_changes_nothing),
		cmocka_unit_test(exchanging_links_meanwhile_changes_nothing),
		cmocka_unit_test(long_ways_lead_to_the_same_place),
		cmocka_unit_test(each_way_to_name_a_place_is_judged),
		cmocka_unit_test(sockets_are_bound_where_names_may_be_made),
		cmocka_unit_test(calls_are_made_as_the_caller_would),
		cmocka_unit_test(names_are_made_where_the_caller_is),
		cmocka_unit_test(without_room_for_a_descriptor_nothing_is_truncated),
		cmocka_unit_test(what_may_be_made_is_made_or_opened),
		cmocka_unit_test(an_open_that_blocks_blocks_nobody_else),
		cmocka_unit_test(what_goes_on_has_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
