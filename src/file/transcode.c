/* SPDX-License-Identifier: Apache-2.0 */
/* iconv over bounded buffers, and lines in encodings other than UTF-8. */
#include <errno.h>
#include <string.h>

#include "file/encoding.h"

void transcoder_close(struct transcoder *transcoder)
{
	if (transcoder->decode != (iconv_t)-1)
		iconv_close(transcoder->decode);
	if (transcoder->encode != (iconv_t)-1)
		iconv_close(transcoder->encode);
	*transcoder = (struct transcoder)TRANSCODER_INIT;
}

bool transcoder_open(const char *name, struct transcoder *ret)
{
	struct transcoder transcoder = {
		.decode = iconv_open("UTF-8", name),
		.encode = iconv_open(name, "UTF-8"),
		.unit = encoding_unit(name),
	};

	if (transcoder.decode == (iconv_t)-1 || transcoder.encode == (iconv_t)-1) {
		transcoder_close(&transcoder);
		return false;
	}
	*ret = transcoder;
	return true;
}

/* One call of iconv with room for `room` bytes; `in` NULL flushes the shift state. */
static enum transcode_result step(iconv_t conversion, char **in, size_t *left,
                                  struct buf *out, size_t room)
{
	char *end = buf_reserve(out, room);
	char *start = end;
	size_t done;

	if (!end)
		return TRANSCODE_OVERFLOW;
	errno = 0;
	done = iconv(conversion, in, left, &end, &room);
	out->len += (size_t)(end - start);
	out->data[out->len] = '\0';
	/* A count above 0 tells of characters replaced by look-alikes: not the same text. */
	if (done == (size_t)-1 && errno == E2BIG)
		return TRANSCODE_OK;
	return done == 0 ? TRANSCODE_OK : TRANSCODE_INVALID;
}

enum transcode_result transcode(iconv_t conversion, struct span in, struct buf *out,
                                size_t *ret_at)
{
	char *at = (char *)in.data; /* iconv only reads there */
	size_t left = in.len;
	enum transcode_result result = TRANSCODE_OK;

	iconv(conversion, NULL, NULL, NULL, NULL);
	while (left && result == TRANSCODE_OK)
		result = step(conversion, &at, &left, out, left + left / 2 + 16);
	if (result == TRANSCODE_OK)
		result = step(conversion, NULL, NULL, out, 16);
	*ret_at = in.len - left;
	return result;
}

size_t encoding_line_len(struct span rest, size_t unit, bool big_endian)
{
	static const char zeros[4] = { 0 };
	size_t lead = big_endian ? unit - 1 : 0; /* bytes of the unit before the 0x0A */
	size_t at = 0;

	while (at < rest.len) {
		const char *feed = memchr(rest.data + at, '\n', rest.len - at);
		size_t start;

		if (!feed)
			return rest.len;
		at = (size_t)(feed - rest.data);
		start = at - at % unit;
		if (at % unit == lead && start + unit <= rest.len &&
		    memcmp(rest.data + start, zeros, lead) == 0 &&
		    memcmp(rest.data + at + 1, zeros, unit - 1 - lead) == 0)
			return start + unit;
		at++;
	}
	return rest.len;
}
