/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/mirrored.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/protocol/private.h"

enum { SCHEMA_DEPTH = 16, VALUE_BYTES = 64 << 10 };

/* Finding the arguments. */

struct search {
	const char *path[SCHEMA_DEPTH];
	size_t depth;
	struct mirrored *found;
	size_t count, cap;
};

/* The characters of a field name: RFC 9110, section 5.6.2. */
static bool is_token(struct span text)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		                    (c >= 'A' && c <= 'Z');

		if (!alphanumeric && !(c && strchr(others, c)))
			return false;
	}
	return text.len > 0;
}

static bool is_mirrored(const json_t *property)
{
	struct span type = json_span(json_object_get(property, "type"));

	return is_token(json_span(json_object_get(property, "x-mcp-header"))) &&
	       (span_eq(type, SPAN("string")) || span_eq(type, SPAN("integer")) ||
	        span_eq(type, SPAN("boolean")));
}

static void add(struct search *search, const char *name)
{
	struct mirrored *found;

	if (search->count == search->cap)
		search->found = mem_grow(search->found, &search->cap, search->count + 1,
		                         sizeof(*search->found));
	found = &search->found[search->count++];
	found->header = mem_printf("Mcp-Param-%s", name);
	found->path = mem_alloc(search->depth, sizeof(*found->path));
	found->depth = search->depth;
	memcpy(found->path, search->path, search->depth * sizeof(*found->path));
}

static void look(struct search *search, const json_t *schema)
{
	const char *name;
	json_t *property;

	if (search->depth == SCHEMA_DEPTH)
		return;
	search->depth++;
	json_object_foreach(json_object_get(schema, "properties"), name, property) {
		search->path[search->depth - 1] = name;
		if (is_mirrored(property))
			add(search, json_string_value(json_object_get(property, "x-mcp-header")));
		else
			look(search, property);
	}
	search->depth--;
}

void mirrored_find(const json_t *schema, struct mirrored **ret, size_t *ret_count)
{
	struct search search = { .depth = 0 };

	look(&search, schema);
	*ret = search.found;
	*ret_count = search.count;
}

void mirrored_free(struct mirrored *mirrored, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(mirrored[i].header);
		free(mirrored[i].path);
	}
	free(mirrored);
}

/* Checking a request. */

static struct span header_of(const struct mcp_call *call, const char *name)
{
	const struct mcp_wire *wire = &call->peer->wire;
	const char *value = wire->header(call->peer->wire_data, call->exchange, name);

	return value ? span_trim(span_str(value)) : span_of(NULL, 0);
}

static bool has_headers(const struct mcp_call *call)
{
	return call->peer->wire.header && call->exchange;
}

static int digit_of(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* RFC 4648 section 4, with padding and nothing else. */
static bool decode_base64(struct span text, struct buf *out)
{
	size_t padding = span_ends(text, SPAN("==")) ? 2 : span_ends(text, SPAN("=")) ? 1 : 0;

	if (text.len % 4)
		return false;
	for (size_t i = 0; i < text.len; i += 4) {
		size_t missing = i + 4 == text.len ? padding : 0;
		unsigned word = 0;

		for (size_t j = 0; j < 4; j++) {
			int digit = j < 4 - missing ? digit_of(text.data[i + j]) : 0;

			if (digit < 0)
				return false;
			word = word << 6 | (unsigned)digit;
		}
		for (size_t j = 0; j < 3 - missing; j++)
			buf_char(out, (char)(word >> (16 - 8 * j)));
	}
	return !out->overflowed;
}

/* The value that a header stands for: plain, or =?base64?...?=. */
static bool decode_header(struct span text, struct buf *out)
{
	struct span prefix = SPAN("=?base64?"), suffix = SPAN("?=");

	if (text.len >= prefix.len + suffix.len && span_starts(text, prefix) &&
	    span_ends(text, suffix))
		return decode_base64(span_of(text.data + prefix.len,
		                             text.len - prefix.len - suffix.len), out);
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] != '\t' && (text.data[i] < ' ' || text.data[i] > '~'))
			return false;
	}
	return buf_span(out, text);
}

