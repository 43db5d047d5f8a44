/* SPDX-License-Identifier: Apache-2.0 */
/* The roots of a workspace, and the way from a path to a place beneath one. */
#include "file/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "file/private.h"
#include "file/temporary.h"

/* The absolute form of a path as text: "." and empty components removed, ".." kept. */
static char *absolute_text(const char *path)
{
	_cleanup_free_ char *cwd = path[0] == '/' ? mem_strdup("") : getcwd(NULL, 0);
	char *text = mem_printf("%s/%s", cwd ? cwd : "", path);
	char *out = text;

	for (const char *in = text; *in;) {
		size_t len = strcspn(in, "/");

		if (len && !(len == 1 && in[0] == '.')) {
			*out++ = '/';
			memmove(out, in, len);
			out += len;
		}
		in += len;
		in += strspn(in, "/");
	}
	*out = '\0';
	return text;
}

static bool root_open(const char *path, struct workspace_root *root, struct err *err)
{
	_cleanup_free_ char *canonical = realpath(path, NULL);

	if (!canonical)
		return err_set_errno(err, errno, "Cannot open the workspace root %s", path);
	root->fd = open(canonical, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (root->fd < 0)
		return err_set_errno(err, errno, "Cannot open the workspace root %s", path);
	root->path = mem_strdup(strcmp(canonical, "/") == 0 ? "" : canonical);
	root->alias = absolute_text(path);
	return true;
}

bool workspace_open(const char *const *roots, size_t count, struct workspace **ret,
                    struct err *err)
{
	struct workspace *ws;

	if (count == 0)
		return err_set(err, ERR_INVALID_ARGUMENT, "A workspace needs at least one root.");
	ws = mem_alloc(1, sizeof(*ws));
	ws->roots = mem_alloc(count, sizeof(*ws->roots));
	ws->cache = file_cache_new();
	for (size_t i = 0; i < count; i++) {
		ws->roots[i].fd = -1;
		ws->count = i + 1;
		if (!root_open(roots[i], &ws->roots[i], err)) {
			workspace_free(ws);
			return false;
		}
	}
	ws->own_count = count;
	*ret = ws;
	return true;
}

void workspace_add_read_only(struct workspace *ws, const char *folder)
{
	struct workspace_root root = { .fd = -1, .read_only = true };
	struct err ignored = ERR_INIT;
	const char *rest;
	size_t beneath;
	bool opened = root_open(folder, &root, &ignored);

	if (opened && !workspace_match(ws, root.path[0] ? root.path : "/", &beneath, &rest)) {
		struct workspace_root *roots = mem_alloc(ws->count + 1, sizeof(*roots));

		memcpy(roots, ws->roots, ws->count * sizeof(*roots));
		roots[ws->count++] = root;
		free(ws->roots);
		ws->roots = roots;
		return;
	}
	free(root.path);
	free(root.alias);
	if (root.fd >= 0)
		close(root.fd);
}

void workspace_free(struct workspace *ws)
{
	if (!ws)
		return;
	for (size_t i = 0; i < ws->count; i++) {
		free(ws->roots[i].path);
		free(ws->roots[i].alias);
		if (ws->roots[i].fd >= 0)
			close(ws->roots[i].fd);
	}
	free(ws->roots);
	for (size_t i = 0; i < ws->name_count; i++)
		free(ws->names[i].text);
	free(ws->names);
	file_cache_free(ws->cache);
	free(ws);
}

void workspace_name_root(struct workspace *ws, const char *name, const char *root)
{
	for (size_t i = 0; i < ws->count && name[0] == '/'; i++) {
		if (strcmp(workspace_root_path(ws, i), root) != 0)
			continue;
		ws->names = mem_grow(ws->names, &ws->name_cap, ws->name_count + 1,
		                     sizeof(*ws->names));
		ws->names[ws->name_count++] = (struct workspace_name){ mem_strdup(name), i };
		return;
	}
}

size_t workspace_root_count(const struct workspace *ws)
{
	return ws->own_count;
}

size_t workspace_folder_count(const struct workspace *ws)
{
	return ws->count;
}

bool workspace_is_read_only(const struct workspace *ws, size_t i)
{
	return ws->roots[i].read_only;
}

const char *workspace_root_path(const struct workspace *ws, size_t i)
{
	return ws->roots[i].path[0] ? ws->roots[i].path : "/";
}

int workspace_root_fd(const struct workspace *ws, size_t i)
{
	return ws->roots[i].fd;
}

/* Whether `path` begins with the components of `root`, whatever the number of slashes and
 * "." between them; returns what remains, or NULL. So "/t/proj-evil" is not in "/t/proj". */
static const char *beneath_text(const char *path, const char *root)
{
	for (;;) {
		size_t want, have;

		root += strspn(root, "/");
		path += strspn(path, "/");
		have = strcspn(path, "/");
		if (have == 1 && path[0] == '.') {
			path++;
			continue;
		}
		want = strcspn(root, "/");
		if (want == 0)
			return path;
		if (want != have || memcmp(root, path, want) != 0)
			return NULL;
		root += want;
		path += have;
	}
}

/* Takes the root if the path is beneath this spelling of it and beneath no longer one so far. */
static void try_name(const char *path, const char *name, size_t root, size_t *best_len,
                     size_t *ret_root, const char **ret_rest)
{
	const char *rest = beneath_text(path, name);

	if (!rest || (*ret_rest && strlen(name) <= *best_len))
		return;
	*best_len = strlen(name);
	*ret_root = root;
	*ret_rest = rest;
}

bool workspace_match(const struct workspace *ws, const char *path, size_t *ret_root,
                     const char **ret_rest)
{
	size_t best_len = 0;

	*ret_rest = NULL;
	for (size_t i = 0; i < ws->count; i++) {
		try_name(path, ws->roots[i].path, i, &best_len, ret_root, ret_rest);
		try_name(path, ws->roots[i].alias, i, &best_len, ret_root, ret_rest);
	}
	for (size_t i = 0; i < ws->name_count; i++)
		try_name(path, ws->names[i].text, ws->names[i].root, &best_len, ret_root, ret_rest);
	return *ret_rest != NULL;
}

/* ---- resolving a path ------------------------------------------------------------- */

/* From a path that a stranger wrote to a place beneath a root.
 *
 * Nearly every path has no link in it: one openat2 of its folder, with links refused, and one lstat
 * of the leaf. When the kernel meets a link (ELOOP), or the path has a "..", our code walks it one
 * component at a time. Each is opened without following it; a link is read through its own
 * descriptor and its text put in front of the rest, so the path checked is the path used. ".."
 * drops the last verified name and opens the rest again from the root, so it cannot be led astray
 * by a folder that was moved meanwhile.
 */

struct walk {
	const struct workspace *ws;
	const char *asked;   /* the path as given, for messages */
	enum place_kind kind;
	size_t root;
	int folder;          /* owned; the folder that `names` leads to */
	struct buf names;    /* verified components from the root, as "a/b"; no links, no ".." */
	struct buf rest;     /* what remains to be walked */
	size_t at;           /* how much of `rest` is done */
	unsigned links;
	bool want_folder;    /* the path ends in a slash */
};

static void resolve_walk_release(struct walk *walk)
{
	if (walk->folder >= 0)
		close(walk->folder);
	buf_release(&walk->names);
	buf_release(&walk->rest);
}

static bool fail_outside(const struct walk *walk, struct err *err)
{
	return err_set(err, ERR_OUTSIDE_WORKSPACE, "%s leads outside the workspace.", walk->asked);
}

static bool fail_errno(const struct walk *walk, int sys_errno, struct err *err)
{
	if (sys_errno == EXDEV)
		return fail_outside(walk, err);
	return err_set_errno(err, sys_errno, "Cannot reach %s", walk->asked);
}

/* Root path + "/" + names + "/" + missing + "/" + leaf, leaving out what is empty. */
static char *join_path(const struct walk *walk, const char *missing, const char *leaf)
{
	const char *names = walk->names.len ? walk->names.data : "";
	const char *root = walk->ws->roots[walk->root].path;

	if (!leaf)
		return mem_printf("%s%s%s", root, names[0] || !root[0] ? "/" : "", names);
	return mem_printf("%s%s%s%s%s/%s", root, names[0] ? "/" : "", names, missing ? "/" : "",
	                  missing ? missing : "", leaf);
}

/* Names of our temporaries have a meaning for recovery: no other writer may write, move or read
 * files by such a name, or an allowed name could become one that is not. */
static bool check_leaf(const struct walk *walk, const char *leaf, struct err *err)
{
	struct temporary temporary;

	if (walk->kind != PLACE_FILE || !temporary_parse(leaf, &temporary))
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "%s is a name for temporary files; choose another.", walk->asked);
}

