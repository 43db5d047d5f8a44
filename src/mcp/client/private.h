/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: a client of one server, its transports, what the settings
 * say of servers and servers of their tools. */
#ifndef HASP_MCP_CLIENT_PRIVATE_H
#define HASP_MCP_CLIENT_PRIVATE_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/sha256.h"
#include "base/span.h"
#include "mcp/auth/auth.h"
#include "mcp/client/servers.h"
#include "worker/local.h"

/* ---- a client ---- */

/* An MCP client: one server, its tools, calls of them.
 *
 *     struct mcp_client *client;
 *     if (!mcp_client_open_stdio(&options, &stdio, &wait, &client, &err)) ...   // has shaken hands
 *     ok = mcp_client_tools(client, &wait, &tools, &err);
 *     ok = mcp_client_call(client, "echo", arguments, &wait, &result, &err);
 *     mcp_client_unref(client);
 *
 * Requests block the thread that makes them; any number of threads may make them at the same time.
 * The server's own requests are answered meanwhile: ping, roots/list; others are refused
 * (-32601).  Protocol versions 2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05.
 *
 * All that comes from the server is hostile: messages are bounded, answers that nobody waits for
 * are dropped, and a server that sends nothing else is given up.  What is handed over (declarations
 * of tools, results) is JSON as the server sent it: declare.c and tools.c make it fit for a model.
 *
 * A client is of no use any more once mcp_client_lost says so; whoever wants another opens one.
 *
 * Errors of all calls: TOOL_FAILED: the server ended, broke the protocol, answered with an error or
 * too late.  NETWORK_ERROR, AUTHENTICATION_FAILED: over HTTP.  CANCELLED.  TOO_LARGE: a message.
 * DENIED_BY_SANDBOX and others of provider->ops->run: it could not be started.
 *
 * Not here: which servers there are, their tools as rows of a tool_set (servers.h).
 */

struct mcp_client;

struct mcp_client_options {
	const char *name;     /* of the server, for sentences; copied */
	const json_t *roots;  /* [{"uri", "name"}]: answers roots/list; or NULL. Kept */
	/* What it writes to its standard error, and logs: lines of anything. From any thread. */
	void (*log)(void *data, struct span line);
	void *data;
};

/* How long a request may take. */
struct mcp_wait {
	unsigned timeout_ms;         /* 0: for ever */
	const _Atomic bool *cancel;  /* becomes true when nobody waits any more; or NULL */
	/* What the server says of a call's progress; may be NULL. On another thread, not after the
	 * request has returned. */
	void (*progress)(void *data, size_t done, size_t total);
	void *data;
};

/* A program that speaks on its standard input and output. */
struct mcp_stdio_options {
	const struct worker_options *workers; /* its confinement; copied */
	const char *const *argv;              /* NULL-terminated */
	const char *folder;                   /* absolute; it begins there. NULL: the first root */
	const struct environment_options *environment; /* of hasp's variables, what it gets */
	const char *const *env;               /* NAME=VALUE, NULL-terminated: beside those */
};

/* Starts it, in a sandbox of its own, and shakes hands. */
bool mcp_client_open_stdio(const struct mcp_client_options *options,
                           const struct mcp_stdio_options *from, const struct mcp_wait *wait,
                           struct mcp_client **ret, struct err *err);

/* A server at an address. */
struct mcp_http_options {
	const char *url;               /* http: or https: */
	const char *const *headers;    /* "Name: value", NULL-terminated; copied */
	struct mcp_auth *auth;         /* logs in; borrowed, and outlives it. NULL: none */
};

/* Shakes hands with it, over streamable HTTP. */
bool mcp_client_open_http(const struct mcp_client_options *options,
                          const struct mcp_http_options *from, const struct mcp_wait *wait,
                          struct mcp_client **ret, struct err *err);

/* One more holder. */
struct mcp_client *mcp_client_ref(struct mcp_client *client);
/* The last one ends the server, or the session with it. NULL is fine. */
void mcp_client_unref(struct mcp_client *client);
/* Asks the server to end; does not wait. For several, before each is let go. */
void mcp_client_end(struct mcp_client *client);

/* All its tools as it declares them: an array of anything, the pages of tools/list together. A new
 * reference. */
bool mcp_client_tools(struct mcp_client *client, const struct mcp_wait *wait, json_t **ret,
                      struct err *err);
/* The result of tools/call: an object of anything. A new reference. */
bool mcp_client_call(struct mcp_client *client, const char *tool, const json_t *arguments,
                     const struct mcp_wait *wait, json_t **ret, struct err *err);

/* Whether it is of no use any more. */
bool mcp_client_lost(struct mcp_client *client);
/* Whether a request failed because the server has forgotten the session, and did nothing: it may be
 * made again with another client. */
bool mcp_client_forgotten(struct mcp_client *client);
/* True once after each notice that the list of tools is another. */
bool mcp_client_tools_changed(struct mcp_client *client);
/* "2025-06-18"; and what initialize answered. Both borrowed. */
const char *mcp_client_version(const struct mcp_client *client);
const json_t *mcp_client_hello(const struct mcp_client *client);

/* What the sandbox refused the server, from the one with the number `from` on: denial_json
 * (tool/tool.h), a new array. *ret_next (may be NULL): the number of the next. */
json_t *mcp_client_denials(struct mcp_client *client, size_t from, size_t *ret_next);

/* ---- transports ---- */

/* To add one: a file with these operations and a function that opens it, which makes the
 * client, and shakes hands. */

struct mcp_ask;

