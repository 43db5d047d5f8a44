/* SPDX-License-Identifier: Apache-2.0 */
/* What workers give up after their start, and what a command gives up before it begins. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "den.h"
#include "sandbox/apply/inside.h"
#include "sandbox/apply/landlock.h"
#include "sandbox/supervise/supervise.h"

/* The plan as the process inside has it: args are level, use, network. */
static struct sandbox_plan plan_of(char **args, enum sandbox_use use)
{
	enum sandbox_level level = SANDBOX_PATHS;
	bool full;

	sandbox_level_parse(args[0], &level);
	full = level == SANDBOX_FULL;
	return (struct sandbox_plan){
		.level = level, .use = use, .own_processes = full, .user_namespace = full,
		.own_network = full, .landlock_abi = landlock_abi_here(NULL),
		.limits = { .file_bytes = 65536, .open_files = 64, .cpu_seconds = 100, .processes = 100 },
	};
}

static void must(bool ok, const struct err *err)
{
	if (!ok) {
		printf("failed: %s\n", err->message);
		fflush(stdout);
		_exit(1);
	}
}

/* ---- probes ------------------------------------------------------------------------------ */

static void probe_files(char **args)
{
	struct sandbox_plan plan = plan_of(args, SANDBOX_USE_FILES);
	char name[] = "true", *const argv[] = { name, NULL };
	struct err err = ERR_INIT;
	int pair[2];
	long pid;

	must(sandbox_harden_files(&plan, &err), &err);
	say("execve", execve("/bin/true", argv, argv + 1));
	pid = fork();
	if (pid == 0)
		_exit(0);
	say("fork", pid);
	say("socket", socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	say("socketpair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	say("kill", kill(getpid(), 0));
	say("read", open("/etc/passwd", O_RDONLY | O_CLOEXEC));
	printf("dumpable %d\n", prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL));
}

/* A process of the command's own user looks at the one that runs it. */
static void probe_runner(char **args)
{
	struct sandbox_plan plan = plan_of(args, SANDBOX_USE_COMMAND);
	struct err err = ERR_INIT;
	char path[64];
	int subreaper = -1;

	must(sandbox_harden_runner(&plan, &err), &err);
	prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0UL, 0UL, 0UL);
	printf("subreaper %d\n", subreaper);
	fflush(stdout);
	snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)getpid());
	if (fork() == 0) {
		prctl(PR_SET_DUMPABLE, 1UL, 0UL, 0UL, 0UL);
		say("its descriptors", open(path, O_RDONLY | O_CLOEXEC));
		snprintf(path, sizeof(path), "/proc/%d/mem", (int)getppid());
		say("its memory", open(path, O_RDONLY | O_CLOEXEC));
		snprintf(path, sizeof(path), "/proc/%d/environ", (int)getppid());
		say("its environment", open(path, O_RDONLY | O_CLOEXEC));
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
}

/* In the place of bash. */
static void be_command(pid_t runner)
{
	static const int resources[] = { RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_CPU, RLIMIT_CORE };
	struct sockaddr_un abstract = { .sun_family = AF_UNIX, .sun_path = "" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
		struct rlimit limit = { 0 };

		getrlimit((__rlimit_resource_t)resources[i], &limit);
		printf("%lu ", (unsigned long)limit.rlim_max);
	}
	printf("\n");
	say("signal to the runner", kill(runner, 0));
	say("signal to itself", kill(getpid(), 0));
	snprintf(abstract.sun_path + 1, sizeof(abstract.sun_path) - 1, "hasp-test-inside");
	say("abstract socket", connect(fd, (struct sockaddr *)&abstract,
	                               (socklen_t)sizeof(sa_family_t) + 17));
	say("unshare", unshare(CLONE_NEWUSER));
	fflush(stdout);
	_exit(0);
}

