/* SPDX-License-Identifier: Apache-2.0 */
/* Watching folders, and reading them.
 *
 * A folder is watched before it is read, so that what changes later is told.
 *
 * Scans run on the calling thread alone: further threads of a scan have no access to the
 * watches (scan.h: tables of descriptors of their own).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "search/cache/cached_gather.h"
#include "search/rules/gitdir.h"
#include "search/scan/scan.h"

/* When more folders than this have changed, one scan of everything is quicker. */
enum { FEW_FOLDERS = 64 };

/* A list without files is not to let go of any. */
static void discard(struct kept_tree *tree, struct name_list *list)
{
	list->count = 0;
	name_list_unref(tree, list);
}

void found_release(struct kept_tree *tree, struct found *found)
{
	if (found->list)
		discard(tree, found->list);
	if (found->before)
		name_list_unref(tree, found->before);
	for (size_t i = 0; i < found->part_count; i++)
		discard(tree, found->parts[i]);
	free(found->parts);
	for (size_t i = 0; i < found->folder_count; i++)
		free(found->folders[i]);
	free(found->folders);
	free(found->path);
}

void gathering_release(struct gathering *g)
{
	for (size_t i = 0; i < g->count; i++)
		found_release(g->tree, &g->found[i]);
	for (size_t i = 0; i < g->replaced_count; i++)
		free(g->replaced[i]);
	free(g->found);
	free(g->replaced);
	free(g->fresh);
}

static void add_replaced(struct gathering *g, const char *path)
{
	if (g->replaced_count == g->replaced_cap)
		g->replaced = mem_grow(g->replaced, &g->replaced_cap, g->replaced_count + 1,
		                       sizeof(*g->replaced));
	g->replaced[g->replaced_count++] = mem_strdup(path);
}

/* ---- visiting ---------------------------------------------------------------- */

struct chain_base tree_chain_base(const struct kept_tree *tree)
{
	return (struct chain_base){
		.rules = &tree->rules,
		.root = tree->place.root_fd,
		.root_path = tree->place.root_path,
		.global = tree->global_rules,
	};
}

