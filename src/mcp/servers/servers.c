/* SPDX-License-Identifier: Apache-2.0 */
/* The servers of a session: when each is started, what is known of it, who may use it. */
#include "mcp/servers/servers.h"

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
#include "mcp/client/client.h"
#include "mcp/declared/declared.h"
#include "mcp/servers/entry.h"
#include "mcp/servers/kept.h"
#include "mcp/servers/slots.h"
#include "tool/tool.h"

enum {
	WAIT_SECONDS = 10,     /* as the setting's default is */
	LATE_PART = 5,         /* one in so many of that for a server that was late last time */
	SLOT_POLL_MS = 20,
	PAUSE_FIRST_MS = 1000, /* after a second failure; doubles */
	PAUSE_MAX_MS = 60000,
	OFF_REPORTED = 20,     /* servers that cannot be used */
};

const struct server_entry *mcp_server_entry_of(const struct mcp_server_slot *server)
{
	return &server->entry;
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
static void slot_take_said(struct mcp_server_slot *slot, const struct mcp_slot_said *said)
{
	json_decref(slot->tools);
	json_decref(slot->offers);
	slot->tools = said->tools;
	slot->offers = said->offers;
}

static void slot_take(struct mcp_server_slot *slot, struct mcp_client *client,
                      const struct mcp_slot_said *said)
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
                            struct mcp_slot_said *said, struct err *err)
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

/* What it offers was taken.  Called with the lock, which is released meanwhile. */
static void slot_listed(struct mcp_server_slot *slot)
{
	const struct mcp_servers_options *options = &slot->all->options;

	if (!options->listed)
		return;
	pthread_mutex_unlock(&slot->all->lock);
	options->listed(options->data, slot->entry.name);
	pthread_mutex_lock(&slot->all->lock);
}

/* The lock is let go meanwhile. */
static bool slot_start_locked(struct mcp_server_slot *slot, const struct cancel *cancel,
                              struct err *err)
{
	struct mcp_servers *all = slot->all;
	struct mcp_client *client = NULL;
	struct mcp_slot_said said = { 0 };
	json_auto_t *watched = json_copy(slot->watched);
	struct err why = ERR_INIT;
	bool ok;

	slot->starting = true;
	pthread_mutex_unlock(&all->lock);
	ok = mcp_slot_start(slot, watched, cancel, &client, &said, &why);
	if (ok)
		slot_remember(slot, said.tools, said.offers);
	pthread_mutex_lock(&all->lock);
	if (ok && slot->entry.off) {
		ok = slot_drop_start(slot, client, &said, &why) && false;
	} else if (ok) {
		slot_take(slot, client, &said);
	} else if (why.code != ERR_CANCELLED) {
		slot_failed(slot, &why);
	}
	slot->starting = false;
	pthread_cond_broadcast(&all->changed);
	if (ok) /* not before: who waits would see it start with its tools there */
		slot_listed(slot);
	else
		*err = why;
	return ok;
}

/* What its client has reported of resources. */
static void slot_keep_updated(struct mcp_server_slot *slot)
{
	json_auto_t *updated = mcp_client_updated(slot->client);

	json_object_update(slot->updated, updated);
}

static bool slot_client_locked(struct mcp_server_slot *slot, const struct cancel *cancel,
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
			if (cancelled(cancel))
				return err_set(err, ERR_CANCELLED, "The call was cancelled.");
			slot_wait(slot->all);
		} else if (!slot_may_start(slot, err) || !slot_start_locked(slot, cancel, err)) {
			return false;
		}
	}
	return false;
}

