/* SPDX-License-Identifier: Apache-2.0 */
/* What a process inside a plan is: its descriptors, ids, rights, processes and network; how it is
 * ended; and what is said when it cannot be started. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/mem.h"
#include "den.h"
#include "part.h"

extern char **environ;

/* ---- probes ------------------------------------------------------------------------------ */

/* Numbers of open descriptors but the one that looks. */
static void probe_descriptors(char **args)
{
	(void)args;
	for (int fd = 0; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			printf("%d ", fd);
	}
	printf("\n");
}

static void probe_session(char **args)
{
	struct sigaction act;
	struct rlimit core;
	sigset_t mask, pending;
	int ignored = 0;

	(void)args;
	for (int signal = 1; signal < NSIG; signal++) {
		if (sigaction(signal, NULL, &act) == 0 && act.sa_handler == SIG_IGN)
			ignored++;
	}
	sigprocmask(SIG_SETMASK, NULL, &mask);
	sigpending(&pending);
	getrlimit(RLIMIT_CORE, &core);
	printf("leader %d, ignored %d, blocked %d, core %d, umask %03o\n", getsid(0) == getpid(), ignored,
	       !sigisemptyset(&mask), core.rlim_max != 0, umask(0));
	for (char **variable = environ; *variable; variable++) {
		if (strncmp(*variable, "ASAN_", 5) != 0)
			puts(*variable);
	}
}

static void print_status(const char *name)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
			fputs(line, stdout);
	}
	if (file)
		fclose(file);
}

static void probe_rights(char **args)
{
	static const char *const names[] = { "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb",
		"NoNewPrivs", "Seccomp" };
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	(void)args;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		print_status(names[i]);
	say("capget", syscall(SYS_capget, &header, data));
	printf("effective %x%08x\n", data[1].effective, data[0].effective);
}

static void probe_namespaces(char **args)
{
	(void)args;
	printf("uid %d gid %d\n", (int)getuid(), (int)getgid());
	say("user", unshare(CLONE_NEWUSER));
	say("user and mounts", unshare(CLONE_NEWUSER | CLONE_NEWNS));
	say("mounts", unshare(CLONE_NEWNS));
	say("setuid", getuid() == 0 ? setuid(1) : setuid(0));
	say("setgroups", syscall(SYS_setgroups, 0, NULL));
}

static void probe_processes(char **args)
{
	struct dirent **names;
	int count = scandir("/proc", &names, NULL, alphasort);

	(void)args;
	for (int i = 0; i < count; i++) {
		if (names[i]->d_name[0] >= '1' && names[i]->d_name[0] <= '9')
			printf("%s ", names[i]->d_name);
	}
	printf("of %d\n", (int)getpid());
	say("sysctl", open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC));
}

static int loopback(int type, struct sockaddr_in *address, int port)
{
	*address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return socket(AF_INET, type | SOCK_CLOEXEC, 0);
}

/* The port is of a server outside. */
static void probe_network(char **args)
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);
	int fd = loopback(SOCK_STREAM, &address, (int)strtol(args[0], NULL, 10)), server;

	say("outside", connect(fd, (struct sockaddr *)&address, sizeof(address)));
	server = loopback(SOCK_STREAM, &address, 0);
	say("bind", bind(server, (struct sockaddr *)&address, sizeof(address)));
	say("listen", listen(server, 1));
	getsockname(server, (struct sockaddr *)&address, &len);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	say("inside", connect(fd, (struct sockaddr *)&address, sizeof(address)));
	address.sin_addr.s_addr = inet_addr("192.0.2.1");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	say("elsewhere", sendto(fd, "x", 1, 0, (struct sockaddr *)&address, sizeof(address)));
}

/* Leaves a process behind that has nothing to do with it any more but standard output. */
static void probe_daemon(char **args)
{
	(void)args;
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			for (int signal = 1; signal < NSIG; signal++)
				sigaction(signal, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
			fd_write_all(1, "daemon\n", 7);
			for (;;)
				pause();
		}
		_exit(0);
	}
	for (;;)
		pause();
}

static void probe_subreaper_daemon(char **args)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
	probe_daemon(args);
}

static void probe_end(char **args)
{
	if (strcmp(args[0], "signal") == 0)
		raise(SIGTERM);
	_exit((int)strtol(args[0], NULL, 10));
}

static void probe_sleep(char **args)
{
	(void)args;
	pause();
}

