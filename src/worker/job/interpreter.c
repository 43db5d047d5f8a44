/* SPDX-License-Identifier: Apache-2.0 */
/* The process of an interpreter, and the calls that run in it. */
#include "worker/job/interpreter.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "worker/job/job_private.h"

enum {
	MARK_MS = 1000,      /* for the mark, once the answer has come */
	TIMEOUT_GRACE_MS = 3000, /* from the interrupt to the end of the process */
	CANCEL_GRACE_MS = 1000,
	END_MS = 3000,       /* for the end of a process that was killed */
	POLL_MS = 50,        /* where there is no descriptor to wait on */
	LENGTH_BYTES = 4,
};

struct interpreter {
	pthread_mutex_t call_lock;       /* held by the call under way */

	pthread_mutex_t output_lock;     /* held while output is passed on */
	void (*output)(void *data, enum run_stream stream, struct span bytes);
	void *output_data;

	pthread_mutex_t run_lock;        /* of `run`; no other lock is taken inside it */
	struct run *run;                 /* owned; NULL: there is no process. Changes with the lock
	                                  * of calls as well */

	pthread_mutex_t lock;            /* of what follows */
	int ready_fd;                        /* an eventfd: something of it has changed; -1: none */
	struct interpreter_marker marker; /* found: no mark is due */
	struct capture captures[2];      /* of the call, and of what follows its mark */
	unsigned current;                /* which of them takes output */
	struct interpreter_frame frame;
	struct span body;                /* in `frame`, once it is answered */
	bool expects, answered, broken, ended;
	struct run_end end;
	struct denial *denials;          /* owned */
	size_t denial_count, denial_cap;
};

/* ---- what the provider reports ----------------------------------------------------- */

static void start_capture(struct interpreter *interpreter)
{
	static const struct capture_options options = { .head_bytes = JOB_HEAD_BYTES_DEFAULT,
		                                        .tail_bytes = JOB_TAIL_BYTES_DEFAULT };

	capture_init(&interpreter->captures[interpreter->current], &options);
}

/* With the lock held: what comes from now on belongs to the next call. */
static void flip_captures(struct interpreter *interpreter)
{
	capture_end(&interpreter->captures[interpreter->current]);
	interpreter->current = !interpreter->current;
	start_capture(interpreter);
}

/* What a call prints, on its way: kept, and passed on. */
struct printed {
	struct interpreter *interpreter;
	struct buf text;
};

static void note_printed(void *data, struct span text)
{
	struct printed *printed = data;
	struct interpreter *interpreter = printed->interpreter;

	capture_feed(&interpreter->captures[interpreter->current], text);
	buf_span(&printed->text, text);
}

/* With the lock held. */
static void take_printed(struct interpreter *interpreter, struct span bytes,
                         struct printed *printed)
{
	size_t taken;

	if (!interpreter->marker.found) {
		taken = interpreter_marker_feed(&interpreter->marker, bytes, note_printed,
		                                printed);
		bytes = span_skip(bytes, taken);
		if (interpreter->marker.found)
			flip_captures(interpreter);
	}
	if (bytes.len)
		capture_feed(&interpreter->captures[interpreter->current], bytes);
}

/* The same. */
static void take_answer_bytes(struct interpreter *interpreter, struct span bytes)
{
	enum interpreter_frame_state state = FRAME_BAD;

	if (interpreter->expects)
		state = interpreter_frame_feed(&interpreter->frame, bytes, &interpreter->body);
	interpreter->broken |= state == FRAME_BAD;
	interpreter->answered |= state == FRAME_WHOLE;
	interpreter->expects = state == FRAME_PARTIAL;
}

static void interpreter_note_output(void *data, enum run_stream stream, struct span bytes)
{
	struct interpreter *interpreter = data;
	struct printed printed = { .interpreter = interpreter,
		                   .text = BUF_INIT(bytes.len + INTERPRETER_MARK) };

	pthread_mutex_lock(&interpreter->lock);
	if (stream == RUN_STDERR)
		take_printed(interpreter, bytes, &printed);
	else
		take_answer_bytes(interpreter, bytes);
	fd_ring(interpreter->ready_fd);
	pthread_mutex_unlock(&interpreter->lock);
	pthread_mutex_lock(&interpreter->output_lock);
	if (interpreter->output && printed.text.len)
		interpreter->output(interpreter->output_data, RUN_STDOUT, buf_view(&printed.text));
	pthread_mutex_unlock(&interpreter->output_lock);
	buf_release(&printed.text);
}

