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

#endif
