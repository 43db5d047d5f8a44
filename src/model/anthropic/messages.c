/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: a conversation as content blocks, and where its cache breakpoints are.
 *
 * Results of calls come first in the user's message after the calls; a turn of the model is given
 * back with its thinking blocks as they came and where they stood; no text is empty. */
#include <string.h>

#include "base/limits.h"
#include "data/json.h"
#include "model/anthropic/anthropic.h"

struct building {
	const struct claude_model *model;
	json_t *messages;        /* owned by the caller */
	json_t *content;         /* of the last message, borrowed */
	bool user;               /* whose it is */
	struct wire_calls calls;
};

static void add_block(struct building *building, bool user, json_t *block)
{
	if (!building->content || building->user != user) {
		building->content = json_array();
		building->user = user;
		json_array_append_new(building->messages,
		                      json_pack("{s:s, s:o}", "role", user ? "user" : "assistant",
		                                "content", building->content));
	}
	json_array_append_new(building->content, block);
}

static json_t *text_block(json_t *text)
{
	return json_pack("{s:s, s:o}", "type", "text", "text", text);
}

static bool is_picture(struct span type)
{
	return span_eq(type, SPAN("image/png")) || span_eq(type, SPAN("image/jpeg")) ||
	       span_eq(type, SPAN("image/gif")) || span_eq(type, SPAN("image/webp"));
}

static json_t *media_block(const struct wire_media *media)
{
	bool pdf = span_eq(media->type, SPAN("application/pdf"));

	if (!pdf && !is_picture(media->type))
		return text_block(wire_media_note(media));
	return json_pack("{s:s, s:{s:s, s:o, s:o}}", "type", pdf ? "document" : "image", "source",
	                 "type", "base64", "media_type", json_text(media->type), "data",
	                 json_text(media->data));
}

static json_t *result_block(struct building *building, const json_t *response)
{
	json_t *content = json_array(), *text = wire_response_text(response);
	json_t *block = json_pack("{s:s, s:o, s:o}", "type", "tool_result", "tool_use_id",
	                          wire_calls_answer(&building->calls, response), "content",
	                          content);
	struct wire_media media;
	const json_t *part;
	size_t i;

	if (span_trim(json_span(text)).len)
		json_array_append_new(content, text_block(text));
	else
		json_decref(text);
	json_array_foreach(json_object_get(response, "parts"), i, part)
		if (wire_media(part, &media))
			json_array_append_new(content, media_block(&media));
	if (wire_response_failed(response))
		json_object_set_new(block, "is_error", json_true());
	return block;
}

static void add_user(struct building *building, const json_t *content)
{
	const json_t *parts = json_object_get(content, "parts");
	struct wire_media media;
	const json_t *part;
	size_t i;

	json_array_foreach(parts, i, part)
		if (part_get_response(part))
			add_block(building, true, result_block(building, part_get_response(part)));
	json_array_foreach(parts, i, part) {
		struct span text = part_get_text(part);

		if (wire_media(part, &media))
			add_block(building, true, media_block(&media));
		else if (span_trim(text).len)
			add_block(building, true, text_block(json_text(text)));
	}
	/* Nothing that can be said is still the user's turn. */
	if (!building->content || !building->user)
		add_block(building, true, text_block(json_string("(empty)")));
}

/* A block as it came, or NULL: the thinking of another model is not for this one. */
static json_t *own_block(const struct building *building, const json_t *part, const json_t *own)
{
	const char *from = json_string_value(json_object_get(own, "model"));
	json_t *signature = json_object_get(own, "signature");
	json_t *block = json_object_get(own, "block");

	if (from && claude_model_of(from) != building->model)
		return NULL;
	if (json_is_object(block))
		return json_incref(block);
	if (!json_is_string(signature))
		return NULL;
	return json_pack("{s:s, s:o, s:O}", "type", "thinking", "thinking",
	                 json_text(json_span(json_object_get(part, "text"))), "signature",
	                 signature);
}

static json_t *call_block(struct building *building, const json_t *call)
{
	json_t *args = json_object_get(call, "args");

	return json_pack("{s:s, s:o, s:o, s:o}", "type", "tool_use", "id",
	                 wire_calls_add(&building->calls, call), "name",
	                 json_text(json_span(json_object_get(call, "name"))), "input",
	                 json_is_object(args) ? json_incref(args) : json_object());
}

static void add_assistant(struct building *building, const json_t *content)
{
	const json_t *part;
	size_t i;

	wire_calls_begin(&building->calls);
	json_array_foreach(json_object_get(content, "parts"), i, part) {
		const json_t *own = wire_own(part, format_anthropic.name);
		json_t *block = own ? own_block(building, part, own) : NULL;
		struct span text = part_get_text(part);

		if (block)
			add_block(building, false, block);
		else if (part_get_call(part))
			add_block(building, false, call_block(building, part_get_call(part)));
		else if (span_trim(text).len)
			add_block(building, false, text_block(json_text(text)));
	}
}

json_t *claude_messages(const struct claude_model *model, const json_t *contents)
{
	struct building building = { .model = model, .messages = json_array(),
	                             .calls = { .rule = WIRE_ID_WORD } };
	const json_t *content;
	size_t i;

	wire_calls_begin(&building.calls);
	json_array_foreach(contents, i, content) {
		if (content_is_user(content))
			add_user(&building, content);
		else
			add_assistant(&building, content);
	}
	wire_calls_release(&building.calls);
	return building.messages;
}

/* ---- the cache ------------------------------------------------------------------------------- */

static void mark_last(json_t *blocks)
{
	json_t *last = json_array_get(blocks, json_array_size(blocks) - 1);

	if (!last)
		return;
	json_object_set_new(last, "cache_control", json_pack("{s:s}", "type", "ephemeral"));
}

void claude_cache(json_t *body)
{
	json_t *messages = json_object_get(body, "messages");
	unsigned left = 2;

	mark_last(json_object_get(body, "system"));
	mark_last(json_object_get(body, "tools"));
	for (size_t i = json_array_size(messages); i-- > 0 && left > 0;) {
		json_t *message = json_array_get(messages, i);

		if (!span_eq(json_span(json_object_get(message, "role")), SPAN("user")))
			continue;
		mark_last(json_object_get(message, "content"));
		left--;
	}
}
