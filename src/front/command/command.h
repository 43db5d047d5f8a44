/* SPDX-License-Identifier: Apache-2.0 */
/* Slash commands: a table, a row each, for every front (the terminal, `hasp -p "/stats"`).
 *
 *     struct command_context context = { .host = host, .settings = settings, ... };
 *     struct command_result result;
 *     if (command_is(line)) {                       // "/NAME ...", not "/usr/bin/x" nor "//text"
 *             command_run(&context, line, &result);
 *             ... print result.rows, then do what result.then says ...
 *             command_result_release(&result);
 *     }
 *
 * A command does what it does to the session and its files, and returns the rest as data: rows to
 * print, and one thing for the front to do.  A front says which of these things it can
 * (context.can); a command whose thing it cannot do is refused with a sentence.
 *
 * Threads: command_run uses the host like host_prompt does, on the same thread or while that is
 * idle; a command that is COMMAND_IDLE is refused while context.busy.  Those that ask the model
 * or open a session take their time (COMMAND_SLOW): a front with a screen runs them on the
 * thread of prompts, where host_interrupt reaches them.
 *
 * Custom commands, Gemini CLI's TOML files in ~/.gemini/commands and, of a trusted project,
 * .gemini/commands, run like the others: their !{...} as calls of run_shell_command with all that
 * belongs to those (policy, question, hooks), on the thread of prompts.
 *
 * Skills are commands too, behind those: /NAME is a call of activate_skill, with all that belongs
 * to it, and what it returns is the prompt.
 *
 * What a row says of a command may depend on its arguments: /mcp list runs at any time, /mcp reload
 * is COMMAND_IDLE and COMMAND_SLOW.
 *
 * Prompts of MCP servers are commands too, behind all others: they are COMMAND_SLOW.
 *
 * To add a command: a row in the table of table.c with its forms and its handler; the check of
 * arguments, help and completion follow from the row.  What other agents call it, and what they
 * have and hasp has not, is in the second table there.
 *
 * docs/gemini-cli.md has a table of Gemini CLI's commands that are not here, and why;
 * test/tui/app/test_commands.py checks that each is here or there.
 */
#ifndef HASP_FRONT_COMMAND_COMMAND_H
#define HASP_FRONT_COMMAND_COMMAND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/host/host.h"
#include "base/buf.h"
#include "base/span.h"
#include "config/settings.h"
#include "tui/text/rows.h"

struct ide;

/* What a front does when it has printed the rows. */
enum command_then {
	COMMAND_NOTHING,
	COMMAND_SEND,      /* `text` is sent as a prompt (host_prompt) */
	COMMAND_COMPOSE,   /* `text` goes into the composer; the conversation may be another */
	COMMAND_CHOOSE,    /* one of `choices` is picked, and its line is run as a command */
	COMMAND_COPY,      /* `text` goes to the clipboard */
	COMMAND_REFRESH,   /* the conversation is another: show its messages instead. With `text`:
	                    * it goes into the composer */
	COMMAND_THEME,     /* ui.theme has changed: `text` is its name */
	COMMAND_VIM,       /* general.vimMode has changed: context.settings has it */
	COMMAND_SHORTCUTS, /* show the keys */
	COMMAND_REOPEN,    /* the session is closed, and opened again with the settings as they are
	                    * then, and with the folders in `text`, a line each, or NULL, in the
	                    * workspace; then `shown` is said */
	COMMAND_QUIT,      /* with `text`: the session is deleted */
	COMMAND_KEY,       /* ask for a key of a model's provider: `text` is its name, "" is any */
	COMMAND_EDIT,      /* have the plan at `text` edited and written back, and tell the model */
	COMMAND_BROWSE,    /* show the sessions (sessions_browse): the chosen one is opened by
	                    * "/chat resume ID", and deleted by "/chat delete ID" */
};

struct command_choice {
	char *label, *note; /* owned; foreign text; note "" without */
	char *line;         /* owned; the command that picks it */
	char *other;        /* owned; the command of the second key; or NULL */
	bool chosen;        /* it is so now */
	bool marked;        /* likewise, of something else in the list */
};

