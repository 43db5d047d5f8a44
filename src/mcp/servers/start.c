/* SPDX-License-Identifier: Apache-2.0 */
/* How one server is started: as a program in a sandbox, or at an address; and what it says that it
 * has. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "config/extensions.h"
#include "config/settings.h"
#include "data/json.h"
#include "data/schema.h"
#include "mcp/client/client.h"
#include "mcp/declared/declared.h"
#include "mcp/servers/entry.h"
#include "mcp/servers/kept.h"
#include "mcp/servers/slots.h"

enum {
	START_MS_MAX = 60000, /* of a handshake and a list, each answer */
	PROBLEMS_REPORTED = 5, /* of one server's tools */
};

/* ---- its capabilities, and requests from it ---- */

static void slot_log(void *data, struct span bytes)
{
	const struct mcp_server_slot *slot = data;
	struct span rest = bytes, line;

	if (!slot->all->options.log)
		return;
	while (line_next(&rest, &line)) {
		const struct span body = utf8_head(line_body(line), LIMIT_MCP_LOG_LINE);
		_cleanup_free_ char *text = mem_printf("mcp %s: %.*s", slot->entry.name,
		                                       (int)body.len, body.data);

		if (body.len)
			slot->all->options.log(slot->all->options.data, text);
	}
}

/* What hasp asks for, and keeps; NULL: nothing. */
static const char *servers_log_level(const struct mcp_servers *servers)
{
	const char *level = settings_string(servers->options.settings, "hasp.servers.logLevel",
	                                    "warning");

	return strcmp(level, "off") ? level : NULL;
}

static void slot_logged(void *data, const json_t *params)
{
	const struct mcp_server_slot *slot = data;
	const char *least = servers_log_level(slot->all);
	_cleanup_free_ char *text =
		least ? mcp_log_add(slot->log, slot->entry.name, least, params) : NULL;

	if (text)
		notices_say(&slot->all->options.notices, SEVERITY_WARNING, text);
}

static json_t *slot_answer(void *data, const char *method, const json_t *params,
                           const struct cancel *cancel, struct err *err)
{
	const struct mcp_server_slot *slot = data;
	const struct mcp_servers_options *options = &slot->all->options;

	return options->answer(options->data, slot->entry.name, slot->entry.identity, method,
	                       params, cancel, err);
}

/* Said once of each server. */
static void slot_repaired(void *data)
{
	struct mcp_server_slot *slot = data;
	_cleanup_free_ char *text = NULL;

	if (atomic_exchange(&slot->repaired, true))
		return;
	text = mem_printf("The MCP server \"%s\" sent text that is not valid Unicode (half a "
	                  "surrogate pair, or bytes that are not UTF-8). Replacement characters "
	                  "(U+FFFD) stand in their place.", slot->entry.name);
	notices_say(&slot->all->options.notices, SEVERITY_WARNING, text);
}

/* Borrows. */
static struct mcp_client_options slot_client_options(struct mcp_server_slot *slot)
{
	const struct mcp_servers *all = slot->all;

	return (struct mcp_client_options){
		.name = slot->entry.name,
		.roots = all->roots,
		.log = slot_log,
		.log_level = servers_log_level(all),
		.logged = slot_logged,
		.repaired = slot_repaired,
		.answer = all->options.answer ? slot_answer : NULL,
		.capabilities = all->options.capabilities,
		.samples = all->options.samples &&
		           all->options.samples(all->options.data, slot->entry.name),
		.data = slot,
	};
}

/* ---- connecting ---- */

static size_t texts_count(char *const *texts)
{
	size_t count = 0;

	while (texts && texts[count])
		count++;
	return count;
}

/* Those of commands, and the server's own. The caller frees. */
static const char **paths_together(const char *const *a, size_t a_count, char *const *b,
                                   size_t *ret_count)
{
	const size_t b_count = texts_count(b);
	const char **all = mem_alloc(a_count + b_count + 1, sizeof(*all));

	for (size_t i = 0; i < a_count; i++)
		all[i] = a[i];
	for (size_t i = 0; i < b_count; i++)
		all[a_count + i] = b[i];
	*ret_count = a_count + b_count;
	return all;
}

/* How a program of it is confined. The caller frees the two lists. */
static struct worker_options slot_confinement(const struct mcp_server_slot *slot,
                                              const char ***ret_write, const char ***ret_read)
{
	const struct server_entry *entry = &slot->entry;
	struct worker_options workers = slot->all->workers;

	workers.write = *ret_write = paths_together(workers.write, workers.write_count,
	                                            entry->write, &workers.write_count);
	workers.read = *ret_read = paths_together(workers.read, workers.read_count, entry->read,
	                                          &workers.read_count);
	workers.read_only = !entry->write_workspace;
	workers.network = entry->network < 0 ? workers.network : entry->network;
	return workers;
}

