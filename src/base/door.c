/* SPDX-License-Identifier: Apache-2.0 */
#include "base/door.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/random.h"

enum { FOLDER = O_PATH | O_DIRECTORY, TRIES = 16 };

/* ---- finding ------------------------------------------------------------------ */

/* What remains of a path beneath its root; "." for the root itself. */
static const char *rest_of(const char *root, const char *path)
{
	const char *rest = path + (path_is_under(path, root) ? strlen(root) : 0);

	while (*rest == '/')
		rest++;
	return *rest ? rest : ".";
}

static bool door_fail(const char *what, const char *path, const char *root, int sys_errno,
                      struct err *err)
{
	if (sys_errno == EXDEV || sys_errno == ELOOP)
		return err_set(err, ERR_OUTSIDE_WORKSPACE,
		               "%s is not used: a link in it leads outside of %s.", path, root);
	return err_set_errno(err, sys_errno, "Cannot %s %s", what, path);
}

/* The caller vouches for the root; its own path may have links. */
static int open_root(const char *root)
{
	return open(root, FOLDER | O_CLOEXEC);
}

int door_folder(const char *root, const char *path)
{
	_cleanup_fd_ int top = open_root(root);

	return top < 0 ? -1 :
	       fd_open_beneath_linked(top, rest_of(root, path), O_RDONLY | O_DIRECTORY);
}

static int compare_door_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t door_names(int folder, size_t max, char ***ret)
{
	DIR *entries = folder >= 0 ? fdopendir(folder) : NULL;
	const struct dirent *entry;
	size_t count = 0, cap = 0;

	*ret = NULL;
	while (entries && count < max && (entry = readdir(entries))) {
		if (entry->d_name[0] == '.')
			continue;
		*ret = mem_grow(*ret, &cap, count + 1, sizeof(**ret));
		(*ret)[count++] = mem_strdup(entry->d_name);
	}
	if (entries)
		closedir(entries);
	else if (folder >= 0)
		close(folder);
	if (count)
		qsort(*ret, count, sizeof(**ret), compare_door_names);
	return count;
}

bool door_is_own(const char *folder)
{
	struct stat status;

	return stat(folder, &status) == 0 &&
	       (status.st_uid == geteuid() || status.st_uid == 0) && !(status.st_mode & S_IWOTH);
}

/* Of a folder or a file that decides something in the user's name. */
static bool check_own(const char *path, const struct stat *status, struct err *err)
{
	if (status->st_uid != geteuid())
		return err_set(err, ERR_PERMISSION_DENIED, "%s belongs to another user (%u).", path,
		               (unsigned)status->st_uid);
	if (status->st_mode & (S_IWGRP | S_IWOTH))
		return err_set(err, ERR_PERMISSION_DENIED,
		               "%s can be written by other users (mode %03o).", path,
		               (unsigned)status->st_mode & 0777);
	return true;
}

int door_open_own(const char *folder, struct err *err)
{
	_cleanup_fd_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0) {
		err_set_errno(err, errno, "Cannot open %s", folder);
		return -1;
	}
	return check_own(folder, &status, err) ? fd_steal(&fd) : -1;
}

bool door_read_own(int folder, const char *path, const char *name, size_t max,
                   struct file_text *ret, struct err *err)
{
	_cleanup_free_ char *full = path_join(path, name);
	_cleanup_fd_ int fd = openat(folder, name,
	                             O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;

	*ret = (struct file_text){ NULL, 0, 0 };
	if (fd < 0 && errno == ELOOP)
		return err_set(err, ERR_NOT_A_FILE, "%s is a symbolic link.", full);
	if (fd < 0 || fstat(fd, &status) < 0)
		return err_set_errno(err, errno, "Cannot open %s", full);
	if (!S_ISREG(status.st_mode) || status.st_nlink != 1)
		return err_set(err, ERR_NOT_A_FILE, "%s is not a regular file with one name.",
		               full);
	return check_own(full, &status, err) && file_read_open(fd, full, max, ret, err);
}

bool door_is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool door_read(const char *root, const char *path, size_t max, struct file_text *ret,
               struct err *err)
{
	_cleanup_fd_ int top = open_root(root);
	_cleanup_fd_ int fd = -1;

	*ret = (struct file_text){ NULL, 0, 0 };
	if (top >= 0)
		fd = fd_open_beneath_linked(top, rest_of(root, path),
		                            O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		return file_read_open(fd, path, max, ret, err);
	return errno == ENOENT || errno == ENOTDIR || door_fail("read", path, root, errno, err);
}

/* ---- a file to write ---------------------------------------------------------- */

void door_close(struct door *door)
{
	fd_cleanup_close(&door->folder);
	fd_cleanup_close(&door->file);
	free(door->name);
	free(door->path);
	*door = (struct door)DOOR_INIT;
}

/* A device of the system's, whose folder is no command's. */
static int open_device(const char *path)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;

