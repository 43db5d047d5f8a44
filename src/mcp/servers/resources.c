/* SPDX-License-Identifier: Apache-2.0 */
/* Resources of servers: which there are, what one says, and the two tools by which a model gets at
 * them (Gemini CLI's names and parameters). */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/declared/declared.h"
#include "mcp/servers/entry.h"
#include "mcp/servers/slots.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/web.h"

enum { LIST_BYTES = 64 << 10 }; /* of list_mcp_resources */

/* ---- which there are ---- */

static void add_offered(json_t *list, struct mcp_server_slot *server, const char *member)
{
	json_auto_t *offers = mcp_server_offers(server);
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(offers, member), i, one) {
		json_t *own = json_copy(one);

		json_object_set_new(own, "server",
		                    json_text(span_str(mcp_server_entry_of(server)->name)));
		json_array_append_new(list, own);
	}
}

json_t *mcp_servers_resources(struct mcp_servers *servers)
{
	json_t *list = json_array();
	struct mcp_server_slot *server;

	for (size_t i = 0; (server = mcp_servers_at(servers, i)); i++)
		add_offered(list, server, "resources");
	for (size_t i = 0; (server = mcp_servers_at(servers, i)); i++)
		add_offered(list, server, "resourceTemplates");
	return list;
}

static bool some_server_has_resources(struct mcp_servers *servers)
{
	json_auto_t *all = mcp_servers_resources(servers);

	return json_array_size(all) > 0;
}

/* ---- which one is meant ---- */

/* Whether a template (RFC 6570) can have become this address: its literal pieces stand there in
 * order, with something between them, but for parts that may be missing ({?x}). */
static bool template_fits(struct span template, struct span uri)
{
	while (template.len) {
		const char *open = memchr(template.data, '{', template.len);
		const size_t len = open ? (size_t)(open - template.data) : template.len;
		const char *close, *next, *at;
		struct span piece;
		size_t least;

		if (!span_starts(uri, span_head(template, len)))
			return false;
		template = span_skip(template, len);
		uri = span_skip(uri, len);
		if (!template.len)
			return !uri.len;
		close = memchr(template.data, '}', template.len);
		if (!close)
			return false;
		least = strchr("?&#/;", template.data[1]) ? 0 : 1;
		template = span_skip(template, (size_t)(close - template.data) + 1);
		next = memchr(template.data, '{', template.len);
		piece = next ? span_head(template, (size_t)(next - template.data)) : template;
		if (uri.len < least + piece.len)
			return false;
		if (!template.len)
			return true;
		if (!next)
			return span_ends(uri, piece);
		uri = span_skip(uri, least);
		at = piece.len ? memmem(uri.data, uri.len, piece.data, piece.len) : uri.data;
		if (!at)
			return false;
		uri = span_skip(uri, (size_t)(at - uri.data));
	}
	return !uri.len;
}

static bool resource_is_offered(const json_t *offers, struct span uri)
{
	json_t *one;
	size_t i;

	for (size_t k = 0; k < uri.len; k++)
		if ((unsigned char)uri.data[k] <= ' ' || uri.data[k] == 0x7f)
			return false;
	json_array_foreach(json_object_get(offers, "resources"), i, one)
		if (span_eq(json_span(json_object_get(one, "uri")), uri))
			return true;
	json_array_foreach(json_object_get(offers, "resourceTemplates"), i, one)
		if (template_fits(json_span(json_object_get(one, "uriTemplate")), uri))
			return true;
	return false;
}

/* The server of "SERVER:URI", or with `bare` of an address that one offers; NULL: there is none.
 * *ret_uri is borrowed from `name`. */
static struct mcp_server_slot *resource_server(struct mcp_servers *servers, const char *name,
                                               bool bare, const char **ret_uri)
{
	struct mcp_server_slot *server;

	for (size_t i = 0; (server = mcp_servers_at(servers, i)); i++) {
		const char *own = mcp_server_entry_of(server)->name;
		const size_t len = strlen(own);
		json_auto_t *offers = mcp_server_offers(server);

		if (strncmp(name, own, len) != 0 || name[len] != ':')
			continue;
		*ret_uri = name + len + 1;
		if (resource_is_offered(offers, span_str(*ret_uri)))
			return server;
	}
	for (size_t i = 0; bare && (server = mcp_servers_at(servers, i)); i++) {
		json_auto_t *offers = mcp_server_offers(server);

		*ret_uri = name;
		if (resource_is_offered(offers, span_str(name)))
			return server;
	}
	return NULL;
}

