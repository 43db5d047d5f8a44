/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what the files of the client share. */
#ifndef HASP_NET_HTTP_CLIENT_PRIVATE_H
#define HASP_NET_HTTP_CLIENT_PRIVATE_H

#include <netinet/in.h>

#include "net/http/client.h"
#include "net/http/curl_library.h"

/* What a request has where it says 0. */
enum { HTTP_CONNECT_MS = 30000, HTTP_IDLE_MS = 300000, HTTP_MAX_BYTES = 256 << 20 };

/* A URL's pieces that decide about origins and sentences. Released with url_parts_release. */
struct url_parts {
	char *scheme, *host, *port; /* libcurl's; the port is always there */
	const struct curl_library *curl;
};

/* INVALID_ARGUMENT: not an absolute http or https URL. */
bool url_parts_of(const struct curl_library *curl, const char *url, struct url_parts *ret,
                  struct err *err);
void url_parts_release(struct url_parts *parts);
bool url_same_origin(const struct url_parts *a, const struct url_parts *b);

/* Whether an address belongs to a host of the public internet: not loopback, private, link-local,
 * shared (RFC 6598), multicast, unspecified, documentation or reserved; addresses that carry an
 * IPv4 one (mapped, NAT64, 6to4) are judged by that. */
bool address_is_public(const struct sockaddr *address);
/* A host that is an address in digits, or a name that never is public ("localhost"). */
bool host_is_private(const char *host);

/* The proxy for a URL from the environment, as curl reads it; NULL: none. Borrowed. */
const char *proxy_of_environment(const struct url_parts *url);

#endif
