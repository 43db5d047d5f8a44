/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor on UNIX sockets: daemons outside must hear nothing, servers inside must be
 * reached, and a connect that blocks must block nobody else. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "canaries.h"

/* ---- UNIX sockets ---- */

static int reach_for_daemons(void *data)
{
	const struct canaries *c = data;
	struct sockaddr_un at = unix_at(c->stream);
	struct iovec bytes = { (char[]){ "x" }, 1 };
	struct msghdr message = { .msg_name = &at, .msg_namelen = sizeof(at), .msg_iov = &bytes,
		.msg_iovlen = 1 };
	char text[200];
	int fd, pair[2];

	CHECK(chdir(c->root) == 0);
	CHECK(connect_unix(SOCK_STREAM, c->stream) == -EACCES);
	CHECK(connect_unix(SOCK_SEQPACKET, c->packet) == -EACCES);
	CHECK(result(socket(AF_UNIX, SOCK_DGRAM, 0)) == -EPERM);
	CHECK(result(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) == -EPERM);
	/* the wrong type, a relative path, symlinks to it and to its folder */
	CHECK(connect_unix(SOCK_SEQPACKET, c->stream) == -EACCES);
	snprintf(text, sizeof(text), "../%s/stream", c->outside + strlen("/tmp/"));
	CHECK(connect_unix(SOCK_STREAM, text) == -EACCES);
	CHECK(symlink(c->stream, "link") == 0 && symlink(c->outside, "folder") == 0);
	CHECK(connect_unix(SOCK_STREAM, "link") == -EACCES);
	CHECK(connect_unix(SOCK_STREAM, "folder/stream") == -EACCES);
	CHECK((fd = open(c->stream, O_PATH)) >= 0);
	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
	CHECK(connect_unix(SOCK_STREAM, text) == -EACCES);
	/* named in a message */
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(sendmsg(fd, &message, 0) < 0);
	CHECK(sendto(fd, "x", 1, 0, (struct sockaddr *)&at, sizeof(at)) < 0);
	fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	CHECK(sendmsg(fd, &message, MSG_NOSIGNAL) < 0);
	/* abstract */
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(result(connect(fd, (const struct sockaddr *)&c->abstract_at, c->abstract_len)) == -EPERM);
	/* errors are as ever */
	CHECK(connect_unix(SOCK_STREAM, "nothing") == -ENOENT);
	CHECK(connect_unix(SOCK_STREAM, "/etc/passwd") == -ECONNREFUSED);
	CHECK(result(connect(fd, (const struct sockaddr *)1, 16)) == -EFAULT);
	CHECK(result(connect(fd, (const struct sockaddr *)&at, 1)) == -EINVAL);
	CHECK(result(connect(fd, (const struct sockaddr *)&at, 4096)) == -EINVAL);
	CHECK(result(connect(999, (const struct sockaddr *)&at, sizeof(at))) == -EBADF);
	CHECK(result(connect(open("/dev/null", O_RDONLY), (const struct sockaddr *)&at,
	                     sizeof(at))) == -ENOTSOCK);
	return 0;
}

static void daemons_outside_are_not_reached(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct canaries c;
		struct heard *heard;
		_cleanup_free_ char *what = NULL;

		canaries_make(&c, i & 1 ? SANDBOX_FULL : SANDBOX_LANDLOCK, i & 2);
		heard = supervised(&c.plan.plan, reach_for_daemons, &c);
		assert_int_equal(heard->status, 0);
		what = mem_printf("unix:%s", c.stream);
		assert_non_null(heard_denial(heard, DENIAL_CONNECT, what));
		assert_int_equal(heard_denial(heard, DENIAL_CONNECT, what)->reason, SANDBOX_REASON_SOCKETS);
		heard_free(heard);
		canaries_check(&c, true);
	}
}