bool mcp_servers_has_resource(struct mcp_servers *servers, const char *name)
{
	const char *uri;

	return resource_server(servers, name, false, &uri) != NULL;
}

/* ---- what one says ---- */

static bool resource_read(struct mcp_server_slot *server, const char *uri,
                          const struct cancel *cancel, json_t **ret, struct err *err)
{
	json_auto_t *params = json_pack("{s:s}", "uri", uri);
	json_auto_t *result = NULL;
	const struct server_entry *entry = mcp_server_entry_of(server);
	const struct mcp_wait wait = { .timeout_ms = entry->timeout_ms, .cancel = cancel };
	struct mcp_client *client;
	bool ok;

	if (!mcp_server_client(server, cancel, &client, err))
		return false;
	/* Before it is read: no change is missed. */
	mcp_server_watch(server, client, uri, &wait);
	ok = mcp_client_ask(client, "resources/read", params, &wait, &result, err);
	mcp_server_called(server, client, ok);
	mcp_client_unref(client);
	if (ok && !json_is_array(json_object_get(result, "contents")))
		ok = err_set(err, ERR_TOOL_FAILED,
		             "The MCP server \"%s\" answered resources/read without contents.",
		             entry->name);
	if (ok)
		*ret = mcp_resource_result(entry->name, result);
	return ok;
}

static bool resource_missing(const char *name, struct err *err)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(8 * 200);

	name_line(&shown, utf8_head(span_str(name), 200));
	return err_set(err, ERR_FILE_NOT_FOUND,
	               "No MCP server offers the resource \"%s\"; list_mcp_resources has those "
	               "that there are.", shown.len ? shown.data : "");
}

bool mcp_servers_resource(struct mcp_servers *servers, const char *name,
                          const struct cancel *cancel, json_t **ret, struct err *err)
{
	const char *uri;
	struct mcp_server_slot *server = resource_server(servers, name, false, &uri);

	return server ? resource_read(server, uri, cancel, ret, err) : resource_missing(name, err);
}

json_t *mcp_servers_updated(struct mcp_servers *servers)
{
	json_t *list = json_array();
	struct mcp_server_slot *server;

	for (size_t i = 0; (server = mcp_servers_at(servers, i)); i++) {
		json_auto_t *updated = mcp_server_updated(server);
		const char *uri;
		json_t *yes;

		json_object_foreach(updated, uri, yes) {
			_cleanup_free_ char *name = mem_printf(
				"%s:%s", mcp_server_entry_of(server)->name, uri);

			json_array_append_new(list, json_text(span_str(name)));
		}
	}
	return list;
}

/* ---- list_mcp_resources ---- */

static const char list_description[] =
	"Lists the resources that MCP servers offer, as SERVER:URI with what the server says of "
	"each. Read one with read_mcp_resource.";

/* clang-format off */
static const char list_schema[] = SCHEMA(
{"type": "object", "additionalProperties": false, "properties": {
	"serverName": {"type": "string", "description": "Only those of this server."}}} );

static const char resource_result_schema[] = SCHEMA(
{"type": "object", "properties": {
	"output": {"type": ["string", "array"]},
	"output_cut": {"type": "boolean"},
	"success": {"const": false},
	"message": {"type": "string"}, )
	RESULT_ERROR SCHEMA(}} );
/* clang-format on */

