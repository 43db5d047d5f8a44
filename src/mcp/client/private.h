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

#include "base/cancel.h"
#include "base/err.h"
#include "base/sha256.h"
#include "base/span.h"
#include "mcp/auth/auth.h"
#include "mcp/client/servers.h"
#include "tool/tool.h"
#include "worker/local.h"

/* ---- a client ---- */

/* An MCP client: one server, its tools, calls of them.
 *
 *     struct mcp_client *client;
 *     if (!mcp_client_open_stdio(&options, &stdio, &wait, &client, &err)) ...   // has shaken hands
 *     ok = mcp_client_list(client, "tools/list", "tools", most, &wait, &tools, &err);
 *     ok = mcp_client_call(client, "echo", arguments, &wait, &result, &err);
 *     mcp_client_unref(client);
 *
 * Requests block the thread that makes them; any number of threads may make them at the same time.
 * The server's own requests are answered meanwhile: ping, roots/list, and what options.answer
 * has.  While one of those is being answered the time of requests stands still: a server that asks
 * a person is not late.  Protocol versions 2026-07-28 (modern.c), 2025-11-25, 2025-06-18,
 * 2025-03-26 and 2024-11-05.
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
	/* Its encoding had to be repaired (rpc_parse_foreign).  From any thread; may be NULL. */
	void (*repaired)(void *data);
	/* The least level of what a server that can log (notifications/message) is asked for; NULL:
	 * it is not asked.  Static.  And the params of each such message, which are logged as a
	 * line, too: from any thread, with nothing locked. May be NULL. */
	const char *log_level;
	void (*logged)(void *data, const json_t *params);
	/* Answers a request of the server's other than ping and roots/list: its result, a new
	 * reference; NULL: *err.  On a thread of its own (LIMIT_MCP_ANSWERING of them), so it may
	 * wait for people; `cancel` is set when the server withdraws the request
	 * (notifications/cancelled), when the client ends, and with the request of ours that it
	 * belongs to (mcp_client_answer).  UNKNOWN_TOOL: there is no such method (-32601).
	 * INVALID_ARGUMENT: its params (-32602).  DENIED_BY_USER, DENIED_BY_POLICY: it is refused
	 * (-1).  Others: -32603.  `params` is never NULL, and anything.  NULL answer: there is no
	 * such method at all. */
	json_t *(*answer)(void *data, const char *method, const json_t *params,
	                  const struct cancel *cancel, struct err *err);
	/* What it declares beside roots: {"elicitation": {...}, ...}; or NULL. Kept. */
	const json_t *capabilities;
	/* It may have a model answer (sampling/createMessage), and is told so. */
	bool samples;
	void *data;
};

/* How long a request may take. */
struct mcp_wait {
	unsigned timeout_ms;         /* 0: for ever */
	/* Over HTTP: how long at most once the response has begun; 0: no less. A server that is
	 * slow is told so from one that takes a request and never answers it. */
	unsigned begun_ms;
	const _Atomic bool *cancel;  /* becomes true when nobody waits any more; or NULL */
	int cancel_fd;               /* becomes readable then; 0: `cancel` is looked at often */
	/* What the server reports of a call's progress, as call_hooks.reported (tool/tool.h); may
	 * be NULL. On the thread that asks, at most ten times a second and once more at the end:
	 * the last report. Each begins the time-out again, up to LIMIT_MCP_PROLONGED of them. */
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
	const char *const *env;               /* NAME=VALUE, NULL-terminated: beside those */
};

/* A provider that runs a server's programs alone, in a sandbox of their own. */
bool mcp_program_provider(const struct worker_options *workers, struct provider **ret,
                          struct err *err);
/* The variables of a command there, and the server's own: the caller frees with
 * environment_free. */
char **mcp_program_environment(struct provider *provider,
                               const struct environment_options *environment,
                               const char *const *own);

/* Starts it, in a sandbox of its own, and shakes hands. */
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
struct mcp_http_options {
	enum mcp_http_kind kind;
	const char *url;               /* http: or https: */
	const char *const *headers;    /* "Name: value", NULL-terminated; copied */
	bool helped;                   /* a headersHelper has made them, for this connection */
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
	const _Atomic bool *cancel;           /* or NULL */
};

