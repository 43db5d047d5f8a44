/* SPDX-License-Identifier: Apache-2.0 */
/* The policy engine: whether a call is allowed, denied, or somebody is asked. A pure decision.
 *
 *     struct policy *policy = policy_new();
 *     policy_add_defaults(policy);                                    // tier 1
 *     policy_add_folder(policy, POLICY_USER, path, &problems);        // *.toml, sorted by name
 *     policy_add_settings(policy, tools, mcp, servers);
 *     struct policy_call call = { .tool = "run_shell_command", .arguments = args, ... };
 *     policy_decide(policy, &call, &verdict);
 *     policy_verdict_release(&verdict);
 *     policy_free(policy);
 *
 * The format is Gemini CLI's TOML ([[rule]], [[safety_checker]]), its tiers and priorities, its
 * default rules for hasp's tools; docs/policy.md has all of it, and where hasp differs on
 * purpose.  The rule that decides is named with file and line.
 *
 * A shell command is analysed (shell/analysis.h): each command in it is decided on, the strictest
 * counts; what cannot be analysed is asked about where it would have been allowed.  This decides
 * about ASKING; what a command can do is the sandbox's matter.
 */
#ifndef HASP_POLICY_POLICY_H
#define HASP_POLICY_POLICY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"

enum policy_decision { POLICY_ALLOW, POLICY_ASK, POLICY_DENY }; /* from mild to strict */
const char *policy_decision_name(enum policy_decision decision); /* "allow", "ask_user", "deny" */

/* From strict to permissive. */
enum approval_mode { MODE_PLAN, MODE_DEFAULT, MODE_AUTO_EDIT, MODE_YOLO, MODE_COUNT };
const char *policy_mode_name(enum approval_mode mode); /* "plan", "default", "autoEdit", "yolo" */
/* Also "auto_edit" (flags) and "accepting_edits". False: none of them. */
bool policy_mode_parse(const char *word, enum approval_mode *ret);

enum policy_tier {
	POLICY_DEFAULT = 1,
	POLICY_EXTENSION, /* its allow rules and yolo modes are dropped */
	POLICY_WORKSPACE,
	POLICY_USER,
	POLICY_ADMIN,
};

struct policy;
/* Without rules: whatever is asked, the default of the mode decides. */
struct policy *policy_new(void);
void policy_free(struct policy *policy); /* NULL is fine */

/* `problems`: an array to which {file, line, kind, message} are appended.  kind: Gemini CLI's words
 * file_read, toml_parse, schema_validation, rule_validation, regex_compilation, tool_name_warning;
 * and hasp's own:
 *   - example_failed: a rule decides otherwise than its own examples say;
 *   - checker_unsupported: a safety checker that hasp does not have;
 *   - unknown_name, with a member `restricts`: a name that nothing has (policy_report_unknown);
 *   - without_effect: one of what is only not configured here, or that only other agents have;
 *   - hook_lost: a hook that could refuse and was left out (agent/setup/rule_names.c).
 * A file that cannot be read, is not TOML or has members of the wrong type adds no rules; of
 * others, rules that cannot be used are left out.  False: something worse than a tool_name_warning
 * was found; in tier ADMIN and USER the caller should stop then. */
void policy_add_defaults(struct policy *policy);
bool policy_add_file(struct policy *policy, enum policy_tier tier, const char *path,
                     json_t *problems);
/* A file, or all *.toml of a folder, by name. No such path: true, nothing added. */
bool policy_add_path(struct policy *policy, enum policy_tier tier, const char *path,
                     json_t *problems);
/* No such folder: true, nothing added. ADMIN: not owned by root or writable by others: refused. */
bool policy_add_folder(struct policy *policy, enum policy_tier tier, const char *folder,
                       json_t *problems);
/* Those of PROJECT/.gemini/policies and PROJECT/.gemini/policies.toml, in tier WORKSPACE. Anybody
 * may have written them: no link out of the project is followed (base/door.h). */
