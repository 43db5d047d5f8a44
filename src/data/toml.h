/* SPDX-License-Identifier: Apache-2.0 */
/* TOML 1.0 as JSON values, over toml++.
 *
 * Dates and times become strings (RFC 3339). Members are in the order of their names.
 */
#ifndef HASP_DATA_TOML_H
#define HASP_DATA_TOML_H

#include "data/json.h"

#define TOML_LINE "\x01line"

/* INVALID_ARGUMENT with line and column: not TOML, deeper than 100 levels, a float that is not
 * finite. */
bool toml_parse(struct span text, json_t **ret, struct err *err);
/* The same; each table gets the line (from 1) on which it starts as the member TOML_LINE, a name
 * that no TOML key can have without escapes. */
bool toml_parse_lines(struct span text, json_t **ret, struct err *err);

#endif
