/* SPDX-License-Identifier: Apache-2.0 */
/* Custom commands: files whose text becomes the prompt when the user types /NAME.
 *
 *     commands_find(settings, true, &commands);
 *     file = commands_read(&commands.at[0], &err);
 *     commands_release(&commands);
 *
 * Gemini CLI keeps TOML files in .gemini/commands, Claude Code Markdown files in .claude/commands;
 * both are read from the home folder and, if it is trusted, from the project.  Extensions
 * (config/extensions.h) have TOML files in commands/; plugins of Claude Code have Markdown files
 * there, or where their manifest says.  A command's name is the file's path in
 * that folder with ":" for "/", and "_" for anything but letters, digits, "_", "." and "-".
 *
 * Who has a name that several have: catalog/names.h.
 *
 * Reference: Gemini CLI 0.61 (custom commands), Claude Code 2.1 (slash commands).
 */
#ifndef HASP_CATALOG_COMMANDS_H
#define HASP_CATALOG_COMMANDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/span.h"
#include "catalog/names.h"
#include "config/settings.h"

/* In the order in which they are listed. */
enum command_source {
	COMMANDS_USER,
	COMMANDS_PROJECT,
	COMMANDS_CLAUDE_USER,
	COMMANDS_CLAUDE_PROJECT,
	COMMANDS_EXTENSION,
	COMMANDS_PLUGIN, /* an extension's that is a plugin of Claude Code */
	COMMANDS_SOURCES,
};

struct custom_command {
	char *name;       /* owned; "git:fix", without whose it is */
	char *path;       /* owned; absolute */
	char *root;       /* owned; the folder that it is beneath, in the sense of base/door.h */
	enum command_source source;
	char *extension;  /* owned; whose it is; NULL: no extension's */
};

struct custom_commands {
	struct custom_command *at; /* owned */
	size_t count, cap;
};

/* Looks for their files, which are not read yet; 8 folders deep.  Of one owner, Gemini CLI's come
 * before Claude Code's.  `project`: those of the project may count (its files are this machine's).
 * Never fails: a folder that cannot be read has none. */
void commands_find(const struct settings *settings, bool project, struct custom_commands *ret);
void commands_release(struct custom_commands *commands);
/* Appends the names of a project's files of that source, whether or not it is trusted: for who
 * is asked about that. */
void commands_add_names(const char *project, enum command_source source, json_t *names);
/* Those of an extension in `folder` with this manifest (config/extensions.h), installed or not;
 * commands_release. */
void commands_in_extension(const char *folder, const json_t *manifest,
                           struct custom_commands *ret);

/* Whose it is, for its names (catalog/names.h); the owner is borrowed. */
const char *command_owner(const struct custom_command *command);
enum catalog_rank command_rank(const struct custom_command *command);

/* Whether its file is Claude Code's. */
bool commands_is_markdown(const struct custom_command *command);
/* {"prompt": its text, "description"?, "argument-hint"?, "arguments"? (names), "allowed-tools"?
 * (words; never an extension's), "model"? (as --model has it), "agent"? (whose task it is)}; a new
 * reference.  NULL with *err set:
 * INVALID_ARGUMENT (it is no TOML, has no prompt, or its front matter has no end),
 * OUTSIDE_WORKSPACE (a link leads out of its folder), TOO_LARGE (more than a megabyte),
 * FILE_NOT_FOUND, ... */
json_t *commands_read(const struct custom_command *command, struct err *err);

#endif
