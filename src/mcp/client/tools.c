/* SPDX-License-Identifier: Apache-2.0 */
/* Tools of servers as rows of a set: what they declare made fit for a model, calls, results. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/private.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/web.h"
#include "tool/tool.h"

enum {
	WORD_BYTES = 100,  /* of what a server calls something */
	LINK_BYTES = 2000, /* of a resource's address or name */
	FAILURE_SHOWN = 400,
	LEFT_OUT_TOLD = 5, /* of one server's tools */
};

/* ---- results ---- */

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
static bool base64_begins(struct span text, unsigned char ret[static 12], size_t *ret_len)
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

/* NULL: it is nothing that is sent to a model as what it is. */
static const char *media_mime(struct span data)
{
	unsigned char begin[12];
	size_t len;

	if (data.len > LIMIT_MEDIA_BYTES || !base64_begins(data, begin, &len))
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
	const char *mime = media_mime(bytes);
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

static void put_structured(struct result_parts *into, const json_t *structured)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES);

	if (structured && json_print(&out, structured, 0))
		put_text_part(into, buf_view(&out));
}

/* One text is the output itself; else a list. A new reference. */
static json_t *result_output(const json_t *result, bool *ret_cut)
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
	if (!json_array_size(into.parts))
		put_structured(&into, json_object_get(result, "structuredContent"));
	*ret_cut = into.cut;
	first = json_array_get(into.parts, 0);
	if (json_array_size(into.parts) == 1 && json_object_get(first, "text")) {
		json_t *text = json_incref(json_object_get(first, "text"));

		json_decref(into.parts);
		return text;
	}
	return into.parts;
}

static json_t *result_failure(const struct tool *tool, const json_t *result)
{
	const json_t *first = json_array_get(json_object_get(result, "content"), 0);
	json_auto_t *said = mcp_clean_text(json_object_get(first, "text"), FAILURE_SHOWN);
	struct err err = ERR_INIT;

	err_set(&err, ERR_TOOL_FAILED,
	        "The tool \"%s\" of the MCP server \"%s\" reported an error%s%s",
	        tool->server_tool, tool->server, json_string_length(said) ? ": " : ".",
	        json_string_value(said));
	return tool_failure(&err);
}

static json_t *call_result(const struct tool *tool, const json_t *result)
{
	const bool failed = json_is_true(json_object_get(result, "isError"));
	json_t *own = failed ? result_failure(tool, result) : json_object();
	bool cut;

	json_object_set_new(own, "output", result_output(result, &cut));
	if (cut)
		json_object_set_new(own, "output_cut", json_true());
	return own;
}

/* ---- calls ---- */

/* clang-format off */
static const char server_result_schema[] = SCHEMA(
{"type": "object", "properties": {
	"output": {"type": ["string", "array"]},
	"output_cut": {"type": "boolean"},
	"denials": {"type": "array"},
	"success": {"const": false},
	"message": {"type": "string"}, )
	RESULT_ERROR SCHEMA(}} );
/* clang-format on */

struct server_tool {
	struct tool tool; /* first */
	struct mcp_server_slot *server;
	char *name, *title, *description, *schema, *server_name, *own_name; /* owned */
	json_t *annotations;
};

/* One try. NULL: *err, and whether another client may try it. */
static json_t *call_once(struct session *session, const struct server_tool *own,
                         const json_t *arguments, bool *ret_forgotten, json_t **ret_denials,
                         struct err *err)
{
	const struct mcp_wait wait = {
		.timeout_ms = mcp_server_entry_of(own->server)->timeout_ms,
		.cancel = session->hooks.cancel,
		.progress = session->hooks.progress,
		.data = session->hooks.data,
	};
	struct mcp_client *client;
	json_t *result = NULL;
	size_t from = 0;
	bool ok;

	*ret_forgotten = false;
	if (!mcp_server_client(own->server, session->hooks.cancel, &client, err))
		return NULL;
	json_decref(mcp_client_denials(client, SIZE_MAX, &from));
	ok = mcp_client_call(client, own->own_name, arguments, &wait, &result, err);
	*ret_forgotten = mcp_client_forgotten(client);
	json_decref(*ret_denials);
	*ret_denials = mcp_client_denials(client, from, NULL);
	mcp_server_called(own->server, client, ok);
	mcp_client_unref(client);
	return ok ? result : NULL;
}

