/* SPDX-License-Identifier: Apache-2.0 */
/* Which model a word means, who provides it, where its key comes from, and until when it is
 * there. */
#include "model/choose.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "config/home.h"
#include "data/json.h"
#include "data/warnings.h"
#include "model/parameters.h"

/* Providers by name: where they are, what they speak, which variables hold their
 * keys.
 *
 * To add a provider: a row in choose.c, and a line in docs/models.md.
 */

struct catalogue_row {
	const char *name;
	const char *format;    /* endpoint.c's name */
	const char *base_url;  /* NULL: the format's */
	const char *base_variables[2]; /* hold another address; the first that is set */
	const char *key_variables[2];  /* the first that is set */
	bool keyless;          /* works without a key */
};

/* A model that its provider takes out of service. */
struct catalogue_end {
	const char *provider;  /* a row's name */
	const char *prefix;    /* of the model's name; the first that fits counts */
	const char *last_day;  /* "2026-12-01"; NULL: announced without a day; "": it goes on */
	const char *instead;
};

/* What the files of model_choose share. */

enum { CHOICE_HEADERS = 64, CHOICE_FALLBACKS = 8, CHOICE_WITHOUT = 64 };

/* What a choice's options point to. */
struct choice_store {
	char **strings;              /* owned, and what they point to */
	size_t count, cap;
	const char *headers[CHOICE_HEADERS + 1];
	size_t header_count;
	const char *key_from;        /* borrowed from a string, or static */
	struct model_choice fallbacks[CHOICE_FALLBACKS];
	const struct model_options *list[CHOICE_FALLBACKS + 1];
	const char *without[CHOICE_WITHOUT + 1];
};

/* ---- catalogue --------------------------------------------------------------- */

static const struct catalogue_row rows[] = {
	{ "gemini", "gemini", NULL, { "GOOGLE_GEMINI_BASE_URL" },
	  { "GEMINI_API_KEY", "GOOGLE_API_KEY" }, false },
	{ "vertex", "gemini", NULL, { "GOOGLE_VERTEX_BASE_URL" },
	  { "GOOGLE_CLOUD_ACCESS_TOKEN", "GOOGLE_API_KEY" }, false },
	{ "openai", "openai", NULL, { "OPENAI_BASE_URL", "OPENAI_API_BASE" },
	  { "OPENAI_API_KEY" }, false },
	{ "openai-responses", "openai-responses", NULL, { "OPENAI_BASE_URL", "OPENAI_API_BASE" },
	  { "OPENAI_API_KEY" }, false },
	{ "anthropic", "anthropic", NULL, { "ANTHROPIC_BASE_URL" },
	  { "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN" }, false },
	{ "openrouter", "openai", "https://openrouter.ai/api/v1", { NULL },
	  { "OPENROUTER_API_KEY" }, false },
	{ "ollama", "openai", "http://127.0.0.1:11434/v1", { "OLLAMA_HOST" },
	  { "OLLAMA_API_KEY" }, true },
	{ "llama.cpp", "openai", "http://127.0.0.1:8080/v1", { "LLAMA_BASE_URL" },
	  { "LLAMA_API_KEY" }, true },
	{ "vllm", "openai", "http://127.0.0.1:8000/v1", { "VLLM_BASE_URL" },
	  { "VLLM_API_KEY" }, true },
	{ "lmstudio", "openai", "http://127.0.0.1:1234/v1", { "LMSTUDIO_BASE_URL" },
	  { "LMSTUDIO_API_KEY" }, true },
	{ "groq", "openai", "https://api.groq.com/openai/v1", { NULL }, { "GROQ_API_KEY" }, false },
	{ "deepseek", "openai", "https://api.deepseek.com/v1", { NULL },
	  { "DEEPSEEK_API_KEY" }, false },
	{ "mistral", "openai", "https://api.mistral.ai/v1", { NULL },
	  { "MISTRAL_API_KEY" }, false },
	{ "xai", "openai", "https://api.x.ai/v1", { NULL }, { "XAI_API_KEY" }, false },
	{ "together", "openai", "https://api.together.xyz/v1", { NULL },
	  { "TOGETHER_API_KEY" }, false },
	{ "fireworks", "openai", "https://api.fireworks.ai/inference/v1", { NULL },
	  { "FIREWORKS_API_KEY" }, false },
	{ "cerebras", "openai", "https://api.cerebras.ai/v1", { NULL },
	  { "CEREBRAS_API_KEY" }, false },
	{ "moonshot", "openai", "https://api.moonshot.ai/v1", { NULL },
	  { "MOONSHOT_API_KEY" }, false },
	{ "huggingface", "openai", "https://router.huggingface.co/v1", { NULL },
	  { "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN" }, false },
};

