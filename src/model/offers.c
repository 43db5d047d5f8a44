/* SPDX-License-Identifier: Apache-2.0 */
/* The models to choose from: lists of providers, asked on threads, joined with prices. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/settings.h"
#include "data/json.h"
#include "model/choice.h"
#include "model/prices.h"
#include "model/stream.h"

/* More providers of the settings than these are not asked. */
enum { OFFERS_PROVIDERS = 64 };

/* One provider's list. */
struct offer_list {
	char *provider;              /* owned */
	const struct choice_row *row; /* NULL: of the settings alone */
	bool wanted;                 /* it is named somewhere: a failure is reported */
	struct model_choice choice;
	bool chosen, threaded;
	pthread_t thread;
	const struct offers_options *options;
	char *file;                  /* owned: where lists are kept */
	json_t *models;              /* owned; NULL: there is no list, *err */
	struct err err;
};

struct offers {
	const struct settings *settings;
	const struct offers_options *options;
	struct offer_list *lists; /* OFFERS_PROVIDERS; owned */
	size_t count;
	json_t *models, *providers;
};

static char *offers_file(const struct settings *settings)
{
	return mem_printf("%s/hasp-model-lists.json", home_gemini(settings_home(settings)));
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void *offer_ask(void *data)
{
	struct offer_list *list = data;
	struct endpoint endpoint;

	if (!endpoint_open(&list->choice.options, &endpoint, &list->err))
		return NULL;
	list->models = endpoint_list(&endpoint, list->file, list->options->kept,
	                             list->options->cancel, &list->err);
	endpoint_release(&endpoint);
	return NULL;
}

static void offers_add(struct offers *offers, const char *provider, bool wanted)
{
	const struct choice_row *row = choice_provider(provider, strlen(provider));
	struct offer_list *list = &offers->lists[offers->count];

	for (size_t i = 0; i < offers->count; i++)
		if (strcmp(offers->lists[i].provider, provider) == 0)
			return;
	if (offers->count == OFFERS_PROVIDERS ||
	    (offers->options->provider && strcmp(offers->options->provider, provider) != 0))
		return;
	*list = (struct offer_list){
		.provider = mem_strdup(provider), .row = row, .options = offers->options,
		.err = ERR_INIT,
		.wanted = wanted || offers->options->provider || (row && !row->keyless) ||
		          (row && choice_either(offers->settings, row->base_variables)),
	};
	offers->count++;
}

/* OpenAI's two formats have one list. */
static void offers_find(struct offers *offers)
{
	const char *name;
	json_t *own;

	for (size_t i = 0; choice_at(i); i++)
		if (strcmp(choice_at(i)->name, "openai-responses") != 0)
			offers_add(offers, choice_at(i)->name, /* wanted= */ false);
	json_object_foreach((json_t *)settings_get(offers->settings, "hasp.providers"), name, own)
		offers_add(offers, name, /* wanted= */ true);
}

static void offers_ask(struct offers *offers)
{
	for (size_t i = 0; i < offers->count; i++) {
		struct offer_list *list = &offers->lists[i];
		/* The list's address has no model's name in it, so any will do. */
		_cleanup_free_ char *words = mem_printf("%s/list", list->provider);

		list->chosen = model_choose(offers->settings, words, &list->choice, &list->err);
		if (!list->chosen)
			continue;
		list->file = offers_file(offers->settings);
		list->threaded = pthread_create(&list->thread, NULL, offer_ask, list) == 0;
		if (!list->threaded)
			offer_ask(list);
	}
	for (size_t i = 0; i < offers->count; i++)
		if (offers->lists[i].threaded)
			pthread_join(offers->lists[i].thread, NULL);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void offers_put_model(struct offers *offers, const struct offer_list *list,
                             const char *name, const json_t *context, bool reachable)
{
	const char *gemini = strcmp(list->provider, "gemini") == 0 ? name : NULL;
	_cleanup_free_ char *id = mem_printf("%s/%s", list->provider, name);
	const struct choice_end *end = choice_retirement(list->provider, name);
	const struct provider_format *format =
		provider_find(list->row ? list->row->format : "openai");
	const uint64_t known = format && format->context_tokens ? format->context_tokens(name) : 0;
	json_t *price = prices_of_model(settings_get(offers->settings, "hasp.prices"),
	                                gemini ? gemini : id);
	json_t *row = json_pack("{s:s, s:s, s:s, s:b}", "model", id, "provider", list->provider,
	                        "name", name, "reachable", (int)reachable);

	if (context)
		json_object_set(row, "contextTokens", (json_t *)context);
	else if (known)
		json_object_set_new(row, "contextTokens", json_size(known));
	if (price)
		json_object_set_new(row, "price", price);
	if (end)
		json_object_set_new(row, "retires",
		                    json_pack("{s:o, s:s}", "on", json_cstr(end->last_day),
		                              "instead", end->instead));
	json_array_append_new(offers->models, row);
}

static void offers_put_models(struct offers *offers, const struct offer_list *list)
{
	const struct price_row *row;
	const json_t *model;
	size_t i;

	json_array_foreach(list->models, i, model)
		offers_put_model(offers, list, json_string_value(json_object_get(model, "id")),
		                 json_object_get(model, "contextTokens"), /* reachable= */ true);
	/* A list says what its key reaches; without one the table has what there would be. */
	for (i = 0; !list->models && (row = prices_row(i)); i++)
		if (strcmp(row->provider, list->provider) == 0)
			offers_put_model(offers, list, row->model, NULL, /* reachable= */ false);
}

static const char *offer_state(const struct offer_list *list)
{
	if (list->models)
		return "listed";
	if (!list->chosen)
		return list->err.code == ERR_AUTHENTICATION_FAILED ? "no key" : "unusable";
	return list->err.code == ERR_INVALID_ARGUMENT ? "no list" : "failed";
}

static void offers_put_provider(struct offers *offers, const struct offer_list *list)
{
	json_t *row = json_pack("{s:s, s:s}", "provider", list->provider, "state",
	                        offer_state(list));
	json_t *names;

	if (!list->models)
		json_object_set_new(row, "message", json_text(span_str(list->err.message)));
	if (list->chosen && list->choice.key_from)
		json_object_set_new(row, "keyFrom", json_cstr(list->choice.key_from));
	if (list->row && list->row->key_variables[0]) {
		names = json_pack("[s]", list->row->key_variables[0]);
		if (list->row->key_variables[1])
			json_array_append_new(names, json_string(list->row->key_variables[1]));
		json_object_set_new(row, "variables", names);
	}
	json_array_append_new(offers->providers, row);
}

json_t *model_offers(const struct settings *settings, const struct offers_options *options)
{
	struct offers offers = { .settings = settings, .options = options,
		                 .lists = mem_alloc(OFFERS_PROVIDERS, sizeof(*offers.lists)),
		                 .models = json_array(), .providers = json_array() };

	offers_find(&offers);
	offers_ask(&offers);
	for (size_t i = 0; i < offers.count; i++) {
		struct offer_list *list = &offers.lists[i];

		if (list->models || list->wanted) {
			offers_put_models(&offers, list);
			offers_put_provider(&offers, list);
		}
		model_choice_release(&list->choice);
		json_decref(list->models);
		free(list->file);
		free(list->provider);
	}
	free(offers.lists);
	return json_pack("{s:o, s:o, s:s}", "models", offers.models, "providers", offers.providers,
	                 "pricesAsOf", prices_date);
}

json_t *model_offers_kept(const struct settings *settings)
{
	_cleanup_free_ char *file = offers_file(settings);
	json_auto_t *all = home_learnt_all(file);
	json_t *names = json_array(), *list, *model;
	const char *key;
	size_t i;

	json_object_foreach(all, key, list) {
		const char *provider = json_string_value(json_object_get(list, "provider"));

		if (!provider || !home_learnt_holds(json_object_get(list, "modelsUntil")))
			continue;
		json_array_foreach(json_object_get(list, "models"), i, model)
			json_array_append_new(names, json_sprintf("%s/%s", provider,
				json_string_value(json_object_get(model, "id"))));
	}
	return names;
}

/* ---- one key --------------------------------------------------------------------------------- */

bool model_key_try(const struct settings *settings, const char *provider, const char *key,
                   const struct cancel *cancel, struct err *err)
{
	_cleanup_free_ char *words = mem_printf("%s/list", provider);
	struct model_choice choice;
	struct endpoint endpoint;
	json_auto_t *models = NULL;

	if (!variables_is_plain(key))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "That is no key: a key is one word of letters, digits and signs.");
	if (strcmp(provider, "openrouter") == 0)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "OpenRouter lists its models without looking at the key.");
	if (!model_choose_keyless(settings, words, &choice, err))
		return false;
	choice.options.api_key = key;
	choice.options.bearer = false;
	choice.options.no_key = NULL;
	if (endpoint_open(&choice.options, &endpoint, err)) {
		models = endpoint_list(&endpoint, NULL, /* kept= */ false, cancel, err);
		endpoint_release(&endpoint);
	}
	model_choice_release(&choice);
	return models;
}
