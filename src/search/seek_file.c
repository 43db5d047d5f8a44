/* SPDX-License-Identifier: Apache-2.0 */
/* One file of a search.
 *
 * The usual file costs three system calls (open, read, close), and no more is looked at than
 * the pattern needs: whether a file is binary or in another encoding is asked only when it has
 * a match, or when its bytes could hide one. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/text.h"
#include "file/document.h"
#include "search/private.h"

/* Pieces of larger files; a line that is longer is taken in parts of LINE_MAX_BYTES. */
enum { PIECE_BYTES = 1 << 20 };
#define LINE_MAX_BYTES ((size_t)16 << 20)
/* Held whole: files in other encodings, and what a multi-line pattern may span. */
#define WHOLE_MAX_BYTES ((size_t)64 << 20)
/* Files between two looks at the clock. */
enum { FILES_PER_LOOK = 16 };
/* NUL bytes this early tell binary files apart before they are searched. */
enum { PEEK_BYTES = 512 };

/* File systems that Linux lists by another number than linux/magic.h names. */
enum { XFS_MAGIC = 0x58465342, ZFS_MAGIC = 0x2fc12fc1 };

/* A pattern is too hard when, after this long, it was so in so many files, and in one of
 * so many. */
enum { TOO_HARD_US = 800000, TOO_HARD_FILES = 3, TOO_HARD_OF = 20 };

/* A file being searched. */
struct sought_file {
	struct search_seeker *seeker;
	int fd;
	size_t len;      /* bytes in seeker->room */
	bool at_end;     /* nothing is left to read */
	bool whole;      /* room holds all of it, from its first byte */
	enum gather_outcome outcome;
	bool left_out;   /* binary */
};

long long search_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static bool is_too_hard(struct search_job *job, long long now)
{
	const size_t hard = atomic_load(&job->too_hard);

	return now > job->began_us + TOO_HARD_US && hard >= TOO_HARD_FILES &&
	       hard * TOO_HARD_OF >= atomic_load(&job->searched);
}

/* Whether the search is over: time, cancellation, a pattern that is too hard. */
static bool job_is_over(struct search_job *job)
{
	const long long now = search_now_us();

	if (cancelled(job->request->cancel))
		atomic_store(&job->cancelled, true);
	if (now > job->deadline_us || is_too_hard(job, now))
		atomic_store(&job->timed_out, true);
	if (atomic_load(&job->cancelled) || atomic_load(&job->timed_out))
		atomic_store(&job->stop, true);
	return atomic_load(&job->stop);
}

void search_seeker_init(struct search_seeker *s, struct search_job *job)
{
	*s = (struct search_seeker){ .job = job, .room_size = SEEK_FIRST_BYTES };
	s->scratch = matcher_scratch_new(job->matcher);
	s->room = mem_alloc(s->room_size, 1);
	search_gather_init(&s->gather, job->request);
}

void search_seeker_release(struct search_seeker *s)
{
	atomic_fetch_add(&s->job->searched, s->searched);
	matcher_scratch_free(s->scratch);
	free(s->room);
	search_gather_release(&s->gather);
}

/* On these a read that gives less than it was asked for has come to the end of the file. */
void search_seeker_enter(struct search_seeker *s, int folder)
{
	struct statfs fs;

	s->full_reads = false;
	if (fstatfs(folder, &fs) != 0)
		return;
	switch ((unsigned long)fs.f_type) {
	case EXT4_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case TMPFS_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case XFS_MAGIC:
	case ZFS_MAGIC:
		s->full_reads = true;
	}
}

static void make_seek_room(struct search_seeker *s, size_t size)
{
	if (size <= s->room_size)
		return;
	s->room = mem_grow(s->room, &s->room_size, size, 1);
}

/* Reads until `size` bytes are in the room (at most its size), or the file ends. False with
 * errno set. */
