/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what a struct settings is. */
#ifndef HASP_CONFIG_SETTINGS_PRIVATE_H
#define HASP_CONFIG_SETTINGS_PRIVATE_H

#include "base/file.h"
#include "config/authority.h"
#include "config/settings.h"

/* What one file says. */
struct scope {
	char *path;            /* NULL: this scope has no file */
	const char *project;   /* borrowed; the folder that the file may not lead out of. NULL: it is
	                        * the user's or the system's, whose links are followed */
	struct file_text text; /* as it stands there */
	json_t *lines;         /* where its members begin (jsonc_lines); NULL: it has no text */
	json_t *value;         /* without what does not count; NULL: nothing */
	json_t *moved;         /* new path -> old path in the text */
	unsigned repeated_line; /* of the first member that repeats a name; 0: none does */
};

struct settings {
	struct home *home;
	struct variables *variables;
	struct scope scopes[SCOPE_COUNT];
	json_t *merged;
	json_t *warnings; /* sentences */
	json_t *allowed;  /* what the user allows this project (allow.h); NULL: nothing */
	json_t *withheld; /* what the project says and does not count until it is allowed: settings.h */
	bool project_is_home;
	bool trusted, trust_unknown;
};

/* Reads a scope's file and understands old names. INVALID_ARGUMENT: with path and place. */
bool scope_read(struct scope *scope, struct err *err);
void scope_release(struct scope *scope);
/* The line of a path in the scope's file; 0: it is not there. */
unsigned scope_line(const struct scope *scope, const char *path);

/* Takes out of the scope's value what may not stand there, and what has another type than it
 * should; a
 * sentence about each, and about keys that nobody knows, goes to `warnings`.  What the user could allow
 * the project goes to settings->withheld. */
void scope_check(struct settings *settings, struct scope *scope, enum settings_scope kind,
                 json_t *warnings);

/* How much of a project's value counts by itself: all of it, nothing, or, of a list of paths, some. */
enum permission { PERMITTED_NOT, PERMITTED_ALL, PERMITTED_SOME };
/* SOME: *ret_rest is what does not count, which is an array, and *ret_part the rest of the value. */
enum permission authority_permits(enum authority authority, const char *project,
                                  const json_t *value, json_t **ret_part, json_t **ret_rest);

/* `value` of a file of the scope with variables put in; a new reference. */
json_t *settings_expand(struct settings *settings, enum settings_scope scope, const json_t *value);

/* All scopes laid over each other. */
json_t *settings_merge(const struct settings *settings);

#endif
