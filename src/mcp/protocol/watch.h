/* SPDX-License-Identifier: Apache-2.0 */
/* Who wants to hear of changes of resources.  Private to this folder.
 *
 * Clients with a connection subscribe to a URI at a time (resources/subscribe); stateless ones
 * open a stream with a filter (subscriptions/listen), which is a call without an end.
 */
#ifndef HASP_MCP_PROTOCOL_WATCH_H
#define HASP_MCP_PROTOCOL_WATCH_H

#include "mcp/protocol/call.h"

struct subscriber;

/* What one peer, or one stream, watches. */
struct watch_list {
	struct subscriber *first;
	size_t count;
};

/* Twice is once. False when the offer cannot watch that, or there are too many. */
bool watch_subscribe(struct mcp_peer *peer, const char *uri, struct err *err);
void watch_unsubscribe(struct mcp_peer *peer, const char *uri);
void watch_unsubscribe_all(struct mcp_peer *peer);

/* Opens a stream and acknowledges it. The call stays listed until it is cancelled or ended. */
bool watch_listen(struct mcp_call *call, struct refusal *refusal);
/* Forgets what a stream watches (its call goes away). */
void watch_unlisten(struct mcp_call *call);
/* Ends a stream from this side: its client is told. */
void watch_end(struct mcp_call *call);

#endif
