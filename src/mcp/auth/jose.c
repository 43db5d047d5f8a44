/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/auth/jose.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include "base/library.h"
#include "base/mem.h"
#include "data/json.h"

enum {
	P256_BITS = 256,
	P256_HALF_BYTES = 32,    /* of each of the two numbers of a signature */
	RSA_BITS_MIN = 2048,     /* RFC 7518, section 3.3 */
	RSA_BITS_MAX = 16384,    /* what a stranger's key may cost */
	SIGNATURE_BYTES = 2048,  /* of such a key */
	ED25519_BYTES = 32,
	POINT_BYTES = 1 + 2 * P256_HALF_BYTES, /* uncompressed: SEC 1, section 2.3.3 */
	DER_BYTES = 128,         /* of an ECDSA signature on P-256: 72 at most */
};

/* ---- base64url ---- */

char *auth_base64url(struct span bytes)
{
	json_auto_t *text = json_base64(bytes);
	char *out = mem_strdup(json_string_value(text));

	for (char *c = out; *c; c++)
		*c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
	out[strcspn(out, "=")] = 0;
	return out;
}

static int base64url_digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

char *auth_base64url_read(struct span text, size_t *ret_len)
{
	char *out = mem_alloc(text.len + 1, 1);
	unsigned bits = 0, have = 0;
	size_t len = 0;

	for (size_t i = 0; i < text.len; i++) {
		const int digit = base64url_digit(text.data[i]);

		if (digit < 0) {
			free(out);
			return NULL;
		}
		bits = (bits << 6 | (unsigned)digit) & 0xffff;
		have += 6;
		if (have >= 8) {
			have -= 8;
			out[len++] = (char)(bits >> have);
		}
	}
	if (ret_len)
		*ret_len = len;
	return out;
}

/* ---- libcrypto ---- */

struct jose_library {
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
	__typeof__(ECDSA_SIG_new) *pair_new;
	__typeof__(ECDSA_SIG_set0) *pair_set;
	__typeof__(i2d_ECDSA_SIG) *pair_write;
	__typeof__(BN_bin2bn) *number_read;
	__typeof__(BN_free) *number_free;
	__typeof__(EVP_DigestVerifyInit) *verify_init;
	__typeof__(EVP_DigestVerify) *verify;
	__typeof__(EVP_PKEY_new_raw_public_key) *raw_public;
	__typeof__(EVP_PKEY_CTX_new_from_name) *from_new;
	__typeof__(EVP_PKEY_CTX_free) *from_free;
	__typeof__(EVP_PKEY_fromdata_init) *from_init;
	__typeof__(EVP_PKEY_fromdata) *from_data;
	__typeof__(OSSL_PARAM_BLD_new) *params_new;
	__typeof__(OSSL_PARAM_BLD_free) *params_free;
	__typeof__(OSSL_PARAM_BLD_push_BN) *params_number;
	__typeof__(OSSL_PARAM_BLD_push_utf8_string) *params_text;
	__typeof__(OSSL_PARAM_BLD_push_octet_string) *params_bytes;
	__typeof__(OSSL_PARAM_BLD_to_param) *params_done;
	__typeof__(OSSL_PARAM_free) *param_free;
	__typeof__(EVP_PKEY_get_octet_string_param) *key_bytes;
	__typeof__(EVP_PKEY_get_bn_param) *key_number;
	__typeof__(BN_num_bits) *number_size;
};

