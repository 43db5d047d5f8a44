/* SPDX-License-Identifier: Apache-2.0 */
/* A server's request to a model (sampling/createMessage), parsed and sanitized; and the answer in
 * the form that the server gets.
 *
 * Source: MCP 2025-11-25 and 2026-07-28, client/sampling; 2025-06-18 has the same without tools.
 * What a server says of models (modelPreferences), of other servers' contexts (includeContext) and
 * to providers (metadata) has no effect.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/declared/declared.h"
#include "mcp/servers/servers.h"

enum {
	STOPS_MAX = 16,
	STOP_BYTES = 256,
	SHOWN_BYTES = 32 << 10, /* of all texts, for the user */
};

/* One request while it is read. */
struct sampling_reader {
	struct buf *shown;
	size_t text_bytes, media_bytes;
};

/* ---- messages ---- */

static json_t *sampled_text(struct sampling_reader *reader, const json_t *text, struct err *err)
{
	json_auto_t *part = NULL;

	if (!json_is_string(text)) {
		err_set(err, ERR_INVALID_ARGUMENT, "A text is no string.");
		return NULL;
	}
	if (json_string_length(text) > LIMIT_MCP_SAMPLING_BYTES - reader->text_bytes) {
		err_set(err, ERR_INVALID_ARGUMENT, "The texts are longer than %zu bytes.",
		        LIMIT_MCP_SAMPLING_BYTES);
		return NULL;
	}
	reader->text_bytes += json_string_length(text);
	part = json_pack("{s:O}", "text", text);
	return json_show_unseen(part, NULL);
}

static json_t *sampled_media(struct sampling_reader *reader, const json_t *data, struct err *err)
{
	const struct span bytes = json_span(data);
	const char *mime = mcp_media_mime(bytes);

	if (!mime || bytes.len > LIMIT_MEDIA_BYTES - reader->media_bytes) {
		err_set(err, ERR_INVALID_ARGUMENT, mime ? "The media are too many." :
		        "An image or a sound is of no kind that is known.");
		return NULL;
	}
	reader->media_bytes += bytes.len;
	buf_printf(reader->shown, "[%s, %zu bytes in base64]\n", mime, bytes.len);
	return json_pack("{s:{s:s, s:O}}", "inlineData", "mimeType", mime, "data", data);
}

/* A part as model/content.h has it; a new reference. NULL: *err. */
static json_t *read_block(struct sampling_reader *reader, const json_t *block, struct err *err)
{
	const struct span type = json_span(json_object_get(block, "type"));
	json_t *part;

	if (span_eq(type, SPAN("image")) || span_eq(type, SPAN("audio")))
		return sampled_media(reader, json_object_get(block, "data"), err);
	if (!span_eq(type, SPAN("text"))) {
		err_set(err, ERR_INVALID_ARGUMENT, "A message has content that is neither a text "
		        "nor an image nor audio.");
		return NULL;
	}
	part = sampled_text(reader, json_object_get(block, "text"), err);
	buf_span(reader->shown, json_span(json_object_get(part, "text")));
	buf_str(reader->shown, "\n");
	return part;
}

/* 2025-06-18 has one block, later versions one or a list. */
static json_t *read_parts(struct sampling_reader *reader, json_t *content, struct err *err)
{
	json_auto_t *blocks = json_is_array(content) ? json_incref(content) :
	                                               json_pack("[O*]", content);
	json_auto_t *parts = json_array();
	size_t i;
	json_t *block;

	if (!json_array_size(blocks) || json_array_size(blocks) > LIMIT_MCP_SAMPLING_PARTS) {
		err_set(err, ERR_INVALID_ARGUMENT, "A message has no content, or more than %d "
		        "blocks.", LIMIT_MCP_SAMPLING_PARTS);
		return NULL;
	}
	json_array_foreach(blocks, i, block) {
		json_t *part = read_block(reader, block, err);

		if (!part)
			return NULL;
		json_array_append_new(parts, part);
	}
	return mem_steal(&parts);
}

static bool read_messages(struct sampling_reader *reader, const json_t *messages, json_t *into,
                          struct err *err)
{
	size_t i;
	json_t *message;

	if (!json_array_size(messages) || json_array_size(messages) > LIMIT_MCP_SAMPLING_PARTS)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "messages is no list of 1 to %d messages.",
		               LIMIT_MCP_SAMPLING_PARTS);
	json_array_foreach(messages, i, message) {
		const struct span role = json_span(json_object_get(message, "role"));
		const bool user = span_eq(role, SPAN("user"));
		json_t *parts;

		if (!user && !span_eq(role, SPAN("assistant")))
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "A role is neither \"user\" nor \"assistant\".");
		buf_printf(reader->shown, "%s:\n", user ? "User" : "Assistant");
		parts = read_parts(reader, json_object_get(message, "content"), err);
		if (!parts)
			return false;
		json_array_append_new(into, json_pack("{s:s, s:o}", "role",
		                                      user ? "user" : "model", "parts", parts));
	}
	return true;
}

