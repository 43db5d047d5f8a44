/* SPDX-License-Identifier: Apache-2.0 */
/* Responses: a conversation as input items. */
#include "model/openai/openai.h"

#include "data/json.h"
#include "model/part.h"
#include "model/provider.h"
#include "model/sink.h"

struct responses_body {
	json_t *items;           /* owned by the caller */
	json_t *message;         /* content of the user's message that is open, borrowed; or NULL */
	struct wire_calls calls;
	json_t *custom;          /* owned by the caller; ids of calls of free text: a set */
	bool reasons;            /* the model takes reasoning items */
	const char *loader;      /* whose calls are searches of tools; or NULL */
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
static json_t *call_output(const json_t *response)
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

json_t *openai_function_tool(const json_t *tool)
{
	json_t *function = json_pack("{s:s, s:O, s:o, s:b}", "type", "function", "name",
	                             json_object_get(tool, "name"), "parameters",
	                             wire_parameters(tool), "strict", 0);

	return wire_described(function, tool);
}

/* What a search found; one that failed has found nothing. */
static json_t *search_output(const json_t *response)
{
	const json_t *found = json_object_get(json_object_get(response, "response"), "tools"), *one;
	json_t *tools = json_array();
	size_t i;

	json_array_foreach(found, i, one) {
		json_t *tool;

		if (!json_is_string(json_object_get(one, "name")))
			continue;
		tool = openai_function_tool(one);
		json_object_set_new(tool, "defer_loading", json_true());
		json_array_append_new(tools, tool);
	}
	return tools;
}

static json_t *output_item(struct responses_body *building, const json_t *response)
{
	json_t *id = wire_calls_answer(&building->calls, response);

	if (wire_is_of(response, building->loader))
		return json_pack("{s:s, s:o, s:s, s:s, s:o}", "type", "tool_search_output",
		                 "call_id", id, "execution", "client", "status", "completed",
		                 "tools", search_output(response));
	return json_pack("{s:s, s:o, s:o}", "type",
	                 json_object_get(building->custom, json_string_value(id)) ?
	                         "custom_tool_call_output" : "function_call_output",
	                 "call_id", id, "output", call_output(response));
}

static void add_said_part(struct responses_body *building, json_t *part)
{
	if (!building->message) {
		building->message = json_array();
		json_array_append_new(building->items,
		                      json_pack("{s:s, s:s, s:o}", "type", "message", "role",
		                                "user", "content", building->message));
	}
	json_array_append_new(building->message, part);
}

static void responses_add_user(void *data, const json_t *content)
{
	struct responses_body *building = data;
	struct wire_media media;
	const json_t *part;
	size_t i;

	building->message = NULL;
	json_array_foreach(json_object_get(content, "parts"), i, part) {
		const json_t *response = part_get_response(part);
		struct span text = part_get_text(part);

		if (response)
			json_array_append_new(building->items, output_item(building, response));
		else if (wire_media(part, &media))
			add_said_part(building, media_part(&media));
		else if (text.len)
			add_said_part(building, text_part(json_text(text)));
	}
}

static json_t *custom_call_item(struct responses_body *building, const json_t *call)
{
	json_t *id = wire_calls_add(&building->calls, call);

	json_object_set_new(building->custom, json_string_value(id), json_true());
	return json_pack("{s:s, s:o, s:o, s:O}", "type", "custom_tool_call", "call_id", id, "name",
	                 json_text(json_span(json_object_get(call, "name"))), "input",
	                 json_object_get(json_object_get(call, "args"), "input"));
}

static json_t *function_call_item(struct responses_body *building, const json_t *call)
{
	json_t *args = json_object_get(call, "args");

	if (wire_is_of(call, building->loader))
		return json_pack("{s:s, s:o, s:s, s:s, s:o}", "type", "tool_search_call", "call_id",
		                 wire_calls_add(&building->calls, call), "execution", "client",
		                 "status", "completed", "arguments",
		                 json_is_object(args) ? json_incref(args) : json_object());
	return json_pack("{s:s, s:o, s:o, s:o}", "type", "function_call", "call_id",
	                 wire_calls_add(&building->calls, call), "name",
	                 json_text(json_span(json_object_get(call, "name"))), "arguments",
	                 wire_arguments(call));
}

static json_t *message_item(const json_t *part, const json_t *own)
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

static void responses_add_assistant(void *data, const json_t *content)
{
	struct responses_body *building = data;
	size_t first = json_array_size(building->items), i;
	const json_t *part;
	size_t count;

	json_array_foreach(json_object_get(content, "parts"), i, part) {
		const json_t *own = wire_own(part, format_openai_responses.name);
		const json_t *call = part_get_call(part);
		json_t *item = json_object_get(own, "item");

		if (building->reasons && is_whole_reasoning(item))
			json_array_append(building->items, item);
		if (part_get_text(part).len)
			json_array_append_new(building->items, message_item(part, own));
		if (call && json_is_true(json_object_get(own, "custom")) &&
		    json_is_string(json_object_get(json_object_get(call, "args"), "input")))
			json_array_append_new(building->items, custom_call_item(building, call));
		else if (call)
			json_array_append_new(building->items, function_call_item(building, call));
	}
	/* A reasoning item is rejected unless the message or call that it led to follows it. If
	 * that was truncated or not kept, the reasoning is dropped too. */
	count = json_array_size(building->items);
	while (count > first &&
	       span_eq(json_span(
			       json_object_get(json_array_get(building->items, count - 1), "type")),
	               SPAN("reasoning")))
		json_array_remove(building->items, --count);
}

json_t *openai_input_items(const struct model_request *request, bool reasons, const char *loader)
{
	json_auto_t *custom = json_object();
	struct responses_body building = { .items = json_array(), .calls = { .rule = WIRE_ID_WORD },
	                             .custom = custom, .reasons = reasons, .loader = loader };

	wire_conversation(request->contents, &building.calls, &building, responses_add_user,
	                  responses_add_assistant);
	return building.items;
}
