/* SPDX-License-Identifier: Apache-2.0 */
/* The rows. See options.h for the steps to add one. */
#include "cli/options.h"

#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"

static const char *const color_choices[] = { "auto", "always", "never", NULL };
static const char *const durability_choices[] = { "full", "rename", NULL };
static const char *const protocol_choices[] = { "mcp", NULL };
static const char *const confirm_choices[] = { "never", "commands", "edits", "all", NULL };
static const char *const content_choices[] = { "full", "diff", "none", NULL };
static const char *const level_choices[] = { "auto",  "full", "landlock",
	                                     "paths", "none", NULL };
static const char *const env_choices[] = { "safe", "keep", "clean", NULL };
static const char *const tty_choices[] = { "auto", "always", "never", NULL };
static const char *const shell_choices[] = { "bash", "zsh", "fish", NULL };

#define HELP_FLAG \
	{ .id = FLAG_HELP, .name = "help", .letter = 'h', .help = "show this help" }

#define DURABILITY_FLAG                                                                          \
	{ .id = FLAG_DURABILITY, .name = "durability",                                           \
	  .value = { "HOW", COMPLETE_CHOICE, durability_choices },                               \
	  .help = "full (synced to the disk, the default) or rename",                            \
	  .man = "How safe a written file is when the call returns: full (the file and its folder " \
		 "are synced to the disk, the default) or rename (atomic, and left to the kernel " \
		 "to write out)." }

/* What the three commands that reach a workspace have in common. `WHO` is what is confined. */
#define SANDBOX_FLAGS(WHO)                                                                       \
	{ .id = FLAG_SANDBOX, .name = "sandbox",                                                 \
	  .value = { "LEVEL", COMPLETE_CHOICE, level_choices },                                  \
	  .help = "how " WHO " is confined: auto (default), full, landlock or paths",            \
	  .man = "How " WHO " is confined: auto (the default) is the strongest level that this " \
		 "machine allows; full, landlock or paths (also called none) is exactly that "   \
		 "level, and an error where it cannot be had. \"hasp sandbox --status\" "        \
		 "explains them. The environment variable HASP_SANDBOX is the default." },       \
	{ .id = FLAG_NET, .name = "net", .help = "leave the network on" },                       \
	{ .id = FLAG_WRITE, .name = "write", .repeatable = true,                                 \
	  .value = { "PATH", COMPLETE_FILE, NULL },                                              \
	  .help = "commands may write this file or folder too" },                                \
	{ .id = FLAG_READ, .name = "read", .repeatable = true,                                   \
	  .value = { "PATH", COMPLETE_FILE, NULL },                                              \
	  .help = "may be read although it is hidden by default" },                              \
	{ .id = FLAG_DENY, .name = "deny", .repeatable = true,                                   \
	  .value = { "PATH", COMPLETE_FILE, NULL }, .help = "may not be read at all" }

#define WORKER_FLAG                                                                              \
	{ .id = FLAG_WORKER, .name = "worker", .value = { "COMMAND", COMPLETE_NOTHING, NULL },   \
	  .help = "work elsewhere: \"ssh HOST hasp worker\"",                                    \
	  .man = "Starts COMMAND and works where its standard input and output lead: "           \
		 "\"ssh HOST hasp worker\", \"docker exec -i NAME hasp worker\". COMMAND is cut "  \
		 "into words at blanks; quotes and backslashes keep blanks, nothing else has a " \
		 "meaning and no shell is run. Or it is a JSON array of words. Roots and the "   \
		 "paths of other options are then paths over there." }

static const struct flag root_flags[] = {
	HELP_FLAG,
	{ .id = FLAG_VERSION, .name = "version", .letter = 'V', .help = "show the version" },
	{ .id = FLAG_MAN_PAGE, .name = "man-page", .hidden = true, .help = "print hasp(1)" },
};

static const char *const root_synopsis[] = { "COMMAND [ARGUMENT]...", "--version | --help", NULL };

static const struct command root = {
	.name = "hasp",
	.summary = "state-verified file tools for language models",
	.synopsis = root_synopsis,
	.text = "hasp reads and edits files on behalf of a language model, or of any program. "
		"Every read answers with the SHA-256 of the file; every edit names the SHA-256 it "
		"was made for and changes nothing when the file is in another state. Diffs are "
		"placed by their content, or refused. Nothing outside the workspace is reached.",
	.flags = root_flags,
	.flag_count = ARRAY_LEN(root_flags),
	.run = command_run_root,
};

