/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to addresses that strangers named, forms and challenges. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/auth/private.h"
#include "net/http/client.h"

enum { OVER_STEP_MS = 100 };

const char *auth_setting(const struct mcp_auth *auth, const char *name)
{
	const json_t *value = json_object_get(auth->settings, name);

	return json_string_length(value) ? json_string_value(value) : NULL;
}

/* ---- addresses ---- */

struct span auth_origin(const char *url)
{
	const size_t scheme = !strncasecmp(url, "https://", 8) ? 8 :
	                      !strncasecmp(url, "http://", 7)  ? 7 : 0;

	return span_of(url, scheme ? scheme + strcspn(url + scheme, "/?#") : 0);
}

/* Without user, brackets and port. */
static struct span address_host(const char *url)
{
	struct span origin = auth_origin(url), host;
	const char *colon;

	if (!origin.len)
		return origin;
	host = span_skip(origin, url[4] == ':' ? 7 : 8);
	if (host.len && host.data[0] == '[') {
		colon = memchr(host.data, ']', host.len);
		return colon ? span_of(host.data, (size_t)(colon + 1 - host.data)) : SPAN("");
	}
	colon = memchr(host.data, ':', host.len);
	return colon ? span_head(host, (size_t)(colon - host.data)) : host;
}

static bool is_loopback_host(struct span host)
{
	return span_eq(host, SPAN("localhost")) || span_eq(host, SPAN("127.0.0.1")) ||
	       span_eq(host, SPAN("[::1]"));
}

/* Whether the user named this host: the server's own, or one of the settings. */
static bool is_named_host(const struct mcp_auth *auth, struct span host)
{
	static const char *const members[] = { "issuer", "authorizationUrl", "tokenUrl",
		                               "registrationUrl" };

	if (span_eq(address_host(auth->url), host))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const char *own = auth_setting(auth, members[i]);

		if (own && span_eq(address_host(own), host))
			return true;
	}
	return is_loopback_host(host) && is_loopback_host(address_host(auth->url));
}

bool auth_address_allowed(const struct mcp_auth *auth, const char *url, struct err *err)
{
	const struct span host = address_host(url), origin = auth_origin(url);
	bool ok = host.len && strlen(url) <= AUTH_URL_BYTES &&
	          !memchr(origin.data, '@', origin.len);

	for (const char *c = url; ok && *c; c++)
		ok = (unsigned char)*c > 0x20 && (unsigned char)*c < 0x7f && *c != '\\';
	/* Plain http only on this machine. */
	if (ok && !strncasecmp(url, "http://", 7))
		ok = is_loopback_host(host) && is_named_host(auth, host);
	return ok || err_set(err, ERR_DENIED_BY_POLICY,
	                     "The login of the %s names an address that is neither "
	                     "https nor this machine's own.", auth->called);
}

bool auth_token_is_sendable(const json_t *token)
{
	const struct span text = json_span(token);

	for (size_t i = 0; i < text.len; i++)
		if (!ascii_is_alnum(text.data[i]) &&
		    (!text.data[i] || !strchr("-._~+/=", text.data[i])))
			return false;
	return text.len > 0;
}

/* ---- one request ---- */

bool auth_wait_is_over(const struct auth_wait *wait)
{
	for (size_t i = 0; wait && i < ARRAY_LEN(wait->cancels); i++)
		if (cancelled(wait->cancels[i]))
			return true;
	return wait && wait->until_ms && clock_monotonic_ms() >= wait->until_ms;
}

struct auth_answer {
	struct buf body;
	int status;
	const char *says; /* of the order */
	bool said;
	const struct auth_wait *wait;
};

static bool on_answer_head(void *data, int status, struct span headers)
{
	struct auth_answer *answer = data;

	answer->status = status;
	answer->said = !answer->says || http_field(headers, answer->says).len;
	return true;
}

static bool on_answer_body(void *data, struct span bytes)
{
	return buf_span(&((struct auth_answer *)data)->body, bytes);
}

static unsigned on_answer_waiting(void *data, struct err *err)
{
	const struct auth_wait *wait = ((struct auth_answer *)data)->wait;

	if (!auth_wait_is_over(wait))
		return OVER_STEP_MS;
	err_set(err, ERR_CANCELLED, "The login was cancelled.");
	return 0;
}

/* Of the user's own files: https, and what is on this machine. */
static bool own_address_allowed(const struct auth_order *order, struct err *err)
{
	const bool secure = !strncasecmp(order->url, "https://", 8);
	bool ok = address_host(order->url).len &&
	          (secure || order->any_scheme || is_loopback_host(address_host(order->url)));

	for (const char *c = order->url; ok && *c; c++)
		ok = (unsigned char)*c > 0x20 && (unsigned char)*c < 0x7f && *c != '\\';
	return ok || err_set(err, ERR_DENIED_BY_POLICY,
	                     "An address of the credentials is neither https nor this machine's "
	                     "own.");
}

/* The caller frees the list. */
static const char **order_headers(const struct auth_order *order, const char *content)
{
	size_t count = 0, n = 0;
	const char **headers;

	while (order->fields && order->fields[count])
		count++;
	headers = mem_alloc(count + 4, sizeof(*headers));
	headers[n++] = "Accept: application/json";
	if (content)
		headers[n++] = content;
	if (order->field)
		headers[n++] = order->field;
	for (size_t i = 0; i < count; i++)
		headers[n++] = order->fields[i];
	return headers;
}

