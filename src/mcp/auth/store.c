/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: in the key store; else in a file of the user's; else those that Gemini CLI has. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "config/home.h"
#include "data/json.h"
#include "mcp/auth/private.h"

#define KEYSTORE_SERVICE "hasp-mcp-oauth"

enum { TOKENS_BYTES = 1 << 20 };

/* A name and an address together: a token goes to no other address under the same name. */
static char *token_account(const struct mcp_auth *auth)
{
	_cleanup_free_ char *text = mem_printf("%s\n%s", auth->name, auth->url);
	struct sha256 sum = sha256_of(span_str(text));
	char *hex = mem_alloc(1, SHA256_HEX_SIZE);

	sha256_hex(&sum, hex);
	return hex;
}

static char *token_file(const struct mcp_auth *auth, const char *name)
{
	return auth->folder ? path_join(auth->folder, name) : NULL;
}

/* NULL: it is not there, or no JSON. */
static json_t *tokens_read(const char *path)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;
	json_t *value;

	if (!path || !file_read(path, TOKENS_BYTES, &text, &ignored) || !text.data ||
	    !json_parse_depth(file_text_span(&text), 16, &value, &ignored))
		return NULL;
	return value;
}

/* [{"serverName", "mcpServerUrl", "clientId", "tokenUrl", "token": {...}}], as Gemini CLI has it;
 * one that does not say for which address it is counts for none. */
static json_t *gemini_token(const struct mcp_auth *auth)
{
	_cleanup_free_ char *path = token_file(auth, "mcp-oauth-tokens.json");
	json_auto_t *all = tokens_read(path);
	json_t *row, *token = NULL;
	size_t i;

	json_array_foreach(all, i, row) {
		const json_t *said = json_object_get(row, "token");
		const json_t *expires = json_object_get(said, "expiresAt");

		const struct span name = json_span(json_object_get(row, "serverName"));
		const struct span url = json_span(json_object_get(row, "mcpServerUrl"));

		if (!span_eq(name, span_str(auth->name)) || !span_eq(url, span_str(auth->url)) ||
		    !json_is_string(json_object_get(said, "accessToken")))
			continue;
		json_decref(token);
		token = json_pack("{s:O, s:O*, s:O*, s:O*, s:O*, s:s}", "access_token",
		                  json_object_get(said, "accessToken"), "refresh_token",
		                  json_object_get(said, "refreshToken"), "scope",
		                  json_object_get(said, "scope"), "client_id",
		                  json_object_get(row, "clientId"), "token_endpoint",
		                  json_object_get(row, "tokenUrl"), "resource", auth->url);
		if (token && json_is_number(expires))
			json_object_set_new(token, "expires_at",
			                    json_integer((json_int_t)(json_number_value(expires) /
			                                              1000)));
	}
	return token;
}

json_t *auth_store_read(const struct mcp_auth *auth)
{
	_cleanup_free_ char *account = token_account(auth);
	_cleanup_free_ char *path = token_file(auth, "hasp-mcp-tokens.json");
	json_auto_t *all = NULL;
	struct err ignored = ERR_INIT;
	json_t *token = NULL;
	char *secret;

	if (auth->folder && keystore_get(KEYSTORE_SERVICE, account, &secret)) {
		if (!json_parse_depth(span_str(secret), 8, &token, &ignored))
			token = NULL;
		explicit_bzero(secret, strlen(secret));
		free(secret);
	}
	if (!token) {
		all = tokens_read(path);
		token = json_incref(json_object_get(all, account));
	}
	if (!token)
		token = gemini_token(auth);
	if (json_is_object(token))
		return token;
	json_decref(token);
	return json_object();
}

bool auth_store_write(const struct mcp_auth *auth, const json_t *token, struct err *err)
{
	_cleanup_free_ char *account = token_account(auth);
	_cleanup_free_ char *path = token_file(auth, "hasp-mcp-tokens.json");
	_cleanup_buf_ struct buf text = BUF_INIT(TOKENS_BYTES);
	json_auto_t *all = NULL;
	struct err ignored = ERR_INIT;
	bool kept = false;

	if (!auth->folder)
		return true;
	if (token && json_print(&text, token, 0))
		kept = keystore_set(KEYSTORE_SERVICE, account, text.data, &ignored);
	else
		keystore_delete(KEYSTORE_SERVICE, account, &ignored);
	all = tokens_read(path);
	if ((kept || !token) && !json_object_get(all, account))
		return true;
	if (!json_is_object(all)) {
		json_decref(all);
		all = json_object();
	}
	if (kept || !token)
		json_object_del(all, account);
	else
		json_object_set(all, account, (json_t *)token);
	buf_clear(&text);
	return json_print(&text, all, 2) && file_replace(path, buf_view(&text), 0600, err);
}
