/* SPDX-License-Identifier: Apache-2.0 */
/* Answers as text: results, refusals, members of a text that is JSON; protocol versions. */
#include "mcp/protocol/private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "mcp/protocol/call.h"
#include "mcp/protocol/server.h"
#include "mcp/protocol/version.h"
#include "net/rpc/rpc.h"

/* ---- refusals ---------------------------------------------------------------- */

bool mcp_refuse(struct refusal *refusal, int code, const char *format, ...)
{
	char text[2048];
	struct span cut;
	va_list args;

	*refusal = (struct refusal){ .code = code };
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cut = utf8_head(span_str(text), sizeof(refusal->message) - 1);
	memcpy(refusal->message, cut.data, cut.len);
	return false;
}

/* ---- versions ---------------------------------------------------------------- */

static const struct version versions[] = {
	{ .name = "2026-07-28", .stateless = true, .tools = TOOL_WHOLE, .structured = true,
	  .completions = true, .progress_message = true, .titles = true, .website = true,
	  .elicitation = true, .elicitation_url = true, .result_type = true,
	  .not_found = RPC_INVALID_PARAMS },
	{ .name = "2025-11-25", .tools = TOOL_WHOLE, .structured = true, .completions = true,
	  .progress_message = true, .titles = true, .website = true, .elicitation = true,
	  .elicitation_url = true, .not_found = MCP_RESOURCE_NOT_FOUND },
	{ .name = "2025-06-18", .tools = TOOL_WHOLE, .structured = true, .completions = true,
	  .progress_message = true, .titles = true, .elicitation = true,
	  .not_found = MCP_RESOURCE_NOT_FOUND },
	{ .name = "2025-03-26", .batches = true, .tools = TOOL_ANNOTATED, .completions = true,
	  .progress_message = true, .not_found = MCP_RESOURCE_NOT_FOUND },
	{ .name = "2024-11-05", .batches = true, .tools = TOOL_PLAIN,
	  .not_found = MCP_RESOURCE_NOT_FOUND },
};

const struct version *version_at(size_t i)
{
	return i < ARRAY_LEN(versions) ? &versions[i] : NULL;
}

const struct version *version_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		if (strcmp(versions[i].name, name) == 0)
			return &versions[i];
	}
	return NULL;
}

const struct version *version_latest(void)
{
	const struct version *version = versions;

	while (version->stateless)
		version++;
	return version;
}

const struct version *version_latest_stateless(void)
{
	const struct version *version = versions;

	while (!version->stateless)
		version++;
	return version;
}

/* ---- members ----------------------------------------------------------------- */

static struct span skip_space(struct span text)
{
	while (text.len && (*text.data == ' ' || (*text.data >= '\t' && *text.data <= '\r')))
		text = span_skip(text, 1);
	return text;
}

/* The length of the string at the start of the text, with its quotation marks; 0: no end. */
static size_t string_len(struct span text)
{
	size_t from = 1;

	while (from < text.len) {
		const char *quote = memchr(text.data + from, '"', text.len - from);
		size_t at = quote ? (size_t)(quote - text.data) : text.len;
		size_t backslashes = 0;

		if (!quote)
			return 0;
		while (at - backslashes > 1 && text.data[at - backslashes - 1] == '\\')
			backslashes++;
		if (backslashes % 2 == 0)
			return at + 1;
		from = at + 1;
	}
	return 0;
}

/* The length of the object or array at the start of the text; 0: no end. */
static size_t nested_len(struct span text)
{
	size_t depth = 0;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (c == '"') {
			size_t len = string_len(span_skip(text, i));

			if (!len)
				return 0;
			i += len - 1;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if ((c == '}' || c == ']') && --depth == 0) {
			return i + 1;
		}
	}
	return 0;
}

static size_t value_len(struct span text)
{
	size_t len = 0;

	if (!text.len)
		return 0;
	if (*text.data == '"')
		return string_len(text);
	if (*text.data == '{' || *text.data == '[')
		return nested_len(text);
	while (len < text.len && !memchr(",}] \t\r\n", text.data[len], 7))
		len++;
	return len;
}

bool result_member_next(struct members *members, struct span *ret_key, struct span *ret_value)
{
	struct span text = skip_space(members->rest);
	size_t len;

	if (!text.len || (*text.data != '{' && *text.data != ','))
		return false;
	text = skip_space(span_skip(text, 1));
	len = text.len && *text.data == '"' ? string_len(text) : 0;
	if (!len)
		return false;
	*ret_key = span_of(text.data + 1, len - 2);
	text = skip_space(span_skip(text, len));
	if (!text.len || *text.data != ':')
		return false;
	text = skip_space(span_skip(text, 1));
	len = value_len(text);
	if (!len)
		return false;
	*ret_value = span_head(text, len);
	members->rest = span_skip(text, len);
	return true;
}

