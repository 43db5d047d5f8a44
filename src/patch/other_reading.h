/* SPDX-License-Identifier: Apache-2.0 */
/* Other readings of an edit whose old text is found nowhere.
 *
 * What models copy is damaged in a few ways that can be undone for certain.  Each function
 * here reads the two texts of an update (edit/plan.c), or of a hunk (patch.c), in
 * one such way; the caller then looks for the old text as it is read.  A reading counts only if
 * that text occurs exactly once.
 *
 *     other_reading_unnumbered   the line numbers of a listing in front of every line
 *     other_reading_shifted      the whole block indented otherwise (patch/whitespace/indent.h)
 *     other_reading_done         the change was made already
 *
 * When none helps, other_reading_explain says where the text was probably meant and what differs.
 */
#ifndef HASP_PATCH_OTHER_READING_H
#define HASP_PATCH_OTHER_READING_H

#include "base/text.h"
#include "patch/patch.h"

struct other_reading {
	struct buf old_text, text; /* with LF */
	size_t line;               /* 1-based line of the file; unnumbered: the number in front of
	                            * a lone line, 0 if there are several */
};

/* Zeroed is fine. */
void other_reading_release(struct other_reading *reading);
#define _cleanup_other_reading_ __attribute__((cleanup(other_reading_release)))

/* Both texts without the numbers, when every line of the old text has one, each by one more
 * than the last, all followed by the same of "→", "|", ":" and a tab; and in the new text every
 * line or none.  With `space`, one space after it belongs to the listing too. */
bool other_reading_unnumbered(struct span old_text, struct span text, bool space,
                              struct other_reading *ret);

/* The old text as the file has it, and the new text shifted likewise, when the lines of the
 * old text, of which at least two are not blank, stand in one place of the file but for their
 * indentation, and the shift is the same for all of them. */
bool other_reading_shifted(const struct lines *file, struct span old_text, struct span text,
                           struct other_reading *ret);

/* Whether the file plainly is as the update would make it: the new text stands in it once and
 * says enough not to stand there by chance, shares lines with the old text or is made of
 * several, and nothing that the update would remove is in the file. */
bool other_reading_done(const struct lines *file, struct span old_text, struct span text,
                        struct other_reading *ret);

/* Fills *failure and appends sentences about the nearest place and the first difference;
 * nothing when no place is near. */
void other_reading_explain(const struct lines *file, struct span old_text,
                           struct patch_failure *failure, struct buf *out);

#endif
