/* SPDX-License-Identifier: Apache-2.0 */
/* The rows. See command.h for the steps to add one. */
#include "cli/options/command.h"

#include <string.h>

#include "base/mem.h"

/* Rows that several commands' tables have in common. */

static const char *const durability_choices[] __attribute__((unused)) = { "full", "rename", NULL };
static const char *const level_choices[] __attribute__((unused)) = {
	"auto", "full", "landlock", "paths", "none", NULL,
};

#define HELP_FLAG \
	{ .id = FLAG_HELP, .name = "help", .letter = 'h', .help = "show this help" }

#define JSON_FLAG \
	{ .id = FLAG_JSON, .name = "json", .letter = 'j', .help = "print JSON, also on a terminal" }

/* Of the commands about a project's own files; `WHAT` of it an untrusted folder keeps to itself. */
#define PROJECT_FLAGS(WHAT)                                                                      \
	{ .id = FLAG_ROOT, .name = "root", .letter = 'r',                                        \
	  .value = { "DIR", COMPLETE_FOLDER, NULL },                                             \
	  .help = "the project's folder (default: the current one)" },                           \
	{ .id = FLAG_SKIP_TRUST, .name = "skip-trust",                                           \
	  .help = "use the project's own " WHAT " this once" }

#define DURABILITY_FLAG                                                                          \
	{ .id = FLAG_DURABILITY, .name = "durability",                                           \
	  .value = { "HOW", COMPLETE_CHOICE, durability_choices },                               \
	  .help = "full (synced to the disk, the default) or rename",                            \
	  .man = "How durable a written file is when the call returns: full (the default; the "    \
		 "file and its folder are synced to the disk) or rename (atomic; the kernel "   \
		 "writes it to the disk later)." }

/* Paths that a sandbox opens or closes in addition to its level's. */
#define REACH_FLAGS                                                                              \
	{ .id = FLAG_WRITE, .name = "write", .repeatable = true,                                 \
	  .value = { "PATH", COMPLETE_FILE, NULL },                                              \
	  .help = "also let commands write this file or folder" },                           \
	{ .id = FLAG_READ, .name = "read", .repeatable = true,                                   \
	  .value = { "PATH", COMPLETE_FILE, NULL },                                              \
	  .help = "allow reading this folder or hidden path",                                    \
	  .man = "Allows reading PATH: commands can read it even if it is hidden by default, "   \
		 "and file tools can read what is in it, if it is a folder outside the "         \
		 "workspace. Nothing in it can be written." },                                    \
	{ .id = FLAG_DENY, .name = "deny", .repeatable = true,                                   \
	  .value = { "PATH", COMPLETE_FILE, NULL }, .help = "forbid reading this path" }

/* Flags shared by commands that reach a workspace. `WHO` is what is confined. */
#define SANDBOX_FLAGS(WHO)                                                                       \
	{ .id = FLAG_SANDBOX, .name = "sandbox",                                                 \
	  .value = { "LEVEL", COMPLETE_CHOICE, level_choices },                                  \
	  .help = "how " WHO " is confined: auto (default), full, landlock or paths",            \
	  .man = "How " WHO " is confined: auto (the default) is the strongest level that this " \
		 "machine supports; full, landlock or paths (also called none) is exactly that " \
		 "level, or an error where it is not supported. \"hasp sandbox --status\" "        \
		 "explains them. HASP_SANDBOX is the default; it cannot be weaker than the "      \
		 "setting hasp.sandbox.level." },                                                \
	{ .id = FLAG_NET, .name = "net", .help = "allow the network" },                          \
	REACH_FLAGS

#define WORKER_FLAG                                                                              \
	{ .id = FLAG_WORKER, .name = "worker", .value = { "COMMAND", COMPLETE_NOTHING, NULL },   \
	  .help = "work elsewhere: \"ssh HOST hasp worker\"",                                    \
	  .man = "Starts COMMAND and works at the other end of its standard input and output: " \
		 "\"ssh HOST hasp worker\", \"docker exec -i NAME hasp worker\". COMMAND is " \
		 "split at white space; quotes and backslashes protect white space. It is not " \
		 "passed to a shell. A JSON array of words works, too. Roots and the paths of " \
		 "other options are then paths over there. The setting hasp.worker is the " \
		 "default." },                                                                \
	{ .id = FLAG_WORKER_ROOT, .name = "worker-root",                                         \
	  .value = { "PATH", COMPLETE_NOTHING, NULL },                                           \
	  .help = "the folder to work in there",                                                 \
	  .man = "The folder to work in at the other end of --worker or of a place in "            \
		 "hasp.worker, an absolute path over there. The default is the folder that hasp "  \
		 "was started in." }

#define POLICY_FLAGS                                                                             \
	{ .id = FLAG_POLICY, .name = "policy", .repeatable = true,                               \
	  .value = { "PATH", COMPLETE_FILE, NULL },                                              \
	  .help = "policy file or folder in place of the user's own" },                          \
	{ .id = FLAG_ADMIN_POLICY, .name = "admin-policy", .repeatable = true,                   \
	  .value = { "PATH", COMPLETE_FILE, NULL },                                              \
	  .help = "policy file or folder of an administrator" }

/* ---- the program itself ------------------------------------------------------ */

/* The rows of the program itself: the agent. Names and letters are Gemini CLI's where it has
 * them. */

static const char *const format_choices[] = { "text", "json", "stream-json", NULL };
static const char *const mode_choices[] = { "default", "auto_edit", "autoEdit",
	                                    "yolo",    "plan",      NULL };
/* true and false are Gemini CLI's. */
static const char *const sandbox_choices[] = { "auto", "full", "landlock", "paths",
	                                       "none", "true", "false",    NULL };

/* What the agent's other commands take as well. */

#define MODEL_FLAG                                                                       \
	{ .id = FLAG_MODEL, .name = "model", .letter = 'm',                              \
	  .value = { "MODEL", COMPLETE_NOTHING, NULL },                                  \
	  .help = "the model: PROVIDER/NAME, or auto, pro, flash; \"hasp models\" lists them",  \
	  .man = "The model: PROVIDER/NAME (openai/..., anthropic/..., ollama/..., and so on), " \
		 "the name of a Gemini model, one of auto, pro, flash and flash-lite, or " \
		 "replay:FILE. \"hasp models\" lists what your keys reach. The default is the " \
		 "value of GEMINI_MODEL, else the setting model.name, else auto." }

#define APPROVAL_FLAGS                                                                   \
	{ .id = FLAG_APPROVAL_MODE, .name = "approval-mode",                             \
	  .value = { "MODE", COMPLETE_CHOICE, mode_choices },                            \
	  .help = "default, auto_edit, yolo or plan",                                    \
	  .man = "What runs without asking: default, reading; auto_edit, edits too; yolo, " \
		 "everything; plan, reading and writing plans. A run that cannot ask refuses " \
		 "what it would ask about." },                                           \
	{ .id = FLAG_YOLO, .name = "yolo", .letter = 'y', .boolean = true,               \
	  .help = "--approval-mode yolo" },                                              \
	{ .id = FLAG_ALLOWED_TOOLS, .name = "allowed-tools", .repeatable = true,         \
	  .value = { "LIST", COMPLETE_TOOL, NULL },                                      \
	  .help = "tools that run without asking, as \"run_shell_command(git status)\"" },  \
	POLICY_FLAGS,                                                                    \
	{ .id = FLAG_IGNORE_UNKNOWN, .name = "ignore-unknown-rules", .boolean = true,    \
	  .help = "start even if a restricting rule names something unknown",      \
	  .man = "Starts although a rule that restricts (deny, ask, exclude, a hook's matcher) "  \
		 "names a tool, server, agent, level or mode that does not exist, or a policy "  \
		 "file cannot be used. Without it, that is an error." }

#define INCLUDE_FLAG                                                                     \
	{ .id = FLAG_INCLUDE, .name = "include-directories", .repeatable = true,         \
	  .value = { "DIRS", COMPLETE_FOLDER, NULL },                                    \
	  .help = "more workspace folders (comma-separated or repeated)" }

#define AGENT_SANDBOX_FLAGS                                                              \
	{ .id = FLAG_SANDBOX, .name = "sandbox", .letter = 's',                          \
	  .value = { "LEVEL", COMPLETE_CHOICE, sandbox_choices }, .optional = true,      \
	  .boolean = true,                                                               \
	  .help = "how tools are confined: auto (default), full, landlock or paths",     \
	  .man = "How tools are confined: auto (the default) is the strongest level that this "  \
		 "machine supports; full (also true, or without LEVEL), landlock or paths (also "  \
		 "called none or false) is exactly that level, or an error where it is not "  \
		 "supported. HASP_SANDBOX is the default. The setting hasp.sandbox.level is a "  \
		 "requirement: HASP_SANDBOX cannot lower it, and this flag cannot lower the "  \
		 "administrator's." },                                                   \
	{ .id = FLAG_NET, .name = "net", .help = "let commands use the network" },       \
	REACH_FLAGS

