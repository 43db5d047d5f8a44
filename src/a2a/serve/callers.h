/* SPDX-License-Identifier: Apache-2.0 */
/* Callers: who may ask the A2A server for something, how they prove who they are, and with which
 * rules their tasks run.
 *
 * The setting hasp.a2a.callers names them (administrator and user only):
 *
 *     "researcher": {
 *       "key": "SHA-256 of an API key"            // header X-API-Key
 *       | "bearer": "SHA-256 of a token"          // header Authorization: Bearer
 *       | "oauth": {"issuer", "audience", "jwks"? (URL), "subject"? | "client"?, "scopes"? [..]}
 *       | "certificate": {"subject"? | "fingerprint"?},
 *       "workspaces"?: [folders, of those named at the start],
 *       "confirms"?: false        // whether questions go to the caller (else to the user's fronts)
 *       "tasks"?: 4               // that run at the same time
 *     }
 *
 * The token of --token-file is the caller "token", as is everyone without a proof with --no-token;
 * a member "token" of the setting may have what a caller may, but no proof.  The rules of a
 * caller's tasks are policy_set_caller's (policy/policy.h, docs/policy.md).
 *
 * Proofs are compared as hashes, all of them each time.  A request with a proof that is wrong is
 * refused, also where none is needed.
 */
#ifndef HASP_A2A_SERVE_CALLERS_H
#define HASP_A2A_SERVE_CALLERS_H

#include <jansson.h>
#include <stdbool.h>

#include "a2a/serve/private.h"

/* Counted; immutable once it is made. */
struct a2a_caller {
	unsigned references;
	char *name;              /* of the setting; "token" */
	bool confirms;           /* questions go to it */
	json_t *workspaces;      /* folders, canonical, or NULL: all that the server names */
	unsigned tasks_at_once;  /* 0: the server's limit alone */
};
/* Another reference to it. */
struct a2a_caller *a2a_caller_ref(struct a2a_caller *caller);
/* NULL is fine. */
void a2a_caller_unref(struct a2a_caller *caller);

struct a2a_callers; /* all of them, with what proves them */

/* Reads the setting (an object or NULL).  `token`: the caller "token" proves itself by it; NULL: it
 * is every client that has no proof. INVALID_ARGUMENT: which member of which caller is wrong. */
bool a2a_callers_open(struct a2a_server *server, const json_t *setting, const char *token,
                      struct a2a_callers **ret, struct err *err);
/* Requests that wait for keys are refused. NULL is fine. */
void a2a_callers_free(struct a2a_callers *callers);
/* The caller of this name, a new reference; NULL: there is none (any more). */
struct a2a_caller *a2a_callers_find(const struct a2a_callers *callers, const char *name);
/* Who sent a request: may have to fetch keys (JWKS), so the answer comes by `found`, now or later,
 * on the server thread: the caller (a reference for the callee), or NULL and what is wrong
 * (UNAUTHENTICATED, or FORBIDDEN for missing scopes, with what the header WWW-Authenticate says
 * (RFC 6750) in `challenge`; BUSY). The request is looked at before this returns, and not later. */
void a2a_callers_identify(struct a2a_callers *callers, struct http_request *request,
                          void (*found)(void *data, struct a2a_caller *caller,
                                        struct a2a_fault *fault, const char *challenge),
                          void *data);
/* The caller of a name; a reference; NULL: the setting has none ("token" is always there). */
struct a2a_caller *a2a_callers_named(struct a2a_callers *callers, const char *name);
/* What the card says of it: sets "securitySchemes" and "securityRequirements" (canonical). */
void a2a_callers_describe(const struct a2a_callers *callers, json_t *card);
#define A2A_RESOURCE_PATH "/.well-known/oauth-protected-resource"
/* The protected resource's metadata (RFC 9728), of this server at `origin`: for A2A_RESOURCE_PATH.
 * A new reference; NULL: no caller has an issuer. */
json_t *a2a_callers_resource(const struct a2a_callers *callers, const char *origin);
/* Where challenges say that these metadata are; copied.  NULL: nowhere. */
void a2a_callers_set_origin(struct a2a_callers *callers, const char *origin);

#endif
