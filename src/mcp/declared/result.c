/* SPDX-License-Identifier: Apache-2.0 */
/* Results of servers, sanitized for a model: texts marked as untrusted, media whose bytes match
 * their declared type. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/declared/declared.h"
#include "tool/builtin/web.h"
#include "tool/tool.h"

enum {
	WORD_BYTES = 100,  /* of what a server calls something */
	LINK_BYTES = 2000, /* of a resource's address or name */
	FAILURE_SHOWN = 400,
};

/* Media by what they are, not by what a server calls them. */
static const struct {
	const char *mime;
	size_t at;
	const char *begin;
	size_t len;
} media_kinds[] = {
	{ "image/png", 0, "\x89PNG\r\n\x1a\n", 8 },
	{ "image/jpeg", 0, "\xff\xd8\xff", 3 },
	{ "image/gif", 0, "GIF8", 4 },
	{ "image/webp", 8, "WEBP", 4 },
	{ "application/pdf", 0, "%PDF-", 5 },
	{ "audio/wav", 8, "WAVE", 4 },
	{ "audio/mpeg", 0, "ID3", 3 },
	{ "audio/mpeg", 0, "\xff\xfb", 2 },
	{ "audio/ogg", 0, "OggS", 4 },
	{ "audio/flac", 0, "fLaC", 4 },
};

static int media_digit(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 :
	       ascii_is_digit(c) ? c - '0' + 52 : c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Whether all of it is base64 (RFC 4648, section 4); its first bytes go to `ret`. */
static bool base64_prefix(struct span text, unsigned char ret[static 12], size_t *ret_len)
{
	unsigned bits = 0, have = 0;

	*ret_len = 0;
	if (text.len % 4 || !text.len)
		return false;
	for (size_t i = 0; i < 2 && span_ends(text, SPAN("=")); i++)
		text.len--;
	for (size_t i = 0; i < text.len; i++) {
		const int digit = media_digit(text.data[i]);

		if (digit < 0)
			return false;
		bits = (bits << 6 | (unsigned)digit) & 0xfff;
		have += 6;
		if (have >= 8 && *ret_len < 12)
			ret[(*ret_len)++] = (unsigned char)(bits >> (have - 8));
		have = have >= 8 ? have - 8 : have;
	}
	return true;
}

const char *mcp_media_mime(struct span data)
{
	unsigned char begin[12];
	size_t len;

	if (data.len > LIMIT_MEDIA_BYTES || !base64_prefix(data, begin, &len))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(media_kinds); i++)
		if (media_kinds[i].at + media_kinds[i].len <= len &&
		    !memcmp(begin + media_kinds[i].at, media_kinds[i].begin, media_kinds[i].len))
			return media_kinds[i].mime;
	return NULL;
}

struct result_parts {
	json_t *parts;      /* texts and media, in their order */
	size_t bytes;       /* of texts */
	size_t media_bytes;
	bool cut;
};

static void put_text_part(struct result_parts *into, struct span text)
{
	const struct span head = utf8_head(text, LIMIT_MCP_RESULT_BYTES - into->bytes);

	into->cut = into->cut || head.len < text.len;
	into->bytes += head.len;
	if (head.len || !text.len)
		json_array_append_new(into->parts, json_pack("{s:s, s:o}", "type", "text", "text",
		                                             web_untrusted_json(head)));
}

/* Bytes in base64, of an image, a sound, a resource. */
static void put_media_part(struct result_parts *into, const json_t *data, const json_t *said)
{
	const struct span bytes = json_span(data);
	const char *mime = mcp_media_mime(bytes);
	_cleanup_free_ char *note = NULL;
	struct span shown = utf8_head(json_span(said), WORD_BYTES);

	if (mime && bytes.len <= LIMIT_MEDIA_BYTES - into->media_bytes) {
		into->media_bytes += bytes.len;
		json_array_append_new(into->parts, json_pack("{s:s, s:O}", "mime_type", mime,
		                                             "data", data));
		return;
	}
	note = mem_printf("[%zu bytes in base64 that the server calls \"%.*s\" are left out: %s]",
	                  bytes.len, (int)shown.len, shown.data ? shown.data : "",
	                  mime ? "they are too many" : "no kind of media that is known");
	put_text_part(into, span_str(note));
}

