/* SPDX-License-Identifier: Apache-2.0 */
/* The policy engine: whether a call is allowed, denied, or asked about. A pure decision.
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
 * The format (TOML with [[rule]] and [[safety_checker]]), the tiers, the priorities and the default
 * rules are Gemini CLI's; docs/policy.md describes them and the deliberate differences.  A verdict
 * names the rule behind it with file and line.
 *
 * A shell command line is analysed (shell/analysis.h) and each command in it decided on; the
 * strictest decision counts.  A line that cannot be analysed is asked about if it would have been
 * allowed.  Policies decide whether to ASK; what a command can do is up to the sandbox.
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
/* Also accepts "auto_edit" (flags) and "accepting_edits". Returns false for any other word. */
bool policy_mode_parse(const char *word, enum approval_mode *ret);

enum policy_tier {
	POLICY_DEFAULT = 1,
	POLICY_EXTENSION, /* its allow rules and yolo modes are dropped */
	POLICY_WORKSPACE,
	POLICY_USER,
	POLICY_ADMIN,
};

struct policy;
/* A policy without rules: the default of the mode decides every call. */
struct policy *policy_new(void);
void policy_free(struct policy *policy); /* NULL is fine */

/* `problems`: an array to which {file, line, kind, message} are appended.  kind is one of Gemini
 * CLI's file_read, toml_parse, schema_validation, rule_validation, regex_compilation,
 * tool_name_warning, or one of hasp's:
 *   - example_failed: a rule contradicts its own examples;
 *   - checker_unsupported: a safety checker that hasp does not support;
 *   - unknown_name, with a member `restricts`: an unknown name (policy_report_unknown);
 *   - without_effect: a name that is not configured here or that only other agents have;
 *   - hook_lost: a hook that could refuse and was left out (agent/setup/rule_names.c).
 * A file that cannot be read, is not TOML or has members of the wrong type adds no rules; in any
 * other file invalid rules are skipped.  Returns false if something worse than a tool_name_warning
 * was found; in tier ADMIN and USER the caller should then stop. */
void policy_add_defaults(struct policy *policy);
bool policy_add_file(struct policy *policy, enum policy_tier tier, const char *path,
                     json_t *problems);
/* A file, or all *.toml of a folder in order of their names. A missing path is no error. */
bool policy_add_path(struct policy *policy, enum policy_tier tier, const char *path,
                     json_t *problems);
/* A missing folder is no error. Tier ADMIN: it must be owned by root and not writable by others. */
bool policy_add_folder(struct policy *policy, enum policy_tier tier, const char *folder,
                       json_t *problems);
/* The files of PROJECT/.gemini/policies and PROJECT/.gemini/policies.toml, in tier WORKSPACE.  They
 * are untrusted: no link out of the project is followed (base/door.h). */
bool policy_add_project(struct policy *policy, const char *project, json_t *problems);
/* Rules for settings and flags; any may be NULL: tools {core, allowed, exclude,
 * confirmationRequired}, mcp {allowed, excluded}, mcpServers {name: {trust}}. */
void policy_add_settings(struct policy *policy, const json_t *tools, const json_t *mcp,
                         const json_t *servers);
/* Edits of files with these names, in any folder and case, are asked about even in a mode that does
 * not ask about edits (autoEdit), unless a rule above the defaults allows them.  An array of
 * strings without a leading slash: "GEMINI.md", ".github/copilot-instructions.md". */
void policy_add_asked(struct policy *policy, const json_t *names);
/* A rule of tier USER that denies these paths: hasp.sandbox.keepPaths, an array of strings or NULL.
 * Its errors are appended to `problems`. */
void policy_add_kept(struct policy *policy, const json_t *paths, json_t *problems);
/* Files that hooks name and that the user trusts in their present state, an array of absolute paths
 * (hooks_held_paths): edits are asked about, whatever other rules allow, and refused in mode yolo,
 * which does not ask; commands cannot write them.  Paths that already have such a rule are skipped.
 * Safe to call from any thread. */
void policy_add_held(struct policy *policy, const json_t *paths);
/* A function that may add rules before each decision, called on the thread of policy_decide's
 * caller; `release` frees the data with the policy. */
struct policy_renewal {
	void (*renew)(struct policy *policy, void *data);
	void (*release)(void *data);
	void *data;
};
/* Call it once, before the first decision.  The struct is copied; `data` is not. */
void policy_set_renewal(struct policy *policy, const struct policy_renewal *renewal);
/* Replaces the rules that policy_add_settings made from mcp and mcpServers, after the settings were
 * reloaded. */
void policy_renew_servers(struct policy *policy, const json_t *mcp, const json_t *servers);
/* Replaces the lists of excluded tools: an array as in tools.exclude, and an object of such arrays
 * by the names of the extensions that have them, either may be NULL.  Their rules' origins are
 * "settings: tools.exclude" and "extension NAME: excludeTools". */
void policy_renew_excluded(struct policy *policy, const json_t *entries, const json_t *others);
#define POLICY_EXCLUDED_BY ": excludeTools"
/* The origin of the rule that denies other commands than those that tools.allowed lists, where no
 * one can be asked: that is what the user said, and not for want of an answer. */
