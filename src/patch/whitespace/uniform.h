/* SPDX-License-Identifier: Apache-2.0 */
/* Hunks whose old lines are all indented otherwise than in the file, by one and the same shift.
 *
 * What a model indents otherwise it indents so throughout: if every old line of a hunk, context
 * lines too, is evidence for one shift (shift.h) and none against it, the added lines have it, too.
 * Where such a shift does not say for certain what an added line is to be, nothing else may.
 *
 *     struct uniform *uniform = uniform_make(base, diff, places);
 *     switch (uniform_indent(uniform, h, line, &out)) ...
 *     uniform_free(uniform);
 */
#ifndef HASP_PATCH_WHITESPACE_UNIFORM_H
#define HASP_PATCH_WHITESPACE_UNIFORM_H

#include "base/buf.h"
#include "patch/locate.h"

struct uniform;

/* Reads the evidence. Everything passed in must outlive the result. */
struct uniform *uniform_make(const struct lines *base, const struct diff_text *diff,
                             const struct placement *places);
void uniform_free(struct uniform *uniform);

enum uniform_answer {
	UNIFORM_NONE,    /* the old lines of the hunk are not shifted, or not all alike */
	UNIFORM_TOLD,    /* the indentation was appended */
	UNIFORM_UNKNOWN, /* they are, but what this line is to have cannot be told */
};

/* What the added line `index` (of diff->lines) of hunk `h` is to be indented by. */
enum uniform_answer uniform_indent(const struct uniform *uniform, size_t h, size_t index,
                                   struct buf *out);

/* Whether the indentation that was found for the line in another way is in doubt: old lines of the
 * hunk lost what aligns them, and whether this one did cannot be told; or the hunk lacks a line. */
bool uniform_doubts(const struct uniform *uniform, size_t h, size_t index, struct span found);

#endif
