/* SPDX-License-Identifier: Apache-2.0 */
/* The servers of a session: when each is started, what is known of it, who may use it. */
#include "mcp/client/servers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/home.h"
#include "config/servers.h"
#include "data/json.h"
#include "mcp/client/private.h"
#include "tool/tool.h"

enum {
	WAIT_SECONDS = 10,     /* as the setting's default is */
	SLOT_POLL_MS = 20,
	PAUSE_FIRST_MS = 1000, /* after a second failure; doubles */
	PAUSE_MAX_MS = 60000,
	START_MS_MAX = 60000,  /* of a handshake and a list, each answer */
	PROBLEMS_TOLD = 5,     /* of one server's tools */
	OFF_TOLD = 20,         /* servers that cannot be used */
};

const struct server_entry *mcp_server_entry_of(const struct mcp_server_slot *server)
{
	return &server->entry;
}

static void servers_notice(const struct mcp_servers *servers, const char *severity,
                           const char *message)
{
	if (servers->options.notice)
		servers->options.notice(servers->options.data, severity, message);
}

/* ---- starting one ---- */

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
	_cleanup_free_ char *told =
		least ? mcp_log_add(slot->log, slot->entry.name, least, params) : NULL;

	if (told)
		servers_notice(slot->all, "warning", told);
}

static json_t *slot_answer(void *data, const char *method, const json_t *params,
                           const struct cancel *cancel, struct err *err)
{
	const struct mcp_server_slot *slot = data;
	const struct mcp_servers_options *options = &slot->all->options;

	return options->answer(options->data, slot->entry.name, slot->entry.identity, method,
	                       params, cancel, err);
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
		.answer = all->options.answer ? slot_answer : NULL,
		.capabilities = all->options.capabilities,
		.samples = all->options.samples &&
		           all->options.samples(all->options.data, slot->entry.name),
		.data = slot,
	};
}

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

	return mcp_client_open_stdio(&options, &stdio, wait, ret, err);
}

