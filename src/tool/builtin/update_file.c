/* SPDX-License-Identifier: Apache-2.0 */
/* update_file: exact text for exact text, counted. */
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/editor.h"

static const char description[] =
	"Replaces exact text in one file: old_content, which occurs expected_matches times "
	"(once by default), becomes new_content. For more or larger changes use safe_patch.\n"
	"\n"
	"Copy old_content from the latest version in your context (highest version number), "
	"with enough lines around it to occur only there; base_content_sha256 locks that "
	"version. An empty old_content creates a file.\n"
	"\n"
	"Every answer has latest_file_state: after state_mismatch begin again from it. "
	"wrong_match_count: error.match_lines are its places. denied_*: do not retry.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
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
		ARGUMENT_BASE ", " ARGUMENTS_EDIT SCHEMA(
	}
} );
/* clang-format on */

static const char *const aliases[] = { "replace", "edit", NULL };

static const struct tool_alias parameter_aliases[] = {
	{ "absolute_path", "file_path", 0 },
	{ "path", "file_path", 0 },
	{ "old_string", "old_content", 0 },
	{ "new_string", "new_content", 0 },
	{ "expected_replacements", "expected_matches", 0 },
	{ "base_sha256", "base_content_sha256", 0 },
	{ "sha256", "base_content_sha256", 0 },
	{ "instruction", NULL, 0 },
	{ "modified_by_user", NULL, 0 },
	{ "ai_proposed_content", NULL, 0 },
	{ NULL, NULL, 0 },
};

static struct change update_change(const json_t *arguments, struct sha256 *hash)
{
	return (struct change){
		.kind = CHANGE_UPDATE,
		.path = argument_str(arguments, "file_path"),
		.base = editor_base(arguments, hash),
		.old_text = argument_span(arguments, "old_content"),
		.text = argument_span(arguments, "new_content"),
		.expected_count = argument_size(arguments, "expected_matches", 1),
		.any_count = argument_bool(arguments, "allow_multiple", false),
	};
}

static json_t *run(struct session *session, const json_t *arguments)
{
	return editor_call(session, arguments, update_change);
}

static void *update_begin(struct session *session, const json_t *arguments)
{
	return editor_begin(session, arguments, update_change);
}

static const char *const undeclared[] = { "allow_multiple", "return_content", "dry_run", NULL };

const struct tool tool_update_file = {
	.name = "update_file",
	.title = "Update file",
	.kind = TOOL_KIND_EDIT,
	.aliases = aliases,
	.parameter_aliases = parameter_aliases,
	.description = description,
	.arguments_schema = arguments_schema,
	.undeclared = undeclared,
	.result_schema = RESULT_SCHEMA_EDITOR,
	.run = run,
	.begin = update_begin,
	.end = editor_end,
	.plans = true,
	.explain = editor_explain,
};
