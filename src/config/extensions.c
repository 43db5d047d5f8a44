/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and reads installed extensions and what each one provides. */
#include "config/extensions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "config/private.h"
#include "data/json.h"
#include "data/warnings.h"
#include "search/match/js_regex.h"

enum {
	EXTENSION_VERSION_MAX = 100,
	EXTENSIONS_MAX = 2000, /* each costs a few reads at every start */
	EXTENSION_CONTEXTS_MAX = 20,
};

/* ---- variables in it ----------------------------------------------------------------- */

/* Paths first, then variables. A new reference. */
static json_t *extension_expand(const struct settings *settings, const struct extension *extension,
                                const json_t *value, json_t *warnings)
{
	json_auto_t *names = json_pack("{s:o, s:o, s:s, s:s}", "extensionPath",
	                               json_text(span_str(extension->folder)), "workspacePath",
	                               json_text(span_str(home_project(settings->home))), "/", "/",
	                               "pathSeparator", "/");
	json_auto_t *placed = config_put_names(value, names);

	return variables_expand_more(settings->variables, placed, extension->values, warnings);
}

/* ---- its settings -------------------------------------------------------------------- */

static json_t *read_values(const struct extension *extension, const json_t *manifest)
{
	const json_t *list = json_object_get(manifest, "settings");
	json_t *values = json_object(), *one;
	size_t i;

	json_array_foreach(list, i, one) {
		const char *name = json_string_value(json_object_get(one, "envVar"));
		_cleanup_free_ char *value = NULL;

		if (name && *name)
			value = extension_value(extension, name,
			                        json_is_true(json_object_get(one, "sensitive")));
		if (value)
			json_object_set_new(values, name, json_text(span_str(value)));
		else if (name && json_is_string(json_object_get(one, "default")))
			json_object_set(values, name, json_object_get(one, "default"));
	}
	return values;
}

/* ---- discovery ----------------------------------------------------------------------- */

struct discovery {
	const struct settings *settings;
	struct extensions *found;
	json_t *enablement;
	json_t *consents;
};

static void extension_release(struct extension *extension)
{
	free(extension->name);
	free(extension->version);
	free(extension->folder);
	free(extension->installed);
	free(extension->entry);
	free(extension->off);
	free(extension->data);
	json_decref(extension->manifest);
	json_decref(extension->origin);
	json_decref(extension->values);
	*extension = (struct extension){ 0 };
}

/* Whether one of the patterns of security.allowedExtensions fits the source. */
static bool source_is_allowed(const json_t *patterns, const char *source)
{
	_cleanup_free_ char *real = source ? realpath(source, NULL) : NULL;
	const json_t *pattern;
	size_t i;

	json_array_foreach(patterns, i, pattern) {
		struct js_regex *regex = NULL;
		struct err ignored = ERR_INIT;
		bool fits;

		if (!source || !json_is_string(pattern) ||
		    !js_regex_compile(json_span(pattern), &regex, &ignored))
			continue;
		fits = js_regex_test(regex, span_str(real ? real : source)) == JS_REGEX_YES;
		js_regex_free(regex);
		if (fits)
			return true;
	}
	return false;
}

const char *extension_forbidden(const struct settings *settings, const json_t *origin)
{
	const json_t *patterns = settings_get(settings, "security.allowedExtensions");
	const char *type = json_string_value(json_object_get(origin, "type"));
	const char *source = json_string_value(json_object_get(origin, "source"));

	if (json_array_size(patterns))
		return source_is_allowed(patterns, source) ?
		               NULL : "security.allowedExtensions does not name its source";
	if (type && (!strcmp(type, "git") || !strcmp(type, "github-release") ||
	             (!strcmp(type, "archive") && source && strstr(source, "://"))) &&
	    settings_bool(settings, "security.blockGitExtensions", false))
		return "security.blockGitExtensions forbids those from git and other servers";
	return NULL;
}

/* Letters' cases aside. */
static bool list_has_extension(const json_t *names, const char *name)
{
	const json_t *one;
	size_t i;

	json_array_foreach(names, i, one)
		if (json_is_string(one) && !strcasecmp(json_string_value(one), name))
			return true;
	return false;
}

/* In this project: by what the session says, by the command line, else by what the user wrote
 * down. */
