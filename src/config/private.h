/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what settings, variables and the files that keep them share. */
#ifndef HASP_CONFIG_PRIVATE_H
#define HASP_CONFIG_PRIVATE_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/file.h"
#include "config/authority.h"
#include "config/extensions.h"
#include "config/home.h"
#include "config/settings.h"

/* ---- what a struct settings is ---- */

/* What one file says. */
struct scope {
	char *path;            /* NULL: this scope has no file */
	const char *project;   /* borrowed; the folder that the file may not lead out of. NULL: it
	                        * is the user's or the system's, whose links are followed */
	struct file_text text; /* as it stands there */
	json_t *lines;         /* where its members begin (jsonc_lines); NULL: it has no text */
	json_t *value;         /* without what does not count; NULL: nothing */
	json_t *moved;         /* new path -> old path in the text */
	unsigned repeated_line; /* of the first member that repeats a name; 0: none does */
	char *more_path;       /* the user's mcp-settings.json, whether it is there or not; or
	                        * NULL */
	json_t *more;          /* {name: true} of its servers that count; or NULL */
};

struct settings {
	struct home *home;
	struct variables *variables;
	struct scope scopes[SCOPE_COUNT];
	json_t *merged;
	json_t *warnings; /* sentences */
	json_t *allowed;  /* what the user allows this project (authority.h); NULL: nothing */
	json_t *unusable; /* [{name, message}]: settings that restrict and cannot be used */
	json_t *withheld; /* what the project says and does not count until it is allowed:
	                   * settings.h */
	bool skip_trust, ignore_env_files; /* of the options */
	json_t *extension_names; /* of the options: extensions that count alone; NULL: as enabled */
	json_t *extensions_switched; /* {NAME: bool}: for this session alone; NULL: none; with the
	                              * lock */
	struct extensions *extensions;   /* NULL: not looked for yet; with the lock */
	void (*extensions_free)(struct extensions *extensions); /* of those */
	pthread_mutex_t extensions_lock;
	bool project_is_home;
	bool trusted, trust_unknown;
};

/* Reads a scope's file and understands old names. INVALID_ARGUMENT: with path and place. */
bool scope_read(struct scope *scope, struct err *err);
/* Adds the servers of more_path, {"mcpServers": {...}}; those of the scope's own file take
 * precedence.  Errors as above. */
bool scope_read_servers(struct scope *scope, struct err *err);
void scope_release(struct scope *scope);
/* The file that has the value at this path. Borrowed. */
const char *scope_file(const struct scope *scope, const char *path);
/* The line of a path in the scope's file; 0: it is not there. */
unsigned scope_line(const struct scope *scope, const char *path);

/* Removes from the scope's value the settings that it may not contain and those of a wrong type;
 * `warnings` gets a sentence about each, and about unknown keys.  Settings that the user could
 * allow the project go to settings->withheld. */
void scope_check(struct settings *settings, struct scope *scope, enum settings_scope kind,
                 json_t *warnings);

/* How much of a project's value counts by itself: all of it, nothing, or, of a list of paths,
 * some. */
enum permission { PERMITTED_NOT, PERMITTED_ALL, PERMITTED_SOME };
/* SOME: *ret_rest is what does not count, which is an array, and *ret_part the rest of the
 * value. */
enum permission authority_permits(enum authority authority, const char *project,
                                  const json_t *value, json_t **ret_part, json_t **ret_rest);

/* `value` of a file of the scope with variables put in; a new reference. */
json_t *settings_expand(struct settings *settings, enum settings_scope scope, const json_t *value);

/* All scopes laid over each other. */
json_t *settings_merge(const struct settings *settings);

/* ---- variables --------------------------------------------------------------- */

/* Which .env file counts depends on settings that are known by then. */

struct variables_options {
	const struct home *home;
	bool trusted;           /* the project folder */
	bool all_trusted;       /* every folder is: settings switch folders' trust off */
	bool ignore_env_files;  /* those of the project that are called .env */
	const json_t *excluded; /* names that project files do not set; an array or NULL */
	const json_t *allowed;  /* what the user allows the project (authority.h); NULL: nothing */
	json_t *withheld;       /* gets what could be allowed (settings.h); NULL: not needed */
	json_t *warnings;       /* gets a sentence about a file that cannot be read */
};

/* What trustedFolders.json alone says of a folder; errors as of trust_of. */
enum trust trust_by_rules(const struct home *home, const char *folder, struct err *err);

/* Reads the .env files that count. Never NULL: what cannot be read is a warning. */
struct variables *variables_open(const struct variables_options *options);
void variables_free(struct variables *variables); /* NULL is fine */

/* Returns a new reference to `value` with $VAR, ${VAR} and ${VAR:-default} expanded in all strings;
 * variables that are not set are left as they are.  Strings are not expanded once earlier ones have
 * used up LIMIT_EXPANDED_BYTES.  `own`: the value is the user's or the administrator's, so of a
 * project's .env only keys and values that the user has allowed are used; `warnings` (may be NULL)
 * gets a sentence about each of the others. */
json_t *variables_expand_json(const struct variables *variables, const json_t *value, bool own,
                              json_t *warnings);
/* The same for other programs' files, where "$NAME" without braces is no variable. */
json_t *variables_expand_braces(const struct variables *variables, const json_t *value, bool own,
                                json_t *warnings);

