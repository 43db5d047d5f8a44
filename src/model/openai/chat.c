/* SPDX-License-Identifier: Apache-2.0 */
/* Chat completions: the request. Source: OpenAI's API reference, "Create chat completion". */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/openai/openai.h"
#include "model/part.h"

/* ---- conversation ------------------------------------------------------------ */

/* Chat completions: a conversation as messages.
 *
 * Each call is answered by a message of the role tool, directly after the assistant's message;
 * images in results, which such messages cannot carry, come in the user's message after them. */

struct chat_body {
	const struct chat_traits *traits;
	json_t *messages;        /* owned by the caller */
	struct wire_calls calls;
};

static void chat_add_text(json_t *parts, struct span text)
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

static bool is_audio_part(struct span type)
{
	return span_eq(type, SPAN("audio/wav")) || span_eq(type, SPAN("audio/x-wav")) ||
	       span_eq(type, SPAN("audio/mpeg")) || span_eq(type, SPAN("audio/mp3"));
}

static bool chat_takes_media(const struct model_options *options, struct span type)
{
	const struct chat_traits *traits = openai_chat_traits(options);

	return (traits->files && span_eq(type, SPAN("application/pdf"))) ||
	       (traits->audio && is_audio_part(type));
}

static void add_media(const struct chat_traits *traits, json_t *parts,
                      const struct wire_media *media)
{
	if (span_starts(media->type, SPAN("image/")))
		json_array_append_new(parts, json_pack("{s:s, s:{s:o}}", "type", "image_url",
		                                       "image_url", "url", wire_data_url(media)));
	else if (span_eq(media->type, SPAN("application/pdf")) && traits->files)
		json_array_append_new(parts, file_part(media));
	else if (is_audio_part(media->type) && traits->audio)
		json_array_append_new(parts, audio_part(media));
	else
		json_array_append_new(parts, json_pack("{s:s, s:o}", "type", "text", "text",
		                                       wire_media_note(media)));
}

/* The message of the role tool; media of the result are put into `parts`. */
static void chat_add_response(struct chat_body *building, const json_t *response, json_t *parts)
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
		chat_add_text(parts, buf_view(&intro));
		add_media(building->traits, parts, &media);
	}
	json_array_append_new(building->messages,
	                      json_pack("{s:s, s:o, s:o}", "role", "tool", "tool_call_id", id,
	                                "content", wire_response_text(response)));
}

static void chat_add_user(void *data, const json_t *content)
{
	struct chat_body *building = data;
	size_t before = json_array_size(building->messages), i;
	json_t *said = json_array();
	struct wire_media media;
	const json_t *part;
	const json_t *only;
	const json_t *text;

	json_array_foreach(json_object_get(content, "parts"), i, part) {
		const json_t *response = part_get_response(part);

		if (response)
			chat_add_response(building, response, said);
		else if (wire_media(part, &media))
			add_media(building->traits, said, &media);
		else
			chat_add_text(said, part_get_text(part));
	}
	/* Nothing that can be said is still the user's turn: many templates want the sides to
	 * alternate. */
	if (!json_array_size(said) && json_array_size(building->messages) == before)
		chat_add_text(said, SPAN("(empty)"));
	/* A message whose parts are one text is sent as that text, which every server takes. */
	only = json_array_size(said) == 1 ? json_array_get(said, 0) : NULL;
	text = json_object_get(only, "text");
	if (!json_array_size(said)) {
		json_decref(said);
		return;
	}
	json_array_append_new(building->messages, json_pack("{s:s, s:O}", "role", "user", "content",
	                                                    text ? text : said));
	json_decref(said);
}

static json_t *chat_call_object(struct chat_body *building, const json_t *call)
{
	return json_pack("{s:o, s:s, s:{s:o, s:o}}", "id", wire_calls_add(&building->calls, call),
	                 "type", "function", "function", "name",
	                 json_text(json_span(json_object_get(call, "name"))), "arguments",
	                 wire_arguments(call));
}