struct command_result {
	bool ok;                /* false: the rows say what was wrong */
	struct rows rows;
	enum command_then then;
	char *text;             /* owned; or NULL */
	char *shown;            /* owned; of COMMAND_SEND: what the user sees of it; NULL: all; of
	                         * COMMAND_REOPEN */
	bool plain;             /* of COMMAND_SEND: an @ in the text names no file; it goes to
	                         * host_prompt as if piped in */
	struct command_choice *choices; /* owned */
	size_t choice_count, choice_cap;
	const char *question;   /* what is chosen; static, or NULL */
	bool searches;          /* the choices are many: what is typed filters them */
	bool previews;          /* COMMAND_THEME is shown while it is selected */
	char other_letter;      /* with Ctrl, the second key of choices; 0: there is none */
	const char *other_help; /* what it does, behind "Ctrl+S to"; static */
	json_t *changes;        /* owned; [{"path", "action", "diff"?}] (checkpoints_preview): of
	                         * COMMAND_CHOOSE what there is to look at before, else what is
	                         * shown beneath the rows; or NULL */
	bool shows_changes;     /* of COMMAND_CHOOSE: `changes` are shown beneath the rows, too */
	bool other;             /* of COMMAND_REFRESH: another session, whose figures start at 0 */
	bool clears;            /* of COMMAND_REFRESH: it begins on an empty screen */
	bool pager;             /* the rows are long: show them by the page, if that can be */
};
/* Frees its rows, texts, choices and changes. */
void command_result_release(struct command_result *result);

/* The web front of this process, of the one who has it (cli/): what /web and /share need. */
struct command_web {
	/* Starts it, if it does not run.  *ret: a link for the owner that works once, for the
	 * caller to free; *ret_fingerprint: of its certificate, borrowed, or NULL. Errors of
	 * web_start. */
	bool (*open)(void *data, char **ret, const char **ret_fingerprint, struct err *err);
	void (*close)(void *data);
	/* A link for one person, likewise; errors of web_invite. */
	bool (*share)(void *data, const char *name, const char *role, char **ret, struct err *err);
	bool (*revoke)(void *data, const char *which, struct err *err); /* errors of web_revoke */
	/* Appends a line for each person who was invited. False: it does not run. */
	bool (*people)(void *data, struct buf *out);
	void *data;
};

struct command_context {
	struct host *host;          /* NULL: there is no session (yet) */
	struct settings *settings;  /* changed by /settings, /theme, ... */
	unsigned width;             /* of rows; 0: as long as their text */
	unsigned can;               /* bits 1u << enum command_then: what the front can do */
	bool busy;                  /* a prompt is under way */
	bool waits;                 /* for servers that are starting, before a command is refused */
	bool local;                 /* the workspace is this machine's: files can be written */
	const char *const *themes;  /* names, NULL-terminated; or NULL */
	const char *sandbox;        /* a sentence about the confinement, for /about; or NULL */
	/* The front is no terminal, and what it serves knows the session by its ID, which stays:
	 * COMMAND_TERMINAL rows are refused, and not offered. */
	bool embedded;
	struct ide *ide;            /* the terminal's editor (ide/ide.h); NULL: it has none */
	const struct command_web *web; /* NULL: this front starts none */
};

enum {
	COMMAND_IDLE = 1, /* not while a prompt is under way */
	COMMAND_SLOW = 2, /* asks the model, or opens a session */
	COMMAND_ALONE = 4, /* needs no session: can be run where none could be opened */
	COMMAND_YIELDS = 8, /* a custom command of this name takes its place */
	COMMAND_TERMINAL = 16, /* about a terminal, or puts another session in the place of this */
};

/* By what they are for: how /help lists them. */
enum command_group {
	COMMAND_OF_TALK,
	COMMAND_OF_FILES,
	COMMAND_OF_MODEL,
	COMMAND_OF_PERMISSIONS,
	COMMAND_OF_TOOLS,
	COMMAND_OF_TERMINAL,
	COMMAND_OF_STATUS,
};

