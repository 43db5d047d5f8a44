/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a diff apart from its hunks: names, renames, modes, deletions, binary parts.
 *
 * A diff is applied to one file that the caller names, in place. Any other request in it is never
 * dropped silently: it is refused, or the plan's note reports that it was not done. The lines are
 * those of git (gitdiff documentation, "extended header lines") and of the apply_patch format; the
 * table in claims.c has a row for each. To add one: a row, and its line in test/patch/claims.case.
 */
#ifndef HASP_PATCH_PARSE_H
#define HASP_PATCH_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "base/text.h"

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
 * only lines count that prose does not have. `next` is the line after it.  False for a line that
 * is none of these. */
bool claims_take(struct claims *claims, struct span line, struct span next, bool in_git_header);

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
 * When fenced code blocks (or a heredoc, or tags) hold hunks, only their contents are read.  A
 * diff that is indented as a whole is shifted back.  A hunk may lack its @@ line where nothing
 * but a hunk can be: after a header, in a wrapper, at the start of the text.
 *
 * Counts in a hunk header that are met exactly where the hunk may end are right: then its lines
 * are its own, even those that look like a header, a fence or a signature.  Others are only used
 * to guess where a hunk ends (`cut`) and prose begins.
 *
 * What can be read in more than one way is tried against the file: see `cut`, `echo`, `bare`,
 * `tail` and `doubted`.  What cannot be assigned is refused, with the line.
 */

/* ---- the record: what each line of the text was taken for ---- */

enum line_role {
	LINE_UNASSIGNED, /* never in the record that parse_diff gives */
	LINE_PROSE,      /* words around the diff: nothing of it */
	LINE_OPENS,      /* an envelope, before the diff: a fence, "*** Begin Patch", "<diff>" */
	LINE_CLOSES,     /* an envelope, before words: its end, a signature, a mail's header */
	LINE_HEADER,     /* a file's header, an @@ line, "*** End of File", "\ No newline ..." */
	LINE_HUNK,       /* a line of hunk `of` */
	LINE_ANCHOR,     /* a hunk without a change: a line of it, or its @@ line */
	LINE_REPEATED,   /* a line of a hunk that came before with the same number */
};

struct line_record {
	enum line_role role;
	uint32_t of; /* index into diff_text.hunks; an anchor's is that of the hunk after it */
};

/* ---- lines and hunks ---- */

struct hunk_line {
	char op;            /* ' ' context, '-' removed, '+' added */
	bool cr;            /* the diff line ended in CR LF */
	bool bare;          /* it had no marker */
	bool no_newline;    /* "\ No newline at end of file" follows */
	struct span text;   /* without marker and line ending; borrowed from the diff */
	size_t diff_line;   /* 1-based line of the diff */
};

/* What comes at the end of a hunk, if its counts do not include it. */
enum hunk_tail {
	TAIL_PLAIN,   /* nothing, or nothing that begins with + or - */
	TAIL_LIST,    /* a list in prose, if the file has no such lines */
	TAIL_CHANGES, /* words, and then what is no list */
};

struct hunk {
	size_t first;       /* index of its first line in diff_text.lines */
	size_t count;       /* lines up to the next hunk, header or end */
	size_t cut;         /* lines after which the header's counts are met; 0 if they never are */
	size_t echo;        /* lines before the cut that look like the header said again, or like a
	                     * mail's signature */
	enum hunk_tail tail;
	size_t tail_at;     /* the line where what is not plain begins */
	bool doubted;       /* it has no @@ line and stands among words, or reads as a list: it is
	                     * none if it fits nowhere */
	bool has_old, has_new; /* whether the header states the start of each side */
	bool counted;          /* and both counts; an omitted one is 1 in "-2 +2", as in diff */
	size_t old_start, old_count, new_start, new_count; /* a count is 0 if not known */
	struct span heading; /* text after the second @@, trimmed; empty if none */
	size_t diff_line;
	bool header_cr;      /* its @@ line, or a marker, ended in CR LF, which no tool writes */
	bool at_end;         /* "*** End of File" follows: its last old line is the file's last */
	struct span within;  /* of the apply_patch format: the anchor it follows, if that reads as
	                      * a function's line; empty if none */
	size_t before;       /* an anchor: index of the hunk that follows it; hunk_count: none
	                      * does */
	int64_t moved;       /* lines by which the place that its numbers name has moved since
	                      * (patch_options.since) */
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
	struct claims claims;    /* its other parts, apart from the hunks */
	struct line_record *record; /* owned; one per line of the text, a byte-order mark aside */
	size_t record_count;
	size_t passed_over;      /* 1-based; the first line that begins with + or - and was found to
	                          * be prose after a hunk or before one; 0: none */
	struct buf respelled;    /* owned; lines that are read otherwise (spelling.c) */
};