	if (strncmp(path, "/dev/", 5) != 0 || strchr(path + 5, '/') ||
	    stat(path, &st) != 0 || !S_ISCHR(st.st_mode))
		return -1;
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd >= 0 && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) ? fd_steal(&fd) : -1;
}

/* Names of what is open already; what stands behind them is not looked up by a path. */
static int open_standard(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	const char *number = strcmp(path, "/dev/stdout") == 0 ? "1" :
	                     strcmp(path, "/dev/stderr") == 0 ? "2" : NULL;

	for (size_t i = 0; !number && i < ARRAY_LEN(folders); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			number = path + strlen(folders[i]);
	if (!number || !*number || strlen(number) > 6 || number[strspn(number, "0123456789")])
		return open_device(path);
	return fcntl((int)strtol(number, NULL, 10), F_DUPFD_CLOEXEC, 3);
}

static bool is_one_of(const struct stat *st, const char *const *roots)
{
	struct stat root;

	if (stat(".", &root) == 0 && root.st_dev == st->st_dev && root.st_ino == st->st_ino)
		return true;
	for (; roots && *roots; roots++)
		if (stat(*roots, &root) == 0 && root.st_dev == st->st_dev &&
		    root.st_ino == st->st_ino)
			return true;
	return false;
}

/* The first folder of an absolute path that is a root, whatever it is called: what is beneath it
 * may be a command's. The caller frees; NULL: none is. */
static char *root_above(const char *path, const char *const *roots)
{
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		_cleanup_free_ char *folder = mem_dup(path, (size_t)(slash - path));
		struct stat st;

		if (stat(folder, &st) != 0)
			return NULL;
		if (is_one_of(&st, roots))
			return mem_steal(&folder);
	}
	return NULL;
}

static bool door_open_folder(struct door *door, const char *whole, const char *const *roots,
                             struct err *err)
{
	_cleanup_free_ char *folder = path_folder(whole), *root = root_above(whole, roots);
	_cleanup_fd_ int top = open_root(root ? root : folder);

	if (root && top >= 0)
		door->folder = fd_open_beneath_linked(top, rest_of(root, folder), FOLDER);
	else
		door->folder = fd_steal(&top);
	door->name = mem_strdup(strrchr(whole, '/') + 1);
	return door->folder >= 0 || door_fail("write", door->path, root ? root : "/", errno, err);
}

