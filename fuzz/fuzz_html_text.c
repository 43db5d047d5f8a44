/* SPDX-License-Identifier: Apache-2.0 */
/* A page becomes text that is no longer than what is wanted, and UTF-8 where the page is. */
#include <stdint.h>
#include <stdlib.h>

#include "base/text.h"
#include "read/html_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 1 << 16, TITLE_MAX = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct html_text text = { .text = BUF_INIT(TEXT_MAX), .title = BUF_INIT(TITLE_MAX) };
	struct span page = span_of((const char *)data, size);
	struct err err = ERR_INIT;

	if (!html_text(page, &text, &err))
		abort(); /* the library is there */
	if (text.text.len > TEXT_MAX || text.title.len > TITLE_MAX)
		abort();
	if (utf8_valid(page) && !utf8_valid(buf_view(&text.text)))
		abort();
	buf_release(&text.text);
	buf_release(&text.title);
	return 0;
}
