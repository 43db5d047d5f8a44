/* SPDX-License-Identifier: Apache-2.0 */
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
 *
 * Not here: the block between lines of "---" before a text (catalog/frontmatter.h).
 */
#ifndef HASP_DATA_YAML_H
#define HASP_DATA_YAML_H

#include "data/json.h"

/* Sequences and mappings within each other. */
enum { YAML_DEPTH_MAX = 32 };

/* The document's value, a new reference: null when there is nothing but comments. INVALID_ARGUMENT
 * with line and column (from 1): not YAML, not UTF-8, or something that is refused; TOO_LARGE: more
 * than LIMIT_YAML_BYTES or LIMIT_YAML_NODES. */
bool yaml_parse(struct span text, json_t **ret, struct err *err);

#endif
