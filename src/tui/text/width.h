/* SPDX-License-Identifier: Apache-2.0 */
/* How many columns text takes on a terminal: grapheme clusters (UAX #29, utf8proc) and their
 * widths (East Asian Width, emoji presentation; combining marks have none).
 *
 *     while (cluster_next(&rest, &cluster)) column += cluster.width;
 */
#ifndef HASP_TUI_TEXT_WIDTH_H
#define HASP_TUI_TEXT_WIDTH_H

#include <stdbool.h>

#include "base/span.h"

struct cluster {
	struct span bytes;
	unsigned width; /* 0 (a lone mark), 1 or 2 */
};

/* Takes the next grapheme cluster off the front of *rest; false at the end. A byte that is not
 * UTF-8 is a cluster of width 1. */
bool cluster_next(struct span *rest, struct cluster *ret);
/* Columns of a text without control characters. */
unsigned width_of(struct span text);

#endif
