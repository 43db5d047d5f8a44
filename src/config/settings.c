/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: the files that count, read and merged, each value with its origin. */
#include "config/settings.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/authority.h"
#include "config/private.h"
#include "config/schema.h"
#include "data/json.h"
#include "data/jsonc.h"
#include "data/warnings.h"

/* ---- merging ----------------------------------------------------------------- */

/* A tool's name as settings are compared by it: without blanks around, in lower case. */
static char *folded_name(const json_t *item)
{
	struct span name = span_trim(json_span(item));
	char *folded = mem_dup(name.data, name.len);

	for (size_t i = 0; i < name.len; i++)
		folded[i] = (char)tolower((unsigned char)folded[i]);
	return folded;
}

/* A single value among arrays counts as an array of one. */
static json_t *as_array(const json_t *value)
{
	json_t *array;

	if (json_is_array(value))
		return json_copy((json_t *)value);
	array = json_array();
	json_array_append(array, (json_t *)value);
	return array;
}

/* Whether the item is new to the set, which then has it: an object whose names are the items'
 * texts. */
static bool add_to_set(json_t *set, const json_t *item)
{
	_cleanup_free_ char *text =
		json_dumps(item, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);

	if (!text)
		return true; /* cannot be compared */
	if (json_object_get(set, text))
		return false;
	json_object_set_new_nocheck(set, text, json_true());
	return true;
}

static json_t *merge_arrays(const json_t *low, const json_t *high, enum setting_merge how)
{
	json_t *all = as_array(low), *more = as_array(high), *result, *item;
	json_auto_t *seen = json_object();
	size_t i;

	json_array_extend(all, more);
	json_decref(more);
	if (how == MERGE_CONCAT)
		return all;
	result = json_array();
	json_array_foreach(all, i, item)
		if (add_to_set(seen, item))
			json_array_append(result, item);
	json_decref(all);
	return result;
}

static json_t *common(const json_t *low, const json_t *high)
{
	json_auto_t *names = json_object();
	json_t *result = json_array(), *item;
	size_t i;

	json_array_foreach(high, i, item) {
		_cleanup_free_ char *name = folded_name(item);

		json_object_set_new_nocheck(names, name, json_true());
	}
	json_array_foreach(low, i, item) {
		_cleanup_free_ char *name = folded_name(item);

		if (json_object_get(names, name))
			json_array_append(result, item);
	}
	return result;
}

static void merge_object(json_t *low, const json_t *high, struct buf *path);

static json_t *deep(json_t *low, const json_t *high, struct buf *path)
{
	json_t *result = json_is_object(low) ? json_incref(low) : json_object();

	merge_object(result, high, path);
	return result;
}

static json_t *merged(json_t *low, json_t *high, struct buf *path)
{
	const struct setting *row = path->overflowed ? NULL : schema_find(path->data);
	enum setting_merge how = row ? row->merge : MERGE_REPLACE;

	if (how == MERGE_SHALLOW && json_is_object(low) && json_is_object(high)) {
		json_t *result = json_copy((json_t *)low);

		json_object_update(result, (json_t *)high);
		return result;
	}
	if (how == MERGE_INTERSECT && json_is_array(low) && json_is_array(high))
		return common(low, high);
	if ((how == MERGE_CONCAT || how == MERGE_UNION) && json_is_array(low))
		return merge_arrays(low, high, how);
	if (json_is_object(high))
		return deep(low, high, path);
	return json_incref(high);
}

/* Recursion is bounded by the depth to which files of settings are read. */
static void merge_object(json_t *low, const json_t *high, struct buf *path)
{
	size_t len = path->len;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)high, name, value) {
		if (strcmp(name, "__proto__") == 0 || strcmp(name, "constructor") == 0 ||
		    strcmp(name, "prototype") == 0)
			continue;
		if (len)
			buf_char(path, '.');
		buf_str(path, name);
		json_object_set_new_nocheck(low, name,
		                            merged(json_object_get(low, name), value, path));
		path->len = len;
		path->overflowed = false;
		if (path->data)
			path->data[len] = '\0';
	}
}

/* Changes `low` to what it is under `high`, which stays as it is. Both are nested
 * at most JSONC_DEPTH_MAX deep. */
static void merge_onto(json_t *low, const json_t *high)
{
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_SETTINGS_BYTES);

	merge_object(low, high, &path);
}

/* ---- all files together ------------------------------------------------------ */

#define SYSTEM_SETTINGS "/etc/gemini-cli/settings.json"