/* The header fields of a connection; the caller frees. */
static bool slot_headers(const struct mcp_server_slot *slot, const _Atomic bool *cancel,
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
	struct mcp_http_options from = { .kind = entry->kind, .url = entry->url,
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

void mcp_server_tell(const struct mcp_server_slot *slot, const char *tool, const struct err *why)
{
	const struct span name = utf8_head(span_str(tool ? tool : ""), 80);
	_cleanup_free_ char *text = mem_printf(
		"A tool of the MCP server \"%s\" is left out (\"%.*s\"): %s", slot->entry.name,
		(int)name.len, name.data, why->message);

	servers_notice(slot->all, "warning", text);
}

/* Of what the server, or the cache (`known`), says: what can be used. A new reference. */
static json_t *slot_clean(const struct mcp_server_slot *slot, const json_t *declared, bool known)
{
	json_t *tools = json_array(), *tool;
	size_t i, told = 0;

	json_array_foreach(declared, i, tool) {
		struct err why = ERR_INIT;
		json_t *own = NULL;

		if (json_array_size(tools) >= LIMIT_MCP_TOOLS)
			err_set(&why, ERR_TOO_LARGE, "There are more than %d.", LIMIT_MCP_TOOLS);
		else
			own = known ? mcp_declaration_recall(tool, &why) :
			              mcp_declaration_clean(tool, &why);
		if (own)
			json_array_append_new(tools, own);
		else
			told++;
		if (!own && told <= PROBLEMS_TOLD)
			mcp_server_tell(slot, json_string_value(json_object_get(tool, "name")),
			                &why);
	}
	return tools;
}

static void slot_remember(struct mcp_server_slot *slot, const json_t *tools, const json_t *offers)
{
	struct mcp_servers *all = slot->all;

	if (!all->cache)
		return;
	pthread_mutex_lock(&all->cache_lock);
	mcp_cache_write(all->cache, slot->entry.name, slot->entry.hash, tools, offers);
	pthread_mutex_unlock(&all->cache_lock);
}

/* What a server says that it has. */
struct slot_said {
	json_t *tools, *offers;
};

/* A client that has said what it has; all new. */
static bool slot_start(struct mcp_server_slot *slot, json_t *watched, const _Atomic bool *cancel,
                       struct mcp_client **ret, struct slot_said *ret_said, struct err *err)
{
	const unsigned longest = slot->entry.startup_ms ? slot->entry.startup_ms : START_MS_MAX;
	const unsigned most = slot->entry.timeout_ms < longest && !slot->entry.startup_ms ?
	                              slot->entry.timeout_ms : longest;
	const struct mcp_wait wait = { .timeout_ms = most, .cancel = cancel };
	json_auto_t *declared = NULL;
	const char *uri;
	json_t *yes;

	if (!slot_open(slot, &wait, ret, err))
		return false;
	/* One that has no tools need not know the request. */
	if (!mcp_offers_has(*ret, "tools") &&
	    (mcp_offers_has(*ret, "prompts") || mcp_offers_has(*ret, "resources"))) {
		declared = json_array();
	} else if (!mcp_client_list(*ret, "tools/list", "tools", LIMIT_MCP_TOOLS, &wait, &declared,
	                            err)) {
		mcp_client_unref(*ret);
		*ret = NULL;
		return false;
	}
	ret_said->tools = slot_clean(slot, declared, /* known= */ false);
	ret_said->offers = mcp_offers_ask(*ret, &wait);
	json_object_foreach(watched, uri, yes)
		mcp_client_watch(*ret, uri, &wait);
	mcp_client_listen(*ret);
	if (!mcp_client_lost(*ret))
		return true;
	/* Whoever started it would find it lost, and start it again and again. */
	json_decref(ret_said->tools);
	json_decref(ret_said->offers);
	mcp_client_unref(*ret);
	*ret = NULL;
	return err_set(err, ERR_TOOL_FAILED, "The MCP server \"%s\" ended while it was asked what "
	               "it offers.", slot->entry.name);
}

/* ---- its state: with the lock ---- */

static void slot_failed(struct mcp_server_slot *slot, const struct err *why)
{
	uint64_t pause = PAUSE_FIRST_MS;

	free(slot->problem);
	slot->problem = mem_strdup(why->message);
	slot->problem_code = why->code;
	slot->failures++;
	for (unsigned i = 2; i < slot->failures && pause < PAUSE_MAX_MS; i++)
		pause *= 2;
	pause = pause < PAUSE_MAX_MS ? pause : PAUSE_MAX_MS;
	slot->not_before_ms = slot->failures > 1 ? clock_monotonic_ms() + pause : 0;
}

/* Takes both of `said`. */
static void slot_take_said(struct mcp_server_slot *slot, const struct slot_said *said)
{
	json_decref(slot->tools);
	json_decref(slot->offers);
	slot->tools = said->tools;
	slot->offers = said->offers;
}

static void slot_take(struct mcp_server_slot *slot, struct mcp_client *client,
                      const struct slot_said *said)
{
	slot->client = client;
	slot_take_said(slot, said);
	slot->asked = true;
	free(slot->problem);
	slot->problem = NULL;
}

static void slot_wait(struct mcp_servers *all)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += SLOT_POLL_MS * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_clockwait(&all->changed, &all->lock, CLOCK_MONOTONIC, &until);
}

/* False: it failed so lately that it is not tried yet. */
static bool slot_may_start(const struct mcp_server_slot *slot, struct err *err)
{
	const uint64_t now = clock_monotonic_ms();

	if (now >= slot->not_before_ms)
		return true;
	return err_set(err, slot->problem_code,
	               "The MCP server \"%s\" failed %u times in a row, and is started again by a "
	               "call in %u s at the earliest. The last time: %s", slot->entry.name,
	               slot->failures,
	               (unsigned)((slot->not_before_ms - now + 999) / 1000),
	               slot->problem ? slot->problem : "it ended.");
}

bool mcp_slot_is_used(const struct mcp_server_slot *slot, struct err *err)
{
	return !slot->entry.off ||
	       err_set(err, ERR_DENIED_BY_POLICY, "The MCP server \"%s\" is not used: %s.",
	               slot->entry.name, slot->entry.off);
}

/* It was switched off while it started. */
static bool slot_drop_start(struct mcp_server_slot *slot, struct mcp_client *client,
                            struct slot_said *said, struct err *err)
{
	json_decref(said->tools);
	json_decref(said->offers);
	pthread_mutex_unlock(&slot->all->lock);
	mcp_client_unref(client);
	pthread_mutex_lock(&slot->all->lock);
	return mcp_slot_is_used(slot, err) ||
	       err_set(err, ERR_CANCELLED, "The MCP server \"%s\" was switched off meanwhile.",
	               slot->entry.name);
}

/* The lock is let go meanwhile. */
static bool slot_start_locked(struct mcp_server_slot *slot, const _Atomic bool *cancel,
                              struct err *err)
{
	struct mcp_servers *all = slot->all;
	struct mcp_client *client = NULL;
	struct slot_said said = { 0 };
	json_auto_t *watched = json_copy(slot->watched);
	struct err why = ERR_INIT;
	bool ok;

	slot->starting = true;
	pthread_mutex_unlock(&all->lock);
	ok = slot_start(slot, watched, cancel, &client, &said, &why);
	if (ok)
		slot_remember(slot, said.tools, said.offers);
	pthread_mutex_lock(&all->lock);
	if (ok && slot->entry.off)
		ok = slot_drop_start(slot, client, &said, &why) && false;
	else if (ok)
		slot_take(slot, client, &said);
	else if (why.code != ERR_CANCELLED)
		slot_failed(slot, &why);
	slot->starting = false;
	pthread_cond_broadcast(&all->changed);
	if (!ok)
		*err = why;
	return ok;
}

/* What its client has reported of resources. */
static void slot_keep_updated(struct mcp_server_slot *slot)
{
	json_auto_t *updated = mcp_client_updated(slot->client);

	json_object_update(slot->updated, updated);
}

static bool slot_client_locked(struct mcp_server_slot *slot, const _Atomic bool *cancel,
                               struct mcp_client **ret, struct mcp_client **ret_lost,
                               struct err *err)
{
	while (mcp_slot_is_used(slot, err)) {
		if (slot->client && !mcp_client_lost(slot->client)) {
			*ret = mcp_client_ref(slot->client);
			return true;
		}
		if (slot->client) {
			slot_keep_updated(slot);
			*ret_lost = slot->client;
			slot->client = NULL;
		} else if (slot->starting) {
			if (cancel && atomic_load(cancel))
				return err_set(err, ERR_CANCELLED, "The call was cancelled.");
			slot_wait(slot->all);
		} else if (!slot_may_start(slot, err) || !slot_start_locked(slot, cancel, err)) {
			return false;
		}
	}
	return false;
}

bool mcp_server_client(struct mcp_server_slot *slot, const _Atomic bool *cancel,
                   struct mcp_client **ret, struct err *err)
{
	struct mcp_client *lost = NULL;
	bool ok;

	pthread_mutex_lock(&slot->all->lock);
	ok = slot_client_locked(slot, cancel, ret, &lost, err);
	pthread_mutex_unlock(&slot->all->lock);
	mcp_client_unref(lost);
	return ok;
}

void mcp_server_called(struct mcp_server_slot *slot, struct mcp_client *client, bool well)
{
	struct err why = ERR_INIT;
	bool lost = mcp_client_lost(client) && !mcp_client_forgotten(client);

	pthread_mutex_lock(&slot->all->lock);
	if (well) {
		slot->failures = 0;
		slot->not_before_ms = 0;
	} else if (lost && slot->client == client) {
		err_set(&why, ERR_TOOL_FAILED, "It ended during a call.");
		slot_failed(slot, &why);
	}
	pthread_mutex_unlock(&slot->all->lock);
}

/* ---- all of them ---- */

static void *slot_thread(void *data)
{
	struct mcp_server_slot *slot = data;
	struct mcp_client *client = NULL;
	struct err err = ERR_INIT;
	bool ok;

	if (slot->auth)
		mcp_auth_attend(slot->auth, /* attended= */ false, false);
	ok = mcp_server_client(slot, &slot->stopping, &client, &err);
	if (slot->auth)
		mcp_auth_attend(slot->auth, /* attended= */ true, false);
	if (ok) {
		mcp_client_unref(client);
	} else if (err.code != ERR_CANCELLED && !atomic_load(&slot->stopping)) {
		_cleanup_free_ char *text = mem_printf("The MCP server \"%s\" cannot be used: %s",
		                                       slot->entry.name, err.message);

		servers_notice(slot->all, "warning", text);
	}
	return NULL;
}

/* Bytes that need no escape in the path of an address (RFC 3986). */
static bool is_plain_in_uri(char c)
{
	return ascii_is_alnum(c) || (c && strchr("-._~/", c));
}

static json_t *list_roots(struct provider *provider)
{
	json_t *roots = json_array();
	const char *root;

	for (size_t i = 0; (root = provider->ops->root(provider, i)); i++) {
		_cleanup_buf_ struct buf uri = BUF_INIT(4 * LIMIT_PATH_BYTES);
		const char *name = strrchr(root, '/');

		buf_str(&uri, "file://");
		for (const char *c = root; *c; c++)
			buf_printf(&uri, is_plain_in_uri(*c) ? "%c" : "%%%02X", (unsigned char)*c);
		json_array_append_new(roots, json_pack("{s:o, s:o}", "uri",
		                                       json_text(buf_view(&uri)), "name",
		                                       json_name(name && name[1] ? name + 1 :
		                                                 root)));
	}
	return roots;
}

static void servers_open_cache(struct mcp_servers *servers)
{
	struct home *home = servers->options.home;
	struct err ignored = ERR_INIT;

	if (servers->cache || !servers->count || !home || !home_claim(home, &ignored))
		return;
	servers->cache = mem_printf("%s/mcp-tools.json", home_temp(home));
	servers->approvals_file = mem_printf("%s/mcp-allowed.json", home_temp(home));
	pthread_mutex_lock(&servers->lock);
	json_decref(servers->approvals);
	servers->approvals = mcp_approvals_read(servers->approvals_file);
	pthread_mutex_unlock(&servers->lock);
}

/* A token that the user gave is the user's business. */
void mcp_slot_open_auth(struct mcp_server_slot *slot)
{
	const struct mcp_servers_options *options = &slot->all->options;
	const struct server_entry *entry = &slot->entry;
	const json_t *enabled = json_object_get(entry->oauth, "enabled");
	/* Who gives tokens is asked over HTTP. */
	_cleanup_free_ char *url =
		entry->websocket ? mem_printf("http%s", entry->url + strlen("ws")) : NULL;
	const bool none = !(entry->http || url) || slot->auth || entry->off ||
	                  json_is_false(enabled) ||
	                  mcp_headers_have((const char *const *)entry->headers, "authorization");

	if (!none)
		slot->auth = mcp_auth_new(&(struct mcp_auth_options){
			.name = entry->name, .url = url ? url : entry->url,
			.settings = entry->oauth, .kind = entry->auth,
			.audience = entry->audience, .account = entry->account,
			.home = options->home ? home_user(options->home) : NULL,
			.folder = options->home ? home_gemini(options->home) : NULL,
			.login = options->login, .notice = options->notice,
			.data = options->data });
}

/* `cached`: mcp_cache_load. */
static void slot_open_cached(struct mcp_server_slot *slot, const json_t *cached)
{
	struct mcp_servers *all = slot->all;
	const json_t *known;

	if (slot->entry.off)
		return;
	known = mcp_cache_find(cached, slot->entry.name, slot->entry.hash);
	if (known) {
		struct slot_said said = {
			.tools = slot_clean(slot, json_object_get(known, "tools"),
			                    /* known= */ true),
			.offers = mcp_offers_clean(json_object_get(known, "offers")),
		};

		pthread_mutex_lock(&all->lock);
		slot_take_said(slot, &said);
		pthread_mutex_unlock(&all->lock);
	}
	if (known || all->options.idle)
		return;
	pthread_mutex_lock(&all->lock);
	slot->has_thread = pthread_create(&slot->thread, NULL, slot_thread, slot) == 0;
	pthread_mutex_unlock(&all->lock);
}

void mcp_slot_open_known(struct mcp_server_slot *slot)
{
	json_auto_t *cached = slot->all->cache ? mcp_cache_load(slot->all->cache) : NULL;

	slot_open_cached(slot, cached);
}

static void tell_off(const struct mcp_servers *servers)
{
	size_t told = 0;

	for (size_t i = 0; i < servers->count; i++) {
		const struct server_entry *entry = &servers->slots[i].entry;
		_cleanup_free_ char *text = NULL;

		/* Who leaves one out by a setting knows it. */
		if (!entry->off || servers->slots[i].disabled || servers->slots[i].paused ||
		    json_is_true(json_object_get(servers->slots[i].row, "quiet")) ||
		    span_starts(span_str(entry->off), SPAN("mcp.")) ||
		    ++told > OFF_TOLD)
			continue;
		text = mem_printf("The MCP server \"%s\" is not used: %s.", entry->name,
		                  entry->off);
		servers_notice(servers, "warning", text);
	}
	if (told > OFF_TOLD) {
		_cleanup_free_ char *text = mem_printf(
			"%zu more MCP servers are not used: /mcp, or \"hasp mcp list\", says why.",
			told - OFF_TOLD);

		servers_notice(servers, "warning", text);
	}
}

void mcp_slot_settle_off(struct mcp_server_slot *slot)
{
	const char *name = slot->entry.name;

	free(slot->entry.off);
	slot->entry.off = NULL;
	if (slot->ruled_out && !(slot->asks && (slot->disabled || slot->paused)))
		slot->entry.off = mem_strdup(slot->ruled_out);
	else if (slot->disabled)
		slot->entry.off = mem_printf("it is disabled; \"hasp mcp enable %s\" enables it",
		                             name);
	else if (slot->paused)
		slot->entry.off = mem_printf("it is disabled for this session; \"/mcp enable %s\" "
		                             "enables it", name);
	slot->undecided = slot->asks && !slot->disabled && !slot->paused &&
	                  !json_object_get(slot->row, "refused");
}

static void read_server_entry(struct mcp_server_slot *slot, json_t *row, const json_t *disabled)
{
	const char *name = json_string_value(json_object_get(row, "name"));
	const char *off = json_string_value(json_object_get(row, "off"));

	slot->row = json_incref(row);
	slot->users = servers_row_is_users(row);
	mcp_entry_read(&slot->entry, name, json_object_get(row, "entry"), &slot->all->options);
	slot->disabled = servers_disabled_has(disabled, name);
	slot->paused = servers_list_has(slot->all->paused, name);
	slot->asks = !slot->entry.off && json_object_get(row, "asks");
	slot->ruled_out = mem_steal(&slot->entry.off);
	if (slot->asks) {
		slot->ruled_out = mem_printf("%s; \"hasp mcp allow %s\" allows it", off, name);
	} else if (off) {
		free(slot->ruled_out);
		slot->ruled_out = mem_strdup(off);
	}
	mcp_slot_settle_off(slot);
}

static struct slots read_server_entries(struct mcp_servers *servers)
{
	const struct settings *settings = servers->options.settings;
	struct err err = ERR_INIT;
	json_auto_t *disabled = servers_disabled(settings_home(settings), &err);
	json_auto_t *warnings = json_array();
	json_auto_t *rows = servers->options.rows ? json_copy((json_t *)servers->options.rows) :
	                                            servers_configured(settings, warnings);
	struct slots slots = { mem_alloc(json_array_size(rows) + 1, sizeof(*slots.at)), 0 };
	json_t *row, *warning;
	size_t used = 0, i;

	if (err.message[0])
		servers_notice(servers, "warning", err.message);
	json_array_foreach(warnings, i, warning)
		servers_notice(servers, "warning", json_string_value(warning));
	json_array_foreach(rows, i, row) {
		struct mcp_server_slot *slot = &slots.at[slots.count++];

		slot->all = servers;
		slot->watched = json_object();
		slot->updated = json_object();
		slot->log = mcp_log_new();
		read_server_entry(slot, row, disabled);
		if (!slot->entry.off && ++used > LIMIT_MCP_SERVERS) {
			slot->ruled_out = mem_printf("there are more than %d", LIMIT_MCP_SERVERS);
			mcp_slot_settle_off(slot);
		}
	}
	return slots;
}

void mcp_servers_begin(struct mcp_servers *servers)
{
	const struct slots slots = read_server_entries(servers);
	json_auto_t *cached = NULL;

	pthread_mutex_lock(&servers->lock);
	servers->slots = slots.at;
	servers->count = slots.count;
	pthread_mutex_unlock(&servers->lock);
	if (!servers->options.idle)
		tell_off(servers);
	servers_open_cache(servers);
	for (size_t i = 0; i < servers->count; i++)
		mcp_slot_open_auth(&servers->slots[i]);
	cached = servers->cache && servers->count ? mcp_cache_load(servers->cache) : NULL;
	for (size_t i = 0; i < servers->count; i++)
		slot_open_cached(&servers->slots[i], cached);
}

struct mcp_servers *mcp_servers_open(const struct mcp_servers_options *options)
{
	struct mcp_servers *servers = mem_alloc(1, sizeof(*servers));

	servers->options = *options;
	json_incref(options->capabilities);
	if (options->workers)
		servers->workers = worker_options_copy(options->workers);
	servers->roots = list_roots(options->provider);
	pthread_mutex_init(&servers->lock, NULL);
	pthread_mutex_init(&servers->cache_lock, NULL);
	pthread_cond_init(&servers->changed, NULL);
	servers->paused = json_array();
	servers->approvals = json_object();
	mcp_servers_begin(servers);
	return servers;
}

void mcp_slots_stop(struct mcp_servers *servers, struct mcp_server_slot *slots, size_t count)
{
	_cleanup_free_ struct mcp_client **clients = mem_alloc(count + 1, sizeof(*clients));

	for (size_t i = 0; i < count; i++)
		atomic_store(&slots[i].stopping, true);
	for (size_t i = 0; i < count; i++)
		if (slots[i].has_thread)
			pthread_join(slots[i].thread, NULL);
	pthread_mutex_lock(&servers->lock);
	for (size_t i = 0; i < count; i++) {
		struct mcp_server_slot *slot = &slots[i];
		const struct slot_said nothing = { 0 };

		clients[i] = slot->client;
		slot_take(slot, NULL, &nothing);
		slot->has_thread = slot->asked = slot->missed = false;
		slot->failures = 0;
		slot->not_before_ms = 0;
		atomic_store(&slot->stopping, false);
	}
	pthread_mutex_unlock(&servers->lock);
	for (size_t i = 0; i < count; i++)
		if (clients[i])
			mcp_client_end(clients[i]);
	for (size_t i = 0; i < count; i++)
		mcp_client_unref(clients[i]);
}

static void slots_free(struct mcp_server_slot *slots, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		mcp_auth_free(slots[i].auth);
		free(slots[i].ruled_out);
		json_decref(slots[i].watched);
		json_decref(slots[i].updated);
		mcp_log_free(slots[i].log);
		json_decref(slots[i].row);
		mcp_entry_release(&slots[i].entry);
	}
	free(slots);
}

