/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a command: output, input, limits of time and memory, and the end.
 *
 * Phases: the command runs; it is asked to stop (SIGTERM); all of it is killed; the command has
 * ended and processes of it go on; nothing is left.  Nothing waits but poll, until nothing
 * is left. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/apply/processes.h"
#include "worker/inside/run.h"

/* ---- passing on output ---- */

static void *reporter_thread(void *data)
{
	struct run_reporter *reporter = data;

	pthread_mutex_lock(&reporter->lock);
	for (;;) {
		while (!reporter->len && !reporter->stop)
			pthread_cond_wait(&reporter->changed, &reporter->lock);
		if (!reporter->len)
			break;
		pthread_mutex_unlock(&reporter->lock);
		reporter->emit(reporter->data, reporter->stream,
		               span_of(reporter->buffer, reporter->len));
		pthread_mutex_lock(&reporter->lock);
		reporter->len = 0;
		pthread_cond_broadcast(&reporter->changed);
		fd_ring(reporter->wake);
	}
	pthread_mutex_unlock(&reporter->lock);
	return NULL;
}

void run_reporter_init(struct run_reporter *reporter,
                       void (*emit)(void *data, enum run_stream stream, struct span bytes),
                       void *data, int wake)
{
	*reporter = (struct run_reporter){ .emit = emit, .data = data, .wake = wake,
		                           .buffer = mem_alloc(RUN_PIECE_BYTES, 1) };
	pthread_mutex_init(&reporter->lock, NULL);
	pthread_cond_init(&reporter->changed, NULL);
}

static bool run_reporter_busy(struct run_reporter *reporter)
{
	bool busy;

	pthread_mutex_lock(&reporter->lock);
	busy = reporter->len > 0;
	pthread_mutex_unlock(&reporter->lock);
	return busy;
}

/* Hands over what is in the buffer; not while it is busy.  If no thread can be had it reports on
 * this one. */
static void run_reporter_output(struct run_reporter *reporter, enum run_stream stream, size_t len)
{
	if (!reporter->started)
		reporter->started =
			pthread_create(&reporter->thread, NULL, reporter_thread, reporter) == 0;
	if (!reporter->started) {
		reporter->emit(reporter->data, stream, span_of(reporter->buffer, len));
		return;
	}
	pthread_mutex_lock(&reporter->lock);
	reporter->stream = stream;
	reporter->len = len;
	pthread_cond_broadcast(&reporter->changed);
	pthread_mutex_unlock(&reporter->lock);
}

/* Until it is not busy */
static void run_reporter_wait(struct run_reporter *reporter)
{
	pthread_mutex_lock(&reporter->lock);
	while (reporter->len)
		pthread_cond_wait(&reporter->changed, &reporter->lock);
	pthread_mutex_unlock(&reporter->lock);
}

void run_reporter_release(struct run_reporter *reporter)
{
	if (reporter->started) {
		pthread_mutex_lock(&reporter->lock);
		reporter->stop = true;
		pthread_cond_broadcast(&reporter->changed);
		pthread_mutex_unlock(&reporter->lock);
		pthread_join(reporter->thread, NULL);
	}
	pthread_mutex_destroy(&reporter->lock);
	pthread_cond_destroy(&reporter->changed);
	free(reporter->buffer);
}

/* ---- the thread of a command ---- */

enum {
	STOP_MS = 100,     /* from SIGTERM to SIGKILL */
	SWEEP_MS = 4,      /* between looks at what was killed */
	LEFT_MS = 50,      /* between looks at what was left running, at first */
	LEFT_LONG_MS = 500, /* and when it has been there for LEFT_TIMES as long */
	LEFT_TIMES = 8,
	GRACE_MS = 20,    /* what ends so soon after the command was not left running */
	SECRET_MS = 100,   /* between looks at what a terminal that is typed into echoes */
	SECRET_QUIET_MS = 1000, /* when nothing was written or typed for so long, between looks */
	DRAIN_MS = 200,    /* for output that others than the command's processes hold open */
	CLOSED_MS = 200,   /* from the end of a stream to its report, if the command runs on */
	GIVE_UP_MS = 5000, /* a process that cannot be killed is left to the kernel */
};