/* Files that count before anything is known of the project. */
static const enum settings_scope own_scopes[] = { SCOPE_SYSTEM_DEFAULTS, SCOPE_USER, SCOPE_SYSTEM };

/* --- Loading ------------------------------------------------------------------------------- */

static char *given(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? mem_strdup(value) : NULL;
}

/* The administrator's settings.  A variable says where they are only where the usual file is
 * missing: it is the user's, and what the administrator requires must not vanish with it. */
static char *system_file(struct settings *settings)
{
	char *named = given("GEMINI_CLI_SYSTEM_SETTINGS_PATH");

	if (!named || access(SYSTEM_SETTINGS, F_OK) != 0)
		return named ? named : mem_strdup(SYSTEM_SETTINGS);
	if (settings->warnings && strcmp(named, SYSTEM_SETTINGS) != 0)
		warnings_add(settings->warnings,
		             json_string("GEMINI_CLI_SYSTEM_SETTINGS_PATH is ignored because "
		                         SYSTEM_SETTINGS " exists."));
	free(named);
	return mem_strdup(SYSTEM_SETTINGS);
}

/* system-defaults.json is in the same folder as the system's settings.json. */
static void find_files(struct settings *settings)
{
	struct scope *scopes = settings->scopes;
	char *system = system_file(settings);
	char *defaults = given("GEMINI_CLI_SYSTEM_DEFAULTS_PATH");
	_cleanup_free_ char *user = realpath(home_user(settings->home), NULL);
	const char *project = home_project(settings->home), *slash;

	slash = strrchr(system, '/');
	if (!defaults)
		defaults = mem_printf("%.*ssystem-defaults.json",
		                      slash ? (int)(slash + 1 - system) : 0, system);
	scopes[SCOPE_SYSTEM].path = system;
	scopes[SCOPE_SYSTEM_DEFAULTS].path = defaults;
	scopes[SCOPE_USER].path = mem_printf("%s/settings.json", home_gemini(settings->home));
	scopes[SCOPE_USER].more_path = mem_printf("%s/mcp-settings.json",
	                                          home_gemini(settings->home));
	settings->project_is_home = strcmp(user ? user : home_user(settings->home), project) == 0;
	if (!settings->project_is_home) {
		scopes[SCOPE_WORKSPACE].path = mem_printf("%s/.gemini/settings.json", project);
		scopes[SCOPE_WORKSPACE].project = project;
	}
}

/* Like settings_bool, while there is nothing merged yet: of these the highest scope that says
 * it. */
static bool early_bool(const struct settings *settings, const char *path, bool fallback)
{
	for (int i = SCOPE_COUNT; i-- > 0;) {
		const json_t *value = config_path_get(settings->scopes[i].value, path);

		if (json_is_boolean(value))
			return json_is_true(value);
	}
	return fallback;
}

/* Settings switch folders' trust off, and the environment does not say otherwise. */
static bool all_folders_trusted(const struct settings *settings)
{
	const char *variable = getenv("GEMINI_CLI_TRUST_WORKSPACE");

	return !early_bool(settings, "security.folderTrust.enabled", true) &&
	       (!variable || strcmp(variable, "false") != 0);
}

static void decide_trust(struct settings *settings, bool skip)
{
	struct err err = ERR_INIT;
	enum trust trust;

	if (skip || all_folders_trusted(settings)) {
		settings->trusted = true;
		return;
	}
	trust = trust_of(settings->home, home_project(settings->home), &err);
	if (err.code != ERR_NONE)
		warnings_add(settings->warnings, json_text(span_str(err.message)));
	settings->trusted = trust == TRUST_YES;
	settings->trust_unknown = trust == TRUST_UNKNOWN;
}

/* Which .env file counts, and what of it, is said by strings as they stand in the files. */
static void open_variables(struct settings *settings, const struct settings_options *options)
{
	json_t *merged = settings_merge(settings);
	struct variables_options how = {
		.home = settings->home,
		.trusted = settings->trusted,
		.all_trusted = all_folders_trusted(settings),
		.ignore_env_files = options->ignore_env_files ||
		                    json_is_true(config_path_get(merged,
		                                                 "advanced.ignoreLocalEnv")),
		.excluded = config_path_get(merged, "advanced.excludedEnvVars"),
		.allowed = settings->allowed,
		.withheld = settings->withheld,
		.warnings = settings->warnings,
	};

	settings->variables = variables_open(&how);
	json_decref(merged);
}

static bool read_scopes(struct settings *settings, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(own_scopes); i++)
		if (!scope_read(&settings->scopes[own_scopes[i]], err))
			return false;
	return scope_read_servers(&settings->scopes[SCOPE_USER], err);
}