static void probe_change(char **args)
{
	say("inside", open(args[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	say("outside", open(args[1], O_WRONLY | O_CLOEXEC));
	say("signal", kill(getppid() ? getppid() : 1, 0));
}

static const struct den_probe probes[] = {
	{ "descriptors", probe_descriptors }, { "session", probe_session },
	{ "rights", probe_rights },           { "namespaces", probe_namespaces },
	{ "processes", probe_processes },     { "network", probe_network },
	{ "daemon", probe_daemon },           { "subreaper", probe_subreaper_daemon },
	{ "end", probe_end },                 { "sleep", probe_sleep },
	{ "change", probe_change },           { 0 }
};

/* ---- tests ------------------------------------------------------------------------------- */

static const uid_t users[] = { 0, DEN_NOBODY };

static void nothing_is_inherited_but_what_is_given(void **state)
{
	struct den den;
	/* Two that are not closed on exec. */
	int leaked = open("/dev/null", O_RDWR), high = fcntl(leaked, F_DUPFD, 500);

	(void)state;
	assert_true(leaked >= 0 && high >= 500);
	den_init(&den, SANDBOX_USE_COMMAND, 0);
	den_expect(&den, "0 1 2 \n", "descriptors", NULL);
	den.plan.level = SANDBOX_LANDLOCK;
	den_expect(&den, "0 1 2 \n", "descriptors", NULL);
	den.plan.level = SANDBOX_PATHS;
	den_expect(&den, "0 1 2 \n", "descriptors", NULL);
	close(leaked);
	close(high);
	den_release(&den);
}

/* fds[i] becomes i, in whatever order they are. */
static void descriptors_come_in_any_order(void **state)
{
	const char *const argv[] = { "sh", "-c", "echo out; echo err >&2; echo four >&4; cat <&3",
		NULL };
	const char *const envp[] = { "PATH=/usr/bin:/bin", NULL };
	int program = open("/bin/sh", O_PATH | O_CLOEXEC), out[2], in[2], status = -1;
	int saved[3];
	struct sandbox_child child;
	struct err err = ERR_INIT;
	char text[64] = "";
	bool ok;

	(void)state;
	assert_int_equal(pipe2(out, O_CLOEXEC) | pipe2(in, O_CLOEXEC), 0);
	for (int i = 0; i < 3; i++)
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
	/* The pipes are 0, 1 and 2 here, and something else there. */
	dup2(out[1], 0);
	dup2(in[0], 2);
	close(1);
	{
		const int fds[] = { -1, 0, 0, 2, 0 };
		const struct sandbox_spawn spawn = { .program = program, .argv = argv, .envp = envp,
			.fds = fds, .fd_count = 5 };

		ok = sandbox_spawn(&spawn, &child, &err);
	}
	for (int i = 0; i < 3; i++)
		dup3(saved[i], i, 0);
	assert_true(ok);
	close(out[1]);
	assert_true(fd_write_all(in[1], "three\n", 6));
	close(in[1]);
	assert_int_equal(fd_read_full(out[0], text, sizeof(text)), 19);
	assert_string_equal(text, "out\nerr\nfour\nthree\n");
	assert_true(sandbox_child_wait(&child, 1000, &status));
	assert_int_equal(status, 0);
	sandbox_child_release(&child);
	close(out[0]);
	close(in[0]);
	close(program);
	for (int i = 0; i < 3; i++)
		close(saved[i]);
}

static void session_signals_and_environment_are_clean(void **state)
{
	struct den den;
	sigset_t blocked, before;
	mode_t mask;

	(void)state;
	den_init(&den, SANDBOX_USE_FILES, 0);
	sigfillset(&blocked);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	mask = umask(027);
	for (int level = SANDBOX_PATHS; level <= SANDBOX_FULL; level++) {
		den.plan.level = (enum sandbox_level)level;
		den_expect(&den,
		           "leader 1, ignored 0, blocked 0, core 0, umask 027\n"
		           "PATH=/usr/local/bin:/usr/bin:/bin\nINSIDE=yes\n",
		           "session", NULL);
	}
	umask(mask);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGUSR1, SIG_DFL);
	den_release(&den);
}

#define RIGHTS(permitted, bounding)                                                  \
	"CapInh:\t0000000000000000\nCapPrm:\t" permitted "\nCapEff:\t" permitted     \
	"\nCapBnd:\t" bounding "\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\n"       \
	"Seccomp:\t2\ncapget: ok\n"
#define NONE "0000000000000000"
/* CHOWN, DAC_OVERRIDE, FOWNER, FSETID */
#define FOUR "000000000000001b"

static void commands_have_no_capabilities(void **state)
{
	struct den den;

	(void)state;
	for (int level = SANDBOX_LANDLOCK; level <= SANDBOX_FULL; level++) {
		for (int own = 0; own < 2; own++) {
			den_init(&den, SANDBOX_USE_COMMAND, 0);
			den.plan.level = (enum sandbox_level)level;
			den.plan.user_namespace = own;
			den_expect(&den, RIGHTS(NONE, NONE) "effective 000000000\n", "rights", NULL);
			den_release(&den);
		}
	}
	den_init(&den, SANDBOX_USE_COMMAND, DEN_NOBODY);
	den_expect(&den, RIGHTS(NONE, NONE) "effective 000000000\n", "rights", NULL);
	den_release(&den);
}

static void file_workers_of_root_keep_what_owners_need(void **state)
{
	struct den den;

	(void)state;
	for (int level = SANDBOX_LANDLOCK; level <= SANDBOX_FULL; level++) {
		den_init(&den, SANDBOX_USE_FILES, 0);
		den.plan.level = (enum sandbox_level)level;
		den_expect(&den, RIGHTS(FOUR, FOUR) "effective 00000001b\n", "rights", NULL);
		den_release(&den);
	}
	den_init(&den, SANDBOX_USE_FILES, DEN_NOBODY);
	den_expect(&den, RIGHTS(NONE, NONE) "effective 000000000\n", "rights", NULL);
	den_release(&den);
}

static void ids_stay_and_no_namespace_can_be_nested(void **state)
{
	struct den den;
	char text[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(users); i++) {
		for (int use = 0; use < 2; use++) {
			den_init(&den, (enum sandbox_use)use, users[i]);
			snprintf(text, sizeof(text),
			         "uid %d gid %d\nuser: ENOSPC\nuser and mounts: ENOSPC\n"
			         "mounts: EPERM\nsetuid: %s\nsetgroups: EPERM\n",
			         (int)users[i], (int)users[i], users[i] ? "EINVAL" : "EPERM");
			den_expect(&den, text, "namespaces", NULL);
			den_release(&den);
		}
	}
}

static void a_parent_that_nobody_may_look_at_can_start_too(void **state)
{
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(users); i++) {
		den_init(&den, SANDBOX_USE_COMMAND, users[i]);
		den.undumpable = true;
		den_expect(&den, "0 1 2 \n", "descriptors", NULL);
		den_release(&den);
	}
}

static void commands_see_only_their_own_processes(void **state)
{
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(users); i++) {
		den_init(&den, SANDBOX_USE_COMMAND, users[i]);
		den_expect(&den,
		           users[i] ? "1 of 1\nsysctl: EACCES\n" : "1 of 1\nsysctl: EROFS\n",
		           "processes", NULL);
		den_release(&den);
	}
}

