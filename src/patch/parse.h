/* SPDX-License-Identifier: Apache-2.0 */
/* What a diff says beside its hunks: names, renames, modes, deletions, binary parts.
 *
 * A diff is applied to one file that the caller names, in place.  Whatever else it asks for
 * is never dropped without a word: it is refused, or the plan's note reports that it
 * was not done.  The lines are those of git (gitdiff documentation, "extended header lines") and of
 * the apply_patch format; the table in claims.c has a row for each.  To add one: a row, and
 * its line in test/patch/claims.case.
 */
#ifndef HASP_PATCH_PARSE_H
#define HASP_PATCH_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
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

/* Notes a line outside of hunks. With `in_git_header` it follows a `diff --git` line; elsewhere
 * only lines count that prose does not have. `next` is the line after it. */
void claims_take(struct claims *claims, struct span line, struct span next, bool in_git_header);

/* Whether the line cannot be part of a hunk, though it has no marker that ends one. */
bool claims_end_hunk(struct span line);

/* INVALID_DIFF for what no edit in place can do. */
bool claims_check(const struct claims *claims, struct err *err);

/* Holds them against the file. INVALID_DIFF when the diff names another file; `note` gets what
 * was not done ("" if nothing). */
bool claims_compare(const struct claims *claims, const struct patch_options *options,
                    char *note, size_t note_size, struct err *err);

/* ---- the diff --------------------------------------------------------------------- */

/* Reading a unified diff as models really write it.
 *
 * The grammar that is accepted (POSIX diff -u and git's extensions, plus the
 * damage that models add):
 *
 *     text    = { prose | fence | header | hunk }
 *     header  = "diff --git" … | "index" … | "--- " name | "+++ " name | mode lines
 *             | "*** Update File: " name | …
 *     hunk    = "@@" [ numbers ] [ "@@" ] [ heading ] { line }
 *     numbers = "-" start [ "," count ] [ "+" start [ "," count ] ]   (any part may be absent)
 *     line    = " " text | "-" text | "+" text | "\ No newline…"
 *             | ""            blank context whose space was stripped ("bare")
 *             | text          context whose space was stripped ("bare"), or prose
 *
 * When fenced code blocks hold hunks, only their contents count.  A diff that
 * is indented as a whole is shifted back.  Counts in a hunk header are never
 * trusted, only used to guess where a hunk ends (`cut`) and prose begins.
 *
 * What can be read in more than one way is left to locate.c, which tries the
 * readings against the file: see `cut` and `bare`.
 */

struct hunk_line {
	char op;            /* ' ' context, '-' removed, '+' added */
	bool cr;            /* the diff line ended in CR LF */
	bool bare;          /* it had no marker */
	bool no_newline;    /* "\ No newline at end of file" follows */
	struct span text;   /* without marker and line ending; borrowed from the diff */
	size_t diff_line;   /* 1-based line of the diff */
};

struct hunk {
	size_t first;       /* index of its first line in diff_text.lines */
	size_t count;       /* lines up to the next hunk, header or end */
	size_t cut;         /* lines after which the header's counts are met; 0 if they never are */
	bool has_old, has_new; /* whether the header states the start (and count) of each side */
	size_t old_start, old_count, new_start, new_count;
	struct span heading; /* text after the second @@, trimmed; empty if none */
	size_t diff_line;
	bool header_cr;      /* its @@ line, or a marker, ended in CR LF, which no tool writes */
	bool at_end;         /* "*** End of File" follows: its last old line is the file's last */
	struct span within;  /* of the apply_patch format: the anchor it follows, if that reads as
	                      * a function's line; empty if none */
	size_t before;       /* an anchor: index of the hunk that follows it; hunk_count: none
	                      * does */
	size_t sequel_of;    /* 1-based hunk whose result its context showed (locate.c); 0: none */
};

struct diff_text {
	struct hunk_line *lines; /* owned */
	size_t line_count, line_cap;
	struct hunk *hunks;      /* owned */
	size_t hunk_count, hunk_cap;
	struct hunk *anchors;    /* owned; hunks that change nothing, of the apply_patch format */
	size_t anchor_count;
	bool apply_patch;        /* it is in that format (anchors.c) */
	struct claims claims;    /* what it says beside its hunks */
	struct buf respelled;    /* owned; lines that are read otherwise (respell.c) */
	struct buf shifted;      /* owned; the diff without fences and indentation, if it had
	                          * them */
};

/* Frees what parse_diff gave. */
void parse_diff_release(struct diff_text *diff);

/* INVALID_DIFF (nothing that is a hunk, hunks for several files, a combined or
 * binary diff, a rename, a deletion: claims_check; *ret_diff_line says where), TOO_LARGE. `text`
 * must outlive *ret. */
bool parse_diff(struct span text, struct diff_text *ret, size_t *ret_diff_line,
                struct err *err);

#endif
