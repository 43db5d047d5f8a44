/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prompt/prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/unseen.h"
#include "data/json.h"
#include "data/warnings.h"

static bool read_through_provider(const struct source *source, const char *path, struct buf *out,
                                  struct err *err)
{
	struct read_request request = { .path = path, .whole = true,
		                        .max_file_bytes = LIMIT_MEMORY_FILE_BYTES };
	struct read_result read;
	bool ok = provider_read(source->provider, &request, &read, err);

	if (ok && read.kind != READ_TEXT)
		ok = err_set(err, ERR_NOT_TEXT, "%s is not text.", path);
	if (ok)
		buf_span(out, buf_view(&read.content));
	read_result_release(&read);
	return ok;
}

/* Beneath the root for the kernel too, whatever links there are. */
static int open_source(const struct source *source, const char *path)
{
	_cleanup_fd_ int root = open(source->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *rest = path + strlen(source->root);

	if (root < 0)
		return -1;
	while (*rest == '/')
		rest++;
	return fd_open_beneath_linked(root, rest, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

static bool source_check_file(const struct source *source, int fd, const char *path,
                              size_t *ret_size,
                              struct err *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return err_set_errno(err, errno, "Cannot read %s", path);
	if (!S_ISREG(status.st_mode))
		return err_set(err, ERR_NOT_A_FILE, "%s is not a regular file.", path);
	if (source->own_only && status.st_uid != geteuid() && status.st_uid != 0)
		return err_set(err, ERR_PERMISSION_DENIED, "%s belongs to another user.", path);
	if ((uint64_t)status.st_size > LIMIT_MEMORY_FILE_BYTES)
		return err_set(err, ERR_TOO_LARGE, "%s is larger than %zu bytes.", path,
		               LIMIT_MEMORY_FILE_BYTES);
	*ret_size = (size_t)status.st_size;
	return true;
}

static bool read_directly(const struct source *source, const char *path, struct buf *out,
                          struct err *err)
{
	_cleanup_fd_ int fd = open_source(source, path);
	struct span text;
	ssize_t got;
	size_t size = 0;
	char *room;

	if (fd < 0 && errno == EXDEV)
		return err_set(err, ERR_OUTSIDE_WORKSPACE, "%s leads outside of %s.", path,
		               source->root);
	if (fd < 0)
		return err_set_errno(err, errno, "Cannot open %s", path);
	if (!source_check_file(source, fd, path, &size, err))
		return false;
	room = buf_reserve(out, size);
	if (!room)
		return err_set(err, ERR_TOO_LARGE, "There is no room for %s.", path);
	got = fd_read_full(fd, room, size);
	if (got < 0)
		return err_set_errno(err, errno, "Cannot read %s", path);
	text = span_of(room, (size_t)got);
	if (!utf8_valid(text) || memchr(room, 0, (size_t)got))
		return err_set(err, ERR_NOT_TEXT, "%s is not UTF-8 text.", path);
	out->len += (size_t)got;
	return true;
}

void source_notice_unseen(const char *what, size_t count, json_t *notices)
{
	_cleanup_free_ char *text = mem_printf(
		"%s has %zu invisible %s. The model sees %s such as \\u{e0041}. Check where %s "
		"from.",
		what, count, count == 1 ? "character" : "characters",
		count == 1 ? "it as an escape" : "them as escapes",
		count == 1 ? "it comes" : "they come");

	warnings_add(notices, json_text(span_str(text)));
}

bool source_read(const struct source *source, const char *path, struct buf *out, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MEMORY_FILE_BYTES);
	size_t unseen;

	if (!path_is_under(path, source->root))
		return err_set(err, ERR_OUTSIDE_WORKSPACE, "%s is outside of %s.", path,
		               source->root);
	if (!(source->provider ? read_through_provider(source, path, &text, err) :
	                         read_directly(source, path, &text, err)))
		return false;
	unseen = unseen_show(out, buf_view(&text));
	if (unseen && source->notices)
		source_notice_unseen(path, unseen, source->notices);
	return !out->overflowed ||
	       err_set(err, ERR_TOO_LARGE,
	               "%s is too large once its invisible characters are escaped.",
	               path);
}

/* ---- lists ----------------------------------------------------------------------- */

enum { LIST_DEPTH_MAX = 8 };

struct path_list {
	char **paths;
	size_t count, cap, max;
	const char *ending;
};

static void list_path(struct path_list *list, const char *folder, const char *name)
{
	if (list->count == list->max || !span_ends(span_str(name), span_str(list->ending)))
		return;
	list->paths = mem_grow(list->paths, &list->cap, list->count + 1, sizeof(*list->paths));
	list->paths[list->count++] = path_join(folder, name);
}

static void list_directly(struct path_list *list, const struct source *source, const char *folder,
                          unsigned depth)
{
	char **names = NULL;
	const size_t count = door_names(door_folder(source->root, folder), list->max, &names);

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *path = path_join(folder, names[i]);
		struct stat status;

		if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
			if (depth < LIST_DEPTH_MAX)
				list_directly(list, source, path, depth + 1);
		} else {
			list_path(list, folder, names[i]);
		}
		free(names[i]);
	}
	free(names);
}

static int compare_listed(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_through_provider(struct path_list *list, struct provider *provider,
                                  const char *folder)
{
	_cleanup_free_ char *glob = mem_printf("*%s", list->ending);
	const char *const include = glob;
	const struct walk_request request = { .path = folder, .recursive = true,
		                              .include = &include, .include_count = 1,
		                              .max_entries = list->max,
		                              .rules = { .no_git_ignore = true } };
	struct walk_result found;
	struct err err = ERR_INIT;

	if (!provider->ops->walk(provider, &request, &found, &err))
		return;
	for (size_t i = 0; i < found.count; i++)
		list_path(list, folder, found.entries[i].path);
	walk_result_release(&found);
}

size_t source_list(const struct source *source, const char *folder, const char *ending, size_t max,
                   char ***ret)
{
	struct path_list list = { .max = max, .ending = ending };

	if (source->provider)
		list_through_provider(&list, source->provider, folder);
	else if (path_is_under(folder, source->root))
		list_directly(&list, source, folder, 0);
	if (list.count)
		qsort(list.paths, list.count, sizeof(*list.paths), compare_listed);
	*ret = list.paths;
	return list.count;
}
