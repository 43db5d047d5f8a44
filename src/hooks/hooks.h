/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: programs and functions that receive events and may refuse or change them.
 *
 *     struct hooks *hooks = hooks_new(&options);
 *     hooks_add(hooks, HOOK_SOURCE_USER, settings_hooks, path, problems); // form of settings
 *     hooks_add_toml(hooks, HOOK_SOURCE_PROJECT, path, problems);         // hooks.toml
 *     hooks_add_function(hooks, HOOK_BEFORE_TOOL, "write_.*", function, data);
 *     if (hooks_any(hooks, HOOK_BEFORE_TOOL, name)) {
 *             hooks_fire(hooks, HOOK_BEFORE_TOOL, name, input, cancel, &outcome);
 *             ...
 *             hook_outcome_release(&outcome);
 *     }
 *     hooks_free(hooks);                                                 // kills running hooks
 *
 * Eleven events with Gemini CLI's JSON on standard input and output, and its exit codes, matchers
 * and merging rules.  docs/hooks.md describes them and the deliberate differences: a timeout kills
 * all processes that the hook started, and a project's hooks run only after the user has trusted
 * exactly these (hooks_trust).  Safe to call from any thread; a hook blocks for at most its timeout
 * after it was started or last reported progress.
 */
#ifndef HASP_HOOKS_HOOKS_H
#define HASP_HOOKS_HOOKS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/err.h"
#include "base/file.h"
#include "base/notices.h"
#include "data/hook_events.h"

enum hook_event {
#define HOOK_EVENT_ENUM(symbol, ...) HOOK_##symbol,
	HOOK_EVENT_TABLE(HOOK_EVENT_ENUM) /* one a row, in their order */
#undef HOOK_EVENT_ENUM
	HOOK_EVENT_COUNT
};
/* As Gemini CLI spells it: "BeforeTool". */
const char *hook_event_name(enum hook_event event);

/* How an event proceeds if a hook that could refuse it timed out or failed. */
enum hook_pass {
	HOOK_PASS_UNSET, /* for one hook: as set for all; for all: HOOK_PASS_DENY */
	HOOK_PASS_DENY,  /* the event is refused */
	HOOK_PASS_ALLOW, /* it proceeds */
};
/* Parses "deny" or "allow"; NULL is HOOK_PASS_UNSET. Returns false for any other word. */
bool hook_pass_parse(const char *word, enum hook_pass *ret);

enum hook_source {
	HOOK_SOURCE_RUNTIME, /* functions */
	HOOK_SOURCE_PROJECT,
	HOOK_SOURCE_USER,
	HOOK_SOURCE_SYSTEM,
	HOOK_SOURCE_EXTENSION,
};

/* A hook command that has run; all members are borrowed until `ran` returns. */
struct hook_run {
	enum hook_event event;
	const char *name;     /* the command, if the hook has no name */
	unsigned ms;
	int exit_code;        /* -1: it could not be started */
	const json_t *input;  /* the object that the command received */
	struct span out, err; /* its output, up to the limits */
};

struct hooks_options {
	const char *project;         /* GEMINI_PROJECT_DIR, CLAUDE_PROJECT_DIR; absolute */
	const char *cwd;             /* where commands run */
	const char *here;            /* where they run if `cwd` is remote; NULL: `cwd` */
	const char *session_id;
	const char *transcript_path; /* "" while there is none */
	const char *plans_folder;    /* GEMINI_PLANS_DIR; or NULL */
	const char *caller;          /* whose tasks the session carries out (policy_caller):
	                              * `caller` of each event; NULL: the user's */
	char *const *environment;    /* "NAME=VALUE", scrubbed by the caller; NULL-terminated */
	const char *trust_file;      /* ~/.gemini/trusted_hooks.json; hasp-trusted-files.json is in
	                              * the same folder */
	const char *guards;          /* the folder that guards share (sandbox/guard/guard.h); NULL:
	                              * no command runs */
	const char *const *roots;    /* folders that commands may write besides `project` and
	                              * `cwd`; or NULL */
	const json_t *disabled;      /* hooksConfig.disabled: names; or NULL */
	bool project_trusted;        /* the folder is trusted; if not, the project's hooks are
	                              * ignored */
	bool enabled;                /* hooksConfig.enabled */
	enum hook_pass on_timeout, on_error; /* hasp.hooks.onTimeout, onError */
	/* Lines of stderr, systemMessages and warnings for the user; called from any thread. */
	struct notices notices;
	/* Called after each command, on the thread of hooks_fire; may be NULL. */
	void (*ran)(void *data, const struct hook_run *run);
	void *data;
};

