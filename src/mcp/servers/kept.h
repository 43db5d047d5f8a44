/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of servers: lines that they log (log.c), what they declared last time (cache.c), and
 * how tools were declared when they were allowed (approvals.c). */
#ifndef HASP_MCP_SERVERS_KEPT_H
#define HASP_MCP_SERVERS_KEPT_H

#include <jansson.h>
#include <stdbool.h>

#include "tool/tool.h"

/* ---- what a server logs (log.c) ---- */

struct mcp_log;

/* Of one server, empty. */
struct mcp_log *mcp_log_new(void);
void mcp_log_free(struct mcp_log *log); /* NULL is fine */
/* Keeps a message (the params of notifications/message), unless it is below `least`. Returns a
 * sentence for the user if it is a new error, which the caller frees; else NULL.  From any
 * thread. */
char *mcp_log_add(struct mcp_log *log, const char *server, const char *least,
                  const json_t *params);
/* The last 50: an array of {"level", "text", "logger"?}, each one line; a new reference. */
json_t *mcp_log_kept(struct mcp_log *log);

/* ---- what is known from last time ---- */

/* The whole file, read once for all servers: an object, empty if it cannot be read; new. */
json_t *mcp_cache_load(const char *file);
/* What it has (NULL: nothing) under a name and hash: {"tools", "offers"}, what the file says.
 * Borrowed; NULL: nothing. */
json_t *mcp_cache_find(const json_t *all, const char *name, const char *hash);
/* Whether that server had declared nothing in time. */
bool mcp_cache_was_late(const json_t *all, const char *name, const char *hash);
/* Keeps these in place of what there is under that name; NULL for both: that it was late. */
void mcp_cache_write(const char *file, const char *name, const char *hash, const json_t *tools,
                     const json_t *offers);

/* ---- how tools were declared when they were allowed (approvals.c) -------------------- */

/* Whose tool it is; borrowed. */
struct mcp_approval_server {
	const char *identity; /* of its server_entry */
	const json_t *what;   /* its program, or its address without what may be a secret */
	bool users;           /* servers_row_is_users */
};

/* What is kept of a declaration that was allowed, and of the server that makes it: hashes of its
 * parts, and a text. A new reference. */
json_t *mcp_approval_of(const struct mcp_approval_server *server, const json_t *declaration);
/* Whether a declaration that was allowed is the same now. */
bool mcp_approval_eq(const json_t *before, const json_t *now);
/* Whether that is written down already: of the same server, too. */
bool mcp_approval_is_kept(const json_t *before, const json_t *now);
/* What differs between two that are not. */
void mcp_approval_compare(const json_t *before, const json_t *now, struct tool_change *ret);

/* All that a file has, by server and tool; NULL or one that cannot be read: {}. A new reference. */
json_t *mcp_approvals_read(const char *file);
/* Borrowed; NULL: no call of it was allowed yet. */
const json_t *mcp_approvals_get(const json_t *all, const char *server, const char *tool);
/* Adds one to `all`, and to the file (or NULL) as it is now.  The caller lets no other thread do
 * so meanwhile. */
void mcp_approvals_set(json_t *all, const char *file, const char *server, const char *tool,
                       json_t *approval);

#endif
