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
 *         local.c | runner.c                           who carries it out
 */
#ifndef HASP_A2A_SERVE_PRIVATE_H
#define HASP_A2A_SERVE_PRIVATE_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "a2a/serve/runner.h"
#include "a2a/serve/serve.h"
#include "base/limits.h"
#include "net/http/server.h"
#include "net/loop/loop.h"

struct a2a_gemini;
struct a2a_task;
struct a2a_order;
struct a2a_callers;
struct a2a_order;
struct a2a_push;
struct a2a_tasks; /* tasks.h */
struct a2a_work;  /* tasks.h */
struct a2a_fault;
struct settings;
struct telemetry;

/* ---- the server: serve.c makes it, and fills what is marked; the rest is core's -- */

struct a2a_server {
	const struct a2a_serve_options *options; /* serve.c's */
	struct loop *loop;            /* serve.c's */
	struct pool *pool;            /* serve.c's: for what waits */
	struct a2a_callers *callers;  /* serve.c opens them; NULL in tests */
	struct a2a_push *push;        /* NULL: no notifications */
	struct telemetry *telemetry;  /* metrics of tasks (meter.c); NULL: it is off */
	const struct a2a_work *work;  /* set before a2a_core_open */
	struct a2a_runner_limits runner; /* serve.c's; of a2a_runner_work */
	void *wire;                   /* serve.c's own */
	struct a2a_tasks *tasks;      /* all of them, and which wait */
	size_t streams;               /* that are open; operations.c counts them */
	bool is_ending;               /* no new tasks */
	/* serve.c's; called once, when a2a_core_drain has nothing left to wait for. */
	void (*drained)(struct a2a_server *server);
	/* serve.c's: the card that callers get, a new reference; NULL: there is none. */
	json_t *(*extended_card)(const struct a2a_order *order);
	/* serve.c's: says something to the user who started the server; or NULL. */
	void (*warn)(struct a2a_server *server, const char *sentence);
};

/* What there is from earlier runs: reads the records of the workspaces, and puts tasks that waited
 * into the queue again. On the server thread (or before it runs). */
bool a2a_core_open(struct a2a_server *server, struct err *err);
/* SIGTERM: no new tasks (BUSY); those that run have `wait_ms` to end, then they are interrupted and
 * FAILED; those that wait stay SUBMITTED in the record, for the next server.  Streams end.  Then
 * `drained`. A second call interrupts immediately. */
void a2a_core_drain(struct a2a_server *server, unsigned wait_ms);
/* After `drained`, when no request is left: frees everything of core's. */
void a2a_core_close(struct a2a_server *server);

