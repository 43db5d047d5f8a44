/* SPDX-License-Identifier: Apache-2.0 */
/* One file as a model gets it: look, decide what it is, cut out what was asked for; a large one in
 * pieces. */
#include "file/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/text.h"
#include "file/document.h"
#include "file/encoding.h"
#include "file/private.h"
#include "file/snapshot.h"

/* ---- reading in one pass ---------------------------------------------------------- */

/* A large file in pieces: hash it, check that it is UTF-8, cut the range out. */

enum stream_outcome {
	STREAM_DONE,     /* the window, the hash and the size are filled */
	STREAM_NOT_UTF8, /* the whole content is needed */
	STREAM_FAILED,   /* err is set */
};

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
static bool read_is_text(struct span piece, bool first, size_t *ret_bom)
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
static enum stream_outcome stream_next_piece(struct stream *stream, bool *ret_more)
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
	if (text.len && !read_is_text(text, stream->size == 0, &bom))
		return STREAM_NOT_UTF8;
	if (text.len)
		read_window_feed(stream->window, span_skip(text, bom));
	stream->size += (size_t)n;
	stream->kept = stream->kept + (size_t)n - text.len;
	memmove(stream->piece, text.data + text.len, stream->kept);
	return STREAM_DONE;
}

static enum stream_outcome stream_read_once(struct stream *stream)
{
	enum stream_outcome outcome;
	bool more = true;

	if (lseek(stream->fd, 0, SEEK_SET) < 0)
		return STREAM_FAILED;
	sha256_init(&stream->hash);
	stream->size = 0;
	stream->kept = 0;
	while (more) {
		outcome = stream_next_piece(stream, &more);
		if (outcome != STREAM_DONE)
			return outcome;
	}
	read_window_finish(stream->window);
	return STREAM_DONE;
}

/* Passes the file's text through a window made of `request`, which collects into `content`
 * (cleared first). Reads again when the file changed meanwhile. */
static enum stream_outcome stream_read(int fd, const char *path, const struct read_request *request,
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
		read_window_init(window, request, content);
		outcome = stream_read_once(&stream);
		if (outcome == STREAM_NOT_UTF8)
			return outcome;
		if (outcome == STREAM_FAILED || fstat(fd, &after) < 0) {
			err_set_errno(err, errno, "Cannot read %s", path);
			return STREAM_FAILED;
		}
		torn = !snapshot_same_stamp(&before, &after);
		before = after;
	}
	*ret_sha256 = sha256_final(&stream.hash);
	*ret_size = stream.size;
	return outcome;
}

/* ---- reading a file for a caller -------------------------------------------------- */

/* Files above this are read in pieces if they are UTF-8. */
#define STREAM_BYTES ((size_t)64 << 20)
/* Read, hashed and looked through in well under a millisecond. */
#define AT_ONCE_BYTES ((size_t)256 << 10)

void read_result_release(struct read_result *result)
{
	file_state_release(&result->state);
	buf_release(&result->content);
	buf_release(&result->derived);
	*result = (struct read_result){ 0 };
}

static bool check_range(const struct read_request *request, struct err *err)
{
	size_t first = request->start_line ? request->start_line : 1;

	if (!request->whole && request->end_line && request->end_line < first)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "end_line (%zu) is before start_line (%zu).", request->end_line,
		               first);
	return true;
}

static void set_state(struct read_result *ret, const char *path, const struct sha256 *sum,
                      size_t size)
{
	ret->state.path = mem_strdup(path);
	ret->state.exists = true;
	ret->state.sha256 = *sum;
	ret->state.size = size;
}

/* ---- text --------------------------------------------------------------- */

/* Takes the window's findings over; the content is in ret->content already. */
static bool take_window(const struct window *window, const struct read_request *request,
                        struct read_result *ret, struct err *err)
{
	bool more = window->last_line < window->total_lines;

