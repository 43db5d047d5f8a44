/* SPDX-License-Identifier: Apache-2.0 */
/* Providers by name: where they are, what they speak, which variables hold their keys, and where
 * hasp keeps those. */
#include "model/choice.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "config/home.h"
#include "data/json.h"

/* ---- the tables ------------------------------------------------------------------- */

static const struct choice_row rows[] = {
	{ "gemini", "gemini", NULL, { "GOOGLE_GEMINI_BASE_URL" },
	  { "GEMINI_API_KEY", "GOOGLE_API_KEY" }, false, "auto" },
	{ "vertex", "gemini", NULL, { "GOOGLE_VERTEX_BASE_URL" },
	  { "GOOGLE_CLOUD_ACCESS_TOKEN", "GOOGLE_API_KEY" }, false, NULL },
	{ "openai", "openai", NULL, { "OPENAI_BASE_URL", "OPENAI_API_BASE" },
	  { "OPENAI_API_KEY" }, false, "openai/gpt-5.6" },
	{ "openai-responses", "openai-responses", NULL, { "OPENAI_BASE_URL", "OPENAI_API_BASE" },
	  { "OPENAI_API_KEY" }, false, NULL },
	{ "anthropic", "anthropic", NULL, { "ANTHROPIC_BASE_URL" },
	  { "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN" }, false,
	  "anthropic/claude-sonnet-4-6" },
	{ "openrouter", "openai", "https://openrouter.ai/api/v1", { NULL },
	  { "OPENROUTER_API_KEY" }, false, NULL },
	{ "ollama", "openai", "http://127.0.0.1:11434/v1", { "OLLAMA_HOST" },
	  { "OLLAMA_API_KEY" }, true, NULL },
	{ "llama.cpp", "openai", "http://127.0.0.1:8080/v1", { "LLAMA_BASE_URL" },
	  { "LLAMA_API_KEY" }, true, NULL },
	{ "vllm", "openai", "http://127.0.0.1:8000/v1", { "VLLM_BASE_URL" },
	  { "VLLM_API_KEY" }, true, NULL },
	{ "lmstudio", "openai", "http://127.0.0.1:1234/v1", { "LMSTUDIO_BASE_URL" },
	  { "LMSTUDIO_API_KEY" }, true, NULL },
	{ "groq", "openai", "https://api.groq.com/openai/v1", { NULL },
	  { "GROQ_API_KEY" }, false, NULL },
	{ "deepseek", "openai", "https://api.deepseek.com/v1", { NULL },
	  { "DEEPSEEK_API_KEY" }, false, NULL },
	{ "mistral", "openai", "https://api.mistral.ai/v1", { NULL },
	  { "MISTRAL_API_KEY" }, false, NULL },
	{ "xai", "openai", "https://api.x.ai/v1", { NULL }, { "XAI_API_KEY" }, false, NULL },
	{ "together", "openai", "https://api.together.xyz/v1", { NULL },
	  { "TOGETHER_API_KEY" }, false, NULL },
	{ "fireworks", "openai", "https://api.fireworks.ai/inference/v1", { NULL },
	  { "FIREWORKS_API_KEY" }, false, NULL },
	{ "cerebras", "openai", "https://api.cerebras.ai/v1", { NULL },
	  { "CEREBRAS_API_KEY" }, false, NULL },
	{ "moonshot", "openai", "https://api.moonshot.ai/v1", { NULL },
	  { "MOONSHOT_API_KEY" }, false, NULL },
	{ "huggingface", "openai", "https://router.huggingface.co/v1", { NULL },
	  { "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN" }, false, NULL },
};

const char choice_date[] = "2026-11-23";

/* Sources: ai.google.dev/gemini-api/docs/deprecations; platform.claude.com/docs, "Model
 * deprecations". Vertex AI uses other dates. */
static const struct choice_end ends[] = {
	{ "gemini", "gemini-2.0-", "2026-06-01", "gemini-3.5-flash-lite" },
	{ "gemini", "gemini-2.5-pro", "2026-12-01", "gemini-3.8-flash" },
	{ "gemini", "gemini-2.5-flash-lite", "", NULL },
	{ "gemini", "gemini-2.5-flash", "2026-12-01", "gemini-3.5-flash-lite" },
	{ "gemini", "gemini-3-pro-preview", "2026-03-09", "gemini-3.1-pro-preview" },
	{ "anthropic", "claude-3-", "2026-02-19", "claude-sonnet-4-6" },
	{ "anthropic", "claude-sonnet-4-20250514", "2026-06-15", "claude-sonnet-4-6" },
	{ "anthropic", "claude-sonnet-4-0", "2026-06-15", "claude-sonnet-4-6" },
	{ "anthropic", "claude-opus-4-20250514", "2026-06-15", "claude-opus-4-8" },
	{ "anthropic", "claude-opus-4-0", "2026-06-15", "claude-opus-4-8" },
	{ "anthropic", "claude-opus-4-1", "2026-08-05", "claude-opus-4-8" },
	{ "anthropic", "claude-sonnet-4-5", NULL, "claude-sonnet-4-6" },
};