/* What a project's .env says is for the project's own settings: in the user's it would decide where
 * those lead. */
json_t *settings_expand(struct settings *settings, enum settings_scope scope, const json_t *value)
{
	return variables_expand_json(settings->variables, value, scope != SCOPE_WORKSPACE,
	                             settings->warnings);
}

/* What a link leads out of the project to is not its settings: it does not count, and a warning
 * says so. */
static bool read_project(struct settings *settings, struct err *err)
{
	struct scope *scope = &settings->scopes[SCOPE_WORKSPACE];
	struct err why = ERR_INIT;

	if (scope_read(scope, &why))
		return true;
	if (why.code != ERR_OUTSIDE_WORKSPACE) {
		*err = why;
		return false;
	}
	scope->moved = json_object();
	warnings_add(settings->warnings, json_text(span_str(why.message)));
	return true;
}

static void put_in_variables(struct settings *settings)
{
	for (int i = SCOPE_SYSTEM_DEFAULTS; i < SCOPE_OVERRIDE; i++) {
		json_t *value = settings->scopes[i].value;

		if (value)
			settings->scopes[i].value =
				settings_expand(settings, (enum settings_scope)i, value);
		json_decref(value);
	}
}

/* Of a folder that is not trusted nothing that could be allowed counts. */
static void read_allowed(struct settings *settings)
{
	struct err err = ERR_INIT;

	if (!settings->trusted)
		return;
	settings->allowed = authority_allowances(settings->home, &err);
	if (!settings->allowed)
		warnings_add(settings->warnings, json_text(span_str(err.message)));
}

json_t *settings_merge(const struct settings *settings)
{
	json_t *merged = json_object();

	for (int i = 0; i < SCOPE_COUNT; i++)
		if (settings->scopes[i].value)
			merge_onto(merged, settings->scopes[i].value);
	return merged;
}

static bool load_scopes(struct settings *settings, const struct settings_options *options,
                        struct err *err)
{
	find_files(settings);
	settings->scopes[SCOPE_DEFAULT].value = schema_defaults();
	settings->scopes[SCOPE_OVERRIDE].value = json_deep_copy(options->overrides);
	if (!read_scopes(settings, err))
		return false;
	decide_trust(settings, options->skip_trust);
	read_allowed(settings);
	if (settings->trusted && settings->scopes[SCOPE_WORKSPACE].path &&
	    !read_project(settings, err))
		return false;
	open_variables(settings, options);
	put_in_variables(settings);
	for (int i = SCOPE_SYSTEM_DEFAULTS; i <= SCOPE_OVERRIDE; i++)
		scope_check(settings, &settings->scopes[i], (enum settings_scope)i,
		            settings->warnings);
	settings->merged = settings_merge(settings);
	return true;
}

bool settings_load(const struct settings_options *options, struct settings **ret, struct err *err)
{
	struct settings *settings = mem_alloc(1, sizeof(*settings));

	settings->warnings = json_array();
	settings->withheld = json_array();
	settings->unusable = json_array();
	settings->skip_trust = options->skip_trust;
	settings->ignore_env_files = options->ignore_env_files;
	settings->extension_names = json_deep_copy(options->extensions);
	pthread_mutex_init(&settings->extensions_lock, NULL);
	if (!home_open(options->project, &settings->home, err) ||
	    !load_scopes(settings, options, err)) {
		settings_free(settings);
		return false;
	}
	*ret = settings;
	return true;
}

bool settings_load_again(const struct settings *settings, struct settings **ret, struct err *err)
{
	const struct settings_options options = {
		.project = home_project(settings->home),
		.skip_trust = settings->skip_trust,
		.ignore_env_files = settings->ignore_env_files,
		.overrides = settings->scopes[SCOPE_OVERRIDE].value,
		.extensions = settings->extension_names,
	};

	if (!settings_load(&options, ret, err))
		return false;
	pthread_mutex_lock((pthread_mutex_t *)&settings->extensions_lock);
	(*ret)->extensions_switched = json_deep_copy(settings->extensions_switched);
	pthread_mutex_unlock((pthread_mutex_t *)&settings->extensions_lock);
	return true;
}

