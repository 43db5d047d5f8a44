/* SPDX-License-Identifier: Apache-2.0 */
/* The file: a head, a place for each command that runs, what each of these is, and behind them what
 * the last walk saw.
 *
 * The first byte's lock is held by the one that reads or writes; that of a command's place by the
 * command's worker for as long as it lives, so that the kernel says who has ended.  The locks
 * belong to open files (F_OFD_SETLK): for each command the file is opened again. */
#include "sandbox/guard/recall.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "sandbox/guard/private.h"
#include "sandbox/plan/location.h"

struct recall_head {
	char magic[8];
	struct timespec since, walked;
	uint64_t valid; /* what is behind the places was written to its end */
	uint64_t folders, text_bytes, keys, vacated_bytes;
	uint64_t vacated_lost;
};

/* A place whose command could not be described, on a full disk, may be any command's. */
enum { PLACE_FREE, PLACE_USED, PLACE_UNDESCRIBED };

struct recall_place {
	uint64_t used; /* PLACE_... */
	struct timespec began;
};

enum { PLACES = LIMIT_GUARD_COMMANDS, LOCK_ALL = 0, LOCK_PLACES = 1 };
/* The texts of a folder: four ends. */
enum { TEXTS_LEAST = 4 };

/* What runs in a place, written before the place is. */
struct recall_command {
	struct timespec started;
	uint32_t whole; /* all paths that it may write are in the text */
	uint32_t len;
	char text[LIMIT_GUARD_COMMAND_TEXT]; /* the command, and the paths, each with its NUL */
};

#define COMMANDS_AT (sizeof(struct recall_head) + PLACES * sizeof(struct recall_place))
#define PAYLOAD (COMMANDS_AT + PLACES * sizeof(struct recall_command))

static const char magic[8] = "hasp-gm3";

/* What a walk saw, and where each folder is in it: by its numbers. */
struct recall_seen {
	struct seen_folder *list; /* owned */
	size_t count, cap;
	char *text;               /* owned */
	size_t text_len, text_cap;
	uint32_t *slots;          /* owned; 1 + the place in the list, 0: none */
	size_t mask;
};

struct recall {
	int fd; /* owned; -1: none */
	int place;
	uint64_t used; /* what the place says then */
	struct timespec since, walked;
	bool unchecked;
	struct timespec unchecked_began;
	struct recall_seen old, now, first; /* first: recall_keep_first */
	struct timespec first_walked;
	struct sha256 *keys; /* owned; those that were learnt, oldest first */
	size_t key_count, key_cap;
	uint32_t *key_slots; /* owned */
	size_t key_mask;
	char *vacated;       /* owned; paths, each with its NUL */
	size_t vacated_len, vacated_cap;
	bool vacated_lost;
};

/* ---- tables ---- */

static size_t recall_slot_of(uint64_t a, uint64_t b)
{
	uint64_t hash = a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu;

	return (size_t)(hash ^ hash >> 29);
}

static void seen_fill(struct recall_seen *seen)
{
	size_t size = 64;

	while (size < seen->count * 2)
		size *= 2;
	free(seen->slots);
	seen->slots = mem_alloc(size, sizeof(*seen->slots));
	seen->mask = size - 1;
	for (size_t i = 0; i < seen->count; i++) {
		size_t at = recall_slot_of(seen->list[i].dev, seen->list[i].ino) & seen->mask;

		while (seen->slots[at])
			at = (at + 1) & seen->mask;
		seen->slots[at] = (uint32_t)i + 1;
	}
}

const struct seen_folder *recall_find(const struct recall *recall, const struct stat *st)
{
	const struct recall_seen *seen = &recall->old;

	if (!seen->count)
		return NULL;
	for (size_t at = recall_slot_of(st->st_dev, st->st_ino);; at++) {
		uint32_t slot = seen->slots[at & seen->mask];

		if (!slot)
			return NULL;
		if (seen->list[slot - 1].dev == st->st_dev &&
		    seen->list[slot - 1].ino == st->st_ino)
			return &seen->list[slot - 1];
	}
}

bool recall_is_same(const struct seen_folder *seen, const struct stat *st)
{
	return seen && (seen->flags & SEEN_STEADY) && seen->seconds == st->st_ctim.tv_sec &&
	       seen->nanoseconds == (uint32_t)st->st_ctim.tv_nsec;
}