enum phase { RUNNING, STOPPING, KILLING, LEFT, ENDED };

struct run_loop {
	struct run_state *state;
	enum phase phase;
	uint64_t phase_ms;    /* when it began */
	uint64_t output_ms;   /* the last sign of life */
	uint64_t alive_ms;    /* the last output or order: something typed, mostly */
	struct limits *limits; /* owned; NULL: none */
	uint64_t look_ms;     /* the next look at them */
	uint64_t closed_ms[2]; /* by enum run_stream: when it ended, until reported; 0: not */
	uint64_t reaped_ms;   /* when the command itself ended; 0 before */
	bool main_reported;
	bool stopped;         /* by us: `end.why` says why */
	bool ended_input;     /* ^D was sent, or the pipe closed */
	bool secret;          /* input is not echoed */
	struct run_end end;
	struct denial limit;  /* why it was ended (RUN_LIMIT); reported at the end. `count` 0:
	                       * none */
};

/* ---- reporting ---- */

void run_report_denied(void *data, const struct denial *denial)
{
	struct run_state *state = data;

	pthread_mutex_lock(&state->reporting);
	state->events.denied(state->data, denial);
	pthread_mutex_unlock(&state->reporting);
}

static void report_run_end(struct run_loop *loop, void (*event)(void *data,
                           const struct run_end *end))
{
	struct run_state *state = loop->state;
	struct run_end *end = &loop->end;

	end->wall_ms = clock_monotonic_ms() - state->began_ms;
	end->cpu_ms = state->tree.cpu_ms;
	end->peak_memory_bytes = state->tree.peak_bytes;
	pthread_mutex_lock(&state->reporting);
	event(state->data, end);
	pthread_mutex_unlock(&state->reporting);
}

static void enter_phase(struct run_loop *loop, enum phase phase)
{
	loop->phase = phase;
	loop->phase_ms = clock_monotonic_ms();
}

/* ---- output ---- */

/* With the lock: other threads resize and signal a terminal. */
static void close_output(struct run_state *state, enum run_stream stream)
{
	pthread_mutex_lock(&state->lock);
	fd_cleanup_close(&state->streams.output[stream]);
	state->streams.output[stream] = -1;
	pthread_mutex_unlock(&state->lock);
}

/* It may be about to do more than it did before. */
static void loop_sign_of_life(struct run_loop *loop)
{
	loop->alive_ms = clock_monotonic_ms();
	if (loop->look_ms > loop->alive_ms + LIMITS_LOOK_MS)
		loop->look_ms = loop->alive_ms + LIMITS_LOOK_MS;
}

/* What is there now, up to a bufferful, is handed over to be passed on. False when there was
 * nothing, or the last is still being passed on. */
static bool read_output(struct run_loop *loop, enum run_stream stream)
{
	struct run_state *state = loop->state;
	char *buffer = state->reporter.buffer;
	size_t len = 0;
	ssize_t n = -1;

	if (state->streams.output[stream] < 0 || run_reporter_busy(&state->reporter))
		return false;
	do {
		n = read(state->streams.output[stream], buffer + len, RUN_PIECE_BYTES - len);
		len += n > 0 ? (size_t)n : 0;
	} while (len < RUN_PIECE_BYTES && (n > 0 || (n < 0 && errno == EINTR)));
	/* The end; a terminal's is EIO. */
	if (len < RUN_PIECE_BYTES && (n == 0 || (n < 0 && errno != EAGAIN))) {
		close_output(state, stream);
		if (state->events.closed && !state->streams.terminal)
			loop->closed_ms[stream] = clock_monotonic_ms();
	}
	if (!len)
		return false;
	loop_sign_of_life(loop);
	loop->output_ms = loop->alive_ms;
	run_reporter_output(&state->reporter, stream, len);
	return true;
}

