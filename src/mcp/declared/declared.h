/* SPDX-License-Identifier: Apache-2.0 */
/* What servers declare and answer, made fit for a model: tools (declare.c), what they offer besides
 * (offers.c), results of calls (result.c).  All of it is a stranger's: limited, and harmless. */
#ifndef HASP_MCP_DECLARED_DECLARED_H
#define HASP_MCP_DECLARED_DECLARED_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/span.h"
#include "mcp/client/client.h"

/* ---- declarations ---- */

enum { MCP_SCHEMA_BYTES = 64 << 10 }; /* of one tool, as text */

/* Text of at most `max` bytes, without control characters but line ends and tabs. A new string. */
json_t *mcp_clean_text(const json_t *text, size_t max);
/* What is kept of a tool that a server declared: {"name", "title", "description", "inputSchema"
 * (JSON as text, since most schemas are never looked at), "annotations"}, all of it limited and
 * harmless. A new reference; NULL: it cannot be used, *err says why.  Changes the schema of
 * `declared`, where it is not clean. */
json_t *mcp_declaration_clean(const json_t *declared, struct err *err);
/* The same of what the cache says was kept, which is believed no more than a server: `kept` itself
 * where there is nothing to be cleaned, which costs one look at each byte. */
json_t *mcp_declaration_recall(json_t *kept, struct err *err);
/* The schema of one of these, read. A new reference, never NULL. */
json_t *mcp_declaration_schema(const json_t *declaration);
/* mcp_SERVER_TOOL in characters and a length that providers take (mcp_servers_options.plain_names):
 * a longer one has a hash in its middle.  The caller frees. */
char *mcp_declaration_name(const char *server, const char *tool, bool plain);
/* With that hash although it would fit: another tool has the name. The caller frees. */
char *mcp_declaration_other_name(const char *server, const char *tool, bool plain);

/* ---- results ------------------------------------------------------------------------ */

/* What a model gets for the result of tools/call, an object of anything: {"output": text, or a list
 * of texts and media}; "structured", the JSON of structuredContent, if the texts do not have it;
 * of one that says isError also what tool_failure has.  A new reference. */
json_t *mcp_result(const char *server, const char *tool, const json_t *result);
/* A call that failed without a result: as tool_failure, with the words of a server's error marked.
 * A new reference. */
json_t *mcp_failure(const struct err *err);
/* The same of the result of resources/read. */
json_t *mcp_resource_result(const char *server, const json_t *result);
/* What bytes in base64 are, by how they begin: a MIME type; NULL: nothing that is sent to a model
 * as what it is. */
const char *mcp_media_mime(struct span data);

/* ---- what servers offer besides tools (offers.c) ------------------------------------ */

/* What of it is kept: limited and harmless; also what the cache says of it.
 *
 *     { "instructions": TEXT, "instructionsBytes": how many it had, if it was cut,
 *       "prompts": [{"name", "title", "description", "arguments": [{"name", "description",
 *                    "required"}]}],
 *       "resources": [{"uri", "name", "title", "description", "mimeType"}],
 *       "resourceTemplates": [{"uriTemplate", and the same}] }
 *
 * What there is none of is left out. A new reference. */
json_t *mcp_offers_clean(const json_t *declared);
/* Asks for all that the server says it has; what cannot be had is left out. A new reference, as of
 * mcp_offers_clean. */
json_t *mcp_offers_ask(struct mcp_client *client, const struct mcp_wait *wait);
/* Whether the server says that it has this: "tools", "prompts", ... */
bool mcp_offers_has(struct mcp_client *client, const char *capability);

#endif
