/* SPDX-License-Identifier: Apache-2.0 */
/* One request on its way to its answer.
 *
 *     call_new -> admit (private.h) -> call_run or pool_submit -> call_done
 *
 * A call belongs to the loop's thread, except that between pool_submit and the post that
 * follows its handler's return the handler's thread has the fields that are marked so.
 */
#ifndef HASP_MCP_PROTOCOL_CALL_H
#define HASP_MCP_PROTOCOL_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/span.h"
#include "mcp/protocol/peer.h"
#include "mcp/protocol/version.h"
#include "net/loop/loop.h"

/* ---- what is under way, by id ----------------------------------------------------- */

/* What is under way, by the text of its id (or of a URI).  Private to this folder.
 *
 * Entries are embedded in the objects that are looked up.  The hash is keyed, so that a client
 * cannot choose ids that fall on each other.
 *
 *     idmap_add(&map, &call->entry, id);
 *     struct idmap_entry *found = idmap_find(&map, id);
 */

struct idmap_entry {
	struct idmap_entry *next; /* in the same bucket */
	struct span id;           /* borrowed; unchanged while it is in the map */
	uint64_t hash;
};

struct idmap {
	struct idmap_entry **buckets; /* owned */
	size_t bucket_count;          /* a power of two, or 0 */
	size_t count;
	uint64_t key;
};

/* `key` is random. */
void idmap_init(struct idmap *map, uint64_t key);
/* Forgets the entries, which belong to others. */
void idmap_release(struct idmap *map);

/* NULL when no entry has this id. */
struct idmap_entry *idmap_find(const struct idmap *map, struct span id);
/* The id must not be in the map. */
void idmap_add(struct idmap *map, struct idmap_entry *entry, struct span id);
/* The entry must be in the map. */
void idmap_remove(struct idmap *map, struct idmap_entry *entry);

/* Calls `each` with every entry; it may remove that one, and no other. */
void idmap_each(struct idmap *map, void (*each)(struct idmap_entry *entry, void *data), void *data);

/* ---- refusals ---------------------------------------------------------------- */

/* Why a request is answered with an error. */

struct refusal {
	int code;
	json_t *data; /* owned; or NULL */
	char message[512];
};

/* Fills `refusal` and returns false, so that checks can `return refuse(...)`. */
bool mcp_refuse(struct refusal *refusal, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- what waits to be sent --------------------------------------------------- */

/* From the threads of the pool to the loop's thread.
 *
 * Posts run in the order in which they were posted; all that gathered while the loop was busy
 * cost one wake-up.  A server's own queue, so that it can be emptied when the server ends
 * although the loop does not run any more.
 */

struct outbox;

/* Embedded in what is posted; that lives until `run` was called. */
struct post {
	struct post *next; /* the outbox's */
	void (*run)(struct post *post);
};

/* The server owns it until mcp_outbox_close. */
struct outbox *mcp_outbox_new(struct loop *loop);
/* From any thread. */
void mcp_outbox_post(struct outbox *outbox, struct post *post);
/* Runs what was posted, on the loop's thread. */
void mcp_outbox_drain(struct outbox *outbox);
/* Whether nothing is posted; from any thread. */
bool mcp_outbox_empty(struct outbox *outbox);
/* Drains it; there must be no more posts. It is freed once the loop has released it. */
void mcp_outbox_close(struct outbox *outbox);

/* ---- calls ------------------------------------------------------------------- */

struct client_question;
struct message_batch;
struct listen;
struct method;

/* Progress that is reported; the handler's thread has it. */
struct call_progress {
	const json_t *token; /* borrowed from the request; NULL: no progress requested */
	int64_t sent_ms;     /* when the last was sent; 0: never */
	double value;        /* the largest so far */
	bool any;            /* there was one */
	struct buf waiting;  /* the notification that came too soon; empty: none */
};

/* Questions to a stateless client; the handler's thread has it. */
struct call_questions {
	json_t *answers; /* owned: by key, of this round and those before; or NULL */
	json_t *used;    /* owned: those that were asked for; or NULL */
	json_t *asked;   /* owned: by key, what is asked now; or NULL */
	char *state;     /* owned: what the handler remembered; NULL is "" */
};

struct mcp_call {
	struct idmap_entry entry; /* among the peer's calls, while `listed` */
	struct pool_job job;
	struct post post; /* its handler has returned */
	struct mcp_peer *peer;
	struct mcp_exchange *exchange; /* NULL too once it has ended */
	struct message_batch *batch;           /* that the answer is part of; or NULL */
	struct rpc_message message;    /* owned */
	const struct version *version;
	const struct method *method;
	mcp_handler *run; /* what answers, and its data */
	void *data;
	bool *held;       /* while `run` runs on the loop's thread: set by mcp_call_hold */
	mcp_handler *resume; /* what goes on with a call that was held, and its data */
	void *resume_data;
	void *session;
	size_t bytes; /* of the text it came as, as far as that is known */
	bool listed;
	bool on_loop; /* it is answered on the loop's thread */
	struct client_question *ask; /* that the handler waits for; the loop's thread has it */
	struct listen *listen;  /* of subscriptions/listen; owned, and what frees it: */
	void (*unlisten)(struct mcp_call *call);
	struct cancel cancel;   /* set: nothing will be sent */

	/* Parameters, all borrowed from the message. */
	const json_t *params, *arguments; /* objects */
	const json_t *client;             /* capabilities of a stateless client; or NULL */
	const char *name, *uri, *cursor;
	int log_level; /* of a stateless request; -1: no messages */

	/* What the handler's thread has. */
	bool ended;
	int error_code;
	struct buf line; /* the answer */
	struct call_progress progress;
	struct call_questions questions;

	char *long_id; /* owned; of an id that does not fit below */
	char short_id[48];
};

/* Takes the message over. */
struct mcp_call *call_new(struct mcp_peer *peer, struct mcp_exchange *exchange,
                          struct message_batch *batch, struct rpc_message *message);
/* Puts it among the calls of its peer: false when there are too many, or one with its id. */
bool call_list(struct mcp_call *call, struct refusal *refusal);
/* Runs its handler on this thread, or gives it to the pool. */
void call_start(struct mcp_call *call);
/* It will not be answered within this turn of the loop. */
void call_leave_loop(struct mcp_call *call);
/* Ends it: its answer is sent unless it was cancelled, and it is freed. */
void call_done(struct mcp_call *call);
/* Nothing is sent for it any more. Freed when its handler has returned. */
void call_cancel(struct mcp_call *call);

/* Answers of the core itself; call_done has to follow. `refusal` is used up. */
void call_refuse(struct mcp_call *call, struct refusal *refusal);
void call_answer_text(struct mcp_call *call, struct span result);

/* The text of a request's id, which the call keeps. */
static inline struct span call_id(const struct mcp_call *call)
{
	return call->entry.id;
}

#endif
