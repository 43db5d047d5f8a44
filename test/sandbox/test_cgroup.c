/* SPDX-License-Identifier: Apache-2.0 */
/* Limits over all processes of a command: control groups where they can be had, and the look at
 * /proc everywhere.  Fork bombs and memory hogs end with an error, and the machine is unharmed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/mem.h"
#include "den.h"
#include "sandbox/apply/cgroup.h"
#include "sandbox/apply/processes.h"

enum { PROCESSES = 24 };
/* Small, since each page costs; what a process with sanitizers takes by itself leaves room. */
#define MEMORY ((uint64_t)96 << 20)

/* ---- probes: this is the process that runs the command --------------------------------------- */

/* Bombs fork as fast as they can, and stop at MOST: one that outruns the looks must not take the
 * machine and the tests beside it along. */
enum { MOST = 60 };

static void fork_counted(atomic_int *count, bool parent_pauses)
{
	pid_t child;

	if (atomic_fetch_add(count, 1) >= MOST)
		pause();
	child = fork();
	if (child < 0)
		usleep(100);
	if (child > 0 && parent_pauses)
		pause();
}

static atomic_int *shared_count(void)
{
	return mmap(NULL, sizeof(atomic_int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void bomb(void)
{
	atomic_int *count = shared_count();

	for (;;)
		fork_counted(count, false);
}

/* Each starts one and becomes an orphan's parent. */
static void chain(void)
{
	atomic_int *count = shared_count();

	for (;;)
		fork_counted(count, true);
}

static void take(size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; memory != MAP_FAILED && i < bytes; i += 4096)
		memory[i] = 1;
}

static void hog(void)
{
	for (;;) {
		take(2 << 20);
		usleep(500);
	}
}

/* Each of many takes little. */
static void hogs(void)
{
	for (int i = 0; i < 12; i++) {
		if (fork() == 0) {
			take(10 << 20);
			pause();
		}
	}
	pause();
}

static void shared(void)
{
	take(32 << 20);
	for (int i = 0; i < 8; i++) {
		if (fork() == 0)
			pause();
	}
	usleep(400000);
	_exit(0);
}

static void quiet(void)
{
	usleep(200000);
	_exit(0);
}

static const struct {
	const char *name;
	void (*run)(void);
} commands[] = {
	{ "bomb", bomb }, { "chain", chain },   { "hog", hog },
	{ "hogs", hogs }, { "shared", shared }, { "quiet", quiet },
};

static void start_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (strcmp(name, commands[i].name) == 0)
			commands[i].run();
	}
	_exit(1);
}

static void kill_all(pid_t main)
{
	if (getpid() == 1) {
		kill(-1, SIGKILL);
		return;
	}
	for (int i = 0; i < 1000; i++) {
		struct descendant *list;
		size_t count = processes_list_descendants(getpid(), &list);

		for (size_t k = 0; k < count; k++)
			kill(list[k].pid, SIGKILL);
		free(list);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (count == 0)
			return;
	}
	(void)main;
}

/* Runs a command as op_run does: looks until a limit is passed or the command has ended. */
static void probe_watch(char **args)
{
	struct sandbox_plan plan = {
		.level = args[1][0] == '1' ? SANDBOX_FULL : SANDBOX_LANDLOCK, .use = SANDBOX_USE_COMMAND,
		.limits = { .processes = PROCESSES, .memory_bytes = MEMORY },
	};
	struct denial denial;
	struct limits *limits;
	bool passed = false;
	pid_t main;

	prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
	main = fork();
	if (main == 0)
		start_command(args[0]);
	limits = sandbox_limits_new(&plan, main);
	while (!passed && waitpid(main, NULL, WNOHANG) == 0) {
		passed = sandbox_limits_look(limits, &denial);
		usleep(LIMITS_LOOK_MS * 1000);
	}
	passed = passed || sandbox_limits_look(limits, &denial);
	kill_all(main);
	if (passed)
		printf("%s %s\n", denial_kind_name(denial.kind), denial.what);
	else
		printf("ended\n");
	passed = sandbox_limits_look(limits, &denial);
	sandbox_limits_free(limits);
}

/* The worker itself takes too much. */
static void probe_hog(char **args)
{
	(void)args;
	hog();
}

static const struct den_probe probes[] = { { "watch", probe_watch }, { "hog", probe_hog }, { 0 } };