/* Adds the data of earlier answers that the server requires back. */
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

static void chat_add_assistant(void *data, const json_t *content)
{
	struct chat_body *building = data;
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);
	json_t *message = json_pack("{s:s}", "role", "assistant");
	json_t *calls = json_array();
	const json_t *part;
	size_t i;

	content_text(content, &text);
	json_array_foreach(json_object_get(content, "parts"), i, part)
		if (part_get_call(part))
			json_array_append_new(calls,
			                      chat_call_object(building, part_get_call(part)));
	if (!text.len && !json_array_size(calls))
		buf_str(&text, "(nothing)"); /* no server takes a message without either */
	json_object_set_new(message, "content", text.len ?
	                    json_text(buf_view(&text)) : json_null());
	if (json_array_size(calls))
		json_object_set(message, "tool_calls", calls);
	json_decref(calls);
	add_thoughts(building->traits, message, content);
	json_array_append_new(building->messages, message);
}

/* For servers without json_schema the system text describes the format of the answer. */
static void chat_add_system(struct chat_body *building, const struct model_options *options,
                            const struct model_request *request)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);
	bool developer = building->traits->developer && openai_model_of(options->name)->reasons;

	wire_system(&text, request, building->traits->schema);
	if (text.len)
		json_array_append_new(building->messages,
		                      json_pack("{s:s, s:o}", "role",
		                                developer ? "developer" : "system", "content",
		                                json_text(buf_view(&text))));
}

static json_t *chat_messages(const struct chat_traits *traits, const struct model_options *options,
                             const struct model_request *request)
{
	struct chat_body building = { .traits = traits, .messages = json_array(),
		                      .calls = { .rule = traits->ids } };

	chat_add_system(&building, options, request);
	wire_conversation(request->contents, &building.calls, &building, chat_add_user,
	                  chat_add_assistant);
	return building.messages;
}

/* ---- request ----------------------------------------------------------------- */

static json_t *chat_tool(const json_t *tool)
{
	json_t *function = json_pack("{s:O, s:o}", "name", json_object_get(tool, "name"),
	                             "parameters", wire_parameters(tool));

	return json_pack("{s:s, s:o}", "type", "function", "function",
	                 wire_described(function, tool));
}

/* {"type": "allowed_tools", ...}: all tools stay declared, which keeps the cache. */
static json_t *allowed_choice(const struct model_request *request)
{
	json_t *tools = json_array();
	const json_t *name;
	size_t i;

	json_array_foreach(request->allowed_tools, i, name)
		json_array_append_new(tools, json_pack("{s:s, s:{s:O}}", "type", "function",
		                                       "function", "name", name));
	return json_pack("{s:s, s:{s:s, s:o}}", "type", "allowed_tools", "allowed_tools", "mode",
	                 "required", "tools", tools);
}

static void chat_add_tools(json_t *body, const struct chat_traits *traits,
                           const struct model_request *request)
{
	bool any = request->tool_mode == MODEL_TOOLS_ANY;
	bool named = any && request->allowed_tools && traits->allowed_choice;
	const json_t *allowed = any && !named ? request->allowed_tools : NULL;
	json_t *tools = wire_tools(request->tools, allowed, chat_tool);

	if (!json_array_size(tools)) {
		json_decref(tools);
		return;
	}
	json_object_set_new(body, "tools", tools);
	if (named)
		json_object_set_new(body, "tool_choice", allowed_choice(request));
	else if (request->tool_mode != MODEL_TOOLS_AUTO)
		json_object_set_new(body, "tool_choice", json_string(any ? "required" : "none"));
}

static void add_effort(json_t *body, const struct chat_traits *traits,
                       const struct openai_model *model, const struct model_request *request)
{
	const char *effort = openai_effort(model, request);

	if (!traits->effort || (traits->own_models && !model->reasons))
		return;
	if (traits->own_models && model->responses_tools && json_object_get(body, "tools"))
		effort = "none";
	if (!effort)
		return;
	if (strcmp(traits->effort, "nested") == 0)
		json_object_set_new(body, "reasoning", json_pack("{s:s}", "effort", effort));
	else
		json_object_set_new(body, "reasoning_effort", json_string(effort));
}

