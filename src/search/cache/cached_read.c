/* SPDX-License-Identifier: Apache-2.0 */
/* Reading files for their signatures, in the background, and comparing a tree with the disk. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "search/cache/kept_tree.h"

/* ---- reading files for their signatures, in the background ---- */

/* A batch of unknown files of one folder is claimed (SIGNATURE_READING), read without any
 * lock, and each signature is kept if no event has named its file meanwhile.  An
 * event that has not been read yet is read before the next answer, and makes the file
 * unknown again.  The folder must be the one that is watched, not a different one that is at
 * its path now. */

enum { BATCH_FILES = 64 };
/* Something is wrong with a folder: an event will say what. */
enum { RETRY_MS = 500 };

struct signing_file {
	const char *name;
	uint32_t file, generation;
};

struct signing_batch {
	struct name_list *list; /* owned reference */
	int watch;
	dev_t device;
	ino_t inode;
	uint64_t link_serial, answers; /* the tree's at that time */
	struct signing_file items[BATCH_FILES];
	size_t count;
};

/* What reading a file gave. */
struct file_signing {
	uint32_t signature; /* SIGNATURE_OPEN, _BINARY, or _UNKNOWN: to be tried again */
	bool has_set;       /* the reader has its trigrams */
	struct stat st;
	uint64_t stamp;
};

void kept_tree_reader_release(struct signature_reader *reader)
{
	free(reader->room);
	*reader = (struct signature_reader){ 0 };
}

/* ---- claiming ------------------------------------------------------------------ */

static void batch_claim_files(struct kept_tree *tree, struct node *node,
                              struct signing_batch *batch)
{
	struct name_list *list = node->list;
	bool all = true;

	for (size_t i = 0; i < list->count && all; i++) {
		const uint32_t file = list->files[i];

		if (tree->signature_of[file] != SIGNATURE_UNKNOWN)
			continue;
		all = batch->count < BATCH_FILES;
		if (!all)
			break;
		kept_tree_set_signature(tree, file, SIGNATURE_READING);
		batch->items[batch->count++] = (struct signing_file){
			list->names[i], file, tree->files[file].generation
		};
	}
	list->references++;
	batch->list = list;
	batch->watch = node->watch;
	batch->device = node->device;
	batch->inode = node->inode;
	batch->link_serial = tree->link_serial;
	batch->answers = tree->answers;
	if (all) {
		node->unread = false;
		tree->unread--;
	}
}

/* The next node with files that may be read; NULL with how long to wait for one. */
static struct node *next_node(struct kept_tree *tree, bool hurry, int64_t *ret_wait_ms)
{
	const int64_t now = cache_clock_ms();

	for (size_t i = 0; i < tree->node_count; i++) {
		struct node *node = tree->nodes[tree->read_next % tree->node_count];

		if (node->unread && (hurry || node->calm_at_ms <= now))
			return node;
		if (node->unread && node->calm_at_ms - now < *ret_wait_ms)
			*ret_wait_ms = node->calm_at_ms - now;
		tree->read_next = (tree->read_next + 1) % tree->node_count;
	}
	return NULL;
}

/* ---- reading -------------------------------------------------------------------- */

static bool make_read_room(struct signature_reader *reader, size_t size)
{
	if (size <= reader->size)
		return true;
	free(reader->room);
	reader->size = size < (size_t)64 << 10 ? (size_t)64 << 10 : size;
	reader->room = malloc(reader->size);
	if (!reader->room)
		reader->size = 0;
	return reader->room != NULL;
}

/* The whole content; false when it cannot be had, or is larger than it was. */
static bool reader_read_content(struct signature_reader *reader, int fd, size_t size,
                                struct span *ret)
{
	ssize_t n;

	if (!make_read_room(reader, size + 1))
		return false;
	n = fd_read_full(fd, reader->room, size + 1);
	if (n < 0 || (size_t)n > size)
		return false;
	*ret = span_of(reader->room, (size_t)n);
	return true;
}

static bool same_mount(int a, int b)
{
	struct statx x, y;

	return statx(a, "", AT_EMPTY_PATH, STATX_MNT_ID, &x) == 0 &&
	       statx(b, "", AT_EMPTY_PATH, STATX_MNT_ID, &y) == 0 &&
	       x.stx_mnt_id == y.stx_mnt_id;
}

