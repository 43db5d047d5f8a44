/* SPDX-License-Identifier: Apache-2.0 */
/* Fronts: what shows a session and answers its questions.  A session has one thread, on which it is
 * opened and does one thing after the other; any number of fronts may be attached to it, on any
 * threads of theirs.
 *
 *     struct front_runner *runner;
 *     struct front *front;
 *
 *     if (!front_runner_new(&(struct front_runner_options){ .session = session,
 *                                                          .cancel = &cancel }, &runner, &err))
 *             ...
 *     front = front_attach(runner, &(struct front_options){ .name = "terminal",
 *             .roles = FRONT_ALL, .wake = poke_my_loop, .data = ui });
 *     front_runner_begin(runner);              // opens the session: FRONT_OPENED or FRONT_CLOSED
 *
 *     // whenever it was woken, on the front's own thread
 *     for (event = front_take(front); event; event = next) {
 *             next = event->next;
 *             show(event);                     // a question: later front_answer(...)
 *             front_event_free(event);
 *     }
 *
 *     front_prompt(front, SPAN(""), SPAN("fix the build"));
 *     ...
 *     front_runner_end(runner, "exit");        // closes the session and ends the thread
 *     front_detach(front);
 *     front_runner_free(runner);
 *
 * Events.  Everything that the session publishes (bus/bus.h), the notices of opening it, and what
 * its thread does are events, numbered from 1 without gaps from the runner's beginning.  Each front
 * gets all of them in that order, a front that attaches late from the first one on that it asks
 * for.  The last LIMIT_FRONT_LOG_BYTES are kept for that; older ones are one FRONT_MISSED event,
 * and such a front reads the record of the session in a task.  Questions that are open
 * come in any case.  A front that does not take its events in time loses some of them
 * the same way.  Pieces of text that follow each other may come as one event with several numbers.
 *
 * Questions go to all fronts with FRONT_APPROVE.  The first answer counts, unless a rule asks for
 * the approval of several people (docs/policy.md): then each person has one vote, from whichever of
 * their fronts, "question-vote" reports each, and the question stays open until it is decided.  The
 * session's response (tool-confirmation-response ...) and then "question-answered", which names the
 * front, or the reviewers, reach all.
 * A question whose asker has stopped is "question-answered" as
 * "withdrawn".  With no front left that may answer, the answer is no.
 *
 * Orders (prompts, steering, tasks, interrupting, the mode) may come from any front with
 * FRONT_DRIVE, from any thread: what needs the session's thread waits in one queue, in the order in
 * which it came.  FRONT_STARTED and the event that ends it (event->ends) say what is under way, and
 * whose it is.
 *
 * Not here: opening a session without a thread or a front, as a headless run does (session.h).
 */
#ifndef HASP_FRONT_FRONT_H
#define HASP_FRONT_FRONT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/cancel.h"
#include "base/err.h"
#include "bus/bus.h"
#include "front/session.h"

struct front_runner;
struct front;

/* What a front may do; each for itself. Watching needs none. */
enum {
	FRONT_WATCH = 0,
	FRONT_COMMENT = 1,  /* says something to the other fronts */
	FRONT_APPROVE = 2,  /* answers questions, and promises to */
	FRONT_DRIVE = 4,    /* sends prompts, interrupts, changes the mode */
	FRONT_ALL = FRONT_COMMENT | FRONT_APPROVE | FRONT_DRIVE,
};

/* ---- the session's thread ------------------------------------------------------- */

struct front_runner_options {
	struct front_session *session; /* loaded, not open; borrowed: only the thread opens and
	                                * closes it */
	const char *resume;            /* as of session_open, the first time; or NULL */
	struct cancel *cancel;         /* of the session's request; set at the end; borrowed */
	/* SessionStart hooks run before the first prompt, not when the session is opened: for
	 * functions that are added in between (hooks_add_function). */
	bool starts_late;
};

/* Starts the thread, which waits. NO_RESOURCES; *ret is untouched then. */
bool front_runner_new(const struct front_runner_options *options, struct front_runner **ret,
                      struct err *err);
/* Opens the session, unless it is open; nothing that a front gives is done before that, or between
 * front_pause and this. */
void front_runner_begin(struct front_runner *runner);
/* Interrupts what is under way, closes the session with `reason` (host_close) and ends the thread:
 * FRONT_OVER is the last event.  What waited is not done; a task that waited is reported
 * FRONT_DONE.  Not on the session's thread; a second call does nothing. */
