/* SPDX-License-Identifier: Apache-2.0 */
/* Line differences.
 *
 * The shortest edit script by Myers' O(ND) algorithm in linear space (E. Myers,
 * "An O(ND) difference algorithm and its variations", Algorithmica 1, 1986),
 * after common heads and tails are cut and lines that occur on one side only
 * are set aside; past a cost bound it settles for a good script instead of the
 * shortest, so that any two texts are compared in near-linear time.  Runs of
 * changes are then slid so that they read as a person would have made them
 * (a whole function, not from brace to brace).
 */
#ifndef HASP_DIFF_DIFF_H
#define HASP_DIFF_DIFF_H

#include "diff/script.h"

/* Fills *ret (empty before) with the edits that turn `old` into `new`; the
 * inserted spans borrow from `new`.  Lines are compared as bytes, endings
 * included, so a missing final newline is a difference.  Differences of up to some
 * thousand lines are the shortest possible.  Texts that differ over more than 2^31
 * lines are replaced whole. */
void diff_lines(const struct lines *old_lines, const struct lines *new_lines,
                struct script *ret);

#endif
