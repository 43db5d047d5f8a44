/* SPDX-License-Identifier: Apache-2.0 */
/* /mcp: lists servers and what they offer; enables, disables and restarts them. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "front/command/private.h"

static const char *mcp_member(const json_t *row, const char *name)
{
	const char *text = json_string_value(json_object_get(row, name));

	return text ? text : "";
}

/* ---- what there is --------------------------------------------------------------- */

/* How much is listed of each server: its tools' names, what they say of themselves, how they are
 * called. */
enum mcp_detail { MCP_NAMES, MCP_DESCRIPTIONS, MCP_SCHEMAS };

/* What a server offers besides tools. */
static void mcp_offers(struct command_call *call, const json_t *server, enum mcp_detail detail)
{
	const struct span said = json_span(json_object_get(server, "instructions"));
	size_t i;
	json_t *prompt;

	json_array_foreach(json_object_get(server, "prompts"), i, prompt) {
		command_say(call, STYLE(ROLE_DIM), "    prompt %s", mcp_member(prompt, "name"));
		if (detail != MCP_NAMES)
			command_text(call, STYLE(ROLE_DIM),
			             json_span(json_object_get(prompt, "description")));
	}
	if (said.len && detail != MCP_NAMES) {
		command_say(call, STYLE(ROLE_DIM), "    instructions");
		command_text(call, STYLE(ROLE_DIM), said);
	}
}

/* The last that a server logged. */
static void mcp_logged(struct command_call *call, const json_t *server)
{
	size_t i;
	json_t *message;

	json_array_foreach(json_object_get(server, "log"), i, message) {
		const char *logger = mcp_member(message, "logger");

		command_say(call, STYLE(ROLE_DIM), "    log: %s%s%s: %s",
		            mcp_member(message, "level"), *logger ? " of " : "", logger,
		            mcp_member(message, "text"));
	}
}

/* As the user would type them behind an @. */
static void mcp_resources(struct command_call *call, const json_t *server, const char *list,
                          const char *member, enum mcp_detail detail)
{
	size_t i;
	json_t *one;

	json_array_foreach(json_object_get(server, list), i, one) {
		command_say(call, STYLE(ROLE_DIM), "    @%s:%s", mcp_member(server, "name"),
		            mcp_member(one, member));
		if (detail != MCP_NAMES)
			command_text(call, STYLE(ROLE_DIM),
			             json_span(json_object_get(one, "description")));
	}
}

static void mcp_tool(struct command_call *call, const json_t *server, const json_t *tool,
                     enum mcp_detail detail)
{
	_cleanup_buf_ struct buf schema = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_free_ char *exact = mem_printf("mcp_%s_%s", mcp_member(server, "name"),
	                                        mcp_member(tool, "tool"));

	/* What the server calls it, where the name does not show it. */
	if (strcmp(exact, mcp_member(tool, "name")) == 0)
		command_say(call, STYLE(ROLE_DIM), "    %s", mcp_member(tool, "name"));
	else
		command_say(call, STYLE(ROLE_DIM), "    %s (tool \"%s\")",
		            mcp_member(tool, "name"), mcp_member(tool, "tool"));
	if (detail != MCP_NAMES)
		command_text(call, STYLE(ROLE_DIM),
		             json_span(json_object_get(tool, "description")));
	if (detail == MCP_SCHEMAS && json_print(&schema, json_object_get(tool, "parameters"), 2))
		command_text(call, STYLE(ROLE_DIM), buf_view(&schema));
}

static void mcp_server(struct command_call *call, const json_t *server, enum mcp_detail detail)
{
	const json_t *tools = json_object_get(server, "tools");
	const json_t *problem = json_object_get(server, "problem");
	const size_t count = json_array_size(tools);
	_cleanup_free_ char *line = mem_printf(
		"%s, %zu %s (%s %s, from %s)", mcp_member(server, "state"), count,
		count == 1 ? "tool" : "tools", mcp_member(server, "transport"),
		mcp_member(server, "what"), mcp_member(server, "origin"));
	size_t i;
	json_t *tool;

	command_term(call, mcp_member(server, "name"), 24, span_str(line), STYLE(ROLE_TEXT));
	if (problem)
		command_text(call, STYLE(ROLE_DIM), json_span(problem));
	json_array_foreach(tools, i, tool)
		mcp_tool(call, server, tool, detail);
	mcp_resources(call, server, "resources", "uri", detail);
	mcp_resources(call, server, "resourceTemplates", "uriTemplate", detail);
	mcp_offers(call, server, detail);
	if (detail != MCP_NAMES)
		mcp_logged(call, server);
}

/* All of them, or those of this name, if it is not empty. */
static void mcp_list(struct command_call *call, struct span name, enum mcp_detail detail)
{
	json_auto_t *servers = host_servers(call->context->host);
	const size_t before = call->result->rows.count;
	size_t i;
	json_t *server;

	if (!json_array_size(servers)) {
		command_say(call, STYLE(ROLE_TEXT),
		            "There are no MCP servers (mcpServers in the settings); hasp can be "
		            "one itself (hasp serve mcp).");
		return;
	}
	command_heading(call, "MCP servers");
	json_array_foreach(servers, i, server)
		if (!name.len || command_word_is(name, mcp_member(server, "name")))
			mcp_server(call, server, detail);
	if (call->result->rows.count == before + 1)
		command_fail(call, "There is no MCP server \"%.*s\"; /mcp lists them.",
		             (int)name.len, name.data);
	call->result->pager = detail != MCP_NAMES;
}

static void mcp_show_names(struct command_call *call)
{
	mcp_list(call, call->arguments, MCP_NAMES);
}

