/* SPDX-License-Identifier: Apache-2.0 */
/* A step's document, and the body that new text or an edit script makes of it. */
#include <string.h>

#include "base/limits.h"
#include "edit/edit.h"
#include "edit/private.h"

bool edit_step_document(struct edit_step *step, struct err *err)
{
	struct span flat;

	if (step->has_doc)
		return true;
	if (step->file && edit_text_take(step->file, &step->before)) {
		/* The file's body is the same: changes are planned one after the other. */
		step->file->body.pieces = step->before.pieces;
		step->file->body.count = step->before.count;
		step->file->body.text = step->before.text;
		step->doc = step->before.text->doc;
		step->has_doc = step->shares_doc = true;
		return true;
	}
	if (!edit_body_flat(&step->before, &step->input, &flat))
		return err_set(err, ERR_TOO_LARGE, "%s is too large to be held in memory.",
		               step->change->path);
	step->has_doc = document_open(flat, NULL, &step->doc, err);
	return step->has_doc;
}

bool edit_step_any_document(struct edit_step *step, struct err *err)
{
	struct err why = ERR_INIT;

	if (edit_step_document(step, &why))
		return true;
	if (why.code == ERR_NOT_TEXT) {
		step->opaque = true;
		step->has_doc = document_open(span_of("", 0), NULL, &step->doc, &why);
	}
	if (!step->has_doc)
		*err = why;
	return step->has_doc;
}

bool edit_body_same(const struct edit_body *a, const struct edit_body *b)
{
	struct span left = { 0 }, right = { 0 };
	size_t i = 0, j = 0;

	if (a->exists != b->exists || a->size != b->size)
		return false;
	for (;;) {
		size_t n;

		while (left.len == 0 && i < a->count)
			left = a->pieces[i++];
		while (right.len == 0 && j < b->count)
			right = b->pieces[j++];
		n = left.len < right.len ? left.len : right.len;
		if (n == 0)
			return left.len == right.len;
		if (left.data != right.data && memcmp(left.data, right.data, n) != 0)
			return false;
		left = span_skip(left, n);
		right = span_skip(right, n);
	}
}

/* Makes step->pieces the body after the step. */
bool edit_take_pieces(struct edit_step *step, struct err *err)
{
	struct edit_body *after = &step->after;

	*after = (struct edit_body){
		.exists = true,
		.pieces = step->pieces.spans,
		.count = step->pieces.count,
		.origin = step->before.origin,
		.made_by = step,
		.verified = step->before.verified,
	};
	for (size_t i = 0; i < after->count; i++) {
		if (step->pieces.spans[i].len > LIMIT_FILE_BYTES - after->size)
			return err_set(err, ERR_TOO_LARGE,
			               "%s would become larger than %zu bytes.", step->change->path,
			               LIMIT_FILE_BYTES);
		after->size += step->pieces.spans[i].len;
	}
	/* A body that is what it was stays the one on disk: there is nothing to write. */
	if (edit_body_same(&step->before, after))
		*after = step->before;
	return true;
}

/* Appends `text` with CRLF for each LF that has none. */
bool edit_to_crlf(struct buf *out, struct span text)
{
	struct span line;

	while (line_next(&text, &line)) {
		struct span ending = line_ending(line);

		buf_span(out, line_body(line));
		if (ending.len)
			buf_str(out, "\r\n");
	}
	return !out->overflowed;
}

/* Whether LF in the new text stands for CRLF: the file has nothing else, the text none. */
static bool lf_means_crlf(const struct edit_step *step, struct span text)
{
	return step->doc.crlf_lines && !step->doc.lf_lines && !step->change->exact_line_endings &&
	       text.len && memchr(text.data, '\n', text.len) &&
	       !memmem(text.data, text.len, "\r\n", 2);
}

/* Whole new text as the step's body, with the line endings and encoding the file had. */
bool edit_plan_text(struct edit_step *step, struct span text, struct err *err)
{
	if (!utf8_valid(text))
		return err_set(err, ERR_INVALID_ARGUMENT, "The new content of %s is not UTF-8.",
		               step->change->path);
	if (!edit_step_any_document(step, err))
		return false;
	if (step->doc.bom_bytes)
		text = utf8_skip_mark(text); /* the file's own mark is kept */
	if (lf_means_crlf(step, text)) {
		step->text_owned.max = LIMIT_FILE_BYTES;
		if (!edit_to_crlf(&step->text_owned, text))
			return err_set(err, ERR_TOO_LARGE, "The new content of %s is too large.",
			               step->change->path);
		text = buf_view(&step->text_owned);
	}
	step->text = text;
	return edit_encode_text(step, text, err) && edit_take_pieces(step, err);
}

/* The document as `edits` leaves it as the step's body. */
bool edit_plan_script(struct edit_step *step, const struct script *edits, bool keep_bom,
                             struct err *err)
{
	step->edits = edits;
	step->drops_bom = !keep_bom;
	return document_encode(&step->doc, edits, keep_bom, &step->pieces, err) &&
	       edit_take_pieces(step, err);
}
