/* SPDX-License-Identifier: Apache-2.0 */
/* What the handlers of commands share. Private to this folder. */
#ifndef HASP_FRONT_COMMAND_PRIVATE_H
#define HASP_FRONT_COMMAND_PRIVATE_H

#include "catalog/commands.h"
#include "catalog/names.h"
#include "front/command/command.h"

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
	/* One that is shown, and found, under another name: a session by its title. */
	void (*add_named)(struct command_completion *completion, const char *text,
	                  const char *name, const char *note);
};
typedef void command_completer(struct command_completion *completion);

/* ---- the table (table.c) --------------------------------------------------------- */

struct command_row {
	struct command_info is;
	command_handler *run;
	command_completer *complete; /* what a NAME in its forms can be; or NULL */
	/* Whether these arguments make it COMMAND_IDLE and COMMAND_SLOW; NULL: none do. */
	bool (*works)(struct span arguments);
};

extern const struct command_row command_rows[];
extern const size_t command_row_count;

/* A command of another agent's under its name there. */
struct command_elsewhere {
	const char *name;
	const char *line; /* what it is here, without the slash: "chat rename"; or NULL */
	const char *says; /* what to do instead, a sentence; where there is no line */
};

extern const struct command_elsewhere command_elsewhere[];
extern const size_t command_elsewhere_count;

/* ---- names (names.c) ------------------------------------------------------------- */

/* By name, alias, or the beginning of one name alone; NULL: none. */
const struct command_row *command_row_of(struct span name);
/* Whether it is one for this front. */
bool command_is_for(const struct command_context *context, const struct command_info *command);
/* Whether it is exactly this name or one of its aliases. */
bool command_row_is(const struct command_row *row, struct span name);
/* Whether a row has exactly this name and does not yield it to custom commands. */
bool command_name_taken_by_row(struct span name);
const struct command_elsewhere *command_elsewhere_at(size_t i); /* NULL behind the last */
const struct command_elsewhere *command_elsewhere_of(struct span name); /* NULL: none */
/* The name of a command that was most likely meant: a row's, another agent's, or one of `more`,
 * an array of texts; NULL: none is near. Borrowed. */
const char *command_nearest(struct span name, const json_t *more);

/* ---- forms (form.c) ------------------------------------------------------------ */

/* Whether arguments have one of the forms; no arguments always do, and NULL takes none. */
bool forms_take(const struct command_form *forms, struct span arguments);
/* Offers the literal words that may stand where the caret is.  Whether a NAME may stand there. */
bool forms_complete(const struct command_form *forms, struct command_completion *completion);
/* Appends a form as it is shown: "enable NAME". */
void form_print(const struct command_form *form, struct buf *out);
/* The command fails with how it is used: "Usage: /agents [list | enable NAME]". */
void command_usage(struct command_call *call);

/* ---- help (help.c) ------------------------------------------------------------- */

/* Says what another agent's command is here; fails where it is none. */
void help_elsewhere(struct command_call *call, const struct command_elsewhere *one);
/* Fails for an unknown name, with the nearest one. */
void help_unknown(struct command_call *call, struct span name);

/* ---- words ----------------------------------------------------------------------- */

/* The first word of *text, which is moved behind it and what is blank; empty: there is none. */
struct span command_word(struct span *text);
/* Whether a word is this one, letters' cases aside. */
bool command_word_is(struct span word, const char *name);
/* Whether `text` has `part` in it, letters' cases aside; any has the empty one. */
bool command_has(struct span text, struct span part);

/* Of a moment as session_local_time prints it. */
enum { COMMAND_TIME_BYTES = 32 };
/* The first words of a foreign text, on one line; the caller frees. */
char *command_short_text(const char *text);

/* The value of a setting as one types it: a text without its quotes, secrets masked (`variables`:
 * the user's, whose values are secrets; or NULL); the caller frees. */
char *command_setting_text(const char *key, const json_t *value, char *const *variables);

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
/* What the front does then; takes `text`. A front that cannot gets a failure instead, and false is
 * returned. */
bool command_then(struct command_call *call, enum command_then then, char *text);
/* How many commands in the background would end with the session; 0 without one. */
size_t command_jobs_running(struct command_call *call);
/* The model is asked `text`, of which people are shown `line` alone, later, too; takes both. */
void command_ask(struct command_call *call, char *text, char *line);
/* Adds a choice; takes `line`. */
void command_choice(struct command_call *call, struct span label, struct span note, char *line,
                    bool chosen);

/* ---- what files and servers offer (offers.c) -------------------------------------- */

/* One custom command, skill, or prompt of a server. */
struct slash_offer {
	char *name;         /* owned; without its owner */
	char *owner;        /* owned; "user", "project", an extension, a server */
	const char *kind;   /* static; as catalog_name.kind, or NULL */
	enum catalog_rank of;
	const char *called; /* borrowed from the offers: what is shown and typed; NULL: another has
	                     * every name of it */
	char *about, *from; /* owned; for people; of a custom command NULL until
	                     * custom_offer_describe */
	const struct custom_command *custom; /* borrowed from the offers; NULL: it is none */
	char *target;       /* owned; a skill's name; NULL: it is none */
	json_t *prompt;     /* owned; a server's; NULL: it is none */
	void (*run)(struct command_call *call, const struct slash_offer *offer, struct span line);
	size_t place;       /* of one rank, the first comes first */
};

