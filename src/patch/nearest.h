/* SPDX-License-Identifier: Apache-2.0 */
/* Where lines that a text does not have were probably meant, and what differs there.
 *
 * For messages only: nothing is ever changed at a place found like this.
 */
#ifndef HASP_PATCH_NEAREST_H
#define HASP_PATCH_NEAREST_H

#include "base/buf.h"
#include "base/text.h"
#include "patch/patch.h"

struct nearest {
	size_t line;       /* 0-based line of the base where the first wanted line would be */
	size_t equal;      /* how many wanted lines are the same there, blank ones aside */
	size_t similar;    /* and how many are but for white space and look-alikes */
	size_t differs;    /* 0-based wanted line that is the first to differ; wanted->count: none */
};

/* Finds the place where most of the wanted lines stand, or without such the line that is most
 * like the first of them.  False when nothing is near.  Time is bounded whatever the texts. */
bool nearest_find(const struct lines *base, const struct lines *wanted, struct nearest *ret);

/* How much two lines have in common, from 0 to 100, white space at their ends aside. */
unsigned line_likeness(struct span a, struct span b);

/* Whether the line says enough to be recognised by: not blank, not a lone brace or keyword. */
bool line_is_telling(struct span line);

/* Appends both lines for a message, cut to a readable length from about where they differ.  Control
 * characters are escapes; so are tabs, unusual spaces and look-alikes if nothing else differs. */
void lines_show(struct span one, struct span other, struct buf *ret_one, struct buf *ret_other);

/* Puts both lines into *failure, and appends a sentence: line `line` (1-based) of the file is the
 * first that differs; `who` has the other: "the diff", "the text". */
void nearest_say_difference(size_t line, struct span body, struct span given, const char *who,
                            struct patch_failure *failure, struct buf *out);

#endif
