/* SPDX-License-Identifier: Apache-2.0 */
/* Access tokens of an OAuth resource server: JSON Web Tokens (RFC 7519, RFC 9068), and the keys of
 * their issuers.
 *
 *     if (!a2a_token_read(text, &token, &err)) ...                      // proves nothing yet
 *     key = a2a_token_key(token, keys);                                 // NULL: none fits
 *     ok = a2a_token_verify(token, key, &err) &&
 *          a2a_token_holds(token, issuer, audience, time(NULL), &err);
 *
 * A key is chosen by the token's kid, but which signatures it may verify is the key's own matter
 * (mcp/auth/jose.h): a token cannot have a key taken for one of another kind.  What a token's
 * header says of keys (jku, jwk, x5u, x5c) is not looked at; "crit" is refused.
 */
#ifndef HASP_A2A_SERVE_TOKEN_H
#define HASP_A2A_SERVE_TOKEN_H

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

#include "base/err.h"
#include "base/span.h"

struct loop;
struct pool;

enum {
	A2A_TOKEN_BYTES = 16 << 10, /* of a token: what a head may have */
	A2A_TOKEN_SKEW_S = 60,      /* how far two clocks may be apart */
};

struct a2a_token {
	json_t *header, *claims;  /* owned; objects */
	char *text;               /* owned */
	struct span statement;    /* of it: what is signed */
	char *signature;          /* owned; bytes */
	size_t signature_len;
};

/* All errors are AUTHENTICATION_FAILED, with a sentence that has nothing of the token in it. */

/* Released with a2a_token_release. Not a JWT, or one that is signed in a way that is not known. */
bool a2a_token_read(struct span text, struct a2a_token *ret, struct err *err);
void a2a_token_release(struct a2a_token *token);
/* A text among the claims; NULL: there is none. */
const char *a2a_token_claim(const struct a2a_token *token, const char *name);
/* The key for it among `keys` (a JWK set's "keys"), borrowed; NULL: there is none. */
const json_t *a2a_token_key(const struct a2a_token *token, const json_t *keys);
/* Whether the key signed it. */
bool a2a_token_verify(const struct a2a_token *token, const json_t *key, struct err *err);
/* Whether it is of this issuer, for this audience, and counts at this time. */
bool a2a_token_holds(const struct a2a_token *token, const char *issuer, const char *audience,
                     time_t now, struct err *err);
/* Whether it has all of these scopes (an array of strings, or NULL). */
bool a2a_token_has_scopes(const struct a2a_token *token, const json_t *scopes);

/* ---- an issuer's keys (keys.c): fetched when they are needed, on a thread of the pool  */

struct a2a_keys;

/* `url`: of the JWK set; NULL: as the issuer's metadata (RFC 8414, OpenID Connect Discovery) have
 * it.  Both are copied.  INVALID_ARGUMENT: an address that is neither https nor this machine's
 * own. */
bool a2a_keys_new(struct loop *loop, struct pool *pool, const char *issuer, const char *url,
                  struct a2a_keys **ret, struct err *err);
/* Calls `done` of all that wait.  On the loop's thread. NULL is fine. */
void a2a_keys_free(struct a2a_keys *keys);
/* The array as it was fetched last, borrowed until the next event of the loop; NULL: not yet. */
const json_t *a2a_keys_now(const struct a2a_keys *keys);
/* Whether they are too old to be asked for the key of a token. */
bool a2a_keys_are_stale(const struct a2a_keys *keys);
/* Fetches them again; `done` is called when that has ended, well or not.  False: they were just
 * fetched, or too many wait, and `done` is never called. */
bool a2a_keys_fetch(struct a2a_keys *keys, void (*done)(void *data), void *data);

#endif
