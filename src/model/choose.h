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
 * auto.
 *
 * Keys come from the variables (environment, then .env: config/settings.h), then from the
 * system's key store; docs/models.md has the table.
 */
#ifndef HASP_MODEL_CHOOSE_H
#define HASP_MODEL_CHOOSE_H

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
void model_choice_release(struct model_choice *choice);

/* Whether there is such a provider in the table, and it takes a key. */
bool model_provider_has_key(const char *provider);
/* The provider of what is chosen without a flag (GEMINI_MODEL, model.name), or of `words`; "" for
 * one that the settings add. The caller frees. */
char *model_provider_of(const struct settings *settings, const char *words);
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

/* ---- which models a key can reach (list.c) ------------------------------------------ */

/* Lists are what providers answer when they are asked:
 * [{"name": "openai/gpt-5", "title"?, "context"?: tokens, "input"?, "output"?: dollars a million
 * tokens}], in the provider's order, LIMIT_MODELS_LISTED at most.  Answers are kept for a day
 * (config/home.h, home_learn), for each address and key by itself. */

/* The provider of what is chosen without a flag, then those for which a variable has a key or an
 * address, then those of hasp.providers; a new reference.  The key store is not asked. */
json_t *model_list_providers(const struct settings *settings);
/* Asks for eight seconds at most. *ret is a new reference.  AUTHENTICATION_FAILED;
 * INVALID_ARGUMENT: no such provider, or it has no list; NETWORK_ERROR; CANCELLED. */
bool model_list(const struct settings *settings, const char *provider,
                const struct cancel *cancel, json_t **ret, struct err *err);
/* What is remembered of it, without asking; a new reference; NULL: nothing. */
json_t *model_list_known(const struct settings *settings, const char *provider);

#endif
