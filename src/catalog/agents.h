/* SPDX-License-Identifier: Apache-2.0 */
/* Agents: separate conversations, each for one kind of task that the model can delegate.  An agent
 * is a Markdown file with its system prompt and the tools that it may use.
 *
 *     struct agents *agents = agents_discover(settings, local);
 *     for (size_t i = 0; i < agents->count; i++) ... agents->at[i].name ...
 *     definition = agents_find(agents, "reviewer");
 *     agents_free(agents);
 *
 * Searched are ~/.claude/agents, ~/.gemini/agents, the same two in the project, if its folder is
 * trusted and on this machine, and agents/ of the enabled extensions, with their subfolders; hasp
 * has built-in agents.  Read are the files whose names end in ".md" and do not start with "_".  Of
 * one name the user's has the short name, then the project's, then the only extension's, then
 * hasp's own (catalog/names.h); all have OWNER:NAME.  Of two folders of one owner, a later agent
 * replaces an earlier one of the same name.
 *
 * Front matter, as Gemini CLI and Claude Code have it: name and description, which it must have;
 * display_name, kind (local), tools and disallowedTools (a list, or words with commas between
 * them), model, temperature, max_turns (maxTurns), timeout_mins, isolation (worktree), mcp_servers
 * (mcpServers: a mapping, or Claude Code's list of mappings and of names).  The rest of the file
 * is the system prompt.  For the kind "remote" (a2a/a2a.h): agent_card_url or agent_card_json, and
 * auth; the description is optional and the rest of the file is ignored; the front matter may be a
 * list of such agents.  Other fields are ignored: a file cannot allow more than the session allows.
 * The setting agents.overrides overrides the file: NAME.enabled, .isolation, .modelConfig.model,
 * .runConfig.maxTurns, .runConfig.maxTimeMinutes.
 *
 * The files must be owned as those of skills are (skills.h).  Names are compared case-insensitively
 * (ASCII).
 */
#ifndef HASP_CATALOG_AGENTS_H
#define HASP_CATALOG_AGENTS_H

#include "config/home.h"
#include "config/settings.h"
#include "data/json.h"

enum agents_from { AGENTS_BUILTIN, AGENTS_EXTENSION, AGENTS_USER, AGENTS_PROJECT };

struct agent_definition {
	char *name;          /* owned; 1 to 64 letters, digits, "-" and "_" */
	char *called;        /* owned; the name that finds it: its name, or OWNER:NAME, where the
	                      * name is another's or that of several */
	char *owner;         /* owned; "user", "project", "hasp", or the extension's name */
	char *display_name;  /* owned; one line; the name, where the file has none */
	char *description;   /* owned; one line of at most LIMIT_AGENT_DESCRIPTION bytes, invisible
	                      * characters in it as escapes */
	char *prompt;        /* owned; the system prompt (the file's body); NULL: it is remote */
	json_t *remote;      /* owned; {"card_url" | "card" (JSON), "auth"? (an object as the file
	                      * has it)}; NULL: it is local */
	char *model;         /* owned; as --model has it; NULL: that of the session */
	char *file;          /* owned; absolute; NULL: hasp's own */
	bool listed;         /* its file is a list of agents */
	char *sha256;        /* owned; of the file when it was found, 64 digits; NULL: hasp's own */
	json_t *servers;     /* owned; the agent's MCP servers, {NAME: entry as the file has it}
	                      * (config/servers.h); NULL: none, or it is remote */
	json_t *tools;       /* owned; names, "*" in them for any letters; NULL: all */
	json_t *without;     /* owned; names of tools that it does not have; NULL: none */
	double temperature;  /* below 0: the model's own */
	unsigned max_turns;  /* 1 to AGENT_TURNS_MAX */
	unsigned timeout_ms; /* above 0, at most a day */
	enum agents_from from;
	bool disabled;       /* by agents.overrides */
	bool isolated;       /* it works in a separate git worktree */
};

