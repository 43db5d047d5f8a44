/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of Google for MCP servers (authProviderType of Gemini CLI's settings): of the application
 * default credentials, or of a service account that these may act for.
 *
 * The credentials are, as Google's own libraries look for them ("How Application Default
 * Credentials works" at cloud.google.com/docs/authentication): the file that
 * GOOGLE_APPLICATION_CREDENTIALS names; application_default_credentials.json of gcloud, in
 * CLOUDSDK_CONFIG or ~/.config/gcloud; the metadata server of a machine at Google, or the one that
 * GCE_METADATA_HOST names.  A file is a service account's key (RFC 7523, section 2.1), a user's
 * (a refresh token), or says where another provider's token is, which is exchanged for one of
 * Google's (workload identity federation: google.aip.dev/auth/4117, RFC 8693).  All of these belong
 * to the user, so requests to their addresses are allowed: those in a file if they are https, or on
 * this machine.
 *
 * Deviations from AIP-4117: no executables, AWS or X.509 as sources; a file is named by an absolute
 * path, since a relative one would name a file of the project.
 *
 * Nothing is kept longer than hasp runs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/json.h"
#include "mcp/auth/private.h"

#define TOKEN_URL "https://oauth2.googleapis.com/token"
#define IAM_URL "https://iamcredentials.googleapis.com"
#define METADATA_HOST "169.254.169.254"
#define TOKEN_TYPE "urn:ietf:params:oauth:token-type:access_token"
#define CLOUD_SCOPE "https://www.googleapis.com/auth/cloud-platform"

enum {
	CREDENTIALS_BYTES = 64 << 10,
	GRANT_S = 3600,          /* the longest that Google takes */
	METADATA_MS = 3000,      /* elsewhere nothing answers */
	ID_TOKEN_S = 300,        /* lifetime of one whose expiry cannot be parsed */
	SOURCE_FIELDS = 20,      /* of a request for another provider's token */
	LIFETIME_S_MIN = 600,    /* of a service account's token, as Google takes it */
	LIFETIME_S_MAX = 43200,
};

/* A token, while it is fetched. */
struct google {
	const struct mcp_auth *auth;
	const struct auth_wait *wait;
	const char *scope;       /* with blanks between; NULL: none */
	char *token;             /* the result; owned */
	time_t expires;
};

static bool google_failed(const struct google *google, const char *what, int status,
                          const json_t *answer, struct err *err)
{
	const json_t *error = json_object_get(answer, "error");
	const struct span code = json_span(
		json_is_object(error) ? json_object_get(error, "status") : error);
	char shown[64] = "";

	for (size_t i = 0; i < code.len && i + 1 < sizeof(shown); i++)
		shown[i] = ascii_is_alnum(code.data[i]) || code.data[i] == '_' ? code.data[i] : '?';
	return err_set(err, ERR_AUTHENTICATION_FAILED,
	               "Google gave no token for the %s: %s (HTTP status %d%s%s).",
	               google->auth->called, what, status, *shown ? ": " : "", shown);
}

/* ---- access tokens ---- */

static bool take_access_token(struct google *google, const char *what, int status,
                              const json_t *answer, struct err *err)
{
	const char *token = json_string_value(json_object_get(answer, "access_token"));
	const json_t *seconds = json_object_get(answer, "expires_in");
	const double holds = json_is_number(seconds) ? json_number_value(seconds) : 0;

	if (status != 200 || !auth_token_is_sendable(json_object_get(answer, "access_token")))
		return google_failed(google, what, status, answer, err);
	free(google->token);
	google->token = mem_strdup(token);
	google->expires = time(NULL) + (holds > 0 && holds < 1e6 ? (time_t)holds : GRANT_S);
	return true;
}

/* `field`: an additional header field; or NULL. */
static bool ask_token_url(struct google *google, const char *url, struct buf *form,
                          const char *field, const char *what, struct err *err)
{
	json_auto_t *answer = NULL;
	const struct auth_order order = { .url = url, .type = AUTH_FORM_TYPE, .field = field,
		                          .body = buf_view(form), .wait = google->wait,
		                          .own = true };
	int status;

	return auth_order_send(google->auth, &order, &status, &answer, err) &&
	       take_access_token(google, what, status, answer, err);
}

/* A service account's key. */
static bool token_of_account(struct google *google, const json_t *file, const char *url,
                             struct err *err)
{
	const char *email = json_string_value(json_object_get(file, "client_email"));
	const char *pem = json_string_value(json_object_get(file, "private_key"));
	const char *key_id = json_string_value(json_object_get(file, "private_key_id"));
	_cleanup_buf_ struct buf form = BUF_INIT(AUTH_DOCUMENT_BYTES);
	_cleanup_free_ char *assertion = NULL;
	json_auto_t *claims = NULL;

	if (!email || !pem)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "Google's credentials lack client_email or private_key.");
	claims = auth_jwt_claims(email, url, GRANT_S);
	json_object_set_new(claims, "scope", json_string(google->scope));
	if (!auth_jwt_make(pem, key_id, NULL, claims, &assertion, err))
		return false;
	auth_form_add(&form, "grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer");
	auth_form_add(&form, "assertion", assertion);
	return ask_token_url(google, url, &form, NULL, "it refused the service account's key",
	                     err);
}