bool policy_add_project(struct policy *policy, const char *project, json_t *problems);
/* What settings and flags mean as rules; any may be NULL: tools {core, allowed, exclude,
 * confirmationRequired}, mcp {allowed, excluded}, mcpServers {name: {trust}}. */
void policy_add_settings(struct policy *policy, const json_t *tools, const json_t *mcp,
                         const json_t *servers);
/* Edits of files of these names, in whatever folder and case, are asked about where edits are not
 * (autoEdit), unless a rule that is stronger than the defaults allows them.  An array of texts
 * without a slash at the start: "GEMINI.md", ".github/copilot-instructions.md". */
void policy_add_asked(struct policy *policy, const json_t *names);
/* A rule on paths that denies, of tier USER: hasp.sandbox.keepPaths, an array of texts or NULL.
 * What is wrong with it goes to `problems`. */
void policy_add_kept(struct policy *policy, const json_t *paths, json_t *problems);
/* Files that hooks name and that the user trusts as they are, an array of absolute paths
 * (hooks_held_paths): an edit is asked about, whatever other rules allow, and refused in mode yolo,
 * which does not ask; and commands do not write them.  Those that there are rules for already are
 * left out.  From any thread. */
void policy_add_held(struct policy *policy, const json_t *paths);
/* What is called before each decision, on the thread of whoever asks for it, and may add rules;
 * `release` frees the data with the policy. */
struct policy_renewal {
	void (*renew)(struct policy *policy, void *data);
	void (*release)(void *data);
	void *data;
};
/* Once, before the first decision; copied, but for the data. */
void policy_set_renewal(struct policy *policy, const struct policy_renewal *renewal);
/* What policy_add_settings makes of mcp and mcpServers alone, in place of what they meant before:
 * the settings were read again. */
void policy_renew_servers(struct policy *policy, const json_t *mcp, const json_t *servers);
/* The tools that are excluded, an array as tools.exclude, in place of those before. */
void policy_renew_excluded(struct policy *policy, const json_t *entries);
/* Calls of these agents, which work elsewhere, are asked about unless a rule says more or the mode
 * is yolo. An array of names, which takes the place of the one before. */
void policy_renew_remote_agents(struct policy *policy, const json_t *names);
/* In plan mode, .md files right in this folder of the project may be written too. Both absolute. */
void policy_add_plans(struct policy *policy, const char *project, const char *folder);
/* Rules that the user chose with "always", saved ones too, do not count
 * (security.disableAlwaysAllow). Before the first decision. */
void policy_forget_always(struct policy *policy);
/* Takes away a tier's rules that allow, and returns how many there were: those that deny or ask
 * stay. */
size_t policy_drop_allowing(struct policy *policy, enum policy_tier tier);
/* Takes away all of a tier: rules and checkers. */
void policy_drop_tier(struct policy *policy, enum policy_tier tier);

/* A text as an expression finds it in arguments, which are JSON.  False: it is too long. */
bool policy_put_literal(struct buf *out, struct span text);

/* Of a tool's name with a server's in it, "mcp_SERVER_TOOL" or "mcp__SERVER__TOOL": whether that is
 * one of `servers`, an array of texts.  If not: *ret_server, for the caller to free, gets what
 * stands there, and *ret_near the server that is named like it or NULL; either may be NULL. */
bool policy_names_server(const char *word, const json_t *servers, char **ret_server,
                         const char **ret_near);

/* What there is in addition to hasp's own tools; each array of names is asked for when a rule needs
 * it. */
struct policy_names {
	const json_t *(*servers)(void *data); /* MCP servers that are configured, used or not */
	const json_t *(*agents)(void *data);
	void *data;
};
/* Appends to `problems` what rules and checkers name and nothing has: as policy_add_file's, `file`
 * being the rule's "FILE:LINE", with "restricts": the rule denies, asks or checks, so that it
 * guards less than it says.  kind: "unknown_name", or "without_effect" where no mistake is likely
 * (another agent's tool; a server or agent that is not configured).  The defaults are not looked
 * at, and tools of servers and discovered ones, which are known later. */
