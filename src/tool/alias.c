/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"

/* Sent by models to any tool, of use to none. */
static const char *const ignored_everywhere[] = { "wait_for_previous" };

/* What is found out on the way. */
struct alias_sent {
	json_t *names;        /* borrowed */
	struct buf *problems; /* borrowed */
};

/* The value under the canonical name; integers, also as text, moved by the offset. */
static json_t *move_member(json_t *value, int offset_by)
{
	const char *text = json_string_value(value);
	char *end = NULL;
	long number;

	if (!offset_by || json_is_null(value))
		return json_incref(value);
	if (json_is_integer(value) && json_integer_value(value) < INT32_MAX)
		return json_integer(json_integer_value(value) + offset_by);
	number = text ? strtol(text, &end, 10) : 0;
	if (end && end != text && !*end && labs(number) < INT32_MAX)
		return json_integer(number + offset_by);
	return json_incref(value);
}

/* Puts `value` (taken over) under `name` in place of the alias; NULL forgets the alias. */
static void replace_member(json_t *object, const char *alias, const char *name, json_t *value,
                           const char *where, struct buf *problems)
{
	json_t *own = name ? json_object_get(object, name) : NULL;

	if (own && value && !json_is_null(own) && !json_is_null(value) && !json_equal(own, value))
		buf_printf(problems, "%s%s%s: the same as %s, but with another value; give one",
		           problems->len ? "; " : "", where, alias, name);
	else if (name && value && (!own || json_is_null(own)))
		json_object_set(object, name, value);
	json_object_del(object, alias);
	json_decref(value);
}

/* The name under which the member came, by its canonical one; whole paths. */
static void note_sent(struct alias_sent *sent, const char *where, const char *alias,
                      const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s%s", where, name);
	_cleanup_free_ char *as = mem_printf("%s%s", where, alias);

	json_object_set_new(sent->names, path, json_string(as));
}

/* What counts from 1 in the canonical words counts from the offset less in these. */
static bool in_range(const json_t *value, const struct tool_alias *row, const char *where,
                     const char *alias, struct alias_sent *sent)
{
	json_t *moved = move_member((json_t *)value, row->offset_by);
	bool ok = !row->offset_by || !json_is_integer(moved) || json_integer_value(moved) >= 1;

	if (!ok)
		buf_printf(sent->problems, "%s%s%s: must be at least %d, got %lld",
		           sent->problems->len ? "; " : "", where, alias, 1 - row->offset_by,
		           (long long)json_integer_value(moved) - row->offset_by);
	json_decref(moved);
	return ok;
}

static void rename_member(json_t *object, const char *alias, const struct tool_alias *row,
                          const char *where, struct alias_sent *sent)
{
	json_t *value = json_object_get(object, alias);

	if (!value)
		return;
	if (!in_range(value, row, where, alias, sent)) {
		json_object_del(object, alias);
		return;
	}
	if (row->name && !json_object_get(object, row->name))
		note_sent(sent, where, alias, row->name);
	replace_member(object, alias, row->name, move_member(value, row->offset_by), where,
	               sent->problems);
}

/* 1, 0, or -1 when the value is neither; models write "true" as well. */
static int read_truth(const json_t *value)
{
	const char *text = json_string_value(value);

	if (json_is_boolean(value))
		return json_is_true(value);
	if (text && strcmp(text, "true") == 0)
		return 1;
	return text && strcmp(text, "false") == 0 ? 0 : -1;
}

/* A value that a tool's table has as JSON. NULL for NULL. */
static json_t *table_value(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;

	return text && json_parse(span_str(text), &value, &err) ? value : NULL;
}

static void put_no_truth(struct buf *problems, const char *alias, const json_t *value)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(4096);

	if (!json_print(&shown, value, 0))
		buf_str(&shown, json_type_phrase(value));
	buf_printf(problems, "%s%s: must be true or false, got %.*s", problems->len ? "; " : "",
	           alias, (int)utf8_head(buf_view(&shown), 60).len, shown.data);
}

static void resolve_switch(json_t *object, const struct tool_switch *row, struct buf *problems)
{
	const json_t *value = json_object_get(object, row->alias);
	const char *meaning = NULL;

	if (!value)
		return;
	if (read_truth(value) >= 0)
		meaning = read_truth(value) ? row->when_true : row->when_false;
	else if (!json_is_null(value))
		put_no_truth(problems, row->alias, value);
	replace_member(object, row->alias, row->name,
	               table_value(meaning), "", problems);
}