static void put_resource_part(struct result_parts *into, const json_t *resource)
{
	const json_t *text = json_object_get(resource, "text");
	const struct span uri = utf8_head(json_span(json_object_get(resource, "uri")), LINK_BYTES);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES);

	if (!json_is_string(text)) {
		put_media_part(into, json_object_get(resource, "blob"),
		               json_object_get(resource, "mimeType"));
		return;
	}
	if (uri.len)
		buf_printf(&out, "%.*s\n\n", (int)uri.len, uri.data);
	buf_span(&out, json_span(text));
	put_text_part(into, buf_view(&out));
}

static void put_link_part(struct result_parts *into, const json_t *link)
{
	static const char *const members[] = { "uri", "name", "title", "mimeType", "description" };
	_cleanup_buf_ struct buf out = BUF_INIT(ARRAY_LEN(members) * (LINK_BYTES + 20));

	buf_str(&out, "A resource of the server:");
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const struct span text = utf8_head(json_span(json_object_get(link, members[i])),
		                                   LINK_BYTES);

		if (text.len)
			buf_printf(&out, "\n%s: %.*s", members[i], (int)text.len, text.data);
	}
	put_text_part(into, buf_view(&out));
}

static void put_part(struct result_parts *into, const json_t *block)
{
	const struct span type = json_span(json_object_get(block, "type"));

	if (span_eq(type, SPAN("text")))
		put_text_part(into, json_span(json_object_get(block, "text")));
	else if (span_eq(type, SPAN("image")) || span_eq(type, SPAN("audio")))
		put_media_part(into, json_object_get(block, "data"),
		               json_object_get(block, "mimeType"));
	else if (span_eq(type, SPAN("resource")))
		put_resource_part(into, json_object_get(block, "resource"));
	else if (span_eq(type, SPAN("resource_link")))
		put_link_part(into, block);
	else
		put_text_part(into, SPAN("[a block of a kind that hasp does not know]"));
}

/* ---- structured data ------------------------------------------------------------------ */

/* Most servers give the same twice: structuredContent, and its JSON as text for older clients; the
 * Python SDK also {"result": X} and X, or {"result": [...]} and a block for each element.  A model
 * then gets the texts alone. */

/* The JSON in a text that may stand between words and a fence. */
static bool text_has_json(struct span text, const json_t *value)
{
	const char open = json_is_object(value) ? '{' : '[', close = open == '{' ? '}' : ']';
	const char *first = text.len ? memchr(text.data, open, text.len) : NULL;
	const char *last = text.len ? memrchr(text.data, close, text.len) : NULL;
	json_auto_t *found = NULL;
	struct err ignored = ERR_INIT;

	return first && last && first < last &&
	       json_parse_foreign(span_of(first, (size_t)(last - first) + 1), JSON_DEPTH_MAX,
	                          &found, NULL, &ignored) &&
	       json_equal(found, (json_t *)value);
}

static bool text_has(struct span text, const json_t *value)
{
	const struct span string = json_span(value);
	_cleanup_buf_ struct buf out = BUF_INIT(WORD_BYTES);

	if (json_is_object(value) || json_is_array(value))
		return text_has_json(text, value);
	if (json_is_string(value))
		return string.len ? string.len <= text.len &&
		                    memmem(text.data, text.len, string.data, string.len) :
		                    !text.len;
	return json_print(&out, value, 0) && span_eq(span_trim(text), buf_view(&out));
}

static struct span text_of_block(const json_t *content, size_t i)
{
	return json_span(json_object_get(json_array_get(content, i), "text"));
}

/* Whether a text has the value, or the texts one after the other the elements of the list. */
static bool texts_have(const json_t *content, const json_t *value)
{
	const size_t count = json_array_size(content), elements = json_array_size(value);
	size_t same = 0;

	for (size_t i = 0; i < count && i < LIMIT_MCP_RESULT_PARTS; i++)
		if (text_has(text_of_block(content, i), value))
			return true;
	while (same < elements && same < count && same < LIMIT_MCP_RESULT_PARTS &&
	       text_has(text_of_block(content, same), json_array_get(value, same)))
		same++;
	return elements && same == elements;
}

