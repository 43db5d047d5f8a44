/* SPDX-License-Identifier: Apache-2.0 */
/* What of a command's bytes reaches the emulator: text, the usual controls, and control sequences
 * that are complete, of known shape, and whose numbers are small (ECMA-48, section 5.4).  Strings
 * (OSC, DCS, APC, PM, SOS) are dropped up to their end, however long they are.
 *
 *     ground --ESC--> escape --[--> csi --final--> ground
 *                            --] P X ^ _--> string --BEL, ESC \--> ground
 *                            --0x20-0x2F--> charset --0x30-0x7E--> ground
 * CAN and SUB end any of them; other controls inside a sequence are handed on immediately. */
#include <string.h>
#include <utf8proc.h>

#include "base/text.h"
#include "tui/emulator/emulator.h"

enum { GROUND, ESCAPE, CHARSET, CSI, CSI_DROPPED, TEXT, TEXT_ESCAPE };

enum { SEPARATORS_MAX = 14, INTERMEDIATES_MAX = 2 };

/* Those that change the screen or its modes; no reports that answer with what was sent. */
static bool is_known_escape(unsigned char c)
{
	return strchr("78=>cDEHMNO", c) != NULL;
}

static void guard_begin(struct emulator_guard *guard, int state)
{
	guard->state = state;
	guard->len = 0;
}

static void put_small_number(struct buf *out, struct span digits)
{
	unsigned number = 0;

	for (size_t i = 0; i < digits.len && number <= GUARD_NUMBER_MAX; i++)
		number = number * 10 + (unsigned)(digits.data[i] - '0');
	buf_printf(out, "%u", number < GUARD_NUMBER_MAX ? number : GUARD_NUMBER_MAX);
}

/* Whether a sequence has a marker at most, then numbers, then intermediates. */
static bool is_shaped(struct span held)
{
	size_t at = held.len && strchr("<=>?", held.data[0]) ? 1 : 0;
	unsigned separators = 0, intermediates = 0;

	for (; at < held.len && held.data[at] >= '0' && held.data[at] <= ';'; at++)
		separators += held.data[at] > '9';
	for (; at < held.len && held.data[at] < '0'; at++)
		intermediates++;
	return at == held.len && separators <= SEPARATORS_MAX &&
	       intermediates <= INTERMEDIATES_MAX;
}

static bool is_affordable(struct emulator_guard *guard, bool heavy)
{
	guard->heavy += heavy;
	return !heavy || guard->heavy <= GUARD_HEAVY_MAX;
}

/* REP.  libvterm 0.1 never ends when there is nothing that can be repeated. */
static void put_again(const struct emulator_guard *guard, struct buf *out)
{
	unsigned count = 0;

	for (size_t i = 0; i < guard->len && count < GUARD_REPEAT_MAX; i++)
		if (ascii_is_digit((unsigned char)guard->held[i]))
			count = count * 10 + (unsigned)(guard->held[i] - '0');
	count = count < 1 ? 1 : count > GUARD_REPEAT_MAX ? GUARD_REPEAT_MAX : count;
	while (guard->last_len && count--)
		buf_span(out, span_of(guard->last, guard->last_len));
}

static void put_csi(struct emulator_guard *guard, char final, struct buf *out)
{
	struct span rest = span_of(guard->held, guard->len);

	if (final == 't' || !is_shaped(rest) || !is_affordable(guard, strchr("@JLMPSTbhl", final)))
		return; /* t: the window's */
	if (final == 'b') {
		put_again(guard, out);
		return;
	}
	buf_str(out, "\33[");
	while (rest.len) {
		size_t digits = 0;

		while (digits < rest.len && ascii_is_digit((unsigned char)rest.data[digits]))
			digits++;
		if (digits)
			put_small_number(out, span_head(rest, digits));
		else
			buf_char(out, rest.data[0]);
		rest = span_skip(rest, digits ? digits : 1);
	}
	buf_char(out, final);
}

static void guard_csi(struct emulator_guard *guard, unsigned char c, struct buf *out)
{
	if (c >= 0x20 && c <= 0x3F) {
		if (guard->len < sizeof(guard->held))
			guard->held[guard->len++] = (char)c;
		else
			guard->state = CSI_DROPPED;
		return;
	}
	if (c >= 0x40 && c <= 0x7E && guard->state == CSI)
		put_csi(guard, (char)c, out);
	guard_begin(guard, GROUND);
}

