/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: a hook as it was read, and the steps of firing an event.
 *
 *   list.c        the groups of an event, what matches, what the user has trusted
 *   read.c        hooks as files have them
 *   fire.c        running an event's hooks
 *   process.c     one command, with its end for certain, and the process above it
 *   answer.c      what a hook said, and several together
 *   claude.c      hooks that were written for Claude Code
 *   condition.c   the calls at which these run
 *   background.c  those that run asynchronously
 *   held.c        files of the workspace that commands name
 *   twin.c        other names of these files
 *   variables.c   a command's variables
 */
#ifndef HASP_HOOKS_HOOK_H
#define HASP_HOOKS_HOOK_H

#include <pthread.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/notices.h"
#include "hooks/hooks.h"
#include "search/match/js_regex.h"

#define HOOK_TIMEOUT_MS_DEFAULT 60000u
/* Claude Code's: of a prompt's hooks, and of others. */
#define HOOK_TIMEOUT_MS_CLAUDE_PROMPT 30000u
#define HOOK_TIMEOUT_MS_CLAUDE 600000u
/* The longest time that a hook may ask for. */
#define HOOK_TIMEOUT_MS_MAX 3600000u
/* After SIGTERM, until SIGKILL. */
enum { HOOK_GRACE_MS = 1000 };
enum { HOOK_OUTPUT_BYTES_MAX = 8 << 20, HOOK_ERROR_BYTES_MAX = 64 << 10 };
/* Hooks of all events together: each is a process. */
enum { HOOKS_MAX = 1000 };

struct hook {
	enum hook_source source;
	char *name;        /* owned; "" when it has none */
	char *command;     /* owned; NULL: a function */
	char *description; /* owned; or NULL */
	char **env;        /* owned "NAME=VALUE", NULL-terminated; or NULL */
	unsigned timeout_ms;
	enum hook_pass on_timeout, on_error;
	bool disabled;     /* by name, in the settings */
	bool trusted;
	bool claude;       /* written for Claude Code (claude.c) */
	bool async;        /* runs in the background (background.c) */
	char *condition;   /* owned; the calls that it runs at (condition.c); NULL: all */
	hook_check *check; /* or NULL; asked before each run, with check_data */
	json_t *check_data; /* owned; or NULL */
	hook_function *function;
	void *data;
};

struct hook_group {
	enum hook_event event;
	char *matcher;          /* owned; "": everything */
	struct js_regex *regex; /* of tool events; NULL: compared as text */
	bool sequential;
	bool claude;            /* the matcher has Claude Code's names */
	char *where;            /* owned; the file that it is from; NULL: a function's */
	struct hook *hooks;
	size_t count, cap;
};

struct hooks {
	char *project, *cwd, *here, *session_id, *transcript_path, *plans_folder, *trust_file,
	     *caller;
	char *guards;           /* of hooks_options */
	char **environment;     /* owned copy */
	char **roots;           /* owned; what commands of the workspace may write (held.c) */
	struct hook *others;    /* owned; commands that are no hooks (hooks_hold) */
	size_t other_count, other_cap;
	json_t *disabled;       /* an object with their names: there may be many, and each hook
	                         * asks */
	bool enabled, project_trusted;
	enum hook_pass on_timeout, on_error; /* of hooks that do not say themselves */
	struct notices notices;
	void (*ran)(void *data, const struct hook_run *run);
	void *data;
	struct hook_group *groups;
	size_t count, cap;
	size_t hook_count;
	pthread_mutex_t lock;   /* transcript_path, background, warned, twins */
	json_t *twins;          /* an object: what twin_in_roots has found */
	json_t *warned;         /* an object: hooks whose failure this session has reported */
	struct background *background; /* what runs in the background, or has; owned */
	struct cancel background_end;  /* of all of it; with `finish` */
	pthread_cond_t background_ended; /* one of them has */
	void (*finish)(struct hooks *hooks); /* gives what runs there a little time, then ends it;
	                                      * NULL: nothing has */
};

/* A copy that owns copies of the texts; and freeing these. */
struct hook hook_copy(const struct hook *hook);
void hook_release(struct hook *hook);

/* ---- in the background (background.c) ---- */

/* Runs it with `input`, which is copied, and does not wait; hooks->finish does. */
void background_start(struct hooks *hooks, const struct hook *hook, struct span input);

/* ---- reading them (read.c) ---- */

/* A group without hooks, after the others; blanks around the matcher are left out. *err (or NULL)
 * says why the matcher is not a regular expression; then it matches every tool. Borrowed until the
 * next one is added. */
struct hook_group *hooks_add_group(struct hooks *hooks, enum hook_event event, const char *matcher,
                                   struct err *err);
