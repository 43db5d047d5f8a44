/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other agents: read, and how much of them counts. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/setup/others.h"
#include "base/buf.h"
#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/authority.h"
#include "data/json.h"
#include "data/jsonc.h"
#include "data/toml.h"

void others_file_release(struct others_file *file)
{
	free(file->path);
	free(file->name);
	file_text_release(&file->text);
	json_decref(file->value);
	json_decref(file->lines);
	free(file->wrong);
}

/* ---- files ------------------------------------------------------------------------- */

/* Only root may be able to write it. */
static bool is_administrators_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && status.st_uid == 0 &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH));
}

static bool others_parse(struct others_file *file, enum others_format format, struct err *err)
{
	const struct span text = file_text_span(&file->text);

	if (format == OTHERS_TEXT)
		return true;
	if (format == OTHERS_TOML)
		return toml_parse(text, &file->value, err);
	if (!jsonc_parse(text, &file->value, err))
		return false;
	file->lines = jsonc_lines(text);
	return !file->value || json_is_object(file->value) ||
	       err_set(err, ERR_INVALID_ARGUMENT, "It must be an object.");
}

static bool others_read(struct others_file *file, enum others_format format, struct err *err)
{
	const char *project = home_project(settings_home(file->settings));

	if (file->name ? !door_read(project, file->path, LIMIT_SETTINGS_BYTES, &file->text, err) :
	                 !file_read(file->path, LIMIT_SETTINGS_BYTES, &file->text, err))
		return false;
	if (file->text.data && file->tier == POLICY_ADMIN && !is_administrators_file(file->path))
		return err_set(err, ERR_PERMISSION_DENIED,
		               "It must belong to root, and no other user may write it.");
	return !file->text.data || others_parse(file, format, err);
}

void others_open(const struct settings *settings, enum others_format format, char *path,
                 char *name, enum policy_tier tier, others_part part, struct others_file *ret)
{
	json_auto_t *permitting = NULL;
	struct err err = ERR_INIT;

	*ret = (struct others_file){ .settings = settings, .path = path, .name = name,
		                     .tier = tier };
	if (!others_read(ret, format, &err)) {
		ret->wrong = mem_strdup(err.message);
		json_decref(ret->value);
		ret->value = NULL;
	}
	permitting = name && part ? part(ret) : NULL;
	ret->permits = !permitting || (settings_trusted(settings) &&
	                               authority_allows(settings_allowed(settings), name,
	                                                permitting));
}

struct permission_place others_place(const struct others_file *file, const char *folder,
                                     json_t *problems)
{
	const struct home *home = settings_home(file->settings);

	return (struct permission_place){
		.file = file->path, .project = home_project(home), .home = home_user(home),
		.folder = file->name ? home_project(home) : folder, .tier = file->tier,
		.permits = file->permits, .problems = problems,
	};
}

/* A file of a folder that is not trusted ends nothing. */
void others_report(const struct others_file *file, json_t *problems)
{
	const bool blocks = file->tier != POLICY_WORKSPACE || settings_trusted(file->settings);
	const struct permission_place place = others_place(file, "", problems);
	_cleanup_free_ char *message = NULL;

	if (!file->permits && settings_trusted(file->settings))
		policy_complain(&place, 0, OTHERS_LOST, "What it allows is ignored until you "
		                   "run: hasp config allow %s", file->name);
	if (!file->wrong)
		return;
	message = mem_printf("What it forbids does not count, because it cannot be read: %s",
	                     file->wrong);
	json_array_append_new(problems, json_pack(
		"{s:o, s:i, s:s, s:o}", "file", json_name(file->path), "line", 0, "kind",
		blocks ? "file_read" : OTHERS_LOST, "message", json_text(span_str(message))));
}

const json_t *others_list(const struct others_file *file, const struct permission_place *place,
                          const char *member, enum policy_decision decision)
{
	const json_t *permissions = json_object_get(file->value, "permissions");
	const json_t *list = json_object_get(permissions, member);
	_cleanup_free_ char *path = mem_printf("permissions.%s", member);

	if (!permissions || json_is_array(list) || (json_is_object(permissions) && !list))
		return list;
	policy_complain(place, jsonc_line(file->lines, list ? path : "permissions"),
	                decision == POLICY_ALLOW ? OTHERS_UNUSED : OTHERS_LOST,
	                "%s must be %s: permissions.%s is not used.", list ? path : "permissions",
	                list ? "a list" : "an object", member);
	return NULL;
}

unsigned others_line_of(const struct others_file *file, unsigned from, const char *entry)
{
	_cleanup_buf_ struct buf quoted = BUF_INIT(LIMIT_SETTINGS_BYTES);
	const struct span text = file_text_span(&file->text);
	const char *at = text.data, *found;
	unsigned line = 1;

	json_print_string(&quoted, span_str(entry));
	while (line < from && (found = memchr(at, '\n', (size_t)(text.data + text.len - at)))) {
		at = found + 1;
		line++;
	}
	found = memmem(at, (size_t)(text.data + text.len - at), quoted.data, quoted.len);
	for (; found && at < found; at++)
		line += *at == '\n';
	return found ? line : from;
}
