/* SPDX-License-Identifier: Apache-2.0 */
/* Where a walk or search begins, listing a folder or a tree, and whether a file is ignored. */
#include "search/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "search/cache/cache.h"
#include "search/private.h"
#include "search/rules/glob.h"
#include "search/scan/scan.h"

/* ---- where a walk begins ---- */

void walk_start_release(struct walk_start *start)
{
	place_release(&start->place);
	free(start->folder);
	ignore_free(start->global_rules);
	global_ignore_free(start->global);
	*start = (struct walk_start)START_INIT;
}

/* The place's path beneath the root; the folder part of it for a file. */
static char *start_folder(const struct walk_start *start)
{
	struct span root = span_str(start->root_path), rest;

	while (span_ends(root, SPAN("/")))
		root.len--;
	rest = span_skip(span_str(start->place.path), root.len);
	while (span_starts(rest, SPAN("/")))
		rest = span_skip(rest, 1);
	if (start->is_file) {
		const char *slash = rest.len > 0 ? memrchr(rest.data, '/', rest.len) : NULL;

		return mem_dup(rest.data ? rest.data : "",
		               slash ? (size_t)(slash - rest.data) + 1 : 0);
	}
	return rest.len > 0 ? mem_printf("%.*s/", (int)rest.len, rest.data) : mem_strdup("");
}

/* A folder is opened, to know that it can be read; a file only looked at. */
static bool start_look(struct walk_start *start, struct err *err)
{
	_cleanup_fd_ int fd = place_open(&start->place, O_PATH);
	_cleanup_fd_ int folder = -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return err_set_errno(err, errno, "Cannot look at %s", start->place.path);
	start->mode = st.st_mode;
	start->is_file = !S_ISDIR(st.st_mode);
	if (start->is_file)
		return S_ISREG(st.st_mode) ||
		       err_set(err, ERR_NOT_A_FILE, "%s is neither a folder nor a regular file.",
		               start->place.path);
	folder = place_open(&start->place, O_RDONLY | O_DIRECTORY);
	return folder >= 0 ||
	       err_set_errno(err, errno, "Cannot read the folder %s", start->place.path);
}

bool walk_start_find(struct walk_start *start, const struct workspace *ws, const char *path,
                     const struct walk_rules *rules, struct err *err)
{
	if (!workspace_resolve(ws, path, PLACE_EXISTING, &start->place, err))
		return false;
	start->root = start->place.root;
	start->root_fd = workspace_root_fd(ws, start->root);
	start->root_path = workspace_root_path(ws, start->root);
	if (!start_look(start, err))
		return false;
	start->folder = start_folder(start);
	if (!rules->no_git_ignore) {
		start->global = global_ignore_read();
		if (global_ignore_text(start->global).len > 0)
			start->global_rules = ignore_parse(global_ignore_text(start->global));
	}
	return true;
}

/* What a chain of this start is based on. */
static struct chain_base start_base(const struct walk_start *start, const struct walk_rules *rules)
{
	return (struct chain_base){
		.rules = rules,
		.root = start->root_fd,
		.root_path = start->root_path,
		.global = start->global_rules,
	};
}

/* ---- a walk ---- */

/* What both work on. */
struct walker {
	const struct walk_request *request;
	const struct walk_start *start;
	struct glob_list include, exclude; /* owned */
	size_t start_len;                  /* bytes of start->folder */
	size_t max_entries;
	struct walk_result result;         /* being made */
	size_t entry_cap;
};

/* ---- listing one folder ---- */

/* Appends an entry; takes `path` over. */
static void walker_add(struct walker *w, char *path, enum entry_kind kind, uint64_t size,
                       int64_t modified_ns)
{
	struct walk_result *result = &w->result;

	if (result->count == w->entry_cap)
		result->entries = mem_grow(result->entries, &w->entry_cap, result->count + 1,
		                           sizeof(*result->entries));
	result->entries[result->count++] =
		(struct walk_entry){ path, kind, size, modified_ns };
}

