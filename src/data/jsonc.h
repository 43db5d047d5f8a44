/* SPDX-License-Identifier: Apache-2.0 */
/* JSON with comments, as editors write settings: read with places, changed without losing a byte
 * else.
 *
 *     ok = jsonc_parse(text, &value, &err);
 *     lines = jsonc_lines(text);
 *     line = jsonc_line(lines, "tools.shell.pager");
 *     ok = jsonc_set(text, "model.name", value, &out, &err);
 *
 * Line and block comments, trailing commas, a BOM. Everything else as json.h.
 */
#ifndef HASP_DATA_JSONC_H
#define HASP_DATA_JSONC_H

#include "data/json.h"

/* Deepest nesting: settings have a few levels, and the values are walked recursively. */
enum { JSONC_DEPTH_MAX = 100 };

/* INVALID_ARGUMENT with line and column (of the text, in characters). A text without a value is an
 * empty object. */
bool jsonc_parse(struct span text, json_t **ret, struct err *err);
/* The same where names may repeat (json_parse_repeating). */
bool jsonc_parse_repeating(struct span text, json_t **ret, unsigned *ret_line, struct err *err);
/* Where the members of a text begin, for jsonc_line, in one walk over it; a new reference. The text
 * is one that jsonc_parse took. An object with a number by name, or another such object, whose own
 * line is its member "". Of members with one name the first counts; those whose names no path can
 * say are left out. */
json_t *jsonc_lines(struct span text);
/* The line (from 1) on which the member at the dotted path begins; 0: none. */
unsigned jsonc_line(const json_t *lines, const char *path);
/* Appends `text` with the member set to `value` (NULL: removed), objects on the way created,
 * indented
 * like its neighbours; all else, comments too, byte for byte. INVALID_ARGUMENT: the text is not
 * JSONC,
 * something on the way is no object, the path has an empty name. TOO_LARGE: `out` overflowed. */
bool jsonc_set(struct span text, const char *path, const json_t *value, struct buf *out,
               struct err *err);

#endif
