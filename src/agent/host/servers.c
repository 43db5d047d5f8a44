/* SPDX-License-Identifier: Apache-2.0 */
/* MCP servers of the session and its agents: starts them with their options, asks the user before
 * using one from a project's file, restarts them, and carries out orders of fronts. */
#include <string.h>

#include "agent/host/private.h"
#include "agent/setup/policy_load.h"
#include "agent/setup/prepare.h"
#include "base/mem.h"
#include "bus/bus.h"
#include "data/json.h"
#include "mcp/servers/servers.h"
#include "tool/set.h"

enum {
	ASKED_TOGETHER = 4, /* as many as the tool ask_user has */
	NOTICE_BYTES = 8192,
	ORDERS_MAX = 64,    /* that wait */
};

/* ---- beginning with them ------------------------------------------------------------ */

static void server_log(void *data, const char *line)
{
	const struct host *host = data;

	if (host->options.trace)
		host->options.trace(host->options.data, line);
}

/* As mcp_servers_options.listed. */
static void server_listed(void *data, const char *server)
{
	const struct host *host = data;
	json_auto_t *message = json_pack("{s:o}", "serverName", json_cstr(server));

	bus_publish(host->bus, BUS_MCP_LISTED, message);
}

/* As mcp_servers_options.answer. */
static json_t *answer_server(void *data, const char *server, const char *identity,
                             const char *method, const json_t *params,
                             const struct cancel *cancel, struct err *err)
{
	return !strcmp(method, "sampling/createMessage") ?
	               host_sample(data, server, identity, params, cancel, err) :
	               host_elicit(data, server, method, params, cancel, err);
}

struct mcp_servers *host_servers_open(struct host *host, const json_t *rows)
{
	const struct span provider = span_str(host->choice.options.provider);
	json_auto_t *capabilities = host_elicit_capabilities();
	const struct mcp_servers_options options = {
		.rows = rows,
		.settings = host->servers_settings ? host->servers_settings :
		                                     host->options.settings,
		.provider = host->options.provider,
		.workers = host->options.workers,
		.environment = &host->servers_env.options,
		.home = host->home,
		.no_network = !prepare_may_network(host->options.settings),
		.plain_names = span_starts(provider, SPAN("openai")) ||
		               span_starts(provider, SPAN("anthropic")),
		.notices = host->options.notices,
		.log = server_log,
		.listed = rows ? NULL : server_listed,
		.answer = answer_server,
		.samples = host_may_sample,
		.login = host_login,
		.capabilities = capabilities,
		.data = host,
	};

	return mcp_servers_open(&options);
}

/* Declarations of others' tools that are sent with every request, unless settings say so. */
enum { DEFER_TOKENS = 8000 };

void host_defer_tools(const struct host *host, struct tool_set *set)
{
	const struct settings *settings = host->options.settings;
	const char *word = settings_string(settings, "hasp.tools.defer", "auto");
	int64_t budget = settings_integer(settings, "hasp.tools.deferTokens", DEFER_TOKENS);

	tool_set_defer(set, !strcmp(word, "on")  ? TOOL_DEFER_ON :
	                    !strcmp(word, "off") ? TOOL_DEFER_OFF : TOOL_DEFER_AUTO,
	               budget > 0 ? (size_t)budget : 0);
}

/* ---- those of a project's ------------------------------------------------------------- */

/* Each with what it would run or contact, as it stands in the file. A new object. */
static json_t *servers_question(const json_t *rows, size_t from)
{
	json_t *questions = json_array();

	for (size_t i = from; i < json_array_size(rows) && i < from + ASKED_TOGETHER; i++) {
		const json_t *row = json_array_get(rows, i);
		const struct span what = json_span(json_object_get(row, "asks"));
		_cleanup_free_ char *text = mem_printf(
			"This project's %s names the MCP server \"%s\". Use it? It would %.*s",
			json_string_value(json_object_get(row, "origin")),
			json_string_value(json_object_get(row, "name")), (int)what.len, what.data);

		json_array_append_new(questions,
		                      json_pack("{s:s, s:s, s:o}", "header", "MCP server", "type",
		                                "yesno", "question", json_text(span_str(text))));
	}
	return json_pack("{s:o}", "questions", questions);
}

/* Whatever is neither yes nor no is asked about again in the next session. */
static void take_decisions(struct host *host, const json_t *rows, size_t from,
                           const json_t *answers)
{
	const char *number;
	json_t *answer;

	json_object_foreach((json_t *)answers, number, answer) {
		const size_t at = from + (size_t)(number[0] - '0');
		const json_t *row = json_array_get(rows, at);
		const char *name = json_string_value(json_object_get(row, "name"));
		const bool yes = span_eq(json_span(answer), SPAN("Yes"));
		struct err err = ERR_INIT;

		if (number[1] || number[0] < '0' || number[0] >= '0' + ASKED_TOGETHER || !row ||
		    (!yes && !span_eq(json_span(answer), SPAN("No"))))
			continue;
		if (!mcp_servers_decide(host->servers, name, yes, &err))
			host_warn(host, err.message);
	}
}