/* Frees what parse_diff gave. */
void parse_diff_release(struct diff_text *diff);

/* INVALID_DIFF (nothing that is a hunk, hunks for several files, a combined or
 * binary diff, a rename, a deletion: claims_check; *ret_diff_line says where), TOO_LARGE. `text`
 * must outlive *ret. */
bool parse_diff(struct span text, struct diff_text *ret, size_t *ret_diff_line,
                struct err *err);

/* Says that only the first `count` lines of hunk `h` are its own: the rest is prose, in the
 * record too. */
void hunks_end(struct diff_text *diff, size_t h, size_t count);

/* Drops the hunks that are none (`keep` has one element per hunk): their lines are prose. */
void hunks_keep(struct diff_text *diff, const bool *keep);

/* Looks at all hunks that were read, before the file is: drops those that were said before or
 * change nothing, and says where each may end.  INVALID_DIFF, TOO_LARGE. Part of parse_diff. */
bool hunks_judge(struct diff_text *diff, struct span text, size_t *ret_diff_line,
                 struct err *err);

/* Refuses a text without a hunk, or with some that are all among words. Returns false. */
bool hunks_refuse_none(const struct diff_text *diff, size_t *ret_diff_line, struct err *err);

/* Bytes of a line of a diff in a message. */
enum { LINE_SHOWN = 120 };

/* ---- @@ lines (at_line.c) --------------------------------------------------------- */

/* Whether the line begins a hunk: with @@. */
static inline bool at_line_is_header(struct span line)
{
	return span_starts(line, SPAN("@@"));
}

/* Whether that is so even among lines without markers: not "@@name", which some languages have. */
bool at_line_is_certain(struct span line);

/* Reads numbers and heading of an @@ line into *hunk, which has none yet. */
void at_line_parse(struct span line, struct hunk *hunk);

/* Whether it is of a combined diff: "@@@ -1,2 -1,3 +1,4 @@@". */
bool at_line_is_combined(struct span line);

/* ---- the lines that are read (unwrap.c) ------------------------------------------- */

/* A text, and which of its lines may be the diff's. */
struct diff_source {
	struct lines text;          /* all lines */
	struct line_record *record; /* owned; one per line. Of lines that are kept: LINE_HUNK if the
	                             * counts of a hunk include it for certain, LINE_PROSE in a
	                             * wrapper that may be no diff, else LINE_UNASSIGNED */
	uint32_t *kept;             /* owned; the lines that may be the diff's, ascending */
	size_t kept_count;
	size_t indent;              /* bytes of white space before all of them, not theirs */
};

/* Takes the text, which must outlive it, out of what wraps it. */
void unwrap_read(struct span text, struct diff_source *ret);
void unwrap_release(struct diff_source *source);

/* Line `at` of those kept, without its ending and the common indentation. */
struct span unwrap_line(const struct diff_source *source, size_t at);

/* Whether the line begins with +, - or a space and is not blank; with + or -; like an item of a
 * list, "- words". */
bool parse_is_marked(struct span line);
bool parse_is_change(struct span line);
bool parse_is_item(struct span line);

/* What lines that begin with +, - or a space, one after the other, have among them: items of a
 * list, others that begin with - and with +, words after a space after those and before them. */
enum { RUN_ITEMS = 1, RUN_REMOVES = 2, RUN_ADDS = 4, RUN_CONTEXT = 8, RUN_LED = 16 };

/* Whether such lines begin a hunk, also among words; at the start of a text (`first`) and not. */
bool parse_run_is_hunk(unsigned kinds, bool first);

/* Adds what the line is to *kinds; false if the run ends before it: also at "---" alone, after
 * which a mail's diff comes, unless it is the first. */
bool parse_run_goes_on(struct span line, bool first, unsigned *kinds);

/* "\ No newline at end of file", in whatever language; the version in a mail's signature. */
bool parse_is_eof_note(struct span line);
bool parse_is_version(struct span line);

#endif