struct slash_offers {
	struct slash_offer *at;      /* owned; in the order of their ranks */
	size_t count, cap;
	struct catalog_name *names;  /* owned; theirs */
	struct custom_commands customs;
};

/* Puts them into their order, and names them: once all are there. */
void offers_name(struct slash_offers *offers);
/* Frees all of it. */
void offers_release(struct slash_offers *offers);
/* Takes what `offer` has. */
void offer_add(struct slash_offers *offers, const struct slash_offer *offer);
/* The one of this name; NULL: none. *ret_several (may be NULL): those that could be meant, "a:fix,
 * b:fix", for the caller to free; untouched otherwise. */
const struct slash_offer *offer_find(const struct slash_offers *offers, struct span name,
                                     char **ret_several);

/* ---- the same of all that is there (brought.c) ------------------------------------ */

/* `from`: where it comes from, for people ("~/.gemini/commands/x.toml"). */
typedef void offer_one(void *data, const char *name, const char *description, const char *from);
/* Calls `one` with each that can be read and has a name. */
void brought_each(const struct command_context *context, offer_one *one, void *data);
/* What has this name: nothing, a file of the user's (or several have it), or a prompt of a
 * server. */
enum brought_kind { BROUGHT_NONE, BROUGHT_FILE, BROUGHT_PROMPT };
enum brought_kind brought_kind_of(const struct command_context *context, struct span name);
/* The server's prompt of this name, a new reference; NULL: there is none. */
json_t *brought_prompt(const struct command_context *context, struct span name);
/* Runs what has this name; where several have it, the call fails and names them. False: nothing
 * has. */
bool brought_run(struct command_call *call, struct span name, struct span line);

/* ---- what each kind adds (custom.c, skills.c, prompts.c) -------------------------- */

/* Those that there are now; their files are not read yet. */
void custom_offers_add(const struct command_context *context, struct slash_offers *offers);
/* Reads what it says of itself; false: its file cannot be read. */
bool custom_offer_describe(const struct command_context *context, struct slash_offer *offer);
/* Skills that the user may call. */
void skill_offers_add(const struct command_context *context, struct slash_offers *offers);
/* Prompts of servers that have been asked, or are known from last time. */
void prompt_offers_add(const struct command_context *context, bool wait,
                       struct slash_offers *offers);
/* An agent has done what /NAME asks for: the model gets its report, and passes it on. */
void command_send_report(struct command_call *call, const char *name, struct span report);

/* Offers the names of its arguments, "--NAME=". */
void prompts_complete(struct command_completion *completion, const json_t *prompt);
/* What its server can be asked about the argument at the end of `line`, whose arguments begin at
 * `at`; as command_asks_server. */
json_t *prompts_asks(const json_t *prompt, struct span line, size_t at, size_t *ret_from);
/* Appends a value as it is typed. */
void prompts_put_value(struct buf *out, struct span value);

/* ---- handlers -------------------------------------------------------------------- */

/* help.c: the commands themselves. */
command_handler command_help;
command_completer command_complete_help;
/* show.c: what there is. */
command_handler command_hooks, command_memory, command_stats,
	command_tasks, command_todos, command_tools;
command_completer command_complete_hooks, command_complete_tasks;
/* folders.c: the folders of the workspace. */
command_handler command_directory;
bool command_directory_works(struct span arguments); /* as command_row.works */
/* status.c: how it stands. */
command_handler command_about, command_bug, command_docs, command_doctor;
command_completer command_complete_docs;
/* context.c: what is sent. */
command_handler command_context;
/* mcp.c: MCP servers. */
command_handler command_mcp;
command_completer command_complete_mcp;
bool command_mcp_works(struct span arguments); /* as command_row.works */
/* agents.c: agents. */
command_handler command_agents;
command_completer command_complete_agents;
/* ide.c: the terminal's editor. */
command_handler command_ide;
command_handler command_share;
bool command_share_works(struct span arguments); /* as command_row.works */
command_handler command_web;
bool command_ide_works(struct span arguments); /* as command_row.works */
/* skills.c: skills. */
command_handler command_skills;
command_completer command_complete_skills;
/* extensions.c: extensions. */
command_handler command_extensions;
command_completer command_complete_extensions;
bool command_extensions_works(struct span arguments); /* as command_row.works */
/* change.c: settings. */
command_handler command_auth, command_editor, command_logout, command_settings,
	command_theme, command_vim;
command_completer command_complete_auth, command_complete_editor, command_complete_settings,
	command_complete_theme;
/* permissions.c: what runs without a question. */
command_handler command_permissions, command_policies;
bool command_permissions_works(struct span arguments); /* as command_row.works */
/* models.c: the model. */
command_handler command_model;
command_completer command_complete_model;
/* session.c: sessions. */
command_handler command_chat, command_clear, command_fork;
command_completer command_complete_chat;
/* export.c: this session as a file. */
command_handler command_export;
/* back.c: ways back. */
command_handler command_restore, command_rewind;
command_completer command_complete_restore, command_complete_rewind;
/* talk.c: the conversation. */
command_handler command_compress, command_copy, command_init, command_plan, command_quit,
	command_shortcuts;
/* changes.c: what is not committed. */
command_handler command_diff, command_review;

#endif