void mcp_servers_close(struct mcp_servers *servers)
{
	if (!servers)
		return;
	mcp_slots_stop(servers, servers->slots, servers->count);
	slots_free(servers->slots, servers->count);
	for (size_t i = 0; i < servers->retired_count; i++)
		slots_free(servers->retired[i].at, servers->retired[i].count);
	free(servers->retired);
	json_decref(servers->paused);
	if (servers->options.workers)
		worker_options_release(&servers->workers);
	json_decref(servers->roots);
	json_decref(servers->options.capabilities);
	free(servers->cache);
	free(servers->approvals_file);
	json_decref(servers->approvals);
	pthread_cond_destroy(&servers->changed);
	pthread_mutex_destroy(&servers->cache_lock);
	pthread_mutex_destroy(&servers->lock);
	free(servers);
}

/* Whether nothing more is to be expected of it for now. */
static bool slot_is_settled(const struct mcp_server_slot *slot)
{
	return slot->entry.off || slot->tools || slot->problem || !slot->has_thread;
}

static void tell_missing(struct mcp_server_slot *slot, unsigned ms)
{
	_cleanup_free_ char *text = NULL;

	if (slot_is_settled(slot) || slot->missed)
		return;
	slot->missed = true;
	text = mem_printf("The MCP server \"%s\" has not listed its tools within %u s; they can be "
	                  "used from the first prompt on after it has.", slot->entry.name,
	                  ms / 1000);
	servers_notice(slot->all, "warning", text);
}

