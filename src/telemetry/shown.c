/* SPDX-License-Identifier: Apache-2.0 */
/* What of arguments and of hooks' input is written: never what files hold. */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "telemetry/private.h"

/* Of a path or pattern, of a command, of the name of an argument, of objects within objects. */
enum {
	ARGUMENT_BYTES_MAX = 256,
	COMMAND_BYTES_MAX = 1024,
	ARGUMENT_NAME_BYTES_MAX = 64,
	ARGUMENT_DEPTH_MAX = 16,
	TOOL_NAME_BYTES_MAX = 128, /* providers of models take 64 */
};

static bool name_is_listed(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Arguments whose texts say where and how, never what a file holds; all others are their length. */
static bool argument_is_shown(const char *name, struct span text)
{
	static const char *const names[] = {
		"file_path", "file_paths", "dir_path", "path", "paths", "new_path", "directory",
		"workdir", "log_path", "plan_filename", "pattern", "patterns", "glob", "include",
		"include_pattern", "exclude", "exclude_pattern", "file_types", "fileName",
		"filePath",
	};

	return text.len <= ARGUMENT_BYTES_MAX && !memchr(text.data, '\n', text.len) &&
	       name_is_listed(name, names, ARRAY_LEN(names));
}

/* Details: a command of one line, which cannot have a file in it. */
static bool argument_is_command(const char *name, struct span text)
{
	return !strcmp(name, "command") && text.len <= COMMAND_BYTES_MAX &&
	       !memchr(text.data, '\n', text.len);
}

/* A model writes the names too: one that no schema would have is not shown. */
static bool argument_name_is_plain(const char *name)
{
	const size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                "0123456789_-");

	return len > 0 && len <= ARGUMENT_NAME_BYTES_MAX && !name[len];
}

/* `name`: of the nearest member of an object that it stands in. A new reference. */
static json_t *shown_argument(const char *name, const json_t *value, telemetry_mask *mask,
                              unsigned depth)
{
	const char *key;
	json_t *member, *shown;
	size_t i;

	if (json_is_string(value)) {
		if (argument_is_shown(name, json_span(value)))
			return json_incref((json_t *)value);
		if (mask && argument_is_command(name, json_span(value)))
			return mask(json_span(value));
		return json_sprintf("[%zu bytes]", json_string_length(value));
	}
	if (!json_is_object(value) && !json_is_array(value))
		return json_incref((json_t *)value);
	shown = json_is_object(value) ? json_object() : json_array();
	if (depth >= ARGUMENT_DEPTH_MAX)
		return shown;
	json_object_foreach((json_t *)value, key, member)
		if (argument_name_is_plain(key))
			json_object_set_new(shown, key,
			                    shown_argument(key, member, mask, depth + 1));
	json_array_foreach(value, i, member)
		json_array_append_new(shown, shown_argument(name, member, mask, depth + 1));
	return shown;
}

json_t *telemetry_shown_arguments(const json_t *arguments, telemetry_mask *mask)
{
	return shown_argument("", arguments, mask, 0);
}

/* Of a confirmation: its kind and title are hasp's own words; the rest is as a tool's arguments. */
static json_t *shown_confirmation(const json_t *details, telemetry_mask *mask)
{
	static const char *const own[] = { "type", "title" };
	json_t *shown = telemetry_shown_arguments(details, mask);

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (json_is_string(json_object_get(details, own[i])))
			json_object_set_new(shown, own[i], mask(json_span(
				json_object_get(details, own[i]))));
	return shown;
}

/* Of a hook's input: why and where it runs, and the prompt. The rest are requests, replies and
 * results. */
static json_t *shown_input_member(const char *name, const json_t *value, telemetry_mask *mask)
{
	static const char *const names[] = {
		"session_id", "transcript_path", "cwd", "hook_event_name", "timestamp", "source",
		"reason", "trigger", "tool_name", "original_request_name", "notification_type",
		"prompt",
	};
	json_t *cut, *shown;

	if (!strcmp(name, "tool_input"))
		return telemetry_shown_arguments(value, mask);
	if (!strcmp(name, "details") && json_is_object(value))
		return shown_confirmation(value, mask);
	if (json_is_string(value) && name_is_listed(name, names, ARRAY_LEN(names))) {
		cut = telemetry_limited_text(json_span(value));
		shown = mask(json_span(cut));
		json_decref(cut);
		return shown;
	}
	if (json_is_string(value))
		return json_sprintf("[%zu bytes]", json_string_length(value));
	if (json_is_object(value))
		return json_sprintf("[%zu members]", json_object_size(value));
	if (json_is_array(value))
		return json_sprintf("[%zu items]", json_array_size(value));
	return json_incref((json_t *)value);
}

json_t *telemetry_shown_hook_input(const json_t *input, telemetry_mask *mask)
{
	json_t *shown = json_object(), *value;
	const char *name;

	json_object_foreach((json_t *)input, name, value)
		json_object_set_new(shown, name, shown_input_member(name, value, mask));
	return shown;
}

json_t *telemetry_limited_text(struct span text)
{
	return json_text(utf8_head(text, TELEMETRY_TEXT_BYTES_MAX));
}

const char *telemetry_tool_name(const char *name)
{
	const size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                "0123456789_-.:/");

	return len > 0 && len <= TOOL_NAME_BYTES_MAX && !name[len] ? name : "(other)";
}

/* As Gemini CLI counts them: one more than there are line ends. */
static json_t *text_lines(const json_t *text)
{
	const struct span all = json_span(text);
	size_t lines = 1;

	for (size_t i = 0; i < all.len; i++)
		lines += all.data[i] == '\n';
	return json_size(lines);
}

json_t *telemetry_file_lines(const json_t *written, const json_t *result)
{
	const json_t *texts[] = {
		written, json_object_get(result, "content"),
		json_object_get(json_object_get(result, "latest_file_state"), "content"),
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (json_is_string(texts[i]))
			return text_lines(texts[i]);
	return NULL;
}

json_t *telemetry_json_length(const json_t *value)
{
	return json_size(value ? json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) : 0);
}

json_t *telemetry_joined(const json_t *names)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TELEMETRY_TEXT_BYTES_MAX);
	json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
		if (json_is_string(name))
			buf_printf(&out, "%s%s", out.len ? "," : "", json_string_value(name));
	return json_text(buf_view(&out));
}

void telemetry_limit_texts(json_t *attributes)
{
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(attributes, next, name, value)
		if (json_string_length(value) > TELEMETRY_TEXT_BYTES_MAX)
			json_object_set_new(attributes, name,
			                    telemetry_limited_text(json_span(value)));
}
