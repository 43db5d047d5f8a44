/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that there are: lists, names, and how long they stay. */
#include "agent/session/sessions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/session/record.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "sandbox/apply/temp.h"

/* ---- lists ------------------------------------------------------------------- */

enum { TITLE_BYTES = 100, SESSIONS_MAX = 100000, ID_BEGINNING_MIN = 8, REMOVAL_MS = 5000 };

void session_local_time(const char *moment, char *out, size_t size)
{
	struct tm tm = { 0 };
	time_t seconds;

	snprintf(out, size, "%.16s", moment ? moment : "");
	if (!moment || !strptime(moment, "%Y-%m-%dT%H:%M:%S", &tm))
		return;
	seconds = timegm(&tm);
	if (localtime_r(&seconds, &tm) && !strftime(out, size, "%Y-%m-%d %H:%M", &tm))
		snprintf(out, size, "%.16s", moment);
}

struct span session_prompt_title(struct span prompt)
{
	static const struct span note = SPAN(SESSION_COMMAND_NOTE);
	const char *end;

	if (!span_starts(prompt, note))
		return session_prompt_shown(prompt);
	prompt = span_skip(prompt, note.len - strlen("$ "));
	end = memchr(prompt.data, '\n', prompt.len);
	return end ? span_head(prompt, (size_t)(end - prompt.data)) : prompt;
}

/* On one line. */
static json_t *session_title(const struct session_read *read)
{
	const struct span summary = json_span(json_object_get(read->metadata, "summary"));
	struct span head = utf8_head(summary.len ? summary :
	                             session_prompt_title(span_str(read->first_prompt)),
	                             TITLE_BYTES);
	_cleanup_buf_ struct buf text = BUF_INIT(TITLE_BYTES + 1);

	buf_append(&text, head.data, head.len);
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f)
			text.data[i] = ' ';
	return json_text(buf_view(&text));
}

static const char *later_time(const char *left, const char *right)
{
	return right && (!left || strcmp(left, right) < 0) ? right : left;
}

/* The time of the last event in the file; NULL: it has none. Not every program updates
 * `lastUpdated`. */
static const char *last_moment(const struct session_read *read)
{
	const char *last = json_string_value(json_object_get(read->metadata, "lastUpdated"));
	size_t i;
	json_t *message;

	json_array_foreach(read->messages, i, message)
		last = later_time(last, json_string_value(json_object_get(message, "timestamp")));
	return last;
}

static void add_conversation(json_t *row, const struct session_read *read)
{
	_cleanup_buf_ struct buf defects = BUF_INIT(ERR_MESSAGE_MAX);

	session_read_defects(read, &defects);
	if (defects.len)
		json_object_set_new(row, "defects", json_text(buf_view(&defects)));
	json_object_set_new(row, "title", session_title(read));
	json_object_set(row, "startTime", json_object_get(read->metadata, "startTime"));
	json_object_set_new(row, "messages",
	                    json_integer((json_int_t)json_array_size(read->messages)));
}

/* A conversation of one of Gemini CLI's agents is not a session. */
static bool is_of_agent(const struct session_read *read)
{
	const char *kind = json_string_value(json_object_get(read->metadata, "kind"));

	return kind && strcmp(kind, "subagent") == 0;
}

/* Without a title where there is nothing to go on with: Gemini CLI leaves such a file, under the
 * session's id, when it resumes one in another minute than that of its beginning. */
static json_t *describe_session(int folder, const char *folder_path, const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", folder_path, name);
	struct session_read read;
	struct err ignored = ERR_INIT;
	struct stat status;
	const char *last;
	json_t *row = NULL;

	if (fstatat(folder, name, &status, 0) < 0 || !session_read_file(path, &read, &ignored))
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

/* One row of `describe` a file, in no order. */
static json_t *read_all_sessions(struct home *home,
                                 json_t *(*describe)(int folder, const char *folder_path,
                                                     const char *name))
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

static const char *row_file(const json_t *row)
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
	return strcmp(row_file(row), row_file(other)) > 0;
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

static const char *row_start(const json_t *row)
{
	const char *text = json_string_value(json_object_get(row, "startTime"));

	return text ? text : "";
}

static int compare_rows(const void *a, const void *b)
{
	const json_t *left = *(json_t *const *)a, *right = *(json_t *const *)b;
	int order = strcmp(row_start(left), row_start(right));

	return order ? order : strcmp(row_file(left), row_file(right));
}

/* Builds the list from the rows of read_all_sessions. */
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
	json_auto_t *rows = read_all_sessions(home, describe_session);

	return list_of(rows);
}

/* The number that the text is, from 1; 0: it is not one. */
static size_t parse_list_number(const char *text)
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
		if (strncmp(id_of(row), beginning, strlen(beginning)) == 0) {
			*ret = row;
			count++;
		}
	return count;
}

static size_t by_title(const json_t *list, const char *title, const json_t **ret)
{
	size_t i, count = 0;
	json_t *row;

	json_array_foreach(list, i, row)
		if (strcmp(json_string_value(json_object_get(row, "title")), title) == 0) {
			*ret = row;
			count++;
		}
	return count;
}

