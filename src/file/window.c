/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting a range of lines from a stream of text. */
#include "file/window.h"

#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"

enum { DEFAULT_LINES = 2000, DEFAULT_LINE_CHARS = 2000 };

#define TRUNCATED_MARK SPAN("... [truncated]")

void window_init(struct window *window, const struct read_request *request,
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
	};
	if (request->whole) {
		window->first = 1;
		window->last = SIZE_MAX;
		window->max_line_chars = SIZE_MAX;
	}
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

static void window_end_line(struct window *window, struct span ending)
{
	if (drop_line(window, ending))
		return;
	if (window->cut) {
		buf_span(window->content, TRUNCATED_MARK);
		window->cut_lines++;
	}
	buf_span(window->content, ending);
	if (!window->first_line)
		window->first_line = window->line;
	window->last_line = window->line;
}

static bool window_wants(const struct window *window)
{
	return window->line >= window->first && window->line <= window->last && !window->full;
}

/* The current line passed by up to and with its LF. */
static void line_done(struct window *window, struct span body, bool crlf)
{
	window->crlf_lines += crlf;
	window->lf_lines += !crlf;
	if (window_wants(window)) {
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
	if (window_wants(window)) {
		if (line.len > window->max_line_chars || content->len > window->max_bytes ||
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

void window_feed(struct window *window, struct span piece)
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
		if (held_cr && len && window_wants(window))
			window_collect(window, SPAN("\r"), /* last= */ false);
		window->line_bytes += len + (feed != NULL);
		window->after_cr = len ? body.data[len - 1] == '\r' : held_cr;
		if (window->after_cr && len)
			body.len--;
		piece = span_skip(piece, len + (feed != NULL));
		if (feed) {
			line_done(window, body, window->after_cr);
			window->after_cr = false;
		} else if (window_wants(window)) {
			window_collect(window, body, /* last= */ false);
		}
	}
}

void window_finish(struct window *window)
{
	window->total_lines = window->line - 1;
	if (!window->line_bytes)
		return;
	window->total_lines = window->line;
	window->final_newline = false;
	if (!window_wants(window))
		return;
	if (window->after_cr)
		window_collect(window, SPAN("\r"), /* last= */ true);
	window_end_line(window, span_of("", 0));
}
