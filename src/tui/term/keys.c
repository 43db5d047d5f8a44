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

/* ---- events ---- */

/* A letter with Ctrl, Alt or Meta is in lower case, and Shift a modifier; other characters are as
 * they were typed, and Shift is in them. */
static void sequence_send_key(struct keys *keys, uint32_t code, unsigned mods, struct span text)
{
	struct event event = { .kind = EVENT_KEY };

	if (code < KEY_ENTER) {
		bool upper = code >= 'A' && code <= 'Z';

		if (mods & MODS_CONTROL) {
			if (upper) {
				code += 'a' - 'A';
				mods |= KEY_SHIFT;
			} else if (!(code >= 'a' && code <= 'z')) {
				mods &= (unsigned)~KEY_SHIFT;
			}
			text.len = 0;
		} else {
			mods &= (unsigned)~KEY_SHIFT;
		}
	} else {
		text.len = 0;
	}
	event.key = (struct key){ .code = code, .mods = (uint8_t)mods, .text = text };
	keys->event(keys->data, &event);
}

/* Sends a character as the key that types it. */
static void sequence_send_character(struct keys *keys, uint32_t code, unsigned mods)
{
	char bytes[4];

	sequence_send_key(keys, code, mods, span_of(bytes, utf8_put(code, bytes)));
}

/* One byte below 0x20, or 0x7f. */
static void sequence_send_control(struct keys *keys, unsigned char byte, unsigned mods)
{
	switch (byte) {
	case '\r':
		sequence_send_key(keys, KEY_ENTER, mods, span_of("", 0));
		break;
	case '\t':
		sequence_send_key(keys, KEY_TAB, mods, span_of("", 0));
		break;
	case 0x1b:
		sequence_send_key(keys, KEY_ESC, mods, span_of("", 0));
		break;
	case 0x7f:
		sequence_send_key(keys, KEY_BACKSPACE, mods, span_of("", 0));
		break;
	case 0:
		sequence_send_character(keys, ' ', mods | KEY_CTRL);
		break;
	default:
		/* Ctrl+A to Ctrl+Z, and Ctrl with \ ] ^ _ */
		sequence_send_character(keys, byte + (byte <= 26 ? 'a' - 1u : '@' + 0u),
		                        mods | KEY_CTRL);
	}
}

/* ---- tables ---- */

struct final_key {
	char final;
	uint32_t code;
	uint8_t mods;
};

/* CSI ... final, and SS3 final: what xterm calls cursor keys, editing keys and PF1 to PF4. */
static const struct final_key final_keys[] = {
	{ 'A', KEY_UP, 0 },       { 'B', KEY_DOWN, 0 },      { 'C', KEY_RIGHT, 0 },
	{ 'D', KEY_LEFT, 0 },     { 'F', KEY_END, 0 },       { 'H', KEY_HOME, 0 },
	{ 'P', KEY_F1, 0 },       { 'Q', KEY_F1 + 1, 0 },    { 'R', KEY_F1 + 2, 0 },
	{ 'S', KEY_F1 + 3, 0 },   { 'Z', KEY_TAB, KEY_SHIFT },
};

/* rxvt: CSI with Shift, SS3 with Ctrl. */
static const struct final_key rxvt_keys[] = {
	{ 'a', KEY_UP, 0 }, { 'b', KEY_DOWN, 0 }, { 'c', KEY_RIGHT, 0 }, { 'd', KEY_LEFT, 0 },
};

/* SS3: the keypad of a VT220 in application mode. */
static const struct final_key keypad_keys[] = {
	{ 'M', KEY_ENTER, 0 }, { 'I', KEY_TAB, 0 }, { ' ', ' ', 0 },  { 'X', '=', 0 },
	{ 'j', '*', 0 },       { 'k', '+', 0 },     { 'l', ',', 0 },  { 'm', '-', 0 },
	{ 'n', '.', 0 },       { 'o', '/', 0 },     { 'p', '0', 0 },  { 'q', '1', 0 },
	{ 'r', '2', 0 },       { 's', '3', 0 },     { 't', '4', 0 },  { 'u', '5', 0 },
	{ 'v', '6', 0 },       { 'w', '7', 0 },     { 'x', '8', 0 },  { 'y', '9', 0 },
};

