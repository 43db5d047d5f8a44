/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/progress.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/view/output.h"
#include "data/json.h"
#include "tui/term/term.h"
#include "tui/view/view.h"

enum {
	RUNNING_MAX = 4,     /* calls that are shown while they run */
	TAIL_ROWS = 4,       /* of the output of each */
	TAIL_BYTES_MAX = 4096,
	OUTPUT_MS = 100,     /* between two frames that output asks for */
	COLUMNS_UNKNOWN = 80,
};

struct watched_call {
	json_t *call;    /* TOOL_CALL; owned */
	struct buf tail; /* the end of its output */
	json_t *reported; /* TOOL_PROGRESS, the last one; owned; or NULL */
};

struct progress {
	pthread_mutex_t *lock;
	pthread_cond_t wake;   /* there is something to show, or it ends */
	pthread_t thread;
	bool started, ended;
	bool hidden, dirty;
	bool printed;          /* a call was: blocks are set apart by an empty row */
	struct theme theme;
	struct term_guess terminal;
	uint64_t since_ms;
	char *topic, *thought; /* owned; or NULL */
	struct watched_call *calls; /* owned array */
	size_t count, cap;
	size_t drawn;          /* rows that stand there; the cursor is beneath */
	int stops;             /* continued, when they were drawn */
};

/* How often this process was continued after it was stopped: what was drawn before is not above the
 * cursor any more. */
static atomic_int continued;

static void note_continued(int number)
{
	(void)number;
	atomic_fetch_add(&continued, 1);
}

/* ---- rows -------------------------------------------------------------------- */

static unsigned progress_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return COLUMNS_UNKNOWN;
	return size.ws_col;
}

static void put_rows(const struct progress *progress, const struct rows *rows, struct buf *out)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (progress->terminal.plain)
			row_plain(&rows->at[i], out);
		else
			theme_row(out, &progress->theme, progress->terminal.colours,
			          /* links= */ false, &rows->at[i]);
		buf_char(out, '\n');
	}
}

static void put_erasing(struct progress *progress, struct buf *out)
{
	if (progress->drawn && progress->stops == atomic_load(&continued))
		buf_printf(out, "\033[%zuA\r\033[J", progress->drawn);
	progress->drawn = 0;
}

/* ---- what goes on ------------------------------------------------------------ */

static void running_rows(const struct progress *progress, struct rows *rows)
{
	const unsigned columns = progress_columns();
	const struct view_how how = {
		.width = columns > PROGRESS_COLUMNS ? PROGRESS_COLUMNS :
		         columns > 8 ? columns - 1 : 8,
		.folded = true,
	};

	view_topic(rows, progress->topic, &how);
	view_activity(rows, &(struct view_work){
		.seconds = (clock_monotonic_ms() - progress->since_ms) / 1000,
		.thought = progress->thought }, &how);
	for (size_t i = 0; i < progress->count && i < RUNNING_MAX; i++) {
		view_call(rows, progress->calls[i].call, &how);
		view_progress(rows, progress->calls[i].reported, &how);
		view_tail(rows, buf_view(&progress->calls[i].tail), TAIL_ROWS, &how);
	}
	if (progress->count > RUNNING_MAX)
		row_printf(rows_add(rows), STYLE(ROLE_DIM), "  and %zu more calls",
		           progress->count - RUNNING_MAX);
	for (size_t i = 0; i < rows->count; i++)
		row_clip(&rows->at[i], how.width);
}

static void progress_draw(struct progress *progress)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_rows_ struct rows rows = { 0 };

	progress->dirty = false;
	if (progress->terminal.plain || progress->hidden || progress->ended)
		return;
	put_erasing(progress, &out);
	running_rows(progress, &rows);
	put_rows(progress, &rows, &out);
	progress->drawn = rows.count;
	progress->stops = atomic_load(&continued);
	output_stderr(buf_view(&out));
}

void progress_clear(struct progress *progress)
{
	_cleanup_buf_ struct buf out = BUF_INIT(64);

	if (!progress || !progress->drawn)
		return;
	put_erasing(progress, &out);
	output_stderr(buf_view(&out));
}

