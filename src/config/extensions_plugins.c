/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins of other programs have in common: what their readers (extensions_claude.c,
 * extensions_formats.c) begin with, and what a plugin is given where it is used.
 *
 * What hasp does not use of one is noted by name; what breaks the format's rules is a problem, and
 * the part that does is left out. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "config/extensions.h"
#include "config/private.h"
#include "data/json.h"
#include "data/warnings.h"

#define NO_VERSION "no version"

/* ---- reading values ---------------------------------------------------------------------- */

bool config_plugin_name_is_fine(const char *name)
{
	const size_t len = name ? strlen(name) : 0;

	for (size_t i = 0; i < len; i++)
		if (!ascii_is_alnum(name[i]) && !strchr("-_.", name[i]))
			return false;
	return len > 0 && len <= PLUGIN_NAME_MAX && ascii_is_alnum(name[0]) &&
	       ascii_is_alnum(name[len - 1]) && !strstr(name, "..");
}

bool config_plugin_has(const struct manifest_reading *reading, const char *name)
{
	_cleanup_free_ char *path = path_join(reading->folder, name);
	struct stat status;

	return lstat(path, &status) == 0;
}

json_t *config_plugin_part(const struct manifest_reading *reading, enum extension_part part)
{
	const char *name = extension_part_name(part);

	if (!json_object_get(reading->parts, name))
		json_object_set_new(reading->parts, name, json_array());
	return json_object_get(reading->parts, name);
}

json_t *config_plugin_begin(const struct manifest_reading *reading, const json_t *said)
{
	const json_t *version = json_object_get(said, "version");
	const json_t *description = json_object_get(said, "description");
	json_t *manifest = json_pack("{s:O, s:s, s:[]}", "name", json_object_get(said, "name"),
	                             "version", NO_VERSION, "contextFileName");

	if (json_string_length(version))
		json_object_set(manifest, "version", (json_t *)version);
	if (json_is_string(description))
		json_object_set(manifest, "description", (json_t *)description);
	for (int part = 0; part < EXTENSION_PARTS; part++)
		(void)config_plugin_part(reading, (enum extension_part)part);
	return manifest;
}

/* ---- where it is used ------------------------------------------------------------------------ */

char *config_plugin_data(const struct home *home, const char *name)
{
	return mem_printf("%s/.local/share/hasp-plugins/%s", home_user(home), name);
}

char *extension_data_make(const struct extension *extension)
{
	struct err ignored = ERR_INIT;

	return extension->data && file_make_folders(extension->data, &ignored) ?
	               mem_strdup(extension->data) : NULL;
}

/* What bundles may name besides their settings. */
static void put_bundle_names(json_t *names, const char *home, const char *folder)
{
	static const char *const folders[][2] = {
		{ "HOME", "" }, { "DESKTOP", "/Desktop" }, { "DOCUMENTS", "/Documents" },
		{ "DOWNLOADS", "/Downloads" },
	};

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		_cleanup_free_ char *path = mem_printf("%s%s", home, folders[i][1]);

		json_object_set_new(names, folders[i][0], json_name(path));
	}
	json_object_set_new(names, "__dirname", json_name(folder));
	json_object_set_new(names, "pathSeparator", json_string("/"));
	json_object_set_new(names, "/", json_string("/"));
}

json_t *config_plugin_names(const struct settings *settings, const struct extension *extension)
{
	const enum extension_format format = extension_format(extension->manifest);
	const json_t *one;
	json_t *names = json_object();
	size_t i;

	if (format == EXTENSION_PORTABLE)
		return json_pack("{s:o, s:o}", "PLUGIN_ROOT", json_name(extension->folder),
		                 "PLUGIN_DATA", json_name(extension->data));
	json_object_set_new(names, "CLAUDE_PLUGIN_ROOT", json_name(extension->folder));
	json_object_set_new(names, "CLAUDE_PLUGIN_DATA", json_name(extension->data));
	/* Hooks in the form of the extension that is in the same folder. */
	json_object_set_new(names, "extensionPath", json_name(extension->folder));
	if (format == EXTENSION_BUNDLE)
		put_bundle_names(names, home_user(settings->home), extension->folder);
	if (format == EXTENSION_CODEX) {
		json_object_set_new(names, "PLUGIN_ROOT", json_name(extension->folder));
		json_object_set_new(names, "PLUGIN_DATA", json_name(extension->data));
	}
	json_object_set_new(names, "CLAUDE_PROJECT_DIR",
	                    json_name(home_project(settings->home)));
	json_array_foreach(json_object_get(extension->manifest, "settings"), i, one) {
		const char *key = json_string_value(json_object_get(one, "key"));
		const char *variable = json_string_value(json_object_get(one, "envVar"));
		_cleanup_free_ char *name = mem_printf("user_config.%s", key);

		if (json_object_get(extension->values, variable))
			json_object_set(names, name, json_object_get(extension->values, variable));
	}
	return names;
}