/* CSI number ~, and rxvt's $ ^ @ in its place; 0: no such key. */
static const uint32_t number_keys[] = {
	[1] = KEY_HOME,        [2] = KEY_INSERT,      [3] = KEY_DELETE,      [4] = KEY_END,
	[5] = KEY_PAGE_UP,     [6] = KEY_PAGE_DOWN,   [7] = KEY_HOME,        [8] = KEY_END,
	[11] = KEY_F1,         [12] = KEY_F1 + 1,     [13] = KEY_F1 + 2,     [14] = KEY_F1 + 3,
	[15] = KEY_F1 + 4,     [17] = KEY_F1 + 5,     [18] = KEY_F1 + 6,     [19] = KEY_F1 + 7,
	[20] = KEY_F1 + 8,     [21] = KEY_F1 + 9,     [23] = KEY_F1 + 10,    [24] = KEY_F1 + 11,
	[25] = KEY_F1 + 12,    [26] = KEY_F1 + 13,    [28] = KEY_F1 + 14,    [29] = KEY_F1 + 15,
	[31] = KEY_F1 + 16,    [32] = KEY_F1 + 17,    [33] = KEY_F1 + 18,    [34] = KEY_F1 + 19,
};

/* Kitty's functional keys, from 57376: F13 to F35, then the keypad. A character below 128 is
 * typed. */
enum { KITTY_FIRST = 57376, KITTY_PRIVATE_FIRST = 57344, KITTY_PRIVATE_LAST = 63743 };
static const uint32_t kitty_keys[] = {
	KEY_F1 + 12, KEY_F1 + 13, KEY_F1 + 14, KEY_F1 + 15, KEY_F1 + 16, KEY_F1 + 17,
	KEY_F1 + 18, KEY_F1 + 19, KEY_F1 + 20, KEY_F1 + 21, KEY_F1 + 22, KEY_F1 + 23,
	KEY_F1 + 24, KEY_F1 + 25, KEY_F1 + 26, KEY_F1 + 27, KEY_F1 + 28, KEY_F1 + 29,
	KEY_F1 + 30, KEY_F1 + 31, KEY_F1 + 32, KEY_F1 + 33, KEY_F35,
	'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', '/', '*', '-', '+',
	KEY_ENTER, '=', ',', KEY_LEFT, KEY_RIGHT, KEY_UP, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN,
	KEY_HOME, KEY_END, KEY_INSERT, KEY_DELETE,
};

static const struct final_key *find_final(const struct final_key *table, size_t count, char final)
{
	for (size_t i = 0; i < count; i++)
		if (table[i].final == final)
			return &table[i];
	return NULL;
}

/* ---- sequences ---- */

/* The numbers of a sequence: param 1:2;3 has at[0] = {1, 2}, at[1] = {3}. */
struct params {
	unsigned at[PARAMS_MAX][4]; /* 0 where there is none */
	unsigned count;
	struct span last; /* the third one, as it stands: text may have many parts */
};

static void read_numbers(struct span text, struct params *ret)
{
	unsigned part = 0;

	memset(ret, 0, sizeof(*ret));
	if (!text.len)
		return;
	ret->count = 1;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (c == ';' && ret->count == PARAMS_MAX)
			return;
		if (c == ';') {
			ret->count++;
			part = 0;
			if (ret->count == 3)
				ret->last = span_skip(text, i + 1);
		} else if (c == ':') {
			part++;
		} else if (c >= '0' && c <= '9' && part < 4) {
			unsigned *number = &ret->at[ret->count - 1][part];

			if (*number < 0x1000000)
				*number = *number * 10 + (unsigned)(c - '0');
		}
	}
}

