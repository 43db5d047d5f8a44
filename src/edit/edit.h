/* SPDX-License-Identifier: Apache-2.0 */
/* Edits: verify the base, compute the new content, commit.
 *
 * All editing tools are one call of edit_apply with one or more changes.  One
 * change is committed by compare-and-swap, several as a transaction.  With
 * `dry_run` everything is computed and checked and nothing is written: that is
 * the plan a person approves; the same changes with `expect` set to the plan's
 * hash then write exactly those bytes or fail.
 *
 *     struct change change = { .kind = CHANGE_PATCH, .path = "a.c",
 *                              .base = &hash, .text = diff };
 *     struct change_result result;
 *     bool ok = edit_apply(ws, &change, 1, &options, &result, &err);
 *     ... result.state, result.patch, result.diff ...
 *     change_result_release(&result);
 */
#ifndef HASP_EDIT_EDIT_H
#define HASP_EDIT_EDIT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "file/commit.h"
#include "patch/patch.h"

enum { EDIT_NOTE_BYTES = 256 };

enum change_kind {
	CHANGE_PATCH,  /* apply the unified diff in `text` */
	CHANGE_WRITE,  /* make `text` the whole content, creating the file if missing */
	CHANGE_CREATE, /* as WRITE, but the file must not exist */
	CHANGE_UPDATE, /* replace `old_text` by `text`, `expected_count` times */
	CHANGE_DELETE,
	CHANGE_MOVE,   /* to `new_path`, which must not exist */
	CHANGE_DATA,   /* values of structured text, which options->change_data changes: `text` is
	                * what it takes */
};

struct change {
	enum change_kind kind;
	const char *path;
	const char *new_path;         /* MOVE only */
	const struct sha256 *base;    /* NULL: none given. PATCH, WRITE, DELETE, MOVE and DATA of an
	                               * existing file then fail with BASE_REQUIRED; UPDATE works
	                               * without. For a missing file: NULL or the hash of nothing */
	struct span text;             /* UTF-8: diff, content or replacement */
	struct span old_text;         /* UPDATE only; not empty unless the file is missing */
	size_t expected_count;        /* UPDATE: exact number of places; 0 means 1 */
	bool any_count;               /* UPDATE: one or more places are fine */
	bool exact_line_endings;      /* WRITE: do not turn LF into CRLF for a CRLF file */
	bool literal;                 /* the new content is meant as it is: no content_check */
	bool bytes;                   /* WRITE, CREATE: `text` is the file's bytes as they should
	                               * be, text or not: nothing is checked, nothing adapted, no
	                               * diff */
	const char *encoding;         /* WRITE, CREATE: of the new content, iconv's names and
	                               * Python's; NULL: the file's own, UTF-8 for a new one */
	const struct sha256 *expect;  /* NULL, or the hash the result must have */
	/* NULL, or the state in which this very change, made before by the same caller, left the
	 * file.  Without it nothing that the file could take again counts as made already. */
	const struct sha256 *made;
	/* NULL, or the canonical paths that `path` and `new_path` must lead to: the files that
	 * were judged, wherever a link leads since then.  STATE_MISMATCH otherwise. */
	const char *resolved, *new_resolved;
};

struct edit_options {
	bool dry_run;
	bool want_content;            /* fill result.content with the text after (or, on failure, as
	                               * it is) */
	size_t max_content_bytes;     /* of a change that was made: a longer content is left out;
	                               * 0: none is */
	bool want_diff;               /* fill result.diff */
	bool no_make_folders;         /* do not create missing parent folders */
	size_t max_file_bytes;        /* 0: the default */
	struct commit_options commit;
	const char *journal_folder;   /* for several changes; absolute */
	/* Of DATA: appends what `request` makes of the text of a file at this path; *err is a
	 * sentence without the path, `note` what change_result.note is to say.  NULL: such changes
	 * are INVALID_ARGUMENT. */
	bool (*change_data)(void *data, const char *path, struct span text, struct span request,
	                    struct buf *out, char note[EDIT_NOTE_BYTES], struct err *err);
	void *change_data_data;
};

/* How a file's text is kept on the disk. */
struct text_form {
	char encoding[32];            /* iconv's name; "" if not known, or not text */
	const char *line_endings;     /* as document_line_endings; static; NULL likewise */
};

struct change_result {
	bool done;                    /* this change was made (or, dry run, would be) */
	struct err err;               /* why not; ROLLED_BACK when another change failed */
	struct file_state before;     /* path is always set, if the path could be resolved; of a
	                               * later change of a file that does not name what those
	                               * before it made, what was on disk before the call */
	struct file_state state;      /* what is on disk now; the planned state in a dry run */
	bool state_known;             /* false: the path could not be resolved or read */
	struct text_form before_form; /* of `before`, where it was looked at */
	struct text_form form;        /* of `state`, where it was made or shown */
	struct buf content;           /* UTF-8 text of `state`, if wanted and it is text */
	bool content_is_text;
	bool content_is_long;         /* left out by max_content_bytes */
	size_t content_in;            /* of several changes of one file the last one's result has
	                               * the content: its number in the call, from 1; 0: this */
	struct buf diff;              /* unified diff before -> after, 3 lines of context */
	size_t lines_added, lines_removed;
	bool created;
	bool already;                 /* PATCH, UPDATE, WRITE: the file has the edit already;
	                               * nothing is written. With STATE_MISMATCH, too */
	size_t replaced;              /* UPDATE: places replaced (or found, on failure) */
	size_t match_lines[8];        /* UPDATE: 1-based lines of the first matches */
	struct patch_hunk_report *hunks; /* PATCH */
	size_t hunk_count;
	struct patch_failure failure; /* PATCH, UPDATE: when err is about the text */
	bool reread;                  /* PATCH, UPDATE: its text was read other than as written,
	                               * or left more than it says; the note says how */
	char note[EDIT_NOTE_BYTES];   /* something a person may want to know; "" if nothing */
};