uint64_t tree_exclude_stamp(const struct kept_tree *tree, int folder, const char *path,
                            bool *ret_repository)
{
	const struct chain_base base = tree_chain_base(tree);
	const int64_t now = clock_ns(CLOCK_REALTIME);
	_cleanup_free_ char *exclude = NULL;
	struct stat st;

	*ret_repository = !tree->rules.no_git_ignore &&
	                  fstatat(folder, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (!*ret_repository)
		return 1;
	exclude = gitdir_exclude(&base, folder, span_str(path), st.st_mode);
	if (!exclude || fstatat(base.root, exclude, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 1;
	return file_stamp_settled(&st, now);
}

static struct found *add_found(struct gathering *g, const char *path)
{
	if (g->count == g->cap)
		g->found = mem_grow(g->found, &g->cap, g->count + 1, sizeof(*g->found));
	g->found[g->count] = (struct found){ .path = mem_strdup(path) };
	return &g->found[g->count++];
}

static bool enter(void *data, int fd, const char *path, size_t path_len)
{
	struct gathering *g = data;
	struct found *found = add_found(g, path);
	struct stat st;

	(void)path_len;
	g->unfit |= atomic_load(g->tree->place.stop) || !tree_fits(g->tree) || !watch_trusts(fd);
	if (g->unfit)
		return false;
	found->watch = watch_add(&g->tree->watch, fd);
	if (found->watch < 0 || fstat(fd, &st) != 0) {
		g->unfit = true;
		return false;
	}
	found->device = st.st_dev;
	found->inode = st.st_ino;
	found->stamp = file_stamp_settled(&st, clock_ns(CLOCK_REALTIME));
	found->exclude_stamp = tree_exclude_stamp(g->tree, fd, path, &found->repository);
	return true;
}

/* A folder's files come in parts, the first one right after it was entered. */
static struct found *found_of(struct gathering *g, const char *path)
{
	for (size_t i = g->count; i-- > 0;)
		if (strcmp(g->found[i].path, path) == 0)
			return &g->found[i];
	return NULL;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void found_join(struct kept_tree *tree, struct found *found)
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
	qsort(names, count, sizeof(*names), compare_names);
	list = name_list_new(tree, found->path, names, count);
	list->ignored = ignored;
	free(names);
	discard(tree, found->list);
	while (found->part_count > 0)
		discard(tree, found->parts[--found->part_count]);
	found->list = list;
}

static void add_part(struct found *found, struct name_list *part)
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

static bool visit(void *data, unsigned thread, const struct scan_folder *folder)
{
	struct gathering *g = data;
	struct found *found = found_of(g, folder->path);
	struct name_list *list;

	(void)thread;
	list = name_list_new(g->tree, folder->path, folder->files, folder->file_count);
	list->ignored = folder->ignored;
	add_part(found, list);
	if (g->one_folder && folder->first_part) {
		found->folders = mem_alloc(folder->folder_count, sizeof(char *));
		for (; found->folder_count < folder->folder_count; found->folder_count++)
			found->folders[found->folder_count] =
				mem_strdup(folder->folders[found->folder_count]);
	}
	g->unfit |= atomic_load(g->tree->place.stop) || !tree_fits(g->tree);
	return !g->unfit;
}

static void failed(void *data, const char *path, int sys_errno)
{
	struct gathering *g = data;
	struct found *found = g->count > 0 ? &g->found[g->count - 1] : NULL;

	/* It may have been entered, just before. */
	if (!found || strcmp(found->path, path) != 0)
		found = add_found(g, path);
	found->failed = true;
	/* What went away, or became something else, while it was looked for: the folder it was in
	 * hears of that by an event. */
	found->gone = sys_errno == ENOENT || sys_errno == ENOTDIR || sys_errno == ELOOP;
}

/* Scans beneath `start`. False when the tree cannot be kept. */
static bool gather(struct gathering *g, const char *start, bool one_folder)
{
	static const struct scan_visitor visitor = { enter, NULL, visit, failed };
	const struct kept_tree *tree = g->tree;
	const struct scan scan = {
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
static bool has_folder(const struct found *found, struct span name, size_t *at)
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
static void drop_lost_folders(struct gathering *g, const struct found *found)
{
	const struct kept_tree *tree = g->tree;
	const size_t len = strlen(found->path);
	size_t i = tree_lower_bound(tree, found->path), at = 0;

	while (i < tree->node_count && strncmp(tree->nodes[i]->list->path, found->path, len) == 0) {
		const char *path = tree->nodes[i]->list->path;
		const size_t name = component_len(path, len);
		_cleanup_free_ char *child = mem_dup(path, len + name);

		if (name > 0 && !has_folder(found, span_of(path + len, name), &at))
			add_replaced(g, child);
		for (i++; name > 0 && i < tree->node_count &&
		          strncmp(tree->nodes[i]->list->path, child, len + name) == 0; i++)
			;
	}
}

bool gather_whole(struct gathering *g, const char *path)
{
	add_replaced(g, path);
	return gather(g, path, /* one_folder= */ false);
}

/* Reads those folders in a changed folder that are new, or perhaps others than they were. */
static bool gather_new_folders(struct gathering *g, size_t index)
{
	size_t scans = 0;

	for (size_t i = 0; i < g->found[index].folder_count; i++) {
		const struct found *found = &g->found[index];
		_cleanup_free_ char *path = mem_printf("%s%s/", found->path, found->folders[i]);
		const struct node *node = tree_find(g->tree, path);

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

static bool gather_changed(struct gathering *g, const char *path)
{
	const size_t index = g->count;

	if (!gather(g, path, /* one_folder= */ true))
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

bool path_is_beneath(const char *path, const char *folder)
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
bool gather_marked(struct gathering *g)
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