static const struct library_symbol jose_symbols[] = {
	{ "BIO_new_mem_buf", offsetof(struct jose_library, bio_new) },
	{ "BIO_free", offsetof(struct jose_library, bio_free) },
	{ "PEM_read_bio_PrivateKey", offsetof(struct jose_library, read_key) },
	{ "EVP_PKEY_free", offsetof(struct jose_library, key_free) },
	{ "EVP_PKEY_is_a", offsetof(struct jose_library, key_is_a) },
	{ "EVP_PKEY_get_bits", offsetof(struct jose_library, key_bits) },
	{ "EVP_PKEY_get_group_name", offsetof(struct jose_library, key_group) },
	{ "EVP_MD_CTX_new", offsetof(struct jose_library, sum_new) },
	{ "EVP_MD_CTX_free", offsetof(struct jose_library, sum_free) },
	{ "EVP_sha256", offsetof(struct jose_library, sha256) },
	{ "EVP_DigestSignInit", offsetof(struct jose_library, sign_init) },
	{ "EVP_DigestSign", offsetof(struct jose_library, sign) },
	{ "d2i_ECDSA_SIG", offsetof(struct jose_library, read_signature) },
	{ "ECDSA_SIG_get0", offsetof(struct jose_library, signature_halves) },
	{ "ECDSA_SIG_free", offsetof(struct jose_library, signature_free) },
	{ "BN_bn2binpad", offsetof(struct jose_library, number_bytes) },
	{ "ECDSA_SIG_new", offsetof(struct jose_library, pair_new) },
	{ "ECDSA_SIG_set0", offsetof(struct jose_library, pair_set) },
	{ "i2d_ECDSA_SIG", offsetof(struct jose_library, pair_write) },
	{ "BN_bin2bn", offsetof(struct jose_library, number_read) },
	{ "BN_free", offsetof(struct jose_library, number_free) },
	{ "EVP_DigestVerifyInit", offsetof(struct jose_library, verify_init) },
	{ "EVP_DigestVerify", offsetof(struct jose_library, verify) },
	{ "EVP_PKEY_new_raw_public_key", offsetof(struct jose_library, raw_public) },
	{ "EVP_PKEY_CTX_new_from_name", offsetof(struct jose_library, from_new) },
	{ "EVP_PKEY_CTX_free", offsetof(struct jose_library, from_free) },
	{ "EVP_PKEY_fromdata_init", offsetof(struct jose_library, from_init) },
	{ "EVP_PKEY_fromdata", offsetof(struct jose_library, from_data) },
	{ "OSSL_PARAM_BLD_new", offsetof(struct jose_library, params_new) },
	{ "OSSL_PARAM_BLD_free", offsetof(struct jose_library, params_free) },
	{ "OSSL_PARAM_BLD_push_BN", offsetof(struct jose_library, params_number) },
	{ "OSSL_PARAM_BLD_push_utf8_string", offsetof(struct jose_library, params_text) },
	{ "OSSL_PARAM_BLD_push_octet_string", offsetof(struct jose_library, params_bytes) },
	{ "OSSL_PARAM_BLD_to_param", offsetof(struct jose_library, params_done) },
	{ "OSSL_PARAM_free", offsetof(struct jose_library, param_free) },
	{ "EVP_PKEY_get_octet_string_param", offsetof(struct jose_library, key_bytes) },
	{ "EVP_PKEY_get_bn_param", offsetof(struct jose_library, key_number) },
	{ "BN_num_bits", offsetof(struct jose_library, number_size) },
};

static const struct library jose_library_row = {
	{ "libcrypto.so.3" }, "Signatures need", "libssl3", jose_symbols,
	ARRAY_LEN(jose_symbols),
};

/* ---- private keys ---- */

struct jose_key {
	struct jose_library lib;
	EVP_PKEY *key;
	const char *alg;
};

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
static EVP_PKEY *private_key_read(const struct jose_library *lib, struct span pem,
                                  const char **ret_alg, struct err *err)
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

bool jose_key_read(struct span pem, struct jose_key **ret, struct err *err)
{
	struct jose_key *key = mem_alloc(1, sizeof(*key));

	if (library_load(&jose_library_row, &key->lib, err))
		key->key = private_key_read(&key->lib, span_head(pem, INT_MAX), &key->alg, err);
	if (!key->key) {
		free(key);
		return false;
	}
	*ret = key;
	return true;
}

void jose_key_free(struct jose_key *key)
{
	if (key)
		key->lib.key_free(key->key);
	free(key);
}

const char *jose_key_alg(const struct jose_key *key)
{
	return key->alg;
}

static bool jwk_put(json_t *jwk, const char *name, const unsigned char *bytes, size_t len)
{
	_cleanup_free_ char *text = auth_base64url(span_of((const char *)bytes, len));

	return json_object_set_new(jwk, name, json_string(text)) == 0;
}

