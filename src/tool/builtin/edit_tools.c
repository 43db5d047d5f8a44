/* SPDX-License-Identifier: Apache-2.0 */
/* The tools that edit: safe_patch, update_file, write_file, apply_changes. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/private.h"
#include "tool/spelling.h"

/* ---- safe_patch -------------------------------------------------------------- */

/* safe_patch: a unified diff, applied to the state that a hash names. */

static const char safe_patch_description[] =
	"Changes one file, in as many places as needed, by a unified diff: the preferred tool "
	"for changes.\n\n"
	"1. Work from the latest version in your context, that with the highest version number. "
	"If there is none, you MUST call read_file or read_many_files first.\n"
	"2. You MUST pass its sha256 as base_content_sha256, a lock: if the file has changed "
	"since, nothing is written.\n"
	"3. You MUST give at least 10 unchanged lines of context before and after each change, "
	"copied exactly. Line numbers may be wrong.\n"
	"4. To create a file, diff against /dev/null and leave base_content_sha256 out.\n\n"
	"All hunks apply or none does. Every answer has latest_file_state: make the next edit "
	"from it, also after state_mismatch. denied_*: do not retry.";

/* clang-format off */
static const char safe_patch_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["file_path"], "additionalProperties": false,
	"properties": { ) ARGUMENT_FILE_PATH SCHEMA(,
		"unified_diff": {"type": "string", "minLength": 1, "description":
			"The diff, of one or more hunks. Required without rebase."},
		"rebase": {"type": "string", "description":
			"Instead of a diff: rebased.id of an answer."}, )
		ARGUMENT_LITERAL ", " ARGUMENT_BASE ", " ARGUMENTS_EDIT SCHEMA(
	}
} );
/* clang-format on */

/* Names that models know from other tools, and what Gemini CLI adds to a call of its editors. */
#define ALIASES_BASE \
	{ "base_sha256", "base_content_sha256", 0 }, { "sha256", "base_content_sha256", 0 }
#define ALIASES_PROPOSED \
	{ "instruction", NULL, 0 }, { "modified_by_user", NULL, 0 }, \
	{ "ai_proposed_content", NULL, 0 }

static const struct tool_alias safe_patch_parameter_aliases[] = {
	ALIASES_FILE_PATH,
	{ "diff", "unified_diff", 0 },
	{ "patch", "unified_diff", 0 },
	ALIASES_BASE,
	{ "instruction", NULL, 0 },
	{ NULL, NULL, 0 },
};

static json_t *run_safe_patch(struct session *session, const json_t *arguments)
{
	return editor_call(session, arguments, CHANGE_PATCH);
}

static void *patch_begin(struct session *session, const json_t *arguments)
{
	return editor_begin(session, arguments, CHANGE_PATCH);
}

static const char *const safe_patch_undeclared[] = { "literal", "return_content", "dry_run",
	                                           NULL };

const struct tool tool_safe_patch = {
	.info = &tool_infos[TOOL_SAFE_PATCH],
	.name = "safe_patch",
	.title = "Safe patch",
	.rest = "read_file shows the file as it is.",
	.parameter_aliases = safe_patch_parameter_aliases,
	.description = safe_patch_description,
	.arguments_schema = safe_patch_arguments_schema,
	.undeclared = safe_patch_undeclared,
	.result_schema = RESULT_SCHEMA_EDITOR,
	.run = run_safe_patch,
	.begin = patch_begin,
	.end = editor_end,
	.plans = true,
	.explain = editor_explain,
};

/* ---- update_file ------------------------------------------------------------- */

/* update_file: exact text for exact text, counted. */

static const char update_file_description[] =
	"Replaces exact text in one file: old_content, which occurs expected_matches times (once "
	"by default), becomes new_content. For more or larger changes use safe_patch.\n\n"
	"Copy old_content from the latest version in your context (highest version number), with "
	"enough lines to be unique; base_content_sha256 locks that version. An empty old_content "
	"creates a file.\n\n"
	"Every answer has latest_file_state: after state_mismatch start again from it. denied_*: "
	"do not retry.";

/* clang-format off */
static const char update_file_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["file_path", "old_content", "new_content"],
	"additionalProperties": false,
	"properties": { ) ARGUMENT_FILE_PATH SCHEMA(,
		"old_content": {"type": "string", "description": "The exact text to replace."},
		"new_content": {"type": "string", "description": "The text that takes its place."},
		"expected_matches": {"type": "integer", "minimum": 1, "description":
			"How often old_content occurs. Default 1."},
		"allow_multiple": {"type": "boolean", "description":
			"Replace every occurrence. Default false."}, )
		ARGUMENT_LITERAL ", " ARGUMENT_BASE ", " ARGUMENTS_EDIT SCHEMA(
	}
} );
/* clang-format on */