/* False: there is no room for it. */
static bool put_listed(struct buf *out, const json_t *one)
{
	static const char *const members[] = { "name", "title", "mimeType", "description" };
	const size_t before = out->len;
	const json_t *template = json_object_get(one, "uriTemplate");
	const json_t *uri = template ? template : json_object_get(one, "uri");
	bool any = false;

	name_line(out, json_span(json_object_get(one, "server")));
	buf_char(out, ':');
	buf_span(out, json_span(uri));
	buf_str(out, template ? " (fill in what stands in braces)" : "");
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const struct span text = json_span(json_object_get(one, members[i]));

		if (!text.len)
			continue;
		buf_str(out, any ? "; " : " - ");
		name_line(out, text);
		any = true;
	}
	buf_char(out, '\n');
	if (!out->overflowed)
		return true;
	out->len = before;
	out->overflowed = false;
	return false;
}

static json_t *list_resources_run(struct session *session, const struct tool *tool,
                                  const json_t *arguments)
{
	json_auto_t *all = mcp_servers_resources(tool->data);
	const json_t *only = json_object_get(arguments, "serverName");
	_cleanup_buf_ struct buf out = BUF_INIT(LIST_BYTES);
	json_t *one, *result = json_object();
	bool cut = false;
	size_t i;

	(void)session;
	json_array_foreach(all, i, one)
		if (!only || json_equal(only, json_object_get(one, "server")))
			cut = !put_listed(&out, one) || cut;
	if (out.len)
		json_object_set_new(result, "output", web_untrusted_json(buf_view(&out)));
	else
		json_object_set_new(result, "output", json_string("There are none."));
	if (cut)
		json_object_set_new(result, "output_cut", json_true());
	return result;
}

/* ---- read_mcp_resource ---- */

static const char read_description[] =
	"Reads a resource of an MCP server. You are notified when one that you have read changes.";

/* clang-format off */
static const char read_schema[] = SCHEMA(
{"type": "object", "additionalProperties": false, "required": ["uri"], "properties": {
	"uri": {"type": "string", "minLength": 1, "maxLength": 4000, "description":
		"SERVER:URI as list_mcp_resources has it, or the URI alone."}}} );
/* clang-format on */

static json_t *read_resource_run(struct session *session, const struct tool *tool,
                                 const json_t *arguments)
{
	const char *name = argument_str(arguments, "uri"), *uri;
	struct mcp_server_slot *server = resource_server(tool->data, name, true, &uri);
	json_t *result = NULL;
	struct err err = ERR_INIT;

	session_wait_begin(session);
	if (!server)
		resource_missing(name, &err);
	else if (!resource_read(server, uri, session->hooks.cancel, &result, &err))
		result = NULL;
	session_wait_end(session);
	if (result)
		return result;
	result = mcp_failure(&err);
	if (!server)
		json_object_set_new(json_object_get(result, "error"), "type",
		                    json_string("mcp_resource_not_found"));
	return result;
}

/* ---- a set of them ---- */

static void resource_tool_free(struct tool *tool)
{
	free(tool);
}

static size_t add_resource_tool(struct mcp_servers *servers, struct tool_set *set,
                                const struct tool *row)
{
	struct tool *tool;
	struct err ignored = ERR_INIT;

	if (tool_set_find(set, row->name))
		return 0;
	tool = mem_alloc(1, sizeof(*tool));
	*tool = *row;
	tool->data = servers;
	if (tool_set_add(set, tool, resource_tool_free, &ignored))
		return 1;
	free(tool);
	return 0;
}

size_t mcp_resource_tools_add(struct mcp_servers *servers, struct tool_set *set)
{
	static const struct tool list = {
		.info = &tool_infos[TOOL_LIST_MCP_RESOURCES],
		.name = "list_mcp_resources",
		.title = "List MCP resources",
		.description = list_description,
		.arguments_schema = list_schema,
		.result_schema = resource_result_schema,
		.run_as = list_resources_run,
	};
	static const struct tool read = {
		.info = &tool_infos[TOOL_READ_MCP_RESOURCE],
		.name = "read_mcp_resource",
		.title = "Read MCP resource",
		.description = read_description,
		.arguments_schema = read_schema,
		.result_schema = resource_result_schema,
		.run_as = read_resource_run,
	};

	if (!some_server_has_resources(servers))
		return 0;
	return add_resource_tool(servers, set, &list) + add_resource_tool(servers, set, &read);
}
