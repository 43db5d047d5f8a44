/* SPDX-License-Identifier: Apache-2.0 */
#include "http/library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

#define LIBRARY "libmicrohttpd.so.12"

static const struct symbol {
	const char *name;
	size_t at; /* its place in struct http_library */
} symbols[] = {
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

bool http_library_load(struct http_library *library, struct err *err)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (!handle)
		return err_set(err, ERR_INTERNAL,
		               "HTTP needs " LIBRARY ", which is not on this machine (on Debian: "
		               "apt install libmicrohttpd12).");
	for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
		void *function = dlsym(handle, symbols[i].name);

		/* ISO C has no cast from an object pointer to a function pointer; POSIX has. */
		memcpy((char *)library + symbols[i].at, &function, sizeof(function));
		if (!function) {
			dlclose(handle);
			return err_set(err, ERR_INTERNAL, "%s of this machine has no %s.", LIBRARY,
			               symbols[i].name);
		}
	}
	dlclose(handle); /* RTLD_NODELETE keeps it */
	return true;
}
