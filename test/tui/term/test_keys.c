/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal sends, and which keys that is: whole, and cut behind every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "tui/term/keys.h"

static const char *const key_names[] = {
	"Enter", "Tab", "Esc", "Backspace", "Delete", "Insert", "Up", "Down",
	"Left", "Right", "Home", "End", "PageUp", "PageDown",
};

static void write_key(struct buf *out, const struct key *key)
{
	char bytes[4];

	buf_str(out, key->mods & KEY_CTRL ? "Ctrl+" : "");
	buf_str(out, key->mods & KEY_ALT ? "Alt+" : "");
	buf_str(out, key->mods & KEY_META ? "Meta+" : "");
	buf_str(out, key->mods & KEY_SHIFT ? "Shift+" : "");
	if (key->code >= KEY_F1)
		buf_printf(out, "F%u", key->code - KEY_F1 + 1);
	else if (key->code >= KEY_ENTER)
		buf_str(out, key_names[key->code - KEY_ENTER]);
	else
		buf_append(out, bytes, utf8_put(key->code, bytes));
	if (key->text.len) {
		buf_char(out, '=');
		buf_span(out, key->text);
	}
}

/* Events as text: "Ctrl+a", "a=a", "paste(...)", separated by blanks. */
static void write_event(void *data, const struct event *event)
{
	struct buf *out = data;

	if (out->len)
		buf_char(out, ' ');
	switch (event->kind) {
	case EVENT_KEY:
		write_key(out, &event->key);
		break;
	case EVENT_PASTE:
		buf_printf(out, "paste%s(%.*s)", event->on ? "-cut" : "",
		           event->text.len > 99 ? 0 : (int)event->text.len, event->text.data);
		break;
	case EVENT_FOCUS:
		buf_str(out, event->on ? "focus" : "blur");
		break;
	case EVENT_WHEEL:
		buf_str(out, event->on ? "wheel-up" : "wheel-down");
		break;
	case EVENT_CURSOR:
		buf_printf(out, "cursor(%u,%u)", event->row, event->column);
		break;
	case EVENT_BACKGROUND:
		buf_printf(out, "background(%06x)", event->rgb);
		break;
	case EVENT_REPLY:
		buf_printf(out, "reply(%.*s)", (int)event->text.len - 1, event->text.data + 1);
		break;
	}
}

