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

/* A hash of a folded line. */
uint64_t fold_hash(struct span text);

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
 * Every distinct line of one side of the diff gets a number, 1 and up; base lines get the number
 * of the diff line they equal, or 0.  One pass over the base serves all hunks.
 */

enum fold_side {
	FOLD_SIDE_OLD, /* context and removed lines */
	FOLD_SIDE_NEW, /* context and added lines */
};

struct fold_index {
	uint32_t *base_ids;   /* one per base line */
	uint32_t *diff_ids;   /* one per line of the diff; 0: not of that side */
	size_t base_count;
	size_t id_count;      /* ids are 1..id_count */
	size_t *starts;       /* positions of id are positions[starts[id - 1] .. starts[id]) */
	size_t *positions;    /* base lines, ascending */
	size_t work;          /* lines compared so far by fold_index_find */
	size_t work_max;      /* past this it gives up; 0: never */
};

/* `strip_bom` ignores a byte-order mark at the start of a diff line. */
void fold_index_build(struct fold_index *index, const struct lines *base,
                      const struct diff_text *diff, enum fold_side side, enum fold fold,
                      bool strip_bom);
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
 * Candidates (below) are the places where all old lines of a hunk stand one after the other: as
 * they are, or without white space at line ends, or else in any looser reading.  A hunk whose new
 * lines plainly stand where its old ones were is made already (made.c), and no looser reading of it
 * is tried.  Several candidates are settled by the table of rules in settle.c, and every choice
 * must then withstand the doubts in doubts.c.  Nothing else counts: "the nearest" is a guess and is
 * refused.
 */

/* Where one hunk goes. */
struct placement {
	size_t at;    /* 0-based base line of its first old line */
	size_t count; /* lines of the hunk that count; what follows was prose */
	size_t old_count; /* of these, context and removed ones */
	enum fold fold;
	enum patch_settled settled;
	size_t lost;  /* of a hunk that fails, whose `count` is 0: its lines that count */
	bool made;    /* it fails because it was made already */
};

/* Fills `ret` (one per hunk, zeroed by the caller; on failure only those that have a place and are
 * not in the list of those that fail); may rewrite hunks that fit nowhere.  If all hunks were made
 * already, *ret_made is the 1-based line where the first stands, and `ret` is not filled; otherwise
 * 0.  On failure fills *failure (zeroed by the caller).  NO_MATCH, AMBIGUOUS_DIFF. */
bool locate_hunks(const struct lines *base, struct diff_text *diff, bool base_has_bom,
                  struct placement *ret, size_t *ret_made, struct patch_failure *failure,
                  struct err *err);

/* ---- candidates ------------------------------------------------------------------- */

/* The places where each hunk could go. */

/* Places kept per hunk. A hunk with more is settled by its number or not at all. */
enum { CANDIDATES_KEPT = 256 };

/* What is known of one hunk while it is being placed. */
struct candidates {
	size_t count;       /* lines of the hunk that count (see placement.count) */
	size_t old_count;   /* context and removed lines among them */
	size_t lead, trail; /* old lines before the first and after the last change */
	enum fold fold;     /* level of the places; at the loosest one, of `at` once it is placed */
	size_t *places;     /* owned; ascending */
	size_t kept;        /* elements in `places` */
	size_t total;       /* places in all; CANDIDATES_KEPT + 1 stands for more */
	bool narrowed;      /* anchors took places away */
	bool made;          /* made already: its new lines stand at `made_at` (made.c) */
	bool made_if_alone; /* the same, if no looser reading of the old lines has another place */
	size_t made_at;
	bool has_stated;    /* the header has a line number */
	size_t stated;      /* 0-based line where it says the hunk begins, in the base */
	bool placed;
	size_t at;
	enum patch_settled settled;
};

/* Measures all hunks and finds the places that they fit as they are; `ret` has diff->hunk_count
 * zeroed elements.  False, as for the next, when hunks and base are so alike that the search was
 * given up (hostile input). */
bool candidates_find(const struct lines *base, const struct diff_text *diff, bool base_has_bom,
                     struct candidates *ret);