#define SOURCE_FLAGS                                                                     \
	{ .id = FLAG_SKIP_TRUST, .name = "skip-trust", .boolean = true,                  \
	  .help = "use the project's own settings, hooks and policies this once" },      \
	{ .id = FLAG_IGNORE_ENV, .name = "ignore-env", .help = "read no .env file" },    \
	{ .id = FLAG_RECORD, .name = "record", .value = { "FILE", COMPLETE_FILE, NULL },  \
	  .help = "append the model's answers to FILE, for replay:FILE" },               \
	{ .id = FLAG_RECORD, .name = "record-responses", .hidden = true,                 \
	  .value = { "FILE", COMPLETE_FILE, NULL }, .help = "--record" },                \
	{ .id = FLAG_REPLAY, .name = "fake-responses", .hidden = true,                   \
	  .value = { "FILE", COMPLETE_FILE, NULL }, .help = "--model replay:FILE" },     \
	{ .id = FLAG_REPLAY, .name = "fake-responses-non-strict", .hidden = true,        \
	  .value = { "FILE", COMPLETE_FILE, NULL }, .help = "--model replay:FILE" }

#define EXTENSION_FLAGS                                                                  \
	{ .id = FLAG_MCP_NAMES, .name = "allowed-mcp-server-names", .hidden = true,      \
	  .repeatable = true, .value = { "LIST", COMPLETE_NOTHING, NULL },               \
	  .help = "use only these MCP servers, as the setting mcp.allowed" },       \
	{ .id = FLAG_EXTENSIONS, .name = "extensions", .letter = 'e',                    \
	  .repeatable = true, .value = { "LIST", COMPLETE_NOTHING, NULL },               \
	  .help = "use these extensions alone; \"none\" for none" }

#define LOGIN_FLAG                                                                       \
	{ .id = FLAG_LOGIN, .name = "login", .boolean = true,                            \
	  .help = "ask for a key of the model's provider, keep it, and exit" }

#define DEBUG_FLAG                                                                       \
	{ .id = FLAG_DEBUG, .name = "debug", .letter = 'd', .boolean = true, .anywhere = true,  \
	  .help = "log each request to the model, with the prompt, on standard error" }

#define WEB_FLAGS                                                                        \
	{ .id = FLAG_WEB, .name = "web", .boolean = true,                                \
	  .help = "show the session in a browser, too; the link is on standard error",   \
	  .man = "Shows the session in a browser, too, which may answer questions, prompt and "  \
		 "review edits. The link is printed on standard error and works once. "  \
		 "Questions then wait for the browser." },                               \
	{ .id = FLAG_WEB_PORT, .name = "web-port", .value = { "PORT", COMPLETE_NOTHING, NULL }, \
	  .help = "--web on this port of 127.0.0.1 (default: any free one)" }

static const struct flag flags[] = {
	{ .id = FLAG_PROMPT, .name = "prompt", .letter = 'p',
	  .value = { "TEXT", COMPLETE_NOTHING, NULL },
	  .help = "the prompt; text on standard input is put before it",
	  .man = "The prompt. Text on standard input, unless that is a terminal, is put before "
		 "it, followed by an empty line. @PATH in a prompt attaches a file, the files of "
		 "a folder, or the files that a glob matches." },
	{ .id = FLAG_INTERACTIVE, .name = "prompt-interactive", .letter = 'i',
	  .value = { "TEXT", COMPLETE_NOTHING, NULL },
	  .help = "start an interactive session with this prompt" },
	MODEL_FLAG,
	{ .id = FLAG_OUTPUT_FORMAT, .name = "output-format", .letter = 'o',
	  .value = { "FORMAT", COMPLETE_CHOICE, format_choices },
	  .help = "text (default), json or stream-json",
	  .man = "What is written to standard output: text is the answer alone; json is one "
		 "object with the answer and statistics; stream-json is one line of JSON per "
		 "event, as it happens." },
	APPROVAL_FLAGS,
	{ .id = FLAG_RESUME, .name = "resume", .letter = 'r',
	  .value = { "SESSION", COMPLETE_NOTHING, NULL }, .optional = true,
	  .help = "resume a session: latest, a number or an id; on a terminal without one: "
	          "choose it from a list" },
	{ .id = FLAG_RESUME, .name = "continue", .letter = 'c', .fixed = "latest",
	  .help = "--resume latest" },
	{ .id = FLAG_SESSION_ID, .name = "session-id", .value = { "ID", COMPLETE_NOTHING, NULL },
	  .help = "the id of the new session (letters, digits, - and _)" },
	{ .id = FLAG_SESSION_FILE, .name = "session-file", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "start from the conversation in this session file" },
	{ .id = FLAG_LIST_SESSIONS, .name = "list-sessions", .boolean = true,
	  .help = "list this project's sessions" },
	{ .id = FLAG_DELETE_SESSION, .name = "delete-session",
	  .value = { "SESSION", COMPLETE_NOTHING, NULL },
	  .help = "delete a session: a number or an id" },
	INCLUDE_FLAG,
	AGENT_SANDBOX_FLAGS,
	WORKER_FLAG,
	DURABILITY_FLAG,
	SOURCE_FLAGS,
	{ .id = FLAG_RAW_OUTPUT, .name = "raw-output", .boolean = true,
	  .help = "print the model's text unescaped; it can control the terminal",
	  .man = "Prints the model's text to a terminal as it is, control sequences included. To "
		 "a file or a pipe it is always printed so." },
	{ .id = FLAG_ACCEPT_RAW_OUTPUT, .name = "accept-raw-output-risk", .boolean = true,
	  .hidden = true, .help = "do not warn about --raw-output" },
	{ .id = FLAG_SCREEN_READER, .name = "screen-reader", .boolean = true,
	  .help = "plain lines on the terminal, for screen readers" },
	EXTENSION_FLAGS,
	{ .id = FLAG_LIST_EXTENSIONS, .name = "list-extensions", .letter = 'l',
	  .boolean = true, .help = "list the installed extensions and exit" },
	WEB_FLAGS,
	{ .id = FLAG_ACP, .name = "acp", .hidden = true, .boolean = true, .help = "hasp acp" },
	{ .id = FLAG_LOGIN, .name = "login", .boolean = true, .hidden = true,
	  .help = "hasp acp --login" },
	{ .id = FLAG_ACP, .name = "experimental-acp", .hidden = true, .boolean = true,
	  .help = "--acp" },
	{ .id = FLAG_WORKTREE, .name = "worktree", .letter = 'w', .hidden = true,
	  .value = { "NAME", COMPLETE_NOTHING, NULL }, .optional = true, .help = "not there" },
	DEBUG_FLAG,
	HELP_FLAG,
	{ .id = FLAG_VERSION, .name = "version", .letter = 'V', .help = "show the version" },
	{ .id = FLAG_VERSION, .name = "version", .letter = 'v', .hidden = true,
	  .help = "show the version" },
	{ .id = FLAG_MAN_PAGE, .name = "man-page", .hidden = true, .help = "print hasp(1)" },
};

static const char *const synopsis[] = {
	"[OPTION]... [-i PROMPT]",
	"-p PROMPT [OPTION]...",
	"[OPTION]... PROMPT...",
	"COMMAND [ARGUMENT]...",
	NULL,
};

/* The program itself, which is the agent. */
static const struct command agent_command = {
	.name = "hasp",
	.summary = "a coding agent with state-verified edits, and its tools",
	.synopsis = synopsis,
	.text =
		"With a prompt, hasp works on the files of the current folder until it has "
		"answered: a model reads, edits and runs commands through hasp's tools. Every "
		"read returns the file's SHA-256; every edit names the SHA-256 it was made "
		"against, and changes nothing if the file has changed since. Tools run in a "
		"sandbox and write nothing outside the workspace. hasp reads Gemini CLI's "
		"settings, policies, hooks, GEMINI.md and sessions as they are.\n\n"
		"The commands offer its parts alone: one tool to a script, all tools to another "
		"agent, the sandbox to any command.",
	.flags = flags,
	.flag_count = ARRAY_LEN(flags),
};

/* ---- commands ---------------------------------------------------------------- */

static const char *const color_choices[] = { "auto", "always", "never", NULL };
static const char *const protocol_choices[] = { "mcp", "web", NULL };
static const char *const confirm_choices[] = { "never", "commands", "edits", "all", NULL };
static const char *const content_choices[] = { "new", "full", "diff", "none", NULL };
static const char *const env_choices[] = { "safe", "keep", "clean", NULL };
static const char *const tty_choices[] = { "auto", "always", "never", NULL };
static const char *const shell_choices[] = { "bash", "zsh", "fish", NULL };