/* ---- tests ------------------------------------------------------------------------------- */

#define TOO_MANY "limit processes: more than 24\n"
#define TOO_MUCH "limit memory: more than 96 MiB\n"

static void expect_limit(struct den *den, const char *command, const char *what)
{
	den_expect(den, what, "watch", command, den->plan.level == SANDBOX_FULL ? "1" : "0", NULL);
}

static void try_some(struct den *den)
{
	den->plan.limits = (struct sandbox_limits){ .processes = PROCESSES, .memory_bytes = MEMORY };
	expect_limit(den, "bomb", TOO_MANY);
	expect_limit(den, "hogs", TOO_MUCH);
}

static void try_all(struct den *den)
{
	try_some(den);
	expect_limit(den, "chain", TOO_MANY);
	expect_limit(den, "hog", TOO_MUCH);
	/* What is shared counts once. */
	expect_limit(den, "shared", "ended\n");
	expect_limit(den, "quiet", "ended\n");
}

static void a_fork_bomb_and_a_hog_end_with_an_error(void **state)
{
	static const uid_t users[] = { 0, DEN_NOBODY };
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(users); i++) {
		den_init(&den, SANDBOX_USE_COMMAND, users[i]);
		try_some(&den);
		den_release(&den);
	}
}

static void so_they_do_without_control_groups(void **state)
{
	struct den den;

	(void)state;
	setenv("HASP_SANDBOX_SIMULATE", "no-cgroup", 1);
	den_init(&den, SANDBOX_USE_COMMAND, 0);
	try_all(&den);
	den_release(&den);
	unsetenv("HASP_SANDBOX_SIMULATE");
}

static void so_they_do_without_namespaces(void **state)
{
	struct den den;

	(void)state;
	den_init(&den, SANDBOX_USE_COMMAND, 0);
	den.plan.level = SANDBOX_LANDLOCK;
	try_some(&den);
	den_release(&den);
}

/* As the kernel says it now. */
static char *place_now(const char *controller)
{
	_cleanup_cgroup_places_ struct cgroup_places places = { 0 };

	cgroup_places_read(&places);
	return cgroup_place(&places, controller);
}

static bool can_make(const char *controller)
{
	_cleanup_free_ char *place = place_now(controller), *folder = NULL;

	if (!place)
		return false;
	folder = mem_printf("%s/can-make-%d", place, (int)getpid());
	return mkdir(folder, 0755) == 0 && rmdir(folder) == 0;
}

/* Groups of ours in the folder where they are made. */
static size_t count_groups(const char *controller)
{
	_cleanup_free_ char *place = place_now(controller), *command = NULL;
	char line[32] = "0";
	FILE *file;

	if (!place)
		return 0;
	command = mem_printf("ls -d '%s'/hasp-%d-* 2>/dev/null | wc -l", place, (int)getpid());
	file = popen(command, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	pclose(file);
	return strtoul(line, NULL, 10);
}

static void a_group_comes_and_goes_with_its_command(void **state)
{
	const struct sandbox_limits limits = { .processes = 4, .memory_bytes = MEMORY }, none = { 0 };
	struct cgroup *group = cgroup_make(&limits);
	int status;
	pid_t pid;

	(void)state;
	assert_null(cgroup_make(&none));
	/* There is one wherever one can be made by hand. */
	if (can_make("pids") || can_make("memory"))
		assert_non_null(group);
	if (!group) {
		assert_false(cgroup_join(group, getpid()));
		return;
	}
	assert_true(count_groups("pids") + count_groups("memory") + count_groups(NULL) > 0);
	pid = fork();
	if (pid == 0) {
		for (;;)
			pause();
	}
	assert_true(cgroup_join(group, pid));
	cgroup_kill(group);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, SIGKILL);
	cgroup_free(group);
	assert_int_equal(count_groups("pids") + count_groups("memory") + count_groups(NULL), 0);
}

/* Independent of the code: the 20th word behind the name in brackets. */
static unsigned long long start_of(pid_t pid)
{
	_cleanup_free_ char *command = mem_printf("sed 's/.*) //' /proc/%d/stat | cut -d' ' -f20",
	                                          (int)pid);
	FILE *file = popen(command, "r");
	unsigned long long start = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%llu", &start), 1);
	pclose(file);
	return start;
}