static int listen_outside(char *port, size_t size)
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);
	int server = loopback(SOCK_STREAM, &address, 0);

	assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(server, 8), 0);
	assert_int_equal(getsockname(server, (struct sockaddr *)&address, &len), 0);
	snprintf(port, size, "%d", ntohs(address.sin_port));
	return server;
}

static void loopback_is_up_and_private(void **state)
{
	struct den den;
	char port[16];
	int server = listen_outside(port, sizeof(port));

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(users); i++) {
		den_init(&den, SANDBOX_USE_COMMAND, users[i]);
		den_expect(&den,
		           "outside: ECONNREFUSED\nbind: ok\nlisten: ok\ninside: ok\n"
		           "elsewhere: ENETUNREACH\n",
		           "network", port, NULL);
		den.plan.own_network = false;
		den.plan.network = true;
		den_run(&den, "network", port, NULL);
		assert_memory_equal(den.output, "outside: ok\n", 12);
		den_release(&den);
	}
	close(server);
}

/* Everything that holds the other end of the pipe is gone. */
static void assert_all_gone(int out, unsigned within_ms)
{
	struct pollfd poll_fd = { .fd = out };
	char byte;

	assert_int_equal(poll(&poll_fd, 1, (int)within_ms), 1);
	assert_true(poll_fd.revents & POLLHUP);
	assert_int_equal(read(out, &byte, 1), 0);
	close(out);
}

