/* SPDX-License-Identifier: Apache-2.0 */
/* Custom commands: files whose text becomes the prompt when the user types /NAME.
 *
 *     commands_find(settings, true, is_built_in, &commands);
 *     command = commands_named(&commands, SPAN("git:fix"));
 *     file = commands_read(command, &err);
 *     commands_release(&commands);
 *
 * Gemini CLI keeps TOML files in .gemini/commands, Claude Code Markdown files in .claude/commands;
 * both are read from the home folder and, if it is trusted, from the project.  Extensions
 * (config/extensions.h) have TOML files in commands/; plugins of Claude Code have Markdown files
 * there, or where their manifest says, named PLUGIN:NAME.  A command's name is the file's path in
 * that folder with ":" for "/", and "_" for anything but letters, digits, "_", "." and "-".
 *
 * Conflicting names get a prefix.  A built-in command keeps its name, and the file's becomes
 * user.NAME or workspace.NAME; so do both if the user and the project have a command of that name.
 * An extension's command becomes EXTENSION.NAME if any other has its name, and one of Claude Code
 * becomes claude.NAME if one of Gemini CLI has.
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
	char *name;       /* owned; "git:fix" */
	char *path;       /* owned; absolute */
	char *root;       /* owned; the folder that it is beneath, in the sense of base/door.h */
	enum command_source source;
	char *extension;  /* owned; whose it is; NULL: no extension's */
};

struct custom_commands {
	struct custom_command *at; /* owned */
	size_t count, cap;
};

/* Whether a built-in command has this name. */
typedef bool command_name_taken(struct span name);

/* Looks for their files, which are not read yet; at most 1000 of each source, 8 folders deep.
 * `project`: those of the project may count (its files are this machine's).  Never fails: a folder
 * that cannot be read has none. */
void commands_find(const struct settings *settings, bool project,
                   command_name_taken *taken, struct custom_commands *ret);
void commands_release(struct custom_commands *commands);
/* Appends the names of a project's files of that source, whether or not it is trusted: for who
 * is asked about that. */
void commands_add_names(const char *project, enum command_source source, json_t *names);
/* Those of an extension in `folder` with this manifest (config/extensions.h), installed or not;
 * commands_release. */
void commands_in_extension(const char *folder, const json_t *manifest,
                           struct custom_commands *ret);

/* The one of this name, letters' cases aside; a Markdown file also by the last part of its name,
 * if no other has that.  Borrowed; NULL: there is none. */
const struct custom_command *commands_named(const struct custom_commands *commands,
                                                   struct span name);

/* Whether its file is Claude Code's. */
bool commands_is_markdown(const struct custom_command *command);
/* {"prompt": its text, "description"?, "argument-hint"?}; a new reference.  NULL with *err set:
 * INVALID_ARGUMENT (it is no TOML, has no prompt, or its front matter has no end),
 * OUTSIDE_WORKSPACE (a link leads out of its folder), TOO_LARGE (more than a megabyte),
 * FILE_NOT_FOUND, ... */
json_t *commands_read(const struct custom_command *command, struct err *err);

#endif