/* For hunks that have no place and were not made already: those that they fit but for white space
 * at line ends, or else those of all looser readings together, which are rivals, whichever is
 * looser.  A hunk without a word gets none of the latter. */
bool candidates_find_looser(const struct lines *base, const struct diff_text *diff,
                            bool base_has_bom, struct candidates *ret);
void candidates_release(struct candidates *hunks, size_t count);

/* Whether the places of the hunk are those of the looser readings. */
bool candidates_are_loose(const struct candidates *hunk);

/* The strictest level at which the hunk fits at line `at`, where it does at the loosest. */
enum fold candidates_fold_at(const struct lines *base, const struct diff_text *diff, size_t h,
                             const struct candidates *hunk, size_t at);

/* Notes where the header says that the hunk, which was measured, begins. */
void candidates_note_stated(const struct hunk *hunk, struct candidates *ret);

/* Whether the line says something: it has a letter or a digit, and does not only close or part
 * blocks ("end", "fi", a closing tag). */
bool candidates_has_word(struct span line);

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

/* Reads what the parser left open: drops hunks among words, and lists after hunks, that the file
 * has no lines for.  INVALID_DIFF, with *ret_diff_line, if it has them: then both readings are
 * possible. TOO_LARGE. */
bool candidates_read_doubts(const struct lines *base, struct diff_text *diff,
                            size_t *ret_diff_line, struct err *err);

/* ---- made already ----------------------------------------------------------------- */

/* Whether the change of a hunk, or of an update, was made before.
 *
 * Its new lines must stand in the file, but for white space at line ends, and in one place, and
 * something must say that they stand where the old ones were: a line of both sides that the file
 * has nowhere else, or the number in the header; or, where no line like the removed ones is left in
 * the file, lines of both sides, or new lines that are like the old ones.  Where the old lines then
 * have another place in a looser reading, either may be meant, unless the number says which.  That
 * the new lines stand somewhere says nothing.
 */

/* Marks the hunks that fit nowhere as they are (total is 0) and were made already, or were if they
 * fit nowhere else in a looser reading. */
void made_find(const struct lines *base, const struct diff_text *diff, bool base_has_bom,
               struct candidates *hunks);

/* After the looser readings: those that have no place were made, if they were marked so; and of
 * those that remove lines the ones that have a place in the new lines only. */
void made_confirm(const struct diff_text *diff, struct candidates *hunks);

/* Whether the new lines of hunk `h`, if they are enough to be known by, stand somewhere in the
 * loosest reading.  `index` is of the new side at that level. */
bool made_stands(struct fold_index *index, const struct diff_text *diff, size_t h,
                 const struct candidates *hunk);

/* The two texts of an update as a diff of one hunk, without a number: the lines that both begin or
 * end with are its context.  Borrows from the texts; free it with parse_diff_release. */
void made_diff_of(struct span old_text, struct span text, struct diff_text *ret);

/* ---- headings --------------------------------------------------------------------- */

/* Lines of the file that a diff names: the text after an @@, which is the line of a function or of
 * any other heading: a tag, a key, a selector, a target, a title.
 *
 * A text names the lines that begin with it (white space and look-alikes aside) and do not go on in
 * the middle of a word; if the file has none, those that do, since git cuts long lines.  A place is
 * under a heading if the heading is above it, and no other line that opens a block, or begins with
 * the same word, stands between them at the heading's depth or less; or, as git has it, if no
 * other line between them begins with a letter in the first column (which for some languages it
 * looks for among functions only, so that other blocks may begin between them).  All texts are
 * looked up in one pass over the file.
 */

struct headings;

/* Everything passed in must outlive the result. */
struct headings *headings_make(const struct lines *base, const struct diff_text *diff);
void headings_free(struct headings *headings);

/* The first line (0-based) at or after `from` that the text names; SIZE_MAX: none.  `text` is one
 * of the diff's, as for all that follow. */
size_t headings_find(const struct headings *headings, struct span text, size_t from);