struct mcp_transport_ops {
	/* Sends one message, without an end of line. `ask`: what it asks, NULL: nothing.  One that
	 * answers in the same exchange (HTTP) returns when mcp_client_settled(ask). */
	bool (*send)(void *transport, struct span message, struct mcp_ask *ask,
	             struct err *err);
	/* The version in force is known. May be NULL. */
	void (*agreed)(void *transport, const char *version);
	/* Asks the server to end. */
	void (*end)(void *transport);
	/* Ends it, and frees the transport: no message comes any more. */
	void (*free)(void *transport);
	/* As mcp_client_denials; NULL: there are none. */
	json_t *(*denials)(void *transport, size_t from, size_t *ret_next);
};

/* A client, held once; the transport is freed with it. */
struct mcp_client *mcp_client_new(const struct mcp_client_options *options,
                              const struct mcp_transport_ops *ops, void *transport);
/* Shakes hands. */
bool mcp_client_begin(struct mcp_client *client, const struct mcp_wait *wait, struct err *err);
/* One message arrived. From any thread; it may answer. */
void mcp_client_receive(struct mcp_client *client, struct span message);
/* No message comes any more, and all that is asked fails; the first reason counts. */
void mcp_client_lose(struct mcp_client *client, const struct err *why);
/* The server does not know the session any more. */
void mcp_client_forget(struct mcp_client *client);
/* Whether nobody waits for the answer any more: it is here, or lost, or late, or cancelled. */
bool mcp_client_settled(struct mcp_ask *ask);
/* What is to be written down of it. */
void mcp_client_log(struct mcp_client *client, struct span line);
/* Of the options. Borrowed. */
const char *mcp_client_name(const struct mcp_client *client);

/* ---- servers ---- */

/* What an entry of mcpServers says, checked. */
struct server_entry {
	char *name;
	char *off;               /* a sentence: why it is not used; NULL: it is */
	bool http;
	char **argv;             /* a program; NULL-terminated */
	char **env;              /* NAME=VALUE, NULL-terminated */
	char *folder;            /* absolute; or NULL */
	char *url;               /* HTTP */
	char **headers;          /* "Name: value", NULL-terminated */
	json_t *oauth;           /* of HTTP; or NULL */
	unsigned timeout_ms;
	json_t *include, *exclude; /* names of tools; or NULL */
	bool write_workspace;
	int network;             /* -1: as commands */
	char **write, **read;    /* absolute, NULL-terminated */
	char hash[SHA256_HEX_SIZE]; /* of what makes it another server */
};

/* Reads one. Problems that it can be used in spite of go to `notice`. */
void mcp_entry_read(struct server_entry *entry, const char *name, const json_t *value,
                       const struct mcp_servers_options *options);
void mcp_entry_release(struct server_entry *entry);
/* Whether includeTools and excludeTools leave this declaration. */
bool mcp_entry_offers(const struct server_entry *entry, const json_t *declaration);

struct mcp_server_slot; /* servers.c */

/* Its client, started if need be, for the caller to let go. */
bool mcp_server_client(struct mcp_server_slot *server, const _Atomic bool *cancel,
                   struct mcp_client **ret, struct err *err);
/* A call went well, or its client was lost by it. */
void mcp_server_called(struct mcp_server_slot *server, struct mcp_client *client, bool well);
/* Borrowed. */
const struct server_entry *mcp_server_entry_of(const struct mcp_server_slot *server);

/* What can be used of it, and is asked for: declarations; a new array. */
json_t *mcp_server_tools(struct mcp_server_slot *server);
/* The name under which a model knows its tool. The caller frees. */
char *mcp_server_tool_name(const struct mcp_server_slot *server, const char *tool);
/* That a tool is left out, in a notice. */
void mcp_server_tell(const struct mcp_server_slot *server, const char *tool, const struct err *why);
/* Server `i`; NULL behind the last. */
struct mcp_server_slot *mcp_servers_at(struct mcp_servers *servers, size_t i);

/* ---- declarations ---- */

enum { MCP_SCHEMA_BYTES = 64 << 10 }; /* of one tool, as text */

/* Text of at most `max` bytes, without control characters but line ends and tabs. A new string. */
json_t *mcp_clean_text(const json_t *text, size_t max);
/* What is kept of a tool that a server declared (or the cache says it did): {"name", "title",
 * "description", "inputSchema", "annotations"}, all of it limited and harmless. A new reference;
 * NULL: it cannot be used, *err says why. */
json_t *mcp_declaration_clean(const json_t *declared, struct err *err);
/* mcp_SERVER_TOOL in characters and a length that providers take (mcp_servers_options.plain_names).
 * The caller frees. */
char *mcp_declaration_name(const char *server, const char *tool, bool plain);

/* ---- denials -------------------------------------------------------------------------- */

/* What of a server's settings would allow what was denied (each as denial_json has it), for a
 * sentence: "sandbox": {"network": true, "write": ["/x"]} in mcpServers.NAME; with `network` the
 * network too.  The caller frees; NULL: nothing would. */
char *mcp_denials_remedy(const char *server, const json_t *denials, bool network);

/* ---- results ------------------------------------------------------------------------ */

/* What a model gets for the result of tools/call, an object of anything: {"output": text, or a list
 * of texts and media}; of one that says isError also what tool_failure has.  A new reference. */
json_t *mcp_result(const char *server, const char *tool, const json_t *result);

/* ---- what is known from last time ---- */

/* The declarations under a name and hash: a new reference, what the file says; NULL: none. */
json_t *mcp_cache_read(const char *file, const char *name, const char *hash);
/* Keeps them in place of what there is under that name. */
void mcp_cache_write(const char *file, const char *name, const char *hash, const json_t *tools);

#endif
