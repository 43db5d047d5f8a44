/* SPDX-License-Identifier: Apache-2.0 */
/* Extensions of the session: lists, enables, disables and reloads them, with everything they
 * provide. */
#include <stdlib.h>
#include <string.h>

#include "agent/host/private.h"
#include "agent/setup/policy_load.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "bus/bus.h"
#include "config/extensions.h"
#include "data/json.h"
#include "install/install.h"
#include "install/market.h"
#include "tool/set.h"

/* ---- what there is --------------------------------------------------------------- */

static json_t *host_extension_row(const struct extension *extension)
{
	struct err err = ERR_INIT;
	json_auto_t *said = extension_manifest_read(extension->folder, NULL, &err);
	_cleanup_free_ char *brings =
		said ? install_brings(extension->folder, said) : mem_strdup("");
	_cleanup_free_ char *source =
		extension_line(json_span(json_object_get(extension->origin, "source")));
	const char *problem = extension->off ? extension->off : said ? NULL : err.message;
	const char *type = json_string_value(json_object_get(extension->origin, "type"));
	json_t *row = json_pack("{s:s, s:o, s:b, s:b, s:b, s:o, s:o}", "name", extension->name,
	                        "version", json_cstr(extension->version), "enabled",
	                        extension->enabled, "used", extension_counts(extension), "changed",
	                        extension->off != NULL, "brings", json_text(span_str(brings)),
	                        "source", json_text(span_str(source)));

	json_object_set_new(row, "updates", json_boolean(type && strcmp(type, "link") != 0));
	if (problem)
		json_object_set_new(row, "problem", json_text(span_str(problem)));
	return row;
}

json_t *host_extensions(const struct host *host)
{
	const struct extensions *all = extensions_installed(host->options.settings);
	json_t *rows = json_array();

	for (size_t i = 0; i < all->count; i++)
		json_array_append_new(rows, host_extension_row(&all->at[i]));
	return json_pack("{s:o, s:O}", "extensions", rows, "notices", all->notices);
}

/* ---- reloading what they provide ------------------------------------------------- */

/* The MCP servers of those that count, to be compared. A new object. */
static json_t *servers_of_extensions(const struct settings *settings)
{
	const struct extensions *all = extensions_installed(settings);
	json_t *servers = json_object();

	for (size_t i = 0; i < all->count; i++) {
		json_t *own = json_object_get(all->at[i].manifest, "mcpServers");

		if (extension_counts(&all->at[i]) && json_object_size(own))
			json_object_set(servers, all->at[i].name, own);
	}
	return servers;
}

static void extensions_renew_rules(struct host *host)
{
	struct settings *settings = host->options.settings;
	json_auto_t *problems = json_array();
	const json_t *problem;
	size_t i;

	setup_renew_extension_rules(host->options.policy, settings, problems);
	json_array_foreach(problems, i, problem) {
		_cleanup_free_ char *text = setup_policy_problem_text(problem);

		host_warn(host, text);
	}
}

/* As host_extensions_reload; servers that are started by it are not waited for. */
static bool extensions_take(struct host *host, struct err *err)
{
	struct settings *settings = host->options.settings;
	json_auto_t *before = servers_of_extensions(settings), *after = NULL, *excluded = NULL;

	extensions_renew(settings);
	after = servers_of_extensions(settings);
	excluded = extensions_excluded_tools(settings);
	extensions_renew_rules(host);
	host_renew_hooks(host);
	tool_set_limit(host->chat.tools, settings_get(settings, "tools.core"), excluded);
	host_take_new_tools(host);
	return host_skills_reload(host, err) && host_agents_reload(host, err) &&
	       host_memory_reload(host, err) &&
	       (json_equal(before, after) || host_reload_servers(host, err));
}

/* ---- those that have changed ----------------------------------------------------- */

/* Whether there is a user who says yes; takes `text`. *ret_nobody (may be NULL): there is none. */
static bool extension_yes(struct host *host, char *text, bool *ret_nobody)
{
	json_auto_t *message = json_pack("{s:[{s:s, s:s, s:o}]}", "questions", "header",
	                                 "Extension", "type", "yesno", "question",
	                                 json_text(span_str(text)));
	json_auto_t *answer = NULL;
	const enum bus_reply reply = bus_ask(host->bus, BUS_ASK_USER_REQUEST, message, 0,
	                                     &host->cancel, &answer);

	free(text);
	if (ret_nobody)
		*ret_nobody = reply != BUS_ANSWERED;
	return reply == BUS_ANSWERED &&
	       span_eq(json_span(json_object_get(json_object_get(answer, "answers"), "0")),
	               SPAN("Yes"));
}

