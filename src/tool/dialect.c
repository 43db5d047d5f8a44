/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: apply_patch and its grammar: Codex (core/src/tools/handlers/tool_apply_patch.lark);
 * Edit, MultiEdit, Write: Claude Code's tools reference; replace: Gemini CLI's edit tool. */
#include "tool/dialect.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tool/tool.h"

/* ---- families ---------------------------------------------------------------- */

/* A word that a model's name has at its beginning or after what is no letter; the first that fits
 * counts. Families that were trained to run in another product's agent have that one's tools. */
static const struct {
	const char *word;
	enum dialect dialect;
} families[] = {
	{ "claude", DIALECT_ANTHROPIC },
	{ "gemini", DIALECT_GEMINI },
	{ "gemma", DIALECT_GEMINI },
	{ "gpt", DIALECT_OPENAI },
	{ "chatgpt", DIALECT_OPENAI },
	{ "codex", DIALECT_OPENAI },
	{ "o1", DIALECT_OPENAI },
	{ "o3", DIALECT_OPENAI },
	{ "o4", DIALECT_OPENAI },
	{ "qwen", DIALECT_ANTHROPIC },
	{ "qwq", DIALECT_ANTHROPIC },
	{ "deepseek", DIALECT_ANTHROPIC },
	{ "kimi", DIALECT_ANTHROPIC },
	{ "moonshot", DIALECT_ANTHROPIC },
	{ "glm", DIALECT_ANTHROPIC },
	{ "minimax", DIALECT_ANTHROPIC },
};

static const char *const names[DIALECT_COUNT] = {
	[DIALECT_HASP] = "hasp",
	[DIALECT_GEMINI] = "gemini",
	[DIALECT_OPENAI] = "openai",
	[DIALECT_ANTHROPIC] = "anthropic",
};

static bool name_has(const char *name, const char *word)
{
	for (const char *at = name; (at = strcasestr(at, word)); at++)
		if (at == name || !ascii_is_alnum(at[-1]))
			return true;
	return false;
}

enum dialect dialect_choose(const char *setting, const char *model_id)
{
	const char *name = model_id ? strrchr(model_id, '/') : NULL;

	for (size_t i = 0; setting && i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], setting) == 0)
			return (enum dialect)i;
	name = name ? name + 1 : model_id ? model_id : "";
	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		if (name_has(name, families[i].word))
			return families[i].dialect;
	return DIALECT_HASP;
}

/* ---- texts about files ------------------------------------------------------- */

const char *dialect_advice(enum dialect dialect)
{
	static const char *const advice[DIALECT_COUNT] = {
		[DIALECT_HASP] =
			"- Prefer safe_patch and update_file; write_file is for new files and "
			"complete rewrites.\n",
		[DIALECT_GEMINI] =
			"- Prefer replace, and safe_patch for several places of a file; "
			"write_file is for new files and complete rewrites.\n",
		[DIALECT_OPENAI] =
			"- Change files with apply_patch, not with commands: all of a patch is "
			"made or nothing.\n",
		[DIALECT_ANTHROPIC] =
			"- Prefer Edit, and MultiEdit for several places of a file; Write is for "
			"new files and complete rewrites.\n",
	};

	return advice[dialect];
}

bool dialect_names_states(enum dialect dialect)
{
	return dialect == DIALECT_HASP || dialect == DIALECT_GEMINI;
}

/* ---- declarations ------------------------------------------------------------ */

static const char patch_description[] =
	"Changes any number of files by one patch, all of it or nothing. Read a file before you "
	"change it: a file that was not read, or has changed since, is refused with its state, "
	"and the patch can be sent again from that.\n\n"
	"*** Begin Patch\n"
	"*** Update File: PATH\n"
	"*** Move to: NEW PATH (optional)\n"
	"@@ a line above the change, such as the function's first (optional)\n"
	" unchanged line\n"
	"-removed line\n"
	"+added line\n"
	"*** Add File: PATH\n"
	"+each line\n"
	"*** Delete File: PATH\n"
	"*** End Patch\n\n"
	"Give three unchanged lines before and after each change, copied exactly; where they fit "
	"several places, add @@ lines or context.";

static const char edit_description[] =
	"Replaces exact text in a file that you have read: old_string, which must occur once "
	"unless replace_all is true, becomes new_string. Copy it exactly, with enough lines to be "
	"unique. An empty old_string creates a file.\n\n"
	"A file that was not read, or has changed since, is refused with its state: edit again "
	"from that.";

