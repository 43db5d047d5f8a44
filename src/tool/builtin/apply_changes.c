/* SPDX-License-Identifier: Apache-2.0 */
/* apply_changes: changes to many files, all or nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/editor.h"

static const char description[] =
	"Changes many files in one step: all changes are made or none. Use it where only the "
	"whole makes sense.\n"
	"\n"
	"By kind, changes have: patch: unified_diff, at least 10 lines of context, or rebase; write: "
	"content; create: content of a file that must not exist; update: old_content, "
	"new_content; delete; move: new_path, which must be free.\n"
	"To patch, write, delete or move an existing file you MUST pass the sha256 of its "
	"latest version (highest version number in your context) as base_content_sha256. If "
	"there is none, read the file first. Later changes see earlier ones.\n"
	"\n"
	"On failure nothing was written: error.change is the first at fault; mend it as for "
	"safe_patch and send the whole list again.";

/* clang-format off */

/* The description above says it once; a model would pay for six copies. */
#define CHANGE_PATH SCHEMA("file_path": {"type": "string", "minLength": 1})
#define CHANGE_BASE SCHEMA("base_content_sha256": {"type": "string"})

#define CHANGE_SCHEMA(NAME, REQUIRED, ...) SCHEMA( \
	{"type": "object", "required": ["kind", "file_path") REQUIRED SCHEMA(], \
	 "additionalProperties": false, "properties": { "kind": {"type": "string", "const":) \
	 " \"" NAME "\"}, " CHANGE_PATH __VA_ARGS__ SCHEMA(}})

static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["changes"], "additionalProperties": false,
	"properties": {
	"changes": {"type": "array", "minItems": 1, "maxItems": 4096,
	 "description": "In the order in which they are made.", "items": {"oneOf": [ )
	CHANGE_SCHEMA("patch", "", SCHEMA(,
		"unified_diff": {"type": "string", "minLength": 1}, "rebase": {"type": "string"}, )
		CHANGE_BASE) ", "
	CHANGE_SCHEMA("write", SCHEMA(, "content"), SCHEMA(,
		"content": {"type": "string"},
		"exact_line_endings": {"type": "boolean"}, ) CHANGE_BASE) ", "
	CHANGE_SCHEMA("create", SCHEMA(, "content"), SCHEMA(,
		"content": {"type": "string"})) ", "
	CHANGE_SCHEMA("update", SCHEMA(, "old_content", "new_content"), SCHEMA(,
		"old_content": {"type": "string"}, "new_content": {"type": "string"},
		"expected_matches": {"type": "integer", "minimum": 1},
		"allow_multiple": {"type": "boolean"}, ) CHANGE_BASE) ", "
	CHANGE_SCHEMA("delete", "", ", " CHANGE_BASE) ", "
	CHANGE_SCHEMA("move", SCHEMA(, "new_path"), SCHEMA(,
		"new_path": {"type": "string", "minLength": 1}, ) CHANGE_BASE) SCHEMA(
	]}},
	"create_dirs": {"type": "boolean", "description": "Make missing folders. Default true."}, )
	ARGUMENTS_EDIT SCHEMA(
	}
} );

static const char result_schema[] = SCHEMA(
{"type": "object", "required": ["success", "message"], "additionalProperties": false,
 "properties": {
	"success": {"type": "boolean"},
	"message": {"type": "string"},
	"dry_run": {"type": "boolean"},
	"changes": {"type": "array", "items": {"type": "object",
		"required": ["kind", "success", "message", "latest_file_state"],
		"additionalProperties": false, "properties": {
		"kind": {"type": "string"},
		"moved_from": {"type": "string"}, ) RESULT_EDIT SCHEMA(}}}, )
	RESULT_ERROR SCHEMA(}} );
/* clang-format on */

static const struct tool_alias parameter_aliases[] = {
	{ "changes[].type", "kind", 0 },
	{ "changes[].path", "file_path", 0 },
	{ "changes[].absolute_path", "file_path", 0 },
	{ "changes[].diff", "unified_diff", 0 },
	{ "changes[].patch", "unified_diff", 0 },
	{ "changes[].old_string", "old_content", 0 },
	{ "changes[].new_string", "new_content", 0 },
	{ "changes[].expected_replacements", "expected_matches", 0 },
	{ "changes[].base_sha256", "base_content_sha256", 0 },
	{ "changes[].sha256", "base_content_sha256", 0 },
	{ "changes[].new_file_path", "new_path", 0 },
	{ "changes[].instruction", NULL, 0 },
	{ NULL, NULL, 0 },
};

static const struct {
	const char *name;
	enum change_kind kind;
} kinds[] = {
	{ "patch", CHANGE_PATCH },   { "write", CHANGE_WRITE },   { "create", CHANGE_CREATE },
	{ "update", CHANGE_UPDATE }, { "delete", CHANGE_DELETE }, { "move", CHANGE_MOVE },
};

/* Which argument is the change's text. */
static const char *text_name(enum change_kind kind)
{
	switch (kind) {
	case CHANGE_PATCH:
		return "unified_diff";
	case CHANGE_UPDATE:
		return "new_content";
	default:
		return "content";
	}
}

