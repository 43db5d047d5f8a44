/* SPDX-License-Identifier: Apache-2.0 */
/* hasp extensions explore and marketplace: lists of plugins, and which of them are kept. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/private.h"
#include "cli/view/agent_output.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "data/json.h"
#include "install/market.h"

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

bool extensions_market_explore(const struct invocation *invocation, const struct settings *settings,
                        struct err *err)
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

bool extensions_market_check(const struct invocation *invocation, struct err *err)
{
	const char *action = invocation_positional(invocation, 1);
	const size_t given = invocation->positional_count;

	if (!action || (!strcmp(action, "list") && given == 2) ||
	    ((!strcmp(action, "add") || !strcmp(action, "remove")) && given == 3))
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "hasp extensions marketplace takes list, add SOURCE or remove NAME.");
}

bool extensions_market_manage(const struct invocation *invocation, const struct settings *settings,
                            struct err *err)
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
