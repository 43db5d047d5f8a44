/* SPDX-License-Identifier: Apache-2.0 */
#include "model/wire_error.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/unseen.h"
#include "data/json.h"

enum { SENTENCE_MAX = 400, KEY_LEAST = 40 };

/* ---- the sentence ---------------------------------------------------------------------------- */

static bool is_key_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '-' || c == '_' || c == '*' || c == '.';
}

/* How keys and tokens look: how they begin, and how long they are at least with that.  A beginning alone is
 * no key: "sk-learn" and "hf_hub" are names. Sources: the providers' consoles and the public lists of
 * scanners for leaked secrets (docs.github.com, "Supported secret scanning patterns"). */
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
		digit |= c >= '0' && c <= '9';
		upper |= c >= 'A' && c <= 'Z';
		lower |= c >= 'a' && c <= 'z';
	}
	return word.len >= KEY_LEAST && digit && upper && lower;
}

static bool looks_like_key(struct span word)
{
	bool digit = false;

	for (size_t i = 0; i < word.len; i++)
		digit |= word.data[i] >= '0' && word.data[i] <= '9';
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

	if (!json_parse_depth(span_trim(body), DEPTH, &value, &ignored))
		return json_text(span_head(body, body.len < TEXT_MAX ? body.len : 0));
	if (!json_is_array(value))
		return value;
	first = json_incref(json_array_get(value, 0));
	json_decref(value);
	return first ? first : json_null();
}

/* ---- the class ------------------------------------------------------------------------------- */

static bool says(struct span message, const char *phrase)
{
	size_t len = strlen(phrase);

	for (size_t i = 0; i + len <= message.len; i++)
		if (strncasecmp(message.data + i, phrase, len) == 0)
			return true;
	return false;
}

/* For errors of the classes 400, 413, 422, 429 and 500, where servers have no word for it. */
static const struct fault_row phrases[] = {
	{ "context length", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "context size", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "context window", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "context limit", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "prompt is too long", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "input is too long", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "prompt too long", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "maximum prompt length", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "maximum model length", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "exceeds max length", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "range of input length", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "max message tokens", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "model token limit", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "prompt token count", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "input token count", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "tokens to keep from the initial prompt", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "`inputs` tokens + `max_new_tokens`", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "reduce the length of the", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "too large for model with", ERR_CONTEXT_TOO_LARGE, WIRE_FATAL },
	{ "credit balance", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "credits are depleted", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "prepayment", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "insufficient balance", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "insufficient credits", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "current quota", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "usage limit", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "spend limit", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "spend cap", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "spending limit", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "spending cap", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "billing hard limit", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "requests per day", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "tokens per day", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "per-day", ERR_QUOTA_EXCEEDED, WIRE_QUOTA },
	{ "api key not valid", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "api key expired", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "invalid api key", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "incorrect api key", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "invalid x-api-key", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "missing api key", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ "no api key", ERR_AUTHENTICATION_FAILED, WIRE_FATAL },
	{ NULL, ERR_NONE, WIRE_FATAL },
};

/* "Request too large for ... on tokens per min (TPM): Limit 30000, Requested 40000": more than a whole minute
 * allows is not had by waiting for the next. */
static bool beyond_a_minute(struct span message)
{
	return says(message, "request too large") &&
	       (says(message, "(tpm)") || says(message, "per min"));
}

static bool applies(const struct fault *fault, const struct fault_row *phrase)
{
	/* A limit of rates is none of lengths, however it is worded. */
	if (phrase->code == ERR_CONTEXT_TOO_LARGE && fault->status == 429)
		return false;
	return says(fault->message, phrase->word);
}

/* The row for what the error says of itself; NULL: nothing that is known. */
static const struct fault_row *classify(const struct fault *fault, const struct fault_row *words)
{
	static const struct fault_row beyond = { "", ERR_QUOTA_EXCEEDED, WIRE_QUOTA };
	bool open = fault->status != 401 && fault->status != 403 && fault->status != 404;

	if (beyond_a_minute(fault->message))
		return &beyond;
	for (size_t i = 0; i < ARRAY_LEN(fault->words); i++)
		for (const struct fault_row *row = words; fault->words[i].len && row->word; row++)
			if (span_eq(fault->words[i], span_str(row->word)))
				return row;
	for (const struct fault_row *row = phrases; open && row->word; row++)
		if (applies(fault, row))
			return row;
	return NULL;
}

enum wire_trouble fault_set(const struct fault *fault, const struct fault_row *words,
                            struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2 * SENTENCE_MAX + 64);
	const struct fault_row *row = classify(fault, words);
	enum wire_trouble trouble;

	fault_clean(&text, fault->message);
	if (!fault->status) {
		err_set(err, ERR_MODEL_ERROR, "%s",
		        text.len ? text.data : "The server sent an error without an explanation.");
		trouble = WIRE_TRANSIENT;
	} else {
		trouble = wire_status(fault->status, buf_view(&text), err);
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

static double read_delay(struct span text)
{
	double seconds = -1;

	while (text.len && text.data[0] >= '0' && text.data[0] <= '9') {
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
			return read_delay(span_skip(message, i + sizeof(phrase) - 1));
	return -1;
}
