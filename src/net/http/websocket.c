/* SPDX-License-Identifier: Apache-2.0 */
/* One thread does all that touches the connection: libcurl connects and moves bytes, libwslay cuts
 * them into frames.  Other threads put messages into a queue and wake it. */
#include "net/http/client.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <wslay/wslay.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/random.h"
#include "net/http/client_private.h"

enum {
	CLOSE_MS = 2000,          /* for the other side to close */
	ROUND_BYTES = 256 << 10,  /* read before something is sent again */
	OUT_BYTES = 16 << 10,
	QUEUED_MAX = 64,          /* frames that wait to be sent, before more is read */
	FRAGMENTS_MAX = 65536,    /* of one message */
	REASON_SHOWN = 125,
};

/* ---- the library ---- */

struct wslay_library {
	__typeof__(wslay_event_context_client_init) *client_init;
	__typeof__(wslay_event_context_free) *context_free;
	__typeof__(wslay_event_config_set_no_buffering) *set_no_buffering;
	__typeof__(wslay_event_config_set_max_recv_msg_length) *set_max_length;
	__typeof__(wslay_event_recv) *recv;
	__typeof__(wslay_event_send) *send;
	__typeof__(wslay_event_queue_msg) *queue_msg;
	__typeof__(wslay_event_queue_close) *queue_close;
	__typeof__(wslay_event_set_error) *set_error;
	__typeof__(wslay_event_want_read) *want_read;
	__typeof__(wslay_event_want_write) *want_write;
	__typeof__(wslay_event_shutdown_read) *shutdown_read;
	__typeof__(wslay_event_get_close_received) *close_received;
	__typeof__(wslay_event_get_status_code_sent) *status_sent;
	__typeof__(wslay_event_get_queued_msg_count) *queued_count;
};

#define ROW(member, name) { "wslay_event_" name, offsetof(struct wslay_library, member) }

static const struct library_symbol frame_symbols[] = {
	ROW(client_init, "context_client_init"),
	ROW(context_free, "context_free"),
	ROW(set_no_buffering, "config_set_no_buffering"),
	ROW(set_max_length, "config_set_max_recv_msg_length"),
	ROW(recv, "recv"),
	ROW(send, "send"),
	ROW(queue_msg, "queue_msg"),
	ROW(queue_close, "queue_close"),
	ROW(set_error, "set_error"),
	ROW(want_read, "want_read"),
	ROW(want_write, "want_write"),
	ROW(shutdown_read, "shutdown_read"),
	ROW(close_received, "get_close_received"),
	ROW(status_sent, "get_status_code_sent"),
	ROW(queued_count, "get_queued_msg_count"),
};

static const struct library frame_row = { { "libwslay.so.1" }, "A WebSocket needs", "libwslay1",
	                                  frame_symbols, ARRAY_LEN(frame_symbols) };

static pthread_once_t frames_once = PTHREAD_ONCE_INIT;
static struct wslay_library wslay;
static struct err frames_error;

static void load_frames(void)
{
	library_load(&frame_row, &wslay, &frames_error);
}

/* ---- what other threads touch ---- */

struct websocket_waiting {
	struct websocket_waiting *next;
	size_t len;
	char text[];
};

struct websocket {
	int wake;              /* an eventfd; the running thread waits for it */
	size_t waiting_max;
	pthread_mutex_t lock;  /* of what follows */
	struct websocket_waiting *first, **last;
	size_t waiting_bytes;
	bool closing, over;
};

struct websocket *websocket_new(size_t waiting_bytes, struct err *err)
{
	const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct websocket *socket;

	if (wake < 0) {
		err_set(err, ERR_IO_ERROR, "No descriptor is left for a WebSocket.");
		return NULL;
	}
	socket = mem_alloc(1, sizeof(*socket));
	socket->wake = wake;
	socket->waiting_max = waiting_bytes;
	socket->last = &socket->first;
	pthread_mutex_init(&socket->lock, NULL);
	return socket;
}

