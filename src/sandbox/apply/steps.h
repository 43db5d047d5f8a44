/* SPDX-License-Identifier: Apache-2.0 */
/* From a plan to what is mounted where: a list of small steps, as data.
 *
 *     struct steps steps;
 *     steps_make(plan, &steps);       // in the parent: pure, but for one look at "/"
 *     mounts_run(&steps, ...);        // in the child (spawn_child.c): system calls alone
 *     steps_release(&steps);
 *
 * The steps work on numbered slots, each of which holds a detached tree of mounts.  All trees
 * that will be put somewhere are taken first, from the machine's own view, then everything is made
 * read-only, then the trees are put in their places, folders before what is beneath
 * them.  So it does not matter which mounts a root lies on or has beneath it.
 *
 *   a writable path             its tree, put over itself
 *   a protected path in it      its tree made read-only, put over itself
 *   a WRITE rule in a WRITE     the same, writable: a mount can be neither renamed nor removed
 *   a hidden folder or file     an empty folder or file of mode 000
 *   exceptions beneath it       a tmpfs with the folders on the way, mode 0111
 *
 * Commands also get their own /dev, /proc and, where the plan has a folder for temporary
 * files, /tmp.  What the plan allows beneath /tmp and /dev is put into them: mount points are made
 * in the session's folder, never anywhere else.
 *
 * Paths are opened without following a symlink anywhere: a path of a plan is canonical, and when it
 * is not any more, something else would be made writable.
 */
#ifndef HASP_SANDBOX_APPLY_STEPS_H
#define HASP_SANDBOX_APPLY_STEPS_H

#include "base/buf.h"
#include "sandbox/plan/plan.h"

enum step_op {
	STEP_PRIVATE,   /* from now on no mount comes in from outside or goes out */
	STEP_TAKE,      /* slot = a copy of the tree at path */
	STEP_MAKE,      /* slot = a new file system `text`, options `more` ("a=b,c"), attributes
	                 * `set` */
	STEP_PART,      /* slot = a copy of what slot `from` has at path */
	STEP_FOLDER,    /* in slot: a folder `path`, `mode` */
	STEP_FILE,      /* in slot: an empty file `path`, `mode` */
	STEP_LINK,      /* in slot: a symlink `path` to `text` */
	STEP_PLACE,     /* in slot, which commands can write to: a mount point `path`, a folder if
	                 * mode is not 0, and the folders above it; what is there and no folder
	                 * goes */
	STEP_SET,       /* attributes `set` (MOUNT_ATTR_*) on slot, recursively */
	STEP_SET_ALL,   /* the same on everything that is mounted */
	STEP_PUT,       /* slot over path */
	STEP_OP_COUNT
};

struct step {
	enum step_op op;
	int slot, from;       /* numbers of slots; -1 where it does not matter */
	bool optional;        /* goes on when there is nothing at path, or the kernel refuses
	                       * such a file system; steps on the empty slot are left out */
	unsigned mode;
	uint64_t set;
	const char *path;     /* absolute, or relative to the slot's root; borrowed */
	const char *text, *more;
	enum sandbox_reason reason; /* of the rule behind it */
};

struct steps {
	struct step *steps;   /* owned */
	size_t count, cap;
	int slots;            /* how many slots there are */
	char **texts;         /* owned: texts of the steps that are not the plan's */
	size_t text_count, text_cap;
	char *start;          /* owned; the folder to begin in */
};

/* Only for plans of level full. Borrows the plan's paths. */
void steps_make(const struct sandbox_plan *plan, struct steps *ret);
void steps_release(struct steps *steps);

/* "put #3 /srv/project", for --explain and errors: one line, without its end. */
void step_describe(const struct steps *steps, size_t at, struct buf *out);

/* Where commands of this plan find the session's folder for temporary files: "/tmp" where it is
 * mounted there, else its own path; NULL if there is none. Its own path works as well. */
const char *sandbox_temp_seen(const struct sandbox_plan *plan);

#endif
