/* SPDX-License-Identifier: Apache-2.0 */
/* What was done to the indentation of a diff, inferred from pairs of lines. */
#ifndef HASP_PATCH_WHITESPACE_INDENT_H
#define HASP_PATCH_WHITESPACE_INDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/buf.h"
#include "base/span.h"
#include "base/text.h"

/* Leading white space of a line as the diff has it, and as the file has it. */
struct indent_pair {
	struct span diff, file;
};

enum indent_kind {
	INDENT_SAME,    /* nothing was done */
	INDENT_STRIP,   /* the diff has `prefix` in front of it */
	INDENT_ADD,     /* the diff lost `prefix` */
	INDENT_TABS,    /* the diff has spaces where the file has tabs of `width` */
	INDENT_SPACES,  /* the diff has tabs where the file has `width` spaces */
	INDENT_SCALE,   /* the file has `width` spaces for every `from` of the diff */
	INDENT_MAP,     /* each indentation of the diff stands for one of the file */
	INDENT_UNKNOWN,
};

struct indent_rule {
	enum indent_kind kind;
	struct span prefix;
	size_t width, from;
	bool one_depth;                  /* of SCALE: the pairs have no other depth than `from` */
	const struct indent_pair *pairs; /* borrowed, for TABS and MAP */
	size_t count;
};

/* The simplest rule that explains all pairs. No pairs: INDENT_SAME. */
struct indent_rule indent_infer(const struct indent_pair *pairs, size_t count);

/* Appends what `indent` was before the damage; false when the rule does not say. */
bool indent_undo(const struct indent_rule *rule, struct span indent, struct buf *out);

/* Whether there is a tab in it. */
static inline bool indent_has_tab(struct span indent)
{
	return indent.len && memchr(indent.data, '\t', indent.len);
}

/* Whether each line that the diff indents so is indented as `file` in the file. */
bool indent_is_always(const struct indent_pair *pairs, size_t count, struct span diff,
                      struct span file);

/* The leading spaces and tabs of a line. */
struct span indent_of_line(struct span text);

/* ---- one shift of a whole block --------------------------------------------------- */

/* A block whose indentation differs from the file's by one and the same shift.
 *
 * A model copies a block and indents it otherwise: a level more or less, tabs for spaces.  Every
 * line that it copied is evidence, none may speak against the shift.  Lines that the file does
 * not have yet are then shifted likewise:
 *
 *     struct shift shift = { .pairs = pairs, .count = n, .file_unit = indent_unit(&lines),
 *                            .given_unit = ... };
 *     if (indent_shift_infer(&shift) && indent_shift_apply(&shift, indent, &out)) ...
 *
 * Three readings of the evidence are tried: the same text in front of every line, added or removed;
 * levels, each of some unit here and of another there, all off by the same number; the same columns
 * with other tab stops. An indentation that is in the evidence stands for what the file has there.
 * For any other, all readings that hold must give the same answer; otherwise there is none.
 */

/* Widths of a level: so many spaces, or one of these. */
enum { UNIT_UNKNOWN = 0, UNIT_TAB = SIZE_MAX >> 1 };

struct shift {
	const struct indent_pair *pairs; /* borrowed: every old line that is not blank */
	size_t count;
	size_t given_unit;               /* of the block, its new lines included */
	size_t file_unit;
	bool has_tabs;                   /* some indentation of the block has a tab */

	/* Which readings hold; filled by indent_shift_infer. */
	bool adds, strips;               /* `prefix` before every line, in the file or the block */
	struct span prefix;
	bool by_levels;                  /* the file is `deeper` levels deeper than the block */
	long deeper;
	size_t stop;                     /* tab stops with which the columns are the same; 0:
	                                  * none */
};

/* By how much a file indents a level: UNIT_TAB if most of its indented lines begin with a tab,
 * otherwise the commonest step from a line to a deeper one. */
size_t indent_unit(const struct lines *lines);

/* Takes one more indentation into account: the greatest unit of which all of them are multiples.
 * Begin with UNIT_UNKNOWN; *ret_mixed, false at first, becomes true when there is none. */
void indent_unit_add(size_t *unit, bool *mixed, struct span indent);

/* Reads the evidence; false when no reading holds for all pairs. */
bool indent_shift_infer(struct shift *shift);

/* Whether the same text in front of every line holds, and yet is not all that may be meant of this
 * indentation: a file of tabs may have tabs where a block without any has spaces; and one level
 * alone, twice as deep or half as deep, may as well be a unit twice or half as wide. */
bool indent_shift_in_doubt(const struct shift *shift, struct span indent);

/* Whether a line ends in what another has to follow: a comma, an operator, a string
 * (after which may come another), an open parenthesis. */
bool indent_is_continued(struct span line);

/* Appends what an indentation of the block is in the file; false when it cannot be known.  `above`
 * is the line before, blank ones aside: where the unit changes, a line that goes on with the one
 * above or is deeper by several levels is aligned to something, and alignment has no unit. */
bool indent_shift_apply(const struct shift *shift, struct span indent, struct span above,
                        struct buf *out);

#endif
