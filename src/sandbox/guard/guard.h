/* SPDX-License-Identifier: Apache-2.0 */
/* What no mount can keep from being made: looked at before and after a command.
 *
 *     struct guard *guard;
 *     if (!guard_take(plan, recall, &guard, &err)) ...
 *     ... the command and all its processes; guard_note for every name they make ...
 *     guard_check(guard, denied, data);    // puts right and reports what was wrong
 *     guard_free(guard);
 *
 * Watched over, beneath the writable paths:
 *   - names that must not come into being (plan->absent: .git/commondir, .vscode of a folder that
 *     has none ...);
 *   - git folders: those that are there, their modules and linked worktrees, new repositories of
 *     any kind, and what a `.git` file points to.  What git itself makes stays.  Taken away is what
 *     would make git run something later: hooks, keys of a configuration that are not
 *     known to be harmless (private.h), another folder's configuration brought in by
 *     `commondir` or by a `.git` file that leads outside, lines of a rebase in progress that run a
 *     command;
 *   - names that others obey in any folder (names.h, DEEP): those that came to be in a folder that
 *     is not the command's own are taken away, if the command was seen at work in that folder; else
 *     they may be the user's, and are reported, as are those that were changed;
 *   - at the landlock level, what mounts protect at full: content and mode are remembered and
 *     put back.
 *
 * Nothing is deleted.  What is taken away stays where it is under another name:
 * NAME.hasp-taken, or with a number behind; denial.what says so.  Of a configuration only the
 * keys in question go, if it can be read; of a rebase only the lines.
 *
 * How new names are found: after every command each writable path is walked (find.c), by
 * descriptors, so that the depth and length of names do not matter.  Folders whose names have not
 * changed since the walk before are not listed (recall.h).  Besides, every name that a command
 * makes is noted by the supervisor before it is made, and the git folders among them are remembered
 * as they were.  What cannot be looked at is reported (DENIAL_UNCHECKED), and the next command of
 * the session looks at it before it starts; so it does if a command's worker was killed.
 *
 * The command's processes may still run.  All is done beneath descriptors of the writable paths,
 * without following symbolic links, and by renames inside one folder.
 */
#ifndef HASP_SANDBOX_GUARD_GUARD_H
#define HASP_SANDBOX_GUARD_GUARD_H

#include "sandbox/plan/denial.h"

struct guard;

/* Before the command's first instruction; puts right what an earlier one left that was not checked.
 * Borrows the plan. `label`: the command, for people. `recall`: the session's file (recall.h), or
 * 0.  TOO_LARGE: too many commands run; DENIED_BY_SANDBOX: what was left cannot be put right; else
 * what opening the writable paths and the file says. */
bool guard_take(const struct sandbox_plan *plan, const char *label, int recall,
                struct guard **ret, struct err *err);

/* A name is about to be made or opened for writing: its canonical path, or "" where that is not
 * known.  From any thread. */
void guard_note(struct guard *guard, const char *path);

/* What has this canonical path is about to be moved away, replaced or removed: a folder that comes
 * to be there is not new (guard_is_fresh).  From any thread. */
void guard_removing(struct guard *guard, const char *path);
/* Whether the command made the folder: it came into being since guard_take, and at a place where
 * there was none.  Where the file system does not know: no.  From any thread. */
bool guard_is_fresh(struct guard *guard, const char *folder);

/* Returns how many things it found.  Each is reported, up to LIMIT_GUARD_REPORTED, as a denial of
 * kind REMOVED, CHANGED or UNCHECKED; a last one says how many more there were.  Can be called
 * several times.  What could not be put right is reported with a `what` that says so. */
size_t guard_check(struct guard *guard, void (*denied)(void *data, const struct denial *denial),
                   void *data);
/* After the last check, when no process of the command runs any more: if all was looked at, the
 * next command has nothing to make up for, even if this process is killed now. */
void guard_end(struct guard *guard);
void guard_free(struct guard *guard); /* NULL is fine */

/* Opens the file of a workspace, which is made if it is missing, and notes that it is in use, so
 * that guard_remove_old leaves it.  Owned; -1 with errno. */
int guard_open_record(const char *path);
/* Of a folder with such files, removes those that no command has used for LIMIT_GUARD_FILE_S; one
 * stays if a command runs, or ended without its check.  Passes over names that begin with a dot. */
void guard_remove_old(const char *folder);

/* ---- the commands that run, in all workspaces of a folder of such files ---- */

/* A confined command, of whichever process of the user.  Borrowed for the call. */
struct guard_running {
	struct timespec started; /* after its plan was made; all 0: not known */
	const char *label;       /* one line, cut; "": not known */
	const char *paths;       /* that its plan lets it write, each with its NUL */
	size_t paths_len;
	bool paths_whole;        /* these are all */
};

typedef void guard_each_running(void *data, const struct guard_running *running);
/* Those whose workers have taken their guard and live.  False: it cannot be found out. */
bool guard_each_command(const char *folder, guard_each_running *each, void *data, struct err *err);
/* Whether its plan may let it write the canonical path. */
bool guard_running_writes(const struct guard_running *running, const char *path);

/* Between looking up what a plan is made of and guard_take, other processes must not change that
 * unseen: a process that starts a command shares this lock from the one to the other, a process
 * that changes it holds it alone.  Both wait.  The lock is on the folder itself; guard_starts_lock
 * makes it, guard_starts_share fails if it is missing.  Returns the lock, a descriptor that the
 * caller closes; -1: *err. */
int guard_starts_share(const char *folder, struct err *err);
/* *ret_now (or NULL) is the time, by the clock of guard_running.started. */
int guard_starts_lock(const char *folder, struct timespec *ret_now, struct err *err);

#endif
