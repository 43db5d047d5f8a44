/* SPDX-License-Identifier: Apache-2.0 */
#include "http/client_direct.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "http/answer_reader.h"
#include "http/client_private.h"

enum { READ_BYTES = 64 << 10 };

/* A request under way. */
struct exchange {
	struct direct *direct;
	const struct http_request *request;
	struct answer_reader reader;
	struct buf head;          /* of the request */
	struct sockaddr_storage address;
	socklen_t address_len;
	char host[256];           /* for sentences */
	const char *target;       /* path and query */
	uint64_t begun_ms, active_ms;
	bool kept;                /* the connection is one that was used before */
};

/* ---- what can be done here -------------------------------------------------------------------- */

static bool read_address(const char *host, uint16_t port, struct exchange *ret)
{
	struct sockaddr_in *four = (void *)&ret->address;
	struct sockaddr_in6 *six = (void *)&ret->address;
	size_t len = strlen(host);
	char inner[INET6_ADDRSTRLEN];

	memset(&ret->address, 0, sizeof(ret->address));
	if (strcasecmp(host, "localhost") == 0)
		host = "127.0.0.1";
	if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		ret->address_len = sizeof(*four);
		return true;
	}
	if (host[0] != '[' || len < 4 || len - 2 >= sizeof(inner))
		return false;
	memcpy(inner, host + 1, len - 2);
	inner[len - 2] = '\0';
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	ret->address_len = sizeof(*six);
	return inet_pton(AF_INET6, inner, &six->sin6_addr) == 1;
}

/* "http://HOST[:PORT][/...]" with nothing unusual in it; what is unusual is libcurl's. */
static bool read_url(const char *url, struct exchange *ret)
{
	const char *host = url && strncmp(url, "http://", 7) == 0 ? url + 7 : NULL;
	size_t len = host ? strcspn(host, "/?#") : 0;
	size_t name = host && host[0] == '[' ? strcspn(host, "]") + 1 : host ? strcspn(host, ":/?#") : 0;
	unsigned long port = 80;
	char *end;

	if (!len || name > len || name >= sizeof(ret->host) || len > 270 || host[len] == '?')
		return false;
	memcpy(ret->host, host, name);
	ret->host[name] = '\0';
	if (name < len) {
		if (host[name] != ':' || host[name + 1] < '0' || host[name + 1] > '9')
			return false;
		port = strtoul(host + name + 1, &end, 10);
		if (end != host + len || port == 0 || port > 65535)
			return false;
	}
	ret->target = host[len] ? host + len : "/";
	for (const char *c = ret->target; *c; c++)
		if (*c <= ' ' || *c > '~' || *c == '#')
			return false;
	return read_address(ret->host, (uint16_t)port, ret);
}

static bool plain_headers(const char *const *headers)
{
	for (; headers && *headers; headers++) {
		const char *colon = strchr(*headers, ':');

		if (!colon || colon == *headers || !colon[1] || strpbrk(*headers, "\r\n") ||
		    strncasecmp(*headers, "content-length:", 15) == 0 ||
		    strncasecmp(*headers, "transfer-encoding:", 18) == 0)
			return false;
	}
	return true;
}

bool direct_possible(const struct http_request *request)
{
	struct exchange exchange;
	struct url_parts parts = { .scheme = (char *)"http", .host = exchange.host };
	const char *method = request->method;

	if (request->max_redirects || request->public_only ||
	    (request->proxy && request->proxy[0]) ||
	    (method && strcmp(method, "GET") != 0 && strcmp(method, "POST") != 0))
		return false;
	if (!read_url(request->url, &exchange) || !plain_headers(request->headers))
		return false;
	return request->proxy || !proxy_of_environment(&parts);
}

/* ---- waiting ---------------------------------------------------------------------------------- */

static bool failed(const struct exchange *exchange, int sys_errno, struct err *err)
{
	return err_set(err, ERR_NETWORK_ERROR, "The connection to %s failed: %s.", exchange->host,
	               strerror(sys_errno));
}

