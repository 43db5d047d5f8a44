/* SPDX-License-Identifier: Apache-2.0 */
/* Members of JSON text by JSON Pointer (RFC 6901), for programs without a JSON library. */
#include <stdlib.h>
#include <string.h>

#include "api/agent/private.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

enum { NAME_MAX_BYTES = 4096 };

/* One reference token in full: "~1" is "/", "~0" is "~". False: an escape that there is not. */
static bool unescape_token(struct span token, struct buf *out)
{
	for (size_t i = 0; i < token.len; i++) {
		const char c = token.data[i];

		if (c == '~' && (i + 1 == token.len || (token.data[i + 1] != '0' &&
		                                        token.data[i + 1] != '1')))
			return false;
		buf_char(out, c != '~' ? c : token.data[++i] == '1' ? '/' : '~');
	}
	return !out->overflowed;
}

/* An index has no sign and no leading zero. */
static const json_t *element_at(const json_t *array, struct span token)
{
	size_t at = 0;

	if (!token.len || token.len > 9 || (token.len > 1 && token.data[0] == '0'))
		return NULL;
	for (size_t i = 0; i < token.len; i++) {
		if (!ascii_is_digit(token.data[i]))
			return NULL;
		at = at * 10 + (size_t)(token.data[i] - '0');
	}
	return json_array_get(array, at);
}

static const json_t *json_value_at(const json_t *value, const char *pointer)
{
	struct span left = span_str(pointer ? pointer : "");

	while (value && left.len) {
		_cleanup_buf_ struct buf token = BUF_INIT(NAME_MAX_BYTES);
		const char *slash;
		struct span word;

		if (left.data[0] != '/')
			return NULL;
		left = span_skip(left, 1);
		slash = left.len ? memchr(left.data, '/', left.len) : NULL;
		word = slash ? span_head(left, (size_t)(slash - left.data)) : left;
		left = span_skip(left, word.len);
		if (!unescape_token(word, &token))
			return NULL;
		value = json_is_array(value) ? element_at(value, buf_view(&token)) :
		                               json_object_getn(value, token.len ? token.data : "",
		                                                token.len);
	}
	return value;
}

/* All of the text; NULL: it is no JSON. The caller releases it. */
static json_t *json_of_text(const char *json)
{
	struct err ignored = ERR_INIT;
	json_t *value = NULL;

	json_parse(span_str(json ? json : ""), &value, &ignored);
	return value;
}

char *hasp_json_text(const char *json, const char *pointer)
{
	json_auto_t *whole = json_of_text(json);
	const json_t *value = json_value_at(whole, pointer);

	if (!value)
		return NULL;
	return json_is_string(value) ? mem_dup(json_span(value).data, json_span(value).len) :
	                               api_json_text(value);
}

long long hasp_json_integer(const char *json, const char *pointer, long long otherwise)
{
	json_auto_t *whole = json_of_text(json);
	const json_t *value = json_value_at(whole, pointer);

	return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

bool hasp_json_boolean(const char *json, const char *pointer, bool otherwise)
{
	json_auto_t *whole = json_of_text(json);
	const json_t *value = json_value_at(whole, pointer);

	return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

size_t hasp_json_count(const char *json, const char *pointer)
{
	json_auto_t *whole = json_of_text(json);
	const json_t *value = json_value_at(whole, pointer);

	return json_is_array(value) ? json_array_size(value) : json_object_size(value);
}
