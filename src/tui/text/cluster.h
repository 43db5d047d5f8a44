/* SPDX-License-Identifier: Apache-2.0 */
/* Grapheme clusters (UAX #29, utf8proc): what a reader calls a character; width.h says how wide. */
#ifndef HASP_TUI_TEXT_CLUSTER_H
#define HASP_TUI_TEXT_CLUSTER_H

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
#endif
