/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: requests that need no library.  A plain http URL whose host is an address
 * or localhost, without a proxy, without redirects to follow: that is a model's server on this
 * machine or next to it, and loading libcurl with its thirty libraries would cost more than all of
 * the rest.
 *
 * Same promises as client.h; bodies are asked for without encoding. */
#ifndef HASP_HTTP_CLIENT_DIRECT_H
#define HASP_HTTP_CLIENT_DIRECT_H

#include "http/client.h"

/* The connection that is kept. Zeroed but for fd = -1 at first. */
struct direct {
	int fd;
	char authority[280]; /* "127.0.0.1:8080": where it leads */
	enum http_stage stage;
};

bool direct_possible(const struct http_request *request);
/* Only when direct_possible. Errors as http_client_send. */
bool direct_send(struct direct *direct, const struct http_request *request,
                 const struct http_events *events, void *data, struct err *err);
void direct_close(struct direct *direct);

#endif