const struct choice_end *choice_retirement(const char *provider, const char *model)
{
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (strcmp(ends[i].provider, provider) == 0 &&
		    strncmp(model, ends[i].prefix, strlen(ends[i].prefix)) == 0)
			return ends[i].instead ? &ends[i] : NULL;
	return NULL;
}

const struct choice_row *choice_provider(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strlen(rows[i].name) == len && memcmp(rows[i].name, name, len) == 0)
			return &rows[i];
	return NULL;
}

const struct choice_row *choice_at(size_t i)
{
	return i < ARRAY_LEN(rows) ? &rows[i] : NULL;
}

void choice_provider_names(struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		buf_printf(out, "%s%s", i ? ", " : "", rows[i].name);
}

/* ---- variables, keys, and what a choice keeps ----------------------------------- */

const char *choice_variable(const struct settings *settings, const char *name)
{
	const char *value = name ? variables_get(settings_variables(settings), name) : NULL;

	return value && value[0] ? value : NULL;
}

const char *choice_either(const struct settings *settings,
                          const char *const names[static 2])
{
	const char *value = choice_variable(settings, names[0]);

	return value ? value : choice_variable(settings, names[1]);
}

bool choice_is_true(const struct settings *settings, const char *name)
{
	const char *value = choice_variable(settings, name);

	return value && (strcmp(value, "true") == 0 || strcmp(value, "1") == 0);
}

/* Under which keys other than Gemini's are in the key store; the account is the provider's name. */
#define SERVICE "hasp"

const char *choice_keep(struct choice_store *store, char *string)
{
	if (store->count == store->cap)
		store->strings = mem_grow(store->strings, &store->cap, store->count + 1,
		                          sizeof(*store->strings));
	store->strings[store->count++] = string;
	return string;
}

void choice_add_header(struct choice_store *store, char *header)
{
	choice_keep(store, header);
	if (store->header_count < CHOICE_HEADERS)
		store->headers[store->header_count++] = header;
}

/* The first of the variables that the user set, or with `projects` that a project's .env did. */
static const char *key_variable(const struct settings *settings, const struct choice_row *row,
                                bool projects)
{
	const struct variables *variables = settings_variables(settings);

	for (size_t i = 0; i < ARRAY_LEN(row->key_variables); i++) {
		const char *name = row->key_variables[i];
		const char *own = name ? variables_own(variables, name) : NULL;

		if (name && choice_variable(settings, name) && (own && *own ? !projects : projects))
			return name;
	}
	return NULL;
}

const char *choice_usual(const struct settings *settings)
{
	const char *usual = NULL;

	for (size_t i = 1; i < ARRAY_LEN(rows); i++) { /* the first is Google's own */
		if (!rows[i].model || !key_variable(settings, &rows[i], /* projects= */ false))
			continue;
		if (usual)
			return NULL;
		usual = rows[i].model;
	}
	return usual;
}

static const char *take_key(const struct settings *settings, const char *name,
                            struct choice_store *store)
{
	store->key_from = name;
	return choice_keep(store, mem_strdup(choice_variable(settings, name)));
}

static const char *stored_key(const struct choice_row *row, struct choice_store *store)
{
	char *stored = NULL;
	const bool found = strcmp(row->name, "gemini") == 0 ?
	                           keystore_gemini_key(&stored) :
	                           keystore_get(SERVICE, row->name, &stored);

	store->key_from = found ? "key store" : NULL;
	return found ? choice_keep(store, stored) : NULL;
}

const char *choice_key(const struct settings *settings, const struct choice_row *row,
                       struct choice_store *store)
{
	const char *name = key_variable(settings, row, /* projects= */ false), *key = NULL;

	if (name)
		return take_key(settings, name, store);
	if (!row->keyless && settings_bool(settings, "hasp.keyStore", true))
		key = stored_key(row, store);
	name = key ? NULL : key_variable(settings, row, /* projects= */ true);
	if (!name)
		return key;
	store->key_file = variables_file(settings_variables(settings));
	return take_key(settings, name, store);
}

/* ---- keys that are kept ------------------------------------------------------ */

static const struct choice_row *keyed_row(const char *provider)
{
	const struct choice_row *row = choice_provider(provider, strlen(provider));

	return row && row->key_variables[0] ? row : NULL;
}

const char *model_provider_model(const char *provider)
{
	const struct choice_row *row = choice_provider(provider, strlen(provider));

	return row ? row->model : NULL;
}