/* On the reporter's thread. */
void run_report_output(void *data, enum run_stream stream, struct span bytes)
{
	struct run_state *state = data;

	pthread_mutex_lock(&state->reporting);
	state->events.output(state->data, stream, bytes);
	pthread_mutex_unlock(&state->reporting);
}

static bool output_open(const struct run_state *state)
{
	return state->streams.output[0] >= 0 || state->streams.output[1] >= 0;
}

/* To the end if no process of the command is left to write more; else what is available. */
static void drain(struct run_loop *loop, bool to_the_end)
{
	struct run_state *state = loop->state;
	uint64_t until;
	bool some;

	run_reporter_wait(&state->reporter);
	until = clock_monotonic_ms() + DRAIN_MS;
	do {
		struct pollfd fds[2] = { { .fd = state->streams.output[0], .events = POLLIN },
			                 { .fd = state->streams.output[1], .events = POLLIN } };

		some = read_output(loop, RUN_STDOUT);
		run_reporter_wait(&state->reporter);
		some |= read_output(loop, RUN_STDERR);
		run_reporter_wait(&state->reporter);
		if (some)
			until = clock_monotonic_ms() + DRAIN_MS;
		else if (to_the_end && output_open(state))
			fd_wait(fds, 2, SWEEP_MS);
	} while (some || (to_the_end && output_open(state) && clock_monotonic_ms() < until));
}

/* ---- input ---- */

static void input_over(struct run_state *state)
{
	fd_cleanup_close(&state->streams.input);
	state->streams.input = -1;
	state->input_closed = true;
	buf_release(&state->input);
}

/* With the lock held: as much as is taken now. */
static void loop_write_input(struct run_loop *loop)
{
	struct run_state *state = loop->state;
	struct buf *input = &state->input;

	while (input->len && state->streams.input >= 0) {
		ssize_t n = write(state->streams.input, input->data, input->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			input_over(state);
			return;
		}
		input->len -= (size_t)n;
		memmove(input->data, input->data + n, input->len);
	}
	if (!state->end_input || loop->ended_input || state->streams.input < 0)
		return;
	loop->ended_input = true;
	if (!state->streams.terminal)
		input_over(state);
	else
		(void)!write(state->streams.input, "\004" /* ^D */, 1);
}

/* ---- stopping ---- */

static void loop_kill_all(struct run_loop *loop)
{
	if (loop->phase != KILLING)
		enter_phase(loop, KILLING);
	supervise_hold_groups(loop->state->child.supervisor);
	run_tree_kill(&loop->state->tree);
}

/* SIGCONT so that a stopped process gets to know. */
static void loop_stop_command(struct run_loop *loop, enum run_why why)
{
	struct run_state *state = loop->state;

	if (loop->stopped)
		return;
	loop->stopped = true;
	if (!loop->main_reported)
		loop->end.why = why;
	if (why == RUN_LIMIT || state->tree.reaped) {
		loop_kill_all(loop);
		return;
	}
	enter_phase(loop, STOPPING);
	kill(-state->child.pid, SIGTERM);
	kill(-state->child.pid, SIGCONT);
}

/* No call of the command's is judged any more, and all that wait for that fail. */
static void stop_unsupervised(struct run_loop *loop)
{
	const struct run_state *state = loop->state;
	struct denial *lost = &loop->limit;

	*lost = (struct denial){ .kind = DENIAL_UNSUPERVISED, .reason = SANDBOX_REASON_LIMIT,
		                 .level = state->plan->level, .count = 1 };
	snprintf(lost->what, sizeof(lost->what), "the command, because hasp's call %s failed (%s)",
	         state->lost_call, strerror(state->lost_error));
	loop_stop_command(loop, RUN_LIMIT);
}

