/* SPDX-License-Identifier: Apache-2.0 */
/* The agent card's signature (A2A 1.0, 8.4): a detached JWS (RFC 7515, appendix F) over the card in
 * canonical form (RFC 8785) without its member "signatures".
 *
 *     if (!a2a_signer_open(file, &signer, &err)) ...
 *     ok = a2a_signer_sign(signer, card, "https://host" A2A_KEYS_PATH, &err);
 *
 * The public key is for clients at A2A_KEYS_PATH (the header's jku); its kid is its thumbprint
 * (RFC 7638).  A client that trusts a card by its jku must know that address from elsewhere. */
#ifndef HASP_A2A_SERVE_SIGN_H
#define HASP_A2A_SERVE_SIGN_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

#define A2A_KEYS_PATH "/.well-known/jwks.json"

struct a2a_signer;

/* Reads the private key (PEM, P-256 or RSA): a file of the user's, the path is absolute. Errors of
 * jose_key_read and files; FILE_NOT_FOUND. */
bool a2a_signer_open(const char *file, struct a2a_signer **ret, struct err *err);
void a2a_signer_free(struct a2a_signer *signer); /* NULL is fine */
/* Puts "signatures" into the card, in place of those that are there. INVALID_ARGUMENT: a number in
 * it has no canonical form here (it is no integer), or it is nested too deep; INTERNAL. */
bool a2a_signer_sign(const struct a2a_signer *signer, json_t *card, const char *jku,
                     struct err *err);
/* The JWK set with the public key; a new reference. */
json_t *a2a_signer_keys(const struct a2a_signer *signer);


#endif
