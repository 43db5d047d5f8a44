/* SPDX-License-Identifier: Apache-2.0 */
/* Marketplaces: lists of plugins and extensions with their sources.
 *
 *     if (!market_keep(home, "https://github.com/me/plugins", NULL, &name, &err)) ...
 *     plugin = market_plugin("notes@plugins", home, &err);
 *
 * Three formats are read: Claude Code's .claude-plugin/marketplace.json, Codex'
 * .agents/plugins/marketplace.json, and the array of Gemini CLI's gallery
 * (https://geminicli.com/extensions.json).  A marketplace is a folder, a file, the https address of
 * a file (ending in ".json"), or a git repository.
 *
 * The user's marketplaces are in ~/.gemini/hasp-marketplaces.json, {NAME: {"source", "ref"?}}.
 * Those of Claude Code (~/.claude/plugins/known_marketplaces.json) have lower priority.  A project
 * cannot add any.
 *
 * Lists are untrusted: texts are made safe for a terminal and truncated, names must be ASCII, paths
 * must stay inside the marketplace, and an entry that breaks a rule is skipped and reported.  Only
 * the location of a plugin is taken from the list; its contents are examined once they have been
 * fetched (install.h).
 *
 * Reference: code.claude.com, "Marketplace reference" (November 2026); developers.openai.com/codex,
 * "Build plugins"; Gemini CLI 0.61, ExtensionRegistryClient.
 */
#ifndef HASP_INSTALL_MARKET_H
#define HASP_INSTALL_MARKET_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "config/settings.h"

/* {NAME: {"source", "ref"?, "keptBy": "hasp" or "Claude Code"}} of those that are kept; a new
 * reference.  What cannot be read is a sentence in `notices`. */
json_t *markets_kept(const struct home *home, json_t *notices);
/* Reads a list and saves its source under its name; the caller frees *ret_name.
 * `ref`: a branch, tag or commit of a repository, or NULL.  FILE_NOT_FOUND: no list found;
 * INVALID_ARGUMENT: not a marketplace or not a source, or a marketplace of that name exists;
 * NETWORK_ERROR; TOO_LARGE. */
bool market_keep(const struct home *home, const char *word, const char *ref, char **ret_name,
                 struct err *err);
/* Forgets one. INVALID_ARGUMENT: hasp keeps none of that name. */
bool market_forget(const struct home *home, const char *name, struct err *err);

/* For people: an array, a new reference, of the marketplace that `word` names or where it is, or,
 * with NULL, of all that are kept: {"name", "source": a line, "kept": a bool, "error": a sentence,
 * or "format", "notices", "plugins": [{"name", "version", "description", "from", "problem"?,
 * "installed": the version that the user has of it, or "taken": the name of an extension that is
 * installed and did not come from there}]}. */
json_t *market_explore(const char *word, const struct settings *settings, json_t *notices);

/* Whether the word is PLUGIN@MARKETPLACE, and no path of something. */
bool market_is_plugin(const char *word);
/* The plugin that such a word names; a new reference. NULL with *err: there is none, or hasp cannot
 * install it; errors as of market_keep. */
json_t *market_plugin(const char *word, const struct home *home, struct err *err);

#endif