static void take_orders(struct run_loop *loop)
{
	struct run_state *state = loop->state;
	uint64_t count;
	bool cancelled;

	if (read(state->wake, &count, sizeof(count)) > 0)
		loop_sign_of_life(loop);
	pthread_mutex_lock(&state->lock);
	loop_write_input(loop);
	if (state->resized)
		run_pty_resize(&state->streams, state->rows, state->columns);
	state->resized = false;
	cancelled = state->cancelled;
	pthread_mutex_unlock(&state->lock);
	if (cancelled)
		loop_stop_command(loop, RUN_CANCELLED);
	if (state->lost_error && !loop->stopped)
		stop_unsupervised(loop);
}

/* No call waits for a change of a terminal's settings. */
static void look_at_echo(struct run_loop *loop)
{
	struct run_state *state = loop->state;
	bool secret;

	if (!state->typed_into || !state->events.secret || loop->main_reported ||
	    run_reporter_busy(&state->reporter))
		return;
	secret = loop->phase == RUNNING && run_pty_is_secret(&state->streams);
	if (secret == loop->secret)
		return;
	loop->secret = secret;
	pthread_mutex_lock(&state->reporting);
	state->events.secret(state->data, secret);
	pthread_mutex_unlock(&state->reporting);
}

/* When it is due; 0: nothing is, or the last output is still being passed on. */
static uint64_t closed_due_ms(const struct run_loop *loop, enum run_stream stream)
{
	return loop->closed_ms[stream] && loop->phase == RUNNING && !loop->reaped_ms &&
			       !run_reporter_busy(&loop->state->reporter) ?
	               loop->closed_ms[stream] + CLOSED_MS : 0;
}

static void report_closed(struct run_loop *loop, enum run_stream stream, uint64_t now)
{
	struct run_state *state = loop->state;
	const uint64_t due = closed_due_ms(loop, stream);

	if (!due || now < due)
		return;
	loop->closed_ms[stream] = 0;
	pthread_mutex_lock(&state->reporting);
	state->events.closed(state->data, stream);
	pthread_mutex_unlock(&state->reporting);
}

/* Reported later: the receiver may take long. */
static bool past_limits(struct run_loop *loop)
{
	return loop->limits && sandbox_limits_look(loop->limits, &loop->limit);
}

static void report_limit(struct run_loop *loop)
{
	if (loop->limit.count)
		run_report_denied(loop->state, &loop->limit);
	loop->limit.count = 0;
}

static void check_times(struct run_loop *loop)
{
	struct run_state *state = loop->state;
	uint64_t now = clock_monotonic_ms();

	if (loop->phase == STOPPING && now >= loop->phase_ms + STOP_MS)
		loop_kill_all(loop);
	report_closed(loop, RUN_STDOUT, now);
	report_closed(loop, RUN_STDERR, now);
	if (loop->phase != RUNNING && loop->phase != LEFT)
		return;
	if (loop->limits && now >= loop->look_ms) {
		if (past_limits(loop))
			loop_stop_command(loop, RUN_LIMIT);
		loop->look_ms = now + sandbox_limits_pause(loop->limits);
	}
	if (loop->phase != RUNNING)
		return;
	if (state->timeout_ms && now >= state->began_ms + state->timeout_ms)
		loop_stop_command(loop, RUN_TIMED_OUT);
	else if (state->inactivity_ms && now >= loop->output_ms + state->inactivity_ms &&
	         !run_reporter_busy(&state->reporter))
		loop_stop_command(loop, RUN_INACTIVE);
}

/* ---- the end ---- */

/* A control group may have killed it, or a process of it, before that was seen here. */
static void note_status(struct run_loop *loop)
{
	int status = loop->state->tree.status;
	bool past = past_limits(loop);

	loop->end.exit_code = -1;
	if (loop->stopped)
		return;
	if (WIFEXITED(status)) {
		loop->end.why = RUN_EXITED;
		loop->end.exit_code = WEXITSTATUS(status);
	} else if (past) {
		loop->end.why = RUN_LIMIT;
	} else {
		loop->end.why = RUN_SIGNALLED;
		loop->end.signal = WTERMSIG(status);
	}
}

static void put_right(struct run_loop *loop)
{
	if (loop->state->guard)
		guard_check(loop->state->guard, run_report_denied, loop->state);
}

