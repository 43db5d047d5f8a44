/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest in the form that all formats are read into (extensions_formats.c): what it says, and
 * what those who read one share. */
#include "config/extensions.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/unseen.h"
#include "config/private.h"
#include "data/json.h"
#include "data/warnings.h"

/* ---- reading values and reporting problems ---------------------------------------------- */

char *extension_line(struct span text)
{
	return unseen_line(text, 8 * ERR_MESSAGE_MAX);
}

void config_problem(const struct manifest_reading *reading, const char *format, ...)
{
	char text[ERR_MESSAGE_MAX];
	_cleanup_free_ char *whole = NULL, *line = NULL;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	whole = mem_printf("%s: %s", reading->path, text);
	line = extension_line(span_str(whole));
	warnings_add(reading->problems, json_text(span_str(line)));
}

void config_unused(const struct manifest_reading *reading, const char *format, ...)
{
	char text[ERR_MESSAGE_MAX];
	_cleanup_free_ char *line = NULL;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	line = extension_line(span_str(text));
	if (!json_lists(reading->unused, span_str(line)))
		warnings_add(reading->unused, json_text(span_str(line)));
}

bool extension_name_is_fine(const char *name)
{
	const size_t len = name ? strlen(name) : 0;

	for (size_t i = 0; i < len; i++)
		if (!ascii_is_alnum(name[i]) && name[i] != '-')
			return false;
	return len > 0 && len <= EXTENSION_NAME_MAX;
}

json_t *config_json(const char *folder, const char *path, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err why = ERR_INIT;
	json_t *value = NULL;

	if (!door_read(folder, path, LIMIT_SETTINGS_BYTES, &text, err) || !text.data)
		return NULL;
	if (!json_parse_depth(file_text_span(&text), EXTENSION_DEPTH, &value, &why))
		err_set(err, why.code, "%s: %s", path, why.message);
	return value;
}

/* `text` with ${NAME} replaced where `names` has the text NAME. */
static void put_hydrated(struct buf *out, struct span text, const json_t *names)
{
	while (text.len) {
		const char *dollar = memmem(text.data, text.len, "${", 2);
		const size_t before = dollar ? (size_t)(dollar - text.data) : text.len;
		const char *close = dollar ? memchr(dollar, '}', text.len - before) : NULL;
		_cleanup_free_ char *name = NULL;
		const json_t *value;

		buf_span(out, span_head(text, close ? before : text.len));
		if (!close)
			return;
		name = mem_dup(dollar + 2, (size_t)(close - dollar - 2));
		value = json_object_get(names, name);
		buf_span(out, value ? json_span(value) :
		                      span_of(dollar, (size_t)(close - dollar + 1)));
		text = span_skip(text, (size_t)(close - text.data) + 1);
	}
}

bool config_entry_runs(const json_t *entry)
{
	return json_object_get(entry, "command") || json_object_get(entry, "headersHelper");
}

void config_keep_helper(json_t *entry, const json_t *said)
{
	json_t *helper = json_object_get(said, "headersHelper");

	if (helper)
		json_object_set(entry, "headersHelper", helper);
}

/* Recursion is bounded by EXTENSION_DEPTH. */
json_t *config_put_names(const json_t *value, const json_t *names)
{
	const char *name;
	json_t *result, *one;
	size_t i;

	if (json_is_string(value)) {
		_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_SETTINGS_BYTES);

		put_hydrated(&out, json_span(value), names);
		return out.overflowed ? json_incref((json_t *)value) : json_text(buf_view(&out));
	}
	if (json_is_array(value)) {
		result = json_array();
		json_array_foreach(value, i, one)
			json_array_append_new(result, config_put_names(one, names));
		return result;
	}
	if (!json_is_object(value))
		return json_incref((json_t *)value);
	result = json_object();
	json_object_foreach((json_t *)value, name, one)
		json_object_set_new_nocheck(result, name, config_put_names(one, names));
	return result;
}

/* ---- what it says ------------------------------------------------------------------------ */

/* The form says itself which format it was. */
static const json_t *parts_of(const json_t *manifest)
{
	return json_object_get(manifest, "hasp");
}

enum extension_format extension_format(const json_t *manifest)
{
	const json_t *number = json_object_get(parts_of(manifest), "format");

	return (enum extension_format)json_integer_value(number);
}

const char *extension_part_name(enum extension_part part)
{
	static const char *const names[EXTENSION_PARTS] = {
		[EXTENSION_COMMANDS] = "commands", [EXTENSION_SKILLS] = "skills",
		[EXTENSION_AGENTS] = "agents",     [EXTENSION_POLICIES] = "policies",
	};

	return names[part];
}

const json_t *extension_part(const json_t *manifest, enum extension_part part)
{
	return json_object_get(parts_of(manifest), extension_part_name(part));
}

const json_t *extension_unused(const json_t *manifest)
{
	return json_object_get(parts_of(manifest), "unused");
}

const json_t *extension_problems(const json_t *manifest)
{
	return json_object_get(parts_of(manifest), "problems");
}

json_t *extension_origin_read(const char *folder)
{
	_cleanup_free_ char *path = path_join(folder, EXTENSION_ORIGIN);
	struct err ignored = ERR_INIT;
	json_t *origin = config_json(folder, path, &ignored);

	if (json_is_object(origin))
		return origin;
	json_decref(origin);
	return NULL;
}
