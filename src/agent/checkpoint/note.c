/* SPDX-License-Identifier: Apache-2.0 */
/* Notes of checkpoints: their names, their text, and as files of a folder. */
#include "agent/checkpoint/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"

/* ---- names and text ---------------------------------------------------------- */

enum { VERSION = 1, DEPTH_MAX = 200, NAME_MAX_BYTES = 64, ID_MAX_BYTES = 200 };

void note_release(struct note *note)
{
	for (size_t i = 0; i < note->count; i++) {
		free(note->files[i].path);
		free(note->files[i].not_kept);
	}
	free(note->files);
	free(note->id);
	free(note->session);
	free(note->call_id);
	free(note->tool);
	*note = (struct note){ 0 };
}

void notes_free(struct note *notes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		note_release(&notes[i]);
	free(notes);
}

/* ---- names ------------------------------------------------------------------------- */

static bool is_id_char(char c)
{
	return ascii_is_alnum(c) || c == '-' || c == '_';
}

static void append_name(struct buf *id, const char *name)
{
	for (size_t i = 0; name[i] && i < NAME_MAX_BYTES; i++) {
		bool dot = name[i] == '.' && name[i + 1] != '.' && i + 1 < NAME_MAX_BYTES;

		buf_char(id, is_id_char(name[i]) || dot ? name[i] : '_');
	}
}

char *note_id(int64_t time_ms, const char *path, const char *tool)
{
	_cleanup_buf_ struct buf id = BUF_INIT(ID_MAX_BYTES);
	const char *slash = strrchr(path, '/');
	time_t seconds = (time_t)(time_ms / 1000);
	char minute[32];
	struct tm parts;

	gmtime_r(&seconds, &parts);
	strftime(minute, sizeof(minute), "%Y-%m-%dT%H-%M-%S", &parts);
	buf_printf(&id, "%s_%03dZ-", minute, (int)(time_ms % 1000));
	append_name(&id, slash ? slash + 1 : path);
	buf_char(&id, '-');
	append_name(&id, tool);
	return buf_steal(&id);
}

bool note_id_valid(const char *id)
{
	size_t len = strlen(id);

	if (len == 0 || len >= ID_MAX_BYTES || id[0] == '.' || id[len - 1] == '.' ||
	    strstr(id, "..") || span_ends(span_str(id), SPAN(".lock")))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_id_char(id[i]) && id[i] != '.')
			return false;
	return true;
}

/* ---- reading ----------------------------------------------------------------------- */

static bool bad_note(struct err *err, const char *what)
{
	return err_set(err, ERR_INVALID_ARGUMENT, "It is not a checkpoint's note: %s.", what);
}

/* A string without a NUL, which C would end. */
static const char *string_member(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	struct span text = json_span(value);

	if (!text.data || memchr(text.data, '\0', text.len))
		return NULL;
	return text.data;
}

/* `fallback` when it is missing. */
static char *copy_of(const json_t *object, const char *name, const char *fallback)
{
	const char *text = string_member(object, name);

	return mem_strdup(text ? text : fallback);
}

static bool read_object_id(const json_t *object, const char *name, char ret[OBJECT_ID_SIZE])
{
	const char *text = string_member(object, name);

	if (!text || strlen(text) != OBJECT_ID_SIZE - 1 ||
	    strspn(text, "0123456789abcdef") != OBJECT_ID_SIZE - 1)
		return false;
	memcpy(ret, text, OBJECT_ID_SIZE);
	return true;
}

static bool file_parse(const json_t *object, struct note_file *ret, struct err *err)
{
	const json_t *hash = json_object_get(object, "sha256");
	json_int_t size = json_integer_value(json_object_get(object, "size"));
	const char *path = string_member(object, "path");

	if (!path || path[0] != '/')
		return bad_note(err, "a file has no absolute path");
	ret->path = name_from_shown(path);
	ret->not_kept = copy_of(object, "notKept", NULL);
	ret->sha256 = sha256_of(span_of("", 0));
	if (json_is_null(hash) || ret->not_kept)
		return true;
	ret->existed = true;
	ret->size = size > 0 ? (uint64_t)size : 0;
	if (!sha256_parse(json_span(hash), &ret->sha256) ||
	    !read_object_id(object, "blob", ret->blob))
		return bad_note(err, "a file has no hash");
	return true;
}