/* xterm's and Kitty's parameter: 1 + bits of Shift, Alt, Ctrl, then Super, Hyper, Meta (xterm: Meta
 * is the first of them), Caps Lock and Num Lock. */
static unsigned read_mods(unsigned parameter)
{
	unsigned bits = parameter ? parameter - 1 : 0;
	unsigned mods = bits & (KEY_SHIFT | KEY_ALT | KEY_CTRL);

	return bits & 0x38 ? mods | KEY_META : mods;
}

/* Scalar values separated by colons, as UTF-8. */
static void read_codes(struct span text, struct buf *out)
{
	while (text.len) {
		unsigned code = 0;
		char bytes[4];
		size_t i = 0;

		for (; i < text.len && text.data[i] >= '0' && text.data[i] <= '9'; i++)
			if (code < 0x200000)
				code = code * 10 + (unsigned)(text.data[i] - '0');
		if (code >= 0x20 && code != 0x7f && !(code >= 0x80 && code < 0xa0) &&
		    code < 0x110000 && !(code >= 0xd800 && code < 0xe000))
			buf_append(out, bytes, utf8_put(code, bytes));
		text = span_skip(text, i + 1);
	}
}

/* A key named by its code point (CSI u, modifyOtherKeys), with what Shift makes of it and what
 * stands in its place on a US keyboard (0: not said), and with the text it types (empty: not
 * said). */
static void send_code(struct keys *keys, uint32_t code, const unsigned *others, unsigned mods,
                      struct span text)
{
	if (code == '\r' || code == '\t' || code == 0x1b || code == 0x7f) {
		sequence_send_control(keys, (unsigned char)code, mods);
		return;
	}
	if (code == '\b') {
		sequence_send_key(keys, KEY_BACKSPACE, mods, text);
		return;
	}
	if (code >= KITTY_FIRST && code - KITTY_FIRST < ARRAY_LEN(kitty_keys)) {
		code = kitty_keys[code - KITTY_FIRST];
		if (code >= KEY_ENTER) {
			sequence_send_key(keys, code, mods, text);
			return;
		}
	}
	if (code < 0x20 || code >= 0x110000 || (code >= 0xd800 && code < 0xe000) ||
	    (code >= 0x7f && code < 0xa0) ||
	    (code >= KITTY_PRIVATE_FIRST && code <= KITTY_PRIVATE_LAST))
		return;
	if (mods & MODS_CONTROL && code > 0x7f && others[1])
		code = others[1]; /* Ctrl+C of a Cyrillic keyboard */
	else if (mods & KEY_SHIFT && others[0] &&
	         !(code >= 'a' && code <= 'z' && mods & MODS_CONTROL))
		code = others[0];
	if (code >= KEY_ENTER || code < 0x20 || (code >= 0xd800 && code < 0xe000))
		return;
	if (mods & KEY_SHIFT && !(mods & MODS_CONTROL) && code >= 'a' && code <= 'z')
		code -= 'a' - 'A';
	if (text.len)
		sequence_send_key(keys, code, mods, text);
	else
		sequence_send_character(keys, code, mods);
}

/* CSI code:shifted:base ; mods:event ; text u */
static void finish_csi_u(struct keys *keys, const struct params *params, unsigned alt)
{
	_cleanup_buf_ struct buf text = BUF_INIT(SEQUENCE_MAX);

	if (params->at[1][1] == 3)
		return; /* let go */
	read_codes(params->last, &text);
	send_code(keys, params->at[0][0], &params->at[0][1], read_mods(params->at[1][0]) | alt,
	          span_of(text.data ? text.data : "", text.len));
}

static void begin_paste(struct keys *keys)
{
	keys->state = KEYS_PASTE;
	keys->mark = 0;
	keys->paste_cr = keys->paste_cut = false;
	buf_clear(&keys->paste);
}

/* A terminal's answer, and a paste, are not what Alt is held for: the Esc before them was a key. */
static void send_esc_before(struct keys *keys)
{
	if (keys->alt)
		sequence_send_control(keys, 0x1b, 0);
	keys->alt = false;
}

