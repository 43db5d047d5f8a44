/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: one object of settings laid over another, as the rows of schema.h say. */
#ifndef HASP_CONFIG_MERGE_H
#define HASP_CONFIG_MERGE_H

#include <jansson.h>

/* Changes `low` to what it is under `high`, which stays as it is. Both are nested
 * at most JSONC_DEPTH_MAX deep. */
void merge_into(json_t *low, const json_t *high);

#endif
