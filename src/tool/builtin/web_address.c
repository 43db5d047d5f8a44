/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of the web: checked, and found in a prompt. */
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "file/document.h"
#include "tool/builtin/web.h"
#include "tool/services.h"

/* ---- addresses --------------------------------------------------------------- */

static size_t scheme_len(struct span text)
{
	static const char *const schemes[] = { "https://", "http://" };

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		size_t len = strlen(schemes[i]);

		if (text.len > len && strncasecmp(text.data, schemes[i], len) == 0)
			return len;
	}
	return 0;
}

/* The part of an address up to its path. */
static size_t authority_end(struct span url)
{
	size_t at = scheme_len(url);

	while (at < url.len && !strchr("/?#\\", url.data[at]))
		at++;
	return at;
}

/* https://github.com/OWNER/NAME/blob/REF/PATH shows a file; this is the file itself. */
static char *raw_on_github(struct span url)
{
	static const char shows[] = "https://github.com/";
	struct span rest, blob = SPAN("/blob/");
	const char *at;

	if (!span_starts(url, SPAN(shows)))
		return NULL;
	rest = span_skip(url, strlen(shows));
	at = memmem(rest.data, rest.len, blob.data, blob.len);
	if (!at || memchr(rest.data, '?', (size_t)(at - rest.data)))
		return NULL;
	/* OWNER/NAME comes before, and nothing else. */
	if (!memchr(rest.data, '/', (size_t)(at - rest.data)) ||
	    memchr(rest.data, '/', (size_t)(at - rest.data)) !=
	            memrchr(rest.data, '/', (size_t)(at - rest.data)))
		return NULL;
	return mem_printf("https://raw.githubusercontent.com/%.*s/%.*s", (int)(at - rest.data),
	                  rest.data, (int)(rest.len - (size_t)(at - rest.data) - blob.len),
	                  at + blob.len);
}

/* Up to what cannot be part of an address, and without the fragment. */
static struct span address_part(struct span text)
{
	size_t len = 0;

	while (len < text.len && (unsigned char)text.data[len] > ' ' && text.data[len] != 0x7f &&
	       text.data[len] != '#')
		len++;
	return span_head(text, len);
}

static char *address_in_text(struct span text, struct err *err)
{
	size_t end = authority_end(text);
	char *raw;

	if (!scheme_len(text) || end == scheme_len(text)) {
		err_set(err, ERR_INVALID_ARGUMENT, "\"%.*s\" is not an http or https address.",
		        (int)utf8_head(text, 200).len, text.data ? text.data : "");
		return NULL;
	}
	if (memchr(text.data, '@', end)) {
		err_set(err, ERR_INVALID_ARGUMENT,
		        "An address with a name or password is not fetched.");
		return NULL;
	}
	if (text.len > WEB_URL_BYTES_MAX) {
		err_set(err, ERR_INVALID_ARGUMENT, "An address is longer than %d bytes.",
		        WEB_URL_BYTES_MAX);
		return NULL;
	}
	raw = raw_on_github(text);
	return raw ? raw : mem_dup(text.data, text.len);
}

char *web_url(struct span text, struct err *err)
{
	char *url = address_in_text(address_part(span_trim(text)), err);
	_cleanup_free_ char *host = url ? web_host(url) : NULL;

	if (!url || *host)
		return url;
	err_set(err, ERR_INVALID_ARGUMENT, "\"%.200s\" names no host.", url);
	free(url);
	return NULL;
}

char *web_host(const char *url)
{
	struct span text = span_str(url);
	size_t begin = scheme_len(text), end = authority_end(text);
	struct span host = span_of(url + begin, end - begin);
	const char *bracket = memrchr(host.data, ']', host.len);
	const char *colon = memrchr(host.data, ':', host.len);
	char *copy;

	if (colon && (!bracket || colon > bracket))
		host.len = (size_t)(colon - host.data);
	copy = mem_dup(host.data, host.len);
	for (char *c = copy; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return copy;
}

/* ---- in a text ------------------------------------------------------------------------- */

/* What follows an address in prose is not part of it: "(see https://a.org/b)." */
static size_t address_len(struct span text)
{
	size_t len = 0, opened = 0, closed = 0;

	while (len < text.len && (unsigned char)text.data[len] > ' ' &&
	       !strchr("<>\"`|{}^", text.data[len]))
		len++;
	for (size_t i = 0; i < len; i++) {
		opened += text.data[i] == '(';
		closed += text.data[i] == ')';
	}
	while (len) {
		char last = text.data[len - 1];

		if (last == ')' && closed > opened)
			closed--;
		else if (!strchr(".,;:!?'*]", last))
			break;
		len--;
	}
	return len;
}

static bool url_is_listed(const json_t *urls, const char *url)
{
	for (size_t i = 0; i < json_array_size(urls); i++)
		if (strcmp(json_string_value(json_array_get(urls, i)), url) == 0)
			return true;
	return false;
}

static bool add_web_url(json_t *urls, struct span found, struct buf *out, struct err *err)
{
	_cleanup_free_ char *url = web_url(found, err);

	if (!url)
		return false;
	buf_str(out, url);
	if (url_is_listed(urls, url))
		return true;
	if (json_array_size(urls) == WEB_URLS_MAX)
		return err_set(err, ERR_INVALID_ARGUMENT, "There are more than %d addresses.",
		               WEB_URLS_MAX);
	json_array_append_new(urls, json_text(span_str(url)));
	return true;
}

json_t *web_urls(struct span prompt, struct buf *out, struct err *err)
{
	json_t *urls = json_array();
	bool ok = true;

	while (prompt.len && ok) {
		if (scheme_len(prompt)) {
			size_t len = address_len(prompt);

			ok = add_web_url(urls, span_head(prompt, len), out, err);
			prompt = span_skip(prompt, len ? len : 1);
		} else {
			buf_char(out, prompt.data[0]);
			prompt = span_skip(prompt, 1);
		}
	}
	if (ok && json_array_size(urls))
		return urls;
	if (ok)
		err_set(err, ERR_INVALID_ARGUMENT,
		        "The prompt has no address that begins with http:// or https://.");
	json_decref(urls);
	return NULL;
}
