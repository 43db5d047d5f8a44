/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/plan/location.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/span.h"

void location_release(struct location *place)
{
	free(place->path);
	place->path = NULL;
}

static enum location_kind kind_of_stat(const struct stat *st)
{
	return S_ISDIR(st->st_mode) ? LOCATION_FOLDER :
	       S_ISLNK(st->st_mode) ? LOCATION_LINK :
	                              LOCATION_FILE;
}

static enum location_kind kind_of_failure(void)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
		return LOCATION_MISSING;
	case ELOOP:
	case ENOSYS: /* a kernel or a filter without openat2: look at each component instead */
	case EPERM:
		return LOCATION_LINK;
	default:
		return LOCATION_CLOSED;
	}
}

enum location_kind location_look(int folder, const char *rel, bool strict)
{
	bool one = !strchr(rel, '/');
	_cleanup_fd_ int fd = -1;
	struct stat st;

	/* Most names are missing, and this is the quickest way to know. */
	if ((one || !strict) && fstatat(folder, rel, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return kind_of_failure();
	if (one)
		return kind_of_stat(&st);
	fd = fd_open_beneath(folder, rel, O_PATH);
	if (fd < 0 || fstat(fd, &st) != 0)
		return kind_of_failure();
	return kind_of_stat(&st);
}

/* FNV-1a over the name in lower case (some filesystems take .GIT for .git). */
static unsigned listing_bit_of(struct span name)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.data[i];

		hash = (hash ^ (c >= 'A' && c <= 'Z' ? c + 32u : c)) * 16777619u;
	}
	return (hash ^ hash >> 16) % 2048;
}

bool location_may_have(const struct location_listing *listing, struct span name)
{
	unsigned bit = listing_bit_of(name);

	return listing->bits[bit / 64] >> bit % 64 & 1;
}

/* Reading more costs more than it saves. */
enum { LISTING_BYTES = 15 << 10 };

struct entry { /* getdents64(2) */
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

static bool read_listing(int folder, struct location_listing *listing)
{
	_Alignas(struct entry) char buf[LISTING_BYTES];
	long len = syscall(SYS_getdents64, folder, buf, sizeof(buf));
	char more[512];

	for (long at = 0; at < len;) {
		const struct entry *entry = (const struct entry *)(buf + at);
		unsigned bit = listing_bit_of(span_str(entry->name));

		listing->bits[bit / 64] |= (uint64_t)1 << bit % 64;
		at += entry->length;
	}
	return len > 0 && syscall(SYS_getdents64, folder, more, sizeof(more)) == 0;
}

int location_list(int folder, const char *path, bool look, struct location_listing *ret)
{
	const int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = look ? openat(folder, path, O_RDONLY | flags) : -1;

	*ret = (struct location_listing){ 0 };
	if (fd >= 0 && read_listing(fd, ret))
		return fd;
	for (size_t i = 0; i < ARRAY_LEN(ret->bits); i++)
		ret->bits[i] = UINT64_MAX;
	return fd >= 0 ? fd : openat(folder, path, O_PATH | flags);
}

enum location_kind location_kind_of(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0)
		return kind_of_stat(&st);
	return kind_of_failure() == LOCATION_MISSING ? LOCATION_MISSING : LOCATION_CLOSED;
}

/* What the kernel calls an open descriptor. */
static char *descriptor_name(int fd)
{
	char link[64], path[LIMIT_PATH_BYTES];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len <= 0 || (size_t)len >= sizeof(path) - 1 || path[0] != '/')
		return NULL;
	return mem_dup(path, (size_t)len);
}

static bool open_canonical(const char *path, int flags, struct location *ret)
{
	_cleanup_fd_ int fd = open(path, O_PATH | O_CLOEXEC | flags);
	_cleanup_free_ char *name = NULL;
	struct stat st, again;

	if (fd < 0 || fstat(fd, &st) != 0)
		return false;
	name = descriptor_name(fd);
	if (!name)
		name = realpath(path, NULL); /* /proc is not there */
	/* A deleted folder, or one outside this process's root, has a name that is not its own. */
	if (!name || lstat(name, &again) != 0 || again.st_ino != st.st_ino ||
	    again.st_dev != st.st_dev) {
		errno = ENOENT;
		return false;
	}
	ret->kind = kind_of_stat(&st);
	ret->path = mem_steal(&name);
	return true;
}

bool location_canonical(const char *path, struct location *ret)
{
	return open_canonical(path, 0, ret);
}

bool location_is_lone_file(const char *path)
{
	_cleanup_location_ struct location place = { 0 };
	struct stat st;

	return path[0] == '/' && location_canonical(path, &place) &&
	       strcmp(place.path, path) == 0 && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       st.st_nlink == 1;
}

bool location_here(struct location *ret)
{
	return open_canonical(".", O_DIRECTORY, ret);
}

/* A walk: `at` is canonical, `rest` is still to be walked. */
struct location_walk {
	struct buf at, rest;
	unsigned links;
};

static void walk_release(struct location_walk *walk)
{
	buf_release(&walk->at);
	buf_release(&walk->rest);
}

/* Back to "" for "/", so that a component can be appended with its slash. */
static void walk_go_up(struct buf *at)
{
	while (at->len && at->data[at->len - 1] != '/')
		at->len--;
	if (at->len)
		at->len--;
	if (at->data)
		at->data[at->len] = '\0';
}

