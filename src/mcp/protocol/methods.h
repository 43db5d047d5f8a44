/* SPDX-License-Identifier: Apache-2.0 */
/* The methods a client can call.  Private to this folder.
 *
 * One row for each in methods.c.  To add one: its row; where it differs between versions,
 * a column in version.h.
 */
#ifndef HASP_MCP_PROTOCOL_METHODS_H
#define HASP_MCP_PROTOCOL_METHODS_H

#include "mcp/protocol/call.h"
#include "mcp/protocol/params.h"

enum method_era { ERA_LEGACY = 1, ERA_STATELESS = 2, ERA_BOTH = 3 };

struct method {
	const char *name;
	enum method_era era;
	bool early;                 /* allowed before initialize */
	bool tool;                  /* its result is that of a tool */
	bool asks;                  /* its answer may be a question (input_required) */
	const char *cache_scope;    /* of a result that may be kept; NULL: it may not */
	const char *named;          /* the parameter that Mcp-Name repeats; or NULL */
	const struct param *params; /* rules; or NULL */
	/* Sets call->run for a handler, or call_answer_text at once, or (a subscription)
	 * neither. False with `refusal` when that is an error. */
	bool (*answer)(struct mcp_call *call, struct refusal *refusal);
};

/* Finds out which version the call is of and what answers it, checks everything that is
 * known about its method and parameters, and starts it. False when it has to be refused. */
bool method_start(struct mcp_call *call, struct refusal *refusal);

#endif
