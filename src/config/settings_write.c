/* SPDX-License-Identifier: Apache-2.0 */
/* Writing one value into a file of settings, in its text. */
#include <string.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/private.h"
#include "config/schema.h"
#include "data/jsonc.h"

static bool check_new_value(const char *path, const json_t *value, struct err *err)
{
	const struct setting *row = schema_exact(path);
	_cleanup_buf_ struct buf phrase = BUF_INIT(4096);

	if (!row && schema_is_group(path) && value)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "\"%s\" is a group of settings: set one of them.", path);
	if (!row || !value || schema_accepts(row, value))
		return true;
	schema_phrase(row, &phrase);
	return err_set(err, ERR_INVALID_ARGUMENT, "\"%s\" must be %s.", path, phrase.data);
}

static bool check_scope(const struct settings *settings, enum settings_scope scope,
                        const char *path, const json_t *value, struct err *err)
{
	const struct setting *row = schema_find(path);
	enum authority project = row ? row->project : AUTHORITY_TRUSTED;
	bool may = project == AUTHORITY_ONLY_TRUE  ? json_is_true(value)
	           : project == AUTHORITY_ONLY_FALSE ? json_is_false(value)
	                                             : project != AUTHORITY_NEVER;

	if (scope != SCOPE_USER && scope != SCOPE_WORKSPACE)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The %s settings are not written by hasp.",
		               settings_scope_name(scope));
	if (!settings->scopes[scope].path)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "In the home folder, project settings are the user's settings.");
	if (project == AUTHORITY_REMOTE && value)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "\"%s\" is for remote administration; it is ignored.",
		               path);
	if (scope == SCOPE_WORKSPACE && value && !may)
		return err_set(err, ERR_INVALID_ARGUMENT, "A project cannot set \"%s\".",
		               path);
	return true;
}

/* Puts a value that stands under its old name under the new one, in the text. */
static bool rename_in_text(struct buf *text, const char *old, const char *path,
                           const json_t *value, struct err *err)
{
	_cleanup_buf_ struct buf without = BUF_INIT(text->max);
	_cleanup_buf_ struct buf with = BUF_INIT(text->max);

	if (!jsonc_set(buf_view(text), old, NULL, &without, err) ||
	    (value && !jsonc_set(buf_view(&without), path, value, &with, err)))
		return false;
	buf_clear(text);
	buf_span(text, buf_view(value ? &with : &without));
	return true;
}

/* The text with the change.  An old name goes if it says the same, or stands where an object is
 * needed ("model": "NAME", when model.maxSessionTurns is set). */
static bool change_text(const struct scope *now, const char *path, const json_t *value,
                        struct buf *out, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(out->max);
	const char *new;
	json_t *old;

	if (now->text.data)
		buf_span(&text, file_text_span(&now->text));
	json_object_foreach(now->moved, new, old) {
		bool same = strcmp(path, new) == 0;
		const char *name = json_string_value(old);

		if ((same || schema_is_below(path, name)) &&
		    !rename_in_text(&text, name, new,
		                    same ? NULL : config_path_get(now->value, new), err))
			return false;
	}
	return jsonc_set(buf_view(&text), path, value, out, err);
}

/* A project's is not even locked through a link that leads out of it. */
static bool may_lock(const struct scope *scope, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };

	return !scope->project ||
	       door_read(scope->project, scope->path, LIMIT_SETTINGS_BYTES, &text, err);
}

static bool replace_settings_file(const struct scope *scope, struct span text, mode_t mode,
                                  struct err *err)
{
	return scope->project ? door_replace(scope->project, scope->path, text, mode, err) :
	                        file_replace(scope->path, text, mode, err);
}

/* The file may have changed since it was loaded: what counts is what it says now. */
static bool write_settings_file(const struct scope *scope, const char *path, const json_t *value,
                                struct err *err)
{
	const char *file = scope->path;
	_cleanup_lock_ char *lock = may_lock(scope, err) ? home_lock_file(file, err) : NULL;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_SETTINGS_BYTES);
	struct scope now = { .path = mem_strdup(file), .project = scope->project };
	struct err why = ERR_INIT;
	bool ok = false;

	if (lock && scope_read(&now, err)) {
		ok = change_text(&now, path, value, &out, &why);
		if (!ok)
			err_set(err, why.code, "%s: %s", file, why.message);
		else if (value || now.text.data)
			ok = replace_settings_file(scope, buf_view(&out),
			                           now.text.data ? now.text.mode : 0600, err);
	}
	scope_release(&now);
	return ok;
}

/* Reads the scope's file again and applies it. */
static bool reload(struct settings *settings, enum settings_scope scope, struct err *err)
{
	struct scope fresh = { .path = mem_strdup(settings->scopes[scope].path),
		               .project = settings->scopes[scope].project };
	json_t *value, *warnings;

	if (!scope_read(&fresh, err)) {
		scope_release(&fresh);
		return false;
	}
	value = fresh.value;
	fresh.value = value ? settings_expand(settings, scope, value) : NULL;
	json_decref(value);
	warnings = json_array(); /* they were reported when it was loaded */
	scope_check(settings, &fresh, scope, warnings);
	json_decref(warnings);
	scope_release(&settings->scopes[scope]);
	settings->scopes[scope] = fresh;
	json_decref(settings->merged);
	settings->merged = settings_merge(settings);
	return true;
}

bool settings_write(struct settings *settings, enum settings_scope scope, const char *path,
                    const json_t *value, struct err *err)
{
	if (!check_scope(settings, scope, path, value, err) || !check_new_value(path, value, err) ||
	    !write_settings_file(&settings->scopes[scope], path, value, err))
		return false;
	/* An untrusted project's settings are written, but do not count. */
	if (scope == SCOPE_WORKSPACE && !settings->trusted)
		return true;
	return reload(settings, scope, err);
}

bool settings_stands(const struct settings *settings, enum settings_scope scope, const char *path,
                     bool *ret, struct err *err)
{
	const struct scope *loaded = &settings->scopes[scope];
	struct scope now = { .project = loaded->project };
	bool ok = true;

	*ret = false;
	if (!loaded->path)
		return true;
	now.path = mem_strdup(loaded->path);
	ok = scope_read(&now, err);
	if (ok)
		*ret = config_path_get(now.value, path) != NULL;
	scope_release(&now);
	return ok;
}
