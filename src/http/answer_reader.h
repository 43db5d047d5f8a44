/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: an HTTP/1.1 answer, read from bytes in any pieces (RFC 9112).
 *
 *     struct answer_reader reader;
 *     answer_reader_init(&reader, &events, data, max_body);
 *     ok = answer_reader_feed(&reader, bytes, &err);    // until reader.state is ANSWER_DONE
 *     ok = answer_reader_end(&reader, &err);            // the connection has ended
 *     answer_reader_release(&reader);
 *
 * Stricter than the RFC's "robust" readings: folded fields, contradicting lengths and codings other
 * than chunked are errors; a connection on which bytes come after the answer is not kept.
 */
#ifndef HASP_HTTP_ANSWER_READER_H
#define HASP_HTTP_ANSWER_READER_H

#include "base/buf.h"
#include "http/client.h"

enum answer_state {
	ANSWER_HEAD,
	ANSWER_LENGTH,     /* a body of so many bytes */
	ANSWER_UNTIL_END,  /* a body until the connection ends */
	ANSWER_CHUNK_SIZE,
	ANSWER_CHUNK,
	ANSWER_CHUNK_END,  /* the line end after a chunk */
	ANSWER_TRAILERS,
	ANSWER_DONE,
};

struct answer_reader {
	const struct http_events *events;
	void *data;
	size_t max;             /* bytes of the body */
	enum answer_state state;
	struct buf line;        /* the one that is coming */
	struct buf fields;      /* as http_events.head gets them */
	size_t head_bytes;
	size_t received;        /* bytes of the body */
	uint64_t left;          /* of the body, or of the chunk */
	int status;
	bool begun;             /* the status line is there */
	bool headed;            /* `head` was called */
	bool keeps;             /* the connection can be used again */
	bool stopped;           /* by a callback: the error is CANCELLED */
};

void answer_reader_init(struct answer_reader *reader, const struct http_events *events, void *data,
                        size_t max_body);
void answer_reader_release(struct answer_reader *reader);
/* NETWORK_ERROR: it is no such answer; TOO_LARGE; CANCELLED: a callback said so. */
bool answer_reader_feed(struct answer_reader *reader, struct span bytes, struct err *err);
bool answer_reader_end(struct answer_reader *reader, struct err *err);

#endif
