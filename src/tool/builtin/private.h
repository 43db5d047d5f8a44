/* SPDX-License-Identifier: Apache-2.0 */
/* What tools of this folder share with each other: the editors; then what reading, listing and
 * searching share.
 */
#ifndef HASP_TOOL_BUILTIN_PRIVATE_H
#define HASP_TOOL_BUILTIN_PRIVATE_H

#include "search/rules/chain.h"
#include "tool/builtin/builtin.h"
#include "tool/tool.h"
#include "worker/job/job.h"

/* ---- editors ----
 *
 * Reading the common arguments, running the edit, the result:
 *
 *     return editor_call(session, arguments, CHANGE_PATCH);
 *
 * To add a kind of change: its rows in editor.c and editor_answer.c. */

struct editor_call {
	struct session *session;
	enum return_content content;         /* of a success */
	enum return_content refused_content; /* of a refusal */
	bool shows_diff;                     /* the result has the diff as a member */
	struct edit_options options;
	const struct change_result *results; /* borrowed: of all changes of the call; or NULL */
	size_t result_count;
	bool alone;  /* the call has one change of this file: whether it fits another state can be
	              * said */
	bool offers; /* and it may be offered again (tool/rebase.h) */
};

/* From the common arguments (return_content, dry_run, ...), which it borrows. */
void editor_init(struct editor_call *editor, struct session *session, const json_t *arguments);

/* The states that a change names. */
struct change_hashes {
	struct sha256 base, made;
};

/* A change, as the arguments of a tool or one of apply_changes' changes have it; what it is made of
 * is borrowed from them, its states are in *hashes. */
struct change editor_change(const struct session *session, const json_t *arguments,
                            enum change_kind kind, struct change_hashes *hashes);
/* The kind that one of apply_changes' changes names. */
enum change_kind editor_kind(const json_t *arguments);

/* tool.run, .begin and .end of a tool with one change. */
json_t *editor_call(struct session *session, const json_t *arguments, enum change_kind kind);
void *editor_begin(struct session *session, const json_t *arguments, enum change_kind kind);
json_t *editor_end(struct session *session, const json_t *arguments, void *started);

/* Makes the changes, as provider_edit does, and again where a base is the session's, which
 * hashes[i].base is for. */
bool editor_apply(struct editor_call *editor, struct change *changes, struct change_hashes *hashes,
                  size_t count, struct change_result *results, struct err *err);

/* Whether no other change of the call is about the file of change `i`. */
bool editor_is_only_change(const struct change_result *results, size_t count, size_t i);

/* ---- bases (editor_base.c) ----
 *
 * Which state an edit goes by whose call names none, if that is what is on disk:
 *
 *     the change names       and the conversation has, of the state on disk
 *     BASE_SEEN              anything (seen_met); to write, all of it, or the lines it takes away
 *     no hash, writes        all of it, but not by a refusal; or the lines it takes away
 *     no hash, patches       all of it, or the lines it takes away; and not all by a refusal
 *
 * Lines serve the only change of a file.  A deletion or a move without a hash is refused. */

/* The base of a change whose call says BASE_SEEN, until the session's state is known; identified by
 * its address. */
extern const struct sha256 editor_base_kept;
/* The hash in base_content_sha256, in *storage: NULL when absent or empty.  Validation has refused
 * text that is not a hash (tool/call.c). */
const struct sha256 *editor_base_named(const json_t *arguments, struct sha256 *storage);
/* The state on which a change with BASE_SEEN is based; false: the conversation has not seen the
 * file, or not all of a file that the change overwrites. */
bool editor_base_seen(const struct editor_call *editor, const struct change *change,
                      const char *path, struct sha256 *ret);
/* The state that the session met by the change's own path, which decides nothing: a wrong one is a
 * mismatch. Of one on BASE_SEEN alone. */
void editor_base_guess(const struct editor_call *editor, struct change *change,
                       struct sha256 *storage);
/* After a refusal: sets the base, by where the path led. False: the conversation has not seen
 * enough of the file; result->err may say what. `only`: see editor_is_only_change. */
bool editor_base_find(const struct editor_call *editor, struct change *change, bool only,
                      struct change_result *result, struct sha256 *storage);
/* Whether editor_base_find has to send requests for that. */
bool editor_base_may_serve(const struct editor_call *editor, const struct change_result *result);
/* What a refusal shows of a file is what the next call is about, which cannot name it. */
void editor_base_meet(const struct editor_call *editor, const struct change_result *result);

/* The result of one change of a call: success, message, latest_file_state and the rest
 * (editor_answer.c). */
json_t *editor_answer(const struct editor_call *editor, const struct change *change,
                      const struct change_result *result);

/* tool.explain of the editors with one file: adds latest_file_state. */
void editor_explain(struct session *session, const json_t *arguments, json_t *failure);

/* ---- commands that bash cannot read (syntax.c) ---- */

/* tool.check of a tool with a `command`.  INVALID_ARGUMENT: a syntax error, with what and where;
 * nothing of it was run. */
bool builtin_syntax_check(struct session *session, const json_t *arguments, struct err *err);

/* ---- filter ----------------------------------------------------------------------- */

/* What search_files and glob share: which ignore files count, and names of files that other
 * tools take. */

/* The session's rules with what the arguments say: respect_git_ignore, respect_gemini_ignore, and
 * of ARGUMENTS_FILTER also no_ignore, hidden and ignore_files, which decide over the session's own.
 * ret->ignore_files is NULL or an array of borrowed names, which the caller frees. */
void filter_rules(const struct session *session, const json_t *arguments, struct walk_rules *ret);

