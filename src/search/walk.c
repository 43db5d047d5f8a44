/* SPDX-License-Identifier: Apache-2.0 */
/* Walking the workspace.
 *
 * A folder is read whole, filtered while it is read, sorted and closed again;
 * its folders are opened later by their path beneath the root.  So a walk has two
 * descriptors open however deep the tree is, and its depth is bounded by the length
 * of a path.  What is remembered is bounded too: of a folder with too many names
 * those that sort first are kept, and the result says that there is more.
 */
#include "search/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "search/chain.h"
#include "search/glob.h"

#define ENTRIES_DEFAULT 100000
/* Names kept of one folder, and of all folders that are not done, at least: a
 * small max_entries must not make a walk blind. */
#define FOLDER_NAMES ((size_t)100000)
#define PENDING_NAMES ((size_t)1000000)

struct item {
	char *name; /* owned */
	enum entry_kind kind;
	uint64_t size;
	int64_t modified_ns;
};

/* A folder on the way from the start to where the walk is. */
struct level {
	struct item *items; /* owned, sorted; those before `next` are done */
	size_t count, cap, next;
	size_t path_len; /* of the folder's path in walker.path, with its '/' */
	struct chain_mark mark;
};

struct glob_list {
	struct glob **globs; /* owned */
	size_t count;
};

struct walker {
	const struct walk_request *request;
	struct glob_list include, exclude;
	struct chain chain;
	int root;         /* borrowed: the descriptor of the workspace root */
	struct buf path;  /* where the walk is, relative to the root */
	size_t start_len; /* bytes of it that are the folder asked for, with its '/' */
	struct level *levels; /* owned */
	size_t depth, level_cap;
	size_t pending; /* items of all levels */
	size_t max_entries;
	struct walk_result result;
	size_t entry_cap;
};

static void level_release(struct level *level)
{
	for (size_t i = 0; i < level->count; i++)
		free(level->items[i].name);
	free(level->items);
}

void walk_result_release(struct walk_result *result)
{
	for (size_t i = 0; i < result->count; i++)
		free(result->entries[i].path);
	free(result->entries);
	free(result->folder);
	*result = (struct walk_result){ 0 };
}

static void glob_list_release(struct glob_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		glob_free(list->globs[i]);
	free(list->globs);
}

static void walker_release(struct walker *w)
{
	while (w->depth > 0)
		level_release(&w->levels[--w->depth]);
	free(w->levels);
	glob_list_release(&w->include);
	glob_list_release(&w->exclude);
	chain_release(&w->chain);
	buf_release(&w->path);
	walk_result_release(&w->result);
}

static bool globs_compile(struct glob_list *list, const char *const *texts, size_t count,
                          bool whole_folders, struct err *err)
{
	list->globs = mem_alloc(count, sizeof(struct glob *));
	for (; list->count < count; list->count++) {
		struct span text = span_str(texts[list->count]);

		/* To leave out all of a folder is to leave out the folder. */
		if (whole_folders && text.len > 3 && span_ends(text, SPAN("/**")))
			text.len -= 3;
		if (!glob_compile(text, GLOB_BASENAME, &list->globs[list->count], err))
			return false;
	}
	return true;
}

static bool globs_match(const struct glob_list *list, struct span path)
{
	for (size_t i = 0; i < list->count; i++) {
		if (glob_match(list->globs[i], path))
			return true;
	}
	return false;
}

static bool globs_may_match_beneath(const struct glob_list *list, struct span path)
{
	for (size_t i = 0; i < list->count; i++) {
		if (glob_may_match_beneath(list->globs[i], path))
			return true;
	}
	return false;
}

/* Whether an entry of the folder in w->path is part of the answer, or leads to it. */
static bool item_wanted(struct walker *w, const char *name, enum entry_kind kind)
{
	const bool recursive = w->request->recursive, is_folder = kind == ENTRY_FOLDER;
	const size_t folder_len = w->path.len;
	struct span path, relative;
	bool wanted = false;

	if (w->request->hidden_out && name[0] == '.')
		return false;
	if (recursive && (strcmp(name, ".git") == 0 || (!is_folder && kind != ENTRY_FILE)))
		return false;
	if (!buf_str(&w->path, name))
		return false;
	path = buf_view(&w->path);
	relative = span_skip(path, w->start_len);
	if (chain_ignores(&w->chain, path, is_folder) || globs_match(&w->exclude, relative))
		w->result.ignored++;
	else if (w->include.count == 0)
		wanted = true;
	else if (is_folder)
		wanted = !recursive || globs_may_match_beneath(&w->include, relative);
	else
		wanted = globs_match(&w->include, relative);
	w->path.len = folder_len;
	return wanted;
}

