/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/session/sessions.h"

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

#include "agent/session/record_lines.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/content.h"
#include "sandbox/apply/temp.h"

enum { TITLE_BYTES = 100, SESSIONS_MAX = 100000, ID_BEGINNING_MIN = 8, REMOVAL_MS = 5000 };

bool session_is_name(const char *name)
{
	struct span text = span_str(name);

	return strncmp(name, "session-", 8) == 0 &&
	       (span_ends(text, SPAN(".jsonl")) || span_ends(text, SPAN(".json")));
}

/* On one line. */
static json_t *title_of(const struct session_read *read)
{
	const struct span summary = json_span(json_object_get(read->metadata, "summary"));
	struct span head = utf8_head(summary.len ? summary : span_str(read->first_prompt),
	                             TITLE_BYTES);
	_cleanup_buf_ struct buf text = BUF_INIT(TITLE_BYTES + 1);

	buf_append(&text, head.data, head.len);
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f)
			text.data[i] = ' ';
	return json_text(buf_view(&text));
}

static const char *later(const char *left, const char *right)
{
	return right && (!left || strcmp(left, right) < 0) ? right : left;
}

/* The last moment that the file tells of; NULL: of none. Not every program keeps `lastUpdated`. */
static const char *last_moment(const struct session_read *read)
{
	const char *last = json_string_value(json_object_get(read->metadata, "lastUpdated"));
	size_t i;
	json_t *message;

	json_array_foreach(read->messages, i, message)
		last = later(last, json_string_value(json_object_get(message, "timestamp")));
	return last;
}

static void add_conversation(json_t *row, const struct session_read *read)
{
	_cleanup_buf_ struct buf defects = BUF_INIT(ERR_MESSAGE_MAX);

	session_read_defects(read, &defects);
	if (defects.len)
		json_object_set_new(row, "defects", json_text(buf_view(&defects)));
	json_object_set_new(row, "title", title_of(read));
	json_object_set(row, "startTime", json_object_get(read->metadata, "startTime"));
	json_object_set_new(row, "messages",
	                    json_integer((json_int_t)json_array_size(read->messages)));
}

/* What one of Gemini CLI's agents said is no session of its own. */
static bool is_of_agent(const struct session_read *read)
{
	const char *kind = json_string_value(json_object_get(read->metadata, "kind"));

	return kind && strcmp(kind, "subagent") == 0;
}

/* Without a title where there is nothing to go on with: Gemini CLI leaves such a file, under the
 * session's id, when it resumes one in another minute than that of its beginning. */
static json_t *describe(int folder, const char *folder_path, const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", folder_path, name);
	struct session_read read;
	struct err ignored = ERR_INIT;
	struct stat status;
	const char *last;
	json_t *row = NULL;

	if (fstatat(folder, name, &status, 0) < 0 || !session_read(path, &read, &ignored))
		return NULL;
	if (record_id_is_valid(read.id)) {
		row = json_object();
		last = last_moment(&read);
		json_object_set_new(row, "id", json_string(read.id));
		json_object_set_new(row, "file", json_path_bytes(path));
		json_object_set_new(row, "lastUpdated", json_text(span_str(last ? last : "")));
		json_object_set_new(row, "modified",
		                    json_integer((json_int_t)status.st_mtim.tv_sec * 1000000000 +
		                                 status.st_mtim.tv_nsec));
		if (json_array_size(read.contents) && !is_of_agent(&read))
			add_conversation(row, &read);
	}
	session_read_release(&read);
	return row;
}

/* One row a file, in no order. */
static json_t *read_all(struct home *home)
{
	json_t *rows = json_array();
	_cleanup_free_ char *folder = NULL;
	struct dirent *entry;
	DIR *files;

	if (!home_find(home))
		return rows;
	folder = mem_printf("%s/chats", home_temp(home));
	files = opendir(folder);
	while (files && json_array_size(rows) < SESSIONS_MAX && (entry = readdir(files))) {
		json_t *row = session_is_name(entry->d_name) ?
		                      describe(dirfd(files), folder, entry->d_name) : NULL;

		if (row)
			json_array_append_new(rows, row);
	}
	if (files)
		closedir(files);
	return rows;
}

static const char *id_of(const json_t *row)
{
	return json_string_value(json_object_get(row, "id"));
}

static const char *file_of(const json_t *row)
{
	return json_string_value(json_object_get(row, "file"));
}

