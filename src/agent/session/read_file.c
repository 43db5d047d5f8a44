/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions' files: their names, and reading one as a whole, its first line or its end. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/session/record.h"
#include "agent/session/sessions.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

/* A month of work is a few megabytes; this is held in memory. */
#define SESSION_BYTES_MAX ((size_t)512 << 20)
/* The first line has a session's id and its folders. */
enum { FIRST_LINE_BYTES = 16384 };
/* The last messages of a session stand in so much of its end, as a rule. */
enum { END_BYTES = 256 << 10 };

bool session_is_name(const char *name)
{
	struct span text = span_str(name);

	return strncmp(name, "session-", 8) == 0 &&
	       (span_ends(text, SPAN(".jsonl")) || span_ends(text, SPAN(".json")));
}

/* "session-2026-08-21T09-41-ID.jsonl" has an id, or the beginning of one. NULL: none. */
static char *id_of_name(const char *path)
{
	static const char form[] = "session-0000-00-00T00-00-";
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	char *id;

	if (!session_is_name(name) || !dot || (size_t)(dot - name) < sizeof(form))
		return NULL;
	for (size_t i = 0; form[i]; i++)
		if (form[i] == '0' ? !isdigit((unsigned char)name[i]) : form[i] != name[i])
			return NULL;
	name += sizeof(form) - 1;
	id = mem_printf("%.*s", (int)(dot - name), name);
	if (record_id_is_valid(id))
		return id;
	free(id);
	return NULL;
}

/* A session's file as it is read, without lines that are too long. */
struct session_pieces {
	char *room;   /* for the whole file; what is not read into it takes no memory */
	size_t len, line; /* what is kept, and where in it the last line begins */
	size_t too_long;  /* lines that were dropped */
	bool skipping;    /* up to the end of one */
};

/* `got` more bytes stand after what is kept. */
static void session_piece_add(struct session_pieces *pieces, size_t got)
{
	char *at = pieces->room + pieces->len;
	const char *end = memchr(at, '\n', got), *last = memrchr(at, '\n', got);

	if (pieces->skipping) {
		const size_t skip = end ? (size_t)(end + 1 - at) : got;

		pieces->skipping = !end;
		memmove(at, at + skip, got - skip);
		got -= skip;
		last = memrchr(at, '\n', got);
	}
	if (last)
		pieces->line = (size_t)(last + 1 - pieces->room);
	pieces->len += got;
	if (pieces->len - pieces->line <= LIMIT_SESSION_LINE_BYTES)
		return;
	pieces->len = pieces->line;
	pieces->skipping = true;
	pieces->too_long++;
}

static bool read_session_file(const char *path, struct session_pieces *ret, struct err *err)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t got = 1;

	*ret = (struct session_pieces){ 0 };
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ?
		               err_set(err, ERR_FILE_NOT_FOUND, "There is no session's file %s.",
		                       path) :
		               err_set_errno(err, errno, "Cannot read %s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_NOT_A_FILE, "%s is not a regular file.", path);
	if ((uint64_t)st.st_size > SESSION_BYTES_MAX)
		return err_set(err, ERR_TOO_LARGE, "%s has more than %zu bytes.", path,
		               SESSION_BYTES_MAX);
	ret->room = mem_alloc((size_t)st.st_size + 1, 1);
	for (size_t left = (size_t)st.st_size; left && got > 0; left -= (size_t)got) {
		got = fd_read_full(fd, ret->room + ret->len,
		                   left < END_BYTES ? left : (size_t)END_BYTES);
		if (got < 0)
			return err_set_errno(err, errno, "Cannot read %s", path);
		session_piece_add(ret, (size_t)got);
	}
	return true;
}

bool session_read_file(const char *path, struct session_read *ret, struct err *err)
{
	_cleanup_free_ char *named = id_of_name(path);
	struct session_pieces pieces;
	bool ok;

	*ret = (struct session_read){ 0 };
	ok = read_session_file(path, &pieces, err) &&
	     session_read_named(span_of(pieces.room, pieces.len), named, ret, err);
	if (ok)
		ret->long_lines = pieces.too_long;
	free(pieces.room);
	return ok;
}

json_t *session_read_metadata(const char *path)
{
	_cleanup_free_ char *head = mem_alloc(1, FIRST_LINE_BYTES);
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got = fd < 0 ? 0 : pread(fd, head, FIRST_LINE_BYTES, 0);
	const char *end = got > 0 ? memchr(head, '\n', (size_t)got) : NULL;
	json_t *value = NULL;

	if (!end || !session_parse_line(span_of(head, (size_t)(end - head)), &value))
		return NULL;
	if (session_id_is_one(json_object_get(value, "sessionId")))
		return value;
	json_decref(value);
	return NULL;
}

char *session_read_id(const char *path)
{
	json_auto_t *metadata = session_read_metadata(path);
	struct err ignored = ERR_INIT;
	struct session_read read;
	char *id;

	if (metadata)
		return mem_strdup(json_string_value(json_object_get(metadata, "sessionId")));
	if (!session_read_file(path, &read, &ignored))
		return NULL;
	id = mem_steal(&read.id);
	session_read_release(&read);
	return id;
}

/* Whether a line may take messages away again. */
static bool may_lose_messages(struct span text)
{
	static const char *const marks[] = { "\"$rewindTo\"", "\"messages\"" };

	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (text.len && memmem(text.data, text.len, marks[i], strlen(marks[i])))
			return true;
	return false;
}

/* The part of the conversation in the last bytes of a file; empty if it cannot be determined
 * because messages were rewound. */
static json_t *read_last(const char *path, size_t bytes, bool *ret_whole)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	_cleanup_free_ char *room = mem_alloc(1, bytes);
	const off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	const off_t from = size > (off_t)bytes ? size - (off_t)bytes : 0;
	const ssize_t got = fd >= 0 ? pread(fd, room, bytes, from) : 0;
	struct span text = span_of(room, got > 0 ? (size_t)got : 0), half;
	struct err ignored = ERR_INIT;
	struct session_read read;
	json_t *contents;

	*ret_whole = from == 0;
	if (from)
		line_next(&text, &half);
	if (may_lose_messages(text) || !session_read_named(text, "end", &read, &ignored))
		return json_array();
	contents = json_incref(read.contents);
	session_read_release(&read);
	return contents;
}

json_t *session_read_end(const char *path, bool *ret_whole)
{
	return read_last(path, END_BYTES, ret_whole);
}

bool session_has_messages(const char *path)
{
	static const size_t tries[] = { END_BYTES / 16, END_BYTES };
	struct err ignored = ERR_INIT;
	struct session_read read;
	bool any = false, whole;

	for (size_t i = 0; i < ARRAY_LEN(tries) && !any; i++) {
		json_auto_t *contents = read_last(path, tries[i], &whole);

		any = json_array_size(contents) > 0;
	}
	if (any || !session_read_file(path, &read, &ignored))
		return any;
	any = json_array_size(read.contents) > 0;
	session_read_release(&read);
	return any;
}
