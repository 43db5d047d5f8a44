/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a name: what is shown is UTF-8 (and in a line, one line), is no longer than it may be, and is
 * read as the same name again, so that no two names are shown alike. And any bytes as what was shown. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(int what)
{
	if (!what)
		abort();
}

static void round_trip(struct span name, void (*show)(struct buf *out, struct span name))
{
	/* An escape of an invisible character has nine bytes at most, for two. */
	_cleanup_buf_ struct buf shown = BUF_INIT(5 * name.len + 1), again = BUF_INIT(name.len + 1);

	show(&shown, name);
	need(!shown.overflowed && utf8_valid(buf_view(&shown)));
	name_read(&again, buf_view(&shown));
	need(!again.overflowed && span_eq(buf_view(&again), name));
	if (show == name_line)
		for (size_t i = 0; i < shown.len; i++)
			need((unsigned char)shown.data[i] >= ' ' && shown.data[i] != '<');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span bytes = span_of((const char *)data, size);
	_cleanup_buf_ struct buf name = BUF_INIT(size + 1);

	if (size && memchr(data, 0, size))
		return 0;
	round_trip(bytes, name_show);
	round_trip(bytes, name_line);
	name_read(&name, bytes);
	need(!name.overflowed);
	need(!memchr(name.len ? name.data : "x", 0, name.len ? name.len : 1));
	return 0;
}
