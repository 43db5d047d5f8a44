/* SPDX-License-Identifier: Apache-2.0 */
/* Google's names, ways and variables, as Gemini CLI reads them. */
#include "model/choice.h"

#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "model/parameters.h"

/* ---- names and ways ---- */

/* "auto" is "pro" with "flash" to fall back to. As of choice_date. */
static const struct google_alias {
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

const char *choice_google_alias(const struct settings *settings, const char *name)
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

/* Without a setting: the first variable that says something. */
static const char *auth_type_of_variables(const struct settings *settings)
{
	const char *given = choice_variable(settings, "GEMINI_DEFAULT_AUTH_TYPE");

	if (given)
		return given;
	if (choice_is_true(settings, "GOOGLE_GENAI_USE_VERTEXAI"))
		return "vertex-ai";
	if (variables_own(settings_variables(settings), "GEMINI_API_KEY"))
		return "gemini-api-key";
	if (choice_variable(settings, "GOOGLE_GEMINI_BASE_URL"))
		return "gateway";
	return choice_is_true(settings, "GOOGLE_GENAI_USE_GCA") ? "oauth-personal" :
	       "gemini-api-key";
}

bool choice_google_type(const struct settings *settings, const char **ret, struct err *err)
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
	               "hasp cannot log in with a Google account (security.auth.selectedType or a "
	               "variable selects %.64s). Use an API key (GEMINI_API_KEY, or /auth), or "
	               "Vertex AI.", type);
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
	const char *text = choice_variable(settings, "GEMINI_CLI_CUSTOM_HEADERS");

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
	const char *given = choice_variable(settings, "GOOGLE_GENAI_API_VERSION");
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
static bool vertex_address(const struct settings *settings, const struct choice_row *row,
                           struct choice_store *store, struct model_options *options,
                           struct err *err)
{
	const char *base = choice_either(settings, row->base_variables);
	const char *project = choice_either(settings, (const char *const[2]){
		"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID" });
	const char *place = choice_variable(settings, "GOOGLE_CLOUD_LOCATION");
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
		               "Vertex AI requires GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION "
		               "in addition to GOOGLE_CLOUD_ACCESS_TOKEN.");
	else
		options->base_url = choice_keep(store, mem_steal(&versioned));
	return true;
}

bool choice_google_options(const struct settings *settings, const struct choice_row *row,
                           struct choice_store *store, struct model_options *options,
                           struct err *err)
{
	const char *mechanism = choice_variable(settings, "GEMINI_API_KEY_AUTH_MECHANISM");
	const char *base = choice_either(settings, row->base_variables);

	options->vertex = strcmp(row->name, "vertex") == 0;
	options->api_key = choice_key(settings, row, store);
	options->bearer = (mechanism && strcmp(mechanism, "bearer") == 0) ||
	                  (options->vertex && store->key_from && row->key_variables[0] &&
	                   strcmp(store->key_from, row->key_variables[0]) == 0);
	custom_headers(settings, store);
	/* A gateway of one's own may put in the key itself. */
	if (!options->api_key && !base)
		return choice_no_key(settings, row, store, options, err);
	if (options->vertex) {
		if (strncmp(options->name, "claude-", 7) == 0)
			options->provider = "anthropic"; /* Claude speaks its format there too */
		return vertex_address(settings, row, store, options, err);
	}
	if (base)
		options->base_url = choice_keep(store, with_version(settings, base, "v1beta"));
	return true;
}