static void guard_escape(struct emulator_guard *guard, unsigned char c, struct buf *out)
{
	guard_begin(guard, GROUND);
	if (c == '[')
		guard_begin(guard, CSI);
	else if (c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_')
		guard_begin(guard, TEXT);
	else if (c >= 0x20 && c <= 0x2F) {
		guard->state = CHARSET;
		guard->held[guard->len++] = (char)c;
	} else if (is_known_escape(c) && is_affordable(guard, strchr("cDEM", c))) {
		buf_char(out, '\33');
		buf_char(out, (char)c);
	}
}

/* ESC ( B and the like, and the test pattern. */
static void guard_charset(struct emulator_guard *guard, unsigned char c, struct buf *out)
{
	const char first = guard->held[0];

	guard_begin(guard, GROUND);
	if (!((first == '(' || first == ')') && strchr("0AB", c)) &&
	    !(first == '#' && c == '8' && is_affordable(guard, /* heavy= */ true)))
		return;
	buf_char(out, '\33');
	buf_char(out, first);
	buf_char(out, (char)c);
}

static size_t character_bytes_of(unsigned char lead)
{
	return lead >= 0xF0 && lead < 0xF5 ? 4 : lead >= 0xE0 && lead < 0xF0 ? 3 :
	       lead >= 0xC2 && lead < 0xE0 ? 2 : 1;
}

/* What may combine with the character before it, by any table: marks, formats, medial Jamo. */
static bool is_mark(uint32_t code)
{
	const utf8proc_category_t kind = utf8proc_category((utf8proc_int32_t)code);

	return code >= 0xA0 && (utf8proc_charwidth((utf8proc_int32_t)code) <= 0 ||
	                        kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_MC ||
	                        kind == UTF8PROC_CATEGORY_ME || kind == UTF8PROC_CATEGORY_CF ||
	                        (code >= 0x1160 && code <= 0x11FF));
}

/* libvterm keeps all marks of a character, however many. */
static void guard_put(struct emulator_guard *guard, const struct utf8_char *read, struct buf *out)
{
	const bool control = read->code < 0x20 || read->code == 0x7F;
	const bool mark = is_mark(read->code);

	if (mark && ++guard->marks > GUARD_MARKS_MAX)
		return;
	buf_span(out, read->bytes);
	guard->last_len = 0;
	if (mark || control)
		return;
	guard->marks = 0;
	memcpy(guard->last, read->bytes.data, read->bytes.len);
	guard->last_len = read->bytes.len;
}

/* Characters are handed on whole: libvterm 0.1 loses those that come in two pieces.  C1 controls as
 * characters, U+0080 to U+009F, are none for a terminal of UTF-8. */
static void guard_character(struct emulator_guard *guard, unsigned char c, struct buf *out)
{
	struct utf8_char read;

	guard->held[guard->len++] = (char)c;
	if (guard->len < character_bytes_of((unsigned char)guard->held[0]))
		return;
	read = utf8_first(span_of(guard->held, guard->len));
	if (read.bad)
		buf_str(out, "\xEF\xBF\xBD");
	else if (read.code < 0x80 || read.code >= 0xA0)
		guard_put(guard, &read, out);
	guard_begin(guard, GROUND);
}

static void guard_ground(struct emulator_guard *guard, unsigned char c, struct buf *out)
{
	if (guard->len && (c & 0xC0) != 0x80) { /* it was cut off */
		buf_str(out, "\xEF\xBF\xBD");
		guard_begin(guard, GROUND);
	}
	guard_character(guard, c, out);
}

static void guard_text(struct emulator_guard *guard, unsigned char c)
{
	if (guard->state == TEXT_ESCAPE)
		guard->state = c == '\\' ? GROUND : c == 0x1B ? TEXT_ESCAPE : TEXT;
	else if (c == 0x1B)
		guard->state = TEXT_ESCAPE;
	else if (c == 0x07)
		guard->state = GROUND;
}

static void guard_next(struct emulator_guard *guard, unsigned char c, struct buf *out)
{
	const bool text = guard->state == TEXT || guard->state == TEXT_ESCAPE;

	if (c == 0x18 || c == 0x1A) {
		guard_begin(guard, GROUND);
	} else if (text) {
		guard_text(guard, c);
	} else if (c == 0x1B) {
		if (guard->state == GROUND && guard->len)
			buf_str(out, "\xEF\xBF\xBD");
		guard_begin(guard, ESCAPE);
	} else if (guard->state == GROUND) {
		guard_ground(guard, c, out);
	} else if (c < 0x20) {
		buf_char(out, (char)c);
	} else if (guard->state == ESCAPE) {
		guard_escape(guard, c, out);
	} else if (guard->state == CHARSET) {
		guard_charset(guard, c, out);
	} else {
		guard_csi(guard, c, out);
	}
}

void guard_feed(struct emulator_guard *guard, struct span bytes, struct buf *out)
{
	for (size_t i = 0; i < bytes.len; i++) {
		guard_next(guard, (unsigned char)bytes.data[i], out);
		if (++guard->bytes == GUARD_HEAVY_BYTES)
			guard->bytes = guard->heavy = 0;
	}
}
