/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP answer gives the same head and body whole and in pieces (the first byte says how long), calls
 * `head` at most once and before the body, and keeps to the largest body. */
#include <stdint.h>
#include <stdlib.h>

#include "http/answer_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BODY_MAX = 1000 };

struct seen {
	struct buf head, body;
	unsigned heads;
};

static bool on_head(void *data, int status, struct span headers)
{
	struct seen *seen = data;

	if (seen->heads++ || seen->body.len || status < 200 || status > 999)
		abort();
	if (headers.len && headers.data[headers.len - 1] != '\n')
		abort();
	buf_printf(&seen->head, "%d\n", status);
	buf_span(&seen->head, headers);
	return http_retry_after(headers) >= -1;
}

static bool on_body(void *data, struct span bytes)
{
	struct seen *seen = data;

	buf_span(&seen->body, bytes);
	if (!seen->heads || seen->body.len > BODY_MAX)
		abort();
	return true;
}

static bool read_all(struct span text, size_t piece, struct seen *seen, bool *ret_keeps)
{
	static const struct http_events events = { .head = on_head, .body = on_body };
	struct answer_reader reader;
	struct err err = ERR_INIT;
	bool ok = true;

	answer_reader_init(&reader, &events, seen, BODY_MAX);
	for (; ok && text.len && reader.state != ANSWER_DONE; text = span_skip(text, piece))
		ok = answer_reader_feed(&reader, span_head(text, piece), &err);
	ok = ok && answer_reader_end(&reader, &err);
	*ret_keeps = reader.keeps && !text.len;
	answer_reader_release(&reader);
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen whole = { BUF_INIT(1 << 20), BUF_INIT(1 << 20), 0 };
	struct seen pieces = { BUF_INIT(1 << 20), BUF_INIT(1 << 20), 0 };
	struct span text = span_of((const char *)data + 1, size - 1);
	bool keeps[2], ok[2];

	if (size < 2)
		return 0;
	ok[0] = read_all(text, text.len, &whole, &keeps[0]);
	ok[1] = read_all(text, (size_t)data[0] + 1, &pieces, &keeps[1]);
	if (ok[0] != ok[1] || (ok[0] && keeps[0] != keeps[1]) ||
	    !span_eq(buf_view(&whole.head), buf_view(&pieces.head)) ||
	    (ok[0] && !span_eq(buf_view(&whole.body), buf_view(&pieces.body))))
		abort();
	buf_release(&whole.head);
	buf_release(&whole.body);
	buf_release(&pieces.head);
	buf_release(&pieces.body);
	return 0;
}
