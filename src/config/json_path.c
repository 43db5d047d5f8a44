/* SPDX-License-Identifier: Apache-2.0 */
#include "config/json_path.h"

#include <string.h>

/* The object in which the path's last name is looked up, and that name; NULL: it is not there. */
static json_t *parent_of(json_t *object, const char **path, bool make)
{
	const char *dot;

	while (json_is_object(object) && (dot = strchr(*path, '.'))) {
		size_t len = (size_t)(dot - *path);
		json_t *next = json_object_getn(object, *path, len);

		if (make && !json_is_object(next)) {
			json_object_setn_new(object, *path, len, json_object());
			next = json_object_getn(object, *path, len);
		}
		object = next;
		*path = dot + 1;
	}
	return json_is_object(object) ? object : NULL;
}

json_t *json_path_get(const json_t *object, const char *path)
{
	json_t *parent = parent_of((json_t *)object, &path, /* make= */ false);

	return parent ? json_object_get(parent, path) : NULL;
}

void json_path_set(json_t *object, const char *path, json_t *value)
{
	json_t *parent = parent_of(object, &path, /* make= */ true);

	json_object_set_new(parent, path, value);
}

void json_path_delete(json_t *object, const char *path)
{
	json_t *parent = parent_of(object, &path, /* make= */ false);

	if (parent)
		json_object_del(parent, path);
}
