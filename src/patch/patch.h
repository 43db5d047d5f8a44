/* SPDX-License-Identifier: Apache-2.0 */
/* The patch engine: from a diff as a model wrote it to a verified edit script.
 *
 *     parse   (parse.h)   text -> hunks; repairs what can be read only one way
 *     locate  (locate.c)  hunks -> places in the base, all together or not at all
 *     fix     (fix.c)     places -> an edit script, and the corrected diff
 *     strict  (strict.c)  an independent application that tolerates nothing
 *
 * patch_make runs all four.  It never guesses: a hunk that fits several places,
 * or none, is an error that names the hunk, the first differing line and the
 * candidates.  The engine sees a text as UTF-8 lines without a byte-order mark
 * and knows nothing of files.
 *
 *     struct patch_plan plan;
 *     struct patch_failure failure;
 *     if (!patch_make(&base, diff, NULL, &plan, &failure, &err))
 *             explain(&failure, err.message);
 *     else
 *             write(plan.script);
 *     patch_plan_release(&plan);
 *     patch_failure_release(&failure);
 *
 * Not here: files and hashes (file/), encodings (file/document.h).
 */
#ifndef HASP_PATCH_PATCH_H
#define HASP_PATCH_PATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/text.h"
#include "diff/diff.h"

/* The comparison by which the old lines of a hunk fit. */
enum patch_match {
	PATCH_MATCH_EXACT,          /* the same bytes, line endings aside */
	PATCH_MATCH_TRAILING_SPACE, /* after dropping white space at line ends */
	PATCH_MATCH_ALL_SPACE,      /* after dropping all white space */
	PATCH_MATCH_LOOKALIKE,      /* and folding look-alike quotes, dashes and spaces */
	PATCH_MATCH_COUNT
};

/* What made the place the only one. */
enum patch_settled {
	PATCH_SETTLED_UNIQUE,    /* it fits nowhere else */
	PATCH_SETTLED_NUMBER,    /* the line number in the header */
	PATCH_SETTLED_END,       /* the mark of the file's end */
	PATCH_SETTLED_NEIGHBOUR, /* the same offset as the hunks around it */
	PATCH_SETTLED_ORDER,     /* the order of the hunks */
	PATCH_SETTLED_HEADING,   /* the line named after the @@ */
	PATCH_SETTLED_EDGE,      /* its context ends with the file */
	PATCH_SETTLED_SAME,      /* every place gives the same result */
	PATCH_SETTLED_COUNT
};

/* "exact", "trailing_space", ...; "unique", "line_number", ... for results. */
const char *patch_match_name(enum patch_match match);
const char *patch_settled_name(enum patch_settled settled);

/* What the name means, as docs/edits.md has it. */
const char *patch_settled_because(enum patch_settled settled);

/* Where one hunk went. */
struct patch_hunk_report {
	size_t hunk;        /* 1-based, in the order of the diff */
	size_t stated_line; /* old line number in its header, 0 when it had none */
	size_t line;        /* 1-based line of the base where its first old line is */
	size_t lines;       /* old lines it covers */
	size_t added;       /* lines, as a diff of the bytes counts them: a last line without a line
	                     * end that gets one is removed and added */
	size_t removed;
	enum patch_match match;
	enum patch_settled settled;
};

struct patch_plan {
	struct script script;  /* what changes; borrows from `inserted` */
	struct buf inserted;   /* the text of the added lines */
	struct buf corrected;  /* the same change as a strict unified diff, 3 lines of context */
	struct patch_hunk_report *hunks;
	size_t hunk_count;
	size_t ended_by; /* 1-based hunk that gave the file's last line its line end; 0: none */
	bool drops_bom; /* the diff removes the byte-order mark of line 1 */
	bool already;   /* the diff was applied before: the script is empty, no hunk has a place */
	bool reread;    /* its text was read other than as written; the note says how */
	char note[256]; /* other requests of the diff that were not carried out (parse.h), or how it
	                 * was interpreted if not as written (patch.c); "" if nothing */
};

/* Frees what patch_make gave. */
void patch_plan_release(struct patch_plan *plan);

/* A place that a failed hunk might have meant. */
struct patch_candidate {
	size_t line;        /* 1-based line of the base */
	size_t lines_equal; /* how many of the hunk's old lines are the same there */
};

