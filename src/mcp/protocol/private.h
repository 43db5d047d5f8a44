/* SPDX-License-Identifier: Apache-2.0 */
/* The server and its peers from the inside. */
#ifndef HASP_MCP_PROTOCOL_PRIVATE_H
#define HASP_MCP_PROTOCOL_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/sha256.h"
#include "base/span.h"
#include "mcp/protocol/call.h"
#include "mcp/protocol/catalog.h"
#include "mcp/protocol/peer.h"
#include "mcp/protocol/server.h"
#include "mcp/protocol/version.h"

/* ---- clients without a session ----------------------------------------------- */

/* What a stateless request says about itself in its _meta.
 *
 * Source: 2026-07-28, basic/index, "_meta", and basic/versioning.
 */

/* ---- parameters -------------------------------------------------------------- */

/* The shape of a method's parameters.
 *
 * A rule names one member; a table of rules ends with a row without a name.  Members that no
 * rule names are the handler's business.
 */

enum param_type { PARAM_STRING, PARAM_OBJECT, PARAM_STRING_OR_INTEGER };

struct param {
	const char *parent; /* the object it is in, by an earlier rule; NULL: params itself */
	const char *name;
	enum param_type type;
	bool required;
	bool nullable; /* null counts as absent */
};

/* ---- methods ----------------------------------------------------------------- */

/* The methods a client can call.
 *
 * One row for each in methods.c.  To add one: its row; where it differs between versions,
 * a column in version.h.
 */

enum method_era { ERA_LEGACY = 1, ERA_STATELESS = 2, ERA_BOTH = 3 };

struct method {
	const char *name;
	enum method_era era;
	bool early;                 /* allowed before initialize */
	bool tool;                  /* its result is that of a tool */
	bool asks;                  /* its answer may be a question (input_required) */
	const char *cache_scope;    /* of a result that may be kept; NULL: it may not */
	const char *named;          /* the parameter that Mcp-Name repeats; or NULL */
	const struct param *params; /* rules; or NULL */
	/* Sets call->run for a handler, or calls call_answer_text, or (a subscription) neither.
	 * False with `refusal` when that is an error. */
	bool (*answer)(struct mcp_call *call, struct refusal *refusal);
};

/* Finds out which version the call is of and what answers it, checks everything that is
 * known about its method and parameters, and starts it. False if it must be refused. */
bool method_start(struct mcp_call *call, struct refusal *refusal);

/* ---- levels of the log ------------------------------------------------------- */

/* Levels of log messages by name (RFC 5424). */

#define LEVEL_NAMES "debug, info, notice, warning, error, critical, alert, emergency"

/* The level of this name; -1: there is none, or `name` is NULL. */
int mcp_level_find(const char *name);

/* ---- signatures -------------------------------------------------------------- */

/* HMAC-SHA-256 (RFC 2104), as 64 digits. */

/* Of any key of exactly 32 bytes. */
void sign_hex(const struct sha256 *key, struct span text, char hex[static SHA256_HEX_SIZE]);
/* Takes the same time wherever the digits differ. */
bool mcp_sign_check(const struct sha256 *key, struct span text, struct span hex);

/* ---- questions --------------------------------------------------------------- */

/* Questions to clients.
 *
 * To a client with a connection a question is a separate request (ask.c); it is answered by id, and
 * the caller waits on its thread.  To a stateless one it is the result of the request, which the
 * client repeats with the answers (ask.c).
 */

/* On the loop's thread: a client's result or error arrived. The message may be taken over. */
void ask_answered(struct mcp_peer *peer, struct rpc_message *message);
/* This one will not be answered; all of a peer's will not. */
void ask_give_up(struct client_question *ask);
void ask_give_up_all(struct mcp_peer *peer);

/* Reads inputResponses and requestState of a stateless request. */
bool ask_questions_open(struct mcp_call *call, struct refusal *refusal);
void ask_questions_release(struct call_questions *questions);
/* {"resultType": "input_required", ...}; new. NULL if the state is longer than
 * LIMIT_REQUEST_STATE_BYTES, which would not be accepted when the client returns it. */
json_t *ask_questions_result(const struct mcp_call *call);

/* ---- batches ----------------------------------------------------------------- */

/* Answers to a JSON-RPC batch, which leave together.
 *
 *     batch = peer_batch_new(peer, exchange);
 *     each request:  peer_batch_expect(batch); ... later peer_answer or peer_batch_forget
 *     peer_batch_forget(batch);   when all requests have been taken
 */

/* Counts one request, the taking of them all, which peer_batch_forget ends. */
struct message_batch *peer_batch_new(struct mcp_peer *peer, struct mcp_exchange *exchange);
/* One more request that will be answered. */
void peer_batch_expect(struct message_batch *batch);
/* The exchange has ended: nothing is sent. */
void peer_batch_abandon(struct message_batch *batch);

/* A request of the batch ends without an answer; after the last one the batch is sent. */
void peer_batch_forget(struct message_batch *batch);

/* ---- watching ---------------------------------------------------------------- */

