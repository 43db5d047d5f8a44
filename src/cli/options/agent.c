/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the program itself: the agent. Names and letters are Gemini CLI's where it has them. */
#include "base/mem.h"
#include "cli/options/commands.h"
#include "cli/options/rows.h"

static const char *const format_choices[] = { "text", "json", "stream-json", NULL };
static const char *const mode_choices[] = { "default", "auto_edit", "autoEdit",
	                                    "yolo",    "plan",      NULL };
/* true and false are Gemini CLI's. */
static const char *const sandbox_choices[] = { "auto", "full", "landlock", "paths",
	                                       "none", "true", "false",    NULL };

static const struct flag flags[] = {
	{ .id = FLAG_PROMPT, .name = "prompt", .letter = 'p',
	  .value = { "TEXT", COMPLETE_NOTHING, NULL },
	  .help = "the prompt; what is on standard input stands before it",
	  .man = "The prompt. Text on standard input, if that is not a terminal, stands before it, "
		 "with an empty line between. @PATH in a prompt hands over a file, the files of a "
		 "folder, or those that a glob names." },
	{ .id = FLAG_MODEL, .name = "model", .letter = 'm',
	  .value = { "MODEL", COMPLETE_NOTHING, NULL },
	  .help = "PROVIDER/NAME, a name of Gemini's, or auto, pro, flash, flash-lite",
	  .man = "The model: PROVIDER/NAME (openai/..., anthropic/..., ollama/..., and so on), a "
		 "name of Gemini's, one of auto, pro, flash and flash-lite, or replay:FILE. The "
		 "default is that of GEMINI_MODEL, of the setting model.name, else auto." },
	{ .id = FLAG_OUTPUT_FORMAT, .name = "output-format", .letter = 'o',
	  .value = { "FORMAT", COMPLETE_CHOICE, format_choices },
	  .help = "text (default), json or stream-json",
	  .man = "What standard output gets: text is the answer alone; json one object with the "
		 "answer and statistics; stream-json one line of JSON for each event as it happens." },
	{ .id = FLAG_APPROVAL_MODE, .name = "approval-mode",
	  .value = { "MODE", COMPLETE_CHOICE, mode_choices },
	  .help = "default, auto_edit, yolo or plan",
	  .man = "What runs unasked: default is reading; auto_edit edits too; yolo everything; plan "
		 "is reading and writing plans. Where nobody can be asked, what would have to be "
		 "asked about is refused." },
	{ .id = FLAG_YOLO, .name = "yolo", .letter = 'y', .boolean = true, .help = "--approval-mode yolo" },
	{ .id = FLAG_ALLOWED_TOOLS, .name = "allowed-tools", .repeatable = true,
	  .value = { "LIST", COMPLETE_TOOL, NULL },
	  .help = "tools that run unasked, as \"run_shell_command(git status)\"" },
	POLICY_FLAGS,
	{ .id = FLAG_RESUME, .name = "resume", .letter = 'r',
	  .value = { "SESSION", COMPLETE_NOTHING, NULL }, .optional = true,
	  .help = "go on with a session: latest (default), a number or an id" },
	{ .id = FLAG_SESSION_ID, .name = "session-id", .value = { "ID", COMPLETE_NOTHING, NULL },
	  .help = "the id of the new session (letters, digits, - and _)" },
	{ .id = FLAG_SESSION_FILE, .name = "session-file", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "begin with the conversation of this session's file" },
	{ .id = FLAG_LIST_SESSIONS, .name = "list-sessions", .boolean = true, .help = "list this project's sessions" },
	{ .id = FLAG_DELETE_SESSION, .name = "delete-session",
	  .value = { "SESSION", COMPLETE_NOTHING, NULL },
	  .help = "delete a session: a number or an id" },
	{ .id = FLAG_INCLUDE, .name = "include-directories", .repeatable = true,
	  .value = { "DIRS", COMPLETE_FOLDER, NULL },
	  .help = "further workspace folders (with commas, or repeated)" },
	{ .id = FLAG_SANDBOX, .name = "sandbox", .letter = 's',
	  .value = { "LEVEL", COMPLETE_CHOICE, sandbox_choices }, .optional = true, .boolean = true,
	  .help = "how tools are confined: auto (default), full, landlock or paths",
	  .man = "How tools are confined: auto (the default) is the strongest level that this "
		 "machine allows; full (also true, or without LEVEL), landlock or paths (also called none "
		 "or false) is exactly that level, and an error where it cannot be had. HASP_SANDBOX is "
		 "the default. The setting hasp.sandbox.level is a requirement: HASP_SANDBOX cannot "
		 "lower it, and this flag cannot lower the administrator's." },
	{ .id = FLAG_NET, .name = "net", .help = "leave the network on for commands" },
	REACH_FLAGS,
	WORKER_FLAG,
	DURABILITY_FLAG,
	{ .id = FLAG_SKIP_TRUST, .name = "skip-trust", .boolean = true,
	  .help = "let the project's own settings, hooks and policies count this time" },
	{ .id = FLAG_IGNORE_ENV, .name = "ignore-env", .help = "read no .env file" },
	{ .id = FLAG_RECORD, .name = "record", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "append the model's answers to FILE, for replay:FILE" },
	{ .id = FLAG_RECORD, .name = "record-responses", .hidden = true,
	  .value = { "FILE", COMPLETE_FILE, NULL }, .help = "--record" },
	{ .id = FLAG_REPLAY, .name = "fake-responses", .hidden = true,
	  .value = { "FILE", COMPLETE_FILE, NULL }, .help = "--model replay:FILE" },
	{ .id = FLAG_REPLAY, .name = "fake-responses-non-strict", .hidden = true,
	  .value = { "FILE", COMPLETE_FILE, NULL }, .help = "--model replay:FILE" },
	{ .id = FLAG_RAW_OUTPUT, .name = "raw-output", .boolean = true,
	  .help = "let what the model says act on the terminal",
	  .man = "Text of the model goes to a terminal as it is, with all that acts there. To a "
		 "file or a pipe it always does." },
	{ .id = FLAG_ACCEPT_RAW_OUTPUT, .name = "accept-raw-output-risk", .boolean = true,
	  .hidden = true, .help = "no warning about --raw-output" },
	{ .id = FLAG_SCREEN_READER, .name = "screen-reader", .boolean = true, .hidden = true,
	  .help = "of no effect: nothing is drawn" },
	{ .id = FLAG_MCP_NAMES, .name = "allowed-mcp-server-names", .hidden = true,
	  .repeatable = true, .value = { "LIST", COMPLETE_NOTHING, NULL },
	  .help = "of no effect: the agent connects to no MCP server" },
	{ .id = FLAG_EXTENSIONS, .name = "extensions", .letter = 'e', .hidden = true,
	  .repeatable = true, .value = { "LIST", COMPLETE_NOTHING, NULL },
	  .help = "none: there are no extensions" },
	{ .id = FLAG_LIST_EXTENSIONS, .name = "list-extensions", .letter = 'l', .hidden = true,
	  .boolean = true, .help = "say that there are no extensions" },
	{ .id = FLAG_INTERACTIVE, .name = "prompt-interactive", .letter = 'i', .hidden = true,
	  .value = { "TEXT", COMPLETE_NOTHING, NULL }, .help = "not there yet" },
	{ .id = FLAG_ACP, .name = "acp", .hidden = true, .boolean = true, .help = "not there" },
	{ .id = FLAG_ACP, .name = "experimental-acp", .hidden = true, .boolean = true,
	  .help = "--acp" },
	{ .id = FLAG_WORKTREE, .name = "worktree", .letter = 'w', .hidden = true,
	  .value = { "NAME", COMPLETE_NOTHING, NULL }, .optional = true, .help = "not there" },
	{ .id = FLAG_DEBUG, .name = "debug", .letter = 'd', .boolean = true,
	  .help = "tell each request to the model on standard error" },
	HELP_FLAG,
	{ .id = FLAG_VERSION, .name = "version", .letter = 'V', .help = "show the version" },
	{ .id = FLAG_VERSION, .name = "version", .letter = 'v', .hidden = true,
	  .help = "show the version" },
	{ .id = FLAG_MAN_PAGE, .name = "man-page", .hidden = true, .help = "print hasp(1)" },
};

static const char *const synopsis[] = {
	"-p PROMPT [OPTION]...",
	"[OPTION]... PROMPT...",
	"COMMAND [ARGUMENT]...",
	NULL,
};

const struct command agent_command = {
	.name = "hasp",
	.summary = "a coding agent with state-verified edits, and its tools",
	.synopsis = synopsis,
	.text = "With a prompt, hasp works on the files of the current folder until it has answered: a "
		"model reads, edits and runs commands through hasp's tools. Every read answers with "
		"the SHA-256 of the file; every edit names the SHA-256 it was made for and changes "
		"nothing when the file is in another state. Tools run in a sandbox; nothing outside "
		"the workspace is written. Settings, policies, hooks, GEMINI.md and sessions are "
		"Gemini CLI's, read as they are.\n\n"
		"The commands offer the parts: one tool from a script, all tools to another agent, "
		"the sandbox for any command.",
	.flags = flags,
	.flag_count = ARRAY_LEN(flags),
	.run = command_run_root,
};
