/* SPDX-License-Identifier: Apache-2.0 */
/* /extensions: lists what is installed and what each brings; enables, disables and reloads. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "front/command/private.h"

static const char *extension_member(const json_t *row, const char *name)
{
	const char *text = json_string_value(json_object_get(row, name));

	return text ? text : "";
}

/* ---- what there is --------------------------------------------------------------- */

static void extension_say(struct command_call *call, const json_t *row)
{
	const bool used = json_is_true(json_object_get(row, "used"));
	const bool enabled = json_is_true(json_object_get(row, "enabled"));
	const char *state = used                                         ? "enabled" :
	                    !enabled                                     ? "disabled" :
	                    json_is_true(json_object_get(row, "changed")) ? "changed, not used" :
	                                                                   "not used";
	const char *source = extension_member(row, "source");
	const char *problem = extension_member(row, "problem");
	_cleanup_free_ char *line = mem_printf("%s, %s%s%s", extension_member(row, "version"),
	                                       state, *source ? ", from " : "", source);

	command_term(call, extension_member(row, "name"), 24, span_str(line),
	             STYLE(used ? ROLE_TEXT : ROLE_DIM));
	if (*problem)
		command_text(call, STYLE(ROLE_WARNING), span_str(problem));
	command_text(call, STYLE(ROLE_DIM), json_span(json_object_get(row, "brings")));
}

static void extensions_say_notices(struct command_call *call, const json_t *all)
{
	const json_t *notice;
	size_t i;

	json_array_foreach(json_object_get(all, "notices"), i, notice)
		command_text(call, STYLE(ROLE_WARNING), json_span(notice));
}

/* All of them, or that of this name. */
static void extensions_list(struct command_call *call)
{
	json_auto_t *all = host_extensions(call->context->host);
	const json_t *rows = json_object_get(all, "extensions"), *row;
	size_t i, shown = 0;

	if (json_array_size(rows))
		command_heading(call, "Installed extensions:");
	json_array_foreach(rows, i, row) {
		if (call->arguments.len &&
		    !command_word_is(call->arguments, extension_member(row, "name")))
			continue;
		extension_say(call, row);
		shown++;
	}
	if (call->arguments.len && !shown) {
		command_fail(call, "Extension \"%.*s\" not found.", (int)call->arguments.len,
		             call->arguments.data);
		return;
	}
	if (!shown)
		command_say(call, STYLE(ROLE_TEXT), "No extensions installed. \"hasp extensions "
		            "install SOURCE\" installs one.");
	extensions_say_notices(call, all);
	call->result->pager = shown > 3;
}

/* ---- what changes it ------------------------------------------------------------- */

/* NAME [--scope[=]WHICH]; *ret_scope is NULL where there is none. False: something else. */
static bool extension_words(struct span arguments, char **ret_name, char **ret_scope)
{
	const struct span name = command_word(&arguments);
	struct span word = command_word(&arguments);

	*ret_name = *ret_scope = NULL;
	if (!name.len || span_starts(name, SPAN("-")))
		return false;
	if (span_starts(word, SPAN("--scope=")))
		word = span_skip(word, strlen("--scope="));
	else if (span_eq(word, SPAN("--scope")))
		word = command_word(&arguments);
	else if (word.len)
		return false;
	else
		word = SPAN("");
	if (arguments.len)
		return false;
	*ret_name = mem_dup(name.data, name.len);
	*ret_scope = word.len ? mem_dup(word.data, word.len) : NULL;
	return true;
}

static void extension_turn(struct command_call *call, bool enable)
{
	_cleanup_free_ char *name = NULL, *scope = NULL, *sentence = NULL;
	struct err err = ERR_INIT;

	if (!extension_words(call->arguments, &name, &scope))
		command_usage(call);
	else if (!host_extension_switch(call->context->host, name, scope, enable, &sentence, &err))
		command_fail(call, "%s", err.message);
	else
		command_say(call, STYLE(ROLE_TEXT), "%s", sentence);
}

