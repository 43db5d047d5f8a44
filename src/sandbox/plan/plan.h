/* SPDX-License-Identifier: Apache-2.0 */
/* What a confined process may do, as data.
 *
 *     struct sandbox_options options = { .roots = roots, .root_count = 1,
 *                                        .use = SANDBOX_USE_COMMAND };
 *     struct sandbox_plan *plan;
 *     if (sandbox_plan_make(&options, sandbox_probe(), &plan, &err))
 *             ... sandbox_spawn (spawn.h), plan_judge (denial.h), explain (report.h) ...
 *     sandbox_plan_free(plan);
 *
 * A plan is made once from options and from what the machine can do (probe.h); everything in it is
 * canonical and absolute.  The same plan makes the mounts (spawn.h), the Landlock rules
 * (landlock.h), the answers of the supervisor (supervise.h), the words of `--explain`, and the
 * profile for macOS (report.h), so that they cannot disagree.
 *
 * How the rules of a plan combine: the longest path that is the place or above it decides.  There
 * is one rule for a path: --deny before --write and --read, those before roots, roots before the
 * tables of names.h; of equals the stricter.  Where no rule says anything, reading is allowed and
 * writing is not.  --read opens exactly what it names: what is hidden deeper stays hidden.
 *
 * A writable path is searched for the names that must be protected in it (names.h): the folder
 * itself; its repository, submodules and, where it is none, repositories one level down.  In
 * folders deeper down nothing is looked for: names are judged there by their text (denial.h).  A
 * writable path with the home folder in it, or a part of that, also keeps what runs at login.  "/",
 * /dev, /proc and /sys cannot be writable but at level paths.
 *
 * Levels, from strong to weak:
 *   full      own user, mount, PID and (network off) network namespaces: all is read-only but the
 *             writable paths; hidden paths are covered; Landlock; seccomp; no capabilities
 *   landlock  where name spaces are forbidden: Landlock, seccomp, and a supervisor that
 *             answers the calls which Landlock does not cover
 *   paths     neither: hasp's file tools check paths, commands are not confined at all
 */
#ifndef HASP_SANDBOX_PLAN_PLAN_H
#define HASP_SANDBOX_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum sandbox_level { SANDBOX_PATHS, SANDBOX_LANDLOCK, SANDBOX_FULL };

const char *sandbox_level_name(enum sandbox_level level); /* "paths", "landlock", "full" */
/* Also "none" for paths. False for other words. */
bool sandbox_level_parse(const char *name, enum sandbox_level *ret);

/* Who is confined. */
enum sandbox_use {
	SANDBOX_USE_FILES,   /* a worker that answers file operations: no programs, no sockets */
	SANDBOX_USE_COMMAND, /* a worker that runs a command */
};

enum sandbox_access {
	SANDBOX_HIDDEN, /* neither its content nor, where the level can, its names */
	SANDBOX_READ,   /* read and execute */
	SANDBOX_WRITE,
};

/* Why a rule is there: goes into denials and explanations. One table (names.c). */
enum sandbox_reason {
	SANDBOX_REASON_DEFAULT,     /* nothing outside the writable paths may be written */
	SANDBOX_REASON_ROOT,        /* a workspace root */
	SANDBOX_REASON_OPTION,      /* --write, --read; permission of the user */
	SANDBOX_REASON_DENY,        /* --deny: nothing lifts it */
	SANDBOX_REASON_KEPT,        /* a policy rule or hasp.sandbox.keepPaths: nothing lifts it */
	SANDBOX_REASON_POLICY,      /* a policy rule asks before it is written: commands only */
	SANDBOX_REASON_VOTED,       /* one that asks its reviewers */
	SANDBOX_REASON_TEMP,        /* the session's folder for temporary files */
	SANDBOX_REASON_JOURNAL,     /* hasp's own journal (files only) */
	SANDBOX_REASON_DEVICE,      /* /dev/null and the like */
	SANDBOX_REASON_GIT,         /* what git runs or is steered by: hooks, config ... */
	SANDBOX_REASON_SETTINGS,    /* settings of agents and editors */
	SANDBOX_REASON_CREDENTIALS, /* keys, tokens, passwords */
	SANDBOX_REASON_OWN_SECRETS, /* hasp's and Gemini CLI's tokens, sessions, policies */
	SANDBOX_REASON_SOCKETS,     /* sockets of daemons */
	SANDBOX_REASON_NETWORK,     /* the network is off */
	SANDBOX_REASON_KERNEL,      /* a system call that no command needs */
	SANDBOX_REASON_SYSCALLS,    /* one that the setting hasp.sandbox.syscalls forbids */
	SANDBOX_REASON_LIMIT,       /* a limit was reached */
	SANDBOX_REASON_VIEW,        /* a repository whose files commands do not see as they are */
	SANDBOX_REASON_UNJUDGED,    /* what a call is about cannot be read or found out */
	SANDBOX_REASON_NEXT_TO,      /* at landlock: it is new, and next to something hidden */
	SANDBOX_REASON_COUNT
};

