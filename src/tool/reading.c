/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/reading.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

bool reading_refuse(struct reading *reading, const char *sentence)
{
	buf_printf(reading->problems, "%s%s", reading->problems->len ? "; " : "", sentence);
	return false;
}

/* What the member was called when it came. */
static const char *sent_as(const struct reading *reading, const char *name)
{
	const char *as = json_string_value(json_object_get(reading->sent, name));

	return as ? as : name;
}

void reading_rename(struct reading *reading, const char *from, const char *to)
{
	json_t *value = json_object_get(reading->args, from);

	if (!value || json_object_get(reading->args, to))
		return;
	json_object_set_new(reading->sent, to, json_string(sent_as(reading, from)));
	json_object_del(reading->sent, from);
	json_object_set(reading->args, to, value);
	json_object_del(reading->args, from);
}

/* "oldString" as "old_string", "FilePath" as "file_path". The caller frees. */
static char *snake_member(const char *name)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);

	for (const char *c = name; *c; c++) {
		const bool upper = *c >= 'A' && *c <= 'Z';

		if (upper && c > name && c[-1] != '_' && !(c[-1] >= 'A' && c[-1] <= 'Z'))
			buf_char(&text, '_');
		buf_char(&text, (char)(upper ? *c - 'A' + 'a' : *c));
	}
	return text.len && !text.overflowed ? buf_steal(&text) : mem_strdup(name);
}

/* "-A" and its like are names as they are. */
static bool is_camel(const char *name)
{
	bool upper = false;

	for (const char *c = name; *c; c++) {
		if (!ascii_is_alnum(*c))
			return false;
		upper = upper || (*c >= 'A' && *c <= 'Z');
	}
	return upper;
}

/* A copy with snake_case names; what was renamed goes to `sent` (NULL: nowhere). */
json_t *reading_snake(const json_t *object, json_t *sent)
{
	json_t *copy = json_object(), *value;
	const char *name;

	json_object_foreach((json_t *)object, name, value) {
		_cleanup_free_ char *snake = is_camel(name) ? snake_member(name) : NULL;

		if (!snake || json_object_get(object, snake)) {
			json_object_set(copy, name, value);
			continue;
		}
		json_object_set(copy, snake, value);
		if (sent)
			json_object_set_new(sent, snake, json_string(name));
	}
	return copy;
}

/* The first of these members (names with spaces between them) that is there; borrowed. */
json_t *reading_member(const json_t *object, const char *names)
{
	json_t *value = NULL;

	while (*names && !value) {
		const size_t len = strcspn(names, " ");
		_cleanup_free_ char *name = mem_dup(names, len);

		value = json_object_get(object, name);
		names += len + (names[len] == ' ');
	}
	return value;
}

/* The arguments become these (taken); those that every editor has stay. */
void reading_take(struct reading *reading, const char *tool, json_t *args)
{
	static const char *const common[] = { "dry_run", "return_content", "create_dirs",
		                              "wait_for_previous" };

	for (size_t i = 0; i < ARRAY_LEN(common); i++) {
		json_t *value = json_object_get(reading->args, common[i]);

		if (value)
			json_object_set(args, common[i], value);
	}
	json_decref(reading->args);
	reading->args = args;
	reading->tool = tool;
}
