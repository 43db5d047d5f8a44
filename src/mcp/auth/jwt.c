/* SPDX-License-Identifier: Apache-2.0 */
/* Signed assertions (RFC 7519, RFC 7515 in compact form).  And where a client's key is. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"
#include "config/home.h"
#include "data/json.h"
#include "mcp/auth/private.h"

#define KEYSTORE_KEYS "hasp-mcp-key"

enum {
	KEY_TEXT_BYTES = 64 << 10,
	JTI_BYTES = 16,
};

/* ---- keys ---- */

bool auth_client_key(const struct mcp_auth *auth, char **ret, struct err *err)
{
	const char *text = auth_setting(auth, "privateKey");
	const char *file = auth_setting(auth, "privateKeyFile");
	_cleanup_file_text_ struct file_text from = { 0 };

	if (text) {
		*ret = mem_strdup(text);
	} else if (file) {
		if (file[0] != '/')
			return err_set(err, ERR_AUTHENTICATION_FAILED,
			               "mcpServers.%s.oauth.privateKeyFile is not absolute; "
			               "${HOME} may stand in it.", auth->name);
		if (!file_read(file, KEY_TEXT_BYTES, &from, err))
			return false;
		if (!from.data)
			return err_set(err, ERR_AUTHENTICATION_FAILED,
			               "The file of mcpServers.%s.oauth.privateKeyFile is not "
			               "there.", auth->name);
		*ret = mem_steal(&from.data);
	} else if (!keystore_get(KEYSTORE_KEYS, auth->name, ret)) {
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "No private key for the %s. Set mcpServers.%s.oauth.privateKeyFile, "
		               "or put it into the key store "
		               "(service " KEYSTORE_KEYS ", account %s).",
		               auth->called, auth->name, auth->name);
	}
	return true;
}

bool auth_has_client_key(const struct mcp_auth *auth)
{
	const char *method = auth_setting(auth, "tokenEndpointAuthMethod");

	return auth_setting(auth, "privateKey") || auth_setting(auth, "privateKeyFile") ||
	       (method && !strcmp(method, AUTH_BY_KEY));
}

/* ---- assertions ---- */

static void jwt_put_part(const json_t *part, struct buf *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT(AUTH_URL_BYTES);
	_cleanup_free_ char *coded = NULL;

	if (!json_print(&text, part, 0))
		out->overflowed = true;
	coded = auth_base64url(buf_view(&text));
	buf_str(out, coded);
}

bool auth_jwt_make(const char *pem, const char *key_id, const json_t *algs, const json_t *claims,
                   char **ret, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(2 * AUTH_URL_BYTES);
	_cleanup_free_ char *signature = NULL;
	json_auto_t *header = NULL;
	struct jose_key *key;
	const char *alg;
	bool ok;

	if (!jose_key_read(span_str(pem), &key, err))
		return false;
	alg = jose_key_alg(key);
	if (algs && !json_lists(algs, span_str(alg))) {
		jose_key_free(key);
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The authorization server does not take signatures of the private "
		               "key's kind (%s).", alg);
	}
	header = json_pack("{s:s, s:s, s:s*}", "alg", alg, "typ", "JWT", "kid", key_id);
	jwt_put_part(header, &out);
	buf_char(&out, '.');
	jwt_put_part(claims, &out);
	ok = !out.overflowed && jose_sign(key, buf_view(&out), &signature);
	jose_key_free(key);
	if (ok) {
		buf_char(&out, '.');
		buf_str(&out, signature);
	}
	if (!ok || out.overflowed)
		return err_set(err, ERR_INTERNAL, "The private key cannot sign.");
	*ret = buf_steal(&out);
	return true;
}

json_t *auth_jwt_claims(const char *issuer, const char *audience, unsigned seconds)
{
	char bytes[JTI_BYTES];
	_cleanup_free_ char *jti = NULL;
	const json_int_t now = time(NULL);

	random_distinct(bytes, sizeof(bytes));
	jti = auth_base64url(span_of(bytes, sizeof(bytes)));
	return json_pack("{s:s, s:s, s:s, s:I, s:I}", "iss", issuer, "aud", audience, "jti", jti,
	                 "iat", now, "exp", now + (json_int_t)seconds);
}