static void interpreter_note_denied(void *data, const struct denial *denial)
{
	struct interpreter *interpreter = data;

	pthread_mutex_lock(&interpreter->lock);
	job_denials_add(&interpreter->denials, &interpreter->denial_count,
	                &interpreter->denial_cap, denial);
	pthread_mutex_unlock(&interpreter->lock);
}

/* Of the process itself, and of all that it started: the first is what matters. */
static void interpreter_note_end(void *data, const struct run_end *end)
{
	struct interpreter *interpreter = data;

	pthread_mutex_lock(&interpreter->lock);
	if (!interpreter->ended)
		interpreter->end = *end;
	interpreter->ended = true;
	fd_ring(interpreter->ready_fd);
	pthread_mutex_unlock(&interpreter->lock);
}

static const struct run_events interpreter_events = {
	.output = interpreter_note_output,
	.denied = interpreter_note_denied,
	.main_ended = interpreter_note_end,
	.ended = interpreter_note_end,
};

/* ---- the process -------------------------------------------------------------------- */

struct interpreter *interpreter_new(void)
{
	struct interpreter *interpreter = mem_alloc(1, sizeof(*interpreter));

	pthread_mutex_init(&interpreter->call_lock, NULL);
	pthread_mutex_init(&interpreter->output_lock, NULL);
	pthread_mutex_init(&interpreter->run_lock, NULL);
	pthread_mutex_init(&interpreter->lock, NULL);
	interpreter->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	interpreter->marker.found = true;
	interpreter->frame.bytes.max = LIMIT_INTERPRETER_ANSWER + LENGTH_BYTES;
	start_capture(interpreter);
	return interpreter;
}

/* With the lock of calls: no event comes after it returned. */
static void drop_process(struct interpreter *interpreter)
{
	struct run *run;

	pthread_mutex_lock(&interpreter->run_lock);
	run = interpreter->run;
	interpreter->run = NULL;
	pthread_mutex_unlock(&interpreter->run_lock);
	if (run)
		run->ops->free(run);
}

static void kill_process(struct interpreter *interpreter)
{
	pthread_mutex_lock(&interpreter->run_lock);
	if (interpreter->run)
		interpreter->run->ops->kill(interpreter->run);
	pthread_mutex_unlock(&interpreter->run_lock);
}

void interpreter_end(struct interpreter *interpreter)
{
	kill_process(interpreter);
	pthread_mutex_lock(&interpreter->call_lock);
	drop_process(interpreter);
	pthread_mutex_unlock(&interpreter->call_lock);
}

void interpreter_free(struct interpreter *interpreter)
{
	if (!interpreter)
		return;
	drop_process(interpreter);
	capture_release(&interpreter->captures[interpreter->current]);
	if (interpreter->ready_fd >= 0)
		close(interpreter->ready_fd);
	buf_release(&interpreter->frame.bytes);
	free(interpreter->denials);
	pthread_mutex_destroy(&interpreter->call_lock);
	pthread_mutex_destroy(&interpreter->output_lock);
	pthread_mutex_destroy(&interpreter->run_lock);
	pthread_mutex_destroy(&interpreter->lock);
	free(interpreter);
}

/* A new process; nothing of an old one is left. */
static bool start_interpreter(struct interpreter *interpreter, struct provider *provider,
                          const struct run_request *wanted, struct err *err)
{
	struct run_request request = *wanted;
	struct run *run;

	request.pty = request.merge = request.no_input = request.leave_running = false;
	request.timeout_ms = request.inactivity_ms = 0;
	interpreter->ended = interpreter->broken = interpreter->expects = false;
	capture_release(&interpreter->captures[interpreter->current]);
	start_capture(interpreter);
	interpreter->denial_count = 0;
	if (!provider->ops->run(provider, &request, &interpreter_events, interpreter, &run, err))
		return false;
	pthread_mutex_lock(&interpreter->run_lock);
	interpreter->run = run;
	pthread_mutex_unlock(&interpreter->run_lock);
	return true;
}

/* ---- a call ------------------------------------------------------------------------- */

/* The bytes that the mark begins with, and others that code cannot guess. */
static void make_mark(char ret[INTERPRETER_MARK])
{
	static const char begin[] = "\0hasp-end-", digits[] = "0123456789abcdef";
	unsigned char random[(INTERPRETER_MARK - (sizeof(begin) - 1)) / 2] = { 0 };

	random_distinct(random, sizeof(random)); /* code that prints it has its own output cut */
	memcpy(ret, begin, sizeof(begin) - 1);
	for (size_t i = 0; i < sizeof(random); i++) {
		ret[sizeof(begin) - 1 + 2 * i] = digits[random[i] >> 4];
		ret[sizeof(begin) + 2 * i] = digits[random[i] & 15];
	}
}

