/* SPDX-License-Identifier: Apache-2.0 */
/* Server-sent events as text.
 * Source: https://html.spec.whatwg.org/multipage/server-sent-events.html */
#ifndef HASP_NET_HTTP_EVENT_STREAM_H
#define HASP_NET_HTTP_EVENT_STREAM_H

#include "base/buf.h"

#define EVENT_STREAM_TYPE "text/event-stream"

/* One event: `id` (a word, or NULL) and its data, of any number of lines. */
bool event_write(struct buf *out, const char *id, struct span data);
/* How long a client waits before it comes back after the end of the stream. */
bool event_write_retry(struct buf *out, unsigned retry_ms);
/* A comment, which keeps a quiet connection from being taken for a dead one. */
bool event_write_keep_alive(struct buf *out);

#endif