static bool place_fill(struct walk *walk, const char *leaf, char *missing, struct place *ret)
{
	ret->root = walk->root;
	ret->cache = walk->ws->cache;
	ret->through_link = walk->links > 0;
	ret->path = join_path(walk, missing, leaf);
	ret->missing = missing;
	ret->leaf = mem_strdup(leaf ? leaf : ".");
	ret->folder = fd_steal(&walk->folder);
	return true;
}

/* Goes (back) to the folder that the first `len` bytes of `names` lead to. */
static bool walk_reopen(struct walk *walk, size_t len, struct err *err)
{
	int root = walk->ws->roots[walk->root].fd;
	int folder;

	walk->names.len = len;
	if (walk->names.data)
		walk->names.data[len] = '\0';
	folder = fd_open_beneath(root, len ? walk->names.data : ".", O_PATH | O_DIRECTORY);
	if (folder < 0)
		return fail_errno(walk, errno, err);
	if (walk->folder >= 0)
		close(walk->folder);
	walk->folder = folder;
	return true;
}

/* Length of `names` without its last component. */
static size_t parent_len(const struct walk *walk)
{
	const char *slash = NULL;

	if (walk->names.len)
		slash = memrchr(walk->names.data, '/', walk->names.len);
	return slash ? (size_t)(slash - walk->names.data) : 0;
}