/* Runs it: *ret has `headers` and what it printed, "Name: value", for worker_texts_free.  Nothing
 * that it prints gets into an error.  TOOL_FAILED: it failed, or printed something else; CANCELLED;
 * errors of provider->ops->run. */
bool mcp_helper_run(const struct mcp_helper_options *from, char ***ret, struct err *err);
/* Whether one of the fields (NULL: none) has this name. */
bool mcp_headers_have(const char *const *headers, const char *name);

/* Shakes hands with it. */
bool mcp_client_open_http(const struct mcp_client_options *options,
                          const struct mcp_http_options *from, const struct mcp_wait *wait,
                          struct mcp_client **ret, struct err *err);

/* Opens a WebSocket (from->url is ws: or wss:) and shakes hands; a login is made before the
 * connection is tried again, and `kind` says nothing. */
bool mcp_client_open_websocket(const struct mcp_client_options *options,
                               const struct mcp_http_options *from, const struct mcp_wait *wait,
                               struct mcp_client **ret, struct err *err);

/* One more holder. */
struct mcp_client *mcp_client_ref(struct mcp_client *client);
/* The last one ends the server, or the session with it. NULL is fine. */
void mcp_client_unref(struct mcp_client *client);
/* Asks the server to end; does not wait. For several, before each is let go. */
void mcp_client_end(struct mcp_client *client);

/* All that a list has ("tools/list", "tools"), as the server declares it: an array of anything, its
 * pages together; none is asked for behind `most`. A new reference. */
bool mcp_client_list(struct mcp_client *client, const char *method, const char *member, size_t most,
                     const struct mcp_wait *wait, json_t **ret, struct err *err);
/* The result of any other request that is answered with an object, of anything. `params` (or NULL)
 * is borrowed. A new reference. */
bool mcp_client_ask(struct mcp_client *client, const char *method, const json_t *params,
                    const struct mcp_wait *wait, json_t **ret, struct err *err);
/* The result of tools/call: an object of anything. A new reference.  Where the server makes a task
 * of the call (tasks.c), when that has ended. */
bool mcp_client_call(struct mcp_client *client, const char *tool, const json_t *arguments,
                     const struct mcp_wait *wait, json_t **ret, struct err *err);

/* Answers a request that the server put into its answer to one of ours (multi-round-trip requests,
 * 2026-07-28), roots/list too: as options.answer says.  Blocks until then, or somebody cancels, or
 * `expected` (NULL: nothing) is over.  *ret: a new reference. */
struct mcp_expected;
bool mcp_client_answer(struct mcp_client *client, const char *method, const json_t *params,
                       const struct mcp_wait *wait, const struct mcp_expected *expected,
                       json_t **ret, struct err *err);

/* Whether it is of no use any more. */
bool mcp_client_lost(struct mcp_client *client);
/* Whether a request failed because the server has forgotten the session, and did nothing: it may be
 * made again with another client. */
bool mcp_client_forgotten(struct mcp_client *client);

enum mcp_list_changed {
	MCP_TOOLS_CHANGED = 1,
	MCP_PROMPTS_CHANGED = 2,
	MCP_RESOURCES_CHANGED = 4,
};
/* Which lists the server said are others since this was asked last; bits of the above. */
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

/* ---- transports ---- */

/* To add one: a file with these operations and a function that opens it, which makes the
 * client, and shakes hands. */

struct mcp_ask;

