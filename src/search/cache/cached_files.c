/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a tree that is kept: files, lists of names, nodes. */
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "search/cache/cached_tree.h"

/* What malloc adds to a small block. */
enum { BLOCK_BYTES = 16 };
/* File times may be as coarse as the kernel's tick; two seconds are git's measure for old
 * file systems, too. */
#define SETTLED_NS ((int64_t)2000 * 1000 * 1000)

/* ---- time, and stamps ------------------------------------------------------ */

int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

static uint64_t mix(uint64_t so_far, uint64_t value)
{
	so_far = (so_far ^ value) * 0x9E3779B97F4A7C15u;
	return so_far ^ so_far >> 32;
}

uint64_t file_stamp(const struct stat *st)
{
	uint64_t content = mix(1, (uint64_t)st->st_ino), change = 1;

	content = mix(content, (uint64_t)st->st_size);
	content = mix(content, (uint64_t)st->st_mtim.tv_sec);
	content = mix(content, (uint64_t)st->st_mtim.tv_nsec);
	change = mix(change, (uint64_t)st->st_ctim.tv_sec);
	change = mix(change, (uint64_t)st->st_ctim.tv_nsec);
	return content << 32 | (uint32_t)change | 1;
}

uint64_t file_stamp_settled(const struct stat *st, int64_t now_ns)
{
	const int64_t changed = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;

	return changed + SETTLED_NS < now_ns ? file_stamp(st) : 0;
}

/* ---- files ------------------------------------------------------------------ */

static void grow_files(struct kept_tree *tree)
{
	const size_t before = tree->file_cap * sizeof(*tree->files) +
	                      tree->signature_cap * sizeof(*tree->signature_of);

	pthread_rwlock_wrlock(&tree->files_lock);
	tree->files = mem_grow(tree->files, &tree->file_cap, tree->file_count + 1,
	                       sizeof(*tree->files));
	tree->signature_of = mem_grow(tree->signature_of, &tree->signature_cap,
	                              tree->file_count + 1, sizeof(*tree->signature_of));
	pthread_rwlock_unlock(&tree->files_lock);
	tree_charge(tree, tree->file_cap * sizeof(*tree->files) +
	                          tree->signature_cap * sizeof(*tree->signature_of) - before);
}

void tree_set_signature(struct kept_tree *tree, uint32_t file, uint32_t signature)
{
	pthread_rwlock_wrlock(&tree->files_lock);
	tree->signature_of[file] = signature;
	pthread_rwlock_unlock(&tree->files_lock);
}

uint32_t tree_add_file(struct kept_tree *tree)
{
	uint32_t file, generation = 0;

	if (tree->free_count > 0) {
		file = tree->free_files[--tree->free_count];
		generation = tree->files[file].generation;
	} else {
		if (tree->file_count == tree->file_cap || tree->file_count == tree->signature_cap)
			grow_files(tree);
		file = (uint32_t)tree->file_count++;
	}
	tree->files[file] = (struct kept_file){ .generation = generation + 1, .holders = 1 };
	tree_set_signature(tree, file, SIGNATURE_UNKNOWN);
	return file;
}

void tree_hold_file(struct kept_tree *tree, uint32_t file)
{
	tree->files[file].holders++;
}

void tree_forget_file(struct kept_tree *tree, uint32_t file, uint32_t signature)
{
	const uint32_t before = tree->signature_of[file];

	tree->files[file].generation++;
	if (before == signature)
		return;
	pthread_rwlock_wrlock(&tree->files_lock);
	if (before < SIGNATURE_NUMBER_MAX)
		signatures_drop(&tree->signatures, before);
	tree->signature_of[file] = signature;
	pthread_rwlock_unlock(&tree->files_lock);
}

void tree_mark_linked(struct kept_tree *tree, uint32_t file)
{
	if (tree->files[file].linked)
		return;
	tree->files[file].linked = true;
	tree->linked_files++;
	tree->linked_old = true;
}

static void release_file(struct kept_tree *tree, uint32_t file)
{
	const size_t cap = tree->free_cap;

	if (--tree->files[file].holders > 0)
		return;
	tree_forget_file(tree, file, SIGNATURE_UNKNOWN);
	tree->linked_files -= tree->files[file].linked;
	tree->files[file].linked = false;
	tree->files[file].inode = 0;
	if (tree->free_count == tree->free_cap)
		tree->free_files = mem_grow(tree->free_files, &tree->free_cap,
		                            tree->free_count + 1, sizeof(*tree->free_files));
	tree->free_files[tree->free_count++] = file;
	tree_charge(tree, (tree->free_cap - cap) * sizeof(*tree->free_files));
}

/* ---- lists of names --------------------------------------------------------- */

struct name_list *name_list_new(struct kept_tree *tree, const char *path,
                                const char *const *names, size_t count)
{
	const size_t path_size = strlen(path) + 1;
	size_t text = path_size, bytes;
	struct name_list *list;
	char *at;

	for (size_t i = 0; i < count; i++)
		text += strlen(names[i]) + 1;
	bytes = sizeof(*list) + count * (sizeof(*list->names) + sizeof(*list->files)) + text;
	list = mem_alloc(bytes, 1);
	*list = (struct name_list){ .references = 1, .count = count, .bytes = bytes + BLOCK_BYTES };
	list->names = (const char **)(list + 1);
	list->files = (uint32_t *)(list->names + count);
	at = (char *)(list->files + count);
	list->path = memcpy(at, path, path_size);
	at += path_size;
	for (size_t i = 0; i < count; i++) {
		const size_t size = strlen(names[i]) + 1;

		list->names[i] = memcpy(at, names[i], size);
		at += size;
	}
	tree_charge(tree, list->bytes);
	return list;
}

void name_list_unref(struct kept_tree *tree, struct name_list *list)
{
	if (--list->references > 0)
		return;
	for (size_t i = 0; i < list->count; i++)
		release_file(tree, list->files[i]);
	tree_credit(tree, list->bytes);
	free(list);
}

size_t name_list_find(const struct name_list *list, const char *name)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = strcmp(list->names[middle], name);

		if (order == 0)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return SIZE_MAX;
}

/* ---- nodes ------------------------------------------------------------------ */

struct node *node_new(struct kept_tree *tree, struct name_list *list)
{
	struct node *node = mem_alloc(1, sizeof(*node));

	node->list = list;
	tree_charge(tree, sizeof(*node) + BLOCK_BYTES);
	return node;
}

void node_free(struct kept_tree *tree, struct node *node)
{
	if (node->unread)
		tree->unread--;
	if (node->watch > 0)
		watch_disown(&tree->watch, node->watch, node);
	name_list_unref(tree, node->list);
	free(node);
	tree_credit(tree, sizeof(*node) + BLOCK_BYTES);
}

size_t tree_lower_bound(const struct kept_tree *tree, const char *path)
{
	size_t low = 0, high = tree->node_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (strcmp(tree->nodes[middle]->list->path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct node *tree_find(const struct kept_tree *tree, const char *path)
{
	const size_t at = tree_lower_bound(tree, path);

	return at < tree->node_count && strcmp(tree->nodes[at]->list->path, path) == 0
	               ? tree->nodes[at]
	               : NULL;
}

void node_mark_unread(struct kept_tree *tree, struct node *node)
{
	if (!node->unread)
		tree->unread++;
	node->unread = true;
}