const char *sandbox_reason_name(enum sandbox_reason reason); /* "git", "credentials", ... */
const char *sandbox_reason_text(enum sandbox_reason reason); /* a phrase for people */

struct sandbox_rule {
	char *path;                 /* owned; canonical, absolute; exists */
	enum sandbox_access access;
	enum sandbox_reason reason;
	bool folder;                /* it is a folder (and the rule is about all beneath) */
	const char *why;            /* static: what it is (names.h), for people; or NULL */
};

/* A name that must not come into being, or be replaced, inside a writable path, and that no mount
 * can protect.  The supervisor refuses it and the guard (guard.h) takes it away.
 *
 * Mostly it does not exist.  It may be a symlink: then it stays as it is (guard_take remembers it),
 * must not be replaced, and its target has a rule or an absent name, too.  Or it is
 * a submodule's .git file, which may be removed (plan_may_go). */
struct sandbox_absent {
	char *path;                 /* owned; canonical folder that exists, plus the missing rest;
	                             * "HOME/.*": all hidden entries of a home folder (names.h) */
	enum sandbox_reason reason;
	const char *why;            /* as in struct sandbox_rule */
};

/* The assumed content of a git file, which decides what else must be protected. */
enum sandbox_pointer_kind {
	SANDBOX_POINTER_LINE,     /* its first line: .git, commondir, gitdir */
	SANDBOX_POINTER_CONFIG,   /* of a config and all it includes: what git would run or obey in
	                           * the workspace, in the notation of read.c */
	SANDBOX_POINTER_WORKTREE, /* of a config: core.worktree */
	SANDBOX_POINTER_KINDS
};

struct sandbox_pointer {
	enum sandbox_pointer_kind kind;
	char *path;                 /* owned; of the file */
	char *value;                /* owned; NULL: nothing */
};

struct sandbox_limits {
	uint64_t memory_bytes;  /* of all processes together; 0: no limit */
	uint64_t file_bytes;    /* the largest file that is written (RLIMIT_FSIZE); 0: no limit */
	unsigned processes;     /* at the same time; 0: no limit */
	unsigned open_files;    /* a process; 0: as it is */
	unsigned cpu_seconds;   /* a process; 0: no limit */
};

/* Half of the machine's memory, 1024 processes, 16 GiB a file, files and CPU as they are. */
struct sandbox_limits sandbox_limits_default(void);

/* What this machine allows (sandbox_probe, sandbox/apply/probe.h). */
struct sandbox_probe {
	enum sandbox_level best;
	bool user_namespaces;    /* an unprivileged user namespace with mounts can be had */
	bool privileged;         /* namespaces can be had without one (CAP_SYS_ADMIN) */
	bool own_proc;           /* /proc can be mounted in a PID namespace */
	unsigned landlock_abi;   /* 0: none */
	unsigned landlock_errata;
	bool seccomp;
	bool seccomp_notify;     /* and the supervisor can look into a command's memory */
	bool cgroups;            /* control groups of our own can be made (cgroup.h) */
	char kernel[65];         /* release */
	/* Why a level cannot be had, and the command with which a person could change that: "" when
	 * there is nothing to say. */
	char why_not_full[256], remedy[512];
	char why_not_landlock[256], remedy_landlock[256];
};

