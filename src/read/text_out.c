/* SPDX-License-Identifier: Apache-2.0 */
/* Cleans, counts and cuts the text of a reader. */
#include "read/text_out.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"

enum { PRINTF_MAX = 16 << 10 };

void text_out_init(struct text_out *out, const struct derive_request *request,
                   struct derive_result *ret)
{
	*out = (struct text_out){
		.ret = ret,
		.max = request->max_bytes ? request->max_bytes : LIMIT_DERIVE_TEXT,
		.line = 1,
		.first_line = request->first_line ? request->first_line : 1,
	};
}

static struct buf *kept(struct text_out *out)
{
	return &out->ret->text;
}

/* Bytes of one line that are fine as they are. */
static void out_bytes(struct text_out *out, struct span bytes)
{
	out->in_line = true;
	if (out->line < out->first_line || out->full)
		return;
	if (kept(out)->len + bytes.len <= out->max) {
		buf_span(kept(out), bytes);
		return;
	}
	out->full = true;
	/* A first line that does not fit is cut within, for there is nothing else to give. */
	if (out->line_start == 0)
		buf_span(kept(out), utf8_head(bytes, out->max - kept(out)->len));
	else
		kept(out)->len = out->line_start;
	if (kept(out)->data)
		kept(out)->data[kept(out)->len] = '\0';
}

static void out_line_end(struct text_out *out)
{
	out_bytes(out, SPAN("\n"));
	out->in_line = false;
	if (out->full)
		return;
	out->line++;
	out->line_start = kept(out)->len;
}

/* How many bytes at the start of the text need no second look. */
static size_t plain_len(struct span text)
{
	size_t len = 0;

	while (len < text.len && (unsigned char)text.data[len] >= ' ' &&
	       (unsigned char)text.data[len] < 0x7f)
		len++;
	return len;
}

static void out_character(struct text_out *out, const struct utf8_char *next)
{
	const bool after_cr = out->after_cr;

	out->after_cr = next->code == '\r';
	if (next->bad)
		out_bytes(out, SPAN("\xEF\xBF\xBD"));
	else if (next->code == '\r' || (next->code == '\n' && !after_cr))
		out_line_end(out);
	else if (next->code == '\t' || (next->code >= ' ' && next->code != 0x7f &&
	                                !(next->code >= 0x80 && next->code < 0xa0)))
		out_bytes(out, next->bytes);
}

/* How many bytes at the end of the text may be the beginning of a character. */
static size_t split_tail(struct span text)
{
	for (size_t back = 1; back <= 3 && back <= text.len; back++) {
		const unsigned char c = (unsigned char)text.data[text.len - back];
		const size_t need = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;

		if ((c & 0xC0) != 0x80)
			return need > back ? back : 0;
	}
	return 0;
}

static void out_whole(struct text_out *out, struct span text)
{
	struct utf8_char next;

	while (text.len && !out->full) {
		const size_t plain = plain_len(text);

		if (plain) {
			out->after_cr = false;
			out_bytes(out, span_head(text, plain));
			text = span_skip(text, plain);
		} else if (utf8_next(&text, &next)) {
			out_character(out, &next);
		}
	}
}

bool text_out(struct text_out *out, struct span text)
{
	size_t tail;

	while (out->split_len && text.len && !out->full) {
		const bool more = ((unsigned char)text.data[0] & 0xC0) == 0x80 &&
		                  out->split_len < sizeof(out->split);

		if (more) {
			out->split[out->split_len++] = text.data[0];
			text = span_skip(text, 1);
		}
		if (more && split_tail(span_of(out->split, out->split_len)))
			continue;
		out_whole(out, span_of(out->split, out->split_len));
		out->split_len = 0;
	}
	tail = split_tail(text);
	out_whole(out, span_head(text, text.len - tail));
	if (tail) {
		memcpy(out->split, text.data + text.len - tail, tail);
		out->split_len = tail;
	}
	return !out->full;
}

bool text_out_printf(struct text_out *out, const char *format, ...)
{
	_cleanup_buf_ struct buf text = BUF_INIT(PRINTF_MAX);
	char *room = buf_reserve(&text, PRINTF_MAX - 1);
	va_list arguments;
	int len;

	if (!room)
		return false;
	va_start(arguments, format);
	len = vsnprintf(room, PRINTF_MAX - 1, format, arguments);
	va_end(arguments);
	if (len < 0)
		return !out->full;
	return text_out(out, span_of(room, len < PRINTF_MAX - 1 ? (size_t)len : PRINTF_MAX - 2));
}

bool text_out_line(struct text_out *out)
{
	out_whole(out, span_of(out->split, out->split_len));
	out->split_len = 0;
	if (out->in_line)
		out_line_end(out);
	return !out->full;
}

void text_out_end(struct text_out *out)
{
	out_whole(out, span_of(out->split, out->split_len));
	out->split_len = 0;
	if (!out->full)
		return;
	out->ret->truncated = true;
	if (!out->ret->next[0])
		snprintf(out->ret->next, sizeof(out->ret->next), "line %zu",
		         out->line + (out->line_start == 0));
}