/* Makes `request` heed what the rules say about a file that is named. Borrows from the rules. */
void filter_heed(struct read_request *request, const struct walk_rules *rules);

/* What stands before a path relative to `folder` (canonical, absolute) so that it names
 * the same file to every tool: "" in the first workspace root, "src/" beneath it, otherwise the
 * absolute folder with its '/'.  The caller frees. */
char *filter_prefix(struct provider *provider, const char *folder);

/* Of files that rules keep from this call: "left_out_by_policy", how many, and a sentence at the
 * end of "message" with the reason of the first. Nothing, if there are none. */
void filter_put_denied(json_t *result, size_t denied, const char *why);
#define RESULT_DENIED SCHEMA("left_out_by_policy": {"type": "integer", "description": \
	"Number of files left out because a policy denies them."})

/* For a file that does not exist: appends a question that names the one that may be meant, which
 * has a similar name in its folder or the same name elsewhere; nothing if there is none. */
void filter_suggest_file(const struct session *session, const char *path, struct buf *out);

/* Sets "version", "sha256" and "size" of a file that may be edited now. */
void filter_put_state(struct session *session, json_t *file, const struct sha256 *sha256,
                      uint64_t size);

/* Where a call looks that names no path: every root of the workspace, the first as ".". With `path`
 * that alone. The caller frees the array; its strings are borrowed. */
const char **filter_roots(struct provider *provider, const char *path, size_t *ret_count);
/* The folder that a glob names before anything in it means more than itself: "/a/b" of
 * "/a/b/x*.c". The caller frees. */
char *filter_glob_folder(const char *pattern);
/* That of an absolute pattern that does not start in a root, as far as is known here; it may be in
 * one under a different spelling.  NULL: any other pattern, or the folder is "/".  The caller
 * frees. */
char *filter_outer_folder(struct provider *provider, const char *pattern);
/* The result of a call that failed, with the `path` that it named. */
json_t *filter_failure(const json_t *arguments, const struct err *err);
/* Names the roots that were looked in, where there is more than one. */
void filter_put_roots(json_t *result, struct provider *provider, size_t count);

/* ---- commands --------------------------------------------------------------------- */

/* What the tools for commands have in common: finding a job, and reporting it. */

/* The job that the argument `pid` names, for the caller to release; NULL with *err set. */
struct job *builtin_command_job(struct session *session, const json_t *arguments, struct err *err);

/* Members of a result that say how a command stands: pid, state, exit_code, signal, ... */
void builtin_command_state(json_t *result, const struct job_info *info);

/* clang-format off */
#define RESULT_COMMAND_STATE SCHEMA( \
	"pid": {"type": "integer", "description": "What the other tools for commands call it."}, \
	"state": {"type": "string", "enum": ["running", "left_running", "ended"], "description": \
		"left_running: it has ended, processes that it started go on."}, \
	"process_group": {"type": "integer", "description": "As the command itself sees it."}, \
	"left_running": {"type": "integer", "description": "So many processes go on."}, \
	"exit_code": {"type": "integer"}, \
	"signal": {"type": "string", "description": "That ended it: SIGSEGV."}, \
	"ended_by": {"type": "string", "enum": \
		["timed_out", "inactive", "cancelled", "limit", "lost"], "description": \
		"Present when it did not end by itself."}, \
	"output_bytes": {"type": "integer"}, \
	"duration_ms": {"type": "integer"})

#define RESULT_DENIALS SCHEMA( \
	"denials": {"type": "array", "description": "What the sandbox refused.", \
		"items": ) RESULT_DENIAL SCHEMA(}, \
	"denials_left_out": {"type": "integer"}, \
	"hidden_paths": {"type": "array", "items": {"type": "string"}, "description": \
		"After a failure: what the sandbox hides from commands. Reading it is refused, \
and is not among the denials."}, \
	"hidden_paths_left_out": {"type": "integer"})

#define ARGUMENT_PID SCHEMA( \
	"pid": {"type": "integer", "minimum": 1, "description": \
		"From run_shell_command or list_background_processes."})
/* clang-format on */

/* The Python side of run_python: python_driver.py. */
extern const char python_driver[];

enum { PYTHON_NAME_SHOWN = 100 };

/* Puts the value, traceback and pictures of the interpreter's answer into a result. Returns its
 * status ("ok", "error", "exit", "interrupted") and the name of the exception, or NULL when it is
 * no answer; the result is then unchanged. */
const char *python_answer_take(struct span body, json_t *result,
                               char ret_name[PYTHON_NAME_SHOWN + 1]);

/* ---- reading (read_files.c) ---- */

/* The versioned file object; takes the session's next version. */
json_t *read_files_result(struct session *session, const struct read_request *request,
                          const struct read_result *read);
/* Adds what a failed read found out about the file to a failure: path, and hash and version
 * if it was read. */
void read_files_add_state(struct session *session, const struct read_request *request,
                          const struct read_result *read, json_t *failure);
/* Bytes of content that an answer has room for, in addition to all else; 0: no limit. */
size_t read_files_room(const struct session *session);
/* Reads again what weighs more than `room` (0: nothing does): letters other than ASCII count for
 * more than their bytes. */
bool read_files_within(struct provider *reader, const struct read_request *request, size_t room,
                       struct read_result *read, struct err *err);

/* ---- files that are not plain text (derived.c) ---- */

/* Has the request read them, as the session's settings say; `part`: of the call, or NULL. */
void derived_ask(const struct session *session, const char *part, struct read_request *request);
/* Adds to the file object what was read of one (READ_DERIVED). TOOL_FAILED: a worker that breaks
 * the rules. */
bool derived_put(json_t *file, const struct read_request *request, const struct read_result *read,
                 struct err *err);

#endif
