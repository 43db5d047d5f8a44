/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a protected git configuration for a command: outside of the sandbox.
 *
 * The git folder is one that commands write to, so nothing in it is believed: it is opened without
 * following links, files are regular ones, and the judgement is on the bytes read, once.  The new
 * file has a name that the supervisor of no command lets it open, make, link or move to
 * (GIT_CHANGE_TEMPORARY); removing it is all that could be done, and then the rename fails. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "sandbox/plan/denial.h"
#include "sandbox/plan/git_change.h"
#include "worker/front/private.h"

/* ---- reading ---- */

static const char config_name[] = "config", lock_name[] = "config.lock";

/* Whether the plan protects the path as git configuration, and lets commands write in its
 * folder. */
static bool is_config_of_plan(const struct sandbox_plan *plan, const char *path)
{
	_cleanup_free_ char *lock = mem_printf("%s.lock", path);
	const char *slash = strrchr(path, '/');
	struct denial denial;

	return path[0] == '/' && slash > path && strcmp(slash + 1, config_name) == 0 &&
	       !plan_judge_rules(plan, path, SANDBOX_WRITE, true, &denial) &&
	       denial.reason == SANDBOX_REASON_GIT && strcmp(denial.rule, path) == 0 &&
	       plan_judge(plan, lock, SANDBOX_WRITE, true, NULL);
}

/* The folder of the file, reached through no link; owned. -1 with errno set. */
static int open_git_folder(const char *path)
{
	_cleanup_fd_ int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *folder = mem_dup(path, (size_t)(strrchr(path, '/') - path));

	return top < 0 ? -1 : fd_open_beneath(top, folder + 1, O_RDONLY | O_DIRECTORY);
}

struct config_file {
	char *text; /* owned */
	size_t len;
	struct stat st;
};

static void config_file_release(struct config_file *file)
{
	free(file->text);
}

#define _cleanup_config_file_ __attribute__((cleanup(config_file_release)))

static bool read_plain_config(int folder, const char *name, struct config_file *ret)
{
	_cleanup_fd_ int fd = fd_open_beneath(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	ssize_t n;

	if (fd < 0 || fstat(fd, &ret->st) != 0 || !S_ISREG(ret->st.st_mode) ||
	    ret->st.st_nlink != 1 || (size_t)ret->st.st_size >= LIMIT_GUARD_FILE_BYTES)
		return false;
	ret->text = mem_alloc(1, LIMIT_GUARD_FILE_BYTES);
	n = fd_read_full(fd, ret->text, LIMIT_GUARD_FILE_BYTES);
	ret->len = n > 0 ? (size_t)n : 0;
	return n >= 0 && ret->len < LIMIT_GUARD_FILE_BYTES;
}

/* ---- writing ---- */

static bool is_still(int folder, const struct config_file *file)
{
	struct stat now;

	return fstatat(folder, config_name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       now.st_dev == file->st.st_dev && now.st_ino == file->st.st_ino &&
	       now.st_size == file->st.st_size &&
	       now.st_mtim.tv_sec == file->st.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == file->st.st_mtim.tv_nsec &&
	       now.st_ctim.tv_sec == file->st.st_ctim.tv_sec &&
	       now.st_ctim.tv_nsec == file->st.st_ctim.tv_nsec;
}

/* Writes `new` to a file with the owner and mode of `old`. */
static bool fill_new_config(int fd, const struct config_file *old, const struct config_file *new)
{
	struct stat st;

	if (!fd_write_all(fd, new->text, new->len) || fstat(fd, &st) != 0)
		return false;
	if ((st.st_uid != old->st.st_uid || st.st_gid != old->st.st_gid) &&
	    fchown(fd, old->st.st_uid, old->st.st_gid) != 0)
		return false;
	return fchmod(fd, old->st.st_mode & 07777) == 0 && fsync(fd) == 0;
}

static bool replace_config(int folder, const struct config_file *old,
                           const struct config_file *new)
{
	uint64_t number;
	char name[64];
	_cleanup_fd_ int fd = -1;
	bool done;

	random_distinct(&number, sizeof(number));
	snprintf(name, sizeof(name), GIT_CHANGE_TEMPORARY "%016llx", (unsigned long long)number);
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	done = fill_new_config(fd, old, new) && is_still(folder, old) &&
	       renameat(folder, name, folder, config_name) == 0;
	if (done)
		fsync(folder);
	else
		unlinkat(folder, name, 0);
	return done;
}

bool front_write_config(const struct sandbox_plan *plan, const char *path)
{
	_cleanup_config_file_ struct config_file old = { 0 }, new = { 0 };
	_cleanup_fd_ int folder = -1;
	char keys[GIT_CHANGE_KEYS];

	if (!is_config_of_plan(plan, path))
		return false;
	folder = open_git_folder(path);
	if (folder < 0 || !read_plain_config(folder, config_name, &old) ||
	    !read_plain_config(folder, lock_name, &new))
		return false;
	switch (git_change_judge(span_of(old.text, old.len), span_of(new.text, new.len), keys)) {
	case GIT_CHANGE_NONE:
		return true;
	case GIT_CHANGE_HARMLESS:
		return replace_config(folder, &old, &new);
	case GIT_CHANGE_REFUSED:
		break;
	}
	return false;
}