/* What gcloud auth application-default login has left. */
static bool token_of_user(struct google *google, const json_t *file, const char *url,
                          struct err *err)
{
	static const char *const members[] = { "client_id", "client_secret", "refresh_token" };
	_cleanup_buf_ struct buf form = BUF_INIT(AUTH_DOCUMENT_BYTES);

	auth_form_add(&form, "grant_type", "refresh_token");
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const char *value = json_string_value(json_object_get(file, members[i]));

		if (!value)
			return err_set(err, ERR_AUTHENTICATION_FAILED,
			               "Google's credentials lack %s.", members[i]);
		auth_form_add(&form, members[i], value);
	}
	return ask_token_url(google, url, &form, NULL, "it refused the user's login, which "
	                     "\"gcloud auth application-default login\" renews", err);
}

static bool token_of_metadata(struct google *google, struct err *err)
{
	const char *host = getenv("GCE_METADATA_HOST");
	_cleanup_buf_ struct buf query = BUF_INIT(AUTH_URL_BYTES);
	_cleanup_free_ char *scopes = google->scope ? mem_strdup(google->scope) : NULL;
	_cleanup_free_ char *place = NULL, *url = NULL;
	json_auto_t *answer = NULL;
	struct err why = ERR_INIT;
	int status;

	for (char *c = scopes; c && *c; c++)
		*c = *c == ' ' ? ',' : *c;
	auth_form_add(&query, "scopes", scopes);
	place = mem_printf("http://%s/computeMetadata/v1/instance/service-accounts/default/token",
	                   host && *host ? host : METADATA_HOST);
	url = mem_printf("%s?%.*s", place, (int)query.len, query.data ? query.data : "");
	const struct auth_order order = { .url = url, .field = "Metadata-Flavor: Google",
		                          .says = "metadata-flavor", .wait = google->wait,
		                          .own = true, .any_scheme = true, .ms = METADATA_MS };

	if (auth_order_send(google->auth, &order, &status, &answer, &why))
		return take_access_token(google, "its metadata server refused", status, answer,
		                         err);
	if (why.code == ERR_CANCELLED) {
		*err = why;
		return false;
	}
	return err_set(err, ERR_AUTHENTICATION_FAILED,
	               "There are no application default credentials of Google for the %s: no file "
	               "(GOOGLE_APPLICATION_CREDENTIALS, \"gcloud auth application-default "
	               "login\") and no metadata server.", google->auth->called);
}

/* ---- another provider's token, exchanged (external_account) ---- */

/* What credential_source.file or .url (`text`) says: the token itself, or a member of an object
 * with it. The caller frees. */
static bool source_token(const json_t *source, struct span text, char **ret, struct err *err)
{
	const json_t *format = json_object_get(source, "format");
	const char *member = json_string_value(json_object_get(format, "subject_token_field_name"));
	const bool is_object = span_eq(json_span(json_object_get(format, "type")), SPAN("json"));
	json_auto_t *said = NULL;
	struct err ignored = ERR_INIT;

	text = span_trim(text);
	if (is_object && member && json_parse_depth(text, 8, &said, &ignored))
		text = json_span(json_object_get(said, member));
	else if (is_object)
		text = SPAN("");
	if (!text.len)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The credential_source of Google's credentials has no token.");
	*ret = mem_dup(text.data, text.len);
	return true;
}