/* The server has said that lists of its are others: asks for them.  With the lock, which is let go
 * meanwhile; what fails is as it was. */
static void slot_refresh(struct mcp_server_slot *slot, unsigned changed, unsigned ms,
                         const struct cancel *cancel)
{
	const struct mcp_wait wait = { .timeout_ms = ms ? ms : 1,
		                       .cancel = cancel ? &cancel->set : NULL,
		                       .cancel_fd = cancel_fd(cancel) };
	struct mcp_client *client = mcp_client_ref(slot->client);
	struct slot_said said = { json_incref(slot->tools), json_incref(slot->offers) };
	json_auto_t *declared = NULL;
	struct err ignored = ERR_INIT;

	pthread_mutex_unlock(&slot->all->lock);
	if (changed & MCP_TOOLS_CHANGED &&
	    mcp_client_list(client, "tools/list", "tools", LIMIT_MCP_TOOLS, &wait, &declared,
	                    &ignored)) {
		json_decref(said.tools);
		said.tools = slot_clean(slot, declared, /* known= */ false);
	}
	if (changed & (MCP_PROMPTS_CHANGED | MCP_RESOURCES_CHANGED)) {
		json_t *offers = mcp_offers_ask(client, &wait);

		json_object_update_missing(offers, said.offers);
		json_decref(said.offers);
		said.offers = offers;
	}
	slot_remember(slot, said.tools, said.offers);
	mcp_client_unref(client);
	pthread_mutex_lock(&slot->all->lock);
	slot_take_said(slot, &said);
}

