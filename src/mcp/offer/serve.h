/* SPDX-License-Identifier: Apache-2.0 */
/* hasp's tools, files and prompts as what an MCP server offers.
 *
 *     struct serve *serve;
 *     if (!serve_new(&options, &serve, &err)) ...
 *     struct mcp_server *server = mcp_server_new(loop, pool, serve_offer(serve));
 *     ... transports, loop_run ...
 *     serve_stop(serve);
 *     mcp_server_free(server);
 *     serve_free(serve);
 *
 * The parts:
 *     names.c         which tools, under which names; as MCP declares them: schemas, annotations
 *     call.c          tools/call: at once, on the pool, or in turn (turns.c); denials
 *     result.c        a tool's result as text
 *     confirm.c       asking the user before an edit or a command
 *     conversation.c  what one client has: a version counter, roots, an open workspace (opened.c)
 *     resources.c     files as resources, page by page (uri.c); opened.c reports changes
 *     prompts.c       prompts, and completion of arguments
 */
#ifndef HASP_MCP_OFFER_SERVE_H
#define HASP_MCP_OFFER_SERVE_H

#include "mcp/offer/names.h"
#include "mcp/protocol/server.h"
#include "tool/tool.h"

struct serve_options {
	struct loop *loop;
	struct pool *pool; /* the one that the server has */
	struct names_options names;
	/* The workspace of every client; count 0: the client's own roots, else the current
	 * folder. */
	const char *const *roots;
	size_t root_count;
	enum {
		SERVE_CONFIRM_NEVER,
		SERVE_CONFIRM_COMMANDS, /* ask the user before a command is run */
		SERVE_CONFIRM_ALL,      /* and before anything else is changed */
	} confirm;
	const char *confinement; /* NULL, or sentences that tell the model how it is confined */
	enum return_content return_content;
	bool output_schemas; /* in each tools/list, not only for clients that ask
	                      * (mcp/protocol/server.h) */
	/* Opens a workspace. On any thread; *ret_recovered as in worker/inside/inprocess.h. */
	bool (*open)(void *data, const char *const *roots, size_t count, struct provider **ret,
	             size_t *ret_recovered, struct err *err);
	void *open_data;
};

struct serve;

/* Borrows what the options point to. INVALID_ARGUMENT as names_make has it, and the errors of
 * opening options->roots. */
bool serve_new(const struct serve_options *options, struct serve **ret, struct err *err);
const struct mcp_offer *serve_offer(const struct serve *serve);
/* Before the server is freed, on the loop's thread: nothing waits for clients any more. */
void serve_stop(struct serve *serve);
void serve_free(struct serve *serve); /* after the server; NULL is fine */

#endif
