/* SPDX-License-Identifier: Apache-2.0 */
/* Replacements of ranges of a text, collected and then made. */
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/structured/private.h"

void edits_add(struct structured_edits *edits, uint32_t start, uint32_t end, struct span text)
{
	const size_t at = edits->texts.len;

	buf_span(&edits->texts, text);
	if (edits->count == edits->cap)
		edits->items = mem_grow(edits->items, &edits->cap, edits->count + 1,
		                        sizeof(*edits->items));
	edits->items[edits->count++] = (struct structured_edit){ start, end, at, text.len };
}

void edits_release(struct structured_edits *edits)
{
	free(edits->items);
	buf_release(&edits->texts);
}

/* Few: they are sorted by insertion, which keeps the order of equal ones. */
static void edits_sort(struct structured_edits *edits)
{
	for (size_t i = 1; i < edits->count; i++) {
		struct structured_edit edit = edits->items[i];
		size_t at = i;

		for (; at && edits->items[at - 1].start > edit.start; at--)
			edits->items[at] = edits->items[at - 1];
		edits->items[at] = edit;
	}
}

bool edits_apply(struct structured_edits *edits, struct span text, struct buf *out,
                        struct err *err)
{
	uint32_t at = 0;

	edits_sort(edits);
	buf_clear(out);
	if (text.len + edits->texts.len <= out->max)
		buf_reserve(out, text.len + edits->texts.len);
	for (size_t i = 0; i < edits->count; i++) {
		const struct structured_edit *edit = &edits->items[i];

		if (edit->start < at || edit->end < edit->start || edit->end > text.len)
			return err_set(err, ERR_INTERNAL, "The edits of a change overlap.");
		buf_append(out, text.data + at, edit->start - at);
		if (edit->len)
			buf_append(out, edits->texts.data + edit->text, edit->len);
		at = edit->end;
	}
	if (text.len > at)
		buf_append(out, text.data + at, text.len - at);
	return !(out->overflowed || edits->texts.overflowed) ||
	       err_set(err, ERR_TOO_LARGE, "The file would have more than %zu bytes.",
	               LIMIT_STRUCTURED_BYTES);
}
