/* SPDX-License-Identifier: Apache-2.0 */
/* The tools that find files by name: glob, list_directory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/path.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/private.h"

/* ---- list_directory ---------------------------------------------------------- */

/* list_directory: what one folder holds. */

static const char list_directory_description[] =
	"Lists a folder: folders first, then files with their sizes. Ignored entries are only "
	"counted.";

/* clang-format off */
static const char list_directory_arguments_schema[] = SCHEMA(
{
	"type": "object", "additionalProperties": false,
	"properties": {
		"path": {"type": "string", "minLength": 1, "description":
			"Default: the workspace folders."},
		"ignore": {"type": "array", "description": "Globs of names to leave out.",
			"items": {"type": "string", "minLength": 1}},
		"file_filtering_options": {"type": "object", "additionalProperties": false,
			"description": "Ignore files, as Gemini CLI has them.",
			"properties": {
			"respect_git_ignore": {"type": "boolean", "description": "Default true."},
			"respect_gemini_ignore": {"type": "boolean", "description":
				"Default true."}}}
	}
} );

static const char list_directory_result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "path", "entries", "ignored"],
	 "additionalProperties": false, "properties": {"success": {"const": true},
	 "path": {"type": "string"},
	 "entries": {"type": "array", "items": {"type": "object", "required": ["name", "kind"],
		"additionalProperties": false, "properties": {
		"name": {"type": "string"},
		"kind": {"type": "string", "enum": ["file", "folder", "link", "other"]},
		"size": {"type": "integer", "description": "Bytes; files only."}}}},
	 "ignored": {"type": "integer", "description": "How many were left out."},
	 "others": {"type": "array", "items": {"type": "object"}, "description":
		"The other workspace folders, if no path was given: path, entries, ignored."}, )
	RESULT_DENIED SCHEMA(,
	 "message": {"type": "string"}}}, ) RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static const struct tool_alias list_directory_parameter_aliases[] = {
	ALIASES_FOLDER,
	{ "ignore_globs", "ignore", 0 },
	{ NULL, NULL, 0 },
};

static json_t *list_directory_entry_json(const struct walk_entry *entry)
{
	static const char *const kinds[] = {
		[ENTRY_FILE] = "file",
		[ENTRY_FOLDER] = "folder",
		[ENTRY_LINK] = "link",
		[ENTRY_OTHER] = "other",
	};
	json_t *object = json_object();

	json_object_set_new(object, "name", json_name(entry->path));
	json_object_set_new(object, "kind", json_cstr(kinds[entry->kind]));
	if (entry->kind == ENTRY_FILE)
		json_object_set_new(object, "size", json_size(entry->size));
	return object;
}

static json_t *directory_listing(const struct walk_result *walk)
{
	json_t *result = json_object();
	json_t *entries = json_array();

	for (size_t i = 0; i < walk->count; i++)
		json_array_append_new(entries, list_directory_entry_json(&walk->entries[i]));
	json_object_set_new(result, "path", json_name(walk->folder));
	json_object_set_new(result, "entries", entries);
	json_object_set_new(result, "ignored", json_size(walk->ignored));
	if (walk->more)
		json_object_set_new(result, "message",
		                    json_cstr("The folder has more entries than can be listed; "
		                              "leave some out with ignore."));
	filter_put_denied(result, walk->denied, walk->denied_why);
	return result;
}

static json_t *list_directory(struct session *session, const struct walk_request *request)
{
	struct walk_result walk = { 0 };
	struct err err = ERR_INIT;
	json_t *result;

	if (!session->provider->ops->walk(session->provider, request, &walk, &err)) {
		result = tool_failure(&err);
		json_object_set_new(result, "path", json_name(request->path));
		return result;
	}
	result = directory_listing(&walk);
	walk_result_release(&walk);
	return result;
}