/* A hook with the defaults, after the others of the group. Borrowed until the next one is added. */
struct hook *hook_group_add(struct hooks *hooks, struct hook_group *group,
                            enum hook_source source);
bool hook_event_is_of_tools(enum hook_event event);
/* Marks the project's hooks that trust_file lists; one that cannot be read lists none, and is a
 * problem. */
void hooks_read_trust(struct hooks *hooks, json_t *problems);
/* Its name, or its command if it has none; borrowed. */
const char *hook_label(const struct hook *hook);
/* Whether the user's settings switch off hooks of this name; NULL and "" are none. */
bool hook_is_disabled(const struct hooks *hooks, const char *name);
/* Whether it would run when its event is fired. */
bool hook_counts(const struct hooks *hooks, const struct hook *hook);
bool hook_group_matches(const struct hook_group *group, const char *matched);
/* For people; nothing without options.notice. */
void hooks_notice(const struct hooks *hooks, enum severity severity, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* How a command ended. */
struct hook_process {
	struct buf out, err; /* bounded; the rest is read and dropped */
	int exit_code;       /* 128 + signal when one ended it */
	bool timed_out, cancelled;
	bool cut;            /* it wrote more than `out` takes */
	bool refused;        /* not started: its own check or held_check said no */
};
/* Runs it with `input` on its standard input. False: it did not start; *err. When
 * it returns, after a timeout or cancel, no process that came from it runs any more: for certain
 * where a control group can be had (sandbox/apply/cgroup.h), else but for what
 * processes_kill_descendants names. */
bool hook_process_run(const struct hooks *hooks, const struct hook *hook, struct span input,
                      const struct cancel *cancel, struct hook_process *ret, struct err *err);
void hook_process_release(struct hook_process *process);
/* The command with $GEMINI_PROJECT_DIR and the like, where they stand outside of quotes,
 * replaced by quoted text, so that a path with blanks stays one word; with a NUL at its end. */
void hook_command_text(const struct hooks *hooks, const char *command, struct buf *out);
/* What a hook's command is given as variables; the caller frees the array and each string. */
char **hook_environment(const struct hooks *hooks, const struct hook *hook);

/* ---- files that commands name (held.c) ---- */

/* Sets hooks->roots. */
void held_set_roots(struct hooks *hooks, const struct hooks_options *options);
/* Whether the files of the workspace that the hook's command names are as they were trusted, and
 * stay so: no command runs that may change them.
 * False: *err says which is not (DENIED_BY_POLICY), or that it cannot be found out. */
bool held_check(const struct hooks *hooks, const struct hook *hook, struct err *err);
#define TWIN_UNKNOWN "?"
/* Another name beneath the roots of the file with this canonical path (twin.c), the caller's; or
 * TWIN_UNKNOWN and a phrase that says why it cannot be found out. NULL: none. */
char *twin_in_roots(const struct hooks *hooks, const char *path);
/* Writes down `rows` (hooks_held) as trusted. */
bool held_trust(const struct hooks *hooks, const json_t *rows, struct err *err);

/* ---- Claude Code's (claude.c) ---- */

/* Its name for a tool of ours; NULL: it has none. */
const char *claude_tool_name(struct span ours);
/* One of its matchers as a regular expression for hooks_add's; the caller frees. NULL: all. */
char *claude_matcher(const char *matcher);
/* Its name for the tool of a call, "mcp__SERVER__TOOL" for a server's, a new reference; of
 * others the name that they have. */
json_t *claude_tool(const json_t *input);
/* What it is given, with `besides` (hooks_fire; or NULL); a new reference. */
json_t *claude_input(enum hook_event event, const json_t *input, const json_t *besides);
/* Names the arguments that such a hook answered with as the event's input does. */
void claude_arguments_taken(const json_t *input, json_t *arguments);
/* Whether the hook runs at this event, by its "if" (condition.c). `input`: as hooks_fire has it. */
bool condition_fits(const struct hooks *hooks, const struct hook *hook, enum hook_event event,
                    const json_t *input);

/* What one hook said: an outcome of one. What of it is not understood, contradicts itself, or says
 * that the hook failed is ret->unclear, whatever else was read; the caller decides what follows.
 * `claude`: it was written for Claude Code, whose exit codes and texts mean something else. */
void hook_answer_read(const struct hook_process *process, bool claude, enum hook_event event,
                      struct hook_outcome *ret);
/* Whether an event's hooks can keep something from happening. */
bool hook_event_refuses(enum hook_event event, bool claude);
/* A string of any bytes, as one that can be shown and sent; the caller frees. */
char *hook_text_copy(struct span text);
void hook_answer_of_function(struct hook_answer *answer, enum hook_event event,
                             struct hook_outcome *ret);

#endif
