/* SPDX-License-Identifier: Apache-2.0 */
/* What the formats share: requests, ids of calls, parts, tools, schemas, events. */
#include "model/wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/fault.h"
#include "model/sink.h"

/* ---- requests and events ----------------------------------------------------- */

/* "Name" and "Name: value" name the same field? */
static bool same_field(const char *a, const char *b)
{
	size_t len = strcspn(a, ":");

	return len == strcspn(b, ":") && strncasecmp(a, b, len) == 0;
}

void wire_header(struct wire_request *request, const char *format, ...)
{
	va_list args;
	char *line;

	va_start(args, format);
	if (vasprintf(&line, format, args) < 0)
		abort();
	va_end(args);
	for (size_t i = 0; i < request->header_count; i++)
		if (same_field(request->headers[i], line)) {
			free(request->headers[i]);
			request->headers[i] = line;
			return;
		}
	request->headers = reallocarray(request->headers, request->header_count + 2,
	                                sizeof(*request->headers));
	if (!request->headers)
		abort();
	request->headers[request->header_count++] = line;
	request->headers[request->header_count] = NULL;
}

void wire_request_release(struct wire_request *request)
{
	for (size_t i = 0; i < request->header_count; i++)
		free(request->headers[i]);
	free(request->headers);
	buf_release(&request->url);
	buf_release(&request->body);
}

struct span wire_base(const char *base)
{
	struct span head = span_str(base);

	while (span_ends(head, SPAN("/")))
		head.len--;
	return head;
}

void wire_endpoint(struct buf *url, const char *base, const char *path)
{
	buf_span(url, wire_base(base));
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
		                                !ascii_is_alnum(c) &&
		    !(dash && rule == WIRE_ID_WORD))
			return false;
	}
	return true;
}

/* The id as the rule takes it: itself, or a name made of its hash. */
static void wire_id(struct span id, enum wire_id_rule rule, char out[static WIRE_ID_SIZE])
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

/* Frees both lists; `rule` stays. */
static void wire_calls_release(struct wire_calls *calls)
{
	json_decref(calls->waiting);
	json_decref(calls->used);
	calls->waiting = calls->used = NULL;
}

/* A new message of the model begins. */
static void wire_calls_begin(struct wire_calls *calls)
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

void wire_conversation(const json_t *contents, struct wire_calls *calls, void *building,
                       void (*user)(void *building, const json_t *content),
                       void (*model)(void *building, const json_t *content))
{
	const json_t *content;
	size_t i;

	wire_calls_begin(calls);
	json_array_foreach(contents, i, content) {
		if (content_is_user(content)) {
			user(building, content);
		} else {
			wire_calls_begin(calls);
			model(building, content);
		}
	}
	wire_calls_release(calls);
}

/* ---- parts ----------------------------------------------------------------------------------- */

const json_t *wire_own(const json_t *part, const char *provider)
{
	const json_t *opaque = json_object_get(part, "opaque");
	struct span from = json_span(json_object_get(opaque, "provider"));

	return span_eq(from, span_str(provider)) ? opaque : NULL;
}

json_t *wire_arguments(const json_t *call)
{
	const json_t *value = json_object_get(call, "args");
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);

	if (!value || !json_print(&out, value, 0))
		return json_string("{}");
	return json_text(buf_view(&out));
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

bool wire_takes_pdf(const struct model_options *options, struct span type)
{
	(void)options;
	return span_eq(type, SPAN("application/pdf"));
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

/* `allowed` is NULL or has its name. */
static bool tool_is_allowed(const json_t *allowed, const json_t *tool)
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

json_t *wire_tools(const json_t *tools, const json_t *allowed,
                   json_t *(*declare)(const json_t *tool))
{
	json_t *declared = json_array();
	const json_t *tool;
	size_t i;

	json_array_foreach(tools, i, tool)
		if (tool_is_allowed(allowed, tool))
			json_array_append_new(declared, declare(tool));
	return declared;
}

bool wire_loads(const struct model_options *options, bool known)
{
	return options->loading_by == MODEL_LOADING_PROVIDER ||
	       (options->loading_by == MODEL_LOADING_AUTO && known);
}

bool wire_is_loading(const json_t *tool, const char *how)
{
	return span_eq(json_span(json_object_get(tool, "loading")), span_str(how));
}

const char *wire_loader(const json_t *tools)
{
	const json_t *tool;
	size_t i;

	json_array_foreach(tools, i, tool)
		if (wire_is_loading(tool, "loads"))
			return json_string_value(json_object_get(tool, "name"));
	return NULL;
}

bool wire_declares(const json_t *tools, const char *name)
{
	const json_t *tool;
	size_t i;

	json_array_foreach(tools, i, tool)
		if (span_eq(json_span(json_object_get(tool, "name")), span_str(name)))
			return true;
	return false;
}

bool wire_is_of(const json_t *call, const char *loader)
{
	return loader && span_eq(json_span(json_object_get(call, "name")), span_str(loader));
}

json_t *model_tools_before(const json_t *tools)
{
	size_t count = json_array_size(tools);
	json_t *before;

	while (count && wire_is_loading(json_array_get(tools, count - 1), "deferred"))
		count--;
	if (count == json_array_size(tools))
		return json_incref((json_t *)tools);
	before = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append(before, json_array_get(tools, i));
	return before;
}

json_t *wire_described(json_t *declaration, const json_t *tool)
{
	json_t *description = json_object_get(tool, "description");

	if (json_string_length(description))
		json_object_set(declaration, "description", description);
	return declaration;
}

void wire_system(struct buf *out, const struct model_request *request, bool takes_schema)
{
	buf_span(out, request->system);
	if (!request->answer_schema || takes_schema)
		return;
	buf_str(out, "\n\nAnswer with one JSON value of this JSON Schema, and nothing else:\n");
	json_print(out, request->answer_schema, 0);
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

json_t *wire_closed_schema(const json_t *schema)
{
	return strict_schema(schema, /* all_required= */ false, SCHEMA_DEPTH);
}

bool wire_is_strict(const json_t *schema)
{
	json_t *strict = strict_schema(schema, /* all_required= */ true, SCHEMA_DEPTH);
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

/* ---- lists of models ---- */

void wire_list_add(json_t *list, struct span id, uint64_t context)
{
	static const char *const others[] = {
		"embed", "whisper", "tts", "dall-e", "image", "moderation", "realtime",
		"transcribe", "audio", "sora", "veo", "imagen", "babbage", "davinci", "-live-",
		"robotics", "rerank", "guard",
	};
	_cleanup_free_ char *name = mem_dup(id.data ? id.data : "", id.len);
	json_t *row;

	if (!id.len || id.len > 200 || strlen(name) != id.len)
		return;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (strstr(name, others[i]))
			return;
	row = json_pack("{s:s}", "id", name);
	if (!row)
		return;
	if (context)
		json_object_set_new(row, "contextTokens", json_size(context));
	json_array_append_new(list, row);
}
