/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing among candidates by what the diff says, or refusing.
 *
 * The evidence, strongest first:
 *
 *   number     the header names exactly this line.  Believed when the hunks
 *              that fit one place only are all where their headers say (or all off by
 *              the same distance), or, when there is no such hunk, when the
 *              old and new numbers of all headers agree with each other.
 *   neighbour  the placed hunks before and after are both off by the same
 *              distance, and this candidate is off by it too.
 *   order      exactly one choice keeps the hunks in the diff's own order without overlap,
 *              and their numbers do not run against that order.
 *   heading    only this candidate lies in the function named after the @@. Only for a hunk
 *              without a number: beside a wrong one the heading may be as old.
 *   edge       the context is shorter on one side because the file ends there.
 *   same       all candidates give the same bytes.
 *
 * Numbers never change the order of hunks: where a hunk was chosen among several candidates and
 * so comes to stand before one that precedes it in the diff, though other candidates would
 * keep the order, the evidence contradicts itself and doubt.h refuses.
 */
#ifndef HASP_PATCH_SETTLE_H
#define HASP_PATCH_SETTLE_H

#include <stdint.h>

#include "patch/candidates.h"

struct settling {
	const struct lines *base;
	const struct diff_text *diff;
	struct candidates *hunks;
	size_t count;
	size_t *by_number;  /* hunk indices in the order of their stated lines, if all have one;
	                     * otherwise in the order of the diff */
	bool numbered;      /* all hunks state a line */
	bool distinct;      /* no two hunks state the same line */
	bool backward;      /* a hunk states a smaller line than one before it in the diff */
	bool chained;       /* old and new numbers of all hunks agree with each other */
};

void settling_init(struct settling *s, const struct lines *base, const struct diff_text *diff,
                   struct candidates *hunks);
void settling_release(struct settling *s);

/* Places what can be placed; hunks that cannot stay !placed. */
void settle_all(struct settling *s);

/* Where the numbers say that hunk `i` is (0-based), if they are to be believed, and by how much
 * they are all off. */
bool settling_expects(const struct settling *s, size_t i, int64_t *ret, int64_t *ret_offset);

#endif