/* Whether the text of `rest` from `at` has another component than ".". */
static bool walk_more(const struct walk *walk)
{
	const char *rest = walk->rest.data + walk->at;

	for (size_t len; rest += strspn(rest, "/"), (len = strcspn(rest, "/")) > 0; rest += len)
		if (!(len == 1 && rest[0] == '.'))
			return true;
	return false;
}

/* Takes the next component as an owned string; NULL at the end. "." is left out. */
static char *walk_next(struct walk *walk)
{
	for (;;) {
		const char *rest = walk->rest.data + walk->at;
		size_t slashes = strspn(rest, "/");
		size_t len = strcspn(rest + slashes, "/");

		walk->at += slashes + len;
		if (len == 0)
			return NULL;
		if (!(len == 1 && rest[slashes] == '.'))
			return mem_dup(rest + slashes, len);
	}
}

/* procfs has links that jump instead of naming (fd, root, exe); their text means nothing. */
static bool is_magic(const struct walk *walk, int link, const char *name)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };
	struct statfs fs;
	long fd;

	if (fstatfs(link, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC)
		return false;
	fd = syscall(SYS_openat2, walk->folder, name, &how, sizeof(how));
	if (fd >= 0)
		close((int)fd);
	return fd < 0 && errno == ELOOP;
}

/* Puts the text of the link in front of what remains. */
static bool walk_link(struct walk *walk, int link, const char *name, struct err *err)
{
	_cleanup_buf_ struct buf rest = BUF_INIT(2 * (size_t)LIMIT_PATH_BYTES);
	char target[LIMIT_PATH_BYTES + 1];
	ssize_t len = readlinkat(link, "", target, sizeof(target));
	const char *from = target;

	if (len < 0)
		return fail_errno(walk, errno, err);
	if (++walk->links > LIMIT_SYMLINKS)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s goes through more than %d symbolic links.", walk->asked,
		               LIMIT_SYMLINKS);
	if (len == 0 || (size_t)len >= sizeof(target) || is_magic(walk, link, name))
		return fail_outside(walk, err);
	target[len] = '\0';
	if (target[0] == '/' && !workspace_match(walk->ws, target, &walk->root, &from))
		return fail_outside(walk, err);
	if (target[len - 1] == '/' && !walk_more(walk))
		walk->want_folder = true;
	buf_str(&rest, from);
	buf_char(&rest, '/');
	buf_str(&rest, walk->rest.data + walk->at);
	if (rest.overflowed)
		return fail_errno(walk, ENAMETOOLONG, err);
	buf_release(&walk->rest);
	walk->rest = rest;
	rest = (struct buf)BUF_INIT(0);
	walk->at = 0;
	return target[0] != '/' || walk_reopen(walk, 0, err);
}

