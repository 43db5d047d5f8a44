/* SPDX-License-Identifier: Apache-2.0 */
/* A tool: one row of a table, and the one function that runs every call.
 *
 *     struct session session;
 *     session_init(&session, provider);
 *     json_t *result = tool_call(&session, "safe_patch", arguments);
 *     json_decref(result);
 *     session_release(&session);
 *
 * tool_call resolves aliases of names and parameters, validates the arguments against the tool's
 * schema (errors name the argument), lets hooks see and change them (a change is validated again),
 * has the tool check them, asks the policy, asks the user if required (call.c), runs the handler,
 * lets hooks see the result, and returns it.  All calls take this path: those of built-in tools,
 * MCP servers, discovered tools and sub-agents.
 *
 * To add a tool: data/tools.h has the steps.
 */
#ifndef HASP_TOOL_TOOL_H
#define HASP_TOOL_TOOL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "data/tools.h"
#include "tool/dialect.h"
#include "worker/provider.h"

struct job;
struct job_news;
struct jobs;
struct tool_set;

/* The terminal of commands that the user may type into: its size as displayed.  Set from any
 * thread; `rows` 0: none is displayed, and commands run on pipes. */
struct session_terminal {
	_Atomic unsigned rows, columns;
};
struct tool_services;

/* What the answer to an edit carries unless the call says otherwise: the whole new content, the
 * diff, neither, or what the conversation does not have yet (answer.h). */
enum return_content { RETURN_FULL, RETURN_DIFF, RETURN_NONE, RETURN_NEW };

/* The question before a tool that changes something runs. */
struct tool_question {
	const struct tool *tool;
	const json_t *arguments; /* final: validated, and bound to the states in `plan` */
	const json_t *plan;      /* of an editor: the result of a dry run, with diffs; or NULL */
	/* On approval *modified may be set to a new reference: these arguments run instead
	 * (validated and planned again, without another question), and with another tool if
	 * *modified_tool is set to its name (a whole new content: write_file). */
	json_t **modified;
	const char **modified_tool;
	const char *preview;     /* what the tool's preview gave; or NULL */
	bool *again;             /* set on approval: ask about *modified, too */
};

/* What a rule says about a call, before anybody is asked. */
enum call_decision { CALL_ALLOW, CALL_ASK, CALL_DENY };

/* What may differ from call to call of one session. All of it may be NULL. */
struct call_hooks {
	/* Sees the validated arguments first: may replace *arguments (validated again), may
	 * require confirmation (*ask), or end the call by returning its result.  NULL: proceed. */
	json_t *(*before)(void *data, const struct tool *tool, json_t **arguments, bool *ask);
	/* What the rules say about the final arguments. DENY: *err says why. NULL: as `confirm`
	 * says. */
	enum call_decision (*decide)(void *data, const struct tool *tool, const json_t *arguments,
	                             struct err *err);
	/* Whether the rules deny such a call, with *err as of `decide`: for a call whose arguments
	 * are not final until a file was read. NULL: no. */
	bool (*denies)(void *data, const struct tool *tool, const json_t *arguments,
	               struct err *err);
	/* Allows the call, or sets *err (DENIED_BY_USER, CANCELLED, ...) and returns false.
	 * Called only for tools that change something, and edits that can be made; with `decide`:
	 * whenever that says ASK. NULL: everything is allowed except calls that require more than
	 * the session has (tool_requires_more); with `decide`: there is no way to ask, so the call
	 * is denied. */
	bool (*confirm)(void *data, const struct tool_question *question, struct err *err);
	/* Whether the tool was offered to who calls: the answer to a name that is no tool's
	 * lists only those. NULL: all were. */
	bool (*offered)(void *data, const struct tool *tool);
	/* Whether to repeat a call, or the plan of an edit, that had this result, because the user
	 * has allowed what it was denied (session.grant, outside.h).  May change the result
	 * otherwise. NULL: no. */
	bool (*again)(void *data, const struct tool *tool, const json_t *arguments,
	              json_t *result);
	/* Sees the result of a call that ran, and may replace it. */
	void (*after)(void *data, const struct tool *tool, const json_t *arguments,
	              json_t **result);
	/* `done` of `total` (0: unknown) parts of the work; `done` grows. */
	void (*progress)(void *data, size_t done, size_t total);
	/* What a server that does the work reports of it: `done` of `total` (0: unknown), and its
	 * words in one line without anything that acts on a terminal, or NULL. */
	void (*reported)(void *data, double done, double total, const char *said);
	const char *call;           /* what this call is known by to who watches commands
	                             * (worker/job/job.h); or NULL */
	/* What a command writes, as it comes, on a provider's thread; raw. */
	void (*output)(void *data, enum run_stream stream, struct span bytes);
	/* Around a time in which the call computes nothing and waits: for a command, for a moment
	 * to pass. Another call may take its place on a processor meanwhile. Both or neither. */
	void (*wait_begin)(void *data);
	void (*wait_end)(void *data);
	const struct cancel *cancel; /* set when the result is no longer needed; or NULL */
	/* The caller cannot wait: a tool that would have to (only those that begin look) sets it to
	 * true, its result means nothing, and nothing was changed. */
	bool *not_at_once;
	/* For two-step calls that change something; NULL: there are none.  Like `ready` of the
	 * provider (worker/provider.h): signals when to end the call. */
	void (*ready)(void *data, bool here);
	void *data;                 /* handed to the functions */
};

