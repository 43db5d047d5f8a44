/* SPDX-License-Identifier: Apache-2.0 */
/* An MCP client: one server, its tools, calls of them.
 *
 *     struct mcp_client *client;
 *     if (!mcp_client_open_stdio(&options, &stdio, &wait, &client, &err)) ...   // has shaken hands
 *     ok = mcp_client_list(client, MCP_TOOLS, &wait, &tools, &err);
 *     ok = mcp_client_call(client, "echo", arguments, &wait, &result, &err);
 *     mcp_client_unref(client);
 *
 * Requests block the thread that makes them; any number of threads may make them at the same time.
 * The server's requests are answered meanwhile: ping, roots/list, and those that options.answer
 * handles.  Timeouts are suspended while one of those is being answered: a server that waits for
 * the user is not late.  Protocol versions 2026-07-28 (modern.c), 2025-11-25, 2025-06-18,
 * 2025-03-26 and 2024-11-05.
 *
 * The server is not trusted: messages are bounded, unexpected answers are dropped, and a server
 * that sends nothing else is disconnected.  Declarations of tools and results are returned as the
 * JSON that the server sent: declare.c and tools.c sanitize it for a model.
 *
 * A client is unusable once mcp_client_lost returns true; open a new one then.
 *
 * Errors of all calls: TOOL_FAILED: the server ended, broke the protocol, answered with an error or
 * too late.  NETWORK_ERROR, AUTHENTICATION_FAILED: over HTTP.  CANCELLED.  TOO_LARGE: a message.
 * DENIED_BY_SANDBOX and others of provider->ops->run: it could not be started.
 *
 * Not here: which servers there are, their tools as rows of a tool_set (servers.h).
 */
#ifndef HASP_MCP_CLIENT_CLIENT_H
#define HASP_MCP_CLIENT_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"
#include "base/span.h"
#include "mcp/auth/auth.h"
#include "worker/local.h"

struct mcp_client;

struct mcp_client_options {
	const char *name;     /* of the server, for sentences; copied */
	const json_t *roots;  /* [{"uri", "name"}]: answers roots/list; or NULL. Kept */
	/* What it writes to its standard error, and logs: lines of anything. From any thread. */
	void (*log)(void *data, struct span line);
	/* A message with invalid UTF-8 was repaired (rpc_parse_foreign).  From any thread; may be
	 * NULL. */
	void (*repaired)(void *data);
	/* The least level of what a server that can log (notifications/message) is asked for; NULL:
	 * it is not asked.  Static.  And the params of each such message, which are logged as a
	 * line, too: from any thread, with nothing locked. May be NULL. */
	const char *log_level;
	void (*logged)(void *data, const json_t *params);
	/* A notification that is not MCP's; true: it was expected, and does not count towards
	 * LIMIT_MCP_UNASKED. From any thread, with nothing locked; must not wait. May be NULL. */
	bool (*noticed)(void *data, const char *method, const json_t *params);
	/* Answers a request of the server's other than ping and roots/list: its result, a new
	 * reference; NULL: *err.  On a separate thread (LIMIT_MCP_ANSWERING of them), so it may
	 * wait for the user; `cancel` is set when the server withdraws the request
	 * (notifications/cancelled), when the client ends, and with the request of ours that it
	 * belongs to (mcp_client_answer).  UNKNOWN_TOOL: there is no such method (-32601).
	 * INVALID_ARGUMENT: its params (-32602).  DENIED_BY_USER, DENIED_BY_POLICY: it is refused
	 * (-1).  Others: -32603.  `params` is never NULL, and anything.  NULL answer: there is no
	 * such method at all. */
	json_t *(*answer)(void *data, const char *method, const json_t *params,
	                  const struct cancel *cancel, struct err *err);
	/* Declared in addition to roots: {"elicitation": {...}, ...}; or NULL. Kept. */
	const json_t *capabilities;
	/* sampling/createMessage is offered to it. */
	bool samples;
	void *data;
};