static json_t *run_list_directory(struct session *session, const json_t *arguments)
{
	size_t ignore_count, count;
	_cleanup_free_ const char **ignore = argument_strings(arguments, "ignore", &ignore_count);
	_cleanup_free_ const char **roots =
		filter_roots(session->provider, argument_str(arguments, "path"), &count);
	struct walk_request request = {
		.path = roots[0],
		.exclude = ignore,
		.exclude_count = ignore_count,
	};
	json_t *result, *others;

	filter_rules(session, arguments, &request.rules);
	result = list_directory(session, &request);
	if (count > 1 && !tool_result_failed(result)) {
		others = json_array();
		for (size_t i = 1; i < count; i++) {
			request.path = roots[i];
			json_array_append_new(others, list_directory(session, &request));
		}
		json_object_set_new(result, "others", others);
	}
	free((void *)request.rules.ignore_files);
	return result;
}

static const char *const list_directory_undeclared[] = { "ignore", "file_filtering_options", NULL };

const struct tool tool_list_directory = {
	.info = &tool_infos[TOOL_LIST_DIRECTORY],
	.name = "list_directory",
	.title = "List folder",
	.rest = "Name a folder beneath it, or use glob with a narrower pattern.",
	.parameter_aliases = list_directory_parameter_aliases,
	.description = list_directory_description,
	.arguments_schema = list_directory_arguments_schema,
	.undeclared = list_directory_undeclared,
	.result_schema = list_directory_result_schema,
	.run = run_list_directory,
};

/* ---- glob -------------------------------------------------------------------- */

/* glob: files by the pattern of their path, those that were changed lately first. */

enum {
	RESULTS_DEFAULT = 500,
	/* To find the newest, up to this many matches are listed. */
	SORTED_MAX = 500000,
	RECENT_SECONDS = 24 * 60 * 60,
};

static const char glob_description[] =
	"Finds files whose paths match patterns such as src/**/*.ts or docs/*.{md,rst}: ** goes "
	"through any number of folders, a leading ! excludes. Files changed in the last 24 hours "
	"come first, the newest at the top, then the others by name. Ignored files are left out, "
	"dotfiles are not.";

/* clang-format off */
static const char glob_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["patterns"], "additionalProperties": false,
	"properties": {
		"patterns": {"type": "array", "minItems": 1, "maxItems": 1000,
			"items": {"type": "string", "minLength": 1}, "description":
			"Globs relative to path."},
		"path": {"type": "string", "minLength": 1, "description":
			"Default: all workspace folders."},
		) ARGUMENT_EXCLUDE SCHEMA(,
		) ARGUMENT_CASE SCHEMA(,
		"order": {"type": "string", "enum": ["recent", "name"], "description":
			"recent (default): as described above; name: alphabetical."},
		"max_results": {"type": "integer", "minimum": 1, "maximum": 1000000, "description":
			"Default 500."}, )
		ARGUMENTS_FILTER SCHEMA(,
		"details": {"type": "boolean", "description":
			"Give each file's size and time of change too. Default false."},
		"with_hashes": {"type": "boolean", "description":
			"Give each file's version and sha256 too. Default false."}
	}
} );

static const char glob_result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "path", "files", "more", "ignored"],
	 "additionalProperties": false, "properties": {"success": {"const": true},
	 "path": {"type": "string", "description": "The folder that was looked in."},
	 ) RESULT_ROOTS SCHEMA(,
	 "files": {"type": "array", "items": {"oneOf": [
		{"type": "string", "description":
			"Relative to the first workspace folder, or absolute outside of it."},
		{"type": "object", "required": ["file_path"], "additionalProperties": false,
		 "properties": {
		 "file_path": {"type": "string"},
		 "size": {"type": "integer", "description": "Bytes."},
		 "modified": {"type": "string", "description": "UTC."},
		 ) RESULT_VERSION SCHEMA(}}]}},
	 "more": {"type": "boolean", "description": "There are more than are returned."},
	 "ignored": {"type": "integer", "description":
		"Files and folders that were left out; they are not looked into."},
	 "message": {"type": "string"}, ) RESULT_DENIED SCHEMA(}}, ) RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static const struct tool_alias glob_parameter_aliases[] = {
	{ "pattern", "patterns", 0 },
	{ "glob_pattern", "patterns", 0 },
	ALIASES_FOLDER,
	{ NULL, NULL, 0 },
};

