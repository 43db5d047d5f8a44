/* SPDX-License-Identifier: Apache-2.0 */
/* The journal as a file: made whole and locked, renamed, removed, taken over. */
#include "file/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"

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

int journal_folder_open(const char *path, bool create, struct err *err)
{
	_cleanup_free_ char *copy = mem_strdup(path ? path : "");
	int fd;

	if (copy[0] != '/') {
		err_set(err, ERR_INVALID_ARGUMENT, "The journal folder is no absolute path: %s",
		        copy);
		return -1;
	}
	fd = open(copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	for (char *slash = copy + 1; create && (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(copy, 0700);
		*slash = '/';
	}
	if (create) {
		mkdir(copy, 0700);
		fd = open(copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (fd < 0)
		err_set_errno(err, errno, "Cannot open the journal folder %s", path);
	return fd;
}

/* The lock belongs to the open file, so it outlives threads and dies with the process. */
static bool lock(int fd)
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
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = (uint64_t)getpid() << 32 ^ (uintptr_t)&number;
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

static bool sync_folder(const struct journal *journal)
{
	return journal->durability != DURABILITY_FULL || fsync(journal->folder) == 0;
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
	if (journal.fd >= 0 && lock(journal.fd) && fd_write_all(journal.fd, text.data, text.len) &&
	    (durability != DURABILITY_FULL || fsync(journal.fd) == 0) &&
	    give_name(&journal, temporary) && sync_folder(&journal)) {
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

static bool state_of(const char *name, enum journal_state *ret)
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

/* Reads the whole journal, if its entries can be believed. */
static bool read_entries(int fd, struct journal_entries *ret)
{
	_cleanup_free_ char *data = NULL;
	struct stat stat;
	ssize_t n;

	if (fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode) ||
	    (unsigned long long)stat.st_size > JOURNAL_BYTES_MAX)
		return false;
	data = mem_alloc((size_t)stat.st_size + 1, 1);
	n = fd_read_full(fd, data, (size_t)stat.st_size);
	return n >= 0 && journal_parse(span_of(data, (size_t)n), ret);
}

bool journal_take(int folder, const char *name, struct journal *ret,
                  enum journal_state *ret_state, struct journal_entries *ret_entries,
                  struct err *err)
{
	struct journal journal = { .folder = folder, .durability = DURABILITY_FULL };
	char bad[40];
	struct stat stat;

	if (!state_of(name, ret_state))
		return false;
	snprintf(journal.name, sizeof(journal.name), "%s", name);
	journal.fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (journal.fd < 0)
		return errno == ENOENT ? false :
		       err_set_errno(err, errno, "Cannot open the journal %s", name);
	if (!lock(journal.fd)) {
		journal_release(&journal);
		return err_set(err, ERR_BUSY, "The transaction %s is running.", name);
	}
	/* Its process, or another that recovers, may have finished between open and lock. */
	if (fstatat(folder, name, &stat, AT_SYMLINK_NOFOLLOW) < 0) {
		journal_release(&journal);
		return false;
	}
	if (!read_entries(journal.fd, ret_entries)) {
		snprintf(bad, sizeof(bad), "%s.bad", name);
		renameat(folder, name, folder, bad);
		journal_release(&journal);
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The journal %s is damaged and was set aside as %s.", name, bad);
	}
	*ret = journal;
	return true;
}
