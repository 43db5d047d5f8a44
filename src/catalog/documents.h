/* SPDX-License-Identifier: Apache-2.0 */
/* hasp's documentation, docs/ *.md, built into the program, so that it always matches the version
 * and can be trusted.
 *
 *     for (size_t i = 0; (document = document_at(i)); i++) ... document->name, document->title ...
 *     document = document_named("settings.md");
 *
 * To add one: its file, and a line in src/catalog/meson.build.
 */
#ifndef HASP_CATALOG_DOCUMENTS_H
#define HASP_CATALOG_DOCUMENTS_H

#include <stddef.h>

struct manual_page {
	const char *name;  /* "settings.md" */
	const char *title; /* its first line */
	const char *text;  /* Markdown, UTF-8; each line ends with "\n" */
};

/* In the order of their names; NULL behind the last. */
const struct manual_page *document_at(size_t i);
/* Also by a name with "docs/" in front, or without its ".md"; NULL: there is none. */
const struct manual_page *document_named(const char *name);

#endif
