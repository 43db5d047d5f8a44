/* SPDX-License-Identifier: Apache-2.0 */
/* From the threads of the pool to the loop's thread.  Private to this folder.
 *
 * Posts run in the order in which they were posted; all that gathered while the loop was busy
 * cost one wake-up.  A server's own queue, so that it can be emptied when the server ends
 * although the loop does not run any more.
 */
#ifndef HASP_MCP_PROTOCOL_OUTBOX_H
#define HASP_MCP_PROTOCOL_OUTBOX_H

#include "net/loop/loop.h"

struct outbox;

/* Embedded in what is posted; that lives until `run` was called. */
struct post {
	struct post *next; /* the outbox's */
	void (*run)(struct post *post);
};

struct outbox *outbox_new(struct loop *loop);
/* From any thread. */
void outbox_post(struct outbox *outbox, struct post *post);
/* Runs what was posted, on the loop's thread. */
void outbox_drain(struct outbox *outbox);
/* Whether nothing is posted; from any thread. */
bool outbox_empty(struct outbox *outbox);
/* Drains it; nobody posts any more. It is freed once the loop has let go of it. */
void outbox_close(struct outbox *outbox);

#endif
