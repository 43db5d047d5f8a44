/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of a patch share: folded and numbered lines, candidates, places, and what each
 * step is called with.  Not for other folders: theirs is patch.h. */
#ifndef HASP_PATCH_PRIVATE_H
#define HASP_PATCH_PRIVATE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "base/text.h"
#include "diff/diff.h"
#include "patch/parse.h"
#include "patch/patch.h"

/* ---- lines compared --------------------------------------------------------------- */

/* Lines compared at rising tolerance.
 *
 * Two lines are equal at a level when their folded forms are the same bytes.
 * Levels are tried in order; a stricter one that fits wins.  Line endings are not part
 * of the comparison (fix.c decides them).
 */
enum fold {
	FOLD_EXACT,
	FOLD_TRAILING,           /* without white space at the end */
	FOLD_COLLAPSE,           /* and runs of white space as one, none in front */
	FOLD_DROP,               /* without any white space */
	FOLD_LOOKALIKE_COLLAPSE, /* and quotes, dashes and spaces as ASCII */
	FOLD_LOOKALIKE_DROP,
	FOLD_COUNT
};

/* The level in results. */
enum patch_match fold_match(enum fold fold);

/* The folded form of `body` (a line without its ending): a part of it, or text
 * in *scratch, which is overwritten. */
struct span fold_line(enum fold fold, struct span body, struct buf *scratch);

/* The ASCII text that a look-alike stands for ("\"", "-", " ", "..."; "" for an
 * invisible character); NULL for any other character. */
const char *fold_lookalike(uint32_t code_point);

static inline bool fold_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* ---- lines numbered --------------------------------------------------------------- */

/* Which lines of the base are lines of the diff, at one level of tolerance.
 *
 * Every distinct old line (context or removed) of the diff gets a number, 1 and
 * up; base lines get the number of the diff line they equal, or 0.  One pass
 * over the base serves all hunks.
 */

struct fold_index {
	uint32_t *base_ids;   /* one per base line */
	uint32_t *diff_ids;   /* one per line of the diff; 0 for added lines */
	size_t base_count;
	size_t id_count;      /* ids are 1..id_count */
	size_t *starts;       /* positions of id are positions[starts[id - 1] .. starts[id]) */
	size_t *positions;    /* base lines, ascending */
	size_t work;          /* lines compared so far by fold_index_find */
	size_t work_max;      /* past this it gives up; 0: never */
};

/* `strip_bom` ignores a byte-order mark at the start of a diff line. */
void fold_index_build(struct fold_index *index, const struct lines *base,
                      const struct diff_text *diff, enum fold fold, bool strip_bom);
void fold_index_release(struct fold_index *index);

/* Whether the `count` ids stand in the base from line `at` on. */
bool fold_index_fits(const struct fold_index *index, const uint32_t *ids, size_t count, size_t at);

/* Places where they stand, ascending: the first `max` in `places`; returns how
 * many there are, but stops counting at max + 1. `count` is not 0. Linear in the base.
 * Finds nothing once index->work is past index->work_max. */
size_t fold_index_find(struct fold_index *index, const uint32_t *ids, size_t count,
                       size_t *places, size_t max);

/* ---- places ----------------------------------------------------------------------- */

/* Placing every hunk of a diff in the base, all together or not at all.
 *
 * Candidates (below) are the places where all old lines of a hunk stand
 * one after the other, at the strictest level that gives any.  One candidate
 * is a place unless the header's line number, proven right by the other hunks,
 * says that the file has changed there (locate.c).  Several candidates are
 * settled by what the diff says, in this order: its line number, the offset of
 * its neighbours, the order of the hunks, the function named after the @@, an edge
 * of the file; or because every candidate gives the same result.  Nothing else
 * counts: "the nearest" is a guess and is refused.
 */

/* Where one hunk goes. */
struct placement {
	size_t at;    /* 0-based base line of its first old line */
	size_t count; /* lines of the hunk that count; what follows was prose */
	size_t old_count; /* of these, context and removed ones */
	enum fold fold;
	enum patch_settled settled;
};

/* Fills `ret` (one per hunk); may rewrite hunks that fit nowhere. On failure fills *failure (zeroed
 * by the caller).  NO_MATCH, AMBIGUOUS_DIFF. */
