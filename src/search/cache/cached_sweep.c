/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing a tree with the disk, for what no event tells (cache.c has the list). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "search/cache/cached_tree.h"

/* ---- files with several names ---------------------------------------------------- */

static void collect_linked(struct kept_tree *tree)
{
	tree->linked_old = false;
	tree->linked_count = 0;
	if (tree->linked_files == 0)
		return;
	for (size_t i = 0; i < tree->node_count; i++) {
		struct node *node = tree->nodes[i];

		for (size_t j = 0; j < node->list->count; j++) {
			const uint32_t file = node->list->files[j];

			if (!tree->files[file].linked)
				continue;
			if (tree->linked_count == tree->linked_cap)
				tree->linked = mem_grow(tree->linked, &tree->linked_cap,
				                        tree->linked_count + 1,
				                        sizeof(*tree->linked));
			tree->linked[tree->linked_count++] =
				(struct linked_file){ node, file, node->list->names[j] };
		}
	}
}

/* Whether a file is as it was when it was read. */
static bool is_same(const struct kept_tree *tree, const struct linked_file *linked)
{
	_cleanup_free_ char *path = mem_printf("%s%s", linked->node->list->path, linked->name);
	const uint64_t stamp = tree->files[linked->file].stamp;
	struct stat st;

	return stamp != 0 &&
	       fstatat(tree->place.root_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       file_stamp(&st) == stamp;
}

void tree_check_linked(struct kept_tree *tree)
{
	if (tree->linked_old)
		collect_linked(tree);
	for (size_t i = 0; i < tree->linked_count; i++) {
		const struct linked_file *linked = &tree->linked[i];

		if (signature_is_known(tree->signature_of[linked->file]) &&
		    !is_same(tree, linked))
			tree_file_changed(tree, linked->node, linked->name);
	}
}

static int compare_inodes(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void tree_find_linked(struct kept_tree *tree, uint64_t *inodes, size_t count)
{
	if (count == 0)
		return;
	tree->link_serial++;
	qsort(inodes, count, sizeof(*inodes), compare_inodes);
	for (size_t i = 0; i < tree->file_count; i++) {
		const struct kept_file *kept = &tree->files[i];

		if (kept->holders == 0 || kept->inode == 0 ||
		    !bsearch(&kept->inode, inodes, count, sizeof(*inodes), compare_inodes))
			continue;
		if (tree->linked_files < LINKED_FILES_MAX)
			tree_mark_linked(tree, (uint32_t)i);
		else
			tree_forget_file(tree, (uint32_t)i, SIGNATURE_OPEN);
	}
}

/* ---- all files ---------------------------------------------------------------------- */

/* What was known of a file before the disk was looked at, and what the disk has. */
struct look {
	uint32_t generation;
	bool known; /* it had a signature */
	bool gone;
	uint64_t stamp, stamp_now; /* stamp_now: 0, too, when it does not prove anything yet */
	bool linked;
};

static void note(struct kept_tree *tree, const struct name_list *list, struct look *looks)
{
	pthread_mutex_lock(&tree->lock);
	for (size_t i = 0; i < list->count; i++) {
		const struct kept_file *kept = &tree->files[list->files[i]];

		looks[i] = (struct look){
			.generation = kept->generation,
			.known = signature_is_known(tree->signature_of[list->files[i]]),
			.stamp = kept->stamp,
		};
	}
	pthread_mutex_unlock(&tree->lock);
}

static void look_at(int folder, const char *name, struct look *look)
{
	const int64_t now = clock_ns(CLOCK_REALTIME);
	struct stat st;

	look->gone = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode);
	if (look->gone)
		return;
	look->stamp_now = look->stamp == 0 ? file_stamp_settled(&st, now) : file_stamp(&st);
	look->linked = st.st_nlink > 1;
}

/* A file whose content changed although no event said so may go on changing like that: it is
 * open, until an event says that it was closed. */
static void repair_file(struct kept_tree *tree, struct node *node, const struct name_list *list,
                        size_t i, const struct look *look)
{
	const uint32_t file = list->files[i];
	const struct kept_file *kept = &tree->files[file];

	if (!look->known || kept->generation != look->generation ||
	    look->stamp_now == look->stamp)
		return;
	if (look->stamp != 0 && !look->gone && !look->linked &&
	    look->stamp >> 32 != look->stamp_now >> 32)
		tree_forget_file(tree, file, SIGNATURE_OPEN);
	else
		tree_file_changed(tree, node, list->names[i]);
}

/* Makes good what differs, after hearing of all that events tell. */
static void repair(struct kept_tree *tree, const struct name_list *list, const struct look *looks,
                   const struct stat *st)
{
	struct node *node;

	pthread_mutex_lock(&tree->lock);
	tree->lost |= !tree_take_events(tree);
	node = tree_find(tree, list->path);
	if (node && node->list == list && !tree->lost) {
		for (size_t i = 0; i < list->count; i++)
			repair_file(tree, node, list, i, &looks[i]);
		if (!node->changed && node->stamp != 0 && file_stamp(st) != node->stamp)
			node_mark_changed(tree, node);
	}
	pthread_mutex_unlock(&tree->lock);
}

static void sweep_folder(struct kept_tree *tree, const struct name_list *list)
{
	_cleanup_free_ struct look *looks = mem_alloc(list->count, sizeof(*looks));
	_cleanup_fd_ int fd = -1;
	struct stat st;

	note(tree, list, looks);
	fd = chain_open(tree->place.root_fd, list->path[0] ? list->path : ".",
	                O_RDONLY | O_DIRECTORY);
	if (fd < 0 || fstat(fd, &st) != 0)
		return;
	for (size_t i = 0; i < list->count; i++)
		if (looks[i].known)
			look_at(fd, list->names[i], &looks[i]);
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

void sweep_release(struct sweep *sweep)
{
	if (sweep->snapshot)
		kept_tree_give_back(sweep->snapshot);
	*sweep = (struct sweep){ 0 };
}