static const struct {
	const char *bytes, *events;
} cases[] = {
	{ "aZ 1", "a=a Z=Z  =  1=1" },
	/* An Esc that was pressed just before an answer, or a paste, came. */
	{ "\x1b\x1b[29;43R", "Esc cursor(29,43)" },
	{ "\x1b\x1b[?62c", "Esc reply([?62c)" },
	{ "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80", "é=é 漢=漢 😀=😀" },
	{ "\x01\x1a\x1c\x1f", "Ctrl+a Ctrl+z Ctrl+\\ Ctrl+_" },
	{ "\r\n\t\x7f\x08", "Enter Ctrl+j Tab Backspace Ctrl+h" },
	{ "\033[A\033[B\033[C\033[D\033[H\033[F", "Up Down Right Left Home End" },
	{ "\033OA\033OH\033OP\033OS", "Up Home F1 F4" },
	{ "\033[1~\033[2~\033[3~\033[4~\033[5~\033[6~",
	  "Home Insert Delete End PageUp PageDown" },
	{ "\033[11~\033[15~\033[17~\033[24~\033[34~", "F1 F5 F6 F12 F20" },
	{ "\033[1;2A\033[1;3B\033[1;5C\033[1;6D\033[1;9H",
	  "Shift+Up Alt+Down Ctrl+Right Ctrl+Shift+Left Meta+Home" },
	{ "\033[3;5~\033[15;2~\033[1;2P", "Ctrl+Delete Shift+F5 Shift+F1" },
	{ "\033[Z", "Shift+Tab" },
	/* rxvt */
	{ "\033[7~\033[8~\033[7$\033[7^\033[7@", "Home End Shift+Home Ctrl+Home Ctrl+Shift+Home" },
	{ "\033[a\033[d\033Oa\033Od", "Shift+Up Shift+Left Ctrl+Up Ctrl+Left" },
	{ "\033\033[A\033\033Oa", "Alt+Up Ctrl+Alt+Up" },
	/* the Linux console */
	{ "\033[[A\033[[E\033[17~", "F1 F5 F6" },
	/* keypad of a VT220; old modifiers */
	{ "\033Op\033OM\033Ok\033O5A\033O1;2P", "0=0 Enter +=+ Ctrl+Up Shift+F1" },
	/* Alt */
	{ "\033a\033Z\033?\033\r\033\x7f\033\x01\033\xc3\xa9",
	  "Alt+a Alt+Shift+z Alt+? Alt+Enter Alt+Backspace Ctrl+Alt+a Alt+é" },
	{ "\033\033a", "Esc Alt+a" },
	/* Kitty */
	{ "\033[97;5u\033[122;6u\033[122:90;4u\033[27u\033[13;2u\033[9;5u\033[127;3u",
	  "Ctrl+a Ctrl+Shift+z Alt+Shift+z Esc Shift+Enter Ctrl+Tab Alt+Backspace" },
	{ "\033[1089::99;5u", "Ctrl+c" },
	{ "\033[45:95;6u", "Ctrl+_" },
	{ "\033[97;2;65u\033[97:65;2u\033[97;;97:769u", "A=A A=A a=a\xcc\x81" },
	{ "\033[97;1:3u\033[97;1:2u\033[1;1:3A\033[3;1:3~", "a=a" },
	{ "\033[57399u\033[57414u\033[57417u\033[57376u\033[57398u\033[57441u",
	  "0=0 Enter Left F13 F35" },
	{ "\033[97;9u\033[97;65u\033[97;129u", "Meta+a a=a a=a" },
	/* modifyOtherKeys */
	{ "\033[27;5;13~\033[27;6;90~\033[27;2;13~", "Ctrl+Enter Ctrl+Shift+z Shift+Enter" },
	/* answers */
	{ "\033[?62;4c\033[>84;0;0c\033[?2026;2$y\033[?0u",
	  "reply([?62;4c) reply([>84;0;0c) reply([?2026;2$y) reply([?0u)" },
	{ "\033P>|tmux 3.3a\033\\x\033P>|foot\ay", "reply(P>|tmux 3.3a) x=x reply(P>|foot) y=y" },
	{ "\033]11;rgb:1e1e/2020/ffff\033\\\033]11;rgb:1/80/fff\a",
	  "background(1e20ff) background(1180ff)" },
	{ "\033]52;c;aGVsbG8=\a", "reply(]52;c;aGVsbG8=)" },
	{ "\033[12;40R\033[1;2R\033[1;80R", "cursor(12,40) Shift+F3 cursor(1,80)" },
	{ "\033[I\033[O", "focus blur" },
	/* pastes */
	{ "\033[200~one\r\ntwo\rthree\nfour\033[201~x", "paste(one\ntwo\nthree\nfour) x=x" },
	{ "\033[200~\033[201\033[2\033[A\x01\033[201~", "paste(\033[201\033[2\033[A\x01)" },
	{ "\033[200~\033\033[201~\033[201~x", "paste(\033) x=x" },
	/* the mouse's wheel, with Ctrl; other buttons, and what is none */
	{ "\033[<64;10;10M\033[<65;1;1M\033[<80;3;4M\033[<66;1;1M\033[<64;1;1m\033[<64;1M",
	  "wheel-up wheel-down wheel-up" },
	/* dropped as a whole */
	{ "\033[M !!a\033[<0;10;10M\033[<0;10;10mb\033[32;10;10Mc", "a=a b=b c=c" },
	{ "\033[5i\033[?99;1h\033[>1;2m\033Oza", "reply([?99;1h) reply([>1;2m) a=a" },
	{ "\033^private\033\\\033_Gi=1;OK\033\\a", "a=a" },
	{ "\xff\xc3(\xe0\x80\x80\xed\xa0\x80\xf4\x90\x80\x80\xc2\x85""a", "(=( a=a" },
	{ "\033[55296u\033[1114112u\033[7u\033[999999999999999u""a", "a=a" },
	/* cut off by something else */
	{ "\033[1;\033[A", "Up" },
	{ "\033[12\ra", "Enter a=a" },
	{ "\033]11;rgb:\rab\033]0;x\033[A", "Enter a=a b=b Up" },
	/* what is left when nothing follows */
	{ "\033", "Esc" },
	{ "\033\033", "Esc Esc" },
	{ "\033[", "Alt+[" },
	{ "\033O", "Alt+Shift+o" },
	{ "\033]", "Alt+]" },
	{ "\033P", "Alt+Shift+p" },
	{ "\033[1;5", "" },
	{ "\033]11;rgb:1", "" },
};

