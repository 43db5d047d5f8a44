/* SPDX-License-Identifier: Apache-2.0 */
/* Which model a word means, and who provides it. */
#include "model/choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/home.h"
#include "data/json.h"
#include "data/warnings.h"
#include "model/parameters.h"

/* ---- choice ------------------------------------------------------------------ */

void model_choice_release(struct model_choice *choice)
{
	struct choice_store *store = choice->store;

	if (!store)
		return;
	for (size_t i = 0; i < CHOICE_FALLBACKS; i++)
		model_choice_release(&store->fallbacks[i]);
	for (size_t i = 0; i < store->count; i++) {
		/* keys are among them */
		explicit_bzero(store->strings[i], strlen(store->strings[i]));
		free(store->strings[i]);
	}
	free(store->strings);
	free(store);
	json_decref(choice->warnings);
	*choice = (struct model_choice){ 0 };
}

/* ---- one provider ---- */

/* OLLAMA_HOST and its like hold "host:port" too, and addresses without a version. */
static const char *complete_address(struct choice_store *store, const char *address)
{
	bool scheme = strncmp(address, "http://", 7) == 0 || strncmp(address, "https://", 8) == 0;
	const char *path = strchr(address + (scheme ? 8 : 0), '/');
	bool versioned = path && path[1];

	if (strncmp(address, "0.0.0.0", 7) == 0) /* where a server listens, not where it is */
		return choice_keep(store, mem_printf("http://127.0.0.1%s%s", address + 7,
		                                     versioned ? "" : "/v1"));
	return choice_keep(store, mem_printf("%s%s%s", scheme ? "" : "http://", address,
	                                     versioned ? "" : path ? "v1" : "/v1"));
}

/* OpenAI's models that think: in chat completions they do not when they have tools. */
static bool requires_responses(const struct choice_row *row, const struct model_options *options)
{
	static const char *const thinkers[] = { "gpt-5", "gpt-6", "codex", "o1", "o3", "o4" };

	if (strcmp(row->name, "openai") != 0 ||
	    (options->base_url && !strstr(options->base_url, "//api.openai.com")))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(thinkers); i++)
		if (strncmp(options->name, thinkers[i], strlen(thinkers[i])) == 0)
			return true;
	return false;
}

static bool row_options(const struct settings *settings, const struct choice_row *row,
                        struct choice_store *store, struct model_options *options,
                        struct err *err)
{
	const char *base = choice_either(settings, row->base_variables);

	options->base_url = base ? complete_address(store, base) : row->base_url;
	if (requires_responses(row, options))
		options->provider = "openai-responses";
	options->api_key = choice_key(settings, row, store);
	/* ANTHROPIC_AUTH_TOKEN is a token for a gateway. */
	options->bearer = options->api_key && store->key_from &&
	                  strcmp(store->key_from, "ANTHROPIC_AUTH_TOKEN") == 0;
	return options->api_key || row->keyless ||
	       choice_no_key(settings, row, store, options, err);
}

/* A member of hasp.providers: {"format", "baseUrl", "apiKeyEnv", "headers", "contextTokens"}.
 * What it leaves out, a row of the same name has. */
static bool own_options(const struct settings *settings, const json_t *own, const char *name,
                        struct choice_store *store, struct model_options *options, struct err *err)
{
	const struct choice_row *row = choice_provider(name, strlen(name));
	const char *format = json_string_value(json_object_get(own, "format"));
	const char *base = json_string_value(json_object_get(own, "baseUrl"));
	const char *key_name = json_string_value(json_object_get(own, "apiKeyEnv"));
	const struct variables *variables = settings_variables(settings);
	const char *own_key = key_name ? variables_own(variables, key_name) : NULL, *header;
	const char *key = own_key && *own_key ? own_key : choice_variable(settings, key_name);
	_cleanup_buf_ struct buf why = BUF_INIT(ERR_MESSAGE_MAX);
	json_t *value;

