/* SPDX-License-Identifier: Apache-2.0 */
/* Server-sent events, read (WHATWG HTML, section 9.2.6), from bytes in any pieces.
 *
 *     struct sse_reader reader;
 *     sse_reader_init(&reader, LIMIT_MESSAGE_BYTES, on_event, data);
 *     ok = sse_reader_feed(&reader, bytes, &err);   // calls on_event for each event that is whole
 *     ok = sse_reader_end(&reader, &err);           // an event without its blank line is dropped
 *     sse_reader_release(&reader); */
#ifndef HASP_NET_HTTP_SSE_H
#define HASP_NET_HTTP_SSE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct sse_event {
	struct span type; /* "message" unless it says otherwise */
	struct span data; /* its lines joined by \n */
	struct span id;   /* the last one seen; may be empty */
};

struct sse_reader {
	/* False ends the reading: sse_reader_feed returns false, and *err is the callback's. */
	bool (*event)(void *data, const struct sse_event *event, struct err *err);
	void *data;
	unsigned retry_ms;               /* the last "retry" seen; 0: none */
	struct buf id;                   /* the last one seen; may be empty */
	struct buf line, text, type;     /* private */
	size_t used;                     /* private: bytes of an event so far */
	size_t max;                      /* largest event, in bytes */
	bool after_cr, started;          /* private */
};

/* `event` gets each event while bytes are fed; what it points to is borrowed for the call. False
 * from it, with *err, ends the feeding. */
void sse_reader_init(struct sse_reader *reader, size_t max_event_bytes,
                     bool (*event)(void *data, const struct sse_event *event, struct err *err),
                     void *data);
/* Frees the unfinished event, which is not delivered. */
void sse_reader_release(struct sse_reader *reader);
/* TOO_LARGE: an event longer than the maximum. */
bool sse_reader_feed(struct sse_reader *reader, struct span bytes, struct err *err);
bool sse_reader_end(struct sse_reader *reader, struct err *err);

/* ---- writing ---- */

/* Source: https://html.spec.whatwg.org/multipage/server-sent-events.html */

#define EVENT_STREAM_TYPE "text/event-stream"

/* One event: `id` (a word, or NULL) and its data, of any number of lines. */
bool sse_write(struct buf *out, const char *id, struct span data);
/* How long a client waits before it comes back after the end of the stream. */
bool sse_write_retry(struct buf *out, unsigned retry_ms);
/* A comment, which keeps a quiet connection from being taken for a dead one. */
bool sse_write_keep_alive(struct buf *out);

#endif
