/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: names that settings had in earlier versions of Gemini CLI. */
#ifndef HASP_CONFIG_MIGRATE_H
#define HASP_CONFIG_MIGRATE_H

#include <jansson.h>

/* Moves what stands under an old name to the new one, unless that is there too; *moved gets the old
 * path for each
 * new one. The file stays as it is. */
void migrate(json_t *value, json_t *moved);

#endif
