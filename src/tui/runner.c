/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal as a front of its session (front/front.h): what comes is reported in one order, by
 * one task of the loop.
 *
 * While pieces of text come, the main thread is woken for them once a frame, not for each. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "front/front.h"
#include "ide/ide.h"
#include "tui/app.h"
#include "tui/consoles.h"
#include "tui/runner.h"
#include "tui/running.h"
#include "tui/term/screen.h"
#include "tui/show/transcript.h"
#include "tui/tui.h"

/* A little more than between frames, so that one is due when pieces are delivered. */
enum { GATHER_MS = SCREEN_FRAME_MS + 2 };

struct runner {
	const struct tui_options *options;
	struct loop *loop;
	void (*report)(void *data, const struct runner_event *report);
	void *data;
	struct front_runner *thread;
	struct front *front;
	struct ide *ide;
	struct loop_task posted;
	struct loop_timer *timer;  /* the main thread's, while `gathers` */
	unsigned under_way;        /* the main thread's: started and not yet reported as ended */
	bool is_foreign;           /* likewise: another front's is under way */
	bool started;              /* likewise: runner_begin was called */
	pthread_mutex_t lock;      /* of what follows */
	bool is_posted;
	bool gathers;              /* pieces wait for the timer */
	bool waits;                /* they have come */
	json_t *history;           /* the end of the session that was opened, {history, more} */
	struct transcript *transcript;
	struct tui_opened opened;  /* the thread's; the main thread's while it is idle */
	_Atomic bool is_open;
};

/* A job as it is given to the thread. */
struct given_job {
	struct front_task task;
	struct runner *runner;
	struct runner_job *job;
};

static struct runner *runner_of(struct loop_task *task)
{
	return (struct runner *)((char *)task - offsetof(struct runner, posted));
}

/* ---- reports ----------------------------------------------------------------- */

static bool runner_gathers(const struct front_event *event)
{
	return event->kind == FRONT_BUS &&
	       (event->topic == BUS_CONTENT || event->topic == BUS_TOOL_OUTPUT);
}

static void runner_gathered(void *data);

/* What pieces come from now on are delivered together, when the timer fires. */
static void runner_gather(struct runner *runner)
{
	if (runner->timer)
		return;
	runner->timer = loop_timer_start(runner->loop, GATHER_MS, 0, runner_gathered, runner);
	pthread_mutex_lock(&runner->lock);
	runner->gathers = true;
	pthread_mutex_unlock(&runner->lock);
}

/* The conversation goes with the report of its opening; the message is other fronts', too. */
static void report_opened(struct runner *runner, struct front_event *event,
                          struct runner_event *report)
{
	report->message = json_copy(event->message);
	pthread_mutex_lock(&runner->lock);
	json_object_update(report->message, runner->history);
	report->transcript = mem_steal(&runner->transcript);
	pthread_mutex_unlock(&runner->lock);
	json_decref(event->message);
	event->message = report->message;
}

/* False: the terminal has no use for it. */
static bool report_of(struct runner *runner, struct front_event *event, struct runner_event *ret)
{
	static const enum runner_event_kind kinds[] = {
		[FRONT_BUS] = RUNNER_BUS,       [FRONT_NOTICE] = RUNNER_NOTICE,
		[FRONT_FOUND] = RUNNER_FOUND,   [FRONT_STARTED] = RUNNER_STARTED,
		[FRONT_OPENED] = RUNNER_OPENED, [FRONT_CLOSED] = RUNNER_CLOSED,
		[FRONT_ENDED] = RUNNER_ENDED,   [FRONT_DONE] = RUNNER_DONE,
		[FRONT_PAUSED] = RUNNER_PAUSED,
	};
	struct given_job *given = (struct given_job *)event->task;

	if (event->kind == FRONT_MISSED || event->kind == FRONT_OVER)
		return false;
	*ret = (struct runner_event){ .kind = kinds[event->kind], .topic = event->topic,
		               .message = event->message, .end = event->end, .err = ERR_INIT };
	if (event->err)
		ret->err = *event->err;
	if (event->kind == FRONT_PAUSED && event->err)
		runner->is_open = true;
	if (given)
		ret->job = given->job;
	free(given);
	if (event->kind == FRONT_OPENED)
		report_opened(runner, event, ret);
	return event->kind != FRONT_STARTED || runner->is_foreign;
}

