/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. */
#ifndef HASP_MCP_AUTH_PRIVATE_H
#define HASP_MCP_AUTH_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/buf.h"
#include "mcp/auth/auth.h"
#include "mcp/auth/jose.h"

enum {
	AUTH_DOCUMENT_BYTES = 256 << 10, /* of metadata, a registration, a token answer */
	AUTH_TOKENS_BYTES = 1 << 20,     /* of all logins together */
	AUTH_KEY_BYTES = 32,
	AUTH_URL_BYTES = 16 << 10,
	AUTH_REQUEST_MS = 20000,
	AUTH_ASSERTION_S = 60,           /* how long a signed assertion holds */
	AUTH_LOGIN_MS = 300000,          /* for the user, in the browser */
};

struct mcp_auth {
	char *name, *url, *folder;
	char *called;        /* in sentences: MCP server "NAME", or agent "NAME" */
	bool is_agent;
	enum mcp_auth_kind kind;
	char *audience, *account, *home; /* of Google's kinds; or NULL */
	time_t fetched;      /* of these, when the token was */
	json_t *settings;
	json_t *token;       /* {"issuer", "resource", "token_endpoint", "client_id",
	                      * "client_secret", "auth_method", "signing_algs", "access_token",
	                      * "refresh_token", "expires_at", "scope"}: members that are known */
	bool loaded;
	bool locked;         /* auth_store_lock is held */
	pthread_mutex_t lock;
	bool (*login)(void *data, const struct mcp_login *login, char **ret_pasted,
	              struct err *err);
	struct notices notices;
	void *data;
	_Atomic bool unattended; /* logins are not offered */
	_Atomic bool refused;    /* the user has said no */
	_Atomic bool wanted;     /* a login failed because none could be offered */
};

/* What discovery found. */
struct auth_place {
	json_t *server;      /* the authorization server's metadata */
	char *issuer;        /* as it calls itself: the audience of assertions */
	char *resource;
	char *scope;         /* to ask for; NULL: none */
};

/* Frees the contents. */
void auth_place_release(struct auth_place *place);

/* ---- requests (request.c) ---- */

/* A text setting of oauth; NULL: none. Borrowed. */
const char *auth_setting(const struct mcp_auth *auth, const char *name);
/* The scheme and host: "https://x:8"; empty when `url` is not an address. */
struct span auth_origin(const char *url);
/* Whether an address may be asked, or opened in a browser: DENIED_BY_POLICY. */
bool auth_address_allowed(const struct mcp_auth *auth, const char *url, struct err *err);
/* Whether the caller stops waiting now; false for NULL. */
bool auth_wait_is_over(const struct auth_wait *wait);
/* GET, or POST of `body` as `type` with a further field (each may be NULL). The answer's status and
 * its object (NULL: it is none), a new reference. */
bool auth_request(const struct mcp_auth *auth, const char *url, const char *type, struct span body,
                  const char *field, const struct auth_wait *wait, int *ret_status, json_t **ret,
                  struct err *err);
/* A request as auth_request makes it, with what others need not say. */
struct auth_order {
	const char *url, *type;   /* `type` NULL: GET */
	struct span body;
	const char *field;        /* an additional header field; or NULL */
	const char *const *fields; /* more of them; NULL-terminated, or NULL */
	struct buf *text;         /* gets the answer as it is; or NULL */
	const char *says;         /* a field that the response must have; or NULL */
	const struct auth_wait *wait;
	bool own;                 /* the address is of the user's own files, and no stranger's */
	bool any_scheme;          /* of these also plain http to another machine */
	long ms;                  /* 0: AUTH_REQUEST_MS */
};
/* As auth_request. */
bool auth_order_send(const struct mcp_auth *auth, const struct auth_order *order, int *ret_status,
                     json_t **ret, struct err *err);
#define AUTH_FORM_TYPE "application/x-www-form-urlencoded"
/* Appends NAME=VALUE, percent-encoded, behind "&" unless the form is empty; of a NULL value
 * nothing. */
void auth_form_add(struct buf *form, const char *name, const char *value);
/* A member of a query or form, decoded. The caller frees; NULL: there is none. */
char *auth_form_get(struct span form, const char *name);
/* A list of texts as one, with blanks between. The caller frees; NULL: there are none. */
char *auth_texts_joined(const json_t *list);
/* A parameter of the Bearer challenge. The caller frees; NULL: there is none. */
char *auth_challenge_get(struct span www_authenticate, const char *name);

/* ---- Google's credentials (google.c) ---- */

