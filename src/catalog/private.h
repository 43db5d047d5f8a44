/* SPDX-License-Identifier: Apache-2.0 */
/* What skills and agents share: how their folders are looked through, and what of their files'
 * words is shown. */
#ifndef HASP_CATALOG_PRIVATE_H
#define HASP_CATALOG_PRIVATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/file.h"
#include "catalog/agents.h"
#include "catalog/documents.h"

/* One line, trimmed, with invisible characters as escapes, of at most `max` bytes. The caller
 * frees. */
char *catalog_line(const char *text, size_t max);
/* Characters of UTF-8. */
size_t catalog_characters(const char *text);

/* Adds a sentence to the notices, in one line. */
__attribute__((format(printf, 2, 3)))
void catalog_notice(json_t *notices, const char *format, ...);

/* What embed.py made of docs/; ends with a row without a name. */
extern const struct document documents_rows[];

/* Whether a file that was read is text. FILE_NOT_FOUND: it is gone; NOT_TEXT. */
bool catalog_check_text(const char *path, const struct file_text *text, struct err *err);

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
/* What the settings say about one, whatever the case of its letters; NULL: nothing. Borrowed. */
const json_t *agents_override_of(const json_t *overrides, const char *name);

#endif
