/* SPDX-License-Identifier: Apache-2.0 */
/* What the user does with servers: is asked about them, switches them on and off, allows tools that
 * have changed, looks at them, logs in at them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/servers.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/declared/declared.h"
#include "mcp/servers/entry.h"
#include "mcp/servers/kept.h"
#include "mcp/servers/slots.h"
#include "tool/tool.h"

/* ---- those that the user is asked about ---- */

json_t *mcp_servers_undecided(struct mcp_servers *servers)
{
	json_t *list = json_array();

	pthread_mutex_lock(&servers->lock);
	for (size_t i = 0; i < servers->count; i++)
		if (servers->slots[i].undecided)
			json_array_append(list, servers->slots[i].row);
	pthread_mutex_unlock(&servers->lock);
	return list;
}

bool mcp_servers_decide(struct mcp_servers *servers, const char *name, bool use, struct err *err)
{
	struct mcp_server_slot *slot = NULL;

	for (size_t i = 0; i < servers->count && !slot; i++)
		if (servers->slots[i].undecided && !strcmp(servers->slots[i].entry.name, name))
			slot = &servers->slots[i];
	if (!slot)
		return err_set(err, ERR_FILE_NOT_FOUND,
		               "There is no MCP server \"%.100s\" to be decided about.", name);
	if (!servers_decide(servers->options.settings, slot->row, use, err))
		return false;
	pthread_mutex_lock(&servers->lock);
	if (use) {
		free(slot->ruled_out);
		slot->ruled_out = NULL;
		slot->asks = false;
		mcp_slot_settle_off(slot);
	}
	slot->undecided = false;
	pthread_mutex_unlock(&servers->lock);
	if (use) {
		mcp_slot_open_auth(slot);
		mcp_slot_open_known(slot);
	}
	return true;
}

/* ---- switching them on and off ---- */

/* The one of this name, as Gemini CLI compares names. */
static struct mcp_server_slot *slot_called(struct mcp_servers *servers, const char *name,
                                           struct err *err)
{
	for (size_t i = 0; i < servers->count; i++)
		if (servers_same_name(servers->slots[i].entry.name, name))
			return &servers->slots[i];
	err_set(err, ERR_FILE_NOT_FOUND, "There is no MCP server \"%.100s\"; /mcp lists them.",
	        name);
	return NULL;
}

static bool slot_can_be_used(const struct mcp_server_slot *slot, struct err *err)
{
	const struct mcp_servers *all = slot->all;
	size_t used = 0;

	if (slot->ruled_out && !slot->asks)
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "The MCP server \"%s\" is not used: %s.", slot->entry.name,
		               slot->ruled_out);
	for (size_t i = 0; i < all->count; i++)
		used += !all->slots[i].entry.off;
	return !slot->entry.off || used < LIMIT_MCP_SERVERS ||
	       err_set(err, ERR_TOO_LARGE, "More than %d MCP servers cannot be used.",
	               LIMIT_MCP_SERVERS);
}

/* Whether the name is in the list of those that this session does without. */
static void servers_pause(struct mcp_servers *servers, const char *name, bool pause)
{
	for (size_t i = json_array_size(servers->paused); i-- > 0;)
		if (servers_same_name(json_string_value(json_array_get(servers->paused, i)), name))
			json_array_remove(servers->paused, i);
	if (pause)
		json_array_append_new(servers->paused, json_text(span_str(name)));
}

bool mcp_servers_switch(struct mcp_servers *servers, const char *name, bool use, bool session,
                        struct err *err)
{
	const struct home *home = settings_home(servers->options.settings);
	struct mcp_server_slot *slot = slot_called(servers, name, err);
	bool was_off, off;

