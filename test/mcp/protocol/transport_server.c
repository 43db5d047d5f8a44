/* SPDX-License-Identifier: Apache-2.0 */
/* transport_server [--http [-t TOKEN] [-s MAX_SESSIONS] [-i IDLE_SECONDS] [-o ORIGIN]]: tools
 * that make a transport do everything it can do.  Over HTTP it prints its port, and ends with
 * its input. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "mcp/transport/transport.h"

#define OBJECT "{\"type\": \"object\"}"
enum { THREADS = 64, MEGABYTE = 1 << 20 };

/* Handlers that ran to their end, that saw themselves cancelled, and slow ones that began. */
struct tally {
	_Atomic int finished, cancelled, begun;
};

static long number(const struct mcp_call *call, const char *name, long otherwise)
{
	const json_t *value = json_object_get(mcp_call_arguments(call), name);

	return json_is_integer(value) ? (long)json_integer_value(value) : otherwise;
}

/* False when the call was cancelled meanwhile. */
static bool pause_ms(struct mcp_call *call, long ms)
{
	const struct timespec step = { .tv_nsec = 1000000 };

	for (; ms > 0 && !mcp_call_cancelled(call); ms--)
		nanosleep(&step, NULL);
	return !mcp_call_cancelled(call);
}

static void finish(struct mcp_call *call, struct tally *tally, const char *text)
{
	if (mcp_call_cancelled(call))
		tally->cancelled++;
	else
		tally->finished++;
	mcp_call_result(call, mcp_text_result(text));
}

static void echo(struct mcp_call *call, void *data)
{
	const char *text = json_string_value(json_object_get(mcp_call_arguments(call), "text"));

	finish(call, data, text ? text : "");
}

static void slow(struct mcp_call *call, void *data)
{
	((struct tally *)data)->begun++;
	pause_ms(call, number(call, "ms", 100));
	finish(call, data, "slow");
}

static void progress(struct mcp_call *call, void *data)
{
	long steps = number(call, "steps", 3);

	for (long i = 1; i <= steps && pause_ms(call, number(call, "ms", 60)); i++)
		mcp_call_progress(call, (double)i, (double)steps, "step");
	finish(call, data, "progressed");
}

static void log_much(struct mcp_call *call, void *data)
{
	_cleanup_free_ char *text = mem_alloc(MEGABYTE + 1, 1);
	long count = number(call, "megabytes", 1);

	memset(text, 'l', MEGABYTE);
	for (long i = 0; i < count && !mcp_call_cancelled(call); i++) {
		mcp_call_log(call, MCP_ERROR, "much", json_string(text));
		pause_ms(call, 2);
	}
	finish(call, data, "logged");
}

static void big(struct mcp_call *call, void *data)
{
	size_t len = (size_t)number(call, "kilobytes", 1024) << 10;
	_cleanup_free_ char *text = mem_alloc(len + 1, 1);

	memset(text, 'b', len);
	finish(call, data, text);
}

static void ask(struct mcp_call *call, void *data)
{
	json_t *answer = NULL;
	json_t *question = json_pack("{s:s, s:{s:s, s:{}}}", "message", "Well?",
	                             "requestedSchema", "type", "object", "properties");
	enum mcp_ask asked =
		mcp_call_ask(call, "q", "elicitation/create", question, 30000, &answer);
	const char *action = json_string_value(json_object_get(answer, "action"));

	if (asked == MCP_ASK_PENDING)
		mcp_call_pending(call);
	else
		finish(call, data, action ? action : "no answer");
	json_decref(answer);
}

/* Lets the client come back for the answer. */
static void later(struct mcp_call *call, void *data)
{
	mcp_call_log(call, MCP_ERROR, "later", json_string("first"));
	mcp_call_close_stream(call, 50);
	pause_ms(call, number(call, "ms", 100));
	mcp_call_log(call, MCP_ERROR, "later", json_string("second"));
	finish(call, data, "later");
}

static void tell_tally(struct mcp_call *call, void *data)
{
	struct tally *tally = data;
	char text[64];

	snprintf(text, sizeof(text), "%d %d %d", tally->finished, tally->cancelled,
	         tally->begun);
	mcp_call_result(call, mcp_text_result(text));
}

static void stop(void *data)
{
	loop_stop(data);
}

static void input_ready(void *data)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) <= 0)
		loop_stop(data);
}

struct service {
	struct loop *loop;
	struct mcp_server *server;
	struct mcp_http *http;
	struct mcp_stdio *stdio;
	struct loop_watch *input;
	bool over_http;
	struct mcp_http_options options;
};

static bool read_options(int argc, char **argv, struct service *service, const char **origin)
{
	int option;

	service->over_http = argc > 1 && strcmp(argv[1], "--http") == 0;
	optind = 1 + service->over_http;
	while ((option = getopt(argc, argv, "t:s:i:o:")) != -1) {
		switch (option) {
		case 't': service->options.token = optarg; break;
		case 's': service->options.max_sessions = strtoul(optarg, NULL, 10); break;
		case 'i':
			service->options.session_idle_s = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'o':
			*origin = optarg;
			service->options.origins = origin;
			service->options.origin_count = 1;
			break;
		default: return false;
		}
	}
	return true;
}

static bool serve(struct service *service, struct err *err)
{
	struct loop *loop = service->loop;

	if (!service->over_http)
		return mcp_serve_stdio(service->server, loop, STDIN_FILENO, STDOUT_FILENO, stop,
		                       loop, &service->stdio, err);
	if (!mcp_serve_http(service->server, loop, &service->options, &service->http, err))
		return false;
	printf("%u\n", mcp_http_port(service->http));
	fflush(stdout);
	service->input = loop_watch_start(loop, STDIN_FILENO, input_ready, loop);
	return true;
}

int main(int argc, char **argv)
{
	struct tally tally = { 0 };
	const struct mcp_tool tools[] = {
		{ .name = "echo", .input_schema = OBJECT, .quick = true, .run = echo },
		{ .name = "slow", .input_schema = OBJECT, .run = slow },
		{ .name = "progress", .input_schema = OBJECT, .run = progress },
		{ .name = "log_much", .input_schema = OBJECT, .run = log_much },
		{ .name = "big", .input_schema = OBJECT, .run = big },
		{ .name = "ask", .input_schema = OBJECT, .run = ask },
		{ .name = "later", .input_schema = OBJECT, .run = later },
		{ .name = "tally", .input_schema = OBJECT, .quick = true, .run = tell_tally },
	};
	struct mcp_tool offered[ARRAY_LEN(tools)];
	const struct mcp_offer offer = { .name = "transports", .version = "1", .tools = offered,
		                         .tool_count = ARRAY_LEN(tools) };
	struct service service = { 0 };
	const char *origin = NULL;
	struct err err = ERR_INIT;
	struct pool *pool;

	for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
		offered[i] = tools[i];
		offered[i].description = tools[i].name;
		offered[i].data = &tally;
	}
	if (!read_options(argc, argv, &service, &origin) || !loop_new(&service.loop, &err))
		return 2;
	pool = pool_new(THREADS, THREADS);
	service.server = mcp_server_new(service.loop, pool, &offer, &err);
	if (service.server && serve(&service, &err))
		loop_run(service.loop);
	else
		fprintf(stderr, "%s\n", err.message);
	loop_watch_stop(service.input);
	mcp_http_free(service.http);
	mcp_stdio_free(service.stdio);
	mcp_server_free(service.server);
	pool_free(pool);
	loop_free(service.loop);
	return err.code != ERR_NONE;
}
