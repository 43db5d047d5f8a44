/* SPDX-License-Identifier: Apache-2.0 */
/* A change between two texts in line numbers: private to this folder.
 *
 * Old lines [old_at, old_at + old_count) became new lines
 * [new_at, new_at + new_count).  A list of changes is sorted, and two
 * neighbours have at least one unchanged line between them.
 */
#ifndef HASP_DIFF_CHANGE_H
#define HASP_DIFF_CHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct change {
	size_t old_at;
	size_t old_count;
	size_t new_at;
	size_t new_count;
};

struct change_list {
	struct change *items; /* owned */
	size_t count;
	size_t cap;
};

/* A part of a text that is to be compared: lines [from, from + count). */
struct line_range {
	const struct lines *lines;
	size_t from;
	size_t count;
};

/* Gives every line of the range a number, so that two lines have the same
 * number exactly when they are equal.  A new line that does not occur among the
 * old ones, and an old line that does not occur among the new ones, gets
 * CLASS_ALONE: it has no partner, whatever the rest looks like.  Both arrays
 * have `count` elements.  Counts must be below INT32_MAX. */
#define CLASS_ALONE UINT32_MAX
void classes_assign(struct line_range old_range, struct line_range new_range,
                    uint32_t *old_classes, uint32_t *new_classes);

/* Marks the elements of `a` (n of them) and `b` (m) that a shortest edit script
 * touches; a good script instead of the shortest when that would take too long.
 * The marks are bytes that are zero before.  n + m must be below INT32_MAX. */
void myers_mark(const uint32_t *a, size_t n, const uint32_t *b, size_t m,
                unsigned char *a_changed, unsigned char *b_changed);

/* Moves pure insertions and deletions that can stand in several places to
 * where they read best, and joins changes that come to touch. */
void slide_changes(const struct lines *old_lines, const struct lines *new_lines,
                   struct change_list *list);

#endif