/* The command has ended, others go on. */
static void loop_leave_running(struct run_loop *loop)
{
	struct run_process *list;

	note_status(loop);
	drain(loop, /* to_the_end= */ false);
	report_limit(loop);
	put_right(loop);
	loop->end.left_running = (unsigned)run_tree_list(&loop->state->tree, &list);
	free(list);
	if (!loop->end.left_running) /* it cannot be counted here */
		loop->end.left_running = 1;
	enter_phase(loop, LEFT);
	loop->main_reported = true;
	report_run_end(loop, loop->state->events.main_ended);
}

static void finish_run(struct run_loop *loop)
{
	struct run_state *state = loop->state;

	if (!loop->main_reported)
		note_status(loop);
	loop->end.left_running = 0;
	enter_phase(loop, ENDED);
	drain(loop, /* to_the_end= */ true);
	report_limit(loop);
	supervise_stop(state->child.supervisor);
	state->child.supervisor = NULL;
	put_right(loop);
	if (state->guard)
		guard_end(state->guard);
	pthread_mutex_lock(&state->lock);
	state->over = true;
	input_over(state);
	run_streams_release(&state->streams);
	pthread_mutex_unlock(&state->lock);
	if (!loop->main_reported)
		report_run_end(loop, state->events.main_ended);
	report_run_end(loop, state->events.ended);
}

static void main_ended(struct run_loop *loop)
{
	if (!loop->reaped_ms)
		loop->reaped_ms = clock_monotonic_ms();
	if (!loop->state->leave_running)
		loop_kill_all(loop);
	else if (clock_monotonic_ms() >= loop->reaped_ms + GRACE_MS)
		loop_leave_running(loop);
}

static void look_at_processes(struct run_loop *loop)
{
	struct run_state *state = loop->state;
	bool left = run_tree_reap(&state->tree);

	if (!left || (loop->phase == KILLING && clock_monotonic_ms() > loop->phase_ms + GIVE_UP_MS))
		finish_run(loop);
	else if (loop->phase == KILLING)
		loop_kill_all(loop);
	else if (loop->phase == RUNNING && state->tree.reaped)
		main_ended(loop);
}

/* ---- reporting what is hidden from a command ---- */

/* The kernel refuses to read it and reports nothing. */

enum { REPORTED_BYTES = 64 << 10 }; /* of all paths together */

static bool is_inside_folder(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

/* Sockets are connected to, not read, and that has a record. */
static bool is_reported_hidden(const struct sandbox_rule *rule, const char *last)
{
	return rule->access == SANDBOX_HIDDEN && rule->reason != SANDBOX_REASON_SOCKETS &&
	       !(last && is_inside_folder(rule->path, last));
}

static void report_hidden(struct run_state *state)
{
	const struct sandbox_plan *plan = state->plan;
	const char *paths[LIMIT_HIDDEN_REPORTED];
	struct run_hidden hidden = { .paths = paths };
	size_t bytes = 0;

	if (!state->events.hidden || !plan || plan->level == SANDBOX_PATHS)
		return;
	/* In the order of paths; what is beneath a folder that is reported is left out. */
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct sandbox_rule *rule = &plan->rules[i];

		if (!is_reported_hidden(rule, hidden.count ? paths[hidden.count - 1] : NULL))
			continue;
		bytes += strlen(rule->path) + 1;
		if (hidden.count < LIMIT_HIDDEN_REPORTED && bytes <= REPORTED_BYTES)
			paths[hidden.count++] = rule->path;
		else
			hidden.left_out++;
	}
	pthread_mutex_lock(&state->reporting);
	state->events.hidden(state->data, &hidden);
	pthread_mutex_unlock(&state->reporting);
}

/* ---- the loop ---- */

static int ms_until(uint64_t now, uint64_t then)
{
	return then <= now ? 0 : then - now > 1000 ? 1000 : (int)(then - now);
}

static int lesser(int a, int b)
{
	return a < b ? a : b;
}