/* How long to wait at most; 0: a time is up, and *err says which. */
static int time_left(const struct exchange *exchange, struct err *err)
{
	const struct http_request *request = exchange->request;
	uint64_t idle = request->idle_ms ? request->idle_ms : HTTP_IDLE_MS;
	uint64_t now = monotonic_ms(), left;

	if (now - exchange->active_ms >= idle) {
		err_set(err, ERR_NETWORK_ERROR, "%s sent nothing for %g seconds.", exchange->host,
		        (double)idle / 1000);
		return 0;
	}
	left = exchange->active_ms + idle - now;
	if (request->total_ms && now - exchange->begun_ms >= request->total_ms) {
		err_set(err, ERR_NETWORK_ERROR, "%s did not finish its answer in %g seconds.",
		        exchange->host, request->total_ms / 1000.0);
		return 0;
	}
	if (request->total_ms && exchange->begun_ms + request->total_ms - now < left)
		left = exchange->begun_ms + request->total_ms - now;
	return (int)(left < 60000 ? left : 60000);
}

/* Until the descriptor is ready for one of `events`, or the request is cancelled. */
static bool wait_for(const struct exchange *exchange, short events, struct err *err)
{
	const struct cancel *cancel = exchange->request->cancel;
	struct pollfd fds[] = {
		{ .fd = exchange->direct->fd, .events = events },
		{ .fd = cancel_fd(cancel), .events = POLLIN },
	};

	for (;;) {
		int left = time_left(exchange, err), ready;

		if (!left)
			return false;
		ready = poll(fds, 2, left);
		if (cancelled(cancel))
			return err_set(err, ERR_CANCELLED, "The request was cancelled.");
		if (ready < 0 && errno != EINTR)
			return failed(exchange, errno, err);
		if (ready > 0 && fds[0].revents)
			return true;
	}
}

/* ---- connection ------------------------------------------------------------------------------- */

void direct_close(struct direct *direct)
{
	if (direct->fd >= 0)
		close(direct->fd);
	direct->fd = -1;
	direct->authority[0] = '\0';
}

/* Nothing has come on the kept connection since the last answer: neither its end nor noise. */
static bool still_good(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) == 0;
}

static bool cannot_connect(const struct exchange *exchange, int sys_errno, struct err *err)
{
	/* The port is at the same place for both families. */
	const struct sockaddr_in *address = (const void *)&exchange->address;

	return err_set(err, ERR_NETWORK_ERROR, "Cannot connect to %s, port %u: %s.", exchange->host,
	               ntohs(address->sin_port), strerror(sys_errno));
}

static bool finish_connect(struct exchange *exchange, struct err *err)
{
	unsigned limit = exchange->request->connect_ms;
	struct http_request patient = *exchange->request;
	struct exchange connecting = *exchange;
	socklen_t len = sizeof(int);
	int failure = 0;

	patient.idle_ms = limit ? limit : HTTP_CONNECT_MS;
	connecting.request = &patient;
	if (!wait_for(&connecting, POLLOUT, err)) {
		if (err->code != ERR_CANCELLED)
			err_set(err, ERR_NETWORK_ERROR, "Cannot connect to %s: it does not answer.",
			        exchange->host);
		return false;
	}
	getsockopt(exchange->direct->fd, SOL_SOCKET, SO_ERROR, &failure, &len);
	return !failure || cannot_connect(exchange, failure, err);
}

