/* SPDX-License-Identifier: Apache-2.0 */
/* A request from its head to its end, as libmicrohttpd reports it: its headers and body, the checks
 * before it is delivered, its answer or stream.
 *
 * It calls http_on_access once for the head (again when one that was held goes on), once for each
 * piece of the body, and again until an answer is queued.  An answer that is queued with the head
 * ends the connection, since the rest of the request is unread; so a refusal waits for the end of a
 * body that is short.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/http/server_private.h"
#include "net/http/sse.h"

/* ---- what is asked of a request ---- */

const char *http_request_method(const struct http_request *request)
{
	return request->method;
}

const char *http_request_path(const struct http_request *request)
{
	return request->path;
}

const char *http_request_query(const struct http_request *request, const char *name)
{
	return request->server->lib.lookup_connection_value(request->mhd, MHD_GET_ARGUMENT_KIND,
	                                                    name);
}

bool http_request_is_from(const struct http_request *request, const char *address)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} peer = { .any.sa_family = AF_UNSPEC };
	socklen_t len = sizeof(peer);
	char name[INET6_ADDRSTRLEN] = "";
	struct in6_addr wanted;

	if (getpeername(request->connection->fd, &peer.any, &len) != 0)
		return false;
	if (peer.any.sa_family == AF_INET)
		return inet_ntop(AF_INET, &peer.v4.sin_addr, name, sizeof(name)) &&
		       !strcmp(name, address);
	return peer.any.sa_family == AF_INET6 && inet_pton(AF_INET6, address, &wanted) == 1 &&
	       IN6_ARE_ADDR_EQUAL(&wanted, &peer.v6.sin6_addr);
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

const char *http_request_header(struct http_request *request, const char *name)
{
	const char *value = request->server->lib.lookup_connection_value(request->mhd,
	                                                                 MHD_HEADER_KIND, name);
	struct span trimmed = span_trim(span_str(value));

	if (!value || trimmed.data[trimmed.len] == '\0')
		return value ? trimmed.data : NULL;
	/* A copy of a value without the blanks after it: once for each value. */
	for (size_t i = 0; i < request->trimmed_count; i++)
		if (span_eq(span_str(request->trimmed[i]), trimmed))
			return request->trimmed[i];
	if (request->trimmed_count == ARRAY_LEN(request->trimmed))
		return trimmed.data;
	return request->trimmed[request->trimmed_count++] = mem_dup(trimmed.data, trimmed.len);
}

/* ---- pausing ---- */

void http_server_wake(struct http_server *server)
{
	if (server->again_posted)
		return;
	server->again_posted = true;
	loop_post(server->loop, &server->again);
}

/* Lets libmicrohttpd continue with a request, or leaves it until it can be continued. */
static void http_request_resume(struct http_request *request)
{
	if (!request->suspended)
		return;
	request->suspended = false;
	request->server->lib.resume_connection(request->mhd);
	http_server_wake(request->server);
}

void http_request_continue(struct http_request *request)
{
	http_request_resume(request);
}

void http_request_hold(struct http_request *request)
{
	request->held = true;
}

static void http_request_suspend(struct http_request *request)
{
	request->suspended = true;
	request->server->lib.suspend_connection(request->mhd);
	if (request->connection->hung_up)
		http_request_drop(request);
}

void http_request_drop(struct http_request *request)
{
	request->closing = true;
	http_request_resume(request);
	/* The library may wait for the client, and does not always look at a resumed connection
	 * before its next round. */
	if (!request->in_call)
		shutdown(request->connection->fd, SHUT_RDWR);
}

/* ---- answers, whole or as a stream ---- */

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
	for (const char *const *header = server->options.headers; header && *header; header += 2)
		server->lib.add_response_header(answer, header[0], header[1]);
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

/* ---- streams ---- */

size_t http_stream_waiting(const struct http_request *request)
{
	return request->out.len - request->sent;
}

/* What the library asks for when the client takes more. */
static ssize_t read_stream(void *cls, uint64_t position, char *to, size_t max)
{
	struct http_request *request = cls;
	size_t len;

	(void)position;
	if (!http_stream_waiting(request) && !request->stream_ended && !request->closing &&
	    request->route->drained)
		request->route->drained(request->server->options.data, request);
	len = http_stream_waiting(request) < max ? http_stream_waiting(request) : max;
	if (request->closing)
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
	size_t rest = http_stream_waiting(request);

	if (request->sent < rest)
		return;
	if (rest)
		memmove(request->out.data, request->out.data + request->sent, rest);
	request->out.len = rest;
	request->sent = 0;
}

