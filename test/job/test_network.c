/* SPDX-License-Identifier: Apache-2.0 */
/* What commands of a session reach of each other, of other sessions and of the machine.
 *
 * This program is the test; the worker (its arguments are those of `hasp worker --confined`); and, run
 * by commands, the server and the client that they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/apply/landlock.h"
#include "worker/inside/serve.h"
#include "worker/job/job.h"
#include "worker/front/open.h"
#include "patience.h"

/* ---- the server and the client ---------------------------------------------------- */

struct address {
	const char *name;
	int family;
	const char *host;
};

static const struct address places[] = {
	{ "tcp4", AF_INET, "127.0.0.1" },
	{ "tcp6", AF_INET6, "::1" },
	{ "abstract", AF_UNIX, "hasp-test-network" },
};

static socklen_t address_of(const struct address *place, int port, struct sockaddr_storage *ret)
{
	struct sockaddr_in *in = (void *)ret;
	struct sockaddr_in6 *in6 = (void *)ret;
	struct sockaddr_un *un = (void *)ret;

	*ret = (struct sockaddr_storage){ .ss_family = (sa_family_t)place->family };
	if (place->family == AF_UNIX) {
		memcpy(un->sun_path + 1, place->host, strlen(place->host));
		return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(place->host));
	}
	in->sin_port = htons((in_port_t)port); /* where IPv6 has it too */
	inet_pton(place->family, place->host,
	          place->family == AF_INET ? (void *)&in->sin_addr : (void *)&in6->sin6_addr);
	return place->family == AF_INET ? sizeof(*in) : sizeof(*in6);
}

static const struct address *place_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (strcmp(places[i].name, name) == 0)
			return &places[i];
	exit(90);
}

static int listen_at(const struct address *place, int *ret_port)
{
	struct sockaddr_storage address;
	socklen_t len = address_of(place, 0, &address);
	int fd = socket(place->family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (void *)&address, len) || listen(fd, 8))
		return -1;
	len = sizeof(address);
	getsockname(fd, (void *)&address, &len);
	*ret_port = ntohs(((struct sockaddr_in *)&address)->sin_port);
	return fd;
}

/* Says its port when it can be reached; greets whoever comes, for as long as it is let. */
static int be_server(const struct address *place)
{
	int port = 0, server = listen_at(place, &port), client;

	printf("%d\n", server < 0 ? -errno : place->family == AF_UNIX ? 1 : port);
	fflush(stdout);
	while (server >= 0 && (client = accept(server, NULL, NULL)) >= 0) {
		if (write(client, "hello", 5) < 0)
			return 91;
		close(client);
	}
	return 0;
}

static int be_client(const struct address *place, int port)
{
	struct sockaddr_storage address;
	socklen_t len = address_of(place, port, &address);
	int fd = socket(place->family, SOCK_STREAM, 0);
	char text[8] = "";

	if (fd < 0 || connect(fd, (void *)&address, len) != 0)
		puts(strerrorname_np(errno));
	else
		puts(fd_read_full(fd, text, 5) == 5 ? text : "nothing");
	return 0;
}

/* What could change the network, or leave it. */
static int be_meddler(void)
{
	struct ifreq lo = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), own = open("/proc/self/ns/net", O_RDONLY);

	printf("down: %s\n", ioctl(fd, SIOCSIFFLAGS, &lo) ? strerrorname_np(errno) : "ok");
	printf("raw: %s\n", socket(AF_PACKET, SOCK_RAW, 0) < 0 ? "refused" : "ok");
	printf("setns: %s\n", setns(own, CLONE_NEWNET) ? strerrorname_np(errno) : "ok");
	printf("unshare: %s\n", unshare(CLONE_NEWUSER | CLONE_NEWNET) ? strerrorname_np(errno) : "ok");
	return 0;
}

static int be_inside(char **argv)
{
	if (strcmp(argv[1], "server") == 0)
		return be_server(place_named(argv[2]));
	if (strcmp(argv[1], "client") == 0)
		return be_client(place_named(argv[2]), (int)strtol(argv[3], NULL, 10));
	return be_meddler();
}

/* ---- sessions --------------------------------------------------------------------- */

struct session {
	enum sandbox_level level;
	char *root;
	struct provider *provider;
	struct jobs *jobs;
};

/* To where commands see it, wherever this one is. */
static void copy_program(const char *folder)
{
	_cleanup_free_ char *command = mem_printf("cp /proc/%d/exe %s/inside", (int)getpid(), folder);

	assert_int_equal(system(command), 0);
}

