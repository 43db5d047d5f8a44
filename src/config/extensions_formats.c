/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests of extensions, in the formats of three programs, read into one form.
 *
 * Each format is a row: the file that it is known by, and the function that makes the form of
 * extensions.h out of it.  To add one: a row in `formats`, its function (as extensions_claude.c), a
 * line in docs/extensions.md. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "config/extensions.h"
#include "config/private.h"
#include "data/json.h"

/* ---- Gemini CLI's ---------------------------------------------------------------------- */

/* What members may be; others are left alone. */
static const struct format_member {
	const char *name;
	json_type types[2];
	const char *phrase;
} members[] = {
	{ "description", { JSON_STRING, JSON_STRING }, "a text" },
	{ "mcpServers", { JSON_OBJECT, JSON_OBJECT }, "an object" },
	{ "contextFileName", { JSON_STRING, JSON_ARRAY }, "a text or a list of texts" },
	{ "excludeTools", { JSON_ARRAY, JSON_ARRAY }, "a list of texts" },
	{ "settings", { JSON_ARRAY, JSON_ARRAY }, "a list of objects" },
	{ "themes", { JSON_ARRAY, JSON_ARRAY }, "a list of objects" },
	{ "plan", { JSON_OBJECT, JSON_OBJECT }, "an object" },
	{ "migratedTo", { JSON_STRING, JSON_STRING }, "a text" },
};

static json_t *gemini_read(const struct manifest_reading *reading, const json_t *said,
                           struct err *err)
{
	const char *name = json_string_value(json_object_get(said, "name"));
	json_t *manifest;

	if (!extension_name_is_fine(name)) {
		err_set(err, ERR_INVALID_ARGUMENT,
		        "%s: its \"name\" must be letters, digits and \"-\" alone, at most %d.",
		        reading->path, EXTENSION_NAME_MAX);
		return NULL;
	}
	if (!json_string_length(json_object_get(said, "version"))) {
		err_set(err, ERR_INVALID_ARGUMENT, "%s has no \"version\".", reading->path);
		return NULL;
	}
	manifest = json_copy((json_t *)said);
	/* A member of another type than it should have is as none. */
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const json_t *value = json_object_get(manifest, members[i].name);

		if (!value || json_typeof(value) == members[i].types[0] ||
		    json_typeof(value) == members[i].types[1])
			continue;
		config_problem(reading, "\"%s\" is not %s; it is ignored.", members[i].name,
		               members[i].phrase);
		json_object_del(manifest, members[i].name);
	}
	for (int part = 0; part < EXTENSION_PARTS; part++)
		json_object_set_new(reading->parts, extension_part_name((enum extension_part)part),
		                    json_pack("[s]", extension_part_name(
			                                     (enum extension_part)part)));
	return manifest;
}

/* ---- all formats ------------------------------------------------------------------------- */

static const struct manifest_row {
	const char *file;  /* in the extension's folder */
	enum extension_format format;
	const char *title; /* for people */
	/* A new object in the form of gemini-extension.json, with reading->parts filled in; NULL
	 * with *err: it is no manifest that counts. */
	json_t *(*read)(const struct manifest_reading *reading, const json_t *said,
	                struct err *err);
} formats[] = { /* by enum extension_format; where a folder has several, the first counts */
	[EXTENSION_GEMINI] = { EXTENSION_MANIFEST, EXTENSION_GEMINI, "Gemini CLI extension",
	                       gemini_read },
	[EXTENSION_CLAUDE] = { ".claude-plugin/plugin.json", EXTENSION_CLAUDE, "Claude Code plugin",
	                       config_claude_read },
	[EXTENSION_PORTABLE] = { "plugin.json", EXTENSION_PORTABLE, "Agent Plugins 1.0",
	                         config_portable_read },
	[EXTENSION_CODEX] = { ".codex-plugin/plugin.json", EXTENSION_CODEX, "Codex plugin",
	                      config_codex_read },
};

static const struct manifest_row *format_of(const json_t *manifest)
{
	return &formats[extension_format(manifest)];
}

const char *extension_format_title(const json_t *manifest)
{
	return format_of(manifest)->title;
}

const char *extension_manifest_file(const json_t *manifest)
{
	return format_of(manifest)->file;
}

/* The row whose file is there, read; *ret_path is for the caller to free. NULL without *err: none
 * is. */
static const struct manifest_row *manifest_find_format(const char *folder, json_t **ret,
                                                       char **ret_path,
                                                       struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(formats) && err->code == ERR_NONE; i++) {
		_cleanup_free_ char *path = path_join(folder, formats[i].file);

		*ret = config_json(folder, path, err);
		if (*ret) {
			*ret_path = mem_steal(&path);
			return &formats[i];
		}
	}
	return NULL;
}

bool extension_is_in(const char *folder)
{
	_cleanup_free_ char *path = NULL;
	json_auto_t *said = NULL;
	struct err err = ERR_INIT;

	return manifest_find_format(folder, &said, &path, &err) || err.code != ERR_NONE;
}

bool extension_is_bare(const char *folder)
{
	static const char *const parts[] = { "commands", "agents", "skills", "hooks/hooks.json",
		                             ".mcp.json" };
	bool bare = false;

	for (size_t i = 0; i < ARRAY_LEN(parts) && !bare; i++) {
		_cleanup_free_ char *path = path_join(folder, parts[i]);
		struct stat status;

		bare = lstat(path, &status) == 0;
	}
	return bare && !extension_is_in(folder);
}

/* What a manifest would say that there need not be. */
static const struct manifest_row *bare_format(const char *folder, json_t **ret, char **ret_path)
{
	const char *slash = strrchr(folder, '/');

	if (!extension_is_bare(folder))
		return NULL;
	*ret = json_pack("{s:o}", "name", json_name(slash ? slash + 1 : folder));
	*ret_path = mem_strdup(folder);
	return &formats[EXTENSION_CLAUDE];
}

json_t *extension_manifest_read(const char *folder, json_t *problems, struct err *err)
{
	_cleanup_free_ char *path = NULL;
	json_auto_t *said = NULL, *parts = json_object(), *unused = json_array();
	struct err why = ERR_INIT;
	const struct manifest_row *format = manifest_find_format(folder, &said, &path, &why);
	struct manifest_reading reading = { folder, NULL, problems, parts, unused, NULL };
	json_t *manifest;

	if (why.code != ERR_NONE) {
		*err = why;
		return NULL;
	}
	format = format ? format : bare_format(folder, &said, &path);
	reading.path = path;
	if (!format) {
		err_set(err, ERR_FILE_NOT_FOUND, "There is no " EXTENSION_MANIFEST " in %s, and no "
		        "plugin.json.", folder);
		return NULL;
	}
	if (!json_is_object(said)) {
		err_set(err, ERR_INVALID_ARGUMENT, "%s does not hold an object.", path);
		return NULL;
	}
	manifest = format->read(&reading, said, err);
	if (!manifest)
		return NULL;
	json_object_set_new(parts, "format", json_integer(format->format));
	json_object_set(parts, "unused", unused);
	json_object_set(manifest, "hasp", parts);
	return manifest;
}
