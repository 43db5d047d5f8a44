/* SPDX-License-Identifier: Apache-2.0 */
/* MCP over stdin and stdout, one message a line. */
#ifndef HASP_MCP_TRANSPORT_STDIO_H
#define HASP_MCP_TRANSPORT_STDIO_H

#include "mcp/protocol/server.h"

struct mcp_stdio;

/* Serves one client until its input ends: then calls under way are finished and answered,
 * and `ended` is called on the loop's thread (the caller stops the loop).  Nobody reading
 * the output any more ends it too, and cancels the calls.  Nothing but messages is ever
 * written to `write_fd`.  A client that does not read its answers is not read from either, once
 * 32 MiB wait for it, or 8 MiB while many calls are under way. */
bool mcp_serve_stdio(struct mcp_server *server, struct loop *loop, int read_fd, int write_fd,
                     void (*ended)(void *data), void *data, struct mcp_stdio **ret,
                     struct err *err);
/* Waits for a client that still takes what is written, up to two seconds at a time. NULL is
 * fine. */
void mcp_stdio_free(struct mcp_stdio *stdio);

#endif