/* ---- fault.c: what is refused, and how each binding says so ---------------------- */

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
	json_t *fields;          /* [{"field", "description"}] of A2A_FAULT_PARAMS; owned */
};
/* Sets it, printf-like; returns false. */
bool a2a_fault_set(struct a2a_fault *fault, enum a2a_fault_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void a2a_fault_of(struct a2a_fault *fault, const struct err *err); /* of an error inside */

/* ---- callers (callers.h) -------------------------------------------------------- */

/* struct a2a_caller: a name, what it may do.  See callers.h. */
struct a2a_caller;

/* ---- operations.c ---------------------------------------------------------------- */

enum a2a_operation {
	A2A_SEND, A2A_STREAM, A2A_GET_TASK, A2A_LIST_TASKS, A2A_CANCEL_TASK, A2A_SUBSCRIBE,
	A2A_PUSH_CREATE, A2A_PUSH_GET, A2A_PUSH_LIST, A2A_PUSH_DELETE, A2A_EXTENDED_CARD,
	A2A_OPERATION_COUNT,
};
enum a2a_version { A2A_V0_3, A2A_V1_0, A2A_VERSION_COUNT };

/* An operation that is being answered.  The binding makes it, the operation ends it, by exactly one
 * of the functions below, now or later, on the server thread. */
struct a2a_order {
	struct a2a_server *server;
	struct a2a_caller *caller;    /* a reference */
	enum a2a_operation operation;
	enum a2a_version version;
	json_t *params;               /* canonical, its members' types are checked; owned */
	json_t *extensions;           /* URIs that the client asked for; owned; or NULL */
	struct http_request *http;    /* NULL: the client has left, or it came over stdio */
	/* How the binding says it; each frees the order, but for `event`.  Results are canonical,
	 * and taken: the binding turns them into its version's form. */
	void (*answer)(struct a2a_order *order, json_t *result);
	void (*refuse)(struct a2a_order *order, struct a2a_fault *fault); /* releases it */
	/* A stream: begins with the first event; a StreamResponse, a number for resumption. */
	void (*event)(struct a2a_order *order, const json_t *response, uint64_t number);
	void (*end)(struct a2a_order *order);
	bool (*is_slow)(const struct a2a_order *order); /* too much waits for the client */
	/* Set by the operation.  The binding calls `left` once when the client has left before the
	 * end, and then frees the order; `drained` when is_slow is false again (NULL: no need). */
	void (*left)(struct a2a_order *order);
	void (*drained)(struct a2a_order *order);
	void *data;                   /* the operation's */
	void *binding;                /* the binding's */
	bool resumes;                 /* its client had a stream of this task before, whose */
	uint64_t resume_after;        /* last event has this number (Last-Event-ID) */
	char trace[64];               /* the header traceparent; "": none */
};
/* Carries it out. */
void a2a_order_begin(struct a2a_order *order);

/* ---- task.c ---------------------------------------------------------------------- */

enum a2a_task_state { /* in proto's order: 1 SUBMITTED, 2 WORKING ... 8 AUTH_REQUIRED */
	A2A_TASK_SUBMITTED = 1, A2A_TASK_WORKING, A2A_TASK_COMPLETED, A2A_TASK_FAILED,
	A2A_TASK_CANCELED, A2A_TASK_INPUT_REQUIRED, A2A_TASK_REJECTED, A2A_TASK_AUTH_REQUIRED,
};
/* Whether nothing comes after it. */
bool a2a_task_state_is_over(enum a2a_task_state state);

/* Who follows a task: streams, blocking sends. */
struct a2a_follower {
	struct a2a_follower *next;
	/* One event, in order: canonical StreamResponse ({"statusUpdate"} | {"artifactUpdate"} |
	 * {"task"} | {"message"}), borrowed.  It may leave in here (a2a_task_unfollow). */
	void (*event)(struct a2a_follower *follower, const json_t *response, uint64_t number);
};

/* An event that is kept for streams that come again. */
struct a2a_event {
	struct a2a_event *next;
	uint64_t number;
	size_t bytes;
	json_t *response;
};

/* A unit of work: of one caller, in one context. */
struct a2a_task {
	struct a2a_task *next, *previous; /* of all, the one that changed last first */
	struct a2a_task *same_hash;
	struct a2a_server *server;
	char *id, *context;           /* owned */
	struct a2a_caller *caller;    /* whose it is: a reference; the only one who sees it */
	const char *folder;           /* its workspace: one of options->folders */
	enum a2a_task_state state;
	/* The canonical Task as it is now, with all of its history; NULL: only in the record
	 * (a2a_task_value reads it from there). */
	json_t *value;
	uint64_t updated_ms;          /* of the wall clock, never twice the same: lists are in
	                               * its order */
	uint64_t last_number;         /* of its events, from 1 */
	struct a2a_follower *followers;
	struct a2a_event *recent, **recent_end; /* events for those who come again; at most
	                               * LIMIT_A2A_RECENT_BYTES */
	size_t recent_bytes;
	json_t *pushes;               /* {ID: TaskPushNotificationConfig}; NULL: none.  After a
	                               * change: a2a_task_pushes_changed */
	json_t *extensions;           /* URIs that its first order asked for; or NULL */
	char trace[64];               /* that order's; "": none */
	struct a2a_run *run;          /* NULL: not under way (server->work's) */
	bool has_question;            /* queue.c: it counts among those that wait for an answer */
	bool is_resting;              /* it waits for its caller's next prompt (gemini.h) */
	size_t prompt_from;           /* the message that its next prompt begins with */
	struct a2a_gemini *gemini;    /* gemini.h; NULL: it has nothing of that extension */
	struct a2a_task *waits;       /* queue.c: the next of the same caller */
	bool is_waiting, is_counted;  /* queue.c; counted among those that run */
	size_t bytes;                 /* of its value while it waits */
	uint64_t waits_since;         /* clock_monotonic_ms */
	bool is_restored;             /* store.c: while the records are read */
};

/* A new one, SUBMITTED, with the message as its history; recorded. NULL: *fault (BUSY: limits;
 * PARAMS: the context or the workspace cannot be used). */
struct a2a_task *a2a_task_new(struct a2a_server *server, struct a2a_caller *caller,
                              const json_t *message, struct a2a_fault *fault);
/* A caller's task; NULL: there is none that it may see. */
struct a2a_task *a2a_task_find(struct a2a_server *server, const struct a2a_caller *caller,
                               const char *id);
/* Changes its state: an event to all that follow, to push and to the record.  Takes `message`
 * (canonical Message, may be NULL) and `metadata` (of the event; may be NULL).  A task that is over
 * stays. */
void a2a_task_set(struct a2a_task *task, enum a2a_task_state state, json_t *message,
                  json_t *metadata);
/* Adds to an artifact (TaskArtifactUpdateEvent): takes `artifact`. */
void a2a_task_add(struct a2a_task *task, json_t *artifact, bool append, bool last);
/* A message of the caller's joins its history; what was asked goes before it. */
void a2a_task_said(struct a2a_task *task, const json_t *message);
/* Sets a member of the Task's own metadata; takes the value. */
void a2a_task_note(struct a2a_task *task, const char *name, json_t *value);
void a2a_task_pushes_changed(struct a2a_task *task);
void a2a_task_follow(struct a2a_task *task, struct a2a_follower *follower);
void a2a_task_unfollow(struct a2a_task *task, struct a2a_follower *follower);
/* Whether all events after that number are kept. */
bool a2a_task_can_repeat(const struct a2a_task *task, uint64_t after);
/* Calls follower->event with them; it may leave meanwhile. */
void a2a_task_repeat(struct a2a_task *task, uint64_t after, struct a2a_follower *follower);
/* The Task as an answer has it; `history`: how many of its messages, -1 all; a new reference. */
json_t *a2a_task_value(struct a2a_task *task, int history, bool artifacts);
/* A Message of the agent's: {"messageId", "role", "parts": [...], "taskId", "contextId"}; takes
 * `parts`. */
json_t *a2a_task_message(const struct a2a_task *task, json_t *parts);
json_t *a2a_task_message_text(const struct a2a_task *task, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
const char *a2a_task_state_name(enum a2a_task_state state);  /* "TASK_STATE_WORKING" */
/* 0: no such state. */
enum a2a_task_state a2a_task_state_parse(const char *name);

/* ---- meter.c: metrics of tasks (docs/telemetry.md) ------------------------------- */

/* Metrics of the server's run; NULL: they are off. Closed by telemetry_close. */
struct telemetry *a2a_meter_open(struct a2a_server *server, const struct settings *settings);
/* After each change of a task's state; `before` 0: it is new. */
void a2a_meter_state(const struct a2a_task *task, enum a2a_task_state before);
/* It starts to wait; it waits no more; it begins after it has waited. */
void a2a_meter_wait(struct a2a_task *task);
void a2a_meter_wait_over(const struct a2a_task *task);
void a2a_meter_begin(const struct a2a_task *task);

#endif
