/* SPDX-License-Identifier: Apache-2.0 */
/* What the stages of an edit share (edit.h is the public face).
 *
 *     edit.c           the call: plan every change, commit, report
 *     plan.c           one change: check the base, compute the new body
 *     update.c         the exact replacement; its line endings in a file with both kinds
 *     places.c         where the old texts of many updates stand
 *     text.c           the text of a file that several steps edit, opened once
 *     file.c           the files of a call, their evolving bodies, their encodings; a step's
 *                      document, and the body that new text makes of it
 *     content.c        whether the new content is meant so (placeholders, fences, ...)
 *     placeholder.c    one line as what may stand for text that was left out
 *     change_result.c  states, contents and diffs for the caller
 *
 * A *file* is a canonical path with the snapshot that was read.  Its *body* is
 * what the changes planned so far make of it; a body is bytes in pieces that
 * the snapshot or a step owns, so steps live until the call is over.  Changes to
 * one file are planned one after the other, each on the body the last one left.
 */
#ifndef HASP_EDIT_PRIVATE_H
#define HASP_EDIT_PRIVATE_H

#include "edit/edit.h"
#include "file/document.h"

struct edit_file;
struct edit_places;
struct edit_step;

/* A text that the changes of a call edit in turn (text.c). */
struct edit_text {
	struct document doc;          /* owned; of `flat`, plain UTF-8 */
	struct buf flat;              /* owned */
	size_t starts_cap;            /* of doc.lines.starts */
	struct span piece;            /* all of `flat`: what a body borrows */
	const struct script *pending; /* borrowed: what is not in it yet of the body that has it;
	                               * NULL: nothing */
	struct edit_places *places;   /* owned; NULL: there are none, or they were given up */
	bool places_tried;
	struct edit_text *next;       /* owned: the file's others */
};

/* The content of a file at one point of the call. */
struct edit_body {
	bool exists;
	const struct span *pieces;  /* borrowed */
	size_t count;
	size_t size;                /* bytes in all pieces */
	bool hashed;                /* sha256 is filled */
	struct sha256 sha256;
	struct edit_file *origin;   /* the file on disk it came from; NULL: made by this call */
	struct edit_step *made_by;  /* the step whose content it is; NULL: as on disk */
	struct edit_text *text;     /* borrowed: the text that it is, but for what is pending
	                             * there; NULL: none */
	bool verified;              /* the caller named the state it comes from, or made it */
};

struct edit_file {
	struct snapshot disk;       /* owned */
	struct edit_body body;      /* as the changes planned so far leave it */
	bool unknown;               /* it could not be read again after a failed commit */
	bool moved_away;            /* its content is the origin of another file's body */
	size_t operation;           /* index in the transaction; SIZE_MAX: none */
	struct edit_text *texts;    /* owned */
	size_t shown_in;            /* 1-based: the change whose result has the content; 0: none */
	struct text_form form;      /* of the state that is reported, where it is shown */
};

/* One change and everything that was computed for it. */
struct edit_step {
	const struct change *change;    /* borrowed */
	struct change_result *result;   /* borrowed */
	struct edit_file *file;         /* what `path` names; NULL: it could not be read */
	struct edit_file *target;       /* MOVE: what `new_path` names */
	struct edit_body before, after; /* of `file` (after a MOVE: of `target`) */
	struct buf input;               /* before's bytes in one run, when they were in pieces */
	bool has_doc;
	struct document doc;            /* of before; only when has_doc */
	bool shares_doc;                /* it is before.text's, and valid until the next step */
	bool drops_bom;                 /* `edits` are not all that the step does */
	struct text_form form;          /* of after */
	bool opaque;                    /* the content before is not text; doc is that of nothing */
	bool has_plan;
	struct patch_plan plan;         /* PATCH */
	struct script script;           /* UPDATE, DATA */
	const struct script *edits;     /* plan.script or script; NULL: `text` is all of it */
	struct buf text_owned;          /* new text, if one was made */
	struct span text;               /* WRITE: the whole new text, without byte-order mark */
	struct pieces pieces;           /* the new bytes */
	char written_as[32];            /* their encoding, when it is not that of doc */
};

struct edit_call {
	const struct workspace *ws;
	const struct edit_options *options;
	struct edit_step *steps;        /* owned */
	size_t step_count;
	struct edit_file *files;        /* owned; never moves */
	size_t file_count;
};

/* file.c */

/* The file that `path` names, read when the call meets it first. */
struct edit_file *edit_file_get(struct edit_call *call, const char *path, struct err *err);
/* Its path below the root, for diffs; borrowed. */
const char *edit_file_relative(const struct edit_call *call, const struct edit_file *file);
/* The body that the file has on disk, before any change. */
struct edit_body edit_body_on_disk(struct edit_file *file);
/* Its hash, computed when it is first asked for; borrowed. */
const struct sha256 *edit_body_sha256(struct edit_body *body);

