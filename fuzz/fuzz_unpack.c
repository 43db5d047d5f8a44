/* SPDX-License-Identifier: Apache-2.0 */
/* Archives: whatever they hold, what is unpacked of them are files, folders and links that stay in
 * the folder, none of them more than the user's to write, and nothing is made beside it. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/fd.h"
#include "install/private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARCHIVE_BYTES = 16 << 10 }; /* what more has is as well said with less */

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_link(int folder, const char *name, unsigned depth)
{
	char target[PATH_MAX];
	const ssize_t len = readlinkat(folder, name, target, sizeof(target));

	check(len > 0 && tree_link_stays(span_of(target, (size_t)len), depth));
}

static void check_tree(int folder, unsigned depth)
{
	DIR *entries = fdopendir(folder);
	const struct dirent *entry;
	struct stat status;

	check(entries && depth <= TREE_DEPTH_MAX);
	while ((entry = readdir(entries))) {
		const char *name = entry->d_name;

		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		check(strcasecmp(name, ".git") != 0);
		check(fstatat(dirfd(entries), name, &status, AT_SYMLINK_NOFOLLOW) == 0);
		if (S_ISLNK(status.st_mode)) {
			check_link(dirfd(entries), name, depth);
			continue;
		}
		check(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
		check(!(status.st_mode & (S_ISUID | S_ISGID | S_ISVTX | S_IWOTH)));
		check(S_ISDIR(status.st_mode) || status.st_nlink == 1);
		if (S_ISDIR(status.st_mode))
			check_tree(openat(dirfd(entries), name, O_RDONLY | O_DIRECTORY), depth + 1);
	}
	closedir(entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char above[] = "/tmp/fuzz-unpack-XXXXXX";
	struct err err = ERR_INIT;
	char *folder = NULL;
	int root, file = memfd_create("archive", MFD_CLOEXEC);
	char **names;
	size_t count;

	if (size > ARCHIVE_BYTES)
		size = ARCHIVE_BYTES;
	check(mkdtemp(above) && asprintf(&folder, "%s/content", above) > 0);
	check(mkdir(folder, 0700) == 0 && fd_write_all(file, data, size));
	root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	check(root >= 0 && lseek(file, 0, SEEK_SET) == 0);
	umask(022);
	unpack(file, size, "it", root, &err);
	check_tree(root, 0);
	count = door_names(open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 10, &names);
	check(count == 1);
	free(names[0]);
	free(names);
	close(file);
	free(folder);
	tree_remove("/tmp", above + strlen("/tmp/"), &err);
	return 0;
}