void mcp_servers_wait(struct mcp_servers *servers, const struct cancel *cancel)
{
	const unsigned ms = settings_wait_ms(servers->options.settings,
	                                     "hasp.waits.serversSeconds", WAIT_SECONDS, 0, 600);
	const uint64_t until = clock_monotonic_ms() + ms;
	bool waiting = true;

	pthread_mutex_lock(&servers->lock);
	while (waiting) {
		waiting = false;
		for (size_t i = 0; i < servers->count; i++)
			waiting = waiting || !(slot_is_settled(&servers->slots[i]) ||
			                       servers->slots[i].missed);
		if (!waiting || cancelled(cancel) || clock_monotonic_ms() >= until)
			break;
		slot_wait(servers);
	}
	for (size_t i = 0; waiting && !cancelled(cancel) && i < servers->count; i++)
		tell_missing(&servers->slots[i], ms);
	for (size_t i = 0; i < servers->count; i++) {
		struct mcp_server_slot *slot = &servers->slots[i];
		unsigned changed = slot->client ? mcp_client_changed(slot->client) : 0;

		if (slot->client && mcp_client_listen(slot->client))
			changed = MCP_TOOLS_CHANGED | MCP_PROMPTS_CHANGED | MCP_RESOURCES_CHANGED;
		if (changed)
			slot_refresh(slot, changed, ms, cancel);
	}
	pthread_mutex_unlock(&servers->lock);
}

