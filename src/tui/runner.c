/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's thread: one thing at a time is given to it; what happens is reported in one order,
 * by one task of the loop.
 *
 * The bus's listeners run on threads of the agent's and must not wait: the main thread itself
 * publishes and answers.  So reports are queued, and pieces of text that follow each other are
 * joined: the queue is bounded by what a reply, or the shown tail of a command, can be.  While
 * pieces come, the main thread is woken for them once a frame, not for each. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/session/sessions.h"
#include "base/cancel.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tui/private.h"
#include "tui/term/screen.h"
#include "worker/provider.h"

/* A little more than between frames, so that one is due when pieces are delivered. */
enum { GATHER_MS = SCREEN_FRAME_MS + 2 };

enum task_kind { TASK_NONE, TASK_OPEN, TASK_PROMPT, TASK_JOB, TASK_REOPEN, TASK_END };

/* What the thread is to do; its texts are owned. */
struct task {
	enum task_kind kind;
	char *piped, *prompt; /* TASK_PROMPT */
	size_t piped_len, prompt_len;
	char *session;        /* TASK_REOPEN */
	char *reason;         /* TASK_REOPEN, TASK_END */
	struct job *job;
};

struct runner {
	const struct tui_options *options;
	struct loop *loop;
	void (*heard)(void *data, const struct heard *heard);
	void *data;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct task task;          /* the next; under the lock */
	struct heard *first, *last; /* under the lock */
	struct loop_task posted;
	bool is_posted;            /* under the lock */
	bool gathers;              /* pieces wait for the timer; under the lock */
	struct loop_timer *timer;  /* the main thread's, while `gathers` */
	bool busy;                 /* main thread: a task was given and has not been reported */
	struct tui_opened opened;  /* the thread's; the main thread's while it is idle */
	_Atomic bool is_open;
	char *session;             /* to open with; the thread's */
	unsigned listeners[4];
	struct cancel cancel;      /* of jobs */
};

static struct runner *runner_of(struct loop_task *task)
{
	return (struct runner *)((char *)task - offsetof(struct runner, posted));
}

/* ---- reports ----------------------------------------------------------------- */