/* Why none was chosen. */
static void explain_choice(const json_t *list, const char *which, size_t begin, size_t titled,
                           struct err *err)
{
	const struct span shown = utf8_head(span_str(which), 80);

	if (begin)
		err_set(err, ERR_INVALID_ARGUMENT,
		        "The ids of %zu sessions begin with \"%.*s\"; give more of the one you "
		        "mean.", begin, (int)shown.len, shown.data);
	else if (titled)
		err_set(err, ERR_INVALID_ARGUMENT,
		        "%zu sessions have the title \"%.*s\"; give the number that "
		        "--list-sessions shows.", titled, (int)shown.len, shown.data);
	else
		err_set(err, ERR_INVALID_ARGUMENT,
		        "There is no session \"%.*s\"; --list-sessions shows the %zu of this "
		        "project.", (int)shown.len, shown.data, json_array_size(list));
}

/* The row that `which` names; NULL with *err. A whole id comes first: it may look like a number. */
static const json_t *choose_row(const json_t *list, const char *which, struct err *err)
{
	const size_t number = parse_list_number(which);
	const json_t *found = by_id(list, which);
	size_t begin, titled;

	if (found)
		return found;
	if (strcmp(which, "latest") == 0 && json_array_size(list))
		return json_array_get(list, json_array_size(list) - 1);
	if (number && number <= json_array_size(list))
		return json_array_get(list, number - 1);
	begin = strlen(which) < ID_BEGINNING_MIN ? 0 : by_beginning(list, which, &found);
	titled = begin || number ? 0 : by_title(list, which, &found);
	if (begin == 1 || titled == 1)
		return found;
	explain_choice(list, which, begin, titled, err);
	return NULL;
}

/* ---- found without reading all of them ---- */

/* {"id", "file", "startTime"?, "kind"?} by the file's first line. Where that does not tell, all of
 * it is read; NULL: it is no session to go on with then. */
static json_t *glance_session(int folder, const char *folder_path, const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", folder_path, name);
	json_auto_t *metadata = session_read_metadata(path);
	json_t *row;

	if (metadata)
		return json_pack("{s:O, s:o, s:O*, s:O*}", "id",
		                 json_object_get(metadata, "sessionId"), "file",
		                 json_path_bytes(path), "startTime",
		                 json_object_get(metadata, "startTime"), "kind",
		                 json_object_get(metadata, "kind"));
	row = describe_session(folder, folder_path, name);
	if (json_object_get(row, "title"))
		return row;
	json_decref(row);
	return NULL;
}

