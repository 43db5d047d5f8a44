/* SPDX-License-Identifier: Apache-2.0 */
/* Finding members in the text.  The text is valid JSON by then, so steps need not doubt it; they
 * stay inside of it all the same. */
#include "data/jsonc_private.h"

#include "base/mem.h"

size_t jsonc_skip_blank(struct span text, size_t at)
{
	while (at < text.len && strchr(" \t\r\n", text.data[at]) && text.data[at])
		at++;
	return at;
}

/* Behind the string that begins at `at`. */
static size_t skip_string(struct span text, size_t at)
{
	for (at++; at < text.len && text.data[at] != '"'; at++)
		at += text.data[at] == '\\';
	return at < text.len ? at + 1 : text.len;
}

/* Behind the value that begins at `at`. */
static size_t skip_value(struct span text, size_t at)
{
	size_t depth = 0;

	while (at < text.len) {
		char c = text.data[at];

		if (c == '"') {
			at = skip_string(text, at);
		} else if (c == '{' || c == '[') {
			depth++;
			at++;
		} else if (c == '}' || c == ']') {
			depth--;
			at++;
		} else if (depth) {
			at++;
			continue;
		} else {
			while (at < text.len && !strchr(" \t\r\n,]}", text.data[at]))
				at++;
		}
		if (!depth)
			return at;
	}
	return at;
}

bool jsonc_name(struct span plain, const struct jsonc_member *member, json_t **ret, struct err *err)
{
	const size_t end = skip_string(plain, member->name);

	return json_parse(span_of(plain.data + member->name, end - member->name), ret, err);
}

bool jsonc_next_member(struct span plain, size_t *at, struct jsonc_member *ret)
{
	size_t next = jsonc_skip_blank(plain, *at + (plain.data[*at] == '{'));

	if (next < plain.len && plain.data[next] == ',')
		next = jsonc_skip_blank(plain, next + 1);
	*at = next;
	if (next >= plain.len || plain.data[next] != '"')
		return false;
	ret->name = next;
	next = jsonc_skip_blank(plain, skip_string(plain, next));
	ret->value = jsonc_skip_blank(plain, next + 1); /* past the colon */
	ret->end = *at = skip_value(plain, ret->value);
	return *at < plain.len;
}

static bool name_is(struct span plain, size_t at, struct span name)
{
	struct span raw = span_of(plain.data + at, skip_string(plain, at) - at);
	struct err err = ERR_INIT;
	json_t *decoded;
	bool same;

	if (!memchr(raw.data, '\\', raw.len))
		return span_eq(span_of(raw.data + 1, raw.len - 2), name);
	if (!json_parse(raw, &decoded, &err))
		return false;
	same = span_eq(json_span(decoded), name);
	json_decref(decoded);
	return same;
}

static bool find(struct span plain, size_t object, struct span name, struct jsonc_member *ret)
{
	size_t at = object;

	while (jsonc_next_member(plain, &at, ret))
		if (name_is(plain, ret->name, name))
			return true;
	return false;
}

void jsonc_locate(struct span plain, struct span path, struct jsonc_place *ret)
{
	struct span rest = path;

	*ret = (struct jsonc_place){ .object = jsonc_skip_blank(plain, 0), .rest = path };
	for (;;) {
		const char *dot = rest.len ? memchr(rest.data, '.', rest.len) : NULL;
		struct span name = dot ? span_of(rest.data, (size_t)(dot - rest.data)) : rest;

		if (!find(plain, ret->object, name, &ret->member))
			return;
		rest = span_skip(rest, name.len + (dot != NULL));
		if (!dot) {
			ret->rest = rest;
			return;
		}
		if (plain.data[ret->member.value] != '{') {
			ret->blocked = true;
			ret->blocker = span_of(path.data, (size_t)(rest.data - 1 - path.data));
			return;
		}
		ret->object = ret->member.value;
		ret->rest = rest;
	}
}
