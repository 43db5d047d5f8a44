/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a session: settings, mode, policy, workspace and host, in the one order in which each
 * stands on those before it.  Every front opens its session here: the headless run, the terminal,
 * libhasp-agent.
 *
 *     struct session_request request = { .folder = ".", .cancel = &cancel, .notices = { show } };
 *     struct front_session *session = session_new(&request);
 *
 *     if (!session_load(session, &err) ||              // settings
 *         !session_open(session, NULL, &err))          // and all else
 *             fail(session_step(session), &err);       // which of the steps it was
 *     host_prompt(session_host(session), SPAN(""), SPAN("fix the build"), &outcome, &err);
 *     session_close(session, "exit");                  // SessionEnd hooks; it can be opened again
 *     session_free(session);
 *
 * What a front shows before there is a session (a theme, an output format) it finds in the settings
 * between the two.
 *
 * One process may hold several sessions side by side: a session changes nothing of the process (no
 * directory, environment, umask, signal handler).  What it takes from the process is the same for
 * all: the environment, the current directory for a folder that is relative, and that SIGPIPE is
 * ignored, or blocked in the thread that calls.  Two sessions cannot have one record: the second to
 * resume it is refused (BUSY).  Functions of one session are called from one thread at a time.
 *
 * Not here: a thread for its prompts (runner.h), several fronts on one session (front.h).
 */
#ifndef HASP_FRONT_SESSION_H
#define HASP_FRONT_SESSION_H

#include <jansson.h>
#include <stdbool.h>

#include "agent/host/host.h"
#include "config/settings.h"
#include "front/confinement.h"
#include "worker/provider.h"

/* In their order. */
enum session_step {
	SESSION_STEP_FOLDER,
	SESSION_STEP_SETTINGS,
	SESSION_STEP_MODE,      /* PERMISSION_DENIED: for trusted folders; else: there is no such
	                         * mode, or the settings forbid it */
	SESSION_STEP_POLICY,
	SESSION_STEP_RESUMED,   /* there is no such recorded session */
	SESSION_STEP_WORKSPACE,
	SESSION_STEP_HOST,
};

struct front_session;

/* What a user asks for.  Everything is borrowed for as long as the session may be opened or its
 * settings loaded.  NULL, zero and false: not given, unless said. */
struct session_request {
	const char *folder;              /* the project; NULL: the current directory */
	const char *const *more;         /* further folders, which must exist; NULL-terminated */
	const json_t *include;           /* the same from a list of a user's, with "~": those that
	                                  * do not exist are left out, with a warning */
	const char *include_name;        /* what that list is called in the warning */
	/* Settings: config/settings.h. */
	json_t *overrides;
	const json_t *extensions;
	bool skip_trust, ignore_env_files;
	const char *mode;                /* a word; NULL: the setting */
	const char *caller;              /* whose tasks it carries out, as policy_set_caller has
	                                  * it; NULL: the user's */
	const char *const *policies, *const *admin_policies; /* files; NULL-terminated */
	const char *const *own_tools;    /* names of tools that the front adds (host_add_tool) */
	/* Fills what the user asks of the sandbox, and of where work runs; everything else stays
	 * as it is.  Called for each opening, as `data` has it.  NULL: this machine, as the
	 * settings say. */
	bool (*confine)(void *data, struct confinement *confinement, struct err *err);
	bool stays_here;                 /* work is done on this machine, or not at all */
	const char *program;             /* as worker_options.program */
	/* host_options has these. */
	const char *model, *record_file, *session_id, *import_file;
	const char *resume_file;         /* of a session that goes on, where session_open names
	                                  * none: also one in which nothing was said yet */
	bool interactive, watched, asks_together, checkpoints;
	const char *const *environment;  /* of hooks; NULL: this process's, scrubbed */
	struct cancel *cancel;
	bool asks_extensions;            /* the session asks about extensions that have changed */
	/* NULL, or puts a provider in front of the workspace's (worker/interpose.h), which stays
	 * borrowed; what it returns is the session's.  Gets interpose_data. */
	struct provider *(*interpose)(void *data, struct provider *base);
	void *interpose_data;
	/* The workspace is open, and nothing has run in it: for what a front says of its level. */
	void (*workspace)(void *data, struct front_session *session);
	struct notices notices;          /* as host_options.notices */
	void (*trace)(void *data, const char *line);
	void *data;                      /* of all functions but the notices' */
};

/* Reads nothing yet. */
struct front_session *session_new(const struct session_request *request);
/* Closes it ("exit"), if it is open; NULL is fine. */
void session_free(struct front_session *session);

/* Reads the settings, also again while the session is not open: then, if they cannot be read, those
 * before stay.  The mode is chosen, not checked.  FILE_NOT_FOUND: the folder; INVALID_ARGUMENT: the
 * word for the mode; errors of settings_load. */
bool session_load(struct front_session *session, struct err *err);
/* Whether the mode may be used here: as prepare_mode_check. session_open looks at that, too. */
bool session_mode_check(struct front_session *session, struct err *err);
/* Goes on in the default mode, which is never refused. */
void session_mode_reset(struct front_session *session);

/* Opens the rest; `resume`: the recorded session to go on with ("latest", a number, an id), or
 * NULL.  Errors of the steps; everything is closed again then, and it may be tried again. */
bool session_open(struct front_session *session, const char *resume, struct err *err);
/* `reason` as of host_close.  The settings stay; the session may be opened again.  Not open: does
 * nothing. */
void session_close(struct front_session *session, const char *reason);
/* The step that failed last. */
enum session_step session_step(const struct front_session *session);
/* As session_request.watched, for who knows it only by the settings. While it is not open. */
void session_set_watched(struct front_session *session, bool watched);
/* As host_options.keyless.  While it is not open. */
void session_set_keyless(struct front_session *session, bool keyless);
/* Makes a folder of this machine, canonical, one of the workspace. While it is not open. */
void session_add_folder(struct front_session *session, const char *folder);
/* What is reported from now on goes there, in place of the request's.  While it is not open. */
void session_set_notices(struct front_session *session, const struct notices *notices);

/* Where its notices go: to report another. */
const struct notices *session_notices(const struct front_session *session);

/* ---- what there is; all borrowed ------------------------------------------------ */

/* NULL before session_load; until the next one. */
struct settings *session_settings(const struct front_session *session);
const char *session_folder(const struct front_session *session); /* canonical; NULL likewise */
enum approval_mode session_mode(const struct front_session *session);
/* NULL while it is not open. */
struct host *session_host(const struct front_session *session);
struct provider *session_provider(const struct front_session *session);
/* Whether its files are this machine's. */
bool session_is_local(const struct front_session *session);

#endif