bool model_provider_has_key(const char *provider)
{
	return keyed_row(provider) != NULL;
}

const char *model_key_variable(const struct settings *settings, const char *provider)
{
	const struct choice_row *row = keyed_row(provider);

	return row ? key_variable(settings, row, /* projects= */ false) : NULL;
}

/* A variable that counts more than the key store: *ret_users when it is one of the user's own file,
 * where another line takes its place. */
static bool key_is_free(const struct settings *settings, const struct choice_row *row,
                        bool *ret_users, struct err *err)
{
	const struct variables *variables = settings_variables(settings);
	const char *file = variables_file(variables);

	*ret_users = false;
	for (size_t i = 0; i < ARRAY_LEN(row->key_variables); i++) {
		const char *name = row->key_variables[i];

		if (!choice_variable(settings, name) || !variables_own(variables, name))
			continue;
		if (i == 0 && !getenv(name) && variables_is_users(variables, name))
			*ret_users = true;
		else
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "%s is set %s%s and overrides a key that hasp keeps: change "
			               "it there.", name,
			               getenv(name) || !file ? "in the environment" : "in ",
			               getenv(name) || !file ? "" : file);
	}
	return true;
}

/* As Gemini CLI keeps its own. */
static bool keep_in_store(const struct choice_row *row, const char *key, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	json_t *stored;
	bool ok;

	if (strcmp(row->name, "gemini") != 0)
		return keystore_set(SERVICE, row->name, key, err);
	stored = json_pack("{s:s, s:{s:s, s:s}, s:I}", "serverName", KEYSTORE_GEMINI_ACCOUNT,
	                   "token", "accessToken", key, "tokenType", "ApiKey", "updatedAt",
	                   (json_int_t)time(NULL) * 1000);
	text = json_dumps(stored, JSON_COMPACT);
	json_decref(stored);
	ok = keystore_set(KEYSTORE_GEMINI_SERVICE, KEYSTORE_GEMINI_ACCOUNT, text, err);
	explicit_bzero(text, strlen(text));
	return ok;
}

bool model_key_keep(const struct settings *settings, const char *provider, const char *key,
                    char **ret_where, struct err *err)
{
	const struct choice_row *row = keyed_row(provider);
	struct err no_store = ERR_INIT;
	bool users;

	if (!row)
		return err_set(err, ERR_INVALID_ARGUMENT, "%.64s is not a provider that takes a "
			"key.",
		               provider);
	if (!variables_is_plain(key))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "This is not a key: a key is one word of letters, digits and "
		               "signs.");
	if (!key_is_free(settings, row, &users, err))
		return false;
	if (!users && settings_bool(settings, "hasp.keyStore", true) &&
	    keep_in_store(row, key, &no_store)) {
		*ret_where = mem_strdup("the system's key store");
		return true;
	}
	if (!variables_keep(settings_home(settings), row->key_variables[0], key, err))
		return false;
	*ret_where = variables_users_file(settings_home(settings));
	return true;
}

/* From the store, if it is there. */
static bool drop_from_store(const struct choice_row *row, bool *ret_removed, struct err *err)
{
	const bool gemini = strcmp(row->name, "gemini") == 0;
	char *stored = NULL;

	*ret_removed = gemini ? keystore_gemini_key(&stored) :
	                        keystore_get(SERVICE, row->name, &stored);
	if (!*ret_removed)
		return true;
	explicit_bzero(stored, strlen(stored));
	free(stored);
	return gemini ? keystore_delete(KEYSTORE_GEMINI_SERVICE, KEYSTORE_GEMINI_ACCOUNT, err) :
	                keystore_delete(SERVICE, row->name, err);
}

bool model_key_forget(const struct settings *settings, const char *provider, char **ret_where,
                      const char **ret_still, struct err *err)
{
	const struct choice_row *row = keyed_row(provider);
	const struct home *home = settings_home(settings);
	bool stored = false, written = false;

	*ret_where = NULL;
	*ret_still = NULL;
	if (!row)
		return err_set(err, ERR_INVALID_ARGUMENT, "%.64s is not a provider that takes a "
			"key.",
		               provider);
	if (settings_bool(settings, "hasp.keyStore", true) &&
	    !drop_from_store(row, &stored, err))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(row->key_variables); i++) {
		const char *name = row->key_variables[i];
		bool one = false;

		if (!name)
			continue;
		if (!variables_drop(home, name, &one, err))
			return false;
		written = written || one;
		if (choice_variable(settings, name) &&
		    (getenv(name) || !variables_is_users(settings_variables(settings), name)))
			*ret_still = name;
	}
	if (stored || written)
		*ret_where = mem_printf("%s%s%s", stored ? "the system's key store" : "",
		                        stored && written ? " and " : "",
		                        written ? "~/.gemini/.env" : "");
	return true;
}
