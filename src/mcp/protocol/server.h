/* SPDX-License-Identifier: Apache-2.0 */
/* An MCP server that offers any tools, resources and prompts.
 *
 *     static const struct mcp_tool tools[] = { { .name = "greet", .run = greet, ... } };
 *     struct mcp_offer offer = { .name = "example", .version = "1", .tools = tools, ... };
 *     struct mcp_server *server = mcp_server_new(loop, pool, &offer, &err);
 *     mcp_serve_stdio(server, loop, 0, 1, ended, data, &stdio, &err);   // transport.h
 *     mcp_serve_http(server, loop, &options, &http, &err);              // transport.h
 *     loop_run(loop);
 *     mcp_server_free(server);
 *
 * Protocol versions: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 (with initialize), and
 * 2026-07-28 (each request carries its version), on the same connection if a client does so.  What
 * differs between versions is in one table (version.h); handlers do not see it.
 *
 * A handler is a plain function.  It runs on a thread of the pool (or, if its tool is
 * `quick`, on the loop's thread), may take as long as it likes, and ends by calling
 * exactly one of mcp_call_result, mcp_call_error and their kin.  The answer leaves when the
 * handler returns; one that returned without any is answered with an internal error:
 *
 *     static void greet(struct mcp_call *call, void *data)
 *     {
 *             const char *name = json_string_value(
 *                     json_object_get(mcp_call_arguments(call), "name"));
 *             mcp_call_result(call, mcp_text_result(name));
 *     }
 *
 * Specification: https://modelcontextprotocol.io/specification/
 * Not here: bytes on a wire (peer.h, mcp/transport/transport.h), hasp's own tools (mcp/offer/).
 */
#ifndef HASP_MCP_PROTOCOL_SERVER_H
#define HASP_MCP_PROTOCOL_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/err.h"
#include "net/loop/loop.h"

struct mcp_server;
struct mcp_call;

/* --- What is offered ---------------------------------------------------------------- */

typedef void mcp_handler(struct mcp_call *call, void *data);

struct mcp_tool {
	const char *name;
	const char *title;         /* for people; may be NULL */
	const char *description;
	const char *input_schema;  /* JSON text of an object schema */
	const char *output_schema; /* JSON text, or NULL: results have no structuredContent */
	const char *annotations;   /* JSON text of an object (readOnlyHint, ...), or NULL */
	/* Answers in well under a millisecond and never waits: run on the loop's thread.
	 * There mcp_call_ask cannot wait: it says MCP_ASK_UNSUPPORTED, except to a stateless
	 * client. */
	bool quick;
	mcp_handler *run;
	void *data;                /* handed to `run` */
};

/* A client's conversation, as the offerer sees it: one for a stdio connection or for an
 * HTTP session; one shared by all requests of a stateless client. */
struct mcp_session_info {
	bool stateless;
	struct mcp_server *server;
	struct mcp_peer *peer; /* for mcp_notify_...; NULL when stateless */
};

#define MCP_META_OUTPUT_SCHEMAS "hasp/outputSchemas"

/* Everything a server offers. Borrowed, and unchanged while the server lives. Handlers that
 * are NULL are not offered, nor is the capability declared. `data` goes to all of them. */
struct mcp_offer {
	const char *name, *title, *version, *website; /* implementation; title, website: or NULL */
	const char *instructions;                     /* for the model; or NULL */
	const struct mcp_tool *tools;
	size_t tool_count;
	void *data;

	/* resources/list and resources/templates/list: the handler answers with the method's
	 * result. mcp_call_cursor is the page that is asked for. */
	mcp_handler *list_resources, *list_templates;
	mcp_handler *read_resource; /* mcp_call_uri; the result has "contents" */
	/* Change of a resource is announced with mcp_resource_updated. False with `err` set
	 * when the uri names nothing that can be watched. On the loop's thread. */
	bool (*subscribe)(void *session, const char *uri, struct err *err);
	void (*unsubscribe)(void *session, const char *uri);

	bool no_list_changes;    /* mcp_resources_changed is never called: not declared */

	const char *prompts;     /* JSON text: the array that prompts/list answers; or NULL */
	mcp_handler *get_prompt; /* mcp_call_name, mcp_call_arguments */
	mcp_handler *complete;   /* mcp_call_params: ref, argument, context */

