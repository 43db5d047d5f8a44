/* SPDX-License-Identifier: Apache-2.0 */
/* Tools of servers as rows of a set, and calls of them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/declared/declared.h"
#include "mcp/servers/entry.h"
#include "mcp/servers/slots.h"
#include "tool/builtin/builtin.h"
#include "tool/tool.h"

enum { LEFT_OUT_REPORTED = 5 }; /* of one server's tools */

/* ---- calls ---- */

/* clang-format off */
static const char server_result_schema[] = SCHEMA(
{"type": "object", "properties": {
	"output": {"type": ["string", "array"]},
	"structured": {"type": "string"},
	"output_cut": {"type": "boolean"},
	"denials": {"type": "array"},
	"success": {"const": false},
	"message": {"type": "string"}, )
	RESULT_ERROR SCHEMA(}} );
/* clang-format on */

struct server_tool {
	struct tool tool; /* first */
	struct mcp_server_slot *server;
	char *name, *description, *server_name, *identity; /* owned */
	const char *own_name;                   /* of the declaration, as all else */
	json_t *declaration;
};

/* A server that was started by this call may declare the tool otherwise than the one that was asked
 * about. */
static bool is_as_allowed(const struct server_tool *own, struct err *err)
{
	struct tool_change change;
	const bool changed = mcp_server_tool_changed(own->server, own->declaration, &change);

	tool_change_release(&change);
	return !changed ||
	       err_set(err, ERR_DENIED_BY_POLICY,
	               "The MCP server \"%s\" declares this tool otherwise since it was started "
	               "for this call; it was not called. Call it again to have the user asked.",
	               own->server_name);
}

/* One try. NULL: *err, and whether another client may try it. */
static json_t *call_once(struct session *session, const struct server_tool *own,
                         const json_t *arguments, bool *ret_forgotten, json_t **ret_denials,
                         struct err *err)
{
	const struct mcp_wait wait = {
		.timeout_ms = mcp_server_entry_of(own->server)->timeout_ms,
		.cancel = session->hooks.cancel,
		.progress = session->hooks.reported,
		.data = session->hooks.data,
	};
	struct mcp_client *client;
	json_t *result = NULL;
	size_t from = 0;
	bool ok;

	*ret_forgotten = false;
	if (!mcp_server_client(own->server, session->hooks.cancel, &client, err))
		return NULL;
	if (!is_as_allowed(own, err)) {
		mcp_client_unref(client);
		return NULL;
	}
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
		json_auto_t *alone = json_pack("[O]", denial);
		_cleanup_free_ char *how = mcp_denials_remedy(own->server_name, alone, false);

		json_object_del(denial, "how_to_allow");
		if (how)
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

	session_wait_begin(session);
	answer = call_once(session, own, arguments, &again, &denials, &err);
	if (!answer && again) {
		err = (struct err)ERR_INIT;
		answer = call_once(session, own, arguments, &again, &denials, &err);
	}
	session_wait_end(session);
	result = answer ? mcp_result(own->server_name, own->own_name, answer) :
	                  mcp_failure(&err);
	put_denials(own, denials, result);
	return result;
}

static bool declared_tool_changed(const struct tool *tool, struct tool_change *ret)
{
	const struct server_tool *own = (const struct server_tool *)tool;

	return mcp_server_tool_changed(own->server, own->declaration, ret);
}

static void declared_tool_allowed(const struct tool *tool, const struct tool_change *change)
{
	const struct server_tool *own = (const struct server_tool *)tool;

	mcp_server_tool_allowed(own->server, own->declaration, change);
}

static void declared_tool_free(struct tool *tool)
{
	struct server_tool *own = (struct server_tool *)tool;

	free(own->name);
	free(own->description);
	free(own->server_name);
	free(own->identity);
	json_decref(own->declaration);
	free(own);
}

/* `name`: as models know it; its new owner is the tool. */
static struct tool *declared_tool(struct mcp_server_slot *server, const json_t *declaration,
                                  char *name)
{
	const char *title = json_string_value(json_object_get(declaration, "title"));
	const char *description =
		json_string_value(json_object_get(declaration, "description"));
	struct server_tool *own = mem_alloc(1, sizeof(*own));

	own->server = server;
	own->server_name = mem_strdup(mcp_server_entry_of(server)->name);
	own->identity = mem_strdup(mcp_server_entry_of(server)->identity);
	own->name = name;
	own->declaration = json_incref((json_t *)declaration);
	own->own_name = json_string_value(json_object_get(declaration, "name"));
	title = title && *title ? title : own->own_name;
	if (!description || !*description)
		own->description = mem_printf("The tool \"%s\" of the MCP server \"%s\".", title,
		                              own->server_name);
	own->tool = (struct tool){
		.name = own->name,
		.title = title,
		.description = own->description ? own->description : description,
		.arguments_schema = json_string_value(json_object_get(declaration, "inputSchema")),
		.result_schema = server_result_schema,
		.run_as = server_tool_run,
		.server = own->server_name,
		.server_tool = own->own_name,
		.server_identity = own->identity,
		.annotations = json_object_get(declaration, "annotations"),
		.changed = declared_tool_changed,
		.allowed = declared_tool_allowed,
	};
	return &own->tool;
}

/* ---- a set of them ---- */

static size_t add_declared_tools(struct mcp_server_slot *server, struct tool_set *set)
{
	json_auto_t *declarations = mcp_server_tools(server);
	const char *server_name = mcp_server_entry_of(server)->name;
	size_t added = 0, reported = 0, i;
	json_t *declaration;

	json_array_foreach(declarations, i, declaration) {
		const char *own = json_string_value(json_object_get(declaration, "name"));
		char *name = mcp_server_tool_name(server, own);
		const struct tool *there = tool_set_find(set, name);
		struct err why = ERR_INIT;
		struct tool *tool;

		/* Another server's tool that came before this server was known. */
		if (there && there->server && strcmp(there->server, server_name)) {
			free(name);
			name = mcp_declaration_other_name(server_name, own,
			                                  server->all->options.plain_names);
			there = tool_set_find(set, name);
		}

		if (there && there->server && !strcmp(there->server, server_name) &&
		    !strcmp(there->server_tool, own)) {
			free(name);
			continue;
		}
		tool = declared_tool(server, declaration, name);
		if (tool_set_add(set, tool, declared_tool_free, &why)) {
			added++;
		} else {
			if (reported++ < LEFT_OUT_REPORTED)
				mcp_server_tell(server, tool->server_tool, &why);
			declared_tool_free(tool);
		}
	}
	return added;
}

static bool is_withdrawn(void *data, const struct tool *tool)
{
	(void)data;
	return tool->run_as == server_tool_run &&
	       !mcp_server_is_used(((const struct server_tool *)tool)->server);
}

size_t mcp_servers_add(struct mcp_servers *servers, struct tool_set *set)
{
	size_t added = tool_set_withdraw(set, is_withdrawn, NULL);
	struct mcp_server_slot *server;

	for (size_t i = 0; (server = mcp_servers_at(servers, i)); i++)
		added += add_declared_tools(server, set);
	return added + mcp_resource_tools_add(servers, set);
}