void http_stream_write(struct http_request *request, struct span events)
{
	if (!request->streaming || request->stream_ended || request->closing)
		return;
	shift(request);
	if (http_stream_waiting(request) > LIMIT_STREAM_BACKLOG ||
	    !buf_span(&request->out, events)) {
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

/* ---- headers ---- */

/* Those that decide who is asking, where a body ends, how it is read: twice is once too often. */
static const char *const singles[] = {
	"Host", "Origin", "Authorization", "X-API-Key", "Content-Length", "Content-Type",
	"A2A-Version", "MCP-Protocol-Version", "Mcp-Session-Id", "Last-Event-ID",
};

struct head {
	unsigned counts[ARRAY_LEN(singles)];
	bool chunked;
};

static enum MHD_Result see_header(void *cls, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
	struct head *head = cls;

	(void)kind;
	(void)value;
	for (size_t i = 0; i < ARRAY_LEN(singles); i++)
		head->counts[i] += strcasecmp(name, singles[i]) == 0;
	if (strcasecmp(name, "Transfer-Encoding") == 0)
		head->chunked = true;
	return MHD_YES;
}

static bool headers_are_sound(struct http_request *request)
{
	struct head head = { 0 };

	request->server->lib.get_connection_values(request->mhd, MHD_HEADER_KIND, see_header,
	                                           &head);
	for (size_t i = 0; i < ARRAY_LEN(singles); i++)
		if (head.counts[i] > 1)
			return false;
	return !head.chunked || !http_request_header(request, "Content-Length");
}

/* Parameters of a query that a request may have, and those that it has. */
enum { PARAMETERS_MAX = 64 };
struct parameters {
	const char *names[PARAMETERS_MAX];
	size_t count;
	bool repeated;
};

static enum MHD_Result see_parameter(void *cls, enum MHD_ValueKind kind, const char *name,
                                     const char *value)
{
	struct parameters *seen = cls;

	(void)kind;
	(void)value;
	if (seen->count == PARAMETERS_MAX)
		return MHD_NO;
	for (size_t i = 0; i < seen->count; i++)
		seen->repeated |= strcmp(seen->names[i], name) == 0;
	seen->names[seen->count++] = name;
	return MHD_YES;
}

/* Of two parameters of one name each reader would take another. */
static bool query_is_sound(struct http_request *request)
{
	struct parameters seen = { .count = 0 };

	request->server->lib.get_connection_values(request->mhd, MHD_GET_ARGUMENT_KIND,
	                                           see_parameter, &seen);
	return !seen.repeated && seen.count < PARAMETERS_MAX;
}

/* ---- OPTIONS ---- */

/* Names of headers, to be sent back: words and commas. */
static bool is_header_list(const char *text)
{
	static const char others[] = "-_, ";
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (!ascii_is_alnum(text[i]) && !strchr(others, text[i]))
			return false;
	return len > 0 && len < 1024;
}

/* Also a CORS preflight (https://fetch.spec.whatwg.org/): a browser asks without credentials. */
static void answer_options(struct http_request *request)
{
	const char *wanted = http_request_header(request, "Access-Control-Request-Headers");
	const char *method = http_request_header(request, "Access-Control-Request-Method");

	if (request->listed_origin && method) {
		http_add_header(request, "Access-Control-Allow-Methods", request->route->methods);
		if (wanted && is_header_list(wanted))
			http_add_header(request, "Access-Control-Allow-Headers", wanted);
		http_add_header(request, "Access-Control-Max-Age", "600");
	} else {
		http_add_header(request, "Allow", request->route->methods);
	}
	http_answer(request, 204, NULL, NULL);
}

/* ---- the checks, each of which may answer ---- */

static void check_sender(struct http_request *request, const char *url)
{
	const struct http_guard *guard = &request->server->guard;
	const char *origin = http_request_header(request, "Origin");

	(void)url;
	if (!headers_are_sound(request))
		http_refuse(request, 400, "The headers of the request contradict each other.");
	else if (!query_is_sound(request))
		http_refuse(request, 400, "The query names a parameter twice, or too many.");
	else if (!http_guard_host(guard, http_request_header(request, "Host")))
		http_refuse(request, 403, "The Host of the request is not one of this server.");
	else if (origin && !http_guard_origin(guard, origin))
		http_refuse(request, 403, "The Origin of the request is not allowed.");
	else if (origin && http_guard_origin_is_listed(guard, origin))
		request->listed_origin = origin;
}

/* A path that ends with an asterisk stands for all that begin like it. */
static bool route_is(const struct http_route *route, const char *url)
{
	size_t len = strlen(route->path);

	return route->path[len - 1] == '*' ? strncmp(route->path, url, len - 1) == 0 :
	                                     strcmp(route->path, url) == 0;
}

static void check_path(struct http_request *request, const char *url)
{
	const struct http_options *options = &request->server->options;

	for (size_t i = 0; i < options->route_count && !request->route; i++)
		if (route_is(&options->routes[i], url))
			request->route = &options->routes[i];
	if (!request->route)
		http_refuse(request, 404, "There is nothing at this path.");
	else if (strcmp(request->method, "OPTIONS") == 0)
		answer_options(request);
}

/* Whether `word` is in a list like "GET, POST". */
static bool list_has(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		size_t here = strcspn(list, ", ");

		if (here == len && memcmp(list, word, len) == 0)
			return true;
		list += here;
		list += strspn(list, ", ");
	}
	return false;
}

static void check_method(struct http_request *request, const char *url)
{
	(void)url;
	if (list_has(request->route->methods, request->method))
		return;
	http_add_header(request, "Allow", request->route->methods);
	http_refuse(request, 405, "This path does not have that method.");
}

void http_request_know(struct http_request *request)
{
	struct http_connection *connection = request->connection;

	if (connection->known)
		return;
	connection->known = true;
	connection->server->strangers -= !connection->shut;
}

static void check_token(struct http_request *request, const char *url)
{
	const char *authorization = http_request_header(request, "Authorization");

	(void)url;
	if (http_guard_token(&request->server->guard, authorization)) {
		if (!request->server->options.knows_later)
			http_request_know(request);
		return;
	}
	http_add_header(request, "WWW-Authenticate",
	                authorization ? "Bearer error=\"invalid_token\"" : "Bearer");
	http_refuse(request, 401, authorization ? "The bearer token is not the right one." :
	                                          "This server asks for a bearer token.");
}

static void check_length(struct http_request *request, const char *url)
{
	const char *length = http_request_header(request, "Content-Length");
	/* libmicrohttpd has checked that it is a number that fits. */
	unsigned long long bytes = length ? strtoull(length, NULL, 10) : 0;

	(void)url;
	if (bytes > request->server->options.body_max)
		http_refuse(request, 413, "The body of the request is too long.");
	else if (bytes > LIMIT_HTTP_BODIES - request->server->body_bytes)
		http_refuse(request, 503, "Too many bodies are arriving; try again.");
}

static void ask_route(struct http_request *request, const char *url)
{
	(void)url;
	if (request->route->head)
		request->route->head(request->server->options.data, request);
}

/* The checks before a body is read; what one answers goes no further. */
static void http_check_head(struct http_request *request, const char *url)
{
	static void (*const checks[])(struct http_request *request, const char *url) = {
		check_sender, check_path, check_method, check_token, check_length, ask_route,
	};

	for (size_t i = 0; i < ARRAY_LEN(checks) && !request->status; i++)
		checks[i](request, url);
}

/* ---- beginning and end ---- */

static struct http_request *request_new(struct http_server *server, struct MHD_Connection *mhd,
                                        const char *url, const char *method)
{
	struct http_request *request = mem_alloc(1, sizeof(*request));

	request->server = server;
	request->mhd = mhd;
	request->method = method;
	request->path = mem_strdup(url);
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
	free(request->path);
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
	if ((request->delivered || request->data) && request->route->closed)
		request->route->closed(request->server->options.data, request,
		                       how == MHD_REQUEST_TERMINATED_COMPLETED_OK);
	request_free(request);
}

/* ---- the steps ---- */

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

/* The head was judged; or it is held, and this is called again when the request is resumed. */
static enum MHD_Result http_take_head(struct http_request *request)
{
	const bool held = request->held && !request->status;

	if (request->closing)
		return MHD_NO;
	if (request->status && announces_long_body(request))
		return queue_answer(request);
	if (held)
		http_request_suspend(request);
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

static enum MHD_Result take_end(struct http_request *request)
{
	bool fresh = !request->status && !request->delivered;

	if (request->closing || (fresh && request->server->ended))
		return MHD_NO;
	request->in_call = true;
	if (fresh) {
		request->delivered = true;
		request->route->request(request->server->options.data, request,
		                        buf_view(&request->body));
		release_body(request);
	}
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
		*slot = request = request_new(cls, mhd, url, method);
		request->in_call = true;
		http_check_head(request, url);
		request->in_call = false;
		return http_take_head(request);
	}
	if (request->held) {
		request->held = false;
		return http_take_head(request);
	}
	if (!piece.len)
		return take_end(request);
	*upload_size = 0;
	return take_piece(request, piece) ? MHD_YES : MHD_NO;
}
