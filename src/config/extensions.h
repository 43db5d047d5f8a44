/* SPDX-License-Identifier: Apache-2.0 */
/* Installed extensions, in Gemini CLI's format and place.
 *
 *     ~/.gemini/hasp-extensions.json              the files that the user has approved
 *     ~/.gemini/extensions/
 *         extension-enablement.json               where each one is enabled
 *         NAME/gemini-extension.json              the manifest
 *         NAME/.gemini-extension-install.json     where it came from
 *         NAME/.env                               what the user set of its settings
 *
 *     const struct extensions *all = extensions_installed(settings);
 *     for (size_t i = 0; i < all->count; i++)
 *             if (extension_counts(&all->at[i])) ...
 *
 * Apart from the manifest an extension may have commands/, skills/, agents/, policies/,
 * hooks/hooks.json and files of instructions.  They are read by the same code as the user's own
 * (catalog/, agent/setup/, agent/prompt/), rooted in the extension's folder.
 *
 * In strings of the manifest and of the hooks, ${extensionPath}, ${workspacePath}, ${/} and
 * ${pathSeparator} are replaced first; then $NAME, ${NAME} and ${NAME:-default}, by the user's
 * values of the extension's settings, else by variables as in the user's settings.json.
 *
 * An extension was written by a third party and installed by the user.  Its settings have the
 * priority of the user's, but cannot grant trust or widen the sandbox, its policies can only forbid
 * or ask, and hooks in a linked folder must be trusted like a project's
 * (agent/setup/policy_load.c).  An extension that is broken, or whose folder others may write, is
 * skipped and the reason reported.
 *
 * Reference: Gemini CLI 0.61 (extension manager, extension enablement).
 * Not here: installing and removing them (install/).
 */
#ifndef HASP_CONFIG_EXTENSIONS_H
#define HASP_CONFIG_EXTENSIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "config/settings.h"

#define EXTENSION_MANIFEST "gemini-extension.json"
#define EXTENSION_ORIGIN ".gemini-extension-install.json"

struct extension {
	char *name;       /* owned, as all texts here; letters, digits and "-" */
	char *version;    /* one line, as it may be shown */
	char *folder;     /* canonical: where its files are */
	char *installed;  /* canonical: what ~/.gemini/extensions has of it; another folder only
	                   * where it is linked */
	char *entry;      /* the name of that in ~/.gemini/extensions, where it may be a link of the
	                   * user's */
	json_t *manifest; /* owned; an object, variables in it replaced: not to be shown, as values
	                   * may be secrets */
	json_t *origin;   /* owned; {"source", "type", ...}; NULL: not known */
	json_t *values;   /* owned; {VARIABLE: text}: what the user set of its settings */
	bool enabled;     /* in this project */
	char *off;        /* why it does not count although it is enabled, a sentence: its files
	                   * have changed since the user said yes to them; NULL */
	char *data;       /* of a plugin: the folder that its programs may keep files in; NULL */
};

struct extensions {
	struct extension *at; /* owned; in the order of their folders' names */
	size_t count, cap;
	json_t *themes;       /* owned; {"NAME (EXTENSION)": as in ui.customThemes} of those that
	                       * count */
	json_t *notices;      /* owned; sentences: what was left out, and why */
	struct extensions *before; /* owned; what extensions_renew has replaced; or NULL */
};

/* Those of these settings, which are looked for by the first call; empty if admin or settings
 * switch extensions off. Never NULL; borrowed, until settings_free.  From any thread. */
const struct extensions *extensions_installed(const struct settings *settings);
/* Reloads them.  Borrowed pointers stay valid until settings_free.  May be called from any
 * thread. */
void extensions_renew(struct settings *settings);
/* By its name, letters' cases aside, or by its source; NULL: none. */
const struct extension *extension_named(const struct extensions *extensions, const char *name);
/* Whether what it brings is used. */
bool extension_counts(const struct extension *extension);
/* The sentence that it is not used, with the reason; the caller frees.  NULL: it is not off. */
char *extension_off_sentence(const struct extension *extension);

/* ---- what one brings ----------------------------------------------------------------- */

/* Absolute paths of its files of instructions, those that there are: contextFileName, else
 * GEMINI.md. A new reference. */
json_t *extension_contexts(const struct extension *extension);
/* The object of its hooks as settings have it under "hooks", variables replaced, and with the
 * values of the extension's settings as variables of each hook; a new reference.  NULL: it has
 * none; with *err, they cannot be read. */
json_t *extension_hooks(const struct settings *settings, const struct extension *extension,
                        struct err *err);