static void groups_of_the_dead_are_removed(void **state)
{
	const struct sandbox_limits limits = { .processes = 4 };
	_cleanup_free_ char *place = place_now("pids"), *stale = NULL, *alive = NULL, *reused = NULL;
	const unsigned long long start = start_of(getppid());
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	if (!place || !can_make("pids")) {
		/* Nothing can be left there either. */
		assert_int_equal(count_groups("pids"), 0);
		return;
	}
	stale = mem_printf("%s/hasp-%d-7-0", place, (int)pid);
	alive = mem_printf("%s/hasp-%d-%llu-0", place, (int)getppid(), start);
	/* Of one that had the number before. */
	reused = mem_printf("%s/hasp-%d-%llu-0", place, (int)getppid(), start - 1);
	assert_int_equal(mkdir(stale, 0755), 0);
	assert_int_equal(mkdir(alive, 0755), 0);
	assert_int_equal(mkdir(reused, 0755), 0);
	cgroup_free(cgroup_make(&limits));
	assert_int_equal(access(stale, F_OK), -1);
	assert_int_equal(access(reused, F_OK), -1);
	assert_int_equal(access(alive, F_OK), 0);
	assert_int_equal(rmdir(alive), 0);
}

static void a_worker_that_the_kernel_ended_is_explained(void **state)
{
	struct den den;

	(void)state;
	if (!can_make("memory"))
		return; /* nothing to explain: a_group_comes_and_goes_with_its_command says so */
	den_init(&den, SANDBOX_USE_COMMAND, 0);
	den.plan.limits = (struct sandbox_limits){ .processes = PROCESSES, .memory_bytes = MEMORY };
	expect_limit(&den, "quiet", "ended\n");
	assert_false(den.explained);
	den_run(&den, "hog", NULL);
	assert_int_equal(den.status, SIGKILL);
	assert_true(den.explained);
	assert_string_equal(den.denial.what, "memory: more than 96 MiB");
	den_release(&den);
}

static void write_text(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		_exit(2);
	close(fd);
}

/* In a user namespace that has this user and group, and may mount. */
static void mount_small_disk(const char *folder)
{
	char users[32], groups[32];

	snprintf(users, sizeof(users), "0 %d 1", (int)geteuid());
	snprintf(groups, sizeof(groups), "0 %d 1", (int)getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		_exit(2);
	write_text("/proc/self/setgroups", "deny");
	write_text("/proc/self/uid_map", users);
	write_text("/proc/self/gid_map", groups);
	if (mount("none", folder, "tmpfs", 0, "size=4M,nr_inodes=100") != 0)
		_exit(2);
}

/* In a child: mounts a small file system, fills it, and exits with 0 if a look says so once. */
static void fill_small_disk(const char *folder)
{
	struct sandbox_plan plan = { .level = SANDBOX_FULL, .use = SANDBOX_USE_COMMAND };
	struct denial denial = { 0 };
	struct limits *limits;
	char path[128];
	int fd;

	mount_small_disk(folder);
	plan.temp = (char *)folder;
	limits = sandbox_limits_new(&plan, getpid());
	if (sandbox_limits_look(limits, &denial))
		_exit(3);
	snprintf(path, sizeof(path), "%s/x", folder);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || posix_fallocate(fd, 0, 4000000) != 0)
		_exit(4);
	if (!sandbox_limits_look(limits, &denial) || !strstr(denial.what, "disk space"))
		_exit(5);
	_exit(sandbox_limits_look(limits, &denial) ? 6 : 0);
}

/* The disk is kept from being filled also where neither memory nor processes have a limit. */
static void reserves_need_no_other_limit(void **state)
{
	char folder[] = "/tmp/hasp-limits-XXXXXX";
	int status = 0;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(folder));
	pid = fork();
	if (pid == 0)
		fill_small_disk(folder);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	rmdir(folder);
	assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fork_bomb_and_a_hog_end_with_an_error),
		cmocka_unit_test(so_they_do_without_control_groups),
		cmocka_unit_test(so_they_do_without_namespaces),
		cmocka_unit_test(a_group_comes_and_goes_with_its_command),
		cmocka_unit_test(a_worker_that_the_kernel_ended_is_explained),
		cmocka_unit_test(groups_of_the_dead_are_removed),
		cmocka_unit_test(reserves_need_no_other_limit),
	};

	den_probe_main(argc, argv, probes);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
