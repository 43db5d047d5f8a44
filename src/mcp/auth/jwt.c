/* SPDX-License-Identifier: Apache-2.0 */
/* Signed assertions (RFC 7519, RFC 7515 in compact form) by libcrypto, loaded for the first one:
 * ES256 with a key on P-256, RS256 with an RSA key.  And where a client's key is. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/file.h"
#include "base/library.h"
#include "base/mem.h"
#include "base/random.h"
#include "config/home.h"
#include "data/json.h"
#include "mcp/auth/private.h"

#define KEYSTORE_KEYS "hasp-mcp-key"

enum {
	KEY_TEXT_BYTES = 64 << 10,
	P256_BITS = 256,
	P256_HALF_BYTES = 32,    /* of each of the two numbers of a signature */
	RSA_BITS_MIN = 2048,     /* RFC 7518, section 3.3 */
	SIGNATURE_BYTES = 2048,  /* of RSA keys of up to 16384 bits */
	JTI_BYTES = 16,
};

struct jwt_library {
	__typeof__(BIO_new_mem_buf) *bio_new;
	__typeof__(BIO_free) *bio_free;
	__typeof__(PEM_read_bio_PrivateKey) *read_key;
	__typeof__(EVP_PKEY_free) *key_free;
	__typeof__(EVP_PKEY_is_a) *key_is_a;
	__typeof__(EVP_PKEY_get_bits) *key_bits;
	__typeof__(EVP_PKEY_get_group_name) *key_group;
	__typeof__(EVP_MD_CTX_new) *sum_new;
	__typeof__(EVP_MD_CTX_free) *sum_free;
	__typeof__(EVP_sha256) *sha256;
	__typeof__(EVP_DigestSignInit) *sign_init;
	__typeof__(EVP_DigestSign) *sign;
	__typeof__(d2i_ECDSA_SIG) *read_signature;
	__typeof__(ECDSA_SIG_get0) *signature_halves;
	__typeof__(ECDSA_SIG_free) *signature_free;
	__typeof__(BN_bn2binpad) *number_bytes;
};

static const struct library_symbol jwt_symbols[] = {
	{ "BIO_new_mem_buf", offsetof(struct jwt_library, bio_new) },
	{ "BIO_free", offsetof(struct jwt_library, bio_free) },
	{ "PEM_read_bio_PrivateKey", offsetof(struct jwt_library, read_key) },
	{ "EVP_PKEY_free", offsetof(struct jwt_library, key_free) },
	{ "EVP_PKEY_is_a", offsetof(struct jwt_library, key_is_a) },
	{ "EVP_PKEY_get_bits", offsetof(struct jwt_library, key_bits) },
	{ "EVP_PKEY_get_group_name", offsetof(struct jwt_library, key_group) },
	{ "EVP_MD_CTX_new", offsetof(struct jwt_library, sum_new) },
	{ "EVP_MD_CTX_free", offsetof(struct jwt_library, sum_free) },
	{ "EVP_sha256", offsetof(struct jwt_library, sha256) },
	{ "EVP_DigestSignInit", offsetof(struct jwt_library, sign_init) },
	{ "EVP_DigestSign", offsetof(struct jwt_library, sign) },
	{ "d2i_ECDSA_SIG", offsetof(struct jwt_library, read_signature) },
	{ "ECDSA_SIG_get0", offsetof(struct jwt_library, signature_halves) },
	{ "ECDSA_SIG_free", offsetof(struct jwt_library, signature_free) },
	{ "BN_bn2binpad", offsetof(struct jwt_library, number_bytes) },
};

static const struct library jwt_library_row = {
	{ "libcrypto.so.3" }, "Signing with a private key needs", "libssl3", jwt_symbols,
	ARRAY_LEN(jwt_symbols),
};

/* ---- keys ---- */

/* Without a callback libcrypto would prompt for the passphrase. */
static int give_no_passphrase(char *room, int size, int writes, void *data)
{
	(void)room;
	(void)size;
	(void)writes;
	(void)data;
	return -1;
}

