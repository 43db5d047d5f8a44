/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: programs and functions that get events and may change what happens.
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
 *     hooks_free(hooks);                                                 // kills what still runs
 *
 * Eleven events with Gemini CLI's JSON on standard input and output, its exit codes, matchers
 * and rules of merging; docs/hooks.md has them and where hasp differs on purpose: a timeout
 * kills all that the hook started, and a project's hooks run only after the user trusted exactly
 * these (hooks_trust). From any thread; a hook blocks no longer than its timeout after its start or
 * its last sign of progress.
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

/* What a hook that ran out of time, or failed, means for an event that it could have refused. */
enum hook_pass {
	HOOK_PASS_UNSET, /* as all hooks; of all: HOOK_PASS_DENY */
	HOOK_PASS_DENY,  /* it refuses */
	HOOK_PASS_ALLOW, /* it has no objection */
};
/* "deny", "allow"; NULL: not set. False: it is another word. */
bool hook_pass_parse(const char *word, enum hook_pass *ret);

enum hook_source {
	HOOK_SOURCE_RUNTIME, /* functions */
	HOOK_SOURCE_PROJECT,
	HOOK_SOURCE_USER,
	HOOK_SOURCE_SYSTEM,
	HOOK_SOURCE_EXTENSION,
};

/* A command of an event that has run; all of it is borrowed until `ran` returns. */
struct hook_run {
	enum hook_event event;
	const char *name;     /* or the command, where it has none */
	unsigned ms;
	int exit_code;        /* -1: it could not be started */
	const json_t *input;  /* as it was given to the command; an object */
	struct span out, err; /* what it wrote, as far as it was read */
};

struct hooks_options {
	const char *project;         /* GEMINI_PROJECT_DIR, CLAUDE_PROJECT_DIR; absolute */
	const char *cwd;             /* where commands run */
	const char *here;            /* where they run if `cwd` is another machine's; NULL: there */
	const char *session_id;
	const char *transcript_path; /* "" while there is none */
	const char *plans_folder;    /* GEMINI_PLANS_DIR; or NULL */
	char *const *environment;    /* "NAME=VALUE", scrubbed by the caller; NULL-terminated */
	const char *trust_file;      /* ~/.gemini/trusted_hooks.json; beside it hasp's own
	                              * hasp-trusted-files.json */
	const char *guards;          /* where guards keep what they know of each other
	                              * (sandbox/guard/guard.h); NULL: no command runs */
	const char *const *roots;    /* what else than `project` and `cwd` commands may write; or
	                              * NULL */
	const json_t *disabled;      /* hooksConfig.disabled: names; or NULL */
	bool project_trusted;        /* the folder is; else the project's hooks do not count at
	                              * all */
	bool enabled;                /* hooksConfig.enabled */
	enum hook_pass on_timeout, on_error; /* hasp.hooks.onTimeout, onError */
	/* Lines of stderr, systemMessages, warnings, for people; from any thread. */
	struct notices notices;
	/* A command has run. On the thread of hooks_fire; may be NULL. */
	void (*ran)(void *data, const struct hook_run *run);
	void *data;
};

struct hooks;
/* Without hooks. The options are copied. */
struct hooks *hooks_new(const struct hooks_options *options);
/* `command` is no hook, but runs by hooks_run: the files that it names are among hooks_held. */
void hooks_hold(struct hooks *hooks, const char *command);
/* What was read into `from` takes the place of what was read into `hooks`; functions and all else
 * stay. `from` is freed. No event may be under way. */
void hooks_renew(struct hooks *hooks, struct hooks *from);
/* They are of another session from here on (hooks_options). No event may be under way. */
void hooks_set_session(struct hooks *hooks, const char *session_id, const char *transcript_path,
                       const char *plans_folder);
/* NULL is fine. No event may be under way. */
void hooks_free(struct hooks *hooks);

/* `config`: {"BeforeTool": [{matcher?, sequential?, hooks: [{type, command, ...}]}], ...}, from
 * the file `where`. What is wrong is appended to `problems` ({source, message}: the file, and a
 * sentence that begins with it) and left out; a matcher that is not a regular expression matches
 * every tool. `problems` is a list of warnings (data/warnings.h). */
void hooks_add(struct hooks *hooks, enum hook_source source, const json_t *config,
               const char *where, json_t *problems);
/* The same of hooks that run only as long as `check` says so, before each run; `data` is for it,
 * and kept. False: *err says why they do not. */
typedef bool hook_check(const json_t *data, struct err *err);
void hooks_add_checked(struct hooks *hooks, enum hook_source source, const json_t *config,
                       const char *where, json_t *problems, hook_check *check, json_t *data);
/* False: the file is there and is not TOML (appended to `problems` too). */
bool hooks_add_toml(struct hooks *hooks, enum hook_source source, const char *path,
                    json_t *problems);

/* Appends a problem of the file `where`, with which the message begins. `lost`: a hook that could
 * refuse something is left out because of it, under this event of the file ("": not under one);
 * NULL: none is (setup_hooks_lost). */
