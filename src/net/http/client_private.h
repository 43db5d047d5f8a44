/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what the files of the client share. */
#ifndef HASP_NET_HTTP_CLIENT_PRIVATE_H
#define HASP_NET_HTTP_CLIENT_PRIVATE_H

#include <curl/curl.h>
#include <netinet/in.h>
#include <stdbool.h>

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

/* ---- URLs and addresses ---- */

/* What a request has where it says 0. */
enum { HTTP_CONNECT_MS = 30000, HTTP_IDLE_MS = 300000, HTTP_MAX_BYTES = 256 << 20 };

/* A URL's pieces that decide about origins and sentences. Released with http_url_release. */
struct url_parts {
	char *scheme, *host, *port; /* libcurl's; the port is always there */
	const struct http_curl_library *curl;
};

/* INVALID_ARGUMENT: not an absolute http or https URL. */
bool http_url_parse(const struct http_curl_library *curl, const char *url, struct url_parts *ret,
                  struct err *err);
void http_url_release(struct url_parts *parts);
bool http_url_same_origin(const struct url_parts *a, const struct url_parts *b);

/* Whether an address belongs to a host of the public internet: not loopback, private, link-local,
 * shared (RFC 6598), multicast, unspecified, documentation or reserved; addresses that carry an
 * IPv4 one (mapped, NAT64, 6to4) are judged by that. */
bool http_address_is_public(const struct sockaddr *address);
/* A host that is an address in digits, or a name that never is public ("localhost"). */
bool http_host_is_private(const char *host);

/* The proxy for a URL from the environment, as curl reads it; NULL: none. Borrowed. */
const char *http_proxy_of_environment(const struct url_parts *url);

#endif
