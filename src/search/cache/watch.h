/* SPDX-License-Identifier: Apache-2.0 */
/* Watching the folders of one tree with inotify: changes, the owners of folders, and mounts.
 *
 *     watch_open(&watch, "/srv/project");
 *     number = watch_add(&watch, fd);               before the folder is read
 *     watch_own(&watch, number, mine);              whose it is
 *     if (!watch_take(&watch, take_event, data)) ... events were lost: start over ...
 *
 * Events are queued by the kernel before the system call that made the change returns, so
 * watch_take sees whatever was done before it was called.  A folder has one number
 * however often it is added; a number can have several owners (the same folder mounted at two
 * places, or moved and not yet looked at in its old place).
 *
 * Besides: which file systems tell of all changes, and whether something was mounted.
 * Not here: what an event means for the tree (cached_tree.c); locking.
 */
#ifndef HASP_SEARCH_CACHE_WATCH_H
#define HASP_SEARCH_CACHE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>

struct watch_owner {
	int number; /* 0: a free place of the table */
	void *owner;
};

struct watch {
	int fd;           /* owned; inotify */
	int mounts;       /* owned; /proc/self/mountinfo; poll(2) reports its changes */
	uint64_t mounted; /* a digest of the mounts that concern the tree */
	bool mounts_inside; /* something is mounted in the tree */
	char *path;       /* owned; of the tree's root, as mountinfo writes it */
	struct watch_owner *owners; /* owned; a hash table, size a power of two */
	size_t owner_count, owner_size;
};

#define WATCH_INIT { .fd = -1, .mounts = -1 }

/* False with errno set when there is no inotify instance to be had, or no /proc. */
bool watch_open(struct watch *watch, const char *root_path);
void watch_release(struct watch *watch);

/* The number of an open folder, above 0, watched from now on; -1 with errno set (ENOSPC: the
 * user may watch no more folders). On any thread that has the process's descriptors. */
int watch_add(const struct watch *watch, int folder);

/* Events of the folder `number` go to `owner` too, until it disowns it. */
void watch_own(struct watch *watch, int number, void *owner);
/* The folder is not watched any more once it has no owner. */
void watch_disown(struct watch *watch, int number, void *owner);
/* The owners of a number, one after the other: *at begins as 0. NULL: no more. */
void *watch_owner(const struct watch *watch, int number, size_t *at);

typedef void watch_event(void *data, const struct inotify_event *event, const char *name);

/* Hands over all events that are queued now; `name` is "" for the folder itself. False when
 * some were lost, or the file system was unmounted. */
bool watch_take(const struct watch *watch, watch_event *event, void *data);
/* Whether any are queued. */
bool watch_has_events(const struct watch *watch);

/* Whether nothing has been mounted or unmounted on the way to the tree, or in it. */
bool watch_mounts_hold(struct watch *watch);

/* Whether the file system of an open folder reports all changes: only this machine changes
 * it, and through this very mount's files. */
bool watch_trusts(int folder);

#endif