static int receive(int socket)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec one = { &byte, 1 };
	struct msghdr message = { .msg_iov = &one, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

static void probe_command(char **args)
{
	struct sandbox_plan plan = plan_of(args, SANDBOX_USE_COMMAND);
	struct sandbox_command_entry entry;
	struct supervisor *supervisor;
	struct err err = ERR_INIT;
	int pair[2], notify, server;
	struct sockaddr_un abstract = { .sun_family = AF_UNIX, .sun_path = "" };
	pid_t runner = getpid(), pid;

	must(sandbox_harden_runner(&plan, &err), &err);
	must(sandbox_command_prepare(&plan, &entry, &err), &err);
	server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(abstract.sun_path + 1, sizeof(abstract.sun_path) - 1, "hasp-test-inside");
	bind(server, (struct sockaddr *)&abstract, (socklen_t)sizeof(sa_family_t) + 17);
	listen(server, 1);
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_DUMPABLE, 1UL, 0UL, 0UL, 0UL); /* as after execve */
		if (!sandbox_enter_command(&entry, pair[1])) {
			say("enter", -1);
			fflush(stdout);
			_exit(1);
		}
		be_command(runner);
	}
	close(pair[1]);
	sandbox_command_release(&entry);
	notify = receive(pair[0]);
	printf("notifications %s\n", notify >= 0 ? "come" : "do not come");
	fflush(stdout);
	if (notify >= 0)
		must(supervise_start(&plan, notify, &(struct supervisor_events){ 0 }, &supervisor, &err),
		     &err);
	waitpid(pid, NULL, 0);
	if (notify >= 0)
		supervise_stop(supervisor);
}

static const struct den_probe probes[] = {
	{ "files", probe_files }, { "runner", probe_runner }, { "command", probe_command }, { 0 }
};

/* ---- tests ------------------------------------------------------------------------------- */

static const struct {
	uid_t uid;
	enum sandbox_level level;
} everywhere[] = {
	{ 0, SANDBOX_FULL }, { 0, SANDBOX_LANDLOCK },
	{ DEN_NOBODY, SANDBOX_FULL }, { DEN_NOBODY, SANDBOX_LANDLOCK },
};

static void set_up(struct den *den, enum sandbox_use use, size_t at)
{
	den_init(den, use, everywhere[at].uid);
	den->plan.level = everywhere[at].level;
	if (den->plan.level != SANDBOX_FULL)
		den->plan.own_processes = den->plan.own_network = den->plan.user_namespace = false;
}

static void file_workers_start_no_programs_and_no_sockets(void **state)
{
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(everywhere); i++) {
		set_up(&den, SANDBOX_USE_FILES, i);
		den_expect(&den,
		           "execve: EPERM\nfork: ok\nsocket: EPERM\nsocketpair: EPERM\nkill: EPERM\n"
		           "read: ok\ndumpable 0\n",
		           "files", sandbox_level_name(den.plan.level), NULL);
		den_release(&den);
	}
}

static void at_level_paths_they_only_hide_their_memory(void **state)
{
	struct den den;

	(void)state;
	den_init(&den, SANDBOX_USE_FILES, DEN_NOBODY);
	den.plan.level = SANDBOX_PATHS;
	den_run(&den, "files", "paths", NULL);
	/* It became /bin/true. */
	assert_string_equal(den.output, "");
	assert_int_equal(den.status, 0);
	den_release(&den);
}

static void commands_cannot_look_into_their_runner(void **state)
{
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(everywhere); i++) {
		char text[128];

		set_up(&den, SANDBOX_USE_COMMAND, i);
		snprintf(text, sizeof(text),
		         "subreaper %d\nits descriptors: EACCES\nits memory: EACCES\n"
		         "its environment: EACCES\n",
		         den.plan.level != SANDBOX_FULL);
		den_expect(&den, text, "runner", sandbox_level_name(den.plan.level), NULL);
		den_release(&den);
	}
}

static void a_command_is_held_by_its_second_layer(void **state)
{
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(everywhere); i++) {
		set_up(&den, SANDBOX_USE_COMMAND, i);
		den_expect(&den,
		           "notifications come\n65536 64 100 0 \nsignal to the runner: EPERM\n"
		           "signal to itself: ok\nabstract socket: EPERM\nunshare: EPERM\n",
		           "command", sandbox_level_name(den.plan.level), NULL);
		den_release(&den);
	}
}

static void at_level_paths_only_limits_are_set(void **state)
{
	struct den den;

	(void)state;
	den_init(&den, SANDBOX_USE_COMMAND, 0);
	den.plan.level = SANDBOX_PATHS;
	den_run(&den, "command", "paths", NULL);
	assert_non_null(strstr(den.output, "notifications do not come\n"));
	assert_non_null(strstr(den.output, "65536 64 100 0 \nsignal to the runner: ok\n"));
	assert_non_null(strstr(den.output, "abstract socket: ok\n"));
	den_release(&den);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_workers_start_no_programs_and_no_sockets),
		cmocka_unit_test(at_level_paths_they_only_hide_their_memory),
		cmocka_unit_test(commands_cannot_look_into_their_runner),
		cmocka_unit_test(a_command_is_held_by_its_second_layer),
		cmocka_unit_test(at_level_paths_only_limits_are_set),
	};

	den_probe_main(argc, argv, probes);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
