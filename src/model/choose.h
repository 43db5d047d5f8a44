/* SPDX-License-Identifier: Apache-2.0 */
/* From what the user says ("pro", "openai/gpt-5", nothing) to model_options: providers, aliases,
 * addresses and keys.
 *
 *     struct model_choice choice;
 *     if (!model_choose(settings, "anthropic/claude-sonnet-4-5", &choice, &err)) ...
 *     ok = model_open(&choice.options, &model, &err);
 *     model_choice_release(&choice);
 *
 * Words are read so: "replay:FILE"; "PROVIDER/NAME" where PROVIDER is a row of choice.c's table
 * (gemini, vertex, openai, openai-responses, anthropic, openrouter, ollama, llama.cpp, vllm,
 * groq, deepseek, mistral, xai, ...) or a member of the setting hasp.providers; anything else is
 * Gemini's: an alias (auto, pro, flash, flash-lite, custom ones from modelConfigs.customAliases)
 * or a name.  NULL: --model is absent; then GEMINI_MODEL, then the setting model.name, then
 * auto.  If none of them names a model, there is no key for Gemini, and the user has set the
 * variable of one other provider's key, the usual model of that provider answers, with a warning.
 *
 * Keys come from the variables (environment, then .env: config/settings.h), then from the
 * system's key store; docs/models.md has the table.
 */
#ifndef HASP_MODEL_CHOOSE_H
#define HASP_MODEL_CHOOSE_H

#include "base/cancel.h"
#include "config/settings.h"
#include "model/model.h"
#include "model/parameters.h"

struct model_choice {
	struct model_options options; /* points into this choice */
	const char *key_from;         /* the variable that has the key, "key store"; NULL: there
	                               * is no key. Borrowed from this choice */
	struct model_parameters parameters; /* what the settings say of how it is asked */
	json_t *warnings;             /* owned: a sentence for each fallback that cannot be used;
	                               * NULL: there are none */
	struct choice_store *store;   /* private, owned */
};

/* INVALID_ARGUMENT: no such provider. AUTHENTICATION_FAILED: no key where one is needed; the
 * sentence says which variable would hold it. */
bool model_choose(const struct settings *settings, const char *words, struct model_choice *ret,
                  struct err *err);
/* The same where nothing need be asked: a missing key is no error, and options.no_key says so. */
bool model_choose_keyless(const struct settings *settings, const char *words,
                          struct model_choice *ret, struct err *err);
void model_choice_release(struct model_choice *choice);

/* ---- what there is to choose from (offers.c) ---------------------------------------- */

/* Which models there are: those that the providers list for the user's keys, and those of the table
 * of prices that no key reaches yet.
 *
 * Each provider that has a key is asked for its list, all at the same time, for three seconds at
 * most; lists are kept for a day in ~/.gemini/hasp-model-lists.json.  Servers of this machine that
 * need no key (ollama, llama.cpp, vllm, lmstudio) are asked, too; one that is not running is left
 * out unless a variable or the settings name it.
 */

struct offers_options {
	const char *provider; /* NULL, or this one alone */
	bool kept;            /* a provider whose list is at most a day old is not asked */
	const struct cancel *cancel; /* may be NULL */
};

/* {"models": [...], "providers": [...], "pricesAsOf": "2026-11-29"}, a new reference.
 *
 * models: {"model": "openai/gpt-5", "provider", "name", "reachable": whether a key's list has it,
 * "contextTokens"?, "price"? (prices_of_model), "retires"?: {"on"?, "instead"}}, in the order of
 * providers, then as these list them.
 * providers: {"provider", "state": "listed" | "no key" | "no list" | "failed" | "unusable",
 * "message"? (a sentence), "keyFrom"? (a variable, "key store"), "variables"? [names of those that
 * would hold a key]}. */
json_t *model_offers(const struct settings *settings, const struct offers_options *options);
/* The names ("openai/gpt-5") in the lists that are kept, whichever key they were made with, for
 * completion: nothing is asked, the key store neither; a new reference. */
json_t *model_offers_kept(const struct settings *settings);

/* ---- keys --------------------------------------------------------------------------- */

/* Whether there is such a provider in the table, and it takes a key. */
bool model_provider_has_key(const char *provider);
/* The model that is used where a user has this provider's key and names none; NULL: none is chosen
 * for them. */
const char *model_provider_model(const char *provider);
/* The variable of the user's (environment, or their .env) that holds a key of this provider of the
 * table; static, or NULL: none does. */
const char *model_key_variable(const struct settings *settings, const char *provider);
/* The provider of what is chosen without a flag (GEMINI_MODEL, model.name), or of `words`; "" for
 * one that the settings add. The caller frees. */
char *model_provider_of(const struct settings *settings, const char *words);
/* Tries a key of a provider of the table: it is asked for its models with it, for three seconds at
 * most.  AUTHENTICATION_FAILED: it refuses the key; any other error: that was not found out. */
bool model_key_try(const struct settings *settings, const char *provider, const char *key,
                   const struct cancel *cancel, struct err *err);
/* Keeps a key of a provider of the table where model_choose finds it from the next settings_load
 * on: in the system's key store, or, where none answers or hasp.keyStore is off, in ~/.gemini/.env.
 * *ret_where names the place; the caller frees. May wait for the user's password of the store, a
 * minute at most.  INVALID_ARGUMENT: it is no key, or a variable holds one that counts more (the
 * sentence says which). */
bool model_key_keep(const struct settings *settings, const char *provider, const char *key,
                    char **ret_where, struct err *err);
/* Removes such a key from the key store and from ~/.gemini/.env.  *ret_where names the places, for
 * people; the caller frees; NULL: there was none.  *ret_still: NULL, or the variable that still
 * holds one, from another place. Errors of the store and of the file. */
bool model_key_forget(const struct settings *settings, const char *provider, char **ret_where,
                      const char **ret_still, struct err *err);

#endif