bool result_members_ended(const struct members *members)
{
	struct span text = skip_space(members->rest);

	if (text.len && *text.data == '{') /* nothing has been read: it was empty */
		text = skip_space(span_skip(text, 1));
	return text.len && *text.data == '}' && !skip_space(span_skip(text, 1)).len;
}

/* ---- results ----------------------------------------------------------------- */

/* How long a list may be kept: until hasp reports a change, but clients that do not listen
 * see a change within a minute. */
static const char cache_ttl[] = "60000";

enum { ROOM = 512 }; /* for what is added to a result */

struct writer {
	struct buf *out;
	bool any; /* a member was written */
};

static void result_put(struct writer *writer, const char *key, struct span value)
{
	buf_char(writer->out, writer->any ? ',' : '{');
	buf_char(writer->out, '"');
	buf_str(writer->out, key);
	buf_span(writer->out, SPAN("\":"));
	buf_span(writer->out, value);
	writer->any = true;
}

static void result_put_text(struct writer *writer, const char *key, const char *text)
{
	result_put(writer, key, SPAN(""));
	buf_char(writer->out, '"');
	buf_str(writer->out, text);
	buf_char(writer->out, '"');
}

/* _meta with serverInfo, and the other members of `meta` (empty, or an object). */
static void put_meta(struct writer *writer, const struct result_form *form, struct span meta)
{
	static const char info[] = "io.modelcontextprotocol/serverInfo";
	struct members members = { .rest = meta };
	struct writer inner = { .out = writer->out };
	struct span key, value;
	bool named = false;

	result_put(writer, "_meta", SPAN(""));
	while (result_member_next(&members, &key, &value)) {
		buf_char(inner.out, inner.any ? ',' : '{');
		inner.any = true;
		buf_append(inner.out, key.data - 1, key.len + 2);
		buf_char(inner.out, ':');
		buf_span(inner.out, value);
		named = named || span_eq(key, span_str(info));
	}
	if (!named)
		result_put(&inner, info, form->server_info);
	buf_char(inner.out, '}');
}

static bool is_object(struct span text)
{
	return text.len >= 2 && text.data[0] == '{' && text.data[text.len - 1] == '}';
}

/* What of the extras of 2026 a result has itself. */
struct own {
	bool type, ttl, scope;
	struct span meta;
};

static bool copy_result_member(struct writer *writer, const struct result_form *form,
                               struct own *own,
                               struct span key, struct span value)
{
	if (form->tool && !form->version->structured && span_eq(key, SPAN("structuredContent")))
		return true;
	if (form->version->result_type && span_eq(key, SPAN("_meta"))) {
		own->meta = value;
		return true;
	}
	own->type = own->type || span_eq(key, SPAN("resultType"));
	own->ttl = own->ttl || span_eq(key, SPAN("ttlMs"));
	own->scope = own->scope || span_eq(key, SPAN("cacheScope"));
	buf_char(writer->out, writer->any ? ',' : '{');
	writer->any = true;
	buf_append(writer->out, key.data - 1, key.len + 2);
	buf_char(writer->out, ':');
	return buf_span(writer->out, value);
}

bool result_write(struct buf *out, const struct result_form *form, struct span text)
{
	struct members members = { .rest = text };
	struct writer writer = { .out = out };
	struct own own = { 0 };
	struct span key, value;

	if (!is_object(text) || !buf_reserve(out, text.len + form->server_info.len + ROOM))
		return false;
	if (!form->version->result_type && (!form->tool || form->version->structured))
		return buf_span(out, text);
	while (result_member_next(&members, &key, &value)) {
		if (!copy_result_member(&writer, form, &own, key, value))
			return false;
	}
	if (!result_members_ended(&members))
		return false;
	if (form->version->result_type) {
		if (!own.type)
			result_put_text(&writer, "resultType", form->complete ? "complete" :
			                "input_required");
		if (form->cache_scope && !own.ttl)
			result_put(&writer, "ttlMs", span_str(cache_ttl));
		if (form->cache_scope && !own.scope)
			result_put_text(&writer, "cacheScope", form->cache_scope);
		put_meta(&writer, form, own.meta);
	}
	if (!writer.any)
		buf_char(out, '{');
	return buf_char(out, '}');
}