/* What the first lines of all files say, the session that began last first. */
static json_t *glance_sessions(struct home *home)
{
	json_t *rows = read_all_sessions(home, glance_session), *list = json_array();
	const size_t count = json_array_size(rows);
	_cleanup_free_ json_t **sorted = mem_alloc(count + 1, sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		sorted[i] = json_array_get(rows, i);
	qsort(sorted, count, sizeof(json_t *), compare_rows);
	for (size_t i = count; i-- > 0;)
		json_array_append(list, sorted[i]);
	json_decref(rows);
	return list;
}

/* Whether the file is the only one of its session, and has something to resume. */
static bool is_sure(const json_t *rows, const json_t *row)
{
	const char *kind = json_string_value(json_object_get(row, "kind"));
	size_t i, same = 0;
	json_t *other;

	json_array_foreach((json_t *)rows, i, other)
		same += strcmp(id_of(other), id_of(row)) == 0;
	return same == 1 && (!kind || strcmp(kind, "subagent") != 0) &&
	       session_has_messages(row_file(row));
}

/* The file that `which` names, where the first lines of all files tell that; NULL: they do not.
 * The caller frees. */
static char *find_by_glance(struct home *home, const char *which)
{
	json_auto_t *rows = glance_sessions(home);
	const json_t *found = by_id(rows, which);

	if (!found && strcmp(which, "latest") == 0)
		found = json_array_get(rows, 0);
	else if (!found && (strlen(which) < ID_BEGINNING_MIN ||
	                    by_beginning(rows, which, &found) != 1))
		found = NULL;
	return found && is_sure(rows, found) ? mem_strdup(row_file(found)) : NULL;
}

bool sessions_find(struct home *home, const char *which, char **ret_path, struct err *err)
{
	char *path = find_by_glance(home, which);
	json_auto_t *list = path ? NULL : sessions_list(home);
	const json_t *row = path ? NULL : choose_row(list, which, err);

	if (row)
		path = mem_strdup(row_file(row));
	if (path)
		*ret_path = path;
	return path != NULL;
}

bool sessions_find_in(const char *project, const char *which, char **ret_path, struct err *err)
{
	struct home *home;
	bool ok;

	if (!home_open(project, &home, err))
		return false;
	ok = sessions_find(home, which, ret_path, err);
	home_free(home);
	return ok;
}

static bool is_session(const char *path, const char *id)
{
	_cleanup_free_ char *own = session_read_id(path);

	return own && strcmp(own, id) == 0 && session_has_messages(path);
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
static int open_folder_beneath(int above, const char *name)
{
	return openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void remove_in(int above, const char *name)
{
	_cleanup_fd_ int folder = open_folder_beneath(above, name);

	if (folder >= 0)
		temp_remove_folder(above, name, folder, REMOVAL_MS);
}

/* Removes the other files of a session: long outputs, plans, Gemini CLI's tasks. The id is valid by
 * record_id_is_valid, but may be the name of another folder here: remove only files known to be the
 * session's. */
static void remove_belongings(const struct home *home, const char *id)
{
	_cleanup_free_ char *outputs_name = mem_printf("session-%s", id);
	_cleanup_fd_ int temp = open(home_temp(home), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_fd_ int outputs = open_folder_beneath(temp, "tool-outputs");
	_cleanup_fd_ int own = open_folder_beneath(temp, id);
	_cleanup_fd_ int chats = open_folder_beneath(temp, "chats");

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

static bool session_is_named_for(const char *path, const char *id)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	_cleanup_free_ char *brief = mem_printf("-%.8s", id), *whole = mem_printf("-%s", id);
	const char *dot = strrchr(name, '.');
	const struct span stem = span_of(name, dot ? (size_t)(dot - name) : strlen(name));

	return session_is_name(name) &&
	       (span_ends(stem, span_str(brief)) || span_ends(stem, span_str(whole)));
}

/* Locked, as by a program that has the session open; -1. */
static int lock_session_file(const char *path, const char *id, struct err *err)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0) {
		err_set_errno(err, errno, "Cannot open the session's file %s", path);
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		err_set(err, ERR_BUSY, "The session %s is open in another program.", id ?
		        id : path);
		return -1;
	}
	return fd_steal(&fd);
}

bool session_rename(const char *path, struct span title, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(16 * TITLE_BYTES);
	_cleanup_fd_ int fd = -1;
	json_auto_t *line = NULL;

	title = utf8_head(span_trim(title), TITLE_BYTES);
	if (!title.len || span_ends(span_str(path), SPAN(".json")))
		return err_set(err, ERR_INVALID_ARGUMENT, title.len ?
		               "A session of the older form cannot be given a title." :
		               "A title has something in it.");
	fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return err_set_errno(err, errno, "Cannot open the session's file %s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return err_set(err, ERR_BUSY, "The session is open; /chat rename names it there.");
	line = json_pack("{s:{s:o}}", "$set", "summary", json_text(title));
	buf_char(&text, '\n'); /* the last line may be half a one */
	json_print(&text, line, 0);
	buf_char(&text, '\n');
	return fd_write_all(fd, text.data, text.len) ||
	       err_set_errno(err, errno, "Cannot write the session's file %s", path);
}

static bool unlink_all(const char *const *paths, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (unlink(paths[i]) < 0 && errno != ENOENT)
			return err_set_errno(err, errno, "Cannot delete the session's file %s",
			                     paths[i]);
	return true;
}

bool session_remove(struct home *home, const char *id, const char *const *paths,
                    size_t count, struct err *err)
{
	_cleanup_free_ int *fds = mem_alloc(count + 1, sizeof(*fds));
	size_t locked = 0;
	bool ok;

	while (locked < count && (fds[locked] = lock_session_file(paths[locked], id, err)) >= 0)
		locked++;
	ok = locked == count && unlink_all(paths, count, err);
	for (size_t i = 0; i < locked; i++)
		close(fds[i]);
	/* An id from a file is a name in a path only when it is made like one. */
	if (ok && id && record_id_is_valid(id))
		remove_belongings(home, id);
	return ok;
}

/* Deletes the listed file and the other files of its session, which must have its id in both
 * content and name. */
bool sessions_delete(struct home *home, const char *which, struct err *err)
{
	json_auto_t *rows = read_all_sessions(home, describe_session), *list = list_of(rows);
	const json_t *chosen = choose_row(list, which, err);
	_cleanup_free_ const char **paths = mem_alloc(json_array_size(rows) + 1, sizeof(*paths));
	size_t i, count = 0;
	json_t *row;

	if (!chosen)
		return false;
	json_array_foreach(rows, i, row)
		if (row == chosen || (strcmp(id_of(row), id_of(chosen)) == 0 &&
		                      session_is_named_for(row_file(row), id_of(row))))
			paths[count++] = row_file(row);
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
		put_age(now_seconds - seconds_of(row_start(row)), out);
		buf_printf(out, ") [%s]\n", id_of(row));
		if (json_object_get(row, "defects"))
			buf_printf(out, "     %s\n",
			           json_string_value(json_object_get(row, "defects")));
	}
}

/* ---- many files ------------------------------------------------------------------- */

enum { WORKERS_MAX = 8 };

void sessions_work(void *(*work)(void *data), void *data, size_t jobs)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	const size_t most = processors > 1 ? (size_t)processors : 1;
	pthread_t threads[WORKERS_MAX];
	size_t count = 0;

	while (count + 1 < most && count < WORKERS_MAX && count + 1 < jobs &&
	       pthread_create(&threads[count], NULL, work, data) == 0)
		count++;
	work(data);
	while (count)
		pthread_join(threads[--count], NULL);
}