/* What has the name now. A file whose folder is closed can only be written itself. */
static bool door_look(struct door *door, struct err *err)
{
	bool replaceable = faccessat(door->folder, ".", W_OK | X_OK, AT_EACCESS) == 0;
	int closed = replaceable ? 0 : errno;
	struct stat st;

	if (!*door->name)
		return err_set(err, ERR_NOT_A_FILE, "%s names a folder.", door->path);
	if (fstatat(door->folder, door->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return (errno == ENOENT && replaceable) ||
		       err_set_errno(err, errno == ENOENT ? closed : errno, "Cannot write %s",
		                     door->path);
	if (S_ISLNK(st.st_mode))
		return err_set(err, ERR_NOT_A_FILE,
		               "%s is a symbolic link, which is not followed; name the file "
		               "itself.",
		               door->path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_NOT_A_FILE, "%s is not a regular file.", door->path);
	door->exists = true;
	door->mode = st.st_mode & 0777;
	if (!replaceable)
		door->file = door_append(door, door->mode, err);
	return replaceable || door->file >= 0;
}

bool door_open(const char *path, const char *const *roots, struct door *ret, struct err *err)
{
	_cleanup_free_ char *here = getcwd(NULL, 0);
	_cleanup_free_ char *whole = path_join(here ? here : "/", path);
	_cleanup_door_ struct door door = DOOR_INIT;

	door.path = mem_strdup(path);
	door.file = open_standard(whole);
	if (door.file < 0 &&
	    (!door_open_folder(&door, whole, roots, err) || !door_look(&door, err)))
		return false;
	*ret = door;
	door = (struct door)DOOR_INIT;
	return true;
}

int door_append(struct door *door, mode_t mode, struct err *err)
{
	const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	_cleanup_fd_ int fd = -1;
	struct stat st;

	if (!door->name)
		return fcntl(door->file, F_DUPFD_CLOEXEC, 3);
	fd = openat(door->folder, door->name, flags);
	if (fd < 0 && errno == ENOENT)
		fd = openat(door->folder, door->name, flags | O_CREAT | O_EXCL, mode);
	if (fd < 0 || fstat(fd, &st) != 0) {
		err_set_errno(err, errno, "Cannot write %s", door->path);
		return -1;
	}
	if (S_ISREG(st.st_mode) && st.st_nlink == 1)
		return fd_steal(&fd);
	err_set(err, ERR_NOT_A_FILE,
	        S_ISREG(st.st_mode) ? "%s has other names too (hard links); name another file." :
	                              "%s is not a regular file.", door->path);
	return -1;
}

/* The whole content through a descriptor that was opened in time. */
static bool write_through(struct door *door, struct span text, struct err *err)
{
	if ((door->name && ftruncate(door->file, 0) != 0) ||
	    !fd_write_all(door->file, text.data, text.len))
		return err_set_errno(err, errno, "Cannot write %s", door->path);
	return true;
}

/* A new file next to the one to write, under a name that cannot have been prepared. Mode 0: as the
 * umask has it. */
static int make_next_to(int folder, mode_t mode, char name[static 32])
{
	int fd = -1;

	for (int i = 0; fd < 0 && i < TRIES; i++) {
		uint64_t number;

		random_distinct(&number, sizeof(number));
		snprintf(name, 32, ".hasp-%016llx", (unsigned long long)number);
		fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		            mode ? 0600 : 0666);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	if (fd >= 0 && mode && fchmod(fd, mode) != 0) {
		close(fd);
		unlinkat(folder, name, 0);
		return -1;
	}
	return fd;
}

/* `replace`: what has the name already; otherwise that is EEXIST. */
static bool put_next_to(const struct door *door, struct span text, bool replace, bool durable)
{
	char name[32];
	_cleanup_fd_ int fd = make_next_to(door->folder, door->mode, name);
	int saved;

	if (fd < 0)
		return false;
	if (fd_write_all(fd, text.data, text.len) && (!durable || fsync(fd) == 0) &&
	    renameat2(door->folder, name, door->folder, door->name,
	              replace ? 0 : RENAME_NOREPLACE) == 0)
		return true;
	saved = errno;
	unlinkat(door->folder, name, 0);
	errno = saved;
	return false;
}

bool door_write(struct door *door, struct span text, struct err *err)
{
	if (door->file >= 0)
		return write_through(door, text, err);
	return put_next_to(door, text, /* replace= */ true, /* durable= */ false) ||
	       err_set_errno(err, errno, "Cannot write %s", door->path);
}

bool door_create(struct door *door, struct span text, bool *ret_made, struct err *err)
{
	bool made = !door->exists &&
	            (door->file >= 0 ? write_through(door, text, err) :
	                               put_next_to(door, text, /* replace= */ false, false));

	if (ret_made)
		*ret_made = made;
	return made || door->exists || errno == EEXIST ||
	       err_set_errno(err, errno, "Cannot write %s", door->path);
}

/* ---- beneath a root ------------------------------------------------------------ */

/* The folder of `rest`, made as far as it is missing. */
static int make_folder(int top, const char *rest)
{
	_cleanup_free_ char *path = mem_strdup(rest);
	int folder = fd_open_beneath_linked(top, ".", FOLDER);

	for (char *slash = strchr(path, '/'); folder >= 0 && slash;
	     slash = strchr(slash + 1, '/')) {
		const char *name;
		int next;

		*slash = '\0';
		name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
		if (mkdirat(folder, name, 0700) != 0 && errno != EEXIST) {
			close(folder);
			return -1;
		}
		/* From the root again: a link in it may lead to another place beneath. */
		next = fd_open_beneath_linked(top, path, FOLDER);
		close(folder);
		folder = next;
		*slash = '/';
	}
	return folder;
}

int door_make(const char *root, const char *path)
{
	_cleanup_fd_ int top = open_root(root);
	_cleanup_free_ char *rest = mem_printf("%s/", rest_of(root, path));

	return top < 0 ? -1 : make_folder(top, rest);
}

bool door_replace(const char *root, const char *path, struct span text, mode_t mode,
                  struct err *err)
{
	_cleanup_fd_ int top = open_root(root);
	_cleanup_door_ struct door door = DOOR_INIT;

	door.folder = top < 0 ? -1 : make_folder(top, rest_of(root, path));
	if (door.folder < 0)
		return door_fail("write", path, root, errno, err);
	door.path = mem_strdup(path);
	door.name = mem_strdup(strrchr(path, '/') + 1);
	if (!door_look(&door, err))
		return false;
	door.mode = mode;
	if (door.file >= 0)
		return write_through(&door, text, err);
	return put_next_to(&door, text, /* replace= */ true, /* durable= */ true) ||
	       err_set_errno(err, errno, "Cannot write %s", path);
}
