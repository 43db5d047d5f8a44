/* SPDX-License-Identifier: Apache-2.0 */
/* A terminal in memory for a command that the user watches and types into: bytes in, rows out.
 *
 *     if (emulator_available()) ...
 *     struct emulator *emulator = emulator_new(24, 80, answer, data);
 *     emulator_feed(emulator, bytes);                // as the command wrote them
 *     emulator_rows(emulator, 8, true, &rows);       // its screen, styled (text/rows.h)
 *     emulator_key(emulator, &key, &out);            // what a key sends to the command
 *     emulator_free(emulator);
 *
 * It is libvterm (loaded when the first one is made, base/library.h), and what a command writes is
 * hostile: a guard stands before it (guard.c), which lets through whole control sequences of known
 * shape with small numbers, and no strings (titles, clipboard, images, queries by DCS); it holds a
 * few bytes whatever comes.  The emulator keeps its window alone, without scrollback, so memory is
 * that of its cells.  What is read back goes through row_text as all foreign text.
 *
 * One thread at a time.
 */
#ifndef HASP_TUI_EMULATOR_EMULATOR_H
#define HASP_TUI_EMULATOR_EMULATOR_H

#include "base/buf.h"
#include "tui/term/keys.h"
#include "tui/text/rows.h"

enum { EMULATOR_ROWS_MAX = 200, EMULATOR_COLUMNS_MAX = 500 };

struct emulator;

/* Whether there is a libvterm. From any thread. */
bool emulator_available(void);
/* `answer` gets what the terminal answers to questions of the command (where the cursor is, what it
 * is), from within emulator_feed. NULL: there is no libvterm. */
struct emulator *emulator_new(unsigned rows, unsigned columns,
                              void (*answer)(void *data, struct span bytes), void *data);
void emulator_free(struct emulator *emulator); /* NULL is fine */
/* Takes what the command wrote, in any pieces. */
void emulator_feed(struct emulator *emulator, struct span bytes);
void emulator_resize(struct emulator *emulator, unsigned rows, unsigned columns);
/* A program has taken the whole screen (vim, less). */
bool emulator_is_full_screen(const struct emulator *emulator);

struct emulator_view {
	size_t rows;   /* at most so many: the last ones that are used, or those around the cursor
	                * of a program that has the whole screen */
	bool cursor;   /* it is shown, reversed */
	bool colours;
	unsigned indent;
};
/* Appends the rows of its screen. */
void emulator_rows(const struct emulator *emulator, const struct emulator_view *view,
                   struct rows *rows);

/* Appends what a terminal sends for a key, and for a text that is pasted (in brackets, if the
 * command has asked for them; without control characters). */
void emulator_key(struct emulator *emulator, const struct key *key, struct buf *out);
void emulator_paste(struct emulator *emulator, struct span text, struct buf *out);

/* ---- the guard (guard.c), for the emulator and its tests ---- */

enum {
	GUARD_SEQUENCE_MAX = 64,
	GUARD_NUMBER_MAX = 9999,
	GUARD_REPEAT_MAX = 500,
	/* Sequences that move or clear the whole screen: so many of each so many bytes, and the
	 * others are dropped, for a few bytes must not cost much time. */
	GUARD_HEAVY_MAX = 64,
	GUARD_HEAVY_BYTES = 1024,
	GUARD_MARKS_MAX = 6, /* combining characters on one */
};

enum {
	GUARD_OUT_MAX = 3 * GUARD_HEAVY_BYTES + 2 * GUARD_SEQUENCE_MAX +
	                2 * GUARD_HEAVY_MAX * GUARD_REPEAT_MAX * 4
};

/* All zero: at the beginning. */
struct emulator_guard {
	int state;
	unsigned bytes, heavy; /* since the last multiple of GUARD_HEAVY_BYTES */
	char last[4];          /* the last character, which REP repeats */
	size_t last_len;
	unsigned marks;        /* combining characters since */
	size_t len;
	char held[GUARD_SEQUENCE_MAX]; /* a sequence that is not complete */
};

/* Appends what of the bytes may be handed on, in whole characters: for GUARD_HEAVY_BYTES at most
 * GUARD_OUT_MAX. */
void guard_feed(struct emulator_guard *guard, struct span bytes, struct buf *out);

#endif
