/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdlib.h>

#include "base/mem.h"

size_t lines_count(struct span text)
{
	size_t count = 0;
	const char *at = text.data;
	const char *end = at ? at + text.len : at;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		count++;
		at = newline ? newline + 1 : end;
	}
	return count;
}

void lines_index(struct lines *lines, struct span text)
{
	size_t cap = text.len / 40 + 2; /* source lines are about 30 bytes long */
	size_t at = 0;

	lines->text = text;
	lines->count = 0;
	lines->starts = mem_grow(NULL, &cap, cap, sizeof(*lines->starts));
	lines->starts[0] = 0;
	while (at < text.len) {
		const char *newline = memchr(text.data + at, '\n', text.len - at);

		at = newline ? (size_t)(newline - text.data) + 1 : text.len;
		lines->count++;
		if (lines->count >= cap)
			lines->starts = mem_grow(lines->starts, &cap, lines->count + 1,
			                         sizeof(*lines->starts));
		lines->starts[lines->count] = at;
	}
}

void lines_release(struct lines *lines)
{
	free(lines->starts);
	*lines = (struct lines){ 0 };
}

bool line_next(struct span *rest, struct span *ret_line)
{
	const char *newline;
	size_t len;

	if (!rest->len)
		return false;
	newline = memchr(rest->data, '\n', rest->len);
	len = newline ? (size_t)(newline - rest->data) + 1 : rest->len;
	*ret_line = span_head(*rest, len);
	*rest = span_skip(*rest, len);
	return true;
}

size_t utf8_decode(struct span text, uint32_t *ret_code_point)
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

size_t utf8_encode(uint32_t code_point, char out[static 4])
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

/* The first byte that is not ASCII, eight at a time. */
static size_t skip_ascii(struct span text, size_t at)
{
	while (at + 8 <= text.len) {
		uint64_t word;

		memcpy(&word, text.data + at, sizeof(word));
		if (word & 0x8080808080808080u)
			break;
		at += 8;
	}
	while (at < text.len && (unsigned char)text.data[at] < 0x80)
		at++;
	return at;
}

bool utf8_valid(struct span text)
{
	size_t at = skip_ascii(text, 0);

	while (at < text.len) {
		uint32_t code;
		size_t len = utf8_decode(span_skip(text, at), &code);

		if (!len)
			return false;
		at = skip_ascii(text, at + len);
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