/* The day of what the tables of models say. */
static const char catalogue_date[] = "2026-11-23";

/* Sources: ai.google.dev/gemini-api/docs/deprecations; platform.claude.com/docs, "Model
 * deprecations". Vertex AI has days of its own. */
static const struct catalogue_end ends[] = {
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

/* NULL: nothing is known of an end. */
static const struct catalogue_end *catalogue_retirement(const char *provider, const char *model)
{
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (strcmp(ends[i].provider, provider) == 0 &&
		    strncmp(model, ends[i].prefix, strlen(ends[i].prefix)) == 0)
			return ends[i].instead ? &ends[i] : NULL;
	return NULL;
}

static const struct catalogue_row *catalogue_find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strlen(rows[i].name) == len && memcmp(rows[i].name, name, len) == 0)
			return &rows[i];
	return NULL;
}

/* ---- variables, keys, and what a choice keeps ----------------------------------- */

/* NULL: it is not set, or empty. */
static const char *variable_value(const struct settings *settings, const char *name)
{
	const char *value = name ? variables_get(settings_variables(settings), name) : NULL;

	return value && value[0] ? value : NULL;
}

/* The first of a row's variables that is set and not empty; NULL: none. */
static const char *first_variable(const struct settings *settings,
                                  const char *const names[static 2])
{
	const char *value = variable_value(settings, names[0]);

	return value ? value : variable_value(settings, names[1]);
}

/* Under which keys other than Gemini's are in the key store; the account is the provider's name. */
#define SERVICE "hasp"

/* Gives a string (taken) to the store; returns it. */
static const char *choice_keep(struct choice_store *store, char *string)
{
	if (store->count == store->cap)
		store->strings = mem_grow(store->strings, &store->cap, store->count + 1,
		                          sizeof(*store->strings));
	store->strings[store->count++] = string;
	return string;
}

/* A header (taken); those beyond CHOICE_HEADERS are dropped. */
static void choice_add_header(struct choice_store *store, char *header)
{
	choice_keep(store, header);
	if (store->header_count < CHOICE_HEADERS)
		store->headers[store->header_count++] = header;
}

/* The key for a provider: its variables, then the key store. NULL: none. Kept by the store. */
static const char *choose_key(const struct settings *settings, const struct catalogue_row *row,
                              struct choice_store *store)
{
	const char *key = first_variable(settings, row->key_variables);
	char *stored = NULL;
	bool found;

	if (key) {
		store->key_from = row->key_variables[!variable_value(settings,
		                                                     row->key_variables[0])];
		return choice_keep(store, mem_strdup(key));
	}
	if (row->keyless || !settings_bool(settings, "hasp.keyStore", true))
		return NULL;
	found = strcmp(row->name, "gemini") == 0 ? keystore_gemini_key(&stored) :
	                                           keystore_get(SERVICE, row->name, &stored);
	store->key_from = found ? "key store" : NULL;
	return found ? choice_keep(store, stored) : NULL;
}

static bool no_key_error(const struct catalogue_row *row, struct err *err)
{
	return err_set(err, ERR_AUTHENTICATION_FAILED,
	               "There is no key for %s: set the variable %s%s%s, in the environment or in "
	               "~/.gemini/.env, or store it in the system's key store (secret-tool store, "
	               "see docs/models.md).", row->name,
	               row->key_variables[0], row->key_variables[1] ? " or " : "",
	               row->key_variables[1] ? row->key_variables[1] : "");
}

/* ---- Google's ways ----------------------------------------------------------- */

/* Google's names, ways and variables, as Gemini CLI reads them. */

/* "auto" is "pro" with "flash" to fall back to. As of catalogue_date. */
static const struct alias {
	const char *name, *model;
} aliases[] = {
	{ "auto", "gemini-3.1-pro-preview" },
	{ "pro", "gemini-3.1-pro-preview" },
	{ "flash", "gemini-3.8-flash" },
	{ "flash-lite", "gemini-3.5-flash-lite" },
	{ "auto-gemini-3", "gemini-3.1-pro-preview" },
	{ "auto-gemini-2.5", "gemini-2.5-pro" },
};