static const char multi_edit_description[] =
	"Makes several replacements in one file, in order, all or none. Each edit is as of Edit, "
	"and sees those before it.";

static const char write_description[] =
	"Writes the whole content of a file, new or read before. To change parts of one, use "
	"Edit. Never shorten content with a placeholder.";

static const char replace_description[] =
	"Replaces exact text in one file: old_string, which must occur once unless "
	"allow_multiple is true, becomes new_string. Copy old_string from the latest version in "
	"your context, with enough lines to be unique. An empty old_string creates a file.";

/* clang-format off */
#define PATH_MEMBER SCHEMA("file_path": {"type": "string"})
#define EDIT_MEMBERS(ALL) SCHEMA("old_string": {"type": "string"}, \
	"new_string": {"type": "string"}, ) "\"" ALL "\": " SCHEMA({"type": "boolean"})
#define SCHEMA(...) #__VA_ARGS__

static const char patch_schema[] = SCHEMA(
	{"type": "object", "required": ["input"], "properties": {"input": {"type": "string",
	 "description": "From *** Begin Patch to *** End Patch."}}});
static const char edit_schema[] =
	SCHEMA({"type": "object", "required": ["file_path", "old_string", "new_string"],
	        "properties": { ) PATH_MEMBER ", " EDIT_MEMBERS("replace_all") "}}";
static const char multi_edit_schema[] =
	SCHEMA({"type": "object", "required": ["file_path", "edits"], "properties": { ) PATH_MEMBER
	SCHEMA(, "edits": {"type": "array", "items": {"type": "object",
	       "required": ["old_string", "new_string"], "properties": { )
	EDIT_MEMBERS("replace_all") "}}}}}";
static const char write_schema[] =
	SCHEMA({"type": "object", "required": ["file_path", "content"], "properties": { )
	PATH_MEMBER SCHEMA(, "content": {"type": "string"}}});
static const char replace_schema[] =
	SCHEMA({"type": "object", "required": ["file_path", "instruction", "old_string",
	        "new_string"], "properties": { ) PATH_MEMBER
	SCHEMA(, "instruction": {"type": "string", "description": "What is changed, and why."}, )
	EDIT_MEMBERS("allow_multiple") "}}";
/* clang-format on */

/* Codex' own, which models were trained with. */
static const char patch_grammar[] =
	"start: begin_patch hunk+ end_patch\n"
	"begin_patch: \"*** Begin Patch\" LF\n"
	"end_patch: \"*** End Patch\" LF?\n\n"
	"hunk: add_hunk | delete_hunk | update_hunk\n"
	"add_hunk: \"*** Add File: \" filename LF add_line+\n"
	"delete_hunk: \"*** Delete File: \" filename LF\n"
	"update_hunk: \"*** Update File: \" filename LF change_move? change?\n\n"
	"filename: /(.+)/\n"
	"add_line: \"+\" /(.*)/ LF -> line\n\n"
	"change_move: \"*** Move to: \" filename LF\n"
	"change: (change_context | change_line)+ eof_line?\n"
	"change_context: (\"@@\" | \"@@ \" /(.+)/) LF\n"
	"change_line: (\"+\" | \"-\" | \" \") /(.*)/ LF\n"
	"eof_line: \"*** End of File\" LF\n\n"
	"%import common.LF\n";

#define BIT(id) (1U << TOOL_##id)

/* In the place of hasp's tool `of`; without a name, `of` is left out.  `can`: the tools of hasp's
 * that can do all that it can. */
static const struct dialect_offer {
	enum dialect dialect;
	enum tool_id of;
	const char *name, *description, *schema, *grammar;
	unsigned can;
} offers[] = {
	{ DIALECT_GEMINI, TOOL_UPDATE_FILE, "replace", replace_description, replace_schema, NULL,
	  BIT(UPDATE_FILE) },
	{ DIALECT_OPENAI, TOOL_SAFE_PATCH, "apply_patch", patch_description, patch_schema,
	  patch_grammar, BIT(APPLY_CHANGES) },
	{ DIALECT_OPENAI, TOOL_WRITE_FILE, NULL, NULL, NULL, NULL, 0 },
	{ DIALECT_OPENAI, TOOL_UPDATE_FILE, NULL, NULL, NULL, NULL, 0 },
	{ DIALECT_OPENAI, TOOL_APPLY_CHANGES, NULL, NULL, NULL, NULL, 0 },
	{ DIALECT_ANTHROPIC, TOOL_SAFE_PATCH, "Edit", edit_description, edit_schema, NULL,
	  BIT(SAFE_PATCH) | BIT(UPDATE_FILE) | BIT(APPLY_CHANGES) },
	{ DIALECT_ANTHROPIC, TOOL_WRITE_FILE, "Write", write_description, write_schema, NULL,
	  BIT(WRITE_FILE) | BIT(APPLY_CHANGES) },
	{ DIALECT_ANTHROPIC, TOOL_UPDATE_FILE, "MultiEdit", multi_edit_description,
	  multi_edit_schema, NULL, BIT(SAFE_PATCH) | BIT(UPDATE_FILE) | BIT(APPLY_CHANGES) },
	{ DIALECT_ANTHROPIC, TOOL_APPLY_CHANGES, NULL, NULL, NULL, NULL, 0 },
};

static const struct dialect_offer *offer_for(enum dialect dialect, const char *tool)
{
	for (size_t i = 0; tool && i < ARRAY_LEN(offers); i++)
		if (offers[i].dialect == dialect && strcmp(tool_name(offers[i].of), tool) == 0)
			return &offers[i];
	return NULL;
}

const char *dialect_name_for(enum dialect dialect, const char *tool)
{
	const struct dialect_offer *offer = offer_for(dialect, tool);

	return offer ? offer->name : tool;
}

bool dialect_can(const char *tool, const char *editor)
{
	for (size_t i = 0; i < ARRAY_LEN(offers); i++) {
		if (!offers[i].can || strcmp(offers[i].name, editor) != 0)
			continue;
		for (unsigned id = 0; id < TOOL_COUNT; id++)
			if (offers[i].can & 1U << id && strcmp(tool_name(id), tool) == 0)
				return true;
	}
	return false;
}

/* Whether all that the dialect takes the place of is declared. */
static bool dialect_is_whole(enum dialect dialect, const json_t *declared)
{
	size_t i, wanted = 0, found = 0;
	const json_t *tool;

	for (i = 0; i < ARRAY_LEN(offers); i++)
		wanted += offers[i].dialect == dialect;
	json_array_foreach((json_t *)declared, i, tool)
		found += offer_for(dialect,
		                   json_string_value(json_object_get(tool, "name"))) != NULL;
	return found == wanted;
}

static json_t *offer_declaration(const struct dialect_offer *offer)
{
	struct err err = ERR_INIT;
	json_t *schema, *declared = json_object();

	if (!json_parse(span_str(offer->schema), &schema, &err))
		schema = json_object();
	json_object_set_new(declared, "name", json_string(offer->name));
	json_object_set_new(declared, "description", json_string(offer->description));
	json_object_set_new(declared, "parameters", schema);
	if (offer->grammar)
		json_object_set_new(declared, "grammar", json_string(offer->grammar));
	return declared;
}

/* A copy of the declaration without what its description says of hashes; the same, if that is
 * nothing. */
static json_t *without_hashes(json_t *declared)
{
	const char *name = json_string_value(json_object_get(declared, "name"));
	const char *text = json_string_value(json_object_get(declared, "description"));
	const struct tool *tool = name ? tool_find(name) : NULL;
	const char *at = tool && tool->of_hashes && text ? strstr(text, tool->of_hashes) : NULL;
	_cleanup_free_ char *rest = NULL;
	json_t *copy;

	if (!at)
		return json_incref(declared);
	rest = mem_printf("%.*s%s", (int)(at - text), text, at + strlen(tool->of_hashes));
	copy = json_copy(declared);
	json_object_set_new(copy, "description", json_cstr(rest));
	return copy;
}

enum dialect dialect_declare(enum dialect dialect, json_t *declared)
{
	json_auto_t *before = NULL;
	json_t *tool;
	size_t i;

	if (dialect == DIALECT_HASP || !dialect_is_whole(dialect, declared))
		return DIALECT_HASP;
	before = json_copy(declared);
	json_array_clear(declared);
	json_array_foreach(before, i, tool) {
		const struct dialect_offer *offer = offer_for(
			dialect, json_string_value(json_object_get(tool, "name")));

		if (!offer)
			json_array_append_new(declared, dialect_names_states(dialect) ?
			                                        json_incref(tool) :
			                                        without_hashes(tool));
		else if (offer->name)
			json_array_append_new(declared, offer_declaration(offer));
	}
	return dialect;
}
