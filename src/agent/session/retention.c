/* SPDX-License-Identifier: Apache-2.0 */
/* How long recorded sessions stay: general.sessionRetention. */
#include "agent/session/sessions.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "agent/session/record.h"
#include "base/mem.h"
#include "base/text.h"

#define RETENTION "general.sessionRetention."

enum { FILES_MAX = 100000 };

/* Parses "12h", "30d", "4w", "2m" (30 days each) into seconds, at most a thousand years; -1:
 * invalid. */
static int64_t retention_parse(const char *text)
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

bool sessions_retention_read(const struct settings *settings, struct retention *ret,
                             const char **ret_why)
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
	char *id;   /* owned; NULL: it is no session, or not known yet */
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

/* `newer`: how many sessions were changed later. */
static bool may_go(const struct retention *retention, int64_t changed, size_t newer, int64_t now)
{
	const int64_t age = now - changed;
	const bool old = retention->max_age > 0 && age > retention->max_age;
	const bool many = retention->max_count > 0 && newer >= retention->max_count;

	return (old || many) && age > retention->min_age;
}

/* Whether any would be deleted if each file were a separate session. Sessions are at most as old,
 * and as many, as their files. */
static bool any_may_go(const struct retention *retention, const struct file *files, size_t count,
                       int64_t now)
{
	for (size_t i = 0; i < count; i++)
		if (may_go(retention, files[i].changed, i, now))
			return true;
	return false;
}

/* A session's files in one piece, newest first. */
static int by_session(const void *a, const void *b)
{
	const struct file *left = a, *right = b;
	const int order =
		strcmp(left->id ? left->id : left->path, right->id ? right->id : right->path);

	return order ? order : newest_first(a, b);
}

struct session_group {
	size_t from, count; /* of the files */
	int64_t changed;    /* the newest one */
};

static int newest_group_first(const void *a, const void *b)
{
	const struct session_group *left = a, *right = b;

	if (left->changed != right->changed)
		return left->changed > right->changed ? -1 : 1;
	return left->from < right->from ? -1 : 1;
}

/* The caller frees. */
static struct session_group *group_files(struct file *files, size_t count, size_t *ret_count)
{
	struct session_group *groups = mem_alloc(count + 1, sizeof(*groups));
	size_t made = 0;

	for (size_t i = 0; i < count; i++)
		files[i].id = session_read_id(files[i].path);
	qsort(files, count, sizeof(*files), by_session);
	for (size_t i = 0; i < count; i++) {
		if (i && files[i].id && files[i - 1].id &&
		    strcmp(files[i].id, files[i - 1].id) == 0)
			groups[made - 1].count++;
		else
			groups[made++] = (struct session_group){ i, 1, files[i].changed };
	}
	qsort(groups, made, sizeof(*groups), newest_group_first);
	*ret_count = made;
	return groups;
}

static bool has_path(const struct file *files, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (path && strcmp(files[i].path, path) == 0)
			return true;
	return false;
}

static bool remove_session_group(struct home *home, const struct file *files, size_t count)
{
	_cleanup_free_ const char **paths = mem_alloc(count, sizeof(*paths));
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < count; i++)
		paths[i] = files[i].path;
	return session_remove(home, files[0].id, paths, count, &ignored);
}

static size_t delete_old(struct home *home, const struct retention *retention, struct file *files,
                         size_t count, int64_t now, const char *kept)
{
	size_t group_count, deleted = 0;
	_cleanup_free_ struct session_group *groups = group_files(files, count, &group_count);

	for (size_t i = 0; i < group_count; i++)
		if (may_go(retention, groups[i].changed, i, now) &&
		    !has_path(files + groups[i].from, groups[i].count, kept))
			deleted += remove_session_group(home, files + groups[i].from,
			                                groups[i].count);
	return deleted;
}

size_t sessions_retention_apply(struct home *home, const struct retention *retention,
                                int64_t now_seconds,
                                const char *kept)
{
	_cleanup_free_ char *folder = NULL;
	struct file *files;
	size_t count, deleted = 0;

	if (!home_find(home))
		return 0;
	folder = mem_printf("%s/chats", home_temp(home));
	count = list_files(folder, &files);
	if (any_may_go(retention, files, count, now_seconds))
		deleted = delete_old(home, retention, files, count, now_seconds, kept);
	for (size_t i = 0; i < count; i++) {
		free(files[i].path);
		free(files[i].id);
	}
	free(files);
	return deleted;
}
