/* SPDX-License-Identifier: Apache-2.0 */
/* hasp mcp add, remove, enable, disable: changes MCP servers in the settings. */
#include <stdlib.h>
#include <string.h>

#include "agent/setup/prepare.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command/private.h"
#include "cli/options/invocation.h"
#include "cli/view/agent_output.h"
#include "cli/view/output.h"
#include "config/authority.h"
#include "config/home.h"
#include "config/servers.h"
#include "data/json.h"

enum { TIMEOUT_MS_LONGEST = 24 * 3600 * 1000 };

struct server_change {
	const struct invocation *invocation;
	struct settings *settings;
	const char *name;
	char *path;  /* "mcpServers.NAME" */
	enum settings_scope scope;
};

static const char *scope_word(const struct server_change *change)
{
	return change->scope == SCOPE_USER ? "user" : "project";
}

static bool change_report(const struct server_change *change, const char *format,
                          struct err *err)
{
	_cleanup_free_ char *line = mem_printf("MCP server \"%s\" %s %s settings.\n", change->name,
	                                       format, scope_word(change));

	return agent_output_lines(span_str(line), err);
}

/* ---- an entry from the command line ---- */

/* "NAME=VALUE" or "Name: value" of each, cut at `between`. */
static bool put_pairs(const struct invocation *invocation, enum flag_id id, const char *flag,
                      char between, json_t *entry, const char *member, struct err *err)
{
	size_t count;
	_cleanup_free_ const char **values = invocation_values(invocation, id, &count);
	json_t *pairs = json_object();

	for (size_t i = 0; i < count; i++) {
		const char *cut = strchr(values[i], between);
		_cleanup_free_ char *name = mem_dup(values[i], cut ? (size_t)(cut - values[i]) : 0);
		const char *value = cut ? cut + 1 : "";

		while (between == ':' && *value == ' ')
			value++;
		if (!*name || (json_object_get(entry, "command") != NULL) != (between == '=')) {
			json_decref(pairs);
			return err_set(err, ERR_INVALID_ARGUMENT,
			               !*name ? "--%s is NAME%cVALUE." :
			               "--%s is not for this transport.", flag, between);
		}
		json_object_set_new(pairs, name, json_cstr(value));
	}
	if (count)
		json_object_set(entry, member, pairs);
	json_decref(pairs);
	return true;
}

/* Lists with commas, one after the other. */
static void put_names(const struct invocation *invocation, enum flag_id id, json_t *entry,
                      const char *member)
{
	size_t count;
	_cleanup_free_ const char **values = invocation_values(invocation, id, &count);
	json_t *names = json_array();

	for (size_t i = 0; i < count; i++) {
		for (const char *at = values[i]; *at;) {
			const size_t len = strcspn(at, ",");

			if (len)
				json_array_append_new(names, json_text(span_of(at, len)));
			at += len + (at[len] == ',');
		}
	}
	if (count)
		json_object_set(entry, member, names);
	json_decref(names);
}

static bool put_timeout(const struct invocation *invocation, json_t *entry, struct err *err)
{
	const char *text = invocation_value(invocation, FLAG_TIMEOUT);
	char *end;
	long ms;

	if (!text)
		return true;
	ms = strtol(text, &end, 10);
	if (!*text || *end || ms < 1 || ms > TIMEOUT_MS_LONGEST)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--timeout is a number of milliseconds from 1 to %d, not \"%.40s\".",
		               TIMEOUT_MS_LONGEST, text);
	json_object_set_new(entry, "timeout", json_integer(ms));
	return true;
}

/* The transport that --transport names; else the one whose addresses begin as the target does. */
static const char *transport_of(const struct invocation *invocation, const char *target)
{
	static const struct {
		const char *scheme, *how;
	} schemes[] = {
		{ "http://", "http" }, { "https://", "http" },
		{ "ws://", "tcp" },    { "wss://", "tcp" },
	};
	const char *how = invocation_value(invocation, FLAG_TRANSPORT);

	for (size_t i = 0; !how && i < ARRAY_LEN(schemes); i++)
		if (span_starts(span_str(target), span_str(schemes[i].scheme)))
			how = schemes[i].how;
	return how;
}

