/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/event_stream.h"

#include <string.h>

/* The length of the first line of `text`, which ends before a CR or LF. */
static size_t line_length(struct span text)
{
	const char *lf = text.len ? memchr(text.data, '\n', text.len) : NULL;
	size_t len = lf ? (size_t)(lf - text.data) : text.len;
	const char *cr = len ? memchr(text.data, '\r', len) : NULL;

	return cr ? (size_t)(cr - text.data) : len;
}

bool event_write(struct buf *out, const char *id, struct span data)
{
	if (id)
		buf_printf(out, "id: %s\n", id);
	for (;;) {
		size_t len = line_length(data);
		size_t end = len;

		buf_str(out, len ? "data: " : "data:");
		buf_append(out, data.data, len);
		buf_char(out, '\n');
		if (end < data.len && data.data[end] == '\r')
			end++;
		if (end < data.len && data.data[end] == '\n')
			end++;
		if (end == len)
			break;
		data = span_skip(data, end);
	}
	return buf_char(out, '\n');
}

bool event_write_retry(struct buf *out, unsigned retry_ms)
{
	return buf_printf(out, "retry: %u\n\n", retry_ms);
}

bool event_write_keep_alive(struct buf *out)
{
	return buf_str(out, ":\n\n");
}
