/* SPDX-License-Identifier: Apache-2.0 */
/* Responses: a conversation as input items. */
#include "base/limits.h"
#include "data/json.h"
#include "model/openai/openai.h"
#include "model/openai/responses.h"

struct building {
	json_t *items;           /* owned by the caller */
	json_t *message;         /* content of the user's message that is open, borrowed; or NULL */
	struct wire_calls calls;
	bool reasons;            /* the model takes reasoning items */
};

static json_t *text_part(json_t *text)
{
	return json_pack("{s:s, s:o}", "type", "input_text", "text", text);
}

static json_t *media_part(const struct wire_media *media)
{
	if (span_starts(media->type, SPAN("image/")))
		return json_pack("{s:s, s:o, s:s}", "type", "input_image", "image_url",
		                 wire_data_url(media), "detail", "auto");
	if (span_eq(media->type, SPAN("application/pdf")))
		return json_pack("{s:s, s:s, s:o}", "type", "input_file", "filename",
		                 "document.pdf", "file_data", wire_data_url(media));
	return text_part(wire_media_note(media));
}

/* Text alone, or a list when there are media in the result. */
static json_t *output_of(const json_t *response)
{
	json_t *list = json_array(), *text = wire_response_text(response);
	struct wire_media media;
	const json_t *part;
	size_t i;

	json_array_append_new(list, text_part(json_incref(text)));
	json_array_foreach(json_object_get(response, "parts"), i, part)
		if (wire_media(part, &media))
			json_array_append_new(list, media_part(&media));
	if (json_array_size(list) == 1) {
		json_decref(list);
		return text;
	}
	json_decref(text);
	return list;
}

static void add_said(struct building *building, json_t *part)
{
	if (!building->message) {
		building->message = json_array();
		json_array_append_new(building->items,
		                      json_pack("{s:s, s:s, s:o}", "type", "message", "role",
		                                "user", "content", building->message));
	}
	json_array_append_new(building->message, part);
}

static void add_user(struct building *building, const json_t *content)
{
	struct wire_media media;
	const json_t *part;
	size_t i;

	building->message = NULL;
	json_array_foreach(json_object_get(content, "parts"), i, part) {
		const json_t *response = part_get_response(part);
		struct span text = part_get_text(part);

		if (response)
			json_array_append_new(
				building->items,
				json_pack("{s:s, s:o, s:o}", "type", "function_call_output",
			                  "call_id", wire_calls_answer(&building->calls, response),
			                  "output", output_of(response)));
		else if (wire_media(part, &media))
			add_said(building, media_part(&media));
		else if (text.len)
			add_said(building, text_part(json_text(text)));
	}
}

static json_t *call_of(struct building *building, const json_t *call)
{
	_cleanup_buf_ struct buf args = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);
	const json_t *value = json_object_get(call, "args");

	if (!value || !json_print(&args, value, 0)) {
		buf_clear(&args);
		buf_str(&args, "{}");
	}
	return json_pack("{s:s, s:o, s:o, s:o}", "type", "function_call", "call_id",
	                 wire_calls_add(&building->calls, call), "name",
	                 json_text(json_span(json_object_get(call, "name"))), "arguments",
	                 json_text(buf_view(&args)));
}

static json_t *said_of(const json_t *part, const json_t *own)
{
	json_t *phase = json_object_get(own, "phase");
	json_t *item = json_pack("{s:s, s:s, s:o}", "type", "message", "role", "assistant",
	                         "content", json_text(part_get_text(part)));

	if (json_is_string(phase))
		json_object_set(item, "phase", phase);
	return item;
}

/* Nothing is kept at the provider: without its encrypted content an item is a name of nothing. */
static bool is_whole_reasoning(const json_t *item)
{
	return json_string_length(json_object_get(item, "encrypted_content")) > 0;
}

/* A reasoning item is refused unless the message or the call that it led to stands behind it.  When the
 * longest length cut that off, or nobody kept it, the reasoning goes too. */
static void drop_last_reasoning(json_t *items, size_t first)
{
	size_t count = json_array_size(items);

	while (count > first &&
	       span_eq(json_span(json_object_get(json_array_get(items, count - 1), "type")),
	               SPAN("reasoning")))
		json_array_remove(items, --count);
}

static void add_assistant(struct building *building, const json_t *content)
{
	size_t first = json_array_size(building->items), i;
	const json_t *part;

	wire_calls_begin(&building->calls);
	json_array_foreach(json_object_get(content, "parts"), i, part) {
		const json_t *own = wire_own(part, format_openai_responses.name);
		const json_t *call = part_get_call(part);
		json_t *item = json_object_get(own, "item");

		if (building->reasons && is_whole_reasoning(item))
			json_array_append(building->items, item);
		if (part_get_text(part).len)
			json_array_append_new(building->items, said_of(part, own));
		if (call)
			json_array_append_new(building->items, call_of(building, call));
	}
	drop_last_reasoning(building->items, first);
}

json_t *responses_input(const struct model_request *request, bool reasons)
{
	struct building building = { .items = json_array(), .calls = { .rule = WIRE_ID_WORD },
	                             .reasons = reasons };
	const json_t *content;
	size_t i;

	wire_calls_begin(&building.calls);
	json_array_foreach(request->contents, i, content) {
		if (content_is_user(content))
			add_user(&building, content);
		else
			add_assistant(&building, content);
	}
	wire_calls_release(&building.calls);
	return building.items;
}
