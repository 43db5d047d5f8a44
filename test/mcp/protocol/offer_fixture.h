/* SPDX-License-Identifier: Apache-2.0 */
/* A server's offer with a tool for each thing that a handler can do. */
#ifndef HASP_TEST_MCP_OFFER_FIXTURE_H
#define HASP_TEST_MCP_OFFER_FIXTURE_H

#include "mcp/protocol/server.h"

/* What has happened, counted; `data` of the offer. */
struct happened {
	_Atomic int begun, ready, roots_changed, ended;
	_Atomic int runs;       /* handlers that were entered */
	_Atomic int running;    /* of these, not left */
	_Atomic int subscribed; /* less those unsubscribed */
	_Atomic int outlived;   /* handlers that ran after their session's end */
	struct pool *pool;      /* where calls that are held wait; set by the test */
};

/* The whole offer; `happened` is set to zero. */
struct mcp_offer offer_whole(struct happened *happened);
/* Tools alone. */
struct mcp_offer offer_tools(struct happened *happened);

#endif
