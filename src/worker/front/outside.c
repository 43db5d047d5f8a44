/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of several files outside of the roots: what was allowed, kept on disk with the journal
 * until the change is over, and applied before the journal is. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "file/journal.h"
#include "sandbox/plan/location.h"
#include "worker/front/private.h"

/* The record is a file of strings that end in NUL: `head`, then each word with its paths, then
 * `end`.  Its process holds a lock on it; without a holder it is a dead one's.
 *
 *     record = head *("root" PATH / "folder" PATH / "write" PATH / "remove" PATH /
 *              "move" PATH PATH) end
 */
static const char head[] = "hasp-outside 1", end[] = "end";
static const char what_name[] = "what", journal_name[] = "journal";

enum { RECORD_MAX = 4 << 20, RECORDS_MAX = 64, RANDOM_BYTES = 8 };

struct outside_record {
	int parent;                /* owned; the folder of all records */
	char name[2 * RANDOM_BYTES + 1]; /* of its folder in that */
	int folder;                /* owned */
	int what;                  /* owned; locked */
	char *journal;             /* owned */
	struct file_text text;     /* owned; what the following points into */
	const char **roots;        /* owned; of the change's worker: first those of a workspace */
	size_t root_count, root_cap, inside;
	struct outside_file *files; /* owned */
	size_t file_count, file_cap;
};

static char *records_folder(const char *journal_folder)
{
	return mem_printf("%s-outside", journal_folder);
}

/* ---- as text ---------------------------------------------------------------------- */

static const char *const words[] = {
	[OUTSIDE_FILE_WRITE] = "write",
	[OUTSIDE_FILE_REMOVE] = "remove",
	[OUTSIDE_FILE_MOVE] = "move",
};

static void record_put(struct buf *out, const char *text)
{
	buf_append(out, text, strlen(text) + 1);
}

static void record_format(struct buf *out, const char *const *roots, size_t root_count,
                          const struct outside_request *request)
{
	record_put(out, head);
	for (size_t i = 0; i < root_count; i++) {
		record_put(out, "root");
		record_put(out, roots[i]);
	}
	for (size_t i = 0; i < request->folder_count; i++) {
		record_put(out, "folder");
		record_put(out, request->folders[i]);
	}
	for (size_t i = 0; i < request->file_count; i++) {
		record_put(out, words[request->files[i].kind]);
		record_put(out, request->files[i].path);
		if (request->files[i].kind == OUTSIDE_FILE_MOVE)
			record_put(out, request->files[i].to);
	}
	record_put(out, end);
}

/* The next string; NULL: there is none. */
static const char *next_string(struct span *text)
{
	const char *nul = text->len ? memchr(text->data, '\0', text->len) : NULL;
	const char *string = text->data;

	if (!nul)
		return NULL;
	*text = span_skip(*text, (size_t)(nul - text->data) + 1);
	return string;
}

static const char *next_path(struct span *text)
{
	const char *path = next_string(text);

	return path && path[0] == '/' && strlen(path) < LIMIT_PATH_BYTES ? path : NULL;
}

static bool take_word(struct outside_record *record, const char *word, struct span *text)
{
	const bool root = strcmp(word, "root") == 0;
	const char *path = next_path(text), *to = NULL;

	if (!path)
		return false;
	if (root || strcmp(word, "folder") == 0) {
		record->roots = mem_grow(record->roots, &record->root_cap, record->root_count + 1,
		                         sizeof(*record->roots));
		record->roots[record->root_count++] = path;
		record->inside += root;
		return !root || record->inside == record->root_count;
	}
	for (size_t kind = 0; kind < ARRAY_LEN(words); kind++) {
		if (strcmp(word, words[kind]) != 0)
			continue;
		if (kind == OUTSIDE_FILE_MOVE && !(to = next_path(text)))
			return false;
		record->files = mem_grow(record->files, &record->file_cap, record->file_count + 1,
		                         sizeof(*record->files));
		record->files[record->file_count++] =
			(struct outside_file){ (enum outside_file_kind)kind, path, to };
		return true;
	}
	return false;
}

/* Of record->text. */
static bool record_parse(struct outside_record *record)
{
	struct span text = file_text_span(&record->text);
	const char *word = next_string(&text);

	if (!word || strcmp(word, head) != 0)
		return false;
	while ((word = next_string(&text)) && strcmp(word, end) != 0)
		if (!take_word(record, word, &text))
			return false;
	return word && !text.len;
}

/* ---- what a journal may be about -------------------------------------------------- */

static bool is_inside(const struct outside_record *record, const char *path)
{
	for (size_t i = 0; i < record->inside; i++)
		if (location_within(path, record->roots[i]))
			return true;
	return false;
}