#define HOOKS_FLAG(WHAT) \
	{ .id = FLAG_HOOKS, .name = "hooks", \
	  .help = "run BeforeTool and AfterTool hooks around " WHAT, \
	  .man = "Runs your BeforeTool and AfterTool hooks, and those of the project that you " \
		 "have trusted, around " WHAT ". Without this flag no hook runs." }

static const struct flag tool_flags[] = {
	{ .id = FLAG_ARG, .name = "arg", .letter = 'a', .repeatable = true,
	  .value = { "KEY=VALUE", COMPLETE_PARAMETER, NULL },
	  .help = "set one argument of the tool (KEY=@FILE reads a file)",
	  .man = "Sets the argument KEY, overriding ARGS. A string is taken literally; a number, "
		 "a boolean, an array or an object is parsed as JSON, as the tool's schema "
		 "requires. An array of strings can also be given as several flags, one item "
		 "each. KEY=@FILE reads the value from FILE, KEY=@- from standard input; "
		 "KEY=@@TEXT is the text @TEXT." },
	{ .id = FLAG_ROOT, .name = "root", .letter = 'r', .repeatable = true,
	  .value = { "DIR", COMPLETE_FOLDER, NULL },
	  .help = "a workspace folder (default: the current one)",
	  .man = "Makes DIR a root of the workspace. Relative paths start at the first root; no "
		 "path reaches outside the roots. The default is the current folder." },
	{ .id = FLAG_JSON, .name = "json", .letter = 'j',
	  .help = "print JSON, also on a terminal",
	  .man = "Prints one JSON document on one line, also on a terminal. This is the default "
		 "when standard output is not a terminal." },
	{ .id = FLAG_PRETTY, .name = "pretty", .letter = 'p',
	  .help = "print for people even to a pipe; with --json: indent",
	  .man = "Prints the view for people, with the diff, even if standard output is not a "
		 "terminal. With --json: indents the JSON by two spaces." },
	{ .id = FLAG_COLOR, .name = "color", .value = { "WHEN", COMPLETE_CHOICE, color_choices },
	  .help = "colour the view for people: auto, always or never",
	  .man = "Colours the view for people: auto (the default: on a terminal that has colours, "
		 "unless NO_COLOR is set), always or never." },
	{ .id = FLAG_ANSWER_TOKENS, .name = "answer-tokens",
	  .value = { "N", COMPLETE_NOTHING, NULL },
	  .help = "print what a model would get, in at most N tokens (0: of any size)",
	  .man = "Prints what a model would get of the result, in at most N tokens of about 4 "
		 "bytes (0: of any size): an edit's answer without what the caller knows, long "
		 "lists and texts cut, with a sentence that says how to get the rest. Without "
		 "this flag the result is whole." },
	HOOKS_FLAG("the call"),
	DURABILITY_FLAG,
	SANDBOX_FLAGS("the tool"),
	WORKER_FLAG,
	{ .id = FLAG_LIST, .name = "list", .letter = 'l',
	  .help = "list the tools; with --json: with their schemas" },
	{ .id = FLAG_SCHEMA, .name = "schema", .letter = 's',
	  .help = "print the tool's description and JSON Schemas" },
	HELP_FLAG,
};

static const struct positional tool_positionals[] = {
	{ { "NAME", COMPLETE_TOOL, NULL }, "the tool" },
	{ { "ARGS", COMPLETE_FILE, NULL },
	  "its arguments: a JSON file, - for standard input, or the JSON itself if it begins "
	  "with {" },
};

static const char *const tool_synopsis[] = {
	"NAME [ARGS] [--arg KEY=VALUE]... [--root DIR]... [OPTION]...",
	"NAME --schema | NAME --help",
	"--list [--json]",
	NULL,
};

static const struct flag serve_flags[] = {
	{ .id = FLAG_ROOT, .name = "root", .letter = 'r', .repeatable = true,
	  .value = { "DIR", COMPLETE_FOLDER, NULL },
	  .help = "a workspace folder (default: the client's roots, else the current folder)",
	  .man = "Makes DIR a root of the workspace for every client. Without this flag, a client "
		 "that offers roots is asked for them; the others get the current folder." },
	{ .id = FLAG_HTTP, .name = "http", .value = { "PORT", COMPLETE_NOTHING, NULL },
	  .help = "serve streamable HTTP on this port of 127.0.0.1 (0: any free port)",
	  .man = "Serves streamable HTTP on this port of 127.0.0.1 instead of standard input and "
		 "output, to any number of clients; 0 takes a free port. The URL is printed to "
		 "standard error." },
	{ .id = FLAG_TOKEN_FILE, .name = "token-file", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "read the bearer token from FILE, creating it if necessary",
	  .man = "HTTP clients must send the bearer token in FILE, which only its owner may be "
		 "able to read. If FILE does not exist, hasp creates it with a new token. Without "
		 "this flag the token is the value of HASP_MCP_TOKEN, else a new one at each "
		 "start, which is printed." },
	{ .id = FLAG_NO_TOKEN, .name = "no-token",
	  .help = "require no token of HTTP clients (for tests only)",
	  .man = "Requires no token of HTTP clients: any process of any user of this machine can "
		 "then use the tools. For tests only." },
	{ .id = FLAG_ALLOW_ORIGIN, .name = "allow-origin", .repeatable = true,
	  .value = { "ORIGIN", COMPLETE_NOTHING, NULL },
	  .help = "also accept HTTP requests from web pages of this origin" },
	{ .id = FLAG_ALLOW_HOST, .name = "allow-host", .repeatable = true,
	  .value = { "HOST", COMPLETE_NOTHING, NULL },
	  .help = "also accept HTTP requests for this host name" },
	{ .id = FLAG_PORT, .name = "port", .value = { "PORT", COMPLETE_NOTHING, NULL },
	  .help = "web: the port (default: any free one)" },
	{ .id = FLAG_LISTEN, .name = "listen", .value = { "ADDRESS", COMPLETE_NOTHING, NULL },
	  .help = "web: this IP address in place of 127.0.0.1; others need --tls" },
	{ .id = FLAG_SOCKET, .name = "socket", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "web: a Unix socket in place of an address, for ssh -L PORT:FILE" },
	{ .id = FLAG_TLS, .name = "tls",
	  .help = "web: HTTPS, with a certificate made for this run unless there is --certificate",
	  .man = "web: serves HTTPS. Without --certificate, hasp makes a certificate for this run "
		 "and prints its SHA-256 fingerprint, which is what the browser must show." },
	{ .id = FLAG_CERTIFICATE, .name = "certificate", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "web: the certificate of --tls, PEM" },
	{ .id = FLAG_KEY, .name = "key", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "web: the key of that certificate, PEM" },
	{ .id = FLAG_MODEL, .name = "model", .letter = 'm',
	  .value = { "NAME", COMPLETE_NOTHING, NULL }, .help = "web: the model of its sessions" },
	{ .id = FLAG_TOOLS, .name = "tools", .letter = 't', .repeatable = true,
	  .value = { "LIST", COMPLETE_TOOL, NULL },
	  .help = "offer only these tools (names or aliases, comma-separated)" },
	{ .id = FLAG_EXCLUDE_TOOLS, .name = "exclude-tools", .letter = 'x', .repeatable = true,
	  .value = { "LIST", COMPLETE_TOOL, NULL },
	  .help = "do not offer these tools" },
	{ .id = FLAG_READ_ONLY, .name = "read-only",
	  .help = "offer only tools that change nothing" },
	{ .id = FLAG_TOOL_NAME, .name = "tool-name", .repeatable = true,
	  .value = { "OLD=NEW", COMPLETE_NOTHING, NULL },
	  .help = "offer the tool OLD under the name NEW",
	  .man = "Offers the tool OLD under the name NEW, in the descriptions of other tools "
		 "too." },
	{ .id = FLAG_TOOL_PREFIX, .name = "tool-prefix",
	  .value = { "TEXT", COMPLETE_NOTHING, NULL },
	  .help = "put TEXT before the name of each tool that --tool-name does not name" },
	{ .id = FLAG_CONFIRM, .name = "confirm",
	  .value = { "WHEN", COMPLETE_CHOICE, confirm_choices },
	  .help = "when to ask the user: never (default; most clients ask themselves), commands, "
		  "or all (commands and edits)",
	  .man = "When to ask the user, through the client's elicitation: never (the default: "
		 "most clients ask by themselves), commands, or all (commands and edits; edits is "
		 "another name for it). The question shows the command or the diff, and hasp does "
		 "exactly that or nothing. A client without elicitation can then do neither." },
	{ .id = FLAG_RETURN_CONTENT, .name = "return-content",
	  .value = { "WHAT", COMPLETE_CHOICE, content_choices },
	  .help = "what edits return by default: new, full, diff or none",
	  .man = "What an edit returns when the call does not say: what the client does not have "
		 "yet (new, the default), the full new content, a diff, or none." },
	{ .id = FLAG_ANSWER_TOKENS, .name = "answer-tokens",
	  .value = { "N", COMPLETE_NOTHING, NULL },
	  .help = "most tokens of an answer (default: 20000; 0: no limit)",
	  .man = "Most tokens of an answer, about 4 bytes each (default: 20000; 0: no limit). "
		 "Its text and its structuredContent are the same, so each gets half of them. "
		 "What does not fit is left out, and the answer says how to get it." },
	{ .id = FLAG_OUTPUT_SCHEMAS, .name = "output-schemas",
	  .help = "send every client the schemas of results (for clients that check them)",
	  .man = "Adds to each tool in tools/list the schema of its results, for clients that "
		 "check structuredContent against it. These schemas are two thirds of the list, "
		 "and no model needs them; without this flag, a client gets them by sending "
		 "\"hasp/outputSchemas\": true in the _meta of tools/list." },
	HOOKS_FLAG("each call"),
	DURABILITY_FLAG,
	SANDBOX_FLAGS("each tool"),
	WORKER_FLAG,
	HELP_FLAG,
};

