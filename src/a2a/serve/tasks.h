/* SPDX-License-Identifier: Apache-2.0 */
/* What the files share that keep tasks and have them carried out, lowest first: contexts.c, task.c,
 * store.c, queue.c, publish.c, question.c, local.c, runner.c, operations.c, core.c.  All on the
 * server thread. */
#ifndef HASP_A2A_SERVE_TASKS_H
#define HASP_A2A_SERVE_TASKS_H

#include "a2a/serve/callers.h"
#include "a2a/serve/private.h"
#include "base/buf.h"
#include "base/clock.h"

struct home;
struct a2a_tasks;

enum { A2A_TABLE_SIZE = 4096 }; /* of ids; a power of two */

/* A context: a recorded session. */
struct a2a_context {
	struct a2a_context *next;     /* of the same hash */
	struct a2a_server *server;
	char *id;
	struct a2a_caller *caller;    /* whose it is: a reference; NULL: of no one that there is */
	char *caller_name;
	const char *folder;           /* one of options->folders */
	char *file;                   /* its record; NULL: there is none (yet) */
	json_t *pending;              /* lines that could not be written yet; or NULL */
	struct a2a_local_session *session; /* local.c's; NULL: it is not open */
	struct a2a_remote *remote;    /* runner.c's: an agent elsewhere has it open; or NULL */
};

/* Tasks of one caller that wait. */
struct a2a_turn {
	struct a2a_turn *next;
	struct a2a_caller *caller;    /* a reference */
	struct a2a_task *first, **last;
	size_t running;
};

/* What task.c and queue.c have done by files above them, so that calls go down only; core.c has the
 * only one. */
struct a2a_links {
	bool (*has_room)(const struct a2a_tasks *tasks, size_t bytes);
	void (*write)(struct a2a_task *task, json_t *line);
	json_t *(*read)(const struct a2a_task *task);
	void (*changed)(struct a2a_task *task, enum a2a_task_state before);
	void (*push)(struct a2a_task *task, const json_t *response);
	void (*made)(struct a2a_task *task, const json_t *message);
	void (*restored)(struct a2a_task *task);
	json_t *(*metadata)(const struct a2a_task *task, json_t *metadata);
	void (*freed)(struct a2a_task *task);
	void (*ended)(struct a2a_server *server);
};

struct a2a_tasks {
	struct a2a_server *server;
	const struct a2a_links *links;
	struct a2a_task *first, *end; /* the one that changed last first */
	struct a2a_task *table[A2A_TABLE_SIZE];
	struct a2a_context *contexts[A2A_TABLE_SIZE];
	size_t count, over_count;     /* over: and in memory as a whole */
	uint64_t last_ms;             /* the last moment that something changed at */
	struct home **homes;          /* of options->folders; NULL where there is none */
	size_t home_count;
	struct a2a_turn *turns;       /* the one that is next first */
	size_t waiting, waiting_bytes, running, questions;
	struct a2a_waiting_order *orders; /* operations.c: that wait for a task */
	struct loop_timer *patience;  /* of draining */
	bool is_draining, is_drained; /* of that: everything was interrupted; and has ended */
	bool is_starting;             /* a2a_queue_next is under way, or not to begin yet */
	void *work_data;              /* server->work's */
};

/* ---- task.c ---------------------------------------------------------------------- */

/* A task as its record has it; takes `value`. */
struct a2a_task *a2a_task_restore(struct a2a_server *server, struct a2a_context *context,
                                  json_t *value, uint64_t updated_ms, uint64_t last_number);
void a2a_task_free(struct a2a_task *task);
/* What a line of a record says of the Task: the value after it. */
void a2a_task_replay(json_t *value, const json_t *line);
/* Whether it has a prompt to carry out: not before its first message, and not between two prompts
 * (gemini.h). */
bool a2a_task_has_prompt(const struct a2a_task *task);
/* Whether it waits for its caller. */
bool a2a_task_state_asks(enum a2a_task_state state);
/* "2026-11-30T12:00:00.000Z", and back (also of other clients' forms); false: it is no moment. */
void a2a_moment_print(uint64_t ms, char out[static CLOCK_TIMESTAMP_SIZE]);
bool a2a_moment_parse(const char *text, uint64_t *ret_ms);

/* ---- queue.c: which waits, and who is next --------------------------------------- */

/* SUBMITTED tasks wait here; they begin by a2a_work.say, round robin by caller, each caller's in
 * their order as far as their contexts are free.  Tasks that wait for an answer do not count among
 * those that run. */

/* Whether one more (of so many bytes) may wait. */
bool a2a_queue_has_room(const struct a2a_tasks *tasks, size_t bytes);
void a2a_queue_add(struct a2a_task *task);
/* Something has ended, or waits for an answer: begins what may begin. */
void a2a_queue_next(struct a2a_server *server);
/* After each change of a task's state. */
void a2a_queue_state(struct a2a_task *task, enum a2a_task_state before);
/* Of draining: the work has nothing under way any more. */
void a2a_queue_idle(struct a2a_server *server);
void a2a_queue_release(struct a2a_tasks *tasks);

/* ---- contexts.c ------------------------------------------------------------------ */

