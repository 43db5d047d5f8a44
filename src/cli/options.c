/* SPDX-License-Identifier: Apache-2.0 */
/* The rows. See options.h for the steps to add one. */
#include "cli/options.h"

#include <string.h>

#include "base/mem.h"
#include "cli/commands.h"

static const char *const color_choices[] = { "auto", "always", "never", NULL };
static const char *const durability_choices[] = { "full", "rename", NULL };
static const char *const protocol_choices[] = { "mcp", NULL };
static const char *const confirm_choices[] = { "never", "edits", NULL };
static const char *const content_choices[] = { "full", "diff", "none", NULL };
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
	  .help = "ask the user: never (default; most clients do) or before edits",
	  .man = "Whether the user is asked, by the client's elicitation, before something is "
		 "changed: never (the default: most clients ask by themselves) or edits. The question "
		 "shows the diff, and exactly that is written, or nothing. A client that cannot "
		 "ask cannot edit then." },
	{ .id = FLAG_RETURN_CONTENT, .name = "return-content",
	  .value = { "WHAT", COMPLETE_CHOICE, content_choices },
	  .help = "what edits answer with by default: full, diff or none",
	  .man = "What the answer of an edit carries when the call does not say: the full new "
		 "content (the default), a diff, or none. Less saves the model's context." },
	DURABILITY_FLAG,
	HELP_FLAG,
};

static const char *const serve_synopsis[] = {
	"mcp [--root DIR]... [OPTION]...",
	"mcp --http PORT [OPTION]...",
	NULL,
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