/* Takes the next component off `rest`; the empty span at its end. `rest` keeps its memory. */
static struct span next_component(struct span *rest)
{
	struct span component;

	while (rest->len && rest->data[0] == '/')
		*rest = span_skip(*rest, 1);
	component = *rest;
	for (component.len = 0; component.len < rest->len; component.len++)
		if (rest->data[component.len] == '/')
			break;
	*rest = span_skip(*rest, component.len);
	return component;
}

/* Puts the target of the symlink that `at` names before the rest of the walk. */
static bool walk_follow_link(struct location_walk *walk, struct span rest)
{
	char target[LIMIT_PATH_BYTES];
	ssize_t len = readlink(walk->at.data, target, sizeof(target));
	struct buf joined = BUF_INIT(2 * LIMIT_PATH_BYTES);

	if (len <= 0 || (size_t)len >= sizeof(target) || ++walk->links > LIMIT_SYMLINKS)
		return false;
	walk_go_up(&walk->at);
	if (target[0] == '/')
		buf_clear(&walk->at);
	buf_append(&joined, target, (size_t)len);
	buf_char(&joined, '/');
	buf_span(&joined, rest);
	buf_release(&walk->rest);
	walk->rest = joined;
	return !joined.overflowed;
}

/* The rest is missing: it is appended as it stands, without "." and "..". */
static void append_missing(struct location_walk *walk, struct span rest)
{
	for (struct span name = next_component(&rest); name.len; name = next_component(&rest)) {
		if (span_eq(name, SPAN(".")))
			continue;
		if (span_eq(name, SPAN(".."))) {
			walk_go_up(&walk->at);
			continue;
		}
		buf_char(&walk->at, '/');
		buf_span(&walk->at, name);
	}
}

static enum location_kind walk_on(struct location_walk *walk, void (*link)(void *, const char *),
                                  void *data)
{
	struct span rest = buf_view(&walk->rest);
	enum location_kind kind = LOCATION_FOLDER;

	for (struct span name = next_component(&rest); name.len; name = next_component(&rest)) {
		if (span_eq(name, SPAN(".")))
			continue;
		if (span_eq(name, SPAN(".."))) {
			walk_go_up(&walk->at);
			kind = LOCATION_FOLDER;
			continue;
		}
		buf_char(&walk->at, '/');
		if (!buf_span(&walk->at, name))
			return LOCATION_CLOSED;
		kind = location_kind_of(walk->at.data);
		if (kind == LOCATION_MISSING) {
			append_missing(walk, rest);
			return LOCATION_MISSING;
		}
		if (kind == LOCATION_CLOSED)
			return kind;
		if (kind == LOCATION_LINK) {
			if (link)
				link(data, walk->at.data);
			if (!walk_follow_link(walk, rest))
				return LOCATION_CLOSED;
			rest = buf_view(&walk->rest);
			kind = LOCATION_FOLDER;
		}
	}
	return kind;
}

#define WALK_INIT \
	{ .at = BUF_INIT(LIMIT_PATH_BYTES), .rest = BUF_INIT(2 * LIMIT_PATH_BYTES) }

static bool walk_begin(struct location_walk *walk, const char *start, const char *path)
{
	if (path[0] != '/' && strcmp(start, "/") != 0)
		buf_str(&walk->at, start);
	buf_str(&walk->rest, path);
	return !walk->at.overflowed && !walk->rest.overflowed;
}

void location_resolve(const char *start, const char *path,
                      void (*link)(void *data, const char *path), void *data,
                      struct location *ret)
{
	__attribute__((cleanup(walk_release))) struct location_walk walk = WALK_INIT;

	*ret = (struct location){ .kind = LOCATION_CLOSED };
	if (!walk_begin(&walk, start, path))
		return;
	ret->kind = walk_on(&walk, link, data);
	if (walk.at.overflowed)
		ret->kind = LOCATION_CLOSED;
	if (ret->kind != LOCATION_CLOSED)
		ret->path = walk.at.len ? buf_steal(&walk.at) : mem_strdup("/");
}

char *location_closed(const char *start, const char *path)
{
	__attribute__((cleanup(walk_release))) struct location_walk walk = WALK_INIT;
	struct stat st;

	if (!walk_begin(&walk, start, path) || walk_on(&walk, NULL, NULL) != LOCATION_CLOSED ||
	    walk.at.overflowed || !walk.at.len)
		return NULL;
	if (lstat(walk.at.data, &st) == 0 || errno != EACCES)
		return NULL;
	walk_go_up(&walk.at);
	return walk.at.len ? buf_steal(&walk.at) : mem_strdup("/");
}

bool location_within(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (len == 1)
		return true;
	return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

char *location_join(const char *base, const char *rel)
{
	return mem_printf("%s/%s", strcmp(base, "/") == 0 ? "" : base, rel);
}

size_t location_above(const char *path, size_t len)
{
	if (len <= 1)
		return 0;
	while (len > 1 && path[len - 1] != '/')
		len--;
	return len > 1 ? len - 1 : 1;
}

const void *location_row(const void *rows, size_t count, size_t size, const char *text, size_t len)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const void *row = (const char *)rows + middle * size;
		const char *path;
		int order;

		memcpy(&path, row, sizeof(path));
		order = strncmp(text, path, len);
		if (order == 0 && !path[len])
			return row;
		if (order <= 0) /* the path goes on: it comes later */
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}
