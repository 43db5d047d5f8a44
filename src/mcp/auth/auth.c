/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of one server: how they are had, used and renewed. */
#include "mcp/auth/auth.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/sha256.h"
#include "data/json.h"
#include "mcp/auth/private.h"

enum {
	RANDOM_BYTES = 32,
	EXPIRY_MARGIN_S = 30,
	ERROR_SHOWN = 200,
	LOCK_STEP_MS = 100,
	GOOGLE_FRESH_S = 30, /* a token of Google's that is refused so soon was not too old */
};

struct mcp_auth *mcp_auth_new(const struct mcp_auth_options *options)
{
	struct mcp_auth *auth = mem_alloc(1, sizeof(*auth));

	auth->name = mem_strdup(options->name);
	auth->is_agent = options->is_agent;
	auth->called = mem_printf("%s \"%s\"", options->is_agent ? "agent" : "MCP server",
	                          options->name);
	auth->url = mem_strdup(options->url);
	auth->folder = options->folder ? mem_strdup(options->folder) : NULL;
	auth->kind = options->kind;
	auth->audience = options->audience ? mem_strdup(options->audience) : NULL;
	auth->account = options->account ? mem_strdup(options->account) : NULL;
	auth->home = options->home ? mem_strdup(options->home) : NULL;
	auth->settings = json_incref((json_t *)options->settings);
	auth->login = options->login;
	auth->notices = options->notices;
	auth->data = options->data;
	pthread_mutex_init(&auth->lock, NULL);
	return auth;
}

void mcp_auth_free(struct mcp_auth *auth)
{
	if (!auth)
		return;
	pthread_mutex_destroy(&auth->lock);
	json_decref(auth->settings);
	json_decref(auth->token);
	free(auth->audience);
	free(auth->account);
	free(auth->home);
	free(auth->folder);
	free(auth->called);
	free(auth->name);
	free(auth->url);
	free(auth);
}

/* ---- what is known of the token: with the lock ---- */

static const char *token_text(const struct mcp_auth *auth, const char *name)
{
	return json_string_value(json_object_get(auth->token, name));
}

static void token_set(struct mcp_auth *auth, const char *name, const char *value)
{
	if (value)
		json_object_set_new(auth->token, name, json_string(value));
	else
		json_object_del(auth->token, name);
}

static void token_load(struct mcp_auth *auth)
{
	if (!auth->loaded)
		auth->token = auth->kind == MCP_AUTH_OAUTH ? auth_store_read(auth) : json_object();
	auth->loaded = true;
}

static bool is_expired(const struct mcp_auth *auth)
{
	const json_t *at = json_object_get(auth->token, "expires_at");

	return json_is_integer(at) && json_integer_value(at) <= time(NULL) + EXPIRY_MARGIN_S;
}

static char *token_field(const struct mcp_auth *auth)
{
	const char *token = token_text(auth, "access_token");

	return auth_token_is_sendable(json_object_get(auth->token, "access_token")) ?
	               mem_printf("Authorization: Bearer %s", token) : NULL;
}

/* NULL: *err. */
static char *random_text(struct err *err)
{
	char bytes[RANDOM_BYTES];

	if (!random_fill(bytes, sizeof(bytes), err))
		return NULL;
	return auth_base64url(span_of(bytes, sizeof(bytes)));
}

/* ---- the token endpoint ---- */

static bool refused_by_server(const struct mcp_auth *auth, const char *what, int status,
                              const json_t *answer, struct err *err)
{
	const char *code = json_string_value(json_object_get(answer, "error"));
	char shown[64];
	size_t n = 0;

	for (; code && code[n] && n + 1 < sizeof(shown); n++)
		shown[n] = ascii_is_alnum(code[n]) || code[n] == '_' ? code[n] : '?';
	shown[n] = 0;
	return err_set(err, ERR_AUTHENTICATION_FAILED,
	               "The authorization server of the %s refused %s (HTTP status "
	               "%d%s%s).", auth->called, what, status, n ? ": " : "", shown);
}

