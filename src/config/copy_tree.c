/* SPDX-License-Identifier: Apache-2.0 */
#include "config/copy_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum { DEPTH_MAX = 64, FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW };

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

bool copy_tree_is_new(const char *folder, const char *marker)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	bool is_new = entries != NULL;

	while (is_new && (entry = readdir(entries)))
		is_new = is_dots(entry->d_name) || strcmp(entry->d_name, marker) == 0;
	if (entries)
		closedir(entries);
	return is_new;
}

static void copy_file(int from, int to, const char *name, mode_t mode)
{
	_cleanup_fd_ int in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	_cleanup_fd_ int out = -1;
	_cleanup_free_ char *block = mem_piece();
	ssize_t got;

	if (in < 0)
		return;
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode & 0777);
	if (out < 0)
		return;
	while ((got = read(in, block, MEM_PIECE_BYTES)) > 0)
		if (!fd_write_all(out, block, (size_t)got))
			break;
	if (got) /* half a file would be taken for a whole one */
		unlinkat(to, name, 0);
}

static void copy_link(int from, int to, const char *name)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(from, name, target, sizeof(target) - 1);

	if (len < 0)
		return;
	target[len] = '\0';
	if (symlinkat(target, to, name) < 0)
		return; /* there already */
}

static void copy_folder(int from, int to, unsigned depth);

static void copy_below(int from, int to, const char *name, mode_t mode, unsigned depth)
{
	_cleanup_fd_ int in = openat(from, name, FOLDER_FLAGS);
	_cleanup_fd_ int out = -1;

	if (in < 0 || depth == DEPTH_MAX)
		return;
	if (mkdirat(to, name, (mode & 0777) | 0700) < 0 && faccessat(to, name, F_OK, 0) < 0)
		return;
	out = openat(to, name, FOLDER_FLAGS);
	if (out >= 0)
		copy_folder(in, out, depth + 1);
}

/* Recursion ends at DEPTH_MAX. */
static void copy_folder(int from, int to, unsigned depth)
{
	int copy = fcntl(from, F_DUPFD_CLOEXEC, 3);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!entries) {
		if (copy >= 0)
			close(copy);
		return;
	}
	while ((entry = readdir(entries))) {
		struct stat st;

		if (is_dots(entry->d_name) ||
		    fstatat(from, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			copy_below(from, to, entry->d_name, st.st_mode, depth);
		else if (S_ISREG(st.st_mode))
			copy_file(from, to, entry->d_name, st.st_mode);
		else if (S_ISLNK(st.st_mode))
			copy_link(from, to, entry->d_name);
	}
	closedir(entries);
}

void copy_tree(const char *from, const char *to)
{
	_cleanup_fd_ int in = open(from, FOLDER_FLAGS);
	_cleanup_fd_ int out = open(to, FOLDER_FLAGS);

	if (in >= 0 && out >= 0)
		copy_folder(in, out, 0);
}
