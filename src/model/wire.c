/* SPDX-License-Identifier: Apache-2.0 */
/* What the formats share: errors of answers, ids of calls, media, schemas, events. */
#include "model/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unseen.h"
#include "data/json.h"
#include "model/sink.h"

/* ---- errors ------------------------------------------------------------------ */

enum { SENTENCE_MAX = 400, KEY_LEAST = 40 };

/* ---- the sentence ---------------------------------------------------------------------------- */

static bool is_key_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '-' || c == '_' || c == '*' || c == '.';
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

static bool has_phrase_in(struct span message, const char *phrase)
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

/* "Request too large for ... on tokens per min (TPM): Limit 30000, Requested 40000": more than a
 * whole minute allows is not had by waiting for the next. */
static bool beyond_a_minute(struct span message)
{
	return has_phrase_in(message, "request too large") &&
	       (has_phrase_in(message, "(tpm)") || has_phrase_in(message, "per min"));
}

static bool phrase_applies(const struct fault *fault, const struct fault_row *phrase)
{
	/* A limit of rates is none of lengths, however it is worded. */
	if (phrase->code == ERR_CONTEXT_TOO_LARGE && fault->status == 429)
		return false;
	return has_phrase_in(fault->message, phrase->word);
}

/* The row for what the error says of itself; NULL: nothing that is known. */
static const struct fault_row *fault_classify(const struct fault *fault,
                                              const struct fault_row *words)
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
		if (phrase_applies(fault, row))
			return row;
	return NULL;
}

enum wire_trouble fault_set(const struct fault *fault, const struct fault_row *words,
                            struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2 * SENTENCE_MAX + 64);
	const struct fault_row *row = fault_classify(fault, words);
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

/* ---- requests and events ----------------------------------------------------- */

void wire_endpoint(struct buf *url, const char *base, const char *path)
{
	struct span head = span_str(base);

	while (span_ends(head, SPAN("/")))
		head.len--;
	buf_span(url, head);
	buf_str(url, path);
}

bool wire_body(struct wire_request *request, json_t *body, struct err *err)
{
	bool ok;

	if (request->without)
		refusable_drop(request->format, body, request->without);
	ok = json_print(&request->body, body, 0);
	json_decref(body);
	return ok || err_set(err, ERR_CONTEXT_TOO_LARGE,
	                     "The conversation is too large, or nested too deeply, to be sent.");
}

json_t *wire_session_key(const char *session_id, size_t longest)
{
	char hex[SHA256_HEX_SIZE];
	struct sha256 sum;

	if (strlen(session_id) <= longest)
		return json_cstr(session_id);
	sum = sha256_of(span_str(session_id));
	sha256_hex(&sum, hex);
	return json_string(hex);
}

/* ---- ids of calls ---------------------------------------------------------------------------- */

static bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool id_fits(struct span id, enum wire_id_rule rule)
{
	static const size_t longest[] = { [WIRE_ID_PRINTABLE] = 40, [WIRE_ID_WORD] = 64,
	                                  [WIRE_ID_NINE] = 9 };

	if (!id.len || id.len > longest[rule] || (rule == WIRE_ID_NINE && id.len != 9))
		return false;
	for (size_t i = 0; i < id.len; i++) {
		char c = id.data[i];
		bool dash = c == '_' || c == '-';

		if (rule == WIRE_ID_PRINTABLE ? c <= ' ' || c > '~' :
		                                !is_alphanumeric(c) &&
		    !(dash && rule == WIRE_ID_WORD))
			return false;
	}
	return true;
}

void wire_id(struct span id, enum wire_id_rule rule, char out[static WIRE_ID_SIZE])
{
	char hex[SHA256_HEX_SIZE];
	struct sha256 sum;

	if (id_fits(id, rule)) {
		memcpy(out, id.data, id.len);
		out[id.len] = '\0';
		return;
	}
	sum = sha256_of(id);
	sha256_hex(&sum, hex);
	if (rule == WIRE_ID_NINE)
		snprintf(out, WIRE_ID_SIZE, "%.9s", hex);
	else
		snprintf(out, WIRE_ID_SIZE, "call_%.24s", hex);
}

void wire_calls_release(struct wire_calls *calls)
{
	json_decref(calls->waiting);
	json_decref(calls->used);
	calls->waiting = calls->used = NULL;
}

void wire_calls_begin(struct wire_calls *calls)
{
	json_decref(calls->waiting);
	calls->waiting = json_array();
	if (!calls->used)
		calls->used = json_object();
}

/* An id that was used already becomes another, always the same. */
static void make_unique(struct wire_calls *calls, struct span given, char id[static WIRE_ID_SIZE])
{
	_cleanup_free_ char *first = mem_strdup(id);
	json_int_t again = json_integer_value(json_object_get(calls->used, id));

	for (again = again ? again : 2; json_object_get(calls->used, id); again++) {
		_cleanup_free_ char *next = mem_printf("%.*s %d", (int)span_head(given, 1000).len,
		                                       given.data, (int)again);

		wire_id(span_str(next), calls->rule, id);
	}
	json_object_set_new(calls->used, id, json_integer(2));
	if (strcmp(first, id) != 0)
		json_object_set_new(calls->used, first, json_integer(again));
}

