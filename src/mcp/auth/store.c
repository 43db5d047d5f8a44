/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: in the key store; else in a file of the user's, encrypted with a key in the same folder;
 * else those that Gemini CLI has.
 *
 *     hasp-mcp-tokens.json: {"cipher": "aes-256-gcm", "sealed": TEXT}  (seal.c)
 *     in it: {ACCOUNT: token, ...}; before it was encrypted, that was the file itself
 *     hasp-mcp-tokens.key:  AUTH_KEY_BYTES at random
 *
 * Both have mode 0600.  Each change is made under a lock, on what the file has by then. */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/random.h"
#include "base/sha256.h"
#include "config/home.h"
#include "data/json.h"
#include "mcp/auth/private.h"

#define KEYSTORE_SERVICE "hasp-mcp-oauth"
#define TOKENS_FILE "hasp-mcp-tokens.json"
#define KEY_FILE "hasp-mcp-tokens.key"
#define CIPHER "aes-256-gcm"

enum {
	LOCK_MS = AUTH_REQUEST_MS + 5000, /* the longest wait for another, which may be renewing */
	HOST_BYTES = 256,
	SEALED_FILE_BYTES = 2 * AUTH_TOKENS_BYTES + 128, /* of hexadecimal */
};

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
static json_t *json_file_read(const char *path)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;
	json_t *value;

	if (!path || !file_read(path, SEALED_FILE_BYTES, &text, &ignored) || !text.data ||
	    !json_parse_depth(file_text_span(&text), 16, &value, &ignored))
		return NULL;
	return value;
}

/* The object in a sealed text; NULL: the key is another, or it was changed. */
static json_t *sealed_read(const unsigned char key[static AUTH_KEY_BYTES], struct span sealed)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(AUTH_TOKENS_BYTES + 1);
	struct err ignored = ERR_INIT;
	json_t *value = NULL;

	if (auth_unseal(key, sealed, &plain) &&
	    !json_parse_depth(buf_view(&plain), 16, &value, &ignored))
		value = NULL;
	if (plain.data)
		explicit_bzero(plain.data, plain.len);
	return value;
}

/* ---- hasp's own file ---- */

static bool store_key_read(const struct mcp_auth *auth, unsigned char key[static AUTH_KEY_BYTES])
{
	_cleanup_free_ char *path = token_file(auth, KEY_FILE);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;

	if (!file_read(path, AUTH_KEY_BYTES, &text, &ignored) || text.len != AUTH_KEY_BYTES)
		return false;
	memcpy(key, text.data, AUTH_KEY_BYTES);
	explicit_bzero(text.data, text.len);
	return true;
}

/* Makes one if there is none. With the lock. */
static bool store_key_have(const struct mcp_auth *auth, unsigned char key[static AUTH_KEY_BYTES],
                           struct err *err)
{
	_cleanup_free_ char *path = token_file(auth, KEY_FILE);

	if (store_key_read(auth, key))
		return true;
	return random_fill(key, AUTH_KEY_BYTES, err) &&
	       file_replace(path, span_of((const char *)key, AUTH_KEY_BYTES), 0600, err);
}

/* All that the file has, a new object. *ret_plain: it is not encrypted. */
static json_t *own_tokens_read(const struct mcp_auth *auth, bool *ret_plain)
{
	_cleanup_free_ char *path = token_file(auth, TOKENS_FILE);
	unsigned char key[AUTH_KEY_BYTES];
	json_t *file = json_file_read(path), *all = NULL;
	const json_t *sealed = json_object_get(file, "sealed");

	*ret_plain = json_is_object(file) && !json_is_string(sealed);
	if (*ret_plain)
		return file;
	if (json_is_string(sealed) && store_key_read(auth, key))
		all = sealed_read(key, json_span(sealed));
	explicit_bzero(key, sizeof(key));
	json_decref(file);
	if (json_is_object(all))
		return all;
	json_decref(all);
	return json_object();
}

/* With the lock. */
static bool own_tokens_write(const struct mcp_auth *auth, const json_t *all, struct err *err)
{
	_cleanup_free_ char *path = token_file(auth, TOKENS_FILE);
	_cleanup_buf_ struct buf plain = BUF_INIT(AUTH_TOKENS_BYTES);
	_cleanup_buf_ struct buf sealed = BUF_INIT(SEALED_FILE_BYTES);
	_cleanup_buf_ struct buf text = BUF_INIT(SEALED_FILE_BYTES + 128);
	unsigned char key[AUTH_KEY_BYTES];
	json_auto_t *file = NULL;
	bool ok;

	if (!json_print(&plain, all, 0))
		return err_set(err, ERR_TOO_LARGE, "The logins at MCP servers have more than %d "
		               "bytes.", AUTH_TOKENS_BYTES);
	ok = store_key_have(auth, key, err) && auth_seal(key, buf_view(&plain), &sealed, err);
	explicit_bzero(key, sizeof(key));
	explicit_bzero(plain.data, plain.len);
	if (!ok)
		return false;
	file = json_pack("{s:s, s:s}", "cipher", CIPHER, "sealed", sealed.data);
	return json_print(&text, file, 2) && file_replace(path, buf_view(&text), 0600, err);
}

int auth_store_lock(const struct mcp_auth *auth)
{
	_cleanup_free_ char *path = token_file(auth, TOKENS_FILE);

	return path ? file_lock_next_to(path, LOCK_MS) : -1;
}

/* What was written before there was a key. */
static void encrypt_old_tokens(const struct mcp_auth *auth)
{
	_cleanup_fd_ int lock = -1;
	json_auto_t *all = NULL;
	struct err ignored = ERR_INIT;
	bool plain;

	lock = auth->locked ? -1 : auth_store_lock(auth);
	all = own_tokens_read(auth, &plain);
	if (plain)
		own_tokens_write(auth, all, &ignored);
}

