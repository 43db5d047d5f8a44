/* SPDX-License-Identifier: Apache-2.0 */
/* A large file in pieces: hash it, check that it is UTF-8, cut the range out. */
#include "file/read_stream.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "file/encoding.h"

/* A file that changes all the time is taken as it came after so many readings. */
enum { TORN_MAX = 4, PIECE_BYTES = 1 << 20, SEQUENCE_MAX = 4 };

/* Length of the part of `text` that does not end within a sequence. */
static size_t whole_characters(struct span text)
{
	size_t back = 0;

	while (back < SEQUENCE_MAX - 1 && back < text.len) {
		unsigned char c = (unsigned char)text.data[text.len - 1 - back];
		size_t need = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;

		back++;
		if ((c & 0xC0) != 0x80)
			return need > back ? text.len - back : text.len;
	}
	return text.len;
}

/* Whether a piece in the middle of a file is text; the first one has the mark, if any, and
 * what encoding_sniff looks at. */
static bool is_text(struct span piece, bool first, size_t *ret_bom)
{
	struct encoding_guess guess;

	*ret_bom = 0;
	if (!first)
		return !memchr(piece.data, '\0', piece.len) && utf8_valid(piece);
	encoding_sniff(piece, &guess);
	*ret_bom = guess.bom_bytes;
	return guess.kind == ENCODING_UTF8 && !memchr(piece.data, '\0', piece.len);
}

struct stream {
	int fd;
	struct window *window;
	struct sha256_stream hash;
	size_t size;
	char *piece; /* PIECE_BYTES + SEQUENCE_MAX */
	size_t kept; /* bytes of a split character at the start of `piece` */
};

/* The next piece; *ret_more false at the end of the file. */
static enum stream_outcome pump(struct stream *stream, bool *ret_more)
{
	ssize_t n = fd_read_full(stream->fd, stream->piece + stream->kept, PIECE_BYTES);
	struct span text;
	size_t bom;

	if (n < 0)
		return STREAM_FAILED;
	sha256_update(&stream->hash, span_of(stream->piece + stream->kept, (size_t)n));
	text = span_of(stream->piece, stream->kept + (size_t)n);
	*ret_more = n == PIECE_BYTES;
	if (*ret_more)
		text.len = whole_characters(text);
	if (text.len && !is_text(text, stream->size == 0, &bom))
		return STREAM_NOT_UTF8;
	if (text.len)
		window_feed(stream->window, span_skip(text, bom));
	stream->size += (size_t)n;
	stream->kept = stream->kept + (size_t)n - text.len;
	memmove(stream->piece, text.data + text.len, stream->kept);
	return STREAM_DONE;
}

static enum stream_outcome read_once(struct stream *stream)
{
	enum stream_outcome outcome;
	bool more = true;

	if (lseek(stream->fd, 0, SEEK_SET) < 0)
		return STREAM_FAILED;
	sha256_init(&stream->hash);
	stream->size = 0;
	stream->kept = 0;
	while (more) {
		outcome = pump(stream, &more);
		if (outcome != STREAM_DONE)
			return outcome;
	}
	window_finish(stream->window);
	return STREAM_DONE;
}

static bool same_stamp(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

enum stream_outcome read_stream(int fd, const char *path, const struct read_request *request,
                                struct buf *content, struct window *window,
                                struct sha256 *ret_sha256, size_t *ret_size, struct err *err)
{
	_cleanup_free_ char *piece = mem_alloc(1, PIECE_BYTES + SEQUENCE_MAX);
	struct stream stream = { .fd = fd, .window = window, .piece = piece };
	enum stream_outcome outcome = STREAM_DONE;
	struct stat before;
	struct stat after;
	bool torn = true;

	if (fstat(fd, &before) < 0) {
		err_set_errno(err, errno, "Cannot read %s", path);
		return STREAM_FAILED;
	}
	for (int i = 0; torn && i < TORN_MAX; i++) {
		buf_clear(content);
		window_init(window, request, content);
		outcome = read_once(&stream);
		if (outcome == STREAM_NOT_UTF8)
			return outcome;
		if (outcome == STREAM_FAILED || fstat(fd, &after) < 0) {
			err_set_errno(err, errno, "Cannot read %s", path);
			return STREAM_FAILED;
		}
		torn = !same_stamp(&before, &after);
		before = after;
	}
	*ret_sha256 = sha256_final(&stream.hash);
	*ret_size = stream.size;
	return outcome;
}