	/* A session begins and ends: on the loop's thread. What begin returns is the session
	 * in all the rest (mcp_call_session). NULL functions: sessions are NULL. `ready` is
	 * called once the client can be asked things (after notifications/initialized). */
	void *(*begin)(void *data, const struct mcp_session_info *info);
	void (*ready)(void *session, struct mcp_peer *peer);
	void (*roots_changed)(void *session, struct mcp_peer *peer);
	void (*end)(void *session); /* after its last call has finished */

	unsigned page_size; /* of tools/list; 0: all on one page */
	/* Output schemas are in tools/list only when its _meta has MCP_META_OUTPUT_SCHEMAS:
	 * true. */
	bool output_schemas_asked;
};

/* The offer and the loop and pool are borrowed and must outlive the server.  NULL: there are no
 * random bytes for its keys. */
struct mcp_server *mcp_server_new(struct loop *loop, struct pool *pool,
                                  const struct mcp_offer *offer, struct err *err);
/* Ends subscriptions, cancels every call, waits for the handlers, ends every session. On the
 * loop's thread, not from within a handler. Peers that are still open fall silent; their
 * transports are asked to hang up, and can be freed before or after. NULL is fine. */
void mcp_server_free(struct mcp_server *server);

/* Notifies subscribers; from any thread. */
void mcp_resource_updated(struct mcp_server *server, const char *uri);
void mcp_resources_changed(struct mcp_server *server); /* .../list_changed */

/* --- A request that is being answered: for handlers, from the thread that runs them ----- */

/* The offer's own of the client that calls; borrowed. */
void *mcp_call_session(const struct mcp_call *call);
const json_t *mcp_call_params(const struct mcp_call *call);    /* borrowed; never NULL */
const json_t *mcp_call_arguments(const struct mcp_call *call); /* object; never NULL */
const char *mcp_call_name(const struct mcp_call *call);        /* of the tool or prompt */
const char *mcp_call_uri(const struct mcp_call *call);
const char *mcp_call_cursor(const struct mcp_call *call);      /* NULL: the first page */

/* Whether the client has cancelled the request, or disconnected.  The handler should then return
 * soon, with any result: nothing is sent. */
bool mcp_call_cancelled(const struct mcp_call *call);
/* The same for those who wait meanwhile; set from another thread. Borrowed. */
const struct cancel *mcp_call_cancel(const struct mcp_call *call);

/* notifications/progress, if the client gave a token; values must grow. `total` 0: unknown;
 * `message` may be NULL. At most one in 50 ms is sent, and always the last. */
void mcp_call_progress(struct mcp_call *call, double progress, double total,
                       const char *message);

enum mcp_level {
	MCP_DEBUG, MCP_INFO, MCP_NOTICE, MCP_WARNING, MCP_ERROR, MCP_CRITICAL, MCP_ALERT,
	MCP_EMERGENCY,
};
/* notifications/message, if the client's level admits it. Takes `data` over. */
void mcp_call_log(struct mcp_call *call, enum mcp_level level, const char *logger, json_t *data);

enum mcp_ask {
	MCP_ASK_ANSWERED,    /* *ret is the client's result; the caller owns it */
	MCP_ASK_PENDING,     /* return now, without a result */
	MCP_ASK_UNSUPPORTED, /* the client does not offer that */
	MCP_ASK_REFUSED,     /* the client answered with an error */
	MCP_ASK_LOST,        /* the call was cancelled, timed out, or the client disconnected */
};
/* Asks the client something while the call goes on: "elicitation/create",
 * "sampling/createMessage" or "roots/list".
 *
 * With a client that has a connection to be asked on, the thread waits for the answer (up to
 * timeout_ms; 0: ten minutes).  With a stateless one the question is noted under `key` and
 * MCP_ASK_PENDING is returned: the handler asks its remaining questions and returns without any
 * result; it is run again, from its beginning, when the client has repeated the request with the
 * answers, and the same `key` then answers.
 *
 * `params` is taken over; NULL: {}. */
enum mcp_ask mcp_call_ask(struct mcp_call *call, const char *key, const char *method,
                          json_t *params, unsigned timeout_ms, json_t **ret);
