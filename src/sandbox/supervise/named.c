/* SPDX-License-Identifier: Apache-2.0 */
/* Which place a path argument means.
 *
 * The supervisor sees the same mounts as the process; what differs is where relative paths begin
 * and what /proc/self is.  Paths that begin with /proc/self are recognised by their text and turned
 * into those of the process.  On the way of other paths magic links of /proc are not followed
 * (RESOLVE_NO_MAGICLINKS), because they would be the supervisor's own: ELOOP.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/supervise/private.h"

const char *fd_path(int fd, char text[static FD_PATH_SIZE])
{
	snprintf(text, FD_PATH_SIZE, "/proc/self/fd/%d", fd);
	return text;
}

static int open_how(int folder, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | flags, .resolve = resolve };

	return (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
}

/* What readlink into ret->path returned. What is no path (a pipe, a place out of reach) is "". */
static int link_text(ssize_t n, struct named *ret)
{
	if (n < 0)
		return errno;
	if (n == LIMIT_PATH_BYTES)
		return ENAMETOOLONG;
	ret->path[n] = '\0';
	if (ret->path[0] != '/')
		ret->path[0] = '\0';
	return 0;
}

static int read_descriptor_link(int fd, struct named *ret)
{
	char text[FD_PATH_SIZE];

	return link_text(readlink(fd_path(fd, text), ret->path, LIMIT_PATH_BYTES), ret);
}

/* In /proc/THREAD: "cwd" or "fd/N". */
enum { LINK_SIZE = 24 };

static const char *folder_link(int folder, char link[static LINK_SIZE])
{
	if (folder == AT_FDCWD)
		snprintf(link, LINK_SIZE, "cwd");
	else
		snprintf(link, LINK_SIZE, "fd/%d", folder);
	return link;
}

static int open_link(const struct call *call, int folder)
{
	char link[LINK_SIZE];
	int fd = call_open_proc(call, folder_link(folder, link), O_PATH);

	if (fd < 0 && errno == ENOENT)
		errno = EBADF;
	return fd;
}

int named_open_folder(const struct call *call)
{
	return open_link(call, AT_FDCWD);
}

/* If the text names one of the process's own descriptors: its number, else -1. */
static int own_descriptor(const char *path)
{
	static const char *const prefixes[] = { "/proc/self/fd/", "/proc/thread-self/fd/",
		"/dev/fd/" };
	int number = -1, end = 0;

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		size_t len = strlen(prefixes[i]);
		const char *digits = path + len;

		if (strncmp(path, prefixes[i], len) == 0 && ascii_is_digit(*digits) &&
		    sscanf(digits, "%9d%n", &number, &end) == 1 && digits[end] == '\0')
			return number;
	}
	return -1;
}

bool named_is_descriptor(const char *path)
{
	return own_descriptor(path) >= 0;
}

/* What comes behind "/proc/self/"; NULL if the path does not begin so. */
static const char *behind_self(const char *path)
{
	static const char *const prefixes[] = { "/proc/self/", "/proc/thread-self/" };

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
			return path + strlen(prefixes[i]);
	}
	return NULL;
}

/* Magic links behind /proc/NUMBER are those of the process that the text names. */
static bool names_process(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 && ascii_is_digit(path[6]);
}

static uint64_t magic(const char *path)
{
	return names_process(path) ? 0 : RESOLVE_NO_MAGICLINKS;
}

/* The name of what was opened for a call that still waits; takes over `fd`, and returns it or
 * -1. */
static int name_opened(const struct call *call, int fd, struct named *ret)
{
	_cleanup_fd_ int opened = fd;
	int error;

	if (opened < 0)
		return -1;
	error = call_alive(call) ? read_descriptor_link(opened, ret) : ESRCH;
	if (error) {
		errno = error;
		return -1;
	}
	return fd_steal(&opened);
}

int named_open_descriptor(const struct call *call, int fd, struct named *ret)
{
	if (fd < 0) {
		errno = EBADF;
		return -1;
	}
	return name_opened(call, open_link(call, fd), ret);
}

int named_open(const struct call *call, int folder, const char *path, bool follow,
               struct named *ret)
{
	_cleanup_fd_ int base = -1;
	int opened;

