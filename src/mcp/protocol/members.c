/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/members.h"

static struct span skip_space(struct span text)
{
	while (text.len && (*text.data == ' ' || (*text.data >= '\t' && *text.data <= '\r')))
		text = span_skip(text, 1);
	return text;
}

/* The length of the string at the start of the text, with its quotation marks; 0: no end. */
static size_t string_len(struct span text)
{
	size_t from = 1;

	while (from < text.len) {
		const char *quote = memchr(text.data + from, '"', text.len - from);
		size_t at = quote ? (size_t)(quote - text.data) : text.len;
		size_t backslashes = 0;

		if (!quote)
			return 0;
		while (at - backslashes > 1 && text.data[at - backslashes - 1] == '\\')
			backslashes++;
		if (backslashes % 2 == 0)
			return at + 1;
		from = at + 1;
	}
	return 0;
}

/* The length of the object or array at the start of the text; 0: no end. */
static size_t nested_len(struct span text)
{
	size_t depth = 0;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (c == '"') {
			size_t len = string_len(span_skip(text, i));

			if (!len)
				return 0;
			i += len - 1;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if ((c == '}' || c == ']') && --depth == 0) {
			return i + 1;
		}
	}
	return 0;
}

static size_t value_len(struct span text)
{
	size_t len = 0;

	if (!text.len)
		return 0;
	if (*text.data == '"')
		return string_len(text);
	if (*text.data == '{' || *text.data == '[')
		return nested_len(text);
	while (len < text.len && !memchr(",}] \t\r\n", text.data[len], 7))
		len++;
	return len;
}

bool members_next(struct members *members, struct span *ret_key, struct span *ret_value)
{
	struct span text = skip_space(members->rest);
	size_t len;

	if (!text.len || (*text.data != '{' && *text.data != ','))
		return false;
	text = skip_space(span_skip(text, 1));
	len = text.len && *text.data == '"' ? string_len(text) : 0;
	if (!len)
		return false;
	*ret_key = span_of(text.data + 1, len - 2);
	text = skip_space(span_skip(text, len));
	if (!text.len || *text.data != ':')
		return false;
	text = skip_space(span_skip(text, 1));
	len = value_len(text);
	if (!len)
		return false;
	*ret_value = span_head(text, len);
	members->rest = span_skip(text, len);
	return true;
}

bool members_ended(const struct members *members)
{
	struct span text = skip_space(members->rest);

	if (text.len && *text.data == '{') /* nothing has been read: it was empty */
		text = skip_space(span_skip(text, 1));
	return text.len && *text.data == '}' && !skip_space(span_skip(text, 1)).len;
}