/* One way to use a command: what may stand behind its name, as form.c reads it ("disable NAME
 * [--scope user|workspace]"), and what that does. Arguments that have none of the forms are refused
 * with the usage line, which is made of them, as are /help NAME and completion. */
struct command_form {
	const char *words;
	const char *help; /* without its dot; NULL: the form is taken, and not shown */
};

struct command_info {
	const char *name;
	const char *aliases;   /* "new reset"; "" without */
	const struct command_form *forms; /* the last has no words; NULL: no arguments */
	const char *help;      /* a sentence without its dot */
	enum command_group group;
	unsigned flags;
};

/* Whether a prompt looks like a command line: "/NAME", or "?" alone; not a path that is there, but
 * for built-in names.  A custom command with such a name ("/run") is found by command_exists. */
bool command_is(struct span line);
/* Row `i` of the table, in the order of its names; NULL behind the last. */
const struct command_info *command_at(size_t i);
/* Of a line ("/chat list"), by name, alias, another agent's name for it ("/rename"), or the
 * beginning of one name alone; NULL: none. */
const struct command_info *command_of(struct span line);
/* Appends the ways to use it that are shown ("list | resume NAME"), without its name. */
void command_print_forms(const struct command_info *command, struct buf *out);
/* Whether there is a command of exactly this name, a custom one too; of the context only settings
 * and `local` are looked at. */
bool command_exists(const struct command_context *context, struct span line);
/* Whether running it takes its time: a row that is COMMAND_SLOW, or a prompt of an MCP server. */
bool command_is_slow(const struct command_context *context, struct span line);
/* Whether it must wait until what is under way (`busy`) has ended: a row that is COMMAND_IDLE, a
 * custom command, or a prompt of an MCP server. What would be refused does not wait. */
bool command_waits(const struct command_context *context, struct span line);
/* Fills *result in any case. */
void command_run(const struct command_context *context, struct span line,
                 struct command_result *result);

/* Offers what may stand at the caret of a line that begins with "/": `offer` is called for each
 * candidate, best first, with the bytes [from, to) of the line that it replaces.  At most
 * COMMAND_CANDIDATES_MAX. */
enum { COMMAND_CANDIDATES_MAX = 200 };
typedef void command_offer(void *data, size_t from, size_t to, struct span text, struct span label,
                           struct span note);
void command_complete(const struct command_context *context, struct span line, size_t caret,
                      command_offer *offer, void *data);
/* All commands that a front may offer, built-in and custom ones, skills, and prompts of MCP
 * servers: [{"name", "description", "hint"?}], a new reference. */
json_t *command_list(const struct command_context *context);

/* ---- menus of fronts ---- */

/* What /permissions mode, /model and /model effort choose from, for a front that shows menus:
 * [{"value", "name", "help"?}], a new reference.  Modes that are permitted, by policy_mode_name;
 * models that the kept lists have (model_offers_kept), and the one that answers. */
json_t *command_menu_modes(const struct command_context *context);
json_t *command_menu_models(const struct command_context *context);
json_t *command_menu_efforts(void);
/* The effort that was chosen in this session; static. */
const char *command_effort(const struct command_context *context);
/* Chooses one, from the next prompt on. INVALID_ARGUMENT: unknown. */
bool command_set_effort(const struct command_context *context, const char *name, struct err *err);

/* ---- */

/* What an MCP server can say may stand at the caret, of a line that is one of its prompts:
 * {"server", "params"} for host_server_complete, which answers with values; the bytes from
 * *ret_from up to the caret are the one that is being typed. A new reference; NULL: nothing. */
json_t *command_asks_server(const struct command_context *context, struct span line, size_t caret,
                            size_t *ret_from);
/* Appends such a value as it is typed: in quotes where it needs them. */
void command_put_value(struct buf *out, struct span value);

#endif
