/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands share: how a run ends, a workspace opened as the command line says, a command
 * in the foreground. */
#ifndef HASP_CLI_COMMAND_PRIVATE_H
#define HASP_CLI_COMMAND_PRIVATE_H

#include "config/extensions.h"
#include "agent/agent.h"
#include "agent/setup/prepare.h"
#include "base/cancel.h"
#include "base/err.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/agent_output.h"
#include "front/confinement.h"
#include "front/session.h"
#include "policy/policy.h"
#include "worker/environment.h"
#include "worker/local.h"
#include "worker/provider.h"

/* ---- exit codes -------------------------------------------------------------- */

/* Exit codes of a headless run: Gemini CLI's, and 56: there is an answer, but the run
 * lacked a permission and had no way to ask for it; 57: there is an answer, but the session
 * could not be recorded whole. */

enum agent_exit {
#define AGENT_EXIT_ENUM(symbol, code, type, sentence, meaning) AGENT_EXIT_##symbol = code,
	AGENT_EXIT_TABLE(AGENT_EXIT_ENUM)
#undef AGENT_EXIT_ENUM
};

/* The error's type in JSON output; NULL for OK. */
const char *cli_agent_exit_type(enum agent_exit code);
/* What the code means, as the man page has it; "" for a code that is not in the table. */
const char *cli_agent_exit_sentence(enum agent_exit code);
/* The exit code of an end; `err` if the agent failed, else NULL. */
enum agent_exit cli_agent_exit_of(enum agent_end end, const struct err *err);

/* ---- the input of a run (agent_input.c) ---------------------------------------- */

/* Flags and the prompt of a run of the agent: by --prompt, by words, on standard input.
 *
 *     struct agent_input input = AGENT_INPUT_INIT;
 *
 *     if (!agent_input_check_flags(invocation, &exit_code, &err)) ...
 *     if (!agent_input_read(invocation, &input, &err)) ...
 *     buf_release(&input.text);
 */

/* Longest text taken from standard input; as Gemini CLI's. */
#define AGENT_INPUT_BYTES_MAX ((size_t)8 << 20)

struct agent_input {
	struct buf text;  /* all of it; the caller releases */
	size_t piped_len; /* bytes at its start that were piped in, before the user's words */
};

#define AGENT_INPUT_INIT { .text = BUF_INIT(AGENT_INPUT_BYTES_MAX + (1 << 20)) }

/* Reads the prompt into an empty *ret: what is on standard input (piped_has_input), an empty line,
 * and --prompt or the words. Empty when there is nothing; what is on standard input alone is what
 * the user says. TOO_LARGE. IO_ERROR. */
bool agent_input_read(const struct invocation *invocation, struct agent_input *ret,
                      struct err *err);
/* The words of the command line, with blanks between them; the caller frees; NULL: none. */
char *agent_input_words(const struct invocation *invocation);
/* What the user says, without what was piped in. Borrowed. */
struct span agent_input_said(const struct agent_input *input);
/* False: flags exclude each other, or hasp does not have one of Gemini CLI's; *ret_code is how the
 * run ends then. INVALID_ARGUMENT. */
bool agent_input_check_flags(const struct invocation *invocation, enum agent_exit *ret_code,
                             struct err *err);
/* --output-format, else the setting output.format (NULL settings: there are none yet), else
 * text. */
enum agent_format agent_input_format(const struct invocation *invocation,
                                     const struct settings *settings);
/* The values of a flag that takes lists, split at commas: texts, a new array. Commas in parentheses
 * do not separate: "glob,run_shell_command(a, b)" is two values. */
json_t *agent_input_list(const struct invocation *invocation, enum flag_id id);

/* ---- settings of extensions (extension_settings.c) ------------------------------ */

/* Whether each --setting (NAME=VALUE, or NAME for the value of its variable) is one of the
 * manifest's. INVALID_ARGUMENT. */
bool cli_extension_settings_check(const struct invocation *invocation, const json_t *manifest,
                                  struct err *err);
/* After the extension of this manifest was installed: sets what --setting says, asks for the others
 * on a terminal, and prints which have no value.  Errors as of extension_value_set; the extension
 * stays. */
