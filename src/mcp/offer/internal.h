/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of this folder share.  Private to this folder. */
#ifndef HASP_MCP_OFFER_INTERNAL_H
#define HASP_MCP_OFFER_INTERNAL_H

#include "base/buf.h"
#include "base/limits.h"
#include "mcp/offer/conversation.h"
#include "mcp/offer/opened.h"
#include "mcp/offer/turns.h"

/* One tool as it is offered; data of its handler. */
struct offered {
	struct serve *serve;
	const struct names_item *item;
	char *description, *input_schema, *output_schema, *annotations; /* owned */
	bool at_once; /* is tried on the loop's thread before it goes to the pool */
	bool begins;  /* is begun on the loop's thread, if no file of it is being edited */
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
	struct names names;
	struct offered *offered;  /* owned; one an item */
	struct mcp_tool *tools;   /* owned; likewise */
	char *instructions;       /* owned */
	char *prompts;            /* owned; JSON */
	struct mcp_offer offer;
	struct opened_table *table;
	struct turns *turns;
	struct begun_list *edits; /* that are begun */
	struct watches *watches;
	struct paper paper; /* for answers on the loop's thread */
	size_t begun; /* calls that are begun, and not ended; on the loop's thread */
	struct conversation *unsettled; /* those whose roots are not known; on the loop's thread */
	struct opened *kept; /* of options.roots: stays open between clients; or NULL */
};

/* declare.c: fills the texts of `offered`. */
void declare_tool(const struct names *names, struct offered *offered);
void declare_release(struct offered *offered);

/* call.c */
void call_tool(struct mcp_call *call, void *offered);

/* confirm.c: asks about an edit or a command; `*pending` is set when the client has to come
 * back. */
bool confirm_ask(struct mcp_call *call, const struct names *names,
                 const struct tool_question *question, bool *pending, struct err *err);

/* denied.c: logs what the sandbox denied to a call. */
void denied_log(struct mcp_call *call, const json_t *result);

/* resources.c */
void resources_list(struct mcp_call *call, void *serve);
void resources_templates(struct mcp_call *call, void *serve);
void resources_read(struct mcp_call *call, void *serve);
/* Appends the contents of a resource: {"uri": ..., "mimeType": ..., "text": ..., "_meta": ...}.
 * The file's state gets the conversation's next version. */
bool resources_contents(struct conversation *conversation, struct provider *provider,
                        const char *path, json_t **ret, struct err *err);

/* prompts.c */
char *prompts_declare(const struct names *names);   /* owned by the caller */
/* `confinement` as in serve_options. */
char *prompts_instructions(const struct names *names, const char *confinement);
void prompts_get(struct mcp_call *call, void *serve);

/* complete.c */
void complete_argument(struct mcp_call *call, void *serve);

/* mime.c: by the extension of a name; NULL when it is not known. Static. */
const char *mime_of_name(const char *name);

#endif
