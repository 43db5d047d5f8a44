/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of records: appended, and read. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/private.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/json.h"

#define HASH_MEMBER ",\"sha256\":\""

enum {
	HEX = SHA256_HEX_SIZE - 1,
	HASH_BYTES = sizeof(HASH_MEMBER) - 1 + HEX + 2, /* it, a quote, a brace */
	NAME_DIGITS = 8,
	LOCK_WAIT_MS = 5000,
	END_BYTES = 16 << 10,       /* read of a file's end at first */
	HEAD_BYTES = 128,           /* of "head", whatever it says */
	DEPTH_MAX = 64,
};

/* ---- one line ---------------------------------------------------------------------- */

/* NULL: it is no JSON of a record's depth. */
static json_t *parse_record(struct span text)
{
	struct err ignored = ERR_INIT;
	json_t *record = NULL;
	size_t repaired = 0;

	if (!json_parse_foreign(text, DEPTH_MAX, &record, &repaired, &ignored))
		return NULL;
	if (!repaired)
		return record;
	json_decref(record);
	return NULL;
}

bool audit_line_hash(struct span line, char ret[static SHA256_HEX_SIZE])
{
	const struct span tail = line.len > HASH_BYTES ? span_skip(line, line.len - HASH_BYTES) :
	                                                 span_of("", 0);

	if (!span_starts(tail, SPAN(HASH_MEMBER)) || !span_ends(tail, SPAN("\"}")))
		return false;
	memcpy(ret, tail.data + sizeof(HASH_MEMBER) - 1, HEX);
	ret[HEX] = '\0';
	return strspn(ret, "0123456789abcdef") == HEX;
}

bool audit_line_is_whole(struct span line)
{
	char stated[SHA256_HEX_SIZE], real[SHA256_HEX_SIZE];
	struct sha256 sum;

	if (!audit_line_hash(line, stated))
		return false;
	sum = sha256_of(span_head(line, line.len - HASH_BYTES));
	sha256_hex(&sum, real);
	return strcmp(stated, real) == 0;
}

/* The record as a line with its end; empty: it is too long. */
static void chain_put(struct buf *out, uint64_t number, const char *prev, const json_t *record)
{
	_cleanup_buf_ struct buf rest = BUF_INIT(LIMIT_AUDIT_LINE_BYTES);
	char time[CLOCK_TIMESTAMP_SIZE], hex[SHA256_HEX_SIZE];
	struct sha256 sum;

	clock_timestamp(time);
	json_print(&rest, record, 0);
	buf_printf(out, "{\"n\":%llu,\"prev\":\"%s\",\"time\":\"%s\"", (unsigned long long)number,
	           prev, time);
	if (rest.len > 2) {
		buf_char(out, ',');
		buf_span(out, span_head(span_skip(buf_view(&rest), 1), rest.len - 2));
	}
	sum = sha256_of(buf_view(out));
	sha256_hex(&sum, hex);
	buf_printf(out, HASH_MEMBER "%s\"}\n", hex);
	out->overflowed |= rest.overflowed;
}

/* ---- files ------------------------------------------------------------------------- */

