/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a method's parameters.  Private to this folder.
 *
 * A rule names one member; a table of rules ends with a row without a name.  Members that no
 * rule names are the handler's business.
 */
#ifndef HASP_MCP_PROTOCOL_PARAMS_H
#define HASP_MCP_PROTOCOL_PARAMS_H

#include "mcp/protocol/refusal.h"

enum param_type { PARAM_STRING, PARAM_OBJECT, PARAM_STRING_OR_INTEGER };

struct param {
	const char *parent; /* the object it is in, by an earlier rule; NULL: params itself */
	const char *name;
	enum param_type type;
	bool required;
	bool nullable; /* null counts as absent */
};

/* -32602 with a sentence that names the member. Strings with U+0000 are refused: they are
 * handed on as C strings. `params` may be NULL: none were sent. */
bool params_check(const json_t *params, const struct param *rules, struct refusal *refusal);

#endif