	if (!request->whole && request->start_line > 1 &&
	    request->start_line > window->total_lines)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "start_line (%zu) is past the end: %s has %zu line%s.",
		               request->start_line, ret->state.path, window->total_lines,
		               window->total_lines == 1 ? "" : "s");
	if (window->to_skip)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "start_column (%zu) is past the end of line %zu of %s, which has "
		               "%zu character%s.", request->start_column, window->first,
		               ret->state.path, window->skip - window->to_skip,
		               window->skip - window->to_skip == 1 ? "" : "s");
	if (ret->content.overflowed)
		return err_set(err, ERR_TOO_LARGE, "The text of %s is too large to return.",
		               ret->state.path);
	ret->kind = READ_TEXT;
	snprintf(ret->mime_type, sizeof(ret->mime_type), "text/plain");
	ret->line_endings = window->crlf_lines && window->lf_lines ? "mixed" :
	                    window->crlf_lines                     ? "crlf" :
	                    window->lf_lines                       ? "lf" :
	                                                             "none";
	ret->final_newline = window->final_newline;
	ret->total_lines = window->total_lines;
	ret->first_line = window->first_line;
	ret->last_line = window->last_line;
	ret->cut_lines = window->cut_lines;
	ret->cut_line = window->cut_line;
	ret->cut_column = window->cut_column;
	ret->truncated = more || window->cut_lines > 0;
	ret->next_line = more ? window->last_line + 1 : 0;
	return true;
}

static bool read_as_text(const struct document *doc, const struct read_request *request,
                         struct read_result *ret, struct err *err)
{
	struct window window;

	read_window_init(&window, request, &ret->content);
	read_window_feed(&window, doc->lines.text);
	read_window_finish(&window);
	snprintf(ret->encoding, sizeof(ret->encoding), "%s", doc->encoding);
	return take_window(&window, request, ret, err);
}

/* ---- what is not text --------------------------------------------------- */

static bool read_media(struct span content, const struct media *media, struct read_result *ret,
                       struct err *err)
{
	if (content.len > LIMIT_MEDIA_BYTES)
		return err_set(err, ERR_TOO_LARGE,
		               "%s is %s of %zu bytes; at most %zu can be handed over.",
		               ret->state.path, media->words, content.len,
		               (size_t)LIMIT_MEDIA_BYTES);
	ret->kind = READ_MEDIA;
	if (!buf_span(&ret->content, content))
		return err_set(err, ERR_NO_RESOURCES, "There is no memory for %s.",
		               ret->state.path);
	return true;
}

static bool is_unknown_type(const struct media *media)
{
	return strcmp(media->mime_type, "application/octet-stream") == 0;
}

static bool read_other(struct span content, const struct media *media,
                       const struct read_request *request, struct read_result *ret,
                       struct err *err)
{
	_cleanup_buf_ struct buf what = BUF_INIT(512);

	snprintf(ret->mime_type, sizeof(ret->mime_type), "%s", media->mime_type);
	if ((media->is_media && request->media) || request->raw)
		return read_media(content, media, ret, err);
	media_describe(media, content.len, &what);
	return err_set(err, ERR_NOT_TEXT, "%s is %s, not text. %s", ret->state.path, what.data,
	               request->derive == READ_DERIVE_OFF && !is_unknown_type(media) ?
	                       "Formats other than plain text are not read here "
	                       "(hasp.formats.enabled): use a program that knows the type." :
	                       media->advice);
}

/* Whether text is only what it seems to be: a PDF may be all ASCII, and a compressed
 * recording may pass for a legacy encoding. */
static bool is_media_after_all(const struct snapshot *snap, const struct document *doc,
                               struct media *ret)
{
	bool legacy = strncmp(doc->encoding, "UTF-", 4) != 0;

	if (!media_looks_textual(snap->content) &&
	    !(legacy && media_name_suggests(snap->place.path)))
		return false;
	media_identify(snap->content, snap->place.path, ret);
	return ret->is_media;
}

/* ---- the two ways to the bytes ------------------------------------------ */

