/* SPDX-License-Identifier: Apache-2.0 */
/* What the providers that start workers share: a provider in front of a worker, a client from
 * the inside. */
#ifndef HASP_WORKER_FRONT_PRIVATE_H
#define HASP_WORKER_FRONT_PRIVATE_H

#include "worker/front/client.h"
#include "worker/provider.h"

/* ---- the provider that answers through a worker, whatever starts it ---- */

/* It keeps one client (client.h), makes a new one when that has failed, and puts its watches
 * there again.  local.c says how a worker is started. */

struct remote_worker;

struct remote_kind {
	const char *name; /* "local", "none", "command" */
	/* Starts a worker, greets it and waits for its welcome: process_start and client_open. */
	bool (*open)(void *data, struct client **ret, struct wire_welcome *ret_welcome,
	             struct err *err);
	/* Runs a command in a separate worker. NULL: in the same one. */
	bool (*run)(void *data, const struct run_request *request, const struct run_events *events,
	            void *events_data, struct run **ret, struct err *err);
	/* The plan of such a command (provider.h). NULL: it is not made here. */
	bool (*plan)(void *data, const struct run_request *request, struct sandbox_plan **ret,
	             struct err *err);
	/* Another provider for what is outside of the roots (provider.h). NULL: there is none. */
	bool (*outside)(void *data, const struct outside_request *request, struct provider **ret,
	               struct err *err);
	/* What holds instead of the first worker's level since a command ran at a weaker one; NULL
	 * before. From any thread; the result lives as long as `data`. May be NULL itself. */
	const struct provider_info *(*weaker)(void *data);
	void (*release)(void *data);
};

struct remote_options {
	const struct remote_kind *kind;
	void *data;              /* owned: kind->release frees it, also after a failure */
	bool later;              /* no worker before it is needed; `roots` and `level` are known */
	const char *const *roots; /* later: copied */
	size_t root_count;
	enum sandbox_level level;
	const char *weaker_because;
	size_t *ret_recovered;   /* or NULL */
};

/* FILE_NOT_FOUND, WORKER_LOST and the like: as kind->open, unless `later`. */
bool remote_provider(const struct remote_options *options, struct provider **ret, struct err *err);

/* ---- changes of files outside of the roots (outside.c) ---- */

/* What was allowed of one change, and the folder of its journal.  Both are in a separate folder in
 * JOURNAL-outside, next to the folder of the workspaces' journals.  No command writes there, and no
 * worker but that of the change, which may write its journal alone.  So a journal is never believed
 * further than what the user allowed. */
struct outside_record;

/* `roots` (canonical, may be none) are those that the change may be about besides
 * request->files.  The caller frees it, after the worker's end. */
bool outside_record_make(const char *journal_folder, const char *const *roots, size_t root_count,
                        const struct outside_request *request, enum durability durability,
                        struct outside_record **ret, struct err *err);
/* Where the worker is to keep its journal; borrowed. */
const char *outside_record_journal(const struct outside_record *record);
/* Before a worker is started, which recovers: sets aside journals that are about anything else. */
void outside_record_check(const struct outside_record *record);
/* Removes it, unless something is left to be recovered: then others may. NULL is fine. */
void outside_record_free(struct outside_record *record);

/* Recovers from the records of processes that have ended: `recover` starts a worker with these
 * roots and this journal, which recovers, and ends it; false when it could not be started.  Costs
 * one openat where there are none. */
void outside_recover(const char *journal_folder,
                    bool (*recover)(void *data, const char *const *roots, size_t count,
                                    const char *journal), void *data);

/* ---- git's configuration (git_config.c) ---- */

/* Writes the protected git configuration at `path`, which a command tries to replace by PATH.lock,
 * if the plan protects it as such, and all differences between the two are harmless
 * (sandbox/plan/git_change.h).  Both are read here; nothing that the worker says is believed.  The
 * new file has the old one's owner and mode and replaces it by a rename, when it is on the disk.
 * False: nothing was changed. */
bool front_write_config(const struct sandbox_plan *plan, const char *path);

