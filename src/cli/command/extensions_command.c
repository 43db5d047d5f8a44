/* SPDX-License-Identifier: Apache-2.0 */
/* hasp extensions: which there are, where they are enabled; installed, linked, removed, checked;
 * lists of plugins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/session/record.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "bus/bus.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/invocation.h"
#include "cli/view/agent_output.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "config/extensions.h"
#include "data/json.h"
#include "install/install.h"
#include "install/inventory.h"
#include "install/market.h"
#include "telemetry/telemetry.h"

/* hasp extensions explore and marketplace: lists of plugins, and which of them are kept. */

static const char *market_member(const json_t *row, const char *name)
{
	const char *text = json_string_value(json_object_get(row, name));

	return text ? text : "";
}

static void put_plugin(struct buf *out, const json_t *plugin)
{
	const char *version = market_member(plugin, "version");
	const char *about = market_member(plugin, "description");
	const char *installed = market_member(plugin, "installed");
	const char *taken = market_member(plugin, "taken");
	const char *problem = market_member(plugin, "problem");

	render_printf(out, "%s%s%s%s", market_member(plugin, "name"), *version ? " (" : "", version,
	              *version ? ")" : "");
	if (*installed)
		render_printf(out, ", installed: %s", installed);
	buf_char(out, '\n');
	if (*about)
		render_printf(out, "  %s\n", about);
	if (*market_member(plugin, "from"))
		render_printf(out, "  From: %s\n", market_member(plugin, "from"));
	if (*problem)
		render_printf(out, "  Cannot be installed: %s.\n", problem);
	if (*taken)
		render_printf(out, "  There is an extension \"%s\" from elsewhere.\n", taken);
}

static void put_market(struct buf *out, const json_t *market)
{
	const json_t *plugins = json_object_get(market, "plugins"), *plugin;
	size_t i;

	render_printf(out, "Marketplace %s (%s), %s\n\n", market_member(market, "name"),
	              market_member(market, "format"), market_member(market, "source"));
	json_array_foreach(plugins, i, plugin)
		put_plugin(out, plugin);
	if (!json_array_size(plugins))
		buf_str(out, "It lists nothing.\n");
	if (json_is_true(json_object_get(market, "kept")))
		render_printf(out, "\nTo install one: hasp extensions install NAME@%s\n",
		              market_member(market, "name"));
	else
		render_printf(out, "\nTo install one, first: hasp extensions marketplace add %s\n",
		              market_member(market, "source"));
}

static void complain_of(const json_t *sentences)
{
	const json_t *sentence;
	size_t i;

	json_array_foreach(sentences, i, sentence)
		output_complain(json_string_value(sentence));
}

/* explore [MARKETPLACE]: prints what is listed. Errors as of market_keep. */
static bool extensions_market_explore(const struct invocation *invocation,
                                      const struct settings *settings, struct err *err)
{
	json_auto_t *notices = json_array();
	json_auto_t *all = market_explore(invocation_positional(invocation, 1), settings, notices);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const bool as_json = invocation_has(invocation, FLAG_JSON);
	const char *error = NULL;
	const json_t *market;
	size_t i;

	complain_of(notices);
	json_array_foreach(all, i, market) {
		const char *failed = market_member(market, "error");

		complain_of(json_object_get(market, "notices"));
		if (error && *failed)
			output_complain(error);
		if (*failed)
			error = failed;
		else if (!as_json)
			put_market(&out, market);
	}
	if (!as_json && !json_array_size(all))
		buf_str(&out, "No marketplaces are kept. \"hasp extensions marketplace add "
		              "SOURCE\" adds one.\n");
	return (as_json ? output_json(all, /* indent= */ true, err) :
	                  agent_output_lines(buf_view(&out), err)) &&
	       (!error || err_set(err, ERR_INVALID_ARGUMENT, "%s", error));
}

/* ---- those that are kept ------------------------------------------------------------------ */

static bool markets_list(const struct invocation *invocation, const struct home *home,
                         struct err *err)
{
	json_auto_t *notices = json_array(), *kept = markets_kept(home, notices);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const char *name;
	json_t *one;