static const struct flag tool_flags[] = {
	{ .id = FLAG_ARG, .name = "arg", .letter = 'a', .repeatable = true,
	  .value = { "KEY=VALUE", COMPLETE_PARAMETER, NULL },
	  .help = "set one argument of the tool (KEY=@FILE reads a file)",
	  .man = "Sets the argument KEY, in place of what ARGS says about it. A string is taken "
		 "as it stands; a number, a boolean, an array or an object is read as JSON, as the "
		 "tool's schema demands. An array of strings can also be built from several flags "
		 "with one item each. KEY=@FILE takes the value from FILE, KEY=@- from standard "
		 "input; KEY=@@TEXT is the text @TEXT." },
	{ .id = FLAG_ROOT, .name = "root", .letter = 'r', .repeatable = true,
	  .value = { "DIR", COMPLETE_FOLDER, NULL },
	  .help = "a workspace folder (default: the current one)",
	  .man = "Makes DIR a root of the workspace. Relative paths are beneath the first one; "
		 "no path leads outside all of them. The default is the current folder." },
	{ .id = FLAG_JSON, .name = "json", .letter = 'j',
	  .help = "print JSON, also on a terminal",
	  .man = "Prints one JSON document on one line, also on a terminal. This is the default "
		 "when standard output is not a terminal." },
	{ .id = FLAG_PRETTY, .name = "pretty", .letter = 'p',
	  .help = "print for people, also to a pipe; with --json: indent",
	  .man = "Prints the view for people, with the diff, also when standard output is not a "
		 "terminal. Together with --json: indents the JSON by two spaces." },
	{ .id = FLAG_COLOR, .name = "color", .value = { "WHEN", COMPLETE_CHOICE, color_choices },
	  .help = "colour the view for people: auto, always or never",
	  .man = "Colours the view for people: auto (the default: on a terminal that has colours, "
		 "unless NO_COLOR is set), always or never." },
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
	  .man = "Makes DIR a root of the workspace, for every client. Without this flag a client "
		 "that offers roots is asked for its own, and the current folder is taken for others." },
	{ .id = FLAG_HTTP, .name = "http", .value = { "PORT", COMPLETE_NOTHING, NULL },
	  .help = "serve streamable HTTP on this port of 127.0.0.1 (0: any free one)",
	  .man = "Serves streamable HTTP on this port of 127.0.0.1 instead of standard input and "
		 "output, to any number of clients; 0 takes a free port. The URL is printed to "
		 "standard error." },
	{ .id = FLAG_TOKEN_FILE, .name = "token-file", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "read the bearer token from FILE, or make it there",
	  .man = "The bearer token that HTTP clients must send is the content of FILE, which only "
		 "its owner may read. If there is no such file it is made, with a new token. "
		 "Without this flag the token is that of the environment variable "
		 "HASP_MCP_TOKEN, else a new one at each start, which is printed." },
	{ .id = FLAG_NO_TOKEN, .name = "no-token",
	  .help = "ask HTTP clients for no token (for tests only)",
	  .man = "Asks HTTP clients for no token: every process of this machine can then use the "
		 "tools, whoever's it is. For tests only." },
	{ .id = FLAG_ALLOW_ORIGIN, .name = "allow-origin", .repeatable = true,
	  .value = { "ORIGIN", COMPLETE_NOTHING, NULL },
	  .help = "accept HTTP requests of web pages from this origin too" },
	{ .id = FLAG_ALLOW_HOST, .name = "allow-host", .repeatable = true,
	  .value = { "HOST", COMPLETE_NOTHING, NULL },
	  .help = "accept HTTP requests for this host name too" },
	{ .id = FLAG_TOOLS, .name = "tools", .letter = 't', .repeatable = true,
	  .value = { "LIST", COMPLETE_TOOL, NULL },
	  .help = "offer only these tools (names or aliases, with commas)" },
	{ .id = FLAG_EXCLUDE_TOOLS, .name = "exclude-tools", .letter = 'x', .repeatable = true,
	  .value = { "LIST", COMPLETE_TOOL, NULL },
	  .help = "do not offer these tools" },
	{ .id = FLAG_READ_ONLY, .name = "read-only",
	  .help = "offer only tools that do not change anything" },
	{ .id = FLAG_TOOL_NAME, .name = "tool-name", .repeatable = true,
	  .value = { "OLD=NEW", COMPLETE_NOTHING, NULL },
	  .help = "offer the tool OLD under the name NEW",
	  .man = "Offers the tool OLD under the name NEW, in the descriptions of other tools too." },
	{ .id = FLAG_TOOL_PREFIX, .name = "tool-prefix", .value = { "TEXT", COMPLETE_NOTHING, NULL },
	  .help = "put TEXT before the name of each tool that --tool-name does not name" },
	{ .id = FLAG_CONFIRM, .name = "confirm",
	  .value = { "WHEN", COMPLETE_CHOICE, confirm_choices },
	  .help = "ask the user: never (default; most clients do), before commands, or before all "
		  "that changes something",
	  .man = "Whether the user is asked, by the client's elicitation: never (the default: most "
		 "clients ask by themselves), before commands are run, or before all that "
		 "changes something, which is edits and commands (edits is another name for it). "
		 "The question shows the command, or the diff, and exactly that is done, or "
		 "nothing. A client that cannot ask can do neither then." },
	{ .id = FLAG_RETURN_CONTENT, .name = "return-content",
	  .value = { "WHAT", COMPLETE_CHOICE, content_choices },
	  .help = "what edits answer with by default: full, diff or none",
	  .man = "What the answer of an edit carries when the call does not say: the full new "
		 "content (the default), a diff, or none. Less saves the model's context." },
	DURABILITY_FLAG,
	SANDBOX_FLAGS("each tool"),
	WORKER_FLAG,
	HELP_FLAG,
};