/* One of several hunks that failed: as the fields of the same names below. */
struct patch_failed_hunk {
	size_t hunk;
	enum err_code code;
	size_t stated_line, diff_line;
	char *expected, *found;
	size_t found_line;
	char *lines;
	size_t lines_from;
	size_t near_line; /* 1-based line of the nearest place; 0 if none */
};

/* The one thing in which two lines differ. */
enum patch_difference {
	PATCH_DIFFERS_OTHERWISE, /* in more than one of these, or in the text */
	PATCH_DIFFERS_BOM,
	PATCH_DIFFERS_TRAILING,
	PATCH_DIFFERS_TABS,      /* tabs for spaces, or the contrary, as indentation */
	PATCH_DIFFERS_DEPTH,
	PATCH_DIFFERS_SPACE,
	PATCH_DIFFERS_LOOKALIKE,
	PATCH_DIFFERS_NORMALIZATION,
	PATCH_DIFFERS_ESCAPES,   /* this and the next two: what the given line has too much */
	PATCH_DIFFERS_NUMBER,
	PATCH_DIFFERS_SIGN,
	PATCH_DIFFERS_CASE,
};

/* Of a line of a file, and the one that was given for it; both without line end. */
enum patch_difference patch_difference(struct span file, struct span given);
/* "trailing_space"; NULL for OTHERWISE. */
const char *patch_difference_name(enum patch_difference kind);

/* What a model needs to try again. */
struct patch_failure {
	size_t hunk;          /* 1-based; 0 when the diff as a whole is wrong */
	size_t hunk_count;    /* hunks in the diff */
	size_t stated_line;   /* from the header, 0 when absent */
	size_t diff_line;     /* 1-based line of the diff text where the trouble is; 0 unknown */
	char *expected;       /* the first old line that differs, as the diff has it; of a long
	                       * line the part around the difference; NULL if none */
	char *found;          /* what the file has there, likewise; NULL if none */
	size_t found_line;    /* 1-based line of the base of `found`; 0 if none */
	char *lines;          /* what the file has there from the first line that differs to the
	                       * last, where several do; NULL: none do, or they are too long */
	size_t lines_from;    /* 1-based line of the base of their first; 0 if none */
	struct patch_candidate candidates[8];
	size_t candidate_count;
	size_t candidates_total; /* places in all, also those not listed; counted to 257 at most */
	struct patch_failed_hunk failed[LIMIT_FAILED_HUNKS]; /* of several that failed */
	size_t failed_count;
	size_t failed_total; /* also those not listed, or not looked at any more */
};

/* Frees what a refusal gave. */
void patch_failure_release(struct patch_failure *failure);

struct patch_options {
	size_t context; /* lines around each change in `corrected`; 0 means 3 */
	bool base_has_bom; /* the file has a byte-order mark, which `base` does not show */
	const char *path;  /* of the file, below its root; NULL: not known, names are not
	                    * compared */
	const char *called; /* the name by which the caller reached it, perhaps a link; or NULL */
	bool exists, executable; /* the file; only with `path` */
	/* What was changed, one after the other, since the state whose lines the numbers in the
	 * headers count; NULL: nothing. */
	const struct script *const *since;
	size_t since_count;
	bool numbers_are_lost; /* the numbers count the lines of a text that is not known */
};

/* Makes the plan. `options` may be NULL. On failure *ret is untouched, and *ret_failure
 * (always initialised by this call) holds the details.  Codes:
 *   INVALID_DIFF    no hunk, several files, a hunk that changes nothing, another file's name,
 *                   a rename, copy, deletion, binary part, link or submodule besides hunks, ...
 *   AMBIGUOUS_DIFF  a hunk fits several places; candidates are listed
 *   NO_MATCH        a hunk fits nowhere; nearest places are listed
 *   TOO_LARGE       more hunks or bytes than limits.h allows
 *   INTERNAL        the strict step disagreed (a defect)
 * A diff that fits nowhere because its lines have the numbers of a listing in front is applied
 * without them; one that was applied before, as a whole, succeeds with `already`.
 * An empty base is the way to create a file: only additions apply to it. */
bool patch_make(const struct lines *base, struct span diff, const struct patch_options *options,
                struct patch_plan *ret, struct patch_failure *ret_failure, struct err *err);

/* ---- lines paired ----------------------------------------------------------------- */

/* For each line of the new text the line of the old one (0-based) that it repeats or, in a run
 * of lines that differ, replaces; SIZE_MAX: none.  Line endings are not compared. The caller
 * frees. */
