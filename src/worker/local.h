/* SPDX-License-Identifier: Apache-2.0 */
/* Providers that answer through workers.
 *
 *   local_provider    confined workers on this machine: one for files, started by the first call;
 *                     one for each command, with a plan of its own
 *   local_provider_none     the same without confinement (level paths)
 *   local_provider_command  a worker behind the standard input and output of any command
 *
 * A worker that dies, hangs or misbehaves makes the calls under way fail with one clear error
 * (WORKER_LOST); the next call starts a fresh one.  Nothing that matters lives in a
 * worker: versions and settings are the session's, hashes the caller's.  A call whose
 * request->cancel becomes true returns CANCELLED at once.
 *
 * Without a given level a worker is started at the strongest that the machine is believed to allow
 * (sandbox/plan/probe.h).  If the kernel then refuses that, the next weaker level is tried, and
 * what info says becomes as weak, with the kernel's word as the reason.  Level paths is had only
 * where the machine allows nothing else and that was said from the beginning: no command runs
 * unconfined in a session that called itself confined, it is refused (DENIED_BY_SANDBOX). */
#ifndef HASP_WORKER_LOCAL_H
#define HASP_WORKER_LOCAL_H

#include "worker/provider.h"

/* Paths that the user trusts as they are, and when that was looked up. */
struct worker_held {
	char **paths;         /* owned; NULL: none */
	struct timespec seen; /* the record's own time then; zeros: there was none, or never */
	char *record;         /* owned; its path, once that was looked up */
};

/* Frees what it owns; one that is all zeros is fine. */
void worker_held_release(struct worker_held *held);

struct worker_options {
	const char *const *roots;   /* at least one; for a command: paths over there */
	size_t root_count;
	/* Other absolute spellings of roots, in pairs: the spelling, and the canonical root. Paths
	 * that begin with it are that root's. local_provider adds those that `roots` themselves
	 * have. */
	const char *const *root_names;
	size_t root_name_count;
	const char *journal_folder; /* absolute; where apply_changes keeps its journal; NULL over
	                             * there: its own default */
	enum durability durability;
	size_t max_file_bytes;      /* 0: the default */
	bool keep_cache;            /* as in worker/inside/inprocess.h */
	size_t *ret_recovered;      /* NULL, or gets how many crashed transactions were put right */
	bool commands_only;         /* no worker for files is started until somebody asks for one:
	                             * for a provider that only runs commands. Nothing is
	                             * recovered */
	/* The confinement of a local worker and what the user allows in general. */
	bool level_given;
	enum sandbox_level level;
	bool read_only;             /* roots are only read */
	bool other_homes;           /* sandbox_options.other_homes */
	bool network;
	const char *const *write, *const *read, *const *deny;
	size_t write_count, read_count, deny_count;
	const char *const *keep, *const *ask; /* sandbox_options.keep and .ask */
	size_t keep_count, ask_count;
	bool ask_refuses;           /* sandbox_options.ask_refuses */
	/* Before each command, under a lock: brings up to date what is added to `ask` for it, for
	 * the workspace that begins in `root`. NULL: nothing is. */
	void (*renew_held)(const char *root, struct worker_held *held);
	const char *const *syscalls; /* sandbox_options.syscalls */
	size_t syscall_count;
	struct sandbox_limits limits; /* of commands; all 0: the defaults */
	/* Of local workers: the program that has `hasp worker`, looked up in PATH if there is no
	 * "/" in it; NULL: this program itself. */
	const char *program;
};

/* FILE_NOT_FOUND: there is no such program. Roots are checked and crashed transactions recovered
 * when it returns (that is the worker's first answer). */
bool local_provider(const struct worker_options *options, struct provider **ret, struct err *err);
bool local_provider_none(const struct worker_options *options, struct provider **ret,
                         struct err *err);
/* `argv` NULL-terminated, copied: {"ssh", "host", "hasp", "worker", NULL}. No shell. Its standard
 * error is shown in errors (its last lines), never passed on raw. */
bool local_provider_command(const char *const *argv, const struct worker_options *options,
                            struct provider **ret, struct err *err);

/* ---- what everybody who opens a workspace of this machine gives it, and says of it ---- */

/* Where apply_changes keeps its journal: beneath GEMINI_CLI_HOME or HOME; NULL when there is no
 * home folder. The caller frees. */
char *local_journal_folder(void);
/* Where guards keep what they know of each other (sandbox/guard/recall.h): as above; also NULL if
 * the home folder does not exist.  The caller frees. */
char *local_guard_folder(void);

/* local_provider_none where level paths is asked for, else local_provider. */
bool local_provider_open(const struct worker_options *options, struct provider **ret,
                         struct err *err);

/* What a model is shown of a workspace at this level, and of what the options allow. The caller
 * frees. */
char *local_sentences(const struct worker_options *options, enum sandbox_level level);

/* ---- A provider's own copy of the options it was opened with ---- */

/* Everything that is pointed to is copied, but for ret_recovered, which is left out. */
struct worker_options worker_options_copy(const struct worker_options *options);
void worker_options_release(struct worker_options *options);

/* A NULL-terminated copy of `count` strings; freed with worker_texts_free. */
char **worker_texts_copy(const char *const *texts, size_t count);
void worker_texts_free(char **texts); /* NULL is fine */

#endif