	if (!base && !row)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "hasp.providers.%.64s has no \"baseUrl\".", name);
	if (key_name && !key) {
		buf_printf(&why, "No API key for %.64s. Set %.64s (apiKeyEnv of hasp.providers).",
		           name, key_name);
		choice_advise_keys(settings, row, &why);
		return err_set(err, ERR_AUTHENTICATION_FAILED, "%s", why.data);
	}
	options->provider = format ? format : row ? row->format : "openai";
	options->base_url = base ? base : row->base_url;
	if (key) {
		store->key_from = choice_keep(store, mem_strdup(key_name));
		store->key_file = key == own_key ? NULL : variables_file(variables);
	}
	options->api_key = key ? choice_keep(store, mem_strdup(key)) :
	                   row ? choice_key(settings, row, store) :
	                         NULL;
	options->bearer = json_is_true(json_object_get(own, "bearer"));
	if (json_integer_value(json_object_get(own, "contextTokens")) > 0)
		options->context_tokens =
			(uint64_t)json_integer_value(json_object_get(own, "contextTokens"));
	json_object_foreach(json_object_get(own, "headers"), header, value)
		if (json_is_string(value))
			choice_add_header(store,
			                  mem_printf("%s: %s", header, json_string_value(value)));
	return true;
}

/* ---- words ---- */

static enum model_loading_by loading_setting(const struct settings *settings)
{
	const char *word = settings_string(settings, "hasp.tools.deferBy", "auto");

	return !strcmp(word, "own")      ? MODEL_LOADING_OWN :
	       !strcmp(word, "provider") ? MODEL_LOADING_PROVIDER : MODEL_LOADING_AUTO;
}

/* What all providers have. */
static void common_options(const struct settings *settings, struct choice_store *store,
                           struct model_options *options)
{
	static const char *const proxies[] = { "HTTPS_PROXY", "https_proxy", "HTTP_PROXY",
	                                       "http_proxy" };
	const char *value = NULL;

	options->max_attempts =
		(unsigned)settings_integer(settings, "general.maxAttempts", 10) & 0xFFFF;
	if (settings_integer(settings, "hasp.contextTokens", 0) > 0)
		options->context_tokens =
			(uint64_t)settings_integer(settings, "hasp.contextTokens", 0);
	options->no_network_retries = !settings_bool(settings, "general.retryFetchErrors", true);
	options->connect_ms = settings_wait_ms(settings, "hasp.waits.connectSeconds", 30, 1, 300);
	options->idle_ms = settings_wait_ms(settings, "hasp.waits.idleSeconds", 300, 10, 3600);
	options->ping_ms = settings_wait_ms(settings, "hasp.waits.pingSeconds", 900, 10, 7200);
	options->reply_ms = settings_wait_ms(settings, "hasp.waits.replySeconds", 3600, 60, 86400);
	/* The client reads the environment; a proxy in .env is only known here. */
	for (size_t i = 0; i < ARRAY_LEN(proxies) && !value; i++)
		if (!getenv(proxies[i]))
			value = choice_variable(settings, proxies[i]);
	if (value)
		options->proxy = choice_keep(store, mem_strdup(value));
	options->loading_by = loading_setting(settings);
	options->headers = store->headers;
	options->fallbacks = store->list;
	options->without = store->without;
	if (settings_home(settings))
		options->learnt_file = choice_keep(store, mem_printf(
			"%s/hasp-models.json", home_gemini(settings_home(settings))));
}

static void choice_warn(struct model_choice *choice, char *sentence /* taken */)
{
	if (!choice->warnings)
		choice->warnings = json_array();
	warnings_add(choice->warnings, json_text(span_str(sentence)));
	free(sentence);
}

