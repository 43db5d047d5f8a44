/* SPDX-License-Identifier: Apache-2.0 */
/* What is offered: hasp's tools, resources and prompts as rows of an mcp_offer, with what answers
 * them; and the addresses by which clients name files (uri.c). */
#ifndef HASP_MCP_OFFER_OFFER_H
#define HASP_MCP_OFFER_OFFER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "mcp/offer/calls.h"
#include "mcp/offer/conversation.h"
#include "mcp/offer/opened.h"
#include "mcp/offer/serve.h"

/* ---- the offer --------------------------------------------------------------- */

/* One tool as it is offered; data of its handler. */
struct offered {
	struct serve *serve;
	const struct names_item *item;
	char *description, *input_schema, *output_schema, *annotations; /* owned */
	bool at_once; /* is tried on the loop's thread before it goes to the pool */
	bool starts_on_loop; /* if none of its files is being edited */
};

/* What a result is printed to; empty between two results. */
struct paper {
	struct buf raw, text;
};
#define PAPER_INIT { BUF_INIT(LIMIT_MESSAGE_BYTES), BUF_INIT(LIMIT_MESSAGE_BYTES) }
enum { PAPER_KEPT = 256 << 10 };

/* Empties both; what is larger than `kept` is freed. */
static inline void paper_clear(struct paper *paper, size_t kept)
{
	struct buf *const bufs[] = { &paper->raw, &paper->text };

	for (size_t i = 0; i < 2; i++)
		if (bufs[i]->cap > kept)
			buf_release(bufs[i]);
		else
			buf_clear(bufs[i]);
}

struct serve {
	struct serve_options options;
	struct offered_names names;
	struct offered *offered;  /* owned; one an item */
	struct mcp_tool *tools;   /* owned; likewise */
	char *instructions;       /* owned */
	char *prompts;            /* owned; JSON */
	struct mcp_offer offer;
	struct opened_table *table;
	struct turns *turns;
	struct started_edits *edits; /* in flight */
	struct watches *watches;
	struct paper paper; /* for answers on the loop's thread */
	size_t reads_started; /* started and not finished; on the loop's thread */
	struct conversation *unsettled; /* those whose roots are not known; on the loop's thread */
	struct opened_workspace *kept; /* of options.roots: stays open between clients; or NULL */
};

/* names.c: fills the texts of `offered`. */
void offer_declare_tool(const struct offered_names *names, struct offered *offered);
void offer_declare_release(struct offered *offered);

/* call.c */
void call_tool(struct mcp_call *call, void *offered);

/* confirm.c: asks about an edit or a command; `*pending` is set when the client has to come
 * back. */
bool confirm_ask(struct mcp_call *call, const struct offered_names *names,
                 const struct tool_question *question, bool *pending, struct err *err);

/* resources.c */
void resources_list(struct mcp_call *call, void *serve);
void resources_templates(struct mcp_call *call, void *serve);
void resources_read(struct mcp_call *call, void *serve);
/* Appends the contents of a resource: {"uri": ..., "mimeType": ..., "text": ..., "_meta": ...}.
 * The file's state gets the conversation's next version. */
bool resources_contents(struct conversation *conversation, struct provider *provider,
                        const char *path, json_t **ret, struct err *err);

/* prompts.c */
char *prompts_declare(const struct offered_names *names);   /* owned by the caller */
/* `confinement` as in serve_options. */
char *prompts_instructions(const struct offered_names *names, const char *confinement);
void prompts_get(struct mcp_call *call, void *serve);

/* completion/complete. */
void prompts_complete_argument(struct mcp_call *call, void *serve);

/* ---- file: URIs -------------------------------------------------------------- */

/* file: URIs and paths (RFC 8089; RFC 3986 for the escapes).
 *
 * Not here: whether a path lies in the workspace (file/workspace.h).
 */

/* The absolute path that the URI names; the caller frees *ret.  file:/path, file:///path and
 * file://localhost/path; a query or fragment is not a part of the path.  INVALID_ARGUMENT:
 * another scheme or host, a path that is not absolute, a broken escape, an escaped NUL, or
 * longer than LIMIT_PATH_BYTES. */
bool uri_to_path(const char *uri, char **ret, struct err *err);

/* Appends "file://" and the absolute path, with all but unreserved characters and '/' as %XX:
 * a path has exactly one such URI. */
bool uri_from_path(struct buf *out, const char *path);

#endif