	complain_of(notices);
	json_object_foreach(kept, name, one) {
		const char *ref = market_member(one, "ref");
		const bool own = !strcmp(market_member(one, "keptBy"), "hasp");
		_cleanup_free_ char *text = mem_printf("%s%s%s%s", market_member(one, "source"),
		                                       *ref ? ", " : "", ref,
		                                       own ? "" : " (Claude Code's)");
		_cleanup_free_ char *line = extension_line(span_str(text));

		render_printf(&out, "%s: %s\n", name, line);
	}
	if (invocation_has(invocation, FLAG_JSON))
		return output_json(kept, /* indent= */ true, err);
	if (!json_object_size(kept))
		buf_str(&out, "No marketplaces are kept.\n");
	return agent_output_lines(buf_view(&out), err);
}

/* Whether the words after marketplace are what the next one takes. */
static bool extensions_market_check(const struct invocation *invocation, struct err *err)
{
	const char *action = invocation_positional(invocation, 1);
	const size_t given = invocation->positional_count;

	if (!action || (!strcmp(action, "list") && given == 2) ||
	    ((!strcmp(action, "add") || !strcmp(action, "remove")) && given == 3))
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "hasp extensions marketplace takes list, add SOURCE or remove NAME.");
}

/* marketplace [list|add SOURCE|remove NAME], as checked. Errors as of market_keep and
 * market_forget. */
static bool extensions_market_manage(const struct invocation *invocation,
                                     const struct settings *settings, struct err *err)
{
	const struct home *home = settings_home(settings);
	const char *action = invocation_positional(invocation, 1);
	const char *word = invocation_positional(invocation, 2);
	_cleanup_free_ char *name = NULL, *line = NULL;

	if (!word)
		return markets_list(invocation, home, err);
	if (!strcmp(action, "add")) {
		if (!market_keep(home, word, invocation_value(invocation, FLAG_REF), &name, err))
			return false;
		line = mem_printf("Marketplace \"%s\" added. What it lists: hasp extensions "
		                  "explore %s\n", name, name);
		return agent_output_lines(span_str(line), err);
	}
	if (!market_forget(home, word, err))
		return false;
	line = mem_printf("Marketplace \"%s\" removed.\n", word);
	return agent_output_lines(span_str(line), err);
}

struct extensions_command {
	const struct invocation *invocation;
	struct settings *settings;
	const struct extensions *all;
	struct bus *bus; /* changes are published there; telemetry listens */
};

static bool say_line(const char *text, struct err *err)
{
	_cleanup_free_ char *line = mem_printf("%s\n", text);

	return agent_output_lines(span_str(line), err);
}

/* ---- what is published ---------------------------------------------------------------- */

static void complain_of_telemetry(void *data, enum severity severity, const char *message)
{
	(void)data;
	(void)severity;
	output_complain(message);
}

/* NULL: it is off. */
static struct telemetry *open_command_telemetry(const struct extensions_command *command)
{
	_cleanup_free_ char *id = record_new_id();

	return telemetry_open(&(struct telemetry_options){
		.settings = command->settings, .bus = command->bus, .session_id = id,
		.approval_mode = "default", .notices = { complain_of_telemetry, NULL } });
}

static void publish_scope(const struct extensions_command *command, const char *name, bool enable)
{
	const char *scope = invocation_value(command->invocation, FLAG_SCOPE);
	json_auto_t *message = json_pack("{s:s, s:o, s:s, s:s}", "action",
	                                 enable ? "enable" : "disable", "name", json_cstr(name),
	                                 "scope", scope ? scope : "user", "status", "success");

	bus_publish(command->bus, BUS_EXTENSION, message);
}

/* `before`: the version that an update replaces; NULL: it was installed. */
static void publish_install(const struct extensions_command *command,
                            const struct install *install, const char *before, bool ok)
{
	json_auto_t *message = json_pack("{s:s, s:s}", "action", before ? "update" : "install",
	                                 "status", ok ? "success" : "error");

	json_object_set(message, "name", json_object_get(install->manifest, "name"));
	json_object_set(message, "version", json_object_get(install->manifest, "version"));
	json_object_set(message, "source", json_object_get(install->origin, "type"));
	if (before)
		json_object_set_new(message, "previousVersion", json_cstr(before));
	bus_publish(command->bus, BUS_EXTENSION, message);
}

/* ---- which there are ----------------------------------------------------------------- */