static bool token_of_file(const json_t *source, const char *path, char **ret, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	bool ok;

	if (path[0] != '/')
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "credential_source.file of Google's credentials is no absolute "
		               "path.");
	if (!file_read(path, CREDENTIALS_BYTES, &text, err))
		return false;
	if (!text.data)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The file that credential_source of Google's credentials names is "
		               "not there.");
	ok = source_token(source, file_text_span(&text), ret, err);
	explicit_bzero(text.data, text.len);
	return ok;
}

/* "NAME: VALUE", NULL-terminated; the caller frees with source_fields_free. */
static char **source_fields(const json_t *source)
{
	char **fields = mem_alloc(SOURCE_FIELDS + 1, sizeof(*fields));
	const char *name;
	json_t *value;
	size_t n = 0;

	json_object_foreach(json_object_get(source, "headers"), name, value)
		if (json_is_string(value) && n < SOURCE_FIELDS &&
		    !strpbrk(json_string_value(value), "\r\n") && !strpbrk(name, "\r\n: "))
			fields[n++] = mem_printf("%s: %s", name, json_string_value(value));
	return fields;
}

static void source_fields_free(char **fields)
{
	for (char **field = fields; *field; field++)
		free(*field);
	free(fields);
}

/* Often a metadata server of another cloud, which has no https. */
static bool token_of_url(const struct google *google, const json_t *source, const char *url,
                         char **ret, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(AUTH_DOCUMENT_BYTES);
	char **fields = source_fields(source);
	json_auto_t *none = NULL;
	const struct auth_order order = { .url = url, .fields = (const char *const *)fields,
		                          .wait = google->wait, .own = true,
		                          .any_scheme = true, .text = &text };
	int status;
	bool ok = auth_order_send(google->auth, &order, &status, &none, err);

	source_fields_free(fields);
	if (ok && status != 200)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The address that credential_source of Google's credentials names "
		               "gave no token (HTTP status %d).", status);
	ok = ok && source_token(source, buf_view(&text), ret, err);
	if (text.data)
		explicit_bzero(text.data, text.len);
	return ok;
}

static bool subject_token(const struct google *google, const json_t *file, char **ret,
                          struct err *err)
{
	const json_t *source = json_object_get(file, "credential_source");
	const char *path = json_string_value(json_object_get(source, "file"));
	const char *url = json_string_value(json_object_get(source, "url"));

	if (json_object_get(source, "environment_id") || (!path && !url))
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "credential_source of Google's credentials is neither a file nor "
		               "an address; hasp has no others.");
	return path ? token_of_file(source, path, ret, err) :
	              token_of_url(google, source, url, ret, err);
}

/* Which a service account's end has: "2026-11-28T10:00:00Z". */
static time_t time_of(const char *text)
{
	struct tm parts = { 0 };

	return text && strptime(text, "%Y-%m-%dT%H:%M:%S", &parts) ? timegm(&parts) :
	                                                             time(NULL) + ID_TOKEN_S;
}

/* The token acts for a service account: that one's takes its place. */
static bool impersonate(struct google *google, const json_t *file, const char *url,
                        struct err *err)
{
	const json_t *wished = json_object_get(
		json_object_get(file, "service_account_impersonation"), "token_lifetime_seconds");
	const json_int_t seconds = json_is_integer(wished) ? json_integer_value(wished) : GRANT_S;
	_cleanup_free_ char *field = mem_printf("Authorization: Bearer %s", google->token);
	_cleanup_free_ char *lifetime = mem_printf(
		"%ds", (int)(seconds < LIFETIME_S_MIN ? LIFETIME_S_MIN :
		             seconds > LIFETIME_S_MAX ? LIFETIME_S_MAX : seconds));
	_cleanup_buf_ struct buf body = BUF_INIT(AUTH_URL_BYTES);
	json_t *scopes = json_array();
	json_auto_t *wish = json_pack("{s:o, s:s}", "scope", scopes, "lifetime", lifetime);
	json_auto_t *answer = NULL;
	const char *token;
	int status;

