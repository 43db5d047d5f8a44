/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of Google for MCP servers (authProviderType of Gemini CLI's settings): of the application
 * default credentials, or of a service account that these may act for.
 *
 * The credentials are, as Google's own libraries look for them ("How Application Default
 * Credentials works" at cloud.google.com/docs/authentication): the file that
 * GOOGLE_APPLICATION_CREDENTIALS names; application_default_credentials.json of gcloud, in
 * CLOUDSDK_CONFIG or ~/.config/gcloud; the metadata server of a machine at Google, or the one that
 * GCE_METADATA_HOST names.  A file is a service account's key (RFC 7523, section 2.1) or a user's
 * (a refresh token).  All of it is the user's own, so its addresses may be asked: those of a file
 * if they are https, or of this machine.
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
#define CLOUD_SCOPE "https://www.googleapis.com/auth/cloud-platform"

enum {
	CREDENTIALS_BYTES = 64 << 10,
	GRANT_S = 3600,          /* the longest that Google takes */
	METADATA_MS = 3000,      /* elsewhere nobody is there */
	ID_TOKEN_S = 300,        /* how long one holds whose end cannot be read */
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

	if (status != 200 || !token || !*token)
		return google_failed(google, what, status, answer, err);
	free(google->token);
	google->token = mem_strdup(token);
	google->expires = time(NULL) + (holds > 0 && holds < 1e6 ? (time_t)holds : GRANT_S);
	return true;
}

static bool ask_token_url(struct google *google, const char *url, struct buf *form,
                          const char *what, struct err *err)
{
	json_auto_t *answer = NULL;
	const struct auth_order order = { .url = url, .type = AUTH_FORM_TYPE,
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
	return ask_token_url(google, url, &form, "it refused the service account's key", err);
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
	return ask_token_url(google, url, &form, "it refused the user's login, which "
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
	return err_set(err, ERR_AUTHENTICATION_FAILED,
	               "Google's credentials are neither a service account's key nor a user's; "
	               "hasp has no others.");
}

/* ---- acting for a service account ---- */

/* When an ID token ends (its claim exp). */
static time_t id_token_end(const char *token)
{
	const char *dot = strchr(token, '.');
	_cleanup_free_ char *claims = dot ? auth_base64url_read(span_head(
		span_str(dot + 1), strcspn(dot + 1, "."))) : NULL;
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