/* Making the defaults costs more than all the rest: not for nothing. */
static bool has_any_file(const char *project)
{
	struct settings settings = { 0 };
	struct err none = ERR_INIT;
	bool any = false;

	if (!home_open(project, &settings.home, &none))
		return false;
	find_files(&settings);
	for (size_t i = 0; i < ARRAY_LEN(own_scopes); i++)
		any = any || access(settings.scopes[own_scopes[i]].path, F_OK) == 0;
	any = any || access(settings.scopes[SCOPE_USER].more_path, F_OK) == 0;
	any = any || (settings.scopes[SCOPE_WORKSPACE].path &&
	              access(settings.scopes[SCOPE_WORKSPACE].path, F_OK) == 0);
	for (int i = 0; i < SCOPE_COUNT; i++)
		scope_release(&settings.scopes[i]);
	home_free(settings.home);
	return any;
}

/* In the home folder there are no workspace settings (find_files). */
bool settings_load_own(struct settings **ret, struct err *err)
{
	struct err none = ERR_INIT;
	struct home *home;
	_cleanup_free_ char *folder = NULL;

	*ret = NULL;
	if (!home_open("/", &home, &none))
		return true;
	folder = realpath(home_user(home), NULL);
	if (!folder)
		folder = mem_strdup(home_user(home));
	home_free(home);
	return !has_any_file(folder) ||
	       settings_load(&(struct settings_options){ .project = folder }, ret, err);
}

bool settings_load_found(const char *project, struct settings **ret, struct err *err)
{
	*ret = NULL;
	return !has_any_file(project) ||
	       settings_load(&(struct settings_options){ .project = project }, ret, err);
}

void settings_free(struct settings *settings)
{
	if (!settings)
		return;
	for (int i = 0; i < SCOPE_COUNT; i++)
		scope_release(&settings->scopes[i]);
	variables_free(settings->variables);
	home_free(settings->home);
	json_decref(settings->merged);
	json_decref(settings->warnings);
	json_decref(settings->allowed);
	json_decref(settings->withheld);
	json_decref(settings->unusable);
	if (settings->extensions)
		settings->extensions_free(settings->extensions);
	json_decref(settings->extension_names);
	json_decref(settings->extensions_switched);
	pthread_mutex_destroy(&settings->extensions_lock);
	free(settings);
}

/* --- Values -------------------------------------------------------------------------------- */

const json_t *settings_get(const struct settings *settings, const char *path)
{
	return settings ? config_path_get(settings->merged, path) : NULL;
}

const char *settings_string(const struct settings *settings, const char *path,
                            const char *fallback)
{
	const char *value = json_string_value(settings_get(settings, path));

	return value ? value : fallback;
}

bool settings_bool(const struct settings *settings, const char *path, bool fallback)
{
	const json_t *value = settings_get(settings, path);

	return json_is_boolean(value) ? json_is_true(value) : fallback;
}

int64_t settings_integer(const struct settings *settings, const char *path, int64_t fallback)
{
	const json_t *value = settings_get(settings, path);
	double real = json_number_value(value);

	if (json_is_integer(value))
		return json_integer_value(value);
	return json_is_real(value) && real >= -9e15 && real <= 9e15 ? (int64_t)real : fallback;
}

unsigned settings_wait_ms(const struct settings *settings, const char *path, int64_t fallback_s,
                          int64_t least_s, int64_t most_s)
{
	int64_t seconds = settings_integer(settings, path, fallback_s);

	return (unsigned)(1000 * (seconds < least_s ? least_s :
	                          seconds > most_s  ? most_s :
	                                              seconds));
}

unsigned settings_lock_wait_ms(const struct settings *settings)
{
	return settings_wait_ms(settings, "hasp.waits.lockSeconds", 10, 1, 300);
}

double settings_number(const struct settings *settings, const char *path, double fallback)
{
	const json_t *value = settings_get(settings, path);

	return json_is_number(value) ? json_number_value(value) : fallback;
}

const json_t *settings_of_scope(const struct settings *settings, enum settings_scope scope,
                                const char *path)
{
	return (unsigned)scope < SCOPE_COUNT ? config_path_get(settings->scopes[scope].value, path)
	                                     : NULL;
}

const char *settings_file(const struct settings *settings, enum settings_scope scope)
{
	return (unsigned)scope < SCOPE_COUNT ? settings->scopes[scope].path : NULL;
}

struct settings_origin settings_origin_of(const struct settings *settings, const char *path)
{
	for (int i = SCOPE_COUNT; i-- > SCOPE_SYSTEM_DEFAULTS;) {
		const struct scope *scope = &settings->scopes[i];

		if (config_path_get(scope->value, path))
			return (struct settings_origin){ (enum settings_scope)i,
				                         scope_file(scope, path),
				                         scope_line(scope, path) };
	}
	return (struct settings_origin){ SCOPE_DEFAULT, NULL, 0 };
}

