/* SPDX-License-Identifier: Apache-2.0 */
/* What hasp has of one client (conversation.c). */
#ifndef HASP_MCP_OFFER_CONVERSATION_H
#define HASP_MCP_OFFER_CONVERSATION_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/offer/opened.h"

/* ---- roots ------------------------------------------------------------------- */

/* A list of workspace roots. */

struct root_list {
	char **items; /* owned, and what they point to */
	size_t count;
};

/* ---- conversations ----------------------------------------------------------- */

/* The state of one client: its version counter, its workspace, its subscriptions.
 *
 * The workspace is known immediately if the server was given roots or the client is stateless (then
 * it is the server's roots, or the current directory).  Otherwise the client is asked for its roots
 * once it is ready, and whenever it says that they changed; calls that arrive before the answer
 * wait for it.  A workspace that is not used any more is closed when the last call that uses it has
 * ended.
 */

struct conversation;

/* A call that waits for the roots. Embedded in the caller's object. */
struct waiting_call {
	void (*go)(struct waiting_call *waiting); /* on the loop's thread */
	struct waiting_call *next;
};

/* struct mcp_offer has these. */
void *conversation_begin(void *serve, const struct mcp_session_info *info);
void conversation_ready(void *conversation, struct mcp_peer *peer);
void conversation_roots_changed(void *conversation, struct mcp_peer *peer);
void conversation_end(void *conversation);
bool conversation_subscribe(void *conversation, const char *uri, struct err *err);
void conversation_unsubscribe(void *conversation, const char *uri);

/* Copied for each call, which sets its provider and hooks. */
const struct session *conversation_session(const struct conversation *conversation);

/* On the loop's thread: whether the workspace is known; otherwise `go` is called when it is. With
 * a client that names no roots it is known at the first call. */
bool conversation_is_settled(struct conversation *conversation, const struct mcp_call *call);
void conversation_wait(struct conversation *conversation, struct waiting_call *waiting);
/* Does not wait for the client's roots any more: calls that did fail. */
void conversation_give_up(struct conversation *conversation);

/* The workspace of a call, opened if it is not, for the caller to put; one that is broken when
 * it cannot be opened.  On a pool's thread it waits until the workspace is known; on the
 * loop's it must be (`call` may then be NULL). */
struct opened_workspace *conversation_open(struct conversation *conversation,
                                           const struct mcp_call *call);
/* After a call that may have started commands: those of a workspace that is not the
 * conversation's any more are ended, then it is put. Not on the loop's thread. */
void conversation_put(struct conversation *conversation, struct opened_workspace *opened);

/* Sends what the client does not know yet: workspaces that were opened. */
void conversation_announce(struct conversation *conversation, struct mcp_call *call);

#endif