json_t *jose_key_public(const struct jose_key *key)
{
	static const char *const numbers[][2] = { { OSSL_PKEY_PARAM_RSA_N, "n" },
		                                  { OSSL_PKEY_PARAM_RSA_E, "e" } };
	const struct jose_library *lib = &key->lib;
	const bool curve = !strcmp(key->alg, "ES256");
	json_t *jwk = json_pack("{s:s, s:s, s:s, s:s*}", "kty", curve ? "EC" : "RSA", "alg",
	                        key->alg, "use", "sig", "crv", curve ? "P-256" : NULL);
	unsigned char bytes[SIGNATURE_BYTES];
	size_t len;
	bool ok = true;

	if (curve) {
		ok = lib->key_bytes(key->key, OSSL_PKEY_PARAM_PUB_KEY, bytes, sizeof(bytes),
		                    &len) == 1 && len == POINT_BYTES && bytes[0] == 4 &&
		     jwk_put(jwk, "x", bytes + 1, P256_HALF_BYTES) &&
		     jwk_put(jwk, "y", bytes + 1 + P256_HALF_BYTES, P256_HALF_BYTES);
	}
	for (size_t i = 0; !curve && i < ARRAY_LEN(numbers) && ok; i++) {
		BIGNUM *number = NULL;

		ok = lib->key_number(key->key, numbers[i][0], &number) == 1;
		len = ok ? ((size_t)lib->number_size(number) + 7) / 8 : 0;
		ok = ok && len <= sizeof(bytes) &&
		     lib->number_bytes(number, bytes, (int)len) == (int)len &&
		     jwk_put(jwk, numbers[i][1], bytes, len);
		lib->number_free(number);
	}
	if (ok)
		return jwk;
	json_decref(jwk);
	return NULL;
}

/* ---- signing ---- */

/* The two numbers, one after the other, in place of DER (RFC 7518, section 3.4). */
static bool ecdsa_flatten(const struct jose_library *lib, unsigned char *signature, size_t *len)
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

bool jose_sign(const struct jose_key *key, struct span text, char **ret)
{
	const struct jose_library *lib = &key->lib;
	_cleanup_free_ unsigned char *signature = mem_alloc(SIGNATURE_BYTES, 1);
	size_t len = SIGNATURE_BYTES;
	EVP_MD_CTX *sum = lib->sum_new();
	const bool ok = sum &&
	                lib->sign_init(sum, NULL, lib->sha256(), NULL, key->key) == 1 &&
	                lib->sign(sum, signature, &len, (const unsigned char *)text.data,
	                          text.len) == 1;

	lib->sum_free(sum);
	if (!ok || (!strcmp(key->alg, "ES256") && !ecdsa_flatten(lib, signature, &len)))
		return false;
	*ret = auth_base64url(span_of((const char *)signature, len));
	return true;
}

/* ---- public keys (RFC 7517, RFC 7518 section 6, RFC 8037) ---- */

/* The bytes of a member; NULL: there is none. The caller frees. */
static char *member_bytes(const json_t *jwk, const char *name, size_t *ret_len)
{
	const json_t *value = json_object_get(jwk, name);

	return json_string_length(value) ? auth_base64url_read(json_span(value), ret_len) : NULL;
}