/* Aliases that extend each other, at most. */
enum { ALIAS_STEPS = 16 };

/* The name that an alias stands for; `name` itself if it is none. Borrowed from settings or
 * `name`. */
static const char *google_alias(const struct settings *settings, const char *name)
{
	const char *given = name, *next = name;

	for (unsigned i = 0; next && i < ALIAS_STEPS; i++) {
		const json_t *alias = model_alias(settings, next);
		const char *model = json_string_value(
			json_object_get(json_object_get(alias, "modelConfig"), "model"));

		if (model)
			given = model;
		if (model || !alias)
			break;
		next = json_string_value(json_object_get(alias, "extends"));
		given = next ? next : given;
	}
	for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
		if (strcmp(aliases[i].name, given) == 0)
			return aliases[i].model;
	return given;
}

static bool variable_is_true(const struct settings *settings, const char *name)
{
	const char *value = variable_value(settings, name);

	return value && (strcmp(value, "true") == 0 || strcmp(value, "1") == 0);
}

/* Without a setting: the first variable that says something. */
static const char *auth_type_of_variables(const struct settings *settings)
{
	const char *given = variable_value(settings, "GEMINI_DEFAULT_AUTH_TYPE");

	if (given)
		return given;
	if (variable_is_true(settings, "GOOGLE_GENAI_USE_VERTEXAI"))
		return "vertex-ai";
	if (variable_value(settings, "GEMINI_API_KEY"))
		return "gemini-api-key";
	if (variable_value(settings, "GOOGLE_GEMINI_BASE_URL"))
		return "gateway";
	return variable_is_true(settings, "GOOGLE_GENAI_USE_GCA") ? "oauth-personal" :
	       "gemini-api-key";
}

/* The provider's way of a name of Google's: "gemini-api-key", "vertex-ai" or "gateway".
 * AUTHENTICATION_FAILED: security.auth.selectedType is another one. */
static bool google_auth_type(const struct settings *settings, const char **ret, struct err *err)
{
	static const char *const known[] = { "gemini-api-key", "vertex-ai", "gateway" };
	const char *type = settings_string(settings, "security.auth.selectedType", NULL);

	if (!type || !type[0])
		type = auth_type_of_variables(settings);
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(known[i], type) == 0) {
			*ret = known[i];
			return true;
		}
	return err_set(err, ERR_AUTHENTICATION_FAILED,
	               "hasp does not log in to Google (security.auth.selectedType or a variable "
	               "says %.64s): use an API key in GEMINI_API_KEY, or Vertex AI.", type);
}

/* ---- headers ---- */

/* Where an entry of "K:V,K:V" ends: at a comma after which another "K:" comes. */
static size_t entry_length(const char *text)
{
	size_t len = strcspn(text, ",");

	while (text[len]) {
		const char *next = text + len + 1;
		size_t name = strcspn(next, ",:");

		if (next[name] == ':' && name)
			return len;
		len += 1 + strcspn(next, ",");
	}
	return len;
}

static void custom_headers(const struct settings *settings, struct choice_store *store)
{
	const char *text = variable_value(settings, "GEMINI_CLI_CUSTOM_HEADERS");

	while (text && *text) {
		size_t len = entry_length(text);
		struct span entry = span_trim(span_of(text, len));
		const char *colon = entry.len ? memchr(entry.data, ':', entry.len) : NULL;

		if (colon && colon != entry.data) {
			struct span name =
				span_trim(span_head(entry, (size_t)(colon - entry.data)));
			struct span value =
				span_trim(span_skip(entry, (size_t)(colon - entry.data) + 1));

			choice_add_header(store, mem_printf("%.*s: %.*s", (int)name.len, name.data,
			                                    (int)value.len, value.data));
		}
		text += len + (text[len] == ',');
	}
}

/* ---- addresses ---- */

/* Whether an address ends in its version: ".../v1beta". */
static bool has_version(const char *address, size_t len)
{
	const char *slash = memrchr(address, '/', len);

	return slash && slash[1] == 'v' && ascii_is_digit(slash[2]);
}

static char *with_version(const struct settings *settings, const char *address,
                          const char *version)
{
	const char *given = variable_value(settings, "GOOGLE_GENAI_API_VERSION");
	size_t len = strlen(address);

	while (len && address[len - 1] == '/')
		len--;
	if (has_version(address, len))
		return mem_dup(address, len);
	return mem_printf("%.*s/%s", (int)len, address, given ? given : version);
}