/* Whether the user says yes to the files that it has now. */
static bool extension_ask(struct host *host, const struct extension *extension)
{
	const struct home *home = settings_home(host->options.settings);
	_cleanup_free_ char *brings = NULL, *shown = NULL;
	struct sha256 before, after;
	struct err err = ERR_INIT;
	bool ok;

	if (!extension_content_hash(extension->folder, &before, &err))
		return false;
	shown = install_approval(extension, home, &brings, &err);
	if (!shown) {
		host_warn(host, err.message);
		return false;
	}
	if (!extension_yes(host,
	                   mem_printf("The files of the extension \"%s\" have changed since you "
	                              "said yes to them. Use it as it is now?\n%s",
	                              extension->name, shown), NULL))
		return false;
	/* The yes is to what was shown. */
	ok = extension_content_hash(extension->folder, &after, &err) &&
	     (sha256_eq(&before, &after) ||
	      err_set(&err, ERR_INVALID_ARGUMENT, "The files of the extension \"%s\" have changed "
	              "again: it is not used.", extension->name)) &&
	     extension_consent_record(home, extension->name, extension->folder, brings, &err);
	if (!ok)
		host_warn(host, err.message);
	return ok;
}

/* Asks the user, once, about extensions whose files have changed, and loads what accepted ones
 * provide now. With no one to ask they stay disabled. */
static void ask_about_changed(struct host *host)
{
	const struct extensions *all = extensions_installed(host->options.settings);
	struct err err = ERR_INIT;
	bool any = false;

	if (host->extensions_asked)
		return;
	host->extensions_asked = true;
	for (size_t i = 0; i < all->count; i++)
		if (all->at[i].off && extension_ask(host, &all->at[i]))
			any = true;
	if (any && !extensions_take(host, &err))
		host_warn(host, err.message);
}

/* ---- at the user's word ---------------------------------------------------------- */

bool host_extensions_reload(struct host *host, struct err *err)
{
	if (!extensions_take(host, err))
		return false;
	host->extensions_asked = false;
	host_begin(host);
	ask_about_changed(host);
	host_end(host);
	host_renew_servers(host);
	return true;
}

/* Where the user named no scope it is the user's. */
static void publish_extension_switched(struct host *host, const char *name, const char *scope,
                                       bool enable)
{
	json_auto_t *message = json_pack("{s:s, s:s, s:s, s:s}", "action",
	                                 enable ? "enable" : "disable", "name", name, "scope",
	                                 scope ? scope : "user", "status", "success");

	bus_publish(host->bus, BUS_EXTENSION, message);
}

bool host_extension_switch(struct host *host, const char *name, const char *scope, bool enable,
                           char **ret_sentence, struct err *err)
{
	struct settings *settings = host->options.settings;
	const struct extension *extension = extension_named(extensions_installed(settings), name);

	if (!extension)
		return err_set(err, ERR_INVALID_ARGUMENT, "Extension \"%.100s\" not found.", name);
	if (!extension_switch(settings, extension, scope, enable, ret_sentence, err))
		return false;
	publish_extension_switched(host, name, scope, enable);
	return host_extensions_reload(host, err);
}

/* The yes to what it brings, where that is asked for. */
static bool update_agreed(struct host *host, const struct extension *extension,
                          const struct install *install, struct err *err)
{
	bool nobody, yes;

	if (!install->asks)
		return true;
	host_begin(host);
	yes = extension_yes(host, mem_printf("Use the extension \"%s\" as it would be?\n%s",
	                                     extension->name, install->consent), &nobody);
	host_end(host);
	if (yes)
		return true;
	return nobody ? err_set(err, ERR_DENIED_BY_USER,
	                        "Extension \"%s\" was not updated: its contents have changed, and "
	                        "this run has no way to ask. In a shell: hasp extensions update %s",
	                        extension->name, extension->name) :
	                err_set(err, ERR_DENIED_BY_USER, "Extension \"%s\" was not updated.",
	                        extension->name);
}

bool host_extension_update(struct host *host, const char *name, char **ret_sentence,
                           bool *ret_changed, struct err *err)
{
	struct settings *settings = host->options.settings;
	const struct extension *extension = extension_named(extensions_installed(settings), name);
	_cleanup_free_ char *version = NULL;
	struct install install;
	bool idle, ok;

	if (!extension)
		return err_set(err, ERR_INVALID_ARGUMENT, "Extension \"%.100s\" not found.", name);
	if (!install_update_open(extension, settings, &install, err))
		return false;
	idle = install.current || (install.same && !install.asks && !extension->off);
	version = extension_line(json_span(json_object_get(install.manifest, "version")));
	ok = idle || (update_agreed(host, extension, &install, err) &&
	              install_do(&install, settings, err));
	install_release(&install);
	if (!ok)
		return false;
	*ret_changed = !idle;
	*ret_sentence = idle ? mem_printf("Extension \"%s\" is already up to date.",
	                                  extension->name) :
	                       mem_printf("Extension \"%s\" successfully updated: %s -> %s.",
	                                  extension->name, extension->version, version);
	return true;
}

json_t *host_extensions_explore(const struct host *host, const char *word)
{
	json_t *notices = json_array();
	json_t *all = market_explore(word, host->options.settings, notices);

	return json_pack("{s:o, s:o}", "marketplaces", all, "notices", notices);
}

/* ---- prompts --------------------------------------------------------------------- */

bool host_prompt(struct host *host, struct span piped, struct span prompt,
                 struct agent_outcome *outcome, struct err *err)
{
	bool ok;

	host_begin(host);
	ask_about_changed(host);
	host->prompting = true;
	ok = host_send(host, piped, prompt, outcome, err);
	host->prompting = false;
	host_lend_end(host);
	host_end(host);
	return ok;
}
