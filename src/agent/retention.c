/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/retention.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/sessions.h"
#include "base/mem.h"

#define RETENTION "general.sessionRetention."

enum { FILES_MAX = 100000 };

int64_t retention_parse(const char *text)
{
	static const struct {
		char letter;
		int64_t seconds;
	} units[] = { { 'h', 3600 }, { 'd', 86400 }, { 'w', 7 * 86400 }, { 'm', 30 * 86400 } };
	char *end;
	long long count;

	if (*text < '0' || *text > '9')
		return -1;
	count = strtoll(text, &end, 10);
	if (count < 1 || count > 1000LL * 366 * 24 || !*end || end[1])
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (units[i].letter == *end && count <= 1000LL * 366 * 86400 / units[i].seconds)
			return count * units[i].seconds;
	return -1;
}

bool retention_read(const struct settings *settings, struct retention *ret, const char **ret_why)
{
	const int64_t count = settings_integer(settings, RETENTION "maxCount", 0);
	const char *max = settings_string(settings, RETENTION "maxAge", "30d");
	const char *min = settings_string(settings, RETENTION "minRetention", "1d");

	*ret_why = NULL;
	if (!settings_bool(settings, RETENTION "enabled", true))
		return false;
	*ret = (struct retention){ .max_age = retention_parse(max),
		                   .min_age = retention_parse(min),
		                   .max_count = count > 0 ? (size_t)count : 0 };
	if (ret->max_age > 0 && ret->min_age > 0 && ret->max_age >= ret->min_age)
		return true;
	*ret_why = ret->max_age < 0 || ret->min_age < 0 ?
	                   "general.sessionRetention: maxAge and minRetention are a number and one "
	                   "of h, d, w, m, such as 30d. No session is deleted." :
	                   "general.sessionRetention: maxAge is shorter than minRetention. No "
	                   "session is deleted.";
	return false;
}

struct file {
	char *path; /* owned */
	int64_t changed;
};

static int newest_first(const void *a, const void *b)
{
	const struct file *left = a, *right = b;

	if (left->changed != right->changed)
		return left->changed > right->changed ? -1 : 1;
	return strcmp(right->path, left->path);
}

static size_t list_files(const char *folder, struct file **ret)
{
	DIR *files = opendir(folder);
	struct file *list = NULL;
	size_t count = 0, cap = 0;
	struct dirent *entry;

	while (files && count < FILES_MAX && (entry = readdir(files))) {
		struct stat st;

		if (!session_is_name(entry->d_name) ||
		    fstatat(dirfd(files), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		list = mem_grow(list, &cap, count + 1, sizeof(*list));
		list[count++] = (struct file){ .path = mem_printf("%s/%s", folder, entry->d_name),
			                       .changed = st.st_mtim.tv_sec };
	}
	if (files)
		closedir(files);
	if (count > 0)
		qsort(list, count, sizeof(*list), newest_first);
	*ret = list;
	return count;
}

static bool may_go(const struct retention *retention, const struct file *file, size_t newer,
                   int64_t now)
{
	const int64_t age = now - file->changed;
	const bool old = retention->max_age > 0 && age > retention->max_age;
	const bool many = retention->max_count > 0 && newer >= retention->max_count;

	return (old || many) && age > retention->min_age;
}

size_t retention_apply(struct home *home, const struct retention *retention, int64_t now_seconds,
                       const char *kept)
{
	_cleanup_free_ char *folder = NULL;
	struct err ignored = ERR_INIT;
	struct file *files;
	size_t count, deleted = 0;

	if (!home_find(home))
		return 0;
	folder = mem_printf("%s/chats", home_temp(home));
	count = list_files(folder, &files);
	for (size_t i = 0; i < count; i++) {
		if ((!kept || strcmp(kept, files[i].path) != 0) &&
		    may_go(retention, &files[i], i, now_seconds))
			deleted += session_remove(home, files[i].path, &ignored);
		free(files[i].path);
	}
	free(files);
	return deleted;
}
