/* SPDX-License-Identifier: Apache-2.0 */
/* The MCP servers that configuration files name: hasp's and other programs'.
 *
 *     json_auto_t *warnings = json_array();
 *     json_auto_t *rows = servers_configured(settings, warnings);
 *
 * In this order; of two servers with one name the first counts, and the others are "off":
 *
 *     mcpServers of the settings    as Gemini CLI has them
 *     ~/.claude.json                Claude Code's: mcpServers of the project's entry in
 *                                   `projects`, then those for all (hasp.servers.claude)
 *     ~/.codex/config.toml          Codex's: [mcp_servers.NAME] (hasp.servers.codex)
 *     extensions                    mcpServers of the manifests of those that count
 *                                   (extensions.h), without "trust" and "sandbox"
 *     .mcp.json of the project      in a trusted folder alone, and each server only after the
 *                                   user was asked about it (hasp.servers.mcpJson)
 *     .codex/config.toml there      likewise (hasp.servers.codex)
 *
 * CLAUDE_CONFIG_DIR and CODEX_HOME move the files as they do for these programs.  A project's
 * server comes last, so that none takes the name of one of the user's, whose rules would be obeyed
 * for it.
 *
 * Every entry comes out as mcpServers has it.  Of foreign files only members with an equivalent are
 * taken: none of them brings trust, or a wider sandbox.  An entry of the settings with neither a
 * program nor an address adds its members (`sandbox`, `timeout`, ...) to the foreign server of its
 * name.
 *
 * Sources: code.claude.com/docs, "Connect Claude Code to tools via MCP", "Settings";
 * developers.openai.com/codex, "Model Context Protocol", "Configuration Reference".
 *
 * Not here: what an entry means (mcp/client), which are disabled (home.h).
 */
#ifndef HASP_CONFIG_SERVERS_H
#define HASP_CONFIG_SERVERS_H

#include <jansson.h>
#include <stdbool.h>

#include "config/settings.h"

/* All of them: an array of {"name", "entry", "origin": "user settings", "Claude Code", ..., "file":
 * a path or null}, a new reference; "foreign" (true): not of the settings.  Of one that does not
 * count also "off": why, the end of a sentence; "quiet" (true) if the user knows that anyway.  Of
 * one that a project names and the user has not allowed also "asks": what it would run or contact,
 * for a question: as it stands in the file, without control characters; and "refused" (true) if
 * the user said no to it.  Sentences about what cannot be read are appended to `warnings`. */
json_t *servers_configured(const struct settings *settings, json_t *warnings);

/* Whether it is of a file that the user alone writes: neither a project's, an extension's nor an
 * agent's. */
bool servers_row_is_users(const json_t *row);
/* Writes down what the user says to a server of a file of the project's as it is in the row: it is
 * used, or it is not, and not asked about again either way until it changes. */
bool servers_decide(const struct settings *settings, const json_t *row, bool use, struct err *err);

/* The MCP servers of an agent's own, {NAME: entry} as its file has them: Gemini CLI's members
 * ("http_url", "include_tools", "auth", ...), Claude Code's, and those of mcpServers; as rows of
 * servers_configured, a new reference.  One whose name a server of the session has is "off", used
 * or not: no rule about that one is obeyed for a stranger.  None of them brings trust, and only
 * the user's (`own`) a sandbox. */
json_t *servers_of_agent(const struct settings *settings, const json_t *said, const char *file,
                         bool own, json_t *warnings);
/* What such an entry would run or contact, for a question, as "asks" above. The caller frees; NULL:
 * it is too long to be asked about. */
char *servers_agent_question(const json_t *said);
/* The same for a server of a project's file: of `entry`, in the form that mcpServers has, which is
 * what is obeyed; `said`: what its file says, without values of variables. */
char *servers_project_question(const json_t *entry, const json_t *said);

/* The name of one of Codex's env_vars: a string, or the member of an object. Borrowed. */
const json_t *servers_codex_variable(const json_t *variable);
/* Where an entry that mcpServers could have leads to; NULL: it is a program. Borrowed. */
const json_t *servers_entry_address(const json_t *entry);
/* Why a member of mcpServers cannot be a server of this name, a sentence; NULL: it can be one. */
const char *servers_entry_problem(const char *name, const json_t *entry);
/* Whether a name can stand in a sentence and in a tool's name, as these programs make them. */
bool servers_name_is_fine(const char *name);
/* Whether both are the same name, as Gemini CLI compares servers' names in mcp.allowed,
 * mcp.excluded and its file of disabled ones: without regard to case and blanks around them. */
bool servers_same_name(const char *a, const char *b);
/* Whether the array of names (or NULL) has this one, compared so. */
bool servers_list_has(const json_t *names, const char *name);

#endif
