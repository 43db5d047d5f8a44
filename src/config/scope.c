/* SPDX-License-Identifier: Apache-2.0 */
/* One file of settings. */
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/migrate.h"
#include "config/settings_private.h"
#include "data/jsonc.h"

bool scope_read(struct scope *scope, struct err *err)
{
	struct err why = ERR_INIT;

	if (scope->project ? !door_read(scope->project, scope->path, LIMIT_SETTINGS_BYTES,
	                                &scope->text, err)
	                   : !file_read(scope->path, LIMIT_SETTINGS_BYTES, &scope->text, err))
		return false;
	scope->moved = json_object();
	if (!scope->text.data)
		return true;
	if (!jsonc_parse_repeating(file_text_span(&scope->text), &scope->value,
	                           &scope->repeated_line, &why))
		return err_set(err, why.code, "%s: %s", scope->path, why.message);
	if (!json_is_object(scope->value))
		return err_set(err, ERR_INVALID_ARGUMENT, "%s: Settings have to be an object.",
		               scope->path);
	scope->lines = jsonc_lines(file_text_span(&scope->text));
	migrate(scope->value, scope->moved);
	return true;
}

void scope_release(struct scope *scope)
{
	free(scope->path);
	file_text_release(&scope->text);
	json_decref(scope->value);
	json_decref(scope->lines);
	json_decref(scope->moved);
	*scope = (struct scope){ 0 };
}

/* The path in the text: what was moved with an object above it, too. */
static char *old_path(const struct scope *scope, const char *path)
{
	_cleanup_free_ char *above = mem_strdup(path);

	for (;;) {
		const char *old = json_string_value(json_object_get(scope->moved, above));
		char *dot;

		if (old)
			return mem_printf("%s%s", old, path + strlen(above));
		dot = strrchr(above, '.');
		if (!dot)
			return NULL;
		*dot = '\0';
	}
}

unsigned scope_line(const struct scope *scope, const char *path)
{
	_cleanup_free_ char *old = scope->moved ? old_path(scope, path) : NULL;
	unsigned line = jsonc_line(scope->lines, path);

	return line || !old ? line : jsonc_line(scope->lines, old);
}
