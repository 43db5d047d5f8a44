/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what the files of the client share. */
#ifndef HASP_NET_HTTP_CLIENT_PRIVATE_H
#define HASP_NET_HTTP_CLIENT_PRIVATE_H

#include <curl/curl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/http/client.h"

/* ---- libcurl, loaded by the first request and not before ---- */

/* Its functions, with the types that its header gives them. */
struct http_curl_library {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_easy_init) *easy_init;
	__typeof__(curl_easy_cleanup) *easy_cleanup;
	__typeof__(curl_easy_reset) *easy_reset;
	__typeof__(curl_easy_setopt) *easy_setopt;
	__typeof__(curl_easy_getinfo) *easy_getinfo;
	__typeof__(curl_easy_send) *easy_send;
	__typeof__(curl_easy_recv) *easy_recv;
	__typeof__(curl_easy_strerror) *easy_strerror;
	__typeof__(curl_multi_init) *multi_init;
	__typeof__(curl_multi_cleanup) *multi_cleanup;
	__typeof__(curl_multi_setopt) *multi_setopt;
	__typeof__(curl_multi_add_handle) *multi_add_handle;
	__typeof__(curl_multi_remove_handle) *multi_remove_handle;
	__typeof__(curl_multi_perform) *multi_perform;
	__typeof__(curl_multi_poll) *multi_poll;
	__typeof__(curl_multi_info_read) *multi_info_read;
	__typeof__(curl_slist_append) *slist_append;
	__typeof__(curl_slist_free_all) *slist_free_all;
	__typeof__(curl_url) *url;
	__typeof__(curl_url_cleanup) *url_cleanup;
	__typeof__(curl_url_get) *url_get;
	__typeof__(curl_url_set) *url_set;
	__typeof__(curl_free) *free;
	__typeof__(curl_version) *version;
	bool openssl; /* its TLS is OpenSSL's */
};

/* The library, loaded and initialised once for the process, from whichever thread asks first; it
 * stays.  NULL with INTERNAL and the package to install when it cannot be loaded. */
const struct http_curl_library *http_curl_library(struct err *err);

/* Whose signatures count: the variables that OpenSSL has for it, then the system's. */
void http_set_authorities(const struct http_curl_library *curl, CURL *easy);

/* libcurl, which must not touch signals, leaves SIGPIPE to its caller; TLS libraries write with
 * it. */
struct http_pipe_signal {
	sigset_t before;
	bool pending;
};
/* From now on the thread gets none. */
void http_pipe_signal_hold(struct http_pipe_signal *hold);
/* As before; one that came meanwhile is forgotten. */
void http_pipe_signal_release(const struct http_pipe_signal *hold);

/* Adds a line of a head: "NAME:  value\r\n" becomes "name: value\n"; nothing for one without a
 * colon. */
void http_add_field(struct buf *head, struct span line);

/* ---- URLs and addresses ---- */

/* What a request has where it says 0. */
enum { HTTP_CONNECT_MS = 30000, HTTP_IDLE_MS = 300000, HTTP_MAX_BYTES = 256 << 20 };

/* A URL's pieces that decide about origins and sentences. Released with http_url_release. */
struct url_parts {
	char *scheme, *host, *port; /* libcurl's; the port is always there */
	bool login;                 /* it has a user name or a password */
	const struct http_curl_library *curl;
};

/* INVALID_ARGUMENT: not an absolute http or https URL. */
bool http_url_parse(const struct http_curl_library *curl, const char *url, struct url_parts *ret,
                  struct err *err);
void http_url_release(struct url_parts *parts);
bool http_url_same_origin(const struct url_parts *a, const struct url_parts *b);

/* Whether an address belongs to a host of the public internet: not loopback, private, link-local,
 * shared (RFC 6598), multicast, unspecified, documentation or reserved, nor one where a cloud
 * serves its own machines; addresses that carry an IPv4 one (mapped, NAT64, 6to4) are judged by
 * that. */
bool http_address_is_public(const struct sockaddr *address);
/* INVALID_ARGUMENT: a header (the list is NULL-terminated, or NULL) contains a line break. */
bool http_headers_are_lines(const char *const *headers, struct err *err);

/* The proxy for a URL from the environment, as curl reads it; NULL: none. Borrowed. */
const char *http_proxy_of_environment(const struct url_parts *url);

/* ---- the handshake of a WebSocket, as text (RFC 6455, section 4): upgrade.c ---- */

/* Sec-WebSocket-Key: 16 random bytes in base64. */
struct upgrade_key {
	char text[25];
};

/* INTERNAL: the system has no random bytes. */
bool upgrade_key_new(struct upgrade_key *ret, struct err *err);

/* The request for `url` (http: or https:) and what `headers` add to it. INVALID_ARGUMENT: the URL;
 * it is too long. */
bool upgrade_request(const struct http_curl_library *curl, const char *url,
                     const char *const *headers, const char *protocol,
                     const struct upgrade_key *key, struct buf *out, struct err *err);

/* The fields of the head of an answer, for http_field. False: `fields` has no room for them. */
bool upgrade_fields(struct span head, struct buf *fields);
/* Whether the head of an answer (up to its empty line) is the one to that request. *ret_status: its
 * status; 0: it has none. NETWORK_ERROR, with the rest of a sentence: it is not. */
bool upgrade_accepted(struct span head, const struct upgrade_key *key, const char *protocol,
                      int *ret_status, struct err *err);

#endif