/* ---- a client from the inside ---- */

/* A call whose caller has returned: its answer is discarded. */
struct abandoned {
	struct abandoned *next;
	uint64_t id;
};

struct change_mark {
	struct change_mark *next;
	uint64_t id;
	bool changed;
};

struct run_event {
	struct run_event *next;
	enum wire_type type;
	char *fields;            /* owned */
	size_t len;
};

struct client_run {
	struct run run;          /* first: the two are cast into each other */
	struct client_run *next; /* in client->runs */
	struct client *client;   /* owned reference */
	struct run_events events;
	void *data;
	struct client_run_options options;
	uint64_t id;
	int64_t began_ms;        /* of client_now_ms */
	pthread_t thread;
	struct client_waiter waiter;
	/* Under the client's lock. */
	struct run_event *first, **last;
	size_t queued_bytes;
	uint64_t input_bytes;    /* sent, and not taken yet */
	bool killed;
	/* The thread's own. */
	bool started, hidden, main_ended, ended;
	uint64_t taken;          /* bytes of output that the worker does not know to be taken */
};

struct client {
	_Atomic unsigned refs;
	char *name;              /* owned; "The worker" */
	struct process process;
	struct wire wire;
	unsigned patience_ms;
	int wake;                /* owned eventfd that wakes the reading thread; -errno: none could
	                          * be made */

	_Atomic bool greeted;    /* what arrives are messages */

	pthread_mutex_t lock;    /* of what follows */
	bool reading;
	pthread_cond_t settled;  /* no thread reads any more, after it failed */
	bool failed;
	_Atomic bool failed_hint; /* the same, without the lock */
	char why[1024];
	uint64_t last_id;
	struct client_waiter *followers;
	struct pending *pending;
	struct abandoned *abandoned;
	size_t abandoned_count;
	int ready_fd;            /* borrowed epoll descriptor; -1: none */
	bool listed;             /* it has the connection */
	bool armed;              /* and rings for what arrives, once */
	size_t awaited;          /* pending calls whose `ready` was not called */
	struct change_mark *marks;
	struct client_waiter watcher;
	bool disturbed;
	struct client_run *runs;
	bool pumping, stop_pump; /* a thread reads, so that events of runs that take their time
	                          * hold up nobody: since the first run */
	pthread_t pump;
	struct client_waiter pump_waiter;
	bool keeping, stop_keeper; /* a thread gives signs of life */
	pthread_t keeper;
	pthread_cond_t keeper_wake;
	unsigned sign_ms;

	uint64_t seen_bytes;     /* of both directions, when quiet_ms was set */
	int64_t quiet_ms;
	bool pinged;
};

/* Milliseconds of the monotonic clock, which `until_ms` counts in. */
int64_t client_now_ms(void);

/* With the lock held: until `ready` is true, the client has failed, or `until_ms` (-1: never).
 * Reads the connection if no other thread does. */
void client_wait(struct client *client, struct client_waiter *waiter,
                 bool (*ready)(struct client *client, void *data), void *data, int64_t until_ms);

/* Ends it, with the lock held (which is let go meanwhile): "<name> <what happened>". */
void client_fail_locked(struct client *client, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void client_wake_reader(struct client *client);
void client_waiter_init(struct client_waiter *waiter);
void client_waiter_wake(struct client_waiter *waiter); /* with the lock held */

/* Gives the worker signs of life as long as the client lives.  TOO_LARGE: no thread. */
bool client_lease_begin(struct client *client, struct err *err);

/* With the lock held, by a thread that stops waiting: another waiter reads from now on, or
 * ready_fd becomes readable for what arrives. */
void client_leave_reading(struct client *client);

/* A client of a process that has not been greeted; *process is taken over. */
struct client *client_new(struct process *process, const struct client_options *options);
/* Waits without the lock until the connection or `stop_fd` (-1: none) can be read, another thread
 * wakes the reader, or `until_ms` (-1: never); takes in what the process wrote to standard
 * error. */
void client_await_input(struct client *client, int stop_fd, int64_t until_ms);

#endif
