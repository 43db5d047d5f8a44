/* SPDX-License-Identifier: Apache-2.0 */
/* Source: WHATWG HTML, section 9.2.6 "Interpreting an event stream".  This file does not reconnect:
 * the reader has the last "id" and "retry" for its caller. */
#include "net/http/sse.h"

#include <string.h>

#include "base/text.h"

static const char byte_order_mark[] = "\xEF\xBB\xBF";

void sse_reader_init(struct sse_reader *reader, size_t max_event_bytes,
                     bool (*event)(void *data, const struct sse_event *event, struct err *err),
                     void *data)
{
	*reader = (struct sse_reader){
		.event = event,
		.data = data,
		.max = max_event_bytes,
		.line = BUF_INIT(max_event_bytes),
		.text = BUF_INIT(max_event_bytes + 1), /* a last \n that is taken off again */
		.type = BUF_INIT(max_event_bytes),
		.id = BUF_INIT(max_event_bytes),
	};
}

void sse_reader_release(struct sse_reader *reader)
{
	buf_release(&reader->line);
	buf_release(&reader->text);
	buf_release(&reader->type);
	buf_release(&reader->id);
}

static bool dispatch(struct sse_reader *reader, struct err *err)
{
	struct sse_event event = {
		.type = reader->type.len ? buf_view(&reader->type) : SPAN("message"),
		.data = span_head(buf_view(&reader->text),
		                  reader->text.len ? reader->text.len - 1 : 0),
		.id = buf_view(&reader->id),
	};
	bool ok = !reader->text.len || reader->event(reader->data, &event, err);

	buf_clear(&reader->text);
	buf_clear(&reader->type);
	reader->used = 0;
	return ok;
}

/* Digits alone count, up to a day. */
static void take_retry(struct sse_reader *reader, struct span value)
{
	enum { RETRY_MS_MAX = 24 * 3600 * 1000 };
	unsigned ms = 0;

	for (size_t i = 0; i < value.len; i++) {
		if (!ascii_is_digit(value.data[i]))
			return;
		ms = ms < RETRY_MS_MAX / 10 ? 10 * ms + (unsigned)(value.data[i] - '0') :
		                              RETRY_MS_MAX;
	}
	if (value.len)
		reader->retry_ms = ms;
}

static void take_field(struct sse_reader *reader, struct span line)
{
	const char *colon = memchr(line.data, ':', line.len);
	size_t name_len = colon ? (size_t)(colon - line.data) : line.len;
	struct span name = span_head(line, name_len);
	struct span value = span_skip(line, name_len + 1);

	if (value.len && value.data[0] == ' ')
		value = span_skip(value, 1);
	if (span_eq(name, SPAN("data"))) {
		buf_span(&reader->text, value);
		buf_char(&reader->text, '\n');
	} else if (span_eq(name, SPAN("event"))) {
		buf_clear(&reader->type);
		buf_span(&reader->type, value);
	} else if (span_eq(name, SPAN("id")) && (!value.len || !memchr(value.data, 0, value.len))) {
		buf_clear(&reader->id);
		buf_span(&reader->id, value);
	} else if (span_eq(name, SPAN("retry"))) {
		take_retry(reader, value);
	}
}

static bool sse_take_line(struct sse_reader *reader, struct err *err)
{
	struct span line = buf_view(&reader->line);
	bool ok = true;

	if (!reader->started && span_starts(line, span_of(byte_order_mark, 3)))
		line = span_skip(line, 3);
	reader->started = true;
	if (!line.len)
		ok = dispatch(reader, err);
	else if (line.data[0] != ':')
		take_field(reader, line);
	else
		reader->used -= reader->line.len; /* comments belong to no event */
	buf_clear(&reader->line);
	return ok;
}

/* Bytes up to the end of the line, or of the input. */
static size_t run_length(struct span bytes)
{
	const char *lf = memchr(bytes.data, '\n', bytes.len);
	size_t len = lf ? (size_t)(lf - bytes.data) : bytes.len;
	const char *cr = memchr(bytes.data, '\r', len);

	return cr ? (size_t)(cr - bytes.data) : len;
}

bool sse_reader_feed(struct sse_reader *reader, struct span bytes, struct err *err)
{
	while (bytes.len) {
		size_t run;

		if (reader->after_cr && bytes.data[0] == '\n')
			bytes = span_skip(bytes, 1);
		reader->after_cr = false;
		if (!bytes.len)
			break;
		run = run_length(bytes);
		if (reader->max - reader->used < run)
			return err_set(err, ERR_TOO_LARGE,
			               "An event of the stream is longer than %zu bytes.",
			               reader->max);
		reader->used += run;
		buf_append(&reader->line, bytes.data, run);
		if (run == bytes.len)
			break;
		reader->after_cr = bytes.data[run] == '\r';
		bytes = span_skip(bytes, run + 1);
		if (!sse_take_line(reader, err))
			return false;
	}
	return true;
}

bool sse_reader_end(struct sse_reader *reader, struct err *err)
{
	(void)err;
	buf_clear(&reader->line);
	buf_clear(&reader->text);
	buf_clear(&reader->type);
	reader->used = 0;
	return true;
}

/* ---- writing ---- */

/* The length of the first line of `text`, which ends before a CR or LF. */
static size_t line_length(struct span text)
{
	const char *lf = text.len ? memchr(text.data, '\n', text.len) : NULL;
	size_t len = lf ? (size_t)(lf - text.data) : text.len;
	const char *cr = len ? memchr(text.data, '\r', len) : NULL;

	return cr ? (size_t)(cr - text.data) : len;
}

bool sse_write(struct buf *out, const char *id, struct span data)
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

bool sse_write_retry(struct buf *out, unsigned retry_ms)
{
	return buf_printf(out, "retry: %u\n\n", retry_ms);
}

bool sse_write_keep_alive(struct buf *out)
{
	return buf_str(out, ":\n\n");
}
