/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the border between C and C++, which both can read. */
#ifndef HASP_DATA_TOML_PRIVATE_H
#define HASP_DATA_TOML_PRIVATE_H

#include <jansson.h>
#include <stdbool.h>


enum { TOML_DEPTH_MAX = 100 };

#ifdef __cplusplus
extern "C" {
#endif

#include "base/err.h"
#include "base/span.h"

/* toml_parse, for a text that cannot nest so deep that destroying its tables is a danger. With
 * `line_name` each table gets its line as that member. */
bool toml_read(struct span text, const char *line_name, json_t **ret, struct err *err);

#ifdef __cplusplus
}
#endif

#endif
