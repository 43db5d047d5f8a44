/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, read and written by the character. */
#include "base/text.h"

#include <string.h>

/* The length of the character at the start of `text`; 0 when it is none. */
static size_t utf8_decode(struct span text, uint32_t *ret_code_point)
{
	const unsigned char *s = (const unsigned char *)text.data;
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len;
	uint32_t code;

	if (s[0] < 0x80) {
		*ret_code_point = s[0];
		return 1;
	}
	if (s[0] >= 0xC2 && s[0] <= 0xDF)
		len = 2;
	else if (s[0] >= 0xE0 && s[0] <= 0xEF)
		len = 3;
	else if (s[0] >= 0xF0 && s[0] <= 0xF4)
		len = 4;
	else
		return 0;
	if (text.len < len)
		return 0;
	code = s[0] & (0xFFu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xC0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3F);
	}
	if (code < smallest[len] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
		return 0;
	*ret_code_point = code;
	return len;
}

struct utf8_char utf8_first(struct span text)
{
	struct utf8_char c;
	size_t len = utf8_decode(text, &c.code);

	c.bad = len == 0;
	if (c.bad)
		c.code = 0xFFFD;
	c.bytes = span_of(text.data, len ? len : 1);
	return c;
}

bool utf8_next(struct span *rest, struct utf8_char *ret)
{
	if (!rest->len)
		return false;
	*ret = utf8_first(*rest);
	*rest = span_skip(*rest, ret->bytes.len);
	return true;
}

size_t utf8_put(uint32_t code_point, char out[static 4])
{
	if (code_point < 0x80) {
		out[0] = (char)code_point;
		return 1;
	}
	if (code_point < 0x800) {
		out[0] = (char)(0xC0 | code_point >> 6);
		out[1] = (char)(0x80 | (code_point & 0x3F));
		return 2;
	}
	if (code_point < 0x10000) {
		out[0] = (char)(0xE0 | code_point >> 12);
		out[1] = (char)(0x80 | (code_point >> 6 & 0x3F));
		out[2] = (char)(0x80 | (code_point & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | code_point >> 18);
	out[1] = (char)(0x80 | (code_point >> 12 & 0x3F));
	out[2] = (char)(0x80 | (code_point >> 6 & 0x3F));
	out[3] = (char)(0x80 | (code_point & 0x3F));
	return 4;
}

/* ---- validity ----------------------------------------------------------- */

/* The first byte that is not ASCII, eight at a time. */
static const unsigned char *skip_ascii(const unsigned char *at, const unsigned char *end)
{
	while (end - at >= 8) {
		uint64_t word;

		memcpy(&word, at, sizeof(word));
		if (word & 0x8080808080808080u)
			break;
		at += 8;
	}
	while (at < end && *at < 0x80)
		at++;
	return at;
}

static bool utf8_continues(unsigned char byte)
{
	return (byte & 0xC0) == 0x80;
}

/* Skips sequences of two and three bytes as long as they follow one another: the letters of
 * one alphabet, a hundred times as many as all others. `end` leaves room to look ahead. */
static const unsigned char *skip_common(const unsigned char *at, const unsigned char *end)
{
	while (end - at >= 4) {
		if (at[0] >= 0xC2 && at[0] <= 0xDF && utf8_continues(at[1]))
			at += 2;
		else if (at[0] > 0xE0 && at[0] < 0xF0 && at[0] != 0xED && utf8_continues(at[1]) &&
		         utf8_continues(at[2]))
			at += 3;
		else
			break;
	}
	return at;
}

bool utf8_valid(struct span text)
{
	const unsigned char *at = (const unsigned char *)text.data;
	const unsigned char *end = text.len ? at + text.len : at;

	while (at < end) {
		struct span rest;
		uint32_t code;
		size_t len;

		at = skip_common(skip_ascii(at, end), end);
		if (at == end)
			break;
		rest = span_of((const char *)at, (size_t)(end - at));
		len = utf8_decode(rest, &code);
		if (!len)
			return false;
		at += len;
	}
	return true;
}

struct span utf8_head(struct span text, size_t max)
{
	size_t len = max;

	if (text.len <= max)
		return text;
	while (len && ((unsigned char)text.data[len] & 0xC0) == 0x80)
		len--;
	return span_head(text, len);
}
