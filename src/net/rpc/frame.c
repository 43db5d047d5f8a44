/* SPDX-License-Identifier: Apache-2.0 */
#include "net/rpc/frame.h"

/* How much of a line that is too long is shown to its handler. */
enum { BEGINNING_MAX = 256 };

void frame_reader_init(struct frame_reader *reader, size_t max)
{
	*reader = (struct frame_reader){ .pending = BUF_INIT(max + 1), .max = max };
}

void frame_reader_release(struct frame_reader *reader)
{
	buf_release(&reader->pending);
	reader->skipping = false;
}

/* Hands a line without its end over, if there is anything in it. */
static bool emit(const struct frame_reader *reader, struct span line, frame_handler *handler,
                 void *data)
{
	if (span_ends(line, SPAN("\r")))
		line.len--;
	if (line.len == 0)
		return true;
	if (line.len > reader->max)
		return handler(data, span_head(line, BEGINNING_MAX), true);
	return handler(data, line, false);
}

/* Keeps the beginning of a line, or announces that it has become too long. */
static bool keep(struct frame_reader *reader, struct span part, frame_handler *handler,
                 void *data)
{
	char beginning[BEGINNING_MAX];
	size_t have = reader->pending.len;
	size_t shown = have < sizeof(beginning) ? have : sizeof(beginning);
	size_t more = sizeof(beginning) - shown;

	/* One byte more than `max`: it may be the CR of the line's end. */
	if (part.len <= reader->max + 1 - have) {
		buf_span(&reader->pending, part);
		return true;
	}
	more = more < part.len ? more : part.len;
	if (shown)
		memcpy(beginning, reader->pending.data, shown);
	if (more)
		memcpy(beginning + shown, part.data, more);
	buf_release(&reader->pending);
	reader->skipping = true;
	return handler(data, span_of(beginning, shown + more), true);
}

/* The line ends with `part`. */
static bool finish(struct frame_reader *reader, struct span part, frame_handler *handler,
                   void *data)
{
	struct buf line;
	bool go_on;

	if (reader->skipping) {
		reader->skipping = false;
		return true;
	}
	if (reader->pending.len == 0)
		return emit(reader, part, handler, data);
	if (!keep(reader, part, handler, data))
		return false;
	if (reader->skipping) {
		reader->skipping = false;
		return true;
	}
	/* The handler may feed this reader, or release it. */
	line = reader->pending;
	reader->pending = (struct buf)BUF_INIT(line.max);
	go_on = emit(reader, buf_view(&line), handler, data);
	buf_release(&line);
	return go_on;
}

void frame_feed(struct frame_reader *reader, struct span chunk, frame_handler *handler,
                void *data)
{
	while (chunk.len) {
		const char *end = memchr(chunk.data, '\n', chunk.len);
		size_t len = end ? (size_t)(end - chunk.data) : chunk.len;
		struct span part = span_head(chunk, len);

		chunk = span_skip(chunk, len + 1);
		if (end) {
			if (!finish(reader, part, handler, data))
				return;
		} else if (!reader->skipping && !keep(reader, part, handler, data)) {
			return;
		}
	}
}