/* Whether the text names a line that has deeper lines below it. */
bool headings_opens(const struct headings *headings, struct span text);

/* How a place stands to a heading. */
enum heading_hold {
	HEADING_ELSEWHERE, /* not under it */
	HEADING_BEYOND,    /* below it, but in a value or a statement that begins between them */
	HEADING_ABOVE,     /* under it, after the end of its block */
	HEADING_INSIDE,    /* in its block */
};

/* The line named so that line `at` is under, and how it stands to that; SIZE_MAX: none. */
size_t headings_above(struct headings *headings, struct span text, size_t at,
                      enum heading_hold *ret);

/* How the hunk at line `at` stands to the text's line, which may be in its leading context. */
enum heading_hold headings_hold(struct headings *headings, struct span text,
                                const struct candidates *hunk, size_t at);

/* ---- anchors ---------------------------------------------------------------------- */

/* Anchors: the lines that a patch of the apply_patch format names before a hunk.
 *
 * In that format ("*** Begin Patch", "*** Update File: ...") a section of context alone, and the
 * text after an @@ without numbers, say where to go on looking.  They are heeded in order: the
 * lines of a section stand after the hunk before it and before the change of the one
 * after it; the text of an @@ begins a line somewhere before that change.  Where that line heads a
 * block, the change is in the block.  What the file lacks, or has in another order only, is
 * refused.
 */

/* Whether the diff has any. */
bool anchors_any(const struct diff_text *diff);

/* Leaves each hunk the places that its anchors allow. NO_MATCH when an anchor is not in the
 * file, or none of the places that fit the hunk follows it. */
bool anchors_narrow(const struct lines *base, const struct diff_text *diff,
                    struct headings *headings, struct candidates *hunks,
                    struct patch_failure *failure, struct err *err);

/* Once all hunks are placed: whether each section of context comes after the hunk before
 * it. NO_MATCH. */
bool anchors_check_order(const struct lines *base, const struct diff_text *diff,
                         struct headings *headings, const struct candidates *hunks,
                         struct patch_failure *failure, struct err *err);

/* ---- settling --------------------------------------------------------------------- */

/* Choosing among candidates by what the diff says, or refusing.
 *
 * The rules are rows of one table (settle.c), strongest first; docs/edits.md has the same table.
 * Numbers never change the order of hunks: where a hunk was chosen among several candidates and
 * so comes to stand before one that precedes it in the diff, though other candidates would
 * keep the order, the evidence contradicts itself and doubts.c refuses.
 */

struct settling {
	const struct lines *base;
	const struct diff_text *diff;
	struct candidates *hunks;
	struct headings *headings;
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
                 struct headings *headings, struct candidates *hunks);
void settle_release(struct settling *s);

/* Places what can be placed; hunks that cannot stay !placed. */
void settle_all(struct settling *s);

/* The place of hunk `i` by the numbers (0-based), if they are credible, and the offset that they
 * all share. */
bool settle_expects(const struct settling *s, size_t i, int64_t *ret, int64_t *ret_offset);

/* Whether the number says nothing.  Line 0 or 1 is what models write that do not know the line,
 * unless there is context in front, or as much after as a tool prints at a file's beginning, or
 * many old lines. */
bool settle_number_is_idle(const struct hunk *hunk, const struct candidates *measured);

/* The heading that the hunk names, if nothing better gives its place. Not in addition to a number,
 * which may be as outdated as the heading. Empty: none. */
struct span settle_heading(const struct settling *s, size_t i);

/* Whether the hunk at line `at` ends the file as its end-of-file mark says; true without a mark. */
bool settle_ends_file(const struct settling *s, size_t i, size_t at, bool *ret_marked);

/* ---- doubts ----------------------------------------------------------------------- */

/* Reasons to refuse a hunk although a place was found for it: rows of the table in doubts.c. */

/* Whether a hunk has no place, or one that is in doubt; then *failure and *err say why. */
bool doubts_refuse(struct settling *s, bool base_has_bom, struct patch_failure *failure,
                   struct err *err);

/* Whether all hunks, which must be placed, come in the order of the diff. */
bool doubts_in_order(const struct settling *s);