static const char *const serve_synopsis[] = {
	"mcp [--root DIR]... [OPTION]...",
	"mcp --http PORT [OPTION]...",
	NULL,
};

static const struct flag sandbox_flags[] = {
	{ .id = FLAG_ROOT, .name = "root", .letter = 'r', .repeatable = true,
	  .value = { "DIR", COMPLETE_FOLDER, NULL },
	  .help = "a workspace folder, which may be written (default: the current one)",
	  .man = "Makes DIR a root of the workspace: it may be written. The command begins in the "
		 "current folder if that is in the workspace, else in the first root. The default "
		 "is the current folder." },
	SANDBOX_FLAGS("the command"),
	WORKER_FLAG,
	{ .id = FLAG_ENV, .name = "env", .value = { "WHICH", COMPLETE_CHOICE, env_choices },
	  .help = "environment: safe (default: yours without secrets), keep or clean",
	  .man = "The environment of the command: safe (the default) is that of hasp without the "
		 "variables whose names or values look like secrets, keep is all of it, clean is "
		 "the short list that commands of models get." },
	{ .id = FLAG_TTY, .name = "tty", .value = { "WHEN", COMPLETE_CHOICE, tty_choices },
	  .help = "a terminal of its own: auto (default), always or never",
	  .man = "Whether the command gets a terminal of its own, from which hasp copies to yours: "
		 "auto (the default) when standard input, output and error all are a terminal, "
		 "always, or never. Without one it gets hasp's own standard input, output and "
		 "error." },
	{ .id = FLAG_REPORT, .name = "report", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "write how it ended, and what was denied, to FILE as JSON" },
	{ .id = FLAG_EXPLAIN, .name = "explain", .letter = 'e',
	  .help = "print what would be allowed and denied; run nothing" },
	{ .id = FLAG_STATUS, .name = "status", .letter = 's',
	  .help = "print how this machine can confine, and why not better" },
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
	"--status [--json]",
	NULL,
};