bool mcp_server_client(struct mcp_server_slot *slot, const struct cancel *cancel,
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
		mcp_auth_suspend_logins(slot->auth);
	ok = mcp_server_client(slot, &slot->stopping, &client, &err);
	if (slot->auth)
		mcp_auth_resume_logins(slot->auth);
	if (ok) {
		mcp_client_unref(client);
	} else if (err.code != ERR_CANCELLED && !cancelled(&slot->stopping)) {
		_cleanup_free_ char *text = mem_printf("The MCP server \"%s\" cannot be used: %s",
		                                       slot->entry.name, err.message);

		notices_say(&slot->all->options.notices, SEVERITY_WARNING, text);
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
			.login = options->login, .notices = options->notices,
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
		struct mcp_slot_said said = {
			.tools = mcp_slot_recall(slot, json_object_get(known, "tools")),
			.offers = mcp_offers_clean(json_object_get(known, "offers")),
		};

		pthread_mutex_lock(&all->lock);
		slot_take_said(slot, &said);
		pthread_mutex_unlock(&all->lock);
	}
	if (known || all->options.idle)
		return;
	pthread_mutex_lock(&all->lock);
	slot->late = mcp_cache_was_late(cached, slot->entry.name, slot->entry.hash);
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
	size_t reported = 0;

	for (size_t i = 0; i < servers->count; i++) {
		const struct server_entry *entry = &servers->slots[i].entry;
		_cleanup_free_ char *text = NULL;

		/* Who leaves one out by a setting knows it. */
		if (!entry->off || servers->slots[i].disabled || servers->slots[i].paused ||
		    json_is_true(json_object_get(servers->slots[i].row, "quiet")) ||
		    span_starts(span_str(entry->off), SPAN("mcp.")) ||
		    ++reported > OFF_REPORTED)
			continue;
		text = mem_printf("The MCP server \"%s\" is not used: %s.", entry->name,
		                  entry->off);
		notices_say(&servers->options.notices, SEVERITY_WARNING, text);
	}
	if (reported > OFF_REPORTED) {
		_cleanup_free_ char *text = mem_printf(
			"%zu more MCP servers are not used: /mcp, or \"hasp mcp list\", says why.",
			reported - OFF_REPORTED);

		notices_say(&servers->options.notices, SEVERITY_WARNING, text);
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
		notices_say(&servers->options.notices, SEVERITY_WARNING, err.message);
	json_array_foreach(warnings, i, warning)
		notices_say(&servers->options.notices, SEVERITY_WARNING,
		            json_string_value(warning));
	json_array_foreach(rows, i, row) {
		struct mcp_server_slot *slot = &slots.at[slots.count++];

		slot->all = servers;
		slot->watched = json_object();
		slot->updated = json_object();
		slot->log = mcp_log_new();
		cancel_init_lazily(&slot->stopping);
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
		cancel_set(&slots[i].stopping);
	for (size_t i = 0; i < count; i++)
		if (slots[i].has_thread)
			pthread_join(slots[i].thread, NULL);
	pthread_mutex_lock(&servers->lock);
	for (size_t i = 0; i < count; i++) {
		struct mcp_server_slot *slot = &slots[i];
		const struct mcp_slot_said nothing = { 0 };

		clients[i] = slot->client;
		slot_take(slot, NULL, &nothing);
		slot->has_thread = slot->asked = slot->missed = false;
		slot->failures = 0;
		slot->not_before_ms = 0;
		cancel_reset(&slot->stopping);
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
		cancel_release(&slots[i].stopping);
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

/* Whether it is running, failed or off: no longer starting. */
static bool slot_is_settled(const struct mcp_server_slot *slot)
{
	return slot->entry.off || slot->tools || slot->problem || !slot->has_thread;
}

/* Called with the lock, which is released meanwhile. */
static void tell_missing(struct mcp_server_slot *slot, unsigned ms)
{
	_cleanup_free_ char *text = NULL;

	if (slot_is_settled(slot) || slot->missed)
		return;
	slot->missed = true;
	text = mem_printf("The MCP server \"%s\" has not listed its tools within %u s%s; they can "
	                  "be used from the first prompt on after it has.", slot->entry.name,
	                  ((slot->late ? ms / LATE_PART : ms) + 999) / 1000,
	                  slot->late ? ", nor in time for the session before" : "");
	notices_say(&slot->all->options.notices, SEVERITY_WARNING, text);
	pthread_mutex_unlock(&slot->all->lock);
	slot_remember(slot, NULL, NULL);
	pthread_mutex_lock(&slot->all->lock);
}

/* Whether the session still waits for it after `passed_ms` of `ms`. */
static bool slot_is_waited_for(const struct mcp_server_slot *slot, uint64_t passed_ms, unsigned ms)
{
	return !slot_is_settled(slot) && !slot->missed &&
	       passed_ms < (slot->late ? ms / LATE_PART : ms);
}

/* Fetches the lists that the server has reported as changed.  Called with the lock, which is
 * released meanwhile; a list that cannot be fetched stays as it was. */
static void slot_refresh(struct mcp_server_slot *slot, unsigned changed, unsigned ms,
                         const struct cancel *cancel)
{
	const struct mcp_wait wait = { .timeout_ms = ms ? ms : 1,
		                       .cancel = cancel };
	struct mcp_client *client = mcp_client_ref(slot->client);
	struct mcp_slot_said said = { json_incref(slot->tools), json_incref(slot->offers) };
	json_auto_t *declared = NULL;
	struct err ignored = ERR_INIT;

	pthread_mutex_unlock(&slot->all->lock);
	if (changed & 1u << MCP_TOOLS &&
	    mcp_client_list(client, MCP_TOOLS, &wait, &declared, &ignored)) {
		json_decref(said.tools);
		said.tools = mcp_slot_clean(slot, declared);
	}
	if (changed & ~(1u << MCP_TOOLS)) {
		json_t *offers = mcp_offers_ask(client, &wait);

		json_object_update_missing(offers, said.offers);
		json_decref(said.offers);
		said.offers = offers;
	}
	slot_remember(slot, said.tools, said.offers);
	mcp_client_unref(client);
	pthread_mutex_lock(&slot->all->lock);
	slot_take_said(slot, &said);
	slot_listed(slot);
}

void mcp_servers_wait(struct mcp_servers *servers, const struct cancel *cancel)
{
	const unsigned ms = settings_wait_ms(servers->options.settings,
	                                     "hasp.waits.serversSeconds", WAIT_SECONDS, 0, 600);
	const uint64_t begin = clock_monotonic_ms();
	bool waiting = true;

	pthread_mutex_lock(&servers->lock);
	while (waiting && !cancelled(cancel)) {
		const uint64_t passed_ms = clock_monotonic_ms() - begin;

		waiting = false;
		for (size_t i = 0; i < servers->count; i++)
			waiting = waiting ||
			          slot_is_waited_for(&servers->slots[i], passed_ms, ms);
		if (waiting)
			slot_wait(servers);
	}
	for (size_t i = 0; !cancelled(cancel) && i < servers->count; i++)
		tell_missing(&servers->slots[i], ms);
	for (size_t i = 0; i < servers->count; i++) {
		struct mcp_server_slot *slot = &servers->slots[i];
		unsigned changed = slot->client ? mcp_client_changed(slot->client) : 0;

		if (slot->client && mcp_client_listen(slot->client))
			changed = (1u << MCP_LISTS) - 1;
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

/* Whether another tool of the slot has the name: one that is before `tool` (NULL: any), or that is
 * called exactly so. */
static bool slot_has_name(const struct mcp_server_slot *slot, const char *name, const char *tool)
{
	const bool plain = slot->all->options.plain_names;
	bool behind = false;
	const json_t *declaration;
	size_t i;

	json_array_foreach(slot->tools, i, declaration) {
		const char *other = json_string_value(json_object_get(declaration, "name"));
		_cleanup_free_ char *its = NULL;

		if (tool && strcmp(other, tool) == 0) {
			behind = true;
			continue;
		}
		its = behind ? mem_printf("mcp_%s_%s", slot->entry.name, other) :
		               mcp_declaration_name(slot->entry.name, other, plain);
		if (strcmp(its, name) == 0)
			return true;
	}
	return false;
}

/* Whether "mcp_SERVER_" of both can begin the same name. */
static bool slot_may_share(const struct mcp_server_slot *slot, const char *name)
{
	const bool plain = slot->all->options.plain_names;
	_cleanup_free_ char *head = mcp_declaration_name(slot->entry.name, "", plain);

	return span_starts(span_str(name), span_head(span_str(head), 30));
}

char *mcp_slot_tool_name(const struct mcp_server_slot *slot, const char *tool)
{
	const struct mcp_servers *all = slot->all;
	const bool plain = all->options.plain_names;
	char *name = mcp_declaration_name(slot->entry.name, tool, plain);
	_cleanup_free_ char *exact = mem_printf("mcp_%s_%s", slot->entry.name, tool);
	bool taken = strcmp(exact, name) != 0 && slot_has_name(slot, name, tool);

	for (size_t i = 0; i < all->count && &all->slots[i] != slot && !taken; i++)
		taken = slot_may_share(&all->slots[i], name) &&
		        slot_has_name(&all->slots[i], name, NULL);
	if (!taken)
		return name;
	free(name);
	return mcp_declaration_other_name(slot->entry.name, tool, plain);
}

char *mcp_server_tool_name(const struct mcp_server_slot *slot, const char *tool)
{
	char *name;

	pthread_mutex_lock(&slot->all->lock);
	name = mcp_slot_tool_name(slot, tool);
	pthread_mutex_unlock(&slot->all->lock);
	return name;
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