static void tell_undecided(struct host *host, const json_t *rows)
{
	_cleanup_buf_ struct buf text = BUF_INIT(NOTICE_BYTES);
	size_t i;
	json_t *row;

	buf_str(&text, "The project names MCP servers, which are not used until you allow them");
	json_array_foreach(rows, i, row)
		buf_printf(&text, "%s%s (%s)", i ? ", " : ": ",
		           json_string_value(json_object_get(row, "name")),
		           json_string_value(json_object_get(row, "origin")));
	buf_str(&text, ". Run: hasp mcp allow NAME");
	host_warn(host, text.data);
}

void host_ask_servers(struct host *host)
{
	json_auto_t *rows = NULL;

	if (host->servers_asked)
		return;
	host->servers_asked = true;
	rows = mcp_servers_undecided(host->servers);
	for (size_t from = 0; from < json_array_size(rows); from += ASKED_TOGETHER) {
		json_auto_t *message = servers_question(rows, from), *answer = NULL;

		switch (bus_ask(host->bus, BUS_ASK_USER_REQUEST, message, 0, &host->cancel,
		                &answer)) {
		case BUS_ANSWERED:
			take_decisions(host, rows, from, json_object_get(answer, "answers"));
			break;
		case BUS_NOBODY:
			tell_undecided(host, rows);
			return;
		case BUS_TIMED_OUT:
		case BUS_CANCELLED:
			return;
		}
	}
}

/* ---- restarting them ------------------------------------------------------------- */

bool host_reload_servers(struct host *host, struct err *err)
{
	struct settings *before = host->servers_settings;

	if (!settings_load_again(host->options.settings, &host->servers_settings, err)) {
		host->servers_settings = before;
		return false;
	}
	mcp_servers_reload(host->servers, host->servers_settings);
	settings_free(before);
	setup_renew_server_rules(host->options.policy, host->servers_settings);
	return true;
}

/* ---- orders of fronts ------------------------------------------------------------ */

static void carry_out_order(struct host *host, const json_t *order)
{
	const struct span action = json_span(json_object_get(order, "action"));
	const char *name = json_string_value(json_object_get(order, "serverName"));
	const bool use = span_eq(action, SPAN("enable"));
	_cleanup_free_ char *done = NULL;
	struct err err = ERR_INIT;
	bool ok;

	host->servers_asked = false;
	if (span_eq(action, SPAN("reload"))) {
		ok = host_reload_servers(host, &err);
		done = mem_strdup("Restarting the MCP servers.");
	} else if (name && (use || span_eq(action, SPAN("disable")))) {
		ok = mcp_servers_switch(host->servers, name, use,
		                        json_is_true(json_object_get(order, "session")), &err);
		done = mem_printf("The MCP server \"%.100s\" is %s.", name,
		                  use ? "enabled" : "disabled");
	} else {
		ok = err_set(&err, ERR_INVALID_ARGUMENT, "An order about MCP servers is neither "
		             "enable, nor disable with a serverName, nor reload.");
	}
	host_notice(host, ok ? SEVERITY_INFO : SEVERITY_WARNING, ok ? done : err.message);
}

void host_follow_server_orders(struct host *host)
{
	json_auto_t *orders = NULL;
	size_t i;
	json_t *order;

	pthread_mutex_lock(&host->lock);
	orders = host->servers_orders;
	host->servers_orders = NULL;
	pthread_mutex_unlock(&host->lock);
	json_array_foreach(orders, i, order)
		carry_out_order(host, order);
}

/* Only queues the order: a server that it ends may itself be waiting for the bus. */
static void take_server_order(void *data, enum bus_topic topic, const json_t *message)
{
	struct host *host = data;
	struct err ignored = ERR_INIT;
	bool taken = false;

	if (!bus_check(topic, message, &ignored))
		return;
	pthread_mutex_lock(&host->lock);
	if (!host->servers_orders)
		host->servers_orders = json_array();
	if (json_array_size(host->servers_orders) < ORDERS_MAX) {
		json_array_append_new(host->servers_orders, json_deep_copy(message));
		taken = true;
	}
	pthread_mutex_unlock(&host->lock);
	if (!taken)
		host_warn(host, "Too many orders about MCP servers wait for the next prompt; one "
		                "was dropped.");
}

void host_take_server_orders(struct host *host)
{
	host->servers_listener = bus_subscribe(host->bus, BUS_MCP_SERVERS, take_server_order, host);
}

void host_leave_server_orders(struct host *host)
{
	if (host->servers_listener)
		bus_unsubscribe(host->bus, host->servers_listener);
	json_decref(host->servers_orders);
}
