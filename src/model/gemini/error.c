/* SPDX-License-Identifier: Apache-2.0 */
/* google.rpc.Status as an error.  Source: https://cloud.google.com/apis/design/errors, and for quotas
 * https://ai.google.dev/gemini-api/docs/rate-limits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "model/gemini/gemini.h"
#include "model/wire_error.h"

/* A limit by the minute is renewed after at most one. */
enum { MINUTE_S = 60 };

/* What the details of an error say. */
struct details {
	double retry_s;       /* below 0: nothing */
	bool per_day, per_minute;
	const char *reason;   /* of ErrorInfo; or NULL */
};

static bool is_type(const json_t *detail, const char *type)
{
	return span_ends(json_span(json_object_get(detail, "@type")), span_str(type));
}

/* "34.074824224s", "900ms". */
static double duration(const json_t *value)
{
	const char *text = json_string_value(value);
	double seconds;
	char *end;

	if (!text)
		return -1;
	seconds = strtod(text, &end);
	if (end == text || !isfinite(seconds) || seconds < 0)
		return -1;
	return strcmp(end, "ms") == 0 ? seconds / 1000 : strcmp(end, "s") == 0 ? seconds : -1;
}

static void read_violations(const json_t *list, struct details *ret)
{
	const json_t *violation;
	size_t i;

	json_array_foreach(list, i, violation) {
		const char *id = json_string_value(json_object_get(violation, "quotaId"));

		ret->per_day |= id && (strstr(id, "PerDay") || strstr(id, "Daily"));
		ret->per_minute |= id && strstr(id, "PerMinute");
	}
}

static struct details read_details(const json_t *error)
{
	struct details ret = { .retry_s = -1 };
	const json_t *detail;
	size_t i;

	json_array_foreach(json_object_get(error, "details"), i, detail) {
		if (is_type(detail, "google.rpc.RetryInfo"))
			ret.retry_s = duration(json_object_get(detail, "retryDelay"));
		else if (is_type(detail, "google.rpc.QuotaFailure"))
			read_violations(json_object_get(detail, "violations"), &ret);
		else if (is_type(detail, "google.rpc.ErrorInfo"))
			ret.reason = json_string_value(json_object_get(detail, "reason"));
	}
	return ret;
}

static bool reason_is(const struct details *details, const char *reason)
{
	return details->reason && strcmp(details->reason, reason) == 0;
}

/* Rows for a status in words, where no number came. */
static const struct status_word {
	const char *word;
	int status;
} status_words[] = {
	{ "INVALID_ARGUMENT", 400 },   { "FAILED_PRECONDITION", 400 }, { "UNAUTHENTICATED", 401 },
	{ "PERMISSION_DENIED", 403 },  { "NOT_FOUND", 404 },           { "RESOURCE_EXHAUSTED", 429 },
	{ "CANCELLED", 499 },          { "INTERNAL", 500 },            { "UNAVAILABLE", 503 },
	{ "DEADLINE_EXCEEDED", 504 },
};

static int status_of(int status, const json_t *error)
{
	json_int_t code = json_integer_value(json_object_get(error, "code"));
	struct span word = json_span(json_object_get(error, "status"));

	if (status)
		return status;
	if (code >= 400 && code < 600)
		return (int)code;
	for (size_t i = 0; i < ARRAY_LEN(status_words); i++)
		if (span_eq(word, span_str(status_words[i].word)))
			return status_words[i].status;
	return 500;
}

/* "Please retry in 34.07s": where no RetryInfo is. */
static double delay_in_words(struct span message)
{
	static const char words[] = "Please retry in ";
	const char *at = message.len ? memmem(message.data, message.len, words, sizeof(words) - 1) :
	                               NULL;
	size_t left = at ? message.len - (size_t)(at - message.data) - sizeof(words) + 1 : 0;
	char text[32];
	size_t len = 0;
	json_t *value;
	double delay;

	while (at && len < left && len < sizeof(text) - 1 &&
	       strchr("0123456789.ms", at[sizeof(words) - 1 + len]))
		len++;
	if (!len)
		return -1;
	memcpy(text, at + sizeof(words) - 1, len);
	text[len] = '\0';
	if (text[len - 1] == '.') /* the sentence's own */
		text[len - 1] = '\0';
	value = json_string(text);
	delay = duration(value);
	json_decref(value);
	return delay;
}