/* The patterns of a call, taken apart. */
struct patterns {
	const char **include; /* owned, and so are the strings */
	const char **exclude; /* owned; the strings are borrowed */
	size_t include_count, exclude_count;
	bool stays_on_top; /* none of them looks beneath the folder */
};

static void patterns_release(struct patterns *patterns)
{
	for (size_t i = 0; i < patterns->include_count; i++)
		free((void *)patterns->include[i]);
	free(patterns->include);
	free(patterns->exclude);
}

/* Where a call looks, as an absolute path without a '/' at its end. The caller frees. */
static char *absolute_folder(struct provider *provider, const char *path)
{
	char *folder;
	size_t len;

	if (path[0] == '/')
		folder = mem_strdup(path);
	else if (strcmp(path, ".") == 0)
		folder = mem_strdup(provider->ops->root(provider, 0));
	else
		folder = mem_printf("%s/%s", provider->ops->root(provider, 0), path);
	len = strlen(folder);
	while (len > 0 && folder[len - 1] == '/')
		folder[--len] = '\0';
	return folder;
}

/* Whether an absolute pattern is for another root than `folder`. */
static bool is_elsewhere(struct provider *provider, const char *folder, const char *text)
{
	const char *root;

	for (size_t i = 0; (root = provider->ops->root(provider, i)); i++) {
		size_t len = strlen(root);

		if (strcmp(root, folder) != 0 && strncmp(text, root, len) == 0 && text[len] == '/')
			return true;
	}
	return false;
}

/* One pattern as the walk takes it, which begins at the folder. */
static bool add_pattern(struct patterns *patterns, const char *folder, const char *text,
                        struct err *err)
{
	const char *rest = text;
	const size_t folder_len = strlen(folder);

	if (strncmp(text, folder, folder_len) == 0 && text[folder_len] == '/')
		rest += folder_len + 1; /* an absolute one, beneath where it is looked for */
	while (strncmp(rest, "./", 2) == 0)
		rest += 2;
	if (rest[0] == '/' || strncmp(rest, "../", 3) == 0 || strstr(rest, "/../"))
		return err_set(err, ERR_OUTSIDE_WORKSPACE,
		               "The pattern \"%s\" does not begin in the folder that is looked in; "
		               "patterns are relative to path.",
		               text);
	if (strchr(rest, '/'))
		patterns->stays_on_top = false;
	patterns->include[patterns->include_count++] = mem_printf("/%s", rest);
	return true;
}

/* Where a call looks without a path: in all roots, and in folders that patterns name. */
struct glob_places {
	const char **all;  /* owned; the strings of roots are borrowed */
	size_t count;
	size_t root_count; /* those after these are named, and owned */
	bool given;        /* the call has a path: the only place, for all patterns */
};

static void glob_places_release(struct glob_places *places)
{
	for (size_t i = places->root_count; i < places->count; i++)
		free((void *)places->all[i]);
	free(places->all);
}

static bool is_exception(const char *text)
{
	return text[0] == '!' && text[1];
}

static bool places_have(const struct glob_places *places, const char *folder)
{
	for (size_t i = places->root_count; i < places->count; i++)
		if (strcmp(places->all[i], folder) == 0)
			return true;
	return false;
}

/* If all patterns are for one folder outside of the roots, that alone is looked in. */
static void glob_places_find(struct provider *provider, const json_t *arguments,
                             struct glob_places *ret)
{
	const char *path = argument_str(arguments, "path");
	size_t count;
	_cleanup_free_ const char **texts = argument_strings(arguments, "patterns", &count);
	_cleanup_free_ const char **roots = filter_roots(provider, path, &ret->root_count);
	bool others = false;

	ret->given = path;
	ret->count = ret->root_count;
	ret->all = mem_alloc(ret->count + count, sizeof(*ret->all));
	memcpy(ret->all, roots, ret->count * sizeof(*roots));
	for (size_t i = 0; !path && i < count; i++) {
		_cleanup_free_ char *folder = filter_outer_folder(provider, texts[i]);

		others |= !folder && !is_exception(texts[i]);
		if (folder && !places_have(ret, folder))
			ret->all[ret->count++] = mem_steal(&folder);
	}
	if (!others && ret->count == ret->root_count + 1) {
		ret->all[0] = ret->all[ret->root_count];
		ret->root_count = 0;
		ret->count = 1;
	}
}

