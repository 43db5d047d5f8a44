/* SPDX-License-Identifier: Apache-2.0 */
/* Measures an MCP server on a pipe with a client that costs next to nothing: requests are made
 * beforehand, answers are only looked at for success.
 *
 *     bench_mcp_lines CALLS IN_FLIGHT PARAMS [PARAMS] -- COMMAND [ARGUMENT...]
 *
 * PARAMS are the params of tools/call, JSON; two take turns.  Prints "start_us us_per_call
 * cpu_us_per_call rss_idle_kb rss_after_kb": from the start to the answer to initialize; the
 * wall time and the server's processor time of one call; its memory before and after them.
 */
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

enum { WARM_UP = 100, BUFFER = 1 << 20 };

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

/* Processor time of all threads that the server has and had. */
static int64_t cpu_us(const struct server *server)
{
	clockid_t clock;
	if (clock_getcpuclockid(server->pid, &clock) != 0)
		fail("the server has no clock");
	return clock_us(clock);
}

static long rss_kb(const struct server *server)
{
	char path[64];
	long size, resident;
	snprintf(path, sizeof(path), "/proc/%d/statm", (int)server->pid);
	FILE *file = fopen(path, "r");
	if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2)
		fail(path);
	fclose(file);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

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

static void call(struct server *server, unsigned calls, unsigned in_flight, char *const params[2])
{
	unsigned asked = 0, answered = 0;
	while (answered < calls) {
		for (; asked < calls && asked - answered < in_flight; asked++)
			ask(server, asked + 1, params[asked % 2]);
		answered += server_answers(server);
	}
}

int main(int argc, char **argv)
{
	int dashes = argc > 4 && strcmp(argv[4], "--") == 0 ? 4 : 5;
	if (argc < dashes + 2 || strcmp(argv[dashes], "--") != 0) {
		fputs("usage: bench_mcp_lines CALLS IN_FLIGHT PARAMS [PARAMS] -- COMMAND ...\n",
		      stderr);
		return 2;
	}
	unsigned calls = (unsigned)strtoul(argv[1], NULL, 10);
	unsigned in_flight = (unsigned)strtoul(argv[2], NULL, 10);
	char *const params[2] = { argv[3], argv[dashes == 4 ? 3 : 4] };
	struct server server;
	int64_t start = clock_us(CLOCK_MONOTONIC);
	server_start(&server, argv + dashes + 1);
	initialize(&server);
	int64_t started = clock_us(CLOCK_MONOTONIC) - start;
	long idle = rss_kb(&server);
	call(&server, WARM_UP, in_flight, params);
	int64_t cpu = cpu_us(&server), wall = clock_us(CLOCK_MONOTONIC);
	call(&server, calls, in_flight, params);
	wall = clock_us(CLOCK_MONOTONIC) - wall;
	cpu = cpu_us(&server) - cpu;
	printf("%" PRId64 " %.2f %.2f %ld %ld\n", started, (double)wall / calls,
	       (double)cpu / calls, idle, rss_kb(&server));
	server_end(&server);
	return 0;
}