/* A model that its provider ends is said, when it is at the provider's own address. */
static void warn_of_retirement(struct model_choice *choice)
{
	const struct model_options *options = &choice->options;
	const struct choice_end *end =
		options->label && options->name && !options->base_url ?
			choice_retirement(options->label, options->name) : NULL;

	if (end && end->last_day)
		choice_warn(choice,
		            mem_printf("%s is retired on %s (as of %s). Use %s.",
		                       options->name, end->last_day, choice_date,
		                       end->instead));
	else if (end)
		choice_warn(choice,
		            mem_printf("%s is being retired (as of %s). Use %s.",
		                       options->name, choice_date, end->instead));
}

/* hasp.withoutParameters. */
static void choose_left_out(const struct settings *settings, struct model_choice *choice)
{
	const json_t *names = settings_get(settings, "hasp.withoutParameters"), *value;
	size_t count = 0, i;

	json_array_foreach(names, i, value) {
		const char *name = json_string_value(value);

		if (!name || !refusable_named(name))
			choice_warn(choice,
			            mem_printf("hasp.withoutParameters: no parameter %.64s can be "
			                       "left out; docs/models.md has those that can.",
			                       name ? name : "of that kind"));
		else if (count < CHOICE_WITHOUT)
			choice->store->without[count++] = choice_keep(choice->store,
			                                              mem_strdup(name));
	}
}

static bool google_row(const struct settings *settings, const struct choice_row **ret,
                       struct err *err)
{
	const char *type = "";

	if (!choice_google_type(settings, &type, err))
		return false;
	*ret = strcmp(type, "vertex-ai") == 0 ? choice_provider("vertex", 6) :
	                                        choice_provider("gemini", 6);
	return true;
}

/* Enforces an administrator's choice of Google's authentication type.  A variable that selects
 * Google's login then counts even if a key is set, as in Gemini CLI: the account that pays must not
 * depend on other variables. */
static bool auth_type_allowed(const struct settings *settings, const struct choice_row *row,
                              struct err *err)
{
	const char *type = settings_string(settings, "security.auth.enforcedType", NULL);
	const char *selected = settings_string(settings, "security.auth.selectedType", "");
	const char *used = "", *name = row ? row->name : "";

	if (!type || !type[0])
		return true;
	if (!selected[0] && choice_is_true(settings, "GOOGLE_GENAI_USE_GCA") &&
	    strcmp(type, "oauth-personal") != 0)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The enforced authentication type is '%.64s', but the current type "
		               "is 'oauth-personal': GOOGLE_GENAI_USE_GCA is set, and "
		               "security.auth.enforcedType allows only %.64s.", type, type);
	if (strcmp(name, "vertex") == 0)
		used = "vertex-ai";
	else if (strcmp(name, "gemini") == 0 && !choice_google_type(settings, &used, err))
		return false;
	return strcmp(type, used) == 0 ||
	       err_set(err, ERR_AUTHENTICATION_FAILED,
	               "The setting security.auth.enforcedType allows only %.64s.", type);
}

/* Splits "PROVIDER/NAME". `len` 0: no provider is named. */
static size_t provider_length(const char *words)
{
	const char *slash = strchr(words, '/');

	if (!slash || strncmp(words, "models/", 7) == 0 || strncmp(words, "tunedModels/", 12) == 0)
		return 0;
	return (size_t)(slash - words);
}

static bool choose_named(const struct settings *settings, const char *words, size_t len,
                         struct model_choice *choice, struct err *err)
{
	_cleanup_free_ char *name = mem_dup(words, len);
	const json_t *own = json_object_get(settings_get(settings, "hasp.providers"), name);
	const struct choice_row *row = choice_provider(words, len);
	struct model_options *options = &choice->options;
	bool google;

	if (!own && !row) {
		_cleanup_buf_ struct buf names = BUF_INIT(ERR_MESSAGE_MAX);

		choice_provider_names(&names);
		return err_set(
			err, ERR_INVALID_ARGUMENT,
			"Unknown model provider %.*s. Known: %s, and those of hasp.providers.",
			(int)(len < 64 ? len : 64), words, names.data);
	}
	if (!auth_type_allowed(settings, own ? NULL : row, err))
		return false;
	options->label = choice_keep(choice->store, mem_strdup(name));
	options->name = choice_keep(choice->store, mem_strdup(words + len + 1));
	options->provider = row ? row->format : "openai";
	if (own)
		return own_options(settings, own, name, choice->store, options, err);
	google = strcmp(row->format, "gemini") == 0;
	return google ? choice_google_options(settings, row, choice->store, options, err) :
	                row_options(settings, row, choice->store, options, err);
}

