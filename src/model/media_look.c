/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: PNG (W3C) 11.2.2, GIF89a 18, JPEG (T.81) B.2.2, WebP (RFC 9649) 2.5-2.7. */
#include "model/media_look.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Pictures of cameras have some tens of kilobytes of other things before their size; in the other
 * types it stands in the first bytes. */
enum { HEAD_BYTES = 256 << 10, SIZE_BYTES = 64 };

static int digit_of(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* At most so many of the first bytes; up to the first character that is no digit. */
static void decode_head(struct span base64, size_t most, struct buf *out)
{
	unsigned bits = 0, count = 0;

	for (size_t i = 0; i < base64.len && out->len < most; i++) {
		int digit = digit_of(base64.data[i]);

		if (digit < 0)
			return;
		bits = bits << 6 | (unsigned)digit;
		count += 6;
		if (count >= 8) {
			count -= 8;
			buf_char(out, (char)(bits >> count & 0xFF));
		}
	}
}

static unsigned byte_at(struct span bytes, size_t at)
{
	return at < bytes.len ? (unsigned char)bytes.data[at] : 0;
}

static unsigned big16(struct span bytes, size_t at)
{
	return byte_at(bytes, at) << 8 | byte_at(bytes, at + 1);
}

static unsigned little16(struct span bytes, size_t at)
{
	return byte_at(bytes, at + 1) << 8 | byte_at(bytes, at);
}

/* The first frame header: a marker C0 to CF that is no table. */
static bool look_jpeg(struct span bytes, struct media_look *ret)
{
	size_t at = 2;

	while (at + 9 < bytes.len && byte_at(bytes, at) == 0xFF) {
		unsigned marker = byte_at(bytes, at + 1);

		if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 &&
		    marker != 0xCC) {
			ret->height = big16(bytes, at + 5);
			ret->width = big16(bytes, at + 7);
			return true;
		}
		at += marker == 0xFF ? 1 : 2 + big16(bytes, at + 2);
	}
	return false;
}

static bool look_webp(struct span bytes, struct media_look *ret)
{
	struct span kind = span_head(span_skip(bytes, 12), 4);

	if (bytes.len < 30)
		return false;
	if (span_eq(kind, SPAN("VP8X"))) {
		ret->width = 1 + (little16(bytes, 24) | byte_at(bytes, 26) << 16);
		ret->height = 1 + (little16(bytes, 27) | byte_at(bytes, 29) << 16);
	} else if (span_eq(kind, SPAN("VP8L"))) {
		unsigned bits = little16(bytes, 21) | little16(bytes, 23) << 16;

		ret->width = 1 + (bits & 0x3FFF);
		ret->height = 1 + (bits >> 14 & 0x3FFF);
	} else {
		ret->width = little16(bytes, 26) & 0x3FFF;
		ret->height = little16(bytes, 28) & 0x3FFF;
	}
	return true;
}

bool media_look(struct span base64, struct media_look *ret)
{
	_cleanup_buf_ struct buf head = BUF_INIT(HEAD_BYTES + 4);
	struct span bytes;

	decode_head(base64, SIZE_BYTES, &head);
	if (span_starts(buf_view(&head), SPAN("\xFF\xD8"))) {
		buf_clear(&head);
		decode_head(base64, HEAD_BYTES, &head);
	}
	bytes = buf_view(&head);
	if (bytes.len >= 24 && span_starts(bytes, SPAN("\x89PNG\r\n\x1a\n"))) {
		ret->width = big16(bytes, 16) << 16 | big16(bytes, 18);
		ret->height = big16(bytes, 20) << 16 | big16(bytes, 22);
		return true;
	}
	if (bytes.len >= 10 && span_starts(bytes, SPAN("GIF8"))) {
		ret->width = little16(bytes, 6);
		ret->height = little16(bytes, 8);
		return true;
	}
	if (span_starts(bytes, SPAN("\xFF\xD8")))
		return look_jpeg(bytes, ret);
	if (span_starts(bytes, SPAN("RIFF")) &&
	    span_eq(span_head(span_skip(bytes, 8), 4), SPAN("WEBP")))
		return look_webp(bytes, ret);
	return false;
}
