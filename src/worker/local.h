/* SPDX-License-Identifier: Apache-2.0 */
/* What a workspace is opened with by those who start workers for it (worker/front/open.h), and what
 * everybody who opens one of this machine gives it and says of it. */
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
	bool commands_only;         /* no worker for files is started until a call requires it: for
	                             * a provider that only runs commands. Nothing is recovered */
	/* The confinement of a local worker and what the user allows in general. */
	bool level_given;
	enum sandbox_level level;
	bool read_only;             /* roots are only read */
	bool other_homes;           /* sandbox_options.other_homes */
	bool network;
	const char *const *write, *const *read, *const *deny;
	size_t write_count, read_count, deny_count;
	const char *const *keep, *const *ask, *const *voted; /* as in sandbox_options */
	size_t keep_count, ask_count, voted_count;
	bool ask_refuses;           /* sandbox_options.ask_refuses */
	/* Before each command, under a lock: brings up to date what is added to `ask` for it, for
	 * the workspace that begins in `root`. NULL: nothing is. */
	void (*renew_held)(const char *root, struct worker_held *held);
	const char *const *syscalls; /* sandbox_options.syscalls */
	size_t syscall_count;
	struct sandbox_limits limits; /* of commands; all 0: the defaults */
	/* Of local workers: the program that has `hasp worker`, looked up in PATH unless it
	 * contains "/"; NULL: this program itself. */
	const char *program;
};

/* ---- what everybody who opens a workspace of this machine gives it, and says of it ---- */

/* Where apply_changes keeps its journal: beneath GEMINI_CLI_HOME or HOME; NULL when there is no
 * home folder. The caller frees. */
char *local_journal_folder(void);
/* Where guards keep what they know of each other (sandbox/guard/recall.h): as above; also NULL if
 * the home folder does not exist.  The caller frees. */
char *local_guard_folder(void);

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
