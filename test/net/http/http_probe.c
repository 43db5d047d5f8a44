/* SPDX-License-Identifier: Apache-2.0 */
/* http_probe [-a ADDRESS] [-t TOKEN] [-H HOST]... [-o ORIGIN]...: serves the paths below on a
 * free port, which it prints, until its input ends; then it ends gracefully.
 *
 *   POST /echo     the body
 *   GET /echo      "hello"
 *   GET /slow      "slow" after 300 ms
 *   POST /slow     the same
 *   GET /never     nothing
 *   GET /stream    ten events of 20 ms each
 *   GET /quiet     an event stream without events
 *   GET /flood     an event stream of 1 MiB events without an end
 *   GET /counts    requests begun, closed, and closed before all was sent
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/http/server.h"
#include "net/http/sse.h"

enum { NAMES = 8, FLOOD_BYTES = 1 << 20 };

struct probe {
	struct loop *loop;
	struct http_server *server;
	struct loop_watch *input;
	unsigned begun, closed, cut;
};

/* What a request waits for. */
struct wait {
	struct http_request *request;
	struct loop_timer *timer;
	int left;
};

static void answer_text(struct http_request *request, const char *text)
{
	struct buf body = BUF_INIT(1024);

	buf_str(&body, text);
	http_answer(request, 200, "text/plain", &body);
	buf_release(&body);
}

static void wait_start(struct probe *probe, struct http_request *request, int left,
                       unsigned delay_ms, unsigned repeat_ms, void (*fire)(void *data))
{
	struct wait *wait = mem_alloc(1, sizeof(*wait));

	wait->request = request;
	wait->left = left;
	http_request_set_data(request, wait);
	wait->timer = fire ? loop_timer_start(probe->loop, delay_ms, repeat_ms, fire, wait) : NULL;
}

static void on_echo(void *data, struct http_request *request, struct span body)
{
	struct buf copy = BUF_INIT(body.len + 16);

	((struct probe *)data)->begun++;
	buf_span(&copy, strcmp(http_request_method(request), "GET") == 0 ? SPAN("hello") : body);
	http_answer(request, 200, "text/plain", &copy);
	buf_release(&copy);
}

static void slow_fired(void *data)
{
	answer_text(((struct wait *)data)->request, "slow");
}

static void on_slow(void *data, struct http_request *request, struct span body)
{
	(void)body;
	((struct probe *)data)->begun++;
	wait_start(data, request, 0, 300, 0, slow_fired);
}

static void on_never(void *data, struct http_request *request, struct span body)
{
	(void)body;
	((struct probe *)data)->begun++;
	wait_start(data, request, 0, 0, 0, NULL);
}

static void stream_fired(void *data)
{
	struct wait *wait = data;
	struct buf event = BUF_INIT(1024);

	if (wait->left > 0) {
		char id[16];

		snprintf(id, sizeof(id), "%d", 11 - wait->left);
		sse_write(&event, id, SPAN("tick"));
		http_stream_write(wait->request, buf_view(&event));
	}
	if (--wait->left == 0)
		http_stream_end(wait->request);
	buf_release(&event);
}

static void on_stream(void *data, struct http_request *request, struct span body)
{
	(void)body;
	((struct probe *)data)->begun++;
	http_stream_begin(request);
	wait_start(data, request, 10, 20, 20, stream_fired);
}

static void on_quiet(void *data, struct http_request *request, struct span body)
{
	(void)body;
	((struct probe *)data)->begun++;
	http_stream_begin(request);
	wait_start(data, request, 0, 0, 0, NULL);
}

static void flood_fired(void *data)
{
	struct wait *wait = data;
	_cleanup_free_ char *block = mem_alloc(FLOOD_BYTES, 1);

	memset(block, ':', FLOOD_BYTES);
	http_stream_write(wait->request, span_of(block, FLOOD_BYTES));
}

static void on_flood(void *data, struct http_request *request, struct span body)
{
	(void)body;
	((struct probe *)data)->begun++;
	http_stream_begin(request);
	wait_start(data, request, 0, 1, 1, flood_fired);
}

static void on_counts(void *data, struct http_request *request, struct span body)
{
	const struct probe *probe = data;
	char text[64];

	(void)body;
	snprintf(text, sizeof(text), "%u %u %u", probe->begun, probe->closed, probe->cut);
	answer_text(request, text);
}

static void on_closed(void *data, struct http_request *request, bool whole)
{
	struct probe *probe = data;
	struct wait *wait = http_request_data(request);

	probe->closed++;
	probe->cut += !whole;
	if (wait)
		loop_timer_stop(wait->timer);
	free(wait);
}

static const struct http_route routes[] = {
	{ "/echo", "GET, POST", NULL, on_echo, on_closed, NULL },
	{ "/slow", "GET, POST", NULL, on_slow, on_closed, NULL },
	{ "/never", "GET", NULL, on_never, on_closed, NULL },
	{ "/stream", "GET", NULL, on_stream, on_closed, NULL },
	{ "/quiet", "GET", NULL, on_quiet, on_closed, NULL },
	{ "/flood", "GET", NULL, on_flood, on_closed, NULL },
	{ "/counts", "GET", NULL, on_counts, NULL, NULL },
};

static void on_input(void *data)
{
	struct probe *probe = data;
	char byte;

	if (read(STDIN_FILENO, &byte, 1) <= 0)
		loop_stop(probe->loop);
}

static bool serve(struct probe *probe, const struct http_options *options, struct err *err)
{
	if (!loop_new(&probe->loop, err) ||
	    !http_server_new(probe->loop, options, &probe->server, err))
		return false;
	printf("%u\n", http_server_port(probe->server));
	fflush(stdout);
	probe->input = loop_watch_start(probe->loop, STDIN_FILENO, on_input, probe);
	loop_run(probe->loop);
	return true;
}

int main(int argc, char **argv)
{
	const char *hosts[NAMES], *origins[NAMES];
	struct probe probe = { 0 };
	struct http_options options = {
		.address = "127.0.0.1",
		.hosts = hosts,
		.origins = origins,
		.exposed_headers = "Mcp-Session-Id",
		.routes = routes,
		.route_count = ARRAY_LEN(routes),
		.body_max = 8 << 20,
		.data = &probe,
	};
	struct err err = ERR_INIT;
	int option;

	while ((option = getopt(argc, argv, "a:t:H:o:")) != -1) {
		switch (option) {
		case 'a': options.address = optarg; break;
		case 't': options.token = optarg; break;
		case 'H': hosts[options.host_count++ % NAMES] = optarg; break;
		case 'o': origins[options.origin_count++ % NAMES] = optarg; break;
		default: return 2;
		}
	}
	if (!serve(&probe, &options, &err))
		fprintf(stderr, "%s: %s\n", err_name(err.code), err.message);
	loop_watch_stop(probe.input);
	http_server_free(probe.server, 1000);
	loop_free(probe.loop);
	return err.code != ERR_NONE;
}