/* The encoding and line endings of a text as it was opened. */
void edit_form_of_document(const struct document *doc, struct text_form *ret);
/* Of the body that the step made. */
void edit_form_of_step(const struct edit_step *step, struct text_form *ret);

/* plan.c */

/* Plans one change and updates the bodies of its files.  On failure nothing but
 * step->result (reports of a failed diff) and step->file is touched. */
bool edit_plan_step(struct edit_call *call, struct edit_step *step, struct err *err);

/* update.c */

/* Plans an UPDATE: finds the places of the old text, or of what it plainly means, and makes step's
 * body with the new text there.  WRONG_MATCH_COUNT, NO_CHANGE, FILE_EXISTS, INVALID_ARGUMENT. */
bool edit_plan_update(struct edit_call *call, struct edit_step *step, struct err *err);
/* The line (1-based) where the new text of an update stands that was made already, and whose old
 * text is not in the file; 0: it was not.  step->doc is open. */
size_t edit_update_made(const struct edit_step *step);
/* Nothing is left to do: the body stays as it is, and the result says so. step->doc is open. */
bool edit_plan_nothing(struct edit_step *step);

/* places.c */

/* Finds where the old texts of the updates of step's path stand, from that step on, in `text`.
 * NULL: they are few, or too many places look alike.  Borrows the old texts. */
struct edit_places *edit_places_make(const struct edit_call *call, const struct edit_step *step,
                                     struct span text);
void edit_places_free(struct edit_places *places); /* NULL is fine */
/* Bytes [from, to) became `added` others, which `text`, the whole text, has. Several changes are
 * reported last one first. False: the places can no longer be used. */
bool edit_places_follow(struct edit_places *places, struct span text, size_t from, size_t to,
                        size_t added);
/* Where the old text stands, counted without overlap, ascending; *ret is the caller's.  False: it
 * is none of those that were looked for, or moving the places costs more than looking again. */
bool edit_places_find(struct edit_places *places, struct span old_text, size_t *ret_count,
                      size_t **ret);

/* text.c */

/* Makes the body, which changes of the call made, one that its text has whole (body->text->doc).
 * False, leaving the bytes where they are: it is not plain UTF-8, or none of theirs. */
bool edit_text_take(struct edit_file *file, struct edit_body *body);
/* NULL is fine. */
void edit_texts_free(struct edit_text *texts);

/* file.c: a step's document and body */

/* Whether two bodies have the same bytes.  Pieces that are borrowed from the same place, as
 * all untouched lines are, are not looked at. */
bool edit_body_same(const struct edit_body *a, const struct edit_body *b);

/* Opens step->doc over the body before, once: NOT_TEXT, TOO_LARGE. */
bool edit_step_document(struct edit_step *step, struct err *err);
/* The same; content that is not text is taken for nothing, and step->opaque set. */
bool edit_step_any_document(struct edit_step *step, struct err *err);
/* Makes step->pieces the body after the step: false if it is too large. */
bool edit_take_pieces(struct edit_step *step, struct err *err);
/* Whole new text as the step's body, with the line endings and encoding that the file had. */
bool edit_plan_text(struct edit_step *step, struct span text, struct err *err);
/* The document as `edits`, which is borrowed, leaves it as the step's body. */
bool edit_plan_script(struct edit_step *step, const struct script *edits, bool keep_bom,
                      struct err *err);
/* Appends `text` with CRLF for each LF that has none; false: no room. */
bool edit_to_crlf(struct buf *out, struct span text);

/* placeholder.c */

/* What a line may stand for; content.c has the evidence that each needs. */
enum placeholder {
	PLACEHOLDER_NONE,
	PLACEHOLDER_DOTS,           /* dots alone, perhaps in brackets, or as a body in braces */
	PLACEHOLDER_COMMENTED_DOTS, /* dots alone, in a comment's marks */
	PLACEHOLDER_SENTENCE,       /* words that say so, with nothing around them */
	PLACEHOLDER_LIKELY,         /* the same in a comment, in brackets, or with dots */
	PLACEHOLDER_CERTAIN,        /* dots, and words that say nothing else */
};

/* Reads one line, with or without its ending. In time linear in the line. */
enum placeholder placeholder_read(struct span line);
/* Whether the line, trimmed, begins with a comment mark of any language. */
bool placeholder_is_comment(struct span body);

/* change_result.c */

/* The state before the step, counts, notes and (if wanted) the diff. */
void edit_result_planned(struct edit_call *call, struct edit_step *step);
/* Fills state and content from the body of `file`: planned, or just committed. */
void edit_result_state(struct edit_call *call, struct edit_step *step, struct edit_file *file);

#endif