/* Whether a pattern is for another place than the one that is looked in, which is `folder` as an
 * absolute path. */
static bool is_for_another(struct provider *provider, const struct glob_places *places,
                           size_t place, const char *folder, const char *text)
{
	_cleanup_free_ char *named = places->given ? NULL : filter_outer_folder(provider, text);

	if (place >= places->root_count)
		return !named || strcmp(named, places->all[place]) != 0;
	return named || (places->root_count > 1 && is_elsewhere(provider, folder, text) &&
	                 !path_is_under(text, folder));
}

/* Those for this place; patterns for others are no fault.  If all are for others, *ret_none is
 * set. */
static bool read_patterns(struct provider *provider, const json_t *arguments, const char *folder,
                          const struct glob_places *places, size_t place, struct patterns *ret,
                          bool *ret_none, struct err *err)
{
	size_t elsewhere = 0;

	size_t count, more;
	_cleanup_free_ const char **texts = argument_strings(arguments, "patterns", &count);
	_cleanup_free_ const char **exclude = argument_strings(arguments, "exclude", &more);

	ret->include = mem_alloc(count, sizeof(*ret->include));
	ret->exclude = mem_alloc(count + more, sizeof(*ret->exclude));
	ret->stays_on_top = true;
	for (size_t i = 0; i < count; i++) {
		if (is_exception(texts[i]))
			ret->exclude[ret->exclude_count++] = texts[i] + 1;
		else if (is_for_another(provider, places, place, folder, texts[i]))
			elsewhere++;
		else if (!add_pattern(ret, folder, texts[i], err))
			return false;
	}
	for (size_t i = 0; i < more; i++)
		ret->exclude[ret->exclude_count++] = exclude[i];
	*ret_none = elsewhere && !ret->include_count;
	if (!ret->include_count && count)
		ret->stays_on_top = false; /* nothing but exceptions: to everything */
	return true;
}