static bool is_google_name(const char *text)
{
	return text[strspn(text,
	                   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:")] ==
	       '\0';
}

/* Google Cloud's address has the place in the host, and project and place in the path.  With an API
 * key and no project ("express") it has neither. */
static bool vertex_address(const struct settings *settings, const struct catalogue_row *row,
                           struct choice_store *store, struct model_options *options,
                           struct err *err)
{
	const char *base = first_variable(settings, row->base_variables);
	const char *project = first_variable(settings, (const char *const[2]){
		"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID" });
	const char *place = variable_value(settings, "GOOGLE_CLOUD_LOCATION");
	_cleanup_free_ char *host = NULL, *versioned = NULL;

	if ((project && !is_google_name(project)) || (place && !is_google_name(place)))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "GOOGLE_CLOUD_PROJECT or GOOGLE_CLOUD_LOCATION is not a name.");
	host = base ? mem_strdup(base) :
	       !place || !project || strcmp(place, "global") == 0 ?
	              mem_strdup("https://aiplatform.googleapis.com") :
	              mem_printf("https://%s-aiplatform.googleapis.com", place);
	versioned = with_version(settings, host, "v1beta1");
	if (project && place)
		options->base_url = choice_keep(store, mem_printf("%s/projects/%s/locations/%s",
		                                                  versioned, project, place));
	else if (options->bearer)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "Vertex AI needs GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION "
		               "beside GOOGLE_CLOUD_ACCESS_TOKEN.");
	else
		options->base_url = choice_keep(store, mem_steal(&versioned));
	return true;
}

/* Address, key and headers for Gemini and Vertex. */
static bool google_options(const struct settings *settings, const struct catalogue_row *row,
                           struct choice_store *store, struct model_options *options,
                           struct err *err)
{
	const char *mechanism = variable_value(settings, "GEMINI_API_KEY_AUTH_MECHANISM");
	const char *base = first_variable(settings, row->base_variables);

	options->vertex = strcmp(row->name, "vertex") == 0;
	options->api_key = choose_key(settings, row, store);
	options->bearer = (mechanism && strcmp(mechanism, "bearer") == 0) ||
	                  (options->vertex &&
	                   variable_value(settings, row->key_variables[0]));
	custom_headers(settings, store);
	/* A gateway of one's own may put in the key itself. */
	if (!options->api_key && !base)
		return no_key_error(row, err);
	if (options->vertex) {
		if (strncmp(options->name, "claude-", 7) == 0)
			options->provider = "anthropic"; /* Claude speaks its format there too */
		return vertex_address(settings, row, store, options, err);
	}
	if (base)
		options->base_url = choice_keep(store, with_version(settings, base, "v1beta"));
	return true;
}

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
static bool wants_responses(const struct catalogue_row *row, const struct model_options *options)
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

static bool row_options(const struct settings *settings, const struct catalogue_row *row,
                        struct choice_store *store, struct model_options *options,
                        struct err *err)
{
	const char *base = first_variable(settings, row->base_variables);

	options->base_url = base ? complete_address(store, base) : row->base_url;
	if (wants_responses(row, options))
		options->provider = "openai-responses";
	options->api_key = choose_key(settings, row, store);
	/* ANTHROPIC_AUTH_TOKEN is a token for a gateway. */
	options->bearer = options->api_key && row->key_variables[1] &&
	                  !variable_value(settings, row->key_variables[0]) &&
	                  strcmp(row->key_variables[1], "ANTHROPIC_AUTH_TOKEN") == 0;
	return options->api_key || row->keyless || no_key_error(row, err);
}

/* A member of hasp.providers: {"format", "baseUrl", "apiKeyEnv", "headers", "contextTokens"}.
 * What it leaves out, a row of the same name has. */
static bool own_options(const struct settings *settings, const json_t *own, const char *name,
                        struct choice_store *store, struct model_options *options, struct err *err)
{
	const struct catalogue_row *row = catalogue_find(name, strlen(name));
	const char *format = json_string_value(json_object_get(own, "format"));
	const char *base = json_string_value(json_object_get(own, "baseUrl"));
	const char *key_name = json_string_value(json_object_get(own, "apiKeyEnv"));
	const char *key = variable_value(settings, key_name), *header;
	json_t *value;