/* Whether of two files of one session this is the one that was changed last. */
static bool is_newer(const json_t *row, const json_t *other)
{
	const int order = strcmp(json_string_value(json_object_get(row, "lastUpdated")),
	                         json_string_value(json_object_get(other, "lastUpdated")));
	const json_int_t here = json_integer_value(json_object_get(row, "modified"));
	const json_int_t there = json_integer_value(json_object_get(other, "modified"));

	if (order || here != there)
		return order ? order > 0 : here > there;
	return strcmp(file_of(row), file_of(other)) > 0;
}

/* Of each session the file that it goes on in. */
static json_t *one_each(const json_t *rows)
{
	json_t *best = json_object();
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row) {
		const json_t *known = json_object_get(best, id_of(row));

		if (json_object_get(row, "title") && (!known || is_newer(row, known)))
			json_object_set(best, id_of(row), row);
	}
	return best;
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

	return order ? order : strcmp(file_of(left), file_of(right));
}

/* Of read_all's rows. */
static json_t *list_of(const json_t *rows)
{
	json_auto_t *best = one_each(rows);
	size_t count = 0;
	_cleanup_free_ json_t **list = mem_alloc(json_object_size(best) + 1, sizeof(*list));
	json_t *all = json_array();
	const char *id;
	json_t *row;

	json_object_foreach(best, id, row)
		list[count++] = row;
	qsort(list, count, sizeof(json_t *), compare_rows);
	for (size_t i = 0; i < count; i++)
		json_array_append(all, list[i]);
	return all;
}

json_t *sessions_list(struct home *home)
{
	json_auto_t *rows = read_all(home);

	return list_of(rows);
}

static bool starts_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* The number that the text is, from 1; 0: it is none. */
static size_t number_of(const char *text)
{
	if (*text < '1' || *text > '9' || strspn(text, "0123456789") != strlen(text) ||
	    strlen(text) > 6)
		return 0;
	return (size_t)strtoul(text, NULL, 10);
}

static const json_t *by_id(const json_t *list, const char *id)
{
	size_t i;
	json_t *row;

	json_array_foreach(list, i, row)
		if (strcmp(id_of(row), id) == 0)
			return row;
	return NULL;
}

/* How many ids begin so, and the last of them. */
static size_t by_beginning(const json_t *list, const char *beginning, const json_t **ret)
{
	size_t i, count = 0;
	json_t *row;

	json_array_foreach(list, i, row)
		if (starts_with(id_of(row), beginning)) {
			*ret = row;
			count++;
		}
	return count;
}

/* The row that `which` names; NULL with *err. A whole id comes first: it may look like a number. */
static const json_t *choose(const json_t *list, const char *which, struct err *err)
{
	const struct span shown = utf8_head(span_str(which), 80);
	const size_t number = number_of(which);
	const json_t *found = by_id(list, which);
	size_t count;

	if (found)
		return found;
	if (strcmp(which, "latest") == 0 && json_array_size(list))
		return json_array_get(list, json_array_size(list) - 1);
	if (number && number <= json_array_size(list))
		return json_array_get(list, number - 1);
	count = strlen(which) < ID_BEGINNING_MIN ? 0 : by_beginning(list, which, &found);
	if (count == 1)
		return found;
	if (count)
		err_set(err, ERR_INVALID_ARGUMENT,
		        "The ids of %zu sessions begin with \"%.*s\"; give more of the one you mean.",
		        count, (int)shown.len, shown.data);
	else
		err_set(err, ERR_INVALID_ARGUMENT,
		        "There is no session \"%.*s\"; --list-sessions shows the %zu of this project.",
		        (int)shown.len, shown.data, json_array_size(list));
	return NULL;
}

bool sessions_find(struct home *home, const char *which, char **ret_path, struct err *err)
{
	json_auto_t *list = sessions_list(home);
	const json_t *row = choose(list, which, err);

	if (row)
		*ret_path = mem_strdup(file_of(row));
	return row != NULL;
}

static bool is_session(const char *path, const char *id)
{
	_cleanup_free_ char *own = session_read_id(path);
	struct session_read read;
	struct err ignored = ERR_INIT;
	bool is;

	if (!own || strcmp(own, id) != 0 || !session_read(path, &read, &ignored))
		return false;
	is = json_array_size(read.contents) > 0;
	session_read_release(&read);
	return is;
}