#define POLICY_UNLISTED "settings: tools.allowed (no other commands)"
/* Replaces the list of remote agents, an array of names: calls of them are asked about unless a
 * specific rule decides or the mode is yolo. */
void policy_renew_remote_agents(struct policy *policy, const json_t *names);
/* In plan mode, .md files directly in this folder may be written, too. Both paths are absolute. */
void policy_add_plans(struct policy *policy, const char *project, const char *folder);
/* Ignores rules that the user chose with "always", saved ones too (security.disableAlwaysAllow).
 * Call it before the first decision. */
void policy_forget_always(struct policy *policy);
/* From now on every call that is decided on is one of a task of this caller (a2a/serve/callers.h),
 * not of the user.  Rules with `caller` count if they name it; others count if they deny, or if the
 * call only reads.  One that would ask is asked only where a rule for the caller permits the call.
 * What no rule is about is allowed if it only reads, and denied otherwise, in every mode.  So what
 * was allowed with "always" does not count either.  Call it before the first decision. */
void policy_set_caller(struct policy *policy, const char *caller);
/* NULL: the calls are the user's. A NULL policy is fine. */
const char *policy_caller(const struct policy *policy);
/* Removes a tier's rules that allow and returns their number; rules that deny or ask stay. */
size_t policy_drop_allowing(struct policy *policy, enum policy_tier tier);
/* Removes a tier's rules and checkers. */
void policy_drop_tier(struct policy *policy, enum policy_tier tier);

/* Appends a regular expression that matches `text` in JSON arguments. Returns false if too long. */
bool policy_put_literal(struct buf *out, struct span text);

/* Whether the server in a tool's name, "mcp_SERVER_TOOL" or "mcp__SERVER__TOOL", is one of
 * `servers`, an array of strings.  If not, *ret_server gets that part of the name (the caller
 * frees it), and *ret_near the server with the most similar name or NULL; either may be NULL. */
bool policy_names_server(const char *word, const json_t *servers, char **ret_server,
                         const char **ret_near);

/* Names in addition to hasp's own tools; each function is called when a rule needs its list. */
struct policy_names {
	const json_t *(*servers)(void *data); /* MCP servers that are configured, used or not */
	const json_t *(*agents)(void *data);
	const json_t *(*callers)(void *data); /* whose tasks the A2A server takes */
	void *data;
	const char *const *tools; /* of the program that hasp works in; NULL-terminated, or NULL */
};
/* Appends to `problems` the unknown names in rules and checkers: as policy_add_file does, with the
 * rule's "FILE:LINE" as `file`, and "restricts" if the rule denies, asks or checks and so guards
 * less than it claims.  kind: "unknown_name", or "without_effect" if a mistake is unlikely (another
 * agent's tool; a server, agent or caller that is not configured).  Skipped are the defaults, and
 * the tools of servers and discovered tools, which become known later. */
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
	const char *subagent;           /* the caller; NULL: the main agent */
	const char *const *roots;       /* of the workspace, canonical, NULL-terminated; relative
	                                 * paths start at the first. NULL: other tools' paths are
	                                 * outside (hasp's own tools stay inside in any case) */
	enum approval_mode mode;
	bool interactive;               /* questions can be asked */
	bool trusted;                   /* the project's folder is trusted */
	const char *project;            /* that folder, absolute; NULL: unknown */
	unsigned changes;               /* of a planned edit: enum policy_change; 0: unknown, and no
	                                 * scope of edits covers it */
	const json_t *hosts;            /* that it fetches from, [".."]; NULL: unknown */
	bool reads;                     /* a tool of the program that hasp works in, which says that
	                                 * it only reads: allowed where no rule says otherwise */
	bool obeyed;                    /* it changes files that hasp obeys, which "always" does not
	                                 * cover */
};

/* Kinds of changes to files, as bits. */
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
	json_t *approvals; /* of a call that several people must approve: rules as approvals.h has
	                    * them; NULL: one person is enough. Owned */
	json_t *commands;  /* of a shell command: [{command, decision, rule, reason?}]; or NULL.
	                    * Owned. Their decisions are before what counts for the whole line */
	json_t *prefixes;  /* of a shell command that is asked about: what "always" would allow
	                    * ["git status", ...]; NULL: it cannot be allowed by prefix. Owned */
	json_t *harmless;  /* prefixes of the line's commands that were not asked about because they
	                    * are known to be harmless: a run that cannot ask must allow them too.
	                    * Only with `prefixes`. Owned */
};

/* Never returns POLICY_ASK if the call is not interactive, but a denial with that reason. */
void policy_decide(const struct policy *policy, const struct policy_call *call,
                   struct policy_verdict *ret);
void policy_verdict_release(struct policy_verdict *verdict);
/* What the other asks of several people is asked by the first, too. */
void policy_verdict_join(struct policy_verdict *verdict, const struct policy_verdict *other);