static bool is_enabled_for(const struct extensions_command *command,
                           const struct extension *extension, const char *folder)
{
	struct err ignored = ERR_INIT;
	json_auto_t *rules = extensions_enablement(settings_home(command->settings), &ignored);

	return extension_enabled_in(rules, extension->name, folder);
}

static json_t *extension_row(const struct extensions_command *command,
                             const struct extension *extension)
{
	const struct home *home = settings_home(command->settings);
	json_t *source = json_object_get(extension->origin, "source");
	json_t *type = json_object_get(extension->origin, "type");

	return json_pack("{s:o, s:o, s:s, s:o, s:O?, s:O?, s:O, s:b, s:b, s:b}", "name",
	                 json_cstr(extension->name), "version", json_cstr(extension->version),
	                 "format", extension_format_title(extension->manifest), "path",
	                 json_name(extension->folder), "source", source, "type", type,
	                 "unused", extension_unused(extension->manifest),
	                 "enabledUser",
	                 is_enabled_for(command, extension, home_user(home)), "enabledWorkspace",
	                 is_enabled_for(command, extension, home_project(home)), "used",
	                 extension_counts(extension));
}

static void put_extension(struct buf *out, const struct extensions_command *command,
                          const struct extension *extension)
{
	const struct home *home = settings_home(command->settings);
	struct err ignored = ERR_INIT;
	json_auto_t *said = extension_manifest_read(extension->folder, NULL, &ignored);
	_cleanup_free_ char *brings = install_brings(extension->folder, said);
	_cleanup_free_ char *path = extension_line(span_str(extension->folder));

	render_printf(out, "%s (%s)%s\n  Path: %s\n", extension->name, extension->version,
	              extension_counts(extension) ? "" : ", not used here", path);
	if (extension_format(extension->manifest) != EXTENSION_GEMINI)
		render_printf(out, "  Format: %s\n", extension_format_title(extension->manifest));
	if (extension->origin) {
		_cleanup_free_ char *source = extension_line(
			json_span(json_object_get(extension->origin, "source")));
		_cleanup_free_ char *type = extension_line(
			json_span(json_object_get(extension->origin, "type")));

		render_printf(out, "  Source: %s (Type: %s)\n", source, type);
	}
	buf_printf(out, "  Enabled (User): %s\n  Enabled (Workspace): %s\n%s",
	           is_enabled_for(command, extension, home_user(home)) ? "true" : "false",
	           is_enabled_for(command, extension, home_project(home)) ? "true" : "false",
	           brings);
	cli_extension_unset_put(out, extension, said);
	buf_char(out, '\n');
}

/* Those that are not used for it. */
static void complain_of_changed(const struct extensions *all)
{
	for (size_t i = 0; i < all->count; i++) {
		_cleanup_free_ char *sentence = extension_off_sentence(&all->at[i]);

		if (sentence)
			output_complain(sentence);
	}
}