/* Permissions for commands beyond the sandbox, granted by the user after a denial: the network, and
 * individual files that may be written (run_request.exact). */
struct tool_grant {
	bool network;
	char **files; /* owned; canonical */
	size_t file_count, file_cap;
};

/* A file more, unless it has it or has LIMIT_GRANTED_FILES. */
void tool_grant_file(struct tool_grant *grant, const char *path);
bool tool_grant_has(const struct tool_grant *grant, const char *path);
void tool_grant_join(struct tool_grant *grant, const struct tool_grant *more);
void tool_grant_release(struct tool_grant *grant); /* leaves it empty */

/* Settings of files that are not plain text (read/read.h); 0: the defaults. */
struct tool_formats {
	bool off;             /* they are not read */
	bool no_schemas;      /* update_data checks no JSON Schema */
	bool allow_schema_errors; /* one that cannot be judged by refuses nothing */
	unsigned timeout_ms;
	size_t memory_bytes;
};

/* One session: the version counter, settings and the way to the files.
 *
 * Several threads may make calls with one session at the same time.  A copy of a session,
 * made by assignment, shares its counter and may have another provider and other hooks:
 * so one conversation goes on while its workspace changes.  Only the original is
 * released, after its copies are done with. */
struct session {
	struct provider *provider;     /* borrowed */
	struct jobs *jobs;             /* borrowed, shared by copies (worker/job/job.h); NULL:
	                                * commands cannot be run */
	const struct tool_set *tools;  /* borrowed (set.h); NULL: the built-in ones */
	struct tool_services *services; /* borrowed (services.h); NULL: tools that need them fail */
	struct session_shared *shared; /* owned by the original: counter and compiled schemas */
	struct kept *kept;             /* likewise: what it keeps of files (rebase.h) */
	struct history *history;       /* likewise: who changed files (history.h) */
	struct seen *seen;             /* likewise: what the conversation has of them (answer.h) */
	/* Calls with the same number come from one reply of a model, which has several edits;
	 * 0: the call stands alone. */
	uint64_t reply;
	enum dialect dialect;          /* in which the tools are declared (dialect.h) */
	size_t read_max_lines;         /* settings; 0 means the default */
	size_t read_max_line_chars;
	struct tool_formats formats;
	/* Which ignore files count where the arguments do not say; of a file that is read by its
	 * name, .geminiignore and the custom ones. Names borrowed. */
	struct walk_rules ignores;
	/* Of commands: the longest silence, 0: no limit; and their environment, NULL: the default
	 * of the provider that runs them. Borrowed. */
	unsigned inactivity_ms;
	const struct environment_options *environment;
	struct session_terminal *terminal; /* borrowed; NULL: as if its rows were 0 */
	/* The provider of the session's own files, such as truncated outputs: NULL for any other
	 * path. NULL: there are none. Borrowed. */
	struct provider *(*own_files)(void *data, const char *path);
	void *own_files_data;
	enum return_content return_content;
	size_t answer_tokens;          /* the budget of an answer (answer.h); 0: none */
	/* For a front that displays diffs: the answer to a successful edit has the diff even if it
	 * has the content. */
	bool shows_diffs;
	const struct tool_grant *grant; /* borrowed; of this call's commands alone; or NULL */
	/* The session is over when its call is, and with it what the call would leave running. */
	bool one_call;
	/* What its calls answer is not shown to the conversation: nothing of it counts as seen. */
	bool unseen;
	struct call_hooks hooks;
};