static bool choose_google(const struct settings *settings, const char *words,
                          struct model_choice *choice, struct err *err)
{
	struct model_options *options = &choice->options;
	const struct choice_row *row;

	if (!google_row(settings, &row, err) || !auth_type_allowed(settings, row, err))
		return false;
	options->provider = row->format;
	options->label = row->name;
	options->name = choice_keep(choice->store,
	                            mem_strdup(choice_google_alias(settings, words)));
	return choice_google_options(settings, row, choice->store, options, err);
}

static bool choose_one(const struct settings *settings, const char *words, bool keyless,
                       struct model_choice *choice, struct err *err)
{
	size_t len = provider_length(words);
	const char *asked = len ? words + len + 1 : words;
	bool ok;

	choice->store = mem_alloc(1, sizeof(*choice->store));
	choice->store->keyless = keyless;
	common_options(settings, choice->store, &choice->options);
	if (strncmp(words, "replay:", 7) == 0) {
		const char *file = choice_keep(choice->store, mem_strdup(words + 7));

		choice->options.provider = "replay";
		choice->options.name = file;
		choice->options.replay_file = file;
		choice->parameters = (struct model_parameters)MODEL_PARAMETERS_INIT;
		return true;
	}
	/* An alias may follow the provider's name. */
	if (len == 6 && strncmp(words, "gemini", 6) == 0)
		words = choice_google_alias(settings, words + 7), len = 0;
	ok = len ? choose_named(settings, words, len, choice, err) :
	           choose_google(settings, words, choice, err);
	if (ok)
		model_parameters_read(settings, asked,
		                      choice->options.name, NULL, &choice->parameters);
	else
		model_choice_release(choice);
	return ok;
}

/* Warns that contents are sent under the account of that file's author. */
static void warn_of_projects_key(struct model_choice *choice, const struct choice_store *store)
{
	if (store->key_file)
		choice_warn(choice,
		            mem_printf("The key is the project's: %s of %s. Set your own in the "
		                       "environment or in ~/.gemini/.env, or allow this one: "
		                       "hasp config allow %s", store->key_from, store->key_file,
		                       store->key_from));
}

static bool add_fallback(const struct settings *settings, const char *name, size_t at,
                         struct model_choice *choice)
{
	struct choice_store *store = choice->store;
	struct err err = ERR_INIT;

	if (at >= CHOICE_FALLBACKS)
		err_set(&err, ERR_INVALID_ARGUMENT, "There may be %d of them.", CHOICE_FALLBACKS);
	else if (choose_one(settings, name, /* keyless= */ false, &store->fallbacks[at], &err)) {
		store->fallbacks[at].options.fallbacks = NULL;
		choice_advise(settings, /* given= */ true, &store->fallbacks[at]);
		if (!store->key_file)
			warn_of_projects_key(choice, store->fallbacks[at].store);
		store->list[at] = &store->fallbacks[at].options;
		return true;
	}
	choice_warn(choice,
	            mem_printf("Cannot use the fallback %.64s (hasp.fallbacks): %s", name,
	                       err.message));
	return false;
}

/* hasp.fallbacks, and for auto alone the smaller model, which can be had where auto can. */
static void add_fallbacks(const struct settings *settings, const char *words,
                          struct model_choice *choice)
{
	json_auto_t *by_itself = json_pack("[s]", "flash");
	const json_t *names = settings_get(settings, "hasp.fallbacks"), *name;
	size_t count = 0, i;

