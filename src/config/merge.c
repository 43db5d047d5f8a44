/* SPDX-License-Identifier: Apache-2.0 */
#include "config/merge.h"

#include <ctype.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/schema.h"
#include "data/json.h"

/* A tool's name as settings are compared by it: without blanks around, in lower case. */
static char *folded_name(const json_t *item)
{
	struct span name = span_trim(json_span(item));
	char *folded = mem_dup(name.data, name.len);

	for (size_t i = 0; i < name.len; i++)
		folded[i] = (char)tolower((unsigned char)folded[i]);
	return folded;
}

/* A single value among arrays counts as an array of one. */
static json_t *as_array(const json_t *value)
{
	json_t *array;

	if (json_is_array(value))
		return json_copy((json_t *)value);
	array = json_array();
	json_array_append(array, (json_t *)value);
	return array;
}

/* Whether the item is new to the set, which then has it: an object whose names are the items' texts. */
static bool add_to_set(json_t *set, const json_t *item)
{
	_cleanup_free_ char *text = json_dumps(item, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);

	if (!text)
		return true; /* cannot be compared */
	if (json_object_get(set, text))
		return false;
	json_object_set_new_nocheck(set, text, json_true());
	return true;
}

static json_t *joined(const json_t *low, const json_t *high, enum setting_merge how)
{
	json_t *all = as_array(low), *more = as_array(high), *result, *item;
	json_auto_t *seen = json_object();
	size_t i;

	json_array_extend(all, more);
	json_decref(more);
	if (how == MERGE_CONCAT)
		return all;
	result = json_array();
	json_array_foreach(all, i, item)
		if (add_to_set(seen, item))
			json_array_append(result, item);
	json_decref(all);
	return result;
}

static json_t *common(const json_t *low, const json_t *high)
{
	json_auto_t *names = json_object();
	json_t *result = json_array(), *item;
	size_t i;

	json_array_foreach(high, i, item) {
		_cleanup_free_ char *name = folded_name(item);

		json_object_set_new_nocheck(names, name, json_true());
	}
	json_array_foreach(low, i, item) {
		_cleanup_free_ char *name = folded_name(item);

		if (json_object_get(names, name))
			json_array_append(result, item);
	}
	return result;
}

/* Prototypes are no settings, and other programs read the same files. */
static bool is_forbidden(const char *name)
{
	return strcmp(name, "__proto__") == 0 || strcmp(name, "constructor") == 0 ||
	       strcmp(name, "prototype") == 0;
}

static void merge_object(json_t *low, const json_t *high, struct buf *path);

static json_t *shallow(const json_t *low, const json_t *high)
{
	json_t *result = json_copy((json_t *)low);

	json_object_update(result, (json_t *)high);
	return result;
}

static json_t *deep(json_t *low, const json_t *high, struct buf *path)
{
	json_t *result = json_is_object(low) ? json_incref(low) : json_object();

	merge_object(result, high, path);
	return result;
}

static json_t *merged(json_t *low, json_t *high, struct buf *path)
{
	const struct setting *row = path->overflowed ? NULL : schema_find(path->data);
	enum setting_merge how = row ? row->merge : MERGE_REPLACE;

	if (how == MERGE_SHALLOW && json_is_object(low) && json_is_object(high))
		return shallow(low, high);
	if (how == MERGE_INTERSECT && json_is_array(low) && json_is_array(high))
		return common(low, high);
	if ((how == MERGE_CONCAT || how == MERGE_UNION) && json_is_array(low))
		return joined(low, high, how);
	if (json_is_object(high))
		return deep(low, high, path);
	return json_incref(high);
}

/* Recursion is bounded by the depth to which files of settings are read. */
static void merge_object(json_t *low, const json_t *high, struct buf *path)
{
	size_t len = path->len;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)high, name, value) {
		if (is_forbidden(name))
			continue;
		if (len)
			buf_char(path, '.');
		buf_str(path, name);
		json_object_set_new_nocheck(low, name,
		                            merged(json_object_get(low, name), value, path));
		path->len = len;
		path->overflowed = false;
		if (path->data)
			path->data[len] = '\0';
	}
}

void merge_into(json_t *low, const json_t *high)
{
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_SETTINGS_BYTES);

	merge_object(low, high, &path);
}
