/* SPDX-License-Identifier: Apache-2.0 */
/* ~/.gemini/hasp-allowed.json: what the user allows single projects to set.
 *
 *     { "/srv/project": { "OPENAI_BASE_URL": "SHA-256 of the value", ... }, ... }
 *
 * Only the hash of a value is kept: a value may hold a key, and one that changes has to be allowed
 * again.  The name is that of a setting, of a variable, or a file's path in the project.
 */
#ifndef HASP_CONFIG_ALLOW_H
#define HASP_CONFIG_ALLOW_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "config/home.h"

/* What the project is allowed: an object {NAME: HASH}, a new reference; empty if there is none.
 * NULL with *err: the file cannot be read, and so allows nothing. */
json_t *allow_read(const struct home *home, struct err *err);
/* Whether `allowed` (NULL: nothing is) has the name with this value. */
bool allow_has(const json_t *allowed, const char *name, const json_t *value);
/* Allows the value, or with NULL takes back what was allowed for the name: atomic, under a lock,
 * mode 0600. */
bool allow_set(const struct home *home, const char *name, const json_t *value, struct err *err);

#endif