/* excludeTools of the extensions that count: {NAME: [..]}, a new reference. */
json_t *extensions_exclusions(const struct settings *settings);
/* tools.exclude of the settings and of all extensions that count: an array, a new reference. */
json_t *extensions_excluded_tools(const struct settings *settings);
/* The folder of plans that the first one names which has any (as general.plan.directory, where the
 * settings say nothing); NULL: none does. Borrowed. */
const char *extensions_plan_folder(const struct settings *settings);
/* What the user set of a setting of the extension, out of a .env file or the key store.  The caller
 * frees; NULL: nothing. */
char *extension_value(const struct extension *extension, const char *variable, bool secret);
/* Sets it, or with NULL takes it away: a secret in the key store, others in the extension's .env.
 * INVALID_ARGUMENT: a value of several lines, or one that no .env file can hold; FILE_NOT_FOUND: no
 * key store answers. */
bool extension_value_set(const struct extension *extension, const char *variable, bool secret,
                         const char *value, struct err *err);

/* ---- a manifest (extensions_formats.c, _manifest.c, _plugins.c) --------------------------- */

enum extension_format {
	EXTENSION_GEMINI,   /* gemini-extension.json */
	EXTENSION_CLAUDE,   /* .claude-plugin/plugin.json: a plugin of Claude Code */
	EXTENSION_PORTABLE, /* plugin.json: Agent Plugins 1.0 */
	EXTENSION_CODEX,    /* .codex-plugin/plugin.json: a plugin of Codex */
	EXTENSION_BUNDLE,   /* manifest.json: an MCP bundle (.mcpb) */
	EXTENSION_FORMATS,  /* as an argument: whichever comes first in this order */
};

/* The parts of an extension that are files in its folder. */
enum extension_part {
	EXTENSION_COMMANDS, /* TOML; Claude Code's are Markdown */
	EXTENSION_SKILLS,
	EXTENSION_AGENTS,
	EXTENSION_POLICIES,
	EXTENSION_PARTS,
};

/* Reads the manifest of a folder as it stands, of whichever format; a new reference, in the form of
 * gemini-extension.json, with a member for the functions beneath. NULL with *err: there is none
 * (FILE_NOT_FOUND), it is not JSON, or has no name (of Gemini CLI's: no version) that counts.  What
 * else is wrong is appended to `problems`, sentences (or NULL), and is left out. */
json_t *extension_manifest_read(const char *folder, json_t *problems, struct err *err);
/* The same of the format `wanted`, if the folder has its manifest; else of any. The former takes
 * the one by which the folder was installed ("format" of its origin). */
json_t *extension_manifest_read_as(const char *folder, enum extension_format wanted,
                                   json_t *problems, struct err *err);
/* Whether a folder has a manifest, of whatever kind and content. */
bool extension_is_in(const char *folder);
/* Whether it has that of a format. */
bool extension_has_format(const char *folder, enum extension_format format);
/* The word for a format in an origin ("claude"), and the format that an origin names;
 * EXTENSION_FORMATS: none. */
const char *extension_format_word(enum extension_format format);
enum extension_format extension_origin_format(const json_t *origin);
/* That there is no manifest in a folder, which is `shown` in the sentence, with the manifest of
 * another program that is there; the caller frees. */
char *extension_absent_sentence(const char *folder, const char *shown);
/* Whether it has none, but what plugins of Claude Code have, which need none: then its manifest is
 * read as one that gives the folder's name. */
bool extension_is_bare(const char *folder);

/* In which one a manifest that was read was written. */
enum extension_format extension_format(const json_t *manifest);
/* For people: "Claude Code plugin". */
const char *extension_format_title(const json_t *manifest);
/* The manifest's file, relative to the extension's folder. */
const char *extension_manifest_file(const json_t *manifest);
/* The name of the folder that usually has it: "commands". */
const char *extension_part_name(enum extension_part part);
/* Where its files are: paths of folders or single files, relative to the extension's folder, which
 * need not be there; "" is that folder. An array, borrowed. */
const json_t *extension_part(const json_t *manifest, enum extension_part part);
/* What it has that hasp does not use: phrases, each of one line. An array, borrowed. */
const json_t *extension_unused(const json_t *manifest);
/* What is wrong with the manifest and what it names, and is left out: sentences that begin with a
 * path. An array, borrowed. */
const json_t *extension_problems(const json_t *manifest);
/* Its hooks as settings have them under "hooks", but for variables; a new reference.  NULL: it has
 * none; with *err, they cannot be read. */
json_t *extension_hooks_said(const char *folder, const json_t *manifest, struct err *err);
/* A sentence about a hooks.json at the top of the folder, which is not read unless the manifest
 * names it: for the caller to free. NULL: none. */
char *extension_hooks_stray(const char *folder, const json_t *manifest);
/* The text of a command, skill or agent of an extension in `folder`, where a plugin of Claude Code
 * may name that folder; the caller frees. */
