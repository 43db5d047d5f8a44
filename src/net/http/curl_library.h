/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: libcurl, loaded by the first request and not before. */
#ifndef HASP_NET_HTTP_CURL_LIBRARY_H
#define HASP_NET_HTTP_CURL_LIBRARY_H

#include <stdbool.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/err.h"

/* Its functions, with the types that its header gives them. */
struct curl_library {
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
const struct curl_library *curl_library(struct err *err);

#endif