/* False: the process does not read. */
static bool send_code_to(struct interpreter *interpreter, struct span code)
{
	const size_t length = INTERPRETER_MARK + code.len;
	_cleanup_buf_ struct buf request = BUF_INIT(LENGTH_BYTES + length);
	bool sent;

	pthread_mutex_lock(&interpreter->lock);
	make_mark(interpreter->marker.mark);
	interpreter->marker.matched = 0;
	interpreter->marker.found = false;
	interpreter->answered = false;
	interpreter->expects = true;
	buf_clear(&interpreter->frame.bytes);
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_char(&request, (char)(length >> shift));
	buf_span(&request, span_of(interpreter->marker.mark, INTERPRETER_MARK));
	pthread_mutex_unlock(&interpreter->lock);
	buf_span(&request, code);
	pthread_mutex_lock(&interpreter->run_lock);
	sent = interpreter->run &&
	       interpreter->run->ops->input(interpreter->run, buf_view(&request));
	pthread_mutex_unlock(&interpreter->run_lock);
	return sent;
}

static void interrupt_process(struct interpreter *interpreter)
{
	pthread_mutex_lock(&interpreter->run_lock);
	if (interpreter->run)
		interpreter->run->ops->signal(interpreter->run, SIGINT);
	pthread_mutex_unlock(&interpreter->run_lock);
}

/* What is waited for, and since when. */
struct awaited_call {
	const struct interpreter_call *call;
	struct interpreter_report *report;
	uint64_t began_ms, answered_ms, interrupted_ms; /* 0: not yet */
	bool killed;
};

static int ms_left_of(uint64_t from_ms, uint64_t limit_ms)
{
	const uint64_t passed = clock_monotonic_ms() - from_ms;

	return passed < limit_ms ? (int)(limit_ms - passed) : 0;
}

static void interrupt_once(struct interpreter *interpreter, struct awaited_call *waiting)
{
	const unsigned timeout_ms = waiting->call->timeout_ms;
	struct interpreter_report *report = waiting->report;

	report->cancelled = cancelled(waiting->call->cancel);
	report->timed_out = !report->cancelled && timeout_ms &&
	                    !ms_left_of(waiting->began_ms, timeout_ms);
	if (!report->cancelled && !report->timed_out)
		return;
	waiting->interrupted_ms = clock_monotonic_ms();
	interrupt_process(interpreter);
}

/* Acts on the time that has passed. Returns how long to sleep at most, -1: for ever. */
static int keep_call_times(struct interpreter *interpreter, struct awaited_call *waiting)
{
	const struct interpreter_report *report = waiting->report;
	const unsigned timeout_ms = waiting->call->timeout_ms;
	int left;

	if (waiting->answered_ms)
		return ms_left_of(waiting->answered_ms, MARK_MS);
	if (!waiting->interrupted_ms)
		interrupt_once(interpreter, waiting);
	if (!waiting->interrupted_ms)
		return timeout_ms ? ms_left_of(waiting->began_ms, timeout_ms) : -1;
	left = ms_left_of(waiting->interrupted_ms,
	                report->timed_out ? TIMEOUT_GRACE_MS : CANCEL_GRACE_MS);
	if (!left && !waiting->killed) {
		waiting->killed = true;
		kill_process(interpreter);
	}
	return waiting->killed ? ms_left_of(waiting->interrupted_ms,
	                                  TIMEOUT_GRACE_MS + END_MS) : left;
}

static void sleep_until_news(const struct interpreter *interpreter,
                             const struct awaited_call *waiting, int ms)
{
	const struct cancel *cancel = waiting->interrupted_ms ? NULL : waiting->call->cancel;
	struct pollfd fds[] = { { .fd = interpreter->ready_fd, .events = POLLIN },
		                { .fd = cancel_fd(cancel), .events = POLLIN } };
	const bool polls = interpreter->ready_fd < 0 && (ms < 0 || ms > POLL_MS);
	uint64_t rung;
	ssize_t got;

	fd_wait(fds, ARRAY_LEN(fds), cancel_wait_ms(cancel, polls ? POLL_MS : ms));
	if (fds[0].revents & POLLIN) {
		got = read(interpreter->ready_fd, &rung, sizeof(rung));
		(void)got; /* another reader would only make this one look again */
	}
}