	if (!json_array_size(names) && strcmp(words, "auto") == 0)
		names = by_itself;
	json_array_foreach(names, i, name)
		if (json_is_string(name))
			count += add_fallback(settings, json_string_value(name), count, choice);
}

/* What names a model: `words`, or else a variable or a setting; NULL: nothing does. */
static const char *choice_named(const struct settings *settings, const char *words)
{
	if (!words || !words[0])
		words = choice_variable(settings, "GEMINI_MODEL");
	if (!words)
		words = settings_string(settings, "model.name", NULL);
	return words && words[0] ? words : NULL;
}

/* Whether a variable or a setting says how Google's models are paid for: then no other provider's
 * key takes the place of one that is missing. */
static bool choice_is_googles(const struct settings *settings)
{
	static const char *const variables[] = {
		"GEMINI_DEFAULT_AUTH_TYPE", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA",
		"GOOGLE_GEMINI_BASE_URL",
	};

	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		if (choice_variable(settings, variables[i]))
			return true;
	return settings_string(settings, "security.auth.selectedType", "")[0] ||
	       settings_string(settings, "security.auth.enforcedType", "")[0];
}

/* Where nothing names a model: Google's, or the usual one of the provider whose key is there. */
static bool choose_unnamed(const struct settings *settings, bool keyless,
                           struct model_choice *choice, struct err *err)
{
	const char *usual = choice_is_googles(settings) ? NULL : choice_usual(settings);

	if (choose_one(settings, "auto", keyless && !usual, choice, err))
		return true;
	if (err->code != ERR_AUTHENTICATION_FAILED || !usual)
		return false;
	*err = (struct err)ERR_INIT;
	if (!choose_one(settings, usual, keyless, choice, err))
		return false;
	choice_warn(choice,
	            mem_printf("%s answers, with %s: no model is named, and gemini has no key. To "
	                       "choose another: --model, or /model in a session.", usual,
	                       choice->store->key_from));
	return true;
}

static bool choose_with(const struct settings *settings, const char *words, bool keyless,
                        struct model_choice *ret, struct err *err)
{
	const bool given = words && words[0];
	struct model_choice choice = { 0 };

	words = choice_named(settings, words);
	if (!(words ? choose_one(settings, words, keyless, &choice, err) :
	              choose_unnamed(settings, keyless, &choice, err)))
		return false;
	choose_left_out(settings, &choice);
	warn_of_retirement(&choice);
	if (!choice.options.no_key)
		add_fallbacks(settings, words ? words : strcmp(choice.options.provider, "gemini") ?
		              "" : "auto", &choice);
	choice.key_from = choice.store->key_from;
	warn_of_projects_key(&choice, choice.store);
	choice_advise(settings, given, &choice);
	*ret = choice;
	return true;
}

bool model_choose(const struct settings *settings, const char *words, struct model_choice *ret,
                  struct err *err)
{
	return choose_with(settings, words, /* keyless= */ false, ret, err);
}

bool model_choose_keyless(const struct settings *settings, const char *words,
                          struct model_choice *ret, struct err *err)
{
	return choose_with(settings, words, /* keyless= */ true, ret, err);
}

/* Of a choice that nothing names; the caller frees. */
static char *choice_provider_unnamed(const struct settings *settings)
{
	struct model_choice choice = { 0 };
	struct err ignored = ERR_INIT;
	char *name;

	if (!choose_unnamed(settings, /* keyless= */ false, &choice, &ignored))
		return mem_strdup("gemini");
	name = mem_strdup(strcmp(choice.options.provider, "gemini") ? choice.options.label :
	                                                              "gemini");
	model_choice_release(&choice);
	return name;
}

char *model_provider_of(const struct settings *settings, const char *words)
{
	size_t len;

	words = choice_named(settings, words);
	if (!words)
		return choice_provider_unnamed(settings);
	len = provider_length(words);
	if (!len)
		return mem_strdup("gemini");
	return choice_provider(words, len) ? mem_dup(words, len) : mem_strdup("");
}