bool auth_order_send(const struct mcp_auth *auth, const struct auth_order *order, int *ret_status,
                     json_t **ret, struct err *err)
{
	static const struct http_events events = { .head = on_answer_head, .body = on_answer_body,
		                                   .waiting = on_answer_waiting };
	struct auth_answer answer = { .body = BUF_INIT(AUTH_DOCUMENT_BYTES), .says = order->says,
		                      .wait = order->wait };
	_cleanup_free_ char *content =
		order->type ? mem_printf("Content-Type: %s", order->type) : NULL;
	_cleanup_free_ const char **headers = order_headers(order, content);
	const unsigned ms = order->ms ? (unsigned)order->ms : AUTH_REQUEST_MS;
	const struct http_client_request request = {
		.method = order->type ? "POST" : "GET", .url = order->url, .headers = headers,
		.body = order->body, .connect_ms = ms, .total_ms = ms,
		.max_bytes = AUTH_DOCUMENT_BYTES,
		.public_only = !order->own && !is_named_host(auth, address_host(order->url)),
		.proxy_resolves = true,
	};
	struct http_client *client;
	struct err ignored = ERR_INIT;
	bool ok;

	*ret = NULL;
	if (order->own ? !own_address_allowed(order, err) :
	                 !auth_address_allowed(auth, order->url, err))
		return false;
	client = http_client_new();
	ok = http_client_send(client, &request, &events, &answer, err);
	http_client_free(client);
	*ret_status = answer.status;
	if (ok && !answer.said)
		ok = err_set(err, ERR_NETWORK_ERROR, "Another program has answered.");
	if (ok && order->text)
		buf_span(order->text, buf_view(&answer.body));
	else if (ok && json_parse_foreign(buf_view(&answer.body), 32, ret, NULL, &ignored) &&
	         !json_is_object(*ret)) {
		json_decref(*ret);
		*ret = NULL;
	}
	buf_release(&answer.body);
	return ok;
}

bool auth_request(const struct mcp_auth *auth, const char *url, const char *type, struct span body,
                  const char *field, const struct auth_wait *wait, int *ret_status, json_t **ret,
                  struct err *err)
{
	const struct auth_order order = { .url = url, .type = type, .body = body, .field = field,
		                          .wait = wait };

	return auth_order_send(auth, &order, ret_status, ret, err);
}

/* ---- forms ---- */

static void form_encode(struct buf *form, const char *text)
{
	for (const char *c = text; *c; c++)
		buf_printf(form, ascii_is_alnum(*c) || strchr("-._~", *c) ? "%c" : "%%%02X",
		           (unsigned char)*c);
}

void auth_form_add(struct buf *form, const char *name, const char *value)
{
	if (!value)
		return;
	if (form->len)
		buf_char(form, '&');
	form_encode(form, name);
	buf_char(form, '=');
	form_encode(form, value);
}

static char *form_decode(struct span text)
{
	char *out = mem_alloc(text.len + 1, 1);
	size_t n = 0;

	for (size_t i = 0; i < text.len; i++) {
		const bool escape = text.data[i] == '%' && i + 2 < text.len &&
		                    ascii_hex(text.data[i + 1]) >= 0 &&
		                    ascii_hex(text.data[i + 2]) >= 0;

		if (escape) {
			out[n++] = (char)(ascii_hex(text.data[i + 1]) * 16 +
			                  ascii_hex(text.data[i + 2]));
			i += 2;
		} else {
			out[n++] = text.data[i] == '+' ? ' ' : text.data[i];
		}
	}
	return out;
}

char *auth_form_get(struct span form, const char *name)
{
	const size_t len = strlen(name);

	while (form.len) {
		const char *end = memchr(form.data, '&', form.len);
		const struct span pair = end ? span_head(form, (size_t)(end - form.data)) : form;

		if (pair.len > len && !memcmp(pair.data, name, len) && pair.data[len] == '=')
			return form_decode(span_skip(pair, len + 1));
		form = span_skip(form, pair.len + (end ? 1 : 0));
	}
	return NULL;
}

char *auth_texts_joined(const json_t *list)
{
	_cleanup_buf_ struct buf out = BUF_INIT(AUTH_URL_BYTES);
	size_t i;
	json_t *text;

	json_array_foreach(list, i, text) {
		if (out.len)
			buf_char(&out, ' ');
		buf_span(&out, json_span(text));
	}
	return out.len ? buf_steal(&out) : NULL;
}

/* ---- challenges (RFC 9110, section 11.6.1) ---- */

/* One parameter at the beginning of `rest`, which moves behind it. */
static char *challenge_value(struct span *rest)
{
	_cleanup_buf_ struct buf value = BUF_INIT(AUTH_URL_BYTES);
	const bool quoted = rest->len && rest->data[0] == '"';
	size_t i = quoted;

	for (; i < rest->len && (quoted ? rest->data[i] != '"' : !strchr(", \t", rest->data[i]));
	     i++) {
		if (quoted && rest->data[i] == '\\' && i + 1 < rest->len)
			i++;
		buf_char(&value, rest->data[i]);
	}
	*rest = span_skip(*rest, i + (quoted && i < rest->len));
	return buf_steal(&value);
}

char *auth_challenge_get(struct span rest, const char *name)
{
	while (rest.len) {
		struct span word;
		size_t len = 0;

		rest = span_trim(rest);
		while (len < rest.len && !strchr("=, \t\"", rest.data[len]))
			len++;
		word = span_head(rest, len);
		rest = span_skip(rest, len);
		if (rest.len && rest.data[0] == '=') {
			char *value;

			rest = span_skip(rest, 1);
			value = challenge_value(&rest);
			if (word.len == strlen(name) && !strncasecmp(word.data, name, word.len))
				return value;
			free(value);
		} else if (rest.len) {
			rest = span_skip(rest, 1);
		}
	}
	return NULL;
}
