/* SPDX-License-Identifier: Apache-2.0 */
/* What hunks may plainly mean that fit nowhere as they are: the readings of other_reading.h. */
#ifndef HASP_PATCH_HUNK_READING_H
#define HASP_PATCH_HUNK_READING_H

#include "base/text.h"
#include "patch/parse.h"

/* Takes the line numbers of a listing off all hunks; the lines stay parts of the diff's text.  With
 * `space`, one space after the mark belongs to the listing, too.  False, with the diff in any
 * state, if a hunk has no old line, if an old line has no number, or not one more than the last,
 * or if only some of its added lines have one. */
bool hunk_reading_unnumbered(struct diff_text *diff, bool space);

/* The number that the lone old line of a hunk has, as it was parsed; 0 if there are more lines. */
size_t hunk_reading_lone_number(const struct diff_text *diff, size_t h);

/* Whether what hunk `h` does was done already; *ret_line (1-based) is where its new lines stand. */
bool hunk_reading_done(const struct lines *base, const struct diff_text *diff, size_t h,
                       size_t *ret_line);

#endif