static struct websocket_waiting *take_waiting(struct websocket *socket)
{
	struct websocket_waiting *one;

	pthread_mutex_lock(&socket->lock);
	one = socket->first;
	if (one) {
		socket->first = one->next;
		socket->waiting_bytes -= one->len;
		if (!socket->first)
			socket->last = &socket->first;
	}
	pthread_mutex_unlock(&socket->lock);
	return one;
}

void websocket_free(struct websocket *socket)
{
	struct websocket_waiting *one;

	if (!socket)
		return;
	while ((one = take_waiting(socket)))
		free(one);
	close(socket->wake);
	pthread_mutex_destroy(&socket->lock);
	free(socket);
}

static void wake_socket(const struct websocket *socket)
{
	fd_ring(socket->wake);
}

bool websocket_send(struct websocket *socket, struct span text)
{
	struct websocket_waiting *one = mem_alloc(1, sizeof(*one) + text.len + 1);
	bool over, fits;

	memcpy(one->text, text.data, text.len);
	one->len = text.len;
	pthread_mutex_lock(&socket->lock);
	over = socket->over;
	fits = text.len <= socket->waiting_max - socket->waiting_bytes;
	if (!over && fits) {
		*socket->last = one;
		socket->last = &one->next;
		socket->waiting_bytes += text.len;
		one = NULL;
	}
	pthread_mutex_unlock(&socket->lock);
	free(one);
	wake_socket(socket);
	return over || fits;
}

void websocket_close(struct websocket *socket)
{
	pthread_mutex_lock(&socket->lock);
	socket->closing = true;
	pthread_mutex_unlock(&socket->lock);
	wake_socket(socket);
}

static bool is_closing(struct websocket *socket)
{
	bool closing;

	pthread_mutex_lock(&socket->lock);
	closing = socket->closing;
	pthread_mutex_unlock(&socket->lock);
	return closing;
}

static void drain_wake(const struct websocket *socket)
{
	uint64_t count;

	while (read(socket->wake, &count, sizeof(count)) > 0)
		;
}

/* ---- the connection ---- */

struct connection {
	struct websocket *socket;
	const struct websocket_request *request;
	const struct websocket_events *events;
	void *data;
	const struct http_curl_library *curl;
	CURL *easy;
	CURLM *multi;
	curl_socket_t fd;
	char detail[CURL_ERROR_SIZE];
	struct url_parts url;
	uint64_t open_by_ms, close_by_ms; /* the latter 0: it does not close */
	wslay_event_context_ptr frames;
	struct buf head;         /* of the answer, and what came behind it */
	size_t head_read;        /* of that */
	struct buf message;
	size_t fragments;
	bool in_control;         /* the frame that is being read is none of a message's */
	size_t round;            /* bytes that may yet be read in this round */
	bool more;               /* the last round ended before there was nothing to read */
	bool broke;              /* no bytes come or go any more */
	char out[OUT_BYTES];     /* what frames were made of and libcurl did not take yet */
	size_t out_len, out_sent;
	bool out_busy;           /* it was offered, and must be offered again unchanged */
	struct err why;          /* the first reason for which this side ends it */
};

static void connection_refuse(struct connection *connection, enum err_code code, const char *what)
{
	if (connection->why.code == ERR_NONE)
		err_set(&connection->why, code, "%s: %s.", connection->url.host, what);
}

/* libcurl's, with TLS. Reads what it can without waiting; 0: none now. False: it broke. */
static bool bytes_read(struct connection *connection, void *data, size_t size, size_t *ret)
{
	const CURLcode code = connection->curl->easy_recv(connection->easy, data, size, ret);

	if (code == CURLE_AGAIN)
		*ret = 0;
	else if (code != CURLE_OK || !*ret)
		connection->broke = true;
	return !connection->broke;
}