bool recall_has_folders(const struct recall *recall)
{
	return recall->old.count > 0;
}

const char *recall_text(const struct recall *recall, const struct seen_folder *folder)
{
	return recall->old.text + folder->text;
}

void recall_add(struct recall *recall, const struct seen_folder *folder, const char *texts,
                size_t len)
{
	struct recall_seen *seen = &recall->now;

	if (seen->count == LIMIT_GUARD_FOLDERS) /* it will be listed again */
		return;
	seen->list = mem_grow(seen->list, &seen->cap, seen->count + 1, sizeof(*seen->list));
	seen->text = mem_grow(seen->text, &seen->text_cap, seen->text_len + len, 1);
	seen->list[seen->count] = *folder;
	seen->list[seen->count++].text = seen->text_len;
	memcpy(seen->text + seen->text_len, texts, len);
	seen->text_len += len;
}

static size_t key_start(const struct sha256 *key)
{
	size_t start;

	memcpy(&start, key->bytes, sizeof(start));
	return start;
}

static void put_key_slot(struct recall *recall, size_t index)
{
	size_t at = key_start(&recall->keys[index]);

	while (recall->key_slots[at & recall->key_mask])
		at++;
	recall->key_slots[at & recall->key_mask] = (uint32_t)index + 1;
}

static void fill_keys(struct recall *recall)
{
	size_t size = 64;

	while (size < (recall->key_count + 1) * 2)
		size *= 2;
	free(recall->key_slots);
	recall->key_slots = mem_alloc(size, sizeof(*recall->key_slots));
	recall->key_mask = size - 1;
	for (size_t i = 0; i < recall->key_count; i++)
		put_key_slot(recall, i);
}

struct sha256 recall_key(const char *root, const char *path, const struct stat *st)
{
	const uint64_t state[] = { st->st_dev, st->st_ino, st->st_mode, (uint64_t)st->st_size,
		                   (uint64_t)st->st_ctim.tv_sec, (uint64_t)st->st_ctim.tv_nsec };
	struct sha256_stream stream;

	sha256_init(&stream);
	sha256_update(&stream, span_of((const char *)state, sizeof(state)));
	sha256_update(&stream, span_of(root, strlen(root) + 1));
	sha256_update(&stream, span_str(path));
	return sha256_final(&stream);
}

bool recall_knows(const struct recall *recall, const struct sha256 *key)
{
	if (!recall->key_slots)
		return false;
	for (size_t at = key_start(key);; at++) {
		uint32_t slot = recall->key_slots[at & recall->key_mask];

		if (!slot)
			return false;
		if (sha256_eq(&recall->keys[slot - 1], key))
			return true;
	}
}

void recall_learn(struct recall *recall, const struct sha256 *key)
{
	if (recall_knows(recall, key))
		return;
	if (recall->key_count == LIMIT_GUARD_KEYS) { /* what is not known is reported again */
		recall->key_count /= 2;
		memmove(recall->keys, recall->keys + recall->key_count,
		        (LIMIT_GUARD_KEYS - recall->key_count) * sizeof(*recall->keys));
		fill_keys(recall);
	}
	recall->keys = mem_grow(recall->keys, &recall->key_cap, recall->key_count + 1,
	                        sizeof(*recall->keys));
	recall->keys[recall->key_count++] = *key;
	if (!recall->key_slots || recall->key_count * 2 > recall->key_mask)
		fill_keys(recall);
	else
		put_key_slot(recall, recall->key_count - 1);
}

/* ---- folders that are not there any more ---- */

bool recall_was_vacated(const struct recall *recall, const char *path)
{
	if (recall->vacated_lost)
		return true;
	for (size_t at = 0; at < recall->vacated_len; at += strlen(recall->vacated + at) + 1)
		if (location_within(path, recall->vacated + at))
			return true;
	return false;
}

void recall_vacate(struct recall *recall, const char *path)
{
	size_t len = strlen(path) + 1;

	if (recall_was_vacated(recall, path))
		return;
	if (recall->vacated_len + len > LIMIT_GUARD_VACATED_BYTES) {
		recall->vacated_lost = true;
		return;
	}
	recall->vacated = mem_grow(recall->vacated, &recall->vacated_cap,
	                           recall->vacated_len + len, 1);
	memcpy(recall->vacated + recall->vacated_len, path, len);
	recall->vacated_len += len;
}