/* What runs for long was started to: a server, not the end of a pipe. */
static int left_ms(const struct run_loop *loop, uint64_t now)
{
	const uint64_t ms = (now - loop->phase_ms) / LEFT_TIMES;

	return ms < LEFT_MS ? LEFT_MS : ms > LEFT_LONG_MS ? LEFT_LONG_MS : (int)ms;
}

/* A program that needs a password prints a prompt, and then waits for input. */
static int secret_ms(const struct run_loop *loop, uint64_t now)
{
	return now - loop->alive_ms < SECRET_QUIET_MS ? SECRET_MS : SECRET_QUIET_MS;
}

static int wait_ms(const struct run_loop *loop)
{
	struct run_state *state = loop->state;
	uint64_t now = clock_monotonic_ms();
	int ms = 1000;

	if (loop->phase == KILLING || (loop->phase == RUNNING && loop->reaped_ms))
		return SWEEP_MS;
	if (loop->phase == STOPPING)
		return lesser(SWEEP_MS, ms_until(now, loop->phase_ms + STOP_MS));
	if (loop->phase == LEFT)
		ms = left_ms(loop, now);
	if (loop->limits)
		ms = lesser(ms, ms_until(now, loop->look_ms));
	if (loop->phase == LEFT)
		return ms;
	if (state->typed_into)
		ms = lesser(ms, secret_ms(loop, now));
	for (enum run_stream stream = RUN_STDOUT; stream <= RUN_STDERR; stream++)
		if (closed_due_ms(loop, stream))
			ms = lesser(ms, ms_until(now, closed_due_ms(loop, stream)));
	if (state->timeout_ms)
		ms = lesser(ms, ms_until(now, state->began_ms + state->timeout_ms));
	if (state->inactivity_ms && !run_reporter_busy(&state->reporter))
		ms = lesser(ms, ms_until(now, loop->output_ms + state->inactivity_ms));
	return ms;
}

static void loop_turn(struct run_loop *loop)
{
	struct run_state *state = loop->state;
	struct run_streams *streams = &state->streams;
	bool busy = run_reporter_busy(&state->reporter);
	struct pollfd fds[] = {
		{ .fd = state->wake, .events = POLLIN },
		{ .fd = state->tree.reaped ? -1 : state->child.pidfd, .events = POLLIN },
		{ .fd = busy ? -1 : streams->output[RUN_STDOUT], .events = POLLIN },
		{ .fd = busy ? -1 : streams->output[RUN_STDERR], .events = POLLIN },
		{ .fd = streams->input, .events = 0 },
	};

	pthread_mutex_lock(&state->lock);
	if (state->input.len)
		fds[4].events = POLLOUT;
	else if (streams->terminal)
		fds[4].fd = -1;
	pthread_mutex_unlock(&state->lock);
	fd_wait(fds, ARRAY_LEN(fds), wait_ms(loop));
	if (busy) /* not the command is silent */
		loop->output_ms = clock_monotonic_ms();
	if (fds[2].revents)
		read_output(loop, RUN_STDOUT);
	if (fds[3].revents)
		read_output(loop, RUN_STDERR);
	if (fds[4].revents & (POLLERR | POLLHUP)) {
		pthread_mutex_lock(&state->lock);
		input_over(state);
		pthread_mutex_unlock(&state->lock);
	}
	take_orders(loop);
	look_at_echo(loop);
	check_times(loop);
	look_at_processes(loop);
}

void *run_loop(void *data)
{
	struct run_state *state = data;
	struct run_loop loop = { .state = state };

	loop.output_ms = loop.alive_ms = state->began_ms;
	if (state->plan)
		loop.limits = sandbox_limits_new(state->plan, state->child.pid);
	enter_phase(&loop, RUNNING);
	if (state->events.started)
		state->events.started(state->data, (int)state->child.pid);
	report_hidden(state);
	while (loop.phase != ENDED)
		loop_turn(&loop);
	sandbox_limits_free(loop.limits);
	return NULL;
}
