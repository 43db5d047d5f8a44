/* SPDX-License-Identifier: Apache-2.0 */
/* Whitespace evidence: what the old lines of a diff show about the white space of its added lines.
 *
 * Old lines that fit only when white space is folded show what was done to the
 * diff's text on its way (indent.h).  Whether it was done to the added lines, too, is
 * decided by evidence of several kinds, looked for in turn, in all hunks together:
 *
 *   - removed lines are right where context lines are not: changed lines were spared;
 *   - a removed and an added line with the same text: the diff is about white space;
 *   - the added line that takes the place of a removed one is indented as the diff has
 *     that line (damaged) or as the file has it (spared);
 *   - so are the lines beside it, a weaker sign;
 *   - the indentation occurs in the file near the hunk as it is, or only with the
 *     damage undone.
 *
 * Spared lines are taken literally.  When the evidence is contradictory, or there is none
 * and it matters, the diff is refused.
 */
#ifndef HASP_PATCH_WHITESPACE_EVIDENCE_H
#define HASP_PATCH_WHITESPACE_EVIDENCE_H

#include "patch/locate.h"
#include "patch/whitespace/indent.h"

/* Walks the old lines of a hunk beside the lines of the base that they stand for:
 *     struct old_walk walk = old_walk_begin(diff, places, h);
 *     while (old_walk_next(&walk)) use(walk.line, walk.base_line); */
struct old_walk {
	const struct hunk_line *line; /* the current old line */
	size_t base_line;             /* and its line of the base */
	size_t index;                 /* index of `line` in diff->lines */
	const struct diff_text *diff;
	size_t next, end, next_base;
};

struct old_walk old_walk_begin(const struct diff_text *diff, const struct placement *places,
                               size_t h);
bool old_walk_next(struct old_walk *walk);

enum verdict {
	VERDICT_SPARED,  /* added lines are as they should be */
	VERDICT_DAMAGED, /* the rule undoes what was done to them */
	VERDICT_UNKNOWN,
};

struct evidence {
	bool any_folded;               /* some hunk fits only with white space folded */
	struct indent_pair *pairs; /* owned; all old lines that are not blank */
	size_t pair_count;
	struct indent_rule rule;
	bool in_part;             /* it holds for removed lines alone, and not for context */
	struct indent_pair *own_pairs; /* owned */
	struct indent_rule *own;  /* owned; one per hunk, from its own lines */
	enum verdict verdict;
	bool keeps_tabs;          /* old lines lost all their tabs, added ones did not */
	bool inner_tabs;          /* tabs inside lines became spaces, maybe in added lines, too */
	bool trim_end;            /* added lines got white space at their ends */
	bool extra_cr;            /* lines of the diff end in a CR more than the file's */
	struct buf indents;       /* owned; indentations with no-break spaces as spaces */
};

/* `fold_spaces`: no-break spaces count as spaces. */
void evidence_collect(struct evidence *w, const struct lines *base, const struct diff_text *diff,
                      const struct placement *places, bool fold_spaces);
void evidence_release(struct evidence *w);

/* Appends the indentation that an added line with `indent` is to have; false when it cannot be
 * told. `removed` and `body` are as in adapter_line; `exact`: the hunk fits as it is. */
bool evidence_indent(const struct evidence *w, size_t h, bool exact, struct span indent,
                     const struct hunk_line *removed, const struct span *body, struct buf *out);

/* Appends what an added line of only white space is to be. */
bool evidence_blank(const struct evidence *w, struct span text, struct buf *out);

#endif