void config_plugin_environment(const struct extension *extension, json_t *env)
{
	const enum extension_format format = extension_format(extension->manifest);

	if (format == EXTENSION_CLAUDE || format == EXTENSION_CODEX) {
		json_object_set_new(env, "CLAUDE_PLUGIN_ROOT", json_name(extension->folder));
		json_object_set_new(env, "CLAUDE_PLUGIN_DATA", json_name(extension->data));
	}
	if (format == EXTENSION_PORTABLE || format == EXTENSION_CODEX) {
		json_object_set_new(env, "PLUGIN_ROOT", json_name(extension->folder));
		json_object_set_new(env, "PLUGIN_DATA", json_name(extension->data));
	}
}

/* Of Agent Plugins these members alone have placeholders (section 9.2). */
static json_t *portable_expand(const json_t *said, const json_t *names)
{
	static const char *const members[] = { "command", "args", "env", "cwd" };
	json_t *entry = json_copy((json_t *)said);

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_object_get(said, members[i]))
			json_object_set_new(entry, members[i],
			                    config_put_names(json_object_get(said, members[i]),
			                                        names));
	return entry;
}

/* Takes members away that name a variable or a setting without a value: an empty or raw one would
 * be sent as if it were one. */
static void drop_unset(json_t *entry, const char *member, const char *server, json_t *warnings)
{
	json_auto_t *said = json_copy(json_object_get(entry, member));
	json_t *kept = json_object(), *value;
	const char *name;

	json_object_foreach(said, name, value) {
		const char *open = json_is_string(value) ? strstr(json_string_value(value), "${") :
		                                           NULL;

		if (!open)
			json_object_set(kept, name, value);
		else
			warnings_add_line(warnings, "The MCP server \"%s\" gets no %s: %.*s has no "
			                  "value.", server, name,
			                  (int)strcspn(open + 2, "}"), open + 2);
	}
	if (json_object_size(said))
		json_object_set(entry, member, kept);
	json_decref(kept);
}

void config_plugin_expand(const struct settings *settings, struct extension *extension,
                          json_t *warnings)
{
	const enum extension_format format = extension_format(extension->manifest);
	const bool portable = format == EXTENSION_PORTABLE || format == EXTENSION_BUNDLE;
	const json_t *said = json_object_get(extension->manifest, "mcpServers");
	json_auto_t *names = config_plugin_names(settings, extension);
	json_t *servers = json_object(), *one;
	const char *name;

	json_object_foreach((json_t *)said, name, one) {
		json_auto_t *placed = portable ? portable_expand(one, names) :
		                                 config_put_names(one, names);
		json_t *entry = portable ? json_copy(placed) :
		                           variables_expand_braces(settings->variables, placed,
		                                                   true, warnings);
		json_t *env;

		config_keep_helper(entry, placed);
		if ((format == EXTENSION_CODEX || format == EXTENSION_BUNDLE) &&
		    extension->enabled) {
			drop_unset(entry, "headers", name, warnings);
			drop_unset(entry, "env", name, warnings);
		}
		env = json_copy(json_object_get(entry, "env"));
		if (config_entry_runs(entry)) {
			if (!json_is_object(env)) {
				json_decref(env);
				env = json_object();
			}
			config_plugin_environment(extension, env);
			json_object_set(entry, "env", env);
		}
		json_decref(env);
		json_object_set_new_nocheck(servers, name, entry);
	}
	json_object_set_new(extension->manifest, "mcpServers", servers);
}

char *extension_text(enum extension_format format, const char *folder, struct span text)
{
	json_auto_t *names = json_pack("{s:o}", "CLAUDE_PLUGIN_ROOT", json_name(folder));
	json_auto_t *whole = json_text(text), *placed = NULL;

	if (format == EXTENSION_CLAUDE)
		placed = config_put_names(whole, names);
	return mem_strdup(json_string_value(placed ? placed : whole));
}