struct mcp_transport_ops {
	/* HTTP: each request is an exchange of its own, with headers that repeat what it asks
	 * (mcp_client_headers), and is cancelled by its end.  A server there is asked for
	 * 2026-07-28 first; elsewhere one that takes initialize is left with what it knows, since
	 * some end when anything else comes first. */
	bool exchanges;
	/* Sends one message, without an end of line. `ask`: what it asks, NULL: nothing.  One that
	 * answers in the same exchange (HTTP) returns when mcp_client_settled(ask). */
	bool (*send)(void *transport, struct span message, struct mcp_ask *ask,
	             struct err *err);
	/* HTTP: sends a request of 2026-07-28 whose answer is a stream that stands until the next
	 * such request, or the end; mcp_client_unheard(number) when it has ended.  `headers` as of
	 * mcp_client_headers, borrowed. False: it could not be sent. NULL: `send` does. */
	bool (*listen)(void *transport, struct span message, int64_t number,
	               const char *const *headers);
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
/* Shakes hands (handshake.c). */
bool mcp_client_begin(struct mcp_client *client, const struct mcp_wait *wait, struct err *err);
/* For that, and before any other request: what hasp declares; whether requests are as in
 * MCP_MODERN; what was agreed on, with the server's answer, which is kept. */
const json_t *mcp_client_capabilities(const struct mcp_client *client);
void mcp_client_try_modern(struct mcp_client *client, bool modern);
void mcp_client_agree(struct mcp_client *client, const char *version, json_t *hello);
/* What is to be logged, of a server that says that it can; NULL: nothing. */
const char *mcp_client_log_level(const struct mcp_client *client);
/* Sends a notification. */
bool mcp_client_notify(struct mcp_client *client, const char *method, const json_t *params,
                       struct err *err);
/* One message arrived, from any thread; it may answer.  An answer that cannot be read fails the
 * request it was for without waiting: the one that it names, or `asked` where the transport answers
 * each request separately (else NULL).  If neither is known, the requests that still wait fail as
 * soon as no more of them wait than such answers came. */
void mcp_client_receive(struct mcp_client *client, struct span message, struct mcp_ask *asked);
/* No message comes any more, and all that is asked fails; the first reason counts. */
void mcp_client_lose(struct mcp_client *client, const struct err *why);
/* The server does not know the session any more. */
void mcp_client_forget(struct mcp_client *client);
/* Between `begins` and not, the time of requests stands still: a person logs in. */
void mcp_client_hold(struct mcp_client *client, bool begins);
/* For how long altogether it did. */
uint64_t mcp_client_held_ms(struct mcp_client *client);
/* Whether nobody waits for the answer any more: it is here, or lost, or late, or cancelled. By the
 * thread that asks, now and then: it hands over reports of progress, too. */
bool mcp_client_settled(struct mcp_ask *ask);
/* The response to it has begun: mcp_wait.begun_ms counts from now. */
void mcp_client_begun(struct mcp_ask *ask);
/* Headers that a request of 2026-07-28 must have, "Name: value", NULL-terminated: instead of a
 * session and an agreed version.  NULL: it is of an older one. Borrowed. */
const char *const *mcp_client_headers(const struct mcp_ask *ask);
/* The stream of transport.listen with this number has ended; `for_good`: the server has none. */
void mcp_client_unheard(struct mcp_client *client, int64_t stream, bool for_good);
/* What is to be written down of it. */
void mcp_client_log(struct mcp_client *client, struct span line);
/* Of the options. Borrowed. */
const char *mcp_client_name(const struct mcp_client *client);

/* ---- 2026-07-28: requests that stand alone (modern.c) ---- */

#define MCP_MODERN "2026-07-28"

/* The _meta of each request. Borrows; `log_level` NULL: nothing is to be logged. A new object. */
json_t *mcp_modern_meta(const json_t *capabilities, const char *log_level);
/* As mcp_client_headers has them. `mirrored`: of the tool that is called, or NULL. The caller frees
 * with worker_texts_free. */
char **mcp_modern_headers(const char *method, const json_t *params, const json_t *mirrored);
/* Which arguments of a tool are repeated in headers (x-mcp-header in its schema): {name of the
 * header: [path of the property]}; a new object, often empty.  False: the annotations are wrong,
 * and the tool must not be used over HTTP. */
bool mcp_modern_mirrored(const json_t *tool, json_t **ret, struct err *err);
/* Whether a result only asks for more (InputRequiredResult).  False with *err: it is of a type that
 * nobody knows. */
bool mcp_modern_result(const json_t *result, const char *server, bool *ret_asks, struct err *err);
/* Whether it is a task in place of a result (CreateTaskResult). */
bool mcp_modern_task(const json_t *result);

/* ---- requests that take several rounds (rounds.c) ---- */

/* The result of a request, after as many rounds as it takes: an answer of 2026-07-28 may ask for
 * more, and one of 2025-11-25 may want the user to open addresses first (-32042). Borrows `params`.
 * *ret: anything, a new reference. */
bool mcp_client_request(struct mcp_client *client, const char *method, const json_t *params,
                        const struct mcp_wait *wait, json_t **ret, struct err *err);
/* Answers what `requests` ({key: {"method", "params"}}) asks, but for what `responses` has, and
 * puts the answers there. */
bool mcp_inputs_answer(struct mcp_client *client, const json_t *requests,
                       const struct mcp_wait *wait, json_t *responses, struct err *err);

/* For these, of a client: one request and its answer. *ret_refusal (may be NULL): the error that it
 * was answered with, a new reference. */
bool mcp_client_exchange(struct mcp_client *client, const char *method, const json_t *params,
                         const struct mcp_wait *wait, json_t **ret, json_t **ret_refusal,
                         struct err *err);
/* Until the time is over, somebody cancels or the server is lost; progress is handed over. */
void mcp_client_pause(struct mcp_client *client, const struct mcp_wait *wait);

/* Addresses that a user has to be done with (notifications/elicitation/complete). */
struct mcp_expected {
	json_t *ids;        /* {ID: true}: those that are not yet; with the client's lock */
	_Atomic bool over;  /* all of them are */
	int bell;           /* owned, while expected; readable then; -1: no descriptor is left */
	struct mcp_expected *next;
};

/* From now on they are looked for; until the other is called. Borrowed. */
void mcp_client_expect(struct mcp_client *client, struct mcp_expected *expected);
void mcp_client_expect_no_more(struct mcp_client *client, struct mcp_expected *expected);

/* What tools/list answered: leaves out tools whose headers would be wrong, and keeps how others are
 * called. */
void mcp_client_declared(struct mcp_client *client, json_t *tools);
/* Whether a tool must be called as a task (2025-11-25; later the server decides at each call). */
bool mcp_client_wants_task(struct mcp_client *client, const char *tool);

/* A server's words, at most `max` bytes, as a part of one line, without what acts on a terminal.
 * The caller frees. */
char *mcp_said_text(const json_t *text, size_t max);

/* ---- what the server asks (answers.c) ---- */

/* The requests of one server that are being answered, and their threads. */
struct mcp_answers;

/* `send` gets each answer, a message, from any thread. The options are copied, but for what they
 * say is kept. */
struct mcp_answers *mcp_answers_new(const struct mcp_client_options *options,
                                    void (*send)(void *data, struct span message), void *data);
/* Cancels all, and answers none from now on. */
void mcp_answers_stop(struct mcp_answers *answers);
/* Of one that was stopped: until options.answer has returned everywhere. */
void mcp_answers_await(struct mcp_answers *answers);
/* Of one that was stopped and awaited. */
void mcp_answers_free(struct mcp_answers *answers);
/* A request arrived. Borrows all. */
void mcp_answers_take(struct mcp_answers *answers, const json_t *id, const char *method,
                      const json_t *params);
/* The server withdrew a request: it is cancelled, and not answered. */
void mcp_answers_withdraw(struct mcp_answers *answers, const json_t *id);
/* mcp_client_answer. */
bool mcp_answers_within(struct mcp_answers *answers, const char *method, const json_t *params,
                        const struct mcp_wait *wait, const struct mcp_expected *expected,
                        json_t **ret, struct err *err);
/* Around a call of a tool: only while there is one the server may have a model answer
 * (LIMIT_MCP_SAMPLINGS_CALL of them), and what is being answered when the last one ends is
 * cancelled and waited for. */
void mcp_answers_call(struct mcp_answers *answers, bool begins);
/* mcp_answers_call of a client. */
void mcp_client_calls(struct mcp_client *client, bool begins);
/* For how long altogether some request was being answered. */
uint64_t mcp_answers_held_ms(struct mcp_answers *answers);
/* mcp_client_hold. */
void mcp_answers_hold(struct mcp_answers *answers, bool begins);

/* ---- what a client wants to be told of (watch.c) ---- */

struct mcp_watch;

/* Wants nothing yet. */
struct mcp_watch *mcp_watch_new(void);
/* Of one that no thread uses any more. */
void mcp_watch_free(struct mcp_watch *watch);
/* Around the opening of a stream: one thread at a time. */
void mcp_watch_hold(struct mcp_watch *watch, bool begins);
/* A resource is to be reported; false: it is already, or there are too many. */
bool mcp_watch_add(struct mcp_watch *watch, const char *uri);
/* Whether a notice (notifications/resources/updated) is about what was asked for. */
bool mcp_watch_updated(struct mcp_watch *watch, const json_t *params);
/* As mcp_client_updated. */
json_t *mcp_watch_take(struct mcp_watch *watch);
/* Whether a stream has to be opened, in place of *ret_before (0: none); `stream` is the one, from
 * now on.  `wanted` (lists; of the params of subscriptions/listen) gets the resources.  *ret_ended:
 * there was one, which has ended. */
bool mcp_watch_open(struct mcp_watch *watch, int64_t stream, json_t *wanted, int64_t *ret_before,
                    bool *ret_ended);
/* The stream has ended; `for_good`: the server has none.  False: it is another one. */
bool mcp_watch_ended(struct mcp_watch *watch, int64_t stream, bool for_good);

/* For that, of a client: its own, borrowed; whether it is of MCP_MODERN; a number for a request;
 * the _meta of one, a new object; whether its transport says `exchanges`. */
struct mcp_watch *mcp_client_watches(struct mcp_client *client);
bool mcp_client_is_modern(const struct mcp_client *client);
int64_t mcp_client_number(struct mcp_client *client);
json_t *mcp_client_meta(const struct mcp_client *client);
bool mcp_client_exchanges(const struct mcp_client *client);
/* Without `headers` by transport.send. */
bool mcp_client_transmit(struct mcp_client *client, struct span message, int64_t number,
                         const char *const *headers);

/* ---- servers ---- */

/* Whether this can be the name of a header: a token (RFC 9110). */
bool mcp_is_token(const char *name);
/* Whether this can be a header field: such a name, and a value without control characters. */
bool mcp_is_field(const char *name, const char *value);

/* Where the old HTTP+SSE transport takes messages: what its `endpoint` event says, resolved against
 * the address of the stream, whose origin it must have. The caller frees; NULL: it has not. */
char *mcp_http_endpoint(const char *url, struct span said);

/* What an entry of mcpServers says, checked. */
struct server_entry {
	json_t *watch;           /* owned; of an extension's program: whether its files hold
	                          * (extension_watch); or NULL */
	char *name;
	char *off;               /* a sentence: why it is not used; NULL: it is */
	bool http;
	enum mcp_http_kind kind; /* of that */
	bool websocket;
	char **argv;             /* a program; NULL-terminated */
	char **env;              /* NAME=VALUE, NULL-terminated */
	char *folder;            /* absolute; or NULL */
	char *url;               /* HTTP, a WebSocket */
	char **headers;          /* "Name: value", NULL-terminated */
	char *helper;            /* a shell command that prints more of them (helper.c); or NULL */
	json_t *oauth;           /* of HTTP; or NULL */
	enum mcp_auth_kind auth; /* the same */
	char *audience, *account; /* of MCP_AUTH_GOOGLE_ACCOUNT */
	unsigned timeout_ms;
	unsigned startup_ms;     /* of its first answers; 0: the usual */
	json_t *include, *exclude; /* names of tools; or NULL */
	bool write_workspace;
	int network;             /* -1: as commands */
	char **write, **read;    /* absolute, NULL-terminated */
	char identity[SHA256_HEX_SIZE]; /* of what makes it another server */
	char hash[SHA256_HEX_SIZE];     /* of that and hasp's version, for the cache */
};

/* Reads one. Problems that it can be used in spite of go to `notice`. */
void mcp_entry_read(struct server_entry *entry, const char *name, const json_t *value,
                       const struct mcp_servers_options *options);
void mcp_entry_release(struct server_entry *entry);
/* Whether includeTools and excludeTools leave this declaration. */
bool mcp_entry_offers(const struct server_entry *entry, const json_t *declaration);

struct mcp_server_slot; /* below */

/* Its client, started if need be, for the caller to let go. */
bool mcp_server_client(struct mcp_server_slot *server, const _Atomic bool *cancel,
                   struct mcp_client **ret, struct err *err);
/* A call went well, or its client was lost by it. */
void mcp_server_called(struct mcp_server_slot *server, struct mcp_client *client, bool well);
/* Borrowed. */
const struct server_entry *mcp_server_entry_of(const struct mcp_server_slot *server);

/* What can be used of it, and is asked for: declarations; a new array. */
json_t *mcp_server_tools(struct mcp_server_slot *server);
/* The name under which a model knows its tool: one that no other tool of the servers' has, of two
 * that would have the same the first keeps it. The caller frees. */
char *mcp_server_tool_name(const struct mcp_server_slot *server, const char *tool);
/* The same with the servers' lock. */
char *mcp_slot_tool_name(const struct mcp_server_slot *slot, const char *tool);
/* What it offers besides (mcp_offers_clean); a new reference, {} when nothing is known. */
json_t *mcp_server_offers(struct mcp_server_slot *server);
/* Whether the server, or what it declares of the tool, has changed since a call of it was last
 * allowed; one that never was is not changed.  `declaration`: what it was known by, for one that
 * the server has no more.  *ret as struct tool has it. */
bool mcp_server_tool_changed(struct mcp_server_slot *server, const json_t *declaration,
                             struct tool_change *ret);
/* It was allowed as *change has it. */
void mcp_server_tool_allowed(struct mcp_server_slot *server, const json_t *declaration,
                             const struct tool_change *change);
/* That a tool is left out, in a notice. */
void mcp_server_tell(const struct mcp_server_slot *server, const char *tool, const struct err *why);
/* Asks its client to report changes of a resource, and each client that takes that one's place. */
void mcp_server_watch(struct mcp_server_slot *server, struct mcp_client *client, const char *uri,
                      const struct mcp_wait *wait);
/* What has changed of that, as mcp_client_updated has it. */
json_t *mcp_server_updated(struct mcp_server_slot *server);
/* Whether it is used: not switched off, nor of settings that were read again since. */
bool mcp_server_is_used(struct mcp_server_slot *server);
/* Server `i`; NULL behind the last. */
struct mcp_server_slot *mcp_servers_at(struct mcp_servers *servers, size_t i);

/* ---- the servers of a session: servers.c and user.c alone ---- */

struct mcp_server_slot {
	struct mcp_servers *all;
	struct server_entry entry;
	json_t *row;                /* of servers_configured */
	bool users;                 /* the user alone wrote its entry (servers_row_is_users) */
	struct mcp_auth *auth;      /* NULL: it is no address, or has a token in its headers */
	pthread_t thread;
	_Atomic bool stopping;      /* its thread gives up */
	_Atomic bool names_checked; /* includeTools, excludeTools were compared with its tools */
	_Atomic bool repaired;      /* it was said that its encoding is */
	/* With the servers' lock, as entry.off is. */
	bool has_thread;
	bool disabled;              /* by the user (servers_disabled) */
	bool paused;                /* the same for this session alone */
	char *ruled_out;            /* why else it is not used; owned; NULL: it may be */
	bool asks;                  /* the only reason: it is a project's, and not allowed */
	struct mcp_client *client;  /* NULL: none */
	bool starting, missed;      /* `missed`: it was said that it is slow */
	json_t *tools;              /* declarations; NULL: not known */
	json_t *offers;             /* mcp_offers_clean; NULL: not known */
	json_t *watched;            /* {URI: true}: each of its clients is to report these */
	json_t *updated;            /* the same: what a client that is gone has reported */
	struct mcp_log *log;        /* of all its clients; has a lock of its own */
	bool undecided;             /* a project's, and the user was not asked yet */
	bool asked;                 /* these are what it said, not what it once said */
	char *problem;              /* of the last start; NULL: none */
	enum err_code problem_code;
	unsigned failures;          /* in a row */
	uint64_t not_before_ms;     /* when it may be started again */
};

/* Those of one reading of the settings. */
struct slots {
	struct mcp_server_slot *at;
	size_t count;
};

struct mcp_servers {
	struct mcp_servers_options options;
	struct worker_options workers;
	json_t *roots;
	char *cache;                /* a file; NULL: none */
	char *approvals_file;       /* the same */
	json_t *approvals;          /* with the lock */
	struct mcp_server_slot *slots; /* with the lock, but for who changes them */
	size_t count;
	struct slots *retired;      /* those before them: tools point to them */
	size_t retired_count, retired_cap;
	json_t *paused;             /* names; who changes servers does so one at a time */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_mutex_t cache_lock;
};


/* What a server says that it has: declarations of tools that can be used, and mcp_offers_ask's. */
struct mcp_slot_said {
	json_t *tools, *offers;
};

/* Starts it, shakes hands and asks what it has, of `watched` resources ({uri: true}) too; both
 * results are new.  Without the lock (start.c).  Errors as of a client, and of headersHelper. */
bool mcp_slot_start(struct mcp_server_slot *slot, json_t *watched, const _Atomic bool *cancel,
                    struct mcp_client **ret, struct mcp_slot_said *ret_said, struct err *err);
/* Of what the server, or the cache (`known`), declares: what can be used; the first that cannot are
 * warnings. A new reference (start.c). */
json_t *mcp_slot_clean(struct mcp_server_slot *slot, const json_t *declared, bool known);

/* Why it is not used, of all that there is; with the lock, once others know the slot. */
void mcp_slot_settle_off(struct mcp_server_slot *slot);
/* With the lock. DENIED_BY_POLICY: it is off, and why. */
bool mcp_slot_is_used(const struct mcp_server_slot *slot, struct err *err);
/* Once it may be used: makes ready for logins, where it is one that hasp logs in at. */
void mcp_slot_open_auth(struct mcp_server_slot *slot);
/* Then: takes what is known from last time, or starts it on a thread of its own. */
void mcp_slot_open_known(struct mcp_server_slot *slot);
/* Ends these, which are off or will not be asked for any more; what they said is forgotten. */
void mcp_slots_stop(struct mcp_servers *servers, struct mcp_server_slot *slots, size_t count);
/* Begins with the servers of a reading of the settings, while nobody else uses servers but to look
 * at them. */
void mcp_servers_begin(struct mcp_servers *servers);

/* ---- declarations ---- */

enum { MCP_SCHEMA_BYTES = 64 << 10 }; /* of one tool, as text */

/* Text of at most `max` bytes, without control characters but line ends and tabs. A new string. */
json_t *mcp_clean_text(const json_t *text, size_t max);
/* What is kept of a tool that a server declared: {"name", "title", "description", "inputSchema"
 * (JSON as text, since most schemas are never looked at), "annotations"}, all of it limited and
 * harmless. A new reference; NULL: it cannot be used, *err says why.  Changes the schema of
 * `declared`, where it is not clean. */
json_t *mcp_declaration_clean(const json_t *declared, struct err *err);
/* The same of what the cache says was kept, which is believed no more than a server: `kept` itself
 * where there is nothing to be cleaned, which costs one look at each byte. */
json_t *mcp_declaration_recall(json_t *kept, struct err *err);
/* The schema of one of these, read. A new reference, never NULL. */
json_t *mcp_declaration_schema(const json_t *declaration);
/* mcp_SERVER_TOOL in characters and a length that providers take (mcp_servers_options.plain_names):
 * a longer one has a hash in its middle.  The caller frees. */
char *mcp_declaration_name(const char *server, const char *tool, bool plain);
/* With that hash although it would fit: another tool has the name. The caller frees. */
char *mcp_declaration_other_name(const char *server, const char *tool, bool plain);

/* ---- denials -------------------------------------------------------------------------- */

/* What of a server's settings would allow what was denied (each as denial_json has it), for a
 * sentence: "sandbox": {"network": true, "write": ["/x"]} in mcpServers.NAME; with `network` the
 * network too.  The caller frees; NULL: nothing would. */
char *mcp_denials_remedy(const char *server, const json_t *denials, bool network);
/* Adds the first of these, and that remedy, to why a program of the server's failed. */
void mcp_denials_explain(const char *server, const json_t *denials, bool network, struct err *err);

/* ---- results ------------------------------------------------------------------------ */

/* What a model gets for the result of tools/call, an object of anything: {"output": text, or a list
 * of texts and media}; "structured", the JSON of structuredContent, if the texts do not have it;
 * of one that says isError also what tool_failure has.  A new reference. */
json_t *mcp_result(const char *server, const char *tool, const json_t *result);
/* The same of the result of resources/read. */
json_t *mcp_resource_result(const char *server, const json_t *result);
/* What bytes in base64 are, by how they begin: a MIME type; NULL: nothing that is sent to a model
 * as what it is. */
const char *mcp_media_mime(struct span data);

/* The tools list_mcp_resources and read_mcp_resource, for a set to have (resources.c). */
size_t mcp_resource_tools_add(struct mcp_servers *servers, struct tool_set *set);

/* ---- what a server logs (log.c) ---- */

struct mcp_log;

/* Of one server, empty. */
struct mcp_log *mcp_log_new(void);
void mcp_log_free(struct mcp_log *log); /* NULL is fine */
/* Keeps a message (the params of notifications/message), unless it is below `least`. A sentence for
 * people about one that is an error and new, which the caller frees; NULL: nothing is to be said.
 * From any thread. */
char *mcp_log_add(struct mcp_log *log, const char *server, const char *least,
                  const json_t *params);
/* The last 50: an array of {"level", "text", "logger"?}, each one line; a new reference. */
json_t *mcp_log_kept(struct mcp_log *log);

/* ---- what is known from last time ---- */

/* The whole file, read once for all servers: an object, empty if it cannot be read; new. */
json_t *mcp_cache_load(const char *file);
/* What it has (NULL: nothing) under a name and hash: {"tools", "offers"}, what the file says.
 * Borrowed; NULL: nothing. */
json_t *mcp_cache_find(const json_t *all, const char *name, const char *hash);
/* Keeps these in place of what there is under that name. */
void mcp_cache_write(const char *file, const char *name, const char *hash, const json_t *tools,
                     const json_t *offers);

/* ---- how tools were declared when they were allowed (approvals.c) -------------------- */

/* Whose tool it is; borrowed. */
struct mcp_approval_server {
	const char *identity; /* of its server_entry */
	const json_t *what;   /* its program, or its address without what may be a secret */
	bool users;           /* servers_row_is_users */
};

/* What is kept of a declaration that was allowed, and of the server that makes it: hashes of its
 * parts, and a text. A new reference. */
json_t *mcp_approval_of(const struct mcp_approval_server *server, const json_t *declaration);
/* Whether a declaration that was allowed is the same now. */
bool mcp_approval_eq(const json_t *before, const json_t *now);
/* Whether that is written down already: of the same server, too. */
bool mcp_approval_is_kept(const json_t *before, const json_t *now);
/* What differs between two that are not. */
void mcp_approval_compare(const json_t *before, const json_t *now, struct tool_change *ret);

/* All that a file has, by server and tool; NULL or one that cannot be read: {}. A new reference. */
json_t *mcp_approvals_read(const char *file);
/* Borrowed; NULL: no call of it was allowed yet. */
const json_t *mcp_approvals_get(const json_t *all, const char *server, const char *tool);
/* Adds one to `all`, and to the file (or NULL) as it is now.  The caller lets no other thread do
 * so meanwhile. */
void mcp_approvals_set(json_t *all, const char *file, const char *server, const char *tool,
                       json_t *approval);

/* ---- what servers offer besides tools (offers.c) ------------------------------------ */

/* What of it is kept: limited and harmless; also what the cache says of it.
 *
 *     { "instructions": TEXT, "instructionsBytes": how many it had, if it was cut,
 *       "prompts": [{"name", "title", "description", "arguments": [{"name", "description",
 *                    "required"}]}],
 *       "resources": [{"uri", "name", "title", "description", "mimeType"}],
 *       "resourceTemplates": [{"uriTemplate", and the same}] }
 *
 * What there is none of is left out. A new reference. */
json_t *mcp_offers_clean(const json_t *declared);
/* Asks for all that the server says it has; what cannot be had is left out. A new reference, as of
 * mcp_offers_clean. */
json_t *mcp_offers_ask(struct mcp_client *client, const struct mcp_wait *wait);
/* Whether the server says that it has this: "tools", "prompts", ... */
bool mcp_offers_has(struct mcp_client *client, const char *capability);

#endif
