/* SPDX-License-Identifier: Apache-2.0 */
/* Differences of lines, and the edit scripts that the engines say them in. */
#ifndef HASP_DIFF_DIFF_H
#define HASP_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "base/text.h"

/* ---- edit scripts ------------------------------------------------------------ */

/* The edit script: which lines of a base text become which new lines.
 *
 * The common currency of the engines.  diff_lines makes one from two texts,
 * the patch engine makes one from a diff, script_print shows one, the store
 * writes one.  Edits are sorted by `at`, do not overlap, and two neighbours
 * have at least one untouched line between them or differ in `at` (they may
 * touch).  A script borrows its inserted text.
 *
 *     struct script script = { 0 };
 *     script_add(&script, (struct edit){ .at = 3, .remove = 1, .insert = SPAN("new\n") });
 *     ...
 *     script_release(&script);
 */

/* Lines [at, at + remove) of the base (0-based) are replaced by `insert`,
 * which is whole lines; only at the very end of the result may the last line
 * lack its newline.  remove == 0 inserts before line `at`; at == count appends. */
struct edit {
	size_t at;
	size_t remove;
	struct span insert; /* borrowed */
};

struct script {
	struct edit *edits; /* owned */
	size_t count;
	size_t cap;
};

/* Appends an edit, which must begin at or after the end of the last one. */
void script_add(struct script *script, struct edit edit);
void script_release(struct script *script);
#define _cleanup_script_ __attribute__((cleanup(script_release)))

/* Lines the script adds and removes in all. */
void script_stat(const struct script *script, size_t *ret_added, size_t *ret_removed);

/* Appends the base as the script leaves it. False when `out` overflowed. */
bool script_apply(const struct lines *base, const struct script *script, struct buf *out);

/* ---- merging ---------------------------------------------------------------------- */

/* Three-way merge of lines: one change carried over to a text that another change made.
 *
 * As in diff3 and git merge-file, but without conflict markers: changes that touch (the same
 * line, adjacent lines, two insertions at one place) are a conflict, and then there is no merge.
 * A change that both make alike is there already.  Where lines repeat, an insertion or deletion
 * could as well stand some lines earlier or later; it touches what it would touch there.
 */

/* `mine` and `theirs` are scripts of `base`.  Fills *ret (empty before) with the edits of
 * `mine` as they are in the text that `theirs` makes; inserted spans are borrowed from
 * `mine`.  False when the two touch; *ret is then empty.  For scripts of some hundred edits: all
 * are compared with all. */
bool script_merge(const struct lines *base, const struct script *mine,
                  const struct script *theirs, struct script *ret);

/* ---- printing --------------------------------------------------------------------- */

/* The unified format, as GNU diff and git print it.
 *
 * Hunk headers follow POSIX (diff -u): a count of 1 is left out, an empty side
 * names the line before.  "\ No newline at end of file" follows a line without
 * one.  Names with control characters, quotes, backslashes or bytes above
 * 0x7f are quoted as git quotes them.
 */

struct script_print_options {
	const char *old_name; /* after "--- "; NULL: no file header. "/dev/null" for a new file */
	const char *new_name; /* after "+++ " */
	size_t context;       /* unchanged lines around each change; 3 is customary */
};

/* Appends the diff that `script` makes of `base`. Hunks whose context would
 * touch or overlap are merged. An empty script appends nothing. False when
 * `out` overflowed. */
bool script_print(struct buf *out, const struct lines *base, const struct script *script,
                  const struct script_print_options *options);
/* The same for two texts of a file, with three lines of context. */
bool diff_print(struct buf *out, const char *name, struct span before, struct span now);
/* Appends a name, quoted if it must be. */
void script_put_name(struct buf *out, const char *name);
/* Appends the line that names a file: `marker` ("--- " or "+++ ") and the name, as script_print. */
void script_print_name(struct buf *out, const char *marker, const char *name);
/* A name as it was before it was quoted: what stands between the quotation marks, escapes undone.
 * The caller frees. A NUL in it ends it. */
char *script_unquote_name(struct span name);

/* ---- line differences -------------------------------------------------------- */

/* Line differences.
 *
 * The shortest edit script by Myers' O(ND) algorithm in linear space (E. Myers,
 * "An O(ND) difference algorithm and its variations", Algorithmica 1, 1986),
 * after common heads and tails are cut and lines that occur on one side only
 * are set aside; past a cost bound it settles for a good script instead of the
 * shortest, so that any two texts are compared in near-linear time.  Runs of
 * changes are then slid so that they read as a person would have made them
 * (a whole function, not from brace to brace).
 */

/* Fills *ret (empty before) with the edits that turn `old` into `new`; the
 * inserted spans borrow from `new`.  Lines are compared as bytes, endings
 * included, so a missing final newline is a difference.  Differences of up to some
 * thousand lines are the shortest possible.  Texts that differ over more than 2^31
 * lines are replaced whole. */
void diff_lines(const struct lines *old_lines, const struct lines *new_lines,
                struct script *ret);

/* The same for a text that is not split into lines yet.  Of long texts only what lies between the
 * first and the last difference is, and some lines around it, within which changes are slid. */
void diff_text(const struct lines *old_lines, struct span new_text, struct script *ret);

/* The comparison within (myers.c): marks the elements of `a` (n of them) and `b` (m) that a
 * shortest edit script touches; a good script instead of the shortest when that would take too
 * long.  The marks are bytes that are zero before.  n + m must be below INT32_MAX. */
void myers_mark(const uint32_t *a, size_t n, const uint32_t *b, size_t m, unsigned char *a_changed,
                unsigned char *b_changed);

#endif
