/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign text, made fit for a terminal, piece by piece.
 *
 *     struct safe safe = { .rest = line };
 *     struct safe_piece piece;
 *     while (safe_next(&safe, &piece)) ...          // columns: piece.width
 *
 * Whatever a stranger wrote (file names and contents, output of commands, descriptions of tools,
 * replies of models) is shown as it is where it is harmless, and as visible escapes where it would
 * act on the terminal or deceive the reader:
 *
 *     \n \r \x1b \x7f       control characters; lines are split by the caller
 *     \xff                  bytes that are not UTF-8
 *     \u{202e} \u{200b}     C1 controls; format characters (bidirectional controls, zero width,
 *                           tags) but where an emoji or a script needs one (base/unseen.h); line
 *                           and paragraph separators; blank letters and stray variation selectors;
 *                           private and unassigned ones; marks on nothing, and more than four on
 *                           one letter
 *     \u{430}               Cyrillic and Greek letters that look like Latin ones, in a word that
 *                           has Latin ones too
 *
 * A backslash stays as it is: the escapes are for eyes, not to be read back.
 */
#ifndef HASP_TUI_TEXT_SAFE_H
#define HASP_TUI_TEXT_SAFE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

/* Tabs become spaces up to the next multiple of this. */
enum { SAFE_TAB_COLUMNS = 8 };

struct safe {
	struct span rest;
	/* The character before, of a text that this one is appended to; 0: none. */
	uint32_t before;
	/* Private. */
	bool emoji;           /* the character before is one */
	bool cut;             /* what comes next would join it, and must not */
	bool mixed;           /* the word at hand has Latin letters */
	const char *word_end; /* of a word that was looked at; NULL: none */
	char escape[16];
};

enum safe_kind {
	SAFE_ASCII,   /* printable characters of one column each, as many as stand together */
	SAFE_CLUSTER, /* one grapheme cluster */
	SAFE_ESCAPE,  /* in place of something */
	SAFE_TAB,     /* the caller makes spaces of it */
};

struct safe_piece {
	enum safe_kind kind;
	struct span bytes; /* of the text; an escape: valid until the next piece */
	unsigned width;    /* columns; of a tab 0 */
};

/* Takes the next piece; false at the end. */
bool safe_next(struct safe *safe, struct safe_piece *ret);

#endif