/* Subscriptions to changes of resources.
 *
 * Clients with a connection subscribe to a URI at a time (resources/subscribe); stateless ones
 * open a stream with a filter (subscriptions/listen), which is a call without an end.
 */

struct watch_subscriber;

/* What one peer, or one stream, watches. */
struct watch_list {
	struct watch_subscriber *first;
	size_t count;
};

/* Twice is once. False when the offer cannot watch that, or there are too many. */
bool watch_subscribe(struct mcp_peer *peer, const char *uri, struct err *err);
void watch_unsubscribe(struct mcp_peer *peer, const char *uri);
void watch_unsubscribe_all(struct mcp_peer *peer);

/* Opens a stream and acknowledges it. The call stays listed until it is cancelled or ended. */
bool watch_listen(struct mcp_call *call, struct refusal *refusal);
/* Ends a stream from this side, and sends its client the end. */
void watch_end(struct mcp_call *call);

/* ---- peers ------------------------------------------------------------------- */

struct mcp_server {
	struct loop *loop;
	struct pool *pool;
	const struct mcp_offer *offer;
	struct outbox *outbox;
	struct catalog *catalog;
	struct sha256 key;      /* random; signs requestState */
	uint64_t map_key;       /* random; of the maps */
	json_t *empty;          /* {} for what is absent */
	struct mcp_peer *peers; /* all that are open */
	struct idmap watches;   /* by URI */
	void *shared;           /* the session of stateless clients */
	bool shared_started;
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t idle;
	size_t running; /* calls that the pool has */
};

struct mcp_peer {
	struct mcp_server *server; /* NULL once it is freed */
	struct mcp_peer *next, **at; /* among the server's */
	struct mcp_wire wire;
	void *wire_data;
	size_t holds;        /* by calls, and by functions that are running */
	bool closed;         /* nothing is sent or received any more */
	bool released;       /* the transport has let go of it */
	bool input_ended;    /* no answers to questions will come */
	struct idmap calls;  /* by id */
	size_t listens;      /* of these, subscriptions */
	size_t bytes;        /* of all its calls */
	size_t arrived;      /* bytes of the text that is being received; 0: unknown */
	struct idmap asks;   /* by id */
	_Atomic int64_t last_ask; /* id of the latest; from any thread */
	struct buf spare;    /* memory for the line of the next call on the loop's thread */

	/* With initialize. */
	const struct version *version; /* NULL before */
	json_t *client;                /* its capabilities */
	void *session;
	bool session_started, ready;
	_Atomic int log_level;
	struct watch_list watches; /* what it subscribed to */
};

/* Sends a message, unless the peer is closed. */
void peer_send(struct mcp_peer *peer, enum mcp_route route, struct mcp_exchange *exchange,
               struct span text, int error_code);
/* Sends an answer, or adds it to its batch. */
void peer_answer(struct mcp_peer *peer, struct mcp_exchange *exchange, struct message_batch *batch,
                 struct span text, int error_code);

/* Keep it, and let go of it: it may be freed then. */
void peer_hold(struct mcp_peer *peer);
void peer_unhold(struct mcp_peer *peer);
/* Ends what needs a client: nothing is sent or received from now on. */
void mcp_peer_shut(struct mcp_peer *peer);
/* Answers subscriptions with their result; gives up questions. */
void mcp_peer_end_waits(struct mcp_peer *peer);

/* Begins the session of a client that has initialized. */
void peer_begin_session(struct mcp_peer *peer);
/* The session of stateless clients; begins it when it is the first. */
void *peer_shared_session(struct mcp_server *server);

/* ---- results ---------------------------------------------------------------------- */

/* Results in the form of each version.
 *
 * A handler's result is one for all versions; here it gains or loses what differs: no
 * structuredContent before 2025-06-18; resultType, serverInfo in _meta, ttlMs and cacheScope
 * from 2026-07-28 on.  What a handler has set itself stays.
 */

/* ---- results ----------------------------------------------------------------- */

struct result_form {
	const struct version *version;
	bool tool;               /* a result of tools/call */
	bool complete;           /* of a kind that says so ("resultType": "complete") */
	const char *cache_scope; /* "public", "private"; NULL: the result is not cacheable */
	struct span server_info; /* JSON text of an object */
};

/* Appends the result, an object as JSON text on one line. False when it is none, or too long. */
bool result_write(struct buf *out, const struct result_form *form, struct span text);

/* ---- members of a text ------------------------------------------------------- */

/* The members of an object that is JSON text.
 *
 *     struct members members = { .rest = text };
 *     while (result_member_next(&members, &key, &value)) ...
 *
 * For text that hasp's own tools wrote: well-formed, or result_member_next says false too early.
 */

struct members {
	struct span rest; /* from the object's brace on, then from the end of the last member */
};

/* The key without its quotation marks, as it was written; the text of the value. */
bool result_member_next(struct members *members, struct span *ret_key, struct span *ret_value);

/* Whether the text ended where the object did (otherwise it is not well-formed). */
bool result_members_ended(const struct members *members);

#endif
