/* SPDX-License-Identifier: Apache-2.0 */
/* Placing every hunk of a diff in the base, all together or not at all.
 *
 * Candidates (candidates.h) are the places where all old lines of a hunk stand
 * one after the other, at the strictest level that gives any.  One candidate
 * is a place unless the header's line number, proven right by the other hunks,
 * says that the file has changed there (doubt.h).  Several candidates are
 * settled by what the diff says, in this order: its line number, the offset of
 * its neighbours, the order of the hunks, the function named after the @@, an edge
 * of the file; or because every candidate gives the same result.  Nothing else
 * counts: "the nearest" is a guess and is refused.
 */
#ifndef HASP_PATCH_LOCATE_H
#define HASP_PATCH_LOCATE_H

#include "patch/fold.h"
#include "patch/parse.h"

/* Where one hunk goes. */
struct placement {
	size_t at;    /* 0-based base line of its first old line */
	size_t count; /* lines of the hunk that count; what follows was prose */
	size_t old_count; /* of these, context and removed ones */
	enum fold fold;
	enum patch_settled settled;
};

/* Fills `ret` (one per hunk); may rewrite hunks that fit nowhere (blanks.h, sequel.h). On failure fills *failure (zeroed by the caller).
 * NO_MATCH, AMBIGUOUS_DIFF. */
bool hunks_locate(const struct lines *base, struct diff_text *diff, bool base_has_bom,
                  struct placement *ret, struct patch_failure *failure, struct err *err);

#endif