/* Nothing is looked for in the bytes, so they cost one copy and their hash. */
static bool read_bytes(const struct workspace *ws, const struct read_request *request,
                       size_t max_bytes, struct read_result *ret, struct err *err)
{
	_cleanup_snapshot_ struct snapshot snap = SNAPSHOT_INIT;

	if (!snapshot_read(ws, request->path, max_bytes, &snap, err))
		return false;
	if (!snap.exists)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist.", snap.place.path);
	set_state(ret, snap.place.path, &snap.sha256, snap.content.len);
	ret->kind = READ_MEDIA;
	snprintf(ret->mime_type, sizeof(ret->mime_type), "application/octet-stream");
	if (!buf_span(&ret->content, snap.content))
		return err_set(err, ERR_NO_RESOURCES, "There is no memory for %s.",
		               ret->state.path);
	return true;
}

static bool not_at_once(struct read_result *ret, struct err *err)
{
	ret->not_at_once = true;
	return err_set(err, ERR_BUSY, "The file is too large to be read in one piece.");
}

/* Decodes content that needs no library. */
static bool decode_at_once(const struct snapshot *snap, const struct read_request *request,
                       struct document *ret)
{
	return !request->encoding && !media_looks_textual(snap->content) &&
	       document_decode_utf8(snap->content, ret);
}

static bool read_snapshot(const struct workspace *ws, const struct read_request *request,
                          size_t max_bytes, struct read_result *ret, struct err *err)
{
	_cleanup_snapshot_ struct snapshot snap = SNAPSHOT_INIT;
	struct document doc;
	struct media media;
	bool binary;
	bool ok;

	if (!snapshot_read(ws, request->path, max_bytes, &snap, err))
		return false;
	if (!snap.exists)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist.", snap.place.path);
	if (request->at_once && !decode_at_once(&snap, request, &doc))
		return not_at_once(ret, err);
	set_state(ret, snap.place.path, &snap.sha256, snap.content.len);
	if (!request->at_once &&
	    !document_decode(snap.content, request->encoding, &doc, &binary, err)) {
		if (!binary)
			return false;
		media_identify(snap.content, snap.place.path, &media);
		*err = (struct err)ERR_INIT;
		return read_other(snap.content, &media, request, ret, err);
	}
	if (!request->encoding && is_media_after_all(&snap, &doc, &media))
		ok = read_other(snap.content, &media, request, ret, err);
	else
		ok = read_as_text(&doc, request, ret, err);
	document_release(&doc);
	return ok;
}

static bool open_large(const struct workspace *ws, const struct read_request *request,
                       size_t max_bytes, struct place *place, int *ret_fd, struct err *err)
{
	struct stat stat;

	if (!workspace_resolve(ws, request->path, PLACE_EXISTING, place, err))
		return false;
	*ret_fd = place_open(place, O_RDONLY);
	if (*ret_fd < 0 || fstat(*ret_fd, &stat) < 0)
		return err_set_errno(err, errno, "Cannot open %s", place->path);
	if (!S_ISREG(stat.st_mode))
		return err_set(err, ERR_NOT_A_FILE, "%s is not a regular file.", place->path);
	if ((unsigned long long)stat.st_size > max_bytes)
		return err_set(err, ERR_TOO_LARGE, "%s has %lld bytes; the limit is %zu.",
		               place->path, (long long)stat.st_size, max_bytes);
	return true;
}

static bool read_large(const struct workspace *ws, const struct read_request *request,
                       size_t max_bytes, struct read_result *ret, struct err *err)
{
	_cleanup_place_ struct place place = PLACE_INIT;
	_cleanup_fd_ int fd = -1;
	struct window window;
	struct sha256 sum;
	size_t size;

	if (!open_large(ws, request, max_bytes, &place, &fd, err))
		return false;
	switch (stream_read(fd, place.path, request, &ret->content, &window, &sum, &size, err)) {
	case STREAM_FAILED:
		return false;
	case STREAM_NOT_UTF8:
		buf_release(&ret->content);
		return read_snapshot(ws, request, max_bytes, ret, err);
	case STREAM_DONE:
		break;
	}
	set_state(ret, place.path, &sum, size);
	snprintf(ret->encoding, sizeof(ret->encoding), "UTF-8");
	return take_window(&window, request, ret, err);
}

/* A file that is too large for the first reading is read again in pieces, so that the many
 * small ones do not pay for a question about their size. */