void front_runner_end(struct front_runner *runner, const char *reason);
/* Ends it ("exit"), if that is not done. When all fronts are detached; NULL is fine. */
void front_runner_free(struct front_runner *runner);
/* What is known of the session, from any thread: {"folder", "mode" and, once it is open, "session",
 * "model", "level", "window", "branch"?, "topic"?, "record" ("": not recorded)}; those of the last
 * order that ended. A new reference. */
json_t *front_runner_facts(struct front_runner *runner);
/* The words of the modes that front_set_mode permits; none while the session is closed.  A new
 * reference. */
json_t *front_runner_modes(struct front_runner *runner);
/* The fronts that are attached: [{"name", "roles" (bits)}]; a new reference. */
json_t *front_runner_fronts(struct front_runner *runner);
/* Something that only fronts are to see, as if the bus had published it; takes `message`. */
void front_runner_publish(struct front_runner *runner, enum bus_topic topic, json_t *message);

/* ---- events --------------------------------------------------------------------- */

enum front_event_kind {
	FRONT_BUS,     /* topic, message */
	FRONT_NOTICE,  /* message {severity, message}: while the session is opened, and later */
	FRONT_FOUND,   /* message {file}: the record of the session that is being opened */
	FRONT_STARTED,   /* something is under way: `by`: the front that gave it */
	FRONT_OPENED,  /* message {session, model, level, window, branch?, topic?, keyFrom?,
	                * effort, todos?} */
	FRONT_CLOSED,  /* it could not be opened: err */
	FRONT_PAUSED,  /* it is closed, and will be opened again; or err: it is open still */
	FRONT_ENDED,   /* a prompt is over: end, message {text, reason?, missing?, unsent?,
	                * branch?}, err if it failed; text: what the model said last */
	FRONT_DONE,    /* a task is done: `task`, for the front that gave it; else NULL */
	FRONT_MISSED,  /* message {from, to}: numbers of events that are not kept */
	FRONT_OVER,    /* the session is closed, and nothing follows */
};

/* Something else to be done on the session's thread; the giver's, until FRONT_DONE. */
struct front_task {
	/* On the session's thread. If the session could not be opened session_host is NULL. Not
	 * called after front_runner_end. */
	void (*run)(struct front_task *task, struct front_session *session);
};

struct front_event {
	struct front_event *next;
	uint64_t number, last;   /* it, and the last that was joined to it; 0 for FRONT_MISSED */
	enum front_event_kind kind;
	enum bus_topic topic;    /* FRONT_BUS */
	json_t *message;         /* a reference to what other fronts have, too, and must not be
	                          * changed; NULL: nothing */
	enum agent_end end;      /* FRONT_ENDED */
	struct err *err;         /* owned; NULL: all went well */
	struct front_task *task; /* FRONT_DONE */
	char *by;                /* the front's name; owned; NULL: no front's */
	bool is_own;             /* `by` is the front that takes it */
	bool ends;               /* what FRONT_STARTED began is over */
};

/* NULL is fine; not what follows it. */
void front_event_free(struct front_event *event);

/* ---- fronts --------------------------------------------------------------------- */

/* A person who was invited.  Copied. */
struct front_person {
	const char *name;             /* unique among those invited; what their votes are under */
	/* Names of groups, apart from those of the setting hasp.reviewers.groups, which alone says
	 * who belongs to the groups that it has; [string], or NULL. */
	const json_t *groups;
};

struct front_options {
	const char *name;        /* what others see; copied; made unique: "line", "line 2" */
	const struct front_person *reviewer; /* the person at it; NULL: the session's owner */
	unsigned roles;          /* FRONT_... */
	uint64_t after;          /* the last event that it has; 0: none */
	/* An event has come, and must be taken soon; `is_piece`: of text that streams, which may
	 * wait for a frame.  From any thread, and must not call functions of this header.  NULL:
	 * the front gets no events, also none of its tasks' ends; it answers and orders alone. */
	void (*wake)(void *data, bool is_piece);
	/* NULL, or is shown each message of the bus on the thread that publishes it, and says
	 * whether it has taken it, so that it is no event for this front.  Must not wait. */
	bool (*takes)(void *data, enum bus_topic topic, const json_t *message);
	/* NULL, or called on the session's thread when it has been opened and before anything else
	 * is done: for what the front needs of it.  Must not call functions of this header. */
	void (*opened)(void *data, struct front_session *session);
	/* NULL, or called likewise before it is closed. */
	void (*closes)(void *data, struct front_session *session);
	/* The front uses the session's host itself (front_options.opened) while nothing is under
	 * way: an order of another front starts only when this one has taken its FRONT_STARTED.
	 * From then until the event that `ends`, this front must not touch the host. */
	bool uses_host;
	/* Of a running command's output that waits to be taken no more than so many of the last
	 * bytes are kept; 0: all. */
	size_t output_tail;
	void *data;
};

