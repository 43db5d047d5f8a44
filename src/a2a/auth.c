/* SPDX-License-Identifier: Apache-2.0 */
/* What logs in at an agent: a key or a password in a field, Google's credentials, OAuth.
 *
 * Files spell OAuth's settings with "_", mcp/auth with capitals.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "a2a/private.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

static const char *auth_text(const json_t *auth, const char *name)
{
	const json_t *value = json_object_get(auth, name);

	return json_string_length(value) ? json_string_value(value) : NULL;
}

static bool is_field_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!ascii_is_alnum(*c) && !strchr("!#$%&'*+-.^_`|~", *c))
			return false;
	return *name;
}

/* A value as it may stand in a field (RFC 9110, section 5.5). */
static bool auth_take_field(const struct a2a_options *options, const char *name, char *value,
                       struct a2a_auth *ret, struct err *err)
{
	_cleanup_free_ char *owned = value;

	for (const char *c = owned; *c; c++)
		if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "What the agent %s logs in with has control characters.",
			               options->name);
	if (strlen(owned) > A2A_FIELD_BYTES)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "What the agent %s logs in with is longer than %d bytes.",
		               options->name, A2A_FIELD_BYTES);
	ret->field = mem_printf("%s: %s", name, owned);
	return true;
}

static bool auth_lacks(const struct a2a_options *options, const char *what, struct err *err)
{
	return err_set(err, ERR_INVALID_ARGUMENT, "The \"auth\" of the agent %s has no %s.",
	               options->name, what);
}

static bool open_api_key(const struct a2a_options *options, struct a2a_auth *ret, struct err *err)
{
	const char *key = auth_text(options->auth, "key");
	const char *name = auth_text(options->auth, "name");

	name = name ? name : "X-API-Key";
	if (!key)
		return auth_lacks(options, "\"key\"", err);
	if (!is_field_name(name))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The \"name\" in the \"auth\" of the agent %s is no name of a "
		               "header.", options->name);
	return auth_take_field(options, name, mem_strdup(key), ret, err);
}

static char *basic_value(const char *user, const char *password)
{
	_cleanup_free_ char *both = mem_printf("%s:%s", user, password);
	json_auto_t *text = json_base64(span_str(both));

	return mem_printf("Basic %s", json_string_value(text));
}

static bool open_http(const struct a2a_options *options, struct a2a_auth *ret, struct err *err)
{
	const char *scheme = auth_text(options->auth, "scheme");
	const char *token = auth_text(options->auth, "token");
	const char *user = auth_text(options->auth, "username");
	const char *password = auth_text(options->auth, "password");
	const char *value = auth_text(options->auth, "value");

	const bool bearer = scheme && strcasecmp(scheme, "Bearer") == 0;
	const bool basic = scheme && strcasecmp(scheme, "Basic") == 0;

	if (!scheme || !is_field_name(scheme))
		return auth_lacks(options, "\"scheme\"", err);
	if (!value && basic && user && password)
		return auth_take_field(options, "Authorization", basic_value(user, password), ret,
		                       err);
	if (!value && bearer)
		value = token;
	if (!value)
		return auth_lacks(options, bearer ? "\"token\"" :
		                           basic ? "\"username\" and \"password\"" :
		                                   "\"value\"", err);
	return auth_take_field(options, "Authorization", mem_printf("%s %s", scheme, value), ret,
	                       err);
}

/* A new object. */
static json_t *oauth_settings(const json_t *auth)
{
	static const struct {
		const char *theirs, *ours;
	} rows[] = {
		{ "client_id", "clientId" }, { "client_secret", "clientSecret" },
		{ "scopes", "scopes" }, { "authorization_url", "authorizationUrl" },
		{ "token_url", "tokenUrl" }, { "issuer", "issuer" }, { "audiences", "audiences" },
		{ "redirect_uri", "redirectUri" }, { "token_param_name", "tokenParamName" },
		{ "registration_url", "registrationUrl" },
	};
	json_t *settings = json_object();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (json_object_get(auth, rows[i].theirs))
			json_object_set(settings, rows[i].ours,
			                json_object_get(auth, rows[i].theirs));
	return settings;
}

static bool open_tokens(const struct a2a_options *options, enum mcp_auth_kind kind,
                        struct a2a_auth *ret, struct err *err)
{
	json_auto_t *settings = oauth_settings(options->auth);
	const struct mcp_auth_options own = {
		.name = options->name, .url = options->card_url, .is_agent = true, .kind = kind,
		.home = options->home, .settings = settings, .folder = options->folder,
		.login = options->login, .notices = options->notices, .data = options->data,
	};

	if (!options->card_url)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The agent %s can log in so only with an agent_card_url.",
		               options->name);
	ret->tokens = mcp_auth_new(&own);
	return true;
}

bool a2a_auth_open(const struct a2a_options *options, struct a2a_auth *ret, struct err *err)
{
	const char *type = auth_text(options->auth, "type");
	bool ok;

	*ret = (struct a2a_auth){ 0 };
	if (!options->auth)
		return true;
	ret->any = true;
	if (!type)
		return auth_lacks(options, "\"type\"", err);
	if (strcmp(type, "apiKey") == 0)
		ok = open_api_key(options, ret, err);
	else if (strcmp(type, "http") == 0)
		ok = open_http(options, ret, err);
	else if (strcmp(type, "google-credentials") == 0)
		ok = open_tokens(options, MCP_AUTH_GOOGLE, ret, err);
	else if (strcmp(type, "oauth") == 0 || strcmp(type, "oauth2") == 0)
		ok = open_tokens(options, MCP_AUTH_OAUTH, ret, err);
	else
		ok = err_set(err, ERR_INVALID_ARGUMENT,
		             "The \"auth\" of the agent %s is of the type \"%.40s\"; hasp has "
		             "apiKey, http, google-credentials and oauth.", options->name, type);
	return ok;
}

void a2a_auth_release(struct a2a_auth *auth)
{
	if (auth->field)
		explicit_bzero(auth->field, strlen(auth->field));
	free(auth->field);
	mcp_auth_free(auth->tokens);
	*auth = (struct a2a_auth){ 0 };
}

char *a2a_auth_field(const struct a2a_auth *auth, const struct cancel *cancel)
{
	const struct auth_wait wait = { .cancels = { cancel } };

	return auth->tokens ? mcp_auth_field(auth->tokens, &wait) : mem_strdup(auth->field);
}
