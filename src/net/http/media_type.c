/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/media_type.h"

#include <strings.h>

#include "base/span.h"

/* Takes what is before the next `separator` off the front of *rest, without blanks around. */
static struct span next_part(struct span *rest, char separator)
{
	const char *end = rest->len ? memchr(rest->data, separator, rest->len) : NULL;
	size_t len = end ? (size_t)(end - rest->data) : rest->len;
	struct span part = span_trim(span_head(*rest, len));

	*rest = span_skip(*rest, end ? len + 1 : len);
	return part;
}

static bool same(struct span a, struct span b)
{
	return a.len == b.len && (a.len == 0 || strncasecmp(a.data, b.data, a.len) == 0);
}

bool http_content_type_is(const char *content_type, const char *type)
{
	struct span rest = span_str(content_type);

	return same(next_part(&rest, ';'), span_str(type));
}

/* How well a media range fits: 0 not at all, 3 by its full name. */
static int fit(struct span range, struct span type)
{
	const char *slash = memchr(type.data, '/', type.len);
	size_t major = slash ? (size_t)(slash - type.data) + 1 : type.len;

	if (same(range, type))
		return 3;
	if (same(range, SPAN("*/*")))
		return 1;
	return range.len == major + 1 && range.data[major] == '*' &&
	       same(span_head(range, major), span_head(type, major)) ? 2 : 0;
}

/* A weight is "0", "1", or those with up to three decimals: all digits 0 mean never. */
static bool weight_is_zero(struct span parameters)
{
	while (parameters.len) {
		struct span parameter = next_part(&parameters, ';');
		struct span name = next_part(&parameter, '=');

		if (!same(name, SPAN("q")) || parameter.len == 0)
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