static int list_installed(struct extensions_command *command)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const bool as_json = invocation_has(command->invocation, FLAG_JSON);
	json_auto_t *rows = json_array();
	struct err err = ERR_INIT;
	const json_t *notice;
	size_t i;

	json_array_foreach(command->all->notices, i, notice)
		output_complain(json_string_value(notice));
	complain_of_changed(command->all);
	for (i = 0; i < command->all->count; i++)
		if (as_json)
			json_array_append_new(rows, extension_row(command, &command->all->at[i]));
		else
			put_extension(&out, command, &command->all->at[i]);
	if (as_json)
		return output_json(rows, /* indent= */ true, &err) ?
		               CLI_OK : output_fail(&err, CLI_FAILED);
	if (!command->all->count)
		buf_str(&out, "No extensions installed.\n");
	return agent_output_lines(buf_view(&out), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* ---- where they are enabled ---------------------------------------------------------- */

static bool is_workspace(const char *scope)
{
	return scope && (!strcmp(scope, "workspace") || !strcmp(scope, "project"));
}

static bool switch_one(struct extensions_command *command, const char *name, bool enable,
                       struct err *err)
{
	const char *scope = invocation_value(command->invocation, FLAG_SCOPE);
	const struct extension *extension = extension_named(command->all, name);
	_cleanup_free_ char *text = NULL;

	if (!extension)
		return err_set(err, ERR_INVALID_ARGUMENT, "Extension \"%.100s\" not found.", name);
	if (!extension_switch(command->settings, extension, scope, enable, &text, err))
		return false;
	publish_scope(command, name, enable);
	return say_line(text, err);
}

static bool enable_one(struct extensions_command *command, const char *name, struct err *err)
{
	return switch_one(command, name, true, err);
}

static bool disable_one(struct extensions_command *command, const char *name, struct err *err)
{
	return switch_one(command, name, false, err);
}

/* ---- put in and taken out ------------------------------------------------------------ */

/* Asks at standard input; without an answer it is no. */
static bool is_consented(const struct extensions_command *command, const char *consent, bool asks,
                         struct err *err)
{
	char answer[16] = "";
	struct span word;

	if (!agent_output_lines(span_str(consent), err))
		return false;
	if (!asks || invocation_has(command->invocation, FLAG_CONSENT))
		return true;
	output_complain("This extension is third-party code. Use it? [y/N]");
	if (!fgets(answer, sizeof(answer), stdin))
		answer[0] = '\0';
	word = span_trim(span_str(answer));
	if (span_eq(word, SPAN("y")) || span_eq(word, SPAN("Y")) || span_eq(word, SPAN("yes")))
		return true;
	return err_set(err, ERR_DENIED_BY_USER,
	               "Nothing was installed. Without a terminal, --consent is required.");
}

static const struct extension *extension_find(const struct extensions_command *command,
                                              const char *name, struct err *err)
{
	const struct extension *extension = extension_named(command->all, name);

	if (!extension)
		err_set(err, ERR_INVALID_ARGUMENT, "Extension \"%.100s\" not found.", name);
	return extension;
}

static bool update_one(struct extensions_command *command, const char *name, struct err *err)
{
	const struct extension *extension = extension_find(command, name, err);
	_cleanup_free_ char *version = NULL, *text = NULL;
	struct install install;
	bool ok;

	if (!extension || !install_update_open(extension, command->settings, &install, err))
		return false;
	if (install.current) {
		text = mem_printf("Extension \"%s\" is already up to date.", extension->name);
		return say_line(text, err);
	}
	version = extension_line(json_span(json_object_get(install.manifest, "version")));
	text = install.same ? mem_printf("Extension \"%s\" is already up to date.",
	                                 extension->name) :
	                      mem_printf("Extension \"%s\" successfully updated: %s -> %s.",
	                                 extension->name, extension->version, version);
	/* Files that changed here since are asked about as any. */
	ok = install.same && !install.asks && !extension->off &&
	     json_equal(install.origin, extension->origin);
	if (!ok) {
		ok = (install.same && !install.asks ?
		              true : is_consented(command, install.consent, install.asks, err)) &&
		     install_do(&install, command->settings, err);
		publish_install(command, &install, extension->version, ok);
	}
	install_release(&install);
	return ok && say_line(text, err);
}

static bool approve_one(struct extensions_command *command, const char *name, struct err *err)
{
	const struct home *home = settings_home(command->settings);
	const struct extension *extension = extension_find(command, name, err);
	_cleanup_free_ char *brings = NULL, *consent = NULL, *text = NULL;

	consent = extension ? install_approval(extension, home, &brings, err) : NULL;
	if (!consent)
		return false;
	text = mem_printf("Extension \"%s\" is used with the files that it has now.",
	                  extension->name);
	return is_consented(command, consent, true, err) &&
	       extension_consent_record(home, extension->name, extension->folder, brings, err) &&
	       say_line(text, err);
}

/* config [NAME [SETTING]] */
static bool extension_settings_run(struct extensions_command *command, struct err *err)
{
	const char *name = invocation_positional(command->invocation, 1);
	const char *word = invocation_positional(command->invocation, 2);
	const struct extension *extension = name ? extension_find(command, name, err) : NULL;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	if (name && !extension)
		return false;
	if (is_workspace(invocation_value(command->invocation, FLAG_SCOPE)))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Settings of extensions are the user's: there is no --scope "
		               "project.");
	if (word)
		return cli_extension_setting_change(extension, word, err);
	for (size_t i = 0; i < command->all->count; i++)
		if (!extension || extension == &command->all->at[i])
			cli_extension_settings_put(&out, &command->all->at[i]);
	return agent_output_lines(buf_view(&out), err);
}

/* ---- put in ----------------------------------------------------------------------------- */