	if (!slot || (use && !slot_can_be_used(slot, err)))
		return false;
	if (use && session && slot->disabled)
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "The MCP server \"%s\" is disabled in all sessions; "
		               "\"/mcp enable %s\" enables it.",
		               slot->entry.name, slot->entry.name);
	if (!session && !servers_disabled_set(home, slot->entry.name, !use, err))
		return false;
	if (use || session)
		servers_pause(servers, slot->entry.name, !use);
	pthread_mutex_lock(&servers->lock);
	was_off = slot->entry.off;
	slot->disabled = session ? slot->disabled : !use;
	slot->paused = use || session ? !use : slot->paused;
	mcp_slot_settle_off(slot);
	off = slot->entry.off;
	pthread_mutex_unlock(&servers->lock);
	if (off) {
		mcp_slots_stop(servers, slot, 1);
	} else if (was_off) {
		mcp_slot_open_auth(slot);
		mcp_slot_open_known(slot);
	}
	return true;
}

void mcp_servers_reload(struct mcp_servers *servers, const struct settings *settings)
{
	const struct slots before = { servers->slots, servers->count };

	pthread_mutex_lock(&servers->lock);
	for (size_t i = 0; i < before.count; i++) {
		free(before.at[i].ruled_out);
		before.at[i].ruled_out = mem_strdup("the settings were read again since");
		before.at[i].asks = false;
		mcp_slot_settle_off(&before.at[i]);
	}
	pthread_mutex_unlock(&servers->lock);
	mcp_slots_stop(servers, before.at, before.count);
	servers->retired = mem_grow(servers->retired, &servers->retired_cap,
	                            servers->retired_count + 1, sizeof(*servers->retired));
	servers->retired[servers->retired_count++] = before;
	servers->options.settings = settings;
	mcp_servers_begin(servers);
}

/* ---- what was allowed ---- */

/* The program, or the address without what may be a secret. */
static json_t *slot_what(const struct server_entry *entry)
{
	struct span url = span_str(entry->url ? entry->url : ""), host = url;
	const char *slashes = strstr(url.data, "://");
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_LOG_LINE);
	size_t at;

	if (!entry->url)
		return json_text(span_str(entry->argv ? entry->argv[0] : ""));
	url = span_head(url, strcspn(url.data, "?#"));
	host = slashes ? span_skip(url, (size_t)(slashes - url.data) + 3) : url;
	buf_span(&out, span_head(url, url.len - host.len));
	for (at = strcspn(host.data, "/"); at > 0 && at <= host.len; at--)
		if (host.data[at - 1] == '@')
			break;
	buf_span(&out, span_skip(host, at <= host.len ? at : 0));
	return json_text(buf_view(&out));
}

/* What the server declares under that name now; with the lock. Borrowed. */
static const json_t *slot_declaration(const struct mcp_server_slot *slot, const json_t *known)
{
	const struct span name = json_span(json_object_get(known, "name"));
	size_t i;
	json_t *declaration;

	json_array_foreach(slot->tools, i, declaration)
		if (span_eq(json_span(json_object_get(declaration, "name")), name))
			return declaration;
	return known;
}

/* With the lock. */
static bool slot_tool_changed(const struct mcp_server_slot *slot, const json_t *known,
                              struct tool_change *ret)
{
	const char *name = json_string_value(json_object_get(known, "name"));
	const json_t *before = mcp_approvals_get(slot->all->approvals, slot->entry.name, name);
	json_auto_t *what = slot_what(&slot->entry);
	const struct mcp_approval_server server = { slot->entry.identity, what, slot->users };

	*ret = (struct tool_change){ .state = mcp_approval_of(&server,
	                                                      slot_declaration(slot, known)) };
	if (!before || mcp_approval_eq(before, ret->state))
		return false;
	mcp_approval_compare(before, ret->state, ret);
	return true;
}

/* With the lock. */
static void slot_tool_allowed(struct mcp_server_slot *slot, const json_t *known, json_t *state)
{
	struct mcp_servers *all = slot->all;
	const char *name = json_string_value(json_object_get(known, "name"));
	const json_t *before = mcp_approvals_get(all->approvals, slot->entry.name, name);

	if (!before || !mcp_approval_is_kept(before, state))
		mcp_approvals_set(all->approvals, all->approvals_file, slot->entry.name, name,
		                  state);
}

