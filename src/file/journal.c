/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a transaction, as text and as a file. */
#include "file/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/text.h"

/* ---- as text ---------------------------------------------------------------------- */

/* The journal as text.
 *
 *     journal = "hasp-journal 1\n" *entry "end " 64HEX "\n"
 *     entry   = kind TAB path TAB new-path TAB old-inode TAB new-inode TAB
 *               old-sha256 TAB new-sha256 TAB made "\n"
 *     kind    = "write" / "create" / "delete" / "move"
 *     path    = *(ALPHA / DIGIT / "." / "_" / "/" / "-" / "%" 2HEX)
 *
 * The hash is that of everything before "end".
 */

enum { FIELDS = 8 };

static const char head[] = "hasp-journal 1\n";
static const char *const kinds[] = {
	[JOURNAL_WRITE] = "write",
	[JOURNAL_CREATE] = "create",
	[JOURNAL_DELETE] = "delete",
	[JOURNAL_MOVE] = "move",
};

void journal_entries_release(struct journal_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++) {
		free(entries->items[i].path);
		free(entries->items[i].new_path);
	}
	free(entries->items);
	*entries = (struct journal_entries){ 0 };
}

struct journal_entry *journal_entries_add(struct journal_entries *entries)
{
	struct journal_entry *entry;

	if (entries->count == entries->cap)
		entries->items = mem_grow(entries->items, &entries->cap, entries->count + 1,
		                          sizeof(*entries->items));
	entry = &entries->items[entries->count++];
	*entry = (struct journal_entry){ 0 };
	return entry;
}

static bool journal_is_plain(char c)
{
	return ascii_is_alnum(c) || c == '.' || c == '_' || c == '/' || c == '-';
}

static void put_path(struct buf *out, const char *path)
{
	for (; path && *path; path++) {
		if (journal_is_plain(*path))
			buf_char(out, *path);
		else
			buf_printf(out, "%%%02x", (unsigned char)*path);
	}
}

bool journal_format(const struct journal_entries *entries, struct buf *out)
{
	char old_hex[SHA256_HEX_SIZE], new_hex[SHA256_HEX_SIZE];
	struct sha256 sum;

	buf_str(out, head);
	for (size_t i = 0; i < entries->count; i++) {
		const struct journal_entry *entry = &entries->items[i];

		sha256_hex(&entry->old_sum, old_hex);
		sha256_hex(&entry->new_sum, new_hex);
		buf_printf(out, "%s\t", kinds[entry->kind]);
		put_path(out, entry->path);
		buf_char(out, '\t');
		put_path(out, entry->new_path);
		buf_printf(out, "\t%ju\t%ju\t%s\t%s\t%zu\n", (uintmax_t)entry->old_inode,
		           (uintmax_t)entry->new_inode, old_hex, new_hex, entry->made);
	}
	if (out->overflowed)
		return false;
	sum = sha256_of(buf_view(out));
	sha256_hex(&sum, old_hex);
	return buf_printf(out, "end %s\n", old_hex);
}