/* ---- the file ---- */

static bool lock_byte(int fd, off_t byte, short type, bool wait)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
	int done;

	do
		done = fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
	while (done != 0 && errno == EINTR);
	return done == 0;
}

static bool read_at(int fd, void *to, size_t len, off_t at)
{
	for (char *next = to; len;) {
		ssize_t n = pread(fd, next, len, at);

		if (n <= 0)
			return false;
		next += n;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool write_at(int fd, const void *from, size_t len, off_t *at)
{
	for (const char *next = from; len;) {
		ssize_t n = pwrite(fd, next, len, *at);

		if (n <= 0)
			return false;
		next += n;
		*at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool recall_read_head(int fd, struct recall_head *head)
{
	return read_at(fd, head, sizeof(*head), 0) &&
	       memcmp(head->magic, magic, sizeof(magic)) == 0;
}

static off_t place_at(int place)
{
	return (off_t)(sizeof(struct recall_head) + (size_t)place * sizeof(struct recall_place));
}

static bool write_place(int fd, int place, uint64_t used, const struct timespec *began)
{
	const struct recall_place text = { .used = used, .began = *began };
	off_t at = place_at(place);

	return write_at(fd, &text, sizeof(text), &at);
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static bool put_text(struct recall_command *to, const char *text)
{
	const size_t len = strlen(text) + 1;

	if (len > sizeof(to->text) - to->len)
		return false;
	memcpy(to->text + to->len, text, len);
	to->len += (uint32_t)len;
	return true;
}

static bool write_command(int fd, int place, const struct recall_start *start)
{
	_cleanup_buf_ struct buf label = BUF_INIT(LIMIT_GUARD_COMMAND_TEXT / 4);
	struct recall_command command = { .started = start->began, .whole = true };
	off_t at = (off_t)(COMMANDS_AT + (size_t)place * sizeof(command));

	name_line(&label, span_head(span_str(start->label), LIMIT_GUARD_COMMAND_TEXT / 16));
	put_text(&command, label.data ? label.data : "");
	for (size_t i = 0; start->plan && i < start->plan->rule_count; i++)
		if (start->plan->rules[i].access == SANDBOX_WRITE)
			command.whole &= put_text(&command, start->plan->rules[i].path);
	return write_at(fd, &command, offsetof(struct recall_command, text) + command.len, &at);
}

/* Takes a free place in the list; those of commands that ended unchecked become free. */
static bool take_place_in(struct recall *recall, const struct recall_start *start)
{
	const struct timespec *began = &start->began;

	_cleanup_free_ struct recall_place *places = mem_alloc(PLACES, sizeof(*places));

	if (!read_at(recall->fd, places, PLACES * sizeof(*places), place_at(0)))
		return false;
	for (int i = 0; i < PLACES; i++) {
		if ((!places[i].used && recall->place >= 0) ||
		    !lock_byte(recall->fd, LOCK_PLACES + i, F_WRLCK, false))
			continue;
		if (places[i].used && (!recall->unchecked ||
		                       is_before(&places[i].began, &recall->unchecked_began)))
			recall->unchecked_began = places[i].began;
		recall->unchecked |= places[i].used;
		/* Until the check of what is unchecked its time stays in a place. */
		if (recall->place >= 0) {
			write_place(recall->fd, i, PLACE_FREE, began);
			lock_byte(recall->fd, LOCK_PLACES + i, F_UNLCK, false);
		} else {
			recall->place = i;
		}
	}
	if (recall->place < 0)
		return false;
	recall->used = write_command(recall->fd, recall->place, start) ? PLACE_USED :
	                                                                 PLACE_UNDESCRIBED;
	return write_place(recall->fd, recall->place, recall->used,
	                   recall->unchecked ? &recall->unchecked_began : began);
}

/* Of a session that was long ago only its folders are known. */
static void forget_session(struct recall_head *head, const struct timespec *began)
{
	memcpy(head->magic, magic, sizeof(magic));
	head->since = *began;
	head->keys = head->vacated_bytes = head->vacated_lost = 0;
}

static bool open_file(struct recall *recall, int fd, const struct recall_start *start)
{
	const struct timespec *began = &start->began;
	struct recall_head head = { .since = *began };
	off_t at = 0;
	bool ok;

	recall->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (recall->fd < 0 || !lock_byte(recall->fd, LOCK_ALL, F_WRLCK, true))
		return false;
	ok = recall_read_head(recall->fd, &head);
	/* Or the clock was set back. */
	if (!ok || is_before(began, &head.since) ||
	    began->tv_sec - (head.valid ? head.walked : head.since).tv_sec >
	            LIMIT_GUARD_SESSION_S) {
		forget_session(&head, began);
		ok = write_at(recall->fd, &head, sizeof(head), &at) &&
		     (ok || ftruncate(recall->fd, (off_t)PAYLOAD) == 0);
	}
	recall->since = head.since;
	ok = ok && take_place_in(recall, start);
	lock_byte(recall->fd, LOCK_ALL, F_UNLCK, false);
	return ok;
}

bool recall_open(int fd, const struct recall_start *start, struct recall **ret, struct err *err)
{
	struct recall *recall = mem_alloc(1, sizeof(*recall));

	recall->fd = recall->place = -1;
	recall->since = start->began;
	if (fd > 0 && !open_file(recall, fd, start)) {
		if (recall->fd >= 0 && recall->place < 0)
			err_set(err, ERR_TOO_LARGE, "Too many commands are running in this session "
			        "(%d).", PLACES);
		else
			err_set_errno(err, errno, "What earlier commands left cannot be looked up");
		recall_free(recall);
		return false;
	}
	*ret = recall;
	return true;
}

static void seen_release(struct recall_seen *seen)
{
	free(seen->list);
	free(seen->text);
	free(seen->slots);
	*seen = (struct recall_seen){ 0 };
}

void recall_end(struct recall *recall)
{
	static const struct timespec none;

	if (recall->fd >= 0 && recall->place >= 0 && !recall->unchecked)
		write_place(recall->fd, recall->place, PLACE_FREE, &none);
}

void recall_free(struct recall *recall)
{
	if (!recall)
		return;
	recall_end(recall);
	fd_cleanup_close(&recall->fd);
	seen_release(&recall->old);
	seen_release(&recall->now);
	seen_release(&recall->first);
	free(recall->keys);
	free(recall->key_slots);
	free(recall->vacated);
	free(recall);
}

struct timespec recall_since(const struct recall *recall)
{
	return recall->since;
}

bool recall_is_new(const struct recall *recall, const struct statx *stx)
{
	const struct statx_timestamp *birth = &stx->stx_btime;

	return (stx->stx_mask & STATX_BTIME) &&
	       (birth->tv_sec != recall->walked.tv_sec ? birth->tv_sec > recall->walked.tv_sec :
	                                                 birth->tv_nsec > recall->walked.tv_nsec);
}

bool recall_unchecked(const struct recall *recall, struct timespec *ret_began)
{
	*ret_began = recall->unchecked_began;
	return recall->unchecked;
}

/* ---- before a check and after it ---- */

/* The next part of the file, owned by the caller; *ok is false if it is not all there.  Zeros stand
 * behind it: texts of a folder that are not whole end there. */
static void *recall_read_part(int fd, size_t count, size_t size, off_t *at, bool *ok)
{
	void *part = mem_alloc(count + TEXTS_LEAST, size);

	*ok = *ok && read_at(fd, part, count * size, *at);
	*at += (off_t)(count * size);
	return part;
}

static bool read_payload(struct recall *recall, const struct recall_head *head)
{
	const int fd = recall->fd;
	const off_t most = head->folders | head->text_bytes | head->keys | head->vacated_bytes;
	off_t at = (off_t)PAYLOAD;
	struct stat st;
	bool ok = true;

	if (fstat(fd, &st) != 0 || most < 0 || most > st.st_size)
		return false;
	recall->old.list = recall_read_part(fd, head->folders, sizeof(*recall->old.list), &at, &ok);
	recall->old.text = recall_read_part(fd, head->text_bytes, 1, &at, &ok);
	/* After a crash of the machine: anything. */
	ok = ok && head->text_bytes >= TEXTS_LEAST;
	for (size_t i = 0; ok && i < head->folders; i++)
		ok = recall->old.list[i].text <= head->text_bytes - TEXTS_LEAST;
	ok = ok && memcmp(recall->old.text + head->text_bytes - 2, "\0", 2) == 0;
	recall->keys = recall_read_part(fd, head->keys, sizeof(*recall->keys), &at, &ok);
	recall->vacated = recall_read_part(fd, head->vacated_bytes, 1, &at, &ok);
	return ok;
}

/* Without the walk of another command. */
static void use_first(struct recall *recall)
{
	if (recall->old.count || !recall->first.count)
		return;
	recall->old = recall->first;
	recall->first = (struct recall_seen){ 0 };
	recall->walked = recall->first_walked;
	seen_fill(&recall->old);
}

void recall_load(struct recall *recall)
{
	struct recall_head head;

	if (recall->fd < 0) {
		use_first(recall);
		return;
	}
	lock_byte(recall->fd, LOCK_ALL, F_WRLCK, true);
	seen_release(&recall->old);
	free(recall->keys);
	free(recall->vacated);
	recall->walked = (struct timespec){ 0 };
	recall->keys = NULL;
	recall->vacated = NULL;
	recall->key_count = recall->key_cap = recall->vacated_len = recall->vacated_cap = 0;
	if (!recall_read_head(recall->fd, &head) || !head.valid || !read_payload(recall, &head)) {
		seen_release(&recall->old);
		fill_keys(recall);
		use_first(recall);
		return;
	}
	recall->walked = head.walked;
	recall->old.count = head.folders;
	recall->old.text_len = head.text_bytes;
	seen_fill(&recall->old);
	recall->key_count = recall->key_cap = head.keys;
	fill_keys(recall);
	recall->vacated_len = recall->vacated_cap = head.vacated_bytes;
	recall->vacated_lost |= head.vacated_lost;
}

void recall_look(struct recall *recall)
{
	recall_load(recall);
	if (recall->fd >= 0)
		lock_byte(recall->fd, LOCK_ALL, F_UNLCK, false);
}

void recall_forget(struct recall *recall)
{
	seen_release(&recall->old);
}

void recall_keep_first(struct recall *recall, const struct timespec *began)
{
	seen_release(&recall->first);
	recall->first = recall->now;
	recall->now = (struct recall_seen){ 0 };
	recall->first_walked = *began;
}

static void write_payload(struct recall *recall)
{
	struct recall_head head = { .since = recall->since, .walked = recall->walked };
	const struct recall_seen *seen = &recall->old;
	off_t start = 0, at = (off_t)PAYLOAD;

	memcpy(head.magic, magic, sizeof(magic));
	write_at(recall->fd, &head, sizeof(head), &start);
	head.valid = write_at(recall->fd, seen->list, seen->count * sizeof(*seen->list), &at) &&
	             write_at(recall->fd, seen->text, seen->text_len, &at) &&
	             write_at(recall->fd, recall->keys,
	                      recall->key_count * sizeof(*recall->keys), &at) &&
	             write_at(recall->fd, recall->vacated, recall->vacated_len, &at);
	head.folders = seen->count;
	head.text_bytes = seen->text_len;
	head.keys = recall->key_count;
	head.vacated_bytes = recall->vacated_len;
	head.vacated_lost = recall->vacated_lost;
	start = 0;
	write_at(recall->fd, &head, sizeof(head), &start);
}

void recall_save(struct recall *recall, bool whole, const struct timespec *began)
{
	seen_release(&recall->old);
	recall->old = recall->now;
	recall->now = (struct recall_seen){ 0 };
	seen_fill(&recall->old);
	recall->walked = *began;
	recall->unchecked = !whole;
	if (recall->fd < 0)
		return;
	write_payload(recall);
	if (whole)
		write_place(recall->fd, recall->place, recall->used, began);
	lock_byte(recall->fd, LOCK_ALL, F_UNLCK, false);
}

/* ---- files of other workspaces ---- */

/* Whether no command runs, and none ended without its check, which the next one would make up
 * for. */
static bool has_no_command(int fd)
{
	_cleanup_free_ struct recall_place *places = mem_alloc(PLACES, sizeof(*places));
	struct recall_head head;

	if (!recall_read_head(fd, &head))
		return true; /* nothing was ever written to its end */
	if (!read_at(fd, places, PLACES * sizeof(*places), place_at(0)))
		return false;
	for (int i = 0; i < PLACES; i++)
		if (places[i].used)
			return false;
	return true;
}

static void remove_old(int folder, const char *name, time_t before)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode) ||
	    st.st_mtim.tv_sec >= before)
		return;
	fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && lock_byte(fd, LOCK_ALL, F_WRLCK, false) && fstat(fd, &st) == 0 &&
	    st.st_mtim.tv_sec < before && has_no_command(fd))
		unlinkat(folder, name, 0);
}

/* A record is only removed under its lock: one that is locked and has a name stays. */
int guard_open_record(const char *path)
{
	for (;;) {
		_cleanup_fd_ int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		struct stat st;

		if (fd < 0 || !lock_byte(fd, LOCK_ALL, F_WRLCK, true) || fstat(fd, &st) != 0)
			return -1;
		if (!st.st_nlink)
			continue;
		futimens(fd, NULL);
		lock_byte(fd, LOCK_ALL, F_UNLCK, false);
		return fd_steal(&fd);
	}
}

void guard_remove_old(const char *folder)
{
	const time_t before = time(NULL) - LIMIT_GUARD_FILE_S;
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			remove_old(dirfd(dir), entry->d_name, before);
	if (dir)
		closedir(dir);
}

/* ---- the commands that run, of all workspaces ---- */

/* `operation`: of flock. */
static int starts_flock(const char *folder, int operation, struct err *err)
{
	_cleanup_fd_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || flock(fd, operation) != 0) {
		err_set_errno(err, errno, "%s cannot be locked", folder);
		return -1;
	}
	return fd_steal(&fd);
}

