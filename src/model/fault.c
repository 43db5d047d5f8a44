/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of servers: which HTTP statuses, words and sentences mean what, for every format. */
#include "model/fault.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unseen.h"
#include "data/json.h"

/* ---- the tables ------------------------------------------------------------------------------ */

enum {
	SPEAKERS = FAULT_OPENAI | FAULT_ANTHROPIC, /* and those who speak their formats */
	EVERYBODY = SPEAKERS | FAULT_GEMINI,
};

enum { TOOLS_SHOWN = 300 }; /* bytes of the names of rejected tools */

struct fault_row {
	unsigned formats;
	const char *text; /* a word (code, type, reason), or a part of the sentence */
	enum err_code code;
	enum wire_trouble trouble;
};

/* Words that name one class. */
static const struct fault_row words[] = {
	/* OpenAI's "Error codes", OpenRouter's "Errors", llama.cpp's format_error_response, vLLM's
	 * ErrorResponse, Mistral and Groq. */
	{ FAULT_OPENAI, "insufficient_quota", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ FAULT_OPENAI, "billing_hard_limit_reached", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ FAULT_OPENAI, "billing_not_active", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ FAULT_OPENAI, "context_length_exceeded", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ FAULT_OPENAI, "exceed_context_size_error", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ FAULT_OPENAI, "too_many_prompt_tokens", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ FAULT_OPENAI, "model_max_prompt_tokens_exceeded", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ FAULT_OPENAI, "context_window_exceeded", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ FAULT_OPENAI, "string_above_max_length", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ FAULT_OPENAI, "token_limit_exceeded", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ FAULT_OPENAI, "invalid_api_key", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ FAULT_OPENAI, "invalid_authentication", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ FAULT_OPENAI, "account_deactivated", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ SPEAKERS, "authentication_error", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ FAULT_OPENAI, "model_not_found", ERR_INVALID_ARGUMENT, WIRE_FATAL },
	{ FAULT_OPENAI, "invalid_prompt", ERR_INVALID_ARGUMENT, WIRE_FATAL },
	{ FAULT_OPENAI, "content_policy_violation", ERR_INVALID_ARGUMENT, WIRE_FATAL },
	{ FAULT_OPENAI, "content_filter", ERR_INVALID_ARGUMENT, WIRE_FATAL },
	{ FAULT_OPENAI, "server_error", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ FAULT_OPENAI, "server_overloaded", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ FAULT_OPENAI, "overloaded", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ SPEAKERS, "overloaded_error", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ FAULT_OPENAI, "engine_overloaded", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ FAULT_OPENAI, "slow_down", ERR_OVERLOADED, WIRE_TRANSIENT },
	/* llama.cpp loads its model. */
	{ FAULT_OPENAI, "unavailable_error", ERR_OVERLOADED, WIRE_TRANSIENT },
	/* platform.claude.com/docs, "Errors": error.details.error_code, then error.type. */
	{ FAULT_ANTHROPIC, "enforced_spend_limit_reached", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ FAULT_ANTHROPIC, "contract_spend_limit_reached", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ FAULT_ANTHROPIC, "linked_organization_spend_limit_reached",
	  ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ FAULT_ANTHROPIC, "linked_organization_billing_unavailable",
	  ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ FAULT_ANTHROPIC, "ramp_limit_exceeded", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ FAULT_ANTHROPIC, "billing_error", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ FAULT_ANTHROPIC, "permission_error", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ FAULT_ANTHROPIC, "not_found_error", ERR_INVALID_ARGUMENT, WIRE_FATAL },
	{ FAULT_ANTHROPIC, "request_too_large", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ FAULT_ANTHROPIC, "timeout_error", ERR_OVERLOADED, WIRE_TRANSIENT },
	{ FAULT_ANTHROPIC, "api_error", ERR_OVERLOADED, WIRE_TRANSIENT },
	/* The reason in google.rpc.ErrorInfo. */
	{ FAULT_GEMINI, "QUOTA_EXHAUSTED", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ FAULT_GEMINI, "INSUFFICIENT_G1_CREDITS_BALANCE", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ FAULT_GEMINI, "MODEL_CAPACITY_EXHAUSTED", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ FAULT_GEMINI, "MODEL_CAPACITY_EXCEEDED", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ FAULT_GEMINI, "API_KEY_INVALID", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
};

/* Parts of sentences, for errors of the classes 400, 413, 422, 429 and 500, where servers have no
 * word for it. */
static const struct fault_row phrases[] = {
	{ SPEAKERS, "context length", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "context size", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "context window", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "context limit", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ EVERYBODY, "prompt is too long", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "input is too long", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "prompt too long", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "maximum prompt length", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "maximum model length", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "exceeds max length", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "range of input length", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "max message tokens", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "model token limit", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "prompt token count", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ EVERYBODY, "input token count", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "tokens to keep from the initial prompt", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "`inputs` tokens + `max_new_tokens`", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "reduce the length of the", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "too large for model with", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	/* The Gemini API's words, Vertex AI's, and those of Claude at Vertex. */
	{ FAULT_GEMINI, "exceeds the maximum number of tokens", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ FAULT_GEMINI, "only supports up to", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ FAULT_GEMINI, "input context is too long", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ SPEAKERS, "credit balance", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ EVERYBODY, "credits are depleted", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ EVERYBODY, "prepayment", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ SPEAKERS, "insufficient balance", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ SPEAKERS, "insufficient credits", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ SPEAKERS, "current quota", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ SPEAKERS, "usage limit", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ SPEAKERS, "spend limit", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ EVERYBODY, "spend cap", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ EVERYBODY, "spending limit", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ EVERYBODY, "spending cap", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ SPEAKERS, "billing hard limit", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ SPEAKERS, "requests per day", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ SPEAKERS, "tokens per day", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ SPEAKERS, "per-day", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ FAULT_GEMINI, "exhausted your capacity", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ SPEAKERS, "api key not valid", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ SPEAKERS, "api key expired", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ SPEAKERS, "invalid api key", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ SPEAKERS, "incorrect api key", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ SPEAKERS, "invalid x-api-key", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ SPEAKERS, "missing api key", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ SPEAKERS, "no api key", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
};

/* Words that stand for a status where no number came: what they mean may depend on the sentence. */
static const struct {
	unsigned formats;
	const char *word;
	int status;
} status_words[] = {
	{ FAULT_OPENAI, "rate_limit_exceeded", 429 },
	{ SPEAKERS, "rate_limit_error", 429 },
	{ FAULT_OPENAI, "requests", 429 },
	{ FAULT_OPENAI, "tokens", 429 },
	{ FAULT_OPENAI, "BadRequestError", 400 },
	{ SPEAKERS, "invalid_request_error", 400 },
	{ FAULT_OPENAI, "permission_error", 403 },
	{ FAULT_OPENAI, "not_found_error", 404 },
	{ FAULT_OPENAI, "api_error", 500 },
	{ FAULT_OPENAI, "internal_error", 500 },
	{ FAULT_GEMINI, "INVALID_ARGUMENT", 400 },
	{ FAULT_GEMINI, "FAILED_PRECONDITION", 400 },
	{ FAULT_GEMINI, "UNAUTHENTICATED", 401 },
	{ FAULT_GEMINI, "PERMISSION_DENIED", 403 },
	{ FAULT_GEMINI, "NOT_FOUND", 404 },
	{ FAULT_GEMINI, "RESOURCE_EXHAUSTED", 429 },
	{ FAULT_GEMINI, "CANCELLED", 499 },
	{ FAULT_GEMINI, "INTERNAL", 500 },
	{ FAULT_GEMINI, "UNAVAILABLE", 503 },
	{ FAULT_GEMINI, "DEADLINE_EXCEEDED", 504 },
};

static const struct status_row {
	int status;
	enum err_code code;
	enum wire_trouble trouble;
} status_rows[] = {
	{ 401, ERR_AUTHENTICATION_FAILED, WIRE_FATAL }, { 402, ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ 403, ERR_AUTHENTICATION_FAILED, WIRE_FATAL }, { 408, ERR_OVERLOADED, WIRE_TRANSIENT },
	{ 413, ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },     { 425, ERR_OVERLOADED, WIRE_TRANSIENT },
	{ 429, ERR_OVERLOADED, WIRE_TRANSIENT },        { 499, ERR_OVERLOADED, WIRE_TRANSIENT },
};

/* ---- the sentence ---------------------------------------------------------------------------- */

enum { SENTENCE_MAX = 400, KEY_LEAST = 40 };

static bool is_key_char(char c)
{
	return ascii_is_alnum(c) || c == '-' || c == '_' || c == '*' || c == '.';
}

/* How keys and tokens look: how they begin, and how long they are at least with that.  A
 * beginning alone is no key: "sk-learn" and "hf_hub" are names. Sources: the providers' consoles
 * and the public lists of scanners for leaked secrets (docs.github.com, "Supported secret
 * scanning patterns"). */
static const struct key_shape {
	const char *start;
	size_t least;
	bool sure; /* nothing else begins so; others need a digit too */
} key_shapes[] = {
	{ "sk-ant-", 16, true }, { "sk-proj-", 16, true }, { "sk-svcacct-", 20, true },
	{ "sk-admin-", 18, true }, { "sk-or-v1-", 18, true }, { "sk-", 19, false },
	{ "sk_", 23, false }, { "csk-", 24, false }, { "gsk_", 24, false }, { "xai-", 24, false },
	{ "pplx-", 24, false }, { "nvapi-", 24, false }, { "hf_", 24, false }, { "fw_", 20, false },
	{ "tgp_v1_", 24, false }, { "AIza", 35, false }, { "AQ.", 24, false },
	{ "ya29.", 24, false }, { "ghp_", 36, false }, { "github_pat_", 36, false },
	{ "glpat-", 20, false }, { "AKIA", 20, false }, { "eyJ", 60, false },
};

/* Letters of both cases and digits without anything between them: no identifier is so long. */
static bool is_random(struct span word)
{
	bool digit = false, upper = false, lower = false;

	for (size_t i = 0; i < word.len; i++) {
		char c = word.data[i];

		if (c == '-' || c == '_' || c == '.')
			return false;
		digit |= ascii_is_digit(c);
		upper |= c >= 'A' && c <= 'Z';
		lower |= c >= 'a' && c <= 'z';
	}
	return word.len >= KEY_LEAST && digit && upper && lower;
}

static bool looks_like_key(struct span word)
{
	bool digit = false;

	for (size_t i = 0; i < word.len; i++)
		digit |= ascii_is_digit(word.data[i]);
	for (size_t i = 0; i < ARRAY_LEN(key_shapes); i++)
		if ((digit || key_shapes[i].sure) && word.len >= key_shapes[i].least &&
		    span_starts(word, span_str(key_shapes[i].start)))
			return true;
	/* Servers blot out the middle of a key that they repeat, and leave its ends. */
	return (word.len && memmem(word.data, word.len, "***", 3)) || is_random(word);
}

/* The word of key characters at the start of the text. */
static struct span key_word(struct span text)
{
	size_t len = 0;

	while (len < text.len && is_key_char(text.data[len]))
		len++;
	return span_head(text, len);
}

static size_t add_character(struct buf *out, struct span text)
{
	struct utf8_char c = utf8_first(text);
	bool hidden = c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0) ||
	              c.code == 0x2028 || c.code == 0x2029 || unseen_is(c.code);

	if (!c.bad && !hidden)
		buf_span(out, c.bytes);
	else if (out->len && out->data[out->len - 1] != ' ')
		buf_char(out, ' ');
	return c.bytes.len;
}

void fault_clean(struct buf *out, struct span text)
{
	size_t start = out->len;

	text = span_trim(text);
	while (text.len && out->len - start < SENTENCE_MAX) {
		struct span word = key_word(text);

		if (looks_like_key(word)) {
			buf_str(out, "[key]");
			text = span_skip(text, word.len);
		} else if (word.len) {
			word = span_head(word, SENTENCE_MAX);
			buf_span(out, word);
			text = span_skip(text, word.len);
		} else {
			text = span_skip(text, add_character(out, text));
		}
	}
	if (text.len)
		buf_str(out, "...");
}

json_t *fault_body(struct span body)
{
	enum { DEPTH = 40, TEXT_MAX = 2000 };
	struct err ignored = ERR_INIT;
	json_t *value, *first;

	if (!json_parse_foreign(span_trim(body), DEPTH, &value, NULL, &ignored))
		return json_text(span_head(body, body.len < TEXT_MAX ? body.len : 0));
	if (!json_is_array(value))
		return value;
	first = json_incref(json_array_get(value, 0));
	json_decref(value);
	return first ? first : json_null();
}

/* ---- the class ------------------------------------------------------------------------------- */

int fault_find_status(enum fault_format format, int status, const json_t *error, struct span word)
{
	json_int_t code = json_integer_value(json_object_get(error, "code"));

	if (status)
		return status;
	if (code >= 400 && code < 600)
		return (int)code;
	for (size_t i = 0; i < ARRAY_LEN(status_words); i++)
		if ((status_words[i].formats & format) &&
		    span_eq(word, span_str(status_words[i].word)))
			return status_words[i].status;
	return 0;
}

static bool says(struct span message, const char *phrase)
{
	size_t len = strlen(phrase);

	for (size_t i = 0; i + len <= message.len; i++)
		if (strncasecmp(message.data + i, phrase, len) == 0)
			return true;
	return false;
}

/* "Request too large for ... on tokens per min (TPM): Limit 30000, Requested 40000": more than a
 * whole minute allows is not had by waiting for the next. */
static bool beyond_a_minute(struct span message)
{
	return says(message, "request too large") &&
	       (says(message, "(tpm)") || says(message, "per min"));
}

/* Gemini has a status for each class. */
static bool gemini_row_applies(const struct fault *fault, const struct fault_row *row)
{
	return fault->status == (row->code == ERR_QUOTA_EXCEEDED ? 429 : 400);
}

static bool phrase_applies(const struct fault *fault, const struct fault_row *row)
{
	if (!(row->formats & fault->format))
		return false;
	if (fault->format == FAULT_GEMINI)
		return says(fault->message, row->text) && gemini_row_applies(fault, row);
	if (fault->status == 401 || fault->status == 403 || fault->status == 404)
		return false;
	/* A limit of rates is none of lengths, however it is worded. */
	if (row->code == ERR_CONTEXT_TOO_LARGE && fault->status == 429)
		return false;
	return says(fault->message, row->text);
}

static bool word_applies(const struct fault *fault, struct span word, const struct fault_row *row)
{
	if (!(row->formats & fault->format) || !span_eq(word, span_str(row->text)))
		return false;
	return fault->format != FAULT_GEMINI || gemini_row_applies(fault, row);
}

/* The row for what the error says of itself; NULL: nothing that is known. */
static const struct fault_row *fault_classify(const struct fault *fault)
{
	static const struct fault_row used_up = { EVERYBODY, "", ERR_QUOTA_EXCEEDED, WIRE_QUOTA };

	if (fault->used_up || (fault->format != FAULT_GEMINI && beyond_a_minute(fault->message)))
		return &used_up;
	for (size_t i = 0; i < ARRAY_LEN(fault->words); i++)
		for (size_t j = 0; fault->words[i].len && j < ARRAY_LEN(words); j++)
			if (word_applies(fault, fault->words[i], &words[j]))
				return &words[j];
	for (size_t i = 0; i < ARRAY_LEN(phrases); i++)
		if (phrase_applies(fault, &phrases[i]))
			return &phrases[i];
	return NULL;
}

enum wire_trouble fault_set_status(int status, struct span sentence, struct err *err)
{
	struct status_row row = { status, ERR_INVALID_ARGUMENT, WIRE_FATAL };

	if (status >= 500)
		row = (struct status_row){ status, ERR_OVERLOADED, WIRE_TRANSIENT };
	for (size_t i = 0; i < ARRAY_LEN(status_rows); i++)
		if (status_rows[i].status == status)
			row = status_rows[i];
	if (sentence.len)
		err_set(err, row.code, "HTTP %d: %.*s", status, (int)sentence.len, sentence.data);
	else
		err_set(err, row.code, "HTTP %d.", status);
	return row.trouble;
}

enum wire_trouble fault_set(const struct fault *fault, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2 * SENTENCE_MAX + 64);
	const struct fault_row *row = fault_classify(fault);
	enum wire_trouble trouble;

	fault_clean(&text, fault->message);
	if (!fault->status) {
		err_set(err, ERR_MODEL_ERROR, "%s",
		        text.len ? text.data : "The server sent an error without an explanation.");
		trouble = WIRE_TRANSIENT;
	} else {
		trouble = fault_set_status(fault->status, buf_view(&text), err);
	}
	if (!row)
		return trouble;
	err->code = row->code;
	return row->trouble;
}

/* ---- delays ---------------------------------------------------------------------------------- */

static double unit_seconds(struct span *text)
{
	if (span_starts(*text, SPAN("ms"))) {
		*text = span_skip(*text, 2);
		return 0.001;
	}
	if (span_starts(*text, SPAN("s")))
		return *text = span_skip(*text, 1), 1;
	if (span_starts(*text, SPAN("m")))
		return *text = span_skip(*text, 1), 60;
	if (span_starts(*text, SPAN("h")))
		return *text = span_skip(*text, 1), 3600;
	return 0;
}

double fault_duration(struct span text)
{
	double seconds = -1;

	while (text.len && ascii_is_digit(text.data[0])) {
		char digits[24] = "";
		size_t len = 0;
		double value, unit;

		while (len < text.len && len < sizeof(digits) - 1 &&
		       text.data[len] && strchr("0123456789.", text.data[len])) {
			digits[len] = text.data[len];
			len++;
		}
		value = strtod(digits, NULL);
		text = span_skip(text, len);
		if (text.len && text.data[0] == ' ')
			text = span_skip(text, 1);
		unit = unit_seconds(&text);
		if (unit == 0)
			break;
		seconds = (seconds < 0 ? 0 : seconds) + value * unit;
	}
	return seconds;
}

double fault_delay(struct span message)
{
	static const char phrase[] = "again in ";

	for (size_t i = 0; i + sizeof(phrase) < message.len; i++)
		if (strncasecmp(message.data + i, phrase, sizeof(phrase) - 1) == 0)
			return fault_duration(span_skip(message, i + sizeof(phrase) - 1));
	return -1;
}

/* ---- sentences ------------------------------------------------------------------------------- */

void fault_say_retry(struct buf *out, const char *why, unsigned delay_ms)
{
	const unsigned seconds = (delay_ms + 999) / 1000;

	if (seconds)
		buf_printf(out, "%s Retrying in %u s.", why, seconds);
	else
		buf_printf(out, "%s Retrying.", why);
}

void fault_say_without(struct buf *out, const char *why, const char *what)
{
	buf_printf(out, "%s Retrying without %s.", why, what);
}

void fault_say_tools(struct buf *out, const char *id, struct span names, size_t count, bool all)
{
	const struct span shown = utf8_head(names, TOOLS_SHOWN);

	if (all)
		buf_printf(out, "%s rejects the declarations of all %zu tools. Requests are sent "
		           "without tools: the model can only answer in text.", id, count);
	else if (count == 1)
		buf_printf(out, "%s rejects the declaration of the tool %.*s. Requests are sent "
		           "without it.", id, (int)shown.len, shown.data);
	else
		buf_printf(out, "%s rejects the declarations of %zu tools. Requests are sent "
		           "without them: %.*s%s", id, count, (int)shown.len, shown.data,
		           shown.len < names.len ? "..." : ".");
}

/* The hour, and the day where it is not this one. */
static void put_moment(struct buf *out, int64_t moment)
{
	const time_t then = (time_t)moment, now = time(NULL);
	struct tm here, today;
	char text[40];

	localtime_r(&then, &here);
	localtime_r(&now, &today);
	strftime(text, sizeof(text),
	         here.tm_yday == today.tm_yday && here.tm_year == today.tm_year ? "%H:%M" :
	                                                                         "%Y-%m-%d %H:%M",
	         &here);
	buf_str(out, text);
}

void fault_say_switch(struct buf *out, const char *why, const char *to, const char *from,
                      int64_t until)
{
	buf_printf(out, "%s Continuing with %s until ", why, to);
	put_moment(out, until);
	buf_printf(out, ", when %s is tried again.", from);
}

void fault_say_back(struct buf *out, const char *to, const char *from)
{
	buf_printf(out, "Continuing with %s again, after %s.", to, from);
}