bool cli_extension_settings_fill_in(const struct invocation *invocation,
                                    struct settings *settings, const json_t *manifest,
                                    struct err *err);
/* Appends a line for each setting that has no value. */
void cli_extension_unset_put(struct buf *out, const struct extension *extension,
                             const json_t *manifest);
/* Appends all settings with their values; secrets are not shown. */
void cli_extension_settings_put(struct buf *out, const struct extension *extension);
/* Sets the one that `word` names (its name, variable or key) to a line of standard input; an empty
 * one removes the value.  INVALID_ARGUMENT: there is no such setting, or no line. */
bool cli_extension_setting_change(const struct extension *extension, const char *word,
                                  struct err *err);

/* ---- what the flags ask for (agent_request.c) ----------------------------------- */

/* A session's request as the flags of a run have it; what is its front's own (interactive, notices,
 * the cancel) is for the front to add. */
struct agent_request {
	const struct invocation *invocation;
	struct session_request session;
	const char *resume;               /* of session_open; or NULL */
	json_t *overrides, *extensions, *include, *policies, *admin_policies; /* owned */
	const char **policy_files, **admin_files; /* owned arrays */
	char *replayed;                   /* owned */
};

/* Reads the flags; `ret` must stay where it is, as the request points to it. */
void agent_request_read(const struct invocation *invocation, struct agent_request *ret);
void agent_request_release(struct agent_request *request);
/* How a run ends whose session could not be loaded or opened. */
enum agent_exit agent_request_exit(const struct front_session *session, const struct err *err);

/* ---- the program without a command, but for a headless run ----------------------- */

/* Whether there is a terminal and no prompt: the interactive agent is wanted. */
bool agent_terminal_wanted(const struct invocation *invocation);
/* The interactive agent, until the user quits (agent_terminal.c). The exit code, as of the next. */
int agent_terminal_run(const struct invocation *invocation);

/* ---- signals ----------------------------------------------------------------- */

/* Signals of a headless run and of hasp tool: the first SIGINT, SIGTERM or SIGHUP cancels, and
 * the program cleans up; a second one ends it immediately, as does the end of the time for cleaning
 * up. */

/* `cancel` must live as long as the program. */
void agent_signals_install(struct cancel *cancel);
/* The time for it, in place of AGENT_END_SECONDS; it is brought between 1 and
 * AGENT_END_SECONDS_MAX. */
void agent_signals_limit(long long seconds);
enum { AGENT_END_SECONDS = 30, AGENT_END_SECONDS_MAX = 600 };
/* The signal that came first; 0: none. */
int agent_signal(void);
/* Ends the program by that signal, when all is put in order: who started it sees by which.
 * Returns if none came. */
void agent_signal_die(void);

/* ---- hooks around calls that no agent makes (hooked_calls.c) ---- */

struct command_hooks;
/* The value of --answer-tokens; *ret stays as it is without that flag. INVALID_ARGUMENT. */
bool command_answer_tokens(const struct invocation *invocation, size_t *ret, struct err *err);

/* Those of the user, and of the project (--root, else the current folder) as far as they are
 * trusted; what is wrong with them is printed. `cancel` is borrowed, or NULL. FILE_NOT_FOUND, and
 * the errors of settings_load. */
bool command_hooks_open(const struct invocation *invocation, const struct cancel *cancel,
                        struct command_hooks **ret, struct err *err);
void command_hooks_close(struct command_hooks *all); /* NULL is fine */
/* As before and after of call_hooks (tool/tool.h), for a call of `session`; `data` is the struct
 * command_hooks. From any thread. */
json_t *command_hooks_before(void *data, struct session *session, const struct tool *tool,
                             json_t **arguments, bool *ask);
void command_hooks_after(void *data, struct session *session, const struct tool *tool,
                         const json_t *arguments, json_t **result);
/* Warns of each problem in files of hooks ({message} each), on standard error. */
void command_hooks_problems(const json_t *problems);

/* ---- servers (serve_token.c, a2a_command.c) ----------------------------------- */

