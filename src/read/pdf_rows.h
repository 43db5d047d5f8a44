/* SPDX-License-Identifier: Apache-2.0 */
/* Tables on a page, as far as places of letters show them.
 *
 * The text of a page is in the order in which it is read, so the columns of a table come one below
 * the other.  Pieces of text that stand on one height belong to a row; three rows or more in a
 * row, each of short pieces, are a table, which is written row by row with bars between its
 * columns, where its first piece is in the text.  All else stays as it is.
 */
#ifndef HASP_READ_PDF_ROWS_H
#define HASP_READ_PDF_ROWS_H

#include "read/text_out.h"

/* Of one character, in points from the upper left corner. */
struct pdf_place {
	double x1, y1, x2, y2;
};

/* Writes the text of a page, of whose characters (line ends are some, too) `count` places are
 * known.  False: there is enough. */
bool pdf_rows_write(struct span text, const struct pdf_place *places, size_t count,
                    struct text_out *out);

#endif