size_t *patch_pair_lines(const struct lines *old, const struct lines *new);

/* The line (0-based) that the byte at `offset` is in; the last one at the text's end. */
size_t patch_line_at(const struct lines *lines, size_t offset);

/* ---- other readings --------------------------------------------------------------- */

/* Other readings of an edit whose old text is found nowhere.
 *
 * What models copy is damaged in a few ways that can be undone for certain.  Each function
 * here reads the two texts of an update (edit/update.c), or of a hunk (patch.c), in
 * one such way; the caller then looks for the old text as it is read.  A reading counts only if
 * that text occurs exactly once.
 *
 *     patch_reading_unseen       escapes for invisible characters
 *     patch_readings             a table of what is wrong with the text itself
 *     patch_reading_trimmed      white space at the ends of lines, more or less of it
 *     other_reading_unnumbered   the line numbers of a listing in front of every line
 *     other_reading_shifted      the whole block indented otherwise (patch/whitespace/indent.h)
 *     other_reading_done         the change was made already
 *
 * When none helps, patch_explain_absence says where the text was probably meant and what differs.
 */

struct other_reading {
	struct buf old_text, text; /* with LF */
	size_t line;               /* 1-based line of the file; unnumbered: the number in front of
	                            * a lone line, 0 if there are several */
	size_t rival;              /* shifted: another line that may be meant; 0: none */
	bool rival_is_new;         /* and it has the new text */
	size_t doubt;              /* unseen: 1-based line of the new text whose escapes may mean
	                            * either; 0: none */
};

/* Zeroed is fine. */
void other_reading_release(struct other_reading *reading);
#define _cleanup_other_reading_ __attribute__((cleanup(other_reading_release)))

/* Both texts without the numbers, when every line of the old text has one, each by one more
 * than the last, all in the same form ("12→", "12 |", "12:", "L12:", "[12]", "12" and a tab); and
 * in the new text every line or none.  With `space`, one space after it belongs to the listing
 * too: the caller tries both, and takes the one with which the file has the old text. */
bool other_reading_unnumbered(struct span old_text, struct span text, bool space,
                              struct other_reading *ret);

/* The old text as the file has it, and the new text shifted likewise, when the lines of the
 * old text, of which at least two are not blank and one has a word, stand in one place of the file
 * but for their indentation, in no other in any reading, and the shift is the same for all of
 * them.  Where another place has more of the lines exactly, or the new text, false, with
 * ret->line and ret->rival. */
bool other_reading_shifted(const struct lines *file, struct span old_text, struct span text,
                           struct other_reading *ret);

/* Whether the update was made already: made.c has the rule.  False if the file has the old text. */
bool other_reading_done(const struct lines *file, struct span old_text, struct span text,
                        struct other_reading *ret);

/* Whether the update only adds lines to an old text that stands in the file once, and they are
 * there already: the whole new text stands where the old one does. */
bool other_reading_repeated(const struct lines *file, struct span old_text, struct span text,
                            struct other_reading *ret);

/* Escapes such as \u{200b}, which stand in the old text for characters that cannot be seen
 * (base/unseen.h), as these.  In the new text only those that it has from the old one, in the same
 * place; others are what is written.  False: the old text has none. */
bool patch_reading_unseen(struct span old_text, struct span text, struct other_reading *ret);

/* Both texts with the file's own white space at line ends, if the lines of the old text, all of
 * them whole, are in one place of the file apart from that. Also false if the ending of a new line
 * is not clear. */
bool patch_reading_trimmed(const struct lines *file, struct span old_text, struct span text,
                           struct other_reading *ret);

/* A reading of both texts that does not depend on the file.  To add one: a row in spelling.c, and
 * cases in test/tool/cases/readings.json. */
struct patch_reading {
	bool (*read)(struct span old_text, struct span text, struct other_reading *ret);
	bool at_line;     /* what is found begins a line, and line `line` if that is not 0 */
	const char *way;  /* "the text can be read ..." */
	const char *note; /* a sentence for who gets the result */
};

enum { PATCH_READINGS = 7 };
extern const struct patch_reading patch_readings[PATCH_READINGS];

/* ---- explaining ------------------------------------------------------------------- */

/* For an old text that the file does not have: fills *failure and appends sentences about the
 * nearest place, the first difference and what seems to be the cause.  One pass over the file. */
void patch_explain_absence(const struct lines *file, struct span old_text,
                           struct patch_failure *failure, struct buf *out);

#endif