/* Where a token came from. */
enum token_source {
	TOKEN_NEW,         /* made for this start, to be printed */
	TOKEN_ENVIRONMENT, /* the variable */
	TOKEN_FILE,        /* read from the file */
	TOKEN_FILE_NEW,    /* made, and written to the file, which did not exist */
};
/* The bearer token of a server; the caller frees *ret.  `file` (may be NULL) is preferred to
 * `given` (may be NULL), which is the value of the environment's `variable`.  PERMISSION_DENIED:
 * others than its owner can read the file.  INVALID_ARGUMENT: a token that cannot stand in a
 * header: it has 16 to 512 of the characters that RFC 6750 allows. */
bool command_token(const char *file, const char *variable, const char *given, char **ret,
                   enum token_source *ret_source, struct err *err);
/* `hasp serve a2a`, until a signal ends it. The exit code. */
int command_serve_a2a(const struct invocation *invocation);

/* ---- words ------------------------------------------------------------------- */

/* A command line as words, without a shell.
 *
 *     ssh -p 2222 "my host" hasp worker        -> ssh, -p, 2222, my host, hasp, worker
 *     ["ssh", "my host", "hasp worker"]        -> the strings of a JSON array
 *
 * Words end at blanks (space, tab, newline).  Within '...' everything is itself; within "..." a
 * backslash keeps the special meaning of " and \ away; outside of quotes a backslash does so for
 * any character.  Nothing else means anything: no variables, globs, pipes, comments.
 */

/* Splits a command line into words. *ret is NULL-terminated and has at least one word; free it with
 * command_words_free. INVALID_ARGUMENT: an unclosed quote, no word, or an array with other values
 * than strings. */
bool command_words_split(const char *text, char ***ret, struct err *err);
void command_words_free(char **words); /* NULL is fine */

/* ---- variables of a command -------------------------------------------------- */

/* The environment of a command that a person runs with `hasp sandbox`.
 *
 *   safe    the person's own, without what looks like a secret and is not known to be none
 *   keep    all of it
 *   clean   what commands of models get
 *
 * What looks like a secret, and what commands of models get, is in worker/environment.h.  This
 * keeps secrets from leaking by accident; it is not a boundary.
 */

struct child_env {
	const char **vars;     /* owned array, NULL-terminated; the strings are borrowed */
	const char **withheld; /* owned array of borrowed NAME=VALUE */
	size_t withheld_count;
	char **clean;          /* owned; what `vars` points to, if it was made */
};

/* `which`: NULL is "safe". `from`: what to choose from; borrowed until the release. */
void command_child_env_make(const char *which, const char *const *from,
                            const struct environment_options *options, struct child_env *ret);
void command_child_env_release(struct child_env *env);
#define _cleanup_child_env_ __attribute__((cleanup(command_child_env_release)))

/* ---- projects ---------------------------------------------------------------- */

/* The project's folder (--root, or the current one), and its settings with --skip-trust.
 * *ret_project is the caller's to free, also on failure. FILE_NOT_FOUND; settings_load's errors. */
bool command_open_project(const struct invocation *invocation, char **ret_project,
                          struct settings **ret_settings, struct err *err);

/* What settings say of calls that no agent of hasp makes: those of the project (--root, or the
 * current folder), or of the user alone where work is done elsewhere (`local` is false). *ret is
 * NULL if there are none. INVALID_ARGUMENT: a file is wrong, or a value that restricts. */
bool command_call_settings(const struct invocation *invocation, bool local, struct settings **ret,
                           struct err *err);

/* ---- MCP servers ------------------------------------------------------------- */

/* hasp mcp add, remove, enable, disable NAME; mcp_change.c. The exit code. */
int mcp_change_run(const struct invocation *invocation, struct settings *settings);
/* Why a server of the project's files does not count yet, and what changes that: a sentence for the
 * caller to free. NULL: they name no such server, or it counts as far as its settings say. */
char *mcp_change_waits(const struct settings *settings, const char *name);

/* ---- providers --------------------------------------------------------------- */

/* Opening a workspace as the command line says: where, and how confined.
 *
 *     struct confinement confinement;
 *     if (!confinement_read(invocation, &confinement, &err)) ...
 *     confinement.options.roots = roots; confinement.options.root_count = count;
 *     ok = confinement_open(&confinement, &provider, &err);
 *     confinement_release(&confinement);          // the provider does not need it any more
 *
 * The flags are those of SANDBOX_FLAGS in options.c, and --durability.
 */