static bool put_target(const struct invocation *invocation, json_t *entry, struct err *err)
{
	const char *target = invocation_positional(invocation, 2), *arg;
	const char *how = transport_of(invocation, target);
	json_t *args = json_array();
	const bool address = how && strcmp(how, "stdio") != 0;
	const bool websocket = how && !strcmp(how, "tcp");
	const char *const schemes[] = { websocket ? "ws://" : "http://",
		                        websocket ? "wss://" : "https://" };

	for (size_t i = 3; (arg = invocation_positional(invocation, i)); i++)
		json_array_append_new(args, json_cstr(arg));
	json_object_set_new(entry, websocket ? "tcp" : address ? "url" : "command",
	                    json_cstr(target));
	if (address && !websocket)
		json_object_set_new(entry, "type", json_string(how));
	else if (!address)
		json_object_set(entry, "args", args);
	if (address && json_array_size(args))
		err_set(err, ERR_INVALID_ARGUMENT, "A server at an address takes no arguments.");
	else if (address && !span_starts(span_str(target), span_str(schemes[0])) &&
	         !span_starts(span_str(target), span_str(schemes[1])))
		err_set(err, ERR_INVALID_ARGUMENT,
		        "\"%.200s\" is no address for this transport: that begins with %s or %s.",
		        target, schemes[0], schemes[1]);
	json_decref(args);
	return !err->message[0];
}

/* The entry; a new reference. NULL: *err. */
static json_t *entry_given(const struct invocation *invocation, struct err *err)
{
	const char *description = invocation_value(invocation, FLAG_DESCRIPTION);
	json_t *entry = json_object();

	if (!put_target(invocation, entry, err) ||
	    !put_pairs(invocation, FLAG_ENV, "env", '=', entry, "env", err) ||
	    !put_pairs(invocation, FLAG_HEADER, "header", ':', entry, "headers", err) ||
	    !put_timeout(invocation, entry, err)) {
		json_decref(entry);
		return NULL;
	}
	if (invocation_has(invocation, FLAG_TRUST))
		json_object_set_new(entry, "trust", json_true());
	if (description)
		json_object_set_new(entry, "description", json_cstr(description));
	put_names(invocation, FLAG_INCLUDE_TOOLS, entry, "includeTools");
	put_names(invocation, FLAG_EXCLUDE_TOOLS, entry, "excludeTools");
	return entry;
}

/* ---- add, remove ---- */

static bool project_withheld(const struct server_change *change)
{
	size_t i;
	json_t *one;

	json_array_foreach((json_t *)settings_withheld(change->settings), i, one)
		if (span_eq(json_span(json_object_get(one, "name")), SPAN("mcpServers")))
			return true;
	return false;
}

static void say_what_counts(const struct server_change *change)
{
	if (change->scope != SCOPE_WORKSPACE)
		return;
	if (!settings_trusted(change->settings))
		output_complain("It is written, but ignored: this folder is not trusted. \"hasp "
		                "config trust\" changes that.");
	else if (project_withheld(change))
		output_complain("It is written, but ignored until you run: hasp config allow "
		                "mcpServers");
}

static int server_add(struct server_change *change)
{
	struct err err = ERR_INIT;
	json_auto_t *entry = NULL;
	bool there;

	if (!invocation_positional(change->invocation, 2)) {
		err_set(&err, ERR_INVALID_ARGUMENT,
		        "hasp mcp add takes a name, and a command or an address.");
		return output_fail(&err, CLI_USAGE);
	}
	entry = entry_given(change->invocation, &err);
	if (!entry)
		return output_fail(&err, CLI_USAGE);
	if (!settings_stands(change->settings, change->scope, change->path, &there, &err) ||
	    !settings_write(change->settings, change->scope, change->path, entry, &err) ||
	    !change_report(change, there ? "is replaced in the" : "is added to the", &err))
		return output_fail(&err, CLI_FAILED);
	say_what_counts(change);
	return CLI_OK;
}

static int server_remove(struct server_change *change)
{
	struct err err = ERR_INIT;
	bool there;

	if (!settings_stands(change->settings, change->scope, change->path, &there, &err))
		return output_fail(&err, CLI_FAILED);
	if (!there) {
		err_set(&err, ERR_FILE_NOT_FOUND, "The %s settings have no MCP server \"%.100s\".",
		        scope_word(change), change->name);
		return output_fail(&err, CLI_FAILED);
	}
	if (!settings_write(change->settings, change->scope, change->path, NULL, &err) ||
	    !change_report(change, "is removed from the", &err))
		return output_fail(&err, CLI_FAILED);
	return CLI_OK;
}

/* ---- enable, disable ---- */