char *extension_text(enum extension_format format, const char *folder, struct span text);
/* Makes extension->data, if there is one; its path, for the caller to free.  NULL: none,
 * or it cannot be made. */
char *extension_data_make(const struct extension *extension);
/* The origin of an installed folder, likewise; NULL: none that can be read. */
json_t *extension_origin_read(const char *folder);

/* Why settings forbid an extension of this origin ({"source", "type"}), the end of a sentence;
 * NULL: they do not. */
const char *extension_forbidden(const struct settings *settings, const json_t *origin);
/* Whether it can be an extension's name. NULL cannot. */
bool extension_name_is_fine(const char *name);
/* A text of an extension as one line that does not act on a terminal; the caller frees. */
char *extension_line(struct span text);

/* ---- where they are enabled (extensions_enabled.c) ------------------------------------- */

/* The whole file, {NAME: {"overrides": ["/folder/" or "/folder/" with "*" after it, "!..." for
 * disabled]}}: a new reference; {} if there is none. With *err when it cannot be read. */
json_t *extensions_enablement(const struct home *home, struct err *err);
/* Whether its rules enable the extension in a folder; the last rule that fits decides, and without
 * any it is enabled. */
bool extension_enabled_in(const json_t *enablement, const char *name, const char *folder);
/* Writes a rule for the folder and all beneath it: atomic, under a lock; other extensions' rules
 * stay. */
bool extension_enable_in(const struct home *home, const char *name, const char *folder, bool enable,
                         struct err *err);
/* Switches an extension on or off for "user" (the home folder and all beneath it), "workspace" or
 * "project", or "session": for these settings, and what settings_load_again makes of them.  NULL:
 * for the user, and where that is not enough in this project, for that too.
 * extensions_installed says so after extensions_renew.  *ret_sentence, which the caller frees, says
 * what was done. INVALID_ARGUMENT: another scope; errors as of extension_enable_in. */
bool extension_switch(struct settings *settings, const struct extension *extension,
                      const char *scope, bool enable, char **ret_sentence, struct err *err);
/* Forgets all rules of an extension. */
bool extension_enablement_forget(const struct home *home, const char *name, struct err *err);

/* ---- which files the user has said yes to (extensions_consent.c) ------------------------ */

/* ~/.gemini/hasp-extensions.json, of what hasp installed:
 *
 *     { NAME: { "content": SHA256, "looks": SHA256, "brings": lines, "files"?: {PATH: digest} },
 *       ... }
 *
 * "content" is the digest of all files, folders and links of the extension, without what is the
 * user's (.env, .git, .gemini-extension-install.json at its top); "looks" that of their times and
 * numbers: as long as it holds, they need not be read; "files", where they are not too many, is for
 * people alone.  One that Gemini CLI installed is not in it,
 * and counts as that has asked.
 */

struct sha256;

/* The whole file, a new reference; {} if there is none. With *err when it cannot be read. */
json_t *extension_consents(const struct home *home, struct err *err);
/* Whether the files are those; true also where nothing is known of the extension. */
bool extension_consent_holds(const struct home *home, const json_t *consents, const char *name,
                             const char *folder);
/* Whether others than the user and root may write something in the extension's folder: a sentence,
 * the caller frees; NULL: they may not. */
char *extension_others_may_write(const char *folder);
/* Who may have written what a program of an extension is, when it is started: {"consents", "name",
 * "folder"}, a new reference; NULL: it is linked. */
json_t *extension_watch(const struct settings *settings, const struct extension *extension);
/* Whether its files are still those that the user said yes to.  DENIED_BY_POLICY: they are not, or
 * others may write them. */
bool extension_watch_holds(const json_t *watch, struct err *err);
/* Writes down that the user said yes to the files in `folder`, and to what they bring. */
bool extension_consent_record(const struct home *home, const char *name, const char *folder,
                              const char *brings, struct err *err);
/* The changed, new and removed files of `folder` since then, for display: a line for each such as
 * "  changed: PATH"; the caller frees.  "": not known. */
char *extension_changed_files(const struct home *home, const char *name, const char *folder);
/* Whether the variable steers programs or hasp itself (BASH_ENV, LD_PRELOAD, PATH, GIT_SSH, ...),
 * and so is no setting of an extension. */
bool extension_variable_steers(const char *variable);
bool extension_consent_forget(const struct home *home, const char *name, struct err *err);
/* The digest of an extension's files, as above. Errors as of tree_hash. */
bool extension_content_hash(const char *folder, struct sha256 *ret, struct err *err);

/* ~/.gemini/extensions; the caller frees. */
char *extensions_folder(const struct home *home);

#endif