static const struct tool_alias update_file_parameter_aliases[] = {
	ALIASES_FILE_PATH,
	{ "old_string", "old_content", 0 },
	{ "new_string", "new_content", 0 },
	{ "old_str", "old_content", 0 },
	{ "new_str", "new_content", 0 },
	{ "old_text", "old_content", 0 },
	{ "new_text", "new_content", 0 },
	{ "expected_replacements", "expected_matches", 0 },
	{ "replace_all", "allow_multiple", 0 },
	ALIASES_BASE,
	ALIASES_PROPOSED,
	{ NULL, NULL, 0 },
};

static json_t *run_update_file(struct session *session, const json_t *arguments)
{
	return editor_call(session, arguments, CHANGE_UPDATE);
}

static void *update_begin(struct session *session, const json_t *arguments)
{
	return editor_begin(session, arguments, CHANGE_UPDATE);
}

static const char *const update_file_undeclared[] =
	{ "allow_multiple", "literal", "return_content", "dry_run", NULL };

const struct tool tool_update_file = {
	.info = &tool_infos[TOOL_UPDATE_FILE],
	.name = "update_file",
	.title = "Update file",
	.rest = "read_file shows the file as it is.",
	.parameter_aliases = update_file_parameter_aliases,
	.description = update_file_description,
	.arguments_schema = update_file_arguments_schema,
	.undeclared = update_file_undeclared,
	.result_schema = RESULT_SCHEMA_EDITOR,
	.run = run_update_file,
	.begin = update_begin,
	.end = editor_end,
	.plans = true,
	.explain = editor_explain,
};

/* ---- write_file -------------------------------------------------------------- */

/* write_file: the whole content of a file, new or known by its hash. */

static const char write_file_description[] =
	"Writes the whole content of a file, new or existing. To change parts of one, use "
	"safe_patch.\n\n"
	"To create a file, leave base_content_sha256 out: the call fails if the file exists. To "
	"overwrite one you MUST have its latest content (highest version number) and MUST pass "
	"the sha256 of that as base_content_sha256. Never shorten content with a placeholder.\n\n"
	"Every answer has latest_file_state: after state_mismatch decide again from it. "
	"denied_*: do not retry.";

/* clang-format off */
static const char write_file_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["file_path", "content"], "additionalProperties": false,
	"properties": { ) ARGUMENT_FILE_PATH SCHEMA(,
		"content": {"type": "string", "description": "The complete new content."}, )
		ARGUMENT_LITERAL ", " ARGUMENT_BASE SCHEMA(,
		"create_dirs": {"type": "boolean", "description":
			"Make missing folders. Default true."},
		"encoding": {"type": "string", "description":
			"To write in, such as windows-1252 or UTF-16. Default: an existing file's \
own, UTF-8 for a new one."},
		"exact_line_endings": {"type": "boolean", "description":
			"Write LF as it is even if the existing file has CRLF. Default false."}, )
		ARGUMENTS_EDIT SCHEMA(
	}
} );
/* clang-format on */

static const struct tool_alias write_file_parameter_aliases[] = {
	ALIASES_FILE_PATH,
	{ "contents", "content", 0 },
	{ "file_text", "content", 0 },
	ALIASES_BASE,
	ALIASES_PROPOSED,
	{ NULL, NULL, 0 },
};

static json_t *run_write_file(struct session *session, const json_t *arguments)
{
	return editor_call(session, arguments, CHANGE_WRITE);
}

static void *write_begin(struct session *session, const json_t *arguments)
{
	return editor_begin(session, arguments, CHANGE_WRITE);
}

static const char *const write_file_undeclared[] = {
	"create_dirs", "encoding", "exact_line_endings", "literal", "return_content", "dry_run",
	NULL,
};

const struct tool tool_write_file = {
	.info = &tool_infos[TOOL_WRITE_FILE],
	.name = "write_file",
	.title = "Write file",
	.rest = "read_file shows the file as it is.",
	.parameter_aliases = write_file_parameter_aliases,
	.description = write_file_description,
	.arguments_schema = write_file_arguments_schema,
	.undeclared = write_file_undeclared,
	.result_schema = RESULT_SCHEMA_EDITOR,
	.run = run_write_file,
	.begin = write_begin,
	.end = editor_end,
	.plans = true,
	.explain = editor_explain,
};

