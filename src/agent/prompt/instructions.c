/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prompt/prompt.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "catalog/frontmatter.h"
#include "data/json.h"

#define FILE_ROW(family, path) { family, path, false, false }
#define TOP_ROW(family, path) { family, path, true, false }
#define INSTEAD_ROW(family, path) { family, path, false, true }

const struct instruction_file instruction_files[] = {
	TOP_ROW("copilot", ".github/copilot-instructions.md"),
	TOP_ROW("cursor", ".cursorrules"),
	FILE_ROW("gemini", "GEMINI.md"),
	INSTEAD_ROW("agents", "AGENTS.override.md"),
	FILE_ROW("agents", "AGENTS.md"),
	FILE_ROW("claude", "CLAUDE.md"),
	FILE_ROW("claude", ".claude/CLAUDE.md"),
	FILE_ROW("claude", "CLAUDE.local.md"),
	{ 0 },
};

const struct instruction_file instruction_user_files[] = {
	FILE_ROW("copilot", ".copilot/copilot-instructions.md"),
	INSTEAD_ROW("agents", ".codex/AGENTS.override.md"),
	FILE_ROW("agents", ".codex/AGENTS.md"),
	FILE_ROW("claude", ".claude/CLAUDE.md"),
	{ 0 },
};

const struct instruction_rules instruction_rules[] = {
	{ "copilot", ".github/instructions", ".instructions.md", "applyTo", 0, false, false },
	{ "cursor", ".cursor/rules", ".mdc", "globs", GLOB_BASENAME, false, false },
	{ "claude", ".claude/rules", ".md", "paths", 0, true, true },
	{ 0 },
};

bool instructions_family(const char *word)
{
	for (const struct instruction_file *row = instruction_files; row->family; row++)
		if (strcmp(row->family, word) == 0)
			return true;
	return false;
}

/* ---- one rule ---------------------------------------------------------------- */

/* The length of the first pattern of a list with commas, which braces may hold, too. */
static size_t pattern_length(struct span list)
{
	unsigned depth = 0;

	for (size_t i = 0; i < list.len; i++) {
		if (list.data[i] == '{')
			depth++;
		else if (list.data[i] == '}' && depth)
			depth--;
		else if (list.data[i] == ',' && !depth)
			return i;
	}
	return list.len;
}

static bool add_patterns(struct rule *rule, struct span list, unsigned flags, struct err *err)
{
	while (list.len) {
		const size_t len = pattern_length(list);
		const struct span one = span_trim(span_head(list, len));
		_cleanup_free_ char *pattern = mem_dup(one.data, one.len);
		const char *const text = pattern;

		if (one.len && !glob_list_add(&rule->patterns, &text, 1, flags, false, err))
			return false;
		list = span_skip(list, len < list.len ? len + 1 : len);
	}
	return true;
}

static bool rule_patterns(struct rule *rule, const json_t *value, unsigned flags, struct err *err)
{
	size_t i;
	json_t *item;

	if (json_is_string(value))
		return add_patterns(rule, json_span(value), flags, err);
	json_array_foreach((json_t *)value, i, item) {
		if (!json_is_string(item))
			return err_set(err, ERR_INVALID_ARGUMENT, "A pattern in it is no text.");
		if (!add_patterns(rule, json_span(item), flags, err))
			return false;
	}
	return true;
}

/* Front matter that is no YAML has its fields as texts: "true", too. */
static bool is_switched_on(const json_t *value)
{
	return json_is_true(value) ||
	       (json_is_string(value) && strcmp(json_string_value(value), "true") == 0);
}

bool instructions_rule_parse(const struct instruction_rules *row, struct span text,
                             struct rule *ret, struct err *err)
{
	_cleanup_frontmatter_ struct frontmatter front = { 0 };

	*ret = (struct rule){ .when = row->always ? RULE_ALWAYS : RULE_BY_NAME };
	if (!frontmatter_parse(text, &front, err) ||
	    !rule_patterns(ret, json_object_get(front.fields, row->patterns), row->glob_flags, err))
		return false;
	ret->body = front.body;
	if (is_switched_on(json_object_get(front.fields, "alwaysApply")))
		ret->when = RULE_ALWAYS;
	else if (ret->patterns.count)
		ret->when = RULE_FILES;
	else if (!row->always && (ret->description = frontmatter_text(&front, "description")))
		ret->when = *ret->description ? RULE_CHOSEN : RULE_BY_NAME;
	return true;
}

void instructions_rule_release(struct rule *rule)
{
	free(rule->description);
	glob_list_release(&rule->patterns);
}
