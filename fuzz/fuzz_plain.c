/* SPDX-License-Identifier: Apache-2.0 */
/* A command's output, fed whole and in pieces: the same text, well-formed, without controls,
 * and no longer than three bytes for each that came and the blanks of movements. */
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/text.h"
#include "worker/job/capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void append(void *out, struct span text)
{
	if (!buf_span(out, text))
		abort();
}

static void feed(struct span bytes, size_t piece, struct buf *out)
{
	struct plain *plain = plain_new(append, out);

	while (bytes.len) {
		plain_feed(plain, span_head(bytes, piece));
		bytes = span_skip(bytes, piece);
	}
	plain_end(plain);
	plain_free(plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span bytes = span_of((const char *)data, size);
	size_t most = (size + 1) * 1024 * 4;
	_cleanup_buf_ struct buf whole = BUF_INIT(most), pieces = BUF_INIT(most);

	feed(bytes, size ? size : 1, &whole);
	feed(bytes, 1 + (size ? data[0] % 7 : 0), &pieces);
	if (!span_eq(buf_view(&whole), buf_view(&pieces)) || !utf8_valid(buf_view(&whole)))
		abort();
	for (size_t i = 0; i < whole.len; i++) {
		unsigned char c = (unsigned char)whole.data[i];

		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F ||
		    (c == 0xC2 && (unsigned char)whole.data[i + 1] < 0xA0))
			abort();
	}
	return 0;
}