/* ---- apply_changes ----------------------------------------------------------- */

/* apply_changes: changes to many files, all or nothing. */

static const char apply_changes_description[] =
	"Changes many files in one step, all or none, for changes that only make sense "
	"together.\n\n"
	"By kind, changes have: patch: unified_diff, at least 10 lines of context, or rebase; "
	"write: content; create: content of a file that must not exist; update: old_content, "
	"new_content; delete; move: new_path, which must be free.\n"
	"To patch, write, delete or move an existing file you MUST pass the sha256 of its latest "
	"version (highest version number) as base_content_sha256. If there is none, read the "
	"file first. Later changes see earlier ones.\n\n"
	"On failure nothing was written: send the whole list again.";

/* clang-format off */

/* The description above says it once; a model would pay for six copies. */
#define CHANGE_PATH SCHEMA("file_path": {"type": "string", "minLength": 1})
#define CHANGE_BASE SCHEMA("base_content_sha256": {"type": "string"})
#define CHANGE_LITERAL SCHEMA("literal": {"type": "boolean"})

#define CHANGE_SCHEMA(NAME, REQUIRED, ...) SCHEMA( \
	{"type": "object", "required": ["kind", "file_path") REQUIRED SCHEMA(], \
	 "additionalProperties": false, "properties": { "kind": {"type": "string", "const":) \
	 " \"" NAME "\"}, " CHANGE_PATH __VA_ARGS__ SCHEMA(}})

static const char apply_changes_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["changes"], "additionalProperties": false,
	"properties": {
	"changes": {"type": "array", "minItems": 1, "maxItems": 4096,
	 "description": "In the order in which they are made.", "items": {"oneOf": [ )
	CHANGE_SCHEMA("patch", "", SCHEMA(,
		"unified_diff": {"type": "string", "minLength": 1}, "rebase": {"type": "string"}, )
		CHANGE_LITERAL ", " CHANGE_BASE) ", "
	CHANGE_SCHEMA("write", SCHEMA(, "content"), SCHEMA(,
		"content": {"type": "string"},
		"exact_line_endings": {"type": "boolean"}, )
		CHANGE_LITERAL ", " CHANGE_BASE) ", "
	CHANGE_SCHEMA("create", SCHEMA(, "content"), SCHEMA(,
		"content": {"type": "string"}, ) CHANGE_LITERAL) ", "
	CHANGE_SCHEMA("update", SCHEMA(, "old_content", "new_content"), SCHEMA(,
		"old_content": {"type": "string"}, "new_content": {"type": "string"},
		"expected_matches": {"type": "integer", "minimum": 1},
		"allow_multiple": {"type": "boolean"}, )
		CHANGE_LITERAL ", " CHANGE_BASE) ", "
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
		"required": ["latest_file_state"],
		"additionalProperties": false, "properties": {
		"kind": {"type": "string"},
		"moved_from": {"type": "string"}, ) RESULT_EDIT SCHEMA(}}}, )
	RESULT_ERROR SCHEMA(}} );
/* clang-format on */

static const struct tool_alias apply_changes_parameter_aliases[] = {
	{ "changes[].type", "kind", 0 },
	{ "changes[].path", "file_path", 0 },
	{ "changes[].absolute_path", "file_path", 0 },
	{ "changes[].diff", "unified_diff", 0 },
	{ "changes[].patch", "unified_diff", 0 },
	{ "changes[].old_string", "old_content", 0 },
	{ "changes[].new_string", "new_content", 0 },
	{ "changes[].expected_replacements", "expected_matches", 0 },
	{ "changes[].replace_all", "allow_multiple", 0 },
	{ "changes[].base_sha256", "base_content_sha256", 0 },
	{ "changes[].sha256", "base_content_sha256", 0 },
	{ "changes[].new_file_path", "new_path", 0 },
	{ "changes[].instruction", NULL, 0 },
	{ NULL, NULL, 0 },
};

