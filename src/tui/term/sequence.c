/* SPDX-License-Identifier: Apache-2.0 */
/* What a whole sequence means: tables of keys, and the events that they become.  keys.c, which
 * names the sources, collects it. */
#include "tui/term/private.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* ---- events ---- */

/* A letter with Ctrl, Alt or Meta is in lower case, and Shift a modifier; other characters are as
 * they were typed, and Shift is in them. */
void sequence_send_key(struct keys *keys, uint32_t code, unsigned mods, struct span text)
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

void sequence_send_character(struct keys *keys, uint32_t code, unsigned mods)
{
	char bytes[4];

	sequence_send_key(keys, code, mods, span_of(bytes, utf8_put(code, bytes)));
}

/* One byte below 0x20, or 0x7f. */
void sequence_send_control(struct keys *keys, unsigned char byte, unsigned mods)
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

void sequence_end_csi(struct keys *keys)
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

void sequence_end_ss3(struct keys *keys)
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
void sequence_end_string(struct keys *keys)
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
