/* SPDX-License-Identifier: Apache-2.0 */
/* hasp's tools, files and prompts as what an MCP server offers.
 *
 *     struct serve *serve;
 *     if (!serve_new(&options, &serve, &err)) ...
 *     struct mcp_server *server = mcp_server_new(loop, pool, serve_offer(serve), &err);
 *     ... transports, loop_run ...
 *     serve_stop(serve);
 *     mcp_server_free(server);
 *     serve_free(serve);
 *
 * The parts:
 *     names.c         which tools, under which names; as MCP declares them: schemas, annotations
 *     call.c          tools/call: immediately, on the pool, or in turn (turns.c); denials
 *     result.c        a tool's result as text
 *     confirm.c       asking the user before an edit or a command
 *     conversation.c  what one client has: a version counter, roots, an open workspace (opened.c)
 *     resources.c     files as resources, page by page (uri.c); opened.c reports changes
 *     prompts.c       prompts, and completion of arguments
 */
#ifndef HASP_MCP_OFFER_SERVE_H
#define HASP_MCP_OFFER_SERVE_H

#include "base/buf.h"
#include "base/err.h"
#include "mcp/protocol/server.h"
#include "tool/tool.h"

/* ---- names ------------------------------------------------------------------------ */

/* Which tools are offered, and what they are called.
 *
 *     struct names_options options = { .tools = (const char *[]){ "read_file,edit" }, ... };
 *     struct offered_names names;
 *     if (!names_make(&options, &names, &err))
 *             ... a name that no tool has, or that two would have ...
 *     for (size_t i = 0; i < names.count; i++)
 *             names.items[i].tool, names.items[i].name
 *     names_release(&names);
 *
 * A tool is named by its canonical name or an alias.  A name that is offered has 1 to 128 of
 * the characters A-Z a-z 0-9 _ - . (MCP 2025-11-25, server/tools).
 */

struct names_options {
	/* Each a list with commas; count 0: all tools. What is in both is left out. */
	const char *const *tools;
	size_t tool_count;
	const char *const *exclude;
	size_t exclude_count;
	/* Each "OLD=NEW". */
	const char *const *renames;
	size_t rename_count;
	const char *prefix; /* before every name that is not renamed; NULL: none */
	bool read_only;     /* only tools that change nothing */
};

struct names_item {
	const struct tool *tool;
	char *name; /* owned */
};

struct offered_names {
	struct names_item *items; /* owned; in the order of the registry */
	size_t count;
	bool changed;             /* some tool is not called what the registry calls it */
};

/* INVALID_ARGUMENT: an unknown name (with the nearest one), a name that MCP does not allow or
 * that two tools would have, a tool renamed twice or not offered, or no tool left. *ret is set
 * on success only. */
bool names_make(const struct names_options *options, struct offered_names *ret, struct err *err);
void names_release(struct offered_names *names);

/* What a tool is offered as, by its canonical name; that name itself when it is not offered. */
const char *names_offered(const struct offered_names *names, const char *canonical);

/* Appends the text with the canonical names in it replaced by those that are offered. Only
 * names with an underscore are taken for names: "glob" is also a word. */
bool names_rewrite(const struct offered_names *names, struct span text, struct buf *out);

/* ---- serving -------------------------------------------------------------- */

/* Of serve_options.answer_tokens: each copy of an answer then has as much as clients show a model
 * without a warning (Claude Code) or a cut (Codex). */
enum { SERVE_ANSWER_TOKENS_DEFAULT = 20000 };

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
	size_t answer_tokens;    /* the budget of an answer, both its copies (internal.h,
	                          * "results"); 0: none */
	/* Hooks around each call, as before and after of call_hooks (tool/tool.h) have them, for a
	 * call of `session`; on threads that may wait. NULL: there are none. */
	json_t *(*before)(void *data, struct session *session, const struct tool *tool,
	                  json_t **arguments, bool *ask);
	void (*after)(void *data, struct session *session, const struct tool *tool,
	              const json_t *arguments, json_t **result);
	void *hooks_data;
	/* Gives a client's session what settings say; NULL: it has their defaults. */
	void (*set_up)(void *data, struct session *session);
	void *set_up_data;
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
