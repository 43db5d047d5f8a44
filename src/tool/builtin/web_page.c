/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/builtin/web_page.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "file/document.h"
#include "tool/builtin/html_text.h"
#include "tool/builtin/untrusted.h"

enum { TYPE_MAX = 200, TITLE_MAX = 300 };

/* An answer while it comes. */
struct answer {
	int status;
	char type[TYPE_MAX]; /* content-type; "" without */
	struct buf body;
};

static bool on_head(void *data, int status, struct span headers)
{
	struct answer *answer = data;
	struct span type = span_head(http_field(headers, "content-type"), TYPE_MAX - 1);

	answer->status = status;
	if (type.len)
		memcpy(answer->type, type.data, type.len);
	answer->type[type.len] = '\0';
	return true;
}

static bool on_body(void *data, struct span bytes)
{
	struct answer *answer = data;

	return buf_span(&answer->body, bytes);
}

static bool fetch(struct tool_services *services, const char *url, struct answer *answer,
                  struct err *err)
{
	static const char *const headers[] = {
		"User-Agent: hasp/" HASP_VERSION,
		"Accept: text/html, text/markdown, text/plain;q=0.9, */*;q=0.5", NULL
	};
	const struct http_request request = {
		.url = url,
		.headers = headers,
		.connect_ms = WEB_PAGE_MS,
		.idle_ms = WEB_PAGE_MS,
		.total_ms = WEB_PAGE_MS,
		.max_bytes = WEB_PAGE_BYTES,
		.max_redirects = WEB_PAGE_REDIRECTS,
		.public_only = true,
		.cancel = services->cancel,
	};
	const struct http_events events = { .head = on_head, .body = on_body };
	struct http_client *client;
	bool ok;

	if (services->send)
		return services->send(services->data, &request, &events, answer, err);
	client = http_client_new();
	ok = http_client_send(client, &request, &events, answer, err);
	http_client_free(client);
	return ok;
}

/* ---- what it is ------------------------------------------------------------------------ */

/* The type alone: "text/html". */
static struct span media_type(const struct answer *answer)
{
	return span_trim(span_of(answer->type, strcspn(answer->type, ";")));
}

static bool contains(struct span text, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= text.len; i++)
		if (strncasecmp(text.data + i, word, len) == 0)
			return true;
	return false;
}

static bool may_be_text(struct span type)
{
	static const char *const kinds[] = { "text/",  "json", "xml",  "html",
		                             "script", "yaml", "toml", "sql" };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (contains(type, kinds[i]))
			return true;
	return type.len == 0; /* nobody says: the bytes decide */
}

static bool is_html(const struct answer *answer, struct span text)
{
	struct span type = media_type(answer);

	if (type.len)
		return contains(type, "html");
	return contains(span_head(span_trim(text), 512), "<html") ||
	       contains(span_head(span_trim(text), 512), "<!doctype html");
}

/* charset=... of the type, for the caller; NULL: it has none. */
static char *charset_of(const struct answer *answer)
{
	const char *at = strcasestr(answer->type, "charset=");
	size_t len;

	if (!at)
		return NULL;
	at += strlen("charset=");
	at += *at == '"';
	len = strcspn(at, "\"; ");
	return len ? mem_dup(at, len) : NULL;
}

/* As UTF-8; what the server says about it may be wrong. */
static bool decode(const struct answer *answer, struct document *ret, struct err *err)
{
	_cleanup_free_ char *charset = charset_of(answer);
	struct span raw = buf_view(&answer->body);
	struct err ignored = ERR_INIT;

	if (charset && document_open(raw, charset, ret, &ignored))
		return true;
	return document_open(raw, NULL, ret, err);
}

/* ---- as text --------------------------------------------------------------------------- */

/* The first so many characters. */
static struct span head_characters(struct span text, size_t most, size_t *ret_count)
{
	struct span rest = text;
	struct utf8_char ignored;
	size_t count = 0;

	while (count < most && utf8_next(&rest, &ignored))
		count++;
	*ret_count = count;
	return span_head(text, text.len - rest.len);
}

static void put_title(json_t *page, const struct buf *title)
{
	_cleanup_buf_ struct buf line = BUF_INIT(TITLE_MAX * 4);
	struct span text = span_trim(buf_view(title));

	for (size_t i = 0; i < text.len; i++) {
		char c = (unsigned char)text.data[i] < ' ' ? ' ' : text.data[i];

		if (c != ' ' || (line.len && line.data[line.len - 1] != ' '))
			buf_char(&line, c);
	}
	if (line.len)
		json_object_set_new(page, "title", json_text(utf8_head(buf_view(&line), TITLE_MAX)));
}

static void put_content(json_t *page, struct span text, bool cut, size_t *characters)
{
	size_t used;
	struct span head = head_characters(span_trim(text), *characters, &used);

	*characters -= used;
	json_object_set_new(page, "content", untrusted_json(head));
	if (cut || head.len < span_trim(text).len)
		json_object_set_new(page, "truncated", json_true());
}

static bool put_text(json_t *page, const struct answer *answer, struct span text,
                     size_t *characters, struct err *err)
{
	struct html_text read = { .text = BUF_INIT(4 * *characters + 16),
		                  .title = BUF_INIT(4 * TITLE_MAX) };
	bool ok = true;

	if (!is_html(answer, text)) {
		put_content(page, text, false, characters);
	} else if ((ok = html_text(text, &read, err))) {
		put_title(page, &read.title);
		put_content(page, buf_view(&read.text), read.cut, characters);
	}
	buf_release(&read.text);
	buf_release(&read.title);
	return ok;
}

static bool judge(const struct answer *answer, const char *url, struct err *err)
{
	struct span type = media_type(answer);

	if (answer->status < 200 || answer->status > 299)
		return err_set(err, ERR_NETWORK_ERROR, "%.300s: the server answers with status %d.",
		               url, answer->status);
	if (!may_be_text(type))
		return err_set(err, ERR_NOT_TEXT, "%.300s is %.*s and not text.", url,
		               (int)utf8_head(type, 100).len, type.data);
	return true;
}

static json_t *page_of(const struct answer *answer, const char *url, size_t *characters,
                       struct err *err)
{
	struct span type = media_type(answer);
	struct document document;
	json_t *page;
	bool ok;

	if (!judge(answer, url, err) || !decode(answer, &document, err))
		return NULL;
	page = json_object();
	json_object_set_new(page, "url", json_text(span_str(url)));
	if (type.len)
		json_object_set_new(page, "content_type", json_text(type));
	ok = put_text(page, answer, document.lines.text, characters, err);
	document_release(&document);
	if (ok)
		return page;
	json_decref(page);
	return NULL;
}

json_t *web_page(struct tool_services *services, const char *url, size_t *characters,
                 struct err *err)
{
	struct answer answer = { .body = BUF_INIT(WEB_PAGE_BYTES + 1) };
	json_t *page = NULL;

	if (fetch(services, url, &answer, err))
		page = page_of(&answer, url, characters, err);
	buf_release(&answer.body);
	return page;
}