static int newer_first(const void *a, const void *b)
{
	const struct walk_entry *x = a, *y = b;

	if (x->modified_ns != y->modified_ns)
		return x->modified_ns > y->modified_ns ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Moves the recent ones to the front, the newest first; the others keep their order. */
static void put_recent_first(struct walk_entry *entries, size_t count)
{
	const int64_t since = ((int64_t)time(NULL) - RECENT_SECONDS) * 1000000000;
	_cleanup_free_ struct walk_entry *old = mem_alloc(count, sizeof(*old));
	size_t recent = 0, others = 0;

	for (size_t i = 0; i < count; i++) {
		if (entries[i].modified_ns >= since)
			entries[recent++] = entries[i];
		else
			old[others++] = entries[i];
	}
	if (recent > 1)
		qsort(entries, recent, sizeof(*entries), newer_first);
	if (others > 0)
		memcpy(entries + recent, old, others * sizeof(*old));
}

/* "2026-03-01T12:34:56Z" */
static json_t *time_json(int64_t ns)
{
	const time_t seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
	char text[40] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(text);
}

/* The file's state, if it can be read at all, whatever it holds. */
static void put_file_state(struct session *session, json_t *file, const char *path)
{
	struct read_request request = { .path = path, .max_lines = 1, .max_bytes = 1 };
	struct read_result read;
	struct err err = ERR_INIT;

	if (provider_read(session->provider, &request, &read, &err) ||
	    read.state.exists)
		filter_put_state(session, file, &read.state.sha256, read.state.size);
	read_result_release(&read);
}

static json_t *glob_entry_json(struct session *session, const json_t *arguments, const char *folder,
                               const char *prefix, const struct walk_entry *entry)
{
	const bool details = argument_bool(arguments, "details", false);
	const bool hashes = argument_bool(arguments, "with_hashes", false);
	_cleanup_free_ char *path = mem_printf("%s%s", entry->path[0] == '/' ? "" : prefix,
	                                       entry->path);
	_cleanup_free_ char *absolute = entry->path[0] == '/' ? mem_strdup(entry->path) :
	                                mem_printf("%s/%s", folder, entry->path);
	json_t *object;

	if (!details && !hashes)
		return json_name(path);
	object = json_object();
	json_object_set_new(object, "file_path", json_name(path));
	if (hashes)
		put_file_state(session, object, absolute);
	if (details) {
		json_object_set_new(object, "size", json_size(entry->size));
		json_object_set_new(object, "modified", time_json(entry->modified_ns));
	}
	return object;
}

static json_t *glob_message(const struct walk_result *walk, size_t shown, bool stays_on_top)
{
	const char *plural = walk->more ? "or more " : "";

	if (!walk->count)
		return json_cstr(stays_on_top ? "No file matches. The pattern looks only in the "
		                                "folder itself; begin it with **/ to look in "
		                                "those beneath too."
		                              : "No file matches.");
	if (shown < walk->count) {
		_cleanup_free_ char *text = mem_printf(
			"Shown: %zu files of %zu %sthat match. For the rest: a narrower path or "
			"pattern, or a higher max_results.",
			shown, walk->count, plural);

		return json_cstr(text);
	}
	return walk->more ?
	       json_cstr("There are more files than are shown. For the rest: a narrower "
	                 "path or pattern, or a higher max_results.")
	                  : NULL;
}

static json_t *glob_result(struct session *session, const json_t *arguments, bool stays_on_top,
                           const struct walk_result *walk)
{
	const size_t max = argument_size(arguments, "max_results", RESULTS_DEFAULT);
	const size_t shown = walk->count < max ? walk->count : max;
	_cleanup_free_ char *prefix = filter_prefix(session->provider, walk->folder);
	json_t *message = glob_message(walk, shown, stays_on_top);
	json_t *result = json_object(), *files = json_array();

	for (size_t i = 0; i < shown && !session_cancelled(session); i++)
		json_array_append_new(files,
		                      glob_entry_json(session, arguments, walk->folder, prefix,
		                                             &walk->entries[i]));
	json_object_set_new(result, "path", json_name(walk->folder));
	json_object_set_new(result, "files", files);
	json_object_set_new(result, "more", json_boolean(walk->more || shown < walk->count));
	json_object_set_new(result, "ignored", json_size(walk->ignored));
	if (message)
		json_object_set_new(result, "message", message);
	filter_put_denied(result, walk->denied, walk->denied_why);
	return result;
}

/* Adds the files of another place, by the paths that other tools take. `nested`: some may be there
 * already. */
static void add_walk(struct session *session, struct walk_result *into, struct walk_result *found,
                     bool nested)
{
	_cleanup_free_ char *prefix = filter_prefix(session->provider, found->folder);
	json_auto_t *seen = json_object();
	size_t cap = 0;
	struct walk_entry *entries = NULL;

	nested |= prefix[0] != '/'; /* a root in a root */
	for (size_t i = 0; nested && i < into->count; i++) {
		json_auto_t *key = json_name(into->entries[i].path);

		json_object_set_new(seen, json_string_value(key), json_true());
	}
	entries = mem_grow(entries, &cap, into->count + found->count + 1, sizeof(*entries));
	if (into->count)
		memcpy(entries, into->entries, into->count * sizeof(*entries));
	for (size_t i = 0; i < found->count; i++) {
		struct walk_entry *entry = &found->entries[i];
		char *path = mem_printf("%s%s", prefix, entry->path);
		json_auto_t *key = json_name(path); /* no two names have the same */

		free(entry->path);
		entry->path = path;
		if (json_object_get(seen, json_string_value(key))) {
			free(path);
			continue;
		}
		entries[into->count++] = *entry;
	}
	found->count = 0;
	free(into->entries);
	into->entries = entries;
	into->ignored += found->ignored;
	into->more |= found->more;
	into->denied += found->denied;
	if (!into->denied_why)
		into->denied_why = mem_steal(&found->denied_why);
	walk_result_release(found);
}

/* Looks in one place. */
static bool glob_in_place(struct session *session, const json_t *arguments,
                          struct walk_request *request, const struct glob_places *places,
                          size_t place, bool *stays_on_top, struct walk_result *into,
                          struct err *err)
{
	__attribute__((cleanup(patterns_release))) struct patterns patterns = { 0 };
	_cleanup_free_ char *folder = absolute_folder(session->provider, places->all[place]);
	struct walk_result found = { 0 };
	bool none, first = !into->folder;

	if (!read_patterns(session->provider, arguments, folder, places, place, &patterns, &none,
	                   err))
		return false;
	*stays_on_top &= patterns.stays_on_top;
	request->path = places->all[place];
	request->include = patterns.include;
	request->include_count = patterns.include_count;
	request->exclude = patterns.exclude;
	request->exclude_count = patterns.exclude_count;
	if (none) {
		if (first)
			into->folder = mem_strdup(folder);
		return true;
	}
	if (!session->provider->ops->walk(session->provider, request, &found, err))
		return false;
	if (first)
		*into = found;
	else
		add_walk(session, into, &found, place > places->root_count);
	return true;
}

/* Searches all places.  Each place outside the workspace must be allowed.  They are requested
 * together, so the search continues after a refusal to record the others. */
static bool glob_in_all(struct session *session, const json_t *arguments,
                        struct walk_request *request, const struct glob_places *places,
                        bool *stays_on_top, struct walk_result *into, struct err *err)
{
	struct err first = ERR_INIT;

	for (size_t i = 0; i < places->count; i++) {
		struct err one = ERR_INIT;

		if (glob_in_place(session, arguments, request, places, i, stays_on_top, into, &one))
			continue;
		if (first.code == ERR_NONE)
			first = one;
		if (one.code != ERR_OUTSIDE_WORKSPACE)
			break;
	}
	if (first.code == ERR_NONE)
		return true;
	*err = first;
	return false;
}

static json_t *glob_files(struct session *session, const json_t *arguments,
                          struct walk_request *request, struct err *err)
{
	const char *order = argument_str(arguments, "order");
	const bool by_name = order && strcmp(order, "name") == 0;
	__attribute__((cleanup(glob_places_release))) struct glob_places places = { 0 };
	struct walk_result walk = { 0 };
	bool stays_on_top = true;
	json_t *result;

	glob_places_find(session->provider, arguments, &places);
	request->recursive = true;
	request->ignore_case = !argument_bool(arguments, "case_sensitive", false);
	request->max_entries = by_name ? argument_size(arguments, "max_results", RESULTS_DEFAULT)
	                               : SORTED_MAX;
	if (!glob_in_all(session, arguments, request, &places, &stays_on_top, &walk, err)) {
		walk_result_release(&walk);
		return NULL;
	}
	if (!by_name)
		put_recent_first(walk.entries, walk.count);
	result = glob_result(session, arguments, stays_on_top, &walk);
	filter_put_roots(result, session->provider, places.root_count);
	walk_result_release(&walk);
	return result;
}

static json_t *run_glob(struct session *session, const json_t *arguments)
{
	struct walk_request request = { 0 };
	struct err err = ERR_INIT;
	json_t *result;

	filter_rules(session, arguments, &request.rules);
	result = glob_files(session, arguments, &request, &err);
	free((void *)request.rules.ignore_files);
	return result ? result : filter_failure(arguments, &err);
}

static const char *const glob_undeclared[] = {
	"exclude", "case_sensitive", "order", "details", "with_hashes", "hidden",
	"respect_git_ignore", "respect_gemini_ignore", "file_filtering_options", "ignore_files",
	NULL,
};

const struct tool tool_glob = {
	.info = &tool_infos[TOOL_GLOB],
	.name = "glob",
	.title = "Find files",
	.rest = "Use a narrower pattern, or name a folder in path.",
	.parameter_aliases = glob_parameter_aliases,
	.description = glob_description,
	.arguments_schema = glob_arguments_schema,
	.undeclared = glob_undeclared,
	.result_schema = glob_result_schema,
	.run = run_glob,
};