static int serve_inside(void *data)
{
	const struct canaries *c = data;
	struct sockaddr_un at = unix_at("sock");
	int server, client, type[] = { SOCK_STREAM, SOCK_SEQPACKET };
	struct stat st;
	char byte;

	CHECK(chdir(c->root) == 0);
	umask(027);
	for (int i = 0; i < 2; i++) {
		CHECK((server = socket(AF_UNIX, type[i], 0)) >= 0);
		CHECK(bind(server, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(server, 4) == 0);
		CHECK(stat("sock", &st) == 0 && (st.st_mode & 0777) == 0750);
		client = socket(AF_UNIX, type[i], 0);
		CHECK(connect(client, (struct sockaddr *)&at, sizeof(at)) == 0);
		CHECK(send(client, "x", 1, 0) == 1);
		CHECK(recv(accept(server, NULL, NULL), &byte, 1, 0) == 1 && byte == 'x');
		CHECK(result(connect(client, (struct sockaddr *)&at, sizeof(at))) == -EISCONN);
		CHECK(result(bind(client, (struct sockaddr *)&at, sizeof(at))) == -EADDRINUSE ||
		      errno == EINVAL);
		close(server);
		CHECK(connect_unix(type[i], "sock") == -ECONNREFUSED && unlink("sock") == 0);
	}
	return 0;
}

static void sockets_beneath_writable_paths_work(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct canaries c;
		struct heard *heard;

		canaries_make(&c, i & 1 ? SANDBOX_FULL : SANDBOX_LANDLOCK, i & 2);
		heard = supervised(&c.plan.plan, serve_inside, &c);
		assert_int_equal(heard->status, 0);
		assert_int_equal(heard->count, 0);
		heard_free(heard);
		canaries_check(&c, true);
	}
}

/* The path and the descriptor are swapped while the call is looked at. */
struct race {
	struct sockaddr_un at;
	const char *inside, *outside;
	_Atomic int stop;
};

static void *swap_paths(void *data)
{
	struct race *race = data;

	for (int i = 0; !race->stop; i++) {
		const char *from = i & 1 ? race->outside : race->inside;

		memcpy(race->at.sun_path, from, strlen(from) + 1);
		unlink("swap2");
		if (symlink(from, "swap2") == 0)
			rename("swap2", "swap");
	}
	return NULL;
}

static int race_for_daemon(void *data)
{
	const struct canaries *c = data;
	struct race race = { .at = unix_at(c->stream), .outside = c->stream };
	struct sockaddr_un mine, link = unix_at("swap");
	pthread_t thread;
	int server, reached = 0;

	CHECK(chdir(c->root) == 0);
	race.inside = mem_printf("%s/inside", c->root);
	mine = unix_at(race.inside);
	server = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	CHECK(bind(server, (struct sockaddr *)&mine, sizeof(mine)) == 0 && listen(server, 64) == 0);
	CHECK(pthread_create(&thread, NULL, swap_paths, &race) == 0);
	for (int i = 0; i < 10000; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		if (connect(fd, (struct sockaddr *)(i & 1 ? &link : &race.at), sizeof(race.at)) == 0) {
			reached++;
			close(accept(server, NULL, NULL));
		}
		close(fd);
	}
	race.stop = 1;
	CHECK(pthread_join(thread, NULL) == 0 && reached > 10);
	return 0;
}

static void swapping_the_path_never_reaches_outside(void **state)
{
	struct canaries c;
	struct heard *heard;

	(void)state;
	canaries_make(&c, SANDBOX_LANDLOCK, false);
	heard = supervised(&c.plan.plan, race_for_daemon, &c);
	assert_int_equal(heard->status, 0);
	heard_free(heard);
	canaries_check(&c, true);
}

/* ---- blocking ---- */

