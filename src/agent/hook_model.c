/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/hook_model.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"
#include "tool/tool.h"

/* ---- requests ---------------------------------------------------------------------- */

static json_t *message_text(const json_t *content)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	size_t i;
	json_t *part;

	json_array_foreach(json_object_get(content, "parts"), i, part) {
		const json_t *call = part_get_call(part), *answer = part_get_response(part);

		if (call || answer)
			json_print(&text, part, 0);
		else
			buf_span(&text, part_get_text(part));
	}
	return json_text(buf_view(&text));
}

static json_t *messages_of(const json_t *contents)
{
	json_t *messages = json_array(), *content, *message;
	size_t i;

	json_array_foreach((json_t *)contents, i, content) {
		message = json_object();
		json_object_set(message, "role", json_object_get(content, "role"));
		json_object_set_new(message, "content", message_text(content));
		json_array_append_new(messages, message);
	}
	return messages;
}

static json_t *config_of(const struct model_request *request)
{
	json_t *config = json_object();

	if (request->temperature >= 0)
		json_object_set_new(config, "temperature", json_real(request->temperature));
	if (request->top_p >= 0)
		json_object_set_new(config, "topP", json_real(request->top_p));
	if (request->top_k > 0)
		json_object_set_new(config, "topK", json_integer(request->top_k));
	if (request->max_output_tokens)
		json_object_set_new(config, "maxOutputTokens",
		                    json_integer(request->max_output_tokens));
	return config;
}

json_t *hook_request(const char *model, const struct model_request *request)
{
	static const char *const modes[] = {
		[MODEL_TOOLS_AUTO] = "AUTO", [MODEL_TOOLS_ANY] = "ANY", [MODEL_TOOLS_NONE] = "NONE",
	};
	json_t *shown = json_object(), *tools = json_object();

	json_object_set_new(shown, "model", json_cstr(model));
	json_object_set_new(shown, "messages", messages_of(request->contents));
	json_object_set_new(shown, "config", config_of(request));
	json_object_set_new(tools, "mode", json_string(modes[request->tool_mode]));
	if (request->allowed_tools)
		json_object_set(tools, "allowedFunctionNames", (json_t *)request->allowed_tools);
	json_object_set_new(shown, "toolConfig", tools);
	return shown;
}

static void override_config(struct model_request *request, const json_t *config)
{
	const json_t *temperature = json_object_get(config, "temperature");
	const json_t *top_p = json_object_get(config, "topP");
	json_int_t top_k = json_integer_value(json_object_get(config, "topK"));
	json_int_t most = json_integer_value(json_object_get(config, "maxOutputTokens"));

	if (json_is_number(temperature))
		request->temperature = json_number_value(temperature);
	if (json_is_number(top_p))
		request->top_p = json_number_value(top_p);
	if (top_k > 0 && top_k <= 1000)
		request->top_k = (int)top_k;
	if (most > 0 && most <= UINT32_MAX)
		request->max_output_tokens = (unsigned)most;
}

static json_t *text_message(const json_t *message)
{
	const char *role = json_string_value(json_object_get(message, "role"));
	struct span text = json_span(json_object_get(message, "content"));
	json_t *content = content_new(role && !strcmp(role, "model") ? "model" : "user");

	content_add(content, part_text(text));
	return content;
}

void hook_override(struct model_request *request, const json_t *shown, const json_t *override,
                   json_t **ret_owned)
{
	json_t *messages = json_object_get(override, "messages"), *message;
	size_t i;

	override_config(request, json_object_get(override, "config"));
	if (!json_is_array(messages) || json_equal(messages, json_object_get(shown, "messages")))
		return;
	*ret_owned = json_array();
	json_array_foreach(messages, i, message)
		json_array_append_new(*ret_owned, text_message(message));
	request->contents = *ret_owned;
}

/* ---- which tools ------------------------------------------------------------------- */

static bool names(const json_t *list, const char *name)
{
	const struct tool *tool = tool_find(name);
	size_t i;
	json_t *allowed;

	json_array_foreach((json_t *)list, i, allowed) {
		const char *word = json_string_value(allowed);

		if (word && (!strcmp(word, name) || (tool && tool_find(word) == tool)))
			return true;
	}
	return false;
}

void hook_select_tools(struct model_request *request, const json_t *config, json_t **ret_owned)
{
	const char *mode = json_string_value(json_object_get(config, "mode"));
	const json_t *allowed = json_object_get(config, "allowedFunctionNames");
	size_t i;
	json_t *tool;

	if (mode && !strcmp(mode, "NONE"))
		request->tool_mode = MODEL_TOOLS_NONE;
	else if (mode && !strcmp(mode, "ANY"))
		request->tool_mode = MODEL_TOOLS_ANY;
	if (!json_array_size(allowed) || !request->tools)
		return;
	*ret_owned = json_array();
	json_array_foreach((json_t *)request->tools, i, tool)
		if (names(allowed, json_string_value(json_object_get(tool, "name"))))
			json_array_append(*ret_owned, tool);
	request->tools = *ret_owned;
}

/* ---- replies ----------------------------------------------------------------------- */

static const char *finish_word(enum model_finish finish)
{
	static const char *const words[] = {
		[MODEL_FINISH_STOP] = "STOP",     [MODEL_FINISH_TOOLS] = "STOP",
		[MODEL_FINISH_LENGTH] = "MAX_TOKENS", [MODEL_FINISH_SAFETY] = "SAFETY",
		[MODEL_FINISH_OTHER] = "OTHER",   [MODEL_FINISH_PAUSE] = "OTHER",
	};

	return words[finish];
}

static json_t *usage_of(const struct model_usage *usage)
{
	json_t *object = json_object();

	json_object_set_new(object, "promptTokenCount", json_size(usage->input));
	json_object_set_new(object, "candidatesTokenCount", json_size(usage->output));
	json_object_set_new(object, "totalTokenCount", json_size(usage->total));
	return object;
}

json_t *hook_response(const struct model_reply *reply)
{
	json_t *response = json_object(), *content = json_object(), *parts = json_array();
	json_t *candidate = json_object(), *candidates = json_array();
	json_t *text = message_text(reply->content);

	json_array_append(parts, text);
	json_object_set_new(content, "role", json_string("model"));
	json_object_set_new(content, "parts", parts);
	json_object_set_new(candidate, "content", content);
	json_object_set_new(candidate, "finishReason", json_string(finish_word(reply->finish)));
	json_object_set_new(candidate, "index", json_integer(0));
	json_array_append_new(candidates, candidate);
	json_object_set_new(response, "text", text);
	json_object_set_new(response, "candidates", candidates);
	json_object_set_new(response, "usageMetadata", usage_of(&reply->usage));
	return response;
}

json_t *hook_response_content(const json_t *response)
{
	const json_t *candidate = json_array_get(json_object_get(response, "candidates"), 0);
	const json_t *parts = json_object_get(json_object_get(candidate, "content"), "parts");
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);
	json_t *content, *part;
	size_t i;

	json_array_foreach((json_t *)parts, i, part)
		buf_span(&text, json_is_object(part) ? part_get_text(part) : json_span(part));
	if (!text.len)
		buf_span(&text, json_span(json_object_get(response, "text")));
	if (!text.len)
		return NULL;
	content = content_new("model");
	content_add(content, part_text(buf_view(&text)));
	return content;
}