/* From any thread. NULL: LIMIT_FRONTS are attached. */
struct front *front_attach(struct front_runner *runner, const struct front_options *options);
/* None of its functions runs any more when it returns.  Questions that it has not answered stay the
 * others', prompts that it gave are carried out, tasks that wait are its own again; one that runs
 * is waited for.  Not from one of its functions or tasks; NULL is fine. */
void front_detach(struct front *front);
/* Its name among those that are attached; borrowed. */
const char *front_name(const struct front *front);
/* All that has come, the first first, for the caller; NULL: nothing. */
struct front_event *front_take(struct front *front);
/* What people did with a question (BUS_QUESTION_VOTE, BUS_QUESTION_ANSWERED) or said (BUS_COMMENT),
 * as a line to be shown here: "anna approved: 1 of 2 approvals (anna); needs 1 more of @ops".  The
 * caller frees it; NULL: it is the front's own answer, or none of a front's. */
char *front_said(const struct front *front, enum bus_topic topic, const json_t *message);

/* Those of answers, orders and comments may also be called from listeners of the session's bus and
 * from hooks. */

/* Answers a question (or gives an order to a command, bus_topic_is_order), or votes on it.
 * PERMISSION_DENIED: the front may not, or the vote does not count; INVALID_ARGUMENT: no such
 * answer (bus_check), its comments are about no lines of the question, or the question is answered,
 * or was withdrawn: the events name the front. */
bool front_answer(struct front *front, enum bus_topic topic, const json_t *answer,
                  struct err *err);
/* Adds a person who may come and answer questions: from now on a question may wait for them.  A
 * second call with the same name replaces the groups. */
void front_invite(struct front_runner *runner, const struct front_person *person);
/* They are not, any more (revoked, expired): their approvals of open questions lapse.  Their fronts
 * are the caller's to detach, before. */
void front_uninvite(struct front_runner *runner, const char *name);
/* Shows a text to all fronts, as the topic "comment"; the model does not see it.
 * PERMISSION_DENIED. */
bool front_comment(struct front *front, struct span text, struct err *err);

/* The next six need FRONT_DRIVE: PERMISSION_DENIED.  Of what waits for the thread: BUSY after
 * front_runner_end, LIMIT_REACHED with LIMIT_FRONT_ORDERS waiting. */

/* Gives a prompt, as host_prompt has it; a session that is not open is opened for it. */
bool front_prompt(struct front *front, struct span piped, struct span prompt, struct err *err);
/* Gives a task; not taken where it fails. */
bool front_give(struct front *front, struct front_task *task, struct err *err);
/* A message for the prompt under way, as host_steer. INVALID_ARGUMENT: there is none. */
bool front_steer(struct front *front, struct span text, struct err *err);
/* The mode of calls from now on.  DENIED_BY_POLICY, PERMISSION_DENIED: as of
 * prepare_mode_check; INVALID_ARGUMENT: the session is not open. */
bool front_set_mode(struct front *front, enum approval_mode mode, struct err *err);
/* Closes the session until front_runner_begin opens it again, with the settings as session_load
 * has read them in between and with folders that were added (session_add_folder).  The conversation
 * continues, in the same mode where it is still permitted, with the same model and effort; what was
 * allowed for the session is not, and commands in the background have ended.  The event is
 * FRONT_PAUSED. */
bool front_pause(struct front *front, struct err *err);
/* Ends what is under way, of any front (host_interrupt; of a task front_cancel is set).  What
 * waits in the queue stays. */
bool front_interrupt(struct front *front, struct err *err);
/* Set by front_interrupt and at the end, reset before each task: for tasks to look at. Borrowed. */
const struct cancel *front_cancel(const struct front *front);

#endif
