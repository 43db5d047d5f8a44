/* SPDX-License-Identifier: Apache-2.0 */
#include "config/allow.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "config/lock.h"
#include "data/json.h"

enum { ALLOW_DEPTH = 4 };

static char *file_of(const struct home *home)
{
	return mem_printf("%s/hasp-allowed.json", home_gemini(home));
}

/* The whole file as an object; {} when there is none. */
static json_t *read_file(const char *path, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err why = ERR_INIT;
	json_t *all = NULL;

	if (!file_read(path, LIMIT_REGISTRY_BYTES, &text, err))
		return NULL;
	if (!text.data)
		return json_object();
	if (!json_parse_depth(file_text_span(&text), ALLOW_DEPTH, &all, &why)) {
		err_set(err, why.code, "%s: %s", path, why.message);
		return NULL;
	}
	if (json_is_object(all))
		return all;
	json_decref(all);
	err_set(err, ERR_INVALID_ARGUMENT, "%s does not hold an object.", path);
	return NULL;
}

json_t *allow_read(const struct home *home, struct err *err)
{
	_cleanup_free_ char *path = file_of(home);
	struct err why = ERR_INIT;
	json_t *all = read_file(path, &why), *mine;

	if (!all) {
		err_set(err, why.code, "%s Nothing in it is allowed until that is corrected.",
		        why.message);
		return NULL;
	}
	mine = json_object_get(all, home_project(home));
	mine = json_is_object(mine) ? json_incref(mine) : json_object();
	json_decref(all);
	return mine;
}

/* Of the value as JSON with sorted members, so that their order and blanks do not count. */
static bool hash_of(const json_t *value, char hex[static SHA256_HEX_SIZE])
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	struct sha256 sum;

	if (!text)
		return false;
	sum = sha256_of(span_str(text));
	sha256_hex(&sum, hex);
	free(text);
	return true;
}

bool allow_has(const json_t *allowed, const char *name, const json_t *value)
{
	const char *known = json_string_value(json_object_get(allowed, name));
	char hex[SHA256_HEX_SIZE];

	return known && hash_of(value, hex) && strcmp(known, hex) == 0;
}

static bool write_file(const char *path, const json_t *all, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(2 * LIMIT_REGISTRY_BYTES);

	if (!json_print(&out, all, 2) || !buf_char(&out, '\n'))
		return err_set(err, ERR_TOO_LARGE, "%s would become too large.", path);
	return file_replace(path, buf_view(&out), 0600, err);
}

static bool change(json_t *all, const char *project, const char *name, const json_t *value)
{
	json_t *mine = json_object_get(all, project);
	char hex[SHA256_HEX_SIZE];

	if (!json_is_object(mine)) {
		mine = json_object();
		if (json_object_set_new(all, project, mine) != 0)
			return false;
	}
	if (value)
		return hash_of(value, hex) &&
		       json_object_set_new(mine, name, json_string(hex)) == 0;
	json_object_del(mine, name);
	if (json_object_size(mine) == 0)
		json_object_del(all, project);
	return true;
}

bool allow_set(const struct home *home, const char *name, const json_t *value, struct err *err)
{
	_cleanup_free_ char *path = file_of(home);
	_cleanup_lock_ char *lock = file_lock(path, err);
	json_auto_t *all = lock ? read_file(path, err) : NULL;

	if (!all)
		return false;
	if (!change(all, home_project(home), name, value))
		return err_set(err, ERR_INVALID_ARGUMENT, 
		               "\"%s\" cannot be allowed: the project's path or the value is not "
		               "UTF-8.", name);
	return write_file(path, all, err);
}
