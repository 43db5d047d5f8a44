/* SPDX-License-Identifier: Apache-2.0 */
/* What the sandbox denied, as messages of the client's log.
 *
 * The model has it in the result; the person at the client may only see the log.
 */
#include "data/json.h"
#include "mcp/offer/internal.h"

static void log_denial(struct mcp_call *call, const json_t *message, const json_t *denial)
{
	json_t *data = json_object();

	json_object_set(data, "message", (json_t *)message);
	if (denial)
		json_object_set(data, "denial", (json_t *)denial);
	mcp_call_log(call, MCP_WARNING, "sandbox", data);
}

static void log_denial_of_error(struct mcp_call *call, const json_t *result)
{
	const json_t *error = json_object_get(result, "error");
	const json_t *denial = json_object_get(error, "denial");

	if (denial)
		log_denial(call, json_object_get(denial, "message"), denial);
	else if (span_eq(json_span(json_object_get(error, "code")), SPAN("denied_by_sandbox")))
		log_denial(call, json_object_get(result, "message"), NULL);
}

/* Each file of several that were read, or changed together: the whole says the same as the first. */
static void log_each_denial(struct mcp_call *call, const json_t *parts)
{
	size_t i;
	json_t *part;

	json_array_foreach(parts, i, part)
		log_denial_of_error(call, part);
}

void denied_log(struct mcp_call *call, const json_t *result)
{
	const json_t *denials = json_object_get(result, "denials");
	const json_t *changes = json_object_get(result, "changes");
	const json_t *error = json_object_get(result, "error");
	size_t i;
	json_t *denial;

	json_array_foreach(denials, i, denial)
		log_denial(call, json_object_get(denial, "message"), denial);
	if (json_is_array(result))
		log_each_denial(call, result);
	else if (json_array_size(changes) && json_object_get(error, "denial"))
		log_each_denial(call, changes);
	else if (!json_array_size(denials))
		log_denial_of_error(call, result);
}
