/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal sends, as events: keys, pasted text, focus, answers to what it was asked.
 *
 *     struct keys *keys = keys_new(event, app);
 *     keys_feed(keys, bytes);                   // calls event() for what is complete
 *     if (keys_pending(keys)) ... wait KEYS_ESCAPE_MS, then keys_flush(keys);   // a lone Esc
 *     keys_free(keys);
 *
 * Legacy sequences (xterm, VT220, rxvt, Linux console), the Kitty keyboard protocol (CSI u),
 * xterm's modifyOtherKeys, bracketed paste.  Bytes may arrive cut anywhere: the events are the
 * same.  What is not known is dropped as a whole, never taken for typed text; so are reports of the
 * mouse but those of its wheel (SGR, mode 1006), and the letting go of a key.
 *
 * Not here: which key does what (editor/bindings.h).
 */
#ifndef HASP_TUI_TERM_KEYS_H
#define HASP_TUI_TERM_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

enum { KEYS_ESCAPE_MS = 50, KEYS_PASTE_BYTES_MAX = 16 << 20 };

/* Keys that are no character; below them key.code is a Unicode scalar value (Enter, Tab, Esc and
 * Backspace are here, not control characters; Ctrl+A is 'a' with KEY_CTRL). */
enum {
	KEY_ENTER = 0x110000, KEY_TAB, KEY_ESC, KEY_BACKSPACE, KEY_DELETE, KEY_INSERT, KEY_UP,
	KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_HOME, KEY_END, KEY_PAGE_UP, KEY_PAGE_DOWN,
	KEY_F1, KEY_F35 = KEY_F1 + 34,
};
enum { KEY_SHIFT = 1, KEY_ALT = 2, KEY_CTRL = 4, KEY_META = 8 };

/* A letter with Ctrl, Alt or Meta has the code of the small one, and KEY_SHIFT if Shift was held:
 * Alt+Shift+Z is 'z' with both, whatever protocol the terminal speaks.  In all other characters
 * Shift is part of the code: '!', 'A', Alt+'?'. */
struct key {
	uint32_t code;
	uint8_t mods;     /* KEY_SHIFT, ... */
	struct span text; /* what it types, UTF-8: one character (what makes up a cluster comes one
	                   * by one), or all that the terminal names; empty: nothing */
};

enum event_kind {
	EVENT_KEY,
	EVENT_PASTE,      /* text: CR and CRLF are LF already; other control characters as they are;
	                   * on: its end is missing, it was longer than KEYS_PASTE_BYTES_MAX */
	EVENT_FOCUS,      /* on: whether the window has it */
	EVENT_WHEEL,      /* a step of the mouse's wheel; on: up */
	EVENT_CURSOR,     /* answer to CSI 6n: row, column from 1 */
	EVENT_BACKGROUND, /* answer to OSC 11: rgb */
	EVENT_REPLY,      /* any other answer (DA1, DA2, XTVERSION, DECRPM, CSI ? u, ...): text,
	                   * from its Esc on; the end of an OSC or DCS is not in it */
};

struct event {
	enum event_kind kind;
	struct key key;
	struct span text; /* borrowed for the call */
	bool on;
	unsigned row, column;
	uint32_t rgb;
};

struct keys;
/* `event` is called from within keys_feed and keys_flush. */
struct keys *keys_new(void (*event)(void *data, const struct event *event), void *data);
void keys_free(struct keys *keys); /* NULL is fine */
/* Takes bytes as they were read. */
void keys_feed(struct keys *keys, struct span bytes);
/* Whether an Esc (or the beginning of a sequence) waits for what follows. */
bool keys_pending(const struct keys *keys);
/* Nothing followed: an Esc is a key, Esc with [, O, ] or P alone is Alt with it; what is left of a
 * longer sequence will be dropped when it comes. */
void keys_flush(struct keys *keys);
/* CSI 6n was sent: a `CSI 1;2 R` is its answer, and not Shift+F3, which has the same bytes. */
void keys_expect_cursor(struct keys *keys);

#endif