/* Whether mcp_call_ask would ask: the client answers the method, and this call can wait for it. */
bool mcp_call_can_ask(const struct mcp_call *call, const char *method);
/* Whether the client said that it answers the method, though this call may not be able to wait. */
bool mcp_call_client_answers(const struct mcp_call *call, const char *method);

/* State that a handler keeps until it is run again with answers (requestState):
 * signed, bound to the request, and short-lived; "" at the first run. */
void mcp_call_set_state(struct mcp_call *call, const char *state);
const char *mcp_call_state(const struct mcp_call *call);

/* Ends the event stream this call answers on, so that the client comes back for the rest
 * (SEP-1699); without one: nothing. */
void mcp_call_close_stream(struct mcp_call *call, unsigned retry_ms);

/* Codes of errors beyond JSON-RPC's own (net/rpc/rpc.h). */
enum mcp_code {
	MCP_RESOURCE_NOT_FOUND = -32002, /* sent as -32602 from 2026 on */
	MCP_HEADER_MISMATCH = -32020,
	MCP_MISSING_CAPABILITY = -32021,
	MCP_UNSUPPORTED_VERSION = -32022,
};

/* For the handler of a `quick` tool: it may return without having ended the call.  Each call that
 * is held is resumed once, from any thread that ends before the pool: `run` then goes on
 * with it on a thread of the pool, also if the call was cancelled meanwhile.  So the offer can
 * order calls itself without a thread that waits. */
void mcp_call_hold(struct mcp_call *call);
void mcp_call_resume(struct mcp_call *call, mcp_handler *run, void *data);
/* Whether answers of this call go onto a stream that all calls share: only there do several
 * arrive together.  Others belong to a separate exchange, which its client may leave at any time:
 * work started for it would go on until the worker has answered, and a client that reconnects
 * immediately and reuses the call's id would be refused, because it is under way (some
 * milliseconds; test/mcp/protocol/test_http.py, clients that leave in the middle). */
bool mcp_call_shares_stream(const struct mcp_call *call);
/* Also for the handler of a `quick` tool, which returns then: `run` goes on with the call on the
 * loop's thread, as such a handler, when what has arrived with it has been looked at; also if the
 * call was cancelled meanwhile. */
void mcp_call_later(struct mcp_call *call, mcp_handler *run, void *data);

/* The same, but `run` goes on when mcp_call_arrived was called: once, from any thread that ends
 * before the pool, also before the handler returns. */
void mcp_call_await(struct mcp_call *call, mcp_handler *run, void *data);
void mcp_call_arrived(struct mcp_call *call);

/* The ends of a call; `call` is invalid afterwards. */
void mcp_call_result(struct mcp_call *call, json_t *result); /* takes it over */
/* The same as JSON text on one line, which is copied out as it is; releases `text`. */
void mcp_call_result_text(struct mcp_call *call, struct buf *text);
void mcp_call_result_view(struct mcp_call *call, struct span text); /* it stays the caller's */
/* Takes `data` over; it may be NULL. */
void mcp_call_error(struct mcp_call *call, int code, const char *message, json_t *data);
/* The named resource does not exist (resources/read). */
void mcp_call_not_found(struct mcp_call *call);
/* The call needs a capability that the client did not declare ("sampling"). */
void mcp_call_lacks(struct mcp_call *call, const char *capability);
void mcp_call_pending(struct mcp_call *call); /* after MCP_ASK_PENDING */

/* --- Results ------------------------------------------------------------------------ */

json_t *mcp_text_content(const char *text);   /* {"type": "text", ...} */
json_t *mcp_text_result(const char *text);    /* {"content": [...]} */
json_t *mcp_error_result(const char *message); /* the same with isError */

/* --- Outside of calls ------------------------------------------------------------------ */

/* Asks a client something that belongs to no call (roots/list after `ready`). `answered`
 * gets the result (borrowed) or NULL, on the loop's thread, also when the client has disconnected
 * or has not answered for ten minutes. Takes `params` over; it may be NULL. False when the client
 * does not offer it: then `answered` is not called. On the loop's thread. */
bool mcp_peer_ask(struct mcp_peer *peer, const char *method, json_t *params,
                  void (*answered)(void *data, const json_t *result), void *data);

#endif
