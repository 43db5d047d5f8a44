/* SPDX-License-Identifier: Apache-2.0 */
/* The handshake of a WebSocket: what is asked, and whether the answer is one to it. */
/* The low-level functions, for the reason that sha256.c has. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "net/http/client_private.h"

bool upgrade_key_new(struct upgrade_key *ret, struct err *err)
{
	unsigned char bytes[16];

	if (!random_fill(bytes, sizeof(bytes), err))
		return false;
	EVP_EncodeBlock((unsigned char *)ret->text, bytes, sizeof(bytes));
	return true;
}

/* ---- the request ---- */

/* Whether a line is a field of the handshake's own, or says that there is a body. */
static bool is_reserved(const char *line)
{
	static const char *const names[] = { "Connection", "Content-Length", "Host",
		                             "Transfer-Encoding", "Upgrade" };
	const size_t len = strcspn(line, ":");

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strlen(names[i]) == len && !strncasecmp(line, names[i], len))
			return true;
	return !strncasecmp(line, "Sec-WebSocket-", strlen("Sec-WebSocket-"));
}

static bool has_authorization(const char *const *headers)
{
	for (; headers && *headers; headers++)
		if (!strncasecmp(*headers, "Authorization:", strlen("Authorization:")))
			return true;
	return false;
}

/* Basic, of a user who stands in the URL. */
static void put_user(struct buf *out, const char *user, const char *password)
{
	_cleanup_free_ char *pair = mem_printf("%s:%s", user, password ? password : "");
	const size_t len = strlen(pair);
	_cleanup_free_ char *text = mem_alloc(len / 3 + 2, 4);

	EVP_EncodeBlock((unsigned char *)text, (const unsigned char *)pair, (int)len);
	buf_printf(out, "Authorization: Basic %s\r\n", text);
}

/* The pieces of a URL that a request has. */
struct upgrade_target {
	char *host, *port, *path, *query, *user, *password; /* libcurl's; or NULL */
};

static bool target_parse(const struct http_curl_library *curl, const char *url,
                         struct upgrade_target *ret)
{
	CURLU *handle = curl->url();
	bool ok = handle && curl->url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK &&
	          curl->url_get(handle, CURLUPART_HOST, &ret->host, 0) == CURLUE_OK &&
	          curl->url_get(handle, CURLUPART_PATH, &ret->path, 0) == CURLUE_OK;

	if (ok) {
		curl->url_get(handle, CURLUPART_PORT, &ret->port, 0);
		curl->url_get(handle, CURLUPART_QUERY, &ret->query, 0);
		curl->url_get(handle, CURLUPART_USER, &ret->user, CURLU_URLDECODE);
		curl->url_get(handle, CURLUPART_PASSWORD, &ret->password, CURLU_URLDECODE);
	}
	curl->url_cleanup(handle);
	return ok;
}

static void target_release(const struct http_curl_library *curl, struct upgrade_target *target)
{
	curl->free(target->host);
	curl->free(target->port);
	curl->free(target->path);
	curl->free(target->query);
	curl->free(target->user);
	curl->free(target->password);
}

bool upgrade_request(const struct http_curl_library *curl, const char *url,
                     const char *const *headers, const char *protocol,
                     const struct upgrade_key *key, struct buf *out, struct err *err)
{
	struct upgrade_target target = { 0 };
	bool ok = target_parse(curl, url, &target);

	if (ok) {
		buf_printf(out, "GET %s%s%s HTTP/1.1\r\nHost: %s%s%s\r\n", target.path,
		           target.query ? "?" : "", target.query ? target.query : "", target.host,
		           target.port ? ":" : "", target.port ? target.port : "");
		buf_printf(out, "Upgrade: websocket\r\nConnection: Upgrade\r\n"
		           "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n"
		           "Sec-WebSocket-Protocol: %s\r\n", key->text, protocol);
		if (target.user && !has_authorization(headers))
			put_user(out, target.user, target.password);
		for (; headers && *headers; headers++)
			if (!is_reserved(*headers))
				buf_printf(out, "%s\r\n", *headers);
		buf_str(out, "\r\n");
	}
	target_release(curl, &target);
	return (ok && !out->overflowed) ||
	       err_set(err, ERR_INVALID_ARGUMENT,
	               "The URL is not an absolute ws or wss URL, or the request is too long.");
}

/* ---- the answer ---- */