/* NULL: *err. The caller frees it with lib->key_free. */
static EVP_PKEY *key_read(const struct jwt_library *lib, struct span pem, const char **ret_alg,
                          struct err *err)
{
	BIO *text = lib->bio_new(pem.data, (int)pem.len);
	EVP_PKEY *key = text ? lib->read_key(text, NULL, give_no_passphrase, NULL) : NULL;
	char group[32] = "";
	size_t len;

	lib->bio_free(text);
	if (!key) {
		err_set(err, ERR_AUTHENTICATION_FAILED,
		        "The private key is not in PEM form, or it has a passphrase.");
		return NULL;
	}
	*ret_alg = NULL;
	if (lib->key_is_a(key, "RSA") && lib->key_bits(key) >= RSA_BITS_MIN)
		*ret_alg = "RS256";
	else if (lib->key_is_a(key, "EC") && lib->key_bits(key) == P256_BITS &&
	         lib->key_group(key, group, sizeof(group), &len) == 1 &&
	         (!strcmp(group, "prime256v1") || !strcmp(group, "P-256")))
		*ret_alg = "ES256";
	if (*ret_alg)
		return key;
	lib->key_free(key);
	err_set(err, ERR_AUTHENTICATION_FAILED,
	        "The private key is neither one on the curve P-256 (ES256) nor an RSA key of at "
	        "least %d bits (RS256).", RSA_BITS_MIN);
	return NULL;
}

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

/* ---- signatures ---- */

/* The two numbers, one after the other, in place of DER (RFC 7518, section 3.4). */
static bool ecdsa_flatten(const struct jwt_library *lib, unsigned char *signature, size_t *len)
{
	const unsigned char *at = signature;
	ECDSA_SIG *pair = lib->read_signature(NULL, &at, (long)*len);
	unsigned char flat[2 * P256_HALF_BYTES];
	const BIGNUM *r, *s;
	bool ok;

	if (!pair)
		return false;
	lib->signature_halves(pair, &r, &s);
	ok = lib->number_bytes(r, flat, P256_HALF_BYTES) == P256_HALF_BYTES &&
	     lib->number_bytes(s, flat + P256_HALF_BYTES, P256_HALF_BYTES) == P256_HALF_BYTES;
	lib->signature_free(pair);
	if (!ok)
		return false;
	memcpy(signature, flat, sizeof(flat));
	*len = sizeof(flat);
	return true;
}

/* Appends "." and the signature of what is there. */
static bool jwt_sign(const struct jwt_library *lib, EVP_PKEY *key, const char *alg,
                          struct buf *out)
{
	_cleanup_free_ unsigned char *signature = mem_alloc(SIGNATURE_BYTES, 1);
	_cleanup_free_ char *coded = NULL;
	size_t len = SIGNATURE_BYTES;
	EVP_MD_CTX *sum = lib->sum_new();
	bool ok = sum && lib->sign_init(sum, NULL, lib->sha256(), NULL, key) == 1 &&
	          lib->sign(sum, signature, &len, (const unsigned char *)out->data, out->len) == 1;

	lib->sum_free(sum);
	if (!ok || (!strcmp(alg, "ES256") && !ecdsa_flatten(lib, signature, &len)))
		return false;
	coded = auth_base64url(span_of((const char *)signature, len));
	buf_char(out, '.');
	buf_str(out, coded);
	return !out->overflowed;
}

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
	json_auto_t *header = NULL;
	struct jwt_library lib;
	const char *alg = NULL;
	EVP_PKEY *key;
	bool ok;

	if (!library_load(&jwt_library_row, &lib, err))
		return false;
	key = key_read(&lib, span_head(span_str(pem), INT_MAX), &alg, err);
	if (!key)
		return false;
	if (algs && !json_lists(algs, span_str(alg))) {
		lib.key_free(key);
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The authorization server does not take signatures of the private "
		               "key's kind (%s).", alg);
	}
	header = json_pack("{s:s, s:s, s:s*}", "alg", alg, "typ", "JWT", "kid", key_id);
	jwt_put_part(header, &out);
	buf_char(&out, '.');
	jwt_put_part(claims, &out);
	ok = !out.overflowed && jwt_sign(&lib, key, alg, &out);
	lib.key_free(key);
	if (!ok)
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