static const char *const serve_synopsis[] = {
	"mcp [--root DIR]... [OPTION]...",
	"mcp --http PORT [OPTION]...",
	"web [--port PORT] [OPTION]...",
	NULL,
};

static const struct flag acp_flags[] = {
	LOGIN_FLAG,
	WEB_FLAGS,
	MODEL_FLAG,
	APPROVAL_FLAGS,
	INCLUDE_FLAG,
	AGENT_SANDBOX_FLAGS,
	DURABILITY_FLAG,
	SOURCE_FLAGS,
	EXTENSION_FLAGS,
	DEBUG_FLAG,
	HELP_FLAG,
};

static const char *const acp_synopsis[] = { "[OPTION]...", NULL };

static const struct flag sandbox_flags[] = {
	{ .id = FLAG_ROOT, .name = "root", .letter = 'r', .repeatable = true,
	  .value = { "DIR", COMPLETE_FOLDER, NULL },
	  .help = "a workspace folder, which the command may write (default: the current one)",
	  .man = "Makes DIR a root of the workspace, which the command may write. The command "
		 "starts in the current folder if that is in the workspace, else in the first "
		 "root. The default is the current folder." },
	SANDBOX_FLAGS("the command"),
	WORKER_FLAG,
	{ .id = FLAG_ENV, .name = "env", .value = { "WHICH", COMPLETE_CHOICE, env_choices },
	  .help = "the command's environment: safe (default: yours without secrets), keep or clean",
	  .man = "The environment of the command: safe (the default) is that of hasp without the "
		 "variables whose names or values look like secrets, keep is all of it, clean is "
		 "the short list that commands of models get." },
	{ .id = FLAG_TTY, .name = "tty", .value = { "WHEN", COMPLETE_CHOICE, tty_choices },
	  .help = "give the command its own terminal: auto (default), always or never",
	  .man = "Whether the command gets its own terminal, which hasp copies to yours: auto "
		 "(the default; if standard input, output and error are all a terminal), always, "
		 "or never. Without its own terminal it gets hasp's standard input, output and "
		 "error." },
	{ .id = FLAG_REPORT, .name = "report", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "write the command's end and all denials to FILE, as JSON" },
	{ .id = FLAG_EXPLAIN, .name = "explain", .letter = 'e',
	  .help = "print what would be allowed and denied; run nothing" },
	{ .id = FLAG_STATUS, .name = "status", .letter = 's',
	  .help = "print the levels this machine supports, and what the others lack" },
	{ .id = FLAG_SEATBELT, .name = "seatbelt",
	  .help = "print the plan as a profile for macOS (sandbox-exec -f)" },
	{ .id = FLAG_JSON, .name = "json", .letter = 'j',
	  .help = "print JSON, also on a terminal",
	  .man = "With --explain and --status: prints JSON, also on a terminal. With a command: "
		 "its report is written to standard error as one line of JSON, in place of "
		 "sentences." },
	HELP_FLAG,
};

static const struct positional sandbox_positionals[] = {
	{ { "CMD", COMPLETE_PROGRAM, NULL }, "the program" },
	{ { "ARG", COMPLETE_FILE, NULL }, "its arguments, as they are" },
};

static const char *const sandbox_synopsis[] = {
	"[--write PATH]... [--net] [OPTION]... [--] CMD [ARG]...",
	"--explain [OPTION]...",
	"--status [--sandbox LEVEL] [--json]",
	NULL,
};

static const struct flag worker_flags[] = {
	{ .id = FLAG_CONFINED, .name = "confined", .hidden = true,
	  .help = "the sandbox is there already (what hasp starts)" },
	{ .id = FLAG_ROOT, .name = "root", .letter = 'r', .repeatable = true,
	  .value = { "DIR", COMPLETE_FOLDER, NULL },
	  .help = "allow only workspaces beneath this folder",
	  .man = "Allows only workspaces in or beneath DIR. Without this option, the other side "
		 "may open any folder of this user." },
	{ .id = FLAG_SANDBOX, .name = "sandbox",
	  .value = { "LEVEL", COMPLETE_CHOICE, level_choices },
	  .help = "work only at this level: full, landlock or paths" },
	{ .id = FLAG_NET, .name = "net",
	  .help = "with --root: let commands use the network, if asked for" },
	{ .id = FLAG_WRITE, .name = "write", .repeatable = true,
	  .value = { "PATH", COMPLETE_FILE, NULL },
	  .help = "with --root: also let commands write this, if asked for" },
	{ .id = FLAG_READ, .name = "read", .repeatable = true,
	  .value = { "PATH", COMPLETE_FILE, NULL },
	  .help = "with --root: also allow reading this, if asked for" },
	{ .id = FLAG_DENY, .name = "deny", .repeatable = true,
	  .value = { "PATH", COMPLETE_FILE, NULL },
	  .help = "never allow reading this path" },
	HELP_FLAG,
};

static const char *const config_choices[] = { "show",  "get",       "set",    "unset",
	                                      "allow", "disallow",  "authority", "schema",
	                                      "trust", "distrust",  NULL };
static const char *const scope_choices[] = { "user", "project", NULL };

static const struct flag config_flags[] = {
	{ .id = FLAG_ORIGIN, .name = "origin", .letter = 'o',
	  .help = "with show: where each value comes from" },
	{ .id = FLAG_ALL, .name = "all", .letter = 'a',
	  .help = "with show: also settings left at their default" },
	JSON_FLAG,
	{ .id = FLAG_SCOPE, .name = "scope", .letter = 's',
	  .value = { "SCOPE", COMPLETE_CHOICE, scope_choices },
	  .help = "with set and unset: user (default) or project",
	  .man = "Whose file set and unset write: user (the default) is ~/.gemini/settings.json, "
		 "project is .gemini/settings.json of the project." },
	PROJECT_FLAGS("settings"),
	HELP_FLAG,
};

static const struct positional config_positionals[] = {
	{ { "ACTION", COMPLETE_CHOICE, config_choices },
	  "show, get, set, unset, allow, disallow, authority, schema, trust or distrust" },
	{ { "KEY", COMPLETE_SETTING, NULL },
	  "a setting such as tools.shell.pager; for allow, disallow and authority also a "
	  "variable; for trust and distrust a folder" },
	{ { "VALUE", COMPLETE_NOTHING, NULL },
	  "the new value: a string taken literally, else JSON" },
};

static const char *const config_synopsis[] = {
	"[show] [--origin] [--all] [--json]",
	"get KEY [--json]",
	"set KEY VALUE | unset KEY [--scope user|project]",
	"allow NAME | disallow NAME",
	"authority [NAME] [--json]",
	"trust [FOLDER] | distrust [FOLDER]",
	"schema",
	NULL,
};

static const char *const policy_choices[] = { "list", "check", "allow", "ask", "deny", "remove",
	                                      NULL };

static const struct flag policy_flags[] = {
	{ .id = FLAG_MODE, .name = "mode", .letter = 'm',
	  .value = { "MODE", COMPLETE_CHOICE, mode_choices },
	  .help = "with check: the approval mode (default: from the settings)" },
	{ .id = FLAG_HEADLESS, .name = "headless",
	  .help = "with check: decide as for a run that cannot ask" },
	{ .id = FLAG_SCOPE, .name = "scope", .letter = 's',
	  .value = { "SCOPE", COMPLETE_CHOICE, scope_choices },
	  .help = "whose rules to change or list: user (default) or project",
	  .man = "Whose rules allow, ask, deny and remove change: user (the default) is "
		 "~/.gemini/policies/auto-saved.toml, project is .gemini/policies/auto-saved.toml "
		 "of the project. With list: only the rules of the user or of the project." },
	{ .id = FLAG_PATH, .name = "path", .value = { "PATTERN", COMPLETE_FILE, NULL },
	  .help = "with ask, deny, remove: files and folders that are not to be changed",
	  .man = "With ask, deny and remove: a file, a folder or a pattern of the workspace "
		 "instead of a command or tool. Nothing can change what is denied: no tool, no "
		 "command, no server." },
	JSON_FLAG,
	POLICY_FLAGS,
	PROJECT_FLAGS("settings and policies"),
	HELP_FLAG,
};

