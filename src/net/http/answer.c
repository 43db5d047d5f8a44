/* SPDX-License-Identifier: Apache-2.0 */
/* Answers, whole or as a stream. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/http/event_stream.h"
#include "net/http/server_private.h"

/* Bytes handed over at a time where the library does not choose (HTTP/1.0). */
enum { BLOCK = 16 << 10 };

void http_add_header(struct http_request *request, const char *name, const char *value)
{
	size_t at = request->added_count;

	if (at == ADDED_HEADERS)
		return;
	request->added[at].name = mem_strdup(name);
	request->added[at].value = mem_strdup(value);
	request->added_count++;
}

/* Headers that let scripts of another origin read the answer. */
static void add_cors(const struct http_request *request, struct MHD_Response *answer)
{
	const struct http_server *server = request->server;

	if (server->options.origin_count)
		server->lib.add_response_header(answer, "Vary", "Origin");
	if (!request->listed_origin)
		return;
	server->lib.add_response_header(answer, "Access-Control-Allow-Origin",
	                                request->listed_origin);
	if (server->options.exposed_headers)
		server->lib.add_response_header(answer, "Access-Control-Expose-Headers",
		                                server->options.exposed_headers);
}

static void set_answer(struct http_request *request, unsigned status, const char *type,
                       struct MHD_Response *answer)
{
	struct http_server *server = request->server;

	if (!answer) { /* out of memory */
		http_request_drop(request);
		return;
	}
	if (type)
		server->lib.add_response_header(answer, "Content-Type", type);
	for (size_t i = 0; i < request->added_count; i++)
		server->lib.add_response_header(answer, request->added[i].name,
		                                request->added[i].value);
	add_cors(request, answer);
	request->status = status;
	request->answer = answer;
	http_request_resume(request);
}

void http_answer(struct http_request *request, unsigned status, const char *type,
                 struct buf *body)
{
	struct MHD_Response *answer;
	size_t len = body ? body->len : 0;
	char *text = len ? buf_steal(body) : NULL;

	if (request->status) {
		free(text);
		return;
	}
	answer = request->server->lib.create_response_from_buffer(
		len, text, text ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	if (!answer)
		free(text);
	set_answer(request, status, type, answer);
}

void http_refuse(struct http_request *request, unsigned status, const char *sentence)
{
	const struct http_options *options = &request->server->options;
	_cleanup_buf_ struct buf body = BUF_INIT(LIMIT_MESSAGE_BYTES);

	if (options->explain)
		options->explain(options->data, status, sentence, &body);
	else
		buf_printf(&body, "{\"error\": \"%s\"}", sentence);
	http_answer(request, status, "application/json", &body);
}

/* ---- streams ---------------------------------------------------------------- */

static size_t waiting(const struct http_request *request)
{
	return request->out.len - request->sent;
}

/* What the library asks for when the client takes more. */
static ssize_t read_stream(void *cls, uint64_t position, char *to, size_t max)
{
	struct http_request *request = cls;
	size_t len = waiting(request) < max ? waiting(request) : max;

	(void)position;
	if (request->gone)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (len == 0 && request->stream_ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (len == 0) {
		http_request_suspend(request);
		return 0;
	}
	memcpy(to, request->out.data + request->sent, len);
	request->sent += len;
	return (ssize_t)len;
}

void http_stream_begin(struct http_request *request)
{
	if (request->status)
		return;
	request->streaming = true;
	request->written = request->server->now;
	http_add_header(request, "Cache-Control", "no-cache, no-transform");
	http_add_header(request, "X-Accel-Buffering", "no");
	set_answer(request, 200, EVENT_STREAM_TYPE,
	           request->server->lib.create_response_from_callback(
			   MHD_SIZE_UNKNOWN, BLOCK, read_stream, request, NULL));
}

/* Drops what is sent, once that is worth moving the rest. */
static void shift(struct http_request *request)
{
	size_t rest = waiting(request);

	if (request->sent < rest)
		return;
	if (rest)
		memmove(request->out.data, request->out.data + request->sent, rest);
	request->out.len = rest;
	request->sent = 0;
}

void http_stream_write(struct http_request *request, struct span events)
{
	if (!request->streaming || request->stream_ended || request->gone)
		return;
	shift(request);
	if (waiting(request) > LIMIT_STREAM_BACKLOG || !buf_span(&request->out, events)) {
		http_request_drop(request);
		return;
	}
	request->written = request->server->now;
	http_request_resume(request);
}

void http_stream_end(struct http_request *request)
{
	request->stream_ended = true;
	http_request_resume(request);
}