void hooks_problem(json_t *problems, const char *where, const char *lost, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* What a function says (document 4's words). */
struct hook_answer {
	bool proceed;                /* set to true before the call */
	char *reason;                /* of a refusal; owned by hooks once set; mem_strdup */
	char *alternative_response;  /* this is the result (or the model's reply); nothing runs */
	json_t *modified_arguments;  /* replace the call's (or the model request's) */
	char *error;                 /* the event fails with this sentence */
};
typedef void hook_function(void *data, enum hook_event event, const json_t *input,
                           struct hook_answer *answer);
/* A hook that is a function of this program: it always counts. `matcher` is copied; NULL or "":
 * everything.  `data` is borrowed until hooks_free. */
void hooks_add_function(struct hooks *hooks, enum hook_event event, const char *matcher,
                        hook_function *function, void *data);

/* Whether any hook would run: callers need not build an input then. `matched`: the trigger, the
 * source, ..., or the names of a tool, with a blank between them: one that matches is enough.
 * Behind "|" are further names, and those of tools that do the same, here or in other programs: a
 * matcher that names one of them means this one, too.  A matcher that excludes ("(?!", "[^") is
 * compared with the names before "|" alone, all of which it must match.
 * NULL: an event without such, whatever the matchers say. */
bool hooks_any(const struct hooks *hooks, enum hook_event event, const char *matched);

struct hook_outcome {
	bool denied;               /* decision block|deny, or a function did not proceed */
	bool ask;                  /* decision ask: a confirmation is forced */
	bool allowed;              /* some hook said allow|approve explicitly */
	bool stop;                 /* continue: false: the agent's loop ends */
	bool suppress_output, clear_context;
	char *reason;              /* denials' reasons, a line each; or stopReason; NULL without */
	char *system_message;      /* for people; NULL without */
	char *additional_context;  /* < and > escaped; for the model; NULL without */
	char *alternative;         /* alternative_response; NULL without */
	char *error;               /* a function's error; NULL without */
	char *unclear;             /* within this folder: what of one hook's answer is not
	                            * understood, as a predicate; NULL otherwise */
	json_t *tool_input;        /* BeforeTool's rewrite */
	json_t *tail_call;         /* AfterTool: {name, args} */
	json_t *llm_request, *llm_response; /* model events: overrides, merged */
	json_t *tool_config;       /* BeforeToolSelection: {mode, allowedFunctionNames} */
};
/* Frees what it owns; one that is all zeros is fine. */
void hook_outcome_release(struct hook_outcome *outcome);
/* Adds what one hook, or hooks of one case, said; `one` is emptied. */
void hook_outcome_merge(struct hook_outcome *all, struct hook_outcome *one);

/* `input`: the members beyond the base ones (session_id, transcript_path, cwd, hook_event_name,
 * timestamp are added). A hook that cannot be run, runs out of time, or says what is not understood
 * is a warning, and refuses what its event can refuse unless it is set to allow. */
void hooks_fire(struct hooks *hooks, enum hook_event event, const char *matched,
                const json_t *input, const struct cancel *cancel, struct hook_outcome *ret);

/* Runs a command that is no hook of an event but is run as one (the setting statusLine): `input` on
 * its standard input, a hook's environment and folder, an end for certain after `timeout_ms`. What
 * it writes is appended to `out`, as much as fits. COMMAND_STOPPED: it took too long. CANCELLED.
 * TOOL_FAILED: it ended with another code than 0. DENIED_BY_POLICY: a file of the workspace that it
 * names is not as it was trusted (hooks_held). Else why it cannot be started. */
bool hooks_run(const struct hooks *hooks, const char *command, unsigned timeout_ms,
               struct span input, const struct cancel *cancel, struct buf *out, struct err *err);

/* The files of hooks_held that are recorded as trusted, by the names that commands have for them
 * and by where links lead: absolute paths (json_path_bytes), a new reference. */
json_t *hooks_held_paths(const struct hooks *hooks);

/* The project's hooks that are not trusted yet ("name:command" each, of one with variables of its
 * own "name:[A B, digest of the values] command"), and trusting them: they are kept in
 * trust_file, Gemini CLI's format, whose folder is locked meanwhile; `wait` may be NULL.  A
 * changed command or variable makes a new hook.  BUSY, CANCELLED: another holds the lock.
 * INVALID_ARGUMENT: trust_file is not of that format; it stays as it is. */
json_t *hooks_untrusted(const struct hooks *hooks);
bool hooks_trust(struct hooks *hooks, const json_t *held, const struct file_lock_wait *wait,
                 struct err *err);
/* What a row's state means, as the end of a sentence about the file: "is not trusted yet". */
const char *hooks_held_sentence(const char *state);
/* The files of the workspace that commands name, of whosever hooks, each with how it is and how it
 * was trusted: [{key, file, state, before?, now?, why?}]. state: "trusted", "new", "changed",
 * "missing", "unreadable"; before and now: {sha256?, leads?, text?}, "now" null where it is
 * missing; "text" only of small texts. A command that names one with another state than "trusted"
 * does not run; hooks_trust records as `held` has them. `loose` gets phrases for what commands name
 * and hasp cannot compare; or NULL. A new reference. */
json_t *hooks_held(const struct hooks *hooks, json_t *loose);
/* [{event, matcher, source, file (or null), format ("gemini" or "claude": whose names the matcher
 * has), name, command, env if it has any (["A=b"]), timeout, enabled, trusted}]; a new
 * reference. */
json_t *hooks_list(const struct hooks *hooks);

#endif
