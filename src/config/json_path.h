/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: members at dotted paths ("tools.shell.pager") of JSON objects. */
#ifndef HASP_CONFIG_JSON_PATH_H
#define HASP_CONFIG_JSON_PATH_H

#include <jansson.h>
#include <stdbool.h>

/* Borrowed; NULL if there is none. */
json_t *json_path_get(const json_t *object, const char *path);
/* Takes `value`. Objects on the way are made; something on the way that is none is replaced by one.
 * */
void json_path_set(json_t *object, const char *path, json_t *value);
void json_path_delete(json_t *object, const char *path);

#endif
