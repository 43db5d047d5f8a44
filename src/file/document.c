/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to lines of UTF-8, with the place of every line in the bytes; and back. */
#include "file/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "file/encoding.h"

#define REPLACEMENT SPAN("\xEF\xBF\xBD") /* U+FFFD */

void document_release(struct document *doc)
{
	lines_release(&doc->lines);
	buf_release(&doc->decoded);
	free(doc->raw_starts);
	*doc = (struct document){ 0 };
}

const char *document_line_endings(const struct document *doc)
{
	if (doc->crlf_lines && doc->lf_lines)
		return "mixed";
	return doc->crlf_lines ? "crlf" : doc->lf_lines ? "lf" : "none";
}

static void count_endings(struct document *doc)
{
	for (size_t i = 0; i < doc->lines.count; i++) {
		size_t len = line_ending(lines_at(&doc->lines, i)).len;

		doc->lf_lines += len == 1;
		doc->crlf_lines += len == 2;
	}
	doc->final_newline = doc->lf_lines + doc->crlf_lines == doc->lines.count;
}

/* ---- one line ----------------------------------------------------------- */

/* Turns one line at a time into UTF-8. */
struct decoder {
	struct document *doc;
	struct transcoder transcoder;
	struct buf back;  /* a line encoded again, to compare */
	bool ascii;       /* ASCII characters are the same bytes, whatever is around them */
	size_t most_lost; /* more invalid places than this are not damage but another encoding */
};

static bool decode_utf8(struct decoder *decoder, struct span raw)
{
	struct document *doc = decoder->doc;

	while (raw.len) {
		struct span rest = raw;
		struct utf8_char c = { 0 };

		while (!c.bad && utf8_next(&rest, &c))
			;
		/* The bad byte, if there is one, is just before what remains. */
		buf_span(&doc->decoded, span_head(raw, raw.len - rest.len - (c.bad ? 1 : 0)));
		if (c.bad) {
			buf_span(&doc->decoded, REPLACEMENT);
			doc->replaced++;
		}
		raw = rest;
	}
	return !doc->decoded.overflowed;
}

/* UTF-16 and UTF-32: invalid sequences are shown as U+FFFD. */
static bool decode_unicode(struct decoder *decoder, struct span raw)
{
	struct document *doc = decoder->doc;
	size_t bad;

	while (raw.len) {
		enum transcode_result result =
			encoding_convert(decoder->transcoder.decode, raw, &doc->decoded, &bad);

		if (result == TRANSCODE_OK)
			return true;
		if (result == TRANSCODE_OVERFLOW || doc->replaced++ >= decoder->most_lost)
			return false;
		buf_span(&doc->decoded, REPLACEMENT);
		raw = span_skip(raw, bad + decoder->transcoder.unit);
	}
	return !doc->decoded.overflowed;
}

/* Bytes that mean themselves in every encoding that has ASCII: no shifts, no escapes. */
static bool document_is_plain(struct span raw)
{
	size_t special = 0;

	for (size_t i = 0; i < raw.len; i++) {
		unsigned char c = (unsigned char)raw.data[i];

		special += c >= 0x80 || c == 0x0E || c == 0x0F || c == 0x1B;
	}
	return special == 0;
}

/* Most lines of most files are plain, and iconv costs far more than a copy: find out once
 * whether the encoding leaves them alone. */
static bool keeps_ascii(const struct transcoder *transcoder)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1024);
	char all[128];
	struct span plain = span_of(all, 0);
	size_t bad;

	for (int c = 1; c < 128; c++)
		if (c != 0x0E && c != 0x0F && c != 0x1B)
			all[plain.len++] = (char)c;
	return encoding_convert(transcoder->decode, plain, &out, &bad) == TRANSCODE_OK &&
	       span_eq(buf_view(&out), plain);
}

/* Legacy encodings: the line has to survive both ways.  That also refuses lines that begin
 * in a shift state which a line before them left behind. */
