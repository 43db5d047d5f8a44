/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the folders of a kept tree, and putting what was read in its place.
 *
 * A folder is watched before it is read, so that later changes give events.
 *
 * Scans run on the calling thread alone: further threads of a scan have no access to the
 * watches (scan.h: each has a private table of descriptors). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "search/cache/kept_tree.h"
#include "search/cache/watch.h"
#include "search/rules/chain.h"
#include "search/scan/scan.h"

/* ---- reading the folders of a tree that is kept ---- */

/*
 *     struct folder_gathering g = { .tree = tree };
 *     if (gather_marked(&g)) ...            (or gather_whole(&g, "src/"))
 *     gathering_release(&g); */

/* A folder that was read. */
struct found_folder {
	char *path;               /* owned */
	struct name_list *list;   /* owned; its files[] are not filled in; NULL: not read */
	struct name_list **parts; /* owned; further ones, of a folder with very many files */
	size_t part_count, part_cap;
	struct name_list *before; /* owned reference; the folder as it was known; NULL: new */
	char **folders;           /* owned; names; of scans of one folder only */
	size_t folder_count;
	int watch;
	dev_t device;
	ino_t inode;
	uint64_t stamp, exclude_stamp;
	bool repository;
	bool failed, removed;
	struct node *node;        /* that took it over */
	int old_watch;            /* which that node had */
};

/* A file that was not known. */
struct fresh {
	const struct node *node;
	size_t name;
};

struct folder_gathering {
	struct kept_tree *tree;
	bool one_folder;
	bool unfit;               /* a folder that cannot be watched, or trusted; too much */
	struct found_folder *found;      /* owned */
	size_t count, cap;
	char **replaced;          /* owned; paths of folders beneath which all is new */
	size_t replaced_count, replaced_cap;
	struct fresh *fresh;      /* owned */
	size_t fresh_count, fresh_cap;
};

/* ---- reading folders ---- */

/* When more folders than this have changed, one scan of everything is quicker. */
enum { FEW_FOLDERS = 64 };

/* A list without files is not to let go of any. */
static void discard(struct kept_tree *tree, struct name_list *list)
{
	list->count = 0;
	cache_names_unref(tree, list);
}

static void found_release(struct kept_tree *tree, struct found_folder *found)
{
	if (found->list)
		discard(tree, found->list);
	if (found->before)
		cache_names_unref(tree, found->before);
	for (size_t i = 0; i < found->part_count; i++)
		discard(tree, found->parts[i]);
	free(found->parts);
	for (size_t i = 0; i < found->folder_count; i++)
		free(found->folders[i]);
	free(found->folders);
	free(found->path);
}

static void gathering_release(struct folder_gathering *g)
{
	for (size_t i = 0; i < g->count; i++)
		found_release(g->tree, &g->found[i]);
	for (size_t i = 0; i < g->replaced_count; i++)
		free(g->replaced[i]);
	free(g->found);
	free(g->replaced);
	free(g->fresh);
}

static void add_replaced(struct folder_gathering *g, const char *path)
{
	if (g->replaced_count == g->replaced_cap)
		g->replaced = mem_grow(g->replaced, &g->replaced_cap, g->replaced_count + 1,
		                       sizeof(*g->replaced));
	g->replaced[g->replaced_count++] = mem_strdup(path);
}

/* ---- visiting ---------------------------------------------------------------- */

static struct chain_base tree_chain_base(const struct kept_tree *tree)
{
	return (struct chain_base){
		.rules = &tree->rules,
		.root = tree->place.root_fd,
		.root_path = tree->place.root_path,
		.global = tree->global_rules,
	};
}

