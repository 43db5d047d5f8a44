/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: libmicrohttpd, loaded when HTTP is served and not before, so that
 * no other command pays for it. */
#ifndef HASP_NET_HTTP_LIBRARY_H
#define HASP_NET_HTTP_LIBRARY_H

#include <microhttpd.h>
#include <stdbool.h>

#include "base/err.h"

/* Its functions, with the types that its header gives them. */
struct http_library {
	__typeof__(MHD_start_daemon) *start_daemon;
	__typeof__(MHD_stop_daemon) *stop_daemon;
	__typeof__(MHD_get_daemon_info) *get_daemon_info;
	__typeof__(MHD_run) *run;
	__typeof__(MHD_get_timeout) *get_timeout;
	__typeof__(MHD_get_connection_info) *get_connection_info;
	__typeof__(MHD_get_connection_values) *get_connection_values;
	__typeof__(MHD_lookup_connection_value) *lookup_connection_value;
	__typeof__(MHD_suspend_connection) *suspend_connection;
	__typeof__(MHD_resume_connection) *resume_connection;
	__typeof__(MHD_create_response_from_buffer) *create_response_from_buffer;
	__typeof__(MHD_create_response_from_callback) *create_response_from_callback;
	__typeof__(MHD_add_response_header) *add_response_header;
	__typeof__(MHD_queue_response) *queue_response;
	__typeof__(MHD_destroy_response) *destroy_response;
};

/* INTERNAL, with the package to install, when it cannot be loaded. It stays loaded. */
bool http_library_load(struct http_library *library, struct err *err);

#endif