static bool decode_legacy(struct decoder *decoder, struct span raw)
{
	struct buf *decoded = &decoder->doc->decoded;
	size_t start = decoded->len;
	struct span line;
	const char *feed;
	size_t bad;

	if (decoder->ascii && document_is_plain(raw))
		return buf_span(decoded, raw);
	if (encoding_convert(decoder->transcoder.decode, raw, decoded, &bad) != TRANSCODE_OK)
		return false;
	line = span_of(decoded->data + start, decoded->len - start);
	feed = memchr(line.data, '\n', line.len);
	if (feed ? feed + 1 != line.data + line.len : span_ends(raw, SPAN("\n")))
		return false;
	buf_clear(&decoder->back);
	return line.len &&
	       encoding_convert(decoder->transcoder.encode, line, &decoder->back, &bad) ==
	       TRANSCODE_OK && span_eq(buf_view(&decoder->back), raw);
}

/* ---- all lines ---------------------------------------------------------- */

typedef bool decode_line_fn(struct decoder *decoder, struct span raw);

static decode_line_fn *const decode_line[] = {
	[ENCODING_LOSSY] = decode_utf8,
	[ENCODING_UNICODE] = decode_unicode,
	[ENCODING_LEGACY] = decode_legacy,
};

/* Decodes everything after the mark and notes where each line begins. *ret_line is the
 * 1-based line that does not decode. */
static bool decode_lines(struct decoder *decoder, enum encoding_kind kind, size_t *ret_line)
{
	struct document *doc = decoder->doc;
	bool big_endian = encoding_big_endian(doc->encoding);
	size_t at = doc->bom_bytes;
	size_t count = 0;
	size_t cap = doc->raw.len / 40 + 2;

	doc->raw_starts = mem_grow(NULL, &cap, cap, sizeof(*doc->raw_starts));
	doc->raw_starts[0] = at;
	while (at < doc->raw.len) {
		struct span rest = span_skip(doc->raw, at);
		size_t len = encoding_line_len(rest, decoder->transcoder.unit, big_endian);

		*ret_line = count + 1;
		if (!decode_line[kind](decoder, span_head(rest, len)))
			return false;
		at += len;
		count++;
		doc->raw_starts = mem_grow(doc->raw_starts, &cap, count + 1,
		                           sizeof(*doc->raw_starts));
		doc->raw_starts[count] = at;
	}
	lines_index(&doc->lines, buf_view(&doc->decoded));
	return doc->lines.count == count;
}

/* Fills *doc from bytes in the named encoding; leaves it empty when they are not. */
static bool decode_as(struct span raw, const struct encoding_guess *guess, const char *name,
                      struct document *doc, size_t *ret_line)
{
	struct decoder decoder = {
		.doc = doc,
		.transcoder = TRANSCODER_INIT,
		.back = BUF_INIT(LIMIT_RESULT_BYTES),
	};
	bool decoded;

	*doc = (struct document){ .raw = raw, .bom_bytes = guess->bom_bytes,
		                  .decoded = BUF_INIT(LIMIT_RESULT_BYTES) };
	snprintf(doc->encoding, sizeof(doc->encoding), "%s", name);
	*ret_line = 1;
	if (guess->kind != ENCODING_LOSSY && !encoding_open(name, &decoder.transcoder))
		return false;
	decoder.ascii = guess->kind == ENCODING_LEGACY && keeps_ascii(&decoder.transcoder);
	decoder.most_lost = raw.len / decoder.transcoder.unit / 10 + 4;
	decoded = decode_lines(&decoder, guess->kind, ret_line);
	encoding_close(&decoder.transcoder);
	buf_release(&decoder.back);
	if (!decoded)
		document_release(doc);
	return decoded;
}

static void open_utf8(struct span raw, const struct encoding_guess *guess, struct document *doc)
{
	*doc = (struct document){ .raw = raw, .bom_bytes = guess->bom_bytes };
	snprintf(doc->encoding, sizeof(doc->encoding), "UTF-8");
	lines_index(&doc->lines, span_skip(raw, guess->bom_bytes));
}

bool document_decode_utf8(struct span raw, struct document *ret)
{
	struct encoding_guess guess;

	if (!encoding_sniff_utf8(raw, &guess))
		return false;
	open_utf8(raw, &guess, ret);
	count_endings(ret);
	return true;
}

/* ---- refusals ----------------------------------------------------------- */

