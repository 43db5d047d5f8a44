/* SPDX-License-Identifier: Apache-2.0 */
/* A request from its head to its end, as libmicrohttpd tells of it.
 *
 * It calls http_on_access once for the head, once for each piece of the body, and again
 * until an answer is queued.  An answer that is queued with the head ends the connection, since
 * the rest of the request is unread; so a refusal waits for the end of a body that is short. */
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/http/server_private.h"

/* ---- what is asked of a request ---------------------------------------------- */

const char *http_request_method(const struct http_request *request)
{
	return request->method;
}

void http_request_set_data(struct http_request *request, void *data)
{
	request->data = data;
}

void *http_request_data(const struct http_request *request)
{
	return request->data;
}

bool http_request_waits(const struct http_request *request)
{
	return request->status == 0;
}

/* A copy of a value without the blanks after it: once for each value. */
static const char *keep_trimmed(struct http_request *request, struct span value)
{
	for (size_t i = 0; i < request->trimmed_count; i++)
		if (span_eq(span_str(request->trimmed[i]), value))
			return request->trimmed[i];
	if (request->trimmed_count == ARRAY_LEN(request->trimmed))
		return value.data;
	return request->trimmed[request->trimmed_count++] = mem_dup(value.data, value.len);
}

const char *http_request_header(struct http_request *request, const char *name)
{
	const char *value = request->server->lib.lookup_connection_value(request->mhd,
	                                                                 MHD_HEADER_KIND, name);
	struct span trimmed = span_trim(span_str(value));

	if (!value || trimmed.data[trimmed.len] == '\0')
		return value ? trimmed.data : NULL;
	return keep_trimmed(request, trimmed);
}

/* ---- pausing ---------------------------------------------------------------- */

void http_request_resume(struct http_request *request)
{
	if (!request->suspended)
		return;
	request->suspended = false;
	request->server->lib.resume_connection(request->mhd);
	http_server_wake(request->server);
}

void http_request_suspend(struct http_request *request)
{
	request->suspended = true;
	request->server->lib.suspend_connection(request->mhd);
	if (request->connection->hung_up)
		http_request_drop(request);
}

void http_request_drop(struct http_request *request)
{
	request->gone = true;
	if (request->suspended)
		http_request_resume(request);
	else if (!request->in_call)
		shutdown(request->connection->fd, SHUT_RDWR); /* it may wait for the client */
}

/* ---- beginning and end ------------------------------------------------------- */

static struct http_request *request_new(struct http_server *server, struct MHD_Connection *mhd,
                                        const char *method)
{
	struct http_request *request = mem_alloc(1, sizeof(*request));

	request->server = server;
	request->mhd = mhd;
	request->method = method;
	request->connection =
		server->lib.get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
			->socket_context;
	request->connection->request = request;
	request->since = server->now;
	request->body.max = server->options.body_max;
	request->out.max = LIMIT_RESULT_BYTES;
	return request;
}

static void release_body(struct http_request *request)
{
	request->server->body_bytes -= request->body.len;
	buf_release(&request->body);
}

static void request_free(struct http_request *request)
{
	if (request->answer)
		request->server->lib.destroy_response(request->answer);
	for (size_t i = 0; i < request->added_count; i++) {
		free(request->added[i].name);
		free(request->added[i].value);
	}
	for (size_t i = 0; i < request->trimmed_count; i++)
		free(request->trimmed[i]);
	release_body(request);
	buf_release(&request->out);
	free(request);
}

void http_on_completed(void *cls, struct MHD_Connection *mhd, void **slot,
                       enum MHD_RequestTerminationCode how)
{
	struct http_request *request = *slot;

	(void)cls;
	(void)mhd;
	if (!request)
		return;
	*slot = NULL;
	request->connection->request = NULL;
	request->connection->since = request->server->now;
	if (request->delivered && request->route->closed)
		request->route->closed(request->server->options.data, request,
		                       how == MHD_REQUEST_TERMINATED_COMPLETED_OK);
	request_free(request);
}

/* ---- the steps --------------------------------------------------------------- */

static enum MHD_Result queue_answer(struct http_request *request)
{
	return request->server->lib.queue_response(request->mhd, request->status, request->answer);
}

/* Or one whose end is not known, or comes when the client pleases. */
static bool announces_long_body(struct http_request *request)
{
	const char *length = http_request_header(request, "Content-Length");

	return http_request_header(request, "Transfer-Encoding") ||
	       (length && strtoull(length, NULL, 10) > DISCARD_MAX);
}

static enum MHD_Result take_head(struct http_request *request, const char *url)
{
	request->in_call = true;
	if (!http_check_head(request, url) && announces_long_body(request))
		return queue_answer(request);
	request->in_call = false;
	return MHD_YES;
}

static bool take_piece(struct http_request *request, struct span piece)
{
	struct http_server *server = request->server;

	if (!request->status &&
	    (piece.len > request->body.max - request->body.len ||
	     piece.len > LIMIT_HTTP_BODIES - server->body_bytes)) {
		/* A body that was not announced: what is there of it is thrown away. */
		release_body(request);
		http_refuse(request, 413, "The body of the request is too long.");
	}
	if (request->status) {
		request->discarded += piece.len;
		return request->discarded <= server->options.body_max;
	}
	if (!buf_span(&request->body, piece))
		return false;
	server->body_bytes += piece.len;
	return true;
}

static void deliver(struct http_request *request)
{
	request->delivered = true;
	request->route->request(request->server->options.data, request, buf_view(&request->body));
	release_body(request);
}

static enum MHD_Result take_end(struct http_request *request)
{
	bool fresh = !request->status && !request->delivered;

	if (request->gone || (fresh && request->server->ended))
		return MHD_NO;
	request->in_call = true;
	if (fresh)
		deliver(request);
	request->in_call = false;
	if (request->status)
		return queue_answer(request);
	http_request_suspend(request);
	return MHD_YES;
}

enum MHD_Result http_on_access(void *cls, struct MHD_Connection *mhd, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **slot)
{
	struct http_request *request = *slot;
	struct span piece = { upload, *upload_size };

	(void)version;
	if (!request) {
		if (((struct http_server *)cls)->ended)
			return MHD_NO;
		*slot = request = request_new(cls, mhd, method);
		return take_head(request, url);
	}
	if (!piece.len)
		return take_end(request);
	*upload_size = 0;
	return take_piece(request, piece) ? MHD_YES : MHD_NO;
}
