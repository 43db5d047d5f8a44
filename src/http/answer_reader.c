/* SPDX-License-Identifier: Apache-2.0 */
#include "http/answer_reader.h"

#include <string.h>
#include <strings.h>

#include "base/limits.h"

/* A status line, a field, a chunk's size with its extensions. */
enum { LINE_MAX = 64 << 10 };

void answer_reader_init(struct answer_reader *reader, const struct http_events *events, void *data,
                        size_t max_body)
{
	*reader = (struct answer_reader){
		.events = events,
		.data = data,
		.max = max_body,
		.line = BUF_INIT(LINE_MAX),
		.fields = BUF_INIT(LIMIT_HTTP_HEAD_BYTES),
	};
}

void answer_reader_release(struct answer_reader *reader)
{
	buf_release(&reader->line);
	buf_release(&reader->fields);
}

static bool malformed(struct err *err, const char *what)
{
	return err_set(err, ERR_NETWORK_ERROR, "The server's answer is not HTTP: %s.", what);
}

static bool stop(struct answer_reader *reader, struct err *err)
{
	reader->stopped = true;
	return err_set(err, ERR_CANCELLED, "The request was cancelled.");
}

static bool is(struct span value, const char *word)
{
	return value.len == strlen(word) && strncasecmp(value.data, word, value.len) == 0;
}