/* The client's key signs who it is, for this issuer alone (RFC 7523, section 2.2). */
static bool client_assert(const struct mcp_auth *auth, const char *id, struct buf *form,
                          struct err *err)
{
	json_auto_t *claims = auth_jwt_claims(id, token_text(auth, "issuer"), AUTH_ASSERTION_S);
	_cleanup_free_ char *pem = NULL, *assertion = NULL;
	bool ok;

	if (!auth_client_key(auth, &pem, err))
		return false;
	json_object_set_new(claims, "sub", json_string(id));
	ok = auth_jwt_make(pem, auth_setting(auth, "privateKeyId"),
	                   json_object_get(auth->token, "signing_algs"), claims, &assertion, err);
	explicit_bzero(pem, strlen(pem));
	if (!ok)
		return false;
	auth_form_add(form, "client_id", id);
	auth_form_add(form, "client_assertion_type",
	              "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
	auth_form_add(form, "client_assertion", assertion);
	return true;
}

/* How the client says who it is, in the form or a field (RFC 6749, section 2.3). What an
 * authorization server makes too long to be sent is left out, and refused there.  *ret_field is the
 * caller's; NULL: none. */
static bool client_authenticate(const struct mcp_auth *auth, struct buf *form, char **ret_field,
                                struct err *err)
{
	const char *id = token_text(auth, "client_id"), *secret = token_text(auth, "client_secret");
	const char *method = token_text(auth, "auth_method");
	_cleanup_buf_ struct buf pair = BUF_INIT(AUTH_URL_BYTES);
	json_auto_t *coded = NULL;
	_cleanup_free_ char *first = NULL;

	if (id && method && !strcmp(method, AUTH_BY_KEY) && token_text(auth, "issuer"))
		return client_assert(auth, id, form, err);
	if (!id || !secret || !method || strcmp(method, "client_secret_basic") != 0) {
		auth_form_add(form, "client_id", id);
		if (method && !strcmp(method, "client_secret_post"))
			auth_form_add(form, "client_secret", secret);
		return true;
	}
	auth_form_add(&pair, id, secret); /* ID=SECRET: neither has "=" once encoded */
	if (pair.overflowed)
		return true;
	first = buf_steal(&pair);
	*strchr(first, '=') = ':';
	coded = json_base64(span_str(first));
	*ret_field = mem_printf("Authorization: Basic %s", json_string_value(coded));
	return true;
}

/* It holds for this session in any case. */
static void keep_token(const struct mcp_auth *auth)
{
	_cleanup_free_ char *text = NULL;
	struct err why = ERR_INIT;

	if (auth_store_write(auth, auth->token, &why) || !auth->notices.notice)
		return;
	text = mem_printf("The login at the %s is not kept, and holds only until "
	                  "hasp ends: %s", auth->called, why.message);
	notices_say(&auth->notices, SEVERITY_WARNING, text);
}

static bool take_token(struct mcp_auth *auth, const json_t *answer, const char *scope,
                       struct err *err)
{
	const char *token = json_string_value(json_object_get(answer, "access_token"));
	const char *type = json_string_value(json_object_get(answer, "token_type"));
	const char *refresh = json_string_value(json_object_get(answer, "refresh_token"));
	const char *granted = json_string_value(json_object_get(answer, "scope"));
	const json_t *seconds = json_object_get(answer, "expires_in");

	if (!token || !*token || !type || strcasecmp(type, "bearer") != 0)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The authorization server of the %s gave no bearer "
		               "token.", auth->called);
	if (!auth_token_is_sendable(json_object_get(answer, "access_token")))
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The authorization server of the %s gave a token with characters "
		               "that cannot be sent (RFC 6750, section 2.1).", auth->called);
	atomic_store(&auth->wanted, false);
	token_set(auth, "access_token", token);
	/* Without a new one the old stays valid (RFC 6749, section 6). */
	if (refresh)
		token_set(auth, "refresh_token", refresh);
	token_set(auth, "scope", granted ? granted : scope);
	json_object_del(auth->token, "expires_at");
	if (json_is_number(seconds) && json_number_value(seconds) > 0 &&
	    json_number_value(seconds) < 1e9)
		json_object_set_new(auth->token, "expires_at",
		                    json_integer(time(NULL) +
		                                 (json_int_t)json_number_value(seconds)));
	keep_token(auth);
	return true;
}