static bool event_is_foreign(const struct front_event *event)
{
	return event->by && !event->is_own;
}

static void runner_report_event(struct runner *runner, struct front_event *event)
{
	struct runner_event report;

	if (event->kind == FRONT_STARTED || event->ends)
		runner->is_foreign = event->kind == FRONT_STARTED && event_is_foreign(event);
	if (event->ends)
		runner->under_way--;
	if (!report_of(runner, event, &report))
		return;
	runner->report(runner->data, &report);
	transcript_free(report.transcript);
}

static void runner_deliver(struct loop_task *task)
{
	struct runner *runner = runner_of(task);
	struct front_event *first, *next;
	bool pieces = false;

	pthread_mutex_lock(&runner->lock);
	runner->is_posted = runner->waits = false;
	pthread_mutex_unlock(&runner->lock);
	first = front_take(runner->front);
	/* From here on another front's prompt may run. */
	for (const struct front_event *event = first; event; event = event->next)
		runner->under_way += event->kind == FRONT_STARTED && event_is_foreign(event);
	for (struct front_event *event = first; event; event = next) {
		next = event->next;
		pieces = pieces || runner_gathers(event);
		runner_report_event(runner, event);
		front_event_free(event);
	}
	if (pieces)
		runner_gather(runner);
}

static void runner_gathered(void *data)
{
	struct runner *runner = data;
	bool post;

	loop_timer_stop(runner->timer);
	runner->timer = NULL;
	pthread_mutex_lock(&runner->lock);
	runner->gathers = false;
	post = runner->waits && !runner->is_posted;
	pthread_mutex_unlock(&runner->lock);
	if (post)
		runner_deliver(&runner->posted);
}

/* As front_options.wake. */
static void runner_wake(void *data, bool is_piece)
{
	struct runner *runner = data;
	bool post;

	pthread_mutex_lock(&runner->lock);
	post = !runner->is_posted && !(runner->gathers && is_piece);
	runner->waits = true;
	if (post)
		runner->is_posted = true;
	pthread_mutex_unlock(&runner->lock);
	if (post)
		loop_post(runner->loop, &runner->posted);
}

/* As front_options.takes. */
static bool runner_takes(void *data, enum bus_topic topic, const json_t *message)
{
	const struct runner *runner = data;
	const struct app *app = runner->data;

	return consoles_report(app->consoles, topic, message);
}

void runner_report(struct runner *runner, enum bus_topic topic, json_t *message)
{
	front_runner_publish(runner->thread, topic, message);
}

/* ---- the session ------------------------------------------------------------- */

/* As front_options.opened. */
static void runner_opens(void *data, struct front_session *session)
{
	struct runner *runner = data;
	const json_t *history = agent_history(host_facts(session_host(session)).agent);
	struct transcript *transcript = transcript_new();
	bool more;
	json_t *end = history_end(history, &more);

	history_keep(transcript, history);
	pthread_mutex_lock(&runner->lock);
	json_decref(runner->history);
	runner->history = json_pack("{s:o, s:b}", "history", end, "more", more);
	transcript_free(runner->transcript);
	runner->transcript = transcript;
	pthread_mutex_unlock(&runner->lock);
	runner->opened = (struct tui_opened){ session_host(session), session_provider(session) };
	consoles_bus(((const struct app *)runner->data)->consoles, host_bus(runner->opened.host));
	runner->is_open = true;
}

/* As front_options.closes. */
static void runner_closes(void *data, struct front_session *session)
{
	struct runner *runner = data;

	(void)session;
	runner->is_open = false;
	consoles_bus(((const struct app *)runner->data)->consoles, NULL);
	runner->opened = (struct tui_opened){ 0 };
}

/* ---- the face ---------------------------------------------------------------- */