enum {
	AGENT_TURNS_DEFAULT = 30,
	AGENT_TURNS_MAX = 100,
	AGENT_MINUTES_DEFAULT = 10,
	AGENT_MINUTES_REMOTE = 30, /* Gemini CLI's */
};

struct agents {
	struct agent_definition *at; /* owned; in the order of their names */
	size_t count, cap;
	json_t *notices; /* owned; sentences about what was left out or replaced, and why */
};

/* Never NULL, never fails. Empty if experimental.enableAgents is false. `local`: the project's
 * files are this machine's. */
struct agents *agents_discover(const struct settings *settings, bool local);
/* Those of an extension in `folder` with this manifest (config/extensions.h), installed or not.
 * Never NULL. */
struct agents *agents_in_extension(const char *folder, const json_t *manifest);
void agents_free(struct agents *agents); /* NULL is fine */

/* By its name or OWNER:NAME.  NULL: there is none, or it is disabled. */
const struct agent_definition *agents_find(const struct agents *agents, const char *name);
/* Whether one is there, disabled or not; NULL: there is none. */
const struct agent_definition *agents_named(const struct agents *agents, const char *name);
/* For the model: a line for each that is enabled, as far as a budget of tokens goes
 * (catalog_lines_put); the caller frees. */
char *agents_listed(const struct agents *agents);
/* Why there is none of this name: there is none, and those that have such words are listed; or
 * several have it, which are named.  The caller frees. */
char *agents_missing(const struct agents *agents, const char *name);
/* The agent that a file of Claude Code means: the one of this name, or hasp's own in the place of
 * one of Claude Code's own ("Explore").  Borrowed; the name itself, if there is none. */
const char *agents_meant(const struct agents *agents, const char *name);
size_t agents_enabled_count(const struct agents *agents);
/* "built-in", "extension", "user", "project". */
const char *agents_from_word(enum agents_from from);

/* Whether the agent's file may be used.  A remote agent of the project or an extension, or one with
 * MCP servers, decides where tasks and values of variables are sent or what is started; the user
 * must have allowed the current version of its file in this project (config/authority.h). */
bool agent_is_allowed(const struct agent_definition *definition, const struct home *home);
/* Whether that is so at all. */
bool agent_requires_allowance(const struct agent_definition *definition);
/* Allows it. Errors of authority_allow. */
bool agent_allow(const struct agent_definition *definition, const struct home *home,
                 struct err *err);
/* The command that a text in a remote agent's "auth" names, "!COMMAND", for members that may have
 * one; the caller frees. NULL: it names none. */
char *agent_auth_command(const char *member, const json_t *value);
/* Where tasks go, the variables that go along, and the commands that are run for it; or, of a
 * local one, what its MCP servers would run and contact ("" without): for people, one line. The
 * caller frees; NULL: these are too long, which only the user's own agents can be. */
char *agent_facts(const struct agent_definition *definition);

/* Switches one on or off in the user's settings, as the file is now: agents.overrides.NAME.enabled.
 * *ret: a sentence that says what has changed, or that nothing had to; the caller frees. `agents`
 * stay as they are.  INVALID_ARGUMENT: no such agent, agents are disabled, or another file disables
 * the agent to enable; settings_write's errors. */
bool agents_switch(const struct agents *agents, struct settings *settings, const char *name,
                   bool enable, char **ret, struct err *err);

/* Whether the agent's lists give it the tool, by its canonical name. */
bool agent_definition_requires(const struct agent_definition *definition, const char *tool);
/* Whether they take the tool away whatever else they say (disallowedTools). */
bool agent_definition_refuses(const struct agent_definition *definition, const char *tool);

/* Appends the names of the files of agents in a folder of the project, whether or not it is
 * trusted: for who is asked about that. `folder`: absolute. */
void agents_add_names(const char *project, const char *folder, json_t *names);

/* ---- hasp's own (agents.c) -------------------------------------------------- */

/* Those that come with hasp; private to this folder. */
struct agent_builtin {
	const char *name, *display_name, *description, *prompt;
	const char *tools; /* words with commas between them; NULL: all */
	unsigned max_turns, minutes;
};

#endif
