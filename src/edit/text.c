/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a file that several changes of one call edit in turn.
 *
 * It is opened once, as plain UTF-8 in a separate buffer. What a change does to it is put into the
 * buffer and into the table of its lines when the next change asks for it: the cost of a change is
 * that of moving what comes after its lines, not of reading the file again. Files in other
 * encodings, and changes of which that would not be all (a byte-order mark, control characters),
 * are opened again for each change.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "edit/private.h"

/* Edits of one change that are put in one by one; more are cheaper in one pass. */
enum { EDITS_IN_PLACE = 8 };

void edit_texts_free(struct edit_text *texts)
{
	while (texts) {
		struct edit_text *next = texts->next;

		document_release(&texts->doc);
		edit_places_free(texts->places);
		buf_release(&texts->flat);
		free(texts);
		texts = next;
	}
}

/* Makes the body borrow all of the buffer. */
static void text_lend(struct edit_text *text, struct edit_body *body)
{
	text->doc.raw = text->piece = buf_view(&text->flat);
	text->doc.lines.text = span_skip(text->piece, text->doc.bom_bytes);
	text->pending = NULL;
	body->pieces = &text->piece;
	body->count = 1;
	body->text = text;
}

static bool text_open(struct edit_file *file, struct edit_body *body)
{
	struct edit_text *text = mem_alloc(1, sizeof(*text));

	text->next = file->texts;
	file->texts = text;
	text->flat = (struct buf)BUF_INIT(LIMIT_FILE_BYTES);
	for (size_t i = 0; i < body->count; i++)
		buf_span(&text->flat, body->pieces[i]);
	if (text->flat.overflowed || !document_decode_utf8(buf_view(&text->flat), &text->doc))
		return false;
	text->starts_cap = text->doc.lines.count + 1;
	text_lend(text, body);
	return true;
}

/* Whether the text has nothing that could make another file than one of plain UTF-8. */
static bool insert_is_plain(struct span text)
{
	size_t special = 0;

	for (size_t i = 0; i < text.len; i++) {
		const unsigned char c = (unsigned char)text.data[i];

		special += (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
	}
	return !special && !span_starts(text, SPAN("\xEF\xBB\xBF"));
}

/* Counts the line ends of lines of the text, `sign` 1, or takes them off, -1. */
static void text_count_ends(struct document *doc, struct span lines, int sign)
{
	struct span line;

	while (line_next(&lines, &line)) {
		const size_t len = line_ending(line).len;

		doc->lf_lines += len == 1 ? (size_t)sign : 0;
		doc->crlf_lines += len == 2 ? (size_t)sign : 0;
	}
}

/* Makes the table of lines that of the text after the edit, which begins at byte `at` and makes the
 * text `grows` bytes longer. */
static void put_starts(struct edit_text *text, const struct edit *edit, size_t at, size_t grows)
{
	struct lines *lines = &text->doc.lines;
	const size_t added = lines_count(edit->insert), count = lines->count - edit->remove + added;
	const size_t tail = lines->count - edit->at - edit->remove;
	struct span rest = edit->insert, line;
	uint32_t *to;

	lines->starts = mem_grow(lines->starts, &text->starts_cap, count + 1,
	                         sizeof(*lines->starts));
	to = lines->starts + edit->at;
	memmove(to + added, to + edit->remove, tail * sizeof(*to));
	for (size_t i = 0; i < tail; i++)
		to[added + i] += (uint32_t)grows; /* modulo 2^32: it may be less */
	while (line_next(&rest, &line)) {
		*to++ = (uint32_t)at;
		at += line.len;
	}
	lines->count = count;
}

/* Of a script's edits the last one first; there is room for it. */
static void text_put(struct edit_text *text, const struct edit *edit)
{
	const struct lines *lines = &text->doc.lines;
	const size_t from = text->doc.bom_bytes + lines_start(lines, edit->at);
	const size_t to = text->doc.bom_bytes + lines_start(lines, edit->at + edit->remove);
	struct buf *flat = &text->flat;

	text_count_ends(&text->doc, span_of(flat->data + from, to - from), -1);
	text_count_ends(&text->doc, edit->insert, 1);
	memmove(flat->data + from + edit->insert.len, flat->data + to, flat->len - to);
	if (edit->insert.len)
		memcpy(flat->data + from, edit->insert.data, edit->insert.len);
	flat->len += edit->insert.len - (to - from);
	text->doc.lines.text = span_skip(buf_view(flat), text->doc.bom_bytes);
	if (text->places && !edit_places_follow(text->places, text->doc.lines.text,
	                                        from - text->doc.bom_bytes,
	                                        to - text->doc.bom_bytes, edit->insert.len)) {
		edit_places_free(text->places);
		text->places = NULL;
	}
	put_starts(text, edit, from - text->doc.bom_bytes, edit->insert.len - (to - from));
}

/* Puts what the last change does into the text, if that is all that it does. */
static bool text_follow(struct edit_text *text)
{
	const struct script *script = text->pending;
	struct document *doc = &text->doc;
	size_t grows = 0;

	for (size_t i = 0; script && i < script->count; i++) {
		if (script->count > EDITS_IN_PLACE || !insert_is_plain(script->edits[i].insert))
			return false;
		grows += script->edits[i].insert.len;
	}
	/* Before the first byte moves: the body still borrows them. */
	if (!buf_reserve(&text->flat, grows))
		return false;
	for (size_t i = script ? script->count : 0; i-- > 0;)
		text_put(text, &script->edits[i]);
	doc->final_newline = doc->lf_lines + doc->crlf_lines == doc->lines.count;
	return true;
}

bool edit_text_take(struct edit_file *file, struct edit_body *body)
{
	if (!body->exists || !body->made_by)
		return false;
	if (body->text && text_follow(body->text)) {
		text_lend(body->text, body);
		return true;
	}
	body->text = NULL;
	return text_open(file, body);
}
