/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/curl_library.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/library.h"
#include "base/mem.h"

#define ROW(member, name) { name, offsetof(struct curl_library, member) }

static const struct library_symbol symbols[] = {
	ROW(global_init, "curl_global_init"),
	ROW(easy_init, "curl_easy_init"),
	ROW(easy_cleanup, "curl_easy_cleanup"),
	ROW(easy_reset, "curl_easy_reset"),
	ROW(easy_setopt, "curl_easy_setopt"),
	ROW(easy_getinfo, "curl_easy_getinfo"),
	ROW(easy_strerror, "curl_easy_strerror"),
	ROW(multi_init, "curl_multi_init"),
	ROW(multi_cleanup, "curl_multi_cleanup"),
	ROW(multi_setopt, "curl_multi_setopt"),
	ROW(multi_add_handle, "curl_multi_add_handle"),
	ROW(multi_remove_handle, "curl_multi_remove_handle"),
	ROW(multi_perform, "curl_multi_perform"),
	ROW(multi_poll, "curl_multi_poll"),
	ROW(multi_info_read, "curl_multi_info_read"),
	ROW(slist_append, "curl_slist_append"),
	ROW(slist_free_all, "curl_slist_free_all"),
	ROW(url, "curl_url"),
	ROW(url_cleanup, "curl_url_cleanup"),
	ROW(url_get, "curl_url_get"),
	ROW(url_set, "curl_url_set"),
	ROW(free, "curl_free"),
	ROW(version, "curl_version"),
};

/* hasp's own copy, without the libraries that https does not need. Beside the program, where whoever
 * can write can replace the program too; then where it is installed. */
static const struct library own = { { "$ORIGIN/hasp-http.so", HTTP_MODULE }, "", "", symbols,
	                            ARRAY_LEN(symbols) };

/* Flavours with different TLS libraries behind the same functions. */
static const struct library row = { { "libcurl.so.4", "libcurl-gnutls.so.4" },
	                            "Requests to models need", "libcurl4", symbols,
	                            ARRAY_LEN(symbols) };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct curl_library loaded;
static struct err load_error;

static void load(void)
{
	struct err absent = ERR_INIT;

	if (!library_load(&own, &loaded, &absent) && !library_load(&row, &loaded, &load_error))
		return;
	if (loaded.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		err_set(&load_error, ERR_INTERNAL, "libcurl could not be initialised.");
	else
		loaded.openssl = strstr(loaded.version(), "OpenSSL/") != NULL;
}

const struct curl_library *curl_library(struct err *err)
{
	pthread_once(&once, load);
	if (load_error.code == ERR_NONE)
		return &loaded;
	*err = load_error;
	return NULL;
}