struct hooks;
/* A set without hooks. The options are copied. */
struct hooks *hooks_new(const struct hooks_options *options);
/* Adds the files that `command`, which hooks_run will run, names to hooks_held. */
void hooks_hold(struct hooks *hooks, const char *command);
/* Replaces the hooks that were read into `hooks` by those of `from`; functions and everything else
 * stay. `from` is freed. No event may be in progress. */
void hooks_renew(struct hooks *hooks, struct hooks *from);
/* Switches to another session (see hooks_options). No event may be in progress. */
void hooks_set_session(struct hooks *hooks, const char *session_id, const char *transcript_path,
                       const char *plans_folder);
/* NULL is fine. No event may be in progress. */
void hooks_free(struct hooks *hooks);

/* `config`: {"BeforeTool": [{matcher?, sequential?, hooks: [{type, command, ...}]}], ...}, from
 * the file `where`. An invalid part is left out and reported in `problems` ({source, message}:
 * the file, and a sentence that begins with it); a matcher that is not a regular expression matches
 * every tool. `problems` is a list of warnings (data/warnings.h). */
void hooks_add(struct hooks *hooks, enum hook_source source, const json_t *config,
               const char *where, json_t *problems);
/* The same for hooks that run only if `check`, called with `data` before each run, returns true;
 * false: *err has the reason.  A reference to `data` is kept. */
typedef bool hook_check(const json_t *data, struct err *err);
void hooks_add_checked(struct hooks *hooks, enum hook_source source, const json_t *config,
                       const char *where, json_t *problems, hook_check *check, json_t *data);
/* Returns false if the file exists but is not TOML (also reported in `problems`). */
bool hooks_add_toml(struct hooks *hooks, enum hook_source source, const char *path,
                    json_t *problems);

/* Appends a problem of the file `where`; the message begins with that name. `lost`: the problem
 * disables a hook that could refuse something, under this event of the file ("": outside of any
 * event); NULL: it does not (setup_hooks_lost). */