static int is_record_file(const struct dirent *entry)
{
	return strspn(entry->d_name, "0123456789") == NAME_DIGITS &&
	       strcmp(entry->d_name + NAME_DIGITS, ".jsonl") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* The number of the newest file; 0: there is none. */
static unsigned newest_file(const char *folder)
{
	struct dirent **entries = NULL;
	const int count = scandir(folder, &entries, is_record_file, by_name);
	unsigned newest = 0;

	for (int i = 0; i < count; i++) {
		newest = (unsigned)strtoul(entries[i]->d_name, NULL, 10);
		free(entries[i]);
	}
	free(entries);
	return newest;
}

static bool chain_fail(struct err *err, const char *what, const char *path)
{
	return err_set(err, errno == ENOSPC || errno == EDQUOT ? ERR_DISK_FULL : ERR_IO_ERROR,
	               "Cannot %s %s: %s.", what, path, strerror(errno));
}

/* ---- appending --------------------------------------------------------------------- */

/* Where the next record goes. */
struct audit_end {
	uint64_t number;           /* of the last record; 0: none */
	char hash[SHA256_HEX_SIZE]; /* its own */
	unsigned file;             /* 0: none */
	off_t size;                /* of that file, up to its last whole line */
	off_t torn;                /* bytes after that: a record whose writing was interrupted */
};

static void end_init(struct audit_end *end)
{
	*end = (struct audit_end){ 0 };
	memset(end->hash, '0', HEX);
}

static char *chain_path(const char *folder, unsigned file)
{
	return mem_printf("%s/%0*u.jsonl", folder, NAME_DIGITS, file);
}

/* Reads the last whole line of an open file.  A record whose writing was interrupted may follow it,
 * and each of the two may be as long as a record gets. */
static bool chain_read_end(int fd, const char *path, struct audit_end *end, struct err *err)
{
	const off_t most = 2 * (off_t)LIMIT_AUDIT_LINE_BYTES, size = lseek(fd, 0, SEEK_END);
	_cleanup_buf_ struct buf text = BUF_INIT(2 * LIMIT_AUDIT_LINE_BYTES + 2);
	const char *last, *before;
	struct span line, all;
	json_auto_t *record = NULL;
	off_t from, step = END_BYTES;

	do {
		from = size > step ? size - step : 0;
		step = step * 8 < most ? step * 8 : most;
		text.len = 0;
		if (size < 0 || lseek(fd, from, SEEK_SET) < 0 ||
		    fd_read_into(fd, &text, (size_t)(size - from) + 1) < 0)
			return chain_fail(err, "read", path);
		all = buf_view(&text);
		last = memrchr(all.data, '\n', all.len);
		before = last ? memrchr(all.data, '\n', (size_t)(last - all.data)) : NULL;
	} while (!before && from > 0 && size - from < most);
	end->torn = (off_t)(all.len - (last ? (size_t)(last - all.data) + 1 : 0));
	end->size = size - end->torn;
	if (!last)
		return true;
	line = span_head(all, (size_t)(last - all.data));
	if (before)
		line = span_skip(line, (size_t)(before - all.data) + 1);
	record = parse_record(line);
	end->number = (uint64_t)json_integer_value(json_object_get(record, "n"));
	if (!audit_line_hash(line, end->hash))
		memset(end->hash, '0', HEX);
	return true;
}

json_t *audit_head(const char *folder)
{
	_cleanup_free_ char *path = path_join(folder, "head");
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;

	return file_read(path, 4096, &text, &ignored) && text.data ?
	               parse_record(file_text_span(&text)) : NULL;
}

/* Always as long, so that it is replaced by one write, and not torn.  Only a new one is synced: if
 * a crash of the machine leaves an older one, the records that it names are there. */
static bool chain_write_head(const char *folder, uint64_t number, const char *hash, struct err *err)
{
	_cleanup_free_ char *path = path_join(folder, "head");
	_cleanup_free_ char *what = mem_printf("{\"n\":%llu,\"sha256\":\"%s\"}",
	                                       (unsigned long long)number, hash);
	_cleanup_free_ char *text = mem_printf("%-*s\n", HEAD_BYTES - 1, what);
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	const bool is_new = fd >= 0 && lseek(fd, 0, SEEK_END) != HEAD_BYTES;

	if (fd < 0 || pwrite(fd, text, HEAD_BYTES, 0) != HEAD_BYTES ||
	    (is_new && (ftruncate(fd, HEAD_BYTES) != 0 || fdatasync(fd) != 0)))
		return chain_fail(err, "write", path);
	return true;
}

/* What was appended to a full file is synced by no later record. */
static bool chain_sync(const char *folder, unsigned file, struct err *err)
{
	_cleanup_free_ char *path = chain_path(folder, file);
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return (fd >= 0 && fdatasync(fd) == 0) || chain_fail(err, "write", path);
}

/* One line at the end of the newest file, or of a new one. */
static bool chain_write(const char *folder, struct audit_end *end, const json_t *record,
                        enum audit_sync sync, struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_AUDIT_LINE_BYTES);
	const bool is_new = !end->file || end->size >= (off_t)LIMIT_AUDIT_FILE_BYTES;
	_cleanup_free_ char *path = chain_path(folder, end->file + is_new);
	_cleanup_fd_ int fd = -1;

	chain_put(&line, end->number + 1, end->hash, record);
	if (line.overflowed)
		return err_set(err, ERR_TOO_LARGE, "A record of the audit is longer than 1 MB.");
	if (is_new && end->file && !chain_sync(folder, end->file, err))
		return false;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || !fd_write_all(fd, line.data, line.len) ||
	    (sync == AUDIT_NOW && fdatasync(fd) != 0))
		return chain_fail(err, "write", path);
	end->file += is_new;
	end->size = is_new ? (off_t)line.len : end->size + (off_t)line.len;
	end->number++;
	audit_line_hash(span_head(buf_view(&line), line.len - 1), end->hash);
	return true;
}