static bool is_enabled(const struct discovery *discovery, const char *name)
{
	const struct settings *settings = discovery->settings;
	const json_t *disabled = settings_get(settings, "extensions.disabled");
	const json_t *only = settings->extension_names;
	const json_t *switched = json_object_get(settings->extensions_switched, name);

	if (switched)
		return json_is_true(switched);
	if (json_array_size(only))
		return list_has_extension(only, name);
	return !list_has_extension(disabled, name) &&
	       extension_enabled_in(discovery->enablement, name, home_project(settings->home));
}

/* Where its files are, canonical; NULL with *err. */
static char *extension_source(const char *installed, const json_t *origin, struct err *err)
{
	const char *type = json_string_value(json_object_get(origin, "type"));
	const char *source = json_string_value(json_object_get(origin, "source"));
	char *folder;

	if (!type || strcmp(type, "link") != 0)
		return mem_strdup(installed);
	folder = source && source[0] == '/' ? realpath(source, NULL) : NULL;
	if (!folder)
		err_set(err, ERR_FILE_NOT_FOUND, "The folder that it is linked to no longer "
		                                 "exists.");
	return folder;
}

/* Fills in what was found in `installed`, canonical. False: it does not count, with *err. */
static bool extension_open(struct discovery *discovery, struct extension *extension,
                           const char *installed, struct err *err)
{
	const struct settings *settings = discovery->settings;
	json_auto_t *said = NULL;
	const char *forbidden;

	extension->installed = mem_strdup(installed);
	extension->origin = extension_origin_read(installed);
	forbidden = extension_forbidden(settings, extension->origin);
	if (forbidden)
		return err_set(err, ERR_DENIED_BY_POLICY, "%s.", forbidden);
	extension->folder = extension_source(installed, extension->origin, err);
	if (!extension->folder)
		return false;
	if (!door_is_own(extension->folder) || !door_is_own(installed))
		return err_set(err, ERR_PERMISSION_DENIED, "Others may write its folder.");
	/* One that was put here has a manifest. */
	if (!strcmp(extension->folder, extension->installed) && extension_is_bare(installed))
		return err_set(err, ERR_FILE_NOT_FOUND, "It has no manifest.");
	said = extension_manifest_read_as(extension->folder,
	                                  extension_origin_format(extension->origin),
	                                  discovery->found->notices, err);
	if (!said)
		return false;
	extension->name = mem_strdup(json_string_value(json_object_get(said, "name")));
	extension->version = extension_line(utf8_head(json_span(json_object_get(said, "version")),
	                                          EXTENSION_VERSION_MAX));
	extension->enabled = is_enabled(discovery, extension->name);
	/* A key store is asked for what is used alone. */
	extension->values = extension->enabled ? read_values(extension, said) : json_object();
	if (extension_format(said) == EXTENSION_GEMINI) {
		extension->manifest = extension_expand(settings, extension, said,
		                                       discovery->found->notices);
		json_object_set(extension->manifest, "hasp", json_object_get(said, "hasp"));
		return true;
	}
	extension->manifest = json_copy(said);
	extension->data = config_plugin_data(settings->home, extension->name);
	config_plugin_expand(settings, extension, discovery->found->notices);
	return true;
}

/* Files that are not those which the user said yes to are not used until the user has looked. */
static void extension_check_files(struct discovery *discovery, struct extension *extension)
{
	if (!extension->enabled)
		return;
	extension->off = extension_others_may_write(extension->folder);
	if (extension->off || strcmp(extension->folder, extension->installed) != 0 ||
	    extension_consent_holds(discovery->settings->home, discovery->consents,
	                            extension->name, extension->folder))
		return;
	extension->off = mem_printf("Its files have changed since you approved them. To review and "
	                            "approve them: hasp extensions approve %s",
	                            extension->name);
}

static void extension_try(struct discovery *discovery, const char *folder, const char *name)
{
	_cleanup_free_ char *path = path_join(folder, name), *real = realpath(path, NULL);
	struct extensions *found = discovery->found;
	struct extension extension = { 0 };
	struct err err = ERR_INIT;

	/* A file that is there is none, and nothing is said. */
	if (!real || !door_is_folder(real))
		return;
	if (!extension_open(discovery, &extension, real, &err)) {
		warnings_add_line(found->notices, "The extension in %s is ignored: %s", path,
		                  err.message);
	} else if (extension_named(found, extension.name)) {
		warnings_add_line(found->notices, "The extension in %s is ignored: another "
		                  "extension is named \"%s\".", path, extension.name);
	} else {
		extension_check_files(discovery, &extension);
		found->at = mem_grow(found->at, &found->cap, found->count + 1, sizeof(*found->at));
		extension.entry = mem_strdup(name);
		found->at[found->count++] = extension;
		return;
	}
	extension_release(&extension);
}

