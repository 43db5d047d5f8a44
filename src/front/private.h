/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: the events of a session, numbered, kept and handed to its
 * fronts (events.c); its thread (runner.c); the fronts (front.c).
 *
 * Locks, in this order: front_runner.attaching, those of the bus, front_hub.lock.  No function of
 * the bus is called with front_runner.lock held: listeners may answer, steer and interrupt. */
#ifndef HASP_FRONT_PRIVATE_H
#define HASP_FRONT_PRIVATE_H

#include <pthread.h>

#include "base/buf.h"
#include "front/front.h"

/* ---- events.c ------------------------------------------------------------------- */

/* One event in the log or in a queue. */
struct front_entry {
	struct front_event event; /* the first member; its message is shared */
	struct buf more;          /* of a piece: the text of those that were joined to it */
	bool is_cut;              /* only the end of that is left */
	size_t size;              /* in the log: bytes that it counts for */
};

/* A question that is open. */
struct front_open {
	struct front_open *next;
	uint64_t number;
	enum bus_topic topic;
	json_t *message;          /* owned */
	json_t *vote;             /* owned: the last that was reported; or NULL */
	uint64_t voted;           /* its number */
};

enum { FRONT_TAKERS_MAX = 64 }; /* fronts with options.takes: a bit each */

struct front_hub {
	pthread_mutex_t lock;     /* recursive: options.takes may publish */
	pthread_cond_t taken;
	struct front *fronts;
	uint64_t last;            /* the last number given */
	struct front_entry *first_kept, *last_kept; /* the log; linked by event.next */
	size_t kept_bytes;
	struct front_open *open;
	json_t *invited;          /* of people who may come and answer: {NAME: as front.person} */
	bool over;                /* nothing is waited for any more */
};

struct front {
	struct front *next;
	struct front_runner *runner;
	struct front_options options;
	char *name;
	json_t *person;           /* owned: {name, groups} of a reviewer; NULL: the owner */
	unsigned promises[3];     /* on the bus; 0: none */
	/* Under the hub's lock. */
	struct front_entry *first, *last; /* linked by event.next */
	size_t waiting;
	uint64_t lost_from;       /* the first number that was not queued; 0: none was */
	uint64_t taken;           /* all events up to this one */
};

/* Without events and fronts; with its locks. */
void front_hub_init(struct front_hub *hub);
/* When no front is attached. */
void front_hub_release(struct front_hub *hub);
/* Numbers the event and gives it to all fronts; takes what it owns. `giver`: of FRONT_DONE's task,
 * or whose `by` it is; NULL: none. Returns its number. */
uint64_t front_hub_add(struct front_hub *hub, struct front_event *event,
                       const struct front *giver);
/* The same for a message of the bus: on the publishing thread. */
void front_hub_hear(struct front_hub *hub, enum bus_topic topic, const json_t *message);
/* As front_runner_fronts. */
json_t *front_hub_list(struct front_hub *hub);
/* Adds a front, which gets what is kept after options.after. False: there are too many. */
bool front_hub_attach(struct front_hub *hub, struct front *front);
/* Removes a front and frees its pending events. */
void front_hub_detach(struct front_hub *hub, struct front *front);
/* As front_take. */
struct front_event *front_hub_take(struct front_hub *hub, struct front *front);
/* Waits until all fronts that use the host, but `giver`, have taken the event. */
void front_hub_await(struct front_hub *hub, uint64_t number, const struct front *giver);
/* Ends all such waits. */
void front_hub_end(struct front_hub *hub);
/* As bus_set_people: the owner, those invited, and reviewers at fronts that may answer. */
json_t *front_hub_people(struct front_hub *hub);
/* Ids of open questions that are voted on, [string]; a new reference. */
json_t *front_hub_voted(struct front_hub *hub);

/* ---- runner.c ------------------------------------------------------------------- */

enum front_order_kind {
	FRONT_ORDER_OPEN,
	FRONT_ORDER_PROMPT,
	FRONT_ORDER_TASK,
	FRONT_ORDER_PAUSE,
};

/* What the thread is to do; texts are owned. */
struct front_order {
	struct front_order *next;
	enum front_order_kind kind;
	char *piped, *prompt;
	size_t piped_len, prompt_len;
	struct front_task *task;
	struct front *giver;      /* NULL: the owner, or a front that has left */
	char *by;                 /* its name; owned */
	bool cancelled;           /* before it started */
};

/* Of a session that is paused: how it goes on. */
struct front_resumed {
	bool is;
	enum approval_mode mode;
	char *model;              /* owned */
	enum model_thinking thinking;
};

struct front_runner {
	struct front_hub hub;
	struct front_session *session;
	struct cancel *session_cancel;
	struct cancel cancel;     /* of tasks */
	pthread_t thread;
	char *resume;             /* to open with; the thread's */
	struct front_resumed resumed; /* likewise */
	unsigned listener;        /* to the bus of the host that is open */
	bool starts_late;         /* front_runner_options */
	pthread_mutex_t attaching; /* of the next, of opening, closing, attaching and detaching */
	struct bus *bus;          /* of the host, while it is open */
	pthread_mutex_t lock;     /* of what follows */
	pthread_cond_t wake, done; /* something was given; something is over */
	struct front_order *first, *last, *current; /* what waits; what is under way */
	size_t waiting;           /* orders of fronts */
	unsigned users;           /* threads in front_use_host */
	char *reason;             /* of closing it in the end; owned */
	bool started, ending, ended;
	_Atomic bool is_open;     /* written with the lock */
	json_t *facts;            /* front_runner_facts; owned */
	bool interrupted;         /* the current one, perhaps before the host knew of it */
};

/* Adds an order, whose texts are taken.  PERMISSION_DENIED: its giver may not; BUSY: the session is
 * being closed; LIMIT_REACHED: LIMIT_FRONT_ORDERS wait. */
bool front_runner_order(struct front_runner *runner, const struct front_order *order,
                        struct err *err);
/* Whether the front has the role (FRONT_...). PERMISSION_DENIED. */
bool front_may(const struct front *front, unsigned role, struct err *err);
/* The host, which stays open until front_release_host; NULL: the session is not open. */
struct host *front_use_host(struct front_runner *runner);
void front_release_host(struct front_runner *runner);
/* Subscribes to each kind of question, which promises an answer; under runner->attaching. */
void front_promise(struct front *front, struct bus *bus);
void front_unpromise(struct front *front, struct bus *bus); /* unsubscribes */

#endif