	if (!base && !row)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "hasp.providers.%.64s has no \"baseUrl\".", name);
	if (key_name && !key)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "There is no key for %.64s: set the variable %.64s.", name,
		               key_name);
	options->provider = format ? format : row ? row->format : "openai";
	options->base_url = base ? base : row->base_url;
	if (key)
		store->key_from = choice_keep(store, mem_strdup(key_name));
	options->api_key = key ? choice_keep(store, mem_strdup(key)) :
	                   row ? choose_key(settings, row, store) :
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

static bool unknown_provider(const char *name, size_t len, struct err *err)
{
	_cleanup_buf_ struct buf names = BUF_INIT(ERR_MESSAGE_MAX);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		buf_printf(&names, "%s%s", i ? ", " : "", rows[i].name);
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "There is no provider %.*s. There are %s, and those of hasp.providers.",
	               (int)(len < 64 ? len : 64), name, names.data);
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
		(unsigned)settings_integer(settings, "general.maxAttempts", 0) & 0xFFFF;
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
			value = variable_value(settings, proxies[i]);
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
	const struct catalogue_end *end =
		options->label && options->name && !options->base_url ?
			catalogue_retirement(options->label, options->name) : NULL;

	if (end && end->last_day)
		choice_warn(choice,
		            mem_printf("%s is out of service from %s on (known on %s). Use %s.",
		                       options->name, end->last_day, catalogue_date,
		                       end->instead));
	else if (end)
		choice_warn(choice,
		            mem_printf("%s is being taken out of service (known on %s). Use %s.",
		                       options->name, catalogue_date, end->instead));
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

static bool google_row(const struct settings *settings, const struct catalogue_row **ret,
                       struct err *err)
{
	const char *type = "";

	if (!google_auth_type(settings, &type, err))
		return false;
	*ret = strcmp(type, "vertex-ai") == 0 ? catalogue_find("vertex", 6) :
	                                        catalogue_find("gemini", 6);
	return true;
}

/* An administrator's word that only one way of Google's is to be used.  A variable that asks for
 * Google's login counts then even beside a key, as in Gemini CLI: which account pays is not left to
 * what else is set. */
static bool auth_type_allowed(const struct settings *settings, const struct catalogue_row *row,
                              struct err *err)
{
	const char *type = settings_string(settings, "security.auth.enforcedType", NULL);
	const char *selected = settings_string(settings, "security.auth.selectedType", "");
	const char *used = "", *name = row ? row->name : "";

	if (!type || !type[0])
		return true;
	if (!selected[0] && variable_is_true(settings, "GOOGLE_GENAI_USE_GCA") &&
	    strcmp(type, "oauth-personal") != 0)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The enforced authentication type is '%.64s', but the current type "
		               "is 'oauth-personal': GOOGLE_GENAI_USE_GCA is set, and "
		               "security.auth.enforcedType allows only %.64s.", type, type);
	if (strcmp(name, "vertex") == 0)
		used = "vertex-ai";
	else if (strcmp(name, "gemini") == 0 && !google_auth_type(settings, &used, err))
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
	const struct catalogue_row *row = catalogue_find(words, len);
	struct model_options *options = &choice->options;
	bool google;

	if (!own && !row)
		return unknown_provider(words, len, err);
	if (!auth_type_allowed(settings, own ? NULL : row, err))
		return false;
	options->label = choice_keep(choice->store, mem_strdup(name));
	options->name = choice_keep(choice->store, mem_strdup(words + len + 1));
	options->provider = row ? row->format : "openai";
	if (own)
		return own_options(settings, own, name, choice->store, options, err);
	google = strcmp(row->format, "gemini") == 0;
	return google ? google_options(settings, row, choice->store, options, err) :
	                row_options(settings, row, choice->store, options, err);
}

static bool choose_google(const struct settings *settings, const char *words,
                          struct model_choice *choice, struct err *err)
{
	struct model_options *options = &choice->options;
	const struct catalogue_row *row;

	if (!google_row(settings, &row, err) || !auth_type_allowed(settings, row, err))
		return false;
	options->provider = row->format;
	options->label = row->name;
	options->name = choice_keep(choice->store, mem_strdup(google_alias(settings, words)));
	return google_options(settings, row, choice->store, options, err);
}

static bool choose_one(const struct settings *settings, const char *words,
                       struct model_choice *choice, struct err *err)
{
	size_t len = provider_length(words);
	const char *asked = len ? words + len + 1 : words;
	bool ok;

