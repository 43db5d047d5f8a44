/* SPDX-License-Identifier: Apache-2.0 */
/* Listing the files of a tree: from the cache if it has the tree, otherwise by scanning.
 *
 * Memory is bounded although folders come in no order: when twice as many files as asked for
 * have been found, those that sort first are kept, and the last of them becomes the
 * horizon; nothing past it is looked at any more.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/fd.h"
#include "base/mem.h"
#include "search/cache/cache.h"
#include "search/cache/tree_range.h"
#include "search/list.h"
#include "search/scan/scan.h"

struct tree {
	struct walker *walker;
	pthread_mutex_t lock; /* of the walker's result and the horizon */
	char *horizon;        /* owned; relative to the start; NULL: none yet */
	atomic_size_t unreadable;
	int start_errno;      /* the start folder itself could not be read */
};

static int compare_paths(const void *a, const void *b)
{
	const struct walk_entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* Keeps the `max` entries that sort first. */
static void settle(struct walker *w, size_t max)
{
	struct walk_result *result = &w->result;

	if (result->count > 1)
		qsort(result->entries, result->count, sizeof(*result->entries), compare_paths);
	while (result->count > max) {
		free(result->entries[--result->count].path);
		result->more = true;
	}
}

static bool is_past_horizon(struct tree *tree, const char *path)
{
	bool past;

	pthread_mutex_lock(&tree->lock);
	past = tree->horizon && strcmp(path, tree->horizon) > 0;
	pthread_mutex_unlock(&tree->lock);
	return past;
}

static bool enter(void *data, int fd, const char *path, size_t path_len)
{
	struct tree *tree = data;

	(void)fd;
	return path_len <= tree->walker->start_len ||
	       !is_past_horizon(tree, path + tree->walker->start_len);
}

/* Whether an include can match beneath a folder; `path` is relative to the root. */
static bool may_match_beneath(const struct walker *w, struct span path)
{
	return w->include.count == 0 ||
	       glob_list_may_match_beneath(&w->include, span_skip(path, w->start_len));
}

static enum scan_choice wanted(void *data, struct span path, bool is_folder)
{
	const struct walker *w = ((struct tree *)data)->walker;
	struct span relative = span_skip(path, w->start_len);

	if (glob_list_match(&w->exclude, relative))
		return SCAN_LEAVE_OUT;
	if (is_folder)
		return may_match_beneath(w, path) ? SCAN_TAKE : SCAN_PASS;
	return w->include.count == 0 || glob_list_match(&w->include, relative) ? SCAN_TAKE
	                                                                       : SCAN_PASS;
}

/* Adds what was found in one folder. */
static void add_all(struct tree *tree, struct walk_entry *entries, size_t count, size_t ignored)
{
	struct walker *w = tree->walker;

	pthread_mutex_lock(&tree->lock);
	w->result.ignored += ignored;
	for (size_t i = 0; i < count; i++)
		walker_add(w, entries[i].path, entries[i].kind, entries[i].size,
		           entries[i].modified_ns);
	if (w->result.count / 2 > w->max_entries) {
		settle(w, w->max_entries);
		free(tree->horizon);
		tree->horizon = mem_strdup(w->result.entries[w->result.count - 1].path);
	}
	pthread_mutex_unlock(&tree->lock);
}

/* The path of a file relative to the start. */
static char *entry_path(const struct walker *w, const char *folder, size_t folder_len,
                        const char *name)
{
	const size_t head = folder_len - w->start_len, tail = strlen(name);
	char *path = mem_alloc(head + tail + 1, 1);

	memcpy(path, folder + w->start_len, head);
	memcpy(path + head, name, tail);
	return path;
}

static bool visit(void *data, unsigned thread, const struct scan_folder *folder)
{
	struct tree *tree = data;
	_cleanup_free_ struct walk_entry *entries =
		mem_alloc(folder->file_count + 1, sizeof(*entries));
	size_t count = 0;

	(void)thread;
	for (size_t i = 0; i < folder->file_count; i++) {
		struct walk_entry *entry = &entries[count];

		if (!walker_stat(folder->fd, folder->files[i], entry) ||
		    entry->kind != ENTRY_FILE)
			continue;
		entry->path = entry_path(tree->walker, folder->path, folder->path_len,
		                         folder->files[i]);
		count++;
	}
	add_all(tree, entries, count, folder->ignored);
	return true;
}

static void failed(void *data, const char *path, int sys_errno)
{
	struct tree *tree = data;

	if (strlen(path) <= tree->walker->start_len)
		tree->start_errno = sys_errno;
	atomic_fetch_add(&tree->unreadable, 1);
}

static bool scan_tree(struct tree *tree, struct err *err)
{
	static const struct scan_visitor visitor = { enter, wanted, visit, failed };
	const struct walker *w = tree->walker;
	const struct scan scan = {
		.root = w->start->root_fd,
		.root_path = w->start->root_path,
		.start = w->start->folder,
		.rules = &w->request->rules,
		.global = w->start->global_rules,
		.visitor = &visitor,
		.data = tree,
	};

	if (!scan_run(&scan, err))
		return false;
	return tree->start_errno == 0 ||
	       err_set_errno(err, tree->start_errno, "Cannot read the folder %s",
	                     w->start->place.path);
}

/* The files of one cached folder. */
static void list_cached(struct tree *tree, const struct cached_folder *folder)
{
	struct walker *w = tree->walker;
	const size_t len = strlen(folder->path);
	_cleanup_fd_ int fd = -1;

	w->result.ignored += folder->ignored;
	for (size_t i = 0; i < folder->count; i++) {
		_cleanup_free_ char *path = entry_path(w, folder->path, len, folder->names[i]);
		struct span relative = span_str(path);
		struct walk_entry entry;

		if (glob_list_match(&w->exclude, relative)) {
			w->result.ignored++;
			continue;
		}
		if (w->include.count > 0 && !glob_list_match(&w->include, relative))
			continue;
		if (fd < 0)
			fd = chain_open(w->start->root_fd, len > 0 ? folder->path : ".",
			                O_PATH | O_DIRECTORY);
		if (walker_stat(fd, folder->names[i], &entry) && entry.kind == ENTRY_FILE)
			walker_add(w, mem_steal(&path), entry.kind, entry.size,
			           entry.modified_ns);
	}
}

/* Whether a scan would come to the folder; counts it when it is an exclude that keeps it away. */
static bool enters(struct walker *w, const char *path)
{
	struct span folder = span_str(path), above;
	const char *slash;

	if (folder.len <= w->start_len)
		return true;
	folder.len--;
	slash = memrchr(path + w->start_len, '/', folder.len - w->start_len);
	above = span_of(path, slash ? (size_t)(slash - path) + 1 : w->start_len);
	if (tree_range_excludes(&w->exclude, above, w->start_len) ||
	    (slash && !may_match_beneath(w, span_head(above, above.len - 1))))
		return false;
	if (glob_list_match(&w->exclude, span_skip(folder, w->start_len))) {
		w->result.ignored++;
		return false;
	}
	return may_match_beneath(w, folder);
}

/* False when the cache has not got the tree. */
static bool walk_cached(struct tree *tree, struct search_cache *cache)
{
	struct walker *w = tree->walker;
	struct cached_tree *cached =
		search_cache_open(cache, w->start->root, &w->request->rules);
	struct tree_range range = { 0 };
	bool found = cached && tree_range_find(cached, w->start->folder, &range);

	for (size_t i = range.begin; found && i < range.end; i++) {
		const struct cached_folder *folder = &range.folders[i];

		/* Folders come by their paths, files sort among them. */
		if (w->result.count / 2 > w->max_entries)
			settle(w, w->max_entries);
		if (enters(w, folder->path))
			list_cached(tree, folder);
	}
	if (found)
		atomic_fetch_add(&tree->unreadable, cached_tree_unreadable(cached));
	if (cached)
		search_cache_close(cache, cached);
	return found;
}

bool list_tree(struct walker *w, struct search_cache *cache, struct err *err)
{
	struct tree tree = { .walker = w };
	bool good;

	pthread_mutex_init(&tree.lock, NULL);
	good = (cache && walk_cached(&tree, cache)) || scan_tree(&tree, err);
	settle(w, w->max_entries);
	w->result.ignored += atomic_load(&tree.unreadable);
	pthread_mutex_destroy(&tree.lock);
	free(tree.horizon);
	return good;
}
