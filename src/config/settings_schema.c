/* SPDX-License-Identifier: Apache-2.0 */
/* The table as a JSON Schema. */
#include <string.h>

#include "base/mem.h"
#include "config/schema.h"
#include "config/settings.h"
#include "data/json.h"

static const char *const merge_words[] = {
	[MERGE_REPLACE] = "replace", [MERGE_CONCAT] = "concat",       [MERGE_UNION] = "union",
	[MERGE_SHALLOW] = "shallow", [MERGE_INTERSECT] = "intersect",
};

/* What "type", and "items" of an array, are; a CHOICE has an enum besides. */
static const char *const type_texts[SETTING_TYPE_COUNT] = {
	[SETTING_BOOLEAN] = "{\"type\":\"boolean\"}",
	[SETTING_INTEGER] = "{\"type\":\"integer\"}",
	[SETTING_NUMBER] = "{\"type\":\"number\"}",
	[SETTING_STRING] = "{\"type\":\"string\"}",
	[SETTING_CHOICE] = "{\"type\":\"string\"}",
	[SETTING_STRINGS] = "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
	[SETTING_STRING_OR_STRINGS] = "{\"type\":[\"string\",\"array\"],\"items\":{\"type\":\"string\"}}",
	[SETTING_ARRAY] = "{\"type\":\"array\"}",
	[SETTING_OBJECT] = "{\"type\":\"object\"}",
	[SETTING_SWITCH] = "{\"type\":[\"boolean\",\"string\",\"object\"]}",
};

static json_t *parsed(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value;

	return json_parse(span_str(text), &value, &err) ? value : json_null();
}

static json_t *choices(const struct setting *row)
{
	json_t *words = json_array();

	for (const char *at = row->choices; *at; at += at[0] == '|') {
		size_t len = strcspn(at, "|");

		json_array_append_new(words, json_stringn(at, len));
		at += len;
	}
	return words;
}

static json_t *leaf(const struct setting *row)
{
	json_t *schema = parsed(type_texts[row->type]);

	json_object_set_new(schema, "description", json_cstr(row->help));
	if (row->choices)
		json_object_set_new(schema, "enum", choices(row));
	if (row->fallback)
		json_object_set_new(schema, "default", parsed(row->fallback));
	json_object_set_new(schema, "x-hasp",
	                    json_pack("{s:s, s:s}", "merge", merge_words[row->merge], "project",
	                              authority_word(row->project)));
	return schema;
}

/* The schema of the group in which the row is, made on the way. */
static json_t *group_of(json_t *schema, const char **path)
{
	const char *dot;

	while ((dot = strchr(*path, '.'))) {
		json_t *properties = json_object_get(schema, "properties"), *next;
		size_t len = (size_t)(dot - *path);

		next = json_object_getn(properties, *path, len);
		if (!next) {
			next = json_pack("{s:s, s:{}}", "type", "object", "properties");
			json_object_setn_new(properties, *path, len, next);
		}
		schema = next;
		*path = dot + 1;
	}
	return schema;
}

json_t *settings_schema(void)
{
	json_t *schema = json_pack("{s:s, s:s, s:s, s:s, s:{}}", "$schema",
	                           "http://json-schema.org/draft-07/schema#", "title",
	                           "Settings of hasp and Gemini CLI", "description",
	                           "settings.json; comments are allowed.", "type", "object",
	                           "properties");

	for (size_t i = 0; i < schema_count(); i++) {
		const struct setting *row = schema_at(i);
		const char *name = row->path;
		json_t *group = group_of(schema, &name);

		if (strcmp(name, "*") == 0)
			json_object_set_new(group, "additionalProperties", leaf(row));
		else
			json_object_set_new(json_object_get(group, "properties"), name, leaf(row));
	}
	return schema;
}

const char *settings_name(size_t i)
{
	return i < schema_count() ? schema_at(i)->path : NULL;
}

/* --- Values that are typed ------------------------------------------------------------------ */

static bool unknown(const char *path, struct err *err)
{
	const char *nearest = schema_nearest(path);

	if (schema_is_group(path))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "\"%s\" is a group of settings: name one of them.", path);
	if (nearest)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "There is no setting \"%s\"; \"%s\" is like it.", path, nearest);
	return err_set(err, ERR_INVALID_ARGUMENT, "There is no setting \"%s\".", path);
}

bool settings_read_value(const char *path, struct span text, json_t **ret, struct err *err)
{
	const struct setting *row = schema_find(path);
	_cleanup_buf_ struct buf phrase = BUF_INIT(4096);
	struct err ignored = ERR_INIT;
	json_t *value = NULL;
	bool below;

	if (!row)
		return unknown(path, err);
	/* Below an object of free members nothing says what is expected. */
	below = !schema_exact(path) && !strchr(row->path, '*');
	if (row->type == SETTING_STRING || row->type == SETTING_CHOICE ||
	    !json_parse_depth(text, 64, &value, &ignored))
		value = json_text(text);
	if (below || schema_accepts(row, value)) {
		*ret = value;
		return true;
	}
	json_decref(value);
	schema_phrase(row, &phrase);
	return err_set(err, ERR_INVALID_ARGUMENT, "\"%s\" has to be %s.", path, phrase.data);
}
