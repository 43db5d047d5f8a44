/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what is known of terminals by their names and answers.
 *
 * To add one: a row in the table of kinds.c, with the source of what it says.
 */
#ifndef HASP_TUI_TERM_PRIVATE_H
#define HASP_TUI_TERM_PRIVATE_H

#include <stdbool.h>

#include "base/span.h"

/* How a terminal was known. */
enum kind_by {
	KIND_BY_VERSION, /* its answer to XTVERSION begins so */
	KIND_BY_TERM,    /* TERM begins so */
	KIND_BY_DA2,     /* the first number (or two) of its answer to CSI > c */
};

enum { KIND_REFLOWS = 1, KIND_TRUE_COLOUR = 2, KIND_OTHER_KEYS = 4, KIND_MUTE = 8,
       KIND_STRAYS = 16 };

struct kind {
	enum kind_by by;
	const char *name;
	unsigned facts; /* lines reflow; knows RGB; modifyOtherKeys; ask and link nothing;
	                * the cursor goes astray when lines reflow */
	const char *source;
};

/* The row of a terminal; NULL: nobody knows it. `name` is the text that `by` names. */
const struct kind *kind_find(enum kind_by by, struct span name);
/* Row `i`, for tests; NULL: no more. */
const struct kind *kind_at(size_t i);

#endif
