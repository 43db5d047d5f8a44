/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP client: one request at a time, its answer streamed, over libcurl.
 *
 *     struct http_client *client = http_client_new();
 *     struct http_client_request request = { .method = "POST", .url = url, .headers = headers,
 *                                     .body = body, .cancel = cancel };
 *     ok = http_client_send(client, &request, &events, data, &err);
 *     http_client_free(client);
 *
 * libcurl is loaded by the first http_client_send (server_private.h has the manner); nothing
 * connects before that either.  Connections are kept and used again by the same client.  A client
 * serves one thread at a time; several threads have several clients.
 *
 * HTTP/1.1 and HTTP/2, TLS verified against the system's certificates, all content encodings that
 * libcurl knows.  Proxies: https_proxy, all_proxy and no_proxy in either case and
 * http_proxy in lower case, as curl reads them, unless the request names one.
 *
 * Nothing of a request's headers or of its URL's query gets into an error or a log: keys stand
 * there.
 */
#ifndef HASP_NET_HTTP_CLIENT_H
#define HASP_NET_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"
#include "base/span.h"

struct http_client;

/* Costs nothing yet: libcurl is loaded with the first request. */
struct http_client *http_client_new(void);
void http_client_free(struct http_client *client); /* NULL is fine */

struct http_client_request {
	const char *method;         /* "GET", "POST"; NULL: GET, or POST when there is a body */
	const char *url;            /* http: or https: */
	const char *const *headers; /* "Name: value", NULL-terminated; or NULL */
	struct span body;
	const char *proxy;          /* NULL: from the environment; "": none */
	const char *socket;         /* the path of a Unix socket to connect to, whatever host the
	                             * URL names; or NULL */
	unsigned connect_ms;        /* 0: 30 s */
	unsigned idle_ms;           /* longest pause without a byte in either direction; 0: 300 s */
	unsigned total_ms;          /* 0: no limit */
	size_t max_bytes;           /* of the answer's body after decoding; 0: 256 MiB */
	unsigned max_redirects;     /* 0: a redirect is an answer like any other. Only http and
	                             * https,
	                             * and no header of the request goes to another origin */
	/* Refuse hosts whose addresses are loopback, private, link-local, multicast, unspecified,
	 * or a cloud's own services: checked on the address that is connected to, after each
	 * redirect too.  Where a proxy connects, the name is resolved here first and all its
	 * addresses are checked; the proxy resolves it again. */
	bool public_only;
	bool proxy_resolves;        /* with public_only: a name that cannot be resolved here is
	                             * left to the proxy; otherwise it is refused */
	const struct cancel *cancel;
};

/* Where the answer goes. `headers`: all fields, "name: value\n" each, names in lower case. */
struct http_events {
	/* Once, before the body. False ends the transfer (CANCELLED). May be NULL. */
	bool (*head)(void *data, int status, struct span headers);
	/* The body's bytes as they come. False ends the transfer (CANCELLED). */
	bool (*body)(void *data, struct span bytes);
	/* Before each wait: how many milliseconds it may last before this is called again; 0 ends
	 * the transfer with *err. May be NULL. */
	unsigned (*waiting)(void *data, struct err *err);
};

/* How a request that failed got: decides whether it may be sent again. */
enum http_stage {
	HTTP_NOT_SENT,  /* no connection: the server has not seen it */
	HTTP_SENT,      /* some of it went out; no head came back */
	HTTP_ANSWERING, /* the head, perhaps some of the body has come */
};

/* True when the whole answer came, whatever its status.
 * INVALID_ARGUMENT: the URL, or a redirect to one with a user name or password. NETWORK_ERROR: name
 * resolution, connection, TLS, a transfer that broke or was too slow: the sentence has which, and
 * the host. TOO_LARGE: max_bytes. DENIED_BY_SANDBOX:
 * public_only. CANCELLED. INTERNAL: libcurl is not installed. */
bool http_client_send(struct http_client *client, const struct http_client_request *request,
                      const struct http_events *events, void *data, struct err *err);
/* Of the last http_client_send that returned false. */
enum http_stage http_client_stage(const struct http_client *client);
/* Seconds until another try, from "retry-after-ms", or "retry-after" (seconds or a date), among
 * headers as `head` gets them: from 0 (a date in the past) to 10^9; -1: none, or nothing that is a
 * time. */
double http_retry_after(struct span headers);
/* The value of the first field with this name (lower case), without white space around; empty if
 * there is none. */
struct span http_field(struct span headers, const char *name);

/* A host that is an address in digits, or a name that never is public ("localhost"). */
bool http_host_is_private(const char *host);

/* ---- WebSockets ---- */

/* A WebSocket (RFC 6455) of which this is the client: text messages both ways, over libcurl's
 * connections and libwslay's frames.
 *
 *     struct websocket *socket = websocket_new(64 << 20, &err);
 *     websocket_run(socket, &request, &events, data, &status, &err);   // on a separate thread
 *     websocket_send(socket, SPAN("hello"));                           // from any other
 *     websocket_close(socket);                                         // websocket_run returns
 *     websocket_free(socket);
 *
 * Both libraries are loaded by the first websocket_run.  TLS is verified and proxies are found as
 * requests have it.  A redirect is not followed.  No extension is offered.
 *
 * The server is hostile: its head, its messages and their fragments are bounded, and so is what
 * waits to be sent to it; pings are answered, and while those answers wait nothing more is read.
 * Nothing of a request's headers or of its URL's query gets into an error.
 */
struct websocket;

struct websocket_request {
	const char *url;            /* ws: or wss: */
	const char *const *headers; /* "Name: value", without control characters, NULL-terminated;
	                             * or NULL. Those of the handshake's own names are left out */
	const char *protocol;       /* the subprotocol that is asked for */
	unsigned open_ms;           /* for the connection and the handshake; 0: 30 s */
	size_t max_bytes;           /* of one message */
	bool direct;                /* no proxy is asked */
};

/* On the thread of websocket_run. */
struct websocket_events {
	/* Hands are shaken. */
	void (*opened)(void *data);
	/* The handshake was answered with another status than 101, and these headers, for
	 * http_field. May be NULL. */
	void (*refused)(void *data, int status, struct span headers);
	/* A message came. False ends the connection. */
	bool (*message)(void *data, struct span text);
};

/* `waiting_bytes`: the most that waits to be sent, all together. IO_ERROR: no descriptor is
 * left. */
struct websocket *websocket_new(size_t waiting_bytes, struct err *err);
/* Of one that does not run. NULL is fine. */
void websocket_free(struct websocket *socket);

/* Connects, shakes hands and takes messages until the connection ends, which *err explains; once.
 * *ret_status: of the answer to the handshake; 0: none came.
 * CANCELLED: websocket_close, or an event that said so. INVALID_ARGUMENT: the URL. NETWORK_ERROR:
 * there is no connection, or it broke, or the server closed it, or what it sends is no WebSocket's,
 * or not a text. TOO_LARGE: a message. INTERNAL: a library is not installed. */
void websocket_run(struct websocket *socket, const struct websocket_request *request,
                   const struct websocket_events *events, void *data, int *ret_status,
                   struct err *err);
/* Sends a message, from any thread, once `opened` was called; does not wait. False: too much waits
 * to be read by the server already. One that comes after the end goes nowhere. */
bool websocket_send(struct websocket *socket, struct span text);
/* Closes, from any thread; does not wait. The server has 2 seconds to answer that. */
void websocket_close(struct websocket *socket);

#endif