/* Looks an entry up; false when it no longer exists. */
static bool walker_stat(int folder, const char *name, struct walk_entry *ret)
{
	static const enum entry_kind kinds[] = {
		[ENTRY_TYPE_FILE] = ENTRY_FILE,
		[ENTRY_TYPE_FOLDER] = ENTRY_FOLDER,
		[ENTRY_TYPE_LINK] = ENTRY_LINK,
		[ENTRY_TYPE_OTHER] = ENTRY_OTHER,
	};
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	ret->kind = kinds[scan_type_of_mode(st.st_mode)];
	ret->size = ret->kind == ENTRY_FILE ? (uint64_t)st.st_size : 0;
	ret->modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return true;
}

static int compare_folders_first(const void *a, const void *b)
{
	const struct walk_entry *x = a, *y = b;

	if ((x->kind == ENTRY_FOLDER) != (y->kind == ENTRY_FOLDER))
		return x->kind == ENTRY_FOLDER ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Whether the entry, whose path beneath the root is in `path`, is part of the answer. */
static bool walker_takes(struct walker *w, const struct chain_base *base, const struct chain *chain,
                         struct span path, bool is_folder)
{
	struct span relative = span_skip(path, w->start_len);

	if (chain_ignores(base, chain, path, is_folder) ||
	    glob_list_match(&w->exclude, relative)) {
		w->result.ignored++;
		return false;
	}
	return w->include.count == 0 || is_folder || glob_list_match(&w->include, relative);
}

static void walker_filter(struct walker *w, int fd, const struct listing *listing,
                          const struct chain_base *base, const struct chain *chain)
{
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_PATH_BYTES + 512);

	buf_str(&path, w->start->folder);
	for (size_t i = 0; i < listing->count; i++) {
		const struct listing_entry *entry = &listing->entries[i];
		struct walk_entry found;

		path.len = w->start_len;
		if ((base->rules->hidden_out && entry->name[0] == '.') ||
		    !buf_append(&path, entry->name, entry->len) ||
		    !walker_takes(w, base, chain, buf_view(&path),
		                  entry->type == ENTRY_TYPE_FOLDER) ||
		    !walker_stat(fd, entry->name, &found))
			continue;
		walker_add(w, mem_dup(entry->name, entry->len), found.kind, found.size,
		           found.modified_ns);
	}
}

/* The entries of one folder, folders first. */
static bool list_folder(struct walker *w, struct err *err)
{
	const struct walk_start *start = w->start;
	const struct chain_base base = start_base(start, &w->request->rules);
	_cleanup_fd_ int fd = place_open(&start->place, O_RDONLY | O_DIRECTORY);
	struct listing listing = { 0 };
	struct chain *above, *chain;
	struct walk_result *result;

	if (fd < 0 || !scan_listing_read(&listing, fd)) {
		scan_listing_release(&listing);
		return err_set_errno(err, errno, "Cannot read the folder %s", start->place.path);
	}
	above = chain_approach(&base, start->folder);
	chain = chain_enter(&base, above, fd, span_str(start->folder), CHAIN_LOOK);
	walker_filter(w, fd, &listing, &base, chain);
	chain_unref(chain);
	chain_unref(above);
	scan_listing_release(&listing);
	result = &w->result;
	if (result->count > 1)
		qsort(result->entries, result->count, sizeof(*result->entries),
		      compare_folders_first);
	while (result->count > w->max_entries) {
		free(result->entries[--result->count].path);
		result->more = true;
	}
	return true;
}

/* ---- listing the files of a tree ---- */

/* From the cache if it has the tree, otherwise by scanning.
 *
 * Memory is bounded although folders come in no order: when twice as many files as asked for
 * have been found, those that sort first are kept, and the last of them becomes the
 * horizon; nothing past it is looked at any more. */

struct walk_tree {
	struct walker *walker;
	pthread_mutex_t lock; /* of the walker's result and the horizon */
	char *horizon;        /* owned; relative to the start; NULL: none yet */
	atomic_size_t unreadable;
	int start_errno;      /* the start folder itself could not be read */
};