static const struct positional policy_positionals[] = {
	{ { "ACTION", COMPLETE_CHOICE, policy_choices },
	  "list (the default), check, allow, ask, deny or remove" },
	{ { "TOOL", COMPLETE_TOOL, NULL },
	  "a tool, or mcp_SERVER_TOOL; for a rule also the beginning of a command: \"npm test\"" },
	{ { "ARGS", COMPLETE_NOTHING, NULL },
	  "with check: its arguments as JSON; for run_shell_command also just the command" },
};

static const char *const policy_synopsis[] = {
	"[list] [--scope user|project] [--json]",
	"check TOOL [ARGS] [--mode MODE] [--headless] [--json]",
	"allow COMMAND|TOOL [--scope user|project]",
	"ask | deny COMMAND|TOOL|--path PATTERN [--scope user|project]",
	"remove COMMAND|TOOL|--path PATTERN [--scope user|project]",
	NULL,
};

static const char *const hooks_choices[] = { "list", "trust", NULL };

static const struct flag hooks_flags[] = {
	{ .id = FLAG_JSON, .name = "json", .letter = 'j', .help = "with list: print JSON" },
	PROJECT_FLAGS("hooks"),
	HELP_FLAG,
};

static const struct positional hooks_positionals[] = {
	{ { "ACTION", COMPLETE_CHOICE, hooks_choices }, "list (default) or trust" },
};

static const char *const hooks_synopsis[] = {
	"[list] [--json]",
	"trust",
	NULL,
};

static const char *const agents_choices[] = { "list", "enable", "disable", "allow", NULL };

static const struct flag agents_flags[] = {
	{ .id = FLAG_JSON, .name = "json", .letter = 'j', .help = "with list: print JSON" },
	PROJECT_FLAGS("agents and settings"),
	HELP_FLAG,
};

static const struct positional agents_positionals[] = {
	{ { "ACTION", COMPLETE_CHOICE, agents_choices },
	  "list (default), enable, disable or allow" },
	{ { "NAME", COMPLETE_NOTHING, NULL }, "the agent" },
};

static const char *const agents_synopsis[] = {
	"[list] [--json]",
	"enable NAME | disable NAME | allow NAME",
	NULL,
};

static const char *const skills_choices[] = {
	"list", "enable", "disable", "install", "link", "uninstall", NULL,
};
static const char *const skills_scope_choices[] = { "user", "project", "workspace", NULL };

static const struct flag skills_flags[] = {
	{ .id = FLAG_SCOPE, .name = "scope", .letter = 's',
	  .value = { "SCOPE", COMPLETE_CHOICE, skills_scope_choices },
	  .help = "the settings or the skills to change, user (default) or project (or "
		  "workspace, which is the same)" },
	{ .id = FLAG_PATH, .name = "path", .value = { "DIR", COMPLETE_NOTHING, NULL },
	  .help = "install: the folder in the repository, or in FOLDER, that has the skills" },
	{ .id = FLAG_CONSENT, .name = "consent",
	  .help = "install, link: say yes to the skills that are shown" },
	{ .id = FLAG_JSON, .name = "json", .letter = 'j', .help = "with list: print JSON" },
	{ .id = FLAG_ALL, .name = "all", .hidden = true,
	  .help = "list: as Gemini CLI has it; hasp has no built-in skills that it would add" },
	PROJECT_FLAGS("skills and settings"),
	HELP_FLAG,
};

static const struct positional skills_positionals[] = {
	{ { "ACTION", COMPLETE_CHOICE, skills_choices },
	  "list (default), enable, disable, install, link or uninstall" },
	{ { "NAME", COMPLETE_FOLDER, NULL }, "the skill, or where it is" },
};

static const char *const skills_synopsis[] = {
	"[list] [--json]",
	"enable NAME | disable NAME [--scope user|project]",
	"install FOLDER|ARCHIVE|URL [--path DIR] [--scope user|project] [--consent]",
	"link FOLDER [--scope user|project] [--consent]",
	"uninstall NAME [--scope user|project]",
	NULL,
};

static const char *const extensions_choices[] = {
	"list",      "enable", "disable",  "install", "link",    "update",
	"uninstall", "new",    "validate", "approve", "config",  "explore",
	"marketplace", NULL,
};

static const struct flag extensions_flags[] = {
	{ .id = FLAG_SCOPE, .name = "scope", .letter = 's',
	  .value = { "SCOPE", COMPLETE_CHOICE, skills_scope_choices },
	  .help = "enable, disable: in all folders (user, the default) or in this one (project or "
		  "workspace)" },
	{ .id = FLAG_CONSENT, .name = "consent",
	  .help = "install, link, update, approve: say yes to all that the extension brings" },
	{ .id = FLAG_ALL, .name = "all", .letter = 'a', .help = "update: all extensions" },
	{ .id = FLAG_REF, .name = "ref", .value = { "REF", COMPLETE_NOTHING, NULL },
	  .help = "install, marketplace add: this branch, tag or commit of the repository, or "
		  "this release" },
	{ .id = FLAG_AUTO_UPDATE, .name = "auto-update",
	  .help = "install: note that Gemini CLI may update it without being asked to" },
	{ .id = FLAG_PRE_RELEASE, .name = "pre-release",
	  .help = "install: take the newest release of GitHub, also one that is not final" },
	{ .id = FLAG_JSON, .name = "json", .letter = 'j',
	  .help = "list, explore, marketplace: print JSON" },
	PROJECT_FLAGS("extensions and settings"),
	HELP_FLAG,
};

static const struct positional extensions_positionals[] = {
	{ { "ACTION", COMPLETE_CHOICE, extensions_choices },
	  "list (default), enable, disable, install, link, update, approve, config, uninstall, "
	  "explore, marketplace, new or validate" },
	{ { "NAME", COMPLETE_FOLDER, NULL }, "the extension, its folder, or a marketplace" },
	{ { "SETTING", COMPLETE_FOLDER, NULL },
	  "with config: one of its settings; with marketplace add: where it is" },
};

static const char *const extensions_synopsis[] = {
	"[list] [--json]",
	"enable NAME | disable NAME [--scope user|project]",
	"install SOURCE [--ref REF] [--auto-update] [--pre-release] [--consent]",
	"link FOLDER [--consent]",
	"update NAME|--all [--consent]",
	"approve NAME [--consent]",
	"explore [MARKETPLACE] [--json]",
	"marketplace [list [--json]|add SOURCE [--ref REF]|remove NAME]",
	"config [NAME [SETTING]]",
	"uninstall NAME...",
	"new FOLDER | validate FOLDER",
	NULL,
};

static const char *const mcp_choices[] = { "list",   "test",    "allow",  "auth", "add",
	                                   "remove", "enable", "disable", NULL };
static const char *const transport_choices[] = { "stdio", "sse", "http", "tcp", NULL };

static const struct flag mcp_flags[] = {
	{ .id = FLAG_SCOPE, .name = "scope", .letter = 's',
	  .value = { "SCOPE", COMPLETE_CHOICE, scope_choices },
	  .help = "add, remove: the settings to change, user or project (default: project)" },
	{ .id = FLAG_TRANSPORT, .name = "transport", .letter = 't',
	  .value = { "HOW", COMPLETE_CHOICE, transport_choices },
	  .help = "add: stdio (default), http, sse or tcp (a WebSocket)" },
	{ .id = FLAG_TRANSPORT, .name = "type", .hidden = true,
	  .value = { "HOW", COMPLETE_CHOICE, transport_choices },
	  .help = "another name of --transport" },
	{ .id = FLAG_ENV, .name = "env", .letter = 'e', .repeatable = true,
	  .value = { "NAME=VALUE", COMPLETE_NOTHING, NULL },
	  .help = "add: a variable for the program" },
	{ .id = FLAG_HEADER, .name = "header", .letter = 'H', .repeatable = true,
	  .value = { "NAME: VALUE", COMPLETE_NOTHING, NULL },
	  .help = "add: a header field for the address" },
	{ .id = FLAG_TIMEOUT, .name = "timeout", .value = { "MS", COMPLETE_NOTHING, NULL },
	  .help = "add: milliseconds that a call may take" },
	{ .id = FLAG_TRUST, .name = "trust", .boolean = true,
	  .help = "add: allow all its tools without asking" },
	{ .id = FLAG_DESCRIPTION, .name = "description",
	  .value = { "TEXT", COMPLETE_NOTHING, NULL }, .help = "add: what the server is for" },
	{ .id = FLAG_INCLUDE_TOOLS, .name = "include-tools", .repeatable = true,
	  .value = { "NAME,...", COMPLETE_NOTHING, NULL },
	  .help = "add: the only tools that are offered" },
	{ .id = FLAG_EXCLUDE_TOOLS, .name = "exclude-tools", .repeatable = true,
	  .value = { "NAME,...", COMPLETE_NOTHING, NULL },
	  .help = "add: tools that are not offered" },
	{ .id = FLAG_SESSION, .name = "session", .hidden = true,
	  .help = "enable, disable: for a session; that is /mcp's" },
	{ .id = FLAG_LOGOUT, .name = "logout", .help = "auth: forget the login" },
	JSON_FLAG,
	PROJECT_FLAGS("servers"),
	HELP_FLAG,
};

