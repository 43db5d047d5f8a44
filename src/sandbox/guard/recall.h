/* SPDX-License-Identifier: Apache-2.0 */
/* What the guards of a session's commands know of each other.
 *
 * It lies in a file of the user's that no command can reach (worker/front/local_start.c), one for
 * each workspace; without one it lasts as long as the guard.
 *
 *   - the commands that run, each since when, and what it may write: one that ended without its
 *     check (it was killed, or its worker was) is seen by the next one, which looks at what it left
 *     before it starts;
 *   - the folders, as the last walk saw them: one with the same change time has the same names in
 *     it, and need not be listed;
 *   - names that others obey, as they were when they were last judged;
 *   - where folders stood that a command has moved away or removed.
 *
 * Of two commands that end together one waits for the other's walk (recall_load, recall_save). */
#ifndef HASP_SANDBOX_GUARD_RECALL_H
#define HASP_SANDBOX_GUARD_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"
#include "base/sha256.h"

enum {
	SEEN_STEADY = 1 << 0,     /* any later change of its names shows in its change time */
	SEEN_INSIDE = 1 << 1,     /* all its names count, as it is on the way to one, or beneath */
	SEEN_REPOSITORY = 1 << 2, /* its content is that of a git folder */
};

/* A folder as a walk saw it.  `text` is where its texts begin: its name; those of the folders in
 * it, and ""; those of other names that count, and ""; those of links (links.c), and "". */
struct seen_folder {
	uint64_t dev, ino, above; /* `above`: the number of the folder that it was in */
	int64_t seconds;          /* of the change time */
	uint32_t nanoseconds, flags;
	uint64_t text;
};

struct recall;
struct sandbox_plan;

/* A command that starts, for those who ask what runs (guard_each_command). */
struct recall_start {
	struct timespec began;
	const char *label;               /* what it is, for people */
	const struct sandbox_plan *plan; /* what it may write; NULL: not said */
};

/* For one command, from its start on.  `fd`: the file, opened for this command alone (borrowed); 0:
 * none.  TOO_LARGE: too many commands run. */
bool recall_open(int fd, const struct recall_start *start, struct recall **ret, struct err *err);
/* At the command's end; if the last check was not whole, the next command makes up for it. */
void recall_end(struct recall *recall);
/* And frees it; NULL is fine. */
void recall_free(struct recall *recall);
/* When the session's first command began. */
struct timespec recall_since(const struct recall *recall);
/* Whether it came into being since the walk before this one, or there was none: then no earlier
 * command has made it. */
bool recall_is_new(const struct recall *recall, const struct statx *stx);
/* True if a command ended without a check: *ret_began is the earliest beginning of such. */
bool recall_unchecked(const struct recall *recall, struct timespec *ret_began);

/* Before a check: what is known by now.  After it: what the walk has seen takes the place of what
 * was known of folders.  `whole`: everything was looked at; what is done from `began` on is not
 * yet. */
void recall_load(struct recall *recall);
void recall_save(struct recall *recall, bool whole, const struct timespec *began);

/* What is known by now, for recall_find alone, and until recall_forget. */
void recall_look(struct recall *recall);
void recall_forget(struct recall *recall);

/* What recall_add was given since is what the walk before the first check saw, from `began` on, if
 * by then no other is known. */
void recall_keep_first(struct recall *recall, const struct timespec *began);

/* As a walk before this one saw the folder; NULL: it did not. Until recall_save. */
const struct seen_folder *recall_find(const struct recall *recall, const struct stat *st);
/* Whether the folder has the names in it that it had then; NULL: it was not seen. */
bool recall_is_same(const struct seen_folder *seen, const struct stat *st);
/* Whether there was a walk before. */
bool recall_has_folders(const struct recall *recall);
/* The texts of a folder that recall_find returned: its name, and what is behind its NUL. */
const char *recall_text(const struct recall *recall, const struct seen_folder *folder);
/* What this walk sees; `texts` as above, of `len` bytes, is copied. */
void recall_add(struct recall *recall, const struct seen_folder *folder, const char *texts,
                size_t len);

/* A name and what it is, in that state. */
struct sha256 recall_key(const char *root, const char *path, const struct stat *st);
bool recall_knows(const struct recall *recall, const struct sha256 *key);
void recall_learn(struct recall *recall, const struct sha256 *key);

/* A folder stood at this absolute path before the session, and does not any more. */
void recall_vacate(struct recall *recall, const char *path);
/* Whether the path is such a place, or beneath one. */
bool recall_was_vacated(const struct recall *recall, const char *path);

#endif