/* Takes `form`. *ret_invalid_client: another registration may help. */
static bool ask_token(struct mcp_auth *auth, struct buf *form, const char *scope, const char *what,
                      const struct auth_wait *wait, bool *ret_invalid_client, struct err *err)
{
	const char *endpoint = token_text(auth, "token_endpoint");
	_cleanup_free_ char *field = NULL;
	json_auto_t *answer = NULL;
	int status;

	*ret_invalid_client = false;
	if (!endpoint)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The authorization server of the %s has no token "
		               "endpoint.", auth->called);
	if (!client_authenticate(auth, form, &field, err) ||
	    !auth_request(auth, endpoint, AUTH_FORM_TYPE, buf_view(form), field, wait, &status,
	                  &answer, err))
		return false;
	if (status == 200 && answer)
		return take_token(auth, answer, scope, err);
	*ret_invalid_client = span_eq(json_span(json_object_get(answer, "error")),
	                              SPAN("invalid_client"));
	return refused_by_server(auth, what, status, answer, err);
}

static bool ask_renewed(struct mcp_auth *auth, const struct auth_wait *wait, struct err *err)
{
	_cleanup_buf_ struct buf form = BUF_INIT(AUTH_DOCUMENT_BYTES);
	bool invalid_client;

	auth_form_add(&form, "grant_type", "refresh_token");
	auth_form_add(&form, "refresh_token", token_text(auth, "refresh_token"));
	auth_form_add(&form, "resource", token_text(auth, "resource"));
	if (ask_token(auth, &form, token_text(auth, "scope"), "to renew the login", wait,
	              &invalid_client, err))
		return true;
	if (err->code == ERR_AUTHENTICATION_FAILED)
		token_set(auth, "refresh_token", NULL);
	if (invalid_client)
		token_set(auth, "client_id", NULL);
	return false;
}

/* What another process has renewed meanwhile takes the place of ours: many servers take a refresh
 * token once, and the second use ends the login.  Whether it is of use as it is. */
static bool take_renewed_elsewhere(struct mcp_auth *auth)
{
	json_t *kept = auth_store_read(auth);
	const char *token = json_string_value(json_object_get(kept, "access_token"));
	const char *own = token_text(auth, "access_token");
	const bool other = token && (!own || strcmp(token, own) != 0) &&
	                   json_equal(json_object_get(kept, "issuer"),
	                              json_object_get(auth->token, "issuer"));

	if (!other) {
		json_decref(kept);
		return false;
	}
	json_decref(auth->token);
	auth->token = kept;
	return !is_expired(auth);
}

static bool token_refresh(struct mcp_auth *auth, const struct auth_wait *wait, struct err *err)
{
	_cleanup_fd_ int lock = auth_store_lock(auth);
	bool ok;

	auth->locked = lock >= 0;
	ok = take_renewed_elsewhere(auth) || ask_renewed(auth, wait, err);
	auth->locked = false;
	return ok;
}

/* Another thread may hold it while the user logs in. False: the caller's request was cancelled. */
static bool auth_lock(struct mcp_auth *auth, const struct auth_wait *wait)
{
	struct timespec until;

	for (;;) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += LOCK_STEP_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_mutex_clocklock(&auth->lock, CLOCK_MONOTONIC, &until) == 0)
			return true;
		if (auth_wait_is_over(wait))
			return false;
	}
}

char *mcp_auth_field(struct mcp_auth *auth, const struct auth_wait *wait)
{
	struct err ignored = ERR_INIT;
	char *field;

	if (!auth_lock(auth, wait))
		return NULL;
	token_load(auth);
	if (auth->kind != MCP_AUTH_OAUTH) {
		if (is_expired(auth) || !token_text(auth, "access_token"))
			auth_google_fetch(auth, wait, &ignored);
	} else if (is_expired(auth) && token_text(auth, "refresh_token") &&
	           token_text(auth, "token_endpoint"))
		token_refresh(auth, wait, &ignored);
	field = token_field(auth);
	pthread_mutex_unlock(&auth->lock);
	return field;
}

