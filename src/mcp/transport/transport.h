/* SPDX-License-Identifier: Apache-2.0 */
/* The transports of MCP: standard input and output for one client, streamable HTTP for many.
 *
 *     ok = mcp_serve_stdio(server, loop, 0, 1, ended, data, &stdio, &err);
 *     ok = mcp_serve_http(server, loop, &options, &http, &err);      // on loopback
 *     ... loop_run; then mcp_stdio_free or mcp_http_free, before mcp_server_free
 *
 * Over standard input and output: one message a line.
 *
 * Over HTTP: one endpoint (/mcp): POST for messages, GET for the stream of what belongs to no
 * request, DELETE to end a session.  An initialize opens a session (Mcp-Session-Id, 128
 * random bits); a request of 2026-07-28 needs none.  A request is answered as JSON, or as an
 * event stream when something must be sent before its answer, or when that takes longer than ten
 * seconds.  Event streams can be resumed with Last-Event-ID (2025-11-25 and before) while the
 * session lives; what is kept for that is bounded (LIMIT_REPLAY_BYTES), so that after very much
 * only the latest is there.  A client that goes away cancels its request if that is of 2026-07-28,
 * and else nothing.
 *
 * Refused before a body is read: another method or path (405, 404), a Host or Origin that
 * is not loopback or allowed (403), a missing or wrong bearer token (401), a body longer than
 * LIMIT_MESSAGE_BYTES (413), another content type (415), an Accept that excludes both answers
 * (406).  Unknown or ended sessions: 404.
 *
 * Specification: .../basic/transports of each version.
 */
#ifndef HASP_MCP_TRANSPORT_TRANSPORT_H
#define HASP_MCP_TRANSPORT_TRANSPORT_H

#include <stdint.h>

#include "mcp/protocol/server.h"

/* ---- HTTP ---- */

struct mcp_http_options {
	const char *address;      /* "127.0.0.1" or "::1"; NULL: the first */
	uint16_t port;            /* 0: any free one */
	const char *token;        /* bearer token to ask for; NULL: none (tests only) */
	const char *const *hosts; /* further Host names to accept; may be NULL */
	size_t host_count;
	const char *const *origins; /* further Origins to accept ("https://example.org") */
	size_t origin_count;
	unsigned session_idle_s;  /* a session without requests or streams ends; 0: 30 minutes */
	size_t max_sessions;      /* 0: 1000; the one without a connection for longest makes room
	                           * (503 if all of them have one) */
};

struct mcp_http;

/* PERMISSION_DENIED or IO_ERROR when the port cannot be had; INTERNAL (with what to install)
 * when the HTTP library is not on this machine. */
bool mcp_serve_http(struct mcp_server *server, struct loop *loop,
                    const struct mcp_http_options *options, struct mcp_http **ret,
                    struct err *err);
/* The port it listens on. */
uint16_t mcp_http_port(const struct mcp_http *http);
/* Ends all sessions: who waits is answered (503), streams end. Before mcp_server_free, so that
 * subscriptions end with their result. NULL is fine. */
void mcp_http_free(struct mcp_http *http);

/* ---- standard input and output ---- */

struct mcp_stdio;

/* Serves one client until its input ends: then calls under way are finished and answered,
 * and `ended` is called on the loop's thread (the caller stops the loop).  A closed output ends it
 * too, and cancels the calls.  Nothing but messages is ever written to `write_fd`.  A client that
 * does not read its answers is not read from either, once 32 MiB wait for it, or 8 MiB while many
 * calls are under way. */
bool mcp_serve_stdio(struct mcp_server *server, struct loop *loop, int read_fd, int write_fd,
                     void (*ended)(void *data), void *data, struct mcp_stdio **ret,
                     struct err *err);
/* Waits for a client that still takes what is written, up to two seconds at a time. NULL is
 * fine. */
void mcp_stdio_free(struct mcp_stdio *stdio);

#endif
