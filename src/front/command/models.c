/* SPDX-License-Identifier: Apache-2.0 */
/* /model: which models the keys can reach, and which one answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/schema.h"
#include "model/choose.h"
#include "front/command/private.h"

static const char *model_member(const json_t *row, const char *name)
{
	const char *text = json_string_value(json_object_get(row, name));

	return text ? text : "";
}

/* ---- effort ---------------------------------------------------------------------- */

static const struct effort {
	const char *name;
	enum model_thinking thinking;
	const char *help;
} efforts[] = {
	{ "default", MODEL_THINK_DEFAULT, "As the settings or the provider say" },
	{ "off", MODEL_THINK_OFF, "Do not think, where the model can do without" },
	{ "low", MODEL_THINK_LOW, "Think a little" },
	{ "medium", MODEL_THINK_MEDIUM, "Think" },
	{ "high", MODEL_THINK_HIGH, "Think a lot" },
};

static const char *effort_name(enum model_thinking thinking)
{
	for (size_t i = 0; i < ARRAY_LEN(efforts); i++)
		if (efforts[i].thinking == thinking)
			return efforts[i].name;
	return "default";
}

static const struct effort *effort_named(struct span word)
{
	for (size_t i = 0; i < ARRAY_LEN(efforts); i++)
		if (command_word_is(word, efforts[i].name))
			return &efforts[i];
	return NULL;
}

static void model_effort(struct command_call *call, struct span word)
{
	const struct effort *effort = effort_named(word);
	struct err err = ERR_INIT;

	if (!effort)
		return;
	if (host_set_model(call->context->host, NULL, effort->thinking, &err))
		command_say(call, STYLE(ROLE_TEXT), "Effort: %s, in this session.", effort->name);
	else
		command_fail(call, "%s", err.message);
}

json_t *command_menu_efforts(void)
{
	json_t *menu = json_array();

	for (size_t i = 0; i < ARRAY_LEN(efforts); i++)
		json_array_append_new(menu, json_pack("{s:s, s:s, s:s}", "value", efforts[i].name,
		                                      "name", efforts[i].name, "help",
		                                      efforts[i].help));
	return menu;
}

const char *command_effort(const struct command_context *context)
{
	return effort_name(host_thinking(context->host));
}

bool command_set_effort(const struct command_context *context, const char *name, struct err *err)
{
	const struct effort *effort = effort_named(span_str(name));

	if (!effort)
		return err_set(err, ERR_INVALID_ARGUMENT, "Unknown effort \"%.100s\"", name);
	return host_set_model(context->host, NULL, effort->thinking, err);
}

static void offer_efforts(struct command_call *call)
{
	const enum model_thinking now = host_thinking(call->context->host);

	for (size_t i = 0; i < ARRAY_LEN(efforts); i++) {
		_cleanup_free_ char *label = mem_printf("Effort: %s", efforts[i].name);

		command_choice(call, span_str(label), span_str(efforts[i].help),
		               mem_printf("/model effort %s", efforts[i].name),
		               /* chosen= */ false);
		if (efforts[i].thinking == now)
			call->result->choices[call->result->choice_count - 1].marked = true;
	}
}

/* ---- the list -------------------------------------------------------------------- */

/* "1M tokens, $1.25 in, $10.00 out, retires on 2026-12-01": prices of a million tokens. */
static void put_model_note(const json_t *row, struct buf *out)
{
	const json_int_t context = json_integer_value(json_object_get(row, "contextTokens"));
	const json_t *price = json_object_get(row, "price");
	const json_t *retires = json_object_get(row, "retires");

	if (context >= 1000000)
		buf_printf(out, "%.3gM tokens", (double)context / 1e6);
	else if (context)
		buf_printf(out, "%lldk tokens", (long long)context / 1000);
	if (price)
		buf_printf(out, "%s$%.2f in, $%.2f out", out->len ? ", " : "",
		           json_number_value(json_object_get(price, "input")),
		           json_number_value(json_object_get(price, "output")));
	if (retires)
		buf_printf(out, "%sretires%s%s", out->len ? ", " : "",
		           *model_member(retires, "on") ? " on " : " soon",
		           model_member(retires, "on"));
}