/* Whether the sandbox may hide a file that is there: temporary folders are empty in it. */
static bool may_be_hidden(const struct server_entry *entry, const char *path)
{
	static const char *const empty[] = { "/tmp", "/var/tmp", "/dev/shm" };
	bool hidden = false;

	for (size_t i = 0; i < ARRAY_LEN(empty); i++)
		hidden = hidden || path_is_under(path, empty[i]);
	for (size_t i = 0; entry->read && entry->read[i]; i++)
		hidden = hidden && !path_is_under(path, entry->read[i]);
	for (size_t i = 0; entry->write && entry->write[i]; i++)
		hidden = hidden && !path_is_under(path, entry->write[i]);
	return hidden;
}

/* Names a file that is there and missing in the sandbox, and what would show it. */
static void explain_hidden(const struct server_entry *entry, struct err *err)
{
	const struct err why = *err;

	for (size_t i = 0; entry->argv[i]; i++) {
		const char *path = entry->argv[i];
		_cleanup_free_ char *folder = NULL;

		if (path[0] != '/' || access(path, F_OK) != 0 ||
		    !(may_be_hidden(entry, path) ||
		      (i == 0 && why.code == ERR_FILE_NOT_FOUND)))
			continue;
		folder = path_folder(path);
		err_set(err, why.code,
		        "%.600s %.200s exists, but the sandbox of MCP servers hides it. To show "
		        "it: \"sandbox\": {\"read\": [\"%.200s\"]} in mcpServers.%s",
		        why.message, path, folder, entry->name);
		return;
	}
}

static bool slot_open_program(struct mcp_server_slot *slot, const struct mcp_wait *wait,
                              struct mcp_client **ret, struct err *err)
{
	const struct server_entry *entry = &slot->entry;
	_cleanup_free_ const char **write = NULL, **read = NULL;
	const struct worker_options workers = slot_confinement(slot, &write, &read);
	const struct mcp_client_options options = slot_client_options(slot);
	const struct mcp_stdio_options stdio = {
		.workers = &workers,
		.argv = (const char *const *)entry->argv,
		.env = (const char *const *)entry->env,
		.folder = entry->folder,
		.environment = slot->all->options.environment,
	};

	if (mcp_client_open_stdio(&options, &stdio, wait, ret, err))
		return true;
	explain_hidden(entry, err);
	return false;
}

/* The header fields of a connection; the caller frees. */
static bool slot_headers(const struct mcp_server_slot *slot, const struct cancel *cancel,
                         char ***ret, struct err *err)
{
	const struct server_entry *entry = &slot->entry;
	const char *const *headers = (const char *const *)entry->headers;
	_cleanup_free_ const char **write = NULL, **read = NULL;

	if (!entry->helper) {
		*ret = worker_texts_copy(headers, texts_count(entry->headers));
		return true;
	}
	const struct worker_options workers = slot_confinement(slot, &write, &read);
	const struct mcp_helper_options helper = {
		.server = entry->name, .url = entry->url, .command = entry->helper,
		.workers = &workers, .environment = slot->all->options.environment,
		.env = (const char *const *)entry->env, .headers = headers, .cancel = cancel,
	};

	return mcp_helper_run(&helper, ret, err);
}

static bool slot_open_address(struct mcp_server_slot *slot, const struct mcp_wait *wait,
                              struct mcp_client **ret, struct err *err)
{
	const struct server_entry *entry = &slot->entry;
	const struct mcp_client_options options = slot_client_options(slot);
	struct mcp_address_options from = { .kind = entry->kind, .url = entry->url,
		                            .helped = entry->helper };
	char **headers = NULL;
	bool ok;

	if (!slot_headers(slot, wait->cancel, &headers, err))
		return false;
	from.headers = (const char *const *)headers;
	from.auth = mcp_headers_have(from.headers, "authorization") ? NULL : slot->auth;
	ok = entry->websocket ? mcp_client_open_websocket(&options, &from, wait, ret, err) :
	                        mcp_client_open_http(&options, &from, wait, ret, err);
	worker_texts_free(headers);
	return ok;
}

static bool slot_open(struct mcp_server_slot *slot, const struct mcp_wait *wait,
                      struct mcp_client **ret, struct err *err)
{
	return slot->entry.http || slot->entry.websocket ?
	               slot_open_address(slot, wait, ret, err) :
	               slot_open_program(slot, wait, ret, err);
}

/* ---- what it has ---- */

void mcp_server_tell(const struct mcp_server_slot *slot, const char *tool, const struct err *why)
{
	const struct span name = utf8_head(span_str(tool ? tool : ""), 80);
	_cleanup_free_ char *text = mem_printf(
		"A tool of the MCP server \"%s\" is left out (\"%.*s\"): %s", slot->entry.name,
		(int)name.len, name.data, why->message);

	notices_say(&slot->all->options.notices, SEVERITY_WARNING, text);
}

