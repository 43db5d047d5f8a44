/* SPDX-License-Identifier: Apache-2.0 */
/* What skills, agents and commands share: which of their files count, and how they are read. */
#ifndef HASP_CATALOG_PRIVATE_H
#define HASP_CATALOG_PRIVATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/file.h"
#include "catalog/agents.h"
#include "catalog/documents.h"

/* What embed.py made of docs/; ends with a row without a name. */
extern const struct manual_page documents_rows[];

/* Whether the project's files are used: it must be trusted, on this machine (`local`), and not the
 * home folder. */
bool catalog_project_counts(const struct settings *settings, bool local);
/* Reads a file beneath `root` into *ret, which the caller releases (also when it fails), as
 * door_read does. FILE_NOT_FOUND, NOT_TEXT; errors of door_read. */
bool catalog_file_read(const char *root, const char *path, size_t max, struct file_text *ret,
                       struct err *err);

/* ---- fields of skills and commands (fields.c) -------------------------------------- */

/* The first line that is not blank, what describes a text that does not describe itself; the caller
 * frees. NULL: there is none. */
char *catalog_first_line(struct span text);
/* "argument-hint", where YAML may have taken "[name]" for a list; the caller frees. NULL: none. */
char *catalog_argument_hint(const json_t *fields);
/* A field "model" as --model has it; the caller frees. NULL: the session's, which Claude Code's
 * words for its own models mean: which one that is, is the user's choice here. */
char *catalog_model_words(const char *word);
/* The words of a list, or of a text with blanks or commas between them, but for those in
 * parentheses: ["Read", "Bash(git status:*)"]. A new reference; NULL: there are none. */
json_t *catalog_words(const json_t *value);

/* ---- one file of agents (agents_file.c) --------------------------------------------- */

/* Appends what the text of a file describes to `ret`, whose notices it adds to; INVALID_ARGUMENT:
 * it is not used, and nothing is appended; TOO_LARGE. */
bool agents_file_read(const char *file, struct span text, enum agents_from from,
                      struct agents *ret, struct err *err);
/* One with what holds where nothing is said. */
struct agent_definition catalog_agent_new(enum agents_from from);
/* Frees what it has. */
void catalog_agent_release(struct agent_definition *definition);
/* Adds to a list of tools those that a text names, with commas between them, by the names that
 * hasp has. */
void catalog_agent_tools(json_t *list, struct span text, const char *file, json_t *notices);
/* Minutes; fractions of one count. What is no number, or none that can be, changes nothing. */
void catalog_agent_limits(struct agent_definition *definition, const json_t *turns,
                       const json_t *minutes);
/* NULL or "" changes nothing. */
void catalog_agent_model(struct agent_definition *definition, const char *word);

#endif