static bool mismatch(struct refusal *refusal, const char *header, struct span is,
                     struct span wanted)
{
	return refuse(refusal, MCP_HEADER_MISMATCH,
	              "Header mismatch: %s is \"%.*s\", the body says \"%.*s\".", header,
	              (int)span_head(is, 80).len, is.data ? is.data : "",
	              (int)utf8_head(wanted, 80).len, wanted.data ? wanted.data : "");
}

static bool missing(struct refusal *refusal, const char *header)
{
	return refuse(refusal, MCP_HEADER_MISMATCH,
	              "Header mismatch: the request has no %s header.", header);
}

/* A header whose value is taken literally. */
static bool check_plain(const struct mcp_call *call, const char *header, const char *wanted,
                        struct refusal *refusal)
{
	struct span is = header_of(call, header);

	if (!is.data)
		return missing(refusal, header);
	return span_eq(is, span_str(wanted)) || mismatch(refusal, header, is, span_str(wanted));
}

bool mirrored_check_version(const struct mcp_call *call, const char *version,
                            struct refusal *refusal)
{
	return !has_headers(call) || check_plain(call, "MCP-Protocol-Version", version, refusal);
}

bool mirrored_check_method(const struct mcp_call *call, struct refusal *refusal)
{
	return !has_headers(call) ||
	       check_plain(call, "Mcp-Method", call->message.method, refusal);
}

/* 42 and 42.0 are the same integer. */
static bool same_number(struct span text, json_int_t wanted)
{
	_cleanup_free_ char *copy = mem_dup(text.data, text.len);
	char *end;
	double value;

	errno = 0;
	value = strtod(copy, &end);
	return end != copy && !*end && !errno && isfinite(value) && value == (double)wanted;
}

static bool same_value(struct span text, const json_t *wanted)
{
	switch (json_typeof(wanted)) {
	case JSON_STRING:
		return span_eq(text, json_span(wanted));
	case JSON_INTEGER:
		return same_number(text, json_integer_value(wanted));
	case JSON_TRUE:
		return span_eq(text, SPAN("true"));
	case JSON_FALSE:
		return span_eq(text, SPAN("false"));
	default:
		return true; /* not what the schema says: the tool tells */
	}
}

static bool check_value(const struct mcp_call *call, const char *header, const json_t *wanted,
                        struct refusal *refusal)
{
	_cleanup_buf_ struct buf decoded = BUF_INIT(VALUE_BYTES);
	struct span is = header_of(call, header);

	if (!is.data)
		return missing(refusal, header);
	if (!decode_header(is, &decoded))
		return refuse(refusal, MCP_HEADER_MISMATCH,
		              "Header mismatch: the value of %s is malformed.", header);
	if (!same_value(buf_from(&decoded, 0), wanted))
		return mismatch(refusal, header, is, json_span(wanted));
	return true;
}

bool mirrored_check_name(const struct mcp_call *call, const char *name, struct refusal *refusal)
{
	json_t *wanted;
	bool same;

	if (!has_headers(call) || !name)
		return true;
	wanted = json_cstr(name);
	same = check_value(call, "Mcp-Name", wanted, refusal);
	json_decref(wanted);
	return same;
}

static const json_t *value_at(const json_t *arguments, const struct mirrored *mirrored)
{
	for (size_t i = 0; i < mirrored->depth; i++)
		arguments = json_object_get(arguments, mirrored->path[i]);
	return json_is_null(arguments) ? NULL : arguments;
}

bool mirrored_check_arguments(const struct mcp_call *call, const struct tool_entry *tool,
                              struct refusal *refusal)
{
	for (size_t i = 0; has_headers(call) && i < tool->mirrored_count; i++) {
		const struct mirrored *mirrored = &tool->mirrored[i];
		const json_t *value = value_at(call->arguments, mirrored);

		if (value && !check_value(call, mirrored->header, value, refusal))
			return false;
		if (!value && header_of(call, mirrored->header).data)
			return refuse(refusal, MCP_HEADER_MISMATCH,
			              "Header mismatch: %s has a value, the body has none.",
			              mirrored->header);
	}
	return true;
}
