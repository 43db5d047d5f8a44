/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Schema for files: documents that others wrote, with what they use of draft 4 to 2020-12.
 *
 *     struct json_schema *schema;
 *     if (!json_schema_load(text, &schema, &err)) ...
 *     verdict = json_schema_check(schema, value, &problems);
 *     json_schema_free(schema);
 *
 * Checked: type, enum, const; properties, patternProperties, additionalProperties, propertyNames,
 * required, minProperties, maxProperties, dependencies, dependentRequired, dependentSchemas; items,
 * prefixItems, additionalItems, contains, minContains, maxContains, minItems, maxItems,
 * uniqueItems; unevaluatedProperties, unevaluatedItems;
 * minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf; minLength, maxLength, pattern;
 * allOf, anyOf, oneOf, not, if, then, else; $ref, $dynamicRef, $recursiveRef within the document
 * ("#/...", an anchor, an $id).
 * `format` and contents are annotations.
 *
 * What cannot be judged is neither valid nor invalid (SCHEMA_UNKNOWN): a $ref to another document,
 * or within one in which several schemas have addresses, a pattern that is not JavaScript's or
 * takes too long, and whatever is left when the budget of steps or depth is used up.  A schema is a
 * stranger's text: nothing is fetched, and no schema takes more than SCHEMA_STEPS_MAX steps.
 *
 * Not here: the schemas of tools, which are hasp's own and correct what a model sends
 * (data/schema.h).
 */
#ifndef HASP_SCHEMA_JSON_SCHEMA_H
#define HASP_SCHEMA_JSON_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct json_schema;

enum {
	SCHEMA_BYTES_MAX = 4 << 20,
	SCHEMA_STEPS_MAX = 4000000, /* keywords looked at: some 0.4 s */
	SCHEMA_FRAMES_MAX = 256,    /* schemas within schemas, $refs followed */
};

enum schema_verdict {
	SCHEMA_INVALID,
	SCHEMA_UNKNOWN,
	SCHEMA_VALID,
};

/* Parses a schema; comments are allowed. INVALID_ARGUMENT: not a JSON object, or it claims to be
 * of no draft that is known here. TOO_LARGE: more than SCHEMA_BYTES_MAX. */
bool json_schema_load(struct span text, struct json_schema **ret, struct err *err);
void json_schema_free(struct json_schema *schema); /* NULL is fine */

/* Appends what is wrong, "; " between problems: the path as jq writes it, what is required, the
 * keyword in parentheses. *ret_count is how many problems there are, also of those that
 * `problems` has no room for. SCHEMA_UNKNOWN: appends the first place that cannot be judged, and
 * why not; *ret_count is 0. Not from several threads with one schema. */
enum schema_verdict json_schema_check(struct json_schema *schema, const json_t *value,
                                      struct buf *problems, size_t *ret_count);

/* ---- which schema a file has (known.c) ----------------------------------------------- */

/* By what the file names itself, or by its own name.
 *
 *     known = schema_known_file("app/package.json");
 *     known = schema_known_address("https://json.schemastore.org/package");
 *
 * The schemas there are hasp's own and short: they have what the formats' documentation fixes (the
 * types of well-known members, what is required, closed lists of words) and allow everything else,
 * so that what a newer version adds is no error.  To add one: a row in known.c, a case in
 * test/schema/test_guard.py. */

struct schema_known {
	const char *title;     /* "package.json" */
	const char *names;     /* of files, between '|': the last parts of a path; '*' is any
	                        * text */
	const char *addresses; /* what stands in addresses of its schema ("/package"), likewise; or
	                        * NULL */
	const char *installed; /* beneath a node_modules folder, where its program has the whole
	                        * schema; or NULL */
	const char *schema;    /* JSON; NULL: only the installed one is known */
};

/* By the path of a file; NULL: none is known. */
const struct schema_known *schema_known_file(const char *path);
/* By the address of a schema (http:, https:), which is never fetched; NULL likewise. */
const struct schema_known *schema_known_address(const char *address);

/* What a text says of its schema in a comment of its first lines, as editors read it: YAML's
 * "# yaml-language-server: $schema=ADDRESS", TOML's "#:schema ADDRESS". Borrowed from the text;
 * empty: nothing. */
struct span schema_named_in_comment(struct span text);

#endif