static bool contains(struct span text, const char *part)
{
	return text.len && memmem(text.data, text.len, part, strlen(part)) != NULL;
}

/* "limit: 0": what was asked for is not in this account's plan at all. */
static bool has_no_quota(struct span message)
{
	static const char words[] = "limit: 0";
	const char *at = message.len ? memmem(message.data, message.len, words, sizeof(words) - 1) :
	                               NULL;
	struct span rest = at ? span_skip(message, (size_t)(at - message.data) + sizeof(words) - 1) :
	                        message;

	if (span_starts(rest, SPAN(".")) && rest.len > 1)
		rest = span_skip(rest, 1);
	return at && (!rest.len || rest.data[0] < '0' || rest.data[0] > '9');
}

static enum wire_trouble rate_limited(const struct details *details, struct span message,
                                      double *delay_s, struct err *err)
{
	static const char *const used_up[] = { "QUOTA_EXHAUSTED", "INSUFFICIENT_G1_CREDITS_BALANCE",
	                                       "MODEL_CAPACITY_EXHAUSTED",
	                                       "MODEL_CAPACITY_EXCEEDED" };
	static const char *const sentences[] = { "exhausted your capacity", "prepayment",
	                                         "credits are depleted", "spending cap",
	                                         "spend cap", "spending limit" };
	bool quota = details->per_day || has_no_quota(message);

	for (size_t i = 0; i < ARRAY_LEN(sentences); i++)
		quota |= contains(message, sentences[i]);
	for (size_t i = 0; i < ARRAY_LEN(used_up); i++)
		quota |= reason_is(details, used_up[i]);
	if (quota) {
		err->code = ERR_QUOTA_EXCEEDED;
		return WIRE_QUOTA;
	}
	*delay_s = details->retry_s >= 0 ? details->retry_s : delay_in_words(message);
	if (*delay_s < 0 && details->per_minute)
		*delay_s = MINUTE_S;
	return WIRE_TRANSIENT;
}

/* The Gemini API's words, Vertex AI's, and those of Claude at Vertex. */
static bool is_too_long(int status, struct span message)
{
	static const char *const sentences[] = {
		"exceeds the maximum number of tokens", "only supports up to", "input token count",
		"input context is too long", "rompt is too long",
	};

	for (size_t i = 0; i < ARRAY_LEN(sentences); i++)
		if (status == 400 && contains(message, sentences[i]))
			return true;
	return false;
}

enum wire_trouble gemini_error_of(int status, const json_t *error, double *delay_s,
                                  struct err *err)
{
	struct span message = json_span(json_object_get(error, "message"));
	_cleanup_buf_ struct buf clean = BUF_INIT(ERR_MESSAGE_MAX);
	struct details details = read_details(error);
	enum wire_trouble trouble;

	status = status_of(status, error);
	fault_clean(&clean, message);
	trouble = wire_status(status, buf_view(&clean), err);
	if (status == 429)
		return rate_limited(&details, message, delay_s, err);
	if (status >= 500)
		*delay_s = details.retry_s;
	if (status == 400 && reason_is(&details, "API_KEY_INVALID"))
		err->code = ERR_AUTHENTICATION_FAILED;
	if (is_too_long(status, message))
		err->code = ERR_CONTEXT_TOO_LARGE;
	return trouble;
}

enum wire_trouble gemini_error(int status, struct span headers, struct span body, double *delay_s,
                               struct err *err)
{
	struct err parsed = ERR_INIT;
	enum wire_trouble trouble;
	const json_t *error;
	json_t *value;

	(void)headers;
	if (!json_parse_depth(body, JSON_DEPTH_MAX, &value, &parsed))
		return wire_status(status, span_of("", 0), err);
	/* Without alt=sse, and from some gateways, it comes in an array. */
	error = json_object_get(json_is_array(value) ? json_array_get(value, 0) : value, "error");
	if (json_is_string(error))
		trouble = wire_status(status, json_span(error), err);
	else
		trouble = gemini_error_of(status, error, delay_s, err);
	json_decref(value);
	return trouble;
}