struct sandbox_options {
	const char *const *roots;   /* writable; at least one for files; need not be canonical */
	size_t root_count;
	const char *const *write;   /* further writable paths (--write, permissions), also where
	                             * they are protected; missing: only to lift an absent name */
	size_t write_count;
	size_t permitted_count;     /* the last ones of `write`: permissions for this command */
	const char *const *read;    /* readable although hidden or protected by default (--read) */
	size_t read_count;
	const char *const *deny;    /* hidden (--deny), whatever else is said of that path; missing
	                             * ones in a writable path become absent names */
	size_t deny_count;
	/* Readable only, by rules on paths (policy/): absolute, or beneath each root.  They need
	 * not be there. `keep`: nothing lifts it; `ask`, for commands: --write and permissions of
	 * single paths do; `voted`, likewise: permissions alone, which the people of the rule have
	 * approved.  `ask_refuses`: no one can be asked, so both are for file tools, too. */
	const char *const *keep, *const *ask, *const *voted;
	size_t keep_count, ask_count, voted_count;
	bool ask_refuses;
	/* Files that may be written, each by its canonical name and while that is a regular file
	 * with no other name; others are left out, as if they were not named. */
	const char *const *exact;
	size_t exact_count;
	const char *const *syscalls; /* commands: what they may not call, on top of hasp's filters
	                              * (calls.h has the names) */
	size_t syscall_count;
	bool roots_read_only;       /* roots are readable only */
	bool network;
	enum sandbox_use use;
	const char *temp;           /* NULL, or the session's folder for temporary files (temp.h) */
	const char *journal;        /* files: NULL, or where apply_changes keeps its journal */
	const char *home;           /* NULL: $HOME; whose credential stores are hidden */
	bool other_homes;           /* in roots those of other users are hidden, too, and of what
	                             * may be a home folder: a root, and the folders above it */
	struct sandbox_limits limits;
	bool level_given;           /* exactly this level, or an error */
	enum sandbox_level level;
	/* No git file is read: `known` has the content of each, and those that are not listed have
	 * none.  The process that the plan confines must call sandbox_plan_holds before anything
	 * else. */
	bool assume;
	const struct sandbox_pointer *known;
	size_t known_count;
	/* Only check what the caller names and choose the level: such a plan has no rules from the
	 * tables, and must not confine a process. */
	bool check_only;
};

struct sandbox_plan {
	enum sandbox_level level;
	enum sandbox_use use;
	bool network;
	bool own_network;           /* a private network namespace: loopback is private */
	bool own_processes;         /* a private PID namespace */
	bool user_namespace;        /* made by a user namespace (else by a privileged user) */
	unsigned landlock_abi;      /* 0: none */
	struct sandbox_rule *rules; /* owned; sorted by path, so that parents come first */
	size_t rule_count;
	struct sandbox_absent *absent; /* owned; sorted by path */
	size_t absent_count;
	char **roots;               /* owned; canonical; the first is where relative paths begin */
	size_t root_count;
	char **given;               /* owned; canonical; what --write and permissions name, there or
	                             * not: the guard leaves alone what is protected there else */
	size_t given_count;
	char **syscalls;            /* owned; names of calls, without groups */
	size_t syscall_count;
	char *temp;                 /* owned; NULL or canonical. At full it is seen as /tmp too */
	struct sandbox_limits limits;
	char *weaker_because;       /* owned; why the level is not full, one sentence; or NULL */
	struct sandbox_pointer *pointers; /* owned; what it rests on */
	size_t pointer_count;
	char **unjudged;            /* owned; sentences: what of git's configuration may name a file
	                             * of the workspace, but not which.  For --explain: it does not
	                             * go to workers, and is not complete where much is assumed */
	size_t unjudged_count;
};

/* Makes a plan; some 400 us for an ordinary workspace.  Folders are listed, names looked at
 * (O_PATH, lstat); no file is opened.  What git's own pointers say is assumed, or found out by a
 * process that is made for it and can do nothing else (read.c), which costs more than all the
 * rest.  Between a plan and its use a path can be swapped: code that opens a rule's path must not
 * follow symlinks anywhere in it.
 * FILE_NOT_FOUND and NOT_A_DIRECTORY for roots; DENIED_BY_SANDBOX when the given level cannot
 * be had here (the message says why and what would change it); INVALID_ARGUMENT; TOO_LARGE. */
bool sandbox_plan_make(const struct sandbox_options *options, const struct sandbox_probe *probe,
                       struct sandbox_plan **ret, struct err *err);
void sandbox_plan_free(struct sandbox_plan *plan); /* NULL is fine */
/* The level that a plan of these options has on this machine.  DENIED_BY_SANDBOX, as above. */
bool sandbox_level_choose(const struct sandbox_options *options, const struct sandbox_probe *probe,
                          enum sandbox_level *ret, struct err *err);
/* Whether git's files say what plan->pointers has: opens them. For a process that is confined. */
bool sandbox_plan_holds(const struct sandbox_plan *plan);
void sandbox_pointers_free(struct sandbox_pointer *pointers, size_t count); /* NULL is fine */

#endif