/* An empty session with the defaults of all settings. `provider` is borrowed, and outlives it. */
void session_init(struct session *session, struct provider *provider);
void session_release(struct session *session); /* leaves the provider alone */
/* A session for another conversation on the same workspace: with the settings, versions and grants
 * of `from`, which must outlive it, but with a separate record of seen files: it must name the
 * state of a file that only another conversation has seen. Released separately. */
void session_branch(struct session *session, const struct session *from);
uint64_t session_next_version(struct session *session); /* 1, 2, 3, ... */
uint64_t session_version(const struct session *session); /* the last one given out; 0 at first */
/* Versions go on above `at_least`: a conversation is resumed that has seen such ones. */
void session_raise_version(struct session *session, uint64_t at_least);

/* Allows the same to all commands that begin from now on. */
void session_grant(struct session *session, const struct tool_grant *grant);
/* What a command that begins now is allowed: of the session, and of this call. The caller releases
 * it. */
void session_granted(const struct session *session, struct tool_grant *ret);

/* What was allowed for the session beyond the sandbox and the workspace, each in words: [".."], a
 * new reference. */
json_t *session_permissions(const struct session *session);
/* Takes all of that back. A command that runs keeps what it began with. */
void session_revoke(const struct session *session);

/* For handlers: whether to end soon, with whatever result; and how far the work is. */
bool session_cancelled(const struct session *session);
/* The same for who sleeps meanwhile: as job_wait_news (worker/job/job.h), which is woken by that,
 * too; `news->cancel` is set here. */
bool session_wait_job(const struct session *session, struct job *job, struct job_news *news);
/* The provider for this path: the workspace's, or that of the session's own files. */
struct provider *session_reader(const struct session *session, const char *path);
/* The environment of a command (run_request.env), freed with environment_free; NULL: its
 * worker's. */
char **session_environment(const struct session *session, bool pty);
void session_progress(const struct session *session, size_t done, size_t total);
/* Brackets the time in which a handler waits for a command or the user; not nested. */
void session_wait_begin(const struct session *session);
void session_wait_end(const struct session *session);

/* Another name for a parameter.  "changes[].old_string" is that of a member of each
 * element of the array `changes`; its `name` is the member's alone. */
struct tool_alias {
	const char *alias;
	const char *name; /* NULL: accepted from models that send it, and ignored */
	int offset_by;    /* added to an integer value (0-based offset to 1-based start_line: 1),
	                   * which is then at least 1 */
};

/* Another name for a parameter, whose values are "true" and "false", in the canonical words:
 * "fixed_strings": true is "regex": false. */
struct tool_switch {
	const char *alias, *name;
	const char *when_true, *when_false; /* JSON texts; NULL: the default */
};

/* What a call by another name means unless its arguments say otherwise: grep_search takes
 * a regular expression. */
struct tool_name_default {
	const char *tool_alias, *parameter;
	const char *value; /* JSON text */
};

/* How a tool is declared now, and what of that is other than it was when a call of it was last
 * allowed. */
struct tool_change {
	json_t *state; /* a new reference: how it is declared, to be handed back to `allowed` */
	char *parts;   /* owned; "description, arguments"; NULL: nothing changed */
	char *lines;   /* owned; for people: old lines with "-", new ones with "+"; or NULL */
};

void tool_change_release(struct tool_change *change); /* leaves it empty */