static void extensions_enable(struct command_call *call)
{
	extension_turn(call, true);
}

static void extensions_disable(struct command_call *call)
{
	extension_turn(call, false);
}

/* How many are used. */
static size_t extensions_used(const json_t *all)
{
	const json_t *row;
	size_t i, count = 0;

	json_array_foreach(json_object_get(all, "extensions"), i, row)
		count += json_is_true(json_object_get(row, "used"));
	return count;
}

/* Gemini CLI's takes names, or --all; here everything that they bring is reloaded together. */
static void extensions_reload(struct command_call *call)
{
	struct host *host = call->context->host;
	json_auto_t *all = NULL;
	struct err err = ERR_INIT;

	if (!host_extensions_reload(host, &err)) {
		command_fail(call, "Failed to reload extensions: %s", err.message);
		return;
	}
	all = host_extensions(host);
	command_say(call, STYLE(ROLE_TEXT), "Extensions reloaded successfully: %zu used.",
	            extensions_used(all));
	extensions_say_notices(call, all);
}

/* ---- updates --------------------------------------------------------------------- */

/* One of several fails alone. */
static bool extension_update(struct command_call *call, const char *name, bool *ret_changed)
{
	_cleanup_free_ char *sentence = NULL;
	struct err err = ERR_INIT;
	bool changed = false;

	if (!host_extension_update(call->context->host, name, &sentence, &changed, &err)) {
		command_fail(call, "%s", err.message);
		return false;
	}
	*ret_changed = *ret_changed || changed;
	command_say(call, STYLE(ROLE_TEXT), "%s", sentence);
	return true;
}

/* NAME, or --all: those that came from somewhere, as "hasp extensions update" has it. */
static void extensions_update(struct command_call *call)
{
	struct host *host = call->context->host;
	const bool all = command_word_is(call->arguments, "--all");
	json_auto_t *listed = NULL;
	const json_t *row;
	struct err err = ERR_INIT;
	bool changed = false;
	size_t i;

	if (!all) {
		_cleanup_free_ char *name = mem_dup(call->arguments.data, call->arguments.len);

		extension_update(call, name, &changed);
	}
	listed = all ? host_extensions(host) : NULL;
	json_array_foreach(json_object_get(listed, "extensions"), i, row)
		if (json_is_true(json_object_get(row, "updates")))
			extension_update(call, extension_member(row, "name"), &changed);
	if (all && !call->result->rows.count && call->result->ok)
		command_say(call, STYLE(ROLE_TEXT), "There is no extension to be updated.");
	if (changed && !host_extensions_reload(host, &err))
		command_fail(call, "Failed to reload extensions: %s", err.message);
}

/* ---- marketplaces ---------------------------------------------------------------- */

static void plugin_say(struct command_call *call, const json_t *plugin)
{
	const char *installed = extension_member(plugin, "installed");
	const char *problem = extension_member(plugin, "problem");
	const char *about = extension_member(plugin, "description");
	const char *from = extension_member(plugin, "from");
	const char *taken = extension_member(plugin, "taken");
	_cleanup_free_ char *line = mem_printf("%s%s%s", extension_member(plugin, "version"),
	                                       *installed ? ", installed: " : "", installed);
	const struct span shown = span_str(*extension_member(plugin, "version") || !*installed ?
	                                           line : line + strlen(", "));

	command_term(call, extension_member(plugin, "name"), 24, shown, STYLE(ROLE_TEXT));
	if (*about)
		command_say(call, STYLE(ROLE_DIM), "    %s", about);
	if (*from)
		command_say(call, STYLE(ROLE_DIM), "    From: %s", from);
	if (*problem)
		command_say(call, STYLE(ROLE_WARNING), "    Cannot be installed: %s.", problem);
	if (*taken)
		command_say(call, STYLE(ROLE_WARNING),
		            "    There is an extension \"%s\" from elsewhere.", taken);
}