/* Fetches a token of auth->kind.  With the lock.  AUTHENTICATION_FAILED, NETWORK_ERROR,
 * CANCELLED; errors of file_read. */
bool auth_google_fetch(struct mcp_auth *auth, const struct auth_wait *wait, struct err *err);

/* ---- discovery (discover.c) ---- */

/* Which authorization server the MCP server names, and what that says of itself (RFC 9728, RFC
 * 8414, OpenID discovery).  *ret is for the caller to release.  AUTHENTICATION_FAILED: nothing is
 * found, or the metadata is about another server; DENIED_BY_POLICY: an address that policy
 * forbids; NETWORK_ERROR, CANCELLED. */
bool auth_discover(const struct mcp_auth *auth, struct span www_authenticate,
                   const struct auth_wait *wait, struct auth_place *ret, struct err *err);

/* Whether a token is one that a header may carry (RFC 6750, section 2.1); request.c.
 * NULL: no. */
bool auth_token_is_sendable(const json_t *token);

/* ---- the browser (browser.c) ---- */

struct auth_callback {
	int listeners[2];    /* owned; 127.0.0.1 and ::1; -1: not */
	char *uri;           /* http://127.0.0.1:PORT/oauth/callback; owned */
};

/* Listens on the address of the redirect URI: 127.0.0.1 for that literal, which hasp registers
 * itself (RFC 8252, section 8.3); for "localhost", as in clients that others registered, on
 * 127.0.0.1 and ::1, so that no other program can listen on one of them.  IO_ERROR: the port cannot
 * be had. */
bool auth_callback_open(const struct mcp_auth *auth, struct auth_callback *ret, struct err *err);
/* Stops listening, and frees the address. */
void auth_callback_close(struct auth_callback *callback);
/* Has the user log in, and waits for the callback that carries `state`, or for its address from the
 * user: its query. The caller frees. */
bool auth_browse(struct mcp_auth *auth, const struct auth_callback *callback, const char *url,
                 const char *state, const struct auth_wait *wait, char **ret, struct err *err);

/* ---- signed assertions (jwt.c) ---- */

/* How a client that has a key says who it is (OpenID Connect Core, section 9; RFC 7523). */
#define AUTH_BY_KEY "private_key_jwt"

/* Whether the settings say that the client has one. */
bool auth_has_client_key(const struct mcp_auth *auth);
/* The client's key in PEM form: of the settings, of the file that they name, or of the key store.
 * The caller frees. AUTHENTICATION_FAILED: there is none; errors of file_read. */
bool auth_client_key(const struct mcp_auth *auth, char **ret, struct err *err);
/* The claims iss, aud, jti, iat and exp, `seconds` from now. A new object. */
json_t *auth_jwt_claims(const char *issuer, const char *audience, unsigned seconds);
/* An assertion with these claims, signed by a key in PEM form; `key_id` (or NULL) is its kid.
 * `algs`: what the receiver takes; NULL: anything.  The caller frees.  AUTHENTICATION_FAILED: the
 * key cannot be read, or is of a kind that is not taken; INTERNAL: there is no libcrypto. */
bool auth_jwt_make(const char *pem, const char *key_id, const json_t *algs, const json_t *claims,
                   char **ret, struct err *err);

/* ---- sealed texts (seal.c) ---- */

/* Appends what auth_unseal opens. INTERNAL: there is no libcrypto. */
bool auth_seal(const unsigned char key[static AUTH_KEY_BYTES], struct span text, struct buf *out,
               struct err *err);
/* Appends the text. False: the key is another, the sealed text was changed or is none. */
bool auth_unseal(const unsigned char key[static AUTH_KEY_BYTES], struct span sealed,
                 struct buf *out);
/* The key that scrypt (RFC 7914) makes with Node's usual cost: 16 MiB, some 50 ms. */
bool auth_scrypt(const char *password, const char *salt,
                 unsigned char ret_key[static AUTH_KEY_BYTES]);

/* ---- tokens (store.c) ---- */

/* Locks the tokens against other processes, until the descriptor is closed; who holds it sets
 * auth->locked.  -1, and also when another holds it for too long: what follows is done without. */
int auth_store_lock(const struct mcp_auth *auth);
/* A new object. */
json_t *auth_store_read(const struct mcp_auth *auth);
/* Keeps it; NULL: forgets it. Takes the lock, unless auth->locked. */
bool auth_store_write(const struct mcp_auth *auth, const json_t *token, struct err *err);
/* The one in Gemini CLI's encrypted file, a new object; NULL: there is none.  Costs an
 * auth_scrypt. */
json_t *auth_store_gemini_sealed(const struct mcp_auth *auth);

#endif
