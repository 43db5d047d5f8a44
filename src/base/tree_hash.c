/* SPDX-License-Identifier: Apache-2.0 */
/* The digest of a whole folder, and a quick one of how its files look from outside. */
#include "base/door.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha256.h"

enum { HASH_PIECE = 128 << 10, HASH_FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

struct tree_hashing {
	struct sha256_stream sum;
	const char *folder;      /* for messages */
	const char *const *skip; /* names at the top; NULL-terminated */
	bool quick;
	size_t files;
	uint64_t bytes;
	char *piece;             /* HASH_PIECE bytes */
};

static bool hash_folder(struct tree_hashing *hashing, int folder, unsigned depth, struct err *err);

static void hash_number(struct tree_hashing *hashing, uint64_t number)
{
	unsigned char bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(number >> (8 * i));
	sha256_update(&hashing->sum, span_of((const char *)bytes, sizeof(bytes)));
}

/* With its length before it, so that two lists never make the same bytes. */
static void hash_counted_text(struct tree_hashing *hashing, struct span text)
{
	hash_number(hashing, text.len);
	sha256_update(&hashing->sum, text);
}

static bool hash_fail(const struct tree_hashing *hashing, struct err *err)
{
	return err_set_errno(err, errno, "Cannot read a file of %s", hashing->folder);
}

/* The bytes that are read, and how many they were. */
static bool hash_content(struct tree_hashing *hashing, int folder, const char *name,
                         struct err *err)
{
	_cleanup_fd_ int file = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW |
	                                             O_NOCTTY | O_CLOEXEC);
	uint64_t len = 0;
	ssize_t got;

	while (file >= 0 && (got = fd_read_full(file, hashing->piece, HASH_PIECE)) != 0) {
		if (got < 0)
			return hash_fail(hashing, err);
		len += (uint64_t)got;
		hashing->bytes += (uint64_t)got;
		if (hashing->bytes > LIMIT_TREE_BYTES)
			return err_set(err, ERR_TOO_LARGE, "%s has more than %zu bytes.",
			               hashing->folder, (size_t)LIMIT_TREE_BYTES);
		sha256_update(&hashing->sum, span_of(hashing->piece, (size_t)got));
	}
	hash_number(hashing, len);
	return file >= 0 || hash_fail(hashing, err);
}

/* As door_is_own has it. */
static bool is_own_entry(const struct stat *status)
{
	return S_ISLNK(status->st_mode) ||
	       ((status->st_uid == geteuid() || status->st_uid == 0) &&
	        !(status->st_mode & S_IWOTH));
}

/* entry = kind (1 file, 2 program, 3 folder, 4 link, 5 other) name (what it holds) */
static bool hash_entry(struct tree_hashing *hashing, int folder, const char *name, unsigned depth,
                       struct err *err)
{
	_cleanup_fd_ int inner = -1;
	char target[PATH_MAX];
	struct stat status;
	ssize_t len;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return hash_fail(hashing, err);
	if (++hashing->files > LIMIT_TREE_FILES || depth > TREE_DEPTH_MAX)
		return err_set(err, ERR_TOO_LARGE, "%s has too many files.", hashing->folder);
	hash_number(hashing, S_ISDIR(status.st_mode)   ? 3 :
	                     S_ISLNK(status.st_mode)   ? 4 :
	                     !S_ISREG(status.st_mode)  ? 5 :
	                     status.st_mode & S_IXUSR ? 2 : 1);
	hash_counted_text(hashing, span_str(name));
	if (hashing->quick && !is_own_entry(&status))
		return err_set(err, ERR_PERMISSION_DENIED, "Others may write %.200s in %s.", name,
		               hashing->folder);
	if (hashing->quick && !S_ISDIR(status.st_mode)) {
		/* What changes when the file does, and cannot be set back by those who change
		 * it. */
		hash_number(hashing, (uint64_t)status.st_dev);
		hash_number(hashing, (uint64_t)status.st_ino);
		hash_number(hashing, (uint64_t)status.st_size);
		hash_number(hashing, (uint64_t)status.st_mtim.tv_sec);
		hash_number(hashing, (uint64_t)status.st_mtim.tv_nsec);
		hash_number(hashing, (uint64_t)status.st_ctim.tv_sec);
		hash_number(hashing, (uint64_t)status.st_ctim.tv_nsec);
	}
	if (S_ISLNK(status.st_mode)) {
		len = readlinkat(folder, name, target, sizeof(target));
		if (len < 0)
			return hash_fail(hashing, err);
		hash_counted_text(hashing, span_of(target, (size_t)len));
	}
	if (S_ISREG(status.st_mode))
		return hashing->quick || hash_content(hashing, folder, name, err);
	if (!S_ISDIR(status.st_mode))
		return true;
	inner = openat(folder, name, HASH_FOLDER);
	return inner < 0 ? hash_fail(hashing, err) : hash_folder(hashing, inner, depth + 1, err);
}