static bool refuse_binary(struct span raw, struct err *err)
{
	_cleanup_buf_ struct buf what = BUF_INIT(512);
	struct media media;

	media_identify(raw, NULL, &media);
	media_describe(&media, raw.len, &what);
	return err_set(err, ERR_NOT_TEXT, "The file is %s, not text. %s", what.data,
	               media.advice);
}

static bool refuse_encoding(const char *asked, const struct encoding_guess *guess, size_t line,
                            struct err *err)
{
	if (asked)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The file is not text in the encoding %s: line %zu does not "
		               "decode, or does not encode to the same bytes again.",
		               guess->names[0], line);
	return err_set(err, ERR_NOT_TEXT,
	               "The file looks like text in the encoding %s, but line %zu does not decode "
	               "and encode to the same bytes, so it cannot be shown and edited safely. "
	               "Convert it to UTF-8 with a shell command, or name another encoding.",
	               guess->names[0], line);
}

bool document_decode(struct span raw, const char *encoding, struct document *ret,
                     bool *ret_binary, struct err *err)
{
	struct encoding_guess guess;
	struct document doc;
	size_t line = 1;
	size_t first_line = 1;
	bool decoded = false;

	*ret_binary = false;
	if (!encoding)
		encoding_sniff(raw, &guess);
	else if (!encoding_named(raw, encoding, &guess, err))
		return false;
	if (guess.kind == ENCODING_BINARY) {
		*ret_binary = true;
		return err_set(err, ERR_NOT_TEXT, "The file is not text.");
	}
	if (guess.kind == ENCODING_UTF8) {
		open_utf8(raw, &guess, &doc);
		decoded = true;
	}
	for (size_t i = 0; i < guess.name_count && !decoded; i++) {
		decoded = decode_as(raw, &guess, guess.names[i], &doc, &line);
		if (i == 0)
			first_line = line;
	}
	/* Where even uchardet has no idea, it is rather no text at all. */
	*ret_binary = !decoded && !encoding && strcmp(guess.names[0], "windows-1252") == 0;
	if (!decoded)
		return refuse_encoding(encoding, &guess, first_line, err);
	count_endings(&doc);
	*ret = doc;
	return true;
}

bool document_open(struct span raw, const char *encoding, struct document *ret, struct err *err)
{
	bool binary;

	if (document_decode(raw, encoding, ret, &binary, err))
		return true;
	return binary ? refuse_binary(raw, err) : false;
}

/* ---- encoding: text as pieces of bytes -------------------------------------------- */

/* An edited document as bytes for the disk: old bytes borrowed, new lines encoded. */

void document_pieces_release(struct pieces *pieces)
{
	free(pieces->spans);
	buf_release(&pieces->owned);
	*pieces = (struct pieces){ 0 };
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
	const size_t *starts = doc->raw_starts;
	struct span lines;

	if (from == to)
		return span_of(NULL, 0);
	if (starts)
		return span_of(doc->raw.data + starts[from], starts[to] - starts[from]);
	lines = lines_range(&doc->lines, from, to);
	return span_of(doc->raw.data + doc->bom_bytes + (lines.data - doc->lines.text.data),
	               lines.len);
}

/* ---- new text ----------------------------------------------------------- */

/* The text of one edit, and where it stands, for messages. */
struct new_text {
	const struct script *script;
	size_t edit;
	struct span text;
};

/* 1-based line of the result where the byte at `offset` of the new text is. */
static size_t document_line_of(const struct new_text *new_text, size_t offset)
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
	               document_line_of(new_text, offset));
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
		               "bytes that are not %s, which writing it would lose: leave lines "
		               "that have it unchanged, or write them without it.",
		               document_line_of(new_text,
		                                (size_t)(lost - text.data)), doc->encoding);
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
		switch (encoding_convert(encode, line, out, &bad)) {
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

	if (!utf8 && !encoding_open(doc->encoding, &transcoder))
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
		document_pieces_release(&pieces);
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

	if (doc->bom_bytes)
		edit.insert = utf8_skip_mark(text);
	return document_encode(doc, &script, /* keep_bom= */ true, ret, err);
}