void policy_report_unknown(const struct policy *policy, const struct policy_names *names,
                           json_t *problems);

/* One call to be decided on. All borrowed. */
struct policy_call {
	const char *tool;               /* canonical: "update_file", "mcp_server_tool" */
	const char *server;             /* of an MCP tool; or NULL */
	const char *server_tool;        /* its name there; or NULL */
	const char *server_identity;    /* as struct tool has it; or NULL */
	const char *kind;               /* "read", "edit", ... (tool_kind_name) */
	const json_t *arguments;        /* canonical */
	const json_t *other_arguments;  /* the same in Gemini CLI's names for argsPattern; or
	                                 * NULL */
	const json_t *annotations;      /* of an MCP tool; or NULL */
	const char *subagent;           /* who calls; NULL: the main agent */
	const char *const *roots;       /* of the workspace, canonical, NULL-terminated; relative
	                                 * paths begin at the first. NULL: hasp's own tools keep
	                                 * inside by themselves, other tools' paths are outside */
	enum approval_mode mode;
	bool interactive;               /* somebody can be asked */
	bool trusted;                   /* the folder is */
	const char *project;            /* that folder, absolute; NULL: its name is not known */
	unsigned changes;               /* of an edit that was planned: enum policy_change; 0: not
	                                 * known, and no scope of edits covers it */
	const json_t *hosts;            /* that it fetches from, [".."]; NULL: none is known */
	bool obeyed;                    /* it changes what hasp obeys: "always" is not about that */
};

/* What becomes of files, as bits. */
enum policy_change {
	POLICY_EDITS = 1 << 0,
	POLICY_CREATES = 1 << 1,
	POLICY_DELETES = 1 << 2,
	POLICY_MOVES = 1 << 3,
};

struct policy_verdict {
	enum policy_decision decision;
	char *message;     /* owned; a denyMessage or a sentence with the reason. Never NULL */
	char *rule;        /* owned; "FILE:LINE" of the rule, "default:NAME:LINE",
	                    * "settings: tools.exclude", "session", "default decision". Never
	                    * NULL */
	double priority;   /* tier + priority / 1000 */
	json_t *commands;  /* of a shell command: [{command, decision, rule, reason?}]; or NULL.
	                    * Owned. Their decisions are before what counts for the whole line */
	json_t *prefixes;  /* of a shell command that is asked about: what "always" would allow
	                    * ["git status", ...]; NULL: it cannot be allowed by prefix. Owned */
	json_t *harmless;  /* prefixes of the line's commands that were not asked about because they
	                    * are known to be harmless: where nobody can be asked they need allowing
	                    * too. Only beside `prefixes`. Owned */
};

/* Never POLICY_ASK where nobody can be asked: that is a denial which says so. */
void policy_decide(const struct policy *policy, const struct policy_call *call,
                   struct policy_verdict *ret);
void policy_verdict_release(struct policy_verdict *verdict);

/* ---- rules on paths ------------------------------------------------------------
 *
 * A pattern that names a path sees the arguments, and a link, "..", a folder or a glob reaches the
 * same file by others.  So whoever opens files for a call (agent/call/path_rules.h) asks again,
 * about the file that a path leads to.  `calls`: the same call, with its paths in each spelling of
 * that file (beneath the root, absolute).  A rule that denies or asks is met by any of them; a rule
 * that allows too, because they are one file. */

/* Whether the answer of policy_decide_spelled can depend on which file it is: some rule with an
 * argsPattern is about the tool, in this mode.  Arguments do not matter. */
