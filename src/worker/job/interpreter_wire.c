/* SPDX-License-Identifier: Apache-2.0 */
/* What comes from an interpreter's process: the end mark in its output, and its answers. */
#include <string.h>

#include "base/limits.h"
#include "worker/job/interpreter.h"

/* ---- the mark ---- */

/* What looked like the mark and is not. The mark's first byte occurs once in it, so that no other
 * can begin within. */
static void emit_held(struct interpreter_marker *marker,
                      void (*emit)(void *data, struct span text), void *data)
{
	if (marker->matched)
		emit(data, span_of(marker->mark, marker->matched));
	marker->matched = 0;
}

/* Of bytes of which none is taken: those before the next that can begin a mark. */
static size_t unmarked_length(const struct interpreter_marker *marker, struct span bytes)
{
	const char *first = bytes.len ? memchr(bytes.data, marker->mark[0], bytes.len) : NULL;

	return first ? (size_t)(first - bytes.data) : bytes.len;
}

size_t interpreter_marker_feed(struct interpreter_marker *marker, struct span bytes,
                               void (*emit)(void *data, struct span text), void *data)
{
	size_t at = 0;

	while (at < bytes.len && !marker->found) {
		if (marker->matched && bytes.data[at] != marker->mark[marker->matched]) {
			emit_held(marker, emit, data);
		} else if (marker->matched || bytes.data[at] == marker->mark[0]) {
			at++;
			marker->found = ++marker->matched == INTERPRETER_MARK;
		} else {
			const size_t len = unmarked_length(marker, span_skip(bytes, at));

			emit(data, span_of(bytes.data + at, len));
			at += len;
		}
	}
	return at;
}

void interpreter_marker_end(struct interpreter_marker *marker,
                            void (*emit)(void *data, struct span text), void *data)
{
	if (!marker->found)
		emit_held(marker, emit, data);
}

/* ---- answers ---- */

enum { LENGTH_BYTES = 4 };

static size_t stated_length(const struct buf *bytes)
{
	size_t length = 0;

	for (size_t i = 0; i < LENGTH_BYTES; i++)
		length = length << 8 | (unsigned char)bytes->data[i];
	return length;
}

enum interpreter_frame_state interpreter_frame_feed(struct interpreter_frame *frame,
                                                    struct span bytes, struct span *ret_body)
{
	size_t length;

	buf_span(&frame->bytes, bytes);
	if (frame->bytes.overflowed)
		return FRAME_BAD;
	if (frame->bytes.len < LENGTH_BYTES)
		return FRAME_PARTIAL;
	length = stated_length(&frame->bytes);
	if (length > LIMIT_INTERPRETER_ANSWER || frame->bytes.len - LENGTH_BYTES > length)
		return FRAME_BAD;
	if (frame->bytes.len - LENGTH_BYTES < length)
		return FRAME_PARTIAL;
	*ret_body = span_skip(buf_view(&frame->bytes), LENGTH_BYTES);
	return FRAME_WHOLE;
}
