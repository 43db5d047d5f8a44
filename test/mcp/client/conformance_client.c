/* SPDX-License-Identifier: Apache-2.0 */
/* The client that the official conformance suite tests: its command line is the address of a
 * server; the suite names the scenario and its details in MCP_CONFORMANCE_SCENARIO and
 * MCP_CONFORMANCE_CONTEXT.  It lists the tools and calls them: those that the context names with
 * the arguments given there, or each once, with arguments made from its schema.
 *
 * $BROWSER is the user who logs in: a program that follows the address it gets.
 *
 * Only the scenario's user is here; everything on the wire is src/mcp/client's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/client.h"

static const struct mcp_wait wait = { .timeout_ms = 120000 };

static json_t *example_value(const json_t *schema)
{
	const struct span type = json_span(json_object_get(schema, "type"));

	if (json_object_get(schema, "default"))
		return json_incref(json_object_get(schema, "default"));
	if (span_eq(type, SPAN("number")) || span_eq(type, SPAN("integer")))
		return json_integer(3);
	if (span_eq(type, SPAN("boolean")))
		return json_true();
	if (span_eq(type, SPAN("object")))
		return json_object();
	return span_eq(type, SPAN("array")) ? json_array() : json_string("text");
}

/* A new object: a value for each property. For one that is named "schema", what the client got as
 * the first tool's, as the suite wants it. */
static json_t *example_arguments(const json_t *tool, const json_t *tools)
{
	json_t *first = json_object_get(json_array_get(tools, 0), "inputSchema");
	json_t *properties = json_object_get(json_object_get(tool, "inputSchema"), "properties");
	json_t *arguments = json_object(), *schema;
	const char *name;

	json_object_foreach(properties, name, schema)
		json_object_set_new(arguments, name, strcmp(name, "schema") ?
		                    example_value(schema) : json_incref(first));
	return arguments;
}

static bool call_tool(struct mcp_client *client, const char *tool, const json_t *arguments)
{
	json_auto_t *result = NULL;
	struct err err = ERR_INIT;

	if (mcp_client_call(client, tool, arguments, &wait, &result, &err))
		return true;
	fprintf(stderr, "%s: %s\n", tool, err.message);
	return false;
}

static bool call_named(struct mcp_client *client, const json_t *calls)
{
	bool ok = true;
	size_t i;
	json_t *call;

	json_array_foreach(calls, i, call)
		ok = call_tool(client, json_string_value(json_object_get(call, "name")),
		               json_object_get(call, "arguments")) && ok;
	return ok;
}

static bool call_each(struct mcp_client *client, const json_t *tools)
{
	bool ok = true;
	size_t i;
	json_t *tool;

	json_array_foreach(tools, i, tool) {
		json_auto_t *arguments = example_arguments(tool, tools);

		ok = call_tool(client, json_string_value(json_object_get(tool, "name")),
		               arguments) && ok;
	}
	return ok;
}

static bool play_scenario(struct mcp_client *client, const json_t *context, struct err *err)
{
	const char *scenario = getenv("MCP_CONFORMANCE_SCENARIO");
	const json_t *calls = json_object_get(context, "toolCalls");
	json_auto_t *tools = NULL;

	if (!mcp_client_list(client, MCP_TOOLS, &wait, &tools, err))
		return false;
	/* Its server has no tools/call. */
	if (scenario && !strcmp(scenario, "json-schema-ref-no-deref"))
		return true;
	if (calls ? call_named(client, calls) : call_each(client, tools))
		return true;
	return err_set(err, ERR_TOOL_FAILED, "A call failed.");
}

/* A person who agrees to what a form suggests. A new reference. */
static json_t *agree(void *data, const char *method, const json_t *params,
                     const struct cancel *cancel, struct err *err)
{
	json_t *form = json_object_get(json_object_get(params, "requestedSchema"), "properties");
	json_t *content = json_object(), *schema;
	const char *name;

	(void)data;
	(void)cancel;
	json_object_foreach(form, name, schema)
		json_object_set_new(content, name, example_value(schema));
	if (!strcmp(method, "elicitation/create"))
		return json_pack("{s:s, s:o}", "action", "accept", "content", content);
	json_decref(content);
	err_set(err, ERR_UNKNOWN_TOOL, "There is no such method.");
	return NULL;
}

static bool browse_login(void *data, const struct mcp_login *login, char **ret_pasted,
                         struct err *err)
{
	(void)data;
	(void)ret_pasted;
	return mcp_browser_open(login->url) ||
	       err_set(err, ERR_AUTHENTICATION_FAILED, "There is no browser.");
}

/* What a user would have in the settings. */
static struct mcp_auth *scenario_auth(const char *url, const json_t *context)
{
	const char *scenario = getenv("MCP_CONFORMANCE_SCENARIO");
	const bool alone = scenario && strstr(scenario, "client-credentials");
	json_auto_t *settings = json_pack(
		"{s:s, s:O*, s:O*, s:O*, s:s*}", "clientMetadataUrl",
		"https://conformance-test.local/client-metadata.json", "clientId",
		json_object_get(context, "client_id"), "clientSecret",
		json_object_get(context, "client_secret"), "privateKey",
		json_object_get(context, "private_key_pem"), "grantType",
		alone ? "client_credentials" : NULL);

	return mcp_auth_new(&(struct mcp_auth_options){ .name = "conformance", .url = url,
		                                        .settings = settings,
		                                        .login = browse_login });
}

int main(int argc, char **argv)
{
	const char *context_text = getenv("MCP_CONFORMANCE_CONTEXT");
	json_auto_t *context = context_text ? json_loads(context_text, 0, NULL) : NULL;
	json_auto_t *capabilities = json_pack("{s:{s:{}}}", "elicitation", "form");
	const struct mcp_client_options options = {
		.name = "conformance", .answer = agree, .capabilities = capabilities,
	};
	const struct mcp_address_options http = { .url = argv[argc - 1],
		                                  .auth = scenario_auth(argv[argc - 1], context) };
	struct mcp_client *client = NULL;
	struct err err = ERR_INIT;
	bool ok;

	ok = argc == 2 && mcp_client_open_http(&options, &http, &wait, &client, &err) &&
	     play_scenario(client, context, &err);
	mcp_client_unref(client);
	mcp_auth_free(http.auth);
	if (!ok)
		fprintf(stderr, "%s\n", argc == 2 ? err.message : "usage: conformance_client URL");
	return !ok;
}
