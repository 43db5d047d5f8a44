/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that are like others: the places of a text that wanted lines come nearest to, and how two
 * lines differ.  Not here: comparing at levels of tolerance (private.h). */
#ifndef HASP_PATCH_NEAREST_H
#define HASP_PATCH_NEAREST_H

#include "patch/private.h"

/* ---- the nearest lines ------------------------------------------------------------ */

/* Where lines that a text does not have were probably meant, and what differs there.
 *
 * For messages only: nothing is ever changed at a place found like this.
 */

struct nearest {
	size_t line;    /* 0-based line of the base where the first wanted line would be */
	size_t telling; /* wanted lines that are not blank; of these: */
	size_t equal;   /* the same there */
	size_t similar; /* the same but for white space and look-alikes */
	size_t differs; /* 0-based wanted line that is the first to differ; wanted->count: none */
	size_t unlike;  /* likewise, the first that is not even similar */
};

/* Finds up to `max` places where most of the wanted lines stand, best first; or, if none of those
 * that say something is in the base, the line that is most like the first of them.  Returns how
 * many; 0 when nothing is near.  One pass over the base; memory is that of `wanted`. */
size_t nearest_find(const struct lines *base, const struct lines *wanted, struct nearest *ret,
                    size_t max);
/* The same for a place that is only named: where no line that says something stands, and none is
 * like one, also the place that shares most words, if one plainly does. */
size_t nearest_guess(const struct lines *base, const struct lines *wanted, struct nearest *ret,
                     size_t max);

/* Where the text, in bytes, most pieces of the wanted one stand as they would if it began at *ret;
 * for a text that begins or ends within lines.  False: nothing is near.  One pass over the text,
 * and memory of a fixed size. */
bool nearest_text_find(struct span text, struct span wanted, size_t *ret);

/* Where the wanted text would begin if its words stood where the base has them, and one place is
 * plainly the nearest by those that are not everywhere.  False: none is.  One pass over the base,
 * and memory of a fixed size. */
bool nearest_words_find(const struct lines *base, const struct lines *wanted, size_t *ret);

/* How much lines have in common: Dice's coefficient over pairs of neighbouring bytes, from 0 to
 * 100, white space at their ends and what is beyond LIKENESS_BYTES aside. */
enum { LIKENESS_BYTES = 400 };
unsigned nearest_likeness(struct span a, struct span b);

/* Whether the line says enough to be recognised by: not blank, not a lone brace or keyword. */
bool nearest_is_distinctive(struct span line);

/* ---- how lines differ ------------------------------------------------------------- */

/* A line of the file, or a piece of one that goes to its end. */
struct line_piece {
	size_t line;      /* 1-based */
	size_t column;    /* where it begins, in code points, 1-based; 0: it is the whole line */
	struct span text;
};

/* Puts both lines into *failure, and appends a sentence: this line of the file is the first that
 * differs; `who` has the other: "the diff", "the text".  Both are shown from about where they
 * differ, long ones with the column; control characters are escapes, and so are look-alikes and
 * letters where nothing else differs.  The kind of difference is named. */
void difference_say(const struct line_piece *piece, struct span given, const char *who,
                    struct patch_failure *failure, struct buf *out);

/* Appends what the kind is, in brackets; nothing for OTHERWISE. */
void patch_difference_say(enum patch_difference kind, const char *who, struct buf *out);

/* Of a line that the file does not have: the rest of a sentence if it plainly never was a line of
 * a file (a fence, dots for lines left out; a mail's footer, for one of the `last` lines), or
 * NULL. */
const char *difference_foreign(struct span line, bool last);

/* Appends the text with one level of backslash escapes undone; returns how many there were. */
size_t difference_kind_unescape(struct span text, struct buf *out);

#endif