static void look_into_extensions(struct discovery *discovery, const char *folder)
{
	char **names;
	const size_t count = door_names(door_folder(folder, folder), EXTENSIONS_MAX + 1, &names);

	for (size_t i = 0; i < count; i++) {
		if (i < EXTENSIONS_MAX)
			extension_try(discovery, folder, names[i]);
		free(names[i]);
	}
	if (count > EXTENSIONS_MAX)
		warnings_add_line(discovery->found->notices,
		                  "Only %d extensions are used: %s has more.", EXTENSIONS_MAX,
		                  folder);
	free(names);
}

static void add_themes(struct extensions *found, const struct extension *extension)
{
	const json_t *theme;
	size_t i;

	json_array_foreach(json_object_get(extension->manifest, "themes"), i, theme) {
		const struct span name = json_span(json_object_get(theme, "name"));
		_cleanup_free_ char *line = extension_line(name);
		_cleanup_free_ char *whole = mem_printf("%s (%s)", line, extension->name);

		if (name.len && extension_counts(extension))
			json_object_set(found->themes, whole, (json_t *)theme);
	}
}

/* Reports names given on the command line that no extension has. */
static void extensions_check_names(const struct discovery *discovery)
{
	const json_t *name;
	size_t i;

	json_array_foreach(discovery->settings->extension_names, i, name)
		if (strcasecmp(json_string_value(name), "none") != 0 &&
		    !extension_named(discovery->found, json_string_value(name)))
			warnings_add_line(discovery->found->notices, "Extension not found: %s",
			                  json_string_value(name));
}

static struct extensions *extensions_discover(const struct settings *settings)
{
	_cleanup_free_ char *folder = extensions_folder(settings->home);
	struct discovery discovery = { .settings = settings };
	struct err err = ERR_INIT;

	discovery.found = mem_alloc(1, sizeof(*discovery.found));
	discovery.found->notices = json_array();
	discovery.found->themes = json_object();
	if (!settings_bool(settings, "admin.extensions.enabled", true))
		return discovery.found;
	discovery.enablement = extensions_enablement(settings->home, &err);
	if (err.code != ERR_NONE)
		warnings_add_line(discovery.found->notices, "%s All extensions count as enabled.",
		                  err.message);
	err = (struct err)ERR_INIT;
	discovery.consents = extension_consents(settings->home, &err);
	if (err.code != ERR_NONE)
		warnings_add_line(discovery.found->notices, "%s Extensions count with the files "
		                  "that they have.", err.message);
	look_into_extensions(&discovery, folder);
	for (size_t i = 0; i < discovery.found->count; i++)
		add_themes(discovery.found, &discovery.found->at[i]);
	extensions_check_names(&discovery);
	json_decref(discovery.enablement);
	json_decref(discovery.consents);
	return discovery.found;
}

static void extensions_free(struct extensions *extensions)
{
	struct extensions *before;

	for (; extensions; extensions = before) {
		before = extensions->before;
		for (size_t i = 0; i < extensions->count; i++)
			extension_release(&extensions->at[i]);
		free(extensions->at);
		json_decref(extensions->notices);
		json_decref(extensions->themes);
		free(extensions);
	}
}

const struct extensions *extensions_installed(const struct settings *settings)
{
	struct settings *own = (struct settings *)settings;

	pthread_mutex_lock(&own->extensions_lock);
	if (!own->extensions) {
		own->extensions = extensions_discover(settings);
		own->extensions_free = extensions_free;
	}
	pthread_mutex_unlock(&own->extensions_lock);
	return own->extensions;
}

void extensions_renew(struct settings *settings)
{
	struct extensions *found;

	pthread_mutex_lock(&settings->extensions_lock);
	found = extensions_discover(settings);
	found->before = settings->extensions;
	settings->extensions = found;
	settings->extensions_free = extensions_free;
	pthread_mutex_unlock(&settings->extensions_lock);
}

const struct extension *extension_named(const struct extensions *extensions, const char *name)
{
	for (size_t i = 0; i < extensions->count; i++) {
		const struct extension *one = &extensions->at[i];
		const char *source = json_string_value(json_object_get(one->origin, "source"));

		if (!strcasecmp(one->name, name) || (source && !strcasecmp(source, name)))
			return one;
	}
	return NULL;
}

bool extension_counts(const struct extension *extension)
{
	return extension->enabled && !extension->off;
}