int guard_starts_share(const char *folder, struct err *err)
{
	return starts_flock(folder, LOCK_SH, err);
}

int guard_starts_lock(const char *folder, struct timespec *ret_now, struct err *err)
{
	const int fd = file_make_folders(folder, err) ? starts_flock(folder, LOCK_EX, err) : -1;

	if (fd >= 0 && ret_now)
		*ret_now = guard_now();
	return fd;
}

bool guard_running_writes(const struct guard_running *running, const char *path)
{
	for (size_t at = 0; at < running->paths_len; at += strlen(running->paths + at) + 1)
		if (location_within(path, running->paths + at))
			return true;
	return !running->paths_whole;
}

/* Whether another has a lock on one of these bytes. */
static bool has_lock(int fd, off_t byte, off_t count)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte,
		              .l_len = count };

	return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

static void report_running(int fd, int place, bool described, guard_each_running *each, void *data)
{
	struct recall_command command;
	const off_t at = (off_t)(COMMANDS_AT + (size_t)place * sizeof(command));
	const size_t fixed = offsetof(struct recall_command, text);
	size_t label;

	/* What cannot be read may be any command. */
	memset(&command, 0, sizeof(command));
	if (!described || !read_at(fd, &command, fixed, at) || !command.len ||
	    command.len > sizeof(command.text) ||
	    !read_at(fd, command.text, command.len, at + (off_t)fixed) ||
	    command.text[command.len - 1]) {
		memset(&command, 0, sizeof(command));
		command.len = 1;
	}
	label = strlen(command.text) + 1;
	each(data, &(struct guard_running){
		.started = command.started, .label = command.text,
		.paths = command.text + label, .paths_len = command.len - label,
		.paths_whole = command.whole,
	});
}

