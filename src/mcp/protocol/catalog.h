/* SPDX-License-Identifier: Apache-2.0 */
/* What a server offers, made ready once: lists as text, tools by name.
 *
 * An offer that cannot be (schemas that are not JSON, two tools of one name) is a
 * programming error and ends in an assertion.
 */
#ifndef HASP_MCP_PROTOCOL_CATALOG_H
#define HASP_MCP_PROTOCOL_CATALOG_H

#include <stdint.h>

#include "mcp/protocol/call.h"
#include "mcp/protocol/server.h"
#include "mcp/protocol/version.h"

/* ---- what is offered --------------------------------------------------------- */

/* An argument that is repeated in a header of the HTTP request (x-mcp-header). */
struct mirrored {
	char *header;      /* owned: "Mcp-Param-Region" */
	const char **path; /* owned; names of properties from the root of the arguments */
	size_t depth;      /* of these */
};

struct tool_entry {
	struct idmap_entry entry; /* by name */
	const struct mcp_tool *tool;
	char *text[TOOL_SHAPES]; /* owned: its element of tools/list */
	json_t *schema;          /* owned: the input schema; mirrored paths borrow from it */
	struct mirrored *mirrored; /* owned */
	size_t mirrored_count;
};

struct catalog;

/* Makes the answers to list requests once, for each form of them that a version has. `key` is the
 * idmap's. The offer is borrowed. */
struct catalog *catalog_new(const struct mcp_offer *offer, uint64_t key);
void catalog_free(struct catalog *catalog);

/* NULL when there is no such tool. */
const struct tool_entry *catalog_tool(const struct catalog *catalog, const char *name);
/* The prompt's object in the offer, borrowed; NULL when there is none of the name. */
const json_t *catalog_prompt(const struct catalog *catalog, const char *name);

/* What a request for tools/list asks for. */
struct catalog_page {
	const char *cursor;  /* NULL: the first page */
	bool output_schemas; /* also where an offer has them for those who ask alone */
};

/* Results, appended as text. False with `refusal` when the cursor is none that was given out. */
bool catalog_list_tools(const struct catalog *catalog, const struct version *version,
                        const struct catalog_page *asked, struct buf *out, struct refusal *refusal);
void catalog_list_prompts(const struct catalog *catalog, struct buf *out);
void catalog_initialize(const struct catalog *catalog, const struct version *version,
                        struct buf *out);
void catalog_discover(const struct catalog *catalog, const struct version *version,
                      struct buf *out);

/* The implementation's name and version as JSON text, borrowed. */
struct span catalog_server_info(const struct catalog *catalog);

/* ---- arguments in headers ---------------------------------------------------- */

/* Headers of a stateless HTTP request that repeat what its body says.
 *
 * Source: 2026-07-28, basic/transports/streamable-http, "Request Metadata".
 */

/* Whether the headers of the call's exchange agree with its body: MCP-Protocol-Version alone;
 * then, once the version is known to be one of ours, the others. */
bool catalog_check_version(const struct mcp_call *call, const char *version,
                           struct refusal *refusal);
bool catalog_check_method(const struct mcp_call *call, struct refusal *refusal);
bool catalog_check_name(const struct mcp_call *call, const char *name, struct refusal *refusal);
bool catalog_check_arguments(const struct mcp_call *call, const struct tool_entry *tool,
                             struct refusal *refusal);

#endif
