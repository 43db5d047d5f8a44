/* SPDX-License-Identifier: Apache-2.0 */
/* All values with their origins. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/json_path.h"
#include "config/schema.h"
#include "config/settings_private.h"
#include "data/json.h"

struct list {
	const struct settings *settings;
	bool defaults;
	json_t *items;
};

static void add(struct list *list, const char *path, json_t *value)
{
	struct settings_origin origin = settings_origin_of(list->settings, path);

	if (origin.scope == SCOPE_DEFAULT && !list->defaults)
		return;
	json_array_append_new(list->items,
	                      json_pack("{s:s, s:O, s:s, s:o, s:i}", "key", path, "value", value,
	                                "scope", settings_scope_name(origin.scope), "file",
	                                json_cstr(origin.file), "line", (int)origin.line));
}

/* Each member has a path of its own. */
static bool has_paths(const json_t *object)
{
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)object, name, member)
		if (!*name || strchr(name, '.'))
			return false;
	return json_object_size(object) > 0;
}

static void add_value(struct list *list, const char *path, json_t *value)
{
	const char *name;
	json_t *member;

	if (!json_is_object(value) || !has_paths(value)) {
		add(list, path, value);
		return;
	}
	json_object_foreach(value, name, member) {
		_cleanup_free_ char *below = mem_printf("%s.%s", path, name);

		add(list, below, member);
	}
}

/* Members that no row is about. Recursion ends with the groups of the table. */
static void add_unknown(struct list *list, json_t *object, const char *above)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value) {
		_cleanup_free_ char *path = mem_printf("%s%s%s", above, *above ? "." : "", name);

		if (strchr(name, '.') || !*name)
			continue; /* no path leads there */
		if (schema_is_group(path) && json_is_object(value))
			add_unknown(list, value, path);
		else if (!schema_exact(path))
			add_value(list, path, value);
	}
}

json_t *settings_list(const struct settings *settings, bool defaults)
{
	struct list list = { settings, defaults, json_array() };

	for (size_t i = 0; i < schema_count(); i++) {
		const char *path = schema_at(i)->path;
		json_t *value = json_path_get(settings->merged, path);

		if (value)
			add_value(&list, path, value);
	}
	add_unknown(&list, settings->merged, "");
	return list.items;
}