static bool file_fits(const struct outside_record *record, const struct outside_file *file,
                      const struct journal_entry *entry)
{
	const bool same = strcmp(file->path, entry->path) == 0;
	const bool at_target = file->to && strcmp(file->to, entry->path) == 0;

	switch (entry->kind) {
	case JOURNAL_WRITE:
		return file->kind == OUTSIDE_FILE_WRITE && same;
	case JOURNAL_CREATE: /* a move with new content, too, is a new file and a removal */
		return (file->kind == OUTSIDE_FILE_WRITE && same) || at_target;
	case JOURNAL_DELETE:
		return file->kind != OUTSIDE_FILE_WRITE && same;
	case JOURNAL_MOVE:   /* within a workspace it may go on */
		return file->kind == OUTSIDE_FILE_MOVE && same &&
		       (strcmp(file->to, entry->new_path) == 0 ||
		        (is_inside(record, file->to) && is_inside(record, entry->new_path)));
	case JOURNAL_KIND_COUNT:
		break;
	}
	return false;
}

static bool entry_is_allowed(const struct outside_record *record, const struct journal_entry *entry)
{
	const char *appears = entry->new_path ? entry->new_path : entry->path;

	if (entry->made && !is_inside(record, appears)) /* no folder outside is made */
		return false;
	if (is_inside(record, entry->path) && is_inside(record, appears))
		return true;
	for (size_t i = 0; i < record->file_count; i++)
		if (file_fits(record, &record->files[i], entry))
			return true;
	return false;
}

static bool journal_is_allowed(const struct outside_record *record,
                               const struct journal_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		if (!entry_is_allowed(record, &entries->items[i]))
			return false;
	return true;
}

/* Looks at each journal, and sets aside those that are about anything else.  How many are left;
 * *ret_busy (may be NULL) how many of them have a process: a worker that has lost its front ends
 * the change first. */
