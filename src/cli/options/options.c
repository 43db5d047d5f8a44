/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the program itself and of the commands that run something. See command.h for the
 * steps to add one. */
#include "cli/options/flags.h"

#include <string.h>

#include "base/mem.h"

/* ---- the program itself ------------------------------------------------------ */

/* The rows of the program itself: the agent. Names and letters are Gemini CLI's where it has
 * them. */

static const char *const format_choices[] = { "text", "json", "stream-json", NULL };
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
	  .help = "the prompt, answered in a session that goes on" },
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
	  .help = "resume a session: latest, a number, an id or a title; on a terminal "
	          "without one: choose it from a list" },
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
	"[OPTION]... [PROMPT...]",
	"-p PROMPT [OPTION]...",
	"COMMAND [ARGUMENT]...",
	NULL,
};

/* The program itself, which is the agent. */
static const struct command agent_command = {
	.name = "hasp",
	.summary = "a coding agent with state-verified edits, and its tools",
	.synopsis = synopsis,
	.text =
		"On a terminal, hasp is an interactive session, which begins with the PROMPT "
		"if there is one. With -p, or without a terminal, it works on the files of the "
		"current folder until it has answered, and ends. A model reads, edits and runs "
		"commands through hasp's tools. Every read returns the file's SHA-256; every "
		"edit names the SHA-256 it was made against, and changes nothing if the file "
		"has changed since. Tools run in a sandbox and write nothing outside the "
		"workspace. hasp reads Gemini CLI's settings, policies, hooks, GEMINI.md and "
		"sessions as they are.\n\n"
		"The commands offer its parts alone: one tool to a script, all tools to another "
		"agent, the sandbox to any command.",
	.flags = flags,
	.flag_count = ARRAY_LEN(flags),
};

/* ---- commands ---------------------------------------------------------------- */

static const char *const color_choices[] = { "auto", "always", "never", NULL };
static const char *const protocol_choices[] = { "mcp", "web", "a2a", NULL };
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
		 "this flag the token is the value of HASP_MCP_TOKEN (a2a: HASP_A2A_TOKEN), else "
		 "a new one at each start, which is printed." },
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
	  .help = "web, a2a: the port (default: any free one)" },
	{ .id = FLAG_LISTEN, .name = "listen", .value = { "ADDRESS", COMPLETE_NOTHING, NULL },
	  .help = "web, a2a: this IP address in place of 127.0.0.1; others need --tls" },
	{ .id = FLAG_SOCKET, .name = "socket", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "web: a Unix socket in place of an address, for ssh -L PORT:FILE" },
	{ .id = FLAG_TLS, .name = "tls",
	  .help = "web, a2a: HTTPS, with the certificate of --certificate",
	  .man = "web, a2a: serves HTTPS. Without --certificate, web makes a certificate for this "
		 "run and prints its SHA-256 fingerprint, which is what the browser must show; "
		 "a2a needs --certificate and --key." },
	{ .id = FLAG_CERTIFICATE, .name = "certificate", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "web, a2a: the certificate of --tls, PEM" },
	{ .id = FLAG_KEY, .name = "key", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "web, a2a: the key of that certificate, PEM" },
	{ .id = FLAG_CLIENT_CA, .name = "client-ca", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "a2a: accept callers by certificates of these authorities (PEM)" },
	{ .id = FLAG_WORKSPACE, .name = "workspace", .repeatable = true,
	  .value = { "DIR", COMPLETE_FOLDER, NULL },
	  .help = "a2a: a folder that tasks may name (default: the current one alone)",
	  .man = "a2a: a folder that tasks may work in. May be repeated; the first is that of "
		 "tasks that name none. The default is the current folder. No task reaches any "
		 "other." },
	{ .id = FLAG_TASKS, .name = "tasks", .value = { "N", COMPLETE_NOTHING, NULL },
	  .help = "a2a: tasks that run at the same time (default: 4); others wait" },
	{ .id = FLAG_BASE_PATH, .name = "base-path", .value = { "PATH", COMPLETE_NOTHING, NULL },
	  .help = "a2a: what all paths begin with, such as /agents/hasp" },
	{ .id = FLAG_PUBLIC_URL, .name = "public-url", .value = { "URL", COMPLETE_NOTHING, NULL },
	  .help = "a2a: the address in the agent's card, where a proxy has a different one" },
	{ .id = FLAG_PROXY, .name = "proxy", .repeatable = true,
	  .value = { "ADDRESS", COMPLETE_NOTHING, NULL },
	  .help = "a2a: believe Forwarded and X-Forwarded headers from this IP address" },
	{ .id = FLAG_STDIO, .name = "stdio",
	  .help = "a2a: JSON-RPC on standard input and output, one message a line" },
	{ .id = FLAG_CALLER, .name = "caller", .value = { "NAME", COMPLETE_NOTHING, NULL },
	  .help = "a2a: the caller whose messages --stdio reads" },
	{ .id = FLAG_CONTEXT, .name = "context", .value = { "ID", COMPLETE_NOTHING, NULL },
	  .help = "a2a: with --stdio, the agent of one task of another server's, in this session",
	  .man = "a2a: with --stdio, the agent of one task, for the server whose --runner started "
		 "it. The task works in the session ID; the other server keeps the task. The end "
		 "of the input interrupts it." },
	{ .id = FLAG_RUNNER, .name = "runner", .value = { "COMMAND", COMPLETE_NOTHING, NULL },
	  .help = "a2a: start the agent of each task by COMMAND: \"srun -n1\", \"ssh HOST\"",
	  .man = "a2a: starts the agent of each task as \"COMMAND hasp serve a2a --stdio ...\", "
		 "and works with it over its standard input and output: \"srun -n1\", \"ssh "
		 "HOST\", \"podman run -i --rm IMAGE\" (docs/fleet.md). COMMAND is split at "
		 "white space; quotes and backslashes protect white space. It is not passed to a "
		 "shell. A JSON array of words works, too." },
	{ .id = FLAG_MODEL, .name = "model", .letter = 'm',
	  .value = { "NAME", COMPLETE_NOTHING, NULL },
	  .help = "web, a2a: the model of its sessions" },
	APPROVAL_FLAGS,
	SOURCE_FLAGS,
	EXTENSION_FLAGS,
	WEB_FLAGS,
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
	"a2a [--port PORT] [--workspace DIR]... [OPTION]...",
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