bool locate_hunks(const struct lines *base, struct diff_text *diff, bool base_has_bom,
                  struct placement *ret, struct patch_failure *failure, struct err *err);

/* ---- candidates ------------------------------------------------------------------- */

/* The places where each hunk could go. */

/* Places kept per hunk. A hunk with more is settled by its number or not at all. */
enum { CANDIDATES_KEPT = 256 };

/* What is known of one hunk while it is being placed. */
struct candidates {
	size_t count;       /* lines of the hunk that count (see placement.count) */
	size_t old_count;   /* context and removed lines among them */
	size_t lead, trail; /* old lines before the first and after the last change */
	enum fold fold;     /* level of the places */
	size_t *places;     /* owned; ascending */
	size_t kept;        /* elements in `places` */
	size_t total;       /* places in all; CANDIDATES_KEPT + 1 stands for more */
	bool narrowed;      /* anchors took places away */
	bool has_stated;    /* the header has a line number */
	size_t stated;      /* 0-based line where it says the hunk begins */
	bool placed;
	size_t at;
	enum patch_settled settled;
};

/* Finds the candidates of all hunks; `ret` has diff->hunk_count zeroed
 * elements. Each hunk stops at the strictest level that fits anywhere.  False when
 * hunks and base are so alike that the search was given up (hostile input). */
bool candidates_find(const struct lines *base, const struct diff_text *diff, bool base_has_bom,
                     struct candidates *ret);
void candidates_release(struct candidates *hunks, size_t count);

/* Measures what the first `count` lines of a hunk are made of. */
void candidates_measure(const struct diff_text *diff, const struct hunk *hunk, size_t count,
                        struct candidates *ret);

/* What the hunk takes up when it begins at line `at` (0-based): what must not overlap. Context
 * may. In half lines: line n is 2n + 1, the gap before it, where an insertion goes, 2n.
 * The end is exclusive. */
size_t candidates_core_start(const struct candidates *hunk, size_t at);
size_t candidates_core_end(const struct candidates *hunk, size_t at);

/* Copies the ids of the old lines of the first `count` lines to `ids`; returns how many. */
size_t candidates_ids(const struct fold_index *index, const struct hunk *hunk, size_t count,
                      uint32_t *ids);

/* ---- anchors ---------------------------------------------------------------------- */

/* Anchors: the lines that a patch of the apply_patch format names before a hunk.
 *
 * In that format ("*** Begin Patch", "*** Update File: ...") a section of context alone, and the
 * text after an @@ without numbers, say where to go on looking.  They are heeded in order: the
 * lines of a section stand after the hunk before it and before the change of the one
 * after it; the text of an @@ begins a line somewhere before that change.  What
 * the file lacks, or has in another order only, is refused.
 */

/* Whether the diff has any. */
bool anchors_any(const struct diff_text *diff);

/* Leaves each hunk the places that its anchors allow. NO_MATCH when an anchor is not in the
 * file, or none of the places that fit the hunk follows it. */
bool anchors_narrow(const struct lines *base, const struct diff_text *diff,
                    struct candidates *hunks, struct patch_failure *failure, struct err *err);

/* Once all hunks are placed: whether each section of context comes after the hunk before
 * it. NO_MATCH. */
bool anchors_check_order(const struct lines *base, const struct diff_text *diff,
                         const struct candidates *hunks, struct patch_failure *failure,
                         struct err *err);

/* ---- settling --------------------------------------------------------------------- */

/* Choosing among candidates by what the diff says, or refusing.
 *
 * The evidence, strongest first:
 *
 *   number     the header names exactly this line.  Believed when the hunks
 *              that fit one place only are all where their headers say (or all off by
 *              the same distance), or, when there is no such hunk, when the
 *              old and new numbers of all headers agree with each other.
 *   neighbour  the placed hunks before and after are both off by the same
 *              distance, and this candidate is off by it too.
 *   order      exactly one choice keeps the hunks in the diff's own order without overlap,
 *              and their numbers do not run against that order.
 *   heading    only this candidate lies in the function named after the @@. Only for a hunk
 *              without a number: beside a wrong one the heading may be as old.
 *   edge       the context is shorter on one side because the file ends there.
 *   same       all candidates give the same bytes.
 *
 * Numbers never change the order of hunks: where a hunk was chosen among several candidates and
 * so comes to stand before one that precedes it in the diff, though other candidates would
 * keep the order, the evidence contradicts itself and locate.c refuses.
 */

