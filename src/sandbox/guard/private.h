/* SPDX-License-Identifier: Apache-2.0 */
/* The guard's parts and what they share: inside this folder only.
 *
 * A place is named by a writable path (struct guard_root) and a path beneath it, which is always
 * followed by the kernel without symbolic links (guard_open).  What is watched inside a git
 * folder is a list of parts: files that can make git run something.  A list is read before the
 * command and again after it; what is the same file with the same change time was not
 * touched, and nothing more is done about it. */
#ifndef HASP_SANDBOX_GUARD_PRIVATE_H
#define HASP_SANDBOX_GUARD_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/sha256.h"
#include "base/span.h"
#include "sandbox/guard/guard.h"

/* A writable folder of the plan, with no other above it. */
struct guard_root {
	const char *path; /* borrowed from the plan */
	size_t len;
	int fd;           /* owned; O_PATH */
};

enum part_kind {
	PART_CONFIG,
	PART_HOOK,        /* a file or link in hooks/ */
	PART_COMMON,      /* commondir of a git folder itself */
	PART_TREE_COMMON, /* of a linked worktree: worktrees/N/commondir */
	PART_TREE_GITDIR, /* worktrees/N/gitdir */
	PART_TODO,        /* the steps of a rebase */
	PART_LINK,        /* a symbolic link where git makes a file or folder */
	PART_CLOSED,      /* a folder that cannot be read */
};

struct git_part {
	char *name;       /* owned; relative to the git folder */
	enum part_kind kind;
	struct stat st;   /* of the name itself, not followed */
	char *data;       /* owned; the content, where it was read */
	size_t len;
	bool deep;        /* a link in a folder that is not listed before a command */
	bool moved;       /* a link on whose way a folder changed while the command ran */
};

struct git_parts {
	struct git_part *list; /* owned */
	size_t count, cap;
};

/* A git folder, or a name that can become one. */
struct guard_place {
	const struct guard_root *root;
	char *path;         /* owned; beneath the root; "" is the root */
	bool existed;       /* before; `st` says as what */
	bool was_git;       /* it was a git folder before: its parts are not the command's */
	bool by_plan;       /* known before the command: its modules are known, too */
	bool is_module;     /* beneath modules/ */
	bool by_time;       /* found afterwards: what changed since `from` is the command's own */
	struct timespec from;
	struct sha256 key;  /* of the root's number and the path */
	struct stat st;
	struct git_parts parts; /* as they were before */
};

struct kept_name;

/* Identifies a folder, even after it was removed: inode numbers are reused immediately. */
struct folder_birth {
	uint64_t inode;
	int64_t seconds;
	uint32_t nanoseconds;
};

enum { NOTED_WORDS = 256 };

/* A place whose earlier folder was removed. */
struct vacated {
	char *path;       /* owned */
	struct statx stx; /* of that folder */
};

struct guard {
	const struct sandbox_plan *plan; /* borrowed */
	struct guard_root *roots;        /* owned */
	size_t root_count;
	struct timespec began;           /* of the clock that file times come from */
	pthread_mutex_t lock;            /* of what follows, until the check */
	struct guard_place **places;     /* owned, and each of them */
	size_t place_count, place_cap;
	struct guard_place **place_slots; /* owned; where each is found, by its key */
	size_t place_mask;
	struct recall *recall;           /* owned; recall.h */
	bool completing;                 /* checks what an earlier, unchecked command left */
	struct kept_name *kept;               /* owned; keep.c */
	struct vacated *vacated;         /* owned */
	size_t vacated_count, vacated_cap;
	bool vacated_lost;               /* there were more */
	struct links *links;             /* owned; links.c */
	uint64_t noted[NOTED_WORDS];     /* folders in which names were made, by a hash of each */
	struct opened *opened;           /* owned; folders that were opened up for the check */
	size_t opened_count;
	/* of the check under way */
	void (*denied)(void *data, const struct denial *denial);
	void *data;
	size_t reported;
	bool stopped;                    /* not everything could be looked at */
	char *stuck;                     /* owned; what could not be put right; or NULL */
	struct denial *early;            /* owned; reported with the first check */
	size_t early_count, early_cap;
};

/* ---- places (place.c) ---- */