void progress_hide(struct progress *progress, bool hidden)
{
	if (!progress || progress->ended || !progress->started)
		return;
	if (progress->hidden && !hidden)
		pthread_cond_signal(&progress->wake); /* time passes again */
	progress->hidden = hidden;
	if (!hidden && !progress->drawn)
		progress_draw(progress);
}

/* ---- finished calls ---------------------------------------------------------- */

static void print_block(struct progress *progress, struct rows *rows)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_rows_ struct rows apart = { 0 };

	put_erasing(progress, &out);
	if (progress->printed)
		rows_add(&apart);
	progress->printed = true;
	rows_move(&apart, rows);
	put_rows(progress, &apart, &out);
	output_stderr(buf_view(&out));
}

static struct view_how whole_width(const struct progress *progress)
{
	return (struct view_how){ .width = progress_columns(), .folded = true,
		                  .plain = progress->terminal.plain };
}

static struct watched_call *find_watched(struct progress *progress, const json_t *message)
{
	for (size_t i = 0; i < progress->count; i++)
		if (json_equal(json_object_get(progress->calls[i].call, "callId"),
		               json_object_get(message, "callId")))
			return &progress->calls[i];
	return NULL;
}

static void watched_release(struct watched_call *call)
{
	json_decref(call->call);
	json_decref(call->reported);
	buf_release(&call->tail);
}

static void progress_call_start(struct progress *progress, const json_t *message)
{
	const struct view_how how = whole_width(progress);
	_cleanup_rows_ struct rows rows = { 0 };

	if (progress->count == progress->cap)
		progress->calls = mem_grow(progress->calls, &progress->cap, progress->count + 1,
		                        sizeof(*progress->calls));
	progress->calls[progress->count++] = (struct watched_call){
		.call = json_deep_copy(message), .tail = BUF_INIT((size_t)4 * TAIL_BYTES_MAX),
	};
	if (!progress->terminal.plain)
		return;
	view_call(&rows, message, &how);
	print_block(progress, &rows);
}

static void call_writes(struct progress *progress, const json_t *message)
{
	struct watched_call *call = find_watched(progress, message);
	struct span text = json_span(json_object_get(message, "text"));

	if (!call)
		return;
	if (text.len > TAIL_BYTES_MAX)
		text = span_skip(text, text.len - TAIL_BYTES_MAX);
	buf_span(&call->tail, text);
	if (call->tail.len > (size_t)2 * TAIL_BYTES_MAX) {
		memmove(call->tail.data, call->tail.data + call->tail.len - TAIL_BYTES_MAX,
		        TAIL_BYTES_MAX);
		call->tail.len = TAIL_BYTES_MAX;
	}
	progress->dirty = true;
	pthread_cond_signal(&progress->wake);
}

static void call_reports(struct progress *progress, const json_t *message)
{
	struct watched_call *call = find_watched(progress, message);

	if (!call)
		return;
	json_decref(call->reported);
	call->reported = json_deep_copy(message);
	progress->dirty = true;
	pthread_cond_signal(&progress->wake);
}

static void call_ends(struct progress *progress, const json_t *message)
{
	const struct view_how how = whole_width(progress);
	struct watched_call *call = find_watched(progress, message);
	_cleanup_rows_ struct rows rows = { 0 };

	view_result(&rows, call ? call->call : NULL, message, &how);
	print_block(progress, &rows);
	if (!call)
		return;
	watched_release(call);
	memmove(call, call + 1,
	        (size_t)(progress->calls + progress->count - call - 1) * sizeof(*call));
	progress->count--;
}

/* Keeps a text that is shown; one that says nothing changes nothing. */
static void note_text(struct progress *progress, char **slot, const char *text)
{
	if (!text || !*text)
		return;
	free(*slot);
	*slot = mem_strdup(text);
	progress->dirty = true;
	pthread_cond_signal(&progress->wake);
}