/* ---- registration ---- */

/* Of those that the server takes; without a list it takes basic (RFC 8414, section 2). */
static const char *choose_method(const json_t *server, bool secret)
{
	const json_t *list = json_object_get(server, "token_endpoint_auth_methods_supported");

	if (!secret)
		return "none";
	if (!list || json_lists(list, SPAN("client_secret_basic")))
		return "client_secret_basic";
	return json_lists(list, SPAN("client_secret_post")) ? "client_secret_post" : "none";
}

static void use_client(struct mcp_auth *auth, const char *id, const char *secret,
                       const char *method, bool registered)
{
	token_set(auth, "client_id", id);
	token_set(auth, "client_secret", secret);
	token_set(auth, "auth_method", method);
	token_set(auth, "registered", registered ? "true" : NULL);
}

/* The one of the settings, by its key or its secret. */
static void use_own_client(struct mcp_auth *auth, const struct auth_place *place, const char *id)
{
	const char *secret = auth_setting(auth, "clientSecret");
	json_t *algs = json_object_get(place->server,
	                               "token_endpoint_auth_signing_alg_values_supported");

	json_object_del(auth->token, "signing_algs");
	if (!auth_has_client_key(auth)) {
		use_client(auth, id, secret, choose_method(place->server, secret), false);
		return;
	}
	use_client(auth, id, NULL, AUTH_BY_KEY, false);
	if (json_is_array(algs))
		json_object_set(auth->token, "signing_algs", algs);
}

static bool register_client(struct mcp_auth *auth, const struct auth_place *place,
                            const char *redirect, const struct auth_wait *wait, struct err *err)
{
	const char *endpoint =
		json_string_value(json_object_get(place->server, "registration_endpoint"));
	const json_t *methods = json_object_get(place->server,
	                                        "token_endpoint_auth_methods_supported");
	const bool secret = !json_lists(methods, SPAN("none"));
	json_auto_t *request = json_pack(
		"{s:s, s:[s], s:[s,s], s:[s], s:s, s:s}", "client_name", "hasp", "redirect_uris",
		redirect, "grant_types", "authorization_code", "refresh_token", "response_types",
		"code", "application_type", "native", "token_endpoint_auth_method",
		choose_method(place->server, secret));
	json_auto_t *answer = NULL;
	_cleanup_buf_ struct buf body = BUF_INIT(AUTH_DOCUMENT_BYTES);
	const char *id, *key, *method;
	int status;

	if (!endpoint)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The authorization server of the %s lets no client "
		               "register itself: mcpServers.%s.oauth.clientId names one that its "
		               "owner has registered.", auth->called, auth->name);
	if (place->scope)
		json_object_set_new(request, "scope", json_string(place->scope));
	json_print(&body, request, 0);
	if (!auth_request(auth, endpoint, "application/json", buf_view(&body), NULL, wait, &status,
	                  &answer, err))
		return false;
	id = json_string_value(json_object_get(answer, "client_id"));
	key = json_string_value(json_object_get(answer, "client_secret"));
	method = json_string_value(json_object_get(answer, "token_endpoint_auth_method"));
	if (status < 200 || status > 299 || !id || !*id)
		return refused_by_server(auth, "the registration", status, answer, err);
	use_client(auth, id, key, method ? method : choose_method(place->server, key), true);
	return true;
}

/* The client of the settings; a document at an address; else a new one each time: a registration
 * holds for its way back, and loopback ports may differ by RFC 8252, but not with every server. */
static bool settle_client(struct mcp_auth *auth, const struct auth_place *place,
                          const char *redirect, const struct auth_wait *wait, struct err *err)
{
	const char *id = auth_setting(auth, "clientId");
	const char *document = auth_setting(auth, "clientMetadataUrl");

	if (id)
		use_own_client(auth, place, id);
	else if (document && json_is_true(json_object_get(place->server,
	                                                  "client_id_metadata_document_supported")))
		use_client(auth, document, NULL, "none", false);
	else
		return register_client(auth, place, redirect, wait, err);
	return true;
}

