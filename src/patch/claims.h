/* SPDX-License-Identifier: Apache-2.0 */
/* What a diff says beside its hunks: names, renames, modes, deletions, binary parts.
 *
 * A diff is applied to one file that the caller names, in place.  Whatever else it asks for
 * is never dropped without a word: it is refused, or the plan's note reports that it
 * was not done.  The lines are those of git (gitdiff documentation, "extended header lines") and of
 * the apply_patch format; the table in claims.c has a row for each.  To add one: a row, and
 * its line in test/patch/claims.case.
 */
#ifndef HASP_PATCH_CLAIMS_H
#define HASP_PATCH_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/span.h"

struct patch_options;

/* All spans are borrowed from the diff. */
struct claims {
	struct span old_name, new_name; /* of the first hunk's file header, cleaned */
	struct span rename_from, rename_to, copy_from, copy_to;
	struct span deleted;     /* the name of a deleted file, "" if only its mode is given */
	struct span mode;        /* the new mode, in octal */
	bool deletes, creates;
	bool binary, submodule, link;
	size_t files;            /* `diff --git` lines */
};

/* Notes a line outside of hunks. With `in_git_header` it follows a `diff --git` line; elsewhere only
 * lines count that prose does not have. `next` is the line after it. */
void claims_take(struct claims *claims, struct span line, struct span next, bool in_git_header);

/* Whether the line cannot be part of a hunk, though it has no marker that ends one. */
bool claims_end_hunk(struct span line);

/* INVALID_DIFF for what no edit in place can do. */
bool claims_check(const struct claims *claims, struct err *err);

/* Holds them against the file. INVALID_DIFF when the diff names another file; `note` gets what
 * was not done ("" if nothing). */
bool claims_compare(const struct claims *claims, const struct patch_options *options,
                    char *note, size_t note_size, struct err *err);

#endif
