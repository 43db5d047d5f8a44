/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share.  All of it is the server thread's (serve.c), unless said.
 *
 * Everything inside is in A2A 1.0's JSON (specification/a2a.proto, ProtoJSON: "TASK_STATE_WORKING",
 * "ROLE_AGENT", parts with one of text, raw, url, data), here called canonical.  version.c turns
 * 0.3's messages into it at the door, and answers back; nothing else knows 0.3.
 *
 *     route.c  ->  rpc.c | rest.c | gemini.c          a request: which caller, which operation
 *                    |
 *              operations.c                            what the protocol says of each operation
 *                    |
 *         task.c  store.c  queue.c                     what there is; what waits
 *                    |
 *              local.c | runner.c                      who carries it out
 */
#ifndef HASP_A2A_SERVE_PRIVATE_H
#define HASP_A2A_SERVE_PRIVATE_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "a2a/serve/serve.h"
#include "base/limits.h"
#include "net/http/server.h"
#include "net/loop/loop.h"

struct a2a_server;
struct a2a_task;

/* ---- fault.c: what is refused, and how each binding says so ------------------------- */

/* One table: JSON-RPC code, HTTP status, google.rpc status name, ErrorInfo reason, standard
 * sentence (specification 5.4, 9.5, 11.6). */
enum a2a_fault_kind {
	A2A_FAULT_NONE,
	A2A_FAULT_PARSE, A2A_FAULT_REQUEST, A2A_FAULT_METHOD, A2A_FAULT_PARAMS, A2A_FAULT_INTERNAL,
	A2A_FAULT_NO_TASK, A2A_FAULT_NOT_CANCELABLE, A2A_FAULT_NO_PUSH, A2A_FAULT_UNSUPPORTED,
	A2A_FAULT_CONTENT_TYPE, A2A_FAULT_AGENT_RESPONSE, A2A_FAULT_NO_EXTENDED_CARD,
	A2A_FAULT_EXTENSION_REQUIRED, A2A_FAULT_VERSION,
	A2A_FAULT_UNAUTHENTICATED, A2A_FAULT_FORBIDDEN, A2A_FAULT_BUSY, /* 401, 403, 429 */
	A2A_FAULT_COUNT,
};
struct a2a_fault {
	enum a2a_fault_kind kind;
	char sentence[512];      /* valid UTF-8; "": the table's */
	json_t *fields;          /* [{"field", "description"}] of A2A_FAULT_PARAMS; owned; or NULL */
};
/* Sets it, printf-like; returns false. */
bool a2a_fault_set(struct a2a_fault *fault, enum a2a_fault_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void a2a_fault_of(struct a2a_fault *fault, const struct err *err); /* an error of hasp's own */

/* ---- callers (callers.h): who asks -------------------------------------------------- */

/* struct a2a_caller: a name, what it may do.  See callers.h. */
struct a2a_caller;

/* ---- operations.c ------------------------------------------------------------------- */

enum a2a_operation {
	A2A_SEND, A2A_STREAM, A2A_GET_TASK, A2A_LIST_TASKS, A2A_CANCEL_TASK, A2A_SUBSCRIBE,
	A2A_PUSH_CREATE, A2A_PUSH_GET, A2A_PUSH_LIST, A2A_PUSH_DELETE, A2A_EXTENDED_CARD,
	A2A_OPERATION_COUNT,
};
enum a2a_version { A2A_V0_3, A2A_V1_0, A2A_VERSION_COUNT };

/* An operation that is being answered.  The binding makes it, the operation ends it, by exactly one
 * of the functions below, at once or later, on the server thread. */
struct a2a_order {
	struct a2a_server *server;
	struct a2a_caller *caller;    /* a reference */
	enum a2a_operation operation;
	enum a2a_version version;
	json_t *params;               /* canonical, its members' types are checked; owned */
	json_t *extensions;           /* URIs that the client asked for; owned; or NULL */
	struct http_request *http;    /* NULL: the client is gone, or it came over standard input */
	/* How the binding says it; each frees the order, but for `event`. Results are canonical, and
	 * taken: the binding turns them into its version's form. */
	void (*answer)(struct a2a_order *order, json_t *result);
	void (*refuse)(struct a2a_order *order, struct a2a_fault *fault); /* releases it */
	/* A stream: begins with the first event; a StreamResponse, a number for resumption. */
	void (*event)(struct a2a_order *order, const json_t *response, uint64_t number);
	void (*end)(struct a2a_order *order);
	bool (*is_slow)(const struct a2a_order *order); /* too much waits for the client */
	/* Set by the operation: called once when the client is gone before the end; then frees. */
	void (*gone)(struct a2a_order *order);
	void *data;                   /* the operation's */
	uint64_t resume_after;        /* Last-Event-ID; 0: none */
};
/* Carries it out. */
void a2a_order_begin(struct a2a_order *order);

/* ---- task.c ------------------------------------------------------------------------- */

enum a2a_task_state { /* in proto's order: 1 SUBMITTED, 2 WORKING ... 8 AUTH_REQUIRED */
	A2A_TASK_SUBMITTED = 1, A2A_TASK_WORKING, A2A_TASK_COMPLETED, A2A_TASK_FAILED,
	A2A_TASK_CANCELED, A2A_TASK_INPUT_REQUIRED, A2A_TASK_REJECTED, A2A_TASK_AUTH_REQUIRED,
};
bool a2a_task_state_is_over(enum a2a_task_state state);

/* Who follows a task: streams, blocking sends, push configurations, the outer server of a runner. */
struct a2a_follower {
	struct a2a_follower *next;
	/* One event, in order: canonical StreamResponse ({"statusUpdate"} | {"artifactUpdate"} |
	 * {"task"} | {"message"}).  `over`: the task is in a state in which it waits or is done, and
	 * the follower may leave (a2a_task_unfollow is allowed in here). */
	void (*event)(struct a2a_follower *follower, const json_t *response, uint64_t number, bool over);
};

/* A unit of work: of one caller, in one context. */
struct a2a_task {
	struct a2a_task *next;        /* of all, the newest first */
	struct a2a_server *server;
	char *id, *context;           /* owned */
	struct a2a_caller *caller;    /* whose it is: a reference; the only one who sees it */
	enum a2a_task_state state;
	json_t *value;                /* the canonical Task as it is now, with all of its history */
	uint64_t updated_ms;          /* of the wall clock: lists are sorted by it */
	uint64_t last_number;         /* of its events, from 1 */
	struct a2a_follower *followers;
	json_t *recent;               /* [{number, response}]: events for those who come again,
	                               * bounded by LIMIT_A2A_RECENT_BYTES */
	json_t *pushes;               /* {ID: TaskPushNotificationConfig} */
	struct a2a_run *run;          /* NULL: not under way (local.c, runner.c) */
};

/* A new one, SUBMITTED, with the message as its history; recorded. NULL: *fault (BUSY: limits). */
struct a2a_task *a2a_task_new(struct a2a_server *server, struct a2a_caller *caller,
                              const json_t *message, struct a2a_fault *fault);
/* A caller's task; NULL: there is none that it may see. */
struct a2a_task *a2a_task_find(struct a2a_server *server, const struct a2a_caller *caller,
                               const char *id);
/* Changes its state: an event to all that follow, to push and to the record.  Takes `message`
 * (canonical Message, may be NULL) and `metadata` (may be NULL).  A task that is over stays. */
void a2a_task_set(struct a2a_task *task, enum a2a_task_state state, json_t *message,
                  json_t *metadata);
/* Adds to an artifact (TaskArtifactUpdateEvent): takes `artifact`. */
void a2a_task_add(struct a2a_task *task, json_t *artifact, bool append, bool last);
/* A message of the caller's joins its history. */
void a2a_task_said(struct a2a_task *task, const json_t *message);
void a2a_task_follow(struct a2a_task *task, struct a2a_follower *follower);
void a2a_task_unfollow(struct a2a_task *task, struct a2a_follower *follower);
/* The Task as an answer has it; `history`: how many of its messages, -1 all; a new reference. */
json_t *a2a_task_value(const struct a2a_task *task, int history, bool artifacts);
/* A Message of the agent's: {"messageId", "role", "parts": [...], "taskId", "contextId"}. */
json_t *a2a_task_message(const struct a2a_task *task, json_t *parts);

/* ---- who carries it out: local.c (a session of this process), runner.c (elsewhere) ---- */

struct a2a_work {
	const char *name;
	/* A message for a task: the first, or a further one (an answer to what it asked, or steering).
	 * False: *fault, and the task is as it was. */
	bool (*say)(struct a2a_task *task, const json_t *message, struct a2a_fault *fault);
	void (*cancel)(struct a2a_task *task);
	void (*release)(struct a2a_task *task); /* at the server's end, or when it is over */
};

#endif