static bool read_system(struct sampling_reader *reader, const json_t *prompt,
                        struct mcp_sampling *ret, struct err *err)
{
	json_auto_t *part = NULL;

	if (!prompt || json_is_null(prompt))
		return true;
	part = sampled_text(reader, prompt, err);
	if (!part)
		return false;
	ret->system = json_incref(json_object_get(part, "text"));
	buf_printf(reader->shown, "System prompt:\n%s\n", json_string_value(ret->system));
	return true;
}

/* ---- the answer ---- */

static bool read_max_tokens(const json_t *most, struct mcp_sampling *ret, struct err *err)
{
	const double value = json_number_value(most);

	if (!json_is_number(most) || !(value >= 1))
		return err_set(err, ERR_INVALID_ARGUMENT, "maxTokens is no number from 1.");
	ret->max_tokens = value < LIMIT_MCP_SAMPLING_TOKENS ? (unsigned)value :
	                                                      LIMIT_MCP_SAMPLING_TOKENS;
	return true;
}

static bool read_temperature(const json_t *temperature, struct mcp_sampling *ret, struct err *err)
{
	const double value = json_number_value(temperature);

	ret->temperature = -1;
	if (!temperature || json_is_null(temperature))
		return true;
	if (!json_is_number(temperature) || !isfinite(value) || value < 0 || value > 2)
		return err_set(err, ERR_INVALID_ARGUMENT, "temperature is no number from 0 to 2.");
	ret->temperature = value;
	return true;
}

static bool read_stops(json_t *stops, struct mcp_sampling *ret, struct err *err)
{
	size_t i;
	json_t *stop;

	if (stops && !json_is_null(stops) &&
	    (!json_is_array(stops) || json_array_size(stops) > STOPS_MAX))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "stopSequences is no list of at most %d texts.", STOPS_MAX);
	json_array_foreach(stops, i, stop)
		if (!json_string_length(stop) || json_string_length(stop) > STOP_BYTES)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "A stop sequence is no text of 1 to %d bytes.", STOP_BYTES);
	ret->stops = json_incref(stops);
	return true;
}

bool mcp_sampling_read(const json_t *params, struct mcp_sampling *ret, struct err *err)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES);
	struct sampling_reader reader = { .shown = &shown };
	struct span head;

	*ret = (struct mcp_sampling){ .contents = json_array() };
	if (json_object_get(params, "tools") || json_object_get(params, "toolChoice"))
		err_set(err, ERR_INVALID_ARGUMENT, "hasp does not offer sampling.tools.");
	else if (read_system(&reader, json_object_get(params, "systemPrompt"), ret, err) &&
	         read_messages(&reader, json_object_get(params, "messages"), ret->contents, err) &&
	         read_max_tokens(json_object_get(params, "maxTokens"), ret, err) &&
	         read_temperature(json_object_get(params, "temperature"), ret, err) &&
	         read_stops(json_object_get(params, "stopSequences"), ret, err)) {
		head = utf8_head(span_trim(buf_view(&shown)), SHOWN_BYTES);
		ret->shown = head.len < span_trim(buf_view(&shown)).len ?
			mem_printf("%.*s\n[%zu more bytes are not shown]", (int)head.len, head.data,
			           shown.len - head.len) :
			mem_printf("%.*s", (int)head.len, head.data);
		return true;
	}
	mcp_sampling_release(ret);
	return false;
}

void mcp_sampling_release(struct mcp_sampling *sampling)
{
	json_decref(sampling->contents);
	json_decref(sampling->system);
	json_decref(sampling->stops);
	free(sampling->shown);
	*sampling = (struct mcp_sampling){ 0 };
}

/* ---- the answer ---- */

bool mcp_sampling_stops(const struct mcp_sampling *sampling, struct span text, size_t *ret_len)
{
	const char *first = NULL;
	size_t i;
	json_t *stop;

	json_array_foreach(sampling->stops, i, stop) {
		const char *at = text.len ? memmem(text.data, text.len, json_string_value(stop),
		                                   json_string_length(stop)) : NULL;

		if (at && (!first || at < first))
			first = at;
	}
	*ret_len = first ? (size_t)(first - text.data) : text.len;
	return first;
}

json_t *mcp_sampling_result(const struct mcp_sampling *sampling, struct span text,
                            const char *model, const char *reason)
{
	size_t len;
	const bool stopped = mcp_sampling_stops(sampling, text, &len);

	return json_pack("{s:s, s:{s:s, s:o}, s:o, s:s}", "role", "assistant", "content",
	                 "type", "text", "text", json_text(span_head(text, len)), "model",
	                 json_cstr(model), "stopReason", stopped ? "stopSequence" : reason);
}
