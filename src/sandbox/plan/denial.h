/* SPDX-License-Identifier: Apache-2.0 */
/* What was refused, to which program, by which rule, and how to allow it. */
#ifndef HASP_SANDBOX_PLAN_DENIAL_H
#define HASP_SANDBOX_PLAN_DENIAL_H

#include <sys/types.h>

#include "base/buf.h"
#include "sandbox/plan/plan.h"

enum denial_kind {
	DENIAL_READ,     /* of a hidden path */
	DENIAL_WRITE,    /* opening for writing, making, removing, renaming */
	DENIAL_METADATA, /* mode, owner, times, extended attributes */
	DENIAL_CONNECT,  /* to an address or a socket */
	DENIAL_LISTEN,
	DENIAL_CALL,     /* a system call */
	DENIAL_REMOVED,  /* it was made nevertheless, and taken away or put back by the guard */
	DENIAL_LIMIT,    /* memory, processes, size of a file */
	DENIAL_CHANGED,  /* no denial: a name that other programs obey was changed, and stays so */
	DENIAL_UNCHECKED, /* no denial: the guard could not look at it */
	DENIAL_UNSUPERVISED, /* no denial: the supervisor failed, and the command was ended */
	DENIAL_KIND_COUNT
};

const char *denial_kind_name(enum denial_kind kind); /* "read", "write", ... */

struct denial {
	enum denial_kind kind;
	enum sandbox_reason reason;
	enum sandbox_level level;
	char what[1024];    /* path, "127.0.0.1:80/tcp", "unix:/run/docker.sock", name of a call,
	                     * limit */
	char rule[512];     /* the path of the rule that decided; "" when it is not a path */
	char keys[160];     /* WRITE of git's configuration: the settings that it would change, as
	                     * far as known; else "". Untrusted text */
	char program[32];   /* the process's name; "" unknown. Untrusted text, as `what` */
	pid_t pid;          /* inside the command's namespace; 0 unknown */
	unsigned count;     /* the same several times: only the first is reported, with how many in
	                     * the end */
};

/* Whether ordinary programs ask for this as a matter of routine and go on without it (a name is
 * looked up, a cache cannot be kept): a command that succeeds has lost nothing by it, so people and
 * models are not shown it then.  Reports keep it.  Of what is written, only caches and runtime
 * folders (/run/user) are routine. */
bool denial_is_routine(const struct denial *denial);

/* Whether the record is about what was found afterwards, and nothing was denied. */
bool denial_is_none(const struct denial *denial);

/* "write /etc/x: outside the writable paths (rule: default, level full). To allow: --write /etc".
 * One line; control characters, and others that mislead, are escaped. */
void denial_sentence(const struct denial *denial, struct buf *out);
/* What would allow it: "--write /etc", "--read /x", "--net", "no --deny of /x",
 * "no rule for /x (...)"; nothing is appended if nothing does, or nothing that could be named (a
 * new name in "/"). */
void denial_remedy(const struct denial *denial, struct buf *out);

/* The error of a call that was refused: DENIED_BY_SANDBOX, the sentence, and the record with it.
 * Returns false, as err_set. */
bool denial_refuse(const struct denial *denial, struct err *err);
/* The record that an error carries (without program, pid and count).  False when it has none:
 * another error, or what no rule of a plan refused (a level that cannot be had, a worker
 * elsewhere that allows less). */
bool denial_of(const struct err *err, struct denial *ret);

/* ---- what a plan says about a place, as a pure function of text ---- */

struct sandbox_name; /* names.h */

/* Whether the canonical absolute `path` (which need not exist) may be accessed so: SANDBOX_READ or
 * SANDBOX_WRITE.  Otherwise fills in kind, reason, level, what and rule of *ret_denial (may be
 * NULL).  Making, removing and renaming a name are WRITE of that name; absent names (plan.h) and
 * everything beneath them are not writable; nor are folders above a protected path renamed or
 * removed (`removes`). */
bool plan_judge(const struct sandbox_plan *plan, const char *path, enum sandbox_access wanted,
                bool removes, struct denial *ret_denial);

/* The two halves of plan_judge's answer: what the rules say, and whether `path` is, or is beneath,
 * a name that programs obey in any folder (names.h, DEEP) of one that is writable.  The supervisor
 * asks for them one by one: such a name may be removed, and made in a folder that is new. */
bool plan_judge_rules(const struct sandbox_plan *plan, const char *path,
                      enum sandbox_access wanted, bool removes, struct denial *ret_denial);
bool plan_judge_obeyed(const struct sandbox_plan *plan, const char *path,
                       struct denial *ret_denial);
/* At landlock new names next to a hidden path, and everything below them, can be written but not
 * read (apply/landlock.c).  The hidden path if `path` could be such a name; else NULL. */
const char *plan_hidden_next_to(const struct sandbox_plan *plan, const char *path);
/* Whether what has this canonical path may be removed, if it is a regular file, although nothing
 * else may be done to it: a submodule's .git, which git removes with its whole folder. */
bool plan_may_go(const struct sandbox_plan *plan, const char *path);
/* The row, and where in `path` the name begins and ends; NULL if there is none. */
const struct sandbox_name *plan_obeyed(const struct sandbox_plan *plan, const char *path,
                                       size_t *ret_at, size_t *ret_end);

/* The first hidden path of the plan that `text`, words of a command, names: itself or what is
 * beneath it, by its own path, from the first root, or by "~/" or "$HOME/" where `home` (may be
 * NULL) leads.  Fills in *ret as plan_judge does.  Whether the command tried to read it nothing
 * shows: the kernel refuses that without a report. */
bool plan_names_hidden(const struct sandbox_plan *plan, const char *text, const char *home,
                       struct denial *ret);

/* Whether to write to the canonical `path` can be permitted as options.exact has it, and is worth a
 * question: a file of one name that this user can write to, that is no program and not the
 * system's, and that no rule of the tables would protect if any folder above it were a workspace or
 * a home folder.  (What a plan protects depends on what is writable: to a session in another folder
 * ~/.bashrc is a file like others.)  Makes two plans for each of these folders, a millisecond each.
 * False: *ret_why is a static phrase that says why not. */
bool sandbox_exact_offered(const char *path, const char **ret_why);
/* Whether reading the canonical `path`, or what is in that folder, can be permitted to a file tool
 * and is worth a question: a regular file or a folder that this user can read, that is no interface
 * of the kernel, and that no rule of the tables would hide if any folder above it were a workspace
 * or a home folder.  What is hidden beneath a folder does not matter here.  Costs and *ret_why as
 * above. */
bool sandbox_read_offered(const char *path, bool folder, const char **ret_why);
/* Likewise, to make a new file of this canonical name, in a folder that is there. */
bool sandbox_new_offered(const char *path, const char **ret_why);

#endif
