/* SPDX-License-Identifier: Apache-2.0 */
/* A walk through folders by descriptors: of any depth, and with names of any length together.
 *
 *     struct guard_walk walk = { .guard = guard, .data = mine, .enter = ..., .entry = ..., ... };
 *     walk_run(&walk, fd);
 *
 * Each folder is entered from the descriptor of the one above it, never through a symbolic link;
 * memory grows with the folders above the current one and their entries, and no more than a few
 * descriptors are open at a time (the way back goes by "..", and must lead to the same folder).
 * Folders that their owner has closed are opened up (mode u+rwx) while the walk is in them.
 *
 * Errors: what cannot be entered or listed is handed to `failed`, and the walk goes on with the
 * rest.  What is not there any more is no error, nor is a folder of another user that this one may
 * not read: the command could not write there either. */
#ifndef HASP_SANDBOX_GUARD_WALK_H
#define HASP_SANDBOX_GUARD_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct guard;

enum walk_answer {
	WALK_SKIP,  /* neither listed nor entered */
	WALK_GIVEN, /* not listed: walk_push has named the folders to be entered */
	WALK_LIST,
};

struct walk_folder {
	struct stat st;
	unsigned marks;     /* the caller's; begin as those of the folder above */
	/* the walk's own */
	int fd;             /* -1: closed for want of descriptors */
	size_t path_len;    /* of walk->path */
	size_t names, next; /* where its folders' names begin in walk->names, and the next one */
	bool opened_up;     /* its mode is st.st_mode again when the walk leaves it */
};

struct guard_walk {
	struct guard *guard; /* borrowed */
	void *data;
	/* A folder is there: what to do with it. `name` is its own, "" the first one's. */
	enum walk_answer (*enter)(struct guard_walk *walk, struct walk_folder *folder,
	                          const char *name);
	/* A name in a folder that is being listed: whether to enter it, if it is a folder.  `type`
	 * is DT_DIR where it is one. */
	bool (*entry)(struct guard_walk *walk, struct walk_folder *folder, const char *name,
	              unsigned char type);
	/* All of it is listed. May be NULL. */
	void (*listed)(struct guard_walk *walk, struct walk_folder *folder);
	/* walk->path cannot be looked through: an errno. */
	void (*failed)(struct guard_walk *walk, int error);
	/* the walk's own */
	char *path;          /* owned; of the current folder, beneath the first: "" is that */
	char *names;         /* owned; each with its NUL */
	size_t path_cap, names_len, names_cap;
	struct walk_folder *folders; /* owned; from the first to the current one */
	size_t depth, cap;
	int top;             /* borrowed; the first */
};

/* Walks through the folder and all beneath it, and frees what the walk owns. */
void walk_run(struct guard_walk *walk, int top);
/* From `enter` and `entry`: another folder of the current one, to be entered later. */
void walk_push(struct guard_walk *walk, const char *name);
/* From `listed`: none of the current folder's is entered. */
void walk_forget(struct guard_walk *walk);
/* The folder above the current one; NULL: it is the first. */
const struct walk_folder *walk_above(const struct guard_walk *walk);
/* walk->path and a name in that folder; the caller frees. */
char *walk_join(const struct guard_walk *walk, const char *name);

#endif