/* ---- logging in ---- */

static bool authorization_url(const struct mcp_auth *auth, const struct auth_place *place,
                              const char *redirect, const char *state, const char *verifier,
                              struct buf *out, struct err *err)
{
	const char *endpoint =
		json_string_value(json_object_get(place->server, "authorization_endpoint"));
	struct sha256 sum = sha256_of(span_str(verifier));
	_cleanup_free_ char *challenge =
		auth_base64url(span_of((const char *)sum.bytes, sizeof(sum.bytes)));
	_cleanup_buf_ struct buf query = BUF_INIT(AUTH_URL_BYTES);

	if (!endpoint || strchr(endpoint, '#') ||
	    !json_lists(json_object_get(place->server, "code_challenge_methods_supported"),
	                SPAN("S256")))
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The authorization server of the %s has no login "
		               "page with PKCE (S256).", auth->called);
	if (!auth_address_allowed(auth, endpoint, err))
		return false;
	auth_form_add(&query, "response_type", "code");
	auth_form_add(&query, "client_id", token_text(auth, "client_id"));
	auth_form_add(&query, "redirect_uri", redirect);
	auth_form_add(&query, "code_challenge", challenge);
	auth_form_add(&query, "code_challenge_method", "S256");
	auth_form_add(&query, "state", state);
	auth_form_add(&query, "scope", place->scope);
	auth_form_add(&query, "resource", place->resource);
	if (place->scope && strstr(place->scope, "offline_access"))
		auth_form_add(&query, "prompt", "consent");
	buf_printf(out, "%s%c", endpoint, strchr(endpoint, '?') ? '&' : '?');
	buf_span(out, buf_view(&query));
	return !(query.overflowed || out->overflowed) ||
	       err_set(err, ERR_TOO_LARGE,
	               "The address of the login page of the %s would be longer "
	               "than %d bytes.", auth->called, AUTH_URL_BYTES);
}

/* The code in what the browser came back with, if it comes from this issuer (RFC 9207). */
static char *code_of_callback(const struct mcp_auth *auth, const struct auth_place *place,
                              const char *query, struct err *err)
{
	_cleanup_free_ char *issuer = auth_form_get(span_str(query), "iss");
	_cleanup_free_ char *error = auth_form_get(span_str(query), "error");
	char *code = auth_form_get(span_str(query), "code");
	const bool must = json_is_true(json_object_get(
		place->server, "authorization_response_iss_parameter_supported"));

	if ((issuer || must) && (!issuer || strcmp(issuer, place->issuer) != 0)) {
		err_set(err, ERR_AUTHENTICATION_FAILED,
		        "The login of the %s was answered by another authorization "
		        "server than the one asked (iss).", auth->called);
	} else if (error || !code) {
		err_set(err, ERR_AUTHENTICATION_FAILED,
		        "The login of the %s was refused%s.", auth->called,
		        error && !strcmp(error, "access_denied") ? " (access_denied)" : "");
	} else {
		return code;
	}
	free(code);
	return NULL;
}

static bool code_redeem(struct mcp_auth *auth, const struct auth_place *place, const char *code,
                        const char *redirect, const char *verifier, const struct auth_wait *wait,
                        bool *ret_invalid_client, struct err *err)
{
	_cleanup_buf_ struct buf form = BUF_INIT(AUTH_DOCUMENT_BYTES);

	auth_form_add(&form, "grant_type", "authorization_code");
	auth_form_add(&form, "code", code);
	auth_form_add(&form, "redirect_uri", redirect);
	auth_form_add(&form, "code_verifier", verifier);
	auth_form_add(&form, "resource", place->resource);
	return ask_token(auth, &form, place->scope, "the login", wait, ret_invalid_client, err);
}

