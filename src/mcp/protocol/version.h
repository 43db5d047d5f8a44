/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between the versions of the protocol.  Private to this folder.
 *
 * One row for each version; everything else asks the row.  To add a version: its row in
 * result.c, in order of time.
 *
 * Source: the changelog of each version of the specification.
 */
#ifndef HASP_MCP_PROTOCOL_VERSION_H
#define HASP_MCP_PROTOCOL_VERSION_H

#include <stdbool.h>
#include <stddef.h>

/* Which members a tool has in tools/list. */
enum tool_shape { TOOL_PLAIN, TOOL_ANNOTATED, TOOL_TITLED, TOOL_WHOLE, TOOL_SHAPES };

struct version {
	const char *name;
	bool stateless;        /* each request carries its version; no initialize */
	bool batches;          /* JSON-RPC batches */
	enum tool_shape tools; /* annotations; title too (TITLED); outputSchema too (WHOLE) */
	bool structured;       /* results of tools have structuredContent */
	bool completions;      /* the capability has a name */
	bool progress_message; /* notifications/progress has a message */
	bool titles;           /* implementations have a title */
	bool website;          /* and a websiteUrl */
	bool elicitation;      /* elicitation/create */
	bool elicitation_url;  /* by form or by URL, each a separate capability */
	bool result_type;      /* resultType, serverInfo in _meta, ttlMs and cacheScope */
	int not_found;         /* code of resources/read for a resource that does not exist */
};

/* NULL when there is no such version. */
const struct version *version_find(const char *name);
/* The latest of those with initialize, and of those without. */
const struct version *version_latest(void);
const struct version *version_latest_stateless(void);
/* All of them, the newest first: NULL past the last. */
const struct version *version_at(size_t i);

#endif
