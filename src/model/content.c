/* SPDX-License-Identifier: Apache-2.0 */
/* Contents made and read, and repaired before they are sent. */
#include "model/content.h"

#include <string.h>

#include "base/text.h"
#include "data/json.h"

/* ---- parts and texts --------------------------------------------------------- */

json_t *content_new(const char *role)
{
	json_t *content = json_object();

	json_object_set_new(content, "role", json_string(role));
	json_object_set_new(content, "parts", json_array());
	return content;
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

/* ---- thinking that is bound to what stood before it ---- */

static bool member_is(const json_t *object, const char *name, const char *word)
{
	return span_eq(json_span(json_object_get(object, name)), span_str(word));
}

static bool is_bound(const json_t *part)
{
	const json_t *opaque = json_object_get(part, "opaque");
	const json_t *block = json_object_get(opaque, "block"), *detail;
	size_t i;

	if (member_is(opaque, "provider", "anthropic"))
		return json_is_string(json_object_get(opaque, "signature")) ||
		       member_is(block, "type", "thinking") ||
		       member_is(block, "type", "redacted_thinking");
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

/* Counted in quarters of a token, so that short names add up. */
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

/* ---- repair ------------------------------------------------------------------ */

/* content_repair: messages are copied one by one into a new array, and while that is done the calls
 * of the last message of the model wait for their responses. */

struct repair {
	json_t *out;     /* owned */
	json_t *last;    /* of out, borrowed; NULL at first */
	json_t *waiting; /* calls of the model's last message without a response; borrowed
	                  * members */
};

static json_t *unfinished(const json_t *call)
{
	return part_response(json_string_value(json_object_get(call, "id")),
	                     json_string_value(json_object_get(call, "name")),
	                     json_pack("{s:s}", "error",
	                               "The call was not finished; it may have done a part of "
	                               "its work, or none."));
}

/* The message to which parts of a role are added: the last one, or a new one. */
static json_t *message_for(struct repair *repair, bool user)
{
	if (repair->last && content_is_user(repair->last) == user)
		return repair->last;
	/* The first message is the user's. */
	if (!user && !repair->last) {
		repair->last = content_user_text(
			SPAN("(The beginning of the conversation was left out.)"));
		json_array_append_new(repair->out, repair->last);
	}
	repair->last = content_new(user ? "user" : "model");
	json_array_append_new(repair->out, repair->last);
	return repair->last;
}

static bool belongs(const json_t *response, const json_t *call)
{
	const json_t *id = json_object_get(response, "id"), *call_id = json_object_get(call, "id");

	/* By the id, or, where one of them has none, by the name. */
	return id && call_id ? json_equal(id, call_id) :
	                       json_equal(json_object_get(response, "name"),
	                                  json_object_get(call, "name"));
}

/* The part with the response to a call, and the next place to look at: responses mostly come in the
 * order of their calls. NULL: none. */
static json_t *response_to(const json_t *parts, const json_t *call, size_t *next)
{
	size_t count = json_array_size(parts);

	for (size_t i = 0; i < count; i++) {
		json_t *part = json_array_get(parts, (*next + i) % count);
		const json_t *response = part_get_response(part);

		if (response && belongs(response, call)) {
			*next = (*next + i + 1) % count;
			return part;
		}
	}
	return NULL;
}

/* Responses come first in a message, in the order of the calls, one for each. */
static void answer_waiting(struct repair *repair, const json_t *parts)
{
	const json_t *call;
	size_t next = 0, i;
	json_t *out;

	if (!json_array_size(repair->waiting))
		return;
	out = json_object_get(message_for(repair, true), "parts");
	json_array_foreach(repair->waiting, i, call) {
		json_t *part = response_to(parts, call, &next);

		json_array_append_new(out, part ? json_incref(part) : unfinished(call));
	}
	json_array_clear(repair->waiting);
}

static void repair_add_user(struct repair *repair, const json_t *parts)
{
	json_t *part;
	size_t i;

	answer_waiting(repair, parts);
	json_array_foreach(parts, i, part)
		if (!part_get_response(part) && !part_get_call(part))
			content_add(message_for(repair, true), json_incref(part));
}

static void repair_add_model(struct repair *repair, const json_t *parts)
{
	json_t *part;
	size_t i;

	json_array_foreach(parts, i, part) {
		if (part_get_response(part))
			continue;
		content_add(message_for(repair, false), json_incref(part));
		if (part_get_call(part))
			json_array_append(repair->waiting, (json_t *)part_get_call(part));
	}
}

json_t *content_repair(const json_t *contents)
{
	struct repair repair = { .out = json_array(), .waiting = json_array() };
	const json_t *content;
	size_t i;

	json_array_foreach(contents, i, content) {
		const json_t *parts = json_object_get(content, "parts");

		if (!json_array_size(parts))
			continue;
		if (content_is_user(content))
			repair_add_user(&repair, parts);
		else
			repair_add_model(&repair, parts);
	}
	answer_waiting(&repair, NULL);
	json_decref(repair.waiting);
	return repair.out;
}
