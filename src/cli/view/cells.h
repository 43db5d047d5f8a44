/* SPDX-License-Identifier: Apache-2.0 */
/* Writing safe text column by column: what render.c and render_diff.c share.
 *
 *     struct cells cells = { .out = out, .limit = 72, .margin = 8 };
 *     cells_style(&cells, "\033[31m");
 *     cells_text(&cells, line);
 *     cells_style(&cells, NULL);
 */
#ifndef HASP_CLI_VIEW_CELLS_H
#define HASP_CLI_VIEW_CELLS_H

#include "base/buf.h"

struct cells {
	struct buf *out;
	size_t column;     /* where the next character goes, from the start of the text */
	size_t limit;      /* columns before the text is wrapped; 0: never */
	size_t margin;     /* blanks before a line that goes on */
	const char *style; /* escape sequence in force; NULL: none */
	unsigned marks;    /* combining marks since the last letter */
};

/* Appends foreign text, made safe as render.h says. */
void cells_text(struct cells *cells, struct span untrusted);

/* Ends the style in force and begins another (NULL: none). */
void cells_style(struct cells *cells, const char *style);

#endif
