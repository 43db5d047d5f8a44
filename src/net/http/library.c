/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/library.h"

#include <stddef.h>

#include "base/library.h"
#include "base/mem.h"

static const struct library_symbol symbols[] = {
	{ "MHD_start_daemon", offsetof(struct http_library, start_daemon) },
	{ "MHD_stop_daemon", offsetof(struct http_library, stop_daemon) },
	{ "MHD_get_daemon_info", offsetof(struct http_library, get_daemon_info) },
	{ "MHD_run", offsetof(struct http_library, run) },
	{ "MHD_get_timeout", offsetof(struct http_library, get_timeout) },
	{ "MHD_get_connection_info", offsetof(struct http_library, get_connection_info) },
	{ "MHD_get_connection_values", offsetof(struct http_library, get_connection_values) },
	{ "MHD_lookup_connection_value",
	  offsetof(struct http_library, lookup_connection_value) },
	{ "MHD_suspend_connection", offsetof(struct http_library, suspend_connection) },
	{ "MHD_resume_connection", offsetof(struct http_library, resume_connection) },
	{ "MHD_create_response_from_buffer",
	  offsetof(struct http_library, create_response_from_buffer) },
	{ "MHD_create_response_from_callback",
	  offsetof(struct http_library, create_response_from_callback) },
	{ "MHD_add_response_header", offsetof(struct http_library, add_response_header) },
	{ "MHD_queue_response", offsetof(struct http_library, queue_response) },
	{ "MHD_destroy_response", offsetof(struct http_library, destroy_response) },
};

static const struct library row = { { "libmicrohttpd.so.12" }, "HTTP needs", "libmicrohttpd12", symbols,
	                            ARRAY_LEN(symbols) };

bool http_library_load(struct http_library *library, struct err *err)
{
	return library_load(&row, library, err);
}
