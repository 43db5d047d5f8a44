/* SPDX-License-Identifier: Apache-2.0 */
/* Sealed logins: of any text nothing is opened that was not sealed with the key, and what was is
 * opened as it was, but not with any bit of it changed.
 *
 * The first byte says what the rest is: a text to be opened, or one to be sealed and then changed
 * where the byte says. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mcp/auth/private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 4096, SEALED_MAX = 4 * TEXT_MAX };

static const unsigned char key[AUTH_KEY_BYTES] = "the key of the fuzzer's own logi";

static bool opens(struct span sealed, struct buf *plain)
{
	buf_clear(plain);
	return auth_unseal(key, sealed, plain);
}

/* One digit of it becomes another. */
static void change_digit(struct buf *sealed, size_t at)
{
	char *digit = &sealed->data[at % sealed->len];

	if (*digit != ':')
		*digit = *digit == '0' ? '1' : '0';
	else
		*digit = ';';
}

static void seal_and_change(struct span text, size_t at)
{
	_cleanup_buf_ struct buf sealed = BUF_INIT(SEALED_MAX), plain = BUF_INIT(SEALED_MAX);
	struct err err = ERR_INIT;

	if (!auth_seal(key, text, &sealed, &err))
		abort();
	if (opens(buf_view(&sealed), &plain) != (text.len > 0) ||
	    (text.len && !span_eq(buf_view(&plain), text)))
		abort();
	change_digit(&sealed, at);
	if (opens(buf_view(&sealed), &plain) || plain.len)
		abort();
}

static void open_any(struct span text)
{
	_cleanup_buf_ struct buf sealed = BUF_INIT(SEALED_MAX), plain = BUF_INIT(SEALED_MAX);

	if (!opens(text, &plain)) {
		if (plain.len)
			abort();
		return;
	}
	/* NONCE:TAG:DATA, each byte two digits. */
	if (span_trim(text).len < 2 * (12 + 16 + plain.len) + 2)
		abort();
	buf_span(&sealed, span_trim(text));
	change_digit(&sealed, sealed.len - 1);
	if (opens(buf_view(&sealed), &plain))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span text = span_of((const char *)data, size > TEXT_MAX ? TEXT_MAX : size);

	if (text.len && (text.data[0] & 1))
		open_any(span_skip(text, 1));
	else if (text.len)
		seal_and_change(span_skip(text, 1), (size_t)(unsigned char)text.data[0] * 7);
	return 0;
}