	choice->store = mem_alloc(1, sizeof(*choice->store));
	common_options(settings, choice->store, &choice->options);
	if (strncmp(words, "replay:", 7) == 0) {
		const char *file = choice_keep(choice->store, mem_strdup(words + 7));

		choice->options.provider = "replay";
		choice->options.name = file;
		choice->options.replay_file = file;
		choice->parameters = (struct model_parameters)MODEL_PARAMETERS_INIT;
		return true;
	}
	/* An alias with the provider before it is one all the same. */
	if (len == 6 && strncmp(words, "gemini", 6) == 0)
		words = google_alias(settings, words + 7), len = 0;
	ok = len ? choose_named(settings, words, len, choice, err) :
	           choose_google(settings, words, choice, err);
	if (ok)
		model_parameters_read(settings, asked,
		                      choice->options.name, NULL, &choice->parameters);
	else
		model_choice_release(choice);
	return ok;
}

static void warn_of_fallback(struct model_choice *choice, const char *name, const char *why)
{
	choice_warn(choice,
	            mem_printf("The fallback %.64s (hasp.fallbacks) cannot be used. %s", name,
	                       why));
}

static bool add_fallback(const struct settings *settings, const char *name, size_t at,
                         struct model_choice *choice)
{
	struct choice_store *store = choice->store;
	struct err err = ERR_INIT;

	if (at >= CHOICE_FALLBACKS)
		err_set(&err, ERR_INVALID_ARGUMENT, "There may be %d of them.", CHOICE_FALLBACKS);
	else if (choose_one(settings, name, &store->fallbacks[at], &err)) {
		store->fallbacks[at].options.fallbacks = NULL;
		store->list[at] = &store->fallbacks[at].options;
		return true;
	}
	warn_of_fallback(choice, name, err.message);
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

/* What is chosen where `words` says nothing. */
static const char *choice_words(const struct settings *settings, const char *words)
{
	if (!words || !words[0])
		words = variable_value(settings, "GEMINI_MODEL");
	if (!words)
		words = settings_string(settings, "model.name", "auto");
	return words[0] ? words : "auto";
}

bool model_choose(const struct settings *settings, const char *words, struct model_choice *ret,
                  struct err *err)
{
	struct model_choice choice = { 0 };

	words = choice_words(settings, words);
	if (!choose_one(settings, words, &choice, err))
		return false;
	choose_left_out(settings, &choice);
	warn_of_retirement(&choice);
	add_fallbacks(settings, words, &choice);
	choice.key_from = choice.store->key_from;
	*ret = choice;
	return true;
}

/* ---- keys that are kept ------------------------------------------------------ */

static const struct catalogue_row *keyed_row(const char *provider)
{
	const struct catalogue_row *row = catalogue_find(provider, strlen(provider));

	return row && row->key_variables[0] ? row : NULL;
}

bool model_provider_has_key(const char *provider)
{
	return keyed_row(provider) != NULL;
}

char *model_provider_of(const struct settings *settings, const char *words)
{
	const size_t len = provider_length(words = choice_words(settings, words));

	if (!len)
		return mem_strdup("gemini");
	return catalogue_find(words, len) ? mem_dup(words, len) : mem_strdup("");
}

/* A variable that counts more than the key store: *ret_users when it is one of the user's own file,
 * where another line takes its place. */
static bool key_is_free(const struct settings *settings, const struct catalogue_row *row,
                        bool *ret_users, struct err *err)
{
	const struct variables *variables = settings_variables(settings);
	const char *file = variables_file(variables);

	*ret_users = false;
	for (size_t i = 0; i < ARRAY_LEN(row->key_variables); i++) {
		const char *name = row->key_variables[i];

		if (!variable_value(settings, name))
			continue;
		if (i == 0 && !getenv(name) && variables_is_users(variables, name))
			*ret_users = true;
		else
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "%s is set %s%s and counts more than a key that hasp "
			               "keeps: change it there.", name,
			               getenv(name) || !file ? "in the environment" : "in ",
			               getenv(name) || !file ? "" : file);
	}
	return true;
}

/* As Gemini CLI keeps its own. */
static bool keep_in_store(const struct catalogue_row *row, const char *key, struct err *err)
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
	const struct catalogue_row *row = keyed_row(provider);
	struct err no_store = ERR_INIT;
	bool users;

	if (!row)
		return err_set(err, ERR_INVALID_ARGUMENT, "There is no provider %.64s with a key.",
		               provider);
	if (!variables_is_plain(key))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "That is no key: a key is one word of letters, digits and signs.");
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
