/* SPDX-License-Identifier: Apache-2.0 */
/* Chat completions: a conversation as messages.
 *
 * Each call is answered by a message of the role tool, directly after the assistant's message;
 * images in results, which such messages cannot carry, come in the user's message after them. */
#include <string.h>

#include "base/limits.h"
#include "data/json.h"
#include "model/openai/openai.h"

struct building {
	const struct chat_traits *traits;
	json_t *messages;        /* owned by the caller */
	struct wire_calls calls;
};

static void add_text(json_t *parts, struct span text)
{
	if (text.len)
		json_array_append_new(parts, json_pack("{s:s, s:o}", "type", "text", "text",
		                                       json_text(text)));
}

static json_t *file_part(const struct wire_media *media)
{
	return json_pack("{s:s, s:{s:s, s:o}}", "type", "file", "file", "filename", "document.pdf",
	                 "file_data", wire_data_url(media));
}

static json_t *audio_part(const struct wire_media *media)
{
	bool wav = span_ends(media->type, SPAN("wav"));

	return json_pack("{s:s, s:{s:o, s:s}}", "type", "input_audio", "input_audio", "data",
	                 json_text(media->data), "format", wav ? "wav" : "mp3");
}

static void add_media(const struct chat_traits *traits, json_t *parts,
                      const struct wire_media *media)
{
	bool sound = span_eq(media->type, SPAN("audio/wav")) ||
	             span_eq(media->type, SPAN("audio/x-wav")) ||
	             span_eq(media->type, SPAN("audio/mpeg")) ||
	             span_eq(media->type, SPAN("audio/mp3"));

	if (span_starts(media->type, SPAN("image/")))
		json_array_append_new(parts, json_pack("{s:s, s:{s:o}}", "type", "image_url",
		                                       "image_url", "url", wire_data_url(media)));
	else if (span_eq(media->type, SPAN("application/pdf")) && traits->files)
		json_array_append_new(parts, file_part(media));
	else if (sound && traits->audio)
		json_array_append_new(parts, audio_part(media));
	else
		json_array_append_new(parts, json_pack("{s:s, s:o}", "type", "text", "text",
		                                       wire_media_note(media)));
}

/* The message of the role tool; media of the result are put into `parts`. */
static void add_response(struct building *building, const json_t *response, json_t *parts)
{
	json_t *id = wire_calls_answer(&building->calls, response);
	const json_t *nested = json_object_get(response, "parts");
	struct wire_media media;
	const json_t *part;
	size_t i;

	json_array_foreach(nested, i, part) {
		_cleanup_buf_ struct buf intro = BUF_INIT(512);

		if (!wire_media(part, &media))
			continue;
		buf_str(&intro, "From the result of ");
		buf_span(&intro, span_head(json_span(json_object_get(response, "name")), 200));
		buf_char(&intro, ':');
		add_text(parts, buf_view(&intro));
		add_media(building->traits, parts, &media);
	}
	json_array_append_new(building->messages,
	                      json_pack("{s:s, s:o, s:o}", "role", "tool", "tool_call_id", id,
	                                "content", wire_response_text(response)));
}

/* A message whose parts are one text is sent as that text, which every server takes. */
static void add_user_parts(struct building *building, json_t *parts)
{
	const json_t *only = json_array_size(parts) == 1 ? json_array_get(parts, 0) : NULL;
	const json_t *text = json_object_get(only, "text");

	if (!json_array_size(parts)) {
		json_decref(parts);
		return;
	}
	json_array_append_new(building->messages, json_pack("{s:s, s:O}", "role", "user", "content",
	                                                    text ? text : parts));
	json_decref(parts);
}

static void add_user(struct building *building, const json_t *content)
{
	size_t before = json_array_size(building->messages), i;
	json_t *said = json_array();
	struct wire_media media;
	const json_t *part;

	json_array_foreach(json_object_get(content, "parts"), i, part) {
		const json_t *response = part_get_response(part);

		if (response)
			add_response(building, response, said);
		else if (wire_media(part, &media))
			add_media(building->traits, said, &media);
		else
			add_text(said, part_get_text(part));
	}
	/* Nothing that can be said is still the user's turn: many templates want the sides to alternate. */
	if (!json_array_size(said) && json_array_size(building->messages) == before)
		add_text(said, SPAN("(empty)"));
	add_user_parts(building, said);
}