static void offer_model(struct command_call *call, const json_t *row, const char *now)
{
	const char *name = model_member(row, "model");
	_cleanup_buf_ struct buf note = BUF_INIT(LIMIT_MESSAGE_BYTES);
	struct command_choice *choice;

	put_model_note(row, &note);
	command_choice(call, span_str(name), buf_view(&note), mem_printf("/model %s", name),
	               now && !strcmp(name, now));
	choice = &call->result->choices[call->result->choice_count - 1];
	choice->other = mem_printf("/model %s --save", name);
	if (!(call->context->can & 1u << COMMAND_CHOOSE)) {
		_cleanup_free_ char *shown = mem_printf("%s %s", choice->chosen ? "*" : " ", name);

		command_term(call, shown, 40, buf_view(&note), STYLE(ROLE_TEXT));
	}
}

/* A provider that answers, or has no key. */
static bool provider_is_as_expected(const json_t *row)
{
	const char *state = model_member(row, "state");

	return !strcmp(state, "listed") || !strcmp(state, "no key");
}

static void models_show(struct command_call *call)
{
	json_auto_t *offers = model_offers(call->context->settings,
	                                   &(struct offers_options){ .kept = true });
	struct host *host = call->context->host;
	const char *now = host ? host_facts(host).model : NULL;
	size_t i;
	json_t *row;

	if (now)
		command_say(call, STYLE(ROLE_TEXT), "Model: %s, effort: %s", now,
		            effort_name(host_thinking(host)));
	json_array_foreach(json_object_get(offers, "models"), i, row)
		if (json_is_true(json_object_get(row, "reachable")))
			offer_model(call, row, now);
	json_array_foreach(json_object_get(offers, "providers"), i, row)
		if (!provider_is_as_expected(row))
			command_say(call, STYLE(ROLE_WARNING), "%s: %s",
			            model_member(row, "provider"), model_member(row, "message"));
	if (!call->result->choice_count) {
		command_say(call, STYLE(ROLE_DIM), "No provider lists a model that you can use. "
		            "/auth adds an API key, /model PROVIDER/NAME uses a model by name, "
		            "/docs models lists the providers.");
		return;
	}
	if (host)
		offer_efforts(call);
	if (!(call->context->can & 1u << COMMAND_CHOOSE)) {
		command_say(call, STYLE(ROLE_DIM), "/model NAME uses a model in this session, "
		            "/model NAME --save in new ones, too.");
		call->result->pager = true;
		return;
	}
	call->result->question = "Model";
	call->result->searches = true;
	call->result->other_letter = 's';
	call->result->other_help = "use it in new sessions, too";
	call->result->then = COMMAND_CHOOSE;
}

static void put_menu_model(json_t *menu, const char *name)
{
	json_array_append_new(menu, json_pack("{s:s, s:s}", "value", name, "name", name));
}

json_t *command_menu_models(const struct command_context *context)
{
	json_auto_t *names = model_offers_kept(context->settings);
	const char *now = host_facts(context->host).model;
	json_t *menu = json_array(), *name;
	size_t i;

	if (!json_lists(names, span_str(now)))
		put_menu_model(menu, now);
	json_array_foreach(names, i, name)
		put_menu_model(menu, json_string_value(name));
	return menu;
}

/* ---- choosing -------------------------------------------------------------------- */

static const char *nearest_model(const json_t *rows, const char *name)
{
	const size_t count = json_array_size(rows);
	_cleanup_free_ const char **names = mem_alloc(count + 1, sizeof(*names));

	for (size_t i = 0; i < count; i++)
		names[i] = model_member(json_array_get(rows, i), "model");
	return schema_nearest_name(name, names, count);
}