uint64_t kept_tree_exclude_stamp(const struct kept_tree *tree, int folder, const char *path,
                                 bool *ret_repository)
{
	const struct chain_base base = tree_chain_base(tree);
	const int64_t now = cache_clock_ns(CLOCK_REALTIME);
	_cleanup_free_ char *exclude = NULL;
	struct stat st;

	*ret_repository = !tree->rules.no_git_ignore &&
	                  fstatat(folder, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (!*ret_repository)
		return 1;
	exclude = chain_gitdir_exclude(&base, folder, span_str(path), st.st_mode);
	if (!exclude || fstatat(base.root, exclude, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 1;
	return cache_file_stamp_settled(&st, now);
}

static struct found_folder *gathering_add_found(struct folder_gathering *g, const char *path)
{
	if (g->count == g->cap)
		g->found = mem_grow(g->found, &g->cap, g->count + 1, sizeof(*g->found));
	g->found[g->count] = (struct found_folder){ .path = mem_strdup(path) };
	return &g->found[g->count++];
}

static bool enter_found(void *data, int fd, const char *path, size_t path_len)
{
	struct folder_gathering *g = data;
	struct found_folder *found = gathering_add_found(g, path);
	struct stat st;

	(void)path_len;
	g->unfit |= atomic_load(g->tree->place.stop) || !kept_tree_fits(g->tree) ||
	            !watch_trusts(fd);
	if (g->unfit)
		return false;
	found->watch = watch_add(&g->tree->watch, fd);
	if (found->watch < 0 || fstat(fd, &st) != 0) {
		g->unfit = true;
		return false;
	}
	found->device = st.st_dev;
	found->inode = st.st_ino;
	found->stamp = cache_file_stamp_settled(&st, cache_clock_ns(CLOCK_REALTIME));
	found->exclude_stamp = kept_tree_exclude_stamp(g->tree, fd, path, &found->repository);
	return true;
}

/* A folder's files come in parts, the first one right after it was entered. */
static struct found_folder *found_of(struct folder_gathering *g, const char *path)
{
	for (size_t i = g->count; i-- > 0;)
		if (strcmp(g->found[i].path, path) == 0)
			return &g->found[i];
	return NULL;
}

static int found_compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Makes one list of the parts of a folder. */
static void found_join(struct kept_tree *tree, struct found_folder *found)
{
	const char **names;
	struct name_list *list;
	size_t count = found->list->count, ignored = found->list->ignored, at = 0;

	for (size_t i = 0; i < found->part_count; i++) {
		count += found->parts[i]->count;
		ignored += found->parts[i]->ignored;
	}
	names = mem_alloc(count, sizeof(*names));
	for (size_t i = 0; i <= found->part_count; i++) {
		list = i == 0 ? found->list : found->parts[i - 1];
		memcpy(names + at, list->names, list->count * sizeof(*names));
		at += list->count;
	}
	qsort(names, count, sizeof(*names), found_compare_names);
	list = cache_names_new(tree, found->path, names, count);
	list->ignored = ignored;
	free(names);
	discard(tree, found->list);
	while (found->part_count > 0)
		discard(tree, found->parts[--found->part_count]);
	found->list = list;
}

static void found_add_part(struct found_folder *found, struct name_list *part)
{
	if (!found->list) {
		found->list = part;
		return;
	}
	if (found->part_count == found->part_cap)
		found->parts = mem_grow(found->parts, &found->part_cap, found->part_count + 1,
		                        sizeof(struct name_list *));
	found->parts[found->part_count++] = part;
}

static bool visit_found(void *data, unsigned thread, const struct scan_folder *folder)
{
	struct folder_gathering *g = data;
	struct found_folder *found = found_of(g, folder->path);
	struct name_list *list;

	(void)thread;
	list = cache_names_new(g->tree, folder->path, folder->files, folder->file_count);
	list->ignored = folder->ignored;
	found_add_part(found, list);
	if (g->one_folder && folder->first_part) {
		found->folders = mem_alloc(folder->folder_count, sizeof(char *));
		for (; found->folder_count < folder->folder_count; found->folder_count++)
			found->folders[found->folder_count] =
				mem_strdup(folder->folders[found->folder_count]);
	}
	g->unfit |= atomic_load(g->tree->place.stop) || !kept_tree_fits(g->tree);
	return !g->unfit;
}

static void note_failed_folder(void *data, const char *path, int sys_errno)
{
	struct folder_gathering *g = data;
	struct found_folder *found = g->count > 0 ? &g->found[g->count - 1] : NULL;

	/* It may have been entered, just before. */
	if (!found || strcmp(found->path, path) != 0)
		found = gathering_add_found(g, path);
	found->failed = true;
	/* What went away, or became something else, while it was looked for: the folder it was in
	 * gets an event of that. */
	found->removed = sys_errno == ENOENT || sys_errno == ENOTDIR || sys_errno == ELOOP;
}

/* Scans beneath `start`. False when the tree cannot be kept. */
static bool gather_folders(struct folder_gathering *g, const char *start, bool one_folder)
{
	static const struct scan_visitor visitor = { enter_found, NULL, visit_found,
	                                             note_failed_folder };
	const struct kept_tree *tree = g->tree;
	const struct tree_scan scan = {
		.root = tree->place.root_fd,
		.root_path = tree->place.root_path,
		.start = start,
		.rules = &tree->rules,
		.global = tree->global_rules,
		.one_folder = one_folder,
		.visitor = &visitor,
		.data = g,
		.threads = 1,
	};
	struct err err = ERR_INIT;

	g->one_folder = one_folder;
	return scan_run(&scan, &err) && !g->unfit;
}

/* ---- what to read --------------------------------------------------------------- */

/* The length of the first component of a path beneath a folder, with its '/'. */
static size_t component_len(const char *path, size_t folder_len)
{
	const char *slash = strchr(path + folder_len, '/');

	return slash ? (size_t)(slash - path) + 1 - folder_len : 0;
}

/* Whether a folder has one of that name; names are asked for in order, and *at begins as 0. */
static bool found_has_folder(const struct found_folder *found, struct span name, size_t *at)
{
	for (; *at < found->folder_count; ++*at) {
		_cleanup_free_ char *path = mem_printf("%s/", found->folders[*at]);
		const int order = strncmp(path, name.data, name.len);

		if (order >= 0)
			return order == 0 && path[name.len] == '\0';
	}
	return false;
}

/* Marks as replaced what is known beneath a folder and is not in it any more. */
static void drop_lost_folders(struct folder_gathering *g, const struct found_folder *found)
{
	const struct kept_tree *tree = g->tree;
	const size_t len = strlen(found->path);
	size_t i = kept_tree_lower_bound(tree, found->path), at = 0;

	while (i < tree->node_count && strncmp(tree->nodes[i]->list->path, found->path, len) == 0) {
		const char *path = tree->nodes[i]->list->path;
		const size_t name = component_len(path, len);
		_cleanup_free_ char *child = mem_dup(path, len + name);

		if (name > 0 && !found_has_folder(found, span_of(path + len, name), &at))
			add_replaced(g, child);
		for (i++; name > 0 && i < tree->node_count &&
		          strncmp(tree->nodes[i]->list->path, child, len + name) == 0; i++)
			;
	}
}

/* Reads all beneath a folder ("" or "a/b/"), or all that is marked. False: the tree cannot be
 * kept. */
static bool gather_whole(struct folder_gathering *g, const char *path)
{
	add_replaced(g, path);
	return gather_folders(g, path, /* one_folder= */ false);
}

/* Reads those folders in a changed folder that are new, or perhaps others than they were. */
static bool gather_new_folders(struct folder_gathering *g, size_t index)
{
	size_t scans = 0;

	for (size_t i = 0; i < g->found[index].folder_count; i++) {
		const struct found_folder *found = &g->found[index];
		_cleanup_free_ char *path = mem_printf("%s%s/", found->path, found->folders[i]);
		const struct node *node = kept_tree_find(g->tree, path);

		if (node && !node->suspect)
			continue;
		if (++scans > FEW_FOLDERS) {
			_cleanup_free_ char *all = mem_strdup(found->path);

			return gather_whole(g, all);
		}
		if (!gather_whole(g, path))
			return false;
	}
	return true;
}

static bool gather_changed(struct folder_gathering *g, const char *path)
{
	const size_t index = g->count;

	if (!gather_folders(g, path, /* one_folder= */ true))
		return false;
	if (index == g->count)
		return true;
	if (g->found[index].failed) {
		add_replaced(g, path);
		return true;
	}
	drop_lost_folders(g, &g->found[index]);
	return gather_new_folders(g, index);
}

/* Whether a path is that of a folder ("" or "a/b/"), or beneath it. */
static bool path_is_beneath(const char *path, const char *folder)
{
	return strncmp(path, folder, strlen(folder)) == 0;
}

static bool many_marked(const struct kept_tree *tree)
{
	size_t marked = 0;

	for (size_t i = 0; i < tree->node_count; i++)
		marked += tree->nodes[i]->changed;
	return marked > FEW_FOLDERS + tree->node_count / 8;
}

/* Folders that are beneath one read whole are done with it. */
static bool gather_marked(struct folder_gathering *g)
{
	const struct kept_tree *tree = g->tree;
	const char *whole = NULL;

	if (many_marked(tree))
		return gather_whole(g, "");
	for (size_t i = 0; i < tree->node_count; i++) {
		const struct node *node = tree->nodes[i];
		const char *path = node->list->path;

		if ((!node->whole && !node->changed) || (whole && path_is_beneath(path, whole)))
			continue;
		if (node->whole)
			whole = path;
		if (!(node->whole ? gather_whole(g, path) : gather_changed(g, path)))
			return false;
	}
	return true;
}

/* ---- putting folders that were read into their places ---- */

/* A folder that has the number (kept_tree.h) it had is the same folder, watched all the time,
 * wherever it is now: its files keep what is known of them.  Of any other folder nothing is
 * taken over, whatever its name. */

struct node_array {
	struct node **nodes;
	size_t count, cap;
};

static int compare_found(const void *a, const void *b)
{
	return strcmp(((const struct found_folder *)a)->path,
		      ((const struct found_folder *)b)->path);
}

/* Sorts by path, and leaves one for each folder, however often it was read. Removed folders are
 * dropped. */
static void sort_found(struct folder_gathering *g)
{
	size_t kept = 0;

	if (g->count > 1)
		qsort(g->found, g->count, sizeof(*g->found), compare_found);
	if (g->replaced_count > 1)
		qsort(g->replaced, g->replaced_count, sizeof(*g->replaced), found_compare_names);
	for (size_t i = 0; i < g->count; i++) {
		struct found_folder *found = &g->found[i];

		if (found->removed || (!found->list && !found->failed) ||
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
static void prepare_found(struct folder_gathering *g)
{
	for (size_t i = 0; i < g->count; i++) {
		struct found_folder *found = &g->found[i];
		const struct node *node = NULL;
		size_t at = 0;

		if (found->part_count > 0)
			found_join(g->tree, found);
		if (!found->list)
			found->list = cache_names_new(g->tree, found->path, NULL, 0);
		if (found->watch > 0)
			node = watch_owner(&g->tree->watch, found->watch, &at);
		if (node) {
			found->before = node->list;
			found->before->references++;
		}
	}
}

/* Gives the names of a list their files: those of the same folder as it was before, where it
 * had the name, and new ones. */
static void fill_files(struct folder_gathering *g, struct node *node, struct name_list *list,
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
			kept_tree_hold_file(tree, list->files[i]);
		} else {
			list->files[i] = kept_tree_add_file(tree);
			if (g->fresh_count == g->fresh_cap)
				g->fresh = mem_grow(g->fresh, &g->fresh_cap, g->fresh_count + 1,
				                    sizeof(*g->fresh));
			g->fresh[g->fresh_count++] = (struct fresh){ node, i };
		}
		if (tree->signature_of[list->files[i]] == SIGNATURE_UNKNOWN)
			cache_node_mark_unread(tree, node);
	}
}

static void node_take_found(struct folder_gathering *g, struct node *node,
                            struct found_folder *found)
{
	struct name_list *list = mem_steal(&found->list);

	fill_files(g, node, list, found->before);
	if (node->list)
		cache_names_unref(g->tree, node->list);
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
static int swap_watch(struct kept_tree *tree, struct node *node, const struct found_folder *found)
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
static bool is_replaced(const struct folder_gathering *g, const char *path, size_t *at)
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
static void merge_nodes(struct folder_gathering *g, struct node_array *stay, struct node_array *go)
{
	struct kept_tree *tree = g->tree;
	size_t i = 0, j = 0, replaced = 0;

	while (i < tree->node_count || j < g->count) {
		struct node *node = i < tree->node_count ? tree->nodes[i] : NULL;
		struct found_folder *found = j < g->count ? &g->found[j] : NULL;
		const int order = !node    ? 1
		                  : !found ? -1
		                           : strcmp(node->list->path, found->path);

		if (order < 0) {
			const bool replaced_too = is_replaced(g, node->list->path, &replaced);

			put_node(replaced_too ? go : stay, node);
			i++;
			continue;
		}
		if (order > 0)
			node = cache_node_new(tree, NULL);
		else
			i++;
		node_take_found(g, node, found);
		found->node = node;
		put_node(stay, node);
		j++;
	}
}

static void tree_merge_found(struct folder_gathering *g)
{
	struct kept_tree *tree = g->tree;
	struct node_array stay = { 0 }, go = { 0 };

	sort_found(g);
	prepare_found(g);
	merge_nodes(g, &stay, &go);
	/* All owners come before the first one goes: a watch that just moves is not removed. */
	for (size_t i = 0; i < g->count; i++)
		g->found[i].old_watch = swap_watch(tree, g->found[i].node, &g->found[i]);
	for (size_t i = 0; i < g->count; i++)
		if (g->found[i].old_watch > 0)
			watch_disown(&tree->watch, g->found[i].old_watch, g->found[i].node);
	for (size_t i = 0; i < go.count; i++)
		cache_node_free(tree, go.nodes[i]);
	free(go.nodes);
	free(tree->nodes);
	kept_tree_credit(tree, tree->node_count * sizeof(*tree->nodes));
	tree->nodes = stay.nodes;
	tree->node_count = stay.count;
	kept_tree_charge(tree, tree->node_count * sizeof(*tree->nodes));
	collect_repositories(tree);
	tree->linked_old = true;
	kept_tree_drop_snapshot(tree);
}

static bool is_sound(const struct kept_tree *tree)
{
	return kept_tree_fits(tree) && tree->node_count > 0 && !tree->nodes[0]->failed &&
	       tree->nodes[0]->list->path[0] == '\0';
}

/* New names may be further names of files that are known by others. */
static void check_fresh(struct folder_gathering *g)
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
	kept_tree_find_linked(g->tree, inodes, count);
}

bool kept_tree_scan_changed(struct kept_tree *tree)
{
	struct folder_gathering g = { .tree = tree };
	bool good = gather_marked(&g);

	if (good) {
		tree_merge_found(&g);
		check_fresh(&g);
		good = is_sound(tree);
	}
	gathering_release(&g);
	tree->changed = false;
	return good;
}

bool kept_tree_build(struct kept_tree *tree)
{
	struct folder_gathering g = { .tree = tree };
	bool good;

	pthread_mutex_lock(&tree->lock);
	good = watch_open(&tree->watch, tree->place.root_path);
	if (good && !tree->rules.no_git_ignore)
		kept_tree_read_global(tree);
	good = good && gather_whole(&g, "");
	if (good) {
		tree_merge_found(&g);
		good = is_sound(tree);
	}
	gathering_release(&g);
	pthread_mutex_unlock(&tree->lock);
	return good;
}
