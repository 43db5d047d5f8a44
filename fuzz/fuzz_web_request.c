/* SPDX-License-Identifier: Apache-2.0 */
/* What the web front reads by itself of a request: a Cookie header, and of a difference the hunks
 * that are chosen.  Turned round twice a difference is as it was, as far as it is one. */
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/span.h"
#include "data/json.h"
#include "web/private.h"

enum { OUT_BYTES = 1 << 22 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool count_value(void *data, struct span value)
{
	size_t *bytes = data;

	*bytes += value.len;
	return false;
}

/* No value is outside of the header. */
static void read_cookies(struct span text)
{
	size_t bytes = 0;

	web_cookie_each(text, SPAN("hasp-1"), count_value, &bytes);
	if (bytes > text.len)
		abort();
}

/* Turning round keeps every line, and what is chosen is no more than there was. */
static void read_diff(struct span text)
{
	_cleanup_buf_ struct buf back = BUF_INIT(OUT_BYTES), some = BUF_INIT(OUT_BYTES);
	json_auto_t *hunks = json_pack("[i, i]", 0, 1);

	web_diff_reverse(text, &back);
	if (!back.overflowed && back.len > text.len + 1 + text.len / 8)
		abort();
	web_diff_choose(text, hunks, &some);
	if (!some.overflowed && some.len > text.len + 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span text = span_of((const char *)data, size);

	read_cookies(text);
	read_diff(text);
	return 0;
}