/* `final`: ~, or rxvt's Shift ($), Ctrl (^) or both (@). */
static void finish_number(struct keys *keys, const struct params *params, char final, unsigned alt)
{
	unsigned number = params->at[0][0], mods = read_mods(params->at[1][0]) | alt;
	static const unsigned none[2];

	if (final == '~' && number == 200) {
		send_esc_before(keys);
		begin_paste(keys);
		return;
	}
	if (final == '~' && number == 27 && params->count >= 3) {
		send_code(keys, params->at[2][0], none, mods, span_of("", 0));
		return;
	}
	if (params->at[1][1] == 3)
		return;
	if (final == '$' || final == '@')
		mods |= KEY_SHIFT;
	if (final == '^' || final == '@')
		mods |= KEY_CTRL;
	if (number < ARRAY_LEN(number_keys) && number_keys[number])
		sequence_send_key(keys, number_keys[number], mods, span_of("", 0));
}

/* The whole sequence is an answer, with its beginning and without the end of a string. */
static void send_reply(struct keys *keys, enum event_kind kind, uint32_t rgb)
{
	_cleanup_buf_ struct buf whole = BUF_INIT(ANSWER_MAX + 1);
	struct event event = { .kind = kind, .rgb = rgb };

	send_esc_before(keys);
	buf_char(&whole, 0x1b);
	buf_span(&whole, buf_view(&keys->sequence));
	event.text = buf_view(&whole);
	keys->event(keys->data, &event);
}

static void send_cursor(struct keys *keys, unsigned row, unsigned column)
{
	struct event event = { .kind = EVENT_CURSOR, .row = row, .column = column };

	send_esc_before(keys);
	if (keys->expects_cursor)
		keys->expects_cursor--;
	keys->event(keys->data, &event);
}

static void send_focus(struct keys *keys, bool on)
{
	struct event event = { .kind = EVENT_FOCUS, .on = on };

	send_esc_before(keys);
	keys->event(keys->data, &event);
}

/* CSI without a private mark; `body` is what stands before the final. */
static void finish_plain_csi(struct keys *keys, struct span body, char final, unsigned alt)
{
	const struct final_key *key = find_final(final_keys, ARRAY_LEN(final_keys), final);
	struct params params;

	read_numbers(body, &params);
	if ((final == 'I' || final == 'O') && !body.len) {
		send_focus(keys, final == 'I');
	} else if (final == 'u') {
		finish_csi_u(keys, &params, alt);
	} else if (strchr("~^$@", final)) {
		finish_number(keys, &params, final, alt);
	} else if (final == 'R' && params.count == 2 &&
	           (params.at[0][0] != 1 || params.at[1][0] > 16 || keys->expects_cursor)) {
		send_cursor(keys, params.at[0][0], params.at[1][0]);
	} else if (key && params.at[1][1] != 3) {
		sequence_send_key(keys, key->code, key->mods | read_mods(params.at[1][0]) | alt,
		         span_of("", 0));
	} else if ((key = find_final(rxvt_keys, ARRAY_LEN(rxvt_keys), final)) && !body.len) {
		sequence_send_key(keys, key->code, KEY_SHIFT | alt, span_of("", 0));
	} else if (strchr("cnty", final)) {
		send_reply(keys, EVENT_REPLY, 0);
	}
}

/* CSI < button ; column ; row M: of all buttons the wheel's two, whatever modifiers are held. */
static void finish_mouse(struct keys *keys, struct span body, char final)
{
	struct event event = { .kind = EVENT_WHEEL };
	struct params params;

	read_numbers(body, &params);
	if (final != 'M' || params.count != 3 ||
	    (params.at[0][0] & ~MOUSE_MODS) >> 1 != MOUSE_WHEEL >> 1)
		return;
	event.on = !(params.at[0][0] & 1);
	keys->event(keys->data, &event);
}

