/* SPDX-License-Identifier: Apache-2.0 */
/* A git configuration file: never a crash, names in lower case, and what was read, written
 * down plainly, reads as the same again. */
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "data/git_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 16 << 20 };

static void put_quoted(struct buf *out, struct span text)
{
	buf_char(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		const char c = text.data[i];

		if (c == '"' || c == '\\')
			buf_char(out, '\\');
		if (c == '\n')
			buf_str(out, "\\n");
		else
			buf_char(out, c);
	}
	buf_char(out, '"');
}

static bool put_item(void *data, const struct git_config_item *item)
{
	struct buf *out = data;

	for (size_t i = 0; i < item->name.len; i++) {
		if (item->name.data[i] >= 'A' && item->name.data[i] <= 'Z')
			abort();
	}
	if (item->name.len == 0 || item->section.len == 0 ||
	    (!item->has_value && item->value.len > 0))
		abort();
	buf_printf(out, "[%.*s ", (int)item->section.len, item->section.data);
	put_quoted(out, item->subsection);
	buf_printf(out, "]\n%.*s", (int)item->name.len, item->name.data);
	if (item->has_value) {
		buf_str(out, " = ");
		put_quoted(out, item->value);
	}
	buf_char(out, '\n');
	return !out->overflowed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf once = BUF_INIT(TEXT_MAX), twice = BUF_INIT(TEXT_MAX);

	git_config_read(span_of((const char *)data, size), put_item, &once);
	if (once.overflowed)
		return 0;
	if (!git_config_read(buf_view(&once), put_item, &twice) ||
	    !span_eq(buf_view(&once), buf_view(&twice)))
		abort();
	return 0;
}