bool read_file(const struct workspace *ws, const struct read_request *request,
               struct read_result *ret, struct err *err)
{
	size_t limit = request->max_file_bytes ? request->max_file_bytes : LIMIT_FILE_BYTES_DEFAULT;
	bool may_stream = limit > STREAM_BYTES && !request->encoding;
	struct err first = ERR_INIT;

	*ret = (struct read_result){ .content = BUF_INIT(LIMIT_RESULT_BYTES) };
	if (request->bytes)
		return read_bytes(ws, request, limit, ret, err);
	if (!check_range(request, err))
		return false;
	if (request->at_once && limit > AT_ONCE_BYTES) {
		if (read_snapshot(ws, request, AT_ONCE_BYTES, ret, &first))
			return true;
		*err = first;
		return first.code != ERR_TOO_LARGE ? false : not_at_once(ret, err);
	}
	if (read_snapshot(ws, request, may_stream ? STREAM_BYTES : limit, ret, &first))
		return true;
	if (may_stream && first.code == ERR_TOO_LARGE && !ret->state.path)
		return read_large(ws, request, limit, ret, err);
	*err = first;
	return false;
}

/* ---- the lines that were asked for ------------------------------------------------ */

enum { DEFAULT_LINES = 2000, DEFAULT_LINE_CHARS = 2000 };

#define TRUNCATED_MARK SPAN("... [truncated]")

void read_window_init(struct window *window, const struct read_request *request,
                      struct buf *content)
{
	size_t lines = request->max_lines ? request->max_lines : DEFAULT_LINES;
	size_t first = request->start_line ? request->start_line : 1;
	size_t last = lines > SIZE_MAX - first ? SIZE_MAX : first + lines - 1;

	*window = (struct window){
		.first = first,
		.last = request->end_line && request->end_line < last ? request->end_line : last,
		.max_line_chars = request->max_line_chars ? request->max_line_chars :
		                                            DEFAULT_LINE_CHARS,
		.max_bytes = request->max_bytes ? request->max_bytes : LIMIT_RESULT_BYTES,
		.content = content,
		.line = 1,
		.final_newline = true,
		.skip = request->start_column ? request->start_column - 1 : 0,
	};
	if (request->whole) {
		window->skip = 0;
		window->first = 1;
		window->last = SIZE_MAX;
		window->max_line_chars = SIZE_MAX;
	}
	window->to_skip = window->skip;
}

/* The longest head of `text` of at most `chars` code points and `bytes` bytes. */
static size_t head_within(struct span text, size_t chars, size_t bytes, size_t *ret_chars)
{
	size_t at = 0;
	size_t count = 0;

	while (at < text.len) {
		size_t next = at + 1;

		while (next < text.len && ((unsigned char)text.data[next] & 0xC0) == 0x80)
			next++;
		if (count == chars || next > bytes)
			break;
		at = next;
		count++;
	}
	*ret_chars = count;
	return at;
}

/* Collects more of the body of the current line; `last` when there is no more of it. */
static void window_collect(struct window *window, struct span body, bool last)
{
	struct buf *content = window->content;
	size_t room = window->max_bytes > content->len ? window->max_bytes - content->len : 0;
	size_t chars;
	size_t len;

	if (window->cut)
		return;
	if (window->to_skip) {
		body = span_skip(body, head_within(body, window->to_skip, SIZE_MAX, &chars));
		window->to_skip -= chars;
	}
	/* Bytes are at least as many as characters: no need to count these. */
	if (body.len <= room && (window->max_line_chars == SIZE_MAX ||
	                         (last && body.len <= window->max_line_chars - window->chars))) {
		buf_span(content, body);
		return;
	}
	len = head_within(body, window->max_line_chars - window->chars, room, &chars);
	buf_span(content, span_head(body, len));
	window->chars += chars;
	window->cut = len < body.len;
}

static void begin_line(struct window *window)
{
	window->chars = 0;
	window->cut = false;
	window->line_start = window->content->len;
}

static void cut_back(struct buf *content, size_t len)
{
	if (len < content->len) {
		content->len = len;
		content->data[len] = '\0';
	}
}

/* A line that does not fit into max_bytes is left for the next call, unless it is the
 * first: then its beginning is all that can be given. */