void hooks_problem(json_t *problems, const char *where, const char *lost, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A function's answer (in the terms of requirement document 4). */
struct hook_answer {
	bool proceed;                /* set to true before the call */
	char *reason;                /* of a refusal; owned by hooks once set; mem_strdup */
	char *alternative_response;  /* used as the result (or model reply); the call is not made */
	json_t *modified_arguments;  /* replace those of the call (or model request) */
	char *error;                 /* the event fails with this sentence */
	char *context;               /* for the model, which gets < and > escaped */
};
typedef void hook_function(void *data, enum hook_event event, const json_t *input,
                           struct hook_answer *answer);
/* Adds a function of this program as a hook, which is always active. `matcher` is copied; NULL or
 * "" matches everything.  `data` is borrowed until hooks_free. */
void hooks_add_function(struct hooks *hooks, enum hook_event event, const char *matcher,
                        hook_function *function, void *data);

/* Whether any hook would run; if not, callers need not build an input. `matched`: the trigger, the
 * source, ..., or the names of a tool, separated by blanks: one match is enough.  After "|" follow
 * its other names, and names of equivalent tools, here or in other programs: a matcher for one of
 * them applies to this tool, too.  A matcher that excludes ("(?!", "[^") is compared only with the
 * names before "|", and must match all of them.  NULL: the event ignores matchers. */
bool hooks_any(const struct hooks *hooks, enum hook_event event, const char *matched);

struct hook_outcome {
	bool denied;               /* decision block|deny, or a function did not proceed */
	bool ask;                  /* decision ask: a confirmation is forced */
	bool allowed;              /* a hook answered allow|approve explicitly */
	bool stop;                 /* continue: false: the agent's loop ends */
	bool suppress_output, clear_context;
	char *reason;              /* denials' reasons, a line each; or stopReason; NULL without */
	char *system_message;      /* for the user; NULL without */
	char *additional_context;  /* < and > escaped; for the model; NULL without */
	char *by;                  /* which hook denied, stopped or asks: the first, by its name or
	                            * command; NULL: none did */
	char *alternative;         /* alternative_response; NULL without */
	char *error;               /* a function's error; NULL without */
	char *unclear;             /* used only in this folder: the invalid part of a hook's
	                            * answer, as a predicate; NULL if there is none */
	json_t *tool_input;        /* BeforeTool's rewrite */
	json_t *tail_call;         /* AfterTool: {name, args} */
	json_t *llm_request, *llm_response; /* model events: overrides, merged */
	json_t *tool_config;       /* BeforeToolSelection: {mode, allowedFunctionNames} */
};
/* Frees the contents; an outcome of zeros is fine. */
void hook_outcome_release(struct hook_outcome *outcome);
/* Adds the answers of one hook or one group of hooks to `all`; `one` is emptied. */
void hook_outcome_merge(struct hook_outcome *all, struct hook_outcome *one);

/* Runs the event's hooks.  `input`: the event's members; session_id, transcript_path, cwd,
 * hook_event_name and timestamp are added.  Its member `claude` is an object with what hooks for
 * Claude Code get besides, or in place of the member of that name, and no others.  A hook that
 * cannot be run, times out or gives an invalid answer causes a warning, and a refusal if the event
 * can be refused and the hook is not set to allow. */
void hooks_fire(struct hooks *hooks, enum hook_event event, const char *matched,
                const json_t *input, const struct cancel *cancel, struct hook_outcome *ret);

/* Runs a command that belongs to no event (the setting statusLine) like a hook: `input` on its
 * standard input, a hook's environment and folder, killed after `timeout_ms`.  Its output is
 * appended to `out`, as much as fits.  Errors: COMMAND_STOPPED (timed out), CANCELLED, TOOL_FAILED
 * (exit code not 0), DENIED_BY_POLICY (a file of the workspace that it names has changed since it
 * was trusted, see hooks_held), or the reason why it could not be started. */
bool hooks_run(const struct hooks *hooks, const char *command, unsigned timeout_ms,
               struct span input, const struct cancel *cancel, struct buf *out, struct err *err);

/* The trusted files of hooks_held, by the names that commands use for them and by the targets of
 * links: absolute paths (json_path_bytes), a new reference. */
json_t *hooks_held_paths(const struct hooks *hooks);

/* The project's hooks that are not trusted yet ("name:command" each, or "name:[A B, digest of the
 * values] command" if it sets variables), and trusting them: they are recorded in trust_file, in
 * Gemini CLI's format, under a lock of its folder; `wait` may be NULL.  A hook whose command or
 * variables change counts as a new one.  BUSY, CANCELLED: another process holds the lock.
 * INVALID_ARGUMENT: trust_file has another format and is left unchanged. */
json_t *hooks_untrusted(const struct hooks *hooks);
bool hooks_trust(struct hooks *hooks, const json_t *held, const struct file_lock_wait *wait,
                 struct err *err);
/* A row's state as the end of a sentence about the file: "is not trusted yet". */
const char *hooks_held_sentence(const char *state);
/* The files of the workspace that commands of any hooks name, each with its present and its trusted
 * state: [{key, file, state, before?, now?, why?}]. state: "trusted", "new", "changed", "missing",
 * "unreadable"; before and now: {sha256?, leads?, text?}; "now" is null for a missing file, and
 * "text" is given for small texts only.  A command that names a file in any state but "trusted"
 * does not run; hooks_trust records the rows of `held`.  `loose` (or NULL) receives a phrase for
 * each thing that a command names and hasp cannot compare.  Returns a new reference. */
json_t *hooks_held(const struct hooks *hooks, json_t *loose);
/* [{event, matcher, source, file (or null), format ("gemini" or "claude", whose tool names the
 * matcher uses), name, command, env if it has any (["A=b"]), timeout, enabled, trusted}]; a new
 * reference. */
json_t *hooks_list(const struct hooks *hooks);

#endif