/* What Sec-WebSocket-Accept must be. */
static void accept_of(const struct upgrade_key *key, char ret[static 29])
{
	static const char magic[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	unsigned char sum[SHA_DIGEST_LENGTH];
	SHA_CTX stream;

	SHA1_Init(&stream);
	SHA1_Update(&stream, key->text, strlen(key->text));
	SHA1_Update(&stream, magic, strlen(magic));
	SHA1_Final(sum, &stream);
	EVP_EncodeBlock((unsigned char *)ret, sum, sizeof(sum));
}

static bool is_word(struct span text, const char *word)
{
	return text.len == strlen(word) && !strncasecmp(text.data, word, text.len);
}

/* Whether a list with commas has it. */
static bool lists_word(struct span list, const char *word)
{
	while (list.len) {
		const char *comma = memchr(list.data, ',', list.len);
		const size_t len = comma ? (size_t)(comma - list.data) : list.len;

		if (is_word(span_trim(span_head(list, len)), word))
			return true;
		list = span_skip(list, comma ? len + 1 : len);
	}
	return false;
}

/* "HTTP/1.1 101 ...": 101; 0: it is none. */
static int status_of(struct span line)
{
	int status = 0;

	if (!span_starts(line, SPAN("HTTP/1.")) || line.len < 12 || line.data[8] != ' ')
		return 0;
	for (size_t i = 9; i < 12; i++) {
		if (line.data[i] < '0' || line.data[i] > '9')
			return 0;
		status = status * 10 + (line.data[i] - '0');
	}
	return line.len == 12 || strchr(" \r\n", line.data[12]) ? status : 0;
}

/* Whether there is more than one: then who stands between may have seen another answer. */
static bool stands_twice(struct span fields, const char *name)
{
	const size_t len = strlen(name);
	size_t count = 0;

	while (fields.len) {
		const char *end = memchr(fields.data, '\n', fields.len);
		const size_t line = end ? (size_t)(end - fields.data) + 1 : fields.len;

		count += line > len && fields.data[len] == ':' && !memcmp(fields.data, name, len);
		fields = span_skip(fields, line);
	}
	return count > 1;
}

/* What of the fields is wrong; NULL: nothing. */
static const char *fields_wrong(struct span fields, const struct upgrade_key *key,
                                const char *protocol)
{
	const struct span chosen = http_field(fields, "sec-websocket-protocol");
	char accept[29];

	accept_of(key, accept);
	if (!lists_word(http_field(fields, "upgrade"), "websocket") ||
	    !lists_word(http_field(fields, "connection"), "upgrade"))
		return "does not say that it is a WebSocket's";
	if (!span_eq(http_field(fields, "sec-websocket-accept"), span_str(accept)))
		return "is not to this handshake (Sec-WebSocket-Accept)";
	/* RFC 6455, sections 11.3.3 and 11.3.4. */
	if (stands_twice(fields, "sec-websocket-accept") ||
	    stands_twice(fields, "sec-websocket-protocol"))
		return "has a field of the handshake twice";
	if (http_field(fields, "sec-websocket-extensions").len)
		return "requires an extension that was not offered";
	if (chosen.len && !is_word(chosen, protocol))
		return "requires a subprotocol that was not offered";
	return NULL;
}

bool upgrade_fields(struct span head, struct buf *fields)
{
	while (head.len) {
		const char *end = memchr(head.data, '\n', head.len);
		const size_t len = end ? (size_t)(end - head.data) + 1 : head.len;

		http_add_field(fields, span_head(head, len));
		head = span_skip(head, len);
	}
	return !fields->overflowed;
}

bool upgrade_accepted(struct span head, const struct upgrade_key *key, const char *protocol,
                      int *ret_status, struct err *err)
{
	_cleanup_buf_ struct buf fields = BUF_INIT(LIMIT_HTTP_HEAD_BYTES);
	const char *wrong;
	bool fits;

	*ret_status = status_of(head);
	if (!*ret_status)
		return err_set(err, ERR_NETWORK_ERROR, "its answer is not HTTP/1.1");
	if (*ret_status != 101)
		return err_set(err, ERR_NETWORK_ERROR,
		               "it answered with HTTP status %d, and with no WebSocket",
		               *ret_status);
	fits = upgrade_fields(head, &fields);
	wrong = fields_wrong(buf_view(&fields), key, protocol);
	return (!wrong && fits) ||
	       err_set(err, ERR_NETWORK_ERROR, "its answer %s", wrong ? wrong : "is too long");
}
