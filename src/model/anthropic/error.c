/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of the Messages API, and of those who speak it. Source: platform.claude.com/docs,
 * "Errors". */
#include "base/mem.h"
#include "data/json.h"
#include "model/anthropic/anthropic.h"
#include "model/wire_error.h"

/* error.details.error_code, then error.type; on Vertex error.status. */
static const struct fault_row words[] = {
	{ "enforced_spend_limit_reached", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "contract_spend_limit_reached", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "linked_organization_spend_limit_reached", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "linked_organization_billing_unavailable", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "ramp_limit_exceeded", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "billing_error", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "authentication_error", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "permission_error", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "not_found_error", ERR_INVALID_ARGUMENT, WIRE_FATAL },
	{ "request_too_large", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "overloaded_error", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "timeout_error", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "api_error", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ NULL, ERR_NONE, WIRE_FATAL },
};

/* Types whose class the sentence may change, as the status that they come with. */
static const struct {
	const char *type;
	int status;
} statuses[] = {
	{ "invalid_request_error", 400 },
	{ "rate_limit_error", 429 },
};

enum wire_trouble claude_error_value(int status, const json_t *value, double *delay_s,
                                     struct err *err)
{
	const json_t *error = json_object_get(value, "error");
	const json_t *inner = error ? error : value;
	struct fault fault = {
		.status = status,
		.words = { json_span(json_object_get(json_object_get(inner, "details"),
		                                     "error_code")),
		           json_span(json_object_get(inner, "type")) },
		.message = json_is_string(inner) ? json_span(inner) :
		                                   json_span(json_object_get(inner, "message")),
	};

	for (size_t i = 0; i < ARRAY_LEN(statuses) && !fault.status; i++)
		if (span_eq(fault.words[1], span_str(statuses[i].type)))
			fault.status = statuses[i].status;
	*delay_s = fault_delay(fault.message);
	return fault_set(&fault, words, err);
}

enum wire_trouble claude_error(int status, struct span headers, struct span body, double *delay_s,
                               struct err *err)
{
	json_t *value = fault_body(body);
	enum wire_trouble trouble = claude_error_value(status, value, delay_s, err);

	(void)headers;
	json_decref(value);
	return trouble;
}