static void open_session(struct session *session, enum sandbox_level level)
{
	const char *const roots[1] = { session->root = mem_strdup("/var/tmp/hasp-network-XXXXXX") };
	const struct worker_options options = {
		.roots = roots, .root_count = 1, .level_given = true, .level = level,
		.commands_only = true,
	};
	struct jobs_options jobs = { .log_folder = session->root };
	struct err err = ERR_INIT;

	session->level = level;
	assert_non_null(mkdtemp(session->root));
	copy_program(session->root);
	if (!(level == SANDBOX_PATHS ? local_provider_none :
	                               local_provider)(&options, &session->provider, &err))
		fail_msg("%s", err.message);
	session->jobs = jobs_new(&jobs);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
	(void)info;
	(void)kind;
	(void)where;
	return remove(path);
}

static void close_session(struct session *session)
{
	jobs_free(session->jobs);
	provider_free(session->provider);
	nftw(session->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(session->root);
}

static struct job *start(struct session *session, bool network, const char *script)
{
	const char *const argv[] = { "bash", "-c", script, "./inside", NULL };
	const struct run_request run = { .argv = argv, .no_input = true, .network = network,
		                         .leave_running = true };
	const struct job_request request = { .run = &run, .command = script };
	struct err err = ERR_INIT;
	struct job *job;

	if (!job_start(session->jobs, session->provider, &request, &job, &err))
		fail_msg("%s", err.message);
	return job;
}

/* What it prints, all of it, up to 4 KiB. */
static const char *output_of(struct session *session, bool network, const char *script)
{
	static char text[4096];
	struct job *job = start(session, network, script);
	struct job_report report;

	if (!job_wait_all(job, PATIENCE_MS))
		fail_msg("it does not end: %s", script);
	job_report(job, &report);
	snprintf(text, sizeof(text), "%s", report.text.head.data ? report.text.head.data : "");
	job_report_release(&report);
	job_release(job);
	return text;
}

/* A command that leaves a server running; its port. */
static int leave_server(struct session *session, bool network, const char *place)
{
	_cleanup_free_ char *script =
		mem_printf("$0 server %s > port & while [ ! -s port ]; do sleep 0.02; done", place);
	_cleanup_free_ char *path = mem_printf("%s/port", session->root);
	struct job *job = start(session, network, script);
	FILE *file;
	int port = 0;

	assert_true(job_wait(job, PATIENCE_MS));
	job_release(job);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &port), 1);
	fclose(file);
	assert_int_equal(remove(path), 0);
	assert_true(port > 0);
	return port;
}

static void reaches(struct session *session, bool network, const char *place, int port,
                    const char *wanted)
{
	_cleanup_free_ char *script = mem_printf("$0 client %s %d", place, port);
	const char *got = output_of(session, network, script);

	if (strncmp(got, wanted, strlen(wanted)) != 0)
		fail_msg("%s, %s: %s", sandbox_level_name(session->level), place, got);
}

/* ---- tests ------------------------------------------------------------------------ */

static void test_a_server_left_running_is_reached_by_the_next_command(void **state)
{
	/* Each level's answer; at landlock only ports that the command itself has bound. */
	static const char *const answers[] = { "hello", "EACCES", "hello" };

	(void)state;
	for (int level = SANDBOX_FULL; level >= SANDBOX_PATHS; level--) {
		struct session session;

		open_session(&session, (enum sandbox_level)level);
		for (size_t i = 0; i < 2; i++) {
			int port = leave_server(&session, false, places[i].name);

			reaches(&session, false, places[i].name, port, answers[level]);
			reaches(&session, false, places[i].name, port, answers[level]);
		}
		close_session(&session);
	}
}

static void test_abstract_names_are_kept_apart_by_landlock_alone(void **state)
{
	bool scoped = landlock_abi_here(NULL) >= 6;
	struct session session;

	(void)state;
	open_session(&session, SANDBOX_FULL);
	leave_server(&session, false, "abstract");
	reaches(&session, false, "abstract", 0, scoped ? "EPERM" : "hello");
	close_session(&session);
}

static void test_nobody_else_gets_in_and_nobody_out(void **state)
{
	struct session session, other;
	int inside, outside, machine = 0, server = listen_at(place_named("tcp4"), &machine);

	(void)state;
	assert_true(server >= 0);
	open_session(&session, SANDBOX_FULL);
	open_session(&other, SANDBOX_FULL);
	inside = leave_server(&session, false, "tcp4");
	outside = leave_server(&session, true, "tcp4");
	reaches(&session, false, "tcp4", inside, "hello");
	reaches(&other, false, "tcp4", inside, "ECONNREFUSED");
	/* With the network on: the machine's, not the session's; and the other way round. */
	reaches(&session, true, "tcp4", inside, "ECONNREFUSED");
	reaches(&session, true, "tcp4", outside, "hello");
	reaches(&session, false, "tcp4", outside, "ECONNREFUSED");
	reaches(&session, false, "tcp4", machine, "ECONNREFUSED");
	close_session(&other);
	close_session(&session);
	close(server);
}