static bool is_said_by_texts(const json_t *content, const json_t *structured)
{
	const json_t *wrapped = json_object_size(structured) == 1 ?
	                                json_object_get(structured, "result") : NULL;

	return texts_have(content, structured) || (wrapped && texts_have(content, wrapped));
}

/* Takes the place of texts if there are none; else, if it contains more than they do, it is a
 * separate member, which shares the budget of an answer with them (tool/answer.h). */
static void put_structured(struct result_parts *into, const json_t *result, json_t *own)
{
	const json_t *structured = json_object_get(result, "structuredContent");
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES);
	struct span head;

	if (!structured || is_said_by_texts(json_object_get(result, "content"), structured))
		return;
	if (!json_print(&out, structured, 0)) {
		into->cut = true;
		return;
	}
	if (!json_array_size(into->parts)) {
		put_text_part(into, buf_view(&out));
		return;
	}
	head = utf8_head(buf_view(&out), LIMIT_MCP_RESULT_BYTES - into->bytes);
	into->cut = into->cut || head.len < out.len;
	json_object_set_new(own, "structured", web_untrusted_json(head));
}

/* Sets `output`: one text is the output itself; else a list. */
static void put_result_output(const json_t *result, json_t *own)
{
	const json_t *content = json_object_get(result, "content");
	struct result_parts into = { .parts = json_array() };
	json_t *block, *first;
	size_t i;

	json_array_foreach(content, i, block) {
		if (i >= LIMIT_MCP_RESULT_PARTS) {
			into.cut = true;
			break;
		}
		put_part(&into, block);
	}
	put_structured(&into, result, own);
	first = json_array_get(into.parts, 0);
	if (json_array_size(into.parts) == 1 && json_object_get(first, "text"))
		json_object_set(own, "output", json_object_get(first, "text"));
	else
		json_object_set(own, "output", into.parts);
	if (into.cut)
		json_object_set_new(own, "output_cut", json_true());
	json_decref(into.parts);
}

/* A failure with a sentence of hasp's, and a stranger's words at its end, marked as such. */
static json_t *failure_with(const struct err *err, struct span ours, struct span theirs)
{
	json_auto_t *marked = web_untrusted_line(theirs, FAILURE_SHOWN);
	json_t *failure = tool_failure(err);
	_cleanup_free_ char *message = mem_printf("%.*s%s", (int)ours.len, ours.data,
	                                          json_string_value(marked));

	json_object_set_new(failure, "message", json_utf8(span_str(message)));
	return failure;
}

static json_t *result_failure(const char *server, const char *tool, const json_t *result)
{
	const json_t *first = json_array_get(json_object_get(result, "content"), 0);
	json_auto_t *said = mcp_clean_text(json_object_get(first, "text"), FAILURE_SHOWN);
	struct err err = ERR_INIT;

	err_set(&err, ERR_TOOL_FAILED,
	        "The tool \"%s\" of the MCP server \"%s\" reported an error%s", tool, server,
	        json_string_length(said) ? ": " : ".");
	return json_string_length(said) ?
		failure_with(&err, span_str(err.message), json_span(said)) : tool_failure(&err);
}

json_t *mcp_failure(const struct err *err)
{
	const char *answered = strstr(err->message, MCP_ANSWERED_ERROR);
	const char *theirs = answered ? strstr(answered, ": ") : NULL;

	if (!theirs)
		return tool_failure(err);
	theirs += 2;
	return failure_with(err, span_of(err->message, (size_t)(theirs - err->message)),
	                    span_str(theirs));
}

json_t *mcp_result(const char *server, const char *tool, const json_t *result)
{
	const bool failed = json_is_true(json_object_get(result, "isError"));
	json_t *own = failed ? result_failure(server, tool, result) : json_object();

	put_result_output(result, own);
	return own;
}

json_t *mcp_resource_result(const char *server, const json_t *result)
{
	const json_t *contents = json_object_get(result, "contents"), *one;
	json_auto_t *blocks = json_array();
	json_auto_t *as_tools = json_pack("{s:O}", "content", blocks);
	size_t i;

	json_array_foreach((json_t *)contents, i, one)
		json_array_append_new(blocks, json_pack("{s:s, s:O}", "type", "resource",
		                                        "resource", one));
	return mcp_result(server, "", as_tools);
}
