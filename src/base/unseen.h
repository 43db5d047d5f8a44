/* SPDX-License-Identifier: Apache-2.0 */
/* Text that no reader sees: characters that are drawn as nothing, or that turn the text around
 * them.
 *
 * A model reads what a person does not see, so a file can tell it something that its user never
 * approved. Such characters are shown as escapes, \u{e0041}, in what reaches a model:
 *
 *     if (unseen_show(&out, text)) ...     // some were shown as escapes
 *     unseen_read(&out, escaped);          // the characters again, for an edit that names them
 *
 * Which: those with the property Default_Ignorable_Code_Point of Unicode 15.0
 * (DerivedCoreProperties.txt), which holds all of Bidi_Control (PropList.txt) too. They stay as
 * they are where a script or an emoji needs one:
 *
 *   - U+200C and U+200D inside words of scripts that join (Arabic, Persian, Indic, ...), U+200D
 *     between emoji
 *   - one variation selector after what can have variants; one of the supplement after an ideograph
 *   - the three flags of RGI_Emoji_Tag_Sequence (emoji-sequences.txt): England, Scotland, Wales
 *   - a soft hyphen between letters, U+200B after Thai, Lao, Khmer and Burmese, U+034F after a
 *     mark, fillers of Hangul next to their letters, Mongolian selectors after Mongolian letters
 *
 * Never two in a row but in a flag or an emoji, so none of this carries a hidden text.
 *
 * Not here: control characters, and what else a terminal must not get (tui/text/safe.h).
 */
#ifndef HASP_BASE_UNSEEN_H
#define HASP_BASE_UNSEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

/* Whether the character is one of those, wherever it stands. */
bool unseen_is(uint32_t code_point);

/* Reads a text piece by piece, for callers that show it in another way. Zeroed but for `rest`:
 * at its start. */
struct unseen {
	struct span rest;
	uint32_t before; /* the character before, 0: none */
	bool emoji;      /* the text before ends with one */
};

struct unseen_piece {
	struct span bytes; /* a run of ASCII, a flag of tags, or one character; of the text */
	uint32_t code;     /* the last character; 0 for a flag */
	bool bad;          /* a byte that is not UTF-8 */
	bool hidden;       /* what unseen_show escapes */
};

/* Takes the next piece; false at the end. */
bool unseen_next(struct unseen *state, struct unseen_piece *ret);

/* How many characters unseen_show would escape. Linear. */
size_t unseen_count(struct span text);

/* Appends the text with escapes in place of them; returns how many there were. Bytes that are not
 * UTF-8 stay. */
size_t unseen_show(struct buf *out, struct span text);

/* The text as one line that does not act on a terminal, of at most `max` bytes: control characters
 * are blanks, invisible ones are escapes.  It ends at a NUL.  The caller frees. */
char *unseen_line(struct span text, size_t max);

/* Appends the text with the characters in place of such escapes (hexadecimal digits in either
 * case); returns how many there were. Escapes of any other character stay. */
size_t unseen_read(struct buf *out, struct span text);

/* The length of the "u{...}" that the text begins with, which a backslash before it makes an
 * escape, and the character; 0: it begins with none. */
size_t unseen_escape(struct span text, uint32_t *ret);

#endif