/* ---- rules on paths ------------------------------------------------------------
 *
 * A pattern that names a path sees the arguments, and a link, "..", a folder or a glob reaches the
 * same file by others.  So code that opens files for a call (agent/call/path_rules.h)
 * decides again, about the file that a path leads to.  `calls`: the same call, with its paths in
 * each spelling of that file (beneath the root, absolute).  A rule that denies or asks is met by
 * any of them; a rule that allows too, because they are one file. */

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
	const json_t *prefixes;   /* of run_shell_command, which needs them or `exact` */
	const json_t *hosts;      /* fetches from these only */
	const char *args_pattern; /* as in a rule */
	const char *exact;        /* of run_shell_command instead of prefixes: this very call, by
	                           * policy_exact_call */
	const char *server;       /* all its tools */
	const char *text;         /* a description for the user */
	const char *identity;     /* the server_identity of the tool that was asked about: it
	                           * allows no other server of the same name, and none whose tool
	                           * happens to get the same name */
	enum approval_mode mode;
};

/* A call of run_shell_command as text: equal for calls that run the same line in the same folder in
 * the same way; the caller frees. */
char *policy_exact_call(const json_t *arguments);

/* "Always", for this session: a rule in memory for this mode and the more permissive ones.  Hosts
 * join those that were allowed before. Safe to call from any thread, like policy_decide. */
void policy_allow_for_session(struct policy *policy, const struct policy_scope *scope);
/* Those rules, oldest first, in policy_list's format, with "scope": the text, and "since": seconds
 * since 1970; a new reference. */
json_t *policy_session_list(const struct policy *policy);
/* Revokes the rule at this index of that list. Returns false if there is none. */
bool policy_session_drop(struct policy *policy, size_t at);
/* Ends the session: drops all its rules. */
void policy_session_end(struct policy *policy);
/* Whether such a rule would take precedence over the one behind the verdict. */
bool policy_session_helps(const struct policy_verdict *verdict);
/* What a command or a skill that the user called may do without a question, until
 * policy_lend_end: counts where only hasp's defaults would ask or deny, not in plan mode, and not
 * where "always" does not.  Of `scope`, mode and text do not matter; run_shell_command without
 * prefixes is any command.  Safe to call from any thread. */
void policy_lend(struct policy *policy, const struct policy_scope *scope);
/* Ends all of it. */
void policy_lend_end(struct policy *policy);
/* "Always and save": appends that rule to FOLDER/auto-saved.toml (atomic; a file that cannot be
 * parsed is moved to .bak first) and adds it. INVALID_ARGUMENT: a tool that needs narrowing
 * (Gemini CLI's list) without a prefix or `args_pattern`. BUSY, CANCELLED: another process held the
 * folder's lock for longer than `wait` (base/file.h, may be NULL) allows. */
bool policy_save(struct policy *policy, const char *folder, const char *tool,
                 const json_t *prefixes, const char *server, const char *args_pattern,
                 enum approval_mode mode, const struct file_lock_wait *wait, struct err *err);

/* A rule that a command writes or removes (hasp policy allow, deny, ask, remove). All borrowed. */
struct policy_written {
	enum policy_decision decision; /* of `remove` it does not matter */
	const char *tool;      /* canonical, or mcp_SERVER_TOOL; NULL with `path` */
	const char *prefix;    /* of run_shell_command: commands that begin so; or NULL */
	const char *path;      /* a file or folder of a rule on paths; or NULL */
	bool edits;            /* all tools that change files, `tool` being one of them */
};
/* Writes the rule to FOLDER/auto-saved.toml in place of one about the same; priority 950, above it
 * (960) if it denies or asks.  Atomic, comments stay. INVALID_ARGUMENT: as of policy_save; a
 * path that no rule can be about; the file has a rule about the same whose end cannot be found.
 * BUSY. */
bool policy_write_rule(const char *folder, const struct policy_written *written,
                       const struct file_lock_wait *wait, struct err *err);
/* Removes the rules about the same from that file. FILE_NOT_FOUND: there is none; else as above. */
bool policy_remove_rule(const char *folder, const struct policy_written *written,
                        const struct file_lock_wait *wait, struct err *err);

/* Appends the paths of rules on paths: to `keep` those that nothing may write, to `ask` those that
 * are asked about, to `voted` those that several people are asked about, or named ones.  Absolute
 * or relative to each root; used by worker_options.keep, .ask, .voted. */
void policy_kept_paths(const struct policy *policy, json_t *keep, json_t *ask, json_t *voted);
/* Appends the absolute paths that rules keep from being read (policy/permissions.h), for
 * worker_options.deny. */
void policy_hidden_paths(const struct policy *policy, json_t *hide);
/* Whether commands may write nothing, either (policy_add_read_only). */
bool policy_is_read_only(const struct policy *policy);
/* Questions are denials from now on (permissions.defaultMode "dontAsk"), whose message names
 * `origin`. */
void policy_set_unasked(struct policy *policy, const char *origin);

/* All rules, highest first: [{decision, toolName [..], priority, modes [..], rule, ...}], then
 * the safety checkers: [{checker, ...}]; a new reference. */
json_t *policy_list(const struct policy *policy);

#endif