static void mcp_show_descriptions(struct command_call *call)
{
	mcp_list(call, call->arguments, MCP_DESCRIPTIONS);
}

static void mcp_show_schemas(struct command_call *call)
{
	mcp_list(call, call->arguments, MCP_SCHEMAS);
}

/* ---- what changes it ------------------------------------------------------------- */

/* The name, which may have blanks in it, before or behind the flag. */
static struct span mcp_name(struct span arguments, bool *ret_session)
{
	static const struct span flag = SPAN("--session");
	struct span rest = arguments, word = command_word(&rest);

	*ret_session = true;
	if (span_eq(word, flag))
		return rest;
	if (span_ends(arguments, SPAN(" --session")))
		return span_trim(span_head(arguments, arguments.len - flag.len));
	*ret_session = false;
	return arguments;
}

static void mcp_switch(struct command_call *call, bool use)
{
	bool session;
	const struct span given = mcp_name(call->arguments, &session);
	_cleanup_free_ char *name = mem_dup(given.data, given.len);
	struct err err = ERR_INIT;

	if (!given.len) {
		command_usage(call);
	} else if (!host_server_switch(call->context->host, name, use, session, &err)) {
		command_fail(call, "%s", err.message);
	} else {
		command_say(call, STYLE(ROLE_TEXT), "The MCP server \"%s\" is %s%s.", name,
		            use ? "enabled" : "disabled",
		            session ? " for this session" : "");
		mcp_list(call, given, MCP_NAMES);
	}
}

static void mcp_enable(struct command_call *call)
{
	mcp_switch(call, true);
}

static void mcp_disable(struct command_call *call)
{
	mcp_switch(call, false);
}

static void mcp_reload(struct command_call *call)
{
	struct err err = ERR_INIT;

	if (!host_servers_reload(call->context->host, &err))
		command_fail(call, "%s", err.message);
	else
		mcp_list(call, SPAN(""), MCP_NAMES);
}

/* Those where only the user can log in. */
static void mcp_list_logins(struct command_call *call)
{
	json_auto_t *servers = host_servers(call->context->host);
	size_t count = 0, i;
	json_t *server;

	json_array_foreach(servers, i, server) {
		if (!json_object_get(server, "login"))
			continue;
		if (!count++)
			command_heading(call, "MCP servers that want a login");
		command_term(call, mcp_member(server, "name"), 24,
		             json_span(json_object_get(server, "what")), STYLE(ROLE_TEXT));
	}
	command_say(call, STYLE(ROLE_TEXT), count ? "/mcp auth NAME logs in." :
	            "No MCP server asks for a login. /mcp auth NAME tries one.");
}

static void mcp_auth(struct command_call *call)
{
	_cleanup_free_ char *name = mem_dup(call->arguments.data, call->arguments.len);
	struct err err = ERR_INIT;

	if (!call->arguments.len) {
		mcp_list_logins(call);
	} else if (!host_server_login(call->context->host, name, &err)) {
		command_fail(call, "%s", err.message);
	} else {
		command_say(call, STYLE(ROLE_TEXT), "The MCP server \"%s\" answers: the login "
		            "holds, or none is needed.", name);
		mcp_list(call, call->arguments, MCP_NAMES);
	}
}

/* ---- the table ------------------------------------------------------------------- */

static const struct mcp_action {
	const char *name, *aliases[3];
	command_handler *run;
	bool works; /* it changes what the session has: not while a prompt is under way */
} mcp_actions[] = {
	{ "list", { "ls", "nodesc", NULL }, mcp_show_names, false },
	{ "desc", { "description", NULL }, mcp_show_descriptions, false },
	{ "schema", { NULL }, mcp_show_schemas, false },
	{ "auth", { NULL }, mcp_auth, true },
	{ "enable", { NULL }, mcp_enable, true },
	{ "disable", { NULL }, mcp_disable, true },
	{ "reload", { "refresh", NULL }, mcp_reload, true },
};

static const struct mcp_action *mcp_action_of(struct span word)
{
	for (size_t i = 0; i < ARRAY_LEN(mcp_actions); i++) {
		const struct mcp_action *action = &mcp_actions[i];

		if (command_word_is(word, action->name))
			return action;
		for (const char *const *alias = action->aliases; *alias; alias++)
			if (command_word_is(word, *alias))
				return action;
	}
	return NULL;
}

bool command_mcp_works(struct span arguments)
{
	const struct mcp_action *action = mcp_action_of(command_word(&arguments));

	return action && action->works;
}

void command_mcp(struct command_call *call)
{
	const struct span word = command_word(&call->arguments);
	const struct mcp_action *action = mcp_action_of(word);

	(action ? action : &mcp_actions[0])->run(call);
}

static void complete_server_names(struct command_completion *completion,
                                  const struct mcp_action *action)
{
	json_auto_t *servers = host_servers(completion->context->host);
	size_t i;
	json_t *server;

	json_array_foreach(servers, i, server) {
		const char *state = mcp_member(server, "state");
		const bool off = !strcmp(state, "disabled");

		if (!action->works || off == (action->run == mcp_enable))
			completion->add(completion, mcp_member(server, "name"), state);
	}
}

void command_complete_mcp(struct command_completion *completion)
{
	struct span before = completion->before;
	const struct mcp_action *action = mcp_action_of(command_word(&before));

	if (action && (!before.len || span_eq(before, SPAN("--session"))))
		complete_server_names(completion, action);
	if (action && (action->run == mcp_enable || action->run == mcp_disable) &&
	    !span_ends(before, SPAN("--session")))
		completion->add(completion, "--session", "For this session only");
}
