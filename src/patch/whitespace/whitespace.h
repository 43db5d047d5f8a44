/* SPDX-License-Identifier: Apache-2.0 */
/* Repairs on added lines the damage that the old lines of the same diff show.
 *
 * When the old lines fit only after folding white space or look-alikes, the diff's text was changed
 * on its way, and its added lines with it. The change is inferred by comparing old lines with the
 * file: tabs turned into spaces, an indentation shifted, quotes made typographic. Removed lines are
 * the better evidence, because they have a marker as added ones do; context lines count where no
 * line is removed, and only if the added lines then look more like the file. Where the damage
 * cannot be inferred, the diff is refused: nothing is guessed.
 *
 * A look-alike in an added line is undone if it damaged old lines and nothing says that it is
 * meant: the file has the character itself, or it is an ellipsis, which people write, and no added
 * line has it in the words of its removed line; added lines have plain characters that the old
 * lines lost throughout.  Then it stays, as the diff has it.
 */
#ifndef HASP_PATCH_WHITESPACE_WHITESPACE_H
#define HASP_PATCH_WHITESPACE_WHITESPACE_H

#include "base/buf.h"
#include "patch/private.h"
#include "patch/whitespace/indent.h"

struct adapter;

/* Of lines that have as much in common, of 100, one stands for the other. */
enum { LIKE_ENOUGH = 50 };

/* Gathers the evidence. Everything passed in must outlive the adapter. */
struct adapter *adapt_make(const struct lines *base, const struct diff_text *diff,
                           const struct placement *places, const struct pairing *pairing);
void adapt_free(struct adapter *adapter);

/* Appends the text that added line `line` (an index into diff->lines) of hunk `h` is to
 * have.  One that is spelled as the removed line it stands for has the file's bytes.  False: it
 * cannot be known. */
bool adapt_line(struct adapter *adapter, size_t h, size_t line, struct buf *out);

/* ---- whitespace evidence ---------------------------------------------------------- */

/* Whitespace evidence: what the old lines of a diff show about the white space of its added lines.
 *
 * Old lines that fit only when white space is folded show what was done to the diff's text on its
 * way (indent.h). Several kinds of evidence, tried in turn over all hunks, decide whether the added
 * lines were changed as well:
 *
 *   - removed lines are right where context lines are not: changed lines were spared;
 *   - a removed and an added line with the same text: the diff is about white space;
 *   - the added line that takes the place of a removed one is indented as the diff has
 *     that line (damaged) or as the file has it (spared);
 *   - so are the lines next to it, a weaker sign;
 *   - the indentation occurs in the file near the hunk as it is, or only with the
 *     damage undone.
 *
 * Spared lines are taken literally.  When the evidence is contradictory, or there is none
 * and it matters, the diff is refused.
 */

/* Walks the old lines of a hunk together with the lines of the base that they match:
 *     struct evidence_walk walk = evidence_walk_begin(diff, places, h);
 *     while (evidence_walk_next(&walk)) use(walk.line, walk.base_line); */
struct evidence_walk {
	const struct hunk_line *line; /* the current old line */
	size_t base_line;             /* and its line of the base */
	size_t index;                 /* index of `line` in diff->lines */
	const struct diff_text *diff;
	size_t next, end, next_base;
};

/* Stands before the first old line of hunk `h`; each call of next goes to one, until false. */
struct evidence_walk evidence_walk_begin(const struct diff_text *diff,
                                         const struct placement *places,
                                         size_t h);
bool evidence_walk_next(struct evidence_walk *walk);

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
	bool *own_same;           /* owned; its old lines are indented, as they are in the file */
	enum verdict verdict;
	bool keeps_tabs;          /* old lines lost all their tabs, added ones did not */
	bool inner_tabs;          /* tabs inside lines became spaces, maybe in added lines, too */
	struct span extra_end;    /* white space that added lines got at their ends */
	bool doubtful_ends;       /* some may have got some */
	bool extra_cr;            /* lines of the diff end in a CR more than the file's */
	struct buf indents;       /* owned; indentations with no-break spaces as spaces */
};

/* `fold_spaces`: no-break spaces count as spaces. */
void evidence_collect(struct evidence *w, const struct lines *base, const struct diff_text *diff,
                      const struct placement *places, const struct pairing *pairing,
                      bool fold_spaces);
void evidence_release(struct evidence *w);

/* Appends the indentation for an added line with `indent`; false if it is not clear. `removed` is
 * the line that it replaces (NULL: none), and `body` that line in the file; `exact`: the hunk fits
 * as it is. */
bool evidence_indent(const struct evidence *w, size_t h, bool exact, struct span indent,
                     const struct hunk_line *removed, const struct span *body, struct buf *out);

/* Appends the text for an added line of only white space. */
bool evidence_blank(const struct evidence *w, struct span text, struct buf *out);

/* ---- one shift in all hunks ------------------------------------------------------- */

/* Hunks whose old lines are all indented otherwise than in the file, by one and the same shift.
 *
 * What a model indents otherwise it indents so throughout: if every old line of a hunk, context
 * lines too, is evidence for one shift (indent.h) and none against it, the added lines have it,
 * too. If such a shift does not determine an added line with certainty, nothing else may.
 *
 *     struct uniform *uniform = uniform_make(base, diff, places);
 *     switch (uniform_indent(uniform, h, line, &out)) ...
 *     uniform_free(uniform);
 */

struct uniform;

/* Reads the evidence. Everything passed in must outlive the result. */
struct uniform *uniform_make(const struct lines *base, const struct diff_text *diff,
                             const struct placement *places);
void uniform_free(struct uniform *uniform);

enum uniform_answer {
	UNIFORM_NONE,    /* the old lines of the hunk are not shifted, or not all alike */
	UNIFORM_FOUND,    /* the indentation was appended */
	UNIFORM_UNKNOWN, /* they are, but what this line is to have cannot be known */
};

/* The indentation of the added line `index` (of diff->lines) of hunk `h`. */
enum uniform_answer uniform_indent(const struct uniform *uniform, size_t h, size_t index,
                                   struct buf *out);

/* Whether the indentation that was found for the line in another way is in doubt: old lines of the
 * hunk lost what aligns them, and whether this one did cannot be known; or the hunk lacks a
 * line. */
bool uniform_doubts(const struct uniform *uniform, size_t h, size_t index, struct span found);

#endif