json_t *wire_calls_add(struct wire_calls *calls, const json_t *call)
{
	struct span given = json_span(json_object_get(call, "id"));
	char made[32], id[WIRE_ID_SIZE];
	json_t *row = json_object();

	snprintf(made, sizeof(made), "call_%zu", calls->count++);
	wire_id(given.len ? given : span_str(made), calls->rule, id);
	make_unique(calls, given.len ? given : span_str(made), id);
	if (given.len)
		json_object_set_new(row, "given", json_text(given));
	json_object_set_new(row, "name", json_text(json_span(json_object_get(call, "name"))));
	json_object_set_new(row, "id", json_string(id));
	json_array_append_new(calls->waiting, row);
	return json_string(id);
}

json_t *wire_calls_answer(struct wire_calls *calls, const json_t *response)
{
	const json_t *given = json_object_get(response, "id");
	const json_t *name = json_object_get(response, "name");
	char id[WIRE_ID_SIZE];
	json_t *row, *found;
	size_t i;

	json_array_foreach(calls->waiting, i, row) {
		const json_t *called = json_object_get(row, "given");

		if (given && called ? !json_equal(given, called) :
		                      !json_equal(name, json_object_get(row, "name")))
			continue;
		found = json_incref(json_object_get(row, "id"));
		json_array_remove(calls->waiting, i);
		return found;
	}
	wire_id(json_span(given), calls->rule, id);
	return json_string(id);
}

/* ---- parts ----------------------------------------------------------------------------------- */

const json_t *wire_own(const json_t *part, const char *provider)
{
	const json_t *opaque = json_object_get(part, "opaque");
	struct span from = json_span(json_object_get(opaque, "provider"));

	return span_eq(from, span_str(provider)) ? opaque : NULL;
}

json_t *wire_response_text(const json_t *response)
{
	const json_t *value = json_object_get(response, "response");
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);

	if (json_is_string(value))
		return json_incref((json_t *)value);
	if (!value || !json_print(&out, value, 0))
		return json_string("{}");
	return json_text(buf_view(&out));
}

bool wire_response_failed(const json_t *response)
{
	const json_t *error = json_object_get(json_object_get(response, "response"), "error");

	return error && !json_is_null(error) && !json_is_false(error);
}

bool wire_media(const json_t *part, struct wire_media *ret)
{
	const json_t *data = json_object_get(part, "inlineData");

	ret->type = json_span(json_object_get(data, "mimeType"));
	ret->data = json_span(json_object_get(data, "data"));
	return ret->type.len && ret->data.len;
}

json_t *wire_data_url(const struct wire_media *media)
{
	_cleanup_buf_ struct buf url = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);

	buf_str(&url, "data:");
	buf_span(&url, media->type);
	buf_str(&url, ";base64,");
	buf_span(&url, media->data);
	return json_text(buf_view(&url));
}

json_t *wire_media_note(const struct wire_media *media)
{
	_cleanup_buf_ struct buf note = BUF_INIT(512);

	buf_str(&note, "(There is a part of type ");
	buf_span(&note, span_head(media->type, 100));
	buf_str(&note, " here, which cannot be shown to this model.)");
	return json_text(buf_view(&note));
}

/* ---- tools and schemas ----------------------------------------------------------------------- */

json_t *wire_parameters(const json_t *tool)
{
	json_t *schema = json_object_get(tool, "parameters");

	if (json_is_object(schema) && json_object_get(schema, "type"))
		return json_incref(schema);
	return json_pack("{s:s, s:{}}", "type", "object", "properties");
}

bool wire_allowed(const json_t *allowed, const json_t *tool)
{
	const json_t *name;
	size_t i;

	if (!allowed)
		return true;
	json_array_foreach(allowed, i, name)
		if (json_equal(name, json_object_get(tool, "name")))
			return true;
	return false;
}

/* How deep a schema is copied; deeper ones lose what is below. */
enum { SCHEMA_DEPTH = 32 };

enum schema_member { MEMBER_PLAIN, MEMBER_SCHEMA, MEMBER_LIST, MEMBER_MAP };

static const struct {
	const char *name;
	enum schema_member kind;
} schema_members[] = {
	{ "type", MEMBER_PLAIN },     { "description", MEMBER_PLAIN }, { "enum", MEMBER_PLAIN },
	{ "const", MEMBER_PLAIN },    { "required", MEMBER_PLAIN },    { "$ref", MEMBER_PLAIN },
	{ "title", MEMBER_PLAIN },    { "items", MEMBER_SCHEMA },      { "anyOf", MEMBER_LIST },
	{ "allOf", MEMBER_LIST },     { "$defs", MEMBER_MAP },         { "properties", MEMBER_MAP },
};

