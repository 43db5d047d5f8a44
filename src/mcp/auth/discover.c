/* SPDX-License-Identifier: Apache-2.0 */
/* Who gives tokens for a server: RFC 9728, RFC 8414, OpenID Connect Discovery. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "mcp/auth/private.h"

void auth_place_release(struct auth_place *place)
{
	json_decref(place->server);
	free(place->issuer);
	free(place->resource);
	free(place->scope);
	*place = (struct auth_place){ 0 };
}

/* What comes behind the origin, without query and a slash at the end. */
static struct span address_path(const char *url)
{
	const char *path = url + auth_origin(url).len;
	struct span text = span_of(path, strcspn(path, "?#"));

	while (text.len && text.data[text.len - 1] == '/')
		text.len--;
	return text;
}

/* The document at an address; NULL: there is none. False: it cannot be asked. */
static bool get_document(const struct mcp_auth *auth, const char *url,
                         const struct auth_wait *wait, json_t **ret, struct err *err)
{
	int status;

	if (!auth_request(auth, url, NULL, SPAN(""), NULL, wait, &status, ret, err))
		return false;
	if (status != 200 && *ret) {
		json_decref(*ret);
		*ret = NULL;
	}
	return true;
}

static bool get_well_known(const struct mcp_auth *auth, const char *base, const char *name,
                           bool inserted, bool with_path, const struct auth_wait *wait,
                           json_t **ret, struct err *err)
{
	const struct span origin = auth_origin(base);
	const struct span path = with_path ? address_path(base) : SPAN("");
	_cleanup_free_ char *url =
		mem_printf("%.*s%.*s/.well-known/%s%.*s", (int)origin.len, origin.data,
	                   inserted ? 0 : (int)path.len, path.data, name,
	                   inserted ? (int)path.len : 0, path.data);

	return get_document(auth, url, wait, ret, err);
}

/* The server's own metadata; NULL: it has none, as before 2025-06-18. */
static bool get_resource(const struct mcp_auth *auth, struct span www_authenticate,
                         const struct auth_wait *wait, json_t **ret, struct err *err)
{
	static const char name[] = "oauth-protected-resource";
	_cleanup_free_ char *said = auth_challenge_get(www_authenticate, "resource_metadata");

	*ret = NULL;
	if (said)
		return get_document(auth, said, wait, ret, err);
	return get_well_known(auth, auth->url, name, true, true, wait, ret, err) &&
	       (*ret || !address_path(auth->url).len ||
	        get_well_known(auth, auth->url, name, true, false, wait, ret, err));
}

/* Whether the metadata are of this server: the same origin, and a path that leads to it. */
static bool is_resource_of(const char *resource, const char *url)
{
	const struct span path = address_path(resource), own = address_path(url);

	return auth_origin(url).len && span_eq(auth_origin(resource), auth_origin(url)) &&
	       span_starts(own, path) && (own.len == path.len || own.data[path.len] == '/');
}

/* A slash at the end is all that may differ: users and servers write both. */
static bool is_same_issuer(const char *a, const char *b)
{
	return span_eq(auth_origin(a), auth_origin(b)) &&
	       span_eq(address_path(a), address_path(b)) &&
	       !strpbrk(a, "?#") && !strpbrk(b, "?#");
}

static bool get_server(const struct mcp_auth *auth, const char *issuer,
                       const struct auth_wait *wait, json_t **ret, struct err *err)
{
	const bool path = address_path(issuer).len > 0;
	const char *said;

	*ret = NULL;
	if (!get_well_known(auth, issuer, "oauth-authorization-server", true, true, wait, ret,
	                    err) ||
	    (!*ret && !get_well_known(auth, issuer, "openid-configuration", true, true, wait, ret,
	                              err)) ||
	    (!*ret && path && !get_well_known(auth, issuer, "openid-configuration", false, true,
	                                      wait, ret, err)))
		return false;
	said = json_string_value(json_object_get(*ret, "issuer"));
	if (*ret && said && is_same_issuer(said, issuer))
		return true;
	if (*ret)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The authorization server of the %s calls itself by "
		               "another name than the one it was found by.", auth->called);
	if (auth->is_agent)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The %s requires a login, and its authorization server does not say "
		               "how. A token can go into \"auth\" of its file, with the type "
		               "\"http\".", auth->called);
	return err_set(err, ERR_AUTHENTICATION_FAILED,
	               "The %s requires a login, and its authorization server does not say how. A "
	               "token goes into mcpServers.%s.headers, as {\"Authorization\": \"Bearer "
	               "$TOKEN\"}.", auth->called, auth->name);
}

/* Addresses of the settings stand in place of those that are found. */
static void put_configured(const struct mcp_auth *auth, json_t *server)
{
	static const char *const members[][2] = {
		{ "authorizationUrl", "authorization_endpoint" },
		{ "tokenUrl", "token_endpoint" },
		{ "registrationUrl", "registration_endpoint" },
	};

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (auth_setting(auth, members[i][0]))
			json_object_set_new(server, members[i][1],
			                    json_string(auth_setting(auth, members[i][0])));
}

static char *scope_wanted(const struct mcp_auth *auth, struct span www_authenticate,
                          const json_t *resource, const json_t *server)
{
	char *scope = auth_challenge_get(www_authenticate, "scope");
	char *more;

	if (!scope)
		scope = auth_texts_joined(json_object_get(auth->settings, "scopes"));
	if (!scope)
		scope = auth_texts_joined(json_object_get(resource, "scopes_supported"));
	/* A refresh token is only given with this where it is known (SEP-2207). */
	if (!json_lists(json_object_get(server, "scopes_supported"), SPAN("offline_access")) ||
	    (scope && strstr(scope, "offline_access")))
		return scope;
	more = scope ? mem_printf("%s offline_access", scope) : mem_strdup("offline_access");
	free(scope);
	return more;
}

bool auth_discover(const struct mcp_auth *auth, struct span www_authenticate,
                   const struct auth_wait *wait, struct auth_place *ret, struct err *err)
{
	json_auto_t *resource = NULL;
	const char *issuer = auth_setting(auth, "issuer"), *own;
	const struct span origin = auth_origin(auth->url);
	_cleanup_free_ char *root = mem_printf("%.*s", (int)origin.len, origin.data);
	bool known;

	*ret = (struct auth_place){ 0 };
	if (!get_resource(auth, www_authenticate, wait, &resource, err))
		return false;
	own = json_string_value(json_object_get(resource, "resource"));
	if (resource && (!own || !is_resource_of(own, auth->url)))
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The %s names another server as the one that a login "
		               "would be for.", auth->called);
	if (!issuer)
		issuer = json_string_value(json_array_get(
			json_object_get(resource, "authorization_servers"), 0));
	issuer = issuer ? issuer : root;
	known = auth_setting(auth, "authorizationUrl") && auth_setting(auth, "tokenUrl");
	if (known)
		ret->server = json_pack("{s:s, s:[s]}", "issuer", issuer,
		                        "code_challenge_methods_supported", "S256");
	else if (!get_server(auth, issuer, wait, &ret->server, err))
		auth_place_release(ret);
	if (!ret->server)
		return false;
	put_configured(auth, ret->server);
	ret->issuer = mem_strdup(json_string_value(json_object_get(ret->server, "issuer")));
	ret->resource = mem_strdup(own ? own : auth->url);
	ret->scope = scope_wanted(auth, www_authenticate, resource, ret->server);
	return true;
}