/* The rest, from the missing `name` on, becomes folders to make and a leaf. */
static bool walk_missing(struct walk *walk, const char *name, struct place *ret, struct err *err)
{
	_cleanup_buf_ struct buf missing = BUF_INIT(2 * (size_t)LIMIT_PATH_BYTES);
	_cleanup_free_ char *leaf = mem_strdup(name);

	for (char *next; (next = walk_next(walk)) != NULL;) {
		if (strcmp(next, "..") == 0) {
			free(next);
			return fail_errno(walk, ENOENT, err);
		}
		buf_printf(&missing, "%s%s", missing.len ? "/" : "", leaf);
		free(leaf);
		leaf = next;
	}
	if (walk->kind == PLACE_EXISTING || missing.overflowed)
		return fail_errno(walk, ENOENT, err);
	if (walk->want_folder)
		return err_set(err, ERR_INVALID_ARGUMENT, "%s names a folder, not a file.",
		               walk->asked);
	return place_fill(walk, leaf, missing.len ? buf_steal(&missing) : NULL, ret);
}

/* The path ended on a folder that the walk is already in: a root, or after "..". */
static bool walk_ended(struct walk *walk, struct place *ret, struct stat *leaf, struct err *err)
{
	_cleanup_free_ char *name = NULL;
	size_t parent = parent_len(walk);

	if (fstat(walk->folder, leaf) < 0)
		return fail_errno(walk, errno, err);
	if (walk->names.len == 0)
		return place_fill(walk, NULL, NULL, ret);
	name = mem_strdup(walk->names.data + parent + (parent > 0));
	return walk_reopen(walk, parent, err) && place_fill(walk, name, NULL, ret);
}

static bool walk_up(struct walk *walk, struct err *err)
{
	if (walk->names.len == 0)
		return fail_outside(walk, err);
	return walk_reopen(walk, parent_len(walk), err);
}

static bool walk_down(struct walk *walk, int *next, const char *name, struct err *err)
{
	if (!buf_printf(&walk->names, "%s%s", walk->names.len ? "/" : "", name))
		return fail_errno(walk, ENAMETOOLONG, err);
	close(walk->folder);
	walk->folder = fd_steal(next);
	return true;
}

/* One component; *done when it was the leaf. */
static bool walk_step(struct walk *walk, const char *name, struct place *ret, struct stat *leaf,
                      bool *done, struct err *err)
{
	_cleanup_fd_ int next = -1;

	if (strcmp(name, "..") == 0)
		return walk_up(walk, err);
	next = fd_open_beneath(walk->folder, name, O_PATH);
	if (next < 0 && errno == ENOENT) {
		*leaf = (struct stat){ 0 };
		*done = true;
		return walk_missing(walk, name, ret, err);
	}
	if (next < 0 || fstat(next, leaf) < 0)
		return fail_errno(walk, errno, err);
	if (S_ISLNK(leaf->st_mode))
		return walk_link(walk, next, name, err);
	if (!S_ISDIR(leaf->st_mode) && (walk_more(walk) || walk->want_folder))
		return fail_errno(walk, ENOTDIR, err);
	if (!walk_more(walk)) {
		*done = true;
		return place_fill(walk, name, NULL, ret);
	}
	return walk_down(walk, &next, name, err);
}

static bool resolve_walk_all(struct walk *walk, struct place *ret, struct stat *leaf,
                             struct err *err)
{
	bool done = false;