/* What is not as the last writer left it becomes a record itself: a line whose writing was
 * interrupted is taken off, and records that "head" names and the file lacks are named. */
static bool chain_recover(const char *folder, struct audit_end *end, json_t *head, struct err *err)
{
	_cleanup_free_ char *path = end->file ? chain_path(folder, end->file) : NULL;
	const json_int_t expected = json_integer_value(json_object_get(head, "n"));
	json_auto_t *record = json_pack("{s:s}", "event", "recovered");

	if (end->torn && truncate(path, end->size) != 0)
		return chain_fail(err, "truncate", path);
	if (end->torn)
		json_object_set_new(record, "tornBytes", json_integer(end->torn));
	if (expected > (json_int_t)end->number)
		json_object_set(record, "missing", head);
	return json_object_size(record) == 1 || chain_write(folder, end, record, AUDIT_NOW, err);
}

static bool chain_end_of_file(const char *path, struct audit_end *end, struct err *err)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? chain_fail(err, "open", path) : chain_read_end(fd, path, end, err);
}

/* Where the first record of a new file was interrupted, the chain's end is in the file before. */
static bool chain_find_end(const char *folder, struct audit_end *end, struct err *err)
{
	_cleanup_free_ char *path = NULL, *earlier_path = NULL;
	struct audit_end earlier;

	end_init(end);
	end_init(&earlier);
	end->file = newest_file(folder);
	if (!end->file)
		return true;
	path = chain_path(folder, end->file);
	if (!chain_end_of_file(path, end, err))
		return false;
	earlier_path = chain_path(folder, end->file - 1);
	if (end->size || access(earlier_path, F_OK) != 0)
		return true;
	if (!chain_end_of_file(earlier_path, &earlier, err))
		return false;
	end->number = earlier.number;
	memcpy(end->hash, earlier.hash, sizeof(end->hash));
	return true;
}

/* "head" names none that is not on the disk: it would be missed after a crash. */
static bool append_locked(const char *folder, const json_t *record, enum audit_sync sync,
                          struct err *err)
{
	json_auto_t *head = audit_head(folder);
	struct audit_end end;

	if (!head)
		sync = AUDIT_NOW;
	return chain_find_end(folder, &end, err) && chain_recover(folder, &end, head, err) &&
	       chain_write(folder, &end, record, sync, err) &&
	       (sync == AUDIT_LATER || chain_write_head(folder, end.number, end.hash, err));
}

bool audit_append(const char *folder, json_t *record, enum audit_sync sync, struct err *err)
{
	const struct file_lock_wait wait = { .max_ms = LOCK_WAIT_MS };
	_cleanup_fd_ int fd = -1;
	bool ok;

	ok = file_make_folders(folder, err);
	if (ok && (fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		ok = chain_fail(err, "open", folder);
	ok = ok && file_lock_take(fd, folder, &wait, err) &&
	     append_locked(folder, record, sync, err);
	json_decref(record);
	return ok;
}

/* ---- reading ----------------------------------------------------------------------- */

bool audit_read_text(const char *file, struct span text,
                     bool (*each)(void *data, const struct audit_line *line), void *data)
{
	struct audit_line line = { .file = file };
	struct span one;

	while (line_next(&text, &one)) {
		const bool ended = span_ends(one, SPAN("\n"));
		json_auto_t *record = NULL;

		line.line++;
		line.text = ended ? span_head(one, one.len - 1) : one;
		if (ended && audit_line_is_whole(line.text))
			record = parse_record(line.text);
		line.record = json_is_object(record) ? record : NULL;
		if (!each(data, &line))
			return false;
	}
	return true;
}

bool audit_read(const char *folder, bool (*each)(void *data, const struct audit_line *line),
                void *data, struct err *err)
{
	struct dirent **entries = NULL;
	const int count = scandir(folder, &entries, is_record_file, by_name);
	bool ok = count >= 0 || errno == ENOENT || chain_fail(err, "read", folder);
	bool more = true;

	for (int i = 0; i < count; i++) {
		_cleanup_free_ char *path = path_join(folder, entries[i]->d_name);
		_cleanup_file_text_ struct file_text text = { 0 };

		ok = ok && (!more || file_read(path, 2 * LIMIT_AUDIT_FILE_BYTES, &text, err));
		if (ok && text.data)
			more = audit_read_text(entries[i]->d_name, file_text_span(&text), each,
			                       data);
		free(entries[i]);
	}
	free(entries);
	return ok;
}
