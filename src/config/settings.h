/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: Gemini CLI's files, read as they are, each value with its origin.
 *
 *     struct settings *settings;
 *     if (!settings_load(&options, &settings, &err)) ...
 *     const char *name = settings_string(settings, "model.name", NULL);
 *     const json_t *servers = settings_get(settings, "mcpServers");
 *     settings_free(settings);
 *
 * Low to high: defaults < system-defaults.json < user < workspace (only in a trusted folder, never
 * the home folder's own) < system settings.json < overrides (flags).  Values are merged as each
 * key's row in the table says (schema.c): replaced, concatenated, united, merged; "$VAR", "${VAR}"
 * and "${VAR:-default}" in strings are replaced from the variables.  Version 1's flat keys are
 * understood. Unknown keys are kept and named once in settings_warnings.  A file that is not JSON
 * is an error with line and column; nothing is guessed.  Of members with one name the last counts,
 * as in Gemini CLI, and a warning says so.
 *
 * hasp's own are under "hasp".  To add one: a row in schema.c; docs/settings.md and the JSON Schema
 * follow from it.
 */
#ifndef HASP_CONFIG_SETTINGS_H
#define HASP_CONFIG_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "config/home.h"

struct settings;
struct variables;

enum settings_scope {
	SCOPE_DEFAULT,
	SCOPE_SYSTEM_DEFAULTS,
	SCOPE_USER,
	SCOPE_WORKSPACE,
	SCOPE_SYSTEM,
	SCOPE_OVERRIDE,
	SCOPE_COUNT,
};
const char *settings_scope_name(enum settings_scope scope); /* "default", "system-defaults", ... */

struct settings_options {
	const char *project;      /* absolute, canonical: the folder whose .gemini counts */
	bool skip_trust;          /* --skip-trust: trusted for this run */
	bool ignore_env_files;    /* --ignore-env */
	const json_t *overrides;  /* nested object of flags' values, or NULL */
	const json_t *extensions; /* --extensions: names of those that count alone (extensions.h),
	                           * "none" for none; an array, or NULL */
};

/* Reads all files; also opens variables and trust. INVALID_ARGUMENT: a file that is wrong, with its
 * path and place. */
bool settings_load(const struct settings_options *options, struct settings **ret, struct err *err);
/* Reads the files of these again, with the options that they were read with, into new ones; errors
 * as above. */
bool settings_load_again(const struct settings *settings, struct settings **ret, struct err *err);
/* Those of the user and the system alone: nothing of any project is opened. For what a project
 * must not decide. *ret is NULL if there is no such file. */
bool settings_load_own(struct settings **ret, struct err *err);
/* Those that count in a project's folder, if there is a file of any; else *ret is NULL. */
bool settings_load_found(const char *project, struct settings **ret, struct err *err);
void settings_free(struct settings *settings);

/* The merged value at a dotted path ("tools.shell.pager"); NULL: not set and no default, or there
 * are no settings (NULL). Borrowed.
 * A name with a dot in it cannot be reached so: take its object. */
const json_t *settings_get(const struct settings *settings, const char *path);
/* `fallback` also when the value has another type (which settings_warnings names). */
const char *settings_string(const struct settings *settings, const char *path,
                            const char *fallback);
bool settings_bool(const struct settings *settings, const char *path, bool fallback);
int64_t settings_integer(const struct settings *settings, const char *path, int64_t fallback);
/* A wait in seconds, kept within its bounds; in ms. */
unsigned settings_wait_ms(const struct settings *settings, const char *path, int64_t fallback_s,
                          int64_t least_s, int64_t most_s);
/* hasp.waits.lockSeconds: the longest wait for another process's lock, for base/file.h. */
unsigned settings_lock_wait_ms(const struct settings *settings);
double settings_number(const struct settings *settings, const char *path, double fallback);
/* The value of one scope alone, not merged; NULL if it says nothing. Borrowed. */
const json_t *settings_of_scope(const struct settings *settings, enum settings_scope scope,
                                const char *path);

/* The file of a scope, whether it is there or not; NULL: it has none. Borrowed. */
const char *settings_file(const struct settings *settings, enum settings_scope scope);

struct settings_origin {
	enum settings_scope scope;
	const char *file; /* borrowed; NULL: built in, or a flag */
	unsigned line;    /* from 1; 0: none */
};
/* Where the merged value comes from (the highest scope that adds to it). */
struct settings_origin settings_origin_of(const struct settings *settings, const char *path);

/* Every value in force, as an array of {key, value, scope, file, line}, in the order of the table;
 * last, with "unknown": true, what stands in files and is no setting.  File and line as in struct
 * settings_origin (null, 0).  Members of objects such as mcpServers are listed one by one.
 * `defaults`: include settings that are not set.  A new reference. */
json_t *settings_list(const struct settings *settings, bool defaults);

/* A sentence for each file that uses names of earlier versions, which count as today's; a new
 * array. */
json_t *settings_renamed(const struct settings *settings);

/* Sentences about unknown keys and wrong types; each key once. Borrowed array. */
const json_t *settings_warnings(const struct settings *settings);

/* The first sentence about a setting that restricts (a level, a mode, a list of what is excluded, a
 * switch that forbids) at `above` or below it (NULL: about any), whose value or name hasp cannot
 * use: it would restrict nothing.  NULL: none.  Borrowed. */
const char *settings_unusable(const struct settings *settings, const char *above);

/* What the project says and the user has not allowed yet: an array of {name, value, file, line};
 * file null: the name is a path in the project.  Borrowed. */
const json_t *settings_withheld(const struct settings *settings);
/* What is allowed: {NAME: HASH} (authority.h); NULL: nothing.  Borrowed. */
const json_t *settings_allowed(const struct settings *settings);
/* Whether the user allowed this of the project, of which `name` is no setting: a path in it.
 * What is not becomes one of settings_withheld. */
bool settings_project_may(const struct settings *settings, const char *name, const json_t *value);

/* Borrowed: live as long as the settings. */
const struct home *settings_home(const struct settings *settings);
/* The same: of the .env files that count. */
const struct variables *settings_variables(const struct settings *settings);
bool settings_trusted(const struct settings *settings); /* of the project folder */
/* Settings' folder trust is on and no rule says anything about the folder. */
bool settings_trust_unknown(const struct settings *settings);
/* --skip-trust or GEMINI_CLI_TRUST_WORKSPACE decides in this run, whatever the rules say. */
bool settings_trust_is_given(const struct settings *settings);

/* Writes one value into the file of a scope (USER or WORKSPACE), keeping comments, order, unknown
 * keys and the file's mode; creates it if it is missing; atomic. NULL value: removes the key.
 * INVALID_ARGUMENT: a type the key does not have, or a key that this scope may not set.  The merged
 * values change immediately: no other thread may be reading them. */
bool settings_write(struct settings *settings, enum settings_scope scope, const char *path,
                    const json_t *value, struct err *err);

/* Whether the file of a scope has the member as it is now, counted or not. */
bool settings_stands(const struct settings *settings, enum settings_scope scope, const char *path,
                     bool *ret, struct err *err);

/* The JSON Schema of settings.json for editors; a new reference. What it says beyond JSON Schema is
 * in each setting's "x-hasp": merge (replace, concat, union, shallow, intersect) and project (any,
 * never, only true, only false), restricts, and calls: whether it holds outside of sessions. */
json_t *settings_schema(void);

/* The text of a value as a person types it for `path`: as it stands for a string, else JSON.
 * INVALID_ARGUMENT:
 * it is not what the key takes, or there is no such key; the sentence names the one that is like
 * it. */
bool settings_read_value(const char *path, struct span text, json_t **ret, struct err *err);
/* The path of known setting `i`, from 0; NULL after the last. */
const char *settings_name(size_t i);

/* ---- trustedFolders.json ----------------------------------------------------------- */

/* Which folders' own settings, hooks, commands and servers may count.
 *
 * GEMINI_CLI_TRUST_WORKSPACE=true|false comes first, then the longest rule that holds the folder
 * (canonical paths; TRUST_PARENT trusts the folder above).  GEMINI_CLI_TRUSTED_FOLDERS_PATH moves
 * the file.  A file that is not readable as such trusts nothing.
 */

enum trust { TRUST_UNKNOWN, TRUST_YES, TRUST_NO };

/* UNKNOWN with *err, which names the file: it is wrong, and trusts nothing. */
enum trust trust_of(const struct home *home, const char *folder, struct err *err);
/* "TRUST_FOLDER", "TRUST_PARENT" or "DO_NOT_TRUST" for the folder: atomic, under a lock, mode
 * 0600. */
bool trust_set(const struct home *home, const char *folder, const char *rule, struct err *err);

/* ---- variables -------------------------------------------------------------------- */

/* Environment variables and the one .env file that counts, without touching the process's
 * environment.
 *
 * .env (Gemini CLI's order): in a trusted folder and its parents, .gemini/.env, then .env; then
 * ~/.gemini/.env, ~/.env; the first usable file is read.  A parent folder must be trusted too;
 * files that another user owns or may write are ignored.  Variables that are already set are kept.
 * Which variables a project's file may set is in authority.h; those of advanced.excludedEnvVars are
 * ignored.  Variables that steer hasp (AUTHORITY_ASK) are read from the user's file even if a
 * project has one, and the user's keys take precedence: a project can neither remove the user's
 * proxy or address nor have contents sent under another account.
 */

/* NULL: not set. Borrowed. */
const char *variables_get(const struct variables *variables, const char *name);
/* The same, without what a project's .env says and the user has not allowed: NULL, or what the
 * user's own says. */
const char *variables_own(const struct variables *variables, const char *name);
/* The .env file that was read; NULL: none. */
const char *variables_file(const struct variables *variables);
/* "NAME=VALUE" strings, NULL-terminated, process's and .env's: the caller frees the array and
 * each. */
char **variables_list(const struct variables *variables);

/* The user's own file, ~/.gemini/.env; the caller frees. */
char *variables_users_file(const struct home *home);
/* Adds NAME=VALUE to that file, for variables_get from the next settings_load on: mode 0600,
 * atomic, under a lock; an earlier line for the name does not count any more. INVALID_ARGUMENT: the
 * value has a character that no key has (a blank, a quotation mark, a backslash, what is not
 * ASCII). */
bool variables_keep(const struct home *home, const char *name, const char *value,
                    struct err *err);
/* Takes all lines for the name out of that file, likewise.  *ret_removed: there were any.
 * INVALID_ARGUMENT: a value goes on over several lines, which is for the user to change. */
bool variables_drop(const struct home *home, const char *name, bool *ret_removed,
                    struct err *err);
/* Whether a value has no such character, and is not empty. */
bool variables_is_plain(const char *value);
/* Whether a variable is of the user's own .env file. */
bool variables_is_users(const struct variables *variables, const char *name);

/* ---- .env -------------------------------------------------------------------- */

/* The text of a .env file.
 *
 *     NAME=value            # a comment
 *     export NAME = value
 *     NAME="two\nlines"     'as it is'     `as it is`     quotes may hold line ends
 *
 * As the npm package dotenv reads it, line by line: a line that is nothing of this is skipped, and
 * of two lines for one name the later one counts.
 */

/* Calls `take` for each assignment in order. `value` is NUL-terminated, borrowed, without its
 * quotes and with \n and \r of double quotes put in. Assignments with a byte 0 are left out. */
void env_file_parse(struct span text,
                          void (*take)(void *data, struct span name, const char *value),
                          void *data);

/* ---- Claude Code's settings (extensions_claude.c) ------------------------------------------ */

/* The hooks of a file of its settings, in the form that hooks_add takes; a new reference, {}
 * without any.  `project`: the folder that the file may not lead out of; NULL: it is the user's.
 * *ret_off: it disables all hooks.  Problems are appended to `problems` ({source, message}), and
 * unsupported parts to `unused` (sentences; or NULL).  Its other settings are ignored: permissions
 * come from hasp's own settings. */
json_t *settings_claude_hooks(const char *project, const char *path, json_t *problems,
                              json_t *unused, bool *ret_off);

#endif
