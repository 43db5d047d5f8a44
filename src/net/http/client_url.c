/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl, loaded late; URLs, public addresses, and which proxy is meant. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/library.h"
#include "base/mem.h"
#include "net/http/client_private.h"

/* ---- the library ---- */

#define ROW(member, name) { name, offsetof(struct http_curl_library, member) }

static const struct library_symbol symbols[] = {
	ROW(global_init, "curl_global_init"),
	ROW(easy_init, "curl_easy_init"),
	ROW(easy_cleanup, "curl_easy_cleanup"),
	ROW(easy_reset, "curl_easy_reset"),
	ROW(easy_setopt, "curl_easy_setopt"),
	ROW(easy_getinfo, "curl_easy_getinfo"),
	ROW(easy_send, "curl_easy_send"),
	ROW(easy_recv, "curl_easy_recv"),
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

/* hasp's copy, without the libraries that https does not need.  First next to the program, where
 * anyone who can write can replace the program too; then where it is installed. */
static const struct library own = { { "$ORIGIN/hasp-http.so", HTTP_MODULE }, "", "", symbols,
	                            ARRAY_LEN(symbols) };

/* Flavours with different TLS libraries behind the same functions. */
static const struct library row = { { "libcurl.so.4", "libcurl-gnutls.so.4" },
	                            "Requests to models need", "libcurl4", symbols,
	                            ARRAY_LEN(symbols) };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct http_curl_library loaded;
static struct err load_error;

static void load_curl(void)
{
	struct err absent = ERR_INIT;

	if (!library_load(&own, &loaded, &absent) && !library_load(&row, &loaded, &load_error))
		return;
	if (loaded.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		err_set(&load_error, ERR_INTERNAL, "libcurl could not be initialised.");
	else
		loaded.openssl = strstr(loaded.version(), "OpenSSL/") != NULL;
}

const struct http_curl_library *http_curl_library(struct err *err)
{
	pthread_once(&once, load_curl);
	if (load_error.code == ERR_NONE)
		return &loaded;
	*err = load_error;
	return NULL;
}

/* ---- URLs ---- */

void http_url_release(struct url_parts *parts)
{
	if (!parts->curl)
		return;
	parts->curl->free(parts->scheme);
	parts->curl->free(parts->host);
	parts->curl->free(parts->port);
	*parts = (struct url_parts){ 0 };
}

/* Whether the URL has this part, and it is not empty. */
static bool has_part(const struct http_curl_library *curl, CURLU *handle, CURLUPart part)
{
	char *text = NULL;
	const bool has = curl->url_get(handle, part, &text, 0) == CURLUE_OK && text && *text;

	curl->free(text);
	return has;
}

bool http_url_parse(const struct http_curl_library *curl, const char *url, struct url_parts *ret,
                  struct err *err)
{
	CURLU *handle = curl->url();
	bool ok = handle && curl->url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK;

	*ret = (struct url_parts){ .curl = curl };
	ok = ok && curl->url_get(handle, CURLUPART_SCHEME, &ret->scheme, 0) == CURLUE_OK &&
	     curl->url_get(handle, CURLUPART_HOST, &ret->host, 0) == CURLUE_OK &&
	     curl->url_get(handle, CURLUPART_PORT, &ret->port, CURLU_DEFAULT_PORT) == CURLUE_OK;
	ret->login = ok && (has_part(curl, handle, CURLUPART_USER) ||
	                    has_part(curl, handle, CURLUPART_PASSWORD));
	curl->url_cleanup(handle);
	if (ok && (strcasecmp(ret->scheme, "http") == 0 || strcasecmp(ret->scheme, "https") == 0))
		return true;
	http_url_release(ret);
	return err_set(err, ERR_INVALID_ARGUMENT, "The URL is not an absolute http or https URL.");
}

bool http_url_same_origin(const struct url_parts *a, const struct url_parts *b)
{
	return strcasecmp(a->scheme, b->scheme) == 0 && strcasecmp(a->host, b->host) == 0 &&
	       strcmp(a->port, b->port) == 0;
}

/* ---- addresses (RFC 6890 and its registries) ---- */

static const struct block4 {
	uint32_t network;
	unsigned bits;
} not_public4[] = {
	{ 0x00000000, 8 },  { 0x0A000000, 8 },  { 0x64400000, 10 }, { 0x7F000000, 8 },
	{ 0xA9FE0000, 16 }, { 0xAC100000, 12 }, { 0xC0000000, 24 }, { 0xC0000200, 24 },
	{ 0xC0586300, 24 }, { 0xC0A80000, 16 }, { 0xC6120000, 15 }, { 0xC6336400, 24 },
	{ 0xCB007100, 24 }, { 0xE0000000, 4 },  { 0xF0000000, 4 },
	/* Registered as public, but where a cloud answers its own machines: Azure's wire server,
	 * Equinix Metal's metadata, IBM Cloud's services. */
	{ 0xA83F8110, 32 }, { 0xC050087C, 32 }, { 0xA11A0000, 16 }, { 0xA6080000, 14 },
};

static bool public4(uint32_t address)
{
	for (size_t i = 0; i < ARRAY_LEN(not_public4); i++)
		if ((address ^ not_public4[i].network) >> (32 - not_public4[i].bits) == 0)
			return false;
	return true;
}

static uint32_t bytes4(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

static bool public6(const unsigned char *b)
{
	static const unsigned char mapped[12] = { [10] = 0xFF, [11] = 0xFF };
	static const unsigned char nat64[12] = { 0x00, 0x64, 0xFF, 0x9B };

	if (memcmp(b, mapped, 12) == 0 || memcmp(b, nat64, 12) == 0)
		return public4(bytes4(b + 12));
	if (b[0] == 0x20 && b[1] == 0x02) /* 6to4 */
		return public4(bytes4(b + 2));
	if (b[0] == 0x20 && b[1] == 0x01 && (b[2] < 0x02 || (b[2] == 0x0D && b[3] == 0xB8)))
		return false; /* Teredo and its neighbours; documentation */
	if (b[0] == 0x3F && b[1] == 0xFF && b[2] < 0x10)
		return false; /* documentation (RFC 9637) */
	return (b[0] & 0xE0) == 0x20; /* 2000::/3 is all there is */
}

bool http_address_is_public(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return public4(ntohl(((const struct sockaddr_in *)(const void *)address)
		                             ->sin_addr.s_addr));
	if (address->sa_family == AF_INET6)
		return public6(((const struct sockaddr_in6 *)(const void *)address)
		                       ->sin6_addr.s6_addr);
	return false;
}

bool http_host_is_private(const char *host)
{
	struct in6_addr six;
	struct in_addr four;
	char text[INET6_ADDRSTRLEN];
	size_t len = strlen(host);
	struct span name;

	/* inet_aton takes every form that connect would: "127.1", "0x7f000001", "2130706433". */
	if (inet_aton(host, &four))
		return !public4(ntohl(four.s_addr));
	if (host[0] == '[' && len - 2 < sizeof(text)) {
		memcpy(text, host + 1, len - 2);
		text[len - 2] = '\0';
		text[strcspn(text, "%")] = '\0';
		return inet_pton(AF_INET6, text, &six) != 1 || !public6(six.s6_addr);
	}
	name = span_str(host);
	if (span_ends(name, SPAN(".")))
		name.len--;
	return (name.len == 9 && strncasecmp(name.data, "localhost", 9) == 0) ||
	       (name.len > 10 && strncasecmp(name.data + name.len - 10, ".localhost", 10) == 0);
}

/* ---- proxies ---- */

static const char *proxy_variable(const char *lower, const char *upper)
{
	const char *value = getenv(lower);

	if (!value && upper)
		value = getenv(upper);
	return value && value[0] ? value : NULL;
}

/* NO_PROXY: names, each of which stands for its subdomains too, or an asterisk for everything. */
static bool needs_no_proxy(const char *host)
{
	const char *list = proxy_variable("no_proxy", "NO_PROXY");
	size_t host_len = strlen(host);

	while (list && *list) {
		size_t len = strcspn(list, ", ");
		const char *name = list;

		list += len + (list[len] != '\0');
		if (len == 1 && name[0] == '*')
			return true;
		for (; len && name[0] == '.'; len--)
			name++;
		if (len && len <= host_len && strncasecmp(host + host_len - len, name, len) == 0 &&
		    (len == host_len || host[host_len - len - 1] == '.'))
			return true;
	}
	return false;
}

const char *http_proxy_of_environment(const struct url_parts *url)
{
	/* HTTP_PROXY in capitals is not read: a server's CGI sets it from a header ("httpoxy"). */
	const char *proxy = strcasecmp(url->scheme, "https") == 0 ?
	                            proxy_variable("https_proxy", "HTTPS_PROXY") :
	                            proxy_variable("http_proxy", NULL);

	if (!proxy)
		proxy = proxy_variable("all_proxy", "ALL_PROXY");
	return proxy && !needs_no_proxy(url->host) ? proxy : NULL;
}
