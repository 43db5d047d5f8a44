/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/sessions.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/record_lines.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/content.h"

enum { TITLE_BYTES = 100, SESSIONS_MAX = 100000 };

bool session_is_name(const char *name)
{
	struct span text = span_str(name);

	return strncmp(name, "session-", 8) == 0 &&
	       (span_ends(text, SPAN(".jsonl")) || span_ends(text, SPAN(".json")));
}

/* What the user said first, on one line. */
static json_t *title_of(const struct session_read *read)
{
	_cleanup_buf_ struct buf text = BUF_INIT(64 << 20);
	const char *summary = json_string_value(json_object_get(read->metadata, "summary"));
	struct span head;

	if (summary && *summary)
		buf_str(&text, summary);
	else
		content_text(json_array_get(read->contents, 0), &text);
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f)
			text.data[i] = ' ';
	head = utf8_head(buf_view(&text), TITLE_BYTES);
	return json_text(head);
}

static json_t *describe(const char *path)
{
	struct session_read read;
	struct err ignored = ERR_INIT;
	json_t *row = NULL;

	if (!session_read(path, &read, &ignored))
		return NULL;
	if (json_array_size(read.contents)) {
		row = json_object();
		json_object_set_new(row, "id", json_text(span_str(read.id)));
		json_object_set_new(row, "file", json_text(span_str(path)));
		json_object_set_new(row, "title", title_of(&read));
		json_object_set(row, "startTime", json_object_get(read.metadata, "startTime"));
		json_object_set_new(row, "messages",
		                    json_integer((json_int_t)json_array_size(read.messages)));
	}
	session_read_release(&read);
	return row;
}

static const char *start_of(const json_t *row)
{
	const char *text = json_string_value(json_object_get(row, "startTime"));

	return text ? text : "";
}

static int compare_rows(const void *a, const void *b)
{
	const json_t *left = *(json_t *const *)a, *right = *(json_t *const *)b;
	int order = strcmp(start_of(left), start_of(right));

	return order ? order : strcmp(json_string_value(json_object_get(left, "file")),
	                              json_string_value(json_object_get(right, "file")));
}

static json_t *sorted(const json_t *rows)
{
	size_t count = json_array_size(rows);
	_cleanup_free_ json_t **list = mem_alloc(count + 1, sizeof(*list));
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++)
		list[i] = json_array_get(rows, i);
	qsort(list, count, sizeof(json_t *), compare_rows);
	for (size_t i = 0; i < count; i++)
		json_array_append(all, list[i]);
	return all;
}

json_t *sessions_list(struct home *home)
{
	json_auto_t *rows = json_array();
	_cleanup_free_ char *folder = NULL;
	struct dirent *entry;
	DIR *files;

	if (!home_find(home))
		return json_array();
	folder = mem_printf("%s/chats", home_temp(home));
	files = opendir(folder);
	while (files && json_array_size(rows) < SESSIONS_MAX && (entry = readdir(files))) {
		_cleanup_free_ char *path = mem_printf("%s/%s", folder, entry->d_name);
		json_t *row = session_is_name(entry->d_name) ? describe(path) : NULL;

		if (row)
			json_array_append_new(rows, row);
	}
	if (files)
		closedir(files);
	return sorted(rows);
}

static bool starts_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* The number that the text is, from 1; 0: it is none. */
static size_t number_of(const char *text)
{
	if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 6)
		return 0;
	return (size_t)strtoul(text, NULL, 10);
}

