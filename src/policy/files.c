/* SPDX-License-Identifier: Apache-2.0 */
/* Policy files and folders of them: found and read. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "policy/policy.h"
#include "policy/rule.h"

static bool read_policy_file(int fd, struct buf *out)
{
	struct stat info;

	if (fstat(fd, &info) != 0)
		return false;
	if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size >= LIMIT_POLICY_BYTES) {
		errno = S_ISREG(info.st_mode) ? EFBIG : EINVAL;
		return false;
	}
	return fd_read_into(fd, out, (size_t)info.st_size + 1) >= 0;
}

bool policy_add_file(struct policy *policy, enum policy_tier tier, const char *path,
                     json_t *problems)
{
	struct loader loader = {
		.policy = policy, .tier = tier, .file = path, .problems = problems,
	};
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_POLICY_BYTES + 1);
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || !read_policy_file(fd, &text)) {
		load_problem(&loader, NULL, "file_read", "it cannot be read: %s.",
		             strerror(errno));
		return false;
	}
	return load_text(&loader, buf_from(&text, 0));
}

/* ---- folders -------------------------------------------------------------------------- */

static int is_policy(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && strcmp(entry->d_name + len - 5, ".toml") == 0 &&
	       entry->d_name[0] != '.';
}

/* Bytes, whatever the locale. */
static int compare_file_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static bool report_file_problem(struct policy *policy, enum policy_tier tier, const char *path,
                                json_t *problems, const char *what)
{
	struct loader loader = {
		.policy = policy, .tier = tier, .file = path, .problems = problems,
	};

	load_problem(&loader, NULL, "file_read", "it %s.", what);
	return false;
}

static bool complain_errno(struct policy *policy, enum policy_tier tier, const char *path,
                           json_t *problems)
{
	_cleanup_free_ char *what = mem_printf("cannot be read: %s", strerror(errno));

	return report_file_problem(policy, tier, path, problems, what);
}

static bool add_folder_files(struct policy *policy, enum policy_tier tier, const char *folder,
                             json_t *problems)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_policy, compare_file_names);
	bool well = count >= 0 || complain_errno(policy, tier, folder, problems);

	for (int i = 0; i < count; i++) {
		_cleanup_free_ char *path = mem_printf("%s/%s", folder, entries[i]->d_name);

		well = policy_add_file(policy, tier, path, problems) && well;
		free(entries[i]);
	}
	free(entries);
	return well;
}

/* Where a link leads out of the project: whether there is nothing that would not be used. */
static bool policy_is_missing(const char *path)
{
	struct stat info;
	const int saved = errno;
	const bool missing = stat(path, &info) != 0 && errno == ENOENT;

	errno = saved;
	return missing;
}

static bool add_project_file(struct policy *policy, const char *project, const char *path,
                             json_t *problems)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct loader loader = { .policy = policy, .tier = POLICY_WORKSPACE, .file = path,
		                 .problems = problems };
	struct err err = ERR_INIT;

	if (!door_read(project, path, LIMIT_POLICY_BYTES - 1, &text, &err) &&
	    !policy_is_missing(path))
		load_problem(&loader, NULL, "file_read", "%s", err.message);
	return text.data ? load_text(&loader, file_text_span(&text)) : !loader.failed;
}

bool policy_add_project(struct policy *policy, const char *project, json_t *problems)
{
	_cleanup_free_ char *folder = mem_printf("%s/.gemini/policies", project);
	_cleanup_free_ char *single = mem_printf("%s.toml", folder);
	_cleanup_fd_ int fd = door_folder(project, folder);
	struct dirent **entries = NULL;
	int count = fd < 0 ? -1 : scandirat(fd, ".", &entries, is_policy, compare_file_names);
	bool well = count >= 0 || errno == ENOENT ||
	            (errno == EXDEV && policy_is_missing(folder)) ||
	            (errno == EXDEV ?
	             report_file_problem(policy, POLICY_WORKSPACE, folder, problems,
	                                 "is not used: it leads outside of the project") :
	                              complain_errno(policy, POLICY_WORKSPACE, folder, problems));

	for (int i = 0; i < count; i++) {
		_cleanup_free_ char *path = mem_printf("%s/%s", folder, entries[i]->d_name);

		well = add_project_file(policy, project, path, problems) && well;
		free(entries[i]);
	}
	free(entries);
	return add_project_file(policy, project, single, problems) && well;
}

bool policy_add_path(struct policy *policy, enum policy_tier tier, const char *path,
                     json_t *problems)
{
	struct stat info;

	if (stat(path, &info) != 0)
		return errno == ENOENT || complain_errno(policy, tier, path, problems);
	if (!S_ISDIR(info.st_mode))
		return policy_add_file(policy, tier, path, problems);
	return add_folder_files(policy, tier, path, problems);
}

/* Only root may be able to write it: its rules apply to all users. */
static bool is_roots(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && info.st_uid == 0 && !(info.st_mode & (S_IWGRP | S_IWOTH));
}

static bool all_roots(const char *folder)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_policy, compare_file_names);
	bool well = count >= 0 && is_roots(folder);

	for (int i = 0; i < count; i++) {
		_cleanup_free_ char *path = mem_printf("%s/%s", folder, entries[i]->d_name);

		well = well && is_roots(path);
		free(entries[i]);
	}
	free(entries);
	return well;
}

bool policy_add_folder(struct policy *policy, enum policy_tier tier, const char *folder,
                       json_t *problems)
{
	struct stat info;

	if (stat(folder, &info) != 0 && errno == ENOENT)
		return true;
	if (tier == POLICY_ADMIN && !all_roots(folder))
		return report_file_problem(policy, tier, folder, problems,
		                           "is not used: it and its files must belong to root, and "
		                           "no other user may write them");
	return policy_add_path(policy, tier, folder, problems);
}
