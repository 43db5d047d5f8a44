/* SPDX-License-Identifier: Apache-2.0 */
/* What the probe finds: on this machine as it is, where tests take something away, and in
 * children from which the kernel really takes it away. */
#include "plan_fixture.h"

#include <dirent.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "sandbox/apply/landlock.h"

#define CHECK(condition)                                                     \
	do {                                                                 \
		if (!(condition)) {                                          \
			fprintf(stderr, "not so: %s\n", #condition);         \
			return __LINE__ % 90 + 1;                            \
		}                                                            \
	} while (0)

/* Independent of the probe's own code. */
static bool really_has_user_namespaces(void)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		char map[64];
		int fd;
		unsigned uid = geteuid();

		if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) != 0)
			_exit(1);
		snprintf(map, sizeof(map), "%u %u 1", uid, uid);
		fd = open("/proc/self/uid_map", O_WRONLY);
		if (fd < 0 || write(fd, map, strlen(map)) < 0)
			_exit(2);
		_exit(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		      mount("none", "/tmp", "tmpfs", 0, NULL) != 0);
	}
	waitpid(pid, &status, 0);
	return status == 0;
}

static int finds_what_is_true(struct fixture *f)
{
	bool can = really_has_user_namespaces();
	const struct sandbox_probe *probe = sandbox_probe();

	(void)f;
	CHECK(probe->user_namespaces == can);
	CHECK(probe->landlock_abi == landlock_abi_here(NULL));
	CHECK(probe->seccomp && probe->kernel[0]);
	CHECK(probe->best == (can && probe->seccomp_notify ? SANDBOX_FULL : SANDBOX_LANDLOCK));
	CHECK((probe->best == SANDBOX_FULL) == !probe->why_not_full[0]);
	CHECK(probe == sandbox_probe() && probe == sandbox_probe_quick());
	return 0;
}

static void this_machine_is_found_as_it_is(void **state)
{
	(void)state;
	in_child(NULL, false, finds_what_is_true);
	in_child(NULL, true, finds_what_is_true);
}

static int guesses_right(struct fixture *f)
{
	const struct sandbox_probe *quick = sandbox_probe_quick();
	enum sandbox_level guess = quick->best;

	(void)f;
	CHECK(guess == sandbox_probe()->best);
	CHECK(sandbox_probe_quick() == sandbox_probe());
	return 0;
}

static void the_quick_guess_is_right_here(void **state)
{
	(void)state;
	in_child(NULL, false, guesses_right);
	in_child(NULL, true, guesses_right);
}

static int simulated(struct fixture *f)
{
	const struct sandbox_probe *probe = sandbox_probe();
	const char *what = getenv("HASP_SANDBOX_SIMULATE");

	(void)f;
	if (strstr(what, "no-userns"))
		CHECK(!probe->user_namespaces && probe->best < SANDBOX_FULL && probe->remedy[0]);
	if (strstr(what, "no-landlock"))
		CHECK(probe->landlock_abi == 0 && probe->why_not_landlock[0] &&
		      probe->best != SANDBOX_LANDLOCK);
	if (strstr(what, "no-seccomp"))
		CHECK(!probe->seccomp && probe->best == SANDBOX_PATHS);
	if (strstr(what, "no-notify"))
		CHECK(!probe->seccomp_notify && probe->best == SANDBOX_PATHS);
	if (strstr(what, "landlock-abi=3"))
		CHECK(probe->landlock_abi == 3);
	if (strstr(what, "landlock-abi=99"))
		CHECK(probe->landlock_abi == landlock_abi_here(NULL));
	if (strstr(what, "no-cgroup"))
		CHECK(!probe->cgroups);
	if (strstr(what, "no-proc,no-landlock"))
		CHECK(probe->best == SANDBOX_PATHS && strstr(probe->why_not_full, "/proc"));
	if (strcmp(what, "no-landlock,no-userns") == 0)
		CHECK(probe->best == SANDBOX_PATHS);
	CHECK(sandbox_probe_quick()->best == probe->best);
	return 0;
}

static void tests_can_take_away_and_never_add(void **state)
{
	static const char *const words[] = {
		"no-userns", "no-landlock", "no-seccomp", "no-notify", "landlock-abi=3",
		"landlock-abi=99", "no-cgroup", "no-proc,no-landlock", "no-landlock,no-userns",
		"nonsense,,landlock-abi=x,no-userns",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		setenv("HASP_SANDBOX_SIMULATE", words[i], 1);
		in_child(NULL, false, simulated);
		in_child(NULL, true, simulated);
	}
	unsetenv("HASP_SANDBOX_SIMULATE");
}