/* Whether the call is over, and how. */
static bool answer_is_there(struct interpreter *interpreter, struct awaited_call *waiting)
{
	struct interpreter_report *report = waiting->report;
	bool over = true;

	pthread_mutex_lock(&interpreter->lock);
	if (interpreter->answered && !waiting->answered_ms)
		waiting->answered_ms = clock_monotonic_ms();
	if (interpreter->broken ||
	    (interpreter->answered && !interpreter->marker.found &&
	     !ms_left_of(waiting->answered_ms, MARK_MS)))
		report->why = INTERPRETER_BROKEN;
	else if (interpreter->answered && interpreter->marker.found)
		report->why = INTERPRETER_ANSWERED;
	else if (waiting->killed &&
	         (interpreter->ended ||
	          !ms_left_of(waiting->interrupted_ms, TIMEOUT_GRACE_MS + END_MS)))
		report->why = INTERPRETER_KILLED;
	else if (interpreter->ended)
		report->why = INTERPRETER_ENDED;
	else
		over = false;
	pthread_mutex_unlock(&interpreter->lock);
	return over;
}

static void wait_for_interpreter(struct interpreter *interpreter, struct awaited_call *waiting)
{
	while (!answer_is_there(interpreter, waiting)) {
		const int ms = keep_call_times(interpreter, waiting);

		if (ms)
			sleep_until_news(interpreter, waiting, ms);
	}
}

static void hold_printed(void *data, struct span text)
{
	struct interpreter *interpreter = data;

	capture_feed(&interpreter->captures[interpreter->current], text);
}

/* All that the call has left behind, for its report. */
static void take_report(struct interpreter *interpreter, struct interpreter_report *ret)
{
	struct capture *done;

	pthread_mutex_lock(&interpreter->lock);
	if (!interpreter->marker.found) {
		interpreter_marker_end(&interpreter->marker, hold_printed, interpreter);
		interpreter->marker.found = true;
		flip_captures(interpreter);
	}
	done = &interpreter->captures[!interpreter->current];
	capture_text(done, &ret->text);
	ret->binary = done->binary;
	ret->bytes = done->bytes;
	capture_release(done);
	ret->answer.max = LIMIT_INTERPRETER_ANSWER;
	if (ret->why == INTERPRETER_ANSWERED)
		buf_span(&ret->answer, interpreter->body);
	ret->end = interpreter->end;
	ret->denials = interpreter->denials;
	ret->denial_count = interpreter->denial_count;
	interpreter->denials = NULL;
	interpreter->denial_count = interpreter->denial_cap = 0;
	pthread_mutex_unlock(&interpreter->lock);
}

static void interpreter_set_output(struct interpreter *interpreter,
                                   void (*output)(void *data, enum run_stream stream,
                                                  struct span bytes), void *data)
{
	pthread_mutex_lock(&interpreter->output_lock);
	interpreter->output = output;
	interpreter->output_data = data;
	pthread_mutex_unlock(&interpreter->output_lock);
}

/* With the lock of calls, and a process. */
static void run_call(struct interpreter *interpreter, const struct interpreter_call *call,
                     struct interpreter_report *ret)
{
	struct awaited_call waiting = { .call = call, .report = ret,
		                   .began_ms = clock_monotonic_ms() };

	interpreter_set_output(interpreter, call->output, call->data);
	if (!send_code_to(interpreter, call->code))
		kill_process(interpreter);
	wait_for_interpreter(interpreter, &waiting);
	interpreter_set_output(interpreter, NULL, NULL);
	if (ret->why != INTERPRETER_ANSWERED)
		drop_process(interpreter);
	take_report(interpreter, ret);
	ret->wall_ms = clock_monotonic_ms() - waiting.began_ms;
}

static bool has_ended(struct interpreter *interpreter)
{
	bool ended;

	pthread_mutex_lock(&interpreter->lock);
	ended = interpreter->ended || interpreter->broken;
	pthread_mutex_unlock(&interpreter->lock);
	return ended;
}

bool interpreter_call(struct interpreter *interpreter, struct provider *provider,
                      const struct interpreter_call *call, struct interpreter_report *ret,
                      struct err *err)
{
	bool ok = true;

	*ret = (struct interpreter_report){ 0 };
	if (call->code.len > LIMIT_INTERPRETER_CODE)
		return err_set(err, ERR_TOO_LARGE, "The code is longer than %zu KiB; write it to a "
		               "file, and import that.", LIMIT_INTERPRETER_CODE >> 10);
	pthread_mutex_lock(&interpreter->call_lock);
	if (interpreter->run && has_ended(interpreter))
		drop_process(interpreter);
	if (!interpreter->run) {
		ret->started = true;
		ok = start_interpreter(interpreter, provider, call->run, err);
	}
	if (ok)
		run_call(interpreter, call, ret);
	pthread_mutex_unlock(&interpreter->call_lock);
	return ok;
}

void interpreter_report_release(struct interpreter_report *report)
{
	buf_release(&report->answer);
	capture_text_release(&report->text);
	free(report->denials);
	*report = (struct interpreter_report){ 0 };
}
