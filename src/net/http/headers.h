/* SPDX-License-Identifier: Apache-2.0 */
/* What fields of a head say: which media type, and whether a request may be answered. */
#ifndef HASP_NET_HTTP_HEADERS_H
#define HASP_NET_HTTP_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

/* ---- content-Type and Accept (RFC 9110, sections 8.3 and 12.5.1) ---- */

/* Pure functions. */

/* Whether a Content-Type names `type` ("application/json"), whatever its parameters. */
bool http_content_type_is(const char *content_type, const char *type);

/* Whether an Accept admits `type`: by name, by "application" and an asterisk, or by two of
 * them, with a weight above 0; the most specific one decides.  NULL or empty: everything. */
bool http_accepts(const char *accept, const char *type);

/* ---- who may talk to a server on loopback ---- */

/* A page from anywhere can make a browser send requests to 127.0.0.1, also under a name of the
 * attacker's that resolves there (DNS rebinding).  Such requests have a foreign name in Host, or a
 * foreign Origin.  A program of another user of this machine has neither trouble: the bearer token
 * stops that.
 *
 * Pure functions; the server (server.h) calls them before it reads a body. */

struct http_guard {
	uint16_t port;            /* the one that is served; 0: any in a request is fine */
	bool listed_only;         /* loopback names do not count */
	const char *const *hosts; /* further names, with or without ":port"; may be NULL */
	size_t host_count;
	const char *const *names; /* what the server is called besides loopback's names: as these
	                           * they count with its port alone; may be NULL */
	size_t name_count;
	const char *const *origins; /* further origins ("https://example.org"); may be NULL */
	size_t origin_count;
	const char *token;        /* bearer token to ask for; NULL: none */
};

/* The value of a Host header: "localhost", "127.0.0.1" or "[::1]", without a port or with
 * the one that is served, or one of `hosts`. */
bool http_guard_host(const struct http_guard *guard, const char *host);

/* The value of an Origin header: http or https and a host as above, or one of `origins`. */
bool http_guard_origin(const struct http_guard *guard, const char *origin);
/* Only the latter: to these a browser may show answers (CORS). */
bool http_guard_origin_is_listed(const struct http_guard *guard, const char *origin);

/* The value of an Authorization header (NULL: none). Takes the same time for every wrong
 * token of a length. */
bool http_guard_token(const struct http_guard *guard, const char *authorization);

#endif