static int compare_entry_paths(const void *a, const void *b)
{
	const struct walk_entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* Keeps the `max` entries that sort first. */
static void settle_listing(struct walker *w, size_t max)
{
	struct walk_result *result = &w->result;

	if (result->count > 1)
		qsort(result->entries, result->count, sizeof(*result->entries),
		      compare_entry_paths);
	while (result->count > max) {
		free(result->entries[--result->count].path);
		result->more = true;
	}
}

static bool is_past_horizon(struct walk_tree *tree, const char *path)
{
	bool past;

	pthread_mutex_lock(&tree->lock);
	past = tree->horizon && strcmp(path, tree->horizon) > 0;
	pthread_mutex_unlock(&tree->lock);
	return past;
}

static bool enter_for_walk(void *data, int fd, const char *path, size_t path_len)
{
	struct walk_tree *tree = data;

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

static enum scan_choice wanted_by_walk(void *data, struct span path, bool is_folder)
{
	const struct walker *w = ((struct walk_tree *)data)->walker;
	struct span relative = span_skip(path, w->start_len);

	if (glob_list_match(&w->exclude, relative))
		return SCAN_LEAVE_OUT;
	if (is_folder)
		return may_match_beneath(w, path) ? SCAN_TAKE : SCAN_PASS;
	return w->include.count == 0 || glob_list_match(&w->include, relative) ? SCAN_TAKE
	                                                                       : SCAN_PASS;
}

/* Adds what was found in one folder. */
static void tree_add_entries(struct walk_tree *tree, struct walk_entry *entries, size_t count,
                             size_t ignored)
{
	struct walker *w = tree->walker;

	pthread_mutex_lock(&tree->lock);
	w->result.ignored += ignored;
	for (size_t i = 0; i < count; i++)
		walker_add(w, entries[i].path, entries[i].kind, entries[i].size,
		           entries[i].modified_ns);
	if (w->result.count / 2 > w->max_entries) {
		settle_listing(w, w->max_entries);
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

static bool visit_for_walk(void *data, unsigned thread, const struct scan_folder *folder)
{
	struct walk_tree *tree = data;
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
	tree_add_entries(tree, entries, count, folder->ignored);
	return true;
}

static void failed_in_walk(void *data, const char *path, int sys_errno)
{
	struct walk_tree *tree = data;

	if (strlen(path) <= tree->walker->start_len)
		tree->start_errno = sys_errno;
	atomic_fetch_add(&tree->unreadable, 1);
}

static bool scan_tree(struct walk_tree *tree, struct err *err)
{
	static const struct scan_visitor visitor = {
		enter_for_walk, wanted_by_walk, visit_for_walk, failed_in_walk
	};
	const struct walker *w = tree->walker;
	const struct tree_scan scan = {
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
static void list_cached(struct walk_tree *tree, const struct cached_folder *folder)
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
	if (cache_range_excludes(&w->exclude, above, w->start_len) ||
	    (slash && !may_match_beneath(w, span_head(above, above.len - 1))))
		return false;
	if (glob_list_match(&w->exclude, span_skip(folder, w->start_len))) {
		w->result.ignored++;
		return false;
	}
	return may_match_beneath(w, folder);
}

/* False when the cache has not got the tree. */
static bool walk_cached(struct walk_tree *tree, struct search_cache *cache)
{
	struct walker *w = tree->walker;
	struct cached_tree *cached =
		search_cache_open(cache, w->start->root, &w->request->rules);
	struct tree_range range = { 0 };
	bool found = cached && cache_range_find(cached, w->start->folder, &range);

	for (size_t i = range.begin; found && i < range.end; i++) {
		const struct cached_folder *folder = &range.folders[i];

		/* Folders come by their paths, files sort among them. */
		if (w->result.count / 2 > w->max_entries)
			settle_listing(w, w->max_entries);
		if (enters(w, folder->path))
			list_cached(tree, folder);
	}
	if (found)
		atomic_fetch_add(&tree->unreadable, cached_tree_unreadable(cached));
	if (cached)
		search_cache_close(cache, cached);
	return found;
}

/* The files of a tree, in the order of their paths. */
static bool list_tree(struct walker *w, struct search_cache *cache, struct err *err)
{
	struct walk_tree tree = { .walker = w };
	bool good;

	pthread_mutex_init(&tree.lock, NULL);
	good = (cache && walk_cached(&tree, cache)) || scan_tree(&tree, err);
	settle_listing(w, w->max_entries);
	w->result.ignored += atomic_load(&tree.unreadable);
	pthread_mutex_destroy(&tree.lock);
	free(tree.horizon);
	return good;
}

/* ---- walking ---- */

#define ENTRIES_DEFAULT 100000

void walk_result_release(struct walk_result *result)
{
	for (size_t i = 0; i < result->count; i++)
		free(result->entries[i].path);
	free(result->entries);
	free(result->folder);
	free(result->denied_why);
	*result = (struct walk_result){ 0 };
}

static bool compile_globs(struct walker *w, struct err *err)
{
	const struct walk_request *request = w->request;
	const unsigned flags =
		GLOB_BASENAME | (request->ignore_case ? (unsigned)GLOB_IGNORE_CASE : 0);

	return glob_list_add(&w->include, request->include, request->include_count, flags,
	                     /* whole_folders= */ false, err) &&
	       glob_list_add(&w->exclude, request->exclude, request->exclude_count, flags,
	                     /* whole_folders= */ request->recursive, err);
}

static bool run_walk(struct walker *w, struct search_cache *cache, struct err *err)
{
	if (!compile_globs(w, err))
		return false;
	if (w->start->is_file)
		return err_set(err, ERR_NOT_A_DIRECTORY, "%s is not a folder.",
		               w->start->place.path);
	w->start_len = strlen(w->start->folder);
	return w->request->recursive ? list_tree(w, cache, err) : list_folder(w, err);
}

bool walk(const struct workspace *ws, struct search_cache *cache,
          const struct walk_request *request, struct walk_result *ret, struct err *err)
{
	_cleanup_start_ struct walk_start start = START_INIT;
	struct walker walker = {
		.request = request,
		.start = &start,
		.max_entries = request->max_entries > 0 ? request->max_entries : ENTRIES_DEFAULT,
	};
	bool good = walk_start_find(&start, ws, request->path, &request->rules, err) &&
	            run_walk(&walker, cache, err);

	if (good) {
		*ret = walker.result;
		ret->folder = mem_steal(&start.place.path);
	} else {
		walk_result_release(&walker.result);
	}
	glob_list_release(&walker.include);
	glob_list_release(&walker.exclude);
	return good;
}

/* ---- one file by its name ---- */

bool search_nothing_ignored(const struct workspace *ws, const struct walk_rules *rules)
{
	if (!rules->no_git_ignore || rules->ignore_file_count > 0)
		return false;
	if (rules->no_gemini_ignore)
		return true;
	/* Asked before every read. For faccessat the kernel would copy the credentials. */
	for (size_t i = 0; i < workspace_folder_count(ws); i++) {
		int root = workspace_root_fd(ws, i);
		struct stat st;

		if (fstatat(root, ".geminiignore", &st, AT_SYMLINK_NOFOLLOW) == 0)
			return false;
	}
	return true;
}

/* From the root down: a folder that is ignored takes all in it along, whatever files there say. */
static bool decided(const struct chain_base *base, const char *path, bool is_folder)
{
	struct chain *chain = NULL;
	const char *end = path;
	bool ignores = false;

	for (const char *at = path; !ignores && *at; at = end + (*end == '/')) {
		_cleanup_free_ char *above = at > path ? mem_dup(path, (size_t)(at - path))
		                                       : mem_strdup(".");
		_cleanup_fd_ int folder = chain_open(base->root, above, O_RDONLY | O_DIRECTORY);
		struct chain *outer = chain;

		if (folder >= 0) {
			chain = chain_enter(base, outer, folder,
			                    span_of(path, (size_t)(at - path)), CHAIN_LOOK);
			chain_unref(outer);
		}
		end = strchrnul(at, '/');
		ignores = chain_ignores(base, chain, span_of(path, (size_t)(end - path)),
		                        *end == '/' || is_folder);
	}
	chain_unref(chain);
	return ignores;
}

bool search_ignored(const struct workspace *ws, const char *path, const struct walk_rules *rules)
{
	_cleanup_start_ struct walk_start start = START_INIT;
	struct err err = ERR_INIT;
	struct chain_base base;
	_cleanup_free_ char *whole = NULL;

	if (search_nothing_ignored(ws, rules) || !walk_start_find(&start, ws, path, rules, &err))
		return false;
	base = start_base(&start, rules);
	whole = mem_printf("%s%s", start.folder, start.is_file ? start.place.leaf : "");
	return decided(&base, whole, !start.is_file);
}