/* ---- Gemini CLI's ---- */

/* {"serverName", "mcpServerUrl", "clientId", "tokenUrl", "token": {...}}, as Gemini CLI has it;
 * NULL for another server, and for one that does not say for which address it is. A new object. */
static json_t *gemini_row_token(const struct mcp_auth *auth, const json_t *row)
{
	const json_t *said = json_object_get(row, "token");
	const json_t *expires = json_object_get(said, "expiresAt");
	const struct span name = json_span(json_object_get(row, "serverName"));
	const struct span url = json_span(json_object_get(row, "mcpServerUrl"));
	json_t *token;

	if (!span_eq(name, span_str(auth->name)) || !span_eq(url, span_str(auth->url)) ||
	    !json_is_string(json_object_get(said, "accessToken")))
		return NULL;
	token = json_pack("{s:O, s:O*, s:O*, s:O*, s:O*, s:s}", "access_token",
	                  json_object_get(said, "accessToken"), "refresh_token",
	                  json_object_get(said, "refreshToken"), "scope",
	                  json_object_get(said, "scope"), "client_id",
	                  json_object_get(row, "clientId"), "token_endpoint",
	                  json_object_get(row, "tokenUrl"), "resource", auth->url);
	if (token && json_is_number(expires))
		json_object_set_new(token, "expires_at",
		                    json_integer((json_int_t)(json_number_value(expires) / 1000)));
	return token;
}

/* Of its file that is not encrypted: an array. */
static json_t *gemini_token(const struct mcp_auth *auth)
{
	_cleanup_free_ char *path = token_file(auth, "mcp-oauth-tokens.json");
	json_auto_t *all = json_file_read(path);
	json_t *row, *token = NULL;
	size_t i;

	json_array_foreach(all, i, row) {
		json_t *one = gemini_row_token(auth, row);

		if (one) {
			json_decref(token);
			token = one;
		}
	}
	return token;
}

/* Its key is made of the names of the machine and of the user. */
static bool gemini_file_key(unsigned char key[static AUTH_KEY_BYTES])
{
	char host[HOST_BYTES] = "", room[4096];
	struct passwd entry, *found = NULL;
	_cleanup_free_ char *salt = NULL;

	if (gethostname(host, sizeof(host) - 1) != 0 ||
	    getpwuid_r(geteuid(), &entry, room, sizeof(room), &found) != 0 || !found)
		return false;
	salt = mem_printf("%s-%s-gemini-cli", host, entry.pw_name);
	return auth_scrypt("gemini-cli-oauth", salt, key);
}

/* {SERVICE: {NAME: TEXT}}, where a name has "_" for what is no letter, digit, "-", "_" or ".", and
 * the text is a row. */
static json_t *gemini_sealed_text(const struct mcp_auth *auth)
{
	_cleanup_free_ char *path = token_file(auth, "gemini-credentials.json");
	_cleanup_free_ char *name = mem_strdup(auth->name);
	_cleanup_file_text_ struct file_text text = { 0 };
	unsigned char key[AUTH_KEY_BYTES];
	struct err ignored = ERR_INIT;
	json_auto_t *all = NULL;

	if (!path || !file_read(path, SEALED_FILE_BYTES, &text, &ignored) || !text.data ||
	    !gemini_file_key(key))
		return NULL;
	all = sealed_read(key, file_text_span(&text));
	for (char *c = name; *c; c++)
		*c = ascii_is_alnum(*c) || strchr("-_.", *c) ? *c : '_';
	return json_incref(json_object_get(json_object_get(all, "gemini-cli-oauth"), name));
}

json_t *auth_store_gemini_sealed(const struct mcp_auth *auth)
{
	json_auto_t *text = gemini_sealed_text(auth), *row = NULL;
	struct err ignored = ERR_INIT;

	if (!json_is_string(text) || !json_parse_depth(json_span(text), 8, &row, &ignored))
		return NULL;
	return gemini_row_token(auth, row);
}

/* ---- all of them ---- */

json_t *auth_store_read(const struct mcp_auth *auth)
{
	_cleanup_free_ char *account = token_account(auth);
	json_auto_t *all = NULL;
	struct err ignored = ERR_INIT;
	json_t *token = NULL;
	bool plain;
	char *secret;

	if (!auth->folder)
		return json_object();
	if (keystore_get(KEYSTORE_SERVICE, account, &secret)) {
		if (!json_parse_depth(span_str(secret), 8, &token, &ignored))
			token = NULL;
		explicit_bzero(secret, strlen(secret));
		free(secret);
	}
	all = own_tokens_read(auth, &plain);
	if (plain)
		encrypt_old_tokens(auth);
	if (!token)
		token = json_incref(json_object_get(all, account));
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
	_cleanup_buf_ struct buf text = BUF_INIT(AUTH_TOKENS_BYTES);
	_cleanup_fd_ int lock = -1;
	json_auto_t *all = NULL;
	struct err ignored = ERR_INIT;
	bool kept = false, plain;

	if (!auth->folder)
		return true;
	if (token && json_print(&text, token, 0))
		kept = keystore_set(KEYSTORE_SERVICE, account, text.data, &ignored);
	else
		keystore_delete(KEYSTORE_SERVICE, account, &ignored);
	if (text.data)
		explicit_bzero(text.data, text.len);
	lock = auth->locked ? -1 : auth_store_lock(auth);
	all = own_tokens_read(auth, &plain);
	if ((kept || !token) && !json_object_get(all, account))
		return true;
	if (kept || !token)
		json_object_del(all, account);
	else
		json_object_set(all, account, (json_t *)token);
	return own_tokens_write(auth, all, err);
}
