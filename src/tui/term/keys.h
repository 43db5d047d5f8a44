/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal sends, as events: keys, pasted text, focus, answers to what it was asked.
 *
 *     struct keys *keys = keys_new(event, app);
 *     keys_feed(keys, bytes);                   // calls event() for what is complete
 *     if (keys_pending(keys)) ... wait KEYS_ESCAPE_MS, then keys_flush(keys);   // a lone Esc
 *     keys_free(keys);
 *
 * Legacy sequences (xterm, VT220, rxvt, Linux console), the Kitty keyboard protocol (CSI u), xterm's
 * modifyOtherKeys, bracketed paste.  Bytes may arrive cut anywhere.  What is not known is dropped
 * as a whole, never taken for typed text.
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

struct key {
	uint32_t code;
	uint8_t mods;     /* KEY_SHIFT, ...; of a character Shift only if it is not in the code */
	struct span text; /* what it types, UTF-8 (a cluster); empty: nothing */
};

enum event_kind {
	EVENT_KEY,
	EVENT_PASTE,      /* text: CR and CRLF are LF already; other control characters as they are */
	EVENT_FOCUS,      /* on: whether the window has it */
	EVENT_CURSOR,     /* answer to CSI 6n: row, column from 1 */
	EVENT_BACKGROUND, /* answer to OSC 11: rgb */
	EVENT_REPLY,      /* any other answer (DA1, DA2, XTVERSION, DECRPM, CSI ? u, ...): text, whole */
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
struct keys *keys_new(void (*event)(void *data, const struct event *event), void *data);
void keys_free(struct keys *keys); /* NULL is fine */
void keys_feed(struct keys *keys, struct span bytes);
/* Whether an Esc (or the beginning of a sequence) waits for what follows. */
bool keys_pending(const struct keys *keys);
/* Nothing followed: an Esc is a key, the rest of an unfinished sequence is dropped. */
void keys_flush(struct keys *keys);

#endif
