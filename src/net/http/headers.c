/* SPDX-License-Identifier: Apache-2.0 */
/* What fields of a head say. */
#include "net/http/headers.h"

#include <strings.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "base/span.h"

/* ---- media types ---- */

/* Takes what is before the next `separator` off the front of *rest, without blanks around. */
static struct span next_part(struct span *rest, char separator)
{
	const char *end = rest->len ? memchr(rest->data, separator, rest->len) : NULL;
	size_t len = end ? (size_t)(end - rest->data) : rest->len;
	struct span part = span_trim(span_head(*rest, len));

	*rest = span_skip(*rest, end ? len + 1 : len);
	return part;
}

/* Both are words that HTTP compares without case. */
static bool is_same_token(struct span a, struct span b)
{
	return a.len == b.len && (a.len == 0 || strncasecmp(a.data, b.data, a.len) == 0);
}

bool http_content_type_is(const char *content_type, const char *type)
{
	struct span rest = span_str(content_type);

	return is_same_token(next_part(&rest, ';'), span_str(type));
}

/* How well a media range fits: 0 not at all, 3 by its full name. */
static int fit(struct span range, struct span type)
{
	const char *slash = memchr(type.data, '/', type.len);
	size_t major = slash ? (size_t)(slash - type.data) + 1 : type.len;

	if (is_same_token(range, type))
		return 3;
	if (is_same_token(range, SPAN("*/*")))
		return 1;
	return range.len == major + 1 && range.data[major] == '*' &&
	       is_same_token(span_head(range, major), span_head(type, major)) ? 2 : 0;
}

/* A weight is "0", "1", or those with up to three decimals: all digits 0 mean never. */
static bool weight_is_zero(struct span parameters)
{
	while (parameters.len) {
		struct span parameter = next_part(&parameters, ';');
		struct span name = next_part(&parameter, '=');

		if (!is_same_token(name, SPAN("q")) || parameter.len == 0)
			continue;
		for (size_t i = 0; i < parameter.len; i++)
			if (!strchr("0. \t", parameter.data[i]))
				return false;
		return true;
	}
	return false;
}

bool http_accepts(const char *accept, const char *type)
{
	struct span rest = span_str(accept);
	bool accepted = span_trim(rest).len == 0;
	int best = 0;

	while (rest.len) {
		struct span parameters = next_part(&rest, ',');
		struct span range = next_part(&parameters, ';');
		int here = fit(range, span_str(type));

		if (here > best) {
			best = here;
			accepted = !weight_is_zero(parameters);
		}
	}
	return accepted;
}

/* ---- who may talk to a server on loopback ---- */

/* Takes ":port" off the end of a host; false when what follows the colon is no port. */
static bool split_port(struct span *host, bool *ret_has_port, uint32_t *ret_port)
{
	const char *bracket = memrchr(host->data, ']', host->len);
	const char *colon = memrchr(host->data, ':', host->len);
	struct span digits;

	*ret_has_port = colon && (!bracket || colon > bracket);
	*ret_port = 0;
	if (!*ret_has_port)
		return true;
	digits = span_skip(*host, (size_t)(colon - host->data) + 1);
	host->len = (size_t)(colon - host->data);
	if (digits.len == 0 || digits.len > 5)
		return false;
	for (size_t i = 0; i < digits.len; i++) {
		if (digits.data[i] < '0' || digits.data[i] > '9')
			return false;
		*ret_port = *ret_port * 10 + (uint32_t)(digits.data[i] - '0');
	}
	return true;
}

static bool is_loopback_name(struct span name)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (is_same_token(name, span_str(names[i])))
			return true;
	return false;
}

static bool is_served_name(const struct http_guard *guard, struct span name)
{
	for (size_t i = 0; i < guard->name_count; i++)
		if (is_same_token(span_str(guard->names[i]), name))
			return true;
	return is_loopback_name(name);
}

static bool host_is_allowed(const struct http_guard *guard, struct span host)
{
	struct span name = host;
	bool has_port;
	uint32_t port;

	if (host.len == 0 || !split_port(&name, &has_port, &port))
		return false;
	if (!guard->listed_only && is_served_name(guard, name) &&
	    (!has_port || !guard->port || port == guard->port))
		return true;
	/* An entry without a port stands for every port. */
	for (size_t i = 0; i < guard->host_count; i++) {
		struct span entry = span_str(guard->hosts[i]);

		if (is_same_token(entry, host) || is_same_token(entry, name))
			return true;
	}
	return false;
}

bool http_guard_host(const struct http_guard *guard, const char *host)
{
	return host && host_is_allowed(guard, span_trim(span_str(host)));
}

bool http_guard_origin_is_listed(const struct http_guard *guard, const char *origin)
{
	for (size_t i = 0; i < guard->origin_count; i++)
		if (is_same_token(span_str(guard->origins[i]), span_str(origin)))
			return true;
	return false;
}

bool http_guard_origin(const struct http_guard *guard, const char *origin)
{
	static const char *const schemes[] = { "http://", "https://" };
	struct span text = span_trim(span_str(origin));

	if (http_guard_origin_is_listed(guard, origin))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		struct span scheme = span_str(schemes[i]);

		if (is_same_token(span_head(text, scheme.len), scheme))
			return host_is_allowed(guard, span_skip(text, scheme.len));
	}
	return false;
}

/* Digests are compared: how far two of them agree says nothing about the token. */
static bool same_secret(struct span a, struct span b)
{
	struct sha256 left = sha256_of(a);
	struct sha256 right = sha256_of(b);
	unsigned char differences = 0;

	for (size_t i = 0; i < SHA256_SIZE; i++)
		differences |= left.bytes[i] ^ right.bytes[i];
	return differences == 0;
}

bool http_guard_token(const struct http_guard *guard, const char *authorization)
{
	struct span scheme = SPAN("Bearer ");
	struct span given = span_trim(span_str(authorization));

	if (!guard->token)
		return true;
	if (!is_same_token(span_head(given, scheme.len), scheme))
		return false;
	return same_secret(span_trim(span_skip(given, scheme.len)), span_str(guard->token));
}