struct settling {
	const struct lines *base;
	const struct diff_text *diff;
	struct candidates *hunks;
	size_t count;
	size_t *by_number;  /* hunk indices in the order of their stated lines, if all have one;
	                     * otherwise in the order of the diff */
	bool numbered;      /* all hunks state a line */
	bool distinct;      /* no two hunks state the same line */
	bool backward;      /* a hunk states a smaller line than one before it in the diff */
	bool chained;       /* old and new numbers of all hunks agree with each other */
};

/* Reads what the headers state; nothing is placed. Everything passed in must outlive it. */
void settle_init(struct settling *s, const struct lines *base, const struct diff_text *diff,
                 struct candidates *hunks);
void settle_release(struct settling *s);

/* Places what can be placed; hunks that cannot stay !placed. */
void settle_all(struct settling *s);

/* Where the numbers say that hunk `i` is (0-based), if they are to be believed, and by how much
 * they are all off. */
bool settle_expects(const struct settling *s, size_t i, int64_t *ret, int64_t *ret_offset);

/* ---- explaining a refusal --------------------------------------------------------- */

/* Why a hunk has no place, and where it may have meant, in words for a model. */

/* The hunk fits nowhere: finds the nearest places by counting equal lines, and
 * the first line that differs at the best. Returns false. */
bool explain_no_match(const struct lines *base, const struct diff_text *diff, size_t hunk,
                      const struct candidates *found, struct patch_failure *failure,
                      struct err *err);

/* The hunk fits several places (or has no context at all). Returns false. */
bool explain_ambiguous(const struct diff_text *diff, size_t hunk, const struct candidates *found,
                       struct patch_failure *failure, struct err *err);

/* The hunk fits a place that its own header contradicts. Returns false. */
bool explain_contradiction(const struct diff_text *diff, size_t hunk,
                           const struct candidates *found, size_t expected,
                           struct patch_failure *failure, struct err *err);

/* The place that was chosen for the hunk is on the wrong side of hunk `other`. Returns false. */
bool explain_order(const struct diff_text *diff, size_t hunk, size_t other,
                   const struct candidates *found, struct patch_failure *failure, struct err *err);

/* The hunk seems to have lost context lines. Returns false. */
bool explain_lost_lines(const struct diff_text *diff, size_t hunk, const struct candidates *found,
                        struct patch_failure *failure, struct err *err);

/* Fills the fields that all failures have. */
void explain_hunk(const struct diff_text *diff, size_t hunk, struct patch_failure *failure);

/* ---- the nearest lines ------------------------------------------------------------ */

/* Where lines that a text does not have were probably meant, and what differs there.
 *
 * For messages only: nothing is ever changed at a place found like this.
 */

struct nearest {
	size_t line;       /* 0-based line of the base where the first wanted line would be */
	size_t equal;      /* how many wanted lines are the same there, blank ones aside */
	size_t similar;    /* and how many are but for white space and look-alikes */
	size_t differs;    /* 0-based wanted line that is the first to differ; wanted->count:
	                    * none */
};

/* Finds the place where most of the wanted lines stand, or without such the line that is most
 * like the first of them.  False when nothing is near.  Time is bounded whatever the texts. */
bool nearest_find(const struct lines *base, const struct lines *wanted, struct nearest *ret);

/* How much two lines have in common, from 0 to 100, white space at their ends aside. */
unsigned nearest_likeness(struct span a, struct span b);

/* Whether the line says enough to be recognised by: not blank, not a lone brace or keyword. */
bool nearest_is_distinctive(struct span line);

/* Puts both lines into *failure, and appends a sentence: line `line` (1-based) of the file is the
 * first that differs; `who` has the other: "the diff", "the text". */
void nearest_say_difference(size_t line, struct span body, struct span given, const char *who,
                            struct patch_failure *failure, struct buf *out);

/* ---- lines paired ----------------------------------------------------------------- */