/* Folders sort as if their names ended in '/', so that whole paths come sorted. */
static int compare_by_path(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	size_t i = 0;
	int cx, cy;

	while (x->name[i] && x->name[i] == y->name[i])
		i++;
	cx = x->name[i] ? (unsigned char)x->name[i] : x->kind == ENTRY_FOLDER ? '/' : 0;
	cy = y->name[i] ? (unsigned char)y->name[i] : y->kind == ENTRY_FOLDER ? '/' : 0;
	return cx - cy;
}

static int compare_folders_first(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if ((x->kind == ENTRY_FOLDER) != (y->kind == ENTRY_FOLDER))
		return x->kind == ENTRY_FOLDER ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Sorts the items and keeps the first `max`. */
static void level_settle(struct walker *w, struct level *level, size_t max)
{
	if (level->count > 1)
		qsort(level->items, level->count, sizeof(*level->items),
		      w->request->recursive ? compare_by_path : compare_folders_first);
	while (level->count > max) {
		free(level->items[--level->count].name);
		w->result.more = true;
	}
}

static enum entry_kind kind_of_mode(mode_t mode)
{
	if (S_ISREG(mode))
		return ENTRY_FILE;
	if (S_ISDIR(mode))
		return ENTRY_FOLDER;
	return S_ISLNK(mode) ? ENTRY_LINK : ENTRY_OTHER;
}

/* False when the entry is gone. */
static bool kind_of_entry(int folder, const struct dirent *entry, enum entry_kind *ret)
{
	struct stat st;

	if (entry->d_type == DT_UNKNOWN) {
		if (fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			return false;
		*ret = kind_of_mode(st.st_mode);
	} else {
		*ret = kind_of_mode(DTTOIF(entry->d_type));
	}
	return true;
}

static bool is_dot_name(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* Fills the level from an open folder. False with errno set when it cannot be read. */
static bool level_read(struct walker *w, DIR *dir, struct level *level)
{
	const size_t max = w->max_entries > FOLDER_NAMES ? w->max_entries : FOLDER_NAMES;
	const struct dirent *entry;

	while (errno = 0, (entry = readdir(dir)) != NULL) {
		struct item item = { 0 };

		if (is_dot_name(entry->d_name) || !kind_of_entry(dirfd(dir), entry, &item.kind) ||
		    !item_wanted(w, entry->d_name, item.kind))
			continue;
		item.name = mem_strdup(entry->d_name);
		if (level->count == level->cap)
			level->items = mem_grow(level->items, &level->cap, level->count + 1,
			                        sizeof(*level->items));
		level->items[level->count++] = item;
		if (level->count >= 2 * max + 2)
			level_settle(w, level, max + 1);
	}
	if (errno != 0)
		return false;
	level_settle(w, level, max + 1);
	return true;
}

/* Fills in sizes and times; what is gone or has become something else is dropped. */
static void level_stat(const struct walker *w, int folder, struct level *level)
{
	size_t kept = 0;

	for (size_t i = 0; i < level->count; i++) {
		struct item *item = &level->items[i];
		struct stat st;

		if (!w->request->recursive || item->kind != ENTRY_FOLDER) {
			if (fstatat(folder, item->name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
			    kind_of_mode(st.st_mode) != item->kind) {
				free(item->name);
				continue;
			}
			item->size = item->kind == ENTRY_FILE ? (uint64_t)st.st_size : 0;
			item->modified_ns =
				(int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		}
		level->items[kept++] = *item;
	}
	level->count = kept;
}

/* Reads the folder in w->path (which ends with '/' unless it is the root) and
 * makes it the deepest level. False with errno set. Takes `fd` over. */
static bool level_push(struct walker *w, int fd)
{
	struct level level = { .path_len = w->path.len };
	DIR *dir = fdopendir(fd);
	int saved;

	if (!dir) {
		saved = errno;
		close(fd);
		errno = saved;
		return false;
	}
	level.mark = chain_enter(&w->chain, fd, buf_view(&w->path));
	if (!level_read(w, dir, &level)) {
		saved = errno;
		chain_leave(&w->chain, level.mark);
		level_release(&level);
		closedir(dir);
		errno = saved;
		return false;
	}
	level_stat(w, fd, &level);
	closedir(dir);
	if (w->depth == w->level_cap)
		w->levels = mem_grow(w->levels, &w->level_cap, w->depth + 1, sizeof(*w->levels));
	w->levels[w->depth++] = level;
	w->pending += level.count;
	return true;
}

static void level_pop(struct walker *w)
{
	struct level *level = &w->levels[--w->depth];

	w->pending -= level->count;
	chain_leave(&w->chain, level->mark);
	level_release(level);
}

/* Errors that are the process's, not the folder's. */
static bool is_fatal(int sys_errno)
{
	return sys_errno == EMFILE || sys_errno == ENFILE || sys_errno == ENOMEM ||
	       sys_errno == EIO;
}

/* Goes into the folder in w->path. Folders that cannot be read are counted and left. */
static bool enter_folder(struct walker *w, struct err *err)
{
	int fd;

	if (w->pending > PENDING_NAMES + w->max_entries) {
		w->result.more = true;
		return true;
	}
	fd = chain_open(w->root, w->path.data, O_RDONLY | O_DIRECTORY);
	if (fd >= 0) {
		buf_char(&w->path, '/');
		if (level_push(w, fd))
			return true;
	}
	if (is_fatal(errno))
		return err_set_errno(err, errno, "Cannot read the folder %s", w->path.data);
	w->result.ignored++;
	return true;
}

/* False when the result is full. */
static bool add_entry(struct walker *w, const struct item *item)
{
	struct walk_result *result = &w->result;

	if (result->count == w->max_entries) {
		result->more = true;
		return false;
	}
	if (result->count == w->entry_cap)
		result->entries = mem_grow(result->entries, &w->entry_cap, result->count + 1,
		                           sizeof(*result->entries));
	result->entries[result->count++] = (struct walk_entry){
		.path = mem_dup(w->path.data + w->start_len, w->path.len - w->start_len),
		.kind = item->kind,
		.size = item->size,
		.modified_ns = item->modified_ns,
	};
	return true;
}

static bool walk_levels(struct walker *w, struct err *err)
{
	while (w->depth > 0) {
		struct level *level = &w->levels[w->depth - 1];
		const struct item *item;

		if (level->next == level->count) {
			level_pop(w);
			continue;
		}
		item = &level->items[level->next++];
		w->path.len = level->path_len;
		if (!buf_str(&w->path, item->name))
			return err_set(err, ERR_INTERNAL, "A path grew while it was walked.");
		if (w->request->recursive && item->kind == ENTRY_FOLDER) {
			if (!enter_folder(w, err))
				return false;
		} else if (!add_entry(w, item)) {
			return true;
		}
	}
	return true;
}

/* Puts the start's path beneath the root into w->path, and reads the ignore files
 * of the folders above it. */
static bool approach(struct walker *w, const char *root_path, const char *path, struct err *err)
{
	size_t root_len = strlen(root_path);
	struct span rest;

	while (root_len > 0 && root_path[root_len - 1] == '/')
		root_len--;
	rest = span_skip(span_str(path), root_len);
	while (span_starts(rest, SPAN("/")))
		rest = span_skip(rest, 1);
	while (rest.len > 0) {
		const char *slash = memchr(rest.data, '/', rest.len);
		size_t len = slash ? (size_t)(slash - rest.data) : rest.len;
		_cleanup_fd_ int fd = chain_open(w->root, w->path.len > 0 ? w->path.data : ".",
		                                 O_RDONLY | O_DIRECTORY);

		/* A folder that may be crossed but not read can have ignore files as well. */
		if (fd < 0)
			fd = chain_open(w->root, w->path.len > 0 ? w->path.data : ".",
			                O_PATH | O_DIRECTORY);
		if (fd >= 0)
			chain_enter(&w->chain, fd, buf_view(&w->path));
		buf_span(&w->path, span_head(rest, len));
		if (!buf_char(&w->path, '/'))
			return err_set(err, ERR_INVALID_ARGUMENT, "The path is too long: %s", path);
		rest = span_skip(rest, slash ? len + 1 : len);
	}
	w->start_len = w->path.len;
	return true;
}

static bool walk_run(struct walker *w, const struct workspace *ws, struct err *err)
{
	const struct walk_request *request = w->request;
	_cleanup_place_ struct place place = PLACE_INIT;
	int fd;

	if (!globs_compile(&w->include, request->include, request->include_count, false, err) ||
	    !globs_compile(&w->exclude, request->exclude, request->exclude_count,
	                   request->recursive, err))
		return false;
	if (!workspace_resolve(ws, request->path, PLACE_EXISTING, &place, err))
		return false;
	w->root = workspace_root_fd(ws, place.root);
	if (!approach(w, workspace_root_path(ws, place.root), place.path, err))
		return false;
	fd = place_open(&place, O_RDONLY | O_DIRECTORY);
	if (fd < 0 || !level_push(w, fd))
		return err_set_errno(err, errno, "Cannot read the folder %s", place.path);
	if (!walk_levels(w, err))
		return false;
	w->result.folder = mem_steal(&place.path);
	return true;
}

bool walk(const struct workspace *ws, const struct walk_request *request,
          struct walk_result *ret, struct err *err)
{
	struct walker walker = {
		.request = request,
		.chain = { .git = !request->no_git_ignore, .gemini = !request->no_gemini_ignore },
		/* The kernel opens no longer path, and a name in it is at most 255 bytes. */
		.path = BUF_INIT(LIMIT_PATH_BYTES + 512),
		.max_entries = request->max_entries > 0 ? request->max_entries : ENTRIES_DEFAULT,
	};
	bool good = walk_run(&walker, ws, err);

	if (good) {
		*ret = walker.result;
		walker.result = (struct walk_result){ 0 };
	}
	walker_release(&walker);
	return good;
}
