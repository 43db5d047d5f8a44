/* SPDX-License-Identifier: Apache-2.0 */
/* Three-way merge of lines: one change carried over to a text that another change made.
 *
 * As in diff3 and git merge-file, but without conflict markers: changes that touch (the same
 * line, adjacent lines, two insertions at one place) are a conflict, and then there is no merge.
 * A change that both make alike is there already.  Where lines repeat, an insertion or deletion could
 * as well stand some lines earlier or later; it touches what it would touch there.
 */
#ifndef HASP_DIFF_MERGE_H
#define HASP_DIFF_MERGE_H

#include "diff/script.h"

/* `mine` and `theirs` are scripts of `base`.  Fills *ret (empty before) with the edits of
 * `mine` as they are in the text that `theirs` makes; inserted spans are borrowed from
 * `mine`.  False when the two touch; *ret is then empty.  For scripts of some hundred edits: all
 * are compared with all. */
bool merge_scripts(const struct lines *base, const struct script *mine,
                   const struct script *theirs, struct script *ret);

#endif