static bool files_parse(const json_t *array, struct note *ret, struct err *err)
{
	size_t count = json_array_size(array);

	if (!json_is_array(array) || count > LIMIT_CHECKPOINT_FILES)
		return bad_note(err, "it has no files, or too many");
	ret->files = mem_alloc(count + 1, sizeof(*ret->files));
	for (size_t i = 0; i < count; i++) {
		ret->count = i + 1;
		if (!file_parse(json_array_get(array, i), &ret->files[i], err))
			return false;
	}
	return true;
}

bool note_parse(struct span text, struct note *ret, struct err *err)
{
	json_auto_t *document = NULL;
	const json_t *own;
	bool ok;

	*ret = (struct note){ 0 };
	if (!json_parse_depth(text, DEPTH_MAX, &document, err))
		return false;
	own = json_object_get(document, "hasp");
	if (json_integer_value(json_object_get(own, "version")) != VERSION)
		return bad_note(err, "it is another program's, or another version's");
	ret->session = copy_of(own, "session", "");
	ret->call_id = copy_of(own, "callId", "");
	ret->tool = copy_of(own, "tool", "");
	ret->time_ms = json_integer_value(json_object_get(own, "time"));
	ok = read_object_id(own, "commit", ret->commit) || bad_note(err, "it names no commit");
	ok = ok && files_parse(json_object_get(own, "files"), ret, err);
	if (!ok)
		note_release(ret);
	return ok;
}

/* ---- writing ----------------------------------------------------------------------- */

static json_t *note_file_json(const struct note_file *file)
{
	json_t *object = json_object();

	json_object_set_new(object, "path", json_name(file->path));
	if (file->not_kept) {
		json_object_set_new(object, "notKept", json_text(span_str(file->not_kept)));
		return object;
	}
	json_object_set_new(object, "sha256",
	                    file->existed ? json_sha256(&file->sha256) : json_null());
	if (!file->existed)
		return object;
	json_object_set_new(object, "size", json_size(file->size));
	json_object_set_new(object, "blob", json_string(file->blob));
	return object;
}

bool note_print(const struct note *note, json_t *call, struct buf *out)
{
	json_auto_t *document = json_object();
	json_t *own = json_object(), *files = json_array();

	for (size_t i = 0; i < note->count; i++)
		json_array_append_new(files, note_file_json(&note->files[i]));
	json_object_set_new(own, "version", json_integer(VERSION));
	json_object_set_new(own, "session", json_cstr(note->session));
	json_object_set_new(own, "callId", json_cstr(note->call_id));
	json_object_set_new(own, "tool", json_cstr(note->tool));
	json_object_set_new(own, "time", json_integer(note->time_ms));
	json_object_set_new(own, "commit", json_string(note->commit));
	json_object_set_new(own, "files", files);
	if (call)
		json_object_set(document, "toolCall", call);
	json_object_set_new(document, "hasp", own);
	return json_print(out, document, 0);
}

/* ---- the ledger -------------------------------------------------------------------- */

struct ledger {
	json_t *states; /* "SHA256\nPATH": true; the path as json_name has it */
	json_t *made;   /* "NOTE\nPATH": its line */
};

/* `shown`: the path as json_name has it. */
static char *state_key(const char *shown, const struct sha256 *sha256)
{
	char hex[SHA256_HEX_SIZE];

	sha256_hex(sha256, hex);
	return mem_printf("%s\n%s", hex, shown);
}

bool checkpoint_ledger_line(const char *session, const struct written *written, struct buf *out)
{
	json_auto_t *line = json_object();

	json_object_set_new(line, "session", json_cstr(session));
	json_object_set_new(line, "path", json_name(written->path));
	json_object_set_new(line, "sha256",
	                    written->exists ? json_sha256(&written->sha256) : json_null());
	if (written->note)
		json_object_set_new(line, "note", json_cstr(written->note));
	if (written->blob[0])
		json_object_set_new(line, "blob", json_string(written->blob));
	/* A line that a crash truncated must not merge with the next one. */
	buf_char(out, '\n');
	json_print(out, line, 0);
	return buf_char(out, '\n');
}

