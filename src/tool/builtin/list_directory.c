/* SPDX-License-Identifier: Apache-2.0 */
/* list_directory: what one folder holds. */
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/filter.h"

static const char description[] =
	"Lists what is directly in a folder: folders first, then by name, with the size of "
	"files. What .gitignore and .geminiignore leave out is only counted.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "additionalProperties": false,
	"properties": {
		"path": {"type": "string", "minLength": 1, "description":
			"The folder. Default: the workspace folders."},
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

static const char result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["path", "entries", "ignored"],
	 "additionalProperties": false, "properties": {
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

static const struct tool_alias parameter_aliases[] = {
	{ "dir_path", "path", 0 },
	{ "directory", "path", 0 },
	{ NULL, NULL, 0 },
};

static json_t *entry_json(const struct walk_entry *entry)
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

static json_t *listing(const struct walk_result *walk)
{
	json_t *result = json_object();
	json_t *entries = json_array();

	for (size_t i = 0; i < walk->count; i++)
		json_array_append_new(entries, entry_json(&walk->entries[i]));
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

static json_t *list(struct session *session, const struct walk_request *request)
{
	struct walk_result walk = { 0 };
	struct err err = ERR_INIT;
	json_t *result;

	if (!session->provider->ops->walk(session->provider, request, &walk, &err)) {
		result = tool_failure(&err);
		json_object_set_new(result, "path", json_name(request->path));
		return result;
	}
	result = listing(&walk);
	walk_result_release(&walk);
	return result;
}

static json_t *run(struct session *session, const json_t *arguments)
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
	result = list(session, &request);
	if (count > 1 && !tool_result_failed(result)) {
		others = json_array();
		for (size_t i = 1; i < count; i++) {
			request.path = roots[i];
			json_array_append_new(others, list(session, &request));
		}
		json_object_set_new(result, "others", others);
	}
	free((void *)request.rules.ignore_files);
	return result;
}

static const char *const undeclared[] = { "file_filtering_options", NULL };

const struct tool tool_list_directory = {
	.name = "list_directory",
	.title = "List folder",
	.kind = TOOL_KIND_SEARCH,
	.parameter_aliases = parameter_aliases,
	.description = description,
	.arguments_schema = arguments_schema,
	.undeclared = undeclared,
	.result_schema = result_schema,
	.run = run,
};