static bool file_fill_room(struct sought_file *file, size_t size)
{
	struct search_seeker *s = file->seeker;

	while (!file->at_end && file->len < size) {
		const size_t want = size - file->len;
		ssize_t n = read(file->fd, s->room + file->len, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		file->len += (size_t)n;
		file->at_end = n == 0 || ((size_t)n < want && s->full_reads);
	}
	return true;
}

/* Reads the whole file from its beginning. False when it is too large, or cannot be read. */
static bool read_whole(struct sought_file *file)
{
	struct search_seeker *s = file->seeker;

	if (file->whole)
		return true;
	if (lseek(file->fd, 0, SEEK_SET) != 0)
		return false;
	file->len = 0;
	file->at_end = false;
	while (file_fill_room(file, s->room_size) && !file->at_end &&
	       s->room_size < WHOLE_MAX_BYTES)
		make_seek_room(s, s->room_size * 2);
	file->whole = file->at_end;
	return file->whole;
}

/* Searches the decoded text of the file instead of its bytes; false when it is no text in
 * another encoding, and the bytes have to do. */
static bool search_decoded(struct sought_file *file)
{
	struct search_seeker *s = file->seeker;
	struct document document;
	struct err err = ERR_INIT;

	if (!read_whole(file))
		return false;
	/* As read_file would show it; what that does not take for text is searched as bytes. */
	if (!document_open(span_of(s->room, file->len), NULL, &document, &err))
		return false;
	search_gather_begin(&s->gather);
	file->outcome = search_gather_piece(&s->gather, s->job->matcher, s->scratch,
	                                    document.lines.text, 0, NULL);
	document_release(&document);
	return true;
}

static bool is_wide_at_start(struct span text)
{
	return span_starts(text, SPAN("\xff\xfe")) || span_starts(text, SPAN("\xfe\xff")) ||
	       span_starts(text, SPAN("\0\0\xfe\xff"));
}

/* Whether bytes with NULs among them look like UTF-16 or UTF-32 without a mark: then every other
 * byte, or three of four, are mostly NUL, and the others are not. */
static bool looks_wide(struct span head)
{
	size_t nuls[4] = { 0 }, quarter = head.len / 4;
	unsigned full = 0, empty = 0;

	for (size_t i = 0; i < head.len; i++)
		nuls[i % 4] += head.data[i] == '\0';
	for (unsigned i = 0; i < 4; i++) {
		full += nuls[i] * 2 > quarter;
		empty += nuls[i] * 8 <= quarter;
	}
	return (full == 2 && empty == 2) || (full == 3 && empty == 1);
}

static bool has_nul(struct span text)
{
	return text.len > 0 && memchr(text.data, '\0', text.len);
}

/* Decides what the file is, as far as it matters: true when it is done with, because it is binary
 * or its decoded text was searched. Moves the room. */
static bool settle_kind(struct sought_file *file, struct span text, bool may_hide)
{
	file->left_out = has_nul(text);
	return file->left_out || (may_hide && !utf8_valid(text) && search_decoded(file));
}

/* How much of the room is whole lines, of which those before `from` are done: all of it at the end
 * of the file, and when what follows is a part of a very long line. */
static size_t lines_len(const struct sought_file *file, size_t from)
{
	const char *room = file->seeker->room;
	const char *last = file->at_end || file->len == from
		? NULL : memrchr(room + from, '\n', file->len - from);

	return last ? (size_t)(last - room) + 1 : file->len;
}

/* Makes sure that the room holds at least one whole line from `from` on, or a large part of a very
 * long one. */
static bool fill_lines(struct sought_file *file, size_t from)
{
	struct search_seeker *s = file->seeker;

	while (!file->at_end && !memchr(s->room + from, '\n', file->len - from) &&
	       s->room_size < LINE_MAX_BYTES) {
		make_seek_room(s, s->room_size * 2);
		if (!file_fill_room(file, s->room_size))
			return false;
	}
	return true;
}

/* The pieces after the first, of which the bytes before `done` were searched. */
static void search_rest(struct sought_file *file, size_t done)
{
	struct search_seeker *s = file->seeker;

	make_seek_room(s, PIECE_BYTES);
	while (file->outcome == GATHER_MORE_TEXT && !job_is_over(s->job)) {
		struct span text = span_of(s->room, done);
		size_t keep = search_gather_keep(&s->gather, text);
		const char *nul;

		/* Context is not worth more than half of the room. */
		if (done - keep > s->room_size / 2)
			keep = done;
		search_gather_advance(&s->gather, text, keep);
		memmove(s->room, s->room + keep, file->len - keep);
		file->len -= keep;
		done -= keep;
		if (!file_fill_room(file, s->room_size) || !fill_lines(file, done) ||
		    file->len == done)
			return;
		text = span_of(s->room, lines_len(file, done));
		nul = memchr(text.data + done, '\0', text.len - done);
		if (nul)
			text.len = (size_t)(nul - text.data);
		file->outcome = search_gather_piece(&s->gather, s->job->matcher, s->scratch, text,
		                                    done,
		                                    NULL);
		if (nul || (file->at_end && text.len == file->len))
			return;
		done = text.len;
	}
}

/* The text that is in the room: whole lines, without a byte-order mark. */
static struct span first_text(const struct sought_file *file)
{
	struct span text = span_of(file->seeker->room, lines_len(file, 0));

	return span_starts(text, SPAN("\xef\xbb\xbf")) ? span_skip(text, 3) : text;
}

/* Goes on after the first piece, of which `text` was searched. */
static void search_on(struct sought_file *file, struct span text)
{
	struct search_seeker *s = file->seeker;
	const size_t from = (size_t)(text.data - s->room);

	if (file->at_end && from + text.len == file->len)
		return;
	memmove(s->room, text.data, file->len - from);
	file->len -= from;
	file->whole = false;
	search_rest(file, text.len);
}

/* Searches what has been read, and what follows. */
static void search_text(struct sought_file *file)
{
	struct search_seeker *s = file->seeker;
	struct span text = first_text(file);
	struct text_match match = { 0 };
	enum match_outcome found = matcher_find(s->job->matcher, s->scratch, text, 0, &match);
	const bool may_hide = found == MATCH_FOUND || (matcher_needs_decoding(s->job->matcher) &&
	                                               matcher_tried(s->scratch));

	if (found == MATCH_TOO_HARD) {
		file->outcome = GATHER_TOO_HARD;
		return;
	}
	if ((may_hide || !file->at_end) && settle_kind(file, text, may_hide))
		return;
	text = first_text(file);
	if (found == MATCH_FOUND)
		file->outcome = search_gather_piece(&s->gather, s->job->matcher, s->scratch, text,
		                                    0,
		                                    &match);
	search_on(file, text);
}

/* Hashes the file from its beginning; false when it changes meanwhile. */
static bool hash_again(struct sought_file *file, struct file_match *match)
{
	struct search_seeker *s = file->seeker;
	struct sha256_stream stream;
	struct stat before, after;
	ssize_t n;

	if (fstat(file->fd, &before) != 0 || lseek(file->fd, 0, SEEK_SET) != 0)
		return false;
	sha256_init(&stream);
	match->size = 0;
	while ((n = read(file->fd, s->room, s->room_size)) > 0) {
		sha256_update(&stream, span_of(s->room, (size_t)n));
		match->size += (uint64_t)n;
	}
	match->sha256 = sha256_final(&stream);
	return n == 0 && fstat(file->fd, &after) == 0 &&
	       before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
	       before.st_mtim.tv_nsec == after.st_mtim.tv_nsec &&
	       match->size == (uint64_t)after.st_size;
}

static void add_hit(struct sought_file *file, char *path)
{
	struct search_seeker *s = file->seeker;
	struct file_match match = { .path = path };

	search_gather_take(&s->gather, &match);
	if (s->job->request->hashes) {
		match.hashed = true;
		if (file->whole) {
			match.sha256 = sha256_of(span_of(file->seeker->room, file->len));
			match.size = file->len;
		} else {
			match.hashed = hash_again(file, &match);
		}
	}
	hits_add(&s->job->hits, &match);
}

/* A path relative to the folder asked for. The caller frees. */
static char *shown_path(const struct search_job *job, struct span path, const char *name)
{
	struct span below = span_skip(path, job->start_len);

	return mem_printf("%.*s%s", (int)below.len, below.data ? below.data : "", name);
}

/* Reads the first piece; false when there is nothing to search. */
static bool read_first(struct sought_file *file)
{
	struct search_seeker *s = file->seeker;
	struct stat st;

	if (!file_fill_room(file, SEEK_FIRST_BYTES)) {
		atomic_fetch_add(&s->job->unreadable, 1);
		return false;
	}
	/* What gives so much could be a device without an end. */
	if (!file->at_end && (fstat(file->fd, &st) != 0 || !S_ISREG(st.st_mode)))
		return false;
	file->whole = file->at_end;
	return file->len > 0;
}

/* Deals with a file whose first bytes tell that it is binary, or wide text; false for others. */
static bool search_odd(struct sought_file *file)
{
	struct span head = span_of(file->seeker->room,
	                           file->len < PEEK_BYTES ? file->len : PEEK_BYTES);

	if (!is_wide_at_start(head) && !has_nul(head))
		return false;
	file->left_out = !(is_wide_at_start(head) || looks_wide(head)) ||
	                 !search_decoded(file);
	return true;
}

static void file_look_into(struct sought_file *file, struct span path, const char *name)
{
	struct search_seeker *s = file->seeker;

	s->searched++;
	if (!read_first(file))
		return;
	search_gather_begin(&s->gather);
	if (!search_odd(file)) {
		if (matcher_is_multiline(s->job->matcher))
			read_whole(file);
		if (fill_lines(file, 0))
			search_text(file);
	}
	if (file->outcome == GATHER_TOO_HARD) {
		atomic_fetch_add(&s->job->too_hard, 1);
		hits_note_too_hard(&s->job->hits, shown_path(s->job, path, name));
	}
	if (s->gather.matches > 0 && !file->left_out)
		add_hit(file, shown_path(s->job, path, name));
}

/* A large file's room is not kept for the next one. */
static void forget_room(struct search_seeker *s)
{
	if (s->room_size <= PIECE_BYTES)
		return;
	free(s->room);
	s->room_size = SEEK_FIRST_BYTES;
	s->room = mem_alloc(s->room_size, 1);
}

/* Without waiting for, or being made the terminal of, what the name might have become. */
static int seek_open_file(int folder, const char *name)
{
	int fd = openat(folder, name,
	                O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 && errno == EAGAIN ? chain_open(folder, name, O_RDONLY) : fd;
}

void seek_file(struct search_seeker *s, int folder, struct span path, const char *name)
{
	struct sought_file file = { .seeker = s, .fd = seek_open_file(folder, name) };

	if (file.fd < 0) {
		if (errno != ENOENT && errno != ELOOP)
			atomic_fetch_add(&s->job->unreadable, 1);
		return;
	}
	file_look_into(&file, path, name);
	close(file.fd);
	forget_room(s);
	if (file.outcome == GATHER_TOO_HARD || s->searched >= FILES_PER_LOOK) {
		atomic_fetch_add(&s->job->searched, s->searched);
		s->searched = 0;
		job_is_over(s->job);
	}
}
