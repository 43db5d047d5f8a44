/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the commands for settings, for what is installed, and for what was recorded. See
 * command.h for the steps to add one. */
#include "base/mem.h"
#include "cli/options/flags.h"

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
	{ .id = FLAG_CALLER, .name = "caller", .value = { "NAME", COMPLETE_NOTHING, NULL },
	  .help = "with check: decide as for a task of this caller of \"hasp serve a2a\"" },
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
	"check TOOL [ARGS] [--mode MODE] [--headless] [--caller NAME] [--json]",
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

static const char *const setup_choices[] = { "check", NULL };

static const struct flag setup_flags[] = {
	JSON_FLAG,
	HELP_FLAG,
};

static const struct positional setup_positionals[] = {
	{ { "ACTION", COMPLETE_CHOICE, setup_choices }, "check" },
	{ { "PATH", COMPLETE_FOLDER, NULL },
	  "a project's folder, or that of an extension or plugin (default: the home folder, the "
	  "current one and the installed extensions)" },
};

static const char *const setup_synopsis[] = {
	"check [PATH] [--json]",
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
	{ .id = FLAG_SETTING, .name = "setting", .repeatable = true,
	  .value = { "NAME=VALUE", COMPLETE_NOTHING, NULL },
	  .help = "install, link: set this setting of the extension (NAME alone: to the value of "
		  "its variable)" },
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
	"install SOURCE [--ref REF] [--auto-update] [--pre-release] [--consent] "
	"[--setting NAME=VALUE]...",
	"link FOLDER [--consent] [--setting NAME=VALUE]...",
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

static const char *const audit_choices[] = { "show", "verify", "export", "sign", NULL };

static const struct flag audit_flags[] = {
	{ .id = FLAG_EXPECT, .name = "expect", .value = { "HASH", COMPLETE_NOTHING, NULL },
	  .help = "of verify: a record's SHA-256 that must be in the chain" },
	JSON_FLAG,
	{ .id = FLAG_KEY, .name = "key", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "of sign: the SSH key, or its public half if an agent has it" },
	{ .id = FLAG_NAME, .name = "name", .value = { "NAME", COMPLETE_NOTHING, NULL },
	  .help = "of sign: who signs, as the file of signers has it (default: $USER)" },
	{ .id = FLAG_SESSION, .name = "session", .value = { "ID", COMPLETE_NOTHING, NULL },
	  .help = "of show and export: records of this session alone" },
	{ .id = FLAG_SIGNERS, .name = "signers", .value = { "FILE", COMPLETE_FILE, NULL },
	  .help = "of verify: whose keys count (ssh-keygen(1), ALLOWED SIGNERS; default: the "
	          "setting hasp.audit.allowedSigners)" },
	HELP_FLAG,
};

static const struct positional audit_positionals[] = {
	{ { "ACTION", COMPLETE_CHOICE, audit_choices },
	  "show, verify, export or sign (default: show)" },
	{ { "NUMBER", COMPLETE_NOTHING, NULL }, "of sign: the record (default: the last one)" },
};

static const char *const audit_synopsis[] = {
	"[show] [--session ID] [--json]",
	"verify [--expect HASH] [--signers FILE] [--json]",
	"export [--session ID]",
	"sign [NUMBER] --key FILE [--name NAME]",
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

static const struct command rows[] = {
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
			"Rules in the forms of other agents work, too: \"Bash(npm test:*)\", "
			"\"Edit(src/**)\", \"mcp__server__tool\".\n\n"
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
		.name = "setup",
		.summary = "list what a set-up brings, and what of it works here",
		.synopsis = setup_synopsis,
		.text =
			"check lists every piece of a set-up of Gemini CLI, Claude Code or Codex: "
			"where it comes from, and the name that it can be used by: commands, "
			"skills, agents, hooks, MCP servers, rules, settings. What has no effect "
			"in hasp is listed with the reason, what is broken with its file, line "
			"and cause. Without PATH it reads the home folder, the current folder and "
			"the installed extensions. Files are only read, and nothing is run. The "
			"exit code is 1 if something is broken.",
		.flags = setup_flags,
		.flag_count = ARRAY_LEN(setup_flags),
		.positionals = setup_positionals,
		.positional_count = ARRAY_LEN(setup_positionals),
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
			"input; on a terminal install asks for all of them. new makes a folder to "
			"begin with, validate checks one.",
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
		.name = "audit",
		.summary = "show, check and sign the record of questions, votes and answers",
		.synopsis = audit_synopsis,
		.text =
			"Every question, vote and answer of all sessions is a line in "
			"~/.gemini/hasp-audit, each with the hash of the one before. show prints "
			"them. verify finds records that were changed, removed, moved or cut off, "
			"and checks signatures; it fails if there are any. export prints the lines "
			"as they are. sign signs a record, and with it all before it, by an SSH "
			"key.",
		.flags = audit_flags,
		.flag_count = ARRAY_LEN(audit_flags),
		.positionals = audit_positionals,
		.positional_count = ARRAY_LEN(audit_positionals),
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
};

const struct command *command_setup_rows(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(rows);
	return rows;
}