static bool drop_line(struct window *window, struct span ending)
{
	struct buf *content = window->content;
	size_t more = ending.len + (window->cut ? TRUNCATED_MARK.len : 0);
	bool by_bytes = content->len > window->max_bytes ||
	                more > window->max_bytes - content->len ||
	                (window->cut && window->chars < window->max_line_chars);

	if (!by_bytes)
		return false;
	window->full = true;
	if (!window->first_line) {
		window->cut = true;
		more = ending.len + TRUNCATED_MARK.len;
		more = window->max_bytes > more ? window->max_bytes - more : 0;
		cut_back(content, utf8_head(buf_view(content), more).len);
		return false;
	}
	cut_back(content, window->line_start);
	return true;
}

/* Where the first line that is cut goes on. */
static void note_cut(struct window *window)
{
	struct span shown = buf_from(window->content, window->line_start);
	size_t chars;

	if (window->cut_line)
		return;
	head_within(shown, SIZE_MAX, SIZE_MAX, &chars);
	window->cut_line = window->line;
	window->cut_column = (window->line == window->first ? window->skip : 0) + chars + 1;
}

static void window_end_line(struct window *window, struct span ending)
{
	if (drop_line(window, ending))
		return;
	if (window->cut) {
		note_cut(window);
		buf_span(window->content, TRUNCATED_MARK);
		window->cut_lines++;
	}
	buf_span(window->content, ending);
	if (!window->first_line)
		window->first_line = window->line;
	window->last_line = window->line;
}

static bool window_is_open(const struct window *window)
{
	return window->line >= window->first && window->line <= window->last && !window->full;
}

/* The current line passed by up to and with its LF. */
static void line_done(struct window *window, struct span body, bool crlf)
{
	window->crlf_lines += crlf;
	window->lf_lines += !crlf;
	if (window_is_open(window)) {
		window_collect(window, body, /* last= */ true);
		window_end_line(window, crlf ? SPAN("\r\n") : SPAN("\n"));
	}
	window->line++;
	window->line_bytes = 0;
	begin_line(window);
}

/* Most lines lie in one piece and within all limits: they are copied as they are. */
static bool pass_plain_line(struct window *window, struct span line)
{
	struct buf *content = window->content;
	bool crlf = line.len > 1 && line.data[line.len - 2] == '\r';

	if (window->line_bytes)
		return false;
	if (window_is_open(window)) {
		if (window->to_skip || line.len > window->max_line_chars ||
		    content->len > window->max_bytes ||
		    line.len > window->max_bytes - content->len)
			return false;
		buf_span(content, line);
		if (!window->first_line)
			window->first_line = window->line;
		window->last_line = window->line;
	}
	window->crlf_lines += crlf;
	window->lf_lines += !crlf;
	window->line++;
	window->line_start = content->len;
	return true;
}

void read_window_feed(struct window *window, struct span piece)
{
	while (piece.len) {
		const char *feed = memchr(piece.data, '\n', piece.len);
		size_t len = feed ? (size_t)(feed - piece.data) : piece.len;
		struct span body = span_head(piece, len);
		bool held_cr = window->after_cr; /* a CR is held back until its LF is seen or not */

		if (feed && pass_plain_line(window, span_head(piece, len + 1))) {
			piece = span_skip(piece, len + 1);
			continue;
		}
		if (held_cr && len && window_is_open(window))
			window_collect(window, SPAN("\r"), /* last= */ false);
		window->line_bytes += len + (feed != NULL);
		window->after_cr = len ? body.data[len - 1] == '\r' : held_cr;
		if (window->after_cr && len)
			body.len--;
		piece = span_skip(piece, len + (feed != NULL));
		if (feed) {
			line_done(window, body, window->after_cr);
			window->after_cr = false;
		} else if (window_is_open(window)) {
			window_collect(window, body, /* last= */ false);
		}
	}
}

void read_window_finish(struct window *window)
{
	window->total_lines = window->line - 1;
	if (!window->line_bytes)
		return;
	window->total_lines = window->line;
	window->final_newline = false;
	if (!window_is_open(window))
		return;
	if (window->after_cr)
		window_collect(window, SPAN("\r"), /* last= */ true);
	window_end_line(window, span_of("", 0));
}
