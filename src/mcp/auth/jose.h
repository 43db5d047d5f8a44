/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures and keys in JSON: JWS (RFC 7515), JWK (RFC 7517), by libcrypto, which is loaded with
 * the first of them.
 *
 *     if (!jose_key_read(pem, &key, &err)) ...            // signs ES256 or RS256
 *     ok = jose_sign(key, text, &signature);
 *     ok = jose_verify(jwk, "ES256", text, signature_bytes, &err);
 *
 * What is signed with: ES256 (P-256) and RS256 (RSA of 2048 bits or more); what is verified: these
 * and EdDSA (Ed25519, RFC 8037).  No others, so "none" and HMAC, by which a public key would be
 * taken for a secret, are unknown.  (None of Debian 12's libraries for this, libjwt, libcjose and
 * libjose, verifies EdDSA.)
 */
#ifndef HASP_MCP_AUTH_JOSE_H
#define HASP_MCP_AUTH_JOSE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/span.h"

/* Base64url without padding. The caller frees. */
char *auth_base64url(struct span bytes);
/* The bytes that such text stands for, with a NUL behind, and how many they are (may be NULL);
 * NULL: it is none. The caller frees. */
char *auth_base64url_read(struct span text, size_t *ret_len);

struct jose_key; /* a private one */

/* A private key in PEM form. AUTHENTICATION_FAILED: it is none, has a passphrase, or is of another
 * kind; INTERNAL: there is no libcrypto. */
bool jose_key_read(struct span pem, struct jose_key **ret, struct err *err);
void jose_key_free(struct jose_key *key); /* NULL is fine */
const char *jose_key_alg(const struct jose_key *key); /* "ES256" or "RS256"; static */
/* Its public half as a JWK with "alg" and "use"; a new reference. NULL: libcrypto refused. */
json_t *jose_key_public(const struct jose_key *key);
/* The signature of the text in base64url; the caller frees. False: libcrypto refused. */
bool jose_sign(const struct jose_key *key, struct span text, char **ret);

/* Whether signatures of this kind are verified. NULL is fine. */
bool jose_alg_known(const char *alg);
/* Whether the public key is one for such signatures, as far as its members say. */
bool jose_key_fits(const json_t *jwk, const char *alg);
/* Whether the bytes are the text's signature by this public key, which a stranger may have made.
 * AUTHENTICATION_FAILED: they are not, or the key is not one for `alg`; INTERNAL: there is no
 * libcrypto. */
bool jose_verify(const json_t *jwk, const char *alg, struct span text, struct span signature,
                 struct err *err);

#endif