	for (const char *at = google->scope; at && *at; at += strspn(at, " ")) {
		const size_t len = strcspn(at, " ");

		json_array_append_new(scopes, json_text(span_of(at, len)));
		at += len;
	}
	json_print(&body, wish, 0);
	const struct auth_order order = { .url = url, .type = "application/json",
		                          .body = buf_view(&body), .field = field,
		                          .wait = google->wait, .own = true };

	if (!auth_order_send(google->auth, &order, &status, &answer, err))
		return false;
	token = json_string_value(json_object_get(answer, "accessToken"));
	if (status != 200 || !token || !*token)
		return google_failed(google, "its service account may not be acted for", status,
		                     answer, err);
	free(google->token);
	google->token = mem_strdup(token);
	google->expires = time_of(json_string_value(json_object_get(answer, "expireTime")));
	return true;
}

/* "Authorization: Basic ...", for the caller; NULL: the client says nothing of itself. */
static char *exchange_client(const json_t *file)
{
	const char *id = json_string_value(json_object_get(file, "client_id"));
	const char *secret = json_string_value(json_object_get(file, "client_secret"));
	_cleanup_free_ char *pair = id && secret ? mem_printf("%s:%s", id, secret) : NULL;
	json_auto_t *coded = pair ? json_base64(span_str(pair)) : NULL;

	return coded ? mem_printf("Authorization: Basic %s", json_string_value(coded)) : NULL;
}

static bool token_of_exchange(struct google *google, const json_t *file, struct err *err)
{
	const char *url = json_string_value(json_object_get(file, "token_url"));
	const char *audience = json_string_value(json_object_get(file, "audience"));
	const char *type = json_string_value(json_object_get(file, "subject_token_type"));
	const json_t *project = json_object_get(file, "workforce_pool_user_project");
	const char *account = json_string_value(
		json_object_get(file, "service_account_impersonation_url"));
	_cleanup_buf_ struct buf form = BUF_INIT(AUTH_DOCUMENT_BYTES), more = BUF_INIT(1024);
	_cleanup_free_ char *client = exchange_client(file), *subject = NULL;
	bool ok;

	if (!url || !audience || !type)
		return err_set(err, ERR_AUTHENTICATION_FAILED, "Google's credentials lack "
		               "token_url, audience or subject_token_type.");
	if (!subject_token(google, file, &subject, err))
		return false;
	auth_form_add(&form, "grant_type", "urn:ietf:params:oauth:grant-type:token-exchange");
	auth_form_add(&form, "audience", audience);
	auth_form_add(&form, "scope", account ? CLOUD_SCOPE : google->scope);
	auth_form_add(&form, "requested_token_type", TOKEN_TYPE);
	auth_form_add(&form, "subject_token_type", type);
	auth_form_add(&form, "subject_token", subject);
	if (json_is_string(project) && !client) {
		json_auto_t *options = json_pack("{s:O}", "userProject", project);

		json_print(&more, options, 0);
		auth_form_add(&form, "options", more.data);
	}
	explicit_bzero(subject, strlen(subject));
	ok = ask_token_url(google, url, &form, client, "it refused the other provider's token",
	                   err);
	return ok && (!account || impersonate(google, file, account, err));
}

/* ---- which credentials ---- */

/* The caller frees; NULL: it cannot be said. */
static char *gcloud_file(const struct mcp_auth *auth)
{
	const char *folder = getenv("CLOUDSDK_CONFIG");

	if (folder && *folder)
		return path_join(folder, "application_default_credentials.json");
	return auth->home ? path_join(auth->home, ".config/gcloud/"
	                              "application_default_credentials.json") : NULL;
}

