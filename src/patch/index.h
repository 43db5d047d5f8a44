/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines of the base are lines of the diff, at one level of tolerance.
 *
 * Every distinct old line (context or removed) of the diff gets a number, 1 and
 * up; base lines get the number of the diff line they equal, or 0.  One pass
 * over the base serves all hunks.
 */
#ifndef HASP_PATCH_INDEX_H
#define HASP_PATCH_INDEX_H

#include "base/text.h"
#include "patch/fold.h"
#include "patch/parse.h"

struct line_index {
	uint32_t *base_ids;   /* one per base line */
	uint32_t *diff_ids;   /* one per line of the diff; 0 for added lines */
	size_t base_count;
	size_t id_count;      /* ids are 1..id_count */
	size_t *starts;       /* positions of id are positions[starts[id - 1] .. starts[id]) */
	size_t *positions;    /* base lines, ascending */
	size_t work;          /* lines compared so far by line_index_find */
	size_t work_max;      /* past this it gives up; 0: never */
};

/* `strip_bom` ignores a byte-order mark at the start of a diff line. */
void line_index_build(struct line_index *index, const struct lines *base,
                      const struct diff_text *diff, enum fold fold, bool strip_bom);
void line_index_release(struct line_index *index);

/* Whether the `count` ids stand in the base from line `at` on. */
bool line_index_fits(const struct line_index *index, const uint32_t *ids, size_t count, size_t at);

/* Places where they stand, ascending: the first `max` in `places`; returns how
 * many there are, but stops counting at max + 1. `count` is not 0. Linear in the base.
 * Finds nothing once index->work is past index->work_max. */
size_t line_index_find(struct line_index *index, const uint32_t *ids, size_t count,
                       size_t *places, size_t max);

#endif