/* NULL: they are not a key of this kind. */
static EVP_PKEY *key_of_params(const struct jose_library *lib, const char *kind,
                               OSSL_PARAM_BLD *build)
{
	OSSL_PARAM *params = lib->params_done(build);
	EVP_PKEY_CTX *from = lib->from_new(NULL, kind, NULL);
	EVP_PKEY *key = NULL;

	if (params && from && lib->from_init(from) == 1 &&
	    lib->from_data(from, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
		key = NULL;
	lib->from_free(from);
	lib->param_free(params);
	return key;
}

static EVP_PKEY *rsa_key(const struct jose_library *lib, const json_t *jwk)
{
	size_t n_len, e_len;
	_cleanup_free_ char *n_bytes = member_bytes(jwk, "n", &n_len);
	_cleanup_free_ char *e_bytes = member_bytes(jwk, "e", &e_len);
	OSSL_PARAM_BLD *build = lib->params_new();
	BIGNUM *n = NULL, *e = NULL;
	EVP_PKEY *key = NULL;

	if (build && n_bytes && e_bytes && n_len <= RSA_BITS_MAX / 8 && e_len <= 8) {
		n = lib->number_read((const unsigned char *)n_bytes, (int)n_len, NULL);
		e = lib->number_read((const unsigned char *)e_bytes, (int)e_len, NULL);
	}
	if (n && e && lib->number_size(n) >= RSA_BITS_MIN &&
	    lib->params_number(build, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
	    lib->params_number(build, OSSL_PKEY_PARAM_RSA_E, e) == 1)
		key = key_of_params(lib, "RSA", build);
	lib->number_free(n);
	lib->number_free(e);
	lib->params_free(build);
	return key;
}

/* fromdata checks that the point is on the curve. */
static EVP_PKEY *curve_key(const struct jose_library *lib, const json_t *jwk)
{
	size_t x_len, y_len;
	_cleanup_free_ char *x = member_bytes(jwk, "x", &x_len);
	_cleanup_free_ char *y = member_bytes(jwk, "y", &y_len);
	unsigned char point[POINT_BYTES] = { 4 };
	OSSL_PARAM_BLD *build = lib->params_new();
	EVP_PKEY *key = NULL;

	if (build && x && y && x_len == P256_HALF_BYTES && y_len == P256_HALF_BYTES) {
		memcpy(point + 1, x, P256_HALF_BYTES);
		memcpy(point + 1 + P256_HALF_BYTES, y, P256_HALF_BYTES);
		if (lib->params_text(build, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) == 1 &&
		    lib->params_bytes(build, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point)) == 1)
			key = key_of_params(lib, "EC", build);
	}
	lib->params_free(build);
	return key;
}

static EVP_PKEY *edwards_key(const struct jose_library *lib, const json_t *jwk)
{
	size_t len;
	_cleanup_free_ char *x = member_bytes(jwk, "x", &len);

	return x && len == ED25519_BYTES ? lib->raw_public(EVP_PKEY_ED25519, NULL,
	                                                   (const unsigned char *)x, len) : NULL;
}

static const struct jose_alg {
	const char *name, *kind, *curve;
	bool hashes; /* with SHA-256 first */
	EVP_PKEY *(*key)(const struct jose_library *lib, const json_t *jwk);
} jose_algs[] = {
	{ "RS256", "RSA", NULL, true, rsa_key },
	{ "ES256", "EC", "P-256", true, curve_key },
	{ "EdDSA", "OKP", "Ed25519", false, edwards_key },
};

static bool jwk_says(const json_t *jwk, const char *name, const char *wanted, bool required)
{
	const char *value = json_string_value(json_object_get(jwk, name));

	return value ? wanted && !strcmp(value, wanted) : !required;
}

static const struct jose_alg *alg_find(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_LEN(jose_algs); i++)
		if (!strcmp(jose_algs[i].name, name))
			return &jose_algs[i];
	return NULL;
}

bool jose_alg_known(const char *name)
{
	return alg_find(name) != NULL;
}

bool jose_key_fits(const json_t *jwk, const char *name)
{
	const struct jose_alg *alg = alg_find(name);

	return alg && jwk_says(jwk, "kty", alg->kind, true) &&
	       (!alg->curve || jwk_says(jwk, "crv", alg->curve, true)) &&
	       jwk_says(jwk, "alg", alg->name, false) && jwk_says(jwk, "use", "sig", false);
}

/* ---- verification ---- */

/* The two numbers in DER, as libcrypto has them. Returns the length; 0: they are none. */
static size_t ecdsa_unflatten(const struct jose_library *lib, struct span flat,
                              unsigned char der[static DER_BYTES])
{
	const unsigned char *bytes = (const unsigned char *)flat.data;
	ECDSA_SIG *pair = flat.len == 2 * P256_HALF_BYTES ? lib->pair_new() : NULL;
	BIGNUM *r, *s;
	unsigned char *at = der;
	int len = 0;

	if (!pair)
		return 0;
	r = lib->number_read(bytes, P256_HALF_BYTES, NULL);
	s = lib->number_read(bytes + P256_HALF_BYTES, P256_HALF_BYTES, NULL);
	if (r && s && lib->pair_set(pair, r, s) == 1) {
		len = lib->pair_write(pair, &at);
	} else {
		lib->number_free(r);
		lib->number_free(s);
	}
	lib->signature_free(pair);
	return len > 0 ? (size_t)len : 0;
}

bool jose_verify(const json_t *jwk, const char *name, struct span text, struct span signature,
                 struct err *err)
{
	const struct jose_alg *alg = alg_find(name);
	unsigned char der[DER_BYTES];
	struct jose_library lib;
	EVP_MD_CTX *sum;
	EVP_PKEY *key;
	bool ok;

	if (!jose_key_fits(jwk, name))
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The key is not for this kind of signature.");
	if (!library_load(&jose_library_row, &lib, err))
		return false;
	if (!strcmp(alg->kind, "EC"))
		signature = span_of((const char *)der, ecdsa_unflatten(&lib, signature, der));
	key = alg->key(&lib, jwk);
	sum = lib.sum_new();
	ok = key && sum && signature.len &&
	     lib.verify_init(sum, NULL, alg->hashes ? lib.sha256() : NULL, NULL, key) == 1 &&
	     lib.verify(sum, (const unsigned char *)signature.data, signature.len,
	                (const unsigned char *)text.data, text.len) == 1;
	lib.sum_free(sum);
	lib.key_free(key);
	return ok || err_set(err, ERR_AUTHENTICATION_FAILED, "The signature is not valid.");
}