static bool write_to(const char *path, const char *text)
{
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* In a user namespace of its own, where the limits are its own too. */
static int without_namespaces(struct fixture *f)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[2] = { { 0 } };
	const struct sandbox_probe *probe;

	(void)f;
	CHECK(unshare(CLONE_NEWUSER) == 0);
	CHECK(write_to("/proc/self/uid_map", "0 0 1"));
	CHECK(write_to("/proc/sys/user/max_user_namespaces", "0"));
	CHECK(syscall(SYS_capset, &header, none) == 0);
	CHECK(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
	probe = sandbox_probe();
	CHECK(!probe->user_namespaces);
	CHECK(strstr(probe->why_not_full, "user.max_user_namespaces is 0"));
	CHECK(strstr(probe->remedy, "sudo sysctl -w user.max_user_namespaces="));
	CHECK(sandbox_probe_quick() == probe);
	return 0;
}

static void namespaces_that_are_switched_off_are_told_with_the_command(void **state)
{
	(void)state;
	in_child(NULL, false, without_namespaces);
}

/* Makes a system call fail in this process and its children, as a container's filter would. */
static bool forbid(long call, int error, unsigned flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_LEN(code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) >= 0;
}

static int without_landlock(struct fixture *f)
{
	(void)f;
	CHECK(forbid(SYS_landlock_create_ruleset, ENOSYS, 0));
	CHECK(sandbox_probe()->landlock_abi == 0);
	CHECK(strstr(sandbox_probe()->why_not_landlock, "5.13"));
	return 0;
}

static int with_landlock_disabled(struct fixture *f)
{
	(void)f;
	CHECK(forbid(SYS_landlock_create_ruleset, EOPNOTSUPP, 0));
	CHECK(strstr(sandbox_probe()->remedy_landlock, "lsm="));
	return 0;
}

static int without_mounts(struct fixture *f)
{
	const struct sandbox_probe *probe;

	(void)f;
	CHECK(forbid(SYS_mount_setattr, ENOSYS, 0));
	probe = sandbox_probe();
	CHECK(probe->best == SANDBOX_LANDLOCK && !probe->user_namespaces && !probe->privileged);
	CHECK(strstr(probe->why_not_full, "mounts that are read-only: Function not implemented"));
	return 0;
}

static int without_new_proc(struct fixture *f)
{
	(void)f;
	CHECK(forbid(SYS_fsmount, EPERM, 0));
	CHECK(!sandbox_probe()->own_proc);
	return 0;
}

static int with_a_supervisor_already(struct fixture *f)
{
	(void)f;
	CHECK(forbid(SYS_acct, EPERM, SECCOMP_FILTER_FLAG_NEW_LISTENER));
	CHECK(sandbox_probe()->seccomp && !sandbox_probe()->seccomp_notify);
	CHECK(sandbox_probe()->best == SANDBOX_PATHS);
	CHECK(strstr(sandbox_probe()->why_not_landlock, "listens already"));
	return 0;
}

static void what_a_filter_takes_away_is_found(void **state)
{
	(void)state;
	in_child(NULL, true, without_landlock);
	in_child(NULL, true, with_landlock_disabled);
	in_child(NULL, true, without_mounts);
	in_child(NULL, true, without_new_proc);
	in_child(NULL, true, with_a_supervisor_already);
}

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static char *contents(const char *path)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = mem_alloc(1, 65536);

	assert_true(fd_read_full(fd, text, 65535) > 0);
	return text;
}

static void *probe_in_thread(void *data)
{
	(void)data;
	return (void *)(uintptr_t)sandbox_probe();
}

static int leaves_nothing(struct fixture *f)
{
	int before = count_descriptors();
	char *mounts = contents("/proc/self/mountinfo"), *after;
	pthread_t threads[4];
	void *results[4];

	(void)f;
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, probe_in_thread, NULL) == 0);
	for (int i = 0; i < 4; i++) {
		CHECK(pthread_join(threads[i], &results[i]) == 0);
		CHECK(results[i] == results[0]);
	}
	after = contents("/proc/self/mountinfo");
	CHECK(strcmp(mounts, after) == 0);
	CHECK(count_descriptors() == before);
	CHECK(waitpid(-1, NULL, __WALL) == -1 && errno == ECHILD);
	CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0);
	free(mounts);
	free(after);
	return 0;
}

static void nothing_is_left_behind(void **state)
{
	(void)state;
	in_child(NULL, false, leaves_nothing);
	in_child(NULL, true, leaves_nothing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_machine_is_found_as_it_is),
		cmocka_unit_test(the_quick_guess_is_right_here),
		cmocka_unit_test(tests_can_take_away_and_never_add),
		cmocka_unit_test(namespaces_that_are_switched_off_are_told_with_the_command),
		cmocka_unit_test(what_a_filter_takes_away_is_found),
		cmocka_unit_test(nothing_is_left_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
