/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of sessions' files that stand there for others than the conversation. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/session/sessions.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

/* Of a longer file nothing is looked for. */
#define OWN_LINES_BYTES_MAX ((size_t)512 << 20)

/* ---- one file ---------------------------------------------------------------- */

struct own_lines {
	const char *path, *name;
	struct span prefix;      /* as record_a2a_task and the like write it */
	void (*visit)(void *data, const char *path, const json_t *value);
	void *data;
};

static void own_line(const struct own_lines *lines, struct span line)
{
	json_auto_t *value = NULL;

	if (line.len <= LIMIT_SESSION_LINE_BYTES && session_parse_line(line, &value))
		lines->visit(lines->data, lines->path,
		             json_object_get(json_object_get(value, "hasp"), lines->name));
}

/* Others are hardly looked at: most of a file is no such line. */
static void own_lines_of(const struct own_lines *lines, struct span text)
{
	while (text.len) {
		const char *found = memmem(text.data, text.len, lines->prefix.data,
		                           lines->prefix.len);
		const size_t at = found ? (size_t)(found - text.data) : 0;
		const char *end = found ? memchr(found, '\n', text.len - at) : NULL;

		if (!end) /* of one that a crash cut nothing counts */
			return;
		if (!at || found[-1] == '\n')
			own_line(lines, span_of(found, (size_t)(end - found)));
		text = span_skip(text, (size_t)(end - text.data) + 1);
	}
}

void session_own_lines(const char *path, const char *name,
                       void (*visit)(void *data, const char *path, const json_t *value),
                       void *data)
{
	_cleanup_free_ char *prefix = mem_printf("{\"hasp\":{\"%s\":", name);
	const struct own_lines lines = { path, name, span_str(prefix), visit, data };
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;

	if (file_read(path, OWN_LINES_BYTES_MAX, &text, &ignored))
		own_lines_of(&lines, file_text_span(&text));
}

/* ---- all of a project -------------------------------------------------------- */

struct own_lines_file {
	char *path; /* owned */
	int64_t modified;
};

static int own_file_later_first(const void *a, const void *b)
{
	const struct own_lines_file *left = a, *right = b;

	if (left->modified != right->modified)
		return left->modified < right->modified ? 1 : -1;
	return strcmp(right->path, left->path);
}

/* The caller frees the array and the paths in it. */
static struct own_lines_file *own_files_list(const char *folder, size_t *ret_count)
{
	DIR *entries = opendir(folder);
	struct own_lines_file *files = NULL;
	size_t count = 0, cap = 0;
	struct dirent *entry;
	struct stat status;

	while (entries && (entry = readdir(entries))) {
		if (!session_is_name(entry->d_name) ||
		    fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(status.st_mode))
			continue;
		files = mem_grow(files, &cap, count + 1, sizeof(*files));
		files[count++] = (struct own_lines_file){
			.path = mem_printf("%s/%s", folder, entry->d_name),
			.modified = (int64_t)status.st_mtim.tv_sec * 1000000000 +
			            status.st_mtim.tv_nsec,
		};
	}
	if (entries)
		closedir(entries);
	if (count)
		qsort(files, count, sizeof(*files), own_file_later_first);
	*ret_count = count;
	return files;
}

void sessions_own_lines(struct home *home, const char *name, size_t most,
                        void (*visit)(void *data, const char *path, const json_t *value),
                        void *data)
{
	_cleanup_free_ char *folder = NULL;
	struct own_lines_file *files;
	size_t count;

	if (!home_find(home))
		return;
	folder = mem_printf("%s/chats", home_temp(home));
	files = own_files_list(folder, &count);
	for (size_t i = count; i--;) {
		if (i < most)
			session_own_lines(files[i].path, name, visit, data);
		free(files[i].path);
	}
	free(files);
}

/* ---- one of them ------------------------------------------------------------- */

/* Names have the beginning of the id. */
static bool file_is_of(const char *folder, const char *name, const char *id)
{
	_cleanup_free_ char *part = mem_printf("-%.8s", id), *path = NULL, *found = NULL;

	if (!session_is_name(name) || !strstr(name, part))
		return false;
	path = mem_printf("%s/%s", folder, name);
	found = session_read_id(path);
	return found && !strcmp(found, id);
}

char *sessions_file(struct home *home, const char *id)
{
	_cleanup_free_ char *folder = NULL;
	struct dirent *entry;
	char *path = NULL;
	DIR *entries;

	if (!home_find(home))
		return NULL;
	folder = mem_printf("%s/chats", home_temp(home));
	entries = opendir(folder);
	while (!path && entries && (entry = readdir(entries)))
		if (file_is_of(folder, entry->d_name, id))
			path = mem_printf("%s/%s", folder, entry->d_name);
	if (entries)
		closedir(entries);
	return path;
}