struct tool {
	/* Its row in the table of tools; NULL: a server's or a discovered one, which has none, and
	 * whose name says nothing. */
	const struct tool_info *info;
	enum tool_kind kind;            /* of one without a row whose word counts, since it is the
	                                 * program's own (libhasp-agent) */
	const char *name;
	const char *title;              /* for people: "Safe patch" */
	const struct tool_alias *parameter_aliases; /* ends with a NULL alias, or NULL */
	const struct tool_switch *switches;         /* ends with a NULL alias, or NULL */
	const struct tool_name_default *name_defaults; /* ends with a NULL alias, or NULL */
	const char *description;        /* for a model */
	/* NULL, or what of it is about hashes, for models whose editors take none. */
	const char *of_hashes;
	const char *arguments_schema;   /* JSON Schema text (2020-12 subset, see data/schema.h) */
	/* NULL, or parameters that are not declared to a model, NULL-terminated: they are for
	 * scripts and settings, or synonyms of others; a call may still use them. */
	const char *const *undeclared;
	const char *result_schema;      /* JSON Schema text of the result, also of failures */
	/* Runs the call. `arguments` has passed validation. Returns a new reference,
	 * never NULL: a result or tool_failure(...). */
	json_t *(*run)(struct session *session, const json_t *arguments);
	/* NULL, or `run` in two steps: a started call proceeds while the caller starts others;
	 * that of an editor is ended after hooks.ready. NULL from `begin`: this call has to run in
	 * one step. */
	void *(*begin)(struct session *session, const json_t *arguments);
	json_t *(*end)(struct session *session, const json_t *arguments, void *started);
	/* Instead of `run`, for tools that are made while the program runs. */
	json_t *(*run_as)(struct session *session, const struct tool *tool,
	                  const json_t *arguments);
	void *data;                     /* theirs */
	const char *server;             /* of an MCP tool: the server's name; or NULL */
	const char *server_tool;        /* and its name there */
	/* Which server that is: another program or address under the same name has another. NULL:
	 * it is no server's tool. */
	const char *server_identity;
	const json_t *annotations;      /* and what the server says about it; or NULL */
	/* NULL, or whether the tool's declaration or its server has changed since a call was last
	 * allowed.  Then no rule allows it until the user has confirmed it.  *ret (always filled)
	 * is released by the caller. From any thread. */
	bool (*changed)(const struct tool *tool, struct tool_change *ret);
	/* A call was allowed, by the user, who was shown *change, or by a rule. */
	void (*allowed)(const struct tool *tool, const struct tool_change *change);
	/* An editor: dry_run and return_content are among its arguments, and a dry run says
	 * in latest_file_state (also of each element of `changes`) what it was planned on. */
	bool plans;
	/* NULL, or whether such a call can be made at all: looked at when hooks have seen it,
	 * before rules decide and anybody is asked.  False: it ends with *err. */
	bool (*check)(struct session *session, const json_t *arguments, struct err *err);
	/* NULL, or the sentence that says how to get what an answer had no room for (answer.h). */
	const char *rest;
	/* NULL, or the addresses that a call fetches: [{"url", "host"}], a new reference.  NULL:
	 * they cannot be determined, and the call fails. */
	json_t *(*addresses)(const json_t *arguments);
	/* It asks the user itself: it needs no confirmation. */
	bool asks;
	/* NULL, or whether it has no use as the session is now, and is not offered to a model. */
	bool (*hidden)(const struct session *session);
	/* NULL, or whether there is nothing that it could work with, so that it is not even
	 * declared; that may change between requests (host_set_editor). */
	bool (*absent)(const struct session *session);
	/* NULL, or the text to show when asking about a call; the caller frees.  NULL with *err:
	 * the call cannot be made, and no question is asked. */
	char *(*preview)(struct session *session, const struct tool *tool,
	                 const json_t *arguments, struct err *err);
	/* NULL, or the argument that replaces that text if the user has edited it. */
	const char *preview_argument;
	/* NULL, or adds what a failure of validation still has to carry (an editor: the
	 * state of the file it names). `arguments` has not passed validation. */
	void (*explain)(struct session *session, const json_t *arguments, json_t *failure);
};

/* What it does to the world: of the tools of servers, and of discovered ones, that is unknown. */
static inline enum tool_kind tool_kind_of(const struct tool *tool)
{
	return tool->info ? tool->info->kind : tool->kind;
}