/* Opens beneath a folder, no symbolic links; "" and "." are the folder itself.  Paths may be of any
 * length.  -1 with errno. */
int guard_open(int folder, const char *path, int flags);
/* Likewise: what a name is, itself a link or not.  False with errno. */
bool guard_stat(int folder, const char *path, struct stat *ret);
/* A command can make folders that their owner cannot read, and root outside can: those on the way
 * to the path that are ours get mode u+rwx until guard_close_up.  True if any did. */
bool guard_open_up(struct guard *guard, int folder, const char *path);
/* Those that were opened up since there were `first` of them (guard->opened_count). */
void guard_close_up(struct guard *guard, size_t first);
/* Of a folder that is open, if only O_PATH. */
bool guard_set_mode(int fd, mode_t mode);
/* A folder to be read, opened up if need be. */
int guard_open_folder(struct guard *guard, int folder, const char *path);
/* The folder of a path, O_PATH, and its last component. */
int guard_open_parent(int folder, const char *path, const char **ret_name);
/* The root above an absolute path, and the rest; NULL if there is none. */
const struct guard_root *guard_find_root(const struct guard *guard, const char *path,
                                         const char **ret_rest);
/* The absolute path of a place beneath a root; the caller frees. */
char *guard_full_path(const struct guard_root *root, const char *path);
/* A small regular file's content, NUL-terminated; false with errno (EFBIG, EINVAL: no file). */
bool guard_read(int folder, const char *path, char **ret_data, size_t *ret_len);
/* Renames to NAME.hasp-taken; ret_name gets the new name. Opens up the folder if it has to. */
bool guard_put_aside(struct guard *guard, int folder, const char *name, char ret_name[static 256]);
/* Whether the name is one that guard_put_aside makes. */
bool guard_is_taken(const char *name);
/* Puts a file with this content and mode in place of the name; what was there, if anything, is
 * put aside in the same instant (ret_name, or ""). */
bool guard_replace(struct guard *guard, int folder, const char *name, struct span content,
                   mode_t mode, char ret_name[static 256]);
/* Calls `each` for the entries of a folder (but "." and ".."), at most `max`; false if that was not
 * all: errno, which is left as it was where there were more. */
bool guard_list(int folder, size_t max,
                bool (*each)(void *data, const char *name, unsigned char type), void *data);

/* The time that a change now would get; one before has no later one. */
struct timespec guard_now(void);
/* Whether the change time is one of the command's. */
bool guard_changed_since(const struct guard *guard, const struct stat *st);
bool guard_stat_since(const struct stat *st, const struct timespec *when);
bool guard_same(const struct stat *a, const struct stat *b);

/* ---- reporting (place.c) ---- */

/* "ROOT/PATH" and what was done about it, as printf has it; counts. */
void guard_report(struct guard *guard, enum sandbox_reason reason, const struct guard_root *root,
                  const char *path, const char *done, ...) __attribute__((format(printf, 5, 6)));
/* It could not be `done` (errno): the check is not whole. */
void guard_report_failed(struct guard *guard, enum sandbox_reason reason,
                         const struct guard_root *root, const char *path, const char *done);
/* A name that others obey has changed, and stays so. */
void guard_report_changed(struct guard *guard, enum sandbox_reason reason,
                          const struct guard_root *root, const char *path);
/* Something could not be looked at, and why: the check is not whole. */
void guard_report_unchecked(struct guard *guard, const struct guard_root *root, const char *path,
                            int error);
/* How many there were beyond those that were reported one by one. */
void guard_report_rest(struct guard *guard);
/* What was reported before anybody listened. */
void guard_deliver_early(struct guard *guard);
/* Puts a name aside and reports it; false (and reported) if that cannot be done. */
bool guard_take_away(struct guard *guard, enum sandbox_reason reason,
                     const struct guard_root *root, const char *path);
/* Whether a rule of the plan protects what is there: a mount at full, keep.c at landlock. */
bool guard_is_protected(const struct guard *guard, const struct guard_root *root, const char *path);

/* The place with this path, or a new one; never NULL. The lock is held. */
struct guard_place *guard_add_place(struct guard *guard, const struct guard_root *root,
                                    const char *path, bool *ret_new);

/* ---- git folders (parts.c, git.c) ---- */

