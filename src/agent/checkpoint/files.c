/* SPDX-License-Identifier: Apache-2.0 */
/* Notes as files of a folder. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/checkpoint/note.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"

static void cleanup_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

static bool fill(int fd, struct span text, bool durable)
{
	return fd_write_all(fd, text.data, text.len) && (!durable || fsync(fd) == 0);
}

/* The folder is synced after the name has come into it. */
static void sync_folder(const char *folder)
{
	_cleanup_fd_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		fsync(fd);
}

bool note_save(const char *folder, const char *id, struct span text, bool durable, struct err *err)
{
	_cleanup_free_ char *path = mem_printf("%s/%s.json", folder, id);
	_cleanup_free_ char *early = mem_printf("%s/.%s.tmp", folder, id);
	_cleanup_fd_ int fd = open(early, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
	                           0600);
	int error = 0;

	if (fd < 0)
		return err_set_errno(err, errno, "Cannot make %s", early);
	if (!fill(fd, text, durable) || renameat2(AT_FDCWD, early, AT_FDCWD, path, RENAME_NOREPLACE))
		error = errno;
	if (error) {
		unlink(early);
		return err_set_errno(err, error, "Cannot write %s", path);
	}
	if (durable)
		sync_folder(folder);
	return true;
}

static bool read_note(const char *folder, const char *id, struct note *ret)
{
	_cleanup_free_ char *path = mem_printf("%s/%s.json", folder, id);
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_CHECKPOINT_NOTE_BYTES);
	struct err ignored = ERR_INIT;
	struct stat stat;
	char *room;
	ssize_t n;

	if (fd < 0 || fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode) || stat.st_size <= 0)
		return false;
	room = buf_reserve(&text, (size_t)stat.st_size);
	n = room ? fd_read_full(fd, room, (size_t)stat.st_size) : -1;
	if (n < 0)
		return false;
	text.len += (size_t)n;
	if (!note_parse(buf_view(&text), ret, &ignored))
		return false;
	ret->id = mem_strdup(id);
	return true;
}

struct names {
	char **list; /* owned, with its strings */
	size_t count, cap;
};

static void names_release(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Their ids, sorted, which is by time. */
static bool list_ids(const char *folder, const char *first, struct names *ret, struct err *err)
{
	__attribute__((cleanup(cleanup_folder))) DIR *open = opendir(folder);
	struct dirent *entry;

	if (!open)
		return errno == ENOENT || err_set_errno(err, errno, "Cannot read %s", folder);
	while ((entry = readdir(open))) {
		struct span name = span_str(entry->d_name);
		_cleanup_free_ char *id = NULL;

		if (!span_ends(name, SPAN(".json")))
			continue;
		id = mem_dup(name.data, name.len - strlen(".json"));
		if (!note_id_valid(id) || (first && strcmp(id, first) < 0))
			continue;
		if (ret->count >= LIMIT_CHECKPOINTS)
			return err_set(err, ERR_TOO_LARGE, "%s has more than %d checkpoints.", folder,
			               LIMIT_CHECKPOINTS);
		ret->list = mem_grow(ret->list, &ret->cap, ret->count + 1, sizeof(*ret->list));
		ret->list[ret->count++] = mem_steal(&id);
	}
	if (ret->count)
		qsort(ret->list, ret->count, sizeof(*ret->list), compare);
	return true;
}

bool notes_read(const char *folder, const char *first, struct note **ret, size_t *ret_count,
                struct err *err)
{
	__attribute__((cleanup(names_release))) struct names names = { 0 };
	size_t count = 0;

	if (!list_ids(folder, first, &names, err))
		return false;
	*ret = mem_alloc(names.count + 1, sizeof(**ret));
	for (size_t i = 0; i < names.count; i++)
		count += read_note(folder, names.list[i], &(*ret)[count]);
	*ret_count = count;
	return true;
}