/* ---- for their tools ---- */

struct mcp_server_slot *mcp_servers_at(struct mcp_servers *servers, size_t i)
{
	struct mcp_server_slot *slot;

	pthread_mutex_lock(&servers->lock);
	slot = i < servers->count ? &servers->slots[i] : NULL;
	pthread_mutex_unlock(&servers->lock);
	return slot;
}

bool mcp_server_is_used(struct mcp_server_slot *slot)
{
	bool used;

	pthread_mutex_lock(&slot->all->lock);
	used = !slot->entry.off;
	pthread_mutex_unlock(&slot->all->lock);
	return used;
}

char *mcp_server_tool_name(const struct mcp_server_slot *slot, const char *tool)
{
	return mcp_declaration_name(slot->entry.name, tool, slot->all->options.plain_names);
}

json_t *mcp_server_tools(struct mcp_server_slot *slot)
{
	json_auto_t *tools = NULL;
	json_t *offered = json_array(), *declaration;
	size_t i;

	pthread_mutex_lock(&slot->all->lock);
	tools = json_incref(slot->tools);
	pthread_mutex_unlock(&slot->all->lock);
	json_array_foreach(tools, i, declaration)
		if (mcp_entry_offers(&slot->entry, declaration))
			json_array_append(offered, declaration);
	return offered;
}

json_t *mcp_server_offers(struct mcp_server_slot *slot)
{
	json_t *offers;

	pthread_mutex_lock(&slot->all->lock);
	offers = slot->offers ? json_incref(slot->offers) : json_object();
	pthread_mutex_unlock(&slot->all->lock);
	return offers;
}

/* ---- what has changed of resources ---- */

void mcp_server_watch(struct mcp_server_slot *slot, struct mcp_client *client, const char *uri,
                      const struct mcp_wait *wait)
{
	pthread_mutex_lock(&slot->all->lock);
	if (json_object_size(slot->watched) < LIMIT_MCP_WATCHED)
		json_object_set_new(slot->watched, uri, json_true());
	pthread_mutex_unlock(&slot->all->lock);
	mcp_client_watch(client, uri, wait);
}

json_t *mcp_server_updated(struct mcp_server_slot *slot)
{
	json_t *updated;

	pthread_mutex_lock(&slot->all->lock);
	if (slot->client)
		slot_keep_updated(slot);
	updated = slot->updated;
	slot->updated = json_object();
	pthread_mutex_unlock(&slot->all->lock);
	return updated;
}
