/* SPDX-License-Identifier: Apache-2.0 */
/* A small HTTP/1.1 server for loopback, a Unix socket or, with TLS, any address, inside the event
 * loop.
 *
 *     static const struct http_route routes[] = {
 *             { "/mcp", "GET, POST, DELETE", head, request, closed },
 *     };
 *     struct http_options options = { .address = "127.0.0.1", .routes = routes, ... };
 *     if (!http_server_new(loop, &options, &server, &err)) ...
 *
 *     static void request(void *data, struct http_request *request, struct span body)
 *     {
 *             http_answer(request, 200, "application/json", &text);
 *     }
 *
 * A request goes through these steps, each of which may answer it and so end it:
 *
 *   1. Host and Origin are loopback or allowed (403; headers.h), the path has a route (404).
 *      OPTIONS is answered here, for allowed origins as a CORS preflight.
 *   2. The route has the method (405), the bearer token is right (401), the body's announced
 *      length is within `body_max` (413).
 *   3. The route's `head`: other headers.  No byte of the body has been read until here, and none
 *      is while the request is held (http_request_hold).
 *   4. The body has arrived: `request`.  The answer may come now or at any later time:
 *      http_answer, or http_stream_begin, http_stream_write ..., http_stream_end.
 *   5. `closed`: the answer has been sent, or the client has disconnected; the request is freed.
 *
 * Everything runs on the loop's thread.  libmicrohttpd parses and sends; its sockets are
 * polled by the loop, so no message changes threads.
 *
 * Clients are hostile: connections, headers, bodies (each, and all together), what waits to
 * be sent to one that does not read, and the time for each step are bounded.  A disconnected client
 * is noticed immediately, also while its request waits for an answer; one that has only closed its
 * sending half cannot be distinguished from it.
 *
 * Not here: what is served (mcp/transport/http.c, web/).
 */
#ifndef HASP_NET_HTTP_SERVER_H
#define HASP_NET_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "net/loop/loop.h"

struct http_server;
struct http_request;

struct http_route {
	const char *path;    /* exactly this one; "/api/" and an asterisk: all that begin so */
	const char *methods; /* "GET, POST": what Allow says; OPTIONS need not be named */
	/* The head has arrived. May answer, or hold the request; may be NULL. */
	void (*head)(void *data, struct http_request *request);
	/* The body has arrived, empty if there is none; borrowed for the call. */
	void (*request)(void *data, struct http_request *request, struct span body);
	/* The request is over; called once if `request` was, or if it has data. `whole`: all was
	 * sent. May be NULL. */
	void (*closed)(void *data, struct http_request *request, bool whole);
	/* The client has taken all that was written to its stream. More may be written. May be
	 * NULL. */
	void (*drained)(void *data, struct http_request *request);
};

/* Strings and arrays are borrowed for the life of the server. */
struct http_options {
	const char *address; /* an IP address; not used with `socket` */
	uint16_t port;       /* 0: any free one */
	const char *socket;  /* the path of a Unix socket to make (mode 0600), which is removed in
	                      * the end; NULL: TCP. Any port in a Host is fine then */
	const char *certificate, *key; /* PEM; NULL: no TLS */
	const char *client_authority; /* PEM: clients are asked for a certificate, and may do
	                               * without (http_request_certificate); NULL: they are not */
	const char *token;   /* bearer token to ask for; NULL: none */
	const char *const *hosts;   /* see struct http_guard */
	size_t host_count;
	const char *const *names;   /* likewise */
	size_t name_count;
	const char *const *origins;
	size_t origin_count;
	bool listed_hosts_only; /* loopback names are not enough */
	bool knows_later;       /* connections are strangers until http_request_know */
	const char *const *headers; /* name, value, name, value ... NULL: of every answer; or
	                             * NULL */
	const char *exposed_headers; /* that scripts of those origins may read; may be NULL */
	const struct http_route *routes;
	size_t route_count;
	size_t body_max;             /* bytes of one body */
	/* Writes the JSON body of a refusal: the status and a sentence. NULL: {"error": ...}. */
	void (*explain)(void *data, unsigned status, const char *sentence, struct buf *out);
	void *data; /* handed to all of these functions */
};

/* PERMISSION_DENIED or IO_ERROR when the port or socket cannot be had, INVALID_ARGUMENT when the
 * address, socket, certificate or key is none, INTERNAL when libmicrohttpd is not on this
 * machine. */
bool http_server_new(struct loop *loop, const struct http_options *options,
                     struct http_server **ret, struct err *err);
uint16_t http_server_port(const struct http_server *server);
/* Takes no more connections, waits for up to `drain_ms` until the answers are sent, and closes the
 * rest. NULL is fine. */
void http_server_free(struct http_server *server, unsigned drain_ms);

/* ---- A request: from `head` until `closed` ------------------------------------------- */

/* "GET", "POST", ...; lives as long as the request. */
const char *http_request_method(const struct http_request *request);
/* The path, without what follows a "?"; lives as long as the request. */
const char *http_request_path(const struct http_request *request);
/* The value of a parameter of the query, decoded; NULL: none. Lives as long as the request. */
const char *http_request_query(const struct http_request *request, const char *name);
/* Its sender may ask for something: the connection is no stranger's (options.knows_later). */
void http_request_know(struct http_request *request);
/* The value of a header, by its name in any case; without blanks around it. NULL: none. */
const char *http_request_header(struct http_request *request, const char *name);
/* Whether the other end of its connection has this IP address ("10.0.0.1", "::1"). */
bool http_request_is_from(const struct http_request *request, const char *address);
/* The certificate by which its client proved who it is. */
struct http_certificate {
	struct span der;  /* as long as the request */
	char *subject;    /* owned: "CN=agent,O=Example" (RFC 4514) */
};
/* False: there is none, or none of the client authority's that is valid now and for clients.
 * Released with http_certificate_release. */
bool http_request_certificate(struct http_request *request, struct http_certificate *ret);
void http_certificate_release(struct http_certificate *certificate);
/* The caller's own; NULL at first. */
void http_request_set_data(struct http_request *request, void *data);
void *http_request_data(const struct http_request *request);

/* In `head`: reads nothing more of the request, until it is answered or goes on. */
void http_request_hold(struct http_request *request);
/* A request that is held goes on: its body is read. */
void http_request_continue(struct http_request *request);

/* A header of the answer to come; copied. At most 8. */
void http_add_header(struct http_request *request, const char *name, const char *value);

/* Answers with a body of a type, or with none (`body` NULL). Takes the body's memory over. */
void http_answer(struct http_request *request, unsigned status, const char *type,
                 struct buf *body);
/* Answers with an error, worded by options.explain. */
void http_refuse(struct http_request *request, unsigned status, const char *sentence);

/* Begins an event stream (200). While it is quiet it is kept alive with comments. */
void http_stream_begin(struct http_request *request);
/* Appends to it (sse.h), and sends what the client takes without waiting.  A client
 * that lets more than LIMIT_STREAM_BACKLOG wait is cut off: `closed` follows. */
void http_stream_write(struct http_request *request, struct span events);
/* Bytes of it that wait for the client. */
size_t http_stream_waiting(const struct http_request *request);
/* Ends it, once everything is sent. */
void http_stream_end(struct http_request *request);

/* Closes its connection, now; `closed` follows. */
void http_request_drop(struct http_request *request);

/* Whether nothing has been answered yet. */
bool http_request_waits(const struct http_request *request);

#endif
