/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/result.h"

#include "mcp/protocol/members.h"

/* How long a list may be kept: until hasp tells of a change, but clients that do not listen
 * see a change within a minute. */
static const char cache_ttl[] = "60000";

enum { ROOM = 512 }; /* for what is added to a result */

struct writer {
	struct buf *out;
	bool any; /* a member was written */
};

static void put(struct writer *writer, const char *key, struct span value)
{
	buf_char(writer->out, writer->any ? ',' : '{');
	buf_char(writer->out, '"');
	buf_str(writer->out, key);
	buf_span(writer->out, SPAN("\":"));
	buf_span(writer->out, value);
	writer->any = true;
}

static void put_text(struct writer *writer, const char *key, const char *text)
{
	put(writer, key, SPAN(""));
	buf_char(writer->out, '"');
	buf_str(writer->out, text);
	buf_char(writer->out, '"');
}

/* _meta with serverInfo, and what `meta` (empty, or an object) has beside it. */
static void put_meta(struct writer *writer, const struct result_form *form, struct span meta)
{
	static const char info[] = "io.modelcontextprotocol/serverInfo";
	struct members members = { .rest = meta };
	struct writer inner = { .out = writer->out };
	struct span key, value;
	bool named = false;

	put(writer, "_meta", SPAN(""));
	while (members_next(&members, &key, &value)) {
		buf_char(inner.out, inner.any ? ',' : '{');
		inner.any = true;
		buf_append(inner.out, key.data - 1, key.len + 2);
		buf_char(inner.out, ':');
		buf_span(inner.out, value);
		named = named || span_eq(key, span_str(info));
	}
	if (!named)
		put(&inner, info, form->server_info);
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

static bool copy_member(struct writer *writer, const struct result_form *form, struct own *own,
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

static void put_extras(struct writer *writer, const struct result_form *form,
                       const struct own *own)
{
	if (!own->type)
		put_text(writer, "resultType", form->complete ? "complete" : "input_required");
	if (form->cache_scope && !own->ttl)
		put(writer, "ttlMs", span_str(cache_ttl));
	if (form->cache_scope && !own->scope)
		put_text(writer, "cacheScope", form->cache_scope);
	put_meta(writer, form, own->meta);
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
	while (members_next(&members, &key, &value)) {
		if (!copy_member(&writer, form, &own, key, value))
			return false;
	}
	if (!members_ended(&members))
		return false;
	if (form->version->result_type)
		put_extras(&writer, form, &own);
	if (!writer.any)
		buf_char(out, '{');
	return buf_char(out, '}');
}