/* Decimal digits alone, below 2^63. */
static bool read_length(struct span value, uint64_t *ret)
{
	uint64_t number = 0;

	if (!value.len || value.len > 18)
		return false;
	for (size_t i = 0; i < value.len; i++) {
		if (value.data[i] < '0' || value.data[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(value.data[i] - '0');
	}
	*ret = number;
	return true;
}

static bool take_status(struct answer_reader *reader, struct span line, struct err *err)
{
	if (line.len < 12 || !span_starts(line, SPAN("HTTP/1.")) || line.data[8] != ' ')
		return malformed(err, "it does not begin with a status");
	reader->status = 0;
	for (size_t i = 9; i < 12; i++) {
		if (line.data[i] < '0' || line.data[i] > '9')
			return malformed(err, "its status is no number");
		reader->status = reader->status * 10 + (line.data[i] - '0');
	}
	reader->keeps = line.data[7] != '0';
	reader->begun = true;
	buf_clear(&reader->fields);
	return true;
}

static bool take_field(struct answer_reader *reader, struct span line, struct err *err)
{
	const char *colon = memchr(line.data, ':', line.len);
	size_t name = colon ? (size_t)(colon - line.data) : 0;

	if (!name || line.data[0] == ' ' || line.data[0] == '\t' || line.data[name - 1] == ' ' ||
	    memchr(line.data, 0, line.len))
		return malformed(err, "a field has no name");
	for (size_t i = 0; i < name; i++) {
		char c = line.data[i];

		buf_char(&reader->fields, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
	}
	buf_str(&reader->fields, ": ");
	buf_span(&reader->fields, span_trim(span_skip(line, name + 1)));
	buf_char(&reader->fields, '\n');
	return !reader->fields.overflowed ||
	       err_set(err, ERR_TOO_LARGE, "The head of the answer is too large.");
}

/* Two lengths that differ are somebody's attempt to be read in two ways. */
static bool lengths_agree(struct span fields)
{
	struct span first = http_field(fields, "content-length");
	static const char name[] = "\ncontent-length: ";
	const char *at = fields.data;

	while (at && (at = memmem(at, fields.len - (size_t)(at - fields.data), name,
	                          sizeof(name) - 1))) {
		struct span rest = span_skip(fields, (size_t)(at - fields.data) + sizeof(name) - 1);
		const char *end = memchr(rest.data, '\n', rest.len);

		if (!span_eq(first, span_head(rest, (size_t)(end - rest.data))))
			return false;
		at++;
	}
	return true;
}

/* What follows the head (RFC 9112, section 6.3). */
static bool choose_body(struct answer_reader *reader, struct err *err)
{
	struct span fields = buf_view(&reader->fields);
	struct span coding = http_field(fields, "transfer-encoding");
	struct span length = http_field(fields, "content-length");
	struct span packed = http_field(fields, "content-encoding");

	if (is(http_field(fields, "connection"), "close"))
		reader->keeps = false;
	if (packed.len && !is(packed, "identity"))
		return malformed(err, "its body is encoded, which was not asked for");
	if (reader->status == 204 || reader->status == 304) {
		reader->state = ANSWER_DONE;
	} else if (coding.len) {
		if (!is(coding, "chunked"))
			return malformed(err, "its coding is unknown");
		reader->keeps = reader->keeps && !length.len;
		reader->state = ANSWER_CHUNK_SIZE;
	} else if (length.len) {
		if (!read_length(length, &reader->left) || !lengths_agree(fields))
			return malformed(err, "its length is no number");
		reader->state = reader->left ? ANSWER_LENGTH : ANSWER_DONE;
	} else {
		reader->keeps = false;
		reader->state = ANSWER_UNTIL_END;
	}
	return true;
}

static bool end_head(struct answer_reader *reader, struct err *err)
{
	if (!reader->begun)
		return malformed(err, "it begins with a blank line");
	if (reader->status == 101)
		return malformed(err, "it changes the protocol");
	if (reader->status < 200) { /* 100 Continue and its like: another head comes */
		reader->begun = false;
		return true;
	}
	if (!choose_body(reader, err))
		return false;
	reader->headed = true;
	if (reader->events->head &&
	    !reader->events->head(reader->data, reader->status, buf_view(&reader->fields)))
		return stop(reader, err);
	return true;
}

static bool take_chunk_size(struct answer_reader *reader, struct span line, struct err *err)
{
	size_t i;

	reader->left = 0;
	for (i = 0; i < line.len && i < 16; i++) {
		char c = line.data[i];
		int digit = c >= '0' && c <= '9' ? c - '0' :
		            c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		            c >= 'A' && c <= 'F' ? c - 'A' + 10 :
		                                   -1;

		if (digit < 0)
			break;
		reader->left = reader->left << 4 | (uint64_t)digit;
	}
	if (!i || (i < line.len && line.data[i] != ';' && line.data[i] != ' '))
		return malformed(err, "a chunk has no size");
	reader->state = reader->left ? ANSWER_CHUNK : ANSWER_TRAILERS;
	return true;
}

/* A line without its end. */
static bool take_line(struct answer_reader *reader, struct span line, struct err *err)
{
	switch (reader->state) {
	case ANSWER_HEAD:
		if (!line.len)
			return end_head(reader, err);
		return reader->begun ? take_field(reader, line, err) :
		                       take_status(reader, line, err);
	case ANSWER_CHUNK_SIZE:
		return take_chunk_size(reader, line, err);
	case ANSWER_CHUNK_END:
		reader->state = ANSWER_CHUNK_SIZE;
		return !line.len || malformed(err, "a chunk is longer than it says");
	default: /* trailers are read, and nobody wants them */
		if (!line.len)
			reader->state = ANSWER_DONE;
		return true;
	}
}

/* Takes bytes up to the end of a line; returns how many. */
static bool feed_line(struct answer_reader *reader, struct span *bytes, struct err *err)
{
	const char *lf = memchr(bytes->data, '\n', bytes->len);
	size_t len = lf ? (size_t)(lf - bytes->data) : bytes->len;
	struct span line;
	bool ok;

	reader->head_bytes += len;
	if (!buf_append(&reader->line, bytes->data, len) ||
	    reader->head_bytes > LIMIT_HTTP_HEAD_BYTES)
		return err_set(err, ERR_TOO_LARGE, "The head of the answer is too large.");
	*bytes = span_skip(*bytes, len + (lf != NULL));
	if (!lf)
		return true;
	line = buf_view(&reader->line);
	if (span_ends(line, SPAN("\r")))
		line.len--;
	ok = take_line(reader, line, err);
	buf_clear(&reader->line);
	return ok;
}

static bool feed_body(struct answer_reader *reader, struct span *bytes, struct err *err)
{
	bool counted = reader->state != ANSWER_UNTIL_END;
	size_t len = counted && reader->left < bytes->len ? (size_t)reader->left : bytes->len;

	if (len > reader->max - reader->received)
		return err_set(err, ERR_TOO_LARGE, "The answer is larger than %zu bytes.", reader->max);
	reader->received += len;
	if (!reader->events->body(reader->data, span_head(*bytes, len)))
		return stop(reader, err);
	*bytes = span_skip(*bytes, len);
	reader->left -= counted ? len : 0;
	if (counted && !reader->left) {
		reader->state = reader->state == ANSWER_CHUNK ? ANSWER_CHUNK_END : ANSWER_DONE;
		reader->head_bytes = 0; /* from here on: of this chunk's lines */
	}
	return true;
}

static bool in_body(const struct answer_reader *reader)
{
	return reader->state == ANSWER_LENGTH || reader->state == ANSWER_UNTIL_END ||
	       reader->state == ANSWER_CHUNK;
}

bool answer_reader_feed(struct answer_reader *reader, struct span bytes, struct err *err)
{
	while (bytes.len && reader->state != ANSWER_DONE)
		if (!(in_body(reader) ? feed_body(reader, &bytes, err) :
		                        feed_line(reader, &bytes, err)))
			return false;
	reader->keeps = reader->keeps && !bytes.len;
	return true;
}

bool answer_reader_end(struct answer_reader *reader, struct err *err)
{
	if (reader->state == ANSWER_UNTIL_END)
		reader->state = ANSWER_DONE;
	return reader->state == ANSWER_DONE ||
	       err_set(err, ERR_NETWORK_ERROR, "The connection ended before the answer did.");
}