/* Frees what edit_apply gave for one change. */
void change_result_release(struct change_result *result);

/* Makes the changes, all or none.  `results` has `count` elements and is always filled; the
 * caller releases each.  Returns true when all were made; otherwise *err is the first failure,
 * and every result has the state (and content) that its file has now.  All changes are checked
 * before the first is made, so one answer names all the faults.
 *
 * Several changes to one file are made one after the other.  The base of a later one may
 * name the file on disk or what the changes before it made of it, and may be missing once an
 * earlier change named the file or made it.  A file may be moved and then changed under its
 * new name.  What a rename cannot express (a name given up by one file and taken by another)
 * is INVALID_ARGUMENT.  `before` and `diff` are those of the one change; `state` and `content`
 * are what is there when all are made.
 *
 * An update without a base means the file as it is: when others change it between the read
 * and the commit, it is recomputed on what they wrote.  LF in `old_text` also stands for
 * CRLF when the text is not found otherwise, and the replacement then gets CRLF.  Of one place
 * (not of several, or any number) the other readings in patch/patch.h are tried, too;
 * `note` says so.  An update or a patch that was made already succeeds, with `already`, and writes
 * nothing.  A WRITE of what the file has already succeeds, and writes nothing.  New content that is
 * plainly not meant so is refused (content_check) unless the change is `literal`.
 *
 * Messages of STATE_MISMATCH begin with "State Mismatch: File has changed on disk since it was
 * last read." if the file exists; those about diffs with "Invalid Diff: ".
 *
 * Codes: those of patch_make, commit_write, document_open, and
 *   STATE_MISMATCH     the file is not what `base` says; or the result not what `expect` says
 *   BASE_REQUIRED      see struct change
 *   FILE_NOT_FOUND     also: a folder is missing and no_make_folders is set
 *   FILE_EXISTS        CREATE, MOVE, or UPDATE with an empty old_text
 *   WRONG_MATCH_COUNT  UPDATE; where the text is not found, `failure` has the nearest place
 *   NO_CHANGE          PATCH, UPDATE, DATA and MOVE that leave everything as it is
 *   INVALID_ARGUMENT   content_check; text that is not UTF-8;
 *                      an encoding that iconv does not know or that lacks a character
 *   DENIED_BY_SANDBOX  the file is in a folder for reading alone (workspace_is_read_only)
 *   IO_ERROR           also: no journal_folder for several files */
bool edit_apply(const struct workspace *ws, const struct change *changes, size_t count,
                const struct edit_options *options, struct change_result *results,
                struct err *err);

/* Appends what an UPDATE makes of a text (UTF-8, without byte-order mark), by the same rules as of
 * a file, but for content_check; the text as it is if the update was made already.  False: it
 * cannot be made, or `out` has no room. */
bool edit_update_text(const struct change *change, struct span text, struct buf *out);

/* ---- content that is not meant so ------------------------------------------------- */

/* What models write by mistake, refused by one rule for all kinds of changes.
 *
 * Only lines that are new count, and of these only lines that the file did not have.  What a line
 * looks like decides what must speak against it besides:
 *
 *     looks like                                          is refused
 *     words of omission only, and dots                    always; in prose, or amid a comment,
 *       "// ... existing code ..."                          where text is lost
 *       "[... rest of file ...]"
 *     such words in a comment or in brackets, or with     where text is lost
 *       names among them and dots
 *       "# same as before", "# ... old retry logic unchanged ..."
 *     such words with nothing around them                 where text is lost, in source
 *       "rest of the code remains the same"
 *     dots alone, in a comment or not                     where text is lost, unless they belong
 *       "// ...", "...", "# [...]", "f() { ... }"           to the language, or to a sample
 *     numbers of a listing before three lines or more     if they have arrows, in front of lines
 *       "12→", "12 |", "12:"                                that the file has without them, or as
 *                                                         the whole of a source file
 *     a code fence round the whole content                except in Markdown and other prose
 *     a diff, or SEARCH and REPLACE, as the whole         in source, and in place of what was none;
 *       content                                           not in a .diff or .patch
 *
 * A comment without dots is none of these directly above or below another comment.
 *
 * Text is lost where the line stands if more lines of code go than come there, comparing what
 * is removed with what is added line by line; comments, blank lines and closing brackets do not
 * count.  The words are a closed list (placeholder.c).  "TODO" and "your code here" are none of
 * them: people write them.  Dots belong to the language as a body in Python and Perl, as the end of
 * a list of parameters, as the end of a document in YAML.
 *
 * The kind of a file (source, prose, data, patch) is known by its name; others are unknown, and
 * count as source but for fences, numbers and diffs, which need the file's own lines as evidence.
 */

/* INVALID_ARGUMENT, naming the first line at fault, when `edits` would put such a thing into the
 * text `before`. `path` is the file's. Near-linear in both texts. */
bool content_check(const char *path, const struct lines *before, const struct edit *edits,
                   size_t count, struct err *err);

#endif
