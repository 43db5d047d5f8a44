/* SPDX-License-Identifier: Apache-2.0 */
/* OAuth 2.1 for MCP servers over HTTP (MCP, basic/authorization, 2025-11-25 and 2026-07-28).
 *
 *     struct mcp_auth *auth = mcp_auth_new(&options);
 *     char *field = mcp_auth_field(auth, &wait);        // "Authorization: Bearer ...", or NULL
 *     ...                                               // 401 or 403 came back:
 *     again = mcp_auth_challenged(auth, status, www_authenticate, field, &wait, &err);
 *     mcp_auth_free(auth);
 *
 * Finds the authorization server (RFC 9728, RFC 8414, OpenID discovery), registers (pre-registered,
 * client-id metadata document, RFC 7591), logs in with PKCE in a browser, and refreshes tokens.
 * Every address comes from strangers: only https, or http to loopback when the server itself is
 * there; no redirect is followed; private addresses are refused unless the server's own host or the
 * settings name them.  Tokens are bound to the server's address, and to the issuer.  Or it fetches
 * tokens of Google's with the user's own credentials (enum mcp_auth_kind).
 *
 * Safe from any thread.  No token or secret gets into an error.
 */
#ifndef HASP_MCP_AUTH_AUTH_H
#define HASP_MCP_AUTH_AUTH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"
#include "base/notices.h"
#include "base/span.h"

struct mcp_auth;

/* A login that is asked for. */
struct mcp_login {
	const char *server;          /* its name */
	bool is_agent;               /* as mcp_auth_options has it */
	const char *url;             /* of the login page, which hasp has made and checked */
	const char *problem;         /* why what was pasted before is of no use; or NULL */
	const struct cancel *cancel; /* set when the browser has returned, or the caller's request
	                              * was cancelled */
};

/* How hasp logs in at a server. */
enum mcp_auth_kind {
	MCP_AUTH_OAUTH,
	MCP_AUTH_GOOGLE,         /* by the application default credentials (google.c) */
	MCP_AUTH_GOOGLE_ACCOUNT, /* as a service account that these may act for */
};

struct mcp_auth_options {
	const char *name, *url;  /* of the server; copied */
	bool is_agent;           /* it is no MCP server but a remote agent, whose file has the
	                          * settings (a2a/a2a.h) */
	enum mcp_auth_kind kind;
	const char *audience, *account; /* of MCP_AUTH_GOOGLE_ACCOUNT; copied */
	const char *home;        /* what ~ is; copied. NULL: not known */
	const json_t *settings;  /* mcpServers.NAME.oauth, or NULL. Kept */
	const char *folder;      /* ~/.gemini: tokens without a key store; NULL: memory */
	/* Has the user log in; called on a separate thread.  *ret_pasted: the address that the
	 * login page redirected to, if the user pasted it; left NULL if the browser returns by
	 * itself.  False: *err; DENIED_BY_USER: not in this session.  NULL: no login is possible in
	 * this session, and the error says how to log in. */
	bool (*login)(void *data, const struct mcp_login *login, char **ret_pasted,
	              struct err *err);
	/* For people: that a login could not be kept. From the thread that asks. */
	struct notices notices;
	void *data;
};

/* Never NULL. */
struct mcp_auth *mcp_auth_new(const struct mcp_auth_options *options);
void mcp_auth_free(struct mcp_auth *auth); /* NULL is fine */

/* How long a caller waits. */
struct auth_wait {
	const struct cancel *cancels[3]; /* until one of these is set; any may be NULL */
	uint64_t until_ms;               /* at most, by clock_monotonic_ms; 0: no limit */
};

/* The field to send, refreshed if it has expired; NULL: no token.  Waits for a login that another
 * thread makes as long as `wait` says (then NULL).  The caller frees. */
char *mcp_auth_field(struct mcp_auth *auth, const struct auth_wait *wait);
/* The server answered `status` 401 or 403 to a request with the field `sent` (NULL: none), and with
 * this WWW-Authenticate.  True: the request may be sent again.  AUTHENTICATION_FAILED,
 * NETWORK_ERROR, CANCELLED. */
bool mcp_auth_challenged(struct mcp_auth *auth, int status, struct span www_authenticate,
                         const char *sent, const struct auth_wait *wait, struct err *err);
/* Between the two the user is not asked to log in: the server was started in the background. */
void mcp_auth_suspend_logins(struct mcp_auth *auth);
void mcp_auth_resume_logins(struct mcp_auth *auth);
/* Asks again although the user refused an earlier login (DENIED_BY_USER). */
void mcp_auth_forget_refusal(struct mcp_auth *auth);
/* Whether a login is needed that only the user can make. */
bool mcp_auth_requires_login(const struct mcp_auth *auth);
/* Opens an address in $BROWSER, or with xdg-open. False: there is none.  Only after a yes. */
bool mcp_browser_open(const char *url);
/* Forgets the tokens and the registration. */
bool mcp_auth_logout(struct mcp_auth *auth, struct err *err);

#endif
