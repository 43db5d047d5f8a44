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
#include "model/prices.h"
#include "tui/command/private.h"

static const char *model_member(const json_t *row, const char *name)
{
	const char *text = json_string_value(json_object_get(row, name));

	return text ? text : "";
}

/* ---- effort ---------------------------------------------------------------------- */

static const struct {
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

static void model_effort(struct command_call *call, struct span word)
{
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(efforts); i++) {
		if (!command_word_is(word, efforts[i].name))
			continue;
		if (host_set_model(call->context->host, NULL, efforts[i].thinking, &err))
			command_say(call, STYLE(ROLE_TEXT), "Effort: %s, in this session.",
			            efforts[i].name);
		else
			command_fail(call, "%s", err.message);
	}
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

/* "1M tokens, $1.25 in, $10.00 out": of a million tokens; by the user's own prices, else by the
 * provider's word. */
static void put_model_note(struct command_call *call, const json_t *row, struct buf *out)
{
	const json_int_t context = json_integer_value(json_object_get(row, "context"));
	const json_t *input = json_object_get(row, "input");
	const json_t *output = json_object_get(row, "output");
	const json_t *own = prices_of(settings_get(call->context->settings, "hasp.prices"),
	                              model_member(row, "name"));

	if (context >= 1000000)
		buf_printf(out, "%.3gM tokens", (double)context / 1e6);
	else if (context)
		buf_printf(out, "%lldk tokens", (long long)context / 1000);
	if (own) {
		input = json_object_get(own, "input");
		output = json_object_get(own, "output");
	}
	if (json_is_number(input) && json_is_number(output))
		buf_printf(out, "%s$%.2f in, $%.2f out", out->len ? ", " : "",
		           json_number_value(input), json_number_value(output));
	if (*model_member(row, "title"))
		buf_printf(out, "%s%s", out->len ? ", " : "", model_member(row, "title"));
}

static void offer_model(struct command_call *call, const json_t *row, const char *now)
{
	const char *name = model_member(row, "name");
	_cleanup_buf_ struct buf note = BUF_INIT(LIMIT_MESSAGE_BYTES);
	struct command_choice *choice;

	put_model_note(call, row, &note);
	command_choice(call, span_str(name), buf_view(&note), mem_printf("/model %s", name),
	               now && !strcmp(name, now));
	choice = &call->result->choices[call->result->choice_count - 1];
	choice->other = mem_printf("/model %s --save", name);
	if (!(call->context->can & 1u << COMMAND_CHOOSE)) {
		_cleanup_free_ char *shown = mem_printf("%s %s", choice->chosen ? "*" : " ", name);

		command_term(call, shown, 40, buf_view(&note), STYLE(ROLE_TEXT));
	}
}

/* Those of one provider; what it answers instead is said. */
static void offer_provider(struct command_call *call, const char *provider, const char *now)
{
	json_auto_t *rows = NULL;
	struct err err = ERR_INIT;
	size_t i;
	json_t *row;

	if (!model_list(call->context->settings, provider, NULL, &rows, &err)) {
		command_say(call, STYLE(ROLE_WARNING), "%s: %s", provider, err.message);
		return;
	}
	json_array_foreach(rows, i, row)
		offer_model(call, row, now);
}

static void models_show(struct command_call *call)
{
	json_auto_t *providers = model_list_providers(call->context->settings);
	struct host *host = call->context->host;
	const char *now = host ? host_facts(host).model : NULL;
	size_t i;
	json_t *provider;

	if (now)
		command_say(call, STYLE(ROLE_TEXT), "Model: %s, effort: %s", now,
		            effort_name(host_thinking(host)));
	json_array_foreach(providers, i, provider)
		offer_provider(call, json_string_value(provider), now);
	if (!call->result->choice_count) {
		command_say(call, STYLE(ROLE_DIM), "/model PROVIDER/NAME uses another model. /docs "
		            "models lists the providers.");
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

/* ---- choosing -------------------------------------------------------------------- */

static const char *nearest_model(const json_t *rows, const char *name)
{
	const size_t count = json_array_size(rows);
	_cleanup_free_ const char **names = mem_alloc(count + 1, sizeof(*names));

	for (size_t i = 0; i < count; i++)
		names[i] = model_member(json_array_get(rows, i), "name");
	return schema_nearest_name(name, names, count);
}

/* Whether a provider that lists its models lists this one.  False: the call has failed. */
static bool model_is_listed(struct command_call *call, const char *words)
{
	const struct settings *settings = call->context->settings;
	struct model_choice choice = { 0 };
	_cleanup_free_ char *name = NULL, *provider = NULL;
	json_auto_t *rows = NULL;
	struct err err = ERR_INIT;
	const char *near;
	size_t i;
	json_t *row;

	if (!model_choose(settings, words, &choice, &err)) {
		command_fail(call, "%s", err.message);
		return false;
	}
	provider = mem_strdup(choice.options.label);
	name = mem_printf("%s/%s", provider ? provider : "", choice.options.name);
	model_choice_release(&choice);
	if (!provider) /* a recording */
		return true;
	if (!model_list(settings, provider, NULL, &rows, &err)) {
		command_say(call, STYLE(ROLE_WARNING), "Whether %s has this model is not known: %s",
		            provider, err.message);
		return true;
	}
	json_array_foreach(rows, i, row)
		if (!strcmp(model_member(row, "name"), name))
			return true;
	near = nearest_model(rows, name);
	command_fail(call, "%s does not list %s.%s%s%s To use it anyway: /model %s "
	             "--unchecked", provider, name, near ? " Did you mean " : "", near ? near : "",
	             near ? "?" : "", words);
	return false;
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

/* By what is remembered: nothing is asked while one types. */
void command_complete_model(struct command_completion *completion)
{
	json_auto_t *providers = model_list_providers(completion->context->settings);
	size_t i, k;
	json_t *provider, *row;

	json_array_foreach(providers, i, provider) {
		json_auto_t *rows = model_list_known(completion->context->settings,
		                                     json_string_value(provider));

		json_array_foreach(rows, k, row)
			completion->add(completion, model_member(row, "name"),
			                model_member(row, "title"));
	}
}