static bool each_running_in(int fd, guard_each_running *each, void *data)
{
	_cleanup_free_ struct recall_place *places = NULL;
	struct recall_head head;

	if (!has_lock(fd, LOCK_PLACES, PLACES))
		return true;
	places = mem_alloc(PLACES, sizeof(*places));
	if (!recall_read_head(fd, &head) ||
	    !read_at(fd, places, PLACES * sizeof(*places), place_at(0)))
		return false;
	for (int i = 0; i < PLACES; i++)
		if (places[i].used && has_lock(fd, LOCK_PLACES + i, 1))
			report_running(fd, i, places[i].used == PLACE_USED, each, data);
	return true;
}

bool guard_each_command(const char *folder, guard_each_running *each, void *data, struct err *err)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	bool ok = dir || errno == ENOENT;

	while (ok && dir && (entry = readdir(dir)) != NULL) {
		_cleanup_fd_ int fd = entry->d_name[0] == '.' ? -1 :
		                      openat(dirfd(dir), entry->d_name,
		                             O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

		ok = entry->d_name[0] == '.' || (fd < 0 && errno == ENOENT) ||
		     (fd >= 0 && each_running_in(fd, each, data));
	}
	if (!ok)
		err_set_errno(err, errno, "Which commands run cannot be looked up in %s", folder);
	if (dir)
		closedir(dir);
	return ok;
}