/* The same for extensions: as the user's value, but variables in `more`, {NAME: text} (NULL: none),
 * take precedence. */
json_t *variables_expand_more(const struct variables *variables, const json_t *value,
                              const json_t *more, json_t *warnings);

/* ---- members at dotted paths ("tools.shell.pager") of JSON objects ---- */

/* Borrowed; NULL if there is none. */
json_t *config_path_get(const json_t *object, const char *path);
/* Takes `value`. Objects on the way are made; something on the way that is none is replaced by
 * one. */
void config_path_set(json_t *object, const char *path, json_t *value);
void config_path_delete(json_t *object, const char *path);

/* ---- manifests of extensions (extensions_manifest.c) ------------------------------------- */

enum {
	EXTENSION_DEPTH = 64,     /* of JSON in an extension's files */
	EXTENSION_NAME_MAX = 100, /* of Gemini CLI's */
	PLUGIN_NAME_MAX = 64,
	PLUGIN_SERVERS_MAX = 1000,
};

/* A manifest that is being read. */
struct manifest_reading {
	const char *folder; /* absolute: the extension's */
	const char *path;   /* of the manifest */
	json_t *problems;   /* sentences: what is wrong with it; or NULL */
	json_t *parts;      /* gets what gemini-extension.json has no member for (extensions.h) */
	json_t *unused;     /* sentences: what hasp does not use of it */
	json_t *lost;       /* [{event, what}]: hooks that hasp does not use and that could refuse
	                     * something; or NULL */
	bool codex;         /* its servers have Codex' members, too */
};

/* Adds a sentence about the file; at most ERR_MESSAGE_MAX bytes. */
void config_problem(const struct manifest_reading *reading, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds what hasp does not use, each once. */
void config_unused(const struct manifest_reading *reading, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A file of an extension, as JSON, a new reference. NULL without *err: there is none. */
json_t *config_json(const char *folder, const char *path, struct err *err);

/* The readers of the formats besides Gemini CLI's (extensions_claude.c, _portable.c): a new object
 * in the form of gemini-extension.json, with reading->parts filled in; NULL with *err. */
json_t *config_claude_read(const struct manifest_reading *reading, const json_t *said,
                           struct err *err);
/* Codex', which has Claude Code's hooks and servers (extensions_codex.c). */
json_t *config_codex_read(const struct manifest_reading *reading, const json_t *said,
                          struct err *err);

/* Adds what the entry of a server says in Codex' members (bearer_token_env_var, ...), in the form
 * of mcpServers; variables of the user's as ${NAME}. (extensions_codex.c) */
void config_codex_put(json_t *entry, const json_t *said);
/* Whether it is one of those. */
bool config_codex_member(const char *member);
/* Hooks as Claude Code's files have them, in the form of settings; a new object. */
json_t *config_claude_hooks(const char *folder, const char *path, const json_t *said);
/* Settings that a manifest names, {KEY: {"title", "description", "sensitive", "default"}}, as those
 * of an extension. */
void config_plugin_options(const struct manifest_reading *reading, json_t *manifest,
                           const char *member, const json_t *said);
/* MCP bundles' (extensions_bundle.c). */
json_t *config_bundle_read(const struct manifest_reading *reading, const json_t *said,
                           struct err *err);

/* For these (extensions_plugins.c): */
/* 1 to 64 letters, digits, "-", "_" and ".", the first and last one of the first two. */
bool config_plugin_name_is_fine(const char *name);
/* Whether something of that name is in the plugin's folder. */
bool config_plugin_has(const struct manifest_reading *reading, const char *name);
/* The places of a part, to be appended to; borrowed. */
json_t *config_plugin_part(const struct manifest_reading *reading, enum extension_part part);
/* A new manifest with what each has, without servers; the name has been checked. */
json_t *config_plugin_begin(const struct manifest_reading *reading, const json_t *said);

/* A server as Claude Code's files have it, in the form of mcpServers, but for "oauth"; a new
 * object. Variables stay as they are. */
json_t *config_claude_entry(const json_t *said);
/* Whether something of this computer is run for an entry of mcpServers: a program, or one that
 * makes header fields. */
bool config_entry_runs(const json_t *entry);
/* Gives an entry whose variables were put in the headersHelper that it had before (`said`): its
 * shell puts them in, and knows those of commands alone. */
void config_keep_helper(json_t *entry, const json_t *said);

struct extension;

/* `value` with ${NAME} replaced in its strings where `names` has the text NAME; a new reference. */
json_t *config_put_names(const json_t *value, const json_t *names);

/* ---- plugins of other programs, where they are used (extensions_plugins.c) ------------------ */

/* Where a plugin keeps what outlasts its updates; the caller frees. */
char *config_plugin_data(const struct home *home, const char *name);
/* {NAME: text} of what ${NAME} stands for in its servers and hooks; a new reference. */
json_t *config_plugin_names(const struct settings *settings, const struct extension *extension);
/* Adds what its programs find in their environment. */
void config_plugin_environment(const struct extension *extension, json_t *env);
/* Puts names and variables into the servers of extension->manifest. */
void config_plugin_expand(const struct settings *settings, struct extension *extension,
                          json_t *warnings);

#endif