static bool is_not_hashed(const struct tree_hashing *hashing, const char *name, unsigned depth)
{
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return true;
	for (const char *const *one = hashing->skip; !depth && *one; one++)
		if (!strcmp(*one, name))
			return true;
	return false;
}

static int compare_hashed_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Its names in the order of their bytes, hidden ones too; -1: it cannot be read, or there are too
 * many. */
static ssize_t names_sorted(const struct tree_hashing *hashing, int folder, unsigned depth,
                            char ***ret)
{
	const int again = openat(folder, ".", HASH_FOLDER);
	DIR *entries = again >= 0 ? fdopendir(again) : NULL;
	const struct dirent *entry;
	size_t count = 0, cap = 0;
	char **names = NULL;

	if (!entries && again >= 0)
		close(again);
	if (!entries)
		return -1;
	while ((entry = readdir(entries)) && count <= LIMIT_TREE_FILES)
		if (!is_not_hashed(hashing, entry->d_name, depth)) {
			names = mem_grow(names, &cap, count + 1, sizeof(*names));
			names[count++] = mem_strdup(entry->d_name);
		}
	closedir(entries);
	if (count)
		qsort(names, count, sizeof(*names), compare_hashed_names);
	*ret = names;
	return (ssize_t)count;
}

/* Recursion is bounded by TREE_DEPTH_MAX. */
static bool hash_folder(struct tree_hashing *hashing, int folder, unsigned depth, struct err *err)
{
	char **names = NULL;
	const ssize_t count = names_sorted(hashing, folder, depth, &names);
	bool ok = count >= 0 || hash_fail(hashing, err);

	for (ssize_t i = 0; i < count; i++) {
		ok = ok && hash_entry(hashing, folder, names[i], depth, err);
		free(names[i]);
	}
	free(names);
	hash_number(hashing, 0); /* its end */
	return ok;
}

static bool hash_tree(struct tree_hashing *hashing, struct sha256 *ret, struct err *err)
{
	_cleanup_fd_ int top = open(hashing->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ok;

	if (top < 0)
		return err_set_errno(err, errno, "Cannot read the folder %s", hashing->folder);
	hashing->piece = mem_alloc(HASH_PIECE, 1);
	sha256_init(&hashing->sum);
	ok = hash_folder(hashing, top, 0, err);
	free(hashing->piece);
	if (ok)
		*ret = sha256_final(&hashing->sum);
	return ok;
}

bool tree_hash(const char *folder, const char *const *skip, struct sha256 *ret, struct err *err)
{
	struct tree_hashing hashing = { .folder = folder, .skip = skip };

	return hash_tree(&hashing, ret, err);
}

bool tree_hash_quick(const char *folder, const char *const *skip, struct sha256 *ret,
                     struct err *err)
{
	struct tree_hashing hashing = { .folder = folder, .skip = skip, .quick = true };

	return hash_tree(&hashing, ret, err);
}