static json_t *change_json(const struct editor_call *editor, const json_t *arguments,
                           const struct change *change, const struct change_result *result)
{
	json_t *object = editor_answer(editor, change, result);

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

static json_t *changes_failed(const struct err *err, const struct change_result *results,
                              size_t count)
{
	size_t fault = first_fault(results, count), others = 0;
	json_t *object = tool_failure(err);
	_cleanup_buf_ struct buf message = BUF_INIT(ERR_MESSAGE_MAX * 2);

	if (fault == count)
		return object;
	buf_printf(&message, "Nothing was changed. Change %zu of %zu failed: %s", fault + 1, count,
	           results[fault].err.message);
	for (size_t i = fault + 1; i < count; i++)
		others += results[i].err.code != ERR_NONE && results[i].err.code != ERR_ROLLED_BACK;
	if (others)
		buf_printf(&message, " %zu more fail%s: see their errors in changes.", others,
		           others == 1 ? "s" : "");
	json_object_set_new(object, "message", json_text(buf_view(&message)));
	json_object_set_new(json_object_get(object, "error"), "change", json_size(fault + 1));
	return object;
}

/* The advice of the whole, where a change has an offer: the same as that of the change. */
static void advise_offers(json_t *object, const json_t *list)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
		if (json_object_get(one, "rebased"))
			break;
	if (i < json_array_size(list))
		json_object_set_new(json_object_get(object, "error"), "advice", json_cstr(
			"Send the list again: in each change whose answer has rebased, kind patch "
			"with rebase (its id) in place of the edit, and the sha256 of its "
			"latest_file_state."));
}

static size_t count_already(const struct change_result *results, size_t count)
{
	size_t already = 0;

	for (size_t i = 0; i < count; i++)
		already += results[i].already;
	return already;
}

static json_t *changes_succeeded(const struct editor_call *editor,
                                 const struct change_result *results, size_t count)
{
	json_t *object = json_object();
	size_t already = count_already(results, count);
	_cleanup_free_ char *message =
		mem_printf(already == count ? "No change was needed: all %zu changes were made "
		                              "already. Nothing was written." :
		           editor->options.dry_run ?
		                   "All %zu changes can be made. This was a dry run: nothing was "
		                   "written." :
		           already ?
		                   "All %zu changes were made; %zu of them had been made already." :
		           count == 1 ? "The change was made." :
		                   "All %zu changes were made.", count, already);

	json_object_set_new(object, "success", json_true());
	json_object_set_new(object, "message", json_cstr(message));
	if (editor->options.dry_run)
		json_object_set_new(object, "dry_run", json_true());
	return object;
}

static bool names_seen_base(const json_t *changes, size_t i)
{
	return span_eq(argument_span(json_array_get(changes, i), "base_content_sha256"),
	               SPAN(BASE_SEEN));
}

static json_t *run_apply_changes(struct session *session, const json_t *arguments)
{
	const json_t *items = json_object_get(arguments, "changes");
	size_t count = json_array_size(items);
	_cleanup_free_ struct change *changes = mem_alloc(count, sizeof(*changes));
	_cleanup_free_ struct change_hashes *hashes = mem_alloc(count, sizeof(*hashes));
	_cleanup_free_ struct change_result *results = mem_alloc(count, sizeof(*results));
	struct editor_call editor;
	struct err err = ERR_INIT;
	json_t *object, *list = json_array();

	editor_init(&editor, session, arguments);
	for (size_t i = 0; i < count; i++)
		changes[i] = editor_change(session, json_array_get(items, i),
		                           editor_kind(json_array_get(items, i)), &hashes[i]);
	if (editor_apply(&editor, changes, hashes, count, results, &err))
		object = changes_succeeded(&editor, results, count);
	else
		object = changes_failed(&err, results, count);
	editor.results = results;
	editor.result_count = count;
	for (size_t i = 0; i < count; i++) {
		editor.alone = editor_is_only_change(results, count, i);
		editor.offers = !names_seen_base(items, i);
		json_array_append_new(list, change_json(&editor, json_array_get(items, i),
		                                        &changes[i], &results[i]));
	}
	for (size_t i = 0; i < count; i++)
		change_result_release(&results[i]);
	advise_offers(object, list);
	json_object_set_new(object, "changes", list);
	return object;
}

static const char *const apply_changes_undeclared[] = {
	"changes[].literal", "changes[].exact_line_endings", "changes[].expected_matches",
	"changes[].allow_multiple", "create_dirs", "return_content", "dry_run", NULL,
};

const struct tool tool_apply_changes = {
	.info = &tool_infos[TOOL_APPLY_CHANGES],
	.name = "apply_changes",
	.title = "Apply changes",
	.rest = "read_file shows each file as it is.",
	.parameter_aliases = apply_changes_parameter_aliases,
	.description = apply_changes_description,
	.arguments_schema = apply_changes_arguments_schema,
	.undeclared = apply_changes_undeclared,
	.result_schema = result_schema,
	.run = run_apply_changes,
	.plans = true,
};
