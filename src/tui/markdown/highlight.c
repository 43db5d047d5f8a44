/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/markdown/highlight.h"

#include <stdlib.h>

#include "base/mem.h"

struct highlight {
	struct span language;
};

struct highlight *highlight_new(struct span language)
{
	struct highlight *highlight = mem_alloc(1, sizeof(*highlight));

	highlight->language = language;
	return highlight;
}

void highlight_free(struct highlight *highlight)
{
	free(highlight);
}

void highlight_line(struct highlight *highlight, struct span line, struct row *row)
{
	(void)highlight;
	row_text(row, line, STYLE(ROLE_CODE));
}