char *mcp_change_waits(const struct settings *settings, const char *name)
{
	_cleanup_free_ char *path = mem_printf("mcpServers.%s", name);
	const char *how = settings_trusted(settings) ? "config allow mcpServers" : "config trust";
	const char *file = NULL;
	json_auto_t *brought = prepare_brought(settings);
	struct err ignored = ERR_INIT;
	size_t i;
	json_t *item;
	bool there;

	if (settings_stands(settings, SCOPE_WORKSPACE, path, &there, &ignored) && there)
		file = ".gemini/settings.json";
	json_array_foreach(brought, i, item)
		if (!file && !settings_trusted(settings) &&
		    span_starts(json_span(json_object_get(item, "what")), SPAN("MCP servers")) &&
		    json_lists(json_object_get(item, "names"), span_str(name)))
			file = json_string_value(json_object_get(item, "path"));
	return file ? mem_printf("The server \"%.100s\" of the project's %s is not used until you "
	                         "run: hasp %s", name, file, how) :
	              NULL;
}

/* A server is found whatever counts of it: as Gemini CLI compares names. */
static bool server_is_there(const struct server_change *change, struct err *err)
{
	json_auto_t *ignored = json_array(), *rows = servers_configured(change->settings, ignored);
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
		if (servers_same_name(json_string_value(json_object_get(row, "name")),
		                      change->name))
			return true;
	return err_set(err, ERR_FILE_NOT_FOUND,
	               "The settings have no MCP server \"%.100s\"; hasp mcp list has them.",
	               change->name);
}

static bool server_blocked(const struct server_change *change, struct err *err)
{
	const json_t *allowed = settings_get(change->settings, "mcp.allowed");
	const json_t *excluded = settings_get(change->settings, "mcp.excluded");

	if (json_is_array(allowed) && !servers_list_has(allowed, change->name))
		return !err_set(err, ERR_DENIED_BY_POLICY,
		                "\"%.100s\" is not used: mcp.allowed does not name it.",
		                change->name);
	if (servers_list_has(excluded, change->name))
		return !err_set(err, ERR_DENIED_BY_POLICY,
		                "\"%.100s\" is not used: mcp.excluded names it.", change->name);
	return false;
}

static int server_switch(struct server_change *change, bool disable)
{
	struct err err = ERR_INIT;
	_cleanup_free_ char *line = NULL, *waits = NULL;

	if (invocation_has(change->invocation, FLAG_SESSION)) {
		err_set(&err, ERR_INVALID_ARGUMENT,
		        "--session is about a session, and this command has none.");
		return output_fail(&err, CLI_USAGE);
	}
	if (!server_is_there(change, &err))
		waits = mcp_change_waits(change->settings, change->name);
	if ((err.code != ERR_NONE && !waits) || (!disable && server_blocked(change, &err)) ||
	    !servers_disabled_set(settings_home(change->settings), change->name, disable, &err))
		return output_fail(&err, CLI_FAILED);
	line = mem_printf("MCP server \"%s\" is %s.\n", change->name,
	                  disable ? "disabled" : "enabled");
	if (waits)
		output_complain(waits);
	return agent_output_lines(span_str(line), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* ---- all of them ---- */

static bool name_is_fine(const char *name, struct err *err)
{
	if (!*name || strchr(name, '.') || name[strcspn(name, "\n\r\t\x1b")])
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The name of a server has no dot and no control characters; in the "
		               "file of settings you can write any.");
	return true;
}

int mcp_change_run(const struct invocation *invocation, struct settings *settings)
{
	const char *action = invocation_positional(invocation, 0);
	const char *scope = invocation_value(invocation, FLAG_SCOPE);
	struct server_change change = {
		.invocation = invocation,
		.settings = settings,
		.name = invocation_positional(invocation, 1),
		.scope = scope && strcmp(scope, "user") == 0 ? SCOPE_USER : SCOPE_WORKSPACE,
	};
	const bool add = strcmp(action, "add") == 0, remove = strcmp(action, "remove") == 0;
	struct err err = ERR_INIT;
	int code;

	if ((add || remove) && !name_is_fine(change.name, &err))
		return output_fail(&err, CLI_USAGE);
	change.path = mem_printf("mcpServers.%s", change.name);
	code = add    ? server_add(&change) :
	       remove ? server_remove(&change) :
	                server_switch(&change, strcmp(action, "disable") == 0);
	free(change.path);
	return code;
}