/* Whether git would take the folder for a repository's: HEAD, and objects and refs or commondir. */
bool guard_is_git_folder(int folder);
/* Before a command: reads the parts of a git folder, with their content. */
void guard_take_parts(struct guard *guard, const struct guard_place *place, int folder,
                      struct git_parts *ret);
/* After it: lists the parts; what cannot be looked at is reported. */
void guard_list_parts(struct guard *guard, const struct guard_place *place, int folder,
                      struct git_parts *ret);
/* Of REPOSITORY/worktrees/N: REPOSITORY, with which it is looked at. Owned; NULL: it is none. */
char *guard_git_owner(const struct guard_root *root, const char *path);
void guard_release_parts(struct git_parts *parts);
/* Calls `found` for each module of a git folder (modules/...), nested ones included. */
void guard_git_modules(struct guard *guard, const struct guard_root *root, const char *git_folder,
                       void (*found)(struct guard *guard, const struct guard_root *root,
                                     const char *path));
/* Remembers what is there. */
void git_place_take(struct guard *guard, struct guard_place *place);
/* Puts right what the command did there. */
void git_place_check(struct guard *guard, struct guard_place *place);

/* ---- looking everywhere (find.c) ---- */

/* Checks names that others obey, and calls `found` for what looks like a repository: `path` is that
 * of a name `.git` or of a folder with a repository's content.  `arrived`: it came to this place
 * while the command ran.  Reports what cannot be looked at. */
void guard_find(struct guard *guard, const struct guard_root *root,
                void (*found)(struct guard *guard, const struct guard_root *root,
                              const char *path, bool arrived));

/* Before the command, where no walk is known: what the folders hold is remembered as by guard_find
 * (recall_keep_first), and their links are added to `links`.  Nothing is judged. */
void guard_find_before(struct guard *guard, const struct guard_root *root, struct links *links);

/* ---- what is put back (keep.c) ---- */

/* Remembers, at landlock, what the plan protects; at all levels symbolic links that are there where
 * a name must not come into being: they stay. */
void guard_keep_take(struct guard *guard);
/* Puts back what was changed, or reports that it cannot. */
void guard_keep_check(struct guard *guard);
/* Whether the path is remembered. */
bool guard_keep_has(const struct guard *guard, const struct guard_root *root, const char *path);
void guard_keep_free(struct kept_name *kept); /* NULL is fine */
/* Of what has the name in the folder, or "" for that itself; zeros for what is no folder. */
struct folder_birth guard_birth_of(int folder, const char *name);

/* ---- names that others obey (names.c) ---- */

/* Whether it came into being since the command began; where the file system does not know: no. */
bool guard_is_since(const struct guard *guard, const struct statx *stx);

/* Puts right what the command did to such a name, or to a file beneath one, if it did. */
void names_check(struct guard *guard, const struct guard_root *root, const char *path,
                 bool arrived);
/* A link that the command made where a folder was is taken away, if it leads to such names. */
void names_check_link(struct guard *guard, const struct guard_root *root, const char *path);
void names_check_vacated(struct guard *guard);
/* For the commands to come: which folders are not where they were. */
void names_remember(struct guard *guard);
/* A name is about to be made: its folder is one in which the command was seen. The lock is held. */
void names_note(struct guard *guard, const char *path);
void names_free(struct guard *guard);

/* ---- git's configuration (config.c) ----------------------------------------------- */

/* Which lines of a git configuration can make git run something: a pure function of text.
 *
 * The reader is stricter than git (git-config(1), "Syntax"): one section header or one variable
 * on a line, no line continued with a backslash, no dotted sections, no bytes below space but tab.
 * What it does not understand is not believed.  Keys are allowed by a table of what git
 * itself, clones and hosting sites' programs write; all others are dangerous, because each
 * version of git adds keys that run programs.
 */

struct config_reader {
	/* Whether a core.worktree with this value may stay; NULL: none may. */
	bool (*worktree)(void *data, struct span value);
	void *data;
};

/* False if the text is not understood.  *clean gets it without its dangerous variables, but for
 * those that `known` (a text from before; understood or not) has with the same value.  *keys gets
 * the names of what was left out, joined by commas. */
bool guard_config_clean(const struct config_reader *reader, struct span text, struct span known,
                        struct buf *clean, struct buf *keys);

#endif
