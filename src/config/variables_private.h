/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: which .env file counts depends on settings that are known by then. */
#ifndef HASP_CONFIG_VARIABLES_PRIVATE_H
#define HASP_CONFIG_VARIABLES_PRIVATE_H

#include <jansson.h>

#include "config/home.h"
#include "config/variables.h"

struct variables_options {
	const struct home *home;
	bool trusted;           /* the project folder */
	bool ignore_env_files;  /* those of the project that are called .env */
	const json_t *excluded; /* names that project files do not set; an array or NULL */
	const json_t *allowed;  /* what the user allows the project (allow.h); NULL: nothing */
	json_t *withheld;       /* gets what could be allowed (settings.h); NULL: nobody asks */
	json_t *warnings;       /* gets a sentence about a file that cannot be read */
};

struct variables *variables_open(const struct variables_options *options);
void variables_free(struct variables *variables); /* NULL is fine */

/* `value` with variables put in every string of it; a new reference. Strings stay as they were
 * when those before them used up LIMIT_EXPANDED_BYTES.  `own`: the value is the user's or the
 * administrator's, so of a project's .env only keys and what the user allowed are put in; a sentence
 * about others goes to `warnings` (NULL: nowhere). */
json_t *variables_expand_json(const struct variables *variables, const json_t *value, bool own,
                              json_t *warnings);

/* Whether the value is of a project's .env, and not for settings of others. */
bool variables_is_projects(const struct variables *variables, const char *name);

#endif
