/* SPDX-License-Identifier: Apache-2.0 */
/* Lines compared at rising tolerance.
 *
 * Two lines are equal at a level when their folded forms are the same bytes.
 * Levels are tried in order; a stricter one that fits wins.  Line endings are not part
 * of the comparison (fix.c decides them).
 */
#ifndef HASP_PATCH_FOLD_H
#define HASP_PATCH_FOLD_H

#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "patch/patch.h"

enum fold {
	FOLD_EXACT,
	FOLD_TRAILING,           /* without white space at the end */
	FOLD_COLLAPSE,           /* and runs of white space as one, none in front */
	FOLD_DROP,               /* without any white space */
	FOLD_LOOKALIKE_COLLAPSE, /* and quotes, dashes and spaces as ASCII */
	FOLD_LOOKALIKE_DROP,
	FOLD_COUNT
};

/* The level in results. */
enum patch_match fold_match(enum fold fold);

/* The folded form of `body` (a line without its ending): a part of it, or text
 * in *scratch, which is overwritten. */
struct span fold_line(enum fold fold, struct span body, struct buf *scratch);

/* The ASCII text that a look-alike stands for ("\"", "-", " ", "..."; "" for an
 * invisible character); NULL for any other character. */
const char *fold_lookalike(uint32_t code_point);

static inline bool fold_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

#endif