static void note_topic(struct progress *progress, const json_t *message)
{
	progress_topic(progress, json_string_value(json_object_get(message, "title")));
	note_text(progress, &progress->thought,
	          json_string_value(json_object_get(message, "strategicIntent")));
}

void progress_topic(struct progress *progress, const char *topic)
{
	if (progress)
		note_text(progress, &progress->topic, topic);
}

void progress_message(struct progress *progress, enum bus_topic topic, const json_t *message)
{
	if (!progress || progress->ended)
		return;
	if (topic == BUS_TOOL_CALL)
		progress_call_start(progress, message);
	else if (topic == BUS_TOOL_OUTPUT)
		call_writes(progress, message);
	else if (topic == BUS_TOOL_PROGRESS)
		call_reports(progress, message);
	else if (topic == BUS_TOOL_RESULT)
		call_ends(progress, message);
	else if (topic == BUS_THOUGHT)
		note_text(progress, &progress->thought,
		          json_string_value(json_object_get(message, "subject")));
	else if (topic == BUS_TOPIC_UPDATE)
		note_topic(progress, message);
	if (topic == BUS_TOOL_CALL && progress->started)
		progress_draw(progress);
}

/* ---- time -------------------------------------------------------------------- */

static struct timespec moment_in(unsigned ms)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += ms / 1000;
	at.tv_nsec += (long)(ms % 1000) * 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_sec++;
		at.tv_nsec -= 1000000000;
	}
	return at;
}

/* A frame each second, and soon after output; none while nothing is shown. */
static void *progress_run(void *data)
{
	struct progress *progress = data;

	pthread_mutex_lock(progress->lock);
	while (!progress->ended) {
		const struct timespec next = moment_in(1000);

		if (progress->hidden)
			pthread_cond_wait(&progress->wake, progress->lock);
		else
			pthread_cond_timedwait(&progress->wake, progress->lock, &next);
		if (progress->dirty && !progress->ended) {
			const struct timespec soon = moment_in(OUTPUT_MS);

			while (!progress->ended &&
			       pthread_cond_timedwait(&progress->wake, progress->lock, &soon) == 0)
				;
		}
		progress_draw(progress);
	}
	pthread_mutex_unlock(progress->lock);
	return NULL;
}

/* ---- a progress ----------------------------------------------------------------- */

struct progress *progress_new(pthread_mutex_t *lock)
{
	struct progress *progress;
	pthread_condattr_t attributes;

	if (isatty(STDERR_FILENO) != 1)
		return NULL;
	progress = mem_alloc(1, sizeof(*progress));
	progress->lock = lock;
	term_guess(&progress->terminal);
	theme_default(progress->terminal.light, &progress->theme);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&progress->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	return progress;
}

void progress_set_theme(struct progress *progress, const struct theme *theme)
{
	if (progress)
		progress->theme = *theme;
}

void progress_set_plain(struct progress *progress)
{
	if (progress)
		progress->terminal.plain = true;
}

void progress_begin(struct progress *progress)
{
	const struct sigaction action = { .sa_handler = note_continued, .sa_flags = SA_RESTART };
	sigset_t all, before;

	if (!progress || progress->terminal.plain)
		return;
	progress->since_ms = clock_monotonic_ms();
	sigaction(SIGCONT, &action, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	progress->started = pthread_create(&progress->thread, NULL, progress_run, progress) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (progress->started)
		progress_draw(progress);
}

void progress_end(struct progress *progress)
{
	if (!progress || progress->ended)
		return;
	pthread_mutex_lock(progress->lock);
	progress_clear(progress);
	progress->ended = true;
	pthread_cond_signal(&progress->wake);
	pthread_mutex_unlock(progress->lock);
	if (progress->started)
		pthread_join(progress->thread, NULL);
}

void progress_free(struct progress *progress)
{
	if (!progress)
		return;
	progress_end(progress);
	while (progress->count)
		watched_release(&progress->calls[--progress->count]);
	free(progress->calls);
	free(progress->topic);
	free(progress->thought);
	pthread_cond_destroy(&progress->wake);
	free(progress);
}
