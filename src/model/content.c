/* SPDX-License-Identifier: Apache-2.0 */
#include "model/content.h"

#include "base/text.h"
#include "data/json.h"

json_t *content_new(const char *role)
{
	return json_pack("{s:s, s:[]}", "role", role, "parts");
}

void content_add(json_t *content, json_t *part)
{
	json_array_append_new(json_object_get(content, "parts"), part);
}

json_t *content_user_text(struct span text)
{
	json_t *content = content_new("user");

	content_add(content, part_text(text));
	return content;
}

json_t *part_text(struct span text)
{
	return json_pack("{s:o}", "text", json_text(text));
}

static json_t *named(const char *id, const char *name)
{
	json_t *object = json_object();

	if (id)
		json_object_set_new(object, "id", json_cstr(id));
	json_object_set_new(object, "name", json_cstr(name));
	return object;
}

json_t *part_call(const char *id, const char *name, const json_t *args)
{
	json_t *call = named(id, name);

	json_object_set_new(call, "args",
	                    json_is_object(args) ? json_incref((json_t *)args) : json_object());
	return json_pack("{s:o}", "functionCall", call);
}

json_t *part_response(const char *id, const char *name, json_t *response)
{
	json_t *object = named(id, name);

	json_object_set_new(object, "response", response);
	return json_pack("{s:o}", "functionResponse", object);
}

json_t *part_media(const char *mime_type, struct span bytes)
{
	return json_pack("{s:{s:o, s:o}}", "inlineData", "mimeType", json_cstr(mime_type),
	                 "data", json_base64(bytes));
}

bool content_is_user(const json_t *content)
{
	return span_eq(json_span(json_object_get(content, "role")), SPAN("user"));
}

bool part_is_thought(const json_t *part)
{
	return json_is_true(json_object_get(part, "thought"));
}

const json_t *part_get_call(const json_t *part)
{
	const json_t *call = json_object_get(part, "functionCall");

	return json_is_object(call) ? call : NULL;
}

const json_t *part_get_response(const json_t *part)
{
	const json_t *response = json_object_get(part, "functionResponse");

	return json_is_object(response) ? response : NULL;
}

struct span part_get_text(const json_t *part)
{
	if (part_is_thought(part))
		return span_of(NULL, 0);
	return json_span(json_object_get(part, "text"));
}

void content_text(const json_t *content, struct buf *out)
{
	const json_t *part;
	size_t i;

	json_array_foreach(json_object_get(content, "parts"), i, part)
		buf_span(out, part_get_text(part));
}

size_t content_call_count(const json_t *content)
{
	const json_t *part;
	size_t count = 0, i;

	json_array_foreach(json_object_get(content, "parts"), i, part)
		count += part_get_call(part) != NULL;
	return count;
}

/* ---- thinking that is bound to what stood before it -------------------------------------------- */

static bool is_word(const json_t *object, const char *name, const char *word)
{
	return span_eq(json_span(json_object_get(object, name)), span_str(word));
}

static bool is_bound(const json_t *part)
{
	const json_t *opaque = json_object_get(part, "opaque");
	const json_t *block = json_object_get(opaque, "block"), *detail;
	size_t i;

	if (is_word(opaque, "provider", "anthropic"))
		return json_is_string(json_object_get(opaque, "signature")) ||
		       is_word(block, "type", "thinking") ||
		       is_word(block, "type", "redacted_thinking");
	json_array_foreach(json_object_get(opaque, "reasoning_details"), i, detail)
		if (json_is_string(json_object_get(detail, "signature")))
			return true;
	return false;
}

/* The message without what binds it, NULL: there is nothing. */
static json_t *unbound_message(const json_t *message)
{
	const json_t *parts = json_object_get(message, "parts"), *part;
	json_t *kept = json_array(), *own, *copy;
	bool any = false;
	size_t i;

	json_array_foreach(parts, i, part) {
		own = is_bound(part) ? json_copy((json_t *)part) : json_incref((json_t *)part);
		if (is_bound(part)) {
			any = true;
			json_object_del(own, "opaque");
		}
		json_array_append_new(kept, own);
	}
	if (!any) {
		json_decref(kept);
		return NULL;
	}
	copy = json_copy((json_t *)message);
	json_object_set_new(copy, "parts", kept);
	return copy;
}

json_t *content_drop_bound_thoughts(const json_t *contents)
{
	json_t *all = NULL, *without;
	const json_t *message;
	size_t i;

	json_array_foreach((json_t *)contents, i, message) {
		without = content_is_user(message) ? NULL : unbound_message(message);
		if (!without)
			continue;
		if (!all)
			all = json_copy((json_t *)contents);
		json_array_set_new(all, i, without);
	}
	return all;
}

/* ---- estimates ------------------------------------------------------------------------------- */

/* In quarters of a token, so that short names add up to something. */
enum { QUARTERS = 4, MEDIA_LEAST = 258, MEDIA_MOST = 3072 };

static size_t text_quarters(struct span text)
{
	size_t ascii = 0, other = 0;

	for (size_t i = 0; i < text.len; i++) {
		unsigned char byte = (unsigned char)text.data[i];

		ascii += byte < 0x80;
		other += byte >= 0xC0; /* the first byte of each sequence */
	}
	return ascii + other * 13 * QUARTERS / 10;
}

/* `data` is base64: four characters are three bytes. */
static size_t media_quarters(const json_t *media)
{
	size_t bytes = json_span(json_object_get(media, "data")).len / 4 * 3;
	struct span type = json_span(json_object_get(media, "mimeType"));
	size_t tokens;

	if (!span_starts(type, SPAN("image/")))
		return bytes / 50 * QUARTERS + (size_t)MEDIA_LEAST * QUARTERS;
	tokens = bytes / 300; /* a screenful as PNG is about 300 KiB, and about 1,000 tokens */
	tokens = tokens < MEDIA_LEAST ? MEDIA_LEAST : tokens > MEDIA_MOST ? MEDIA_MOST : tokens;
	return tokens * QUARTERS;
}

static size_t quarters(const json_t *value, unsigned depth)
{
	size_t sum = QUARTERS, i; /* its brackets or its digits */
	const json_t *child;
	const char *name;

	if (json_is_string(value))
		return text_quarters(json_span(value));
	if (depth >= JSON_DEPTH_MAX)
		return sum;
	json_array_foreach(value, i, child)
		sum += quarters(child, depth + 1);
	json_object_foreach((json_t *)value, name, child) {
		if (strcmp(name, "inlineData") == 0)
			sum += media_quarters(child);
		else
			sum += text_quarters(span_str(name)) + 2 + quarters(child, depth + 1);
	}
	return sum;
}

size_t content_estimate_tokens(const json_t *content_or_contents)
{
	return (quarters(content_or_contents, 0) + QUARTERS - 1) / QUARTERS;
}
