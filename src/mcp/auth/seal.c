/* SPDX-License-Identifier: Apache-2.0 */
/* Texts sealed with AES-256-GCM (NIST SP 800-38D), by libcrypto, which is loaded for the first one.
 * The form is Gemini CLI's: NONCE:TAG:DATA, each in hexadecimal. */
#include <string.h>

#include <openssl/evp.h>

#include "base/library.h"
#include "base/mem.h"
#include "base/random.h"
#include "mcp/auth/private.h"

enum {
	NONCE_BYTES = 12,
	NONCE_BYTES_MAX = 16, /* older ones of Gemini CLI's */
	TAG_BYTES = 16,
	SCRYPT_N = 16384,     /* as Node's scryptSync has them by default */
	SCRYPT_R = 8,
	SCRYPT_P = 1,
};

struct seal_library {
	__typeof__(EVP_CIPHER_CTX_new) *context_new;
	__typeof__(EVP_CIPHER_CTX_free) *context_free;
	__typeof__(EVP_CIPHER_CTX_ctrl) *context_ctrl;
	__typeof__(EVP_aes_256_gcm) *aes_256_gcm;
	__typeof__(EVP_CipherInit_ex) *cipher_init;
	__typeof__(EVP_CipherUpdate) *cipher_update;
	__typeof__(EVP_CipherFinal_ex) *cipher_final;
	__typeof__(EVP_PBE_scrypt) *scrypt;
};

static const struct library_symbol seal_symbols[] = {
	{ "EVP_CIPHER_CTX_new", offsetof(struct seal_library, context_new) },
	{ "EVP_CIPHER_CTX_free", offsetof(struct seal_library, context_free) },
	{ "EVP_CIPHER_CTX_ctrl", offsetof(struct seal_library, context_ctrl) },
	{ "EVP_aes_256_gcm", offsetof(struct seal_library, aes_256_gcm) },
	{ "EVP_CipherInit_ex", offsetof(struct seal_library, cipher_init) },
	{ "EVP_CipherUpdate", offsetof(struct seal_library, cipher_update) },
	{ "EVP_CipherFinal_ex", offsetof(struct seal_library, cipher_final) },
	{ "EVP_PBE_scrypt", offsetof(struct seal_library, scrypt) },
};

static const struct library seal_library_row = {
	{ "libcrypto.so.3" }, "Keeping logins encrypted needs", "libssl3", seal_symbols,
	ARRAY_LEN(seal_symbols),
};

/* ---- hexadecimal ---- */

static void put_hex(struct buf *out, const unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf_printf(out, "%02x", bytes[i]);
}

/* Takes the part up to the next ":" (or all) off `rest`; its bytes replace *ret. False: it is not
 * hexadecimal, or of more than `max` bytes. */
static bool take_hex(struct span *rest, size_t max, struct buf *ret)
{
	const char *colon = memchr(rest->data, ':', rest->len);
	const struct span part =
		colon ? span_head(*rest, (size_t)(colon - rest->data)) : *rest;

	*rest = span_skip(*rest, part.len + (colon ? 1 : 0));
	if (part.len % 2 || part.len / 2 > max)
		return false;
	for (size_t i = 0; i < part.len; i += 2) {
		const int high = ascii_hex(part.data[i]), low = ascii_hex(part.data[i + 1]);

		if (high < 0 || low < 0 || !buf_char(ret, (char)(high * 16 + low)))
			return false;
	}
	return true;
}

/* ---- sealing and opening ---- */

/* Encrypts, or decrypts and checks, `from` into `to`, which has as much room. */
static bool gcm_run(const struct seal_library *lib, bool encrypt,
                    const unsigned char key[static AUTH_KEY_BYTES], struct span nonce,
                    unsigned char tag[static TAG_BYTES], struct span from, unsigned char *to)
{
	EVP_CIPHER_CTX *context = lib->context_new();
	int len = 0, rest = 0;
	bool ok = context &&
	          lib->cipher_init(context, lib->aes_256_gcm(), NULL, NULL, NULL, encrypt) == 1 &&
	          lib->context_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, (int)nonce.len, NULL) == 1 &&
	          lib->cipher_init(context, NULL, NULL, key, (const unsigned char *)nonce.data,
	                           encrypt) == 1;

	if (ok && !encrypt)
		ok = lib->context_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, tag) == 1;
	ok = ok && lib->cipher_update(context, to, &len, (const unsigned char *)from.data,
	                              (int)from.len) == 1 &&
	     lib->cipher_final(context, to + len, &rest) == 1 && (size_t)(len + rest) == from.len;
	if (ok && encrypt)
		ok = lib->context_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, tag) == 1;
	lib->context_free(context);
	return ok;
}

bool auth_seal(const unsigned char key[static AUTH_KEY_BYTES], struct span text, struct buf *out,
               struct err *err)
{
	struct seal_library lib;
	unsigned char nonce[NONCE_BYTES], tag[TAG_BYTES];
	_cleanup_free_ unsigned char *sealed = mem_alloc(text.len + 1, 1);

	if (!library_load(&seal_library_row, &lib, err) ||
	    !random_fill(nonce, sizeof(nonce), err))
		return false;
	if (text.len > AUTH_TOKENS_BYTES ||
	    !gcm_run(&lib, true, key, span_of((const char *)nonce, sizeof(nonce)), tag, text,
	             sealed))
		return err_set(err, ERR_INTERNAL, "The logins cannot be encrypted.");
	put_hex(out, nonce, sizeof(nonce));
	buf_char(out, ':');
	put_hex(out, tag, sizeof(tag));
	buf_char(out, ':');
	put_hex(out, sealed, text.len);
	return true;
}

bool auth_unseal(const unsigned char key[static AUTH_KEY_BYTES], struct span sealed,
                 struct buf *out)
{
	_cleanup_buf_ struct buf nonce = BUF_INIT(NONCE_BYTES_MAX + 1);
	_cleanup_buf_ struct buf tag = BUF_INIT(TAG_BYTES + 1);
	_cleanup_buf_ struct buf data = BUF_INIT(AUTH_TOKENS_BYTES + 1);
	struct seal_library lib;
	struct err ignored = ERR_INIT;
	char *room;

	sealed = span_trim(sealed);
	if (!take_hex(&sealed, NONCE_BYTES_MAX, &nonce) || !take_hex(&sealed, TAG_BYTES, &tag) ||
	    !take_hex(&sealed, AUTH_TOKENS_BYTES, &data) || sealed.len || nonce.len < NONCE_BYTES ||
	    tag.len != TAG_BYTES || !data.len ||
	    !library_load(&seal_library_row, &lib, &ignored))
		return false;
	room = buf_reserve(out, data.len);
	if (!room || !gcm_run(&lib, false, key, buf_view(&nonce), (unsigned char *)tag.data,
	                      buf_view(&data), (unsigned char *)room))
		return false;
	out->len += data.len;
	room[data.len] = 0;
	return true;
}

bool auth_scrypt(const char *password, const char *salt,
                 unsigned char ret_key[static AUTH_KEY_BYTES])
{
	struct seal_library lib;
	struct err ignored = ERR_INIT;

	return library_load(&seal_library_row, &lib, &ignored) &&
	       lib.scrypt(password, strlen(password), (const unsigned char *)salt, strlen(salt),
	                  SCRYPT_N, SCRYPT_R, SCRYPT_P, 0, ret_key, AUTH_KEY_BYTES) == 1;
}
