/* SPDX-License-Identifier: Apache-2.0 */
/* TOML 1.0 as JSON values, over toml++.
 *
 * Dates and times become strings (RFC 3339). Members are in the order of their names. With `lines`,
 * each table gets the line (from 1) on which it
 * begins as the member "\x01line" — a name no TOML key can be written as without escapes.
 */
#ifndef HASP_DATA_TOML_H
#define HASP_DATA_TOML_H

#include "data/json.h"

#define TOML_LINE "\x01line"

/* INVALID_ARGUMENT with line and column: not TOML, deeper than 100 levels, a float that is not
 * finite. */
bool toml_parse(struct span text, bool lines, json_t **ret, struct err *err);

#endif
