/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of what a terminal sends.  Sequences are collected whole and looked up in tables; the
 * states are those of ECMA-48 (section 5.4) as a terminal's own parser has them.
 *
 * Sources: xterm's ctlseqs (keys, modifyOtherKeys, mouse), rxvt's and urxvt's manuals (finals $ ^
 * @, lower-case letters), console_codes(4) (CSI [ A), the Kitty keyboard protocol (CSI u).
 *
 * Deviations: an 8-bit C1 control is a byte that is not UTF-8, and dropped as such.  `$` ends a
 * sequence of one number (rxvt's Shift), although ECMA-48 has it as an intermediate.  A control
 * character in an answer (OSC, DCS) ends it and acts: no answer has one, and a lost end must not
 * swallow what a user types.
 */
#include "tui/term/private.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

struct keys *keys_new(void (*event)(void *data, const struct event *event), void *data)
{
	struct keys *keys = mem_alloc(1, sizeof(*keys));

	keys->event = event;
	keys->data = data;
	keys->sequence.max = ANSWER_MAX;
	keys->paste.max = KEYS_PASTE_BYTES_MAX;
	return keys;
}

void keys_free(struct keys *keys)
{
	if (!keys)
		return;
	buf_release(&keys->sequence);
	buf_release(&keys->paste);
	free(keys);
}

void keys_expect_cursor(struct keys *keys)
{
	keys->expects_cursor++;
}

/* ---- pastes ---- */

static void paste_byte(struct keys *keys, char byte)
{
	if (byte == '\n' && keys->paste_cr) {
		keys->paste_cr = false;
		return;
	}
	keys->paste_cr = byte == '\r';
	if (!keys->paste_cut && !buf_char(&keys->paste, byte == '\r' ? '\n' : byte))
		keys->paste_cut = true;
}

static void finish_paste(struct keys *keys)
{
	struct event event = { .kind = EVENT_PASTE, .on = keys->paste_cut };

	event.text = span_of(keys->paste.data ? keys->paste.data : "", keys->paste.len);
	if (keys->paste_cut)
		event.text = utf8_head(event.text, event.text.len - 1);
	keys->state = KEYS_GROUND;
	keys->event(keys->data, &event);
	buf_release(&keys->paste);
}

/* Takes bytes up to the end mark, or all. */
static size_t feed_paste(struct keys *keys, struct span bytes)
{
	static const char END[] = "\033[201~";
	size_t i = 0;

	while (i < bytes.len) {
		char byte = bytes.data[i++];

		if (byte == END[keys->mark]) {
			if (!END[++keys->mark]) {
				finish_paste(keys);
				break;
			}
			continue;
		}
		/* Esc stands only at the beginning of the mark. */
		for (unsigned k = 0; k < keys->mark; k++)
			paste_byte(keys, END[k]);
		keys->mark = byte == END[0];
		if (!keys->mark)
			paste_byte(keys, byte);
	}
	return i;
}

/* ---- bytes ---- */

static void feed_ground(struct keys *keys, unsigned char byte, unsigned mods);

static void feed_utf8(struct keys *keys, unsigned char byte)
{
	struct utf8_char whole;

	if ((byte & 0xc0) != 0x80) { /* the bytes until here are not a character */
		keys->state = KEYS_GROUND;
		feed_ground(keys, byte, 0);
		return;
	}
	keys->character[keys->have++] = (char)byte;
	if (keys->have < keys->need)
		return;
	keys->state = KEYS_GROUND;
	whole = utf8_first(span_of(keys->character, keys->have));
	if (!whole.bad && whole.bytes.len == keys->have &&
	    !(whole.code >= 0x80 && whole.code < 0xa0))
		sequence_send_key(keys, whole.code, keys->alt ? KEY_ALT : 0, whole.bytes);
}

static void feed_ground(struct keys *keys, unsigned char byte, unsigned mods)
{
	if (byte == 0x1b && !mods) {
		keys->state = KEYS_ESC;
		keys->alt = keys->flushed = false;
	} else if (byte < 0x20 || byte == 0x7f) {
		sequence_send_control(keys, byte, mods);
	} else if (byte < 0x80) {
		sequence_send_character(keys, byte, mods);
	} else if (byte >= 0xc2 && byte <= 0xf4) {
		keys->state = KEYS_UTF8;
		keys->alt = mods & KEY_ALT;
		keys->character[0] = (char)byte;
		keys->have = 1;
		keys->need = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
	}
}

static void feed_esc(struct keys *keys, unsigned char byte)
{
	buf_clear(&keys->sequence);
	buf_char(&keys->sequence, (char)byte);
	keys->flushed = false;
	switch (byte) {
	case 0x1b: /* rxvt's Alt before a sequence; or Esc twice */
		if (keys->alt)
			sequence_send_control(keys, 0x1b, 0);
		keys->alt = true;
		return;
	case '[':
		keys->state = KEYS_CSI;
		return;
	case 'O':
		keys->state = KEYS_SS3;
		return;
	case ']':
	case 'P':
	case 'X':
	case '^':
	case '_':
		keys->state = KEYS_STRING;
		return;
	}
	if (keys->alt)
		sequence_send_control(keys, 0x1b, 0);
	keys->state = KEYS_GROUND;
	feed_ground(keys, byte, KEY_ALT);
}

static void feed_csi(struct keys *keys, unsigned char byte)
{
	struct span seen = buf_view(&keys->sequence);

	if (byte < 0x20 || byte >= 0x7f) { /* cut off: the byte begins something else */
		keys->state = KEYS_GROUND;
		feed_ground(keys, byte, 0);
		return;
	}
	buf_char(&keys->sequence, (char)byte);
	if (seen.len == 1 && byte == '[') {
		keys->state = KEYS_LINUX;
	} else if (seen.len == 1 && byte == 'M') {
		keys->state = KEYS_MOUSE;
		keys->mouse = 3;
	} else if (byte >= 0x40) {
		sequence_end_csi(keys);
	} else if (byte == '$' && seen.len > 1 && seen.data[1] >= '0' && seen.data[1] <= '9' &&
	           !memchr(seen.data, ';', seen.len)) {
		sequence_end_csi(keys);
	}
}

static void feed_ss3(struct keys *keys, unsigned char byte)
{
	if (byte < 0x20 || byte >= 0x7f) {
		keys->state = KEYS_GROUND;
		feed_ground(keys, byte, 0);
		return;
	}
	buf_char(&keys->sequence, (char)byte);
	if (!(byte >= '0' && byte <= '9') && byte != ';')
		sequence_end_ss3(keys);
}

static void feed_linux(struct keys *keys, unsigned char byte)
{
	keys->state = KEYS_GROUND;
	if (byte < 0x20 || byte >= 0x7f)
		feed_ground(keys, byte, 0);
	else if (byte >= 'A' && byte <= 'E' && !keys->flushed)
		sequence_send_key(keys, KEY_F1 + byte - 'A', keys->alt ? KEY_ALT : 0,
		                  span_of("", 0));
}

static void feed_string(struct keys *keys, unsigned char byte)
{
	bool after_esc = keys->state == KEYS_STRING_ESC;

	if (byte == '\a' || (after_esc && byte == '\\')) {
		sequence_end_string(keys);
	} else if (after_esc) { /* the string was cut off, and something begins */
		keys->state = KEYS_ESC;
		keys->alt = false;
		feed_esc(keys, byte);
	} else if (byte == 0x1b) {
		keys->state = KEYS_STRING_ESC;
		keys->flushed = false;
	} else if (byte < 0x20 || byte == 0x7f) {
		keys->state = KEYS_GROUND;
		feed_ground(keys, byte, 0);
	} else {
		buf_char(&keys->sequence, (char)byte);
	}
}

static void feed_byte(struct keys *keys, unsigned char byte)
{
	switch (keys->state) {
	case KEYS_GROUND:
		feed_ground(keys, byte, 0);
		break;
	case KEYS_UTF8:
		feed_utf8(keys, byte);
		break;
	case KEYS_ESC:
		feed_esc(keys, byte);
		break;
	case KEYS_CSI:
		feed_csi(keys, byte);
		break;
	case KEYS_SS3:
		feed_ss3(keys, byte);
		break;
	case KEYS_LINUX:
		feed_linux(keys, byte);
		break;
	case KEYS_MOUSE:
		if (--keys->mouse == 0)
			keys->state = KEYS_GROUND;
		break;
	default:
		feed_string(keys, byte);
	}
}

void keys_feed(struct keys *keys, struct span bytes)
{
	while (bytes.len) {
		size_t taken = 1;

		if (keys->state == KEYS_PASTE)
			taken = feed_paste(keys, bytes);
		else
			feed_byte(keys, (unsigned char)bytes.data[0]);
		bytes = span_skip(bytes, taken);
	}
}

bool keys_pending(const struct keys *keys)
{
	switch (keys->state) {
	case KEYS_ESC:
	case KEYS_STRING_ESC:
		return true;
	case KEYS_CSI:
	case KEYS_SS3:
	case KEYS_LINUX:
	case KEYS_MOUSE:
	case KEYS_STRING:
		return !keys->flushed;
	default:
		return false;
	}
}

/* A lone introducer was Alt with that character. The rest of a sequence that has started is still
 * awaited, and dropped with it: it is never taken for typed text. */
void keys_flush(struct keys *keys)
{
	enum keys_state state = keys->state;

	if (!keys_pending(keys))
		return;
	if (state == KEYS_ESC || state == KEYS_STRING_ESC) {
		keys->state = KEYS_GROUND;
		if (state == KEYS_ESC && keys->alt)
			sequence_send_control(keys, 0x1b, 0);
		sequence_send_control(keys, 0x1b, 0);
	} else if (keys->sequence.len == 1) {
		keys->state = KEYS_GROUND;
		if (keys->alt)
			sequence_send_control(keys, 0x1b, 0);
		sequence_send_character(keys, (unsigned char)keys->sequence.data[0], KEY_ALT);
	} else if (state == KEYS_MOUSE) {
		keys->state = KEYS_GROUND;
	} else {
		keys->flushed = true;
	}
}