/* How long a request may take. */
struct mcp_wait {
	unsigned timeout_ms;         /* 0: for ever */
	/* Over HTTP: the limit after the response has started; 0: the same as total_ms. This
	 * distinguishes a slow server from one that accepts a request and never answers. */
	unsigned started_ms;
	const struct cancel *cancel; /* set to cancel the request; or NULL */
	/* What the server reports of a call's progress, as call_hooks.reported (tool/tool.h); may
	 * be NULL. On the requesting thread, at most ten times a second, and at the end with the
	 * last report.  Each restarts the timeout, up to LIMIT_MCP_PROLONGED times. */
	void (*progress)(void *data, double done, double total, const char *said);
	int64_t token; /* of its progress (mcp_client_number); 0: the request's own number */
	void *data;
};

/* A program that speaks on its standard input and output. */
struct mcp_stdio_options {
	const struct worker_options *workers; /* its confinement; copied */
	const char *const *argv;              /* NULL-terminated */
	const char *folder;                   /* absolute; it begins there. NULL: the first root */
	const struct environment_options *environment; /* of hasp's variables, what it gets */
	const char *const *env;               /* NAME=VALUE, NULL-terminated: added to those */
};

/* A provider that runs only the programs of servers, each in its sandbox. */
bool mcp_program_provider(const struct worker_options *workers, struct provider **ret,
                          struct err *err);
/* The variables of a command there, and the server's own: the caller frees with
 * environment_free. */
char **mcp_program_environment(struct provider *provider,
                               const struct environment_options *environment,
                               const char *const *own);

/* Starts it in its sandbox and performs the handshake. */
bool mcp_client_open_stdio(const struct mcp_client_options *options,
                           const struct mcp_stdio_options *from, const struct mcp_wait *wait,
                           struct mcp_client **ret, struct err *err);

/* How a server at an address is spoken to. */
enum mcp_http_kind {
	MCP_HTTP_STREAMABLE,
	MCP_HTTP_SSE,    /* the old transport of 2024-11-05, HTTP+SSE */
	MCP_HTTP_EITHER, /* streamable, and if its address takes no messages (4xx), the old one */
};

/* A server at an address. */
struct mcp_address_options {
	enum mcp_http_kind kind;
	const char *url;               /* http: or https: */
	const char *const *headers;    /* "Name: value", NULL-terminated; copied */
	bool helped;                   /* a headersHelper has made them, for this connection */
	bool direct;                   /* this machine's: no proxy is asked */
	struct mcp_auth *auth;         /* logs in; borrowed, and outlives it. NULL: none */
};

/* A command that prints header fields, as Claude Code's headersHelper does (helper.c). */
struct mcp_helper_options {
	const char *server, *url;             /* for sentences, and its environment */
	const char *command;                  /* for a shell */
	const struct worker_options *workers; /* its confinement; copied */
	const struct environment_options *environment; /* as mcp_stdio_options has them */
	const char *const *env;
	const char *const *headers;           /* "Name: value", which it may replace */
	const struct cancel *cancel;          /* or NULL */
};

/* Runs it: *ret has `headers` and what it printed, "Name: value", for worker_texts_free.  Nothing
 * that it prints gets into an error.  TOOL_FAILED: it failed, or printed something else; CANCELLED;
 * errors of provider->ops->run. */
bool mcp_helper_run(const struct mcp_helper_options *from, char ***ret, struct err *err);
/* Whether this can be a header field: a token (RFC 9110), and a value without control characters
 * (modern.c). */
bool mcp_is_field(const char *name, const char *value);
/* Whether one of the fields (NULL: none) has this name. */
bool mcp_headers_have(const char *const *headers, const char *name);

/* Shakes hands with it. */
bool mcp_client_open_http(const struct mcp_client_options *options,
                          const struct mcp_address_options *from, const struct mcp_wait *wait,
                          struct mcp_client **ret, struct err *err);

/* Opens a WebSocket (from->url is ws: or wss:) and shakes hands; a login is made before the
 * connection is tried again, and `kind` says nothing. */
bool mcp_client_open_websocket(const struct mcp_client_options *options,
                               const struct mcp_address_options *from, const struct mcp_wait *wait,
                               struct mcp_client **ret, struct err *err);

/* One more holder. */
struct mcp_client *mcp_client_ref(struct mcp_client *client);
/* The last one ends the server, or the session with it. NULL is fine. */
void mcp_client_unref(struct mcp_client *client);
/* Asks the server to end; does not wait. For several, before each is let go. */
void mcp_client_end(struct mcp_client *client);