bool mcp_server_tool_changed(struct mcp_server_slot *slot, const json_t *declaration,
                             struct tool_change *ret)
{
	bool changed;

	pthread_mutex_lock(&slot->all->lock);
	changed = slot_tool_changed(slot, declaration, ret);
	pthread_mutex_unlock(&slot->all->lock);
	return changed;
}

void mcp_server_tool_allowed(struct mcp_server_slot *slot, const json_t *declaration,
                             const struct tool_change *change)
{
	pthread_mutex_lock(&slot->all->lock);
	slot_tool_allowed(slot, declaration, change->state);
	pthread_mutex_unlock(&slot->all->lock);
}

/* ---- to be shown ---- */

static const char *slot_state(const struct mcp_server_slot *slot)
{
	if (slot->disabled || (slot->paused && slot->entry.off))
		return "disabled";
	if (slot->entry.off)
		return "off";
	if (slot->starting)
		return "starting";
	if (slot->client && !mcp_client_lost(slot->client))
		return "ready";
	if (slot->problem)
		return "failed";
	return slot->tools ? "known" : slot->has_thread ? "starting" : "unknown";
}

enum { OWN_NAME_SHOWN = 256 }; /* bytes */

static json_t *slot_tool_shown(const struct mcp_server_slot *slot, const json_t *declaration,
                               const char *name)
{
	json_auto_t *own = mcp_clean_text(json_object_get(declaration, "name"), OWN_NAME_SHOWN);
	json_t *shown = json_pack("{s:o, s:o, s:O, s:O, s:o}", "name", json_text(span_str(name)),
	                          "tool", json_show_unseen(own, NULL),
	                          "title", json_object_get(declaration, "title"),
	                          "description", json_object_get(declaration, "description"),
	                          "parameters", mcp_declaration_schema(declaration));
	struct tool_change change;

	if (slot_tool_changed(slot, declaration, &change))
		json_object_set_new(shown, "changed", json_text(span_str(change.lines)));
	tool_change_release(&change);
	return shown;
}

static json_t *slot_tools_shown(const struct mcp_server_slot *slot)
{
	json_t *list = json_array(), *declaration;
	size_t i;

	json_array_foreach(slot->tools, i, declaration) {
		const char *own = json_string_value(json_object_get(declaration, "name"));
		_cleanup_free_ char *name = mcp_slot_tool_name(slot, own);

		if (mcp_entry_offers(&slot->entry, declaration))
			json_array_append_new(list, slot_tool_shown(slot, declaration, name));
	}
	return list;
}

/* What it says it is, harmless. A new reference. */
static json_t *slot_server_info(const struct mcp_server_slot *slot)
{
	const json_t *said = json_object_get(mcp_client_hello(slot->client), "serverInfo");
	json_auto_t *own = json_object();
	static const char *const members[] = { "name", "title", "version" };

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_is_string(json_object_get(said, members[i])))
			json_object_set_new(own, members[i],
			                    mcp_clean_text(json_object_get(said, members[i]),
			                                   LIMIT_MCP_LOG_LINE));
	return json_show_unseen(own, NULL);
}

static json_t *slot_shown(struct mcp_server_slot *slot)
{
	const struct server_entry *entry = &slot->entry;
	json_t *shown = json_object();

	json_object_set_new(shown, "name", json_text(span_str(entry->name)));
	json_object_set_new(shown, "state", json_string(slot_state(slot)));
	json_object_set_new(shown, "transport", json_string(
		entry->websocket ? "tcp" : !entry->http ? "stdio" :
		entry->kind == MCP_HTTP_SSE ? "sse" : "http"));
	json_object_set_new(shown, "what", slot_what(entry));
	json_object_set(shown, "origin", json_object_get(slot->row, "origin"));
	json_object_set(shown, "file", json_object_get(slot->row, "file"));
	if (entry->off && json_object_get(slot->row, "asks"))
		json_object_set(shown, "asks", json_object_get(slot->row, "asks"));
	json_object_set_new(shown, "tools", slot_tools_shown(slot));
	json_object_update_missing(shown, slot->offers);
	json_object_set_new(shown, "log", mcp_log_kept(slot->log));
	if (slot->auth && mcp_auth_requires_login(slot->auth))
		json_object_set_new(shown, "login", json_string("needed"));
	if (entry->off || slot->problem)
		json_object_set_new(shown, "problem", json_text(span_str(entry->off ? entry->off :
		                                                         slot->problem)));
	if (slot->client) {
		json_object_set_new(shown, "version",
		                    json_string(mcp_client_version(slot->client)));
		json_object_set_new(shown, "server", slot_server_info(slot));
	}
	return shown;
}

