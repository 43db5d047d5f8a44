/* SPDX-License-Identifier: Apache-2.0 */
/* What the handlers of commands share. Private to this folder. */
#ifndef HASP_TUI_COMMAND_PRIVATE_H
#define HASP_TUI_COMMAND_PRIVATE_H

#include "tui/command/command.h"

/* One run of a command. */
struct command_call {
	const struct command_context *context;
	const struct command_info *command;
	struct span arguments;         /* what is behind the name, trimmed */
	struct command_result *result;
};

typedef void command_handler(struct command_call *call);
/* Candidates for the last word of `arguments`, which begins with it or has it in it. */
struct command_completion {
	const struct command_context *context;
	struct span before;     /* the arguments before the word, trimmed */
	struct span word;
	void (*add)(struct command_completion *completion, const char *text, const char *note);
};
typedef void command_completer(struct command_completion *completion);

/* ---- words ----------------------------------------------------------------------- */

/* The first word of *text, which is moved behind it and what is blank; empty: there is none. */
struct span command_word(struct span *text);
/* Whether a word is this one, letters' cases aside. */
bool command_word_is(struct span word, const char *name);
/* Whether `text` has `part` in it, letters' cases aside; any has the empty one. */
bool command_has(struct span text, struct span part);

/* The first words of a foreign text, on one line; the caller frees. */
char *command_short_text(const char *text);

/* ---- answers --------------------------------------------------------------------- */

/* A line of the answer, in printf's manner, wrapped; what %s brings may be foreign. */
void command_say(struct command_call *call, struct style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A row of the answer as it is made; wrapped and taken. */
void command_row(struct command_call *call, struct row *row);
/* A foreign text of several lines. */
void command_text(struct command_call *call, struct style style, struct span text);
void command_heading(struct command_call *call, const char *text);
/* "  NAME  text": a term in a column of `width`, and what there is to say of it. */
void command_term(struct command_call *call, const char *name, unsigned width, struct span text,
                  struct style style);
/* The command fails with this sentence. */
void command_fail(struct command_call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* How the command is used. */
void command_usage(struct command_call *call);
/* What the front does then; takes `text`. A front that cannot gets a failure instead, and false is
 * returned. */
bool command_then(struct command_call *call, enum command_then then, char *text);
/* Adds a choice; takes `line`. */
void command_choice(struct command_call *call, struct span label, struct span note, char *line,
                    bool chosen);

/* ---- custom commands (custom.c) -------------------------------------------------- */

/* Whether a built-in command has this name. */
typedef bool custom_taken(struct span name);

/* Runs the custom command of this name, the call's arguments being what stood behind it. False:
 * there is none. */
bool custom_run(struct command_call *call, custom_taken *taken, struct span name,
                struct span line);
/* Whether there is one. */
bool custom_exists(const struct command_context *context, custom_taken *taken,
                   struct span name);
/* Calls `one` with each that can be read. */
void custom_each(const struct command_context *context, custom_taken *taken,
                 void (*one)(void *data, const char *name, const char *description), void *data);

/* ---- prompts of MCP servers (prompts.c): likewise -------------------------------- */

/* Runs the prompt of this name; false: there is none. */
bool prompts_run(struct command_call *call, custom_taken *taken, struct span name);
/* Of servers that have been asked, or are known from last time. */
bool prompts_exists(const struct command_context *context, custom_taken *taken,
                          struct span name);
/* Calls `one` with each. */
void prompts_each(const struct command_context *context, custom_taken *taken,
                        void (*one)(void *data, const char *name, const char *description),
                        void *data);

/* Offers the names of its arguments, "--NAME=". */
void prompts_complete(struct command_completion *completion, custom_taken *taken,
                      struct span name);
/* What its server can be asked about the argument at the end of `line`, whose arguments begin at
 * `at`; as command_asks_server. */
json_t *prompts_asks(const struct command_context *context, custom_taken *taken, struct span name,
                     struct span line, size_t at, size_t *ret_from);
/* Appends a value as it is typed. */
void prompts_put_value(struct buf *out, struct span value);

/* ---- handlers -------------------------------------------------------------------- */

/* show.c: what there is. */
command_handler command_about, command_bug, command_docs, command_directory, command_hooks,
	command_memory, command_policies, command_stats, command_tasks, command_todos,
	command_tools;
command_completer command_complete_memory, command_complete_policies, command_complete_stats,
	command_complete_tasks, command_complete_tools;
/* context.c: what is sent. */
command_handler command_context;
command_completer command_complete_context;
/* mcp.c: MCP servers. */
command_handler command_mcp;
command_completer command_complete_mcp;
bool command_mcp_works(struct span arguments); /* as command_row.works */
/* agents.c: agents. */
command_handler command_agents;
command_completer command_complete_agents;
/* skills.c: skills. */
command_handler command_skills;
command_completer command_complete_skills;
/* extensions.c: extensions. */
command_handler command_extensions;
command_completer command_complete_extensions;
bool command_extensions_works(struct span arguments); /* as command_row.works */
/* change.c: settings. */
command_handler command_auth, command_editor, command_model, command_permissions, command_settings,
	command_theme, command_vim;
command_completer command_complete_auth, command_complete_editor, command_complete_model,
	command_complete_permissions, command_complete_settings, command_complete_theme;
/* session.c: sessions. */
command_handler command_chat, command_clear;
command_completer command_complete_chat;
/* export.c: this session as a file. */
command_handler command_export;
/* back.c: ways back. */
command_handler command_restore, command_rewind;
command_completer command_complete_restore, command_complete_rewind;
/* talk.c: the conversation. */
command_handler command_compress, command_copy, command_init, command_plan;
command_completer command_complete_plan;

#endif
