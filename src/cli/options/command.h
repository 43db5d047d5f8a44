/* SPDX-License-Identifier: Apache-2.0 */
/* The table of sub-commands and flags, from which everything else follows.
 *
 * Parsing, --help, the man page and the completion scripts are computed from these rows; nothing
 * about a flag is written down twice.  The command line, checked against them, is in invocation.h.
 *
 * To add a flag:
 *   1. an entry in enum flag_id
 *   2. a row in the flags of its command in options.c
 *   3. the handler asks invocation_has() or invocation_value()
 *   4. a test in test/cli/, a line in docs/tool-command.md
 * To add a sub-command: a row in options.c, a handler in its own file, declared in
 * cli/command/commands.h, and a row in the handlers of cli/main.c.
 */
#ifndef HASP_CLI_OPTIONS_COMMAND_H
#define HASP_CLI_OPTIONS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "tool/tool.h"

/* ---- tables ------------------------------------------------------------------ */

enum flag_id {
	FLAG_HELP,
	FLAG_VERSION,
	FLAG_MAN_PAGE,
	FLAG_ARG,
	FLAG_ROOT,
	FLAG_JSON,
	FLAG_LOGOUT,
	FLAG_PRETTY,
	FLAG_COLOR,
	FLAG_DURABILITY,
	FLAG_LIST,
	FLAG_SCHEMA,
	FLAG_HTTP,
	FLAG_TOKEN_FILE,
	FLAG_NO_TOKEN,
	FLAG_HOOKS,
	FLAG_ALLOW_ORIGIN,
	FLAG_ALLOW_HOST,
	FLAG_TOOLS,
	FLAG_EXCLUDE_TOOLS,
	FLAG_TOOL_NAME,
	FLAG_TOOL_PREFIX,
	FLAG_READ_ONLY,
	FLAG_CONFIRM,
	FLAG_RETURN_CONTENT,
	FLAG_ANSWER_TOKENS,
	FLAG_OUTPUT_SCHEMAS,
	FLAG_SANDBOX,
	FLAG_NET,
	FLAG_WRITE,
	FLAG_READ,
	FLAG_DENY,
	FLAG_WORKER,
	FLAG_WORKER_ROOT,
	FLAG_ENV,
	FLAG_TTY,
	FLAG_EXPLAIN,
	FLAG_STATUS,
	FLAG_SEATBELT,
	FLAG_REPORT,
	FLAG_CONFINED,
	FLAG_ALL,
	FLAG_ORIGIN,
	FLAG_SCOPE,
	FLAG_CONSENT,
	FLAG_SETTING,
	FLAG_PATH,
	FLAG_SKIP_TRUST,
	FLAG_MODE,
	FLAG_HEADLESS,
	FLAG_CALLER,
	FLAG_POLICY,
	FLAG_ADMIN_POLICY,
	FLAG_PROMPT,
	FLAG_MODEL,
	FLAG_OUTPUT_FORMAT,
	FLAG_APPROVAL_MODE,
	FLAG_YOLO,
	FLAG_ALLOWED_TOOLS,
	FLAG_IGNORE_UNKNOWN,
	FLAG_RESUME,
	FLAG_SESSION_ID,
	FLAG_SESSION_FILE,
	FLAG_LIST_SESSIONS,
	FLAG_DELETE_SESSION,
	FLAG_INCLUDE,
	FLAG_IGNORE_ENV,
	FLAG_DEBUG,
	FLAG_RECORD,
	FLAG_REPLAY,
	FLAG_FORCE,
	FLAG_FORMAT,
	FLAG_RAW_OUTPUT,
	FLAG_ACCEPT_RAW_OUTPUT,
	FLAG_SCREEN_READER,
	FLAG_EXTENSIONS,
	FLAG_LIST_EXTENSIONS,
	FLAG_REF,
	FLAG_AUTO_UPDATE,
	FLAG_PRE_RELEASE,
	FLAG_MCP_NAMES,
	FLAG_INTERACTIVE,
	FLAG_ACP,
	FLAG_LOGIN,
	FLAG_WORKTREE,
	FLAG_TRANSPORT,
	FLAG_HEADER,
	FLAG_TIMEOUT,
	FLAG_TRUST,
	FLAG_DESCRIPTION,
	FLAG_INCLUDE_TOOLS,
	FLAG_SESSION,
	FLAG_PROJECT,
	FLAG_SINCE,
	FLAG_HTML,
	FLAG_EXPECT,
	FLAG_SIGNERS,
	FLAG_NAME,
	FLAG_WEB,
	FLAG_WEB_PORT,
	FLAG_PORT,
	FLAG_LISTEN,
	FLAG_SOCKET,
	FLAG_TLS,
	FLAG_CERTIFICATE,
	FLAG_KEY,
	FLAG_ROLE,
	FLAG_GROUP,
	FLAG_MINUTES,
	FLAG_PROCESS,
	FLAG_CLIENT_CA,
	FLAG_WORKSPACE,
	FLAG_BASE_PATH,
	FLAG_PUBLIC_URL,
	FLAG_PROXY,
	FLAG_TASKS,
	FLAG_STDIO,
	FLAG_RUNNER,
	FLAG_CONTEXT,
};

