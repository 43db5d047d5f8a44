/* SPDX-License-Identifier: Apache-2.0 */
/* Anchors: the lines that a patch of the apply_patch format names before a hunk.
 *
 * In that format ("*** Begin Patch", "*** Update File: ...") a section of context alone, and the
 * text after an @@ without numbers, say where to go on looking.  They are heeded in order: the
 * lines of a section stand after the hunk before it and before the change of the one
 * after it; the text of an @@ begins a line somewhere before that change.  What
 * the file lacks, or has in another order only, is refused.
 */
#ifndef HASP_PATCH_ANCHORS_H
#define HASP_PATCH_ANCHORS_H

#include "patch/candidates.h"

/* Whether the diff has any. */
bool anchors_any(const struct diff_text *diff);

/* Leaves each hunk the places that its anchors allow. NO_MATCH when an anchor is not in the
 * file, or none of the places that fit the hunk follows it. */
bool anchors_narrow(const struct lines *base, const struct diff_text *diff,
                    struct candidates *hunks, struct patch_failure *failure, struct err *err);

/* Once all hunks are placed: whether each section of context comes after the hunk before
 * it. NO_MATCH. */
bool anchors_check_order(const struct lines *base, const struct diff_text *diff,
                         const struct candidates *hunks, struct patch_failure *failure,
                         struct err *err);

#endif
