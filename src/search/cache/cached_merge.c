/* SPDX-License-Identifier: Apache-2.0 */
/* Putting folders that were read into their places.
 *
 * A folder that has the number (watch.h) it had is the same folder, watched all the time,
 * wherever it is now: its files keep what is known of them.  Of any other folder nothing is
 * taken over, whatever its name.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search/cache/cached_gather.h"

struct node_array {
	struct node **nodes;
	size_t count, cap;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_found(const void *a, const void *b)
{
	return strcmp(((const struct found *)a)->path, ((const struct found *)b)->path);
}

/* Sorts by path, and leaves one for each folder, however often it was read. Those of folders
 * that are gone go. */
static void sort_found(struct gathering *g)
{
	size_t kept = 0;

	if (g->count > 1)
		qsort(g->found, g->count, sizeof(*g->found), compare_found);
	if (g->replaced_count > 1)
		qsort(g->replaced, g->replaced_count, sizeof(*g->replaced), compare_names);
	for (size_t i = 0; i < g->count; i++) {
		struct found *found = &g->found[i];

		if (found->gone || (!found->list && !found->failed) ||
		    (kept > 0 && strcmp(g->found[kept - 1].path, found->path) == 0)) {
			found_release(g->tree, found);
			continue;
		}
		g->found[kept++] = *found;
	}
	g->count = kept;
}

/* Makes the lists whole, and looks up what was known of their folders: for all, before anything
 * is replaced. */
static void prepare(struct gathering *g)
{
	for (size_t i = 0; i < g->count; i++) {
		struct found *found = &g->found[i];
		const struct node *node = NULL;
		size_t at = 0;

		if (found->part_count > 0)
			found_join(g->tree, found);
		if (!found->list)
			found->list = name_list_new(g->tree, found->path, NULL, 0);
		if (found->watch > 0)
			node = watch_owner(&g->tree->watch, found->watch, &at);
		if (node) {
			found->before = node->list;
			found->before->references++;
		}
	}
}

static void add_fresh(struct gathering *g, const struct node *node, size_t name)
{
	if (g->fresh_count == g->fresh_cap)
		g->fresh = mem_grow(g->fresh, &g->fresh_cap, g->fresh_count + 1,
		                    sizeof(*g->fresh));
	g->fresh[g->fresh_count++] = (struct fresh){ node, name };
}

/* Gives the names of a list their files: those of the same folder as it was before, where it
 * had the name, and new ones. */
static void fill_files(struct gathering *g, struct node *node, struct name_list *list,
                       const struct name_list *before)
{
	struct kept_tree *tree = g->tree;
	const size_t count = before ? before->count : 0;
	size_t from = 0;

	for (size_t i = 0; i < list->count; i++) {
		int order = 1;

		while (from < count &&
		       (order = strcmp(before->names[from], list->names[i])) < 0)
			from++;
		if (from < count && order == 0) {
			list->files[i] = before->files[from];
			tree_hold_file(tree, list->files[i]);
		} else {
			list->files[i] = tree_add_file(tree);
			add_fresh(g, node, i);
		}
		if (tree->signature_of[list->files[i]] == SIGNATURE_UNKNOWN)
			node_mark_unread(tree, node);
	}
}

static void take_over(struct gathering *g, struct node *node, struct found *found)
{
	struct name_list *list = mem_steal(&found->list);

	fill_files(g, node, list, found->before);
	if (node->list)
		name_list_unref(g->tree, node->list);
	node->list = list;
	node->device = found->device;
	node->inode = found->inode;
	node->stamp = found->stamp;
	node->exclude_stamp = found->exclude_stamp;
	node->repository = found->repository;
	node->failed = found->failed;
	node->changed = node->whole = node->suspect = false;
}

/* The node's watch is the one that was found; returns the one that it had if that is another. */
static int swap_watch(struct kept_tree *tree, struct node *node, const struct found *found)
{
	const int old = node->watch;

	if (old == found->watch)
		return 0;
	node->watch = found->watch > 0 ? found->watch : 0;
	if (node->watch > 0)
		watch_own(&tree->watch, node->watch, node);
	return old;
}

/* Whether a path is beneath one of the sorted `replaced`; paths come in order, and *at begins
 * as 0. */
static bool is_replaced(const struct gathering *g, const char *path, size_t *at)
{
	while (*at < g->replaced_count && strcmp(g->replaced[*at], path) <= 0) {
		if (path_is_beneath(path, g->replaced[*at]))
			return true;
		++*at;
	}
	return false;
}