/* What a shell offers when the value is being typed. */
enum complete_kind {
	COMPLETE_NOTHING,
	COMPLETE_FILE,
	COMPLETE_FOLDER,
	COMPLETE_CHOICE,    /* one of value.choices */
	COMPLETE_TOOL,      /* the registry's names */
	COMPLETE_COMMAND,   /* the sub-commands */
	COMPLETE_PARAMETER, /* NAME= for the parameters of the tool named before */
	COMPLETE_SETTING,   /* the names of settings */
	COMPLETE_PROGRAM,   /* a program, then its arguments: whatever the shell offers */
};

/* The value of a flag, or a positional argument. */
struct value {
	const char *name; /* as help shows it: "DIR"; NULL: a switch takes nothing */
	enum complete_kind complete;
	const char *const *choices; /* COMPLETE_CHOICE: NULL-terminated; others are refused */
};

struct flag {
	enum flag_id id;
	const char *name; /* without the dashes */
	char letter;      /* short form, or 0 */
	struct value value;
	const char *fixed; /* of a switch that stands for another flag with this value; or NULL */
	/* The value may be missing: then the flag is a switch. The next word is taken for it
	 * only if it is one of the choices, or, without choices, does not begin with '-'. */
	bool optional;
	/* As Gemini CLI's switches: --name=false, --name false and --no-name take it back, and
	 * "true" may be given to it. Of a flag with a value these are values like others. */
	bool boolean;
	bool repeatable;
	bool hidden;
	bool anywhere; /* of the program: it may stand before any command, which may ignore it */
	const char *help; /* one line, no full stop */
	const char *man;  /* finished sentences for the man page; NULL: from help */
};

struct positional {
	struct value value;
	const char *help;
};

struct invocation;

struct command {
	const char *name;
	const char *alias;           /* another name that is taken for it; NULL: none */
	const char *summary;         /* one line, no full stop */
	const char *const *synopsis; /* NULL-terminated; what follows "hasp NAME" */
	const char *text;            /* paragraphs, separated by an empty line */
	const struct flag *flags;
	size_t flag_count;
	const struct positional *positionals;
	size_t positional_count;
	bool passes_on; /* the first positional ends the flags; the last one may repeat */
	/* After this word as the first positional, flags that are none of the command's, and
	 * further words, are positionals: another program's. NULL: none. */
	const char *loose;
};

/* The program itself: the flags that stand before a sub-command. */
const struct command *command_root(void);

/* The sub-commands, in the order in which help lists them. */
size_t command_count(void);
const struct command *command_listed(size_t i);
const struct command *command_find(const char *name); /* NULL if there is none */
/* Of these the rows for settings, what is installed and what was recorded (setup_commands.c). */
const struct command *command_setup_rows(size_t *ret_count);
/* Sets INVALID_ARGUMENT about a command that does not exist; returns false. */
bool command_unknown(const char *name, struct err *err);

/* ---- exit codes -------------------------------------------------------------- */

/* What a sub-command's handler (cli/command/commands.h) returns: X(symbol, code, what hasp(1)
 * says).  hasp(1) lists the rows; a test compares docs/agent-command.md with it, and
 * test/cli/test_exit_codes.py runs every command into each row. */
