/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's thread: what it is given to do, and what it reports.
 *
 *     runner_new(options, loop, report, app, &runner, &err);
 *     runner_begin(runner);                    // opens the session
 *     if (runner_idle(runner)) runner_prompt(runner, SPAN(""), prompt);
 *     runner_end(runner, "prompt_input_exit");
 *     runner_free(runner);                     // after loop_free
 *
 * One thing at a time; reports come by the loop, in one order. */
#ifndef HASP_TUI_RUNNER_H
#define HASP_TUI_RUNNER_H

#include <jansson.h>
#include <stdbool.h>

#include "base/cancel.h"
#include "base/notices.h"
#include "bus/bus.h"
#include "net/loop/loop.h"
#include "policy/policy.h"
#include "tui/tui.h"

struct ide;
struct runner;
struct transcript;

enum runner_event_kind {
	RUNNER_BUS,      /* topic, message */
	RUNNER_NOTICE,   /* message: {severity, message} */
	RUNNER_FOUND,    /* message: {file} of the session that is being opened */
	RUNNER_STARTED,    /* what another front gave is under way */
	RUNNER_OPENED,   /* transcript, message: {model, level, history (its end), more, branch?,
	                 * window?, topic?, keyFrom?, effort, todos?} */
	RUNNER_CLOSED,   /* failed to open: err */
	RUNNER_PAUSED,   /* as FRONT_PAUSED; err */
	RUNNER_ENDED,    /* a prompt was answered: end, message {reason?, missing?, unsent?,
	                 * branch?}, err */
	RUNNER_DONE,     /* another job is done: job; NULL: another front's */
};

struct runner_event {
	enum runner_event_kind kind;
	enum bus_topic topic;
	json_t *message;      /* owned by the queue; NULL: nothing */
	enum agent_end end;
	struct err err;       /* ERR_NONE: all went well */
	struct runner_job *job;
	struct transcript *transcript; /* RUNNER_OPENED: the conversation; owned by the queue */
	struct runner_event *next;
};

/* Something else to be done on the agent's thread while no prompt is under way. */
struct runner_job {
	/* On the agent's thread; `opened` is all zero when nothing could be opened. */
	void (*run)(struct runner_job *job, const struct tui_opened *opened);
	/* On the main thread, afterwards; frees it. */
	void (*done)(struct runner_job *job);
};

/* Starts the thread. `report` is called on the loop's thread. *ret is set in any case.
 * NO_RESOURCES. */
bool runner_new(const struct tui_options *options, struct loop *loop,
                void (*report)(void *data, const struct runner_event *event), void *data,
                struct runner **ret, struct err *err);
/* First, or while idle: opens the host. */
void runner_begin(struct runner *runner);
/* While idle: closes the host, as front_pause; runner_begin opens it again. There is none from now
 * on. */
void runner_pause(struct runner *runner);
/* Interrupts what is under way, closes the host with `reason` and ends the thread. What it has
 * reported until then is still delivered by the loop, or by loop_free. */
void runner_end(struct runner *runner, const char *reason);
/* The id of the session that was opened last, also after runner_end: the terminal may have ended
 * before it was open. NULL: none. The caller frees. */
char *runner_session(const struct runner *runner);
/* After runner_end and loop_free; NULL is fine. */
void runner_free(struct runner *runner);
/* Nothing is under way, opening included. False before runner_begin: what is sent by then waits for
 * the session, which may depend on an answer (trust). */
bool runner_idle(const struct runner *runner);
/* Whether there is a host. */
const struct tui_opened *runner_opened(const struct runner *runner);
/* While idle: a prompt, `piped` before it as host_prompt has it (may be empty). Opens first what
 * is not open. */
void runner_prompt(struct runner *runner, struct span piped, struct span prompt);
/* While idle. */
void runner_job(struct runner *runner, struct runner_job *job);
/* Set when the job under way is to end. */
const struct cancel *runner_cancel(const struct runner *runner);
/* The prompt or job under way ends soon. */
void runner_interrupt(struct runner *runner);
/* A message for the prompt under way. False: none takes it. */
bool runner_steer(struct runner *runner, struct span text);
/* The mode from now on. Errors as of front_set_mode. */
bool runner_set_mode(struct runner *runner, enum approval_mode mode, struct err *err);
/* Reports a message as if it were the bus's; from any thread. Takes the reference. */
void runner_report(struct runner *runner, enum bus_topic topic, json_t *message);
/* Whether what is under way is another front's. */
bool runner_foreign(const struct runner *runner);
/* The editor that the terminal belongs to, connected or not (ide/ide.h). Borrowed. */
struct ide *runner_ide(const struct runner *runner);
/* As front_said, to the terminal. */
char *runner_said(const struct runner *runner, enum bus_topic topic, const json_t *message);
/* As bus_answer, in the terminal's name. */
bool runner_answer(struct runner *runner, enum bus_topic topic, const json_t *answer,
                   struct err *err);

#endif