static bool is_piece(enum bus_topic topic)
{
	return topic == BUS_CONTENT || topic == BUS_TOOL_OUTPUT;
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

static void runner_deliver(struct loop_task *task)
{
	struct runner *runner = runner_of(task);
	struct heard *heard, *next;
	bool pieces = false;

	pthread_mutex_lock(&runner->lock);
	heard = runner->first;
	runner->first = runner->last = NULL;
	runner->is_posted = false;
	pthread_mutex_unlock(&runner->lock);
	for (; heard; heard = next) {
		next = heard->next;
		pieces = pieces || (heard->kind == HEARD_BUS && is_piece(heard->topic));
		if (heard->kind >= HEARD_OPENED)
			runner->busy = false;
		runner->heard(runner->data, heard);
		json_decref(heard->message);
		transcript_free(heard->transcript);
		free(heard);
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
	post = runner->first && !runner->is_posted;
	pthread_mutex_unlock(&runner->lock);
	if (post)
		runner_deliver(&runner->posted);
}

static void runner_push(struct runner *runner, const struct heard *report)
{
	struct heard *heard = mem_alloc(1, sizeof(*heard));
	bool post;

	*heard = *report;
	pthread_mutex_lock(&runner->lock);
	if (runner->last)
		runner->last->next = heard;
	else
		runner->first = heard;
	runner->last = heard;
	post = !runner->is_posted &&
	       !(runner->gathers && report->kind == HEARD_BUS && is_piece(report->topic));
	if (post)
		runner->is_posted = true;
	pthread_mutex_unlock(&runner->lock);
	if (post)
		loop_post(runner->loop, &runner->posted);
}

/* The two texts as one; of a command's output only the end, which is all that is shown. */
static json_t *runner_joined(const json_t *before, const json_t *piece, size_t max)
{
	_cleanup_buf_ struct buf all = BUF_INIT(LIMIT_RESULT_BYTES);
	struct span text;

	buf_span(&all, json_span(before));
	buf_span(&all, json_span(piece));
	text = buf_view(&all);
	if (text.len > max) {
		text = span_skip(text, text.len - max);
		while (text.len && (text.data[0] & 0xC0) == 0x80)
			text = span_skip(text, 1);
	}
	return json_text(text);
}

/* Whether the message could be added to the last report, which waits still. */
static bool runner_join(struct runner *runner, enum bus_topic topic, const json_t *message)
{
	const bool output = topic == BUS_TOOL_OUTPUT;
	struct heard *last;
	bool joined = false;

	if (!is_piece(topic))
		return false;
	pthread_mutex_lock(&runner->lock);
	last = runner->last;
	if (last && last->kind == HEARD_BUS && last->topic == topic &&
	    (!output || json_equal(json_object_get(last->message, "callId"),
	                           json_object_get(message, "callId")))) {
		json_object_set_new(last->message, "text",
		                    runner_joined(json_object_get(last->message, "text"),
		                               json_object_get(message, "text"),
		                               output ? TAIL_BYTES_MAX : LIMIT_MODEL_REPLY_BYTES));
		joined = true;
	}
	pthread_mutex_unlock(&runner->lock);
	return joined;
}

static void runner_listen(void *data, enum bus_topic topic, const json_t *message)
{
	struct runner *runner = data;
	const struct app *app = runner->data;

	if (consoles_heard(app->consoles, topic, message))
		return;
	if (!runner_join(runner, topic, message))
		runner_report(runner, topic, json_deep_copy(message));
}

/* Who subscribes to a question promises to answer it; runner_listen has it already. */
static void runner_promise(void *data, enum bus_topic topic, const json_t *message)
{
	(void)data;
	(void)topic;
	(void)message;
}

void runner_report(struct runner *runner, enum bus_topic topic, json_t *message)
{
	runner_push(runner, &(struct heard){ .kind = HEARD_BUS, .topic = topic,
	                                     .message = message });
}

void runner_notice(void *data, const char *severity, const char *message)
{
	json_t *said = json_pack("{s:s, s:o}", "severity", severity, "message",
	                         json_text(span_str(message)));

	runner_push(data, &(struct heard){ .kind = HEARD_NOTICE, .message = said });
}

/* ---- the host ---------------------------------------------------------------- */

char *runner_branch(struct provider *provider)
{
	struct read_request request = { .path = ".git/HEAD", .max_lines = 1 };
	struct read_result read = { 0 };
	struct err ignored = ERR_INIT;
	struct span line, rest;
	char *branch = NULL;

	if (!provider->ops->read(provider, &request, &read, &ignored)) {
		read_result_release(&read);
		return NULL;
	}
	rest = buf_view(&read.content);
	if (line_next(&rest, &line)) {
		line = span_trim(line);
		if (span_starts(line, SPAN("ref: refs/heads/")))
			branch = mem_dup(line.data + 16, line.len - 16);
		else if (line.len >= 7)
			branch = mem_dup(line.data, 7);
	}
	read_result_release(&read);
	return branch;
}

static void runner_subscribe(struct runner *runner)
{
	struct bus *bus = host_bus(runner->opened.host);

	runner->listeners[0] = bus_subscribe(bus, BUS_NONE, runner_listen, runner);
	runner->listeners[1] = bus_subscribe(bus, BUS_TOOL_CONFIRMATION_REQUEST, runner_promise,
	                                     runner);
	runner->listeners[2] = bus_subscribe(bus, BUS_ASK_USER_REQUEST, runner_promise, runner);
	runner->listeners[3] = bus_subscribe(bus, BUS_ELICITATION_REQUEST, runner_promise, runner);
	consoles_bus(((const struct app *)runner->data)->consoles, bus);
}

/* Who asks has nobody left to answer then, which is a no. */
static void runner_unsubscribe(struct runner *runner)
{
	for (size_t i = 0; i < ARRAY_LEN(runner->listeners); i++)
		if (runner->listeners[i]) {
			bus_unsubscribe(host_bus(runner->opened.host), runner->listeners[i]);
			runner->listeners[i] = 0;
		}
	consoles_bus(((const struct app *)runner->data)->consoles, NULL);
}

static json_t *opened_facts(struct runner *runner, const json_t *history)
{
	const struct tui_opened *opened = &runner->opened;
	const struct provider_info *info = opened->provider->ops->info(opened->provider);
	_cleanup_free_ char *branch = runner_branch(opened->provider);
	bool more;
	json_t *end = history_end(history, &more);
	json_t *facts = json_pack("{s:s, s:s, s:o, s:b}", "model", host_model(opened->host),
	                          "level", sandbox_level_name(info->level), "history", end,
	                          "more", more);

	json_object_set_new(facts, "window",
	                    json_integer((json_int_t)host_context_tokens(opened->host)));
	if (branch)
		json_object_set_new(facts, "branch", json_text(span_str(branch)));
	if (agent_topic(history))
		json_object_set_new(facts, "topic", json_string(agent_topic(history)));
	if (host_key_from(opened->host))
		json_object_set_new(facts, "keyFrom", json_string(host_key_from(opened->host)));
	return facts;
}

static bool runner_open(struct runner *runner, struct err *err)
{
	struct front_session *session = runner->options->session;

	if (runner->is_open)
		return true;
	session_set_notice(session, runner_notice, runner);
	if (!session_open(session, runner->session, err))
		return false;
	runner->opened = (struct tui_opened){ session_host(session), session_provider(session) };
	runner_subscribe(runner);
	runner->is_open = true;
	return true;
}

static void runner_shut(struct runner *runner, const char *reason)
{
	if (!runner->is_open)
		return;
	runner->is_open = false;
	runner_unsubscribe(runner);
	session_close(runner->options->session, reason);
	runner->opened = (struct tui_opened){ 0 };
}

/* Before a session is read: its end can be shown meanwhile. */
static void runner_say_found(struct runner *runner)
{
	struct err ignored = ERR_INIT;
	_cleanup_free_ char *file = NULL;

	if (runner->is_open || !runner->session ||
	    !sessions_find_in(session_folder(runner->options->session), runner->session, &file,
	                      &ignored))
		return;
	runner_push(runner, &(struct heard){ .kind = HEARD_FOUND, .message = json_pack(
		                             "{s:o}", "file", json_path_bytes(file)) });
}

/* Opens and says what there is; or why not. */
static bool runner_open_and_say(struct runner *runner)
{
	struct heard heard = { .kind = HEARD_OPENED, .err = ERR_INIT };

	runner_say_found(runner);
	if (runner_open(runner, &heard.err)) {
		const json_t *history = agent_history(host_agent(runner->opened.host));

		host_start_session(runner->opened.host);
		heard.message = opened_facts(runner, history);
		heard.transcript = transcript_new();
		history_keep(heard.transcript, history);
	} else {
		heard.kind = HEARD_CLOSED;
	}
	runner_push(runner, &heard);
	return heard.kind == HEARD_OPENED;
}

/* ---- tasks ------------------------------------------------------------------- */

static void runner_answer_prompt(struct runner *runner, const struct task *task)
{
	struct heard heard = { .kind = HEARD_ENDED, .err = ERR_INIT, .end = AGENT_FAILED };
	struct agent_outcome outcome = { 0 };
	_cleanup_free_ char *branch = NULL;

	if (!runner_open(runner, &heard.err)) {
		heard.kind = HEARD_CLOSED;
		runner_push(runner, &heard);
		return;
	}
	host_prompt(runner->opened.host, span_of(task->piped, task->piped_len),
	            span_of(task->prompt, task->prompt_len), &outcome, &heard.err);
	branch = runner_branch(runner->opened.provider);
	heard.end = outcome.end;
	heard.message = json_object();
	if (outcome.reason)
		json_object_set_new(heard.message, "reason", json_text(span_str(outcome.reason)));
	if (outcome.missing)
		json_object_set_new(heard.message, "missing",
		                    json_text(span_str(outcome.missing)));
	if (outcome.unsent)
		json_object_set_new(heard.message, "unsent", json_text(span_str(outcome.unsent)));
	if (branch)
		json_object_set_new(heard.message, "branch", json_text(span_str(branch)));
	agent_outcome_release(&outcome);
	runner_push(runner, &heard);
}

static void task_release(struct task *task)
{
	free(task->piped);
	free(task->prompt);
	free(task->session);
	free(task->reason);
	*task = (struct task){ 0 };
}

static void runner_do(struct runner *runner, struct task *task)
{
	switch (task->kind) {
	case TASK_REOPEN:
		runner_shut(runner, task->reason);
		free(runner->session);
		runner->session = mem_steal(&task->session);
		runner_open_and_say(runner);
		break;
	case TASK_OPEN:
		runner_open_and_say(runner);
		break;
	case TASK_PROMPT:
		runner_answer_prompt(runner, task);
		break;
	case TASK_JOB:
		task->job->run(task->job, &runner->opened);
		runner_push(runner, &(struct heard){ .kind = HEARD_DONE, .job = task->job });
		break;
	default:
		break;
	}
}

static void *runner_run(void *data)
{
	struct runner *runner = data;
	struct task task;

	for (;;) {
		pthread_mutex_lock(&runner->lock);
		while (runner->task.kind == TASK_NONE)
			pthread_cond_wait(&runner->wake, &runner->lock);
		task = runner->task;
		runner->task = (struct task){ 0 };
		pthread_mutex_unlock(&runner->lock);
		if (task.kind == TASK_END)
			break;
		runner_do(runner, &task);
		task_release(&task);
	}
	runner_shut(runner, task.reason);
	task_release(&task);
	return NULL;
}

static void runner_give(struct runner *runner, const struct task *task)
{
	runner->busy = true;
	cancel_reset(&runner->cancel);
	pthread_mutex_lock(&runner->lock);
	task_release(&runner->task);
	runner->task = *task;
	pthread_cond_signal(&runner->wake);
	pthread_mutex_unlock(&runner->lock);
}

/* ---- the face ---------------------------------------------------------------- */

bool runner_new(const struct tui_options *options, struct loop *loop,
                void (*heard)(void *data, const struct heard *heard), void *data,
                struct runner **ret, struct err *err)
{
	struct runner *runner = mem_alloc(1, sizeof(*runner));

	*ret = runner;
	runner->options = options;
	runner->loop = loop;
	runner->heard = heard;
	runner->data = data;
	runner->posted.run = runner_deliver;
	runner->session = mem_strdup(options->resume);
	pthread_mutex_init(&runner->lock, NULL);
	pthread_cond_init(&runner->wake, NULL);
	runner->cancel.fd = -1;
	if (!cancel_init(&runner->cancel, err))
		return false;
	if (pthread_create(&runner->thread, NULL, runner_run, runner) != 0)
		return err_set(err, ERR_NO_RESOURCES, "No thread can be started.");
	runner->started = true;
	return true;
}

void runner_begin(struct runner *runner)
{
	runner_give(runner, &(struct task){ .kind = TASK_OPEN });
}

void runner_end(struct runner *runner, const char *reason)
{
	if (!runner->started)
		return;
	runner_give(runner, &(struct task){ .kind = TASK_END, .reason = mem_strdup(reason) });
	cancel_set(runner->options->cancel);
	cancel_set(&runner->cancel);
	pthread_join(runner->thread, NULL);
	loop_timer_stop(runner->timer);
	runner->timer = NULL;
}

void runner_free(struct runner *runner)
{
	if (!runner)
		return;
	pthread_mutex_destroy(&runner->lock);
	pthread_cond_destroy(&runner->wake);
	cancel_release(&runner->cancel);
	free(runner->session);
	free(runner);
}

bool runner_idle(const struct runner *runner)
{
	return !runner->busy;
}

const struct tui_opened *runner_opened(const struct runner *runner)
{
	return runner->is_open ? &runner->opened : NULL;
}

void runner_prompt(struct runner *runner, struct span piped, struct span prompt)
{
	runner_give(runner, &(struct task){ .kind = TASK_PROMPT,
	                                    .piped = mem_dup(piped.data, piped.len),
	                                    .piped_len = piped.len,
	                                    .prompt = mem_dup(prompt.data, prompt.len),
	                                    .prompt_len = prompt.len });
}

void runner_job(struct runner *runner, struct job *job)
{
	runner_give(runner, &(struct task){ .kind = TASK_JOB, .job = job });
}

void runner_reopen(struct runner *runner, const char *session, const char *reason)
{
	runner_give(runner, &(struct task){ .kind = TASK_REOPEN, .session = mem_strdup(session),
	                                    .reason = mem_strdup(reason) });
}

const struct cancel *runner_cancel(const struct runner *runner)
{
	return &runner->cancel;
}

void runner_interrupt(struct runner *runner)
{
	if (!runner->busy)
		return;
	cancel_set(&runner->cancel);
	if (runner->is_open)
		host_interrupt(runner->opened.host);
}