/* The provider's list has this model, or there is none to look into, which is said. */
static bool provider_lists(struct command_call *call, const char *provider, const char *name)
{
	json_auto_t *offers = model_offers(call->context->settings,
	                                   &(struct offers_options){ .provider = provider });
	const json_t *asked = json_array_get(json_object_get(offers, "providers"), 0);
	const json_t *rows = json_object_get(offers, "models");
	const char *near;
	size_t i;
	json_t *row;

	if (strcmp(model_member(asked, "state"), "listed") != 0) {
		command_say(call, STYLE(ROLE_WARNING), "Whether %s has this model is not known: %s",
		            provider, *model_member(asked, "message") ?
		            model_member(asked, "message") : "it does not list its models.");
		return true;
	}
	json_array_foreach((json_t *)rows, i, row)
		if (!strcmp(model_member(row, "model"), name))
			return true;
	near = nearest_model(rows, name);
	command_fail(call, "%s does not list %s.%s%s%s To use it anyway: /model %s --unchecked",
	             provider, name, near ? " Did you mean " : "", near ? near : "",
	             near ? "?" : "", name);
	return false;
}

/* False: the call has failed. */
static bool model_is_listed(struct command_call *call, const char *words)
{
	struct model_choice choice = { 0 };
	_cleanup_free_ char *name = NULL, *provider = NULL;
	json_auto_t *kept = NULL;
	struct err err = ERR_INIT;

	if (!model_choose(call->context->settings, words, &choice, &err)) {
		command_fail(call, "%s", err.message);
		return false;
	}
	provider = mem_strdup(choice.options.label);
	name = mem_printf("%s/%s", provider ? provider : "", choice.options.name);
	model_choice_release(&choice);
	kept = model_offers_kept(call->context->settings);
	/* A recording has no provider.  A list that is kept may be older than the model. */
	return !provider || json_lists(kept, span_str(name)) ||
	       provider_lists(call, provider, name);
}

static void model_save(struct command_call *call, const char *words)
{
	json_auto_t *name = json_text(span_str(words));
	struct settings *settings = call->context->settings;
	struct err err = ERR_INIT;

	if (!settings_write(settings, SCOPE_USER, "model.name", name, &err))
		command_fail(call, "%s", err.message);
	else if (settings_origin_of(settings, "model.name").scope > SCOPE_USER)
		command_fail(call, "Saved in %s, but model.name in %s takes precedence.",
		             settings_file(settings, SCOPE_USER),
		             settings_origin_of(settings, "model.name").file ?: "a flag");
	else
		command_say(call, STYLE(ROLE_TEXT), "New sessions use %s, too (model.name).",
		            words);
}

static void model_use(struct command_call *call, const char *words, bool save, bool checked)
{
	struct host *host = call->context->host;
	struct err err = ERR_INIT;

	if (checked && !model_is_listed(call, words))
		return;
	if (!host) {
		model_save(call, words);
		return;
	}
	if (!host_set_model(host, words, host_thinking(host), &err)) {
		command_fail(call, "%s", err.message);
		return;
	}
	command_say(call, STYLE(ROLE_TEXT), "Model: %s, from the next prompt on%s.",
	            host_facts(host).model, save ? "" : ", in this session");
	if (save)
		model_save(call, words);
}

void command_model(struct command_call *call)
{
	struct span rest = call->arguments, word = command_word(&rest);
	_cleanup_free_ char *words = NULL;

	if (!word.len || command_word_is(word, "list")) {
		models_show(call);
	} else if (command_word_is(word, "effort") && !call->context->host) {
		command_fail(call, "/model effort needs a session, and none is open.");
	} else if (command_word_is(word, "effort")) {
		model_effort(call, rest);
	} else {
		if (command_word_is(word, "set"))
			word = command_word(&rest);
		words = mem_dup(word.data, word.len);
		model_use(call, words, command_word_is(rest, "--save") ||
		          command_word_is(rest, "--persist"),
		          !command_word_is(rest, "--unchecked"));
	}
}

/* By the lists that are kept: nothing is asked while one types. */
void command_complete_model(struct command_completion *completion)
{
	json_auto_t *names = model_offers_kept(completion->context->settings);
	size_t i;
	json_t *name;

	json_array_foreach(names, i, name)
		completion->add(completion, json_string_value(name), "");
}
