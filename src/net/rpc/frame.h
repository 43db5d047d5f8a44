/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in a byte stream: one a line (the stdio transport of MCP; ACP too).
 *
 *     struct frame_reader reader;
 *     frame_reader_init(&reader, LIMIT_MESSAGE_BYTES);
 *     for each chunk that arrives:
 *             frame_feed(&reader, chunk, on_frame, data);
 *     frame_reader_release(&reader);
 *
 * A line ends with LF; a CR before it is dropped; empty lines are skipped.  Complete lines
 * within a chunk are handed over without a copy.  A line longer than `max` is not
 * stored: it is announced once as too long, with its first bytes, and skipped to its
 * end, however many gigabytes that takes.
 */
#ifndef HASP_NET_RPC_FRAME_H
#define HASP_NET_RPC_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/span.h"

struct frame_reader {
	struct buf pending; /* the beginning of a line whose end has not arrived */
	size_t max;         /* bytes of a line, its end not counted */
	bool skipping;      /* inside a line that was too long */
};

void frame_reader_init(struct frame_reader *reader, size_t max);
void frame_reader_release(struct frame_reader *reader);

/* `line` is borrowed for the call. `too_long`: only the beginning of it. Returning false
 * stops frame_feed, which then drops the rest of the chunk (the connection is closing). */
typedef bool frame_handler(void *data, struct span line, bool too_long);

void frame_feed(struct frame_reader *reader, struct span chunk, frame_handler *handler,
                void *data);

#endif
