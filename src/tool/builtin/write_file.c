/* SPDX-License-Identifier: Apache-2.0 */
/* write_file: the whole content of a file, new or known by its hash. */
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/editor.h"

static const char description[] =
	"Writes the whole content of a file, new or existing. To change parts of one, use "
	"safe_patch.\n"
	"\n"
	"To create a file, leave base_content_sha256 out. To overwrite a file you MUST have "
	"its latest content (highest version number, from read_file or an edit) and you MUST "
	"pass the sha256 of that version as base_content_sha256: a lock that keeps what others "
	"wrote since. Without it, the call fails if the file exists. Never shorten content "
	"with a placeholder.\n"
	"\n"
	"Every answer has latest_file_state: after state_mismatch decide again from it. "
	"denied_*: do not retry.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["file_path", "content"], "additionalProperties": false,
	"properties": { ) ARGUMENT_FILE_PATH SCHEMA(,
		"content": {"type": "string", "description": "The complete new content."}, )
		ARGUMENT_BASE SCHEMA(,
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

static struct change write_change(const json_t *arguments, struct sha256 *hash)
{
	return (struct change){
		.kind = CHANGE_WRITE,
		.path = argument_str(arguments, "file_path"),
		.base = editor_base(arguments, hash),
		.text = argument_span(arguments, "content"),
		.exact_line_endings = argument_bool(arguments, "exact_line_endings", false),
		.encoding = argument_str(arguments, "encoding"),
	};
}

static json_t *run(struct session *session, const json_t *arguments)
{
	return editor_call(session, arguments, write_change);
}

static void *write_begin(struct session *session, const json_t *arguments)
{
	return editor_begin(session, arguments, write_change);
}

static const char *const undeclared[] = {
	"create_dirs", "encoding", "exact_line_endings", "return_content", "dry_run", NULL,
};

const struct tool tool_write_file = {
	.name = "write_file",
	.title = "Write file",
	.kind = TOOL_KIND_EDIT,
	.parameter_aliases = parameter_aliases,
	.description = description,
	.arguments_schema = arguments_schema,
	.undeclared = undeclared,
	.result_schema = RESULT_SCHEMA_EDITOR,
	.run = run,
	.begin = write_begin,
	.end = editor_end,
	.plans = true,
	.explain = editor_explain,
};