bool runner_new(const struct tui_options *options, struct loop *loop,
                void (*report)(void *data, const struct runner_event *report), void *data,
                struct runner **ret, struct err *err)
{
	struct runner *runner = mem_alloc(1, sizeof(*runner));
	const struct front_runner_options thread = {
		.session = options->session, .resume = options->resume, .cancel = options->cancel,
	};
	const struct front_options front = {
		.name = "terminal", .roles = FRONT_ALL, .wake = runner_wake, .takes = runner_takes,
		.opened = runner_opens, .closes = runner_closes, .uses_host = true,
		.output_tail = TAIL_BYTES_MAX, .data = runner,
	};

	*ret = runner;
	runner->options = options;
	runner->loop = loop;
	runner->report = report;
	runner->data = data;
	runner->posted.run = runner_deliver;
	pthread_mutex_init(&runner->lock, NULL);
	if (!front_runner_new(&thread, &runner->thread, err))
		return false;
	runner->front = front_attach(runner->thread, &front);
	runner->ide = ide_new(options->session);
	ide_attach(runner->ide, runner->thread);
	if (options->attached)
		options->attached(options->data, runner->thread);
	return true;
}

void runner_begin(struct runner *runner)
{
	runner->started = true;
	runner->under_way++;
	front_runner_begin(runner->thread);
}

void runner_pause(struct runner *runner)
{
	struct err ignored = ERR_INIT;

	runner->is_open = false;
	runner->under_way += front_pause(runner->front, &ignored);
}

void runner_end(struct runner *runner, const char *reason)
{
	if (!runner->thread)
		return;
	front_runner_end(runner->thread, reason);
	loop_timer_stop(runner->timer);
	runner->timer = NULL;
}

char *runner_session(const struct runner *runner)
{
	json_auto_t *facts = runner->thread ? front_runner_facts(runner->thread) : NULL;
	const char *id = json_string_value(json_object_get(facts, "session"));

	return id ? mem_strdup(id) : NULL;
}

void runner_free(struct runner *runner)
{
	if (!runner)
		return;
	ide_detach(runner->ide);
	ide_free(runner->ide);
	front_detach(runner->front);
	if (runner->options->detached)
		runner->options->detached(runner->options->data);
	front_runner_free(runner->thread);
	json_decref(runner->history);
	transcript_free(runner->transcript);
	pthread_mutex_destroy(&runner->lock);
	free(runner);
}

bool runner_idle(const struct runner *runner)
{
	return runner->started && !runner->under_way;
}

bool runner_foreign(const struct runner *runner)
{
	return runner->is_foreign;
}

const struct tui_opened *runner_opened(const struct runner *runner)
{
	return runner->is_open ? &runner->opened : NULL;
}

struct ide *runner_ide(const struct runner *runner)
{
	return runner->ide;
}

char *runner_said(const struct runner *runner, enum bus_topic topic, const json_t *message)
{
	return front_said(runner->front, topic, message);
}

void runner_prompt(struct runner *runner, struct span piped, struct span prompt)
{
	struct err ignored = ERR_INIT;

	runner->under_way += front_prompt(runner->front, piped, prompt, &ignored);
}

/* As front_task.run. */
static void runner_run_job(struct front_task *task, struct front_session *session)
{
	const struct given_job *given = (struct given_job *)task;

	(void)session;
	given->job->run(given->job, &given->runner->opened);
}

void runner_job(struct runner *runner, struct runner_job *job)
{
	struct given_job *given = mem_alloc(1, sizeof(*given));
	struct err ignored = ERR_INIT;

	*given = (struct given_job){ .task.run = runner_run_job, .runner = runner, .job = job };
	runner->under_way += front_give(runner->front, &given->task, &ignored);
}


bool runner_answer(struct runner *runner, enum bus_topic topic, const json_t *answer,
                   struct err *err)
{
	return front_answer(runner->front, topic, answer, err);
}

const struct cancel *runner_cancel(const struct runner *runner)
{
	return front_cancel(runner->front);
}

bool runner_steer(struct runner *runner, struct span text)
{
	struct err ignored = ERR_INIT;

	return front_steer(runner->front, text, &ignored);
}

bool runner_set_mode(struct runner *runner, enum approval_mode mode, struct err *err)
{
	return front_set_mode(runner->front, mode, err);
}

void runner_interrupt(struct runner *runner)
{
	struct err ignored = ERR_INIT;

	if (!runner_idle(runner))
		front_interrupt(runner->front, &ignored);
}