static bool login_once(struct mcp_auth *auth, const struct auth_place *place,
                       const struct auth_callback *callback, const struct auth_wait *wait,
                       bool *ret_invalid_client, struct err *err)
{
	_cleanup_free_ char *state = random_text(err), *verifier = random_text(err);
	_cleanup_free_ char *query = NULL, *code = NULL;
	_cleanup_buf_ struct buf url = BUF_INIT(2 * AUTH_URL_BYTES);

	*ret_invalid_client = false;
	if (!state || !verifier || !settle_client(auth, place, callback->uri, wait, err) ||
	    !authorization_url(auth, place, callback->uri, state, verifier, &url, err) ||
	    !auth_browse(auth, callback, url.data, state, wait, &query, err))
		return false;
	code = code_of_callback(auth, place, query, err);
	return code && code_redeem(auth, place, code, callback->uri, verifier, wait,
	                           ret_invalid_client, err);
}

static bool login_unasked(const struct mcp_auth *auth, struct err *err)
{
	const char *refused = atomic_load(&auth->refused) ?
	                              ", which the user has refused in this session" : "";

	if (auth->is_agent)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The %s requires a login%s; an interactive session asks for it.",
		               auth->called, refused);
	return err_set(err, ERR_AUTHENTICATION_FAILED,
	               "The %s requires a login%s: %shasp mcp auth %s", auth->called, refused,
	               auth->login ? "/mcp auth, or " : "", auth->name);
}

static bool login_in_browser(struct mcp_auth *auth, const struct auth_place *place,
                             const struct auth_wait *wait, struct err *err)
{
	struct auth_callback callback;
	struct err first = ERR_INIT;
	bool invalid_client, ok;

	atomic_store(&auth->wanted, true);
	if (!auth->login || atomic_load(&auth->unattended) || atomic_load(&auth->refused))
		return login_unasked(auth, err);
	if (!auth_callback_open(auth, &callback, err))
		return false;
	token_set(auth, "refresh_token", NULL);
	ok = login_once(auth, place, &callback, wait, &invalid_client, &first);
	if (!ok && invalid_client && token_text(auth, "registered"))
		ok = login_once(auth, place, &callback, wait, &invalid_client, err);
	else if (!ok)
		*err = first;
	auth_callback_close(&callback);
	return ok;
}

/* Without a user (RFC 6749, section 4.4): oauth.grantType. */
static bool login_as_client(struct mcp_auth *auth, const struct auth_place *place,
                            const struct auth_wait *wait, struct err *err)
{
	_cleanup_buf_ struct buf form = BUF_INIT(AUTH_DOCUMENT_BYTES);
	const char *id = auth_setting(auth, "clientId");
	bool invalid_client;

	if (!id || (!auth_setting(auth, "clientSecret") && !auth_has_client_key(auth)))
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "mcpServers.%s.oauth lacks clientId, or one of clientSecret and "
		               "privateKeyFile.", auth->name);
	use_own_client(auth, place, id);
	auth_form_add(&form, "grant_type", "client_credentials");
	auth_form_add(&form, "scope", place->scope);
	auth_form_add(&form, "resource", place->resource);
	return ask_token(auth, &form, place->scope, "the client", wait, &invalid_client, err);
}

/* Both scopes, each word once. The caller frees. */
static char *scopes_together(const char *a, const char *b)
{
	_cleanup_buf_ struct buf out = BUF_INIT(AUTH_URL_BYTES);
	const char *const both[] = { a, b };

	buf_char(&out, ' ');
	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		for (const char *at = both[i]; at && *at;) {
			const size_t len = strcspn(at, " ");
			_cleanup_free_ char *word = mem_printf(" %.*s ", (int)len, at);

			if (len && !strstr(out.data, word))
				buf_str(&out, word + 1);
			at += len + (at[len] == ' ');
		}
	}
	return mem_dup(out.data + 1, out.len > 1 ? out.len - 2 : 0);
}

/* Another authorization server: nothing of the old one goes there.  Settings may name the endpoint
 * with any issuer, and an agent's or an extension's settings may do so for one of the user's
 * servers. */