static void chat_add_sampling(json_t *body, const struct chat_traits *traits,
                              const struct openai_model *model, const struct model_request *request)
{
	/* OpenAI's reasoning models refuse these. */
	if (traits->own_models && model->reasons)
		return;
	if (request->temperature >= 0)
		json_object_set_new(body, "temperature", json_real(request->temperature));
	if (request->top_p >= 0)
		json_object_set_new(body, "top_p", json_real(request->top_p));
	if (request->top_k > 0 && traits->top_k)
		json_object_set_new(body, "top_k", json_integer(request->top_k));
}

static void chat_add_answer_format(json_t *body, const struct chat_traits *traits,
                                   const struct model_request *request)
{
	if (!request->answer_schema)
		return;
	json_object_set_new(body, "response_format",
	                    traits->schema ?
	                            json_pack("{s:s, s:o}", "type", "json_schema", "json_schema",
	                                      openai_answer_schema(request)) :
	                            json_pack("{s:s}", "type", "json_object"));
}

static json_t *chat_body(const struct model_options *options, const struct model_request *request)
{
	const struct chat_traits *traits = openai_chat_traits(options);
	const struct openai_model *model = openai_model_of(options->name);
	json_t *body = json_pack("{s:o, s:o, s:b}", "model", json_cstr(options->name), "messages",
	                         chat_messages(traits, options, request), "stream", 1);

	if (!traits->counts_anyway)
		json_object_set_new(body, "stream_options",
		                    json_pack("{s:b}", "include_usage", 1));
	chat_add_tools(body, traits, request);
	add_effort(body, traits, model, request);
	chat_add_sampling(body, traits, model, request);
	chat_add_answer_format(body, traits, request);
	if (request->max_output_tokens)
		json_object_set_new(body,
		                    traits->new_limit ? "max_completion_tokens" : "max_tokens",
		                    json_integer(request->max_output_tokens));
	if (request->session_id && traits->cache_key)
		json_object_set_new(body, "prompt_cache_key",
		                    wire_session_key(request->session_id, OPENAI_KEY_CHARACTERS));
	return body;
}

static bool chat_build(const struct model_options *options, const struct model_request *request,
                       struct wire_request *ret, struct err *err)
{
	if (json_array_size(request->server_tools))
		return wire_no_tool("This server", json_array_get(request->server_tools, 0), err);
	wire_endpoint(&ret->url, options->base_url, "/chat/completions");
	openai_headers(options, ret);
	return wire_body(ret, chat_body(options, request), err);
}

/* The list of models, in which many servers say how long a conversation may be; OpenAI's own
 * does not. */
static bool chat_limits_build(const struct model_options *options, struct wire_request *ret)
{
	if (openai_chat_traits(options)->own_models)
		return false;
	wire_endpoint(&ret->url, options->base_url, "/models");
	openai_headers(options, ret);
	return true;
}

static uint64_t chat_limits_read(const struct model_options *options, const json_t *answer)
{
	const json_t *list = json_is_array(answer) ? answer : json_object_get(answer, "data");
	const json_t *model;
	size_t i;

	json_array_foreach(list, i, model)
		if (span_eq(json_span(json_object_get(model, "id")), span_str(options->name)))
			return openai_listed_context(model);
	return 0;
}

const struct provider_format format_openai_chat = {
	.name = "openai",
	.default_base = "https://api.openai.com/v1",
	.build = chat_build,
	.reader = &openai_chat_reader,
	.error = openai_error,
	.context_tokens = openai_context_tokens,
	.takes_media = chat_takes_media,
	.limits_build = chat_limits_build,
	.limits_read = chat_limits_read,
	.list_build = openai_list_build,
	.list_read = openai_list_read,
};