/* The row that `which` names; NULL with *err. */
static const json_t *choose(const json_t *rows, const char *which, struct err *err)
{
	struct span shown = utf8_head(span_str(which), 80);
	size_t number = number_of(which);
	const json_t *found = NULL;
	size_t i;
	json_t *row;

	if (strcmp(which, "latest") == 0 && json_array_size(rows))
		return json_array_get(rows, json_array_size(rows) - 1);
	if (number && number <= json_array_size(rows))
		return json_array_get(rows, number - 1);
	json_array_foreach(rows, i, row) {
		const char *id = json_string_value(json_object_get(row, "id"));

		if (strcmp(id, which) == 0)
			return row;
		if (strlen(which) < 8 || !starts_with(id, which))
			continue;
		if (found) {
			err_set(err, ERR_INVALID_ARGUMENT, "Several sessions begin with \"%.*s\".",
			        (int)shown.len, shown.data);
			return NULL;
		}
		found = row;
	}
	if (!found)
		err_set(err, ERR_INVALID_ARGUMENT,
		        "There is no session \"%.*s\"; --list-sessions shows the %zu of this project.",
		        (int)shown.len, shown.data, json_array_size(rows));
	return found;
}

bool sessions_find(struct home *home, const char *which, char **ret_path, struct err *err)
{
	json_auto_t *rows = sessions_list(home);
	const json_t *row = choose(rows, which, err);

	if (row)
		*ret_path = mem_strdup(json_string_value(json_object_get(row, "file")));
	return row != NULL;
}

/* Removes a folder that holds files and nothing else. */
static void remove_files(const char *folder)
{
	DIR *files = opendir(folder);
	struct dirent *entry;

	while (files && (entry = readdir(files)))
		unlinkat(dirfd(files), entry->d_name, 0);
	if (files)
		closedir(files);
	rmdir(folder);
}

/* Its id, as long as it can be read; the caller frees. NULL without. */
static char *id_of(const char *path)
{
	struct session_read read;
	struct err ignored = ERR_INIT;
	char *id = NULL;

	if (!session_read(path, &read, &ignored))
		return NULL;
	/* An id from a file is a name in a path only when it is made like one. */
	if (record_id_is_valid(read.id))
		id = mem_steal(&read.id);
	session_read_release(&read);
	return id;
}

bool session_remove(struct home *home, const char *path, struct err *err)
{
	_cleanup_free_ char *id = id_of(path), *outputs = NULL;
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return err_set_errno(err, errno, "Cannot open the session's file %s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return err_set(err, ERR_BUSY, "The session %s is open in another program.",
		               id ? id : path);
	if (unlink(path) < 0)
		return err_set_errno(err, errno, "Cannot delete the session's file %s", path);
	if (id) {
		outputs = mem_printf("%s/tool-outputs/session-%s", home_temp(home), id);
		remove_files(outputs);
	}
	return true;
}

bool sessions_delete(struct home *home, const char *which, struct err *err)
{
	json_auto_t *rows = sessions_list(home);
	const json_t *row = choose(rows, which, err);

	return row && session_remove(home, json_string_value(json_object_get(row, "file")), err);
}

/* "3 minutes ago". */
static void put_age(int64_t seconds, struct buf *out)
{
	static const struct {
		int64_t seconds;
		const char *name;
	} units[] = { { 86400, "day" }, { 3600, "hour" }, { 60, "minute" } };

	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		int64_t count = seconds / units[i].seconds;

		if (count < 1)
			continue;
		buf_printf(out, "%lld %s%s ago", (long long)count, units[i].name,
		           count == 1 ? "" : "s");
		return;
	}
	buf_str(out, "just now");
}

static int64_t seconds_of(const char *time)
{
	struct tm parts = { 0 };

	return strptime(time, "%Y-%m-%dT%H:%M:%S", &parts) ? (int64_t)timegm(&parts) : 0;
}

void sessions_print(const json_t *sessions, int64_t now_seconds, struct buf *out)
{
	size_t i;
	json_t *row;

	json_array_foreach(sessions, i, row) {
		buf_printf(out, "  %zu. %s (", i + 1,
		           json_string_value(json_object_get(row, "title")));
		put_age(now_seconds - seconds_of(start_of(row)), out);
		buf_printf(out, ") [%s]\n", json_string_value(json_object_get(row, "id")));
	}
}