static void ledger_take_line(struct ledger *ledger, struct span line, const char *session)
{
	_cleanup_free_ char *key = NULL, *made = NULL;
	json_auto_t *object = NULL;
	struct err ignored = ERR_INIT;
	const char *path, *note;
	struct sha256 sum;
	bool exists;

	if (!json_parse_depth(line, 4, &object, &ignored))
		return;
	path = string_member(object, "path");
	note = string_member(object, "note");
	exists = sha256_parse(json_span(json_object_get(object, "sha256")), &sum);
	if (!path || !span_eq(json_span(json_object_get(object, "session")), span_str(session)) ||
	    !(exists || (note && json_is_null(json_object_get(object, "sha256")))))
		return;
	key = exists ? state_key(path, &sum) : NULL;
	made = note ? mem_printf("%s\n%s", note, path) : NULL;
	if (key)
		json_object_set_new(ledger->states, key, json_true());
	if (made)
		json_object_set(ledger->made, made, object);
}

struct ledger *checkpoint_ledger_parse(struct span text, const char *session)
{
	struct ledger *ledger = mem_alloc(1, sizeof(*ledger));
	struct span line;

	ledger->states = json_object();
	ledger->made = json_object();
	while (line_next(&text, &line)) {
		line = span_trim(line);
		if (line.len)
			ledger_take_line(ledger, line, session);
	}
	return ledger;
}

void checkpoint_ledger_free(struct ledger *ledger)
{
	if (!ledger)
		return;
	json_decref(ledger->states);
	json_decref(ledger->made);
	free(ledger);
}

bool checkpoint_ledger_has(const struct ledger *ledger, const char *path,
                           const struct sha256 *sha256)
{
	json_auto_t *shown = json_name(path);
	_cleanup_free_ char *key = state_key(json_string_value(shown), sha256);

	return json_object_get(ledger->states, key) != NULL;
}

bool checkpoint_ledger_made(const struct ledger *ledger, const char *note, const char *path,
                            struct written *ret)
{
	json_auto_t *shown = json_name(path);
	_cleanup_free_ char *key = mem_printf("%s\n%s", note, json_string_value(shown));
	const json_t *line = json_object_get(ledger->made, key);

	if (!line)
		return false;
	*ret = (struct written){ .path = path, .note = note };
	ret->exists = sha256_parse(json_span(json_object_get(line, "sha256")), &ret->sha256);
	if (!read_object_id(line, "blob", ret->blob))
		ret->blob[0] = '\0';
	return true;
}

/* ---- files ------------------------------------------------------------------- */

/* Notes as files of a folder. */

static void cleanup_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

/* The folder is synced after the name has come into it. */
static void sync_note_folder(const char *folder)
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
	if (!fd_write_all(fd, text.data, text.len) || (durable && fsync(fd) != 0) ||
	    renameat2(AT_FDCWD, early, AT_FDCWD, path, RENAME_NOREPLACE))
		error = errno;
	if (error) {
		unlink(early);
		return err_set_errno(err, error, "Cannot write %s", path);
	}
	if (durable)
		sync_note_folder(folder);
	return true;
}

static bool note_read(const char *folder, const char *id, struct note *ret)
{
	_cleanup_free_ char *path = mem_printf("%s/%s.json", folder, id);
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_CHECKPOINT_NOTE_BYTES);
	struct err ignored = ERR_INIT;
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode) || stat.st_size <= 0 ||
	    fd_read_into(fd, &text, (size_t)stat.st_size) < 0)
		return false;
	if (!note_parse(buf_view(&text), ret, &ignored))
		return false;
	ret->id = mem_strdup(id);
	return true;
}

struct note_names {
	char **list; /* owned, with its strings */
	size_t count, cap;
};

static void note_names_release(struct note_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
}

static int compare_note_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists the ids of notes, in order of time. */
static bool list_ids(const char *folder, const char *first, struct note_names *ret, struct err *err)
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
			return err_set(err, ERR_TOO_LARGE, "%s has more than %d checkpoints.",
			               folder,
			               LIMIT_CHECKPOINTS);
		ret->list = mem_grow(ret->list, &ret->cap, ret->count + 1, sizeof(*ret->list));
		ret->list[ret->count++] = mem_steal(&id);
	}
	if (ret->count)
		qsort(ret->list, ret->count, sizeof(*ret->list), compare_note_names);
	return true;
}

bool notes_read(const char *folder, const char *first, struct note **ret, size_t *ret_count,
                struct err *err)
{
	__attribute__((cleanup(note_names_release))) struct note_names names = { 0 };
	size_t count = 0;

	if (!list_ids(folder, first, &names, err))
		return false;
	*ret = mem_alloc(names.count + 1, sizeof(**ret));
	for (size_t i = 0; i < names.count; i++)
		count += note_read(folder, names.list[i], &(*ret)[count]);
	*ret_count = count;
	return true;
}
