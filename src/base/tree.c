/* SPDX-License-Identifier: Apache-2.0 */
/* Whole folders, copied and removed. */
#include "base/door.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/span.h"

enum {
	TREE_FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
	TREE_PIECE = 128 << 10,      /* bytes per copy */
	TREE_REMOVE_DEPTH_MAX = 512, /* what programs may have made since */
};

/* ---- copying ------------------------------------------------------------------------ */

struct tree_copying {
	const char *from; /* for messages */
	size_t files;     /* folders and links count, too */
	uint64_t bytes;
	tree_file *seen;  /* nothing is copied, files are only reported; or NULL */
	void *data;       /* for `seen` */
	struct buf path;  /* where it is, for `seen`: "folder/" */
};

static bool tree_copy_folder(struct tree_copying *copying, int from, int to, unsigned depth,
                        struct err *err);

static bool count_entry(struct tree_copying *copying, const char *name, struct err *err)
{
	return ++copying->files <= LIMIT_TREE_FILES ||
	       err_set(err, ERR_TOO_LARGE, "%s has more than %zu files (%.100s is one too many).",
	               copying->from, (size_t)LIMIT_TREE_FILES, name);
}

static bool count_bytes(struct tree_copying *copying, uint64_t more, struct err *err)
{
	return (more <= LIMIT_TREE_BYTES && copying->bytes + more <= LIMIT_TREE_BYTES) ||
	       err_set(err, ERR_TOO_LARGE, "%s has more than %zu bytes.", copying->from,
	               (size_t)LIMIT_TREE_BYTES);
}

/* What is read counts, not what the file was said to have. */
static bool copy_bytes(struct tree_copying *copying, int from, int to, struct err *err)
{
	_cleanup_free_ char *piece = mem_alloc(TREE_PIECE, 1);

	for (;;) {
		ssize_t got = fd_read_full(from, piece, TREE_PIECE);

		if (got < 0)
			return err_set_errno(err, errno, "Cannot read a file of %s", copying->from);
		if (!got)
			return true;
		if (!count_bytes(copying, (uint64_t)got, err))
			return false;
		copying->bytes += (uint64_t)got;
		if (!fd_write_all(to, piece, (size_t)got))
			return err_set_errno(err, errno, "Cannot write the copy of %s",
			                     copying->from);
	}
}

static bool tree_copy_file(struct tree_copying *copying, int from, int to, const char *name,
                      struct err *err)
{
	_cleanup_fd_ int in = openat(from, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY |
	                                         O_CLOEXEC);
	_cleanup_fd_ int out = -1;
	struct stat status;

	if (in < 0 || fstat(in, &status) != 0)
		return err_set_errno(err, errno, "Cannot read %s of %s", name, copying->from);
	if (!S_ISREG(status.st_mode))
		return err_set(err, ERR_INVALID_ARGUMENT, "%.100s in %s is no regular file.", name,
		               copying->from);
	if (!count_bytes(copying, (uint64_t)status.st_size, err))
		return false;
	if (copying->seen) {
		copying->bytes += (uint64_t)status.st_size;
		copying->seen(copying->data, copying->path.data);
		return true;
	}
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	             status.st_mode & S_IXUSR ? 0755 : 0644);
	if (out < 0)
		return err_set_errno(err, errno, "Cannot make the copy of %s", name);
	return copy_bytes(copying, in, out, err);
}

/* target = *"../" *(name "/"), with no more of the former than the link is deep: whatever links the
 * names are, each of them stays inside by the same rule. */
bool tree_link_stays(struct span target, unsigned depth)
{
	bool down = false;

	if (!target.len || target.data[0] == '/')
		return false;
	while (target.len) {
		const char *slash = memchr(target.data, '/', target.len);
		const size_t len = slash ? (size_t)(slash - target.data) : target.len;
		const struct span name = span_head(target, len);

		target = span_skip(target, len + 1);
		if (!name.len || span_eq(name, SPAN(".")))
			continue;
		if (!span_eq(name, SPAN("..")))
			down = true;
		else if (down || !depth--)
			return false;
	}
	return true;
}