/* ---- rivals ----------------------------------------------------------------------- */

/* How alike (nearest_likeness) a line and the one that was made of it are at least. */
enum { CHANGED_LIKE = 60 };

/* Places that are looked at for each reason. */
enum { RIVAL_PLACES = 8 };

/* Both sides of the diff in the base, but for white space at line ends, and the new one in the
 * loosest reading. */
struct sides {
	struct fold_index old, new, loose;
	bool built;
};

/* Fills them once. Returns `sides`, which begins zeroed. */
struct sides *rivals_sides(struct sides *sides, const struct lines *base,
                           const struct diff_text *diff, bool base_has_bom);
void rivals_sides_release(struct sides *sides);

/* Places that speak against the one that was found. */
struct against {
	size_t at[2 * RIVAL_PLACES];
	size_t count;
	size_t new_count; /* the first so many have the new lines */
};

/* Those of hunk `h`, which stands at line `at` (0-based) in a loose reading. */
struct against rivals_find(const struct sides *sides, const struct lines *base,
                           const struct diff_text *diff, size_t h,
                           const struct candidates *hunk, size_t at);

/* Another place (0-based, in *ret) where more lines with words stand exactly than of the hunk at
 * `at`, where it fits in a loose reading only: lines like its old ones, or (*ret_made) the very
 * lines that it would make. */
bool rivals_any(const struct lines *base, const struct diff_text *diff, size_t h,
                const struct candidates *hunk, size_t at, size_t *ret, bool *ret_made);

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
	const struct hunk_line *likest;  /* the same, but of lines that differ the one that is
	                                  * most like it */
	size_t base_line;                /* of an old line: its line of the base (0-based); of an
	                                  * added one: that of `removed` */
	bool same_blanks;                /* of an added line: its run has as many blank lines as the
	                                  * removed ones before it */
	bool replaces;                   /* of an added line: replaces some of those removed
					  * lines */
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

/* The same for hunks (spelling.c).  Each rewrites the lines of the diff; false, leaving it in any
 * state, when there is nothing to rewrite, or it is not written so. */

/* Escapes for invisible characters, in old lines that the base does not have as they are.
 * *ret_doubt: 1-based line of the diff text whose escapes may mean either; 0: none. */
bool spelling_mend_unseen(const struct lines *base, struct diff_text *diff, size_t *ret_doubt);
/* One level of escapes too much, in all lines. */
bool spelling_mend_escapes(enum spelling_escapes level, struct diff_text *diff);

/* ---- fixing ----------------------------------------------------------------------- */

/* From placed hunks to an edit script in the file's own bytes.
 *
 * Context lines are never written.  Added lines get the file's line endings
 * where the diff's differ from them, lose damage that the old lines of the
 * hunk show (whitespace/whitespace.h), and keep the state of the final newline unless the diff
 * speaks about it.
 */

/* Fills script, inserted and drops_bom of *ret (zeroed before, with a limit in inserted).
 * NO_MATCH when damage to added lines cannot be undone; then all hunks of which that is so are in
 * the list of those that fail, and the first of them, or the one that it had, in *failure. */
bool fix_hunks(const struct lines *base, const struct diff_text *diff,
               const struct placement *places, bool base_has_bom, struct patch_plan *ret,
               struct patch_failure *failure, struct err *err);

/* ---- applying strictly ------------------------------------------------------------ */

/* The strict application: an independent step that tolerates nothing.
 *
 * It reads a unified diff separately and compares every context and removed line, byte for byte
 * with its ending, with the base at exactly the stated numbers; counts, order and the new numbers
 * must be exact, too. It shares no code with the lenient parser and locator, so that an error in
 * those cannot pass unseen.
 */

/* Fills *ret (empty before; its inserted text borrows from *ret_inserted) with what `diff`
 * does to `base`. INTERNAL, with the line of the diff, for whatever is not exact. */
bool strict_apply(const struct lines *base, struct span diff, struct script *ret,
                  struct buf *ret_inserted, struct err *err);

#endif
