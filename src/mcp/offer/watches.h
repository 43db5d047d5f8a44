/* SPDX-License-Identifier: Apache-2.0 */
/* Files that clients have subscribed to.  Private to this folder; on the loop's thread.
 *
 * Clients with one workspace share the watch of a file, so that each of them is told once.
 */
#ifndef HASP_MCP_OFFER_WATCHES_H
#define HASP_MCP_OFFER_WATCHES_H

#include "mcp/offer/opened.h"

struct watches;
struct watched; /* one file, for one client */

struct watches *watches_new(void); /* never NULL */
void watches_free(struct watches *watches); /* nothing is watched any more; NULL is fine */

/* Adds the file to a client's list (`list` points to its head). The errors of a path that
 * cannot be had, or of the provider. */
bool watches_add(struct watches *watches, struct mcp_server *server, struct opened *opened,
                 const char *uri, struct watched **list, struct err *err);
/* Takes it off again; nothing happens if it is not there. */
void watches_remove(struct watched **list, const char *uri);
void watches_clear(struct watched **list);

#endif
