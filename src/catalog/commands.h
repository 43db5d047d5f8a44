/* SPDX-License-Identifier: Apache-2.0 */
/* Which custom commands there are: files whose text becomes a prompt when /NAME is typed.
 *
 *     commands_find(settings, true, is_built_in, &commands);
 *     command = commands_named(&commands, SPAN("git:fix"));
 *     file = commands_read(command, &err);
 *     commands_release(&commands);
 *
 * Gemini CLI's are TOML files of .gemini/commands, Claude Code's Markdown files of
 * .claude/commands; of both those of the user and, where the folder is trusted, of the project.
 * Extensions (config/extensions.h) have theirs in commands/, as Gemini CLI has them; plugins of
 * Claude Code have Markdown files, each PLUGIN:NAME, there or where they say.  A file's name
 * is its path from there, "/" being ":", and what is not a letter, digit, "_", "." or "-" being
 * "_".
 *
 * Names that are not free are told apart.  A built-in command keeps its own, and the file is
 * user.NAME or workspace.NAME; so are both where the user and the project have one.  An extension's
 * yields to every other, and to another extension's: it is EXTENSION.NAME then.  One of Claude
 * Code's whose name a file of Gemini CLI's has is claude.NAME.
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
/* The same for an extension in `folder` with this manifest (config/extensions.h). */
void commands_add_extension_names(const char *folder, const json_t *manifest, json_t *names);

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
