/* SPDX-License-Identifier: Apache-2.0 */
/* write_file: the whole content of a file, new or known by its hash. */
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/editor.h"

static const char description[] =
	"Writes the whole content of a file: creates a new file, or replaces an existing one "
	"completely. To change parts of a file, use safe_patch.\n"
	"\n"
	"Protocol:\n"
	"1. To create a file, pass file_path and content and leave base_content_sha256 out. "
	"Missing folders are made.\n"
	"2. To replace an existing file, you MUST have its latest content in your context (from "
	"read_file or an earlier edit; the highest version counts) and you MUST pass the sha256 "
	"of that version as base_content_sha256. This keeps you from overwriting what somebody "
	"else has changed since.\n"
	"3. For an existing file without base_content_sha256 the call fails, and nothing is "
	"written.\n"
	"\n"
	"content is the complete text; never shorten it with a placeholder such as \"rest of "
	"code\". An existing file keeps its encoding and line endings; a new one is UTF-8. The "
	"answer always has latest_file_state with content, version and sha256 for the next "
	"edit.\n"
	"\n"
	"On failure nothing was written. By error.code:\n"
	"- base_required: the file exists; look at latest_file_state, and if you still mean to "
	"replace it, pass its sha256.\n"
	"- state_mismatch: the file has changed; decide again from latest_file_state and pass its "
	"sha256.\n"
	"- not_a_file, not_a_directory, file_not_found: correct the path (create_dirs makes "
	"folders).\n"
	"- invalid_argument: the message names the argument, or the character that the file's "
	"encoding lacks.\n"
	"- busy: retry later. outside_workspace, permission_denied, denied_by_policy, "
	"denied_by_user, denied_by_sandbox: do not retry. disk_full, io_error, cannot_preserve, "
	"internal: tell the user.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["file_path", "content"], "additionalProperties": false,
	"properties": { ) ARGUMENT_FILE_PATH SCHEMA(,
		"content": {"type": "string", "description": "The complete new content."}, )
		ARGUMENT_BASE SCHEMA(,
		"create_dirs": {"type": "boolean", "description":
			"Make missing folders. Default true."},
		"encoding": {"type": "string", "enum": ["utf-8", "UTF-8", "utf8", "UTF8"],
			"description": "Of a new file; an existing one keeps its own."},
		"exact_line_endings": {"type": "boolean", "description":
			"Write LF as it is even if the existing file has CRLF. Default false."}, )
		ARGUMENTS_EDIT SCHEMA(
	}
} );
/* clang-format on */

static const struct tool_alias parameter_aliases[] = {
	{ "absolute_path", "file_path", 0 },
	{ "path", "file_path", 0 },
	{ "base_sha256", "base_content_sha256", 0 },
	{ "sha256", "base_content_sha256", 0 },
	{ "instruction", NULL, 0 },
	{ "modified_by_user", NULL, 0 },
	{ "ai_proposed_content", NULL, 0 },
	{ NULL, NULL, 0 },
};

static json_t *run(struct session *session, const json_t *arguments)
{
	struct editor editor;
	struct sha256 hash;
	struct change change = {
		.kind = CHANGE_WRITE,
		.path = argument_str(arguments, "file_path"),
		.base = editor_base(arguments, &hash),
		.text = argument_span(arguments, "content"),
		.exact_line_endings = argument_bool(arguments, "exact_line_endings", false),
	};

	editor_init(&editor, session, arguments);
	return editor_run(&editor, &change);
}

const struct tool tool_write_file = {
	.name = "write_file",
	.title = "Write file",
	.kind = TOOL_KIND_EDIT,
	.parameter_aliases = parameter_aliases,
	.description = description,
	.arguments_schema = arguments_schema,
	.result_schema = RESULT_SCHEMA_EDITOR,
	.run = run,
	.explain = editor_explain,
};
