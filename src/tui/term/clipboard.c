/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/term/term.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum {
	CHUNK_BYTES = 4096 / 3 * 3, /* of one packet of OSC 5522; the protocol's limit is 4,096 */
	SCREEN_BYTES = 240,         /* of one DCS: GNU screen keeps 256 */
	TYPE_BYTES_MAX = 256,
};

/* ---- base64 (RFC 4648) ------------------------------------------------------- */

static void put_base64(struct buf *out, struct span bytes)
{
	while (bytes.len) {
		const struct span piece = span_head(bytes, CHUNK_BYTES);
		unsigned char text[CHUNK_BYTES / 3 * 4 + 1];

		const int n = EVP_EncodeBlock(text, (const unsigned char *)piece.data,
		                              (int)piece.len);

		buf_append(out, text, (size_t)n);
		bytes = span_skip(bytes, piece.len);
	}
}

/* Appends what the text stands for. False: it is none, or has no room. */
static bool read_base64(struct span text, struct buf *out)
{
	unsigned char bytes[CHUNK_BYTES];
	static const char known[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	if (text.len % 4)
		return false;
	while (text.len) {
		const struct span piece = span_head(text, CHUNK_BYTES / 3 * 4);
		const bool last = piece.len == text.len;
		size_t padding = last ? span_ends(piece, SPAN("==")) ? 2 :
		                                span_ends(piece, SPAN("=")) : 0;
		int n;

		/* The library takes white space too, and knows no other mistakes. */
		for (size_t i = 0; i < piece.len - padding; i++)
			if (!memchr(known, piece.data[i], sizeof(known) - 1))
				return false;
		n = EVP_DecodeBlock(bytes, (const unsigned char *)piece.data, (int)piece.len);
		if (n < (int)padding || !buf_append(out, bytes, (size_t)n - padding))
			return false;
		text = span_skip(text, piece.len);
	}
	return true;
}

/* ---- OSC 52 ------------------------------------------------------------------ */

/* tmux takes the sequence with each Esc doubled. */
static void put_for_tmux(struct buf *out, struct span base64)
{
	buf_str(out, "\033Ptmux;\033\033]52;c;");
	buf_span(out, base64);
	buf_str(out, "\a\033\\");
}

static void put_for_screen(struct buf *out, struct span base64)
{
	_cleanup_buf_ struct buf whole = BUF_INIT(base64.len + 16);
	struct span rest;

	buf_str(&whole, "\033]52;c;");
	buf_span(&whole, base64);
	buf_str(&whole, "\a");
	for (rest = buf_view(&whole); rest.len; rest = span_skip(rest, SCREEN_BYTES)) {
		buf_str(out, "\033P");
		buf_span(out, span_head(rest, SCREEN_BYTES));
		buf_str(out, "\033\\");
	}
}

void clipboard_put_text(struct buf *out, struct span text, enum clipboard_way way)
{
	_cleanup_buf_ struct buf base64 = BUF_INIT((size_t)2 * CLIPBOARD_TEXT_BYTES_MAX);

	put_base64(&base64, text);
	if (way == CLIPBOARD_SCREEN) {
		put_for_screen(out, buf_view(&base64));
		return;
	}
	buf_str(out, "\033]52;c;");
	buf_span(out, buf_view(&base64));
	buf_str(out, "\033\\");
	if (way == CLIPBOARD_TMUX)
		put_for_tmux(out, buf_view(&base64));
}

/* ---- OSC 5522: what is asked ------------------------------------------------- */

void clipboard_put_write(struct buf *out, const char *id, const char *type, struct span bytes)
{
	buf_printf(out, "\033]5522;type=write:id=%s\033\\", id);
	while (bytes.len) {
		const struct span piece = span_head(bytes, CHUNK_BYTES);

		buf_printf(out, "\033]5522;type=wdata:id=%s:mime=", id);
		put_base64(out, span_str(type));
		buf_char(out, ';');
		put_base64(out, piece);
		buf_str(out, "\033\\");
		bytes = span_skip(bytes, piece.len);
	}
	buf_printf(out, "\033]5522;type=wdata:id=%s\033\\", id);
}

void clipboard_put_types(struct buf *out, const char *id)
{
	clipboard_put_read(out, id, ".", NULL);
}

void clipboard_put_read(struct buf *out, const char *id, const char *type, const char *password)
{
	buf_printf(out, "\033]5522;type=read:id=%s", id);
	if (password) {
		buf_str(out, ":pw=");
		put_base64(out, span_str(password));
		buf_str(out, ":name=");
		put_base64(out, SPAN("hasp"));
	}
	buf_char(out, ';');
	put_base64(out, span_str(type));
	buf_str(out, "\033\\");
}

/* ---- what is answered -------------------------------------------------------- */

void clipboard_answer_init(struct clipboard_answer *answer, const char *id, bool types, size_t max)
{
	*answer = (struct clipboard_answer){ .types = types, .data = BUF_INIT(max) };
	snprintf(answer->id, sizeof(answer->id), "%s", id);
}

void clipboard_answer_release(struct clipboard_answer *answer)
{
	buf_release(&answer->data);
}

/* The metadata that count: name=value, a colon between two. */
struct metadata {
	struct span type, status, mime, id;
};

static void read_metadata(struct span text, struct metadata *ret)
{
	const struct {
		struct span name, *value;
	} known[] = {
		{ SPAN("type="), &ret->type }, { SPAN("status="), &ret->status },
		{ SPAN("mime="), &ret->mime }, { SPAN("id="), &ret->id },
	};

	*ret = (struct metadata){ 0 };
	while (text.len) {
		const char *colon = memchr(text.data, ':', text.len);
		const struct span one = span_head(text, colon ? (size_t)(colon - text.data) :
		                                                text.len);

		for (size_t i = 0; i < ARRAY_LEN(known); i++)
			if (span_starts(one, known[i].name))
				*known[i].value = span_skip(one, known[i].name.len);
		text = span_skip(text, one.len + 1);
	}
}

/* A list of types is data of the type "."; or each packet has one, and no data. */
static bool take_data(struct clipboard_answer *answer, struct span mime, struct span payload)
{
	_cleanup_buf_ struct buf type = BUF_INIT(TYPE_BYTES_MAX);

	if (!answer->types)
		return read_base64(payload, &answer->data);
	if (!read_base64(mime, &type))
		return false;
	if (span_eq(buf_view(&type), SPAN(".")))
		return read_base64(payload, &answer->data) && buf_char(&answer->data, ' ');
	return buf_span(&answer->data, buf_view(&type)) && buf_char(&answer->data, ' ');
}

enum clipboard_state clipboard_answer_take(struct clipboard_answer *answer, struct span reply)
{
	const struct span start = SPAN("\033]5522;");
	struct metadata metadata;
	const char *semicolon;
	struct span body, payload = { 0 };

	if (!span_starts(reply, start))
		return CLIPBOARD_FOREIGN;
	body = span_skip(reply, start.len);
	semicolon = body.len ? memchr(body.data, ';', body.len) : NULL;
	if (semicolon) {
		payload = span_skip(body, (size_t)(semicolon - body.data) + 1);
		body = span_head(body, (size_t)(semicolon - body.data));
	}
	read_metadata(body, &metadata);
	if (!answer->id[0] || (metadata.id.len && !span_eq(metadata.id, span_str(answer->id))))
		return CLIPBOARD_FOREIGN;
	if (span_eq(metadata.status, SPAN("OK")))
		return CLIPBOARD_MORE;
	if (span_eq(metadata.status, SPAN("DATA")))
		return take_data(answer, metadata.mime, payload) ? CLIPBOARD_MORE :
		                                                   CLIPBOARD_FAILED;
	if (span_eq(metadata.status, SPAN("DONE")))
		return CLIPBOARD_DONE;
	return span_eq(metadata.status, SPAN("EPERM")) ? CLIPBOARD_REFUSED : CLIPBOARD_FAILED;
}
