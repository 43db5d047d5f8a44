/* SPDX-License-Identifier: Apache-2.0 */
/* What a file says, held against the table. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/allow.h"
#include "config/json_path.h"
#include "config/schema.h"
#include "config/settings_private.h"
#include "data/json.h"
#include "data/warnings.h"

struct check {
	struct settings *settings;
	const struct scope *scope;
	enum settings_scope kind;
	json_t *warnings;
	struct buf path;
};

/* "FILE, line 3: " and the rest. */
__attribute__((format(printf, 2, 3))) static void warn(struct check *check, const char *format, ...)
{
	_cleanup_buf_ struct buf sentence = BUF_INIT(LIMIT_WIRE_SENTENCE);
	unsigned line = scope_line(check->scope, check->path.data);
	const bool matters = span_eq(buf_view(&check->path), SPAN("hasp.sandbox.level"));
	char text[1024];
	va_list args;

	if (warnings_full(check->warnings) && !matters) {
		warnings_add(check->warnings, json_string(""));
		return;
	}
	if (check->scope->path)
		buf_str(&sentence, check->scope->path);
	else
		buf_printf(&sentence, "The %s settings", settings_scope_name(check->kind));
	if (line)
		buf_printf(&sentence, ", line %u", line);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	buf_printf(&sentence, ": %s", text);
	(matters ? warnings_add_first : warnings_add)(check->warnings,
	                                              json_text(buf_view(&sentence)));
}

static void warn_unknown(struct check *check)
{
	const char *nearest;

	/* Looking for what is like it takes its time. */
	nearest = warnings_full(check->warnings) ? NULL : schema_nearest(check->path.data);
	if (nearest)
		warn(check, "there is no setting \"%.200s\"; \"%s\" is like it.", check->path.data,
		     nearest);
	else
		warn(check, "there is no setting \"%.200s\".", check->path.data);
}

static void warn_type(struct check *check, const struct setting *row)
{
	_cleanup_buf_ struct buf phrase = BUF_INIT(4096);

	schema_phrase(row, &phrase);
	warn(check, "\"%.200s\" has to be %s; it does not count.", check->path.data, phrase.data);
}

/* --- What a project may say ----------------------------------------------------------------- */

/* Whether it is so without the project: then there is nothing to ask. */
static bool is_so_anyway(const struct check *check, const json_t *value)
{
	for (int i = SCOPE_COUNT; i-- > 0;) {
		const json_t *other = i == SCOPE_WORKSPACE ? NULL :
			json_path_get(check->settings->scopes[i].value, check->path.data);

		if (other)
			return json_equal(other, value);
	}
	return false;
}

/* Of a value that does not count by itself.  Whether the user allowed it. */
static bool ask_for(struct check *check, enum authority authority, const json_t *value)
{
	const char *path = check->path.data;

	if (!authority_can_be_allowed(authority)) {
		warn(check, "A project cannot set \"%.200s\"; it is ignored.", path);
		return false;
	}
	if (allow_has(check->settings->allowed, path, value))
		return true;
	if (is_so_anyway(check, value))
		return false;
	json_array_append_new(check->settings->withheld,
	                      json_pack("{s:s, s:O, s:o, s:i}", "name", path, "value", value,
	                                "file", json_cstr(check->scope->path), "line",
	                                (int)scope_line(check->scope, path)));
	warn(check, "The project's \"%.200s\" is ignored until you run: "
	     "hasp config allow %.200s", path, path);
	return false;
}

/* Whether *value, or what is left of it, counts. */
static bool project_may(struct check *check, const struct setting *row, json_t **value)
{
	const char *project = home_project(check->settings->home);
	json_t *part = NULL, *rest = NULL;
	bool allowed;

	switch (authority_permits(row->project, project, *value, &part, &rest)) {
	case PERMITTED_ALL:
		return true;
	case PERMITTED_NOT:
		return ask_for(check, row->project, *value);
	default:
		allowed = ask_for(check, row->project, rest);
		json_decref(rest);
		if (allowed || !json_array_size(part)) {
			json_decref(part);
			return allowed;
		}
		*value = part;
		return true;
	}
}

static bool row_counts(struct check *check, const struct setting *row, json_t **value)
{
	if (!schema_accepts(row, *value)) {
		warn_type(check, row);
		return false;
	}
	if (row->project != AUTHORITY_REMOTE)
		return check->kind != SCOPE_WORKSPACE || project_may(check, row, value);
	warn(check, "\"%.200s\" is for remote administration; in a file it does not count.",
	     check->path.data);
	return false;
}

static void check_object(struct check *check, json_t *object);

/* *value: replaced by a new reference where only a part of it counts. */
static bool counts(struct check *check, json_t **value, bool odd_name)
{
	const char *path = check->path.data;
	const struct setting *row = odd_name ? NULL : schema_exact(path);

	if (!row && !odd_name)
		row = schema_find(path);
	if (row)
		return row_counts(check, row, value);
	if (odd_name || !schema_is_group(path)) {
		warn_unknown(check);
		return true;
	}
	if (json_is_object(*value)) {
		check_object(check, *value);
		return true;
	}
	warn(check, "\"%.200s\" has to be an object; it does not count.", path);
	return false;
}

/* Recursion ends with the groups of the table. */
static void check_object(struct check *check, json_t *object)
{
	size_t len = check->path.len;
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, name, value) {
		json_t *left = value;
		bool keep;

		if (len)
			buf_char(&check->path, '.');
		buf_str(&check->path, name);
		keep = !check->path.overflowed &&
		       counts(check, &left, strchr(name, '.') != NULL || !*name);
		if (!keep)
			json_object_del(object, name);
		else if (left != value)
			json_object_set_new(object, name, left);
		check->path.len = len;
		check->path.overflowed = false;
		if (check->path.data)
			check->path.data[len] = '\0';
	}
}

static void warn_moved(struct check *check)
{
	const char *path;
	json_t *old;

	json_object_foreach(check->scope->moved, path, old) {
		buf_str(&check->path, path);
		warn(check, "\"%.200s\" is called \"%.200s\" today.", json_string_value(old), path);
		buf_clear(&check->path);
	}
}

static void warn_repeated(struct check *check)
{
	if (!check->scope->repeated_line)
		return;
	buf_str(&check->path, "");
	warn(check, "line %u repeats a name; the last one counts.", check->scope->repeated_line);
	buf_clear(&check->path);
}

void scope_check(struct settings *settings, struct scope *scope, enum settings_scope kind,
                 json_t *warnings)
{
	struct check check = { .settings = settings, .scope = scope, .kind = kind,
		               .warnings = warnings, .path = BUF_INIT(LIMIT_SETTINGS_BYTES) };

	warn_repeated(&check);
	warn_moved(&check);
	if (scope->value)
		check_object(&check, scope->value);
	buf_release(&check.path);
}
