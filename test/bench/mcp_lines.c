/* SPDX-License-Identifier: Apache-2.0 */
/* Measures an MCP server on a pipe with a client that costs next to nothing: requests are made
 * beforehand, answers are only looked at for success.
 *
 *     bench_mcp_lines CALLS IN_FLIGHT PARAMS... -- COMMAND [ARGUMENT...]
 *
 * PARAMS are the params of tools/call, JSON; they take turns, and whole rounds are made (CALLS is
 * rounded up).  Prints "start_us us_per_call
 * cpu_us_per_call first_cpu_us_per_call idle_kb after_kb": from the start to the answer to
 * initialize; the wall time and the processor time of one call, that of all the server's
 * processes and that of its first alone; the memory of all (a page that several have counts by
 * its share: PSS) after the first round and after all.
 */
#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the first thread's stack has room */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { WARM_UP = 100, BUFFER = 1 << 20, PROCESSES = 64 };

struct server {
	pid_t pid;
	int in, out;  /* its standard input and output */
	char *buffer; /* what has arrived and was not looked at */
	size_t len;
};

static void fail(const char *what)
{
	fprintf(stderr, "bench_mcp_lines: %s%s%s\n", what, errno ? ": " : "",
	        errno ? strerror(errno) : "");
	exit(1);
}

