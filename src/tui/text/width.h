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

#include "base/span.h"
#include "tui/text/cluster.h"

/* Columns of a text without control characters. */
unsigned width_of(struct span text);

#endif