static void put_node(struct node_array *array, struct node *node)
{
	if (array->count == array->cap)
		array->nodes = mem_grow(array->nodes, &array->cap, array->count + 1,
		                        sizeof(*array->nodes));
	array->nodes[array->count++] = node;
}

static void collect_repositories(struct kept_tree *tree)
{
	struct node_array array = { 0 };

	for (size_t i = 0; i < tree->node_count; i++)
		if (tree->nodes[i]->repository)
			put_node(&array, tree->nodes[i]);
	free(tree->repositories);
	tree->repositories = array.nodes;
	tree->repository_count = array.count;
}

/* Sorts old nodes and what was found into those that stay and those that go. */
static void merge_nodes(struct gathering *g, struct node_array *stay, struct node_array *go)
{
	struct kept_tree *tree = g->tree;
	size_t i = 0, j = 0, replaced = 0;

	while (i < tree->node_count || j < g->count) {
		struct node *node = i < tree->node_count ? tree->nodes[i] : NULL;
		struct found *found = j < g->count ? &g->found[j] : NULL;
		const int order = !node    ? 1
		                  : !found ? -1
		                           : strcmp(node->list->path, found->path);

		if (order < 0) {
			const bool gone = is_replaced(g, node->list->path, &replaced);

			put_node(gone ? go : stay, node);
			i++;
			continue;
		}
		if (order > 0)
			node = node_new(tree, NULL);
		else
			i++;
		take_over(g, node, found);
		found->node = node;
		put_node(stay, node);
		j++;
	}
}

static void merge(struct gathering *g)
{
	struct kept_tree *tree = g->tree;
	struct node_array stay = { 0 }, go = { 0 };

	sort_found(g);
	prepare(g);
	merge_nodes(g, &stay, &go);
	/* All owners come before the first one goes: a watch that just moves is not removed. */
	for (size_t i = 0; i < g->count; i++)
		g->found[i].old_watch = swap_watch(tree, g->found[i].node, &g->found[i]);
	for (size_t i = 0; i < g->count; i++)
		if (g->found[i].old_watch > 0)
			watch_disown(&tree->watch, g->found[i].old_watch, g->found[i].node);
	for (size_t i = 0; i < go.count; i++)
		node_free(tree, go.nodes[i]);
	free(go.nodes);
	free(tree->nodes);
	tree_credit(tree, tree->node_count * sizeof(*tree->nodes));
	tree->nodes = stay.nodes;
	tree->node_count = stay.count;
	tree_charge(tree, tree->node_count * sizeof(*tree->nodes));
	collect_repositories(tree);
	tree->linked_old = true;
	tree_drop_snapshot(tree);
}

static bool is_sound(const struct kept_tree *tree)
{
	return tree_fits(tree) && tree->node_count > 0 && !tree->nodes[0]->failed &&
	       tree->nodes[0]->list->path[0] == '\0';
}

/* New names may be further names of files that are known by others. */
static void check_fresh(struct gathering *g)
{
	_cleanup_free_ uint64_t *inodes = mem_alloc(g->fresh_count, sizeof(*inodes));
	size_t count = 0;

	for (size_t i = 0; i < g->fresh_count; i++) {
		const struct name_list *list = g->fresh[i].node->list;
		_cleanup_free_ char *path =
			mem_printf("%s%s", list->path, list->names[g->fresh[i].name]);
		struct stat st;

		if (fstatat(g->tree->place.root_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_nlink > 1)
			inodes[count++] = (uint64_t)st.st_ino;
	}
	tree_find_linked(g->tree, inodes, count);
}

bool tree_scan_changed(struct kept_tree *tree)
{
	struct gathering g = { .tree = tree };
	const int64_t begun = clock_ms();
	bool good;

	good = gather_marked(&g);
	if (good) {
		merge(&g);
		check_fresh(&g);
		good = is_sound(tree);
	}
	gathering_release(&g);
	tree->changed = false;
	tree->scan_ms = clock_ms() - begun;
	return good;
}

bool kept_tree_build(struct kept_tree *tree)
{
	struct gathering g = { .tree = tree };
	bool good;

	pthread_mutex_lock(&tree->lock);
	good = watch_open(&tree->watch, tree->place.root_path);
	if (good && !tree->rules.no_git_ignore)
		tree_read_global(tree);
	good = good && gather_whole(&g, "");
	if (good) {
		merge(&g);
		good = is_sound(tree);
	}
	gathering_release(&g);
	pthread_mutex_unlock(&tree->lock);
	return good;
}
