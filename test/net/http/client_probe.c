/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP client at the other end of a pipe.  Each line on stdin is a request as JSON:
 *
 *   {"method", "url", "headers": [...], "body", "proxy", "connect_ms", "idle_ms", "total_ms",
 *    "max_bytes", "max_redirects", "public_only", "proxy_resolves", "cancel_after_ms", "stop_after": bytes}
 *
 * and gets one line: {"ok", "status", "headers", "body", "pieces", "stream_retry_after", "code", "message",
 * "stage", "ms"}.  All requests go through one client.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "net/http/client.h"

struct answer {
	struct buf headers, body;
	int status;
	size_t pieces, stop_after;
};

static bool on_head(void *data, int status, struct span headers)
{
	struct answer *answer = data;

	answer->status = status;
	buf_span(&answer->headers, headers);
	return true;
}

static bool on_body(void *data, struct span bytes)
{
	struct answer *answer = data;

	answer->pieces++;
	buf_span(&answer->body, bytes);
	return !answer->stop_after || answer->body.len < answer->stop_after;
}

static unsigned number(const json_t *job, const char *name)
{
	return (unsigned)json_integer_value(json_object_get(job, name));
}

struct alarm {
	struct cancel *cancel;
	unsigned after_ms;
};

static void *ring(void *data)
{
	const struct alarm *alarm = data;
	struct timespec wait = { alarm->after_ms / 1000, (long)(alarm->after_ms % 1000) * 1000000 };

	nanosleep(&wait, NULL);
	cancel_set(alarm->cancel);
	return NULL;
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void put(struct answer *answer, bool ok, const struct http_client *client, double ms,
                const struct err *err)
{
	static const char *const stages[] = { "not_sent", "sent", "answering" };
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES * 2);
	json_t *line = json_pack("{s:b, s:i, s:o, s:o, s:i, s:f, s:f}", "ok", ok, "status",
	                         answer->status, "headers", json_text(buf_view(&answer->headers)),
	                         "body", json_text(buf_view(&answer->body)), "pieces",
	                         (int)answer->pieces, "retry_after",
	                         http_retry_after(buf_view(&answer->headers)), "ms", ms);

	if (!ok) {
		json_object_set_new(line, "code", json_cstr(err_name(err->code)));
		json_object_set_new(line, "message", json_cstr(err->message));
		json_object_set_new(line, "stage", json_cstr(stages[http_client_stage(client)]));
	}
	json_print(&out, line, 0);
	printf("%s\n", out.data);
	fflush(stdout);
	json_decref(line);
}

static void run(struct http_client *client, const json_t *job, struct cancel *cancel)
{
	static const struct http_events events = { .head = on_head, .body = on_body };
	struct answer answer = { .headers = BUF_INIT(1 << 20), .body = BUF_INIT(64 << 20),
	                         .stop_after = number(job, "stop_after") };
	struct alarm alarm = { cancel, number(job, "cancel_after_ms") };
	const json_t *list = json_object_get(job, "headers"), *header;
	const char *headers[32] = { NULL };
	struct err err = ERR_INIT;
	double begun = now_ms();
	pthread_t thread;
	size_t i;
	bool ok;

	json_array_foreach(list, i, header)
		if (i < ARRAY_LEN(headers) - 1)
			headers[i] = json_string_value(header);
	if (alarm.after_ms && pthread_create(&thread, NULL, ring, &alarm) != 0)
		alarm.after_ms = 0;
	ok = http_client_send(client, &(struct http_client_request){
		.method = json_string_value(json_object_get(job, "method")),
		.url = json_string_value(json_object_get(job, "url")),
		.headers = headers,
		.body = json_span(json_object_get(job, "body")),
		.proxy = json_string_value(json_object_get(job, "proxy")),
		.connect_ms = number(job, "connect_ms"),
		.idle_ms = number(job, "idle_ms"),
		.total_ms = number(job, "total_ms"),
		.max_bytes = number(job, "max_bytes"),
		.max_redirects = number(job, "max_redirects"),
		.public_only = json_is_true(json_object_get(job, "public_only")),
		.proxy_resolves = json_is_true(json_object_get(job, "proxy_resolves")),
		.cancel = cancel,
	}, &events, &answer, &err);
	put(&answer, ok, client, now_ms() - begun, &err);
	if (alarm.after_ms)
		pthread_join(thread, NULL);
	cancel_reset(cancel);
	buf_release(&answer.headers);
	buf_release(&answer.body);
}

int main(void)
{
	struct http_client *client = http_client_new();
	struct err err = ERR_INIT;
	struct cancel cancel;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	if (!cancel_init(&cancel, &err))
		return 1;
	while ((len = getline(&line, &cap, stdin)) > 0) {
		json_t *job;

		if (!json_parse(span_of(line, (size_t)len), &job, &err)) {
			fprintf(stderr, "%s\n", err.message);
			return 2;
		}
		run(client, job, &cancel);
		json_decref(job);
	}
	free(line);
	http_client_free(client);
	cancel_release(&cancel);
	return 0;
}