static void sequence_end_csi(struct keys *keys)
{
	struct span body = span_skip(buf_view(&keys->sequence), 1);
	unsigned alt = keys->alt ? KEY_ALT : 0;
	char final = body.data[body.len - 1];
	bool dropped = keys->flushed || body.len > SEQUENCE_MAX;

	keys->state = KEYS_GROUND;
	if (dropped)
		return;
	body.len--;
	if (body.len && (body.data[0] == '?' || body.data[0] == '>'))
		send_reply(keys, EVENT_REPLY, 0);
	else if (body.len && body.data[0] == '<')
		finish_mouse(keys, span_skip(body, 1), final);
	else if (!(body.len && body.data[0] == '='))
		finish_plain_csi(keys, body, final, alt);
}

static void sequence_end_ss3(struct keys *keys)
{
	struct span body = span_skip(buf_view(&keys->sequence), 1);
	char final = body.data[body.len - 1];
	unsigned alt = keys->alt ? KEY_ALT : 0;
	const struct final_key *key = find_final(final_keys, ARRAY_LEN(final_keys) - 1, final);
	struct params params;

	keys->state = KEYS_GROUND;
	if (keys->flushed || body.len > SEQUENCE_MAX)
		return;
	body.len--;
	/* Old xterms: one number, the modifiers; newer ones put a 1 before it. */
	read_numbers(body, &params);
	alt |= read_mods(params.at[params.count > 1][0]);
	if (key)
		sequence_send_key(keys, key->code, key->mods | alt, span_of("", 0));
	else if ((key = find_final(rxvt_keys, ARRAY_LEN(rxvt_keys), final)))
		sequence_send_key(keys, key->code, KEY_CTRL | alt, span_of("", 0));
	else if ((key = find_final(keypad_keys, ARRAY_LEN(keypad_keys), final)))
		key->code < KEY_ENTER ? sequence_send_character(keys, key->code, alt) :
					sequence_send_key(keys, key->code, alt, span_of("", 0));
}

/* One to four hexadecimal digits, as a byte. -1: none. */
static int read_component(struct span *rest)
{
	unsigned value = 0, digits = 0;

	for (; rest->len && digits < 4; digits++, *rest = span_skip(*rest, 1)) {
		char c = rest->data[0];

		if (c >= '0' && c <= '9')
			value = value * 16 + (unsigned)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			value = value * 16 + (unsigned)((c | 32) - 'a' + 10);
		else
			break;
	}
	return digits ? (int)(value * 255 / ((1u << 4 * digits) - 1)) : -1;
}

/* "rgb:1e1e/1e1e/2e2e", "rgba:../../../..", XParseColor's forms. */
static bool read_colour(struct span text, uint32_t *ret)
{
	uint32_t rgb = 0;

	if (span_starts(text, SPAN("rgb:")))
		text = span_skip(text, 4);
	else if (span_starts(text, SPAN("rgba:")))
		text = span_skip(text, 5);
	else
		return false;
	for (int i = 0; i < 3; i++) {
		int component;

		if (i && !span_starts(text, SPAN("/")))
			return false;
		text = span_skip(text, i ? 1 : 0);
		component = read_component(&text);
		if (component < 0)
			return false;
		rgb = rgb << 8 | (uint32_t)component;
	}
	*ret = rgb;
	return true;
}

/* An answer in a string: OSC and DCS are reported; SOS, PM and APC are dropped. */
static void sequence_end_string(struct keys *keys)
{
	struct span body = buf_view(&keys->sequence);
	uint32_t rgb;

	keys->state = KEYS_GROUND;
	if (keys->sequence.overflowed || !(body.data[0] == ']' || body.data[0] == 'P'))
		return;
	if (span_starts(body, SPAN("]11;")) && read_colour(span_skip(body, 4), &rgb))
		send_reply(keys, EVENT_BACKGROUND, rgb);
	else
		send_reply(keys, EVENT_REPLY, 0);
}

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
