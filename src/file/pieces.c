/* SPDX-License-Identifier: Apache-2.0 */
/* An edited document as bytes for the disk: old bytes borrowed, new lines encoded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "file/document.h"
#include "file/encoding.h"

void pieces_release(struct pieces *pieces)
{
	free(pieces->spans);
	buf_release(&pieces->owned);
	*pieces = (struct pieces){ 0 };
}

struct sha256 pieces_sha256(const struct pieces *pieces, size_t *ret_size)
{
	struct sha256_stream stream;
	size_t size = 0;

	sha256_init(&stream);
	for (size_t i = 0; i < pieces->count; i++) {
		sha256_update(&stream, pieces->spans[i]);
		size += pieces->spans[i].len;
	}
	*ret_size = size;
	return sha256_final(&stream);
}

/* Appends bytes; a span that continues the last one joins it. */
static void pieces_add(struct pieces *pieces, struct span bytes)
{
	struct span *last = pieces->count ? &pieces->spans[pieces->count - 1] : NULL;

	if (!bytes.len)
		return;
	if (last && last->data + last->len == bytes.data) {
		last->len += bytes.len;
		return;
	}
	pieces->spans = mem_grow(pieces->spans, &pieces->cap, pieces->count + 1,
	                         sizeof(*pieces->spans));
	pieces->spans[pieces->count++] = bytes;
}

/* Bytes of lines [from, to) of the document. */
static struct span raw_lines(const struct document *doc, size_t from, size_t to)
{
	const size_t *starts = doc->raw_starts ? doc->raw_starts : doc->lines.starts;
	size_t shift = doc->raw_starts ? 0 : doc->bom_bytes;

	if (from == to)
		return span_of(NULL, 0);
	return span_of(doc->raw.data + starts[from] + shift, starts[to] - starts[from]);
}

/* ---- new text ----------------------------------------------------------- */

/* The text of one edit, and where it stands, for messages. */
struct new_text {
	const struct script *script;
	size_t edit;
	struct span text;
};

/* 1-based line of the result where the byte at `offset` of the new text is. */
static size_t line_of(const struct new_text *new_text, size_t offset)
{
	size_t line = 1;
	size_t old_line = 0;

	for (size_t i = 0; i <= new_text->edit; i++) {
		const struct edit *edit = &new_text->script->edits[i];

		line += edit->at - old_line;
		old_line = edit->at + edit->remove;
		if (i < new_text->edit)
			line += lines_count(edit->insert);
	}
	for (size_t i = 0; i < offset; i++)
		line += new_text->text.data[i] == '\n';
	return line;
}

static bool refuse_character(const struct document *doc, const struct new_text *new_text,
                             size_t offset, struct err *err)
{
	struct span rest = span_skip(new_text->text, offset);
	struct utf8_char c = { .bytes = SPAN("") };

	utf8_next(&rest, &c);
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "The file is in the encoding %s, which has no character U+%04X (%.*s), "
	               "in line %zu of the new text. Write that line without the character.",
	               doc->encoding, (unsigned)c.code, (int)c.bytes.len, c.bytes.data,
	               line_of(new_text, offset));
}

static bool check_new_text(const struct document *doc, const struct new_text *new_text,
                           struct err *err)
{
	static const char replacement[] = "\xEF\xBF\xBD";
	struct span text = new_text->text;
	const char *lost;

	if (!text.len)
		return true;
	if (!utf8_valid(text))
		return err_set(err, ERR_INVALID_ARGUMENT, "The new text is not valid UTF-8.");
	lost = doc->replaced ? memmem(text.data, text.len, replacement, 3) : NULL;
	if (lost)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Line %zu of the new text has a U+FFFD. In this file it stands for "
		               "bytes that are not %s, which writing it would lose: leave lines that "
		               "have it unchanged, or write them without it.",
		               line_of(new_text, (size_t)(lost - text.data)), doc->encoding);
	return true;
}

/* Encodes line by line, so that each line of a stateful encoding stands for itself. */
static bool encode_text(const struct document *doc, iconv_t encode,
                        const struct new_text *new_text, struct buf *out, struct err *err)
{
	struct span rest = new_text->text;
	struct span line;
	size_t bad;

	while (line_next(&rest, &line)) {
		switch (transcode(encode, line, out, &bad)) {
		case TRANSCODE_OK:
			break;
		case TRANSCODE_INVALID:
			bad += (size_t)(line.data - new_text->text.data);
			return refuse_character(doc, new_text, bad, err);
		case TRANSCODE_OVERFLOW:
			return err_set(err, ERR_TOO_LARGE, "The encoded text is too large.");
		}
	}
	return true;
}

/* Checks all inserted text and, unless the file is UTF-8, encodes it into ret->owned;
 * ends[i] is where the bytes of edit i end there. */
static bool encode_inserts(const struct document *doc, const struct script *script,
                           struct pieces *ret, size_t *ends, struct err *err)
{
	_cleanup_transcoder_ struct transcoder transcoder = TRANSCODER_INIT;
	bool utf8 = strcmp(doc->encoding, "UTF-8") == 0;

	if (!utf8 && !transcoder_open(doc->encoding, &transcoder))
		return err_set(err, ERR_INTERNAL, "iconv no longer knows %s.", doc->encoding);
	for (size_t i = 0; i < script->count; i++) {
		struct new_text new_text = { script, i, script->edits[i].insert };

		if (!check_new_text(doc, &new_text, err))
			return false;
		if (!utf8 &&
		    !encode_text(doc, transcoder.encode, &new_text, &ret->owned, err))
			return false;
		ends[i] = ret->owned.len;
	}
	return true;
}

/* ---- the whole ---------------------------------------------------------- */

bool document_encode(const struct document *doc, const struct script *script, bool keep_bom,
                     struct pieces *ret, struct err *err)
{
	_cleanup_free_ size_t *ends = mem_alloc(script->count, sizeof(*ends));
	struct pieces pieces = { .owned = BUF_INIT(LIMIT_RESULT_BYTES) };
	size_t line = 0;
	size_t used = 0;

	if (!encode_inserts(doc, script, &pieces, ends, err)) {
		pieces_release(&pieces);
		return false;
	}
	if (keep_bom)
		pieces_add(&pieces, span_head(doc->raw, doc->bom_bytes));
	for (size_t i = 0; i < script->count; i++) {
		const struct edit *edit = &script->edits[i];

		pieces_add(&pieces, raw_lines(doc, line, edit->at));
		if (pieces.owned.len)
			pieces_add(&pieces, span_of(pieces.owned.data + used, ends[i] - used));
		else
			pieces_add(&pieces, edit->insert);
		used = ends[i];
		line = edit->at + edit->remove;
	}
	pieces_add(&pieces, raw_lines(doc, line, doc->lines.count));
	*ret = pieces;
	return true;
}

bool document_encode_text(const struct document *doc, struct span text, struct pieces *ret,
                          struct err *err)
{
	struct edit edit = { .at = 0, .remove = doc->lines.count, .insert = text };
	struct script script = { .edits = &edit, .count = 1 };

	if (doc->bom_bytes && span_starts(text, SPAN("\xEF\xBB\xBF")))
		edit.insert = span_skip(text, 3);
	return document_encode(doc, &script, /* keep_bom= */ true, ret, err);
}