/* All tools that need no conversation, in the order shown to a model. */
size_t tool_count(void);
const struct tool *tool_at(size_t i);
/* By any of its names (data/tools.h); NULL if there is none. */
const struct tool *tool_find(const char *name);
/* Its other names, NULL-terminated; NULL: it has none, as no tool of a server has. */
const char *const *tool_aliases(const struct tool *tool);

/* Runs one call. `arguments` may be NULL (no arguments). The caller owns the result, an
 * object (or array, read_many_files). From any thread. */
json_t *tool_call(struct session *session, const char *name, const json_t *arguments);

/* What an editor's call would do: the result of a dry run, with a diff; a new reference. NULL: the
 * tool is no editor, or the call is a dry run itself. `arguments` have passed validation. */
json_t *tool_plan(struct session *session, const struct tool *tool, const json_t *arguments);
/* The arguments bound to the states that a plan was made on: they make the same bytes, or fail with
 * state_mismatch. A new reference. */
json_t *tool_bind(const struct tool *tool, const json_t *arguments, const json_t *plan);

/* The same in two steps if possible, for callers with several calls and one thread.  NULL: use
 * tool_call.  It is not possible in sessions with hooks that see every call (before, decide, after;
 * for editors, confirm).  Each started call must be ended with the same session (or a copy): a
 * reader soon, by the same thread, LIMIT_READS_STARTED at a time; an editor after hooks.ready was
 * called, or by a thread that can wait. */
struct started_call;
struct started_call *tool_call_begin(struct session *session, const char *name,
                                     const json_t *arguments);
json_t *tool_call_end(struct session *session, struct started_call *started);

/* Whether a call requests permissions beyond the session's (additional_permissions): the user must
 * confirm it; it is denied if that is not possible. */
bool tool_requires_more(const struct tool *tool, const json_t *arguments);

/* All arguments of a call but those named in `without` (NULL-terminated; NULL: none), in full, as a
 * question must show exactly what will run.  A lone text stands for itself, others are
 * "name: value", a line each.  NULL: they are longer than LIMIT_QUESTION_BYTES, or of more lines
 * than LIMIT_QUESTION_LINES, too long for a question.  The caller frees. */
char *tool_arguments_text(const json_t *arguments, const char *const *without);
/* Those of editors that a plan's files and diffs show, or that change nothing: for `without`. */
extern const char *const tool_arguments_of_edit[];

/* Whether a result says that the call failed: "success": false, or a list with nothing but
 * errors. */
bool tool_result_failed(const json_t *result);

/* The member that a result gets when invisible characters in it are shown as escapes
 * (base/unseen.h, whose json_show_unseen in data/json.h makes them), and its text. */
#define TOOL_UNSEEN "unseen_characters"
/* Its text, for `count` such characters: a new string. */
json_t *tool_unseen_note(size_t count);

/* {"code": ..., "advice": ...}, and "denial" (denial.h) when a rule of the sandbox refused. */
json_t *tool_error(const struct err *err);
/* {"success": false, "message": ..., "error": tool_error} */
json_t *tool_failure(const struct err *err);

/* ---- names in arguments ----------------------------------------------------------- */

/* Other names of parameters, taken for the canonical ones before validation; and names of files in
 * arguments, which are text, as the bytes that a handler needs. */

/* Returns a new reference to the arguments with canonical names (a copy as deep as needed;
 * `arguments` is an object and not changed).  `called` is the name by which the tool was
 * called.  An alias that contradicts its canonical name, or is out of range, is reported in
 * `problems`.  *ret_sent (NULL: not needed) is a new reference to an object: the names that were
 * sent, by the canonical ones ("changes[0].old_content": "changes[0].old_string"). */
json_t *alias_resolve(const struct tool *tool, const char *called, const json_t *arguments,
                      json_t **ret_sent, struct buf *problems);

/* The arguments as the tool's handler gets them: paths in the bytes that they are the text of
 * (base/name.h). A new reference, to `arguments` where that changes nothing. Not to be printed,
 * kept or shown. */
json_t *alias_path_bytes(const struct tool *tool, const json_t *arguments);

#endif
