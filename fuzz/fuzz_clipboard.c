/* SPDX-License-Identifier: Apache-2.0 */
/* Lines as a terminal's replies about its clipboard: what is taken stays within its bound. */
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/text.h"
#include "tui/term/term.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DATA_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span rest = span_of((const char *)data, size), line;
	struct clipboard_answer answer;

	clipboard_answer_init(&answer, "1", size % 2, DATA_MAX);
	while (line_next(&rest, &line)) {
		_cleanup_buf_ struct buf reply = BUF_INIT(size + 16);

		buf_str(&reply, "\033]5522;");
		buf_span(&reply, line_body(line));
		if (clipboard_answer_take(&answer, buf_view(&reply)) > CLIPBOARD_FAILED ||
		    answer.data.len > DATA_MAX)
			abort();
	}
	clipboard_answer_release(&answer);
	return 0;
}