static int64_t clock_us(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- the server's processes ------------------------------------------------- */

static long parent_of(long pid)
{
	char path[64], line[512];
	long parent = 0;
	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	FILE *file = fopen(path, "r");
	char *name = file && fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	if (name && sscanf(name, ") %*c %ld", &parent) != 1)
		parent = 0;
	if (file)
		fclose(file);
	return parent;
}

/* The server and all that it started, those of them that live; returns how many. */
static size_t processes(const struct server *server, long pids[PROCESSES])
{
	size_t count = 1, before = 0;
	pids[0] = server->pid;
	while (count != before) { /* until none is found that was not known */
		before = count;
		DIR *proc = opendir("/proc");
		for (struct dirent *entry; proc && (entry = readdir(proc));) {
			long pid = strtol(entry->d_name, NULL, 10), parent = pid ? parent_of(pid) : 0;
			bool known = !pid, child = false;
			for (size_t i = 0; i < count; i++) {
				known |= pids[i] == pid;
				child |= pids[i] == parent;
			}
			if (child && !known && count < PROCESSES)
				pids[count++] = pid;
		}
		if (proc)
			closedir(proc);
	}
	return count;
}

/* What the children that a process has waited for used. */
static int64_t ended_us(long pid)
{
	char path[64], line[1024];
	long user = 0, sys = 0;
	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	FILE *file = fopen(path, "r");
	char *name = file && fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	if (!name || sscanf(name, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %ld %ld",
	                    &user, &sys) != 2)
		user = sys = 0;
	if (file)
		fclose(file);
	return (user + sys) * (1000000 / sysconf(_SC_CLK_TCK));
}

/* Processor time of all threads that a process has and had. */
static int64_t process_us(long pid)
{
	clockid_t clock;
	return clock_getcpuclockid((pid_t)pid, &clock) == 0 ? clock_us(clock) : 0;
}

/* The same of all processes that the server has and had. */
static int64_t cpu_us(const struct server *server)
{
	long pids[PROCESSES];
	size_t count = processes(server, pids);
	int64_t sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += process_us(pids[i]) + ended_us(pids[i]);
	return sum;
}

static long pss_kb(const struct server *server)
{
	long pids[PROCESSES], sum = 0;
	size_t count = processes(server, pids);
	for (size_t i = 0; i < count; i++) {
		char path[64], line[256];
		long kb = -1;
		snprintf(path, sizeof(path), "/proc/%ld/smaps_rollup", pids[i]);
		FILE *file = fopen(path, "r");
		while (file && kb < 0 && fgets(line, sizeof(line), file))
			if (sscanf(line, "Pss: %ld", &kb) != 1)
				kb = -1;
		if (kb < 0)
			fail(path);
		fclose(file);
		sum += kb;
	}
	return sum;
}

/* ---- talking to it ---------------------------------------------------------- */

static void server_start(struct server *server, char **argv)
{
	posix_spawn_file_actions_t actions;
	int in[2], out[2];
	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		fail("pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	errno = posix_spawnp(&server->pid, argv[0], &actions, NULL, argv, environ);
	if (errno)
		fail(argv[0]);
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	server->in = in[1];
	server->out = out[0];
	server->buffer = malloc(BUFFER);
	server->len = 0;
	if (!server->buffer)
		fail("memory");
}

static void server_end(struct server *server)
{
	int status;
	close(server->in);
	close(server->out);
	kill(server->pid, SIGTERM);
	waitpid(server->pid, &status, 0);
	free(server->buffer);
}

static void server_write(struct server *server, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(server->in, data, len);
		if (n < 0)
			fail("the server does not read");
		data += n;
		len -= (size_t)n;
	}
}

static void server_say(struct server *server, const char *text)
{
	server_write(server, text, strlen(text));
}

/* Whether a line answers a request, and does so with success. */
static bool is_answer(const char *line, size_t len)
{
	static const char method[] = "\"method\"", failed[] = "\"isError\":true";
	if (memmem(line, len < 200 ? len : 200, method, sizeof(method) - 1))
		return false; /* a notification or a question */
	if (!memmem(line, len, "\"result\"", 8) || memmem(line, len, failed, sizeof(failed) - 1)) {
		fprintf(stderr, "%.*s\n", (int)(len < 2000 ? len : 2000), line);
		errno = 0;
		fail("a call failed");
	}
	return true;
}

/* Takes what has arrived; returns how many answers were in it, at least one. */
static unsigned server_answers(struct server *server)
{
	unsigned answers = 0;
	while (answers == 0) {
		ssize_t n = read(server->out, server->buffer + server->len, BUFFER - server->len);
		if (n <= 0)
			fail("the server ended");
		server->len += (size_t)n;
		char *line = server->buffer, *end;
		while ((end = memchr(line, '\n', server->len - (size_t)(line - server->buffer)))) {
			answers += is_answer(line, (size_t)(end - line));
			line = end + 1;
		}
		server->len -= (size_t)(line - server->buffer);
		memmove(server->buffer, line, server->len);
		if (server->len == BUFFER)
			fail("an answer is too long");
	}
	return answers;
}

static void initialize(struct server *server)
{
	server_say(server, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
		"{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
		"\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n");
	server_answers(server);
	server_say(server, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
}

static void ask(struct server *server, unsigned id, const char *params)
{
	char line[65536];
	int len = snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":"
		"\"tools/call\",\"params\":%s}\n", id, params);
	if (len < 0 || (size_t)len >= sizeof(line))
		fail("params are too long");
	server_write(server, line, (size_t)len);
}

static void call(struct server *server, unsigned calls, unsigned in_flight,
                 char *const params[], unsigned turns)
{
	unsigned asked = 0, answered = 0;
	while (answered < calls) {
		for (; asked < calls && asked - answered < in_flight; asked++)
			ask(server, asked + 1, params[asked % turns]);
		answered += server_answers(server);
	}
}

/* `calls`, but whole rounds. */
static unsigned rounds(unsigned calls, unsigned turns)
{
	return (calls + turns - 1) / turns * turns;
}

int main(int argc, char **argv)
{
	int dashes = 3;
	while (dashes < argc && strcmp(argv[dashes], "--") != 0)
		dashes++;
	if (dashes == 3 || argc < dashes + 2) {
		fputs("usage: bench_mcp_lines CALLS IN_FLIGHT PARAMS... -- COMMAND ...\n", stderr);
		return 2;
	}
	unsigned turns = (unsigned)dashes - 3;
	unsigned calls = rounds((unsigned)strtoul(argv[1], NULL, 10), turns);
	unsigned in_flight = (unsigned)strtoul(argv[2], NULL, 10);
	char *const *params = argv + 3;
	struct server server;
	int64_t start = clock_us(CLOCK_MONOTONIC);
	server_start(&server, argv + dashes + 1);
	initialize(&server);
	int64_t started = clock_us(CLOCK_MONOTONIC) - start;
	call(&server, turns, 1, params, turns);
	long idle = pss_kb(&server);
	call(&server, rounds(WARM_UP, turns), in_flight, params, turns);
	int64_t cpu = cpu_us(&server), first = process_us(server.pid);
	int64_t wall = clock_us(CLOCK_MONOTONIC);
	call(&server, calls, in_flight, params, turns);
	wall = clock_us(CLOCK_MONOTONIC) - wall;
	first = process_us(server.pid) - first;
	cpu = cpu_us(&server) - cpu;
	printf("%" PRId64 " %.2f %.2f %.2f %ld %ld\n", started, (double)wall / calls,
	       (double)cpu / calls, (double)first / calls, idle, pss_kb(&server));
	server_end(&server);
	return 0;
}
