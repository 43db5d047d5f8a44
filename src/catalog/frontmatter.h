/* SPDX-License-Identifier: Apache-2.0 */
/* Front matter: the YAML between two lines of "---" at the start of a Markdown file, as skills,
 * agents and commands have it.
 *
 *     struct frontmatter front;
 *     if (!frontmatter_parse(text, &front, &err)) ...
 *     name = json_object_get(front.fields, "name");
 *     use(front.body);
 *     frontmatter_release(&front);
 *
 * People write `description: Use when: ...`, which is no YAML. Then each field (a line that begins
 * with its name and a colon, and the lines under it that are indented or begin with "- ") is read
 * by itself, and one that is no YAML either is the text that stands there, its lines joined by
 * spaces.  Examples in tags ("<example>") at the margin belong to the field before them, up to the
 * next line that begins with a name of a field that such files have.
 *
 * Not here: what the fields must be (skills.h); files.
 */
#ifndef HASP_CATALOG_FRONTMATTER_H
#define HASP_CATALOG_FRONTMATTER_H

#include "data/json.h"

struct frontmatter {
	json_t *fields;     /* owned; an object, empty without front matter */
	struct span body;   /* borrowed from the text: the rest after the front matter */
	struct err lenient; /* code set: the block is no YAML, for this reason, and its fields were
	                     * read one by one */
};

/* The text begins with "---" alone on a line, after a byte-order mark perhaps; a line of "---" ends
 * the block. Without the first line there are no fields. INVALID_ARGUMENT: the block has no end, or
 * is neither a YAML mapping nor fields; TOO_LARGE: as for yaml_parse. */
bool frontmatter_parse(struct span text, struct frontmatter *ret, struct err *err);
void frontmatter_release(struct frontmatter *front);
/* Returns front matter that is a YAML list of mappings, as in files of remote agents, as a new
 * reference; NULL if it is anything else (use frontmatter_parse). */
json_t *frontmatter_list(struct span text);
#define _cleanup_frontmatter_ __attribute__((cleanup(frontmatter_release)))

/* A field that is meant to be text: a string, or what YAML takes for a number or a boolean, printed
 * (`name: 7`). NULL: there is none, or it is null or no scalar. The caller frees. */
char *frontmatter_text(const struct frontmatter *front, const char *field);

/* ---- YAML (yaml.c) ---------------------------------------------------------------- */

/* One YAML document as JSON values, over libyaml: what people write in front matter and in files
 * of settings.
 *
 *     json_t *value;
 *     if (!yaml_parse(text, &value, &err))
 *             ...
 *     json_decref(value);
 *
 * Scalars without quotes follow YAML 1.2's core schema, as in js-yaml: null, true, integers and
 * floats are those, "yes", "no", dates and times are strings. Members keep their order.
 *
 * Refused, because no such file needs them and others have been attacked with them: aliases, tags,
 * keys that are no scalars or stand twice, several documents, and values without an end of depth
 * or number.
 */

/* Sequences and mappings within each other. */
enum { YAML_DEPTH_MAX = 32 };

/* The document's value, a new reference: null when there is nothing but comments. INVALID_ARGUMENT
 * with line and column (from 1): not YAML, not UTF-8, or something that is refused; TOO_LARGE: more
 * than LIMIT_YAML_BYTES or LIMIT_YAML_NODES. */
bool yaml_parse(struct span text, json_t **ret, struct err *err);

#endif