	if (own_descriptor(path) >= 0 && follow)
		return named_open_descriptor(call, own_descriptor(path), ret);
	if (behind_self(path))
		base = call_open_proc(call, "task/..", O_PATH);
	else if (path[0] != '/')
		base = open_link(call, folder);
	if (base < 0 && (path[0] != '/' || behind_self(path)))
		return -1;
	opened = open_how(base, behind_self(path) ? behind_self(path) : path,
	                  follow ? 0 : O_NOFOLLOW,
	                  behind_self(path) ? 0 : magic(path));
	return name_opened(call, opened, ret);
}

/* ---- for judging alone ---- */

/* Splits off the last component. False if there is none that could be a name ("/", "a/..", ""). */
static bool split(const char *path, size_t *ret_folder_len, const char **ret_name)
{
	size_t end = strlen(path), start;

	while (end > 1 && path[end - 1] == '/')
		end--;
	start = end;
	while (start > 0 && path[start - 1] != '/')
		start--;
	*ret_folder_len = start;
	*ret_name = path + start;
	return end > start && strcmp(path + start, ".") != 0 && strcmp(path + start, "..") != 0 &&
	       strncmp(path + start, "../", 3) != 0 && strncmp(path + start, "./", 2) != 0;
}

/* Whether no component is "." or ".." or empty: then text without symlinks is canonical. */
static bool is_canonical_text(const char *path)
{
	for (const char *at = path; *at;) {
		size_t len = strcspn(at, "/");

		if (len == 0 || (at[0] == '.' && (len == 1 || (len == 2 && at[1] == '.'))))
			return false;
		at += len + (at[len] == '/');
	}
	return true;
}

static int named_append(struct named *named, const char *text, size_t len)
{
	size_t have = strlen(named->path);
	bool slash = have == 0 || named->path[have - 1] != '/';

	while (len && text[len - 1] == '/')
		len--;
	if (have + slash + len >= sizeof(named->path))
		return ENAMETOOLONG;
	if (slash)
		named->path[have++] = '/';
	memcpy(named->path + have, text, len);
	named->path[have + len] = '\0';
	return 0;
}

/* ---- folders whose text is known to be canonical ---- */

/* Nearly all files of a long-running command lie in few folders.  Commands tell of every rename and
 * removal of a folder before it happens, and then all is forgotten; for what others do
 * meanwhile, nothing is kept for more than a moment. */
enum { KEEP_MS = 500 };

void named_forget_folders(struct supervisor *supervisor)
{
	for (unsigned i = 0; i < KEPT_FOLDERS; i++) {
		free(supervisor->folders[i]);
		supervisor->folders[i] = NULL;
	}
	supervisor->folders_ms = (int64_t)clock_monotonic_ms();
}

/* The slot of a path (FNV-1a). */
static char **folder_slot(struct supervisor *supervisor, const char *path)
{
	uint32_t hash = 2166136261u;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 16777619u;
	return &supervisor->folders[hash % KEPT_FOLDERS];
}