static void move_to_issuer(struct mcp_auth *auth, const struct auth_place *place)
{
	const char *old = token_text(auth, "issuer"), *before = token_text(auth, "token_endpoint");
	const char *now = json_string_value(json_object_get(place->server, "token_endpoint"));

	if (!old || strcmp(old, place->issuer) != 0 || !before || !now || strcmp(before, now) != 0)
		json_object_clear(auth->token);
	token_set(auth, "issuer", place->issuer);
	token_set(auth, "resource", place->resource);
	token_set(auth, "token_endpoint", now);
}

static bool answer_challenge(struct mcp_auth *auth, int status, struct span www_authenticate,
                             const struct auth_wait *wait, struct err *err)
{
	const char *grant = auth_setting(auth, "grantType");
	struct auth_place place;
	struct err ignored = ERR_INIT;
	bool ok;

	if (!auth_discover(auth, www_authenticate, wait, &place, err))
		return false;
	move_to_issuer(auth, &place);
	if (status == 403) {
		char *both = scopes_together(token_text(auth, "scope"), place.scope);

		free(place.scope);
		place.scope = both;
	}
	if (status == 401 && token_text(auth, "refresh_token") &&
	    token_refresh(auth, wait, &ignored))
		ok = true;
	else if (grant && !strcmp(grant, "client_credentials"))
		ok = login_as_client(auth, &place, wait, err);
	else
		ok = login_in_browser(auth, &place, wait, err);
	auth_place_release(&place);
	return ok;
}

/* Only now: its key costs more than a server without logins should. */
static void token_take_gemini(struct mcp_auth *auth)
{
	json_t *token = auth_store_gemini_sealed(auth);

	if (!token)
		return;
	json_decref(auth->token);
	auth->token = token;
}

/* The server requires a token, or rejected the one it was sent. */
static bool answer_by_google(struct mcp_auth *auth, const char *sent, const struct auth_wait *wait,
                             struct err *err)
{
	if (sent && time(NULL) - auth->fetched < GOOGLE_FRESH_S)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The %s refused a new token of Google's.",
		               auth->called);
	return auth_google_fetch(auth, wait, err);
}

bool mcp_auth_challenged(struct mcp_auth *auth, int status, struct span www_authenticate,
                         const char *sent, const struct auth_wait *wait, struct err *err)
{
	_cleanup_free_ char *error = auth_challenge_get(www_authenticate, "error");
	_cleanup_free_ char *now = NULL;
	bool ok;

	if (status == 403 && (!error || strcmp(error, "insufficient_scope") != 0))
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The %s forbids this (HTTP status 403).", auth->called);
	if (!auth_lock(auth, wait))
		return err_set(err, ERR_CANCELLED, "The login was cancelled.");
	token_load(auth);
	if (!sent && !json_object_size(auth->token) && auth->kind == MCP_AUTH_OAUTH)
		token_take_gemini(auth);
	now = token_field(auth);
	/* Another thread has logged in meanwhile. */
	ok = (now && (!sent || strcmp(now, sent) != 0)) ||
	     (auth->kind != MCP_AUTH_OAUTH ?
	              answer_by_google(auth, sent, wait, err) :
	              answer_challenge(auth, status, www_authenticate, wait, err));
	pthread_mutex_unlock(&auth->lock);
	return ok;
}

void mcp_auth_suspend_logins(struct mcp_auth *auth)
{
	atomic_store(&auth->unattended, true);
}

void mcp_auth_resume_logins(struct mcp_auth *auth)
{
	atomic_store(&auth->unattended, false);
}

void mcp_auth_forget_refusal(struct mcp_auth *auth)
{
	atomic_store(&auth->refused, false);
}

bool mcp_auth_requires_login(const struct mcp_auth *auth)
{
	return atomic_load(&auth->wanted);
}

bool mcp_auth_logout(struct mcp_auth *auth, struct err *err)
{
	bool ok;

	pthread_mutex_lock(&auth->lock);
	json_decref(auth->token);
	auth->token = json_object();
	auth->loaded = true;
	ok = auth_store_write(auth, NULL, err);
	pthread_mutex_unlock(&auth->lock);
	return ok;
}
