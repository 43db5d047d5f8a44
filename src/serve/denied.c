/* SPDX-License-Identifier: Apache-2.0 */
/* What the sandbox denied, as messages of the client's log.
 *
 * The model has it in the result; the person at the client may only see the log.
 */
#include "data/json.h"
#include "serve/internal.h"

static void tell(struct mcp_call *call, const json_t *message, const json_t *denial)
{
	json_t *data = json_object();

	json_object_set(data, "message", (json_t *)message);
	if (denial)
		json_object_set(data, "denial", (json_t *)denial);
	mcp_call_log(call, MCP_WARNING, "sandbox", data);
}

void denied_tell(struct mcp_call *call, const json_t *result)
{
	const json_t *denials = json_object_get(result, "denials");
	const json_t *error = json_object_get(result, "error");
	size_t i;
	json_t *denial;

	json_array_foreach(denials, i, denial)
		tell(call, json_object_get(denial, "message"), denial);
	if (!json_array_size(denials) &&
	    span_eq(json_span(json_object_get(error, "code")), SPAN("denied_by_sandbox")))
		tell(call, json_object_get(result, "message"), NULL);
}
