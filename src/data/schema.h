/* SPDX-License-Identifier: Apache-2.0 */
/* Checking a JSON value against a schema, for people and models who read the answer.
 *
 *     struct schema *schema;
 *     if (!schema_compile(SPAN(text), &schema, &err))
 *             ...
 *     _cleanup_buf_ struct buf problems = BUF_INIT(16384);
 *     json_t *checked = schema_check(schema, value, &problems);
 *     if (problems.len)
 *             show(problems.data);        // every problem, by path, "; " between them
 *     json_decref(checked);
 *     schema_free(schema);
 *
 * The subset of JSON Schema 2020-12: type (one or several), properties, required,
 * additionalProperties (only false has a meaning), items, minItems, maxItems, enum, const,
 * minimum, maximum, minLength, oneOf.  Other keywords are annotations.  A
 * oneOf whose branches are objects with a const property (a kind) is decided by
 * that property, so that problems are reported about the branch that was meant.
 *
 * Models write 5 as "5" and "5" as 5, true as "true", one string where a list is expected,
 * a list as a string of JSON, and null for what they leave out.  Where
 * that loses nothing, schema_check takes it as what was meant: the value it returns
 * is the one to use.  Strings with U+0000 are refused everywhere.
 */
#ifndef HASP_DATA_SCHEMA_H
#define HASP_DATA_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct schema;

/* Problems reported about one value; more would only fill a context. */
enum { SCHEMA_PROBLEMS_MAX = 20 };

/* INVALID_ARGUMENT: not JSON, a keyword of the subset with a value of the wrong
 * type, or nested deeper than 32 levels. */
bool schema_compile(struct span text, struct schema **ret, struct err *err);
void schema_free(struct schema *schema); /* NULL is fine */

/* Appends to `problems` what is wrong with the value, nothing if nothing is.  Returns a new
 * reference to the value as it was meant: `value` itself, or a copy in which some parts were
 * converted.  `value` is not changed. */
json_t *schema_check(const struct schema *schema, json_t *value, struct buf *problems);

/* The same, of a value whose members had other names when they came: `names` has by path
 * ("changes[2].old_content") what the path was, and problems name that. NULL: none had. */
json_t *schema_check_sent(const struct schema *schema, json_t *value, const json_t *names,
                          struct buf *problems);

/* Whether two names are so much alike that one is the other with a mistake. */
bool schema_names_alike(const char *name, const char *known);
/* Of `count` names the one that `name` most likely stands for; NULL if none is near.
 * Case, '_' and '-' do not count, and one of the two may be part of the other. */
const char *schema_nearest_name(const char *name, const char *const *names, size_t count);

#endif