/* Its output; its namespaces live on, so that no other ones get their numbers. */
static void leave_namespaces(struct session *session, const char *look, char *ret, size_t size)
{
	_cleanup_free_ char *script = mem_printf("(%s) > looked; sleep 1000 &", look);
	_cleanup_free_ char *path = mem_printf("%s/looked", session->root);
	struct job *job = start(session, false, script);
	FILE *file;

	assert_true(job_wait(job, PATIENCE_MS));
	job_release(job);
	file = fopen(path, "re");
	assert_non_null(file);
	ret[fread(ret, 1, size - 1, file)] = 0;
	fclose(file);
}

static void test_a_shared_network_gives_no_rights(void **state)
{
	static const char look[] = "readlink /proc/self/ns/net; readlink /proc/self/ns/user; "
	                           "readlink /proc/self/ns/pid";
	struct session session;
	char first[4096], *rest;
	const char *second;

	(void)state;
	open_session(&session, SANDBOX_FULL);
	leave_namespaces(&session, look, first, sizeof(first));
	second = output_of(&session, false, look);
	rest = strchr(first, '\n');
	assert_non_null(rest);
	/* One network; users and processes are each command's own. */
	assert_int_equal(strncmp(first, second, (size_t)(rest - first)), 0);
	assert_string_not_equal(rest, second + (rest - first));
	for (int i = 0; i < 2; i++) {
		assert_string_equal(output_of(&session, false, "grep -h Cap /proc/self/status | "
		                              "grep -vc 0000000000000000"), "0\n");
		assert_string_equal(output_of(&session, false, "$0 meddle"),
		                    "down: EPERM\nraw: refused\nsetns: EPERM\nunshare: EPERM\n");
	}
	close_session(&session);
}

/* Descriptors of namespaces that this process has. */
static int count_namespaces(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	char text[64];
	int count = 0;

	while ((entry = readdir(dir)) != NULL) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, text, sizeof(text));

		count += (len > 5 && memcmp(text, "net:[", 5) == 0) ||
		         (len > 6 && memcmp(text, "user:[", 6) == 0);
	}
	closedir(dir);
	return count;
}

static void test_the_network_goes_with_its_session(void **state)
{
	struct session session;

	(void)state;
	open_session(&session, SANDBOX_FULL);
	assert_int_equal(count_namespaces(), 0); /* nothing before the first command */
	output_of(&session, true, ":");
	assert_int_equal(count_namespaces(), 0); /* nor for one that does not need it */
	for (int i = 0; i < 3; i++)
		assert_string_equal(output_of(&session, false, "ls /proc/self/fd | wc -l"), "4\n");
	assert_int_equal(count_namespaces(), 2);
	leave_server(&session, false, "tcp4");
	close_session(&session);
	assert_int_equal(count_namespaces(), 0);
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1); /* no process is left */
}

static void forbid_setns(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setns, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { ARRAY_LEN(code), code };

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

/* The last: this process cannot go back. */
static void test_where_setns_is_forbidden_each_command_has_its_own(void **state)
{
	struct session session;
	int port;

	(void)state;
	forbid_setns();
	open_session(&session, SANDBOX_FULL);
	port = leave_server(&session, false, "tcp4");
	reaches(&session, false, "tcp4", port, "ECONNREFUSED");
	close_session(&session);
}

int main(int argc, char **argv)
{
	const struct worker_serve_options serve = { .read_fd = 0, .write_fd = 0, .confined = true };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_server_left_running_is_reached_by_the_next_command),
		cmocka_unit_test(test_abstract_names_are_kept_apart_by_landlock_alone),
		cmocka_unit_test(test_nobody_else_gets_in_and_nobody_out),
		cmocka_unit_test(test_a_shared_network_gives_no_rights),
		cmocka_unit_test(test_the_network_goes_with_its_session),
		cmocka_unit_test(test_where_setns_is_forbidden_each_command_has_its_own),
	};

	if (argc > 1 && strcmp(argv[1], "worker") == 0)
		return worker_serve(&serve);
	if (argc > 1) {
		int status = be_inside(argv);

		fflush(stdout);
		_exit(status); /* LeakSanitizer needs ptrace, which is refused inside */
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