static bool tree_copy_link(struct tree_copying *copying, int from, int to, const char *name,
                      unsigned depth, struct err *err)
{
	char target[PATH_MAX];
	const ssize_t len = readlinkat(from, name, target, sizeof(target) - 1);

	if (len < 0)
		return err_set_errno(err, errno, "Cannot read the link %s", name);
	target[len] = '\0';
	if (!tree_link_stays(span_of(target, (size_t)len), depth))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The link %.100s in %s leads out of it.", name, copying->from);
	if (copying->seen) {
		copying->seen(copying->data, copying->path.data);
		return true;
	}
	return symlinkat(target, to, name) == 0 ||
	       err_set_errno(err, errno, "Cannot make the link %s", name);
}

static bool copy_entry(struct tree_copying *copying, int from, int to, const char *name,
                       unsigned depth, struct err *err)
{
	_cleanup_fd_ int in = -1, out = -1;
	struct stat status;

	if (fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return err_set_errno(err, errno, "Cannot look at %s of %s", name, copying->from);
	if (!count_entry(copying, name, err))
		return false;
	if (S_ISLNK(status.st_mode))
		return tree_copy_link(copying, from, to, name, depth, err);
	if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
		return err_set(err, ERR_INVALID_ARGUMENT, "%.100s in %s is no regular file.", name,
		               copying->from);
	if (!S_ISDIR(status.st_mode))
		return tree_copy_file(copying, from, to, name, err);
	if (depth >= TREE_DEPTH_MAX)
		return err_set(err, ERR_TOO_LARGE, "%s has folders more than %d deep.",
		               copying->from, TREE_DEPTH_MAX);
	in = openat(from, name, TREE_FOLDER);
	if (in < 0)
		return err_set_errno(err, errno, "Cannot read the folder %s", name);
	if (!copying->seen && mkdirat(to, name, 0755) == 0)
		out = openat(to, name, TREE_FOLDER);
	if (!copying->seen && out < 0)
		return err_set_errno(err, errno, "Cannot make the folder %s", name);
	return tree_copy_folder(copying, in, out, depth + 1, err);
}

/* A listing of an open folder, from its beginning; NULL with errno set. */
static DIR *tree_list(int folder)
{
	int again = openat(folder, ".", TREE_FOLDER);
	DIR *entries = again >= 0 ? fdopendir(again) : NULL;

	if (!entries && again >= 0)
		close(again);
	return entries;
}

static bool is_no_entry(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Recursion is bounded by TREE_DEPTH_MAX. */
static bool tree_copy_folder(struct tree_copying *copying, int from, int to, unsigned depth,
                        struct err *err)
{
	DIR *entries = tree_list(from);
	const struct dirent *entry;
	bool ok = true;

	if (!entries)
		return err_set_errno(err, errno, "Cannot read a folder of %s", copying->from);
	while (ok && (entry = readdir(entries))) {
		const size_t before = copying->path.len;

		if (is_no_entry(entry->d_name) || strcmp(entry->d_name, ".git") == 0)
			continue;
		if (copying->seen)
			buf_printf(&copying->path, "%s%s", before ? "/" : "", entry->d_name);
		ok = copy_entry(copying, from, to, entry->d_name, depth, err);
		if (copying->seen) {
			copying->path.len = before;
			copying->path.data[before] = '\0';
		}
	}
	closedir(entries);
	return ok;
}

bool tree_look(const char *from, tree_file *seen, void *data, struct err *err)
{
	struct tree_copying copying = { .from = from, .seen = seen, .data = data,
		                        .path = BUF_INIT(LIMIT_PATH_BYTES * 4) };
	_cleanup_fd_ int source = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ok;

	if (source < 0)
		return err_set_errno(err, errno, "Cannot read the folder %s", from);
	ok = tree_copy_folder(&copying, source, -1, 0, err);
	buf_release(&copying.path);
	return ok;
}

/* Gives what is complete its name. */
static bool tree_name(const struct tree_place *place, const char *temporary, struct err *err)
{
	struct err ignored = ERR_INIT;

	if (renameat2(place->folder, temporary, place->folder, place->name, RENAME_NOREPLACE) == 0)
		return true;
	if (errno == EEXIST && !place->replace)
		return err_set(err, ERR_INVALID_ARGUMENT, "There is %s/%s already.", place->path,
		               place->name);
	if (errno != EEXIST || renameat2(place->folder, temporary, place->folder, place->name,
	                                 RENAME_EXCHANGE) != 0)
		return err_set_errno(err, errno, "Cannot make %s/%s", place->path, place->name);
	tree_remove_in(place->folder, temporary, &ignored);
	return true;
}

bool tree_copy_to(const char *from, const struct tree_place *place, struct err *err)
{
	struct tree_copying copying = { .from = from };
	_cleanup_free_ char *temporary = mem_printf(".%s.%ld", place->name, (long)getpid());
	_cleanup_fd_ int source = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_fd_ int made = -1;
	struct err ignored = ERR_INIT;
	bool ok;

	if (source < 0)
		return err_set_errno(err, errno, "Cannot read the folder %s", from);
	if (mkdirat(place->folder, temporary, 0700) != 0)
		return err_set_errno(err, errno, "Cannot make a folder in %s", place->path);
	made = openat(place->folder, temporary, TREE_FOLDER);
	ok = made >= 0 ? tree_copy_folder(&copying, source, made, 0, err) :
	                 err_set_errno(err, errno, "Cannot open a folder in %s", place->path);
	if (ok && tree_name(place, temporary, err))
		return true;
	tree_remove_in(place->folder, temporary, &ignored);
	return false;
}

bool tree_link_to(const char *target, const struct tree_place *place, struct err *err)
{
	_cleanup_free_ char *temporary = mem_printf(".%s.%ld", place->name, (long)getpid());

	if (symlinkat(target, place->folder, temporary) != 0)
		return err_set_errno(err, errno, "Cannot make a link in %s", place->path);
	if (tree_name(place, temporary, err))
		return true;
	unlinkat(place->folder, temporary, 0);
	return false;
}

bool tree_copy(const char *from, const char *into, const char *name, struct err *err)
{
	_cleanup_fd_ int folder = open(into, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct tree_place place = { .folder = folder, .path = into, .name = name };

	if (folder < 0)
		return err_set_errno(err, errno, "Cannot open the folder %s", into);
	return tree_copy_to(from, &place, err);
}

/* ---- removing ----------------------------------------------------------------------- */

static bool tree_remove_entry(int folder, const char *name, unsigned depth, struct err *err);

static bool remove_content(int folder, unsigned depth, struct err *err)
{
	DIR *entries = tree_list(folder);
	const struct dirent *entry;
	bool ok = true;

	if (!entries)
		return err_set_errno(err, errno, "Cannot read a folder");
	while (ok && (entry = readdir(entries)))
		if (!is_no_entry(entry->d_name))
			ok = tree_remove_entry(folder, entry->d_name, depth, err);
	closedir(entries);
	return ok;
}

/* Recursion is bounded by TREE_REMOVE_DEPTH_MAX. */
static bool tree_remove_entry(int folder, const char *name, unsigned depth, struct err *err)
{
	_cleanup_fd_ int inner = -1;
	struct stat status;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return err_set_errno(err, errno, "Cannot remove %s", name);
	if (!S_ISDIR(status.st_mode))
		return unlinkat(folder, name, 0) == 0 ||
		       err_set_errno(err, errno, "Cannot remove %s", name);
	if (depth >= TREE_REMOVE_DEPTH_MAX)
		return err_set(err, ERR_TOO_LARGE, "%.100s is too deep to be removed.", name);
	/* One that forbids itself to its owner. */
	if ((status.st_mode & S_IRWXU) != S_IRWXU && status.st_uid == geteuid())
		(void)fchmodat(folder, name, S_IRWXU, AT_SYMLINK_NOFOLLOW);
	inner = openat(folder, name, TREE_FOLDER);
	if (inner < 0)
		return err_set_errno(err, errno, "Cannot remove %s", name);
	return remove_content(inner, depth + 1, err) &&
	       (unlinkat(folder, name, AT_REMOVEDIR) == 0 ||
	        err_set_errno(err, errno, "Cannot remove %s", name));
}

bool tree_remove_in(int folder, const char *name, struct err *err)
{
	return tree_remove_entry(folder, name, 0, err);
}

bool tree_remove(const char *in, const char *name, struct err *err)
{
	_cleanup_fd_ int folder = open(in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		return err_set_errno(err, errno, "Cannot open the folder %s", in);
	return tree_remove_in(folder, name, err);
}
