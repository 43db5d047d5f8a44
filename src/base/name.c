/* SPDX-License-Identifier: Apache-2.0 */
#include "base/name.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "base/unseen.h"

/* Bytes that have an escape. NUL has none: no name holds it. */
static bool has_escape(unsigned byte)
{
	return byte >= 0x7f || (byte > 0 && byte < 0x20) || byte == '<';
}

/* The byte that the text, which follows a backslash, is the "xNN" of; -1: none. */
static int byte_named(struct span text)
{
	int high, low;

	if (text.len < 3 || text.data[0] != 'x')
		return -1;
	high = ascii_hex(text.data[1]);
	low = ascii_hex(text.data[2]);
	return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* Whether a backslash before the text makes an escape of it: of a byte, of a character, or (x5c,
 * any number of times) of a backslash that would. */
static bool makes_escape(struct span text)
{
	uint32_t ignored;
	int byte;

	while ((byte = byte_named(text)) == '\\')
		text = span_skip(text, 3);
	return unseen_escape(text, &ignored) || (byte >= 0 && has_escape((unsigned)byte));
}

/* Whether the character is shown as it is, in a line. */
static bool fits_line(uint32_t code)
{
	return code >= ' ' && code != '<' && !(code >= 0x7f && code < 0xa0) && code != 0x2028 &&
	       code != 0x2029;
}

static void name_put_bytes(struct buf *out, struct span bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		buf_printf(out, "\\x%02x", (unsigned char)bytes.data[i]);
}

static void name_put(struct buf *out, struct span name, bool line)
{
	struct utf8_char c;

	while (utf8_next(&name, &c)) {
		bool escape = c.bad || (line && !fits_line(c.code)) ||
		              (c.code == '\\' && makes_escape(name));

		if (escape)
			name_put_bytes(out, c.bytes);
		else
			buf_span(out, c.bytes);
	}
}

void name_show(struct buf *out, struct span name)
{
	name_put(out, name, /* line= */ false);
}

void name_line(struct buf *out, struct span name)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(name.len * 4);

	name_put(&shown, name, /* line= */ true);
	unseen_show(out, buf_view(&shown));
}

/* Reads the escape that begins with the backslash before `text`; returns its length without
 * that. */
static size_t name_read_escape(struct buf *out, struct span text)
{
	int byte = byte_named(text);
	uint32_t code;
	char bytes[4];
	size_t len;

	if (byte >= 0) {
		buf_char(out, (char)byte);
		return 3;
	}
	len = unseen_escape(text, &code);
	buf_append(out, bytes, utf8_put(code, bytes));
	return len;
}

size_t name_read(struct buf *out, struct span shown)
{
	const char *slash;
	size_t count = 0;

	while (shown.len && (slash = memchr(shown.data, '\\', shown.len))) {
		size_t plain = (size_t)(slash - shown.data);

		buf_append(out, shown.data, plain);
		shown = span_skip(shown, plain + 1);
		if (!makes_escape(shown)) {
			buf_char(out, '\\');
			continue;
		}
		/* What follows x5c is the name's own up to the next backslash. */
		shown = span_skip(shown, name_read_escape(out, shown));
		count++;
	}
	buf_span(out, shown);
	return count;
}

char *name_from_shown(const char *shown)
{
	_cleanup_buf_ struct buf name = BUF_INIT(strlen(shown) + 1);

	name_read(&name, span_str(shown));
	return buf_steal(&name);
}