static const struct flag worker_flags[] = {
	{ .id = FLAG_CONFINED, .name = "confined", .hidden = true,
	  .help = "the sandbox is there already (what hasp starts)" },
	{ .id = FLAG_ROOT, .name = "root", .letter = 'r', .repeatable = true,
	  .value = { "DIR", COMPLETE_FOLDER, NULL },
	  .help = "allow workspaces beneath this folder only",
	  .man = "Allows workspaces in or beneath DIR only. Without this option whoever is "
		 "connected may open any folder of this user's." },
	{ .id = FLAG_SANDBOX, .name = "sandbox",
	  .value = { "LEVEL", COMPLETE_CHOICE, level_choices },
	  .help = "work at this level only: full, landlock or paths" },
	{ .id = FLAG_NET, .name = "net",
	  .help = "with --root: commands may be given the network" },
	{ .id = FLAG_WRITE, .name = "write", .repeatable = true,
	  .value = { "PATH", COMPLETE_FILE, NULL },
	  .help = "with --root: this may be written too, if asked for" },
	{ .id = FLAG_READ, .name = "read", .repeatable = true,
	  .value = { "PATH", COMPLETE_FILE, NULL },
	  .help = "with --root: this may be read too, if asked for" },
	{ .id = FLAG_DENY, .name = "deny", .repeatable = true,
	  .value = { "PATH", COMPLETE_FILE, NULL }, .help = "may not be read, whatever is asked for" },
	HELP_FLAG,
};

static const struct command commands[] = {
	{
		.name = "tool",
		.summary = "run one tool: JSON in, JSON out",
		.synopsis = tool_synopsis,
		.text = "Runs the tool NAME once. Its arguments are a JSON object: ARGS is the "
			"name of a file that holds it, or - for standard input, or the object itself "
			"if it begins with {. Arguments given with --arg are merged over it.\n\n"
			"The result is one JSON document on standard output. On a terminal the "
			"result is shown for people instead: the diff, where each hunk went, and "
			"on failure what is needed to try again.",
		.flags = tool_flags,
		.flag_count = ARRAY_LEN(tool_flags),
		.positionals = tool_positionals,
		.positional_count = ARRAY_LEN(tool_positionals),
		.run = command_run_tool,
	},
	{
		.name = "serve",
		.summary = "serve the tools to an agent, over the Model Context Protocol",
		.synopsis = serve_synopsis,
		.text = "Serves the tools, the files of the workspace and a few prompts to agents and "
			"editors that speak the Model Context Protocol (versions 2024-11-05 to "
			"2026-07-28): on standard input and output, for the agent that starts it, or "
			"with --http on a port of this machine.\n\n"
			"It ends when its input ends (exit code 0), or by SIGINT, SIGTERM or SIGHUP "
			"(128 and the signal's number).",
		.flags = serve_flags,
		.flag_count = ARRAY_LEN(serve_flags),
		.positionals = (const struct positional[]){
			{ { "PROTOCOL", COMPLETE_CHOICE, protocol_choices }, "mcp" } },
		.positional_count = 1,
		.run = command_run_serve,
	},
	{
		.name = "sandbox",
		.summary = "run any command confined, or explain the confinement",
		.synopsis = sandbox_synopsis,
		.text = "Runs a command that can write only the workspace (and what --write adds), "
			"cannot read credentials, and reaches no network unless --net is given. "
			"What git, agents and editors would run or obey (hooks, configuration, "
			"settings) is kept as it is, while git itself works.\n\n"
			"Input and output are hasp's own, the exit code is the command's (128 and "
			"the number for a signal). What was denied is told on standard error when "
			"it has ended, with the rule and how to allow it.\n\n"
			"hasp's own exit codes are 2 for a wrong command line, 125 when nothing could "
			"be run, 126 when CMD is not a program and 127 when there is none.",
		.flags = sandbox_flags,
		.flag_count = ARRAY_LEN(sandbox_flags),
		.positionals = sandbox_positionals,
		.positional_count = ARRAY_LEN(sandbox_positionals),
		.passes_on = true,
		.run = command_run_sandbox,
	},
	{
		.name = "worker",
		.summary = "work for a hasp elsewhere, over standard input and output",
		.synopsis = (const char *const[]){ "[--root DIR]... [OPTION]...", NULL },
		.text = "Serves the protocol between hasp and its workers: for \"hasp tool --worker "
			"'ssh HOST hasp worker'\" and the like. It opens the workspace that the other "
			"side names, and confines itself and its commands as that side asks, within "
			"what the options allow. It ends when its input ends.",
		.flags = worker_flags,
		.flag_count = ARRAY_LEN(worker_flags),
		.run = command_run_worker,
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
		.run = command_run_completion,
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
		.run = command_run_help,
	},
};

const struct command *command_root(void)
{
	return &root;
}

size_t command_count(void)
{
	return ARRAY_LEN(commands);
}

const struct command *command_at(size_t i)
{
	return &commands[i];
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}
