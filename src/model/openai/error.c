/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of OpenAI and of those who speak its formats. */
#include "base/mem.h"
#include "data/json.h"
#include "model/openai/openai.h"
#include "model/wire_error.h"

/* Codes and types. Sources: OpenAI's "Error codes", OpenRouter's "Errors", llama.cpp's
 * format_error_response, vLLM's ErrorResponse, Mistral and Groq. */
static const struct fault_row words[] = {
	{ "insufficient_quota", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "billing_hard_limit_reached", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "billing_not_active", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "context_length_exceeded", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "exceed_context_size_error", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "too_many_prompt_tokens", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "model_max_prompt_tokens_exceeded", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "context_window_exceeded", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "string_above_max_length", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "token_limit_exceeded", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "invalid_api_key", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "invalid_authentication", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "account_deactivated", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "authentication_error", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "model_not_found", ERR_INVALID_ARGUMENT, WIRE_FATAL },
	{ "invalid_prompt", ERR_INVALID_ARGUMENT, WIRE_FATAL },
	{ "content_policy_violation", ERR_INVALID_ARGUMENT, WIRE_FATAL },
	{ "content_filter", ERR_INVALID_ARGUMENT, WIRE_FATAL },
	{ "server_error", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "server_overloaded", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "overloaded", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "overloaded_error", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "engine_overloaded", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "slow_down", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ "unavailable_error", ERR_OVERLOADED, WIRE_TRANSIENT }, /* llama.cpp loads its model */
	{ NULL, ERR_NONE, WIRE_FATAL },
};

/* Words that are true of several classes, after the sentence was looked at. */
static const struct {
	const char *word;
	int status;
} status_words[] = {
	{ "rate_limit_exceeded", 429 },   { "rate_limit_error", 429 }, { "requests", 429 },
	{ "tokens", 429 },                { "BadRequestError", 400 },  { "api_error", 500 },
	{ "invalid_request_error", 400 }, { "not_found_error", 404 },  { "internal_error", 500 },
	{ "permission_error", 403 },
};

static int status_of(int status, const json_t *error, struct span word)
{
	json_int_t code = json_integer_value(json_object_get(error, "code"));

	if (status)
		return status;
	if (code >= 400 && code < 600)
		return (int)code;
	for (size_t i = 0; i < ARRAY_LEN(status_words); i++)
		if (span_eq(word, span_str(status_words[i].word)))
			return status_words[i].status;
	return 0;
}

/* OpenRouter: what the server behind it said is text in metadata.raw. */
static struct span message_of(const json_t *error)
{
	struct span message = json_span(json_object_get(error, "message"));
	struct span raw = json_span(json_object_get(json_object_get(error, "metadata"), "raw"));

	if (json_is_string(error))
		return json_span(error);
	if (raw.len && (!message.len || span_eq(message, SPAN("Provider returned error"))))
		return raw;
	return message.len ? message : json_span(json_object_get(error, "detail"));
}

/* The object with the message: under "error", or the whole. */
static const json_t *error_of(const json_t *value)
{
	const json_t *error = json_object_get(value, "error");

	return error && !json_is_null(error) ? error : value;
}

enum wire_trouble openai_error_value(int status, const json_t *value, double *delay_s,
                                     struct err *err)
{
	const json_t *error = error_of(value);
	struct fault fault = {
		.words = { json_span(json_object_get(error, "code")),
		           json_span(json_object_get(error, "type")) },
		.message = message_of(error),
	};

	fault.status = status_of(status, error, fault.words[0]);
	if (!fault.status)
		fault.status = status_of(0, NULL, fault.words[1]);
	/* Refused by moderation, not for the key. */
	if (fault.status == 403 &&
	    json_object_get(json_object_get(error, "metadata"), "reasons"))
		fault.status = 400;
	*delay_s = fault_delay(fault.message);
	return fault_set(&fault, words, err);
}

enum wire_trouble openai_error(int status, struct span headers, struct span body, double *delay_s,
                               struct err *err)
{
	json_t *value = fault_body(body);
	enum wire_trouble trouble = openai_error_value(status, value, delay_s, err);

	(void)headers;
	json_decref(value);
	return trouble;
}