bool sessions_have(struct home *home, const char *id)
{
	_cleanup_free_ char *folder = NULL;
	struct dirent *entry;
	bool have = false;
	DIR *files;

	if (!home_find(home))
		return false;
	folder = mem_printf("%s/chats", home_temp(home));
	files = opendir(folder);
	while (files && !have && (entry = readdir(files))) {
		_cleanup_free_ char *path = mem_printf("%s/%s", folder, entry->d_name);

		have = session_is_name(entry->d_name) && is_session(path, id);
	}
	if (files)
		closedir(files);
	return have;
}

/* Beneath a folder, never behind a link. */
static int open_folder(int above, const char *name)
{
	return openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void remove_in(int above, const char *name)
{
	_cleanup_fd_ int folder = open_folder(above, name);

	if (folder >= 0)
		temp_remove_folder(above, name, folder, REMOVAL_MS);
}

/* What a session keeps beside its file: outputs that were too long, plans, Gemini CLI's tasks. The id is one
 * that record_id_is_valid finds good. It may be the name of another folder here: only what is known to be the
 * session's goes. */
static void remove_belongings(const struct home *home, const char *id)
{
	_cleanup_free_ char *outputs_name = mem_printf("session-%s", id);
	_cleanup_fd_ int temp = open(home_temp(home), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_fd_ int outputs = open_folder(temp, "tool-outputs"), own = open_folder(temp, id);
	_cleanup_fd_ int chats = open_folder(temp, "chats");

	if (outputs >= 0)
		remove_in(outputs, outputs_name);
	/* Where Gemini CLI keeps what its agents said in the session. */
	if (chats >= 0)
		remove_in(chats, id);
	if (own < 0)
		return;
	remove_in(own, "plans");
	remove_in(own, "tracker");
	unlinkat(temp, id, AT_REMOVEDIR);
}

bool session_is_named_for(const char *path, const char *id)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	_cleanup_free_ char *brief = mem_printf("-%.8s", id), *whole = mem_printf("-%s", id);
	const char *dot = strrchr(name, '.');
	const struct span stem = span_of(name, dot ? (size_t)(dot - name) : strlen(name));

	return session_is_name(name) &&
	       (span_ends(stem, span_str(brief)) || span_ends(stem, span_str(whole)));
}

/* Locked, as by a program that has the session open; -1. */
static int lock_file(const char *path, const char *id, struct err *err)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0) {
		err_set_errno(err, errno, "Cannot open the session's file %s", path);
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		err_set(err, ERR_BUSY, "The session %s is open in another program.", id ? id : path);
		return -1;
	}
	return fd_steal(&fd);
}

static bool unlink_all(const char *const *paths, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (unlink(paths[i]) < 0 && errno != ENOENT)
			return err_set_errno(err, errno, "Cannot delete the session's file %s",
			                     paths[i]);
	return true;
}

bool session_remove(struct home *home, const char *id, const char *const *paths, size_t count,
                    struct err *err)
{
	_cleanup_free_ int *fds = mem_alloc(count + 1, sizeof(*fds));
	size_t locked = 0;
	bool ok;

	while (locked < count && (fds[locked] = lock_file(paths[locked], id, err)) >= 0)
		locked++;
	ok = locked == count && unlink_all(paths, count, err);
	for (size_t i = 0; i < locked; i++)
		close(fds[i]);
	/* An id from a file is a name in a path only when it is made like one. */
	if (ok && id && record_id_is_valid(id))
		remove_belongings(home, id);
	return ok;
}

/* The listed file, and the others of its session: those that say so by what is in them and by name. */
bool sessions_delete(struct home *home, const char *which, struct err *err)
{
	json_auto_t *rows = read_all(home), *list = list_of(rows);
	const json_t *chosen = choose(list, which, err);
	_cleanup_free_ const char **paths = mem_alloc(json_array_size(rows) + 1, sizeof(*paths));
	size_t i, count = 0;
	json_t *row;

	if (!chosen)
		return false;
	json_array_foreach(rows, i, row)
		if (row == chosen || (strcmp(id_of(row), id_of(chosen)) == 0 &&
		                      session_is_named_for(file_of(row), id_of(row))))
			paths[count++] = file_of(row);
	return session_remove(home, id_of(chosen), paths, count, err);
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
		buf_printf(out, ") [%s]\n", id_of(row));
		if (json_object_get(row, "defects"))
			buf_printf(out, "     %s\n",
			           json_string_value(json_object_get(row, "defects")));
	}
}