bool policy_judges_files(const struct policy *policy, const struct policy_call *call);
/* policy_decide on a call in several spellings; `count` is at least 1. */
void policy_decide_spelled(const struct policy *policy, const struct policy_call *calls,
                           size_t count, struct policy_verdict *ret);

/* The rules that may keep single files from a call that opens many, found once.  A file is judged
 * by the first rule that is about the tool without a condition, or whose argsPattern is found in
 * the arguments of a call of the tool for this one file: {"file_path"} for read_file; for others,
 * where a rule may name any of them, {"dir_path", "file_path", "include": [..], "path",
 * "paths": [..]}.  Only rules with an argsPattern keep files: what has none is about the call. */
struct policy_files;
/* NULL: there are none. Of `call` the arguments do not matter. The policy has to live longer. */
struct policy_files *policy_files_new(const struct policy *policy, const struct policy_call *call);
void policy_files_free(struct policy_files *files); /* NULL is fine */
/* POLICY_ALLOW: no rule keeps the file; else *ret_why is the caller's, a sentence. `spellings` are
 * paths of one file. NULL: ALLOW. */
enum policy_decision policy_files_judge(const struct policy_files *files,
                                        const char *const *spellings, size_t count,
                                        char **ret_why);
/* Whether every call of the tool is denied whatever its arguments: it need not be offered. */
bool policy_hides(const struct policy *policy, const struct policy_call *call);

/* What "always" in a question is about: what was shown, and nothing else.  All borrowed; NULL and
 * 0: it does not matter. */
struct policy_scope {
	const char *tool;         /* canonical; with `changes` any editor's call is meant */
	unsigned changes;         /* enum policy_change: edits that do nothing but these */
	const json_t *prefixes;   /* of run_shell_command, which needs them */
	const json_t *hosts;      /* fetches from nowhere but these */
	const char *args_pattern; /* as in a rule */
	const char *server;       /* all its tools */
	const char *text;         /* what it is about, in words: for people */
	const char *identity;     /* the server_identity of the tool that was asked about: another
	                           * server that has the name, or makes the tool's name out of
	                           * another one, is not allowed by it */
	enum approval_mode mode;
};

/* "Always", for this session: a rule in memory for this mode and the more permissive ones.  Hosts
 * join those that were allowed before. From any thread, as policy_decide. */
void policy_allow_for_session(struct policy *policy, const struct policy_scope *scope);
/* Those rules, oldest first, as policy_list has rules, with "scope": the text; a new reference. */
json_t *policy_session_list(const struct policy *policy);
/* Revokes the rule at this place of that list. False: there is none. */
bool policy_session_drop(struct policy *policy, size_t at);
/* The session ends, and what was allowed for it. */
void policy_session_end(struct policy *policy);
/* Whether such a rule would come before the one that made the verdict. */
bool policy_session_helps(const struct policy_verdict *verdict);
/* "Always and save": appends that rule to FOLDER/auto-saved.toml (atomic; a file that cannot be
 * parsed is moved to .bak first) and adds it. INVALID_ARGUMENT: a tool that needs narrowing
 * (Gemini CLI's list) without a prefix or `args_pattern`. BUSY, CANCELLED: `wait` (base/file.h,
 * may be NULL) for another process that does the same was in vain. */
bool policy_save(struct policy *policy, const char *folder, const char *tool,
                 const json_t *prefixes, const char *server, const char *args_pattern,
                 enum approval_mode mode, const struct file_lock_wait *wait, struct err *err);

/* Appends the paths of rules on paths: those that nothing may write, and those that are asked
 * about. Texts, absolute or beneath each root: for the sandbox (worker_options.keep, .ask). */
void policy_kept_paths(const struct policy *policy, json_t *keep, json_t *ask);

/* All rules, highest first: [{decision, toolName [..], priority, modes [..], rule, ...}], then
 * the safety checkers: [{checker, ...}]; a new reference. */
json_t *policy_list(const struct policy *policy);

#endif