static void wait_for_daemon(int out)
{
	char line[8] = "";

	assert_int_equal(fd_read_full(out, line, 7), 7);
	assert_string_equal(line, "daemon\n");
}

static void killing_process_1_takes_daemons_along(void **state)
{
	struct sandbox_child child;
	struct den den;
	int out, status = 0;

	(void)state;
	den_init(&den, SANDBOX_USE_COMMAND, 0);
	den_start(&den, &child, &out, "daemon", NULL);
	wait_for_daemon(out);
	assert_false(child.whole_tree);
	sandbox_child_kill(&child);
	assert_true(sandbox_child_wait(&child, 1000, &status));
	assert_int_equal(status, SIGKILL);
	assert_all_gone(out, 250);
	sandbox_child_kill(&child); /* fine when it is gone */
	sandbox_child_release(&child);
	den_release(&den);
}

static void without_a_namespace_the_whole_tree_is_killed_too(void **state)
{
	struct sandbox_child child;
	struct den den;
	int out;

	(void)state;
	for (int level = SANDBOX_PATHS; level <= SANDBOX_LANDLOCK; level++) {
		den_init(&den, SANDBOX_USE_COMMAND, 0);
		den.plan.level = (enum sandbox_level)level;
		den_start(&den, &child, &out, "subreaper", NULL);
		wait_for_daemon(out);
		assert_true(child.whole_tree);
		sandbox_child_release(&child);
		assert_all_gone(out, 250);
		den_release(&den);
	}
}

static void ends_are_told_as_waitpid_tells_them(void **state)
{
	struct sandbox_child child;
	struct den den;
	int out, status;

	(void)state;
	den_init(&den, SANDBOX_USE_FILES, 0);
	den.plan.level = SANDBOX_LANDLOCK; /* a process 1 ignores its own signals */
	den_run(&den, "end", "7", NULL);
	assert_int_equal(den.status, 7 << 8);
	den_run(&den, "end", "signal", NULL);
	assert_int_equal(den.status, SIGTERM);
	den_start(&den, &child, &out, "sleep", NULL);
	assert_false(sandbox_child_wait(&child, 20, &status));
	assert_false(sandbox_child_wait(&child, 0, &status));
	sandbox_child_release(&child);
	assert_all_gone(out, 250);
	den_release(&den);
}

static void landlock_alone_holds_writing_and_signals(void **state)
{
	struct den den;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(users); i++) {
		den_init(&den, SANDBOX_USE_COMMAND, users[i]);
		den.plan.level = SANDBOX_LANDLOCK;
		den.plan.own_processes = den.plan.own_network = den.plan.user_namespace = false;
		den_make(&den, "outside/file");
		den_expect(&den, "inside: ok\noutside: EACCES\nsignal: EPERM\n", "change", "./ws/file",
		           "./outside/file", NULL);
		den_release(&den);
	}
}

static void what_cannot_be_executed_is_told(void **state)
{
	struct den den;

	(void)state;
	den_init(&den, SANDBOX_USE_FILES, DEN_NOBODY);
	den_make(&den, "outside/text");
	den.program = open(den_path(&den, "outside/text"), O_PATH | O_CLOEXEC);
	den_run(&den, "x", NULL);
	assert_int_equal(den.err.code, ERR_PERMISSION_DENIED);
	assert_int_equal(chmod(den_path(&den, "outside/text"), 0755), 0);
	den_run(&den, "x", NULL);
	assert_int_equal(den.err.sys_errno, ENOEXEC);
	den.plan.level = SANDBOX_PATHS;
	den_run(&den, "x", NULL);
	assert_int_equal(den.err.sys_errno, ENOEXEC);
	den_release(&den);
}

/* No more user namespaces than there are: as where they are switched off. */
static void namespaces_that_are_forbidden_are_told(void **state)
{
	struct den den;
	int status;
	pid_t pid;

	(void)state;
	den_init(&den, SANDBOX_USE_FILES, 0);
	pid = fork();
	if (pid == 0) {
		int fd;

		/* A namespace of the test's own, in which there are none. */
		if (unshare(CLONE_NEWUSER) != 0)
			_exit(1);
		fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, "0", 1) != 1)
			_exit(2);
		den_run(&den, "descriptors", NULL);
		_exit(den.err.code == ERR_DENIED_BY_SANDBOX && den.err.sys_errno == ENOSPC ? 0 : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	den_release(&den);
}

