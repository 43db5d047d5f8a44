/* SPDX-License-Identifier: Apache-2.0 */
/* MCP over stdin and stdout, one message a line. */
#ifndef HASP_MCP_STDIO_H
#define HASP_MCP_STDIO_H

#include "mcp/server.h"

struct mcp_stdio;

/* Serves one client until its input ends: then calls under way are finished and answered,
 * and `ended` is called on the loop's thread (the caller stops the loop). Nothing but
 * messages is ever written to `write_fd`. */
bool mcp_serve_stdio(struct mcp_server *server, struct loop *loop, int read_fd, int write_fd,
                     void (*ended)(void *data), void *data, struct mcp_stdio **ret,
                     struct err *err);
void mcp_stdio_free(struct mcp_stdio *stdio); /* NULL is fine */

#endif