char *extension_off_sentence(const struct extension *extension)
{
	return extension->off ? mem_printf("The extension \"%s\" is not used. %s",
	                                   extension->name, extension->off) : NULL;
}

/* ---- what one provides --------------------------------------------------------------- */

static void put_context_path(const struct extension *extension, const json_t *name, json_t *paths)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;

	if (!json_string_length(name) || json_array_size(paths) >= EXTENSION_CONTEXTS_MAX)
		return;
	path = path_join(extension->folder, json_string_value(name));
	if (path_is_under(path, extension->folder) &&
	    door_read(extension->folder, path, LIMIT_MEMORY_FILE_BYTES, &text, &ignored) &&
	    text.data)
		json_array_append_new(paths, json_text(span_str(path)));
}

json_t *extension_contexts(const struct extension *extension)
{
	const json_t *said = json_object_get(extension->manifest, "contextFileName");
	json_auto_t *usual = json_string("GEMINI.md");
	json_t *paths = json_array(), *name;
	size_t i;

	json_array_foreach((json_t *)said, i, name)
		put_context_path(extension, name, paths);
	if (!json_is_array(said))
		put_context_path(extension, json_string_length(said) ? said : usual, paths);
	return paths;
}

/* The values of the extension's settings, in the environment of one hook. */
static void add_hook_values(json_t *hook, const json_t *values)
{
	json_t *env = json_object_get(hook, "env");

	if (!json_is_object(hook) || !json_object_size(values))
		return;
	if (!json_is_object(env)) {
		env = json_object();
		json_object_set_new(hook, "env", env);
	}
	json_object_update(env, (json_t *)values);
}

static void add_values_to_hooks(json_t *hooks, const json_t *values)
{
	const char *event;
	json_t *groups, *group, *hook;
	size_t i, k;

	json_object_foreach(hooks, event, groups)
		json_array_foreach(groups, i, group)
			json_array_foreach(json_object_get(group, "hooks"), k, hook)
				add_hook_values(hook, values);
}

json_t *extension_hooks(const struct settings *settings, const struct extension *extension,
                        struct err *err)
{
	json_auto_t *said = extension_hooks_said(extension->folder, extension->manifest, err);
	json_auto_t *names = NULL, *env = json_copy(extension->values);
	json_t *hooks;

	if (!said)
		return NULL;
	if (extension_format(extension->manifest) == EXTENSION_GEMINI) {
		json_auto_t *root = json_pack("{s:o}", "CLAUDE_PLUGIN_ROOT",
		                              json_name(extension->folder));
		json_auto_t *placed = config_put_names(said, root);

		hooks = extension_expand(settings, extension, placed, NULL);
	} else {
		/* What else has a "$" in it is for the shell. */
		names = config_plugin_names(settings, extension);
		hooks = config_put_names(said, names);
		config_plugin_environment(extension, env);
		if (json_object_size(hooks))
			free(extension_data_make(extension));
	}
	add_values_to_hooks(hooks, env);
	return hooks;
}

json_t *extensions_exclusions(const struct settings *settings)
{
	const struct extensions *all = extensions_installed(settings);
	json_t *lists = json_object();

	for (size_t i = 0; i < all->count; i++) {
		json_t *list = json_object_get(all->at[i].manifest, "excludeTools");

		if (extension_counts(&all->at[i]) && json_array_size(list))
			json_object_set(lists, all->at[i].name, list);
	}
	return lists;
}

json_t *extensions_excluded_tools(const struct settings *settings)
{
	const struct extensions *all = extensions_installed(settings);
	json_t *tools = json_copy((json_t *)settings_get(settings, "tools.exclude")), *tool;
	size_t k;

	if (!json_is_array(tools)) {
		json_decref(tools);
		tools = json_array();
	}
	for (size_t i = 0; i < all->count; i++)
		json_array_foreach(json_object_get(all->at[i].manifest, "excludeTools"), k, tool)
			if (extension_counts(&all->at[i]) && json_is_string(tool) &&
			    !json_lists(tools, json_span(tool)))
				json_array_append(tools, tool);
	return tools;
}

const char *extensions_plan_folder(const struct settings *settings)
{
	const struct extensions *all = extensions_installed(settings);

	for (size_t i = 0; i < all->count; i++) {
		const json_t *plan = json_object_get(all->at[i].manifest, "plan");
		const json_t *folder = json_object_get(plan, "directory");

		if (extension_counts(&all->at[i]) && json_string_length(folder))
			return json_string_value(folder);
	}
	return NULL;
}