/* *ret: an object, a new reference; NULL: there is no file. */
static bool read_credentials(const struct mcp_auth *auth, json_t **ret, struct err *err)
{
	const char *named = getenv("GOOGLE_APPLICATION_CREDENTIALS");
	_cleanup_free_ char *path = named && *named ? mem_strdup(named) : gcloud_file(auth);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;

	*ret = NULL;
	if (path && !file_read(path, CREDENTIALS_BYTES, &text, err))
		return false;
	if (!text.data)
		return !(named && *named) ||
		       err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The file that GOOGLE_APPLICATION_CREDENTIALS names is not there.");
	if (!json_parse_depth(file_text_span(&text), 8, ret, &ignored))
		*ret = json_null();
	explicit_bzero(text.data, text.len);
	return true;
}

static bool fetch_access_token(struct google *google, struct err *err)
{
	json_auto_t *file = NULL;
	const char *type, *url;

	if (!read_credentials(google->auth, &file, err))
		return false;
	if (!file)
		return token_of_metadata(google, err);
	type = json_string_value(json_object_get(file, "type"));
	url = json_string_value(json_object_get(file, "token_uri"));
	url = url ? url : TOKEN_URL;
	if (type && !strcmp(type, "service_account"))
		return token_of_account(google, file, url, err);
	if (type && !strcmp(type, "authorized_user"))
		return token_of_user(google, file, url, err);
	if (type && !strcmp(type, "external_account"))
		return token_of_exchange(google, file, err);
	return err_set(err, ERR_AUTHENTICATION_FAILED,
	               "Google's credentials are neither a service account's key nor a user's, nor "
	               "an external_account; hasp has no others.");
}

/* ---- acting for a service account ---- */

/* When an ID token ends (its claim exp). */
static time_t id_token_end(const char *token)
{
	const char *dot = strchr(token, '.');
	_cleanup_free_ char *claims = dot ? auth_base64url_read(span_head(
		span_str(dot + 1), strcspn(dot + 1, ".")), NULL) : NULL;
	json_auto_t *said = NULL;
	struct err ignored = ERR_INIT;
	const json_t *end;

	if (!claims || !json_parse_depth(span_str(claims), 8, &said, &ignored))
		return time(NULL) + ID_TOKEN_S;
	end = json_object_get(said, "exp");
	return json_is_integer(end) ? (time_t)json_integer_value(end) :
	                              time(NULL) + ID_TOKEN_S;
}

static bool exchange_for_id_token(struct google *google, struct err *err)
{
	const struct mcp_auth *auth = google->auth;
	const char *iam = auth_setting(auth, "iamUrl");
	_cleanup_free_ char *url = mem_printf(
		"%s/v1/projects/-/serviceAccounts/%s:generateIdToken", iam ? iam : IAM_URL,
		auth->account);
	_cleanup_free_ char *field = mem_printf("Authorization: Bearer %s", google->token);
	_cleanup_buf_ struct buf body = BUF_INIT(AUTH_URL_BYTES);
	json_auto_t *wish = json_pack("{s:s, s:b}", "audience", auth->audience, "includeEmail", 1);
	json_auto_t *answer = NULL;
	const char *token;
	int status;

	json_print(&body, wish, 0);
	const struct auth_order order = { .url = url, .type = "application/json",
		                          .body = buf_view(&body), .field = field,
		                          .wait = google->wait, .own = true };

	if (!auth_order_send(auth, &order, &status, &answer, err))
		return false;
	token = json_string_value(json_object_get(answer, "token"));
	if (status != 200 || !token || !*token)
		return google_failed(google, "the service account may not be acted for", status,
		                     answer, err);
	free(google->token);
	google->token = mem_strdup(token);
	google->expires = id_token_end(token);
	return true;
}

bool auth_google_fetch(struct mcp_auth *auth, const struct auth_wait *wait, struct err *err)
{
	const bool acts = auth->kind == MCP_AUTH_GOOGLE_ACCOUNT;
	_cleanup_free_ char *scopes = auth_texts_joined(json_object_get(auth->settings, "scopes"));
	struct google google = { .auth = auth, .wait = wait,
		                 .scope = acts ? CLOUD_SCOPE : scopes };
	bool ok = fetch_access_token(&google, err) &&
	          (!acts || exchange_for_id_token(&google, err));

	if (ok) {
		json_object_set_new(auth->token, "access_token", json_string(google.token));
		json_object_set_new(auth->token, "expires_at", json_integer(google.expires));
		auth->fetched = time(NULL);
	}
	free(google.token);
	return ok;
}