static void reader_read_file(const struct kept_tree *tree, struct signature_reader *reader,
                             int folder,
                             const char *name, struct file_signing *ret)
{
	const int64_t now = cache_clock_ns(CLOCK_REALTIME);
	_cleanup_fd_ int fd = openat(folder, name,
	                             O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct span content;

	*ret = (struct file_signing){ .signature = SIGNATURE_OPEN };
	if (fd < 0) {
		if (errno == EAGAIN) /* a process is about to replace it */
			ret->signature = SIGNATURE_UNKNOWN;
		return;
	}
	/* A file that is mounted over another changes without an event of this folder. */
	if (fstat(fd, &ret->st) != 0 || !S_ISREG(ret->st.st_mode) ||
	    (tree->watch.mounts_inside && !same_mount(folder, fd)))
		return;
	ret->stamp = cache_file_stamp_settled(&ret->st, now);
	if ((uint64_t)ret->st.st_size > tree->place.max_file_bytes ||
	    !reader_read_content(reader, fd, (size_t)ret->st.st_size, &content))
		return;
	switch (trigrams_of(content, &reader->set)) {
	case TRIGRAMS_KNOWN: ret->has_set = true; ret->signature = SIGNATURE_READING; break;
	case TRIGRAMS_BINARY: ret->signature = SIGNATURE_BINARY; break;
	case TRIGRAMS_OPEN: break;
	}
}

/* ---- keeping --------------------------------------------------------------------- */

/* The number of the signature that was made, if there is room for it. */
static uint32_t put_signature(struct kept_tree *tree, const struct signature_reader *reader)
{
	const size_t bytes = tree->signatures.bytes;
	uint32_t number;

	if (!cache_signatures_put(&tree->signatures, &reader->set, kept_tree_room(tree), &number))
		return SIGNATURE_OPEN;
	kept_tree_charge(tree, tree->signatures.bytes - bytes);
	return number;
}

/* Whether what was read of a file is still valid.  For a file that has several names it is not
 * if an answer was given since: it may have changed between the reading and that answer without
 * an event. */
static bool still_true(const struct kept_tree *tree, const struct signing_batch *batch,
                       const struct signing_file *item, bool linked)
{
	return tree->signature_of[item->file] == SIGNATURE_READING &&
	       tree->files[item->file].generation == item->generation &&
	       tree->link_serial == batch->link_serial &&
	       (!linked || tree->answers == batch->answers);
}

static void keep_reading(struct kept_tree *tree, const struct signature_reader *reader,
                         const struct signing_batch *batch,
                         const struct signing_file *item, const struct file_signing *reading)
{
	struct kept_file *kept = &tree->files[item->file];
	const bool linked = reading->st.st_nlink > 1;
	uint32_t signature = reading->signature;

	if (!still_true(tree, batch, item, linked) || signature == SIGNATURE_UNKNOWN)
		return;
	kept->stamp = reading->stamp;
	kept->inode = (uint64_t)reading->st.st_ino;
	if (linked && !kept->linked && tree->linked_files >= LINKED_FILES_MAX)
		signature = SIGNATURE_OPEN;
	pthread_rwlock_wrlock(&tree->files_lock);
	if (signature != SIGNATURE_OPEN && reading->has_set)
		signature = put_signature(tree, reader);
	tree->signature_of[item->file] = signature;
	pthread_rwlock_unlock(&tree->files_lock);
	if (linked && signature != SIGNATURE_OPEN)
		kept_tree_mark_linked(tree, item->file);
}

/* Makes what is still claimed unknown again, to be read later. */
static void give_up_claims(struct kept_tree *tree, const struct signing_batch *batch)
{
	struct node *node;
	size_t at = 0, left = 0;

	for (size_t i = 0; i < batch->count; i++) {
		const struct signing_file *item = &batch->items[i];

		if (tree->signature_of[item->file] != SIGNATURE_READING ||
		    tree->files[item->file].generation != item->generation)
			continue;
		kept_tree_set_signature(tree, item->file, SIGNATURE_UNKNOWN);
		left++;
	}
	while (left > 0 && (node = watch_owner(&tree->watch, batch->watch, &at)) != NULL) {
		node->calm_at_ms = cache_clock_ms() + RETRY_MS;
		cache_node_mark_unread(tree, node);
	}
}

/* False when the folder is not where it was. */
static bool read_batch(struct kept_tree *tree, struct signature_reader *reader,
                       const struct signing_batch *batch)
{
	const char *path = batch->list->path;
	_cleanup_fd_ int folder = chain_open(tree->place.root_fd, path[0] ? path : ".",
	                                     O_RDONLY | O_DIRECTORY);
	struct stat st;

	if (folder < 0 || fstat(folder, &st) != 0 || st.st_dev != batch->device ||
	    st.st_ino != batch->inode)
		return false;
	for (size_t i = 0; i < batch->count && !atomic_load(tree->place.stop); i++) {
		struct file_signing reading;

		reader_read_file(tree, reader, folder, batch->items[i].name, &reading);
		pthread_mutex_lock(&tree->lock);
		keep_reading(tree, reader, batch, &batch->items[i], &reading);
		pthread_mutex_unlock(&tree->lock);
	}
	return true;
}

enum kept_work kept_tree_read(struct kept_tree *tree, struct signature_reader *reader, bool hurry,
                              int64_t *ret_wait_ms)
{
	struct signing_batch batch = { .count = 0 };
	struct node *node = NULL;
	enum kept_work none;
	bool good;

	*ret_wait_ms = INT64_MAX;
	pthread_mutex_lock(&tree->lock);
	if (tree->unread > 0)
		node = next_node(tree, hurry, ret_wait_ms);
	if (node)
		batch_claim_files(tree, node, &batch);
	none = tree->unread > 0 || tree->reading > 0 ? WORK_LATER : WORK_NONE;
	tree->reading += node != NULL;
	pthread_mutex_unlock(&tree->lock);
	if (!node)
		return none;
	good = read_batch(tree, reader, &batch);
	pthread_mutex_lock(&tree->lock);
	give_up_claims(tree, &batch);
	cache_names_unref(tree, batch.list);
	tree->reading--;
	pthread_mutex_unlock(&tree->lock);
	return good ? WORK_DONE : WORK_STALE;
}

/* ---- comparing all files with the disk, for changes without events (cache.c lists them) ---- */

/* What was known of a file before the disk was looked at, and what the disk has. */
struct disk_look {
	uint32_t generation;
	bool known; /* it had a signature */
	bool missing;
	uint64_t stamp, stamp_now; /* stamp_now: 0, too, when it does not prove anything yet */
	bool linked;
};

static void check_repositories(struct kept_tree *tree)
{
	for (size_t i = 0; i < tree->repository_count; i++) {
		struct node *node = tree->repositories[i];
		const char *path = node->list->path;
		_cleanup_fd_ int fd = chain_open(tree->place.root_fd, path[0] ? path : ".",
		                                 O_PATH | O_DIRECTORY);
		bool repository;

		if (fd < 0 || node->exclude_stamp == 0 ||
		    kept_tree_exclude_stamp(tree, fd, path, &repository) != node->exclude_stamp)
			cache_node_mark_whole(tree, node);
	}
}

static bool tree_update(struct kept_tree *tree)
{
	if (tree->lost || !watch_mounts_hold(&tree->watch) || !kept_tree_take_events(tree))
		return false;
	if (tree->global && !global_ignore_is_current(tree->global) && kept_tree_read_global(tree))
		cache_node_mark_whole(tree, tree->nodes[0]);
	check_repositories(tree);
	kept_tree_check_linked(tree);
	if (!tree->changed)
		return true;
	if (!kept_tree_scan_changed(tree))
		return false;
	kept_tree_check_linked(tree); /* new names of files that had others */
	return true;
}

bool kept_tree_update(struct kept_tree *tree)
{
	bool good;

	pthread_mutex_lock(&tree->lock);
	good = tree_update(tree);
	tree->lost |= !good;
	pthread_mutex_unlock(&tree->lock);
	return good;
}

bool kept_tree_is_behind(struct kept_tree *tree)
{
	bool behind;

	pthread_mutex_lock(&tree->lock);
	behind = tree->lost || tree->changed || watch_has_events(&tree->watch);
	pthread_mutex_unlock(&tree->lock);
	return behind;
}

struct cached_tree *kept_tree_take(struct kept_tree *tree)
{
	struct cached_tree *snapshot = NULL;

	pthread_mutex_lock(&tree->lock);
	if (tree_update(tree)) {
		if (!tree->current)
			tree->current = cached_tree_snapshot(tree);
		snapshot = tree->current;
		snapshot->references++;
		tree->answers++;
		kept_tree_ref(tree);
	} else {
		tree->lost = true;
	}
	pthread_mutex_unlock(&tree->lock);
	return snapshot;
}

static void note_files(struct kept_tree *tree, const struct name_list *list,
                       struct disk_look *looks)
{
	pthread_mutex_lock(&tree->lock);
	for (size_t i = 0; i < list->count; i++) {
		const struct kept_file *kept = &tree->files[list->files[i]];

		looks[i] = (struct disk_look){
			.generation = kept->generation,
			.known = signature_is_known(tree->signature_of[list->files[i]]),
			.stamp = kept->stamp,
		};
	}
	pthread_mutex_unlock(&tree->lock);
}

static void look_stat_file(int folder, const char *name, struct disk_look *look)
{
	const int64_t now = cache_clock_ns(CLOCK_REALTIME);
	struct stat st;

	look->missing = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	                !S_ISREG(st.st_mode);
	if (look->missing)
		return;
	look->stamp_now = look->stamp == 0 ? cache_file_stamp_settled(&st, now) :
	                  cache_file_stamp(&st);
	look->linked = st.st_nlink > 1;
}

/* A file whose content changed although no event said so may go on changing like that: it is
 * open, until an event says that it was closed. */
static void repair_file(struct kept_tree *tree, struct node *node, const struct name_list *list,
                        size_t i, const struct disk_look *look)
{
	const uint32_t file = list->files[i];
	const struct kept_file *kept = &tree->files[file];

	if (!look->known || kept->generation != look->generation ||
	    look->stamp_now == look->stamp)
		return;
	if (look->stamp != 0 && !look->missing && !look->linked &&
	    look->stamp >> 32 != look->stamp_now >> 32)
		kept_tree_forget_file(tree, file, SIGNATURE_OPEN);
	else
		kept_tree_file_changed(tree, node, list->names[i]);
}

/* Puts right what differs, after all events were read. */
static void repair(struct kept_tree *tree, const struct name_list *list,
                   const struct disk_look *looks,
                   const struct stat *st)
{
	struct node *node;

	pthread_mutex_lock(&tree->lock);
	tree->lost |= !kept_tree_take_events(tree);
	node = kept_tree_find(tree, list->path);
	if (node && node->list == list && !tree->lost) {
		for (size_t i = 0; i < list->count; i++)
			repair_file(tree, node, list, i, &looks[i]);
		if (!node->changed && node->stamp != 0 && cache_file_stamp(st) != node->stamp)
			cache_node_mark_changed(tree, node);
	}
	pthread_mutex_unlock(&tree->lock);
}

static void sweep_folder(struct kept_tree *tree, const struct name_list *list)
{
	_cleanup_free_ struct disk_look *looks = mem_alloc(list->count, sizeof(*looks));
	_cleanup_fd_ int fd = -1;
	struct stat st;

	note_files(tree, list, looks);
	fd = chain_open(tree->place.root_fd, list->path[0] ? list->path : ".",
	                O_RDONLY | O_DIRECTORY);
	if (fd < 0 || fstat(fd, &st) != 0)
		return;
	for (size_t i = 0; i < list->count; i++)
		if (looks[i].known)
			look_stat_file(fd, list->names[i], &looks[i]);
	repair(tree, list, looks, &st);
}

bool kept_tree_sweep(struct kept_tree *tree, struct sweep *sweep)
{
	if (!sweep->snapshot)
		sweep->snapshot = kept_tree_take(tree);
	if (!sweep->snapshot || sweep->next >= sweep->snapshot->folder_count)
		return false;
	sweep_folder(tree, sweep->snapshot->lists[sweep->next++]);
	return true;
}

void kept_tree_sweep_release(struct sweep *sweep)
{
	if (sweep->snapshot)
		kept_tree_give_back(sweep->snapshot);
	*sweep = (struct sweep){ 0 };
}