static int journal_hex_digit(char c)
{
	return ascii_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A path, or NULL when it is empty; false for what is neither. */
static bool get_path(struct span field, char **ret)
{
	_cleanup_free_ char *path = mem_alloc(field.len + 1, 1);
	size_t len = 0;

	for (size_t i = 0; i < field.len; i++) {
		int high, low;

		if (journal_is_plain(field.data[i])) {
			path[len++] = field.data[i];
			continue;
		}
		if (field.data[i] != '%' || field.len - i < 3)
			return false;
		high = journal_hex_digit(field.data[i + 1]);
		low = journal_hex_digit(field.data[i + 2]);
		if (high < 0 || low < 0 || high + low == 0)
			return false;
		path[len++] = (char)(high << 4 | low);
		i += 2;
	}
	if (len && (path[0] != '/' || len >= LIMIT_PATH_BYTES))
		return false;
	*ret = len ? mem_steal(&path) : NULL;
	return true;
}

static bool get_number(struct span field, uintmax_t max, uintmax_t *ret)
{
	uintmax_t value = 0;

	if (field.len == 0 || field.len > 20)
		return false;
	for (size_t i = 0; i < field.len; i++) {
		uintmax_t next = (uintmax_t)(unsigned char)field.data[i] - '0';

		if (next > 9 || value > (max - next) / 10)
			return false;
		value = value * 10 + next;
	}
	*ret = value;
	return true;
}

static bool journal_split(struct span line, struct span fields[static FIELDS])
{
	for (size_t i = 0; i < FIELDS; i++) {
		const char *tab = line.len ? memchr(line.data, '\t', line.len) : NULL;
		size_t len = tab ? (size_t)(tab - line.data) : line.len;

		if ((tab != NULL) != (i + 1 < FIELDS))
			return false;
		fields[i] = span_head(line, len);
		line = span_skip(line, len + 1);
	}
	return true;
}

static bool get_kind(struct span field, enum journal_kind *ret)
{
	for (size_t i = 0; i < JOURNAL_KIND_COUNT; i++) {
		if (span_eq(field, span_str(kinds[i]))) {
			*ret = (enum journal_kind)i;
			return true;
		}
	}
	return false;
}

static bool parse_entry(struct span line, struct journal_entry *entry)
{
	struct span fields[FIELDS];
	uintmax_t old_inode, new_inode, made;

	if (!journal_split(line, fields) || !get_kind(fields[0], &entry->kind) ||
	    !get_path(fields[1], &entry->path) || !get_path(fields[2], &entry->new_path) ||
	    !get_number(fields[3], UINTMAX_MAX, &old_inode) ||
	    !get_number(fields[4], UINTMAX_MAX, &new_inode) ||
	    !sha256_parse(fields[5], &entry->old_sum) ||
	    !sha256_parse(fields[6], &entry->new_sum) ||
	    !get_number(fields[7], LIMIT_PATH_BYTES, &made))
		return false;
	entry->old_inode = (ino_t)old_inode;
	entry->new_inode = (ino_t)new_inode;
	entry->made = (size_t)made;
	return entry->path && (entry->kind == JOURNAL_MOVE) == (entry->new_path != NULL);
}

/* The text before the last line, if that has its hash. */
static bool check_end(struct span text, struct span *ret_body)
{
	static const size_t end_len = sizeof("end ") - 1 + 64 + 1;
	struct sha256 want, have;
	struct span end;

	if (text.len < sizeof(head) - 1 + end_len)
		return false;
	*ret_body = span_head(text, text.len - end_len);
	end = span_skip(text, ret_body->len);
	if (!span_starts(end, SPAN("end ")) || !sha256_parse(span_skip(end, 4), &want))
		return false;
	have = sha256_of(*ret_body);
	return sha256_eq(&want, &have);
}

bool journal_parse(struct span text, struct journal_entries *ret)
{
	struct journal_entries entries = { 0 };
	struct span body, line;

	if (!check_end(text, &body) || !span_starts(body, span_str(head)))
		return false;
	body = span_skip(body, sizeof(head) - 1);
	while (line_next(&body, &line)) {
		if (entries.count >= 2 * LIMIT_CHANGES ||
		    !parse_entry(line_body(line), journal_entries_add(&entries))) {
			journal_entries_release(&entries);
			return false;
		}
	}
	*ret = entries;
	return true;
}

/* ---- as a file -------------------------------------------------------------------- */

/* The journal as a file: made whole and locked, renamed, removed, taken over. */

/* The longest journal: every change a move, every byte of both paths escaped. */
#define JOURNAL_BYTES_MAX ((size_t)LIMIT_CHANGES * (6 * LIMIT_PATH_BYTES + 512))

enum { NAME_TRIES = 16 };

static const char undo_end[] = ".undo", done_end[] = ".done";

void journal_release(struct journal *journal)
{
	if (journal->fd >= 0)
		close(journal->fd);
	*journal = (struct journal)JOURNAL_INIT;
}

int journal_folder_open(const char *path, struct err *err)
{
	int fd;

	if (!path || path[0] != '/') {
		err_set(err, ERR_INVALID_ARGUMENT, "The journal folder is no absolute path: %s",
		        path ? path : "");
		return -1;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		err_set_errno(err, errno, "Cannot open the journal folder %s", path);
	return fd;
}

int journal_folder_make(const char *path, struct err *err)
{
	if (path && path[0] == '/' && !file_make_folders(path, err))
		return -1;
	return journal_folder_open(path, err);
}

/* The lock belongs to the open file, so it outlives threads and dies with the process. */
static bool journal_lock(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

static bool link_anonymous(int fd, int folder, const char *name)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(fd, "", folder, name, AT_EMPTY_PATH) == 0 ||
	       (errno != EEXIST &&
	        linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW) == 0);
}

static void make_name(char name[static 32], const char *end)
{
	uint64_t number;

	random_distinct(&number, sizeof(number));
	snprintf(name, 32, "tx-%016llx%s", (unsigned long long)number, end);
}

/* Gives the written and locked file its name.  Where there are no anonymous files it had the name
 * `*temporary` until now, which journal_take does not know. */
static bool give_name(struct journal *journal, const char *temporary)
{
	for (int i = 0; i < NAME_TRIES; i++) {
		make_name(journal->name, undo_end);
		if (temporary[0] ? renameat(journal->folder, temporary, journal->folder,
		                            journal->name) == 0 :
		                   link_anonymous(journal->fd, journal->folder, journal->name))
			return true;
		if (errno != EEXIST)
			break;
	}
	return false;
}

bool journal_create(int folder, const struct journal_entries *entries,
                    enum durability durability, struct journal *ret, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(JOURNAL_BYTES_MAX);
	struct journal journal = { .folder = folder, .durability = durability };
	char temporary[32] = "";
	int saved;

	if (!journal_format(entries, &text))
		return err_set(err, ERR_TOO_LARGE, "The transaction's journal is too large.");
	journal.fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (journal.fd < 0) {
		make_name(temporary, ".new");
		journal.fd = openat(folder, temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	}
	if (journal.fd >= 0 && journal_lock(journal.fd) &&
	    fd_write_all(journal.fd, text.data, text.len) &&
	    (durability != DURABILITY_FULL || fsync(journal.fd) == 0) &&
	    give_name(&journal, temporary) &&
	    (journal.durability != DURABILITY_FULL || fsync(journal.folder) == 0)) {
		*ret = journal;
		return true;
	}
	saved = errno;
	if (temporary[0])
		unlinkat(folder, temporary, 0);
	if (journal.name[0])
		unlinkat(folder, journal.name, 0);
	journal_release(&journal);
	return err_set_errno(err, saved, "Cannot write the transaction's journal");
}

bool journal_done(struct journal *journal, struct err *err)
{
	char name[sizeof(journal->name)];
	size_t stem = strlen(journal->name) - strlen(undo_end);

	snprintf(name, sizeof(name), "%.*s%s", (int)stem, journal->name, done_end);
	if (renameat(journal->folder, journal->name, journal->folder, name) < 0)
		return err_set_errno(err, errno, "Cannot finish the transaction's journal");
	memcpy(journal->name, name, sizeof(name));
	return true;
}

bool journal_remove(struct journal *journal, struct err *err)
{
	if (unlinkat(journal->folder, journal->name, 0) < 0 && errno != ENOENT)
		return err_set_errno(err, errno, "Cannot remove the transaction's journal");
	return true;
}

static bool journal_state_of(const char *name, enum journal_state *ret)
{
	struct span text = span_str(name);

	if (!span_starts(text, SPAN("tx-")) || text.len >= sizeof(((struct journal *)0)->name))
		return false;
	if (span_ends(text, span_str(undo_end)))
		*ret = JOURNAL_UNDO;
	else if (span_ends(text, span_str(done_end)))
		*ret = JOURNAL_DONE;
	else
		return false;
	return true;
}

/* Reads the whole journal. Returns false if its entries cannot be believed: errno is then 0, or
 * says why the file cannot be read. */
static bool read_entries(int fd, struct journal_entries *ret)
{
	_cleanup_free_ char *data = NULL;
	struct stat stat;
	ssize_t n;

	if (fstat(fd, &stat) < 0)
		return false;
	errno = 0;
	if (!S_ISREG(stat.st_mode) || (unsigned long long)stat.st_size > JOURNAL_BYTES_MAX)
		return false;
	data = mem_alloc((size_t)stat.st_size + 1, 1);
	n = fd_read_full(fd, data, (size_t)stat.st_size);
	if (n < 0)
		return false;
	errno = 0;
	return journal_parse(span_of(data, (size_t)n), ret);
}

bool journal_look(int folder, const char *name, struct journal_entries *ret, bool *ret_busy)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	_cleanup_fd_ int fd = -1;
	enum journal_state state;

	if (!journal_state_of(name, &state))
		return false;
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	*ret_busy = fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
	return read_entries(fd, ret);
}

void journal_set_aside(int folder, const char *name)
{
	char bad[40];

	snprintf(bad, sizeof(bad), "%.32s.bad", name);
	renameat(folder, name, folder, bad);
}

bool journal_take(int folder, const char *name, struct journal *ret,
                  enum journal_state *ret_state, struct journal_entries *ret_entries,
                  struct err *err)
{
	struct journal journal = { .folder = folder, .durability = DURABILITY_FULL };
	struct stat stat;

	if (!journal_state_of(name, ret_state))
		return false;
	snprintf(journal.name, sizeof(journal.name), "%s", name);
	journal.fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (journal.fd < 0)
		return errno == ENOENT ? false :
		       err_set_errno(err, errno, "Cannot open the journal %s", name);
	if (!journal_lock(journal.fd)) {
		journal_release(&journal);
		return err_set(err, ERR_BUSY, "The transaction %s is running.", name);
	}
	/* Its process, or another that recovers, may have finished between open and lock. */
	if (fstatat(folder, name, &stat, AT_SYMLINK_NOFOLLOW) < 0) {
		journal_release(&journal);
		return false;
	}
	if (!read_entries(journal.fd, ret_entries)) {
		const int why = errno;

		if (!why)
			journal_set_aside(folder, name);
		journal_release(&journal);
		if (why)
			return err_set_errno(err, why, "Cannot read the journal %s", name);
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The journal %s is damaged and was set aside as %s.bad.", name,
		               name);
	}
	*ret = journal;
	return true;
}