static const struct positional mcp_positionals[] = {
	{ { "ACTION", COMPLETE_CHOICE, mcp_choices },
	  "list (default), test, allow, auth, add, remove, enable or disable" },
	{ { "NAME", COMPLETE_NOTHING, NULL }, "a server of the settings" },
};

static const char *const mcp_synopsis[] = {
	"[list] [--json]",
	"test | allow NAME [--json]",
	"auth NAME [--logout]",
	"add [OPTION]... NAME COMMAND|URL [--] [ARG]...",
	"remove NAME [--scope user|project]",
	"enable | disable NAME",
	NULL,
};

static const char *const models_choices[] = { "list", "check", NULL };

static const struct flag models_flags[] = {
	JSON_FLAG,
	PROJECT_FLAGS("settings"),
	HELP_FLAG,
};

static const struct positional models_positionals[] = {
	{ { "ACTION", COMPLETE_CHOICE, models_choices }, "list (the default) or check" },
	{ { "NAME", COMPLETE_NOTHING, NULL },
	  "for list a provider; for check a model as --model takes it (default: the one in "
	  "use)" },
};

static const char *const models_synopsis[] = {
	"[list [PROVIDER]] [--json]",
	"check [MODEL] [--json]",
	NULL,
};

static const char *const checkpoint_choices[] = { "list", "restore", "prune", NULL };

static const struct flag checkpoint_flags[] = {
	{ .id = FLAG_FORCE, .name = "force", .letter = 'f',
	  .help = "with restore: also restore files changed by something else",
	  .man = "With restore: also restores files that something else has changed since. The "
		 "replaced content is kept, as always. Only files that an edit created are "
		 "removed." },
	JSON_FLAG,
	{ .id = FLAG_ROOT, .name = "root", .letter = 'r', .repeatable = true,
	  .value = { "DIR", COMPLETE_FOLDER, NULL },
	  .help = "a workspace folder; the first is the project (default: the current one)" },
	DURABILITY_FLAG,
	SANDBOX_FLAGS("the restore"),
	WORKER_FLAG,
	HELP_FLAG,
};

static const struct positional checkpoint_positionals[] = {
	{ { "ACTION", COMPLETE_CHOICE, checkpoint_choices }, "list, restore or prune" },
	{ { "ID", COMPLETE_NOTHING, NULL }, "a checkpoint, or latest; for prune: days" },
};

static const char *const checkpoint_synopsis[] = {
	"list [--json]",
	"restore ID [--force] [--json]",
	"prune DAYS [--json]",
	NULL,
};

static const char *const web_choices[] = { "invite", "list", "revoke", NULL };
static const char *const role_choices[] = { "watch", "comment", "approve", "drive", NULL };

static const struct flag web_flags[] = {
	{ .id = FLAG_ROLE, .name = "role", .value = { "ROLE", COMPLETE_CHOICE, role_choices },
	  .help = "invite: watch, comment (default), approve or drive; each has those before it" },
	{ .id = FLAG_GROUP, .name = "group", .repeatable = true,
	  .value = { "NAME", COMPLETE_NOTHING, NULL },
	  .help = "invite: a group that the person belongs to, for rules on reviewers" },
	{ .id = FLAG_MINUTES, .name = "minutes", .value = { "N", COMPLETE_NOTHING, NULL },
	  .help = "invite: how long the link is good for (default: 480)" },
	{ .id = FLAG_PROCESS, .name = "process", .value = { "PID", COMPLETE_NOTHING, NULL },
	  .help = "the hasp that is meant, where several have a page" },
	JSON_FLAG,
	HELP_FLAG,
};

static const struct positional web_positionals[] = {
	{ { "ACTION", COMPLETE_CHOICE, web_choices }, "invite, list or revoke" },
	{ { "NAME", COMPLETE_NOTHING, NULL }, "a person" },
};

static const char *const web_synopsis[] = {
	"invite NAME [--role ROLE] [--group NAME]... [--minutes N]",
	"list [--json]",
	"revoke NAME",
	NULL,
};

static const char *const sessions_choices[] = { "list", "search", "export", "rename", "delete",
	                                           NULL };
static const char *const export_choices[] = { "markdown", "json", NULL };

static const struct flag sessions_flags[] = {
	{ .id = FLAG_FORMAT, .name = "format",
	  .value = { "FORMAT", COMPLETE_CHOICE, export_choices },
	  .help = "of export: markdown (default) or json" },
	JSON_FLAG,
	{ .id = FLAG_ROOT, .name = "root", .letter = 'r', .value = { "DIR", COMPLETE_FOLDER, NULL },
	  .help = "the project's folder (default: the current one)" },
	HELP_FLAG,
};

static const struct positional sessions_positionals[] = {
	{ { "ACTION", COMPLETE_CHOICE, sessions_choices },
	  "list, search, export, rename or delete (default: list)" },
	{ { "ID", COMPLETE_NOTHING, NULL },
	  "a session: latest, a number of --list-sessions, an id; for search: words" },
	{ { "TITLE", COMPLETE_NOTHING, NULL }, "the new title" },
};

static const char *const sessions_synopsis[] = {
	"[list] [--json]",
	"search ['WORD ...'] [--json]",
	"export ID [--format markdown|json]",
	"rename ID TITLE",
	"delete ID",
	NULL,
};

static const struct flag stats_flags[] = {
	{ .id = FLAG_PROJECT, .name = "project", .value = { "DIR", COMPLETE_FOLDER, NULL },
	  .help = "the project's folder (default: the current one)" },
	{ .id = FLAG_ALL, .name = "all", .help = "count the sessions of all projects" },
	{ .id = FLAG_SINCE, .name = "since", .value = { "TIME", COMPLETE_NOTHING, NULL },
	  .help = "count from then on: 12h, 7d, 2w, or a day (2026-11-20)" },
	{ .id = FLAG_MODEL, .name = "model", .letter = 'm',
	  .value = { "MODEL", COMPLETE_NOTHING, NULL },
	  .help = "count the replies and calls of this model alone" },
	{ .id = FLAG_JSON, .name = "json", .letter = 'j', .help = "print JSON" },
	{ .id = FLAG_HTML, .name = "html", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "write a page to FILE in place of the tables" },
	HELP_FLAG,
};

static const char *const stats_synopsis[] = {
	"[--project DIR | --all] [--since TIME] [--model MODEL] [--json | --html FILE]",
	NULL,
};

static const struct flag context_flags[] = {
	{ .id = FLAG_MODEL, .name = "model", .letter = 'm',
	  .value = { "MODEL", COMPLETE_NOTHING, NULL },
	  .help = "the model that it would be sent to" },
	{ .id = FLAG_RESUME, .name = "resume", .letter = 'r',
	  .value = { "SESSION", COMPLETE_NOTHING, NULL }, .optional = true,
	  .help = "with the conversation of a session: latest, its number or id" },
	{ .id = FLAG_APPROVAL_MODE, .name = "approval-mode",
	  .value = { "MODE", COMPLETE_NOTHING, NULL }, .help = "as the agent has it" },
	{ .id = FLAG_SKIP_TRUST, .name = "skip-trust", .boolean = true,
	  .help = "with the project's own settings and instructions this once" },
	HELP_FLAG,
};

static const char *const context_synopsis[] = {
	"[list] [-m MODEL] [-r SESSION]",
	"show [NAME]",
	NULL,
};

static const char *const context_actions[] = { "list", "show", NULL };