/* 0 if the text of `path` is canonical and a folder; else ELOOP, ENOENT ... */
static int check_canonical_folder(struct supervisor *supervisor, const char *path)
{
	char **slot = folder_slot(supervisor, path);
	_cleanup_fd_ int fd = -1;

	if (*slot && strcmp(*slot, path) == 0 &&
	    (int64_t)clock_monotonic_ms() - supervisor->folders_ms < KEEP_MS)
		return 0;
	fd = open_how(AT_FDCWD, path, O_DIRECTORY, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (fd < 0)
		return errno;
	if ((int64_t)clock_monotonic_ms() - supervisor->folders_ms >= KEEP_MS)
		named_forget_folders(supervisor);
	free(*slot);
	*slot = mem_strdup(path);
	return 0;
}

/* What the process's working folder or a descriptor of it is, as text. */
static int find_link(const struct call *call, int folder, struct named *ret)
{
	char link[LINK_SIZE];
	int error = link_text(call_read_link(call, folder_link(folder, link), ret->path,
	                                     LIMIT_PATH_BYTES), ret);

	return error == ENOENT ? EBADF : error;
}

/* The folder that relative paths begin at, as text. */
static int find_base(const struct call *call, int folder, const char *path, struct named *ret)
{
	int error;

	if (behind_self(path)) {
		_cleanup_fd_ int own = call_open_proc(call, "task/..", O_PATH);

		return own < 0 ? errno : read_descriptor_link(own, ret);
	}
	if (path[0] == '/') {
		memcpy(ret->path, "/", 2);
		return 0;
	}
	error = find_link(call, folder, ret);
	return error ? error : ret->path[0] ? 0 : ENOTDIR;
}

/* The canonical folder of a name: from `base` along `len` bytes of path. */
static int find_folder(const struct call *call, struct named *base, const char *path, size_t len)
{
	char text[LIMIT_PATH_BYTES];
	_cleanup_fd_ int fd = -1;
	struct named plain;
	int error;

	while (len && *path == '/') {
		path++;
		len--;
	}
	while (len && path[len - 1] == '/')
		len--;
	if (len == 0)
		return 0;
	memcpy(text, path, len);
	text[len] = '\0';
	memcpy(plain.path, base->path, strlen(base->path) + 1);
	if (named_append(&plain, text, len) != 0)
		return ENAMETOOLONG;
	/* Without symlinks on the way, which is usual, the text says it all. */
	if (is_canonical_text(text)) {
		error = check_canonical_folder(call->supervisor, plain.path);
		if (!error)
			memcpy(base->path, plain.path, strlen(plain.path) + 1);
		if (error != ELOOP)
			return error;
	}
	fd = open_how(AT_FDCWD, plain.path, O_DIRECTORY, magic(plain.path));
	return fd < 0 ? errno : read_descriptor_link(fd, base);
}

/* One step: base and name of `path`; *ret_link gets the target if that is a symlink to follow. */
static int find_once(const struct call *call, const char *path, bool follow, struct named *base,
                     char *ret_link)
{
	size_t folder_len;
	const char *name;
	size_t had;
	ssize_t n;
	int error;

	if (!split(path, &folder_len, &name)) {
		_cleanup_fd_ int fd = -1;

		error = named_append(base, path + strspn(path, "/"),
		                     strlen(path + strspn(path, "/")));
		fd = error ? -1 : open_how(AT_FDCWD, base->path, 0, magic(base->path));
		return error ? error : fd < 0 ? errno : read_descriptor_link(fd, base);
	}
	error = find_folder(call, base, path, folder_len);
	ret_link[0] = '\0';
	if (error || !base->path[0] || !follow)
		return error ? error : named_append(base, name, strlen(name));
	had = strlen(base->path);
	error = named_append(base, name, strlen(name));
	n = error ? -1 : readlink(base->path, ret_link, LIMIT_PATH_BYTES - 1);
	ret_link[n > 0 ? n : 0] = '\0';
	if (n > 0)
		base->path[had] = '\0'; /* the target begins in the link's folder */
	return error;
}

int named_find(const struct call *call, int folder, const char *path, bool follow,
               struct named *ret)
{
	_cleanup_free_ char *link = mem_alloc(2, LIMIT_PATH_BYTES);
	char *current = link + LIMIT_PATH_BYTES;
	int error;

	if (own_descriptor(path) >= 0)
		return find_link(call, own_descriptor(path), ret);
	if (path[0] == '\0')
		return ENOENT;
	error = find_base(call, folder, path, ret);
	if (error)
		return error;
	snprintf(current, LIMIT_PATH_BYTES, "%s", behind_self(path) ? behind_self(path) : path);
	for (int i = 0; i < LIMIT_SYMLINKS; i++) {
		error = find_once(call, current, follow, ret, link);
		if (error || !link[0])
			return error;
		if (own_descriptor(link) >= 0)
			return find_link(call, own_descriptor(link), ret);
		error = link[0] == '/' ? find_base(call, AT_FDCWD, link, ret) : 0;
		if (error)
			return error;
		snprintf(current, LIMIT_PATH_BYTES, "%s",
		         behind_self(link) ? behind_self(link) : link);
	}
	return ELOOP;
}

bool named_exists(const struct named *named)
{
	struct stat st;

	return named->path[0] && lstat(named->path, &st) == 0;
}