static int open_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void *start_many(void *data)
{
	enum { TIMES = 10 };
	struct den *den = data;
	const char *const argv[] = { "sandbox/spawn", "inside", "end", "3", NULL };
	const int fds[] = { -1, -1, -1 };
	const struct sandbox_spawn spawn = { .plan = &den->plan, .program = -1, .argv = argv,
		.envp = argv + 4, .fds = fds, .fd_count = 3 };

	for (size_t i = 0; i < part_of(TIMES, 2); i++) {
		struct sandbox_child child;
		struct err err = ERR_INIT;
		int status = 0;

		if (!sandbox_spawn(&spawn, &child, &err))
			return data;
		sandbox_child_wait(&child, -1, &status);
		sandbox_child_release(&child);
		if (status != 3 << 8)
			return data;
	}
	return NULL;
}

static void many_threads_can_start_at_once(void **state)
{
	pthread_t threads[8];
	struct den den;
	int before;

	(void)state;
	den_init(&den, SANDBOX_USE_COMMAND, 0);
	before = open_descriptors();
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, start_many, &den), 0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
		void *wrong;

		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	assert_int_equal(open_descriptors(), before);
	den_release(&den);
}

static void *make_many_networks(void *data)
{
	enum { TIMES = 25 };
	const struct den *den = data;

	for (size_t i = 0; i < part_of(TIMES, 3); i++) {
		struct sandbox_network network = SANDBOX_NETWORK_INIT;
		struct err err = ERR_INIT;

		if (!sandbox_network_make(&den->plan, &network, &err))
			return data;
		sandbox_network_release(&network);
	}
	return NULL;
}

/* The child of each has a copy of the others' descriptors: none may wait for another. */
static void many_threads_can_make_networks_at_once(void **state)
{
	enum { THREADS = 12 };
	pthread_t threads[THREADS];
	struct den den;

	(void)state;
	den_init(&den, SANDBOX_USE_COMMAND, 0);
	den.plan.user_namespace = true;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_many_networks, &den), 0);
	for (int i = 0; i < THREADS; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	den_release(&den);
}

static void a_failed_start_leaves_nothing(void **state)
{
	struct den den;
	struct sandbox_child child;
	struct err err = ERR_INIT;
	const char *const argv[] = { "test", NULL };
	const int fds[] = { -1, -1, -1 };
	struct sandbox_spawn spawn = { .plan = &den.plan, .program = -1, .argv = argv,
		.envp = argv + 1, .fds = fds, .fd_count = 3 };
	int before;

	(void)state;
	den_init(&den, SANDBOX_USE_COMMAND, 0);
	den_make(&den, "ws/gone");
	den_rule(&den, "ws/gone", SANDBOX_HIDDEN, SANDBOX_REASON_OPTION);
	unlink(den_path(&den, "ws/gone"));
	before = open_descriptors();
	assert_false(sandbox_spawn(&spawn, &child, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	den_release(&den);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_inherited_but_what_is_given),
		cmocka_unit_test(descriptors_come_in_any_order),
		cmocka_unit_test(session_signals_and_environment_are_clean),
		cmocka_unit_test(commands_have_no_capabilities),
		cmocka_unit_test(file_workers_of_root_keep_what_owners_need),
		cmocka_unit_test(ids_stay_and_no_namespace_can_be_nested),
		cmocka_unit_test(a_parent_that_nobody_may_look_at_can_start_too),
		cmocka_unit_test(commands_see_only_their_own_processes),
		cmocka_unit_test(loopback_is_up_and_private),
		cmocka_unit_test(killing_process_1_takes_daemons_along),
		cmocka_unit_test(without_a_namespace_the_whole_tree_is_killed_too),
		cmocka_unit_test(ends_are_told_as_waitpid_tells_them),
		cmocka_unit_test(landlock_alone_holds_writing_and_signals),
		cmocka_unit_test(what_cannot_be_executed_is_told),
		cmocka_unit_test(namespaces_that_are_forbidden_are_told),
		cmocka_unit_test(many_threads_can_start_at_once),
		cmocka_unit_test(many_threads_can_make_networks_at_once),
		cmocka_unit_test(a_failed_start_leaves_nothing),
	};

	den_probe_main(argc, argv, probes);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