static json_t *strict_schema(const json_t *schema, bool all_required, unsigned depth);

static json_t *strict_member(const json_t *value, enum schema_member kind, bool all_required,
                             unsigned depth)
{
	json_t *copy, *child;
	const char *key;
	size_t i;

	if (kind == MEMBER_PLAIN)
		return json_incref((json_t *)value);
	if (kind == MEMBER_SCHEMA)
		return strict_schema(value, all_required, depth);
	copy = kind == MEMBER_LIST ? json_array() : json_object();
	if (kind == MEMBER_LIST)
		json_array_foreach(value, i, child)
			json_array_append_new(copy, strict_schema(child, all_required, depth));
	else
		json_object_foreach((json_t *)value, key, child)
			json_object_set_new(copy, key, strict_schema(child, all_required, depth));
	return copy;
}

static void close_object(json_t *copy, bool all_required)
{
	json_t *properties = json_object_get(copy, "properties");
	json_t *required, *child;
	const char *key;

	json_object_set_new(copy, "additionalProperties", json_false());
	if (!all_required)
		return;
	required = json_array();
	json_object_foreach(properties, key, child)
		json_array_append_new(required, json_cstr(key));
	json_object_set_new(copy, "required", required);
}

static json_t *strict_schema(const json_t *schema, bool all_required, unsigned depth)
{
	json_t *copy = json_object();

	if (depth == 0)
		return copy;
	for (size_t i = 0; i < ARRAY_LEN(schema_members); i++) {
		const json_t *value = json_object_get(schema, schema_members[i].name);

		if (value)
			json_object_set_new(copy, schema_members[i].name,
			                    strict_member(value, schema_members[i].kind,
			                                  all_required, depth - 1));
	}
	if (span_eq(json_span(json_object_get(copy, "type")), SPAN("object")))
		close_object(copy, all_required);
	return copy;
}

json_t *wire_strict_schema(const json_t *schema, bool all_required)
{
	return strict_schema(schema, all_required, SCHEMA_DEPTH);
}

bool wire_is_strict(const json_t *schema)
{
	json_t *strict = wire_strict_schema(schema, true);
	bool same = json_equal(strict, schema);

	json_decref(strict);
	return same;
}

/* How much of an event that cannot be read is shown. */
enum { SHOWN_MAX = 80 };

bool wire_event(struct reply_sink *sink, const struct sse_event *event, json_t **ret,
                enum wire_trouble *trouble, struct err *err)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(1024);
	struct span data = span_trim(event->data);
	struct err why = ERR_INIT;
	bool lone = false;

	*ret = NULL;
	sink->events++;
	if (!data.len || span_eq(data, SPAN("[DONE]")))
		return true;
	if (json_parse_lenient(data, WIRE_EVENT_DEPTH, ret, &lone, &why) && json_is_object(*ret)) {
		sink->lone |= lone;
		return true;
	}
	if (*ret)
		err_set(&why, ERR_INVALID_ARGUMENT, "It is %s instead of an object.",
		        json_type_phrase(*ret));
	json_decref(*ret);
	*ret = NULL;
	*trouble = WIRE_UNREADABLE;
	fault_clean(&shown, utf8_head(data, SHOWN_MAX));
	return err_set(err, ERR_MODEL_ERROR,
	               "Event %zu of the answer cannot be read. %s It begins: %s", sink->events,
	               why.message, shown.len ? shown.data : "(nothing)");
}

json_t *wire_args(struct reply_sink *sink, struct span text)
{
	struct err why = ERR_INIT;
	json_t *args = NULL;
	bool lone = false;

	if (!json_parse_lenient(text, WIRE_EVENT_DEPTH, &args, &lone, &why))
		return NULL;
	sink->lone |= lone;
	if (json_is_object(args))
		return args;
	json_decref(args);
	return NULL;
}

bool wire_no_tool(const char *provider, const json_t *name, struct err *err)
{
	const char *word = json_string_value(name);

	return err_set(err, ERR_INVALID_ARGUMENT,
	               "%s has no tool %.100s that runs at the provider.", provider,
	               word ? word : "of that kind");
}

bool wire_counts(const json_t *object, const char *member)
{
	const json_t *value = json_object_get(object, member);

	return json_is_number(value) || json_is_string(value);
}

uint64_t wire_count(const json_t *object, const char *member)
{
	static const double most = 1e12;
	const json_t *value = json_object_get(object, member);
	struct span text = json_span(value);
	char digits[32] = "";
	double count = json_number_value(value);

	if (text.len && text.len < sizeof(digits)) {
		memcpy(digits, text.data, text.len);
		count = digits[strspn(digits, "0123456789")] ? 0 : strtod(digits, NULL);
	}
	return count >= 1 && count <= most ? (uint64_t)count : 0;
}
