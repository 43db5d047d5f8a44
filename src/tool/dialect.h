/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the editing tools to offer a model: those that its family was trained on.
 *
 *     enum dialect dialect = dialect_choose("auto", "openai/gpt-5");   // DIALECT_OPENAI
 *     dialect = dialect_declare(dialect, declared);
 *
 * hasp       safe_patch, update_file, write_file, apply_changes: the state is named by its hash
 * gemini     replace in place of update_file
 * openai     apply_patch alone: one envelope for any number of files
 * anthropic  Edit, MultiEdit and Write
 *
 * Dialects differ in their words alone: every model may call any tool of any dialect (spelling.h),
 * and all become the same changes, each based on the state that the conversation saw.
 *
 * To add a family: a row in dialect.c's table, and one in docs/dialects.md.
 */
#ifndef HASP_TOOL_DIALECT_H
#define HASP_TOOL_DIALECT_H

#include <jansson.h>
#include <stdbool.h>

enum dialect {
	DIALECT_HASP,
	DIALECT_GEMINI,
	DIALECT_OPENAI,
	DIALECT_ANTHROPIC,
	DIALECT_COUNT
};

/* By the setting hasp.tools.dialect: a name; for "auto" (and NULL) by the model, whose id may have
 * a provider before its name ("anthropic/claude-sonnet-4-5", "openrouter/qwen/qwen3-coder"). */
enum dialect dialect_choose(const char *setting, const char *model_id);
/* Puts the dialect's editors in the place of hasp's in what tool_set_declare gave, which is
 * changed.  Where one of hasp's is missing (a setting or rule takes it away) all stay as they are.
 * Returns the dialect that is declared now. */
enum dialect dialect_declare(enum dialect dialect, json_t *declared);
/* The name by which hasp's tool is declared in this dialect; NULL: another's editor does its
 * work. */
const char *dialect_name_for(enum dialect dialect, const char *tool);
/* Whether hasp's tool can do all that an editor of a dialect can, by the name that this is declared
 * by: who may use the one may use the other. */
bool dialect_can(const char *tool, const char *editor);
/* The line of the system prompt that says which editor is for what, and whether an edit names the
 * state by its hash. */
const char *dialect_advice(enum dialect dialect);
bool dialect_names_states(enum dialect dialect);

#endif