static const struct command commands[] = {
	{
		.name = "tool",
		.summary = "run one tool: JSON in, JSON out",
		.synopsis = tool_synopsis,
		.text = "Runs the tool NAME once. Its arguments are a JSON object: ARGS is the "
			"name of a file that holds it, - for standard input, or the object itself "
			"if it begins with {. Arguments given with --arg override it.\n\nThe "
			"result is one JSON document on standard output. On a terminal, hasp "
			"prints it for people instead: the diff, where each hunk went, and on "
			"failure what is needed to try again.\n\nSIGINT, SIGTERM and SIGHUP cancel "
			"the call: hasp ends the command and everything it started, undoes what it "
			"must not leave behind, and ends by that signal. A second signal ends hasp "
			"immediately.",
		.flags = tool_flags,
		.flag_count = ARRAY_LEN(tool_flags),
		.positionals = tool_positionals,
		.positional_count = ARRAY_LEN(tool_positionals),
	},
	{
		.name = "serve",
		.summary = "serve the tools to an agent (mcp), or sessions to browsers (web)",
		.synopsis = serve_synopsis,
		.text =
			"Serves the tools, the files of the workspace and a few prompts to agents "
			"and editors that speak the Model Context Protocol (versions 2024-11-05 "
			"to 2026-07-28): on standard input and output, for the agent that starts "
			"it, or with --http on a port of this machine.\n\n"
			"web serves a page that lists your sessions, resumes them and opens new "
			"ones. Its link, on standard error, is for you and works once; \"hasp web "
			"invite\" makes links for others.\n\n"
			"At the end of its input, hasp exits with 0; on SIGINT, SIGTERM or "
			"SIGHUP, with 128 plus the signal's number.",
		.flags = serve_flags,
		.flag_count = ARRAY_LEN(serve_flags),
		.positionals = (const struct positional[]){
			{ { "WHAT", COMPLETE_CHOICE, protocol_choices }, "mcp or web" } },
		.positional_count = 1,
	},
	{
		.name = "acp",
		.summary = "be the agent of an editor, over the Agent Client Protocol",
		.synopsis = acp_synopsis,
		.text =
			"An editor starts this command and speaks the Agent Client Protocol "
			"(version 1) with it on standard input and output. Each of the editor's "
			"sessions is a recorded session of hasp in its own folder, confined and "
			"judged by the same settings and policies as in a terminal; the editor "
			"shows what the agent does and answers its questions. If it does not "
			"answer, the answer is no.\n\n"
			"docs/editors.md has the settings of editors. --acp and "
			"--experimental-acp are other names of this command.\n\n"
			"At the end of its input, hasp closes the sessions and exits with 0; on "
			"SIGINT, SIGTERM or SIGHUP, with 128 plus the signal's number.",
		.flags = acp_flags,
		.flag_count = ARRAY_LEN(acp_flags),
	},
	{
		.name = "sandbox",
		.summary = "run any command confined, or explain the confinement",
		.synopsis = sandbox_synopsis,
		.text = "Runs a command that can write only the workspace (and what --write "
			"adds), cannot read credentials, and reaches no network unless --net is "
			"given. It cannot change files that git, agents and editors would run or "
			"obey (hooks, configuration, settings); git itself works.\n\n"
			"The command has hasp's standard input and output. hasp exits with the "
			"command's exit code, or with 128 plus the number of the signal that "
			"ended it. Afterwards it reports on standard error what was denied, by "
			"which rule, and how to allow it; after success it leaves out routine "
			"denials (--report has them).\n\n"
			"hasp itself exits with 2 for wrong usage, 125 if it cannot start the "
			"command, 126 if CMD is not executable and 127 if CMD is not found.",
		.flags = sandbox_flags,
		.flag_count = ARRAY_LEN(sandbox_flags),
		.positionals = sandbox_positionals,
		.positional_count = ARRAY_LEN(sandbox_positionals),
		.passes_on = true,
	},
	{
		.name = "config",
		.summary = "show settings and where they come from, and change them",
		.synopsis = config_synopsis,
		.text =
			"Settings are Gemini CLI's: from low to high, built-in defaults, the "
			"system's defaults, the user's file, the project's (if its folder is "
			"trusted), and the system's. show prints the merged values, with keys, "
			"tokens and passwords as ***.\n\nset and unset change one value in a file "
			"and keep the rest, comments included. trust makes hasp use a folder's own "
			"settings, hooks, commands and servers; distrust makes it ignore them. "
			"schema prints a JSON Schema of the settings.\n\nEven a trusted project "
			"cannot decide where keys and files go, what is read and written outside "
			"of it, how it is confined, or what runs without asking. allow lets this "
			"project's settings.json or .env set NAME to the value that it has now, "
			"and prints that value; a changed value must be allowed again. disallow "
			"revokes it. authority lists everything that hasp obeys (settings, "
			"variables, files), and who may set it.",
		.flags = config_flags,
		.flag_count = ARRAY_LEN(config_flags),
		.positionals = config_positionals,
		.positional_count = ARRAY_LEN(config_positionals),
	},
	{
		.name = "context",
		.summary = "show what is sent to the model, and the size of each part in tokens",
		.synopsis = context_synopsis,
		.text =
			"list shows the system prompt, the first message, the tools and the "
			"conversation part by part: the file of instructions or the MCP server "
			"that it comes from, and about how many tokens it takes. show prints all "
			"of it, or the part, file or server NAME, word for word. Nothing is sent, "
			"and no key is needed. In a session: /context.",
		.flags = context_flags,
		.flag_count = ARRAY_LEN(context_flags),
		.positionals = (const struct positional[]){
			{ { "ACTION", COMPLETE_CHOICE, context_actions }, "list or show" },
			{ { "NAME", COMPLETE_NOTHING, NULL }, "what to show" } },
		.positional_count = 2,
	},
	{
		.name = "policy",
		.summary = "allow or deny commands and tools for good; explain decisions",
		.synopsis = policy_synopsis,
		.text =
			"Policies decide whether a tool call is allowed, denied, or put to the "
			"user. allow, ask and deny write a rule that holds from now on, in place "
			"of an earlier one about the same; remove removes it. A command stands "
			"for all that begin with its words: \"npm test\" covers npm test --watch. "
			"Rules in the forms of other agents work, too: \"Bash(npm test:*)\".\n\n"
			"check prints the decision on one call, with the file and line of "
			"the rule behind it; for a command line, the decision on each command in "
			"it. It runs nothing. list shows all rules, strongest first, then the "
			"safety checkers.\n\n"
			"The policies are Gemini CLI's: files in ~/.gemini/policies, in the "
			"project's .gemini/policies if its folder is trusted, the administrator's "
			"in /etc/gemini-cli/policies, and rules in the settings.",
		.flags = policy_flags,
		.flag_count = ARRAY_LEN(policy_flags),
		.positionals = policy_positionals,
		.positional_count = ARRAY_LEN(policy_positionals),
	},
	{
		.name = "hooks",
		.alias = "hook",
		.summary = "list hooks, and trust those of a project",
		.synopsis = hooks_synopsis,
		.text =
			"Hooks are programs that the agent runs at certain events, and that may "
			"change what happens next. list shows the hooks of the user, the system "
			"and the project, and whether each runs. A project's hooks run only once "
			"trusted: trust trusts all hooks that the project has now. A hook that "
			"changes must be trusted again.",
		.flags = hooks_flags,
		.flag_count = ARRAY_LEN(hooks_flags),
		.positionals = hooks_positionals,
		.positional_count = ARRAY_LEN(hooks_positionals),
	},
	{
		.name = "agents",
		.summary = "list sub-agents, and switch them on and off",
		.synopsis = agents_synopsis,
		.text =
			"Agents are separate conversations for one kind of task, which the model "
			"may start. list shows those of hasp, of extensions, of the user and, in a "
			"trusted folder, of the project. disable and enable change "
			"agents.overrides in your settings.json, and keep the rest of the file, "
			"comments included. allow lets tasks be sent to a remote agent that a file "
			"of the project or of an extension describes, until the file changes.",
		.flags = agents_flags,
		.flag_count = ARRAY_LEN(agents_flags),
		.positionals = agents_positionals,
		.positional_count = ARRAY_LEN(agents_positionals),
	},
	{
		.name = "skills",
		.alias = "skill",
		.summary = "list, install and remove skills, and switch them on and off",
		.synopsis = skills_synopsis,
		.text =
			"Skills are folders with instructions for one kind of task, which the "
			"model is offered. list shows those of the user and, in a trusted folder, "
			"of the project. disable adds the skill NAME to skills.disabled in your "
			"settings.json, enable takes it out, and both keep the rest of the file, "
			"comments included. install copies the skills of a folder, of a git "
			"repository (https, ssh), or of an archive (.skill, here or at an https "
			"address), to ~/.gemini/skills; link uses those of a folder "
			"where they are; both show each with its files and ask first. uninstall "
			"removes the copy, or the link. The project's settings and .gemini/skills "
			"are changed only with --scope project, in a trusted folder.",
		.flags = skills_flags,
		.flag_count = ARRAY_LEN(skills_flags),
		.positionals = skills_positionals,
		.positional_count = ARRAY_LEN(skills_positionals),
	},
	{
		.name = "extensions",
		.alias = "extension",
		.summary = "list, install and remove extensions, and switch them on and off",
		.synopsis = extensions_synopsis,
		.text =
			"Extensions bring MCP servers, commands, skills, hooks, instructions and "
			"rules. They are kept where Gemini CLI keeps them, in "
			"~/.gemini/extensions; plugins of Claude Code and of Agent Plugins 1.0 are "
			"taken likewise. list shows each with all that it brings. install puts one "
			"there: from a folder, an archive (.tar.gz, .tgz, .zip), the https address "
			"of one, a repository for git (https, ssh, file), or OWNER/NAME at GitHub, "
			"whose release is taken if there is one; or PLUGIN@MARKETPLACE. explore "
			"lists what a marketplace has (of Claude Code, Codex or Gemini CLI; a "
			"folder, a file of JSON, the https address of one, or a repository), or "
			"all that you keep by marketplace add. link uses a folder where it is. "
			"Both list the contents and ask for confirmation. Links that leave the "
			"folder, device files and more than 20,000 files are rejected. uninstall "
			"removes the copy, or the link. update asks where it came from for what is "
			"new, and fetches that; it asks again where what one brings has changed. "
			"An extension whose files were changed by something else is disabled until "
			"you run approve. disable switches an extension off, in all folders or "
			"with --scope project in this one; enable takes that back. config shows "
			"what you set of an extension's settings, or asks for one on standard "
			"input. new makes a folder to begin with, validate checks one.",
		.loose = "uninstall",
		.flags = extensions_flags,
		.flag_count = ARRAY_LEN(extensions_flags),
		.positionals = extensions_positionals,
		.positional_count = ARRAY_LEN(extensions_positionals),
	},
	{
		.name = "mcp",
		.summary = "list, test, add and remove the MCP servers that the agent uses",
		.synopsis = mcp_synopsis,
		.text =
			"MCP servers give the agent further tools; the setting mcpServers names "
			"them, and files of Claude Code and Codex do. list shows each with its "
			"tools, as far as they are known, and starts none. test starts one in its "
			"sandbox, or connects to it, asks for its tools, and shows what it answers "
			"and what the sandbox denied; it exits with 1 if the server does not work. "
			"If a server or the declaration of one of its tools has changed, the tool "
			"is not run until you approve it: test shows the change; allow shows it "
			"and approves it. A server of the project's .mcp.json or "
			".codex/config.toml is not used until you approve it, with allow or in a "
			"session.\n\nauth logs in to an HTTP server that requires it (OAuth): it "
			"prints the address of the login page and opens it in $BROWSER or with "
			"xdg-open.\n\nadd and remove change mcpServers in settings.json, the "
			"project's unless --scope says user, and keep the rest, comments included. "
			"The options of add stand anywhere before --; others that begin with a "
			"dash are the program's. A project's servers count only in a trusted "
			"folder, after \"hasp config allow mcpServers\". disable switches a server "
			"off in all projects and leaves the settings as they are; enable takes "
			"that back.",
		.loose = "add",
		.flags = mcp_flags,
		.flag_count = ARRAY_LEN(mcp_flags),
		.positionals = mcp_positionals,
		.positional_count = ARRAY_LEN(mcp_positionals),
	},
	{
		.name = "checkpoint",
		.summary = "list checkpoints made before edits, and restore one",
		.synopsis = checkpoint_synopsis,
		.text =
			"hasp saves each file before an edit if the session is interactive or "
			"general.checkpointing.enabled is set. list shows the checkpoints of the "
			"project, oldest first. restore undoes the edits that the session made "
			"after the checkpoint and removes the files they created. Changes made by "
			"others are kept. A file with conflicting changes is not touched; its name "
			"is printed. The replaced content is saved too, so that a restore can be "
			"undone.\n\nprune removes checkpoints more than DAYS days old.\n\nThe exit "
			"code is 1 if a file was not touched or could not be restored.",
		.flags = checkpoint_flags,
		.flag_count = ARRAY_LEN(checkpoint_flags),
		.positionals = checkpoint_positionals,
		.positional_count = ARRAY_LEN(checkpoint_positionals),
	},
	{
		.name = "web",
		.summary = "invite people to a session's page in the browser, and end their links",
		.synopsis = web_synopsis,
		.text =
			"/web in hasp, --web and \"hasp serve web\" show sessions in a browser. "
			"invite prints a link for one more person. It works once, for the first "
			"browser that opens it. list shows who has a link. revoke ends one and "
			"closes the person's pages.",
		.flags = web_flags,
		.flag_count = ARRAY_LEN(web_flags),
		.positionals = web_positionals,
		.positional_count = ARRAY_LEN(web_positionals),
	},
	{
		.name = "sessions",
		.summary = "list, search, export, name and delete recorded sessions",
		.synopsis = sessions_synopsis,
		.text =
			"list prints the sessions of the project, the last one first. search "
			"lists those that have all words in their titles, or in what was said, "
			"called and answered. export prints a session as Markdown or JSON. rename "
			"gives it another title. delete removes it with all that belongs to it.",
		.flags = sessions_flags,
		.flag_count = ARRAY_LEN(sessions_flags),
		.positionals = sessions_positionals,
		.positional_count = ARRAY_LEN(sessions_positionals),
	},
	{
		.name = "stats",
		.summary = "count what recorded sessions did and used",
		.synopsis = stats_synopsis,
		.text =
			"Counts over the recorded sessions of the project: edits that were right, "
			"repaired or refused, and why, by model and tool; tokens; calls; what the "
			"sandbox, a policy or the user denied; commands; and time. It shows them "
			"for each day and session as well.\n\nDays and times are UTC. Files are "
			"only read, and nothing is sent anywhere. --html writes a self-contained "
			"page without scripts.",
		.flags = stats_flags,
		.flag_count = ARRAY_LEN(stats_flags),
	},
	{
		.name = "models",
		.summary = "list the models you can use, or check that one works",
		.synopsis = models_synopsis,
		.text =
			"list asks each provider for which you have a key which models it offers, "
			"and prints them with the length of their context and their prices. "
			"Known models of providers without a key are listed, too, with the "
			"variable that would hold the key. No request that costs anything is "
			"sent.\n\n"
			"check sends the model three small requests, for which its provider may "
			"charge: for text, for a tool call, and with thinking. It prints which of "
			"them work and how long they took, and for the others the provider's own "
			"words. Parameters that the provider refuses are named, left out, and "
			"remembered. Requests are not repeated for other reasons, and no fallback "
			"model is used.\n\n"
			"The result of a check is works, fails, missing (the reply lacked the "
			"requested part) or not tried.\n\n"
			"The exit code of check is 0 if all three work, 41 if there is no valid "
			"key, and 1 otherwise.",
		.flags = models_flags,
		.flag_count = ARRAY_LEN(models_flags),
		.positionals = models_positionals,
		.positional_count = ARRAY_LEN(models_positionals),
	},
	{
		.name = "worker",
		.summary = "run as a worker for a hasp on another machine",
		.synopsis = (const char *const[]){ "[--root DIR]... [OPTION]...", NULL },
		.text =
			"Speaks hasp's worker protocol, for \"hasp tool --worker 'ssh HOST hasp "
			"worker'\" and the like. It opens the workspace that the other side "
			"names, and confines itself and its commands as that side asks, within "
			"what the options allow. It ends at the end of its input.",
		.flags = worker_flags,
		.flag_count = ARRAY_LEN(worker_flags),
	},
	{
		.name = "completion",
		.summary = "print the completion script of a shell",
		.synopsis = (const char *const[]){ "bash | zsh | fish", NULL },
		.text = "Prints the script that teaches the shell to complete the commands, flags, "
			"tools and arguments of hasp.",
		.flags = (const struct flag[]){ HELP_FLAG },
		.flag_count = 1,
		.positionals = (const struct positional[]){
			{ { "SHELL", COMPLETE_CHOICE, shell_choices }, "bash, zsh or fish" } },
		.positional_count = 1,
	},
	{
		.name = "help",
		.summary = "show the help of hasp or of a command",
		.synopsis = (const char *const[]){ "[COMMAND]", NULL },
		.text = "Shows what --help shows.",
		.flags = (const struct flag[]){ HELP_FLAG },
		.flag_count = 1,
		.positionals = (const struct positional[]){
			{ { "COMMAND", COMPLETE_COMMAND, NULL }, "the command to explain" } },
		.positional_count = 1,
	},
};

const struct command *command_root(void)
{
	return &agent_command;
}

size_t command_count(void)
{
	return ARRAY_LEN(commands);
}

const struct command *command_listed(size_t i)
{
	return &commands[i];
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (strcmp(commands[i].name, name) == 0 ||
		    (commands[i].alias && strcmp(commands[i].alias, name) == 0))
			return &commands[i];
	}
	return NULL;
}
