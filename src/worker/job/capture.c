/* SPDX-License-Identifier: Apache-2.0 */
/* Output that is kept: the folder of logs, and the head and the tail of each output. */
#include "worker/job/capture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

/* ---- the folder of logs ---- */

struct logs {
	char *folder;        /* owned */
	bool keep;
	pthread_mutex_t lock;
	char *session;       /* owned; NULL before the first log */
	int session_fd;      /* owned; holds the lock */
};

struct logs *capture_logs_new(const char *folder, bool keep)
{
	struct logs *logs = mem_alloc(1, sizeof(*logs));

	logs->folder = mem_strdup(folder);
	logs->keep = keep;
	logs->session_fd = -1;
	pthread_mutex_init(&logs->lock, NULL);
	return logs;
}

/* Names in it only: a session's folder has no folders. */
static void remove_session(int parent, const char *name, int fd)
{
	int again = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	DIR *folder = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(fd, entry->d_name, 0);
	if (folder)
		closedir(folder);
	unlinkat(parent, name, AT_REMOVEDIR);
}

static void remove_session_if_stale(int parent, const char *name)
{
	_cleanup_fd_ int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    faccessat(fd, "keep", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		remove_session(parent, name, fd);
}

static void remove_stale_sessions(const char *folder)
{
	DIR *parent = opendir(folder);
	const struct dirent *entry;

	while (parent && (entry = readdir(parent)))
		if (strncmp(entry->d_name, "session-", 8) == 0)
			remove_session_if_stale(dirfd(parent), entry->d_name);
	if (parent)
		closedir(parent);
}

/* A session is made under a name that the sweep of others passes by, until it is locked. */
static bool make_session(struct logs *logs)
{
	_cleanup_free_ char *path = mem_printf("%s/new-XXXXXX", logs->folder);
	_cleanup_free_ char *final = NULL;
	_cleanup_fd_ int fd = -1;
	struct err ignored = ERR_INIT;

	if (!file_make_folders(logs->folder, &ignored))
		return false;
	remove_stale_sessions(logs->folder);
	if (!mkdtemp(path))
		return false;
	final = mem_printf("%s/session-%s", logs->folder, path + strlen(path) - 6);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || rename(path, final) < 0) {
		rmdir(path);
		return false;
	}
	if (logs->keep) {
		_cleanup_fd_ int keep = openat(fd, "keep", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		                               0600);

		(void)keep;
	}
	logs->session = mem_steal(&final);
	logs->session_fd = fd_steal(&fd);
	return true;
}