	if (!walk_reopen(walk, 0, err))
		return false;
	while (!done) {
		_cleanup_free_ char *name = walk_next(walk);

		if (!name)
			return walk_ended(walk, ret, leaf, err);
		if (!walk_step(walk, name, ret, leaf, &done, err))
			return false;
	}
	return true;
}

/* Whether `rest` is plain: no ".." that the kernel's answer would not be enough for. */
static bool has_dotdot(const char *rest)
{
	for (const char *at = rest; (at = strstr(at, "..")) != NULL; at += 2)
		if ((at == rest || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
			return true;
	return false;
}

/* The usual case in two system calls. False, with nothing changed, when it is not usual. */
static bool resolve_fast(struct walk *walk, const char *rest, struct place *ret,
                         struct stat *ret_leaf)
{
	const int root = walk->ws->roots[walk->root].fd;
	int folder = root;
	char *name;
	bool last = false;

	if (has_dotdot(rest) || walk->want_folder)
		return false;
	while (!last) {
		name = walk_next(walk);
		if (!name)
			return false;
		last = !walk_more(walk);
		if (!last) {
			buf_printf(&walk->names, "%s%s", walk->names.len ? "/" : "", name);
			free(name);
		}
	}
	if (walk->names.len)
		walk->folder = folder = fd_open_beneath(root, walk->names.data,
		                                        O_PATH | O_DIRECTORY);
	*ret_leaf = (struct stat){ 0 };
	if (folder >= 0 &&
	    (fstatat(folder, name, ret_leaf, AT_SYMLINK_NOFOLLOW) == 0 ?
	             !S_ISLNK(ret_leaf->st_mode) :
	             errno == ENOENT && walk->kind == PLACE_FILE)) {
		place_fill(walk, name, NULL, ret);
		ret->folder = folder;
		ret->root_folder = folder == root;
	}
	free(name);
	return ret->leaf != NULL;
}

static bool walk_start(struct walk *walk, const char *path, struct err *err)
{
	const char *rest = path;
	size_t len = strlen(path);

	if (len == 0)
		return err_set(err, ERR_INVALID_ARGUMENT, "The path is empty.");
	if (len >= LIMIT_PATH_BYTES)
		return err_set(err, ERR_INVALID_ARGUMENT, "The path is longer than %d bytes.",
		               LIMIT_PATH_BYTES);
	if (path[0] == '/' && !workspace_match(walk->ws, path, &walk->root, &rest))
		return err_set(err, ERR_OUTSIDE_WORKSPACE, "%s is outside the workspace.", path);
	walk->want_folder = path[len - 1] == '/';
	buf_str(&walk->rest, rest);
	if (!walk->rest.data)
		buf_reserve(&walk->rest, 1);
	return true;
}

bool workspace_resolve_stat(const struct workspace *ws, const char *path, enum place_kind kind,
                            struct place *ret, struct stat *ret_leaf, struct err *err)
{
	struct walk walk = { .ws = ws, .asked = path, .kind = kind, .folder = -1,
		             .names = BUF_INIT(2 * (size_t)LIMIT_PATH_BYTES),
		             .rest = BUF_INIT(2 * (size_t)LIMIT_PATH_BYTES) };
	struct place place = PLACE_INIT;
	struct stat leaf = { 0 };
	bool ok = walk_start(&walk, path, err);

	if (ok && !resolve_fast(&walk, walk.rest.data, &place, &leaf)) {
		buf_clear(&walk.names);
		walk.at = 0;
		ok = resolve_walk_all(&walk, &place, &leaf, err);
	}
	ok = ok && check_leaf(&walk, place.leaf, err);
	resolve_walk_release(&walk);
	if (!ok) {
		place_release(&place);
		return false;
	}
	*ret = place;
	*ret_leaf = leaf;
	return true;
}

bool workspace_resolve(const struct workspace *ws, const char *path, enum place_kind kind,
                       struct place *ret, struct err *err)
{
	struct stat leaf;

	return workspace_resolve_stat(ws, path, kind, ret, &leaf, err);
}