static size_t look_at_journals(const struct outside_record *record, bool set_aside,
                               size_t *ret_busy)
{
	const int fd = openat(record->folder, journal_name,
	                      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	size_t left = 0, busy = 0;

	if (ret_busy)
		*ret_busy = 0;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((entry = readdir(dir))) {
		struct journal_entries entries = { 0 };
		bool runs = false;

		if (!journal_look(fd, entry->d_name, &entries, &runs))
			continue;
		if (set_aside && !runs && !journal_is_allowed(record, &entries)) {
			journal_set_aside(fd, entry->d_name);
		} else {
			left++;
			busy += runs;
		}
		journal_entries_release(&entries);
	}
	closedir(dir);
	if (ret_busy)
		*ret_busy = busy;
	return left;
}

void outside_record_check(const struct outside_record *record)
{
	look_at_journals(record, true, NULL);
}

/* ---- as a folder ------------------------------------------------------------------ */

static void record_drop(struct outside_record *record)
{
	fd_cleanup_close(&record->parent);
	fd_cleanup_close(&record->folder);
	fd_cleanup_close(&record->what); /* and its lock */
	file_text_release(&record->text);
	free(record->roots);
	free(record->files);
	free(record->journal);
	free(record);
}

/* Removes what is known to be in the folder; anything else keeps it. */
static void record_remove(const struct outside_record *record)
{
	unlinkat(record->folder, journal_name, AT_REMOVEDIR);
	if (faccessat(record->folder, journal_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return;
	unlinkat(record->folder, what_name, 0);
	unlinkat(record->parent, record->name, AT_REMOVEDIR);
}

void outside_record_free(struct outside_record *record)
{
	if (!record)
		return;
	if (look_at_journals(record, false, NULL) == 0)
		record_remove(record);
	record_drop(record);
}

static struct outside_record *record_new(const char *parent, const char *name)
{
	struct outside_record *record = mem_alloc(1, sizeof(*record));

	record->parent = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	record->folder = record->what = -1;
	snprintf(record->name, sizeof(record->name), "%s", name);
	record->journal = mem_printf("%s/%s/%s", parent, name, journal_name);
	return record;
}

static bool record_open_folder(struct outside_record *record)
{
	record->folder = openat(record->parent, record->name,
	                        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return record->folder >= 0;
}

/* With the lock of the parent: otherwise it could be taken for that of a dead process before it has
 * a lock itself. */
static bool record_write(struct outside_record *record, bool durable)
{
	struct span text = file_text_span(&record->text);

	if (mkdirat(record->parent, record->name, 0700) < 0 || !record_open_folder(record))
		return false;
	record->what = openat(record->folder, what_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	                      0600);
	return record->what >= 0 && flock(record->what, LOCK_EX | LOCK_NB) == 0 &&
	       fd_write_all(record->what, text.data, text.len) &&
	       mkdirat(record->folder, journal_name, 0700) == 0 &&
	       (!durable || (fsync(record->what) == 0 && fsync(record->folder) == 0 &&
	                     fsync(record->parent) == 0));
}

bool outside_record_make(const char *journal_folder, const char *const *roots, size_t root_count,
                        const struct outside_request *request, enum durability durability,
                        struct outside_record **ret, struct err *err)
{
	_cleanup_free_ char *parent = records_folder(journal_folder);
	struct buf text = BUF_INIT(RECORD_MAX);
	char name[2 * RANDOM_BYTES + 1] = "";
	struct outside_record *record;

	if (!file_make_folders(parent, err) || !random_hex(name, RANDOM_BYTES, err))
		return false;
	record_format(&text, roots, root_count, request);
	record = record_new(parent, name);
	record->text.len = text.len;
	record->text.data = buf_steal(&text);
	if (!file_lock_take(record->parent, parent, NULL, err)) {
		record_drop(record);
		return false;
	}
	errno = EFBIG; /* why parsing fails: the text was cut */
	if (!record_parse(record) || !record_write(record, durability == DURABILITY_FULL)) {
		err_set_errno(err, errno, "Cannot write down in %s what was allowed", parent);
		if (record->folder >= 0)
			record_remove(record);
		record_drop(record);
		return false;
	}
	flock(record->parent, LOCK_UN);
	*ret = record;
	return true;
}

const char *outside_record_journal(const struct outside_record *record)
{
	return record->journal;
}

/* ---- what dead processes left ----------------------------------------------------- */

/* Opens and locks one; false: its process lives, or it cannot be read. */
static bool record_take(struct outside_record *record)
{
	struct err ignored = ERR_INIT;

	if (record->parent < 0 || !record_open_folder(record))
		return false;
	record->what = openat(record->folder, what_name,
	                      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (record->what < 0)
		return errno == ENOENT; /* it was just being made */
	return flock(record->what, LOCK_EX | LOCK_NB) == 0 &&
	       file_read_open(record->what, what_name, RECORD_MAX, &record->text, &ignored);
}

/* The roots that are there still: a worker starts only in what is. */
static size_t roots_there(const struct outside_record *record, const char **roots)
{
	size_t count = 0;

	for (size_t i = 0; i < record->root_count; i++)
		if (location_kind_of(record->roots[i]) == LOCATION_FOLDER)
			roots[count++] = record->roots[i];
	return count;
}

/* False: try again later. */
static bool record_settle(struct outside_record *record,
                          bool (*recover)(void *data, const char *const *roots, size_t count,
                                          const char *journal), void *data)
{
	_cleanup_free_ const char **roots = NULL;
	size_t count, busy;
	const bool whole = record_parse(record);
	const size_t left = look_at_journals(record, whole, &busy);

	if (busy)
		return false;
	if (!whole || !left)
		return true;
	roots = mem_alloc(record->root_count + 1, sizeof(*roots));
	count = roots_there(record, roots);
	return count == 0 || recover(data, roots, count, record->journal);
}

static void recover_record(const char *parent, const char *name,
                           bool (*recover)(void *data, const char *const *roots, size_t count,
                                           const char *journal), void *data)
{
	struct outside_record *record = record_new(parent, name);
	char aside[sizeof(record->name) + 4];

	if (record_take(record) && record_settle(record, recover, data)) {
		record_remove(record);
		/* What no worker could make anything of is not tried for ever. */
		snprintf(aside, sizeof(aside), "%s.bad", record->name);
		renameat(record->parent, name, record->parent, aside);
	}
	record_drop(record);
}

static bool is_record_name(const char *name)
{
	return strspn(name, "0123456789abcdef") == 2 * RANDOM_BYTES &&
	       name[2 * RANDOM_BYTES] == '\0';
}

void outside_recover(const char *journal_folder,
                    bool (*recover)(void *data, const char *const *roots, size_t count,
                                    const char *journal), void *data)
{
	_cleanup_free_ char *parent = records_folder(journal_folder);
	_cleanup_fd_ int lock = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char names[RECORDS_MAX][2 * RANDOM_BYTES + 1];
	const struct dirent *entry;
	size_t count = 0;
	DIR *dir;

	/* The process with the lock is recovering already, or creating one. */
	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0 || !(dir = opendir(parent)))
		return;
	while (count < RECORDS_MAX && (entry = readdir(dir)))
		if (is_record_name(entry->d_name))
			memcpy(names[count++], entry->d_name, sizeof(names[0]));
	closedir(dir);
	for (size_t i = 0; i < count; i++)
		recover_record(parent, names[i], recover, data);
}