static void report_unknown_name(const struct mcp_server_slot *slot, const char *list,
                                struct span name, const json_t *tools)
{
	const size_t count = json_array_size(tools);
	_cleanup_free_ const char **names = mem_alloc(count + 1, sizeof(*names));
	_cleanup_free_ char *copy = mem_dup(name.data, name.len), *text = NULL;
	const char *near;

	for (size_t i = 0; i < count; i++) {
		names[i] = json_string_value(json_object_get(json_array_get(tools, i), "name"));
		if (span_eq(name, span_str(names[i])))
			return;
	}
	near = schema_nearest_name(copy, names, count);
	text = mem_printf("mcpServers.%s.%s names \"%.100s\", but the server has no such "
	                  "tool%s%s%s",
	                  slot->entry.name, list, copy, near ? "; did you mean \"" : ".",
	                  near ? near : "", near ? "\"?" : "");
	notices_say(&slot->all->options.notices, SEVERITY_WARNING, text);
}

/* Names in includeTools and excludeTools that are no tool's: once for each server. */
static void report_unknown_names(struct mcp_server_slot *slot, const json_t *tools)
{
	const struct {
		const char *list;
		const json_t *names;
	} lists[] = {
		{ "excludeTools", slot->entry.exclude }, { "includeTools", slot->entry.include },
	};

	if (atomic_exchange(&slot->names_checked, true))
		return;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (size_t k = 0;
		     k < json_array_size(lists[i].names) && k < PROBLEMS_REPORTED; k++) {
			struct span name = json_span(json_array_get(lists[i].names, k));
			const char *open = name.len ? memchr(name.data, '(', name.len) : NULL;

			if (open) /* "NAME(prefix)" */
				name.len = (size_t)(open - name.data);
			if (name.len)
				report_unknown_name(slot, lists[i].list, name, tools);
		}
}

static json_t *usable_tools(struct mcp_server_slot *slot, const json_t *declared, bool cached)
{
	json_t *tools = json_array(), *tool;
	size_t i, reported = 0;

	json_array_foreach(declared, i, tool) {
		struct err why = ERR_INIT;
		json_t *own = NULL;

		if (json_array_size(tools) >= LIMIT_MCP_TOOLS)
			err_set(&why, ERR_TOO_LARGE, "There are more than %d.", LIMIT_MCP_TOOLS);
		else
			own = cached ? mcp_declaration_recall(tool, &why) :
			              mcp_declaration_clean(tool, &why);
		if (own)
			json_array_append_new(tools, own);
		else
			reported++;
		if (!own && reported <= PROBLEMS_REPORTED)
			mcp_server_tell(slot, json_string_value(json_object_get(tool, "name")),
			                &why);
	}
	report_unknown_names(slot, declared);
	return tools;
}

json_t *mcp_slot_clean(struct mcp_server_slot *slot, const json_t *declared)
{
	return usable_tools(slot, declared, /* cached= */ false);
}

json_t *mcp_slot_recall(struct mcp_server_slot *slot, const json_t *cached)
{
	return usable_tools(slot, cached, /* cached= */ true);
}

bool mcp_slot_start(struct mcp_server_slot *slot, json_t *watched, const struct cancel *cancel,
                    struct mcp_client **ret, struct mcp_slot_said *ret_said, struct err *err)
{
	const unsigned longest = slot->entry.startup_ms ? slot->entry.startup_ms : START_MS_MAX;
	const unsigned most = slot->entry.timeout_ms < longest && !slot->entry.startup_ms ?
	                              slot->entry.timeout_ms : longest;
	const struct mcp_wait wait = { .timeout_ms = most, .cancel = cancel };
	json_auto_t *declared = NULL;
	const char *uri;
	json_t *yes;

	if ((slot->entry.watch && !extension_watch_holds(slot->entry.watch, err)) ||
	    !slot_open(slot, &wait, ret, err))
		return false;
	/* One that has no tools need not know the request. */
	if (!mcp_offers_has(*ret, "tools") &&
	    (mcp_offers_has(*ret, "prompts") || mcp_offers_has(*ret, "resources"))) {
		declared = json_array();
	} else if (!mcp_client_list(*ret, MCP_TOOLS, &wait, &declared, err)) {
		mcp_client_unref(*ret);
		*ret = NULL;
		return false;
	}
	ret_said->tools = mcp_slot_clean(slot, declared);
	ret_said->offers = mcp_offers_ask(*ret, &wait);
	json_object_foreach(watched, uri, yes)
		mcp_client_watch(*ret, uri, &wait);
	mcp_client_listen(*ret);
	if (!mcp_client_lost(*ret))
		return true;
	/* The caller would find it lost and restart it forever. */
	json_decref(ret_said->tools);
	json_decref(ret_said->offers);
	mcp_client_unref(*ret);
	*ret = NULL;
	return err_set(err, ERR_TOOL_FAILED, "The MCP server \"%s\" ended while it was asked what "
	               "it offers.", slot->entry.name);
}