static json_t *call_of(struct building *building, const json_t *call)
{
	_cleanup_buf_ struct buf args = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);
	const json_t *value = json_object_get(call, "args");

	if (!value || !json_print(&args, value, 0)) {
		buf_clear(&args);
		buf_str(&args, "{}");
	}
	return json_pack("{s:o, s:s, s:{s:o, s:o}}", "id", wire_calls_add(&building->calls, call),
	                 "type", "function", "function", "name",
	                 json_text(json_span(json_object_get(call, "name"))), "arguments",
	                 json_text(buf_view(&args)));
}

/* What the server gave along with its answer and wants back. */
static void add_thoughts(const struct chat_traits *traits, json_t *message, const json_t *content)
{
	bool calls = json_object_get(message, "tool_calls") != NULL;
	_cleanup_buf_ struct buf thoughts = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);
	const char *member = traits->thought;
	const json_t *part;
	size_t i;

	json_array_foreach(json_object_get(content, "parts"), i, part) {
		const json_t *opaque = wire_own(part, format_openai_chat.name);
		json_t *details = json_object_get(opaque, "reasoning_details");
		const char *from = json_string_value(json_object_get(opaque, "member"));

		if (details && traits->details)
			json_object_set(message, "reasoning_details", details);
		if (!from || !part_is_thought(part))
			continue;
		if (member && !*member)
			member = from;
		buf_span(&thoughts, json_span(json_object_get(part, "text")));
	}
	if (calls && member && *member && thoughts.len)
		json_object_set_new(message, member, json_text(buf_view(&thoughts)));
}

static void add_assistant(struct building *building, const json_t *content)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);
	json_t *message = json_pack("{s:s}", "role", "assistant");
	json_t *calls = json_array();
	const json_t *part;
	size_t i;

	wire_calls_begin(&building->calls);
	content_text(content, &text);
	json_array_foreach(json_object_get(content, "parts"), i, part)
		if (part_get_call(part))
			json_array_append_new(calls, call_of(building, part_get_call(part)));
	if (!text.len && !json_array_size(calls))
		buf_str(&text, "(nothing)"); /* no server takes a message without either */
	json_object_set_new(message, "content", text.len ? json_text(buf_view(&text)) : json_null());
	if (json_array_size(calls))
		json_object_set(message, "tool_calls", calls);
	json_decref(calls);
	add_thoughts(building->traits, message, content);
	json_array_append_new(building->messages, message);
}

/* Servers without json_schema are told what the answer has to be. */
static void add_system(struct building *building, const struct model_options *options,
                       const struct model_request *request)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);
	bool developer = building->traits->developer && openai_model_of(options->name)->reasons;

	buf_span(&text, request->system);
	if (request->answer_schema && !building->traits->schema) {
		buf_str(&text, "\n\nAnswer with one JSON value of this JSON Schema, and nothing "
		               "else:\n");
		json_print(&text, request->answer_schema, 0);
	}
	if (text.len)
		json_array_append_new(building->messages,
		                      json_pack("{s:s, s:o}", "role",
		                                developer ? "developer" : "system", "content",
		                                json_text(buf_view(&text))));
}

json_t *chat_messages(const struct chat_traits *traits, const struct model_options *options,
                      const struct model_request *request)
{
	struct building building = { .traits = traits, .messages = json_array(),
	                             .calls = { .rule = traits->ids } };
	const json_t *content;
	size_t i;

	wire_calls_begin(&building.calls);
	add_system(&building, options, request);
	json_array_foreach(request->contents, i, content) {
		if (content_is_user(content))
			add_user(&building, content);
		else
			add_assistant(&building, content);
	}
	wire_calls_release(&building.calls);
	return building.messages;
}