static bool install_from(struct extensions_command *command, const char *source, bool link,
                         struct err *err)
{
	const struct invocation *invocation = command->invocation;
	const struct install_wish wish = {
		.source = source, .link = link, .ref = invocation_value(invocation, FLAG_REF),
		.auto_update = invocation_has(invocation, FLAG_AUTO_UPDATE),
		.pre_release = invocation_has(invocation, FLAG_PRE_RELEASE),
	};
	struct install install;
	_cleanup_free_ char *text = NULL;
	bool ok;

	if (!install_open(&wish, command->settings, &install, err))
		return false;
	ok = cli_extension_settings_check(command->invocation, install.manifest, err) &&
	     is_consented(command, install.consent, true, err) &&
	     install_do(&install, command->settings, err);
	publish_install(command, &install, NULL, ok);
	text = mem_printf("Extension \"%s\" %s successfully and enabled.",
	                  json_string_value(json_object_get(install.manifest, "name")),
	                  link ? "linked" : "installed");
	ok = ok && say_line(text, err) &&
	     cli_extension_settings_fill_in(command->invocation, command->settings,
	                                    install.manifest, err);
	command->all = extensions_installed(command->settings);
	install_release(&install);
	return ok;
}

static bool install_one(struct extensions_command *command, const char *source, struct err *err)
{
	return install_from(command, source, false, err);
}

static bool link_one(struct extensions_command *command, const char *source, struct err *err)
{
	return install_from(command, source, true, err);
}

static bool uninstall_one(struct extensions_command *command, const char *name, struct err *err)
{
	_cleanup_free_ char *text = mem_printf("Extension \"%s\" successfully uninstalled.", name);
	json_auto_t *message = json_pack("{s:s, s:o, s:s}", "action", "uninstall", "name",
	                                 json_cstr(name), "status", "success");

	if (!install_remove(command->settings, name, err))
		return false;
	bus_publish(command->bus, BUS_EXTENSION, message);
	return say_line(text, err);
}

static bool new_one(struct extensions_command *command, const char *folder, struct err *err)
{
	_cleanup_free_ char *text = mem_printf("Successfully created a new extension in %s.\n"
	                                       "To use it here: hasp extensions link %s", folder,
	                                       folder);

	(void)command;
	return install_new(folder, err) && say_line(text, err);
}

static bool validate_one(struct extensions_command *command, const char *folder, struct err *err)
{
	_cleanup_free_ char *real = realpath(folder, NULL), *lines = NULL, *text = NULL;
	_cleanup_inventory_ struct inventory inventory = { 0 };
	json_auto_t *manifest = extension_manifest_read(real ? real : folder, NULL, err);
	const char *name = json_string_value(json_object_get(manifest, "name"));
	size_t broken;

	(void)command;
	if (!manifest)
		return false;
	inventory_add_extension(&inventory, real, manifest);
	broken = inventory_count(&inventory, PIECE_BROKEN);
	lines = inventory_lines(&inventory, NULL);
	text = mem_printf("Extension \"%s\" is %svalid. It brings:\n%s", name,
	                  broken ? "not " : "", lines);
	return agent_output_lines(span_str(text), err) &&
	       (!broken || err_set(err, ERR_INVALID_ARGUMENT,
	                           "Extension \"%s\" is not valid: %zu of its pieces %s broken.",
	                           name, broken, broken == 1 ? "is" : "are"));
}

static bool explore_run(struct extensions_command *command, struct err *err)
{
	return extensions_market_explore(command->invocation, command->settings, err);
}

static bool marketplace_run(struct extensions_command *command, struct err *err)
{
	return extensions_market_manage(command->invocation, command->settings, err);
}

/* ---- which is asked for -------------------------------------------------------------- */

