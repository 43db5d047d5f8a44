/* SPDX-License-Identifier: Apache-2.0 */
/* safe_patch: a unified diff, applied to the state that a hash names. */
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/editor.h"

static const char description[] =
	"Changes one file, in as many places as needed, by a unified diff. This is the "
	"preferred tool for all changes to files.\n"
	"\n"
	"1. Work from the latest version in your context: the one with the highest version "
	"number, be it from a read or an edit.\n"
	"2. If there is none, you MUST call read_file or read_many_files first.\n"
	"3. You MUST pass the sha256 of that version as base_content_sha256. It is a lock: if "
	"the file has changed since, nothing is written.\n"
	"4. You MUST give at least 10 unchanged lines of context before and after each change "
	"(as diff -U 10), copied exactly. Line numbers may be wrong.\n"
	"5. To create a file, diff against /dev/null and leave base_content_sha256 out.\n"
	"\n"
	"All hunks apply or none does. Every answer has latest_file_state (content, version, "
	"sha256): make the next edit from it without reading again, also after state_mismatch; if "
	"that answer has rebased, call again with rebase (its id) and the new sha256 instead of a "
	"diff, if the edit is still right. "
	"no_match: error.expected and error.found differ in error.hunk; copy exactly. "
	"ambiguous_diff: add context until the hunk fits one of error.candidates. "
	"outside_workspace, permission_denied, denied_*: do not retry.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["file_path"], "additionalProperties": false,
	"properties": { ) ARGUMENT_FILE_PATH SCHEMA(,
		"unified_diff": {"type": "string", "minLength": 1, "description":
			"At least 10 lines of context a hunk. Required without rebase."},
		"rebase": {"type": "string", "description":
			"Instead of a diff: rebased.id of an answer."}, )
		ARGUMENT_BASE ", " ARGUMENTS_EDIT SCHEMA(
	}
} );
/* clang-format on */

static const struct tool_alias parameter_aliases[] = {
	{ "absolute_path", "file_path", 0 },
	{ "path", "file_path", 0 },
	{ "diff", "unified_diff", 0 },
	{ "patch", "unified_diff", 0 },
	{ "base_sha256", "base_content_sha256", 0 },
	{ "sha256", "base_content_sha256", 0 },
	{ "instruction", NULL, 0 },
	{ NULL, NULL, 0 },
};

static struct change patch_change(const json_t *arguments, struct sha256 *hash)
{
	return (struct change){
		.kind = CHANGE_PATCH,
		.path = argument_str(arguments, "file_path"),
		.base = editor_base(arguments, hash),
		.text = argument_span(arguments, "unified_diff"),
	};
}

static json_t *run(struct session *session, const json_t *arguments)
{
	return editor_call(session, arguments, patch_change);
}

static void *patch_begin(struct session *session, const json_t *arguments)
{
	return editor_begin(session, arguments, patch_change);
}

static const char *const undeclared[] = { "dry_run", NULL };

const struct tool tool_safe_patch = {
	.name = "safe_patch",
	.title = "Safe patch",
	.kind = TOOL_KIND_EDIT,
	.parameter_aliases = parameter_aliases,
	.description = description,
	.arguments_schema = arguments_schema,
	.undeclared = undeclared,
	.result_schema = RESULT_SCHEMA_EDITOR,
	.run = run,
	.begin = patch_begin,
	.end = editor_end,
	.plans = true,
	.explain = editor_explain,
};