static void flush_out(struct connection *connection)
{
	while (!connection->broke && connection->out_sent < connection->out_len) {
		size_t sent = 0;
		const CURLcode code = connection->curl->easy_send(
			connection->easy, connection->out + connection->out_sent,
			connection->out_len - connection->out_sent, &sent);

		connection->out_busy = true;
		if (code == CURLE_AGAIN)
			return;
		connection->broke = code != CURLE_OK;
		connection->out_sent += sent;
	}
	connection->out_len = connection->out_sent = 0;
	connection->out_busy = false;
}

/* Until there is something to do, at most so long; -1: for ever. */
static void connection_wait(const struct connection *connection, bool reads, bool writes,
                            int timeout_ms)
{
	struct pollfd fds[] = {
		{ .fd = connection->fd,
		  .events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)) },
		{ .fd = connection->socket->wake, .events = POLLIN },
	};

	fd_wait(fds, ARRAY_LEN(fds), timeout_ms);
	drain_wake(connection->socket);
}

/* ---- opening ---- */

/* False with *err: it is closed, or too late. */
static bool may_wait_open(const struct connection *connection, int *ret_ms, struct err *err)
{
	const uint64_t now = clock_monotonic_ms();

	if (is_closing(connection->socket))
		return err_set(err, ERR_CANCELLED, "The connection was cancelled.");
	if (now >= connection->open_by_ms)
		return err_set(err, ERR_NETWORK_ERROR, "%s did not open a WebSocket in time.",
		               connection->url.host);
	*ret_ms = (int)(connection->open_by_ms - now);
	return true;
}

