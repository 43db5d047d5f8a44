/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, and what build functions share. */
#include "model/provider.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

static const struct provider_format *const formats[] = {
	&format_gemini,
	&format_openai_chat,
	&format_openai_responses,
	&format_anthropic,
	&format_replay,
};

const struct provider_format *provider_find(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_LEN(formats); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

/* "Name" and "Name: value" name the same field? */
static bool same_field(const char *a, const char *b)
{
	size_t len = strcspn(a, ":");

	return len == strcspn(b, ":") && strncasecmp(a, b, len) == 0;
}

void wire_header(struct wire_request *request, const char *format, ...)
{
	va_list args;
	char *line;

	va_start(args, format);
	if (vasprintf(&line, format, args) < 0)
		abort();
	va_end(args);
	for (size_t i = 0; i < request->header_count; i++)
		if (same_field(request->headers[i], line)) {
			free(request->headers[i]);
			request->headers[i] = line;
			return;
		}
	request->headers = reallocarray(request->headers, request->header_count + 2,
	                                sizeof(*request->headers));
	if (!request->headers)
		abort();
	request->headers[request->header_count++] = line;
	request->headers[request->header_count] = NULL;
}

/* Appends a sentence of a server to an error's: on one line, without control characters, at most
 * 500 bytes. */
static void wire_quote(struct buf *out, struct span text)
{
	enum { QUOTE_BYTES = 500 };
	struct span head = utf8_head(span_trim(text), QUOTE_BYTES);
	bool blank = true; /* so that blanks at the beginning are left out */
	struct utf8_char c;

	while (utf8_next(&head, &c)) {
		bool shown = !c.bad && c.code > 0x20 && (c.code < 0x7F || c.code > 0x9F);

		if (shown)
			buf_span(out, c.bytes);
		else if (!blank)
			buf_char(out, ' ');
		blank = !shown;
	}
	if (span_trim(text).len > QUOTE_BYTES)
		buf_str(out, "...");
}

static const struct status_row {
	int status;
	enum err_code code;
	enum wire_trouble trouble;
} status_rows[] = {
	{ 401, ERR_AUTHENTICATION_FAILED, WIRE_FATAL }, { 402, ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ 403, ERR_AUTHENTICATION_FAILED, WIRE_FATAL }, { 408, ERR_OVERLOADED, WIRE_TRANSIENT },
	{ 413, ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },     { 425, ERR_OVERLOADED, WIRE_TRANSIENT },
	{ 429, ERR_OVERLOADED, WIRE_TRANSIENT },        { 499, ERR_OVERLOADED, WIRE_TRANSIENT },
};

enum wire_trouble wire_status(int status, struct span sentence, struct err *err)
{
	struct status_row row = { status, ERR_INVALID_ARGUMENT, WIRE_FATAL };
	_cleanup_buf_ struct buf text = BUF_INIT(ERR_MESSAGE_MAX);

	if (status >= 500)
		row = (struct status_row){ status, ERR_OVERLOADED, WIRE_TRANSIENT };
	for (size_t i = 0; i < ARRAY_LEN(status_rows); i++)
		if (status_rows[i].status == status)
			row = status_rows[i];
	wire_quote(&text, sentence);
	if (text.len)
		err_set(err, row.code, "HTTP %d: %s", status, text.data);
	else
		err_set(err, row.code, "HTTP %d.", status);
	return row.trouble;
}
