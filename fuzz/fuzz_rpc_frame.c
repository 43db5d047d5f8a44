/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that arrive in chunks: the same as when all arrives at once, and bounded. The first
 * byte is the longest line, the second the size of the chunks. */
#include <stdint.h>
#include <stdlib.h>

#include "net/rpc/rpc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct lines {
	struct buf text; /* each with a mark before and an end after it */
	size_t max;
};

static bool note(void *data, struct span line, bool too_long)
{
	struct lines *lines = data;

	if (line.len == 0 || memchr(line.data, '\n', line.len) ||
	    (!too_long && line.len > lines->max))
		abort();
	buf_char(&lines->text, too_long ? '!' : ':');
	/* How much of a line that is too long is shown depends on the chunks. */
	buf_span(&lines->text, too_long ? span_of("", 0) : line);
	buf_char(&lines->text, '\n');
	return true;
}

static void read_all(struct lines *lines, struct span text, size_t step)
{
	struct rpc_reader reader;

	rpc_reader_init(&reader, lines->max);
	while (text.len) {
		rpc_feed(&reader, span_head(text, step), note, lines);
		if (reader.pending.len > lines->max + 1)
			abort();
		text = span_skip(text, step);
	}
	rpc_reader_release(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lines whole = { .text = BUF_INIT(1 << 24) }, cut = { .text = BUF_INIT(1 << 24) };
	struct span text;
	/* Of a line without its end, whether it is announced depends on the chunks. */
	const char *end;

	if (size < 2)
		return 0;
	text = span_of((const char *)data + 2, size - 2);
	end = text.len ? memrchr(text.data, '\n', text.len) : NULL;
	text.len = end ? (size_t)(end - text.data) + 1 : 0;
	whole.max = cut.max = data[0];
	read_all(&whole, text, text.len);
	read_all(&cut, text, data[1] + 1u);
	if (!span_eq(buf_view(&whole.text), buf_view(&cut.text)))
		abort();
	buf_release(&whole.text);
	buf_release(&cut.text);
	return 0;
}