#define CLI_EXIT_TABLE(X)                                                                         \
	X(OK, 0, "Success.")                                                                      \
	X(FAILED, 1, "The command failed: for example, what it names does not exist or cannot "   \
	  "be used, or standard output cannot be written.")                                       \
	X(USAGE, 2, "The command line is wrong: an unknown action, option or value, or a "        \
	  "missing or surplus argument. Nothing was done or printed.")

enum {
#define CLI_EXIT_ENUM(symbol, code, meaning) CLI_##symbol = code,
	CLI_EXIT_TABLE(CLI_EXIT_ENUM)
#undef CLI_EXIT_ENUM
};

/* The tool of that name, also of Claude Code's and Gemini CLI's (Edit, ShellTool); NULL after
 * saying what is wrong. */
struct tool;
const struct tool *command_tool(const char *name);

/* ---- help -------------------------------------------------------------------- */

/* For those who typed the program's name alone. */
void help_brief(struct buf *out);

/* The text of `hasp tool --list`: one line for each tool. */
void help_tool_list(struct buf *out);

/* Runs --help wherever it was given: on standard output. Returns the exit code. */
int help_show(const struct invocation *invocation);
/* Prints `hasp COMMAND --help`, or `hasp --help` for the root. Returns the exit code. */
int help_show_command(const struct command *command);

/* ---- the man page ------------------------------------------------------------ */

/* hasp(1), in mdoc(7), computed from the tables of commands and tools. */

/* Appends the whole page. */
void help_manpage_print(struct buf *out);

/* ---- completion -------------------------------------------------------------- */

/* The completion script of "bash", "zsh" or "fish"; nothing for other names. */
void completion_print(const char *shell, struct buf *out);

/* ---- exit codes of the agent --------------------------------------------------- */

/* X(symbol, code, type in JSON, sentence that ends a run, what hasp(1) says).  hasp(1) lists the
 * rows; a test compares docs/agent-command.md with it.  cli/command/private.h makes an enum of
 * them. */
#define AGENT_EXIT_TABLE(X)                                                                       \
	X(OK, 0, "", "",                                                                          \
	  "Success; also if a hook ended the run, or standard output was closed.")                \
	X(GENERAL, 1, "Error", "The run failed.",                                                 \
	  "The model could not be reached or used, or the model repeated itself.")                \
	X(USAGE, 2, "Error", "The command line is wrong.",                                        \
	  "Unknown option, value or command, or options that exclude each other.")                \
	X(AUTH, 41, "FatalAuthenticationError", "There is no valid API key for the model.",       \
	  "No API key, or the provider rejected it.")                                             \
	X(INPUT, 42, "FatalInputError", "The prompt or an option is invalid.",                    \
	  "No prompt, or it is too long; the model, session or file does not exist; or the "      \
	  "option is not supported.")                                                             \
	X(SANDBOX, 44, "FatalSandboxError", "The requested sandbox is not available.",            \
	  "The requested sandbox level is not available.")                                        \
	X(CONFIG, 52, "FatalConfigError", "A settings or policy file is invalid.",                \
	  "A settings or policy file is invalid, or forbids the mode.")                           \
	X(TURNS, 53, "FatalTurnLimitedError", "The turn limit was reached.",                      \
	  "The turn limit (model.maxSessionTurns) was reached.")                                  \
	X(TOOL, 54, "FatalToolExecutionError", "A tool failed and the run cannot continue.",      \
	  "The disk is full.")                                                                    \
	X(UNTRUSTED, 55, "FatalUntrustedWorkspaceError", "The folder is not trusted.",            \
	  "The mode requires a trusted folder.")                                                  \
	X(PERMISSION, 56, "FatalPermissionError", "The run had no way to ask for approval.",      \
	  "There is an answer, but the run lacked a permission and had no way to ask for it.")    \
	X(RECORD, 57, "FatalRecordError", "The session was not recorded completely.",             \
	  "There is an answer, but the session was not recorded completely.")                     \
	X(CANCELLED, 130, "FatalCancellationError", "The run was cancelled.",                     \
	  "Ended by SIGINT; 143 by SIGTERM, 129 by SIGHUP.")

#endif