static struct change change_from(const json_t *arguments, struct sha256 *hash)
{
	struct span name = argument_span(arguments, "kind");
	struct change change = {
		.path = argument_str(arguments, "file_path"),
		.new_path = argument_str(arguments, "new_path"),
		.base = editor_base(arguments, hash),
		.old_text = argument_span(arguments, "old_content"),
		.expected_count = argument_size(arguments, "expected_matches", 1),
		.any_count = argument_bool(arguments, "allow_multiple", false),
		.exact_line_endings = argument_bool(arguments, "exact_line_endings", false),
	};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (span_eq(name, span_str(kinds[i].name)))
			change.kind = kinds[i].kind;
	change.text = argument_span(arguments, text_name(change.kind));
	return change;
}

/* Whether no other change of the call is about the same file. */
static bool is_alone(const struct change_result *results, size_t count, size_t i)
{
	for (size_t j = 0; j < count; j++)
		if (j != i && results[i].state.path && results[j].state.path &&
		    strcmp(results[i].state.path, results[j].state.path) == 0)
			return false;
	return true;
}

static json_t *change_json(const struct editor *editor, const json_t *arguments,
                           const struct change *change, const struct change_result *result)
{
	json_t *object = editor_result(editor, change, result);

	json_object_set(object, "kind", json_object_get(arguments, "kind"));
	if (change->kind == CHANGE_MOVE && result->done)
		json_object_set_new(object, "moved_from",
		                    json_name(result->before.path ? result->before.path :
		                                                    change->path));
	return object;
}

/* The first change that failed on its own account; `count` if none. */
static size_t first_fault(const struct change_result *results, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (results[i].err.code != ERR_NONE && results[i].err.code != ERR_ROLLED_BACK)
			return i;
	return count;
}

static json_t *failed(const struct err *err, const struct change_result *results, size_t count)
{
	size_t fault = first_fault(results, count);
	json_t *object = tool_failure(err);
	_cleanup_free_ char *message = NULL;

	if (fault == count)
		return object;
	message = mem_printf("Nothing was changed. Change %zu of %zu failed: %s", fault + 1, count,
	                     results[fault].err.message);
	json_object_set_new(object, "message", json_cstr(message));
	json_object_set_new(json_object_get(object, "error"), "change", json_size(fault + 1));
	return object;
}

static json_t *succeeded(const struct editor *editor, size_t count)
{
	json_t *object = json_object();
	_cleanup_free_ char *message =
		mem_printf(editor->options.dry_run ?
		                   "All %zu changes can be made. This was a dry run: nothing was "
		                   "written." :
		                   "All %zu changes were made.", count);

	json_object_set_new(object, "success", json_true());
	json_object_set_new(object, "message", json_cstr(message));
	if (editor->options.dry_run)
		json_object_set_new(object, "dry_run", json_true());
	return object;
}

/* Runs the changes, and once more with the bases that writes do not name but the session has
 * seen. */
static bool apply(const struct editor *editor, struct change *changes, struct sha256 *hashes,
                  size_t count, struct change_result *results, struct err *err)
{
	struct provider *provider = editor->session->provider;
	_cleanup_free_ bool *taken = mem_alloc(count, sizeof(*taken));
	bool again = false, ok;

	if (provider->ops->edit(provider, changes, count, &editor->options, results, err))
		return true;
	for (size_t i = 0; i < count; i++)
		again |= taken[i] = editor_take_seen(editor, &changes[i], &results[i], &hashes[i]);
	if (!again)
		return false;
	for (size_t i = 0; i < count; i++) {
		change_result_release(&results[i]);
		results[i] = (struct change_result){ 0 };
	}
	*err = (struct err)ERR_INIT;
	ok = provider->ops->edit(provider, changes, count, &editor->options, results, err);
	for (size_t i = 0; i < count; i++)
		if (taken[i])
			editor_note_seen(&results[i]);
	return ok;
}

static json_t *run(struct session *session, const json_t *arguments)
{
	const json_t *items = json_object_get(arguments, "changes");
	size_t count = json_array_size(items);
	_cleanup_free_ struct change *changes = mem_alloc(count, sizeof(*changes));
	_cleanup_free_ struct sha256 *hashes = mem_alloc(count, sizeof(*hashes));
	_cleanup_free_ struct change_result *results = mem_alloc(count, sizeof(*results));
	struct editor editor;
	struct err err = ERR_INIT;
	json_t *object, *list = json_array();

	editor_init(&editor, session, arguments);
	for (size_t i = 0; i < count; i++)
		changes[i] = change_from(json_array_get(items, i), &hashes[i]);
	if (apply(&editor, changes, hashes, count, results, &err))
		object = succeeded(&editor, count);
	else
		object = failed(&err, results, count);
	for (size_t i = 0; i < count; i++) {
		editor.alone = is_alone(results, count, i);
		json_array_append_new(list, change_json(&editor, json_array_get(items, i),
		                                        &changes[i], &results[i]));
	}
	for (size_t i = 0; i < count; i++)
		change_result_release(&results[i]);
	json_object_set_new(object, "changes", list);
	return object;
}

static const char *const undeclared[] = { "create_dirs", "return_content", "dry_run", NULL };

const struct tool tool_apply_changes = {
	.name = "apply_changes",
	.title = "Apply changes",
	.kind = TOOL_KIND_EDIT,
	.parameter_aliases = parameter_aliases,
	.description = description,
	.arguments_schema = arguments_schema,
	.undeclared = undeclared,
	.result_schema = result_schema,
	.run = run,
	.plans = true,
};