/* A new file; -1 with errno set. *ret_path is the caller's to free. From any thread. */
static int logs_open(struct logs *logs, unsigned id, char **ret_path)
{
	_cleanup_free_ char *name = mem_printf("%u.log", id);
	bool ready;
	int fd;

	pthread_mutex_lock(&logs->lock);
	ready = logs->session || make_session(logs);
	pthread_mutex_unlock(&logs->lock);
	if (!ready)
		return -1;
	fd = openat(logs->session_fd, name,
	            O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		*ret_path = mem_printf("%s/%s", logs->session, name);
	return fd;
}

void capture_logs_free(struct logs *logs)
{
	if (!logs)
		return;
	if (logs->session && !logs->keep) {
		_cleanup_fd_ int parent = open(logs->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

		remove_session(parent, strrchr(logs->session, '/') + 1, logs->session_fd);
	}
	fd_cleanup_close(&logs->session_fd);
	free(logs->session);
	free(logs->folder);
	pthread_mutex_destroy(&logs->lock);
	free(logs);
}

/* ---- an output ---- */

enum {
	SNIFF_BYTES = 4096,
	PIECE_LEAST = 256, /* bytes that mean something by themselves */
	ODD_PERCENT = 20, /* bytes that are no text's, of those that were looked at */
};

/* ---- the ends ---- */

static void ends_init(struct ends *ends, size_t head_max, size_t tail_max)
{
	*ends = (struct ends){ .head = BUF_INIT(head_max), .tail = BUF_INIT(2 * tail_max + 1),
		               .head_max = head_max, .tail_max = tail_max };
}

static void capture_ends_release(struct ends *ends)
{
	buf_release(&ends->head);
	buf_release(&ends->tail);
}

/* Where the last `max` bytes begin, at a code point. */
static size_t tail_start(const struct buf *tail, size_t max)
{
	size_t start = tail->len > max ? tail->len - max : 0;

	while (start < tail->len && (tail->data[start] & 0xC0) == 0x80)
		start++;
	return start;
}

static void drop_front(struct buf *buf, size_t count)
{
	if (!count)
		return;
	buf->len -= count;
	memmove(buf->data, buf->data + count, buf->len + 1);
}

static void ends_add(void *data, struct span text)
{
	struct ends *ends = data;
	struct span some = ends->head_full ? span_of("", 0) :
	                                     utf8_head(text, ends->head_max - ends->head.len);

	ends->bytes += text.len;
	ends->lines += lines_count(text) - (text.len && !span_ends(text, SPAN("\n")));
	buf_span(&ends->head, some);
	ends->head_full |= some.len < text.len;
	text = span_skip(text, some.len);
	while (text.len) {
		if (ends->tail.len >= 2 * ends->tail_max)
			drop_front(&ends->tail, tail_start(&ends->tail, ends->tail_max));
		some = span_head(text, 2 * ends->tail_max - ends->tail.len);
		if (!some.len || !buf_span(&ends->tail, some))
			return;
		text = span_skip(text, some.len);
	}
}

/* ---- the log ---- */

static void log_over(struct capture *capture, int why)
{
	capture->log_errno = why;
	fd_cleanup_close(&capture->log);
	capture->log = -1;
}

static void log_write(struct capture *capture, struct span bytes)
{
	uint64_t room = capture->options.log_bytes - capture->logged;
	struct span some = span_head(bytes, room < bytes.len ? (size_t)room : bytes.len);

	if (capture->log < 0)
		return;
	if (!fd_write_all(capture->log, some.data, some.len)) {
		int why = errno;
		struct stat info;

		/* Some of it may be there. */
		if (fstat(capture->log, &info) == 0)
			capture->logged = (uint64_t)info.st_size;
		log_over(capture, why);
		return;
	}
	capture->logged += some.len;
	if (some.len < bytes.len)
		log_over(capture, EFBIG);
}

static void log_begin(struct capture *capture)
{
	if (capture->log_path || capture->log_errno)
		return;
	if (!capture->options.logs) {
		capture->log_errno = ENOENT;
		return;
	}
	capture->log = logs_open(capture->options.logs, capture->options.id, &capture->log_path);
	if (capture->log < 0) {
		capture->log_errno = errno;
		return;
	}
	log_write(capture, buf_view(&capture->raw));
}

static void keep_raw(struct capture *capture, struct span bytes)
{
	if (!capture->log_path && !capture->log_errno) {
		if (bytes.len <= capture->raw.max - capture->raw.len) {
			buf_span(&capture->raw, bytes);
			return;
		}
		log_begin(capture);
		if (capture->log_path)
			buf_release(&capture->raw);
	}
	log_write(capture, bytes);
}

/* ---- text or not ---- */

static bool is_odd(unsigned char c)
{
	return !c || c == 0x7F || (c < 0x20 && !strchr("\a\b\t\n\v\f\r\033", c));
}

static size_t count_odd(struct span bytes)
{
	struct utf8_char c;
	size_t odd = 0, plain = 0;

	while (plain < bytes.len && (bytes.data[plain] == '\n' ||
	                             (bytes.data[plain] >= ' ' && bytes.data[plain] < 0x7F)))
		plain++;
	bytes = span_skip(bytes, plain);
	while (utf8_next(&bytes, &c))
		odd += c.bad || is_odd((unsigned char)c.bytes.data[0]);
	return odd;
}

static void sniff(struct capture *capture, struct span bytes)
{
	struct span some = span_head(bytes, SNIFF_BYTES - capture->sniffed);

	capture->has_nul |= some.len > 0 && memchr(some.data, '\0', some.len);
	capture->odd += count_odd(some);
	capture->sniffed += some.len;
	/* One odd byte among a few is not enough, except NUL, which no text has. */
	capture->binary = capture->has_nul ||
	                  (capture->sniffed >= 16 &&
	                   capture->odd * 100 > capture->sniffed * ODD_PERCENT);
	if (capture->sniffed == SNIFF_BYTES && capture->binary) {
		plain_free(capture->plain);
		capture->plain = NULL;
	}
}

/* What comes after the first bytes, in pieces, until one is no text: then the text has ended. */
static void feed_text(struct capture *capture, struct span bytes)
{
	uint64_t at = capture->bytes - bytes.len;
	bool ended = false;
	size_t len = 0;

	while (capture->plain && len < bytes.len && !ended) {
		struct span piece = span_head(span_skip(bytes, len), SNIFF_BYTES);

		ended = at + len >= SNIFF_BYTES && piece.len >= PIECE_LEAST &&
		        count_odd(piece) * 100 > piece.len * ODD_PERCENT;
		len += ended ? 0 : piece.len;
	}
	if (capture->plain)
		plain_feed(capture->plain, span_head(bytes, len));
	if (!ended)
		return;
	capture->text_bytes = at + len;
	plain_end(capture->plain);
	plain_free(capture->plain);
	capture->plain = NULL;
}

/* ---- the whole ---- */

void capture_init(struct capture *capture, const struct capture_options *options)
{
	*capture = (struct capture){ .options = *options, .log = -1 };
	ends_init(&capture->ends, options->head_bytes, options->tail_bytes);
	capture->raw.max = options->head_bytes + options->tail_bytes;
	capture->plain = plain_new(ends_add, &capture->ends);
	if (options->hide_alternate)
		plain_hide_alternate(capture->plain);
}

void capture_feed(struct capture *capture, struct span bytes)
{
	capture->bytes += bytes.len;
	keep_raw(capture, bytes);
	if (capture->sniffed < SNIFF_BYTES)
		sniff(capture, bytes);
	feed_text(capture, bytes);
}

void capture_end(struct capture *capture)
{
	if (capture->plain)
		plain_end(capture->plain);
	plain_free(capture->plain);
	capture->plain = NULL;
	fd_cleanup_close(&capture->log);
	capture->log = -1;
}

void capture_release(struct capture *capture)
{
	plain_free(capture->plain);
	capture_ends_release(&capture->ends);
	buf_release(&capture->raw);
	fd_cleanup_close(&capture->log);
	free(capture->log_path);
}

static void begin_with_line(struct buf *tail)
{
	const char *newline = tail->len ? memchr(tail->data, '\n', tail->len) : NULL;

	if (newline && (size_t)(newline - tail->data) < tail->len / 2)
		drop_front(tail, (size_t)(newline - tail->data) + 1);
}

void capture_text(const struct capture *capture, struct capture_text *ret)
{
	const struct ends *ends = &capture->ends;
	struct ends copy;
	uint64_t shown;

	ends_init(&copy, ends->head_max, ends->tail_max);
	buf_span(&copy.head, buf_view(&ends->head));
	buf_span(&copy.tail, buf_view(&ends->tail));
	copy.head_full = ends->head_full;
	copy.bytes = ends->bytes;
	copy.lines = ends->lines;
	if (capture->plain)
		plain_peek(capture->plain, ends_add, &copy);
	if (copy.tail.len > copy.tail_max)
		drop_front(&copy.tail, tail_start(&copy.tail, copy.tail_max));
	shown = copy.head.len + copy.tail.len;
	if (shown < copy.bytes)
		begin_with_line(&copy.tail);
	*ret = (struct capture_text){ .head = copy.head, .tail = copy.tail };
	ret->left_out_bytes = copy.bytes - copy.head.len - copy.tail.len;
	shown = lines_count(buf_view(&copy.head)) + lines_count(buf_view(&copy.tail));
	ret->left_out_lines = copy.lines > shown ? copy.lines - shown : 0;
}

bool capture_leaves_out(const struct capture *capture)
{
	return capture->text_bytes ||
	       capture->ends.bytes > capture->ends.head.len + capture->ends.tail_max;
}

void capture_text_release(struct capture_text *text)
{
	buf_release(&text->head);
	buf_release(&text->tail);
}

/* ---- reading a part ---- */

/* Bytes [offset, offset + len) of the output, from memory or from the log. */
static bool raw_read(const struct capture *capture, uint64_t offset, size_t len, struct buf *out,
                     struct err *err)
{
	_cleanup_fd_ int fd = -1;
	char *into;

	if (!capture->log_path)
		return buf_span(out, span_head(span_skip(buf_view(&capture->raw), offset), len));
	fd = open(capture->log_path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	into = fd < 0 ? NULL : buf_reserve(out, len);
	while (into && out->len < len) {
		ssize_t n = pread(fd, into + out->len, len - out->len,
		                  (off_t)(offset + out->len));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			into = NULL;
		if (n <= 0)
			break;
		out->len += (size_t)n;
	}
	return into ? true : err_set_errno(err, errno, "The log of the output cannot be read");
}

static void append_text(void *out, struct span text)
{
	buf_span(out, text);
}

static void make_plain(const struct capture *capture, struct span raw, struct buf *out)
{
	struct plain *plain = plain_new(append_text, out);

	if (capture->options.hide_alternate)
		plain_hide_alternate(plain);
	plain_feed(plain, raw);
	plain_end(plain);
	plain_free(plain);
}

/* Of the output: what can be read. Memory alone holds less when a log could not be made. */
static uint64_t readable(const struct capture *capture)
{
	return capture->log_path ? capture->logged : capture->raw.len;
}

static void keep_last_lines(struct capture_part *part, size_t lines)
{
	struct buf *text = &part->text;
	size_t at = text->len;

	if (at && text->data[at - 1] == '\n')
		at--;
	while (at && (text->data[at - 1] != '\n' || --lines))
		at--;
	part->cut |= at > 0;
	drop_front(text, at);
}

bool capture_last(const struct capture *capture, size_t lines, struct capture_part *ret,
                  struct err *err)
{
	_cleanup_buf_ struct buf raw = BUF_INIT(CAPTURE_PART_BYTES + 1);
	uint64_t end = readable(capture);
	struct capture_part part = { .text = BUF_INIT(4 * CAPTURE_PART_BYTES),
	                             .next = capture->bytes };
	struct capture_text ends;

	if (end < capture->bytes) { /* the log has ended before: the tail in memory is what there
	                             * is */
		capture_text(capture, &ends);
		buf_span(&part.text, buf_view(&ends.tail));
		capture_text_release(&ends);
		part.cut = true;
	} else {
		part.offset = end > CAPTURE_PART_BYTES ? end - CAPTURE_PART_BYTES : 0;
		if (!raw_read(capture, part.offset, (size_t)(end - part.offset), &raw, err))
			return false;
		make_plain(capture, buf_view(&raw), &part.text);
		part.cut = part.offset > 0;
	}
	keep_last_lines(&part, lines ? lines : 1);
	*ret = part;
	return true;
}

/* Up to the last line feed, if there is more after it and a line before it. */
static size_t whole_lines(struct span raw)
{
	const char *newline = raw.len ? memrchr(raw.data, '\n', raw.len) : NULL;

	return newline ? (size_t)(newline - raw.data) + 1 : utf8_head(raw, raw.len).len;
}

bool capture_from(const struct capture *capture, uint64_t offset, struct capture_part *ret,
                  struct err *err)
{
	_cleanup_buf_ struct buf raw = BUF_INIT(CAPTURE_PART_BYTES + 1);
	uint64_t end = readable(capture);
	struct capture_part part = { .text = BUF_INIT(4 * CAPTURE_PART_BYTES) };
	size_t len;

	part.offset = offset < end ? offset : end;
	part.cut = part.offset > 0;
	len = end - part.offset > CAPTURE_PART_BYTES ?
		CAPTURE_PART_BYTES : (size_t)(end - part.offset);
	if (len && !raw_read(capture, part.offset, len, &raw, err))
		return false;
	if (part.offset + raw.len < end)
		raw.len = whole_lines(buf_view(&raw));
	make_plain(capture, buf_view(&raw), &part.text);
	part.next = part.offset + raw.len;
	*ret = part;
	return true;
}
