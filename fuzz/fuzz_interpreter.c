/* SPDX-License-Identifier: Apache-2.0 */
/* What an interpreter's process writes, fed whole and in pieces: the same text and the same answer,
 * and with the mark cut out nothing is lost. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "worker/job/interpreter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char mark[] = "\0hasp-end-0123456789abcdef0123456789abcdef";

static void append(void *out, struct span text)
{
	if (!buf_span(out, text))
		abort();
}

/* Returns whether the mark was found. */
static bool feed_marker(struct span bytes, size_t piece, struct buf *out)
{
	struct interpreter_marker marker = { 0 };

	memcpy(marker.mark, mark, INTERPRETER_MARK);
	while (bytes.len) {
		const struct span head = span_head(bytes, piece);
		const size_t taken = interpreter_marker_feed(&marker, head, append, out);

		if (taken > head.len || (taken < head.len && !marker.found))
			abort();
		if (taken < head.len)
			append(out, span_skip(head, taken));
		bytes = span_skip(bytes, piece);
		if (marker.found)
			break;
	}
	append(out, bytes);
	interpreter_marker_end(&marker, append, out);
	return marker.found;
}

static enum interpreter_frame_state feed_frame(struct span bytes, size_t piece, size_t *ret_len)
{
	struct interpreter_frame frame = {
		.bytes = BUF_INIT(LIMIT_INTERPRETER_ANSWER + 4),
	};
	enum interpreter_frame_state state = FRAME_PARTIAL;
	struct span body = { NULL, 0 };

	for (; bytes.len && state != FRAME_BAD; bytes = span_skip(bytes, piece))
		state = interpreter_frame_feed(&frame, span_head(bytes, piece), &body);
	*ret_len = state == FRAME_WHOLE ? body.len : 0;
	buf_release(&frame.bytes);
	return state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span bytes = span_of((const char *)data, size);
	const size_t piece = 1 + (size ? data[0] % 7 : 0), most = size + INTERPRETER_MARK;
	_cleanup_buf_ struct buf whole = BUF_INIT(most), pieces = BUF_INIT(most);
	const bool found = feed_marker(bytes, size ? size : 1, &whole);
	size_t len, piece_len;

	if (found != feed_marker(bytes, piece, &pieces) ||
	    !span_eq(buf_view(&whole), buf_view(&pieces)) ||
	    whole.len + (found ? INTERPRETER_MARK : 0) != size)
		abort();
	if (feed_frame(bytes, size ? size : 1, &len) != feed_frame(bytes, piece, &piece_len) ||
	    len != piece_len)
		abort();
	return 0;
}