/* The lists of a server. */
enum mcp_list { MCP_TOOLS, MCP_PROMPTS, MCP_RESOURCES, MCP_TEMPLATES, MCP_LISTS };

/* How each is requested, and how its changes are reported (listen.c).  To add one, add a row; what
 * is kept of its items is in mcp/declared/offers.c. */
struct mcp_list_row {
	const char *capability;    /* of the server, which it must have for the list */
	const char *method;        /* of the request */
	const char *member;        /* of the result, and of what is kept */
	const char *changed;       /* the notification; lists may share it */
	const char *subscription;  /* the member of subscriptions/listen for it */
	size_t most;               /* items; no more pages are fetched after so many */
};
extern const struct mcp_list_row mcp_lists[MCP_LISTS];

/* Fetches a list, page by page. *ret: an array of anything, a new reference. */
bool mcp_client_list(struct mcp_client *client, enum mcp_list which, const struct mcp_wait *wait,
                     json_t **ret, struct err *err);
/* The result of any other request that is answered with an object, of anything. `params` (or NULL)
 * is borrowed. A new reference. */
bool mcp_client_ask(struct mcp_client *client, const char *method, const json_t *params,
                    const struct mcp_wait *wait, json_t **ret, struct err *err);
/* The result of tools/call: an object of anything. A new reference.  Where the server makes a task
 * of the call (tasks.c), when that has ended. */
bool mcp_client_call(struct mcp_client *client, const char *tool, const json_t *arguments,
                     const struct mcp_wait *wait, json_t **ret, struct err *err);

/* Answers a request that the server put into its answer to one of ours (multi-round-trip requests,
 * 2026-07-28), roots/list too: as options.answer says.  Blocks until then, until it is cancelled,
 * or until `expected` (NULL: nothing) is over.  *ret: a new reference. */
struct mcp_expected;
bool mcp_client_answer(struct mcp_client *client, const char *method, const json_t *params,
                       const struct mcp_wait *wait, const struct mcp_expected *expected,
                       json_t **ret, struct err *err);

/* Whether it is of no use any more. */
bool mcp_client_lost(struct mcp_client *client);
/* Whether a request failed because the server has forgotten the session, and did nothing: it may be
 * made again with another client. */
bool mcp_client_forgotten(struct mcp_client *client);

/* Which lists the server has reported as changed since the last call; bits 1 << enum mcp_list. */
unsigned mcp_client_changed(struct mcp_client *client);
/* Asks the server to report changes of a resource, if it can (listen.c); waits for its answer, and
 * never fails. */
void mcp_client_watch(struct mcp_client *client, const char *uri, const struct mcp_wait *wait);
/* Opens the stream of notices of a server of 2026-07-28 that has any, unless it is open as it
 * should be.  True: it had ended, so what has changed meanwhile is not known. */
bool mcp_client_listen(struct mcp_client *client);
/* The resources that were asked for so and have changed since this was asked last: {URI: true}, a
 * new object. */
json_t *mcp_client_updated(struct mcp_client *client);
/* "2025-06-18"; and what initialize, or server/discover, answered. Both borrowed. */
const char *mcp_client_version(const struct mcp_client *client);
const json_t *mcp_client_hello(const struct mcp_client *client);

/* What the sandbox refused the server, from the one with the number `from` on: denial_json
 * (tool/tool.h), a new array. *ret_next (may be NULL): the number of the next. */
json_t *mcp_client_denials(struct mcp_client *client, size_t from, size_t *ret_next);

/* What of a server's settings would allow what was denied (each as denial_json has it), for a
 * sentence: "sandbox": {"network": true, "write": ["/x"]} in mcpServers.NAME; with `network` the
 * network too.  The caller frees; NULL: nothing would. */
char *mcp_denials_remedy(const char *server, const json_t *denials, bool network);
/* Adds the first of these, and that remedy, to why a program of the server's failed. */
void mcp_denials_explain(const char *server, const json_t *denials, bool network, struct err *err);

/* In the message of TOOL_FAILED, where a server answered with an error: before its code, ": " and
 * its own words. */
#define MCP_ANSWERED_ERROR " answered with error "

#endif