/* A listener whose queue is full blocks a connect; others are served meanwhile. */
static int block_and_go_on(void *data)
{
	const struct canaries *c = data;
	struct sockaddr_un at = unix_at("full");
	int server, fds[2], status;
	pid_t pid;

	CHECK(chdir(c->root) == 0);
	server = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(bind(server, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(server, 0) == 0);
	fds[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(connect(fds[0], (struct sockaddr *)&at, sizeof(at)) == 0);
	fds[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	CHECK(result(connect(fds[1], (struct sockaddr *)&at, sizeof(at))) == -EAGAIN);
	/* one that is killed while it waits, and one that is served in the end */
	for (int i = 0; i < 2; i++) {
		pid = fork();
		if (pid == 0)
			_exit(connect_unix(SOCK_STREAM, "full") == 0 ? 7 : 8);
		usleep(30000);
		CHECK(mkdir("meanwhile", 0700) == 0 && rmdir("meanwhile") == 0);
		CHECK(waitpid(pid, &status, WNOHANG) == 0);
		if (i == 0)
			kill(pid, SIGKILL);
		else
			CHECK(accept(server, NULL, NULL) >= 0);
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(i == 0 ? WIFSIGNALED(status) : WEXITSTATUS(status) == 7);
	}
	/* the flag is as it was */
	CHECK(!(fcntl(fds[0], F_GETFL) & O_NONBLOCK) && (fcntl(fds[1], F_GETFL) & O_NONBLOCK));
	return 0;
}

static volatile sig_atomic_t rang;

static void ring(int signal)
{
	(void)signal;
	rang++;
}

/* A signal with a handler, and SO_SNDTIMEO, end a connect that blocks. */
static int block_until_signal(void *data)
{
	const struct canaries *c = data;
	struct sockaddr_un at = unix_at("full");
	struct sigaction action = { .sa_handler = ring };
	struct itimerval timer = { .it_value.tv_usec = 60000 };
	struct timeval limit = { .tv_usec = 80000 };
	int server, fd;

	CHECK(chdir(c->root) == 0);
	server = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(bind(server, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(server, 0) == 0);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	CHECK(connect_unix(SOCK_STREAM, "full") == -EINTR && rang == 1);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0);
	CHECK(result(connect(fd, (struct sockaddr *)&at, sizeof(at))) == -EAGAIN);
	return 0;
}

static void a_connect_that_blocks_blocks_nobody_else(void **state)
{
	struct canaries c;
	struct heard *heard;

	(void)state;
	canaries_make(&c, SANDBOX_FULL, false);
	heard = supervised(&c.plan.plan, block_and_go_on, &c);
	assert_int_equal(heard->status, 0);
	heard_free(heard);
	canaries_check(&c, true);
	canaries_make(&c, SANDBOX_FULL, false);
	heard = supervised(&c.plan.plan, block_until_signal, &c);
	assert_int_equal(heard->status, 0);
	heard_free(heard);
	canaries_check(&c, true);
}

static int wait_for_ever(void *data)
{
	const struct canaries *c = data;
	struct sockaddr_un at = unix_at("full");
	int server, fd;

	CHECK(chdir(c->root) == 0);
	server = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(bind(server, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(server, 0) == 0);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	CHECK(mkdir("ready", 0700) == 0);
	return connect_unix(SOCK_STREAM, "full") == -ENOSYS ? 0 : 1;
}

static void the_end_of_the_supervisor_ends_what_waits(void **state)
{
	struct canaries c;
	struct supervised_child child;
	struct heard *heard;
	_cleanup_free_ char *ready = NULL;

	(void)state;
	canaries_make(&c, SANDBOX_FULL, false);
	supervised_start(&c.plan.plan, 0, wait_for_ever, &c, &child);
	assert_int_equal(write(child.go, "", 1), 1);
	ready = mem_printf("%s/ready", c.root);
	while (access(ready, F_OK) != 0 && kill(child.pid, 0) == 0)
		usleep(1000);
	usleep(30000);
	supervise_stop(child.supervisor);
	child.supervisor = NULL;
	heard = supervised_finish(&child);
	assert_int_equal(heard->status, 0);
	heard_free(heard);
	canaries_check(&c, true);
}

/* ---- in containers that forbid calls which the supervisor likes to have ---- */

static void forbid(uint32_t call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		_exit(2);
}

static int without_getfd(void *data)
{
	const struct canaries *c = data;
	long to_unix = connect_unix(SOCK_STREAM, c->stream);

	CHECK(to_unix == -EACCES);
	if (c->plan.plan.network)
		CHECK(connect_inet(SOCK_STREAM, &c->tcp_at) == 0);
	else
		CHECK(connect_inet(SOCK_STREAM, &c->tcp_at) == -EACCES);
	return 0;
}

/* Returns what the supervised child ended with; the supervisor's process has the filter as well. */
static void in_container(uint32_t forbidden, struct canaries *c, int (*body)(void *data))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		forbid(forbidden);
		_exit(supervised(&c->plan.plan, body, c)->status == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void containers_that_forbid_calls_are_no_way_out(void **state)
{
	struct canaries c;

	(void)state;
	canaries_make(&c, SANDBOX_LANDLOCK, false);
	in_container(SYS_pidfd_getfd, &c, without_getfd);
	canaries_check(&c, true);
	canaries_make(&c, SANDBOX_LANDLOCK, true);
	in_container(SYS_pidfd_getfd, &c, without_getfd);
	canaries_check(&c, false);
	canaries_make(&c, SANDBOX_LANDLOCK, false);
	in_container(SYS_unshare, &c, serve_inside);
	canaries_check(&c, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(daemons_outside_are_not_reached),
		cmocka_unit_test(sockets_beneath_writable_paths_work),
		cmocka_unit_test(swapping_the_path_never_reaches_outside),
		cmocka_unit_test(a_connect_that_blocks_blocks_nobody_else),
		cmocka_unit_test(the_end_of_the_supervisor_ends_what_waits),
		cmocka_unit_test(containers_that_forbid_calls_are_no_way_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