json_t *mcp_servers_list(struct mcp_servers *servers)
{
	json_t *list = json_array();

	pthread_mutex_lock(&servers->lock);
	for (size_t i = 0; i < servers->count; i++)
		json_array_append_new(list, slot_shown(&servers->slots[i]));
	pthread_mutex_unlock(&servers->lock);
	return list;
}

static struct mcp_server_slot *slot_named(struct mcp_servers *servers, const char *name,
                                          struct err *err)
{
	for (size_t i = 0; i < servers->count; i++)
		if (!strcmp(servers->slots[i].entry.name, name))
			return &servers->slots[i];
	err_set(err, ERR_FILE_NOT_FOUND, "The settings have no MCP server \"%.100s\".", name);
	return NULL;
}

bool mcp_servers_login(struct mcp_servers *servers, const char *name, const struct cancel *cancel,
                       struct err *err)
{
	struct mcp_server_slot *slot = slot_named(servers, name, err);
	struct mcp_client *client;
	bool used;

	if (!slot)
		return false;
	pthread_mutex_lock(&servers->lock);
	used = mcp_slot_is_used(slot, err);
	slot->not_before_ms = 0;
	pthread_mutex_unlock(&servers->lock);
	if (!used)
		return false;
	if (!slot->auth)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The MCP server \"%s\" has no login of hasp's.", name);
	mcp_auth_resume_logins(slot->auth);
	mcp_auth_forget_refusal(slot->auth);
	if (!mcp_server_client(slot, cancel, &client, err))
		return false;
	mcp_client_unref(client);
	return true;
}

bool mcp_servers_logout(struct mcp_servers *servers, const char *name, struct err *err)
{
	struct mcp_server_slot *slot = slot_named(servers, name, err);

	if (!slot)
		return false;
	return slot->auth ? mcp_auth_logout(slot->auth, err) :
	                    err_set(err, ERR_INVALID_ARGUMENT,
	                            "The MCP server \"%s\" has no login of hasp's.", name);
}

void mcp_servers_allow(struct mcp_servers *servers, const char *name)
{
	pthread_mutex_lock(&servers->lock);
	for (size_t i = 0; i < servers->count; i++) {
		struct mcp_server_slot *slot = &servers->slots[i];
		size_t at;
		json_t *declaration;

		if (strcmp(slot->entry.name, name) != 0)
			continue;
		json_array_foreach(slot->tools, at, declaration) {
			struct tool_change change;

			if (slot_tool_changed(slot, declaration, &change))
				slot_tool_allowed(slot, declaration, change.state);
			tool_change_release(&change);
		}
	}
	pthread_mutex_unlock(&servers->lock);
}

bool mcp_servers_test(struct mcp_servers *servers, const char *name, const struct cancel *cancel,
                      json_t **ret_denials, struct err *err)
{
	struct mcp_server_slot *slot = slot_named(servers, name, err);
	struct mcp_client *client;

	*ret_denials = json_array();
	if (!slot)
		return false;
	if (!mcp_server_client(slot, cancel, &client, err))
		return false;
	json_decref(*ret_denials);
	*ret_denials = mcp_client_denials(client, 0, NULL);
	mcp_client_unref(client);
	return true;
}