/* A row for each action but list: what its word is, and what it does for one. */
static const struct extensions_action {
	const char *word, *takes;
	bool many;
	bool (*one)(struct extensions_command *command, const char *word, struct err *err);
	bool (*whole)(struct extensions_command *command, struct err *err); /* in place of it */
	size_t most; /* of that: words; */
	bool json;   /* and whether it takes --json */
} actions[] = {
	{ "config", "an extension and one of its settings", false, NULL, extension_settings_run,
	  3, false },
	{ "explore", "a marketplace", false, NULL, explore_run, 2, true },
	{ "marketplace", "list, add SOURCE or remove NAME", false, NULL, marketplace_run, 3,
	  true },
	{ "enable", "the name of an extension", false, enable_one, NULL, 0, false },
	{ "disable", "the name of an extension", false, disable_one, NULL, 0, false },
	{ "install", "a folder, an archive or an address", false, install_one, NULL, 0, false },
	{ "link", "the folder of an extension", false, link_one, NULL, 0, false },
	{ "update", "the name of an extension, or --all", false, update_one, NULL, 0, false },
	{ "approve", "the name of an extension", false, approve_one, NULL, 0, false },
	{ "uninstall", "names of extensions", true, uninstall_one, NULL, 0, false },
	{ "new", "the folder to make", false, new_one, NULL, 0, false },
	{ "validate", "the folder of an extension", false, validate_one, NULL, 0, false },
};

static const struct extensions_action *action_named(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (!strcmp(actions[i].word, word))
			return &actions[i];
	return NULL;
}

static bool check_extensions_words(const struct invocation *invocation,
                                   const struct extensions_action *action, struct err *err)
{
	const size_t count = invocation->positional_count;

	if (!action)
		return (count <= 1 && !invocation_has(invocation, FLAG_ALL)) ||
		       err_set(err, ERR_INVALID_ARGUMENT,
		               "hasp extensions list takes no arguments%s.",
		               count <= 1 ? ", and no --all" : "");
	if (action->whole)
		return (count <= action->most && !invocation_has(invocation, FLAG_ALL) &&
		        (action->json || !invocation_has(invocation, FLAG_JSON))) ||
		       err_set(err, ERR_INVALID_ARGUMENT, "hasp extensions %s takes %s at most.",
		               action->word, action->takes);
	if (action->one == update_one && invocation_has(invocation, FLAG_ALL))
		return count == 1 || err_set(err, ERR_INVALID_ARGUMENT,
		                             "hasp extensions update takes a name or --all.");
	if (invocation_has(invocation, FLAG_ALL))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "hasp extensions %s takes no --all.", action->word);
	if (count < 2 || (count > 2 && !action->many))
		return err_set(err, ERR_INVALID_ARGUMENT, "hasp extensions %s takes %s.",
		               action->word, action->takes);
	return !invocation_has(invocation, FLAG_JSON) ||
	       err_set(err, ERR_INVALID_ARGUMENT, "hasp extensions %s takes no --json.",
	               action->word);
}

/* All but those that cannot be, linked ones above all. */
static int update_all(struct extensions_command *command)
{
	int code = CLI_OK;

	for (size_t i = 0; i < command->all->count; i++) {
		const struct extension *one = &command->all->at[i];
		const char *type = json_string_value(json_object_get(one->origin, "type"));
		struct err err = ERR_INIT;

		if (type && strcmp(type, "link") != 0 && !update_one(command, one->name, &err))
			code = output_fail(&err, CLI_FAILED);
	}
	return code;
}

int command_run_extensions(const struct invocation *invocation)
{
	const char *word = invocation_positional(invocation, 0);
	const struct extensions_action *action = word ? action_named(word) : NULL;
	struct extensions_command command = { .invocation = invocation };
	_cleanup_free_ char *project = NULL;
	struct telemetry *telemetry = NULL;
	struct err err = ERR_INIT;
	int code = CLI_OK;

	if (!check_extensions_words(invocation, action, &err) ||
	    (word && !strcmp(word, "marketplace") && !extensions_market_check(invocation, &err)))
		return output_fail(&err, CLI_USAGE);
	if (!command_open_project(invocation, &project, &command.settings, &err))
		return output_fail(&err, CLI_FAILED);
	command.all = extensions_installed(command.settings);
	command.bus = bus_new();
	if (!action)
		code = list_installed(&command);
	else
		telemetry = open_command_telemetry(&command);
	if (action && action->whole && !action->whole(&command, &err))
		code = output_fail(&err, CLI_FAILED);
	for (size_t i = 1; action && action->one && i < invocation->positional_count; i++)
		if (!action->one(&command, invocation->positionals[i], &err)) {
			code = output_fail(&err, CLI_FAILED);
			err = (struct err)ERR_INIT;
		}
	if (action && invocation_has(invocation, FLAG_ALL))
		code = update_all(&command);
	telemetry_close(telemetry);
	bus_free(command.bus);
	settings_free(command.settings);
	return code;
}