/* What a run of added lines does to the run of removed lines before it. */
enum block_change {
	BLOCK_CHANGES,
	BLOCK_RESPACES, /* nothing but to white space and line breaks */
	BLOCK_IDLE,     /* nothing at all */
};

/* What a line of a hunk stands for. */
struct line_pair {
	const struct hunk_line *removed; /* of an added line: the removed one that it replaces, or
	                                  * that it repeats; NULL: none */
	const struct hunk_line *likest;  /* the same, but of lines that differ the one that it is
	                                  * most like */
	size_t base_line;                /* of an old line: its line of the base (0-based); of an
	                                  * added one: that of `removed` */
	bool same_blanks;                /* of an added line: its run has as many blank lines as the
	                                  * removed ones before it */
	bool replaces;                   /* of an added line: some of those removed ones are gone */
	enum block_change change;        /* of an added line: what its run does */
};

/* Lines of a run of added ones that are spelled as lines of the run of removed ones before it
 * stand for these.  Of those in between the first added one replaces the first removed one, and so
 * on. */
struct pairing {
	struct line_pair *of; /* owned; one for each line of the diff */
};

/* Pairs the lines of all hunks. */
void pairing_make(const struct diff_text *diff, const struct placement *places,
                  struct pairing *ret);
/* Frees what pairing_make gave. */
void pairing_release(struct pairing *pairing);

/* ---- spelling --------------------------------------------------------------------- */

/* How a text with one level of escapes too much is written. */
enum spelling_escapes {
	SPELLING_JSON,   /* as a JSON string, line ends and all */
	SPELLING_CODE,   /* a backslash before each quotation mark and backslash */
	SPELLING_QUOTES, /* a backslash before each quotation mark */
	SPELLING_ESCAPES_COUNT
};

/* Appends the text without them, and counts them.  False when it is not written so. */
bool spelling_unescape(enum spelling_escapes level, struct span text, struct buf *out,
                       size_t *ret_count);

/* Appends `line`, which takes the place of `old`, with those escapes for invisible characters as
 * these that it has from there (patch_reading_unseen). False, appending a part: it cannot be
 * told which they are. */
bool spelling_carry_unseen(struct span old, struct span line, struct buf *out);

/* The same for hunks (respell.c).  Each rewrites the lines of the diff; false, leaving it in any
 * state, when there is nothing to rewrite, or it is not written so. */

/* Escapes for invisible characters, in old lines that the base does not have as they are.
 * *ret_doubt: 1-based line of the diff text whose escapes may mean either; 0: none. */
bool respell_unseen(const struct lines *base, struct diff_text *diff, size_t *ret_doubt);
/* One level of escapes too much, in all lines. */
bool respell_escapes(enum spelling_escapes level, struct diff_text *diff);

/* ---- fixing ----------------------------------------------------------------------- */

/* From placed hunks to an edit script in the file's own bytes.
 *
 * Context lines are never written.  Added lines get the file's line endings
 * where the diff's differ from them, lose damage that the old lines of the
 * hunk show (whitespace/whitespace.h), and keep the state of the final newline unless the diff
 * speaks about it.
 */

/* Fills script, inserted and drops_bom of *ret (zeroed before, with a limit in inserted).
 * NO_MATCH when damage to added lines cannot be undone. */
bool fix_hunks(const struct lines *base, const struct diff_text *diff,
               const struct placement *places, bool base_has_bom, struct patch_plan *ret,
               struct patch_failure *failure, struct err *err);

/* ---- applying strictly ------------------------------------------------------------ */

/* The strict application: an independent step that tolerates nothing.
 *
 * It reads a unified diff of its own and compares every context and removed
 * line, byte for byte with its ending, with the base at exactly the stated numbers; counts,
 * order and the new numbers must be exact, too.  It shares no code with the
 * lenient parser and locator, so that an error in those cannot pass unseen.
 */

/* Fills *ret (empty before; its inserted text borrows from *ret_inserted) with what `diff`
 * does to `base`. INTERNAL, with the line of the diff, for whatever is not exact. */
bool strict_apply(const struct lines *base, struct span diff, struct script *ret,
                  struct buf *ret_inserted, struct err *err);

#endif