static bool connect_to(struct exchange *exchange, const char *authority, struct err *err)
{
	struct direct *direct = exchange->direct;
	const int on = 1;

	exchange->kept = direct->fd >= 0 && strcmp(direct->authority, authority) == 0 &&
	                 still_good(direct->fd);
	if (exchange->kept)
		return true;
	direct_close(direct);
	direct->fd = socket(exchange->address.ss_family,
	                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (direct->fd < 0)
		return failed(exchange, errno, err);
	setsockopt(direct->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(direct->fd, (struct sockaddr *)&exchange->address, exchange->address_len) < 0 &&
	    errno != EINPROGRESS && errno != EINTR)
		return cannot_connect(exchange, errno, err);
	if (!finish_connect(exchange, err))
		return false;
	snprintf(direct->authority, sizeof(direct->authority), "%s", authority);
	return true;
}

/* ---- one exchange ----------------------------------------------------------------------------- */

static void put_head(struct exchange *exchange, const char *authority)
{
	const struct http_request *request = exchange->request;
	const char *method = request->method ? request->method : request->body.len ? "POST" : "GET";
	const char *const *header = request->headers;
	bool host = false;

	buf_printf(&exchange->head, "%s %s HTTP/1.1\r\n", method, exchange->target);
	for (; header && *header; header++) {
		host |= strncasecmp(*header, "host:", 5) == 0;
		buf_printf(&exchange->head, "%s\r\n", *header);
	}
	if (!host)
		buf_printf(&exchange->head, "Host: %s\r\n", authority);
	if (request->body.len || strcmp(method, "POST") == 0)
		buf_printf(&exchange->head, "Content-Length: %zu\r\n", request->body.len);
	buf_str(&exchange->head, "\r\n");
}

static bool send_all(struct exchange *exchange, struct err *err)
{
	struct span head = buf_view(&exchange->head), body = exchange->request->body;

	while (head.len || body.len) {
		struct iovec parts[] = { { (void *)head.data, head.len },
		                         { (void *)body.data, body.len } };
		struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
		ssize_t sent = sendmsg(exchange->direct->fd, &message, MSG_NOSIGNAL);
		size_t of_head;

		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return failed(exchange, errno, err);
		if (sent < 0) {
			if (!wait_for(exchange, POLLOUT, err))
				return false;
			continue;
		}
		exchange->active_ms = monotonic_ms();
		if (exchange->direct->stage == HTTP_NOT_SENT)
			exchange->direct->stage = HTTP_SENT;
		of_head = (size_t)sent < head.len ? (size_t)sent : head.len;
		head = span_skip(head, of_head);
		body = span_skip(body, (size_t)sent - of_head);
	}
	return true;
}

static bool receive_all(struct exchange *exchange, struct err *err)
{
	struct answer_reader *reader = &exchange->reader;
	_cleanup_free_ char *bytes = mem_alloc(1, READ_BYTES);

	while (reader->state != ANSWER_DONE) {
		ssize_t len = recv(exchange->direct->fd, bytes, READ_BYTES, 0);

		if (len < 0 && errno != EAGAIN && errno != EINTR)
			return failed(exchange, errno, err);
		if (len == 0)
			return answer_reader_end(reader, err);
		if (len < 0) {
			if (!wait_for(exchange, POLLIN, err))
				return false;
			continue;
		}
		exchange->active_ms = monotonic_ms();
		if (cancelled(exchange->request->cancel))
			return err_set(err, ERR_CANCELLED, "The request was cancelled.");
		if (!answer_reader_feed(reader, span_of(bytes, (size_t)len), err))
			return false;
		if (reader->headed)
			exchange->direct->stage = HTTP_ANSWERING;
	}
	return true;
}

static bool exchange_once(struct exchange *exchange, const char *authority, struct err *err)
{
	bool ok = connect_to(exchange, authority, err) && send_all(exchange, err) &&
	          receive_all(exchange, err);

	if (exchange->reader.headed)
		exchange->direct->stage = HTTP_ANSWERING;
	if (!ok || !exchange->reader.keeps)
		direct_close(exchange->direct);
	return ok;
}

bool direct_send(struct direct *direct, const struct http_request *request,
                 const struct http_events *events, void *data, struct err *err)
{
	struct exchange exchange = {
		.direct = direct,
		.request = request,
		.head = BUF_INIT(LIMIT_HTTP_HEAD_BYTES),
		.begun_ms = monotonic_ms(),
	};
	size_t max = request->max_bytes ? request->max_bytes : (size_t)HTTP_MAX_BYTES;
	char authority[sizeof(direct->authority)];
	struct err first = ERR_INIT;
	bool ok;

	read_url(request->url, &exchange);
	snprintf(authority, sizeof(authority), "%.*s", (int)strcspn(request->url + 7, "/"),
	         request->url + 7);
	exchange.active_ms = exchange.begun_ms;
	direct->stage = HTTP_NOT_SENT;
	put_head(&exchange, authority);
	answer_reader_init(&exchange.reader, events, data, max);
	ok = exchange_once(&exchange, authority, &first);
	/* A kept connection that the server has just given up: nobody has seen the request. */
	if (!ok && exchange.kept && first.code == ERR_NETWORK_ERROR && !exchange.reader.begun &&
	    !exchange.reader.line.len && time_left(&exchange, &first)) {
		direct->stage = HTTP_NOT_SENT;
		ok = exchange_once(&exchange, authority, &first);
	}
	if (!ok)
		*err = first;
	answer_reader_release(&exchange.reader);
	buf_release(&exchange.head);
	return ok;
}
