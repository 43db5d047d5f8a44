/* SPDX-License-Identifier: Apache-2.0 */
/* A client's subscriptions: changes of lists and resources, and the stream on which a server of
 * 2026-07-28 reports them (watch.c; listen.c opens it). */
#ifndef HASP_MCP_CLIENT_WATCH_H
#define HASP_MCP_CLIENT_WATCH_H

#include "mcp/client/client.h"

struct mcp_watch;

/* Without subscriptions. */
struct mcp_watch *mcp_watch_new(void);
/* Of one that no thread uses any more. */
void mcp_watch_free(struct mcp_watch *watch);
/* Around the opening of a stream: one thread at a time. */
void mcp_watch_lock_opening(struct mcp_watch *watch);
void mcp_watch_unlock_opening(struct mcp_watch *watch);
/* Subscribes to a resource; false: already subscribed, or too many. */
bool mcp_watch_add(struct mcp_watch *watch, const char *uri);
/* Whether a notice (notifications/resources/updated) is about what was asked for. */
bool mcp_watch_updated(struct mcp_watch *watch, const json_t *params);
/* As mcp_client_updated. */
json_t *mcp_watch_take(struct mcp_watch *watch);
/* Whether a stream must be opened, replacing *ret_before (0: none); `stream` is the current one
 * from now on.  `wanted` (lists; of the params of subscriptions/listen) gets the resources.
 * *ret_ended: there was one, which has ended. */
bool mcp_watch_open(struct mcp_watch *watch, int64_t stream, json_t *wanted, int64_t *ret_before,
                    bool *ret_ended);
/* The stream has ended; `for_good`: the server has none.  False: it is a different stream. */
bool mcp_watch_ended(struct mcp_watch *watch, int64_t stream, bool for_good);

/* For that, of a client: its own, borrowed; whether it is of MCP_MODERN; a number for a request;
 * the _meta of one, a new object; whether its transport says `exchanges`. */
struct mcp_watch *mcp_client_watches(struct mcp_client *client);
bool mcp_client_is_modern(const struct mcp_client *client);
int64_t mcp_client_number(struct mcp_client *client);
json_t *mcp_client_meta(const struct mcp_client *client);
bool mcp_client_exchanges(const struct mcp_client *client);
/* Without `headers` by transport.send. */
bool mcp_client_transmit(struct mcp_client *client, struct span message, int64_t number,
                         const char *const *headers);

#endif