static curl_socket_t on_open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	(void)data;
	(void)purpose;
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_connect_options(struct connection *connection, const char *url)
{
	__typeof__(curl_easy_setopt) *set = connection->curl->easy_setopt;
	CURL *easy = connection->easy;
	const char *proxy = http_proxy_of_environment(&connection->url);

	set(easy, CURLOPT_URL, url);
	set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	set(easy, CURLOPT_CONNECT_ONLY, 1L);
	set(easy, CURLOPT_NOSIGNAL, 1L);
	set(easy, CURLOPT_QUICK_EXIT, 1L);
	set(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	set(easy, CURLOPT_PROXY, proxy && !connection->request->direct ? proxy : "");
	set(easy, CURLOPT_NOPROXY, "");
	set(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
	set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	set(easy, CURLOPT_SOCKS5_AUTH, (long)CURLAUTH_BASIC);
	set(easy, CURLOPT_TCP_KEEPALIVE, 1L); /* nothing else detects a dead peer */
	set(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)HTTP_CONNECT_MS);
	set(easy, CURLOPT_ERRORBUFFER, connection->detail);
	set(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
	if (strcasecmp(connection->url.scheme, "https") == 0)
		http_set_authorities(connection->curl, easy);
}

static bool connect_explain(const struct connection *connection, CURLcode code, struct err *err)
{
	const char *host = connection->url.host;

	if (code == CURLE_COULDNT_RESOLVE_HOST)
		return err_set(err, ERR_NETWORK_ERROR, "The name %s cannot be resolved.", host);
	if (code == CURLE_COULDNT_CONNECT)
		return err_set(err, ERR_NETWORK_ERROR, "Cannot connect to %s, port %s.", host,
		               connection->url.port);
	return err_set(err, ERR_NETWORK_ERROR, "The connection to %s failed: %s.", host,
	               code == CURLE_PEER_FAILED_VERIFICATION && connection->detail[0] ?
	                       connection->detail : connection->curl->easy_strerror(code));
}

static bool connection_connected(struct connection *connection, struct err *err)
{
	const struct http_curl_library *curl = connection->curl;
	CURLcode code = CURLE_OK;
	CURLMsg *message;
	int left;

	while ((message = curl->multi_info_read(connection->multi, &left)))
		if (message->msg == CURLMSG_DONE)
			code = message->data.result;
	if (code == CURLE_OK)
		code = curl->easy_getinfo(connection->easy, CURLINFO_ACTIVESOCKET, &connection->fd);
	return code == CURLE_OK || connect_explain(connection, code, err);
}

static bool connection_connect(struct connection *connection, const char *url, struct err *err)
{
	const struct http_curl_library *curl = connection->curl;
	struct curl_waitfd extra = { .fd = connection->socket->wake, .events = CURL_WAIT_POLLIN };
	int running = 1, wait;

	connection->easy = curl->easy_init();
	connection->multi = curl->multi_init();
	if (!connection->easy || !connection->multi)
		return err_set(err, ERR_INTERNAL, "libcurl could not be opened.");
	set_connect_options(connection, url);
	/* It stays there: what is taken out of it loses its connection. */
	if (curl->multi_add_handle(connection->multi, connection->easy) != CURLM_OK)
		return err_set(err, ERR_INTERNAL, "libcurl takes no connection.");
	for (;;) {
		if (curl->multi_perform(connection->multi, &running) != CURLM_OK)
			return err_set(err, ERR_INTERNAL, "libcurl failed.");
		if (!running)
			return connection_connected(connection, err);
		if (!may_wait_open(connection, &wait, err))
			return false;
		curl->multi_poll(connection->multi, &extra, 1, wait, NULL);
		drain_wake(connection->socket);
	}
}

/* The whole request goes out, whatever its size. */
static bool send_request(struct connection *connection, struct span request, struct err *err)
{
	int wait;

	while (request.len || connection->out_len) {
		if (!connection->out_len) {
			const size_t len = request.len < OUT_BYTES ? request.len : OUT_BYTES;

			memcpy(connection->out, request.data, len);
			connection->out_len = len;
			request = span_skip(request, len);
		}
		flush_out(connection);
		if (connection->broke)
			return err_set(err, ERR_NETWORK_ERROR, "The connection to %s broke off.",
			               connection->url.host);
		if (!connection->out_len)
			continue;
		if (!may_wait_open(connection, &wait, err))
			return false;
		connection_wait(connection, false, true, wait);
	}
	return true;
}

/* The head of the answer, up to and with its empty line. */
static bool read_answer_head(struct connection *connection, struct err *err)
{
	struct buf *head = &connection->head;
	int wait;

	for (;;) {
		char bytes[4096];
		size_t len = 0;
		const char *end;

		if (!bytes_read(connection, bytes, sizeof(bytes), &len))
			return err_set(err, ERR_NETWORK_ERROR,
			               "%s ended the connection instead of opening a WebSocket.",
			               connection->url.host);
		if (!buf_append(head, bytes, len))
			return err_set(err, ERR_TOO_LARGE, "The answer of %s is too large.",
			               connection->url.host);
		end = head->len ? memmem(head->data, head->len, "\r\n\r\n", 4) : NULL;
		if (end) {
			connection->head_read = (size_t)(end - head->data) + 4;
			return true;
		}
		if (!may_wait_open(connection, &wait, err))
			return false;
		if (!len)
			connection_wait(connection, true, false, wait);
	}
}

static void report_refused(struct connection *connection, int status, struct span head)
{
	_cleanup_buf_ struct buf fields = BUF_INIT(LIMIT_HTTP_HEAD_BYTES);

	if (connection->events->refused && upgrade_fields(head, &fields))
		connection->events->refused(connection->data, status, buf_view(&fields));
}

static bool shake_hands(struct connection *connection, const char *url, int *ret_status,
                        struct err *err)
{
	_cleanup_buf_ struct buf request = BUF_INIT(LIMIT_HTTP_HEAD_BYTES);
	struct upgrade_key key;
	struct err why = ERR_INIT;
	struct span head;

	if (!upgrade_key_new(&key, err) ||
	    !upgrade_request(connection->curl, url, connection->request->headers,
	                     connection->request->protocol, &key, &request, err) ||
	    !send_request(connection, buf_view(&request), err) ||
	    !read_answer_head(connection, err))
		return false;
	head = span_head(buf_view(&connection->head), connection->head_read);
	if (upgrade_accepted(head, &key, connection->request->protocol, ret_status, &why))
		return true;
	if (*ret_status && *ret_status != 101)
		report_refused(connection, *ret_status, head);
	return err_set(err, why.code, "%s opens no WebSocket: %s.", connection->url.host,
	               why.message);
}

/* "ws:" is "http:" for libcurl of Debian 12; so is "wss:" "https:". The caller frees; NULL: it is
 * neither. */
static char *plain_url(const char *url)
{
	if (!strncasecmp(url, "ws://", 5))
		return mem_printf("http://%s", url + 5);
	return strncasecmp(url, "wss://", 6) ? NULL : mem_printf("https://%s", url + 6);
}

static bool websocket_open(struct connection *connection, int *ret_status, struct err *err)
{
	_cleanup_free_ char *url = plain_url(connection->request->url);

	if (!url)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The URL is not an absolute ws or wss URL.");
	pthread_once(&frames_once, load_frames);
	if (frames_error.code != ERR_NONE) {
		*err = frames_error;
		return false;
	}
	connection->curl = http_curl_library(err);
	return connection->curl && http_url_parse(connection->curl, url, &connection->url, err) &&
	       connection_connect(connection, url, err) &&
	       shake_hands(connection, url, ret_status, err);
}

/* ---- frames ---- */

/* The server broke a rule: sends it the close status, and reads nothing more from it. */
static void frames_refuse(struct connection *connection, uint16_t status, enum err_code code,
                          const char *what)
{
	connection_refuse(connection, code, what);
	wslay.queue_close(connection->frames, status, NULL, 0);
	wslay.shutdown_read(connection->frames);
}

static ssize_t on_frames_read(wslay_event_context_ptr frames, uint8_t *data, size_t size, int flags,
                              void *user)
{
	struct connection *connection = user;
	const size_t early = connection->head.len - connection->head_read;
	size_t len = size < connection->round ? size : connection->round;

	(void)flags;
	if (early) {
		len = early < len ? early : len;
		memcpy(data, connection->head.data + connection->head_read, len);
		connection->head_read += len;
	} else if (len && !bytes_read(connection, data, len, &len)) {
		wslay.set_error(frames, WSLAY_ERR_CALLBACK_FAILURE);
		return -1;
	}
	connection->round -= len;
	if (len)
		return (ssize_t)len;
	wslay.set_error(frames, WSLAY_ERR_WOULDBLOCK);
	return -1;
}

static ssize_t on_frames_write(wslay_event_context_ptr frames, const uint8_t *data, size_t size,
                               int flags, void *user)
{
	struct connection *connection = user;
	const size_t room = OUT_BYTES - connection->out_len, len = size < room ? size : room;

	(void)flags;
	if (connection->out_busy || !len) {
		wslay.set_error(frames, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	memcpy(connection->out + connection->out_len, data, len);
	connection->out_len += len;
	return (ssize_t)len;
}

static int on_frames_mask(wslay_event_context_ptr frames, uint8_t *data, size_t size, void *user)
{
	struct err ignored = ERR_INIT;

	(void)user;
	if (random_fill(data, size, &ignored))
		return 0;
	wslay.set_error(frames, WSLAY_ERR_CALLBACK_FAILURE);
	return -1;
}

static void on_frame_start(wslay_event_context_ptr frames,
                            const struct wslay_event_on_frame_recv_start_arg *frame, void *user)
{
	struct connection *connection = user;

	(void)frames;
	connection->in_control = wslay_is_ctrl_frame(frame->opcode);
	if (connection->in_control)
		return;
	if (frame->opcode != WSLAY_CONTINUATION_FRAME) {
		buf_clear(&connection->message);
		connection->fragments = 0;
	}
	if (frame->opcode == WSLAY_BINARY_FRAME)
		frames_refuse(connection, WSLAY_CODE_UNSUPPORTED_DATA, ERR_NETWORK_ERROR,
		              "a message is not text");
	else if (++connection->fragments > FRAGMENTS_MAX)
		frames_refuse(connection, WSLAY_CODE_POLICY_VIOLATION, ERR_NETWORK_ERROR,
		              "a message has too many fragments");
}

static void on_frame_bytes(wslay_event_context_ptr frames,
                           const struct wslay_event_on_frame_recv_chunk_arg *chunk, void *user)
{
	struct connection *connection = user;

	(void)frames;
	if (connection->in_control || connection->why.code != ERR_NONE)
		return;
	if (!buf_append(&connection->message, chunk->data, chunk->data_length))
		frames_refuse(connection, WSLAY_CODE_MESSAGE_TOO_BIG, ERR_TOO_LARGE,
		              "a message is too large");
}

/* Why the server closes, harmless. */
static void note_close(struct connection *connection,
                       const struct wslay_event_on_msg_recv_arg *message)
{
	_cleanup_buf_ struct buf reason = BUF_INIT(8 * REASON_SHOWN);

	if (message->msg_length > 2)
		name_line(&reason, span_of((const char *)message->msg + 2,
		                           message->msg_length - 2));
	if (connection->why.code != ERR_NONE)
		return;
	err_set(&connection->why, ERR_NETWORK_ERROR, "%s closed the connection (%s%u%s%s).",
	        connection->url.host, message->status_code ? "" : "no reason, ",
	        message->status_code ? message->status_code : WSLAY_CODE_NO_STATUS_RCVD,
	        reason.len ? ", " : "", reason.len ? reason.data : "");
}

static void on_frames_message(wslay_event_context_ptr frames,
                              const struct wslay_event_on_msg_recv_arg *message, void *user)
{
	struct connection *connection = user;

	(void)frames;
	if (message->opcode == WSLAY_CONNECTION_CLOSE)
		note_close(connection, message);
	if (message->opcode != WSLAY_TEXT_FRAME || connection->why.code != ERR_NONE ||
	    connection->close_by_ms)
		return;
	if (!connection->events->message(connection->data, buf_view(&connection->message)))
		frames_refuse(connection, WSLAY_CODE_GOING_AWAY, ERR_CANCELLED,
		              "messages are no longer accepted");
	if (connection->message.cap > ROUND_BYTES)
		buf_release(&connection->message); /* a large one is rare */
}

static bool frames_open(struct connection *connection, struct err *err)
{
	static const struct wslay_event_callbacks callbacks = {
		.recv_callback = on_frames_read,
		.send_callback = on_frames_write,
		.genmask_callback = on_frames_mask,
		.on_frame_recv_start_callback = on_frame_start,
		.on_frame_recv_chunk_callback = on_frame_bytes,
		.on_msg_recv_callback = on_frames_message,
	};

	if (wslay.client_init(&connection->frames, &callbacks, connection) != 0)
		return err_set(err, ERR_INTERNAL, "libwslay could not be opened.");
	/* It would allocate each fragment separately, however small. */
	wslay.set_no_buffering(connection->frames, 1);
	wslay.set_max_length(connection->frames, connection->request->max_bytes);
	return true;
}

/* What other threads sent becomes frames, a few at a time. */
static void queue_frames(struct connection *connection)
{
	struct websocket_waiting *one;

	while (wslay.queued_count(connection->frames) < QUEUED_MAX &&
	       (one = take_waiting(connection->socket))) {
		const struct wslay_event_msg message = {
			.opcode = WSLAY_TEXT_FRAME,
			.msg = (const uint8_t *)one->text,
			.msg_length = one->len,
		};

		wslay.queue_msg(connection->frames, &message);
		free(one);
	}
	if (is_closing(connection->socket) && !connection->close_by_ms) {
		connection->close_by_ms = clock_monotonic_ms() + CLOSE_MS;
		wslay.queue_close(connection->frames, WSLAY_CODE_NORMAL_CLOSURE, NULL, 0);
	}
}

/* What the library found wrong by itself. */
static void note_violation(struct connection *connection)
{
	const uint16_t status = wslay.status_sent(connection->frames);

	if (connection->broke || is_closing(connection->socket))
		return;
	if (status == WSLAY_CODE_MESSAGE_TOO_BIG)
		connection_refuse(connection, ERR_TOO_LARGE, "a message is too large");
	else
		connection_refuse(connection, ERR_NETWORK_ERROR,
		                  status == WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA ?
		                          "a message is not UTF-8" :
		                          "what it sends is not the WebSocket protocol");
}

/* Milliseconds until it is ended whatever the server does; 0: now; -1: it goes on. */
static int time_to_close(struct connection *connection, bool reads)
{
	const uint64_t now = clock_monotonic_ms();

	/* Once nothing is read any more, the last frames have as long as a close. */
	if (!reads && !connection->close_by_ms)
		connection->close_by_ms = now + CLOSE_MS;
	if (!connection->close_by_ms)
		return -1;
	return now < connection->close_by_ms ? (int)(connection->close_by_ms - now) : 0;
}

static void read_frames(struct connection *connection)
{
	connection->round = ROUND_BYTES;
	wslay.recv(connection->frames);
	connection->more = !connection->round;
}

/* Until the connection ends. */
static void frames_run(struct connection *connection)
{
	while (!connection->broke) {
		bool reads, writes, full;
		int wait;

		queue_frames(connection);
		/* As much as goes. */
		flush_out(connection);
		while (!connection->broke && !connection->out_busy &&
		       wslay.want_write(connection->frames)) {
			if (wslay.send(connection->frames) != 0)
				connection->broke = true;
			flush_out(connection);
		}
		reads = wslay.want_read(connection->frames);
		writes = connection->out_len || wslay.want_write(connection->frames);
		wait = time_to_close(connection, reads);
		if ((!reads && !writes) || !wait)
			break;
		/* Answers to pings that the server does not take would grow. */
		full = wslay.queued_count(connection->frames) >= QUEUED_MAX;
		if (!connection->more || full)
			connection_wait(connection, reads && !full, writes, wait);
		if (reads && !full)
			read_frames(connection);
	}
	if (!wslay.want_read(connection->frames))
		note_violation(connection);
}

/* ---- all of it ---- */

static void connection_release(struct connection *connection)
{
	if (connection->frames)
		wslay.context_free(connection->frames);
	if (connection->multi && connection->easy)
		connection->curl->multi_remove_handle(connection->multi, connection->easy);
	if (connection->easy)
		connection->curl->easy_cleanup(connection->easy);
	if (connection->multi)
		connection->curl->multi_cleanup(connection->multi);
	http_url_release(&connection->url);
	buf_release(&connection->head);
	buf_release(&connection->message);
	free(connection);
}

static void connection_serve(struct connection *connection, struct err *err)
{
	if (!frames_open(connection, err))
		return;
	connection->events->opened(connection->data);
	read_frames(connection); /* what came behind the head */
	frames_run(connection);
	if (connection->why.code != ERR_NONE)
		*err = connection->why;
	else if (is_closing(connection->socket))
		err_set(err, ERR_CANCELLED, "The connection was closed.");
	else
		err_set(err, ERR_NETWORK_ERROR, "The connection to %s broke off.",
		        connection->url.host);
}

void websocket_run(struct websocket *socket, const struct websocket_request *request,
                   const struct websocket_events *events, void *data, int *ret_status,
                   struct err *err)
{
	struct connection *connection = mem_alloc(1, sizeof(*connection));
	struct http_pipe_signal hold;

	*connection = (struct connection){
		.socket = socket, .request = request, .events = events, .data = data,
		.open_by_ms = clock_monotonic_ms() +
		              (request->open_ms ? request->open_ms : HTTP_CONNECT_MS),
		.head = BUF_INIT(LIMIT_HTTP_HEAD_BYTES),
		.message = BUF_INIT(request->max_bytes),
	};
	*ret_status = 0;
	http_pipe_signal_hold(&hold);
	if (http_headers_are_lines(request->headers, err) &&
	    websocket_open(connection, ret_status, err))
		connection_serve(connection, err);
	connection_release(connection);
	http_pipe_signal_release(&hold);
	pthread_mutex_lock(&socket->lock);
	socket->over = true;
	pthread_mutex_unlock(&socket->lock);
}