/* Those that help lists before setup_commands.c, and behind. */
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
		.summary = "serve tools (mcp), sessions for browsers (web), or an agent (a2a)",
		.synopsis = serve_synopsis,
		.text =
			"Serves the tools, the files of the workspace and a few prompts to agents "
			"and editors that speak the Model Context Protocol (versions 2024-11-05 "
			"to 2026-07-28): on standard input and output, for the agent that starts "
			"it, or with --http on a port of this machine.\n\n"
			"web serves a page that lists your sessions, resumes them and opens new "
			"ones. Its link, on standard error, is for you and works once; \"hasp web "
			"invite\" makes links for others.\n\n"
			"a2a is an agent for other agents, over the Agent2Agent protocol (1.0 and "
			"0.3), on a port of this machine. The address of its card is printed to "
			"standard error. A caller's tasks may read the workspaces that are named "
			"here, and do more only where a rule of yours names that caller "
			"(docs/a2a.md). The options of a run, --approval-mode to --web-port, are "
			"a2a's.\n\n"
			"At the end of its input, hasp exits with 0; on SIGINT, SIGTERM or "
			"SIGHUP, with 128 plus the signal's number.",
		.flags = serve_flags,
		.flag_count = ARRAY_LEN(serve_flags),
		.positionals = (const struct positional[]){
			{ { "WHAT", COMPLETE_CHOICE, protocol_choices }, "mcp, web or a2a" } },
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
}, last_commands[] = {
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
	size_t setup;

	command_setup_rows(&setup);
	return ARRAY_LEN(commands) + setup + ARRAY_LEN(last_commands);
}

const struct command *command_listed(size_t i)
{
	size_t setup;
	const struct command *rows = command_setup_rows(&setup);

	if (i < ARRAY_LEN(commands))
		return &commands[i];
	i -= ARRAY_LEN(commands);
	return i < setup ? &rows[i] : &last_commands[i - setup];
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < command_count(); i++) {
		const struct command *command = command_listed(i);

		if (strcmp(command->name, name) == 0 ||
		    (command->alias && strcmp(command->alias, name) == 0))
			return command;
	}
	return NULL;
}