/* What the flags and HASP_SANDBOX say. INVALID_ARGUMENT. */
bool confinement_read(const struct invocation *invocation, struct confinement *ret,
                      struct err *err);
/* The level, out of these and of what the user or the administrator require (prepare_level), and
 * what they forbid (prepare_syscalls) and rules on paths keep (prepare_kept_of): for commands that
 * have read no settings, and need no project's; and where work runs, unless `invocation` is NULL (a
 * worker is where it is). INVALID_ARGUMENT: a file is wrong. */
bool confinement_settle(const struct invocation *invocation, struct confinement *confinement,
                        struct err *err);
/* The folders that --root names; none: the place's own, if it has one.  With room for one more; the
 * caller frees the array. */
const char **confinement_roots(const struct invocation *invocation,
                               const struct confinement *confinement, size_t *ret_count);
/* All of it for commands without settings of a project: the provider of the folders that --root
 * names, or of the current one. */
bool confinement_open_roots(const struct invocation *invocation, struct provider **ret,
                            struct err *err);

/* Sentences for the model: the level requested or available on this machine, and what it allows.
 * The caller frees. */
char *confinement_sentences(const struct confinement *confinement);
/* "not confined (level paths): WHY ..." to standard error, where that is so. */
void confinement_warn(struct provider *provider);

/* ---- a command in the foreground ------------------------------------------------ */

/* Runs a command in the foreground, for the user: input, output, signals, window size.
 *
 *     struct attended attended;
 *     attend_signals();                     // before there are threads
 *     ... open a provider ...
 *     if (attend(provider, &request, ATTEND_HANDED_OVER, &attended, &err)) ...
 *     attend_release(&attended);
 *
 * Signals that a person or a shell sends to hasp (interrupt, quit, terminate, hang-up, stop and
 * continue, change of the window) are passed on to the command's process group; hasp itself
 * goes on until the command has ended.
 */

enum attend_how {
	ATTEND_HANDED_OVER, /* the command has hasp's own descriptors 0, 1 and 2 */
	ATTEND_COPIED,      /* they are copied to and from the command's pipes */
	ATTEND_TERMINAL,    /* they are copied to and from a terminal of the command's own */
};

struct attended {
	struct run_end end;
	struct denial *denials; /* owned; each different one once, with its count */
	size_t denial_count;
	bool interrupted;       /* by the interrupt key, or a SIGINT */
	bool output_lost;       /* COPIED, TERMINAL: what it wrote could not be written */
	/* What it wrote may look, on a terminal, like something that hasp says: it has hasp's name,
	 * moves the cursor, or has letters that are not ASCII.  True where hasp did not see it
	 * (HANDED_OVER). */
	bool misleading;
	bool line_open;         /* what it wrote did not end with a newline; HANDED_OVER: false */
};

/* Blocks the signals that attend waits for: all threads started later block them too. */
void attend_signals(void);

/* `request` says what to run; where its input and output go is added to it. False: it
 * was not started. */
bool attend_run(struct provider *provider, const struct run_request *request, enum attend_how how,
                struct attended *ret, struct err *err);
void attend_release(struct attended *attended);

/* What a shell calls the exit status of a command that ended so: its exit code, 128 and the
 * signal's number, 124 for time, 125 when it was lost. */
int attend_exit_code(const struct attended *attended);

/* ---- lists of plugins (extensions_command.c) -------------------------------------------- */

/* ---- a rule of hasp policy allow, ask, deny and remove, in words (policy_words.c) ---- */

struct rule_words {
	struct policy_written written;      /* borrows the strings below */
	char *tool, *prefix, *path, *folder; /* owned */
	bool removes;                        /* `written` is removed; set by the caller */
};

/* Reads the words after the action, where `written.decision` and `removes` are set: `word` and
 * `args` of the command line, or `path`; NULL: not given.  INVALID_ARGUMENT: no rule can be about
 * that, and what does it instead.  The caller releases *ret in any case. */
bool policy_words_read(const char *word, const char *args, const char *path, struct rule_words *ret,
                     struct err *err);
void policy_words_release(struct rule_words *words);

#endif