const json_t *settings_warnings(const struct settings *settings)
{
	return settings->warnings;
}

json_t *settings_renamed(const struct settings *settings)
{
	json_t *sentences = json_array(), *old;
	const char *path;

	for (int i = SCOPE_SYSTEM_DEFAULTS; i < SCOPE_OVERRIDE; i++) {
		const struct scope *scope = &settings->scopes[i];
		_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_SETTINGS_BYTES);

		json_object_foreach(scope->moved, path, old)
			buf_printf(&text, "%s%s is now %s", text.len ? ", " : "",
			           json_string_value(old), path);
		if (text.len)
			json_array_append_new(sentences, json_sprintf(
				"%s uses old names, which still work: %s.", scope->path,
				text.data));
	}
	return sentences;
}

const char *settings_unusable(const struct settings *settings, const char *above)
{
	size_t i;
	json_t *row;

	json_array_foreach(settings->unusable, i, row) {
		const char *name = json_string_value(json_object_get(row, "name"));

		/* A group that is no object has lost all that is in it. */
		if (!above || !strcmp(name, above) || schema_is_below(name, above) ||
		    schema_is_below(above, name))
			return json_string_value(json_object_get(row, "message"));
	}
	return NULL;
}

const json_t *settings_withheld(const struct settings *settings)
{
	return settings->withheld;
}

const json_t *settings_allowed(const struct settings *settings)
{
	return settings->allowed;
}

bool settings_project_may(const struct settings *settings, const char *name, const json_t *value)
{
	if (authority_allows(settings->allowed, name, value))
		return true;
	json_array_append_new(settings->withheld,
	                      json_pack("{s:s, s:O, s:n, s:i}", "name", name, "value", value,
	                                "file", "line", 0));
	return false;
}

const struct home *settings_home(const struct settings *settings)
{
	return settings->home;
}

const struct variables *settings_variables(const struct settings *settings)
{
	return settings->variables;
}

bool settings_trusted(const struct settings *settings)
{
	return settings->trusted;
}

bool settings_trust_unknown(const struct settings *settings)
{
	return settings->trust_unknown;
}

bool settings_trust_is_given(const struct settings *settings)
{
	return settings->skip_trust || getenv("GEMINI_CLI_TRUST_WORKSPACE");
}

/* ---- all values with their origins ---- */

struct settings_listing {
	const struct settings *settings;
	bool defaults;
	json_t *items;
};

static void list_add_setting(struct settings_listing *list, const char *path, json_t *value)
{
	struct settings_origin origin = settings_origin_of(list->settings, path);
	json_t *row;

	if (origin.scope == SCOPE_DEFAULT && !list->defaults)
		return;
	row = json_pack("{s:s, s:O, s:s, s:o, s:i}", "key", path, "value", value, "scope",
	                settings_scope_name(origin.scope), "file", json_cstr(origin.file), "line",
	                (int)origin.line);
	if (!schema_find(path))
		json_object_set_new(row, "unknown", json_true());
	json_array_append_new(list->items, row);
}

/* Whether each member has its own path. */
static bool has_paths(const json_t *object)
{
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)object, name, member)
		if (!*name || strchr(name, '.'))
			return false;
	return json_object_size(object) > 0;
}

static void list_add_below(struct settings_listing *list, const char *path, json_t *value)
{
	const char *name;
	json_t *member;

	if (!json_is_object(value) || !has_paths(value)) {
		list_add_setting(list, path, value);
		return;
	}
	json_object_foreach(value, name, member) {
		_cleanup_free_ char *below = mem_printf("%s.%s", path, name);

		list_add_setting(list, below, member);
	}
}

/* Members that no row is about. Recursion ends with the groups of the table. */
static void add_unknown(struct settings_listing *list, json_t *object, const char *above)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value) {
		_cleanup_free_ char *path = mem_printf("%s%s%s", above, *above ? "." : "", name);

		if (strchr(name, '.') || !*name)
			continue; /* no path leads there */
		if (schema_is_group(path) && json_is_object(value))
			add_unknown(list, value, path);
		else if (!schema_exact(path))
			list_add_below(list, path, value);
	}
}

json_t *settings_list(const struct settings *settings, bool defaults)
{
	struct settings_listing list = { settings, defaults, json_array() };

	for (size_t i = 0; i < schema_count(); i++) {
		const char *path = schema_at(i)->path;
		json_t *value = config_path_get(settings->merged, path);

		if (value)
			list_add_below(&list, path, value);
	}
	add_unknown(&list, settings->merged, "");
	return list.items;
}