/* What would allow it is the server's settings. */
static void put_denials(const struct server_tool *own, json_t *denials, json_t *result)
{
	size_t i;
	json_t *denial;

	if (!json_array_size(denials))
		return;
	json_array_foreach(denials, i, denial) {
		const bool network = span_eq(json_span(json_object_get(denial, "kind")),
		                             SPAN("network"));
		_cleanup_free_ char *how = mem_printf(
			"the setting mcpServers.%s.sandbox.%s", own->server_name,
			network ? "network: true" : "write (or read), with the path");

		json_object_set_new(denial, "how_to_allow", json_text(span_str(how)));
	}
	json_object_set(result, "denials", denials);
}

static json_t *server_tool_run(struct session *session, const struct tool *tool,
                               const json_t *arguments)
{
	const struct server_tool *own = (const struct server_tool *)tool;
	json_auto_t *denials = NULL, *answer = NULL;
	struct err err = ERR_INIT;
	bool again = false;
	json_t *result;

	session_wait(session, true);
	answer = call_once(session, own, arguments, &again, &denials, &err);
	if (!answer && again) {
		err = (struct err)ERR_INIT;
		answer = call_once(session, own, arguments, &again, &denials, &err);
	}
	session_wait(session, false);
	result = answer ? call_result(tool, answer) : tool_failure(&err);
	put_denials(own, denials, result);
	return result;
}

static void declared_tool_free(struct tool *tool)
{
	struct server_tool *own = (struct server_tool *)tool;

	free(own->name);
	free(own->title);
	free(own->description);
	free(own->schema);
	free(own->server_name);
	free(own->own_name);
	json_decref(own->annotations);
	free(own);
}

static struct tool *declared_tool(struct mcp_server_slot *server, const json_t *declaration)
{
	const char *name = json_string_value(json_object_get(declaration, "name"));
	const char *title = json_string_value(json_object_get(declaration, "title"));
	const char *description =
		json_string_value(json_object_get(declaration, "description"));
	const json_t *schema = json_object_get(declaration, "inputSchema");
	struct server_tool *own = mem_alloc(1, sizeof(*own));
	_cleanup_buf_ struct buf text = BUF_INIT(8 * MCP_SCHEMA_BYTES);

	json_print(&text, schema, 0);
	own->server = server;
	own->server_name = mem_strdup(mcp_server_entry_of(server)->name);
	own->own_name = mem_strdup(name);
	own->name = mcp_server_tool_name(server, name);
	own->title = mem_strdup(title && *title ? title : name);
	own->description = description && *description ? mem_strdup(description) :
	                   mem_printf("The tool \"%s\" of the MCP server \"%s\".", own->title,
	                              own->server_name);
	own->schema = buf_steal(&text);
	own->annotations = json_incref(json_object_get(declaration, "annotations"));
	own->tool = (struct tool){
		.name = own->name,
		.title = own->title,
		.kind = TOOL_KIND_OTHER,
		.description = own->description,
		.arguments_schema = own->schema,
		.result_schema = server_result_schema,
		.run_as = server_tool_run,
		.server = own->server_name,
		.server_tool = own->own_name,
		.annotations = own->annotations,
	};
	return &own->tool;
}

/* ---- a set of them ---- */

static void tell_not_added(struct mcp_server_slot *server, const struct tool *tool,
                           const struct err *why, size_t *told)
{
	if ((*told)++ < LEFT_OUT_TOLD)
		mcp_server_tell(server, tool->server_tool, why);
}

static size_t add_declared_tools(struct mcp_server_slot *server, struct tool_set *set)
{
	json_auto_t *declarations = mcp_server_tools(server);
	size_t added = 0, told = 0, i;
	json_t *declaration;

	json_array_foreach(declarations, i, declaration) {
		struct tool *tool = declared_tool(server, declaration);
		const struct tool *there = tool_set_find(set, tool->name);
		struct err why = ERR_INIT;

		if (there && there->server && !strcmp(there->server, tool->server) &&
		    !strcmp(there->server_tool, tool->server_tool)) {
			declared_tool_free(tool);
		} else if (tool_set_add(set, tool, declared_tool_free, &why)) {
			added++;
		} else {
			tell_not_added(server, tool, &why, &told);
			declared_tool_free(tool);
		}
	}
	return added;
}

size_t mcp_servers_add(struct mcp_servers *servers, struct tool_set *set)
{
	struct mcp_server_slot *server;
	size_t added = 0;

	for (size_t i = 0; (server = mcp_servers_at(servers, i)); i++)
		added += add_declared_tools(server, set);
	return added;
}
