/* SPDX-License-Identifier: Apache-2.0 */
/* How many columns text takes on a terminal: grapheme clusters (UAX #29, utf8proc) and their
 * widths (East Asian Width, emoji presentation; combining marks have none).
 *
 *     while (cluster_next(&rest, &cluster)) column += cluster.width;
 *
 * As terminals do it where they agree: ambiguous characters are narrow; an emoji of several
 * characters (joined, with a skin tone, with U+FE0F behind it, a keycap) and a flag take two
 * columns; spacing marks take one, as in glibc's wcwidth; no cluster takes more than two.
 */
#ifndef HASP_TUI_TEXT_WIDTH_H
#define HASP_TUI_TEXT_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

struct cluster {
	struct span bytes;
	unsigned width; /* 0 (a lone mark), 1 or 2 */
};

/* Takes the next grapheme cluster off the front of *rest; false at the end. A byte that is not
 * UTF-8 is a cluster of width 1. */
bool cluster_next(struct span *rest, struct cluster *ret);
/* Whether the character would join a cluster that ends with `before`. */
bool cluster_joins(uint32_t before, uint32_t c);
/* Columns of a text without control characters. */
unsigned width_of(struct span text);

#endif