static void market_say(struct command_call *call, const json_t *market)
{
	const char *name = extension_member(market, "name");
	_cleanup_free_ char *heading = mem_printf("Marketplace %s (%s), %s", name,
	                                          extension_member(market, "format"),
	                                          extension_member(market, "source"));
	const json_t *plugin;
	size_t i;

	if (json_object_get(market, "error")) {
		command_fail(call, "%s", extension_member(market, "error"));
		return;
	}
	command_heading(call, heading);
	json_array_foreach(json_object_get(market, "plugins"), i, plugin)
		plugin_say(call, plugin);
	extensions_say_notices(call, market);
	command_say(call, STYLE(ROLE_DIM), json_is_true(json_object_get(market, "kept")) ?
	            "To install one, in a shell: hasp extensions install NAME@%s" :
	            "To install one, in a shell, first: hasp extensions marketplace add %s",
	            json_is_true(json_object_get(market, "kept")) ?
	            name : extension_member(market, "source"));
}

static void extensions_explore(struct command_call *call)
{
	_cleanup_free_ char *word = call->arguments.len ?
		mem_dup(call->arguments.data, call->arguments.len) : NULL;
	json_auto_t *said = host_extensions_explore(call->context->host, word);
	const json_t *all = json_object_get(said, "marketplaces"), *market;
	size_t i;

	extensions_say_notices(call, said);
	json_array_foreach(all, i, market)
		market_say(call, market);
	if (!json_array_size(all))
		command_say(call, STYLE(ROLE_TEXT), "No marketplaces are kept. \"hasp extensions "
		            "marketplace add SOURCE\" adds one.");
	call->result->pager = call->result->rows.count > 20;
}

/* ---- the table ------------------------------------------------------------------- */

static const struct extension_switch {
	const char *name, *alias; /* `alias` may be NULL */
	command_handler *run;
	bool works; /* it changes what the session has, or asks servers: not while a prompt is
	             * under way, and on the thread of prompts */
} extensions_actions[] = {
	{ "list", "ls", extensions_list, false },
	{ "enable", NULL, extensions_enable, true },
	{ "disable", NULL, extensions_disable, true },
	{ "update", NULL, extensions_update, true },
	{ "explore", NULL, extensions_explore, true },
	{ "reload", "restart", extensions_reload, true },
};

static const struct extension_switch *extensions_action_of(struct span word)
{
	for (size_t i = 0; i < ARRAY_LEN(extensions_actions); i++) {
		const struct extension_switch *action = &extensions_actions[i];

		if (command_word_is(word, action->name) ||
		    (action->alias && command_word_is(word, action->alias)))
			return action;
	}
	return NULL;
}

bool command_extensions_works(struct span arguments)
{
	const struct extension_switch *action = extensions_action_of(command_word(&arguments));

	return action && action->works;
}

void command_extensions(struct command_call *call)
{
	const struct span word = command_word(&call->arguments);
	const struct extension_switch *action = extensions_action_of(word);

	(action ? action : &extensions_actions[0])->run(call);
}

/* Those that the action could be about. */
static void complete_extension_names(struct command_completion *completion,
                                     const struct extension_switch *action)
{
	json_auto_t *all = host_extensions(completion->context->host);
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(all, "extensions"), i, row) {
		const bool enabled = json_is_true(json_object_get(row, "enabled"));

		if ((action->run == extensions_update &&
		     !json_is_true(json_object_get(row, "updates"))) ||
		    (action->run == extensions_enable && enabled) ||
		    (action->run == extensions_disable && !enabled))
			continue;
		completion->add(completion, extension_member(row, "name"),
		                extension_member(row, "version"));
	}
}

void command_complete_extensions(struct command_completion *completion)
{
	struct span before = completion->before;
	const struct extension_switch *action = extensions_action_of(command_word(&before));

	if (action && !before.len && action->run != extensions_explore)
		complete_extension_names(completion, action);
}