/* NULL: there is none. */
struct a2a_context *a2a_context_find(struct a2a_server *server, const char *id);
/* The context of a new message: the one that it names, or a new one; also its workspace.  NULL:
 * *fault. */
struct a2a_context *a2a_context_of(struct a2a_server *server, struct a2a_caller *caller,
                                   const json_t *message, struct a2a_fault *fault);
/* One more, of a folder of options->folders. */
struct a2a_context *a2a_context_add(struct a2a_server *server, const char *id,
                                    const char *folder, const char *caller_name);
void a2a_context_free(struct a2a_context *context);
/* The home of a folder's sessions; NULL: there is none. */
struct home *a2a_context_home(const struct a2a_server *server, const char *folder);

/* ---- store.c: the record of tasks ------------------------------------------------ */

/* The tasks of workspace number `i`, from the records of its sessions. */
void a2a_store_restore(struct a2a_server *server, size_t i);
/* A line about a task: {"hasp": {"a2aTask": line}}; takes it. */
void a2a_store_write(struct a2a_task *task, json_t *line);
/* Writes lines that wait because the session was being opened or closed, is open in another
 * program, or the disk was full. False: some wait still. */
bool a2a_store_flush(struct a2a_context *context, struct err *err);
/* The Task of the record; a new reference. NULL: it is not there any more. */
json_t *a2a_store_read(const struct a2a_task *task);

/* ---- who carries it out: local.c, sessions of this process; runner.c -------------- */

struct a2a_work {
	const char *name;
	/* A message for a task: the first (task->run is NULL), or another (an answer to what it
	 * asked, or steering).  False: *fault, and the task is as it was. */
	bool (*say)(struct a2a_task *task, const json_t *message, struct a2a_fault *fault);
	/* Ends a task that is under way, which becomes CANCELED, soon. */
	void (*cancel)(struct a2a_task *task);
	/* Whether a context has a task, or is being closed: the next one waits. */
	bool (*is_busy)(struct a2a_context *context);
	/* Has the session of a context record a line (borrowed).  False: it is not open. */
	bool (*record)(struct a2a_context *context, const json_t *line);
	/* The server ends: interrupts what is left.  When nothing is under way any more (also at
	 * a later time), a2a_queue_idle is called. */
	void (*end)(struct a2a_server *server);
};
extern const struct a2a_work a2a_local_work;
/* An agent elsewhere: runner.h. */
extern const struct a2a_work a2a_runner_work;

/* ---- operations.c ---------------------------------------------------------------- */

/* Ends all orders that wait for a task: streams end, others get the task as it is. */
void a2a_orders_end(struct a2a_server *server);

/* ---- publish.c: what a session reports, as events of a task ---------------------- */

struct front_event;

/* What is known of a task while it runs. */
struct a2a_publish {
	struct buf answer;            /* the text of the turn under way */
	bool has_answer;              /* the artifact "answer" has something of this turn */
	json_t *edits;                /* [{file_path, base_sha256, sha256}] */
	json_t *bases;                /* {callId: the hash that an edit stands on} */
	struct buf diff;              /* of all edits, one after the other */
	char *refused;                /* the last call that was not allowed, and why; or NULL */
};
/* Nothing is known yet. */
void a2a_publish_init(struct a2a_publish *publish);
/* Frees what it has. */
void a2a_publish_release(struct a2a_publish *publish);
/* An event of the session's (not a question) while the task runs. */
void a2a_publish_event(struct a2a_task *task, struct a2a_publish *publish,
                       const struct front_event *event);
/* The prompt is over: artifacts, the last state. `canceled`: its caller ended it. */
void a2a_publish_end(struct a2a_task *task, struct a2a_publish *publish,
                     const struct front_event *event, bool canceled);

/* ---- question.c: what a session asks, and what its caller answers ---------------- */

/* Topics are those of bus/bus.h. */

/* The message that asks, and the data that goes with it: parts; a new reference. */
json_t *a2a_question_parts(int topic, const json_t *message);
/* Whether it may be a caller's to answer: no passwords. */
bool a2a_question_is_for_callers(int topic, const json_t *message);
/* The state that a question puts the task in. */
enum a2a_task_state a2a_question_state(int topic, const json_t *message);
/* The answer on the bus that a caller's message is; a new reference. NULL: it says no yes and no
 * no, `*ret_why` is a sentence to ask again with; the caller frees it. */
json_t *a2a_question_answer(int topic, const json_t *asked, const json_t *message,
                            char **ret_why);
/* The answer that is no. */
json_t *a2a_question_no(int topic);

/* ---- content.c: messages of callers as prompts ----------------------------------- */

struct a2a_content {
	struct buf said, piped;
	json_t *media;                /* as host_attach has it */
};
/* CONTENT_TYPE: a part that cannot be used, and what to send instead; PARAMS. */
bool a2a_content_read(const json_t *message, struct a2a_content *ret, struct a2a_fault *fault);
void a2a_content_release(struct a2a_content *content);
/* The settings that Gemini CLI's clients send with their first message (metadata.coderAgent):
 * {"kind": "agent-settings", "workspacePath", ...}; borrowed; NULL: there are none. */
const json_t *a2a_content_settings(const json_t *message);

#endif
