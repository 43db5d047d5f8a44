/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of events gives the same events whole and in pieces (the first byte says how long), and
 * none of them is longer than the maximum. */
#include <stdint.h>
#include <stdlib.h>

#include "net/http/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENT_MAX = 4096, ALL_MAX = 1 << 24 };

static bool note(void *data, const struct sse_event *event, struct err *err)
{
	struct buf *out = data;

	(void)err;
	if (event->data.len > EVENT_MAX || event->type.len > EVENT_MAX || event->id.len > EVENT_MAX)
		abort();
	buf_printf(out, "%zu %zu %zu\n", event->type.len, event->data.len, event->id.len);
	buf_span(out, event->type);
	buf_span(out, event->data);
	buf_span(out, event->id);
	return true;
}

static bool read_all(struct span text, size_t piece, struct buf *out)
{
	struct sse_reader reader;
	struct err err = ERR_INIT;
	bool ok = true;

	sse_reader_init(&reader, EVENT_MAX, note, out);
	for (; ok && text.len; text = span_skip(text, piece))
		ok = sse_reader_feed(&reader, span_head(text, piece), &err);
	ok = ok && sse_reader_end(&reader, &err);
	if (!ok && err.code != ERR_TOO_LARGE)
		abort();
	sse_reader_release(&reader);
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf whole = BUF_INIT(ALL_MAX), pieces = BUF_INIT(ALL_MAX);
	struct span text = span_of((const char *)data + 1, size - 1);

	if (size < 2)
		return 0;
	if (read_all(text, text.len, &whole) != read_all(text, (size_t)data[0] + 1, &pieces) ||
	    !span_eq(buf_view(&whole), buf_view(&pieces)))
		abort();
	return 0;
}