static void decode(struct span bytes, size_t piece, struct buf *out)
{
	struct keys *keys = keys_new(write_event, out);

	buf_clear(out);
	for (; bytes.len; bytes = span_skip(bytes, piece))
		keys_feed(keys, span_head(bytes, piece));
	if (keys_pending(keys))
		keys_flush(keys);
	assert_false(keys_pending(keys));
	keys_free(keys);
}

static void sequences_are_the_keys_of_their_terminals(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (size_t piece = 99; piece; piece = piece > 3 ? 3 : piece - 1) {
			decode(span_str(cases[i].bytes), piece, &out);
			assert_string_equal(out.data ? out.data : "", cases[i].events);
		}
}

static void a_nul_is_control_and_blank(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);

	(void)state;
	decode(span_of("\0\033\0", 3), 99, &out);
	assert_string_equal(out.data, "Ctrl+  Ctrl+Alt+ ");
}

static void what_comes_late_is_dropped_and_not_typed(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);
	struct keys *keys = keys_new(write_event, &out);

	(void)state;
	keys_feed(keys, SPAN("\033[1;"));
	keys_flush(keys);
	keys_feed(keys, SPAN("5Aa"));
	assert_string_equal(out.data, "a=a");
	keys_feed(keys, SPAN("\033]11;rgb:00"));
	keys_flush(keys);
	keys_feed(keys, SPAN("00/0000/0000\033"));
	assert_true(keys_pending(keys));
	keys_feed(keys, SPAN("\\b"));
	assert_string_equal(out.data, "a=a background(000000) b=b");
	keys_free(keys);
}

static void an_awaited_answer_is_no_f3(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);
	struct keys *keys = keys_new(write_event, &out);

	(void)state;
	keys_expect_cursor(keys);
	keys_expect_cursor(keys);
	keys_feed(keys, SPAN("\033[1;2R\033[1;5R\033[1;5R"));
	assert_string_equal(out.data, "cursor(1,2) cursor(1,5) Ctrl+F3");
	keys_free(keys);
}

static void endless_sequences_and_pastes_are_bounded(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);
	struct keys *keys = keys_new(write_event, &out);
	_cleanup_free_ char *piece = mem_alloc(1 << 20, 1);

	(void)state;
	memset(piece, '1', 1 << 20);
	keys_feed(keys, SPAN("\033["));
	keys_feed(keys, span_of(piece, 1 << 20));
	keys_feed(keys, SPAN("Aa\033]11;"));
	keys_feed(keys, span_of(piece, 1 << 20));
	keys_feed(keys, SPAN("\ab\033[200~"));
	for (int i = 0; i < 17; i++)
		keys_feed(keys, span_of(piece, 1 << 20));
	keys_feed(keys, SPAN("\033[201~c"));
	assert_string_equal(out.data, "a=a b=b paste-cut() c=c");
	keys_free(keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequences_are_the_keys_of_their_terminals),
		cmocka_unit_test(a_nul_is_control_and_blank),
		cmocka_unit_test(what_comes_late_is_dropped_and_not_typed),
		cmocka_unit_test(an_awaited_answer_is_no_f3),
		cmocka_unit_test(endless_sequences_and_pastes_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
