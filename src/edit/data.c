/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of values in a file of structured text: they are made in its text, byte for byte, and
 * what comes of it is the step's body. */
#include "base/limits.h"
#include "data/json.h"
#include "data/structured/structured.h"
#include "edit/private.h"

/* The new text, in step->text_owned. */
static bool data_change(struct edit_step *step, const json_t *request, struct err *err)
{
	const json_t *document = json_object_get(request, "document");
	const json_t *cells = json_object_get(request, "cells");
	struct span text = step->doc.lines.text;
	struct err why = ERR_INIT;
	enum structured_format format =
		structured_format_of(step->file->disk.place.path, span_head(text, 512));

	step->text_owned.max = LIMIT_STRUCTURED_BYTES;
	if (cells ? structured_notebook_change(text, cells, &step->text_owned, &why) :
	            structured_change(format, text, json_object_get(request, "changes"),
	                              (unsigned)json_integer_value(document), &step->text_owned,
	                              &why))
		return true;
	return err_set(err, why.code, "%s (%s): %s", step->change->path,
	               structured_format_words(format), why.message);
}

bool edit_plan_data(struct edit_call *call, struct edit_step *step, struct err *err)
{
	json_t *request = NULL;
	bool ok;

	(void)call;
	if (!edit_step_document(step, err) ||
	    !json_parse_foreign(step->change->text, JSON_DEPTH_MAX, &request, NULL, err))
		return false;
	ok = data_change(step, request, err);
	json_decref(request);
	step->text = buf_view(&step->text_owned);
	return ok && document_encode_text(&step->doc, step->text, &step->pieces, err) &&
	       edit_take_pieces(step, err);
}