static void set_defaults_of_name(json_t *object, const struct tool *tool, const char *called)
{
	const struct tool_name_default *row = tool->name_defaults;

	for (; row && row->tool_alias; row++) {
		const json_t *own = json_object_get(object, row->parameter);

		if (strcmp(row->tool_alias, called) == 0 && (!own || json_is_null(own)))
			json_object_set_new(object, row->parameter, table_value(row->value));
	}
}

static bool any_has(const json_t *array, const char *member)
{
	size_t i;
	json_t *element;

	json_array_foreach(array, i, element)
		if (json_object_get(element, member))
			return true;
	return false;
}

/* "changes[].old_string": in a copy of each object of the array. */
static void rename_in_elements(json_t *object, const struct tool_alias *row,
                               const char *brackets, struct alias_sent *sent)
{
	_cleanup_free_ char *array_name = mem_dup(row->alias, (size_t)(brackets - row->alias));
	json_t *array = json_object_get(object, array_name);
	json_t *copy;
	size_t i;
	json_t *element;

	if (!any_has(array, brackets + 3))
		return;
	copy = json_array();
	json_array_foreach(array, i, element) {
		_cleanup_free_ char *where = mem_printf("%s[%zu].", array_name, i);
		json_t *own = json_is_object(element) ? json_copy(element) : json_incref(element);

		if (json_is_object(own))
			rename_member(own, brackets + 3, row, where, sent);
		json_array_append_new(copy, own);
	}
	json_object_set_new(object, array_name, copy);
}

json_t *alias_resolve(const struct tool *tool, const char *called, const json_t *arguments,
                      json_t **ret_sent, struct buf *problems)
{
	json_t *object = json_copy((json_t *)arguments);
	json_auto_t *names = json_object();
	struct alias_sent sent = { names, problems };

	for (size_t i = 0; i < ARRAY_LEN(ignored_everywhere); i++)
		json_object_del(object, ignored_everywhere[i]);
	for (const struct tool_alias *row = tool->parameter_aliases; row && row->alias; row++) {
		const char *brackets = strstr(row->alias, "[].");

		if (brackets)
			rename_in_elements(object, row, brackets, &sent);
		else
			rename_member(object, row->alias, row, "", &sent);
	}
	for (const struct tool_switch *row = tool->switches; row && row->alias; row++)
		resolve_switch(object, row, problems);
	set_defaults_of_name(object, tool, called);
	if (ret_sent)
		*ret_sent = json_incref(names);
	return object;
}

/* ---- paths ---------------------------------------------------------------------------- */

/* NULL: the text is the path. */
static json_t *path_bytes(const json_t *text)
{
	const char *shown = json_string_value(text);
	_cleanup_free_ char *name = NULL;

	/* A path with a NUL byte is the resolver's to refuse. */
	if (!shown || !strchr(shown, '\\') || strlen(shown) != json_string_length(text))
		return NULL;
	name = name_from_shown(shown);
	return strcmp(name, shown) == 0 ? NULL : json_path_bytes(name);
}

static bool has_escapes(const json_t *path)
{
	const char *text = json_string_value(path);

	return text && strchr(text, '\\');
}

/* Whether any path has a backslash. */
static bool may_have_escapes(const struct tool_info *info, const json_t *arguments)
{
	struct tool_place place = { 0 };

	while (tool_place_next(info, arguments, &place))
		if (has_escapes(place.path))
			return true;
	return has_escapes(tool_command_folder(info, arguments));
}

static void place_to_bytes(struct tool_place *place)
{
	json_t *bytes = path_bytes(place->path);

	if (bytes)
		tool_place_set(place, bytes);
}

json_t *alias_path_bytes(const struct tool *tool, const json_t *arguments)
{
	const struct tool_info *info = tool->info;
	struct tool_place place = { 0 }, folder = { .member = "dir_path" };

	if (!tool->run || !may_have_escapes(info, arguments))
		return json_incref((json_t *)arguments);
	folder.holder = json_deep_copy(arguments);
	while (tool_place_next(info, folder.holder, &place))
		place_to_bytes(&place);
	folder.path = tool_command_folder(info, folder.holder);
	place_to_bytes(&folder);
	return folder.holder;
}
